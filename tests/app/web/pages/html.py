"""HTML parsed into a tree with the standard library, as far as the tests need it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser

VOID = frozenset({"meta", "link", "input", "br", "hr", "img", "wbr"})


@dataclass(eq=False)
class Element:
    """An element with its attributes and its content."""

    tag: str
    attributes: dict[str, str]
    inside: list[Element | str] = field(default_factory=list)

    def __getitem__(self, name: str) -> str:
        return self.attributes[name]

    def get(self, name: str) -> str | None:
        return self.attributes.get(name)

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    @property
    def raw_text(self) -> str:
        """Return all text inside, unchanged."""
        return "".join(part if isinstance(part, str) else part.raw_text for part in self.inside)

    @property
    def text(self) -> str:
        """Return all text inside, with single blanks."""
        return re.sub(r"\s+", " ", self.raw_text).strip()

    def walk(self) -> Iterator[Element]:
        """Return this element and its descendants, in document order."""
        return iter(self._walked)

    @cached_property
    def _walked(self) -> list[Element]:
        """The elements in order, because tests of pages look for many things in one tree, which does not change."""
        found: list[Element] = []
        waiting: list[Element | str] = [self]
        while waiting:
            part = waiting.pop()
            if isinstance(part, Element):
                found.append(part)
                waiting.extend(reversed(part.inside))
        return found

    def all(self, tag: str | None = None, **attributes: str) -> list[Element]:
        """Return the elements with this tag and these attributes; `class_` is one of the classes."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        class_name = wanted.pop("class", None)
        return [
            element
            for element in self.walk()
            if (tag is None or element.tag == tag)
            and (class_name is None or class_name in element.classes)
            and all(element.get(name) == value for name, value in wanted.items())
        ]

    def one(self, tag: str | None = None, **attributes: str) -> Element:
        """Return the only such element."""
        found = self.all(tag, **attributes)
        assert len(found) == 1, f"{len(found)} of {tag} {attributes}"
        return found[0]


class _Reader(HTMLParser):
    """Builds the tree; an unbalanced tag is an error."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Element("#page", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice: {names}"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def read(text: str) -> Element:
    """Return the page as a tree; bad nesting is an error."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == [reader.root], [element.tag for element in reader.open]
    return reader.root
