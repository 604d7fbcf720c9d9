"""An interval has the same rows from a binary dump and from the output of IBM's formatter.

The dumps and IBM's output of them are used if available; they are not in the repository.
"""

from __future__ import annotations

import os
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from planner_core.contracts.smf import SECTIONS
from spark_jobs.history.rows import rows_of
from spark_jobs.history.schema import natural_key
from spark_jobs.readers import read
from spark_jobs.smf.decode import decode_file
from tests.spark_jobs.readers.support import read_text

SAMPLES = Path(os.environ.get("CFPLAN_SMF_SAMPLES", "../shared/data/smf"))
GROUPS = {("H019", "MQPC"): "SQ03", ("MPX1", "QML1"): "QSG1"}
ZONES = {"TEST115": timezone(timedelta(hours=-6)), "TESTCHL": timezone(timedelta(hours=-4))}
HOW_THEY_DIFFER = {
    "origin": "the binary is trusted more",
    "file_offset": "text has none",
    "file_record": "lines are counted, not records",
    "interval_start": "the formatter has local time only, some microseconds from the clock's",
    "interval_end": "from the header, to the hundredth of a second",
    "interval_us": "follows from both",
    "buffer_wait_us": "the formatter prints the wrong half of it",
    "is_encrypted": "the formatter tests the wrong word",
}
NEAR = timedelta(milliseconds=10)


def sample(name: str) -> Path:
    path = SAMPLES / name
    if not path.exists():
        pytest.skip(f"no sample {name} at {SAMPLES} (CFPLAN_SMF_SAMPLES)")
    return path


def from_binary(path: Path) -> dict[str, list[dict[str, Any]]]:
    tables: dict[str, list[dict[str, Any]]] = {}
    for result in decode_file(path, sections=SECTIONS):
        for table, rows in rows_of(result.batches, group_of=GROUPS).tables.items():
            tables.setdefault(table, []).extend(rows.to_pylist())
    return tables


@pytest.mark.parametrize(
    ("dump", "section", "count"), [("TEST115", "QEST", 3), ("TESTCHL", "QEST", 19), ("TESTCHL", "QESD", 16)]
)
def test_dump_and_its_formatted_output_give_the_same_rows(dump: str, section: str, count: int) -> None:
    binary = from_binary(sample(f"{dump}.dat"))
    path = sample(f"expected/{dump}-{section}.csv")
    result = read(path, "mqsmf_csv", zone=ZONES[dump], qsg_of=GROUPS)
    ((table, found),) = result.tables.items()
    rows = found.to_pylist()
    key = natural_key(rows[0]["source"])
    by_key = {
        tuple(row[name] for name in key.columns): row
        for row in binary[table]
        if row["source"] == rows[0]["source"]
    }
    assert len(rows) == len(by_key) == count
    for row in rows:
        twin = by_key[tuple(row[name] for name in key.columns)]
        assert {name for name in row if row[name] != twin[name]} <= HOW_THEY_DIFFER.keys()
        assert abs(row["interval_start"] - twin["interval_start"]) < NEAR
        assert abs(row["interval_end"] - twin["interval_end"]) < NEAR


def test_task_has_the_same_key_in_dump_and_formatted_output(tmp_path: Path) -> None:
    """The samples have no shared queue, so their private ones are called shared for the comparison."""
    text = sample("expected/TESTCHL-WQ.csv").read_text(encoding="latin-1")
    changed = text.replace(',"QMgr",', ',"Shared",')
    assert changed != text
    result = read_text(tmp_path, changed, "mqsmf_csv", zone=ZONES["TESTCHL"], qsg_of=GROUPS)
    names = (*natural_key("116-1 WQ").columns, "opened_at")
    formatted = [tuple(row[name] for name in names) for row in result.tables["queue_usage"].to_pylist()]
    decoded = []
    for part in decode_file(sample("TESTCHL.dat"), sections=("wq",)):
        for batch in part.batches.get("wq", ()):
            decoded += [
                tuple(row["object_name" if name == "open_queue" else name] for name in names)
                for row in batch.to_pylist()
            ]
    assert sorted(formatted) == sorted(decoded)
