"""The result of the core, arranged for the page of the calculator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from app.sizing.calculator.charts import chart_of
from app.sizing.calculator.form import QuickForm
from app.web.charts import ChartWithTable, Origin
from app.web.rendering import grouped, plain
from planner_core.document.model import PlanDocument, Queue
from planner_core.errors import OutputRefused
from planner_core.findings import Finding
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import explain_result
from planner_core.plan.result import PlanResult, PlanTotals
from planner_core.provenance import Explanation
from planner_core.sizing.storage_class_memory import Overflow, overflow_of
from planner_core.sizing.structure_answer import StructureAnswer
from planner_core.sizing.structure_result import StructureResult
from planner_core.sizing.structure_size import messages_that_fit, model_constant
from planner_core.texts.outputs import output_filename, render_output
from planner_core.wire import Answer

Kind = Literal["bytes", "kib", "count", "percent", "text"]

SHOWN_OUTPUTS: Mapping[str, tuple[str, str]] = {
    "policy": (
        "CFRM policy statements",
        "A fragment to merge into the complete policy: DEFINE POLICY with REPLACE(YES) replaces every statement.",
    ),
    "mqsc": ("MQSC commands", "DEFINE CFSTRUCT and DEFINE QLOCAL, for one queue manager of the group."),
    "setxcf": (
        "SETXCF commands",
        "To start the policy, to rebuild a structure under it, or to enlarge a structure that fills up: issue only the commands that apply.",
    ),
    "runbook": ("Runbook", "Actions for IXC585E and reason code 2192, with the figures of this plan."),
}
"""Titles and remarks of the text outputs on this page. The complete job is not among them: it needs more values."""

DOCUMENT_OUTPUT = "document"
VIEW = "view"
SHOWN_IN_BROWSER = f"{VIEW}=text"
"""Parameter with which a text is sent to be shown, not to be saved as a file."""
EXPLANATIONS = "explanations"

LABELS: Mapping[str, tuple[str, Kind]] = {
    "need_bytes": ("Need", "bytes"),
    "initsize_kib": ("INITSIZE", "kib"),
    "size_kib": ("SIZE", "kib"),
    "target_usage_percent": ("Maximum usage at the backlog", "percent"),
    "cfcc_level": ("CFCC level used for sizing", "text"),
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
"""Labels of the figures of a structure that the page shows, by their names in the JSON answer."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of the result and its explanation."""

    id: str
    label: str
    kind: Kind
    value: int | float | str
    why: Explanation | None
    explained_at: str = ""
    """Address of the explanation, if the page loads it when it is opened."""


@dataclass(frozen=True, slots=True)
class StructureFigures:
    """One structure: its names, and its figures by name."""

    name: str
    cfrm_name: str
    purpose: str
    is_application: bool
    figures: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class OutputTextView:
    """A text to copy or download, complete or shortened, or the reason why there is none."""

    kind: str
    title: str
    about: str
    text: str
    filename: str
    href: str
    is_cut: bool = False
    refusal: str = ""
    text_at: str = ""
    """Address of the text, if the page loads it when it is opened."""


@dataclass(frozen=True, slots=True)
class ResultFigures:
    """The figures of all structures and their totals."""

    structures: tuple[StructureFigures, ...]
    totals: Mapping[str, Figure]

    @property
    def application(self) -> StructureFigures:
        """The structure with the messages of the queue."""
        return next(structure for structure in self.structures if structure.is_application)


@dataclass(frozen=True, slots=True)
class CalculatorResult:
    """The result as the page shows it below the form."""

    figures: ResultFigures
    demand: str
    overflow: Overflow | None
    chart: ChartWithTable
    empty_initsize_holds: int
    """Messages that INITSIZE holds by the curve, for a structure without a backlog."""
    findings: tuple[Finding, ...]
    outputs: tuple[OutputTextView, ...]
    refusal: str
    summary: str


_PURPOSES = {
    "admin": "Coordinates the group; it holds no messages, and queues cannot be defined on it",
    "application": "Holds the messages of the queue",
    "system": "System queues for shared channels and group units of recovery",
}


def answer_of(document: PlanDocument, form: QuickForm) -> CalculatorResult:
    """Evaluate the plan and arrange the result; each figure has the address of its explanation.

    Raises:
        PlanRefused: The plan is impossible.
    """
    result = evaluate(document)
    # Three quarters of the page would be explanations, and few of them are opened.
    explained_at = _address(EXPLANATIONS, form.short_query)
    figures = _result_figures(result, lambda _, figure_id: (None, f"{explained_at}#{figure_id}"))
    outputs, refusal = _outputs(document, result, form)
    at = figures.structures.index(figures.application)
    return CalculatorResult(
        figures=figures,
        demand=_demand(form, document.structures[0].queues[0]),
        overflow=_overflow(result, form),
        chart=_chart(result),
        empty_initsize_holds=_empty_initsize_holds(result),
        findings=result.findings,
        outputs=outputs,
        refusal=refusal,
        summary=_summary(result.structures[at], result.findings),
    )


def explained_figures(document: PlanDocument) -> ResultFigures:
    """Evaluate the plan and return its figures with their explanations.

    Raises:
        PlanRefused: The plan is impossible.
    """
    result = evaluate(document)
    reasons = {explanation.figure: explanation for explanation in explain_result(result)}
    return _result_figures(result, lambda pointer, _: (reasons[pointer], ""))


_Explained = Callable[[str, str], tuple[Explanation | None, str]]
"""A function that returns the explanation of a figure, or its address, from the figure's pointer and its ID on the page."""


def _result_figures(result: PlanResult, explained: _Explained) -> ResultFigures:
    answer = result.answer()
    return ResultFigures(
        structures=tuple(
            _structure(structure, index, explained) for index, structure in enumerate(answer.structures)
        ),
        totals=_figures(answer.totals, "/totals", "together", explained),
    )


def _structure(structure: StructureAnswer, index: int, explained: _Explained) -> StructureFigures:
    figures = _figures(structure, f"/structures/{index}", structure.name, explained)
    if structure.role != "application":
        # CSQ_ADMIN and CSQSYSAPPL have no offload rules, so figures with offload would repeat the others.
        figures = {name: figure for name, figure in figures.items() if "offload" not in name}
    return StructureFigures(
        name=structure.name,
        cfrm_name=structure.cfrm_name,
        purpose=_PURPOSES[structure.role],
        is_application=structure.role == "application",
        figures=figures,
    )


def _figures(
    found: StructureAnswer | PlanTotals, pointer: str, name: str, explained: _Explained
) -> Mapping[str, Figure]:
    """Return the members that the page shows, each with its explanation or the address of it."""
    figures = {}
    for member, (label, kind) in LABELS.items():
        value = _member(found, member)
        if value is None:
            continue
        figure_id = f"why-{name}-{member}".replace("/", "-")
        # The core explains every number, and only numbers.
        is_text = isinstance(value, str)
        why, address = (None, "") if is_text else explained(f"{pointer}/{member}", figure_id)
        figures[member] = Figure(figure_id, label, kind, value, why, address)
    return figures


def _member(found: Answer, path: str) -> Any:  # noqa: ANN401 - of any type
    """Return a member by its path, or None if the structure has none."""
    value: Any = found
    for name in path.split("/"):
        value = getattr(value, name, None)
    return value


def _message_bytes(result: PlanResult) -> int:
    """Return the size of the messages, or of the largest one."""
    found = result.document.structures[0].queues[0].message_bytes
    return found if isinstance(found, int) else found.max


def _application(result: PlanResult) -> StructureResult:
    return next(each for each in result.structures if each.role == "application")


def _empty_initsize_holds(result: PlanResult) -> int:
    structure = _application(result)
    return messages_that_fit(
        structure.sizes.initsize_bytes, message_bytes=_message_bytes(result), curve=structure.curve
    )


def _first_offload(result: PlanResult) -> tuple[str, int] | None:
    """Return the name and the threshold of the first rule that offloads the messages; None without one.

    Rules with higher thresholds change nothing, because all messages have one size.
    """
    load = _application(result).load
    size = _message_bytes(result)
    # The data of larger messages is never in the structure.
    if load is None or size > model_constant("largest_message_in_cf_bytes"):
        return None
    begins = [
        (rule.threshold, f"OFFLD{number}TH")
        for number, rule in enumerate(load.rules, start=1)
        if rule.is_on and size > rule.size_bytes
    ]
    threshold, name = min(begins, default=(0, ""))
    return (name, threshold) if name else None


def _chart(result: PlanResult) -> ChartWithTable:
    structure = _application(result)
    return chart_of(
        curve=structure.curve,
        message_bytes=_message_bytes(result),
        messages=sum(queue.messages for queue in structure.queues),
        need_bytes=structure.sizes.need_bytes,
        initsize_bytes=structure.sizes.initsize_bytes,
        size_bytes=structure.sizes.size_bytes,
        offload=_first_offload(result),
        origin=Origin(
            structure.cfrm_name,
            f"CFCC level {result.document.cfcc_level}",
            "published figures, calculated by cfplan",
        ),
    )


def _overflow(result: PlanResult, form: QuickForm) -> Overflow | None:
    """Return the messages for storage-class memory; None if the form asks for none."""
    if not form.overflow_messages:
        return None
    structure = _application(result)
    return overflow_of(
        form.overflow_messages,
        message_bytes=_message_bytes(result),
        cfcc_level=result.document.cfcc_level,
        curve=structure.curve,
    )


def _demand(form: QuickForm, queue: Queue) -> str:
    if form["backlog_by"].value != "rate":
        return ""
    rate, minutes = form["rate_per_minute"].value, form["outage_minutes"].value
    return f"{rate} messages per minute for {minutes} minutes are {grouped(queue.backlog or 0)} messages."


def _summary(application: StructureResult, findings: tuple[Finding, ...]) -> str:
    sizes = application.sizes
    words = [
        f"{application.cfrm_name} needs {plain(sizes.need_bytes)}:",
        f"INITSIZE {plain(sizes.initsize_bytes)},",
        f"SIZE {plain(sizes.size_bytes)}.",
    ]
    if application.load is not None:
        words.append(f"{application.load.binding.capitalize()} set the size.")
    for severity, one, many in (("error", "error", "errors"), ("warning", "warning", "warnings")):
        number = sum(finding.severity == severity for finding in findings)
        if number:
            words.append(f"{number} {one if number == 1 else many}.")
    return " ".join(words)


def _outputs(
    document: PlanDocument, result: PlanResult, form: QuickForm
) -> tuple[tuple[OutputTextView, ...], str]:
    """Return the text that is open from the start, and the others as addresses; and the reason if texts are refused."""

    def view(kind: str, title: str, about: str, filename: str, text: str = "") -> OutputTextView:
        href = _address(kind, form.short_query)
        text_at = "" if text else _address(kind, form.short_query, SHOWN_IN_BROWSER)
        return OutputTextView(kind, title, about, text, filename, href, text_at=text_at)

    about = "The same plan as a document, for cfplan plan, for POST /api/v1/size, or as a starting point."
    plan = DOCUMENT_OUTPUT, "Plan document", about, document_filename(document)
    first, *others = SHOWN_OUTPUTS
    try:
        policy = render_output(first, result)
    except OutputRefused as error:
        # All texts are refused for the same errors of the plan.
        return (view(*plan, document_text(document)[0]),), str(error)
    shown = [
        view(first, *SHOWN_OUTPUTS[first], policy.filename, policy.text),
        *(view(kind, *SHOWN_OUTPUTS[kind], output_filename(kind, document.qsg)) for kind in others),
    ]
    return (*shown, view(*plan)), ""


def _address(kind: str, *queries: str) -> str:
    """Return the address of a text or of the explanations."""
    return f"/calculator/{kind}?{'&'.join(filter(None, queries))}".removesuffix("?")


def document_text(document: PlanDocument) -> tuple[str, str]:
    """Return the plan document as JSON text, and a file name for it."""
    return document.model_dump_json(indent=2, exclude_defaults=True) + "\n", document_filename(document)


def document_filename(document: PlanDocument) -> str:
    """Return a file name for the plan document."""
    return f"{document.qsg}.plan.json"
