"""The message mix of a structure from its puts, and the header size if the elements in use determine it."""

from __future__ import annotations

import datetime as dt
import json
import random
from dataclasses import replace

import pytest

from planner_core.contracts.files import plain
from planner_core.contracts.fits import QueueMix
from spark_jobs.fit import QueueDay, StructureDay, fit_mix

FIRST = dt.date(2026, 3, 2)


def day(number: int) -> dt.date:
    return FIRST + dt.timedelta(days=number)


def put(queue: str, number: int, puts: int, mean: int, *, largest: int | None = None) -> QueueDay:
    return QueueDay("SQ03", "APP1", queue, day(number), puts, puts * mean, mean, largest or mean, puts // 2)


def day_with_messages(number: int, messages: int, sizes: list[int], header: int) -> StructureDay:
    """Return a day with messages of these sizes in equal parts."""
    elements = sum(-(-(size + header) // 256) for size in sizes) * messages // len(sizes)
    return StructureDay("SQ03", "APP1", day(number), messages, elements)


def test_mix_summarizes_the_message_sizes_of_the_puts() -> None:
    rows = [put("A", 0, 900, 1000), put("B", 0, 80, 5000), put("C", 1, 20, 60_000)]
    (mix,) = fit_mix(rows)
    assert mix.puts == 1000
    assert mix.days == 2
    assert mix.mean_bytes == 0.9 * 1000 + 0.08 * 5000 + 0.02 * 60_000
    assert (mix.p50_bytes, mix.p95_bytes) == (1000, 5000)
    assert (mix.smallest_bytes, mix.largest_bytes) == (1000, 60_000)
    assert mix.persistent_share == 0.5
    assert mix.queues == (QueueMix("C", 20, 60_000.0), QueueMix("A", 900, 1000.0), QueueMix("B", 80, 5000.0))
    shown = json.loads(json.dumps(plain(mix)))
    assert shown["queues"][0] == {"queue": "C", "puts": 20, "mean_bytes": 60000.0}
    assert shown["header_bytes"] is None


def test_every_structure_except_csq_admin_has_a_mix() -> None:
    rows = [
        put("A", 0, 10, 100),
        QueueDay("SQ04", "APP1", "A", day(0), 5, 500),
        QueueDay("SQ03", "CSQ_ADMIN", "A", day(0), 5, 500),
        QueueDay("SQ03", "APP2", "A", day(0), 0, 0),
    ]
    assert [(mix.qsg, mix.structure) for mix in fit_mix(rows)] == [("SQ03", "APP1"), ("SQ04", "APP1")]
    unknown = fit_mix([QueueDay("SQ04", "APP1", "A", day(0), 5, 500)])[0]
    assert unknown.persistent_share is unknown.smallest_bytes is unknown.largest_bytes is None


@pytest.mark.parametrize("header", [300, 372, 500])
def test_header_is_determined_by_days_with_different_sizes(header: int) -> None:
    chance = random.Random(header)
    sizes = [chance.randrange(200, 20_000) for _ in range(60)]
    rows = [put("A", number, 5000, size) for number, size in enumerate(sizes)]
    (mix,) = fit_mix(
        rows, [day_with_messages(number, 4000, [size], header) for number, size in enumerate(sizes)]
    )
    assert mix.header_bytes is not None, mix.header_note
    assert mix.header_bytes.low <= header <= mix.header_bytes.high
    assert mix.header_bytes.high - mix.header_bytes.low <= 64
    assert mix.header_note.startswith("Elements in use on 60 of 60 days agree on a header")


def test_header_is_known_only_within_256_bytes_if_all_messages_have_one_size() -> None:
    rows = [put("A", number, 5000, 1000) for number in range(30)]
    (mix,) = fit_mix(rows, [day_with_messages(number, 4000, [1000], 372) for number in range(30)])
    assert mix.header_bytes is None
    assert mix.header_note == (
        "The header cannot be determined: it is between 280 and 536 bytes. Messages of other sizes would narrow the range."
    )


def test_header_cannot_be_determined_from_offloaded_messages() -> None:
    chance = random.Random(1)
    sizes = [chance.randrange(5000, 20_000) for _ in range(40)]
    rows = [put("A", number, 5000, size) for number, size in enumerate(sizes)]
    two_each = [StructureDay("SQ03", "APP1", day(number), 4000, 8000) for number in range(40)]
    (mix,) = fit_mix(rows, two_each)
    assert mix.header_bytes is None
    assert "Messages were offloaded" in mix.header_note


def test_header_ignores_days_with_too_large_or_too_few_messages() -> None:
    rows = [put("A", number, 5000, 1000, largest=64_513) for number in range(30)]
    (mix,) = fit_mix(rows, [day_with_messages(number, 4000, [1000], 372) for number in range(30)])
    assert mix.header_note.startswith("The header cannot be determined: only 0 days")
    rows = [put("A", number, 5000, 1000) for number in range(30)]
    (mix,) = fit_mix(rows, [day_with_messages(number, 499, [1000], 372) for number in range(30)])
    assert mix.header_note.startswith("The header cannot be determined: only 0 days")


def test_header_tolerates_a_few_deviating_days() -> None:
    chance = random.Random(9)
    sizes = [chance.randrange(200, 20_000) for _ in range(60)]
    rows = [put("A", number, 5000, size) for number, size in enumerate(sizes)]
    days = [day_with_messages(number, 4000, [size], 372) for number, size in enumerate(sizes)]
    for number in (5, 17, 33, 50):
        days[number] = StructureDay("SQ03", "APP1", day(number), 4000, 8000)
    (mix,) = fit_mix(rows, days)
    assert mix.header_bytes is not None
    assert mix.header_bytes.low <= 372 <= mix.header_bytes.high


def test_header_comes_from_elements_written_if_enough_days_have_them() -> None:
    """The messages in use are those of one queue only, so elements in use would give a wrong header."""
    chance = random.Random(4)
    sizes = [chance.randrange(200, 20_000) for _ in range(60)]
    rows = [put("A", number, 5000, size) for number, size in enumerate(sizes)]
    days = [
        replace(
            StructureDay("SQ03", "APP1", day(number), 4000, 8000),
            entries_written=5000,
            elements_written=day_with_messages(number, 5000, [size], 372).elements_in_use,
        )
        for number, size in enumerate(sizes)
    ]
    (mix,) = fit_mix(rows, days)
    assert mix.header_bytes is not None, mix.header_note
    assert mix.header_bytes.low <= 372 <= mix.header_bytes.high
    assert mix.header_note.startswith("Elements written on 60 of 60 days")
    total = sum(day.elements_written or 0 for day in days)
    assert mix.elements_per_message == round(total / 300_000, 3)
    assert fit_mix(rows, days[:9])[0].header_note.startswith("The header cannot be determined: only 9 days")


def test_elements_per_message_need_both_counts() -> None:
    rows = [put("A", 0, 10, 1000)]
    none = StructureDay("SQ03", "APP1", day(0), 1, 1, entries_written=5)
    one = StructureDay("SQ03", "APP1", day(1), None, None, entries_written=4, elements_written=22)
    assert fit_mix(rows, [none])[0].elements_per_message is None
    assert fit_mix(rows, [none, one])[0].elements_per_message == 5.5
