"""`cfplan admin`: the administrative structure."""

from __future__ import annotations

import pytest

from tests.contract.support import (
    ask,
    assert_findings,
    assert_refused,
    codes,
    findings_about,
    run,
    severities,
)


def admin(queue_managers: int, level: int, *more: object) -> dict[str, object]:
    return ask("admin", "--queue-managers", queue_managers, "--cfcc", level, *more)


def test_admin_command_returns_the_published_size_and_required_entries() -> None:
    answer = admin(5, 14)

    assert answer["size_kib"] == 9728
    assert answer["entries_required"] == 5000


def test_probable_misprint_is_returned_as_printed_and_flagged() -> None:
    # 7976 is no multiple of 256 KB, every other row of Table 1 is: 7936 = 31 x 256.
    answer = admin(3, 14)

    assert answer["size_kib"] == 7976
    assert findings_about(answer, "7936")
    assert not findings_about(admin(4, 14), "7936")
    assert not findings_about(admin(3, 25), "7936")


@pytest.mark.parametrize("queue_managers", [1, 3, 10, 32])
@pytest.mark.parametrize("level", [15, 16, 17, 20])
def test_level_without_a_chart_uses_the_next_higher_and_is_reported(level: int, queue_managers: int) -> None:
    answer, published = admin(queue_managers, level), admin(queue_managers, 21)

    assert answer["size_kib"] == published["size_kib"]
    assert codes(answer) - codes(published)


@pytest.mark.parametrize("level", [26, 30])
def test_level_above_25_uses_25_and_is_reported(level: int) -> None:
    answer, published = admin(10, level), admin(10, 25)

    assert answer["size_kib"] == published["size_kib"] == 31 * 1024
    assert codes(answer) - codes(published)


@pytest.mark.parametrize("level", [9, 13])
def test_level_below_14_uses_table_1_and_is_reported(level: int) -> None:
    answer, published = admin(5, level), admin(5, 14)

    assert answer["size_kib"] == published["size_kib"] == 9728
    assert codes(answer) - codes(published)


def test_queue_managers_beyond_table_1_get_a_plausible_size_and_a_finding() -> None:
    # Table 1 ends at 31 queue managers; a group may have 32. Extrapolated it is about 33280 KB, the chart for
    # CFCC 21 to 24 says 42 MiB: anything between is sound.
    answer, last = admin(32, 14), admin(31, 14)

    assert 33_280 <= int(str(answer["size_kib"])) <= 42 * 1024
    assert answer["entries_required"] == 32_000
    assert codes(answer) - codes(last)


@pytest.mark.parametrize("level", [14, 24, 25])
def test_33_queue_managers_are_refused(level: int) -> None:
    ran = run("admin", "--queue-managers", 33, "--cfcc", level, "--json")

    assert ran.code in {1, 2}, ran
    if ran.code == 1:
        assert "error" in severities(ran.answer)
        assert findings_about(ran.answer, "32")
    else:
        assert_refused(ran)
        assert "32" in ran.err


@pytest.mark.parametrize("value", ["0", "-1", "", "abc", "1.5", "nan", "9" * 5000])
def test_impossible_number_of_queue_managers_is_refused(value: str) -> None:
    ran = run("admin", f"--queue-managers={value}", "--cfcc=25", "--json")

    assert ran.code in {1, 2}, ran
    if not value.startswith("99"):
        assert_refused(ran)


@pytest.mark.parametrize(("entsmax", "enough"), [(1, False), (4999, False), (5000, True), (9999, True)])
def test_entsmax_is_checked_against_1000_entries_for_each_queue_manager(entsmax: int, enough: bool) -> None:
    ran = run("admin", "--queue-managers", 5, "--cfcc", 25, "--entsmax", entsmax, "--json")
    without = admin(5, 25)

    assert ran.answer["entries_required"] == 5000
    assert_findings(ran.answer)
    new = [finding for finding in ran.answer["findings"] if finding["code"] not in codes(without)]
    complaints = [finding for finding in new if finding["severity"] != "info"]
    if enough:
        assert complaints == []
        assert ran.code == 0
    else:
        assert complaints
        assert any("5000" in f["message"].replace(" ", "").replace(",", "") for f in complaints), complaints
        assert ran.code == (1 if "error" in severities(ran.answer) else 0)


@pytest.mark.parametrize(("elements", "enough"), [(9999, False), (10_000, True)])
def test_elements_are_checked_against_2000_for_each_queue_manager(elements: int, enough: bool) -> None:
    answer = admin(5, 25, "--elements-total", elements)

    assert answer["elements_required"] == 10_000
    assert ("ADMIN_ELEMENTS_TOO_LOW" in codes(answer)) is not enough


@pytest.mark.parametrize("value", ["-1", "abc", "", "1.5", "nan"])
def test_entsmax_that_is_not_a_count_is_refused(value: str) -> None:
    assert_refused(run("admin", "--queue-managers=5", "--cfcc=25", f"--entsmax={value}", "--json"))


@pytest.mark.parametrize(
    "arguments", [("admin",), ("admin", "--queue-managers", "5", "surplus"), ("admin", "--cfcc", "25")]
)
def test_invalid_arguments_are_refused(arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)

    assert ran.code == 2
    assert ran.err.strip()


def test_admin_command_supports_fail_on_warning() -> None:
    arguments = ("admin", "--queue-managers", 3, "--cfcc", 14, "--json")
    plain, strict = run(*arguments), run(*arguments, "--fail-on", "warning")

    assert plain.code == 0
    assert strict.code == (1 if severities(strict.answer) & {"error", "warning"} else 0)
