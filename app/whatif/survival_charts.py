"""The chart of the probability of survival over the length of the outage, with offload and without."""

from __future__ import annotations

from app.web.axes import Linear
from app.web.charts import Band, Chart, Line, Mark, Origin
from planner_core.whatif.survival_answer import Survival, SurvivalCurve, percent

_FULL = 100
_MINUTES = (1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720, 1440, 2880)


def survival_chart(found: Survival) -> Chart | None:
    """Return the chart; None without a probability."""
    curve, without = found.curve, found.without_offload
    if curve is None or without is None:
        return None
    bounds = tuple(
        (each.minutes, each.low * _FULL, each.high * _FULL)
        for each in curve.series
        if each.low is not None and each.high is not None
    )
    # The line of the plan is drawn last, above the other.
    lines = [Line(_points(curve), name="with offload" if found.with_offload else "survives", style="curve")]
    if found.with_offload is not None:
        lines.insert(0, Line(_points(without), name="without offload", style="second"))
    return Chart(
        id="survival",
        title=f"Probability that {found.cfrm_name} survives an outage",
        description=_in_words(found, curve),
        x_axis=Linear(0, curve.series[-1].minutes, "minutes of outage", steps=_MINUTES),
        y_axis=Linear(0, _FULL, steps=(25,), suffix=" %"),
        bands=(
            Band(
                bounds, "survival-range", name=f"{found.confidence_percent} % interval", names=("high", "low")
            ),
        )
        if bounds
        else (),
        lines=tuple(lines),
        marks=(Mark(found.minutes, f"{found.minutes:g} min", is_label_low=True),),
        origin=Origin(found.cfrm_name, _period(found), "survival calculated by cfplan"),
        height=240,
    )


def _points(curve: SurvivalCurve) -> tuple[tuple[float, float], ...]:
    return tuple((each.minutes, each.probability * _FULL) for each in curve.series)


def _period(found: Survival) -> str:
    basis = found.basis
    if basis.quarter_first_day is None:
        return "days as given"
    return f"{basis.quarter_first_day} to {basis.quarter_last_day}"


def _in_words(found: Survival, curve: SurvivalCurve) -> str:
    lasts = "; ".join(f"{each.percent} %: {each.in_words}" for each in curve.longest)
    return (
        f"An outage of {found.minutes:g} minutes is survived with {percent(curve.requested.probability)}. "
        f"Longest outage by probability: {lasts}."
    )
