"""Backup and recovery: IBM's two examples, contents of a backup, and the interval for a recovery time."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.whatif.recovery import (
    Recovery,
    RecoveryQuestion,
    log_bytes_per_hour,
    longest_interval_hours,
    recovery,
)
from tests.planner_core.calculator import calculate
from tests.planner_core.whatif.filling.plans import queue, structure

MIB = 2**20
READ = Fraction(27, 10)


def codes(answer: Recovery) -> set[str]:
    return {finding.code for finding in answer.findings}


@pytest.mark.parametrize(
    ("recovery_s", "log_mb_per_hour", "hours"), [(3600, 800, "12.15"), (1800, 1500, "3.24")]
)
def test_interval_equals_both_ibm_examples(recovery_s: int, log_mb_per_hour: int, hours: str) -> None:
    found = longest_interval_hours(
        recovery_s=recovery_s, log_read_mb_per_s=READ, log_mb_per_hour=log_mb_per_hour
    )
    assert found == Fraction(hours)


def test_log_of_the_ibm_example_is_about_800_mb_per_hour() -> None:
    found = log_bytes_per_hour(messages_per_s=Fraction(100), message_bytes=Fraction(1024))
    assert found == Fraction(23, 10) * 1024 * 100 * 3600
    assert 800 < found / MIB < 810


def test_recovery_interval_of_the_ibm_example_as_a_plan_is_about_12_hours() -> None:
    """100 messages of 1 KB a second; nothing in the structure, so that only the log is read."""
    document = structure([queue(message_bytes=1024, put_rate_per_s=100, persistent=True)])
    (found,) = recovery(document, RecoveryQuestion(fill_percent=Decimal(0))).structures
    assert found.backup_bytes == 0
    assert found.documented_interval_hours is not None
    assert found.interval_minutes == found.documented_interval_hours * 60
    assert 12.0 < found.documented_interval_hours < 12.15  # with 808.6 MB instead of "approximately 800"


def test_backup_contains_persistent_messages_and_their_overhead() -> None:
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


def test_interval_allows_time_for_the_backup_itself() -> None:
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


def test_too_slow_recovery_is_reported_with_advice() -> None:
    document = structure([queue(message_bytes=1024, put_rate_per_s=1000, persistent=True)])
    soon = recovery(document, RecoveryQuestion(recovery_minutes=Decimal(60), interval_minutes=Decimal(180)))
    finding = next(each for each in soon.findings if each.code == "RECOVERY_TOO_SLOW")
    assert "back it up every" in finding.message
    never = recovery(document, RecoveryQuestion(recovery_minutes=Decimal(1)))
    finding = next(each for each in never.findings if each.code == "RECOVERY_TOO_SLOW")
    assert "no interval is short enough" in finding.message
    assert "LOG_RATE_ASSUMED" in codes(never)


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"recover": False}, "It is not backed up: it has RECOVER(NO)."),
        (
            {"cflevel": 2, "recover": False},
            "It is not backed up: CFLEVEL(2) does not support recovery, which needs CFLEVEL(3).",
        ),
    ],
)
def test_structure_without_a_backup_has_a_reason_and_no_recovery_time(
    keys: dict[str, object], why: str
) -> None:
    asked = RecoveryQuestion(explain=True)
    answer = recovery(structure([queue(backlog=10, persistent=True)], **keys), asked)
    (found,) = answer.structures
    assert not found.is_recoverable
    told = found.as_json()
    assert told["not_backed_up"] == why
    assert (told["meets"], told["recovery_s"], told["longest_interval_minutes"]) == (None, None, None)
    assert (told["backup_bytes"], told["log_bytes_per_hour"], told["explanations"]) == (0, 0, {})
    assert answer.system is not None
    assert answer.totals.recovery_s == answer.system.recovery_s


def test_structure_with_a_backup_has_no_reason_for_not_being_backed_up() -> None:
    (found,) = recovery(structure([queue(put_rate_per_s=1, outage_minutes=10, persistent=True)])).structures
    assert (found.as_json()["not_backed_up"], found.as_json()["meets"]) == (None, True)


ASKED = (
    RecoveryQuestion(),
    RecoveryQuestion(
        recovery_minutes=Decimal("7.5"),
        interval_minutes=Decimal(33),
        log_read_mb_per_s=Decimal("14.3"),
        backup_overhead_bytes=100,
        fill_percent=Decimal("12.5"),
    ),
)


@pytest.mark.parametrize("asked", ASKED)
def test_recovery_figures_can_be_recalculated_from_their_explanations(asked: RecoveryQuestion) -> None:
    queues = [
        queue("P", message_bytes=1500, put_rate_per_s=90, outage_minutes=45, persistent=True),
        queue("B", message_bytes={"mean": 700, "p95": 2000, "max": 9000}, backlog=1_234, persistent=True),
        queue("N", message_bytes=2048, backlog=5_000_000),
    ]
    document = structure(queues, growth={"percent_per_year": 10, "years": 2})
    (found,) = recovery(document, asked.model_copy(update={"explain": True})).structures
    told = found.as_json()
    assert found.explanations is not None
    for each in found.explanations.values():
        names = {item.name: Fraction(item.value) for item in each.inputs}
        for step in each.steps:
            names[step.name] = calculate(step.formula, names)
            assert names[step.name] == step.value
        assert calculate(each.formula, names) == each.value
        assert float(each.value) == pytest.approx(told[each.figure[1:]], abs=0.005)
    assert len(found.explanations) == 6


def test_assumed_inputs_are_listed_with_their_basis() -> None:
    assumed, given_ = (
        recovery(structure([queue(backlog=10, persistent=True)]), asked).inputs for asked in ASKED
    )
    assert [(each.name, each.value, each.basis.value) for each in assumed] == [
        ("recovery_minutes", 60, "assumed"),
        ("interval_minutes", 60, "published"),
        ("log_read_mb_per_s", READ, "published"),
        ("backup_overhead_bytes", 512, "assumed"),
        ("fill_percent", 100, "assumed"),
    ]
    assert all(each.source for each in assumed)
    assert {each.basis.value for each in given_} == {"given"}


@given(st.integers(1, 10**6), st.integers(1, 10**4), st.integers(0, 60_000))
def test_larger_inputs_never_shorten_recovery(minutes: int, rate: int, size: int) -> None:
    def seconds(minutes: int, rate: int, size: int) -> Fraction:
        document = structure([queue(message_bytes=size, put_rate_per_s=rate, persistent=True)])
        (found,) = recovery(document, RecoveryQuestion(interval_minutes=Decimal(minutes))).structures
        assert found.recovery_s is not None
        return found.recovery_s

    base = seconds(minutes, rate, size)
    assert base <= min(
        seconds(minutes + 1, rate, size), seconds(minutes, rate + 1, size), seconds(minutes, rate, size + 1)
    )


def test_queue_with_a_backlog_logs_at_its_measured_rates() -> None:
    """A backlog excludes put_rate_per_s in a document, so these are the only rates."""
    measured = {"QM01": {"put_rate_per_s": 60, "get_rate_per_s": 1}, "QM02": {"put_rate_per_s": 40}}
    queues = [queue(message_bytes=1024, backlog=1000, persistent=True, queue_manager_rates=measured)]
    answer = recovery(structure(queues, queue_managers=["QM01", "QM02"]))
    (found,) = answer.structures
    assert found.log_bytes_per_hour == 847_872_000  # 100 x 2,355.2 bytes x 3600
    assert "LOG_WITHOUT_RATE" not in codes(answer)
    without = recovery(structure([queue(backlog=9, persistent=True)])).findings
    (said,) = (each.message for each in without if each.code == "LOG_WITHOUT_RATE")
    assert "If the plan states a backlog, specify rates as queue_manager_rates." in said


def test_recovery_time_is_unknown_if_a_queue_has_no_rate() -> None:
    document = structure([queue("A", message_bytes=1024, backlog=1000, persistent=True)])
    (found,) = recovery(document).structures
    assert (found.meets, found.unrated_queues) == (None, 1)
    late = recovery(document, RecoveryQuestion(recovery_minutes=Decimal(0)))
    assert late.structures[0].meets is False  # the backup alone takes longer
    assert "RECOVERY_TOO_SLOW" in codes(late)
    assert "RECOVERY_TOO_SLOW" not in codes(recovery(document))


def test_csqsysappl_is_assumed_to_be_recoverable_and_backed_up() -> None:
    """1000 messages of IBM's Table 3 for group units of recovery, two for each shared channel, all persistent."""
    document = structure([queue(message_bytes=1024, backlog=10)])
    found = recovery(document)
    shown = found.as_json()["structures"]
    assert isinstance(shown, list)
    system = shown[-1]
    demand = next(each for each in evaluate(document).structures if each.role == "system").queues
    assert system["structure"] == "CSQSYSAPPL"
    assert system["is_recoverable"]
    assert system["persistent_messages"] == sum(each.messages for each in demand) > 0
    assert system["backup_bytes"] > 512 * system["persistent_messages"]
    assert system["back_up_every_minutes"] == 60
    assert "RECOVER(YES) is assumed" in system["assumed"]
    assert found.totals.backup_bytes == sum(each["backup_bytes"] for each in shown)
    without = read_object(
        document.model_dump(mode="json", exclude_defaults=True) | {"system": {"include": False}}
    )
    assert recovery(without).system is None


def test_advised_interval_is_at_most_an_hour_and_shown_with_the_calculated_one() -> None:
    slow = structure([queue(message_bytes=1024, put_rate_per_s=1, persistent=True)], queue_managers=1)
    for asked in (None, RecoveryQuestion(interval_minutes=Decimal(600))):
        (found,) = recovery(slow, asked).structures
        assert found.interval_minutes is not None
        assert found.interval_minutes > 600
        assert found.back_up_every_minutes == 60
        assert found.as_json()["longest_interval_minutes"] > 600
    line = next(each for each in recovery(slow).lines() if each.startswith("APP1 "))
    assert re.search(r" 60[.]0 min  [0-9]{3,}[.][0-9] min$", line)
    fast = structure([queue(message_bytes=20_480, put_rate_per_s=500, outage_minutes=1, persistent=True)])
    (found,) = recovery(fast).structures
    assert found.back_up_every_minutes is not None
    assert 0 < found.back_up_every_minutes < 60
