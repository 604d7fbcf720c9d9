"""Measured rates: puts and gets by queue manager from sets of event messages, written into a plan document.

A set has the puts and gets of each queue manager since the previous event, and the elapsed time. While a queue fills,
up to Queue Depth High or Queue Full, they give the rates at which it fills, from which lead times follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal, NoReturn

from pydantic import Field, computed_field

from planner_core.depth_events.model import Event
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.findings import Finding, finding
from planner_core.questions import Question
from planner_core.wire import Answer, Exact, Hidden, plain

WHAT = "The answer with sets"
Using = Literal["filling", "all"]
MOST_SETS = 10_000
MOST_MEMBERS = 64
_FILLING = (Event.HIGH.reason, Event.FULL.reason)
_LARGEST = 10**12
_SHOWN = 48
_PER_S = 10**6
"""The precision of rates: a millionth of a message per second."""


class RatesQuestion(Question):
    """The choice of the sets whose rates are used."""

    using: Using = Field(
        "filling",
        description="filling (default): the newest set in which a queue filled; all: all sets of a queue",
    )


@dataclass(frozen=True, slots=True)
class MeasuredRates(Answer):
    """The measured rates of one queue."""

    queue: str
    sets: Annotated[int, Field(description="Number of sets on which the rates are based.")]
    put_rate_per_s: Exact[Fraction]
    get_rate_per_s: Exact[Fraction]
    queue_managers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SkippedQueue(Answer):
    """A queue of the sets that gets no measured rates in the plan, and the reason."""

    queue: str
    reason: str


@dataclass(frozen=True, slots=True)
class PlanWithRates(Answer):
    """A plan document with measured rates."""

    text: Hidden[dict[str, Any]]
    """The document with only the given fields, in their original order."""
    plan: Hidden[PlanDocument]
    taken: tuple[MeasuredRates, ...]
    passed_over: tuple[SkippedQueue, ...]
    findings: tuple[Finding, ...]

    @computed_field
    @property
    def document(self) -> dict[str, object]:
        """The plan document, with all defaults."""
        return self.plan.model_dump(mode="json")


@dataclass(frozen=True, slots=True)
class _Set:
    queue: str
    reason: int
    members: tuple[tuple[str, int, int, Fraction | None], ...]
    missing: tuple[str, ...] = ()
    """Members without a message, except those that were probably not active."""
    unreconciled: int = 0

    @property
    def has_rates(self) -> bool:
        """Return whether the time of every member with puts or gets is known."""
        return any(seconds for *_, seconds in self.members) and all(
            seconds or not (puts or gets) for _, puts, gets, seconds in self.members
        )


def with_rates(document: object, sets: object, *, using: Using = "filling") -> PlanWithRates:
    """Write measured rates into a plan document.

    Args:
        document: The plan document, parsed.
        sets: The answer of `cfplan events read --json`, or its member `sets`, parsed.
        using: `filling`: the newest set of each queue that ends in Queue Depth High or Queue Full; `all`: all of them.
            Sets in which a member put or got over an unknown time are skipped.

    Raises:
        DocumentInvalid: The document is invalid, before or after the change.
        InputInvalid: The sets cannot be read.
    """
    plan = read_object(document)
    # The reader accepts nothing else.
    given: dict[str, Any] = document  # type: ignore[assignment]
    changed: dict[tuple[int, int], dict[str, Any]] = {}
    places = {
        queue.name: (at, number)
        for at, structure in enumerate(plan.structures)
        for number, queue in enumerate(structure.queues)
    }
    taken: list[MeasuredRates] = []
    passed: list[SkippedQueue] = []
    findings: list[Finding] = []
    for queue, found in _by_queue(_sets(sets)).items():
        if queue not in places:
            passed.append(SkippedQueue(queue, "the plan does not contain this queue"))
            continue
        used = _used(found, using)
        rates = _rates(used)
        strange = sorted(set(rates) - set(_members(plan)) if isinstance(plan.queue_managers, list) else ())
        if strange:
            passed.append(SkippedQueue(queue, f"{strange[0]} is not among the queue_managers of the plan"))
        elif not rates:
            passed.append(SkippedQueue(queue, _why_none(found, using)))
        else:
            at, number = places[queue]
            changed[at, number] = _with_measured(given["structures"][at]["queues"][number], rates)
            taken.append(
                MeasuredRates(
                    queue,
                    len(used),
                    sum((put for put, _ in rates.values()), Fraction(0)),
                    sum((get for _, get in rates.values()), Fraction(0)),
                    tuple(rates),
                )
            )
            pointer = f"/structures/{at}/queues/{number}/queue_manager_rates"
            findings += _of_what_is_missing(queue, used, pointer, plan.structures[at].name)
    made = _with_queues(given, changed)
    # Without rates the document is the same, and reading it again would give the same plan.
    return PlanWithRates(
        made, read_object(made) if changed else plan, tuple(taken), tuple(passed), tuple(findings)
    )


def _with_queues(document: Mapping[str, Any], changed: Mapping[tuple[int, int], object]) -> dict[str, Any]:
    """Return a document with other queues at these places; it shares everything else with the given one."""
    if not changed:
        return {**document}
    structures = list(document["structures"])
    for at in {at for at, _ in changed}:
        queues = list(structures[at]["queues"])
        for (structure, number), queue in changed.items():
            if structure == at:
                queues[number] = queue
        structures[at] = {**structures[at], "queues": queues}
    return {**document, "structures": structures}


def _members(plan: PlanDocument) -> Sequence[str]:
    return plan.queue_managers if isinstance(plan.queue_managers, list) else ()


def _by_queue(sets: Sequence[_Set]) -> Mapping[str, list[_Set]]:
    found: dict[str, list[_Set]] = {}
    for each in sets:
        found.setdefault(each.queue, []).append(each)
    return found


def _used(found: Sequence[_Set], using: Using) -> Sequence[_Set]:
    timed = [each for each in found if each.has_rates]
    if using == "all":
        return timed
    return [each for each in timed if each.reason in _FILLING][-1:]


def _why_none(found: Sequence[_Set], using: Using) -> str:
    filling = [each for each in found if using == "all" or each.reason in _FILLING]
    if not filling:
        return "no set ends with Queue Depth High or Queue Full"
    if any(seconds for each in filling for *_, seconds in each.members):
        return "no set has the times of all members that put or got"
    return "no set has a time"


def _of_what_is_missing(queue: str, used: Sequence[_Set], pointer: str, structure: str) -> Iterator[Finding]:
    """Report gaps in the sets, which lead to gaps in the rates."""
    silent = sorted({name for each in used for name in each.missing})
    gap = sum(abs(each.unreconciled) for each in used)
    if not silent and not gap:
        return
    of_whom = f" the puts and gets of {', '.join(silent)}" if silent else ""
    of_what = (
        f" {gap} {'put or get' if gap == 1 else 'puts or gets'} that are not in any message" if gap else ""
    )
    yield finding(
        "MEASURED_RATES_INCOMPLETE",
        f"{queue}: the rates do not include{of_whom}{', and' if silent and gap else ''}{of_what}. The queue may fill faster, and lead "
        "times may be shorter.",
        field=pointer,
        structure=structure,
    )


def _rates(used: Sequence[_Set]) -> dict[str, tuple[Fraction, Fraction]]:
    """Return puts and gets per second of each queue manager, over the sets that state its elapsed time."""
    # Sums of counts and of times, so that a long set weighs more than a short one.
    totals: dict[str, tuple[int, int, Fraction]] = {}
    for each in used:
        for name, puts, gets, seconds in each.members:
            if seconds:
                before = totals.get(name, (0, 0, Fraction(0)))
                totals[name] = (before[0] + puts, before[1] + gets, before[2] + seconds)
    return {name: (_kept(puts, s), _kept(gets, s)) for name, (puts, gets, s) in totals.items()}


def _kept(messages: int, seconds: Fraction) -> Fraction:
    return Fraction(round(messages * _PER_S / seconds), _PER_S)


def _with_measured(
    given: Mapping[str, Any], rates: Mapping[str, tuple[Fraction, Fraction]]
) -> dict[str, Any]:
    """Return a queue of a document with rates."""
    queue = {**given}
    # A document may not have both these and the rates of the queue as a whole.
    if queue.pop("get_rate_per_s", None) is not None and queue.get("outage_minutes") is None:
        queue.pop("put_rate_per_s", None)
    queue["queue_manager_rates"] = {
        name: {"put_rate_per_s": plain(put), "get_rate_per_s": plain(get)}
        for name, (put, get) in rates.items()
    }
    return queue


# ---- reading the sets -------------------------------------------------------------------------------------------------


def _sets(answer: object) -> Sequence[_Set]:
    at = ""
    if isinstance(answer, Mapping):
        at, answer = "/sets", answer.get("sets")
    if not isinstance(answer, list):
        _refuse(at, "is required: the list `sets` of `cfplan events read --json`")
    if len(answer) > MOST_SETS:
        _refuse(at, f"must not have more than {MOST_SETS} sets, but has {len(answer)}")
    return [_set(each, f"{at}/{index}") for index, each in enumerate(answer)]


def _set(each: object, at: str) -> _Set:
    if not isinstance(each, Mapping):
        _refuse(at, "must be an object")
    queue, reason, members = each.get("queue"), each.get("reason"), each.get("members")
    if not isinstance(queue, str) or not 1 <= len(queue) <= _SHOWN:
        _refuse(f"{at}/queue", "must be the name of a queue")
    if not isinstance(reason, int) or isinstance(reason, bool):
        _refuse(f"{at}/reason", "must be a reason code")
    if not isinstance(members, list) or len(members) > MOST_MEMBERS:
        _refuse(f"{at}/members", f"must be a list of at most {MOST_MEMBERS} members")
    return _Set(queue, reason, tuple(_read_members(members, at)), _missing(each), _unreconciled(each))


def _missing(each: Mapping[str, object]) -> tuple[str, ...]:
    """Return the members without a message."""
    # An answer without this member is treated as complete.
    found = each.get("missing")
    if not isinstance(found, list):
        return ()
    named = (
        one for one in found[:MOST_MEMBERS] if isinstance(one, Mapping) and one.get("cause") != "not_active"
    )
    return tuple(str(one.get("queue_manager"))[:_SHOWN] for one in named)


def _unreconciled(each: Mapping[str, object]) -> int:
    """Return the number of messages that the set does not account for."""
    # After an assumed depth, the difference may as well be messages that were on the queue before.
    found = each.get("reconciliation")
    if not isinstance(found, Mapping) or found.get("depth_before_basis") == "assumed":
        return 0
    gap = found.get("unreconciled")
    return gap if isinstance(gap, int) and not isinstance(gap, bool) and abs(gap) <= _LARGEST else 0


def _read_members(members: Sequence[object], at: str) -> Iterator[tuple[str, int, int, Fraction | None]]:
    for index, member in enumerate(members):
        here = f"{at}/members/{index}"
        if not isinstance(member, Mapping):
            _refuse(here, "must be an object")
        name = member.get("queue_manager")
        if not isinstance(name, str) or not 1 <= len(name) <= _SHOWN:
            _refuse(f"{here}/queue_manager", "must be the name of a queue manager")
        puts, gets = (_count(member.get(key), f"{here}/{key}") for key in ("msg_enq_count", "msg_deq_count"))
        seconds = _number(member.get("rate_seconds"), f"{here}/rate_seconds")
        if not seconds:  # An idle queue manager has no rate of its own, but its time counts.
            seconds = _number(member.get("time_since_reset_s"), f"{here}/time_since_reset_s")
        yield name, puts, gets, seconds


def _count(value: object, at: str) -> int:
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST:
        _refuse(at, "must be a whole number of messages")
    return value


def _number(value: object, at: str) -> Fraction | None:
    if value is None:
        return None
    try:
        number = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        number = Fraction(-1)
    if isinstance(value, bool) or not 0 <= number <= _LARGEST:
        _refuse(at, "must be a number of seconds")
    return number


def _refuse(at: str, message: str) -> NoReturn:
    raise InputInvalid(WHAT, (FieldProblem(at, message),))
