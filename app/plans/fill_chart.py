"""How a structure fills: usage of INITSIZE against messages, with the offload rules and thresholds on it.

Made from the figures of the stored result: where each rule starts, what INITSIZE holds, what the backlog uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.web.axes import Linear
from app.web.charts import Chart, Level, Line, Spot
from app.web.rendering import grouped
from planner_core.units import KIB

_FULL = 100


@dataclass(frozen=True, slots=True)
class FillStepRow:
    """A row of the table under the chart."""

    messages: int
    usage_percent: float
    remark: str


@dataclass(frozen=True, slots=True)
class FillChart:
    """The chart and its figures."""

    chart: Chart
    table: tuple[FillStepRow, ...]


def fill_chart(found: Mapping[str, Any]) -> FillChart | None:
    """The chart of an application structure; None where nothing is planned for it or it holds nothing."""
    backlog, plain = found.get("messages") or 0, found.get("messages_in_initsize") or 0
    offloaded = found.get("messages_in_initsize_with_offload") or plain
    if not backlog or not plain:
        return None
    usage = min(float(found["peak_usage_percent"]), float(_FULL))
    steps = [step for step in found["offload_steps"] if step["at_messages"] <= offloaded]
    without = ((0.0, 0.0), (float(plain), float(_FULL)))
    bent = sorted(
        [(0.0, 0.0), *((step["at_messages"], float(step["threshold"])) for step in steps), (offloaded, 100.0)]
    )
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
        width=760,
        height=244,
    )  # fmt: skip
    rows = [
        *(FillStepRow(step["at_messages"], step["threshold"], _rule(step)) for step in steps),
        FillStepRow(
            min(backlog, offloaded),
            usage,
            "the planned backlog" if backlog <= offloaded else "full before the backlog",
        ),
        FillStepRow(plain, _FULL, "full without offload"),
    ]
    if offloaded != plain:
        rows.append(FillStepRow(offloaded, _FULL, "full with offload"))
    return FillChart(chart, tuple(sorted(rows, key=lambda row: (row.messages, row.usage_percent))))


def _rule(step: Mapping[str, Any]) -> str:
    size = step["size_bytes"]
    return f"messages over {size // KIB}K are offloaded" if size else "all messages are offloaded"


def _short(step: Mapping[str, Any]) -> str:
    size = step["size_bytes"]
    return f"over {size // KIB}K offloaded" if size else "all offloaded"
