"""`cfplan smf decode` and `python -m spark_jobs.smf decode`."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.cli import main as cfplan
from spark_jobs.smf import __main__ as command
from spark_jobs.smf.decode import SECTIONS, schema
from spark_jobs.smf.encode import Framing, dump, rmf_record
from spark_jobs.smf.structures import joined_schema
from tests.spark_jobs.smf.made import RowMaker, header, small_dump


@pytest.fixture
def night(tmp_path: Path) -> Path:
    path = tmp_path / "night.smf"
    path.write_bytes(small_dump(1, Framing(block_bytes=1500)))
    return path


def rows(printed: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(printed)))


@pytest.mark.parametrize("section", SECTIONS)
def test_decode_prints_csv_with_a_header_line(
    section: str, night: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["decode", str(night), "--section", section, "--output", "csv"]) == 0
    printed = capfd.readouterr().out
    names = joined_schema().names if section == "r744" else schema(section).names
    assert printed.splitlines()[0] == ",".join(names)
    found = rows(printed)
    assert found
    places = [(int(row["record"]), int(row["section"])) for row in found]
    assert places == sorted(places)


def test_decode_prints_json_lines(night: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert command.main(["decode", str(night), "--section", "qest", "--output", "jsonl"]) == 0
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [line["written_at"] for line in lines] == ["2026-11-21T10:00:01.120000Z"]
    assert lines[0]["written_at_local"] == "2026-11-21T05:00:01.120000"
    assert lines[0]["qsg"] is None


def test_csv_and_json_lines_have_the_same_values(night: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for section in SECTIONS:
        command.main(["decode", str(night), "--section", section, "--output", "csv"])
        as_csv = rows(capfd.readouterr().out)
        command.main(["decode", str(night), "--section", section, "--output", "jsonl"])
        as_json = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
        assert [{name: _cell(value) for name, value in row.items()} for row in as_json] == as_csv


def _cell(value: Any) -> str:  # noqa: ANN401
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) else str(value)


def test_decode_reports_unread_bytes_on_stderr(night: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = bytearray(night.read_bytes())
    data[18 + 13] = 0  # the sign of the second record's date
    night.write_bytes(bytes(data[:-10]))
    assert command.main(["decode", str(night), "--section", "qest", "--output", "csv"]) == 0
    said = capfd.readouterr()
    assert len(said.out.splitlines()) == 1
    assert "quarantined: offset 18, " in said.err
    assert "lost: 8 bytes" in said.err
    assert "skipped: 30-4: 1 records" in said.err


def test_missing_section_prints_only_the_header_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rmf.smf"
    path.write_bytes(dump(rmf_record(header(), RowMaker(1).facility(1))))
    assert command.main(["decode", str(path), "--section", "wq"]) == 0
    assert capfd.readouterr().out == ",".join(schema("wq").names) + "\n"


@pytest.mark.parametrize("content", [b"", b"a text\n" * 100, bytes(1000)])
def test_other_file_gives_exit_code_3_and_a_message(
    content: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert command.main(["decode", str(path), "--section", "qest"]) == 3
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.rstrip().endswith(".")
    assert "Traceback" not in said.err


def test_missing_file_gives_exit_code_3(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert command.main(["decode", str(tmp_path / "nothing"), "--section", "qest"]) == 3
    assert "cannot be read" in capfd.readouterr().err


def test_layout_that_fails_its_self_checks_gives_no_rows(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    make = RowMaker(1)
    sound, wrong = make.facility(3), make.facility(3)
    wrong["r744_structure"][0]["elements_in_use"] = wrong["r744_structure"][0]["elements_total"] + 1
    path = tmp_path / "rmf.smf"
    path.write_bytes(dump([*rmf_record(header(), sound), *rmf_record(header(1), wrong)]))
    assert command.main(["decode", str(path), "--section", "r744"]) == 1
    said = capfd.readouterr()
    assert said.out == ""
    assert "1 of 6 rows" in said.err


def test_structure_rows_have_the_values_of_their_facility(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    facility = RowMaker(1).facility(2)
    path = tmp_path / "rmf.smf"
    path.write_bytes(dump(rmf_record(header(), facility)))
    command.main(["decode", str(path), "--section", "r744", "--output", "jsonl"])
    for line in map(json.loads, capfd.readouterr().out.splitlines()):
        assert line["cf_total_bytes"] == facility["r744_storage"][0]["total_bytes"]
        assert line["cf_requests"] == facility["r744_cf"][0]["cf_requests"]


def test_closed_output_is_not_an_error(night: Path) -> None:
    call = [sys.executable, "-m", "spark_jobs.smf", "decode", str(night), "--section", "wq"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()


def test_cfplan_runs_the_decoder_and_returns_its_exit_code(
    night: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cfplan(["smf", "decode", str(night), "--section", "qest", "--output", "csv"]) == 0
    assert rows(capfd.readouterr().out)
    night.write_bytes(b"no dump")
    assert cfplan(["smf", "decode", str(night), "--section", "qest"]) == 3
    assert cfplan(["smf", "decode", str(night)]) == 2
