"""Backup and recovery of structures: the size of a backup, the log between two backups, and the recovery time.

BACKUP CFSTRUCT copies the persistent messages of a structure to the log of the queue manager that
runs it. RECOVER CFSTRUCT restores that copy and replays the log records that all queue managers have written since
then. The documented method (IBM MQ, Achieving specific recovery targets) divides the log that is written between two
backups by the rate at which logs are read; here the backup itself is read as well. IBM publishes neither rate for your
machines: both are inputs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated

from pydantic import Field, PlainSerializer, computed_field

from planner_core import tables
from planner_core.document.model import MessageSizes, PlanDocument, Queue, Structure
from planner_core.findings import Finding, finding, in_order
from planner_core.limits import limit
from planner_core.plan.evaluate import evaluate_structure, evaluate_system
from planner_core.provenance import Assumption, Basis, Explanation, Input, Step
from planner_core.questions import Absent, Explained, Label, Metavar, Number, Whole
from planner_core.sizing.demand import QueueDemand, growth_factor
from planner_core.sizing.structure_result import StructureResult
from planner_core.sizing.structure_size import Curve
from planner_core.units import KIB, MIB, ceil_fraction, floor_fraction, format_mib
from planner_core.whatif.filling_up import TenthsDown, parts_of, tenths_down
from planner_core.wire import Answer, Exact, Hidden, Omittable, Unchecked

_SECONDS_PER_MINUTE = 60
_SECONDS_PER_HOUR = 3600
_TENTHS = 10


class RecoveryQuestion(Explained):
    """Goals and rates of backup and recovery; absent parameters have the assumed or published values."""

    recovery_minutes: Annotated[
        Decimal | Absent,
        Number(highest=10**5),
        Metavar("MINUTES"),
        Label("Back within", "min", "If empty, 60, an assumption."),
    ] = Field(None, description="time within which a structure must be available again; absent: 60")
    interval_minutes: Annotated[
        Decimal | Absent,
        Number(highest=10**5),
        Metavar("MINUTES"),
        Label("Backed up every", "min", "If empty, 60, the longest that IBM advises."),
    ] = Field(None, description="interval between backups; absent: 60, the longest that IBM advises")
    log_read_mb_per_s: Annotated[
        Decimal | Absent,
        Number(lowest=1, highest=10**6),
        Metavar("MB"),
        Label("Logs are read at", "MiB/s", "If empty, 2.7, from an old IBM example. Measure your own rate."),
    ] = Field(
        None,
        description="rate at which your logs are read, in MB of 1,048,576 bytes per second; absent: 2.7, IBM's example",
    )
    backup_overhead_bytes: Annotated[
        int | Absent,
        Whole(highest=10**6),
        Metavar("BYTES"),
        Label("Message overhead", "bytes", "Of each message in a backup. If empty, 512, an assumption."),
    ] = Field(None, description="overhead of a message in a backup; absent: 512, assumed")
    fill_percent: Annotated[
        Decimal | Absent,
        Number(highest=100),
        Metavar("P"),
        Label("Backlog at the loss", "%", "If empty, 100: the entire planned backlog."),
    ] = Field(
        None,
        description="share of the planned backlog that is present when a structure is lost; absent: 100",
    )


Seconds = Annotated[Fraction, Unchecked(), PlainSerializer(ceil_fraction, return_type=int)]


@dataclass(frozen=True, slots=True)
class StructureRecovery(Answer):
    """Backup and recovery of one structure.

    Without backups there is no recovery: `not_backed_up` states the reason, and time and `meets` are null. If queues
    without a rate have an unknown log, `meets` is null unless the known part already takes too long.
    """

    name: Annotated[str, Field(alias="structure")]
    cfrm_name: str
    not_backed_up: Annotated[
        str | None, Field(description="Reason why there are no backups and no recovery; null if there are.")
    ]
    persistent_messages: int
    backup_bytes: Annotated[int, Field(description="Bytes that one BACKUP CFSTRUCT writes to the log.")]
    log_bytes_per_hour: Annotated[int, Field(description="Bytes that its persistent messages write to logs.")]
    log_bytes_between: Annotated[int, Field(description="The same for the time between two backups.")]
    recovery_s: Annotated[Seconds | None, Field(description="Null for a structure that is not backed up.")]
    meets: Annotated[
        bool | None,
        Field(
            description="Whether that is within the time allowed; null for a structure that is not backed up, or if the result depends on "
            "the log data of queues without a rate."
        ),
    ]
    interval_minutes: Annotated[
        TenthsDown | None,
        Field(
            alias="longest_interval_minutes",
            description="Longest time between backups, as computed; null if nothing is logged.",
        ),
    ]
    documented_interval_hours: Annotated[
        Annotated[
            Fraction, Unchecked(), PlainSerializer(lambda value: round(float(value), 2), return_type=float)
        ]
        | None,
        Field(description="The same by IBM's formula, which does not include the backup itself."),
    ]
    unrated_queues: Hidden[int]
    explanations: Omittable[dict[str, Explanation]]
    assumed: Annotated[
        str | None,
        Field(description="Assumption about CSQSYSAPPL, whose CFSTRUCT is not in the plan; else null."),
    ] = None

    @computed_field(
        description="How often to back it up: every hour, as IBM advises, or more often if the recovery time requires it; "
        "null if it is not backed up, or if no interval is short enough."
    )
    @property
    def back_up_every_minutes(self) -> Exact[Fraction] | None:
        """The advised time between backups [minutes]."""
        if not self.is_recoverable:
            return None
        hour = Fraction(_constant("backup_minutes"))
        if self.interval_minutes is None:
            # The known messages are not logged, so only the backup itself can take too long.
            return None if self.meets is False else hour
        # IBM advises a backup at least every hour. An interval of 0 means that none is short enough.
        return min(hour, _in_tenths(self.interval_minutes)) or None

    @computed_field
    @property
    def is_recoverable(self) -> bool:
        """True if the structure has RECOVER(YES), and CFLEVEL(3) or higher."""
        return self.not_backed_up is None


@dataclass(frozen=True, slots=True)
class RecoveryTotals(Answer):
    """Totals for all structures, if they are recovered one after another."""

    backup_bytes: int
    log_bytes_per_hour: int
    recovery_s: Seconds


@dataclass(frozen=True, slots=True)
class Recovery(Answer):
    """Backup and recovery of a plan's structures."""

    recovery_minutes: Exact[Fraction]
    interval_minutes: Exact[Fraction]
    log_read_mb_per_s: Exact[Fraction]
    backup_overhead_bytes: int
    fill_percent: Exact[Fraction]
    inputs: Hidden[tuple[Input, ...]]
    structures: Hidden[tuple[StructureRecovery, ...]]
    """The application structures of the plan."""
    system: Hidden[StructureRecovery | None]
    """CSQSYSAPPL, if the plan includes it."""
    assumptions: tuple[Assumption, ...]
    findings: tuple[Finding, ...]

    @computed_field(alias="structures")
    @property
    def all_structures(self) -> tuple[StructureRecovery, ...]:
        """The application structures, and CSQSYSAPPL if the plan includes it."""
        return self.structures if self.system is None else (*self.structures, self.system)

    @computed_field
    @property
    def totals(self) -> RecoveryTotals:
        """Totals for all structures, if they are recovered one after another."""
        return RecoveryTotals(
            backup_bytes=sum(each.backup_bytes for each in self.all_structures),
            log_bytes_per_hour=sum(each.log_bytes_per_hour for each in self.all_structures),
            recovery_s=sum((each.recovery_s or Fraction(0) for each in self.all_structures), Fraction(0)),
        )

    def lines(self) -> Iterator[str]:
        """Yield a table of backups and recovery times."""
        yield (
            f"Recovery within {float(self.recovery_minutes):g} minutes, backup every {float(self.interval_minutes):g} minutes, logs read at "
            f"{float(self.log_read_mb_per_s):g} MB per second"
        )
        yield f"{'structure':<16}{'backup':>14}{'log per hour':>14}{'log between':>14}{'recovery':>14}{'back up every':>16}  computed"
        for each in self.all_structures:
            if each.recovery_s is None:
                yield f"{each.name:<16}  {each.not_backed_up}"
                continue
            every = (
                "-" if each.back_up_every_minutes is None else f"{float(each.back_up_every_minutes):.1f} min"
            )
            yield (
                f"{each.name:<16}{format_mib(each.backup_bytes):>14}{format_mib(each.log_bytes_per_hour):>14}"
                f"{format_mib(each.log_bytes_between):>14}{float(each.recovery_s) / 60:>10.1f} min{every:>16}  {_longest(each)}"
            )
        if self.system is not None:
            yield f"{self.system.name}: {self.system.assumed}"


def _longest(each: StructureRecovery) -> str:
    """Return the longest interval between backups, rounded down as in the JSON answer."""
    if each.interval_minutes is None:
        return "not known" if each.unrated_queues else "any"
    # Zero: even the backup alone takes longer to read than recovery may take.
    return f"{tenths_down(each.interval_minutes):.1f} min" if each.interval_minutes else "none"


def longest_interval_hours(
    *, recovery_s: Fraction | int, log_read_mb_per_s: Fraction, log_mb_per_hour: Fraction | int
) -> Fraction:
    """Return the longest time between backups after which the log can still be read in time [hours].

    Args:
        recovery_s: Time in which the log must be read [s].
        log_read_mb_per_s: Rate at which it is read [MB/s].
        log_mb_per_hour: Rate at which it is written [MB/h]; above zero.

    References:
        IBM MQ, Achieving specific recovery targets: 3600 s, 2.7 MB/s and 800 MB/h give about 12 hours.

    >>> round(float(longest_interval_hours(recovery_s=3600, log_read_mb_per_s=Fraction(27, 10), log_mb_per_hour=800)), 2)
    12.15
    """
    return recovery_s * log_read_mb_per_s / log_mb_per_hour


def log_bytes_per_hour(*, messages_per_s: Fraction, message_bytes: Fraction) -> Fraction:
    """Return the log of persistent messages that are put and got [bytes/h].

    Args:
        messages_per_s: Persistent messages [1/s].
        message_bytes: Their mean size [bytes].

    References:
        IBM MQ, Achieving specific recovery targets: (1 + 1.3) KB a message, 100 a second, about 800 MB an hour.
    """
    overhead = Fraction(_constant("log_overhead_tenths_kb") * KIB, _TENTHS)
    return messages_per_s * (message_bytes + overhead) * _SECONDS_PER_HOUR


def recovery(
    document: PlanDocument, asked: RecoveryQuestion | None = None, *, curve: Curve | None = None
) -> Recovery:
    """Return backup and recovery of the application structures of a plan, and of CSQSYSAPPL.

    Args:
        document: The plan.
        asked: Recovery time, interval and rates.
        curve: The fitted curve that the document names; None for published figures.

    Raises:
        PlanRefused: No such plan can exist.
    """
    found = [evaluate_structure(document, each.name, curve=curve) for each in document.structures]
    system = evaluate_system(document, curve=curve)
    results = [each[0] for each in found if each is not None]
    return recovery_of(document, results if system is None else [*results, system], asked)


def recovery_of(
    document: PlanDocument, results: Sequence[StructureResult], asked: RecoveryQuestion | None = None
) -> Recovery:
    """Return backup and recovery of application structures and CSQSYSAPPL that are already evaluated."""
    asked = asked or RecoveryQuestion()
    settled = _Settled(asked)
    system = next((_system(each, settled) for each in results if each.role == "system"), None)
    results = [each for each in results if each.role == "application"]
    structures = tuple(_structure(document, each, settled) for each in results)
    findings = [
        each
        for result, answer in zip(results, structures, strict=True)
        for each in _findings(result, answer, settled)
    ]
    if asked.log_read_mb_per_s is None and structures:
        findings.append(
            finding(
                # IBM's rate is old: on today's storage, recovery is many times faster
                # (docs/explanation/assumptions.md).
                "LOG_RATE_ASSUMED",
                f"Logs are assumed to be read at {float(settled.read):g} MB per second, the rate in IBM's example. "
                "Measure your own rate and enter it.",
            )
        )
    return Recovery(
        recovery_minutes=settled.goal_s / _SECONDS_PER_MINUTE,
        interval_minutes=settled.interval_s / _SECONDS_PER_MINUTE,
        log_read_mb_per_s=settled.read,
        backup_overhead_bytes=settled.overhead,
        fill_percent=settled.fill * 100,
        inputs=settled.inputs,
        structures=structures,
        assumptions=tuple(_assumptions(settled, asked, system)),
        findings=in_order(findings),
        system=system,
    )


_SYSTEM_ASSUMED = (
    "The plan does not define the CFSTRUCT of CSQSYSAPPL: RECOVER(YES) is assumed, which IBM requires for group units of recovery. "
    "All its messages are counted as persistent; the log data of its queues is not known."
)


def _system(result: StructureResult, settled: _Settled) -> StructureRecovery:
    """Return backup and recovery of CSQSYSAPPL, which is recoverable: SYSTEM.QSG.UR.RESOLUTION.QUEUE has persistent messages."""
    # The plan has no rates for system queues.
    sums = _Sums(unrated_queues=len(result.queues))
    for queue in result.queues:
        sums.messages += queue.messages
        sums.data_bytes += queue.messages * _mean_of(queue)
    backup = settled.backup_bytes(sums)
    time_s = backup / (settled.read * MIB)
    return StructureRecovery(
        name=result.name,
        cfrm_name=result.cfrm_name,
        not_backed_up=None,
        persistent_messages=ceil_fraction(sums.messages * settled.fill),
        backup_bytes=ceil_fraction(backup),
        log_bytes_per_hour=0,
        log_bytes_between=0,
        recovery_s=time_s,
        meets=_meets(None, time_s, settled, sums),
        interval_minutes=None,
        documented_interval_hours=None,
        unrated_queues=sums.unrated_queues,
        explanations={} if settled.explain else None,
        assumed=_SYSTEM_ASSUMED,
    )


def _mean_of(queue: QueueDemand) -> Fraction:
    """Return the size of the messages of a system queue, which all have one size [bytes]."""
    size = queue.message_bytes
    return Fraction(size) if isinstance(size, int) else Fraction(size.mean)


def _in_tenths(minutes: Fraction) -> Fraction:
    """Return an interval rounded down, so that it still meets the recovery time."""
    return Fraction(floor_fraction(minutes * _TENTHS), _TENTHS)


def _constant(name: str) -> int:
    return tables.constants("whatif_recovery")[name].value


@dataclass(slots=True)
class _Sums:
    """Sums over the persistent queues of a structure as planned, not rounded."""

    messages: Fraction = Fraction(0)
    data_bytes: Fraction = Fraction(0)
    messages_per_s: Fraction = Fraction(0)
    data_bytes_per_s: Fraction = Fraction(0)
    unrated_queues: int = 0


class _Settled:
    """The question with its defaults filled in."""

    def __init__(self, asked: RecoveryQuestion) -> None:
        self.explain = asked.explain
        known = tables.constants("whatif_recovery")

        def taken(name: str, given: Decimal | int | None, constant: str, unit: str, per: int = 1) -> Input:
            """Return the given number, otherwise the constant, which is in units of 1/`per`."""
            if given is not None:
                return Input(name, Fraction(given), unit, Basis.GIVEN)
            found = known[constant]
            return Input(name, Fraction(found.value, per), unit, found.basis, found.source)

        goal = taken("recovery_minutes", asked.recovery_minutes, "assumed_recovery_minutes", "minutes")
        interval = taken("interval_minutes", asked.interval_minutes, "backup_minutes", "minutes")
        read = taken(
            "log_read_mb_per_s", asked.log_read_mb_per_s, "log_read_tenths_mb_per_s", "MB per second", _TENTHS
        )
        overhead = taken(
            "backup_overhead_bytes", asked.backup_overhead_bytes, "backup_message_overhead_bytes", "bytes"
        )
        ours = tables.source("project", "Backup and recovery")
        fill = Input("fill_percent", Fraction(100), "%", Basis.ASSUMED, ours)
        if asked.fill_percent is not None:
            fill = Input("fill_percent", Fraction(asked.fill_percent), "%", Basis.GIVEN)
        self.inputs = (goal, interval, read, overhead, fill)
        self.goal_s = Fraction(goal.value) * _SECONDS_PER_MINUTE
        self.interval_s = Fraction(interval.value) * _SECONDS_PER_MINUTE
        self.read = Fraction(read.value)
        self.overhead = floor_fraction(Fraction(overhead.value))
        self.fill = Fraction(fill.value) / 100

    def backup_bytes(self, sums: _Sums) -> Fraction:
        """Return the size of a backup of that backlog [bytes]."""
        return (sums.data_bytes + sums.messages * self.overhead) * self.fill


def _structure(document: PlanDocument, result: StructureResult, settled: _Settled) -> StructureRecovery:
    _, definition = parts_of(result)
    reason = _not_backed_up(definition)
    # Nothing recovers a structure without backups, so it needs no log.
    sums = _Sums() if reason else _sums(document, definition, result)
    backup = settled.backup_bytes(sums)
    per_hour = Fraction(0)
    if sums.messages_per_s:
        per_hour = log_bytes_per_hour(
            messages_per_s=sums.messages_per_s, message_bytes=sums.data_bytes_per_s / sums.messages_per_s
        )
    between = per_hour * settled.interval_s / _SECONDS_PER_HOUR
    read = settled.read * MIB
    time_s = (backup + between) / read
    left_s = settled.goal_s - backup / read
    interval = documented = None
    if per_hour:
        # Reading the backup alone may take longer than allowed.
        interval = max(Fraction(0), left_s) * read * _SECONDS_PER_MINUTE / per_hour
        documented = longest_interval_hours(
            recovery_s=settled.goal_s, log_read_mb_per_s=settled.read, log_mb_per_hour=per_hour / MIB
        )
    return StructureRecovery(
        name=result.name,
        cfrm_name=result.cfrm_name,
        not_backed_up=reason,
        persistent_messages=ceil_fraction(sums.messages * settled.fill),
        backup_bytes=ceil_fraction(backup),
        log_bytes_per_hour=ceil_fraction(per_hour),
        log_bytes_between=ceil_fraction(between),
        recovery_s=None if reason else time_s,
        meets=_meets(reason, time_s, settled, sums),
        interval_minutes=interval,
        documented_interval_hours=documented,
        unrated_queues=sums.unrated_queues,
        explanations={each.figure: each for each in (() if reason else _explained(sums, settled))}
        if settled.explain
        else None,
    )


def _not_backed_up(definition: Structure) -> str | None:
    """Return the reason why there are no backups, as a sentence."""
    lowest = limit("cflevel_recover")
    if definition.cflevel < lowest:
        return f"It is not backed up: CFLEVEL({definition.cflevel}) does not support recovery, which needs CFLEVEL({lowest})."
    if not definition.recover:
        return "It is not backed up: it has RECOVER(NO)."
    return None


def _sums(document: PlanDocument, definition: Structure, result: StructureResult) -> _Sums:
    growth = growth_factor(percent_per_year=document.growth.percent_per_year, years=document.growth.years)
    messages, unrated = 0, 0
    # Numerators by denominator, because adding thousands of fractions one by one would take longest.
    data, rates, data_rates = (defaultdict[int, int](int) for _ in range(3))
    for queue, demand in zip(definition.queues, result.queues, strict=True):
        # Only persistent messages are logged and copied by BACKUP CFSTRUCT.
        if not queue.persistent:
            continue
        sizes = queue.message_bytes
        mean = sizes.mean if isinstance(sizes, MessageSizes) else sizes
        size, size_of = mean.as_integer_ratio()
        messages += demand.messages
        data[size_of] += demand.messages * size
        puts = _puts_per_s(queue)
        if puts is None:
            unrated += 1
        else:
            rates[puts.denominator] += puts.numerator
            data_rates[puts.denominator * size_of] += puts.numerator * size
    return _Sums(
        messages=Fraction(messages),
        data_bytes=_total(data),
        messages_per_s=_total(rates) * growth,
        data_bytes_per_s=_total(data_rates) * growth,
        unrated_queues=unrated,
    )


def _total(numerators: Mapping[int, int]) -> Fraction:
    """Return the sum of fractions, given the sum of the numerators for each denominator."""
    return sum((Fraction(numerator, of) for of, numerator in numerators.items()), Fraction(0))


def _explained(sums: _Sums, settled: _Settled) -> Iterator[Explanation]:
    """Yield the explanation of each figure; intervals only if messages are logged."""
    known = tables.constants("whatif_recovery")
    goal, interval, rate, overhead, fill = settled.inputs
    logged = known["log_overhead_tenths_kb"]

    def here(name: str, value: Fraction, unit: str) -> Input:
        return Input(name, value, unit, Basis.GIVEN)

    messages = here("persistent_messages", sums.messages, "messages")
    data = here("data_bytes", sums.data_bytes, "bytes")
    per_s = here("messages_per_s", sums.messages_per_s, "messages a second")
    data_per_s = here("data_bytes_per_s", sums.data_bytes_per_s, "bytes a second")
    overhead_of_log = Input(
        "log_overhead_bytes", Fraction(logged.value * KIB, _TENTHS), "bytes", logged.basis, logged.source
    )
    ours = tables.source("project", "Backup and recovery")
    backup_formula = "(data_bytes + persistent_messages * backup_overhead_bytes) * fill_percent / 100"
    hour_formula = "(data_bytes_per_s + messages_per_s * log_overhead_bytes) * 3600"
    backup = settled.backup_bytes(sums)
    per_hour = (
        sums.data_bytes_per_s + sums.messages_per_s * Fraction(overhead_of_log.value)
    ) * _SECONDS_PER_HOUR
    between = per_hour * settled.interval_s / _SECONDS_PER_HOUR
    read = settled.read * MIB
    of_backup, of_log = Step("backup", backup_formula, backup), Step("log_an_hour", hour_formula, per_hour)
    of_read = Step("read", f"log_read_mb_per_s * {MIB}", read)
    of_between = Step("log_between", "log_an_hour * interval_minutes / 60", between)
    backup_inputs, log_inputs = (messages, data, overhead, fill), (per_s, data_per_s, overhead_of_log)
    yield Explanation(
        "/backup_bytes",
        ceil_fraction(backup),
        "bytes",
        f"ceil({backup_formula})",
        backup_inputs,
        Basis.ASSUMED,
        ours,
    )
    yield Explanation(
        "/log_bytes_per_hour",
        ceil_fraction(per_hour),
        "bytes",
        f"ceil({hour_formula})",
        log_inputs,
        logged.basis,
        logged.source,
    )
    yield Explanation(
        "/log_bytes_between",
        ceil_fraction(between),
        "bytes",
        "ceil(log_an_hour * interval_minutes / 60)",
        (*log_inputs, interval),
        logged.basis,
        logged.source,
        (of_log,),
    )
    yield Explanation(
        "/recovery_s",
        ceil_fraction((backup + between) / read),
        "seconds",
        "ceil((backup + log_between) / read)",
        (*backup_inputs, *log_inputs, interval, rate),
        Basis.ASSUMED,
        ours,
        (of_backup, of_log, of_between, of_read),
    )
    if not per_hour:
        return
    left_s = max(Fraction(0), settled.goal_s - backup / read)
    longest = left_s * read * _SECONDS_PER_MINUTE / per_hour
    yield Explanation(
        "/longest_interval_minutes",
        _in_tenths(longest),
        "minutes",
        "floor(time_left * read * 60 / log_an_hour * 10) / 10",
        (*backup_inputs, *log_inputs, goal, rate),
        Basis.ASSUMED,
        ours,
        (
            of_backup,
            of_log,
            of_read,
            Step("time_left", "max(0, recovery_minutes * 60 - backup / read)", left_s),
        ),
    )
    yield Explanation(
        "/documented_interval_hours",
        settled.goal_s * read / per_hour,
        "hours",
        "recovery_minutes * 60 * read / log_an_hour",
        (*log_inputs, goal, rate),
        known["log_read_tenths_mb_per_s"].basis,
        known["log_read_tenths_mb_per_s"].source,
        (of_log, of_read),
    )


def _meets(reason: str | None, time_s: Fraction, settled: _Settled, sums: _Sums) -> bool | None:
    """Return whether a structure recovers in time; None without backups, or if part of its log is unknown."""
    if reason is not None:
        return None
    in_time = time_s <= settled.goal_s
    # An unknown log can only add time.
    return None if in_time and sums.unrated_queues else in_time


def _puts_per_s(queue: Queue) -> Fraction | None:
    """Return the put rate of the plan, otherwise the sum of the rates measured at its queue managers."""
    if queue.put_rate_per_s is not None:
        return Fraction(queue.put_rate_per_s)
    # A queue has a backlog or a put rate, so rates of a stated backlog are those of the queue managers.
    if queue.queue_manager_rates:
        measured = queue.queue_manager_rates.values()
        return sum((Fraction(each.put_rate_per_s) for each in measured), Fraction(0))
    return None


def _assumptions(
    settled: _Settled, asked: RecoveryQuestion, system: StructureRecovery | None
) -> Iterator[Assumption]:
    place = tables.source("project", "Backup and recovery")
    if system is not None:
        yield Assumption(_SYSTEM_ASSUMED, Basis.ASSUMED, tables.source("mq_group_ur"))
    rto = tables.constants("whatif_recovery")["log_overhead_tenths_kb"]
    yield Assumption(
        "Putting and getting a persistent message writes its data and about 1.3 KB to the log.",
        rto.basis,
        rto.source,
    )
    yield Assumption(
        f"A backup contains each persistent message's data, offloaded or not, and {settled.overhead} bytes.",
        Basis.ASSUMED if asked.backup_overhead_bytes is None else Basis.GIVEN,
        place,
    )
    yield Assumption(
        "Recovery reads the backup and all logs since then, of all queue managers, at one rate; processing the data adds "
        "no time.",
        Basis.ASSUMED,
        place,
    )


def _findings(result: StructureResult, answer: StructureRecovery, settled: _Settled) -> Iterator[Finding]:
    name, at = result.name, result.pointer
    if answer.recovery_s is None:
        return
    if answer.meets is False:
        minutes = float(answer.recovery_s / _SECONDS_PER_MINUTE)
        goal = float(settled.goal_s / _SECONDS_PER_MINUTE)
        if answer.back_up_every_minutes:
            remedy = f"back it up every {float(answer.back_up_every_minutes):g} minutes"
        else:
            remedy = "no interval is short enough, because reading the backup alone takes longer. Read logs faster, or keep a smaller backlog"
        yield finding(
            "RECOVERY_TOO_SLOW",
            f"{name} takes {minutes:.1f} minutes to recover, but {goal:g} are allowed: {remedy}.",
            field=f"{at}/recover",
            structure=name,
        )
    if answer.unrated_queues:
        yield finding(
            "LOG_WITHOUT_RATE",
            f"{answer.unrated_queues} persistent queue{'s' if answer.unrated_queues > 1 else ''} of {name} "
            f"{'have' if answer.unrated_queues > 1 else 'has'} no put rate: the log data between backups is not counted. If the plan states a backlog, specify rates as queue_manager_rates.",
            field=f"{at}/queues",
            structure=name,
        )
