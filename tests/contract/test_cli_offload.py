"""`cfplan offload`: the three rules, and the capacity of a structure with them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tests.contract.support import (
    MIB,
    ask,
    assert_findings,
    assert_refused,
    elements_of,
    pools,
    run,
    severities,
)

# IBM's defaults: usage over 70 % and data over 32 KB, 80 % and 4 KB, 90 % and 0 KB.
DEFAULTS = ((70, 32 * 1024), (80, 4 * 1024), (90, 0))


def offload(size_mib: int, message_bytes: int, level: int, *more: object) -> dict[str, object]:
    return ask("offload", "--size-mib", size_mib, "--message-bytes", message_bytes, "--cfcc", level, *more)


def rules(*pairs: tuple[int, int]) -> list[str]:
    return [part for usage, kib in pairs for part in ("--rule", f"{usage}:{kib}K")]


def first_threshold(message_bytes: int, pairs: tuple[tuple[int, int], ...]) -> int | None:
    """Return the lowest usage at which a rule offloads messages of this size; both comparisons are strict."""
    live = [usage for usage, over in pairs if message_bytes > over and over < 64 * 1024 and usage < 100]
    return min(live, default=None)


def capacity(size_mib: int, message_bytes: int, level: int, threshold: int | None) -> Fraction:
    """Return the messages until either pool is full, as a fraction."""
    entries, elements = pools(size_mib * MIB, level)
    each = elements_of(message_bytes)
    alone = min(entries, elements / each)
    if threshold is None:
        return alone
    in_cf = alone * threshold / 100
    return in_cf + min(entries - in_cf, (elements - in_cf * each) / 2)


def test_2_kb_messages_in_512_mb_have_the_documented_capacities() -> None:
    answer = offload(512, 2048, 14)

    assert answer["capacity_without_offload"] == 157_672
    assert answer["capacity"] == 220_741


def test_offload_gains_no_capacity_if_entries_run_out_first() -> None:
    answer = offload(512, 1024, 14)

    assert answer["capacity"] == answer["capacity_without_offload"] == 262_787


def test_offload_gains_capacity_if_auto_alter_changes_the_ratio() -> None:
    plain, altered = offload(512, 1024, 14), offload(512, 1024, 14, "--auto-alter")

    assert int(str(altered["capacity"])) > int(str(plain["capacity"]))
    assert int(str(altered["capacity"])) > int(str(altered["capacity_without_offload"]))
    # IBM's 0.75 KB for each offloaded message is the optimistic end.
    assert int(str(altered["capacity"])) <= 512 * MIB // 768


@pytest.mark.parametrize("level", [14, 24, 25])
@pytest.mark.parametrize("size_mib", [64, 512, 10_240])
@pytest.mark.parametrize(
    "message_bytes", [0, 140, 1024, 1165, 2048, 4096, 4097, 16_384, 32_768, 32_769, 64_512]
)
def test_capacity_matches_the_formula_for_two_pools(message_bytes: int, size_mib: int, level: int) -> None:
    answer = offload(size_mib, message_bytes, level)

    without = capacity(size_mib, message_bytes, level, None)
    with_rules = capacity(size_mib, message_bytes, level, first_threshold(message_bytes, DEFAULTS))
    # One message at CFCC 14 for the base (6.089 or 6.09 MiB); the message that crosses a threshold is in the CF,
    # and crossing in the middle of a message moves the rest by half its elements.
    slack = 1 if level == 14 else 0
    assert answer["capacity_without_offload"] == pytest.approx(math.floor(without), abs=slack)
    assert answer["capacity"] == pytest.approx(
        math.floor(with_rules), abs=slack + elements_of(message_bytes) / 2
    )


@pytest.mark.parametrize(
    ("message_bytes", "fires_first"),
    [
        (0, None),  # no data at all is not more than 0 KB
        (1, (90, 0)),
        (2048, (90, 0)),
        (4096, (90, 0)),  # exactly 4 KB is not more than 4 KB
        (4097, (80, 4096)),
        (5120, (80, 4096)),
        (32_768, (80, 4096)),  # exactly 32 KB is not more than 32 KB
        (32_769, (70, 32_768)),
        (40_960, (70, 32_768)),
        (64_512, (70, 32_768)),
    ],
)
def test_first_step_belongs_to_the_first_rule_that_acts(
    message_bytes: int, fires_first: tuple[int, int] | None
) -> None:
    answer = offload(512, message_bytes, 14)
    steps = answer["steps"]
    assert isinstance(steps, list)

    if fires_first is None:
        assert steps == []
        return
    assert {"threshold", "size_bytes", "at_messages"} <= set(steps[0])
    assert (steps[0]["threshold"], steps[0]["size_bytes"]) == fires_first
    alone = capacity(512, message_bytes, 14, None)
    assert type(steps[0]["at_messages"]) is int
    assert steps[0]["at_messages"] == pytest.approx(float(alone * fires_first[0] / 100), abs=1.5)


@pytest.mark.parametrize("message_bytes", [0, 100, 4096, 4097, 32_768, 40_960, 64_512, 64_513, 1_000_000])
def test_steps_list_only_rules_that_can_act_on_the_message_size(message_bytes: int) -> None:
    answer = offload(512, message_bytes, 25)
    steps = answer["steps"]
    assert isinstance(steps, list)

    assert all((step["threshold"], step["size_bytes"]) in DEFAULTS for step in steps)
    assert all(message_bytes > step["size_bytes"] for step in steps)
    assert all(0 <= step["at_messages"] <= int(str(answer["capacity"])) for step in steps)
    at = [(step["threshold"], step["at_messages"]) for step in steps]
    assert at == sorted(at)


@pytest.mark.parametrize("message_bytes", [64_513, 65_280, 65_281, 104_857_600])
@pytest.mark.parametrize("more", [[], rules((70, 64)), rules((100, 0))], ids=["defaults", "off", "never"])
def test_messages_over_64512_bytes_are_always_offloaded(message_bytes: int, more: list[str]) -> None:
    # 63 KB = 64 512 bytes of user data is what an entry can hold.
    answer = offload(512, message_bytes, 25, *more)

    entries, _ = pools(512 * MIB, 25)
    assert answer["capacity"] == math.floor(entries)


def test_message_of_64512_bytes_stays_in_the_structure() -> None:
    answer = offload(512, 64_512, 25, *rules((70, 64)))

    _, elements = pools(512 * MIB, 25)
    assert answer["capacity"] == answer["capacity_without_offload"] == math.floor(elements / 254)


def test_given_rules_replace_the_defaults() -> None:
    answer = offload(512, 2048, 14, *rules((50, 1)))
    steps = answer["steps"]
    assert isinstance(steps, list)

    assert [(step["threshold"], step["size_bytes"]) for step in steps] == [(50, 1024)]
    assert answer["capacity"] == pytest.approx(math.floor(capacity(512, 2048, 14, 50)), abs=6)


@pytest.mark.parametrize("rule", [(70, 32), (100, 0), (0, 2), (70, 64)])
def test_rule_that_cannot_act_changes_nothing(rule: tuple[int, int]) -> None:
    # 2048 bytes: not more than 32 KB; usage is never more than 100 %; exactly 2 KB; 64K means not in effect.
    answer = offload(512, 2048, 14, *rules(rule))

    assert answer["steps"] == []
    assert answer["capacity"] == answer["capacity_without_offload"] == 157_672


@pytest.mark.parametrize("message_bytes", [32_769, 40_960, 64_512])
def test_threshold_of_0_offloads_from_the_start(message_bytes: int) -> None:
    # IBM: OFFLD1TH(0) and OFFLD1SZ(32K) to offload all messages over 32 KB. Then each is one entry, two elements.
    answer = offload(512, message_bytes, 14, "--rule", "0:32K")

    entries, _ = pools(512 * MIB, 14)
    assert answer["capacity"] == pytest.approx(math.floor(entries), abs=1)
    steps = answer["steps"]
    assert isinstance(steps, list)
    assert [(step["threshold"], step["size_bytes"]) for step in steps] == [(0, 32_768)]
    assert steps[0]["at_messages"] in {0, 1}


@pytest.mark.parametrize("more", [[], ["--auto-alter"]], ids=["fixed-ratio", "auto-alter"])
@pytest.mark.parametrize("message_bytes", [0, 1, 100, 140, 1024, 2048, 5000, 40_000, 64_512, 64_513])
@pytest.mark.parametrize("level", [14, 25])
def test_offload_never_lowers_capacity(level: int, message_bytes: int, more: list[str]) -> None:
    for rule in ([], rules((0, 0)), rules((99, 0)), rules((50, 0), (70, 4), (90, 32))):
        answer = offload(512, message_bytes, level, *rule, *more)
        assert int(str(answer["capacity"])) >= int(str(answer["capacity_without_offload"]))


def test_structure_below_the_base_size_holds_no_messages() -> None:
    ran = run("offload", "--size-mib", 10, "--message-bytes", 1024, "--cfcc", 25, "--json")

    assert ran.code in {0, 1}, ran
    assert (ran.answer["capacity"], ran.answer["capacity_without_offload"]) == (0, 0)
    assert_findings(ran.answer)


@pytest.mark.parametrize("rule", ["70:32K", "0:32K", "100:0K", "70:0K", "0:0K", "70:64K", "70:1K"])
def test_valid_rule_is_accepted(rule: str) -> None:
    assert_findings(offload(512, 2048, 25, "--rule", rule))


@pytest.mark.parametrize(
    "rule",
    [
        *("101:4K", "70:65K", "70:abc", "70", "", ":", "70:", ":4K", "-1:4K", "70:-4K", "70:4K:1", "70.5:4K"),
        *("nan:4K", "70:nanK", "1e2:4K", "70:4KK", "70:4G", "70:4K\n", "70 4K", "70:4\x00K", "abc:4K"),
        "9" * 5000 + ":4K",
        "70:" + "9" * 5000 + "K",
    ],
    ids=lambda rule: ascii(rule[:20]),
)
def test_invalid_rule_is_refused_with_a_message(rule: str) -> None:
    assert_refused(
        run("offload", "--size-mib=512", "--message-bytes=2048", "--cfcc=25", f"--rule={rule}", "--json")
    )


def test_fourth_rule_is_refused() -> None:
    three, four = rules((10, 32), (20, 16), (30, 8)), rules((10, 32), (20, 16), (30, 8), (40, 4))

    offload(512, 2048, 25, *three)
    assert_refused(run("offload", "--size-mib", 512, "--message-bytes", 2048, "--cfcc", 25, *four, "--json"))


@pytest.mark.parametrize("option", ["--size-mib", "--message-bytes", "--cfcc"])
@pytest.mark.parametrize("value", ["", "abc", "-1", "nan", "inf"])
def test_value_that_is_not_a_number_is_refused(option: str, value: str) -> None:
    options = {"--size-mib": "512", "--message-bytes": "2048", "--cfcc": "25"} | {option: value}

    assert_refused(run("offload", *(f"{name}={given}" for name, given in options.items()), "--json"))


def test_offload_command_supports_fail_on_warning() -> None:
    arguments = ("offload", "--size-mib", 512, "--message-bytes", 2048, "--cfcc", 16, "--json")
    plain, strict = run(*arguments), run(*arguments, "--fail-on", "warning")

    assert plain.code == (1 if "error" in severities(plain.answer) else 0)
    assert strict.code == (1 if severities(strict.answer) & {"error", "warning"} else 0)
