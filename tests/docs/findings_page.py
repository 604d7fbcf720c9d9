"""Generate docs/reference/findings.md and one page for each code from the catalogue: `python -m tests.docs.findings_page`."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from textwrap import fill

from app.web.rendering import slug
from planner_core.findings import FindingKind, catalogue
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "reference" / "findings.md"
FOLDER = PAGE.with_suffix("")
_WIDTH = 120
_HEAD = (
    "# Findings",
    "A finding reports that part of a plan will not work or may behave unexpectedly, or names the basis of a figure. Each "
    "code has a page that describes what it means, why it matters and what to do about it.",
    "- **error**: the plan cannot work. cfplan generates no text for z/OS while the plan has an error.\n"
    "- **warning**: the plan can work, but something will surprise you.\n"
    "- **info**: good to know, such as an assumption behind a figure.",
    "In addition to its code, each finding has a message with the numbers of your plan, the field that it concerns (a JSON "
    "pointer into the plan document) and the structure. Where a single number has a source of its own, the finding "
    "names that source instead of the one given on the page of its code. [Reading a "
    "result](../explanation/reading-a-result.md#findings) explains how to work with findings.",
)


def _source(kind: FindingKind) -> str:
    source = kind.source
    if source.url:
        return f"[{f'{source.document}, {source.section}'.removesuffix(', ')}]({source.url})"
    page = f"../../explanation/assumptions/{slug(source.section)}.md"
    return f"[Assumptions, {source.section}]({page})"


def _below(text: str) -> str:
    """Return a text of the catalogue, whose links start from docs/reference, for a page one folder below."""
    return text.replace("](../", "](../../")


def subjects() -> dict[str, list[FindingKind]]:
    """Return all codes by subject: the comments of the catalogue are the subjects, in order."""
    text = resources.files("planner_core").joinpath("findings.toml").read_text(encoding="utf-8")
    found: dict[str, list[FindingKind]] = {}
    for subject, code in re.findall(r"^(?:# ---- (.+) ----|\[([A-Z0-9_]+)\])$", text, re.MULTILINE):
        if subject:
            codes = found[subject] = []
        else:
            codes.append(catalogue()[code])
    return found


def _wrapped(paragraph: str) -> str:
    if paragraph.startswith(("|", "- ")):
        return paragraph
    return fill(paragraph, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _written(paragraphs: list[str]) -> str:
    return "\n\n".join(map(_wrapped, paragraphs)) + "\n"


def _row(kind: FindingKind) -> str:
    return f"| [{kind.code}](findings/{kind.code}.md) | {kind.severity} | {kind.title} |"


def contents() -> str:
    """Return the page that lists all codes."""
    written = [*_HEAD]
    for subject, kinds in subjects().items():
        table = ["| code | severity | finding |", "|---|---|---|", *map(_row, kinds)]
        written += [f"## {subject}", "\n".join(table)]
    return _written(written)


def page(kind: FindingKind) -> str:
    """Return the page about a code."""
    return _written(
        [
            f"# {kind.code}",
            f"**{kind.title}.** Severity: {kind.severity}.",
            _below(kind.meaning),
            f"*Why it matters.* {_below(kind.why)}",
            f"*What to do.* {_below(kind.what_to_do)}",
            f"*Source.* {_source(kind)}",
        ]
    )


def pages() -> dict[Path, str]:
    """Return the text of each generated file."""
    return {PAGE: contents()} | {FOLDER / f"{code}.md": page(kind) for code, kind in catalogue().items()}


def write_pages() -> None:
    """Write all files, and delete those of codes that no longer exist."""
    made = pages()
    FOLDER.mkdir(exist_ok=True)
    for path in set(FOLDER.iterdir()) - set(made):
        path.unlink()
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages()
