"""Backup and recovery of a plan's structures, and the job of its shared message data sets: answers, and those for people."""

from __future__ import annotations

from collections.abc import Iterator

from app.fits.kept import Curves
from app.fits.resolve import curve_of, evaluate
from planner_core.document.model import PlanDocument
from planner_core.texts.smds_job import SmdsJob, SmdsJobQuestion, smds_job
from planner_core.units import format_mib
from planner_core.whatif.filling_up import tenths_down
from planner_core.whatif.recovery import Recovery, RecoveryQuestion, StructureRecovery, recovery


def answer(document: PlanDocument, question: RecoveryQuestion, curves: Curves) -> Recovery:
    """What a backup writes, and how long recovery takes.

    Raises:
        PlanRefused: No such plan can exist.
    """
    return recovery(document, question, curve=curve_of(document, curves))


def job(document: PlanDocument, question: SmdsJobQuestion, curves: Curves) -> SmdsJob:
    """The job of the shared message data sets.

    Raises:
        PlanRefused: No such plan can exist.
    """
    return smds_job(evaluate(document, curves, compares=False), load=question.load)


def lines(found: Recovery) -> Iterator[str]:
    """The answer for people."""
    yield (
        f"Back within {float(found.recovery_minutes):g} minutes, backed up every {float(found.interval_minutes):g}, logs read at "
        f"{float(found.log_read_mb_per_s):g} MB a second"
    )
    yield f"{'structure':<16}{'backup':>14}{'log an hour':>14}{'log between':>14}{'recovery':>14}{'back up every':>16}  computed"
    for each in found.all_structures:
        if each.recovery_s is None:
            yield f"{each.name:<16}  {each.not_backed_up}"
            continue
        every = "-" if each.back_up_every_minutes is None else f"{float(each.back_up_every_minutes):.1f} min"
        yield (
            f"{each.name:<16}{format_mib(each.backup_bytes):>14}{format_mib(each.log_bytes_per_hour):>14}"
            f"{format_mib(each.log_bytes_between):>14}{float(each.recovery_s) / 60:>10.1f} min{every:>16}  {_longest(each)}"
        )
    if found.system is not None:
        yield f"{found.system.name}: {found.system.assumed}"


def _longest(each: StructureRecovery) -> str:
    """The longest interval between backups, rounded down as in the JSON answer."""
    if each.interval_minutes is None:
        return "not known" if each.unrated_queues else "any"
    return f"{tenths_down(each.interval_minutes):.1f} min" if each.interval_minutes else "none"
