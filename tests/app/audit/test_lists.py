"""Entries of the audit trail in words."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi import FastAPI

from app.audit import service
from app.audit.lists import details_in_words, view_of
from app.audit.service import Entry
from tests.app.web.pages.html import read
from tests.app.web.support import get

AT = datetime(2026, 11, 27, 9, 30, tzinfo=UTC)


def entry(details: dict[str, Any], *, version: int | None = None, kind: str = "user") -> Entry:
    return Entry(
        id=1, at=AT, actor="service", actor_kind=kind, user_id=None, token_id=None, address=None, action="plan.saved",
        object_kind="plan", object_id=1, object_name="SQ03", version=version, details=details, digest="0" * 64,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("details", "version", "words"),
    [
        ({"before": None, "after": 1, "qsg": "SQ03"}, 1, "group SQ03"),
        ({"before": 1, "after": 2, "changes": 1}, 2, "1 → 2; 1 change"),
        ({"before": "planner", "after": "viewer"}, None, "planner → viewer"),
        ({"before": "planner", "after": None}, None, "planner → \N{EN DASH}"),
        ({"has_password": True, "is_disabled": False}, None, "has a password"),
        ({"is_disabled": True, "method": "accounts"}, None, "the user is disabled; with a password"),
        (
            {"method": "kerberos", "is_known": True},
            None,
            "with the method kerberos; the file was stored already",
        ),
        (
            {
                "code": "DSGROUP_MISSING",
                "first": [{"at": "SEPA", "message": "SEPA offloads.", "reason": "As agreed."}],
            },
            None,
            "code DSGROUP_MISSING; SEPA offloads. As agreed",
        ),
        (
            {"scenario": "more", "changes": {"queue_managers": 16, "lost": {"site": "A"}}},
            None,
            "scenario more; changes queue managers 16, lost site A",
        ),
        (
            {
                "changes": {
                    "structures": [
                        {"name": "MYDATA", "duplex": "ENABLED", "offload_rules": []},
                        {"name": "ORDERS", "offload_rules": [{"usage_over": 70, "size_over": "4K"}]},
                    ]
                }
            },
            None,
            "changes structures MYDATA (duplex ENABLED, offload rules none), "
            "ORDERS (offload rules (usage over 70, size over 4K))",
        ),
        (
            {"size_bytes": 1, "sha256": "82094df125687912b6224aa1d763ba7b"},
            None,
            "1 byte; SHA-256 82094df12568\N{HORIZONTAL ELLIPSIS}",
        ),
        (
            {"trigger": "request", "structures": 2, "characters": 1024},
            None,
            "started by request; 2 structures; 1024 characters",
        ),
        ({"expires_at": "2026-12-27T03:41:23.755612+00:00"}, None, "expires at 2026-12-27 03:41 UTC"),
        ({"state": "failed", "sentence": "No space."}, None, "state failed; No space."),
        ({"cfcc_level": 26, "sources": ["SIZER", "IXLCSP"]}, None, "CFCC level 26; sources SIZER, IXLCSP"),
    ],
)
def test_details_are_readable(details: dict[str, Any], version: int | None, words: str) -> None:
    assert details_in_words(entry(details, version=version)) == words


@pytest.mark.parametrize(
    ("details", "words"),
    [
        ({"comment": "First; 3 changes"}, 'comment "First; 3 changes"'),
        ({"comment": "As agreed, see the ticket (12)."}, "comment As agreed, see the ticket (12)."),
        ({"comment": 'He said "none"'}, r'comment "He said \"none\""'),
        ({"comment": "a\\b"}, "comment a\\b"),
        ({"comment": 'a\\"'}, 'comment "a\\\\\\""'),
        ({"comment": "two\nlines"}, r'comment "two\nlines"'),
        ({"comment": ""}, 'comment ""'),
        ({"comment": "none", "note": None}, 'comment "none"'),
        ({"before": "a → b", "after": "c"}, '"a → b" → c'),
        ({"before": "\N{EN DASH}", "after": None}, '"\N{EN DASH}" → \N{EN DASH}'),
        ({"sources": ["a, b", "c"]}, 'sources "a, b", c'),
        ({"changes": {"note": "x), b (y"}}, 'changes note "x), b (y"'),
        ({"changes": [{"name": "A (b", "note": ""}]}, 'changes "A (b" (note "")'),
        (
            {"fields": [{"at": "/changes/A, b; c", "before": "1; /x 2", "after": 3}]},
            'changes, "A, b; c" "1; /x 2" → 3',
        ),
        (
            {"first": [{"at": "SEPA", "message": "SEPA offloads.", "reason": "Agreed; code X."}]},
            'SEPA offloads. "Agreed; code X."',
        ),
    ],
)
def test_text_with_a_separator_of_the_details_is_in_quotation_marks(
    details: dict[str, Any], words: str
) -> None:
    assert details_in_words(replace(entry(details), action="scenario.saved")) == words


TEXTS = (
    "a",
    "b",
    "",
    "none",
    "yes",
    "a, b",
    "a; k b",
    "a → b",
    '"a"',
    'a" ; k "b',
    "(a)",
    "a\\",
    "\N{EN DASH}",
    "b)",
)
PAIRS = list(itertools.product(TEXTS, TEXTS))


@pytest.mark.parametrize(
    "shape",
    [
        [{"k": value} for value in (True, False, 1, *TEXTS)],
        [{"k": one, "m": other} for one, other in PAIRS],
        [{"before": one, "after": other} for one, other in [*PAIRS, (None, "a"), ("a", None)]],
        [{"k": list(pair)} for pair in PAIRS] + [{"k": [one]} for one in TEXTS] + [{"k": []}],
        [{"k": {"j": one, "l": other}} for one, other in PAIRS],
        [{"k": [{"name": one, "j": other}]} for one, other in PAIRS],
        [{"fields": [{"at": "/j", "before": one, "after": other}]} for one, other in PAIRS],
        [{"fields": [{"at": f"/{one}"}, {"at": f"/{other}"}]} for one, other in PAIRS],
    ],
    ids=["value", "two", "change", "list", "object", "objects", "fields", "places"],
)
def test_different_details_are_never_shown_as_the_same_line(shape: list[dict[str, Any]]) -> None:
    lines = {details_in_words(replace(entry(each), action="scenario.saved")) for each in shape}
    assert len(lines) == len(shape)


@pytest.mark.parametrize(
    ("action", "pointer", "words"),
    [
        ("plan.saved", "/structures/BATCH", "Structure BATCH 1 → 2"),
        (
            "plan.saved",
            "/structures/BATCH/queues/PAY.IN/backlog",
            "Structure BATCH, queue PAY.IN: Backlog 1 → 2",
        ),
        ("scenario.saved", "/changes/queue_managers", "changes, queue managers 1 → 2"),
        ("scenario.saved", "/changes/structures/A~1B", "changes, structures, A/B 1 → 2"),
    ],
)
def test_changed_fields_are_named_with_words_instead_of_pointers(
    app: FastAPI, action: str, pointer: str, words: str
) -> None:
    assert app.routes, "the pages are put together"
    fields = [{"at": pointer, "kind": "changed", "before": 1, "after": 2}]
    assert details_in_words(replace(entry({"fields": fields}), action=action)) == words


@pytest.mark.parametrize(("kind", "note"), [("user", ""), ("service", ""), ("token", "token")])
def test_kind_of_actor_is_shown_unless_the_name_says_it(kind: str, note: str) -> None:
    (row,) = view_of([entry({}, kind=kind)]).rows
    assert row[1].cell.note == note


@pytest.mark.parametrize(
    ("details", "words"),
    [
        ({"fields": "x", "qsg": "SQ03"}, "fields x; group SQ03"),
        ({"fields": 5}, "fields 5"),
        ({"fields": [{}]}, "\N{EN DASH} changed"),
        ({"fields": [{"at": ""}, {"at": 7}]}, "Group changed; \N{EN DASH} changed"),
        ({"fields": []}, ""),
        ({"first": [1]}, "first 1"),
        ({"first": "x"}, "first x"),
    ],
)
def test_details_that_were_changed_in_the_database_are_still_listed(
    details: dict[str, Any], words: str
) -> None:
    assert details_in_words(entry(details)) == words


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 200 + "1" + "}" * 200, "{"])
def test_details_that_cannot_be_read_are_listed_as_damaged(text: str) -> None:
    assert service._details(text) == {"damaged": text}


def test_dates_in_errors_and_hints_of_fields_are_never_broken_at_a_hyphen(app: FastAPI) -> None:
    answer = get(app, "/audit?since=yesterday", accept="text/html")
    assert answer.status == 422
    whole = [each.text for each in read(answer.text).one(id="since-error").all("span", class_="keep")]
    assert whole == ["2026-11-27", "2026-11-27T09:30"]
