"""Lists of results, one page at a time.

A feature with a list needs four things:

1. A subclass that gives the list its member name in JSON; it is the response type of the REST endpoint::

       @dataclass(frozen=True, slots=True)
       class UploadPage(ResultPage[StoredUpload]):
           items: Annotated[tuple[StoredUpload, ...], Field(serialization_alias="uploads")]

2. A service function that takes a `PageRequest`, gives its `offset` and `per_page` to the repository and returns
   `UploadPage.of(items, total, asked)`.
3. The parameter `asked: PageParameters` of the REST endpoint, or `page_of_address(request)` on a page, both from
   `app.web.paging`.
4. On the page, one field with the result, and in the template `{{ pager(uploads, "/uploads") }}` of `_macros.html`
   (a third argument holds the other parameters of the address, such as a search).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Generic, NamedTuple, Self, TypeVar

from pydantic import Field

from planner_core.findings import Finding
from planner_core.units import ceil_div
from planner_core.wire import Answer

MOST_PER_PAGE = 200
MOST_PAGES = 1_000_000
USUAL_PER_PAGE = 50

Item = TypeVar("Item")
Row = TypeVar("Row")


class PageRequest(NamedTuple):
    """The requested page of a list, counted from 1."""

    page: int = 1
    per_page: int = USUAL_PER_PAGE

    @property
    def offset(self) -> int:
        """The number of items before this page."""
        return (self.page - 1) * self.per_page


FIRST_PAGE: Final = PageRequest()


class Sort(NamedTuple):
    """The order of a list: a key that the list declares, and the direction. The names of the rows decide between ties."""

    key: str
    is_descending: bool = False

    def __str__(self) -> str:
        """Return the text of an address: `-used` sorts by `used`, the highest first."""
        return f"-{self.key}" if self.is_descending else self.key


@dataclass(frozen=True, slots=True)
class ListRequest:
    """The requested part of a list that can be sorted and filtered."""

    page: PageRequest = FIRST_PAGE
    sort: Sort | None = None
    """The order; None means the default order of the list."""
    search: str = ""
    """A part of the names that are searched; empty for all rows."""


def in_order(rows: Iterable[Row], sort: Sort, key: Callable[[Row], Any]) -> list[Row]:
    """Return rows sorted by a key in the requested direction; rows without a value are last in both directions.

    Rows with equal keys keep their order. The database sorts lists that it also divides into pages
    (`app.database.ordering`).
    """
    known: list[Row] = []
    unknown: list[Row] = []
    for row in rows:
        (unknown if key(row) is None else known).append(row)
    return sorted(known, key=key, reverse=sort.is_descending) + unknown


@dataclass(frozen=True, slots=True)
class ResultPage(Answer, Generic[Item]):
    """One page of a list, with the total number of items."""

    items: tuple[Item, ...]
    total: Annotated[int, Field(description="Items on all pages.")]
    page: int
    pages: Annotated[int, Field(description="Number of pages, at least 1.")]
    per_page: int
    findings: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, items: Sequence[Item], total: int, asked: PageRequest) -> Self:
        """Return the requested page; a page after the last one is empty."""
        return cls(
            items=tuple(items),
            total=total,
            page=asked.page,
            pages=max(ceil_div(total, asked.per_page), 1),
            per_page=asked.per_page,
        )
