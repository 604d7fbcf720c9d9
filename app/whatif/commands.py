"""The commands `cfplan whatif ...`: questions about a plan document, answered without storing anything.

What computes the answers is imported when a command runs, so that all other commands start without it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.whatif.structure_commands import add as add_structure

if TYPE_CHECKING:
    from planner_core.document import PlanDocument

EXIT_OK, EXIT_FINDINGS = 0, 1
Command = Callable[[str, str, Callable[[argparse.Namespace], int]], argparse.ArgumentParser]
Whole = Callable[[int, int], Callable[[str], int]]


def add(commands: Command, whole: Whole, parser_class: type[argparse.ArgumentParser]) -> None:
    """Add the commands to the command line. `whole` makes readers of whole numbers within bounds."""
    parent = commands(
        "whatif",
        "Questions about a plan: a lost coupling facility, an upgrade.",
        _nothing,
    )
    parent.set_defaults(run=None)
    verbs = parent.add_subparsers(dest="verb", required=True, metavar="QUESTION", parser_class=parser_class)

    def verb(name: str, about: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        made = verbs.add_parser(name, help=about, description=about, allow_abbrev=False)
        made.set_defaults(run=run)
        made.add_argument("file", metavar="PLAN", help="the plan document; - for standard input")
        made.add_argument("--json", action="store_true", help="answer as JSON")
        made.add_argument(
            "--fail-on", choices=("error", "warning"), default="error", help="exit 1 from this severity on"
        )
        return made

    add_structure(verb)
    del whole


def _nothing(arguments: argparse.Namespace) -> int:
    del arguments
    return EXIT_OK


def read_plan(name: str) -> PlanDocument:
    """The document that a command names; `-` is standard input."""
    from app.documents import read_file, read_text

    return read_text(sys.stdin.buffer.read()) if name == "-" else read_file(Path(name))


def write(text: str) -> None:
    """Put an answer on standard output."""
    sys.stdout.write(text)
    sys.stdout.flush()


def write_json(answer: Mapping[str, Any]) -> None:
    """Put an answer on standard output as JSON."""
    write(json.dumps(answer, indent=2) + "\n")


def exit_code(findings: Sequence[Mapping[str, Any]], fail_on: str) -> int:
    """0, or 1 where findings are serious enough."""
    serious = {"error"} | ({"warning"} if fail_on == "warning" else set())
    return EXIT_FINDINGS if any(each["severity"] in serious for each in findings) else EXIT_OK
