"""The administrative structure, CSQ_ADMIN.

It must hold 1000 list entries for each queue manager DEFINED to the group. IBM publishes
sizes: Table 1 for CFCC 14, charts for CFCC 21 to 24 and for CFCC 25.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from planner_core import tables
from planner_core.errors import PlanRefused
from planner_core.findings import Finding, finding
from planner_core.limits import limit
from planner_core.provenance import Basis, Explanation, Input, Source
from planner_core.units import KIB, MIB, bytes_to_kib_ceil

_LEVELS = (
    (14, "admin_structure_cfcc14", "size_kb", KIB),
    (24, "admin_structure_cfcc21", "size_mb", MIB),
    (25, "admin_structure_cfcc25", "size_mb", MIB),
)
_FROM = {"admin_structure_cfcc14": 14, "admin_structure_cfcc21": 21, "admin_structure_cfcc25": 25}
_MAX_ENTRIES_FINDINGS_FIELD = "/admin/entsmax"


@dataclass(frozen=True, slots=True)
class AdminNeed:
    """What CSQ_ADMIN needs [bytes, entries], and where the figure stands."""

    queue_managers: int
    published_bytes: int
    entries_required: int
    table_id: str
    basis: Basis
    source: Source
    findings: tuple[Finding, ...]


def entries_required(*, queue_managers: int) -> int:
    """List entries that CSQ_ADMIN must have [entries]."""
    return queue_managers * limit("admin_entries_per_queue_manager")


def check_queue_managers(queue_managers: int) -> None:
    """Refuse a group that cannot exist.

    Raises:
        PlanRefused: More than 32 queue managers, or none.
    """
    limit = tables.constants("limits")["queue_managers_per_group"]
    if not 1 <= queue_managers <= limit.value:
        raise PlanRefused(
            (
                finding(
                    "TOO_MANY_QUEUE_MANAGERS",
                    f"{queue_managers} queue managers: a queue-sharing group has 1 to {limit.value}.",
                    field="/queue_managers",
                    source=limit.source,
                ),
            )
        )


def admin_need(*, queue_managers: int, cfcc_level: int, entsmax: int | None = None) -> AdminNeed:
    """The published minimum of CSQ_ADMIN, checked against ENTSMAX when that is known.

    Args:
        queue_managers: Queue managers defined to the group, 1 to 32.
        cfcc_level: CF control code level; a level without figures takes the next higher one,
            above 25 takes 25.
        entsmax: ENTSMAX of the structure as it is now, from DISPLAY CFSTATUS(CSQ_ADMIN) [entries].

    Raises:
        PlanRefused: More than 32 queue managers.
    """
    check_queue_managers(queue_managers)
    findings: list[Finding] = []
    candidates = [level for level in _LEVELS if cfcc_level <= level[0]] or [_LEVELS[-1]]
    size_bytes, table_id = _first_figure(queue_managers, candidates)
    first_id = candidates[0][1]
    if table_id != first_id:
        findings.append(
            finding(
                "ADMIN_FIGURE_FROM_NEXT_LEVEL",
                f"{tables.table(first_id).title} ends before {queue_managers} queue managers; "
                f"the figure of the next higher level is used ({tables.table(table_id).title}).",
                structure="CSQ_ADMIN",
                source=tables.table(table_id).source,
            )
        )
    if cfcc_level > _LEVELS[-1][0]:
        findings.append(
            finding(
                "CFCC_LEVEL_ABOVE_FIGURES",
                f"No figures for CSQ_ADMIN are published for CFCC level {cfcc_level}; those of level {_LEVELS[-1][0]} are used. "
                "Structures grew with earlier levels, so the result may be too small.",
                field="/cfcc_level",
                structure="CSQ_ADMIN",
            )
        )
    elif cfcc_level < _FROM[first_id]:
        findings.append(
            finding(
                "CFCC_LEVEL_WITHOUT_FIGURES",
                f"No figures for CSQ_ADMIN are published for CFCC level {cfcc_level}; those of the next higher level, "
                f"{_FROM[first_id]}, are used. That errs on the large side.",
                field="/cfcc_level",
                structure="CSQ_ADMIN",
            )
        )
    table = tables.table(table_id)
    note = table.note(queue_managers)
    if note is not None:
        findings.append(
            finding("ADMIN_FIGURE_MISPRINT", note.text, structure="CSQ_ADMIN", source=table.source)
        )
    required = entries_required(queue_managers=queue_managers)
    if entsmax is not None and entsmax < required:
        findings.append(_too_few_entries(queue_managers, cfcc_level, entsmax, required, size_bytes))
    return AdminNeed(
        queue_managers, size_bytes, required, table_id, table.basis, table.source, tuple(findings)
    )


def _first_figure(queue_managers: int, candidates: list[tuple[int, str, str, int]]) -> tuple[int, str]:
    """The published figure in the first table that has one [bytes], and the table's id."""
    for _, table_id, column, unit in candidates:
        figure = _figures(table_id, column).get(queue_managers)
        if figure is not None:
            return figure * unit, table_id
    msg = f"no figure for {queue_managers} queue managers"
    raise tables.TableError(msg)


@cache
def _figures(table_id: str, column: str) -> dict[int, int]:
    return {int(row["queue_managers"]): int(row[column]) for row in tables.table(table_id).records()}


def _too_few_entries(
    queue_managers: int, cfcc_level: int, entsmax: int, required: int, size_bytes: int
) -> Finding:
    """ENTSMAX is short: the size that satisfies it, absolutely and against what is allocated now."""
    per_manager = limit("admin_entries_per_queue_manager")
    covered = entsmax // per_manager
    more = size_bytes
    if covered:
        more = size_bytes - admin_need(queue_managers=covered, cfcc_level=cfcc_level).published_bytes
    growth = (
        f" By the same figures that is {bytes_to_kib_ceil(more)}K more than {covered} queue managers need, "
        "so if it has at least that size already, make it larger by as much."
        if covered and more > 0
        else ""
    )
    return finding(
        "ADMIN_ENTSMAX_TOO_LOW",
        f"ENTSMAX {entsmax} is {required - entsmax} below the {required} list entries that {queue_managers} queue managers "
        f"need ({per_manager} each): increase CSQ_ADMIN to at least {bytes_to_kib_ceil(size_bytes)}K and check "
        f"DISPLAY CFSTATUS(CSQ_ADMIN) again.{growth}",
        field=_MAX_ENTRIES_FINDINGS_FIELD,
        structure="CSQ_ADMIN",
    )


def explain_admin(need: AdminNeed) -> tuple[Explanation, ...]:
    """Where the published figure stands, and how the required entries are counted."""
    per_manager = tables.constants("limits")["admin_entries_per_queue_manager"]
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
    )
