"""What the what-if commands share: the document they read, and how they answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner_core.document import PlanDocument

EXIT_OK, EXIT_FINDINGS = 0, 1


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
    """0, or 1 where findings are serious enough; warnings that are accepted do not count."""
    serious = {"error"} | ({"warning"} if fail_on == "warning" else set())
    still_open = [each for each in findings if each["severity"] == "error" or not each["acknowledged"]]
    return EXIT_FINDINGS if any(each["severity"] in serious for each in still_open) else EXIT_OK
