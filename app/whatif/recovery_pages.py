"""The page of backup and recovery: backup sizes, recovery times, and the time between backups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated

from fastapi import Request
from fastapi.responses import Response

from app.fits.kept import curves_in
from app.web.charts import Bar, BarChart, Part
from app.web.question_forms import QuestionForm, question_fields, read_question
from app.web.rendering import Page, mib, render
from app.web.router import Router
from app.whatif.answers import ask
from app.whatif.asking import PlanSelection, add_page, answered, status_of
from app.whatif.placement_charts import bar_chart
from planner_core.document.model import PlanDocument
from planner_core.errors import FieldProblem
from planner_core.provenance import Explanation, Input
from planner_core.whatif.filling_up import tenths_down
from planner_core.whatif.recovery import Recovery, RecoveryQuestion, StructureRecovery, recovery

router = Router(include_in_schema=False)
MOST_BARS = 20
MOST_EXPLAINED = 20
_SECONDS_PER_MINUTE = 60
FIELDS = question_fields(RecoveryQuestion)
_INPUTS = {
    "recovery_minutes": "A structure must be back within",
    "interval_minutes": "Structures are backed up every",
    "log_read_mb_per_s": "Logs are read at",
    "backup_overhead_bytes": "Overhead of each message in a backup",
    "fill_percent": "Share of the planned backlog on the structure",
}
_FIGURES = {
    "/backup_bytes": "One backup",
    "/log_bytes_per_hour": "Log data per hour",
    "/log_bytes_between": "Log data between two backups",
    "/recovery_s": "Time to recover",
    "/longest_interval_minutes": "Longest interval",
    "/documented_interval_hours": "By IBM's formula",
}


@dataclass(frozen=True, slots=True)
class ExplainedFigure:
    """A figure with its explanation."""

    id: str
    label: str
    value: str
    why: Explanation


@dataclass(frozen=True, slots=True)
class StructureRecoveryRow:
    """The recovery of one structure."""

    found: StructureRecovery
    minutes: str
    every: str
    """The advised time between backups; empty if no interval is short enough or there are no backups."""
    longest: str
    """The longest interval between backups; empty if it cannot be calculated."""
    is_any: bool
    documented: str
    figures: tuple[ExplainedFigure, ...]


@dataclass(frozen=True, slots=True)
class RecoveryView:
    """The answer, arranged for the page."""

    found: Recovery
    rows: tuple[StructureRecoveryRow, ...]
    inputs: tuple[tuple[str, Input], ...]
    chart: BarChart | None
    is_log_known: bool
    """Whether any log data was calculated: queues without a rate write an unknown amount."""
    too_slow: int
    backed_up: int
    slowest: str
    shortest: str
    explained: tuple[StructureRecoveryRow, ...]


@dataclass(frozen=True, kw_only=True)
class RecoveryPage(Page):
    """Backups and recovery of a plan's structures."""

    asked: Annotated[PlanSelection, "The chosen plan, and the other plans to choose from"]
    form: Annotated[QuestionForm[RecoveryQuestion], "The fields as typed"]
    problems: Annotated[tuple[FieldProblem, ...], "Errors in the plan or the fields"]
    answer: Annotated[RecoveryView | None, "Bytes, times and intervals of every structure"]


def _page(
    request: Request, asked: PlanSelection, document: PlanDocument | None, typed: Mapping[str, str]
) -> Response:
    form = read_question(RecoveryQuestion, typed, FIELDS)
    curves = curves_in(request.app.state.database)
    question = (form.question or RecoveryQuestion()).model_copy(update={"explain": True})
    answer, problems = answered(
        asked,
        document if form.question else None,
        lambda plan: arranged(ask(recovery, plan, question, curves)),
    )
    page = RecoveryPage(
        title="Backup and recovery",
        section="whatif",
        asked=asked,
        form=form,
        problems=problems,
        answer=answer,
    )
    status = status_of(asked, is_wrong=bool(problems or form.wrong))
    return render(request, "whatif/recovery.html", page, status_code=status)


add_page(router, "/whatif/recovery", _page)


def arranged(found: Recovery) -> RecoveryView:
    """Return the answer of the core, arranged for the page."""
    rows = tuple(_row(each, at) for at, each in enumerate(found.all_structures))
    timed = [(each.recovery_s, each) for each in found.all_structures if each.recovery_s is not None]
    slowest = max((seconds for seconds, _ in timed), default=None)
    # None means that no interval is short enough, so it counts as shorter than all others.
    intervals = [each.back_up_every_minutes or Fraction(0) for _, each in timed]
    return RecoveryView(
        found=found,
        rows=rows,
        inputs=tuple((_INPUTS[each.name], each) for each in found.inputs),
        chart=_chart(found),
        is_log_known=found.totals.log_bytes_per_hour > 0
        or not any(each.unrated_queues for each in found.all_structures),
        too_slow=sum(1 for each in found.all_structures if each.meets is False),
        backed_up=len(timed),
        slowest="" if slowest is None else _minutes(slowest),
        shortest="" if not intervals else _tenths(min(intervals)),
        explained=tuple(each for each in rows if each.figures)[:MOST_EXPLAINED],
    )


def _row(each: StructureRecovery, at: int) -> StructureRecoveryRow:
    shown = {
        "/backup_bytes": mib(each.backup_bytes),
        "/log_bytes_per_hour": mib(each.log_bytes_per_hour),
        "/log_bytes_between": mib(each.log_bytes_between),
        "/recovery_s": "" if each.recovery_s is None else f"{_minutes(each.recovery_s)} min",
        "/longest_interval_minutes": ""
        if each.interval_minutes is None
        else f"{_tenths(each.interval_minutes)} min",
        "/documented_interval_hours": ""
        if each.documented_interval_hours is None
        else f"{float(each.documented_interval_hours):.2f} h",
    }
    return StructureRecoveryRow(
        found=each,
        minutes="" if each.recovery_s is None else _minutes(each.recovery_s),
        every="" if each.back_up_every_minutes is None else _tenths(each.back_up_every_minutes),
        longest="" if each.interval_minutes is None else _tenths(each.interval_minutes),
        is_any=each.interval_minutes is None and not each.unrated_queues,
        documented=""
        if each.documented_interval_hours is None
        else f"{float(each.documented_interval_hours):.2f}",
        figures=tuple(
            ExplainedFigure(
                f"why-{at}-{why.figure[1:].replace('_', '-')}",
                _FIGURES[why.figure],
                shown[why.figure],
                replace(why, figure=f"{_FIGURES[why.figure]}, {each.cfrm_name}"),
            )
            for why in (each.explanations or {}).values()
        ),
    )


def _minutes(seconds: Fraction) -> str:
    return f"{float(seconds) / _SECONDS_PER_MINUTE:.1f}"


def _tenths(minutes: Fraction) -> str:
    """Return minutes in tenths, rounded down, because a longer interval would miss the recovery time."""
    return f"{tenths_down(minutes):.1f}"


def _chart(found: Recovery) -> BarChart | None:
    """Return a chart of recovery times; if there are many structures, only the slowest are drawn."""
    timed = [(each.recovery_s, each) for each in found.all_structures if each.recovery_s]
    if not timed:
        return None
    # The slowest structures come first, because they decide whether the recovery time is met.
    timed.sort(key=lambda pair: -pair[0])
    goal_s = found.recovery_minutes * _SECONDS_PER_MINUTE
    bars = []
    for seconds, each in timed[:MOST_BARS]:
        whole = each.backup_bytes + each.log_bytes_between
        # Both parts are read at the same rate, so their times are proportional to their bytes.
        backup_s = seconds * each.backup_bytes / whole
        is_slow = each.meets is False
        bars.append(
            Bar(
                each.cfrm_name,
                f"{_minutes(seconds)} of {float(found.recovery_minutes):g} min",
                (
                    Part(
                        "held",
                        float(backup_s),
                        f"reading the backup: {_minutes(backup_s)} min",
                        "reading the backup",
                    ),
                    Part(
                        "keep short" if is_slow else "keep",
                        float(seconds - backup_s),
                        f"reading the log: {_minutes(seconds - backup_s)} min",
                        f"reading the log since{', too slow' if is_slow else ''}",
                    ),
                ),
                float(goal_s),
                warning="too slow" if is_slow else "",
            )
        )
    return bar_chart(
        "recovery",
        "Time to recover each structure",
        "Bars of the time to recover, on the time that is allowed.",
        bars,
        whole_name="the time allowed",
    )
