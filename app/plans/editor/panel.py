"""The result next to the editor's form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.fits.kept import Curves
from app.fits.resolve import evaluate
from app.plans.editor.folding import FOLDED_OVER
from app.plans.editor.form import CheckedForm, Reading, Typed, sort_problems
from app.plans.editor.view import label_of
from app.plans.finding_groups import FindingView, findings_shown
from app.plans.stored import StoredVersion
from app.web.forms import FormField, to_fix
from app.web.rendering import plain
from planner_core.errors import FieldProblem, PlanRefused
from planner_core.findings import Finding
from planner_core.plan.result import CurveComparison, PlanResult
from planner_core.units import kib_to_bytes

MOST_ROWS = 70
MOST_FINDINGS = 40
MOST_WRONG = 8
_ANCHOR = re.compile(
    r"/(admin|system|policy|coupling_facilities(/\d+)?|structures/\d+(/queues(/\d+)?)?|acknowledged/\d+)"
)


@dataclass(frozen=True, slots=True)
class PanelRow:
    """The result of one structure."""

    name: str
    need_bytes: int
    initsize_bytes: int
    size_bytes: int
    binding: str


@dataclass(frozen=True, slots=True)
class Panel:
    """Totals, structures and findings; if there is no result, it has no rows."""

    summary: str
    initsize_bytes: int
    size_bytes: int
    rows: tuple[PanelRow, ...]
    rows_omitted: int
    findings: tuple[FindingView, ...]
    findings_omitted: int
    wrong: tuple[FormField, ...] = ()
    """The errors that prevent a result."""
    comparison: CurveComparison | None = None
    """Sizes under the published and the fitted curve; None if there is no fitted curve."""


NOTHING = Panel("", 0, 0, (), 0, (), 0)


def panel_of(
    typed: Typed, checked: CheckedForm, curves: Curves, *, is_asked: bool = True, is_saved: bool = False
) -> tuple[Panel, CheckedForm]:
    """Evaluate a form; findings that prevent a result become errors of the form.

    Args:
        typed: The form.
        checked: The result of reading and checking the form.
        curves: The lookup of fitted curves.
        is_asked: Whether a result was requested, so that missing values are errors.
        is_saved: Whether the form was to be saved; the result of a large plan is not calculated otherwise.
    """
    document = checked.document
    if document is None:
        if not is_asked:
            return replace(NOTHING, summary="The result is shown here."), checked
        wrong = tuple(
            FormField(name, label_of(name, typed), error=error) for name, error in checked.errors.items()
        )
        return replace(
            NOTHING, summary=to_fix(len(checked.errors) + len(checked.general)), wrong=wrong[:MOST_WRONG]
        ), checked
    number = sum(len(structure.queues) for structure in document.structures)
    if number > FOLDED_OVER and not is_saved:
        words = (
            f"No errors in {number:,} queues. The result of a plan with more than {FOLDED_OVER:,} queues is calculated "
            "when you save it."
        )
        return replace(NOTHING, summary=words), checked
    try:
        result = evaluate(document, curves)
    except PlanRefused as refused:
        problems = [FieldProblem(finding.field or "", finding.message) for finding in refused.findings]
        errors, general = sort_problems(checked.reading, problems)
        refusal = replace(checked, document=None, errors=errors, general=general)
        findings = _findings(refused.findings, typed, checked)
        return replace(NOTHING, summary="No such plan can exist.", findings=findings), refusal
    return _answered(result, typed, checked), checked


def panel_of_version(version: StoredVersion, typed: Typed) -> tuple[Panel, CheckedForm]:
    """Return the stored result of a version next to its unchanged form, without calculating anything."""
    # The form of a document has the same pointers as the document.
    reading = Reading({}, {}, {}, (), frozenset(typed))
    checked = CheckedForm(reading, None)
    totals = version.result["totals"]
    rows = tuple(
        PanelRow(
            each["name"],
            each["need_bytes"],
            kib_to_bytes(each["initsize_kib"]),
            kib_to_bytes(each["size_kib"]),
            each.get("binding") or "",
        )
        for each in version.result["structures"]
    )
    initsize, size = kib_to_bytes(totals["initsize_kib"]), kib_to_bytes(totals["size_kib"])
    panel = Panel(
        # A resized structure is in the form but not in this result.
        summary=f"Version {version.number}: {_summary(initsize, size, version.findings)}",
        initsize_bytes=initsize,
        size_bytes=size,
        rows=rows[:MOST_ROWS],
        rows_omitted=max(len(rows) - MOST_ROWS, 0),
        findings=_findings(version.findings[:MOST_FINDINGS], typed, checked),
        findings_omitted=max(len(version.findings) - MOST_FINDINGS, 0),
    )
    return panel, checked


def _answered(result: PlanResult, typed: Typed, checked: CheckedForm) -> Panel:
    rows = tuple(
        PanelRow(
            structure.name,
            structure.sizes.need_bytes,
            structure.sizes.initsize_bytes,
            structure.sizes.size_bytes,
            structure.load.binding if structure.load is not None and structure.load.demand.messages else "",
        )
        for structure in result.structures
    )
    initsize, size = sum(row.initsize_bytes for row in rows), sum(row.size_bytes for row in rows)
    return Panel(
        summary=_summary(initsize, size, result.findings),
        initsize_bytes=initsize,
        size_bytes=size,
        rows=rows[:MOST_ROWS],
        rows_omitted=max(len(rows) - MOST_ROWS, 0),
        findings=_findings(result.findings[:MOST_FINDINGS], typed, checked),
        findings_omitted=max(len(result.findings) - MOST_FINDINGS, 0),
        comparison=_comparison(result),
    )


def _comparison(result: PlanResult) -> CurveComparison | None:
    found = result.comparison
    return None if found is None else replace(found, structures=found.structures[:MOST_ROWS])


def _findings(items: Sequence[Finding], typed: Typed, checked: CheckedForm) -> tuple[FindingView, ...]:
    reading = checked.reading

    def target(pointer: str) -> str:
        at = reading.origin(pointer)
        # A finding about a value that has no field links to the nearest part of the form with an id.
        while at and at not in reading.fields and not _ANCHOR.fullmatch(at):
            at = at.rpartition("/")[0]
        return at

    def label(at: str) -> str:
        if at in reading.fields:
            return label_of(at, typed)
        return typed.get(f"{at}/name", "").upper() or label_of(at, typed)

    return findings_shown(items, target_of=target, label_of=label)


def _summary(initsize_bytes: int, size_bytes: int, findings: Sequence[Finding]) -> str:
    words = [f"The group uses {plain(initsize_bytes)} INITSIZE, {plain(size_bytes)} SIZE."]
    for severity, one, many in (("error", "error", "errors"), ("warning", "warning", "warnings")):
        number = sum(finding.severity == severity and not finding.acknowledged for finding in findings)
        if number:
            words.append(f"{number} {one if number == 1 else many}.")
    return " ".join(words)
