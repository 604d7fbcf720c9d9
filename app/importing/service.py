"""Answers about tables; nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Final

from app.importing.requests import QueuesRequest, StructuresRequest
from app.web.csv_files import Cell, csv_text
from planner_core.garbage import collection_paused
from planner_core.texts.queue_inventory import TEMPLATE, QueueInventory, plan_of_queues
from planner_core.texts.structure_batch import SizedRow, StructureBatch, size_batch
from planner_core.texts.structure_rows import ADMIN_EXAMPLE, COLUMNS

TEMPLATES: Final = ("structures", "queues")
_HEADINGS: Final = tuple(each.name for each in fields(SizedRow))


def structures(request: StructuresRequest) -> StructureBatch:
    """Return the sizes of a table of structures."""
    with collection_paused(len(request.text)):
        return size_batch(
            request.text, request.settings(), mapping=request.columns, makes_plans=request.plans
        )


def queues(request: QueuesRequest) -> QueueInventory:
    """Return the plan of a table of queues."""
    with collection_paused(len(request.text)):
        return plan_of_queues(request.text, request.settings(), mapping=request.columns)


def sizes_csv(rows: Sequence[SizedRow]) -> str:
    """Return the sizes as CSV, one line for each row."""
    return csv_text((_HEADINGS, ([_cell(getattr(row, name)) for name in _HEADINGS] for row in rows)))


def template_csv(kind: str) -> str:
    """Return the headings of a table with example rows."""
    if kind == "queues":
        return csv_text((TEMPLATE[0], TEMPLATE[1:]))
    rows = [
        [ADMIN_EXAMPLE.get(column.name, "") for column in COLUMNS],
        [column.example for column in COLUMNS],
    ]
    return csv_text((tuple(column.name for column in COLUMNS), rows))


def mapping_of(texts: Sequence[str]) -> Mapping[str, str]:
    """Return the columns of headings from texts such as `Arrivals=small_per_minute`."""
    found = {}
    for text in texts:
        heading, equals, column = text.rpartition("=")
        found[heading.strip() if equals else text.strip()] = column.strip() if equals else ""
    return found


def _cell(value: object) -> Cell:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return value if value is None or isinstance(value, (str, int)) else str(value)
