"""Small dumps, written with the project's encoder: one night of a group, record by record."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from spark_jobs.smf.encode import Framing, Header, dump, mq_record, plain_record, rmf_record
from tests.spark_jobs.history.rows import INTERVAL, MIDNIGHT

MANAGERS = (("SYSA", "CSQ1"), ("SYSB", "CSQ2"))
STRUCTURES = ("APPLICATION1", "APPLICATION2", "CSQ_ADMIN")
OFFSET_MINUTES = 60
GROUPS = ("--qsg", "SYSA:CSQ1=SQ03", "--qsg", "SYSB:CSQ2=SQ03")


def header(system: str, manager: str, number: int, *, qsg: str | None = None) -> Header:
    """Return the header of the records of an interval of 2026-11-20."""
    end = MIDNIGHT + (number + 1) * INTERVAL
    return Header(
        written_at=end + dt.timedelta(milliseconds=30),
        system_id=system,
        queue_manager=manager,
        release="930" if qsg is None else "946",
        qsg=qsg,
        utc_offset_minutes=OFFSET_MINUTES,
        interval_end=end + dt.timedelta(milliseconds=25),
    )


def wq(number: int, queue: str, **values: Any) -> dict[str, Any]:  # noqa: ANN401 - of any column
    """Return a section of a task that used a shared queue."""
    return {
        "queue": queue,
        "object_name": queue,
        "cf_structure": "APPLICATION1",
        "disposition": "SHARED",
        "correlation": f"{number:032X}",
        "opened_at": MIDNIGHT + number * INTERVAL,
        "puts": 10 + number,
        "put_bytes": 10_240 + number,
        "put_bytes_min": 100,
        "put_bytes_max": 5_000,
        "persistent_puts": 5,
        "depth_max": 7,
        "section_version": 8,
        **values,
    }


def chinit(number: int, system: str, manager: str, *groups: str | None) -> list[bytes]:
    """Return records 115-231 of a channel initiator, one for each group; None or an empty name means no group."""
    head = header(system, manager, number)
    return [
        mq_record("115-231", head, {"qcct": [{"chinit_job": f"{manager}CHIN", "chinit_qsg": group}]})
        for group in groups
    ]


def interval(number: int, *, qsg: str | None = None) -> Iterator[bytes]:
    """Return all records of one interval: two queue managers, their tasks, and RMF's of the coupling facility."""
    for manager, (system, name) in enumerate(MANAGERS):
        head = header(system, name, number, qsg=qsg)
        qest = [
            {
                "structure": structure,
                "structure_number": slot,
                "section": slot,
                "ixllste_calls": 100 * number + manager,
                "structure_full_count": number % 3,
                "entries_in_use_max": 1000 + number if slot else 0,
                "elements_in_use_max": 6000 + number if slot else 0,
            }
            for slot, structure in enumerate(STRUCTURES)
        ]
        qesd = [{"structure": "APPLICATION1", "blocks_total": 400, "blocks_in_use_max": number}]
        yield mq_record("115-2", head, {"qest": qest, "qesd": qesd})
        queues = [
            {
                "queue": f"QUEUE.{place}",
                "is_shared": True,
                "queue_qsg": "SQ03",
                "cf_structure": "APPLICATION2",
                "puts": 50 + number,
                "put_bytes": 5000,
                "depth_max": 3,
            }
            for place in range(3)
        ]
        yield mq_record("115-216", head, {"qqst": queues})
        sections = [wq(number, "PAYMENTS.IN"), wq(number, "PRIVATE", cf_structure=None, disposition="QMGR")]
        yield mq_record("116-1", head, {"wq": sections})
        # The continuation names the first queue again: the piece tells the two apart.
        yield mq_record("116-2", head, {"wq": [wq(number, "PAYMENTS.IN", puts=1), wq(number, "ORDERS.IN")]})
        yield plain_record(30, head, subtype=4, body=bytes(300))
    yield from rmf(number)


def rmf(number: int, *, system: str = "SYSA", lacks_statistics: bool = False) -> list[bytes]:
    """Return a record 74-4, broken into pieces."""
    rows = rmf_rows(number, system=system, lacks_statistics=lacks_statistics)
    return rmf_record(header(system, "", number), rows, piece_bytes=1200)


def rmf_rows(
    number: int, *, system: str = "SYSA", lacks_statistics: bool = False
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a record 74-4.

    A system without statistics of the coupling facility writes undefined values for sizes and entries.
    """
    undefined = {
        "entries_in_use": 9, "entries_total": 1, "elements_in_use": 9, "elements_total": 1, "size_bytes": 4096,
        "size_max_bytes": 0, "size_min_bytes": 2**40, "is_duplexed": True,
    }  # fmt: skip
    structures = [
        {
            "xcf_structure": f"SQ03{structure}",
            "structure_type": "SERIALIZED LIST",
            "allocated_at": MIDNIGHT,
            "entries_in_use": 1100 + number,
            "entries_total": 5000,
            "elements_in_use": 6100 + number,
            "elements_total": 30_000,
            "size_bytes": 2**29,
            "size_max_bytes": 2**30,
            "size_min_bytes": 2**28,
            "sync_requests": 500.0 + number,
            "policy_size_bytes": 2**30,
            "is_active_instance": True,
            **(undefined if lacks_statistics else {}),
        }
        for structure in STRUCTURES
    ]
    facility = {"coupling_facility": "CF01", "sysplex": "PLEX1", "system_name": system}
    return {
        "r744_cf": [facility | {"lacks_statistics": lacks_statistics}],
        "r744_storage": [{"total_bytes": 2**36, "free_bytes": 2**35}],
        "r744_structure": structures,
    }


def write(
    path: Path,
    numbers: Sequence[int],
    *,
    qsg: str | None = None,
    framing: Framing | None = None,
    more: Sequence[bytes] = (),
) -> Path:
    """Write a dump of these intervals, with the records that begin and end a dump, and with more records at its end."""
    first = header("SYSA", "", numbers[0])
    records = [plain_record(2, first)]
    for number in numbers:
        records += interval(number, qsg=qsg)
    records += more
    records.append(plain_record(3, first))
    path.write_bytes(dump(records, framing))
    return path
