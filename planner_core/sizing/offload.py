"""Offload rules: their defaults, which one applies, and IBM's method of choosing a threshold.

Source of the rules and of both worked examples: IBM MQ, Specifying offload options for
shared messages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from planner_core import tables
from planner_core.errors import OutOfRange
from planner_core.sizing.demand import Band, Demand
from planner_core.sizing.structure_size import Curve, elements_for, model_constant
from planner_core.units import KIB, floor_fraction, parse_size
from planner_core.wire import Answer

RULE_OFF_BYTES = 64 * KIB
"""The size with which OFFLDnSZ switches a rule off."""
_FULL = 100


@dataclass(frozen=True, slots=True)
class Rule(Answer):
    """A rule that offloads data of messages over `size_bytes` while the structure is more than `threshold` percent full."""

    threshold: Annotated[int, Field(description="OFFLDnTH.")]
    size_bytes: Annotated[int, Field(description="OFFLDnSZ.")]

    @property
    def is_on(self) -> bool:
        """Return whether the rule can start at all: usage never exceeds 100 %, and 64K means off."""
        return self.size_bytes < RULE_OFF_BYTES and self.threshold < _FULL


def default_rules(to: str = "SMDS") -> tuple[Rule, ...]:
    """Return IBM's default rules: 70 % and 32K, 80 % and 4K, 90 % and 0K; with OFFLOAD(DB2) 64K each, which is off.

    The syntax of DEFINE CFSTRUCT shows them as OFFLD1SZ(32K/64K), OFFLD2SZ(4K/64K), OFFLD3SZ(0K/64K).
    """
    return tuple(
        Rule(
            int(row["usage_over_percent"]),
            RULE_OFF_BYTES if to == "DB2" else int(row["size_over_kb"]) * KIB,
        )
        for row in tables.table("offload_defaults").records()
    )


def can_fire(rule: Rule, demand: Demand) -> bool:
    """Return whether the backlog has messages that this rule offloads and that are not always offloaded."""
    return demand.largest_over_bytes >= rule.size_bytes


def firing(rules: Sequence[Rule], demand: Demand) -> list[Rule]:
    """Return the rules that affect this backlog; without any, its elements are enough for any shape of message sizes."""
    return [rule for rule in rules if rule.is_on and can_fire(rule, demand)]


def one_message(message_bytes: int, *, rules: Sequence[Rule], curve: Curve) -> Demand:
    """Return the demand of one message of this size, to calculate the number of such messages that fit."""
    largest = model_constant("largest_message_in_cf_bytes")
    # -1, so that a message of 0 bytes is over the lower edge of its band.
    edges = (-1, *sorted({rule.size_bytes for rule in rules if rule.size_bytes < largest}), largest)
    over = max(edge for edge in edges if edge < message_bytes)
    is_large = over == largest
    held = (
        model_constant("offloaded_message_elements")
        if is_large
        else elements_for(message_bytes, header_bytes=curve.header_bytes)
    )
    bands = [Band(edge, int(edge == over), held if edge == over else 0, 0) for edge in edges]
    return Demand(messages=1, elements=held, bands=tuple(bands), scale=1, taken=(held,))


@dataclass(frozen=True, slots=True)
class Reserve:
    """The result of IBM's arithmetic for the threshold from which everything is offloaded."""

    reserved_bytes: int
    reserved_percent: Fraction
    highest_threshold: int
    advised_threshold: Fraction


def reserve_for(*, size_bytes: int, messages: int) -> Reserve:
    """Return the threshold of the last rule that leaves room for a number of offloaded messages.

    IBM's arithmetic: each takes 0.75 KB, so the threshold is at most 100 % less their share
    of the structure, and preferably 90 % less that share, because one pool may run out first.

    References:
        IBM MQ, Specifying offload options for shared messages: 10 GB and 1 M messages give
        92 or lower, better around 80; 4 GB and 1 M messages give around 80.

    >>> reserve_for(size_bytes=parse_size("10G"), messages=1_000_000).highest_threshold
    92
    """
    if size_bytes <= 0:
        raise OutOfRange(field="size_bytes", value=size_bytes, lowest=1)
    reserved = messages * model_constant("ibm_offloaded_message_bytes")
    percent = Fraction(reserved * _FULL, size_bytes)
    return Reserve(
        reserved_bytes=reserved,
        reserved_percent=percent,
        highest_threshold=max(0, floor_fraction(_FULL - percent)),
        advised_threshold=max(Fraction(0), model_constant("ibm_advised_usage_percent") - percent),
    )


def parse_rule(text: str) -> Rule:
    """Read `TH:SZ`, such as `70:32K`.

    Raises:
        OutOfRange: The threshold is not from 0 to 100, or the size not from 0K to 64K.
        SizeSyntax: The size cannot be read.
    """
    threshold, colon, size = text.partition(":")
    if not colon or not re.fullmatch(r"[0-9]{1,3}", threshold) or int(threshold) > _FULL:
        raise OutOfRange(
            field="rule", value=repr(text), lowest="0:0K", highest="100:64K", advice="Write a rule as 70:32K."
        )
    # DEFINE CFSTRUCT writes OFFLDnSZ with its unit, so a number without one is refused instead of assumed to be K.
    size_bytes = parse_size(size, default_unit=None)
    if size_bytes > RULE_OFF_BYTES or size_bytes % KIB:
        raise OutOfRange(
            field="rule",
            value=repr(text),
            lowest="0K",
            highest="64K",
            advice="Sizes are whole numbers of K; 64K turns the rule off.",
        )
    return Rule(threshold=int(threshold), size_bytes=size_bytes)
