"""Sessions of signed-in browsers, stored in the database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import Session

from app.accounts.browsers import browser_and_system
from app.accounts.credentials import LONGEST_SECRET, hash_of, new_session_secret
from app.accounts.models import LONGEST_ADDRESS, LONGEST_CLIENT, User, UserSession
from app.actor import Actor, ActorKind, Role
from app.settings import Settings

RECENT = timedelta(minutes=15)
"""Age up to which a sign-in permits sensitive changes, such as a new token."""
CLOCK_TOLERANCE = timedelta(minutes=5)
"""How far the clocks of the machines that share a database may differ. A session that begins later was started under a clock
that ran ahead: it would be valid for too long, so it is refused."""
LAST_USE_EVERY = timedelta(minutes=1)
"""The time of the last use is written at most once in this time."""


@dataclass(frozen=True, slots=True)
class Client:
    """The client of a request: its network address and its own description."""

    address: str = ""
    description: str = ""


class Lifetimes(NamedTuple):
    """How long sessions last."""

    idle: timedelta
    absolute: timedelta

    @classmethod
    def of(cls, settings: Settings) -> Lifetimes:
        """Return the lifetimes in the settings."""
        return cls(timedelta(minutes=settings.session_idle_minutes), timedelta(hours=settings.session_hours))


class FoundSession(NamedTuple):
    """A valid session."""

    actor: Actor
    confirmed_at: datetime
    last_used_at: datetime
    must_change_password: bool


@dataclass(frozen=True, slots=True)
class OwnSession:
    """A session as its user sees it."""

    id: int
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime
    address: str
    client: str
    is_current: bool

    @property
    def browser(self) -> str:
        """The browser and the system in words."""
        return browser_and_system(self.client)


def start(
    session: Session, user: User, *, method: str, client: Client, lifetimes: Lifetimes, now: datetime
) -> str:
    """Start a session of a user who has just shown who they are; return its secret for the cookie.

    Expired sessions of all users are removed.
    """
    secret = new_session_secret()
    session.execute(delete(UserSession).where(_expired(lifetimes, now)))
    session.add(
        UserSession(
            user_id=user.id,
            secret_hash=hash_of(secret),
            method=method,
            created_at=now,
            confirmed_at=now,
            last_used_at=now,
            expires_at=now + lifetimes.absolute,
            address=client.address[:LONGEST_ADDRESS],
            client=_plain(client.description),
        )
    )
    user.last_sign_in_at = now
    session.flush()
    return secret


_FIND = select(
    UserSession.id,
    UserSession.created_at,
    UserSession.confirmed_at,
    UserSession.last_used_at,
    UserSession.expires_at,
    User.id,
    User.name,
    User.role,
    User.must_change_password,
    User.disabled_at,
).join(User, User.id == UserSession.user_id)


def find(
    session: Session, secret: str, *, address: str | None, lifetimes: Lifetimes, now: datetime
) -> FoundSession | None:
    """Return the valid session with a secret; None if there is none, or it has expired, or its user is disabled."""
    if not secret or len(secret) > LONGEST_SECRET:
        return None
    row = session.execute(_FIND.where(UserSession.secret_hash == hash_of(secret))).first()
    if row is None:
        return None
    (
        number,
        created_at,
        confirmed_at,
        last_used_at,
        expires_at,
        user_id,
        name,
        role,
        must_change,
        disabled_at,
    ) = row
    if disabled_at is not None or now >= expires_at or now >= last_used_at + lifetimes.idle:
        return None
    if max(created_at, confirmed_at, last_used_at) > now + CLOCK_TOLERANCE:
        return None
    actor = Actor(name, ActorKind.USER, Role.of(role), address, user_id=user_id, session_id=number)
    return FoundSession(actor, confirmed_at, last_used_at, must_change)


def confirm(session: Session, session_id: int, now: datetime) -> None:
    """Note that the user has shown again who they are."""
    session.execute(update(UserSession).where(UserSession.id == session_id).values(confirmed_at=now))


def is_recent(session: Session, session_id: int | None, now: datetime) -> bool:
    """Return whether the user signed in, or confirmed it, a short time ago."""
    confirmed = session.scalar(select(UserSession.confirmed_at).where(UserSession.id == session_id))
    return confirmed is not None and now < confirmed + RECENT


def exists(session: Session, session_id: int) -> bool:
    """Return whether a session has not been ended."""
    return session.scalar(select(UserSession.id).where(UserSession.id == session_id)) is not None


def note_use(session: Session, session_id: int, now: datetime) -> None:
    """Write the time of the last use."""
    session.execute(
        update(UserSession)
        .where(UserSession.id == session_id, UserSession.last_used_at < now)
        .values(last_used_at=now)
    )


def list_of(session: Session, actor: Actor, *, lifetimes: Lifetimes, now: datetime) -> tuple[OwnSession, ...]:
    """Return the valid sessions of the actor, the last used first."""
    rows = session.scalars(
        select(UserSession)
        .where(UserSession.user_id == actor.user_id, ~_expired(lifetimes, now))
        .order_by(UserSession.last_used_at.desc(), UserSession.id.desc())
    )
    return tuple(
        OwnSession(
            row.id, row.created_at, row.last_used_at, row.expires_at, row.address, row.client,
            row.id == actor.session_id,
        )
        for row in rows
    )  # fmt: skip


def count_of(session: Session, user_id: int, *, lifetimes: Lifetimes, now: datetime) -> int:
    """Return the number of valid sessions of a user."""
    query = select(func.count()).where(UserSession.user_id == user_id, ~_expired(lifetimes, now))
    return session.scalar(query) or 0


def end(session: Session, session_id: int, *, user_id: int) -> bool:
    """End a session of a user; return whether there was one."""
    of_user = (UserSession.id == session_id, UserSession.user_id == user_id)
    if session.scalar(select(UserSession.id).where(*of_user).with_for_update()) is None:
        return False
    session.execute(delete(UserSession).where(*of_user))
    return True


def end_with_secret(session: Session, secret: str) -> bool:
    """End the session with a secret; return whether there was one."""
    with_secret = UserSession.secret_hash == hash_of(secret)
    if session.scalar(select(UserSession.id).where(with_secret).with_for_update()) is None:
        return False
    session.execute(delete(UserSession).where(with_secret))
    return True


def end_all(session: Session, user_id: int, *, other_than: int | None = None) -> None:
    """End all sessions of a user, except for one."""
    ended = delete(UserSession).where(UserSession.user_id == user_id)
    session.execute(ended if other_than is None else ended.where(UserSession.id != other_than))


def _expired(lifetimes: Lifetimes, now: datetime) -> ColumnElement[bool]:
    latest = now + CLOCK_TOLERANCE
    return (
        (UserSession.expires_at <= now)
        | (UserSession.last_used_at <= now - lifetimes.idle)
        | (UserSession.created_at > latest)
        | (UserSession.confirmed_at > latest)
        | (UserSession.last_used_at > latest)
    )


def _plain(description: str) -> str:
    """Return a browser's description of itself as printable ASCII characters in one line, which is all that browsers send."""
    characters = (each if " " <= each <= "~" else " " for each in description[: 10 * LONGEST_CLIENT])
    return " ".join("".join(characters).split())[:LONGEST_CLIENT]
