"""The list of all versions of fitted curves."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from markupsafe import Markup

from app.fits.fits import Fit
from app.nightly.models import FitState
from app.paging import Sort
from app.web.rendering import mib_bare, number
from app.web.tables import Column, ListTable, TableCell
from planner_core.contracts.fits import Estimate
from planner_core.simulated import WORD

ALLOCATION_RATIO = (1, 6)
"""The ratio of entries to elements at which the published curves state the cost of an entry."""


def _facility(fit: Fit) -> TableCell:
    unnamed = "sizing answers" if fit.answers is not None else "not named"
    return TableCell(
        value=fit.coupling_facility or None,
        text=fit.coupling_facility or unnamed,
        tag=WORD if fit.is_simulated else "",
    )


def _state(fit: Fit) -> TableCell:
    if fit.state is FitState.REJECTED:
        return TableCell(value="rejected", severity="warning")
    if fit.state is FitState.TOO_LITTLE:
        return TableCell(value="too little", severity="info")
    return TableCell(value="current" if fit.is_current else "accepted")


def _base(fit: Fit) -> TableCell:
    """Return the base in bytes; the page shows MiB."""
    if fit.base_bytes is None:
        return TableCell()
    return TableCell(value=fit.base_bytes.value, text=mib_bare(Fraction(fit.base_bytes.value), 2))


def _bundle(fit: Fit) -> TableCell:
    """Return the cost of an entry with its elements in bytes."""
    if fit.bundle_bytes is None:
        return TableCell()
    return TableCell(value=fit.bundle_bytes.value, text=number(f"{fit.bundle_bytes.value:.1f}"))


def _interval(found: Estimate | None, *, in_mib: bool = False) -> TableCell:
    """Return an estimate in bytes with its interval; the page shows MiB if `in_mib`."""
    if found is None:
        return TableCell()
    texts = [
        mib_bare(Fraction(each), 2) if in_mib else number(f"{each:.1f}")
        for each in (found.value, found.low, found.high)
    ]
    return TableCell(value=found.value, text=texts[0], note=Markup("{} to {}").format(texts[1], texts[2]))


def _published(fit: Fit) -> TableCell:
    if fit.published is None:
        return TableCell()
    return TableCell(value=float(fit.published.base), text=mib_bare(fit.published.base, 2))


def _current_bundle(fit: Fit) -> TableCell:
    found = _interval(fit.bundle_bytes)
    if fit.ratio == ALLOCATION_RATIO or fit.bundle_bytes is None:
        return found
    return replace(found, note=Markup("{}, at {}:{}").format(found.note, *fit.ratio))


def _published_bundle(fit: Fit) -> TableCell:
    if fit.published is None or fit.ratio != ALLOCATION_RATIO:
        return TableCell()
    return TableCell(value=float(fit.published.bundle), text=number(f"{float(fit.published.bundle):.1f}"))


CURRENT: Final = ListTable[Fit](
    name="current curves",
    path="/curves",
    columns=(
        Column(key="coupling_facility", title="Coupling facility", kind="name", read=_facility),
        Column(key="cfcc_level", title="CFCC level", kind="number", read=lambda fit: TableCell(value=fit.cfcc_level, text="not known" if fit.cfcc_level is None else "")),
        Column(key="version", title="Version", kind="number", read=lambda fit: TableCell(value=fit.version, href=f"/curves/{fit.version}")),
        Column(key="base_bytes", title="Base", unit="MiB", kind="number", read=lambda fit: _interval(fit.base_bytes, in_mib=True)),
        Column(key="published_base_bytes", title="Published base", unit="MiB", kind="number", read=_published),
        Column(key="bundle_bytes", title="Entry with elements", unit="bytes", kind="number", read=_current_bundle),
        Column(key="published_bundle_bytes", title="Published", unit="bytes", kind="number", read=_published_bundle),
        Column(key="entry_bytes", title="Entry", unit="bytes", kind="number", read=lambda fit: _interval(fit.entry_bytes)),
        Column(key="element_bytes", title="Element", unit="bytes", kind="number", read=lambda fit: _interval(fit.element_bytes)),
        Column(key="structures", title="Structures", kind="number", read=lambda fit: fit.structures),
        Column(key="last_day", title="Last day", kind="date", read=lambda fit: TableCell(value=fit.last_day, note=f"from {fit.first_day}" if fit.first_day else "")),
    ),
    sort=Sort("coupling_facility"),
    has_file=False,
    anchor="#h-current",
    parameter="current",
)  # fmt: skip
"""The last accepted fit of each coupling facility and level. They are few and in memory, so every figure sorts."""


VERSIONS: Final = ListTable[Fit](
    name="fitted curves",
    path="/curves",
    columns=(
        Column(key="version", title="Version", kind="number", read=lambda fit: TableCell(value=fit.version, href=f"/curves/{fit.version}")),
        Column(key="coupling_facility", title="Coupling facility", kind="name", read=_facility),
        Column(key="cfcc_level", title="CFCC level", kind="number", read=lambda fit: TableCell(value=fit.cfcc_level, text="not known" if fit.cfcc_level is None else "")),
        Column(key="state", title="State", kind="urgency", read=_state),
        Column(key="base_bytes", title="Base", unit="MiB", kind="number", read=_base),
        Column(key="bundle_bytes", title="Entry with elements", unit="bytes", kind="number", read=_bundle),
        Column(key="points", title="Points", kind="number", read=lambda fit: fit.points_used),
        Column(key="made_at", title="Made", unit="UTC", kind="date", read=lambda fit: fit.made_at),
        Column(key="reason", title="Reason", kind="words", can_sort=False, read=lambda fit: fit.reason or None),
    ),
    sort=Sort("version", is_descending=True),
    search_label="Name of coupling facility",
    anchor="#h-versions",
)  # fmt: skip
