"""The form of a large plan refers to queues that are not being edited; saving it keeps all of them."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from fastapi import FastAPI

from app.plans.editor import folding, panel
from app.plans.editor.form import check, typed_of
from bench.plans import largest
from planner_core.document.reading import read_object
from tests.app.plans.pages.browsing import Browser, PageContent
from tests.app.web.support import get, send_json

STRUCTURES, QUEUES = 3, 70
AT = "/plans/LARGE/edit"


@pytest.fixture(autouse=True)
def _large_plans_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "FOLDED_OVER", 100)
    monkeypatch.setattr(panel, "FOLDED_OVER", 100)


@pytest.fixture
def browser(app: FastAPI) -> Browser:
    plan = largest(structures=STRUCTURES, queues=QUEUES, with_definitions=True)
    assert send_json(app, "PUT", "/api/v1/plans/LARGE", plan).status == 201
    return Browser(app)


def stored(browser: Browser, name: str = "LARGE") -> dict[str, Any]:
    found: dict[str, Any] = get(browser.app, f"/api/v1/plans/{name}/document").json()
    return found


def press(browser: Browser, page: PageContent, action: str, **changed: str) -> PageContent:
    return browser.post(AT, {**page.fields, **changed, "do": action})


def test_form_of_a_large_plan_has_references_instead_of_queues(browser: Browser) -> None:
    page = browser.get(AT)
    assert [key for key in page.fields if key.endswith("/queues_of")] == [
        f"/structures/{number}/queues_of" for number in range(STRUCTURES)
    ]
    assert "PAYMENTS.EUROPE" not in str(page.fields)
    assert "70 queues, as in version 1" in page.words
    assert "Version 1: The group uses" in page.words


def test_saving_another_field_keeps_all_queues(browser: Browser) -> None:
    before = stored(browser)
    saved = press(browser, browser.get(AT), "save", **{"/structures/1/full_threshold": "77"})
    assert saved.path.startswith("/plans/LARGE")
    expected = copy.deepcopy(before)
    expected["structures"][1]["full_threshold"] = 77
    assert stored(browser) == expected


def test_unfolded_queues_can_be_changed_and_the_others_are_kept(browser: Browser) -> None:
    before = stored(browser)
    page = press(browser, browser.get(AT), "queues:/structures/1")
    assert "/structures/1/queues_of" not in page.fields
    assert "/structures/0/queues_of" in page.fields
    lines = page.fields["/structures/1/queues"].splitlines()
    del lines[1]
    press(browser, page, "save", **{"/structures/1/queues": "\n".join(lines)})
    expected = copy.deepcopy(before)
    del expected["structures"][1]["queues"][0]
    assert stored(browser) == expected


def test_references_survive_every_button(browser: Browser) -> None:
    page = browser.get(AT)
    references = {key: text for key, text in page.fields.items() if key.endswith("/queues_of")}
    for action in ("check", "restore", "add:/structures", "add:/coupling_facilities"):
        page = press(browser, page, action)
        assert references.items() <= page.fields.items()
    assert "is calculated when you save it" in press(browser, page, "check").words


def test_removed_structure_is_removed_with_its_queues_only(browser: Browser) -> None:
    before = stored(browser)
    page = press(browser, browser.get(AT), "remove:/structures/0")
    press(browser, page, "save")
    assert stored(browser)["structures"] == before["structures"][1:]


def test_references_mean_the_version_of_the_form_when_another_was_saved_since(browser: Browser) -> None:
    page = browser.get(AT)
    other = stored(browser)
    other["structures"][2]["queues"] = other["structures"][2]["queues"][:1]
    tag = get(browser.app, "/api/v1/plans/LARGE").headers["etag"]
    assert send_json(browser.app, "PUT", "/api/v1/plans/LARGE", other, if_match=tag).status == 200
    merged = press(browser, page, "merge", **{"/structures/0/full_threshold": "77"})
    press(browser, merged, "save")
    found = stored(browser)["structures"]
    assert found[0]["full_threshold"] == 77
    assert [len(each["queues"]) for each in found] == [QUEUES, QUEUES, 1]


def test_copy_of_a_large_plan_has_all_queues(browser: Browser) -> None:
    before = stored(browser)
    page = browser.get("/new-plan?from=copy&name=LARGE")
    browser.post("/new-plan", {**page.fields, "do": "save"})
    assert stored(browser, "LARGE-copy") == before


def test_queues_of_a_plan_deleted_meanwhile_are_saved_as_a_new_plan(browser: Browser) -> None:
    before, page = stored(browser), browser.get(AT)
    browser.post("/plans/LARGE/delete", {})
    gone = press(browser, page, "save", **{"/structures/1/full_threshold": "77"})
    assert gone.status == 409
    browser.post("/new-plan", {**gone.fields, "name": "SAVED", "do": "save"})
    assert [each["queues"] for each in stored(browser, "SAVED")["structures"]] == [
        each["queues"] for each in before["structures"]
    ]


@pytest.mark.parametrize("reference", ["", "1.1", "9999.1/0", "1.9/0", "1.1/99", "x"])
def test_unknown_reference_is_refused_and_nothing_is_saved(browser: Browser, reference: str) -> None:
    before = stored(browser)
    answer = press(browser, browser.get(AT), "save", **{"/structures/1/queues_of": reference})
    assert answer.status == 422
    assert "refers to queues that are not stored" in answer.words
    assert stored(browser) == before


def test_resized_structure_keeps_all_queues(browser: Browser) -> None:
    before = stored(browser)
    page = browser.get(f"{AT}?resize=APPLICATIO01&times=2")
    press(browser, page, "save")
    found = stored(browser)
    assert found["structures"][1]["initsize"] is not None
    assert [each["queues"] for each in found["structures"]] == [
        each["queues"] for each in before["structures"]
    ]


def test_plan_that_is_not_large_has_its_queues_in_the_form(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, "FOLDED_OVER", STRUCTURES * QUEUES)
    page = browser.get(AT)
    assert not any(key.endswith("/queues_of") for key in page.fields)
    assert "PAYMENTS.EUROPE" in page.fields["/structures/0/queues"]


def test_queues_that_the_form_refers_to_are_those_of_their_text() -> None:
    plan = largest(structures=2, queues=QUEUES, with_definitions=True)
    defaults, whole = (
        {"name": "PLAIN", "message_bytes": 1024, "backlog": 0},
        {"name": "W", "message_bytes": "1M"},
    )
    rates = {"QM00": {"put_rate_per_s": 0, "get_rate_per_s": 1.5}, "QM01": {"put_rate_per_s": 7}}
    plan["structures"][0]["queues"][:2] = [
        {**defaults, "share": False, "qsvciev": "HIGH"},
        {**whole, "backlog": 7, "put_rate_per_s": 8, "get_rate_per_s": 0.00001, "queue_manager_rates": rates},
    ]
    document = read_object(plan).model_dump(mode="json")
    at = "/structures/0/queues_of"
    typed, folded = folding.unfold({**typed_of(read_object(plan)), at: "1.1/0"}, lambda *_: document)
    assert folded == {}  # the form has the queues themselves
    without = {key: text for key, text in typed.items() if key != "/structures/0/queues"}
    typed, folded = folding.unfold({**without, at: "1.1/0"}, lambda *_: document)
    assert list(folded) == ["/structures/0"]
    plain, known = check(typed), check(typed, folded)
    assert plain.document is not None
    assert known.document == plain.document
    assert known.reading.lines == plain.reading.lines
    for one, other in zip(
        known.document.structures[0].queues, plain.document.structures[0].queues, strict=True
    ):
        assert one.model_fields_set == other.model_fields_set
        assert repr(one) == repr(other)


def test_error_in_a_queue_that_the_form_refers_to_names_its_line(browser: Browser) -> None:
    refused = press(browser, browser.get(AT), "save", **{"/queue_managers": "QM01 QM02"})
    assert refused.status == 422
    # The first queue has no rates, and the heading is the first line.
    assert "Line 3: QM00 is not among the queue_managers of the plan" in refused.words
