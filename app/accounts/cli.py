"""The commands `cfplan users ...` and `cfplan tokens ...`, which use the database of the service without the service.

Passwords are read from the terminal or from standard input, never from options, which other users of the machine can
see.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from app.accounts.credentials import USUAL_TOKEN_DAYS
from app.actor import ROLE_LABELS
from app.command_line import (
    EXIT_OK,
    UsageError,
    add_json,
    commands_of,
    table_lines,
    whole_number,
    write,
    write_json,
    write_lines,
)

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

    from app.settings import Settings

_MOST = 2**31 - 1


def add_users(made: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan users`."""
    verb = commands_of(made, "verb")
    verb("add", "Add a user; the password is asked for, or read from standard input.", _add_add)
    verb("list", "List users with their roles.", _add_list)
    verb("disable", "Disable a user, end all sessions, and revoke all tokens.", _add_disable)
    verb("enable", "Let a disabled user sign in again.", _add_enable)
    verb("role", "Change the role of a user.", _add_role)
    verb("password", "Replace the password of a user, and end all sessions.", _add_password)


def add_tokens(made: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan tokens`."""
    verb = commands_of(made, "verb")
    verb("create", "Create an API token for a user, and print it; it is not shown again.", _add_create)
    verb("list", "List API tokens.", _add_list_tokens)
    verb("revoke", "Revoke an API token for good.", _add_revoke)


def _add_name(made: argparse.ArgumentParser) -> None:
    made.add_argument("name", metavar="USER", help="name of the user")


def _add_must_change(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--must-change", action="store_true", help="the user must choose another password at the next sign-in"
    )


def _add_add(added: argparse.ArgumentParser) -> None:
    added.set_defaults(run=_add)
    _add_name(added)
    added.add_argument("--role", choices=ROLE_LABELS, required=True, help="the rights of the user")
    _add_must_change(added)


def _add_list(listed: argparse.ArgumentParser) -> None:
    listed.set_defaults(run=_list)
    add_json(listed)


def _add_disable(disabled: argparse.ArgumentParser) -> None:
    disabled.set_defaults(run=_disable)
    _add_name(disabled)


def _add_enable(enabled: argparse.ArgumentParser) -> None:
    enabled.set_defaults(run=_enable)
    _add_name(enabled)


def _add_role(changed: argparse.ArgumentParser) -> None:
    changed.set_defaults(run=_role)
    _add_name(changed)
    changed.add_argument("role", choices=ROLE_LABELS, help="the new role")


def _add_password(changed: argparse.ArgumentParser) -> None:
    changed.set_defaults(run=_password)
    _add_name(changed)
    _add_must_change(changed)
    changed.add_argument(
        "--revoke-tokens", action="store_true", help="also revoke all API tokens of the user"
    )


def _add_create(created: argparse.ArgumentParser) -> None:
    created.set_defaults(run=_create)
    _add_name(created)
    created.add_argument("--name", dest="label", required=True, metavar="TEXT", help="what uses the token")
    created.add_argument(
        "--scope", choices=ROLE_LABELS[:3], required=True, help="the highest rights of the token"
    )
    created.add_argument(
        "--days", type=whole_number(1, _MOST), default=USUAL_TOKEN_DAYS, metavar="N",
        help=f"days until it expires (default: {USUAL_TOKEN_DAYS})",
    )  # fmt: skip


def _add_list_tokens(listed: argparse.ArgumentParser) -> None:
    listed.set_defaults(run=_list_tokens)
    listed.add_argument("--user", metavar="USER", help="only tokens of this user")
    add_json(listed)


def _add_revoke(revoked: argparse.ArgumentParser) -> None:
    revoked.set_defaults(run=_revoke)
    revoked.add_argument(
        "id", type=whole_number(1, _MOST), metavar="ID", help="id of the token in `cfplan tokens list`"
    )


@contextmanager
def _session(*, writes: bool) -> Iterator[tuple[Session, Settings]]:
    from app.database.engine import open_database

    with open_database() as (database, settings), database.session(writes=writes) as session:
        yield session, settings


def _add(arguments: argparse.Namespace) -> int:
    from app.accounts import users
    from app.clock import utc_now

    new_hash = _new_hash(arguments.name)
    with _session(writes=True) as (session, _):
        user = users.add(
            session, arguments.name, arguments.role, password_hash=new_hash, must_change=arguments.must_change,
            now=utc_now(),
        )  # fmt: skip
    write(f"{user.name}: added, {user.role}\n")
    return EXIT_OK


def _list(arguments: argparse.Namespace) -> int:
    from app.accounts import users

    with _session(writes=False) as (session, _):
        found = users.list_all(session)
    if arguments.json:
        write_json({"users": [user.as_json() for user in found], "findings": []})
        return EXIT_OK
    rows = [
        (user.name, user.role, "disabled" if user.is_disabled else "active", _time(user.last_sign_in_at))
        for user in found
    ]
    heads = ("name", "role", "state", "last sign-in")
    write_lines(table_lines([heads, *rows]) if rows else ["There are no users."])
    return EXIT_OK


def _disable(arguments: argparse.Namespace) -> int:
    from app.accounts import users
    from app.clock import utc_now

    with _session(writes=True) as (session, _):
        user = users.get_to_change(session, arguments.name)
        users.disable(session, user, utc_now())
    write(f"{user.name}: disabled, all sessions ended, all tokens revoked\n")
    return EXIT_OK


def _enable(arguments: argparse.Namespace) -> int:
    from app.accounts import users

    with _session(writes=True) as (session, _):
        user = users.get_to_change(session, arguments.name)
        users.enable(session, user)
    write(f"{user.name}: enabled\n")
    return EXIT_OK


def _role(arguments: argparse.Namespace) -> int:
    from app.accounts import users

    with _session(writes=True) as (session, _):
        user = users.get_to_change(session, arguments.name)
        users.set_role(session, user, arguments.role)
    write(f"{user.name}: {user.role}\n")
    return EXIT_OK


def _password(arguments: argparse.Namespace) -> int:
    from app.accounts import tokens, users
    from app.clock import utc_now

    with _session(writes=False) as (session, _):
        users.get(session, arguments.name)  # an unknown name is reported before the password is asked for
    new_hash = _new_hash(arguments.name)
    with _session(writes=True) as (session, _):
        user = users.get_to_change(session, arguments.name)
        users.set_password(
            session, user, new_hash, must_change=arguments.must_change, keep_session=None, now=utc_now()
        )
        if arguments.revoke_tokens:
            tokens.revoke_all(session, user.id, utc_now())
    write(f"{user.name}: password replaced, all sessions ended\n")
    return EXIT_OK


def _create(arguments: argparse.Namespace) -> int:
    from app.accounts import tokens, users
    from app.clock import utc_now

    with _session(writes=True) as (session, settings):
        user = users.get_to_change(session, arguments.name)
        new = tokens.create(
            session, user, name=arguments.label, scope=arguments.scope, days=arguments.days,
            most_days=settings.token_days, now=utc_now(),
        )  # fmt: skip
    sys.stderr.write(f"Token {new.stored.id} of {user.name}, valid until {_time(new.stored.expires_at)}:\n")
    write(f"{new.secret}\n")
    return EXIT_OK


def _list_tokens(arguments: argparse.Namespace) -> int:
    from app.accounts import tokens, users
    from app.clock import utc_now

    with _session(writes=False) as (session, _):
        user_id = users.get(session, arguments.user).id if arguments.user else None
        found = tokens.list_of(session, utc_now(), user_id=user_id)
    if arguments.json:
        write_json({"tokens": [token.as_json() for token in found], "findings": []})
        return EXIT_OK
    rows = [
        (str(each.id), each.user, each.name, each.scope, each.state, _time(each.expires_at), _time(each.last_used_at))
        for each in found
    ]  # fmt: skip
    heads = ("id", "user", "name", "scope", "state", "valid until", "last used")
    write_lines(table_lines([heads, *rows]) if rows else ["There are no tokens."])
    return EXIT_OK


def _revoke(arguments: argparse.Namespace) -> int:
    from app.accounts import tokens
    from app.clock import utc_now

    with _session(writes=True) as (session, _):
        token = tokens.revoke(session, arguments.id, utc_now())
    write(f"Token {token.id} of {token.user} ({token.name}): revoked\n")
    return EXIT_OK


def _new_hash(name: str) -> str:
    from app.accounts.passwords import Passwords
    from app.accounts.users import checked_hash, name_of
    from app.settings import read_settings

    return checked_hash(Passwords.of(read_settings()), _read_password(), user_name=name_of(name))


def _read_password() -> str:
    """Return the password that is typed twice at the terminal, or the first line of standard input."""
    from getpass import getpass

    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass("New password: ")
    if getpass("New password again: ") != password:
        message = "The two passwords differ."
        raise UsageError(message)
    return password


def _time(value: datetime | None) -> str:
    return f"{value:%Y-%m-%d %H:%M}" if value is not None else "never"
