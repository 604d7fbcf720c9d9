"""Queue depths on the page of a structure: advised values, those of the plan, and a chart of both.

The advice is computed for the page from the stored document and sizes. If it were stored with the result, it would be
the largest part of a large plan (docs/decisions/0019-depth-advice-when-asked.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.fits.kept import Curves
from app.fits.resolve import curve_of
from app.plans.charts import depth_chart, drawn_depth
from app.plans.stored import StoredVersion
from app.web.charts import BarChart
from app.web.rendering import grouped
from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid, PlanRefused
from planner_core.plan.evaluate import evaluate_structure
from planner_core.sizing.structure_answer import structure_answer
from planner_core.wire import JsonObject

_TEN_TIMES = 1000
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400
_LEVELS = {
    "FULLTHRESHOLD": "FULLTHRESHOLD",
    "event_target_percent": "the target in the plan",
    "full": "full, because there is no rule and no FULLTHRESHOLD",
}


@dataclass(frozen=True, slots=True)
class DepthRow:
    """One queue of the table; texts are empty where a value is unknown."""

    name: str
    maxdepth: str
    qdepthhi: str
    qdepthlo: str
    planned: tuple[str, ...] = ()
    given: tuple[bool, ...] = ()
    effects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Depths:
    """The advice for one structure, arranged for its page."""

    level: str
    level_percent: int
    level_messages: int | None
    rows: tuple[DepthRow, ...]
    is_planned: bool
    facts: tuple[tuple[str, str], ...]
    chart: BarChart | None
    bars_omitted: int
    """Number of queues that the chart omits."""
    has_level_marks: bool
    assumptions: tuple[str, ...]


def advised(version: StoredVersion, found: JsonObject, curves: Curves) -> JsonObject:
    """Return a stored structure with advice for each of its queues.

    The result is empty if no advice was stored, the curve no longer exists, or the document can no longer be read.
    """
    if not found.get("depth_events"):
        return {}
    name, document = found["name"], version.document_object
    # A document reads a bare number as K, the unit of the stored figures.
    sizes = {key: found[f"{key}_kib"] for key in ("initsize", "size")}
    # The structure is evaluated alone, because reading all of a large document takes long, and with its stored sizes,
    # because another release could calculate different ones.
    structures = [{**each, **sizes} for each in document["structures"] if each["name"] == name]
    try:
        alone = read_object({**document, "structures": structures, "clusters": [], "acknowledged": []})
        made = evaluate_structure(alone, name, curve=curve_of(alone, curves), advises=True)
    except (DocumentInvalid, PlanRefused):
        return {}
    return {} if made is None else structure_answer(made[0], depths=True).as_json()


def depths_of(found: JsonObject, *, first: int = 0, most: int = 100) -> Depths | None:
    """Return the advice for a structure, or None if there is none; its rows begin with number `first`."""
    advice = found.get("depth_events")
    if not advice:
        return None
    queues = advice["queues"]
    chart = depth_chart(queues, str(found["cfrm_name"]))
    action = advice["action"]
    level = _LEVELS.get(action, f"offload rule {action[5]}" if action.startswith("OFFLD") else action)
    return Depths(
        level=level,
        level_percent=advice["action_percent"],
        level_messages=advice["action_messages"],
        rows=tuple(_row(each) for each in queues[first : first + most]),
        is_planned=any("planned" in each for each in queues),
        facts=tuple(_facts(advice)),
        chart=chart,
        bars_omitted=sum(drawn_depth(each) > 0 for each in queues) - len(chart.bars) if chart else 0,
        has_level_marks=any(mark.style == "level" for bar in chart.bars for mark in bar.marks)
        if chart
        else False,
        assumptions=tuple(each["assumed"] for each in advice["assumptions"]),
    )


def _count(value: int | None) -> str:
    return "" if value is None else grouped(value)


def _row(each: JsonObject) -> DepthRow:
    maxdepth, qdepthhi, qdepthlo = (_count(each[key]) for key in ("maxdepth", "qdepthhi", "qdepthlo"))
    planned = each.get("planned")
    if planned is None:
        return DepthRow(each["name"], maxdepth, qdepthhi, qdepthlo)
    net, stopped = planned["at_net_rate"], planned["when_nothing_gets"]
    return DepthRow(
        each["name"],
        maxdepth,
        qdepthhi,
        qdepthlo,
        planned=tuple(_count(planned[key]) for key in ("maxdepth", "qdepthhi", "qdepthlo")),
        given=tuple(key in planned["given"] for key in ("maxdepth", "qdepthhi", "qdepthlo")),
        effects=(
            _count(planned["high_at_messages"]),
            _count(planned["alone_at_action_messages"]),
            duration(net["to_action_s"]) if net else "",
            duration(stopped["to_action_s"]) if stopped else "",
            *(_part(planned[key]) for key in ("silent_high_percent", "silent_low_percent")),
        ),
    )


def _part(percent: float | None) -> str:
    """Return a percentage, or an empty text if it is unknown."""
    if percent is None:
        return ""
    return f"{percent:.0f} %"


def _of(percent: float, size: str) -> str:
    """Return a percentage of INITSIZE or SIZE as text; from ten times the size, it is written as a multiple."""
    return (
        f"{percent:.0f} % of {size}"
        if percent < _TEN_TIMES
        else f"{grouped(round(percent / 100))} times {size}"
    )


def duration(seconds: int) -> str:
    """Return a number of seconds in a readable unit; a negative number becomes a time that is "too late"."""
    if seconds < 0:
        return f"{duration(-seconds)} too late"
    for unit_s, unit in ((_DAY_S, "d"), (_HOUR_S, "h"), (_MINUTE_S, "min")):
        # Rounded down to whole units: below two of them, the error would be up to half of the value.
        if seconds >= 2 * unit_s:
            return f"{grouped(seconds // unit_s)} {unit}"
    return f"{seconds} s"


def _facts(advice: JsonObject) -> Sequence[tuple[str, str]]:
    """Return the facts that apply to all queues of a structure."""
    facts = []
    if (messages := advice["event_messages_per_event"]) is not None:
        facts.append(
            ("Messages of one event", f"{messages}, one from each queue manager with PERFMEV(ENABLED)")
        )
    if together := advice["together"]:
        facts.append(("All queues at QDEPTHHI", _of(together["all_high_percent"], "INITSIZE")))
        facts.append(
            (
                "All queues at MAXDEPTH, with offload",
                f"{_of(together['all_full_percent_of_initsize_with_offload'], 'INITSIZE')}, "
                f"{_of(together['all_full_percent_of_size_with_offload'], 'SIZE')}",
            )
        )
        if few := together["queues_to_full"]:
            more = f" and {len(few) - 3} more" if len(few) > 3 else ""  # noqa: PLR2004 - three are enough to name
            facts.append(
                ("Queues that fill INITSIZE at MAXDEPTH, without offload", f"{', '.join(few[:3])}{more}")
            )
    if lead := advice["lead"]:
        event = "no event"
        if lead["first_high_s"] is not None:
            event = f"Queue Depth High of {lead['first_queue']} after {duration(lead['first_high_s'])}"
        facts.append(
            (
                "All queues at their net rates, starting empty",
                f"{event}; {advice['action_percent']} % after {duration(lead['to_action_s'])}, "
                f"full after {duration(lead['to_full_s'])}",
            )
        )
    return facts
