from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.cli import main
from app.connections.errors import ConnectionFailed, ConnectionUnknown
from app.connections.uses import last_uses
from app.dds import repository, service
from app.dds.poller import Poller
from app.dds.report import AnswerUnusable
from app.dds.service import MOST_ATTEMPTS
from app.main import create_app
from app.settings import Settings
from tests.app.dds.support import NOON, Site, minutes
from tests.app.web.support import get
from tests.connections_support.dds import MINUTE
from tests.connections_support.server import Answer, Fault, entry_of, write_credentials, write_file


def test_first_poll_stores_the_current_interval_only(site: Site) -> None:
    found = site.poll()
    assert (found.stored, found.missing, found.structures) == (1, 0, 2)
    (interval,) = site.intervals().values()
    assert (interval.start_at, interval.end_at, interval.is_waiting) == (NOON, NOON + MINUTE, True)
    assert site.server.requests[0].query == {"report": ["CFACT"], "resource": [",,SYSPLEX"]}


def test_outage_of_ten_minutes_leaves_no_gap_and_no_double(site: Site) -> None:
    for _ in range(3):
        site.poll()
    for _ in range(2):
        site.server.faults.append(Fault(status=503))
        with pytest.raises(ConnectionFailed):
            site.poll(5)
    found = site.poll()
    assert (found.stored, found.missing, found.behind) == (11, 0, timedelta(0))
    site.poll()
    assert set(site.intervals()) == minutes(NOON, 15)
    assert all(each.missing is None for each in site.intervals().values())
    # The ranges are in the server's local time, which is four hours behind UTC.
    ranges = [each.query["range"][0] for each in site.server.requests if "range" in each.query]
    assert ranges[0] == "20261127080300,20261127080400"
    assert len(ranges) == len(set(ranges)) == 10
    assert site.state().gaps == ()


@pytest.mark.parametrize(("hours", "changed_after", "polls"), [(1, 20, 1), (-1, 62, 3)], ids=["end", "begin"])
def test_outage_across_a_change_of_local_time_leaves_no_gap(
    site: Site, hours: int, changed_after: int, polls: int
) -> None:
    site.poll()
    site.server.offset_before = site.server.offset + timedelta(hours=hours)
    site.server.changed_at = NOON + changed_after * MINUTE
    site.poll(changed_after)
    for _ in range(polls - 1):
        site.poll()
    found = site.intervals()
    assert minutes(NOON, changed_after) <= set(found)
    assert all(each.missing is None for each in found.values())


def test_times_that_were_left_out_are_asked_for_in_the_earlier_local_time(site: Site) -> None:
    site.poll()
    site.server.offset_before = site.server.offset - timedelta(hours=1)
    site.server.changed_at = NOON + 20 * MINUTE
    site.server.refuses_times_left_out = True
    site.poll(25)
    for _ in range(MOST_ATTEMPTS):
        site.poll()
    assert set(site.intervals()) == minutes(NOON, 29)
    assert all(each.missing is None for each in site.intervals().values())


def test_clock_of_the_server_that_was_ahead_does_not_stop_polling(site: Site) -> None:
    site.poll()
    site.poll(60 * 24 * 365)
    site.now = NOON + MINUTE
    for _ in range(4):
        site.poll()
    state = site.state()
    assert (state.reached, state.latest) == (NOON + 5 * MINUTE, NOON + 5 * MINUTE)
    assert minutes(NOON, 5) <= set(site.intervals())
    # The hour of the first interval appeared to be over; the others of this hour wait until it is.
    assert len(site.uploaded()) == 1
    for _ in range(3):
        site.poll(20)
    assert len(site.uploaded()) == 60


def test_answer_of_a_system_that_is_an_interval_behind_is_no_double(site: Site) -> None:
    site.poll()
    site.poll()
    site.poll(-1)
    assert site.poll(2).behind == timedelta(0)
    assert set(site.intervals()) == minutes(NOON, 3)
    assert all(each.missing is None for each in site.intervals().values())


def test_hours_without_data_do_not_delay_the_history_for_days(site: Site) -> None:
    site.poll()
    site.server.without_data = minutes(NOON + MINUTE, 100)
    site.poll(101)
    polls = 1
    while site.state().behind_minutes:
        site.poll()
        polls += 1
    assert polls <= 12
    assert minutes(NOON, 101) <= set(site.intervals())
    assert [each.missing for each in site.intervals().values()].count(None) == polls + 1


@pytest.mark.parametrize("seconds", [20, 100, 1000])
def test_other_gatherer_intervals_leave_no_gap_and_no_double(site: Site, seconds: int) -> None:
    """MINTIME of Monitor III need not divide an hour, so an interval may belong to two hours."""
    site.server.length = timedelta(seconds=seconds)
    for _ in range(40):
        site.poll(2)
    found = sorted(site.intervals().values(), key=lambda each: each.start_at)
    assert [each.end_at for each in found[:-1]] == [each.start_at for each in found[1:]]
    assert {each.end_at - each.start_at for each in found} == {site.server.length}
    handed = [each["timeData"]["utcStart"] for each in site.uploaded()]
    first_hour = [each.start_at for each in found if each.start_at < NOON + timedelta(hours=1)]
    assert handed == [f"{each:%Y%m%d%H%M%S}" for each in first_hour]


def test_polling_again_in_the_same_minute_stores_nothing(site: Site) -> None:
    site.poll()
    assert site.poll(0).stored == 0
    assert len(site.intervals()) == 1


def test_long_outage_is_filled_by_several_polls(site: Site) -> None:
    site.poll()
    first = site.poll(100)
    assert (first.stored, first.behind) == (31, 69 * MINUTE)
    for _ in range(3):
        last = site.poll()
    assert last.behind == timedelta(0)
    assert set(site.intervals()) == minutes(NOON, 104)


def test_slow_server_does_not_make_the_polls_of_others_wait(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.poll()
    seconds = count(0, 20)  # each look at the clock is 20 seconds after the one before
    with monkeypatch.context() as patch:
        patch.setattr(service, "monotonic", lambda: next(seconds))
        assert site.poll(30).stored == 3
    for _ in range(2):
        site.poll()
    assert minutes(NOON, 33) == set(site.intervals())


def test_interval_that_the_server_lacks_is_named_after_three_polls(site: Site) -> None:
    site.poll()
    site.server.without_data = {NOON + 2 * MINUTE}
    site.poll(4)
    for _ in range(MOST_ATTEMPTS - 1):
        assert not site.state().gaps
        site.poll()
    (gap,) = site.state().gaps
    assert (gap.start_at, gap.end_at) == (NOON + 2 * MINUTE, NOON + 3 * MINUTE)
    assert gap.reason == "the server delivered no data for it"
    assert set(site.intervals()) == minutes(NOON, 7)
    assert site.state().behind_minutes == 0


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer.json({"message": {"id": "GPM0600E", "description": "bad range"}, "report": []}), "GPM0600E"),
        (Answer(500, b"EDC5129I"), "status 500: EDC5129I"),
        (Answer(body=b"<ddsml><message>GPM0601E</message></ddsml>", content_type="text/xml"), "GPM0601E"),
    ],
)
def test_interval_that_the_server_refuses_does_not_hold_up_the_others(
    site: Site, answer: Answer, said: str
) -> None:
    site.poll()
    site.server.without_data, site.server.answer_without_data = {NOON + 2 * MINUTE}, answer
    site.poll(4)
    for _ in range(MOST_ATTEMPTS - 1):
        site.poll()
    (gap,) = site.state().gaps
    assert said in gap.reason
    assert (gap.start_at, site.state().behind_minutes) == (NOON + 2 * MINUTE, 0)
    assert set(site.intervals()) == minutes(NOON, 7)


def test_intervals_older_than_the_limit_are_one_gap(site: Site) -> None:
    site.declare(backfill_hours=1)
    site.poll()
    found = site.poll(100)
    (gap,) = site.state().gaps
    assert (gap.start_at, gap.end_at) == (NOON + MINUTE, NOON + 40 * MINUTE)
    assert (found.missing, gap.reason) == (1, "it is older than backfill_hours of the connection")


def test_complete_hours_become_one_upload_each_with_every_interval_once(site: Site) -> None:
    site.poll()
    for _ in range(5):
        found = site.poll(25)
    assert found.uploads == (2,)
    ends = [each["timeData"]["utcEnd"] for each in site.uploaded()]
    assert ends == [f"{NOON + number * MINUTE:%Y%m%d%H%M%S}" for number in range(1, 121)]
    state = site.state()
    assert (state.waiting, state.reached) == (6, NOON + 126 * MINUTE)


def test_interruption_between_file_and_mark_makes_no_second_upload(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.poll()
    site.poll(30)
    site.poll(28)
    with monkeypatch.context() as patch:
        patch.setattr(repository, "handed_over", _killed)
        with pytest.raises(KeyboardInterrupt):
            site.poll()
    assert not site.uploaded()
    site.poll()
    assert len(site.uploaded()) == 60


def _killed(*arguments: object) -> None:
    del arguments
    raise KeyboardInterrupt


@pytest.mark.parametrize("requests", range(1, 12))
def test_interruption_at_any_request_loses_nothing(site: Site, requests: int) -> None:
    site.poll()
    site.now += 10 * MINUTE
    answer, left = site.server.answer, [requests]

    def cut(request: Any) -> Answer:  # noqa: ANN401
        left[0] -= 1
        return Answer(503) if left[0] < 0 else answer(request)

    site.server.answer = cut  # type: ignore[method-assign]
    for _ in range(2):
        try:
            site.poll(0)
        except ConnectionFailed:
            left[0] = 99
    assert set(site.intervals()) == minutes(NOON, 11)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda report: report.pop("timeData"), "no timeData"),
        (lambda report: report["timeData"].update(utcEnd="27.11.2026"), "utcEnd .* is '27.11.2026'"),
        (lambda report: report["timeData"].update(utcEnd="20261127090000"), "no interval of up to an hour"),
        (lambda report: report["timeData"].update(localStart="20270101000000"), "differs from UTC"),
        (lambda report: report["columnHeaders"]["col"].pop(10), "CFAISTRU"),
        (lambda report: report["columnHeaders"]["col"].pop(9), "no column CFAINAM"),
        (lambda report: report["columnHeaders"]["col"].pop(4), "no column CFAPSYS"),
        (lambda report: report.update(resource={"reslabel": ",SYSA,MVS_IMAGE"}), "not about the sysplex"),
        (lambda report: report["row"][1]["col"].pop(), "row 2 .* 22 columns"),
        (lambda report: report.pop("columnHeaders"), "no columnHeaders"),
        (
            lambda report: report.update(message={"id": "GPM0604I", "description": "no authority"}),
            "GPM0604I.*no auth",
        ),
    ],
)
def test_unusable_answer_is_refused_with_the_member(
    site: Site, spoil: Callable[[dict[str, Any]], object], said: str
) -> None:
    answer = site.server.report(NOON - MINUTE, NOON)
    spoil(answer["report"][0])
    site.server.answer = lambda request: Answer.json(answer)  # type: ignore[method-assign]
    with pytest.raises(AnswerUnusable, match=said):
        site.poll(0)
    assert not site.intervals()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            Answer(
                body=b'<?xml version="1.0"?><ddsml><message id="GPM0611E"><description>Not &quot;authorized&quot;'
                b"</description></message></ddsml>",
                content_type="text/xml",
            ),
            "in XML instead of JSON: Not &quot;authorized",
        ),
        (
            Answer.json({"message": [{"id": "GPM0605E", "description": "unknown report"}], "report": []}),
            "GPM0605E.*unknown report",
        ),
        (Answer.json({"message": [], "report": []}), "not exactly one report"),
    ],
)
def test_errors_of_the_server_are_quoted(site: Site, answer: Answer, said: str) -> None:
    site.server.answer = lambda request: answer  # type: ignore[method-assign]
    with pytest.raises(AnswerUnusable, match=said):
        site.poll(0)


def test_page_of_a_proxy_is_no_answer_of_the_server(site: Site) -> None:
    page = Answer(body=b"<!doctype html><html><title>Sign in</title></html>", content_type="text/html")
    site.server.answer = lambda request: page  # type: ignore[method-assign]
    with pytest.raises(ConnectionFailed, match="of a proxy"):
        site.poll(0)


def test_missing_columns_are_named(site: Site) -> None:
    answer = site.server.report(NOON - MINUTE, NOON)
    report = answer["report"][0]
    at = [each["value"] for each in report["columnHeaders"]["col"]].index("CFAISSCM")
    for cells in (report["columnHeaders"]["col"], *(row["col"] for row in report["row"])):
        del cells[at]
    site.server.answer = lambda request: Answer.json(answer)  # type: ignore[method-assign]
    assert site.poll(0).sentence.endswith("; the report has no columns CFAISSCM.")


def test_refused_password_is_not_sent_again_until_it_is_changed(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """RACF revokes a user after several wrong passwords, which also stops others that use it."""
    site.declare(poll=True)
    poller = Poller(site.database, site.settings, on_queued=lambda: None)
    write_credentials(site.folder, password="changed-on-zos")
    for _ in range(3):
        poller.look()
    assert len(site.server.requests) == 1
    assert "until its user or password is changed" in caplog.text
    with site.database.session(writes=False) as session:
        use = last_uses(session)["DDS1"]
    assert not use.succeeded
    assert "z/OS may revoke a user" in use.sentence
    write_credentials(site.folder)
    site.now += MINUTE
    poller.look()
    assert len(site.intervals()) == 1


def test_row_without_data_is_no_interval(site: Site) -> None:
    answer = site.server.report(NOON - MINUTE, NOON)
    answer["report"][0]["row"] = [{"col": ["*NoData*", *[""] * 21]}]
    site.server.answer = lambda request: Answer.json(answer)  # type: ignore[method-assign]
    with pytest.raises(AnswerUnusable, match="no current CFACT report"):
        site.poll(0)


def test_other_kinds_of_structures_are_not_stored(site: Site) -> None:
    answer = site.server.report(NOON - MINUTE, NOON)
    at = [each["value"] for each in answer["report"][0]["columnHeaders"]["col"]].index("CFAITYPE")
    for row in answer["report"][0]["row"][:3]:
        row["col"][at] = "LOCK"
    site.server.answer = lambda request: Answer.json(answer)  # type: ignore[method-assign]
    assert site.poll(0).structures == 1


def test_connection_of_another_kind_is_refused(site: Site) -> None:
    file = write_file(site.folder, {"PLEX1": entry_of(site.server, site.folder, "zosmf")})
    settings = Settings(data_dir=site.settings.data_dir, connections_file=str(file))
    with pytest.raises(ConnectionUnknown, match="kind zosmf"):
        service.poll(site.database, settings, "PLEX1")


def test_commands(site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(site.settings.data_dir))
    monkeypatch.setenv("CFPLAN_CONNECTIONS_FILE", str(site.settings.connections_file))
    site.now += MINUTE
    assert main(["dds", "poll", "--connection", "DDS1", "--once"]) == 0
    said = capsys.readouterr()
    assert said.out == "DDS1: 1 interval with 2 list structures stored.\n"
    assert said.err.startswith("Connection DDS1: not yet verified against a real system.")
    site.server.faults.append(Fault(status=503))
    assert main(["dds", "poll", "--connection", "DDS1", "--once"]) == 1
    assert "status 503" in capsys.readouterr().out
    assert main(["connections", "check", "DDS1"]) == 0
    report = capsys.readouterr().out
    assert "GET /gpm/rmfm3.xml?report=CFACT: status 200" in report
    assert "QSG1" not in report


def test_second_process_hands_over_nothing_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.poll()
    site.poll(30)
    site.poll(28)
    read = repository.waiting_starts

    def both(session: Session, connection: str) -> Sequence[datetime]:
        """Let another process hand over the same hour after this one has seen what waits."""
        found = read(session, connection)
        with monkeypatch.context() as patch:
            patch.setattr(repository, "waiting_starts", read)
            assert len(list(service.hand_over(site.database, site.settings, "DDS1"))) == 1
        return found

    site.now += MINUTE
    with monkeypatch.context() as patch:
        patch.setattr(service, "hand_over", lambda *_: iter(()))
        site.poll(0)
    monkeypatch.setattr(repository, "waiting_starts", both)
    assert list(service.hand_over(site.database, site.settings, "DDS1")) == []
    assert len(site.uploaded()) == 60


def test_gap_never_replaces_a_stored_interval(site: Site) -> None:
    site.poll()
    site.poll(2)
    assert site.client is not None
    connection = service.dds_connection(site.settings, "DDS1")
    polling = service._Polling(site.database, site.client, connection, lambda: False)
    polling._gap(NOON, NOON + MINUTE, "another process was slower")
    assert site.state().gaps == ()
    assert site.intervals()[NOON].report is not None


def test_intervals_that_no_longer_fit_are_named(site: Site) -> None:
    site.poll()
    site.server.length = timedelta(seconds=90)
    site.poll(4)
    starts = sorted(site.intervals())
    ends = [site.intervals()[each].end_at for each in starts]
    assert starts[1:] == ends[:-1]
    assert [each.reason for each in site.state().gaps] == ["it is shorter than an interval of the server"]


def test_page_shows_how_far_each_server_was_polled(site: Site) -> None:
    site.poll()
    site.server.without_data = {NOON + 2 * MINUTE}
    for _ in range(MOST_ATTEMPTS):
        site.poll(4)
    answer = get(create_app(site.settings), "/connections", accept="text/html")
    assert answer.status == 200
    words = " ".join(re.sub(r"<[^>]*>", " ", answer.text).split())
    assert "DDS1 only by command" in words
    assert "not yet verified against a real system" in words
    assert "2026-11-27 12:02" in words
    assert "the server delivered no data for it" in words
