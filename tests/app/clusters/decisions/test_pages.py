"""The pages of decisions and loads: forms, files, charts and their descriptions, errors."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from fastapi import FastAPI

from app.clusters.decide_pages import decision_view
from app.clusters.flow_chart import MOST_INSTANCES, flow_chart
from app.clusters.load_view import clusters_shown, stored_load
from app.clusters.service import EXAMPLES
from app.clusters.steps_chart import MOST_LANES, steps_chart
from app.texts.documents import example_text, parse_yaml
from app.texts.example_files import ExampleFile
from app.web.chart_svg import Shape
from planner_core.clusters.answer import answer
from planner_core.clusters.file import read_object
from planner_core.clusters.load import ClusterLoad
from planner_core.document.reading import read_object as plan_from
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import plan_json
from tests.app.web.charts.test_svg import with_class
from tests.app.web.pages.html import read
from tests.app.web.support import Answer, call, get, send_json

DECIDE, LOAD = "/cluster/decide", "/cluster/load"


def thickness(band: Shape) -> float:
    return float(band.attributes["stroke-width"])


def send(app: FastAPI, address: str, *parts: tuple[str, str, str | None]) -> Answer:
    """Send a form whose parts consist of a name, a text, and a file name or None."""
    body = ""
    for name, text, filename in parts:
        file = "" if filename is None else f'; filename="{filename}"'
        body += f'--edge\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n{text}\r\n'
    headers = {"content-type": "multipart/form-data; boundary=edge", "accept": "text/html"}
    return call(app, "POST", address, headers=headers, chunks=[f"{body}--edge--\r\n".encode()])


def clustered() -> dict[str, Any]:
    found: Any = parse_yaml(example_text("inventory.yaml").encode())
    return found


def load_of(plan: dict[str, Any]) -> ClusterLoad:
    found = evaluate(plan_from(plan)).clusters
    assert found is not None
    return found


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
@pytest.mark.parametrize("mode", ["seed", "ibm"])
def test_each_example_opens_with_its_decision(app: FastAPI, example: ExampleFile, mode: str) -> None:
    page = get(app, f"{DECIDE}?example={example.name}&mode={mode}", accept="text/html")
    assert page.status == 200
    assert "Eliminations, step by step" in page.text
    assert page.text.count("<svg") >= 2


def test_submitted_text_is_evaluated_in_the_chosen_order_and_stays_in_its_box(app: FastAPI) -> None:
    text = "queue: <Q>x\ninstances: [{queue_manager: A, clwlrank: 1, put: DISABLED}, {queue_manager: B}]"
    wrong = send(app, DECIDE, ("text", text, None), ("mode", "ibm", None))
    assert wrong.status == 422
    assert "<li>Line 1, queue: " in wrong.text
    assert "&lt;Q&gt;x" in wrong.text
    for mode, words in (
        ("ibm", "Messages for Q go to B."),
        ("seed", "A put to Q fails because no destination remains."),
    ):
        page = send(app, DECIDE, ("text", text.replace("<Q>x", "Q"), None), ("mode", mode, None))
        assert page.status == 200
        assert words in page.text
        assert "CLUSTER_MODES_DIFFER" in page.text


def test_file_takes_precedence_over_typed_text(app: FastAPI) -> None:
    page = send(
        app, DECIDE, ("text", "instances: []", None), ("file", "instances: [{queue_manager: ONLY}]", "q.yaml")
    )
    assert page.status == 200
    assert "ONLY through TO.ONLY" in page.text


def test_steps_chart_has_a_text_description_of_the_eliminations() -> None:
    found = answer(
        read_object(
            {
                "instances": [
                    {"queue_manager": "A", "channels": [{"status": "RETRYING"}]},
                    {"queue_manager": "B"},
                ]
            }
        )
    )
    wide, _ = steps_chart(found)
    assert wide.description == "Step 5 eliminates A through TO.A. Remaining: B through TO.B."
    columns = [float(shape.attributes["x1"]) for shape in with_class(wide, "grid")]
    out, stays = with_class(wide, "run")
    names = [shape for shape in with_class(wide, "halo") if shape.attributes["x"] == 0]
    assert [(shape.text, shape.attributes["class"]) for shape in names] == [
        ("A TO.A", "halo"),
        ("B TO.B", "halo strong"),
    ]
    assert out.attributes["x2"] == columns[4]
    assert with_class(wide, "is-chosen") == [stays]
    assert [shape.text for shape in wide.shapes if shape.text.endswith("%")] == ["100 %"]
    assert float(stays.attributes["x2"]) > columns[-1]
    values = [shape for shape in with_class(wide, "halo") if float(shape.attributes["x"]) > 0]
    first = min(float(shape.attributes["y"]) for shape in values)
    assert [shape.text for shape in values if shape.attributes["y"] == first] == ["0", "0", "ENABLED", "NO"]


def test_step_without_eliminations_lists_the_candidates_that_remain() -> None:
    stated: Any = {
        "instances": [{"queue_manager": "A", "clwlrank": 1}, {"queue_manager": "B"}, {"queue_manager": "C"}]
    }
    steps = decision_view(answer(read_object(stated))).steps
    ranked = next(number for number, (step, eliminated, _) in enumerate(steps) if eliminated)
    assert [left for step, _, left in steps[:ranked] if step.reached] == [
        "A through TO.A, B through TO.B, C through TO.C"
    ] * ranked
    # The step that follows eliminates nothing; only A is left, not all three.
    assert {left for step, _, left in steps[ranked:] if step.reached} == {"A through TO.A"}


def test_steps_chart_shows_a_limited_number_of_destinations() -> None:
    many = [{"queue_manager": f"Q{number}"} for number in range(MOST_LANES + 3)]
    decision = decision_view(answer(read_object({"instances": many})))
    assert [len(with_class(layout, "run")) for layout in decision.chart] == [MOST_LANES, MOST_LANES]
    assert decision.lanes_omitted == 3


def test_load_page_shows_the_chosen_failure(app: FastAPI) -> None:
    page = get(app, LOAD, accept="text/html")
    assert page.status == 200
    assert "While channel TO.NEWYORK is unavailable" in page.text  # for which the structure must be largest
    other = send(
        app, LOAD, ("text", example_text("inventory.yaml"), None), ("fail", "queue_manager:P1", None)
    )
    assert other.status == 200
    assert "While queue manager P1 is unavailable" in other.text
    nobody = send(app, LOAD, ("text", example_text("inventory.yaml"), None), ("fail", "<script>", None))
    assert nobody.status == 200
    assert "<script>alert" not in nobody.text


def test_load_page_compares_the_sizes_of_the_plan_with_the_need_and_names_the_recommended_ones(
    app: FastAPI,
) -> None:
    plan = clustered()
    # 666 000 messages need 2347.1 MiB; with the target, 2929 MiB are recommended.
    plan["structures"][0] |= {"initsize": "2300M", "size": "2400M"}
    page = send(app, LOAD, ("text", json.dumps(plan), None)).text
    strip = " ".join(re.sub("<[^>]+>", " ", page[page.index("Needed at least") :].split("</dl>")[0]).split())
    assert strip == (
        "Needed at least 2347.1 MiB to survive all failures "
        "INITSIZE of the plan 2300.0 MiB too small , recommended: 2929.0 MiB "
        "SIZE of the plan 2400.0 MiB holds the messages, recommended: 4394.0 MiB "
        "Messages held 666 000 channel TO.NEWYORK unavailable"
    )


def test_load_page_reports_a_plan_without_clusters_and_invalid_plans(app: FastAPI) -> None:
    none = send(app, LOAD, ("text", example_text(), None))
    assert none.status == 200
    assert "The plan has no clusters" in none.text
    broken = send(app, LOAD, ("text", "qsg: SQ03", None))
    assert broken.status == 422
    assert "<li>queue_managers: is required</li>" in broken.text
    impossible = send(app, LOAD, ("text", "{qsg: SQ03, queue_managers: 40}", None))
    assert impossible.status == 422


def test_stored_plan_links_to_each_failure_of_its_clusters(app: FastAPI) -> None:
    saved = send_json(app, "PUT", "/api/v1/plans/INVENTORY", clustered())
    assert saved.status in (200, 201), saved.text
    page = get(app, "/plans/INVENTORY", accept="text/html")
    assert "Load from clusters" in page.text
    assert "fail=queue_manager%3ANEWYORK" in page.text or "fail=channel%3ATO.NEWYORK" in page.text
    other = get(app, "/plans/INVENTORY?fail=destination%3ASQ03", accept="text/html")
    assert "While destination SQ03 is unavailable" in other.text
    editor = get(app, "/plans/INVENTORY/edit", accept="text/html")
    assert "{queue_manager: P1, shared: true, get_rate_per_s: 400}" in editor.text


def test_stored_load_without_planned_sizes_takes_them_from_the_structures() -> None:
    """Results of earlier releases have the planned sizes only with their structures."""
    result = json.loads(plan_json(evaluate(plan_from(clustered()))))
    current = stored_load(result)
    assert current is not None
    for load in result["clusters"]["structures"]:
        del load["survives"]["planned_initsize_kib"], load["survives"]["planned_size_kib"]
    assert stored_load(result) == current
    result["clusters"]["structures"][0]["survives"] = None
    without = stored_load(result)
    assert without is not None
    assert without.structures[0].survives is None


def test_widths_of_flow_chart_bands_are_proportional_to_rates() -> None:
    flow = load_of(clustered()).flows[0]
    for failure in flow.failures:
        wide, _ = flow_chart(flow, failure, nth=0)
        bands = with_class(wide, "band")
        # The panel of the failure begins at x = 456.
        normally = [each for each in bands if float(str(each.attributes["d"])[1:].split()[0]) < 456]
        reach = [thickness(each) for each in with_class(wide, "to-shared") if each in normally]
        assert sum(reach) == pytest.approx(2 * 0.75 * 78, abs=0.05)  # to the queue managers, and from them
        sent = [thickness(each) for each in bands if str(each.attributes["d"]).startswith("M539.0 ")]
        assert sum(sent) == pytest.approx(78, abs=4.5)  # thin bands are drawn a little wider
        assert "Normally: 250 a second to NEWYORK, 750 a second to SQ03." in wide.description


def test_labels_of_queue_managers_leave_room_for_those_of_queues() -> None:
    plan = clustered()
    plan["clusters"][0]["instances"][0]["queue_manager"] = "QM.NEWYORK.CENTRAL"
    flow = load_of(plan).flows[0]
    layouts = flow_chart(flow, flow.failures[0], nth=0)
    for layout, most in zip(layouts, (17, 14), strict=True):
        nodes = {(each.attributes["x"], each.attributes["y"]) for each in with_class(layout, "manager")}
        labels = [
            each.text
            for each in with_class(layout, "halo")
            if (each.attributes["x"], round(float(each.attributes["y"]) + 5, 1)) in nodes
        ]
        assert len(labels) == 8
        assert max(len(label) for label in labels) <= most


def test_failures_with_equal_effects_are_grouped() -> None:
    (flow,) = clusters_shown(load_of(clustered())).flows
    assert [name for _, name, _ in flow.failures][:2] == [
        "channel TO.NEWYORK; queue manager NEWYORK; destination NEWYORK",
        "channel TO.P1; queue manager P1",
    ]


def test_flow_to_many_instances_has_no_chart() -> None:
    plan = clustered()
    plan["clusters"][0]["instances"] = [{"queue_manager": f"Q{n}"} for n in range(MOST_INSTANCES + 1)]
    (flow,) = clusters_shown(load_of(plan)).flows
    assert flow.chart == ()
    assert flow.failures


@pytest.mark.parametrize("address", [DECIDE, LOAD])
def test_cluster_charts_can_be_saved_with_title_and_subject(app: FastAPI, address: str) -> None:
    page = read(get(app, address, accept="text/html").text)
    tools = [each for each in page.all("p") if "picture-tools" in each.attributes.get("class", "")]
    assert tools
    assert all(each["data-title"] and each["data-subject"] and each["data-source"] for each in tools)
    assert any("pictures.js" in script.attributes.get("src", "") for script in page.all("script"))
