"""The start page in each of its states."""

from __future__ import annotations

import csv
import io

import pytest
from fastapi import FastAPI

from tests.app.fits.support import daily, forecast_json, store_night
from tests.app.fleet.support import DISK_FULL, fail_run, measure, save_plan, start_run
from tests.app.uploads.support import post_file
from tests.app.web.pages.addresses import html
from tests.app.web.pages.html import Element, read
from tests.app.web.support import get

FINDING = {
    "code": "STRUCTURE_WAS_FULL", "severity": "error", "message": "APPLICATION1 was full.", "source": "IBM MQ",
    "qsg": "SQ03", "structure": "APPLICATION1",
}  # fmt: skip


def overview(app: FastAPI, query: str = "") -> Element:
    answer = html(app, f"/{query}")
    assert answer.status == 200, answer.text
    found = read(answer.text)
    assert found.one("h1").text == "Overview"
    return found


def rows(found: Element) -> list[list[str]]:
    table = found.one("table", class_="sorted-list")
    return [
        [cell.text for cell in row.all() if cell.tag in ("th", "td")] for row in table.one("tbody").all("tr")
    ]


def words(found: Element, heading: str) -> str:
    return " ".join(found.one("section", aria_labelledby=heading).text.split())


@pytest.fixture
def fleet(own_app: FastAPI) -> FastAPI:
    """Return an application with a plan, measured structures and a nightly run."""
    save_plan(own_app, coupling_facilities=[{"name": "CF01", "size": "64G"}, {"name": "CF02", "size": "64G"}])
    measure(own_app, "APPLICATION1", 50, coupling_facilities="CF01")
    measure(own_app, "MYDATA", 100, coupling_facilities="CF02 CF01", is_duplexed=True)
    measure(own_app, "ORDERS", 85, qsg="SQ04", coupling_facilities="CF02")
    store_night(own_app.state.database, forecasts=[forecast_json()], days=daily(), findings=[FINDING])
    return own_app


@pytest.mark.parametrize("stored", ["plan", "upload", "usage", "nightly run"])
def test_start_page_is_the_overview_once_anything_is_stored(own_app: FastAPI, stored: str) -> None:
    assert read(html(own_app, "/").text).one("h1").text == "Size a structure"
    if stored == "plan":
        save_plan(own_app)
    elif stored == "upload":
        post_file(own_app, "text")
    elif stored == "usage":
        measure(own_app, "APPLICATION1", 40)
    else:
        fail_run(own_app)
    overview(own_app)


def test_calculator_fields_on_the_start_page_lead_to_the_calculator(fleet: FastAPI) -> None:
    answer = html(fleet, "/?messages=5&sort=used")
    assert (answer.status, answer.headers["location"]) == (308, "/calculator?messages=5&sort=used")


def test_structure_in_most_trouble_is_first_in_the_list_and_the_actions(fleet: FastAPI) -> None:
    found = overview(fleet)
    first = rows(found)[0]
    assert first[0] == "MYDATA"
    assert first[2].startswith("Full now")
    assert "100.0 full elements" in " ".join(first[3].split())
    action = found.one("section", aria_labelledby="h-first").all("li")[0]
    assert "MYDATA of SQ03" in action.text
    assert action.one("a")["href"] == "/usage/SQ03/MYDATA"


def test_row_shows_limit_with_interval_and_the_days_in_words(fleet: FastAPI) -> None:
    found = next(row for row in rows(overview(fleet)) if row[0] == "APPLICATION1")
    assert "70 % in 30 days 12\N{EN DASH}55, list elements" in " ".join(found[5].split())
    assert found[4].startswith("Daily peaks from 2026-08-23 to 2026-11-20")


def test_bars_state_storage_and_the_need_after_a_loss(fleet: FastAPI) -> None:
    found = overview(fleet).one("section", aria_labelledby="h-facilities")
    first, second = found.all("svg")[0].one("desc").text.split(";")
    assert "512 MiB second copies" in first
    assert "needed without" not in first
    assert "second copies" not in second
    assert "needed without CF01" in second
    table = [cell.text for cell in found.one("tbody").all("th")]
    assert table == ["CF01", "CF02"]


def test_bars_have_a_legend_and_can_be_saved(fleet: FastAPI) -> None:
    found = overview(fleet)
    legend = [item.text.strip() for item in found.one("ul", class_="chart-legend").all("li")]
    assert legend == [
        "structures",
        "second copies",
        "needed after the loss of another coupling facility",
        "storage of the coupling facility",
    ]
    assert (
        found.one("p", class_="picture-tools")["data-source"]
        == "last measured sizes and places, and stored plans"
    )
    assert [each["src"] for each in found.all("script") if "pictures" in each["src"]]


def test_list_is_sorted_filtered_and_saved_as_a_file(fleet: FastAPI) -> None:
    assert [row[0] for row in rows(overview(fleet, "?sort=structure&search=sq03"))] == [
        "APPLICATION1",
        "CSQSYSAPPL",
        "CSQ_ADMIN",
        "MYDATA",
    ]
    used = [row[0] for row in rows(overview(fleet, "?sort=-used"))]
    assert used[:3] == ["MYDATA", "ORDERS", "APPLICATION1"]
    assert html(fleet, "/?sort=colour").status == 422
    assert "1 structure with “SQ04” in their name" in words(overview(fleet, "?search=SQ04"), "h-structures")
    answer = get(fleet, "/fleet.csv?sort=-used&search=SQ04")
    (line,) = csv.DictReader(io.StringIO(answer.text))
    assert (line["structure"], line["used"], line["urgency"]) == ("ORDERS", "85.0", "high use, no forecast")


def test_nightly_run_shows_its_findings(fleet: FastAPI) -> None:
    found = words(overview(fleet), "h-run")
    assert "1 error" in found
    assert "APPLICATION1 was full." in found


def test_failed_run_shows_its_reason_and_the_findings_of_the_last_successful_run(fleet: FastAPI) -> None:
    fail_run(fleet)
    section = overview(fleet).one("section", aria_labelledby="h-run")
    assert DISK_FULL in section.one("p", class_="notice").text
    assert "error" in section.one("p", class_="notice")["class"]
    assert "nightly run 1" in section.text
    assert "APPLICATION1 was full." in section.text


def test_run_in_progress_is_shown_with_one_full_stop_and_the_share_that_is_done(fleet: FastAPI) -> None:
    number = start_run(fleet)
    section = overview(fleet).one("section", aria_labelledby="h-run")
    assert "Reading the simulated data. " in f"{section.text} "
    assert ".." not in section.text
    bar = read(get(fleet, f"/nights/{number}").text).one("span", id="bar-words")
    assert bar.text == "Reading the simulated data: 25 %"


def test_measurements_without_plans_have_no_white_space(own_app: FastAPI) -> None:
    measure(own_app, "APPLICATION1", 40, coupling_facilities="CF01")
    found = overview(own_app)
    assert "storage not stated" in words(found, "h-facilities")
    assert "no nightly run" in words(found, "h-run")


def test_page_after_the_last_one_leads_to_the_first(fleet: FastAPI) -> None:
    found = overview(fleet, "?page=9").one("section", aria_labelledby="h-structures")
    assert "There are no structures on this page." in found.text
    assert "No structures are measured" not in found.text


def test_upload_alone_shows_the_next_steps(own_app: FastAPI) -> None:
    post_file(own_app, "text")
    found = overview(own_app)
    assert "No structures are measured or planned yet." in words(found, "h-structures")
    assert found.all("section", aria_labelledby="h-facilities") == []
