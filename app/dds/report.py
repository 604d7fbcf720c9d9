"""An answer of the data server: its interval, and the part of it that the usage history needs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from app import logs
from planner_core.contracts.cfact import (
    CFACT_COLUMNS,
    CFACT_IDENTITY,
    DDS_MESSAGES_WITH_DATA,
    DDS_NO_DATA_ROW,
    DDS_TIME_FORMAT,
    DDS_WITHOUT_DATA,
)
from planner_core.errors import PlannerError

if TYPE_CHECKING:
    from app.connections.client import Reply

_TYPE: Final = "CFAITYPE"
_SYSPLEX: Final = "SYSPLEX"
_TAG: Final = re.compile(r"<[^>]*>")
_SHOWN: Final = 200
_LONGEST_INTERVAL: Final = timedelta(hours=1)
_LONGEST_OFFSET: Final = timedelta(hours=15)


class AnswerUnusable(PlannerError):
    """An answer of the data server that is not a CFACT report with its interval."""


@dataclass(frozen=True, slots=True)
class CfactReport:
    """A report of one interval."""

    start: datetime
    """UTC."""
    end: datetime
    offset: timedelta
    """The server's local time minus UTC: its requests take ranges in local time."""
    text: str
    """The list structures of the report, with the columns that the history reads, in the server's own form; one line."""
    structures: int
    unknown: tuple[str, ...]
    """Columns that the project reads and the answer lacks."""

    @property
    def length(self) -> timedelta:
        """The length of the interval."""
        return self.end - self.start


def answer_of(reply: Reply) -> object:
    """Return the JSON of a reply.

    Raises:
        AnswerUnusable: The data server answers in XML, its other form, in which it also reports errors.
        ConnectionFailed: It is no JSON otherwise, such as a page of a proxy.
    """
    start = reply.body[:4096].lstrip()
    if not start.startswith(b"<") or b"<html" in start.lower():
        return reply.json()
    words = " ".join(_TAG.sub(" ", reply.text()[: 20 * _SHOWN]).split())
    said = logs.printable(logs.without_secrets(words))[:_SHOWN]
    message = f"the data server answers in XML instead of JSON: {said or 'without a text'}"
    raise AnswerUnusable(message)


def read_report(answer: object) -> CfactReport | None:
    """Return the report in an answer; None if the server has no data for the requested range.

    Raises:
        AnswerUnusable: The answer has another form; the message names the member.
    """
    _check_messages(answer)
    reports = _member(answer, "report", "the answer")
    if not isinstance(reports, list) or len(reports) != 1 or not isinstance(reports[0], dict):
        message = "the answer of the data server has not exactly one report"
        raise AnswerUnusable(message)
    report: dict[str, Any] = reports[0]
    if not DDS_WITHOUT_DATA.isdisjoint({*_check_messages(answer), *_check_messages(report)}):
        return None
    resource = (
        _text(_member(report["resource"], "reslabel", "the resource")) if report.get("resource") else ""
    )
    if resource and not resource.upper().endswith(f",{_SYSPLEX}"):
        # A report of one system would replace the figures of the sysplex.
        message = f"the report of the data server is about {resource[:40]!r} and not about the sysplex"
        raise AnswerUnusable(message)
    times = _member(report, "timeData", "the report")
    start, end = _time(times, "utcStart"), _time(times, "utcEnd")
    offset = _time(times, "localStart") - start
    if not timedelta(0) < end - start <= _LONGEST_INTERVAL:
        message = f"the report of the data server covers {start:%Y-%m-%d %H:%M:%S} to {end:%H:%M:%S} UTC, which is no interval of up to an hour"
        raise AnswerUnusable(message)
    if abs(offset) > _LONGEST_OFFSET:
        message = f"the local time of the data server differs from UTC by {offset}"
        raise AnswerUnusable(message)
    columns = [_text(each) for each in _list(_member(report, "columnHeaders", "the report"), "col")]
    unknown = tuple(sorted(CFACT_COLUMNS.keys() - set(columns)))
    needed = [each for each in CFACT_IDENTITY if each in unknown]
    if needed:
        message = f"the report of the data server has no column {', '.join(needed)}; it has {', '.join(columns[:6]) or 'none'}"
        raise AnswerUnusable(message)
    rows = _rows(report, columns)
    if rows is None:
        return None
    kept = {
        "report": [
            {
                "columnHeaders": {"col": [{"value": each} for each in columns if each in CFACT_COLUMNS]},
                "resource": report.get("resource"),
                **({"message": report["message"]} if report.get("message") else {}),
                "timeData": {name: times[name] for name in ("utcStart", "utcEnd", "localStart")},
                "row": [{"col": row} for row in rows],
            }
        ]
    }
    place = [each for each in columns if each in CFACT_COLUMNS].index("CFAISTRU")
    names = {row[place] for row in rows}
    text = json.dumps(kept, separators=(",", ":"), ensure_ascii=False)
    return CfactReport(start, end, offset, text, len(names), unknown)


def _rows(report: Mapping[str, Any], columns: list[str]) -> list[list[str]] | None:
    """Return the cells of list structures, in the columns that are read; MQ uses no others. None if there is no data."""
    at_type = columns.index(_TYPE)
    chosen = itemgetter(*(place for place, column in enumerate(columns) if column in CFACT_COLUMNS))
    found = []
    for number, row in enumerate(_list(report, "row"), start=1):
        cells = row.get("col") if isinstance(row, dict) else None
        if isinstance(cells, list) and DDS_NO_DATA_ROW in cells:
            return None
        if not isinstance(cells, list) or len(cells) != len(columns):
            message = (
                f"row {number} of the report of the data server does not have its {len(columns)} columns"
            )
            raise AnswerUnusable(message)
        if "LIST" in _text(cells[at_type]).upper():
            # A report has some hundred thousand cells, and nearly all of them are text.
            found.append([cell if type(cell) is str else _text(cell) for cell in chosen(cells)])
    return found


def _check_messages(found: object) -> dict[str, str]:
    """Return the messages of an answer or a report, by number.

    Raises:
        AnswerUnusable: One of them is an error.
    """
    said = found.get("message") if isinstance(found, dict) else None
    listed = said if isinstance(said, list) else [said]
    messages = {
        _text(each.get("id")): _text(each.get("description"))
        for each in listed
        if isinstance(each, dict) and each
    }
    for number, words in messages.items():
        if number not in DDS_MESSAGES_WITH_DATA:
            message = f"the data server answers with message {number[:20]!r}: {words[:_SHOWN]!r}"
            raise AnswerUnusable(message)
    return messages


def _member(found: object, name: str, where: str) -> Any:  # noqa: ANN401 - any JSON value
    if not isinstance(found, dict) or name not in found:
        message = f"{where} of the data server has no {name}"
        raise AnswerUnusable(message)
    return found[name]


def _list(found: object, name: str) -> list[Any]:
    inner = found.get(name) if isinstance(found, dict) else None
    if inner is None:
        return []
    return inner if isinstance(inner, list) else [inner]


def _text(found: object) -> str:
    if isinstance(found, dict):
        found = found.get("value")
    return "" if found is None else str(found)


def _time(times: object, name: str) -> datetime:
    text = _text(_member(times, name, "the time data"))
    try:
        return datetime.strptime(text, DDS_TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        message = f"{name} of the data server is {text[:40]!r}, which is no time such as 20261127090700"
        raise AnswerUnusable(message) from None
