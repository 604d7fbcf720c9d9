"""Placements calculated by hand, each with the rule that decides it, and properties of all placements.

The order is IBM's (Setting Up a Sysplex, "Specifying the coupling facility requirements"; the help of the CFRM policy):
connectivity, CFLEVEL, space, volatility, failure independence, exclusion list; then PREFLIST.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.sizing.placement import RULES, PlacedStructure, PlansDoNotFit, allocate, question
from planner_core.whatif.loss import group_of, losses_of
from tests.planner_core.whatif.placement.scenes import MACHINE, Json, cf, result, structure

GIB = 2**30


def placed(facilities: list[Json], structures: list[Json]) -> dict[str, PlacedStructure]:
    found = allocate(question([group_of("SQ03", result(facilities, structures))])).placed
    return {each.wanted.result.name: each for each in found}


@dataclass(frozen=True)
class Case:
    """Coupling facilities and structures; the case is about the last structure."""

    about: str
    facilities: Sequence[Json]
    structures: Sequence[Json]
    now: tuple[str, ...]
    rule: str
    second_rule: str | None = None
    codes: frozenset[str] = field(default_factory=frozenset)


A = structure("A", preflist=["CF01", "CF02"])
BESIDE = structure("B", preflist=["CF01", "CF02"], exclist=["SQ03A"])
DUPLEXED = {"duplex": "ENABLED"}

CASES = (
    # CF01: 100 G - 1 G for CSQ_ADMIN = 99 G; CF02: 100 G. Both have room for 4 G and differ in nothing: place 1 wins.
    Case("two identical facilities: the first one in PREFLIST", [cf("CF01"), cf("CF02")], [A], ("CF01",), "preflist_order"),
    Case(
        # The same two; CF02 stands first in PREFLIST.
        "order of PREFLIST, not of the plan",
        [cf("CF01"), cf("CF02")],
        [structure("A", preflist=["CF02", "CF01"])],
        ("CF02",),
        "preflist_order",
    ),
    # CF01 is not in PREFLIST: CF02 is compared with nothing.
    Case("only one name in PREFLIST", [cf("CF01"), cf("CF02")], [structure("A", preflist=["CF02"])], ("CF02",), "only_candidate"),
    Case(
        # CF01: 10 G - 1 G for CSQ_ADMIN - 6 G = 3 G, and 4 G are wanted.
        "space occupied by an earlier structure",
        [cf("CF01", "10G"), cf("CF02")],
        [structure("BIG", "6G", preflist=["CF01"]), A],
        ("CF02",),
        "space",
    ),
    Case(
        # 16 G - 12 G - 1 G for CSQ_ADMIN = 3 G.
        "space occupied by other products",
        [cf("CF01", "16G", occupied="12G"), cf("CF02")],
        [A],
        ("CF02",),
        "space",
    ),
    Case(
        # 5632 M - 1 G - 1 G = 3584 M, and 4096 M are wanted.
        "dump space is not available",
        [cf("CF01", "5632M", dumpspace="1G"), cf("CF02")],
        [A],
        ("CF02",),
        "space",
    ),
    # CF01: 5 G - 1 G = 4 G, and 4 G are wanted: not less. Both have room; place 1 wins.
    Case("exactly enough space", [cf("CF01", "5G"), cf("CF02")], [A], ("CF01",), "preflist_order"),
    # Room in both. Volatility 1 against 0: CF02, though it stands second.
    Case("nonvolatile facility before volatile one", [cf("CF01", volatile=True), cf("CF02")], [A], ("CF02",), "volatility"),
    Case(
        # CF02 has 3 G of the 4 G wanted. It would win by volatility, which comes after space.
        "space outweighs volatility",
        [cf("CF01", volatile=True), cf("CF02", "3G")],
        [A],
        ("CF01",),
        "space",
    ),
    Case(
        # Room in both, neither volatile. Failure independence 1 against 0: CF02.
        "failure-independent facility before one that can fail with a system",
        [cf("CF01", failure_isolated=False), cf("CF02")],
        [A],
        ("CF02",),
        "failure_independence",
    ),
    Case(
        # CF01: volatility 1, independence 0. CF02: 0 and 1. The first that differs is volatility: CF02.
        "volatility outweighs failure independence",
        [cf("CF01", volatile=True), cf("CF02", failure_isolated=False)],
        [A],
        ("CF02",),
        "volatility",
    ),
    # A is in CF01 by order. For B all is alike but the exclusion list, 1 in CF01 against 0 in CF02.
    Case("separate from a structure in the exclusion list", [cf("CF01"), cf("CF02")], [A, BESIDE], ("CF02",), "exclusion_list"),
    Case(
        # A is in CF01. For B: CF01 independence 0, exclusion 1; CF02 1 and 0. The first that differs is independence: CF01.
        "failure independence outweighs the exclusion list",
        [cf("CF01"), cf("CF02", failure_isolated=False)],
        [A, BESIDE],
        ("CF01",),
        "failure_independence",
        codes=frozenset({"EXCLUSION_NOT_KEPT"}),
    ),
    Case(
        # CF02 has 2 G of the 4 G that B wants. It would win by the exclusion list, which comes after space.
        "space outweighs the exclusion list",
        [cf("CF01"), cf("CF02", "2G")],
        [A, BESIDE],
        ("CF01",),
        "space",
        codes=frozenset({"EXCLUSION_NOT_KEPT"}),
    ),
    Case(
        # Place 1 with room is taken: CF01, beside A.
        "With ENFORCEORDER(YES), XCF ignores the exclusion list",
        [cf("CF01"), cf("CF02")],
        [A, {**BESIDE, "enforce_order": True}],
        ("CF01",),
        "enforceorder",
        codes=frozenset({"EXCLUSION_NOT_KEPT"}),
    ),
    Case(
        # Place 1 with room is taken: CF01, volatile as it is.
        "ENFORCEORDER(YES) ignores volatility",
        [cf("CF01", volatile=True), cf("CF02")],
        [{**A, "enforce_order": True}],
        ("CF01",),
        "enforceorder",
    ),
    Case(
        # CF01: 3 G - 1 G for CSQ_ADMIN = 2 G of 4 G. CF02 is place 2: it would lose by order, and CF01 by space.
        "ENFORCEORDER(YES) does not override space",
        [cf("CF01", "3G"), cf("CF02")],
        [{**A, "enforce_order": True}],
        ("CF02",),
        "space",
    ),
    # CF01 has level 8 and is out: CF02 is compared with nothing.
    Case("MQ requires CFCC level 9", [cf("CF01", cfcc_level=8), cf("CF02")], [A], ("CF02",), "only_candidate"),
    # CF01: 4 G - 1 G = 3 G; CF02: 3 G; 4 G are wanted.
    Case("no facility is large enough", [cf("CF01", "4G"), cf("CF02", "3G")], [A], (), "none", codes=frozenset({"STRUCTURE_NOT_PLACED"})),
    # Both can take either copy: CF01 by order. The second may not be in CF01: CF02 is all there is.
    Case("two copies in two facilities", [cf("CF01"), cf("CF02")], [{**A, **DUPLEXED}], ("CF01", "CF02"), "preflist_order", "only_candidate"),
    Case(
        # From CF01 (level 10) nothing can be duplexed; CF02 and CF03 can hold both copies.
        "first copy in a facility from which it can be duplexed",
        [cf("CF01", cfcc_level=10), cf("CF02"), cf("CF03")],
        [structure("A", preflist=["CF01", "CF02", "CF03"], **DUPLEXED)],
        ("CF02", "CF03"),
        "duplex_candidacy",
        "only_candidate",
    ),
    Case(
        # First: CF01 by order. Second: CF02 is in the machine of CF01, CF03 is not: 1 against 0.
        "copies in two machines",
        [cf("CF01", **MACHINE, partition="01"), cf("CF02", **MACHINE, partition="02"), cf("CF03")],
        [structure("A", preflist=["CF01", "CF02", "CF03"], **DUPLEXED)],
        ("CF01", "CF03"),
        "preflist_order",
        "duplex_isolation",
    ),
    Case(
        # First: CF01 by order. Second: CF02 in the same machine, compared with nothing.
        "copies in one machine if there is no other",
        [cf("CF01", **MACHINE, partition="01"), cf("CF02", **MACHINE, partition="02")],
        [{**A, **DUPLEXED}],
        ("CF01", "CF02"),
        "preflist_order",
        "only_candidate",
        codes=frozenset({"COPIES_FAIL_TOGETHER"}),
    ),
    Case(
        # First: CF01 by order. Second: CF02 is at SITE1 as CF01 is, CF03 at SITE2: 1 against 0.
        "CROSSSITE",
        [cf("CF01", site="SITE1"), cf("CF02", site="SITE1"), cf("CF03", site="SITE2")],
        [structure("A", preflist=["CF01", "CF02", "CF03"], duplex_site="CROSSSITE", **DUPLEXED)],
        ("CF01", "CF03"),
        "preflist_order",
        "duplex_site",
    ),
    Case(
        # First: CF01 by order. Second: CF02 is at SITE2 and out; nothing is left.
        "SAMESITEONLY with the only other facility at another site",
        [cf("CF01", site="SITE1"), cf("CF02", site="SITE2")],
        [{**A, **DUPLEXED, "duplex_site": "SAMESITEONLY"}],
        ("CF01",),
        "preflist_order",
        "none",
        codes=frozenset({"SECOND_COPY_NOT_PLACED"}),
    ),
    # As two that are alike; level 25 and room in the other one make both fit for a second copy.
    Case("DUPLEX(ALLOWED) gives no second copy", [cf("CF01"), cf("CF02")], [{**A, "duplex": "ALLOWED"}], ("CF01",), "preflist_order"),
    Case(
        # 3 G of structure and 2 G of augmented space: 5 G wanted, and CF01 has 4 G after CSQ_ADMIN.
        "augmented space is included",
        [cf("CF01", "5G", scm="16G"), cf("CF02", scm="16G")],
        [structure("A", "3G", preflist=["CF01", "CF02"], scm={"max_size": "8G", "augmented": "2G"})],
        ("CF02",),
        "space",
        codes=frozenset({"SCM_USED_FROM_THRESHOLD"}),
    ),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.about for case in CASES])
def test_structure_is_placed_by_the_reported_rule(case: Case) -> None:
    facilities, structures = list(case.facilities), list(case.structures)
    found = placed(facilities, structures)[structures[-1]["name"]]
    assert found.now == case.now
    assert found.first is not None
    assert found.first.rule == case.rule
    assert (found.second.rule if found.second else None) == case.second_rule
    answer = losses_of([("SQ03", result(facilities, structures))])
    about_now = {
        "EXCLUSION_NOT_KEPT", "STRUCTURE_NOT_PLACED", "SECOND_COPY_NOT_PLACED", "COPIES_FAIL_TOGETHER", "SCM_USED_FROM_THRESHOLD",
    }  # fmt: skip
    assert {each.code for each in answer.findings} & about_now == case.codes


def test_every_placement_rule_decides_at_least_one_case() -> None:
    decided = {case.rule for case in CASES} | {case.second_rule for case in CASES}
    assert decided - {None} == set(RULES)


def test_reason_names_the_drawbacks_of_earlier_facilities() -> None:
    found = placed(
        [cf("CF01", "4G"), cf("CF02", volatile=True), cf("CF03")],
        [structure("A", preflist=["CF01", "CF02", "CF03"])],
    )
    assert found["A"].first is not None
    # CF01: 4 G less 1 G for CSQ_ADMIN.
    assert found["A"].first.reason == (
        "CF01 is not chosen: it has 3072.0 MiB free, but 4096.0 MiB is needed; CF02 is not chosen: it is volatile."
    )


def test_facility_known_only_from_preflist_is_assumed_to_have_room() -> None:
    answer = losses_of([("SQ03", result([cf("CF02")], [structure("A", preflist=["CF09", "CF02"])]))])
    (found,) = [each for each in answer.normal if each.wanted.result.name == "A"]
    assert found.now == ("CF09",)
    assert "CF_STORAGE_NOT_STATED" in {each.code for each in answer.findings}


def test_structures_of_other_groups_are_placed_last() -> None:
    first = result([cf("CF01", "10G"), cf("CF02")], [A])  # CF01: 1 G and 4 G of it
    other = result([cf("CF01", "10G"), cf("CF02")], [structure("A", "5G")], qsg="QSG2")
    found = allocate(question([group_of("ONE", first), group_of("TWO", other)])).placed
    where = {each.wanted.structure: each.now for each in found}
    assert where == {
        "SQ03CSQ_ADMIN": ("CF01",),
        "SQ03A": ("CF01",),
        "QSG2CSQ_ADMIN": ("CF01",),
        "QSG2A": ("CF02",),
    }


def test_structure_in_two_plans_is_refused() -> None:
    plan = result([cf("CF01")], [])
    with pytest.raises(PlansDoNotFit, match=r"SQ03CSQ_ADMIN is in the plans ONE and TWO"):
        question([group_of("ONE", plan), group_of("TWO", plan)])


def test_less_favorable_of_two_different_statements_on_a_facility_is_used() -> None:
    one = result([cf("CF01", "10G")], [])
    two = result([cf("CF01", "8G", volatile=True, occupied="2G", cfcc_level=24)], [], qsg="QSG2")
    asked = question([group_of("ONE", one), group_of("TWO", two)])
    facility = asked.facilities["CF01"]
    assert (facility.storage_bytes, facility.taken_bytes, facility.is_volatile, facility.cfcc_level) == (
        8 * GIB,
        2 * GIB,
        True,
        24,
    )
    assert asked.stated_differently == ("CF01",)  # fmt: skip


def test_placement_question_with_at_size_places_structures_at_their_size() -> None:
    plan = result([cf("CF01", "6G"), cf("CF02")], [structure("A", "4G") | {"size": "8G"}])
    assert [
        allocate(question([group_of("P", plan)], at=at)).placed[1].now for at in ("initsize", "size")
    ] == [
        ("CF01",),
        ("CF02",),
    ]


# ---- for all plans -----------------------------------------------------------------------------------------------

NAMES = ("CF01", "CF02", "CF03", "CF04")


@st.composite
def scenes(draw: st.DrawFn) -> tuple[list[Json], list[Json]]:
    facilities = [
        cf(
            name,
            f"{draw(st.integers(1, 20))}G",
            volatile=draw(st.booleans()),
            failure_isolated=draw(st.booleans()),
            cfcc_level=draw(st.sampled_from([8, 10, 24, 25])),
            site=draw(st.sampled_from([None, "SITE1", "SITE2"])),
        )
        for name in NAMES[: draw(st.integers(1, 4))]
    ]
    there = [each["name"] for each in facilities]
    structures = [
        structure(
            name,
            f"{draw(st.integers(1, 9))}G",
            preflist=draw(st.lists(st.sampled_from(there), min_size=1, unique=True)),
            exclist=[f"SQ03{other}" for other in draw(st.lists(st.sampled_from("ABCD"), unique=True)) if other != name],
            duplex=draw(st.sampled_from(["DISABLED", "ALLOWED", "ENABLED"])),
            duplex_site=draw(st.sampled_from([None, "CROSSSITE", "SAMESITE", "SAMESITEONLY"])),
            enforce_order=draw(st.booleans()),
        )
        for name in "ABCD"[: draw(st.integers(0, 4))]
    ]  # fmt: skip
    return facilities, structures


@given(scenes())
@settings(max_examples=60)
def test_facilities_are_never_overfilled_or_outside_preflist(scene: tuple[list[Json], list[Json]]) -> None:
    answer = losses_of([("SQ03", result(*scene))])
    for gone, board, found in [
        ((), answer.board, answer.normal),
        *((x.gone, x.board, x.placed) for x in answer.losses),
    ]:
        for name in answer.asked.facilities:
            inside = sum(each.wanted.bytes_wanted for each in found if name in each.now)
            assert inside == board.used_bytes(name)
            assert (board.free_bytes(name) or 0) >= 0
        for each in found:
            assert set(each.now) <= set(each.wanted.preflist) - set(gone)
            assert len(each.now) == len(set(each.now)) <= (2 if each.wanted.is_duplexed else 1)


@given(scenes())
@settings(max_examples=60)
def test_choice_equals_that_of_weights_that_halve_with_each_criterion(
    scene: tuple[list[Json], list[Json]],
) -> None:
    """IBM mentions weights in the order of the list; weights that each exceed the sum of all later ones choose alike."""
    facilities, structures = scene
    described = {each["name"]: each for each in facilities}
    plain = [{**each, "duplex": "DISABLED", "enforce_order": False} for each in structures]
    used = dict.fromkeys(described, 0)
    where: dict[str, str] = {}
    found = placed(facilities, plain)
    for name, size, preflist, exclist in [
        ("CSQ_ADMIN", 1, list(described), []),
        *((each["name"], int(each["initsize"][:-1]), each["preflist"], each["exclist"]) for each in plain),
    ]:
        fits = [
            each
            for each in preflist
            if described[each]["cfcc_level"] >= 9 and int(described[each]["size"][:-1]) - used[each] >= size
        ]
        weight = {
            each: 4 * (not described[each]["volatile"])
            + 2 * described[each]["failure_isolated"]
            + (not any(f"SQ03{other}" in exclist for other, at in where.items() if at == each))
            for each in fits
        }
        expected = max(fits, key=lambda each: (weight[each], -preflist.index(each)), default=None)
        assert found[name].now == ((expected,) if expected else ())
        if expected:
            used[expected] += size
            where[name] = expected


def test_plan_without_coupling_facilities_gets_a_placement_result() -> None:
    answer = losses_of([("SQ03", result([], []))])
    assert answer.losses == ()
    assert [each.now for each in answer.normal] == [()]
    assert answer.normal[0].first is not None
    assert answer.normal[0].first.reason == "PREFLIST names no coupling facility."
