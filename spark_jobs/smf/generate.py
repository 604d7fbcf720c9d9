"""A simulated dump of any size, in which 60 % of the bytes are WQ, 20 % QQST, 10 % 115-2, and 10 % others.

Equal seeds give equal dumps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from struct import Struct
from typing import Any

import numpy as np

from spark_jobs.smf.careful import RDW
from spark_jobs.smf.encode import (
    Framing,
    Header,
    framed,
    mq_record,
    packed_date,
    plain_record,
    stck,
    unix_us,
)
from spark_jobs.smf.layouts import Layout, layout

FIRST_INTERVAL = datetime(2026, 1, 5, tzinfo=UTC)
INTERVAL = timedelta(minutes=5)
UTC_OFFSET_MINUTES = -300
GROUP = "SQ03"
MANAGERS = (("SYSA", "MQ01"), ("SYSA", "MQ02"), ("SYSB", "MQ03"), ("SYSB", "MQ04"))
STRUCTURES = ("APPLICATION1", "APPLICATION2", "PAYMENTS", "ORDERS", "EVENTS", "BATCH")
QUEUES_A_STRUCTURE = 12
QUEUES_A_RECORD = 47
QUEUES_A_TASK = 10
OPEN_US = 200_000_000
"""The time between the opening of a task's queues and the writing of its record."""
SHARE = {"115-2": 0.10, "115-216": 0.20, "116": 0.60, "other": 0.10}

_U4, _U8 = Struct(">I"), Struct(">Q")


def generate_dump(
    path: str | Path,
    size_bytes: int,
    seed: int,
    *,
    interval: timedelta = INTERVAL,
    begin: datetime = FIRST_INTERVAL,
) -> None:
    """Write a dump of about size_bytes with intervals of this length, with records spanned as in a data set of 27,998-byte blocks."""
    with Path(path).open("wb") as file:
        written = 0
        block: list[bytes] = []
        for record in _records(seed, interval, begin):
            block.append(record)
            written += len(record)
            if len(block) >= 1000 or written >= size_bytes:  # noqa: PLR2004
                file.writelines(framed(block, Framing()))
                block = []
            if written >= size_bytes:
                break
        file.writelines(framed([plain_record(3, Header(begin))], Framing()))


def _records(seed: int, interval: timedelta, begin: datetime) -> Iterator[bytes]:
    """Yield records in the order of time, without end."""
    random = np.random.default_rng(seed)
    start = Header(begin, utc_offset_minutes=UTC_OFFSET_MINUTES)
    yield plain_record(2, start)
    # Records are encoded once and then only changed: encoding each one would be too slow for gigabytes.
    templates = [_Templates(system, manager, random) for system, manager in MANAGERS]
    number = 0
    end = begin
    while True:
        end += interval
        for manager, template in enumerate(templates):
            for record in template.interval(random):
                number += 1
                hundredths = timedelta(milliseconds=10 * (number % 6000) + 100 * manager)
                record.stamp(end + hundredths, number, interval)
                # Return a copy, because the template is changed for the next record.
                yield bytes(record.data)


class _Template:
    """A record with the positions of the values that change from one interval to the next."""

    def __init__(
        self, kind: str, data: bytes, *, varied: Sequence[int], clocks: Sequence[tuple[int, int]] = ()
    ) -> None:
        self.kind = kind
        self.data = bytearray(data)
        self._bytes = np.frombuffer(self.data, dtype=np.uint8)
        self._varied = np.array(varied, dtype=np.int64)
        """Positions of low-order bytes of numbers."""
        self._clocks = list(clocks)
        """Clock values other than the product section's: their positions, and the microseconds by which they precede
        it."""
        self._product = int.from_bytes(data[28:32], "big") if kind != "other" else 0

    def vary(self, random: np.random.Generator) -> None:
        """Change the numbers in the record."""
        if len(self._varied):
            self._bytes[self._varied] = random.integers(0, 256, len(self._varied), dtype=np.uint8)

    def stamp(self, written: datetime, number: int, interval: timedelta) -> None:
        """Change the times and, in accounting records, the task."""
        local = written + timedelta(minutes=UTC_OFFSET_MINUTES)
        midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
        self.data[6:10] = _U4.pack((local - midnight) // timedelta(milliseconds=10))
        self.data[10:14] = packed_date(local)
        if not self._product:
            return
        clock = stck(unix_us(written))
        at = self._product
        self.data[at + 16 : at + 24] = _U8.pack(clock)
        if self.kind.startswith("115"):
            length = interval // timedelta(microseconds=1)
            begin = unix_us(written) - length + UTC_OFFSET_MINUTES * 60_000_000
            self.data[at + 36 : at + 52] = _U8.pack(stck(begin)) + _U8.pack(length)
        for place, before_us in self._clocks:
            self.data[place : place + 8] = _U8.pack(stck(unix_us(written) - before_us + number % 1000))


class _Templates:
    """The records that one queue manager writes in an interval."""

    def __init__(self, system: str, manager: str, random: np.random.Generator) -> None:
        header = Header(
            FIRST_INTERVAL,
            system_id=system,
            queue_manager=manager,
            release="946",
            qsg=GROUP,
            utc_offset_minutes=UTC_OFFSET_MINUTES,
        )
        self._by_kind = {
            "115-2": [_statistics(header, random)],
            "115-216": _queue_statistics(header, random),
            "116": _accounting(header, random),
            "other": _others(header, random),
        }
        self._due = dict.fromkeys(SHARE, 0.0)

    def interval(self, random: np.random.Generator) -> Iterator[_Template]:
        """Yield the records of an interval: every queue once, and enough others to keep the shares by kind."""
        total = sum(len(template.data) for template in self._by_kind["115-216"]) / SHARE["115-216"]
        for kind, share in SHARE.items():
            self._due[kind] += total * share
            templates = self._by_kind[kind]
            number = 0
            while self._due[kind] > 0:
                template = templates[number % len(templates)]
                template.vary(random)
                yield template
                self._due[kind] -= len(template.data)
                number += 1


def _statistics(header: Header, random: np.random.Generator) -> _Template:
    structures = ("CSQ_ADMIN", "CSQSYSAPPL", *STRUCTURES)
    rows: dict[str, list[dict[str, Any]]] = {
        "qest": [
            {
                "structure": name,
                "structure_number": number,
                "ixllste_calls": int(random.integers(1_000, 100_000)),
                "ixllstm_calls": int(random.integers(100, 10_000)),
                "ixllste_us": int(random.integers(10_000, 10_000_000)),
                "ixllstm_us": int(random.integers(10_000, 1_000_000)),
                "entries_in_use_max": int(random.integers(256, 100_000)),
                "elements_in_use_max": int(random.integers(512, 500_000)),
            }
            for number, name in enumerate(structures)
        ],
        "qesd": [
            {
                "structure": name,
                "structure_number": number + 2,
                "blocks_total": 402,
                "blocks_space_map": 1,
                "blocks_data": 401,
                "blocks_in_use": int(random.integers(0, 256)),
                "blocks_free": int(random.integers(0, 145)),
                "buffers_total": 100,
                "buffer_bytes": 262_144,
            }
            for number, name in enumerate(STRUCTURES)
        ],
    }
    record = mq_record("115-2", header, rows)
    places = _places(record, layout("qesd"), len(STRUCTURES), 8, ("blocks_in_use", "blocks_free"))
    slots = int.from_bytes(record[28 + 8 * 6 : 32 + 8 * 6], "big") + 8
    places += [slots + 64 * slot + offset for slot in range(len(structures)) for offset in (19, 23, 55, 59)]
    return _Template("115-2", record, varied=places)


def _queue_statistics(header: Header, random: np.random.Generator) -> list[_Template]:
    queues: list[tuple[str, str | None]] = [
        (f"{structure}.QUEUE.{number:03}", structure)
        for structure in STRUCTURES
        for number in range(QUEUES_A_STRUCTURE)
    ]
    queues += [(f"PRIVATE.QUEUE.{number:03}", None) for number in range(QUEUES_A_STRUCTURE * 2)]
    made = []
    for begin in range(0, len(queues), QUEUES_A_RECORD):
        part = queues[begin : begin + QUEUES_A_RECORD]
        rows = [
            {
                "queue": queue,
                "is_shared": structure is not None,
                "page_set": None if structure else 4,
                "buffer_pool": None if structure else 3,
                "queue_qsg": GROUP if structure else None,
                "cf_structure": structure,
                "depth_max": int(random.integers(256, 50_000)),
                "puts": int(random.integers(256, 100_000)),
                "put_bytes": int(random.integers(65_536, 10**9)),
                "message_bytes_min": 100,
                "message_bytes_max": int(random.integers(1_000, 63_000)),
                "message_bytes_mean": 900,
                "gets": int(random.integers(256, 100_000)),
                "get_bytes": int(random.integers(65_536, 10**9)),
            }
            for queue, structure in part
        ]
        record = mq_record("115-216", header, {"qqst": rows})
        varied = ("depth", "depth_max", "puts", "put_bytes", "gets", "get_bytes")
        made.append(
            _Template("115-216", record, varied=_places(record, layout("qqst"), len(rows), 1, varied))
        )
    return made


def _accounting(header: Header, random: np.random.Generator) -> list[_Template]:
    made = []
    for task in range(16):
        rows = []
        for number in range(QUEUES_A_TASK):
            structure = STRUCTURES[(task + number) % len(STRUCTURES)] if number % 2 else None
            queue = f"{structure or 'PRIVATE'}.QUEUE.{number:03}"
            rows.append(
                {
                    "connection_type": 2,
                    "connection_name": f"JOB{task:05}",
                    "user_id": "MQUSER",
                    "section_version": 9,
                    "correlation": random.bytes(16).hex(),
                    "object_name": queue,
                    "queue": queue,
                    "opened_at": FIRST_INTERVAL,
                    "queue_type": "LOCAL",
                    "disposition": "SHARED" if structure else "QMGR",
                    "cf_structure": structure,
                    "put_calls": int(random.integers(256, 10_000)),
                    "puts": int(random.integers(256, 10_000)),
                    "put_bytes": int(random.integers(65_536, 10**8)),
                    "put_bytes_min": 100,
                    "put_bytes_max": int(random.integers(1_000, 63_000)),
                    "gets": int(random.integers(256, 10_000)),
                    "get_bytes": int(random.integers(65_536, 10**8)),
                    "depth_max": int(random.integers(256, 5_000)),
                }
            )
        kind, triplet = ("116-1", 3) if task % 2 else ("116-2", 2)
        record = mq_record(kind, header, {"wq": rows})
        varied = ("correlation", "put_calls", "puts", "put_bytes", "gets", "get_bytes", "depth_max")
        section = layout("wq")
        first = int.from_bytes(record[28 + 8 * triplet : 32 + 8 * triplet], "big")
        clocks = [(first + section.row_bytes * number + 128, OPEN_US) for number in range(len(rows))]
        if kind == "116-1":
            task_at = int.from_bytes(record[28 + 16 : 32 + 16], "big")
            clocks += [(task_at + 664, INTERVAL // timedelta(microseconds=1)), (task_at + 672, 1000)]
        places = _places(record, section, len(rows), triplet, varied)
        made.append(_Template(kind, record, varied=places, clocks=clocks))
    return made


def _others(header: Header, random: np.random.Generator) -> list[_Template]:
    """Return records that cfplan does not read: other records of MQ, and records of jobs, data sets and security."""
    made = [_Template("115-1", mq_record("115-1", header), varied=())]
    for smf_type, size in ((30, 1600), (42, 700), (80, 400), (92, 300), (14, 360)):
        body = Struct(">H").pack(RDW) + random.bytes(size)
        made.append(_Template("other", plain_record(smf_type, header, subtype=1, body=body), varied=()))
    return made


def _places(record: bytes, section: Layout, count: int, triplet: int, columns: Sequence[str]) -> list[int]:
    """Return the positions of the low-order bytes of some columns in a record."""
    at: Mapping[str, int] = {field.column: field.end - 1 for field in section.fields}
    first = int.from_bytes(record[28 + 8 * triplet : 32 + 8 * triplet], "big")
    length = int.from_bytes(record[32 + 8 * triplet : 34 + 8 * triplet], "big")
    return [first + length * number + at[column] for number in range(count) for column in columns]
