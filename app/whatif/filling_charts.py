"""The chart of an outage: both pools over time with the events, and offloaded data below.

Events are numbered, because the chart has no room for words; the table below has them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from app.web.axes import Linear
from app.web.charts import Band, Chart, Lane, LaneSpot, Level, Line, Mark, Origin
from app.web.rendering import grouped, plain
from planner_core.units import GIB, KIB, MIB, TIB
from planner_core.whatif.filling_up import FillingEvent, FillingUp, shown_minutes

QUEUE_KINDS = ("depth_high", "queue_full")
"""Events of a single queue. They are signs in a separate lane, because there may be a thousand of them."""
_FULL = 100
_MINUTES = (1, 2, 5, 10, 15, 20, 30, 60, 120, 240, 360, 720, *range(1440, 1440 * 400, 1440))
_SIGN_PLACES = 125
"""Number of positions for signs of queues; signs at the same position are drawn once.

More signs would overlap: the plot is about 700 pixels wide at most, and a sign more than 6.
"""
_QUEUE_SIGNS = {"depth_high": ("up", "at QDEPTHHI"), "queue_full": ("square", "at MAXDEPTH")}


@dataclass(frozen=True, slots=True)
class Happening:
    """A row of the table; events of a queue have no number in the chart."""

    number: int | None
    kind: str
    minutes: float
    messages: int
    usage_percent: Fraction
    text: str


def happenings(found: FillingUp, *, most_of_queues: int) -> tuple[tuple[Happening, ...], int]:
    """Return the numbered events of the structure and the first events of queues, in chronological order.

    The second value is the number of omitted events of queues.
    """
    rows, number, of_queues = [], 0, 0
    for moment in found.events:
        if moment.kind in QUEUE_KINDS:
            of_queues += 1
            if of_queues <= most_of_queues:
                rows.append(_happening(moment, None))
        else:
            number += 1
            rows.append(_happening(moment, number))
    # At equal times, numbered events come first, so that their numbers rise through the table.
    rows.sort(key=lambda row: (row.minutes, row.number is None))
    return tuple(rows), max(of_queues - most_of_queues, 0)


def _happening(moment: FillingEvent, number: int | None) -> Happening:
    return Happening(
        number,
        moment.kind,
        shown_minutes(moment.minutes),
        moment.messages,
        moment.usage_percent,
        moment.text[:1].upper() + moment.text[1:] + ".",
    )


def filling_chart(found: FillingUp) -> Chart | None:
    """Return the chart, or None if no time passes."""
    if not found.outage_minutes or not found.bundles:
        return None
    end, last = float(found.outage_minutes), found.points[-1]
    points = [(point.drawn_minutes, *found.drawn_percents(point)) for point in found.points]
    # The fuller pool limits the structure, so it gets the stronger line.
    pools = sorted(
        (
            (points[-1][1], "entries", tuple((at, entries) for at, entries, _ in points)),
            (points[-1][2], "elements", tuple((at, elements) for at, _, elements in points)),
        ),
        key=lambda pool: pool[0],
    )
    threshold = found.result.placement.full_threshold
    numbered = [moment for moment in found.events if moment.kind not in QUEUE_KINDS]
    signs = tuple(_queue_signs(found))
    is_parted = end < 2  # noqa: PLR2004 - below two minutes, parts of a minute are labeled
    return Chart(
        id="filling",
        title=f"How {found.result.cfrm_name} fills in {shown_minutes(found.outage_minutes):g} minutes",
        description=_in_words(found),
        x_axis=Linear(0, end, "minutes", steps=() if is_parted else _MINUTES, is_whole=not is_parted),
        y_axis=Linear(0, _FULL, steps=(25,), suffix=" %"),
        bands=_lost(found, _FULL),
        lines=tuple(
            Line(line, style=style, label=label)
            for (_, label, line), style in zip(pools, ("second", "curve"), strict=True)
        ),
        levels=(
            *((Level(threshold, f"FULLTHRESHOLD {threshold} %", f"FULL {threshold} %"),) if threshold else ()),
            *(
                Level(percent, f"offload {percent} %", f"{percent} %", style="threshold")
                for percent in dict.fromkeys(rule.threshold for rule in found.rules if rule.is_on)
            ),
        ),
        are_levels_beside=True,
        marks=tuple(
            Mark(
                float(moment.minutes), str(number), f"lead {moment.kind}", "bubble", f"bubble {moment.kind}",
                f"Minute {shown_minutes(moment.minutes):g}: {moment.text}", down_to=float(moment.usage_percent),
            )
            for number, moment in enumerate(numbered, start=1)
        ),
        lanes=(Lane("", signs),) if signs else (),
        below=_offloaded(found) if last.page_parts else None,
        origin=Origin(
            found.result.cfrm_name,
            f"{shown_minutes(found.outage_minutes):g} minutes",
            "outage simulated by cfplan",
        ),
        height=210,
        # The page has a form next to the chart: a wider layout would be scaled down there, with its letters.
        width=740,
    )  # fmt: skip


def _in_words(found: FillingUp) -> str:
    last = found.points[-1]
    full = ""
    if found.full_at_minutes is not None:
        full = f" It is full after {shown_minutes(found.full_at_minutes):g} minutes."
    numbered = " ".join(
        f"{row.number}: minute {row.minutes:g}, {row.text}" for row in happenings(found, most_of_queues=0)[0]
    )
    return (
        f"Entries rise to {float(found.entries_percent(last)):.1f} percent, elements to "
        f"{float(found.elements_percent(last)):.1f} percent.{full} {numbered}"
    )


def _lost(found: FillingUp, highest: float) -> tuple[Band, ...]:
    """Return bands for the time in which puts fail."""
    if found.full_at_minutes is None:
        return ()
    return (
        Band(
            tuple((float(at), 0.0, highest) for at in (found.full_at_minutes, found.outage_minutes)), "lost"
        ),
    )


def _offloaded(found: FillingUp) -> Chart:
    """Return a chart of offloaded data over time, with the size of a given data set if it is near."""
    sizes = [(point.drawn_minutes, found.offload_bytes(point)) for point in found.points]
    highest, given = sizes[-1][1], found.question.data_set_bytes
    # A data set much larger than its data would flatten the curve at the bottom.
    if given is not None and given <= 3 * highest:
        highest = max(highest, given)
    unit, name = next(
        ((size, name) for size, name in ((TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB")) if highest >= 2 * size),
        (KIB, "KiB"),
    )
    y_axis = Linear.up_to(highest / unit, is_whole=False, title=f"Offloaded, {name}")
    top = float(y_axis.last)  # type: ignore[arg-type]
    is_near = given is not None and given <= highest
    return Chart(
        id="offloaded",
        title="Offloaded data",
        description="",
        x_axis=Linear(0, float(found.outage_minutes)),
        y_axis=y_axis,
        bands=(*_lost(found, top), Band(tuple((at, 0.0, size / unit) for at, size in sizes), "offloaded")),
        levels=(Level((given or 0) / unit, "each data set"),) if is_near else (),
        height=84,
    )


def _queue_signs(found: FillingUp) -> Iterator[LaneSpot]:
    """Yield signs of queues, with one sign for all at the same position."""
    at: dict[tuple[str, int], list[FillingEvent]] = {}
    places_per_minute = _SIGN_PLACES / float(found.outage_minutes)
    for moment in found.events:
        if moment.kind in QUEUE_KINDS:
            place = round(float(moment.minutes) * places_per_minute)
            at.setdefault((moment.kind, place), []).append(moment)
    for (kind, _), moments in at.items():
        sign, words = _QUEUE_SIGNS[kind]
        what = str(moments[0].queue) if len(moments) == 1 else f"{grouped(len(moments))} queues"
        minute = float(moments[0].minutes)
        title = f"Minute {shown_minutes(moments[0].minutes):g}: {what} {words}"
        yield LaneSpot(minute, sign, f"queue-mark {kind}", title)


def filling_summary(found: FillingUp) -> str:
    """Return the answer to the question in two sentences."""
    name, end = found.result.cfrm_name, shown_minutes(found.outage_minutes)
    if not found.messages_arriving:
        if not found.queues:
            return f"Nothing arrives on {name}: it has no queues in the plan. Add a queue with a rate or a backlog."
        return f"Nothing arrives on {name}: its queues, or the outage and the rate you entered, produce no messages."
    if found.full_at_minutes is not None:
        # The simulation treats messages as a fluid; rounded down, the sentence never counts a message that was not put.
        held = math.floor(found.points[-1].messages)
        return (
            f"{name} is full after {_tenth(found.full_at_minutes)} of {end:g} minutes, with {grouped(held)} of "
            f"{grouped(found.messages_arriving)} messages: puts fail with 2192."
        )
    last = found.points[-1]
    words = f"{name} holds the {grouped(math.floor(last.messages))} messages of {end:g} minutes, {_up(found.usage_percent(last))} % full."
    if found.lasts_minutes is not None:
        words += f" If no queue's outage ended, it would be full after {_tenth(found.lasts_minutes)} minutes."
    if last.page_parts:
        words += f" {plain(found.offload_bytes(last))} are offloaded."
    return words


def _tenth(minutes: Fraction) -> str:
    """Return minutes for a sentence, rounded down to a tenth."""
    return f"{math.floor(minutes * 10) / 10:g}"


def _up(percent: Fraction) -> str:
    """Return a share for a sentence, rounded up as on the rest of the page."""
    return f"{math.ceil(percent * 10) / 10:.1f}"
