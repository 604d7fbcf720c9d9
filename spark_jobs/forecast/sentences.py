"""Sentences that describe forecasts."""

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
    """Return a probability as text; never 0 % or 100 %, because the paths are only a sample."""
    value = round(share * 100)
    if value < LEAST_PERCENT:
        return f"less than {LEAST_PERCENT} %"
    if value > MOST_PERCENT:
        return f"more than {MOST_PERCENT} %"
    return f"{value} %"


def days(count: int) -> str:
    """Return a number of days as text."""
    return "1 day" if count == 1 else f"{count} days"


def number(value: float, unit: str) -> str:
    """Return a figure with grouped digits and its unit."""
    if unit == "percent":
        return f"{value:.1f} %"
    whole = f"{value:,.0f}".replace(",", " ") if value >= THOUSAND else f"{value:.4g}"
    return f"{whole} {unit}"


def within(level: str, *, low: int, middle: int, high: int | None, horizon_days: int) -> str:
    """Return the sentence for a level that is more likely than not to be passed."""
    if high is None:
        return f"{level} in {days(middle)}, 80 % interval {low} to beyond {horizon_days}"
    return f"{level} in {days(middle)}, 80 % interval {low}–{high}"  # noqa: RUF001 - a dash between figures


def possible(level: str, *, horizon_days: int, probability: float, low: int) -> str:
    """Return the sentence for a level that may be passed, but more likely is not."""
    return (
        f"unlikely to reach {level} within {days(horizon_days)}: "
        f"{percent(probability)} probability, 10 % by day {low}"
    )


def beyond(level: str, *, horizon_days: int) -> str:
    """Return the sentence for a level that is not expected to be passed."""
    return f"not expected to reach {level} within {days(horizon_days)}"


def already(level: str, *, last: int | None) -> str:
    """Return the sentence for a level that was passed in the last days."""
    return f"{level} already passed" + ("" if last is None else f", last on {iso(last)}")


def seen_only(level: str, *, last: int | None, recent: bool) -> str:
    """Return the sentence for a level without a forecast, from the measured days."""
    if recent:
        return already(level, last=last)
    if last is None:
        return f"{level} never passed on a measured day; no forecast"
    return f"{level} last passed on {iso(last)}; no forecast"


def no_limit(level: str) -> str:
    """Return the sentence for a level of unknown value."""
    return f"{level}: no limit known"


def not_measured() -> str:
    """Return the sentence for a measure without a day that has a peak, although some hours may have been measured."""
    return "No full day was measured."


def too_short(*, measured: int, needed: int, since_first_use: bool) -> str:
    """Return the sentence for a history that is too short."""
    since = " since its first use" if since_first_use else ""
    return (
        f"{days(measured)} measured{since}: a forecast needs {days(needed)}. "
        "Until then, usage is shown without a forecast."
    )


def out_of_date(*, last: int, age: int, most: int) -> str:
    """Return the sentence for a history that ended too long ago."""
    return f"Last measured on {iso(last)}, {days(age)} ago: forecasts are made for up to {days(most)} after the last measurement."


def flat(*, value: float, unit: str, measured: int) -> str:
    """Return the sentence for a peak that is the same every day."""
    return f"{number(value, unit)} on all {days(measured)} measured, with no sign of change."


def forecast(crossings: Sequence[Crossing], *, growth: tuple[float, float, float], horizon_days: int) -> str:
    """Return the sentence of a forecast: the first level that is passed, and the growth."""
    low, middle, high = (signed(100 * share) for share in growth)
    grows = f"{middle} % in 30 days (80 % interval {low} to {high})"
    passed = [crossing for crossing in crossings if crossing.state == "already_crossed"]
    coming = [crossing for crossing in crossings if crossing.state == "within"]
    if passed:
        return f"{passed[-1].sentence}. {grows}."
    if coming:
        first = min(coming, key=lambda crossing: crossing.days.p50 or horizon_days)
        return f"{first.sentence}. {grows}."
    known = [crossing for crossing in crossings if crossing.value is not None]
    if not known:
        return f"No limit is known. {grows}."
    return f"{known[0].sentence}. {grows}."


def signed(percent: float) -> str:
    """Return a percentage with its sign.

    >>> signed(8.14), signed(-1.9), signed(-0.04)
    ('+8.1', '\N{MINUS SIGN}1.9', '0.0')
    """
    rounded = round(percent, 1)
    return f"{rounded:+.1f}".replace("-", "\N{MINUS SIGN}") if rounded else "0.0"


def exceptional(found: Days) -> tuple[str, ...]:
    """Return a note about days that were left out because they are far from the usual."""
    if not len(found):
        return ()
    if len(found) == 1:
        return (f"1 unusual day was left out: {iso(found[0])}.",)
    return (f"{len(found)} unusual days were left out, the last {iso(found[-1])}.",)


def resized(name: str, crossings: Sequence[Crossing]) -> str:
    """Return the sentence on the crossings after a change of size."""
    return f"{name}: " + "; ".join(crossing.sentence for crossing in crossings)
