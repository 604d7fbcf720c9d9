"""Measured usage over REST, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from sqlalchemy import URL

from planner_core.document.reading import read_object
from tests.app.plans.support import app_on
from tests.app.usage.support import moment, queue_hour, store, structure_hour, ten_days
from tests.app.web.support import SQ03, Json, get, post_json, send_json

STRUCTURE = "/api/v1/usage/structures/SQ03/APPLICATION1"
ASKED = {"qsg": "SQ03", "queue_managers": 5, "cfcc_level": 25, "coupling_facilities": ["CF01", "CF02"]}


@pytest.fixture
def app(url: URL) -> Iterator[FastAPI]:
    made = app_on(url)
    yield made
    made.state.database.close()


@pytest.fixture
def measured(app: FastAPI) -> FastAPI:
    store(app, ten_days())
    return app


def answer(app: FastAPI, address: str) -> Json:
    found = get(app, address)
    assert found.status == 200, found.text
    assert found.json()["findings"] == []
    return found.json()


def plan_from_usage(app: FastAPI, **members: object) -> Json:
    found = post_json(app, "/api/v1/usage/plan-document", {**ASKED, **members})
    assert found.status == 200, found.text
    return found.json()


def queues_of(document: dict[str, Any]) -> dict[str, Any]:
    return {queue["name"]: queue for structure in document["structures"] for queue in structure["queues"]}


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("urgency", ["APPLICATION1", "CSQ_ADMIN", "PERSIST1"]),
        ("-urgency", ["PERSIST1", "CSQ_ADMIN", "APPLICATION1"]),
        ("entries_percent", ["APPLICATION1", "CSQ_ADMIN", "PERSIST1"]),
        ("-entries_percent", ["CSQ_ADMIN", "APPLICATION1", "PERSIST1"]),
        ("-queues", ["APPLICATION1", "CSQ_ADMIN", "PERSIST1"]),
    ],
)
def test_structures_are_listed_in_the_requested_order(
    measured: FastAPI, sort: str, expected: list[str]
) -> None:
    found = answer(measured, f"/api/v1/usage/structures?sort={sort}")
    assert [each["structure"] for each in found["structures"]] == expected


def test_structures_are_listed_with_their_latest_figures(measured: FastAPI) -> None:
    found = answer(measured, "/api/v1/usage/structures")
    assert (found["total"], [each["structure"] for each in found["structures"]]) == (
        3,
        ["APPLICATION1", "CSQ_ADMIN", "PERSIST1"],
    )
    application, _, persist = found["structures"]
    assert application["last_hour"] == moment(239)
    assert application["entries_percent"] == round(application["entries_in_use"] / 131_072 * 100, 4)
    assert application["limits"] == limits(moment(239))
    assert application["last_full_hour"] == moment(204)
    assert application["queues"] == 3
    assert (persist["entries_in_use"], persist["use_hour"], persist["limits"]) == (None, None, None)


def limits(at: str) -> dict[str, Any]:
    return {
        "at": at, "entries_total": 131_072, "entries_at": at, "elements_total": 786_432, "elements_at": at,
    }  # fmt: skip


def test_newer_display_of_entries_only_does_not_hide_the_limit_of_elements(measured: FastAPI) -> None:
    """DISPLAY CFSTATUS knows entries and no elements."""
    blank = {"entries_in_use_max": 10, "elements_in_use_max": None, "sources": ["display CFSTATUS"]}
    store(measured, [structure_hour(300, entries_total=140_000, **blank)])
    expected = {
        "at": moment(300), "entries_total": 140_000, "entries_at": moment(300),
        "elements_total": 786_432, "elements_at": moment(239),
    }  # fmt: skip
    application, *_ = answer(measured, "/api/v1/usage/structures")["structures"]
    assert application["limits"] == expected
    assert application["elements_percent"] is None  # of the last hour with use, none were told
    assert (
        answer(measured, f"{STRUCTURE}?from=2026-11-29T00:00Z&to=2026-11-30T00:00Z")["limits_before"]
        == expected
    )


def test_limit_before_the_period_is_the_latest_of_each_pool(measured: FastAPI) -> None:
    store(measured, [structure_hour(300, entries_total=140_000)])
    found = answer(measured, f"{STRUCTURE}?from=2026-11-28T00:00Z&to=2026-11-28T06:00Z")["limits_before"]
    assert (found["entries_at"], found["elements_at"]) == (moment(239), moment(239))


def test_installation_without_usage_lists_no_structures(app: FastAPI) -> None:
    assert answer(app, "/api/v1/usage/structures")["structures"] == []
    assert get(app, STRUCTURE).status == 404
    assert "no measured usage" in get(app, STRUCTURE).json()["detail"]


def test_search_covers_groups_and_names_without_wildcards(measured: FastAPI) -> None:
    store(measured, [structure_hour(0, qsg="AB_1", structure="OTHER")])
    for search, expected in (
        ("appl", ["APPLICATION1"]),
        ("ab_1", ["OTHER"]),
        ("%", []),
        ("q_a", ["CSQ_ADMIN"]),
    ):
        found = answer(measured, f"/api/v1/usage/structures?search={quote(search)}")
        assert [each["structure"] for each in found["structures"]] == expected


def test_plans_are_linked_by_group_and_name_and_only_by_their_latest_version(measured: FastAPI) -> None:
    def plans() -> dict[str, list[str]]:
        found = answer(measured, "/api/v1/usage/structures")["structures"]
        return {each["structure"]: each["plans"] for each in found}

    other = {**SQ03, "structures": [{**SQ03["structures"][0], "name": "ELSEWHERE"}]}
    assert send_json(measured, "PUT", "/api/v1/plans/ONE", SQ03).status == 201
    assert send_json(measured, "PUT", "/api/v1/plans/TWO", {**SQ03, "qsg": "SQ04"}).status == 201
    assert plans() == {"APPLICATION1": ["ONE"], "CSQ_ADMIN": ["ONE"], "PERSIST1": []}
    assert send_json(measured, "PUT", "/api/v1/plans/ONE", other, if_match="*").status == 200
    assert plans() == {"APPLICATION1": [], "CSQ_ADMIN": ["ONE"], "PERSIST1": []}


def test_structure_is_returned_with_its_last_seven_days_by_hours(measured: FastAPI) -> None:
    found = answer(measured, STRUCTURE)
    assert found["period"] == {"first": moment(72), "past": moment(240), "by": "hour"}
    assert len(found["points"]) == 168 - 4  # four hours have no records
    full = [point["at"] for point in found["points"] if point["structure_full_count"]]
    assert full == [moment(203), moment(204)]
    assert found["limits_before"] == limits(moment(71))
    assert found["smds"][0] == {
        "queue_manager": "CSQ1", "blocks_data": 400, "blocks_in_use_max": 100, "messages_max": 40, "failed_allocates": 0,
    }  # fmt: skip


def test_days_show_the_highest_hour_with_the_limit_of_that_hour(app: FastAPI) -> None:
    store(
        app,
        [
            structure_hour(1, entries_in_use_max=10, entries_total=100, structure_full_count=1),
            structure_hour(2, entries_in_use_max=30, entries_total=200, structure_full_count=2),
            structure_hour(3, entries_in_use_max=None, entries_total=400, structure_full_count=None),
        ],
    )
    (day,) = answer(app, f"{STRUCTURE}?by=day")["points"]
    assert (day["at"], day["entries_in_use_max"], day["entries_total"]) == (moment(0), 30, 200)
    assert (day["entries_percent"], day["structure_full_count"]) == (15, 3)


def test_unmeasured_values_are_null_and_not_zero(app: FastAPI) -> None:
    store(app, [structure_hour(0, entries_in_use_max=None, structure_full_count=None)])
    (point,) = answer(app, STRUCTURE)["points"]
    assert point["entries_in_use_max"] is None
    assert point["structure_full_count"] is None
    assert point["elements_in_use_max"] == 6000
    assert point["elements_percent"] is None


def test_reported_percentage_is_used_when_no_limit_is_known(app: FastAPI) -> None:
    store(app, [structure_hour(0, entries_in_use_max=None, entries_in_use_pct_max=61.5)])
    assert answer(app, STRUCTURE)["points"][0]["entries_percent"] == 61.5


@pytest.mark.parametrize(
    ("query", "first", "past", "by"),
    [
        (f"from={moment(10)}&to={moment(20)}", 10, 20, "hour"),
        (f"to={moment(200)}", 32, 200, "hour"),
        (f"from={moment(0)}", 0, 240, "hour"),
        (f"from={moment(-800)}", -800, 240, "day"),
        (f"from={moment(-800)}&by=hour", -800, 240, "hour"),
    ],
)
def test_period_can_be_chosen(measured: FastAPI, query: str, first: int, past: int, by: str) -> None:
    found = answer(measured, f"{STRUCTURE}?{query}")
    assert found["period"] == {"first": moment(first), "past": moment(past), "by": by}
    for point in found["points"]:
        assert moment(first - 24) < point["at"] < moment(past)


@pytest.mark.parametrize(
    "query", [f"from={moment(5)}&to={moment(5)}", "from=yesterday", "from=2026-11-16T00:00:00", "to=0001-01-01T00:00:00Z", "by=week"]
)  # fmt: skip
def test_invalid_period_is_refused(measured: FastAPI, query: str) -> None:
    refused = get(measured, f"{STRUCTURE}?{query}")
    assert refused.status == 422
    assert refused.json()["errors"]


def test_queues_are_listed_with_the_hours_of_their_peaks(measured: FastAPI) -> None:
    found = answer(measured, f"{STRUCTURE}/queues?from={moment(192)}")
    payments = next(each for each in found["queues"] if each["queue"] == "PAYMENTS.IN")
    assert payments["hours"] == 48
    assert payments["mean_bytes"] == 1024
    assert (payments["size_min_bytes"], payments["size_max_bytes"]) == (256, 9216)
    assert payments["busiest_hour_puts"] == 36_000
    assert payments["busiest_hour"] == moment(192 + 12)
    assert payments["depth_max"] == 40_000
    assert payments["depth_hour"] == moment(204)
    assert next(each for each in found["queues"] if each["queue"] == "AUDIT.COPY")["persistent_puts"] is None


def test_mean_uses_only_hours_with_known_bytes(app: FastAPI) -> None:
    store(app, [structure_hour(0), queue_hour(0), queue_hour(1, put_bytes=None, puts=1_000_000)])
    (queue,) = answer(app, f"{STRUCTURE}/queues")["queues"]
    assert (queue["mean_bytes"], queue["puts"]) == (1000, 1_036_000)


def test_queue_is_returned_with_its_hours_and_sizes(measured: FastAPI) -> None:
    found = answer(measured, f"{STRUCTURE}/queue?name=ORDERS.IN&from={moment(204)}&to={moment(205)}")
    (point,) = found["points"]
    assert (point["puts"], point["puts_per_s"], point["mean_bytes"]) == (72_000, 20.0, 3500)
    assert found["sizes"] == [{"up_to_bytes": 512, "puts": 18_000}, {"up_to_bytes": 4096, "puts": 54_000}]
    assert get(measured, f"{STRUCTURE}/queue?name=NOT.THERE").status == 404


def test_queue_by_days_adds_puts_and_keeps_the_busiest_hour(measured: FastAPI) -> None:
    day = answer(measured, f"{STRUCTURE}/queue?name=PAYMENTS.IN&by=day")["points"][0]
    assert day["hours"] == 24
    assert day["puts"] > day["busiest_hour_puts"] == 36_000


# ---- plans -----------------------------------------------------------------------------------------------------------


def test_plan_uses_the_highest_depth_and_the_mean_size(measured: FastAPI) -> None:
    found = plan_from_usage(measured, queues=["PAYMENTS.IN", "ORDERS.IN"])
    queues = queues_of(found["document"])
    assert [each["name"] for each in found["document"]["structures"]] == ["APPLICATION1"]
    assert queues["PAYMENTS.IN"] == {
        **queues["PAYMENTS.IN"], "message_bytes": 1024, "backlog": 40_000, "persistent": True, "put_rate_per_s": None,
    }  # fmt: skip
    assert (queues["ORDERS.IN"]["message_bytes"], queues["ORDERS.IN"]["persistent"]) == (3500, False)
    assert read_object(found["document"]).admin.entsmax == 26_000  # of CSQ_ADMIN, which was measured
    assert found["comment"].startswith(
        "Created from measured usage of SQ03, 2026-11-19 00:00 to 2026-11-26 00:00 UTC: 2 queues"
    )
    assert {each["queue"] for each in found["rests_on"]} == {"PAYMENTS.IN", "ORDERS.IN"}
    assert any("no 95th percentile" in remark for remark in found["remarks"])
    assert any(remark.startswith("PERSIST1: left out") for remark in found["remarks"])
    assert send_json(measured, "PUT", "/api/v1/plans/MEASURED", found["document"]).status == 201


def test_plan_uses_the_busiest_hour_and_an_outage(measured: FastAPI) -> None:
    found = plan_from_usage(
        measured, queues=["ORDERS.IN"], backlog="rate", outage_minutes=90, sizes="largest"
    )
    (queue,) = queues_of(found["document"]).values()
    assert (queue["put_rate_per_s"], queue["outage_minutes"], queue["backlog"]) == (20, 90, None)
    assert queue["message_bytes"] == 31_500


def test_put_rate_is_rounded_up(app: FastAPI) -> None:
    store(app, [structure_hour(0), queue_hour(0, puts=1)])
    found = plan_from_usage(app, backlog="rate", outage_minutes=1)
    assert queues_of(found["document"])["PAYMENTS.IN"]["put_rate_per_s"] == 0.001


def test_plan_with_a_95th_percentile_has_a_size_distribution(measured: FastAPI) -> None:
    found = plan_from_usage(measured, queues=["PAYMENTS.IN"], p95_bytes={"PAYMENTS.IN": 4000})
    assert queues_of(found["document"])["PAYMENTS.IN"]["message_bytes"] == {
        "mean": 1024,
        "p95": 4000,
        "max": 9216,
    }
    assert not any("95th percentile" in remark for remark in found["remarks"])


def test_request_must_state_persistence_if_it_was_not_measured(measured: FastAPI) -> None:
    refused = post_json(measured, "/api/v1/usage/plan-document", {**ASKED, "backlog": "rate"})
    assert refused.status == 422
    assert {each["field"] for each in refused.json()["errors"]} == {
        "outage_minutes",
        "persistent_when_unknown",
    }
    assert "AUDIT.COPY" in refused.json()["detail"]
    found = plan_from_usage(measured, persistent_when_unknown=True)
    assert queues_of(found["document"])["AUDIT.COPY"]["persistent"] is True
    assert any("Planned as persistent, as you specified" in remark for remark in found["remarks"])


@pytest.mark.parametrize("missing", ["queue_managers", "cfcc_level"])
def test_request_without_a_fact_that_is_not_measured_is_refused(measured: FastAPI, missing: str) -> None:
    asked = {key: value for key, value in ASKED.items() if key != missing}
    refused = post_json(measured, "/api/v1/usage/plan-document", asked)
    assert refused.status == 422
    assert missing in refused.text


def test_queues_with_too_little_data_are_left_out_with_a_remark(app: FastAPI) -> None:
    lines = [
        structure_hour(0),
        queue_hour(0, queue="NOTHING.PUT", puts=0, put_bytes=0, persistent_puts=0),
        queue_hour(0, queue="NO.DEPTH", depth_max=None),
        queue_hour(0, queue="KNOWN"),
    ]
    store(app, lines)
    found = plan_from_usage(app)
    assert set(queues_of(found["document"])) == {"KNOWN"}
    assert any("NOTHING.PUT: left out" in remark for remark in found["remarks"])
    assert any("NO.DEPTH: left out" in remark for remark in found["remarks"])


@pytest.mark.parametrize("largest", [None, 0])
def test_unmeasured_largest_message_is_not_planned(app: FastAPI, largest: int | None) -> None:
    store(app, [structure_hour(0), queue_hour(0, put_size_max_bytes=largest)])
    for asked in ({"sizes": "largest"}, {"p95_bytes": {"PAYMENTS.IN": 2000}}):
        found = plan_from_usage(app, **asked)
        assert found["document"]["structures"] == []
        assert (
            "PAYMENTS.IN: left out. Its largest message was not measured in the period." in found["remarks"]
        )
    assert queues_of(plan_from_usage(app)["document"])["PAYMENTS.IN"]["message_bytes"] == 1000


def test_structure_that_held_more_than_its_planned_backlog_has_a_remark(app: FastAPI) -> None:
    store(app, [structure_hour(0, entries_in_use_max=9_999), queue_hour(0)])
    assert any(
        "9999 list entries were in use at most" in remark for remark in plan_from_usage(app)["remarks"]
    )


# Messages of 1000 bytes with a header of 372 bytes take 6 elements.
@pytest.mark.parametrize(
    ("entries", "elements", "ending"),
    [
        (1000, 6999, "Messages of the planned sizes take 6.0, weighted by puts, which is enough."),
        (1000, 7000, "plan with larger sizes."),
        (1000, 3000, "which is enough."),
        (0, 0, None),
        (None, 9000, None),
        (1000, None, None),
    ],
)
def test_planned_sizes_are_compared_with_the_elements_of_written_entries(
    app: FastAPI, entries: int | None, elements: int | None, ending: str | None
) -> None:
    counts = {"entries_written": entries, "elements_written": elements}
    store(app, [structure_hour(0, **counts), structure_hour(1), queue_hour(0), queue_hour(1)])
    found = [remark for remark in plan_from_usage(app)["remarks"] if "R744SWED" in remark]
    if ending is None:
        assert found == []
    else:
        (remark,) = found
        assert remark.startswith("APPLICATION1: entries written with data took ")
        assert remark.endswith(ending)


def test_unmeasured_group_or_structure_is_not_found(measured: FastAPI) -> None:
    for asked in ({"qsg": "XXXX"}, {"structures": ["ELSEWHERE"]}, {"qsg": "A\u0000"}):
        assert post_json(measured, "/api/v1/usage/plan-document", {**ASKED, **asked}).status == 404
