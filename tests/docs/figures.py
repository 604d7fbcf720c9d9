"""Calculate the tables of docs/reference/figures.md; `python -m tests.docs.figures` prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction

from planner_core import tables
from planner_core.sizing import structure_size
from planner_core.sizing.admin_structure import admin_need
from planner_core.sizing.offload import reserve_for
from planner_core.sizing.sizing_points import fit_points
from planner_core.sizing.structure_size import elements_held, published_curve
from planner_core.units import KIB, MIB, bytes_to_kib_ceil, parse_size
from tests.golden import published_points

KB_OF_TABLE_2 = (1, 2, 4, 8, 16, 32, 63)
SIZES_OF_CHART = (1024, 2048, 16384)


def need_mib(messages: int, message_bytes: int, *, cfcc_level: int) -> Fraction:
    """Return the unrounded need of a backlog of one message size."""
    curve = published_curve(cfcc_level=cfcc_level).curve
    held = elements_held(message_bytes, header_bytes=curve.header_bytes)
    exact = structure_size.exact_size_for(entries=messages, elements=messages * held, curve=curve)
    return exact / MIB


def messages_in(size: str, message_bytes: int, *, cfcc_level: int) -> int:
    """Return the number of messages of one size that a structure holds."""
    curve = published_curve(cfcc_level=cfcc_level).curve
    return structure_size.messages_that_fit(parse_size(size), message_bytes=message_bytes, curve=curve)


def _row(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _percent(value: Fraction | float) -> str:
    return f"{float(value) * 100:+.1f} %"


def table_1() -> Iterator[str]:
    """Return Table 1 as calculated by the core, eight values per line."""
    answers = [
        bytes_to_kib_ceil(admin_need(queue_managers=int(count), cfcc_level=14).published_bytes)
        for count, _ in tables.table("admin_structure_cfcc14").rows
    ]
    yield _row("queue managers", *(f"+{n}" for n in range(8)))
    yield "|---|" + "---:|" * 8
    for first in range(0, len(answers), 8):
        part = answers[first : first + 8]
        yield _row(f"from {first + 1}", *part, *("" for _ in range(8 - len(part))))


def table_2() -> Iterator[str]:
    """Return every cell of Table 2, as printed and by the model."""
    yield _row("messages", *(f"{kb} KB" for kb in KB_OF_TABLE_2))
    yield "|---:|" + "---:|" * len(KB_OF_TABLE_2)
    for messages, *printed in tables.table("application_structure_cfcc14").rows:
        cells = [
            f"{cell} ({float(need_mib(int(messages), kb * KIB, cfcc_level=14)):.3f})"
            for kb, cell in zip(KB_OF_TABLE_2, printed, strict=True)
        ]
        yield _row(messages, *cells)


def four_gb() -> Iterator[str]:
    """Return the 4 GB table for both profiles it was measured with."""
    yield _row("message bytes", "printed", "CFCC 17 to 24", "off by", "CFCC 25", "off by")
    yield "|---:|---:|---:|---:|---:|---:|"
    for size, printed in tables.table("application_structure_4gb").rows:
        found = [messages_in("4G", int(size), cfcc_level=level) for level in (24, 25)]
        cells = [cell for held in found for cell in (held, _percent(Fraction(held, int(printed)) - 1))]
        yield _row(size, printed, *cells)


def chart() -> Iterator[str]:
    """Return every point read from the chart of application structures."""
    yield _row("messages", "message bytes", "read off, MB", "computed, MiB", "off by")
    yield "|---:|---:|---:|---:|---:|"
    for messages, *points in tables.table("application_structure_chart_cfcc25").rows:
        for size, point in zip(SIZES_OF_CHART, points, strict=True):
            if point != "":
                need = need_mib(int(messages), size, cfcc_level=25)
                yield _row(messages, size, point, f"{float(need):.1f}", _percent(need / int(point) - 1))


def admin_charts() -> Iterator[str]:
    """Return the two charts of CSQ_ADMIN as calculated by the core."""
    yield _row("CFCC level", *(f"{n}" for n in (1, 2, 5, 10, 16, 24, 31, 32)))
    yield "|---|" + "---:|" * 8
    for name, level in (("21 to 24", 24), ("25", 25)):
        sizes = (
            admin_need(queue_managers=n, cfcc_level=level).published_bytes // MIB
            for n in (1, 2, 5, 10, 16, 24, 31, 32)
        )
        yield _row(name, *sizes)


def reserves() -> Iterator[str]:
    """Return IBM's two examples of a threshold with the exact figures."""
    yield _row(
        "structure",
        "messages",
        "IBM's reserve",
        "exact",
        "IBM's share",
        "exact",
        "highest threshold",
        "90 % less the share",
    )
    yield "|---|---:|---|---|---|---|---:|---:|"
    for size, printed, share in (("10G", "about 0.75G", "not printed"), ("4G", "768 MB", "18.75 %")):
        found = reserve_for(size_bytes=parse_size(size), messages=1_000_000)
        exact = f"{found.reserved_bytes} bytes = {float(Fraction(found.reserved_bytes, MIB)):.1f} MiB"
        percent = f"{float(found.reserved_percent):.2f} %"
        advised = f"{float(found.advised_threshold):.1f}"
        yield _row(size, 1_000_000, printed, exact, share, percent, found.highest_threshold, advised)


def measured() -> Iterator[str]:
    """Return the bases that the measured structures agree with, and the sizes of plans with such a base."""
    yield _row(
        "structure",
        "cost of an entry with its elements, bytes",
        "base that agrees, MiB",
        "base in use, MiB",
        "difference",
        "entries with the base in use",
    )
    yield "|---|---|---:|---:|---:|---:|"
    system, admin = tables.table("measured_structures").records()
    for level, name in ((14, "CFCC 14"), (24, "CFCC 17 to 24"), (25, "CFCC 25")):
        curve = published_curve(cfcc_level=level).curve
        yield _agreeing("CSQSYSAPPL, 1:6", system, curve.bundle, curve.base, name)
    for row in tables.table("entry_element_costs").records():
        level = int(row["cfcc_to"])
        base = admin_base_mib(level) * MIB
        name = {14: "CFCC 14", 24: "CFCC 21 to 24", 25: "CFCC 25"}[level]
        yield _agreeing("CSQ_ADMIN, 1:2", admin, tables.exact(row["admin_bundle"]), base, name)


def admin_base_mib(level: int) -> Fraction:
    """Return the base of CSQ_ADMIN: least squares through IBM's sizes, as in the fits to sizing points."""
    points = published_points.table_1() if level == 14 else published_points.admin_chart(level)
    found = fit_points(points).base_bytes
    assert found is not None
    return Fraction(str(found.value)) / MIB


def _agreeing(
    title: str, row: Mapping[str, int | Decimal | str], bundle: Fraction, base: Fraction, name: str
) -> str:
    size, entries = int(row["size_max_kb"]) * KIB, int(row["entries_max"])
    agrees = size - entries * bundle
    return _row(
        title,
        f"{float(bundle):.1f}, {name}",
        f"{float(agrees / MIB):.1f}",
        f"{float(base / MIB):.1f}",
        f"{float((agrees - base) / MIB):+.1f}",
        max(0, int((size - base) / bundle)),
    )


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "Table 1": table_1,
    "Table 2": table_2,
    "The 4 GB table": four_gb,
    "Chart of application structures": chart,
    "Charts of the administrative structure": admin_charts,
    "Measured structures": measured,
    "Offload: the two examples": reserves,
}

if __name__ == "__main__":
    for title, rows in TABLES.items():
        print(f"## {title}\n")
        print("\n".join(rows()) + "\n")
