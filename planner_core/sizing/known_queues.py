"""The queues of a plan that is evaluated several times, with other levels, sizes or growth.

The message sizes of a queue determine the entries and elements of one message, which take a third of the time of an
evaluation. They stay the same in all of these evaluations.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from planner_core.document.model import Queue, Structure
from planner_core.document.size_distribution import SizeDistribution
from planner_core.sizing.demand import QueueDemand, Units, backlog_messages, band_edges, grown
from planner_core.sizing.filling_alone import FillingsAlone
from planner_core.sizing.offload import Rule
from planner_core.sizing.smds import message_header_bytes, page_bytes
from planner_core.sizing.structure_size import Curve


def backlog_of(queue: Queue) -> tuple[int, int]:
    """Return the numerator and denominator of the backlog before growth [messages]."""
    rate, minutes = queue.put_rate_per_s, queue.outage_minutes
    if rate is not None and minutes is not None:
        return backlog_messages(put_rate_per_s=rate, outage_minutes=minutes)
    return queue.backlog or 0, 1


def sizes_of(queue: Queue) -> int | SizeDistribution:
    """Return the message sizes of a queue."""
    sizes = queue.message_bytes
    return sizes if isinstance(sizes, int) else sizes.distribution()


def units_of(queues: Sequence[QueueDemand], rules: Sequence[Rule], curve: Curve) -> Units:
    """Return the entries and elements of one message of each queue, in the bands that these rules need."""
    return Units.of(
        [queue.message_bytes for queue in queues],
        edges=band_edges([rule.size_bytes for rule in rules]),
        header_bytes=curve.header_bytes,
        page_bytes=page_bytes(),
        page_header_bytes=message_header_bytes(),
    )


class KnownQueues:
    """The queues of the structures that were evaluated, by their list in the document."""

    def __init__(self) -> None:
        # The lists are kept, so that none of their ids can be reused.
        self._queues: dict[
            int, tuple[Sequence[Queue], list[tuple[tuple[int, int], int | SizeDistribution]]]
        ] = {}
        self._demands: dict[tuple[int, Fraction], tuple[QueueDemand, ...]] = {}
        self._units: dict[tuple[object, ...], Units] = {}
        self._fillings: dict[tuple[object, ...], FillingsAlone] = {}

    def demands(self, structure: Structure, factor: Fraction) -> tuple[QueueDemand, ...]:
        """Return the backlogs of the queues of a structure after growth by a factor."""
        found = self._queues.get(id(structure.queues))
        if found is None:
            found = structure.queues, [(backlog_of(queue), sizes_of(queue)) for queue in structure.queues]
            self._queues[id(structure.queues)] = found
        key = (id(structure.queues), factor)
        demands = self._demands.get(key)
        if demands is None:
            demands = self._demands[key] = tuple(
                [QueueDemand(grown(messages, of, factor=factor), sizes) for (messages, of), sizes in found[1]]
            )
        return demands

    def units(
        self, structure: Structure, queues: Sequence[QueueDemand], rules: Sequence[Rule], curve: Curve
    ) -> Units:
        """Return the units of the queues of a structure; `queues` are their backlogs from `demands`."""
        key = (id(structure.queues), curve.header_bytes, *sorted({rule.size_bytes for rule in rules}))
        found = self._units.get(key)
        if found is None:
            found = self._units[key] = units_of(queues, rules, curve)
        return found

    def fillings(
        self, units: Units, rules: Sequence[Rule], elements_per_entry: Fraction, usage_percent: int
    ) -> FillingsAlone:
        """Return the fillings of a structure by each of its queues alone; `units` are those of `units`."""
        # Each is the filling of one bundle, so it is the same for every size of the structure and every backlog.
        key = (id(units), *rules, elements_per_entry, usage_percent)
        found = self._fillings.get(key)
        if found is None:
            found = self._fillings[key] = FillingsAlone(units, rules, elements_per_entry, usage_percent)
        return found
