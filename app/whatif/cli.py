"""The commands `cfplan whatif ...`: questions about a plan document, answered without storing anything.

What computes the answers is imported when a command runs, so that all other commands start without it.
"""

from __future__ import annotations

import argparse

from app.command_line import Action, Command, Parser, add_fail_on, add_json, verbs_of
from app.whatif.placement_cli import add as add_placement
from app.whatif.structure_cli import add as add_structure


def add(commands: Command, parser_class: Parser) -> None:
    """Add the commands to the command line."""
    made_of = verbs_of(
        commands,
        parser_class,
        "whatif",
        "Questions about a plan: a lost coupling facility, an upgrade, an outage, thresholds.",
    )

    def verb(name: str, about: str, run: Action) -> argparse.ArgumentParser:
        made = made_of(name, about, run)
        made.add_argument("file", metavar="PLAN", help="the plan document; - for standard input")
        add_json(made)
        add_fail_on(made)
        return made

    add_structure(verb)
    add_placement(verb)
