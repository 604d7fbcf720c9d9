"""Every finding of the questions about structures: raised if it applies, and not raised just beyond its limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import NamedTuple

import pytest

from planner_core.findings import Finding, catalogue
from planner_core.plan.evaluate import evaluate
from planner_core.texts.smds_job import smds_job
from planner_core.whatif.filling_up import Outage, fill_up
from planner_core.whatif.recovery import RecoveryQuestion, recovery
from planner_core.whatif.survival import survival
from planner_core.whatif.survival_answer import MeasuredGrowth, SurvivalQuestion
from planner_core.whatif.thresholds import ThresholdQuestion, advise
from tests.planner_core.whatif.filling.plans import Document, queue, structure
from tests.planner_core.whatif.filling.test_survival import MONDAY, measured

Ask = Callable[[], tuple[Finding, ...]]
SOME = queue(message_bytes=4096, put_rate_per_s=100, persistent=True)
FOUR_GB: Document = {"initsize": "4G", "size": "4G"}


class Case(NamedTuple):
    """A case with a finding, the nearest case without it, and the field of the finding."""

    raised: Ask
    not_raised: Ask
    field: str | None


def outage(made: Document, keys: Document = FOUR_GB, **asked: object) -> Ask:
    return lambda: fill_up(structure([made], **keys), Outage(**asked)).findings


def thresholds(made: Document, keys: Document = FOUR_GB, **asked: object) -> Ask:
    return lambda: advise(structure([made], **keys), ThresholdQuestion(**asked)).findings


def recovery_case(made: Document, **asked: object) -> Ask:
    return lambda: recovery(structure([made]), RecoveryQuestion(**asked)).findings


def job(**keys: object) -> Ask:
    made: Document = {"queue_managers": ["QM01"], "offload": {"dsgroup": "MQ.*.APP1"}, **FOUR_GB, **keys}
    return lambda: smds_job(evaluate(structure([SOME], **made))).findings


GROWTH = MeasuredGrowth(0.0, 0.01, 0.02, MONDAY)


def outlasting(
    days: int,
    made: Document = SOME,
    *,
    entries: int | None = 10,
    growth: MeasuredGrowth | None = GROWTH,
    **asked: object,
) -> Ask:
    """Return the question about measured days, or about given ones if there are none."""
    usage = measured(days, entries=entries, growth=growth)
    return lambda: (
        survival(structure([made], **FOUR_GB), SurvivalQuestion(**asked), measurements=usage).findings
    )


CODES: Mapping[str, Case] = {
    "SURVIVAL_NOT_ANSWERED": Case(outlasting(13), outlasting(14), "/structures/0/queues"),
    "SURVIVAL_FEW_DAYS": Case(outlasting(41), outlasting(42), "/structures/0/queues"),
    "SURVIVAL_GROWTH_NOT_KNOWN": Case(
        outlasting(14, growth=None),
        outlasting(14, growth=None, growth_percent_per_year=Decimal(0)),
        "/structures/0/queues",
    ),
    "SURVIVAL_FILL_NOT_MEASURED": Case(
        outlasting(14, entries=None), outlasting(14, entries=None, entries_in_use=0), "/structures/0/queues"
    ),
    "SURVIVAL_SHORTER_THAN_INTERVAL": Case(
        outlasting(14, minutes=Decimal("59.9")), outlasting(14, minutes=Decimal(60)), "/structures/0/queues"
    ),
    "FULL_DURING_OUTAGE": Case(
        # 1 166 929 messages fit with IBM's rules
        outage(SOME, outage_minutes=Decimal(195)),
        outage(SOME, outage_minutes=Decimal(194)),
        "/structures/0/initsize",
    ),
    "OUTAGE_ASSUMED": Case(outage(queue(backlog=10)), outage(SOME), "/structures/0/queues"),
    "MAXDEPTH_DURING_OUTAGE": Case(
        outage({**SOME, "maxdepth": 539_999}), outage({**SOME, "maxdepth": 540_000}), "/structures/0/queues"
    ),
    "DATA_SET_FULL_DURING_OUTAGE": Case(
        outage({**SOME, "message_bytes": 100_000}, data_set_bytes=2**30),
        outage({**SOME, "message_bytes": 100_000}, data_set_bytes=2**37),
        "/structures/0/offload/dsgroup",
    ),
    "BACKLOG_DOES_NOT_FIT": Case(
        thresholds(SOME, hold=2_000_000), thresholds(SOME, hold=1_900_000), "/structures/0/initsize"
    ),
    "BACKLOG_USES_LAST_TENTH": Case(
        thresholds(SOME, hold=1_900_000), thresholds(SOME, hold=1_500_000), "/structures/0/initsize"
    ),
    "TYPICAL_DEPTH_NOT_GIVEN": Case(thresholds(SOME), thresholds(SOME, typical=0), "/structures/0/queues"),
    "OFFLOADS_IN_NORMAL_RUNNING": Case(
        # IBM's 90 % of the 648 294 that fit
        thresholds(SOME, typical=583_466),
        thresholds(SOME, typical=583_464),
        "/structures/0/offload/rules",
    ),
    "NORMAL_RUNNING_NEARLY_FULL": Case(
        thresholds(SOME, typical=551_051), thresholds(SOME, typical=551_049), "/structures/0/initsize"
    ),
    "IBM_MARGIN_NOT_KEPT": Case(
        thresholds(SOME, hold=1_000_000),
        thresholds(SOME, hold=1_000_000, margin_percent=Decimal(10)),
        "/structures/0/offload/rules",
    ),
    "RECOVERY_TOO_SLOW": Case(
        recovery_case(SOME, recovery_minutes=Decimal(21)),
        recovery_case(SOME, recovery_minutes=Decimal(30)),
        "/structures/0/recover",
    ),
    "LOG_RATE_ASSUMED": Case(recovery_case(SOME), recovery_case(SOME, log_read_mb_per_s=Decimal(100)), None),
    "LOG_WITHOUT_RATE": Case(
        recovery_case(queue(backlog=5, persistent=True)),
        recovery_case(queue(backlog=5)),
        "/structures/0/queues",
    ),
    "SMDS_JOB_INCOMPLETE": Case(job(queue_managers=1), job(), "/queue_managers"),
    "SMDS_DOES_NOT_GROW": Case(
        job(offload={"dsgroup": "MQ.*.APP1", "dsexpand": False}), job(), "/structures/0/offload/dsexpand"
    ),
    "SMDS_JOB_CHOICES_ASSUMED": Case(job(), job(offload={"to": "DB2"}), None),
}


@pytest.mark.parametrize("code", CODES)
def test_finding_is_raised_with_its_field_and_source(code: str) -> None:
    (found,) = [finding for finding in CODES[code].raised() if finding.code == code]
    assert found.field == CODES[code].field
    assert found.severity == catalogue()[code].severity
    assert found.source == catalogue()[code].source
    assert found.message.endswith(".")


@pytest.mark.parametrize("code", CODES)
def test_finding_is_not_raised_just_below_its_limit(code: str) -> None:
    assert code not in {finding.code for finding in CODES[code].not_raised()}
