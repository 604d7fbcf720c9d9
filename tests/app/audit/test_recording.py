"""Entries of the audit trail are stored with their change or not at all, in one chain, and never changed."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from app.actor import Actor, ActorKind, Role, acting_as
from app.audit.actions import WORDS, Action
from app.audit.chain import GENESIS, digest_of
from app.audit.models import AuditEntry
from app.audit.recording import LONGEST_DETAILS, AuditObject, details_text, record, record_alone
from app.clock import utc_now
from app.database.engine import Database
from app.nightly.models import CfLevel

ANNA = Actor("anna", ActorKind.TOKEN, Role.PLANNER, address="192.0.2.7", user_id=7, token_id=70)
SQ03 = AuditObject("plan", "SQ03", id=3, version=2)


def entries(database: Database) -> list[AuditEntry]:
    with database.session(writes=False) as session:
        return list(session.scalars(select(AuditEntry).order_by(AuditEntry.id)))


def test_entry_has_the_actor_the_object_and_the_details(database: Database) -> None:
    with acting_as(ANNA):
        record_alone(database, Action.PLAN_SAVED, SQ03, {"before": 1, "after": 2})
    (entry,) = entries(database)
    assert (entry.id, entry.actor, entry.actor_kind, entry.user_id, entry.token_id, entry.address) == (
        1, "anna", "token", 7, 70, "192.0.2.7",
    )  # fmt: skip
    assert (entry.action, entry.object_kind, entry.object_name, entry.object_id, entry.version) == (
        "plan.saved", "plan", "SQ03", 3, 2,
    )  # fmt: skip
    assert json.loads(entry.details) == {"before": 1, "after": 2}
    assert abs((utc_now() - entry.at).total_seconds()) < 3600


def test_entries_form_one_chain_without_gaps(database: Database) -> None:
    with database.session(writes=True) as session:
        record(session, Action.PLAN_CREATED, SQ03)
        record(session, Action.PLAN_SAVED, SQ03)
    record_alone(database, Action.PLAN_DELETED, SQ03)
    digest = GENESIS
    for number, entry in enumerate(entries(database), start=1):
        digest = digest_of(entry, digest)
        assert (entry.id, entry.digest) == (number, digest)
    assert number == 3


def test_transactions_that_commit_at_once_extend_the_same_chain(database: Database) -> None:
    barrier = threading.Barrier(8)

    def add(number: int) -> None:
        with database.session(writes=True) as session:
            session.execute(text("SELECT 1")) if database.is_sqlite else barrier.wait(30)
            record(session, Action.PLAN_SAVED, AuditObject("plan", f"P{number}"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(8)))
    found = entries(database)
    digest = GENESIS
    for entry in found:
        digest = digest_of(entry, digest)
        assert entry.digest == digest
    assert [entry.id for entry in found] == list(range(1, 9))
    assert {entry.object_name for entry in found} == {f"P{number}" for number in range(8)}


def test_change_that_is_rolled_back_leaves_no_entry(database: Database) -> None:
    def fail_after_recording() -> None:
        with database.session(writes=True) as session:
            record(session, Action.PLAN_SAVED, SQ03)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_after_recording()
    with database.session(writes=True) as session:
        record(session, Action.PLAN_SAVED, SQ03)
        session.rollback()
    assert entries(database) == []


def test_change_whose_entry_cannot_be_stored_does_not_happen(database: Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("ALTER TABLE audit_entries RENAME TO elsewhere"))

    def change() -> None:
        with database.session(writes=True) as session:
            session.add(CfLevel(coupling_facility="CF01", cfcc_level=25, source="", updated_at=utc_now()))
            session.flush()
            record(session, Action.LEVEL_SET, AuditObject("coupling facility", "CF01"))

    with pytest.raises(DatabaseError):
        change()
    with database.session(writes=False) as session:
        assert session.scalars(select(CfLevel)).all() == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_entries SET actor = 'nobody'",
        "DELETE FROM audit_entries",
        "DELETE FROM audit_entries WHERE id = 1",
    ],
)
def test_database_refuses_to_change_or_remove_entries(database: Database, statement: str) -> None:
    record_alone(database, Action.PLAN_SAVED, SQ03)
    with pytest.raises(DatabaseError, match="never changed"), database.engine.begin() as connection:
        connection.execute(text(statement))
    assert [entry.actor for entry in entries(database)] == ["service"]


def test_database_refuses_to_replace_or_truncate_entries(database: Database) -> None:
    record_alone(database, Action.PLAN_SAVED, SQ03)
    statement = (
        "INSERT OR REPLACE INTO audit_entries SELECT id, at, 'nobody', actor_kind, user_id, token_id, address, "
        "action, object_kind, object_id, object_name, version, details, digest FROM audit_entries"
        if database.is_sqlite
        else "TRUNCATE audit_entries"
    )
    with pytest.raises(DatabaseError, match="never changed"), database.engine.begin() as connection:
        connection.execute(text(statement))
    assert [entry.actor for entry in entries(database)] == ["service"]


def test_entry_inside_a_savepoint_is_refused(database: Database) -> None:
    def record_inside(session: Session) -> None:
        with session.begin_nested():
            record(session, Action.PLAN_SAVED, SQ03)

    with database.session(writes=True) as session, pytest.raises(RuntimeError, match="savepoint"):
        record_inside(session)


def test_rollback_of_a_later_savepoint_keeps_the_entry(database: Database) -> None:
    with database.session(writes=True) as session:
        record(session, Action.PLAN_SAVED, SQ03)
        session.begin_nested().rollback()
        with session.begin_nested():
            session.execute(text("SELECT 1"))
    assert len(entries(database)) == 1


def test_unprintable_characters_are_stored_on_both_databases(database: Database) -> None:
    record_alone(
        database, Action.UPLOAD_RECEIVED, AuditObject("upload", "a\x00b\ud800\nc"), {"filename": "\x00\ud800"}
    )
    (entry,) = entries(database)
    assert entry.object_name == "a\ufffdb\ufffd\ufffdc"
    assert json.loads(entry.details) == {"filename": "\x00\ud800"}


def test_details_that_are_too_long_are_shortened() -> None:
    found = json.loads(details_text({"reason": "x" * 500, "fields": ["y" * 300] * 200, "before": 1}))
    assert len(found["reason"]) == 200
    assert found["omitted"] == ["fields"]
    assert found["before"] == 1
    assert len(details_text({f"k{n}": "z" * 150 for n in range(500)})) <= LONGEST_DETAILS


def test_every_action_has_words() -> None:
    assert set(WORDS) == set(Action)
    assert all(len(action) <= 40 for action in Action)
