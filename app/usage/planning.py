"""Plan documents from measured usage, and updates of existing ones.

Measurements contain rates, sizes and depths. The user supplies the rest, or it is left out with a remark; no value is
guessed. No SMF record contains the 95th percentile of message sizes: if the user supplies none, the messages of a queue
are planned with one size, which the user chooses.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import Literal

from app.usage.measured import ObservedTotals, QueueFigures
from app.usage.observed import ObservedStructure, in_order
from app.usage.periods import Period
from planner_core.errors import FieldProblem
from planner_core.names import OWN_STRUCTURES
from planner_core.sizing.structure_size import elements_held, model_constant
from planner_core.urgency import times_of
from planner_core.wire import JsonObject

Backlog = Literal["depth", "rate"]
Sizes = Literal["mean", "largest"]
QueueKey = tuple[str, str]
"""The names of structure and queue."""

LONGEST_COMMENT = 500
_RATE_DIGITS = Decimal("0.001")
_SIZE_DIGITS = Decimal("0.1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reckoning:
    """The conversion of measured figures to those of a plan."""

    backlog: Backlog
    outage_minutes: Decimal | None
    sizes: Sizes
    persistent_when_unknown: bool | None
    p95_bytes: Mapping[QueueKey, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanQuestion(Reckoning):
    """Details from the user that measurements do not contain."""

    queue_managers: int | list[str]
    cfcc_level: int
    coupling_facilities: tuple[str, ...]
    queue_managers_observed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MeasuredBasis:
    """The measurements behind a structure of a plan."""

    structure: str
    queues: Sequence[QueueFigures]
    entries_max: int | None
    """Largest number of entries in use in any hour of the period."""
    queue_managers: int | None
    """Largest number of queue managers that reported in one hour; more may be defined to the group."""
    elements_max: int | None = None
    elements_per_message: Fraction | None = None
    """Mean number of elements of the entries that were written with data; None if no source counts them."""
    observed: ObservedStructure = field(default_factory=ObservedStructure)


@dataclass(frozen=True, slots=True)
class PlannedQueue:
    """A queue of the plan, with its measured figures."""

    figures: QueueFigures
    member: JsonObject


@dataclass(frozen=True, slots=True)
class DraftPlan:
    """A plan document before validation, with remarks."""

    document: JsonObject
    planned: tuple[PlannedQueue, ...]
    remarks: tuple[str, ...]
    comment: str
    problems: tuple[FieldProblem, ...]
    """Missing answers, by field of `PlanQuestion`."""


def make_plan(
    qsg: str,
    grounds: Sequence[MeasuredBasis],
    asked: PlanQuestion,
    *,
    period: Period,
    admin_limits: ObservedTotals | None = None,
) -> DraftPlan:
    """Return a plan document for these queues of these structures."""
    planned: list[PlannedQueue] = []
    remarks: list[str] = []
    problems: list[FieldProblem] = []
    structures = []
    if asked.backlog == "rate" and asked.outage_minutes is None:
        problems.append(FieldProblem("outage_minutes", "is required: the minutes without gets"))
    for ground in grounds:
        kept = list(_queues(ground, asked, remarks))
        planned += kept
        if kept:
            structures.append(
                {
                    "name": ground.structure,
                    "preflist": in_order(asked.coupling_facilities, ground.observed.coupling_facilities),
                    **_duplex(ground),
                    "queues": [dict(each.member) for each in kept],
                }
            )
            remarks += _cut_off(ground)
            remarks += _where(ground)
            remarks += _duplexing(ground)
            remarks += _shortfall(ground, kept, asked)
            remarks += _written(ground, kept)
        else:
            remarks.append(f"{ground.structure}: left out, because none of its queues can be planned.")
    unknown = [each.figures.queue for each in planned if each.figures.is_persistent is None]
    problems += _unknown_persistence(unknown, asked)
    document: JsonObject = {
        "qsg": qsg,
        "queue_managers": asked.queue_managers,
        "cfcc_level": asked.cfcc_level,
        "coupling_facilities": [
            # The plan must define every coupling facility of its preference lists.
            {"name": name}
            for name in dict.fromkeys(
                (*asked.coupling_facilities, *(name for each in structures for name in each["preflist"]))
            )
        ],
        "structures": structures,
    }
    if admin_limits is not None and admin_limits.entries_total is not None:
        document["admin"] = {"entsmax": admin_limits.entries_total}
        remarks.append(
            f"ENTSMAX of CSQ_ADMIN: {admin_limits.entries_total}, as observed {admin_limits.entries_at:%Y-%m-%d %H:00} UTC."
        )
    remarks += _general(planned, asked, unknown)
    remarks += _managers(asked)
    if planned:
        remarks.append(_not_measured(all("duplex" in each for each in structures)))
    return DraftPlan(
        document=document,
        planned=tuple(planned),
        remarks=tuple(remarks),
        comment=_comment(qsg, structures, asked, period),
        problems=tuple(problems),
    )


def take_over(
    document: JsonObject, grounds: Sequence[MeasuredBasis], asked: Reckoning, *, period: Period
) -> DraftPlan:
    """Return a plan document with measured figures instead of assumptions; everything else stays the same.

    Args:
        document: The plan document as a JSON object, complete with defaults.
        grounds: The structures, each with the measured queues to update.
        asked: How measured figures are converted to those of a plan. Without an outage, each queue keeps its own.
        period: The period of the figures.
    """
    # A copy, because the page compares the new document with the given one.
    changed: JsonObject = copy.deepcopy(dict(document))
    structures = {each["name"]: each for each in changed["structures"]}
    planned: list[PlannedQueue] = []
    remarks: list[str] = []
    for ground in grounds:
        if ground.structure not in structures:
            remarks.append(f"{ground.structure}: left out, because the plan has no structure of this name.")
            continue
        queues: list[JsonObject] = structures[ground.structure]["queues"]
        copied = list(_into(ground, queues, asked, remarks))
        planned += copied
        remarks += _cut_off(ground)
        remarks += _written(ground, copied)
        remarks += _shortfall_of_all(ground, queues)
    named = {(each.figures.structure, each.figures.queue) for each in planned}
    there = [
        (structure["name"], queue["name"])
        for structure in structures.values()
        for queue in structure["queues"]
    ]
    left = [queue for structure, queue in there if (structure, queue) not in named]
    if left:
        remarks.append(f"Unchanged, because nothing was copied for them: {_some(left)}.")
    unknown = [
        each.figures.queue
        for each in planned
        if each.figures.is_persistent is None and "persistent" not in each.member
    ]
    problems = _unknown_persistence(unknown, asked)
    for each in planned:  # applies to new queues whose persistence was not measured
        queue = next(
            q for q in structures[each.figures.structure]["queues"] if q["name"] == each.figures.queue
        )
        queue.setdefault("persistent", bool(asked.persistent_when_unknown))
    remarks += _general(planned, asked, unknown)
    growth = changed.get("growth") or {}
    if planned and growth.get("years") and Decimal(str(growth.get("percent_per_year") or 0)):
        remarks.append(
            f"The plan's growth of {growth['percent_per_year']} % a year for {growth['years']} years is added to the "
            "measured values. If the plan is not recent, part of this growth has already happened."
        )
    taken = sorted({each.figures.structure for each in planned})
    return DraftPlan(
        document=changed,
        planned=tuple(planned),
        remarks=tuple(remarks),
        comment=_comment(
            changed["qsg"], [{"name": name, "queues": [p for p in planned if p.figures.structure == name]} for name in taken],
            asked, period, begin="Copied from measured usage",
        ),
        problems=problems,
    )  # fmt: skip


def _cut_off(ground: MeasuredBasis) -> Iterator[str]:
    """Yield a remark if the structure was full, because the demand above its size is then unknown."""
    full = ground.observed.cut_off
    if full is None:
        return
    times = f"{times_of(full.count)} " if full.count else ""
    when = (
        f"in the hour of {full.first_hour:%Y-%m-%d %H:00} UTC"
        if full.first_hour == full.last_hour
        else f"between {full.first_hour:%Y-%m-%d %H:00} and {full.last_hour:%Y-%m-%d %H:00} UTC"
    )
    least = " and ".join(
        f"{number} list {name}"
        for number, name in ((ground.entries_max, "entries"), (ground.elements_max, "elements"))
        if number is not None
    )
    yield (
        f"{ground.structure}: it was full {times}{when}, so the observed maximum is capped. The demand is not known: at "
        f"least {least or 'what it held'}. Plan for more than was measured."
    )


def _managers(asked: PlanQuestion) -> Iterator[str]:
    """Yield a remark on queue managers that are in the records but not in the plan."""
    given, seen = asked.queue_managers, asked.queue_managers_observed
    left_out = [name for name in seen if name not in given] if isinstance(given, list) else []
    if left_out:
        yield f"Observed, but not among the queue managers of the plan: {_some(left_out)}."
    elif isinstance(given, int) and len(seen) > given:
        yield f"The plan has {given} queue managers, but records name {len(seen)}: {_some(seen)}."


def _where(ground: MeasuredBasis) -> Iterator[str]:
    names = ground.observed.coupling_facilities
    if not names:
        yield (
            f"{ground.structure}: its coupling facility was not observed. Records of RMF 74-4 and the "
            "output of D XCF,STR,STRNAME= name it."
        )
        return
    last = max(each.last_day for each in ground.observed.placed)
    yield (
        f"{ground.structure}: PREFLIST begins with {', '.join(names)}, where it was allocated up to {last.isoformat()}."
        + (
            " It was observed in several: no record shows whether it moved or is duplexed."
            if len(names) > 1 and ground.observed.duplexing.is_duplexed is None
            else ""
        )
    )


def _duplex(ground: MeasuredBasis) -> dict[str, str]:
    duplex = ground.observed.duplexing.duplex
    return {} if duplex is None else {"duplex": duplex}


def _duplexing(ground: MeasuredBasis) -> Iterator[str]:
    """Yield a remark on DUPLEX with its sources, or the reason for the default."""
    seen = ground.observed.duplexing
    instances = {
        True: f"it was duplexed in the hour of {seen.observed_at:%Y-%m-%d %H:00} UTC"
        if seen.observed_at
        else "",
        False: f"it had one instance in the hour of {seen.observed_at:%Y-%m-%d %H:00} UTC"
        if seen.observed_at
        else "",
        None: "",
    }[seen.is_duplexed]
    policy = (
        f"D XCF,STR showed DUPLEX({seen.policy_duplex}) in the hour of {seen.policy_observed_at:%Y-%m-%d %H:00} UTC"
        if seen.policy_duplex and seen.policy_observed_at
        else ""
    )
    observed = " and ".join(part for part in (policy, instances) if part)
    read_from = f" Read from: {', '.join(seen.sources)}." if seen.sources else ""
    if seen.duplex is not None:
        yield f"{ground.structure}: DUPLEX is {seen.duplex}, because {observed}.{read_from}"
    elif observed:
        yield (
            f"{ground.structure}: {observed}. That does not show DUPLEX of the policy, which is left at its default; the "
            f"output of D XCF,STR,STRNAME= shows it.{read_from}"
        )
    else:
        yield (
            f"{ground.structure}: no duplexing state was observed, so DUPLEX is left at its default. Records of RMF 74-4 "
            "and the output of D XCF,STR,STRNAME= show it."
        )
    if seen.is_duplexed and seen.duplex == "ALLOWED":
        yield (
            f"{ground.structure}: with DUPLEX(ALLOWED), the plan counts one instance in its coupling facilities, but two "
            "were observed. Use ENABLED to count the second instance."
        )


def _not_measured(has_duplex: bool) -> str:
    duplex = "" if has_duplex else "DUPLEX where a remark says so, "
    return (
        f"Not measured, and left at their defaults: {duplex}CFLEVEL, RECOVER, OFFLOAD and its rules, usage at the backlog, growth, "
        "thresholds, the storage of the coupling facilities. "
        "Compare them with DISPLAY CFSTRUCT before you use the plan."
    )


def _into(
    ground: MeasuredBasis, queues: list[JsonObject], asked: Reckoning, remarks: list[str]
) -> Iterator[PlannedQueue]:
    """Update the queues of a structure with measured figures, and yield them."""
    there = {queue["name"]: queue for queue in queues}
    for figures in ground.queues:
        before = there.get(figures.queue)
        sizes = _sizes_over(figures, before, asked, remarks)
        backlog = _backlog_over(figures, before, asked)
        if before is None and isinstance(sizes, str):
            remarks.append(f"{figures.queue}: not added. {sizes}")
            continue
        if before is None and isinstance(backlog, str):
            remarks.append(f"{figures.queue}: not added. {backlog}")
            continue
        member: JsonObject = {"name": figures.queue}
        if isinstance(sizes, str):
            remarks.append(f"{figures.queue}: its message size is not changed. {sizes}")
        else:
            member["message_bytes"] = sizes
        if isinstance(backlog, str):
            remarks.append(f"{figures.queue}: its backlog is not changed. {backlog}")
        else:
            # A queue has either a backlog or a rate with an outage, so the other kind is removed.
            member |= {"backlog": None, "put_rate_per_s": None, "outage_minutes": None, **backlog}
        if figures.is_persistent is not None:
            member["persistent"] = figures.is_persistent
        elif before is not None:
            member["persistent"] = before["persistent"]
        if before is None:
            queues.append(dict(member))
        else:
            before |= member
        yield PlannedQueue(figures, {**(before or {}), **member})


def _sizes_over(
    figures: QueueFigures, before: JsonObject | None, asked: Reckoning, remarks: list[str]
) -> int | JsonObject | str:
    """Return the measured sizes; the plan's 95th percentile is kept if it still lies between mean and largest size."""
    kept = before["message_bytes"] if before is not None else None
    key = (figures.structure, figures.queue)
    mean, largest = figures.mean_bytes, figures.size_max_bytes
    if key in asked.p95_bytes or not isinstance(kept, Mapping) or mean is None or largest is None:
        return _sizes(figures, asked)
    if mean <= kept["p95"] <= largest:
        remarks.append(f"{figures.queue}: the 95th percentile of the plan, {kept['p95']} bytes, is kept.")
        return {"mean": _rounded(mean, _SIZE_DIGITS), "p95": kept["p95"], "max": largest}
    remarks.append(
        f"{figures.queue}: the 95th percentile of the plan, {kept['p95']} bytes, does not lie between the measured mean and "
        "the largest message: the queue is planned with one size unless you enter another."
    )
    return _sizes(figures, asked)


def _backlog_over(figures: QueueFigures, before: JsonObject | None, asked: Reckoning) -> JsonObject | str:
    found = _backlog(figures, asked)
    if found is None:
        return f"Its {'highest depth' if asked.backlog == 'depth' else 'put rate'} was not measured in the period."
    if asked.backlog == "rate" and asked.outage_minutes is None:
        outage = before.get("outage_minutes") if before is not None else None
        if outage is None:
            return "No outage is known for this queue. Enter one."
        return {**found, "outage_minutes": outage}
    return found


def _shortfall_of_all(ground: MeasuredBasis, queues: Sequence[JsonObject]) -> Iterator[str]:
    """Yield a remark if a structure held more messages than the backlogs of all its queues in the plan."""
    backlogs = [queue.get("backlog") for queue in queues]
    if ground.entries_max is None or any(backlog is None for backlog in backlogs):
        return
    planned = sum(int(backlog) for backlog in backlogs if backlog is not None)
    if planned < ground.entries_max:
        yield (
            f"{ground.structure}: {ground.entries_max} list entries were in use at most, but the backlogs of the plan add up "
            f"to {planned} messages. The structure also held other queues, or queues that were not measured throughout."
        )


def _unknown_persistence(unknown: Sequence[str], asked: Reckoning) -> tuple[FieldProblem, ...]:
    if not unknown or asked.persistent_when_unknown is not None:
        return ()
    message = f"is required: message persistence was not measured for {_some(unknown)}"
    return (FieldProblem("persistent_when_unknown", message),)


def _queues(ground: MeasuredBasis, asked: PlanQuestion, remarks: list[str]) -> Iterator[PlannedQueue]:
    """Yield the queues that can be planned, and add remarks with the reasons for the others."""
    if not ground.queues:
        remarks.append(
            f"{ground.structure}: none of its queues were selected or measured. MQ writes records of queues with "
            "statistics class 5 (SMF 115 subtype 216) or accounting class 3 (SMF 116)."
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
            # If there is no answer, the draft has a problem anyway, and this value is not used.
            member = {"name": figures.queue, "message_bytes": sizes, **backlog}
            yield PlannedQueue(figures, {**member, "persistent": bool(given)})


def _sizes(figures: QueueFigures, asked: Reckoning) -> int | JsonObject | str:
    """Return one size, or a distribution if a 95th percentile is known, or the reason why there is none."""
    p95 = asked.p95_bytes.get((figures.structure, figures.queue))
    mean, largest = figures.mean_bytes, figures.size_max_bytes
    if mean is None:
        return "No messages were put to it in the period, so no size is known."
    if p95 is None and asked.sizes == "mean":
        return math.ceil(mean)
    if largest is None or largest < mean:
        return "Its largest message was not measured in the period."
    if p95 is None:
        return largest
    return {"mean": _rounded(mean, _SIZE_DIGITS), "p95": p95, "max": largest}


def _backlog(figures: QueueFigures, asked: Reckoning) -> JsonObject | None:
    if asked.backlog == "depth":
        return None if figures.depth_max is None else {"backlog": figures.depth_max}
    if figures.peak_puts_per_s is None:
        return None
    rate = _rounded(figures.peak_puts_per_s, _RATE_DIGITS)
    return {"put_rate_per_s": rate, "outage_minutes": asked.outage_minutes}


def _rounded(value: Fraction, digits: Decimal) -> Decimal:
    """Return a value rounded up, because a plan must never assume less than was measured."""
    # normalize returns 1E+3; adding 0 turns it into 1000.
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return exact.quantize(digits, rounding=ROUND_CEILING).normalize() + 0


def _shortfall(ground: MeasuredBasis, kept: Sequence[PlannedQueue], asked: PlanQuestion) -> Iterator[str]:
    """Yield a remark if a structure held more messages than the backlogs of its planned queues."""
    # A rate times an outage is an assumption; only measured depths can be compared with the entries in use.
    if asked.backlog != "depth" or ground.entries_max is None:
        return
    planned = sum(each.member["backlog"] for each in kept)
    if planned < ground.entries_max:
        yield (
            f"{ground.structure}: {ground.entries_max} list entries were in use at most, but the planned backlogs add up "
            f"to {planned} messages. The structure also held other queues, or queues that were not measured throughout."
        )


def _written(ground: MeasuredBasis, planned: Sequence[PlannedQueue]) -> Iterator[str]:
    """Yield a remark that compares the planned sizes with the elements of the entries that were written."""
    measured = ground.elements_per_message
    weighed = [each for each in planned if each.figures.puts and "message_bytes" in each.member]
    puts = sum(each.figures.puts or 0 for each in weighed)
    if measured is None or not puts:
        return
    elements = sum((each.figures.puts or 0) * _elements(each.member["message_bytes"]) for each in weighed)
    expected = Fraction(elements, puts)
    found = (
        f"{ground.structure}: entries written with data took {float(measured):.1f} list elements on average (R744SWED divided "
        f"by R744SWEC). Messages of the planned sizes take {float(expected):.1f}, weighted by puts"
    )
    # The mean of rounded sizes and the rounded mean differ by less than one element.
    if measured >= expected + 1:
        yield (
            f"{found}. The messages are larger than the planned sizes, or queues that are not in the plan have larger "
            "messages: plan with larger sizes."
        )
    else:
        yield f"{found}, which is enough."


def _elements(message_bytes: int | JsonObject) -> int:
    """Return the elements of a message of the planned mean size."""
    size = message_bytes if isinstance(message_bytes, int) else math.ceil(message_bytes["mean"])
    return elements_held(size, header_bytes=model_constant("header_bytes"))


def _general(planned: Sequence[PlannedQueue], asked: Reckoning, unknown: Sequence[str]) -> Iterator[str]:
    if not planned:
        return
    without = [each for each in planned if isinstance(each.member["message_bytes"], int)]
    if without:
        size = "mean size" if asked.sizes == "mean" else "largest size"
        yield (
            f"{_queues_counted(len(without))} planned with one size for all messages, the measured {size}: SMF records give "
            "the mean and the maximum, but no 95th percentile. If you enter one, the plan takes the spread into account."
        )
    if asked.backlog == "depth":
        yield (
            "Backlog: the highest depth that any queue manager reported in the period. An outage longer than "
            "any in the period needs a larger backlog."
        )
    else:
        yield (
            "Put rate: the average of the busiest hour of the period, times the specified outage. Within that hour, "
            "the rate may have been higher for some minutes."
        )
    if unknown:
        answer = "persistent" if asked.persistent_when_unknown else "not persistent"
        yield f"Planned as {answer}, as you specified, because it was not measured: {_some(unknown)}."
    mixed = [e.figures.queue for e in planned if e.figures.persistent_percent not in {None, 0, 100}]
    if mixed:
        yield f"Some of the messages were persistent and some were not; planned as persistent: {_some(mixed)}."


def _comment(
    qsg: str, structures: Sequence[JsonObject], asked: Reckoning, period: Period, *, begin: str = ""
) -> str:
    """Return the comment of the version, which names the measurements behind it."""
    queues = sum(len(structure["queues"]) for structure in structures)
    basis = (
        "backlog: highest depth"
        if asked.backlog == "depth"
        else "backlog: put rate of the busiest hour times "
        + (
            f"{asked.outage_minutes} minutes"
            if asked.outage_minutes is not None
            else "the outage of each queue"
        )
    )
    spread = f", p95 entered for {len(asked.p95_bytes)}" if asked.p95_bytes else ""
    text = (
        f"{begin or 'Created from measured usage'} of {qsg}, {period.first:%Y-%m-%d %H:%M} to {period.past:%Y-%m-%d %H:%M} UTC: "
        f"{queues} {'queue' if queues == 1 else 'queues'} of {', '.join(structure['name'] for structure in structures) or 'no structure'}; "
        f"{basis}; sizes: {asked.sizes}{spread}."
    )
    return text if len(text) <= LONGEST_COMMENT else text[: LONGEST_COMMENT - 3] + "..."


def _queues_counted(count: int) -> str:
    return "1 queue is" if count == 1 else f"{count} queues are"


def _some(names: Sequence[str], most: int = 5) -> str:
    """Return names for a sentence; if there are many, only the first ones and the number of the others."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def can_be_planned(structure: str) -> bool:
    """Return whether a structure is an application structure; every plan already has the others."""
    return structure not in OWN_STRUCTURES
