"""Charts of a structure: usage as it fills, and depths of its queues. Both show figures from the stored result."""

from __future__ import annotations

from collections.abc import Sequence

from app.plans.result_view import FacilityLine, StructureLine
from app.web.axes import Linear
from app.web.charts import (
    NO_ORIGIN,
    Bar,
    BarChart,
    BarMark,
    Chart,
    ChartRow,
    ChartWithTable,
    Level,
    Line,
    Origin,
    Part,
    Spot,
)
from app.web.rendering import grouped
from planner_core.units import KIB
from planner_core.wire import JsonObject

_FULL = 100
MOST_BARS = 12
MOST_STRUCTURES = 24
"""Maximum number of structures in a chart; the table lists all of them."""


def fill_chart(found: JsonObject, origin: Origin = NO_ORIGIN) -> ChartWithTable | None:
    """Return the chart of INITSIZE usage against messages, with the offload rules; None if there is nothing to draw."""
    backlog, plain = found.get("messages") or 0, found.get("messages_in_initsize") or 0
    offloaded = found.get("messages_in_initsize_with_offload") or plain
    if not backlog or not plain:
        return None
    usage = min(float(found["peak_usage_percent"]), float(_FULL))
    # Rules that begin beyond INITSIZE never take effect within it.
    steps = [step for step in found["offload_steps"] if step["at_messages"] <= offloaded]
    without = ((0.0, 0.0), (float(plain), float(_FULL)))
    bent = sorted(
        [(0.0, 0.0), *((step["at_messages"], float(step["threshold"])) for step in steps), (offloaded, 100.0)]
    )
    # Without rules in effect, the two lines would coincide.
    is_bent = offloaded > plain and bool(steps)
    threshold = found["full_threshold"]
    chart = Chart(
        id="fill",
        title=f"How {found['cfrm_name']} fills",
        description=(
            f"INITSIZE is full with {plain} messages without offload and {offloaded} with it. "
            f"The planned backlog of {backlog} messages uses {usage:.1f} percent."
        ),
        x_axis=Linear(0, max(backlog, plain, offloaded), "messages"),
        y_axis=Linear(0, _FULL, steps=(25,), suffix=" %"),
        lines=(Line(without, style="context"), Line(tuple(bent))) if is_bent else (Line(without),),
        levels=(
            Level(threshold, f"FULLTHRESHOLD {threshold} %"),
            *(
                Level(
                    step["threshold"], f"{step['threshold']} %: {_rule(step)}", f"{step['threshold']} %: {_short(step)}",
                    style="lead", end=step["at_messages"],
                )
                for step in steps
            ),
        ),
        points=(Spot(backlog, usage, "large", "point", f"{grouped(backlog)} messages: {usage:.1f} %"),),
        origin=origin,
        width=760,
        height=244,
    )  # fmt: skip
    rows = [
        *(ChartRow(step["at_messages"], step["threshold"], _rule(step)) for step in steps),
        ChartRow(
            min(backlog, offloaded),
            usage,
            "the planned backlog" if backlog <= offloaded else "full before the backlog",
        ),
        ChartRow(plain, _FULL, "full without offload"),
    ]
    if offloaded != plain:
        rows.append(ChartRow(offloaded, _FULL, "full with offload"))
    return ChartWithTable(chart, tuple(sorted(rows, key=lambda row: (row.messages, row.value))))


def _rule(step: JsonObject) -> str:
    size = step["size_bytes"]
    return f"messages over {size // KIB}K are offloaded" if size else "all messages are offloaded"


def _short(step: JsonObject) -> str:
    size = step["size_bytes"]
    return f"over {size // KIB}K" if size else "all"


def depth_chart(queues: Sequence[JsonObject], subject: str = "") -> BarChart | None:
    """Return bars up to MAXDEPTH, marked with QDEPTHLO and QDEPTHHI, for the queues with the highest MAXDEPTH."""
    drawn = sorted((each for each in queues if drawn_depth(each)), key=drawn_depth, reverse=True)[:MOST_BARS]
    if not drawn:
        return None
    # A MAXDEPTH of 999 999 999 would squeeze all other bars: the axis ends where a structure is full of one queue.
    last = drawn_depth(drawn[0])
    return BarChart(
        id="depth",
        title="MAXDEPTH, QDEPTHHI and QDEPTHLO by queue",
        description=" ".join(
            f"{each['name']}: MAXDEPTH {found['maxdepth']}, QDEPTHHI {found['qdepthhi']}, QDEPTHLO {found['qdepthlo']}."
            for each in drawn
            for found in (_depths_in_force(each),)
        ),
        bars=tuple(_depth_bar(each, last) for each in drawn),
        x_axis=Linear(0, last, "messages"),
        origin=Origin(subject, "", "depths in the plan, or advised by cfplan"),
    )


def _depths_in_force(queue: JsonObject) -> JsonObject:
    """Return the depths of the plan, or the advised ones if the plan has none."""
    found: JsonObject = queue.get("planned") or queue
    return found


def drawn_depth(queue: JsonObject) -> int:
    """Return the length of a queue's bar: the lesser of MAXDEPTH and the number of its messages that fit in SIZE."""
    planned, maxdepth = queue.get("planned"), int(_depths_in_force(queue)["maxdepth"] or 0)
    if planned is None or not maxdepth:
        return maxdepth
    return min(maxdepth, max(planned["alone_in_size_messages"], queue["maxdepth"] or 0, 1))


def _depth_bar(queue: JsonObject, last: int) -> Bar:
    found, planned = _depths_in_force(queue), queue.get("planned")
    maxdepth = int(found["maxdepth"])
    end = min(maxdepth, last)
    high, low = (
        None if found[key] is None else maxdepth * found[key] / _FULL for key in ("qdepthhi", "qdepthlo")
    )
    level = planned["alone_at_action_messages"] if planned else None
    marks = (
        (low, BarMark(low or 0)),
        (high, BarMark(high or 0, "mark strong", is_long=True)),
        (level, BarMark(level or 0, "level", is_long=True)),
    )
    split = end if high is None else min(high, end)
    return Bar(
        str(queue["name"]),
        f"MAXDEPTH {grouped(maxdepth)}{', beyond the chart' if maxdepth > last else ''}",
        (Part("depth", split), Part("depth high", end - split)),
        whole=end,
        marks=tuple(mark for at, mark in marks if at is not None and at <= last),
    )


def facilities_chart(
    lines: Sequence[FacilityLine], structures: Sequence[JsonObject], origin: Origin = NO_ORIGIN
) -> BarChart | None:
    """Return bars of coupling facilities with the structures that XCF allocates in each; None without any.

    Args:
        lines: The coupling facilities.
        structures: The structures of the stored result, with their places if it has them.
        origin: The plan, for saved pictures.
    """
    if not lines:
        return None
    bars = tuple(_facility_bar(line, structures) for line in lines)
    return BarChart(
        id="facilities",
        title="Coupling facilities and their structures",
        description="; ".join(f"{bar.name}: {bar.text}" for bar in bars) + ".",
        bars=bars,
        whole_name="storage",
        origin=origin,
        width=560,
    )


def _facility_bar(line: FacilityLine, structures: Sequence[JsonObject]) -> Bar:
    others = line.occupied_kib + line.dumpspace_kib
    used = others + line.others_kib + line.initsize_kib + line.second_copies_kib
    full = others + line.others_size_kib + line.size_kib + line.second_copies_size_kib
    is_short = line.free_kib is not None and line.free_kib < 0
    return Bar(
        line.name,
        _facility_text(line, used, full),
        (
            Part("others", others, f"other structures and dump space: {_mib(others)}", "other use"),
            *(
                (Part("others", line.others_kib, f"Db2 and others: {_mib(line.others_kib)}", "other use"),)
                if line.others_kib
                else ()
            ),
            *_allocated(line, structures),
        ),
        whole=line.storage_kib,
        warning="not enough storage" if is_short else "",
        short=f"{grouped(round(used / KIB))} to {grouped(round(full / KIB))} MiB",
        marks=(BarMark(full, "grown", is_long=True, name="all at SIZE"),),
    )


def _facility_text(line: FacilityLine, used: int, full: int) -> str:
    amounts = f"{grouped(round(used / KIB))} at INITSIZE, {grouped(round(full / KIB))} at SIZE"
    if line.storage_kib is None:
        return f"{amounts} MiB; size not stated"
    if line.free_kib is not None and line.free_kib < 0:
        return f"not enough storage: {amounts}, of {_mib(line.storage_kib)}"
    if full > line.storage_kib:
        return f"too small for SIZE: {amounts}, of {_mib(line.storage_kib)}"
    return f"{amounts}, of {_mib(line.storage_kib)}"


def _allocated(line: FacilityLine, structures: Sequence[JsonObject]) -> tuple[Part, ...]:
    """Return a part for each structure in a coupling facility, then one for each second copy."""
    names = {"held": "structures, INITSIZE", "copy": "second copies"}
    # Results of earlier releases do not contain places; the sums are calculated from their sizes.
    if not structures or "coupling_facility" not in structures[0]:
        return (
            Part("held", line.initsize_kib, f"structures: {_mib(line.initsize_kib)}", names["held"]),
            Part(
                "copy",
                line.second_copies_kib,
                f"second copies: {_mib(line.second_copies_kib)}",
                names["copy"],
            ),
        )
    return tuple(
        Part(style, amount, f"{each['cfrm_name']}{note}: {_mib(amount)}", names[style])
        for key, style, note in (("coupling_facility", "held", ""), ("second_copy", "copy", ", second copy"))
        for each in structures
        if each[key] == line.name
        for amount in (each["initsize_kib"] + each.get("augmented_kib", 0),)
    )


def structures_chart(lines: Sequence[StructureLine], origin: Origin = NO_ORIGIN) -> BarChart:
    """Return bars from INITSIZE to SIZE, marked with the need, for the structures with the largest SIZE."""
    drawn = sorted(lines, key=lambda line: (-line.size_kib, line.index))[:MOST_STRUCTURES]
    bars = tuple(
        Bar(
            line.cfrm_name,
            f"{grouped(round(line.initsize_kib / KIB))} to {grouped(round(line.size_kib / KIB))}",
            (
                Part("held", line.initsize_kib, f"INITSIZE: {_mib(line.initsize_kib)}", "INITSIZE"),
                Part(
                    "growth",
                    max(line.size_kib - line.initsize_kib, 0),
                    f"SIZE: {_mib(line.size_kib)}",
                    "up to SIZE",
                ),
            ),
            marks=(BarMark(line.need_bytes / KIB, "need", is_long=True, name="need"),)
            if line.need_bytes
            else (),
        )
        for line in drawn
    )
    return BarChart(
        id="structures",
        title="Structures by INITSIZE and SIZE",
        description="In MiB, from INITSIZE to SIZE: "
        + "; ".join(f"{bar.name} {bar.text}" for bar in bars)
        + ".",
        bars=bars,
        is_beside=True,
        origin=origin,
        width=620,
    )


def _mib(kib: int) -> str:
    return f"{grouped(round(kib / KIB))} MiB"
