"""Scheduled runs: one at the set hour or after missed ones, and none if the schedule is off."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import URL, text

from app.database.engine import Database
from app.jobs import processes
from app.jobs.models import JobState
from app.main import create_app
from app.nightly import report, repository
from app.nightly.models import Trigger
from app.nightly.schedule import Schedule, due_at, last_due, zone_of
from app.settings import Settings, SettingsInvalid, read_settings
from tests.app.nightly.support import measured, put_days, queue, read, settings_for, work

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = date(2025, 11, 21)
AFTER = datetime(2025, 11, 21, 1, 30, tzinfo=UTC)  # half past two in Berlin


class Clock:
    """A clock that tests set."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock(AFTER)


@pytest.fixture
def pokes() -> list[str]:
    return []


@pytest.fixture
def timed(settings: Settings) -> Settings:
    return settings.model_copy(update={"night_hour": 2, "night_zone": "Europe/Berlin"})


@pytest.fixture
def schedule(database: Database, timed: Settings, clock: Clock, pokes: list[str]) -> Schedule:
    return Schedule(database, timed, on_queued=lambda: pokes.append("poke"), clock=clock)


def runs(database: Database) -> list[date | None]:
    with database.session(writes=False) as session:
        return [run.due_on for run, _ in repository.page_of_runs(session, offset=0, limit=99)[0]]


def age_jobs(database: Database, *, before: datetime) -> None:
    """Set the start of runs to this time, because the clock of these tests is not the machine's."""
    with database.engine.begin() as connection:
        connection.execute(
            text("UPDATE job_runs SET created_at = :at"),
            {"at": before.strftime("%Y-%m-%d %H:%M:%S.%f") if database.is_sqlite else before},
        )


def test_due_run_is_started_once(database: Database, schedule: Schedule, pokes: list[str]) -> None:
    measured(database)
    assert schedule.look() is True
    assert schedule.look() is False
    assert runs(database) == [NIGHT]
    assert pokes == ["poke"]


def test_missed_runs_are_caught_up_once(
    database: Database, schedule: Schedule, clock: Clock, timed: Settings
) -> None:
    measured(database)
    put_days(timed, 1)
    assert schedule.look() is True
    work(database, timed, read(database, 1))
    age_jobs(database, before=AFTER)
    clock.now = AFTER + timedelta(days=5, hours=9)
    assert schedule.look() is True
    assert schedule.look() is False
    assert runs(database) == [NIGHT + timedelta(days=5), NIGHT]


def test_completed_run_is_not_repeated_before_the_next_scheduled_hour(
    database: Database, schedule: Schedule, clock: Clock, timed: Settings
) -> None:
    measured(database)
    assert schedule.look() is True
    work(database, timed, read(database, 1))
    age_jobs(database, before=AFTER)
    clock.now = datetime(2025, 11, 22, 0, 59, 59, tzinfo=UTC)
    assert schedule.look() is False
    clock.now = datetime(2025, 11, 22, 1, 0, tzinfo=UTC)
    assert schedule.look() is True


def test_manual_run_after_the_scheduled_hour_counts_as_the_nightly_run(
    database: Database, schedule: Schedule, timed: Settings
) -> None:
    measured(database)
    work(database, timed, queue(database, Trigger.COMMAND))
    age_jobs(database, before=AFTER)
    assert schedule.look() is False


def test_simulation_does_not_count_as_the_nightly_run(database: Database, schedule: Schedule) -> None:
    measured(database)
    run = queue(database, Trigger.SIMULATION)
    assert schedule.look() is False, "one run at a time"
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE job_runs SET state = 'failed'"))
    assert read(database, run.id).job.state == JobState.FAILED
    assert schedule.look() is True


def test_run_started_while_the_clock_was_wrong_does_not_prevent_the_next_ones(
    database: Database, schedule: Schedule, clock: Clock, timed: Settings
) -> None:
    measured(database)
    put_days(timed, 1)
    right = clock.now
    clock.now = right + timedelta(days=400)
    assert schedule.look() is True
    work(database, timed, read(database, 1))
    age_jobs(database, before=clock.now)
    clock.now = right
    assert schedule.look() is True
    assert schedule.look() is False
    assert sorted(filter(None, runs(database))) == [NIGHT, NIGHT + timedelta(days=400)]


def test_installation_without_data_starts_no_run(database: Database, schedule: Schedule) -> None:
    assert schedule.look() is False
    assert runs(database) == []


def test_disabled_schedule_starts_no_run(database: Database, settings: Settings, pokes: list[str]) -> None:
    measured(database)
    off = Schedule(database, settings, on_queued=lambda: pokes.append("poke"))
    off.start()
    assert off.look() is False
    assert off.next_due() is None
    off.stop()
    assert runs(database) == []


def test_two_services_on_one_database_start_one_run(
    database: Database, timed: Settings, schedule: Schedule, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other service checks at the same instant, and also finds the run due."""
    measured(database)
    assert schedule.look() is True
    with database.engine.begin() as connection:  # its run has ended meanwhile
        connection.execute(text("UPDATE job_runs SET state = 'done'"))
    monkeypatch.setattr(repository, "is_run_due", lambda *_, **__: True)
    other = Schedule(database, timed, on_queued=lambda: None, clock=clock)
    assert other.look() is False
    assert runs(database) == [NIGHT]


def test_schedule_checks_for_due_runs_as_soon_as_it_starts(database: Database, timed: Settings) -> None:
    """The first check is at the start, so that a missed run need not wait for the next hour."""
    measured(database)
    woken = threading.Event()
    schedule = Schedule(database, timed, on_queued=woken.set)
    schedule.start()
    try:
        assert woken.wait(30)
    finally:
        schedule.stop()
    assert len(runs(database)) == 1


def test_stopping_the_schedule_waits_for_a_running_check(
    database: Database, timed: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service closes its database right after, and a connection in use then would stay open."""
    is_checking, may_end = threading.Event(), threading.Event()

    def check(*_: object) -> bool:
        is_checking.set()
        return may_end.wait(30)

    monkeypatch.setattr(report, "complete", check)
    schedule = Schedule(database, timed, on_queued=lambda: None)
    schedule.start()
    assert is_checking.wait(30)
    stopping = threading.Thread(target=schedule.stop)
    stopping.start()
    stopping.join(0.2)
    assert stopping.is_alive()
    may_end.set()
    stopping.join(30)
    assert not stopping.is_alive()


def test_no_run_starts_while_packages_are_missing(
    database: Database, schedule: Schedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(database)
    monkeypatch.setattr(processes, "missing_packages", lambda: ("pyspark",))
    assert schedule.look() is False


def test_unavailable_database_is_logged_and_retried(
    database: Database, schedule: Schedule, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from app.database.engine import DatabaseUnusable

    measured(database)

    def away(*_: object, **__: object) -> bool:
        raise DatabaseUnusable("it does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(repository, "is_run_due", away)
        assert schedule.look() is False
    assert "cannot be started now" in caplog.text
    assert schedule.look() is True


# ---- the hour --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("night", "utc"),
    [
        (date(2025, 11, 21), datetime(2025, 11, 21, 1, tzinfo=UTC)),
        (date(2025, 7, 1), datetime(2025, 7, 1, 0, tzinfo=UTC)),
        (date(2025, 3, 30), datetime(2025, 3, 30, 1, tzinfo=UTC)),  # there is no two o'clock: three
        (date(2025, 10, 26), datetime(2025, 10, 26, 0, tzinfo=UTC)),  # there are two: the first
    ],
)
def test_scheduled_hour_is_in_the_configured_zone(night: date, utc: datetime) -> None:
    assert due_at(night, hour=2, zone=BERLIN) == utc


@pytest.mark.parametrize(
    "night", [date(2025, 3, 29), date(2025, 3, 30), date(2025, 10, 25), date(2025, 10, 26)]
)
def test_nightly_run_is_due_once_when_clocks_change(night: date) -> None:
    due = due_at(night, hour=2, zone=BERLIN)
    minute = timedelta(minutes=1)
    assert last_due(due - minute, hour=2, zone=BERLIN) == night - timedelta(days=1)
    assert last_due(due, hour=2, zone=BERLIN) == night
    following = due_at(night + timedelta(days=1), hour=2, zone=BERLIN)
    assert last_due(following - minute, hour=2, zone=BERLIN) == night


def test_next_due_time_is_the_next_scheduled_hour(schedule: Schedule, clock: Clock) -> None:
    assert schedule.next_due() == datetime(2025, 11, 22, 1, tzinfo=UTC)
    clock.now = datetime(2025, 11, 21, 0, 30, tzinfo=UTC)
    assert schedule.next_due() == datetime(2025, 11, 21, 1, tzinfo=UTC)


def test_scheduled_hour_without_a_zone_is_in_the_zone_of_the_machine(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tzlocal.get_localzone", lambda: BERLIN)
    assert zone_of(settings) == BERLIN


# ---- settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "hour"), [("off", None), (" OFF ", None), ("0", 0), ("23", 23)])
def test_schedule_setting_is_an_hour_or_off(
    monkeypatch: pytest.MonkeyPatch, text: str, hour: int | None
) -> None:
    monkeypatch.setenv("CFPLAN_NIGHT_HOUR", text)
    assert read_settings().night_hour == hour


@pytest.mark.parametrize(
    ("name", "text"), [("HOUR", "24"), ("HOUR", "two"), ("ZONE", "Mars/Olympus"), ("ZONE", "../etc/passwd")]
)
def test_invalid_hour_or_zone_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    monkeypatch.setenv(f"CFPLAN_NIGHT_{name}", text)
    with pytest.raises(SettingsInvalid, match=f"CFPLAN_NIGHT_{name}"):
        read_settings()


def test_schedule_setting_is_passed_to_processes(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for hour in (None, 3):
        given = settings.model_copy(update={"night_hour": hour})
        for key, value in given.as_environment().items():
            monkeypatch.setenv(key, value)
        assert read_settings().night_hour == hour


def test_application_starts_and_stops_its_schedule(url: URL, tmp_path: Path) -> None:
    app = create_app(settings_for(url, tmp_path, night_hour=2))
    others = schedule_threads()

    async def serve() -> set[threading.Thread]:
        async with app.router.lifespan_context(app):
            return schedule_threads() - others

    running = asyncio.run(serve())
    assert len(running) == 1
    for thread in running:
        thread.join(30)
        assert not thread.is_alive()


def schedule_threads() -> set[threading.Thread]:
    """Return the running threads of APScheduler that wait for the next hour."""
    return {thread for thread in threading.enumerate() if thread.name == "APScheduler"}
