"""Merge, diff and what-if pages answer only for the plan that the planner chose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.running.texts import running_example
from app.settings import Settings
from app.texts.documents import example_text
from app.whatif.questions import QUESTIONS
from tests.app.plans.support import changed
from tests.app.running.test_pages import post
from tests.app.web.pages.html import Element, read
from tests.app.web.support import get, send_json

PAGES_OF_QUESTIONS = [question.path for question in QUESTIONS if not question.is_of_structure]
RUNNING = running_example()
SENT = {"/merge": {"policy": RUNNING.policy}, "/running": {"current": RUNNING.current}}
ANSWERED = {"/merge": "Merge again", "/running": "Compare again"}
OTHER = example_text().replace("SQ03", "SQ04")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[FastAPI]:
    """Return an application with two stored plans."""
    made = create_app(Settings(data_dir=tmp_path / "data"))
    for name in ("BANK", "TRADE"):
        assert send_json(made, "PUT", f"/api/v1/plans/{name}", changed()).status == 201
    yield made
    made.state.database.close()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[FastAPI]:
    made = create_app(Settings(data_dir=tmp_path / "empty"))
    yield made
    made.state.database.close()


def main_of(app: FastAPI, address: str) -> Element:
    answer = get(app, address, accept="text/html")
    assert answer.status == 200, answer.text
    return read(answer.text).one("main")


def words(element: Element) -> str:
    return " ".join(element.text.split())


def chosen(element: Element) -> str:
    """Return the selected option in the list of plans."""
    options = next(each for each in element.all("select") if each["name"] == "plan").all("option")
    return next((each for each in options if "selected" in each.attributes), options[0])["value"]


@pytest.mark.parametrize("address", PAGES_OF_QUESTIONS)
def test_what_if_pages_without_a_chosen_plan_show_no_result(app: FastAPI, address: str) -> None:
    page = main_of(app, address)
    assert chosen(page) == ""
    assert "Choose a plan" in words(page)
    assert words(page).count("example plan") == 1  # in the list of plans
    assert not page.all("table")


@pytest.mark.parametrize("address", PAGES_OF_QUESTIONS)
@pytest.mark.parametrize(("name", "called"), [("BANK", "plan BANK"), (".example", "example plan")])
def test_what_if_pages_show_the_result_for_the_chosen_plan(
    app: FastAPI, address: str, name: str, called: str
) -> None:
    page = main_of(app, f"{address}?plan={name}")
    assert chosen(page) == name
    assert called in words(page)


@pytest.mark.parametrize("address", PAGES_OF_QUESTIONS)
def test_submitted_document_selects_no_stored_plan(app: FastAPI, address: str) -> None:
    page = read(post(app, address, {"text": OTHER}).text).one("main")
    assert chosen(page) == ""
    assert "plan that you sent" in words(page).lower()


def test_list_of_questions_has_no_selected_plan_by_default(app: FastAPI) -> None:
    page = main_of(app, "/whatif")
    assert chosen(page) == ""
    assert "Questions about the plan that you choose" in words(page)
    followed = main_of(app, "/whatif?plan=.example")
    assert "/whatif/cf-loss?plan=.example" in [link["href"] for link in followed.all("a")]


@pytest.mark.parametrize("address", PAGES_OF_QUESTIONS)
def test_empty_installation_shows_the_labelled_example(empty: FastAPI, address: str) -> None:
    assert "example plan" in words(main_of(empty, address)).lower()


@pytest.mark.parametrize("address", ANSWERED)
@pytest.mark.parametrize("has_plans", [True, False])
def test_policy_is_not_compared_with_the_example_unless_chosen(
    app: FastAPI, empty: FastAPI, address: str, has_plans: bool
) -> None:
    asked = app if has_plans else empty
    assert chosen(main_of(asked, address)) == ""
    answer = post(asked, address, {**SENT[address], "plan": "", "document": ""})
    assert answer.status == 422
    page = read(answer.text).one("main")
    assert "Plan: is missing: choose a plan, or enter a plan document." in words(page)
    assert ANSWERED[address] not in words(page)


@pytest.mark.parametrize("address", ANSWERED)
@pytest.mark.parametrize(
    ("sent", "selected", "called"),
    [
        ({"plan": "BANK"}, "BANK", "the plan BANK"),
        ({"plan": ".example"}, ".example", "the example plan"),
        ({"document": example_text()}, "", "the plan document below"),
    ],
    ids=["stored", "example", "document"],
)
def test_result_is_for_the_plan_selected_in_the_form(
    app: FastAPI, address: str, sent: dict[str, str], selected: str, called: str
) -> None:
    answer = post(app, address, {**SENT[address], **sent})
    page = read(answer.text).one("main")
    assert ANSWERED[address] in words(page), words(page)
    assert chosen(page) == selected
    assert called in words(page)


@pytest.mark.parametrize("address", ANSWERED)
@pytest.mark.parametrize("name", ["BANK", ".example"])
def test_stored_plan_together_with_a_document_is_refused(app: FastAPI, address: str, name: str) -> None:
    answer = post(app, address, {**SENT[address], "plan": name, "document": OTHER})
    assert answer.status == 422
    page = read(answer.text).one("main")
    assert "use only one of them" in words(page)
    assert chosen(page) == name
    assert ANSWERED[address] not in words(page)
