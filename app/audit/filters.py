"""The filter of the audit trail, which the page, REST and the command share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from app.errors import FieldsInvalid
from planner_core.errors import FieldProblem

LONGEST_TEXT = 200
_TIME_RULE = "Enter a day such as 2026-11-27, or a time in UTC such as 2026-11-27T09:30."


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """The entries that are wanted; empty fields do not restrict them."""

    since: datetime | None = None
    until: datetime | None = None
    """Exclusive."""
    who: str = ""
    """The name of the actor, in any case."""
    action: str = ""
    """The code of an action such as `plan.saved`, or its first part such as `plan`."""
    object: str = ""
    """The name of the object at the time of the action, in any case."""
    object_kind: str = ""
    object_id: int | None = None


def read_filter(given: Mapping[str, str]) -> AuditFilter:
    """Return the filter in the parameters `since`, `until`, `who`, `action`, `object`; all can be missing.

    Raises:
        FieldsInvalid: A time cannot be read.
    """
    problems: list[FieldProblem] = []
    times: dict[str, datetime | None] = {}
    for name in ("since", "until"):
        try:
            times[name] = _time(given.get(name, "").strip(), is_end=name == "until")
        except (ValueError, OverflowError):
            problems.append(FieldProblem(name, _TIME_RULE))
    if problems:
        raise FieldsInvalid(*problems)
    return AuditFilter(
        since=times["since"],
        until=times["until"],
        who=_text(given.get("who", "")),
        action=_text(given.get("action", "")),
        object=_text(given.get("object", "")),
    )


def _text(text: str) -> str:
    # PostgreSQL rejects texts with a null character.
    return "".join(each for each in text if each.isprintable()).strip()[:LONGEST_TEXT]


def _time(text: str, *, is_end: bool) -> datetime | None:
    """Return a time in UTC; a day means its beginning, or its end."""
    if not text:
        return None
    if len(text) == len("2026-11-27"):
        day = date.fromisoformat(text) + timedelta(days=is_end)
        return datetime.combine(day, time(), UTC)
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
