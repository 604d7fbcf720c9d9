"""Addresses of the sign-in at an OpenID provider.

They are links, not forms: the Content Security Policy does not let a form lead to another site.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import RedirectResponse, Response

from app.accounts import oidc
from app.accounts.authentication import NO_STORE, SIGN_IN, client_of
from app.accounts.context import AccountsDep, can_send_password
from app.accounts.cookies import (
    browser_secret,
    is_tls,
    remove_browser,
    session_secret,
    set_browser,
    set_session,
)
from app.accounts.errors import NoRole, ProviderFailed, ProviderRefused
from app.accounts.methods import OIDC, OIDC_AGAIN, OIDC_CALLBACK, OIDC_SIGN_OUT
from app.actor import ANONYMOUS, current_actor
from app.audit.actions import Action
from app.audit.recording import AuditObject, record_alone
from app.clock import utc_now
from app.database.session import DatabaseDep
from app.errors import NotFound
from app.web.rendering import root_path
from app.web.router import Router

router = Router(include_in_schema=False)
logger = logging.getLogger("cfplan.accounts")

_NO_TLS = (
    "This connection is not encrypted, so others on the network could take over your sign-in. Use an address that begins "
    "with https. Operators: see CFPLAN_TRUSTED_PROXIES and CFPLAN_SIGN_IN_OVER_HTTP."
)


def _provider(request: Request, accounts: AccountsDep) -> Any:  # noqa: ANN401 - see ProviderDep
    if "oidc" not in accounts.settings.authentication:
        message = "This service does not sign in users with OpenID Connect."
        raise NotFound(message)
    return request.app.state.oidc_provider


ProviderDep = Annotated[Any, Depends(_provider)]
"""The `Provider`, whose module other installations do not import."""


@router.get(OIDC)
def begin(request: Request, accounts: AccountsDep, provider: ProviderDep, database: DatabaseDep) -> Response:
    """Send the browser to the provider."""
    return _begin(request, accounts, provider, database, again=False)


@router.get(OIDC_AGAIN)
def begin_again(
    request: Request, accounts: AccountsDep, provider: ProviderDep, database: DatabaseDep
) -> Response:
    """Send the browser to the provider, which asks the user to sign in even if they have done so already."""
    return _begin(request, accounts, provider, database, again=True)


@router.get(OIDC_CALLBACK)
def finish(request: Request, accounts: AccountsDep, provider: ProviderDep, database: DatabaseDep) -> Response:
    """Sign in the user with whom the browser returns from the provider."""
    given = request.query_params
    answer = oidc.Answer(
        given.get("state", ""), given.get("code", ""), given.get("error", ""), given.get("iss")
    )
    try:
        finished = oidc.finish(
            database, provider, accounts.settings, answer,
            browser_secret=browser_secret(request.scope), client=client_of(request.scope),
            lifetimes=accounts.lifetimes, earlier_secret=session_secret(request.scope), now=utc_now(),
        )  # fmt: skip
    except (ProviderFailed, ProviderRefused, NoRole) as error:
        _log(error)
        # The provider has identified a user. Other failures can be sent by anyone, as often as they like.
        if isinstance(error, NoRole):
            about = AuditObject("user", error.user or "unknown user")
            details = {"method": oidc.METHOD, "reason": error.reason}
            # The browser may still have the session of an earlier sign-in, which this failure may have ended.
            who = replace(ANONYMOUS, address=current_actor().address)
            record_alone(database, Action.SIGN_IN_FAILED, about, details, actor=who)
        raise
    response = _redirect(root_path(request) + finished.to)
    set_session(response, request.scope, finished.secret)
    remove_browser(response, request.scope)
    return response


@router.get(OIDC_SIGN_OUT)
def sign_out(request: Request, provider: ProviderDep) -> Response:
    """Send the browser to the page of the provider that signs the user out there."""
    address = provider.sign_out_address(_own(request, SIGN_IN))
    return _redirect(address or root_path(request) + SIGN_IN)


def _begin(
    request: Request, accounts: AccountsDep, provider: ProviderDep, database: DatabaseDep, *, again: bool
) -> Response:
    if not can_send_password(request, accounts):
        raise ProviderRefused(_NO_TLS, log="the connection is not encrypted")
    try:
        begun = oidc.begin(
            database, provider,
            redirect_uri=_own(request, OIDC_CALLBACK), to=request.query_params.get("next", ""),
            browser_secret=browser_secret(request.scope), again=again,
            address=client_of(request.scope).address, now=utc_now(),
        )  # fmt: skip
    except (ProviderFailed, ProviderRefused) as error:
        _log(error)
        raise
    response = _redirect(begun.address)
    set_browser(response, request.scope, begun.browser_secret, seconds=int(oidc.PERIOD.total_seconds()))
    return response


def _own(request: Request, path: str) -> str:
    """Return an absolute address of this service, by the name and scheme that the browser uses."""
    scheme = "https" if is_tls(request.scope) else "http"
    return f"{scheme}://{request.headers['host']}{root_path(request)}{path}"


def _redirect(address: str) -> Response:
    return RedirectResponse(address, 303, {"cache-control": NO_STORE})


def _log(error: ProviderFailed | ProviderRefused | NoRole) -> None:
    # Reasons only: neither tokens and codes nor claims.
    logger.warning("Sign-in with OpenID Connect failed: %s", getattr(error, "log", error))
