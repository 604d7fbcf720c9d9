"""`cfplan audit verify` finds every change that somebody with access to the database makes."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import text

from app.audit.actions import Action
from app.audit.chain import GENESIS, digest_of
from app.audit.models import AuditEntry
from app.audit.recording import AuditObject, record, record_alone
from app.audit.service import verify
from app.cli import main
from app.database.engine import Database


@pytest.fixture
def trail(database: Database) -> Database:
    """Return a database with five entries, whose triggers somebody with access has dropped."""
    with database.session(writes=True) as session:
        for number in range(1, 6):
            record(session, Action.PLAN_SAVED, AuditObject("plan", "SQ03", id=1, version=number))
    return database


def tampered(database: Database, *statements: str) -> None:
    drops = (
        [f"DROP TRIGGER audit_entries_no_{each}" for each in ("update", "delete", "replace")]
        if database.is_sqlite
        else ["DROP TRIGGER audit_entries_no_change ON audit_entries"]
    )
    with database.engine.begin() as connection:
        for statement in (*drops, *statements):
            connection.execute(text(statement))


def test_untouched_trail_is_intact(trail: Database) -> None:
    found = verify(trail)
    assert (found.entries, found.fault) == (5, None)
    assert found.anchor == f"5:{found.last_digest}"


def test_empty_trail_is_intact(database: Database) -> None:
    found = verify(database)
    assert (found.entries, found.last_digest, found.fault) == (0, GENESIS, None)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("actor", "'nobody'"), ("at", "'2020-01-01 00:00:00+00:00'"), ("address", "'192.0.2.1'"), ("version", "9"),
        ("details", "'{}x'"), ("action", "'plan.deleted'"), ("object_name", "'SQ04'"), ("object_id", "NULL"),
        ("user_id", "1"), ("token_id", "1"), ("actor_kind", "'user'"), ("object_kind", "'user'"),
    ],
)  # fmt: skip
def test_changed_entry_is_found(trail: Database, column: str, value: str) -> None:
    tampered(trail, f"UPDATE audit_entries SET {column} = {value} WHERE id = 3")  # noqa: S608 - names of our own
    found = verify(trail)
    assert found.entries == 2
    assert found.fault is not None
    assert "Entry 3 was changed" in found.fault


def test_removed_entry_is_found(trail: Database) -> None:
    tampered(trail, "DELETE FROM audit_entries WHERE id = 3")
    found = verify(trail)
    assert (found.entries, found.fault) == (2, "Entry 3 is missing: the next one is 4.")


def test_removed_and_renumbered_entries_are_found(trail: Database) -> None:
    tampered(
        trail,
        "DELETE FROM audit_entries WHERE id = 3",
        "UPDATE audit_entries SET id = 3 WHERE id = 4",
        "UPDATE audit_entries SET id = 4 WHERE id = 5",
    )
    assert verify(trail).fault == "Entry 3 was changed, or the one before it was removed or changed."


def test_removed_end_is_found_with_an_anchor_only(trail: Database) -> None:
    anchor = {5: verify(trail).last_digest}
    tampered(trail, "DELETE FROM audit_entries WHERE id > 3")
    assert verify(trail).fault is None
    assert verify(trail, anchors=anchor).fault == "Entry 5 is missing: the last one is 3."


def test_rewritten_trail_is_found_with_an_anchor_only(trail: Database) -> None:
    anchors = {2: digest_at(trail, 2)}
    tampered(trail, "UPDATE audit_entries SET actor = 'nobody' WHERE id = 2")
    rewrite(trail)
    assert verify(trail).fault is None
    assert verify(trail, anchors=anchors).fault == "Entry 2 has another digest than the one that was noted."


def digest_at(database: Database, number: int) -> str:
    with database.session(writes=False) as session:
        return session.get_one(AuditEntry, number).digest


def rewrite(database: Database) -> None:
    with database.session(writes=True) as session:
        digest = GENESIS
        for number in range(1, 6):
            row = session.get_one(AuditEntry, number)
            row.digest = digest = digest_of(row, digest)


def test_new_entries_continue_the_trail_after_an_anchor(trail: Database) -> None:
    anchor = {5: verify(trail).last_digest}
    record_alone(trail, Action.PLAN_DELETED, AuditObject("plan", "SQ03"))
    found = verify(trail, anchors=anchor)
    assert (found.entries, found.fault) == (6, None)


def test_command_prints_the_anchor_and_reports_a_fault(
    trail: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CFPLAN_DATABASE_URL", trail.url.render_as_string(hide_password=False))
    assert main(["audit", "verify"]) == 0
    anchor = capsys.readouterr().out.split()[-1]
    assert main(["audit", "verify", "--anchor", anchor, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "entries": 5, "last_digest": anchor.partition(":")[2], "fault": None, "findings": [],
    }  # fmt: skip
    tampered(trail, "DELETE FROM audit_entries WHERE id = 1")
    assert main(["audit", "verify"]) == 1
    assert capsys.readouterr().out == "Entry 1 is missing: the next one is 2.\nIntact entries before it: 0\n"
    assert main(["audit", "verify", "--anchor", "5"]) == 2
    assert "not an anchor" in capsys.readouterr().err
