"""Output of IBM's formatter (mq-smf-csv) in the columns of the decoder; docs/reference/smf-records.md has the mapping."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from spark_jobs.smf.tables import table_fields

VARIABLE = "CFPLAN_SMF_SAMPLES"
BESIDE = Path(__file__).parents[4] / "shared" / "data" / "smf"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MISSING_NUMBER, MISSING_TEXT = "-1", "."
WORDS = {"QMgr": "QMGR", "CorrelId": "CORRELID", "MsgId": "MSGID", "GroupId": "GROUPID"}
HIGH_WORD_SHIFT = 20
"""The high word of a clock value counts 2**20 microseconds."""


def samples() -> Path:
    """Return the folder with the real dumps and `expected/`, which are not part of the repository."""
    folder = Path(os.environ.get(VARIABLE, BESIDE))
    if not (folder / "expected").is_dir():
        pytest.skip(f"no real dumps in {folder}: name their folder in {VARIABLE}")
    return folder


@dataclass(frozen=True)
class PrintedValue:
    """One value: its column, and the text that the formatter printed."""

    name: str
    column: str
    expected: Any
    decoded: Any


def printed_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file of the formatter without quotes, equal signs and the last comma."""
    with path.open(newline="", encoding="ascii") as file:
        rows = list(csv.reader(file))
    heading = rows[0]
    return [{name: _plain(cell) for name, cell in zip(heading, row, strict=True) if name} for row in rows[1:]]


def _plain(cell: str) -> str:
    cell = cell.strip()
    if cell.startswith('="') and cell.endswith('"'):
        cell = cell[2:-1]
    return cell.strip()


def compared(table: str, printed: dict[str, str], decoded: dict[str, Any]) -> list[PrintedValue]:
    """Yield every cell of a printed row with the value of the decoder."""
    rest = dict(printed)
    found = [
        PrintedValue(
            "Date, Time",
            "written_at_local",
            _moment(rest.pop("Date"), rest.pop("Time")),
            decoded["written_at_local"],
        ),
        PrintedValue("LPAR", "system_id", rest.pop("LPAR"), decoded["system_id"]),
        PrintedValue("QMgr", "queue_manager", rest.pop("QMgr"), decoded["queue_manager"]),
        PrintedValue("QSG", "qsg", _text(rest.pop("QSG")), decoded["qsg"]),
        PrintedValue("MQ_Version", "release", rest.pop("MQ_Version"), decoded["release"]),
    ]
    if table != "wq":
        begin = _moment(rest.pop("Interval_Start (DATE)"), rest.pop("Interval_Start (TIME)"))
        found.append(
            PrintedValue("Interval_Start", "interval_start_local", begin, decoded["interval_start_local"])
        )
        seconds = int(rest.pop("Interval_Duration"))
        found.append(
            PrintedValue("Interval_Duration", "interval_us", seconds, decoded["interval_us"] // 1_000_000)
        )
    for _, field in table_fields(table):
        if field.formatter:
            found.append(_field(field.formatter, field.column, field.type, rest, decoded[field.column]))
    assert not rest, f"printed, but compared with nothing: {sorted(rest)}"
    return found


def _field(name: str, column: str, type_: str, rest: dict[str, str], decoded: Any) -> PrintedValue:  # noqa: ANN401
    if type_ == "stck":
        moment = _moment(rest.pop(f"{name} (DATE)"), rest.pop(f"{name} (TIME)"))
        instant = None if moment.year == EPOCH.year else moment.replace(tzinfo=UTC)
        return PrintedValue(name, column, instant, decoded)
    if (
        name == "Buffer_Wait_Time"
    ):  # its first fault: the high word of the clock value, as if it were a number
        return PrintedValue(name, column, int(rest.pop(name)), decoded >> HIGH_WORD_SHIFT)
    if type_ == "stck_us":
        seconds, us = int(rest.pop(f"{name}(S)")), int(rest.pop(f"{name}(US)"))
        missing = seconds == -1
        return PrintedValue(name, column, None if missing else seconds * 1_000_000 + us, decoded)
    cell = rest.pop(name)
    if name == "Encrypted":  # its second fault: it looks at another word, so its No says nothing
        return PrintedValue(name, column, None if _text(cell) is None else decoded, decoded)
    if type_.startswith("code"):
        return PrintedValue(name, column, WORDS.get(cell, cell.upper()), decoded)
    if type_ in ("char", "hex"):
        return PrintedValue(name, column, _text(cell), decoded)
    return PrintedValue(name, column, None if cell == MISSING_NUMBER else int(cell), decoded)


def _text(cell: str) -> str | None:
    return cell if cell.strip(MISSING_TEXT) else None


def _moment(day: str, time: str) -> datetime:
    return datetime.strptime(f"{day} {time}", "%Y/%m/%d %H:%M:%S,%f")  # noqa: DTZ007 - which zone the column knows
