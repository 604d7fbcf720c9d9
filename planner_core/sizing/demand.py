"""The messages, list entries and list elements that a structure must hold for its queues.

Backlog. A queue states its backlog, or a put rate and the outage to survive; then the
backlog is rate x outage, rounded up. Growth is compounded and applied to both in the same
way: backlog x (1 + percent/100) ** years, once, rounded up to whole messages.

Size distribution. A queue may state mean, 95th percentile and maximum of its message sizes. Each message uses whole
256-byte elements, at most (L + header + 255) / 256 for L bytes, and two when it is over 63 KB and so always
offloaded. `most_elements` bounds the mean number of elements for every distribution with the given mean and maximum,
and the need is based on the bound. Where offload rules act, it matters how many messages are over a rule's size, or
over 63 KB, and how many bytes they have: there the sizes have the shape of `size_shape`, which is an assumption and is
reported as one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import chain
from operator import mul
from struct import Struct
from typing import NamedTuple

from planner_core.document.size_distribution import SCALE, SizeDistribution
from planner_core.document.size_shape import BODY, TWENTY
from planner_core.errors import OutOfRange
from planner_core.sizing.structure_size import elements_for, model_constant
from planner_core.units import ceil_div

SECONDS_PER_MINUTE = 60
_PARTS_OF_BAND = 3
"""Messages, elements and pages."""
_PART_BYTES, _PART_LIMIT = 16, 2**64
"""The bytes of a number in a packed integer, and the limit below which a number and a count have a product of that length."""
_NO_MESSAGES = -2
"""The limit without any such messages; -1 is that of messages of 0 bytes."""
_PERCENT = 100


class QueueDemand(NamedTuple):
    """The backlog of one queue."""

    messages: int
    message_bytes: int | SizeDistribution


class Band(NamedTuple):
    """The messages of a structure that are larger than `over_bytes`, up to and including the limit of the next band.

    `elements` counts list elements while the data is in the CF; `pages` counts 4 KB pages in SMDS.
    The three counts are multiplied by the `scale` of the demand.
    """

    over_bytes: int
    messages: int
    elements: int
    pages: int


@dataclass(frozen=True, slots=True)
class Demand:
    """The backlog of one structure, in bands of message sizes.

    `elements` counts only messages too large for the CF as offloaded. `scale` is 1 unless a queue
    gives a distribution of sizes, whose shares are not whole messages; `taken` has the elements of
    each queue, times `scale`. `mean_elements` has the average elements of a message for each queue
    with such a distribution, in parts of 2**32, by the queue's place.

    `elements`, `taken` and `mean_elements` are enough for any shape of a distribution. The bands
    have the assumed shape; `beyond` is the number of elements, times `scale`, that they lack. Those elements count
    wherever no rule offloads anything. `largest_over_bytes` is the limit that the largest messages exceed whose data stays in the
    CF unless a rule offloads it.
    """

    messages: int
    elements: int
    bands: tuple[Band, ...]
    scale: int
    taken: tuple[int, ...]
    mean_elements: Mapping[int, int] = field(default_factory=dict)
    beyond: int = 0
    largest_over_bytes: int = field(init=False)

    def __post_init__(self) -> None:
        """Find the last band of messages that only rules offload, which every rule is compared with."""
        over = _NO_MESSAGES
        # The last band has the messages over 63 KB, which are offloaded without any rule.
        for band in self.bands[:-1]:
            if band.messages:
                over = band.over_bytes
        object.__setattr__(self, "largest_over_bytes", over)

    @property
    def exact_elements(self) -> Fraction:
        """Return the number of elements before it is rounded up for the whole structure."""
        return Fraction(sum(band.elements for band in self.bands) + self.beyond, self.scale)

    @property
    def entries(self) -> int:
        """Return the number of list entries: one for each message."""
        # An offloaded message keeps its entry, so entries depend on neither rules nor message sizes.
        return self.messages


def backlog_messages(*, put_rate_per_s: Decimal, outage_minutes: Decimal) -> tuple[int, int]:
    """Return the messages that arrive during an outage of the getting applications: numerator and denominator."""
    rate, per = put_rate_per_s.as_integer_ratio()
    minutes, of = outage_minutes.as_integer_ratio()
    # Two integers instead of a fraction: the largest plans have 32,256 queues, and constructing fractions takes longer than
    # calculating with them.
    return rate * minutes * SECONDS_PER_MINUTE, per * of


@lru_cache(maxsize=256)
def growth_factor(*, percent_per_year: Decimal, years: Decimal) -> Fraction:
    """Return the factor of compound growth; years need not be whole."""
    # At -100 % nothing is left, and below it a power with a fractional exponent has no real value.
    if percent_per_year <= -_PERCENT:
        raise OutOfRange(field="percent_per_year", value=percent_per_year, lowest="more than -100")
    if not percent_per_year or not years:
        return Fraction(1)
    base = 1 + Fraction(percent_per_year) / _PERCENT
    if years == years.to_integral_value():
        return base ** int(years)
    # A power with a fractional exponent is irrational. Forty digits are more than any backlog has, so that the rounding
    # never changes a whole message.
    with localcontext(prec=40):
        return Fraction((Decimal(base.numerator) / Decimal(base.denominator)) ** years)


def grown(messages: int, of: int = 1, *, factor: Fraction) -> int:
    """Return a backlog of `messages` / `of` at the horizon, rounded up to whole messages."""
    # Rate x outage is not rounded before it grows, because a backlog is rounded up only once.
    up, down = factor.as_integer_ratio()
    return -(-messages * up // (of * down))


def band_edges(rule_sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes that separate the bands: those of the rules, and the largest message that fits in the CF."""
    # A rule for that size or more, such as OFFLDnSZ(64K), never finds a message whose data is still in the CF.
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
    """Add up queues: one entry for each message, whole elements by size, in bands between `edges`.

    Args:
        queues: The queues of one structure.
        edges: Ascending sizes [bytes]; the last one is the largest message that fits in the CF.
        header_bytes: Added to a message in the CF [bytes].
        page_bytes: Page of a shared message data set [bytes].
        page_header_bytes: Added to a message in a shared message data set [bytes].

    Returns:
        The demand; its elements are rounded up once, over the whole structure.
    """
    limits = BandLimits.of(edges, header_bytes, page_bytes, page_header_bytes)
    scale = 1 if all(isinstance(queue.message_bytes, int) for queue in queues) else SCALE
    bands = len(edges) + 1
    messages, elements, pages = [0] * bands, [0] * bands, [0] * bands
    total, beyond, two = 0, 0, model_constant("offloaded_message_elements")
    taken: list[int] = []
    mean_elements: dict[int, int] = {}
    for place, (count, size) in enumerate(queues):
        total += count
        if isinstance(size, int):
            # The size of a rule must be exceeded, so a message of exactly that size is in the band below.
            band = bisect_left(edges, size)
            counted = count * scale
            each = elements_for(size, header_bytes=header_bytes)
            messages[band] += counted
            elements[band] += counted * each
            taken.append(counted * (two if band == bands - 1 else each))
            pages[band] += counted * ceil_div(size + page_header_bytes, page_bytes)
        else:
            shares, lacking, mean = scaled_shares(size, limits)
            beyond += count * lacking
            for band, (share, band_elements, band_pages) in enumerate(shares):
                if share:
                    messages[band] += count * share
                    elements[band] += count * band_elements
                    pages[band] += count * band_pages
            mean_elements[place] = mean
            taken.append(count * mean)
    elements[-1] = messages[-1] * two
    return Demand(
        messages=total,
        elements=ceil_div(sum(elements) + beyond, scale),
        bands=tuple(map(Band, (-1, *edges), messages, elements, pages)),
        scale=scale,
        taken=tuple(taken),
        mean_elements=mean_elements,
        beyond=beyond,
    )


@dataclass(frozen=True)
class Units:
    """The entries and elements of one message of each queue, by band, to add up many backlogs of the same queues quickly.

    `bands` has messages, elements and pages for each queue, times `scale`. `elements` is enough for any shape of a
    distribution, and `beyond` is the part of it that the bands lack. `spread` has the places of the queues with a
    distribution of sizes.
    """

    edges: tuple[int, ...]
    scale: int
    bands: tuple[tuple[tuple[int, int, int], ...], ...]
    elements: tuple[int, ...]
    beyond: tuple[int, ...]
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
        """Return the units of queues with these message sizes; the arguments are those of `demand_of`."""
        limits = BandLimits.of(edges, header_bytes, page_bytes, page_header_bytes)
        scale = 1 if all(isinstance(each, int) for each in sizes) else SCALE
        two = model_constant("offloaded_message_elements")
        found: list[tuple[tuple[int, int, int], ...]] = []
        lacking: list[int] = []
        needed: list[int] = []
        for each in sizes:
            if isinstance(each, int):
                band = bisect_left(edges, each)
                held = two if band == len(edges) else elements_for(each, header_bytes=header_bytes)
                pages = ceil_div(each + page_header_bytes, page_bytes)
                bands, beyond, elements = [_EMPTY] * (len(edges) + 1), 0, held * scale
                bands[band] = (scale, elements, pages * scale)
            else:
                bands, beyond, elements = scaled_shares(each, limits)
            found.append(tuple(bands))
            lacking.append(beyond)
            needed.append(elements)
        return cls(
            edges,
            scale,
            tuple(found),
            tuple(needed),
            tuple(lacking),
            tuple(place for place, each in enumerate(sizes) if not isinstance(each, int)),
        )

    def demand(self, counts: Sequence[int]) -> Demand:
        """Return the demand of these numbers of messages on the queues; it equals that of `demand_of`."""
        total = sum(counts)
        *bands, (beyond, *_) = self._sums(counts) if total < _PART_LIMIT else self._long_sums(counts)
        return Demand(
            messages=total,
            elements=ceil_div(sum([elements for _, elements, _ in bands]) + beyond, self.scale),
            bands=tuple([Band(over, *band) for over, band in zip((-1, *self.edges), bands, strict=True)]),
            scale=self.scale,
            taken=tuple(map(mul, counts, self.elements)),
            mean_elements=self._mean_elements,
            beyond=beyond,
        )

    def _sums(self, counts: Sequence[int]) -> Iterator[tuple[int, int, int]]:
        """Yield messages, elements and pages of a backlog in each band, and then the elements that the bands lack."""
        # One sum of long integers takes a fifth of the time of a sum for each number.
        packed = sum(map(mul, counts, self._packed))
        whole = packed.to_bytes(_PART_BYTES * _PARTS_OF_BAND * (len(self.edges) + 2), "little")
        parts = [
            int.from_bytes(whole[at : at + _PART_BYTES], "little") for at in range(0, len(whole), _PART_BYTES)
        ]
        return zip(*[iter(parts)] * _PARTS_OF_BAND, strict=True)

    def _long_sums(self, counts: Sequence[int]) -> Iterator[tuple[int, int, int]]:
        """Yield the same for any number of messages."""
        for band in range(len(self.edges) + 1):
            messages, elements, pages = (
                sum([count * bands[band][part] for count, bands in zip(counts, self.bands, strict=True)])
                for part in range(_PARTS_OF_BAND)
            )
            yield messages, elements, pages
        yield sum(map(mul, counts, self.beyond)), 0, 0

    @cached_property
    def _packed(self) -> tuple[int, ...]:
        """Return the numbers of each queue, which are below 2**64, packed into one integer with 16 bytes for each.

        The sum of products with counts has the sums of all numbers, as long as the sum of the counts is below 2**64.
        """
        pack = Struct("<" + "Q8x" * _PARTS_OF_BAND * (len(self.edges) + 2)).pack
        return tuple(
            [
                int.from_bytes(pack(*chain.from_iterable(bands), beyond, 0, 0), "little")
                for bands, beyond in zip(self.bands, self.beyond, strict=True)
            ]
        )

    @cached_property
    def _mean_elements(self) -> Mapping[int, int]:
        return {place: self.elements[place] for place in self.spread}

    def one(self, place: int) -> Demand:
        """Return the demand of one message on the queue at this place."""
        its = slice(place, place + 1)
        spread = (0,) if place in self.spread else ()
        return replace(
            self, bands=self.bands[its], elements=self.elements[its], beyond=self.beyond[its], spread=spread
        ).demand((1,))


class BandLimits(NamedTuple):
    """The sizes that separate the bands of a structure, and the elements and pages of a message of each of them."""

    edges: tuple[int, ...]
    elements: tuple[int, ...]
    pages: tuple[int, ...]
    header_bytes: int
    page_bytes: int
    page_header_bytes: int

    @classmethod
    def of(
        cls, edges: tuple[int, ...], header_bytes: int, page_bytes: int, page_header_bytes: int
    ) -> BandLimits:
        """Return the limits for bands between `edges`; the other arguments are those of `demand_of`."""
        return cls(
            edges,
            tuple([elements_for(edge, header_bytes=header_bytes) for edge in edges]),
            tuple([ceil_div(edge + page_header_bytes, page_bytes) for edge in edges]),
            header_bytes,
            page_bytes,
            page_header_bytes,
        )


class Shares(NamedTuple):
    """The bands of one message of a queue with a distribution of sizes, in parts of 2**32.

    Each band has its share of the messages, and the most elements and pages of a message. `beyond` is the number of
    elements by which all bands together fall short of `mean_elements`, which is enough for any shape.
    """

    bands: list[tuple[int, int, int]]
    beyond: int
    mean_elements: int


_EMPTY = (0, 0, 0)


def scaled_shares(sizes: SizeDistribution, limits: BandLimits) -> Shares:
    """Return the bands of one message of these sizes.

    All counts use one fine grid, because exact fractions of hundreds of queues have no bounded common denominator.
    """
    edges, most_at_edges, pages_at_edges, header_bytes, page_bytes, page_header_bytes = limits
    step, maximum, last = model_constant("element_bytes"), sizes.maximum, edges[-1]
    # A message needs at most one byte less than an element or a page in addition to its bytes and header.
    added, page_added = header_bytes + step - 1, page_header_bytes + page_bytes - 1
    found: list[tuple[int, int, int]] = []
    below = bytes_below = held = place = 0
    within = bisect_left(edges, maximum)
    for reached, bytes_reached in sizes.up_to((*edges, maximum if maximum > last else last)):
        share = reached - below
        if share <= 0:
            found.append(_EMPTY)
            place += 1
            continue
        moment = bytes_reached - bytes_below
        below, bytes_below = reached, bytes_reached
        # All the messages are as long as the longest in the band.
        if place < within:
            cap, page_cap = share * most_at_edges[place], share * pages_at_edges[place]
        else:
            cap = share * -(-(maximum + header_bytes) // step)
            page_cap = share * -(-(maximum + page_header_bytes) // page_bytes)
        place += 1
        elements = (moment + share * added + step - 1) // step
        pages = (moment + share * page_added + page_bytes - 1) // page_bytes
        # Conditional expressions: calls of max and min would double the time of the largest plans.
        if elements > cap:
            elements = cap
        held += elements
        found.append((share, elements, pages if pages < page_cap else page_cap))
    two = model_constant("offloaded_message_elements")
    share, elements, pages = found[-1]
    found[-1] = (share, two * share, pages)
    held += two * share - elements
    needed = most_elements(sizes, header_bytes=header_bytes)
    return Shares(found, needed - held, needed) if needed > held else Shares(found, 0, held)


def most_elements(sizes: SizeDistribution, *, header_bytes: int) -> int:
    """Return the highest average number of elements of a message for any shape of the distribution, in parts of 2**32.

    19 of 20 messages are at most p95 long, the twentieth from there to the maximum. The elements of a message of L
    bytes are below a concave curve: rising by a byte in 256 up to the largest message that stays in the CF, and
    falling from there in a straight line to the two elements of an offloaded message of the maximum size. So the mean
    of a part is at most the curve at the part's mean. How the bytes are divided between the two parts is unknown:
    while both rise it makes no difference; where one falls, the bound is highest with the fewest bytes there.
    """
    step, largest = model_constant("element_bytes"), model_constant("largest_message_in_cf_bytes")
    unit, p95, longest = sizes.mean_of, sizes.p95, sizes.maximum
    added = header_bytes + step - 1
    cap = SCALE * -(-((longest if longest < largest else largest) + header_bytes) // step)
    # The twentieth's mean, in parts of 1 / unit, when all the others are as long as they can be.
    least = TWENTY * sizes.mean - BODY * p95 * unit
    if longest <= largest or (p95 <= largest and least <= largest * unit):
        rising = -(-SCALE * (sizes.mean + added * unit) // (step * unit))
        return rising if rising < cap else cap
    # From here on, messages of the twentieth may be over 63 KB: the falling part of the curve matters.
    two = SCALE * model_constant("offloaded_message_elements")
    peak = SCALE * (largest + added) - two * step
    if p95 <= largest:
        others = -(-SCALE * (p95 + added) // step)
        twentieth = two + -(-peak * (longest * unit - least) // (step * (longest - largest) * unit))
    else:
        twentieth, of = two, BODY * unit
        # 19 times the mean of the others, in the same parts: as near to the top of the curve as p95 and maximum allow.
        mean = max(TWENTY * sizes.mean - longest * unit, min(largest * of, TWENTY * sizes.mean - p95 * unit))
        if mean <= largest * of:
            others = -(-SCALE * (mean + added * of) // (step * of))
        else:
            others = two + -(-peak * (p95 * of - mean) // (step * (p95 - largest) * of))
    return min(-(-(BODY * others + twentieth) // TWENTY), cap)
