"""Comparisons and reports, arranged for pages: figures in readable units, sources with their addresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from app.plans.finding_groups import FindingView, findings_shown
from app.web.charts import BarChart, Origin
from app.web.size_charts import SizedBar, SizedGroup, sizes_chart
from planner_core.findings import Finding, read_findings
from planner_core.provenance import Source, read_source
from planner_core.whatif.scenario_report import (
    ComparisonRow,
    FindingRow,
    ReportDocument,
    ReportFigure,
    ReportStructure,
    SavedScenario,
    ScenarioReport,
    SideBySide,
)
from planner_core.wire import JsonObject

MOST_ROWS = 2000
MOST_FINDINGS = 300
MOST_ON_SHEETS = 8
"""Maximum number of findings and of commands on the first two sheets; the appendix has the others."""
_SIZES = ("INITSIZE", "SIZE")
RowGroups = tuple[tuple[str, tuple[ComparisonRow, ...]], ...]
"""Rows grouped by structure or loss, each group with its title."""


@dataclass(frozen=True, slots=True)
class ScenarioComparisonView:
    """A comparison, arranged for its page."""

    columns: tuple[SavedScenario, ...]
    settings: RowGroups
    figures: RowGroups
    losses: RowGroups
    commands: tuple[ComparisonRow, ...]
    findings: tuple[FindingRow, ...]
    said: tuple[FindingView, ...]
    left_out: int
    """Number of rows without differences, which are not shown."""
    cut: int
    """Number of rows beyond the limit of the page."""
    chart: BarChart | None
    """The sizes of the structures in the plan and in each scenario; None if none differ."""


def compared(answer: SideBySide, *, shows_all: bool) -> ScenarioComparisonView:
    """Return a comparison, arranged for its page; without `shows_all`, only rows with differences."""

    def wanted(rows: Sequence[ComparisonRow]) -> list[ComparisonRow]:
        return [row for row in rows if shows_all or any(row.differs)]

    everything = (answer.settings, answer.totals, answer.figures, answer.losses)
    left_out = sum(len(rows) - len(wanted(rows)) for rows in everything)
    figures = wanted((*answer.totals, *answer.figures))
    return ScenarioComparisonView(
        columns=answer.columns,
        settings=_grouped(wanted(answer.settings), "The plan"),
        figures=_grouped(figures[:MOST_ROWS], "All structures"),
        losses=_grouped(wanted(answer.losses), ""),
        commands=answer.commands,
        findings=answer.finding_rows[:MOST_FINDINGS],
        said=findings_shown(answer.findings),
        left_out=left_out,
        cut=max(len(figures) - MOST_ROWS, 0) + max(len(answer.finding_rows) - MOST_FINDINGS, 0),
        chart=_chart(answer),
    )


def _chart(answer: SideBySide) -> BarChart | None:
    """Return the sizes of each structure in the plan and in each scenario."""
    sizes: dict[str, dict[str, tuple[int | None, ...]]] = {}
    for row in answer.figures:
        if row.structure and row.label in _SIZES:
            sizes.setdefault(row.structure, {})[row.label] = row.values
    names = ("plan", *(each.name for each in answer.columns))
    nothing = (None,) * len(names)
    groups = [
        SizedGroup(
            structure,
            tuple(map(SizedBar, names, *(found.get(label, nothing) for label in _SIZES))),
        )
        for structure, found in sizes.items()
    ]
    first = answer.columns[0]
    origin = Origin(
        f"group {first.result['qsg']}, version {first.version} of the plan", "", "scenarios as saved"
    )
    return sizes_chart("scenarios", "Structures in the plan and in each scenario", groups, origin=origin)


def _grouped(rows: Sequence[ComparisonRow], without: str) -> RowGroups:
    groups: dict[str, list[ComparisonRow]] = {}
    for row in rows:
        groups.setdefault(row.structure or without, []).append(row)
    return tuple((title, tuple(found)) for title, found in groups.items())


# ---- the report ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SizeChange:
    """A structure whose figures change, with the two sizes of the policy."""

    structure: str
    initsize: ReportFigure
    size: ReportFigure


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report, and its parts arranged for the page."""

    report: ScenarioReport
    """The report; its stored parts are JSON, perhaps from an earlier release."""
    sizes: tuple[SizeChange, ...]
    """Structures whose figures change."""
    unchanged: tuple[str, ...]
    """Structures whose figures do not change."""
    losses: tuple[tuple[str, JsonObject | None, JsonObject], ...]
    """Title, the loss before (None if the plan does not have the coupling facility), and the loss after."""
    white_space: tuple[tuple[str, JsonObject | None, JsonObject], ...]
    """Coupling facility, its white space before (None if the plan does not have it), and after."""
    rules: tuple[JsonObject, ...]
    """The rules that decided moves."""
    changes: tuple[tuple[str, FindingView, str], ...]
    """Kind of change (new, changed or gone), finding, and earlier message; the message is empty if it did not change."""
    findings: tuple[FindingView, ...]
    """Findings that did not change."""
    findings_total: int
    documents: tuple[Source, ...]
    """Documents in the order of their numbers in the notes."""


def reported(report: ScenarioReport) -> ReportView:
    """Return a report, arranged for its page."""
    told = report.as_json()
    used = {move["rule"] for loss in told["losses"]["after"] for move in loss["moves"]}
    rules = tuple(rule for rule in told["rules"] if rule["rule"] in used)
    new, gone, every = (read_findings(told[key]) for key in ("findings_new", "findings_gone", "findings"))
    changes = _changes(new, gone)
    rest = _unchanged(every, new)
    found = findings_shown(rest[:MOST_FINDINGS])
    resting = (
        *(read_source(each["source"]) for each in (*rules, *told["commands"])),
        *(changed.source for _, changed, _ in changes),
        *(each.source for each in found),
    )
    facilities = {item["coupling_facility"]: item for item in told["white_space"]["before"]}
    before = {(item["kind"], item["lost"]): item for item in told["losses"]["before"]}
    losses = tuple(
        (
            item["lost"] if item["kind"] == "coupling_facility" else f"{item['kind']} {item['lost']}",
            before.get((item["kind"], item["lost"])),
            item,
        )
        for item in told["losses"]["after"]
    )
    changed = [item for item in report.structures if any(map(_differs, item.figures))]
    return ReportView(
        report=report,
        sizes=tuple(map(_size_change, changed)),
        unchanged=tuple(item.structure for item in report.structures if item not in changed),
        losses=losses,
        white_space=tuple(
            (item["coupling_facility"], facilities.get(item["coupling_facility"]), item)
            for item in told["white_space"]["after"]
        ),
        rules=rules,
        changes=changes,
        findings=found,
        findings_total=len(rest),
        documents=tuple(_documents(report.documents, resting)),
    )


def _differs(figure: ReportFigure) -> bool:
    return figure.before != figure.after


def _size_change(item: ReportStructure) -> SizeChange:
    figures = {figure.figure: figure for figure in item.figures}
    return SizeChange(item.structure, figures["initsize_kib"], figures["size_kib"])


def _unchanged(findings: Sequence[Finding], new: Sequence[Finding]) -> list[Finding]:
    """Return findings that the changes do not cause."""

    def key(each: Finding) -> tuple[object, ...]:
        return each.code, each.message, each.structure, each.field

    brought = {key(each) for each in new}
    return [each for each in findings if key(each) not in brought]


def _documents(numbered: Iterable[ReportDocument], resting: Sequence[Source]) -> list[Source]:
    """Return the documents of the notes by number, then those of rules, commands and findings, without repetitions."""
    found = [read_source(each.document) for each in numbered]
    known = {each.url for each in found}
    for source in resting:
        # Notes, rules and findings are often based on the same document.
        if source.url and source.url not in known:
            known.add(source.url)
            found.append(replace(source, section=""))
    return found


def _changes(new: Sequence[Finding], gone: Sequence[Finding]) -> tuple[tuple[str, FindingView, str], ...]:
    """Return new findings first, then those with another message, then resolved ones."""
    left = list(gone)
    found = []
    for item in new:
        was = next(
            (
                each
                for each in left
                if (each.code, each.structure, each.field) == (item.code, item.structure, item.field)
            ),
            None,
        )
        if was is not None:
            # Several findings may have the same code and place: each earlier one pairs with one new one.
            left.remove(was)
        (told,) = findings_shown([item])
        found.append(("changed" if was else "new", told, was.message if was else ""))
    order = {"new": 0, "changed": 1}
    # New findings first: a change board asks what a change causes.
    found.sort(key=lambda each: order[each[0]])
    found += [("gone", told, "") for told in findings_shown(left)]
    return tuple(found[:MOST_FINDINGS])
