"""Queues from what people have at hand: a spreadsheet, DISPLAY QLOCAL output, a plan file.

Each kind becomes queue entries of the plan document, as far as they can be known. What a
line does not say is left out and reported, with its number; nothing is guessed silently.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

from planner_core import names
from planner_core.errors import DocumentInvalid, NameSyntax

Kind = Literal["table", "display", "plan"]

_HEADINGS = {
    "name": ("name", "queue", "queuename", "qname", "qlocal"),
    "message_bytes": (
        "messagebytes",
        "messagesize",
        "size",
        "bytes",
        "avgsize",
        "averagesize",
        "meansize",
        "msgsize",
    ),
    "p95": ("p95", "p95bytes", "95percentile"),
    "max": ("max", "maxbytes", "maxsize", "maxmessagebytes"),
    "backlog": ("backlog", "messages", "depth", "maxdepth", "highdepth", "curdepth"),
    "put_rate_per_s": ("putrateper s", "putratepers", "putrate", "rate", "msgspers", "messagespersecond"),
    "outage_minutes": ("outageminutes", "outage", "minutes"),
    "persistent": ("persistent", "defpsist", "persistence"),
    "isolation": ("isolation", "label"),
}
_FIELD_OF = {heading: field for field, headings in _HEADINGS.items() for heading in headings}
_COLUMN_ORDER = ("name", "message_bytes", "backlog", "persistent")
_YES, _NO = {"yes", "y", "true", "1", "x"}, {"no", "n", "false", "0", ""}
_ATTRIBUTE = re.compile(r"([A-Z][A-Z0-9]{1,11})\(((?:'(?:[^']|'')*'|[^()']|\([^()]*\))*)\)", re.IGNORECASE)
_MESSAGE = re.compile(r"\b(?:CSQM4\d\dI|CSQM2\d\dI|AMQ8409I?:)")
_LARGEST_LINE = 20_000
_MAXDEPTH_NOTHING_SAID = 999_999_999


@dataclass(frozen=True, slots=True)
class LineProblem:
    """What could not be taken over from a line (from 1), and why."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class PastedQueues:
    """Queue entries of a plan document, what kind of text they came from, and what could not be taken over."""

    queues: tuple[dict[str, object], ...]
    kind: Kind
    problems: tuple[LineProblem, ...]


def detect(text: str) -> Kind:
    """What a text looks like."""
    if _MESSAGE.search(text) or re.search(r"\bQUEUE\([^)]*\)", text, re.IGNORECASE):
        return "display"
    start = text.lstrip()[:1]
    if start == "{" or re.search(r"^\s*(structures|queues|qsg)\s*:", text, re.MULTILINE):
        return "plan"
    return "table"


def read_queues(text: str, *, kind: Kind | None = None) -> PastedQueues:
    """Read queues from a text.

    Args:
        text: What was pasted.
        kind: What it is; None to find out.

    Returns:
        The queues in the order of the text, and the problems of lines that gave none or less
        than a plan needs.
    """
    used = kind or detect(text)
    if used == "display":
        queues, problems = _from_display(text)
    elif used == "plan":
        queues, problems = _from_plan(text)
    else:
        queues, problems = _from_table(text)
    return PastedQueues(tuple(queues), used, tuple(problems))


def _plain(heading: str) -> str:
    return re.sub(r"[^a-z0-9]", "", heading.lower())


def _from_table(text: str) -> tuple[list[dict[str, object]], list[LineProblem]]:
    problems: list[LineProblem] = []
    queues: list[dict[str, object]] = []
    columns: tuple[str | None, ...] | None = None
    seen: set[str] = set()
    for line, cells in _rows(text, problems):
        if columns is None:
            found = tuple(_FIELD_OF.get(_plain(cell)) for cell in cells)
            if "name" in found:
                columns = found
                unknown = [
                    cell for cell, field in zip(cells, found, strict=True) if field is None and cell.strip()
                ]
                if unknown:
                    problems.append(
                        LineProblem(
                            line, f"Columns without a meaning here are left out: {', '.join(unknown)}."
                        )
                    )
                continue
            columns = _COLUMN_ORDER
            problems.append(
                LineProblem(
                    line,
                    f"The first line names no column 'name', so the columns are taken as {', '.join(_COLUMN_ORDER)}.",
                )
            )
        queue = _from_cells(line, cells, columns, problems)
        if queue is None:
            continue
        if queue["name"] in seen:
            problems.append(
                LineProblem(line, f"Queue {queue['name']} stands twice; the later line is left out.")
            )
            continue
        seen.add(str(queue["name"]))
        queues.append(queue)
    return queues, problems


def _rows(text: str, problems: list[LineProblem]) -> Iterator[tuple[int, list[str]]]:
    """Lines with content, cut into cells at tabs, semicolons or commas, whichever the first line has."""
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    delimiter = next((mark for mark in "\t;," if mark in first), ",")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if len(line) > _LARGEST_LINE:
            problems.append(LineProblem(number, "The line is too long to be a row of a table."))
            continue
        try:
            cells = next(csv.reader(io.StringIO(line), delimiter=delimiter, strict=True))
        except (csv.Error, StopIteration):
            problems.append(LineProblem(number, "The line cannot be cut into cells: a quote is not closed."))
            continue
        yield number, [cell.strip() for cell in cells]


def _from_cells(
    line: int, cells: list[str], columns: tuple[str | None, ...], problems: list[LineProblem]
) -> dict[str, object] | None:
    if len(cells) > len(columns) and any(cells[len(columns) :]):
        problems.append(
            LineProblem(line, f"The line has {len(cells)} cells, the heading {len(columns)}; it is left out.")
        )
        return None
    given = {field: cell for field, cell in zip(columns, cells, strict=False) if field and cell}
    name = given.pop("name", "")
    try:
        names.queue(name)
    except NameSyntax as error:
        problems.append(LineProblem(line, f"{error} The line is left out."))
        return None
    queue: dict[str, object] = {"name": name}
    unread: set[str] = set()
    for field, cell in given.items():
        if field == "persistent":
            word = cell.lower()
            if word in _YES | _NO:
                queue["persistent"] = word in _YES
            else:
                problems.append(LineProblem(line, f"{name}: {cell!r} is neither yes nor no."))
        elif field == "isolation":
            queue["isolation"] = cell
        else:
            number = _number(cell)
            if number is None:
                unread.add(field)
                problems.append(LineProblem(line, f"{name}: {cell!r} is no number ({field})."))
            else:
                queue[field] = number
    _gather_sizes(line, queue, unread, problems)
    return queue


def _gather_sizes(line: int, queue: dict[str, object], unread: set[str], problems: list[LineProblem]) -> None:
    """Mean, p95 and max become one value; a part of them is not enough. `unread` has been told already."""
    p95, largest = queue.pop("p95", None), queue.pop("max", None)
    if "message_bytes" not in queue:
        if "message_bytes" not in unread:
            problems.append(LineProblem(line, f"{queue['name']}: no message size is given."))
    elif p95 is not None and largest is not None:
        queue["message_bytes"] = {"mean": queue["message_bytes"], "p95": p95, "max": largest}
    elif p95 is not None or largest is not None:
        problems.append(
            LineProblem(
                line, f"{queue['name']}: a distribution needs mean, p95 and max; only the mean is taken."
            )
        )
    has_backlog = "backlog" in queue or {"put_rate_per_s", "outage_minutes"} <= queue.keys()
    if not has_backlog and not unread & {"backlog", "put_rate_per_s", "outage_minutes"}:
        problems.append(
            LineProblem(line, f"{queue['name']}: neither a backlog nor a rate with an outage is given.")
        )


def _number(cell: str) -> int | Decimal | None:
    """A number as spreadsheets write it: `200000`, `200,000`, `200 000`, `0.25`; None when it is none."""
    plain = cell.replace("\u00a0", "").replace("\u202f", "").replace(" ", "").replace("'", "")
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", plain):
        plain = plain.replace(",", "")
    elif re.fullmatch(r"\d+,\d+", plain):
        plain = plain.replace(",", ".")
    if not re.fullmatch(r"\d{1,15}(\.\d{1,9})?", plain):
        return None
    try:
        value = Decimal(plain)
    except InvalidOperation:
        return None
    return int(value) if value == value.to_integral_value() else value


def _from_display(text: str) -> tuple[list[dict[str, object]], list[LineProblem]]:
    """DISPLAY QLOCAL(*) ALL: shared queues with what their definitions say.

    A definition knows persistence and limits, not message sizes: MAXMSGL is the largest that
    is allowed, CURDEPTH what lies there now. Both are proposed nowhere; the size is asked for.
    """
    problems: list[LineProblem] = []
    queues: list[dict[str, object]] = []
    seen: set[str] = set()
    for line, attributes in _displayed(text):
        name = attributes.get("QUEUE") or attributes.get("QLOCAL") or ""
        if not name:
            continue
        disposition = attributes.get("QSGDISP", "").upper()
        if disposition and disposition != "SHARED":
            problems.append(
                LineProblem(line, f"{name} is no shared queue (QSGDISP({disposition})); it is left out.")
            )
            continue
        try:
            names.queue(name)
        except NameSyntax as error:
            problems.append(LineProblem(line, f"{error} It is left out."))
            continue
        if name in seen:
            problems.append(LineProblem(line, f"Queue {name} is displayed twice; the later one is left out."))
            continue
        seen.add(name)
        queue: dict[str, object] = {"name": name}
        if attributes.get("DEFPSIST", "").upper() in {"YES", "NO"}:
            queue["persistent"] = attributes["DEFPSIST"].upper() == "YES"
        depth = attributes.get("MAXDEPTH", "")
        if depth.isdigit() and int(depth) < _MAXDEPTH_NOTHING_SAID:
            queue["backlog"] = int(depth)
        else:
            problems.append(
                LineProblem(line, f"{name}: MAXDEPTH does not limit it, so its backlog is asked for.")
            )
        problems.append(
            LineProblem(
                line, f"{name}: a definition does not say how large messages are; the size is asked for."
            )
        )
        queues.append(queue)
    return queues, problems


def _displayed(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The attributes of each displayed queue, with the line on which it begins."""
    current: dict[str, str] = {}
    began = 1
    for number, line in enumerate(text.splitlines(), start=1):
        for match in _ATTRIBUTE.finditer(line):
            key, value = match.group(1).upper(), match.group(2).strip()
            if key in {"QUEUE", "QLOCAL"} and "(" not in value:
                if current:
                    yield began, current
                current, began = {}, number
            quoted = value.startswith("'") and value.endswith("'") and len(value) > 1
            current.setdefault(key, value[1:-1].replace("''", "'") if quoted else value)
    if current:
        yield began, current


def _from_plan(text: str) -> tuple[list[dict[str, object]], list[LineProblem]]:
    """The queues of all structures of a plan document in JSON."""
    from planner_core.document import parse_json

    try:
        parsed = parse_json(text)
    except DocumentInvalid as error:
        return [], [LineProblem(1, str(error.problems[0].message))]
    return _queues_in(parsed)


def _queues_in(parsed: object) -> tuple[list[dict[str, object]], list[LineProblem]]:
    if isinstance(parsed, dict):
        structures = parsed.get("structures")
        lists: Iterable[object] = (
            [item.get("queues") for item in structures if isinstance(item, dict)]
            if isinstance(structures, list)
            else [parsed.get("queues")]
        )
    else:
        lists = [parsed]
    queues = [
        queue for found in lists if isinstance(found, list) for queue in found if isinstance(queue, dict)
    ]
    return queues, [] if queues else [LineProblem(1, "The text holds no queues of a plan document.")]
