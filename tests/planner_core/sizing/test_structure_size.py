"""The element model: two pools at a ratio, the size for a backlog, and the backlog for a size."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.errors import OutOfRange
from planner_core.provenance import Basis
from planner_core.sizing.structure_size import (
    ELEMENTS,
    ENTRIES,
    Curve,
    allocated_bytes,
    binding_pool,
    bundles_in,
    elements_for,
    elements_held,
    exact_size_for,
    messages_that_fit,
    published_curve,
    published_curves,
    size_for,
    storage_increment_bytes,
)

K, M = 1024, 1024**2

curves = st.sampled_from(published_curves())
counts = st.integers(0, 10**9)
lengths = st.one_of(
    st.integers(0, 200_000), st.sampled_from([0, 140, 141, 1164, 1165, 64512, 64513, 104_857_600])
)
ratios = st.one_of(st.none(), st.tuples(st.integers(1, 100), st.integers(1, 65535)))
OLD, MODERN = published_curve(cfcc_level=14).curve, published_curve(cfcc_level=25).curve


def test_size_matches_ibms_example() -> None:
    # 200 000 messages of 1 KB: "a value in the range 256 through 512 MB".
    assert elements_for(1024, header_bytes=OLD.header_bytes) == 6
    assert OLD.bundle == Fraction(131425, 100000) * 6 * 256
    size = size_for(entries=200_000, elements=1_200_000, curve=OLD)
    assert round(size / M) == 391
    assert binding_pool(entries=200_000, elements=1_200_000, curve=OLD) == ENTRIES
    # INITSIZE(262144) of the same example.
    assert messages_that_fit(256 * M, message_bytes=1024, curve=OLD) == 129_812


@given(counts, counts, st.integers(0, 10**6), st.integers(0, 10**6), curves, ratios)
def test_more_entries_or_elements_never_need_a_smaller_structure(
    entries: int,
    elements: int,
    more_entries: int,
    more_elements: int,
    curve: Curve,
    ratio: tuple[int, int] | None,
) -> None:
    less = size_for(entries=entries, elements=elements, curve=curve, ratio=ratio)
    more = size_for(
        entries=entries + more_entries, elements=elements + more_elements, curve=curve, ratio=ratio
    )
    assert more >= less >= curve.base


@given(st.integers(0, 64_512), st.integers(0, 64_512))
def test_longer_message_never_takes_fewer_elements(one: int, other: int) -> None:
    short, long = sorted((one, other))
    assert elements_for(short, header_bytes=372) <= elements_for(long, header_bytes=372)
    assert (
        elements_for(long, header_bytes=372) * 256
        >= long + 372
        > (elements_for(long, header_bytes=372) - 1) * 256
    )


def test_message_too_large_for_the_cf_keeps_two_elements() -> None:
    assert elements_held(64_512, header_bytes=372) == 254
    assert elements_held(64_513, header_bytes=372) == 2
    assert elements_held(104_857_600, header_bytes=372) == 2


@given(st.integers(1, 10**8), lengths, curves, ratios)
def test_size_for_a_backlog_and_backlog_for_a_size_are_inverse(
    messages: int, length: int, curve: Curve, ratio: tuple[int, int] | None
) -> None:
    elements = messages * elements_held(length, header_bytes=curve.header_bytes)
    exact = exact_size_for(entries=messages, elements=elements, curve=curve, ratio=ratio)
    size = size_for(entries=messages, elements=elements, curve=curve, ratio=ratio)
    assert exact <= size < exact + 1
    assert messages_that_fit(exact, message_bytes=length, curve=curve, ratio=ratio) == messages
    assert messages_that_fit(exact - 1, message_bytes=length, curve=curve, ratio=ratio) < messages
    assert messages_that_fit(size, message_bytes=length, curve=curve, ratio=ratio) == messages


@given(st.integers(0, 2**41), lengths, curves)
def test_messages_that_fit_is_the_largest_number_that_fits(size: int, length: int, curve: Curve) -> None:
    held = messages_that_fit(size, message_bytes=length, curve=curve)
    per_message = elements_held(length, header_bytes=curve.header_bytes)
    if held:
        assert size_for(entries=held, elements=held * per_message, curve=curve) <= size
    assert size_for(entries=held + 1, elements=(held + 1) * per_message, curve=curve) > size


@given(st.lists(st.tuples(st.integers(0, 10**6), lengths), min_size=1, max_size=5), curves)
def test_mixture_never_needs_more_than_the_sum_of_its_parts(
    parts: list[tuple[int, int]], curve: Curve
) -> None:
    held = [(n, n * elements_held(length, header_bytes=curve.header_bytes)) for n, length in parts]
    together = exact_size_for(entries=sum(n for n, _ in held), elements=sum(e for _, e in held), curve=curve)
    apart = sum(exact_size_for(entries=n, elements=e, curve=curve) - curve.base for n, e in held)
    assert together <= curve.base + apart


def test_mixed_sizes_need_less_than_separate_structures() -> None:
    apart = size_for(entries=1000, elements=2000, curve=MODERN) + size_for(
        entries=10, elements=2540, curve=MODERN
    )
    assert size_for(entries=1010, elements=4540, curve=MODERN) < apart - MODERN.base


@given(counts, counts, curves, ratios)
def test_binding_pool_sets_the_size(
    entries: int, elements: int, curve: Curve, ratio: tuple[int, int] | None
) -> None:
    size = exact_size_for(entries=entries, elements=elements, curve=curve, ratio=ratio)
    without = exact_size_for(entries=entries, elements=0, curve=curve, ratio=ratio)
    binds = binding_pool(entries=entries, elements=elements, curve=curve, ratio=ratio)
    assert binds == (ENTRIES if size == without else ELEMENTS)


@given(st.integers(1, 60), curves)
def test_equivalent_ratio_gives_the_same_size(times: int, curve: Curve) -> None:
    own = (times * curve.ratio_entries, times * curve.ratio_elements)
    assert curve.bundle_at(own) == curve.bundle_at(None) == (curve.bundle, Fraction(6))


def test_element_at_another_ratio_is_assumed_to_cost_256_bytes() -> None:
    assert MODERN.bundle == Fraction("2196.48")
    assert (MODERN.element_bytes, MODERN.entry_bytes) == (Fraction(256), Fraction("660.48"))
    assert MODERN.bundle_at((1, 2)) == (Fraction("1172.48"), Fraction(2))
    assert MODERN.bundle_at((2, 21)) == (Fraction("660.48") + Fraction(21, 2) * 256, Fraction(21, 2))
    assert MODERN.split_basis is Basis.ASSUMED


@given(st.integers(0, 10**12), curves)
def test_bundles_are_counted_only_above_the_base(size: int, curve: Curve) -> None:
    bundles = bundles_in(size, curve=curve)
    assert bundles == max(Fraction(0), (size - curve.base) / curve.bundle)
    assert bundles_in(curve.base, curve=curve) == 0


@given(st.integers(0, 2**42), curves)
def test_allocated_size_is_rounded_up_to_whole_increments(need: int, curve: Curve) -> None:
    allocated = allocated_bytes(need, curve=curve)
    assert allocated % curve.increment_bytes == 0
    assert 0 <= allocated - need < curve.increment_bytes


@pytest.mark.parametrize(
    ("level", "increment"), [(1, 256), (14, 256), (15, 512), (16, 1024), (25, 1024), (99, 1024), (200, 1024)]
)
def test_storage_increment_grows_with_the_level(level: int, increment: int) -> None:
    assert storage_increment_bytes(cfcc_level=level) == increment * K


@pytest.mark.parametrize(
    ("level", "curve", "codes"),
    [
        (1, "published-cfcc14", ["CFCC_LEVEL_WITHOUT_FIGURES"]),
        (14, "published-cfcc14", []),
        (15, "published-cfcc17", ["CFCC_LEVEL_WITHOUT_FIGURES", "CURVE_BASE_ASSUMED"]),
        (17, "published-cfcc17", ["CURVE_BASE_ASSUMED"]),
        (24, "published-cfcc17", ["CURVE_BASE_ASSUMED"]),
        (25, "published-cfcc25", []),
        (99, "published-cfcc25", ["CFCC_LEVEL_ABOVE_FIGURES"]),
    ],
)
def test_level_uses_its_own_curve_or_the_next_higher_one(level: int, curve: str, codes: list[str]) -> None:
    choice = published_curve(cfcc_level=level)
    assert choice.curve.id == curve
    assert [item.code for item in choice.findings] == codes


def test_cfcc_level_0_is_refused() -> None:
    with pytest.raises(OutOfRange, match="cfcc_level is 0, but must be at least 9"):
        published_curve(cfcc_level=0)


@given(st.integers(1, 98), st.integers(0, 10**7), st.integers(0, 64_512))
def test_higher_level_never_needs_a_smaller_structure(level: int, messages: int, length: int) -> None:
    elements = messages * elements_for(length, header_bytes=372)
    here, above = (
        size_for(entries=messages, elements=elements, curve=published_curve(cfcc_level=n).curve)
        for n in (level, level + 1)
    )
    assert here <= above


def test_every_structure_grows_by_8_mb_from_cfcc_24_to_25() -> None:
    older = published_curve(cfcc_level=24).curve
    assert MODERN.base - older.base == 8 * M
    assert MODERN.factor == older.factor


def test_curve_has_the_sources_of_its_figures() -> None:
    for curve in published_curves():
        assert curve.origin == "published"
        assert curve.base_source.url
        assert curve.factor_source.url
    assert [curve.base_basis for curve in published_curves()] == [
        Basis.DERIVED,
        Basis.ASSUMED,
        Basis.READ_OFF_CHART,
    ]
    assert MODERN.summary.base_bytes == 22 * M
