"""The report of a reader as a page shows it. Readers of other versions may say more or less: nothing here relies on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from app.uploads.amounts import amount
from planner_core.inputs import KIND_TITLES

RECORD_TITLES: Mapping[str, str] = {
    "2": "Dump header",
    "3": "Dump trailer",
    "74-4": "RMF coupling facility activity",
    "115-1": "MQ statistics: storage and log manager",
    "115-2": "MQ statistics: messages, CF structures, SMDS",
    "115-5": "MQ storage: pool headers",
    "115-6": "MQ storage: getmains",
    "115-7": "MQ storage: regions",
    "115-201": "MQ statistics: page sets",
    "115-215": "MQ statistics: buffer pools",
    "115-216": "MQ statistics: queues",
    "115-231": "MQ statistics: channel initiator",
    "116-0": "MQ accounting: message manager",
    "116-1": "MQ accounting: tasks and their queues",
    "116-2": "MQ accounting: more queues of a task",
    "116-10": "MQ accounting: channels",
}
TABLE_TITLES: Mapping[str, str] = {
    "structure_usage": "Structure usage",
    "smds_usage": "SMDS usage",
    "queue_usage": "Queue usage",
    "allocation": "Allocation",
}
FRAMINGS: Mapping[str, str] = {
    "rdw": "records with RDW",
    "bdw": "blocks of records, BDW and RDW",
    "gzip+rdw": "gzip; records with RDW",
    "gzip+bdw": "gzip; blocks of records, BDW and RDW",
}
DRIVERS: Mapping[str, str] = {"in-process": "in one process", "spark": "by Spark"}
SEVERITIES = ("error", "warning", "info")
COUNTS = ("read", "new", "replacing", "duplicates", "outranked", "conflicts")
MOST_SHOWN = 500


@dataclass(frozen=True, slots=True)
class RecordCounts:
    """Records of one type, and what became of them."""

    type: str
    title: str
    records: int
    bytes_words: str
    was_read: bool


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one table of the history."""

    table: str
    read: int
    new: int
    replacing: int
    duplicates: int
    outranked: int
    conflicts: int


@dataclass(frozen=True, slots=True)
class Fault:
    """A place that was not taken over, and why."""

    where: str
    length: str
    reason: str


@dataclass(frozen=True, slots=True)
class FileStructure:
    """A structure that the file speaks of."""

    qsg: str
    structure: str
    xcf_structure: str
    href: str
    """Path of its measured usage; empty where there is none, or not yet."""


@dataclass(frozen=True, slots=True)
class FileQueueManager:
    """A queue manager that the file speaks of."""

    system_id: str
    queue_manager: str
    qsg: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two records with one key that do not say the same."""

    table: str
    key: str
    kept: str
    other: str
    columns: str


@dataclass(frozen=True, slots=True)
class UploadReport:
    """What was found in a file."""

    message: str
    facts: tuple[tuple[str, str], ...]
    structures: tuple[FileStructure, ...]
    managers: tuple[FileQueueManager, ...]
    records: tuple[RecordCounts, ...]
    rows: tuple[Rows, ...]
    faults: tuple[Fault, ...]
    faults_omitted: int
    faults_title: str
    passed_over: tuple[tuple[str, int], ...]
    conflicts: tuple[Conflict, ...]
    findings: tuple[tuple[str, str], ...]
    """Severity and sentence."""
    notes: tuple[str, ...]

    @property
    def outranked(self) -> int:
        """Rows that are not used, because a more trusted source tells the same."""
        return sum(each.outranked for each in self.rows)


def shown(report: Mapping[str, Any] | None, *, is_stored: bool = False) -> UploadReport | None:
    """The report on the one file of an upload; None where there is none. What is stored has pages of its own."""
    files = (report or {}).get("files")
    part = files[0] if isinstance(files, list) and files else None
    if not isinstance(part, dict):
        return None
    faults, omitted, title = _faults(part)
    return UploadReport(
        message=_text(part.get("message")),
        facts=tuple(_facts(part)),
        structures=tuple(
            _structure(each, is_stored=is_stored)
            for each in _dicts(part.get("structures"))[:MOST_SHOWN]
        ),
        managers=tuple(
            FileQueueManager(*(_text(each.get(key)) for key in ("system_id", "queue_manager", "qsg")))
            for each in _dicts(part.get("queue_managers"))[:MOST_SHOWN]
        ),
        records=tuple(_records(part)),
        rows=tuple(
            Rows(TABLE_TITLES.get(name, name), *(_whole(each.get(key)) for key in COUNTS))
            for name, each in _items(part.get("rows"))
            if isinstance(each, dict)
        ),
        faults=faults,
        faults_omitted=omitted,
        faults_title=title,
        passed_over=tuple((name, _whole(count)) for name, count in _items(part.get("passed_over"))),
        conflicts=tuple(_conflict(each) for each in _dicts(part.get("conflicts"))[:MOST_SHOWN]),
        findings=tuple(
            (severity if severity in SEVERITIES else "info", _text(each.get("message")))
            for each in _dicts(part.get("findings"))[:MOST_SHOWN]
            for severity in (_text(each.get("severity")),)
        ),
        notes=tuple(_text(note) for note in _list(part.get("notes"))),
    )  # fmt: skip


def _facts(part: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What there is to say in a word each; what is not known is left out."""
    kind, framing, driver = (_text(part.get(key)) for key in ("kind", "framing", "driver"))
    first, last = _time(part.get("first_interval_end")), _time(part.get("last_interval_end"))
    sizes = {key: _whole(value) for key, value in _items(part.get("bytes"))}
    found = [
        ("Kind", dict(KIND_TITLES).get(kind, kind)),  # type: ignore[call-overload]
        ("Framing", FRAMINGS.get(framing, framing)),
        ("Intervals end", f"{first} to {last}" if first and last and first != last else first or last),
        ("Days", ", ".join(map(str, _list(part.get("days"))))),
        ("Shared queues", str(part["queues"]) if part.get("queues") else ""),
        ("Decoded", DRIVERS.get(driver, driver)),
        ("Took", _seconds(part.get("seconds"))),
    ]
    if any(sizes.values()):
        words = [f"{amount(value)} {key}" for key, value in sizes.items() if value]
        found.append(("Bytes", ", ".join(words)))
    return [(name, words) for name, words in found if words]


def _records(part: Mapping[str, Any]) -> list[RecordCounts]:
    """What was decoded, then what was skipped. Reports without findings are older: they counted both as decoded."""
    skipped = {_text(each.get("type")): each for each in _dicts(part.get("skipped"))}
    counted_twice = {} if "findings" in part else skipped
    decoded = {
        name: _whole(count) - _whole(counted_twice.get(name, {}).get("records"))
        for name, count in _items(part.get("records"))
    }
    found = [
        RecordCounts(name, RECORD_TITLES.get(name, ""), count, "", was_read=True)
        for name, count in decoded.items()
        if count > 0
    ]
    passed = [
        RecordCounts(
            name, RECORD_TITLES.get(name, ""), _whole(each.get("records")), amount(_whole(each.get("bytes"))), was_read=False
        )
        for name, each in skipped.items()
    ]  # fmt: skip
    return sorted(found, key=_by_type) + sorted(passed, key=_by_type)[:MOST_SHOWN]


def _by_type(records: RecordCounts) -> tuple[tuple[bool, int, str], ...]:
    return tuple(
        (not each.isdigit(), int(each) if each.isdigit() else 0, each) for each in records.type.split("-")
    )


def _faults(part: Mapping[str, Any]) -> tuple[tuple[Fault, ...], int, str]:
    quarantined, problems = part.get("quarantined"), part.get("problems")
    if isinstance(problems, dict) and _whole(problems.get("count")):
        faults = [
            Fault(f"line {_whole(each.get('line'))}", "", _text(each.get("message")))
            for each in _dicts(problems.get("first"))[:MOST_SHOWN]
        ]
        return tuple(faults), _whole(problems.get("count")) - len(faults), "Lines that were not taken over"
    if isinstance(quarantined, dict):
        faults = [
            Fault(
                f"byte {_whole(each.get('offset'))}",
                amount(_whole(each.get("length"))),
                _text(each.get("reason")),
            )
            for each in _dicts(quarantined.get("first"))[:MOST_SHOWN]
        ]
        return tuple(faults), _whole(quarantined.get("count")) - len(faults), "Quarantined"
    return (), 0, ""


def _structure(each: Mapping[str, Any], *, is_stored: bool) -> FileStructure:
    qsg, name = _text(each.get("qsg")), _text(each.get("structure"))
    href = f"/usage/{quote(qsg, safe='')}/{quote(name, safe='')}" if is_stored and qsg and name else ""
    return FileStructure(qsg, name, _text(each.get("xcf_structure")) or f"{qsg}{name}", href)


def _conflict(each: Mapping[str, Any]) -> Conflict:
    key = ", ".join(f"{name} {value}" for name, value in _items(each.get("key")))
    return Conflict(
        table=TABLE_TITLES.get(_text(each.get("table")), _text(each.get("table"))),
        key=key,
        kept=_place(each.get("kept")),
        other=_place(each.get("other")),
        columns=", ".join(map(str, _list(each.get("columns")))),
    )


def _place(value: object) -> str:
    found = value if isinstance(value, dict) else {}
    return f"{_text(found.get('file'))}, byte {_whole(found.get('offset'))}" if found else ""


def _seconds(value: object) -> str:
    total = sum(each for _, each in _items(value) if isinstance(each, (int, float)))
    return f"{total:.1f} s" if total else ""


def _time(value: object) -> str:
    try:
        return datetime.fromisoformat(str(value)).strftime("%Y-%m-%d %H:%M:%S UTC")
    except ValueError:
        return ""


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _whole(value: object) -> int:
    return int(value) if isinstance(value, (int, float)) else 0


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _dicts(value: object) -> list[dict[str, Any]]:
    return [each for each in _list(value) if isinstance(each, dict)]


def _items(value: object) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []
