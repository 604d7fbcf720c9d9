"""Uploads, jobs and the map over REST."""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import URL, text

from app.database.engine import Database
from app.jobs import api as job_routes
from app.jobs import processes
from app.uploads import qsg_map
from tests import serving
from tests.app.uploads.support import (
    DAY,
    READS,
    app_for,
    files_on_their_way,
    post_file,
    run_keeper,
    settings_for,
    whole_files,
)
from tests.app.web.support import assert_problem, call, get, send_json
from tests.serving import ANSWER_S

pytestmark = pytest.mark.long


@pytest.fixture
def app(url: URL, tmp_path: Path, database: Database) -> FastAPI:
    assert database.revision()
    return app_for(url, tmp_path)


def read_all(app: FastAPI, url: URL, tmp_path: Path) -> None:
    """Run every queued job, as the service would."""
    database: Database = app.state.database
    with database.session(writes=False) as session:
        ids = list(session.scalars(text("SELECT id FROM job_runs WHERE state = 'queued' ORDER BY id")))
    for job_id in ids:
        run_keeper(database, settings_for(url, tmp_path), job_id)


def test_uploaded_file_is_stored_with_a_job(app: FastAPI) -> None:
    answer = post_file(app, READS)
    assert answer.status == 201
    assert answer.headers["location"] == "/api/v1/uploads/1"
    found = answer.json()
    assert found["sha256"] == hashlib.sha256(READS.encode()).hexdigest()
    assert (found["filename"], found["size_bytes"], found["stored"]) == ("night.smf", len(READS), "created")
    assert (found["job"]["state"], found["job"]["upload_id"]) == ("queued", 1)
    assert get(app, "/api/v1/uploads/1").json() == {
        key: value for key, value in found.items() if key != "stored"
    }
    assert [each["id"] for each in get(app, "/api/v1/uploads").json()["uploads"]] == [1]


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/x-www-form-urlencoded", "application/json", ""]
)
def test_body_of_any_media_type_is_stored_as_the_file(app: FastAPI, media_type: str) -> None:
    answer = post_file(app, b"a=b&c", content_type=media_type)
    assert answer.json()["sha256"] == hashlib.sha256(b"a=b&c").hexdigest()


def test_same_file_returns_the_existing_upload(app: FastAPI) -> None:
    first, second = post_file(app, READS), post_file(app, READS)
    assert (second.status, second.json()["stored"]) == (200, "identical")
    assert second.headers["location"] == first.headers["location"]


def test_empty_body_is_refused(app: FastAPI, tmp_path: Path) -> None:
    assert_problem(post_file(app, b""), "upload-invalid", 422)
    assert files_on_their_way(tmp_path / "data") == []


@pytest.mark.parametrize(
    ("query", "field"),
    [("kind=vsam", "kind"), ("observed_at=noon", "observed_at"), ("observed_at=2024-11-21T09:30", "zone"), ("zone=nowhere", "zone")],
)  # fmt: skip
def test_invalid_details_are_refused_before_the_file_arrives(
    app: FastAPI, query: str, field: str, tmp_path: Path
) -> None:
    answer = post_file(app, READS, f"/api/v1/uploads?{query}")
    assert answer.status == 422
    assert [each["field"] for each in answer.json()["errors"]] == [field]
    assert answer.chunks_read == 0
    assert whole_files(tmp_path / "data") == []


def test_report_is_available_after_reading(app: FastAPI, url: URL, tmp_path: Path) -> None:
    post_file(app, READS)
    assert_problem(get(app, "/api/v1/uploads/1/report"), "report-not-ready", 409)
    read_all(app, url, tmp_path)
    report = get(app, "/api/v1/uploads/1/report").json()["report"]
    assert report["files"][0]["records"]["116-1"] == 1200
    job = get(app, "/api/v1/jobs/1").json()
    assert (job["state"], job["sentence"]) == ("done", "342 rows were stored.")
    assert "reading night.smf" in get(app, "/api/v1/jobs/1/log").text


def test_questions_are_answered_and_the_file_is_read(app: FastAPI, url: URL, tmp_path: Path) -> None:
    post_file(app, f"ask\ndays {DAY}\n")
    read_all(app, url, tmp_path)
    asked = get(app, "/api/v1/uploads/1").json()["job"]
    assert asked["state"] == "asks"
    assert asked["asks"]["unknown_qsg"][1] == {
        "system_id": "SYSB",
        "queue_manager": "CSQ2",
        "suggested": "SQ03",
        "in_rmf": "SQ04",
    }
    answers = {"qsg": [{"system_id": "SYSA", "queue_manager": "CSQ1", "qsg": "SQ03"}]}
    again = send_json(app, "POST", "/api/v1/uploads/1/ingest", answers)
    assert (again.status, again.json()["job"]["state"]) == (202, "queued")
    assert_problem(send_json(app, "POST", "/api/v1/uploads/1/ingest", {}), "job-busy", 409)
    read_all(app, url, tmp_path)
    assert get(app, "/api/v1/uploads/1").json()["job"]["state"] == "done"
    assert get(app, "/api/v1/qsg-map").json()["entries"][0]["qsg"] == "SQ03"


def test_contradictory_answers_are_refused_and_not_stored(app: FastAPI, url: URL, tmp_path: Path) -> None:
    post_file(app, f"ask\ndays {DAY}\n")
    read_all(app, url, tmp_path)
    who = {"system_id": "SYSA", "queue_manager": "CSQ1"}
    answers = {"qsg": [{**who, "qsg": "SQ03"}, {**who, "qsg": "SQ04"}]}
    refused = send_json(app, "POST", "/api/v1/uploads/1/ingest", answers)
    assert refused.status == 422
    (problem,) = refused.json()["errors"]
    assert problem["field"] == "qsg"
    assert "CSQ1 on SYSA is assigned to SQ03 and to SQ04" in problem["message"]
    assert get(app, "/api/v1/qsg-map").json()["entries"] == []
    same = {"qsg": [{**who, "qsg": "SQ03"}, {**who, "qsg": "SQ03"}]}
    assert send_json(app, "POST", "/api/v1/uploads/1/ingest", same).status == 202


def test_detected_kind_can_be_overridden(app: FastAPI, url: URL, tmp_path: Path) -> None:
    post_file(app, READS)
    read_all(app, url, tmp_path)
    again = send_json(app, "POST", "/api/v1/uploads/1/ingest", {"kind": "cfstatus"}).json()
    assert again["kind"] == "cfstatus"
    assert send_json(app, "POST", "/api/v1/uploads/1/ingest", {"kind": "vsam"}).status == 422


def test_upload_is_deleted_with_its_file(app: FastAPI, tmp_path: Path) -> None:
    post_file(app, READS)
    assert call(app, "DELETE", "/api/v1/uploads/1").status == 200
    assert_problem(get(app, "/api/v1/uploads/1"), "upload-not-found", 404)
    assert_problem(get(app, "/api/v1/jobs/1"), "upload-not-found", 404)
    assert whole_files(tmp_path / "data") == []
    assert_problem(call(app, "DELETE", "/api/v1/uploads/1"), "upload-not-found", 404)


def test_map_entries_are_stored_changed_and_deleted_by_rest(app: FastAPI, url: URL) -> None:
    at = "/api/v1/qsg-map/SYSA/CSQ1"
    assert send_json(app, "PUT", at, {"qsg": "SQ03"}).json()["qsg"] == "SQ03"
    assert send_json(app, "PUT", at, {"qsg": ""}).json()["qsg"] == ""
    assert send_json(app, "PUT", at, {"qsg": "toolong"}).status == 422
    assert send_json(app, "PUT", "/api/v1/qsg-map/SYSA/toolong", {"qsg": "SQ03"}).status == 422
    with app.state.database.session(writes=False) as session:
        assert qsg_map.as_arguments(session) == ["SYSA:CSQ1="]
    assert call(app, "DELETE", at).json()["entries"] == []
    assert_problem(call(app, "DELETE", at), "upload-not-found", 404)
    assert url


def test_job_lists_missing_packages_when_the_reader_cannot_run(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "NEEDED", ("a_package_that_nobody_has",))
    job = post_file(app, READS).json()["job"]
    assert job["state"] == "queued"
    assert "make setup" in job["sentence"]


def test_full_disk_has_its_own_problem_type(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from app.uploads import files
    from app.uploads.errors import NoRoom

    def full(*_: object) -> None:
        raise NoRoom

    monkeypatch.setattr(files.Incoming, "write", full)
    assert_problem(post_file(app, READS), "insufficient-storage", 507)
    assert files_on_their_way(tmp_path / "data") == []


def test_file_larger_than_the_free_space_is_refused_before_it_arrives(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(100, 95, 5))
    answer = post_file(app, READS, content_length=str(len(READS)))
    assert_problem(answer, "insufficient-storage", 507)
    assert answer.chunks_read == 0
    assert post_file(app, b"12345", content_length="5").status == 201


def test_upload_from_a_page_of_another_site_is_refused(app: FastAPI, tmp_path: Path) -> None:
    assert_problem(post_file(app, READS, sec_fetch_site="cross-site"), "cross-origin", 403)
    assert whole_files(tmp_path / "data") == []


# ---- over the network ------------------------------------------------------------------------------------------------


@pytest.fixture
def served(url: URL, tmp_path: Path, database: Database, forked_keepers: None) -> Iterator[str]:
    """Run a service with its jobs."""
    assert database.revision()
    with serving.served(app_for(url, tmp_path)) as address:
        yield address


def events(text: str) -> list[tuple[str, dict[str, object]]]:
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def test_job_can_be_followed_to_its_end(served: str) -> None:
    content = f"say indexing 1 2\nwait 1.5\nsay decoding 5 10\nwait 1.5\ndays {DAY}\n"
    with httpx.Client(base_url=served, timeout=60) as client:
        upload = client.post("/api/v1/uploads?name=a.smf", content=content).json()
        response = client.get(
            f"/api/v1/jobs/{upload['job']['id']}/events", headers={"accept-encoding": "gzip"}
        )
        assert response.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in response.headers
        found = events(response.text)
        assert [kind for kind, _ in found[:-1]] == ["progress"] * (len(found) - 1)
        assert found[-1][0] == "end"
        assert found[-1][1]["state"] == "done"
        assert {"indexing", "decoding"} <= {job["stage"] for _, job in found}
        assert found[-1][1] == client.get(f"/api/v1/jobs/{upload['job']['id']}").json()


def test_event_stream_that_ends_before_its_job_can_be_requested_again(
    served: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_routes, "LONGEST_STREAM_S", 1.0)
    with httpx.Client(base_url=served, timeout=60) as client:
        job_id = client.post("/api/v1/uploads", content="wait 4\n").json()["job"]["id"]
        assert [kind for kind, _ in events(client.get(f"/api/v1/jobs/{job_id}/events").text)][
            -1
        ] == "progress"
        while events(client.get(f"/api/v1/jobs/{job_id}/events").text)[-1][0] != "end":
            pass


def test_missing_job_cannot_be_followed(app: FastAPI) -> None:
    assert_problem(get(app, "/api/v1/jobs/9/events"), "upload-not-found", 404)


def test_upload_with_a_lost_connection_leaves_nothing(served: str, tmp_path: Path) -> None:
    from tests.app.uploads.support import wait_until

    host, port = served.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        head = f"POST /api/v1/uploads HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 10000000\r\n\r\n"
        connection.sendall(head.encode() + b"x" * 3_000_000)
        wait_until(lambda: len(files_on_their_way(tmp_path / "data")) == 1)
    wait_until(lambda: files_on_their_way(tmp_path / "data") == [])
    assert whole_files(tmp_path / "data") == []
    assert httpx.get(f"{served}/api/v1/uploads", timeout=ANSWER_S).json()["total"] == 0
