"""The true values of a simulation, as JSON: costs, demand, events, and the noise-free crossing of each threshold."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from planner_core.inputs import SIMULATION_TRUTH
from planner_core.simulated import QSG, SYSPLEX, WORD
from planner_core.units import PAGE_4K
from spark_jobs.history.compare import instant_text
from spark_jobs.simulate.days import SPACE_MAP_BLOCKS, Day, start_messages
from spark_jobs.simulate.demand import daily, fill, trend
from spark_jobs.simulate.site import BLOCK_BYTES, HOURS, RULES, Site, StructureModel
from spark_jobs.simulate.timeline import NOISE_BYTES, OUTLIER_SHARE, Timeline

if TYPE_CHECKING:
    from numpy.typing import NDArray

AFTERWARDS_DAYS: Final = 365
"""The number of days after the last one in which crossings are searched for."""
FULL_THRESHOLD, SIZE = 0.85, 1.0
_ALMOST = 1e-9


def truth_of(site: Site, timeline: Timeline) -> dict[str, Any]:
    """Return all values except those that `DailyTruth` collects while the days are made."""
    options = site.options
    return {
        "kind": SIMULATION_TRUTH,
        "schema": 1,
        "is_simulated": True,
        "note": f"All of this is {WORD}: no such site exists.",
        "options": {
            "days": options.days,
            "structures": options.structures,
            "queue_managers": options.queue_managers,
            "interval_minutes": options.interval_minutes,
            "seed": options.seed,
            "first_day": options.first_day.isoformat(),
        },
        "qsg": QSG,
        "sysplex": SYSPLEX,
        "last_day": _day(site, options.days - 1),
        "queue_managers": [{"queue_manager": one.name, "system_id": one.system_id} for one in site.managers],
        "coupling_facilities": [
            {
                "name": one.name,
                "cfcc_level": one.cfcc_level,
                "base_bytes": one.base_bytes,
                "entry_bytes": one.entry_bytes,
                "element_bytes": one.element_bytes,
                "bundle_bytes": one.entry_bytes + 6 * one.element_bytes,
            }
            for one in site.facilities
        ],
        "allocation_noise_bytes": NOISE_BYTES,
        "allocation_outlier_share": OUTLIER_SHARE,
        "allocation_outliers": [
            {"day": _day(site, day), "structure": site.structures[number].name, "interval": interval}
            for day in range(options.days)
            if day not in timeline.outage_days
            for number, interval in sorted(timeline.outliers(day).items())
        ],
        "outage_days": [_day(site, day) for day in timeline.outage_days],
        "queue_manager_down": None
        if timeline.manager_down is None
        else {
            "queue_manager": site.managers[timeline.manager_down[0]].name,
            "day": _day(site, timeline.manager_down[1]),
        },
        "rises": [
            {
                "structure": site.structures[one.structure].name,
                "kind": one.kind,
                "first_interval_end": _end(site, one.first),
                "last_interval_end": _end(site, one.end - 1),
                "usage": one.usage,
            }
            for one in timeline.rises
        ],
        "structures": [_structure(site, timeline, model) for model in site.structures],
    }


class DailyTruth:
    """A collector of the true values of each day as it is made."""

    def __init__(self, site: Site) -> None:
        """Prepare an empty table for each of the site's structures."""
        self._site = site
        self._by_structure: dict[str, dict[str, list[Any]]] = {
            model.name: {
                name: []
                for name in (
                    "day",
                    "entries_peak",
                    "elements_peak",
                    "entries_total",
                    "elements_total",
                    "size_bytes",
                    "full_count",
                    "smds_blocks_peak",
                )
            }
            for model in site.structures
        }

    def add(self, day: Day) -> None:
        """Add a day; its totals and size are taken from its last interval."""
        for one in day.structures:
            found = self._by_structure[one.model.name]
            last = one.allocations[-1]
            for name, value in (
                ("day", day.date.isoformat()),
                ("entries_peak", int(one.entries.max())),
                ("elements_peak", int(one.elements.max())),
                ("entries_total", last.entries_total),
                ("elements_total", last.elements_total),
                ("size_bytes", last.size_bytes),
                ("full_count", int(one.full.sum())),
                ("smds_blocks_peak", int(one.blocks.max()) if one.model.offload else None),
            ):
                found[name].append(value)

    def added_to(self, truth: dict[str, Any]) -> dict[str, Any]:
        """Return the truth with the days of each structure."""
        for structure in truth["structures"]:
            structure["daily"] = self._by_structure[structure["structure"]]
        return truth


def _structure(site: Site, timeline: Timeline, model: StructureModel) -> dict[str, Any]:
    expected = _expected(site, timeline, model)
    return {
        "structure": model.name,
        "xcf_structure": model.xcf_structure,
        "header_bytes": model.header_bytes,
        "growth": {"kind": model.growth_kind, "per_year": model.growth_per_year},
        "usage_at_start": model.usage_at_start,
        "week": list(model.week),
        "month_end": model.month_end,
        "hours_utc": [round(share, 6) for share in model.profile],
        "noise": model.noise,
        "noise_autocorrelation": model.noise_autocorrelation,
        "offload_rules": [
            {"usage_over_pct": round(100 * usage), "size_over_bytes": size} for usage, size in RULES
        ]
        if model.offload
        else [],
        "smds_blocks": model.smds_blocks if model.offload else None,
        "queues": [
            {
                "queue": queue.name,
                "share": queue.share,
                "message_bytes": [{"bytes": size, "share": share} for size, share in queue.sizes],
                "persistent": queue.is_persistent,
            }
            for queue in model.queues
        ],
        "allocations": [
            {
                "first_interval_end": _end(site, one.first),
                "why": one.why,
                "coupling_facility": site.facilities[one.facility].name,
                "size_bytes": one.size_bytes,
                "ratio": list(one.ratio),
                "entries_total": one.entries_total,
                "elements_total": one.elements_total,
                "allocated_at": instant_text(one.allocated_at),
            }
            for one in timeline.allocations[model.number]
        ],
        "expected": {name: np.rint(values).astype(int).tolist() for name, values in expected.items()},
        "crossings": _crossings(site, timeline, model, expected),
    }


def _expected(site: Site, timeline: Timeline, model: StructureModel) -> dict[str, NDArray[np.float64]]:
    """Return daily peaks without noise, outages and storms, from the first day to a year after the last."""
    days = np.arange(site.options.days + AFTERWARDS_DAYS, dtype=np.int64)
    entries_total, elements_total = _totals(site, timeline, model, len(days))
    peak = (
        start_messages(timeline, model)
        * trend(model, days.astype(np.float64) + model.peak_hour / HOURS)
        * daily(model, site.options.first_day.toordinal() + days)
    )
    filled = fill(model, peak, entries_total=entries_total, elements_total=elements_total)
    found = {"entries": filled.entries, "elements": filled.elements}
    if model.offload:
        _, sizes, _ = model.classes()
        pages = np.ceil(sizes / PAGE_4K) * PAGE_4K
        in_blocks = (filled.offloaded * pages[:, None]).sum(axis=0) / max(len(site.managers), 1)
        found["smds_blocks"] = np.ceil(in_blocks / BLOCK_BYTES) + SPACE_MAP_BLOCKS
    return found


def _totals(
    site: Site, timeline: Timeline, model: StructureModel, days: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the totals at the end of each day; after the last day, they do not change."""
    last = site.options.days - 1
    ends = [
        timeline.at(model.number, (min(day, last) + 1) * site.options.intervals - 1) for day in range(days)
    ]
    return (
        np.array([one.entries_total for one in ends], dtype=np.int64),
        np.array([one.elements_total for one in ends], dtype=np.int64),
    )


def _crossings(
    site: Site, timeline: Timeline, model: StructureModel, expected: dict[str, NDArray[np.float64]]
) -> list[dict[str, Any]]:
    """Return the first day, and the first after the history, on which a pool's expected peak reaches each share."""
    entries_total, elements_total = _totals(site, timeline, model, len(expected["entries"]))
    pools = {
        "entries": expected["entries"] / entries_total,
        "elements": expected["elements"] / elements_total,
    }
    pools["usage"] = np.maximum(pools["entries"], pools["elements"])
    levels = [*((f"offload_{number}", usage) for number, (usage, _) in enumerate(RULES, 1) if model.offload)]
    levels += [("full_threshold", FULL_THRESHOLD), ("size", SIZE)]
    found = []
    for measure, path in pools.items():
        for name, share in levels:
            # Shares such as 0.7 have no exact binary value.
            above = np.flatnonzero(path >= share - _ALMOST)
            later = above[above >= site.options.days]
            found.append(
                {
                    "measure": measure,
                    "level": name,
                    "percent": round(100 * share),
                    "first_day": _day(site, int(above[0])) if len(above) else None,
                    "first_day_after": _day(site, int(later[0])) if len(later) else None,
                    "days_after": int(later[0]) - site.options.days + 1 if len(later) else None,
                }
            )
    return found


def _day(site: Site, number: int) -> str:
    return (site.options.first_day + dt.timedelta(days=number)).isoformat()


def _end(site: Site, interval: int) -> str:
    begin = dt.datetime.combine(site.options.first_day, dt.time(), dt.UTC)
    return instant_text(begin + dt.timedelta(minutes=(interval + 1) * site.options.interval_minutes))
