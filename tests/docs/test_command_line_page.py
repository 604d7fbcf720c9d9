"""docs/reference/command-line.md and its parts name every subcommand, every option and every kind of output."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout

import pytest

from app.cli import main
from planner_core.texts.outputs import OUTPUT_KINDS
from tests.docs.pages import ROOT, blocks, headings, parts, rows, section, title

PAGE = ROOT / "docs/reference/command-line.md"
SHARED = "Options of structure, admin and offload"


def help_of(*arguments: str) -> str:
    """Return the output of --help."""
    out = io.StringIO()
    with redirect_stdout(out):
        assert main([*arguments, "--help"]) == 0
    return out.getvalue()


def listed(text: str, heading: str) -> list[str]:
    """Return the commands that a help text lists under a heading."""
    return re.findall(r"^    ([a-z-]+)(?:\s|$)", text.partition(f"{heading}\n")[2], re.MULTILINE)


def options(text: str) -> set[str]:
    """Return the options that the tables of a text describe."""
    return {option for row in rows(text) for option in re.findall(r"--[a-z-]+", row[0])}


COMMANDS = listed(help_of(), "COMMAND")
PARENTS = (
    "plans",
    "uploads",
    "audit",
    "notices",
    "history",
    "curves",
    "forecasts",
    "smf",
    "events",
    "cluster",
    "whatif",
    "zosmf",
    "dds",
    "gatherer",
    "import",
    "connections",
    "scenarios",
    "users",
    "tokens",
)
VERBS = {parent: listed(help_of(parent), "VERB") for parent in PARENTS}
EVERY_VERB = [(parent, verb) for parent, verbs in VERBS.items() for verb in verbs]


def test_help_lists_the_commands() -> None:
    assert {"structure", "admin", "offload", "plan"} <= set(COMMANDS)


def test_help_lists_the_verbs_of_stored_plans() -> None:
    assert {"list", "show", "put", "export"} <= set(VERBS["plans"])


def test_help_lists_the_verbs_of_the_history() -> None:
    assert set(VERBS["history"]) == {"export", "rollup"}


def test_overview_links_to_every_command_in_the_order_of_the_sections() -> None:
    found = re.findall(
        r"^\| \[`cfplan ([a-z-]+)`\]\((?:#cfplan-|command-line/)([a-z-]+)(?:\.md)?\) \|",
        PAGE.read_text("utf-8"),
        re.MULTILINE,
    )
    assert found == [(name, name) for name in COMMANDS]


def test_every_command_has_exactly_one_section_or_page() -> None:
    sections = [heading for heading in headings(PAGE) if heading.startswith("cfplan ")]
    pages = [title(part) for part in parts(PAGE)]
    assert sections == [f"cfplan {name}" for name in COMMANDS if f"cfplan {name}" not in pages]
    assert sorted(sections + pages) == sorted(f"cfplan {name}" for name in COMMANDS)


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in PARENTS])
def test_every_option_of_a_command_is_described(command: str) -> None:
    real = set(re.findall(r"--[a-z-]+", help_of(command))) - {"--help"}
    own = options(section(PAGE, f"cfplan {command}"))
    shared = options(section(PAGE, SHARED)) if "--json" in real else set()
    assert real - own - shared == set()
    assert own - real == set()


@pytest.mark.parametrize(("parent", "verb"), EVERY_VERB)
def test_every_option_of_a_verb_is_described(parent: str, verb: str) -> None:
    below = section(PAGE, f"cfplan {parent}").partition(f"| option of {verb} |")[2]
    table, _, _ = below.partition("\n\n")
    assert options(f"| option |{table}") == set(re.findall(r"--[a-z-]+", help_of(parent, verb))) - {"--help"}


@pytest.mark.parametrize("command", [*COMMANDS, *(f"{parent} {verb}" for parent, verb in EVERY_VERB)])
def test_every_command_has_an_example(command: str) -> None:
    everything = [block for page in (PAGE, *parts(PAGE)) for block in blocks(page)]
    shown = [block.text for block in everything if block.language in {"console", "sh"}]
    assert any(f"cfplan {command}" in text for text in shown)


def test_every_kind_of_output_is_described() -> None:
    described = {row[0].strip("`") for row in rows(section(PAGE, "cfplan plan"))}
    assert {"json", *OUTPUT_KINDS} <= described
