"""The commands `cfplan zosmf pull`, `plan`, `apply` and `drift`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from app.command_line import (
    EXIT_FINDINGS,
    EXIT_OK,
    UsageError,
    add_fail_on,
    add_json,
    commands_of,
    exit_code,
    whole_number,
    write,
    write_json,
    write_lines,
)

if TYPE_CHECKING:
    from app.database.engine import Database
    from app.settings import Settings
    from app.zosmf.server import PolicyServer
    from app.zosmf.service import ApplyResult, Drift, PolicyPlan
    from planner_core.texts.cfrm.policy_json import StatementDifference

_MOST_VERSIONS = 2**31 - 1


def add_zosmf(zosmf: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan zosmf`."""
    verb = commands_of(zosmf, "verb")
    verb("pull", "Read a CFRM policy, and print it as input of IXCMIAPU.", _add_pull)
    verb("plan", "Show how a stored plan changes a policy; nothing is changed.", _add_plan)
    verb("apply", "Create a new policy with a stored plan, and read it back.", _add_apply)
    verb("drift", "Compare the active policy with what cfplan applied, or with a plan.", _add_drift)


def _add_connection(made: argparse.ArgumentParser) -> None:
    made.add_argument("--connection", required=True, metavar="NAME", help="a connection of the kind zosmf")
    made.add_argument("--policy", metavar="NAME", help="the policy to read (default: the active one)")


def _add_stored_plan(made: argparse.ArgumentParser) -> None:
    from planner_core.running.unstated import ABOUT_UNSTATED, DEFAULT_UNSTATED, UNSTATED

    made.add_argument("plan", metavar="PLAN", help="name of a stored plan")
    made.add_argument(
        "--version", type=whole_number(1, _MOST_VERSIONS), metavar="N", help="a version (default: the latest)"
    )
    about = f"{ABOUT_UNSTATED[:1].lower()}{ABOUT_UNSTATED[1:].removesuffix('.')}; default {DEFAULT_UNSTATED}"
    made.add_argument("--unstated", choices=tuple(UNSTATED), default=DEFAULT_UNSTATED, help=about)


def _add_pull(pulled: argparse.ArgumentParser) -> None:
    pulled.set_defaults(run=_pull)
    _add_connection(pulled)
    add_json(pulled, "print the answer as JSON, with the policy as the server describes it")
    add_fail_on(pulled)


def _add_plan(planned: argparse.ArgumentParser) -> None:
    planned.set_defaults(run=_plan)
    _add_stored_plan(planned)
    _add_connection(planned)
    how = planned.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print the answer as JSON")
    how.add_argument("--text", action="store_true", help="print the merged policy instead of the difference")
    add_fail_on(planned)


def _add_apply(applied: argparse.ArgumentParser) -> None:
    applied.set_defaults(run=_apply)
    _add_stored_plan(applied)
    _add_connection(applied)
    applied.add_argument(
        "--as", dest="new_name", required=True, metavar="NAME", help="name of the new policy"
    )
    applied.add_argument("--yes", action="store_true", help="create the policy without asking")
    applied.add_argument(
        "--activate",
        action="store_true",
        help="activate the policy after it was read back without differences",
    )
    applied.add_argument(
        "--confirm-activation",
        metavar="NAME",
        help="the name of the new policy, instead of typing it when asked",
    )
    add_json(applied)


def _add_drift(drifted: argparse.ArgumentParser) -> None:
    drifted.set_defaults(run=_drift)
    _add_connection(drifted)
    drifted.add_argument("--plan", metavar="NAME", help="a stored plan (default: the policy applied last)")
    add_json(drifted)


@contextmanager
def _server(name: str) -> Iterator[tuple[PolicyServer, Database, Settings]]:
    from app.connections.command_line import warn_if_not_verified
    from app.database.engine import open_database
    from app.zosmf.service import server_of

    with open_database() as (database, settings), server_of(database, settings, name) as server:
        warn_if_not_verified(name, server.connection)
        yield server, database, settings


def _pull(arguments: argparse.Namespace) -> int:
    from app.zosmf import service

    with _server(arguments.connection) as (server, _, _):
        found = service.pull(server, arguments.policy)
        if found.written is None and not found.unreadable and not arguments.json:
            service.stated_unit(server)
    if arguments.json:
        write_json(found.as_json())
        return EXIT_FINDINGS if found.unreadable else exit_code(found.findings, arguments.fail_on)
    for each in found.findings:
        sys.stderr.write(f"{each.severity}: {each.code}: {each.message}\n")
    for lost in found.unreadable:
        sys.stderr.write(f"error: {lost.sentence}.\n")
    if found.written is None:
        sys.stderr.write(
            "The policy is not printed: without these values, z/OS would use their defaults. Correct them on the server, or use "
            "the report of IXCMIAPU.\n"
        )
        return EXIT_FINDINGS
    write(found.written.policy)
    return exit_code(found.findings, arguments.fail_on)


def _plan(arguments: argparse.Namespace) -> int:
    from app.zosmf import service

    with _server(arguments.connection) as (server, database, settings):
        with database.session(writes=False) as session:
            version = service.stored_version(session, arguments.plan, arguments.version)
            if arguments.text:
                service.require_release(session, settings, arguments.plan, version)
        found = service.plan(
            server,
            service.evaluation_of(database)(version),
            plan_name=arguments.plan,
            version=version.number,
            policy=arguments.policy,
            unstated=arguments.unstated,
        )
    if arguments.json:
        write_json(found.as_json())
    else:
        _say_findings(found)
        sys.stderr.write(f"This is version {found.version} of the plan {found.plan}.\n")
        if arguments.text:
            found.written.require_complete()
            write(found.merged.policy)
        else:
            write_lines(_lines_of(found))
    return EXIT_FINDINGS if found.uncarried else exit_code(found.findings, arguments.fail_on)


def _lines_of(found: PolicyPlan) -> Iterator[str]:
    if not found.differences:
        yield f"The policy {found.policy_name} already has all values of the plan {found.plan}."
    yield from _difference_lines(found.differences)
    for each in found.uncarried:
        yield f"apply would refuse: {each.sentence}"


def _difference_lines(differences: Iterable[StatementDifference]) -> Iterator[str]:
    for each in differences:
        yield each.sentence


def _say_findings(found: PolicyPlan) -> None:
    for each in found.findings:
        if each.severity != "info":
            sys.stderr.write(f"{each.severity}: {each.code}: {each.message}\n")


def _say_progress(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _apply(arguments: argparse.Namespace) -> int:
    from app.zosmf import service

    if arguments.confirm_activation is not None and not arguments.activate:
        message = "--confirm-activation needs --activate."
        raise UsageError(message)
    order = service.ApplyOrder(
        plan=arguments.plan,
        version=arguments.version,
        new_name=arguments.new_name,
        policy=arguments.policy,
        unstated=arguments.unstated,
    )

    def confirm(found: PolicyPlan) -> bool:
        _say_findings(found)
        for line in _difference_lines(found.differences):
            sys.stderr.write(f"{line}\n")
        sys.stderr.write(f"These are the changes of version {found.version} of the plan {found.plan}.\n")
        question = f"Create the policy {order.new_name} from {found.policy_name} with these changes? It stays inactive. [yes/no] "
        return arguments.yes or _typed(question, advice="Use --yes to create it without asking.") == "yes"

    def confirm_activation(name: str) -> bool:
        if arguments.confirm_activation is not None:
            return bool(arguments.confirm_activation == name)
        question = (
            f"Activating {name} changes the running sysplex. Type the name of the policy to activate it: "
        )
        return _typed(question, advice=f"Use --confirm-activation {name}; --yes is not enough.") == name

    with _server(arguments.connection) as (server, database, settings):
        found = service.apply(
            database,
            settings,
            server,
            order,
            service.evaluation_of(database),
            confirm=confirm,
            confirm_activation=confirm_activation if arguments.activate else None,
            say=_say_progress,
        )
    return _report(found, as_json=arguments.json)


def _report(found: ApplyResult, *, as_json: bool) -> int:
    if as_json:
        write_json(found.as_json())
    else:
        write_lines(
            [found.sentence, *(f"  sent and read back: {each.sentence}" for each in found.differences)]
        )
    return EXIT_OK if found.succeeded else EXIT_FINDINGS


def _typed(question: str, *, advice: str) -> str:
    """Ask a question on the terminal, and return the typed line."""
    if not sys.stdin.isatty():
        message = f"A confirmation is needed, but the input is not a terminal. {advice}"
        raise UsageError(message)
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip()


def _drift(arguments: argparse.Namespace) -> int:
    from app.zosmf import service

    with _server(arguments.connection) as (server, database, _):
        found = service.drift(
            database,
            server,
            service.evaluation_of(database),
            plan_name=arguments.plan,
            policy=arguments.policy,
        )
    _write_drift(found, as_json=arguments.json)
    return EXIT_FINDINGS if found.differences else EXIT_OK


def _write_drift(found: Drift, *, as_json: bool) -> None:
    if as_json:
        write_json(found.as_json())
    else:
        write_lines([found.sentence, *(f"  {each.sentence}" for each in found.differences)])


def verify_unit(name: str, *, policy: str, structure: str, size_bytes: int) -> tuple[bool, str]:
    """Verify the unit of sizes of a connection, for `cfplan connections check`."""
    from app.zosmf import service

    with _server(name) as (server, database, _):
        return service.verify_unit(
            database, server, policy=policy, structure=structure, size_bytes=size_bytes
        )
