"""The pages of losses and upgrades: stored and submitted plans, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from app.whatif.placement_charts import chart_of
from planner_core.units import GIB
from planner_core.whatif.loss import losses_of
from tests.app.web.pages.html import read
from tests.app.web.support import Answer, call, get, send_json
from tests.planner_core.whatif.placement.scenes import cf, document, result, structure

TIGHT = document([cf("CF01"), cf("CF02", "3G")], [structure("A", "4G"), structure("B", "2G")])


def page(app: FastAPI, address: str) -> Answer:
    return get(app, address, accept="text/html")


def sent(app: FastAPI, address: str, **fields: Any) -> Answer:  # noqa: ANN401 - what a form holds
    body = urlencode(fields, doseq=True).encode()
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "text/html"}
    return call(app, "POST", address, headers=headers, chunks=[body])


def words(answer: Answer) -> str:
    return " ".join(read(answer.text).text.split())


@pytest.fixture(scope="module", autouse=True)
def _plans(app: FastAPI) -> None:
    assert send_json(app, "PUT", "/api/v1/plans/tight", TIGHT).status == 201
    assert send_json(app, "PUT", "/api/v1/plans/other", {**TIGHT, "qsg": "QSG2"}).status == 201


def test_moved_structures_show_available_storage_class_memory(app: FastAPI) -> None:
    scm = {"max_size": "8G", "augmented": "1G"}
    plan = document(
        [cf("CF01", scm="16G"), cf("CF02", scm="2G"), cf("CF03")], [structure("A", "4G", scm=scm)]
    )
    shown = words(sent(app, "/whatif/cf-loss", text=json.dumps(plan)))
    assert "2048.0 MiB of 8192.0 MiB" in shown
    assert "Sizes include augmented space for storage-class memory." in shown
    plain = document([cf("CF01"), cf("CF02")], [structure("A", "4G")])
    assert "Storage-class memory" not in words(sent(app, "/whatif/cf-loss", text=json.dumps(plain)))


def test_stored_plan_is_selected_by_name(app: FastAPI) -> None:
    answer = page(app, "/whatif/cf-loss?plan=tight")
    assert answer.status == 200
    said = words(answer)
    assert "How XCF places the structures of the plan tight" in said
    (row,) = [
        each for each in read(answer.text).one("table", class_="where").all("tr") if "SQ03A" in each.text
    ]
    cells = [each.text for each in (*row.all("th"), *row.all("td"))]
    # CF01 and CF02 are lost in turn; neither has a site.
    assert cells == ["SQ03A", "4096.0", "CF01", "order of PREFLIST", "no place", "CF01"]
    assert "7168.0 MiB must be free elsewhere, but 4096.0 MiB of it cannot be placed." in said  # fmt: skip


def test_chosen_example_is_evaluated_and_labelled(app: FastAPI) -> None:
    assert "the structures of the example plan" in words(page(app, "/whatif/cf-loss?plan=.example"))
    assert "The example plan before and after" in words(page(app, "/whatif/upgrade?plan=.example"))


def test_submitted_plan_is_evaluated_and_stays_in_its_box(app: FastAPI) -> None:
    answer = sent(app, "/whatif/cf-loss", text=json.dumps(TIGHT), at="size")
    assert answer.status == 200
    assert "the structures of the plan that you sent" in words(answer)
    assert "counted with SIZE" in words(answer)
    assert json.dumps(TIGHT)[:40].replace('"', "&#34;") in answer.text


QUESTIONS = ("cf-loss", "upgrade", "recovery", "smds")


def primary_forms(answer: Answer) -> list[str]:
    """Return the ids of the forms whose button is the primary one."""
    return [
        form["id"]
        for form in read(answer.text).all("form")
        for button in form.all("button", class_="primary")
        if button.text == "Calculate"
    ]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("plan", ["", "tight", ".example", "nothing"])
def test_button_of_the_stored_plan_is_the_primary_one(app: FastAPI, question: str, plan: str) -> None:
    assert primary_forms(page(app, f"/whatif/{question}?plan={plan}")) == ["ask-stored"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_button_of_the_submitted_plan_is_the_primary_one(app: FastAPI, question: str) -> None:
    assert primary_forms(sent(app, f"/whatif/{question}", text=json.dumps(TIGHT))) == ["ask-sent"]
    assert primary_forms(sent(app, f"/whatif/{question}", text="qsg: 5")) == ["ask-sent"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_button_of_the_document_is_the_primary_one_if_nothing_is_stored(
    question: str, tmp_path: Path
) -> None:
    nothing_stored = create_app(Settings(data_dir=tmp_path))
    assert primary_forms(page(nothing_stored, f"/whatif/{question}")) == ["ask-sent"]


def test_selected_plans_of_the_sysplex_are_included(app: FastAPI) -> None:
    said = words(page(app, "/whatif/cf-loss?plan=tight&with=other&with=nobody"))
    assert "Counted together: SQ03, other." in said
    assert "QSG2A" in said


@pytest.mark.parametrize("question", ["cf-loss", "upgrade"])
def test_unreadable_plan_is_reported_at_its_field(app: FastAPI, question: str) -> None:
    answer = sent(app, f"/whatif/{question}", text='{"qsg": "SQ03", "queue_managers": "many"}')
    assert answer.status == 422
    assert "Line 1, queue_managers: " in words(answer)
    refused = sent(app, f"/whatif/{question}", text=json.dumps({**TIGHT, "queue_managers": 33}))
    assert refused.status == 422
    assert "32" in words(refused)
    assert page(app, f"/whatif/{question}?plan=nobody").status == 404


def test_plans_that_cannot_share_a_sysplex_are_refused_with_a_message(app: FastAPI) -> None:
    answer = sent(app, "/whatif/cf-loss", **{"text": json.dumps(TIGHT), "with": "tight"})
    assert answer.status == 422
    assert "SQ03CSQ_ADMIN is in the plans SQ03 and tight" in words(answer)


def test_upgrade_page_uses_the_values_of_the_form(app: FastAPI) -> None:
    said = words(page(app, "/whatif/upgrade?plan=tight&cfcc=&queue_managers=2&growth=50&years=3"))
    assert "2 more queue managers" in said
    assert "50 % a year for 3 years" in said
    assert "All together" in said
    assert "10 % a year" not in said


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("cfcc=x", "Must be a whole number."),
        ("years=-1", "Must be a whole number."),
        ("queue_managers=1+2", "Must be a whole number."),
        ("growth=ten", "Must be a number."),
        ("cfcc=14", "must be between 26 and 99"),
    ],
)
def test_invalid_field_is_reported_without_a_calculation(app: FastAPI, query: str, message: str) -> None:
    answer = page(app, f"/whatif/upgrade?plan=.example&{query}")
    assert answer.status == 422
    assert message in words(answer)
    assert "Step by step" not in words(answer)


def test_upgrade_form_without_changes_asks_for_a_change(app: FastAPI) -> None:
    said = words(page(app, "/whatif/upgrade?plan=.example&queue_managers=0&years="))
    assert "Choose at least one change" in said


def test_list_of_questions_links_to_structures_of_a_stored_plan(app: FastAPI) -> None:
    text = page(app, "/whatif?plan=tight").text
    for ending in ("filling", "thresholds"):
        assert f'href="/plans/tight/versions/1/structures/A/{ending}"' in text
    assert 'href="/whatif/cf-loss?plan=tight"' in text
    assert "Requires a structure of a stored plan." in words(page(app, "/whatif"))
    assert page(app, "/whatif?plan=nobody").status == 404


def test_bar_lengths_are_proportional_to_storage() -> None:
    facilities = [cf("CF01", "40G", occupied="8G"), cf("CF02", "20G"), cf("CF03", "2G")]
    found = losses_of([("SQ03", result(facilities, [structure("A", "9G", preflist=["CF01", "CF02"])]))])
    one, two, three = chart_of(found.white_space).bars
    assert [bar.whole for bar in (one, two, three)] == [40 * GIB, 20 * GIB, 2 * GIB]
    kinds = {part.style: part.amount / GIB for part in one.parts if part.amount}
    assert kinds == pytest.approx({"others": 8, "held": 10}, abs=0.1)  # CSQ_ADMIN has 1 G
    kinds = {part.style: part.amount / GIB for part in two.parts if part.amount}
    assert kinds == pytest.approx({"keep": 10}, abs=0.1)
    assert not any(part.amount for part in three.parts)
    assert one.warning == ""
    assert max(bar.extent for bar in (one, two, three)) == one.whole


def test_bar_shows_missing_white_space() -> None:
    found = losses_of([("SQ03", result([cf("CF01"), cf("CF02", "3G")], [structure("A", "4G")]))])
    _, two = chart_of(found.white_space).bars
    assert two.warning == "not enough free space"
    assert two.parts[-1].style == "keep short"
    assert two.extent > (two.whole or 0)


def test_structures_of_others_are_marked_on_loss_page_and_sheet(app: FastAPI) -> None:
    others = [{"name": "DB2_SCA", "size": "1G", "preflist": ["CF01", "CF02"]}]
    plan = {**TIGHT, "qsg": "QSG3", "other_structures": others}
    assert send_json(app, "PUT", "/api/v1/plans/with-db2", plan).status == 201
    for address in ("/whatif/cf-loss?plan=with-db2", "/sheet?plan=with-db2"):
        headings = [" ".join(each.text.split()) for each in read(page(app, address).text).all("th")]
        assert "DB2_SCA Db2, others" in headings
        marked = {each for each in headings if each.endswith("Db2, others") and each != "Db2, others"}
        assert marked == {"DB2_SCA Db2, others"}


def test_error_page_links_to_the_overview(app: FastAPI) -> None:
    answer = page(app, "/plans/missing")
    assert answer.status == 404
    links = {each.text: each.attributes["href"] for each in read(answer.text).one("main").all("a")}
    assert links["Overview"] == "/"
