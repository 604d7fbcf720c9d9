"""From queues to what a structure must hold: messages, list entries, list elements.

Backlog. A queue states its backlog, or a put rate and the outage to survive; then the
backlog is rate x outage, rounded up. Growth is compounded and applied to both in the same
way: backlog x (1 + percent/100) ** years, once, rounded up to whole messages.

Size distribution. A queue may state mean, 95th percentile and maximum of its message
sizes. Each message pays whole 256-byte elements, at most (L + header + 255) / 256 for L
bytes, and two when it is over 63 KB and so always offloaded. `most_elements` bounds the mean
of that for every distribution with the given mean and maximum, and the need rests on the
bound. How many messages are over an offload rule's size, or over 63 KB, is another matter:
there the distribution is taken as two uniform pieces, 95 % of the messages up to p95 and 5 %
from there to the maximum, placed so that mean, p95 and maximum hold exactly. That shape is an
assumption and is reported as one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from operator import mul
from typing import NamedTuple

from planner_core.errors import OutOfRange
from planner_core.structure_size import elements_for, model_constant
from planner_core.units import ceil_div, ceil_fraction

SECONDS_PER_MINUTE = 60
_PERCENT = 100
_TWENTY, _BODY = 20, 19
"""The 95th percentile parts nineteen of twenty messages from the twentieth."""
_SCALE = 2**32


@dataclass(frozen=True, slots=True)
class SizeDistribution:
    """Message sizes of one queue [bytes]: mean (`mean` / `mean_of`), 95th percentile, maximum."""

    mean: int
    mean_of: int
    p95: int
    maximum: int

    def problem(self) -> str | None:
        """Why no distribution has these three values, or None."""
        if self.p95 > self.maximum:
            return f"p95 ({self.p95}) must not be above max ({self.maximum})"
        if _TWENTY * self.mean > (_BODY * self.p95 + self.maximum) * self.mean_of:
            return f"a mean of {self.mean / self.mean_of:g} is impossible when 95 % are at most {self.p95} and none is above {self.maximum}"
        if _TWENTY * self.mean < self.p95 * self.mean_of:
            return f"a mean of {self.mean / self.mean_of:g} is impossible when 5 % of the messages are at least {self.p95}"
        return None

    @property
    def unit(self) -> int:
        """In parts of so many to a byte, all bounds of `pieces` are whole numbers."""
        return 2 * _BODY * self.mean_of

    def pieces(self) -> tuple[tuple[int, int, int], ...]:
        """Uniform pieces (twentieths of the messages, from, to) with exactly this mean, p95 and maximum.

        Nineteen twentieths lie between 0 and p95, one between p95 and the maximum; each piece
        is the widest with its mean. From and to are in parts of a byte, `unit` to the byte.
        """
        unit = self.unit
        mean, p95, maximum = 2 * _BODY * self.mean, unit * self.p95, unit * self.maximum
        lowest_tail = max(p95, _TWENTY * mean - _BODY * p95)
        highest_tail = min(maximum, _TWENTY * mean)
        tail = min(max((p95 + maximum) // 2, lowest_tail), highest_tail)
        body = (_TWENTY * mean - tail) // _BODY
        body_reach, tail_reach = min(body, p95 - body), min(tail - p95, maximum - tail)
        return (
            (_BODY, body - body_reach, body + body_reach),
            (1, tail - tail_reach, tail + tail_reach),
        )


@dataclass(frozen=True, slots=True)
class QueueDemand:
    """What one queue puts on a structure."""

    messages: int
    message_bytes: int | SizeDistribution


class Band(NamedTuple):
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
    unless a queue gives a distribution of sizes, whose shares are no whole messages; `taken`
    are the elements of each queue, times it. `mean_elements` are those that a message of each
    queue with such a distribution pays on average, in parts of 2**32, by the queue's place.
    """

    messages: int
    elements: int
    bands: tuple[Band, ...]
    scale: int
    taken: tuple[int, ...]
    mean_elements: Mapping[int, int] = field(default_factory=dict)

    @property
    def entries(self) -> int:
        """List entries: one a message."""
        return self.messages


def backlog_messages(*, put_rate_per_s: Decimal, outage_minutes: Decimal) -> Fraction:
    """Messages that arrive while nothing takes them off [messages, not rounded]."""
    rate, per = put_rate_per_s.as_integer_ratio()
    minutes, of = outage_minutes.as_integer_ratio()
    # One fraction instead of three: this is asked for each queue of the largest plans.
    return Fraction(rate * minutes * SECONDS_PER_MINUTE, per * of)


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
    if isinstance(messages, int):
        return messages if factor == 1 else ceil_fraction(messages * factor)
    return ceil_div(messages.numerator * factor.numerator, messages.denominator * factor.denominator)


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
    total, two = 0, model_constant("offloaded_message_elements")
    taken: list[int] = []
    mean_elements: dict[int, int] = {}
    for place, queue in enumerate(queues):
        count = queue.messages
        total += count
        if isinstance(queue.message_bytes, int):
            band = bisect_left(edges, queue.message_bytes)
            count *= scale
            each = elements_for(queue.message_bytes, header_bytes=header_bytes)
            messages[band] += count
            elements[band] += count * each
            taken.append(count * (two if band == bands - 1 else each))
            pages[band] += count * ceil_div(queue.message_bytes + page_header_bytes, page_bytes)
        else:
            shares = scaled_shares(queue.message_bytes, edges, header_bytes, page_bytes, page_header_bytes)
            mean = shares[-1][0] * two - shares[-1][1]
            for band, (share, band_elements, band_pages) in enumerate(shares):
                if share or band_elements:
                    mean += band_elements
                    messages[band] += count * share
                    elements[band] += count * band_elements
                    pages[band] += count * band_pages
            mean_elements[place] = mean
            taken.append(count * mean)
    elements[-1] = messages[-1] * two
    return Demand(
        messages=total,
        elements=ceil_div(sum(elements), scale),
        bands=tuple(map(Band, (-1, *edges), messages, elements, pages)),
        scale=scale,
        taken=tuple(taken),
        mean_elements=mean_elements,
    )


@dataclass(frozen=True, slots=True)
class Units:
    """What one message of each queue takes, by band, so that several backlogs of the same queues are soon added up.

    `bands` has of each queue messages, elements and pages, and `elements` those of all bands, in parts of `scale`;
    `spread` are the places of the queues with a distribution of sizes.
    """

    edges: tuple[int, ...]
    scale: int
    bands: tuple[tuple[tuple[int, int, int], ...], ...]
    elements: tuple[int, ...]
    spread: tuple[int, ...]

    @classmethod
    def of(
        cls,
        sizes: Sequence[int | SizeDistribution],
        *,
        edges: tuple[int, ...],
        header_bytes: int,
        page_bytes: int,
        page_header_bytes: int,
    ) -> Units:
        """Of queues with these message sizes; the arguments are those of `demand_of`."""
        scale = 1 if all(isinstance(each, int) for each in sizes) else _SCALE
        two = model_constant("offloaded_message_elements")
        found: list[tuple[tuple[int, int, int], ...]] = []
        for each in sizes:
            if isinstance(each, int):
                elements = elements_for(each, header_bytes=header_bytes)
                pages = ceil_div(each + page_header_bytes, page_bytes)
                bands = [(0, 0, 0)] * (len(edges) + 1)
                bands[bisect_left(edges, each)] = (scale, elements * scale, pages * scale)
            else:
                bands = scaled_shares(each, edges, header_bytes, page_bytes, page_header_bytes)
            bands[-1] = (bands[-1][0], two * bands[-1][0], bands[-1][2])
            found.append(tuple(bands))
        return cls(
            edges,
            scale,
            tuple(found),
            tuple(sum([elements for _, elements, _ in bands]) for bands in found),
            tuple(place for place, each in enumerate(sizes) if not isinstance(each, int)),
        )

    def demand(self, counts: Sequence[int]) -> Demand:
        """So many messages of each queue: what `demand_of` makes of them."""
        messages, elements, pages = ([0] * (len(self.edges) + 1) for _ in range(3))
        for count, bands in zip(counts, self.bands, strict=True):
            for band, (share, its_elements, its_pages) in enumerate(bands):
                if share or its_elements:
                    messages[band] += count * share
                    elements[band] += count * its_elements
                    pages[band] += count * its_pages
        return Demand(
            messages=sum(counts),
            elements=ceil_div(sum(elements), self.scale),
            bands=tuple(map(Band, (-1, *self.edges), messages, elements, pages)),
            scale=self.scale,
            taken=tuple(map(mul, counts, self.elements)),
            mean_elements={place: self.elements[place] for place in self.spread},
        )

    def one(self, place: int) -> Demand:
        """One message of the queue at this place alone."""
        its = slice(place, place + 1)
        spread = (0,) if place in self.spread else ()
        return replace(self, bands=self.bands[its], elements=self.elements[its], spread=spread).demand((1,))


def scaled_shares(
    sizes: SizeDistribution,
    edges: tuple[int, ...],
    header_bytes: int,
    page_bytes: int,
    page_header_bytes: int,
) -> list[tuple[int, int, int]]:
    """Per band, in parts of 2**32: the share of the messages, and the elements and pages that a message pays there at most.

    Rounded up, but for the largest share, which is what the others leave: kept on one fine
    grid, because exact fractions of hundreds of queues have no bounded common denominator.
    """
    step, unit, maximum = model_constant("element_bytes"), sizes.unit, sizes.maximum
    first, second = sizes.pieces()
    found: list[tuple[int, int, int]] = []
    low, rest, most, most_share, longest = -1, _SCALE, 0, 0, maximum * unit
    for edge in (*edges, max(maximum, edges[-1]) + 1):
        if low >= longest:
            found.append((0, 0, 0))
            continue
        high, share, moment = edge * unit, 0, 0
        for twentieths, start, end in (first, second):
            # Conditional expressions: calls of max and min would double the time of the largest plans.
            left = start if start > low else low
            right = end if end < high else high
            if left < right:
                part, of = _SCALE * twentieths * (right - left), _TWENTY * (end - start)
            elif start == end and low < start <= high:
                part, of = _SCALE * twentieths, _TWENTY
            else:
                continue
            share -= -part // of
            moment -= -part * (left + right) // (of * 2 * unit)
        low = high
        if not share:
            found.append((0, 0, 0))
            continue
        rest -= share
        if share > most_share:
            most, most_share = len(found), share
        largest = edge if edge < maximum else maximum
        elements = -(-(moment + share * (header_bytes + step - 1)) // step)
        cap = share * -(-(largest + header_bytes) // step)
        pages = -(-(moment + share * (page_header_bytes + page_bytes - 1)) // page_bytes)
        page_cap = share * -(-(largest + page_header_bytes) // page_bytes)
        found.append((share, elements if elements < cap else cap, pages if pages < page_cap else page_cap))
    found[most] = (most_share + rest, *found[most][1:])
    return _suffice(found, sizes, header_bytes)


def most_elements(sizes: SizeDistribution, *, header_bytes: int) -> int:
    """Elements that a message pays on average at most, whatever the shape of the distribution, in parts of 2**32.

    19 of 20 messages are at most p95 long, the twentieth from there to the maximum. What a
    message of L bytes takes is below a curve that bends one way only: rising by a byte in 256
    up to the largest message that stays in the CF, and falling from there in a straight line
    to the two elements of an offloaded one of the longest. So the mean of a part is at most
    the curve at the part's mean. How the mean is shared out between the two parts is unknown:
    while both rise it makes no difference, and where one falls, the less lies there the worse.
    """
    step, largest = model_constant("element_bytes"), model_constant("largest_message_in_cf_bytes")
    unit, p95, longest = sizes.mean_of, sizes.p95, sizes.maximum
    added = header_bytes + step - 1
    cap = _SCALE * -(-((longest if longest < largest else largest) + header_bytes) // step)
    # The twentieth's mean, in parts of 1 / unit, when all the others are as long as they can be.
    least = _TWENTY * sizes.mean - _BODY * p95 * unit
    if longest <= largest or (p95 <= largest and least <= largest * unit):
        rising = -(-_SCALE * (sizes.mean + added * unit) // (step * unit))
        return rising if rising < cap else cap
    two = _SCALE * model_constant("offloaded_message_elements")
    peak = _SCALE * (largest + added) - two * step
    if p95 <= largest:
        others = -(-_SCALE * (p95 + added) // step)
        twentieth = two + -(-peak * (longest * unit - least) // (step * (longest - largest) * unit))
    else:
        twentieth, of = two, _BODY * unit
        # 19 times the others' mean, in the same parts: as near to the top of the curve as it can be.
        mean = max(
            _TWENTY * sizes.mean - longest * unit, min(largest * of, _TWENTY * sizes.mean - p95 * unit)
        )
        if mean <= largest * of:
            others = -(-_SCALE * (mean + added * of) // (step * of))
        else:
            others = two + -(-peak * (p95 * of - mean) // (step * (p95 - largest) * of))
    return min(-(-(_BODY * others + twentieth) // _TWENTY), cap)


def _suffice(
    found: list[tuple[int, int, int]], sizes: SizeDistribution, header_bytes: int
) -> list[tuple[int, int, int]]:
    """Add elements where the assumed shape has fewer than another shape with that mean could take."""
    offloaded, its_elements, _ = found[-1]
    missing = most_elements(sizes, header_bytes=header_bytes) + its_elements
    if offloaded:
        missing -= model_constant("offloaded_message_elements") * offloaded
    for _, elements, _ in found:
        missing -= elements
    if missing > 0:
        band = max(range(len(found) - 1), key=lambda index: (found[index][0], index))
        share, elements, pages = found[band]
        found[band] = (share, elements + missing, pages)
    return found
