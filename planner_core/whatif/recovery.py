"""Backup and recovery of structures: what a backup writes, what is logged between two, how long recovery takes.

BACKUP CFSTRUCT copies the persistent messages of a structure to the log of the queue manager that
runs it. RECOVER CFSTRUCT restores that copy and replays the logs of all queue managers since. The
documented method (IBM MQ, Achieving specific recovery targets) divides the log that is written
between two backups by the rate at which logs are read; here the backup itself is read as well.
IBM publishes neither rate for your machines: both are inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from planner_core import tables
from planner_core.demand import growth_factor
from planner_core.document import MessageSizes, PlanDocument, Queue
from planner_core.findings import Finding, finding, in_order
from planner_core.limits import limit
from planner_core.plan import StructureResult, evaluate_structure
from planner_core.provenance import Basis
from planner_core.structure_size import Curve
from planner_core.units import KIB, MIB, ceil_fraction, floor_fraction
from planner_core.whatif.filling_up import Assumption, parts_of

_SECONDS_PER_MINUTE = 60
_SECONDS_PER_HOUR = 3600
_TENTHS = 10


@dataclass(frozen=True, slots=True)
class RecoveryQuestion:
    """What is asked.

    Args:
        recovery_minutes: In how long a structure must be back [minutes].
        interval_minutes: How often it is backed up [minutes].
        log_read_mb_per_s: At what rate logs are read [MB/s, 1024-based]; None: IBM's example.
        backup_overhead_bytes: What a message takes in a backup beside its data [bytes].
        fill_percent: How much of the planned backlog is there when the structure is lost [percent].
    """

    recovery_minutes: Decimal | None = None
    interval_minutes: Decimal | None = None
    log_read_mb_per_s: Decimal | None = None
    backup_overhead_bytes: int | None = None
    fill_percent: Decimal = Decimal(100)


@dataclass(frozen=True, slots=True)
class StructureRecovery:
    """One structure: bytes, seconds, and the interval that meets the recovery time."""

    name: str
    cfrm_name: str
    is_recoverable: bool
    persistent_messages: int
    backup_bytes: int
    log_bytes_per_hour: int
    log_bytes_between: int
    recovery_s: Fraction
    meets: bool
    interval_minutes: Fraction | None
    documented_interval_hours: Fraction | None
    unrated_queues: int

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "structure": self.name,
            "cfrm_name": self.cfrm_name,
            "is_recoverable": self.is_recoverable,
            "persistent_messages": self.persistent_messages,
            "backup_bytes": self.backup_bytes,
            "log_bytes_per_hour": self.log_bytes_per_hour,
            "log_bytes_between": self.log_bytes_between,
            "recovery_s": ceil_fraction(self.recovery_s),
            "meets": self.meets,
            "longest_interval_minutes": None
            if self.interval_minutes is None
            else floor_fraction(self.interval_minutes * _TENTHS) / _TENTHS,
            "documented_interval_hours": None
            if self.documented_interval_hours is None
            else round(float(self.documented_interval_hours), 2),
        }


@dataclass(frozen=True, slots=True)
class Recovery:
    """The answer."""

    recovery_minutes: Fraction
    interval_minutes: Fraction
    log_read_mb_per_s: Fraction
    backup_overhead_bytes: int
    fill_percent: Fraction
    structures: tuple[StructureRecovery, ...]
    assumptions: tuple[Assumption, ...]
    findings: tuple[Finding, ...]

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "recovery_minutes": float(self.recovery_minutes),
            "interval_minutes": float(self.interval_minutes),
            "log_read_mb_per_s": float(self.log_read_mb_per_s),
            "backup_overhead_bytes": self.backup_overhead_bytes,
            "fill_percent": float(self.fill_percent),
            "structures": [each.as_json() for each in self.structures],
            "totals": {
                "backup_bytes": sum(each.backup_bytes for each in self.structures),
                "log_bytes_per_hour": sum(each.log_bytes_per_hour for each in self.structures),
                "recovery_s": ceil_fraction(sum((each.recovery_s for each in self.structures), Fraction(0))),
            },
            "assumptions": [each.as_json() for each in self.assumptions],
            "findings": [each.as_json() for each in self.findings],
        }


def longest_interval_hours(
    *, recovery_s: Fraction | int, log_read_mb_per_s: Fraction, log_mb_per_hour: Fraction | int
) -> Fraction:
    """How far apart backups may be so that the log since the last is read in time [hours].

    Args:
        recovery_s: In how long the log must be read [s].
        log_read_mb_per_s: Rate at which it is read [MB/s].
        log_mb_per_hour: Rate at which it is written [MB/h]; more than none.

    References:
        IBM MQ, Achieving specific recovery targets: 3600 s, 2.7 MB/s and 800 MB/h give about 12 hours.

    >>> round(float(longest_interval_hours(recovery_s=3600, log_read_mb_per_s=Fraction(27, 10), log_mb_per_hour=800)), 2)
    12.15
    """
    return recovery_s * log_read_mb_per_s / log_mb_per_hour


def log_bytes_per_hour(*, messages_per_s: Fraction, message_bytes: Fraction) -> Fraction:
    """Log written for persistent messages that are put and got [bytes/h].

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
    """Backup and recovery of the application structures of a plan.

    Args:
        document: The plan.
        asked: Recovery time, interval and rates.
        curve: The fitted curve that the document names; None for published figures.

    Raises:
        PlanRefused: No such plan can exist.
    """
    asked = asked or RecoveryQuestion()
    settled = _Settled(asked)
    found = [evaluate_structure(document, each.name, curve=curve) for each in document.structures]
    results = [each[0] for each in found if each is not None]
    structures = tuple(_structure(document, each, settled) for each in results)
    findings = [
        each
        for result, answer in zip(results, structures, strict=True)
        for each in _findings(result, answer, settled)
    ]
    if asked.log_read_mb_per_s is None and structures:
        findings.append(
            finding(
                "LOG_RATE_ASSUMED",
                f"Logs are taken to be read at {float(settled.read):g} MB a second, the rate of IBM's example: measure yours and give it.",
            )
        )
    return Recovery(
        recovery_minutes=settled.goal_s / _SECONDS_PER_MINUTE,
        interval_minutes=settled.interval_s / _SECONDS_PER_MINUTE,
        log_read_mb_per_s=settled.read,
        backup_overhead_bytes=settled.overhead,
        fill_percent=Fraction(asked.fill_percent),
        structures=structures,
        assumptions=tuple(_assumptions(settled, asked)),
        findings=in_order(findings),
    )


def _constant(name: str) -> int:
    return tables.constants("whatif_recovery")[name].value


class _Settled:
    """The question with its defaults filled in."""

    def __init__(self, asked: RecoveryQuestion) -> None:
        def minutes(given: Decimal | None, name: str) -> Fraction:
            return (Fraction(_constant(name)) if given is None else Fraction(given)) * _SECONDS_PER_MINUTE

        self.goal_s = minutes(asked.recovery_minutes, "assumed_recovery_minutes")
        self.interval_s = minutes(asked.interval_minutes, "backup_minutes")
        rate = asked.log_read_mb_per_s
        self.read = (
            Fraction(_constant("log_read_tenths_mb_per_s"), _TENTHS) if rate is None else Fraction(rate)
        )
        given = asked.backup_overhead_bytes
        self.overhead = _constant("backup_message_overhead_bytes") if given is None else given
        self.fill = Fraction(asked.fill_percent) / 100


def _structure(document: PlanDocument, result: StructureResult, settled: _Settled) -> StructureRecovery:
    _, definition = parts_of(result)
    growth = growth_factor(percent_per_year=document.growth.percent_per_year, years=document.growth.years)
    is_recoverable = definition.recover and definition.cflevel >= limit("cflevel_recover")
    backup, per_hour, messages, unrated = Fraction(0), Fraction(0), Fraction(0), 0
    for queue, demand in zip(definition.queues, result.queues, strict=True):
        if not queue.persistent or not is_recoverable:
            continue
        held, size = demand.messages * settled.fill, _mean_bytes(queue)
        messages += held
        backup += held * (size + settled.overhead)
        if queue.put_rate_per_s is None:
            unrated += 1
        else:
            per_hour += log_bytes_per_hour(
                messages_per_s=Fraction(queue.put_rate_per_s) * growth, message_bytes=size
            )
    between = per_hour * settled.interval_s / _SECONDS_PER_HOUR
    read = settled.read * MIB
    time_s = (backup + between) / read
    left_s = settled.goal_s - backup / read
    interval = None
    if per_hour:
        interval = max(Fraction(0), left_s) * read * _SECONDS_PER_MINUTE / per_hour
    return StructureRecovery(
        name=result.name,
        cfrm_name=result.cfrm_name,
        is_recoverable=is_recoverable,
        persistent_messages=ceil_fraction(messages),
        backup_bytes=ceil_fraction(backup),
        log_bytes_per_hour=ceil_fraction(per_hour),
        log_bytes_between=ceil_fraction(between),
        recovery_s=time_s,
        meets=time_s <= settled.goal_s,
        interval_minutes=interval,
        documented_interval_hours=longest_interval_hours(
            recovery_s=settled.goal_s, log_read_mb_per_s=settled.read, log_mb_per_hour=per_hour / MIB
        )
        if per_hour
        else None,
        unrated_queues=unrated,
    )


def _mean_bytes(queue: Queue) -> Fraction:
    sizes = queue.message_bytes
    return Fraction(sizes.mean if isinstance(sizes, MessageSizes) else sizes)


def _assumptions(settled: _Settled, asked: RecoveryQuestion) -> Iterator[Assumption]:
    place = str(tables.source("project", "Backup and recovery"))
    rto = tables.constants("whatif_recovery")["log_overhead_tenths_kb"]
    yield Assumption(
        "A persistent message that is put and got takes its data and about 1.3 KB of log.",
        rto.basis,
        str(rto.source),
    )
    yield Assumption(
        f"A backup takes each persistent message's data, offloaded or not, and {settled.overhead} bytes.",
        Basis.ASSUMED if asked.backup_overhead_bytes is None else Basis.GIVEN,
        place,
    )
    yield Assumption(
        "Recovery reads the backup and all of the log since, of all queue managers, at one rate; what it does with it takes no time of "
        "its own.",
        Basis.ASSUMED,
        place,
    )


def _findings(result: StructureResult, answer: StructureRecovery, settled: _Settled) -> Iterator[Finding]:
    name, at = result.name, result.pointer
    if not answer.is_recoverable:
        return
    if not answer.meets:
        minutes = float(answer.recovery_s / _SECONDS_PER_MINUTE)
        goal = float(settled.goal_s / _SECONDS_PER_MINUTE)
        if answer.interval_minutes:
            remedy = (
                f"back it up every {floor_fraction(answer.interval_minutes * _TENTHS) / _TENTHS:g} minutes"
            )
        else:
            remedy = "no interval is short enough, for the backup alone takes longer to read. Read logs faster, or hold less"
        yield finding(
            "RECOVERY_TOO_SLOW",
            f"{name} takes {minutes:.1f} minutes to recover, and may take {goal:g}: {remedy}.",
            field=f"{at}/recover",
            structure=name,
        )
    if answer.unrated_queues:
        yield finding(
            "LOG_WITHOUT_RATE",
            f"{answer.unrated_queues} persistent queue{'s' if answer.unrated_queues > 1 else ''} of {name} give"
            f"{'' if answer.unrated_queues > 1 else 's'} no put rate: what {'they log' if answer.unrated_queues > 1 else 'it logs'} "
            "between backups is left out.",
            field=f"{at}/queues",
            structure=name,
        )
