"""Charts of a fit: entries by size with the fitted lines, and the distance of each point from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist

from app.fits.fits import Fit
from app.web.axes import Linear, Log
from app.web.chart_plotly import ZoomedChart
from app.web.charts import Band, Chart, Level, Line, Origin, Spot
from app.web.rendering import grouped, plain
from planner_core.contracts.fits import Estimate, FitPoint
from planner_core.units import MIB

MOST_POINTS = 600
"""Maximum number of points in the chart; the table and the file contain all of them."""
MOST_LINES = 4
_STEPS = 48
"""Number of points drawn for a line that is curved on a logarithmic axis."""
_ROOM = 1.25
_SAME_RATIO = 0.02
_X_TITLE, _INITSIZE_TITLE = "size, MiB", "INITSIZE, MiB"


def fit_charts(fit: Fit) -> ZoomedChart | None:
    """Return the charts of a fit, or None if it has no points."""
    points = [each for each in fit.points if each.entries > 0 and each.size_bytes > 0]
    if not points:
        return None
    # Logarithmic: small structures determine the base, and would all be at the left edge of a linear axis.
    x_axis = Log.around(
        [point.size_bytes / MIB for point in points], title=_INITSIZE_TITLE if fit.answers else _X_TITLE
    )
    # Where SIZE has its own cost, the entries of a size also depend on SIZE, and no line shows them.
    charts = [] if fit.has_size_cost else [_entries(fit, points, x_axis)]
    if any(point.residual_bytes is not None and point.left_out is None for point in points):
        charts.append(_residuals(fit, points, x_axis))
    if not charts:
        return None
    return ZoomedChart(tuple(charts), earlier="Smaller", later="Larger")


def _entries(fit: Fit, points: Sequence[FitPoint], x_axis: Log) -> Chart:
    return Chart(
        id="entries",
        title="List entries",
        unit="by size",
        description=_entries_in_words(fit, points),
        x_axis=x_axis,
        y_axis=Log.around([point.entries for point in points]),
        bands=tuple(_fitted_bands(fit, x_axis)),
        lines=tuple(_fitted_lines(fit, x_axis)),
        origin=_origin(fit),
        points=tuple(
            _spot(fit, point, point.entries, f"{grouped(round(point.entries))} entries")
            for point in _drawn(points)
        ),
        width=1000,
        height=268,
    )


def _residuals(fit: Fit, points: Sequence[FitPoint], x_axis: Log) -> Chart:
    known = [point for point in points if point.residual_bytes is not None]
    used = [point for point in known if point.left_out is None]
    # Scaled by the points used in the fit, because an outlier would flatten all others.
    farthest = max(abs(point.residual_bytes or 0) for point in used) / MIB
    most = max(farthest * _ROOM, _most_expected(fit), 0.05)
    step = _round_step(most)
    most = math.ceil(most / step) * step
    return Chart(
        id="residuals",
        title="Distance from the fitted curve",
        unit="MiB",
        description=_residuals_in_words(fit, used),
        x_axis=x_axis,
        y_axis=Linear(-most, most, steps=(step,), is_signed=True),
        levels=(Level(0, "", style="fitted"),),
        bands=tuple(_residual_bands(fit, x_axis)),
        lines=tuple(_published_line(fit, x_axis)),
        origin=_origin(fit),
        points=tuple(
            _spot(fit, point, (point.residual_bytes or 0) / MIB, _signed(point.residual_bytes or 0))
            for point in _drawn(known)
        ),
        width=1000,
        height=208,
    )


def _drawn(points: Sequence[FitPoint]) -> Sequence[FitPoint]:
    """Return the points in drawing order: excluded ones first, so that the others are drawn on top of them."""
    return sorted(points[:MOST_POINTS], key=lambda point: point.left_out is None)


def _spot(fit: Fit, point: FitPoint, y: float, words: str) -> Spot:
    left_out = f", left out: {point.left_out}" if point.left_out else ""
    return Spot(
        point.size_bytes / MIB,
        y,
        style="hollow" if point.left_out else "spot",
        name="left out of the fit" if point.left_out else f"{_noun(fit, 1)} in the fit",
        title=f"{point.structure}, {_days(point)}{left_out}; {plain(round(point.size_bytes))}, {words}",
    )


def _days(point: FitPoint) -> str:
    return (
        str(point.first_day)
        if point.first_day == point.last_day
        else f"{point.first_day} to {point.last_day}"
    )


def _noun(fit: Fit, number: int) -> str:
    """Return the name of the points of a fit."""
    noun = "allocation" if fit.answers is None else "sizing point"
    return noun if number == 1 else f"{noun}s"


def _origin(fit: Fit) -> Origin:
    """Return the coupling facility, the days and the source of the charts for saved pictures."""
    level = "" if fit.cfcc_level is None else f", CFCC level {fit.cfcc_level}"
    days = f"{fit.first_day} to {fit.last_day}" if fit.first_day else ""
    if fit.answers is not None:
        curve = f", curve {fit.version}" if fit.version else ""
        return Origin(f"sizing answers{level}", days, f"{'; '.join(fit.answers.sources)}{curve}")
    return Origin(
        f"{fit.coupling_facility or 'unnamed coupling facility'}{level}",
        days,
        f"allocations in the uploaded records, curve {fit.version} of nightly run {fit.run_id}",
    )


def _ratios(fit: Fit) -> list[float]:
    """Return the ratios of elements to entries that have a line."""
    found = [each.elements_per_entry for each in fit.ratios][:MOST_LINES] or [fit.ratio[1] / fit.ratio[0]]
    return sorted(found)


def _cost(fit: Fit, ratio: float) -> Estimate | None:
    """Return the bytes of an entry with its elements, and their interval."""
    entry, element = fit.entry_bytes, fit.element_bytes
    if entry is None or element is None:
        return fit.bundle_bytes
    return Estimate(
        entry.value + ratio * element.value,
        entry.low + ratio * element.low,
        entry.high + ratio * element.high,
    )


def _interval_name(fit: Fit) -> str:
    return f"{fit.confidence:.0%} intervals of base and costs".replace("%", " %")


def _fitted_bands(fit: Fit, x_axis: Log) -> Iterable[Band]:
    """Yield the entries for base and costs at the ends of their intervals, for each ratio.

    Both ends at once are less likely than each of them, so that the true curve is in the band at least as often.
    """
    for ratio in _ratios(fit):
        cost = _cost(fit, ratio)
        if fit.base_bytes is None or cost is None or cost.low <= 0:
            return
        sizes = [x_axis.value(nth / _STEPS) for nth in range(_STEPS + 1)]
        points = tuple(
            (
                size,
                (size * MIB - fit.base_bytes.high) / cost.high,
                (size * MIB - fit.base_bytes.low) / cost.low,
            )
            for size in sizes
            if size * MIB > fit.base_bytes.high
        )
        if points:
            yield Band(points, "fan", ("most entries", "fewest entries"), _interval_name(fit))


def _most_expected(fit: Fit) -> float:
    """Return the distance that as many points keep as the confidence of the fit says [MiB]; 0 if unknown."""
    # A confidence of 1 is that of intervals that hold every possible line, of which no share of points follows.
    if fit.residuals is None or fit.confidence >= 1:
        return 0.0
    return NormalDist().inv_cdf((1 + fit.confidence) / 2) * fit.residuals.deviation_bytes / MIB


def _residual_bands(fit: Fit, x_axis: Log) -> Iterable[Band]:
    """Yield the distances of most points, assumed to be normally distributed."""
    most = _most_expected(fit)
    if most:
        points = tuple((x_axis.value(share), -most, most) for share in (0.0, 1.0))
        name = f"{fit.confidence:.0%} of {_noun(fit, 2)}, by their standard deviation".replace("%", " %")
        yield Band(points, "fan", ("most expected", "least expected"), name)


def _fitted_lines(fit: Fit, x_axis: Log) -> Iterable[Line]:
    """Return a line for each ratio of elements to entries, within the chart."""
    ratios = _ratios(fit)
    for ratio in ratios:
        cost = _cost(fit, ratio)
        if fit.base_bytes is None or cost is None:
            return
        sizes = [x_axis.value(nth / _STEPS) for nth in range(_STEPS + 1)]
        points = tuple(
            (size, (size * MIB - fit.base_bytes.value) / cost.value)
            for size in sizes
            if size * MIB > fit.base_bytes.value
        )
        label = f"1:{ratio:.3g}" if len(ratios) > 1 else "fitted"
        if points:
            yield Line(points, label, "fitted", label=label)


def _published_line(fit: Fit, x_axis: Log) -> Iterable[Line]:
    """Yield the difference between the published and the fitted size for the same entries."""
    published = fit.published
    if published is None or fit.base_bytes is None or fit.bundle_bytes is None:
        return
    # The published curves are for 1:6 and any SIZE, so nothing else can be compared.
    if fit.ratio != (1, 6) or fit.has_size_cost:
        return
    points = []
    for nth in range(4 * _STEPS + 1):
        size = x_axis.value(nth / (4 * _STEPS))
        entries = max(size * MIB - fit.base_bytes.value, 0.0) / fit.bundle_bytes.value
        points.append((size, (float(published.base) + float(published.bundle) * entries) / MIB - size))
    yield Line(tuple(points), "published", "published", label="published")


def _entries_in_words(fit: Fit, points: Sequence[FitPoint]) -> str:
    sizes = [point.size_bytes for point in points]
    words = [
        f"{len(points)} {_noun(fit, len(points))} from {plain(round(min(sizes)))} to {plain(round(max(sizes)))}, with "
        f"{grouped(round(min(point.entries for point in points)))} to "
        f"{grouped(round(max(point.entries for point in points)))} list entries."
    ]
    if fit.base_bytes is not None and fit.bundle_bytes is not None:
        words.append(
            f"The fitted curve begins at a base of {plain(round(fit.base_bytes.value))} and rises by "
            f"{fit.bundle_bytes.value:.1f} bytes for each entry with {fit.ratio[1] / fit.ratio[0]:g} elements."
        )
    out = sum(point.left_out is not None for point in points)
    if out:
        words.append(f"{out} of the {_noun(fit, 2)} are not in the fit; their markers are hollow.")
    return " ".join(words)


def _residuals_in_words(fit: Fit, used: Sequence[FitPoint]) -> str:
    words = [
        f"Of {len(used)} {_noun(fit, len(used))} in the fit, the farthest is "
        f"{_megabytes(max(abs(point.residual_bytes or 0) for point in used))} from the curve."
    ]
    if fit.residuals is not None:
        words.append(
            f"The standard deviation of the distances is {_megabytes(fit.residuals.deviation_bytes)}."
        )
    return " ".join(words)


def _megabytes(value: float) -> str:
    return f"{value / MIB:.2f} MiB"


def published_in_words(fit: Fit) -> str:
    """Return the size of the published curve for the smallest and the largest allocation; empty if it is unknown."""
    published = fit.published
    # Published figures do not state the SIZE at which they hold.
    if published is None or fit.has_size_cost:
        return ""
    used = [
        point
        for point in fit.points
        if point.left_out is None
        and point.fitted_bytes is not None
        and math.isclose(
            point.elements_per_entry or 0, float(published.elements_per_entry), rel_tol=_SAME_RATIO
        )
    ]
    if not used:
        return ""
    ends = []
    for point in (min(used, key=lambda each: each.size_bytes), max(used, key=lambda each: each.size_bytes)):
        less = float(published.base) + float(published.bundle) * point.entries - (point.fitted_bytes or 0)
        word = "more" if less >= 0 else "less"
        ends.append(f"{_megabytes(abs(less))} {word} at {plain(round(point.size_bytes))}")
    return f"For the same entries at 1:6, the published curve gives {' and '.join(dict.fromkeys(ends))}."


def _signed(value_bytes: float) -> str:
    return f"{value_bytes / MIB:+.2f} MiB".replace("-", "\N{MINUS SIGN}")


def _round_step(most: float) -> float:
    """Return a round step for an axis, such that two to four steps reach the maximum."""
    size = 10.0 ** math.floor(math.log10(most))
    return next(step for part in (2, 1, 0.5, 0.2, 0.1) if most / (step := size * part) >= 2)  # noqa: PLR2004
