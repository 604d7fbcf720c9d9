"""A plan from usage: maxima limited by a full structure, sizes compared with the current allocation, and other observations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from app.uploads import qsg_map
from tests.app.fits.support import fit_json, store_night
from tests.app.usage.support import store, structure_hour, ten_days
from tests.app.web.pages.html import Element, read
from tests.app.web.support import HOST, Json, call, get, post_json, send_json

ASKED = {"qsg": "SQ03", "queue_managers": 2, "cfcc_level": 25, "persistent_when_unknown": True}


@pytest.fixture
def app(tmp_path: Path) -> Iterator[FastAPI]:
    """Return an application with ten days of a group; APPLICATION1 has 512 MiB and was full six times on day 9."""
    made = create_app(Settings(data_dir=tmp_path / "data"))
    store(made, ten_days())
    yield made
    made.state.database.close()


def allocate(app: FastAPI) -> None:
    """Store fits in which RMF observed APPLICATION1 in CF01 and later in CF02."""

    def points(day: str) -> list[dict[str, object]]:
        return [
            {**each, "structure": "APPLICATION1" if nth == 0 else each["structure"], "last_day": day}
            for nth, each in enumerate(fit_json()["points"])
        ]

    store_night(
        app.state.database,
        curves=[
            fit_json(coupling_facility="CF01", points=0) | {"points": points("2026-10-01")},
            fit_json(coupling_facility="CF02", state="rejected", reason="An element costs 1 byte.")
            | {"points": points("2026-11-19")},
        ],
    )


def plan_from_usage(app: FastAPI, **members: object) -> Json:
    found = post_json(app, "/api/v1/usage/plan-document", {**ASKED, **members})
    assert found.status == 200, found.text
    return found.json()


def remarks(found: Json) -> str:
    return "\n".join(found["remarks"])


def form(app: FastAPI) -> Element:
    return read(get(app, "/usage/SQ03/plan?period=all", accept="text/html").text)


def checked(app: FastAPI, address: str, **fields: str) -> Element:
    """Return the preview of the page."""
    body = urlencode(
        {
            "name": "X", "queue_managers": "CSQ1 CSQ2", "cfcc_level": "25", "backlog": "depth", "sizes": "mean",
            "persistent_when_unknown": "yes", "queue": "APPLICATION1/PAYMENTS.IN", "period": "all", "do": "check",
            **fields,
        }
    )  # fmt: skip
    headers = {
        "content-type": "application/x-www-form-urlencoded", "accept": "text/html", "origin": f"http://{HOST}",
    }  # fmt: skip
    answer = call(app, "POST", address, headers=headers, chunks=[body.encode()])
    assert answer.status == 200, answer.text
    return read(answer.text)


def words(element: Element) -> str:
    return " ".join(element.text.split())


def test_maximum_of_a_full_structure_is_not_the_demand(app: FastAPI) -> None:
    found = plan_from_usage(app)
    (cut_off,) = found["cut_off"]
    assert cut_off["structure"] == "APPLICATION1"
    assert cut_off["full_count"] == 6
    assert (cut_off["first_hour"], cut_off["last_hour"]) == ("2026-11-24T11:00:00Z", "2026-11-24T12:00:00Z")
    assert cut_off["entries_at_least"] > 100_000
    assert "APPLICATION1: it was full 6 times between 2026-11-24 11:00 and 2026-11-24 12:00 UTC" in remarks(
        found
    )
    assert f"The demand is not known: at least {cut_off['entries_at_least']} list entries" in remarks(found)


def test_use_of_100_percent_counts_as_full_without_a_count(app: FastAPI) -> None:
    store(app, [structure_hour(239, entries_in_use_pct_max=100.0, structure_full_count=None)])
    (cut_off,) = plan_from_usage(app, period="1d")["cut_off"]
    assert (cut_off["full_count"], cut_off["first_hour"]) == (0, cut_off["last_hour"])


def test_period_without_a_full_structure_has_the_whole_demand(app: FastAPI) -> None:
    found = plan_from_usage(app, period="1d")
    assert found["cut_off"] == []
    assert "is capped" not in remarks(found)


def test_sizes_are_compared_with_the_last_allocation(app: FastAPI) -> None:
    sizes = {each["structure"]: each for each in plan_from_usage(app, queues=["PAYMENTS.IN"])["sizes"]}
    smaller = sizes["APPLICATION1"]
    assert (smaller["change"], smaller["allocated_kib"]) == ("smaller", 512 * 1024)
    assert (
        f"INITSIZE {smaller['initsize_kib']} K is smaller than the 524288 K allocated" in smaller["sentence"]
    )
    assert sizes["CSQ_ADMIN"]["change"] == "unknown"
    larger = {
        each["structure"]: each for each in plan_from_usage(app, backlog="rate", outage_minutes=600)["sizes"]
    }
    assert larger["APPLICATION1"]["change"] == "larger"
    assert larger["APPLICATION1"]["initsize_kib"] > 512 * 1024


def test_observed_coupling_facilities_come_first_in_preflist(app: FastAPI) -> None:
    unseen = plan_from_usage(app, coupling_facilities=["CF09"])
    assert unseen["document"]["structures"][0]["preflist"] == ["CF09"]
    assert "APPLICATION1: its coupling facility was not observed." in remarks(unseen)
    allocate(app)
    found = plan_from_usage(app, coupling_facilities=["CF09"])
    assert found["coupling_facilities_observed"]["APPLICATION1"] == ["CF02", "CF01"]
    assert found["document"]["structures"][0]["preflist"] == ["CF02", "CF01", "CF09"]
    assert {each["name"] for each in found["document"]["coupling_facilities"]} == {"CF01", "CF02", "CF09"}
    assert "PREFLIST begins with CF02, CF01" in remarks(found)
    assert "no record shows whether it moved or is duplexed" in remarks(found)
    assert "Not measured, and left at their defaults: DUPLEX" in remarks(found)


def test_observed_queue_managers_are_offered_and_missing_ones_have_a_remark(app: FastAPI) -> None:
    with app.state.database.session(writes=True) as session:
        qsg_map.put(session, "SYS1", "CSQ2", "SQ03")
        qsg_map.put(session, "SYS1", "CSQ9", "SQ99")
    assert plan_from_usage(app)["queue_managers_observed"] == ["CSQ1", "CSQ2"]
    assert form(app).one("input", name="queue_managers")["value"] == "CSQ1 CSQ2"
    assert "not among the queue managers of the plan: CSQ2." in remarks(
        plan_from_usage(app, queue_managers=["CSQ1"])
    )
    assert "The plan has 1 queue managers, but records name 2" in remarks(
        plan_from_usage(app, queue_managers=1)
    )
    assert "records name" not in remarks(plan_from_usage(app, queue_managers=2))


def test_page_warns_of_a_structure_that_would_shrink(app: FastAPI) -> None:
    allocate(app)
    assert form(app).one("input", name="coupling_facilities")["value"] == "CF02 CF01"
    shown = words(checked(app, "/usage/SQ03/plan", structure="APPLICATION1"))
    assert "Warning SQ03APPLICATION1: INITSIZE" in shown
    assert "is smaller than the 524288 K allocated on 2026-11-25 23:00 UTC." in shown
    assert "The demand is not known: at least" in shown


def test_adopted_figures_are_compared_with_the_current_allocation(app: FastAPI) -> None:
    queue = {"name": "PAYMENTS.IN", "message_bytes": 500, "backlog": 1000}
    plan = {
        "qsg": "SQ03", "queue_managers": 2, "structures": [{"name": "APPLICATION1", "queues": [queue]}],
    }  # fmt: skip
    stored = send_json(app, "PUT", "/api/v1/plans/PROD", plan)
    assert stored.status == 201
    shown = words(checked(app, "/usage/SQ03/plan/into/PROD", etag=stored.headers["etag"]))
    assert "Warning SQ03APPLICATION1: INITSIZE" in shown
    assert "The demand is not known: at least" in shown
