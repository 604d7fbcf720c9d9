from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction

import pytest
from sqlalchemy import Integer, cast, literal, null, select, union_all
from starlette.requests import Request

from app.database.engine import Database
from app.database.ordering import ordered_by
from app.errors import FieldsInvalid
from app.paging import ListRequest, PageRequest, ResultPage, Sort, in_order
from app.web.rendering import environment
from app.web.sparklines import spark_path
from app.web.tables import Column, ListTable, ListView, TableCell, sort_of, use_severity
from tests.app.web.pages.html import Element, read

NO_REMARK = TableCell()


@dataclass(frozen=True)
class Pool:
    name: str
    used: float | Fraction | None = None
    queues: int = 0
    last_full: date | datetime | None = None
    remark: TableCell = NO_REMARK


POOLS = ListTable[Pool](
    name="measured pools",
    path="/pools",
    columns=(
        Column(key="name", title="Pool", kind="name", read=lambda pool: TableCell(value=pool.name, href=f"/pools/{pool.name}")),
        Column(key="urgency", title="Urgency", kind="urgency", read=lambda pool: pool.remark),
        Column(key="used", title="In use", unit="%", kind="use", read=lambda pool: pool.used),
        Column(key="queues", title="Queues", kind="number", read=lambda pool: pool.queues),
        Column(key="last_full", title="Last full", kind="date", read=lambda pool: pool.last_full),
        Column(key="plans", title="Plans", can_sort=False, place="page", read=lambda pool: pool.name),
        Column(key="total", title="Total", kind="number", place="file", read=lambda pool: 2 * pool.queues),
    ),
    sort=Sort("urgency"),
    search_label="Name of pool",
)  # fmt: skip


def address(query: str) -> Request:
    return Request(
        {"type": "http", "headers": [], "query_string": query.encode(), "path": "/pools", "method": "GET"}
    )


def view(*pools: Pool, query: str = "", total: int | None = None) -> ListView:
    asked = POOLS.request(address(query))
    return POOLS.view(ResultPage[Pool].of(pools, len(pools) if total is None else total, asked.page), asked)


def rendered(*pools: Pool, query: str = "") -> Element:
    template = environment().from_string(
        '{% from "_tables.html" import list_table with context %}{{ list_table(view) }}'
    )
    return read(
        template.render(
            view=view(*pools, query=query), url=lambda path: f"/below{path}", site=None, static=None
        )
    )


# ---- the request -----------------------------------------------------------------------------------------------------


def test_list_without_parameters_has_its_default_order() -> None:
    assert POOLS.request(address("")) == ListRequest(PageRequest(), Sort("urgency"), "")


def test_sort_with_a_minus_sign_is_descending() -> None:
    asked = POOLS.request(address("sort=-used&search=%20CF%2000%20&page=3"))
    assert asked == ListRequest(PageRequest(3), Sort("used", is_descending=True), "CF 00")


@pytest.mark.parametrize("key", ["nothing", "--used", "plans", "total", "USED"])
def test_unknown_sort_key_is_refused_with_the_known_keys(key: str) -> None:
    with pytest.raises(
        FieldsInvalid, match="It can be sorted by name, urgency, used, queues, last_full"
    ) as found:
        POOLS.request(address(f"sort={key}"))
    (problem,) = found.value.problems
    assert problem.field == "sort"


def test_long_unknown_sort_key_is_repeated_only_in_part() -> None:
    with pytest.raises(FieldsInvalid) as found:
        sort_of("x" * 5000, ["name"])
    assert len(str(found.value)) < 300


def test_search_text_has_no_null_characters_and_a_limited_length() -> None:
    assert POOLS.request(address("search=A%00B" + "C" * 200)).search == "A B" + "C" * 97


# ---- order -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("is_descending", "expected"), [(False, "CABD"), (True, "ABCD")])
def test_rows_with_equal_or_missing_values_keep_their_order(is_descending: bool, expected: str) -> None:
    rows = [Pool("D"), Pool("A", 50), Pool("B", 50), Pool("C", 10)]
    found = in_order(rows, Sort("used", is_descending), lambda pool: pool.used)
    assert "".join(pool.name for pool in found) == expected


@pytest.mark.parametrize(("is_descending", "expected"), [(False, "CABDE"), (True, "ABCDE")])
def test_database_lists_unknown_values_last_and_ties_by_name(
    database: Database, is_descending: bool, expected: str
) -> None:
    values = {"E": None, "B": 50, "D": None, "A": 50, "C": 10}
    rows = union_all(
        *(
            select(literal(name).label("name"), cast(null() if used is None else used, Integer).label("used"))
            for name, used in values.items()
        )
    ).subquery()
    order = ordered_by(Sort("used", is_descending), {"used": rows.c.used}, ties=(rows.c.name,))
    with database.session(writes=False) as session:
        assert "".join(session.scalars(select(rows.c.name).order_by(*order))) == expected


# ---- the page --------------------------------------------------------------------------------------------------------


def test_headings_state_the_order_and_link_to_others() -> None:
    headings = {each.title: each for each in view(query="search=CF&sort=-used").headings}
    assert headings["In use"].direction == "descending"
    assert headings["In use"].href == "/pools?search=CF&sort=used"
    assert headings["Queues"].direction == ""
    assert headings["Queues"].href == "/pools?search=CF&sort=-queues"
    assert headings["Pool"].href == "/pools?search=CF&sort=name"
    assert headings["Urgency"].href == "/pools?search=CF"
    assert headings["Plans"].href == ""
    assert "Total" not in headings


def test_pages_and_file_keep_order_and_search() -> None:
    shown = view(Pool("A"), query="search=a&sort=-used", total=500)
    assert shown.query == {"search": "a", "sort": "-used"}
    assert shown.file == "/pools.csv?search=a&sort=-used"
    assert view(Pool("A"), query="sort=urgency").file == "/pools.csv"


def test_selection_of_orders_describes_each_direction() -> None:
    choices = {each.value: each for each in view(query="sort=name").choices}
    assert choices["-used"].text == "In use: highest first"
    assert choices["last_full"].text == "Last full: oldest first"
    assert choices["name"].text == "Pool: A to Z"
    assert choices["urgency"].text == "Urgency: most urgent first"
    assert [each.value for each in choices.values() if each.is_current] == ["name"]


@pytest.mark.parametrize(
    ("percent", "expected"),
    [
        (79.9, ("", "")),
        (80, ("warning", "high")),
        (99.99, ("warning", "high")),
        (Fraction(100), ("error", "full")),
    ],
)
def test_high_and_full_use_has_a_severity_and_a_word(
    percent: float | Fraction, expected: tuple[str, str]
) -> None:
    assert use_severity(percent) == expected


def test_table_has_headings_bars_and_labels() -> None:
    found = rendered(
        Pool(
            "A", 130.0, 1204, date(2026, 11, 24), TableCell(text="Full now", note="twice", severity="error")
        ),
        Pool("B"),
        query="sort=-used",
    )
    (sorted_by,) = [head for head in found.all("th") if head.get("aria-sort")]
    assert (sorted_by.text, sorted_by["aria-sort"]) == ("In use %", "descending")
    first, second = found.all("tr")[1:]
    assert first.one("th").one("a")["href"] == "/below/pools/A"
    cells = {cell["data-label"]: cell for cell in first.all("td")}
    assert cells["In use, %"].one("path")["d"] == "M0 0h100v8H0z"
    assert cells["In use, %"].text.split() == ["130.0", "full"]
    assert cells["Urgency"].one("span", class_="error").text == "Full now"
    assert cells["Urgency"].text == "Full now twice"
    assert cells["Last full"].text == "2026-11-24"
    unknown = {cell["data-label"]: cell.text for cell in second.all("td")}
    assert unknown["In use, %"] == unknown["Urgency"] == unknown["Last full"] == "\N{EN DASH}"
    assert unknown["Queues"] == "0"


def test_names_and_search_texts_are_escaped() -> None:
    text = "<script>alert(1)</script>"
    found = rendered(Pool(text), query=f"search={text}")
    assert found.all("script") == []
    assert found.one("input", id="search")["value"] == text


def test_list_without_a_match_repeats_the_search() -> None:
    assert (
        "No name in the list of measured pools contains “nowhere”." in rendered(query="search=nowhere").text
    )


# ---- the file --------------------------------------------------------------------------------------------------------


def test_file_has_the_exact_values_of_its_columns() -> None:
    pools = (
        Pool("=1+1", Fraction(200, 3), 7, datetime(2026, 11, 24, 12, tzinfo=UTC), TableCell(text="Full now")),
        Pool("B"),
    )
    answer = POOLS.file(pools)
    assert answer.headers["content-disposition"] == 'attachment; filename="measured-pools.csv"'
    assert list(csv.reader(io.StringIO(bytes(answer.body).decode()))) == [
        ["name", "urgency", "used", "queues", "last_full", "total"],
        ["'=1+1", "Full now", "66.6670", "7", "2026-11-24T12:00:00Z", "14"],
        ["B", "", "", "0", "", "0"],
    ]


def test_file_request_asks_for_all_rows() -> None:
    asked = POOLS.file_request(address("sort=name&page=4&search=A"))
    assert (asked.page.offset, asked.sort, asked.search) == (0, Sort("name"), "A")
    assert asked.page.per_page >= 1_000_000


# ---- small lines -----------------------------------------------------------------------------------------------------


def test_sparkline_leaves_gaps_and_shows_single_values() -> None:
    assert spark_path([None, None]) == ""
    assert spark_path([0, 100, None, 50], highest=100) == "M1.5 18.5h0L32.5 1.5M94.5 10.0h0"


def test_sparkline_of_zeros_is_at_the_lower_edge() -> None:
    assert spark_path([0, 0]) == "M1.5 18.5h0L94.5 18.5"


# ---- lists with boxes, and without a filter --------------------------------------------------------------------------

CHOICES = ListTable[Pool](
    name="choices",
    path="/choices",
    columns=(
        Column(
            key="of",
            title="Compare",
            kind="tick",
            can_sort=False,
            read=lambda pool: TableCell(
                value=pool.name, text=f"Compare {pool.name}", is_ticked=pool.queues > 1
            ),
        ),
        Column(key="queues", title="Queues", kind="number", read=lambda pool: pool.queues),
    ),
    sort=Sort("queues"),
)


def choices(*pools: Pool) -> Element:
    asked = ListRequest(sort=CHOICES.sort)
    listed = CHOICES.view(ResultPage[Pool].of(pools, len(pools), asked.page), asked)
    template = environment().from_string(
        '{% from "_tables.html" import list_table with context %}{{ list_table(view) }}'
    )
    return read(template.render(view=listed, url=lambda path: path, site=None, static=None))


def test_boxes_are_ticked_as_their_cells_state() -> None:
    boxes = choices(Pool("A", queues=1), Pool("B", queues=2)).all("input", type="checkbox")
    assert [(box["value"], box.get("checked") is not None) for box in boxes] == [("A", False), ("B", True)]


def test_number_that_names_a_row_has_its_heading_as_label() -> None:
    (head,) = choices(Pool("A", queues=7)).one("tbody").all("th")
    assert (head.text, head["data-label"], head.classes) == ("7", "Queues", {"first", "r"})


def test_list_without_a_filter_has_a_form_that_only_sorts() -> None:
    form = choices(Pool("A")).one("form")
    assert (form["aria-label"], form.get("role"), form.classes) == (
        "Sort choices", None, {"find", "list-filter", "only-sorts"},
    )  # fmt: skip
    assert form.all("input") == []
