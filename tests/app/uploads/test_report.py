"""The page of a report shows or omits any member that a reader reports, and never fails."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.uploads.amounts import amount
from app.uploads.report import UploadReport, report_view
from app.web.rendering import environment

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
KEYS = (
    "message", "kind", "framing", "driver", "first_interval_end", "last_interval_end", "days", "queues", "bytes", "seconds",
    "structures", "queue_managers", "records", "skipped", "rows", "quarantined", "problems", "passed_over", "conflicts",
    "notes", "findings",
)  # fmt: skip


def page(report: UploadReport) -> str:
    macro = environment().get_template("uploads/_report.html").make_module({"url": lambda path: path})
    return str(macro.report_tables(report))  # type: ignore[attr-defined]


@given(st.dictionaries(st.sampled_from(KEYS), JSON))
def test_report_with_unusual_members_is_shown(part: dict[str, object]) -> None:
    report = report_view({"files": [part]})
    assert report is not None
    assert "Contents of the file" in page(report)


@given(JSON)
def test_invalid_report_is_ignored(value: object) -> None:
    assert report_view({"files": value}) is None or isinstance(value, list)


def test_records_are_sorted_by_number() -> None:
    report = report_view({"files": [{"records": {"116-1": 3, "115-216": 2, "115-2": 1, "odd": 4}}]})
    assert report is not None
    assert [each.type for each in report.records] == ["115-2", "115-216", "116-1", "odd"]
    assert report.records[0].title == "MQ statistics: messages, CF structures, SMDS"


@pytest.mark.parametrize(
    "part",
    [
        {"records": {"74-4": 2}, "findings": []},
        {"records": {"2": 1, "74-4": 5}},  # as older versions counted: skipped ones among them
    ],
)
def test_record_type_with_some_skipped_records_is_listed_as_read_and_as_skipped(
    part: dict[str, object],
) -> None:
    skipped = [{"type": "2", "records": 1, "bytes": 18}, {"type": "74-4", "records": 3, "bytes": 900}]
    report = report_view({"files": [{**part, "skipped": skipped}]})
    assert report is not None
    assert [(each.type, each.records, each.was_read) for each in report.records] == [
        ("74-4", 2, True), ("2", 1, False), ("74-4", 3, False),
    ]  # fmt: skip


def test_replacing_and_superseded_rows_are_reported() -> None:
    counts = {"read": 9, "new": 1, "replacing": 3, "duplicates": 5, "outranked": 4, "conflicts": 0}
    report = report_view({"files": [{"rows": {"queue_usage": counts}}]})
    assert report is not None
    assert (report.rows[0][1].replacing, report.outranked) == (3, 4)
    assert "of the existing rows come from a more trusted source" in page(report)


def test_findings_are_emphasized() -> None:
    found = [{"code": "TIMES_IN_THE_FUTURE", "severity": "warning", "message": "A clock was wrong."}]
    report = report_view({"files": [{"findings": found}]})
    assert report is not None
    assert '<p class="notice warning">A clock was wrong.</p>' in page(report)


def test_only_stored_structures_link_to_their_usage() -> None:
    part = {"structures": [{"qsg": "S#1", "structure": "APP1"}, {"qsg": None, "xcf_structure": "X"}]}
    for is_stored, paths in ((True, ["/usage/S%231/APP1", ""]), (False, ["", ""])):
        report = report_view({"files": [part]}, is_stored=is_stored)
        assert report is not None
        assert [each.href for each in report.structures] == paths


def test_problems_in_a_text_have_lines_and_those_in_a_dump_have_byte_positions() -> None:
    text = report_view(
        {"files": [{"problems": {"count": 3, "first": [{"line": 7, "message": "no number"}]}}]}
    )
    dump = report_view(
        {"files": [{"quarantined": {"count": 1, "first": [{"offset": 12, "length": 5, "reason": "odd"}]}}]}
    )
    assert text is not None
    assert dump is not None
    assert (text.faults[0][0], text.faults_omitted) == ("line 7", 2)
    assert (*dump.faults[0][:2], dump.faults_omitted) == ("byte 12", "5 bytes", 0)


def test_sizes_are_shown_in_a_suitable_unit() -> None:
    assert [amount(value) for value in (0, 1, 1023, 2**20, 3 * 2**29, 2**36)] == [
        "0 bytes", "1 byte", "1023 bytes", "1.0 MiB", "1.50 GiB", "64.0 GiB",
    ]  # fmt: skip
