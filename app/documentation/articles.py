"""Pages of the documentation after they were read."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below the title: its level, text and anchor."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The title of a page and its lead: the first sentence below the title, empty if a heading comes first."""

    title: str
    lead: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of a page and the text below it, without markup; the anchor of the title is empty."""

    heading: str
    anchor: str
    text: str


@dataclass(frozen=True, slots=True)
class Article:
    """A rendered page."""

    title: str
    html: Markup
    headings: tuple[Heading, ...]
