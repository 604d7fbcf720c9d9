"""Worked examples of IBM's pages for public functions of the core that no command calls directly.

Sources: "Specifying offload options for shared messages" (rules, both thresholds), the z/OS message IXC588I (units),
"IBM MQ Performance between z/OS and Linux using Q Replication processing model" (SMDS buffers), the help of CFSizer's
MQ form (rate times outage).
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from planner_core.names import cfrm_structure_name
from planner_core.sizing.filling import fill, two_pools
from planner_core.sizing.offload import Rule, can_fire, one_message, parse_rule, reserve_for
from planner_core.sizing.smds import buffer_bytes
from planner_core.sizing.structure_size import published_curve
from planner_core.units import format_size, parse_size
from tests.contract.support import MIB, plan, sample_document

GIB = 1024 * MIB
DEFAULT_RULES = (Rule(70, 32 * 1024), Rule(80, 4 * 1024), Rule(90, 0))


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("1048576 K", GIB),
        ("1 G", GIB),
        ("1G", GIB),
        ("262144K", 256 * MIB),
        ("262144", 256 * MIB),  # K when no unit is written
        (262144, 256 * MIB),
        ("524288", 512 * MIB),
        ("120000 K", 120_000 * 1024),
        ("98M", 98 * MIB),
        ("1T", 1024 * GIB),
        ("41 M", 41 * MIB),
        ("0K", 0),
    ],
)
def test_size_in_zos_notation_is_parsed(text: str | int, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize(
    ("size_bytes", "shown"),
    [
        (1_048_576 * 1024, "1G"),
        (120_000 * 1024, "120000K"),
        (256 * MIB, "256M"),
        (1024 * GIB, "1T"),
        (1025 * MIB, "1025M"),
    ],
)
def test_size_is_formatted_in_the_largest_exact_unit(size_bytes: int, shown: str) -> None:
    # IXC588I: 1048576 K is displayed as 1 G, 120000 K stays K.
    assert format_size(size_bytes).replace(" ", "") == shown
    assert parse_size(format_size(size_bytes)) == size_bytes


def test_reserve_of_1_million_messages_in_10_gb_gives_threshold_92_and_80_with_margin() -> None:
    reserve = reserve_for(size_bytes=10 * GIB, messages=1_000_000)

    assert reserve.reserved_bytes == 1_000_000 * 768
    assert reserve.highest_threshold == 92
    assert 80 <= reserve.advised_threshold < 83  # "around 80 %" with at most 90 % of the space in use


def test_reserve_of_1_million_messages_in_4_gb_gives_threshold_82() -> None:
    # IBM prints 768 MB and 18.75 %: decimal megabytes over a binary 4 GB. Exact: 732.4 MiB and 17.9 %.
    reserve = reserve_for(size_bytes=4 * GIB, messages=1_000_000)

    assert reserve.reserved_bytes == 768_000_000
    assert float(Fraction(reserve.reserved_bytes, MIB)) == pytest.approx(732.4, abs=0.05)
    assert float(reserve.reserved_percent) == pytest.approx(17.88, abs=0.01)
    assert reserve.highest_threshold == 82
    # As printed: 768 of 4096 "MB" are 18.75 %, which IBM rounds to a threshold of "around 80".
    assert Fraction(768, 4096) == Fraction(1875, 10000)
    assert 100 - Fraction(1875, 100) < reserve.highest_threshold


def is_offloaded(message_bytes: int, *, usage_percent: int, rules: tuple[Rule, ...]) -> bool:
    """Return whether data is offloaded when messages of this size have filled a structure up to that usage."""
    curve = published_curve(cfcc_level=25).curve
    demand = one_message(message_bytes, rules=rules, curve=curve)
    met = [rule for rule in rules if rule.is_on and can_fire(rule, demand)]
    filled = fill(demand, rules=met, pools=two_pools(curve.elements_per_entry))
    bundles_per_message = max(Fraction(1), demand.elements / curve.elements_per_entry)
    # The usage without any rule; an empty structure is approached, because the model divides by its usage.
    usage = Fraction(usage_percent or Fraction(1, 1000), 100)
    return filled.at_backlog(bundles_per_message / usage).offloaded > 0


@pytest.mark.parametrize(
    ("message_bytes", "usage_percent", "rule"),
    [
        (40 * 1024, 75, 1),
        (5 * 1024, 75, None),
        (5 * 1024, 85, 2),
        (200, 95, 3),
        (40 * 1024, 60, None),
        (32 * 1024, 75, None),  # exactly 32 KB is not more
        (40 * 1024, 70, None),  # exactly 70 % is not more
        (32 * 1024 + 1, 75, 1),
        (5 * 1024, 80, None),
        (200, 90, None),
        (0, 95, None),
    ],
)
def test_default_rules_offload_messages_as_documented_by_ibm(
    message_bytes: int, usage_percent: int, rule: int | None
) -> None:
    acting = [
        number
        for number, each in enumerate(DEFAULT_RULES, start=1)
        if is_offloaded(message_bytes, usage_percent=usage_percent, rules=(each,))
    ]
    assert next(iter(acting), None) == rule
    assert is_offloaded(message_bytes, usage_percent=usage_percent, rules=DEFAULT_RULES) == (rule is not None)


@pytest.mark.parametrize("usage_percent", [0, 1, 50, 100])
@pytest.mark.parametrize("rules", [DEFAULT_RULES, ()], ids=["defaults", "none"])
def test_messages_over_64512_bytes_are_offloaded_at_any_usage(
    rules: tuple[Rule, ...], usage_percent: int
) -> None:
    assert is_offloaded(64_513, usage_percent=usage_percent, rules=rules)
    if usage_percent <= 50:
        assert not is_offloaded(64_512, usage_percent=usage_percent, rules=rules)


def test_rule_with_size_64k_is_off() -> None:
    rule = parse_rule("70:64K")
    assert not rule.is_on
    assert not is_offloaded(64_512, usage_percent=99, rules=(rule,))


def test_rule_in_command_line_notation_is_parsed() -> None:
    assert parse_rule("70:32K") == Rule(70, 32_768)


@pytest.mark.parametrize(
    ("dsbufs", "dsblock_kib", "mib"), [(100, 256, 25), (800, 256, 200), (1, 8, Fraction(1, 128))]
)
def test_smds_buffer_storage_is_dsbufs_times_dsblock(dsbufs: int, dsblock_kib: int, mib: Fraction) -> None:
    assert buffer_bytes(dsbufs=dsbufs, dsblock_bytes=dsblock_kib * 1024) == mib * MIB


@pytest.mark.parametrize(("dsbufs", "size_bytes"), [(100, 26_214_400), (800, 209_715_200)])
def test_plan_shows_the_smds_buffers_of_each_queue_manager(
    tmp_path: Path, dsbufs: int, size_bytes: int
) -> None:
    document = sample_document()
    document["structures"][0]["offload"].update(dsbufs=dsbufs, dsblock="256K")
    ran = plan(document, tmp_path, "--output", "json")

    assert ran.code == 0, ran
    structure = next(each for each in ran.answer["structures"] if each["name"] == "APPLICATION1")
    assert structure["smds"]["buffer_bytes_per_queue_manager"] == size_bytes


@pytest.mark.parametrize(
    ("qsg", "cfstruct", "name"),
    [
        ("NY03", "PRODUCT7", "NY03PRODUCT7"),
        ("SQ03", "MYDATA", "SQ03MYDATA"),
        ("MQ", "APP", "MQ@@APP"),
        ("QSG1", "APPLICATION1", "QSG1APPLICATION1"),
        ("SQ03", "CSQ_ADMIN", "SQ03CSQ_ADMIN"),
        ("A", "CSQSYSAPPL", "A@@@CSQSYSAPPL"),
    ],
)
def test_structure_name_is_group_name_and_cfstruct_name(qsg: str, cfstruct: str, name: str) -> None:
    assert cfrm_structure_name(qsg_name=qsg, cfstruct_name=cfstruct) == name
