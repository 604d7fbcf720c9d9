"""Records written in bulk equal, byte for byte, those that the encoder writes one by one."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest

from spark_jobs.simulate.records import Records, mq_records, mq_section, rmf_records, rmf_section
from spark_jobs.smf.encode import Header, mq_record, rmf_record

ENDS = [dt.datetime(2026, 1, 5, hour, tzinfo=dt.UTC) for hour in (0, 7, 23)]
HOUR_US = 3_600_000_000


def header(end: dt.datetime) -> Header:
    """Return the header of a queue manager or system at the end of an hour."""
    return Header(
        end + dt.timedelta(milliseconds=370),
        system_id="SIMA",
        queue_manager="SM01",
        utc_offset_minutes=60,
        interval_end=end,
        interval_us=HOUR_US,
    )


def stamped(records: Records) -> Records:
    """Return the headers of the three hours."""
    records.stamp_written([end + dt.timedelta(milliseconds=370) for end in ENDS], utc_offset_minutes=60)
    return records


def test_structure_statistics_are_written_for_all_intervals() -> None:
    names = ("ONE", "TWO")
    columns = ("ixllste_calls", "ixllste_us", "structure_full_count", "entries_in_use_max")
    figures = np.random.default_rng(1).integers(0, 2**32, (len(columns), 2, 3))
    slots: list[dict[str, Any]] = [
        {"structure": name, "structure_number": number} for number, name in enumerate(names)
    ]
    made = stamped(mq_records("115-2", header(ENDS[0]), {"qest": slots}, 3))
    made.stamp_mq(ENDS, interval_us=HOUR_US, utc_offset_minutes=60)
    section = mq_section(made, "qest", 6, 2)
    for column, values in zip(columns, figures, strict=True):
        section.put(column, values)
    expected = [
        mq_record(
            "115-2",
            header(end),
            {
                "qest": [
                    slot | {name: int(figures[at, row, number]) for at, name in enumerate(columns)}
                    for row, slot in enumerate(slots)
                ]
            },
        )
        for number, end in enumerate(ENDS)
    ]
    assert list(made) == expected


def test_queue_statistics_of_an_older_release_are_written() -> None:
    rows: list[dict[str, Any]] = [
        {"queue": "A.QUEUE", "is_shared": True},
        {"queue": "B.QUEUE", "cf_structure": "ONE"},
    ]
    figures = np.random.default_rng(2).integers(0, 2**62, (2, 3))
    depths = np.array([5, 0, 2**31 - 1])
    made = stamped(mq_records("115-216", header(ENDS[0]), {"qqst": rows}, 3, lengths={"qqst": 552}))
    made.stamp_mq(ENDS, interval_us=HOUR_US, utc_offset_minutes=60)
    section = mq_section(made, "qqst", 1, 2)
    section.put("put_bytes", figures)
    section.put("depth", depths)
    expected = [
        mq_record(
            "115-216",
            header(end),
            {
                "qqst": [
                    row | {"put_bytes": int(figures[place, number]), "depth": int(depths[number])}
                    for place, row in enumerate(rows)
                ]
            },
            lengths={"qqst": 552},
        )
        for number, end in enumerate(ENDS)
    ]
    assert list(made) == expected


def test_coupling_facility_records_are_written_for_all_intervals() -> None:
    facility = {"sysplex": "SIMPLEX", "system_name": "SIMA", "coupling_facility": "SIMCF01"}
    structure: dict[str, Any] = {
        "xcf_structure": "SIM1ONE",
        "allocated_at": ENDS[0],
        "structure_type": "SERIALIZED LIST",
        "policy_size_bytes": 2**30,
    }
    counts = np.array([0, 1, 2**53 - 1])
    sizes = np.array([2**20, 2**30, 2**43])
    tables: dict[str, list[dict[str, Any]]] = {
        "r744_cf": [facility],
        "r744_structure": [structure],
        "r744_storage": [{"total_bytes": 2**40}],
    }
    made = stamped(rmf_records(header(ENDS[0]), tables, 3))
    made.stamp_rmf(ENDS)
    requests = rmf_section(made, "r744_sreq", 4)
    requests.put("sync_requests", counts)
    requests.put("size_bytes", sizes)
    rmf_section(made, "r744_storage", 2).put("free_bytes", sizes)
    expected = [
        rmf_record(
            header(end),
            {
                "r744_cf": [facility],
                "r744_structure": [
                    structure | {"sync_requests": int(counts[number]), "size_bytes": int(sizes[number])}
                ],
                "r744_storage": [{"total_bytes": 2**40, "free_bytes": int(sizes[number])}],
            },
        )[0]
        for number, end in enumerate(ENDS)
    ]
    assert list(made) == expected


@pytest.mark.parametrize("values", [np.array([-1, 0, 0]), np.array([0, 2**32, 0])])
def test_figure_that_does_not_fit_its_field_is_refused(values: np.ndarray) -> None:
    made = mq_records("115-2", header(ENDS[0]), {"qest": [{"structure": "ONE"}]}, 3)
    with pytest.raises(ValueError, match="does not fit"):
        mq_section(made, "qest", 6, 1).put("entries_in_use_max", values)
