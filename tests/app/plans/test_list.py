"""The list of plans: page, file and REST, on both databases."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from sqlalchemy import URL, update

from app.plans.models import Plan, PlanVersion
from tests.app.plans.support import app_on
from tests.app.web.pages.html import read
from tests.app.web.support import SQ03, get, send_json

FIGURES = {
    "alpha": {"qsg": "SQ01", "size_kib": 300, "errors": 0, "warnings": 9},
    "Beta": {"qsg": "SQ03", "size_kib": 100, "errors": 1, "warnings": 0},
    "gamma": {"qsg": "SQ02", "size_kib": 200, "errors": 0, "warnings": 0},
}


@pytest.fixture
def app(url: URL) -> Iterator[FastAPI]:
    """Return an application with three plans that have these figures."""
    made = app_on(url)
    for name in FIGURES:
        assert send_json(made, "PUT", f"/api/v1/plans/{name}", SQ03).status == 201
    with made.state.database.session(writes=True) as session:
        for name, figures in FIGURES.items():
            plan = session.query(Plan).filter_by(name=name).one()
            session.execute(update(PlanVersion).where(PlanVersion.plan_id == plan.id).values(**figures))
    yield made
    made.state.database.close()


def test_page_file_and_rest_have_the_requested_order(app: FastAPI) -> None:
    for sort, expected in (
        ("", "alpha Beta gamma"),
        ("-name", "gamma Beta alpha"),
        ("qsg", "alpha gamma Beta"),
        ("-size_kib", "alpha gamma Beta"),
        ("findings", "Beta alpha gamma"),
        ("structures", "alpha Beta gamma"),
        ("-version", "alpha Beta gamma"),
        ("updated_at", "alpha Beta gamma"),
        ("-initsize_kib", "alpha Beta gamma"),
    ):
        shown = read(get(app, f"/plans?sort={sort}", accept="text/html").text).one("tbody")
        assert [head.text for head in shown.all("th")] == expected.split(), sort
        lines = csv.DictReader(io.StringIO(get(app, f"/plans.csv?sort={sort}").text))
        assert [line["name"] for line in lines] == expected.split(), sort
        found = get(app, f"/api/v1/plans?sort={sort}").json()["plans"]
        assert [plan["name"] for plan in found] == expected.split(), sort


def test_file_has_the_plans_that_match_the_filter(app: FastAPI) -> None:
    (line,) = csv.DictReader(io.StringIO(get(app, "/plans.csv?search=beta").text))
    assert (line["qsg"], line["size_kib"], line["errors"], line["warnings"], line["version"]) == (
        "SQ03", "100", "1", "0", "1",
    )  # fmt: skip


def test_page_after_the_last_one_leads_to_the_first(app: FastAPI) -> None:
    page = get(app, "/plans?page=9", accept="text/html").text
    assert "There are no plans on this page." in page
    assert "Create one" not in page


def test_plans_of_a_filtered_list_are_compared_on_the_sheet(app: FastAPI) -> None:
    shown = read(get(app, "/plans?search=beta", accept="text/html").text)
    (box,) = shown.all("input", type="checkbox")
    assert (box["name"], box["value"], box["aria-label"]) == ("plan", "Beta", "Add Beta to the sheet")


def test_unknown_sort_key_is_refused(app: FastAPI) -> None:
    for address in ("/plans", "/plans.csv", "/api/v1/plans"):
        answer = get(app, f"{address}?sort=tick")
        assert answer.status == 422
        assert "It can be sorted by" in answer.json()["detail"]
