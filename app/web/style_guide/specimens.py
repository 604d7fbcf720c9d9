"""Data of the components on the style page: the computed example plan, and invented findings and fields."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import cache

from app.accounts.tokens import StoredToken
from app.events.service import EXAMPLES as TIMELINES
from app.events.service import read_yaml_or_json
from app.events.simulate_pages import SimulationView
from app.events.simulate_pages import answer_of as events_answer
from app.jobs.service import JobProgress
from app.nightly.view import FindingLine
from app.paging import PageRequest, ResultPage
from app.plans.changes_pages import ChangeRow, document_changes
from app.plans.charts import fill_chart, structures_chart
from app.plans.editor.form import change, check, typed_of
from app.plans.editor.view import EditorForm, show
from app.plans.finding_groups import FindingGroupView, FindingView, findings_shown, grouped_findings
from app.plans.head import FINDINGS, plan_head
from app.plans.result_view import facility_lines, structure_lines
from app.plans.stored import StoredVersion
from app.sizing.calculator.answer import Figure, OutputTextView, answer_of
from app.sizing.calculator.form import read_form
from app.texts.documents import example_text, read_text
from app.uploads.batches import BatchProgress
from app.uploads.report import (
    ConflictLine,
    FileStructure,
    RecordCounts,
    UploadReport,
)
from app.usage.charts import size_bars, time_chart
from app.usage.measured import QueueFigures
from app.usage.pages import PeriodChoice, PeriodPicker
from app.usage.periods import HOUR, Period
from app.usage.plan_form import blank
from app.usage.plan_pages import QueueRow
from app.usage.service import Span
from app.web.chart_plotly import ZoomedChart
from app.web.chart_script import ChartScript
from app.web.forms import FormField
from app.web.style_guide.ahead import ahead
from app.web.style_guide.lists import sorted_list
from app.web.style_guide.placement import placement
from app.web.style_guide.questions import questions
from planner_core.contracts.ingest import QueueManagerGroup, RowCounts
from planner_core.contracts.rollup import SizeBucket
from planner_core.depth_events.simulate import simulate
from planner_core.document.model import PlanDocument
from planner_core.findings import finding
from planner_core.plan.evaluate import evaluate
from planner_core.plan.sheet import ASSUMPTION
from planner_core.provenance import Explanation

_AT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
_LOADED = "why-APPLICATION1-messages_in_initsize"
_SITES = (("SITE1", "SITE1"), ("SITE2", "SITE2"))


@cache
def specimens() -> Mapping[str, object]:
    """Return the specimens, computed once."""
    document = read_text(example_text().encode())
    result = evaluate(document).as_json()
    version = StoredVersion(
        plan_id=1,
        name=document.qsg,
        number=2,
        latest=2,
        created_at=_AT,
        comment=None,
        core_version=str(result["core_version"]),
        document_json=document.model_dump_json(),
        curve_json=json.dumps(result["curve"]),
        result_json=json.dumps(result),
    )
    fill = next(chart for item in version.result["structures"] if (chart := fill_chart(item)) is not None)
    form, asked = read_form({})
    if asked is None:
        message = "the calculator's example cannot be read"
        raise RuntimeError(message)
    lines = structure_lines(version)
    head = plan_head(version, FINDINGS)
    return {
        "version": version,
        "structures": (replace(lines[0], initsize_given=True), *lines[1:]),
        "facilities": facility_lines(version),
        "assumption": ASSUMPTION,
        "differences": _differences(),
        "findings": _findings(),
        # The plan is not stored, so its tabs lead back to the style page.
        "plan_head": replace(head, tabs=tuple(replace(tab, href="/style") for tab in head.tabs)),
        "structures_chart": structures_chart(lines),
        "groups": _groups(),
        "texts": _texts(),
        "tokens": _tokens(),
        "fill": fill,
        "chart": answer_of(asked, form).chart,
        "entries": {entry.kind: entry for entry in _entries()},
        "editor": _editor(document),
        "lines": FormField(
            "specimen-lines",
            "Many lines",
            value="name\tbacklog\nA.IN\t100",
            error="Line 2: no size.",
            kind="text",
            hint="Pasted.",
        ),
        "listed": ResultPage[str].of((), 120, PageRequest(2)),
        "list": sorted_list(),
        "usage": _usage(),
        "report": _report(),
        "batch": BatchProgress(
            batch="specimen",
            begun_at=_AT,
            files=118,
            stored=57,
            failed=3,
            asks=1,
            waiting=57,
            ended_at=_AT,
            seconds_left=110,
        ),
        "ahead": ahead(document),
        "night": _night(),
        "events": _events(),
        "placement": placement(document),
        "questions": questions(version, document),
    }


def _editor(document: PlanDocument) -> EditorForm:
    """Return a form with a queue that states both a backlog and a rate."""
    typed = change(typed_of(document), "add:/structures/0/queues").typed
    at = "/structures/0/queues/1"
    wrong = {"name": "BOTH.IN", "message_bytes": "4K", "backlog": "500", "put_rate_per_s": "40"}
    typed |= {f"{at}/{name}": text for name, text in wrong.items()}
    return show(typed, check(typed))


def figures(why: Explanation) -> tuple[Figure, ...]:
    """Return a figure of each kind; the first two share an explanation, and the last one loads that of the calculator."""
    return (
        Figure("why-specimen", "Need", "bytes", int(why.value), why),
        Figure("why-specimen", "INITSIZE", "kib", 497_664, why),
        Figure("why-specimen", "Messages", "count", 200_000, None),
        Figure("why-specimen", "In use", "percent", 90.3, None),
        Figure("why-specimen", "Size is set by", "text", "entries", None),
        Figure(
            _LOADED,
            "Messages that INITSIZE holds",
            "count",
            220_000,
            None,
            f"/calculator/explanations#{_LOADED}",
        ),
    )


def _differences() -> tuple[ChangeRow, ...]:
    queue = {"name": "B.IN", "message_bytes": {"mean": 3500, "p95": 12_000, "max": 60_000}, "backlog": None}
    before = {"name": "APP1", "size": "1G", "queues": [{**queue, "name": "A.IN", "backlog": 200_000}, queue]}
    after = {"name": "APP1", "initsize": "512M", "size": "1G", "queues": [queue, {**queue, "name": "C.IN"}]}
    return tuple(document_changes({"structures": [before]}, {"structures": [after]}))


def _usage() -> Mapping[str, object]:
    first = datetime(2026, 11, 21, tzinfo=UTC)
    hours = [first + hour * HOUR for hour in range(24)]
    period = Period(first, first + 24 * HOUR, "hour", "1d")
    used = [(at, 1000 * (1 + number % 7)) for number, at in enumerate(hours) if number not in (9, 10)]
    entries = time_chart(
        "specimen-entries",
        "Entries",
        unit="entries",
        period=period,
        values=used,
        limit=[(first, 9000)],
        full=[(hours[6], 1)],
    )
    return {
        "period": PeriodPicker(
            chosen=period,
            choices=(
                PeriodChoice("24 hours", "/style", is_current=True),
                PeriodChoice("7 days", "/style", is_current=False),
            ),
            earlier="/style",
            later="/style",
            first_day="2026-11-21",
            last_day="2026-11-21",
            hidden={},
            action="/style",
            error="",
        ),
        "span": Span(first, hours[-1]),
        "charts": ZoomedChart((entries,)),
        "sizes": size_bars([SizeBucket(512, 1200), SizeBucket(4096, 3600), SizeBucket(65_536, 40)]),
        "script": ChartScript("/style", ()),
        "at": first,
        "late": first + 48 * HOUR,
        "form": blank("SPECIMEN", frozenset()),
        "row": QueueRow(
            key="specimen",
            figures=QueueFigures(
                structure="APPLICATION1",
                queue="PAYMENTS.IN",
                hours=24,
                first_hour=first,
                last_hour=hours[-1],
                puts=240_000,
                mean_bytes=Fraction(1254),
                size_min_bytes=100,
                size_max_bytes=30_000,
                persistent_puts=240_000,
                persistent_of=240_000,
                busiest_hour_puts=20_000,
                busiest_hour=hours[9],
                depth_max=None,
                depth_hour=None,
            ),
            is_ticked=True,
            p95=FormField("p95:specimen", "95th percentile of PAYMENTS.IN", "whole"),
        ),
    }


def _report() -> UploadReport:
    return UploadReport(
        facts=(("Period", "2026-11-21 00:00 to 24:00 UTC"),),
        structures=(FileStructure("SQ03", "APPLICATION1", "SQ03APPLICATION1", ""),),
        managers=(QueueManagerGroup("SYSA", "CSQ1", "SQ03"),),
        records=(RecordCounts("115-2", "Statistics of a queue manager", 48, "214 KB", was_read=True),),
        rows=(("structure_usage", RowCounts(96, 80, 10, 5, 2, 1)),),
        faults=(("offset 4096, record 12", "120 bytes", "No plausible header."),),
        faults_omitted=3,
        faults_title="What could not be read",
        passed_over=(("no shared queue", 512),),
        conflicts=(
            ConflictLine(
                "structure_usage", "SQ03APPLICATION1", "a.smf, offset 8", "b.smf, offset 8", "entries"
            ),
        ),
        findings=(("warning", "The file had an error but was read anyway."),),
        notes=("A remark.",),
    )


def _night() -> Mapping[str, object]:
    def found(severity: str, message: str, *, is_simulated: bool) -> FindingLine:
        return FindingLine(
            "FILLS_WITHIN_LEAD_TIME", severity, message, "cfplan, docs/explanation/assumptions.md, The night", "/style", "APP1",
            "/style", "/docs/operations/nightly#findings", is_simulated,
        )  # fmt: skip

    return {
        "progress": JobProgress(
            420,
            "Reducing the days: 37 of 120",
            "Reducing 2 of 365 days: structures, 37 of 120 tasks",
            True,
            False,
            "",
        ),
        "findings": (
            found("error", "A finding of a nightly run about measured data.", is_simulated=False),
            found("warning", "A finding about data that was never measured.", is_simulated=True),
        ),
    }


def _findings() -> tuple[FindingView, ...]:
    found = (
        finding(
            "PERSISTENT_NEEDS_CFLEVEL_3", "An error: it cannot be acknowledged.", structure="APPLICATION1"
        ),
        finding(
            "INITSIZE_BELOW_NEED", "A warning to acknowledge with a reason.", field="/qsg", structure="MYDATA"
        ),
        finding("USAGE_MEASURE_ASSUMED", "A remark."),
    )
    accepted = replace(
        found[1], message="A warning that was acknowledged.", acknowledged="Agreed with operations."
    )
    return findings_shown((*found, accepted), target_of=lambda _: "page-content")


def _groups() -> tuple[FindingGroupView, ...]:
    items = [
        *(finding("DSGROUP_MISSING", f"{name} has no DSGROUP.", structure=name) for name in ("ONE", "TWO", "THREE", "FOUR")),
        *(
            replace(finding("INITSIZE_BELOW_NEED", f"INITSIZE of {name} is small.", structure=name), acknowledged="agreed")
            for name in ("ONE", "TWO")
        ),
        finding("USAGE_MEASURE_ASSUMED", "A note on the whole plan."),
    ]  # fmt: skip
    items[3] = replace(items[3], acknowledged="agreed")
    items[2] = replace(items[2], acknowledged="agreed")
    # Numbers of the views make ids, which must differ from those of the other specimens.
    views = [replace(view, id=f"grouped-{view.id}") for view in findings_shown(items)]
    return grouped_findings(items, views, is_expanded=True)


def _texts() -> tuple[OutputTextView, ...]:
    return (
        OutputTextView(
            "cut", "A long text", "With a remark.", "* BEGINNING\n", "long.txt", "/style", True, ""
        ),
        OutputTextView(
            "refused", "A text that is not given", "", "", "", "/style", False, "The plan has an error."
        ),
    )


def _tokens() -> tuple[StoredToken, ...]:
    return (
        StoredToken(1, "nightly report", "anna", "viewer", "active", _AT, _AT + timedelta(days=90), _AT),
        StoredToken(2, "old script", "anna", "planner", "expired", _AT, _AT, None),
    )


def _entries() -> tuple[FormField, ...]:
    return (
        FormField("specimen-yes", "To tick", value="yes", error="", kind="yes", hint="What it means."),
        FormField("specimen-site", "To choose", value="SITE2", error="", kind="choice", options=_SITES),
        FormField("specimen-words", "Words", value="MQ.SMDS.*.APP1", error="", kind="text"),
        FormField(
            "specimen-managers", "Names", value="", error="Enter at least one.", kind="names", required=True
        ),
        FormField("specimen-percent", "A share", value="12.5", error="", kind="decimal", unit="%"),
    )


def _events() -> SimulationView:
    """Return a timeline in which one queue switches without an event message and another writes one."""
    timeline = next(each for each in TIMELINES if each.name == "perfmev-differs")
    file = read_yaml_or_json(timeline.text.encode())
    return events_answer(file, simulate(file))
