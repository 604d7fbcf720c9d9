"""The collection kit and missing data: the page, REST and the command."""

from __future__ import annotations

import io
import json
import stat
import zipfile
from dataclasses import asdict
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy import text

from app.cli import main
from app.clock import utc_now
from app.collecting import service
from app.jobs.models import JobRun, JobState
from app.main import create_app
from app.settings import Settings
from app.uploads import qsg_map
from app.uploads.job_kind import INGEST
from app.uploads.models import Upload
from planner_core.contracts.ingest import FileReport, QueueManagerGroup, RowSource
from tests.app.usage.support import output, queue_hour, store, structure_hour
from tests.app.web.pages.html import read
from tests.app.web.support import get

KIT = "/api/v1/collection-kit"
DAYS = ("2026-11-16", "2026-11-17")
NAMED = "systems=SYSA&systems=SYSB&queue_managers=CSQ1"
LACKING = FileReport(
    file="night.smf",
    kind="smf",
    status="stored",
    records={"115-2": 1, "116-0": 2},
    queue_managers=(QueueManagerGroup("SYSA", "CSQ1", "SQ03"),),
    sources=(
        RowSource("115-2 QEST", "SYSA", "CSQ1", 1, 1800),
        RowSource("115-2 QESD", "SYSA", "CSQ1", 1, 1800),
    ),
)


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    return create_app(Settings(data_dir=tmp_path / "data"))


def uploaded(app: FastAPI, report: FileReport) -> int:
    """Store an upload that was read with this report; return its number."""
    with app.state.database.session(writes=True) as session:
        upload = Upload(
            filename="night.smf", size_bytes=1, sha256="0" * 64, kind="", detected_kind="smf", observed_at="", zone="",
            observed_utc="", created_at=utc_now(), removed_at=utc_now(), author=None,
        )  # fmt: skip
        session.add(upload)
        session.flush()
        session.add(
            JobRun(
                kind=INGEST, upload_id=upload.id, state=JobState.DONE, stage="", done=0, total=0, sentence="", attempts=1,
                owner="", created_at=utc_now(), ended_at=utc_now(), log="",
                report=json.dumps({"status": "stored", "files": [asdict(report)]}),
            )
        )  # fmt: skip
        qsg_map.put(session, "SYSB", "CSQ2", "SQ03")
        return upload.id


def test_page_of_an_upload_lists_the_records_that_it_lacks(app: FastAPI) -> None:
    number = uploaded(app, LACKING)
    page = read(get(app, f"/uploads/{number}", accept="text/html").text).one("main")
    words = " ".join(page.text.split())
    for code in ("DATA_LACKS_RMF", "DATA_LACKS_QUEUES", "DATA_LACKS_QUEUE_MANAGER"):
        assert code in words
    assert "CSQ2 (SYSB)" in words
    assert "/collection-kit" in [each.get("href") for each in page.all("a")]


def test_report_over_rest_has_findings_on_missing_records(app: FastAPI) -> None:
    found = get(app, f"/api/v1/uploads/{uploaded(app, LACKING)}/report").json()["findings"]
    assert [each["code"] for each in found] == [
        "DATA_LACKS_RMF",
        "DATA_LACKS_QUEUES",
        "DATA_LACKS_QUEUE_MANAGER",
    ]


def test_kit_without_names_has_those_known_from_uploads(app: FastAPI) -> None:
    assert get(app, KIT).json()["systems"] == []
    uploaded(app, LACKING)
    found = get(app, KIT).json()
    assert (found["systems"], found["queue_managers"]) == (["SYSA", "SYSB"], ["CSQ1", "CSQ2"])
    page = read(get(app, "/collection-kit", accept="text/html").text)
    typed = {each.get("name"): each.get("value") for each in page.all("input")}
    assert (typed["systems"], typed["queue_managers"], typed["interval"]) == ("SYSA SYSB", "CSQ1 CSQ2", "15")


def test_names_that_no_kit_can_have_are_not_offered(app: FastAPI) -> None:
    sources = (RowSource("115-2 QEST", "SYS'A", "toolong"), RowSource("115-2 QEST", "SYSC", "CSQ3"))
    uploaded(app, FileReport(kind="smf", status="stored", sources=sources))
    with app.state.database.session(writes=False) as session:
        assert service.known_names(session) == (("SYSB", "SYSC"), ("CSQ2", "CSQ3"))


def test_archive_of_rest_and_of_the_page_are_equal(app: FastAPI) -> None:
    of_rest = get(app, f"{KIT}/archive?{NAMED}")
    of_page = get(app, "/collection-kit?systems=SYSA+SYSB&queue_managers=CSQ1&as=all")
    assert of_rest.status == of_page.status == 200
    assert of_rest.headers["content-type"] == "application/zip"
    assert of_rest.content == of_page.content
    with zipfile.ZipFile(io.BytesIO(of_rest.content)) as archive:
        packed = {name: archive.read(name).decode() for name in archive.namelist()}
    kit = get(app, f"{KIT}?{NAMED}").json()
    assert packed == {f"collection-kit/{each['name']}": each["text"] for each in kit["texts"]}


def test_page_sends_a_single_text(app: FastAPI) -> None:
    answer = get(app, "/collection-kit?systems=SYSA&queue_managers=M%232&as=DISPLAY-M%232.jcl")
    assert "PARM='M#2'" in answer.text
    assert answer.headers["content-disposition"] == 'attachment; filename="DISPLAY-M_2.jcl"'


@pytest.mark.parametrize("query", ["systems=SYS'A", "queue_managers=1M", "interval=7", "systms=A"])
def test_invalid_names_are_refused_with_the_field(app: FastAPI, query: str) -> None:
    for address in (KIT, f"{KIT}/archive"):
        answer = get(app, f"{address}?{query}")
        assert answer.status == 422
        assert answer.json()["errors"][0]["field"] == query.partition("=")[0]


def test_page_shows_an_error_next_to_its_field(app: FastAPI) -> None:
    answer = get(app, "/collection-kit?systems=SYS'A&queue_managers=&interval=15", accept="text/html")
    assert answer.status == 422
    page = read(answer.text)
    (box,) = (each for each in page.all("input") if each.get("aria-invalid"))
    assert (box["name"], box["value"]) == ("systems", "SYS'A")
    assert "INTVAL" not in answer.text


def test_thirty_two_names_are_read_completely(app: FastAPI) -> None:
    names = [f"SY{number:02}" for number in range(32)]
    answer = get(app, f"/collection-kit?systems={'+'.join(names)}&queue_managers=M1", accept="text/html")
    assert "SMFDP-SY31.jcl" in answer.text


def test_missing_data_of_the_history_is_listed(app: FastAPI) -> None:
    assert get(app, "/api/v1/missing-data").json() == {
        "structures": 0,
        "findings": get(app, "/api/v1/missing-data").json()["findings"],
    }
    admin = structure_hour(0, structure="CSQ_ADMIN", entries_total=5, elements_total=5)
    lines = (structure_hour(0), structure_hour(24), admin)
    store(app, output(*lines, days=DAYS))
    found = get(app, "/api/v1/missing-data").json()
    assert found["structures"] == 2
    assert [each["code"] for each in found["findings"]] == [
        "DATA_LACKS_RMF",
        "DATA_LACKS_QUEUES",
        "DATA_TOO_SHORT",
    ]
    assert "APPLICATION1" in found["findings"][0]["message"]
    assert "CSQ_ADMIN" not in found["findings"][1]["message"]
    store(app, output(*lines, queue_hour(0), days=DAYS))
    codes = [each["code"] for each in get(app, "/api/v1/missing-data").json()["findings"]]
    assert codes == ["DATA_LACKS_RMF", "DATA_TOO_SHORT"]


def test_command_writes_a_new_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "kit"
    options = ["collect-kit", "--systems", "a,B", "--queue-managers", "M1,M2", "--folder", str(folder)]
    assert main(options) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [str(folder / name) for name in (
        "README.txt", "SMFPRMxx.txt", "ERBRMFxx.txt", "CSQ6SYSP.txt", "START-TRACE.txt", "SMFDP-A.jcl", "SMFDL-A.jcl",
        "SMFDP-B.jcl", "SMFDL-B.jcl", "DISPLAY-M1.jcl", "DISPLAY-M2.jcl", "CONSOLE.txt", "TRANSFER.txt",
    )]  # fmt: skip
    assert "COLLECTION_KIT_TO_VERIFY" in printed.err
    assert sorted(map(str, folder.iterdir())) == sorted(printed.out.split())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    assert main(options) == 2
    assert "exists already" in capsys.readouterr().err


def test_command_refuses_a_folder_that_cannot_be_made_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "no" / "kit")
    assert main(["collect-kit", "--systems", "A", "--queue-managers", "M1", "--folder", target]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_command_without_names_has_those_of_the_database(
    app: FastAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    uploaded(app, LACKING)
    with app.state.database.session(writes=False) as session:
        assert session.scalars(text("SELECT count(*) FROM job_runs")).one() == 1
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "data"))
    assert main(["collect-kit", "--json", "--systems", "SYSX"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["systems"], found["queue_managers"]) == (["SYSX"], ["CSQ1", "CSQ2"])


def test_command_without_names_creates_no_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path / "data"))
    assert main(["collect-kit", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["systems"] == []
    assert not (tmp_path / "data" / "cfplan.db").exists()
