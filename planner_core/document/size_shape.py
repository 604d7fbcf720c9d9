"""The assumed shape of message sizes of which only the mean, 95th percentile and maximum are known.

Message sizes of an application are usually close to lognormal: many small ones, few large ones.
Up to p95 (95 % of the messages) and from p95 to the maximum (5 %) the sizes are truncated parts of
lognormal distributions. Their widths and means are chosen to match the mean, p95 and the maximum.
If one lognormal, truncated at the maximum, matches these three numbers, both parts belong to it. If none does, the two
parts differ:

* p95 far above the mean (more than 3.87 times, which no lognormal reaches): the part above p95
  becomes narrower, until at 20 times the mean it is at p95.
* p95 near or below the mean: the part above p95 becomes wider, so that it holds the bytes that
  the messages up to p95 cannot hold. If the maximum is too low for that, some of its messages
  move closer to the maximum.

The shape depends only on the ratios p95 / mean and maximum / p95, and each step is a continuous
function of both, so similar numbers give similar shapes. The numbers are floats rounded to nine
decimals; callers put counts and bytes on an integer grid.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import erfc, exp, log, pi, sqrt
from statistics import NormalDist
from typing import NamedTuple

from planner_core import tables

_THOUSAND = 1000
_Z95 = NormalDist().inv_cdf(0.95)
"""The number of standard deviations above its mean below which 95 % of a normal distribution lie."""
_ROOT2 = sqrt(2)
_DENSITY = 1 / sqrt(2 * pi)
_BODY_SHARE = 0.95
TWENTY, BODY = 20, 19
_HALF = 0.5
_DECIMALS = 9
_CONVERGED = 1e-12
_CLOSE = 1e-5
"""The step at which Newton's method ends: it squares the error in each step, so the error is far below the last
decimal."""
_MOST_STEPS = 40
_FAR = 1e-6
"""Below this distance [standard deviations] a part of a lognormal is treated as uniform on a logarithmic scale."""


class Shape(NamedTuple):
    """Two parts of lognormal distributions, in units of p95.

    A size x up to p95 has the standard normal value `place + ln(x / (p95 * body_top)) / body_width`,
    one above p95 `place + ln(x / p95) / tail_width`. `tail_mean` is the mean of the sizes above p95,
    `natural` their mean in the lognormal. If that is too high, they are compressed towards p95, so
    that p95 + d becomes p95 + `tail_top` * d. If it is too low, a share `near_maximum` of them
    follows a power law with the exponent `power` from p95 to the maximum.
    """

    place: float
    body_width: float
    body_top: float
    tail_width: float
    tail_mean: float
    natural: float
    tail_top: float = 1.0
    near_maximum: float = 0.0
    power: float = 1.0


class Parts(NamedTuple):
    """A shape with the parts of its formulas that do not depend on a size, because plans have thousands of queues.

    `start`, `steps`, `shift`, `messages` and `moments` belong to the sizes up to p95, the names with `tail` to those above;
    `reach` is the maximum in units of p95.
    """

    shape: Shape
    start: float
    steps: float
    shift: float
    messages: float
    moments: float
    reach: float
    tail_span: float
    is_tail_uniform: bool
    is_tail_plain: bool
    tail_shift: float
    tail_first: float
    tail_shifted: float
    tail_messages: float
    tail_moments: float

    def tail_up_to(self, times: float) -> tuple[float, float]:
        """Return the share of the sizes above p95, and of their bytes, below `times` p95."""
        shape, reach = self.shape, self.reach
        top, weight = shape.tail_top, shape.near_maximum
        # The place of a compressed size before compression.
        times = min(1 + (times - 1) / top, reach) if top > 0 else reach
        at = log(times)
        if self.is_tail_uniform:
            share = below = at / self.tail_span
        else:
            z = (shape.place + at / shape.tail_width) / _ROOT2
            share = (self.tail_first - erfc(z)) / self.tail_messages
            below = (self.tail_shifted - erfc(z - self.tail_shift)) / self.tail_moments
        if self.is_tail_plain:
            return share, below
        moment = (share * (1 - top) + below * shape.natural * top) * (1 - weight)
        share *= 1 - weight
        if weight:
            place = (times - 1) / (reach - 1)
            part = place**shape.power
            share += weight * part
            moment += weight * part * (1 + (reach - 1) * place * shape.power / (shape.power + 1))
        return min(share, 1.0), min(moment / shape.tail_mean, 1.0)


@lru_cache(maxsize=5000)
def parts_of(ratio: float, reach: float) -> Parts:
    """Return the parts of the shape for p95 / mean = `ratio`, above 0 and at most 20, and maximum / p95 = `reach`."""
    shape = shape_of(ratio, reach)
    body_start, body_shift = shape.place / _ROOT2, shape.body_width / _ROOT2
    span, width = log(reach), shape.tail_width
    start, end, shift = shape.place / _ROOT2, (shape.place + span / width) / _ROOT2, width / _ROOT2
    first, shifted = erfc(start), erfc(start - shift)
    return Parts(
        shape=shape,
        start=body_start,
        steps=1 / (shape.body_width * _ROOT2),
        shift=body_shift,
        messages=erfc(-body_start),
        moments=erfc(body_shift - body_start),
        reach=reach,
        tail_span=span,
        is_tail_uniform=span < _FAR * width,
        is_tail_plain=shape.tail_top == 1 and not shape.near_maximum,
        tail_shift=shift,
        tail_first=first,
        tail_shifted=shifted,
        tail_messages=first - erfc(end),
        tail_moments=shifted - erfc(end - shift),
    )


def _tail_mean_of_lognormal(place: float, width: float, span: float) -> float:
    """Return the mean of a lognormal's sizes from p95 to the maximum, in units of p95; `span` is ln(maximum / p95)."""
    if span < _FAR * width:
        return 1 + span / 2
    # erfc instead of erf: far from the mean erf is 1 to all digits, and their difference would lose every digit.
    start, end = place / _ROOT2, (place + span / width) / _ROOT2
    shift = width / _ROOT2
    moments = erfc(start - shift) - erfc(end - shift)
    return exp(width * (width / 2 - place)) * moments / (erfc(start) - erfc(end))


class _Choices(NamedTuple):
    """The choices of tables/size_shape.toml, and values derived from them."""

    highest_ratio: float
    narrowest: float
    widest: float
    widest_tail: float
    highest_body: float
    ratio_of_half_body: float
    highest_tail_part: float
    lowest_place: float
    rounds: int
    width_at_highest_ratio: float
    lowest_ratio: float
    body_at_lowest_ratio: float


@cache
def _choices() -> _Choices:
    known = {name: row.value / _THOUSAND for name, row in tables.constants("size_shape").items()}
    highest, narrowest = known["highest_ratio_of_a_lognormal"], known["narrowest_width"]
    return _Choices(
        highest_ratio=highest,
        narrowest=narrowest,
        widest=known["widest_width"],
        widest_tail=known["widest_tail"],
        highest_body=known["highest_body_mean"],
        ratio_of_half_body=known["ratio_of_half_body"],
        highest_tail_part=known["highest_tail_part"],
        lowest_place=NormalDist().inv_cdf(known["least_part_up_to_p95"]),
        rounds=tables.constants("size_shape")["rounds"].value,
        width_at_highest_ratio=_Z95 - sqrt(_Z95 * _Z95 - 2 * log(highest)),
        lowest_ratio=exp(narrowest * (_Z95 - narrowest / 2)),
        body_at_lowest_ratio=_body_mean(narrowest, _Z95),
    )


def shape_of(ratio: float, reach: float) -> Shape:
    """Return the shape for p95 / mean = `ratio`, above 0 and at most 20, and maximum / p95 = `reach`, at least 1."""
    # Place, width and mean depend on each other. A few rounds, each a continuous function of the ratios, bring them close
    # enough, so that similar numbers still give similar shapes.
    span, together = log(reach), TWENTY / ratio
    width, most = _widths(ratio)
    least_tail = together - BODY * _highest_body(ratio)
    least, place, body_width = width, _Z95, width
    last = _choices().rounds - 1
    for nth in range(last + 1):
        place = round(_place_of_p95(width, span, place), _DECIMALS)
        natural = _tail_mean_of_lognormal(place, width, span)
        tail = _tail_mean(together, reach, natural, least_tail)
        body_width, body_top = _body((together - tail) / BODY, place, body_width)
        # One lognormal has both parts when they are equally wide.
        wanted = round(max(least, min(body_width, most)), _DECIMALS)
        if wanted == width or nth == last:
            break
        width = wanted
    found = Shape(place, round(body_width, _DECIMALS), body_top, width, tail, natural)
    if tail < natural:
        return found._replace(tail_top=(tail - 1) / (natural - 1))
    if tail > natural:
        middle = (tail + reach) / 2
        return found._replace(
            near_maximum=(tail - natural) / (middle - natural),
            power=(middle - 1) / max(reach - middle, _CONVERGED * reach),
        )
    return found


def _widths(ratio: float) -> tuple[float, float]:
    """Return the width of the sizes above p95 without a maximum, and the largest allowed width."""
    # No lognormal has a higher ratio. The part above p95 narrows in proportion, so that the shape changes continuously.
    choices = _choices()
    if ratio > choices.highest_ratio:
        part = max(TWENTY - ratio, 0.0) / (TWENTY - choices.highest_ratio)
        return (
            round(max(choices.width_at_highest_ratio * part, _FAR), _DECIMALS),
            max(choices.widest_tail * part, _FAR),
        )
    if ratio >= choices.lowest_ratio:
        width = _Z95 - sqrt(max(_Z95 * _Z95 - 2 * log(ratio), 0.0))
        return round(width, _DECIMALS), choices.widest_tail
    # The messages above p95 hold the bytes that those up to p95 do not.
    wanted = log(TWENTY / ratio - BODY * _body_below_lowest_ratio(ratio))
    width, outside = choices.narrowest, log((1 - _BODY_SHARE) * 2)
    for _ in range(_MOST_STEPS):
        above = erfc((_Z95 - width) / _ROOT2)
        gap = width * (width / 2 - _Z95) + log(above) - outside - wanted
        slope = width - _Z95 + 2 * _DENSITY * exp(-((_Z95 - width) ** 2) / 2) / above
        step = gap / slope
        width = min(max(width - step, choices.narrowest), choices.widest)
        if abs(step) < _CLOSE:
            break
    return round(width, _DECIMALS), max(choices.widest_tail, width)


def _place_of_p95(width: float, span: float, start: float) -> float:
    """Return the standard normal value of p95 in a lognormal that is truncated at the maximum."""
    # Newton's method inside a bracket, because the slope can vanish.
    low, high, end = _choices().lowest_place, _Z95, span / width
    if erfc(-low / _ROOT2) >= _BODY_SHARE * erfc(-(low + end) / _ROOT2):
        return low
    z = start
    for _ in range(_MOST_STEPS):
        gap = (erfc(-z / _ROOT2) - _BODY_SHARE * erfc(-(z + end) / _ROOT2)) / 2
        if gap < 0:
            low = z
        else:
            high = z
        slope = _DENSITY * (exp(-z * z / 2) - _BODY_SHARE * exp(-((z + end) ** 2) / 2))
        found = z - gap / slope if slope else low
        if abs(found - z) < _CLOSE:
            return found
        z = found if low < found < high else (low + high) / 2
    return z


def _body_below_lowest_ratio(ratio: float) -> float:
    """Return the mean of the sizes up to p95, in units of p95, if p95 is near or below the mean."""
    # It decreases from that of the narrowest lognormal: a narrow range just below p95 is no more likely than others,
    # and all its sizes would exceed an offload size at once.
    choices = _choices()
    part = (choices.lowest_ratio - ratio) / (choices.lowest_ratio - choices.ratio_of_half_body)
    return choices.body_at_lowest_ratio - (choices.body_at_lowest_ratio - _HALF) * min(part, 1.0)


def _highest_body(ratio: float) -> float:
    """Return the highest mean of the sizes up to p95, which they exceed only if the maximum requires it."""
    choices = _choices()
    if ratio >= choices.lowest_ratio:
        return choices.highest_body
    return _body_below_lowest_ratio(ratio) + choices.highest_body - choices.body_at_lowest_ratio


def _tail_mean(together: float, reach: float, natural: float, least: float) -> float:
    """Return the mean of the sizes above p95: the lognormal's, changed only as far as the mean of all sizes requires.

    `together` is the sum of the sizes of twenty messages, in units of p95.
    """
    if natural < least:
        most = (max(natural, together - BODY) + reach) / 2
        return min(max(natural, min(least, most)), reach)
    return min(natural, 1 + max(together - 1, 0.0) * _choices().highest_tail_part)


def _body_mean(width: float, at: float) -> float:
    """Return the mean of the sizes up to p95, in units of p95."""
    return exp(width * (width / 2 - at)) * erfc((width - at) / _ROOT2) / erfc(-at / _ROOT2)


def _body(mean: float, at: float, start: float) -> tuple[float, float]:
    """Return the width of the sizes up to p95 with this mean, and their upper end, both in units of p95."""
    widest = _choices().widest
    if mean <= 0:
        return widest, 0.0
    wanted = log(mean * erfc(-at / _ROOT2))
    width = start
    for _ in range(_MOST_STEPS):
        below = erfc((width - at) / _ROOT2)
        gap = width * (width / 2 - at) + log(below) - wanted
        slope = width - at - 2 * _DENSITY * exp(-((at - width) ** 2) / 2) / below
        step = gap / slope
        width = min(max(width - step, _FAR), widest)
        if abs(step) < _CLOSE:
            break
    if width < widest:
        return width, 1.0
    # At the largest width, sizes with a lower mean are compressed towards 0.
    return widest, min(mean / _body_mean(widest, at), 1.0)
