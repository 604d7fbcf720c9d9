"""The records that a dump or the usage history lacks, on both sides of each rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from planner_core.checks.collected_data import StructureHistory, missing_in_file, missing_in_history
from planner_core.contracts.ingest import FileReport, QueueManagerGroup, RowSource
from planner_core.findings import Finding

MANAGERS = (QueueManagerGroup("SYSA", "CSQ1", "SQ03"), QueueManagerGroup("SYSB", "CSQ2", "SQ03"))
SOURCES = (
    RowSource("74-4 R744SREQ", "SYSA", None, 10, 900),
    RowSource("74-4 R744SREQ", "SYSB", None, 10, 900),
    RowSource("115-2 QEST", "SYSA", "CSQ1", 10, 900),
    RowSource("115-2 QESD", "SYSA", "CSQ1", 10, 900),
    RowSource("116-1 WQ", "SYSA", "CSQ1", 10, 90_000),
)
WHOLE = FileReport(
    kind="smf",
    status="stored",
    records={"74-4": 2, "115-2": 2, "116-1": 2},
    queue_managers=MANAGERS,
    sources=SOURCES,
)


def without(*beginnings: str, **more: object) -> FileReport:
    kept = tuple(each for each in SOURCES if not each.source.startswith(beginnings))
    return replace(WHOLE, sources=kept, **more)  # type: ignore[arg-type]


def codes(report: FileReport, *members: QueueManagerGroup) -> list[str]:
    return [each.code for each in missing_in_file(report, members)]


def only(report: FileReport, *members: QueueManagerGroup) -> Finding:
    (found,) = missing_in_file(report, members)
    return found


def test_dump_with_all_records_lacks_nothing() -> None:
    assert codes(WHOLE, *MANAGERS) == []


@pytest.mark.parametrize(
    ("beginning", "code"),
    [
        ("74-4", "DATA_LACKS_RMF"),
        ("115-2 QESD", "DATA_LACKS_SMDS"),
        ("115-2", "DATA_LACKS_STRUCTURE_STATISTICS"),
        ("116", "DATA_LACKS_QUEUES"),
    ],
)
def test_dump_without_a_kind_of_record_is_reported(beginning: str, code: str) -> None:
    assert codes(without(beginning), *MANAGERS) == [code]


def test_statistics_of_queues_replace_accounting_of_queues() -> None:
    queues = RowSource("115-216 QQST", "SYSA", "CSQ1", 10, 900)
    assert codes(replace(WHOLE, sources=(*SOURCES[:-1], queues))) == []


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (without("74-4"), "74-4 records, but none with a list structure"),
        (without("115-2"), "queue managers that use no structure"),
        (without("115-2", records={"74-4": 1, "115-1": 1, "116-1": 1}), "other records of type 115"),
        (without("116", records={"74-4": 1, "115-2": 1, "116-0": 1}), "class 3 writes 116-1"),
    ],
)
def test_message_tells_records_of_another_subtype(report: FileReport, words: str) -> None:
    assert words in only(report).message


@pytest.mark.parametrize(("seconds", "is_long"), [(1800, False), (1860, False), (1861, True), (3600, True)])
def test_intervals_of_rmf_over_half_an_hour_are_reported(seconds: int, is_long: bool) -> None:
    sources = (replace(SOURCES[0], longest_interval_s=seconds), *SOURCES[1:])
    assert codes(replace(WHOLE, sources=sources)) == ["DATA_INTERVAL_LONG"] * is_long


def test_member_of_the_map_without_records_is_reported() -> None:
    third = QueueManagerGroup("SYSC", "CSQ3", "SQ03")
    found = only(WHOLE, *MANAGERS, third, QueueManagerGroup("SYSC", "CSQ9", "SQ04"))
    assert found.code == "DATA_LACKS_QUEUE_MANAGER"
    assert "CSQ3 (SYSC)" in found.message
    assert "CSQ9" not in found.message


def test_system_without_rmf_records_is_reported_if_another_has_them() -> None:
    sources = tuple(each for each in SOURCES if (each.source[:4], each.system_id) != ("74-4", "SYSB"))
    found = only(replace(WHOLE, sources=sources))
    assert (found.code, found.severity) == ("DATA_LACKS_SYSTEM", "info")
    assert "SYSB" in found.message


def test_report_of_an_earlier_version_is_judged_by_its_record_types() -> None:
    assert codes(replace(WHOLE, sources=())) == []
    found = codes(replace(WHOLE, sources=(), records={"115-1": 3}))
    assert found == ["DATA_LACKS_RMF", "DATA_LACKS_STRUCTURE_STATISTICS", "DATA_LACKS_QUEUES"]


@pytest.mark.parametrize(
    "changes",
    [{"kind": "cfstatus"}, {"status": "not_readable"}, {"status": "needs_answers"}, {"records": {}}],
)
def test_only_dumps_that_were_read_are_judged(changes: Mapping[str, object]) -> None:
    assert codes(without("74-4", "115-2", "116", **changes)) == []


DAY = datetime(2026, 3, 1, tzinfo=UTC)
FULL = StructureHistory("SQ03", "APP1", DAY, DAY + timedelta(days=42), True, True, True)


def test_history_with_all_figures_lacks_nothing() -> None:
    assert list(missing_in_history([FULL])) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"has_limits": False}, "DATA_LACKS_RMF"),
        ({"has_use": False}, "DATA_LACKS_STRUCTURE_STATISTICS"),
        ({"has_queues": False}, "DATA_LACKS_QUEUES"),
        ({"last_at": DAY + timedelta(days=41)}, "DATA_TOO_SHORT"),
    ],
)
def test_history_without_a_kind_of_figure_is_reported(changes: Mapping[str, object], code: str) -> None:
    (found,) = missing_in_history([replace(FULL, **changes), replace(FULL, structure="APP2")])  # type: ignore[arg-type]
    assert found.code == code
    assert found.message.startswith("SQ03: ")
    assert "APP1" in found.message
    assert "APP2" not in found.message


def test_empty_history_is_reported() -> None:
    assert [each.code for each in missing_in_history([])] == ["DATA_LACKS_STRUCTURE_STATISTICS"]


def test_long_lists_of_structures_are_shortened() -> None:
    lacking = [replace(FULL, structure=f"APP{number}", has_limits=False) for number in range(9)]
    (found,) = missing_in_history(lacking)
    assert "APP4 and 4 more" in found.message
