"""Comparisons and reports, arranged for pages: figures in readable units, sources with their addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.plans.finding_groups import FindingView, findings_shown
from planner_core.provenance import Source, read_source
from planner_core.whatif.scenario_report import ComparisonRow, FindingRow, SavedScenario, SideBySide

MOST_ROWS = 2000
MOST_FINDINGS = 300


@dataclass(frozen=True, slots=True)
class RowGroup:
    """The rows of one structure or of one loss."""

    title: str
    rows: tuple[ComparisonRow, ...]


@dataclass(frozen=True, slots=True)
class ScenarioComparisonView:
    """A comparison, arranged for its page."""

    columns: tuple[SavedScenario, ...]
    settings: tuple[RowGroup, ...]
    figures: tuple[RowGroup, ...]
    losses: tuple[RowGroup, ...]
    commands: tuple[ComparisonRow, ...]
    findings: tuple[FindingRow, ...]
    said: tuple[FindingView, ...]
    left_out: int
    """Number of rows without differences, which are not shown."""
    cut: int
    """Number of rows that are too many for the page."""


def compared(answer: SideBySide, *, shows_all: bool) -> ScenarioComparisonView:
    """Arrange a comparison; without `shows_all`, only rows with differences."""

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
        said=findings_shown(each.as_json() for each in answer.findings),
        left_out=left_out,
        cut=max(len(figures) - MOST_ROWS, 0) + max(len(answer.finding_rows) - MOST_FINDINGS, 0),
    )


def _grouped(rows: Sequence[ComparisonRow], without: str) -> tuple[RowGroup, ...]:
    groups: dict[str, list[ComparisonRow]] = {}
    for row in rows:
        groups.setdefault(row.structure or without, []).append(row)
    return tuple(RowGroup(title, tuple(found)) for title, found in groups.items())


# ---- the report ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LossComparisonView:
    """A loss before and after."""

    title: str
    is_the_scenario: bool
    moves: tuple[Mapping[str, Any], ...]
    unplaced_before: str
    unplaced_after: str
    white_before_mib: float | None
    white_after_mib: float
    gone_before: int | None
    gone_after: int
    note_white_space: int | None
    note_messages_gone: int | None


@dataclass(frozen=True, slots=True)
class FindingChange:
    """A finding that is new, gone, or has another message."""

    kind: str
    finding: FindingView
    before: str
    """Its message before; empty for a new one."""


@dataclass(frozen=True, slots=True)
class PlacementRuleRow:
    """A rule of placement."""

    key: str
    words: str
    basis: str
    source: Source


@dataclass(frozen=True, slots=True)
class CalculationNote:
    """The origin of figures."""

    number: int
    figure: str
    formula: str
    basis: str
    documents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SourceDocumentRow:
    """A document that figures, rules, commands or findings are based on."""

    number: int
    source: Source


@dataclass(frozen=True, slots=True)
class CommandRow:
    """A command with its number."""

    number: int
    command: str
    takes_effect: str
    why: str
    basis: str
    source: Source


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report, arranged for its page."""

    qsg: str
    what_changes: tuple[Mapping[str, Any], ...]
    structures: tuple[Mapping[str, Any], ...]
    totals: tuple[Mapping[str, Any], ...]
    losses: tuple[LossComparisonView, ...]
    white_space: tuple[tuple[str, Mapping[str, Any] | None, Mapping[str, Any]], ...]
    rules: tuple[PlacementRuleRow, ...]
    commands: tuple[CommandRow, ...]
    commands_refused: str
    changes: tuple[FindingChange, ...]
    findings: tuple[FindingView, ...]
    """Findings that did not change."""
    findings_total: int
    assumptions: tuple[str, ...]
    notes: tuple[CalculationNote, ...]
    documents: tuple[SourceDocumentRow, ...]


def reported(told: Mapping[str, Any]) -> ReportView:
    """Arrange a report."""
    used = {move["rule"] for loss in told["losses"]["after"] for move in loss["moves"]}
    rules = [rule for rule in told["rules"] if rule["rule"] in used]
    changes = _changes(told["findings_new"], told["findings_gone"])
    rest = _unchanged(told["findings"], told["findings_new"])
    found = findings_shown(rest[:MOST_FINDINGS])
    resting = (
        *(read_source(each["source"]) for each in (*rules, *told["commands"])),
        *(each.finding.source for each in changes),
        *(each.source for each in found),
    )
    before = {item["coupling_facility"]: item for item in told["white_space"]["before"]}
    return ReportView(
        qsg=told["qsg"],
        what_changes=tuple(told["what_changes"]),
        structures=tuple(told["structures"]),
        totals=tuple(told["totals"]),
        losses=_losses(told["losses"]),
        white_space=tuple(
            (item["coupling_facility"], before.get(item["coupling_facility"]), item)
            for item in told["white_space"]["after"]
        ),
        rules=tuple(
            PlacementRuleRow(
                rule["rule"], rule["words"], rule["basis"].replace("_", " "), read_source(rule["source"])
            )
            for rule in rules
        ),
        commands=tuple(
            CommandRow(
                each["number"],
                each["command"],
                each["takes_effect"],
                each["why"],
                each["basis"],
                read_source(each["source"]),
            )
            for each in told["commands"]
        ),
        commands_refused=told["commands_refused"] or "",
        changes=changes,
        findings=found,
        findings_total=len(rest),
        assumptions=tuple(told["assumptions"]),
        notes=tuple(
            CalculationNote(
                note["number"],
                note["figure"],
                note["formula"] or "",
                note["basis"].replace("_", " "),
                tuple(note["documents"]),
            )
            for note in told["notes"]
        ),
        documents=_documents(told["documents"], resting),
    )


def _unchanged(
    findings: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return findings that the changes do not bring."""

    def key(each: Mapping[str, Any]) -> tuple[object, ...]:
        return each["code"], each["message"], each["structure"], each["field"]

    brought = {key(each) for each in new}
    return [each for each in findings if key(each) not in brought]


def _documents(
    numbered: Sequence[Mapping[str, Any]], resting: Sequence[Source]
) -> tuple[SourceDocumentRow, ...]:
    """Return the documents of the notes by number, then those of rules, commands and findings, each once."""
    found = [SourceDocumentRow(each["number"], read_source(each["document"])) for each in numbered]
    known = {each.source.url for each in found}
    for source in resting:
        if source.url and source.url not in known:
            known.add(source.url)
            found.append(SourceDocumentRow(len(found) + 1, replace(source, section="")))
    return tuple(found)


def _losses(losses: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[LossComparisonView, ...]:
    before = {(item["kind"], item["lost"]): item for item in losses["before"]}
    found = []
    for item in losses["after"]:
        was = before.get((item["kind"], item["lost"]))
        found.append(
            LossComparisonView(
                title=item["lost"]
                if item["kind"] == "coupling_facility"
                else f"{item['kind']} {item['lost']}",
                is_the_scenario=item["is_the_scenario"],
                moves=tuple(item["moves"]),
                unplaced_before=", ".join(was["unplaced"]) if was else "",
                unplaced_after=", ".join(item["unplaced"]),
                white_before_mib=was["white_space_mib"] if was else None,
                white_after_mib=item["white_space_mib"],
                gone_before=was["messages_gone"] if was else None,
                gone_after=item["messages_gone"],
                note_white_space=item["note_white_space"],
                note_messages_gone=item["note_messages_gone"],
            )
        )
    return tuple(found)


def _changes(
    new: Sequence[Mapping[str, Any]], gone: Sequence[Mapping[str, Any]]
) -> tuple[FindingChange, ...]:
    """Return new findings, those with another message, and those that are gone."""
    left = list(gone)
    found = []
    for item in new:
        was = next(
            (
                each
                for each in left
                if (each["code"], each["structure"], each["field"])
                == (item["code"], item["structure"], item["field"])
            ),
            None,
        )
        if was is not None:
            left.remove(was)
        (told,) = findings_shown([item])
        found.append(FindingChange("changed" if was else "new", told, str(was["message"]) if was else ""))
    order = {"new": 0, "changed": 1}
    found.sort(key=lambda each: order[each.kind])
    found += [FindingChange("gone", told, "") for told in findings_shown(left)]
    return tuple(found[:MOST_FINDINGS])
