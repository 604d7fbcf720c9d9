"""Nightly runs arranged for pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import quote

from sqlalchemy.orm import Session

from app.jobs.models import JobState
from app.jobs.service import Job, JobProgress, stage_title
from app.nightly import service
from app.nightly.job_kinds import STAGES
from app.nightly.models import Trigger
from app.nightly.service import SeverityCounts
from app.web.rendering import own_page
from planner_core.contracts.nightly import NightlyFinding
from planner_core.findings import SEVERITIES
from planner_core.health import health_codes
from planner_core.provenance import Source

STATES: Mapping[JobState, str] = {
    JobState.QUEUED: "waiting",
    JobState.RUNNING: "in progress",
    JobState.ASKS: "failed",
    JobState.DONE: "done",
    JobState.FAILED: "failed",
}
TRIGGERS: Mapping[Trigger, str] = {
    Trigger.SCHEDULE: "schedule",
    Trigger.REQUEST: "run now",
    Trigger.COMMAND: "cfplan nightly",
    Trigger.SIMULATION: "simulated data",
}
MOST_ON_OVERVIEW = 3
"""Maximum number of findings of the latest run on the overview; a link leads to the others."""
MOST_SHOWN = 500
"""Maximum number of findings on the page of a run; the REST interface lists all of them."""
THOUSAND = 1_000


@dataclass(frozen=True, slots=True)
class FindingLine:
    """A finding with its links."""

    code: str
    severity: str
    message: str
    source: str
    source_href: str
    """Path of the source if it is a page of this project; otherwise empty."""
    structure: str
    href: str
    """Path of the page about its structure that has its figures; empty if it is not about a structure."""
    about: str
    """Path of the description of its code."""
    is_simulated: bool
    source_url: str = ""
    """Address of a source outside this project; otherwise empty."""
    page: str = "Forecast"
    """The name of the page at `href`."""


@dataclass(frozen=True, slots=True)
class NewestNight:
    """Findings of the newest run, for the overview and the list of runs."""

    run_id: int
    day: date
    first: tuple[FindingLine, ...]
    total: int
    counts: str
    """Numbers of findings, such as `1 error, 3 warnings`; empty if there are none."""


def newest_night(session: Session, *, most: int = MOST_ON_OVERVIEW) -> NewestNight | None:
    """Return findings of the newest run; None before the first run."""
    run = service.newest(session)
    if run is None or run.stored_at is None:
        return None
    found = service.findings_of(session, run.id, limit=most)
    return NewestNight(
        run_id=run.id,
        day=run.stored_at.date(),
        first=tuple(map(finding_line, found)),
        total=run.finding_counts.total,
        counts=counts_of(run.finding_counts),
    )


def finding_line(found: NightlyFinding) -> FindingLine:
    """Return a finding with its links."""
    is_health = found.code in health_codes()
    href = ""
    if found.qsg and found.structure:
        at = f"{quote(found.qsg, '')}/{quote(found.structure, '')}"
        href = f"/usage/{at}#h-health" if is_health else f"/forecasts/{at}"
    source, source_url = apart(found.source)
    return FindingLine(
        code=found.code,
        severity=found.severity,
        message=found.message,
        source=source,
        source_url=source_url,
        source_href=own_page_of(found.source),
        structure=found.structure or "",
        href=href,
        page="Health" if is_health else "Forecast",
        about="/docs/operations/nightly#findings",
        is_simulated=found.is_simulated,
    )


def apart(source: str) -> tuple[str, str]:
    """Split a source into its text and its address, which is in parentheses at the end.

    >>> apart("IBM MQ, reason code 2192 (https://example.org/2192)"), apart("IBM MQ, Offload rules")
    (('IBM MQ, reason code 2192', 'https://example.org/2192'), ('IBM MQ, Offload rules', ''))
    """
    words, mark, address = source.rpartition(" (https://")
    return (words, f"https://{address.removesuffix(')')}") if mark else (source, "")


def own_page_of(source: str) -> str:
    """Return the path of a source that is a page of this project, otherwise an empty text.

    >>> own_page_of("cfplan, docs/explanation/assumptions.md, The night"), own_page_of("IBM MQ, Offload rules")
    ('/docs/explanation/assumptions/the-night', '')
    """
    document, _, section = source.partition(".md, ")
    return own_page(Source(f"{document}.md", section, "")) if section else ""


def counts_of(findings: SeverityCounts) -> str:
    """Return the number of findings of each severity as text.

    >>> counts_of(SeverityCounts(warning=1, info=3))
    '1 warning, 3 remarks'
    """
    names = {"error": "error", "warning": "warning", "info": "remark"}
    parts = [(getattr(findings, severity), names[severity]) for severity in SEVERITIES]
    return ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in parts if count)


def duration_words(duration: timedelta | None) -> str:
    """Return a duration as text, or an empty text for None.

    >>> duration_words(timedelta(seconds=7.21)), duration_words(timedelta(seconds=754)), duration_words(None)
    ('7.2 s', '12 min 34 s', '')
    """
    if duration is None:
        return ""
    seconds = duration.total_seconds()
    if seconds < 60:  # noqa: PLR2004 - a minute
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def progress_of(job: Job) -> JobProgress:
    """Return the progress of a job, or its outcome."""
    is_known = job.state == JobState.RUNNING and job.total > 0
    words = STATES[job.state]
    if job.state == JobState.RUNNING and stage_title(job):
        words = stage_title(job)
        if is_known and job.total > 1:
            # A share, because stages count different things: bytes, days and tasks.
            words += f": {100 * min(job.done, job.total) // job.total} %"
    value = THOUSAND * min(job.done, job.total) // job.total if is_known else -1
    return JobProgress(
        value=THOUSAND if job.state == JobState.DONE else 0 if job.state == JobState.FAILED else value,
        words=words,
        sentence=job.sentence,
        is_under_way=job.is_under_way,
        is_failed=job.state == JobState.FAILED,
        events=f"/api/v1/jobs/{job.id}/events" if job.is_under_way else "",
    )


def stage_times(seconds: Mapping[str, float]) -> tuple[tuple[str, str], ...]:
    """Return the durations of the stages in their order."""
    order = {name: number for number, name in enumerate(STAGES)}
    # Runs of earlier releases may have stages that this one does not know.
    known: Sequence[str] = sorted(seconds, key=lambda name: order.get(name, len(order)))
    return tuple((STAGES.get(name, name), f"{seconds[name]:.1f}") for name in known)
