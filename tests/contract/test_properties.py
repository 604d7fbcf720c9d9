"""Properties of every number and name, not only of the published ones."""

from __future__ import annotations

import math
import string
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planner_core.running.policy import policies, stated
from planner_core.texts.cfrm.text import read_policy_text
from tests.contract.support import (
    Statement,
    assert_findings,
    assert_submittable,
    plan,
    queue,
    run,
    sample_document,
    statements,
)

pytestmark = pytest.mark.long

LEVELS = st.sampled_from([9, 14, 15, 17, 21, 24, 25, 26])
MESSAGES = st.integers(1, 10_000_000)
BYTES = st.one_of(st.integers(0, 2000), st.integers(0, 64_512), st.integers(64_513, 104_857_600))
SIZES_MIB = st.one_of(st.integers(1, 64), st.integers(1, 1_000_000))
RULES = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 64)), max_size=3)

sixty_examples = settings(max_examples=60, deadline=None)


def size_mib(messages: int, message_bytes: int, level: int) -> float:
    ran = run(
        "structure", "--messages", messages, "--message-bytes", message_bytes, "--cfcc", level, "--json"
    )
    answer = ran.answer
    assert_findings(answer)
    # More than 1 TB is reported, but sized like all others.
    assert ran.code == int(any(each["code"] == "SIZE_ABOVE_MAXIMUM" for each in answer["findings"]))
    assert answer["size_kib"] * 1024 >= answer["size_mib"] * 1024 * 1024 - 1
    return float(answer["size_mib"])


def holds(mib: int, message_bytes: int, level: int) -> int:
    ran = run("structure", "--size-mib", mib, "--message-bytes", message_bytes, "--cfcc", level, "--json")
    return int(ran.answer["messages"])


@sixty_examples
@given(MESSAGES, st.integers(1, 10_000_000), BYTES, LEVELS)
def test_more_messages_never_need_a_smaller_structure(
    messages: int, more: int, message_bytes: int, level: int
) -> None:
    assert size_mib(messages + more, message_bytes, level) >= size_mib(messages, message_bytes, level)


@sixty_examples
@given(MESSAGES, st.integers(0, 64_512), st.integers(0, 64_512), LEVELS)
def test_longer_messages_in_the_structure_never_need_a_smaller_one(
    messages: int, one: int, other: int, level: int
) -> None:
    short, long = sorted((one, other))
    assert size_mib(messages, long, level) >= size_mib(messages, short, level)


@sixty_examples
@given(MESSAGES, BYTES, LEVELS)
def test_calculated_size_is_the_smallest_that_holds_the_backlog(
    messages: int, message_bytes: int, level: int
) -> None:
    need = size_mib(messages, message_bytes, level)
    assume(abs(need - round(need)) > 1e-6)  # the float cannot say on which side of a whole MiB the need lies

    assert holds(math.ceil(need), message_bytes, level) >= messages
    assert holds(math.ceil(need) - 1, message_bytes, level) < messages


@sixty_examples
@given(MESSAGES, BYTES, LEVELS)
def test_unrounded_size_holds_the_backlog(messages: int, message_bytes: int, level: int) -> None:
    need = size_mib(messages, message_bytes, level)
    ran = run(
        "structure", "--size-mib", repr(need), "--message-bytes", message_bytes, "--cfcc", level, "--json"
    )

    # Only where a size with a fraction is taken at all.
    assert ran.code == 2 or ran.answer["messages"] >= messages


@sixty_examples
@given(SIZES_MIB, BYTES, LEVELS)
def test_messages_at_capacity_fit_in_the_size_and_one_more_does_not(
    mib: int, message_bytes: int, level: int
) -> None:
    messages = holds(mib, message_bytes, level)

    if messages:
        assert size_mib(messages, message_bytes, level) <= mib + 1e-6
        assert size_mib(messages + 1, message_bytes, level) > mib - 1e-6
    else:
        assert size_mib(1, message_bytes, level) > mib - 1e-6


@sixty_examples
@given(SIZES_MIB, st.integers(0, 1_000_000), BYTES, LEVELS)
def test_larger_structure_never_holds_fewer_messages(
    mib: int, more: int, message_bytes: int, level: int
) -> None:
    assert holds(mib + more, message_bytes, level) >= holds(mib, message_bytes, level)


@sixty_examples
@given(SIZES_MIB, BYTES, LEVELS, RULES, st.booleans())
def test_offload_never_lowers_capacity(
    mib: int, message_bytes: int, level: int, rules: list[tuple[int, int]], auto_alter: bool
) -> None:
    arguments = [part for usage, kib in rules for part in ("--rule", f"{usage}:{kib}K")]
    if auto_alter:
        arguments.append("--auto-alter")
    ran = run(
        "offload", "--size-mib", mib, "--message-bytes", message_bytes, "--cfcc", level, *arguments, "--json"
    )

    answer = ran.answer
    assert_findings(answer)
    assert answer["capacity"] >= answer["capacity_without_offload"] >= 0
    given_rules = {(usage, kib * 1024) for usage, kib in rules} or {(70, 32768), (80, 4096), (90, 0)}
    for step in answer["steps"]:
        assert (step["threshold"], step["size_bytes"]) in given_rules
        assert message_bytes > step["size_bytes"]
        assert step["size_bytes"] < 64 * 1024
        assert 0 <= step["at_messages"] <= answer["capacity"]


@sixty_examples
@given(SIZES_MIB, BYTES, LEVELS)
def test_capacity_without_offload_equals_that_of_the_structure_command(
    mib: int, message_bytes: int, level: int
) -> None:
    ran = run("offload", "--size-mib", mib, "--message-bytes", message_bytes, "--cfcc", level, "--json")

    assert ran.answer["capacity_without_offload"] == holds(mib, message_bytes, level)


# ---- every plan's policy reads back ------------------------------------------------------------------------------

NATIONAL = "$#@"
UPPER = string.ascii_uppercase
ALNUM = UPPER + string.digits


def named(first: str, then: str, most: int) -> st.SearchStrategy[str]:
    """Return a strategy for names of 1 to `most` characters."""
    return st.builds(
        lambda head, tail: head + tail, st.sampled_from(first), st.text(then, min_size=0, max_size=most - 1)
    )


CF_NAMES = st.lists(named(UPPER, ALNUM + NATIONAL + "_", 8), min_size=1, max_size=8, unique=True)
KIB = st.integers(64 * 1024, 900 * 1024 * 1024)


@st.composite
def structures(draw: st.DrawFn, facilities: list[str], name: str, number: int) -> dict[str, Any]:
    """Return a strategy for application structures with different queue names."""
    sizes = sorted(draw(st.lists(KIB, min_size=3, max_size=3)))
    chosen: dict[str, Any] = {
        "name": name,
        "cflevel": 5,
        "recover": True,
        "allow_auto_alter": draw(st.booleans()),
        "full_threshold": draw(st.integers(0, 100)),
        "preflist": draw(st.permutations(facilities).map(list)),
        "exclist": draw(st.lists(named(UPPER, ALNUM + NATIONAL + "_", 16), max_size=8, unique=True)),
        "duplex": draw(st.sampled_from(["DISABLED", "ALLOWED", "ENABLED"])),
        "size_with_offload": draw(st.booleans()),
        "offload": {"to": draw(st.sampled_from(["SMDS", "DB2"])), "dsgroup": f"MQ.*.{name[:8]}"},
        "queues": [
            queue(f"Q{number}.{at}", draw(st.integers(0, 10**6)), draw(st.integers(0, 100_000)))
            for at in range(draw(st.integers(1, 3)))
        ],
    }
    given_sizes = draw(st.sampled_from(["none", "size", "both", "all"]))
    if given_sizes != "none":
        chosen["size"] = f"{sizes[2]}K"
    if given_sizes in {"both", "all"}:
        chosen["initsize"] = sizes[1] if draw(st.booleans()) else f"{sizes[1]}K"
    if given_sizes == "all":
        chosen["minsize"] = f"{sizes[0]}K"
    return chosen


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Return a strategy for complete plans within IBM's limits."""
    facilities = draw(CF_NAMES)
    names = draw(st.lists(named(UPPER, ALNUM, 12), min_size=1, max_size=4, unique=True))
    assume("CSQSYSAPPL" not in names)
    document = sample_document()
    document.update(
        qsg=draw(named(UPPER, ALNUM, 4)),
        queue_managers=draw(st.integers(1, 32)),
        cfcc_level=draw(LEVELS),
        headroom_percent=draw(st.integers(0, 100)),
        size_factor=draw(st.sampled_from([1, 1.25, 1.5, 1.7, 2])),
        growth={"percent_per_year": draw(st.integers(0, 50)), "years": draw(st.integers(0, 5))},
        system={
            "include": draw(st.booleans()),
            "shared_channels": draw(st.integers(0, 20_000)),
            "group_ur_messages": draw(st.integers(0, 20_000)),
        },
    )
    facility = document["coupling_facilities"][0]
    document["coupling_facilities"] = [
        facility | {"name": name, "size": "1000G", "cfcc_level": document["cfcc_level"], "site": None}
        for name in facilities
    ]
    document["structures"] = [draw(structures(facilities, name, number)) for number, name in enumerate(names)]
    return document


def policy_text(document: dict[str, Any]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        ran = plan(document, Path(folder), "--output", "policy")
    if ran.code != 0:
        assert ran.code == 1, ran
        assert ran.out == ""
        assume(False)
    return ran.out


def assert_says_what_was_planned(found: Statement, wanted: dict[str, Any], prefix: str) -> None:
    assert found.name == prefix + wanted["name"]
    assert found.keywords["FULLTHRESHOLD"] == str(wanted["full_threshold"])
    assert found.keywords.get("ALLOWAUTOALT", "NO") == ("YES" if wanted["allow_auto_alter"] else "NO")
    assert found.keywords.get("DUPLEX", "DISABLED").split(",")[0] == wanted["duplex"]
    assert found.names("PREFLIST") == wanted["preflist"]
    assert (found.names("EXCLLIST") if "EXCLLIST" in found.keywords else []) == wanted["exclist"]
    assert found.kib("INITSIZE") <= found.kib("SIZE")
    for key, keyword in (("initsize", "INITSIZE"), ("size", "SIZE"), ("minsize", "MINSIZE")):
        if wanted.get(key) is not None:
            assert found.kib(keyword) == int(str(wanted[key]).rstrip("K"))


@sixty_examples
@given(documents())
def test_every_policy_states_the_planned_sizes(document: dict[str, Any]) -> None:
    text = policy_text(document)

    assert_submittable(text)
    prefix = (document["qsg"] + "@@@")[:4]
    found = {one.name: one for one in statements(text)}
    expected = {prefix + wanted["name"] for wanted in document["structures"]} | {f"{prefix}CSQ_ADMIN"}
    if document["system"]["include"]:
        expected.add(f"{prefix}CSQSYSAPPL")
    assert set(found) == expected
    assert next(iter(found)) == f"{prefix}CSQ_ADMIN"
    for wanted in document["structures"]:
        assert_says_what_was_planned(found[prefix + wanted["name"]], wanted, prefix)


@sixty_examples
@given(documents())
def test_written_policy_is_read_back_with_the_same_sizes(document: dict[str, Any]) -> None:
    text = policy_text(document)
    ours = statements(text)

    (policy,) = policies(read_policy_text(text))
    theirs = policy.structures

    assert [one.one("NAME") for one in theirs] == [one.name for one in ours]
    for one, other in zip(theirs, ours, strict=True):
        assert stated(one, "SIZE") == other.kib("SIZE") * 1024
        assert stated(one, "INITSIZE") == other.kib("INITSIZE") * 1024
        assert (stated(one, "MINSIZE") or 0) == (
            other.kib("MINSIZE") * 1024 if "MINSIZE" in other.keywords else 0
        )
        assert stated(one, "FULLTHRESHOLD") == int(other.keywords["FULLTHRESHOLD"])
        assert stated(one, "ALLOWAUTOALT") is (
            other.keywords["ALLOWAUTOALT"] == "YES" if "ALLOWAUTOALT" in other.keywords else None
        )
        assert stated(one, "DUPLEX") == other.keywords.get("DUPLEX")
        assert {each.keyword for each in one.parameters} >= set(other.keywords) - {"NAME"}
        assert list(one.values("PREFLIST") or ()) == other.names("PREFLIST")
        assert list(one.values("EXCLLIST") or ()) == (
            other.names("EXCLLIST") if "EXCLLIST" in other.keywords else []
        )
