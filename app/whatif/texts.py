"""Answers to what-if questions as lines of text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from planner_core.units import MIB, format_mib, format_size, hundredths
from planner_core.whatif.filling_up import FillingUp, shown_minutes, tenths_down
from planner_core.whatif.growth import SizeFigures, UpgradeAnswer
from planner_core.whatif.loss import Loss, LossAnswer
from planner_core.whatif.recovery import Recovery, StructureRecovery
from planner_core.whatif.thresholds import ThresholdAdvice

SETTING_NAMES = {
    "advised": "advised",
    "plan": "the plan's",
    "defaults": "IBM's defaults",
    "none": "without rules",
}


def filling_lines(found: FillingUp) -> Iterator[str]:
    """Yield the events of an outage."""
    last = found.points[-1]
    storage = "INITSIZE" if found.question.at == "initsize" else "SIZE"
    yield f"{found.result.cfrm_name}, {storage} {format_mib(found.size_bytes)}: {found.messages_arriving} messages arrive in {shown_minutes(found.outage_minutes):g} minutes"
    for moment in found.events:
        # Rounded up: the structure must not appear emptier than it is.
        yield f"{shown_minutes(moment.minutes):>10.1f} min  {moment.messages:>12} messages  {math.ceil(moment.usage_percent * 10) / 10:5.1f} %  {moment.text}"
    if found.lasts_minutes is None:
        yield (
            "It would never be full: every queue stops at its MAXDEPTH."
            if found.messages_arriving
            else "It never fills."
        )
    else:
        lasts = f"full after {math.floor(found.lasts_minutes * 10) / 10:.1f} minutes, with {found.capacity} messages."
        yield (
            f"It is {lasts}"
            if found.full_at_minutes is not None
            else f"If no queue's outage ended, it would be {lasts}"
        )
    if last.pages:
        where = (
            "in each data set, if one queue manager puts everything"
            if found.offload_to == "SMDS"
            else "in Db2"
        )
        yield f"Offloaded data takes {format_mib(found.offload_bytes(last))} {where}."


def threshold_lines(found: ThresholdAdvice) -> Iterator[str]:
    """Yield the advised rules, and a table of the compared ones."""
    storage = "INITSIZE" if found.at == "initsize" else "SIZE"
    yield f"{found.cfrm_name}, {storage} {format_mib(found.size_bytes)}, to hold {found.hold} messages:"
    for number, each in enumerate(found.rules, start=1):
        yield f"OFFLD{number}TH({each.threshold}) OFFLD{number}SZ({each.size_over})  {each.purpose}"
        yield f"  {each.why}"
    yield ""
    yield f"{'':<16}{'holds':>12}{'usage':>10}{'offloaded':>12}  thresholds"
    for setting in found.compared:
        rules = (
            ", ".join(f"{rule.threshold} % {format_size(rule.size_bytes)}" for rule in setting.rules)
            or "none"
        )
        yield f"{SETTING_NAMES[setting.name]:<16}{setting.capacity:>12}{hundredths(setting.usage_percent):>9g} %{setting.offloaded:>12}  {rules}"


def recovery_lines(found: Recovery) -> Iterator[str]:
    """Yield a table of backups and recovery times."""
    yield (
        f"Back within {float(found.recovery_minutes):g} minutes, backed up every {float(found.interval_minutes):g}, logs read at "
        f"{float(found.log_read_mb_per_s):g} MB a second"
    )
    yield f"{'structure':<16}{'backup':>14}{'log per hour':>14}{'log between':>14}{'recovery':>14}{'back up every':>16}  computed"
    for each in found.all_structures:
        if each.recovery_s is None:
            yield f"{each.name:<16}  {each.not_backed_up}"
            continue
        every = "-" if each.back_up_every_minutes is None else f"{float(each.back_up_every_minutes):.1f} min"
        yield (
            f"{each.name:<16}{format_mib(each.backup_bytes):>14}{format_mib(each.log_bytes_per_hour):>14}"
            f"{format_mib(each.log_bytes_between):>14}{float(each.recovery_s) / 60:>10.1f} min{every:>16}  {_longest(each)}"
        )
    if found.system is not None:
        yield f"{found.system.name}: {found.system.assumed}"


def _longest(each: StructureRecovery) -> str:
    """Return the longest interval between backups, rounded down as in the JSON answer."""
    if each.interval_minutes is None:
        return "not known" if each.unrated_queues else "any"
    # Zero: even the backup alone takes longer to read than recovery may take.
    return f"{tenths_down(each.interval_minutes):.1f} min" if each.interval_minutes else "none"


def loss_lines(found: LossAnswer) -> Iterator[str]:
    """Yield tables of placements, of each loss, and of the white space."""
    yield f"Where structures are, counted with {found.counted_at.upper()} [MiB]"
    rows = [("structure", "size", "in", "second copy", "rule")]
    rows += [
        (
            each.structure,
            _mib(each.size_bytes),
            each.coupling_facility,
            each.second_copy or "",
            str(each.rule),
        )
        for each in found.placements
    ]
    rows += [(each.structure, _mib(each.size_bytes), "no place", "", each.rule) for each in found.unplaced]
    yield from _table(rows)
    for loss in found.losses:
        yield from _loss_lines(loss)
    yield ""
    yield "White space to keep [MiB]"
    space = [
        (each.name, _mib(each.keep_bytes), _mib(each.free_bytes), each.because or "")
        for each in found.white_space
    ]
    yield from _table([("coupling facility", "keep", "free", "because of"), *space])


def _loss_lines(loss: Loss) -> Iterator[str]:
    yield ""
    what = "" if loss.kind == "coupling_facility" else f"{loss.kind} "
    yield f"Without {what}{loss.name}: white space {_mib(loss.white_space_bytes)} MiB" + (
        f", {_mib(loss.missing_bytes)} MiB of it without a place" if loss.unplaced else ""
    )
    rows = [
        (
            f"  {each.structure}",
            _mib(each.size_bytes),
            each.action.replace("_", " "),
            " ".join(filter(None, (each.coupling_facility, each.second_copy))),
            each.rule or "",
        )
        for each in loss.placements
        if each.action != "stays"
    ]
    rows += [
        (f"  {each.structure}", _mib(each.size_bytes), "no place", "", "")
        for each in loss.unplaced_structures
    ]
    if rows:
        yield from _table(rows)
    if gone := sum(each.gone for each in loss.lost):
        yield f"  {gone} messages of the planned backlog are lost."
    yield from (f"  {each.words}" for each in loss.endings)
    if by_itself := [each.structure for each in loss.lost if each.recovers_by_itself]:
        yield f"  Recover without an operator: {', '.join(by_itself)}."
    yield from (f"  {each.structure}: {each.words}" for each in loss.lost if each.recovers_by_itself is None)


def upgrade_lines(found: UpgradeAnswer) -> Iterator[str]:
    """Yield the sizes of every structure before and after each step."""
    for step in found.steps:
        yield f"{step.title} ({step.key})"
        if step.refused:
            yield f"  {step.refused}"
            yield ""
            continue
        rows: list[tuple[str, ...]] = [("  structure", "INITSIZE K", "after", "", "SIZE K", "after", "")]
        rows += [
            (
                f"  {each.structure}{' *' if each.is_replaced else ''}",
                *_sizes(each.figures_before, each.figures_after),
            )
            for each in step.structures
        ]
        rows.append(("  together", *_sizes(step.totals.before, step.totals.after)))
        yield from _table(rows)
        for each in step.unplaced_after_loss:
            yield f"  Without {each.lost} no place for {', '.join(each.structures)}."
        if step.unplaced:
            yield f"  No place for {', '.join(step.unplaced)}."
        yield ""


def _sizes(before: SizeFigures, after: SizeFigures) -> tuple[str, ...]:
    difference = after - before
    return (
        str(before.initsize_kib),
        str(after.initsize_kib),
        f"{difference.initsize_kib:+}",
        str(before.size_kib),
        str(after.size_kib),
        f"{difference.size_kib:+}",
    )


def _mib(size_bytes: int | None) -> str:
    return "not stated" if size_bytes is None else f"{size_bytes / MIB:,.0f}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table with numbers aligned to the right, except in the first column."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.rjust(width) if number and _is_number(cell) else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _is_number(cell: str) -> bool:
    return cell[:1] in "+-0123456789"
