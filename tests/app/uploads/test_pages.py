"""The pages of uploads without scripts."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI
from sqlalchemy import text

from app.database.engine import Database, database_url
from app.jobs import processes
from app.main import create_app
from app.settings import Settings
from tests.app.uploads.support import DAY, READS, form_body, post_form, run_keeper, settings_for, whole_files
from tests.app.web.pages.html import Element, read
from tests.app.web.support import Answer, call, get


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    return create_app(Settings(data_dir=tmp_path / "data"))


def work(app: FastAPI, tmp_path: Path) -> None:
    """Run every queued job, as the service would."""
    database: Database = app.state.database
    with database.session(writes=False) as session:
        ids = list(session.scalars(text("SELECT id FROM job_runs WHERE state = 'queued' ORDER BY id")))
    for job_id in ids:
        run_keeper(database, settings_for(database_url("", data_dir=tmp_path / "data"), tmp_path), job_id)


def html(app: FastAPI, address: str, status: int = 200) -> Element:
    answer = get(app, address, accept="text/html")
    assert answer.status == status, answer.text
    return read(answer.text)


def send(app: FastAPI, address: str, **fields: str) -> Answer:
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "text/html"}
    return call(app, "POST", address, headers=headers, chunks=[urlencode(fields).encode()])


def upload(
    app: FastAPI, content: str = READS, *more: tuple[str, str | None, bytes], name: str = "night.smf"
) -> Answer:
    return post_form(app, "/uploads", form_body(("file", name, content.encode()), ("text", None, b""), *more))


def words(element: Element) -> str:
    return " ".join(element.one("main").text.split())


def test_empty_installation_explains_uploads(app: FastAPI) -> None:
    page = html(app, "/uploads")
    assert "usage history" in words(page)
    assert {"/new-upload", "/qsg-map", "/docs/how-to/uploading"} <= {
        link["href"] for link in page.one("main").all("a")
    }


def test_file_is_uploaded_by_the_form_and_leads_to_its_page(app: FastAPI, tmp_path: Path) -> None:
    answer = upload(app)
    assert (answer.status, answer.headers["location"]) == (303, "/uploads/1?said=created")
    page = html(app, answer.headers["location"])
    assert "Upload complete." in words(page)
    bars = page.all("progress")
    assert [bar["id"] for bar in bars] == ["bar-transfer", "bar-reading"]
    assert bars[0]["value"] == "1000"
    assert "value" not in bars[1].attributes
    assert page.one("section", id="bars")["data-events"] == "/api/v1/jobs/1/events"
    work(app, tmp_path)
    page = html(app, "/uploads/1")
    assert page.all("progress")[1]["value"] == "1000"
    assert "data-events" not in page.one("section", id="bars").attributes
    shown = words(page)
    for word in (
        "342 rows were stored.",
        "SQ03APPLICATION1",
        "CSQ1",
        "115-216",
        "byte 1048576",
        "a middle segment",
        "private queues",
        DAY,
    ):
        assert word in shown, word


def test_repeated_file_leads_to_its_existing_page(app: FastAPI) -> None:
    upload(app)
    again = upload(app, name="other.smf")
    assert again.headers["location"] == "/uploads/1?said=identical"
    assert "not stored again" in words(html(app, again.headers["location"]))


def test_several_files_lead_to_the_list(app: FastAPI) -> None:
    body = form_body(("file", "a.smf", b"a"), ("file", "b.smf", b"b"), ("text", None, b"pasted"))
    address = post_form(app, "/uploads", body).headers["location"]
    assert re.fullmatch(r"/uploads\?batch=[0-9a-f]{16}&said=created", address)
    shown = words(html(app, address))
    assert "0 of 3 read" in shown
    for name in ("a.smf", "b.smf", "pasted text"):
        assert name in shown


def test_pasted_text_creates_an_upload(app: FastAPI) -> None:
    body = form_body(
        ("file", "", b""),
        ("text", None, b"CSQM201I +CSQ1 CSQMDRTC DIS CFSTATUS DETAILS\r\n"),
        ("kind", None, b"cfstatus"),
    )
    assert post_form(app, "/uploads", body).status == 303
    assert "DISPLAY CFSTATUS, as specified" in words(html(app, "/uploads/1"))


def test_empty_form_is_reported(app: FastAPI) -> None:
    answer = post_form(app, "/uploads", form_body(("file", "", b""), ("text", None, b"")))
    assert answer.status == 422
    assert "Choose a file or paste text." in words(read(answer.text))


def test_errors_are_next_to_fields_and_typed_values_stay(app: FastAPI, tmp_path: Path) -> None:
    answer = upload(
        app, READS, ("observed_at", None, b"noon"), ("zone", None, b"nowhere"), ("kind", None, b"messages")
    )
    assert answer.status == 422
    page = read(answer.text)
    for name, typed in (("observed_at", "noon"), ("zone", "nowhere")):
        box = page.one("input", id=name)
        assert box["value"] == typed
        assert box["aria-invalid"] == "true"
        assert page.one("p", id=f"{name}-error").text
    assert [each["value"] for each in page.all("option") if "selected" in each.attributes] == ["messages"]
    assert html(app, "/uploads")
    with app.state.database.session(writes=False) as session:
        assert session.execute(text("SELECT count(*) FROM uploads")).scalar() == 0
    assert tmp_path


def test_missing_groups_are_requested_and_answers_stored(app: FastAPI, tmp_path: Path) -> None:
    upload(app, f"ask\ndays {DAY}\n")
    work(app, tmp_path)
    page = html(app, "/uploads/1")
    assert "before MQ 10" in words(page)
    assert "Probably SQ03: other records of this file, or answers for other files, name it." in words(page)
    # RMF shows another group, so none is filled in.
    assert page.one("input", id="qsg/SYSB/CSQ2")["value"] == ""
    assert page.one("input", id="qsg/SYSA/CSQ1")["value"] == "SQ03"
    assert "The RMF records of this file show one group, SQ03" in words(page)
    wrong = send(app, "/uploads/1/ingest", **{"qsg/SYSA/CSQ1": "TOOLONG", "qsg/SYSB/CSQ2": "SQ03"})
    assert wrong.status == 422
    again = read(wrong.text)
    assert again.one("input", id="qsg/SYSA/CSQ1")["aria-invalid"] == "true"
    assert again.one("input", id="qsg/SYSB/CSQ2")["value"] == "SQ03"
    right = send(
        app, "/uploads/1/ingest", **{"qsg/SYSA/CSQ1": "sq03", "none/SYSB/CSQ2": "yes", "qsg/SYSB/CSQ2": ""}
    )
    assert (right.status, right.headers["location"]) == (303, "/uploads/1?said=again")
    work(app, tmp_path)
    assert "342 rows were stored." in words(html(app, "/uploads/1"))
    entries = words(html(app, "/qsg-map"))
    assert "CSQ1 SYSA SQ03" in entries
    assert "CSQ2 SYSB none" in entries


def test_one_answer_reads_all_files_that_ask_for_the_same_groups(app: FastAPI, tmp_path: Path) -> None:
    for number in range(4):
        upload(app, f"{'observe' if number == 3 else 'ask'}\ndays {DAY}\n# {number}\n")
    for _ in range(4):
        work(app, tmp_path)
    both = {"qsg/SYSA/CSQ1": "SQ03", "qsg/SYSB/CSQ2": "SQ03"}
    assert send(app, "/uploads/2/ingest", **both).headers["location"] == "/uploads/2?said=answered"
    assert "all other files whose questions are now answered" in words(html(app, "/uploads/2?said=answered"))
    assert "All 4 Needs your input 1 Failed 0 Waiting 3" in words(html(app, "/uploads"))
    for _ in range(3):
        work(app, tmp_path)
    assert "Needs your input 1 Failed 0 Waiting 0 Stored 3" in words(html(app, "/uploads"))


def test_files_are_read_when_the_map_answers_all_their_questions(app: FastAPI, tmp_path: Path) -> None:
    upload(app, f"ask\ndays {DAY}\n")
    work(app, tmp_path)
    first = send(app, "/qsg-map", system_id="SYSA", queue_manager="CSQ1", qsg="SQ03")
    assert first.headers["location"] == "/qsg-map?said=put"
    last = send(app, "/qsg-map", system_id="SYSB", queue_manager="CSQ2", qsg="", none="yes")
    assert last.headers["location"] == "/qsg-map?said=put-answered"
    assert "Files whose questions are now answered will be read." in words(
        html(app, "/qsg-map?said=put-answered")
    )
    work(app, tmp_path)
    assert "342 rows were stored." in words(html(app, "/uploads/1"))


def test_missing_time_of_a_display_is_requested_and_never_guessed(app: FastAPI, tmp_path: Path) -> None:
    upload(app, f"observe\ndays {DAY}\n", name="cfstatus.txt")
    work(app, tmp_path)
    page = html(app, "/uploads/1")
    assert "When was this display taken" in words(page)
    assert page.one("input", id="observed_at")["value"] == page.one("input", id="zone")["value"] == ""
    no_zone = send(app, "/uploads/1/ingest", observed_at="2024-11-21T09:30", zone="")
    assert no_zone.status == 422
    assert read(no_zone.text).one("input", id="zone")["aria-invalid"] == "true"
    assert send(app, "/uploads/1/ingest", observed_at="2024-11-21 09:30", zone="Europe/Berlin").status == 303
    work(app, tmp_path)
    shown = words(html(app, "/uploads/1"))
    assert "342 rows were stored." in shown
    assert "2024-11-21T09:30:00" in shown


def test_failed_upload_shows_the_reason_and_can_be_read_as_another_kind(app: FastAPI, tmp_path: Path) -> None:
    upload(app, "fail 3\n")
    work(app, tmp_path)
    page = html(app, "/uploads/1")
    assert "transfer it in binary" in page.one("p", id="bars-sentence").text
    # A bar without a value is striped, as if the file were still being read.
    assert page.one("progress", id="bar-reading")["value"] == "0"
    assert "transfer it in binary. Details: night.smf Try again: night.smf" in words(html(app, "/uploads"))
    assert send(app, "/uploads/1/ingest", kind="cfstatus", observed_at="", zone="").status == 303
    assert "as specified" in words(html(app, "/uploads/1"))


def test_upload_is_deleted_from_its_page(app: FastAPI, tmp_path: Path) -> None:
    upload(app)
    assert send(app, "/uploads/1/delete").headers["location"] == "/uploads?said=deleted"
    assert "Upload deleted" in words(html(app, "/uploads?said=deleted"))
    assert whole_files(tmp_path / "data") == []
    html(app, "/uploads/1", status=404)


def test_qsg_map_is_edited_on_its_page(app: FastAPI) -> None:
    assert send(app, "/qsg-map", system_id="sysa", queue_manager="csq1", qsg="sq03").status == 303
    assert "CSQ1 SYSA SQ03" in words(html(app, "/qsg-map"))
    wrong = send(app, "/qsg-map", system_id="SYSA", queue_manager="CSQ1", qsg="")
    assert wrong.status == 422
    assert "select that the queue manager is in none" in words(read(wrong.text))
    assert send(app, "/qsg-map", system_id="SYSA", queue_manager="CSQ1", qsg="", none="yes").status == 303
    assert "CSQ1 SYSA none" in words(html(app, "/qsg-map"))
    assert send(app, "/qsg-map/remove", system_id="SYSA", queue_manager="CSQ1").status == 303
    assert "No entries yet" in words(html(app, "/qsg-map"))


def test_answer_that_names_a_group_and_no_group_is_refused_at_its_field(app: FastAPI, tmp_path: Path) -> None:
    upload(app, f"ask\ndays {DAY}\n")
    work(app, tmp_path)
    wrong = send(app, "/uploads/1/ingest", **{"qsg/SYSA/CSQ1": "SQ03", "none/SYSA/CSQ1": "yes"})
    assert wrong.status == 422
    page = read(wrong.text)
    assert page.one("input", id="qsg/SYSA/CSQ1")["aria-invalid"] == "true"
    assert "CSQ1 on SYSA is assigned to SQ03 and to no group." in words(page)
    two = send(app, "/uploads/1/ingest", **{"qsg/SYSA/CSQ1": "SQ03", "qsg/sysa/csq1": "SQ04"})
    assert two.status == 422
    assert "is assigned to SQ03 and to SQ04" in words(read(two.text))
    both = send(app, "/qsg-map", system_id="SYSA", queue_manager="CSQ1", qsg="SQ03", none="yes")
    assert (both.status, "not both" in words(read(both.text))) == (422, True)
    assert "No entries yet" in words(html(app, "/qsg-map"))


def test_pages_explain_how_to_install_missing_job_packages(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "NEEDED", ("a_package_that_nobody_has",))
    for address in ("/uploads", "/new-upload"):
        assert "make setup" in words(html(app, address))
    upload(app)
    shown = words(html(app, "/uploads/1"))
    assert "make setup" in shown
    assert "read as soon as the packages are installed" in shown


def test_long_list_of_uploads_is_paged(app: FastAPI) -> None:
    for number in range(51):
        upload(app, f"# {number}\n", name=f"{number}.smf")
    first, second = html(app, "/uploads"), html(app, "/uploads?page=2")
    assert len(first.one("tbody").all("tr")) == 50
    assert [row.one("th").text for row in second.one("tbody").all("tr")] == ["0.smf"]


def test_file_names_are_escaped(app: FastAPI) -> None:
    upload(app, name="<b>bold</b>.smf")
    page = html(app, "/uploads/1")
    assert page.one("h1").text == "b>.smf"
    assert page.one("main").all("b") == []
