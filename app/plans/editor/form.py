"""Convert the form of the editor to a plan document and back.

The form is flat: a text for the JSON pointer of each field. A row keeps its number, so that removing a row or leaving
it blank does not move the others; `Reading` records which field supplied each place of the document. The queues of a
structure are rows, or one text with a line for each, because a form with hundreds of rows would be unusable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Protocol

from app.plans.editor import fields
from app.texts.documents import parse_text
from app.web.field_values import YAML_KEYS, Kind, text_of, value_of
from app.web.forms import FormField, pointers_up, rows_of, sentence, sort_errors, texts_of, values_of
from planner_core import names
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid, FieldProblem, NameSyntax, PlannerError
from planner_core.garbage import collection_paused
from planner_core.running.exported import SizeUnitMissing, is_exported, read_exported
from planner_core.running.others import other_entries
from planner_core.running.state import read_running
from planner_core.texts.queue_paste import PastedQueues, read_queues
from planner_core.wire import JsonObject

Typed = dict[str, str]

LONGEST_KEPT = 500
"""Maximum number of characters of a field that are read and shown again; lists of queues as text have no limit."""
MOST_FIELDS = 50_000
ROWS_IN_STRUCTURE = 60
"""The queues of a structure with more than this number are entered as text."""
ROWS_IN_PLAN = 120

COLUMNS = (
    "name",
    "message_bytes",
    "p95",
    "max",
    "backlog",
    "put_rate_per_s",
    "outage_minutes",
    "persistent",
    "selector_reads",
    "isolation",
    *(field.name for field in fields.QUEUE_MORE),
)
"""The columns of queues as text. Spreadsheet cells with these headings can be pasted wherever queues are entered."""
_HEADING = "\t".join(COLUMNS)
_QUEUE_FIELDS = {field.name: field for field in fields.QUEUE_ALL}
_NAME_CELL: tuple[tuple[str, Kind], ...] = (("name", "text"),)
_SIZE_CELLS: tuple[tuple[str, Kind], ...] = (("mean", "decimal"), ("p95", "bytes"), ("max", "bytes"))
_OTHER_CELLS = tuple((column, _QUEUE_FIELDS[column].kind) for column in COLUMNS[4:])
"""The columns of a text by their key in a queue, or in its message sizes, with the kind of their values."""
# Pasted queues, messages and clusters are texts of any length; other fields are cut at LONGEST_KEPT.
_LONG = re.compile(
    r"/structures/\d+/(queues|paste)|/acknowledged/\d+/message|/clusters|/other_structures|/others_paste"
)
_KEY = re.compile(r"(?:/[A-Za-z_]\w*|/\d{1,6})+", re.ASCII)
_STRUCTURE_FIELDS = (
    *fields.STRUCTURE,
    *fields.STRUCTURE_MORE,
    *fields.STRUCTURE_SIZES,
    *fields.STRUCTURE_OFFLOAD,
)
_SINGLE: tuple[tuple[str, tuple[FormField, ...]], ...] = (
    ("", (*fields.GROUP, *fields.GROUP_MORE, *fields.CLUSTERS, *fields.OTHERS)),
    ("/admin", (*fields.ADMIN, *fields.ADMIN_MORE)),
    ("/system", (*fields.SYSTEM, *fields.SYSTEM_MORE)),
    ("/policy", fields.POLICY),
)
_LISTS: Mapping[str, tuple[FormField, ...]] = {
    "/coupling_facilities": (*fields.FACILITY, *fields.FACILITY_MORE),
    "/acknowledged": fields.ACKNOWLEDGED,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """The unchecked document of a form, and the form field behind each place in the document."""

    raw: JsonObject
    origins: Mapping[str, str]
    lines: Mapping[str, int]
    problems: tuple[FieldProblem, ...]
    fields: frozenset[str]

    def origin(self, pointer: str) -> str:
        """Return the pointer in the form for a pointer into the document."""
        places = (self.origins[at] + pointer[len(at) :] for at in pointers_up(pointer) if at in self.origins)
        return next(places, pointer)

    def field_of(self, pointer: str) -> str:
        """Return the nearest field that supplied a place of the document, or an empty text."""
        return next((at for at in pointers_up(self.origin(pointer)) if at in self.fields), "")

    def line_of(self, pointer: str) -> int | None:
        """Return the line number in a text with queues, or None if the queues are entered as rows."""
        return next((self.lines[at] for at in pointers_up(pointer) if at in self.lines), None)


@dataclass(frozen=True, slots=True)
class CheckedForm:
    """A form that was read: its document if it has no errors, and the errors by field."""

    reading: Reading
    document: PlanDocument | None
    errors: Mapping[str, str] = field(default_factory=dict)
    general: tuple[str, ...] = ()


# ---- document → form ----------------------------------------------------------------------------------------------


def typed_of(document: PlanDocument) -> Typed:
    """Return the texts of a form for a document."""
    dumped = document.model_dump(mode="json")
    dumped["clusters"] = [entry.model_dump(mode="json", exclude_defaults=True) for entry in document.clusters]
    dumped["other_structures"] = [
        entry.model_dump(mode="json", exclude_defaults=True) for entry in document.other_structures
    ]
    typed: Typed = {}
    for at, specs in _SINGLE:
        typed |= texts_of(specs, dumped if not at else dumped[at[1:]], at=f"{at}/")
    for at, specs in _LISTS.items():
        for index, item in enumerate(dumped[at[1:]]):
            typed |= texts_of(specs, item, at=f"{at}/{index}/")
    room = ROWS_IN_PLAN
    for index, structure in enumerate(dumped["structures"]):
        _fill_structure(typed, f"/structures/{index}", structure)
        queues = structure["queues"]
        if len(queues) > min(ROWS_IN_STRUCTURE, room):
            typed[f"/structures/{index}/queues"] = queues_text(queues)
            continue
        room -= len(queues)
        for number, queue in enumerate(queues):
            typed |= texts_of(fields.QUEUE_ALL, queue, at=f"/structures/{index}/queues/{number}/")
    return typed


def _fill_structure(typed: Typed, at: str, structure: JsonObject) -> None:
    typed |= texts_of(_STRUCTURE_FIELDS, structure, at=f"{at}/")
    # Always three rows, because MQ has at most three rules; so there is no button to add one.
    rules: Sequence[JsonObject] = structure["offload"]["rules"]
    for number in range(fields.RULES):
        values = rules[number] if number < len(rules) else {}
        typed |= texts_of(fields.RULE, values, at=f"{at}/offload/rules/{number}/")


def queues_text(queues: Sequence[JsonObject]) -> str:
    """Return queues as text, one line each, below a line of column names."""
    lines = [_HEADING]
    for queue in queues:
        sizes = queue.get("message_bytes")
        parts = sizes if isinstance(sizes, Mapping) else {"mean": sizes}
        # Most cells of the hundreds of thousands in a large plan are empty.
        cells = [
            "" if (value := values.get(key)) is None else text_of(kind, value)
            for values, columns in ((queue, _NAME_CELL), (parts, _SIZE_CELLS), (queue, _OTHER_CELLS))
            for key, kind in columns
        ]
        # Spreadsheets copy and paste cells with tabs.
        lines.append("\t".join(cells).rstrip("\t"))
    return "\n".join(lines) + "\n"


@cache
def blank_structure() -> Mapping[str, str]:
    """Return the texts of a new structure; the names begin with a slash."""
    document = read_object({"qsg": "Q", "queue_managers": 1, "structures": [{"name": "A"}]})
    typed: Typed = {}
    _fill_structure(typed, "", document.model_dump(mode="json")["structures"][0])
    typed["/name"] = ""
    return typed


@cache
def blank_group() -> Mapping[str, str]:
    """Return the texts of a new plan for the group, CSQ_ADMIN, CSQSYSAPPL and the policy."""
    return typed_of(read_object({"qsg": "Q", "queue_managers": 1}))


@cache
def blank_facility() -> Mapping[str, str]:
    """Return the texts of a new coupling facility; the names begin with a slash."""
    document = read_object({"qsg": "Q", "queue_managers": 1, "coupling_facilities": [{"name": "A"}]})
    facility = document.model_dump(mode="json")["coupling_facilities"][0]
    return {**texts_of(_LISTS["/coupling_facilities"], facility, at="/"), "/name": ""}


# ---- form → document ----------------------------------------------------------------------------------------------


def read_typed(pairs: Iterable[tuple[str, str]]) -> Typed:
    """Return the fields among the parameters of a request; missing fields are empty."""
    # Browsers do not send checkboxes that are not ticked.
    typed: Typed = {}
    for key, text in pairs:
        if len(typed) < MOST_FIELDS and _KEY.fullmatch(key):
            typed[key] = text if _LONG.fullmatch(key) else text[:LONGEST_KEPT]
    rows = rows_of(typed)
    for at, specs in _SINGLE:
        _complete(typed, at, specs)
    for at, specs in _LISTS.items():
        for row in rows[at]:
            _complete(typed, f"{at}/{row}", specs)
    for row in rows["/structures"]:
        at = f"/structures/{row}"
        _complete(typed, at, _STRUCTURE_FIELDS)
        for number in range(fields.RULES):
            _complete(typed, f"{at}/offload/rules/{number}", fields.RULE)
        for number in rows[f"{at}/queues"]:
            _complete(typed, f"{at}/queues/{number}", fields.QUEUE_ALL)
    return typed


def _complete(typed: Typed, at: str, specs: Iterable[FormField]) -> None:
    for spec in specs:
        typed.setdefault(f"{at}/{spec.name}", "")


class KnownQueues(Protocol):
    """The queues of a structure in a stored version."""

    @property
    def text(self) -> str:
        """The queues as the form would contain them."""

    @property
    def stored(self) -> Sequence[JsonObject]:
        """The queues as the document would contain them."""


_NOTHING_KNOWN: Mapping[str, KnownQueues] = MappingProxyType({})


def read(typed: Mapping[str, str], known: Mapping[str, KnownQueues] = _NOTHING_KNOWN) -> Reading:
    """Return the unchecked document of a form.

    Args:
        typed: The form with all of its queues.
        known: Queues of structures, by pointer, whose text need not be read if the form still contains it.
    """
    return _Reader(typed, known).reading()


class _Reader:
    def __init__(self, typed: Mapping[str, str], known: Mapping[str, KnownQueues] = _NOTHING_KNOWN) -> None:
        self.typed, self.known = typed, known
        self.rows = rows_of(typed)
        self.origins: dict[str, str] = {}
        self.lines: dict[str, int] = {}
        self.problems: list[FieldProblem] = []

    def reading(self) -> Reading:
        raw: JsonObject = {"schema_version": 1}
        for at, specs in _SINGLE:
            found = values_of(specs, self.typed, at=f"{at}/")
            raw.update(found if not at else {at[1:]: found})
        for at in _LISTS:
            raw[at[1:]] = self.entries(at, at, _LISTS[at], blank=blank_facility() if "coupling" in at else {})
        raw["structures"] = self.structures()
        return Reading(raw, self.origins, self.lines, tuple(self.problems), frozenset(self.typed))

    def is_blank(self, at: str, specs: Iterable[FormField], blank: Mapping[str, str]) -> bool:
        return all(
            # A new row inherits Persistent from the row before it, so a ticked box alone does not make a row used.
            spec.kind == "yes"
            or self.typed.get(f"{at}/{spec.name}", "").strip() in ("", blank.get(f"/{spec.name}", ""))
            for spec in specs
        )

    def entries(
        self, at: str, goes_to: str, specs: tuple[FormField, ...], *, blank: Mapping[str, str]
    ) -> list[JsonObject]:
        found: list[JsonObject] = []
        for row in self.rows[at]:
            # A blank row was added by a button and not filled in, which is not an error.
            if not self.is_blank(f"{at}/{row}", specs, blank):
                self.origins[f"{goes_to}/{len(found)}"] = f"{at}/{row}"
                found.append(values_of(specs, self.typed, at=f"{at}/{row}/"))
        return found

    def structures(self) -> list[JsonObject]:
        found: list[JsonObject] = []
        for row in self.rows["/structures"]:
            at, goes_to = f"/structures/{row}", f"/structures/{len(found)}"
            queues = self.queues(at, goes_to)
            # A new structure inherits the PREFLIST of the one before it, so that alone does not make a structure used.
            told = [spec for spec in _STRUCTURE_FIELDS if spec.name != "preflist"]
            if not queues and self.is_blank(at, told, blank_structure()):
                continue
            structure = values_of(_STRUCTURE_FIELDS, self.typed, at=f"{at}/")
            rules = self.entries(f"{at}/offload/rules", f"{goes_to}/offload/rules", fields.RULE, blank={})
            structure.setdefault("offload", {})["rules"] = rules
            structure["queues"] = queues
            self.origins[goes_to] = at
            found.append(structure)
        return found

    def queues(self, at: str, goes_to: str) -> list[JsonObject]:
        text = self.typed.get(f"{at}/queues")
        if text is None:
            return self.entries(f"{at}/queues", f"{goes_to}/queues", fields.QUEUE_ALL, blank={})
        stored = self.known.get(at)
        if stored is not None and stored.text and stored.text == text:
            # One line for each, below the heading.
            found: _TextRead = list(stored.stored), list(range(2, len(stored.stored) + 2)), []
        else:
            found = _read_text(text, self.typed.get(f"{at}/name", "").strip().upper())
        queues, numbers, problems = found
        self.problems.extend(FieldProblem(f"{at}/queues", problem) for problem in problems)
        self.origins[f"{goes_to}/queues"] = f"{at}/queues"
        for index, number in enumerate(numbers):
            self.lines[f"{goes_to}/queues/{index}"] = number
        return queues


_TextRead = tuple[list[JsonObject], list[int], list[str]]


def _read_text(text: str, name: str) -> _TextRead:
    """Read the queues of a structure from text: the queues, the line number of each, and the errors in lines."""
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    # Any other heading means a pasted table or display, which has its own reader.
    if first.strip() != _HEADING:
        if not first:
            return [], [], []
        return _read_table(text, name)
    queues: list[JsonObject] = []
    numbers: list[int] = []
    problems: list[str] = []
    is_heading = True
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if is_heading:
            is_heading = False
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) > len(COLUMNS):
            problems.append(f"Line {number}: {len(cells)} cells, but there are {len(COLUMNS)} columns.")
            continue
        given = dict(zip(COLUMNS, cells, strict=False))
        wrong = [
            given[key]
            for key in ("persistent", "selector_reads", "share")
            if not _is_yes_or_no(given.get(key))
        ]
        problems += [f"Line {number}: {text!r} must be yes or no." for text in wrong]
        queues.append(_queue(given))
        numbers.append(number)
    return queues, numbers, problems


def _is_yes_or_no(text: str | None) -> bool:
    return (text or "").lower() in ("", "yes", "no")


def _read_table(text: str, name: str) -> _TextRead:
    """Read a pasted table, display or plan; each line that cannot be read produces an error."""
    pasted = read_queues(text, parse=_parse_plan)
    problems = []
    for problem in pasted.problems:
        if problem.kind == "heading":
            problems.append(
                f"Line {problem.line}: The columns have no headings. Begin with {', '.join(COLUMNS)}."
            )
        elif problem.kind not in ("size", "backlog"):  # the core reports missing values at the queue
            problems.append(f"Line {problem.line}: {problem.message}")
    for queue, structure, line in zip(pasted.queues, pasted.structures, pasted.lines, strict=True):
        if structure and structure != name:
            problems.append(f"Line {line}: {queue['name']} belongs to {structure}, but is listed here.")
    return [dict(queue) for queue in pasted.queues], list(pasted.lines), problems


def _parse_plan(text: str) -> object:
    """Read a plan, or a part of one, from JSON or YAML."""
    return parse_text(text.encode("utf-8", "replace"))


def _queue(cells: Mapping[str, str]) -> JsonObject:
    queue: JsonObject = {}
    for column, text in cells.items():
        if text and column in _QUEUE_FIELDS:
            queue[column] = value_of(
                _QUEUE_FIELDS[column].kind, text.lower() if _QUEUE_FIELDS[column].kind == "yes" else text
            )
    if cells.get("p95") or cells.get("max"):
        sizes = {"mean": "message_bytes", "p95": "p95", "max": "max"}
        queue["message_bytes"] = {
            key: value_of("bytes", text) for key, column in sizes.items() if (text := cells.get(column, ""))
        }
    return queue


def check(typed: Mapping[str, str], known: Mapping[str, KnownQueues] = _NOTHING_KNOWN) -> CheckedForm:
    """Read a form and check its document; the arguments are those of `read`."""
    # The queues of a large plan are millions of texts, none of which is garbage.
    with collection_paused(sum(map(len, typed.values()))):
        return _check(typed, known)


def _check(typed: Mapping[str, str], known: Mapping[str, KnownQueues]) -> CheckedForm:
    reading = read(typed, known)
    problems: list[FieldProblem] = []
    document: PlanDocument | None = None
    try:
        document = read_object(reading.raw)
    except DocumentInvalid as error:
        problems += [
            FieldProblem(problem.field, problem.message) for problem in error.problems if problem.message
        ]
    errors, general = sort_problems(reading, problems)
    unread: dict[str, list[str]] = {}
    for problem in reading.problems:
        unread.setdefault(problem.field, []).append(problem.message)
    for name, messages in unread.items():
        errors[name] = f"{errors.get(name, '')} {_together(messages)}".strip()
    return CheckedForm(reading, document if not errors and not general else None, errors, general)


def sort_problems(
    reading: Reading, problems: Iterable[FieldProblem]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return errors as sentences, grouped by field, and the errors that belong to no field."""
    by_field, general = sort_errors(problems, reading.field_of)
    return (
        {
            name: _together([_words(each, name, reading) for each in found])
            for name, found in by_field.items()
        },
        tuple(_words(each, "", reading) for each in general),
    )


def _words(problem: FieldProblem, name: str, reading: Reading) -> str:
    if (
        name in {f"/{key}" for key in YAML_KEYS} and problem.field != name
    ):  # several places in the document come from this one text
        return f"{problem.field.removeprefix(f'{name}/').replace('/', ', ')}: {problem.message}."
    line = reading.line_of(problem.field)
    return f"{'' if line is None else f'Line {line}: '}{in_the_form(problem, reading)}"


MOST_TOGETHER = 12


def _together(found: Sequence[str]) -> str:
    rest = len(found) - MOST_TOGETHER
    more = f" And {rest} more." if rest > 0 else ""
    # Several parts of one field can have the same error.
    return " ".join(dict.fromkeys(found[:MOST_TOGETHER])) + more


_OF_FIELD: Mapping[str, str] = {
    "curve": "Must be “published” or the number of a fitted curve.",
    "entry_to_element_ratio": "Must be two numbers from 1 to 65535, such as 1:6.",
}
_IN_THE_FORM: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (
        re.compile(r"must be a whole number of bytes, or an object with .*", re.IGNORECASE),
        "must be one size, such as 1024 or 4K, or mean/p95/max, such as 3500/12000/60000",
    ),
    (re.compile(r"should be greater than or equal to (-?\d+)", re.IGNORECASE), r"must be \1 or more"),
    (re.compile(r"should be less than or equal to (-?\d+)", re.IGNORECASE), r"must be \1 or less"),
    (re.compile(r", or (must be )?a list"), ", or names"),
    (
        re.compile(r"should be ('[A-Z].*)", re.IGNORECASE),
        lambda found: f"must be {found[1]}".replace("'", ""),
    ),
    (
        re.compile(r"enter either backlog, or put_rate_per_s with outage_minutes, not both", re.IGNORECASE),
        "enter either a backlog, or puts per second and outage minutes, not both",
    ),
    (
        re.compile(r"is required, unless put_rate_per_s and outage_minutes are specified"),
        "enter a backlog, or puts per second and outage minutes",
    ),
    (
        re.compile(r"is required with put_rate_per_s"),
        "enter the outage minutes, or a backlog instead of the rate",
    ),
    (
        re.compile(r"is required with outage_minutes"),
        "enter the puts per second, or a backlog instead of the outage minutes",
    ),
    (re.compile(r"is already at (/structures/\d+)\S*?(?=:)"), r"is already in \1"),
)
"""Patterns of the core's errors about a document, with their wording in the terms of a form."""


def in_the_form(problem: FieldProblem, reading: Reading) -> str:
    """Return an error of a document without terms that the form does not use: keys, lists, objects and pointers."""
    for key in problem.field.split("/"):
        if key in _OF_FIELD:
            return _OF_FIELD[key]
    words = problem.message
    for pattern, instead in _IN_THE_FORM:
        words = pattern.sub(instead, words)

    def called(found: re.Match[str]) -> str:
        structures = reading.raw["structures"]
        index = int(found[1])
        return str(structures[index].get("name", "")) if index < len(structures) else found[0]

    return sentence(re.sub(r"/structures/(\d+)", called, words))


# ---- rows and pastes: what the buttons of the form do ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChangedForm:
    """A form after a button was pressed: its fields, the field to focus, and messages."""

    typed: Typed
    focus: str = ""
    notes: tuple[str, ...] = ()
    has_remarks: bool = False
    """Whether queues were omitted or moved, so that the user should review them before saving."""


def change(typed: Typed, action: str) -> ChangedForm:
    """Carry out the action of a button: `add:/structures`, `remove:/structures/0/queues/3`, `text:/structures/0`, ..."""
    # Every button submits the whole form, and a pasted text must not be lost because another button was pressed.
    taken = take_pastes(typed, replace=action.startswith("replace:"))
    typed, notes = taken.typed, taken.notes
    verb, _, at = action.partition(":")
    if verb == "add":
        return _add(typed, at, notes)
    if verb == "remove" and re.search(r"/[0-9]{1,9}$", at):
        kept = {key: text for key, text in typed.items() if key != at and not key.startswith(f"{at}/")}
        return ChangedForm(kept, _after_removing(kept, at), notes)
    if verb == "text":
        raw = read(typed).raw["structures"]
        index = _index_of(typed, at)
        queues = raw[index]["queues"] if index is not None else []
        return ChangedForm(_with_text(typed, at, queues), f"{at}/queues", notes)
    if verb == "rows":
        return _as_rows(typed, at, notes)
    return ChangedForm(typed, taken.focus, notes)


def _after_removing(typed: Typed, removed: str) -> str:
    """Return the place to focus after a row was removed: the next row, the last one, or the button that adds one."""
    at, _, number = removed.rpartition("/")
    rows = rows_of(typed)[at]
    if not rows:
        return f"add:{at}" if at != "/acknowledged" else "add:/structures"
    # Without this, the focus would return to the top of the page, and keyboard users would have to find the place
    # again.
    row = f"{at}/{next((row for row in rows if row > int(number)), rows[-1])}"
    return row if at == "/structures" else f"{row}/code" if at == "/acknowledged" else f"{row}/name"


def _add(typed: Typed, at: str, notes: tuple[str, ...]) -> ChangedForm:
    rows = rows_of(typed)[at]
    new = f"{at}/{max(rows, default=-1) + 1}"
    added = dict(typed)
    if at == "/structures":
        added.update({new + key: text for key, text in blank_structure().items()})
        preflists = [text for key, text in typed.items() if re.fullmatch(r"/structures/\d+/preflist", key)]
        added[f"{new}/preflist"] = preflists[-1] if preflists else ""
        added.update({f"{new}/queues/0/{spec.name}": "" for spec in fields.QUEUE_ALL})
    elif at == "/coupling_facilities":
        added.update({new + key: text for key, text in blank_facility().items()})
    elif re.fullmatch(r"/structures/\d+/queues", at) and at not in typed:
        added.update({f"{new}/{spec.name}": "" for spec in fields.QUEUE_ALL})
        if rows:  # queues of one structure usually have the same persistence
            added[f"{new}/persistent"] = typed.get(f"{at}/{rows[-1]}/persistent", "")
    return ChangedForm(added, f"{new}/name", notes)


def _index_of(typed: Typed, at: str) -> int | None:
    """Return the index in the document of the structure in a row of the form."""
    origins = read(typed).origins
    found = [doc for doc, form in origins.items() if form == at and doc.count("/") == at.count("/")]
    return int(found[0].rpartition("/")[2]) if found else None


def _with_text(typed: Typed, at: str, queues: Sequence[JsonObject]) -> Typed:
    kept = {key: text for key, text in typed.items() if not key.startswith(f"{at}/queues/")}
    kept[f"{at}/queues"] = queues_text(queues)
    return kept


def _with_rows(typed: Typed, at: str, queues: Sequence[JsonObject]) -> Typed:
    kept = {
        key: text
        for key, text in typed.items()
        if key != f"{at}/queues" and not key.startswith(f"{at}/queues/")
    }
    for number, queue in enumerate(queues):
        kept |= texts_of(fields.QUEUE_ALL, queue, at=f"{at}/queues/{number}/")
    return kept


def _as_rows(typed: Typed, at: str, notes: tuple[str, ...]) -> ChangedForm:
    name = typed.get(f"{at}/name", "").strip().upper()
    queues, _, problems = _read_text(typed.get(f"{at}/queues", ""), name)
    if problems:
        return ChangedForm(typed, f"{at}/queues", (*notes, *problems))
    if len(queues) > ROWS_IN_PLAN:
        note = f"{len(queues)} queues are too many for rows; they are shown as text."
        return ChangedForm(typed, f"{at}/queues", (*notes, note))
    return ChangedForm(_with_rows(typed, at, queues), f"{at}/queues/0/name", notes)


def take_pastes(typed: Typed, *, replace: bool = False) -> ChangedForm:
    """Add pasted queues to their structures; lines that cannot be read stay in their box."""
    notes: list[str] = []
    focus = ""
    has_remarks = False
    # A list, because the loop replaces the fields.
    for key in [key for key in typed if key.endswith("/paste") and typed[key].strip()]:
        at = key.removesuffix("/paste")
        pasted = read_queues(typed[key], parse=_parse_plan)
        if pasted.queues:
            typed, places, said = _placed(typed, at, pasted, replace=replace)
            notes += said
            has_remarks = has_remarks or len(places) > 1 or at not in places
        remarks = _remarks(pasted, _given(typed, at))
        has_remarks = has_remarks or bool(remarks)
        notes += remarks
        typed = {**typed, key: _kept(typed[key], pasted)}
        focus = f"{at}/paste" if typed[key] else f"{at}/queues"
    if typed.get(fields.OTHERS_PASTE, "").strip():
        imported = _import_others(typed)
        has_remarks = has_remarks or imported.has_remarks
        return ChangedForm(imported.typed, imported.focus, (*notes, *imported.notes), has_remarks=has_remarks)
    return ChangedForm(typed, focus, tuple(notes), has_remarks=has_remarks)


def _import_others(typed: Typed) -> ChangedForm:
    """Replace the other structures by those of a pasted policy or display; a text without any stays in its box."""
    kept = fields.OTHERS_PASTE
    try:
        qsg = names.qsg(typed.get("/qsg", "").strip())
        pasted = typed[kept]
        exported = read_exported(pasted) if is_exported(pasted) else None
        entries, omitted = other_entries(read_running([exported.text if exported else pasted]), qsg)
    except NameSyntax:
        why = "Enter the queue-sharing group first: its own structures are not imported."
        return ChangedForm(typed, "/qsg", (why,), has_remarks=True)
    except SizeUnitMissing:
        why = (
            "The sizes of this policy in JSON have no unit, and z/OSMF does not state it. Use `cfplan other-structures` with "
            "--size-unit, or paste the report of IXCMIAPU."
        )
        return ChangedForm(typed, kept, (why,), has_remarks=True)
    except PlannerError as error:
        return ChangedForm(typed, kept, (str(error),), has_remarks=True)
    notes = [each.message for each in (*(exported.findings if exported else ()), *omitted)]
    if not entries:
        why = "The pasted text has no structure of another owner with a size: paste a CFRM policy or D XCF,STR,STRNAME=."
        return ChangedForm(typed, kept, (why, *notes), has_remarks=True)
    changed = {**typed, kept: "", "/other_structures": text_of("other_structures", entries)}
    count = f"{len(entries)} structure{'' if len(entries) == 1 else 's'} of Db2 and others imported."
    return ChangedForm(changed, "/other_structures", (count, *notes), has_remarks=bool(notes))


FEW = 3
_TOGETHER: Mapping[str, str] = {
    "apart": "queues were left out because they are not shared queues of a planned structure",
    "twice": "queues are listed more than once; the first one is used",
    "size": "queues have no message size",
    "backlog": "queues have neither a backlog nor a rate with an outage",
}
"""Texts that summarize remarks of one kind when there are more than a few."""


def _kept(text: str, pasted: PastedQueues) -> str:
    """Return the text that stays in the box: lines without a valid queue, below the heading if there is one."""
    lost = sorted({line for problem in pasted.lost for line in problem.lines})
    if not lost:
        return ""
    lines = text.splitlines()
    if pasted.kind == "plan" or (len(lost) == 1 and len(lines) == 1):
        return text
    first = next(number for number, line in enumerate(lines, start=1) if line.strip())
    has_heading = pasted.kind == "table" and all(problem.kind != "heading" for problem in pasted.problems)
    if has_heading and first not in lost:
        lost.insert(0, first)
    return "\n".join(lines[number - 1] for number in lost)


def _given(typed: Typed, at: str) -> JsonObject:
    """Return the message size and the backlog entered for queues whose text has none."""
    return {
        spec.name: value_of(spec.kind, typed[f"{at}/paste_{spec.name}"])
        for spec in (_QUEUE_FIELDS["message_bytes"], _QUEUE_FIELDS["backlog"])
        if typed.get(f"{at}/paste_{spec.name}", "").strip()
    }


def _placed(
    typed: Typed, at: str, pasted: PastedQueues, *, replace: bool
) -> tuple[Typed, tuple[str, ...], list[str]]:
    """Return the form with pasted queues added, the structures they were added to, and messages.

    Queues go to the structure that the text names, which is created if needed; without a name, they go to the structure
    they were pasted into.
    """
    given = _given(typed, at)
    by_structure: dict[str, list[JsonObject]] = {}
    for queue, structure in zip(pasted.queues, pasted.structures, strict=True):
        by_structure.setdefault(structure, []).append(_with_defaults(queue, given))
    here = typed.get(f"{at}/name", "").strip().upper()
    # A structure without a name was added for this paste, so it gets the first unknown name in the text.
    if not here and (named := next((name for name in by_structure if _row_called(typed, name) is None), "")):
        typed, here = {**typed, f"{at}/name": named}, named
    if here in by_structure and "" in by_structure:
        # Both belong to the structure of the box; two separate entries would produce two messages.
        by_structure[here] += by_structure.pop("")
    places, notes = [], []
    for structure, queues in by_structure.items():
        place = at if structure in ("", here) else _row_called(typed, structure)
        added = ""
        if place is None:
            new = _add(typed, "/structures", ())
            place = new.focus.removesuffix("/name")
            typed = {**new.typed, f"{place}/name": structure}
            added = ", a new structure named in the text"
        typed, updated = _joined(typed, place, queues, replace=replace and place == at)
        places.append(place)
        name = structure or here or "the structure"
        notes.append(
            f"{_queues_in_words(len(queues))} added to {name}{added}{_replaced_in_words(updated, len(queues))}."
        )
    return typed, tuple(places), notes


def _queues_in_words(number: int) -> str:
    return "1 queue was" if number == 1 else f"{number} queues were"


def _replaced_in_words(updated: int, number: int) -> str:
    """Return the number of added queues that replaced queues of the same name; empty for none."""
    if not updated:
        return ""
    queues = "an existing queue" if updated == 1 else "existing queues"
    return f", replacing {queues}" if updated == number else f"; {updated} of them replaced {queues}"


def _row_called(typed: Typed, name: str) -> str | None:
    """Return the place in the form of the structure with this name, or None."""
    for row in rows_of(typed)["/structures"]:
        if name and typed.get(f"/structures/{row}/name", "").strip().upper() == name:
            return f"/structures/{row}"
    return None


def _joined(typed: Typed, at: str, fresh: Sequence[JsonObject], *, replace: bool) -> tuple[Typed, int]:
    """Return the form with queues added to a structure, and the number of queues that were replaced."""
    existing: Sequence[JsonObject] = _Reader(typed).queues(at, at)
    by_name = (
        # Rows without a name use their number as key, so that they do not replace each other.
        {} if replace else {str(queue.get("name", number)): queue for number, queue in enumerate(existing)}
    )
    updated = sum(str(queue.get("name", "")) in by_name for queue in fresh)
    by_name.update({str(queue.get("name", "")): queue for queue in fresh})
    queues = list(by_name.values())
    is_text = f"{at}/queues" in typed or len(queues) > ROWS_IN_STRUCTURE
    return (_with_text(typed, at, queues) if is_text else _with_rows(typed, at, queues)), updated


def _remarks(pasted: PastedQueues, given: Mapping[str, object]) -> list[str]:
    """Return remarks about lines; queues that were omitted for the same reason share one remark."""
    answered = {kind for kind, key in (("size", "message_bytes"), ("backlog", "backlog")) if key in given}
    said = [problem for problem in pasted.problems if problem.kind not in answered]
    remarks = []
    for kind, words in _TOGETHER.items():
        called = [problem.queue for problem in said if problem.kind == kind]
        if len(called) > FEW:
            remarks.append(f"{len(called)} {words}: {', '.join(called[:FEW])} and {len(called) - FEW} more.")
            said = [problem for problem in said if problem.kind != kind]
    remarks += [f"Line {problem.line}: {problem.message}" for problem in said[:MOST_TOGETHER]]
    if len(said) > MOST_TOGETHER:
        remarks.append(f"And {len(said) - MOST_TOGETHER} more lines with remarks.")
    return remarks


def _with_defaults(queue: JsonObject, given: JsonObject) -> JsonObject:
    found = dict(queue)
    if "message_bytes" in given:
        found.setdefault("message_bytes", given["message_bytes"])
    if "backlog" in given and not {"put_rate_per_s", "outage_minutes"} & found.keys():
        found.setdefault("backlog", given["backlog"])
    return found
