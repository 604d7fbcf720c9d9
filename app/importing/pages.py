"""The page on which tables of structures and queues are read; nothing is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Final

from fastapi import Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from app.errors import NotFound
from app.importing import service
from app.importing.requests import QueuesRequest, StructuresRequest
from app.importing.spreadsheets import table_text
from app.running.requests import read_request
from app.running.texts import LARGEST_FILE_BYTES, WHAT, printable
from app.web.field_values import Kind, value_of
from app.web.file_names import file_name
from app.web.forms import FormField, filled, read_posted
from app.web.rendering import Page, render
from app.web.router import Router
from planner_core.errors import DocumentInvalid, FieldProblem, InputInvalid, PlannerError
from planner_core.texts.queue_inventory import QueueInventory
from planner_core.texts.structure_batch import SizedRow, StructureBatch

router = Router(include_in_schema=False)

PATH: Final = "/import"
SECTION: Final = "import"
KINDS: Final = (("structures", "Structures"), ("queues", "Queues"))
SHOWN_ROWS: Final = 200
SHOWN_CHARACTERS: Final = 500_000
_SHOWN_PROBLEMS: Final = 50
_LONGEST_VALUE, _LONGEST_MAPPING = 200, 6_000
_MOST_FIELDS: Final = 40
FIELDS: Final = (
    FormField("kind", "Table of", "choice", value="structures", options=KINDS),
    FormField("qsg", "Queue-sharing group", "name", hint="For rows that name none; plans need it."),
    FormField("queue_managers", "Queue managers", "whole", hint="Defined to the group."),
    FormField("cfcc_level", "CFCC level", "whole", value="25"),
    FormField("target_usage_percent", "Maximum usage at the backlog", "decimal", value="80", hint="Percent; structures only."),
    FormField("size_factor", "SIZE as a multiple of INITSIZE", "decimal", value="1.5", hint="Structures only."),
    FormField("structure", "CFSTRUCT", "name", hint="Queues only: for rows that name none."),
    FormField("message_bytes", "Message size", "text", hint="Queues only: for rows that state none, such as 2K."),
)  # fmt: skip
"""The fields next to the table."""
TEXT: Final = FormField(
    "text", "Table", "text", hint="CSV, or rows copied from a spreadsheet; the first line has the headings."
)
COLUMNS: Final = FormField(
    "columns", "Columns", "text", hint="For headings that are not known: HEADING=column, one in each line; HEADING=- ignores a column."
)  # fmt: skip
_KINDS: Final[Mapping[str, Kind]] = {
    "queue_managers": "whole",
    "cfcc_level": "whole",
    "target_usage_percent": "decimal",
    "size_factor": "decimal",
    "message_bytes": "bytes",
}
"""How the texts of numbers are read."""
_OF_STRUCTURES: Final = ("target_usage_percent", "size_factor")
_OF_QUEUES: Final = ("structure", "message_bytes")


@dataclass(frozen=True, slots=True)
class PlanFile:
    """A plan document made of the table."""

    qsg: str
    structures: int
    text: str


@dataclass(frozen=True, kw_only=True)
class ImportTablesPage(Page):
    """The form, and the sizes or plans made of the last table."""

    text: Annotated[FormField, "The table as text"]
    columns: Annotated[FormField, "Columns of headings that are not known"]
    boxes: Annotated[tuple[FormField, ...], "Values that the table does not state"]
    wrong: Annotated[tuple[str, ...], "Errors of the table"]
    file: Annotated[str, "Name of an uploaded file, which the form sends as text from now on"]
    batch: Annotated[StructureBatch | None, "The sizes of a table of structures"]
    rows: Annotated[tuple[SizedRow, ...], "The first rows of it"]
    plans: Annotated[tuple[PlanFile, ...], "The plan documents that were made"]
    notes: Annotated[tuple[str, ...], "Remarks about a table of queues"]


@router.get(PATH)
def show(request: Request) -> Response:
    """Show the form."""
    return _page(request, {})


@router.get(f"{PATH}/{{kind}}.csv")
def template(kind: str) -> Response:
    """Return the headings of a table with example rows."""
    if kind not in service.TEMPLATES:
        message = f"There is no template {kind[:40]!r}."
        raise NotFound(message)
    return _file(service.template_csv(kind), f"{kind}-template.csv", "text/csv")


@router.post(PATH)
async def read(request: Request) -> Response:
    """Read a table, and show or download what was made of it."""
    sent = await read_posted(
        request,
        largest_bytes=LARGEST_FILE_BYTES,
        most_files=1,
        most_fields=_MOST_FIELDS,
        largest_file_bytes=LARGEST_FILE_BYTES,
    )
    longest = {TEXT.name: LARGEST_FILE_BYTES, COLUMNS.name: _LONGEST_MAPPING}
    typed = {name: text[: longest.get(name, _LONGEST_VALUE)] for name, text in sent.texts}
    files = [(each.data, each.name[:_LONGEST_VALUE]) for each in sent.files]
    return await run_in_threadpool(_answer, request, typed, files)


def _answer(request: Request, typed: dict[str, str], files: Sequence[tuple[bytes, str]]) -> Response:
    name = files[0][1] if files else ""
    try:
        if files:
            typed = typed | {TEXT.name: printable(table_text(*files[0]))}
        if not typed.get(TEXT.name, "").strip():
            raise InputInvalid(WHAT, (FieldProblem("", "has no table: paste one, or choose a file"),))
        found = _made(typed)
    except PlannerError as error:
        return _page(request, typed, wrong=_told(error), file=name)
    wanted = typed.get("as", "")
    if isinstance(found, StructureBatch):
        plans = [(each.qsg, each.document) for each in found.plans]
        if wanted == "csv":
            return _file(service.sizes_csv(found.rows), "sizes.csv", "text/csv")
        if wanted == "json":
            return _file(found.json_bytes().decode(), "sizes.json", "application/json")
    else:
        plans = [(found.qsg, found.document)]
    made = tuple(
        PlanFile(qsg, len(document["structures"]), json.dumps(document, indent=2) + "\n")
        for qsg, document in plans
    )
    chosen = next((each for each in made if typed.get("plan") == each.qsg), None)
    if chosen is not None:
        return _file(chosen.text, f"{file_name(chosen.qsg)}.json", "application/json")
    return _page(request, typed, found=found, plans=made, file=name)


def _made(typed: Mapping[str, str]) -> StructureBatch | QueueInventory:
    """Return what a table gives.

    Raises:
        PlannerError: The table or a field is not valid.
    """
    is_queues = typed.get("kind") == "queues"
    unused = _OF_STRUCTURES if is_queues else _OF_QUEUES
    values: dict[str, Any] = {}
    for field in FIELDS[1:]:
        text = typed.get(field.name, field.value).strip()
        if text and field.name not in unused:
            value = value_of(_KINDS.get(field.name, "text"), text)
            values[field.name] = float(value) if isinstance(value, Decimal) else value
    columns = service.mapping_of([line for line in typed.get(COLUMNS.name, "").splitlines() if line.strip()])
    body = {"text": typed[TEXT.name], "columns": columns, **values}
    if is_queues:
        return service.queues(read_request(QueuesRequest, json.dumps(body, default=str).encode()))
    wants_plans = typed.get("as") == "plans" or "plan" in typed
    return service.structures(
        read_request(StructuresRequest, json.dumps({**body, "plans": wants_plans}, default=str).encode())
    )


def _told(error: PlannerError) -> tuple[str, ...]:
    """Return the errors as sentences, with the labels of fields instead of their names."""
    if not isinstance(error, (InputInvalid, DocumentInvalid)):
        return (str(error),)
    labels = {f"/{field.name}": field.label for field in (*FIELDS, TEXT, COLUMNS)}
    told = []
    for each in error.problems[:_SHOWN_PROBLEMS]:
        where = labels.get(each.field, each.field.replace("line", "Line", 1) or "The table")
        comma = ":" if where.startswith("Line") else ""
        told.append(f"{where}{comma} {each.message.rstrip('.')}.")
    more = len(error.problems) - _SHOWN_PROBLEMS
    return (*told, f"{more} more errors.") if more > 0 else tuple(told)


def _page(
    request: Request,
    typed: Mapping[str, str],
    *,
    wrong: tuple[str, ...] = (),
    found: StructureBatch | QueueInventory | None = None,
    plans: tuple[PlanFile, ...] = (),
    file: str = "",
) -> Response:
    texts = dict(typed)
    texts[TEXT.name] = printable(texts.get(TEXT.name, ""))
    # A form that sent back a part of the table would silently lose the rest.
    is_kept = len(texts[TEXT.name]) <= SHOWN_CHARACTERS
    if not is_kept:
        texts[TEXT.name] = ""
    batch = found if isinstance(found, StructureBatch) else None
    page = ImportTablesPage(
        title="Import tables",
        section=SECTION,
        text=filled((TEXT,), texts)[0],
        columns=filled((COLUMNS,), texts)[0],
        boxes=filled(FIELDS, texts),
        wrong=wrong,
        file="" if is_kept else file or "the table",
        batch=batch,
        rows=batch.rows[:SHOWN_ROWS] if batch is not None else (),
        plans=plans,
        notes=found.notes if isinstance(found, QueueInventory) else (),
    )
    return render(request, "importing/import.html", page, status_code=422 if wrong else 200)


def _file(text: str, name: str, media_type: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=media_type, headers=headers)
