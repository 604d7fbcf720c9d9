"""Common parts of the commands: verbs, options, reading plans, and printing answers."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner_core.wire import JsonObject

if TYPE_CHECKING:
    from planner_core.document.model import PlanDocument
    from planner_core.findings import Finding
    from planner_core.questions import Question
    from planner_core.wire import Answer

LARGEST_MESSAGE_BYTES = 100 * 2**20
EXIT_OK, EXIT_FINDINGS, EXIT_USAGE = 0, 1, 2
_SIZE_ENDS = ("B", "K", "M", "G", "T")
STANDARD_INPUT = "-"
Action = Callable[[argparse.Namespace], int]
Command = Callable[[str, str, Action], argparse.ArgumentParser]
"""A function that adds a command or one of its verbs, given its name, description and action."""
Parser = type[argparse.ArgumentParser]
Whole = Callable[[int, int], Callable[[str], int]]
"""A function that creates readers of whole numbers within bounds."""


def verbs_of(commands: Command, parser_class: Parser, name: str, about: str) -> Command:
    """Add a command that consists of verbs, and return the function that adds them."""
    parent = commands(name, about, _nothing)
    verbs = parent.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=parser_class)

    def verb(name: str, about: str, run: Action) -> argparse.ArgumentParser:
        made = verbs.add_parser(name, help=about, description=about, allow_abbrev=False)
        made.set_defaults(run=run)
        return made

    return verb


def _nothing(arguments: argparse.Namespace) -> int:
    del arguments
    return EXIT_OK


class LazyParser(argparse.ArgumentParser):
    """A parser whose options are added when it first reads a command line.

    Each command builds the parsers of all commands, and the options of questions come from models that are slow to
    import.
    """

    fill: Callable[[argparse.ArgumentParser], None] | None = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401, D102 - as argparse has it
        # Cleared before the call, because options cannot be added again if the parser is used twice.
        fill, self.fill = self.fill, None
        if fill is not None:
            fill(self)
        return super().parse_known_args(args, namespace)


def add_question(made: argparse.ArgumentParser, load: Callable[[], type[Question]]) -> None:
    """Add an option for each parameter of a question; `read_question` reads them by the same rules as REST.

    Args:
        made: The parser of the command, a LazyParser.
        load: Imports the question; called when the command is used.
    """
    made.set_defaults(question=load)
    if not isinstance(made, LazyParser):
        raise TypeError(made)
    made.fill = lambda parser: _add_options(parser, load())


def _add_options(made: argparse.ArgumentParser, question: type[Question]) -> None:
    from planner_core.questions import parameters

    for each in parameters(question).values():
        option = f"--{each.option}"
        if each.is_flag:
            made.add_argument(option, action="store_const", const="true", help=each.about)
            continue
        made.add_argument(
            option,
            dest=each.name,
            metavar=None if each.choices else each.metavar,
            choices=each.choices or None,
            required=each.is_required,
            action="append" if each.is_list else "store",
            # argparse formats help texts with the % operator.
            help=each.about.replace("%", "%%"),
        )


def read_question(arguments: argparse.Namespace) -> Any:  # noqa: ANN401 - an instance of what `question` loads
    """Return the question in the options of a command.

    Raises:
        InputInvalid: An option is not valid; every error is listed.
    """
    from planner_core.questions import parameters

    question = arguments.question()
    typed = {name: getattr(arguments, name) for name in parameters(question)}
    return question.read(
        {
            name: value if isinstance(value, list) else [value]
            for name, value in typed.items()
            if value is not None
        }
    )


def message_size(whole: Whole) -> Callable[[str], int]:
    """Return a reader of message sizes: a number of bytes, or a size such as `2K`, as in a plan document."""
    number = whole(0, LARGEST_MESSAGE_BYTES)

    def read(text: str) -> int:
        if not text.strip().upper().endswith(_SIZE_ENDS):
            return number(text)
        from planner_core.document.types import message_bytes
        from planner_core.errors import PlannerError

        try:
            return message_bytes(text)
        except (PlannerError, ValueError) as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def add_json(made: argparse.ArgumentParser, about: str = "print the answer as JSON") -> None:
    """Add the option `--json`."""
    made.add_argument("--json", action="store_true", help=about)


def add_fail_on(made: argparse.ArgumentParser) -> None:
    """Add the option for the severity that makes the exit code 1."""
    made.add_argument(
        "--fail-on",
        choices=("error", "warning"),
        default="error",
        help="exit with status 1 if a finding has this severity or higher",
    )


def read_plan(name: str) -> PlanDocument:
    """Read the plan document that a command names; `-` is standard input."""
    from app.texts.documents import read_file, read_text

    return read_text(sys.stdin.buffer.read()) if name == STANDARD_INPUT else read_file(Path(name))


def write(text: str) -> None:
    """Write an answer to standard output."""
    sys.stdout.write(text)
    sys.stdout.flush()


def write_lines(lines: Iterable[str]) -> None:
    """Write lines to standard output."""
    write("".join(f"{line}\n" for line in lines))


def write_json(answer: JsonObject) -> None:
    """Write an answer to standard output as JSON."""
    write(json.dumps(answer, indent=2) + "\n")


def finding_lines(found: Finding) -> tuple[str, str]:
    """Return a finding as text: its message, and its source below."""
    return f"{found.severity}: {found.code}: {found.message}", f"  {found.source}"


def write_answer(
    arguments: argparse.Namespace,
    answer: Answer,
    findings: Sequence[Finding],
    lines: Iterable[str],
    *,
    notes: bool = True,
) -> int:
    """Print an answer with its findings, as JSON or as text, and return the exit code.

    Args:
        arguments: The arguments of the command, with those of `add_json` and `add_fail_on`.
        answer: The answer.
        findings: Its findings.
        lines: The answer as text.
        notes: Also print findings of severity info in the text.
    """
    if arguments.json:
        write_json(answer.as_json())
    else:
        write_lines(lines)
        for found in findings:
            if notes or found.severity != "info":
                write_lines(finding_lines(found))
    return exit_code(findings, arguments.fail_on)


def exit_code(findings: Iterable[Finding], fail_on: str) -> int:
    """Return 1 if an open finding is an error or has the severity `fail_on`, else 0. Ignore acknowledged warnings."""
    serious = {"error", fail_on}
    still_open = (each for each in findings if each.severity == "error" or not each.acknowledged)
    return EXIT_FINDINGS if any(each.severity in serious for each in still_open) else EXIT_OK


class Meter:
    """Shows progress on one line of the terminal, or nothing if the output is not a terminal."""

    def __init__(self) -> None:
        self.is_terminal = sys.stderr.isatty()
        self._width = 0

    def show(self, line: str) -> None:
        """Rewrite the line."""
        if self.is_terminal:
            sys.stderr.write(f"\r{line:<{self._width}}")
            sys.stderr.flush()
            self._width = len(line)

    def clear(self) -> None:
        """Clear the line."""
        if self._width:
            sys.stderr.write(f"\r{'':<{self._width}}\r")
            sys.stderr.flush()
            self._width = 0

    def say(self, line: str) -> None:
        """Clear the progress, and print a line that stays."""
        self.clear()
        sys.stderr.write(f"{line}\n")
