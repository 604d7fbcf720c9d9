"""The administrative structure, CSQ_ADMIN.

It must hold 1000 list entries for each queue manager that is defined to the group, and CFSizer sizes
it with two elements for each entry. It can run out of either (APAR PH39578: elements 99 % in use,
entries 12 %). IBM publishes sizes: Table 1 for CFCC 14, charts for CFCC 21 to 24 and for CFCC 25.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from planner_core import names, tables
from planner_core.errors import PlanRefused
from planner_core.findings import Finding, finding
from planner_core.limits import limit
from planner_core.provenance import Basis, Explanation, Input, Source
from planner_core.sizing.levels import level_without_figures
from planner_core.units import KIB, MIB, bytes_to_kib_ceil

_LEVELS = (
    (14, "admin_structure_cfcc14", "size_kb", KIB),
    (24, "admin_structure_cfcc21", "size_mb", MIB),
    (25, "admin_structure_cfcc25", "size_mb", MIB),
)
_FROM = {"admin_structure_cfcc14": 14, "admin_structure_cfcc21": 21, "admin_structure_cfcc25": 25}


@dataclass(frozen=True, slots=True)
class AdminNeed:
    """The need of CSQ_ADMIN [bytes, entries, elements], and the source of the figure."""

    queue_managers: int
    published_bytes: int
    entries_required: int
    elements_required: int
    table_id: str
    basis: Basis
    source: Source
    findings: tuple[Finding, ...]


def entries_required(*, queue_managers: int) -> int:
    """Return the number of list entries that CSQ_ADMIN must have."""
    return queue_managers * limit("admin_entries_per_queue_manager")


def elements_required(*, queue_managers: int) -> int:
    """Return the number of elements that CSQ_ADMIN must have at CFSizer's entry-to-element ratio."""
    return entries_required(queue_managers=queue_managers) * limit("admin_elements_per_entry")


def check_queue_managers(queue_managers: int) -> None:
    """Refuse a group that cannot exist.

    Raises:
        PlanRefused: More than 32 queue managers, or none.
    """
    if found := tuple(too_many_queue_managers(queue_managers)):
        raise PlanRefused(found)


def too_many_queue_managers(queue_managers: int) -> Iterator[Finding]:
    """Yield the finding on a number of queue managers that no group can have."""
    most = tables.constants("limits")["queue_managers_per_group"]
    if not 1 <= queue_managers <= most.value:
        yield finding(
            "TOO_MANY_QUEUE_MANAGERS",
            f"{queue_managers} queue managers: a queue-sharing group has 1 to {most.value}.",
            field="/queue_managers",
            source=most.source,
        )


def admin_need(
    *, queue_managers: int, cfcc_level: int, entsmax: int | None = None, elements_total: int | None = None
) -> AdminNeed:
    """Return the published minimum of CSQ_ADMIN, and check its current entries and elements if they are given.

    Args:
        queue_managers: Queue managers defined to the group, 1 to 32.
        cfcc_level: CF control code level; a level without figures uses those of the next higher one,
            levels above 25 use those of 25.
        entsmax: Current ENTSMAX of the structure, from DISPLAY CFSTATUS(CSQ_ADMIN) [entries].
        elements_total: Current elements of the structure, from D XCF,STR or IXC585E [elements].

    Raises:
        PlanRefused: More than 32 queue managers.
    """
    check_queue_managers(queue_managers)
    findings: list[Finding] = []
    # Structures grew with the levels that have figures, so the next higher level errs on the large side.
    candidates = [level for level in _LEVELS if cfcc_level <= level[0]] or [_LEVELS[-1]]
    size_bytes, table_id = _first_figure(queue_managers, candidates)
    first_id = candidates[0][1]
    # Table 1 ends at 31 queue managers, the charts at 32.
    if table_id != first_id:
        findings.append(
            finding(
                "ADMIN_FIGURE_FROM_NEXT_LEVEL",
                f"{tables.table(first_id).title} ends before {queue_managers} queue managers. "
                f"The figure for the next higher level is used ({tables.table(table_id).title}).",
                structure="CSQ_ADMIN",
                source=tables.table(table_id).source,
            )
        )
    findings += level_without_figures(
        cfcc_level, lowest=_FROM[first_id], highest=_LEVELS[-1][0], structure=names.ADMIN_STRUCTURE
    )
    table = tables.table(table_id)
    # A cell of Table 1 is almost certainly a misprint; it is used as printed, and the finding states it.
    note = table.note(queue_managers)
    if note is not None:
        findings.append(
            finding("ADMIN_FIGURE_MISPRINT", note.text, structure="CSQ_ADMIN", source=table.source)
        )
    required = entries_required(queue_managers=queue_managers)
    elements = elements_required(queue_managers=queue_managers)
    for pool, has in zip(_pools(), (entsmax, elements_total), strict=True):
        if has is not None and has < queue_managers * pool.per_queue_manager:
            findings.append(
                _too_few(
                    pool,
                    has,
                    queue_managers,
                    advice=_size_for(pool, has, queue_managers, cfcc_level, size_bytes),
                    field=pool.field,
                )
            )
    return AdminNeed(
        queue_managers, size_bytes, required, elements, table_id, table.basis, table.source, tuple(findings)
    )


def _first_figure(queue_managers: int, candidates: list[tuple[int, str, str, int]]) -> tuple[int, str]:
    """Return the published figure in the first table that has one [bytes], and the table's id."""
    for _, table_id, column, unit in candidates:
        figure = _figures(table_id, column).get(queue_managers)
        if figure is not None:
            return figure * unit, table_id
    msg = f"no figure for {queue_managers} queue managers"
    raise tables.TableError(msg)


@cache
def _figures(table_id: str, column: str) -> dict[int, int]:
    return {int(row["queue_managers"]): int(row[column]) for row in tables.table(table_id).records()}


@dataclass(frozen=True, slots=True)
class _Pool:
    """One of the two pools that CSQ_ADMIN can run out of, and its name in findings."""

    code: str
    field: str
    name: str
    unit: str
    per_queue_manager: int
    shown_by: str


def _pools() -> tuple[_Pool, _Pool]:
    """Return the pools of entries and elements."""
    entries = _Pool(
        "ADMIN_ENTSMAX_TOO_LOW",
        "/admin/entsmax",
        "ENTSMAX {has}{of}",
        "list entries",
        entries_required(queue_managers=1),
        "DISPLAY CFSTATUS(CSQ_ADMIN)",
    )
    elements = _Pool(
        "ADMIN_ELEMENTS_TOO_LOW",
        "/admin/elements_total",
        "The total number of elements{of}, {has},",
        "elements",
        elements_required(queue_managers=1),
        "D XCF,STR",
    )
    return entries, elements


def too_few_entries(cfrm_name: str, entries_total: int, *, queue_managers: int) -> Iterator[Finding]:
    """Yield a finding if a display shows fewer list entries than the queue managers need."""
    if entries_total < entries_required(queue_managers=queue_managers):
        yield _too_few(_pools()[0], entries_total, queue_managers, of=f" of {cfrm_name}")


def too_few_elements(cfrm_name: str, elements_total: int, *, queue_managers: int) -> Iterator[Finding]:
    """Yield a finding if a display shows fewer elements than the queue managers need."""
    if elements_total < elements_required(queue_managers=queue_managers):
        yield _too_few(_pools()[1], elements_total, queue_managers, of=f" of {cfrm_name}")


def _they_need(queue_managers: int) -> str:
    """Return the beginning of a sentence about the entries and elements that a number of queue managers need."""
    return "1 queue manager needs" if queue_managers == 1 else f"{queue_managers} queue managers need"


def _too_few(
    pool: _Pool,
    has: int,
    queue_managers: int,
    *,
    of: str = "",
    advice: str = "enlarge the structure.",
    field: str | None = None,
) -> Finding:
    """Return the finding on a pool that is too small."""
    required = queue_managers * pool.per_queue_manager
    return finding(
        pool.code,
        f"{pool.name.format(of=of, has=has)} is {required - has} below the {required} {pool.unit} that {_they_need(queue_managers)} "
        f"({pool.per_queue_manager} each): {advice}",
        field=field,
        structure=names.ADMIN_STRUCTURE,
    )


def _size_for(pool: _Pool, has: int, queue_managers: int, cfcc_level: int, size_bytes: int) -> str:
    """Return the size to allocate, and the growth from the current one."""
    # A structure with the published size can still have too few, for example after its ratio was altered. The growth
    # between two published figures then says how much larger to make it.
    covered = has // pool.per_queue_manager
    more = size_bytes
    if covered:
        more = size_bytes - admin_need(queue_managers=covered, cfcc_level=cfcc_level).published_bytes
    growth = (
        f" By the same figures, that is {bytes_to_kib_ceil(more)}K more than {_they_need(covered)}, "
        "so if it already has at least that size, enlarge it by that amount."
        if covered and more > 0
        else ""
    )
    return f"increase CSQ_ADMIN to at least {bytes_to_kib_ceil(size_bytes)}K and check {pool.shown_by} again.{growth}"


def explain_admin(need: AdminNeed) -> tuple[Explanation, ...]:
    """Explain the published figure and the required entries and elements."""
    per_manager = tables.constants("limits")["admin_entries_per_queue_manager"]
    per_entry = tables.constants("limits")["admin_elements_per_entry"]
    size_kib = bytes_to_kib_ceil(need.published_bytes)
    figure = Input("published_kib", size_kib, "K", need.basis, need.source)
    managers = Input("queue_managers", need.queue_managers, "queue managers", Basis.GIVEN)
    return (
        Explanation("/size_kib", size_kib, "K", "published_kib", (figure,), need.basis, need.source),
        Explanation(
            "/entries_required",
            need.entries_required,
            "entries",
            "queue_managers * admin_entries_per_queue_manager",
            (managers, per_manager.as_input()),
            per_manager.basis,
            per_manager.source,
        ),
        Explanation(
            "/elements_required",
            need.elements_required,
            "elements",
            "queue_managers * admin_entries_per_queue_manager * admin_elements_per_entry",
            (managers, per_manager.as_input(), per_entry.as_input()),
            Basis.DERIVED,
            per_entry.source,
        ),
    )
