"""Pasted queues are added to their structures, remain in their box for correction, or are reported as omitted."""

from __future__ import annotations

import pytest
from fastapi import FastAPI

from app.plans.editor.form import Typed, change, check, take_pastes, typed_of
from app.texts.documents import example_text, read_text
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from tests.app.plans.pages.browsing import Browser, PageContent

DISPLAY = """CSQM201I +QM01 CSQMDRTC  DISPLAY QLOCAL DETAILS
QUEUE(PRIVATE.Q)
TYPE(QLOCAL)
QSGDISP(QMGR)
END QLOCAL DETAILS
CSQM201I +QM01 CSQMDRTC  DISPLAY QLOCAL DETAILS
QUEUE(SHARED.Q)
TYPE(QLOCAL)
QSGDISP(SHARED)
CFSTRUCT(APPLICATION1)
MAXDEPTH(500)
END QLOCAL DETAILS
"""


@pytest.fixture
def browser(app: FastAPI) -> Browser:
    return Browser(app)


def example(**typed: str) -> Typed:
    return {**typed_of(read_text(example_text().encode())), **typed}


def pasted(text: str, at: str = "/structures/0", **more: str) -> Typed:
    return example(**{f"{at}/paste": text, f"{at}/paste_message_bytes": "1024", **more})


def queues(document: PlanDocument | None) -> dict[str, list[str]]:
    assert document is not None
    return {each.name: [queue.name for queue in each.queues] for each in document.structures}


def save(browser: Browser, name: str = "SQ03", **typed: str) -> PageContent:
    page = browser.get(f"/plans/{name}/edit")
    return browser.post(f"/plans/{name}/edit", {**page.fields, **typed, "do": "save"})


def versions(browser: Browser, name: str = "SQ03") -> int:
    return len(browser.ask("GET", f"/api/v1/plans/{name}/versions").json()["versions"])


def test_nonshared_queue_is_left_out_with_a_remark() -> None:
    once = take_pastes(pasted(DISPLAY))
    assert once.typed["/structures/0/paste"] == ""
    assert any("PRIVATE.Q is not a shared queue" in note for note in once.notes)
    twice = take_pastes(once.typed)
    assert queues(check(twice.typed).document)["APPLICATION1"] == ["PAYMENTS.IN", "SHARED.Q"]


def test_left_out_queues_are_shown_before_saving_and_do_not_prevent_it(
    browser: Browser,
) -> None:
    browser.save_example()
    paste = {"/structures/0/paste": DISPLAY, "/structures/0/paste_message_bytes": "1024"}
    shown = save(browser, **paste)
    assert shown.status == 422
    assert "PRIVATE.Q is not a shared queue" in shown.words
    assert versions(browser) == 1
    saved = browser.post("/plans/SQ03/edit", {**shown.fields, "do": "save"})
    assert saved.path == "/plans/SQ03?saved=changed"
    assert "PRIVATE.Q" not in browser.get("/plans/SQ03/edit").text


def test_many_nonshared_queues_share_one_remark() -> None:
    text = "".join(f"QUEUE(P.{n}) QSGDISP(QMGR)\n" for n in range(400))
    taken = take_pastes(pasted(text))
    assert [note for note in taken.notes if "400 queues" in note and "P.0, P.1, P.2 and 397 more" in note]
    assert len(taken.notes) == 1


def test_unreadable_displayed_queue_stays_in_its_box_with_all_its_lines() -> None:
    text = "QUEUE(GOOD) CFSTRUCT(APPLICATION1) MAXDEPTH(5)\nQUEUE(BAD NAME)\nQSGDISP(SHARED)\nMAXDEPTH(7)\n"
    taken = take_pastes(pasted(text))
    assert taken.typed["/structures/0/paste"] == "QUEUE(BAD NAME)\nQSGDISP(SHARED)\nMAXDEPTH(7)"


def test_pasted_queues_are_added_to_the_named_structure() -> None:
    text = "".join(
        f"QUEUE({q}) CFSTRUCT({s}) MAXDEPTH(9)\n" for q, s in (("A", "MYDATA"), ("B", "APPLICATION1"))
    )
    taken = take_pastes(pasted(text))
    assert queues(check(taken.typed).document) == {
        "APPLICATION1": ["PAYMENTS.IN", "B"],
        "MYDATA": ["ORDERS.IN", "A"],
    }
    assert any("added to MYDATA" in note for note in taken.notes)
    assert taken.has_remarks


def test_structure_named_in_pasted_text_is_added_and_reported() -> None:
    taken = take_pastes(pasted("QUEUE(A) CFSTRUCT(OTHER) MAXDEPTH(9)\n"))
    assert queues(check(taken.typed).document)["OTHER"] == ["A"]
    assert any("OTHER, a new structure" in note for note in taken.notes)
    assert taken.has_remarks


def test_unnamed_structure_gets_the_name_in_the_pasted_text() -> None:
    typed = typed_of(read_object({"qsg": "QSG1", "queue_managers": 2}))
    typed = change(typed, "add:/structures").typed
    text = "structure,name,message_bytes,backlog\nAPP,A,1,1\nAPP,B,1,1\n"
    taken = take_pastes({**typed, "/structures/0/paste": text})
    assert queues(check(taken.typed).document) == {"APP": ["A", "B"]}


def test_replacing_the_queues_of_a_structure_keeps_those_of_other_structures() -> None:
    text = "structure,name,message_bytes,backlog\nAPPLICATION1,A,1,1\nMYDATA,B,1,1\n"
    taken = change(pasted(text), "replace:/structures/0")
    assert queues(check(taken.typed).document) == {"APPLICATION1": ["A"], "MYDATA": ["ORDERS.IN", "B"]}


def test_queues_csv_of_a_plan_pasted_into_an_empty_plan_gives_the_same_queues(browser: Browser) -> None:
    document = example()
    document["/structures/0/queues/0/selector_reads"] = "yes"
    document["/structures/0/queues/0/isolation"] = "-PCI"
    browser.post("/new-plan", {**document, "name": "SQ03", "do": "save"})
    text = browser.ask("GET", "/plans/SQ03/versions/1/files/queues.csv").text
    assert "'-PCI" in text
    page = browser.get("/new-plan")
    typed = {
        **page.fields,
        "name": "NEW",
        "/qsg": "SQ03",
        "/queue_managers": "5",
        "/structures/0/paste": text,
    }
    shown = browser.post("/new-plan", {**typed, "do": "save"})
    done = browser.post("/new-plan", {**shown.fields, "do": "save"})
    assert done.path == "/plans/NEW?saved=created"
    again = browser.ask("GET", "/plans/NEW/versions/1/files/queues.csv").text
    assert again == text


@pytest.mark.parametrize("file", ["plan.yaml", "plan.json"])
def test_exported_plan_can_be_pasted_as_queues(browser: Browser, file: str) -> None:
    browser.save_example()
    text = browser.ask("GET", f"/plans/SQ03/versions/1/files/{file}").text
    taken = take_pastes(example(**{"/structures/0/queues/0/name": "OLD", "/structures/0/paste": text}))
    assert queues(check(taken.typed).document) == {
        "APPLICATION1": ["OLD", "PAYMENTS.IN"],
        "MYDATA": ["ORDERS.IN"],
    }


def test_example_file_is_read_and_its_remarks_reported() -> None:
    taken = take_pastes(example(**{"/structures/0/paste": example_text()}))
    assert taken.typed["/structures/0/paste"] == ""
    assert queues(check(taken.typed).document)["MYDATA"] == ["ORDERS.IN"]


@pytest.mark.parametrize(
    "text",
    [
        '{"structures": [{"name": "APPLICATION1", "queues": [{"name": "A"',
        "structures:\n  - name: [\n",
        "qsg: SQ03\nstructures: &a\n  - *a\n",
        "queues:\n  - name: A\n    colour: red\n",
        'name,message_bytes,backlog\n"A,1,1\n',
        "name,message_bytes,p95,max,backlog,persistent\nA.Q,3500,12K,60K,100,maybe\n",
        "name,message_bytes,backlog\nA" + "," * 20_001,
        "name,message_bytes,backlog\nA,1,1\nA,2,2",
        "QUEUE(CUT.OFF",
        "QUEUE()",
    ],
)
@pytest.mark.parametrize("path", ["/plans/SQ03/edit", "/new-plan"])
def test_unreadable_paste_stays_in_its_box_and_is_never_saved(browser: Browser, text: str, path: str) -> None:
    browser.save_example()
    page = browser.get(path if path != "/new-plan" else "/new-plan?from=copy&name=SQ03")
    sent = {**page.fields, "/structures/0/paste": text, "do": "save"}
    for _ in range(3):
        answer = browser.post(path, sent)
        assert answer.status == 422
        assert answer.fields["/structures/0/paste"].strip() == text.strip()
        sent = {**answer.fields, "do": "save"}
    assert versions(browser) == 1


@pytest.mark.parametrize(
    "text",
    [
        'name,message_bytes,backlog\nA,1,1\n"B,1,1\n',
        "name,message_bytes,backlog\nA,1,1\nB,many,1\n",
        "name,message_bytes,backlog,colour\nA,1,1,red\n",
        "A,1024,500,yes\n",
        '{"queues": [{"name": "A"',
        "[{",
        "name\tmessage_bytes\tp95\tmax\tbacklog\tput_rate_per_s\toutage_minutes\tpersistent\tselector_reads\tisolation\n"
        "A\t1\t\t\t1\t\t\tmaybe\n",
        "structure,name,message_bytes,backlog\nMYDATA,A,1,1\n",
    ],
    ids=lambda text: text.splitlines()[-1][:20],
)
def test_queue_text_with_an_unreadable_part_is_not_saved(browser: Browser, text: str) -> None:
    browser.save_example()
    typed = {
        key: value for key, value in browser.get("/plans/SQ03/edit").fields.items() if "/0/queues/" not in key
    }
    answer = browser.post("/plans/SQ03/edit", {**typed, "/structures/0/queues": text, "do": "save"})
    assert answer.status == 422
    assert answer.fields["/structures/0/queues"].strip() == text.strip()
    assert "/structures/0/queues-error" in answer.ids
    assert versions(browser) == 1


def test_sizes_with_units_are_read_in_every_field() -> None:
    typed = example(**{"/structures/0/queues/0/message_bytes": "4K/12K/60K"})
    document = check(typed).document
    assert document is not None
    heading = "name\tmessage_bytes\tp95\tmax\tbacklog"
    text = take_pastes(pasted(f"{heading}\nPAYMENTS.IN\t4K\t12K\t60K\t200000\n"))
    sizes = document.structures[0].queues[0].message_bytes
    again = check(text.typed).document
    assert again is not None
    assert again.structures[0].queues[0].message_bytes == sizes
