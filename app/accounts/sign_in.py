"""Signing in with a user name and a password.

The password is checked between two transactions, because it takes a tenth of a second in which no lock may be held.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from app.accounts import attempts, sessions, users
from app.accounts.errors import SignInRefused
from app.accounts.models import User
from app.accounts.passwords import LONGEST_PASSWORD, Passwords
from app.accounts.sessions import Client, Lifetimes
from app.actor import Actor, ActorKind, Role
from app.audit.actions import Action
from app.audit.recording import AuditObject, record, record_alone
from app.clock import utc_now
from app.database.engine import Database


class SignedIn(NamedTuple):
    """A new session."""

    secret: str
    must_change_password: bool


class _Checked(NamedTuple):
    """A user whose password is correct."""

    user_id: int
    stored_hash: str
    renewed_hash: str | None
    """A hash with the current costs, if the stored one has others."""


def sign_in(
    database: Database,
    passwords: Passwords,
    name: str,
    password: str,
    *,
    client: Client,
    lifetimes: Lifetimes,
    earlier_secret: str = "",
    now: datetime | None = None,
) -> SignedIn:
    """Check a password and start a session; the session in the same browser, if any, ends.

    Raises:
        SignInRefused: The name or the password is not correct, or the user is disabled.
        TooManyAttempts: The address has failed too often.
        Busy: Too many passwords are being checked at this moment.
    """
    moment = now or utc_now()
    checked = _checked(database, passwords, name, password, client=client, now=moment)
    with database.session(writes=True) as session:
        users.hold(session)
        user = session.get(User, checked.user_id)
        # The user may have been disabled, or the password changed, while it was checked.
        if user is None or user.disabled_at is not None or user.password_hash != checked.stored_hash:
            raise SignInRefused
        attempts.succeeded(session, users.name_of(name), client.address)
        if checked.renewed_hash:
            user.password_hash = checked.renewed_hash
        if earlier_secret:
            sessions.end_with_secret(session, earlier_secret)
        secret = sessions.start(
            session, user, method="accounts", client=client, lifetimes=lifetimes, now=moment
        )
        # The actor of this request is still anonymous.
        who = Actor(user.name, ActorKind.USER, Role.of(user.role), client.address or None, user_id=user.id)
        record(session, Action.SIGNED_IN, users.object_of(user), {"method": "accounts"}, actor=who)
        return SignedIn(secret, user.must_change_password)


def check_own_password(
    database: Database, passwords: Passwords, name: str, password: str, *, client: Client
) -> str:
    """Check the password of a signed-in user again, and return its hash; attempts are counted like those to sign in.

    Raises:
        SignInRefused: The password is not correct.
        TooManyAttempts: The address has failed too often.
        Busy: Too many passwords are being checked at this moment.
    """
    checked = _checked(database, passwords, name, password, client=client, now=utc_now())
    with database.session(writes=True) as session:
        attempts.succeeded(session, users.name_of(name), client.address)
    return checked.stored_hash


def _checked(
    database: Database, passwords: Passwords, name: str, password: str, *, client: Client, now: datetime
) -> _Checked:
    with database.session(writes=True) as session:
        attempts.begin(session, users.name_of(name), client.address, now)
        user = users.find(session, name)
    stored = user.password_hash if user is not None else None
    is_correct = len(password) <= LONGEST_PASSWORD and passwords.is_correct(password, stored)
    if not is_correct or user is None or stored is None or user.disabled_at is not None:
        # Without a name that no user has, because it may be a password that was typed into the wrong field.
        about = users.object_of(user) if user is not None else AuditObject("user", "unknown user")
        details = {"is_disabled": user is not None and user.disabled_at is not None, "method": "accounts"}
        record_alone(database, Action.SIGN_IN_FAILED, about, details)
        raise SignInRefused
    renewed_hash = passwords.hash(password) if passwords.is_outdated(stored) else None
    return _Checked(user.id, stored, renewed_hash)
