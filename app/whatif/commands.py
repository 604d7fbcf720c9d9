"""The commands `cfplan whatif ...`: questions about a plan document, answered without storing anything.

What computes the answers is imported when a command runs, so that all other commands start without it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from app.whatif.output import EXIT_FINDINGS, EXIT_OK, exit_code, read_plan, write, write_json
from app.whatif.placement_commands import add as add_placement
from app.whatif.structure_commands import add as add_structure

__all__ = ["EXIT_FINDINGS", "EXIT_OK", "add", "exit_code", "read_plan", "write", "write_json"]

Command = Callable[[str, str, Callable[[argparse.Namespace], int]], argparse.ArgumentParser]
Whole = Callable[[int, int], Callable[[str], int]]


def add(commands: Command, whole: Whole, parser_class: type[argparse.ArgumentParser]) -> None:
    """Add the commands to the command line. `whole` makes readers of whole numbers within bounds."""
    parent = commands(
        "whatif",
        "Questions about a plan: a lost coupling facility, an upgrade, an outage, thresholds.",
        _nothing,
    )
    parent.set_defaults(run=None)
    verbs = parent.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=parser_class)

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
    add_placement(verb, whole)


def _nothing(arguments: argparse.Namespace) -> int:
    del arguments
    return EXIT_OK
