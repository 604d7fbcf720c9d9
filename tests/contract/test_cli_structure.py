"""`cfplan structure`: the size for a backlog, and the backlog for a size."""

from __future__ import annotations

import math

import pytest

from tests.contract.support import (
    BASE_SLACK_MIB,
    MIB,
    CommandResult,
    ask,
    assert_findings,
    assert_refused,
    codes,
    elements_of,
    increment_bytes,
    need_bytes,
    pools,
    profile,
    round_up,
    run,
    severities,
)

CASES = [
    (messages, message_bytes, level)
    for level in (14, 17, 21, 24, 25)
    for messages, message_bytes in (
        (1, 0),
        (1, 1024),
        (7, 1165),
        (100, 64_512),
        (12_345, 3_500),
        (36_000, 2_048),
        (200_000, 1_024),
        (999_999, 140),
        (3_000_000, 16_384),
    )
]


def size_for(messages: int, message_bytes: int, level: int) -> dict[str, object]:
    return ask("structure", "--messages", messages, "--message-bytes", message_bytes, "--cfcc", level)


@pytest.mark.parametrize(("messages", "message_bytes", "level"), CASES)
def test_size_mib_is_the_need_before_rounding(messages: int, message_bytes: int, level: int) -> None:
    answer = size_for(messages, message_bytes, level)

    exact = float(need_bytes(level, (messages, message_bytes)) / MIB)
    assert answer["size_mib"] == pytest.approx(exact, rel=1e-9, abs=BASE_SLACK_MIB[profile(level)])


@pytest.mark.parametrize(("messages", "message_bytes", "level"), CASES)
def test_size_kib_is_the_need_rounded_up_to_the_storage_increment(
    messages: int, message_bytes: int, level: int
) -> None:
    answer = size_for(messages, message_bytes, level)

    exact = round_up(need_bytes(level, (messages, message_bytes)), increment_bytes(level)) // 1024
    assert type(answer["size_kib"]) is int
    assert answer["size_kib"] == exact


@pytest.mark.parametrize(("messages", "message_bytes", "level"), CASES)
def test_answer_has_the_entries_and_elements_that_the_messages_need(
    messages: int, message_bytes: int, level: int
) -> None:
    answer = size_for(messages, message_bytes, level)

    assert answer["entries"] == messages
    assert answer["elements"] == messages * elements_of(message_bytes)


@pytest.mark.parametrize(
    ("message_bytes", "elements", "binding"),
    [
        (0, 2, "entries"),
        (140, 2, "entries"),
        (141, 3, "entries"),
        (908, 5, "entries"),
        (909, 6, "entries"),  # six elements per entry is the ratio itself: a tie
        (1024, 6, "entries"),
        (1164, 6, "entries"),  # 1164 + 372 = 1536 = 6 x 256: the z16 report's boundary
        (1165, 7, "elements"),
        (2048, 10, "elements"),
        (64_512, 254, "elements"),
    ],
)
@pytest.mark.parametrize("level", [14, 24, 25])
def test_binding_pool_is_named_and_a_tie_counts_as_entries(
    message_bytes: int, elements: int, binding: str, level: int
) -> None:
    answer = size_for(1000, message_bytes, level)

    assert answer["elements"] == 1000 * elements
    assert answer["binding"] == binding


def test_message_of_1164_bytes_takes_6_elements_and_one_of_1165_takes_7() -> None:
    at_limit, above = size_for(3, 1164, 25), size_for(3, 1165, 25)

    assert at_limit["elements"] == 3 * 1536 // 256
    assert above["elements"] == 3 * 1792 // 256


@pytest.mark.parametrize("message_bytes", [64_513, 65_280, 65_281, 1_000_000, 104_857_600])
def test_message_too_large_for_the_structure_takes_one_entry_and_two_elements(message_bytes: int) -> None:
    # The largest user data that stays in a structure is 63 KB = 64 512 bytes.
    answer = size_for(5000, message_bytes, 25)

    assert (answer["entries"], answer["elements"]) == (5000, 10_000)
    assert answer["binding"] == "entries"
    assert answer["size_mib"] == size_for(5000, 1024, 25)["size_mib"]


@pytest.mark.parametrize("level", [9, 10, 11, 12, 13])
def test_level_below_14_uses_the_figures_of_14_and_is_reported(level: int) -> None:
    assert_takes(level, instead=14)


@pytest.mark.parametrize("level", [15, 16])
def test_unpublished_level_uses_the_next_higher_published_one_and_is_reported(level: int) -> None:
    assert_takes(level, instead=17)


@pytest.mark.parametrize("level", [26, 27, 40])
def test_level_above_25_uses_the_figures_of_25_and_is_reported(level: int) -> None:
    assert_takes(level, instead=25)


def assert_takes(level: int, *, instead: int) -> None:
    ran = run(
        "structure",
        "--messages",
        200_000,
        "--message-bytes",
        1024,
        "--cfcc",
        level,
        "--fail-on",
        "error",
        "--json",
    )
    published = size_for(200_000, 1024, instead)

    assert ran.code == 0, ran
    answer = ran.answer
    assert_findings(answer)
    assert answer["size_mib"] == published["size_mib"]
    extra = codes(answer) - codes(published)
    assert extra, "no finding reports that the figures of another level were used"
    assert any(
        str(level) in finding["message"] for finding in answer["findings"] if finding["code"] in extra
    ), answer["findings"]


@pytest.mark.parametrize("level", [0, 1, 8])
def test_cf_below_level_9_is_refused(level: int) -> None:
    # IBM MQ requires CFCC level 9 or higher. The figures may be withheld (exit 2) or given beside an error.
    ran = run("structure", "--messages", 1000, "--message-bytes", 1024, "--cfcc", level, "--json")

    assert ran.code in {1, 2}, ran
    if ran.code == 1:
        assert "error" in severities(ran.answer)
    else:
        assert_refused(ran)


# ---- the inverse -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [14, 17, 24, 25])
@pytest.mark.parametrize("message_bytes", [0, 1024, 1165, 2048, 5000, 64_512, 70_000])
@pytest.mark.parametrize("size_mib", [23, 64, 391, 4096, 65_536])
def test_capacity_is_the_number_of_messages_that_the_smaller_pool_holds(
    size_mib: int, message_bytes: int, level: int
) -> None:
    answer = ask("structure", "--size-mib", size_mib, "--message-bytes", message_bytes, "--cfcc", level)

    entries, elements = pools(size_mib * MIB, level)
    exact = min(math.floor(entries), math.floor(elements / elements_of(message_bytes)))
    assert type(answer["messages"]) is int
    # A base of 6.09 instead of 6.089 MiB moves the answer by one message at most.
    assert answer["messages"] == pytest.approx(exact, abs=1 if level == 14 else 0)


def test_256_mb_holds_129812_messages_of_1_kb_at_cfcc_14() -> None:
    # IBM's example allocates 262144 K for 200 000 messages of 1 KB.
    assert ask("structure", "--size-mib", 256, "--message-bytes", 1024, "--cfcc", 14)["messages"] == 129_812


def test_512_mb_holds_157672_messages_of_2048_bytes_at_cfcc_14() -> None:
    assert ask("structure", "--size-mib", 512, "--message-bytes", 2048, "--cfcc", 14)["messages"] == 157_672


@pytest.mark.parametrize(
    ("level", "size_mib"), [(14, 1), (14, 6), (17, 13), (17, 14), (24, 14), (25, 1), (25, 21), (25, 22)]
)
def test_structure_no_larger_than_the_base_size_holds_no_message(level: int, size_mib: int) -> None:
    ran = run("structure", "--size-mib", size_mib, "--message-bytes", 1024, "--cfcc", level, "--json")

    assert ran.code in {0, 1}, ran
    assert ran.answer["messages"] == 0
    assert_findings(ran.answer)


@pytest.mark.parametrize(("messages", "message_bytes", "level"), CASES)
def test_size_for_a_backlog_holds_that_backlog(messages: int, message_bytes: int, level: int) -> None:
    size_mib = math.ceil(float(str(size_for(messages, message_bytes, level)["size_mib"])))

    holds = ask("structure", "--size-mib", size_mib, "--message-bytes", message_bytes, "--cfcc", level)[
        "messages"
    ]
    assert holds >= messages

    smaller = run(
        "structure", "--size-mib", size_mib - 1, "--message-bytes", message_bytes, "--cfcc", level, "--json"
    )
    assert smaller.answer["messages"] < messages


# ---- words, exit codes and bad usage -----------------------------------------------------------------------------


def test_answers_for_messages_and_for_a_size_have_different_keys() -> None:
    forward = size_for(1000, 1024, 25)
    inverse = ask("structure", "--size-mib", 64, "--message-bytes", 1024, "--cfcc", 25)

    assert {"size_mib", "size_kib", "entries", "elements", "binding", "findings"} <= set(forward)
    assert {"messages", "findings"} <= set(inverse)


def test_structure_command_without_json_prints_readable_text() -> None:
    ran = run("structure", "--messages", 200_000, "--message-bytes", 1024, "--cfcc", 14)

    assert ran.code == 0, ran
    assert "391" in ran.out
    assert not ran.out.lstrip().startswith("{")


@pytest.mark.parametrize("level", [9, 14, 16, 17, 25, 26])
def test_fail_on_warning_exits_with_1_only_for_warnings_and_errors(level: int) -> None:
    arguments = ("structure", "--messages", 1000, "--message-bytes", 1024, "--cfcc", level, "--json")
    plain, strict = run(*arguments), run(*arguments, "--fail-on", "warning")

    assert plain.code == (1 if "error" in severities(plain.answer) else 0)
    assert strict.code == (1 if severities(strict.answer) & {"error", "warning"} else 0)
    assert strict.answer == plain.answer


GOOD: dict[str, object] = {"--messages": 1000, "--message-bytes": 1024, "--cfcc": 25}
BAD_NUMBERS = [
    "",
    " ",
    "abc",
    "-1",
    "1.5",
    "nan",
    "inf",
    "-inf",
    "1e3x",
    "0x10",
    "1;2",
    "1\n2",
    "\u0661x",
    "\x00",
]


def with_option(option: str, value: object) -> CommandResult:
    options = GOOD | {option: value}
    return run("structure", *(f"{name}={given}" for name, given in options.items()), "--json")


@pytest.mark.parametrize("value", BAD_NUMBERS, ids=ascii)
@pytest.mark.parametrize("option", list(GOOD))
def test_value_that_is_not_a_number_is_refused_with_a_message(option: str, value: str) -> None:
    assert_refused(with_option(option, value))


@pytest.mark.parametrize("value", [*(bad for bad in BAD_NUMBERS if bad != "1.5"), "1e999"], ids=ascii)
def test_size_that_is_not_a_number_is_refused_with_a_message(value: str) -> None:
    assert_refused(run("structure", f"--size-mib={value}", "--message-bytes=1024", "--cfcc=25", "--json"))


@pytest.mark.parametrize("option", [*GOOD, "--size-mib"])
@pytest.mark.parametrize("digits", [19, 30, 400, 5000, 100_000])
def test_huge_number_gives_no_traceback(option: str, digits: int) -> None:
    options = GOOD | {option: "9" * digits}
    if option == "--size-mib":
        del options["--messages"]

    ran = run("structure", *(f"{name}={value}" for name, value in options.items()), "--json")

    if ran.code == 2:
        assert_refused(ran)
    else:
        assert_findings(ran.answer)


def test_message_above_100_mb_is_refused() -> None:
    # IBM MQ's largest message: 104857600 bytes.
    ran = with_option("--message-bytes", 104_857_601)

    assert ran.code in {1, 2}, ran
    if ran.code == 1:
        assert "error" in severities(ran.answer)


@pytest.mark.parametrize(
    "arguments",
    [
        ("structure",),
        ("structure", "--json"),
        ("structure", "--messages", "10", "--cfcc", "25"),
        ("structure", "--message-bytes", "10", "--cfcc", "25"),
        ("structure", "--messages", "10", "--size-mib", "10", "--message-bytes", "10", "--cfcc", "25"),
        ("structure", "--messages", "10", "--message-bytes", "10", "--cfcc", "25", "surplus"),
        ("structure", "--messages", "10", "--message-bytes", "10", "--cfcc", "25", "--unknown", "1"),
        ("structure", "--messages"),
        ("structure", "--messages", "10", "--message-bytes", "10", "--cfcc", "25", "--fail-on", "sometimes"),
        (),
        ("nonsense",),
        ("--nonsense",),
        ("\x00",),
    ],
    ids=lambda arguments: ascii(" ".join(arguments)),
)
def test_invalid_arguments_are_refused_with_a_message(arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)

    assert ran.code == 2, ran
    assert ran.err.strip()


@pytest.mark.parametrize("arguments", [("--help",), ("structure", "--help"), ("plan", "--help")])
def test_help_is_printed_with_exit_code_0(arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)

    assert ran.code == 0
    assert "cfplan" in ran.out
