"""Short texts that once took minutes to read are read in bounded CPU time."""

from __future__ import annotations

import pytest

from app.texts.documents import example_text, read_text
from planner_core.depth_events.readers import read_events
from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid, TextTooLong
from planner_core.plan.evaluate import evaluate
from planner_core.running.lint import lint
from planner_core.running.merge import merge
from planner_core.texts import console
from planner_core.texts.cfrm.text import read_policy_text
from planner_core.texts.mqsc.records import read_records
from tests.cpu import at_most_cpu_seconds

POLICY = "DATA TYPE(CFRM)\nDEFINE POLICY NAME(P1)\nCF NAME(CF01) TYPE(003931) MFG(IBM) PLANT(02)\n"
STRUCTURE = f"{POLICY}STRUCTURE NAME(SQ03APPLICATION1) SIZE(100M) "


def names(count: int) -> str:
    return ",".join(f"{'ABCD'[number % 4]}{number % 1000:03}" for number in range(count))


def test_lint_of_40_000_names_in_a_list_reports_them_in_bounded_cpu_time() -> None:
    with at_most_cpu_seconds(5):
        found = lint(f"{STRUCTURE}PREFLIST({names(40_000)})\n")
    codes = [each.code for each in found.findings]
    assert "POLICY_TOO_MANY_NAMES" in codes
    (twice,) = [each for each in found.findings if each.code == "POLICY_NAME_LISTED_TWICE"]
    assert "and 900 others more than once" in twice.message


def test_merge_into_a_policy_with_40_000_names_in_a_list_takes_bounded_cpu_time() -> None:
    result = evaluate(read_text(example_text().encode()))
    with at_most_cpu_seconds(6):
        merged = merge(f"{STRUCTURE}PREFLIST({names(40_000)})\n", result)
    assert "SQ03APPLICATION1" in merged.policy


def test_parameters_of_one_statement_are_read_in_bounded_cpu_time() -> None:
    text = STRUCTURE + "".join(f"KEY{number}(1) " for number in range(60_000)) + "SIZE(1M)"
    with at_most_cpu_seconds(6):
        read = read_policy_text(text)
    assert [problem.kind for problem in read.problems] == ["twice"]
    assert read.render() == text


def test_unclosed_comments_are_reported_in_bounded_cpu_time() -> None:
    text = "*/" + POLICY + "/* a\n" * 40_000
    with at_most_cpu_seconds(5):
        read = read_policy_text(text)
    assert sum(problem.kind == "remark" for problem in read.problems) == 40_000
    assert read.render() == text


def test_text_with_too_many_errors_is_refused() -> None:
    read = read_policy_text(POLICY + "?? " * 1_000)
    assert read.render() == POLICY + "?? " * 1_000
    with pytest.raises(TextTooLong, match="50,000 places that are not policy text: enter only the policy"):
        read_policy_text(STRUCTURE + "SIZE(" * 60_000)


@pytest.mark.parametrize("text", ["QUEUE(" + "\n  x" * 30_000, "\n" * 300_000], ids=["value", "lines"])
def test_records_without_an_end_are_skipped_in_bounded_cpu_time(text: str) -> None:
    with at_most_cpu_seconds(5):
        assert read_records(text).records == ()


@pytest.mark.parametrize("text", ["1" + " " * 100_000 + "M", "00" + " |" * 50_000 + "x"])
def test_events_among_many_blanks_are_found_in_bounded_cpu_time(text: str) -> None:
    with at_most_cpu_seconds(5):
        assert not read_events(text.encode(), name="events").messages


def test_character_column_of_a_hex_dump_is_ignored() -> None:
    for column in ("|M  ....|", "| a|b |", ">M  ....<", ""):
        read = read_events(f"4D442020 00000001 {column}\n".encode() * 4, name="events")
        assert read.format != "unknown", column


def test_long_line_with_many_blanks_is_read() -> None:
    text = "STRNAME: A" + " " * (3 * console.LARGEST_LINE) + "STRNAME: B"
    assert [line.text for line in console.lines(text)] == ["STRNAME: A", " " * 10 + "STRNAME: B"]


def test_plan_with_thousands_of_structures_is_refused_before_checks() -> None:
    document = {"qsg": "SQ03", "queue_managers": 2, "structures": [{"name": "A"}] * 1_001}
    with pytest.raises(DocumentInvalid) as refused:
        read_object(document)
    (problem,) = refused.value.problems
    assert problem.field == "/structures"
    assert problem.message.startswith("has 1001 structures: a group has at most 64")
