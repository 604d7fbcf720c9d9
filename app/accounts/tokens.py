"""API tokens: scripts act with them for a user, with at most the rights of the user."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, NamedTuple

from pydantic import Field
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.accounts.credentials import LONGEST_SECRET, TOKEN_PREFIX, hash_of, new_token
from app.accounts.models import LONGEST_TOKEN_NAME, ApiToken, User
from app.actor import Actor, ActorKind, Role
from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.errors import FieldsInvalid, NotFound
from app.problem_types import TOKEN_NOT_FOUND
from planner_core.errors import FieldProblem
from planner_core.wire import Answer

SCOPES = (Role.VIEWER, Role.PLANNER, Role.OPERATOR)
"""No token has the rights of administrators."""


@dataclass(frozen=True, slots=True)
class StoredToken(Answer):
    """An API token, without its secret."""

    id: int
    name: str
    user: str
    scope: Annotated[str, Field(description="viewer, planner or operator.")]
    state: Annotated[str, Field(description="active, expired or revoked.")]
    created_at: datetime
    expires_at: datetime
    last_used_at: Annotated[
        datetime | None, Field(description="Time of a recent use, exact to about a minute.")
    ]


class FoundToken(NamedTuple):
    """A valid token."""

    actor: Actor
    last_used_at: datetime | None


class NewToken(NamedTuple):
    """A new token, with the secret that is shown once."""

    secret: str
    stored: StoredToken


def create(
    session: Session, user: User, *, name: str, scope: str, days: int, most_days: int, now: datetime
) -> NewToken:
    """Store a new token of a user.

    Args:
        session: A session that writes.
        user: The user for whom the token acts.
        name: A name by which the user recognizes it.
        scope: The label of the highest role that it permits.
        days: Days for which it is valid.
        most_days: Maximum number of days.
        now: The current time.

    Raises:
        FieldsInvalid: A value is invalid, or the user has fewer rights than the scope.
    """
    faults = []
    name = " ".join(name.split())
    if not name:
        faults.append(FieldProblem("name", "Enter a name by which you will recognize the token."))
    elif len(name) > LONGEST_TOKEN_NAME or not name.isprintable():
        faults.append(
            FieldProblem("name", f"Enter a name of at most {LONGEST_TOKEN_NAME} printable characters.")
        )
    role = Role.of(user.role)
    permitted = [each for each in SCOPES if each <= role]
    if scope not in [each.label for each in permitted]:
        names = ", ".join(each.label for each in permitted)
        faults.append(FieldProblem("scope", f"Choose a scope within your role: {names}."))
    if not 1 <= days <= most_days:
        faults.append(FieldProblem("days", f"Choose a validity between 1 and {most_days} days."))
    if faults:
        raise FieldsInvalid(*faults)
    secret = new_token()
    token = ApiToken(
        user_id=user.id, name=name, scope=scope, secret_hash=hash_of(secret), created_at=now,
        expires_at=now + timedelta(days=days),
    )  # fmt: skip
    session.add(token)
    session.flush()
    details = {"user": user.name, "scope": scope, "expires_at": token.expires_at}
    record(session, Action.TOKEN_CREATED, AuditObject("token", name, id=token.id), details)
    return NewToken(secret, _stored(token, user.name, now))


_FIND = select(
    ApiToken.id,
    ApiToken.scope,
    ApiToken.expires_at,
    ApiToken.last_used_at,
    ApiToken.revoked_at,
    User.id,
    User.name,
    User.role,
    User.disabled_at,
).join(User, User.id == ApiToken.user_id)


def find(session: Session, secret: str, *, address: str | None, now: datetime) -> FoundToken | None:
    """Return the valid token with a secret; None if there is none, or it is no longer valid."""
    if not secret.startswith(TOKEN_PREFIX) or len(secret) > LONGEST_SECRET:
        return None
    row = session.execute(_FIND.where(ApiToken.secret_hash == hash_of(secret))).first()
    if row is None:
        return None
    number, scope, expires_at, last_used_at, revoked_at, user_id, name, role, disabled_at = row
    if revoked_at is not None or disabled_at is not None or now >= expires_at:
        return None
    rights = min(Role.of(scope), Role.of(role))
    return FoundToken(
        Actor(name, ActorKind.TOKEN, rights, address, user_id=user_id, token_id=number), last_used_at
    )


def note_use(session: Session, token_id: int, now: datetime) -> None:
    """Write the time of the last use."""
    session.execute(update(ApiToken).where(ApiToken.id == token_id).values(last_used_at=now))


def list_of(
    session: Session, now: datetime, *, user_id: int | None = None, with_revoked: bool = True
) -> tuple[StoredToken, ...]:
    """Return the tokens of a user, or of all users, the newest first."""
    query = select(ApiToken, User.name).join(User, User.id == ApiToken.user_id).order_by(ApiToken.id.desc())
    if user_id is not None:
        query = query.where(ApiToken.user_id == user_id)
    if not with_revoked:
        query = query.where(ApiToken.revoked_at.is_(None))
    return tuple(_stored(token, name, now) for token, name in session.execute(query))


def revoke(session: Session, token_id: int, now: datetime, *, user_id: int | None = None) -> StoredToken:
    """Revoke a token, of one user or of any user. A revoked token stays revoked.

    Raises:
        NotFound: There is no such token.
    """
    query = select(ApiToken, User.name).join(User, User.id == ApiToken.user_id).where(ApiToken.id == token_id)
    if user_id is not None:
        query = query.where(ApiToken.user_id == user_id)
    row = session.execute(query).first()
    if row is None:
        message = f"There is no token {token_id}."
        raise NotFound(message, problem=TOKEN_NOT_FOUND)
    token, name = row
    if token.revoked_at is None:
        record(session, Action.TOKEN_REVOKED, AuditObject("token", token.name, id=token.id), {"user": name})
    token.revoked_at = token.revoked_at or now
    return _stored(token, name, now)


def revoke_all(session: Session, user_id: int, now: datetime) -> None:
    """Revoke all tokens of a user that are not revoked yet."""
    left = (ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None))
    if session.scalar(select(ApiToken.id).where(*left).limit(1)) is None:
        return  # a change of nothing would have no entry in the audit trail
    revoked = session.execute(
        update(ApiToken).where(*left).values(revoked_at=now).returning(ApiToken.id, ApiToken.name)
    ).all()
    user = session.scalar(select(User.name).where(User.id == user_id))
    for token_id, name in revoked:
        record(session, Action.TOKEN_REVOKED, AuditObject("token", name, id=token_id), {"user": user})


def _stored(token: ApiToken, user: str, now: datetime) -> StoredToken:
    state = "revoked" if token.revoked_at else "expired" if now >= token.expires_at else "active"
    return StoredToken(
        token.id, token.name, user, token.scope, state, token.created_at, token.expires_at, token.last_used_at
    )
