"""Structures with known traffic, message by message: a measured history, and outages in the days after it.

This world shares no code with the model of `planner_core.whatif.survival_model`. Traffic is drawn by the minute: weekday,
hour, month end, persistent noise of days and of hours, bursts of some minutes, and growth. Message sizes are drawn one by
one. The history has what roll-ups of SMF records have: puts and bytes of each queue by hour, and the highest fill of the
hour. An outage counts single messages into entries and elements until a put finds no room.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

MINUTES: Final = 1440
HOURS: Final = 24
QUARTER: Final = 91
HEADER: Final = 372
ELEMENT: Final = 256
LARGEST: Final = 63 * 1024
OFFLOADED: Final = 2
RULES: Final = ((0.70, 32 * 1024), (0.80, 4 * 1024), (0.90, 0))
LONGEST: Final = 1440
"""The longest outage [minutes]."""


@dataclass(frozen=True, slots=True)
class QueueWorld:
    """The messages of one queue."""

    share: float
    mean_bytes: float
    sigma: float
    """Standard deviation of the logarithm of sizes; 0 if all messages have one size."""

    def sizes(self, count: int, random: np.random.Generator) -> Whole:
        """Return the sizes of single messages [bytes]."""
        drawn = self.mean_bytes * np.exp(random.normal(-(self.sigma**2) / 2, self.sigma, count))
        return np.clip(np.rint(drawn), 1, 200 * 1024).astype(np.int64)


@dataclass(frozen=True, slots=True)
class HourRecord:
    """One hour of the history: puts, bytes and sizes by queue, and the highest fill."""

    puts: tuple[int, ...]
    put_bytes: tuple[int, ...]
    smallest: tuple[int, ...]
    largest: tuple[int, ...]
    entries_max: int
    elements_max: int


class OutageWorld:
    """One structure of this world."""

    def __init__(self, seed: int) -> None:
        # The second number makes the figures differ from those of other simulators with the same seed.
        random = np.random.default_rng((seed, 1802))
        self.random = random
        self.days = int(random.integers(28, 100))
        self.first_day = dt.date(2026, 1, 5) + dt.timedelta(days=int(random.integers(0, 28)))
        self.per_minute = float(np.exp(random.uniform(np.log(10), np.log(120))))
        self.weekday = np.where(np.arange(7) < 5, 1.0, random.uniform(0.15, 1.0)) * np.exp(
            random.normal(0, 0.08, 7)
        )
        peak, width, night = random.uniform(9, 17), random.uniform(2, 6), random.uniform(0.03, 0.5)
        minute = np.arange(MINUTES) / 60
        away = np.minimum(np.abs(minute - peak), 24 - np.abs(minute - peak))
        self.profile = night + (1 - night) * np.exp(-((away / width) ** 2))
        if random.random() < 0.4:
            # A nightly batch.
            begin = int(random.integers(0, 5 * 60))
            self.profile[begin : begin + int(random.integers(30, 120))] += random.uniform(0.3, 1.5)
        self.month_end = random.uniform(1.0, 1.5) if random.random() < 0.5 else 1.0
        self.day_sigma, self.day_memory = random.uniform(0.03, 0.3), random.uniform(0, 0.7)
        self.hour_sigma, self.hour_memory = random.uniform(0.02, 0.3), random.uniform(0.3, 0.9)
        self.bursts_a_day = float(random.choice([0.0, 0.1, 0.5, 2.0]))
        self.growth_per_day = float(np.log1p(random.normal(0.01, 0.02)) / 30)
        shares = random.dirichlet(np.ones(int(random.integers(1, 5))) * 2)
        self.queues = tuple(
            QueueWorld(
                float(share),
                float(np.exp(random.uniform(np.log(300), np.log(12_000)))),
                0.0 if random.random() < 0.3 else float(random.uniform(0.2, 1.2)),
            )
            for share in shares
        )
        self.residence = random.uniform(0.05, 2.0)
        """Minutes that a message stays while consumers run."""
        self._minutes = self._rates(self.days + QUARTER + 2)
        # The structure lasts for a time between minutes and a day at the usual rate.
        minutes = float(np.exp(random.uniform(np.log(40), np.log(900))))
        usual = float(np.quantile(self._minutes[: self.days * MINUTES], 0.7))
        self.entries = max(200, int(minutes * usual * random.uniform(0.6, 1.6)))
        sample = np.concatenate([queue.sizes(2000, random) for queue in self.queues])
        costs = np.concatenate([np.full(2000, queue.share / 2000) for queue in self.queues])
        needed = float((elements(sample) * costs).sum())
        # Usually the elements run out first, sometimes the entries.
        self.elements = max(1200, int(minutes * usual * needed * random.uniform(0.5, 1.3)))

    def _rates(self, days: int) -> Floats:
        random = self.random
        found = []
        noise = hourly = 0.0
        for number in range(days):
            day = self.first_day + dt.timedelta(days=number)
            noise = self.day_memory * noise + random.normal(
                0, self.day_sigma * np.sqrt(1 - self.day_memory**2)
            )
            by_hour = np.empty(HOURS)
            for hour in range(HOURS):
                fresh = random.normal(0, self.hour_sigma * np.sqrt(1 - self.hour_memory**2))
                hourly = self.hour_memory * hourly + fresh
                by_hour[hour] = hourly
            rate = (
                self.per_minute * self.profile * self.weekday[day.weekday()]
                * np.exp(noise + np.repeat(by_hour, 60) + self.growth_per_day * number)
            )  # fmt: skip
            if (day + dt.timedelta(days=2)).month != day.month:
                rate = rate * self.month_end
            for _ in range(random.poisson(self.bursts_a_day)):
                begin = int(random.integers(0, MINUTES))
                rate[begin : begin + int(random.integers(5, 90))] *= random.uniform(2, 6)
            found.append(rate)
        rates: Floats = np.concatenate(found)
        return rates

    def history(self) -> list[list[HourRecord]]:
        """Return the hours of each day."""
        found = []
        for day in range(self.days):
            hours = []
            for hour in range(HOURS):
                begin = day * MINUTES + hour * 60
                rates = self._minutes[begin : begin + 60]
                hours.append(self._hour(rates))
            found.append(hours)
        return found

    def _hour(self, rates: Floats) -> HourRecord:
        random = self.random
        puts, put_bytes, smallest, largest, entries, used = [], [], [], [], 0, 0
        for queue in self.queues:
            sizes = queue.sizes(int(random.poisson(rates.sum() * queue.share)), random)
            puts.append(len(sizes))
            put_bytes.append(int(sizes.sum()))
            smallest.append(int(sizes.min()) if len(sizes) else 0)
            largest.append(int(sizes.max()) if len(sizes) else 0)
            held = int(random.poisson(rates.max() * queue.share * self.residence))
            entries += held
            used += int(elements(queue.sizes(held, random)).sum())
        return HourRecord(
            tuple(puts), tuple(put_bytes), tuple(smallest), tuple(largest),
            min(entries, self.entries), min(used, self.elements),
        )  # fmt: skip

    def lasts(self, *, with_offload: bool, count: int) -> Floats:
        """Return the minutes until a put fails, for outages that begin at random times of the quarter after the history."""
        random = self.random
        found = np.empty(count)
        for number in range(count):
            begin = self.days * MINUTES + int(random.integers(0, QUARTER * MINUTES))
            found[number] = self._outage(begin, with_offload=with_offload)
        return found

    def _outage(self, begin: int, *, with_offload: bool) -> float:
        random = self.random
        rates = self._minutes[begin : begin + LONGEST]
        # Messages that are there when consumers stop have stayed for the residence time at most.
        present = [int(random.poisson(rates[0] * queue.share * self.residence)) for queue in self.queues]
        counts = [random.poisson(rates * queue.share) for queue in self.queues]
        at = np.concatenate([np.repeat(np.arange(len(rates)), each) for each in counts]) + 0.0
        at += random.random(len(at))
        sizes = np.concatenate(
            [queue.sizes(int(each.sum()), random) for queue, each in zip(self.queues, counts, strict=True)]
        )
        order = np.argsort(at)
        at, sizes = at[order], sizes[order]
        entries = sum(present)
        used = sum(
            int(elements(queue.sizes(each, random)).sum())
            for queue, each in zip(self.queues, present, strict=True)
        )
        place, over = 0, LARGEST
        for threshold, size in (*(RULES if with_offload else ()), (1.0, 0)):
            taken = np.where(sizes[place:] > over, OFFLOADED, elements(sizes[place:]))
            total = used + np.cumsum(taken)
            many = entries + np.arange(1, len(taken) + 1)
            # The first put that goes beyond the threshold; the last threshold is the structure itself.
            passed = np.flatnonzero((total > threshold * self.elements) | (many > threshold * self.entries))
            if not len(passed):
                return np.inf
            index = int(passed[0])
            if threshold == 1.0:
                return float(at[place + index])
            used, entries = int(total[index]), int(many[index])
            place += index + 1
            over = min(over, size)
        return np.inf


def elements(sizes: Whole) -> Whole:
    """Return the list elements of messages of these sizes."""
    found: Whole = np.where(sizes > LARGEST, OFFLOADED, -(-(sizes + HEADER) // ELEMENT))
    return found
