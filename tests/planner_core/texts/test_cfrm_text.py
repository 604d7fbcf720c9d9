"""Policy statements read back as they were written, in any layout that an administrator may use."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.plan.result import PlanResult
from planner_core.running.lint import lint
from planner_core.running.policy import stated
from planner_core.texts.cfrm.render import fragment, job, policy_size
from planner_core.texts.cfrm.text import TextStatement, read_policy_text
from planner_core.units import parse_size
from tests.planner_core.plans import job_plan, policy_documents
from tests.planner_core.running.policies import keywords_of, read_statements, read_structures

K, M = 1024, 1024**2


def one(text: str) -> TextStatement:
    (found,) = read_structures(text)
    return found


def assert_says_the_same(result: PlanResult, text: str) -> None:
    read = read_structures(text)
    assert [s.one("NAME") for s in read] == [s.cfrm_name for s in result.structures]
    for back, structure in zip(read, result.structures, strict=True):
        sizes, placement = structure.sizes, structure.placement
        size = stated(back, "SIZE")
        assert isinstance(size, int)
        assert size == parse_size(policy_size(sizes.size_bytes))
        assert size >= sizes.size_bytes
        assert stated(back, "INITSIZE") == parse_size(policy_size(sizes.initsize_bytes))
        if sizes.minsize_bytes is None:
            assert back.get("MINSIZE") is None
        else:
            assert stated(back, "MINSIZE") == parse_size(policy_size(sizes.minsize_bytes))
        assert stated(back, "FULLTHRESHOLD") == placement.full_threshold
        assert stated(back, "ALLOWAUTOALT") is placement.allow_auto_alter
        assert stated(back, "DUPLEX") == placement.duplex
        assert (back.values("PREFLIST") or ()) == placement.preflist
        assert (back.values("EXCLLIST") or ()) == placement.exclist


# ---- what was written is read ------------------------------------------------------------------------------


@settings(max_examples=200)
@given(policy_documents())
def test_fragment_reads_back_unchanged(document: dict[str, Any]) -> None:
    result = evaluate(read_object(document))
    assert_says_the_same(result, fragment(result))


def test_job_reads_back_with_its_policy_and_coupling_facilities() -> None:
    result = evaluate(read_object(job_plan()))
    text = job(result)
    assert_says_the_same(result, text)
    statements = read_statements(text)
    assert [s.verb for s in statements] == ["DATA", "DEFINE POLICY", "CF", "CF", *["STRUCTURE"] * 3]
    _, policy, first, *_ = statements
    assert (policy.one("NAME"), policy.one("REPLACE")) == ("POLICY1", "NO")
    assert {key: first.one(key) for key in keywords_of(first)} == {
        "NAME": "CF01",
        "TYPE": "003931",
        "MFG": "IBM",
        "PLANT": "02",
        "SEQUENCE": "0000000A1B2C",
        "PARTITION": "0F",
        "CPCID": "00",
        "DUMPSPACE": "100352",
        "SITE": "SITE1",
    }


@settings(max_examples=50)
@given(policy_documents())
def test_sequence_numbers_lower_case_and_carriage_returns_are_ignored(document: dict[str, Any]) -> None:
    text = fragment(evaluate(read_object(document)))
    plain = [keywords_of(s) for s in read_structures(text)]
    numbered = "\r\n".join(
        f"{line:<72}{number:08d}" for number, line in enumerate(text.splitlines(), start=100)
    )
    assert [keywords_of(s) for s in read_structures(numbered)] == plain
    assert [keywords_of(s) for s in read_structures(text.lower())] == plain


@settings(max_examples=50)
@given(policy_documents())
def test_statements_on_one_or_many_lines_read_the_same(document: dict[str, Any]) -> None:
    text = fragment(evaluate(read_object(document)))
    without_remarks = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    plain = [keywords_of(s) for s in read_structures(text)]
    in_one_line = " ".join(without_remarks.split())
    spread = re.sub(r"([(),])", r"\n\1\n", without_remarks)
    for other in (in_one_line, spread):
        assert [keywords_of(s) for s in read_structures(other)] == plain


def test_ibms_example_is_read() -> None:
    found = one(
        "STRUCTURE NAME(QSG1APPLICATION1)\n"
        "INITSIZE(262144) /* 256 MB */\n"
        "SIZE(524288)     /* 512 MB */\n"
        "FULLTHRESHOLD(85)\n"
    )
    assert found.one("NAME") == "QSG1APPLICATION1"
    assert [stated(found, key) for key in ("INITSIZE", "SIZE", "FULLTHRESHOLD")] == [256 * M, 512 * M, 85]
    absent = ("MINSIZE", "ALLOWAUTOALT", "DUPLEX", "PREFLIST", "EXCLLIST")
    assert [found.get(key) for key in absent] == [None] * len(absent)


def test_surrounding_jcl_is_skipped_and_its_lines_are_counted() -> None:
    text = (
        "//JOB1 JOB (X),'Y'\n"
        "//STEP EXEC PGM=IXCMIAPU\n"
        "//* A COMMENT WITH ( AND ' IN IT\n"
        "//SYSIN DD *\n"
        "  DATA TYPE(CFRM) REPORT(YES)\n"
        "  DEFINE POLICY NAME(P1) REPLACE(YES)\n"
        "  CF NAME(CF01) TYPE(003931)\n"
        "  STRUCTURE NAME(A) SIZE(1)\n"
        "/*\n"
    )
    assert [(s.verb, s.line) for s in read_statements(text)] == [
        ("DATA", 5),
        ("DEFINE POLICY", 6),
        ("CF", 7),
        ("STRUCTURE", 8),
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "/* NOTHING BUT\n A REMARK */", "//JOB\n/*\n", "   \t "])
def test_text_without_a_statement_has_no_statements(text: str) -> None:
    assert read_statements(text) == ()


@pytest.mark.parametrize(
    ("value", "size"),
    [("1048576K", 2**30), ("1G", 2**30), ("1 M", M), ("512", 512 * K), ("1.5G", 3 * 2**29), ("2t", 2**41)],
)
def test_sizes_may_have_units(value: str, size: int) -> None:
    assert stated(one(f"STRUCTURE NAME(A) SIZE({value})"), "SIZE") == size


def test_lists_may_be_separated_by_blanks_or_commas() -> None:
    found = one("STRUCTURE NAME(A) SIZE(1) PREFLIST(CF01 CF02,CF03 , CF04) EXCLLIST(B)")
    assert stated(found, "PREFLIST") == ("CF01", "CF02", "CF03", "CF04")
    assert stated(found, "EXCLLIST") == ("B",)


def test_options_of_duplex_and_unknown_keywords_are_kept() -> None:
    found = one("STRUCTURE NAME(A) SIZE(1) DUPLEX(ENABLED,CROSSSITE) RECPRTY(2) ENFORCEORDER(YES)")
    assert stated(found, "DUPLEX") == "ENABLED"
    assert found.values("DUPLEX") == ("ENABLED", "CROSSSITE")
    assert found.values("RECPRTY") == ("2",)


def test_name_that_equals_a_verb_is_read_as_a_name() -> None:
    assert [
        s.one("NAME") for s in read_structures("STRUCTURE NAME(CF) SIZE(1) STRUCTURE NAME(DATA) SIZE(2)")
    ] == [
        "CF",
        "DATA",
    ]


def test_other_text_in_the_last_columns_is_not_a_sequence_number() -> None:
    line = " STRUCTURE NAME(A) SIZE(1) PREFLIST(".ljust(71) + "CF000001,CF02)"
    assert stated(one(line), "PREFLIST") == ("CF000001", "CF02")


def test_delete_is_a_separate_statement() -> None:
    (found,) = read_statements("DELETE POLICY NAME(OLD)")
    assert (found.verb, found.one("NAME")) == ("DELETE POLICY", "OLD")


# ---- damage ------------------------------------------------------------------------------------------------

GOOD = " STRUCTURE NAME(SQ03APP1)\n   SIZE(1024)\n   PREFLIST(CF01)\n"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (GOOD + " /* A REMARK\n STRUCTURE NAME(B) SIZE(1)\n", 4, "a comment that is not closed"),
        (" STRUCTURE NAME(A)\n SIZE(1024\n PREFLIST(CF01)\n", 2, r"a parenthesis inside SIZE\(\.\.\.\)"),
        (" STRUCTURE NAME(A)\n SIZE(1024\n", 2, r"SIZE\( is not closed"),
        (GOOD + "   SIZE(2048)\n", 4, "SIZE appears twice in one statement"),
        (" STRUCTURE NAME(A) name(B) SIZE(1)", 1, "NAME appears twice"),
        (GOOD + " NONSENSE NAME(B)", 4, "'NONSENSE' is not a valid statement"),
        (" )", 1, r"'\)' appears where a statement should begin"),
        (GOOD + "\n\n ,", 6, "',' appears where a statement should begin"),
        (" STRUCTURE NAME(A) SIZE(1) LONELY", 1, "'LONELY' appears where a statement should begin"),
        (" STRUCTURE NAME(A/B) SIZE(1)", 1, "'/' cannot be read"),
    ],
)
def test_damage_is_reported_with_its_line(text: str, line: int, says: str) -> None:
    problem = read_policy_text(text).problems[0]
    assert problem.line == line
    assert re.search(says, problem.message)
    assert len(problem.message) < 300


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (GOOD + " STRUCTURE SIZE(1024)\n", 4, "needs NAME"),
        (GOOD + "\n STRUCTURE NAME(B)\n   INITSIZE(1)\n", 5, "needs SIZE"),
        (" STRUCTURE NAME() SIZE(1)", 1, "NAME"),
        (" STRUCTURE NAME(A B) SIZE(1)", 1, "NAME"),
        (GOOD + " STRUCTURE NAME(B) SIZE(12X)", 4, "12X"),
        (" STRUCTURE NAME(B) SIZE()", 1, "SIZE"),
        (" STRUCTURE NAME(B) SIZE(1) INITSIZE(-5)", 1, "-5"),
        (" STRUCTURE NAME(B) SIZE(100,200)", 1, "SIZE"),
        (" STRUCTURE NAME(B) SIZE(100 200)", 1, "SIZE"),
        (" STRUCTURE NAME(B) SIZE(1) MINSIZE(1Q)", 1, "1Q"),
        (" STRUCTURE NAME(B) SIZE(1) FULLTHRESHOLD(HIGH)", 1, "HIGH"),
        (" STRUCTURE NAME(B) SIZE(1) FULLTHRESHOLD(101)", 1, "101"),
        (" STRUCTURE NAME(B) SIZE(1) FULLTHRESHOLD(\u00b2)", 1, "FULLTHRESHOLD"),
        (" STRUCTURE NAME(B) SIZE(1) FULLTHRESHOLD(" + "9" * 5000 + ")", 1, "FULLTHRESHOLD"),
        (" STRUCTURE NAME(B) SIZE(1) ALLOWAUTOALT(MAYBE)", 1, "MAYBE"),
        (GOOD + "/* ONE\n TWO\n THREE */ STRUCTURE", 6, "needs NAME"),
    ],
)
def test_missing_and_invalid_values_are_errors_with_their_line(text: str, line: int, says: str) -> None:
    errors = [each for each in lint(text).findings if each.severity == "error" and each.line == line]
    assert [each for each in errors if re.search(says, each.message)], errors
    assert all(len(each.message) < 300 for each in errors)


@settings(max_examples=300)
@given(st.text(max_size=200))
def test_any_text_is_read_and_rendered_unchanged(text: str) -> None:
    assert read_policy_text(text).render() == text


PIECES = [
    "STRUCTURE",
    "CF",
    "DATA",
    "DEFINE",
    "POLICY",
    "NAME",
    "SIZE",
    "INITSIZE",
    "MINSIZE",
    "FULLTHRESHOLD",
    "ALLOWAUTOALT",
    "DUPLEX",
    "PREFLIST",
    "(",
    ")",
    ",",
    " ",
    "\n",
    "/*",
    "*/",
    "//",
    "1",
    "12K",
    "YES",
    "\u00b2",
    "\u0663",
    "\u2028",
    "A" * 80,
    "9" * 20,
]


@settings(max_examples=1000)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=60).map("".join))
def test_any_sequence_of_keywords_is_read_with_its_lines(text: str) -> None:
    read = read_policy_text(text)
    assert read.render() == text
    assert all(each.line >= 1 for each in read.statements)
    assert all(each.line >= 1 for each in read.problems)


@settings(max_examples=200)
@given(policy_documents(), st.data())
def test_damaged_fragment_is_read_without_an_exception(document: dict[str, Any], data: st.DataObject) -> None:
    text = fragment(evaluate(read_object(document)))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 80)))
    damaged = text[:start] + text[end:]
    assert read_policy_text(damaged).render() == damaged
