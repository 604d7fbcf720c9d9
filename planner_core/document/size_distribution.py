"""Message sizes of a queue that states their mean, 95th percentile and maximum.

Between the three numbers the sizes have the shape of `size_shape`, which is an assumption and is reported as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, log
from typing import NamedTuple

from planner_core.document.size_shape import BODY, TWENTY, parts_of

SCALE = 2**32
_BODY_SCALE = SCALE * BODY // TWENTY
_TAIL_SCALE = SCALE - _BODY_SCALE
_HIGHEST_RATIO = float(TWENTY)


class SizeDistribution(NamedTuple):
    """Message sizes of one queue [bytes]: mean (`mean` / `mean_of`), 95th percentile, maximum."""

    mean: int
    mean_of: int
    p95: int
    maximum: int

    def problem(self) -> str | None:
        """Return a sentence if no distribution can have these three values, otherwise None."""
        if self.p95 > self.maximum:
            return f"p95 ({self.p95}) must not be above max ({self.maximum})"
        if TWENTY * self.mean > (BODY * self.p95 + self.maximum) * self.mean_of:
            return f"a mean of {self.mean / self.mean_of:g} is impossible when 95 % are at most {self.p95} and none is above {self.maximum}"
        if TWENTY * self.mean < self.p95 * self.mean_of:
            return f"a mean of {self.mean / self.mean_of:g} is impossible when 5 % of the messages are at least {self.p95}"
        return None

    def up_to(self, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """Return the messages and bytes up to each of these sizes, in units of 2**-32 of a message and a byte.

        95 % of the messages are at most p95 long, and all at most the maximum; the bytes up to the maximum are the mean,
        rounded up.
        """
        mean, mean_of, p95, maximum = self
        # A grid of integers, so that sums over queues are exact, and machines that differ in a last digit agree.
        total = -(-SCALE * mean // mean_of)
        if not p95 or not total:
            return self._up_to_over_empty(sizes, total)
        ratio = p95 * mean_of / mean
        parts = parts_of(ratio if ratio < _HIGHEST_RATIO else _HIGHEST_RATIO, maximum / p95)
        shape, start, steps, shift, messages, moments = parts[:6]
        # The formula for sizes up to p95 is inlined, because function calls would take half of the time.
        body, whole = total - int(shape.tail_mean * p95 * _TAIL_SCALE), _BODY_SCALE * p95
        body = 0 if body < 0 else body if body < whole else whole
        top = p95 * shape.body_top
        found: list[tuple[int, int]] = []
        for size in sizes:
            if size >= maximum:
                found.append((SCALE, total))
            elif size > p95:
                share, moment = parts.tail_up_to(size / p95)
                found.append((_BODY_SCALE + int(share * _TAIL_SCALE), body + int(moment * (total - body))))
            elif size >= top:
                found.append((_BODY_SCALE, body))
            elif size > 0:
                z = start + log(size / top) * steps
                found.append((int(erfc(-z) / messages * _BODY_SCALE), int(erfc(shift - z) / moments * body)))
            else:
                found.append((0, 0))
        return found

    def _up_to_over_empty(self, sizes: Sequence[int], total: int) -> list[tuple[int, int]]:
        """Return the result of `up_to` if 95 % of the messages are empty: the others follow a power law up to the maximum."""
        # A lognormal has no size 0, so the shape of `size_shape` cannot be used.
        found: list[tuple[int, int]] = []
        mean = total / _TAIL_SCALE
        for size in sizes:
            if size >= self.maximum:
                found.append((SCALE, total))
            elif size < 0:
                found.append((0, 0))
            elif mean >= self.maximum:
                found.append((_BODY_SCALE, 0))
            else:
                part, power = size / self.maximum, mean / (self.maximum - mean)
                share = part**power
                found.append((_BODY_SCALE + int(share * _TAIL_SCALE), int(share * part * total)))
        return found
