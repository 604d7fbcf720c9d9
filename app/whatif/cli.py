"""The commands `cfplan whatif ...`: questions about a plan document, answered without storing anything.

The core is imported when a command runs, so that other commands start quickly.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.command_line import (
    EXIT_FINDINGS,
    EXIT_OK,
    Action,
    Command,
    Parser,
    add_fail_on,
    add_json,
    add_question,
    exit_code,
    finding_lines,
    read_plan,
    read_question,
    verbs_of,
    write,
    write_answer,
    write_json,
)

if TYPE_CHECKING:
    from planner_core.errors import OutputRefused, PlanRefused
    from planner_core.questions import Question


def add(commands: Command, parser_class: Parser) -> None:
    """Add the commands to the command line."""
    made_of = verbs_of(
        commands,
        parser_class,
        "whatif",
        "Questions about a plan: a lost coupling facility, an upgrade, an outage, thresholds.",
    )

    def verb(
        name: str, about: str, run: Action, question: Callable[[], type[Question]]
    ) -> argparse.ArgumentParser:
        made = made_of(name, about, run)
        made.add_argument("file", metavar="PLAN", help="the plan document; - for standard input")
        add_json(made)
        add_fail_on(made)
        add_question(made, question)
        return made

    verb(
        "filling",
        "One outage of a structure: its events over time, and how long the structure lasts.",
        _filling,
        lambda: _question("whatif.filling_up", "Outage"),
    )
    verb(
        "thresholds",
        "Three offload thresholds for a structure, explained and compared.",
        _thresholds,
        lambda: _question("whatif.thresholds", "ThresholdQuestion"),
    )
    verb(
        "recovery",
        "Backups of structures, their logs, and the duration of recovery.",
        _recovery,
        lambda: _question("whatif.recovery", "RecoveryQuestion"),
    )
    verb(
        "smds-job",
        "The job that defines and formats the shared message data sets.",
        _smds_job,
        lambda: _question("texts.smds_job", "SmdsJobQuestion"),
    )
    verb(
        "cf-loss",
        "Lose each coupling facility and site: moves, and structures that cannot be placed.",
        _lose,
        lambda: _question("whatif.loss", "LossQuestion"),
    )
    upgraded = verb(
        "upgrade",
        "Before and after: CFCC levels, one more queue manager, growth.",
        _upgrade,
        lambda: _question("whatif.growth", "UpgradeQuestion"),
    )
    upgraded.add_argument(
        "--fragment", metavar="STEP", help="print only the CFRM statements of this step, such as cfcc-25"
    )


def _question(module: str, name: str) -> type[Question]:
    # By name, because importing the questions takes most of the time that a command needs to start.
    found: type[Question] = getattr(import_module(f"planner_core.{module}"), name)
    return found


def _filling(arguments: argparse.Namespace) -> int:
    from app.whatif import answers, texts

    return _answered(arguments, answers.filling, texts.filling_lines)


def _thresholds(arguments: argparse.Namespace) -> int:
    from app.whatif import answers, texts

    return _answered(arguments, answers.thresholds, texts.threshold_lines)


def _recovery(arguments: argparse.Namespace) -> int:
    from app.whatif import answers, texts

    return _answered(arguments, answers.recoveries, texts.recovery_lines)


def _smds_job(arguments: argparse.Namespace) -> int:
    """Print the job alone on standard output, ready to submit, and findings on standard error."""
    from app.fits.from_settings import curves_of_settings
    from app.whatif import answers

    question = read_question(arguments)
    found = answers.data_set_job(read_plan(arguments.file), question, curves_of_settings)
    if arguments.json:
        write_json(found.as_json())
    else:
        write(found.text)
        for each in found.findings:
            sys.stderr.write("".join(f"{line}\n" for line in finding_lines(each.as_json())))
    return exit_code([finding.as_json() for finding in found.findings], arguments.fail_on)


def _lose(arguments: argparse.Namespace) -> int:
    from app.whatif import answers, texts

    return _answered(
        arguments,
        lambda document, question, curves: answers.losses(
            document,
            [(Path(name).stem or name, read_plan(name)) for name in question.others],
            curves,
            at=question.at,
        ),
        texts.loss_lines,
    )


def _upgrade(arguments: argparse.Namespace) -> int:
    from app.whatif import answers, texts

    if arguments.fragment is None:
        return _answered(arguments, answers.upgrade, texts.upgrade_lines, notes=False)
    from app.fits.from_settings import curves_of_settings
    from planner_core.errors import OutputRefused, PlannerError, PlanRefused

    question = read_question(arguments)
    try:
        found = answers.upgrade(read_plan(arguments.file), question, curves_of_settings)
        # A step that the core refused has no plan and so no statements.
        steps = {step.change.key: step for step in found.steps if step.after is not None}
        if arguments.fragment not in steps:
            message = f"There is no step {arguments.fragment!r}: choose one of {', '.join(steps) or 'none'}."
            raise PlannerError(message)
        write(steps[arguments.fragment].statements())
    except (OutputRefused, PlanRefused) as refused:
        return _refused(arguments, refused)
    return EXIT_OK


def _answered(
    arguments: argparse.Namespace,
    answer: Callable[..., Any],
    lines: Callable[[Any], Iterable[str]],
    *,
    notes: bool = True,
) -> int:
    """Print an answer, or the findings of an impossible plan."""
    from app.fits.from_settings import curves_of_settings
    from planner_core.errors import PlanRefused

    question = read_question(arguments)
    try:
        found = answer(read_plan(arguments.file), question, curves_of_settings)
    except PlanRefused as refused:
        return _refused(arguments, refused)
    return write_answer(arguments, found.as_json(), lines(found), notes=notes)


def _refused(arguments: argparse.Namespace, refused: PlanRefused | OutputRefused) -> int:
    if arguments.json:
        write_json({"findings": [each.as_json() for each in refused.findings]})
    sys.stderr.write(f"{refused}\n")
    return EXIT_FINDINGS
