"""The schedule of nightly runs: one run a day, at the hour in the settings.

APScheduler calls the schedule at that hour and every quarter of an hour, so that a missed run is made up for if the
machine was asleep, the service was down, or the clocks skipped the hour. Each call checks the database for a night
without a run. So several services on one database start one run together, and several missed nights lead to one run,
not one each.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from sqlalchemy.exc import DBAPIError, IntegrityError

from app.clock import utc_now
from app.database.engine import Database
from app.errors import JobBusy
from app.jobs import processes
from app.nightly import report, repository, service
from app.nightly.models import Trigger
from app.settings import Settings
from planner_core.errors import PlannerError

if TYPE_CHECKING:
    from apscheduler.schedulers.background import BackgroundScheduler

LOOKS_EVERY_MINUTES = 15

logger = logging.getLogger("cfplan.night")


def zone_of(settings: Settings) -> tzinfo:
    """Return the time zone of the scheduled hour: from the settings, or else of this machine."""
    if settings.night_zone:
        return ZoneInfo(settings.night_zone)
    from tzlocal import get_localzone

    return get_localzone()


def last_due(now: datetime, *, hour: int, zone: tzinfo) -> date:
    """Return the last night that was due by now, as a day in the time zone.

    An hour that the clocks skip counts as the one after it; of an hour that occurs twice, the first one counts.
    """
    today = now.astimezone(zone).date()
    return today if due_at(today, hour=hour, zone=zone) <= now else today - timedelta(days=1)


def due_at(night: date, *, hour: int, zone: tzinfo) -> datetime:
    """Return the time at which the run of a night is due, in UTC."""
    # With fold=0, Python takes the first of two equal hours, and moves a skipped one to the hour after it.
    return datetime.combine(night, time(hour), tzinfo=zone).astimezone(UTC)


class Schedule:
    """A thread of the service. It has no state of its own: the database records which runs were started."""

    def __init__(
        self, database: Database, settings: Settings, *, on_queued: Callable[[], None],
        clock: Callable[[], datetime] = utc_now,
    ) -> None:  # fmt: skip
        """Store the arguments; `start` starts the thread.

        Args:
            database: The database of the runs.
            settings: Settings of the service.
            on_queued: Called when a run has been queued.
            clock: Returns the current time.
        """
        self._database = database
        self._settings = settings
        self._on_queued = on_queued
        self._clock = clock
        self._scheduler: BackgroundScheduler | None = None

    def start(self) -> None:
        """Start the thread, unless the schedule is off."""
        if self._settings.night_hour is None:
            return
        # Of all processes of the service, only the one that starts jobs needs APScheduler.
        from apscheduler.schedulers.background import BackgroundScheduler
        from apscheduler.triggers.cron import CronTrigger
        from apscheduler.triggers.interval import IntervalTrigger

        zone = zone_of(self._settings)
        scheduler = BackgroundScheduler(
            # Late and missed calls are merged into one, since a single call catches up on everything.
            timezone=zone,
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )
        at_hour = CronTrigger(hour=self._settings.night_hour, minute=0, second=1, timezone=zone)
        scheduler.add_job(self.look, at_hour, id="night")
        every = IntervalTrigger(minutes=LOOKS_EVERY_MINUTES, timezone=zone)
        scheduler.add_job(self.look, every, id="catch-up", next_run_time=datetime.now(zone))
        scheduler.start()
        self._scheduler = scheduler

    def stop(self) -> None:
        """Stop the thread, and wait for a running check to end, because it uses the database."""
        if self._scheduler is not None:
            self._scheduler.shutdown(wait=True)
            self._scheduler = None

    def look(self) -> bool:
        """Start the run that is due, if it has not been started yet; return whether one was started."""
        try:
            report.complete(self._database, self._settings)
            is_queued = self._begin()
        except JobBusy:  # Its results serve for this night too; if it fails, the next call starts a run.
            return False
        except IntegrityError:  # Another service started the run of this night first.
            return False
        except (PlannerError, DBAPIError, OSError) as error:
            logger.error("The nightly run cannot be started now: %s", error)
            return False
        if is_queued:
            self._on_queued()
        return is_queued

    def next_due(self) -> datetime | None:
        """Return the time at which the next run is due, in UTC; None if the schedule is off."""
        hour = self._settings.night_hour
        if hour is None:
            return None
        zone, now = zone_of(self._settings), self._clock()
        return due_at(last_due(now, hour=hour, zone=zone) + timedelta(days=1), hour=hour, zone=zone)

    def _begin(self) -> bool:
        hour = self._settings.night_hour
        if hour is None or processes.missing_packages():
            return False
        zone = zone_of(self._settings)
        night = last_due(self._clock(), hour=hour, zone=zone)
        with self._database.session(writes=True) as session:
            if not repository.is_run_due(session, night, since=due_at(night, hour=hour, zone=zone)):
                return False
            run = service.queue(session, Trigger.SCHEDULE, due_on=night)
            logger.info("Nightly run %d is due for %s.", run.id, night)
        return True
