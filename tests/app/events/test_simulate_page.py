"""The page of simulations: examples, submitted timelines, errors, and a timeline for a queue of a plan."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from app.events.service import EXAMPLES, LARGEST_FILE_BYTES, starter_text
from app.events.simulate_charts import MOST_LABELS, chart_of
from app.events.simulate_pages import MOST_ROWS, MOST_SHOWN_EVENTS
from app.texts.example_files import ExampleFile
from app.web.chart_svg import layouts
from planner_core.depth_events.file import read_object
from planner_core.depth_events.simulate import simulate
from tests.app.web.pages.html import Element, read
from tests.app.web.support import Answer, call, get
from tests.planner_core.depth_events.support import do, file, member, play, shared

ADDRESS = "/events/simulate"
SILENT = next(each.text for each in EXAMPLES if each.name == "perfmev-differs")


def sent(app: FastAPI, text: str, *, upload: str | None = None, **fields: str) -> Answer:
    """Send the form as browsers do."""
    boundary = "cfplan-boundary"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in {"text": text.replace("\n", "\r\n"), **fields}.items()
    ]
    named = 'filename="mine.yaml"' if upload is not None else 'filename=""'
    parts.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; {named}\r\n'
        f"Content-Type: application/octet-stream\r\n\r\n{upload or ''}\r\n--{boundary}--\r\n"
    )
    headers = {"content-type": f"multipart/form-data; boundary={boundary}", "accept": "text/html"}
    return call(app, "POST", ADDRESS, headers=headers, chunks=["".join(parts).encode()])


def page(answer: Answer, status: int = 200) -> Element:
    assert answer.status == status, answer.text[:500]
    return read(answer.text)


@pytest.mark.parametrize("example", EXAMPLES, ids=[each.name for each in EXAMPLES])
def test_every_example_has_a_chart_and_messages(example: ExampleFile, app: FastAPI) -> None:
    found = page(get(app, f"{ADDRESS}?example={example.name}", accept="text/html"))
    assert example.title in found.one("main").text
    assert found.all("svg", role="img")
    assert found.all(class_="set")
    assert "queue_managers:" in found.one("textarea").text


def test_unknown_example_name_shows_the_first_example(app: FastAPI) -> None:
    assert (
        get(app, f"{ADDRESS}?example=none", accept="text/html").text
        == get(app, ADDRESS, accept="text/html").text
    )


def test_posted_timeline_is_simulated_and_shown_again(app: FastAPI) -> None:
    found = page(sent(app, SILENT))
    assert found.one("textarea").text.split() == SILENT.split()
    assert "no message" in found.one("main").text
    assert "EVENT_SWITCHED_SILENTLY" in found.one("main").text


def test_interpretation_chosen_in_the_form_overrides_that_of_the_file(app: FastAPI) -> None:
    found = page(sent(app, SILENT, disabled_detector="broadcast", rounding="odd"))
    assert "EVENT_SWITCHED_SILENTLY" not in found.one("main").text
    chosen = [option["value"] for option in found.all("option") if "selected" in option.attributes]
    assert chosen == ["broadcast", "", ""]


def test_chosen_file_replaces_the_text(app: FastAPI) -> None:
    found = page(sent(app, "not looked at", upload=SILENT))
    assert "PERFMEV differs in the group" in found.one("main").text


def test_timeline_with_errors_is_redisplayed_with_its_errors(app: FastAPI) -> None:
    found = page(sent(app, "queues: <script>"), 422)
    assert "queue_managers: is required" in found.one(id="problems").text
    assert "<script>" in found.one("textarea").text
    assert found.one(id="problems")["role"] == "alert"
    # The form leads to the answer: with errors, that is their list.
    assert [each.tag for each in found.all(id="answer")] == ["p"]
    assert (
        found.one(id="problems").one(id="answer").text
        == "The timeline cannot be simulated. Fix these errors:"
    )
    assert page(sent(app, "x" * (LARGEST_FILE_BYTES + 1)), 422)


def test_errors_of_a_timeline_name_the_line_and_the_key_instead_of_a_pointer(app: FastAPI) -> None:
    text = (
        "queue_managers:\n"
        "  - {name: QM1, perfmev: ENABLED}\n"
        "queues:\n"
        "  - name: SQ1\n"
        "    qsgdisp: SHARED\n"
        "    maxdepth: many\n"
        "    qdepthhi: 80\n"
        "    qdphiev: ENABLED\n"
        "    qdploev: ENABLED\n"
        "    qdpmaxev: ENABLED\n"
        "timeline:\n"
        "  - {at: 0, action: put, queue_manager: QM1, queue: SQ1, messages: 1}\n"
        "  - {at: -1, action: put, queue_manager: QM1, queue: SQ1, messages: 1}\n"
    )
    found = page(sent(app, text), 422)
    lines = [each.text.partition(":")[0] for each in found.one(id="problems").all("li")]
    assert sorted(lines) == ["Line 13, at", "Line 4, qdepthlo", "Line 6, maxdepth"]
    assert "/queues" not in found.one(id="problems").text


@pytest.mark.parametrize("headers", [{}, {"content-type": "multipart/form-data; boundary=none"}])
def test_empty_form_is_refused(app: FastAPI, headers: dict[str, str]) -> None:
    assert call(app, "POST", ADDRESS, headers={"accept": "text/html", **headers}).status in {400, 422}


def test_starter_timeline_of_a_queue_is_valid(app: FastAPI) -> None:
    query = urlencode(
        {"queue": "PAYMENTS.IN", "maxdepth": 220_000, "qdepthhi": 70, "qdepthlo": 10, "members": "QM01,QM02"}
    )
    found = page(get(app, f"{ADDRESS}?{query}", accept="text/html"))
    text = found.one("textarea").text
    assert "maxdepth: 220000, qdepthhi: 70, qdepthlo: 10" in text
    assert [
        found.one("main").text.count(name) > 0
        for name in ("Queue Depth High", "Queue Depth Low", "Queue Full")
    ] == [True] * 3


@given(
    st.dictionaries(
        st.sampled_from(["queue", "maxdepth", "qdepthhi", "qdepthlo", "members"]), st.text(max_size=20)
    )
)
def test_starter_timeline_accepts_any_parameters(parameters: dict[str, str]) -> None:
    assert "timeline:" in starter_text(parameters)


def test_chart_of_many_steps_has_a_limited_number_of_points() -> None:
    puts = [
        do("put", "QM1", "SQ1", 1, times=5000, every_s=2),
        do("get", "QM1", "SQ1", 1, at=1, times=5000, every_s=2),
    ]
    simulation = simulate(read_object(file([member("QM1")], [shared(depth=500)], puts)))
    chart = chart_of(simulation, "SQ1", ["QM1"])
    wide, _ = layouts(chart)
    (depth,) = [shape for shape in wide.shapes if shape.attributes.get("class") == "curve"]
    points = str(depth.attributes["points"]).split()
    assert len(points) < 4 * wide.width
    heights = [float(point.split(",")[1]) for point in points]
    assert min(heights) < max(heights)


def test_many_events_are_drawn_without_labels_and_truncated(app: FastAPI) -> None:
    queue = shared(maxdepth=10, qdepthhi=50, qdepthlo=50, depth=4)
    swings = [
        do("put", "QM1", "SQ1", 1, times=400, every_s=2),
        do("get", "QM1", "SQ1", 1, at=1, times=400, every_s=2),
    ]
    simulation = play([member("QM1")], [queue], swings)
    chart = chart_of(simulation, "SQ1", ["QM1"])
    assert len(chart.points) == len(simulation.occurrences) > MOST_LABELS
    assert {spot.label for spot in chart.points} == {""}
    found = page(sent(app, json.dumps(file([member("QM1")], [queue], swings))))
    assert len(found.all(class_="set")) == MOST_SHOWN_EVENTS
    assert len(found.all(class_="switch")) == 3 * (MOST_ROWS + MOST_ROWS)


def test_threshold_far_above_the_depth_is_noted_but_not_drawn() -> None:
    simulation = play([member("QM1")], [shared(maxdepth=999_999_999)], [do("put", "QM1", "SQ1", 100)])
    chart = chart_of(simulation, "SQ1", ["QM1"])
    assert [line.name for line in chart.lines] == [""], "the depth alone"
    assert "MAXDEPTH 999" in chart.note


def test_chart_has_a_lane_for_the_messages_of_each_queue_manager() -> None:
    members = [member("QM1"), member("QM2", "DISABLED"), member("QM3"), member("QM4", active=False)]
    simulation = play(members, [shared()], [do("put", "QM1", "SQ1", 800, at=5)])
    lanes = chart_of(simulation, "SQ1", ["QM1", "QM2", "QM3", "QM4"]).lanes
    assert [[spot.style for spot in lane.spots] for lane in lanes] == [
        ["wrote message"],
        ["wrote none"],
        ["wrote null"],
        [],
    ]
