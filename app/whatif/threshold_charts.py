"""The chart of advised and planned thresholds: usage by messages, with the normal number and the number to hold."""

from __future__ import annotations

from app.web.axes import Linear
from app.web.charts import Chart, Level, Line, Mark, Origin, Spot
from app.web.rendering import grouped
from planner_core.whatif.thresholds import Setting, ThresholdAdvice

_FULL = 100
_MOST_BACKLOGS = 3
"""The axis ends at this multiple of the messages to hold, so that the thresholds stay readable."""


def threshold_chart(advice: ThresholdAdvice, full_threshold: int | None = None) -> Chart | None:
    """Return the chart, or None if the structure holds no messages.

    Args:
        advice: The advised rules and the plan's.
        full_threshold: FULLTHRESHOLD of the structure [percent]; None if it is not known.
    """
    if not advice.capacity:
        return None
    advised, planned = advice.compared[:2]
    # With offload, a structure can hold many times the backlog, which would move all thresholds to the left edge.
    within = min(max(advice.capacity, planned.capacity), advice.hold * _MOST_BACKLOGS)
    most = max(advice.hold, advice.typical, within)
    is_one = _points(planned) == _points(advised)
    marks = [Mark(advice.hold, f"to hold: {grouped(advice.hold)}", style="level", is_label_low=True)]
    if advice.typical:
        marks.append(
            Mark(advice.typical, f"normal: {grouped(advice.typical)}", style="level", is_label_low=True)
        )
    return Chart(
        id="thresholds",
        title=f"Usage of {advice.cfrm_name} with the advised thresholds and with the plan's",
        description=_in_words(advice),
        x_axis=Linear(0, most, "messages"),
        y_axis=Linear(0, _FULL, steps=(25,), suffix=" %"),
        lines=(
            *([] if is_one else [Line(_points(planned), style="second", label="the plan's")]),
            Line(_points(advised), label="advised, same as the plan's" if is_one else "advised"),
        ),
        levels=(
            ()
            if full_threshold is None
            else (Level(full_threshold, f"FULLTHRESHOLD {full_threshold} %", style="threshold"),)
        ),
        marks=tuple(marks),
        points=tuple(
            Spot(rule.at_messages, rule.threshold, "bubble", "bubble", str(number))
            for number, rule in enumerate(advice.rules, start=1)
            if rule.at_messages is not None and rule.at_messages <= most
        ),
        origin=Origin(advice.cfrm_name, "", "the plan, and thresholds advised by cfplan"),
        width=760,
        height=220,
    )


def _points(setting: Setting) -> tuple[tuple[float, float], ...]:
    steps = ((float(step.at_messages), float(step.threshold)) for step in setting.offload_steps)
    return ((0.0, 0.0), *steps, (float(setting.capacity), float(_FULL)))


def _in_words(advice: ThresholdAdvice) -> str:
    rules = " ".join(
        f"Rule {number} begins at {step.threshold} percent, {step.at_messages} messages."
        for number, step in enumerate(advice.compared[0].offload_steps, start=1)
    )
    return (
        f"With the advised rules, {advice.capacity} messages fit; with the plan's rules, {advice.compared[1].capacity}. "
        f"{advice.hold} must be held; {advice.typical} are present in normal running. {rules}"
    )
