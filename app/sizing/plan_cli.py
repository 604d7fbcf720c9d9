"""The commands `cfplan plan`, `cfplan schema` and `cfplan example`: plan documents in files.

The core is imported when a command runs, so that help and usage errors appear without it.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from app.command_line import EXIT_FINDINGS, EXIT_OK, add_fail_on, exit_code, read_plan, write, write_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planner_core.findings import Finding

_OUTPUTS = ("policy", "job", "mqsc", "setxcf", "runbook", "workflow", "json")


def add_plan(plan: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan plan`."""
    plan.set_defaults(run=_plan)
    plan.add_argument("file", metavar="FILE", help="the document; - for standard input")
    plan.add_argument("--output", choices=_OUTPUTS, default="json")
    plan.add_argument(
        "--explain", action="store_true", help="with --json: include an explanation of every figure"
    )
    plan.add_argument(
        "--depths", action="store_true", help="with --json: include advice on the depths of every queue"
    )
    add_fail_on(plan)


def add_schema(schema: argparse.ArgumentParser) -> None:
    """Set the function of `cfplan schema`, which has no options."""
    schema.set_defaults(run=_schema)


def add_example(example: argparse.ArgumentParser) -> None:
    """Set the function of `cfplan example`, which has no options."""
    example.set_defaults(run=_example)


def _plan(arguments: argparse.Namespace) -> int:
    from app.fits.from_settings import curves_of_settings
    from app.fits.resolve import evaluate
    from planner_core.errors import OutputRefused, PlanRefused
    from planner_core.plan.explain import plan_answer
    from planner_core.texts.outputs import render_output

    document = read_plan(arguments.file)
    try:
        result = evaluate(document, curves_of_settings, compares=arguments.output == "json")
        if arguments.output == "json":
            write_json(plan_answer(result, explain=arguments.explain, depths=arguments.depths).as_json())
        else:
            text = render_output(arguments.output, result).text
            _report(result.findings)
            write(text)
    except (PlanRefused, OutputRefused) as refused:
        if arguments.output == "json":
            write_json({"findings": [finding.as_json() for finding in refused.findings]})
        _say(str(refused))
        return EXIT_FINDINGS
    return exit_code(result.findings, arguments.fail_on)


def _report(findings: Sequence[Finding]) -> None:
    """Print the findings of a text output on stderr, so that stdout contains only the text to submit."""
    for finding in findings:
        if finding.severity != "info" and not finding.acknowledged:
            _say(f"{finding.severity}: {finding.code}: {finding.message}")


def _schema(arguments: argparse.Namespace) -> int:
    from planner_core.document.schema import json_schema

    del arguments
    write_json(json_schema())
    return EXIT_OK


def _example(arguments: argparse.Namespace) -> int:
    from app.texts.documents import example_text

    del arguments
    write(example_text())
    return EXIT_OK


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
