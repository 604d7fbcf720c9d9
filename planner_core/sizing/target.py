"""The share of a structure that its planned backlog may use, if the plan gives no headroom.

The plan states a share, 80 percent by default. Without `size_with_offload` all of the backlog should stay in the
coupling facility, so an offload rule that these messages can meet lowers the share to its threshold: a rule starts
only when usage exceeds it. A rule that starts below 50 percent is intended for normal running and does not lower the
share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from planner_core import tables
from planner_core.sizing.demand import Demand
from planner_core.sizing.offload import Rule, can_fire
from planner_core.units import KIB, as_fraction


@dataclass(frozen=True, slots=True)
class Target:
    """The share of the fuller pool that the planned backlog may use [percent].

    `asked` is the share that the plan states, and `rule` with its `number` the offload rule that lowers it.
    """

    asked: Decimal
    rule: Rule | None = None
    number: int = 0
    with_offload: bool = False
    """True if the target is a share of the messages that INITSIZE holds with active rules, not a share of a pool."""

    @property
    def percent(self) -> Fraction:
        """Return the share that INITSIZE is computed with [percent]."""
        return as_fraction(self.asked) if self.rule is None else Fraction(self.rule.threshold)

    @property
    def lowered_by(self) -> str | None:
        """Return the rule that lowers the share, as DEFINE CFSTRUCT writes it."""
        if self.rule is None:
            return None
        number, rule = self.number, self.rule
        return f"OFFLD{number}TH({rule.threshold}) OFFLD{number}SZ({rule.size_bytes // KIB}K)"


def target_for(asked: Decimal, *, rules: Sequence[Rule], demand: Demand, with_offload: bool) -> Target:
    """Return the share of a structure that its planned backlog may use.

    Args:
        asked: The share in the plan [percent].
        rules: The offload rules of the structure, in their order.
        demand: The planned backlog.
        with_offload: Whether the need relies on the rules, which then do not lower the share.
    """
    # With size_with_offload the rules are intended to act, so none of them has to be avoided.
    if with_offload:
        return Target(asked, with_offload=True)
    # A rule with a low threshold is meant for normal running. A structure sized to stay below it would never use it.
    lowest = tables.constants("sizing_choices")["lowest_threshold_kept_percent"].value
    lowering = [
        (rule.threshold, number, rule)
        for number, rule in enumerate(rules, start=1)
        if lowest <= rule.threshold < asked and rule.is_on and can_fire(rule, demand)
    ]
    if not lowering:
        return Target(asked)
    _, number, rule = min(lowering, key=lambda each: each[:2])
    return Target(asked, rule, number)
