"""Answers about the running system, arranged for pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.running.texts import printable
from app.web.axes import Linear
from app.web.charts import Bar, BarChart, BarMark, Origin, Part
from app.web.file_names import file_name
from planner_core.findings import SEVERITIES
from planner_core.running.compare import ComparedStructure, Comparison
from planner_core.running.line_findings import LineFinding
from planner_core.running.lint import Lint
from planner_core.running.merge import MergedPolicy, PolicyChange
from planner_core.running.policy import Setting
from planner_core.running.state import RunningStructure
from planner_core.units import MIB

MOST_LINES: Final = 3_000
"""Maximum number of lines in a listing; in a longer text, only lines with findings and some around them are shown."""
MOST_FINDINGS: Final = 500
"""Maximum number of findings on a page, most severe first; the command and REST return all of them."""
_AROUND: Final = 3
_KINDS: Final = {"policy": "CFRM policy", "mqsc": "MQSC", "display": "displays"}


@dataclass(frozen=True, slots=True)
class ListedLine:
    """A line of the text, and the most severe of its findings."""

    number: int
    text: str
    severity: str


@dataclass(frozen=True, slots=True)
class LintView:
    """The view of a text and its findings."""

    summary: str
    findings: tuple[LineFinding, ...]
    lines: tuple[ListedLine, ...]


def lint_view(found: Lint, text: str) -> LintView:
    """Return the result of a check, arranged for its page."""
    counts = Counter(each.severity for each in found.findings)
    told = ", ".join(f"{counts[s]} {_plural(s, counts[s])}" for s in SEVERITIES if counts[s])
    kinds = " and ".join(_KINDS[kind] for kind in found.kinds) or "nothing that can be checked"
    structures = (
        f", {found.structures} structure{'' if found.structures == 1 else 's'}" if found.kinds else ""
    )
    worst = by_line(refused_findings(found.findings))
    return LintView(
        f"{found.lines} line{'' if found.lines == 1 else 's'}: {kinds}{structures}. {told or 'No finding'}."
        f"{_of_more(found.findings, 'cfplan lint')}",
        worst,
        tuple(_listed(worst, printable(text))),
    )


def _of_more(found: Sequence[LineFinding], command: str) -> str:
    """Return a sentence if some findings are not shown, otherwise an empty text."""
    if len(found) <= MOST_FINDINGS:
        return ""
    return f" The {MOST_FINDINGS} most severe are shown; {command} lists all {len(found)}."


def _plural(severity: str, count: int) -> str:
    word = {"error": "error", "warning": "warning", "info": "note"}[severity]
    return word if count == 1 else f"{word}s"


def _listed(found: Sequence[LineFinding], text: str) -> Iterator[ListedLine]:
    worst: dict[int, str] = {}
    for each in found:
        if each.line:
            had = worst.get(each.line, "info")
            # The worst severity is the first in SEVERITIES, hence the minimum.
            worst[each.line] = min(had, each.severity, key=SEVERITIES.index)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines and not lines[-1]:
        # A line end after the last line does not begin another line.
        lines.pop()
    shown = set(range(1, len(lines) + 1))
    if len(lines) > MOST_LINES:
        shown = {n for line in worst for n in range(line - _AROUND, line + _AROUND + 1)}
    for number, line in enumerate(lines, start=1):
        if number in shown:
            # Lines in z/OS have 80 characters; uncut, a text without line ends would make the page megabytes long.
            yield ListedLine(number, line[:300], worst.get(number, ""))


@dataclass(frozen=True, slots=True)
class MergeView:
    """The view of a merged policy."""

    summary: str
    changes: tuple[PolicyChange, ...]
    difference: tuple[tuple[str, str], ...]
    """Each line of the difference, preceded by its kind: added, removed, place (the header of a hunk) or same."""
    findings: tuple[LineFinding, ...]
    text: str
    filename: str
    workflow: str
    """The z/OSMF workflow that defines the policy; empty if there is none."""
    workflow_filename: str


_DIFFERENCE_KINDS: Final = {"+": "added", "-": "removed", "@": "place"}


def merge_view(found: MergedPolicy, workflow_name: str) -> MergeView:
    """Return a merged policy, arranged for its page, and its workflow."""
    structures = len({change.structure for change in found.changes})
    changed = len(found.changes)
    of = f" of policy {found.policy_name}" if found.policy_name else ""
    summary = (
        f"{changed} change{'' if changed == 1 else 's'} in {structures} structure{'' if structures == 1 else 's'}{of}; everything else "
        "is unchanged, byte for byte."
        if changed
        else f"No change{of}: it matches the plan."
    )
    lines = tuple(
        (_DIFFERENCE_KINDS.get(line[:1], "same"), line)
        for line in printable(found.difference).splitlines()
        if not line.startswith(("---", "+++"))
    )
    return MergeView(
        f"{summary}{_of_more(found.findings, 'cfplan merge')}",
        tuple(
            replace(each, before=printable(each.before or "") or None, after=printable(each.after))
            for each in found.changes
        ),
        lines,
        by_line(refused_findings(found.findings)),
        printable(found.policy),
        filename_of(found),
        found.workflow or "",
        workflow_filename(workflow_name),
    )


def filename_of(found: MergedPolicy) -> str:
    """Return the file name of a merged policy."""
    # The name is from a text, which may have any character.
    return f"{file_name(found.policy_name or 'policy')}-merged.txt"


def workflow_filename(policy_name: str) -> str:
    """Return the file name of the workflow that defines a policy."""
    return f"{file_name(policy_name)}-workflow.xml"


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """The view of a comparison."""

    summary: str
    comparison: Comparison
    structures: tuple[tuple[ComparedStructure, str], ...]
    """Each structure with its state in words."""
    findings: tuple[LineFinding, ...]
    chart: BarChart


def comparison_view(found: Comparison) -> ComparisonView:
    """Return a comparison, arranged for its page."""
    differing = sum(1 for each in found.structures if each.differences or each.queues)
    steps = len(found.commands)
    lead = (
        f"{steps} command{' changes' if steps == 1 else 's change'} them"
        if steps
        else "no commands can be generated yet"
    )
    summary = (
        f"{differing} of {len(found.structures)} structures differ from the plan; {lead}."
        if not found.is_same
        else "The system matches the plan. No action is needed."
    ) + _of_more(found.findings, "cfplan diff")
    largest = max((_largest(each) for each in found.structures), default=1) or 1
    return ComparisonView(
        summary,
        found,
        tuple((each, _state(each.running, is_new=each.is_new)) for each in found.structures),
        found.findings[:MOST_FINDINGS],
        _sizes_chart(found.structures, largest),
    )


def _state(running: RunningStructure | None, *, is_new: bool | None) -> str:
    if running is None:
        return "new" if is_new else "not given"
    state = {True: "allocated", False: "not allocated", None: "unknown"}[running.is_allocated]
    return f"{state}, change pending" if running.is_pending else state


def _today(each: ComparedStructure, keyword: str) -> Setting:
    settings = each.running.settings if each.running else None
    return settings.get(keyword) if settings else None


def _largest(each: ComparedStructure) -> int:
    sizes = each.result.sizes
    today = _today(each, "SIZE")
    return max(sizes.size_bytes, sizes.need_bytes, today if isinstance(today, int) else 0)


def _sizes_chart(structures: Sequence[ComparedStructure], largest: int) -> BarChart:
    """Return a chart with two bars per structure from INITSIZE to SIZE: the current sizes and those of the plan."""
    bars: list[Bar] = []
    for each in structures:
        sizes, allocated = each.result.sizes, each.running.size_bytes if each.running else None
        need = BarMark(sizes.need_bytes / MIB, "need", is_long=True, name="needed")
        marks = (
            (need, BarMark(allocated / MIB, "allocated", is_long=True, name="allocated now"))
            if allocated
            else (need,)
        )
        today = _range("today", _today(each, "INITSIZE"), _today(each, "SIZE"))
        planned = _range("planned", sizes.initsize_bytes, sizes.size_bytes)
        bars += [
            Bar(each.name, "", today, whole=largest / MIB, marks=marks),
            Bar("", "", planned, whole=largest / MIB, marks=(need,)),
        ]
    return BarChart(
        id="sizes",
        title="Sizes of each structure today and planned",
        description="From INITSIZE to SIZE, with the storage needed; the table below gives the figures.",
        bars=tuple(bars),
        is_beside=True,
        x_axis=Linear(0, largest / MIB, "MiB"),
        origin=Origin(source="the plan and the displays and policy that were entered"),
        width=640,
    )


def _range(style: str, initsize: Setting, size: Setting) -> tuple[Part, ...]:
    if not (isinstance(initsize, int) and isinstance(size, int)):
        return ()
    return Part("below", initsize / MIB), Part(
        style, max(0, size - initsize) / MIB, name=f"{style}, INITSIZE to SIZE"
    )


def by_line(found: Sequence[LineFinding]) -> tuple[LineFinding, ...]:
    """Return findings in the order of their lines."""
    return tuple(sorted(found, key=lambda each: each.line or 0))


def refused_findings(found: Sequence[LineFinding]) -> tuple[LineFinding, ...]:
    """Return the most severe findings, as many as a page shows."""
    # The worst first, because the page shows a limited number.
    ranked = sorted(found, key=lambda each: (SEVERITIES.index(each.severity), each.line or 0))
    return tuple(ranked[:MOST_FINDINGS])
