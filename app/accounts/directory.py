"""Users whom another directory knows: an OpenID provider, or a trusted proxy.

They are found by issuer and subject only. A name or an address of mail can be given to another person, or chosen by its
owner, so it never connects a user of a directory with an existing user.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.accounts import tokens, users
from app.accounts.errors import NoRole
from app.accounts.models import (
    LONGEST_ISSUER,
    LONGEST_SUBJECT,
    LONGEST_USER_NAME,
    ApiToken,
    ExternalIdentity,
    User,
    UserSession,
)
from app.actor import Actor, ActorKind, Role, acting_as
from app.audit.actions import Action
from app.audit.recording import record
from app.settings import Settings

Claims = Mapping[str, Any]
"""A user, as a directory reports it."""
_OTHER_CHARACTERS = re.compile(r"[^a-z0-9._@+-]+")
DIRECTORY = Actor("directory", ActorKind.SERVICE, Role.ADMINISTRATOR)
"""Who stores these users and changes their roles, in the audit trail."""
UNNAMED = "user"
_ROOM_FOR_NUMBER = 6


@dataclass(frozen=True, slots=True)
class Person:
    """A user as a directory describes them at this moment."""

    issuer: str
    subject: str
    name: str
    """The name that the directory suggests."""
    groups: frozenset[str]


def role_of(groups: Iterable[str], settings: Settings) -> Role | None:
    """Return the highest role of the groups, or the role of users without one; None if that is none."""
    roles = [Role.of(settings.role_groups[group]) for group in groups if group in settings.role_groups]
    if roles:
        return max(roles)
    return None if settings.default_role == "none" else Role.of(settings.default_role)


def admit(session: Session, person: Person, settings: Settings, now: datetime) -> User | None:
    """Return the user, with the role that the directory grants now; a new user is stored.

    A user who has lost every role is signed out everywhere, and the tokens are revoked: None.

    Raises:
        NoRole: The user is disabled here, or the directory sends an identifier that is too long.
    """
    if not 0 < len(person.subject) <= LONGEST_SUBJECT or len(person.issuer) > LONGEST_ISSUER:
        message = (
            f"Your directory sends an identifier that is empty or longer than {LONGEST_SUBJECT} characters."
        )
        raise NoRole(message, reason="identifier refused")
    with acting_as(DIRECTORY):
        return _admit(session, person, role_of(person.groups, settings), now)


def _admit(session: Session, person: Person, role: Role | None, now: datetime) -> User | None:
    users.hold(session)  # browsers send several requests at once, each of which could store a new user
    user = find(session, person.issuer, person.subject)
    if role is None:
        # A proxy states the user with each request: only the first one ends something, and records it.
        if user is not None and has_access(session, user, now):
            users.end_sessions(session, user)
            tokens.revoke_all(session, user.id, now)
        return None
    if user is None:
        user = users.add(session, free_name(session, person.name), role.label, password_hash=None, now=now)
        session.add(
            ExternalIdentity(user_id=user.id, issuer=person.issuer, subject=person.subject, created_at=now)
        )
        session.flush()
        return user
    check_enabled(user)
    if user.role != role.label:
        # The directory decides, even about the only administrator: it can appoint another one.
        details = {"before": user.role, "after": role.label, "issuer": person.issuer}
        record(session, Action.USER_CHANGED, users.object_of(user), details)
        session.execute(update(User).where(User.id == user.id).values(role=role.label))
        session.refresh(user)
    return user


def check_enabled(user: User) -> None:
    """Check that a user is not disabled.

    Raises:
        NoRole: An administrator has disabled the user.
    """
    if user.disabled_at is not None:
        message = f"Your user {user.name} is disabled. An administrator can enable it."
        raise NoRole(message, user=user.name, reason="user disabled")


def has_access(session: Session, user: User, now: datetime) -> bool:
    """Return whether a user has a session or a token that is valid unless the user is disabled."""
    has_session = select(UserSession.id).where(UserSession.user_id == user.id, UserSession.expires_at > now)
    has_token = select(ApiToken.id).where(
        ApiToken.user_id == user.id, ApiToken.revoked_at.is_(None), ApiToken.expires_at > now
    )
    return bool(session.scalar(select(has_session.exists() | has_token.exists())))


def find(session: Session, issuer: str, subject: str) -> User | None:
    """Return the user of a directory, or None."""
    return session.scalar(
        select(User)
        .join(ExternalIdentity, ExternalIdentity.user_id == User.id)
        .where(ExternalIdentity.issuer == issuer, ExternalIdentity.subject == subject)
    )


def free_name(session: Session, suggested: str) -> str:
    """Return a valid name that no user has: the suggested one, with a number if another user has it."""
    plain = valid_name(suggested)
    if users.find(session, plain) is None:
        return plain
    stem = plain[: LONGEST_USER_NAME - _ROOM_FOR_NUMBER]
    return next(name for number in count(2) if users.find(session, name := f"{stem}-{number}") is None)


def valid_name(suggested: str) -> str:
    """Return the part of a suggested name that user names may have.

    >>> valid_name("Zoë Müller")
    'zoe-muller'
    """
    # Letters with accents become those without; other characters become hyphens.
    plain = unicodedata.normalize("NFKD", suggested).encode("ascii", "ignore").decode().lower()
    return _OTHER_CHARACTERS.sub("-", plain).strip("-._@+")[:LONGEST_USER_NAME] or UNNAMED


def claim_of(claims: Claims, name: str) -> object:
    """Return a claim; a dot in its name leads into an object, unless a claim has the whole name.

    >>> claim_of({"realm_access": {"roles": ["planner"]}}, "realm_access.roles")
    ['planner']
    """
    if name in claims:
        return claims[name]
    first, _, rest = name.partition(".")
    inner = claims.get(first)
    return claim_of(inner, rest) if rest and isinstance(inner, Mapping) else None


def texts_in(value: object) -> frozenset[str]:
    """Return the texts in a claim: one text, or a list of them. Anything else names no group."""
    if isinstance(value, str):
        return frozenset({value})
    if isinstance(value, Iterable) and not isinstance(value, Mapping | bytes):
        return frozenset(each for each in value if isinstance(each, str))
    return frozenset()
