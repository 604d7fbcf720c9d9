"""Kept scenarios side by side, and one of them as a report. Nothing is worked out anew: all of it is what was kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner_core import tables
from planner_core.errors import OutOfRange
from planner_core.findings import Finding, finding
from planner_core.provenance import Basis
from planner_core.whatif.scenario import FIGURES, TOTALS

MOST_COMPARED = 4
NO_COMMANDS = "not available"
_SETTINGS: Mapping[str, str] = {
    "cfcc_level": "CFCC level",
    "queue_managers": "Queue managers",
    "growth_percent_per_year": "Growth, percent a year",
    "years": "Growth, years",
    "target_usage_percent": "Usage at the backlog, at most, percent",
    "headroom_percent": "Headroom, percent",
    "size_factor": "SIZE as a multiple of INITSIZE",
}
_LONGEST_FORMULA = 160


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
    """A scenario as it was kept."""

    name: str
    version: int
    note: str
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One line of a comparison: the value of the plan, then of each scenario; None where there is none."""

    label: str
    values: tuple[Any, ...]
    unit: str = ""
    structure: str | None = None

    @property
    def differs(self) -> tuple[bool, ...]:
        """Which values are not the plan's."""
        return tuple(value != self.values[0] for value in self.values)

    @property
    def differences(self) -> tuple[float | None, ...]:
        """By how much each value is more than the plan's; None for what is no number."""
        first = self.values[0]
        return tuple(
            round(value - first, 2) if _is_number(value) and _is_number(first) else None
            for value in self.values
        )

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "label": self.label,
            "structure": self.structure,
            "unit": self.unit or None,
            "values": list(self.values),
            "differences": list(self.differences),
            "differs": list(self.differs),
        }


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding, and where it stands: in the plan, then in each scenario."""

    code: str
    severity: str
    structure: str | None
    messages: tuple[str | None, ...]

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "code": self.code,
            "severity": self.severity,
            "structure": self.structure,
            "messages": list(self.messages),
        }


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The plan and up to four scenarios."""

    columns: tuple[SavedScenario, ...]
    settings: tuple[ComparisonRow, ...]
    figures: tuple[ComparisonRow, ...]
    totals: tuple[ComparisonRow, ...]
    losses: tuple[ComparisonRow, ...]
    commands: tuple[ComparisonRow, ...]
    finding_rows: tuple[FindingRow, ...]
    findings: tuple[Finding, ...]

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "scenarios": [
                {
                    "name": each.name,
                    "version": each.version,
                    "note": each.note,
                    "changes": each.result["changes"],
                }
                for each in self.columns
            ],
            **{
                key: [row.as_json() for row in rows]
                for key, rows in (
                    ("settings", self.settings),
                    ("figures", self.figures),
                    ("totals", self.totals),
                    ("losses", self.losses),
                    ("commands", self.commands),
                )
            },
            "findings_side_by_side": [row.as_json() for row in self.finding_rows],
            "assumptions": list(
                dict.fromkeys(said for each in self.columns for said in each.result["assumptions"])
            ),
            "findings": [each.as_json() for each in self.findings],
        }


def side_by_side(kept: Sequence[SavedScenario], *, latest: int | None = None) -> SideBySide:
    """Put scenarios beside the plan that they start from: the plan of the first one.

    Args:
        kept: The scenarios.
        latest: The plan's latest version, to say which of them are older; None: not said.

    Raises:
        OutOfRange: None, or more than four.
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
    yield ComparisonRow("Coupling facility that is lost", (None, *(each.result["lost"] for each in kept)))


def _structure_settings(kept: Sequence[SavedScenario]) -> Iterator[ComparisonRow]:
    """What at least one scenario changes of a structure."""
    before: dict[tuple[str, str], str] = {}
    for each in kept:
        for said in each.result["what_changes"]:
            if said["structure"] is not None:
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
    before = {item["structure"]: item["before"] for item in first}
    after = [{item["structure"]: item["after"] for item in each.result["structures"]} for each in kept]
    for structure in names:
        for key, (label, unit) in FIGURES.items():
            values = tuple(each.get(structure, {}).get(key) for each in (before, *after))
            if any(value is not None for value in values):
                yield ComparisonRow(label, values, unit, structure)


def _losses(kept: Sequence[SavedScenario]) -> Iterator[ComparisonRow]:
    first = kept[0].result["losses"]["before"]
    lists = [first, *(each.result["losses"]["after"] for each in kept)]
    by_name = [{(item["kind"], item["lost"]): item for item in losses} for losses in lists]
    for kind, lost in dict.fromkeys(key for each in by_name for key in each):
        name = lost if kind == "coupling_facility" else f"{kind} {lost}"
        found = [each.get((kind, lost)) for each in by_name]
        for label, unit, read in (
            ("Finds no place", "", _unplaced),
            ("White space needed", "MiB", lambda item: item["white_space_mib"]),
            ("Messages gone", "messages", lambda item: item["messages_gone"]),
        ):
            values = tuple(None if item is None else read(item) for item in found)
            yield ComparisonRow(label, values, unit, f"Without {name}")


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
    """Findings that are not the same everywhere, the serious first."""
    first = kept[0].result
    columns = [_findings_before(first), *(each.result["findings"] for each in kept)]
    by_key: list[dict[tuple[str, str | None, int], Mapping[str, Any]]] = [_numbered(each) for each in columns]
    keys = dict.fromkeys(key for each in by_key for key in each)
    rank = ("error", "warning", "info").index
    found = []
    for key in keys:
        items = [each.get(key) for each in by_key]
        messages = tuple(None if item is None else str(item["message"]) for item in items)
        if len(set(messages)) > 1:
            severity = next(str(item["severity"]) for item in items if item is not None)
            found.append(FindingRow(key[0], severity, key[1], messages))
    yield from sorted(found, key=lambda row: rank(row.severity))


def _findings_before(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Those of the plan: what the scenario has and did not bring, and what it took away."""
    new = [(item["code"], item["structure"], item["message"]) for item in result["findings_new"]]
    kept = [
        item
        for item in result["findings"]
        if (item["code"], item["structure"], item["message"]) not in set(new)
    ]
    return [*kept, *result["findings_gone"]]


def _numbered(found: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str | None, int], Mapping[str, Any]]:
    """By code and structure; the n-th of several by n."""
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
            f"The scenarios are of different versions of the plan: {shown}. The column of the plan is that of "
            f"{kept[0].name}; part of a difference may come from the plan.",
        )
        return
    first = _start(kept[0])
    others = [each.name for each in kept[1:] if _start(each) != first]
    if others:
        yield finding(
            "SCENARIOS_NOT_OF_ONE_PLAN",
            f"Before the changes, the figures of {', '.join(others)} differ from those of {kept[0].name}: they were "
            "calculated with another curve or another version of cfplan. The column of the plan is that of "
            f"{kept[0].name}.",
        )


def _of_old_versions(kept: Sequence[SavedScenario], latest: int | None) -> Iterator[Finding]:
    old = [each for each in kept if latest is not None and each.version < latest]
    if old:
        shown = ", ".join(f"{each.name} of version {each.version}" for each in old)
        yield finding(
            "SCENARIOS_OF_OLD_VERSION",
            f"The plan's latest version is {latest}. These scenarios are older: {shown}. The column of the plan is that of "
            f"version {kept[0].version}.",
        )


def _start(each: SavedScenario) -> list[tuple[str, Mapping[str, Any]]]:
    return [(item["structure"], item["before"]) for item in each.result["structures"]]


# ---- the report ------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Notes:
    """Footnotes: figures that came about alike share one, and documents are named once."""

    notes: dict[tuple[object, ...], int] = field(default_factory=dict)
    documents: dict[str, int] = field(default_factory=dict)
    formulas: dict[int, list[str]] = field(default_factory=dict)

    def number(self, what: str, origin: Mapping[str, Any] | None) -> int | None:
        """The number of the note on a figure."""
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

    def as_json(self) -> list[dict[str, object]]:
        """JSON-ready, in order of their numbers."""
        return [
            {
                "number": number,
                "figure": what,
                "formula": self._formula(number),
                "basis": basis,
                "documents": [self.documents[source] for source in sources if isinstance(source, str)],
            }
            for (what, basis, sources), number in self._items()
        ]

    def _items(self) -> Iterator[tuple[tuple[str, str, tuple[str, ...]], int]]:
        for (what, basis, sources), number in self.notes.items():
            yield (str(what), str(basis), tuple(sources) if isinstance(sources, tuple) else ()), number

    def _formula(self, number: int) -> str | None:
        """The formula, where it is one and short enough to be read."""
        known = self.formulas[number]
        return known[0] if len(known) == 1 and len(known[0]) <= _LONGEST_FORMULA else None


def report(kept: SavedScenario) -> dict[str, object]:
    """One scenario for those who decide: what changes, why, every figure with its note, and the documents."""
    result = kept.result
    notes = _Notes()
    origins = result["origins"]
    rows = []
    for index, item in enumerate(result["structures"]):
        figures = [
            _figure(key, item, origins, f"/structures/{index}/{key}", notes)
            for key in FIGURES
            if item["before"][key] is not None or item["after"][key] is not None
        ]
        rows.append(
            {
                "structure": item["structure"],
                "role": item["role"],
                "given_size_replaced": item["given_size_replaced"],
                "figures": figures,
            }
        )
    totals = [
        _figure(
            key,
            {side: result[side]["totals"] for side in ("before", "after")},
            origins,
            f"/totals/{key}",
            notes,
        )
        for key in TOTALS
    ]
    return {
        "scenario": kept.name,
        "version": kept.version,
        "note": kept.note,
        "qsg": result["qsg"],
        "core_version": result["core_version"],
        "what_changes": result["what_changes"],
        "structures": rows,
        "totals": totals,
        "placements": result["placements"],
        "losses": {side: _with_notes(result["losses"][side], notes) for side in ("before", "after")},
        "white_space": result["white_space"],
        "rules": result["rules"],
        "commands": result["commands"],
        "commands_refused": result["commands_refused"],
        "assumptions": result["assumptions"],
        "notes": notes.as_json(),
        "documents": [{"number": number, "document": name} for name, number in notes.documents.items()],
        "findings": result["findings"],
        "findings_new": result["findings_new"],
        "findings_gone": result["findings_gone"],
    }


def _with_notes(losses: Sequence[Mapping[str, Any]], notes: _Notes) -> list[dict[str, object]]:
    return [
        {
            **loss,
            "note_white_space": notes.number("White space when a coupling facility is lost", _WHITE_SPACE),
            "note_messages_gone": notes.number("Messages gone when a coupling facility is lost", _GONE),
        }
        for loss in losses
    ]


def _figure(
    key: str, item: Mapping[str, Any], origins: Mapping[str, Any], pointer: str, notes: _Notes
) -> dict[str, object]:
    label, unit = FIGURES[key]
    before, after = item["before"][key], item["after"][key]
    what = f"{label}, all structures" if pointer.startswith("/totals") else label
    return {
        "figure": key,
        "label": label,
        "unit": unit,
        "before": before,
        "after": after,
        "difference": None if before is None or after is None else round(after - before, 2),
        "note_before": notes.number(what, origins["before"].get(pointer)),
        "note_after": notes.number(what, origins["after"].get(pointer)),
    }
