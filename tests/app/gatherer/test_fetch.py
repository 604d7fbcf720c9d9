"""`cfplan gatherer fetch`: records of a stand-in for the Data Gatherer become an upload."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.audit.models import AuditEntry
from app.cli import main
from app.connections.errors import ConnectionFailed, ConnectionUnknown
from app.database.engine import Database, database_of
from app.errors import FieldsInvalid
from app.gatherer import service
from app.settings import Settings
from app.uploads import service as uploads
from app.uploads.models import Upload
from planner_core.contracts.gatherer import FIELDS
from spark_jobs.readers.gatherer import HEADER_FIELDS, PACKERS, PRODUCT_FIELDS, SECTIONS, fields_of
from spark_jobs.smf.layouts import layout
from tests.connections_support.gatherer import GathererStandIn
from tests.connections_support.server import Fault, entry_of, write_file
from tests.spark_jobs.smf.as_json import json_bytes, json_record
from tests.spark_jobs.smf.made import RowMaker, header

PATH = "/zosmf/zosdg/smf/v1/smf/type/74/subtype/4"
DATA_SET = "SYS1.SMF.DAILY"


@cache
def records() -> bytes:
    """Return three records as the Data Gatherer sends them."""
    return json_bytes([json_record(header(number), RowMaker(number).facility(2)) for number in range(3)])


class Site:
    """A server with its declaration, and the uploads of a cfplan."""

    def __init__(self, folder: Path, server: GathererStandIn) -> None:
        self.folder, self.server = folder, server
        self.settings = Settings(data_dir=folder / "data")
        self.database: Database

    def declare(self, **more: object) -> None:
        """Write the file of connections with SMF1."""
        entry = entry_of(self.server, self.folder, "gatherer", **({"attempts": 1} | more))
        file = write_file(self.folder, {"SMF1": entry})
        self.settings = Settings(data_dir=self.folder / "data", connections_file=str(file))
        self.database = database_of(self.settings)
        self.database.upgrade()

    def fetch(self, data_set: str = DATA_SET) -> service.Fetched:
        return service.fetch(self.database, self.settings, "SMF1", data_set)

    def uploads(self) -> list[Upload]:
        with self.database.session(writes=False) as session:
            return list(session.scalars(select(Upload)))

    def entries(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the entries of the audit trail."""
        with self.database.session(writes=False) as session:
            return [(row.action, json.loads(row.details)) for row in session.scalars(select(AuditEntry))]

    def files(self) -> list[Path]:
        return [path for path in (self.settings.data_dir / "uploads").rglob("*") if path.is_file()]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    server = GathererStandIn(SYS1_SMF_DAILY=records())
    with server.running(tmp_path):
        found = Site(tmp_path, server)
        found.declare()
        yield found


def test_records_become_an_upload_that_is_read_like_any_other(site: Site) -> None:
    found = site.fetch()
    assert (found.is_new, found.size_bytes) == (True, len(records()))
    (upload,) = site.uploads()
    assert (upload.id, upload.filename, upload.kind) == (
        found.upload_id,
        "SMF1-SYS1.SMF.DAILY.json",
        "gatherer_json",
    )
    with site.database.session(writes=False) as session:
        stored = uploads.get(session, found.upload_id)
    assert stored.job is not None, "a job reads it"
    assert [path.read_bytes() for path in site.files()] == [records()]
    assert [(each.line, each.query) for each in site.server.requests] == [
        (f"GET {PATH}", {"datasetName": [DATA_SET]})
    ]
    assert "x-csrf-zosmf-header" in site.server.requests[0].headers


def test_same_records_are_not_stored_twice(site: Site) -> None:
    first = site.fetch()
    second = site.fetch()
    assert (second.upload_id, second.is_new) == (first.upload_id, False)
    assert len(site.uploads()) == 1


def test_call_is_in_the_audit_trail_with_its_upload(site: Site) -> None:
    found = site.fetch()
    called = [details for action, details in site.entries() if action == "connection.called"]
    assert called == [
        {"method": "GET", "path": PATH, "data_set": DATA_SET, "status": 200, "upload": found.upload_id}
    ]


BAD_ANSWERS: list[tuple[bytes, str]] = [
    (b"<html>sign in</html>", "has no records of SMF type 74"),
    (b'{"status": "ok"}', "has no records of SMF type 74"),
    (b"{}", "has no records of SMF type 74"),
    (b"", "has no records of SMF type 74"),
    (b"\x00\x01" * 50, "has no records of SMF type 74"),
]


@pytest.mark.parametrize(("content", "said"), BAD_ANSWERS)
def test_other_answers_are_refused_and_nothing_is_stored(site: Site, content: bytes, said: str) -> None:
    site.server.documents[DATA_SET] = content
    with pytest.raises(ConnectionFailed, match=said):
        site.fetch()
    assert (site.uploads(), site.files()) == ([], [])
    ((action, details),) = site.entries()
    assert (action, details["status"], said in details["fault"]) == ("connection.called", 200, True)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault(status=500), "status 500"),
        (Fault(status=403), "Check the authority of the user"),
        (Fault(cut_after=100), "cut off"),
        (Fault(status=302, headers={"location": "https://elsewhere.example.com/"}), "redirect"),
    ],
)
def test_failed_requests_store_nothing(site: Site, fault: Fault, said: str) -> None:
    site.server.faults.append(fault)
    with pytest.raises(ConnectionFailed, match=said):
        site.fetch()
    assert (site.uploads(), site.files()) == ([], [])
    ((action, details),) = site.entries()
    assert (action, details["data_set"]) == ("connection.called", DATA_SET)


def test_busy_service_is_asked_again(site: Site) -> None:
    site.declare(attempts=2)
    site.server.faults.append(Fault(status=429))
    assert site.fetch().is_new


def test_unknown_data_set_is_reported(site: Site) -> None:
    with pytest.raises(ConnectionFailed, match=r"Dataset 'SYS1\.OTHER' not found"):
        site.fetch("SYS1.OTHER")


@pytest.mark.parametrize(
    "name", ["", "sys1.smf", "SYS1..SMF", "1ABC", "A" * 9, "A.B/../C", ".".join(["A" * 8] * 6), "A&b=c"]
)
def test_other_texts_than_names_of_data_sets_are_not_sent(site: Site, name: str) -> None:
    with pytest.raises(FieldsInvalid, match="is not the name of a data set"):
        site.fetch(name)
    assert site.server.requests == []


def test_answer_larger_than_the_limit_of_the_connection_is_refused(site: Site) -> None:
    site.declare(max_answer_bytes=1024)
    with pytest.raises(ConnectionFailed, match="raise max_answer_bytes"):
        site.fetch()
    assert (site.uploads(), site.files()) == ([], [])


def test_answer_larger_than_an_upload_leaves_nothing(site: Site) -> None:
    site.settings = site.settings.model_copy(update={"max_upload_bytes": 1000})
    with pytest.raises(Exception, match="1000"):
        site.fetch()
    assert (site.uploads(), site.files()) == ([], [])


def test_interruption_before_the_commit_leaves_neither_upload_nor_entry(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(service, "record_use", killed)
        with pytest.raises(KeyboardInterrupt):
            site.fetch()
    assert (site.uploads(), site.entries()) == ([], [])
    assert site.fetch().is_new


def test_connection_of_another_kind_is_refused(tmp_path: Path, site: Site) -> None:
    file = write_file(tmp_path, {"PLEX1": entry_of(site.server, tmp_path, "zosmf")})
    site.settings = Settings(data_dir=tmp_path / "data", connections_file=str(file))
    with pytest.raises(ConnectionUnknown, match="needs one of the kind gatherer"):
        service.fetch(site.database, site.settings, "PLEX1", DATA_SET)


# ---- commands --------------------------------------------------------------------------------------------------------

Run = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def run(site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*words: str) -> tuple[int, list[str]]:
        monkeypatch.setenv("CFPLAN_DATA_DIR", str(site.settings.data_dir))
        monkeypatch.setenv("CFPLAN_CONNECTIONS_FILE", str(site.settings.connections_file))
        code = main([*words])
        said = capsys.readouterr()
        return code, (said.out + said.err).splitlines()

    return command


FETCH = ("gatherer", "fetch", "--connection", "SMF1", "--data-set")


def test_command_says_that_the_connection_is_not_verified(run: Run, site: Site) -> None:
    assert run(*FETCH, DATA_SET) == (
        0,
        [
            f"Upload 1 created with {len(records()):,} bytes; the service reads it into the usage history.",
            # Last, because `run` returns the lines of standard error after those of standard output.
            "Connection SMF1: not yet verified against a real system. Check every value before you rely on it.",
        ],
    )
    site.declare(verified_against_a_real_system=True)
    assert run(*FETCH, DATA_SET) == (
        0,
        [f"The answer has the same {len(records()):,} bytes as upload 1; nothing new was stored."],
    )


def test_command_reports_failures_by_its_exit_code(run: Run, site: Site) -> None:
    site.server.faults.append(Fault(status=503))
    code, said = run(*FETCH, DATA_SET)
    assert (code, "status 503" in said[0]) == (1, True)
    code, said = run(*FETCH, "not a name")
    assert (code, "is not the name of a data set" in " ".join(said)) == (2, True)
    code, said = run("gatherer", "fetch", "--connection", "OTHER", "--data-set", DATA_SET)
    assert (code, "There is no connection 'OTHER'" in " ".join(said)) == (2, True)


def test_check_reports_how_the_service_describes_each_field(run: Run, site: Site) -> None:
    properties = site.server.description["components"]["schemas"]["ANY"]["properties"]
    del properties["R744SCUE"]
    code, said = run("connections", "check", "SMF1")
    report = "\n".join(said)
    assert code == 0
    assert [each.line for each in site.server.requests] == ["GET /zosmf/zosdg/smf/v3/api-docs"]
    assert "documented, but missing: R744SCUE\n" in report
    assert "ANY.R744STYP string HEX_STR 1" in report
    assert "ANY.SMF74GIE string date-time" in report
    assert "ANY.SMF74LGO integer" in report


@pytest.mark.parametrize(
    "answer", [[], {"components": []}, {"components": {"schemas": {"A": 1, "B": {"properties": []}}}}]
)
def test_check_accepts_any_description(run: Run, site: Site, answer: Any) -> None:  # noqa: ANN401
    site.server.description = answer
    code, said = run("connections", "check", "SMF1")
    assert code == 0
    assert f"documented, but missing: {', '.join(FIELDS)}" in "\n".join(said)


def test_ingest_command_reads_a_document(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "cf.txt"  # recognized by its content
    path.write_bytes(records())
    code, said = run("ingest", str(path))
    assert (code, '"kind": "gatherer_json"' in "\n".join(said)) == (0, True)
    path.write_bytes(records()[:-30])
    code, said = run("ingest", str(path))
    assert (code, "The answer is truncated in record 2" in "\n".join(said)) == (3, True)


# ---- one declaration -------------------------------------------------------------------------------------------------


def test_fields_of_the_contract_are_those_that_the_reader_needs() -> None:
    read = {
        name: PACKERS[place.type][0]
        for section in SECTIONS
        for name, place in fields_of(layout(section)).items()
    }
    others = {*HEADER_FIELDS, *PRODUCT_FIELDS}
    assert {name: of for name, of in FIELDS.items() if name not in others} == read
    assert others <= set(FIELDS)


def test_stand_in_describes_a_document_as_json() -> None:
    assert json.loads(records()).keys() == {"0", "1", "2"}
