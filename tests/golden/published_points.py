"""The published sizes as sizing points, from the figures that the golden tests enter again."""

from __future__ import annotations

from fractions import Fraction

from planner_core.names import Role
from planner_core.sizing.sizing_points import SizingPoint
from planner_core.units import GIB, KIB, MIB, ceil_div
from tests.golden.test_table_1_administrative_structure import TABLE_1
from tests.golden.test_table_2_application_structures import MESSAGE_KB, TABLE_2
from tests.golden.test_z16_admin_charts import CHART_CFCC_21_TO_24, CHART_CFCC_25
from tests.golden.test_z16_application_chart import CHART
from tests.golden.test_z16_capacity_of_4_gb import CAPACITY_OF_4_GB

READING_OF_CHART = Fraction(2, 100)
READING_OF_ADMIN_CHARTS = Fraction(14, 100)
"""In MiB, in addition to half a MB."""

# The z16 report rounds to 2 or 3 digits, the last one mostly to 5.
LAST_DIGIT = {
    1164: 100_000,
    2048: 10_000,
    4096: 10_000,
    8192: 10_000,
    16384: 1_000,
    32768: 10_000,
    64512: 1_000,
}
LAST_DIGIT_TO_5 = {**LAST_DIGIT, 2048: 50_000, 4096: 50_000, 16384: 5_000, 64512: 5_000}


def elements_of(message_bytes: int) -> int:
    """Return the elements of a message: 256 bytes each, with a header of 372 bytes."""
    return ceil_div(message_bytes + 372, 256)


def point(
    level: int,
    role: Role,
    ratio: int,
    size_bytes: int,
    entries: int,
    *,
    between: tuple[Fraction | int, Fraction | int] | None = None,
    count_step: int | None = None,
) -> SizingPoint:
    """Return a structure with SIZE = INITSIZE, and the bounds of its unrounded size [bytes]."""
    return SizingPoint(
        cfcc_level=level,
        structure_type=role,
        entry_ratio=1,
        element_ratio=ratio,
        size_bytes=size_bytes,
        initsize_bytes=size_bytes,
        entries=entries,
        elements=entries * ratio,
        origin="published",
        unrounded_from_bytes=None if between is None else int(between[0]),
        unrounded_to_bytes=None if between is None else int(between[1]),
        count_step=count_step,
    )


def bundles(messages: int, message_bytes: int) -> int:
    """Return the entries, each with six elements, that hold messages of one size."""
    return max(messages, ceil_div(messages * elements_of(message_bytes), 6))


def table_1() -> list[SizingPoint]:
    """Return Table 1: 1000 entries with 2000 elements for each queue manager."""
    return [point(14, "admin", 2, kb * KIB, 1000 * managers) for managers, kb in TABLE_1]


def table_2() -> list[SizingPoint]:
    """Return the 28 cells of Table 2, rounded to the nearest MB."""
    return [
        point(
            14,
            "application",
            6,
            mb * MIB,
            bundles(messages, kb * KIB),
            between=(mb * MIB - MIB // 2, mb * MIB + MIB // 2),
        )
        for messages, row in TABLE_2.items()
        for kb, mb in zip(MESSAGE_KB, row, strict=True)
    ]


def four_gb(steps: dict[int, int]) -> list[SizingPoint]:
    """Return the seven rows of the 4 GB table; the number of messages is rounded, not the size."""
    return [
        point(
            25,
            "application",
            6,
            4 * GIB,
            bundles(messages, message_bytes),
            between=(4 * GIB - 4096, 4 * GIB),
            count_step=ceil_div(steps[message_bytes] * max(6, elements_of(message_bytes)), 6),
        )
        for message_bytes, messages in CAPACITY_OF_4_GB
    ]


def application_chart() -> list[SizingPoint]:
    """Return the points of the chart for CFCC 25, read off within 2 %, or half a MB if that is more."""
    found = []
    for messages, message_bytes, mb in CHART:
        within = max(Fraction(1, 2), READING_OF_CHART * mb) * MIB
        found.append(
            point(
                25,
                "application",
                6,
                mb * MIB,
                bundles(messages, message_bytes),
                between=(mb * MIB - within, mb * MIB + within),
            )
        )
    return found


def admin_chart(level: int) -> list[SizingPoint]:
    """Return the chart of CSQ_ADMIN for a CFCC level, 24 or 25."""
    within = (Fraction(1, 2) + READING_OF_ADMIN_CHARTS) * MIB
    chart = CHART_CFCC_25 if level == 25 else CHART_CFCC_21_TO_24
    return [
        point(level, "admin", 2, mib * MIB, 1000 * managers, between=(mib * MIB - within, mib * MIB + within))
        for managers, mib in enumerate(chart, start=1)
    ]
