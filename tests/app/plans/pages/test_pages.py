"""The pages of stored plans in a browser without scripts."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
import zlib
from pathlib import Path

import pytest
from fastapi import FastAPI
from openpyxl import load_workbook
from sqlalchemy import select, update

from app.database.parts import PartedText
from app.fits.kept import Curves
from app.main import create_app
from app.plans import changing_pages as changing
from app.plans import service
from app.plans.computed import ComputedPlan, compute
from app.plans.models import PlanVersion
from app.plans.sheet_pages import before_and_after_chart, sums_of
from app.settings import Settings
from app.sizing.calculator.answer import LABELS
from app.texts.documents import example_text, read_text
from app.web.form_words import FORM_LABELS
from bench.plans import largest
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.plan.sheet import sheet
from planner_core.sizing.placement import AllocationGroup
from tests.app.plans.pages.browsing import Browser, PageContent
from tests.app.web.pages.html import read
from tests.cpu import at_most_cpu_seconds
from tests.hostile.field_names import NAMES_OF_NO_FIELD

pytestmark = pytest.mark.long


@pytest.fixture
def browser(app: FastAPI) -> Browser:
    return Browser(app)


def edit(browser: Browser, name: str = "SQ03") -> PageContent:
    return browser.get(f"/plans/{name}/edit")


def test_empty_installation_offers_the_example_and_the_calculator(browser: Browser) -> None:
    page = browser.get("/plans")
    assert page.status == 200
    assert "A plan stores the sizing of one queue-sharing group" in page.words
    assert {"/new-plan?from=example", "/new-plan", "/calculator"} <= set(page.links)


def test_first_visit_shows_an_introduction_until_something_is_saved(browser: Browser) -> None:
    first = browser.get("/")
    assert "cfplan sizes the coupling facility structures of IBM MQ queue-sharing groups." in first.words
    assert {"/new-plan?from=example", "/plans"} <= set(first.links)
    assert "Nothing is stored here yet" in first.words
    assert "Nothing is stored here yet" not in browser.get("/calculator").words
    browser.save_example()
    assert "Nothing is stored here yet" not in browser.get("/").words
    assert browser.get("/").status == 200


def test_calculator_works_without_a_database(tmp_path: Path) -> None:
    broken = tmp_path / "cfplan.db"
    broken.mkdir()
    browser = Browser(create_app(Settings(data_dir=tmp_path)))
    for address in ("/", "/calculator"):
        page = browser.get(address)
        assert page.status == 200
        assert "Nothing is stored here yet" not in page.words
        assert "STRUCTURE NAME(SQ03APPLICATION1)" in page.words


def test_printed_long_plan_is_shortened_with_a_link_to_the_full_list(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.save_example()
    typed = {"/structures/0/full_threshold": "80", "/structures/1/full_threshold": "70", "do": "save"}
    browser.post("/plans/SQ03/edit", {**edit(browser).fields, **typed})
    whole = browser.get("/plans/SQ03/versions/2/print")
    assert "only the first" not in whole.words
    findings = browser.ask("GET", "/plans/SQ03/versions/2/files/findings.csv").text.count("\n") - 1
    for limit in ("MOST_FINDINGS", "MOST_PRINTED_QUEUES", "MOST_DIFFERENCES"):
        monkeypatch.setattr(f"app.plans.pages.{limit}", 1)
    cut = browser.get("/plans/SQ03/versions/2/print")
    for words, where in (
        (f"only the first 1 of {findings} findings", "/plans/SQ03/versions/2/files/findings.csv"),
        ("only the first 1 of 2 queues", "/plans/SQ03/versions/2/files/queues.csv"),
        ("only the first 1 of 2 changes", "/plans/SQ03/compare?from=1&to=2"),
    ):
        assert f"{words}. Full list: {where}" in cut.words
        assert browser.ask("GET", where).status_code == 200
        assert where in cut.links


def test_labels_in_messages_are_those_of_the_editor(browser: Browser) -> None:
    browser.save_example()
    page = browser.get("/plans/SQ03/edit")
    assert {label for label in FORM_LABELS.values() if label not in page.words} == set()


def test_example_saved_in_the_form_has_the_policy_of_the_rest_interface(browser: Browser) -> None:
    page = browser.save_example()
    assert (page.status, page.path) == (200, "/plans/SQ03?saved=created")
    assert "Saved. Next: the CFRM policy, job and commands" in page.words
    assert {"/plans/SQ03?tab=policy", "/running?plan=SQ03"} <= set(page.links)
    saved = browser.ask("GET", "/plans/SQ03/versions/1/files/policy").text
    asked = browser.ask(
        "POST",
        "/api/v1/policy",
        content=read_text(example_text().encode()).model_dump_json().encode(),
        headers={"content-type": "application/json"},
    )
    assert saved == asked.text
    assert "STRUCTURE NAME(SQ03APPLICATION1)" in saved


@pytest.mark.parametrize(
    "path",
    [
        "/plans", "/plans/SQ03", "/plans/SQ03?tab=findings", "/plans/SQ03?tab=policy", "/plans/SQ03?tab=queues",
        "/plans/SQ03/what-if", "/plans/SQ03/versions/1?tab=findings", "/plans/SQ03/edit", "/plans/SQ03/history", "/plans/SQ03/compare",
        "/plans/SQ03/advice", "/plans/SQ03/versions/1", "/plans/SQ03/versions/1/print",
        "/plans/SQ03/versions/1/structures/APPLICATION1", "/plans/SQ03/versions/1/structures/CSQ_ADMIN",
        "/plans/SQ03/versions/1/structures/CSQSYSAPPL", "/plans/SQ03/versions/1/structures/APPLICATION1/explanations",
        "/new-plan", "/import-plans", "/deleted-plans",
        "/new-plan?from=copy&name=SQ03",
    ],
)  # fmt: skip
def test_each_page_has_one_main_heading_and_unique_ids(browser: Browser, path: str) -> None:
    browser.save_example()
    page = browser.get(path)
    assert page.status == 200
    assert page.text.count("<h1") == 1
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids, link


def test_form_with_errors_is_not_saved_and_links_to_its_fields(browser: Browser) -> None:
    browser.save_example()
    page = edit(browser)
    sent = {**page.fields, "/structures/0/queues/0/backlog": "2OO", "/qsg": "toolong", "do": "save"}
    answer = browser.post("/plans/SQ03/edit", sent)
    assert answer.status == 422
    assert answer.fields["/structures/0/queues/0/backlog"] == "2OO"
    assert {"#/qsg", "#/structures/0/queues/0/backlog"} <= set(answer.links)
    assert {"/qsg-error", "/structures/0/queues/0/backlog-error"} <= set(answer.ids)
    assert not browser.get("/plans/SQ03/history").fields  # still one version, so there is nothing to compare


def test_findings_next_to_the_form_link_to_their_field(browser: Browser) -> None:
    browser.save_example()
    sent = {**edit(browser).fields, "/structures/0/initsize": "100M", "do": "check"}
    page = browser.post("/plans/SQ03/edit", sent)
    assert "INITSIZE_BELOW_NEED" in page.text
    assert "#/structures/0/initsize" in page.links
    assert "/structures/0/initsize" in page.ids


def test_rows_are_added_and_removed_by_buttons(browser: Browser) -> None:
    browser.save_example()
    page = browser.post("/plans/SQ03/edit", {**edit(browser).fields, "do": "add:/structures/0/queues"})
    assert "/structures/0/queues/1/name" in page.fields
    page = browser.post("/plans/SQ03/edit", {**page.fields, "do": "add:/structures"})
    assert "/structures/2/name" in page.fields
    page = browser.post("/plans/SQ03/edit", {**page.fields, "do": "remove:/structures/0"})
    assert "/structures/0/name" not in page.fields
    page = browser.post("/plans/SQ03/edit", {**page.fields, "do": "save"})
    assert page.path == "/plans/SQ03?saved=changed"
    assert "SQ03MYDATA" in page.words
    assert "SQ03APPLICATION1" not in page.words


def test_form_with_an_unreadable_base_version_is_a_conflict(browser: Browser) -> None:
    browser.save_example()
    stale = edit(browser).fields
    browser.post("/plans/SQ03/edit", {**stale, "/cfcc_level": "24", "do": "save"})
    refused = browser.post(
        "/plans/SQ03/edit", {**stale, "base": "\N{SUPERSCRIPT TWO}", "/cfcc_level": "23", "do": "save"}
    )
    assert refused.status == 409


def test_concurrent_editors_see_both_versions_and_lose_nothing(browser: Browser) -> None:
    browser.save_example()
    first, second = edit(browser).fields, edit(browser).fields
    saved = browser.post(
        "/plans/SQ03/edit", {**first, "/structures/0/queues/0/backlog": "250000", "do": "save"}
    )
    assert saved.path == "/plans/SQ03?saved=changed"
    refused = browser.post(
        "/plans/SQ03/edit",
        {**second, "/structures/1/full_threshold": "80", "comment": "my remark", "do": "save"},
    )
    assert refused.status == 409
    for words in (
        "Structure APPLICATION1, queue PAYMENTS.IN: Backlog",
        "200000",
        "250000",
        "Structure MYDATA: FULLTHRESHOLD",
        "80",
    ):
        assert words in refused.words
    together = browser.post("/plans/SQ03/edit", {**refused.fields, "do": "merge"})
    assert together.fields["/structures/0/queues/0/backlog"] == "250000"
    assert together.fields["/structures/1/full_threshold"] == "80"
    assert together.fields["comment"] == "my remark"
    done = browser.post("/plans/SQ03/edit", {**together.fields, "do": "save"})
    assert done.path == "/plans/SQ03?saved=changed"
    compared = browser.get("/plans/SQ03/compare?from=1&to=3")
    assert "Structure MYDATA: FULLTHRESHOLD" in compared.words
    assert "250 000 messages" in compared.words


def test_saving_my_version_after_a_conflict_keeps_theirs_in_the_history(browser: Browser) -> None:
    browser.save_example()
    first, second = edit(browser).fields, edit(browser).fields
    browser.post("/plans/SQ03/edit", {**first, "/cfcc_level": "24", "do": "save"})
    refused = browser.post("/plans/SQ03/edit", {**second, "/cfcc_level": "23", "do": "save"})
    browser.post("/plans/SQ03/edit", {**refused.fields, "do": "save"})
    levels = [
        json.loads(browser.ask("GET", f"/plans/SQ03/versions/{n}/files/plan.json").text).get("cfcc_level", 25)
        for n in (1, 2, 3)
    ]
    assert levels == [25, 24, 23]


def test_input_survives_the_deletion_of_the_plan(browser: Browser) -> None:
    browser.save_example()
    typed = edit(browser).fields
    browser.post("/plans/SQ03/delete", {})
    page = browser.post("/plans/SQ03/edit", {**typed, "/cfcc_level": "24", "do": "save"})
    assert page.status == 409
    assert page.fields["/cfcc_level"] == "24"
    again = browser.post("/new-plan", {**page.fields, "do": "save"})
    assert again.path == "/plans/SQ03?saved=created"


def test_name_that_is_in_use_or_invalid_is_reported_next_to_its_field(browser: Browser) -> None:
    browser.save_example()
    for name in ("SQ03", "../x", ""):
        page = browser.save_example(name)
        assert page.status == 422
        assert "name-error" in page.ids
        assert page.fields["/qsg"] == "SQ03"


def test_deleted_plan_can_be_restored(browser: Browser) -> None:
    browser.save_example()
    assert "You can restore it for 30 days." in browser.get("/plans/SQ03").words
    page = browser.post("/plans/SQ03/delete", {})
    assert "SQ03 was deleted" in page.words
    assert browser.get("/plans/SQ03").status == 404
    (plan,) = json.loads(browser.ask("GET", "/api/v1/deleted-plans").text)["plans"]
    until = plan["restorable_until"][:16].replace("T", " ")
    assert f"It can be restored until {until}" in page.words
    words = browser.get("/deleted-plans").words
    assert "SQ03" in words
    assert words.count(until) == 1
    assert browser.post("/plans/SQ03/restore", {}).status == 200
    assert browser.get("/plans/SQ03/history").status == 200


def test_acknowledged_finding_stores_its_reason_in_the_plan(browser: Browser) -> None:
    browser.save_example(**{"/structures/0/initsize": "100M"})
    page = browser.get("/plans/SQ03?tab=findings")
    assert page.fields["code"]
    found = json.loads(browser.ask("GET", "/api/v1/plans/SQ03").text)["findings"]
    given = {
        "etag": page.fields["etag"],
        "code": "INITSIZE_BELOW_NEED",
        "structure": "APPLICATION1",
        "message": next(item["message"] for item in found if item["code"] == "INITSIZE_BELOW_NEED"),
        "reason": "agreed",
    }
    page = browser.post("/plans/SQ03/acknowledge", given)
    assert re.search(r"Acknowledged by local, .{,40}: agreed", page.words)
    document = json.loads(browser.ask("GET", "/plans/SQ03/versions/2/files/plan.json").text)
    assert document["acknowledged"] == [
        {key: given[key] for key in ("code", "structure", "message", "reason")}
    ]


def test_changed_finding_is_open_until_acknowledged_again(
    browser: Browser,
) -> None:
    browser.save_example(**{"/structures/0/initsize": "100M"})
    page = browser.get("/plans/SQ03?tab=findings")
    given = {key: page.fields[key] for key in ("etag", "code", "structure", "message")}
    browser.post("/plans/SQ03/acknowledge", {**given, "reason": "agreed"})
    form = edit(browser)
    assert form.fields["/acknowledged/0/message"] == given["message"]
    browser.post("/plans/SQ03/edit", {**form.fields, "/structures/0/initsize": "90M", "do": "save"})
    page = browser.get("/plans/SQ03?tab=findings")
    assert "Acknowledged by" not in page.words
    assert "it is open again" in page.words
    assert page.fields["message"] != given["message"]
    given = {key: page.fields[key] for key in ("etag", "code", "structure", "message")}
    browser.post("/plans/SQ03/acknowledge", {**given, "reason": "agreed again"})
    document = json.loads(browser.ask("GET", "/plans/SQ03/versions/4/files/plan.json").text)
    assert [item["reason"] for item in document["acknowledged"]] == ["agreed again"]


def test_refused_acknowledgment_keeps_the_reason(browser: Browser) -> None:
    browser.save_example(**{"/structures/0/initsize": "100M"})
    page = browser.get("/plans/SQ03?tab=findings")
    given = {key: page.fields[key] for key in ("etag", "code", "structure", "message")}
    long = browser.post("/plans/SQ03/acknowledge", {**given, "reason": "x" * 501})
    assert long.status == 422
    assert "1 to 500 characters" in long.words
    browser.post("/plans/SQ03/edit", {**edit(browser).fields, "/cfcc_level": "24", "do": "save"})
    stale = browser.post("/plans/SQ03/acknowledge", {**given, "reason": "agreed"})
    assert stale.status == 409
    assert "Another plan" not in stale.words
    assert "someone has since saved version 2" in stale.words
    assert stale.fields["reason"] == "agreed"
    gone = browser.post(
        "/plans/SQ03/acknowledge",
        {**given, "etag": stale.fields["etag"], "code": "NOT_THERE", "reason": "agreed"},
    )
    assert gone.status == 422
    assert "Your reason was: agreed" in gone.words


def test_refused_rename_keeps_the_new_name(browser: Browser) -> None:
    browser.save_example()
    browser.save_example("OTHER")
    etag = browser.get("/plans/SQ03").fields["etag"]
    for name, status, words in (
        ("a b", 422, "1 to 64 characters"),
        ("OTHER", 409, "A plan called OTHER already exists"),
    ):
        page = browser.post("/plans/SQ03/rename", {"etag": etag, "name": name})
        assert (page.status, page.fields["name"]) == (status, name)
        assert words in page.words
        assert "new-name-error" in page.ids
    browser.post("/plans/SQ03/edit", {**edit(browser).fields, "/cfcc_level": "24", "do": "save"})
    page = browser.post("/plans/SQ03/rename", {"etag": etag, "name": "NEW"})
    assert (page.status, page.fields["name"]) == (409, "NEW")
    assert "someone has since saved version 2" in page.words
    again = browser.post("/plans/SQ03/rename", {"etag": page.fields["etag"], "name": "NEW"})
    assert again.path == "/plans/NEW?saved=renamed"


@pytest.mark.parametrize("number", ["0", "7", "abc", "99999999999", "1.5"])
def test_request_for_a_missing_version_names_it(browser: Browser, number: str) -> None:
    browser.save_example()
    for page in ("", "/print", "/structures/APPLICATION1", "/files/plan.json"):
        answer = browser.get(f"/plans/SQ03/versions/{number}{page}")
        assert answer.status == 404
        assert f"The plan SQ03 has no version {number}" in answer.words
    assert "There is no plan called NONE" in browser.get(f"/plans/NONE/versions/{number}").words


def test_deleted_plans_with_the_same_name_are_restored_individually(browser: Browser) -> None:
    for level in ("25", "24"):
        browser.save_example(**{"/cfcc_level": level, "comment": f"for level {level}"})
        browser.post("/plans/SQ03/delete", {})
    browser.save_example()
    page = browser.get("/deleted-plans")
    assert "for level 25" in page.words
    assert "for level 24" in page.words
    oldest = page.fields["id"]  # that of the last line
    assert page.fields["name"] == "SQ03-restored"
    taken = browser.post("/plans/SQ03/restore", {"id": oldest, "name": "SQ03"})
    assert taken.status == 409
    assert "under another name" in taken.words
    assert browser.post("/plans/SQ03/restore", {"id": oldest, "name": "a b"}).status == 422
    done = browser.post("/plans/SQ03/restore", {"id": oldest, "name": "SQ03-old"})
    assert done.path == "/plans/SQ03-old?saved=restored"
    assert "CFCC level 25" in done.words
    assert "for level 24" in browser.get("/deleted-plans").words


def test_restoring_a_plan_whose_name_is_taken_asks_for_a_new_name(browser: Browser) -> None:
    browser.save_example()
    undo = browser.post("/plans/SQ03/delete", {}).fields
    browser.save_example()
    page = browser.post("/plans/SQ03/restore", undo)
    assert (page.status, page.fields["name"]) == (409, "SQ03-restored")
    assert browser.post("/plans/SQ03/restore", page.fields).path == "/plans/SQ03-restored?saved=restored"


def test_form_with_too_many_structures_is_refused_before_it_is_read(
    browser: Browser,
) -> None:
    rows = {f"/structures/{number}/name": "A" for number in range(1_001)}
    page = browser.post("/plan-preview", rows)
    assert page.status == 422
    assert "The form has 1,001 structures; at most 1,000 are read." in page.words


def test_import_without_a_file_asks_for_a_file(browser: Browser) -> None:
    for files in ([("files", ("", b""))], [("other", ("x.json", b"{}"))]):
        answer = browser.ask("POST", "/import-plans", files=files)
        assert answer.status_code == 422
        assert "Choose one file or more." in answer.text


def test_files_are_read_and_computed_before_the_database_is_locked(
    browser: Browser, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[str] = []

    def others_save_meanwhile(document: PlanDocument, curves: Curves) -> ComputedPlan:
        with app.state.database.session(writes=True) as session:
            service.save_plan(session, f"OTHER-{len(computed)}", document)
        computed.append(document.qsg)
        return compute(document, curves)

    monkeypatch.setattr(changing, "compute", others_save_meanwhile)
    files = [("files", (f"{name}.yaml", example_text().encode())) for name in ("A", "B")]
    answer = browser.ask("POST", "/import-plans", files=files)
    assert answer.text.count("Imported.") == 2
    assert computed == ["SQ03", "SQ03"]


def test_plans_are_exported_and_imported_as_files(browser: Browser) -> None:
    browser.save_example("A.1")
    archive = zipfile.ZipFile(io.BytesIO(browser.ask("GET", "/export-plans").content))
    assert archive.namelist() == ["A.1.json"]
    yaml = browser.ask("GET", "/plans/A.1/versions/1/files/plan.yaml").content
    answer = browser.ask(
        "POST",
        "/import-plans",
        files=[
            ("files", ("B.json", archive.read("A.1.json"))),
            ("files", ("C.yaml", yaml)),
            ("files", ("A.1.yml", yaml)),
            ("files", ("D.yaml", b"qsg: [")),
        ],
    )
    assert answer.status_code == 200
    assert "A plan called A.1 already exists" in answer.text
    texts = {
        name: browser.ask("GET", f"/plans/{name}/versions/1/files/plan.json").text
        for name in ("A.1", "B", "C")
    }
    assert len(set(texts.values())) == 1
    assert browser.get("/plans/D").status == 404


def test_errors_of_an_imported_file_have_lines_and_keys(browser: Browser) -> None:
    text = example_text().replace("queue_managers: ", "queue_managers: many # ")
    line = next(n for n, each in enumerate(text.splitlines(), 1) if each.startswith("queue_managers"))
    files = [("files", ("BAD.yaml", text.encode())), ("files", ("WORSE.yaml", b"qsg: ["))]
    page = browser.ask("POST", "/import-plans", files=files).text
    assert f"<li>Line {line}, queue_managers: must be a whole number, or a list</li>" in page
    assert "The text is not YAML" in page
    assert "/queue_managers" not in page


def test_tables_are_downloaded_as_csv_and_as_a_workbook(browser: Browser) -> None:
    browser.save_example()
    at = "/plans/SQ03/versions/1/files"
    rows = list(csv.DictReader(io.StringIO(browser.ask("GET", f"{at}/structures.csv").text)))
    assert [row["structure"] for row in rows] == [
        "SQ03CSQ_ADMIN", "SQ03APPLICATION1", "SQ03MYDATA", "SQ03CSQSYSAPPL",
    ]  # fmt: skip
    book = load_workbook(io.BytesIO(browser.ask("GET", f"{at}/tables.xlsx").content))
    sheet = book["structures"]
    heading = [cell.value for cell in sheet[1]]
    assert [str(row[heading.index("size_kib")].value) for row in sheet.iter_rows(min_row=2)] == [
        row["size_kib"] for row in rows
    ]
    assert {"facilities", "queues", "findings", "plan"} <= set(book.sheetnames)


def test_text_like_a_formula_stays_text_in_a_spreadsheet(browser: Browser) -> None:
    reason = "=1+1"
    browser.save_example(
        **{
            "/structures/0/initsize": "100M",
            "/acknowledged/0/code": "INITSIZE_BELOW_NEED",
            "/acknowledged/0/reason": reason,
        }
    )
    at = "/plans/SQ03/versions/1/files"
    assert ",'=1+1," in browser.ask("GET", f"{at}/findings.csv").text
    book = load_workbook(io.BytesIO(browser.ask("GET", f"{at}/tables.xlsx").content))
    found = [cell for row in book["findings"].iter_rows() for cell in row if cell.value == reason]
    assert [cell.data_type for cell in found] == ["s"]


def test_calculator_result_opens_in_the_editor(browser: Browser) -> None:
    page = browser.get("/new-plan?from=calculator&messages=777&qsg=ABCD")
    assert page.fields["/qsg"] == "ABCD"
    assert page.fields["/structures/0/queues/0/backlog"] == "777"


def test_preview_lists_errors_by_field(browser: Browser) -> None:
    sent = {**browser.get("/new-plan?from=example").fields, "/cfcc_level": "x"}
    page = browser.post("/plan-preview", sent)
    assert 'data-for="/cfcc_level"' in page.text
    sent["/cfcc_level"] = "25"
    page = browser.post("/plan-preview", sent)
    assert "The group uses" in page.words


def test_entered_text_is_escaped(browser: Browser) -> None:
    evil = '"><script>alert(1)</script>'
    sent = {**browser.get("/new-plan?from=example").fields, "/qsg": evil, "comment": evil, "name": evil}
    for path in ("/new-plan", "/plan-preview"):
        assert "<script>alert" not in browser.post(path, {**sent, "do": "save"}).text


@pytest.mark.parametrize("name", NAMES_OF_NO_FIELD.values(), ids=NAMES_OF_NO_FIELD.keys())
def test_form_with_a_name_of_no_field_is_answered(browser: Browser, name: str) -> None:
    sent = {**browser.get("/new-plan?from=example").fields, name: "x"}
    with at_most_cpu_seconds(5):
        assert "The group uses" in browser.post("/plan-preview", sent).words


@pytest.mark.parametrize("row", ["9" * 5_000, "\N{SUPERSCRIPT TWO}", "\N{ARABIC-INDIC DIGIT THREE}", "1\n"])
@pytest.mark.parametrize("verb", ["add", "remove", "text", "rows", "paste", "replace"])
def test_button_for_a_row_of_no_form_is_answered(browser: Browser, verb: str, row: str) -> None:
    sent = {**browser.get("/new-plan?from=example").fields, "do": f"{verb}:/structures/{row}"}
    assert browser.post("/new-plan", sent).status in (200, 422)


def test_selected_plans_are_compared_on_one_sheet(browser: Browser) -> None:
    browser.save_example()
    browser.save_example("OTHER", **{"/qsg": "SQ04"})
    sent = {
        **edit(browser).fields,
        "/structures/0/initsize": "600M",
        "/structures/0/size": "900M",
        "do": "save",
    }
    browser.post("/plans/SQ03/edit", sent)
    page = browser.get("/sheet?plan=SQ03&plan=OTHER&plan=NONE")
    assert "There is no plan called NONE" in page.words
    assert {"SQ03APPLICATION1", "SQ04APPLICATION1"} <= set(page.words.split())
    rows = list(csv.DictReader(io.StringIO(browser.ask("GET", "/sheet?plan=SQ03&plan=OTHER&as=csv").text)))
    of_cf01 = [int(row["initsize_kib"]) for row in rows if row["coupling_facility"] == "CF01"]
    assert 600 * 1024 in of_cf01
    together = f"{sum(int(row['initsize_kib']) for row in rows) / 1024:.1f}"
    assert together in page.words.replace(" ", "")


def test_plan_and_sheet_show_storage_and_unplaced_structures(browser: Browser) -> None:
    facilities = {f"/coupling_facilities/{number}/occupied": "63.5G" for number in (0, 1)}
    sizes = {
        "/structures/0/initsize": "600M",
        "/structures/0/size": "900M",
        "/structures/0/duplex": "ENABLED",
    }
    browser.save_example(**facilities, **sizes)
    for address in ("/plans/SQ03", "/plans/SQ03/versions/1/print", "/sheet?plan=SQ03"):
        page = browser.get(address)
        assert "No coupling facility has room for SQ03APPLICATION1, SQ03MYDATA" in page.words
        assert "65024.0" in page.words.replace("\u202f", "").replace(" ", "")
    assert "is not available while the plan has errors" in browser.get("/plans/SQ03/versions/1/print").words


def test_sheet_uses_the_smallest_storage_if_plans_differ(browser: Browser) -> None:
    browser.save_example()
    browser.save_example("OTHER", **{"/qsg": "SQ04", "/coupling_facilities/0/size": "32G"})
    words = browser.get("/sheet?plan=SQ03&plan=OTHER").words
    assert "The plans state different values for the size of CF01" in words
    assert "32768.0" in words.replace("\u202f", "").replace(" ", "")


def test_storage_line_of_the_sheet_excludes_structures_of_others_and_dump_space() -> None:
    facility = {"name": "CF01", "size": "8G", "occupied": "3G", "dumpspace": "512M"}
    structure = {
        "name": "APP", "initsize": "2G", "size": "4G", "preflist": ["CF01"],
        "queues": [{"name": "Q", "message_bytes": 1024, "backlog": 10}],
    }  # fmt: skip
    plan = {"qsg": "SQ03", "queue_managers": 2, "coupling_facilities": [facility], "structures": [structure]}
    found = evaluate(read_object(plan))
    new = sheet(
        [AllocationGroup("SQ03", 25, tuple(found.document.coupling_facilities), tuple(found.structures))]
    )
    chart = before_and_after_chart(sums_of(sheet([]), new), new, [])
    assert chart is not None
    # 8 GiB less 3.5 GiB; the bar of the plan's structures is compared with these.
    assert {bar.whole for bar in chart.bars if not bar.is_heading} == {4.5 * 1024 * 1024}


def test_structure_names_used_in_two_plans_are_reported(browser: Browser) -> None:
    browser.save_example()
    browser.save_example("COPY")
    page = browser.get("/sheet?plan=SQ03&plan=COPY")
    assert "SQ03APPLICATION1 is in more than one plan" in page.words


def test_proposed_split_opens_in_the_editor_and_is_saved(browser: Browser) -> None:
    browser.save_example(
        **{
            "/structures/0/queues/1/name": "BATCH.DEEP",
            "/structures/0/queues/1/message_bytes": "1024",
            "/structures/0/queues/1/backlog": "9000",
            "/structures/0/queues/1/selector_reads": "yes",
        }
    )
    page = browser.get("/plans/SQ03/advice")
    assert "BATCH.DEEP" in page.words
    editor = browser.post("/plans/SQ03/take-over", page.fields)
    assert editor.fields["/structures/1/queues/0/name"] == "BATCH.DEEP"
    saved = browser.post("/plans/SQ03/edit", {**editor.fields, "do": "save"})
    assert saved.path == "/plans/SQ03?saved=changed"
    assert "Split as proposed" in browser.get("/plans/SQ03/history").words


def test_old_version_is_shown_unchanged(browser: Browser) -> None:
    browser.save_example()
    before = browser.get("/plans/SQ03/versions/1/structures/APPLICATION1").words
    assert " Backup and recovery " in before
    explained = "/plans/SQ03/versions/1/structures/APPLICATION1/explanations"
    reasons = browser.get(explained).words
    before = before.replace(" Backup and recovery ", " ")  # asked of what a plan says now
    browser.post("/plans/SQ03/edit", {**edit(browser).fields, "/cfcc_level": "17", "do": "save"})
    assert browser.get("/plans/SQ03/versions/1/structures/APPLICATION1").words == before
    assert browser.get(explained).words == reasons
    assert "This is an old version" in browser.get("/plans/SQ03/versions/1").words


def test_plan_refused_by_the_core_is_not_saved(browser: Browser) -> None:
    page = browser.save_example(**{"/queue_managers": "33"})
    assert page.status == 422
    assert "/queue_managers-error" in page.ids
    assert browser.get("/plans/SQ03").status == 404


def test_restored_draft_keeps_its_version_and_its_pasted_text(browser: Browser) -> None:
    browser.save_example()
    draft = edit(browser).fields
    browser.post("/plans/SQ03/edit", {**draft, "/cfcc_level": "24", "do": "save"})
    text = "name,message_bytes,backlog\nPASTED.IN,1,1"
    sent = {**draft, "/structures/0/queues/0/backlog": "4711", "/structures/0/paste": text, "do": "restore"}
    page = browser.post("/plans/SQ03/edit", sent)
    assert page.status == 200
    assert "The draft is restored, based on version 1. Nothing is stored until you save it." in page.words
    assert page.fields["/structures/0/queues/0/backlog"] == "4711"
    assert page.fields["/structures/0/paste"] == text
    assert (page.fields["etag"], page.fields["base"]) == (draft["etag"], "1")
    assert (
        browser.post("/plans/SQ03/edit", {**page.fields, "/structures/0/paste": "", "do": "save"}).status
        == 409
    )


def test_preview_lists_the_collapsed_values(browser: Browser) -> None:
    sent = {**browser.get("/new-plan?from=example").fields, "/structures/0/full_threshold": "70"}
    page = browser.post("/plan-preview", sent)
    assert "FULLTHRESHOLD 70 %" in page.words


def test_largest_plan_is_edited_without_a_field_for_each_queue(browser: Browser) -> None:
    document = largest(structures=63, queues=512)
    put = browser.ask(
        "PUT",
        "/api/v1/plans/LARGEST",
        content=json.dumps(document).encode(),
        headers={"content-type": "application/json"},
    )
    assert put.status_code == 201
    page = edit(browser, "LARGEST")
    assert len(page.fields) < 3000
    assert sum(key.endswith("/queues_of") for key in page.fields) == 63
    assert not any(key.endswith("/queues") for key in page.fields)
    saved = browser.post("/plans/LARGEST/edit", {**page.fields, "/cfcc_level": "24", "do": "save"})
    assert saved.path == "/plans/LARGEST?saved=changed"
    found = browser.ask("GET", "/api/v1/plans/LARGEST/document").json()
    assert sum(len(structure["queues"]) for structure in found["structures"]) == 63 * 512
    compared = browser.get("/plans/LARGEST/compare")
    assert "Group: CFCC level" in compared.words


def test_structure_page_advises_on_queue_depths(browser: Browser) -> None:
    browser.save_example()
    stored = browser.ask("GET", "/api/v1/plans/SQ03", headers={"accept": "application/json"}).json()
    assert "queues" not in stored["result"]["structures"][2]["depth_events"]
    advised = browser.ask(
        "POST",
        "/api/v1/events/advise",
        content=json.dumps(stored["document"]).encode(),
        headers={"content-type": "application/json"},
    ).json()
    (found,) = (each for each in advised["structures"] if each["name"] == "MYDATA")
    page = browser.get("/plans/SQ03/versions/1/structures/MYDATA")
    assert "h-depths" in page.ids
    for each in found["depth_events"]["queues"]:
        assert f"{each['name']}: MAXDEPTH {each['maxdepth']}, QDEPTHHI {each['qdepthhi']}" in page.words


def test_every_figure_of_a_structure_has_its_stored_explanation(browser: Browser) -> None:
    browser.save_example()
    stored = browser.ask(
        "GET", "/api/v1/plans/SQ03?explain=true", headers={"accept": "application/json"}
    ).json()
    page = browser.get("/plans/SQ03/versions/1/structures/MYDATA")
    at = "/plans/SQ03/versions/1/structures/MYDATA/explanations"
    explained = browser.get(at)
    result = stored["result"]["structures"][2]
    formulas = {
        figure.removeprefix("/structures/2/"): each["formula"]
        for figure, each in stored["explanations"].items()
        if figure.startswith("/structures/2/")
    }
    shown = [member for member in formulas if member in LABELS and result.get(member) is not None]
    assert {"need_bytes", "initsize_kib", "size_kib", "entries", "messages_in_size"} <= set(shown)
    for member in shown:
        assert " ".join(formulas[member].split()) in explained.words
        assert f"why-{member}" in page.ids
        assert f"why-{member}" in explained.ids
        assert f"{at}#why-{member}" in page.links
    assert {link.partition("#")[2] for link in page.links if link.startswith(at)} <= set(explained.ids)
    assert "why-together-initsize_kib" in browser.get("/plans/SQ03").ids


def test_explanations_in_one_text_give_the_same_pages(browser: Browser, app: FastAPI) -> None:
    browser.save_example()
    paths = ("/plans/SQ03", "/plans/SQ03/versions/1/structures/MYDATA/explanations")
    pages = [browser.get(path).text for path in paths]
    with app.state.database.session(writes=True) as session:
        stored = session.scalars(select(PlanVersion.explanations)).one()
        # Earlier releases stored one compressed text.
        whole = PartedText(zlib.compress(stored.text.encode(), 1))
        session.execute(update(PlanVersion).values(explanations=whole))
    assert [browser.get(path).text for path in paths] == pages


def test_unknown_structure_has_no_explanations(browser: Browser) -> None:
    browser.save_example()
    assert browser.get("/plans/SQ03/versions/1/structures/OTHER/explanations").status == 404
    assert browser.get("/plans/SQ03/versions/9/structures/MYDATA/explanations").status == 404


def test_input_survives_the_deletion_of_the_plan_during_a_merge(
    browser: Browser,
) -> None:
    browser.save_example()
    first, second = edit(browser).fields, edit(browser).fields
    browser.post("/plans/SQ03/edit", {**first, "/cfcc_level": "24", "do": "save"})
    refused = browser.post("/plans/SQ03/edit", {**second, "/cfcc_level": "23", "do": "save"})
    browser.post("/plans/SQ03/delete", {})
    page = browser.post("/plans/SQ03/edit", {**refused.fields, "do": "merge"})
    assert page.status == 409
    assert (page.fields["/cfcc_level"], page.fields["name"]) == ("23", "SQ03")
    again = browser.post("/new-plan", {**page.fields, "do": "save"})
    assert again.path == "/plans/SQ03?saved=created"


@pytest.mark.parametrize("action", ["save", "check"])
def test_empty_name_is_reported_with_the_other_errors(browser: Browser, action: str) -> None:
    page = browser.get("/new-plan")
    answer = browser.post("/new-plan", {**page.fields, "/qsg": "SQ03", "do": action})
    assert {"#name", "#/queue_managers"} <= set(answer.links)


def test_missing_values_are_listed_next_to_the_form(browser: Browser) -> None:
    page = browser.get("/new-plan")
    answer = browser.post("/plan-preview", {**page.fields, "/qsg": "SQ03"})
    assert "#/queue_managers" in answer.links


def test_existing_coupling_facility_shows_three_fields_and_names_the_values_of_the_others(
    browser: Browser,
) -> None:
    browser.save_example(**{"/coupling_facilities/0/occupied": "1G", "/coupling_facilities/0/site": "SITE1"})
    row = read(browser.get("/plans/SQ03/edit").text).one("div", id="/coupling_facilities/0")
    more = row.one("details")
    assert "open" not in more.attributes
    assert (
        len(row.all("input")) + len(row.all("select")) - len(more.all("input")) - len(more.all("select")) == 3
    )
    assert "Used by others 1G" in more.one("summary").text
    assert "Site SITE1" in more.one("summary").text
