"""Bars of INITSIZE and SIZE before and after changes."""

from __future__ import annotations

import pytest

from app.web.chart_svg import layouts
from app.web.charts import BarChart
from app.web.size_charts import MOST_GROUPS, SizedBar, SizedGroup, sizes_chart

MIB_KIB = 1024


def group(name: str, before: int, after: int, whole: int | None = None) -> SizedGroup:
    bars = (
        SizedBar("plan", before * MIB_KIB, 2 * before * MIB_KIB),
        SizedBar("more", after * MIB_KIB, 2 * after * MIB_KIB),
    )
    return SizedGroup(name, bars, None if whole is None else whole * MIB_KIB)


def chart_of(*groups: SizedGroup) -> BarChart:
    found = sizes_chart("sizes", "Sizes", groups, whole_name="storage")
    assert found is not None
    return found


def test_structures_that_do_not_change_are_left_out() -> None:
    found = chart_of(group("APP1", 100, 100), group("APP2", 100, 150))
    assert [(bar.name, bar.text) for bar in found.bars] == [
        ("APP2", ""), ("plan", "100 to 200 MiB"), ("more", "150 to 300 MiB"),
    ]  # fmt: skip
    assert "APP2: plan 100 to 200 MiB, more 150 to 300 MiB" in found.description
    assert sizes_chart("sizes", "Sizes", [group("APP1", 100, 100)]) is None


def test_chart_has_the_structures_that_change_most_in_their_order() -> None:
    found = chart_of(*(group(f"APP{nth}", 100, 100 + nth) for nth in range(1, MOST_GROUPS + 3)))
    headings = [bar.name for bar in found.bars if bar.is_heading]
    assert headings == [f"APP{nth}" for nth in range(3, MOST_GROUPS + 3)]
    assert found.title == f"Sizes, the {MOST_GROUPS} that change most of {MOST_GROUPS + 2}"


def test_bar_of_an_absent_structure_has_no_parts() -> None:
    bars = (SizedBar("before", None, None), SizedBar("after", MIB_KIB, MIB_KIB))
    before = chart_of(SizedGroup("APP1", bars)).bars[1]
    assert (before.text, before.parts) == ("none", ())


@pytest.mark.parametrize(("whole", "is_drawn"), [(900, True), (901, False)])
def test_storage_is_drawn_unless_it_would_shorten_all_bars(whole: int, is_drawn: bool) -> None:
    found = chart_of(group("CF01", 100, 150, whole))
    assert (found.bars[1].whole is not None) is is_drawn
    assert ("storage" in [item.name for item in found.legend]) is is_drawn


def test_names_and_bars_are_inside_the_chart_on_narrow_pages() -> None:
    for layout in layouts(chart_of(group("APPLICATION1", 100_000, 150_000))):
        for shape in layout.shapes:
            if shape.tag == "rect":
                end = float(shape.attributes["x"]) + float(shape.attributes["width"])
                assert end <= layout.width
