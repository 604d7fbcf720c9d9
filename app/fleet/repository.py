"""The SQL of the overview. Each function executes a fixed number of statements, however many structures there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from sqlalchemy import func, or_, select, tuple_
from sqlalchemy.orm import Session, aliased

from app.database.types import AnyRow
from app.jobs.models import JobRun, JobState
from app.nightly.models import DailyStructureUsage, NightlyRun
from app.nightly.repository import portions
from app.plans.models import Plan, PlanVersion
from app.uploads.models import Upload
from app.usage.models import HourlyStructureUsage, StoredMeasuredStructure

StructureKey = tuple[str, str]


def is_anything_stored(session: Session) -> bool:
    """Return whether there is a plan, an upload, a measured structure or a nightly run."""
    stored = or_(
        select(Plan.id).where(Plan.deleted_at.is_(None)).exists(),
        select(Upload.id).exists(),
        select(StoredMeasuredStructure.qsg).exists(),
        select(NightlyRun.id).exists(),
    )
    return bool(session.scalar(select(stored)))


class LastPlace(NamedTuple):
    """The coupling facilities of a structure as last observed, the primary first."""

    coupling_facilities: str
    is_duplexed: bool | None
    size_bytes: int | None


def last_places(session: Session) -> Mapping[StructureKey, LastPlace]:
    """Return the last observed coupling facilities of each measured structure."""
    kept, hours, known = StoredMeasuredStructure, HourlyStructureUsage, aliased(HourlyStructureUsage)
    # Reading the index backwards finds the hour at once where records of RMF are uploaded.
    last = (
        select(known.hour)
        .where(
            known.qsg == kept.qsg,
            known.structure == kept.structure,
            known.coupling_facilities.is_not(None),
        )
        .order_by(known.hour.desc())
        .limit(1)
        .correlate(kept)
        .scalar_subquery()
    )
    query = select(
        kept.qsg, kept.structure, hours.coupling_facilities, hours.is_duplexed, hours.size_bytes
    ).join(hours, (hours.qsg == kept.qsg) & (hours.structure == kept.structure) & (hours.hour == last))
    return {(row[0], row[1]): LastPlace(*row[2:]) for row in session.execute(query)}


def latest_versions(session: Session) -> Sequence[AnyRow]:
    """Return the figures of the latest version of every plan, most recently saved first, without their contents."""
    query = (
        select(Plan.id, Plan.name, Plan.latest, PlanVersion.qsg, PlanVersion.errors, PlanVersion.warnings)
        .join(PlanVersion, (PlanVersion.plan_id == Plan.id) & (PlanVersion.number == Plan.latest))
        .where(Plan.deleted_at.is_(None))
    )
    return session.execute(query.order_by(Plan.updated_at.desc(), Plan.id.desc())).all()


def contents(session: Session, versions: Iterable[tuple[int, int]]) -> Iterator[AnyRow]:
    """Yield plan, number, document and result of these versions."""
    of_version = tuple_(PlanVersion.plan_id, PlanVersion.number)
    query = select(PlanVersion.plan_id, PlanVersion.number, PlanVersion.document, PlanVersion.result)
    for some in portions(versions):
        yield from session.execute(query.where(of_version.in_(some)))


def days_of(
    session: Session, structures: Iterable[StructureKey], *, since: date
) -> Mapping[StructureKey, list[AnyRow]]:
    """Return the days of these structures from a day on, in order, with the peaks and totals of both pools."""
    usage = DailyStructureUsage
    query = select(
        usage.qsg, usage.structure, usage.day, usage.entries_peak, usage.entries_total, usage.elements_peak,
        usage.elements_total,
    )  # fmt: skip
    found: dict[StructureKey, list[AnyRow]] = {}
    for some in portions(structures):
        of_some = query.where(tuple_(usage.qsg, usage.structure).in_(some), usage.day >= since)
        for row in session.execute(of_some.order_by(usage.qsg, usage.structure, usage.day)):
            found.setdefault((row.qsg, row.structure), []).append(row)
    return found


def last_day(session: Session) -> date | None:
    """Return the last day with daily peaks."""
    return session.scalar(select(func.max(DailyStructureUsage.day)))


def uploads_in(session: Session, states: Sequence[JobState], *, limit: int) -> Sequence[AnyRow]:
    """Return uploads whose last job is in one of these states, oldest first: number, file name, state and sentence."""
    last = (
        select(func.max(JobRun.id).label("job_id"))
        .where(JobRun.upload_id.is_not(None))
        .group_by(JobRun.upload_id)
        .subquery()
    )
    query: Any = (
        select(Upload.id, Upload.filename, JobRun.state, JobRun.sentence)
        .join(JobRun, JobRun.upload_id == Upload.id)
        .join(last, last.c.job_id == JobRun.id)
        .where(JobRun.state.in_(states))
    )
    found: Sequence[AnyRow] = session.execute(query.order_by(Upload.id).limit(limit)).all()
    return found
