"""The list of fitted curves: page and file, on both databases."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import timedelta

import pytest
from fastapi import FastAPI
from sqlalchemy import URL, update

from app.fits import fits
from app.nightly.models import FitVersion
from tests.app.fits.support import AT, fit_json, store_night
from tests.app.plans.support import app_on
from tests.app.web.pages.html import Element, read
from tests.app.web.support import get


@pytest.fixture
def app(url: URL) -> Iterator[FastAPI]:
    """Return an application with six fits: version 1 was replaced by 5, and version 2 was made last."""
    made = app_on(url)
    database = made.state.database
    store_night(database, curves=[fit_json(), fit_json(coupling_facility="CF02", cfcc_level=None)])
    store_night(
        database,
        curves=[
            fit_json(state="rejected", reason="The cost is too low."),
            fit_json(
                coupling_facility="CF03", cfcc_level=24, state="too_little", reason="One size.", points=4
            ),
        ],
    )
    store_night(
        database,
        curves=[
            fit_json(bundle=2200.0),
            fit_json(coupling_facility=None, cfcc_level=None, state="too_little", reason="No name."),
        ],
    )
    with database.session(writes=True) as session:
        session.execute(update(FitVersion).where(FitVersion.id == 2).values(made_at=AT + timedelta(days=1)))
    yield made
    made.state.database.close()


def shown(app: FastAPI, address: str) -> Element:
    found = get(app, address, accept="text/html")
    assert found.status == 200, found.text[:300]
    return read(found.text)


def versions_on(app: FastAPI, address: str) -> list[str]:
    """Return the versions in the list of all versions, which follows that of the current ones."""
    rows = shown(app, address).all("tbody")[-1]
    return [head.text for head in rows.all("th")]


def rows_of(app: FastAPI, address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(get(app, address).text)))


def test_page_and_file_have_the_requested_order(app: FastAPI) -> None:
    for sort, expected in (
        ("", "6 5 4 3 2 1"),
        ("version", "1 2 3 4 5 6"),
        ("coupling_facility", "5 3 1 2 4 6"),
        ("-coupling_facility", "4 2 5 3 1 6"),
        ("cfcc_level", "4 5 3 1 6 2"),
        ("state", "3 6 4 1 5 2"),
        ("base_bytes", "5 3 2 1 6 4"),
        ("bundle_bytes", "3 2 1 5 6 4"),
        ("-bundle_bytes", "5 3 2 1 6 4"),
        ("points", "4 6 5 3 2 1"),
        ("-points", "6 5 3 2 1 4"),
        ("-made_at", "2 6 5 4 3 1"),
    ):
        assert versions_on(app, f"/curves?sort={sort}") == expected.split(), sort
        lines = rows_of(app, f"/curves.csv?sort={sort}")
        assert [line["version"] for line in lines] == expected.split(), sort


def test_list_and_file_are_filtered_by_coupling_facility(app: FastAPI) -> None:
    assert versions_on(app, "/curves?search=cf01") == ["5", "3", "1"]
    assert [line["version"] for line in rows_of(app, "/curves.csv?search=cf01")] == ["5", "3", "1"]
    without = shown(app, "/curves?search=CF99").one("main").text
    assert "No name in the list of fitted curves contains “CF99”" in without
    assert "No fitted curves yet" not in without


def test_file_has_figures_in_bytes_and_the_reason(app: FastAPI) -> None:
    lines = {line["version"]: line for line in rows_of(app, "/curves.csv")}
    assert (lines["5"]["base_bytes"], lines["5"]["bundle_bytes"], lines["5"]["points"]) == (
        "20971520.0", "2200.0", "11",
    )  # fmt: skip
    assert [lines[each]["state"] for each in "123456"] == [
        "accepted", "current", "rejected", "too little", "current", "too little",
    ]  # fmt: skip
    assert (lines["3"]["reason"], lines["6"]["coupling_facility"], lines["6"]["cfcc_level"]) == (
        "The cost is too low.", "", "",
    )  # fmt: skip


def test_file_has_every_fit_if_they_are_read_in_portions(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fits, "MOST_PER_PAGE", 4)
    assert [line["version"] for line in rows_of(app, "/curves.csv")] == ["6", "5", "4", "3", "2", "1"]


def test_unknown_sort_key_is_refused(app: FastAPI) -> None:
    for address in ("/curves", "/curves.csv"):
        answer = get(app, f"{address}?sort=reason")
        assert answer.status == 422
        assert "It can be sorted by" in answer.json()["detail"]


def current_on(app: FastAPI, address: str) -> list[str]:
    """Return the coupling facilities in the list of current curves, which is the first one."""
    return [head.text for head in shown(app, address).all("tbody")[0].all("th")]


@pytest.mark.parametrize(
    ("sort", "facilities"),
    [
        ("", ["CF01", "CF02"]),
        ("-coupling_facility", ["CF02", "CF01"]),
        ("-version", ["CF01", "CF02"]),
        ("version", ["CF02", "CF01"]),
        ("-bundle_bytes", ["CF01", "CF02"]),
        ("bundle_bytes", ["CF02", "CF01"]),
        # CF02 has no level and thus no published figures: it is last in both directions.
        ("-published_base_bytes", ["CF01", "CF02"]),
        ("published_base_bytes", ["CF01", "CF02"]),
    ],
)
def test_current_curves_are_sorted_by_their_own_parameter(
    app: FastAPI, sort: str, facilities: list[str]
) -> None:
    assert current_on(app, f"/curves?current={sort}") == facilities
    assert versions_on(app, f"/curves?current={sort}") == versions_on(app, "/curves")


def test_sorting_all_versions_keeps_the_order_of_the_current_ones(app: FastAPI) -> None:
    links = shown(app, "/curves?current=-version").all("table")[-1].one("thead").all("a")
    assert all("current=-version" in link["href"] for link in links)
    assert get(app, "/curves?current=weight", accept="text/html").status == 422
