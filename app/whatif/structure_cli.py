"""`cfplan whatif filling`, `thresholds`, `recovery` and `smds-job`: questions about structures of a plan."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from app.command_line import (
    EXIT_FINDINGS,
    Command,
    add_question,
    exit_code,
    finding_lines,
    read_plan,
    read_question,
    write,
    write_json,
    write_lines,
)

if TYPE_CHECKING:
    from planner_core.questions import Question


def add(verb: Command) -> None:
    """Add the commands below `cfplan whatif`."""
    filling = verb(
        "filling", "One outage of a structure: what happens when, and how long it lasts.", _filling
    )
    add_question(filling, _outage)
    thresholds = verb(
        "thresholds", "Three offload thresholds for a structure, explained and compared.", _thresholds
    )
    add_question(thresholds, _threshold_question)
    recovery = verb("recovery", "Backups of structures, their logs, and how long recovery takes.", _recovery)
    add_question(recovery, _recovery_question)
    job = verb("smds-job", "The job that defines and formats the shared message data sets.", _smds_job)
    add_question(job, _smds_job_question)


def _outage() -> type[Question]:
    from planner_core.whatif.filling_up import Outage

    return Outage


def _threshold_question() -> type[Question]:
    from planner_core.whatif.thresholds import ThresholdQuestion

    return ThresholdQuestion


def _recovery_question() -> type[Question]:
    from planner_core.whatif.recovery import RecoveryQuestion

    return RecoveryQuestion


def _smds_job_question() -> type[Question]:
    from planner_core.texts.smds_job import SmdsJobQuestion

    return SmdsJobQuestion


def _filling(arguments: argparse.Namespace) -> int:
    from app.whatif import filling

    return _answered(arguments, filling.answer, filling.lines)


def _thresholds(arguments: argparse.Namespace) -> int:
    from app.whatif import thresholds

    return _answered(arguments, thresholds.answer, thresholds.lines)


def _recovery(arguments: argparse.Namespace) -> int:
    from app.whatif import recovering

    return _answered(arguments, recovering.answer, recovering.lines)


def _smds_job(arguments: argparse.Namespace) -> int:
    """The job alone on standard output, so that it can be submitted; findings beside it."""
    from app.fits.from_settings import CurvesOfSettings
    from app.whatif import recovering

    question = read_question(arguments)
    found = recovering.job(read_plan(arguments.file), question, CurvesOfSettings())
    if arguments.json:
        write_json(found.as_json())
    else:
        write(found.text)
        for each in found.findings:
            sys.stderr.write("".join(f"{line}\n" for line in finding_lines(each.as_json())))
    return exit_code([finding.as_json() for finding in found.findings], arguments.fail_on)


def _answered(
    arguments: argparse.Namespace,
    answer: Callable[..., Any],
    lines: Callable[[Any], Iterable[str]],
) -> int:
    """Print an answer; a plan that cannot exist is answered with its findings."""
    from app.fits.from_settings import CurvesOfSettings
    from planner_core.errors import PlanRefused

    question = read_question(arguments)
    try:
        found = answer(read_plan(arguments.file), question, CurvesOfSettings())
    except PlanRefused as refused:
        if arguments.json:
            write_json({"findings": [finding.as_json() for finding in refused.findings]})
        sys.stderr.write(f"{refused}\n")
        return EXIT_FINDINGS
    if arguments.json:
        write_json(found.as_json())
    else:
        write_lines(lines(found))
        for each in found.findings:
            write_lines(finding_lines(each.as_json()))
    return exit_code([finding.as_json() for finding in found.findings], arguments.fail_on)
