"""Pages of published tables: rows, sources, basis and remarks."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from fastapi import FastAPI

from planner_core.tables import PublishedTable, all_tables, source, table
from tests.app.web.pages.addresses import html, page
from tests.app.web.pages.html import Element

EVERY_TABLE = pytest.mark.parametrize("published", all_tables(), ids=lambda published: published.id)


def rows(shown: Element) -> list[list[Element]]:
    body = shown.one("main").one("tbody")
    return [[cell for cell in row.walk() if cell.tag in {"th", "td"}] for row in body.all("tr")]


def text_of(cell: Element) -> str:
    """Return the text of a cell without the mark of a remark."""
    marks = cell.all("sup")
    return cell.text.removesuffix(marks[0].text).strip() if marks else cell.text


@EVERY_TABLE
def test_rows_and_numbers_are_shown_in_order_and_unchanged(app: FastAPI, published: PublishedTable) -> None:
    shown = rows(page(app, f"/reference/{published.id}"))
    assert len(shown) == len(published.rows)
    for cells, row in zip(shown, published.rows, strict=True):
        assert cells[0].tag == "th"
        numbers = [value for value in row if isinstance(value, int | Decimal)]
        texts = [text_of(cell).replace("\N{MINUS SIGN}", "-") for cell in cells]
        as_numbers = [Decimal(text) for text in texts if re.fullmatch(r"-?\d+(\.\d+)?", text)]
        assert [Decimal(number) for number in numbers] == as_numbers
        for column, value in zip(published.columns, row, strict=True):
            if isinstance(value, str) and not re.search(r"(^|_)(basis|source|section)$", column.name):
                assert " ".join(value.split()) in texts


@EVERY_TABLE
def test_table_page_shows_source_place_address_and_basis(app: FastAPI, published: PublishedTable) -> None:
    main = page(app, f"/reference/{published.id}").one("main")
    facts = main.one("dl", class_="facts")
    assert published.source.document in facts.text
    assert " ".join(published.source.section.split()) in facts.text
    if published.source.url:
        assert facts.one("a", href=published.source.url)["rel"] == "noreferrer"
    assert published.basis.words in facts.text
    assert main.one("h1").text == published.title
    assert " ".join(published.about.split()) in main.text


@pytest.mark.parametrize(
    "published",
    [each for each in all_tables() if any(column.name == "source" for column in each.columns)],
    ids=lambda published: published.id,
)
def test_sources_of_rows_are_shown_with_their_place(app: FastAPI, published: PublishedTable) -> None:
    names = [column.name for column in published.columns]
    at = names.index("source")
    for cells, row in zip(rows(page(app, f"/reference/{published.id}")), published.rows, strict=True):
        key = row[at]
        if not key:
            continue
        found = source(str(key))
        assert any(found.document in cell.text for cell in cells), key
        place = str(row[at + 1]) if at + 1 < len(row) and names[at + 1] == "section" else ""
        assert any(" ".join(place.split()) in cell.text for cell in cells)


@EVERY_TABLE
def test_remarks_are_shown_and_marked_in_their_rows(app: FastAPI, published: PublishedTable) -> None:
    shown = page(app, f"/reference/{published.id}")
    marked = {
        int(text_of(cells[0])): cells[0].one("a")["href"] for cells in rows(shown) if cells[0].all("sup")
    }
    keys = {row[0] for row in published.rows}  # a remark on no row is one on the whole table
    assert set(marked) == {note.row for note in published.notes if note.row in keys}
    for nth, note in enumerate(published.notes, start=1):
        if note.row in marked:
            assert marked[note.row] == f"#note-{nth}"
        assert " ".join(note.text.split()) in shown.one("li", id=f"note-{nth}").text


def test_probable_misprint_7976_is_shown_as_printed_and_flagged(app: FastAPI) -> None:
    shown = page(app, "/reference/admin_structure_cfcc14")
    (flagged,) = shown.all("tr", class_="is-noted")
    assert "7976" in flagged.text
    href = flagged.one("a")["href"]
    assert "Probably meant: 7936" in shown.one("li", id=href.removeprefix("#")).text
    assert table("admin_structure_cfcc14").note(3) is not None


def test_list_has_every_table_with_basis_source_and_row_count(app: FastAPI) -> None:
    shown = rows(page(app, "/reference"))
    assert [cells[0].one("a")["href"] for cells in shown] == [
        f"/reference/{each.id}" for each in all_tables()
    ]
    for cells, published in zip(shown, all_tables(), strict=True):
        assert cells[0].text == published.title
        assert cells[1].text == published.basis.words
        assert published.source.document in cells[2].text
        assert cells[3].text == str(len(published.rows))


@pytest.mark.parametrize("name", ["nothing", "admin_structure_cfcc14%20", "..%2f..%2fetc", "x" * 79])
def test_missing_table_is_not_found(app: FastAPI, name: str) -> None:
    answer = html(app, f"/reference/{name}")
    assert answer.status == 404
    assert answer.media_type == "text/html"
