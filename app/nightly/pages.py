"""The pages about nightly runs. They work without scripts; a script only updates the progress bar."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy.orm import Session

from app.database.session import SessionDep
from app.database.types import LARGEST_KEY
from app.errors import JobBusy, NotFound
from app.fits.fits import Fit, fits_of_run
from app.jobs import processes
from app.jobs import repository as job_rows
from app.jobs import service as jobs
from app.jobs.service import JobProgress
from app.nightly import repository, service
from app.nightly import view as shown
from app.nightly.job_kinds import FORGET_SIMULATED
from app.nightly.lists import RUNS
from app.nightly.models import Trigger
from app.nightly.schedule import Schedule
from app.nightly.service import Run
from app.nightly.view import FindingLine, NewestNight
from app.paging import PageRequest
from app.uploads.arrivals import start_after_commit
from app.web.rendering import Page, render, root_path
from app.web.router import Router
from app.web.tables import ListView

router = Router(include_in_schema=False)

SECTION = "nights"
CONFIRMATIONS = {
    "begun": "The run was started.",
    "simulation": "Data is being simulated, read and evaluated. This takes about a minute.",
    "removing": "Simulated data is being removed.",
    "busy": "A run is in progress. No other run was started, because only one run is possible at a time.",
}


@dataclass(frozen=True, kw_only=True)
class NightlyRunsPage(Page):
    """The list of runs, or the steps to get started if there are none."""

    runs: Annotated[ListView, "One page of runs"]
    is_empty: Annotated[bool, "Whether there are no runs yet"]
    newest: Annotated[NewestNight | None, "Findings of the latest run; None before the first"]
    next_due: Annotated[datetime | None, "Time of the next scheduled run; None if no runs are scheduled"]
    is_under_way: Annotated[bool, "Whether a run is in progress or waiting"]
    removing: Annotated[
        JobProgress | None, "Progress of the removal of simulated data; None if there is none"
    ]
    has_simulated: Annotated[bool, "Whether simulated data is stored"]
    said: Annotated[str, "Confirmation of the last action"]
    missing: Annotated[str, "Missing packages and how to install them; empty if all are installed"]


@dataclass(frozen=True, kw_only=True)
class NightlyRunPage(Page):
    """One run: its progress, findings and results."""

    run: Annotated[Run, "The run, with its job"]
    trigger: Annotated[str, "The trigger of the run"]
    progress: Annotated[JobProgress, "Its progress, or its outcome"]
    findings: Annotated[tuple[FindingLine, ...], "Its findings, errors first"]
    omitted: Annotated[int, "Number of findings that are not listed"]
    fits: Annotated[tuple[Fit, ...], "Its new fits"]
    stages: Annotated[tuple[tuple[str, str], ...], "Duration of each stage"]
    duration: Annotated[str, "Duration of the run"]
    is_newest: Annotated[bool, "Whether the report belongs to this run"]
    is_simulation: Annotated[bool, "Whether the run is based on simulated data"]
    log: Annotated[str, "Output of the job"]
    said: Annotated[str, "Confirmation of the last action"]
    missing: Annotated[str, "Missing packages and how to install them; empty if all are installed"]


@router.get("/nights")
def nights(request: Request, session: SessionDep) -> Response:
    """Show the runs, newest first by default."""
    asked = RUNS.request(request)
    found = service.list_runs(session, asked.page, sort=asked.sort)
    schedule: Schedule = request.app.state.schedule
    forgetting = job_rows.last_of_kind(session, FORGET_SIMULATED)
    removal = None if forgetting is None else jobs.job_of(forgetting)
    context = NightlyRunsPage(
        title="Nightly runs",
        section=SECTION,
        runs=RUNS.view(found, asked),
        is_empty=found.total == 0,
        newest=shown.newest_night(session),
        next_due=schedule.next_due(),
        is_under_way=bool(repository.runs_under_way(session)),
        removing=shown.progress_of(removal) if removal is not None and _is_recent(session, removal) else None,
        has_simulated=repository.has_simulated(session),
        said=_said(request),
        missing=_missing(),
    )
    return render(request, "nightly/list.html", context)


@router.get("/nights.csv")
def nights_file(request: Request, session: SessionDep) -> Response:
    """Return all runs as a file."""
    asked = RUNS.file_request(request)
    return RUNS.file(service.list_runs(session, asked.page, sort=asked.sort).items)


@router.get("/nights/{run_id}")
def night(request: Request, session: SessionDep, run_id: int) -> Response:
    """Show one run."""
    run = service.get(session, _id(run_id))
    newest = service.newest(session)
    found = service.findings_of(session, run.id, limit=shown.MOST_SHOWN)
    context = NightlyRunPage(
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
    """Start a run at once."""
    return _begin(request, session, Trigger.REQUEST, "begun")


@router.post("/simulated-data")
def look_around(request: Request, session: SessionDep) -> Response:
    """Simulate data and start a nightly run over it."""
    return _begin(request, session, Trigger.SIMULATION, "simulation")


@router.post("/simulated-data/remove")
def remove_simulated(request: Request, session: SessionDep) -> Response:
    """Remove simulated data."""
    try:
        service.queue_forgetting(session)
    except JobBusy:
        return _see(request, "/nights?said=busy")
    start_after_commit(request, session)
    return _see(request, "/nights?said=removing")


def _begin(request: Request, session: SessionDep, trigger: Trigger, said: str) -> Response:
    try:
        run = service.queue(session, trigger)
    except JobBusy as error:
        at = f"/{error.number}" if error.number is not None else ""
        return _see(request, f"/nights{at}?said=busy")
    start_after_commit(request, session)
    return _see(request, f"/nights/{run.id}?said={said}")


def _is_recent(session: Session, removal: jobs.Job) -> bool:
    """Return whether to show a removal: it is in progress, or no run has been started since."""
    # The page of the list may have another order, or older runs.
    newest = service.list_runs(session, PageRequest(per_page=1)).items
    return removal.is_under_way or not newest or removal.id > newest[0].job.id


def _missing() -> str:
    return processes.WHAT_TO_DO_AT_THE_TERMINAL if processes.missing_packages() else ""


def _said(request: Request) -> str:
    return CONFIRMATIONS.get(request.query_params.get("said", ""), "")


def _id(run_id: int) -> int:
    if not 0 < run_id < LARGEST_KEY:
        message = f"There is no nightly run {run_id}."
        raise NotFound(message)
    return run_id


def _see(request: Request, path: str) -> Response:
    # 303 lets a browser that reloads the page repeat the GET, not the POST.
    return RedirectResponse(f"{root_path(request)}{path}", status_code=303)
