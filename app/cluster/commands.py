"""The commands `cfplan cluster ...`: where a cluster sends its messages.

What computes the answers is imported when a command runs, so that all other commands start without it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cluster import explain_command

if TYPE_CHECKING:
    from planner_core.cluster.answer import DecisionAnswer

EXIT_OK, EXIT_FINDINGS = 0, 1
Command = Callable[[str, str, Callable[[argparse.Namespace], int]], argparse.ArgumentParser]


def add(commands: Command, parser_class: type[argparse.ArgumentParser]) -> None:
    """Add the commands to the command line."""
    parent = commands("cluster", "Clusters: where messages go.", _decide)
    parent.set_defaults(run=None)
    verbs = parent.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=parser_class)

    def verb(name: str, about: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        made = verbs.add_parser(name, help=about, description=about, allow_abbrev=False)
        made.set_defaults(run=run)
        return made

    decided = verb("decide", "Choose among the instances of a clustered queue, step by step.", _decide)
    decided.add_argument(
        "file", metavar="FILE", help="what the sender sees (YAML or JSON); - for standard input"
    )
    decided.add_argument(
        "--mode",
        choices=("seed", "ibm"),
        default="seed",
        help="the eight eliminations of IBM's article (default), or the algorithm of its reference",
    )
    answers(decided)
    explain_command.add(verb, answers)


def answers(made: argparse.ArgumentParser) -> None:
    """Add what every command about clusters has."""
    made.add_argument("--json", action="store_true", help="answer as JSON")
    made.add_argument(
        "--fail-on", choices=("error", "warning"), default="error", help="exit 1 from this severity on"
    )


def give(arguments: argparse.Namespace, answer: Mapping[str, Any], lines: Iterator[str]) -> int:
    """Print an answer, as JSON or for people, and return the exit code."""
    if arguments.json:
        sys.stdout.write(json.dumps(answer, indent=2) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        for found in answer["findings"]:
            sys.stdout.write(
                f"{found['severity']}: {found['code']}: {found['message']}\n  {found['source']}\n"
            )
    sys.stdout.flush()
    serious = {"error", arguments.fail_on}
    return EXIT_FINDINGS if any(each["severity"] in serious for each in answer["findings"]) else EXIT_OK


def _decide(arguments: argparse.Namespace) -> int:
    from app.cluster import service
    from planner_core.cluster.answer import answer

    if arguments.file == "-":
        found = service.decide_text(sys.stdin.buffer.read(), mode=arguments.mode)
    else:
        found = answer(service.read_file(Path(arguments.file)), mode=arguments.mode)
    return give(arguments, found.as_json(), _lines(found))


def _lines(found: DecisionAnswer) -> Iterator[str]:
    decision = found.decision
    yield f"candidates: {', '.join(candidate.label for candidate in decision.candidates) or 'none'}"
    for step in decision.steps:
        if not step.is_reached:
            continue
        yield f"{step.number:>4}  {step.title} ({step.attribute})"
        for item in step.eliminated:
            yield f"        out: {item.candidate.label}: {item.reason}"
        if step.note:
            yield f"        {step.note}"
        if step.eliminated:
            yield f"        left: {', '.join(candidate.label for candidate in step.kept) or 'nobody'}"
    for left_out in decision.dropped:
        yield f"not a candidate: {left_out.what}: {left_out.reason}"
    if found.reallocation is not None:
        yield f"message: {found.reallocation.sentence}"
    yield f"chosen: {', '.join(found.goes_to) or 'nobody: the put fails'}"
    for candidate, share in found.shares.items():
        puts = f", {found.puts[candidate]} of the puts" if sum(found.puts.values()) else ""
        yield f"  {candidate.label}: {float(share * 100):.2f} %{puts}"
