"""Settings and clocks for tests of notices."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select

from app.database.engine import Database, database_of
from app.jobs.models import JobRun
from app.notices.dispatcher import Dispatcher
from app.notices.models import Notice, NoticeDelivery
from app.settings import Settings
from tests.app.fits.support import MADE_ON, crossing_json, forecast_json, store_night
from tests.app.notices.servers import ADDRESS, Server

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
PASSWORD = "correct-horse-17"


def mail_settings(folder: Path, server: Server, **changes: Any) -> Settings:  # noqa: ANN401 - values of settings
    given = {
        "data_dir": folder,
        "smtp_host": ADDRESS,
        "smtp_port": server.port,
        "smtp_ca_file": str(server.certificate),
        "notice_from": "cfplan@example.com",
        "notice_to": "anna@example.com,mq-team@example.com",
        "base_url": "https://cfplan.example.com/planner/",
    }
    return Settings(**{**given, **changes})


def webhook_settings(folder: Path, server: Server, **changes: Any) -> Settings:  # noqa: ANN401 - values of settings
    given = {
        "data_dir": folder,
        "webhook_url": f"https://{ADDRESS}:{server.port}/hooks/T0PS3CRET",
        "webhook_ca_file": str(server.certificate),
    }
    return Settings(**{**given, **changes})


@dataclass
class Site:
    """A service with a clock that tests set."""

    settings: Settings
    database: Database
    now: datetime = NOW

    @classmethod
    def of(cls, settings: Settings) -> Site:
        database = database_of(settings)
        database.prepare()
        return cls(settings, database)

    def dispatcher(self) -> Dispatcher:
        return Dispatcher(self.database, self.settings, clock=lambda: self.now)

    def look(self, *, after: timedelta = timedelta()) -> int:
        """Let time pass, and look with a new dispatcher, as after a restart; return the number of messages sent."""
        self.now += after
        return self.dispatcher().look()

    def notices(self) -> list[Notice]:
        with self.database.session(writes=False) as session:
            return list(session.scalars(select(Notice).order_by(Notice.id)))

    def deliveries(self) -> list[NoticeDelivery]:
        with self.database.session(writes=False) as session:
            return list(session.scalars(select(NoticeDelivery).order_by(NoticeDelivery.id)))

    def run_night(self, *forecasts: dict[str, Any], ended_at: datetime | None = None, **results: Any) -> int:  # noqa: ANN401
        """Store a nightly run that has ended."""
        number = store_night(self.database, forecasts=forecasts, **results)
        with self.database.session(writes=True) as session:
            job = session.scalars(select(JobRun).order_by(JobRun.id.desc()).limit(1)).one()
            job.ended_at = ended_at or self.now
        return number


def forecast(
    p50: int | None,
    *,
    day: date = MADE_ON,
    structure: str = "APPLICATION1",
    qsg: str = "SQ03",
    passed: bool = False,
    size: int = 131_072,
) -> dict[str, Any]:
    """Return a forecast of one limit that is expected after some days."""
    limit = crossing_json("SIZE", size, None if p50 is None else p50 - 5, p50, None)
    if p50 is not None:
        limit["dates"] = {
            "p10": (day + timedelta(days=p50 - 5)).isoformat(),
            "p50": (day + timedelta(days=p50)).isoformat(),
            "p90": None,
        }
    if passed:
        limit["state"] = "already_crossed"
    return forecast_json(qsg=qsg, structure=structure, made_on=day, crossings=[limit])
