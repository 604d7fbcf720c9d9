"""Findings on a given size below the need, which depend on its capacity with offload rules."""

from __future__ import annotations

import re

import pytest

from planner_core.document.reading import read_object
from planner_core.findings import Finding
from planner_core.plan.evaluate import evaluate
from planner_core.plan.result import PlanResult

CODES = ("INITSIZE_BELOW_NEED", "SIZE_BELOW_NEED")


def plan_with_backlog(backlog: int, *, with_rules: bool = True) -> PlanResult:
    structure = {
        "name": "T1",
        "initsize": "1G",
        "size": "1G",
        "offload": {"to": "SMDS", "dsgroup": "MQ.T.*.T1"} | ({} if with_rules else {"rules": []}),
        "queues": [
            {
                "name": "T.A",
                "message_bytes": {"mean": 3500, "p95": 12000, "max": 125000},
                "backlog": backlog,
            }
        ],
    }
    facilities = [{"name": name, "size": "64G", "cfcc_level": 25} for name in ("CF01", "CF02")]
    return evaluate(
        read_object(
            {"qsg": "TAIL", "queue_managers": 3, "coupling_facilities": facilities, "structures": [structure]}
        )
    )


def below_need(result: PlanResult) -> list[Finding]:
    return [each for each in result.findings if each.code in CODES and each.structure == "T1"]


def capacities(result: PlanResult) -> tuple[int, int, int]:
    """Return the messages held without and with the rules, and the messages offloaded at the backlog."""
    (structure,) = [each for each in result.structures if each.name == "T1"]
    assert structure.load is not None
    return (
        structure.load.messages_in_initsize(offload=False),
        structure.load.messages_in_initsize(offload=True),
        structure.offloaded_at_backlog,
    )


def test_backlog_that_fits_with_rules_predicts_no_reason_2192() -> None:
    result = plan_with_backlog(200_000)
    plain, with_rules, offloaded = capacities(result)
    assert plain < 200_000 <= with_rules
    assert offloaded
    found = below_need(result)
    assert [each.code for each in found] == list(CODES)
    for each in found:
        assert each.severity == "warning"
        assert f"only with offload ({offloaded} messages offloaded at the backlog)" in each.message
        assert f"{plain} messages without offload and {with_rules} with the rules" in each.message
        assert "2192" not in each.message


@pytest.mark.parametrize("with_rules", [True, False], ids=["with rules", "without rules"])
def test_backlog_beyond_capacity_with_rules_predicts_reason_2192(*, with_rules: bool) -> None:
    result = plan_with_backlog(1_000_000, with_rules=with_rules)
    plain, capacity, _ = capacities(result)
    assert capacity < 1_000_000
    assert (plain < capacity) == with_rules
    for each in below_need(result):
        assert f"holds {capacity} of the planned 1000000 messages" in each.message
        assert each.message.endswith("Beyond that, applications get reason 2192.")
        assert bool(re.search("with the offload rules active", each.message)) == with_rules
