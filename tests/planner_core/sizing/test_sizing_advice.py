"""The sizings that are advised next."""

from __future__ import annotations

import pytest

from planner_core.errors import OutOfRange
from planner_core.sizing.sizing_advice import SizingAdvice, advise
from planner_core.sizing.sizing_points import Kind, SizingPoint, fit_points
from planner_core.sizing.structure_size import published_curve
from planner_core.units import MIB


def _answers(advice: SizingAdvice) -> list[SizingPoint]:
    """Return the answers that the advice expects."""
    return [
        SizingPoint(
            cfcc_level=advice.cfcc_level,
            structure_type="admin" if advice.kind == "admin" else "application",
            entry_ratio=each.entry_ratio,
            element_ratio=each.element_ratio,
            size_bytes=each.expected_size_bytes,
            initsize_bytes=each.expected_initsize_bytes,
            entries=each.entries,
            elements=each.elements,
            origin="ixlcsp",
        )
        for each in advice.sizings
    ]


@pytest.mark.parametrize("kind", ["application", "admin"])
def test_ten_advised_sizings_separate_all_figures(kind: Kind) -> None:
    advice = advise([], cfcc_level=25, kind=kind)
    assert [each.number for each in advice.sizings] == list(range(1, 11))
    fit = fit_points(_answers(advice))
    assert fit.not_separable == ()
    assert fit.method == "rounding"
    curve = published_curve(cfcc_level=25).curve
    assert fit.entry_cost_bytes is not None
    assert fit.entry_cost_bytes.low <= curve.entry_bytes <= fit.entry_cost_bytes.high
    assert {each.figure for each in advice.expected if each.afterwards is not None} == {
        "base",
        "bundle",
        "entry",
        "element",
        "size_cost",
    }


def test_expected_intervals_are_those_of_the_expected_answers() -> None:
    advice = advise([], cfcc_level=25)
    fit = fit_points(_answers(advice))
    (base,) = (each for each in advice.expected if each.figure == "base")
    assert fit.base_bytes is not None
    assert base.now is None
    assert base.afterwards == pytest.approx((fit.base_bytes.high - fit.base_bytes.low) / 2)


def test_second_advice_differs_and_narrows_the_intervals_further() -> None:
    first = advise([], cfcc_level=25)
    second = advise(_answers(first), cfcc_level=25)
    assert second.sizings != first.sizings
    for before, after in zip(first.expected, second.expected, strict=True):
        assert after.now == before.afterwards
        assert after.now is not None
        assert after.afterwards is not None
        assert after.afterwards <= after.now


def test_points_at_one_ratio_are_followed_by_other_ratios() -> None:
    at_1_6 = [point for point in _answers(advise([], cfcc_level=25)) if point.element_ratio == 6]
    advice = advise(at_1_6, cfcc_level=25)
    assert {each.element_ratio for each in advice.sizings[:2]} <= {2, 20}


def test_size_that_cannot_be_chosen_equals_initsize() -> None:
    advice = advise([], cfcc_level=14, vary_size=False)
    assert {each.size_multiple for each in advice.sizings} == {1.0}
    assert "control storage" not in advice.text
    assert advice.expected[-1].afterwards is None


def test_messages_of_the_form_take_the_elements_of_the_ratio() -> None:
    for each in advise([], cfcc_level=25).sizings:
        assert each.messages == each.entries
        assert each.message_bytes is not None
        # The middle of the sizes that take these elements: 127 bytes more or less in the form change nothing.
        for message_bytes in (each.message_bytes - 127, each.message_bytes, each.message_bytes + 128):
            assert -(-(message_bytes + 372) // 256) * each.entries == each.elements


def test_no_sizing_is_above_the_largest_size() -> None:
    advice = advise([], cfcc_level=25, largest_bytes=300 * MIB)
    assert max(each.expected_initsize_bytes for each in advice.sizings) <= 300 * MIB


@pytest.mark.parametrize("number", [1, 4, 7])
def test_fewer_sizings_can_be_asked_for(number: int) -> None:
    assert len(advise([], cfcc_level=25, sizings=number).sizings) == number


@pytest.mark.parametrize(
    "wrong", [{"sizings": 0}, {"sizings": 11}, {"largest_bytes": MIB}, {"cfcc_level": 3}]
)
def test_number_out_of_range_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(OutOfRange):
        advise([], **{"cfcc_level": 25, **wrong})  # type: ignore[arg-type]


def test_text_has_lines_of_at_most_80_characters_and_every_sizing() -> None:
    kinds: tuple[Kind, ...] = ("application", "admin")
    for kind in kinds:
        advice = advise([], cfcc_level=25, kind=kind)
        assert max(map(len, advice.text.splitlines())) <= 80
        assert all(f"{each.number:2}. ratio" in advice.text for each in advice.sizings)


def test_points_of_another_level_are_ignored() -> None:
    others = _answers(advise([], cfcc_level=24))
    assert advise(others, cfcc_level=25) == advise([], cfcc_level=25)
