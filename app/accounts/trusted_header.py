"""Users whom a trusted proxy states in a header of each request, because it has authenticated them itself."""

from __future__ import annotations

from typing import Final, NamedTuple

from starlette.types import Scope

from app.accounts.directory import Person, admit, check_enabled, find, has_access, role_of
from app.accounts.errors import NoRole, TrustedHeaderRefused
from app.accounts.models import User
from app.actor import Actor, ActorKind, Role
from app.clock import utc_now
from app.database.engine import Database
from app.settings import Settings
from app.web.security.proxies import is_from_trusted_proxy

ISSUER: Final = "trusted proxy"
"""Issuer of these users in the table of identities."""
_NO_ROLE: Final = (
    "The proxy has signed you in, but you have no role in cfplan. Ask for a group that has one. "
    "Operators: see CFPLAN_ROLE_GROUPS and CFPLAN_DEFAULT_ROLE."
)


class Stated(NamedTuple):
    """The user and the groups that the proxy reports."""

    user: str
    groups: frozenset[str]


def stated_in(scope: Scope, settings: Settings) -> Stated | None:
    """Return the user whom the proxy states; None if there is no such header, or it is empty.

    Raises:
        TrustedHeaderRefused: Another client than a trusted proxy sends one of the headers, or one is repeated or not text.
    """
    if "header" not in settings.authentication:
        return None
    user = _only(scope, settings.trusted_header)
    groups = _only(scope, settings.trusted_groups_header) if settings.trusted_groups_header else None
    if user is None and groups is None:
        return None
    if not is_from_trusted_proxy(scope):
        # Refused and not ignored: the proxy is configured incorrectly, or someone tries to act as another user.
        message = (
            f"The header {settings.trusted_header} or {settings.trusted_groups_header or 'that of the groups'} may be sent "
            "only by a proxy in CFPLAN_TRUSTED_PROXIES. Use the address of the proxy."
        )
        raise TrustedHeaderRefused(message)
    if not user:
        return None
    return Stated(user, frozenset(filter(None, (group.strip() for group in (groups or "").split(",")))))


def actor_of(database: Database, settings: Settings, stated: Stated, address: str | None) -> Actor:
    """Return the user as the actor of a request; a new user is stored, and a changed role is too.

    Raises:
        NoRole: The user has no role, or is disabled.
    """
    role = role_of(stated.groups, settings)
    # Directories usually ignore the case of the name that a user types, and proxies pass it on as typed. The same person
    # with two names could approve their own version of a plan.
    subject = stated.user.casefold()
    with database.session(writes=False) as session:
        user = find(session, ISSUER, subject)
        # Nearly always, nothing has changed, and the request needs no lock.
        if user is not None and role is not None and user.disabled_at is None and user.role == role.label:
            return _actor(user, address)
        # Nor does a refusal, which can come with each request.
        if role is None and (user is None or not has_access(session, user, utc_now())):
            raise NoRole(_NO_ROLE)
        if role is not None and user is not None:
            check_enabled(user)
    with database.session(writes=True) as session:
        person = Person(ISSUER, subject, stated.user, stated.groups)
        user = admit(session, person, settings, utc_now())
        if user is not None:
            return _actor(user, address)
    raise NoRole(_NO_ROLE)


def _actor(user: User, address: str | None) -> Actor:
    return Actor(user.name, ActorKind.USER, Role.of(user.role), address, user_id=user.id)


def _only(scope: Scope, name: str) -> str | None:
    """Return the value of a header; None if there is none."""
    wanted = name.lower().encode()
    # Some proxies and servers treat both characters as equal, so that a client could add the other one.
    found = [value for header, value in scope["headers"] if header.replace(b"_", b"-") == wanted]
    if not found:
        return None
    try:
        text = found[0].decode().strip()
    except UnicodeDecodeError:
        text = "\0"
    # Which of two would be believed depends on the programs in between.
    if len(found) > 1 or not text.isprintable():
        message = f"The header {name} must appear once, with text in UTF-8."
        raise TrustedHeaderRefused(message)
    return text
