"""Commands of the history: export, files, forget and maintain."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from spark_jobs.history.__main__ import INTERNAL, export_columns, main
from spark_jobs.history.schema import TABLES, stored_schema
from spark_jobs.history.store import History
from tests.spark_jobs.history.rows import qest, queue_rows, structure_rows, wq
from tests.spark_jobs.history.support import commit, sha256

Run: TypeAlias = Callable[..., tuple[int, str, str]]


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History.open(str(tmp_path / "history"), create=True)
    rows = [*map(qest, range(96)), qest(0, qsg="SQ09", system_id="SYSZ", structure="OTHER")]
    commit(made, "a", structures=structure_rows(*rows), queues=queue_rows(wq(0, queue='ODD,"NAME"')))
    return made


@pytest.fixture
def run(history: History, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    def one(command: str, *arguments: str, url: str = history.url) -> tuple[int, str, str]:
        code = main([command, "--history", url, *arguments])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return one


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_export_contains_all_rows_in_time_order(run: Run) -> None:
    code, out, _ = run("export", "--table", "structure_usage")
    rows = table(out)
    assert code == 0
    assert len(rows) == 97
    assert [row["interval_end"] for row in rows] == sorted(row["interval_end"] for row in rows)
    assert rows[-1]["interval_end"] == "2026-11-22T00:00:00.000000Z"
    assert rows[0]["entries_in_use"] == "100"
    assert rows[0]["entries_total"] == "", "what is not known is empty"
    assert rows[0]["file_name"] == "a"


@pytest.mark.parametrize("name", TABLES)
def test_export_header_has_every_column_except_internal_ones(run: Run, name: str) -> None:
    _, out, _ = run("export", "--table", name)
    assert out.splitlines()[0].split(",") == export_columns(name)
    assert set(stored_schema(name).names) - set(export_columns(name)) == set(INTERNAL)


def test_export_is_limited_to_group_structure_and_time(run: Run) -> None:
    assert len(table(run("export", "--table", "structure_usage", "--qsg", "SQ09")[1])) == 1
    assert len(table(run("export", "--table", "structure_usage", "--structure", "APPLICATION1")[1])) == 96
    bounds = ("--from", "2026-11-20T12:00:00+01:00", "--to", "2026-11-20T12:00:00")
    assert len(table(run("export", "--table", "structure_usage", *bounds)[1])) == 2
    assert len(table(run("export", "--table", "structure_usage", "--from", "2026-11-21")[1])) == 48


def test_export_quotes_names_with_special_characters(run: Run) -> None:
    (row,) = table(run("export", "--table", "queue_usage")[1])
    assert row["queue"] == 'ODD,"NAME"'


def test_files_command_omits_reports(run: Run) -> None:
    code, out, _ = run("files")
    (line,) = [json.loads(line) for line in out.splitlines()]
    assert (code, line["file_name"], line["entry"]) == (0, "a", "ingest")
    assert "report" not in line


def test_forget_removes_a_file_and_prints_its_days(run: Run, history: History) -> None:
    code, out, _ = run("forget", sha256("a"))
    assert code == 0
    assert json.loads(out)["days"] == ["2026-11-20", "2026-11-21", "2026-11-22"]
    assert history.read("structure_usage").num_rows == 0
    assert run("forget", sha256("a"))[0] == 1


def test_maintain_drops_days_before_the_retention(run: Run, history: History) -> None:
    days = (dt.datetime.now(dt.UTC).date() - dt.date(2026, 11, 21)).days + 1
    code, out, _ = run("maintain", "--retention-days", str(days))
    assert code == 0
    assert json.loads(out)["dropped_days"] == ["2026-11-20"]
    assert run("maintain", "--retention-days", "0")[0] == 0
    assert history.read("structure_usage").num_rows == 49


def test_missing_history_is_reported_as_an_error(run: Run, tmp_path: Path) -> None:
    code, _, err = run("files", url=str(tmp_path / "nowhere"))
    assert code == 1
    assert "There is no usage history" in err


def test_invalid_time_is_refused(run: Run) -> None:
    with pytest.raises(SystemExit):
        run("export", "--table", "structure_usage", "--from", "yesterday")
