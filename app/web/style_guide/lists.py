"""A list of invented structures for the style page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from app.paging import ListRequest, PageRequest, ResultPage, Sort
from app.web.tables import Column, ListTable, ListView, TableCell


@dataclass(frozen=True, slots=True)
class _Specimen:
    name: str
    urgency: TableCell
    percent: float | None
    peaks: Sequence[float | None]
    last_full: date | None
    queues: int
    remark: str | None = None


_SPECIMENS = (
    _Specimen(
        "APPLICATION1",
        TableCell(text="Full now", note="12 times", severity="error"),
        100.0,
        (40, 45, 52, 60, 71, 83, 92, 100),
        date(2026, 11, 24),
        12,
        "Getters stopped on two systems.",
    ),
    _Specimen(
        "MYDATA",
        TableCell(text="85 % in 12 days", severity="warning"),
        81.4,
        (60, 62, 61, None, None, 75, 79, 81),
        None,
        1204,
    ),
    _Specimen("PERSIST1", TableCell(text="not within 180 days"), 34.0, (30, 34, 31, 34, 33, 32), None, 3),
    _Specimen("NEVERUSED", TableCell(), None, (), None, 0),
)
_LIST = ListTable[_Specimen](
    name="specimen structures",
    path="/style",
    columns=(
        Column(key="tick", title="To select", kind="tick", can_sort=False, read=lambda each: TableCell(value=each.name, text=f"Select {each.name}")),
        Column(key="name", title="Structure", kind="name", read=lambda each: TableCell(value=each.name, href="/style")),
        Column(key="urgency", title="Urgency", kind="urgency", read=lambda each: each.urgency),
        Column(key="use", title="In use", unit="%", kind="use", read=lambda each: each.percent),
        Column(key="peaks", title="90 days", kind="sparkline", can_sort=False, read=lambda each: TableCell(value=each.peaks, text="The peaks of 90 days")),
        Column(key="last_full", title="Last full", unit="UTC", kind="date", read=lambda each: each.last_full),
        Column(key="queues", title="Queues", kind="number", read=lambda each: each.queues),
        Column(key="remark", title="Remark", kind="words", can_sort=False, read=lambda each: each.remark),
    ),
    sort=Sort("urgency"),
    search_label="Name of structure",
)  # fmt: skip


def sorted_list() -> ListView:
    """Return the list as a page shows it."""
    found = ResultPage[_Specimen].of(_SPECIMENS, len(_SPECIMENS), PageRequest())
    return _LIST.view(found, ListRequest(sort=_LIST.sort))
