from __future__ import annotations

import pytest
from starlette.requests import Request

from app.paging import PageRequest, ResultPage
from app.web.paging import page_of_address


def address(query: str) -> Request:
    return Request(
        {"type": "http", "headers": [], "query_string": query.encode(), "path": "/", "method": "GET"}
    )


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("", 1),
        ("page=", 1),
        ("page=3", 3),
        ("page=0", 1),
        ("page=-2", 1),
        ("page=%C2%B2", 1),
        ("page=next", 1),
        ("page=999999", 999999),
        ("page=1000000", 1),
    ],
)
def test_unreadable_page_number_shows_the_first_page(query: str, page: int) -> None:
    assert page_of_address(address(query)).page == page


def test_offset_counts_the_items_on_earlier_pages() -> None:
    assert [PageRequest(page, 20).offset for page in (1, 2, 3)] == [0, 20, 40]


@pytest.mark.parametrize(("total", "pages"), [(0, 1), (1, 1), (20, 1), (21, 2), (41, 3)])
def test_empty_list_has_one_page(total: int, pages: int) -> None:
    assert ResultPage.of([], total, PageRequest(1, 20)).pages == pages
