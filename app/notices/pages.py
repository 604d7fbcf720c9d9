"""The page of notices: those that were sent, and those that wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Request
from fastapi.responses import Response

from app.clock import utc_now
from app.database.session import SessionDep
from app.notices import service
from app.notices.lists import NOTICES
from app.notices.service import ChannelStatus
from app.settings import Settings
from app.web.rendering import Page, render
from app.web.router import Router
from app.web.tables import ListView

router = Router(include_in_schema=False)


@dataclass(frozen=True, kw_only=True)
class NoticesPage(Page):
    """Notices, newest first, and the channels by which they are sent."""

    notices: Annotated[ListView, "One page of notices"]
    is_empty: Annotated[bool, "Whether there are no notices yet"]
    channels: Annotated[tuple[ChannelStatus, ...], "The channels of the settings"]
    moved_days: Annotated[int, "Days by which a date must move for a notice"]
    quiet_hours: Annotated[int, "Hours of the quiet period"]


@router.get("/notices")
def notices(request: Request, session: SessionDep) -> Response:
    """Show notices, newest first."""
    settings: Settings = request.app.state.settings
    asked = NOTICES.request(request)
    found = service.list_notices(session, asked, now=utc_now())
    page = NoticesPage(
        title="Notices",
        section="notices",
        notices=NOTICES.view(found, asked),
        is_empty=found.total == 0,
        channels=service.channel_states(session, settings),
        moved_days=settings.notice_moved_days,
        quiet_hours=settings.notice_quiet_hours,
    )
    return render(request, "notices/list.html", page)
