"""What a forecast says, in words that a planner would use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_jobs.forecast.figures import iso

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planner_core.contracts.forecasts import Crossing
    from spark_jobs.forecast.peaks import Days

LEAST_PERCENT, MOST_PERCENT = 1, 99
THOUSAND = 1000


def percent(share: float) -> str:
    """A probability as people say it; never 0 % or 100 % for what was only drawn."""
    value = round(share * 100)
    if value < LEAST_PERCENT:
        return f"less than {LEAST_PERCENT} %"
    if value > MOST_PERCENT:
        return f"more than {MOST_PERCENT} %"
    return f"{value} %"


def days(count: int) -> str:
    """A number of days."""
    return "1 day" if count == 1 else f"{count} days"


def number(value: float, unit: str) -> str:
    """A figure with its unit, digits in groups."""
    if unit == "percent":
        return f"{value:.1f} %"
    whole = f"{value:,.0f}".replace(",", " ") if value >= THOUSAND else f"{value:.4g}"
    return f"{whole} {unit}"


def within(level: str, *, low: int, middle: int, high: int | None, horizon_days: int) -> str:
    """A level that is more likely passed than not."""
    if high is None:
        return f"{level} in {days(middle)}, 80 % interval {low} to beyond {horizon_days}"
    return f"{level} in {days(middle)}, 80 % interval {low}–{high}"  # noqa: RUF001 - a dash between figures


def possible(level: str, *, horizon_days: int, probability: float, low: int) -> str:
    """A level that may be passed, but more likely is not."""
    return (
        f"{level} probably not within {days(horizon_days)}: {percent(probability)} probable, "
        f"with 10 % by day {low}"
    )


def beyond(level: str, *, horizon_days: int) -> str:
    """A level that is not passed."""
    return f"{level} not within {days(horizon_days)}"


def already(level: str, *, last: int | None) -> str:
    """A level that is passed now."""
    return f"{level} already passed" + ("" if last is None else f", last on {iso(last)}")


def seen_only(level: str, *, last: int | None, recent: bool) -> str:
    """A level without a forecast: what was seen."""
    if recent:
        return already(level, last=last)
    if last is None:
        return f"{level} never passed on a measured day; no forecast"
    return f"{level} last passed on {iso(last)}; no forecast"


def no_limit(level: str) -> str:
    """A level whose value nobody knows."""
    return f"{level}: no limit known"


def not_measured() -> str:
    """Nothing was measured."""
    return "Nothing was measured."


def too_short(*, measured: int, needed: int, since_first_use: bool) -> str:
    """Not enough history."""
    since = " since it was first in use" if since_first_use else ""
    return (
        f"{days(measured)} measured{since}: a forecast needs {days(needed)}. "
        "Until then usage is shown without forecast."
    )


def out_of_date(*, last: int, age: int, most: int) -> str:
    """The history ends too long ago."""
    return f"Last measured on {iso(last)}, {days(age)} ago: a forecast is made up to {days(most)} after the last."


def flat(*, value: float, unit: str, measured: int) -> str:
    """The peak is the same every day."""
    return f"The same on all {days(measured)} measured: {number(value, unit)}. Nothing suggests that this changes."


def forecast(crossings: Sequence[Crossing], *, growth: tuple[float, float, float], horizon_days: int) -> str:
    """The whole in a sentence: the growth, and the first level that is passed."""
    low, middle, high = (100 * share for share in growth)
    grows = f"{middle:+.1f} % in 30 days (80 % interval {low:+.1f} to {high:+.1f})"
    passed = [crossing for crossing in crossings if crossing.state == "already_crossed"]
    coming = [crossing for crossing in crossings if crossing.state == "within"]
    if passed:
        return f"{passed[-1].sentence}. {grows}."
    if coming:
        first = min(coming, key=lambda crossing: crossing.days.p50 or horizon_days)
        return f"{first.sentence}. {grows}."
    known = [crossing for crossing in crossings if crossing.value is not None]
    if not known:
        return f"No limit known. {grows}."
    return f"{known[0].sentence}. {grows}."


def exceptional(found: Days) -> tuple[str, ...]:
    """Days that were left out because they are far from the usual."""
    if not len(found):
        return ()
    if len(found) == 1:
        return (f"1 day out of the ordinary was left out: {iso(found[0])}.",)
    return (f"{len(found)} days out of the ordinary were left out, the last {iso(found[-1])}.",)


def resized(name: str, crossings: Sequence[Crossing]) -> str:
    """What another size buys."""
    return f"{name}: " + "; ".join(crossing.sentence for crossing in crossings)
