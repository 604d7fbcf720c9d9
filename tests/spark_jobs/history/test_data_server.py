"""Answers of RMF's data server that overlap after an outage give each interval once."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from spark_jobs.history.store import History
from tests.spark_jobs.history.support import commit
from tests.spark_jobs.history.test_hours import lines
from tests.spark_jobs.readers.support import read_text

NAMES = ["Structure Name 1", "Structure Type 1", "System Name", "CF Name 1", "Total List Entries (LIST/LOCK)"]
NAMES += ["Actual List Entries (LIST/LOCK)"]
FIRST = datetime(2026, 3, 22, 12, 0, tzinfo=UTC)


def answers(minutes: range) -> str:
    """Return the reports of these minutes, each with two structures."""
    reports = [
        {
            "timeData": {
                "utcStart": f"{FIRST + timedelta(minutes=minute):%Y%m%d%H%M%S}",
                "utcEnd": f"{FIRST + timedelta(minutes=minute + 1):%Y%m%d%H%M%S}",
            },
            "columnHeaders": {"col": [{"value": name, "type": "T"} for name in NAMES]},
            "row": [
                {"col": [name, "LIST", "*ALL", "CF01", "111234", str(1000 + minute)]}
                for name in ("SQ03CSQ_ADMIN", "SQ03APPLICATION1")
            ],
        }
        for minute in minutes
    ]
    return json.dumps({"report": reports})


def test_answers_overlapping_after_an_outage_leave_no_gap_and_no_double(tmp_path: Path) -> None:
    history = History.open(str(tmp_path / "history"), create=True)
    # Ten minutes are missing, and the answer for them overlaps those before and after it.
    for name, minutes in (("before", range(5)), ("after", range(15, 20)), ("missing", range(3, 17))):
        result = read_text(tmp_path, answers(minutes), "cfact_json")
        assert (result.asks, result.problem_count) == ((), 0)
        commit(history, name, structures=result.tables["structure_usage"])
    found = (
        history.read("structure_usage").select(["structure", "interval_end", "entries_in_use"]).to_pylist()
    )
    assert sorted(tuple(row.values()) for row in found) == [
        (structure, FIRST + timedelta(minutes=minute + 1), 1000 + minute)
        for structure in ("APPLICATION1", "CSQ_ADMIN")
        for minute in range(20)
    ]


IDS = ["CFAISTRU", "CFAITYPE", "CFAPSTEX", "CFAPSYS", "CFAINAM", "CFAILEM", "CFAILEL", "CFAISTRS", "CFAPSYNC"]
MIB = 2**20


def cells(name: str, cf: str, used: int, total: int, size: int, *, system: str = "*ALL") -> list[str]:
    status = "ActiveInUse" if system == "*ALL" else ""
    return [name, "LIST", status, system, cf, str(used), str(total), str(size), "10"]


def test_structure_that_is_rebuilt_and_one_that_appears_and_disappears_in_an_hour(tmp_path: Path) -> None:
    """One is rebuilt into the other coupling facility with another size; two intervals have both of its instances."""
    reports = []
    for minute in range(60):
        table = [cells("SQ03CSQ_ADMIN", "CF01", 5, 100, MIB)]
        if minute < 22:
            table += [
                cells("SQ03MOVED", "CF01", 400 + minute, 500, 8 * MIB, system=each)
                for each in ("*ALL", "SYSA")
            ]
        if minute >= 20:
            table += [
                cells("SQ03MOVED", "CF02", 300 + minute, 900, 16 * MIB, system=each)
                for each in ("*ALL", "SYSA")
            ]
        if 10 <= minute < 30:
            table.append(cells("SQ03SHORT", "CF01", minute, 50, 2 * MIB))
        answer = json.loads(answers(range(minute, minute + 1)))
        answer["report"][0] |= {
            "columnHeaders": {"col": [{"value": each} for each in IDS]},
            "row": [{"col": each} for each in table],
        }
        reports.append(json.dumps(answer))
    result = read_text(tmp_path, "\n".join(reports), "cfact_json")
    assert result.problem_count == 0
    history = History.open(str(tmp_path / "history"), create=True)
    commit(history, "hour", structures=result.tables["structure_usage"])
    found = {line["structure"]: line for line in lines(history, "structure_hour")}
    assert found.keys() == {"CSQ_ADMIN", "MOVED", "SHORT"}
    moved, short = found["MOVED"], found["SHORT"]
    assert moved["entries_in_use_max"] == 421
    assert (moved["entries_total"], moved["size_bytes"], moved["coupling_facilities"]) == (
        900,
        16 * MIB,
        ["CF02"],
    )
    # Requests of both instances, and of each interval once.
    assert moved["sync_requests"] == 10 * (22 + 40)
    assert (short["entries_in_use_max"], short["entries_total"]) == (29, 50)
    assert (short["coupling_facilities"], short["sync_requests"]) == (["CF01"], 200)
