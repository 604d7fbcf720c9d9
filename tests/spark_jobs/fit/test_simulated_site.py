"""Allocations of complete simulated sites, reduced as in a nightly run, give the costs of each facility."""

from __future__ import annotations

import datetime as dt
from collections import Counter

import pytest

from spark_jobs.fit import AllocationPoint, Estimate, fit_all
from spark_jobs.simulate.site import Options, Site
from spark_jobs.simulate.timeline import make_timeline


def points_of(site: Site) -> list[AllocationPoint]:
    """Return a row for each structure, day and set of totals; records of outages are missing."""
    timeline = make_timeline(site)
    points = []
    for number, structure in enumerate(site.structures):
        for day in range(site.options.days):
            if day in timeline.outage_days:
                continue
            seen = Counter(
                (
                    site.facilities[one.facility],
                    one.allocated_at,
                    one.size_bytes,
                    one.entries_total,
                    one.elements_total,
                )
                for one in timeline.of_day(number, day)
            )
            points += [
                AllocationPoint(
                    "SIM1",
                    structure.name,
                    None,
                    facility.name,
                    facility.cfcc_level,
                    site.options.first_day + dt.timedelta(days=day),
                    allocated_at,
                    size_bytes,
                    entries,
                    elements,
                    count,
                )
                for (facility, allocated_at, size_bytes, entries, elements), count in seen.items()
            ]
    return points


@pytest.mark.parametrize("seed", range(1, 7))
def test_fit_of_a_simulated_site_gives_the_costs_of_its_facilities(seed: int) -> None:
    site = Site(Options(days=120, structures=8, queue_managers=3, interval_minutes=60, seed=seed))
    true = {facility.name: facility for facility in site.facilities}
    fits = fit_all(points_of(site))
    assert {fit.coupling_facility for fit in fits} <= set(true)
    fitted = [fit for fit in fits if fit.state == "fitted"]
    assert fitted, [fit.reason for fit in fits]
    for fit in fitted:
        facility = true[fit.coupling_facility or ""]
        off(fit.base_bytes, facility.base_bytes, 0.10)
        off(fit.bundle_bytes, facility.entry_bytes + 6 * facility.element_bytes, 0.01)
        if fit.kind == "two_costs":
            off(fit.entry_bytes, facility.entry_bytes, 0.05)
            off(fit.element_bytes, facility.element_bytes, 0.02)


def off(estimate: Estimate | None, true: float, most: float) -> None:
    assert estimate is not None
    assert abs(estimate.value / true - 1) < most
