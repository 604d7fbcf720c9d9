"""The command `cfplan notices`, which lists notices and tests their channels."""

from __future__ import annotations

import argparse

from app.command_line import (
    EXIT_FINDINGS,
    EXIT_OK,
    UsageError,
    add_json,
    commands_of,
    whole_number,
    write,
    write_json,
    write_lines,
)

CHANNELS = ("email", "webhook")
MOST_LISTED = 200


def add_notices(notices: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan notices`."""
    verb = commands_of(notices, "verb")
    verb("list", "List notices, newest first.", _add_list)
    verb("send", "Look for events once and send all notices that are due.", _add_send)
    verb("test", "Send a test message on each channel now.", _add_test)


def _add_list(listed: argparse.ArgumentParser) -> None:
    listed.set_defaults(run=_list)
    listed.add_argument(
        "--limit",
        type=whole_number(1, MOST_LISTED),
        default=50,
        metavar="N",
        help="number of notices (default: 50)",
    )
    add_json(listed)


def _add_send(sent: argparse.ArgumentParser) -> None:
    sent.set_defaults(run=_send)


def _add_test(tested: argparse.ArgumentParser) -> None:
    tested.set_defaults(run=_test)
    tested.add_argument("--channel", choices=CHANNELS, default="", help="only this channel (default: all)")


def _list(arguments: argparse.Namespace) -> int:
    from app.clock import utc_now
    from app.database.engine import open_database
    from app.notices.service import list_notices
    from app.paging import ListRequest, PageRequest

    with open_database() as (database, _), database.session(writes=False) as session:
        found = list_notices(session, ListRequest(PageRequest(per_page=arguments.limit)), now=utc_now())
    if arguments.json:
        write_json(found.as_json())
        return EXIT_OK
    for each in found.items:
        write(f"{each.created_at:%Y-%m-%d %H:%M}  {each.state:<7}  {each.title}\n")
        write_lines(f"    {one.channel}: {one.error}" for one in each.deliveries if one.error)
    if not found.items:
        write("No notices.\n")
    return EXIT_OK


def _send(_: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.notices.channels import configured
    from app.notices.dispatcher import Dispatcher

    with open_database() as (database, settings):
        if not configured(settings):
            raise UsageError(NO_CHANNEL)
        sent = Dispatcher(database, settings).look()
    write(f"Messages sent: {sent}\n")
    return EXIT_OK


NO_CHANNEL = "No channel is configured: set CFPLAN_SMTP_HOST, CFPLAN_NOTICE_FROM and CFPLAN_NOTICE_TO, or CFPLAN_WEBHOOK_URL."


def _test(arguments: argparse.Namespace) -> int:
    import secrets

    from app.clock import utc_now
    from app.notices.channels import SendingFailed, configured, send
    from app.notices.message import test_message
    from app.settings import read_settings

    settings = read_settings()
    wanted = [each for each in configured(settings) if arguments.channel in ("", each.channel.value)]
    if not wanted:
        raise UsageError(NO_CHANNEL)
    message = test_message(secrets.token_hex(16), utc_now())
    code = EXIT_OK
    for each in wanted:
        try:
            remark = send(each.channel, message, settings)
            write(f"{each.channel}: sent to {each.target}. {remark}".rstrip() + "\n")
        except SendingFailed as error:
            code = EXIT_FINDINGS
            write(f"{each.channel}: not sent to {each.target}. {error}\n")
    return code
