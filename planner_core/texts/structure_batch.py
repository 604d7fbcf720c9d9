"""The sizes of many structures at once, and plan documents made of them.

A row is sized as the only structure and queue of a plan with these settings, so both give the same sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Final

from pydantic import Field

from planner_core import tables
from planner_core.bounds import first_problems
from planner_core.checks.sizes import check_sizes
from planner_core.document.model import PlanDocument, Structure
from planner_core.document.reading import read_object
from planner_core.document.types import CfccLevel, QsgName, SizeFactor, TargetPercent
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.findings import Finding
from planner_core.limits import limit
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import explain_result
from planner_core.provenance import Basis, Explanation
from planner_core.sizing.storage_class_memory import overflow_of
from planner_core.sizing.structure_result import StructureResult
from planner_core.sizing.structure_size import model_constant, published_curve
from planner_core.sizing.structures import size_admin, size_application
from planner_core.texts.csv_rows import CSV_FILE
from planner_core.texts.structure_cells import PLAN_KEYS, plan_members
from planner_core.texts.structure_rows import StructureRow, read_structure_rows, row_problem
from planner_core.units import bytes_to_kib_ceil, ceil_fraction
from planner_core.wire import Answer, JsonObject

_GROUP_OF_SIZES: Final = "SQ00"
"""The group of a plan that is only sized, if neither the rows nor the request name one; no size depends on it."""
_LARGE: Final = ".LARGE"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSettings:
    """The values that rows do not state."""

    qsg: QsgName | None = None
    queue_managers: int | None = None
    cfcc_level: CfccLevel = 25
    target_usage_percent: TargetPercent = Decimal(
        tables.constants("sizing_choices")["target_usage_percent"].value
    )
    size_factor: SizeFactor = Decimal("1.5")


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedRow(Answer):
    """The sizes of one row."""

    line: Annotated[int, Field(description="Line in the file, from 1.")]
    qsg: str | None
    structure: str
    structure_type: str
    cfcc_level: int
    queue_managers: int | None
    messages: Annotated[int, Field(description="Messages that CF storage must hold, small and large.")]
    large_messages: Annotated[int, Field(description="The part of them that is 63 KB or more.")]
    overflow_messages: Annotated[int, Field(description="Further messages for storage-class memory.")]
    overflow_element_bytes: Annotated[
        int,
        Field(description="Storage of their list elements; IBM publishes no formula for SCMMAXSIZE."),
    ]
    entries: int | None
    elements: int | None
    need_kib: int
    initsize_kib: int
    size_kib: int
    calculated_initsize_kib: Annotated[
        int, Field(description="INITSIZE without the sizes of a policy that the row states.")
    ]
    binding: Annotated[str | None, Field(description="The pool that determines the need.")]
    basis: Annotated[Basis, Field(description="Basis of INITSIZE.")]
    curve: Annotated[str, Field(description="The published curve, or the table of CSQ_ADMIN.")]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BatchPlan(Answer):
    """The plan document of one group."""

    qsg: str
    document: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureBatch(Answer):
    """The sizes of all rows of a file, and the plan document of each group."""

    rows: tuple[SizedRow, ...]
    total_initsize_kib: int
    total_size_kib: int
    sources: Annotated[tuple[str, ...], Field(description="The documents on which the sizes are based.")]
    plans: Annotated[tuple[BatchPlan, ...], Field(description="Empty unless they were requested.")]
    findings: Annotated[tuple[Finding, ...], Field(description="Findings on the CFCC levels.")] = ()


def size_batch(
    text: str,
    settings: BatchSettings,
    *,
    mapping: Mapping[str, str] | None = None,
    makes_plans: bool = False,
) -> StructureBatch:
    """Size all rows of a file.

    Args:
        text: CSV, with one structure in each row.
        settings: The values that rows do not state.
        mapping: The column of further headings, or `-` for those to ignore.
        makes_plans: Whether to make a plan document for each group, all of them or none.

    Raises:
        InputInvalid: A row is not valid, or no plan can be made of the rows; all errors have their line and column.
    """
    rows = read_structure_rows(text, mapping=mapping)
    _check_twice(rows, settings)
    sizer = _Sizer(settings)
    sized = tuple(map(sizer.sized, rows))
    levels = sorted({each.cfcc_level for each in sized})
    return StructureBatch(
        rows=sized,
        total_initsize_kib=sum(each.initsize_kib for each in sized),
        total_size_kib=sum(each.size_kib for each in sized),
        sources=tuple(sorted(sizer.sources)),
        plans=tuple(_plans(rows, settings)) if makes_plans else (),
        findings=tuple(
            dict.fromkeys(found for level in levels for found in published_curve(cfcc_level=level).findings)
        ),
    )


def _check_twice(rows: Sequence[StructureRow], settings: BatchSettings) -> None:
    """Refuse two rows for one structure of one group."""
    first: dict[tuple[str, str], int] = {}
    problems: list[FieldProblem] = []
    for row in rows:
        qsg = row.qsg or settings.qsg or ""
        before = first.setdefault((qsg, row.structure), row.line)
        # Without a group, the administrative structures of several groups cannot be distinguished.
        if before != row.line and (qsg or row.structure_type == "application"):
            problems.append(row_problem(row, "structure", f"{row.structure} is already on line {before}"))
    if problems:
        raise InputInvalid(CSV_FILE, first_problems(problems))


class _Sizer:
    """Sizes rows; parts of plans are kept, because thousands of rows share them."""

    def __init__(self, settings: BatchSettings) -> None:
        self.settings = settings
        self.sources: set[str] = set()
        self._documents: dict[tuple[object, ...], PlanDocument] = {}
        self._bases: dict[tuple[object, ...], Basis] = {}

    def sized(self, row: StructureRow) -> SizedRow:
        """Return the sizes of a row."""
        level = row.cfcc_level or self.settings.cfcc_level
        managers = row.queue_managers or self.settings.queue_managers or 1
        document = self._document(level, managers, row if row.structure_type == "admin" else None)
        found = self._found(row, document)
        if not row.policy:
            return self._row(row, document, found, calculated=found)
        plain = replace(row, policy={})
        return self._row(row, document, found, calculated=self._found(plain, self._document(level, managers)))

    def _found(self, row: StructureRow, document: PlanDocument) -> StructureResult:
        if row.structure_type == "admin":
            return size_admin(document, None)
        return size_application(document, None, 0, Structure.model_validate(_structure(row)), advises=False)

    def _document(self, level: int, queue_managers: int, admin: StructureRow | None = None) -> PlanDocument:
        """Return the plan without application structures, with the values that a row states for CSQ_ADMIN."""
        key = (level, queue_managers, *(admin.policy.values() if admin is not None else ()))
        if key not in self._documents:
            self._documents[key] = read_object(
                _document(self.settings, _GROUP_OF_SIZES, queue_managers, level, [], admin)
            )
        return self._documents[key]

    def _row(
        self,
        row: StructureRow,
        document: PlanDocument,
        found: StructureResult,
        *,
        calculated: StructureResult,
    ) -> SizedRow:
        overflow = _messages(row.small_per_minute, row.overflow_minutes)
        large_overflow = _messages(row.large_per_minute, row.overflow_minutes)
        kinds = [(overflow, row.average_size), (large_overflow, row.large_size or _smallest_large())]
        storage = sum(
            overflow_of(
                count, message_bytes=size, cfcc_level=document.cfcc_level, curve=found.curve
            ).element_bytes
            for count, size in kinds
            if count
        )
        load, admin = found.load, found.admin
        return SizedRow(
            line=row.line,
            qsg=row.qsg or self.settings.qsg,
            structure=row.structure,
            structure_type=row.structure_type,
            cfcc_level=document.cfcc_level,
            queue_managers=row.queue_managers,
            messages=_messages(row.small_per_minute, row.minutes)
            + _messages(row.large_per_minute, row.minutes),
            large_messages=_messages(row.large_per_minute, row.minutes),
            overflow_messages=overflow + large_overflow,
            overflow_element_bytes=storage,
            entries=load.demand.entries if load is not None else None,
            elements=load.demand.elements if load is not None else None,
            need_kib=bytes_to_kib_ceil(found.sizes.need_bytes),
            initsize_kib=bytes_to_kib_ceil(found.sizes.initsize_bytes),
            size_kib=bytes_to_kib_ceil(found.sizes.size_bytes),
            calculated_initsize_kib=bytes_to_kib_ceil(calculated.sizes.initsize_bytes),
            binding=load.binding if load is not None else None,
            basis=self._basis(row, document),
            curve=admin.table_id or "" if admin is not None else found.curve.id,
            notes=(
                *_notes(row, document, overflow + large_overflow),
                *_notes_on_policy(row, found, calculated),
            ),
        )

    def _basis(self, row: StructureRow, document: PlanDocument) -> Basis:
        """Return the basis of INITSIZE, from the explanation of the first such row."""
        key = (
            row.structure_type,
            document.cfcc_level,
            row.ratio,
            row.queue_managers if row.structure_type == "admin" else None,
            frozenset(row.policy),
        )
        if key not in self._bases:
            structures = [] if row.structure_type == "admin" else [_structure(row)]
            plan = _document(
                self.settings, _GROUP_OF_SIZES, document.queue_manager_count, document.cfcc_level, structures,
                row if row.structure_type == "admin" else None,
            )  # fmt: skip
            result = evaluate(read_object(plan), purpose="sizes")
            place = 0 if row.structure_type == "admin" else 1
            found = {each.figure: each for each in explain_result(result, only=place)}
            self._bases[key] = found[f"/structures/{place}/initsize_kib"].basis
            for figure in ("need_bytes", "initsize_kib", "size_kib"):
                self.sources |= set(_sources(found[f"/structures/{place}/{figure}"]))
        return self._bases[key]


def _sources(explanation: Explanation) -> list[str]:
    return [
        str(each) for each in (explanation.source, *(given.source for given in explanation.inputs)) if each
    ]


def _messages(per_minute: Decimal, minutes: Decimal) -> int:
    # Rounded up, because part of a message needs the space of a whole one.
    return ceil_fraction(Fraction(per_minute) * Fraction(minutes))


def _smallest_large() -> int:
    return model_constant("largest_message_in_cf_bytes") + 1


def _notes(row: StructureRow, document: PlanDocument, overflow: int) -> list[str]:
    notes = []
    if row.large_per_minute and row.large_size is None:
        notes.append(
            f"The size of the large messages is not stated: each counts as {_smallest_large():,} bytes, whose data is outside the "
            f"structure; its space there is not known. Enter messages of {_smallest_large() - 1:,} bytes, which stay inside, as "
            "small messages."
        )
    if overflow:
        lowest, highest = limit("lowest_cfcc_level_scm"), limit("highest_cfcc_level_scm")
        if lowest <= document.cfcc_level <= highest:
            notes.append("The structure does not include the overflow; the plan states no SCMMAXSIZE.")
        else:
            notes.append(
                f"CFCC level {document.cfcc_level} has no storage-class memory: the overflow has no place. Add its minutes to minutes."
            )
    return notes


def _notes_on_policy(row: StructureRow, found: StructureResult, calculated: StructureResult) -> Iterator[str]:
    """Yield what differs from the sizes without the values of a policy that a row states, and their findings."""
    stated = [column for column in row.policy if row.policy[column].size_bytes]
    if not stated:
        return
    if found.sizes.initsize_bytes != calculated.sizes.initsize_bytes:
        words = " and ".join(PLAN_KEYS[each].upper() for each in stated)
        yield f"{words} as in the table; INITSIZE {bytes_to_kib_ceil(calculated.sizes.initsize_bytes)}K would be calculated."
    keys = {PLAN_KEYS[each] for each in stated}
    for each in check_sizes(found):
        if (each.field or "").rpartition("/")[2] in keys:
            yield f"{each.code}: {each.message}"


def _structure(row: StructureRow) -> dict[str, Any]:
    """Return the structure of a plan with the queue of a row, and a second one if it has large messages."""
    name = row.queue or row.structure
    queues: list[dict[str, Any]] = []
    if row.small_per_minute:
        backlog = _messages(row.small_per_minute, row.minutes)
        queues.append({"name": name, "message_bytes": row.average_size, "backlog": backlog})
    if row.large_per_minute:
        size, backlog = row.large_size or _smallest_large(), _messages(row.large_per_minute, row.minutes)
        queues.append(
            {"name": f"{name}{_LARGE}" if queues else name, "message_bytes": size, "backlog": backlog}
        )
    ratio = {} if row.ratio is None else {"entry_to_element_ratio": list(row.ratio)}
    return {"name": row.structure, **plan_members(row.policy), **ratio, "queues": queues}


def _document(
    settings: BatchSettings,
    qsg: str,
    queue_managers: int,
    level: int,
    structures: Sequence[dict[str, Any]],
    admin: StructureRow | None,
) -> dict[str, Any]:
    stated = plan_members(admin.policy) if admin is not None else {}
    return {
        "schema_version": 1,
        "qsg": qsg,
        "queue_managers": queue_managers,
        "cfcc_level": level,
        "target_usage_percent": settings.target_usage_percent,
        "size_factor": settings.size_factor,
        **({"admin": stated} if stated else {}),
        "structures": list(structures),
    }


def _plans(rows: Sequence[StructureRow], settings: BatchSettings) -> list[BatchPlan]:
    """Return the plan document of each group.

    Raises:
        InputInvalid: A row lacks its group, or a group its number of queue managers or a single CFCC level.
    """
    problems = [
        row_problem(row, "qsg", "is missing: a plan needs it; state it here or for the whole file")
        for row in rows
        if not (row.qsg or settings.qsg)
    ]
    if problems:
        raise InputInvalid(CSV_FILE, first_problems(problems))
    groups: dict[str, list[StructureRow]] = {}
    for row in rows:
        groups.setdefault(row.qsg or settings.qsg or "", []).append(row)
    plans = [_plan(qsg, of, settings, problems) for qsg, of in groups.items()]
    if problems:
        raise InputInvalid(CSV_FILE, first_problems(problems))
    return plans


def _plan(
    qsg: str, rows: Sequence[StructureRow], settings: BatchSettings, problems: list[FieldProblem]
) -> BatchPlan:
    stated = (
        *(row.queue_managers for row in rows),
        None if any(row.queue_managers for row in rows) else settings.queue_managers,
    )
    counts = {each for each in stated if each is not None}
    levels = {row.cfcc_level or settings.cfcc_level for row in rows}
    first = rows[0]
    count = min(counts, default=None)
    if len(counts) > 1:
        problems.append(
            row_problem(
                first, "queue_managers", f"the rows of {qsg} state {_some(counts)}: a group has one number"
            )
        )
    elif count is None:
        problems.append(
            row_problem(
                first,
                "queue_managers",
                f"is missing: add a row of the type admin for {qsg}, or state it for the whole file",
            )
        )
    if len(levels) > 1:
        problems.append(
            row_problem(
                first,
                "cfcc_level",
                f"the rows of {qsg} state {_some(levels)}: a plan made of rows has one level",
            )
        )
    applications = [row for row in rows if row.structure_type == "application"]
    # The administrative structure is one of them.
    most = limit("structures_per_group") - 1
    if len(applications) > most:
        problems.append(
            row_problem(applications[most], "structure", f"is application structure {most + 1} of {qsg}, but a group has at most {most}: use the column qsg for several groups")
        )  # fmt: skip
    queues: dict[str, int] = {}
    for row in applications:
        for queue in _structure(row)["queues"]:
            before = queues.setdefault(queue["name"], row.line)
            if before != row.line:
                problems.append(row_problem(row, "queue", f"{queue['name']} is already on line {before}"))
    admin = next((row for row in rows if row.structure_type == "admin"), None)
    document = _document(settings, qsg, count or 1, min(levels), list(map(_structure, applications)), admin)
    if not problems:
        # Checked as all plan documents are, so that what is returned can be stored.
        document = read_object(document).model_dump(mode="json", exclude_unset=True)
    return BatchPlan(qsg, document)


def _some(values: set[int]) -> str:
    return " and ".join(map(str, sorted(values)))
