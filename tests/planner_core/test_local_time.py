"""Conversion of local times to instants: skipped times, repeated times, and times in the future."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.local_time import TimeNotMeant, check_observed, instant_of, is_ahead, offset_text

NOW = datetime(2026, 3, 22, 12, tzinfo=UTC)
local = datetime.fromisoformat
ZONES = st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"])


@pytest.mark.parametrize(
    ("zone", "time", "words"),
    [
        ("Europe/Berlin", local("2026-03-29T02:00"), "There was no 2026-03-29 02:00 in Europe/Berlin"),
        ("Europe/Berlin", local("2026-10-25T02:59"), "2026-10-25T02:59+02:00 or 2026-10-25T02:59+01:00"),
        ("America/New_York", local("2026-11-01T01:30"), "2026-11-01T01:30-04:00 or 2026-11-01T01:30-05:00"),
        ("Australia/Lord_Howe", local("2026-04-05T01:45"), r"01:45+11:00 or 2026-04-05T01:45+10:30"),
    ],
)  # fmt: skip
def test_skipped_and_repeated_times_are_refused(zone: str, time: datetime, words: str) -> None:
    with pytest.raises(TimeNotMeant) as refused:
        instant_of(time, ZoneInfo(zone), zone_name=zone)
    assert words in str(refused.value)


@pytest.mark.parametrize("hour", [1, 3])
def test_hours_around_a_clock_change_are_accepted(hour: int) -> None:
    found = instant_of(local(f"2026-03-29T0{hour}:00"), ZoneInfo("Europe/Berlin"))
    assert found == datetime(2026, 3, 29, 0 if hour == 1 else 1, tzinfo=UTC)


@given(st.datetimes(local("1991-01-01"), local("2100-01-01")), ZONES)
def test_accepted_time_equals_the_local_time(time: datetime, name: str) -> None:
    zone = ZoneInfo(name)
    try:
        instant = instant_of(time, zone)
    except TimeNotMeant:
        second = time.replace(tzinfo=zone, fold=1)
        assert second.utcoffset() != second.replace(fold=0).utcoffset()
    else:
        assert instant.astimezone(zone).replace(tzinfo=None, fold=0) == time


def test_time_with_an_offset_needs_no_zone() -> None:
    time = datetime(2026, 10, 25, 2, 30, tzinfo=timezone(timedelta(hours=1)))
    assert instant_of(time, ZoneInfo("Asia/Tokyo")) == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)


def test_times_over_a_day_ahead_or_before_1990_are_refused() -> None:
    check_observed(NOW + timedelta(days=1), now=NOW)
    assert not is_ahead(NOW + timedelta(days=1), now=NOW)
    for odd, words in ((NOW + timedelta(days=1, seconds=1), "is in the future"), (datetime(1989, 12, 31, tzinfo=UTC), "1990")):  # fmt: skip
        with pytest.raises(TimeNotMeant, match=words):
            check_observed(odd, now=NOW)


def test_offsets_are_written_in_iso_8601() -> None:
    hours = timedelta(hours=1)
    assert [offset_text(each * hours) for each in (5.75, -3.5, 0, 14)] == [
        "+05:45",
        "-03:30",
        "+00:00",
        "+14:00",
    ]
