"""docs/command-line.md names every subcommand, every option and every kind of output."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout

import pytest

from app.cli import main
from planner_core.outputs import OUTPUT_KINDS
from tests.docs.pages import ROOT, blocks, headings, rows, section

PAGE = ROOT / "docs/command-line.md"
SHARED = "Options of structure, admin and offload"


def help_of(*arguments: str) -> str:
    """What --help prints."""
    out = io.StringIO()
    with redirect_stdout(out):
        assert main([*arguments, "--help"]) == 0
    return out.getvalue()


COMMANDS = re.findall(r"^    ([a-z]+)(?:\s|$)", help_of().partition("COMMAND\n")[2], re.MULTILINE)


def test_the_help_names_the_commands() -> None:
    assert {"structure", "admin", "offload", "plan"} <= set(COMMANDS)


def test_every_command_has_its_section_and_no_other_is_described() -> None:
    assert [heading for heading in headings(PAGE) if heading.startswith("cfplan ")] == [
        f"cfplan {name}" for name in COMMANDS
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_described(command: str) -> None:
    real = set(re.findall(r"--[a-z-]+", help_of(command))) - {"--help"}
    texts = [section(PAGE, f"cfplan {command}")]
    if "--json" in real:
        texts.append(section(PAGE, SHARED))
    described = {
        option for text in texts for row in rows(text) for option in re.findall(r"--[a-z-]+", row[0])
    }
    assert real - described == set()
    own = {option for row in rows(texts[0]) for option in re.findall(r"--[a-z-]+", row[0])}
    assert own - real == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(command: str) -> None:
    shown = [block.text for block in blocks(PAGE) if block.language in {"console", "sh"}]
    assert any(f"cfplan {command}" in text for text in shown)


def test_every_kind_of_output_is_described() -> None:
    described = {row[0].strip("`") for row in rows(section(PAGE, "cfplan plan"))}
    assert {"json", *OUTPUT_KINDS} <= described
