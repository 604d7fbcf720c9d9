"""The contents of a structure: the backlog by day and hour, and the use of both pools under offload rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spark_jobs.simulate.series import growth_path, rhythm
from spark_jobs.simulate.site import ALWAYS_OFFLOADED_ABOVE, OFFLOADED_ELEMENTS, RULES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spark_jobs.simulate.site import StructureModel

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Filled:
    """The use of a structure by a backlog, at several moments. The classes are those of the structure's `classes()`."""

    taken: Floats
    """Share of the backlog that fits."""
    entries: Floats
    elements: Floats
    offloaded: Floats
    """Messages by class and moment."""
    rejected: Floats
    """Messages that did not fit."""


def fill(model: StructureModel, messages: Floats, *, entries_total: Whole, elements_total: Whole) -> Filled:
    """Fill the structure with backlogs, all classes at an even rate, starting empty.

    When the usage of the fuller pool is above a rule's threshold, messages larger than the rule's size take one entry
    and two elements; messages of more than 63 KB always do. When a pool is full, no more messages are put.
    """
    shares, sizes, in_structure = model.classes()
    by_class = shares[:, None] * messages
    count = np.maximum(by_class.sum(axis=0), 1e-9)
    thresholds = [usage for usage, _ in RULES] if model.offload else []
    smallest = [np.inf, *(size for _, size in RULES)] if model.offload else [np.inf]
    taken = np.zeros_like(count)
    elements = np.zeros_like(count)
    offloaded = np.zeros_like(by_class)
    for above, until in zip(smallest, [*thresholds, 1.0], strict=True):
        is_offloaded = model.offload & ((sizes > above) | (sizes > ALWAYS_OFFLOADED_ABOVE))
        rate = (by_class * np.where(is_offloaded, OFFLOADED_ELEMENTS, in_structure)[:, None]).sum(axis=0)
        by_entries = until * entries_total / count
        by_elements = taken + (until * elements_total - elements) / np.maximum(rate, 1e-9)
        end = np.clip(np.minimum(by_entries, by_elements), taken, 1.0)
        elements = elements + (end - taken) * rate
        offloaded += np.where(is_offloaded[:, None], (end - taken) * by_class, 0.0)
        taken = end
    return Filled(taken, taken * count, elements, offloaded, (1 - taken) * count)


def messages_for_usage(
    model: StructureModel, usage: float, *, entries_total: int, elements_total: int
) -> float:
    """Return the backlog that fills the fuller pool to a given usage, without offloading by rules."""
    shares, sizes, in_structure = model.classes()
    always = model.offload & (sizes > ALWAYS_OFFLOADED_ABOVE)
    per_message = float((shares * np.where(always, OFFLOADED_ELEMENTS, in_structure)).sum())
    return usage * min(entries_total, elements_total / per_message)


def trend(model: StructureModel, moment: Floats) -> Floats:
    """Return the growth relative to the first day, at moments given in days from its start."""
    return np.maximum(
        growth_path(moment, kind=model.growth_kind, growth_per_year=model.growth_per_year), 0.01
    )


def daily(model: StructureModel, calendar: NDArray[np.int64]) -> Floats:
    """Return the factors of weekdays and ends of months, for date ordinals."""
    return rhythm(calendar, week=np.array(model.week), month_end=model.month_end)
