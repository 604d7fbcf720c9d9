"""Merges in which the policy or the plan leaves a value to its default."""

from __future__ import annotations

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.running.merge import merge
from tests.planner_core.plans import varied
from tests.planner_core.running.test_merge import OLD, codes, result

OURS = "PREFLIST(CF01,CF02)\n             REBUILDPERCENT(10)"


def test_missing_preflist_is_written_even_with_unstated_policy() -> None:
    """No structure can be allocated without PREFLIST, so its absence is not a choice to keep."""
    document = varied(system__include=False, structures__0__initsize="256M", structures__0__size="512M")
    del document["structures"][0]["preflist"]
    made = evaluate(read_object(document))
    without = OLD.replace(OURS, "REBUILDPERCENT(10)")

    def changed(text: str) -> list[tuple[str | None, str | None]]:
        merged = merge(text, made, unstated="policy")
        return [(c.keyword, c.before) for c in merged.changes if c.structure == "SQ03APP1"]

    assert changed(without) == [("PREFLIST", None)]
    assert changed(OLD) == []


def test_unstated_initsize_becomes_the_merged_size() -> None:
    """A structure without INITSIZE is allocated at its SIZE, so a larger SIZE also raises the initial size."""
    small = OLD.replace("             INITSIZE(262144) /* 256 MB */\n", "").replace(
        "SIZE(512M)  ", "SIZE(256M)  "
    )
    assert "INITSIZE(262144)" not in small
    merged = merge(small, result(structures__0__initsize="512M"))
    ours = [(c.keyword, c.before, c.after) for c in merged.changes if c.structure == "SQ03APP1"]
    assert ours == [("SIZE", "256M", "512M"), ("FULLTHRESHOLD", "80", "85")]


def test_options_of_an_old_duplex_value_are_removed() -> None:
    duplexed = OLD.replace("FULLTHRESHOLD(80)", "FULLTHRESHOLD(85) DUPLEX(ENABLED,CROSSSITE)")
    merged = merge(duplexed, result())
    assert "             FULLTHRESHOLD(85) DUPLEX(DISABLED)\n" in merged.policy


def test_unchanged_names_of_a_list_keep_their_notation() -> None:
    text = OLD.replace("PREFLIST(CF01,CF02)\n             REB", "PREFLIST(cf01,CF02)\n             REB")
    merged = merge(text, result(structures__0__preflist=["CF01", "CF03"]))
    assert "PREFLIST(cf01,CF03)" in merged.policy


def test_comment_without_a_number_is_not_reported() -> None:
    text = OLD.replace("/* 512 MB */", "/* AS AGREED */")
    assert "MERGE_REMARK_STALE" not in codes(merge(text, result(structures__0__size="500M")))
