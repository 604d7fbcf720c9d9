"""The pages of the nights. They work by forms and links alone; a script adds the bar that moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from app.database.session import SessionDep
from app.fits.fits import Fit, fits_of_run
from app.jobs import processes
from app.jobs import repository as job_rows
from app.jobs import service as jobs
from app.nightly import service
from app.nightly import view as shown
from app.nightly.errors import NightUnderWay, RunNotFound
from app.nightly.job_kinds import FORGET_SIMULATED
from app.nightly.models import Trigger
from app.nightly.schedule import Schedule
from app.nightly.service import Run, RunPage
from app.nightly.view import FindingLine, NewestNight, RunLine, RunProgress, StageTime
from app.uploads.arrivals import start_after_commit
from app.web.paging import PageRequest
from app.web.rendering import Page, render, root_path

router = APIRouter(include_in_schema=False)

SECTION = "nights"
LARGEST_ID = 2**62
SAID = {
    "begun": "The run was begun.",
    "simulation": "Data is simulated, read and worked through; this takes about a minute.",
    "removing": "Simulated data is being removed.",
    "busy": "A run is under way. There is one at a time; nothing else was begun.",
}


@dataclass(frozen=True, kw_only=True)
class NightsPage(Page):
    """The runs, or what an empty installation says."""

    lines: Annotated[tuple[RunLine, ...], "One page of runs, the newest first"]
    found: Annotated[RunPage, "The page of the list that they are on"]
    newest: Annotated[NewestNight | None, "What the newest night found; None before the first"]
    next_due: Annotated[datetime | None, "When the next night is due; None where that is switched off"]
    is_under_way: Annotated[bool, "Whether a run works or waits"]
    removing: Annotated[RunProgress | None, "Simulated data on its way out; None where it is not"]
    has_simulated: Annotated[bool, "Whether simulated data is stored"]
    said: Annotated[str, "What has just been done"]
    missing: Annotated[str, "What to do before anything can run; empty when all is there"]


@dataclass(frozen=True, kw_only=True)
class NightPage(Page):
    """One run: how far it is, what it found, what it brought."""

    run: Annotated[Run, "The run that is shown"]
    trigger: Annotated[str, "What it was begun by"]
    progress: Annotated[RunProgress, "How far it is, or how it ended"]
    findings: Annotated[tuple[FindingLine, ...], "What it found, errors first"]
    omitted: Annotated[int, "How many findings more there are"]
    fits: Annotated[tuple[Fit, ...], "Fits that it brought"]
    stages: Annotated[tuple[StageTime, ...], "How long each stage took"]
    duration: Annotated[str, "How long all of it took"]
    is_newest: Annotated[bool, "Whether the report is of this run"]
    is_simulation: Annotated[bool, "Whether it is one over simulated data"]
    log: Annotated[str, "What the job said"]
    said: Annotated[str, "What has just been done"]
    missing: Annotated[str, "What to do before anything can run; empty when all is there"]


@router.get("/nights")
def nights(request: Request, session: SessionDep) -> Response:
    """The newest first."""
    found = service.list_runs(session, PageRequest.of_address(request))
    schedule: Schedule = request.app.state.schedule
    forgetting = job_rows.last_of_kind(session, FORGET_SIMULATED)
    removal = None if forgetting is None else jobs.shown(forgetting)
    context = NightsPage(
        title="Nights",
        section=SECTION,
        lines=tuple(shown.run_line(run) for run in found.items),
        found=found,
        newest=shown.newest_night(session),
        next_due=schedule.next_due(),
        is_under_way=any(run.job.is_under_way for run in found.items),
        removing=shown.progress_of(removal)
        if removal is not None and _is_told(removal, found.items)
        else None,
        has_simulated=service.has_simulated(session),
        said=_said(request),
        missing=_missing(),
    )
    return render(request, "nightly/list.html", context)


@router.get("/nights/{run_id}")
def night(request: Request, session: SessionDep, run_id: int) -> Response:
    """One run."""
    run = service.get(session, _id(run_id))
    newest = service.newest(session)
    found = service.findings_of(session, run.id, limit=shown.MOST_SHOWN)
    context = NightPage(
        title=f"Nightly run {run.id}",
        section=SECTION,
        run=run,
        trigger=shown.TRIGGERS[run.trigger],
        progress=shown.progress_of(run.job),
        findings=tuple(map(shown.finding_line, found)),
        omitted=run.finding_counts.total - len(found),
        fits=fits_of_run(session, run.id),
        stages=shown.stage_times(run.seconds),
        duration=shown.duration_words(run.duration),
        is_newest=newest is not None and newest.id == run.id,
        is_simulation=run.trigger == Trigger.SIMULATION,
        log=jobs.log_of(session, run.job.id),
        said=_said(request),
        missing=_missing() if run.job.is_under_way else "",
    )
    return render(request, "nightly/run.html", context)


@router.post("/nights")
def run_now(request: Request, session: SessionDep) -> Response:
    """Begin a run at once."""
    return _begin(request, session, Trigger.REQUEST, "begun")


@router.post("/simulated-data")
def look_around(request: Request, session: SessionDep) -> Response:
    """Simulate data and make a night over it."""
    return _begin(request, session, Trigger.SIMULATION, "simulation")


@router.post("/simulated-data/remove")
def remove_simulated(request: Request, session: SessionDep) -> Response:
    """Take simulated data away again."""
    try:
        service.queue_forgetting(session)
    except NightUnderWay:
        return _see(request, "/nights?said=busy")
    start_after_commit(request, session)
    return _see(request, "/nights?said=removing")


def _begin(request: Request, session: SessionDep, trigger: Trigger, said: str) -> Response:
    try:
        run = service.queue(session, trigger)
    except NightUnderWay as error:
        at = f"/{error.number}" if error.number is not None else ""
        return _see(request, f"/nights{at}?said=busy")
    start_after_commit(request, session)
    return _see(request, f"/nights/{run.id}?said={said}")


def _is_told(removal: jobs.Job, runs: Sequence[Run]) -> bool:
    """Whether a removal is still news: it is under way, failed, or nothing was begun since."""
    newest = max((run.job.id for run in runs), default=0)
    return removal.is_under_way or removal.id > newest


def _missing() -> str:
    return processes.WHAT_TO_DO_AT_THE_TERMINAL if processes.missing_packages() else ""


def _said(request: Request) -> str:
    return SAID.get(request.query_params.get("said", ""), "")


def _id(run_id: int) -> int:
    if not 0 < run_id < LARGEST_ID:
        raise RunNotFound(run_id)
    return run_id


def _see(request: Request, path: str) -> Response:
    return RedirectResponse(f"{root_path(request)}{path}", status_code=303)
