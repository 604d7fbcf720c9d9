"""The report of the newest night, for mail and for other programs: as data and as Markdown, made from the database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from app.database.engine import Database
from app.nightly import repository, service
from app.nightly.errors import NoReport
from app.nightly.files import write_text
from app.nightly.models import FitVersion, Forecast, NightFinding
from app.nightly.service import Run
from app.nightly.urgency import most_urgent
from app.settings import Settings
from planner_core.findings import SEVERITIES
from planner_core.simulated import WORD

SCHEMA = 1
FOLDER, JSON_FILE, MARKDOWN_FILE = "reports", "night.json", "night.md"
MOST_FORECASTS = 50
"""Structures that run out; the pages and the REST interface have all of them."""
HEADINGS = {"error": "Errors", "warning": "Warnings", "info": "To know"}


@dataclass(frozen=True, slots=True)
class NightlyReport:
    """What the newest night is worth telling."""

    run: Run
    findings: Sequence[NightFinding]
    forecasts: Sequence[Forecast]
    curves: Sequence[FitVersion]


def newest(session: Session) -> NightlyReport:
    """The report of the last run that ended well.

    Raises:
        NoReport: There is none.
    """
    run = service.newest(session)
    if run is None:
        raise NoReport
    urgent, _ = most_urgent(session, offset=0, limit=MOST_FORECASTS)
    return NightlyReport(
        run=run,
        findings=repository.findings_of(session, run.id),
        forecasts=[each.forecast for each in urgent if each.forecast.earliest_crossing_day is not None],
        curves=repository.curves_of_run(session, run.id),
    )


def files_of(settings: Settings) -> tuple[Path, Path]:
    """Where the report lies: as JSON, and as Markdown."""
    folder = settings.data_dir.absolute() / FOLDER
    return folder / JSON_FILE, folder / MARKDOWN_FILE


def write_files(database: Database, settings: Settings) -> None:
    """Write the report to the data folder; each file is there whole or not at all."""
    with database.session(writes=False) as session:
        try:
            report = newest(session)
        except NoReport:
            return
        as_data, as_text = as_json(report), as_markdown(report)
    json_file, markdown_file = files_of(settings)
    write_text(json_file, json.dumps(as_data, ensure_ascii=False, indent=2) + "\n")
    write_text(markdown_file, as_text)


def make_good(database: Database, settings: Settings) -> bool:
    """Write the files where they are not of the newest run: its process was cut off before it had; say whether."""
    with database.session(writes=False) as session:
        stored = repository.last_stored_run(session)
    if stored is None or _run_written(files_of(settings)) == stored.id:
        return False
    write_files(database, settings)
    return True


def _run_written(files: tuple[Path, Path]) -> int | None:
    """The run that both files are of; the Markdown is written last."""
    json_file, markdown_file = files
    try:
        if markdown_file.stat().st_mtime_ns < json_file.stat().st_mtime_ns:
            return None
        return int(json.loads(json_file.read_bytes())["run"]["id"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


# ---- as data ---------------------------------------------------------------------------------------------------------


def as_json(report: NightlyReport) -> dict[str, Any]:
    """JSON-ready; the members are described with the REST interface."""
    run = report.run
    return {
        "schema": SCHEMA,
        "run": {
            "id": run.id,
            "trigger": run.trigger.value,
            "stored_at": run.stored_at.isoformat() if run.stored_at else None,
            "first_day": _iso(run.first_day),
            "last_day": _iso(run.last_day),
            "days_total": run.days_total,
            "days_reduced": run.days_reduced,
            "rows_read": run.rows_read,
            "seconds": dict(run.seconds),
            "counts": dict(run.counts),
            "sentence": run.job.sentence,
        },
        "is_simulated": is_simulated(report),
        "counts": dict(run.findings),
        "night_findings": [finding_json(each) for each in report.findings],
        "forecasts": [forecast_json(each) for each in report.forecasts],
        "curves": [curve_json(each) for each in report.curves],
    }


def is_simulated(report: NightlyReport) -> bool:
    """Whether any of it rests on simulated data."""
    return (
        any(each.is_simulated for each in report.findings)
        or any(each.is_simulated for each in report.forecasts)
        or any(each.is_simulated for each in report.curves)
    )


def finding_json(finding: NightFinding) -> dict[str, Any]:
    """A finding of the night."""
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "source": finding.source,
        "qsg": finding.qsg,
        "structure": finding.structure,
        "coupling_facility": finding.coupling_facility,
        "day": _iso(finding.day),
        "figures": finding.figures,
        "is_simulated": finding.is_simulated,
    }


def forecast_json(forecast: Forecast) -> dict[str, Any]:
    """What the report says of a forecast."""
    return {
        "id": forecast.id,
        "qsg": forecast.qsg,
        "structure": forecast.structure,
        "measure": forecast.measure,
        "queue_manager": forecast.queue_manager or None,
        "made_on": _iso(forecast.made_on),
        "earliest_crossing_day": _iso(forecast.earliest_crossing_day),
        "sentence": str(json.loads(forecast.forecast).get("sentence", "")),
        "is_simulated": forecast.is_simulated,
    }


def curve_json(curve: FitVersion) -> dict[str, Any]:
    """What the report says of a fit."""
    return {
        "version": curve.id,
        "coupling_facility": curve.coupling_facility,
        "cfcc_level": curve.cfcc_level,
        "state": curve.state,
        "is_current": curve.is_current,
        "reason": curve.reason or None,
        "is_simulated": curve.is_simulated,
    }


def _iso(day: Any) -> str | None:  # noqa: ANN401 - a date, or none
    return None if day is None else day.isoformat()


# ---- as text ---------------------------------------------------------------------------------------------------------


def as_markdown(report: NightlyReport) -> str:
    """The report as people read it in a mail."""
    run = report.run
    lines = [f"# cfplan: the night of {run.stored_at:%Y-%m-%d} (run {run.id})", ""]
    if is_simulated(report):
        lines += [f"**Some of this rests on simulated data; it is marked ({WORD}).**", ""]
    lines += [run.job.sentence, ""]
    if run.first_day is not None and run.last_day is not None:
        lines += [f"Usage history from {run.first_day} to {run.last_day}.", ""]
    for severity in SEVERITIES:
        found = [each for each in report.findings if each.severity == severity]
        if found:
            lines += [f"## {HEADINGS[severity]} ({len(found)})", ""]
            lines += [f"- {_finding_line(each)}" for each in found]
            lines.append("")
    if not report.findings:
        lines += ["## Findings", "", "None.", ""]
    lines += _forecast_lines(report.forecasts)
    lines += _curve_lines(report.curves)
    return "\n".join(lines).rstrip() + "\n"


def _finding_line(finding: NightFinding) -> str:
    where = "/".join(filter(None, (finding.qsg, finding.structure or finding.coupling_facility)))
    head = f"**{where}**: " if where else ""
    return f"{head}{_plain(finding.message)} `{finding.code}`{_mark(finding.is_simulated)}"


def _forecast_lines(forecasts: Sequence[Forecast]) -> list[str]:
    if not forecasts:
        return [
            "## Which structure runs out first",
            "",
            "None within the days that forecasts look ahead.",
            "",
        ]
    lines = [
        "## Which structure runs out first", "",
        "| group | structure | measure | day | forecast |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for each in forecasts:
        told: Mapping[str, Any] = forecast_json(each)
        measure = f"{each.measure} of {each.queue_manager}" if each.queue_manager else each.measure
        cells = (
            each.qsg, f"{each.structure}{_mark(each.is_simulated)}", measure, str(each.earliest_crossing_day),
            told["sentence"],
        )  # fmt: skip
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    return [*lines, ""]


def _curve_lines(curves: Sequence[FitVersion]) -> list[str]:
    if not curves:
        return []
    lines = ["## Fits of this night", ""]
    for each in curves:
        level = f"CFCC level {each.cfcc_level}" if each.cfcc_level is not None else "CFCC level not known"
        why = f": {_plain(each.reason)}" if each.reason else ""
        state = each.state.replace("_", " ")
        lines.append(
            f"- Version {each.id}, {each.coupling_facility or 'no coupling facility'}, {level}: {state}{why}{_mark(each.is_simulated)}"
        )
    return [*lines, ""]


def _mark(is_marked: bool) -> str:
    return f" ({WORD})" if is_marked else ""


def _plain(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _plain(text).replace("|", r"\|")
