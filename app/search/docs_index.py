"""The documentation, divided at its headings, for searches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from app.documentation import library
from app.search.query import SearchQuery

EXCERPT = 180
"""Length of an excerpt in characters."""
BEFORE_MATCH = 50


class IndexedSection(NamedTuple):
    """A heading of a page with the text below it, and both in lower case."""

    slug: str
    title: str
    heading: str
    anchor: str
    text: str
    lower_heading: str
    lower_text: str


@dataclass(frozen=True, slots=True)
class DocsHit:
    """The section of a page that matches a search best."""

    title: str
    heading: str
    path: str
    excerpt: str


@cache
def _index() -> tuple[IndexedSection, ...]:
    """Return all sections in reading order. The files do not change while the service runs."""
    return tuple(_sections())


def _sections() -> Iterator[IndexedSection]:
    for slug, sections in library.sections():
        title = sections[0].heading or slug if sections else slug
        for each in sections:
            yield IndexedSection(
                slug, title, each.heading, each.anchor, each.text, each.heading.lower(), each.text.lower()
            )


def search_docs(query: SearchQuery) -> list[DocsHit]:
    """Return the pages that have all words of the search, best first, each with its best section.

    Words in a title count more than words in a heading, and those more than words in a text.
    """
    words = [word.plain for word in query.words]
    if not all(words):
        return []
    best: dict[str, tuple[int, int, IndexedSection]] = {}
    for at, section in enumerate(_index()):
        score = _score(section, words)
        if score and (section.slug not in best or score < best[section.slug][0]):
            best[section.slug] = (score, at, section)
    return [_hit(section, words) for _, _, section in sorted(best.values(), key=lambda found: found[:2])]


def address_of(code: str) -> str | None:
    """Return the address of the page or section about a finding; None if there is none."""
    wanted = code.lower()
    return _addresses().get(wanted)


@cache
def _addresses() -> dict[str, str]:
    """Return the addresses of pages and sections by their lower-case headings, those of whole pages first."""
    found: dict[str, str] = {}
    for section in sorted(_index(), key=lambda each: bool(each.anchor)):
        found.setdefault(section.lower_heading, _path(section))
    return found


def _score(section: IndexedSection, words: list[str]) -> int:
    """Return how well a section matches, 1 for the best; 0 if a word is missing."""
    if all(word in section.lower_heading for word in words):
        is_equal = section.lower_heading == " ".join(words)
        return (1 if is_equal else 2) if not section.anchor else (3 if is_equal else 4)
    both = f"{section.title.lower()} {section.lower_heading} {section.lower_text}"
    return 5 if all(word in both for word in words) else 0


def _hit(section: IndexedSection, words: list[str]) -> DocsHit:
    heading = section.heading if section.anchor else ""
    return DocsHit(section.title, heading, _path(section), _excerpt(section, words))


def _path(section: IndexedSection) -> str:
    return f"/docs/{section.slug}" + (f"#{section.anchor}" if section.anchor else "")


def _excerpt(section: IndexedSection, words: list[str]) -> str:
    """Return the text around the first match, cut between words."""
    places = [at for word in words if (at := section.lower_text.find(word)) >= 0]
    start = max(min(places, default=0) - BEFORE_MATCH, 0)
    text = section.text
    if start:
        start = text.find(" ", start) + 1
    cut = text[start : start + EXCERPT]
    if start + EXCERPT < len(text):
        cut = cut.rpartition(" ")[0] + " ..."
    return ("... " if start else "") + cut
