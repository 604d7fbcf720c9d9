"""Charts of a structure: usage as it fills, and depths of its queues. Both show figures from the stored result."""

from __future__ import annotations

from collections.abc import Sequence

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
    return f"over {size // KIB}K offloaded" if size else "all offloaded"


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
