"""Answers of RMF's data server that overlap after an outage give each interval once."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from spark_jobs.history.store import History
from tests.spark_jobs.history.support import commit
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
