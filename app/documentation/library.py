"""The pages of docs/ that are served, and their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.documentation.markdown import Article, Section, read_sections, read_summary, render_article
from app.web.rendering import ROOT

DOCS_DIR = ROOT / "docs"
SHELVES = {
    "tutorial": ("end-to-end", "coming-from-cfsizer"),
    "how-to": (
        "overview", "searching", "quick-calculator", "editing-a-plan", "comparing-versions", "scenarios",
        "losing-a-cf", "upgrades-and-growth",
        "filling-up", "choosing-thresholds", "backup-and-recovery", "smds-job", "what-runs-today", "merging-a-policy",
        "linting-a-policy", "provisioning", "uploading", "usage", "simulating", "using-a-fitted-curve",
        "simulating-depth-events", "reading-depth-events", "queue-depths", "cluster-decisions", "cluster-load",
        "why-not-reallocated",
    ),
    "reference": (
        "plan-document", "command-line", "rest-api", "findings", "figures", "problems", "usage-history", "smf-records",
        "other-inputs", "glossary",
    ),
    "explanation": ("reading-a-result", "assumptions", "fitted-curves", "forecasts", "depth-events"),
    "operations": ("settings", "security", "nightly", "scale", "clusters"),
    "contributing": (),
    "decisions": (),
}  # fmt: skip
"""The folders of docs/ and their pages in reading order; pages that are not listed follow, sorted by name."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A page: its address below /docs, its title, and its lead sentence, if it has one."""

    slug: str
    title: str
    about: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """The pages of a folder."""

    title: str
    entries: tuple[Entry, ...]


@cache
def _files() -> dict[str, Path]:
    """Return the files of all pages by the addresses of the pages, in reading order."""
    found = {
        path.relative_to(DOCS_DIR).with_suffix("").as_posix(): path for path in sorted(DOCS_DIR.rglob("*.md"))
    }
    first = [
        slug for folder, names in SHELVES.items() for name in names if (slug := f"{folder}/{name}") in found
    ]
    folders = list(SHELVES)

    def place(slug: str) -> tuple[int, bool, int, bool, str]:
        folder, _, _ = slug.partition("/")
        shelf = folders.index(folder) if folder in folders else len(folders)
        # In a folder, the page that lists the others comes before them.
        listed = first.index(slug) if slug in first else len(first)
        return shelf, listed == len(first), listed, not slug.endswith("README"), slug

    order = sorted(found, key=place)
    return {slug: found[slug] for slug in order}


def article(slug: str) -> Article | None:
    """Return the page at an address, if its file existed when the service started."""
    # A lookup and not a path: no address can reach files outside of docs/.
    return _rendered(slug) if slug in _files() else None


@cache  # bounded, because it is called only for existing pages
def _rendered(slug: str) -> Article:
    return render_article(*_text_and_place(slug))


def _text_and_place(slug: str) -> tuple[str, str]:
    """Return the Markdown of a page, and the path of its file below docs/."""
    path = _files()[slug]
    return path.read_text(encoding="utf-8"), path.relative_to(DOCS_DIR).as_posix()


def sections() -> Iterator[tuple[str, tuple[Section, ...]]]:
    """Yield the address and the text of every page, divided at its headings, in reading order."""
    for slug in _files():
        yield slug, read_sections(_text_and_place(slug)[0])


def moved(slug: str) -> str | None:
    """Return the new address of a page that was moved into a folder; None for other addresses."""
    return next((f"{folder}/{slug}" for folder, names in SHELVES.items() if slug in names), None)


@cache
def shelves() -> tuple[Shelf, ...]:
    """Return all pages, one shelf for each folder."""
    groups: dict[str, list[Entry]] = {}
    for slug in _files():
        folder, _, _ = slug.rpartition("/")
        name = folder.replace("-", " ").replace("/", ", ").capitalize() or "More"
        page = read_summary(*_text_and_place(slug))
        groups.setdefault(name, []).append(Entry(slug, page.title, page.lead))
    return tuple(Shelf(name, tuple(entries)) for name, entries in groups.items())


def neighbours(slug: str) -> tuple[Entry | None, Entry | None]:
    """Return the previous and the next page, in reading order."""
    entries = [entry for shelf in shelves() for entry in shelf.entries]
    at = next(index for index, entry in enumerate(entries) if entry.slug == slug)
    return (entries[at - 1] if at else None, entries[at + 1] if at + 1 < len(entries) else None)
