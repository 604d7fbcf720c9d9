"""The answer of the quick calculator: the core's result, arranged for the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from app.sizing.calculator.charts import SizeChart, chart_of
from app.sizing.calculator.form import QuickForm
from app.web.rendering import grouped, plain
from planner_core.document.model import PlanDocument, Queue
from planner_core.errors import OutputRefused
from planner_core.findings import Finding
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import explain_result
from planner_core.plan.result import PlanResult
from planner_core.provenance import Explanation
from planner_core.sizing.structure_answer import structure_answer
from planner_core.sizing.structure_result import StructureResult
from planner_core.texts.outputs import render_output
from planner_core.units import kib_to_bytes

Kind = Literal["bytes", "kib", "count", "percent", "text"]

SHOWN_OUTPUTS: Mapping[str, tuple[str, str]] = {
    "policy": (
        "CFRM policy statements",
        "A fragment to merge into the whole policy: DEFINE POLICY with REPLACE(YES) replaces every statement.",
    ),
    "mqsc": ("MQSC commands", "DEFINE CFSTRUCT and DEFINE QLOCAL, for one queue manager of the group."),
    "setxcf": (
        "SETXCF commands",
        "To start the policy, to rebuild a structure under it, or to enlarge one that fills: issue only what fits.",
    ),
    "runbook": ("Runbook", "What to do at IXC585E and at reason code 2192, with the figures of this plan."),
}
"""Titles and remarks of the text outputs on this page; the complete job needs more than this form asks."""

DOCUMENT_OUTPUT = "document"

LABELS: Mapping[str, tuple[str, Kind]] = {
    "need_bytes": ("Need", "bytes"),
    "initsize_kib": ("INITSIZE", "kib"),
    "size_kib": ("SIZE", "kib"),
    "target_usage_percent": ("Usage at the backlog, at most", "percent"),
    "cfcc_level": ("CFCC level that it is sized for", "text"),
    "entries_required": ("List entries required", "count"),
    "elements_required": ("Elements required", "count"),
    "messages": ("Messages", "count"),
    "entries": ("List entries", "count"),
    "elements": ("List elements of 256 bytes", "count"),
    "binding": ("Pool that sets the size", "text"),
    "peak_usage_percent": ("INITSIZE in use at this backlog", "percent"),
    "messages_in_initsize": ("Messages that INITSIZE holds", "count"),
    "messages_in_initsize_with_offload": ("Messages that INITSIZE holds, with offload", "count"),
    "messages_in_size": ("Messages that SIZE holds", "count"),
    "messages_in_size_with_offload": ("Messages that SIZE holds, with offload", "count"),
    "offloaded_at_backlog": ("Messages offloaded at this backlog", "count"),
    "smds/data_set_bytes_at_backlog": (
        "Shared message data set of each queue manager, at this backlog",
        "bytes",
    ),
    "smds/data_set_bytes_when_full": (
        "Shared message data set of each queue manager, when SIZE is full",
        "bytes",
    ),
    "smds/buffer_bytes_per_queue_manager": ("SMDS buffers in each queue manager", "bytes"),
    "db2/lob_bytes_at_backlog": ("LOB space in Db2 for the group, at this backlog", "bytes"),
    "db2/lob_bytes_when_full": ("LOB space in Db2 for the group, when SIZE is full", "bytes"),
}
"""The figures of a structure that are shown, by their name in the JSON answer."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of the result and its explanation."""

    id: str
    label: str
    kind: Kind
    value: int | float | str
    why: Explanation | None


@dataclass(frozen=True, slots=True)
class StructureFigures:
    """One structure: its names, and its figures by name."""

    name: str
    cfrm_name: str
    purpose: str
    is_application: bool
    figures: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class CalculatorText:
    """A text to copy or download."""

    kind: str
    title: str
    about: str
    text: str
    filename: str
    href: str


@dataclass(frozen=True, slots=True)
class CalculatorResult:
    """Everything below the form."""

    application: StructureFigures
    structures: tuple[StructureFigures, ...]
    totals: Mapping[str, Figure]
    demand: str
    chart: SizeChart
    findings: tuple[Finding, ...]
    outputs: tuple[CalculatorText, ...]
    refusal: str
    summary: str


_PURPOSES = {
    "admin": "Coordinates the group; holds no messages, and no queue can be put on it",
    "application": "Holds the messages of the queue",
    "system": "System queues for shared channels and group units of recovery",
}


def answer_of(document: PlanDocument, form: QuickForm) -> CalculatorResult:
    """Evaluate the plan and arrange the result.

    Raises:
        PlanRefused: No such plan can exist.
    """
    result = evaluate(document)
    found: Mapping[str, Any] = result.as_json()
    reasons = {explanation.figure: explanation for explanation in explain_result(result)}
    shown = tuple(_structure(structure, index, reasons) for index, structure in enumerate(result.structures))
    application = next(structure for structure in shown if structure.is_application)
    outputs, refusal = _outputs(document, result, form)
    return CalculatorResult(
        application=application,
        structures=shown,
        totals=_figures(found["totals"], "/totals", "together", reasons),
        demand=_demand(form, document.structures[0].queues[0]),
        chart=_chart(result, application),
        findings=result.findings,
        outputs=outputs,
        refusal=refusal,
        summary=_summary(application, result.findings),
    )


def _structure(
    structure: StructureResult, index: int, reasons: Mapping[str, Explanation]
) -> StructureFigures:
    found = structure_answer(structure).as_json()
    if structure.role != "application":
        found = {name: value for name, value in found.items() if "offload" not in name}
    figures = _figures(found, f"/structures/{index}", structure.name, reasons)
    return StructureFigures(
        name=structure.name,
        cfrm_name=structure.cfrm_name,
        purpose=_PURPOSES[structure.role],
        is_application=structure.role == "application",
        figures=figures,
    )


def _figures(
    found: Mapping[str, Any], pointer: str, name: str, reasons: Mapping[str, Explanation]
) -> Mapping[str, Figure]:
    """Those members that are shown, each with its explanation."""
    return {
        member: Figure(
            id=f"why-{name}-{member}".replace("/", "-"),
            label=LABELS[member][0],
            kind=LABELS[member][1],
            value=value,
            why=reasons.get(f"{pointer}/{member}"),
        )
        for member, value in _flat(found)
        if member in LABELS and value is not None
    }


def _flat(found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The members of a structure's JSON by their pointers below it."""
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}/{inner}", each) for inner, each in value.items())
        else:
            yield name, value


def _chart(result: PlanResult, application: StructureFigures) -> SizeChart:
    message_bytes = result.document.structures[0].queues[0].message_bytes
    figures = application.figures
    return chart_of(
        curve=next(each.curve for each in result.structures if each.role == "application"),
        message_bytes=message_bytes if isinstance(message_bytes, int) else message_bytes.max,
        messages=int(figures["messages"].value),
        need_bytes=int(figures["need_bytes"].value),
        initsize_bytes=kib_to_bytes(int(figures["initsize_kib"].value)),
        size_bytes=kib_to_bytes(int(figures["size_kib"].value)),
    )


def _demand(form: QuickForm, queue: Queue) -> str:
    if form["backlog_by"].value != "rate":
        return ""
    rate, minutes = form["rate_per_minute"].value, form["outage_minutes"].value
    return f"{rate} messages a minute over {minutes} minutes are {grouped(queue.backlog or 0)} messages."


def _summary(application: StructureFigures, findings: tuple[Finding, ...]) -> str:
    figures = application.figures
    words = [
        f"{application.cfrm_name} needs {plain(int(figures['need_bytes'].value))}:",
        f"INITSIZE {plain(kib_to_bytes(int(figures['initsize_kib'].value)))},",
        f"SIZE {plain(kib_to_bytes(int(figures['size_kib'].value)))}.",
        f"{str(figures['binding'].value).capitalize()} set the size.",
    ]
    for severity, one, many in (("error", "error", "errors"), ("warning", "warning", "warnings")):
        number = sum(finding.severity == severity for finding in findings)
        if number:
            words.append(f"{number} {one if number == 1 else many}.")
    return " ".join(words)


def _outputs(
    document: PlanDocument, result: PlanResult, form: QuickForm
) -> tuple[tuple[CalculatorText, ...], str]:
    shown, refusal = [], ""
    for kind, (title, about) in SHOWN_OUTPUTS.items():
        try:
            output = render_output(kind, result)
        except OutputRefused as error:
            refusal = refusal or str(error)
            continue
        shown.append(
            CalculatorText(kind, title, about, output.text, output.filename, f"/quick/{kind}?{form.query}")
        )
    text, filename = document_text(document)
    about = "The same plan as a document for cfplan plan, for POST /api/v1/size, and to go on from."
    shown.append(
        CalculatorText(
            DOCUMENT_OUTPUT, "Plan document", about, text, filename, f"/quick/{DOCUMENT_OUTPUT}?{form.query}"
        )
    )
    return tuple(shown), refusal


def document_text(document: PlanDocument) -> tuple[str, str]:
    """The plan document as JSON text, and the name of a file for it."""
    return document.model_dump_json(indent=2, exclude_defaults=True) + "\n", f"{document.qsg}.plan.json"
