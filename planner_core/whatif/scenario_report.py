"""Comparisons and reports of stored scenarios. No figure is recalculated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field, computed_field

from planner_core import tables
from planner_core.errors import OutOfRange
from planner_core.findings import Finding, Severity, comparable_message, finding
from planner_core.names import Role
from planner_core.provenance import Basis
from planner_core.running.steps import CommandStep
from planner_core.sizing.placement import PlacementRule
from planner_core.whatif.changes import ScenarioChange
from planner_core.whatif.scenario import (
    FIGURES,
    TOTALS,
    ScenarioPlacements,
    ScenarioWhiteSpaces,
    difference,
)
from planner_core.wire import Answer, Hidden, Stored

MOST_COMPARED = 4
NO_COMMANDS = "not available"
_SETTINGS: Mapping[str, str] = {
    "cfcc_level": "CFCC level",
    "queue_managers": "Queue managers",
    "growth_percent_per_year": "Growth, percent a year",
    "years": "Growth, years",
    "target_usage_percent": "Maximum usage at the backlog, percent",
    "headroom_percent": "Headroom, percent",
    "size_factor": "SIZE as a multiple of INITSIZE",
}
_LONGEST_FORMULA = 160


# Plans explain their own figures; those of losses have no explanation, so their notes are declared here.
_WHITE_SPACE: Mapping[str, Any] = {
    "formula": "sum of the sizes of structures that lose their only copy",
    "basis": Basis.ASSUMED.value,
    "sources": [str(tables.source("project", "Placement of structures"))],
}
_GONE: Mapping[str, Any] = {
    "formula": "nonpersistent messages of structures that lose their only copy, and all messages that RECOVER(YES) does not restore",
    "basis": Basis.DERIVED.value,
    "sources": [str(tables.source("mq_held", "Backup and recovery of the coupling facility"))],
}


@dataclass(frozen=True, slots=True)
class SavedScenario:
    """A scenario as it was saved."""

    name: str
    version: int
    note: str
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ComparisonRow(Answer):
    """One line of a comparison: the plan, then each scenario; null if there is no value."""

    label: str
    values: tuple[Any, ...]
    unit: str | None = None
    structure: str | None = None

    @computed_field
    @property
    def differs(self) -> tuple[bool, ...]:
        """True for each value that differs from the plan's."""
        return tuple(value != self.values[0] for value in self.values)

    @computed_field
    @property
    def differences(self) -> tuple[int | float | None, ...]:
        """Each value minus the value of the plan; null for texts."""
        first = self.values[0]
        return tuple(
            round(value - first, 2) if _is_number(value) and _is_number(first) else None
            for value in self.values
        )


def _is_number(value: object) -> bool:
    # In Python, True and False are integers.
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class FindingRow(Answer):
    """A finding that differs: its message in the plan, then in each scenario; null if it is absent."""

    code: str
    severity: Severity
    structure: str | None
    messages: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class ComparedScenario(Answer):
    """A scenario of a comparison."""

    name: str
    version: int
    note: str
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SideBySide(Answer):
    """The plan and up to four scenarios."""

    columns: Hidden[tuple[SavedScenario, ...]]
    settings: tuple[ComparisonRow, ...]
    figures: tuple[ComparisonRow, ...]
    totals: tuple[ComparisonRow, ...]
    losses: tuple[ComparisonRow, ...]
    commands: tuple[ComparisonRow, ...]
    finding_rows: Annotated[tuple[FindingRow, ...], Field(alias="findings_side_by_side")]
    findings: tuple[Finding, ...]

    @computed_field
    @property
    def scenarios(self) -> tuple[ComparedScenario, ...]:
        """The scenarios, in the order of the columns."""
        return tuple(
            ComparedScenario(each.name, each.version, each.note, each.result["changes"])
            for each in self.columns
        )

    @computed_field
    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions of all scenarios, each once."""
        return tuple(dict.fromkeys(said for each in self.columns for said in each.result["assumptions"]))


def side_by_side(kept: Sequence[SavedScenario], *, latest: int | None = None) -> SideBySide:
    """Compare scenarios with the plan of the first one.

    Args:
        kept: The scenarios.
        latest: The plan's latest version, to report scenarios of older ones; None to report none.

    Raises:
        OutOfRange: There are no scenarios, or more than four.
    """
    if not 1 <= len(kept) <= MOST_COMPARED:
        raise OutOfRange(field="of", value=len(kept), lowest=1, highest=MOST_COMPARED)
    first = kept[0].result
    return SideBySide(
        columns=tuple(kept),
        settings=(*_settings(kept), *_structure_settings(kept)),
        figures=tuple(_figures(kept)),
        totals=tuple(
            ComparisonRow(
                FIGURES[key][0],
                (first["before"]["totals"][key], *(each.result["after"]["totals"][key] for each in kept)),
                FIGURES[key][1],
            )
            for key in TOTALS
        ),
        losses=tuple(_losses(kept)),
        commands=tuple(_commands(kept)),
        finding_rows=tuple(_finding_rows(kept)),
        findings=(*_not_of_one_plan(kept), *_of_old_versions(kept, latest)),
    )


def _settings(kept: Sequence[SavedScenario]) -> Iterator[ComparisonRow]:
    first = kept[0].result
    for key, label in _SETTINGS.items():
        yield ComparisonRow(label, (first["before"][key], *(each.result["after"][key] for each in kept)))
    factors = (("rate_factor", "Arrival rates, times"), ("outage_factor", "Outages, times"))
    for key, label in factors:
        yield ComparisonRow(label, (1, *(each.result["changes"].get(key, 1) for each in kept)))
    yield ComparisonRow("Lost coupling facility", (None, *(each.result["lost"] for each in kept)))


def _structure_settings(kept: Sequence[SavedScenario]) -> Iterator[ComparisonRow]:
    """Yield the settings of structures that at least one scenario changes."""
    before: dict[tuple[str, str], str] = {}
    for each in kept:
        for said in each.result["what_changes"]:
            if said["structure"] is not None:
                # Only scenarios that change a setting store the value before.
                before.setdefault((said["structure"], said["what"]), said["before"])
    for (structure, what), was in before.items():
        values = tuple(
            next(
                (
                    said["after"]
                    for said in each.result["what_changes"]
                    if (said["structure"], said["what"]) == (structure, what)
                ),
                was,
            )
            for each in kept
        )
        yield ComparisonRow(what, (was, *values), structure=structure)


def _figures(kept: Sequence[SavedScenario]) -> Iterator[ComparisonRow]:
    first = kept[0].result["structures"]
    names = dict.fromkeys(item["structure"] for each in kept for item in each.result["structures"])
    # Each scenario has a state before its changes; only one can be the column of the plan.
    before = {item["structure"]: item["before"] for item in first}
    after = [{item["structure"]: item["after"] for item in each.result["structures"]} for each in kept]
    for structure in names:
        for key, (label, unit) in FIGURES.items():
            values = tuple(each.get(structure, {}).get(key) for each in (before, *after))
            if any(value is not None for value in values):
                yield ComparisonRow(label, values, unit, structure)


def _losses(kept: Sequence[SavedScenario]) -> Iterator[ComparisonRow]:
    yield from _own_losses(kept)
    first = kept[0].result["losses"]["before"]
    lists = [first, *(each.result["losses"]["after"] for each in kept)]
    by_name = [{(item["kind"], item["lost"]): item for item in losses} for losses in lists]
    for kind, lost in dict.fromkeys(key for each in by_name for key in each):
        name = lost if kind == "coupling_facility" else f"{kind} {lost}"
        found = [each.get((kind, lost)) for each in by_name]
        for label, unit, read in (
            ("Cannot be placed", None, _unplaced),
            ("White space needed", "MiB", lambda item: item["white_space_mib"]),
            ("Messages lost", "messages", lambda item: item["messages_gone"]),
        ):
            values = tuple(None if item is None else read(item) for item in found)
            yield ComparisonRow(label, values, unit, f"Without {name}")


def _own_losses(kept: Sequence[SavedScenario]) -> Iterator[ComparisonRow]:
    """Yield the effects of the loss that each scenario examines; the plan has none."""
    found = [
        next((loss for loss in each.result["losses"]["after"] if loss["is_the_scenario"]), None)
        for each in kept
    ]
    if not any(found):
        return
    for label, unit, read in (
        ("Structures that move", None, lambda item: len(item["moves"])),
        ("Cannot be placed", None, lambda item: len(item["unplaced"])),
        ("Messages lost", "messages", lambda item: item["messages_gone"]),
    ):
        values = (0, *(0 if item is None else read(item) for item in found))
        yield ComparisonRow(label, values, unit, "The lost coupling facility of each scenario")


def _unplaced(item: Mapping[str, Any]) -> str:
    return " ".join(item["unplaced"]) or "nothing"


def _commands(kept: Sequence[SavedScenario]) -> Iterator[ComparisonRow]:
    def counted(each: SavedScenario, when: str | None) -> int | str:
        if each.result["commands_refused"]:
            return NO_COMMANDS
        return sum(when in (None, command["takes_effect"]) for command in each.result["commands"])

    yield ComparisonRow("Commands", (0, *(counted(each, None) for each in kept)))
    for when in ("at once", "pending until rebuild", "needs an outage"):
        yield ComparisonRow(f"Of these: {when}", (0, *(counted(each, when) for each in kept)))


def _finding_rows(kept: Sequence[SavedScenario]) -> Iterator[FindingRow]:
    """Yield the findings that differ, the most serious first."""
    first = kept[0].result
    columns = [_findings_before(first), *(each.result["findings"] for each in kept)]
    by_key: list[dict[tuple[str, str | None, int], Mapping[str, Any]]] = [_numbered(each) for each in columns]
    keys = dict.fromkeys(key for each in by_key for key in each)
    rank = ("error", "warning", "info").index
    found = []
    for key in keys:
        items = [each.get(key) for each in by_key]
        messages = tuple(None if item is None else str(item["message"]) for item in items)
        # Scenarios may have been saved by different releases.
        if len({None if each is None else comparable_message(each) for each in messages}) > 1:
            severity: Severity = next(item["severity"] for item in items if item is not None)
            found.append(FindingRow(key[0], severity, key[1], messages))
    yield from sorted(found, key=lambda row: rank(row.severity))


def _findings_before(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the findings of the plan: those of the scenario that are not new, and those that it removes."""
    # The findings of the plan are not stored, but follow from these lists.
    new = [(item["code"], item["structure"], item["message"]) for item in result["findings_new"]]
    kept = [
        item
        for item in result["findings"]
        if (item["code"], item["structure"], item["message"]) not in set(new)
    ]
    return [*kept, *result["findings_gone"]]


def _numbered(found: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str | None, int], Mapping[str, Any]]:
    """Return findings by code, structure and number, because one code may occur several times in a structure."""
    numbered: dict[tuple[str, str | None, int], Mapping[str, Any]] = {}
    for item in found:
        number = 0
        while (item["code"], item["structure"], number) in numbered:
            number += 1
        numbered[item["code"], item["structure"], number] = item
    return numbered


def _not_of_one_plan(kept: Sequence[SavedScenario]) -> Iterator[Finding]:
    versions = sorted({each.version for each in kept})
    if len(versions) > 1:
        shown = ", ".join(f"{each.name} of version {each.version}" for each in kept)
        yield finding(
            "SCENARIOS_NOT_OF_ONE_PLAN",
            f"The scenarios are of different versions of the plan: {shown}. The plan column shows the version of {kept[0].name}; part of a difference may come from the plan.",
        )
        return
    first = _start(kept[0])
    others = [each.name for each in kept[1:] if _start(each) != first]
    if others:
        yield finding(
            "SCENARIOS_NOT_OF_ONE_PLAN",
            f"Before the changes, the figures of {', '.join(others)} differ from those of {kept[0].name}: they were "
            f"calculated with another curve or another version of cfplan. The plan column shows the figures of {kept[0].name}.",
        )


def _of_old_versions(kept: Sequence[SavedScenario], latest: int | None) -> Iterator[Finding]:
    old = [each for each in kept if latest is not None and each.version < latest]
    if old:
        shown = ", ".join(f"{each.name} of version {each.version}" for each in old)
        yield finding(
            "SCENARIOS_OF_OLD_VERSION",
            f"The plan's latest version is {latest}. These scenarios are older: {shown}. The plan column shows version {kept[0].version}.",
        )


def _start(each: SavedScenario) -> list[tuple[str, Mapping[str, Any]]]:
    return [(item["structure"], item["before"]) for item in each.result["structures"]]


# ---- the report ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReportNote(Answer):
    """A note on the origin of figures."""

    number: int
    figure: str
    formula: Annotated[str | None, Field(description="Null if it is long or if there are several.")]
    basis: str
    documents: Annotated[tuple[int, ...], Field(description="Numbers of documents.")]


@dataclass(frozen=True, slots=True)
class ReportDocument(Answer):
    """A document on which figures are based."""

    number: int
    document: str


@dataclass(frozen=True, slots=True)
class ReportFigure(Answer):
    """A figure before and after, with the numbers of its notes."""

    figure: str
    label: str
    unit: str
    before: int | float | None
    after: int | float | None
    difference: int | float | None
    note_before: int | None
    note_after: int | None


@dataclass(frozen=True, slots=True)
class ReportStructure(Answer):
    """A structure of a report."""

    structure: str
    role: Role
    given_size_replaced: bool
    figures: tuple[ReportFigure, ...]


StoredParts = tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class ScenarioReport(Answer):
    """A scenario for a change board: the changes, every figure with its note, and the documents."""

    scenario: str
    version: int
    note: str
    qsg: str
    core_version: str
    what_changes: Stored[tuple[ScenarioChange, ...]]
    structures: tuple[ReportStructure, ...]
    totals: tuple[ReportFigure, ...]
    placements: Stored[ScenarioPlacements]
    losses: Mapping[Literal["before", "after"], StoredParts]
    white_space: Stored[ScenarioWhiteSpaces]
    rules: Stored[tuple[PlacementRule, ...]]
    commands: Stored[tuple[CommandStep, ...]]
    commands_refused: str | None
    assumptions: Stored[tuple[str, ...]]
    notes: tuple[ReportNote, ...]
    documents: tuple[ReportDocument, ...]
    findings: Stored[tuple[Finding, ...]]
    findings_new: Stored[tuple[Finding, ...]]
    findings_gone: Stored[tuple[Finding, ...]]


@dataclass(slots=True)
class _Notes:
    """Footnotes: figures of the same origin share one, and each document is listed once."""

    notes: dict[tuple[str, str, tuple[str, ...]], int] = field(default_factory=dict)
    documents: dict[str, int] = field(default_factory=dict)
    formulas: dict[int, list[str]] = field(default_factory=dict)

    def number(self, what: str, origin: Mapping[str, Any] | None) -> int | None:
        """Return the number of the note on a figure."""
        if origin is None:
            return None
        for source in origin["sources"]:
            self.documents.setdefault(source, len(self.documents) + 1)
        key = (what, origin["basis"], tuple(origin["sources"]))
        number = self.notes.setdefault(key, len(self.notes) + 1)
        known = self.formulas.setdefault(number, [])
        if origin["formula"] not in known:
            known.append(origin["formula"])
        return number

    def listed(self) -> tuple[ReportNote, ...]:
        """Return the notes in the order of their numbers."""
        return tuple(
            ReportNote(
                number,
                figure=what,
                formula=self._formula(number),
                basis=basis,
                documents=tuple(self.documents[source] for source in sources),
            )
            for (what, basis, sources), number in self.notes.items()
        )

    def _formula(self, number: int) -> str | None:
        """Return the formula, if there is only one and it is short enough to read."""
        known = self.formulas[number]
        return known[0] if len(known) == 1 and len(known[0]) <= _LONGEST_FORMULA else None


def report(kept: SavedScenario) -> ScenarioReport:
    """Return one scenario with a note for every figure."""
    result = kept.result
    notes = _Notes()
    origins = result["origins"]
    structures = tuple(
        ReportStructure(
            item["structure"],
            item["role"],
            item["given_size_replaced"],
            tuple(
                _figure(key, item, origins, f"/structures/{index}/{key}", notes)
                for key in FIGURES
                if item["before"][key] is not None or item["after"][key] is not None
            ),
        )
        for index, item in enumerate(result["structures"])
    )
    sums = {side: result[side]["totals"] for side in ("before", "after")}
    totals = tuple(_figure(key, sums, origins, f"/totals/{key}", notes) for key in TOTALS)
    before, after = (_with_notes(result["losses"][side], notes) for side in ("before", "after"))
    # Stored parts are passed on as they were saved: an older version may have written other members.
    stored = (
        "qsg", "core_version", "what_changes", "placements", "white_space", "rules", "commands",
        "commands_refused", "assumptions", "findings", "findings_new", "findings_gone",
    )  # fmt: skip
    return ScenarioReport(
        scenario=kept.name,
        version=kept.version,
        note=kept.note,
        structures=structures,
        totals=totals,
        losses={"before": before, "after": after},
        notes=notes.listed(),
        documents=tuple(ReportDocument(number, name) for name, number in notes.documents.items()),
        **{key: result[key] for key in stored},
    )


def _with_notes(losses: Sequence[Mapping[str, Any]], notes: _Notes) -> StoredParts:
    return tuple(
        {
            **loss,
            "note_white_space": notes.number("White space when a coupling facility is lost", _WHITE_SPACE),
            "note_messages_gone": notes.number("Messages lost when a coupling facility is lost", _GONE),
        }
        for loss in losses
    )


def _figure(
    key: str, item: Mapping[str, Any], origins: Mapping[str, Any], pointer: str, notes: _Notes
) -> ReportFigure:
    label, unit = FIGURES[key]
    before, after = item["before"][key], item["after"][key]
    # A total has another formula than the figure of one structure, so it has its own note.
    what = f"{label}, all structures" if pointer.startswith("/totals") else label
    return ReportFigure(
        figure=key,
        label=label,
        unit=unit,
        before=before,
        after=after,
        difference=difference(before, after),
        note_before=notes.number(what, origins["before"].get(pointer)),
        note_after=notes.number(what, origins["after"].get(pointer)),
    )
