"""Signing in at an OpenID provider: the authorization code flow with PKCE.

State, nonce and code verifier of a sign-in are stored in the database, bound to a secret in a cookie of the browser, and
can be used once. The provider is asked between transactions, so that a slow provider holds no lock.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.accounts import attempts, sessions, users
from app.accounts.addresses import own_address
from app.accounts.credentials import LONGEST_SECRET, hash_of, new_session_secret
from app.accounts.directory import Claims, Person, admit, claim_of, find, texts_in
from app.accounts.errors import Busy, NoRole, ProviderRefused
from app.accounts.models import LONGEST_REDIRECT, OidcSignIn
from app.accounts.sessions import Client, Lifetimes
from app.actor import Actor, ActorKind, Role
from app.audit.actions import Action
from app.audit.recording import record
from app.database.engine import Database
from app.settings import Settings

if TYPE_CHECKING:
    from app.accounts.oidc_provider import Provider

METHOD: Final = "oidc"
PERIOD: Final = timedelta(minutes=10)
"""Time in which a user must sign in at the provider."""
MOST_BEGUN: Final = 10_000
"""Sign-ins that may be under way. Anyone can begin one, so their number must be limited."""
VERIFIER_BYTES: Final = 48
_DENIED: Final = "access_denied"
_NOT_BEGUN: Final = "This sign-in was not begun in this browser, has been used already, or took longer than ten minutes. Start it again."


class Begun(NamedTuple):
    """A sign-in that has begun."""

    address: str
    """Address at the provider to which the browser must go."""
    browser_secret: str


class Finished(NamedTuple):
    """A new session, and the page that follows."""

    secret: str
    to: str


class Answer(NamedTuple):
    """The parameters with which the browser returns from the provider; empty if absent."""

    state: str
    code: str
    error: str
    issuer: str | None


def begin(
    database: Database,
    provider: Provider,
    *,
    redirect_uri: str,
    to: str,
    browser_secret: str,
    again: bool,
    address: str | None,
    now: datetime,
) -> Begun:
    """Store a new sign-in and return where it continues.

    Args:
        database: The database.
        provider: The OpenID provider.
        redirect_uri: The absolute address to which the provider sends the browser back.
        to: The page that follows; any other than an own page is replaced by the start page.
        browser_secret: The secret of an earlier sign-in in this browser, or an empty text.
        again: Whether the user must sign in at the provider again.
        address: The network address of the browser.
        now: The current time.

    Raises:
        ProviderFailed: The provider does not answer.
        ProviderRefused: The address of this service is too long.
        Busy: Too many sign-ins are under way.
        TooManyAttempts: The address has begun too many sign-ins.
    """
    if len(redirect_uri) > LONGEST_REDIRECT:
        raise ProviderRefused(_NOT_BEGUN, log="the redirect address is too long")
    state, nonce, verifier = new_session_secret(), new_session_secret(), secrets.token_urlsafe(VERIFIER_BYTES)
    # Several tabs of a browser can sign in at the same time, so they share the secret.
    kept = browser_secret if 0 < len(browser_secret) <= LONGEST_SECRET else new_session_secret()
    at_provider = provider.authorization_address(
        redirect_uri, state=state, nonce=nonce, verifier=verifier, again=again
    )
    with database.session(writes=True) as session:
        attempts.begin_at_provider(session, address, now)
        # Rows from the future remain when the clock is set back.
        is_over = (OidcSignIn.begun_at <= now - PERIOD) | (OidcSignIn.begun_at >= now + PERIOD)
        session.execute(delete(OidcSignIn).where(is_over))
        if (session.scalar(select(func.count()).select_from(OidcSignIn)) or 0) >= MOST_BEGUN:
            raise Busy
        session.add(
            OidcSignIn(
                state_hash=hash_of(state),
                browser_hash=hash_of(kept),
                nonce=nonce,
                verifier=verifier,
                redirect_uri=redirect_uri,
                return_to=own_address(to),
                begun_at=now,
            )
        )
    return Begun(at_provider, kept)


def finish(
    database: Database,
    provider: Provider,
    settings: Settings,
    answer: Answer,
    *,
    browser_secret: str,
    client: Client,
    lifetimes: Lifetimes,
    earlier_secret: str,
    now: datetime,
) -> Finished:
    """Check what the browser brings from the provider, and start a session.

    Raises:
        ProviderRefused: The sign-in was not begun in this browser, the user canceled it, or the answer is not valid.
        ProviderFailed: The provider does not answer.
        NoRole: The user has no role here, or is disabled.
    """
    begun = _taken(database, answer.state, browser_secret, now)
    provider.check_sender(answer.issuer)
    if answer.error or not answer.code:
        if answer.error == _DENIED:
            message = "The sign-in was canceled, or your directory does not let you use cfplan."
            raise ProviderRefused(message, log="the provider answers access_denied")
        message = "Your directory could not complete the sign-in. Start it again; if it fails again, tell the operator."
        # Only the characters that the specification permits, so that nothing can be put into the log.
        stated = "".join(
            each for each in answer.error[:60] if each.isascii() and (each.isalnum() or each == "_")
        )
        raise ProviderRefused(message, log=f"the provider answers the error {stated!r}")
    claims = provider.identify(answer.code, begun.redirect_uri, nonce=begun.nonce, verifier=begun.verifier)
    with database.session(writes=True) as session:
        person = person_of(claims, settings)
        user = admit(session, person, settings, now)
        if earlier_secret:
            sessions.end_with_secret(session, earlier_secret)
        if user is not None:
            secret = sessions.start(session, user, method=METHOD, client=client, lifetimes=lifetimes, now=now)
            role = Role.of(user.role)
            # The actor of this request is still anonymous.
            who = Actor(user.name, ActorKind.USER, role, client.address or None, user_id=user.id)
            record(session, Action.SIGNED_IN, users.object_of(user), {"method": METHOD}, actor=who)
            return Finished(secret, begun.return_to)
        known = find(session, person.issuer, person.subject)
        name = "" if known is None else known.name
    # After the transaction, which has ended the user's sessions.
    message = (
        "Your directory knows you, but you have no role in cfplan. Ask for a group that has one. "
        "Operators: see CFPLAN_ROLE_GROUPS and CFPLAN_DEFAULT_ROLE."
    )
    raise NoRole(message, user=name)


def person_of(claims: Claims, settings: Settings) -> Person:
    """Return the user whom the provider describes."""
    name = claim_of(claims, settings.oidc_name_claim)
    return Person(
        issuer=settings.oidc_issuer,
        subject=str(claims["sub"]),
        name=name if isinstance(name, str) else "",
        groups=texts_in(claim_of(claims, settings.oidc_groups_claim)),
    )


def _taken(database: Database, state: str, browser_secret: str, now: datetime) -> OidcSignIn:
    """Remove a sign-in of this browser, so that it cannot be used again, and return it."""
    if 0 < len(state) <= LONGEST_SECRET and 0 < len(browser_secret) <= LONGEST_SECRET:
        with database.session(writes=True) as session:
            found = _remove(session, hash_of(state), hash_of(browser_secret))
        if found is not None and now < found.begun_at + PERIOD:
            return found
    raise ProviderRefused(_NOT_BEGUN, log="no sign-in with this state was begun in this browser")


def _remove(session: Session, state_hash: str, browser_hash: str) -> OidcSignIn | None:
    # In one statement, so that of two requests with the same state only one continues.
    removed = session.scalars(
        delete(OidcSignIn)
        .where(OidcSignIn.state_hash == state_hash, OidcSignIn.browser_hash == browser_hash)
        .returning(OidcSignIn)
    ).one_or_none()
    if removed is not None:
        session.expunge(removed)
    return removed
