"""Policy text is read without loss: it is rendered as written, and statements keep their places."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.texts.cfrm.render import fragment
from planner_core.texts.cfrm.text import read_policy_text
from tests.planner_core.plans import policy_documents
from tests.planner_core.running.policies import JUMBLE, pasted_policies, policies


@settings(max_examples=300)
@given(st.one_of(st.text(max_size=300), st.lists(st.sampled_from(JUMBLE), max_size=60).map("".join)))
def test_any_text_is_rendered_as_read(text: str) -> None:
    read = read_policy_text(text)
    assert read.render() == text
    assert read_policy_text(read.render()) == read


@settings(max_examples=100)
@given(policies())
def test_policy_in_any_layout_is_rendered_as_read_with_its_values(policy: Any) -> None:  # noqa: ANN401
    read = read_policy_text(policy.text)
    assert read.render() == policy.text
    assert read.problems == ()
    found = [(each.verb, {p.keyword: p.values for p in each.parameters}) for each in read.statements]
    assert found == [(statement.verb, statement.keywords) for statement in policy.statements]


@settings(max_examples=20)
@given(pasted_policies())
def test_console_prefixes_are_kept_and_ignored(policy: Any) -> None:  # noqa: ANN401
    read = read_policy_text(policy.text)
    assert read.render() == policy.text
    assert [(problem.kind, problem.line) for problem in read.problems] == [("unexpected", 1)]
    found = [(each.verb, {p.keyword: p.values for p in each.parameters}) for each in read.statements]
    assert found == [(statement.verb, statement.keywords) for statement in policy.statements]


def test_time_in_a_comment_or_after_a_word_is_not_a_time_stamp() -> None:
    text = " STRUCTURE NAME(A) /* AT\n 10.21.33 STC01234 */ SIZE(1)\n /* 10.21.33 */\n"
    read = read_policy_text(text)
    assert read.problems == ()
    assert [piece.kind for piece in read.pieces if "10.21.33" in piece.text] == ["remark", "remark"]


@settings(max_examples=50)
@given(policy_documents())
def test_fragment_is_read_without_a_problem(document: dict[str, Any]) -> None:
    text = fragment(evaluate(read_object(document)))
    read = read_policy_text(text)
    assert (read.problems, read.render()) == ((), text)


def test_every_piece_has_its_line_and_column() -> None:
    text = "//A JOB\r\n  STRUCTURE NAME(A) /* X\n   Y */ SIZE(1)"
    lines = text.replace("\r\n", "\n").split("\n")
    pieces = read_policy_text(text).pieces
    assert [(piece.line, piece.column) for piece in pieces if piece.text in {"STRUCTURE", "SIZE", "1"}] == [
        (2, 3),
        (3, 9),
        (3, 14),
    ]
    for piece in pieces:
        if "\n" not in piece.text and "\r" not in piece.text:
            assert lines[piece.line - 1][piece.column - 1 :].startswith(piece.text)


def test_sequence_numbers_and_jcl_are_separate_pieces() -> None:
    text = "//SYSIN DD *\n" + " STRUCTURE NAME(A)".ljust(72) + "00010000\n   SIZE(1)\n/*\n"
    read = read_policy_text(text)
    kinds = {piece.text: piece.kind for piece in read.pieces}
    assert kinds["//SYSIN DD *"] == "jcl"
    assert kinds["00010000"] == "sequence"
    assert kinds["/*"] == "jcl"
    assert [s.values("SIZE") for s in read.statements] == [("1",)]


@pytest.mark.parametrize(
    ("text", "told", "read"),
    [
        ("STRUCTURE NAME(A) SIZE(1 PREFLIST(CF01)", [(1, "inside")], ["A"]),
        ("STRUCTURE NAME(A)\n PREFLIST(CF01,CF02\nSTRUCTURE NAME(B) SIZE(1)", [(2, "inside")], ["A", "B"]),
        ("STRUCTURE NAME(A)\nSTRUCTUR NAME(B) SIZE(1)\nSTRUCTURE NAME(C)", [(2, "statement")], ["A", "C"]),
        ("STRUCTURE NAME(A)\nSIZE 1024\nINITSIZE(1)\nSTRUCTURE NAME(C)", [(2, "value")], ["A", "C"]),
        ("STRUCTURE NAME(A) /* OPEN\nSTRUCTURE NAME(B)", [(1, "remark")], ["A", "B"]),
        ("1 ADMINISTRATIVE DATA UTILITY: POLICY REPORT\nCF NAME(A)", [(1, "unexpected")], ["A"]),
        ("STRUCTURE NAME(A) SIZE(1", [(1, "closed")], ["A"]),
        ("STRUCTURE NAME(A) SIZE(1))\nSTRUCTURE NAME(B)", [(1, "unexpected")], ["A", "B"]),
        ("STRUCTURE NAME(A)\n\nSIZE(1)\nSIZE(2)", [(4, "twice")], ["A"]),
        ("STRUCTURE NAME(A) ' STRUCTURE NAME(B)", [(1, "unexpected")], ["A", "B"]),
        ("DEFINE POLICY NAME(P) REPLACE(YES\nCF NAME(C)", [(1, "inside")], ["P", "C"]),
        ("CF NAME(C\nDEFINE POLICY NAME(P)", [(1, "inside")], ["C", "P"]),
    ],
)
def test_reading_continues_after_damage(text: str, told: list[tuple[int, str]], read: list[str]) -> None:
    found = read_policy_text(text)
    assert [(problem.line, problem.kind) for problem in found.problems] == told
    assert [(statement.values("NAME") or ("",))[0] for statement in found.statements] == read
    assert found.render() == text


def test_keyword_without_a_value_is_reported() -> None:
    (problem,) = read_policy_text("STRUCTURE NAME(A)\n  ALLOWAUTOALT YES\n  SIZE(1)").problems
    assert "ALLOWAUTOALT needs its value in parentheses" in problem.message
