"""Lists as tables that can be sorted, filtered, paged, and saved as CSV.

A list is declared once, as a `ListTable` with its columns. The page, the links of its headings, the form that filters
it and the file follow from the declaration; docs/contributing/adding-a-list.md shows how.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any, Generic, Literal, TypeAlias, TypeVar
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import Response
from markupsafe import Markup

from app.errors import FieldsInvalid
from app.paging import USUAL_PER_PAGE, ListRequest, PageRequest, ResultPage, Sort, in_order
from app.web.csv_files import Cell, csv_text
from app.web.file_names import file_name
from app.web.paging import page_of_address
from app.web.rendering import count, percent_bare, short, when
from app.web.sparklines import spark_path
from planner_core.errors import FieldProblem

Row = TypeVar("Row")

Kind = Literal["text", "name", "words", "number", "use", "urgency", "date", "sparkline", "tick"]
"""How the values of a column are shown.

- `text`, `name`: texts; names of z/OS are in a fixed-width font.
- `words`: sentences, which get a wider column, and on narrow screens the whole width.
- `number`: whole numbers, or numbers with few decimals.
- `use`: a percentage in use, with a bar, and a word where it is high or full.
- `urgency`: a text with a severity, such as "Full now".
- `date`: a day, or a time in UTC.
- `sparkline`: a small line through a sequence of values.
- `tick`: a box that selects the row, for the form around the table.
"""
Severity = Literal["", "error", "warning", "info"]
Place = Literal["page and file", "page", "file"]
Value: TypeAlias = "str | int | float | Fraction | date | datetime | Sequence[float | None] | None"

HIGH_PERCENT, FULL_PERCENT = 80, 100
"""From these percentages, use is called high, the default of FULLTHRESHOLD, and full."""
LONGEST_SEARCH = 100
EVERYTHING = PageRequest(per_page=1_000_000)
"""The request for a file, which has no pages: more rows than any list has."""

_DASH = "\N{EN DASH}"
_DIGITS = 3
_HIGHEST_FIRST = frozenset[Kind]({"number", "use", "date", "sparkline"})
_DIRECTIONS: Mapping[Kind, tuple[str, str]] = {
    "number": ("lowest first", "highest first"),
    "use": ("lowest first", "highest first"),
    "date": ("oldest first", "newest first"),
    "urgency": ("most urgent first", "least urgent first"),
}
_UTC_TIME = Markup('<time datetime="{}">{}</time>')
_LETTERS = ("A to Z", "Z to A")


@dataclass(frozen=True, slots=True)
class Link:
    """A link in a cell that has several."""

    text: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCell:
    """A cell with more than its value."""

    value: Value = None
    """The value in the file; on the page too, unless there is a text."""
    text: str | Markup = ""
    """The text on the page, instead of the value."""
    note: str | Markup = ""
    """A remark after it."""
    href: str = ""
    """The address of a link, without the path of a proxy."""
    severity: Severity = ""
    tag: str = ""
    """A short mark, such as `simulated`."""
    peak: float | Fraction | None = None
    """A second percentage that the bar of a use marks with a line; the remark states it in words."""
    links: Sequence[Link] = ()
    """Several links instead of one text."""
    is_ticked: bool = False
    """Whether the box of a `tick` is selected at first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Generic[Row]):
    """A column of a list."""

    key: str
    """The name of the column in addresses and files."""
    title: str
    read: Callable[[Row], TableCell | Value]
    """Returns the cell of a row, or just its value."""
    kind: Kind = "text"
    unit: str = ""
    can_sort: bool = True
    highest: float | None = None
    """The value at the upper edge of a sparkline, such as 100 for percentages; None: the highest value of its row."""
    place: Place = "page and file"

    @property
    def is_right(self) -> bool:
        """Whether the values are numbers, which are aligned at their last digit."""
        return self.kind == "number"

    @property
    def label(self) -> str:
        """The heading with its unit, for places where a column has no heading of its own."""
        return f"{self.title}, {self.unit}" if self.unit else self.title

    @property
    def first_direction(self) -> Sort:
        """The order of the first click on the heading: the highest, newest or most urgent row first."""
        return Sort(self.key, self.kind in _HIGHEST_FIRST)

    def cell(self, row: Row) -> TableCell:
        """Return the cell of a row."""
        found = self.read(row)
        return found if isinstance(found, TableCell) else TableCell(value=found)

    def words(self, sort: Sort) -> str:
        """Return an order in words: `In use: highest first`."""
        return f"{self.title}: {_DIRECTIONS.get(self.kind, _LETTERS)[sort.is_descending]}"


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a column, with the link that sorts by it."""

    title: str
    unit: str
    kind: Kind
    is_right: bool
    href: str
    """Empty if the list cannot be sorted by this column."""
    direction: Literal["", "ascending", "descending"]


@dataclass(frozen=True, slots=True)
class SortChoice:
    """An entry of the selection of orders, for screens without headings."""

    value: str
    text: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell as the page shows it."""

    kind: Kind
    is_right: bool
    label: str
    name: str
    text: str | Markup
    cell: TableCell
    severity: Severity
    word: str
    """The word for the severity of a percentage in use."""
    drawing: str
    """The width of a bar, or the path of a line; empty if the cell has none."""
    peak: str
    """The position of the line that marks a peak in a bar; empty if there is none."""


@dataclass(frozen=True, slots=True)
class ListView:
    """A list as its page shows it; `templates/_tables.html` renders it."""

    name: str
    path: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[ShownCell, ...], ...]
    result: ResultPage[Any]
    choices: tuple[SortChoice, ...]
    search: str
    search_label: str
    query: Mapping[str, str]
    """The parameters of the address without the page."""
    file: str
    """The address of the file; empty if the list has none."""
    anchor: str = ""
    parameter: str = "sort"
    """The parameter of the address that requests the order."""
    kept: Mapping[str, str] = field(default_factory=dict)
    """Other parameters of the page, which sorting and filtering keep."""


# Without slots: Python 3.11 cannot create a parametrized instance, ListTable[Row](...), of a frozen class with slots.
@dataclass(frozen=True, kw_only=True)
class ListTable(Generic[Row]):
    """The declaration of a list."""

    name: str
    """The name of the rows, in the plural: `measured structures`. Without its last letter, it is the singular."""
    path: str
    columns: tuple[Column[Row], ...]
    sort: Sort
    """The default order."""
    search_label: str = ""
    """The label of the field that filters the list; empty if it has none."""
    has_file: bool = True
    file_path: str = ""
    """The address of the file, if it is not the path with .csv."""
    anchor: str = ""
    """The part of the page to which sorting and filtering lead, such as `#structures`; empty for its top."""
    parameter: str = "sort"
    """The parameter of the address that requests the order; another one for a second list on the same page."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys by which the list can be sorted."""
        return tuple(column.key for column in self.columns if column.can_sort and column.place != "file")

    def request(self, request: Request, *, per_page: int = USUAL_PER_PAGE) -> ListRequest:
        """Return the part of the list that the address of a page requests.

        Raises:
            FieldsInvalid: The list cannot be sorted by this key.
        """
        sort = sort_of(request.query_params.get(self.parameter, ""), self.keys, self.parameter) or self.sort
        return ListRequest(page_of_address(request, per_page=per_page), sort, search_of(request))

    def file_request(self, request: Request) -> ListRequest:
        """Return the request for all rows that match the address of a file.

        Raises:
            FieldsInvalid: The list cannot be sorted by this key.
        """
        asked = self.request(request)
        return ListRequest(EVERYTHING, asked.sort, asked.search)

    def view(
        self, found: ResultPage[Row], asked: ListRequest, kept: Mapping[str, str] | None = None
    ) -> ListView:
        """Return one page of the list as its page shows it. `kept` are other parameters of the page."""
        sort = asked.sort or self.sort
        columns = tuple(column for column in self.columns if column.place != "file")
        kept = dict(kept or {})
        searched = {"search": asked.search} if asked.search else {}
        query = searched | ({} if sort == self.sort else {self.parameter: str(sort)})
        return ListView(
            name=self.name,
            path=self.path,
            headings=tuple(self._heading(column, sort, kept | searched) for column in columns),
            rows=tuple(tuple(_shown(column, column.cell(row)) for column in columns) for row in found.items),
            result=found,
            choices=tuple(self._choices(columns, sort)),
            search=asked.search,
            search_label=self.search_label,
            query=kept | query,
            file=_address(self.file_path or f"{self.path}.csv", query) if self.has_file else "",
            anchor=self.anchor,
            parameter=self.parameter,
            kept=kept,
        )

    def view_all(self, rows: Sequence[Row], request: Request) -> ListView:
        """Return all of a list that is in memory as its page shows it, sorted as the address requests.

        Raises:
            FieldsInvalid: The list cannot be sorted by this key.
        """
        sort = sort_of(request.query_params.get(self.parameter, ""), self.keys, self.parameter) or self.sort
        column = next(each for each in self.columns if each.key == sort.key)

        def key(row: Row) -> Value:
            value = column.cell(row).value
            return value.casefold() if isinstance(value, str) else value

        ordered = in_order(rows, sort, key)
        everything = PageRequest(per_page=max(len(ordered), 1))
        return self.view(ResultPage.of(ordered, len(ordered), everything), ListRequest(everything, sort))

    def kept(self, request: Request) -> Mapping[str, str]:
        """Return the parameter with the order of this list, for another list on the same page."""
        text = request.query_params.get(self.parameter, "")
        return {self.parameter: text} if text else {}

    def file(self, rows: Iterable[Row]) -> Response:
        """Return rows as a CSV file for download."""
        columns = tuple(
            column
            for column in self.columns
            if column.place != "page" and column.kind not in {"tick", "sparkline"}
        )
        # A generator, because rows may be read from the database one portion at a time.
        lines = (tuple(_file_value(column, column.cell(row)) for column in columns) for row in rows)
        text = csv_text((tuple(column.key for column in columns), lines))
        name = file_name(self.name.replace(" ", "-"))
        headers = {"content-disposition": f'attachment; filename="{name}.csv"'}
        return Response(text, media_type="text/csv", headers=headers)

    def _heading(self, column: Column[Row], sort: Sort, searched: Mapping[str, str]) -> Heading:
        direction: Literal["", "ascending", "descending"] = ""
        target = column.first_direction
        if column.key == sort.key:
            direction = "descending" if sort.is_descending else "ascending"
            target = Sort(column.key, not sort.is_descending)
        query = {**searched} if target == self.sort else {**searched, self.parameter: str(target)}
        return Heading(
            column.title,
            column.unit,
            column.kind,
            column.is_right,
            _address(self.path, query) + self.anchor if column.can_sort else "",
            direction,
        )

    def _choices(self, columns: Iterable[Column[Row]], sort: Sort) -> Iterable[SortChoice]:
        for column in columns:
            if column.can_sort:
                first = column.first_direction
                for each in (first, Sort(first.key, not first.is_descending)):
                    yield SortChoice(str(each), column.words(each), each == sort)


def sort_of(text: str, keys: Collection[str], parameter: str = "sort") -> Sort | None:
    """Return the order that the parameter of an address requests, or None if it is empty.

    Raises:
        FieldsInvalid: The list cannot be sorted by this key.
    """
    if not text:
        return None
    sort = Sort(text.removeprefix("-"), text.startswith("-"))
    if sort.key in keys:
        return sort
    known = ", ".join(keys)
    raise FieldsInvalid(
        FieldProblem(parameter, f"must be one of {known}; a minus sign in front reverses the order"),
        message=f"The list cannot be sorted by “{text[:LONGEST_SEARCH]}”. It can be sorted by {known}.",
    )


def search_of(request: Request) -> str:
    """Return the text by which the address of a page filters a list."""
    return search_text(request.query_params.get("search", ""))


def search_text(text: str) -> str:
    """Return a text to search for, with single blanks and a limited length."""
    # PostgreSQL rejects texts with a null character.
    return " ".join(text.replace("\0", " ").split())[:LONGEST_SEARCH]


def use_severity(percent: float | Fraction) -> tuple[Severity, str]:
    """Return the severity of a percentage in use, and the word for it; both are empty below the default FULLTHRESHOLD."""
    if percent >= FULL_PERCENT:
        return "error", "full"
    return ("warning", "high") if percent >= HIGH_PERCENT else ("", "")


def _address(path: str, query: Mapping[str, str]) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _shown(column: Column[Any], cell: TableCell) -> ShownCell:
    severity, word, drawing, peak = cell.severity, "", "", ""
    value = cell.value
    if column.kind == "use" and isinstance(value, (int, float, Fraction)):
        severity, word = use_severity(value)
        drawing = _at_most_full(value)
        peak = "" if cell.peak is None else _at_most_full(cell.peak)
    elif column.kind == "sparkline" and isinstance(value, Sequence) and not isinstance(value, str):
        drawing = spark_path(value, highest=column.highest)
    return ShownCell(
        kind=column.kind,
        is_right=column.is_right,
        label=column.label,
        name=column.key,
        text=cell.text or _text(column, value),
        cell=cell,
        severity=severity,
        word=word,
        drawing=drawing,
        peak=peak,
    )


def _at_most_full(percent: float | Fraction) -> str:
    """Return a percentage as a length of the bar."""
    return f"{min(max(float(percent), 0), FULL_PERCENT):.4g}"


def _text(column: Column[Any], value: Value) -> str | Markup:
    """Return the text of a value; a dash if it is not known."""
    kind = column.kind
    if kind == "sparkline" or value is None or value == "":
        return "" if kind == "sparkline" else _DASH
    if isinstance(value, datetime):
        return _UTC_TIME.format(*_utc_texts(value)) if column.unit == "UTC" else when(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (float, Fraction, int)):
        if kind == "use":
            return percent_bare(value)
        return count(value) if isinstance(value, int) else short(float(value))
    return str(value)


def _utc_texts(value: datetime) -> tuple[str, str]:
    """Return a time for programs and for readers, to the minute; the heading states the zone."""
    known = value.astimezone(UTC)
    return known.isoformat(timespec="seconds"), known.strftime("%Y-%m-%d %H:%M")


def _file_value(column: Column[Any], cell: TableCell) -> Cell:
    value = cell.value
    if value is None:
        # A text without a value, such as "Full now", is all that the page has.
        return str(cell.text) or None if column.kind == "urgency" else None
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (float, Fraction)):
        return round(float(value), _DIGITS)
    if isinstance(value, (str, int)):
        return value
    return None
