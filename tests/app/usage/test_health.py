"""The health of a structure: on its page, in its file, over REST, and on the overview."""

from __future__ import annotations

import csv
import io

import pytest
from fastapi import FastAPI

from tests.app.fits.support import TROUBLE, health_json, store_night
from tests.app.usage.support import store, ten_days
from tests.app.web.pages.addresses import html
from tests.app.web.pages.html import read
from tests.app.web.support import get

REST = "/api/v1/usage/structures/SQ03/APPLICATION1/health"
PAGE = "/usage/SQ03/APPLICATION1"


@pytest.fixture
def measured(own_app: FastAPI) -> FastAPI:
    store(own_app, ten_days(days=2))
    return own_app


@pytest.fixture
def judged(measured: FastAPI) -> FastAPI:
    store_night(measured.state.database, health=[health_json(TROUBLE)])
    return measured


def lines_of_page(app: FastAPI) -> dict[str, list[str]]:
    section = read(html(app, PAGE).text).one("section", aria_labelledby="h-health")
    rows = [
        [" ".join(cell.text.split()) for cell in row.all() if cell.tag in ("th", "td")]
        for row in section.one("tbody").all("tr")
    ]
    return {row[0]: row[1:] for row in rows}


def test_structure_that_no_run_judged_has_no_health(measured: FastAPI) -> None:
    found = get(measured, REST)
    assert found.status == 404
    assert "No nightly run has judged the health of APPLICATION1 of SQ03 yet" in found.text
    section = read(html(measured, PAGE).text).one("section", aria_labelledby="h-health")
    assert "No nightly run has judged this structure yet" in section.text
    assert html(measured, f"{PAGE}/health.csv").status == 404


def test_page_shows_every_measure_with_its_state(judged: FastAPI) -> None:
    found = lines_of_page(judged)
    assert {title: row[1:4] for title, row in found.items()} == {
        "Redrives": ["above the guideline", "12 of 672", "34.1 %"],
        "Structure full": ["good", "0 of 672", "0"],
        "Synchronous service time": ["above good", "90 of 672", "71.5 µs"],
        "Asynchronous service time": [
            "not judged",
            "Not judged: fewer than 100 requests in each of 700 intervals.",
        ],
        "Changed requests (CHNGD)": ["good", "0 of 672", "2.2 %"],
        "Delayed requests": [
            "not measured",
            "Not measured: no record of SMF 74 subtype 4 (R744SREQ) has these figures.",
        ],
        "READLIST to GETMOVE": ["above the guideline", "3 of 672", "412.0 to 1"],
        "SMDS pool waits": ["above the guideline", "5 of 672", "17"],
        "SMDS buffer waits": [
            "not measured",
            "Not measured: no record of SMF 115 subtype 2 (QESD) has these figures.",
        ],
        "Entries and elements": [
            "out of proportion",
            "6.0 elements for each entry are allocated, 2.5 are used at the peaks. An entry-to-element ratio of 2:5 would "
            "balance them.",
        ],
    }
    assert found["Redrives"][0].startswith("at most 20 %IBM Washington Systems Center")
    assert found["READLIST to GETMOVE"][4] == "2026-11-18 14:15 UTCCSQ2, queue PAYMENTS.IN"


def test_rest_returns_every_measure_with_its_source(judged: FastAPI) -> None:
    found = get(judged, REST).json()
    assert (found["first_day"], found["last_day"], found["findings"]) == ("2026-11-14", "2026-11-20", [])
    by_measure = {each["measure"]: each for each in found["measures"]}
    assert len(by_measure) == 9
    redrives = by_measure["redrives"]
    assert (redrives["state"], redrives["guideline"], redrives["unit"], redrives["basis"]) == (
        "above_limit", "at most 20 %", "%", "published",
    )  # fmt: skip
    assert (redrives["worst"], redrives["worst_at"], redrives["reporter"]) == (
        34.11,
        "2026-11-18T14:15:00Z",
        "CSQ1",
    )
    assert "Symptoms that led to PD" in redrives["source"]
    assert by_measure["delayed"]["state"] == "not_measured"
    assert by_measure["pool_waits"]["basis"] == "assumed"
    assert found["balance"]["balancing_ratio"] == [2, 5]


def test_file_has_a_line_for_every_measure(judged: FastAPI) -> None:
    answer = html(judged, f"{PAGE}/health.csv")
    assert answer.status == 200
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 9
    assert (rows[0]["measure"], rows[0]["above_limit"], rows[0]["worst"]) == ("redrives", "12", "34.11")
    assert rows[5]["state"] == "not_measured"
    assert rows[5]["worst"] == ""


def test_health_of_all_structures_is_listed_by_urgency(measured: FastAPI) -> None:
    others = {"sync_time": TROUBLE["sync_time"]}
    store_night(
        measured.state.database, health=[health_json(others, structure="ANOTHER"), health_json(TROUBLE)]
    )
    found = get(measured, "/api/v1/usage/health").json()
    assert [(each["structure"], each["measure"], each["severity"]) for each in found["measures"]] == [
        ("APPLICATION1", "redrives", "warning"),
        ("APPLICATION1", "read_lists", "warning"),
        ("ANOTHER", "sync_time", "info"),
        ("APPLICATION1", "sync_time", "info"),
        ("APPLICATION1", "pool_waits", "info"),
    ]
    assert (found["total"], found["measures"][0]["page"]) == (5, "/usage/SQ03/APPLICATION1#h-health")
    named = get(measured, "/api/v1/usage/health?search=another&per_page=1").json()
    assert [each["structure"] for each in named["measures"]] == ["ANOTHER"]
    by_count = get(measured, "/api/v1/usage/health?sort=-above_limit").json()["measures"]
    assert by_count[0]["measure"] == "redrives"
    assert get(measured, "/api/v1/usage/health?sort=color").status == 422
    rows = read(html(measured, "/usage/health").text).one("tbody").all("tr")
    assert rows[0].one("a").attributes["href"] == "/usage/SQ03/APPLICATION1#h-health"
    for key in ("structure", "qsg", "measure", "above_limit", "worst_at", "urgency"):
        listed = list(csv.DictReader(io.StringIO(html(measured, f"/usage/health.csv?sort={key}").text)))
        assert len(listed) == len(rows) == 5
    assert html(measured, "/usage/health?sort=color").status == 422


def test_next_run_replaces_the_health_of_all_structures(judged: FastAPI) -> None:
    store_night(judged.state.database, health=[health_json({}, structure="OTHER")])
    assert get(judged, REST).status == 404


def test_overview_lists_structures_with_warnings(judged: FastAPI) -> None:
    first = read(html(judged, "/").text).one("section", aria_labelledby="h-first")
    (action,) = (each for each in first.all("li") if "Redrives" in each.text)
    words = " ".join(action.text.split())
    assert "APPLICATION1 of SQ03" in words
    assert "Redrives: 12 of 672 intervals were above the guideline" in words
    assert "1 other measure is above the guideline as well." in words
    assert action.one("a").attributes["href"] == "/usage/SQ03/APPLICATION1#h-health"


@pytest.mark.parametrize("is_simulated", [False, True])
def test_overview_leaves_out_remarks_and_simulated_structures(
    measured: FastAPI, *, is_simulated: bool
) -> None:
    figures = (
        TROUBLE if is_simulated else {"pool_waits": TROUBLE["pool_waits"], "sync_time": TROUBLE["sync_time"]}
    )
    store_night(measured.state.database, health=[health_json(figures, is_simulated=is_simulated)])
    assert "Show its health" not in html(measured, "/").text


def test_health_finding_of_a_run_links_to_the_health(measured: FastAPI) -> None:
    common = {
        "severity": "warning",
        "message": "A message.",
        "source": "IBM",
        "qsg": "SQ03",
        "structure": "APPLICATION1",
    }
    findings = [{"code": "REDRIVES_HIGH", **common}, {"code": "RATIO_FAR_FROM_DEMAND", **common}]
    run = store_night(measured.state.database, findings=findings)
    links = [
        (link.text, link.attributes["href"])
        for link in read(html(measured, f"/nights/{run}").text).one("ul", class_="findings").all("a")
        if "APPLICATION1" in link.text
    ]
    assert links == [
        ("Health of APPLICATION1", "/usage/SQ03/APPLICATION1#h-health"),
        ("Forecast of APPLICATION1", "/forecasts/SQ03/APPLICATION1"),
    ]
