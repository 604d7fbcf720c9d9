"""docs/reference/figures.md and docs/explanation/assumptions/ state the figures that the code calculates."""

from __future__ import annotations

import re

import pytest

from planner_core import tables
from planner_core.sizing import structure_size
from planner_core.sizing.structure_size import measured_base, published_curve, with_derived_costs
from tests.docs.figures import TABLES, messages_in, need_mib
from tests.docs.pages import ROOT, parts, rows, section

PAGE = ROOT / "docs/reference/figures.md"
ASSUMPTIONS = ROOT / "docs/explanation/assumptions.md"


@pytest.mark.parametrize("heading", TABLES)
def test_tables_on_the_page_match_the_calculated_figures(heading: str) -> None:
    computed = "\n".join(TABLES[heading]())
    assert computed in section(PAGE, heading), f"`python -m tests.docs.figures` prints:\n{computed}"


def test_cells_of_table_2_match_the_page() -> None:
    cells = [cell for row in rows(section(PAGE, "Table 2")) for cell in row[1:]]
    shown = [re.fullmatch(r"(\d+) \(([\d.]+)\)", cell) for cell in cells]
    assert len(shown) == 28
    assert all(match and abs(float(match[2]) - int(match[1])) < 0.5 for match in shown)


def test_residuals_match_the_pages() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in (PAGE, *parts(ASSUMPTIONS)))
    assert "2.6 %" in text
    assert "2.1 %" in text
    assert largest_residual("The 4 GB table") == 2.6
    assert largest_residual("Chart of application structures") == 2.1


def largest_residual(heading: str) -> float:
    """Return the largest percentage in a table of the page."""
    cells = [cell for row in rows(section(PAGE, heading)) for cell in row]
    return max(abs(float(cell.removesuffix(" %"))) for cell in cells if cell.endswith(" %"))


def test_profiles_on_the_assumptions_page_match_the_published_curves() -> None:
    stated = {row[0]: row[1:] for row in rows(section(ASSUMPTIONS, "The element model"))}
    for levels, (base, factor, bundle) in stated.items():
        curve = published_curve(cfcc_level=int(levels.split()[0])).curve
        assert f"{float(curve.base / 2**20):g}, {curve.base_basis.words}" == base.replace(
            "read off a chart", "read off chart"
        )
        assert f"{float(curve.factor):g}, {curve.factor_basis.words}" == factor
        assert float(curve.bundle) == float(bundle)
    assert len(stated) == len(structure_size.published_curves())


def _rows_on_costs() -> list[list[str]]:
    return list(rows(section(ASSUMPTIONS, "Separate costs of entries and elements")))


LEVELS = {"14": 14, "17 to 24": 24, "25": 25}


def test_derived_costs_on_the_assumptions_page_match_the_table() -> None:
    costs = [row for row in _rows_on_costs() if row[0] in LEVELS and len(row) == 4]
    assert len(costs) == 3
    for (_, admin, element, entry), row in zip(
        costs, tables.table("entry_element_costs").records(), strict=True
    ):
        derived = with_derived_costs(published_curve(cfcc_level=int(row["cfcc_to"])).curve)
        bounds = [float(tables.exact(row[name])) for name in ("admin_bundle", "admin_from", "admin_to")]
        assert admin == "{:.2f} ({:.2f} to {:.2f})".format(*bounds)
        bounds = [float(tables.exact(row[name])) for name in ("element", "element_from", "element_to")]
        assert element == "{:.2f} ({:.2f} to {:.2f})".format(*bounds)
        assert entry == f"{float(derived.entry_bytes):.2f}"


def test_differences_of_derived_costs_on_the_assumptions_page_match_the_code() -> None:
    differences = [row for row in _rows_on_costs() if row[0] in LEVELS and len(row) == 5]
    assert len(differences) == 9
    for level, ratio, assumed, derived, difference in differences:
        curve = published_curve(cfcc_level=LEVELS[level]).curve
        at = (1, int(ratio.split(":")[1]))
        before, after = curve.bundle_at(at)[0], with_derived_costs(curve).bundle_at(at)[0]
        assert (f"{float(before):.1f}", f"{float(after):.1f}") == (assumed, derived)
        assert f"{float(after / before - 1) * 100:+.1f} %" == difference


def test_needs_with_the_measured_base_match_the_code() -> None:
    curve = published_curve(cfcc_level=24).curve
    less = (curve.base - measured_base(curve)) / 2**20
    shown = [
        row for row in rows(section(PAGE, "Measured structures")) if len(row) == 4 and row[1].endswith("MiB")
    ]
    assert len(shown) == 4
    for messages, need, smaller, difference in shown:
        before = need_mib(int(messages.replace(" ", "")), 1024, cfcc_level=24)
        assert need == f"{float(before):.1f} MiB"
        assert smaller == f"{float(before - less):.1f} MiB"
        assert difference == f"{float(-less / before) * 100:+.1f} %"


def test_extreme_costs_on_the_assumptions_page_match_the_code() -> None:
    curve = published_curve(cfcc_level=25).curve
    extremes = [row for row in _rows_on_costs() if row[0].startswith("1:")]
    assert len(extremes) == 4
    for ratio, assumed, other, error in extremes:
        elements = int(ratio.split(":")[1])
        here, there = curve.bundle_at((1, elements))[0], curve.bundle * elements / 6
        assert f"{float(here):.1f}" == assumed
        assert f"{float(there):.1f}" == other
        assert f"{abs(float(here / there) - 1) * 100:.0f}" == re.findall(r"\d+", error)[-1]


@pytest.mark.parametrize(
    ("level", "stated"),
    [(14, "391 MiB at CFCC 14"), (24, "433 at 17 to 24"), (25, "441 at 25")],
)
def test_sizes_by_level_on_the_assumptions_page_match_the_code(level: int, stated: str) -> None:
    text = " ".join(section(ASSUMPTIONS, "CFCC levels without figures").split())
    assert stated in text
    assert f"{float(need_mib(200_000, 1024, cfcc_level=level)):.0f}" in stated


def test_message_capacity_of_256_mb_matches_the_page() -> None:
    held = f"{messages_in('256M', 1024, cfcc_level=14):_}".replace("_", " ")
    assert held == "129 812"
    page = (ROOT / "docs/reference/plan-document.md").read_text(encoding="utf-8")
    assert held in " ".join(page.split())
