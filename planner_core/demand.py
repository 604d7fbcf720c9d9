"""From queues to what a structure must hold: messages, list entries, list elements.

Backlog. A queue states its backlog, or a put rate and the outage to survive; then the
backlog is rate x outage, rounded up. Growth is compounded and applied to both in the same
way: backlog x (1 + percent/100) ** years, once, rounded up to whole messages.

Size distribution. A queue may state mean, 95th percentile and maximum of its message
sizes. Each message pays whole 256-byte elements. A message of L bytes takes at most
(L + header + 255) / 256 of them, so messages of any distribution take at most
(mean + header + 255) / 256 on average: that bound is used, and is at most one element a
message too large. Which messages are over an offload rule's size, or over 63 KB, is
another matter: there the distribution is taken as two uniform pieces, 95 % of the messages
up to p95 and 5 % from there to the maximum, placed so that mean, p95 and maximum hold
exactly. That shape is an assumption and is reported as one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from planner_core.errors import OutOfRange
from planner_core.structure_size import elements_for, model_constant
from planner_core.units import ceil_div, ceil_fraction, floor_fraction

SECONDS_PER_MINUTE = 60
_PERCENT = 100
_P95 = Fraction(95, 100)
_TAIL = 1 - _P95
_SCALE = 2**32


@dataclass(frozen=True, slots=True)
class SizeDistribution:
    """Message sizes of one queue [bytes]: mean, 95th percentile, maximum."""

    mean: Fraction
    p95: int
    maximum: int

    def problem(self) -> str | None:
        """Why no distribution has these three values, or None."""
        if not self.p95 <= self.maximum:
            return f"p95 ({self.p95}) must not be above max ({self.maximum})"
        if self.mean > _P95 * self.p95 + _TAIL * self.maximum:
            return f"a mean of {float(self.mean):g} is impossible when 95 % are at most {self.p95} and none is above {self.maximum}"
        if self.mean < _TAIL * self.p95:
            return f"a mean of {float(self.mean):g} is impossible when 5 % of the messages are at least {self.p95}"
        return None

    def pieces(self) -> tuple[tuple[Fraction, Fraction, Fraction], ...]:
        """Uniform pieces (share, from, to) with exactly this mean, p95 and maximum."""
        lowest_tail = max(Fraction(self.p95), (self.mean - _P95 * self.p95) / _TAIL)
        highest_tail = min(Fraction(self.maximum), self.mean / _TAIL)
        tail = min(max(Fraction(self.p95 + self.maximum, 2), lowest_tail), highest_tail)
        body = (self.mean - _TAIL * tail) / _P95
        return (
            (_P95, *_uniform(body, Fraction(0), Fraction(self.p95))),
            (_TAIL, *_uniform(tail, Fraction(self.p95), Fraction(self.maximum))),
        )


def _uniform(mean: Fraction, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """The widest uniform piece inside low..high with that mean."""
    reach = min(mean - low, high - mean)
    return mean - reach, mean + reach


@dataclass(frozen=True, slots=True)
class QueueDemand:
    """What one queue puts on a structure."""

    messages: int
    message_bytes: int | SizeDistribution


@dataclass(frozen=True, slots=True)
class Band:
    """The messages of a structure whose size lies above `over_bytes` and not above the next band's.

    `elements` are those taken while the data is in the CF; `pages` those of 4 KB in SMDS.
    The three counts are in units of one part in `scale` of the demand.
    """

    over_bytes: int
    messages: int
    elements: int
    pages: int


@dataclass(frozen=True, slots=True)
class Demand:
    """The backlog of one structure, in bands of message sizes.

    `elements` counts messages too large for the CF as offloaded and no other. `scale` is 1
    unless a queue gives a distribution of sizes, whose shares are no whole messages.
    """

    messages: int
    elements: int
    bands: tuple[Band, ...]
    scale: int

    @property
    def entries(self) -> int:
        """List entries: one a message."""
        return self.messages


def backlog_messages(*, put_rate_per_s: Decimal, outage_minutes: Decimal) -> Fraction:
    """Messages that arrive while nothing takes them off [messages, not rounded]."""
    return Fraction(put_rate_per_s) * Fraction(outage_minutes) * SECONDS_PER_MINUTE


@lru_cache(maxsize=256)
def growth_factor(*, percent_per_year: Decimal, years: Decimal) -> Fraction:
    """Compound growth; years need not be whole."""
    if percent_per_year <= -_PERCENT:
        raise OutOfRange(field="percent_per_year", value=percent_per_year, lowest="more than -100")
    if not percent_per_year or not years:
        return Fraction(1)
    base = 1 + Fraction(percent_per_year) / _PERCENT
    if years == years.to_integral_value():
        return base ** int(years)
    with localcontext(prec=40):
        return Fraction((Decimal(base.numerator) / Decimal(base.denominator)) ** years)


def grown(messages: Fraction | int, *, factor: Fraction) -> int:
    """A backlog at the horizon, rounded up to whole messages."""
    return ceil_fraction(messages * factor) if factor != 1 or not isinstance(messages, int) else messages


def band_edges(rule_sizes: Sequence[int]) -> tuple[int, ...]:
    """The sizes at which messages are told apart: those of the rules, and the largest that fits in the CF."""
    largest = model_constant("largest_message_in_cf_bytes")
    return (*sorted({size for size in rule_sizes if size < largest}), largest)


def demand_of(
    queues: Sequence[QueueDemand],
    *,
    edges: tuple[int, ...],
    header_bytes: int,
    page_bytes: int,
    page_header_bytes: int,
) -> Demand:
    """Add up queues: one entry a message, whole elements by size, in bands between `edges`.

    Args:
        queues: The queues of one structure.
        edges: Rising sizes [bytes], the last the largest message that fits in the CF.
        header_bytes: Added to a message in the CF [bytes].
        page_bytes: Page of a shared message data set [bytes].
        page_header_bytes: Added to a message in a shared message data set [bytes].

    Returns:
        The demand; its elements are rounded up once, over the whole structure.
    """
    scale = 1 if all(isinstance(queue.message_bytes, int) for queue in queues) else _SCALE
    bands = len(edges) + 1
    messages, elements, pages = [0] * bands, [0] * bands, [0] * bands
    total = 0
    for queue in queues:
        count = queue.messages
        total += count
        if isinstance(queue.message_bytes, int):
            band = bisect_left(edges, queue.message_bytes)
            count *= scale
            messages[band] += count
            elements[band] += count * elements_for(queue.message_bytes, header_bytes=header_bytes)
            pages[band] += count * ceil_div(queue.message_bytes + page_header_bytes, page_bytes)
        else:
            shares = scaled_shares(queue.message_bytes, edges, header_bytes, page_bytes, page_header_bytes)
            for band, (share, band_elements, band_pages) in enumerate(shares):
                messages[band] += count * share
                elements[band] += count * band_elements
                pages[band] += count * band_pages
    elements[-1] = messages[-1] * model_constant("offloaded_message_elements")
    return Demand(
        messages=total,
        elements=ceil_div(sum(elements), scale),
        bands=tuple(map(Band, (-1, *edges), messages, elements, pages)),
        scale=scale,
    )


@lru_cache(maxsize=4096)
def scaled_shares(
    sizes: SizeDistribution,
    edges: tuple[int, ...],
    header_bytes: int,
    page_bytes: int,
    page_header_bytes: int,
) -> tuple[tuple[int, int, int], ...]:
    """Per band, in parts of 2**32: share of the messages, and the elements and pages that a message pays there at most.

    Elements and pages are rounded up, shares so that they add up to one: kept on one fine
    grid, because exact fractions of hundreds of queues have no bounded common denominator.
    """
    exact = _shares(sizes, edges, header_bytes, page_bytes, page_header_bytes)
    whole = [floor_fraction(share * _SCALE) for share, _, _ in exact]
    largest = max(range(len(whole)), key=whole.__getitem__)
    whole[largest] += _SCALE - sum(whole)
    return tuple(
        (share, ceil_fraction(elements * _SCALE), ceil_fraction(pages * _SCALE))
        for share, (_, elements, pages) in zip(whole, exact, strict=True)
    )


def _shares(
    sizes: SizeDistribution,
    edges: tuple[int, ...],
    header_bytes: int,
    page_bytes: int,
    page_header_bytes: int,
) -> tuple[tuple[Fraction, Fraction, Fraction], ...]:
    """Per band: share of the messages, and elements and pages a message of the whole queue pays there at most."""
    step = model_constant("element_bytes")
    found = []
    low = Fraction(-1)
    for high in (*(Fraction(edge) for edge in edges), Fraction(max(sizes.maximum, edges[-1]) + 1)):
        share = elements = pages = Fraction(0)
        for weight, start, end in sizes.pieces():
            left, right = max(start, low), min(end, high)
            if start == end:
                part = weight if low < start <= high else Fraction(0)
            else:
                part = weight * max(Fraction(0), right - left) / (end - start)
            if part:
                mean = (left + right) / 2
                share += part
                elements += part * _at_most(mean, right, header_bytes, step)
                pages += part * _at_most(mean, right, page_header_bytes, page_bytes)
        found.append((share, elements, pages))
        low = high
    return tuple(found)


def _at_most(mean: Fraction, largest: Fraction, header_bytes: int, step: int) -> Fraction:
    """Whole steps that messages of that mean size take on average, at most, however they are distributed."""
    return min(
        (mean + header_bytes + step - 1) / step, Fraction(ceil_fraction((largest + header_bytes) / step))
    )
