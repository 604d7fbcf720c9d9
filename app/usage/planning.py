"""A plan document out of measured usage.

Measurements give rates, sizes and depths. What they cannot give is asked, or left out with a remark; nothing is made up.
No record of SMF has the 95th percentile of message sizes: without one from who asks, a queue's messages are planned with
one size, and who asks says which.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import Any, Literal

from app.usage.measured import GENERATED, Limits, QueueFigures
from app.usage.periods import Period
from planner_core.errors import FieldProblem

Backlog = Literal["depth", "rate"]
Sizes = Literal["mean", "largest"]
QueueKey = tuple[str, str]
"""Structure and queue."""

LONGEST_COMMENT = 500
_RATE_DIGITS = Decimal("0.001")
_SIZE_DIGITS = Decimal("0.1")


@dataclass(frozen=True, slots=True)
class Asked:
    """What measurements do not say, in the words of who asks."""

    queue_managers: int | list[str]
    cfcc_level: int
    coupling_facilities: tuple[str, ...]
    backlog: Backlog
    outage_minutes: Decimal | None
    sizes: Sizes
    persistent_when_unknown: bool | None
    p95_bytes: Mapping[QueueKey, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Grounds:
    """What a structure's part of a plan rests on."""

    structure: str
    queues: Sequence[QueueFigures]
    entries_max: int | None
    """Most entries in use in any hour of the period."""
    queue_managers: int | None
    """Most queue managers that spoke of it in one hour; more may be defined to the group."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A queue of the plan, and the figures it rests on."""

    figures: QueueFigures
    member: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Made:
    """A plan document that is not yet checked by the core, and what there is to say about it."""

    document: dict[str, Any]
    planned: tuple[Planned, ...]
    remarks: tuple[str, ...]
    comment: str
    problems: tuple[FieldProblem, ...]
    """Answers that are missing; the field is the member of `Asked`."""


def make_plan(
    qsg: str, grounds: Sequence[Grounds], asked: Asked, *, period: Period, admin_limits: Limits | None = None
) -> Made:
    """A plan document for these queues of these structures."""
    planned: list[Planned] = []
    remarks: list[str] = []
    problems: list[FieldProblem] = []
    structures = []
    if asked.backlog == "rate" and asked.outage_minutes is None:
        problems.append(
            FieldProblem("outage_minutes", "is needed: the minutes for which nobody gets messages")
        )
    for ground in grounds:
        kept = list(_queues(ground, asked, remarks))
        planned += kept
        if kept:
            structures.append({"name": ground.structure, "queues": [dict(each.member) for each in kept]})
            remarks += _shortfall(ground, kept, asked)
        else:
            remarks.append(f"{ground.structure}: left out, because none of its queues can be planned.")
    unknown = [each.figures.queue for each in planned if each.figures.is_persistent is None]
    if unknown and asked.persistent_when_unknown is None:
        problems.append(
            FieldProblem(
                "persistent_when_unknown",
                f"is needed: whether messages were persistent was not measured for {_some(unknown)}",
            )
        )
    document: dict[str, Any] = {
        "qsg": qsg,
        "queue_managers": asked.queue_managers,
        "cfcc_level": asked.cfcc_level,
        "coupling_facilities": [{"name": name} for name in asked.coupling_facilities],
        "structures": structures,
    }
    if admin_limits is not None and admin_limits.entries is not None:
        document["admin"] = {"entsmax": admin_limits.entries}
        remarks.append(
            f"ENTSMAX of CSQ_ADMIN: {admin_limits.entries}, as observed {admin_limits.entries_at:%Y-%m-%d %H:00} UTC."
        )
    remarks += _general(planned, asked, unknown)
    return Made(
        document=document,
        planned=tuple(planned),
        remarks=tuple(remarks),
        comment=_comment(qsg, structures, asked, period),
        problems=tuple(problems),
    )


def _queues(ground: Grounds, asked: Asked, remarks: list[str]) -> Iterator[Planned]:
    """The queues that can be planned; why the others cannot is said."""
    if not ground.queues:
        remarks.append(
            f"{ground.structure}: no queue of it was chosen or measured. Records of its queues come with statistics "
            "class 5 (SMF 115 subtype 216) or accounting class 3 (SMF 116)."
        )
    for figures in ground.queues:
        sizes = _sizes(figures, asked)
        backlog = _backlog(figures, asked)
        if isinstance(sizes, str):
            remarks.append(f"{figures.queue}: left out. {sizes}")
        elif backlog is None:
            what = "highest depth" if asked.backlog == "depth" else "put rate"
            remarks.append(f"{figures.queue}: left out. Its {what} was not measured in the period.")
        else:
            persistent = figures.is_persistent
            given = asked.persistent_when_unknown if persistent is None else persistent
            member = {"name": figures.queue, "message_bytes": sizes, **backlog}
            yield Planned(figures, {**member, "persistent": bool(given)})


def _sizes(figures: QueueFigures, asked: Asked) -> int | dict[str, Any] | str:
    """One size, or a distribution where a 95th percentile was given; or why there is none."""
    p95 = asked.p95_bytes.get((figures.structure, figures.queue))
    mean, largest = figures.mean_bytes, figures.size_max_bytes
    if mean is None:
        return "Nothing was put to it in the period, so no size is known."
    if p95 is None and asked.sizes == "mean":
        return math.ceil(mean)
    if largest is None or largest < mean:
        return "Its largest message was not measured in the period."
    if p95 is None:
        return largest
    return {"mean": _rounded(mean, _SIZE_DIGITS), "p95": p95, "max": largest}


def _backlog(figures: QueueFigures, asked: Asked) -> dict[str, Any] | None:
    if asked.backlog == "depth":
        return None if figures.depth_max is None else {"backlog": figures.depth_max}
    if figures.peak_puts_per_s is None:
        return None
    rate = _rounded(figures.peak_puts_per_s, _RATE_DIGITS)
    return {"put_rate_per_s": rate, "outage_minutes": asked.outage_minutes}


def _rounded(value: Fraction, digits: Decimal) -> Decimal:
    """Up: what is planned for is never less than what was measured."""
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return exact.quantize(digits, rounding=ROUND_CEILING).normalize() + 0


def _shortfall(ground: Grounds, kept: Sequence[Planned], asked: Asked) -> Iterator[str]:
    """A structure that held more than the queues that are planned for it."""
    if asked.backlog != "depth" or ground.entries_max is None:
        return
    planned = sum(each.member["backlog"] for each in kept)
    if planned < ground.entries_max:
        yield (
            f"{ground.structure}: {ground.entries_max} list entries were in use at most, but the planned backlogs add up "
            f"to {planned} messages. Other queues were in it, or queues that were not measured at all times."
        )


def _general(planned: Sequence[Planned], asked: Asked, unknown: Sequence[str]) -> Iterator[str]:
    if not planned:
        return
    without = [each for each in planned if not isinstance(each.member["message_bytes"], dict)]
    if without:
        size = "mean size" if asked.sizes == "mean" else "largest size"
        yield (
            f"{_queues_counted(len(without))} planned with one size for all messages, the measured {size}: SMF records give "
            "mean and largest, but no 95th percentile. With one, the spread can be planned for."
        )
    if asked.backlog == "depth":
        yield (
            "Backlog: the highest depth that any queue manager reported in the period. An outage longer than those of the "
            "period needs more."
        )
    else:
        yield (
            "Put rate: the average of the busiest hour of the period, times the outage that was given. Within that hour "
            "the rate may have been higher for some minutes."
        )
    if unknown:
        answer = "persistent" if asked.persistent_when_unknown else "not persistent"
        yield f"Taken as {answer}, as answered, because it was not measured: {_some(unknown)}."
    mixed = [e.figures.queue for e in planned if e.figures.persistent_percent not in {None, 0, 100}]
    if mixed:
        yield f"Some of the messages were persistent and some not; planned as persistent: {_some(mixed)}."
    yield (
        "Not measured, and as in any new plan: CFLEVEL, RECOVER, OFFLOAD and its rules, headroom, growth, thresholds. "
        "Compare them with DISPLAY CFSTRUCT before the plan is used."
    )


def _comment(qsg: str, structures: Sequence[Mapping[str, Any]], asked: Asked, period: Period) -> str:
    """What the version's remark says, so that its history tells what it rests on."""
    queues = sum(len(structure["queues"]) for structure in structures)
    basis = (
        "backlog: highest depth"
        if asked.backlog == "depth"
        else f"backlog: put rate of the busiest hour times {asked.outage_minutes} minutes"
    )
    spread = f", p95 given for {len(asked.p95_bytes)}" if asked.p95_bytes else ""
    text = (
        f"Made from measured usage of {qsg}, {period.first:%Y-%m-%d %H:%M} to {period.past:%Y-%m-%d %H:%M} UTC: "
        f"{queues} queues of {', '.join(structure['name'] for structure in structures) or 'no structure'}; "
        f"{basis}; sizes: {asked.sizes}{spread}."
    )
    return text if len(text) <= LONGEST_COMMENT else text[: LONGEST_COMMENT - 3] + "..."


def _queues_counted(count: int) -> str:
    return "1 queue is" if count == 1 else f"{count} queues are"


def _some(names: Sequence[str], most: int = 5) -> str:
    """Names in a sentence; of many, the first."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def can_be_planned(structure: str) -> bool:
    """Whether a structure is an application's; the others every plan has by itself."""
    return structure not in GENERATED
