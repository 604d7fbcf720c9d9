"""The page of an outage opens with a chart and with the options that apply to its queues."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI

from tests.app.web.pages.html import read
from tests.app.web.support import Answer, send_json
from tests.app.whatif.placement.test_pages import page
from tests.planner_core.whatif.filling.plans import Document, queue

SMALL, LARGE = queue("SMALL", put_rate_per_s=40), queue("LARGE", message_bytes=30_000, backlog=5000)
PLANS: dict[str, list[Document]] = {
    "ONE": [SMALL],
    "ALIKE": [SMALL, queue("OTHER", put_rate_per_s=1)],
    "MIXED": [SMALL, LARGE],
    "BACKLOG": [LARGE],
    "EMPTY": [],
}


@pytest.fixture(scope="module", autouse=True)
def _plans(app: FastAPI) -> None:
    for name, queues in PLANS.items():
        plan: dict[str, Any] = {
            "qsg": "SQ03",
            "queue_managers": 2,
            "structures": [{"name": "APP1", "queues": queues}],
        }
        assert send_json(app, "PUT", f"/api/v1/plans/{name}", plan).status == 201


def opened(app: FastAPI, name: str, query: str = "") -> Answer:
    return page(app, f"/plans/{name}/versions/1/structures/APP1/filling{query}")


@pytest.mark.parametrize("name", PLANS)
def test_filling_page_opens_with_a_chart_of_the_planned_outage(app: FastAPI, name: str) -> None:
    answer = opened(app, name)
    assert answer.status == 200
    drawn = [each for each in read(answer.text).all("svg") if each.attributes.get("role") == "img"]
    assert len(drawn) == 2  # for wide and for narrow pages
    assert all(each.all("polyline") for each in drawn)


def test_planned_outage_is_shown_as_a_whole_number_and_read_back(app: FastAPI) -> None:
    shown = read(opened(app, "ONE").text).one("input", name="outage_minutes")["value"]
    assert shown.isdecimal()
    assert opened(app, "ONE", f"?outage_minutes={shown}").status == 200


def test_filling_chart_labels_full_threshold_and_the_rules_in_use(app: FastAPI) -> None:
    words = read(opened(app, "MIXED", "?rule-1=65:16K&rule-2=100:4K&rule-3=90:64K").text).text
    assert "FULLTHRESHOLD 85 %" in words
    assert "offload 65 %" in words
    assert "offload 100 %" not in words
    assert "offload 90 %" not in words


def test_outage_without_length_has_a_note_instead_of_a_chart(app: FastAPI) -> None:
    answer = opened(app, "ONE", "?outage_minutes=0")
    assert "No chart: the outage has no length." in answer.text
    assert not [each for each in read(answer.text).all("svg") if each.attributes.get("role") == "img"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ONE", "One queue: there is no mix to change."),
        ("ALIKE", "The messages of all queues have one mean size: there is no mix to change."),
        ("MIXED", None),
    ],
)
def test_message_mix_is_offered_or_its_absence_explained(
    app: FastAPI, name: str, expected: str | None
) -> None:
    answer = opened(app, name)
    has_field = 'id="larger_percent"' in answer.text
    assert has_field == (expected is None)
    assert ("Messages are</th>" in answer.text) == has_field
    assert ("no mix to change" in answer.text) != has_field
    assert expected is None or expected in answer.text
