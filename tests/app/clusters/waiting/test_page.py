"""The page of waiting messages: fields, files, examples and errors."""

from __future__ import annotations

import pytest
from fastapi import FastAPI

from app.clusters.explain_pages import SHOWN_TEXT
from app.clusters.explain_view import MOST_BARS, MOST_GROUPS, explanation_view
from app.clusters.explaining import EXAMPLES, answer
from app.web.chart_svg import layouts
from planner_core.clusters.explain import WaitingQuestion
from tests.app.web.support import Answer, call, get
from tests.planner_core.clusters.waiting.support import ELIGIBLE, Row, clusqmgr, display, qcluster

ADDRESS = "/cluster/explain"
FIRST = EXAMPLES[0]


def send(app: FastAPI, *parts: tuple[str, str, str | None]) -> Answer:
    """Send the form, whose parts consist of a name, a text, and a file name or None."""
    body = ""
    for name, text, filename in parts:
        file = "" if filename is None else f'; filename="{filename}"'
        body += f'--edge\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n{text}\r\n'
    headers = {"content-type": "multipart/form-data; boundary=edge", "accept": "text/html"}
    return call(app, "POST", ADDRESS, headers=headers, chunks=[f"{body}--edge--\r\n".encode()])


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_each_example_opens_with_its_explanation(app: FastAPI, example: object) -> None:
    page = get(app, f"{ADDRESS}?example={getattr(example, 'name', '')}", accept="text/html")
    assert page.status == 200
    assert "Messages, grouped by explanation" in page.text
    assert "Eliminations, step by step" in page.text


def test_unknown_example_is_not_found(app: FastAPI) -> None:
    assert get(app, f"{ADDRESS}?example=none", accept="text/html").status == 404


def test_typed_texts_are_explained_and_stay_in_their_boxes(app: FastAPI) -> None:
    page = send(
        app, ("displays", FIRST.displays, None), ("messages", FIRST.messages, None), ("queue", "<Q>", None)
    )
    assert page.status == 200
    assert "6 messages wait for 3 channels: 2 not eligible, 1 only one destination" in page.text
    assert "Waiting messages on LONDON" in page.text
    assert 'value="&lt;Q&gt;"' in page.text
    assert "AMQ8441I: Display Cluster Queue Manager details." in page.text
    assert "AMQSBCG0 - starts here" in page.text


def test_files_are_read_in_addition_to_the_text_boxes(app: FastAPI) -> None:
    half = FIRST.displays.index("     1 : DISPLAY QCLUSTER")
    page = send(
        app,
        ("displays", FIRST.displays[:half], None),
        ("displays_files", FIRST.displays[half:], "rest.txt"),
        ("messages", "", None),
        ("messages_file", FIRST.messages, "browse.txt"),
    )
    assert page.status == 200
    assert "6 messages wait for 3 channels: 2 not eligible, 1 only one destination" in page.text
    assert "Choose them again before you resubmit the form (rest.txt, browse.txt)" in page.text


def test_empty_form_is_refused(app: FastAPI) -> None:
    page = send(
        app,
        ("displays", "", None),
        ("displays_files", "", ""),
        ("messages", "", None),
        ("messages_file", "", ""),
    )
    assert page.status == 422
    assert "Contains no messages." in page.text
    assert 'aria-invalid="true"' in page.text


def test_invalid_time_is_reported_at_its_field(app: FastAPI) -> None:
    page = send(
        app,
        ("displays", FIRST.displays, None),
        ("messages", FIRST.messages, None),
        ("failed_at", "noon", None),
    )
    assert page.status == 422
    assert 'id="failed_at-error"' in page.text
    assert "AMQ8441I" in page.text


def test_long_text_is_explained_but_not_shown_again(app: FastAPI) -> None:
    text = FIRST.messages + "\n" * SHOWN_TEXT
    page = send(app, ("displays", FIRST.displays, None), ("messages", text, None))
    assert "6 messages wait" in page.text
    assert "AMQSBCG0" not in page.text


def test_malformed_form_is_refused(app: FastAPI) -> None:
    headers = {"content-type": "multipart/form-data; boundary=edge", "accept": "text/html"}
    assert call(app, "POST", ADDRESS, headers=headers, chunks=[b"no form"]).status == 400
    assert call(app, "POST", ADDRESS, headers={"accept": "text/html"}).status == 422


def test_page_shows_a_limited_number_of_groups_channels_and_bars() -> None:
    rows: list[Row] = [clusqmgr(f"M{number}", STATUS="RETRYING") for number in range(MOST_GROUPS + 5)]
    rows += [qcluster("Q1", f"M{number}") for number in range(MOST_GROUPS + 5)]
    messages = [
        {"channel": f"TO.M{number}", "queue": "Q1", "accounting_token": ELIGIBLE}
        for number in range(MOST_GROUPS + 5)
    ]
    found = explanation_view(answer(WaitingQuestion(), displays=[("d", display(*rows))], messages=messages))
    assert (len(found.groups), found.groups_left_out) == (MOST_GROUPS, 5)
    assert (len(found.channels), found.channels_left_out) == (MOST_BARS, MOST_GROUPS + 5 - MOST_BARS)
    assert len(found.chart.bars) == MOST_BARS


def test_bar_lengths_are_proportional_to_counts() -> None:
    rows = [{"channel": "TO.A", "accounting_token": "00"}] * 3 + [
        {"channel": "TO.B", "accounting_token": "00"}
    ]
    found = explanation_view(answer(WaitingQuestion(), displays=[], messages=rows))
    assert [(bar.name, bar.text, bar.extent) for bar in found.chart.bars] == [
        ("TO.A", "3", 3),
        ("TO.B", "1", 1),
    ]
    for drawing in layouts(found.chart):
        long, short = (shape.attributes["width"] for shape in drawing.shapes if shape.tag == "rect")
        assert long == pytest.approx(3 * short, abs=0.2)
    assert found.legend == (("not_eligible", "not eligible", 4),)
    (group, _) = found.groups
    assert (group.count, group.ids) == (3, ("number 1", "number 2", "number 3"))
