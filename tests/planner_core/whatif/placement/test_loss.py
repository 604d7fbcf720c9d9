"""Losses calculated by hand: moves, structures that cannot be placed, lost messages, white space."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from planner_core.whatif.loss import Loss, LossAnswer, losses_of
from tests.planner_core.whatif.placement.scenes import MACHINE, Json, cf, result, structure
from tests.planner_core.whatif.placement.test_placement import scenes

GIB = 2**30


def answer(facilities: list[Json], structures: list[Json]) -> LossAnswer:
    return losses_of([("SQ03", result(facilities, structures))])


def loss(found: LossAnswer, name: str) -> Loss:
    (one,) = [each for each in found.losses if each.name == name]
    return one


def placement_of(one: Loss, name: str) -> tuple[str, tuple[str, ...]]:
    (placed,) = [each for each in one.placed if each.wanted.result.name == name]
    return placed.action, placed.now


def codes(found: LossAnswer) -> set[str]:
    return {each.code for each in found.findings}


TWO = [cf("CF01", site="SITE1"), cf("CF02", site="SITE2")]


def test_only_structures_in_the_lost_facility_move() -> None:
    found = answer(TWO, [structure("A", "4G"), structure("B", "7G", preflist=["CF02", "CF01"])])
    without_one, without_two = loss(found, "CF01"), loss(found, "CF02")
    assert placement_of(without_one, "A") == ("moves", ("CF02",))
    assert placement_of(without_one, "CSQ_ADMIN") == ("moves", ("CF02",))
    assert placement_of(without_one, "B") == ("stays", ("CF02",))
    assert without_one.white_space_bytes == 5 * GIB  # A and CSQ_ADMIN
    assert without_two.white_space_bytes == 7 * GIB  # B
    assert [each.keep_bytes for each in found.white_space] == [7 * GIB, 5 * GIB]
    assert [each.because for each in found.white_space] == ["CF02", "CF01"]


def test_answer_has_the_members_that_scripts_depend_on() -> None:
    found = answer(TWO, [structure("A", "4G")]).as_json()
    (without_one,) = [each for each in found["losses"] if each["lost"] == "CF01"]
    assert without_one["white_space_mib"] == 5 * 1024
    assert without_one["unplaced"] == []
    (a,) = [each for each in without_one["placements"] if each["structure"] == "SQ03A"]
    assert (a["before"], a["coupling_facility"], a["action"], a["rule"]) == (
        ["CF01"],
        "CF02",
        "moves",
        "only_candidate",
    )
    assert found["assumptions"]  # fmt: skip
    assert {"lost", "kind", "placements", "unplaced", "white_space_mib"} <= set(without_one)


def test_unplaced_structure_is_reported_with_its_missing_storage() -> None:
    # CF02 has 6 G: CSQ_ADMIN (1 G) comes first, then A (4 G); B (3 G) finds 1 G: 2 G are missing.
    found = answer([cf("CF01"), cf("CF02", "6G")], [structure("A", "4G"), structure("B", "3G")])
    without = loss(found, "CF01")
    assert [each.wanted.structure for each in without.unplaced] == ["SQ03B"]
    assert without.white_space_bytes == 8 * GIB
    assert without.missing_bytes == 3 * GIB
    answered: Json = without.as_json()
    (unplaced,) = answered["unplaced"]
    assert (unplaced["most_room_in"], unplaced["short_by_mib"]) == ("CF02", 2 * 1024)
    space = {each.name: each for each in found.white_space}
    assert (space["CF02"].free_bytes, space["CF02"].keep_bytes, space["CF02"].is_enough) == (
        6 * GIB,
        8 * GIB,
        False,
    )
    assert "LOSS_STRUCTURE_NOT_PLACED" in codes(found)  # fmt: skip


def test_full_second_choice_of_preflist_is_skipped() -> None:
    structures = [structure("A", "8G", preflist=["CF01", "CF02", "CF03"])]
    found = answer([cf("CF01"), cf("CF02", "6G"), cf("CF03")], structures)
    (a,) = [each for each in loss(found, "CF01").placed if each.wanted.result.name == "A"]
    assert (a.action, a.now) == ("moves", ("CF03",))
    assert a.first is not None
    assert a.first.rule == "space"


def test_duplexed_structure_keeps_its_other_copy_and_needs_no_white_space() -> None:
    duplexed = structure(
        "A", "4G", duplex="ENABLED", queues=[{"name": "Q", "message_bytes": 100, "backlog": 50}]
    )
    found = answer(TWO, [duplexed])
    without_one, without_two = loss(found, "CF01"), loss(found, "CF02")
    assert placement_of(without_one, "A") == ("switches", ("CF02",))
    assert placement_of(without_two, "A") == ("loses_second_copy", ("CF01",))
    assert without_one.white_space_bytes == GIB  # CSQ_ADMIN alone
    assert without_one.second_copies_bytes == 0
    assert [each.wanted.structure for each in without_one.lost] == ["SQ03CSQ_ADMIN"]
    assert "LOSS_MESSAGES_GONE" not in codes(found)  # fmt: skip


def test_duplexed_structure_is_counted_in_both_facilities() -> None:
    found = answer(TWO, [structure("A", "4G", duplex="ENABLED")])
    assert [each.used_bytes for each in found.white_space] == [5 * GIB, 4 * GIB]


def test_third_coupling_facility_takes_the_new_second_copy() -> None:
    three = [cf("CF01"), cf("CF02"), cf("CF03")]
    found = answer(three, [structure("A", "4G", duplex="ENABLED")])
    without_one, without_two = loss(found, "CF01"), loss(found, "CF02")
    assert placement_of(without_one, "A") == ("switches", ("CF02", "CF03"))
    assert placement_of(without_two, "A") == ("duplexed_again", ("CF01", "CF03"))
    assert without_one.second_copies_bytes == 4 * GIB
    assert without_one.arriving("CF03") == 4 * GIB
    # CF02 must have room for CSQ_ADMIN alone, and CF03 for nothing: the group runs without new second copies.
    assert [each.keep_bytes for each in found.white_space] == [0, GIB, 0]


@pytest.mark.parametrize(
    ("facilities", "remedy"),
    [
        ([cf("CF01")], "A second copy in another coupling facility would keep them."),
        ([cf("CF01"), cf("CF02", "1G")], "A second copy, once it can be placed, would keep them."),
    ],
)
def test_duplex_is_not_advised_for_a_duplexed_structure(facilities: list[Json], remedy: str) -> None:
    queues = [{"name": "Q", "message_bytes": 100, "backlog": 50}]
    found = answer(facilities, [structure("A", "4G", duplex="ENABLED", queues=queues)])
    (said,) = [each.message for each in found.findings if each.code == "LOSS_MESSAGES_GONE"]
    assert said.endswith(remedy)


def test_structures_without_a_copy_are_placed_before_new_second_copies() -> None:
    # CF03 has 5 G: CSQ_ADMIN goes to CF02, B (4 G) needs CF03; the second copy of A finds 1 G there.
    three = [cf("CF01"), cf("CF02", "9G"), cf("CF03", "5G")]
    found = answer(
        three, [structure("A", "4G", duplex="ENABLED"), structure("B", "4G", preflist=["CF01", "CF03"])]
    )
    without = loss(found, "CF01")
    assert placement_of(without, "B") == ("moves", ("CF03",))
    assert placement_of(without, "A") == ("switches", ("CF02",))


def test_loss_of_a_site_includes_all_its_coupling_facilities() -> None:
    sites = [
        cf("CF01", site="SITE1"),
        cf("CF02", site="SITE1"),
        cf("CF03", site="SITE2"),
    ]
    found = answer(sites, [structure("A", "4G", duplex="ENABLED"), structure("B", "2G", preflist=["CF02"])])
    site = loss(found, "SITE1")
    assert (site.kind, site.gone) == ("site", ("CF01", "CF02"))
    assert placement_of(site, "A") == ("moves", ("CF03",))  # both copies were at SITE1
    assert placement_of(site, "B") == ("unplaced", ())
    assert "COPIES_FAIL_TOGETHER" in codes(found)


def test_loss_of_a_machine_includes_all_its_coupling_facilities() -> None:
    facilities = [
        cf("CF01", **MACHINE, partition="01"),
        cf("CF02", **MACHINE, partition="02"),
        cf("CF03", type="003931", mfg="IBM", plant="02", sequence="0000000D3E4F", partition="01"),
    ]
    found = answer(facilities, [structure("A", "4G")])
    machine = loss(found, "0000000A1B2C")
    assert (machine.kind, machine.gone) == ("machine", ("CF01", "CF02"))
    assert placement_of(machine, "A") == ("moves", ("CF03",))


def test_exclusion_list_is_ignored_if_one_facility_remains() -> None:
    found = answer(TWO, [structure("A", "4G"), structure("B", "4G", exclist=["SQ03A"])])
    without = loss(found, "CF01")
    assert placement_of(without, "A") == ("moves", ("CF02",))
    assert placement_of(without, "B") == ("stays", ("CF02",))


def test_number_of_unplaced_structures_may_depend_on_the_order() -> None:
    tight = [cf("CF01"), cf("CF02", "5G")]  # after CSQ_ADMIN 4 G: room for one of the two
    found = answer(tight, [structure("A", "4G"), structure("B", "4G")])
    assert loss(found, "CF01").order_matters
    assert "PLACEMENT_ORDER_MATTERS" in codes(found)
    roomy = answer([cf("CF01"), cf("CF02")], [structure("A", "4G"), structure("B", "4G")])
    assert not any(each.order_matters for each in roomy.losses)
    assert "PLACEMENT_ORDER_MATTERS" not in codes(roomy)


QUEUES = [
    {"name": "Q1", "message_bytes": 1024, "backlog": 1000, "persistent": True},
    {"name": "Q2", "message_bytes": 1024, "backlog": 300, "persistent": False},
]


@pytest.mark.parametrize(
    ("given", "gone", "comes_back"),
    [
        ({"recover": True}, 300, True),
        ({"recover": False}, 1300, False),
        ({"recover": True, "cflevel": 2}, 1300, False),  # RECOVER needs CFLEVEL 3
    ],
)
def test_unrecoverable_messages_are_counted(given: Json, gone: int, *, comes_back: bool) -> None:
    found = answer(TWO, [structure("A", "4G", **given) | {"queues": QUEUES}])
    (lost,) = [each for each in loss(found, "CF01").lost if each.wanted.result.name == "A"]
    assert (lost.non_persistent, lost.persistent, lost.gone, lost.comes_back) == (300, 1000, gone, comes_back)
    assert "LOSS_MESSAGES_GONE" in codes(found)


def test_persistent_messages_of_recoverable_structures_are_not_lost() -> None:
    assert "LOSS_MESSAGES_GONE" not in codes(answer(TWO, [structure("A", "4G")]))


def test_storage_is_checked_against_growth_of_structures_to_size() -> None:
    grows = structure("A", "4G") | {"size": "8G"}
    # CSQ_ADMIN 1 G and A up to 8 G are 9 G.
    assert "CF_OVERCOMMITTED_AT_SIZE" in codes(answer([cf("CF01", "8G"), cf("CF02")], [grows]))
    assert "CF_OVERCOMMITTED_AT_SIZE" not in codes(answer([cf("CF01", "9G"), cf("CF02")], [grows]))


def test_finding_on_overcommitted_storage_refers_to_the_stated_values() -> None:
    found = answer([cf("CF01", "8G", occupied="9G"), cf("CF02")], [structure("A")])
    (said,) = [each for each in found.findings if each.code == "CF_OVERCOMMITTED_AT_SIZE"]
    assert (
        "The storage that others occupy in CF01 and its DUMPSPACE amount to 9216.0 MiB, more than its size of 8192.0 MiB"
        in said.message
    )
    assert "0.0 MiB is there" not in said.message


@pytest.mark.parametrize(
    ("facility", "scm", "expected"),
    [
        ({"scm": "16G"}, {"max_size": "8G", "augmented": "1G"}, {"SCM_USED_FROM_THRESHOLD"}),
        ({"scm": "16G"}, {"max_size": "8G"}, {"SCM_USED_FROM_THRESHOLD", "SCM_AUGMENTED_NOT_STATED"}),
        (
            {"scm": "4G"},
            {"max_size": "8G", "augmented": 0},
            {"SCM_USED_FROM_THRESHOLD", "SCM_LESS_THAN_ASKED"},
        ),
        (
            {"scm": "16G", "cfcc_level": 18},
            {"max_size": "8G", "augmented": 0},
            {"SCM_USED_FROM_THRESHOLD", "SCM_LEVEL_TOO_LOW"},
        ),
        (
            {"scm": "16G", "cfcc_level": 26},
            {"max_size": "8G", "augmented": 0},
            {"SCM_USED_FROM_THRESHOLD", "SCM_REMOVED"},
        ),
        # 16 TiB less 4 KiB, less SIZE of 4 GiB: SCMMAXSIZE(16T) is more.
        (
            {"scm": "32T"},
            {"max_size": "16T", "augmented": 0},
            {"SCM_USED_FROM_THRESHOLD", "SCM_LESS_THAN_ASKED"},
        ),
        ({"scm": "16G"}, {}, set()),
    ],
)
def test_storage_class_memory_is_checked_against_its_facility(
    facility: Json, scm: Json, expected: set[str]
) -> None:
    found = answer([cf("CF01", **facility)], [structure("A", "4G", scm=scm)])
    assert {code for code in codes(found) if code.startswith("SCM_")} == expected


SCM = {"max_size": "8G", "augmented": "1G"}


def scm_of(one: Loss, name: str) -> Json:
    answered: Json = one.as_json()
    (placed,) = [each for each in answered["placements"] if each["name"] == name]
    return placed["storage_class_memory"]


@pytest.mark.parametrize(
    ("other", "usable_mib", "code", "says"),
    [
        ({"scm": "16G"}, 8 * 1024, None, ""),
        (
            {"scm": "2G"},
            2 * 1024,
            "SCM_LESS_THAN_ASKED",
            "Without CF01, SQ03A is placed in CF02. It requests 8192.0 MiB of storage-class memory and can use 2048.0 MiB in CF02.",
        ),
        (
            {"scm": 0},
            0,
            "SCM_LESS_THAN_ASKED",
            "Without CF01, SQ03A is placed in CF02. It requests 8192.0 MiB of storage-class memory, and CF02 has none for it.",
        ),
        (
            {"scm": "16G", "cfcc_level": 18},
            0,
            "SCM_LEVEL_TOO_LOW",
            "Without CF01, SQ03A is placed in CF02. It requests storage-class memory, but CF02 has CFCC level 18: level 19 or higher is needed.",
        ),
        (
            {"scm": "16G", "cfcc_level": 26},
            0,
            "SCM_REMOVED",
            "Without CF01, SQ03A is placed in CF02. It requests storage-class memory, but CF02 has CFCC level 26: there is none after level 25. "
            "Offload to shared message data sets instead.",
        ),
        (
            {},
            None,
            "SCM_OF_CF_NOT_STATED",
            "The storage-class memory of CF02 is not stated, and SQ03A may be placed there: it is unknown whether all of SCMMAXSIZE can be used there.",
        ),
    ],
    ids=["enough", "too little", "none", "level too low", "removed", "not stated"],
)
def test_moved_structure_is_checked_against_storage_class_memory_of_its_new_facility(
    other: Json, usable_mib: int | None, code: str | None, says: str
) -> None:
    found = answer([cf("CF01", scm="16G"), cf("CF02", **other)], [structure("A", "4G", scm=SCM)])
    without = loss(found, "CF01")
    assert placement_of(without, "A") == ("moves", ("CF02",))
    assert scm_of(without, "A") == {"asked_mib": 8192, "usable_mib": usable_mib, "augmented_mib": 1024}
    assert scm_of(without, "CSQ_ADMIN") is None
    told = {each.code: each.message for each in found.findings if each.code.startswith("SCM_")}
    told.pop("SCM_USED_FROM_THRESHOLD")
    assert told == ({code: says} if code else {})
    # 1 G for CSQ_ADMIN, and 4 G with the augmented space beside it.
    assert without.white_space_bytes == 6 * GIB


def test_new_second_copy_is_checked_against_the_smaller_storage_class_memory() -> None:
    three = [cf("CF01", scm="16G"), cf("CF02", scm="16G"), cf("CF03", scm="4G")]
    found = answer(three, [structure("A", "4G", scm=SCM, duplex="ENABLED")])
    assert placement_of(loss(found, "CF01"), "A") == ("switches", ("CF02", "CF03"))
    assert scm_of(loss(found, "CF01"), "A")["usable_mib"] == 4 * 1024
    assert scm_of(loss(found, "CF03"), "A")["usable_mib"] == 8 * 1024
    told = [each.message for each in found.findings if each.code == "SCM_LESS_THAN_ASKED"]
    assert [each.split(",")[0] for each in told] == ["Without CF01", "Without CF02"]


def test_overcommitted_storage_class_memory_after_a_loss_is_reported() -> None:
    b = structure("B", "4G", preflist=["CF02", "CF01"], scm=SCM)
    found = answer([cf("CF01", scm="16G"), cf("CF02", scm="12G")], [structure("A", "4G", scm=SCM), b])
    told = [each.message for each in found.findings if each.code == "SCM_OVERCOMMITTED"]
    assert told == [
        "Without CF01, structures in CF02 may use 16.0 GiB of storage-class memory together, but it has only 12.0 GiB."
    ]


def test_site_with_one_facility_is_not_reported_twice() -> None:
    sites = [cf("CF01", scm="16G", site="SITE1"), cf("CF02", scm="2G", site="SITE2")]
    found = answer(sites, [structure("A", "4G", scm=SCM)])
    assert [each.code for each in found.findings].count("SCM_LESS_THAN_ASKED") == 1


def test_single_coupling_facility_is_reported() -> None:
    assert "ONE_COUPLING_FACILITY" in codes(answer([cf("CF01")], []))
    assert "ONE_COUPLING_FACILITY" not in codes(answer(TWO, []))


@given(scenes())
@settings(max_examples=60)
def test_white_space_is_the_sum_of_structures_that_lost_their_only_copy(
    scene: tuple[list[Json], list[Json]],
) -> None:
    found = answer(*scene)
    before = {each.wanted.structure: each.now for each in found.normal}
    for one in found.losses:
        gone = set(one.gone)
        homeless = [each for each in found.normal if each.now and set(each.now) <= gone]
        assert one.white_space_bytes == sum(each.wanted.bytes_wanted for each in homeless)
        arrived = sum(one.arriving(name) for name in found.asked.facilities)
        assert arrived == one.white_space_bytes - one.missing_bytes + one.second_copies_bytes
        assert sum(one.wanted_in(name) for name in found.asked.facilities) <= one.white_space_bytes
        for each in one.placed:
            kept = [name for name in before[each.wanted.structure] if name not in gone]
            assert list(each.now[: len(kept)]) == kept
            if each.action == "stays":
                assert each.now == before[each.wanted.structure]
