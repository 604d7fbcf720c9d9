"""Users: who they are, their roles and passwords."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from app.accounts import sessions, tokens
from app.accounts.models import LONGEST_USER_NAME, User
from app.accounts.passwords import Passwords, check_password
from app.actor import ROLE_LABELS, Role
from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.database.ordering import ordered_by
from app.database.transactions import hold_lock
from app.errors import FieldsInvalid, NameTaken, NotFound
from app.paging import ListRequest, ResultPage, Sort
from app.problem_types import USER_EXISTS, USER_NOT_FOUND
from planner_core.errors import FieldProblem
from planner_core.wire import Answer

USERS_LOCK = 0x63667075736572  # "cfpuser"
"""Advisory lock on PostgreSQL."""
_NAME = re.compile(rf"[a-z0-9][a-z0-9._@+-]{{0,{LONGEST_USER_NAME - 1}}}")
NAME_RULE = (
    f"Enter 1 to {LONGEST_USER_NAME} letters a to z, digits, or . _ @ + -; the first is a letter or a digit."
)
INITIAL_PASSWORD_BYTES = 12


@dataclass(frozen=True, slots=True)
class StoredUser(Answer):
    """A user."""

    id: int
    name: str
    role: Annotated[str, Field(description="viewer, planner, operator or administrator.")]
    is_disabled: bool
    has_password: Annotated[bool, Field(description="Whether the user can sign in with a password.")]
    must_change_password: Annotated[
        bool, Field(description="Whether the user must choose a new password at the next sign-in.")
    ]
    created_at: datetime
    last_sign_in_at: datetime | None


def object_of(user: User) -> AuditObject:
    """Return a user as the object of an entry of the audit trail."""
    return AuditObject("user", user.name, id=user.id)


def name_of(text: str) -> str:
    """Return a user name as it is stored: without blanks around it, in lower case."""
    return text.strip().lower()


def role_of(text: str) -> Role:
    """Return the role with a label.

    Raises:
        FieldsInvalid: There is no such role.
    """
    if text not in ROLE_LABELS:
        raise FieldsInvalid(FieldProblem("role", f"Choose a role: {', '.join(ROLE_LABELS)}."))
    return Role.of(text)


def add(
    session: Session,
    name: str,
    role: str,
    *,
    password_hash: str | None,
    must_change: bool = False,
    now: datetime,
) -> User:
    """Store a new user.

    Raises:
        FieldsInvalid: The name or the role is invalid.
        NameTaken: Another user has the name.
    """
    stored_name = name_of(name)
    faults = []
    if not _NAME.fullmatch(stored_name):
        faults.append(FieldProblem("name", NAME_RULE))
    if role not in ROLE_LABELS:
        faults.append(FieldProblem("role", f"Choose a role: {', '.join(ROLE_LABELS)}."))
    if faults:
        raise FieldsInvalid(*faults)
    hold(session)
    if find(session, stored_name) is not None:
        message = f"There is already a user {stored_name}."
        raise NameTaken(message, problem=USER_EXISTS)
    user = User(
        name=stored_name, role=role, password_hash=password_hash, must_change_password=must_change,
        created_at=now, password_changed_at=now if password_hash else None,
    )  # fmt: skip
    session.add(user)
    session.flush()
    details = {"role": role, "has_password": password_hash is not None, "must_change_password": must_change}
    record(session, Action.USER_CREATED, object_of(user), details)
    return user


def hold(session: Session) -> None:
    """Let one transaction at a time change users, or start sessions and create tokens for them.

    Call this before the users are read on whom the change depends. Otherwise, two administrators could disable each other,
    and a sign-in that overlaps with a new password or with the disabling of the user would leave a session behind.
    """
    hold_lock(session, USERS_LOCK)


def find(session: Session, name: str) -> User | None:
    """Return the user with a name, or None."""
    return session.scalar(select(User).where(User.name == name_of(name)))


def get_to_change(session: Session, name: str) -> User:
    """Return the user with a name, whom no other transaction changes until the end of this one.

    Raises:
        NotFound: There is no such user.
    """
    hold(session)
    return get(session, name)


def get(session: Session, name: str) -> User:
    """Return the user with a name.

    Raises:
        NotFound: There is no such user.
    """
    user = find(session, name)
    if user is None:
        message = f"There is no user {name_of(name)[:LONGEST_USER_NAME]!r}."
        raise NotFound(message, problem=USER_NOT_FOUND)
    return user


def list_all(session: Session) -> tuple[StoredUser, ...]:
    """Return all users by name."""
    return tuple(stored(user) for user in session.scalars(select(User).order_by(User.name)))


@dataclass(frozen=True, slots=True)
class UserListPage(ResultPage[StoredUser]):
    """One page of the list of users."""

    items: Annotated[tuple[StoredUser, ...], Field(serialization_alias="users")]


_ROLE_ORDER = case({role.label: int(role) for role in Role}, value=User.role)


def list_page(session: Session, asked: ListRequest) -> UserListPage:
    """Return the users on the requested page."""
    query = select(User)
    if asked.search:
        query = query.where(User.name.contains(name_of(asked.search), autoescape=True))
    order = ordered_by(
        asked.sort or Sort("name"),
        {
            "name": User.name,
            "role": _ROLE_ORDER,
            "state": User.disabled_at.is_not(None),
            "last_sign_in": User.last_sign_in_at,
            "created": User.created_at,
        },
        ties=(User.name,),
    )
    total = session.scalar(select(func.count()).select_from(query.subquery())) or 0
    rows = session.scalars(query.order_by(*order).offset(asked.page.offset).limit(asked.page.per_page))
    return UserListPage.of([stored(user) for user in rows], total, asked.page)


def has_any(session: Session) -> bool:
    """Return whether there is a user."""
    return session.scalar(select(User.id).limit(1)) is not None


def stored(user: User) -> StoredUser:
    """Return a user without the password."""
    return StoredUser(
        user.id, user.name, user.role, user.disabled_at is not None, user.password_hash is not None,
        user.must_change_password, user.created_at, user.last_sign_in_at,
    )  # fmt: skip


def set_role(session: Session, user: User, role: str) -> None:
    """Change the role of a user; it applies to the next request of each of the user's sessions and tokens.

    Raises:
        FieldsInvalid: There is no such role, or no administrator would be left.
    """
    if role_of(role) < Role.ADMINISTRATOR:
        _keep_an_administrator(session, user)
    if role != user.role:
        record(session, Action.USER_CHANGED, object_of(user), {"before": user.role, "after": role})
    user.role = role


def disable(session: Session, user: User, now: datetime) -> None:
    """Disable a user, end all sessions, and revoke all tokens. A disabled user stays as it is.

    Raises:
        FieldsInvalid: No administrator would be left.
    """
    if user.disabled_at is not None:
        return
    _keep_an_administrator(session, user)
    record(session, Action.USER_DISABLED, object_of(user))
    user.disabled_at = now
    sessions.end_all(session, user.id)
    tokens.revoke_all(session, user.id, now)


def enable(session: Session, user: User) -> None:
    """Let a disabled user sign in again. Tokens stay revoked."""
    if user.disabled_at is not None:
        record(session, Action.USER_ENABLED, object_of(user))
    user.disabled_at = None


def end_sessions(session: Session, user: User) -> None:
    """End all sessions of a user."""
    sessions.end_all(session, user.id)
    record(session, Action.SESSIONS_ENDED, object_of(user))


def set_password(
    session: Session,
    user: User,
    password_hash: str,
    *,
    must_change: bool,
    keep_session: int | None,
    now: datetime,
) -> None:
    """Replace the password of a user, and end the user's sessions except for one. Tokens remain valid.

    Args:
        session: A session that writes.
        user: The user.
        password_hash: The hash of the new password, whose rules were checked.
        must_change: Whether the user must choose another one at the next sign-in.
        keep_session: The session in which the user changes the password; None ends all.
        now: The current time.
    """
    user.password_hash = password_hash
    user.must_change_password = must_change
    user.password_changed_at = now
    record(session, Action.PASSWORD_CHANGED, object_of(user), {"must_change_password": must_change})
    sessions.end_all(session, user.id, other_than=keep_session)


def initial_password() -> str:
    """Return a random password, which the user must change at the first sign-in."""
    return secrets.token_urlsafe(INITIAL_PASSWORD_BYTES)


def checked_hash(passwords: Passwords, password: str, *, user_name: str, field: str = "password") -> str:
    """Return the hash of a new password.

    Raises:
        FieldsInvalid: The password does not meet the rules.
        Busy: Too many other hashes are being calculated.
    """
    if fault := check_password(password, user_name=user_name):
        raise FieldsInvalid(FieldProblem(field, fault))
    return passwords.hash(password)


def _keep_an_administrator(session: Session, user: User) -> None:
    """Refuse a change after which no one could administer users."""
    if user.role != Role.ADMINISTRATOR.label or user.disabled_at is not None:
        return
    others = session.scalar(
        select(func.count())
        .select_from(User)
        .where(User.role == Role.ADMINISTRATOR.label, User.disabled_at.is_(None), User.id != user.id)
    )
    if not others:
        message = f"{user.name} is the only administrator. Make another user an administrator first."
        raise FieldsInvalid(FieldProblem("role", message))
