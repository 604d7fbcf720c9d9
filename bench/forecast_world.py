"""Structures with a known future: daily peaks and their continuation.

This world is independent of `bench.simulated_peaks`: peaks are the highest of a day's draws, growth may change or stop,
levels drift, and weeks differ. A model that suits one of the two worlds only by chance fails in the other.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Days = NDArray[np.int64]

HORIZON = 180
AFTER = 200
"""Days after the horizon, so that crossings beyond it are known."""
LEVEL = 0.85


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """One structure of this world: its history and its future."""

    days: Days
    peaks: Floats
    future_days: Days
    future_ordinary: Floats
    """Future peaks without exceptional days."""
    future_peaks: Floats
    """Future peaks with exceptional days as frequent as in the history."""
    noise_free: Floats
    """The expected peak of each of those days, before noise."""
    level: float
    kind: str

    def crossing(self, path: Floats) -> int:
        """Return the first day above the level, or one past the last day if there is none."""
        above = np.flatnonzero(path > self.level)
        return int(above[0]) + 1 if len(above) else len(path) + 1


def world(seed: int) -> World:
    """Return a structure drawn from the seed.

    A quarter of the structures grow linearly, four in ten by compounding, one in seven changes its growth at some
    point, one in ten does not grow, one in ten shrinks. Histories have 60 to 400 days, with gaps; a fifth have a level
    shift, a third drift, half are busy at the ends of months, four in five have a weekly rhythm. Growing structures
    reach the level, without noise, 5 to 200 days after the history; the others get a level somewhat above their
    history.
    """
    # The second number makes the figures differ from those of other simulators with the same seed.
    random = np.random.default_rng((seed, 77))
    history = int(random.integers(60, 401))
    length = history + HORIZON + AFTER
    first = dt.date(2025, 1, 1).toordinal() + int(random.integers(0, 365))
    days = first + np.arange(length)
    kind = str(
        random.choice(["linear", "compound", "changing", "still", "shrinking"], p=[0.25, 0.4, 0.15, 0.1, 0.1])
    )
    usual = _growth(random, kind, history, length)
    if random.random() < 1 / 3:
        usual += np.cumsum(random.normal(0, random.uniform(0.002, 0.006), length))
    if random.random() < 0.2:
        usual[int(random.integers(20, history - 15)) :] += random.choice([-1, 1]) * random.uniform(0.15, 0.5)
    usual += _week(random)[(days - 1) % 7] + _month(random, days)
    size = np.exp(random.uniform(np.log(300), np.log(3e6)))
    ordinary = size * np.exp(usual + _noise(random, length))
    peaks, exceptional = _exceptional(random, ordinary)
    noise_free = size * np.exp(usual)
    level = _level(random, kind, noise_free, ordinary, history)
    seen = np.rint(peaks[:history])
    seen[_gaps(random, history)] = np.nan
    after = ordinary[history:]
    return World(
        days=days[:history],
        peaks=seen,
        future_days=days[history:],
        future_ordinary=after,
        future_peaks=np.where(exceptional[history:], peaks[history:], after),
        noise_free=noise_free[history:],
        level=level,
        kind=kind,
    )


def _growth(random: np.random.Generator, kind: str, history: int, length: int) -> Floats:
    """Return logarithms of the trend, zero at the end of the history."""
    ahead: Floats = np.arange(length, dtype=np.float64) - (history - 1)
    pace: float = float(random.uniform(0.15, 1.1)) / 180
    if kind == "compound":
        steady: Floats = pace * ahead
        return steady
    if kind == "linear":
        slope = min(pace, 0.8 / history)
        line: Floats = np.log(np.maximum(1 + slope * ahead, 0.05))
        return line
    if kind == "changing":
        turn = -random.uniform(25, 0.6 * history)
        before = pace * random.choice([0.0, 0.3, 2.0])
        path: Floats = np.where(ahead < turn, pace * turn + before * (ahead - turn), pace * ahead)
        return path
    if kind == "shrinking":
        down: Floats = -float(random.uniform(0.05, 0.6)) / 180 * ahead
        return down
    return np.zeros(length)


def _week(random: np.random.Generator) -> Floats:
    shape = random.random()
    if shape < 0.2:
        return np.zeros(7)
    week = random.normal(0, 0.05, 7)
    if shape < 0.85:
        week[5:] += np.log(random.uniform(0.1, 0.9, 2))
    else:
        week += random.normal(0, 0.25, 7)
    return week


def _month(random: np.random.Generator, days: Days) -> Floats:
    if random.random() < 0.5:
        return np.zeros(len(days))
    width, factor = int(random.integers(1, 4)), np.log(random.uniform(1.05, 1.5))
    before = int(random.integers(0, width + 1))
    numbers = np.array([(dt.date.fromordinal(int(day) + before)).day for day in days])
    busy: Floats = np.where(numbers <= width, factor, 0.0)
    return busy


def _noise(random: np.random.Generator, length: int) -> Floats:
    """Return the highest of each day's draws, with autocorrelation from day to day."""
    deviation, lasting = random.uniform(0.03, 0.15), random.uniform(0, 0.7)
    draws = int(random.choice([1, 3, 24]))
    highest = random.normal(0, 1, (length, draws)).max(axis=1)
    # Standardized, because the maximum of several draws has a different mean and deviation than one draw.
    highest = (highest - highest.mean()) / highest.std()
    noise = np.empty(length)
    noise[0] = highest[0]
    for day in range(1, length):
        # The factor keeps the standard deviation equal on all days.
        noise[day] = lasting * noise[day - 1] + np.sqrt(1 - lasting**2) * highest[day]
    return deviation * noise


def _exceptional(random: np.random.Generator, ordinary: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Add backlogs of stopped consumers that last one to three days, at a rate that differs by structure."""
    peaks, flags = ordinary.copy(), np.zeros(len(ordinary), dtype=np.bool_)
    for begin in np.flatnonzero(random.random(len(ordinary)) < random.uniform(0, 0.012)):
        lasts = int(random.integers(1, 4))
        peaks[begin : begin + lasts] *= random.uniform(1.5, 4)
        flags[begin : begin + lasts] = True
    return peaks, flags


def _gaps(random: np.random.Generator, history: int) -> NDArray[np.bool_]:
    missing = random.random(history) < random.uniform(0, 0.08)
    if random.random() < 0.4:
        begin = int(random.integers(0, history - 10))
        missing[begin : begin + int(random.integers(2, 11))] = True
    # A forecast begins at the last measured day, so that day must be the end of the history.
    missing[-1] = False
    return missing


def _level(
    random: np.random.Generator, kind: str, noise_free: Floats, ordinary: Floats, history: int
) -> float:
    seen = float(ordinary[history - 14 : history].max())
    if kind in ("still", "shrinking"):
        return seen * float(random.uniform(1.1, 1.8))
    crossed = int(random.integers(5, 201))
    # Above the recent peaks, because a level that was crossed already has no crossing to forecast.
    return max(float(noise_free[history : history + crossed].max()), seen * 1.02)
