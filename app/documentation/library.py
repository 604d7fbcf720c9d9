"""The pages of docs/ that are served, their groups and their order.

A page may be divided: the files in the folder with its name are its parts, in the order in which the page links them.
The contents list only the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.documentation.articles import Article, Section
from app.web.rendering import ROOT

DOCS_DIR = ROOT / "docs"
SHELVES = {
    "tutorial": ("end-to-end", "coming-from-cfsizer"),
    "how-to": (
        "overview", "searching", "quick-calculator", "importing-tables", "editing-a-plan", "comparing-versions", "audit-trail", "scenarios", "losing-a-cf",
        "upgrades-and-growth",
        "filling-up", "surviving-an-outage", "choosing-thresholds", "backup-and-recovery", "smds-job", "what-runs-today", "merging-a-policy",
        "other-structures",
        "linting-a-policy", "provisioning", "ansible", "zosmf-workflow", "zowe", "connections", "zosmf-policies", "rmf-live", "uploading", "smf-from-the-data-gatherer", "collecting-data", "usage", "structure-health", "simulating", "using-a-fitted-curve",
        "curves-from-sizing-answers",
        "simulating-depth-events", "reading-depth-events", "queue-depths", "cluster-decisions", "cluster-load",
        "why-not-reallocated", "assistants", "set-up-accounts", "grafana", "notices",
    ),
    "explanation": ("reading-a-result", "assumptions", "fitted-curves", "fits-to-sizing-points", "forecasts", "survival", "depth-events"),
    "reference": (
        "plan-document", "command-line", "rest-api", "findings", "figures", "problems", "usage-history", "smf-records", "smf-records-json",
        "other-inputs", "glossary", "licenses",
    ),
    "operations": (
        "settings", "backup", "security", "security-inventory", "asvs", "deployment", "reverse-proxy", "openid-connect",
        "trusted-header", "monitoring", "nightly", "connections-in-operation", "scale", "clusters",
    ),
    "contributing": (),
    "decisions": (),
}  # fmt: skip
"""The folders of docs/ and their pages in reading order; pages that are not listed follow, sorted by name."""
SUBJECTS = {
    "how-to": {
        "overview": "Overview and search",
        "quick-calculator": "Plans",
        "losing-a-cf": "What-if questions",
        "what-runs-today": "The running system",
        "uploading": "Measurements",
        "simulating-depth-events": "Queue depth events",
        "cluster-decisions": "Clusters",
        "assistants": "Assistants",
        "set-up-accounts": "Accounts",
        "grafana": "Monitoring and notices",
    },
}
"""The subjects into which a long folder is divided, by the name of their first page; the first one begins the folder."""
PURPOSES = {
    "tutorial": "Lessons with example data, from the first plan to the policy",
    "how-to": "Instructions, one page for each task",
    "explanation": "Background: how results are calculated, and how reliable they are",
    "reference": "Keys, commands, addresses, findings and records to look up",
    "operations": "Running the service: settings, backups, security, monitoring, nightly runs, large histories",
    "contributing": "Working on cfplan itself",
    "decisions": "Reasons for the design, one record for each decision",
}
"""The purpose of each folder, in a few words."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A page: its address below /docs, its title, and its lead sentence, if it has one."""

    slug: str
    title: str
    about: str


@dataclass(frozen=True, slots=True)
class Group:
    """Pages of a folder with one subject; the title is empty in a folder that is not divided into subjects."""

    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Shelf:
    """The pages of a folder."""

    title: str
    about: str
    groups: tuple[Group, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Return all pages in reading order."""
        return tuple(entry for group in self.groups for entry in group.entries)


@cache
def _files() -> dict[str, Path]:
    """Return the files of all pages and parts by their addresses, pages in reading order."""
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
    # Here and below, because the Markdown parser is needed only when pages are read.
    from app.documentation.markdown import render_article

    return render_article(*_text_and_place(slug))


def _text_and_place(slug: str) -> tuple[str, str]:
    """Return the Markdown of a page, and the path of its file below docs/."""
    path = _files()[slug]
    return path.read_text(encoding="utf-8"), path.relative_to(DOCS_DIR).as_posix()


def entry(slug: str) -> Entry:
    """Return title and lead of an existing page."""
    from app.documentation.markdown import read_summary

    page = read_summary(*_text_and_place(slug))
    return Entry(slug, page.title, page.lead)


def sections() -> Iterator[tuple[str, tuple[Section, ...]]]:
    """Yield the address and the text of every page, divided at its headings, in reading order."""
    from app.documentation.markdown import read_sections

    for slug in _files():
        yield slug, read_sections(_text_and_place(slug)[0])


def moved(slug: str) -> str | None:
    """Return the new address of a page that was moved into a folder; None for other addresses.

    Upper and lower case are not distinguished, because anchors of findings were in lower case.
    """
    wanted = {f"{folder}/{slug}".casefold() for folder in SHELVES} | {slug.casefold()}
    return next((found for found in _files() if found.casefold() in wanted), None)


def divided_page(slug: str) -> str | None:
    """Return the address of the page of which the address is, was or might become a part; None for other addresses."""
    above, _, _ = slug.rpartition("/")
    return above if above in _parts() else None


@cache
def _parts() -> Mapping[str, tuple[str, ...]]:
    """Return the addresses of the parts of each divided page, in the order in which the page links them."""
    found: dict[str, list[str]] = {}
    for slug in _files():
        above, _, _ = slug.rpartition("/")
        if above in _files():
            found.setdefault(above, []).append(slug)
    for above, parts in found.items():
        text, _ = _text_and_place(above)
        name = re.escape(above.rpartition("/")[2])
        linked = [f"{above}/{part}" for part in re.findall(rf"\]\({name}/([\w-]+)\.md\)", text)]
        parts.sort(key=lambda part: linked.index(part) if part in linked else len(linked))
    return {above: tuple(parts) for above, parts in found.items()}


@cache
def parts(slug: str) -> tuple[Entry, ...]:
    """Return the parts of a page in reading order; empty for a page that is not divided."""
    return tuple(entry(part) for part in _parts().get(slug, ()))


@cache
def shelves() -> tuple[Shelf, ...]:
    """Return all pages except parts, one shelf for each folder."""
    groups: dict[str, list[Entry]] = {}
    for slug in _files():
        if divided_page(slug) is None:
            groups.setdefault(slug.rpartition("/")[0], []).append(entry(slug))
    return tuple(
        Shelf(
            folder.replace("-", " ").replace("/", ", ").capitalize() or "More",
            PURPOSES.get(folder, ""),
            _groups(folder, entries),
        )
        for folder, entries in groups.items()
    )


def _groups(folder: str, entries: Sequence[Entry]) -> tuple[Group, ...]:
    """Divide the pages of a folder into subjects."""
    subjects = SUBJECTS.get(folder, {})
    found: dict[str, list[Entry]] = {}
    title = next(iter(subjects.values()), "")
    for each in entries:
        title = subjects.get(each.slug.rpartition("/")[2], title)
        found.setdefault(title, []).append(each)
    return tuple(Group(title, tuple(pages)) for title, pages in found.items())


def neighbours(slug: str) -> tuple[Entry | None, Entry | None]:
    """Return the previous and the next page, in reading order.

    The pages of the contents follow each other. The parts of a page follow each other and begin after the page.
    """
    above = divided_page(slug)
    if above is None:
        entries = [each for shelf in shelves() for each in shelf.entries]
    else:
        entries = [entry(above), *parts(above)]
    at = next(index for index, each in enumerate(entries) if each.slug == slug)
    return (entries[at - 1] if at else None, entries[at + 1] if at + 1 < len(entries) else None)
