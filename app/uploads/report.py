"""The report of a reader as a page shows it. Readers of other versions may report more or less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from urllib.parse import quote

from app.uploads.amounts import amount
from planner_core.contracts import tolerant
from planner_core.contracts.ingest import (
    Conflict,
    FileReport,
    QueueManagerGroup,
    RecordPlace,
    ReportedStructure,
    RowCounts,
)
from planner_core.inputs import KIND_TITLES
from planner_core.wire import JsonObject

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
    "json": "JSON",
}
DRIVERS: Mapping[str, str] = {"in-process": "in one process", "spark": "by Spark"}
KINDS: Mapping[str, str] = {str(kind): title for kind, title in KIND_TITLES.items()}
SEVERITIES = ("error", "warning", "info")
MOST_SHOWN = 500


@dataclass(frozen=True, slots=True)
class RecordCounts:
    """The number of records of one type, and whether they were read."""

    type: str
    title: str
    records: int
    bytes_words: str
    was_read: bool


@dataclass(frozen=True, slots=True)
class FileStructure:
    """A structure in the file."""

    qsg: str
    structure: str
    xcf_structure: str
    href: str
    """Path of its measured usage; empty if it has none yet."""


@dataclass(frozen=True, slots=True)
class ConflictLine:
    """Two records with the same key and different values."""

    table: str
    key: str
    kept: str
    other: str
    columns: str


@dataclass(frozen=True, slots=True)
class UploadReport:
    """The report on a file, as a page shows it."""

    facts: tuple[tuple[str, str], ...]
    structures: tuple[FileStructure, ...]
    managers: tuple[QueueManagerGroup, ...]
    records: tuple[RecordCounts, ...]
    rows: tuple[tuple[str, RowCounts], ...]
    """Title of each table with its counts."""
    faults: tuple[tuple[str, str, str], ...]
    """Position and length of each part that was not read, and the reason."""
    faults_omitted: int
    faults_title: str
    passed_over: tuple[tuple[str, int], ...]
    conflicts: tuple[ConflictLine, ...]
    findings: tuple[tuple[str, str], ...]
    """Severity and text of each remark."""
    notes: tuple[str, ...]

    @property
    def outranked(self) -> int:
        """The number of rows that are not used because a more trusted source provides the same measurement."""
        return sum(counts.outranked for _, counts in self.rows)


def report_view(report: JsonObject | None, *, is_stored: bool = False) -> UploadReport | None:
    """Return the report on the file of an upload, or None. Stored structures link to their usage."""
    files = (report or {}).get("files")
    part = files[0] if isinstance(files, list) and files else None
    if not isinstance(part, dict):
        return None
    found = tolerant.read(FileReport, part)
    # Reports without findings come from earlier versions, which counted skipped records among the others.
    skipped = () if "findings" in part else found.skipped
    faults, omitted, title = _faults(found)
    return UploadReport(
        facts=tuple(_facts(found)),
        structures=tuple(_structure(each, is_stored=is_stored) for each in found.structures[:MOST_SHOWN]),
        managers=found.queue_managers[:MOST_SHOWN],
        records=tuple(_records(found, counted_twice={each.type: each.records for each in skipped})),
        rows=tuple((TABLE_TITLES.get(name, name), counts) for name, counts in found.rows.items()),
        faults=faults,
        faults_omitted=omitted,
        faults_title=title,
        passed_over=tuple(found.passed_over.items()),
        conflicts=tuple(map(_conflict, found.conflicts[:MOST_SHOWN])),
        findings=tuple(
            (each.severity if each.severity in SEVERITIES else "info", each.message)
            for each in found.findings[:MOST_SHOWN]
        ),
        notes=found.notes,
    )


def _facts(found: FileReport) -> list[tuple[str, str]]:
    """Return the known facts, each with a one-word label."""
    ends = [
        f"{end:%Y-%m-%d %H:%M:%S} UTC" for end in (found.first_interval_end, found.last_interval_end) if end
    ]
    spent = sum(found.seconds.values())
    facts = [
        ("Kind", KINDS.get(found.kind or "", found.kind or "")),
        ("Framing", FRAMINGS.get(found.framing or "", found.framing or "")),
        ("Intervals end", " to ".join(dict.fromkeys(ends))),
        ("Days", ", ".join(found.days)),
        ("Shared queues", str(found.queues) if found.queues else ""),
        ("Decoded", DRIVERS.get(found.driver or "", found.driver or "")),
        ("Took", f"{spent:.1f} s" if spent else ""),
        ("Bytes", ", ".join(f"{amount(size)} {name}" for name, size in asdict(found.bytes).items() if size)),
    ]
    return [(name, words) for name, words in facts if words]


def _records(found: FileReport, *, counted_twice: Mapping[str, int]) -> list[RecordCounts]:
    """Return the decoded records, then the skipped ones."""
    decoded = {name: count - counted_twice.get(name, 0) for name, count in found.records.items()}
    read = [
        RecordCounts(name, RECORD_TITLES.get(name, ""), count, "", was_read=True)
        for name, count in decoded.items()
        if count > 0
    ]
    passed = [
        RecordCounts(
            each.type, RECORD_TITLES.get(each.type, ""), each.records, amount(each.bytes), was_read=False
        )
        for each in found.skipped
    ]
    return sorted(read, key=_by_type) + sorted(passed, key=_by_type)[:MOST_SHOWN]


def _by_type(records: RecordCounts) -> tuple[tuple[bool, int, str], ...]:
    return tuple(
        # Sorted as numbers, so that 115-16 comes after 115-2; unknown types may have names that are not numbers.
        (not each.isdigit(), int(each) if each.isdigit() else 0, each)
        for each in records.type.split("-")
    )


def _faults(found: FileReport) -> tuple[tuple[tuple[str, str, str], ...], int, str]:
    if found.problems.count:
        lines = found.problems.first[:MOST_SHOWN]
        faults = tuple((f"line {each.line}", "", each.message) for each in lines)
        return faults, found.problems.count - len(faults), "Lines that were not read"
    places = found.quarantined.first[:MOST_SHOWN]
    faults = tuple((f"byte {each.offset}", amount(each.length), each.reason) for each in places)
    return faults, found.quarantined.count - len(faults), "Quarantined"


def _structure(each: ReportedStructure, *, is_stored: bool) -> FileStructure:
    qsg, name = each.qsg or "", each.structure or ""
    href = f"/usage/{quote(qsg, safe='')}/{quote(name, safe='')}" if is_stored and qsg and name else ""
    return FileStructure(qsg, name, each.xcf_structure or f"{qsg}{name}", href)


def _conflict(each: Conflict) -> ConflictLine:
    return ConflictLine(
        table=TABLE_TITLES.get(each.table, each.table),
        key=", ".join(f"{name} {value}" for name, value in each.key.items()),
        kept=_place(each.kept),
        other=_place(each.other),
        columns=", ".join(each.columns),
    )


def _place(found: RecordPlace | None) -> str:
    return f"{found.file}, byte {found.offset}" if found else ""
