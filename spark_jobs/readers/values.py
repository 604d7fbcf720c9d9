"""Convert cells to values: numbers, sizes, durations, dates, and local times to UTC.

Programs write most of these files, with a point before decimals and without thousands separators, so `1.000` is 1 here.
Readers of files that people edit, or copy from pages, refuse such numbers first.

An absent value is None. A value that cannot be read raises `BadValue`: the value or its row is left out, and the line
is reported.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

MICROSECONDS: Final = 1_000_000
QUARTER_US: Final = 15 * 60 * MICROSECONDS
"""A quarter of an hour, of which all UTC offsets in use are multiples."""

_ABSENT = frozenset({"", "N/A", "NA", "-", "--", "NULL", "NONE", "N/D"})
_LONGEST_WHOLE: Final = 18
_WHOLE = re.compile(r"\+?[0-9]{1,18}(?:\.0{1,9})?")
_DATE = re.compile(r"(?P<y>[0-9]{4})[/-](?P<m>[0-9]{2})[/-](?P<d>[0-9]{2})")
_TIME = re.compile(r"(?P<h>[0-9]{2}):(?P<m>[0-9]{2})(?::(?P<s>[0-9]{2})(?:[.,](?P<f>[0-9]{1,9}))?)?")
_STAMP = re.compile(
    r"(?P<day>[0-9]{4}[/-][0-9]{2}[/-][0-9]{2})(?:[T ](?P<clock>[0-9:.,]{5,18}))?[ ]?(?P<zone>Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})?"
)
_SHOWN: Final = 40
_FIRST_YEAR: Final = 1990
_LAST_YEAR: Final = 2200
_EPOCH_YEAR: Final = 1970
_FORMULA = re.compile(r'="(?P<text>.*)"', re.DOTALL)


class BadValue(Exception):
    """A value that cannot be read; the message describes it."""


def shown(text: object) -> str:
    """Return a value as quoted in a message: short and printable."""
    cut = str(text)[:_SHOWN]
    return ascii(cut if cut == str(text) else f"{cut}...")


def plain(cell: object) -> str:
    """Return a cell without blanks, spreadsheet formula signs and fill characters; a cell of only dots is empty."""
    text = "" if cell is None else str(cell).strip()
    # mq-smf-csv writes ="100000" so that a spreadsheet does not read text as a number.
    formula = _FORMULA.fullmatch(text)
    if formula:
        text = formula["text"].strip()
    text = text.strip('"').strip()
    return "" if not text.strip(".") else text


def is_absent(text: str) -> bool:
    """Return whether a cleaned cell means that there is no value."""
    return text.upper() in _ABSENT


def whole(cell: object) -> int | None:
    """Return a count; formatters write -1 for a missing one."""
    if isinstance(cell, str):  # nearly all cells are digits: the fast path
        bare = cell.strip()
        if len(bare) <= _LONGEST_WHOLE and bare.isascii() and bare.isdigit():
            return int(bare)
    if isinstance(cell, bool):
        raise BadValue(_no(cell, "whole number"))
    text = plain(cell)
    if is_absent(text) or text == "-1":
        return None
    if not _WHOLE.fullmatch(text):
        raise BadValue(_no(text, "whole number"))
    return int(text.split(".", maxsplit=1)[0])


def decimal(cell: object) -> float | None:
    """Return a number with a fraction, of any length."""
    text = plain(cell)
    if is_absent(text):
        return None
    try:
        number = float(text)
    except ValueError:
        raise BadValue(_no(text, "number")) from None
    if not math.isfinite(number):
        raise BadValue(_no(text, "number"))
    return number


def microseconds(seconds: object, fraction: object) -> int | None:
    """Return a duration from two cells, seconds and microseconds, or from one of microseconds."""
    whole_seconds, whole_fraction = whole(seconds), whole(fraction)
    if whole_fraction is None:
        return None if whole_seconds is None else whole_seconds * MICROSECONDS
    return (whole_seconds or 0) * MICROSECONDS + whole_fraction


def day_of(cell: object) -> date | None:
    """Return a date in the form 2026/03/14 or 2026-03-14; formatters write 1970 for a missing one."""
    text = plain(cell)
    if is_absent(text):
        return None
    found = _DATE.fullmatch(text)
    if not found:
        raise BadValue(_no(text, "date"))
    try:
        day = date(int(found["y"]), int(found["m"]), int(found["d"]))
    except ValueError:
        raise BadValue(_no(text, "date")) from None
    if day.year == _EPOCH_YEAR:
        return None
    if not _FIRST_YEAR <= day.year <= _LAST_YEAR:
        raise BadValue(_no(text, "date of a record"))
    return day


def clock_of(cell: object) -> time | None:
    """Return a time of day; its fraction may be written with a comma."""
    text = plain(cell)
    if is_absent(text):
        return None
    found = _TIME.fullmatch(text)
    if not found:
        raise BadValue(_no(text, "time"))
    try:
        micro = int((found["f"] or "0").ljust(6, "0")[:6])
        return time(int(found["h"]), int(found["m"]), int(found["s"] or 0), micro)
    except ValueError:
        raise BadValue(_no(text, "time")) from None


def local_of(day: object, clock: object) -> datetime | None:
    """Return a date and a time from two cells, in the zone in which they were written."""
    on, at = day_of(day), clock_of(clock)
    return None if on is None or at is None else datetime.combine(on, at)


def instant_of(cell: object, zone: Zone) -> datetime | None:
    """Return a date and time from one cell, in UTC; without an offset of its own, it is assumed to be in `zone`.

    Raises:
        NoZone: The cell has no offset, and no zone was given.
        BadValue: The cell is not a date and time.
    """
    text = plain(cell)
    if is_absent(text):
        return None
    found = _STAMP.fullmatch(text)
    if not found:
        raise BadValue(_no(text, "date and time, such as 2026-03-14T09:30:00Z,"))
    local = local_of(found["day"], found["clock"] or "00:00")
    if local is None:
        return None
    if found["zone"] is None:
        return zone.utc(local)
    return local.replace(tzinfo=UTC) - _offset(found["zone"], text)


def _offset(text: str, whole_text: str) -> timedelta:
    if text[0] not in "+-":
        return timedelta(0)
    hours, minutes = int(text[1:3]), int(text[-2:])
    if hours > 15 or minutes > 59:  # noqa: PLR2004 - no zone is farther from Greenwich
        raise BadValue(_no(whole_text, "date and time"))
    return timedelta(hours=hours, minutes=minutes) * (-1 if text[0] == "-" else 1)


class NoZone(Exception):
    """A local time that cannot be converted, because no zone was given."""


class Zone:
    """The zone of local times, and the assumptions made about it."""

    def __init__(self, zone: tzinfo | None, *, on_doubt: Callable[[str], None]) -> None:
        self._zone = zone
        self._on_doubt = on_doubt

    @property
    def is_known(self) -> bool:
        """Return whether local times can be converted."""
        return self._zone is not None

    def offset(self, local: datetime) -> timedelta:
        """Return the offset of a local time from UTC."""
        if self._zone is None:
            raise NoZone
        first = local.replace(tzinfo=self._zone)
        offset = first.utcoffset() or timedelta(0)
        # When clocks change, the two values of fold have different offsets: a smaller second one means a repeated
        # hour.
        second = first.replace(fold=1).utcoffset() or timedelta(0)
        if second < offset:
            self._on_doubt(
                "Local times in an hour that occurs twice are assumed to be in its first occurrence."
            )
        elif second > offset:
            self._on_doubt(
                "Local times in an hour that the clock skipped are read as if it had not been skipped."
            )
        return offset

    def utc(self, local: datetime) -> datetime:
        """Return a local time in UTC."""
        return local.replace(tzinfo=UTC) - self.offset(local)


def quarters_near(microseconds_apart: int) -> int:
    """Return the multiple of a quarter of an hour nearest to a difference [us]."""
    return round(microseconds_apart / QUARTER_US) * QUARTER_US


def in_microseconds(span: timedelta) -> int:
    """Return a span of time in microseconds, exactly."""
    return span // timedelta(microseconds=1)


def _no(text: object, what: str) -> str:
    return f"{shown(text)} is not a {what}"
