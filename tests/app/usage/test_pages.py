"""The pages of measured usage in a browser without scripts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.plans import service as plans
from app.settings import Settings
from tests.app.plans.pages.browsing import Browser
from tests.app.usage.support import moment, queue_hour, store, structure_hour, ten_days
from tests.app.web.pages.html import Element, read
from tests.app.web.support import SQ03, get, send_json

STRUCTURE = "/usage/SQ03/APPLICATION1"
TOLD = {"name": "MEASURED", "queue_managers": "5", "cfcc_level": "25", "coupling_facilities": "CF01 CF02"}


@pytest.fixture
def app(tmp_path: Path) -> Iterator[FastAPI]:
    made = create_app(Settings(data_dir=tmp_path / "data"))
    yield made
    made.state.database.close()


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """Return an application with ten days of usage, for tests that change nothing."""
    made = create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))
    store(made, ten_days())
    yield made
    made.state.database.close()


@pytest.fixture
def changing(app: FastAPI) -> FastAPI:
    """Return an application with ten days of usage, for tests that change it."""
    store(app, ten_days())
    return app


def page(app: FastAPI, address: str, *, status: int = 200) -> Element:
    found = get(app, address, accept="text/html")
    assert found.status == status, found.text[:300]
    return read(found.text)


def table(found: Element, name: str) -> list[list[str]]:
    """Return the cells of a table, headings first."""
    region = found.one("div", aria_label=f"Table: {name}")
    return [
        [cell.text.strip() for cell in row.walk() if cell.tag in {"th", "td"}] for row in region.all("tr")
    ]


def test_empty_installation_explains_usage_and_its_sources(app: FastAPI) -> None:
    found = Browser(app).get("/usage")
    assert "No measurements yet" in found.words
    assert "/uploads" in found.links
    assert "/docs/how-to/usage" in found.links
    assert "<table" not in found.text


def test_limit_from_an_earlier_hour_is_shown_with_its_age(changing: FastAPI) -> None:
    store(changing, [structure_hour(300, entries_total=140_000, elements_in_use_max=None)])
    application = table(page(changing, "/usage"), "measured structures")[1]
    assert "of 140000" in application[3]
    assert "d old" not in application[3]
    assert "of 786432 limit 2 d old" in application[4]
    shown = page(changing, STRUCTURE).text
    assert "786432 elements" in shown.replace("\N{NARROW NO-BREAK SPACE}", "")
    assert "2 days before the last hour measured" in shown


def test_cards_of_hours_have_the_time_zone_and_a_line_for_the_records(measured: FastAPI) -> None:
    hours = page(measured, STRUCTURE).one("table", class_="in-threes").one("tbody").all("tr")
    assert {row.one("th")["data-unit"] for row in hours} == {"UTC"}
    assert {"words" in row.all("td")[-1].classes for row in hours} == {True}


def test_structures_are_listed_with_use_limits_and_plans(changing: FastAPI) -> None:
    assert send_json(changing, "PUT", "/api/v1/plans/ONE", SQ03).status == 201
    rows = table(page(changing, "/usage"), "measured structures")
    application = rows[1]
    assert application[:3] == ["APPLICATION1", "SQ03", "Full 6 times since 2026-11-24"]
    assert application[3] == "5.0 6500 of 131072 7 days: 99.2 %"
    assert application[5] == "2026-11-24 12:00"
    assert application[-1] == "ONE"
    persist = rows[3]
    assert persist[2:6] == ["no forecast", "\N{EN DASH}", "\N{EN DASH}", "none seen"]
    assert persist[-1] == "none"


def test_search_without_a_match_shows_a_message(measured: FastAPI) -> None:
    assert (
        "No name in the list of measured structures contains “nowhere”"
        in Browser(measured).get("/usage?search=nowhere").words
    )


def test_long_list_of_structures_is_paged(app: FastAPI) -> None:
    store(app, [structure_hour(0, structure=f"APPL{number:03}") for number in range(120)])
    browser = Browser(app)
    assert [link for link in browser.get("/usage").links if "page=" in link] == [
        "/usage?page=2",
        "/usage?page=3",
    ]
    assert len(table(read(browser.get("/usage?page=3").text), "measured structures")) == 21


def test_page_of_a_structure_has_a_chart_with_marks_and_a_table(measured: FastAPI) -> None:
    found = page(measured, f"{STRUCTURE}?from=2026-11-23&to=2026-11-25")
    drawings = [svg for svg in found.all("svg") if svg.get("role") == "img"]
    assert [svg.get("class") for svg in drawings] == ["wide", "narrow"] * 2
    assert len(drawings[0].all(class_="full-mark")) == 2
    assert len(drawings[0].all(class_="limit")) == 1
    rows = table(found, "usage over time")
    assert len(rows) == 1 + 72
    full = [row for row in rows[1:] if row[7] not in {"0", "\N{EN DASH}"}]
    assert [row[0] for row in full] == ["2026-11-24 12:00", "2026-11-24 11:00"]
    assert full[0][:8] == ["2026-11-24 12:00", "130000", "131072", "99.2", "786432", "786432", "100.0", "3"]


def test_tables_and_their_files_have_the_same_figures(measured: FastAPI) -> None:
    query = "from=2026-11-23&to=2026-11-25"
    shown = table(page(measured, f"{STRUCTURE}?{query}"), "usage over time")[1:]
    answer = get(measured, f"{STRUCTURE}/usage.csv?{query}")
    assert answer.headers["content-disposition"] == 'attachment; filename="SQ03-APPLICATION1-usage.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == len(shown) == 72
    for row, cells in zip(reversed(rows), shown, strict=True):
        assert row["at"] == cells[0].replace(" ", "T") + ":00Z"
        assert [row["entries_in_use_max"], row["entries_total"]] == cells[1:3]
        assert [row["elements_in_use_max"], row["elements_total"], row["structure_full_count"]] == [
            cells[4], cells[5], cells[7],
        ]  # fmt: skip


def test_queues_can_be_downloaded_as_files(measured: FastAPI) -> None:
    rows = list(csv.DictReader(io.StringIO(get(measured, f"{STRUCTURE}/queues.csv").text)))
    assert {row["queue"]: row["mean_bytes"] for row in rows} == {
        "AUDIT.COPY": "700.0", "ORDERS.IN": "3500.0", "PAYMENTS.IN": "1024.0",
    }  # fmt: skip
    hours = list(
        csv.DictReader(io.StringIO(get(measured, f"{STRUCTURE}/queue.csv?name=ORDERS.IN&period=1d").text))
    )
    assert len(hours) == 24


def test_unmeasured_values_are_shown_as_a_dash_and_explained(app: FastAPI) -> None:
    store(app, [structure_hour(0, structure_full_count=None)])
    found = page(app, STRUCTURE)
    row = table(found, "usage over time")[1]
    assert row[2] == row[3] == row[7] == "\N{EN DASH}"
    assert "No record gives the total entries and elements of the structure" in found.text
    assert "None of its queues were measured" in found.text


def test_reported_percentage_is_drawn_on_a_scale_of_100(app: FastAPI) -> None:
    store(app, [structure_hour(h, entries_in_use_max=None, entries_in_use_pct_max=61.5) for h in (0, 1)])
    found = page(app, STRUCTURE)
    assert "List entries in use, as reported" in found.text
    assert "total 100" in found.text


def test_thresholds_of_the_plan_are_drawn_as_shares_of_the_limit(changing: FastAPI) -> None:
    assert "FULLTHRESHOLD" not in page(changing, STRUCTURE).text, "there is no plan"
    offload = {"rules": [{"usage_over": 60, "size_over": "8K"}, {"usage_over": 75, "size_over": "64K"}]}
    structures = [{"name": "APPLICATION1", "full_threshold": 82, "offload": offload, "queues": []}]
    plan = {"qsg": "SQ03", "queue_managers": 5, "structures": structures}
    assert send_json(changing, "PUT", "/api/v1/plans/SHARES", plan).status == 201
    words = page(changing, STRUCTURE).text
    assert "FULLTHRESHOLD 82 %" in words
    assert "offload 60 %" in words
    assert "offload 75 %" not in words, "64K means that the rule is off"
    assert "the offload rules of the plan SHARES" in words


def test_invalid_period_is_reported(measured: FastAPI) -> None:
    found = Browser(measured).get(f"{STRUCTURE}?from=2026-11-25&to=2026-11-20")
    assert "The period ends before it starts." in found.words
    assert found.fields["to"] == "2026-11-25"


def test_period_links_lead_through_all_hours(measured: FastAPI) -> None:
    browser = Browser(measured)
    here, seen = f"{STRUCTURE}?period=1d", set[str]()
    for _ in range(20):
        found = read(browser.get(here).text)
        seen |= (
            {row[0] for row in table(found, "usage over time")[1:]}
            if found.all(aria_label="Table: usage over time")
            else set()
        )
        earlier = [link["href"] for link in found.all("a") if link.text == "earlier"]
        if not earlier:
            break
        here = earlier[0]
    assert len(seen) == 240 - 4


def test_page_of_a_queue_has_charts_of_rate_depth_and_sizes(measured: FastAPI) -> None:
    found = page(measured, f"{STRUCTURE}/queue?name=ORDERS.IN&period=1d")
    assert "20.00" in found.text
    assert "up to 4096 bytes" in found.text
    assert len(table(found, "the queue over time")) == 25
    assert len(found.all(class_="bar-of")) == 2 * 2  # for wide and for narrow pages


@pytest.mark.parametrize(
    "address",
    [
        "/usage/SQ03/NOTHING", "/usage/XX/APPLICATION1", f"{STRUCTURE}/queue", f"{STRUCTURE}/queue?name=NONE",
        "/usage/SQ03/A%00B", f"{STRUCTURE}/queue?name=%00", "/usage/XX/plan", f"{STRUCTURE}/queue.csv?name=NONE",
    ],
)  # fmt: skip
def test_unmeasured_structures_are_not_found(measured: FastAPI, address: str) -> None:
    assert "There is no measured usage" in page(measured, address, status=404).text


def test_names_with_characters_reserved_in_urls_have_working_pages(app: FastAPI) -> None:
    store(app, [structure_hour(0, qsg="A#$@"), queue_hour(0, qsg="A#$@", queue="A/B%C")])
    browser = Browser(app)
    (structure,) = [link for link in browser.get("/usage").links if link.endswith("/APPLICATION1")]
    found = browser.get(structure)
    assert found.status == 200
    (queue,) = [link for link in found.links if "/queue?name=" in link]
    assert "A/B%C" in browser.get(queue).words


def test_chart_script_is_linked_below_the_path_of_a_proxy(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path))
    store(app, ten_days(days=1))
    app.root_path = "/cfplan"
    found = read(get(app, STRUCTURE, accept="text/html").text)
    (plot,) = found.all(class_="plotted")
    assert plot["data-script"].startswith("/cfplan/assets/plotly/")
    app.state.database.close()


# ---- plans -----------------------------------------------------------------------------------------------------------


def post(app: FastAPI, **fields: str | list[str]) -> tuple[int, str, str]:
    """Send the form, and return the status, the final path and the page."""
    pairs = {
        **TOLD,
        "backlog": "depth",
        "sizes": "mean",
        "queue": ["APPLICATION1/PAYMENTS.IN"],
        "do": "save",
        **fields,
    }
    answer = Browser(app).ask(
        "POST",
        "/usage/SQ03/plan",
        content=urlencode(pairs, doseq=True).encode(),
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    return answer.status_code, answer.url.raw_path.decode(), answer.text


def test_form_selects_requested_queues_and_fills_in_only_measured_facts(
    measured: FastAPI,
) -> None:
    found = page(measured, "/usage/SQ03/plan?structure=APPLICATION1")
    ticked = [box["value"] for box in found.all("input", name="queue") if "checked" in box.attributes]
    assert ticked == ["APPLICATION1/AUDIT.COPY", "APPLICATION1/ORDERS.IN", "APPLICATION1/PAYMENTS.IN"]
    assert found.one("input", name="queue_managers")["value"] == "CSQ1"  # whose data sets were measured
    for name in ("cfcc_level", "coupling_facilities", "outage_minutes"):
        assert found.one("input", name=name)["value"] == ""
    assert not any("checked" in box.attributes for box in found.all("input", name="persistent_when_unknown"))
    assert "At most 2 reported in one hour." in found.text
    assert not any("CSQ_ADMIN" in each.text for each in found.all("summary"))


def test_period_of_the_structures_page_is_kept(measured: FastAPI) -> None:
    browser = Browser(measured)
    (link,) = [
        each for each in browser.get(f"{STRUCTURE}?from=2026-11-16&to=2026-11-17").links if "/plan?" in each
    ]
    found = browser.get(link)
    assert (found.fields["from"], found.fields["to"]) == (moment(0), moment(48))
    status, _, text = post(measured, do="check", **{"from": moment(0), "to": moment(48)})
    assert status == 200
    assert "2026-11-16 00:00 to 2026-11-18 00:00 UTC" in text


def test_preview_stores_nothing(measured: FastAPI) -> None:
    status, path, text = post(measured, do="check")
    assert (status, path) == (200, "/usage/SQ03/plan")
    (row,) = table(read(text), "queues of the plan")[1:]
    assert row == ["PAYMENTS.IN", "APPLICATION1", "1024", "40000", "", "", "yes"]
    assert len(table(read(text), "sizes of the structures")) == 4
    assert "no 95th percentile" in text
    with measured.state.database.session(writes=False) as session:
        assert plans.list_plans(session).total == 0


def test_saved_plan_opens_in_the_editor_and_names_its_measurements(changing: FastAPI) -> None:
    status, path, text = post(
        changing, backlog="rate", outage_minutes="90", **{"p95:APPLICATION1/PAYMENTS.IN": "4 000"}
    )
    assert (status, path) == (200, "/plans/MEASURED/edit?made=usage")
    assert "Created from measured usage of SQ03" in text
    with changing.state.database.session(writes=False) as session:
        saved = plans.get_plan(session, "MEASURED")
    assert saved.comment is not None
    assert "put rate of the busiest hour times 90 minutes" in saved.comment
    assert [cf.name for cf in saved.document.coupling_facilities] == ["CF01", "CF02"]
    (structure,) = saved.document.structures
    (queue,) = structure.queues
    assert queue.model_dump(mode="json", include={"put_rate_per_s", "outage_minutes", "message_bytes", "persistent"}) == {
        "put_rate_per_s": 10, "outage_minutes": 90, "message_bytes": {"mean": 1024, "p95": 4000, "max": 9216}, "persistent": True,
    }  # fmt: skip
    assert get(changing, "/api/v1/plans/MEASURED/policy").text.count("STRUCTURE NAME(") == 3


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"queue_managers": ""}, "Queue managers: Enter a number, or names"),
        ({"queue_managers": "TOOLONG"}, "Queue managers: "),
        ({"cfcc_level": ""}, "CFCC level: Enter a number."),
        ({"cfcc_level": "twenty"}, "CFCC level: Enter a whole number"),
        ({"cfcc_level": "0"}, "Must be between 1 and 99"),
        ({"coupling_facilities": "1ST"}, "Coupling facilities"),
        ({"backlog": "rate"}, "Longest outage: Enter a number."),
        ({"backlog": "guess"}, "Backlog: Choose one."),
        ({"queue": []}, "Select at least one queue."),
        ({"queue": ["APPLICATION1/AUDIT.COPY"]}, "If persistence was not measured"),
        ({"p95:APPLICATION1/PAYMENTS.IN": "most"}, "95th percentile of PAYMENTS.IN: Enter a whole number"),
        (
            {"p95:APPLICATION1/PAYMENTS.IN": "99999"},
            "95th percentile of PAYMENTS.IN: P95 (99999) must not be above max",
        ),
        ({"queue_managers": "33"}, "33"),
        ({"name": "a b"}, "The name of a plan has 1 to 64 characters"),
    ],
)
def test_errors_are_shown_next_to_fields_and_typed_values_are_kept(
    measured: FastAPI, fields: dict[str, str | list[str]], words: str
) -> None:
    status, _, text = post(measured, **{"sizes": "largest", **fields})
    found = read(text)
    assert status == 422
    assert words in found.one("div", role="alert").text
    assert found.one("input", id="sizes-largest").attributes.get("checked") is not None
    for name, value in {**TOLD, **fields}.items():
        if isinstance(value, str) and name in TOLD:
            assert found.one("input", name=name)["value"] == value


def test_name_of_an_existing_plan_is_refused_and_that_plan_unchanged(changing: FastAPI) -> None:
    assert send_json(changing, "PUT", "/api/v1/plans/MEASURED", SQ03).status == 201
    status, _, text = post(changing)
    assert status == 422
    assert "A plan called MEASURED already exists" in text
    assert get(changing, "/api/v1/plans/MEASURED").json()["version"] == 1


def test_plan_without_any_plannable_queue_is_not_saved_and_the_reason_shown(app: FastAPI) -> None:
    store(app, [structure_hour(0), queue_hour(0, depth_max=None)])
    status, _, text = post(app)
    assert status == 422
    alert = read(text).one("div", role="alert").text
    assert "None of the selected queues can be planned." in alert
    assert "PAYMENTS.IN: left out. Its highest depth was not measured in the period." in alert


def test_group_with_only_csq_admin_measured_offers_no_queues(
    app: FastAPI,
) -> None:
    store(app, [structure_hour(0, structure="CSQ_ADMIN")])
    found = page(app, "/usage/SQ03/plan")
    assert found.all("input", name="queue") == []
    assert "No application structure of SQ03 was measured" in found.text
    assert "Create a plan" not in page(app, "/usage/SQ03/CSQ_ADMIN").text


def test_invalid_form_is_refused(measured: FastAPI) -> None:
    answer = Browser(measured).ask(
        "POST",
        "/usage/SQ03/plan",
        content=b"\xff=1",
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    assert answer.status_code == 422


def test_very_long_form_shows_the_queues_of_only_one_structure(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.usage.plan_pages.MOST_LISTED", 3)
    lines = [structure_hour(0, structure=name) for name in ("ONE", "TWO")]
    lines += [queue_hour(0, structure=name, queue=f"{name}.{n}") for name in ("ONE", "TWO") for n in range(2)]
    store(app, lines)
    for address, listed in (("/usage/SQ03/plan", "ONE"), ("/usage/SQ03/plan?structure=TWO", "TWO")):
        found = page(app, address)
        boxes = [box["value"] for box in found.all("input", name="queue")]
        assert boxes == [f"{listed}/{listed}.0", f"{listed}/{listed}.1"]
        assert "Start over with another structure included" in found.text


def test_another_structure_can_be_added_and_stays_when_the_form_is_sent(measured: FastAPI) -> None:
    found = page(measured, "/usage/SQ03/plan?structure=APPLICATION1&period=1d")
    (other,) = [link["href"] for link in found.all("a") if link.text == "PERSIST1"]
    both = [each["value"] for each in page(measured, other).all("input", name="structure")]
    assert both == ["APPLICATION1", "PERSIST1"]
    _, _, text = post(measured, do="check", structure=both)
    assert [each["value"] for each in read(text).all("input", name="structure")] == both


# ---- the list ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """Return an application with structures of two groups: one full now, one full yesterday, one never measured."""
    made = create_app(Settings(data_dir=Path(tmp_path_factory.mktemp("data"))))
    totals = {"entries_total": 1000, "elements_total": 6000}
    store(
        made,
        [
            structure_hour(0, structure="QUIET", entries_in_use_max=100, elements_in_use_max=60, **totals),
            structure_hour(0, structure="BUSY", entries_in_use_max=900, elements_in_use_max=60, **totals),
            structure_hour(0, structure="HOLDS", entries_in_use_max=100, elements_in_use_max=5400, **totals),
            structure_hour(0, structure="WAS_FULL", structure_full_count=4, **totals),
            structure_hour(30, structure="WAS_FULL", entries_in_use_max=1, elements_in_use_max=1, **totals),
            structure_hour(30, structure="FULL", entries_in_use_max=1000, elements_in_use_max=60, **totals),
            structure_hour(
                0, qsg="SQ04", structure="UNKNOWN", entries_in_use_max=None, elements_in_use_max=None
            ),
            queue_hour(0, structure="QUIET", queue="A"),
            queue_hour(0, structure="QUIET", queue="B"),
            queue_hour(0, structure="BUSY", queue="A"),
        ],
    )
    yield made
    made.state.database.close()


ALL = ("FULL", "WAS_FULL", "BUSY", "HOLDS", "QUIET", "UNKNOWN")


def names(app: FastAPI, query: str = "") -> list[str]:
    return [row[0] for row in table(page(app, f"/usage?{query}"), "measured structures")[1:]]


def test_list_shows_full_structures_first_and_then_the_most_used(fleet: FastAPI) -> None:
    assert tuple(names(fleet)) == ALL
    rows = {row[0]: row for row in table(page(fleet, "/usage"), "measured structures")[1:]}
    assert rows["FULL"][2] == "Full now, on 2026-11-17"
    assert rows["WAS_FULL"][2] == "Full 4 times since 2026-11-16"
    assert rows["BUSY"][2] == "no forecast"


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("-urgency", ALL[::-1]),
        ("structure", ("BUSY", "FULL", "HOLDS", "QUIET", "UNKNOWN", "WAS_FULL")),
        ("-qsg", ("UNKNOWN", "BUSY", "FULL", "HOLDS", "QUIET", "WAS_FULL")),
        ("-entries_percent", ("FULL", "BUSY", "HOLDS", "QUIET", "WAS_FULL", "UNKNOWN")),
        ("elements_percent", ("WAS_FULL", "BUSY", "FULL", "QUIET", "HOLDS", "UNKNOWN")),
        ("-last_full_hour", ("WAS_FULL", "BUSY", "FULL", "HOLDS", "QUIET", "UNKNOWN")),
        ("-use_hour", ("FULL", "WAS_FULL", "BUSY", "HOLDS", "QUIET", "UNKNOWN")),
        ("-queues", ("QUIET", "BUSY", "FULL", "HOLDS", "WAS_FULL", "UNKNOWN")),
    ],
)  # fmt: skip
def test_list_file_and_rest_have_the_requested_order(
    fleet: FastAPI, sort: str, expected: tuple[str, ...]
) -> None:
    assert tuple(names(fleet, f"sort={sort}")) == expected
    rows = list(csv.DictReader(io.StringIO(get(fleet, f"/usage.csv?sort={sort}").text)))
    assert tuple(row["structure"] for row in rows) == expected
    found = get(fleet, f"/api/v1/usage/structures?sort={sort}").json()["structures"]
    assert tuple(each["structure"] for each in found) == expected


def test_rest_list_without_a_sort_key_is_sorted_by_group_and_name(fleet: FastAPI) -> None:
    found = get(fleet, "/api/v1/usage/structures").json()["structures"]
    assert [each["structure"] for each in found] == ["BUSY", "FULL", "HOLDS", "QUIET", "WAS_FULL", "UNKNOWN"]


def test_filter_keeps_the_order_and_limits_the_file(fleet: FastAPI) -> None:
    assert names(fleet, "search=full") == ["FULL", "WAS_FULL"]
    assert names(fleet, "search=full&sort=-structure") == ["WAS_FULL", "FULL"]
    rows = list(csv.DictReader(io.StringIO(get(fleet, "/usage.csv?search=sq04").text)))
    assert [row["structure"] for row in rows] == ["UNKNOWN"]


def test_file_has_the_figures_of_the_list(fleet: FastAPI) -> None:
    rows = {row["structure"]: row for row in csv.DictReader(io.StringIO(get(fleet, "/usage.csv").text))}
    assert rows["BUSY"] == {
        "structure": "BUSY", "qsg": "SQ03", "urgency": "no forecast", "next_limit_day": "", "entries_in_use": "900", "entries_total": "1000",
        "entries_percent": "90.0", "entries_percent_of_week": "90.0", "elements_in_use": "60", "elements_total": "6000",
        "elements_percent": "1.0", "elements_percent_of_week": "1.0", "last_full_hour": "",
        "use_hour": "2026-11-16T00:00:00Z", "queues": "1", "plans": "",
    }  # fmt: skip


@pytest.mark.parametrize("address", ["/usage", "/usage.csv"])
def test_list_refuses_an_unknown_sort_key(fleet: FastAPI, address: str) -> None:
    answer = get(fleet, f"{address}?sort=size", accept="text/html")
    assert answer.status == 422
    assert "It can be sorted by structure, qsg, urgency" in answer.text


def test_rest_list_refuses_an_unknown_sort_key(fleet: FastAPI) -> None:
    answer = get(fleet, "/api/v1/usage/structures?sort=size")
    assert answer.status == 422
    assert answer.json()["errors"][0]["field"] == "sort"
