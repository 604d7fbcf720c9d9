"""A day of the site as SMF records: 115-2 and 115-216 of every queue manager, 74-4 of every system."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner_core.simulated import QSG, SYSPLEX
from planner_core.units import KIB
from spark_jobs.simulate.days import SPACE_MAP_BLOCKS, Day, QueueDay, StructureDay
from spark_jobs.simulate.records import Records, mq_records, mq_section, rmf_records, rmf_section
from spark_jobs.simulate.site import BLOCK_BYTES, FACILITY_BYTES, RELEASE, UTC_OFFSET_MINUTES, Site
from spark_jobs.simulate.timeline import Allocation, Timeline
from spark_jobs.smf.encode import Framing, Header, framed, plain_record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

QQST_BYTES: Final = 552
"""The length of QQST before the OpenTelemetry fields were added."""
QUEUES_A_RECORD: Final = 50
BUFFERS, BUFFER_BYTES = 100, 256 * KIB
LIST_HEADERS: Final = 512
MINUTE_US: Final = 60_000_000
LONGEST_RMF_MINUTES: Final = 60
"""The longest RMF interval: if MQ's are longer, RMF records cover the last hour."""
IXLLSTE_US, IXLLSTM_US, SYNC_US, ASYNC_US = 12, 20, 9, 95
"""Usual service times of a request."""
SYNC_SHARE: Final = 0.9
WRITTEN_AFTER: Final = dt.timedelta(milliseconds=150)
APART: Final = dt.timedelta(milliseconds=70)
"""Time between the records of two queue managers at the end of an interval."""

Member = tuple[StructureDay, Allocation, str]
"""A structure's instance in a coupling facility, and its state: active, new or old."""


class DumpMaker:
    """An encoder that converts days to records, one after another."""

    def __init__(self, site: Site, timeline: Timeline) -> None:
        """Store the site and its timeline."""
        self._site = site
        self._timeline = timeline
        self._length = dt.timedelta(minutes=site.options.interval_minutes)
        self._us = site.options.interval_minutes * MINUTE_US
        self._rmf_us = min(self._us, LONGEST_RMF_MINUTES * MINUTE_US)

    def framed_days(self, days: list[Day]) -> Iterator[bytes]:
        """Yield days as the blocks of a dump, with its first and last record."""
        first = self._header(self._ends(days[0])[0], "    ", self._site.systems[0])
        last = self._header(self._ends(days[-1])[-1], "    ", self._site.systems[0])
        yield from framed(self._records(days, first, last), Framing())

    def _records(self, days: list[Day], first: Header, last: Header) -> Iterator[bytes]:
        yield plain_record(2, first)
        for day in days:
            yield from self.day(day)
        yield plain_record(3, last)

    def day(self, day: Day) -> Iterator[bytes]:
        """Yield the records of a day in the order of time."""
        ends = self._ends(day)
        writers = [iter(records) for records in self._by_manager(day, ends)]
        rmf = [
            iter(self._facility_records(day, facility, ends))
            for facility in range(len(self._site.facilities))
        ]
        for _ in ends:
            for writer in writers:
                yield from islice(writer, 1)
            for each in rmf:
                yield from islice(each, len(self._site.systems))

    def _ends(self, day: Day) -> list[dt.datetime]:
        midnight = dt.datetime.combine(day.date, dt.time(), dt.UTC)
        return [midnight + (number + 1) * self._length for number in range(self._site.options.intervals)]

    def _header(self, end: dt.datetime, manager: str, system: str, *, number: int = 0) -> Header:
        return Header(
            written_at=end + WRITTEN_AFTER + number * APART,
            system_id=system,
            queue_manager=manager,
            release=RELEASE,
            utc_offset_minutes=UTC_OFFSET_MINUTES,
            interval_end=end,
            interval_us=self._us,
        )

    # ---- MQ ----------------------------------------------------------------------------------------------------------

    def _by_manager(self, day: Day, ends: list[dt.datetime]) -> Iterator[Records]:
        for place, number in enumerate(day.managers_up):
            manager = self._site.managers[number]
            header = self._header(ends[0], manager.name, manager.system_id, number=number)
            found = [self._statistics(day, header, place, number)]
            mine = [
                (one, queue)
                for one in day.structures
                for queue in one.queues
                if number in queue.model.managers
            ]
            found += [
                self._queues(day, header, number, mine[begin : begin + QUEUES_A_RECORD])
                for begin in range(0, len(mine), QUEUES_A_RECORD)
            ]
            written = [end + WRITTEN_AFTER + number * APART for end in ends]
            for records in found:
                records.stamp_written(written, utc_offset_minutes=UTC_OFFSET_MINUTES)
                records.stamp_mq(ends, interval_us=self._us, utc_offset_minutes=UTC_OFFSET_MINUTES)
            yield from found

    def _statistics(self, day: Day, header: Header, place: int, number: int) -> Records:
        slots: list[dict[str, Any]] = [
            {"structure": one.model.name, "structure_number": one.model.number} for one in day.structures
        ]
        offloading = [one for one in day.structures if one.model.offload]
        data_sets: list[dict[str, Any]] = [
            {
                "structure": one.model.name,
                "structure_number": one.model.number,
                "blocks_total": one.model.smds_blocks + SPACE_MAP_BLOCKS,
                "blocks_space_map": SPACE_MAP_BLOCKS,
                "blocks_data": one.model.smds_blocks,
                "buffer_bytes": BUFFER_BYTES,
                "buffers_total": BUFFERS,
                "buffers_free_min": BUFFERS // 2,
                "ci_bytes": 4 * KIB,
            }
            for one in offloading
        ]
        rows = {"qest": slots} | ({"qesd": data_sets} if data_sets else {})
        records = mq_records("115-2", header, rows, self._site.options.intervals)
        put = mq_section(records, "qest", 6, len(slots)).put
        of_all, up = day.structures, len(day.managers_up)
        calls = np.array([_part(one.calls, place, up) for one in of_all])
        put("ixllste_calls", calls)
        put("ixllstm_calls", calls // 10)
        put("ixllste_us", calls * IXLLSTE_US)
        put("ixllstm_us", calls // 10 * IXLLSTM_US)
        put("structure_full_count", np.array([_part(one.full, place, up) for one in of_all]))
        put("entries_in_use_max", np.array([_seen(one.entries, one, number) for one in of_all]))
        put("elements_in_use_max", np.array([_seen(one.elements, one, number) for one in of_all]))
        if offloading:
            self._data_sets(records, offloading)
        return records

    def _data_sets(self, records: Records, offloading: list[StructureDay]) -> None:
        put = mq_section(records, "qesd", 8, len(offloading)).put
        blocks = np.array([one.blocks for one in offloading])
        all_blocks = np.array([one.model.smds_blocks + SPACE_MAP_BLOCKS for one in offloading])[:, None]
        messages = np.array([one.offloaded for one in offloading]) // len(self._site.managers)
        pages = blocks * (BLOCK_BYTES // (4 * KIB))
        put("blocks_in_use", blocks * 3 // 4)
        put("blocks_free", all_blocks - blocks * 3 // 4)
        put("blocks_in_use_max", blocks)
        put("blocks_free_min", all_blocks - blocks)
        put("messages", messages * 3 // 4)
        put("messages_max", messages)
        for column in ("allocate_requests", "free_requests", "write_requests", "read_requests"):
            put(column, messages)
        for column in ("pages_allocated", "pages_freed", "write_pages", "read_pages"):
            put(column, pages)

    def _queues(
        self, day: Day, header: Header, number: int, mine: list[tuple[StructureDay, QueueDay]]
    ) -> Records:
        rows: list[dict[str, Any]] = [
            {
                "queue": queue.model.name,
                "is_shared": True,
                "queue_qsg": QSG,
                "cf_structure": one.model.name,
                "open_input_count": 1,
                "open_output_count": 1,
                "message_bytes_min": min(size for size, _ in queue.model.sizes),
                "message_bytes_max": max(size for size, _ in queue.model.sizes),
                "message_bytes_mean": round(queue.model.mean_bytes),
            }
            for one, queue in mine
        ]
        count = self._site.options.intervals
        records = mq_records("115-216", header, {"qqst": rows}, count, lengths={"qqst": QQST_BYTES})
        put = mq_section(records, "qqst", 1, len(rows)).put
        users = [[user for user in queue.model.managers if user in day.managers_up] for _, queue in mine]
        puts = np.array(
            [_part(queue.puts, of.index(number), len(of)) for (_, queue), of in zip(mine, users, strict=True)]
        )
        sizes = np.array([queue.model.mean_bytes for _, queue in mine])[:, None]
        is_persistent = np.array([queue.model.is_persistent for _, queue in mine])[:, None]
        put_bytes = np.rint(puts * sizes).astype(np.int64)
        put("depth", np.array([queue.depth_end for _, queue in mine]))
        put("depth_max", np.array([queue.depth_max for _, queue in mine]))
        for kind in ("puts", "gets"):
            put(kind, puts)
            put(f"persistent_{kind}", puts * is_persistent)
            put(f"nonpersistent_{kind}", puts * ~is_persistent)
            put(f"{kind[:-1]}_bytes", put_bytes)
        return records

    # ---- RMF ---------------------------------------------------------------------------------------------------------

    def _facility_records(self, day: Day, facility: int, ends: list[dt.datetime]) -> Iterator[bytes]:
        """Yield a record for each system and interval; the first system is the sysplex's master gatherer."""
        members = [self._members(day, facility, interval) for interval in range(len(ends))]
        keys = [
            tuple((one.model.number, of.allocated_at, state) for one, of, state in found) for found in members
        ]
        # Intervals with the same instances have records of one shape, which are made at once.
        for _, group in groupby(range(len(ends)), key=keys.__getitem__):
            chosen = list(group)
            stretch = slice(chosen[0], chosen[-1] + 1)
            made = [
                self._of_system(place, facility, members[stretch], ends[stretch], stretch)
                for place in range(len(self._site.systems))
            ]
            for together in zip(*made, strict=True):
                yield from together

    def _members(self, day: Day, facility: int, interval: int) -> list[Member]:
        found: list[Member] = []
        for one in day.structures:
            now = one.allocations[interval]
            old = self._timeline.in_rebuild(
                one.model.number, day.number * self._site.options.intervals + interval
            )
            if now.facility == facility:
                found.append((one, now, "new" if old else "active"))
            if old and old.facility == facility:
                found.append((one, old, "old"))
        return found

    def _of_system(
        self,
        place: int,
        facility: int,
        members: list[list[Member]],
        ends: list[dt.datetime],
        stretch: slice,
    ) -> Records:
        system = self._site.systems[place]
        is_master = place == 0
        rows: list[dict[str, Any]] = [
            {
                "xcf_structure": one.model.xcf_structure,
                "allocated_at": of.allocated_at,
                "structure_type": "SERIALIZED LIST",
                "is_connected": True,
                # Only the master gatherer writes structure and storage sections.
                "policy_size_bytes": of.size_bytes if is_master else None,
                "is_active_instance": state != "old",
                "is_new_instance": state == "new",
                "is_old_instance": state == "old",
                "is_in_rebuild": state != "active",
                "list_headers": LIST_HEADERS,
            }
            for one, of, state in members[0]
        ]
        name = self._site.facilities[facility].name
        tables: dict[str, list[Any]] = {
            "r744_cf": [
                {
                    "sysplex": SYSPLEX,
                    "system_name": system,
                    "coupling_facility": name,
                    "cf_system_name": system,
                    "is_connected": True,
                }
            ],
            "r744_structure": rows,
        }
        if is_master:
            tables["r744_storage"] = [{"total_bytes": FACILITY_BYTES}]
        header = self._header(ends[0], "    ", system, number=len(self._site.managers))
        header = replace(header, interval_us=self._rmf_us)
        records = rmf_records(header, tables, len(ends))
        written = [end + WRITTEN_AFTER + len(self._site.managers) * APART for end in ends]
        records.stamp_written(written, utc_offset_minutes=UTC_OFFSET_MINUTES)
        records.stamp_rmf(ends)
        if rows:
            self._structures(records, place, members, stretch)
        if is_master:
            taken = sum(_sizes(member, members, number, stretch) for number, member in enumerate(members[0]))
            rmf_section(records, "r744_storage", 2).put("free_bytes", np.asarray(FACILITY_BYTES - taken))
        return records

    def _structures(self, records: Records, place: int, members: list[list[Member]], stretch: slice) -> None:
        by_row = list(zip(*members, strict=True))
        allocations = [[of for _, of, _ in row] for row in by_row]
        ones = [row[0][0] for row in by_row]

        def of_allocation(name: str) -> Whole:
            return np.array([[getattr(of, name) for of in row] for row in allocations], dtype=np.int64)

        entries, elements = of_allocation("entries_total"), of_allocation("elements_total")
        put = rmf_section(records, "r744_sreq", 4).put
        sizes = np.array(
            [_sizes(member, members, number, stretch) for number, member in enumerate(members[0])]
        )
        put("size_bytes", sizes)
        put("size_max_bytes", np.maximum(of_allocation("size_max_bytes"), sizes))
        put("size_min_bytes", of_allocation("size_bytes") // 2)
        put("entries_total", entries)
        put("elements_total", elements)
        # During a rebuild, both instances have totals of their own.
        put("entries_in_use", np.minimum(np.array([one.entries_end[stretch] for one in ones]), entries))
        put("elements_in_use", np.minimum(np.array([one.elements_end[stretch] for one in ones]), elements))
        calls = np.array([_part(one.calls[stretch], place, len(self._site.systems)) for one in ones])
        calls = calls * self._rmf_us // self._us
        sync = np.floor(calls * SYNC_SHARE).astype(np.int64)
        put("total_requests", calls)
        put("sync_requests", sync)
        put("sync_us", sync * SYNC_US)
        put("async_requests", calls - sync)
        put("async_us", (calls - sync) * ASYNC_US)
        if place == 0:
            rmf_section(records, "r744_qsds", 3).put("policy_size_bytes", of_allocation("size_bytes"))


def _sizes(member: Member, members: list[list[Member]], number: int, stretch: slice) -> Whole:
    """Return the size of an instance by interval: the structure's size on that day, or the old instance's own size."""
    one, _, state = member
    if state == "old":
        return np.array([row[number][1].size_bytes for row in members], dtype=np.int64)
    found: Whole = one.size_bytes[stretch]
    return found


def _part(values: Whole, place: int, of: int) -> Whole:
    """Return one of several equal parts of counts; the first part includes the remainder."""
    # The parts add up to the whole, because readers add the counts of queue managers and systems.
    found: Whole = values // of + (values % of if place == 0 else 0)
    return found


def _seen(values: Whole, one: StructureDay, manager: int) -> Whole:
    found: Whole = np.floor(values * one.seen[manager]).astype(np.int64)
    return found
