"""Check structures in displays: sizes, thresholds and limits; unreadable lines are also reported."""

from __future__ import annotations

from collections.abc import Iterator

from planner_core import names
from planner_core.checks.facilities import has_no_scm, scm_removed
from planner_core.running.admin_pools import AdminPools, nearly_full
from planner_core.running.line_findings import LineFinding, at_line, finding_at
from planner_core.sizing.admin_structure import too_few_elements, too_few_entries
from planner_core.sizing.shared_findings import (
    admin_duplexed,
    auto_alter_may_shrink,
    full_threshold_zero,
    offload_db2,
    preflist_single_cf,
    recover_needs_cflevel_3,
    size_over_twice_initsize,
)
from planner_core.texts.mqsc.commands import without_commands
from planner_core.texts.mqsc.displays import CfStatus, CfStruct, read_mq
from planner_core.texts.xcf.displays import StructureDisplay, XcfText, read_xcf


def lint_displays(
    text: str, *, queue_managers: int | None = None, cfcc_level: int | None = None
) -> tuple[list[LineFinding], int]:
    """Return the findings on the displays of a text, and the number of structures they show."""
    text = without_commands(text)
    xcf, mq = read_xcf(text), read_mq(text)
    found: list[LineFinding] = []
    displayed = {each.name for each in xcf.structures}
    # A structure may be in D XCF,STR and in IXC585E of the same log; it counts once.
    only_full = {each.name for each in xcf.full_events} - displayed
    count = len(xcf.structures) + len(only_full) + len(mq.structures) + len(mq.statuses)
    found += [
        finding_at("RUNNING_TEXT_UNREAD", each.message, each.line) for each in (*xcf.problems, *mq.problems)
    ]
    for display in xcf.structures:
        found += _structure(display, cfcc_level)
    found += _admin_pools(xcf, queue_managers)
    for status in mq.statuses:
        found += _status(status, queue_managers)
    for structure in mq.structures:
        found += _cfstruct(structure)
    return found, count


def _structure(shown: StructureDisplay, cfcc_level: int | None) -> Iterator[LineFinding]:
    if shown.scm_max_size_bytes and cfcc_level is not None and has_no_scm(cfcc_level):
        yield at_line(scm_removed(shown.name, cfcc_level), shown.line)
    duplexes = len(shown.instances) > 1 or (shown.duplex or "").startswith("ENABLED")
    if names.is_admin_structure(shown.name) and duplexes:
        yield at_line(admin_duplexed(shown.name), shown.line)
    size, initsize, name = shown.policy_size_bytes, shown.policy_initsize_bytes, shown.name
    if size is not None and initsize is not None:
        for each in size_over_twice_initsize(name, size, initsize):
            yield at_line(each, shown.line)
    if shown.full_threshold_percent == 0:
        yield at_line(full_threshold_zero(name), shown.line)
    if shown.allow_auto_alter and not shown.policy_minsize_bytes:
        yield at_line(auto_alter_may_shrink(name), shown.line)
    if len(shown.preflist) == 1:
        yield at_line(preflist_single_cf(name, shown.preflist[0]), shown.line)


def _admin_pools(xcf: XcfText, queue_managers: int | None) -> Iterator[LineFinding]:
    """Check entries and elements of administrative structures, in displays and in IXC585E."""
    shown = [
        (each.line, each.name, AdminPools.of(instance), each.full_threshold_percent)
        for each in xcf.structures
        # The second instance of a duplexed structure is a copy of the first.
        for instance in each.instances[:1]
    ]
    shown += [(each.line, each.name, AdminPools.of(each), each.threshold_percent) for each in xcf.full_events]
    for line, name, pools, threshold in shown:
        if names.is_admin_structure(name):
            for each in nearly_full(name, pools, threshold=threshold):
                yield at_line(each, line)
            if queue_managers is not None and pools.elements_total is not None:
                for each in too_few_elements(name, pools.elements_total, queue_managers=queue_managers):
                    yield at_line(each, line)


def _status(shown: CfStatus, queue_managers: int | None) -> Iterator[LineFinding]:
    if shown.name != names.ADMIN_STRUCTURE or shown.entries_max is None:
        return
    pools = AdminPools(entries_in_use=shown.entries_used, entries_total=shown.entries_max)
    for each in nearly_full(names.ADMIN_STRUCTURE, pools, threshold=None):
        yield at_line(each, shown.line)
    if queue_managers is None:
        return
    for each in too_few_entries(shown.name, shown.entries_max, queue_managers=queue_managers):
        yield at_line(each, shown.line)


def _cfstruct(shown: CfStruct) -> Iterator[LineFinding]:
    if shown.recover and shown.cflevel is not None:
        for each in recover_needs_cflevel_3(shown.name, shown.cflevel, structure=shown.name):
            yield at_line(each, shown.line)
    if shown.offload == "DB2":
        yield at_line(offload_db2(shown.name, structure=shown.name), shown.line)
