"""Read, export and verify the audit trail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy.orm import Session

from app.audit import repository
from app.audit.actions import WORDS, Action
from app.audit.chain import GENESIS, digest_of
from app.audit.filters import AuditFilter
from app.audit.models import AuditEntry
from app.database.engine import Database
from planner_core.bounds import is_too_deep
from planner_core.findings import Finding
from planner_core.wire import Answer, JsonObject

PORTION = 1_000
"""Entries that an export or a verification holds in memory."""


@dataclass(frozen=True, slots=True)
class Entry(Answer):
    """An entry of the audit trail."""

    id: Annotated[int, Field(description="Entries are numbered without gaps.")]
    at: Annotated[datetime, Field(description="When it was done, in UTC.")]
    actor: Annotated[str, Field(description="Who did it: the name of a user, also for a token of the user.")]
    actor_kind: Annotated[str, Field(description="user, token, command, service, local or anonymous.")]
    user_id: int | None
    token_id: int | None
    address: Annotated[str | None, Field(description="The network address of the client.")]
    action: Annotated[str, Field(description="Such as plan.saved.")]
    object_kind: Annotated[str, Field(description="Such as plan.")]
    object_id: Annotated[int | None, Field(description="Number of the object, which its name may change.")]
    object_name: Annotated[str, Field(description="Name of the object at that time.")]
    version: int | None
    details: Annotated[JsonObject, Field(description="Further facts, which depend on the action.")]
    digest: Annotated[str, Field(description="SHA-256 of the entry and of the digest before it.")]

    @property
    def words(self) -> str:
        """The action in words."""
        return WORDS[Action(self.action)] if self.action in WORDS else self.action


@dataclass(frozen=True, slots=True)
class EntryPage(Answer):
    """Some entries, newest first."""

    entries: tuple[Entry, ...]
    next: Annotated[
        int | None, Field(description="Send it as `before` for older entries; null if there are none.")
    ]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification(Answer):
    """The result of verifying the chain."""

    entries: Annotated[int, Field(description="Entries that were verified.")]
    last_digest: Annotated[str, Field(description="Digest of the last of them; zeros if there is none.")]
    fault: Annotated[str | None, Field(description="The first fault; null if there is none.")]

    @property
    def anchor(self) -> str:
        """The number and the digest of the last entry, to be noted outside of the database."""
        return f"{self.entries}:{self.last_digest}"


def list_entries(session: Session, asked: AuditFilter, *, before: int | None = None, limit: int) -> EntryPage:
    """Return matching entries, newest first, and where the next ones begin."""
    found = repository.newest(session, asked, before=before, limit=limit + 1)
    entries = tuple(map(entry_of, found[:limit]))
    return EntryPage(entries, entries[-1].id if len(found) > limit else None)


def each_entry(database: Database, asked: AuditFilter) -> Iterator[Entry]:
    """Yield all matching entries, oldest first, that exist at the beginning.

    They are read in portions, each in its own transaction, so that a slow reader neither needs memory nor keeps a
    transaction open. Entries never change, so the portions fit together.
    """
    with database.session(writes=False) as session:
        last = repository.last_id(session)
    after = 0
    while True:
        with database.session(writes=False) as session:
            found = [entry_of(row) for row in repository.oldest(session, asked, after=after, limit=PORTION)]
        for entry in found:
            if entry.id > last:
                return
            yield entry
        if len(found) < PORTION:
            return
        after = found[-1].id


def verify(database: Database, *, anchors: dict[int, str] | None = None) -> Verification:
    """Verify that no entry was changed, removed or inserted.

    Args:
        database: The database.
        anchors: Digests of entries by their ids, as they were noted earlier. Without one, it is unknown whether the
            last entries were removed, or all entries rewritten.
    """
    expected = dict(anchors or {})
    number, digest, after = 0, GENESIS, 0
    while True:
        with database.session(writes=False) as session:
            rows = repository.oldest(session, AuditFilter(), after=after, limit=PORTION)
        for row in rows:
            if row.id != number + 1:
                return Verification(
                    number, digest, f"Entry {number + 1} is missing: the next one is {row.id}."
                )
            if digest_of(row, digest) != row.digest:
                return Verification(
                    number,
                    digest,
                    f"Entry {row.id} was changed, or the one before it was removed or changed.",
                )
            number, digest = row.id, row.digest
            if number in expected and expected.pop(number) != digest:
                return Verification(
                    number - 1, digest, f"Entry {number} has another digest than the one that was noted."
                )
        if len(rows) < PORTION:
            break
        after = number
    if expected:
        lost = min(expected)
        return Verification(number, digest, f"Entry {lost} is missing: the last one is {number}.")
    return Verification(number, digest, None)


def entry_of(row: AuditEntry) -> Entry:
    """Return an entry as pages and programs show it."""
    return Entry(
        id=row.id,
        at=row.at,
        actor=row.actor,
        actor_kind=row.actor_kind,
        user_id=row.user_id,
        token_id=row.token_id,
        address=row.address,
        action=row.action,
        object_kind=row.object_kind,
        object_id=row.object_id,
        object_name=row.object_name,
        version=row.version,
        details=_details(row.details),
        digest=row.digest,
    )


def _details(text: str) -> JsonObject:
    # An entry that was damaged in the database is still listed, and its digest reveals it.
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {"damaged": text}
    return found if isinstance(found, dict) and not is_too_deep(found) else {"damaged": text}
