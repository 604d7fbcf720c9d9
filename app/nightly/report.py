"""The report of the newest nightly run as data and as Markdown, for programs and for mail."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy.orm import Session

from app.database.engine import Database
from app.errors import NotFound
from app.nightly import repository, service
from app.nightly.files import write_text
from app.nightly.models import FitVersion, StoredForecast
from app.nightly.results import StoredCounts
from app.nightly.service import Run, SeverityCounts
from app.nightly.urgency import most_urgent
from app.settings import Settings
from planner_core.contracts.files import parsed_text, plain
from planner_core.contracts.forecasts import Forecast, IsSimulated
from planner_core.contracts.nightly import NightlyFinding
from planner_core.findings import SEVERITIES, Finding
from planner_core.simulated import WORD
from planner_core.wire import Answer

FOLDER, JSON_FILE, MARKDOWN_FILE = "reports", "night.json", "night.md"
MOST_FORECASTS = 50
"""Maximum number of structures that run out in the report; the pages and REST list all of them."""
HEADINGS = {"error": "Errors", "warning": "Warnings", "info": "Remarks"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRun(Answer):
    """The run that the report describes."""

    id: int
    trigger: str
    stored_at: datetime
    first_day: date | None
    last_day: date | None
    days_total: int
    days_reduced: int
    rows_read: int
    seconds: Mapping[str, float]
    counts: StoredCounts
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportForecast(Answer):
    """A structure that runs out."""

    id: int
    qsg: str
    structure: str
    measure: str
    queue_manager: str | None
    made_on: date
    earliest_crossing_day: date
    sentence: str
    is_simulated: IsSimulated


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportCurve(Answer):
    """A fit of the nightly run, as the report shows it."""

    version: int
    coupling_facility: str
    cfcc_level: int | None
    state: str
    is_current: bool
    reason: str | None
    is_simulated: IsSimulated


@dataclass(frozen=True, slots=True, kw_only=True)
class NightlyReport(Answer):
    """The report of the newest nightly run; the same as the file night.json in the data folder."""

    schema: Literal[1] = 1
    run: ReportRun
    is_simulated: Annotated[bool, Field(description="Whether any of it is based on simulated data.")]
    counts: SeverityCounts
    night_findings: tuple[NightlyFinding, ...]
    forecasts: Annotated[
        tuple[ReportForecast, ...],
        Field(description="At most fifty, sorted by the date each structure runs out."),
    ]
    curves: Annotated[tuple[ReportCurve, ...], Field(description="Fits of this nightly run.")]
    findings: tuple[Finding, ...] = ()


NO_REPORT = "There is no report yet, because no nightly run has ended. Run `cfplan nightly`."


def newest(session: Session) -> NightlyReport:
    """Return the report of the last successful run.

    Raises:
        NotFound: No run has succeeded yet.
    """
    run = service.newest(session)
    if run is None:
        raise NotFound(NO_REPORT)
    urgent, _ = most_urgent(session, offset=0, limit=MOST_FORECASTS)
    findings = service.findings_of(session, run.id)
    forecasts = tuple(
        _forecast(forecast, forecast.earliest_crossing_day)
        for forecast, _ in urgent
        if forecast.earliest_crossing_day is not None
    )
    curves = tuple(map(_curve, repository.curves_of_run(session, run.id)))
    return NightlyReport(
        run=_run(run),
        is_simulated=any(each.is_simulated for part in (findings, forecasts, curves) for each in part),
        counts=run.finding_counts,
        night_findings=findings,
        forecasts=forecasts,
        curves=curves,
    )


def _run(run: Run) -> ReportRun:
    # The transaction that ends a run stores them too, so none is missing from a successful run.
    if (
        run.stored_at is None
        or run.days_total is None
        or run.days_reduced is None
        or run.rows_read is None
        or run.brought is None
    ):
        raise NotFound(NO_REPORT)
    return ReportRun(
        id=run.id,
        trigger=run.trigger.value,
        stored_at=run.stored_at,
        first_day=run.first_day,
        last_day=run.last_day,
        days_total=run.days_total,
        days_reduced=run.days_reduced,
        rows_read=run.rows_read,
        seconds=run.seconds,
        counts=run.brought,
        sentence=run.job.sentence,
    )


def _forecast(row: StoredForecast, crossing_day: date) -> ReportForecast:
    return ReportForecast(
        id=row.id,
        qsg=row.qsg,
        structure=row.structure,
        measure=row.measure,
        queue_manager=row.queue_manager or None,
        made_on=row.made_on,
        earliest_crossing_day=crossing_day,
        sentence=parsed_text(Forecast, row.forecast).sentence,
        is_simulated=row.is_simulated,
    )


def _curve(row: FitVersion) -> ReportCurve:
    return ReportCurve(
        version=row.id,
        coupling_facility=row.coupling_facility,
        cfcc_level=row.cfcc_level,
        state=row.state,
        is_current=row.is_current,
        reason=row.reason or None,
        is_simulated=row.is_simulated,
    )


def files_of(settings: Settings) -> tuple[Path, Path]:
    """Return the paths of the report as JSON and as Markdown."""
    folder = settings.data_dir.absolute() / FOLDER
    return folder / JSON_FILE, folder / MARKDOWN_FILE


def write_files(database: Database, settings: Settings) -> None:
    """Write the report to the data folder; each file is written completely or not at all."""
    with database.session(writes=False) as session:
        try:
            report = newest(session)
        except NotFound:
            return
    # `findings` is a member of every REST answer and carries no information here.
    members = {name: value for name, value in plain(report).items() if name != "findings"}
    json_file, markdown_file = files_of(settings)
    write_text(json_file, json.dumps(members, ensure_ascii=False, indent=2) + "\n")
    write_text(markdown_file, as_markdown(report))


def complete(database: Database, settings: Settings) -> bool:
    """Write the files unless they already belong to the newest run; return whether they were written."""
    # The process of the newest run may have been killed before it wrote them.
    with database.session(writes=False) as session:
        stored = repository.last_stored_run(session)
    if stored is None or _run_written(files_of(settings)) == stored.id:
        return False
    write_files(database, settings)
    return True


def _run_written(files: tuple[Path, Path]) -> int | None:
    """Return the number of the run in the files; None if they are missing or incomplete. Markdown is written last."""
    json_file, markdown_file = files
    try:
        if markdown_file.stat().st_mtime_ns < json_file.stat().st_mtime_ns:
            return None
        return int(json.loads(json_file.read_bytes())["run"]["id"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


# ---- as text ---------------------------------------------------------------------------------------------------------


def as_markdown(report: NightlyReport) -> str:
    """Return the report as Markdown for mail."""
    run = report.run
    lines = [f"# cfplan: nightly run of {run.stored_at:%Y-%m-%d} (run {run.id})", ""]
    if report.is_simulated:
        lines += [f"**Some of these results are based on simulated data and are marked ({WORD}).**", ""]
    lines += [run.sentence, ""]
    if run.first_day is not None and run.last_day is not None:
        lines += [f"Usage history from {run.first_day} to {run.last_day}.", ""]
    for severity in SEVERITIES:
        found = [each for each in report.night_findings if each.severity == severity]
        if found:
            lines += [f"## {HEADINGS[severity]} ({len(found)})", ""]
            lines += [f"- {_finding_line(each)}" for each in found]
            lines.append("")
    if not report.night_findings:
        lines += ["## Findings", "", "None.", ""]
    lines += _forecast_lines(report.forecasts)
    lines += _curve_lines(report.curves)
    return "\n".join(lines).rstrip() + "\n"


def _finding_line(finding: NightlyFinding) -> str:
    where = "/".join(filter(None, (finding.qsg, finding.structure or finding.coupling_facility)))
    head = f"**{where}**: " if where else ""
    return f"{head}{_plain(finding.message)} `{finding.code}`{_mark(finding.is_simulated)}"


def _forecast_lines(forecasts: Sequence[ReportForecast]) -> list[str]:
    if not forecasts:
        return [
            "## Structures that run out first",
            "",
            "None within the forecast horizon.",
            "",
        ]
    lines = [
        "## Structures that run out first", "",
        "| group | structure | measure | day | forecast |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for each in forecasts:
        measure = f"{each.measure} of {each.queue_manager}" if each.queue_manager else each.measure
        cells = (
            each.qsg, f"{each.structure}{_mark(each.is_simulated)}", measure, str(each.earliest_crossing_day),
            each.sentence,
        )  # fmt: skip
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    return [*lines, ""]


def _curve_lines(curves: Sequence[ReportCurve]) -> list[str]:
    if not curves:
        return []
    lines = ["## Fits of this run", ""]
    for each in curves:
        level = f"CFCC level {each.cfcc_level}" if each.cfcc_level is not None else "CFCC level not known"
        why = f": {_plain(each.reason)}" if each.reason else ""
        state = each.state.replace("_", " ")
        lines.append(
            f"- Version {each.version}, {each.coupling_facility or 'no coupling facility'}, {level}: {state}{why}{_mark(each.is_simulated)}"
        )
    return [*lines, ""]


def _mark(is_marked: bool) -> str:
    return f" ({WORD})" if is_marked else ""


def _plain(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _plain(text).replace("|", r"\|")
