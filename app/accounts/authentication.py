"""Find out who sends a request: the session in its cookie, or the API token in its Authorization header."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import quote

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette._utils import get_route_path
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.accounts import sessions, tokens, trusted_header
from app.accounts.addresses import returning
from app.accounts.cookies import session_secret
from app.accounts.errors import NotAuthenticated, PasswordChangeRequired
from app.accounts.last_use import LastUses
from app.accounts.passwords import Passwords
from app.accounts.rights import is_public
from app.accounts.sessions import Client, Lifetimes
from app.actor import ANONYMOUS, LOCAL, Actor, acting_as
from app.clock import utc_now
from app.database.engine import Database
from app.settings import Settings
from app.web.problems import is_wanted_as_page, on_database_error, problem_of, problem_response
from app.web.rendering import root_path
from planner_core.errors import PlannerError

SIGN_IN = "/sign-in"
PASSWORD = "/account/password"  # noqa: S105 - an address
BEFORE_PASSWORD_CHANGE = frozenset({PASSWORD, "/sign-out", "/sign-in"})
"""Addresses for users who have to choose a new password."""
WWW_AUTHENTICATE = 'Bearer realm="cfplan"'
NO_STORE = "no-store"


class Found:
    """Who sends a request, and what restricts the request."""

    __slots__ = ("actor", "must_change_password")

    def __init__(self, actor: Actor, *, must_change_password: bool = False) -> None:
        self.actor = actor
        self.must_change_password = must_change_password


@dataclass(frozen=True, slots=True)
class Accounts:
    """The accounts of an installation: how its users sign in, and what that needs."""

    settings: Settings
    database: Database
    passwords: Passwords
    lifetimes: Lifetimes
    last_uses: LastUses

    @classmethod
    def of(cls, settings: Settings, database: Database) -> Accounts:
        """Return the accounts that the settings describe."""
        return cls(settings, database, Passwords.of(settings), Lifetimes.of(settings), LastUses(database))

    @property
    def are_on(self) -> bool:
        """Whether users must sign in."""
        return self.settings.requires_sign_in

    def find_actor(self, *, secret: str, token: str, address: str | None) -> Found | None:
        """Return who has a secret of a session, or an API token; None if it is not valid.

        This reads the database for every request, so that a session that was ended, a revoked token and a changed role
        take effect at once in every process of the service.
        """
        now = utc_now()
        with self.database.session(writes=False) as session:
            if token:
                found_token = tokens.find(session, token, address=address, now=now)
                if found_token is None:
                    return None
                found, last_used_at, must_change = found_token.actor, found_token.last_used_at, False
            else:
                found_session = sessions.find(
                    session, secret, address=address, lifetimes=self.lifetimes, now=now
                )
                if found_session is None:
                    return None
                found, last_used_at = found_session.actor, found_session.last_used_at
                must_change = found_session.must_change_password
        self.last_uses.note(found, last_used_at, now)
        return Found(found, must_change_password=must_change)

    def close(self) -> None:
        """Stop writing times of last use."""
        self.last_uses.close()


def client_of(scope: Scope) -> Client:
    """Return the client of a request; a trusted proxy has reported its address."""
    description = next((value for name, value in scope["headers"] if name == b"user-agent"), b"")
    return Client((scope.get("client") or ("",))[0] or "", description.decode("latin-1"))


class Authentication:
    """Middleware that sets the actor of each request, and refuses requests without sign-in to addresses that need it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on for its actor, or ask for sign-in."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        accounts: Accounts = scope["app"].state.accounts
        address = (scope.get("client") or (None,))[0]
        if not accounts.are_on:
            with acting_as(replace(LOCAL, address=address)):
                await self.app(scope, receive, send)
            return
        path = get_route_path(scope)
        public = is_public(path)
        try:
            found = (
                None if public and not path.startswith(SIGN_IN) else await _found(accounts, scope, address)
            )
        except (DBAPIError, PoolTimeout) as error:
            await (await on_database_error(Request(scope), error))(scope, receive, send)
            return
        except PlannerError as error:
            await problem_response(Request(scope), problem_of(error))(scope, receive, send)
            return
        actor = found.actor if found is not None else replace(ANONYMOUS, address=address)
        with acting_as(actor):
            if found is None and not public:
                await _ask_for_sign_in(scope)(scope, receive, send)
            elif (
                found is not None
                and found.must_change_password
                and path not in BEFORE_PASSWORD_CHANGE
                and not public
            ):
                await _ask_for_password(scope)(scope, receive, send)
            else:
                await self.app(scope, receive, send if public and found is None else _private(send))


async def _found(accounts: Accounts, scope: Scope, address: str | None) -> Found | None:
    stated = trusted_header.stated_in(scope, accounts.settings)
    token, secret = _bearer_token(scope), session_secret(scope)
    # A script behind the proxy acts with its token, whose scope it has chosen; otherwise, the proxy knows who acts now.
    if stated is not None and not token:
        actor = await run_in_threadpool(
            trusted_header.actor_of, accounts.database, accounts.settings, stated, address
        )
        return Found(actor)
    if not token and not secret:
        return None
    return await run_in_threadpool(accounts.find_actor, secret=secret, token=token, address=address)


def _bearer_token(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            # Other schemes belong to a proxy in front of the service.
            if scheme.lower() == "bearer":
                # Not empty: the session of a client that sends a token must not be used instead.
                return token.strip() or "none"
    return ""


def _ask_for_sign_in(scope: Scope) -> Response:
    request = Request(scope)
    if is_wanted_as_page(request) and request.method == "GET":
        asked = quote(get_route_path(scope)) + (f"?{request.url.query}" if request.url.query else "")
        # No-store, because the same address shows the page after sign-in.
        return RedirectResponse(
            root_path(request) + returning(SIGN_IN, asked), 303, {"cache-control": NO_STORE}
        )
    error = NotAuthenticated(
        "Your session has ended, or you have not signed in. Sign in, then send the request again."
        if is_wanted_as_page(request)
        else "The request needs a valid API token in the header Authorization: Bearer, or the session of a browser."
    )
    response = problem_response(request, problem_of(error))
    has_token = bool(_bearer_token(scope))
    response.headers["www-authenticate"] = WWW_AUTHENTICATE + (', error="invalid_token"' if has_token else "")
    response.headers["cache-control"] = NO_STORE
    return response


def _ask_for_password(scope: Scope) -> Response:
    request = Request(scope)
    if is_wanted_as_page(request) and request.method == "GET":
        return RedirectResponse(f"{root_path(request)}{PASSWORD}", 303, {"cache-control": NO_STORE})
    return problem_response(request, problem_of(PasswordChangeRequired()))


def _private(send: Send) -> Send:
    """Return a `send` that keeps answers to signed-in users out of shared caches, and pages out of all caches."""

    async def send_private(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            stated = next(
                (at for at, (name, _) in enumerate(headers) if name.lower() == b"cache-control"), None
            )
            if stated is None:
                headers.append((b"cache-control", NO_STORE.encode()))
            elif b"no-store" not in headers[stated][1]:
                kept = headers[stated][1].replace(b"public", b"private")
                headers[stated] = (b"cache-control", kept if b"private" in kept else b"private, " + kept)
            message = {**message, "headers": headers}
        await send(message)

    return send_private
