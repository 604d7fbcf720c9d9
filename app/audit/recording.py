"""Record actions in the audit trail, in the transaction of the change.

A service that changes something calls `record` with its own session, after the change::

    plan.name = new_name
    record(session, Action.PLAN_RENAMED, AuditObject("plan", new_name, id=plan.id), {"before": name, "after": new_name})

The entry is stored when that transaction commits. A change whose entry cannot be stored is rolled back, and an entry
whose change is rolled back is not stored. `current_actor()` is the actor unless another one is passed.

An action that is refused, such as a failed sign-in, ends its transaction with an error, so it needs one of its own,
which `record_alone` provides::

    record_alone(database, Action.SIGN_IN_FAILED, AuditObject("user", typed_name), actor=replace(ANONYMOUS, address=address))

A successful sign-in passes `actor=` too, because the actor of that request is still anonymous. Details contain no
secrets: no password, no token, no hash of either.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import event, insert, select
from sqlalchemy.orm import Session, SessionTransaction

from app.actor import LONGEST_ACTOR, Actor, current_actor
from app.audit.actions import Action
from app.audit.chain import GENESIS, digest_of
from app.audit.models import LONGEST_ADDRESS, LONGEST_OBJECT_NAME, AuditEntry
from app.clock import utc_now
from app.database.engine import Database
from app.database.transactions import after_commit, hold_lock

AUDIT_LOCK: Final = 0x6366706C61756474  # "cfplaudt"
"""Advisory lock on PostgreSQL of the transaction that adds the next entry."""
LONGEST_DETAILS: Final = 16_000
"""Characters of the JSON text of the details."""
LONGEST_VALUE: Final = 200
"""Characters of a text in the details."""
_MOST_NAMED = 20
_COLUMNS = tuple(column.key for column in AuditEntry.__table__.columns)
_PENDING = "cfplan_audit_pending"

logger = logging.getLogger("cfplan.audit")


@dataclass(frozen=True, slots=True)
class AuditObject:
    """The object of an action."""

    kind: str
    """Its kind, such as `plan`; at most 20 characters."""
    name: str
    """Its name at the time of the action."""
    id: int | None = None
    """Its key in the database, by which its entries are found after it was renamed."""
    version: int | None = None
    """The number of the version, if the object has versions."""


def record(
    session: Session,
    action: Action,
    about: AuditObject,
    details: Mapping[str, Any] | None = None,
    *,
    actor: Actor | None = None,
) -> None:
    """Add an entry to the audit trail when the transaction of this session commits.

    Args:
        session: A session opened with `writes=True`, outside of a savepoint, whose rollback an entry would survive.
        action: What was done.
        about: The object of the action.
        details: Further facts that the json module can write, such as `before` and `after`. Long texts are shortened;
            if the whole is too long, the longest members are left out and named in `omitted`.
        actor: Who did it, if not the current actor.

    Raises:
        RuntimeError: The session has an open savepoint. This is a defect of the caller.
    """
    if session.in_nested_transaction():
        message = "The audit trail cannot be written inside a savepoint; record the action after it."
        raise RuntimeError(message)
    session.connection()  # begins the transaction, so that a rollback discards the entry
    who = actor or current_actor()
    entry = AuditEntry(
        at=utc_now(),
        actor=_plain(who.name, LONGEST_ACTOR),
        actor_kind=who.kind.value,
        user_id=who.user_id,
        token_id=who.token_id,
        address=None if who.address is None else _plain(who.address, LONGEST_ADDRESS),
        action=action.value,
        object_kind=about.kind,
        object_id=about.id,
        object_name=_plain(about.name, LONGEST_OBJECT_NAME),
        version=about.version,
        details=details_text(details or {}),
    )
    pending: list[AuditEntry] | None = session.info.get(_PENDING)
    if pending is None:
        pending = session.info[_PENDING] = []
        event.listen(session, "before_commit", _store)
        event.listen(session, "after_soft_rollback", _discard)
    pending.append(entry)


def record_alone(
    database: Database,
    action: Action,
    about: AuditObject,
    details: Mapping[str, Any] | None = None,
    *,
    actor: Actor | None = None,
) -> None:
    """Add an entry in a transaction of its own: for refused actions, and for answers to requests that only read."""
    with database.session(writes=True) as session:
        record(session, action, about, details, actor=actor)


def was_recorded(
    session: Session, action: Action, about: AuditObject, details: Mapping[str, Any], *, since: datetime
) -> bool:
    """Return whether the current actor has an entry with the same content, from the same address, that is not older.

    Args:
        session: A session that has not recorded this entry itself.
        action: What was done.
        about: The object of the action.
        details: The details, as for `record`.
        since: The time of the oldest entry that counts.
    """
    who = current_actor()
    address = None if who.address is None else _plain(who.address, LONGEST_ADDRESS)
    found = select(AuditEntry.id).where(
        # An entry dated in the future, written while the clock was wrong, does not count.
        AuditEntry.at.between(since, utc_now()),
        AuditEntry.action == action.value,
        AuditEntry.actor == _plain(who.name, LONGEST_ACTOR),
        AuditEntry.actor_kind == who.kind.value,
        AuditEntry.user_id.is_not_distinct_from(who.user_id),
        AuditEntry.token_id.is_not_distinct_from(who.token_id),
        AuditEntry.address.is_not_distinct_from(address),
        AuditEntry.object_kind == about.kind,
        AuditEntry.object_id.is_not_distinct_from(about.id),
        AuditEntry.object_name == _plain(about.name, LONGEST_OBJECT_NAME),
        AuditEntry.version.is_not_distinct_from(about.version),
        AuditEntry.details == details_text(details),
    )
    return session.scalar(select(found.exists())) or False


def sha256_of(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, as `sha256sum` prints it for the downloaded file.

    Bytes of a given policy that are not UTF-8 are kept in merged texts, so they count as they were.
    """
    return hashlib.sha256(text.encode("utf-8", errors="surrogateescape")).hexdigest()


def details_text(details: Mapping[str, Any]) -> str:
    """Return the JSON text of details, bounded in size."""
    members = {key: _shortened(value) for key, value in details.items()}
    text = _json(members)
    if len(text) <= LONGEST_DETAILS:
        return text
    sizes = {key: len(_json(value)) for key, value in members.items()}
    omitted = []
    for key in sorted(members, key=lambda key: -sizes[key]):
        if sum(sizes[each] + len(each) + 6 for each in members) <= LONGEST_DETAILS - 1000:
            break
        del members[key]
        omitted.append(key)
    return _json({**members, "omitted": omitted[:_MOST_NAMED]})


def _store(session: Session) -> None:
    """Store the entries of a transaction as its last statements, so that the lock of the chain is held only briefly."""
    if session.in_nested_transaction():  # SQLAlchemy sends the event for savepoints as well
        return
    pending: list[AuditEntry] = session.info[_PENDING]
    if not pending:
        return
    session.flush()
    hold_lock(session, AUDIT_LOCK)
    last = session.execute(
        select(AuditEntry.id, AuditEntry.digest).order_by(AuditEntry.id.desc()).limit(1)
    ).one_or_none()
    number, digest = (0, GENESIS) if last is None else last
    rows = []
    for entry in pending:
        entry.id = number = number + 1
        entry.digest = digest = digest_of(entry, digest)
        rows.append({name: getattr(entry, name) for name in _COLUMNS})
    pending.clear()
    session.execute(insert(AuditEntry), rows)
    # The log usually leaves the machine, so it shows whether the end of the trail was cut off or all of it rewritten.
    after_commit(session, lambda: logger.info("Audit entry %d, SHA-256 %s", number, digest))


def _discard(session: Session, previous: SessionTransaction) -> None:
    if previous.parent is None:  # not a savepoint
        session.info[_PENDING].clear()


def _plain(text: str, most: int) -> str:
    """Return a text of at most `most` printable characters."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text[:most])


def _shortened(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return (
            value if len(value) <= LONGEST_VALUE else f"{value[: LONGEST_VALUE - 1]}\N{HORIZONTAL ELLIPSIS}"
        )
    if isinstance(value, Mapping):
        return {str(key): _shortened(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shortened(each) for each in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return value


def _json(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return json.dumps(value, separators=(",", ":"))
