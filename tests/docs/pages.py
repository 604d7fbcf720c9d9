"""The pages of the documentation as data: their blocks of code, links, headings and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.web.rendering import slug

ROOT = Path(__file__).parents[2]
PAGES = (
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
)
_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>[a-z]*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def name_of(page: Path) -> str:
    """Return the path of the page in the repository."""
    return page.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    """A fenced block of code."""

    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page in order."""
    text = page.read_text(encoding="utf-8")
    return [Block(found["language"], found["text"]) for found in _FENCE.finditer(text)]


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> list[str]:
    """Return the targets of links and images of a page."""
    return _LINK.findall(re.sub(r"`[^`\n]*`", "", prose(page)))


def headings(page: Path) -> list[str]:
    """Return the headings below the title."""
    return re.findall(r"^##+ (.+)$", prose(page), re.MULTILINE)


def parts(page: Path) -> list[Path]:
    """Return the parts of a divided page: the files in the folder with its name."""
    return sorted(page.with_suffix("").glob("*.md"))


def title(page: Path) -> str:
    """Return the title of a page."""
    return prose(page).partition("\n")[0].removeprefix("# ")


def anchors(page: Path) -> set[str]:
    """Return the anchors that a link to the page may use."""
    return {slug(heading.replace("`", "")) for heading in headings(page)}


def section(page: Path, heading: str) -> str:
    """Return the text below a heading, up to the next one of the same level; or the part of the page with this title."""
    sections = re.split(r"^## ", prose(page), flags=re.MULTILINE)
    separate = [prose(part) for part in parts(page) if title(part) == heading]
    (found,) = [each for each in sections if each.splitlines()[0] == heading] + separate
    return found


def rows(text: str) -> Iterator[list[str]]:
    """Return the rows of all tables in a text, without headings."""
    for table in re.findall(r"(?:^\|.*\|\n)+", text + "\n", re.MULTILINE):
        for line in table.splitlines()[2:]:
            yield [cell.strip() for cell in line.strip("|").split("|")]


# ---- examples ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Command:
    """A command typed after a prompt, and its output."""

    text: str
    output: str


def commands(console: str) -> list[Command]:
    """Return the commands of a `console` block: after `$ `, continued by a backslash or up to the end of a here-document."""
    found: list[Command] = []
    lines = iter(console.splitlines())
    for line in lines:
        if not line.startswith("$ "):
            assert found, f"the block begins with output: {line!r}"
            found[-1] = Command(found[-1].text, f"{found[-1].output}{line}\n")
            continue
        typed = [line.removeprefix("$ ")]
        while typed[-1].endswith("\\"):
            typed.append(next(lines))
        document = re.search(r"<<'(\w+)'", line)
        while document and typed[-1] != document[1]:
            typed.append(next(lines))
        found.append(Command("\n".join(typed), ""))
    assert found, "a block without a command"
    return found


def shows(expected: str, actual: str) -> bool:
    """Return whether an output matches the page, where a line `...` matches any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in expected.splitlines()
    )
    return re.fullmatch(pattern, actual.rstrip("\n") + "\n" if actual.strip() else "") is not None
