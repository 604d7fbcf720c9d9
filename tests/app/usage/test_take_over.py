"""Copying measured usage into an existing plan: compared before saving, and saved as its next version."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.plans import service as plans
from app.plans.stored import StoredVersion
from app.settings import Settings
from app.usage import service
from app.usage.periods import choose
from app.usage.planning import DraftPlan, MeasuredBasis, Reckoning, take_over
from tests.app.plans.pages.browsing import Browser
from tests.app.usage.support import queue_hour, store, structure_hour, ten_days
from tests.app.web.pages.html import Element, read
from tests.app.web.support import get, send_json

PLAN = {
    "qsg": "SQ03",
    "queue_managers": 5,
    "cfcc_level": 25,
    "coupling_facilities": [{"name": "CF01"}, {"name": "CF02"}],
    "structures": [
        {
            "name": "APPLICATION1",
            "cflevel": 5,
            "recover": True,
            "full_threshold": 80,
            "queues": [
                {"name": "PAYMENTS.IN", "message_bytes": 500, "backlog": 1_000, "persistent": False},
                {
                    "name": "ORDERS.IN", "message_bytes": {"mean": 3000, "p95": 12_000, "max": 60_000},
                    "put_rate_per_s": 4, "outage_minutes": 90, "persistent": True,
                },
                {"name": "UNSEEN.IN", "message_bytes": 100, "backlog": 7, "persistent": False},
            ],
        },
        {"name": "NEVER", "cflevel": 5, "queues": []},
    ],
}  # fmt: skip


@pytest.fixture
def app(tmp_path: Path) -> Iterator[FastAPI]:
    made = create_app(Settings(data_dir=tmp_path / "data"))
    store(made, ten_days())
    assert send_json(made, "PUT", "/api/v1/plans/PROD", PLAN).status == 201
    yield made
    made.state.database.close()


def plan_of(app: FastAPI) -> StoredVersion:
    with app.state.database.session(writes=False) as session:
        return plans.get_plan(session, "PROD")


def form(app: FastAPI, **fields: str | list[str]) -> dict[str, Any]:
    return {
        "etag": plan_of(app).etag,
        "backlog": "depth",
        "sizes": "mean",
        "queue": ["APPLICATION1/PAYMENTS.IN", "APPLICATION1/ORDERS.IN"],
        "do": "save",
        **fields,
    }


def post(app: FastAPI, fields: dict[str, Any]) -> tuple[int, str, Element]:
    answer = Browser(app).ask(
        "POST",
        "/usage/SQ03/plan/into/PROD",
        content=urlencode(fields, doseq=True).encode(),
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    return answer.status_code, answer.url.raw_path.decode(), read(answer.text)


def page(app: FastAPI, address: str = "/usage/SQ03/plan/into/PROD", status: int = 200) -> Element:
    found = get(app, address, accept="text/html")
    assert found.status == status, found.text[:300]
    return read(found.text)


def queues(version: StoredVersion) -> dict[str, dict[str, Any]]:
    structure = version.document_object["structures"][0]
    return {queue["name"]: queue for queue in structure["queues"]}


def test_plans_of_the_group_are_offered_next_to_a_new_plan(app: FastAPI) -> None:
    other = {**PLAN, "qsg": "SQ04"}
    assert send_json(app, "PUT", "/api/v1/plans/OTHER", other).status == 201
    browser = Browser(app)
    links = [each for each in browser.get("/usage/SQ03/plan?period=31d").links if "/into/" in each]
    assert links == ["/usage/SQ03/plan/into/PROD?period=31d"]
    assert browser.get(links[0]).fields["period"] == "31d"


def test_queues_of_the_plan_are_selected_and_new_ones_are_not(app: FastAPI) -> None:
    found = page(app)
    ticked = [box["value"] for box in found.all("input", name="queue") if "checked" in box.attributes]
    assert ticked == ["APPLICATION1/ORDERS.IN", "APPLICATION1/PAYMENTS.IN"]
    assert [box["value"] for box in found.all("input", name="queue")] == [
        "APPLICATION1/AUDIT.COPY", *ticked
    ]  # fmt: skip
    words = " ".join(found.text.split())
    assert "500 bytes, backlog 1000 messages, not persistent" in words
    assert "new queue" in words
    assert "Structures of the plan without measured queues stay as they are: NEVER" in words
    assert "Measured, but not in the plan: PERSIST1" in words


def test_preview_shows_changes_and_saves_nothing(app: FastAPI) -> None:
    status, path, found = post(app, form(app, do="check"))
    assert (status, path) == (200, "/usage/SQ03/plan/into/PROD")
    changes = " ".join(found.one("div", aria_label="Table: changes").text.split())
    assert "queue PAYMENTS.IN" in changes
    assert "500 bytes 1024 bytes" in changes
    assert "UNSEEN.IN" not in changes
    sizes = " ".join(found.one("div", aria_label="Table: sizes before and after").text.split())
    assert "SQ03APPLICATION1" in sizes
    assert plan_of(app).number == 1


def test_next_version_changes_only_measured_values(app: FastAPI) -> None:
    before = copy.deepcopy(plan_of(app).document_object)
    status, path, found = post(app, form(app))
    assert (status, path) == (200, "/plans/PROD?saved=changed")
    assert "Saved as a new version." in found.text
    now = plan_of(app)
    assert now.number == 2
    assert now.comment is not None
    assert now.comment.startswith("Copied from measured usage of SQ03")
    assert "2 queues of APPLICATION1; backlog: highest depth; sizes: mean" in now.comment
    payments, orders = queues(now)["PAYMENTS.IN"], queues(now)["ORDERS.IN"]
    assert (payments["message_bytes"], payments["backlog"], payments["persistent"]) == (1024, 40_000, True)
    assert orders["message_bytes"] == {"mean": 3500, "p95": 12_000, "max": 31_500}, "the plan's p95 is kept"
    assert (orders["backlog"], orders["put_rate_per_s"], orders["outage_minutes"]) == (40_000, None, None)
    after = copy.deepcopy(now.document_object)
    for document in (before, after):
        document["structures"][0]["queues"] = []
    assert after == before
    assert queues(now)["UNSEEN.IN"]["backlog"] == 7


def test_measured_rates_replace_backlogs_only_of_queues_with_an_outage(app: FastAPI) -> None:
    fields = form(app, backlog="rate", outage_minutes="")
    _, _, found = post(app, {**fields, "do": "check"})
    assert "PAYMENTS.IN: its backlog is not changed. No outage is known for this queue" in found.text
    assert post(app, fields)[0] == 200
    now = queues(plan_of(app))
    assert (now["ORDERS.IN"]["put_rate_per_s"], now["ORDERS.IN"]["outage_minutes"]) == (20, 90)
    assert (now["PAYMENTS.IN"]["backlog"], now["PAYMENTS.IN"]["message_bytes"]) == (1_000, 1024)
    assert post(app, form(app, backlog="rate", outage_minutes="30"))[0] == 200
    now = queues(plan_of(app))
    assert (now["PAYMENTS.IN"]["put_rate_per_s"], now["PAYMENTS.IN"]["outage_minutes"]) == (10, 30)


def test_new_queue_is_added_once_its_persistence_is_known(app: FastAPI) -> None:
    fields = form(app, queue=["APPLICATION1/AUDIT.COPY"])
    status, _, found = post(app, fields)
    assert status == 422
    assert "If persistence was not measured" in found.one("div", role="alert").text
    assert post(app, {**fields, "persistent_when_unknown": "no"})[0] == 200
    added = queues(plan_of(app))["AUDIT.COPY"]
    assert (added["message_bytes"], added["backlog"], added["persistent"]) == (700, 40_000, False)


def test_plan_changed_by_someone_else_is_not_overwritten(app: FastAPI) -> None:
    fields = form(app)
    send_json(app, "PUT", "/api/v1/plans/PROD", {**PLAN, "headroom_percent": 30}, if_match="*")
    assert plan_of(app).number == 2
    status, _, found = post(app, fields)
    assert status == 409
    assert "was changed in the meantime" in found.one("div", role="alert").text
    assert plan_of(app).number == 2
    assert found.one("input", name="etag")["value"] == plan_of(app).etag


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"queue": []}, "Select at least one queue."),
        ({"backlog": "guess"}, "Choose one."),
        (
            {"backlog": "rate", "outage_minutes": "soon"},
            "Longest outage: Enter a number with a point before the decimals",
        ),
        ({"p95:APPLICATION1/PAYMENTS.IN": "most"}, "Enter a whole number"),
        ({"p95:APPLICATION1/PAYMENTS.IN": "99999"}, "P95 (99999) must not be above max"),
    ],
)
def test_errors_are_shown_and_nothing_is_saved(app: FastAPI, fields: dict[str, Any], words: str) -> None:
    status, _, found = post(app, form(app, **fields))
    assert status == 422
    assert words in found.one("div", role="alert").text
    assert plan_of(app).number == 1


def test_copying_into_a_missing_plan_or_one_of_another_group_is_not_found(app: FastAPI) -> None:
    assert send_json(app, "PUT", "/api/v1/plans/OTHER", {**PLAN, "qsg": "SQ04"}).status == 201
    for name in ("OTHER", "NOBODY"):
        page(app, f"/usage/SQ03/plan/into/{name}", 404)


# ---- the figures ---------------------------------------------------------------------------------------------------


def take_over_usage(app: FastAPI, document: dict[str, Any], **how: Any) -> DraftPlan:  # noqa: ANN401 - members of Reckoning
    """Copy all measured usage of APPLICATION1 into the plan."""
    reckoning = Reckoning(
        **{
            "backlog": "depth",
            "outage_minutes": None,
            "sizes": "mean",
            "persistent_when_unknown": None,
            **how,
        }
    )
    with app.state.database.session(writes=False) as session:
        span = service.structures_of_group(session, "SQ03")["APPLICATION1"]
        period, _ = choose({"period": "all"}, first_hour=span.first_hour, last_hour=span.last_hour)
        grounds: list[MeasuredBasis] = list(service.grounds(session, "SQ03", ["APPLICATION1"], period))
    return take_over(document, grounds, reckoning, period=period)


def document_with(*members: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"qsg": "SQ03", "structures": [{"name": "APPLICATION1", "queues": list(members)}], **more}


def queue(name: str, **members: object) -> dict[str, Any]:
    return {"name": name, "message_bytes": 5, "backlog": 1, "put_rate_per_s": None, "outage_minutes": None,
            "persistent": False, **members}  # fmt: skip


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[FastAPI]:
    made = create_app(Settings(data_dir=tmp_path / "bare"))
    yield made
    made.state.database.close()


def test_unmeasured_values_keep_those_of_the_plan(bare: FastAPI) -> None:
    store(bare, [structure_hour(0), queue_hour(0, depth_max=None, puts=0, put_bytes=0, persistent_puts=None)])
    made = take_over_usage(bare, document_with(queue("PAYMENTS.IN", persistent=True)))
    (after,) = made.document["structures"][0]["queues"]
    assert after == queue("PAYMENTS.IN", persistent=True)
    assert any("its message size is not changed" in remark for remark in made.remarks)
    assert any("its backlog is not changed" in remark for remark in made.remarks)


def test_distribution_with_an_outdated_p95_is_reported(bare: FastAPI) -> None:
    store(bare, [structure_hour(0), queue_hour(0)])
    spread = {"mean": 10, "p95": 20, "max": 30}
    made = take_over_usage(bare, document_with(queue("PAYMENTS.IN", message_bytes=spread)), sizes="largest")
    assert made.document["structures"][0]["queues"][0]["message_bytes"] == 4000
    assert any("does not lie between the measured mean" in remark for remark in made.remarks)


def test_remarks_report_planned_growth_and_a_structure_fuller_than_its_backlogs(bare: FastAPI) -> None:
    store(bare, [structure_hour(0, entries_in_use_max=90_000), queue_hour(0)])
    growth = {"percent_per_year": Decimal(20), "years": 2}
    made = take_over_usage(bare, document_with(queue("PAYMENTS.IN"), queue("UNSEEN"), growth=growth))
    told = " ".join(made.remarks)
    assert "growth of 20 % a year for 2 years" in told
    assert "90000 list entries were in use at most, but the backlogs of the plan add up to 501" in told
    assert "Unchanged, because nothing was copied for them: UNSEEN." in told


def test_given_document_is_not_changed(bare: FastAPI) -> None:
    store(bare, [structure_hour(0), queue_hour(0)])
    before = document_with(queue("PAYMENTS.IN"))
    kept = copy.deepcopy(before)
    take_over_usage(bare, before)
    assert before == kept
