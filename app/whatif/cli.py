"""The commands `cfplan whatif ...`: questions about a plan document, answered without storing anything.

The core is imported when a command runs, so that other commands start quickly.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.command_line import (
    EXIT_FINDINGS,
    EXIT_OK,
    add_fail_on,
    add_json,
    add_question,
    commands_of,
    exit_code,
    finding_lines,
    read_plan,
    read_question,
    write,
    write_answer,
    write_json,
)
from app.whatif.questions import QUESTIONS, WhatIfQuestion

if TYPE_CHECKING:
    from app.fits.kept import Curves
    from planner_core.document.model import PlanDocument
    from planner_core.errors import OutputRefused, PlanRefused
    from planner_core.whatif.loss import LossAnswer, LossQuestion
    from planner_core.whatif.survival_answer import Survival, SurvivalQuestion


def add_whatif(whatif: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan whatif`."""
    verb = commands_of(whatif, "verb")
    for question in QUESTIONS:
        verb(question.verb, question.help, partial(_add_options, question))


def _add_options(question: WhatIfQuestion, made: argparse.ArgumentParser) -> None:
    written_out = {"smds-job": _smds_job, "cf-loss": _lose, "upgrade": _upgrade, "survival": _survive}
    made.set_defaults(run=written_out.get(question.verb) or partial(_answered, question.answer))
    made.add_argument("file", metavar="PLAN", help="the plan document; - for standard input")
    add_json(made)
    add_fail_on(made)
    if question.verb == "upgrade":
        made.add_argument(
            "--fragment",
            metavar="STEP",
            help="print only the CFRM statements for this step, such as cfcc-25",
        )
    add_question(made, question.question())


def _smds_job(arguments: argparse.Namespace) -> int:
    """Print the job on standard output, ready to submit, and findings on standard error."""
    from app.fits.from_settings import curves_of_settings
    from app.whatif import answers

    question = read_question(arguments)
    found = answers.data_set_job(read_plan(arguments.file), question, curves_of_settings)
    if arguments.json:
        write_json(found.as_json())
    else:
        write(found.text)
        for each in found.findings:
            sys.stderr.write("".join(f"{line}\n" for line in finding_lines(each)))
    return exit_code(found.findings, arguments.fail_on)


def _lose(arguments: argparse.Namespace) -> int:
    from app.whatif.answers import losses

    def answer(document: PlanDocument, question: LossQuestion, curves: Curves) -> LossAnswer:
        others = [(Path(name).stem or name, read_plan(name)) for name in question.others]
        return losses(document, others, curves, at=question.at)

    return _answered(answer, arguments)


def _survive(arguments: argparse.Namespace) -> int:
    from app.whatif.answers import survive
    from app.whatif.survival_usage import measurements_of_settings

    def answer(document: PlanDocument, question: SurvivalQuestion, curves: Curves) -> Survival:
        return survive(document, question, curves, measurements_of_settings)

    return _answered(answer, arguments)


def _upgrade(arguments: argparse.Namespace) -> int:
    from app.whatif.answers import ask
    from planner_core.whatif.growth import upgrades

    if arguments.fragment is None:
        return _answered(partial(ask, upgrades), arguments, notes=False)
    from app.fits.from_settings import curves_of_settings
    from planner_core.errors import OutputRefused, PlannerError, PlanRefused

    question = read_question(arguments)
    try:
        found = ask(upgrades, read_plan(arguments.file), question, curves_of_settings)
        # A step that the core refused has no plan and therefore no statements.
        steps = {step.change.key: step for step in found.steps if step.after is not None}
        if arguments.fragment not in steps:
            message = f"There is no step {arguments.fragment!r}: choose one of {', '.join(steps) or 'none'}."
            raise PlannerError(message)
        write(steps[arguments.fragment].statements())
    except (OutputRefused, PlanRefused) as refused:
        return _refused(arguments, refused)
    return EXIT_OK


def _answered(answer: Callable[..., Any], arguments: argparse.Namespace, *, notes: bool = True) -> int:
    """Print an answer, or the findings of an impossible plan."""
    from app.fits.from_settings import curves_of_settings
    from planner_core.errors import PlanRefused

    question = read_question(arguments)
    try:
        found = answer(read_plan(arguments.file), question, curves_of_settings)
    except PlanRefused as refused:
        return _refused(arguments, refused)
    return write_answer(arguments, found, found.findings, found.lines(), notes=notes)


def _refused(arguments: argparse.Namespace, refused: PlanRefused | OutputRefused) -> int:
    if arguments.json:
        write_json({"findings": [each.as_json() for each in refused.findings]})
    sys.stderr.write(f"{refused}\n")
    return EXIT_FINDINGS
