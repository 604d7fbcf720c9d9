"""The curve of one message size with the point of the plan, and the same data as a table.

Both axes are logarithmic, MiB by messages, as in the figure on IBM's planning page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from app.web.axes import Log
from app.web.charts import NO_ORIGIN, Chart, ChartRow, ChartWithTable, Level, Line, Origin, Spot
from app.web.rendering import grouped, plain
from planner_core.sizing.structure_size import Curve, elements_held, messages_that_fit, size_for
from planner_core.units import KIB, MIB

CONTEXT_SIZES_BYTES = (1 * KIB, 4 * KIB, 16 * KIB, 63 * KIB)
"""Message sizes of IBM's Table 2 that are drawn faintly next to the plan's own."""
STEPS_PER_DECADE = 24
DECADES_SHOWN = 5
_FULL = 100


def chart_of(
    *,
    curve: Curve,
    message_bytes: int,
    messages: int,
    need_bytes: int,
    initsize_bytes: int,
    size_bytes: int,
    offload: tuple[str, int] | None = None,
    origin: Origin = NO_ORIGIN,
) -> ChartWithTable:
    """Return the chart of one application structure with one message size.

    `offload` is the first rule that offloads messages of this size, with its threshold in percent of INITSIZE.
    """
    # Extends at least one decade beyond the plan, so that its point is not at the edge.
    x1 = max((math.floor(math.log10(messages)) if messages else 0) + 2, DECADES_SHOWN)
    decades = range(x1 - DECADES_SHOWN, x1 + 1)
    lowest = need_of(10 ** decades[0], message_bytes=CONTEXT_SIZES_BYTES[0], curve=curve)
    highest = max(need_of(10**x1, message_bytes=message_bytes, curve=curve), size_bytes)
    y0 = math.floor(math.log10(lowest / MIB))
    y1 = max(math.ceil(math.log10(highest / MIB)), y0 + 1)
    levels = (("SIZE", size_bytes), ("INITSIZE", initsize_bytes))
    label = f"{grouped(messages)} messages: {plain(need_bytes)}"
    spot = Spot(messages, need_bytes / MIB, "large", "point", label, plain(need_bytes), is_led=True)
    chart = Chart(
        id="size",
        title=f"Size against number of messages of {message_bytes} bytes",
        description=(
            f"On logarithmic axes, the need rises from {plain(size_for(entries=1, elements=1, curve=curve))} for an almost "
            f"empty structure. {messages} messages need {plain(need_bytes)}; INITSIZE is {plain(initsize_bytes)} and SIZE "
            f"{plain(size_bytes)}."
            + (
                f" Offload begins when {offload[1]} % of INITSIZE are in use ({offload[0]})."
                if offload
                else ""
            )
        ),
        x_axis=Log(10 ** decades[0], 10**x1, "messages", is_decades=True),
        y_axis=Log(10.0**y0, 10.0**y1, "MiB", is_decades=True),
        lines=(
            *(
                _line(curve, size, decades, label=f"{size // KIB} KB", style="context")
                for size in sorted(CONTEXT_SIZES_BYTES, reverse=True)
                if size != message_bytes
            ),
            _line(curve, message_bytes, decades, name=f"{message_bytes} bytes"),
        ),
        levels=(
            *(Level(size / MIB, f"{name} {plain(size)}") for name, size in levels),
            *(
                (
                    Level(
                        initsize_bytes * offload[1] / _FULL / MIB,
                        f"{offload[0]} {offload[1]} %",
                        style="threshold",
                    ),
                )
                if offload
                else ()
            ),
        ),
        points=(spot,) if messages else (),
        origin=origin,
        width=760,
        height=256,
    )
    return ChartWithTable(
        chart, tuple(_capacities(curve, decades, message_bytes, messages, need_bytes, levels))
    )


def need_of(messages: float, *, message_bytes: int, curve: Curve) -> int:
    """Return the storage needed for a number of messages of one size [bytes]."""
    entries = max(round(messages), 0)
    elements = entries * elements_held(message_bytes, header_bytes=curve.header_bytes)
    return size_for(entries=entries, elements=elements, curve=curve)


def _line(
    curve: Curve,
    message_bytes: int,
    decades: Sequence[int],
    *,
    label: str = "",
    name: str = "",
    style: str = "curve",
) -> Line:
    steps = range((decades[-1] - decades[0]) * STEPS_PER_DECADE + 1)
    counts = (10.0 ** (decades[0] + step / STEPS_PER_DECADE) for step in steps)
    points = tuple(
        (messages, need_of(messages, message_bytes=message_bytes, curve=curve) / MIB) for messages in counts
    )
    return Line(points, name, style=style, label=label, is_label_beside=bool(label), is_label_optional=True)


def _capacities(
    curve: Curve,
    decades: Sequence[int],
    message_bytes: int,
    messages: int,
    need_bytes: int,
    levels: Sequence[tuple[str, int]],
) -> Iterator[ChartRow]:
    rows = {10**decade: "" for decade in decades}
    for name, size in levels:
        held = messages_that_fit(size, message_bytes=message_bytes, curve=curve)
        if held:
            rows[held] = f"as many as {name} holds"
    if messages:
        rows[messages] = "this plan"
    for count in sorted(rows):
        need = need_bytes if count == messages else need_of(count, message_bytes=message_bytes, curve=curve)
        yield ChartRow(count, need, rows[count])
