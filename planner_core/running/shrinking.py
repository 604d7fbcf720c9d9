"""Check structures that a merge makes smaller, and settings that the policy keeps although the plan has others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil
from typing import Final

from planner_core.findings import Finding, finding
from planner_core.running.policy import Setting, field_of, planned, written
from planner_core.running.state import RunningStructure
from planner_core.sizing.structure_result import StructureResult
from planner_core.units import format_size, round_up

_ALL_PERCENT: Final = 100
_PLACES: Final = frozenset({"DUPLEX", "PREFLIST"})
"""Keywords that decide which coupling facilities a structure uses: keeping them causes a warning, keeping others a
note."""


def _shares(today: RunningStructure) -> list[Fraction]:
    """Return the shares of entries and elements in use that a display shows."""
    pools = ((today.entries_in_use, today.entries_total), (today.elements_in_use, today.elements_total))
    return [Fraction(used, total) for used, total in pools if used is not None and total]


def usage_percent(today: RunningStructure | None) -> int | None:
    """Return the usage of the fuller of entries and elements [percent]."""
    shares = _shares(today) if today else []
    return int(_ALL_PERCENT * max(shares)) if shares else None


def in_use_bytes(structure: StructureResult, today: RunningStructure | None) -> int | None:
    """Return the storage that a copy of a structure must hold [bytes]; None if no display shows it.

    The fuller of entries and elements determines it: its share of the allocated storage beyond the base of the plan's
    curve.
    """
    if today is None or today.size_bytes is None or today.is_allocated is False:
        return None
    shares = _shares(today)
    if not any(shares):
        return None
    # The allocation may be smaller than an empty structure of the plan's CFCC level.
    base = min(Fraction(today.size_bytes), structure.curve.base)
    return ceil(base + (today.size_bytes - base) * max(shares))


def shrinks(
    structure: StructureResult,
    says: Mapping[str, Setting],
    policy: Mapping[str, Setting],
    today: RunningStructure | None,
) -> Iterator[Finding]:
    """Yield a warning if a structure gets less storage than it has, or than its data needs.

    Args:
        structure: The planned structure.
        says: Its settings in the merged policy.
        policy: Its settings before the merge, used if no display shows its size.
        today: The running structure; None if no text shows it.
    """
    initsize, size = says["INITSIZE"], says["SIZE"]
    if not isinstance(initsize, int) or not isinstance(size, int):
        return
    # A structure that is not allocated gets its INITSIZE whenever it is allocated, so nothing shrinks.
    if today is not None and today.is_allocated is False:
        return
    name = structure.cfrm_name
    runs = today.size_bytes if today is not None else None
    used = in_use_bytes(structure, today)
    if runs is not None and used is not None and used > initsize:
        about = format_size(round_up(used, multiple=structure.curve.increment_bytes))
        fails = (
            f"SIZE {format_size(size)} cannot hold that, so a rebuild fails"
            if used > size
            else "a rebuild needs more than INITSIZE"
        )
        message = (
            f"{name} has {format_size(runs)} and {usage_percent(today)} % of it in use: about {about}. INITSIZE is {format_size(initsize)} in the "
            f"merged policy, and {fails}. Wait until it holds fewer messages, or set initsize to at least {about}."
        )
    elif runs is not None:
        if initsize >= runs:
            return
        percent = usage_percent(today)
        in_use = "" if percent is None else f", {percent} % of it in use"
        message = (
            f"{name} has {format_size(runs)} today{in_use}, and INITSIZE is {format_size(initsize)} in the merged policy: the structure shrinks when "
            "it is rebuilt. Set a larger initsize if the reason for its growth remains."
        )
    else:
        falls = [
            f"{keyword} falls from {format_size(had)} to {format_size(will)}"
            for keyword, will in (("INITSIZE", initsize), ("SIZE", size))
            if isinstance(had := policy.get(keyword), int) and will < had
        ]
        if not falls:
            return
        message = (
            f"{' and '.join(falls)} for {name}: the structure shrinks when it is rebuilt. Compare the new sizes with the storage in use: add "
            f"D XCF,STR,STRNAME={name}."
        )
    yield finding(
        "STRUCTURE_SHRINKS", message, field=field_of(structure, "INITSIZE"), structure=structure.name
    )


def kept_keywords(structure: StructureResult, says: Mapping[str, Setting]) -> tuple[str, ...]:
    """Return keywords that keep the policy's value although the plan was calculated with another."""
    return tuple(keyword for keyword, value in planned(structure).items() if says[keyword] != value)


def kept_settings(structure: StructureResult, says: Mapping[str, Setting]) -> Iterator[Finding]:
    """Report settings that the policy keeps although the plan was calculated with other values."""
    kept = kept_keywords(structure, says)
    if not kept:
        return
    plans = planned(structure)
    listed = ", ".join(f"{keyword}({written(keyword, says[keyword])})" for keyword in kept)
    computed = ", ".join(f"{keyword}({written(keyword, plans[keyword])})" for keyword in kept)
    message = (
        f"{structure.cfrm_name} keeps {listed}, which the plan does not state; the plan was calculated with {computed}. "
        "State the value you want in the plan, so that the calculation uses it."
    )
    yield finding(
        "UNSTATED_KEPT",
        message,
        field=field_of(structure, kept[0]),
        structure=structure.name,
        severity="warning" if _PLACES.intersection(kept) else None,
    )
