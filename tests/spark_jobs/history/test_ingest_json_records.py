"""Ingest of 74-4 records in the JSON of the z/OS Data Gatherer."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from spark_jobs import ingest
from spark_jobs.history.store import History
from spark_jobs.smf.encode import dump
from tests.spark_jobs.history import dumps
from tests.spark_jobs.history.support import contents
from tests.spark_jobs.smf.as_json import json_bytes, json_record

Run: TypeAlias = Callable[..., dict[str, Any]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that ingests a file and returns its report."""

    def one(history: Path, path: Path, *arguments: str) -> dict[str, Any]:
        ingest.main(["--history", str(history), str(path), *arguments])
        report: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
        (only,) = report["files"]
        found: dict[str, Any] = only
        return found

    return one


def records(numbers: Sequence[int], *, wrong: int | None = None) -> list[dict[str, Any]]:
    """Return the records of some intervals; one of them with an impossible size."""
    found = []
    for number in numbers:
        rows = dumps.rmf_rows(number)
        if number == wrong:
            rows["r744_structure"][0]["size_bytes"] = 2**31
        found.append(json_record(dumps.header("SYSA", "", number), rows))
    return found


def answer(path: Path, numbers: Sequence[int], **more: Any) -> Path:  # noqa: ANN401 - of records
    """Write a document."""
    path.write_bytes(json_bytes(records(numbers, **more)))
    return path


def test_both_forms_give_the_same_history(run: Run, tmp_path: Path) -> None:
    binary = tmp_path / "night.smf"
    binary.write_bytes(dump(each for number in range(4) for each in dumps.rmf(number)))
    of_binary = run(tmp_path / "one", binary)
    of_json = run(tmp_path / "two", answer(tmp_path / "answer.json", range(4)))
    assert of_json["status"] == of_binary["status"] == "stored"
    assert (of_json["kind"], of_json["framing"]) == ("gatherer_json", "json")
    for member in ("rows", "days", "structures", "sources", "queue_managers", "findings", "notes"):
        assert of_json[member] == of_binary[member], member
    assert of_json["records"] == {"74-4": 4}
    assert contents(History.open(str(tmp_path / "two"))) == contents(History.open(str(tmp_path / "one")))


def test_rows_name_the_index_of_their_record_and_no_offset(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    many = dumps.rmf_rows(1)
    many["r744_structure"] = [
        {**many["r744_structure"][0], "xcf_structure": f"SQ03APP{number}"} for number in range(150)
    ]
    first, second = records(range(2))
    long = json_record(dumps.header("SYSB", "", 1), many)  # in pieces in the dump
    path.write_bytes(json.dumps({"7": first, "8": long, "9": second}).encode())
    run(tmp_path / "history", path)
    rows = History.open(str(tmp_path / "history")).read("allocation").to_pylist()
    assert len(rows) == 3 + 150 + 3
    assert {row["file_offset"] for row in rows} == {None}
    found = {(row["system_id"], row["interval_end"], row["file_record"]) for row in rows}
    ends = sorted({end for _, end, _ in found})
    assert found == {("SYSA", ends[0], 7), ("SYSB", ends[1], 8), ("SYSA", ends[1], 9)}
    assert {row["file_name"] for row in rows} == {"answer.json"}


@pytest.mark.parametrize("name", ["..", "é" * 255, "a/b.json"])
def test_document_may_have_a_name_that_no_file_can_have(run: Run, tmp_path: Path, name: str) -> None:
    report = run(tmp_path / "history", answer(tmp_path / "answer.json", range(1)), "--name", name)
    assert report["status"] == "stored"


def test_rows_that_a_dump_delivered_are_not_stored_again(run: Run, tmp_path: Path) -> None:
    binary = tmp_path / "night.smf"
    binary.write_bytes(dump(each for number in range(4) for each in dumps.rmf(number)))
    run(tmp_path / "history", binary)
    before = contents(History.open(str(tmp_path / "history")))
    found = run(tmp_path / "history", answer(tmp_path / "answer.json", range(4)))
    assert found["rows"]["allocation"]["new"] == 0
    assert found["conflicts"] == []
    assert contents(History.open(str(tmp_path / "history"))) == before


def test_repeated_document_is_recognized_before_it_is_read(run: Run, tmp_path: Path) -> None:
    path = answer(tmp_path / "answer.json", range(2))
    assert run(tmp_path / "history", path)["status"] == "stored"
    assert run(tmp_path / "history", path, "--zone", "Europe/Berlin")["status"] == "already_stored"


def test_compressed_document_is_read_without_spark_whatever_the_limit_is(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "answer.json.gz"
    path.write_bytes(gzip.compress(json_bytes(records(range(2)))))
    found = run(tmp_path / "history", path, "--in-process-below", "0")
    assert (found["status"], found["driver"]) == ("stored", "in-process")


def test_compressed_document_beyond_the_limit_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "answer.json.gz"
    path.write_bytes(gzip.compress(json_bytes(records(range(9)))))
    found = run(tmp_path / "history", path, "--max-unpacked", "10000")
    assert found["status"] == "not_readable"
    assert "CFPLAN_MAX_UNPACKED_BYTES" in found["message"]


def test_incomplete_document_leaves_nothing_behind(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    path = answer(tmp_path / "answer.json", range(3))
    path.write_bytes(path.read_bytes()[:-40])
    found = run(tmp_path / "history", path)
    assert found["status"] == "not_readable"
    assert found["message"] == (
        "The answer is truncated in record 2: its end is missing. Nothing was stored. Request the records again."
    )
    assert found["commit_id"] is None
    assert contents(History.open(str(tmp_path / "history"))) == contents(
        History.open_kept(str(tmp_path / "empty"), create=True)
    )
    assert list(temporary.iterdir()) == []


def test_work_folder_is_created_and_dumps_of_killed_processes_are_removed_from_it(
    run: Run, tmp_path: Path
) -> None:
    work = tmp_path / "data" / "jobs"
    path = answer(tmp_path / "answer.json", range(1))
    assert run(tmp_path / "history", path, "--work-dir", str(work))["status"] == "stored"
    assert list(work.iterdir()) == []
    for name in ("cfplan-smf-old", "cfplan-smf-new", "other"):
        (work / name).mkdir()
        (work / name / "answer.json").write_bytes(b"x")
    for name in ("cfplan-smf-old", "other"):
        os.utime(work / name, (0, 0))
    run(tmp_path / "history", answer(tmp_path / "answer.json", range(2)), "--work-dir", str(work))
    assert sorted(each.name for each in work.iterdir()) == ["cfplan-smf-new", "other"]


def test_record_with_impossible_values_is_left_out_and_named_by_its_index(run: Run, tmp_path: Path) -> None:
    # One of 303 rows: more than 1 % would mean that the layout is wrong.
    found = run(tmp_path / "history", answer(tmp_path / "answer.json", range(101), wrong=70))
    assert found["status"] == "stored"
    assert found["quarantined"]["count"] == 1
    assert found["quarantined"]["first"][0]["reason"] == (
        "record 70: impossible values in R744SREQ: see the self-checks"
    )


def test_document_with_many_impossible_values_is_refused(run: Run, tmp_path: Path) -> None:
    found = run(tmp_path / "history", answer(tmp_path / "answer.json", range(3), wrong=1))
    assert found["status"] == "not_readable"
    assert "1 of 9 rows of r744 are not plausible" in found["message"]


def test_kind_may_be_stated(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    path.write_bytes(b'{"padding": "' + b" " * 70_000 + b'", ' + json_bytes(records(range(1)))[1:])
    assert run(tmp_path / "history", path)["status"] == "not_readable"
    assert run(tmp_path / "history", path, "--kind", "gatherer_json")["status"] == "stored"
