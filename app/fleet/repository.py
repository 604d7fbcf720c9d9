"""The SQL of the overview. Each function executes a statement for every few hundred structures or plans, not one for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from app.database.portions import portions
from app.database.types import AnyRow
from app.jobs.models import JobRun, JobState
from app.nightly.models import DailyStructureUsage, NightlyRun
from app.plans.models import Plan, PlanVersion
from app.uploads.models import Upload
from app.usage.models import HourlyStructureUsage, StoredMeasuredStructure
from app.usage.repository import StructureKey

MOST_STRUCTURES = 20_000
"""Maximum number of measured structures on the overview."""


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
    kept, hours = StoredMeasuredStructure, HourlyStructureUsage
    # Reading the index backwards finds the hour at once where records of RMF are uploaded.
    last = (
        select(hours.hour)
        .where(
            hours.qsg == kept.qsg,
            hours.structure == kept.structure,
            hours.coupling_facilities.is_not(None),
        )
        .order_by(hours.hour.desc())
        .limit(1)
        .scalar_subquery()
    )
    # The limit keeps SQLite from merging the two queries, which would search the last hour again for every hour.
    found = select(kept.qsg, kept.structure, last.label("hour")).limit(MOST_STRUCTURES).subquery()
    query = select(
        hours.qsg, hours.structure, hours.coupling_facilities, hours.is_duplexed, hours.size_bytes
    ).join(
        found,
        and_(hours.qsg == found.c.qsg, hours.structure == found.c.structure, hours.hour == found.c.hour),
    )
    return {
        (row.qsg, row.structure): LastPlace(row.coupling_facilities, row.is_duplexed, row.size_bytes)
        for row in session.execute(query)
    }


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
    query = select(PlanVersion.plan_id, PlanVersion.number, PlanVersion.document, PlanVersion.result)
    for some in portions(versions):
        # Databases search the index for each of these conditions, but not for a list of pairs.
        of_versions = (
            and_(PlanVersion.plan_id == plan, PlanVersion.number == number) for plan, number in some
        )
        yield from session.execute(query.where(or_(*of_versions)))


def days_of(
    session: Session, structures: Iterable[StructureKey], *, since: date
) -> Mapping[StructureKey, list[AnyRow]]:
    """Return the days of these structures from a day on, in order, with the figures of both pools."""
    usage = DailyStructureUsage
    query = select(
        usage.qsg, usage.structure, usage.day, usage.entries_peak, usage.entries_total, usage.elements_peak,
        usage.elements_total, usage.full_count,
    )  # fmt: skip
    found: dict[StructureKey, list[AnyRow]] = {}
    for some in portions(structures):
        of_some = or_(
            *(and_(usage.qsg == qsg, usage.structure == name, usage.day >= since) for qsg, name in some)
        )
        for row in session.execute(query.where(of_some).order_by(usage.qsg, usage.structure, usage.day)):
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
