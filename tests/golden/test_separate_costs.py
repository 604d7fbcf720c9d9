"""Costs of entries and elements, derived from the published growth of CSQ_ADMIN and the cost of a bundle.

Sources: Table 1 and Table 2 of the planning page, and the charts and the 4 GB table of the z16 report, as entered in the
other modules of this folder. Assumption: entries and elements of CSQ_ADMIN (1:2) cost as much as those of application
structures (1:6). Then element = (bundle at 1:6 - bundle at 1:2) / 4, and an entry is the rest.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from planner_core import tables
from planner_core.contracts.fits import Estimate
from planner_core.sizing.sizing_points import SizingPoint, fit_points
from planner_core.sizing.structure_size import published_curve, size_for, with_derived_costs
from tests.golden.published_points import (
    LAST_DIGIT_TO_5,
    admin_chart,
    application_chart,
    four_gb,
    table_1,
    table_2,
)


def _bundle(points: list[SizingPoint]) -> Estimate:
    found = fit_points(points).bundle_bytes
    assert found is not None
    return found


# Factors from 1.429 to 1.440 give the rows of the 4 GB table for CFCC 17 to 24, times 1536.
BUNDLE_17_TO_24 = Estimate(2196.48, 2194.944, 2211.84)

CASES = [
    pytest.param(14, _bundle(table_1()), _bundle(table_2()), id="cfcc-14"),
    pytest.param(24, _bundle(admin_chart(24)), BUNDLE_17_TO_24, id="cfcc-17-to-24"),
    pytest.param(
        25,
        _bundle(admin_chart(25)),
        _bundle([*four_gb(LAST_DIGIT_TO_5), *application_chart()]),
        id="cfcc-25",
    ),
]


@pytest.mark.parametrize(("level", "admin", "application"), CASES)
def test_derived_costs_follow_from_the_published_figures(
    level: int, admin: Estimate, application: Estimate
) -> None:
    curve = published_curve(cfcc_level=level).curve
    row = next(
        row
        for row in tables.table("entry_element_costs").records()
        if int(row["cfcc_from"]) == curve.cfcc_from
    )
    stated = [float(tables.exact(row[name])) for name in ("admin_bundle", "admin_from", "admin_to")]
    assert stated == pytest.approx([admin.value, admin.low, admin.high], abs=0.006)
    element = [float(tables.exact(row[name])) for name in ("element", "element_from", "element_to")]
    assert element == pytest.approx(
        [
            (float(curve.bundle) - admin.value) / 4,
            (application.low - admin.high) / 4,
            (application.high - admin.low) / 4,
        ],
        abs=0.011,
    )


@pytest.mark.parametrize(
    ("level", "entry", "element"), [(14, 320.63, 283.01), (17, 299.34, 316.19), (25, 318.36, 313.02)]
)
def test_entry_costs_the_rest_of_the_bundle(level: int, entry: float, element: float) -> None:
    curve = published_curve(cfcc_level=level).curve
    derived = with_derived_costs(curve)
    assert float(derived.element_bytes) == element
    assert float(derived.entry_bytes) == pytest.approx(entry, abs=0.005)
    assert derived.bundle == curve.bundle


@pytest.mark.parametrize("ratio", [None, (1, 6), (2, 12)])
def test_sizes_at_1_6_do_not_change(ratio: tuple[int, int] | None) -> None:
    for level in (14, 24, 25):
        curve = published_curve(cfcc_level=level).curve
        sizes = {
            size_for(entries=100_000, elements=700_000, curve=each, ratio=ratio)
            for each in (curve, with_derived_costs(curve))
        }
        assert len(sizes) == 1


@pytest.mark.parametrize(
    ("level", "ratio", "changed_percent"),
    [(14, 2, -10.9), (24, 2, -20.5), (25, 2, -19.5), (14, 20, 6.7), (24, 20, 14.6), (25, 20, 13.8)],
)
def test_bundle_at_other_ratios_differs_by_the_stated_percentage(
    level: int, ratio: int, changed_percent: float
) -> None:
    curve = published_curve(cfcc_level=level).curve
    assumed, derived = curve.bundle_at((1, ratio))[0], with_derived_costs(curve).bundle_at((1, ratio))[0]
    assert float((derived / assumed - 1) * 100) == pytest.approx(changed_percent, abs=0.05)
    assert derived > 0
    assert with_derived_costs(curve).elements_per_entry == Fraction(6)
