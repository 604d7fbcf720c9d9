"""A merge changes only planned values and keeps all other bytes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planner_core.errors import OutputRefused
from planner_core.plan.evaluate import evaluate
from planner_core.plan.result import PlanResult
from planner_core.running.compare import compare
from planner_core.running.merge import MergedPolicy, MergeRefused, merge
from planner_core.running.policy import in_effect, planned, policies
from planner_core.running.state import read_running
from planner_core.texts.cfrm.render import LAST_COLUMN, fragment
from planner_core.texts.cfrm.text import read_policy_text
from tests.planner_core.plans import plan
from tests.planner_core.running.policies import WrittenPolicy, read_policies
from tests.planner_core.running.policies import policies as any_policies

OLD = """\
//CFRM     JOB (ACCT),'POLICY'
//STEP20   EXEC PGM=IXCMIAPU
//SYSIN    DD  *
   DATA TYPE(CFRM) REPORT(YES)
   DEFINE POLICY NAME(PROD01) REPLACE(YES)      /* the one that runs */
   CF NAME(CF01) TYPE(003931) MFG(IBM) PLANT(02)
      SEQUENCE(0000000A1B2C) PARTITION(0F) CPCID(00)
   CF NAME(CF02) TYPE(003931) MFG(IBM) PLANT(02)
      SEQUENCE(0000000A1B2D) PARTITION(0F) CPCID(00)

   /* ---- DB2 ---- */
   STRUCTURE  NAME( DSNDB0P_LOCK1 ) SIZE(  262144 )INITSIZE(131072)
              PREFLIST(CF02 CF01) REBUILDPERCENT(5)
   STRUCTURE NAME(SQ03APP1)
             INITSIZE(262144) /* 256 MB */
             SIZE(512M)       /* 512 MB */
             FULLTHRESHOLD(80)
             PREFLIST(CF01,CF02)
             REBUILDPERCENT(10)
   STRUCTURE NAME(ISGLOCK) SIZE(8192) PREFLIST(CF01,CF02)
/*
"""


def result(**paths: Any) -> PlanResult:  # noqa: ANN401
    """Return a plan with one application structure and no CSQSYSAPPL."""
    given = {
        "system__include": False,
        "structures__0__initsize": "256M",
        "structures__0__size": "512M",
        "structures__0__full_threshold": 85,
        "structures__0__allow_auto_alter": False,
        "structures__0__duplex": "DISABLED",
        "admin__initsize": "32M",
        "admin__size": "48M",
        "admin__full_threshold": 85,
        "admin__allow_auto_alter": False,
        "admin__duplex": "DISABLED",
        "admin__preflist": ["CF01", "CF02"],
    }
    return evaluate(plan(**{**given, **paths}))


def codes(merged: MergedPolicy) -> dict[str, int | None]:
    return {each.code: each.line for each in merged.findings}


def test_equal_values_keep_their_notation() -> None:
    merged = merge(OLD, result())
    assert "SIZE(512M)       /* 512 MB */\n" in merged.policy
    assert "INITSIZE(262144) /* 256 MB */\n" in merged.policy
    assert [(c.structure, c.keyword) for c in merged.changes] == [
        ("SQ03CSQ_ADMIN", None),
        ("SQ03APP1", "FULLTHRESHOLD"),
    ]


def test_only_changed_values_differ_and_new_structures_come_last() -> None:
    merged = merge(OLD, result(structures__0__size="500M"))
    before, after = OLD.splitlines(), merged.policy.splitlines()
    gone = [line for line in before if line not in after]
    assert gone == ["             SIZE(512M)       /* 512 MB */", "             FULLTHRESHOLD(80)"]
    rest = iter(after)
    assert all(line in rest for line in before if line not in gone), "in another order"
    assert "             SIZE(500M)       /* 512 MB */" in after
    assert "             FULLTHRESHOLD(85)" in after
    assert (
        after.index("   STRUCTURE NAME(SQ03CSQ_ADMIN)")
        == after.index("   STRUCTURE NAME(ISGLOCK) SIZE(8192) PREFLIST(CF01,CF02)") + 1
    )
    assert after[-1] == "/*"
    change = next(c for c in merged.changes if c.keyword == "SIZE")
    assert (change.before, change.after) == ("512M", "500M")
    assert after[change.line - 1].strip().startswith("SIZE(500M)")


def test_comment_next_to_a_changed_value_is_reported() -> None:
    assert codes(merge(OLD, result(structures__0__size="500M")))["MERGE_REMARK_STALE"] == 16
    assert "MERGE_REMARK_STALE" not in codes(merge(OLD, result()))


def test_missing_keyword_is_added_below_the_last_one_of_its_statement() -> None:
    merged = merge(
        OLD,
        result(
            structures__0__exclist=["ISGLOCK"],
            structures__0__allow_auto_alter=True,
            structures__0__minsize="200M",
        ),
    )
    lines = merged.policy.splitlines()
    at = lines.index("             REBUILDPERCENT(10)")
    assert lines[at + 1 : at + 4] == [
        "             MINSIZE(204800)",
        "             ALLOWAUTOALT(YES)",
        "             EXCLLIST(ISGLOCK)",
    ]


LAST_IS_OURS = """\
   DATA TYPE(CFRM)
   DEFINE POLICY NAME(PROD01) REPLACE(YES)
   CF NAME(CF01) TYPE(003931) MFG(IBM) PLANT(02)
      SEQUENCE(0000000A1B2C) PARTITION(0F)
   CF NAME(CF02) TYPE(003931) MFG(IBM) PLANT(02)
      SEQUENCE(0000000A1B2D) PARTITION(0F)
   STRUCTURE NAME(SQ03APP1) SIZE(512M) PREFLIST(CF01,CF02)"""


@pytest.mark.parametrize("behind", ["\n", "", " DATA TYPE(CFRM)\n", "  /* LAST */\n"])
def test_keywords_stay_with_the_last_statement_when_structures_are_added(behind: str) -> None:
    made = result(structures__0__exclist=["ISGLOCK"], structures__0__minsize="200M")
    merged = merge(LAST_IS_OURS + behind, made)
    assert not [each for each in merged.findings if each.severity == "error"]
    ours, added = read_policies(merged.policy)[0].structures
    assert (ours.one("NAME"), added.one("NAME")) == ("SQ03APP1", "SQ03CSQ_ADMIN")
    assert [each.keyword for each in ours.parameters] == [
        "NAME",
        "SIZE",
        "PREFLIST",
        "INITSIZE",
        "MINSIZE",
        "FULLTHRESHOLD",
        "EXCLLIST",
    ]
    assert added.get("EXCLLIST") is None
    assert merge(merged.policy, made).policy == merged.policy


def test_structures_added_within_a_line_have_no_blank_lines_between() -> None:
    text = f"{LAST_IS_OURS.replace('SQ03APP1', 'OTHER')} DATA TYPE(CFRM)\n"
    merged = merge(text, result())
    assert [each.one("NAME") for each in read_policies(merged.policy)[0].structures] == [
        "OTHER",
        "SQ03CSQ_ADMIN",
        "SQ03APP1",
    ]
    assert "" not in [line.strip() for line in merged.policy.splitlines()]
    assert merged.policy.splitlines()[-1].strip() == "DATA TYPE(CFRM)"


@pytest.mark.parametrize("name", ["'SQ03APP1'", '"SQ03APP1"', "'sq03app1'", "' SQ03APP1 '"])
def test_quoted_name_matches_its_structure_and_keeps_its_quotes(name: str) -> None:
    quoted = OLD.replace("NAME(SQ03APP1)", f"NAME({name})").replace(
        "PREFLIST(CF01,CF02)\n", "PREFLIST('CF01',CF02)\n"
    )
    merged = merge(quoted, result(structures__0__preflist=["CF01", "CF03"]))
    plain = merge(OLD, result(structures__0__preflist=["CF01", "CF03"]))
    assert [(each.structure, each.keyword) for each in merged.changes] == [
        (each.structure, each.keyword) for each in plain.changes
    ]
    assert f"STRUCTURE NAME({name})" in merged.policy
    assert "PREFLIST('CF01',CF03)" in merged.policy


@pytest.mark.parametrize("name", ["'SQ03APP1", "SQ03 APP1", "'SQ03 APP1'"])
def test_unreadable_name_prevents_a_merge(name: str) -> None:
    with pytest.raises(MergeRefused, match="cannot be read as one name") as refused:
        merge(OLD.replace("NAME(SQ03APP1)", f"NAME({name})"), result())
    assert [each.line for each in refused.value.line_findings] == [14]


OTHER_COUPLE_DATA_SETS = """\
   DATA TYPE(SFM)
   DEFINE POLICY NAME(SFM1) CONNFAIL(YES) REPLACE(YES)
      SYSTEM NAME(*) ISOLATETIME(0)
   DATA TYPE(LOGR)
   DEFINE STRUCTURE NAME(SQ03APP1) LOGSNUM(1) MAXBUFSIZE(64000)
   DEFINE LOGSTREAM NAME(A.B.C) STRUCTNAME(SQ03APP1)
"""


@pytest.mark.parametrize("is_first", [True, False])
def test_statements_of_other_couple_data_sets_are_unchanged(is_first: bool) -> None:
    policy = LAST_IS_OURS + "\n"
    alone = merge(policy, result())
    text = OTHER_COUPLE_DATA_SETS + policy if is_first else policy + OTHER_COUPLE_DATA_SETS
    merged = merge(text, result())
    wanted = OTHER_COUPLE_DATA_SETS + alone.policy if is_first else alone.policy + OTHER_COUPLE_DATA_SETS
    assert merged.policy == wanted
    assert merged.policy_name == "PROD01"
    assert {each.code for each in merged.findings} == {each.code for each in alone.findings}


def test_unclosed_parenthesis_for_another_couple_data_set_prevents_a_merge() -> None:
    text = OTHER_COUPLE_DATA_SETS.replace("MAXBUFSIZE(64000)", "MAXBUFSIZE(64000") + LAST_IS_OURS
    with pytest.raises(MergeRefused, match="has errors"):
        merge(text, result())


def test_sequence_number_stays_on_a_line_that_opens_a_long_comment() -> None:
    line = "   STRUCTURE NAME(SQ03APP1) SIZE(1M) PREFLIST(CF01,CF02)  /* OVER 2 OF"
    numbered = [f"{line:<72}00000800", f"{'   THE LINES */':<72}00000900"]
    text = "\n".join([*LAST_IS_OURS.splitlines()[:-1], *numbered, ""])
    lines = merge(text, result()).policy.splitlines()
    at = next(number for number, each in enumerate(lines) if "00000800" in each)
    assert lines[at] == f"{'   STRUCTURE NAME(SQ03APP1) SIZE(512M) PREFLIST(CF01,CF02)':<72}00000800"
    assert lines[at + 1].strip() == "/* OVER 2 OF"
    assert lines[at + 2] == numbered[1]


def test_unknown_policy_name_is_refused() -> None:
    with pytest.raises(MergeRefused, match="The text has no policy TEST01: it has PROD01"):
        merge(OLD, result(), policy_name="TEST01")
    assert merge(OLD, result(), policy_name="PROD01").policy_name == "PROD01"


def test_lists_keep_the_text_between_names() -> None:
    text = OLD.replace(
        "PREFLIST(CF01,CF02)\n             REB", "PREFLIST( CF01 /* FIRST */ , CF02 )\n             REB"
    )
    merged = merge(text, result(structures__0__preflist=["CF02", "CF01"]))
    assert "PREFLIST( CF02 /* FIRST */ , CF01 )" in merged.policy
    longer = merge(text, result(structures__0__preflist=["CF02", "CF01", "CF03"]))
    assert "PREFLIST( CF02 /* FIRST */ , CF01,CF03 )" in longer.policy
    shorter = merge(text, result(structures__0__preflist=["CF02"]))
    assert "PREFLIST( CF02 /* FIRST */  )" in shorter.policy


def test_plan_default_that_replaces_a_policy_value_is_reported() -> None:
    text = OLD.replace("             REBUILDPERCENT(10)\n", "             DUPLEX(ENABLED,CROSSSITE)\n")
    document = plan(
        system__include=False,
        structures__0__initsize="256M",
        structures__0__size="512M",
        structures__0__full_threshold=80,
    )
    merged = merge(text, evaluate(document), unstated="plan")
    assert "DUPLEX(DISABLED)" in merged.policy
    told = next(each for each in merged.findings if each.code == "MERGE_BY_DEFAULT")
    assert told.field == "/structures/0/duplex"
    assert "leaves it at its default: it is now DISABLED. State the value" in told.message
    kept = merge(text, evaluate(document))
    assert "DUPLEX(ENABLED,CROSSSITE)" in kept.policy
    assert "MERGE_BY_DEFAULT" not in codes(kept)


PLACED: dict[str, Any] = {
    "structures__0__duplex": "ENABLED",
    "structures__0__duplex_site": "CROSSSITE",
    "structures__0__enforce_order": True,
    "structures__0__scm": {"max_size": "4G"},
}


@pytest.mark.parametrize(
    ("duplex", "merged_duplex"),
    [
        ("REBUILDPERCENT(10)", "DUPLEX(ENABLED,CROSSSITE)"),
        ("DUPLEX(ENABLED)", "DUPLEX(ENABLED,CROSSSITE)"),
        ("DUPLEX(DISABLED)", "DUPLEX(ENABLED,CROSSSITE)"),
        ("DUPLEX(ENABLED, SAMESITE )", "DUPLEX(ENABLED, CROSSSITE )"),
        ("DUPLEX(ALLOWED,SYNCONLY)", "DUPLEX(ENABLED,CROSSSITE,SYNCONLY)"),
    ],
)
def test_merged_statement_has_all_values_of_the_planned_one(duplex: str, merged_duplex: str) -> None:
    made = result(**PLACED)
    merged = merge(OLD.replace("REBUILDPERCENT(10)", duplex), made)
    (ours,) = read_policies(merged.policy)[0].structure("SQ03APP1")
    assert merged_duplex in merged.policy
    own = next(each for each in read_policies(fragment(made))[0].structures if each.one("NAME") == "SQ03APP1")
    for parameter in own.parameters:
        if parameter.keyword in {"SCMMAXSIZE", "SCMALGORITHM", "ENFORCEORDER"}:
            assert ours.values(parameter.keyword) == parameter.values
    assert merge(merged.policy, made).policy == merged.policy


def test_options_of_an_unchanged_duplex_value_are_kept() -> None:
    text = OLD.replace("REBUILDPERCENT(10)", "DUPLEX(ENABLED,CROSSSITE)")
    merged = merge(text, result(structures__0__duplex="ENABLED"))
    assert "DUPLEX(ENABLED,CROSSSITE)" in merged.policy


def test_sequence_numbers_keep_their_columns_and_lines_end_within_71() -> None:
    text = (
        "\n".join(f"{line:<72}{number:05d}000" for number, line in enumerate(OLD.splitlines()[3:-1], start=1))
        + "\n"
    )
    merged = merge(
        text,
        result(
            structures__0__size="500M",
            structures__0__preflist=[
                "CF01",
                "CF02",
                "CF000003",
                "CF000004",
                "CF000005",
                "CF000006",
                "CF000007",
                "CF000008",
            ],
        ),
    )
    for line in merged.policy.splitlines():
        assert len(line) in range(81)
        assert len(line[:72].rstrip()) <= LAST_COLUMN
        assert not line[72:].strip() or line[72:].isdigit()
    assert [line[72:] for line in merged.policy.splitlines() if line[72:]] == [
        line[72:] for line in text.splitlines()
    ]


def test_full_line_is_broken_before_the_text_that_does_not_fit() -> None:
    text = OLD.replace(
        "   STRUCTURE NAME(ISGLOCK)",
        "   STRUCTURE NAME(SQ03CSQ_ADMIN) SIZE(1) INITSIZE(1) PREFLIST(CF01,CF02)\n   STRUCTURE NAME(ISGLOCK)",
    )
    merged = merge(
        text, result(admin__initsize=10_000_000, admin__size=19_999_998, admin__preflist=["CF01", "CF02"])
    )
    made = [
        line
        for line in merged.policy.splitlines()
        if "SQ03CSQ_ADMIN" in line or "PREFLIST(CF01,CF02)" in line
    ]
    assert all(len(line) <= LAST_COLUMN for line in made)
    assert (
        "   STRUCTURE NAME(SQ03CSQ_ADMIN) SIZE(19999998) INITSIZE(10000000)\n      PREFLIST(CF01,CF02)\n"
        in merged.policy
    )


def test_plan_selects_one_of_several_policies() -> None:
    two = OLD + OLD.replace("PROD01", "TEST01")
    with pytest.raises(MergeRefused, match="2 policies"):
        merge(two, result())
    merged = merge(two, result(policy={"name": "TEST01"}))
    assert merged.policy.startswith(OLD)
    assert merged.policy_name == "TEST01"
    assert merge(two, result(), policy_name="PROD01").policy.endswith(OLD.replace("PROD01", "TEST01"))


def test_policy_fragment_is_merged_and_reported() -> None:
    merged = merge("STRUCTURE NAME(SQ03APP1) SIZE(1) PREFLIST(CF01,CF02)", result())
    assert "MERGE_FRAGMENT" in codes(merged)
    assert merged.policy.startswith("STRUCTURE NAME(SQ03APP1) SIZE(524288) PREFLIST(CF01,CF02)\n")


def test_page_headings_of_a_report_stay_and_are_reported() -> None:
    text = "1  ADMINISTRATIVE DATA UTILITY:  POLICY REPORT   PAGE    1\n" + OLD
    merged = merge(text, result())
    assert merged.policy.startswith("1  ADMINISTRATIVE DATA UTILITY:  POLICY REPORT   PAGE    1\n")
    assert codes(merged)["MERGE_TEXT_PASSED_OVER"] == 1


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (("FULLTHRESHOLD(80)", "FULLTHRESHOLD(80"), 17),
        (("/* 256 MB */", "/* 256 MB"), None),
        (("REBUILDPERCENT(10)", "SIZE(10)"), 19),
        (("NAME(ISGLOCK)", "NAME(SQ03APP1)"), 20),
        (("   STRUCTURE NAME(ISGLOCK)", "   STRUCTUR NAME(ISGLOCK)"), 20),
    ],
)
def test_damaged_policy_is_refused(damage: tuple[str, str], line: int | None) -> None:
    text = OLD.replace(*damage)
    assert text != OLD
    if line is None:  # the next remark closes this one: SIZE is gone, and put back by the merge
        assert codes(merge(text, result()))["POLICY_REMARK_SWALLOWS"] == 15
        return
    with pytest.raises(MergeRefused, match="cfplan merges nothing") as refused:
        merge(text, result())
    assert line in [each.line for each in refused.value.line_findings]


def test_comment_in_column_one_is_reported_even_if_the_policy_had_it_before() -> None:
    text = OLD.replace("   STRUCTURE NAME(ISGLOCK)", "/* GRS */\n   STRUCTURE NAME(ISGLOCK)")
    assert text != OLD
    found = codes(merge(text, result()))
    assert found["POLICY_COLUMN_ONE_REMARK"] == text.splitlines().index("/* GRS */") + 1


def test_text_without_a_policy_is_refused() -> None:
    with pytest.raises(MergeRefused, match="no statements of a CFRM policy"):
        merge("DISPLAY CFSTRUCT(*)", result())


def test_plan_with_errors_is_not_merged() -> None:
    with pytest.raises(OutputRefused):
        merge(OLD, result(structures__0__recover=False))


def test_reported_difference_leads_from_the_policy_to_the_merged_text() -> None:
    merged = merge(OLD, result(structures__0__size="500M"))
    assert "\n-             SIZE(512M)       /* 512 MB */\n" in merged.difference


def test_merge_without_changes_gives_the_same_bytes() -> None:
    once = merge(OLD, result())
    again = merge(once.policy, result())
    assert (again.policy, again.changes, again.difference) == (once.policy, (), "")


def with_room(changes: dict[str, Any]) -> dict[str, Any]:
    """Return the plan with a second coupling facility if DUPLEX(ENABLED) needs one."""
    preflist = changes["structures__0__preflist"]
    if changes["structures__0__duplex"] == "ENABLED" and len(preflist) == 1:
        return changes | {"structures__0__preflist": [*preflist, "CF20"]}
    return changes


PLANS = st.fixed_dictionaries(
    {
        "structures__0__initsize": st.sampled_from([300_000, 524_288, 900_000]),
        "structures__0__size": st.sampled_from([1_048_576, 1_200_001, 2**21]),
        "structures__0__full_threshold": st.integers(0, 100),
        "structures__0__duplex": st.sampled_from(["DISABLED", "ALLOWED", "ENABLED"]),
        "structures__0__allow_auto_alter": st.booleans(),
        "structures__0__preflist": st.lists(
            st.sampled_from([f"CF{n:02d}" for n in range(20)]), min_size=1, max_size=8, unique=True
        ),
        "structures__0__exclist": st.lists(
            st.sampled_from([f"OTHER{n}STRUCTURE" for n in range(9)]), max_size=8, unique=True
        ),
    }
).map(with_room)


@given(PLANS, st.sampled_from([f"CF{n:02d}" for n in range(20)]))
def test_plan_whose_second_copy_cannot_be_placed_is_refused(changes: dict[str, Any], only: str) -> None:
    made = result(**changes | {"structures__0__duplex": "ENABLED", "structures__0__preflist": [only]})
    reason = rf"SQ03APP1 .* its second copy cannot be placed .* {only}: it has the first copy"
    with pytest.raises(OutputRefused, match=reason):
        merge(OLD, made)
    with pytest.raises(OutputRefused, match=reason):
        compare(made, read_running([OLD]))


def foreign(text: str, ours: set[str]) -> list[str]:
    """Return the text around our statements in parts, without blanks at their ends."""
    read = read_policy_text(text)
    parts, start = [], 0
    for statement in read.statements:
        if statement.verb == "STRUCTURE" and statement.one("NAME") in ours:
            parts.append("".join(piece.text for piece in read.pieces[start : statement.first]))
            start = statement.last + 1
    parts.append("".join(piece.text for piece in read.pieces[start:]))
    return [part for part in parts if part.strip()]


@settings(max_examples=60)
@given(any_policies(names=("SQ03APP1", "SQ03CSQ_ADMIN"), min_foreign=1), PLANS)
def test_merge_changes_only_planned_values(policy: WrittenPolicy, changes: dict[str, Any]) -> None:
    made = result(**changes)
    merged = merge(policy.text, made)
    ours = {structure.cfrm_name for structure in made.structures}
    # What is around our statements is there still, to the byte but for a break where a line became too long.
    squeezed = ["".join(part.split()) for part in foreign(merged.policy, ours)]
    assert squeezed == ["".join(part.split()) for part in foreign(policy.text, ours)]
    if all(len(line) <= LAST_COLUMN for line in policy.text.splitlines()):
        assert all(len(line.rstrip()) <= LAST_COLUMN for line in merged.policy.splitlines())
    # Ours say what the plan says, and keep every other keyword.
    (before,), (after,) = read_policies(policy.text), read_policies(merged.policy)
    for structure in made.structures:
        (old,), (new,) = before.structure(structure.cfrm_name), after.structure(structure.cfrm_name)
        says = planned(structure)
        effective = in_effect(new)
        assert {key: effective[key] for key in says} == says
        for parameter in old.parameters:
            if parameter.keyword not in says:
                assert new.values(parameter.keyword) == parameter.values
    assert [s.one("NAME") for s in after.structures] == [s.one("NAME") for s in before.structures]
    again = merge(merged.policy, made)
    assert (again.policy, again.changes) == (merged.policy, ())


@settings(max_examples=60)
@given(any_policies(names=("SQ03APP1", "SQ03CSQ_ADMIN"), min_foreign=1), PLANS)
def test_lines_without_a_changed_value_are_unchanged_byte_for_byte(
    policy: WrittenPolicy, changes: dict[str, Any]
) -> None:
    merged = merge(policy.text, result(**changes))
    read = read_policy_text(policy.text)
    assume(read.problems == ())
    touched: set[int] = set()
    for statement in read.statements:
        if statement.one("NAME") in {"SQ03APP1", "SQ03CSQ_ADMIN"}:
            touched |= set(range(statement.line, read.pieces[statement.last].line + 1))
    lines = policy.text.replace("\r\n", "\n").split("\n")
    kept = [line for number, line in enumerate(lines, start=1) if number not in touched]
    rest = iter(merged.policy.replace("\r\n", "\n").split("\n"))
    assert all(any(line == other for other in rest) for line in kept)
    assert ("\r\n" in merged.policy) == ("\r\n" in policy.text)


@settings(max_examples=60)
@given(any_policies(names=("SQ03CSQ_ADMIN",)), PLANS)
def test_missing_structure_is_added_without_other_changes(
    policy: WrittenPolicy, changes: dict[str, Any]
) -> None:
    merged = merge(policy.text, result(**changes))
    (after,) = policies(read_policy_text(merged.policy))
    assert after.structures[-1].one("NAME") == "SQ03APP1"
    assert len(after.structures) == sum(s.verb == "STRUCTURE" for s in policy.statements) + 1
