"""Files that accompany usage data but contain none: the map of queue managers to their groups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, NoReturn

from planner_core import names
from planner_core.errors import NameSyntax
from planner_core.inputs import QSG_MAP
from spark_jobs.readers.names import SHORT_NAME
from spark_jobs.readers.result import NotReadable
from spark_jobs.readers.text import TextFile

MOST_ENTRIES: Final = 10_000
LONGEST_TEXT: Final = 2_000_000


def read_qsg_map(path: Path) -> dict[tuple[str, str], str]:
    """Return the entries of a map file: (system id, queue manager) to group, which is empty if there is none.

    Raises:
        NotReadable: The file is not a map, or an entry has an invalid name; then no entry is used.
        OSError: The file cannot be read.
    """
    try:
        # A truncated text is not JSON, so a longer file is refused.
        content = json.loads(TextFile(path).whole()[:LONGEST_TEXT])
    except (ValueError, RecursionError):
        _refuse("The file is not JSON, or is too long for a QSG map.")
    entries = content.get("entries") if isinstance(content, dict) and content.get("kind") == QSG_MAP else None
    if not isinstance(entries, list) or len(entries) > MOST_ENTRIES:
        _refuse(
            f'The file is not a QSG map: {{"kind": "{QSG_MAP}", "entries": [{{"system_id", "queue_manager", "qsg"}}]}}.'
        )
    found: dict[tuple[str, str], str] = {}
    for number, entry in enumerate(entries, start=1):
        who, group = _entry(entry, number)
        if found.setdefault(who, group) != group:
            _refuse(f"{who[1]} on {who[0]} is in two groups: {found[who]} and {group} (entry {number}).")
    return found


def _entry(entry: object, number: int) -> tuple[tuple[str, str], str]:
    values = (
        [entry.get(name) for name in ("system_id", "queue_manager", "qsg")] if isinstance(entry, dict) else []
    )
    if len(values) != 3 or not all(isinstance(value, str) for value in values):  # noqa: PLR2004 - those three
        _refuse(f"Entry {number} of the map lacks one of the texts system_id, queue_manager and qsg.")
    system, manager, group = (str(value).strip().upper() for value in values)
    if not SHORT_NAME.fullmatch(system):
        _refuse(
            f"Entry {number} of the map: {system[:20]!a} is not a system id of 1 to 4 characters A-Z 0-9 $ # @."
        )
    try:
        names.queue_manager(manager)
        if group:
            names.qsg(group)
    except NameSyntax as error:
        _refuse(f"Entry {number} of the map: {error}")
    return (system, manager), group


def _refuse(message: str) -> NoReturn:
    raise NotReadable(message)
