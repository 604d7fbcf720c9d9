"""Boundary cases, for which a neighboring rule would give a different result."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from planner_core.sizing.offload import RULE_OFF_BYTES
from planner_core.whatif.filling_up import Outage, fill_up
from planner_core.whatif.recovery import RecoveryQuestion, recovery
from planner_core.whatif.thresholds import ThresholdAdvice, ThresholdQuestion, advise
from tests.planner_core.whatif.filling.plans import Document, queue, structure

KIB, MIB = 2**10, 2**20


def ask(size: str, *queues: Document, **keys: object) -> ThresholdAdvice:
    return advise(structure(list(queues), initsize=size, size=size), ThresholdQuestion(**keys))


# ---- thresholds ------------------------------------------------------------------------------------------------------


def test_rule_2_is_off_if_all_but_the_largest_messages_are_costly() -> None:
    advice = ask("10G", queue(), costly_up_to=40 * KIB)
    assert advice.rules[0].size_bytes == 32 * KIB
    assert advice.rules[1].size_bytes == RULE_OFF_BYTES
    assert "the rule is off" in advice.rules[1].why


def test_backlog_that_fills_the_structure_by_ibms_arithmetic_has_no_threshold() -> None:
    # 4 194 304 x 768 bytes are 3 GB exactly.
    assert ask("3G", queue(backlog=4_194_304)).ibm.threshold is None
    assert ask("3G", queue(backlog=4_000_000)).ibm.threshold == 0


def test_rule_2_separates_the_two_most_distant_of_three_kinds() -> None:
    sizes = (5 * KIB, 9 * KIB, 31 * KIB)
    advice = ask("10G", *(queue(f"Q{size}", message_bytes=size) for size in sizes))
    assert [rule.size_bytes // KIB for rule in advice.rules] == [32, 16, 0]


def test_round_rule_size_may_equal_the_size_of_the_smaller_messages() -> None:
    advice = ask("10G", queue("A", message_bytes=8 * KIB), queue("B", message_bytes=16 * KIB))
    assert advice.rules[1].size_bytes == 8 * KIB


@pytest.mark.parametrize("messages_per_s", [900, 1100, 1300, 1700, 2300])
def test_reported_size_for_the_backlog_is_the_smallest(messages_per_s: int) -> None:
    queues = queue(message_bytes=6 * KIB, put_rate_per_s=messages_per_s)
    short = ask("1G", queues, typical=10_000).shortfall
    assert short is not None
    assert short.size_bytes is not None
    size_mib = short.size_bytes // MIB
    assert ask(f"{size_mib}M", queues, typical=10_000).is_within_margin
    assert not ask(f"{size_mib - 1}M", queues, typical=10_000).is_within_margin


def test_shortfall_of_queues_with_different_outages_states_no_outage() -> None:
    queues = [
        queue("A", put_rate_per_s=1000, outage_minutes=60),
        queue("B", put_rate_per_s=1000, outage_minutes=90),
    ]
    short = ask("1G", *queues).shortfall
    assert short is not None
    assert short.outage_minutes is None


# ---- filling ---------------------------------------------------------------------------------------------------------


def test_longest_outage_includes_queues_whose_own_outage_is_over() -> None:
    """A ends after 10 minutes and B fills the structure alone; with both, it would last half as long."""
    queues = [
        queue("A", put_rate_per_s=100, outage_minutes=10),
        queue("B", put_rate_per_s=100, outage_minutes=600),
    ]
    document = structure(queues, initsize="1G", size="1G", offload={"to": "SMDS", "rules": []})
    own = fill_up(document)
    both = fill_up(document, Outage(outage_minutes=Decimal(600)))
    assert own.full_at_minutes is not None
    assert own.full_at_minutes > 10
    assert own.lasts_minutes == both.full_at_minutes
    assert own.full_at_minutes + 10 == 2 * both.full_at_minutes  # type: ignore[operator]


def test_queue_reaches_no_event_depth_after_its_outage() -> None:
    queues = [
        queue("A", put_rate_per_s=1, outage_minutes=10, maxdepth=1_000),  # 600 of them; 800 is QDEPTHHI
        queue("B", put_rate_per_s=1, outage_minutes=60),
    ]
    answer = fill_up(structure(queues, initsize="4G", size="4G"))
    assert [moment.kind for moment in answer.events] == ["outage_ends"]


def test_backlog_without_rate_arrives_over_the_longest_of_several_outages() -> None:
    queues = [
        queue("A", backlog=4_500),
        queue("B", put_rate_per_s=1, outage_minutes=20),
        queue("C", put_rate_per_s=1, outage_minutes=45),
    ]
    answer = fill_up(structure(queues, initsize="1G", size="1G"))
    assert answer.queues[0].messages_per_minute == 100


def test_growth_applies_to_rates_without_a_planned_outage() -> None:
    document = structure(
        [queue(put_rate_per_s=1, outage_minutes=0)],
        initsize="1G",
        size="1G",
        growth={"percent_per_year": 10, "years": 1},
    )
    answer = fill_up(document, Outage(outage_minutes=Decimal(60)))
    assert answer.queues[0].messages_per_minute == 66


# ---- recovery --------------------------------------------------------------------------------------------------------


def test_recovery_in_exactly_the_allowed_time_is_accepted() -> None:
    """61 440 messages of 512 bytes and 512 bytes of overhead are 60 MB: a minute at 1 MB a second."""
    nothing_put = {"QM01": {"get_rate_per_s": 1}}
    queues = [queue(message_bytes=512, backlog=61_440, persistent=True, queue_manager_rates=nothing_put)]
    document = structure(queues, queue_managers=["QM01"])
    asked = RecoveryQuestion(
        recovery_minutes=Decimal(1), log_read_mb_per_s=Decimal(1), backup_overhead_bytes=512
    )
    (found,) = recovery(document, asked).structures
    assert found.recovery_s == 60
    assert found.meets


def test_log_grows_with_the_rate() -> None:
    def logged(**growth: object) -> int:
        queues = [queue(message_bytes=1024, put_rate_per_s=100, persistent=True)]
        (found,) = recovery(structure(queues, growth=growth)).structures
        return found.log_bytes_per_hour

    assert logged(percent_per_year=25, years=2) == Fraction(5, 4) ** 2 * logged(percent_per_year=0, years=0)
