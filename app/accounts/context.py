"""The accounts, the user and the client of a request."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from app.accounts import sessions, users
from app.accounts.authentication import Accounts, client_of
from app.accounts.cookies import is_tls
from app.accounts.errors import AccountsOff, ConfirmationRequired, Forbidden, NotAuthenticated
from app.accounts.models import User
from app.actor import Actor, ActorKind, current_actor
from app.clock import utc_now
from app.database.session import SessionDep
from app.settings import is_loopback


def _accounts(request: Request) -> Accounts:
    accounts: Accounts = request.app.state.accounts
    if not accounts.are_on:
        raise AccountsOff
    return accounts


AccountsDep = Annotated[Accounts, Depends(_accounts)]
"""The accounts of the installation; AccountsOff if it works without sign-in."""


def signed_in_user() -> Actor:
    """Return the user who acts in a browser, not through a token.

    Raises:
        Forbidden: An API token acts. One that was stolen must not be able to create others or to change the password.
    """
    actor = current_actor()
    if actor.kind != ActorKind.USER or actor.user_id is None:
        message = "This needs a user who has signed in: API tokens cannot change accounts."
        raise Forbidden(message)
    return actor


def user_of(session: SessionDep, actor: Actor) -> User:
    """Return the row of the acting user."""
    return session.get_one(User, actor.user_id)


def acting_user(session: SessionDep, actor: Actor) -> User:
    """Return the row of the acting user, for a change that depends on it.

    Raises:
        NotAuthenticated: An administrator has disabled the user or ended the session since the request began.
    """
    users.hold(session)
    user = session.get_one(User, actor.user_id, populate_existing=True)
    is_over = actor.session_id is not None and not sessions.exists(session, actor.session_id)
    if user.disabled_at is not None or is_over:
        message = "Your session has ended. Sign in, then send the request again."
        raise NotAuthenticated(message)
    return user


def has_recent_sign_in(session: SessionDep, actor: Actor) -> bool:
    """Return whether the user may make sensitive changes without confirming the sign-in."""
    # Without a session, each request is authenticated by itself.
    return actor.session_id is None or sessions.is_recent(session, actor.session_id, utc_now())


def require_recent_sign_in(session: SessionDep) -> Actor:
    """Return the user, if the sign-in is recent.

    Raises:
        Forbidden: An API token acts.
        ConfirmationRequired: The user signed in, or confirmed it, too long ago.
        NotAuthenticated: The session has ended since the request began.
    """
    actor = signed_in_user()
    acting_user(session, actor)
    if not has_recent_sign_in(session, actor):
        raise ConfirmationRequired
    return actor


_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-proto", "x-real-ip")
"""Headers that proxies add. Those of trusted proxies have been applied to the address and the scheme."""


def can_send_password(request: Request, accounts: Accounts) -> bool:
    """Return whether a password can be sent without being readable on the network, or this is permitted."""
    settings = accounts.settings
    if is_tls(request.scope) or settings.sign_in_over_http:
        return True
    # A proxy on this machine that is not trusted hides clients on other machines.
    is_hidden = not settings.trusted_proxies and any(name in request.headers for name in _FORWARDED)
    return not is_hidden and is_loopback(client_of(request.scope).address)
