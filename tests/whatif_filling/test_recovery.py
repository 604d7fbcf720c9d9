"""Backup and recovery: IBM's two examples, what a backup writes, and the interval that meets a recovery time."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.whatif.recovery import (
    Recovery,
    RecoveryQuestion,
    log_bytes_per_hour,
    longest_interval_hours,
    recovery,
)
from tests.whatif_filling.plans import queue, structure

MIB = 2**20
READ = Fraction(27, 10)


def codes(answer: Recovery) -> set[str]:
    return {finding.code for finding in answer.findings}


@pytest.mark.parametrize(
    ("recovery_s", "log_mb_per_hour", "hours"), [(3600, 800, "12.15"), (1800, 1500, "3.24")]
)
def test_ibms_two_examples_of_the_interval(recovery_s: int, log_mb_per_hour: int, hours: str) -> None:
    found = longest_interval_hours(
        recovery_s=recovery_s, log_read_mb_per_s=READ, log_mb_per_hour=log_mb_per_hour
    )
    assert found == Fraction(hours)


def test_ibms_example_of_the_log_about_800_mb_an_hour() -> None:
    found = log_bytes_per_hour(messages_per_s=Fraction(100), message_bytes=Fraction(1024))
    assert found == Fraction(23, 10) * 1024 * 100 * 3600
    assert 800 < found / MIB < 810


def test_ibms_example_as_a_plan() -> None:
    """100 messages of 1 KB a second; nothing in the structure, so that only the log is read."""
    document = structure([queue(message_bytes=1024, put_rate_per_s=100, persistent=True)])
    (found,) = recovery(document, RecoveryQuestion(fill_percent=Decimal(0))).structures
    assert found.backup_bytes == 0
    assert found.documented_interval_hours is not None
    assert found.interval_minutes == found.documented_interval_hours * 60
    assert 12.0 < found.documented_interval_hours < 12.15  # with 808.6 MB instead of "approximately 800"


def test_a_backup_has_the_persistent_messages_and_their_overhead() -> None:
    queues = [
        queue("P", message_bytes=2048, backlog=1_000_000, persistent=True),
        queue("N", message_bytes=2048, backlog=5_000_000),
    ]
    answer = recovery(structure(queues), RecoveryQuestion(log_read_mb_per_s=Decimal(100)))
    (found,) = answer.structures
    assert found.persistent_messages == 1_000_000
    assert found.backup_bytes == 1_000_000 * (2048 + 512)
    assert found.recovery_s == Fraction(2_560_000_000, 100 * MIB)
    assert found.interval_minutes is None  # without a rate nothing is known to be logged
    assert codes(answer) == {"LOG_WITHOUT_RATE"}
    (half,) = recovery(
        structure(queues), RecoveryQuestion(fill_percent=Decimal(50), backup_overhead_bytes=0)
    ).structures
    assert half.backup_bytes == 500_000 * 2048


def test_the_interval_leaves_time_for_the_backup_itself() -> None:
    document = structure([queue(message_bytes=1024, put_rate_per_s=100, persistent=True)])
    asked = RecoveryQuestion(recovery_minutes=Decimal(10), interval_minutes=Decimal(60))
    (found,) = recovery(document, asked).structures
    assert found.interval_minutes is not None
    exactly = RecoveryQuestion(
        recovery_minutes=Decimal(10), interval_minutes=Decimal(int(found.interval_minutes))
    )
    later = RecoveryQuestion(
        recovery_minutes=Decimal(10), interval_minutes=Decimal(int(found.interval_minutes) + 1)
    )
    assert recovery(document, exactly).structures[0].meets
    assert not recovery(document, later).structures[0].meets


def test_a_structure_that_takes_too_long_is_told_with_what_to_do() -> None:
    document = structure([queue(message_bytes=1024, put_rate_per_s=1000, persistent=True)])
    soon = recovery(document, RecoveryQuestion(recovery_minutes=Decimal(60), interval_minutes=Decimal(180)))
    finding = next(each for each in soon.findings if each.code == "RECOVERY_TOO_SLOW")
    assert "back it up every" in finding.message
    never = recovery(document, RecoveryQuestion(recovery_minutes=Decimal(1)))
    finding = next(each for each in never.findings if each.code == "RECOVERY_TOO_SLOW")
    assert "no interval is short enough" in finding.message
    assert "LOG_RATE_ASSUMED" in codes(never)


@pytest.mark.parametrize("keys", [{"recover": False}, {"cflevel": 2, "recover": False}])
def test_what_cannot_be_backed_up_has_no_figures(keys: dict[str, object]) -> None:
    answer = recovery(structure([queue(backlog=10, persistent=True)], **keys))
    (found,) = answer.structures
    assert not found.is_recoverable
    assert found.backup_bytes == 0
    assert found.recovery_s == 0


@given(st.integers(1, 10**6), st.integers(1, 10**4), st.integers(0, 60_000))
def test_more_of_anything_never_recovers_faster(minutes: int, rate: int, size: int) -> None:
    def seconds(minutes: int, rate: int, size: int) -> Fraction:
        document = structure([queue(message_bytes=size, put_rate_per_s=rate, persistent=True)])
        return (
            recovery(document, RecoveryQuestion(interval_minutes=Decimal(minutes))).structures[0].recovery_s
        )

    base = seconds(minutes, rate, size)
    assert base <= min(
        seconds(minutes + 1, rate, size), seconds(minutes, rate + 1, size), seconds(minutes, rate, size + 1)
    )
