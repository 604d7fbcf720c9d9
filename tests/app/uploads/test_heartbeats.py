"""Dead keepers on other machines are noticed whatever the clocks of the machines show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.database.engine import Database
from app.jobs import repository, service
from app.jobs.heartbeats import LONGEST_GAP_S, HeartbeatObserver
from tests.app.uploads.support import job_id_of, keep

STALE_S = 60.0
OWNER = "another.example:1:feed"


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


class Site:
    """A run on another machine, and a watcher on this one that looks every two seconds."""

    def __init__(self, database: Database, job_id: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.database, self.job_id, self.monkeypatch = database, job_id, monkeypatch
        self.clock = Clock()
        self.observer = HeartbeatObserver(STALE_S, clock=self.clock)
        self.set_clock(timedelta(0))
        with database.session(writes=True) as session:
            assert service.claim(session, job_id, owner=OWNER, at_once=1)

    def set_clock(self, error: timedelta) -> None:
        """Set the clock with which heartbeats are written."""
        self.monkeypatch.setattr(service, "utc_now", lambda: datetime.now(UTC) + error)

    def beat(self) -> None:
        with self.database.session(writes=True) as session:
            assert service.beat(session, self.job_id, OWNER, stage="", done=0, total=0, log="")

    def look(self, *, after_s: float = 2.0) -> bool:
        """Look once, and release the run if its keeper is dead; return whether another keeper can claim it."""
        self.clock.seconds += after_s
        with self.database.session(writes=False) as session:
            silent = self.observer.silent(session)
        with self.database.session(writes=True) as session:
            for each in silent:
                repository.release(session, each)
            return self.job_id in repository.waiting(session)


@pytest.fixture
def site(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(database, job_id_of(keep(database, tmp_path, "text")), monkeypatch)


@pytest.mark.parametrize("error", [timedelta(days=-400), timedelta(0), timedelta(days=400)], ids=str)
def test_dead_run_is_released_whatever_its_clock_showed(site: Site, error: timedelta) -> None:
    site.set_clock(error)
    site.beat()
    looks = next(number for number in range(1, 100) if site.look())
    assert looks == 1 + STALE_S / 2
    with site.database.session(writes=True) as session:
        assert service.claim(session, site.job_id, owner="second", at_once=1) is not None


@pytest.mark.parametrize("error", [timedelta(days=-400), timedelta(days=400)], ids=str)
def test_living_run_is_kept_when_a_clock_is_set(site: Site, error: timedelta) -> None:
    for number in range(100):
        site.set_clock(error if number > 50 else timedelta(0))
        if number % 20 == 0:  # a heartbeat every 40 seconds is enough
            site.beat()
        assert not site.look()


def test_pause_of_the_observer_does_not_count_as_silence(site: Site) -> None:
    site.look()
    for _ in range(3):
        assert not site.look(after_s=3600)
    assert 4 * LONGEST_GAP_S < STALE_S, "or the pauses would have to be fewer"


def test_heartbeat_after_the_look_keeps_the_run(site: Site) -> None:
    for _ in range(30):
        site.look()
    site.clock.seconds += 2
    with site.database.session(writes=False) as session:
        (silent,) = site.observer.silent(session)
    site.beat()
    with site.database.session(writes=True) as session:
        assert not repository.release(session, silent)
        assert repository.waiting(session) == []


def test_dead_run_with_a_future_heartbeat_does_not_block_other_runs(site: Site, tmp_path: Path) -> None:
    site.set_clock(timedelta(days=400))
    site.beat()
    another = job_id_of(keep(site.database, tmp_path, "another text"))
    with site.database.session(writes=True) as session:
        assert service.claim(session, another, owner="second", at_once=1) is None
    while not site.look():
        pass
    with site.database.session(writes=True) as session:
        assert service.claim(session, another, owner="second", at_once=1) is not None
