"""The commands `cfplan nightly`, `cfplan curves` and `cfplan forecasts`, for the terminal and for cron.

They work on the same database as the service. Each command imports its modules when it runs, because importing them is
slow.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from app.command_line import Meter, add_json, commands_of, write

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from app.database.engine import Database
    from app.fits.fits import Fit
    from app.forecasts.service import StructureForecast
    from app.jobs.service import Job
    from app.nightly.keeper import NightKeeper
    from app.nightly.models import NightlyRun
    from app.nightly.service import RunDetails
    from app.paging import ResultPage
    from app.settings import Settings
    from planner_core.contracts.fits import Estimate
    from planner_core.wire import Answer

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_BUSY = 0, 1, 2, 3
"""Exit code 1: the run failed, and its message gives the reason. 3: another run is in progress, so none was started."""
Listed = TypeVar("Listed", bound="Answer")
NO_LIMIT = 1_000_000
"""A limit on concurrent jobs that is never reached: a run at the terminal does not wait for uploads that are being
read.
"""
LAST_LINES = 20
"""Number of log lines that are printed for a failed run."""
ERROR_LINE = re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (ERROR|FATAL) ")
"""Matches errors in the format of Spark; all other output of Spark and Java goes to the log only."""


def add_nightly(nightly: argparse.ArgumentParser) -> None:
    """Add the options of `cfplan nightly`."""
    nightly.set_defaults(run=_nightly)
    add_json(nightly)


def add_curves(curves: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan curves`."""
    from app.fits.points_cli import ADVISE, FIT_POINTS, add_advise, add_fit_points

    command = commands_of(curves, "verb")
    command("list", "List the curves fitted to data of this site, newest first.", _add_list_of_curves)
    command("fit-points", FIT_POINTS, add_fit_points)
    command("advise", ADVISE, add_advise)


def add_forecasts(forecasts: argparse.ArgumentParser) -> None:
    """Add the verb of `cfplan forecasts`."""
    commands_of(forecasts, "verb")("list", forecasts.description or "", _add_list_of_forecasts)


def _add_list_of_curves(listed: argparse.ArgumentParser) -> None:
    listed.set_defaults(run=_curves)
    add_json(listed, "print the answer as a JSON array")
    listed.add_argument(
        "--current",
        action="store_true",
        help="only the latest accepted curve of each coupling facility and level",
    )


def _add_list_of_forecasts(listed: argparse.ArgumentParser) -> None:
    listed.set_defaults(run=_forecasts)
    add_json(listed, "print the answer as a JSON array")


# ---- nightly ---------------------------------------------------------------------------------------------------------


def _nightly(arguments: argparse.Namespace) -> int:
    from app.database.engine import open_database
    from app.errors import JobBusy
    from app.jobs import processes
    from app.nightly import service
    from planner_core.errors import PlannerError

    with open_database() as (database, settings):
        if processes.missing_packages():
            raise PlannerError(processes.WHAT_TO_DO_AT_THE_TERMINAL)
        meter, log = Meter(), deque[str](maxlen=LAST_LINES)
        try:
            run_id = _run(database, settings, meter, log)
        except JobBusy as error:
            _say(str(error))
            return EXIT_BUSY
        finally:
            meter.clear()
        with database.session(writes=False) as session:
            run = service.details(session, run_id)
            # Cron mails this output, so the output of a failed run must include the reason.
            if run.stored_at is None:
                meter.say(
                    f"Nightly run {run.id} failed. The end of its log follows; the complete log is at /api/v1/jobs/{run.job.id}/log:"
                )
                for line in log:
                    _say(f"  {line}")
            if arguments.json:
                write(json.dumps(run.as_json(), indent=2, ensure_ascii=False) + "\n")
            else:
                write("".join(_summary(run)))
    return EXIT_OK if run.stored_at is not None else EXIT_FAILED


def _run(database: Database, settings: Settings, meter: Meter, log: deque[str]) -> int:
    """Carry out a new run or continue an interrupted one, and return its number.

    Raises:
        JobBusy: Another process is carrying out a run.
    """
    from app.errors import JobBusy
    from app.jobs.heartbeats import release_if_dead
    from app.jobs.kinds import names_alone
    from planner_core.errors import PlannerError

    try:
        run_id, keeper, claimed, is_continued = _claimed(database, settings, meter, log)
    except JobBusy:
        # The process that has the run may have ended on another machine, which nothing but its silence shows.
        meter.show("Another nightly run has not ended. Waiting for a sign of life of its process.")
        if not release_if_dead(database, settings.job_stale_s, kinds=names_alone()):
            raise
        run_id, keeper, claimed, is_continued = _claimed(database, settings, meter, log)
    if is_continued:
        meter.say(f"Continuing nightly run {run_id}, which was interrupted.")
    if not keeper.work(claimed):
        message = "Another process took over the run, because this one appeared to have ended."
        raise PlannerError(message)
    return run_id


def _claimed(
    database: Database, settings: Settings, meter: Meter, log: deque[str]
) -> tuple[int, NightKeeper, Job, bool]:
    """Claim a new run, or one that was interrupted; return its number, its keeper, its job, and whether it was interrupted.

    Raises:
        JobBusy: Another process is carrying out a run.
    """
    from app.errors import JobBusy
    from app.jobs import repository as job_rows
    from app.jobs import watcher
    from app.nightly import repository, service
    from app.nightly.models import Trigger

    with database.session(writes=True) as session:
        job_rows.hold_claims(session)
        # A service on this machine may have been killed; its run can continue at once.
        watcher.let_go_of_the_dead(session)
        left = repository.runs_under_way(session)
        run = left[0] if left else service.queue(session, Trigger.COMMAND)
        keeper = _keeper(database, settings, run, _progress_of(meter), _listener(meter, log))
        # None = keeper.claim(session) | A service with the same database may have claimed it first.
        claimed: Job | None = keeper.claim(session)
        if claimed is None:
            raise JobBusy(run.id, _who_works(session, run.id))
    return run.id, keeper, claimed, bool(left)


def _keeper(
    database: Database,
    settings: Settings,
    run: NightlyRun,
    on_progress: Callable[[str, int, int, str], None],
    on_line: Callable[[str], None],
) -> NightKeeper:
    from app.nightly.keeper import NightKeeper
    from app.nightly.looking_around import SimulationKeeper
    from app.nightly.models import Trigger

    kind = SimulationKeeper if run.trigger == Trigger.SIMULATION else NightKeeper
    return kind(database, settings, run.job_id, at_once=NO_LIMIT, on_progress=on_progress, on_line=on_line)


def _who_works(session: Session, run_id: int) -> str:
    from app.nightly import service

    run = service.get(session, run_id)
    since = f" since {run.job.started_at:%Y-%m-%d %H:%M} UTC" if run.job.started_at else ""
    return f"Nightly run {run_id} is in progress{since}. Only one run is possible at a time, so no other run was started."


def _summary(run: RunDetails) -> Iterator[str]:
    """Yield the lines of a summary."""
    from planner_core.findings import SEVERITIES

    duration = "" if run.duration is None else f", {run.duration.total_seconds():.0f} s"
    yield f"Nightly run {run.id}: {run.job.state.value}{duration}\n{run.job.sentence}\n"
    for severity in SEVERITIES:
        for each in run.night_findings:
            if each.severity == severity:
                yield f"{severity}: {each.message}{_mark(each.is_simulated)}\n"


# ---- lists -----------------------------------------------------------------------------------------------------------


def _curves(arguments: argparse.Namespace) -> int:
    from app.fits import fits
    from app.paging import MOST_PER_PAGE, PageRequest

    def curves(session: Session, page: int) -> ResultPage[Fit]:
        return fits.list_fits(session, PageRequest(page, MOST_PER_PAGE), current_only=arguments.current)

    return _listed(curves, _curve_line, as_json=arguments.json, none="There are no fitted curves yet.")


def _forecasts(arguments: argparse.Namespace) -> int:
    from app.forecasts import service
    from app.paging import MOST_PER_PAGE, ListRequest, PageRequest

    def forecasts(session: Session, page: int) -> ResultPage[StructureForecast]:
        return service.list_forecasts(session, ListRequest(PageRequest(page, MOST_PER_PAGE)))

    return _listed(forecasts, _forecast_line, as_json=arguments.json, none="There are no forecasts yet.")


def _listed(
    read: Callable[[Session, int], ResultPage[Listed]], line: Callable[[Listed], str], *, as_json: bool,
    none: str,
) -> int:  # fmt: skip
    from app.database.engine import open_database

    with open_database() as (database, _), database.session(writes=False) as session:
        first = read(session, 1)
        found = [
            *first.items,
            *(each for page in range(2, first.pages + 1) for each in read(session, page).items),
        ]
    if as_json:
        write(json.dumps([each.as_json() for each in found], indent=2, ensure_ascii=False) + "\n")
    else:
        write("".join(line(each) + "\n" for each in found) or f"{none} Run `cfplan nightly`.\n")
    return EXIT_OK


def _curve_line(curve: Fit) -> str:
    level = f"CFCC {curve.cfcc_level}" if curve.cfcc_level is not None else "CFCC level not known"
    bundle = curve.bundle_bytes
    figures = f"{_based(curve)}{_bundled(curve, bundle)}" if bundle else curve.reason or ""
    current = ", current" if curve.is_current else ""
    state = curve.state.replace("_", " ")
    return f"{curve.version:>5}  {curve.coupling_facility or 'answers':<8} {level:<20} {state}{current}: {figures}{_mark(curve.is_simulated)}"


def _based(curve: Fit) -> str:
    from planner_core.units import format_mib

    base = curve.base_bytes
    if base is None:
        return ""
    value, low, high = (format_mib(round(each)) for each in (base.value, base.low, base.high))
    return f"base {value} ({low} to {high}), "


def _bundled(curve: Fit, bundle: Estimate) -> str:
    ratio = ":".join(map(str, curve.ratio))
    return f"an entry with its elements at {ratio} {bundle.value:.1f} bytes ({bundle.low:.1f} to {bundle.high:.1f})"


def _forecast_line(forecast: StructureForecast) -> str:
    owner = f" of {forecast.queue_manager}" if forecast.queue_manager else ""
    what = f"{forecast.measure}{owner}"
    full = f"{forecast.fullness.sentence}. Ordinary days: " if forecast.fullness else ""
    return f"{forecast.qsg:<4} {forecast.structure:<16} {what:<20} {full}{forecast.sentence}{_mark(forecast.is_simulated)}"


def _mark(is_marked: bool) -> str:
    from planner_core.simulated import WORD

    return f" ({WORD})" if is_marked else ""


def _progress_of(meter: Meter) -> Callable[[str, int, int, str], None]:
    """Return a function that shows the progress of the run; without a terminal, on one line for each stage."""
    last = ""

    def show(stage: str, done: int, total: int, sentence: str) -> None:
        nonlocal last
        if not meter.is_terminal and stage != last:
            _say(sentence or stage)
        last = stage
        share = f" {100 * min(done, total) // total:3d} %" if total else ""
        meter.show(f"{sentence or stage}{share}"[:120])

    return show


def _listener(meter: Meter, log: deque[str]) -> Callable[[str], None]:
    """Return a function that adds a line of the run to the log, and prints errors at once."""

    def hear(line: str) -> None:
        log.append(line)
        if ERROR_LINE.match(line):
            meter.say(line)

    return hear


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
