"""Common parts of the commands: verbs, options, reading plans, and printing answers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from planner_core.document.model import PlanDocument
    from planner_core.findings import Finding
    from planner_core.questions import Question
    from planner_core.wire import Answer, JsonObject

LARGEST_MESSAGE_BYTES = 100 * 2**20
EXIT_OK, EXIT_FINDINGS, EXIT_USAGE = 0, 1, 2
_SIZE_ENDS = ("B", "K", "M", "G", "T")
STANDARD_INPUT = "-"
Fill = Callable[[argparse.ArgumentParser], None]
"""A function that adds the options of a command to its parser, and the function that runs it as the default `run`."""
Command = Callable[[str, str, Fill], None]
"""A function that adds a command or a verb, given its name, its description and the function that adds its options."""


class UsageError(Exception):
    """A usage error with the message to show."""


class LazyParser(argparse.ArgumentParser):
    """A parser whose options are added when it first reads a command line.

    A command line uses the options of one command, and the modules that declare those of the others take longer to
    import than most commands take to run.
    """

    fill: Fill | None = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401, D102 - as argparse has it
        # Cleared before the call, because options cannot be added again if the parser is used twice.
        fill, self.fill = self.fill, None
        if fill is not None:
            fill(self)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:  # noqa: D102 - as argparse has it
        msg = f"{self.prog}: {message}\n{self.format_usage().strip()}"
        raise UsageError(msg)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:  # noqa: D102 - as argparse has it
        raise SystemExit(status if message is None else message)


def commands_of(parser: argparse.ArgumentParser, kind: str) -> Command:
    """Return the function that adds the commands of cfplan, or the verbs of a command, to their parser.

    Args:
        parser: The parser of cfplan or of the command.
        kind: "command" or "verb".
    """
    parsers = parser.add_subparsers(dest=kind, required=True, metavar=kind.upper(), parser_class=LazyParser)

    def command(name: str, about: str, fill: Fill) -> None:
        parsers.add_parser(name, help=about, description=about, allow_abbrev=False).fill = fill

    return command


def add_question(made: argparse.ArgumentParser, question: type[Question]) -> None:
    """Add an option for each parameter of a question; `read_question` reads them by the same rules as REST."""
    from planner_core.questions import parameters

    made.set_defaults(question=question)
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


def read_question(arguments: argparse.Namespace) -> Any:  # noqa: ANN401 - an instance of `question`
    """Return the question in the options of a command.

    Raises:
        InputInvalid: An option is not valid; every error is listed.
    """
    from planner_core.questions import parameters

    question = arguments.question
    typed = {name: getattr(arguments, name) for name in parameters(question)}
    return question.read(
        {
            name: value if isinstance(value, list) else [value]
            for name, value in typed.items()
            if value is not None
        },
        is_typed=True,
    )


def whole_number(lowest: int, highest: int) -> Callable[[str], int]:
    """Return a reader of whole numbers within bounds."""

    def read(text: str) -> int:
        from planner_core.typed_numbers import ambiguity, whole

        number = whole(text)
        if number is None:
            problem = ambiguity(text, is_whole=True) or "is not a whole number"
            msg = f"{text!r} {problem}"
            raise argparse.ArgumentTypeError(msg)
        if not lowest <= number <= highest:
            msg = f"{text} is not between {lowest} and {highest}"
            raise argparse.ArgumentTypeError(msg)
        return number

    return read


def message_size() -> Callable[[str], int]:
    """Return a reader of message sizes: a number of bytes, or a size such as `2K`, as in a plan document."""
    number = whole_number(0, LARGEST_MESSAGE_BYTES)

    def read(text: str) -> int:
        if not text.strip().upper().endswith(_SIZE_ENDS):
            return number(text)
        from planner_core.document.types import message_bytes
        from planner_core.errors import PlannerError
        from planner_core.typed_numbers import size_text

        try:
            return message_bytes(size_text(text))
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
    from pathlib import Path

    from app.texts.documents import read_file, read_text

    return read_text(sys.stdin.buffer.read()) if name == STANDARD_INPUT else read_file(Path(name))


def write(text: str) -> None:
    """Write an answer to standard output."""
    sys.stdout.write(text)
    sys.stdout.flush()


def write_lines(lines: Iterable[str]) -> None:
    """Write lines to standard output."""
    write("".join(f"{line}\n" for line in lines))


def table_lines(rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> Iterator[str]:
    """Yield the lines of a table whose columns are as wide as their longest cell.

    Args:
        rows: The cells, headings first; all rows have the same length.
        right: Columns that are right-aligned, from 0.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            text.rjust(width) if at in right else text.ljust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def write_json(answer: JsonObject) -> None:
    """Write an answer to standard output as JSON."""
    import json

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
