"""The list of sizing points."""

from __future__ import annotations

from typing import Final

from app.fits.points import Point
from app.paging import Sort
from app.web.rendering import mib_bare
from app.web.tables import Column, ListTable, TableCell
from planner_core.texts.sizing_answers import ORIGINS

TYPES: Final = {"application": "application", "system": "CSQSYSAPPL", "admin": "CSQ_ADMIN"}
"""The types of structures in words."""


def _ratio(point: Point) -> str:
    return f"{point.entry_ratio}:{point.element_ratio}"


def _origin(point: Point) -> TableCell:
    words = ORIGINS.get(point.origin, point.origin)
    return TableCell(value=point.origin, text=f"{words}, {point.structure}" if point.structure else words)


POINTS: Final = ListTable[Point](
    name="sizing points",
    path="/sizing-points",
    columns=(
        Column(key="remove", title="Remove", kind="tick", can_sort=False, read=lambda point: TableCell(value=point.number, text=f"Remove point {point.number}")),
        Column(key="number", title="Point", kind="number", read=lambda point: point.number),
        Column(key="cfcc_level", title="CFCC level", kind="number", read=lambda point: point.cfcc_level),
        Column(key="structure_type", title="Structure", read=lambda point: TableCell(value=point.structure_type, text=TYPES[point.structure_type])),
        Column(key="ratio", title="Ratio", can_sort=False, read=_ratio),
        Column(key="initsize_bytes", title="INITSIZE", unit="MiB", kind="number", read=lambda point: TableCell(value=point.initsize_bytes, text=mib_bare(point.initsize_bytes, 2))),
        Column(key="size_bytes", title="SIZE", unit="MiB", kind="number", read=lambda point: TableCell(value=point.size_bytes, text=mib_bare(point.size_bytes, 2))),
        Column(key="entries", title="Entries", kind="number", read=lambda point: point.entries),
        Column(key="elements", title="Elements", kind="number", read=lambda point: point.elements),
        Column(key="origin", title="Origin", read=_origin),
        Column(key="release", title="Release", read=lambda point: point.release or None),
        Column(key="measured_by", title="Person", read=lambda point: point.measured_by or None),
        Column(key="measured_on", title="Day", kind="date", read=lambda point: point.measured_on),
    ),
    sort=Sort("number", is_descending=True),
    search_label="Origin, release, person or structure",
    anchor="#h-points",
)  # fmt: skip
