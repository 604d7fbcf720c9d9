"""Message sizes of a queue that states their mean, 95th percentile and maximum.

Between the three numbers the sizes have the shape of `size_shape`, which is an assumption and is reported as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner_core.document.size_shape import BODY, TWENTY, Shape, shape_of, up_to_part

SCALE = 2**32
_BODY_SCALE = SCALE * BODY // TWENTY
_TAIL_SCALE = SCALE - _BODY_SCALE


@dataclass(frozen=True, slots=True)
class SizeDistribution:
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

    def shape(self) -> Shape:
        """Return the assumed shape between the three numbers; p95 and mean must be above 0."""
        ratio = self.p95 * self.mean_of / self.mean
        return shape_of(min(ratio, float(TWENTY)), self.maximum / self.p95)

    def up_to(self, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """Return the messages and bytes up to each of these sizes, in units of 2**-32 of a message and a byte.

        95 % of the messages are at most p95 long, and all at most the maximum; the bytes up to the maximum are the mean,
        rounded up.
        """
        p95, maximum = self.p95, self.maximum
        # A grid of integers, so that sums over queues are exact, and machines that differ in a last digit agree.
        total = -(-SCALE * self.mean // self.mean_of)
        if not p95 or not total:
            return self._up_to_over_empty(sizes, total)
        shape = self.shape()
        body = min(max(total - int(shape.tail_mean * p95 * _TAIL_SCALE), 0), _BODY_SCALE * p95)
        top, reach, line = p95 * shape.body_top, maximum / p95, shape.body_line()
        found: list[tuple[int, int]] = []
        for size in sizes:
            if size >= maximum:
                found.append((SCALE, total))
            elif size > p95:
                share, moment = shape.tail_up_to(size / p95, reach)
                found.append((_BODY_SCALE + int(share * _TAIL_SCALE), body + int(moment * (total - body))))
            elif size >= top:
                found.append((_BODY_SCALE, body))
            elif size > 0:
                share, moment = up_to_part(size / top, line)
                found.append((int(share * _BODY_SCALE), int(moment * body)))
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
