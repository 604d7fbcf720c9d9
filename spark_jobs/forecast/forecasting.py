"""Forecasts from daily peaks."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from planner_core.contracts.forecasts import Crossing, Forecast, ForecastState, Resized
from spark_jobs.forecast import sentences
from spark_jobs.forecast.baselines import baselines_of
from spark_jobs.forecast.cleaning import empty_days, since_first_use, usual_of
from spark_jobs.forecast.crossings import Ahead, History, crossing
from spark_jobs.forecast.figures import NAMES, QUANTILES, date_of, quantiles_of, rounded
from spark_jobs.forecast.paths import Paths, resampled, with_empty_days, with_episodes
from spark_jobs.forecast.peaks import DailyPeaks, Level, Resize
from spark_jobs.forecast.structural import structural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spark_jobs.forecast.peaks import Days, Peaks

    Floats = NDArray[np.float64]

HORIZON_DAYS = 180
LEAST_DAYS = 42
"""The number of measured days below which there is no forecast: six weeks."""
MOST_AGE_DAYS = 45
"""The maximum age of the last measured day for a forecast."""
MOST_DAYS = 400
"""The number of days of history that are used; older days say little about the next half year."""
PATHS = 1000
MOSTLY_EMPTY = 0.5
RESIZES = (
    Resize("1.25 times the size", 1.25),
    Resize("1.5 times the size", 1.5),
    Resize("twice the size", 2.0),
)


def forecast(
    peaks: DailyPeaks,
    *,
    levels: Sequence[Level],
    horizon_days: int = HORIZON_DAYS,
    seed: int = 0,
    made_on: int | None = None,
    resizes: Sequence[Resize] = RESIZES,
    paths: int = PATHS,
    least_days: int = LEAST_DAYS,
) -> Forecast:
    """Return the distribution of the peaks of the days ahead, and of the day on which each level is passed.

    Args:
        peaks: The measured peaks.
        levels: The levels, in the order of the result.
        horizon_days: The number of days to look ahead.
        seed: The same seed and the same history give the same forecast; structures draw independently of each other.
        made_on: The day (ordinal) that days are counted from; by default the last measured day.
        resizes: Other totals to calculate the crossings for.
        paths: Number of random paths of the days ahead.
        least_days: Measured days below which there is no forecast; fewer than `LEAST_DAYS` only to measure their effect.
    """
    if horizon_days < 1 or paths < 1:
        message = f"horizon of {horizon_days} days, {paths} paths: both must be at least 1"
        raise ValueError(message)
    days, values = peaks.measured()
    if made_on is None:
        named = peaks.days[np.isfinite(peaks.peaks)] if len(days) else peaks.days
        made_on = int(named.max()) if len(named) else 1
    known = days <= made_on
    days, values = days[known], values[known]
    maker = _Maker(peaks, days, values, levels, horizon_days, made_on, resizes)
    if not len(days):
        return maker.without("not_measured", sentences.not_measured())
    recent = days > days[-1] - MOST_DAYS
    maker.days, maker.values = since_first_use(days[recent], values[recent])
    if len(maker.days) < least_days:
        return maker.without(
            "too_short",
            sentences.too_short(
                measured=len(maker.days),
                needed=least_days,
                since_first_use=len(maker.days) < int(recent.sum()),
            ),
        )
    age = made_on - int(days[-1])
    if age > MOST_AGE_DAYS:
        sentence = sentences.out_of_date(last=int(days[-1]), age=age, most=MOST_AGE_DAYS)
        return maker.without("out_of_date", sentence)
    random = np.random.default_rng((seed, _number(peaks)))
    return maker.with_paths(random, count=paths)


def _number(peaks: DailyPeaks) -> int:
    """Return a number for the structure's measure, the same in every process."""
    key = "\n".join((peaks.qsg, peaks.structure, peaks.measure, peaks.queue_manager or ""))
    # hash() differs between processes, but the same history must give the same forecast.
    return zlib.crc32(key.encode())


class _Maker:
    """A builder of one forecast."""

    def __init__(
        self,
        peaks: DailyPeaks,
        days: Days,
        values: Peaks,
        levels: Sequence[Level],
        horizon_days: int,
        made_on: int,
        resizes: Sequence[Resize],
    ) -> None:
        self.peaks, self.days, self.values = peaks, days, values
        self.levels, self.horizon_days, self.made_on, self.resizes = levels, horizon_days, made_on, resizes

    def without(self, state: ForecastState, sentence: str) -> Forecast:
        """Return a forecast without quantiles."""
        none = np.zeros(len(self.days), dtype=np.bool_)
        return self._made(state, sentence, self._crossings(self.levels, none, None))

    def with_paths(self, random: np.random.Generator, *, count: int) -> Forecast:
        """Return a forecast with quantiles."""
        # Paths begin after the last measured day; those up to the day of the forecast are over.
        skipped = self.made_on - int(self.days[-1])
        ahead = skipped + self.horizon_days
        # Without any noise, the model would have nothing to estimate it from.
        if float(np.ptp(self.values)) == 0:
            return self._flat(count)
        empty = empty_days(self.values)
        excess = np.zeros(len(self.days))
        if float(empty.mean()) > MOSTLY_EMPTY:
            drawn = resampled(self.days, self.values, ahead=ahead, count=count, random=random)
            return self._from(drawn, drawn.ordinary[:, skipped:], excess, random)
        days, values = self.days[~empty], self.values[~empty]
        usual = usual_of(days, np.log(values))
        excess[~empty] = usual.excess
        ordinary = ~usual.exceptional
        drawn = structural(
            days[ordinary],
            values[ordinary],
            last=int(self.days[-1]),
            deviation=usual.deviation,
            ahead=ahead,
            count=count,
            random=random,
        )
        paths = with_empty_days(
            drawn.ordinary[:, skipped:], days=self.days, empty=empty, first=self.made_on + 1, random=random
        )
        return self._from(drawn, paths, excess, random)

    def _from(self, drawn: Paths, ordinary: Floats, excess: Floats, random: np.random.Generator) -> Forecast:
        span = int(self.days[-1] - self.days[0]) + 1
        spikes = with_episodes(ordinary, excess, span_days=span, random=random)
        exceptional, ahead = excess != 0, Ahead(ordinary, spikes)
        low, middle, high = np.quantile(np.expm1(drawn.growth), QUANTILES).tolist()
        growth = (low, middle, high)
        crossings = self._crossings(self.levels, exceptional, ahead)
        sentence = sentences.forecast(crossings, growth=growth, horizon_days=self.horizon_days)
        return self._made(
            "forecast",
            sentence,
            crossings,
            model=drawn.model,
            growth=growth,
            ahead=ahead,
            resizes=self._resizes(exceptional, ahead),
            notes=(*drawn.notes, *sentences.exceptional(self.days[exceptional])),
        )

    def _flat(self, count: int) -> Forecast:
        value = float(self.values[-1])
        ahead = Ahead(np.full((count, self.horizon_days), value), None)
        none = np.zeros(len(self.days), dtype=np.bool_)
        return self._made(
            "flat",
            sentences.flat(value=value, unit=self.peaks.unit, measured=len(self.days)),
            self._crossings(self.levels, none, ahead),
            model="constant",
            growth=(0.0, 0.0, 0.0),
            ahead=ahead,
            resizes=self._resizes(none, ahead),
        )

    def _resizes(self, exceptional: NDArray[np.bool_], ahead: Ahead) -> tuple[Resized, ...]:
        found = []
        for resize in self.resizes:
            higher = [
                Level(level.name, level.value * resize.factor, reached=level.reached)
                for level in self.levels
                if level.value is not None
            ]
            if higher:
                crossings = self._crossings(higher, exceptional, ahead)
                sentence = sentences.resized(resize.name, crossings)
                found.append(Resized(resize.name, resize.factor, sentence, crossings))
        return tuple(found)

    def _crossings(
        self,
        levels: Sequence[Level],
        exceptional: NDArray[np.bool_],
        ahead: Ahead | None,
    ) -> tuple[Crossing, ...]:
        history = History(self.days, self.values, exceptional, self.made_on)
        return tuple(crossing(level, history=history, ahead=ahead) for level in levels)

    def _made(
        self,
        state: ForecastState,
        sentence: str,
        crossings: tuple[Crossing, ...],
        *,
        model: str | None = None,
        growth: tuple[float, float, float] | None = None,
        ahead: Ahead | None = None,
        resizes: tuple[Resized, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> Forecast:
        quantiles: dict[str, tuple[float, ...]] = {}
        highest = None
        if ahead is not None:
            rows = zip(NAMES, ahead.quantiles, strict=True)
            quantiles = {name: tuple(map(rounded, row.tolist())) for name, row in rows}
            highest = quantiles_of(np.quantile(ahead.highest, QUANTILES).tolist())
        some = len(self.days) > 0
        return Forecast(
            qsg=self.peaks.qsg,
            structure=self.peaks.structure,
            measure=self.peaks.measure,
            queue_manager=self.peaks.queue_manager,
            unit=self.peaks.unit,
            state=state,
            sentence=sentence,
            made_on=date_of(self.made_on),
            horizon_days=self.horizon_days,
            first_day=date_of(self.days[0]) if some else None,
            last_day=date_of(self.days[-1]) if some else None,
            days_measured=len(self.days),
            model=model,
            growth_per_30_days=None if growth is None else quantiles_of(growth),
            quantiles=quantiles,
            highest=highest,
            crossings=crossings,
            resizes=resizes,
            baselines=baselines_of(self.days, self.values, made_on=self.made_on) if some else None,
            notes=notes,
        )
