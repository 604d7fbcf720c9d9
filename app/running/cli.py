"""The commands `cfplan lint`, `merge`, `diff` and `from-running`: nothing is stored, and no service is needed.

The modules that compute the answers are imported when a command runs, so that other commands start quickly.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.command_line import (
    EXIT_FINDINGS,
    EXIT_OK,
    add_fail_on,
    add_json,
    exit_code,
    message_size,
    read_plan,
    whole_number,
    write,
    write_json,
)

if TYPE_CHECKING:
    from planner_core.errors import OutputRefused, PlanRefused
    from planner_core.plan.result import PlanResult
    from planner_core.running.line_findings import LineFinding


def add_lint(lint: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan lint`."""
    lint.set_defaults(run=_lint)
    lint.add_argument("file", metavar="FILE", help="the text; - for standard input")
    lint.add_argument(
        "--cfcc",
        type=whole_number(1, 99),
        metavar="L",
        help="CFCC level of the coupling facilities, if known",
    )
    lint.add_argument(
        "--queue-managers",
        type=whole_number(1, 32),
        metavar="N",
        help="queue managers DEFINED to the group, if known",
    )
    lint.add_argument("--qsg", metavar="NAME", help="the group, if no CSQ_ADMIN in the text names it")
    _add_size_unit(lint)
    add_json(lint)
    add_fail_on(lint)


def add_merge(merge: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan merge`."""
    merge.set_defaults(run=_merge)
    merge.add_argument("plan", metavar="PLAN", help="the plan document; - for standard input")
    merge.add_argument(
        "--policy",
        metavar="FILE",
        required=True,
        help="the current policy: input of IXCMIAPU, with or without its job",
    )
    merge.add_argument("--policy-name", metavar="NAME", help="the policy to use if the file has several")
    merge.add_argument(
        "--current",
        metavar="FILE",
        nargs="+",
        default=(),
        help="D XCF,STR,STRNAME= of the structures: a smaller size is compared with the storage in use",
    )
    _add_unstated(merge)
    _add_size_unit(merge)
    how = merge.add_mutually_exclusive_group()
    how.add_argument(
        "--json", action="store_true", help="print the answer as JSON: policy, changes, difference, findings"
    )
    how.add_argument("--difference", action="store_true", help="print the difference instead of the policy")
    how.add_argument(
        "--workflow",
        metavar="NAME",
        help="print a z/OSMF workflow that defines the policy under this new name",
    )


def add_diff(diff: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan diff`."""
    diff.set_defaults(run=_diff)
    diff.add_argument("plan", metavar="PLAN", help="the plan document; - for standard input")
    diff.add_argument(
        "--current",
        metavar="FILE",
        nargs="+",
        required=True,
        help="policy, D XCF,STR, D XCF,CF, DISPLAY GROUP, CFSTATUS, CFSTRUCT, QLOCAL, DEFINE commands: any of them, in any order",
    )
    _add_unstated(diff)
    _add_size_unit(diff)
    diff.add_argument("--output", choices=("commands", "json"), default="commands")
    add_fail_on(diff)


def add_from_running(made: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan from-running`."""
    made.set_defaults(run=_from_running)
    made.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="output of the running system, as for cfplan diff; - for standard input",
    )
    made.add_argument("--qsg", metavar="NAME", help="the group, if there are structures of several groups")
    made.add_argument(
        "--queue-managers", type=whole_number(1, 32), metavar="N", help="queue managers DEFINED to the group"
    )
    made.add_argument(
        "--message-bytes",
        type=message_size(),
        metavar="B",
        help="message size for all queues, in bytes or with a unit such as 2K, with MAXDEPTH as the backlog; without it, queues are left out",
    )
    _add_size_unit(made)
    add_json(made, "print the answer as JSON: document, findings")


def add_other_structures(others: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan other-structures`."""
    others.set_defaults(run=_other_structures)
    others.add_argument("plan", metavar="PLAN", help="the plan document; - for standard input")
    others.add_argument("files", metavar="FILE", nargs="+", help="CFRM policy, or D XCF,STR,STRNAME=")
    _add_size_unit(others)
    add_json(others, "print the answer as JSON: document, structures, findings")


def _add_unstated(command: argparse.ArgumentParser) -> None:
    from planner_core.running.unstated import ABOUT_UNSTATED, DEFAULT_UNSTATED, UNSTATED

    about = f"{ABOUT_UNSTATED[:1].lower()}{ABOUT_UNSTATED[1:].removesuffix('.')}; default {DEFAULT_UNSTATED}"
    command.add_argument("--unstated", choices=tuple(UNSTATED), default=DEFAULT_UNSTATED, help=about)


def _add_size_unit(command: argparse.ArgumentParser) -> None:
    # The values of SizeUnit, written here because help loads no core.
    about = "unit of sizes that are plain numbers in a policy that z/OSMF exported as JSON"
    command.add_argument("--size-unit", choices=("B", "K", "M", "G"), help=about)


def _code(findings: Sequence[LineFinding], fail_on: str) -> int:
    return exit_code(findings, fail_on)


def _say(findings: Sequence[LineFinding], *, at_least: tuple[str, ...] = ("error", "warning")) -> None:
    """Write findings to stderr, so that stdout contains only the text to submit."""
    for each in findings:
        if each.severity in at_least:
            where = f"line {each.line}: " if each.line else ""
            sys.stderr.write(f"{where}{each.severity}: {each.code}: {each.message}\n")


def _refused(refused: OutputRefused | PlanRefused, *, as_json: bool) -> int:
    """Report the reason why there is no answer; with JSON, write the findings as `cfplan plan` does."""
    if as_json:
        write_json({"findings": [each.as_json() for each in refused.findings]})
    sys.stderr.write(f"{refused}\n")
    for each in refused.findings:
        # The message of the refusal already contains the errors.
        if each.severity == "warning" and not each.acknowledged:
            sys.stderr.write(f"{each.severity}: {each.code}: {each.message}\n")
    return EXIT_FINDINGS


def _result(name: str) -> PlanResult:
    from app.fits.from_settings import curves_of_settings
    from app.fits.resolve import evaluate

    return evaluate(read_plan(name), curves_of_settings, compares=False, purpose="sizes")


def _lint(arguments: argparse.Namespace) -> int:
    from app.running.service import checked
    from app.running.texts import read_text

    found = checked(
        read_text(arguments.file),
        cfcc_level=arguments.cfcc,
        queue_managers=arguments.queue_managers,
        qsg=arguments.qsg,
        size_unit=arguments.size_unit,
    )
    if arguments.json:
        write_json(found.as_json())
    else:
        for each in found.findings:
            where = f"{arguments.file}:{each.line}" if each.line else arguments.file
            write(f"{where}: {each.severity}: {each.code}: {each.message}\n  {each.source}\n")
        if not found.findings:
            write(f"{arguments.file}: no finding in {found.lines} lines ({', '.join(found.kinds)}).\n")
    return _code(found.findings, arguments.fail_on)


def _merge(arguments: argparse.Namespace) -> int:
    from app.running.service import merged
    from app.running.texts import bytes_of, read_text
    from planner_core.errors import OutputRefused, PlanRefused

    try:
        result = _result(arguments.plan)
        found = merged(
            result,
            read_text(arguments.policy),
            unstated=arguments.unstated,
            policy_name=arguments.policy_name,
            current=[read_text(name) for name in arguments.current],
            size_unit=arguments.size_unit,
        )
    except (OutputRefused, PlanRefused) as refused:
        return _refused(refused, as_json=arguments.json)
    if arguments.json:
        write_json(found.as_json())
        return _code(found.findings, "error")
    _say(found.findings)
    if arguments.workflow is not None:
        from planner_core.running.merged_workflow import merged_workflow

        write(merged_workflow(result, found, arguments.workflow))
        return _code(found.findings, "error")
    sys.stdout.flush()
    # Written as bytes, because the terminal's encoding could not restore bytes that are not UTF-8. Flushed first, to keep
    # the order.
    sys.stdout.buffer.write(bytes_of(found.difference if arguments.difference else found.policy))
    sys.stdout.buffer.flush()
    return _code(found.findings, "error")


def _diff(arguments: argparse.Namespace) -> int:
    from app.running.service import compared
    from app.running.texts import read_text
    from planner_core.errors import OutputRefused, PlanRefused

    try:
        texts = [read_text(name) for name in arguments.current]
        found = compared(
            _result(arguments.plan), texts, unstated=arguments.unstated, size_unit=arguments.size_unit
        )
    except (OutputRefused, PlanRefused) as refused:
        return _refused(refused, as_json=arguments.output == "json")
    if arguments.output == "json":
        write_json(found.as_json())
    else:
        _say(found.findings)
        write(found.text)
    return _code(found.findings, arguments.fail_on)


def _from_running(arguments: argparse.Namespace) -> int:
    from app.running.service import made
    from app.running.texts import read_text

    found = made(
        [read_text(name) for name in arguments.files],
        qsg=arguments.qsg,
        queue_managers=arguments.queue_managers,
        message_bytes=arguments.message_bytes,
        size_unit=arguments.size_unit,
    )
    if arguments.json:
        write_json(found.as_json())
    else:
        _say(found.findings, at_least=("error", "warning", "info"))
        write_json(found.document)
    return EXIT_OK


def _other_structures(arguments: argparse.Namespace) -> int:
    from app.running.service import with_others
    from app.running.texts import read_text

    document = read_plan(arguments.plan).model_dump(mode="json", exclude_unset=True)
    found = with_others(
        document, [read_text(name) for name in arguments.files], size_unit=arguments.size_unit
    )
    if arguments.json:
        write_json(found.as_json())
    else:
        _say(found.findings, at_least=("error", "warning", "info"))
        write_json(found.document)
    return EXIT_OK
