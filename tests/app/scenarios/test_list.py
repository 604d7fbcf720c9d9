"""The list of the scenarios of a plan: page and file."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from sqlalchemy import select

from app.main import create_app
from app.scenarios.models import Scenario
from app.settings import Settings
from tests.app.plans.support import changed
from tests.app.web.pages.html import Element, read
from tests.app.web.support import SQ03, get, send_json

PAGE = "/plans/SQ03/scenarios"
FIGURES = {
    # name: INITSIZE before and after, SIZE after, errors, warnings, commands
    "alpha": (1000, 1500, 9000, 0, 9, 4),
    "Beta": (1000, 1400, 7000, 1, 0, 1),
    "gamma": (1000, 1300, 8000, 0, 0, 3),
    "delta": (1500, 1200, 6000, 1, 2, 2),
    "omega": (1500, 1600, 5000, 0, 1, 0),
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """Return an application with five scenarios that have these figures; the last one is of a newer version."""
    made = create_app(Settings(data_dir=tmp_path_factory.mktemp("data")))
    plan = send_json(made, "PUT", "/api/v1/plans/SQ03", SQ03)
    assert plan.status == 201
    for name in FIGURES:
        if name == "omega":
            etag = get(made, "/api/v1/plans/SQ03").headers["etag"]
            newer = changed(headroom_percent=10)
            assert send_json(made, "PUT", "/api/v1/plans/SQ03", newer, if_match=etag).status == 200
        scenario = {"changes": {"headroom_percent": 30}}
        assert send_json(made, "PUT", f"/api/v1/plans/SQ03/scenarios/{name}", scenario).status == 201
    with made.state.database.session(writes=True) as session:
        for row in session.scalars(select(Scenario)):
            before, after, size, errors, warnings, commands = FIGURES[row.name]
            figures = {
                "initsize_kib_before": before, "initsize_kib_after": after, "size_kib_after": size,
                "errors": errors, "warnings": warnings, "commands": commands,
            }  # fmt: skip
            row.summary = json.dumps(json.loads(row.summary) | figures)
    yield made
    made.state.database.close()


def shown(app: FastAPI, address: str) -> Element:
    found = get(app, address, accept="text/html")
    assert found.status == 200, found.text[:300]
    return read(found.text)


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("", "alpha Beta delta gamma omega"),
        ("-name", "omega gamma delta Beta alpha"),
        ("initsize_kib", "delta gamma Beta alpha omega"),
        ("-more_initsize_kib", "alpha Beta gamma omega delta"),
        ("size_kib", "omega delta Beta gamma alpha"),
        ("findings", "delta Beta alpha omega gamma"),
        ("-commands", "alpha gamma delta Beta omega"),
        ("-version", "omega alpha Beta delta gamma"),
        ("updated_at", "alpha Beta gamma delta omega"),
    ],
)
def test_page_and_file_have_the_requested_order(app: FastAPI, sort: str, expected: str) -> None:
    rows = shown(app, f"{PAGE}?sort={sort}").one("tbody")
    assert [head.text for head in rows.all("th")] == expected.split()
    lines = csv.DictReader(io.StringIO(get(app, f"{PAGE}.csv?sort={sort}").text))
    assert [line["name"] for line in lines] == expected.split()


def test_first_four_of_the_shown_scenarios_are_ticked_for_a_comparison(app: FastAPI) -> None:
    boxes = shown(app, f"{PAGE}?sort=size_kib").all("input", type="checkbox", name="of")
    assert (boxes[0]["value"], boxes[0]["aria-label"]) == ("omega", "Compare omega")
    assert ["checked" in box.attributes for box in boxes] == [True, True, True, True, False]


def test_changes_of_the_whole_plan_have_no_column_for_structures(app: FastAPI) -> None:
    found = shown(app, f"{PAGE}/alpha/report").one("table", class_="before-after")
    assert [cell.text for cell in found.one("thead").all("th")] == ["Value", "Before", "After"]


def test_scenario_of_an_older_version_is_marked(app: FastAPI) -> None:
    rows = {row.one("th").text: row.text.split() for row in shown(app, PAGE).one("tbody").all("tr")}
    assert [name for name, words in rows.items() if "old" in words] == ["alpha", "Beta", "delta", "gamma"]


def test_file_has_figures_without_the_boxes(app: FastAPI) -> None:
    answer = get(app, f"{PAGE}.csv?sort=findings")
    assert answer.headers["content-disposition"] == 'attachment; filename="scenarios-of-SQ03.csv"'
    line = next(csv.DictReader(io.StringIO(answer.text)))
    assert {key: line[key] for key in ("name", "initsize_kib", "more_initsize_kib", "size_kib", "errors", "warnings", "commands", "version")} == {
        "name": "delta", "initsize_kib": "1200", "more_initsize_kib": "-300", "size_kib": "6000", "errors": "1", "warnings": "2",
        "commands": "2", "version": "1",
    }  # fmt: skip
    assert "Headroom" in line["changes"]
    assert "of" not in line


def test_unknown_sort_key_and_unknown_plan_are_refused(app: FastAPI) -> None:
    for address in (PAGE, f"{PAGE}.csv"):
        assert get(app, f"{address}?sort=changes").status == 422
    assert get(app, "/plans/NONE/scenarios.csv").status == 404
