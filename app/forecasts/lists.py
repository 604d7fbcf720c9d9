"""The list of forecasts."""

from __future__ import annotations

from functools import partial
from urllib.parse import quote

from markupsafe import Markup

from app.forecasts.service import StructureForecast
from app.paging import Sort
from app.web.rendering import signed
from app.web.tables import Column, ListTable, TableCell
from planner_core.contracts.forecasts import Crossing
from planner_core.simulated import WORD

_PERCENT = 100
_ALMOST_CERTAIN, _ALMOST_IMPOSSIBLE = 0.99, 0.01


def latest_forecasts(*, lead_time_days: int) -> ListTable[StructureForecast]:
    """Return the list of the latest forecasts, most urgent first.

    Args:
        lead_time_days: Days that the site needs to make a structure larger. A limit within them is a warning.
    """
    return ListTable[StructureForecast](
        name="forecasts",
        path="/forecasts",
        columns=(
            Column(key="structure", title="Structure", kind="name", read=_name),
            Column(key="qsg", title="Group", kind="name", read=lambda each: each.qsg),
            Column(key="measure", title="Measure", read=lambda each: each.title),
            Column(key="urgency", title="Urgency", kind="urgency", read=partial(_urgency, lead_time_days)),
            Column(key="used_percent", title="In use", unit="%", kind="use", read=lambda each: each.used_percent),
            Column(key="level", title="Next limit", place="file", read=lambda each: each.first_crossing.level if each.first_crossing else None),
            Column(key="crossing_day", title="When", kind="date", read=_when),
            Column(key="crossing_p10", title="From", place="file", read=lambda each: each.first_crossing.dates.p10 if each.first_crossing else None),
            Column(key="crossing_p90", title="To", place="file", read=lambda each: each.first_crossing.dates.p90 if each.first_crossing else None),
            Column(key="probability", title="Within horizon", unit="%", kind="number", read=_probability),
            Column(key="growth_per_30_days", title="Growth in 30 days", unit="%", kind="number", read=_growth),
            Column(key="score", title="Earlier forecasts", can_sort=False, place="page", read=_scored),
            Column(key="made_on", title="Made on", place="file", read=lambda each: each.made_on),
        ),
        sort=Sort("urgency"),
        search_label="Name of structure or group",
    )  # fmt: skip


def _name(each: StructureForecast) -> TableCell:
    at = f"/forecasts/{quote(each.qsg, safe='')}/{quote(each.structure, safe='')}#{each.key}"
    return TableCell(value=each.structure, href=at, tag=WORD if each.is_simulated else "")


def _urgency(lead_time_days: int, each: StructureForecast) -> TableCell:
    """Return the fullness of the structure, or when the next limit is passed."""
    if each.fullness is not None:
        of = "Data set" if each.queue_manager else "Structure"
        sentence = each.fullness.sentence
        return TableCell(
            value=f"{of} {sentence[:1].lower()}{sentence[1:]}",
            note=f"Ordinary days: {each.sentence.split('. ')[0]}",
            severity="error",
        )
    crossing = each.first_crossing
    if crossing is None:
        known = each.has_forecast and bool(each.crossings)
        return TableCell(text=f"not expected within {each.horizon_days} days" if known else each.sentence)
    if crossing.state == "already_crossed":
        last = crossing.last_crossed
        return TableCell(
            value=f"{crossing.level} passed",
            note=f"last {last.isoformat()}" if last else "",
            severity="warning",
        )
    days = crossing.days.p50
    if days is None:
        return TableCell(text=f"{crossing.level} unlikely within {each.horizon_days} days")
    unit = "day" if days == 1 else "days"
    return TableCell(
        value=f"{crossing.level} in {days} {unit}",
        severity="warning" if days <= lead_time_days else "",
    )


def _when(each: StructureForecast) -> TableCell:
    """Return the day of the next limit by the median estimate, with the interval of 80 %."""
    crossing = each.first_crossing
    if crossing is None or crossing.state == "already_crossed" or crossing.dates.p50 is None:
        return TableCell()
    return TableCell(value=crossing.dates.p50, note=_interval(crossing))


def _interval(crossing: Crossing) -> str:
    if crossing.dates.p10 is None:
        return ""
    end = crossing.dates.p90
    return f"{crossing.dates.p10.isoformat()} \N{EN DASH} {end.isoformat() if end else 'beyond'}"


def _probability(each: StructureForecast) -> TableCell:
    """Return the probability that the next limit is passed within the horizon."""
    probability = each.first_crossing.probability_within_horizon if each.first_crossing else None
    if probability is None:
        return TableCell()
    text = ""
    if probability > _ALMOST_CERTAIN:
        text = "> 99"
    elif probability < _ALMOST_IMPOSSIBLE:
        text = "< 1"
    return TableCell(value=_PERCENT * probability, text=text or f"{_PERCENT * probability:.0f}")


def _growth(each: StructureForecast) -> TableCell:
    if each.growth_per_30_days is None:
        return TableCell()
    growth = _PERCENT * each.growth_per_30_days["p50"]
    return TableCell(value=growth, text=signed(growth, 1))


def _scored(each: StructureForecast) -> TableCell:
    """Return the error of the last scored forecast, and the share of days inside its interval."""
    score = each.score
    if score is None:
        return TableCell(text="not yet" if each.has_forecast else "")
    parts = []
    if score.wape is not None:
        parts.append(f"{_PERCENT * score.wape:.0f} % error")
    if score.coverage80 is not None:
        parts.append(f"{_PERCENT * score.coverage80:.0f} % inside")
    return TableCell(value=", ".join(parts), note=Markup("{} days").format(score.days_scored))
