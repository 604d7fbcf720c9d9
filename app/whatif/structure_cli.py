"""`cfplan whatif filling`, `thresholds`, `recovery` and `smds-job`: questions about structures of a plan."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from app.command_line import (
    EXIT_FINDINGS,
    Command,
    exit_code,
    finding_lines,
    read_plan,
    write,
    write_json,
    write_lines,
)
from app.whatif.structure_parameters import FILLING, RECOVERY, SMDS_JOB, THRESHOLDS, Parameter, read_values


def add(verb: Command) -> None:
    """Add the commands below `cfplan whatif`."""
    filling = verb(
        "filling", "One outage of a structure: what happens when, and how long it lasts.", _filling
    )
    _options(filling, FILLING)
    thresholds = verb(
        "thresholds", "Three offload thresholds for a structure, explained and compared.", _thresholds
    )
    _options(thresholds, THRESHOLDS)
    thresholds.add_argument(
        "--explain", action="store_true", help="with --json: the explanation of the capacity"
    )
    recovery = verb("recovery", "Backups of structures, their logs, and how long recovery takes.", _recovery)
    _options(recovery, RECOVERY)
    recovery.add_argument(
        "--explain", action="store_true", help="with --json: the explanation of each figure"
    )
    job = verb("smds-job", "The job that defines and formats the shared message data sets.", _smds_job)
    _options(job, SMDS_JOB)


def _options(made: argparse.ArgumentParser, parameters: Iterable[Parameter]) -> None:
    """An option for each parameter. What is typed is read where the answer is made, by the rules of REST."""
    for each in parameters:
        made.add_argument(
            each.option,
            dest=each.name,
            metavar=None if each.choices else each.metavar,
            choices=each.choices or None,
            required=each.required,
            action="append" if each.kind == "rules" else "store",
            help=each.about.replace("%", "%%"),
        )


def _filling(arguments: argparse.Namespace) -> int:
    from app.fits.from_settings import CurvesOfSettings
    from app.whatif import filling

    values = _values(arguments, FILLING)
    return _answered(
        arguments,
        lambda: filling.answer(read_plan(arguments.file), values, CurvesOfSettings()),
        lambda found: found.as_json(),
        filling.lines,
    )


def _thresholds(arguments: argparse.Namespace) -> int:
    from app.fits.from_settings import CurvesOfSettings
    from app.whatif import thresholds

    values = _values(arguments, THRESHOLDS)
    return _answered(
        arguments,
        lambda: thresholds.answer(read_plan(arguments.file), values, CurvesOfSettings()),
        lambda found: found.as_json(explain=arguments.explain),
        thresholds.lines,
    )


def _recovery(arguments: argparse.Namespace) -> int:
    from app.fits.from_settings import CurvesOfSettings
    from app.whatif import recovering

    values = _values(arguments, RECOVERY)
    return _answered(
        arguments,
        lambda: recovering.answer(read_plan(arguments.file), values, CurvesOfSettings()),
        lambda found: found.as_json(explain=arguments.explain),
        recovering.lines,
    )


def _smds_job(arguments: argparse.Namespace) -> int:
    """The job alone on standard output, so that it can be submitted; findings beside it."""
    from app.fits.from_settings import CurvesOfSettings
    from app.whatif import recovering

    values = _values(arguments, SMDS_JOB)
    found = recovering.job(read_plan(arguments.file), values, CurvesOfSettings())
    if arguments.json:
        write_json(found.as_json())
    else:
        write(found.text)
        for each in found.findings:
            sys.stderr.write("".join(f"{line}\n" for line in finding_lines(each.as_json())))
    return exit_code([finding.as_json() for finding in found.findings], arguments.fail_on)


def _values(arguments: argparse.Namespace, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """What was typed, read."""
    typed: dict[str, list[str]] = {}
    for each in parameters:
        value = getattr(arguments, each.name)
        if value is not None:
            typed[each.name] = value if isinstance(value, list) else [value]
    return read_values(parameters, typed, what="The question")


def _answered(
    arguments: argparse.Namespace,
    ask: Callable[[], Any],
    as_json: Callable[[Any], Mapping[str, Any]],
    lines: Callable[[Any], Iterable[str]],
) -> int:
    """Print an answer; a plan that cannot exist is answered with its findings."""
    from planner_core.errors import PlanRefused

    try:
        found = ask()
    except PlanRefused as refused:
        if arguments.json:
            write_json({"findings": [finding.as_json() for finding in refused.findings]})
        sys.stderr.write(f"{refused}\n")
        return EXIT_FINDINGS
    if arguments.json:
        write_json(as_json(found))
    else:
        write_lines(lines(found))
        for each in found.findings:
            write_lines(finding_lines(each.as_json()))
    return exit_code([finding.as_json() for finding in found.findings], arguments.fail_on)
