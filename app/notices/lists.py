"""The list of notices."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from app.notices.models import DeliveryState
from app.notices.service import TITLES, DeliveryInfo, NoticeInfo
from app.paging import Sort
from app.web.tables import Column, ListTable, Severity, TableCell

STATES: Final = {"quiet": "held back", "waiting": "waiting", "sent": "sent", "failed": "given up"}


def _title(notice: NoticeInfo) -> TableCell:
    return TableCell(value=notice.title, href=notice.href)


def _state(notice: NoticeInfo) -> TableCell:
    note = f"until {_time(notice.due_at)}" if notice.state == "quiet" else ""
    is_failing = any(each.error and each.state != DeliveryState.SENT for each in notice.deliveries)
    severity: Severity = "error" if notice.state == "failed" else "warning" if is_failing else ""
    return TableCell(value=STATES[notice.state], note=note, severity=severity)


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _details(notice: NoticeInfo) -> str:
    """Return the text as one paragraph, without the marks of a list."""
    return " ".join(line.removeprefix("- ") for line in notice.text.splitlines())


def _deliveries(notice: NoticeInfo) -> str | None:
    return " ".join(_delivery(each) for each in notice.deliveries) or None


def _delivery(each: DeliveryInfo) -> str:
    title = TITLES[each.channel]
    attempts = "1 attempt" if each.attempts == 1 else f"{each.attempts} attempts"
    error = f" {each.error.removesuffix('.')}." if each.error else ""
    if each.state is DeliveryState.SENT and each.ended_at is not None:
        return f"{title}: sent {_time(each.ended_at)}.{error}"
    if each.next_at is not None and each.attempts:
        return f"{title}: {attempts}, next {_time(each.next_at)}.{error}"
    return f"{title}: {'given up after ' + attempts if each.state is DeliveryState.FAILED else 'waiting'}.{error}"


NOTICES: Final = ListTable[NoticeInfo](
    name="notices",
    path="/notices",
    columns=(
        Column(key="title", title="Notice", can_sort=False, read=_title),
        Column(key="created_at", title="Found", unit="UTC", kind="date", can_sort=False, read=lambda each: each.created_at),
        Column(key="text", title="Details", kind="words", can_sort=False, read=_details),
        Column(key="state", title="State", kind="urgency", can_sort=False, read=_state),
        Column(key="deliveries", title="Delivery", kind="words", can_sort=False, read=_deliveries),
    ),
    sort=Sort("created_at", is_descending=True),
    has_file=False,
)  # fmt: skip
