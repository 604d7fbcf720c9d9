"""A stored version, arranged for its pages. Nothing is recalculated, so old plans keep their figures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.plans.editor.view import in_the_editor
from app.plans.finding_groups import FindingView, findings_shown
from app.plans.stored import StoredVersion
from app.plans.trail import StoredAcknowledgment
from app.sizing.calculator.answer import LABELS, Figure
from planner_core.document.model import Queue
from planner_core.provenance import Basis, Explanation, Input, Step, read_source
from planner_core.sizing.placement import AllocationGroup, FacilityStorage, allocate, question
from planner_core.sizing.structure_answer import StoredStructure
from planner_core.wire import JsonObject

ROLES = {
    "admin": "Coordinates the group; holds no messages",
    "application": "Application",
    "system": "Shared channels, group units of recovery",
}
QUEUES_PER_PAGE = 100
MOST_FINDINGS = 300
"""Maximum number of findings on a page; the file lists all of them."""


@dataclass(frozen=True, slots=True)
class StructureLine:
    """One structure in the table of a plan."""

    index: int
    name: str
    cfrm_name: str
    role: str
    cfcc_level: int | None
    need_bytes: int
    initsize_kib: int
    size_kib: int
    initsize_given: bool
    size_given: bool
    target_percent: float | None
    target_lowered_by: str | None
    full_threshold: int
    preflist: str
    duplex: str
    messages: int | None
    entries: int | None
    elements: int | None
    binding: str
    usage_percent: float | None
    holds: int | None
    holds_with_offload: int | None
    smds_bytes: int | None
    worst: str
    findings: int


@dataclass(frozen=True, slots=True)
class FacilityLine:
    """One coupling facility: its storage, and the storage of the structures that XCF allocates in it [K]."""

    name: str
    structures: int
    storage_kib: int | None
    occupied_kib: int
    dumpspace_kib: int
    initsize_kib: int
    second_copies_kib: int
    free_kib: int | None
    size_kib: int
    second_copies_size_kib: int
    free_at_size_kib: int | None
    others_kib: int = 0
    """Storage of structures of Db2 and others that the plan lists."""
    others_size_kib: int = 0


@dataclass(frozen=True, slots=True)
class QueueLine:
    """One queue with its planned demand."""

    structure: str
    queue: Queue

    @property
    def message_bytes(self) -> str:
        """The message size or its distribution, as text."""
        sizes = self.queue.message_bytes
        return (
            str(sizes)
            if isinstance(sizes, int)
            else f"mean {sizes.mean.normalize():f}, p95 {sizes.p95}, max {sizes.max}"
        )

    @property
    def demand(self) -> str:
        """The backlog, or the rate and outage it comes from."""
        queue = self.queue
        if queue.backlog is not None:
            return str(queue.backlog)
        return f"{queue.put_rate_per_s:f} a second over {queue.outage_minutes:f} minutes"


def structure_lines(version: StoredVersion) -> tuple[StructureLine, ...]:
    """Return all structures in the order of the result."""
    result = version.result
    open_findings: dict[str, list[str]] = {}
    for finding in version.findings:
        if finding.structure and not finding.acknowledged:
            open_findings.setdefault(finding.structure, []).append(finding.severity)
    return tuple(
        _line(index, structure, open_findings.get(structure["name"], []))
        for index, structure in enumerate(result["structures"])
    )


def _line(index: int, found: JsonObject, severities: Sequence[str]) -> StructureLine:
    # Members read with `get` are missing in versions of earlier releases, or for some roles.
    smds = found.get("smds") or {}
    messages = found.get("messages")
    return StructureLine(
        index=index,
        name=found["name"],
        cfrm_name=found["cfrm_name"],
        role=found["role"],
        cfcc_level=found.get("cfcc_level"),
        need_bytes=found["need_bytes"],
        initsize_kib=found["initsize_kib"],
        size_kib=found["size_kib"],
        initsize_given=found["initsize_given"],
        size_given=found["size_given"],
        target_percent=found.get("target_usage_percent"),
        target_lowered_by=found.get("target_lowered_by"),
        full_threshold=found["full_threshold"],
        preflist=" ".join(found["preflist"]),
        duplex=found["duplex"],
        messages=messages,
        entries=found.get("entries", found.get("entries_required")),
        elements=found.get("elements", found.get("elements_required")),
        binding=found.get("binding", "") if messages else "",
        usage_percent=found.get("peak_usage_percent"),
        holds=found.get("messages_in_initsize"),
        holds_with_offload=found.get("messages_in_initsize_with_offload"),
        smds_bytes=smds.get("data_set_bytes_when_full"),
        worst=next((word for word in ("error", "warning") if word in severities), ""),
        findings=sum(word != "info" for word in severities),
    )


def facility_lines(version: StoredVersion) -> tuple[FacilityLine, ...]:
    """Return the coupling facilities as they were stored."""
    # Versions of earlier releases do not contain coupling facilities; they are calculated from the stored sizes.
    known = version.result.get("coupling_facilities")
    if known is None:
        uses = allocate(question([stored_group(version)])).facilities
        return tuple(
            facility_line(use.storage(), len(use.first) + len(use.second) + len(use.others)) for use in uses
        )
    count: Counter[str] = Counter()
    for found in version.result["structures"]:
        count.update(name for name in (found["coupling_facility"], found["second_copy"]) if name)
    return tuple(facility_line(FacilityStorage(**found), count[found["name"]]) for found in known)


def facility_line(found: FacilityStorage, structures: int) -> FacilityLine:
    """Return the line of a coupling facility."""
    return FacilityLine(
        name=found.name,
        structures=structures,
        storage_kib=found.size_kib,
        occupied_kib=found.occupied_kib,
        dumpspace_kib=found.dumpspace_kib,
        initsize_kib=found.planned_initsize_kib,
        second_copies_kib=found.second_copies_kib,
        free_kib=found.free_kib,
        size_kib=found.planned_size_kib,
        second_copies_size_kib=found.second_copies_size_kib,
        free_at_size_kib=found.free_at_size_kib,
        others_kib=found.other_structures_kib or 0,
        others_size_kib=found.other_structures_size_kib or 0,
    )


def unplaced_of(version: StoredVersion) -> tuple[str, ...]:
    """Return phrases that name the structures, then the second copies, that no coupling facility can hold."""
    placed = [
        (each["cfrm_name"], bool(each["coupling_facility"]))
        for each in version.result["structures"]
        if each["preflist"]
        and "coupling_facility" in each
        and not (each["second_copy"] if each["duplex"] == "ENABLED" else each["coupling_facility"])
    ]
    return in_words(placed)


def in_words(lacking: Iterable[tuple[str, bool]]) -> tuple[str, ...]:
    """Return the names of the structures that cannot be placed, then of those whose second copy cannot be placed.

    Args:
        lacking: Names of structures, and whether only the second copy cannot be placed.
    """
    return tuple(
        f"the second copy of {name}" if is_second_copy else name
        for name, is_second_copy in sorted(lacking, key=lambda each: each[1])
    )


def stored_group(version: StoredVersion) -> AllocationGroup[StoredStructure]:
    """Return the structures of a version with their stored sizes, for placement."""
    return AllocationGroup(
        plan=version.name,
        cfcc_level=version.result["cfcc_level"],
        coupling_facilities=version.coupling_facilities,
        structures=(*version.others, *version.structures),
    )


def findings_of(
    version: StoredVersion, *, structure: str | None = None, acknowledged: Sequence[StoredAcknowledgment] = ()
) -> tuple[FindingView, ...]:
    """Return the stored findings of one structure or of all; `acknowledged` has the authors of acknowledgments."""
    items = [item for item in version.findings if structure is None or item.structure == structure]
    return findings_shown(items, label_of=in_the_editor, acknowledged=acknowledged)


def find_structure(version: StoredVersion, name: str) -> tuple[int, JsonObject] | None:
    """Return the index and the JSON of a structure in the result."""
    found = enumerate(version.result["structures"])
    return next(((index, item) for index, item in found if item["name"] == name), None)


class Explanations(Mapping[str, JsonObject]):
    """The explanations of a version, each parsed when used, because those of a large plan take up tens of megabytes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.decoder = json.JSONDecoder()

    def __getitem__(self, figure: str) -> JsonObject:
        """Return the explanation of one figure."""
        # Only a key is followed by a colon, so the search cannot find the same text in a value. The totals, which the
        # page of a plan shows, are near the end.
        key = f"{json.dumps(figure)}:"
        at = self.text.rfind(key)
        if at < 0:
            raise KeyError(figure)
        found: JsonObject = self.decoder.raw_decode(self.text, at + len(key))[0]
        return found

    def __iter__(self) -> Iterator[str]:
        """Return an iterator over all figures."""
        return iter(json.loads(self.text))

    def __len__(self) -> int:
        """Return the number of explained figures."""
        return len(json.loads(self.text))


def figures_of(
    found: JsonObject, pointer: str, explanations: Mapping[str, JsonObject], *, prefix: str = ""
) -> tuple[Figure, ...]:
    """Return the figures of a structure, or of the totals, each with its explanation."""
    return tuple(
        _figure(member, value, prefix=prefix, why=explanation_of(explanations.get(f"{pointer}/{member}")))
        for member, value in _shown(found)
    )


def figures_explained_at(found: JsonObject, address: str) -> tuple[Figure, ...]:
    """Return the figures of a structure, each with the address of its explanation."""
    # The core explains every number, and only numbers.
    return tuple(
        _figure(member, value, explained_at="" if isinstance(value, str) else address)
        for member, value in _shown(found)
    )


def _figure(
    member: str, value: float | str, *, prefix: str = "", why: Explanation | None = None, explained_at: str = "",
) -> Figure:  # fmt: skip
    label, kind = LABELS[member]
    figure_id = f"why-{prefix}{member}".replace("/", "-")
    return Figure(figure_id, label, kind, value, why, f"{explained_at}#{figure_id}" if explained_at else "")


def _shown(found: JsonObject) -> Iterator[tuple[str, Any]]:
    """Yield the members that pages show."""
    skipped = ("offload",) if found.get("role") in ("admin", "system") else ()
    for member, value in _flat(found):
        if member in LABELS and value is not None and not any(word in member for word in skipped):
            yield member, value


def _flat(found: JsonObject) -> Iterator[tuple[str, Any]]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}/{inner}", each) for inner, each in value.items())
        else:
            yield name, value


def explanation_of(stored: JsonObject | None) -> Explanation | None:
    """Return a stored explanation."""
    if stored is None:
        return None
    return Explanation(
        figure=stored["figure"],
        value=stored["value"],
        unit=stored["unit"],
        formula=stored["formula"],
        inputs=tuple(
            Input(
                item["name"],
                item["value"],
                item["unit"],
                Basis(item["basis"]),
                read_source(item["source"]) if item["source"] else None,
            )
            for item in stored["inputs"]
        ),
        basis=Basis(stored["basis"]),
        source=read_source(stored["source"]) if stored["source"] else None,
        steps=tuple(Step(item["name"], item["formula"], item["value"]) for item in stored["steps"]),
    )
