"""Events become notices once, and further ones of the same kind and structure wait."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from app.jobs.models import JobRun, JobState
from app.main import create_app
from app.nightly.models import Trigger
from app.nightly.service import queue
from app.notices.models import LimitBaseline, NoticeKind
from tests.app.fits.support import MADE_ON
from tests.app.fleet.support import LAST_HOUR, measure
from tests.app.notices.servers import Server, mail_server
from tests.app.notices.support import Site, forecast, mail_settings

DAY = timedelta(days=1)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with mail_server(tmp_path / "tls") as found:
        yield found


@pytest.fixture
def site(tmp_path: Path, server: Server) -> Site:
    return Site.of(mail_settings(tmp_path / "data", server))


def subjects(server: Server) -> list[str]:
    return [mail["subject"] for mail in server.mails]


def test_first_look_reports_no_date(site: Site, server: Server) -> None:
    site.run_night(forecast(60))
    assert site.look() == 0
    assert (site.notices(), server.connections) == ([], 0)


def test_moved_date_is_reported_once_with_figures_source_and_link(site: Site, server: Server) -> None:
    site.run_night(forecast(60))
    site.look()
    site.run_night(forecast(30, day=MADE_ON + DAY))
    assert site.look() == 1
    assert site.look(after=timedelta(minutes=1)) == 0
    (notice,) = site.notices()
    assert (notice.kind, notice.severity) == (NoticeKind.DATE_MOVED, "warning")
    assert notice.figures["limits"][0]["before"] == "2027-01-19"
    assert notice.figures["limits"][0]["dates"]["p50"] == "2026-12-21"
    (mail,) = server.mails
    assert mail["subject"] == "cfplan: APPLICATION1 of SQ03: the date of SIZE moved earlier"
    text = mail.get_content()
    for part in (
        "29 days earlier",
        "80 % interval: 2026-12-16 to beyond the 180 days",
        "Last reported: 2027-01-19",
        "Source: Forecast of 2026-11-21 from daily peaks until 2026-11-21; estimates, not measurements.",
        "Details: https://cfplan.example.com/planner/forecasts/SQ03/APPLICATION1",
    ):
        assert part in text


def test_moved_date_of_a_structure_with_another_size_states_both_limits(site: Site, server: Server) -> None:
    site.run_night(forecast(30))
    site.look()
    # Too small a move to be reported, so the next one is compared with the first size.
    site.run_night(forecast(35, size=196_608))
    site.look()
    site.run_night(forecast(90, size=262_144))
    assert site.look() == 1
    (notice,) = site.notices()
    (limit,) = notice.figures["limits"]
    assert (limit["value_before"], limit["value"]) == (131_072, 262_144)
    assert "The limit itself changed from 131,072 to 262,144" in server.mails[0].get_content()


def test_limit_that_an_earlier_release_reported_is_moved_without_its_value(
    site: Site, server: Server
) -> None:
    site.run_night(forecast(30))
    site.look()
    with site.database.session(writes=True) as session:
        session.execute(update(LimitBaseline).values(value=None))
    site.run_night(forecast(90, size=262_144))
    assert site.look() == 1
    assert "The limit itself" not in server.mails[0].get_content()


def test_small_moves_add_up_until_they_are_reported(site: Site, server: Server) -> None:
    for nth in range(4):
        # The expected date is five days earlier after each run.
        site.run_night(forecast(60 - 6 * nth, day=MADE_ON + nth * DAY), last_day=MADE_ON + nth * DAY)
        site.look(after=DAY)
        assert len(server.mails) == (1 if nth == 3 else 0)
    assert "15 days earlier" in server.mails[0].get_content()


def test_limit_that_comes_into_the_horizon_is_reported(site: Site, server: Server) -> None:
    site.run_night(forecast(None))
    site.look()
    site.run_night(forecast(170, day=MADE_ON + DAY), forecast(100, day=MADE_ON + DAY, structure="NEW"))
    site.look(after=DAY)
    (mail,) = server.mails
    assert mail["subject"].startswith("cfplan: 2 notices: NEW of SQ03: the date of SIZE is expected")
    assert "No earlier forecast contained this limit." in mail.get_content()


def test_structure_without_a_forecast_in_one_run_keeps_its_date(site: Site) -> None:
    site.run_night(forecast(60))
    site.look()
    site.run_night(forecast(60, structure="OTHER", day=MADE_ON + DAY))
    site.look()
    site.run_night(forecast(60, day=MADE_ON + 2 * DAY))
    site.look()
    assert [each.structure for each in site.notices()] == ["OTHER"]


def test_second_run_on_the_same_day_that_moves_further_is_reported(site: Site) -> None:
    site.run_night(forecast(100))
    site.look()
    site.run_night(forecast(70, day=MADE_ON + DAY))
    site.look()
    site.run_night(forecast(40, day=MADE_ON + DAY))
    site.look()
    assert [each.figures["limits"][0]["before"] for each in site.notices()] == ["2027-02-28", "2027-01-30"]


def test_full_structure_is_reported_for_each_day_and_quiet_in_between(
    site: Site, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = create_app(site.settings)
    measure(app, "FULL", 100)
    assert site.look() == 1
    assert subjects(server) == ["cfplan: Structure FULL of SQ03 was full"]
    assert "/usage/SQ03/FULL" in server.mails[0].get_content()
    assert site.look(after=timedelta(hours=1)) == 0
    # Another day with records, within the quiet hours of the first notice.
    monkeypatch.setattr("tests.app.fleet.support.LAST_HOUR", LAST_HOUR + DAY)
    measure(app, "FULL", 100, hours=24)
    assert site.look(after=timedelta(hours=1)) == 0
    first, second = site.notices()
    assert second.due_at == first.due_at + timedelta(hours=24)
    assert site.look(after=timedelta(hours=21)) == 0
    assert site.look(after=timedelta(hours=1)) == 1
    assert len(server.mails) == 2


@pytest.mark.parametrize(("days", "sent"), [(7, 1), (8, 0)])
def test_full_structure_in_an_old_dump_is_not_reported(site: Site, days: int, sent: int) -> None:
    measure(create_app(site.settings), "FULL", 100)
    site.now = LAST_HOUR + timedelta(days=days)
    assert site.look() == sent
    assert len(site.notices()) == sent


def test_failed_nightly_run_is_reported_with_its_sentence(site: Site, server: Server) -> None:
    site.run_night(forecast(60))
    site.look()
    number = fail(site)
    assert site.look() == 1
    assert subjects(server) == [f"cfplan: Nightly run {number} failed"]
    assert "The disk is full." in server.mails[0].get_content()


def test_run_in_progress_is_looked_at_after_its_end(site: Site) -> None:
    site.run_night(forecast(60))
    site.look()
    number = fail(site, state=JobState.RUNNING)
    site.look()
    assert site.notices() == []
    with site.database.session(writes=True) as session:
        session.execute(update(JobRun).where(JobRun.id == number).values(state="failed", ended_at=site.now))
    site.look()
    assert [each.kind for each in site.notices()] == ["nightly_failed"]


def test_failures_from_before_a_long_pause_are_not_reported(site: Site) -> None:
    site.run_night(forecast(60))
    site.look()
    fail(site)
    assert site.look(after=timedelta(days=3)) == 0
    assert site.notices() == []


def test_simulated_structures_are_never_reported(site: Site) -> None:
    measure(create_app(site.settings), "FULL", 100, qsg="SIM1")
    site.run_night(forecast(100, qsg="SIM1"), simulated=["SIM1"])
    site.look()
    site.run_night(forecast(30, qsg="SIM1", day=MADE_ON + DAY), simulated=["SIM1"])
    assert site.look() == 0
    assert site.notices() == []


def test_old_notices_are_removed_with_their_messages(site: Site) -> None:
    fail_after_first_look(site)
    site.look()
    assert len(site.notices()) == 1
    site.now += timedelta(days=401)
    fail(site)
    site.look()
    assert [each.kind for each in site.notices()] == ["nightly_failed"]
    assert len(site.deliveries()) == 1


def test_notice_of_a_structure_that_stays_full_is_not_sent_again(site: Site, server: Server) -> None:
    # A group whose records ended while one of its structures was full.
    measure(create_app(site.settings), "FULL", 100)
    assert site.look() == 1
    for _ in range(2):
        assert site.look(after=timedelta(days=401)) == 0
    assert len(server.mails) == 1


def test_notice_of_an_event_that_is_still_found_is_kept(tmp_path: Path, server: Server) -> None:
    site = Site.of(mail_settings(tmp_path / "data", server, notice_days=1))
    site.now = LAST_HOUR
    measure(create_app(site.settings), "FULL", 100)
    assert site.look() == 1
    assert site.look(after=timedelta(days=3)) == 0
    assert len(site.notices()) == len(server.mails) == 1


def test_quiet_period_ends_after_its_hours_if_the_clock_is_set_back(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site.of(mail_settings(tmp_path / "data", server, notice_quiet_hours=1))
    app = create_app(site.settings)
    measure(app, "FULL", 100)
    assert site.look() == 1
    site.now -= timedelta(days=5)
    monkeypatch.setattr("tests.app.fleet.support.LAST_HOUR", LAST_HOUR + DAY)
    measure(app, "FULL", 100, hours=24)
    assert site.look() == 0
    assert site.look(after=timedelta(hours=1)) == 1
    assert len(server.mails) == 2


def fail_after_first_look(site: Site) -> None:
    site.run_night(forecast(60))
    site.look()
    fail(site)


def fail(site: Site, *, state: JobState = JobState.FAILED) -> int:
    """Store a nightly run that failed, or that runs, and return its number."""
    with site.database.session(writes=True) as session:
        run = queue(session, Trigger.REQUEST)
        job = session.get(JobRun, run.job_id)
        assert job is not None
        job.state, job.sentence = state, "The disk is full."
        job.ended_at = site.now if state is JobState.FAILED else None
        return run.id
