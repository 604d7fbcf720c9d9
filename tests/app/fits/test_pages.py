"""The pages of curves, forecasts and CFCC levels in a browser without scripts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.nightly.facts import facts_of
from app.settings import Settings
from tests.app.fits.support import (
    MADE_ON,
    crossing_json,
    daily,
    fit_json,
    forecast_ids,
    forecast_json,
    store_curve,
    store_night,
)
from tests.app.plans.pages.browsing import Browser
from tests.app.plans.support import changed
from tests.app.usage.support import store, ten_days
from tests.app.web.pages.html import Element, read
from tests.app.web.support import assert_problem, call, get, send_json

STRUCTURE = "/forecasts/SQ03/APPLICATION1"
NONE, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
NASTY = '<script>alert("1")</script>'


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """Return an application after two nightly runs, for tests that change nothing."""
    app = create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))
    forecasts = [
        forecast_json(),
        forecast_json(
            measure="entries", middle=None, crossings=[crossing_json("SIZE", 21_845, None, None, None)]
        ),
        forecast_json(measure="smds_blocks", queue_manager="CSQ1", structure="MYDATA"),
        forecast_json(structure="TINY", state="too_short"),
        forecast_json(qsg="SIM1", structure="PAYROLL"),
    ]
    four_weeks_ago = MADE_ON - timedelta(days=28)
    store_night(
        app.state.database,
        curves=[
            fit_json(element=290.0),
            fit_json(coupling_facility="CF02", cfcc_level=None),
            fit_json(coupling_facility="SIMCF1", qsgs=["SIM1"]),
        ],
        forecasts=[{**each, "made_on": four_weeks_ago.isoformat()} for each in forecasts],
        days=daily(),
        simulated=["SIM1"],
        last_day=four_weeks_ago,
    )
    (first, *_) = forecast_ids(app.state.database)
    score = {
        "forecast_id": first, "days_scored": 28, "wape": 0.081, "pinball": 0.03, "coverage80": 0.79,
        "sentence": "Over 28 days, 8.1 % error on average.",
    }  # fmt: skip
    store_night(
        app.state.database,
        curves=[
            fit_json(state="rejected", reason="An element costs 231.4 bytes, but holds 256 bytes of data."),
            fit_json(
                coupling_facility="CF03", state="too_little", reason="One size alone has no slope.", points=3
            ),
        ],
        forecasts=[{**each, "notes": [NASTY]} for each in forecasts],
        scores=[score],
        simulated=["SIM1"],
    )
    send_json(app, "PUT", "/api/v1/plans/SQ03", changed(curve={"fitted": 1}))
    yield app
    app.state.database.close()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """Return an application before its first nightly run, for tests that change nothing."""
    app = create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))
    yield app
    app.state.database.close()


def page(app: FastAPI, address: str, *, status: int = 200) -> Element:
    found = get(app, address, accept="text/html")
    assert found.status == status, found.text[:300]
    return read(found.text)


def table(found: Element, name: str) -> list[list[str]]:
    """Return the cells of a table, headings first."""
    region = found.one("div", aria_label=f"Table: {name}")
    return [
        [" ".join(cell.text.split()) for cell in row.walk() if cell.tag in {"th", "td"}]
        for row in region.all("tr")
    ]


def rows_of(address: str, app: FastAPI) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(get(app, address).text.lstrip("\N{ZERO WIDTH NO-BREAK SPACE}"))))


# ---- nothing yet -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["/curves", "/forecasts"])
def test_empty_pages_explain_their_content_and_its_source(empty: FastAPI, address: str) -> None:
    main = page(empty, address).one("main")
    assert "yet" in main.text
    links = {link["href"] for link in main.all("a")}
    assert "/uploads" in links
    assert any(link.startswith("/docs/") for link in links)


@pytest.mark.parametrize(
    "address", ["/curves/1", "/curves/0", "/curves/x", "/curves/99999999999999999999", STRUCTURE]
)
def test_missing_curves_and_forecasts_are_not_found(empty: FastAPI, address: str) -> None:
    assert "There is no" in page(empty, address, status=404).one("main").text


# ---- curves ----------------------------------------------------------------------------------------------------------


def test_current_curves_are_listed_with_intervals_and_published_figures(fitted: FastAPI) -> None:
    found = page(fitted, "/curves")
    current = table(found, "current curves")
    by_name = {row[0].split()[0]: row for row in current[1:]}
    assert list(by_name) == ["CF01", "CF02", "SIMCF1"]
    assert by_name["CF01"][1:3] == ["25", "1"]
    assert by_name["CF01"][3] == "20.00 19.00 to 21.00"
    assert by_name["CF01"][4] == "22.00"
    assert by_name["CF01"][5].startswith("2100.0 2079.0 to 2121.0")
    assert by_name["CF01"][8].startswith("290.0")
    assert by_name["CF02"][1] == "not known"
    assert by_name["CF02"][4] == by_name["CF02"][8] == NONE
    assert by_name["SIMCF1"][0] == "SIMCF1 simulated"
    assert "The CFCC level of CF02 is not known" in found.text


def test_every_version_is_listed_with_its_state(fitted: FastAPI) -> None:
    versions = {row[0]: row for row in table(page(fitted, "/curves"), "fitted curves")[1:]}
    assert [versions[number][3] for number in "12345"] == [
        "current",
        "current",
        "current",
        "rejected",
        "too little",
    ]
    assert versions["4"][8] == "An element costs 231.4 bytes, but holds 256 bytes of data."


def test_curve_page_shows_figures_points_and_excluded_data(fitted: FastAPI) -> None:
    found = page(fitted, "/curves/1")
    points = table(found, "points")
    sizes = [float(row[4].replace(" ", "")) for row in points[1:]]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 12
    assert table(found, "excluded data")[1:] == [["seen on one day only", "1"]]
    assert table(found, "breaks in the series")[1:] == [["APPL001", "2026-09-14", "reallocated with 512M"]]
    assert [link.text for link in found.one("main").all("a") if link["href"] == "/plans/SQ03"] == ["SQ03"]
    assert table(found, "other versions")[1][:2] == ["4", "rejected"]
    figures = {row[0]: row[1:4] for row in table(found, "fitted and published")[1:]}
    assert figures["Base MiB"] == ["22.00", "20.00", f"{MINUS}2.00"]
    rows = rows_of("/curves/1/points.csv", fitted)
    assert len(rows) == 12
    assert sum(bool(row["left_out"]) for row in rows) == 1


@pytest.mark.parametrize(
    ("version", "words"), [(4, "Rejected: An element costs"), (5, "Too little data: One size")]
)
def test_fit_that_plans_cannot_use_shows_the_reason(fitted: FastAPI, version: int, words: str) -> None:
    main = page(fitted, f"/curves/{version}").one("main").text
    assert words in main
    assert "plans cannot name it" in main.lower()
    assert "curve: {fitted" not in main


def test_fit_at_another_ratio_is_marked(app: FastAPI) -> None:
    version = store_curve(app.state.database, ratio=[1, 12])
    main = page(app, f"/curves/{version}").one("main").text
    assert "structures are allocated at 1:6" in main
    assert "plans cannot name it" in main.lower()
    assert "curve: {fitted" not in main
    other = store_curve(app.state.database, ratio=[1, 12], element=290.0, bundle=4000.0)
    assert f"curve: {{fitted: {other}}}" in page(app, f"/curves/{other}").one("main").text


# ---- forecasts -------------------------------------------------------------------------------------------------------


def test_forecast_list_is_sorted_by_urgency(fitted: FastAPI) -> None:
    lines = table(page(fitted, "/forecasts"), "forecasts")[1:]
    assert [line[0] for line in lines] == [
        "PAYROLL simulated",
        "APPLICATION1",
        "MYDATA",
        "APPLICATION1",
        "TINY",
    ]
    soonest = lines[1]
    assert soonest[2:4] == ["List elements", "70 % in 30 days"]
    assert soonest[5] == f"2026-12-20 2026-12-02 {NONE} 2027-01-14"
    assert soonest[6:8] == ["95", "+8.1"]
    assert soonest[8] == "8 % error, 79 % inside 28 days"
    assert lines[3][3] == "not expected within 180 days"
    assert "a forecast needs 42 days" in lines[4][3]


def test_forecast_page_shows_crossings_and_the_effect_of_a_larger_size(
    fitted: FastAPI,
) -> None:
    found = page(fitted, STRUCTURE)
    levels = table(found, "when each level of List elements is passed")
    assert levels[0][6:] == ["1.5 times the size", "twice the size"]
    assert levels[1][:6] == ["70 %", "91750", f"in 30 days 12{NONE}55", "in 50 days", "95", "99"]
    assert levels[1][6:] == ["not within 180 days", "not within 180 days"]
    assert levels[3][2] == "unlikely within 180 days"
    ahead = table(found, "days ahead for List elements")
    assert [row[0] for row in ahead[1:]] == [f"{first} {NONE} {first + 29}" for first in range(1, 181, 30)]
    assert ahead[-1][1] == (MADE_ON + timedelta(days=180)).isoformat()
    assert ahead[-1][2] == "120000"
    assert table(found, "earlier forecasts of List elements")[1][2] == "8 % error, 79 % inside 28 days"


def test_forecast_days_are_in_a_table_and_a_file(fitted: FastAPI) -> None:
    days = table(page(fitted, STRUCTURE), "measured days of List elements")[1:]
    assert len(days) == 119
    assert days[0][0] == MADE_ON.isoformat()
    assert [row[0] for row in days if row[2] == NONE] == [(MADE_ON - timedelta(days=109)).isoformat()]
    rows = rows_of(f"{STRUCTURE}/forecast.csv?measure=elements", fitted)
    assert {row["measure"] for row in rows} == {"elements"}
    assert sum(bool(row["peak"]) for row in rows) == 119
    assert sum(bool(row["p50"]) for row in rows) == 180
    everything = rows_of(f"{STRUCTURE}/forecast.csv", fitted)
    assert {row["measure"] for row in everything} == {"entries", "elements"}


def test_simulated_data_is_labelled_on_every_page(fitted: FastAPI) -> None:
    assert "simulated" in page(fitted, "/forecasts/SIM1/PAYROLL").one("h1").text
    assert "Simulated data" in page(fitted, "/forecasts/SIM1/PAYROLL").one("main").text
    assert "simulated" in page(fitted, "/curves/3").one("h1").text
    for address in (STRUCTURE, "/curves/1"):
        assert "imulated" not in page(fitted, address).one("main").text


def test_texts_of_a_job_are_escaped(fitted: FastAPI) -> None:
    assert NASTY not in get(fitted, STRUCTURE, accept="text/html").text
    assert NASTY in page(fitted, STRUCTURE).text


# ---- from one to the other -------------------------------------------------------------------------------------------


def test_plans_link_to_usage_and_forecasts_and_back(app: FastAPI) -> None:
    store(app, ten_days(days=1))
    store_night(
        app.state.database, forecasts=[forecast_json(), forecast_json(qsg="SQ04", structure="MYDATA")]
    )
    send_json(app, "PUT", "/api/v1/plans/SQ03", changed())
    for address in ("/plans/SQ03", "/plans/SQ03/versions/1/structures/APPLICATION1"):
        links = {link["href"] for link in page(app, address).one("main").all("a")}
        assert {"/usage/SQ03/APPLICATION1", STRUCTURE} <= links, address
        assert not any(link.startswith(("/usage/SQ03/MYDATA", "/forecasts/SQ03/MYDATA")) for link in links)
    back = {link["href"] for link in page(app, STRUCTURE).one("main").all("a")}
    assert "/plans/SQ03/versions/1/structures/APPLICATION1" in back
    assert "/usage/SQ03/APPLICATION1?period=366d" in back


def test_forecast_links_to_resizing_in_each_plan_with_the_structure(app: FastAPI) -> None:
    store_night(app.state.database, forecasts=[forecast_json(), forecast_json(structure="CSQSYSAPPL")])
    browser = Browser(app)
    assert "No plan contains this structure yet" in browser.get(STRUCTURE).words
    saved = send_json(app, "PUT", "/api/v1/plans/SQ03", changed()).json()
    was = {each["name"]: each for each in saved["result"]["structures"]}
    ways = [link for link in browser.get(STRUCTURE).links if "resize=" in link]
    assert [link.partition("times=")[2] for link in ways] == ["1.5", "2"]
    form = browser.get(ways[0])
    assert "INITSIZE and SIZE of APPLICATION1 are 1.5 times those of version 1" in form.words
    outcome = browser.post("/plans/SQ03/edit", {**form.fields, "do": "save"})
    assert outcome.path.startswith("/plans/SQ03?saved=changed")
    now = get(app, "/api/v1/plans/SQ03").json()
    found = next(each for each in now["result"]["structures"] if each["name"] == "APPLICATION1")
    assert found["initsize_given"]
    assert found["size_given"]
    for member in ("initsize_kib", "size_kib"):
        assert was["APPLICATION1"][member] * 1.5 <= found[member] < was["APPLICATION1"][member] * 1.5 + 1024
    assert now["comment"] == "APPLICATION1 1.5 times as large"
    system = browser.get("/plans/SQ03/edit?resize=CSQSYSAPPL&times=2").fields
    assert system["/system/initsize"] == f"{was['CSQSYSAPPL']['initsize_kib'] * 2 // 1024}M"


@pytest.mark.parametrize(
    "query", ["resize=NONE&times=2", "resize=APPLICATION1", "resize=APPLICATION1&times=0", "resize=APPLICATION1&times=1e9", "resize=APPLICATION1&times=99"]
)  # fmt: skip
def test_invalid_size_in_a_link_does_not_change_the_form(fitted: FastAPI, query: str) -> None:
    browser = Browser(fitted)
    asked = browser.get(f"/plans/SQ03/edit?{query}")
    assert asked.status == 200
    plain = browser.get("/plans/SQ03/edit").fields
    assert {key: text for key, text in asked.fields.items() if key.startswith("/")} == {
        key: text for key, text in plain.items() if key.startswith("/")
    }
    assert "cannot be made" in asked.words


def test_forecast_without_a_plan_links_to_a_plan_from_usage(app: FastAPI) -> None:
    store(app, ten_days(days=1))
    store_night(app.state.database, forecasts=[forecast_json()])
    links = Browser(app).get(STRUCTURE).links
    (made,) = [link for link in links if link.startswith("/usage/SQ03/plan?")]
    assert get(app, made, accept="text/html").status == 200


# ---- CFCC levels -----------------------------------------------------------------------------------------------------


def test_cfcc_level_page_suggests_levels_from_plans_and_saves_entries(app: FastAPI) -> None:
    store_curve(app.state.database, coupling_facility="CF09", cfcc_level=None)
    send_json(app, "PUT", "/api/v1/plans/ONE", changed())
    other = changed(qsg="SQ04")
    other["coupling_facilities"][1]["cfcc_level"] = 24
    send_json(app, "PUT", "/api/v1/plans/TWO", other)
    before = {row[0]: row[1:4] for row in table(page(app, "/cf-levels"), "CFCC levels")[1:]}
    assert before["CF01"][:2] == ["25", "the plans"]
    assert before["CF02"] == ["not known", "plans disagree", "24 (TWO), 25 (ONE)"]
    assert before["CF09"] == ["not known", "none", "none"]
    browser = Browser(app)
    kept = browser.post("/cf-levels", {"coupling_facility": "cf02", "cfcc_level": "24"})
    assert kept.path == "/cf-levels?said=put"
    assert get(app, "/api/v1/cf-levels").json()["levels"][0]["cfcc_level"] == 24
    after = {row[0]: row[1:4] for row in table(page(app, "/cf-levels"), "CFCC levels")[1:]}
    assert after["CF02"][0] == "24"
    assert after["CF02"][1].startswith("the site")
    assert after["CF02"][2].endswith("differs")
    removed = browser.post("/cf-levels/remove", {"coupling_facility": "CF02"})
    assert removed.path == "/cf-levels?said=removed"
    assert get(app, "/api/v1/cf-levels").json()["levels"] == []
    assert browser.post("/cf-levels/remove", {"coupling_facility": "CF02"}).status == 404


@pytest.mark.parametrize(
    ("name", "level", "words"),
    [
        ("", "25", "Enter the name of the coupling facility"), ("1CF", "25", "starting with a letter"),
        ("CF01", "", "between 1 and 99"), ("CF01", "0", "between 1 and 99"), ("CF01", "25.5", "between 1 and 99"),
        ("CF01", "\N{ARABIC-INDIC DIGIT TWO}5", "between 1 and 99"), ("CF01", "9" * 5000, "between 1 and 99"),
    ],
)  # fmt: skip
def test_invalid_cfcc_level_is_shown_again_with_an_error(
    fitted: FastAPI, name: str, level: str, words: str
) -> None:
    found = Browser(fitted).post("/cf-levels", {"coupling_facility": name, "cfcc_level": level})
    assert found.status == 422
    assert words in found.words
    assert get(fitted, "/api/v1/cf-levels").json()["levels"] == []


# ---- over REST -------------------------------------------------------------------------------------------------------


def test_rest_returns_a_curve_with_its_points(fitted: FastAPI) -> None:
    found = get(fitted, "/api/v1/curves/1/points").json()
    assert (found["base_bytes"], found["element_bytes"]) == (20 * 1024 * 1024, 290.0)
    assert found["published_base_bytes"] == 22 * 1024 * 1024
    assert len(found["points"]) == 12
    assert found["points"][0]["size_bytes"] - found["points"][0]["fitted_bytes"] == pytest.approx(
        found["points"][0]["residual_bytes"]
    )
    unknown = get(fitted, "/api/v1/curves/2/points").json()
    assert unknown["published_base_bytes"] is unknown["element_bytes"] is None
    assert_problem(get(fitted, "/api/v1/curves/4711/points"), "not-found", 404)


def test_rest_returns_forecasts_with_their_days(fitted: FastAPI) -> None:
    found = get(fitted, "/api/v1/forecasts/SQ03/APPLICATION1").json()
    assert [each["measure"] for each in found["forecasts"]] == ["entries", "elements"]
    elements = found["forecasts"][1]
    assert len(elements["peaks"]) == 119
    assert len(elements["bands"]) == 180
    assert elements["bands"][0]["day"] == "2026-11-21"
    assert elements["crossings"][0]["dates"] == {
        "p10": "2026-12-02",
        "p50": "2026-12-20",
        "p90": "2027-01-14",
    }
    assert elements["score"]["wape"] == 0.081
    assert [each["measure"] for each in get(fitted, "/api/v1/forecasts/SQ03/APPLICATION1?measure=entries").json()["forecasts"]] == ["entries"]  # fmt: skip
    blocks = get(fitted, "/api/v1/forecasts/SQ03/MYDATA?queue_manager=CSQ1").json()["forecasts"]
    assert [each["queue_manager"] for each in blocks] == ["CSQ1"]
    assert_problem(get(fitted, "/api/v1/forecasts/SQ03/NONE"), "not-found", 404)


def test_cfcc_levels_are_set_and_deleted_by_rest(app: FastAPI) -> None:
    kept = send_json(app, "PUT", "/api/v1/cf-levels/cf01", {"cfcc_level": 25})
    assert kept.status == 200, kept.text
    assert (kept.json()["coupling_facility"], kept.json()["source"]) == ("CF01", "the site")
    assert send_json(app, "PUT", "/api/v1/cf-levels/CF01", {"cfcc_level": 24}).json()["cfcc_level"] == 24
    for wrong in (
        {"cfcc_level": 0},
        {"cfcc_level": "25"},
        {"cfcc_level": True},
        {},
        {"cfcc_level": 25, "more": 1},
    ):
        assert_problem(send_json(app, "PUT", "/api/v1/cf-levels/CF01", wrong), "request-invalid", 422)
    assert_problem(send_json(app, "PUT", "/api/v1/cf-levels/1CF", {"cfcc_level": 25}), "request-invalid", 422)
    assert call(app, "DELETE", "/api/v1/cf-levels/cf01").json() == {"levels": [], "findings": []}
    assert_problem(call(app, "DELETE", "/api/v1/cf-levels/CF01"), "not-found", 404)


def test_cfcc_level_is_used_by_the_next_run(app: FastAPI) -> None:
    send_json(app, "PUT", "/api/v1/cf-levels/CF01", {"cfcc_level": 24})
    send_json(app, "PUT", "/api/v1/plans/SQ03", changed())
    with app.state.database.session(writes=False) as session:
        told = facts_of(session, app.state.settings, today=date(2026, 11, 21))
    assert told.cfcc_levels == {"CF01": 24, "CF02": 25}


def test_structure_without_a_forecast_does_not_claim_to_have_one(fitted: FastAPI) -> None:
    found = page(fitted, "/forecasts/SQ03/TINY")
    assert "No forecast was possible on" in found.text
    assert "Forecast made on" not in found.text
    rows = {row[0]: row for row in table(page(fitted, "/forecasts"), "forecasts")[1:]}
    assert "not yet" not in rows["TINY"]
