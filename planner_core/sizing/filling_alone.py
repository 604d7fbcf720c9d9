"""The filling of a structure by the messages of one queue alone.

`filling.fill` gives the same moments for a demand of one message. It builds a demand with its bands for each call, which
takes most of the time if every queue of a large plan is filled alone. A test compares both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from planner_core.sizing.demand import Units
from planner_core.sizing.filling import order
from planner_core.sizing.offload import Rule
from planner_core.sizing.structure_size import model_constant

_FULL = 100


class Stage(NamedTuple):
    """A part of the filling, up to a usage [percent], in which the data of the first `held` bands stays in the CF."""

    usage_percent: int
    held: int


class MessagesPerBundle(NamedTuple):
    """The messages in one bundle at a moment: a numerator and a denominator."""

    share: int
    q: int

    def messages(self, bundles: Fraction) -> int:
        """Return the number of messages in a structure of this many bundles, rounded down."""
        return self.share * bundles.numerator // (self.q * bundles.denominator)


@dataclass(frozen=True)
class FillingsAlone:
    """The fillings of one bundle by each queue of a structure alone.

    Args:
        units: The entries and elements of one message of each queue.
        rules: The offload rules of the structure.
        elements_per_entry: The elements of a bundle, which has one entry.
        usage_percent: The usage whose moment is wanted besides that of the full bundle.
    """

    units: Units
    rules: Sequence[Rule]
    elements_per_entry: Fraction
    usage_percent: int

    @cached_property
    def over(self) -> tuple[int, ...]:
        """Return the limit that the messages of each band exceed [bytes]; the last one is for queues without a band."""
        return (-1, *self.units.edges, -2)

    @cached_property
    def largest(self) -> tuple[int, ...]:
        """Return the largest band of each queue that has messages, by its number; -1 without one.

        The band of messages over 63 KB does not count, because these are offloaded without any rule.
        """
        numbers = range(len(self.units.edges) - 1, -1, -1)
        return tuple([next((each for each in numbers if bands[each][0]), -1) for bands in self.units.bands])

    @cached_property
    def _early(self) -> int | None:
        """Return the smallest size among the rules that start below the usage; None if there are none."""
        return self._smallest_size(below=self.usage_percent)

    @cached_property
    def _smallest(self) -> int | None:
        """Return the smallest size of all rules; None if there are no rules."""
        return self._smallest_size(below=_FULL)

    def _smallest_size(self, *, below: int) -> int | None:
        # Rules for sizes that the plan's backlog lacks are included: a queue without a backlog may have such messages.
        return min(
            [rule.size_bytes for rule in self.rules if rule.is_on and rule.threshold < below], default=None
        )

    def at_usage(self, bundles: Fraction) -> tuple[int | None, ...]:
        """Return how many messages of each queue alone a structure of this many bundles holds at the usage.

        None for a queue that meets a rule before: its filling must be simulated.
        """
        total, cost = self._elements
        up, down = self.usage_percent * bundles.numerator * total, _FULL * bundles.denominator
        early, any_rule = (
            [size is not None and over >= size for over in self.over]
            for size in (self._early, self._smallest)
        )
        # Where a rule above the usage offloads messages of the queue, `fill` counts elements for the assumed shape of
        # message sizes from the beginning. This figure must agree with it.
        found = [
            None
            if early[largest]
            else cost * (elements - beyond if beyond and any_rule[largest] else elements)
            for largest, elements, beyond in zip(
                self.largest, self.units.elements, self.units.beyond, strict=True
            )
        ]
        # A message takes the one entry of a bundle, and its elements may be more than those of a bundle.
        return tuple(
            [None if used is None else up // (down * (used if used > total else total)) for used in found]
        )

    def without_rules(self, bundles: Fraction) -> tuple[int, ...]:
        """Return how many messages of each queue alone a structure of this many bundles holds without rules."""
        total, cost = self._elements
        up, down = bundles.numerator * total, bundles.denominator
        return tuple(
            [
                up // (down * (used if used > total else total))
                for used in map(cost.__mul__, self.units.elements)
            ]
        )

    @cached_property
    def _elements(self) -> tuple[int, int]:
        """Return the elements of a bundle, times the scale of the units: a numerator and a denominator."""
        total, cost = self.elements_per_entry.as_integer_ratio()
        return total * self.units.scale, cost

    @cached_property
    def _known(self) -> dict[int, tuple[tuple[Stage, ...], bool]]:
        return {}

    def _stages(self, largest: int) -> tuple[tuple[Stage, ...], bool]:
        """Return the stages for queues with this largest band, and whether a rule acts."""
        found = self._known.get(largest)
        if found is None:
            active = sorted(
                [rule for rule in self.rules if rule.is_on and self.over[largest] >= rule.size_bytes],
                key=order,
            )
            limit, stages = self.units.edges[-1], []
            for goal in sorted({*[rule.threshold for rule in active], self.usage_percent, _FULL}):
                stages.append(Stage(goal, sum([each < limit for each in self.over[:-1]])))
                for rule in active:
                    # A rule adds to those before it: a later one for larger messages changes nothing.
                    if rule.threshold == goal and rule.size_bytes < limit:
                        limit = rule.size_bytes
            found = self._known[largest] = tuple(stages), bool(active)
        return found

    @cached_property
    def _known_moments(self) -> dict[int, tuple[MessagesPerBundle, MessagesPerBundle]]:
        return {}

    def moments(self, place: int) -> tuple[MessagesPerBundle, MessagesPerBundle]:
        """Return the moments at which the queue at this place fills a bundle to the usage, and completely."""
        found = self._known_moments.get(place)
        if found is None:
            found = self._known_moments[place] = self._moments(place)
        return found

    def _moments(self, place: int) -> tuple[MessagesPerBundle, MessagesPerBundle]:
        stages, acts = self._stages(self.largest[place])
        # Without active rules the bound on elements holds for any shape of message sizes.
        beyond = 0 if acts else self.units.beyond[place]
        two = model_constant("offloaded_message_elements")
        _, cost = self._elements
        # The elements of one message, by the number of bands whose data stays in the CF.
        rates, rate = [], (beyond + two * self.units.scale) * cost
        for count, its_elements, _ in self.units.bands[place]:
            rates.append(rate)
            rate += (its_elements - two * count) * cost
        return self._while_elements_lead(stages, rates) or self._of_both_pools(stages, rates)

    def _while_elements_lead(
        self, stages: Sequence[Stage], rates: Sequence[int]
    ) -> tuple[MessagesPerBundle, MessagesPerBundle] | None:
        """Return the moments if elements reach each usage before entries do, as with most sizes; otherwise None."""
        total, _ = self._elements
        q, share, before, at_usage = 1, 0, 0, None
        for goal, held in stages:
            rate = rates[held]
            share, q = share * rate + (goal - before) * total * q, q * rate
            # Entries would have more than this usage.
            if share > goal * q:
                return None
            if goal == self.usage_percent:
                at_usage = MessagesPerBundle(share, _FULL * q)
            before = goal
        full = MessagesPerBundle(share, _FULL * q)
        return at_usage or full, full

    def _of_both_pools(
        self, stages: Sequence[Stage], rates: Sequence[int]
    ) -> tuple[MessagesPerBundle, MessagesPerBundle]:
        total, _ = self._elements
        q, share, elements = 1, 0, 0
        reached: dict[int, MessagesPerBundle] = {}
        for goal, held in stages:
            rate = rates[held]
            # The room in entries, or in elements if they reach the usage first, in parts of 100 q.
            room, its_rate = goal * q - _FULL * share, 1
            left = total * goal * q - _FULL * elements
            if left < room * rate:
                room, its_rate = left, rate
            if room > 0:
                factor = _FULL * its_rate
                q *= factor
                share = share * factor + room
                elements = elements * factor + room * rate
            reached[goal] = MessagesPerBundle(share, q)
        return reached[self.usage_percent], reached[_FULL]
