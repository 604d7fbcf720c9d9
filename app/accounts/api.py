"""Accounts over REST: the acting user, API tokens, and the administration of users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from app.accounts import tokens, users
from app.accounts.context import (
    AccountsDep,
    acting_user,
    require_recent_sign_in,
)
from app.accounts.errors import Forbidden
from app.accounts.models import LONGEST_TOKEN_NAME, LONGEST_USER_NAME
from app.accounts.passwords import LONGEST_PASSWORD, SHORTEST_PASSWORD
from app.accounts.tokens import StoredToken
from app.accounts.users import StoredUser
from app.actor import ActorKind, current_actor
from app.clock import utc_now
from app.database.session import SessionDep
from app.database.types import LARGEST_KEY
from app.errors import NotFound
from app.problem_types import TOKEN_NOT_FOUND
from app.web.openapi import problems
from app.web.router import Router
from planner_core.findings import Finding
from planner_core.wire import Answer

router = Router(prefix="/api/v1", tags=["accounts"])

RoleName = Literal["viewer", "planner", "operator", "administrator"]
ScopeName = Literal["viewer", "planner", "operator"]
UserName = Annotated[str, Path(description="Name of the user.", examples=["anna"])]
Password = Annotated[
    str,
    Field(
        min_length=SHORTEST_PASSWORD,
        max_length=LONGEST_PASSWORD,
        description="Initial password, which the user must replace at the first sign-in.",
    ),
]


@dataclass(frozen=True, slots=True)
class AccountAnswer(Answer):
    """Who sends the request."""

    name: Annotated[str, Field(description="Name of the user; `local` without sign-in.")]
    kind: Annotated[str, Field(description="`user` (a browser), `token`, or `local` (without sign-in).")]
    role: Annotated[
        str, Field(description="The rights of this request: for a token, at most those of its scope.")
    ]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class TokensAnswer(Answer):
    """API tokens of the user."""

    tokens: tuple[StoredToken, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class NewTokenAnswer(Answer):
    """A new API token."""

    token: Annotated[str, Field(description="The token itself, which is shown only now.")]
    stored: StoredToken
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class RevokedTokenAnswer(Answer):
    """A revoked API token."""

    revoked: StoredToken
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class UsersAnswer(Answer):
    """All users."""

    users: tuple[StoredUser, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class UserAnswer(Answer):
    """One user."""

    user: StoredUser
    findings: tuple[Finding, ...] = ()


class TokenRequest(BaseModel):
    """A token to create."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=LONGEST_TOKEN_NAME,
            description="What uses the token.",
            examples=["nightly report"],
        ),
    ]
    scope: Annotated[ScopeName, Field(description="The highest rights of the token.")]
    days: Annotated[
        int, Field(ge=1, le=3660, description="Days until it expires, at most CFPLAN_TOKEN_DAYS.")
    ]


class UserRequest(BaseModel):
    """A user to add."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_USER_NAME, examples=["anna"])]
    role: RoleName
    password: Password


class UserChange(BaseModel):
    """Changes to a user; members that are left out stay as they are."""

    model_config = ConfigDict(extra="forbid")

    role: RoleName | None = None
    is_disabled: Annotated[
        bool | None, Field(description="true ends all sessions of the user and revokes all tokens.")
    ] = None
    password: Password | None = None


@router.get("/account", summary="Read who sends the request", responses=problems())
def read_account() -> AccountAnswer:
    """Return the acting user, and the rights of this request."""
    actor = current_actor()
    return AccountAnswer(actor.name, actor.kind.value, actor.role.label if actor.role else "")


@router.get("/account/tokens", summary="List your API tokens", responses=problems(409))
def list_tokens(accounts: AccountsDep, session: SessionDep) -> TokensAnswer:
    """Return the tokens of the user, the newest first, without their secrets; also expired and revoked ones."""
    del accounts
    return TokensAnswer(tokens.list_of(session, utc_now(), user_id=current_actor().user_id))


@router.post(
    "/account/tokens", summary="Create an API token", status_code=201, responses=problems(403, 409, 422)
)
def create_token(accounts: AccountsDep, session: SessionDep, wanted: TokenRequest) -> NewTokenAnswer:
    """Create a token for the user, who must have signed in a short time ago; tokens cannot create tokens."""
    actor = require_recent_sign_in(session)
    new = tokens.create(
        session, acting_user(session, actor), name=wanted.name, scope=wanted.scope, days=wanted.days,
        most_days=accounts.settings.token_days, now=utc_now(),
    )  # fmt: skip
    return NewTokenAnswer(new.secret, new.stored)


@router.delete(
    "/account/tokens/{number}", summary="Revoke an API token", responses=problems(403, 404, 409, 422)
)
def revoke_token(accounts: AccountsDep, session: SessionDep, number: int) -> RevokedTokenAnswer:
    """Revoke a token of the user for good. A token can only revoke itself."""
    del accounts
    actor = current_actor()
    if actor.kind == ActorKind.TOKEN and number != actor.token_id:
        message = "An API token can only revoke itself."
        raise Forbidden(message)
    if not 0 < number < LARGEST_KEY:
        message = f"There is no token {number}."
        raise NotFound(message, problem=TOKEN_NOT_FOUND)
    return RevokedTokenAnswer(tokens.revoke(session, number, utc_now(), user_id=actor.user_id))


@router.get("/users", summary="List users", responses=problems(409))
def list_users(accounts: AccountsDep, session: SessionDep) -> UsersAnswer:
    """Return all users by name. For administrators."""
    del accounts
    return UsersAnswer(users.list_all(session))


@router.post("/users", summary="Add a user", status_code=201, responses=problems(403, 409, 422))
def add_user(accounts: AccountsDep, session: SessionDep, wanted: UserRequest) -> UserAnswer:
    """Add a user, who must replace the password at the first sign-in. For administrators who signed in recently."""
    # Before the first statement, so that no lock is held while the password is hashed.
    new_hash = users.checked_hash(accounts.passwords, wanted.password, user_name=users.name_of(wanted.name))
    require_recent_sign_in(session)
    user = users.add(
        session, wanted.name, wanted.role, password_hash=new_hash, must_change=True, now=utc_now()
    )
    return UserAnswer(users.stored(user))


@router.get("/users/{name}", summary="Read a user", responses=problems(404, 409))
def read_user(accounts: AccountsDep, session: SessionDep, name: UserName) -> UserAnswer:
    """Return one user. For administrators."""
    del accounts
    return UserAnswer(users.stored(users.get(session, name)))


@router.patch("/users/{name}", summary="Change a user", responses=problems(403, 404, 409, 422))
def change_user(accounts: AccountsDep, session: SessionDep, name: UserName, change: UserChange) -> UserAnswer:
    """Change the role, disable or enable a user, or replace the password. For administrators who signed in recently."""
    new_hash = (
        users.checked_hash(accounts.passwords, change.password, user_name=users.name_of(name))
        if change.password is not None
        else ""
    )
    require_recent_sign_in(session)
    user, now = users.get_to_change(session, name), utc_now()
    if change.role is not None:
        users.set_role(session, user, change.role)
    if change.is_disabled is not None:
        if change.is_disabled:
            users.disable(session, user, now)
        else:
            users.enable(session, user)
    if new_hash:
        users.set_password(session, user, new_hash, must_change=True, keep_session=None, now=now)
    return UserAnswer(users.stored(user))
