"""The list of all versions of fitted curves."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from app.fits.fits import Fit
from app.nightly.models import FitState
from app.paging import Sort
from app.web.rendering import mib_bare, number
from app.web.tables import Column, ListTable, TableCell
from planner_core.simulated import WORD


def _facility(fit: Fit) -> TableCell:
    return TableCell(
        value=fit.coupling_facility or None,
        text=fit.coupling_facility or "not named",
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


VERSIONS: Final = ListTable[Fit](
    name="fitted curves",
    path="/curves",
    columns=(
        Column(key="version", title="Version", kind="number", read=lambda fit: TableCell(value=fit.version, href=f"/curves/{fit.version}")),
        Column(key="coupling_facility", title="Coupling facility", kind="name", read=_facility),
        Column(key="cfcc_level", title="CFCC level", kind="number", read=lambda fit: TableCell(value=fit.cfcc_level, text="not known" if fit.cfcc_level is None else "")),
        Column(key="state", title="State", kind="urgency", read=_state),
        Column(key="base_bytes", title="Base", unit="MiB", kind="number", can_sort=False, read=_base),
        Column(key="bundle_bytes", title="Entry with elements", unit="bytes", kind="number", can_sort=False, read=_bundle),
        Column(key="points", title="Points", kind="number", can_sort=False, read=lambda fit: fit.points_used),
        Column(key="made_at", title="Made", unit="UTC", kind="date", read=lambda fit: fit.made_at),
        Column(key="reason", title="Reason", kind="words", can_sort=False, read=lambda fit: fit.reason or None),
    ),
    sort=Sort("version", is_descending=True),
    search_label="Name of coupling facility",
    anchor="#h-versions",
)  # fmt: skip
