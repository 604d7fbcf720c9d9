"""Which pages of docs/ are served, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.documentation.markdown import Article, render_article
from app.web.rendering import ROOT

DOCS_DIR = ROOT / "docs"
FOR_PLANNERS = (
    "quick-calculator", "coming-from-cfsizer", "end-to-end", "editing-a-plan", "comparing-versions",
    "uploading", "usage", "usage-history", "other-inputs", "smf-records", "simulating", "nightly", "clusters", "forecasts", "using-a-fitted-curve", "fitted-curves", "plan-document", "losing-a-cf", "upgrades-and-growth", "scenarios", "filling-up", "choosing-thresholds", "backup-and-recovery", "smds-job", "depth-events", "simulating-depth-events", "reading-depth-events", "queue-depths", "cluster-decisions", "cluster-load", "why-not-reallocated", "what-runs-today", "merging-a-policy", "linting-a-policy", "command-line", "rest-api", "provisioning", "reading-a-result", "findings", "assumptions",
    "figures", "glossary", "settings", "security", "problems",
)  # fmt: skip
"""Read in this order; whatever else lies in docs/ follows by name, its folders on shelves of their own."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One page: its address below /docs, its title, and what it is for where it says so at once."""

    slug: str
    title: str
    about: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """Pages that belong together."""

    title: str
    entries: tuple[Entry, ...]


@cache
def _articles() -> dict[str, Article]:
    found = {
        path.relative_to(DOCS_DIR).with_suffix("").as_posix(): path for path in sorted(DOCS_DIR.rglob("*.md"))
    }
    first = [slug for slug in FOR_PLANNERS if slug in found]
    # In a folder, the page that lists the others comes before them.
    others = sorted(found, key=lambda slug: (slug.rpartition("/")[0], not slug.endswith("README"), slug))
    order = first + [slug for slug in others if slug not in first]
    return {slug: _load(found[slug]) for slug in order}


def _load(path: Path) -> Article:
    return render_article(path.read_text(encoding="utf-8"), at=path.relative_to(DOCS_DIR).as_posix())


def article(slug: str) -> Article | None:
    """The page at that address; only files that were there when the service started."""
    return _articles().get(slug)


@cache
def shelves() -> tuple[Shelf, ...]:
    """All pages: those for planners, the others at the top of docs/, and one shelf for each folder."""
    groups: dict[str, list[Entry]] = {"For planners": [], "More": []}
    for slug, page in _articles().items():
        folder, _, _ = slug.rpartition("/")
        if folder:
            name = folder.replace("-", " ").replace("/", ", ").capitalize()
        else:
            name = "For planners" if slug in FOR_PLANNERS else "More"
        groups.setdefault(name, []).append(Entry(slug, page.title, page.lead))
    return tuple(Shelf(name, tuple(entries)) for name, entries in groups.items() if entries)


def neighbours(slug: str) -> tuple[Entry | None, Entry | None]:
    """The page before and the page after, in reading order."""
    entries = [entry for shelf in shelves() for entry in shelf.entries]
    at = next(index for index, entry in enumerate(entries) if entry.slug == slug)
    return (entries[at - 1] if at else None, entries[at + 1] if at + 1 < len(entries) else None)
