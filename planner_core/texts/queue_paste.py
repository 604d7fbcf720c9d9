"""Read queues from a spreadsheet, DISPLAY QLOCAL output, or a plan file.

Each kind becomes queue entries of the plan document, as far as possible. Missing values are
reported with their lines; nothing is guessed silently, and a line with an unreadable value is not turned into a queue,
so that it can be corrected in the text.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from planner_core import names
from planner_core.document.reading import parse_json
from planner_core.document.types import bytes_of
from planner_core.errors import DocumentInvalid, NameSyntax, SizeSyntax
from planner_core.inputs import squeezed
from planner_core.limits import limit
from planner_core.texts.csv_rows import SHOWN
from planner_core.typed_numbers import LONGEST_WHOLE, ambiguity, decimal, separator_problem, size_text, whole

Kind = Literal["table", "display", "plan"]
ProblemKind = Literal["lost", "apart", "twice", "columns", "heading", "size", "backlog"]
"""`lost`: the lines gave no queue and must be corrected. `apart`: left out, because the queue is not a shared queue of a
plan. `twice`: left out, because it repeats an earlier line. `columns`: unknown columns, left out. `heading`: missing, so
the columns are assumed. `size`, `backlog`: the queue is used, but the text does not state this value."""

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
    "selector_reads": ("selectorreads", "selectors", "byselector"),
    "isolation": ("isolation", "label", "keepapart"),
    "structure": ("structure", "cfstruct"),
    "maxdepth": (),
    "curdepth": (),
    "qdepthhi": ("qdepthhi",),
    "qdepthlo": ("qdepthlo",),
    "qdphiev": ("qdphiev",),
    "qdploev": ("qdploev",),
    "qdpmaxev": ("qdpmaxev",),
    "qsvciev": ("qsvciev",),
    "share": ("share", "shareable"),
    "default_share_option": ("defaultshareoption", "defsopt"),
    "index_type": ("indextype", "indxtype"),
    "max_message_length": ("maxmessagelength", "maxmsgl"),
    "backout_threshold": ("backoutthreshold", "bothresh"),
    "backout_queue": ("backoutqueue", "boqname"),
    "get_rate_per_s": ("getratepers", "getrate"),
    "queue_manager_rates": ("queuemanagerrates",),
}
_BACKLOG_OR_OWN = ("maxdepth", "curdepth")
"""Columns that hold the backlog if the table has no other backlog column, otherwise an attribute."""
_WORDS = ("qdphiev", "qdploev", "qdpmaxev", "qsvciev", "default_share_option", "index_type")
_FIELD_OF = {heading: field for field, headings in _HEADINGS.items() for heading in headings}
_COLUMN_ORDER = ("name", "message_bytes", "backlog", "persistent")
_YES_OR_NO = ("persistent", "selector_reads", "share")
_IN_BYTES = ("message_bytes", "p95", "max", "max_message_length")
_WHOLE_NUMBERS = frozenset({*_IN_BYTES, "backlog", "maxdepth", "curdepth", "backout_threshold"})
_QUEUE_KEYS = frozenset(_HEADINGS) - {"p95", "max", "structure"}
_RATE_KEYS = frozenset({"put_rate_per_s", "get_rate_per_s"})
_SIZE_KEYS = frozenset({"mean", "p95", "max"})
_AS_TEXT = "'"
"""A quote to put before a cell that a spreadsheet would treat as a formula."""
_FORMULA = ("=", "+", "-", "@")
_YES, _NO = {"yes", "y", "true", "1", "x"}, {"no", "n", "false", "0", ""}
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9]{1,11})\(")
_MARK_IN_VALUE = re.compile(r"['()]")
_BRACKET = re.compile(r"[()]")
_SHARE = re.compile(r"(?<![^ \t])(?:NO)?SHARE(?![^ \t])")
_MESSAGE = re.compile(r"\b(?:CSQM4\d\dI|CSQM2\d\dI|AMQ8409I?:)")
_BEGINS = re.compile(r"\bQ(?:UEUE|LOCAL)\(", re.IGNORECASE)
_PLAN_KEYS = frozenset({"structures", "queues", "qsg", "message_bytes"})
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LARGEST_LINE = 20_000
_MOST_ROWS = 40_000
"""The maximum number of rows, more than a plan can hold: 63 application structures with 512 queues each have 32,256."""
_MOST_LOST = 1_000
"""The number of lines without a queue after which reading stops, because such a text is not a table of queues."""
_MOST_NAMED = 20
"""The maximum number of columns that one sentence names."""
_MAXDEPTH_NOTHING_SAID = limit("largest_maxdepth")
_DISPLAYED_NUMBERS = {
    "maxdepth": _MAXDEPTH_NOTHING_SAID,
    "qdepthhi": 100,
    "qdepthlo": 100,
    "curdepth": _MAXDEPTH_NOTHING_SAID,
}
_SWITCH = ("ENABLED", "DISABLED")
_DISPLAYED_WORDS = {
    "qdphiev": _SWITCH,
    "qdploev": _SWITCH,
    "qdpmaxev": _SWITCH,
    "qsvciev": ("NONE", "OK", "HIGH"),
}


@dataclass(frozen=True, slots=True)
class PasteProblem:
    """The reason why a line (from 1), or the lines up to `last`, gave no queue or an incomplete one."""

    line: int
    message: str
    kind: ProblemKind = "lost"
    last: int = 0
    queue: str = ""

    @property
    def lines(self) -> range:
        """Return the lines that the problem concerns."""
        return range(self.line, max(self.line, self.last) + 1)


@dataclass(frozen=True, slots=True)
class PastedQueues:
    """Queue entries of a plan document, the kind of their text, and problems.

    `structures` and `lines` give the structure that the text names for each queue (empty if it names none), and its
    line.
    """

    queues: tuple[dict[str, object], ...]
    kind: Kind
    problems: tuple[PasteProblem, ...]
    structures: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()

    @property
    def lost(self) -> tuple[PasteProblem, ...]:
        """Return the lines that gave no queue and must be corrected."""
        return tuple(problem for problem in self.problems if problem.kind == "lost")


@dataclass(frozen=True, slots=True)
class _PastedQueue:
    """A queue, its lines, and the structure that the text names."""

    line: int
    queue: dict[str, object]
    structure: str = ""


def field_of_heading(heading: str) -> str | None:
    """Return the field that a column of this heading holds; None for an unknown heading."""
    return _FIELD_OF.get(squeezed(heading))


def table_fields() -> tuple[str, ...]:
    """Return the fields that a table of queues can have, in the order of the documentation."""
    return tuple(_HEADINGS)


def detect(text: str) -> Kind:
    """Return the kind of a text, judged by its form."""
    if text.lstrip()[:1] in ("{", "["):
        return "plan"
    begins = _BEGINS.search(text)
    if _MESSAGE.search(text) or (begins and text.find(")", begins.end()) >= 0):
        return "display"
    return "plan" if any(map(_is_plan_key, text.splitlines())) else "table"


def _is_plan_key(line: str) -> bool:
    """Return whether a line begins with a key of a plan document, in a list or not."""
    key, colon, _ = line.partition(":")
    words = key.split()
    if words[:1] == ["-"]:
        del words[0]
    return bool(colon) and len(words) == 1 and words[0] in _PLAN_KEYS


def read_queues(
    text: str, *, kind: Kind | None = None, parse: Callable[[str], object] = parse_json
) -> PastedQueues:
    """Read queues from a text.

    Args:
        text: The pasted text.
        kind: Its kind; None to detect automatically.
        parse: A function that reads the text of a plan; it raises DocumentInvalid if it cannot.

    Returns:
        The queues in the order of the text, and the problems of lines that gave no queue or an incomplete one. A plan
        gives all its queues or none.
    """
    used = kind or detect(text)
    problems: list[PasteProblem] = []
    if used == "display":
        found = _from_display(text, problems)
    elif used == "plan":
        found = _from_plan(text, parse, problems)
    else:
        found = _from_table(text, problems)
    return PastedQueues(
        tuple(each.queue for each in found),
        used,
        tuple(problems),
        tuple(each.structure for each in found),
        tuple(each.line for each in found),
    )


def _from_table(text: str, problems: list[PasteProblem]) -> list[_PastedQueue]:
    found: dict[str, _PastedQueue] = {}
    columns: tuple[str | None, ...] | None = None
    doubled: set[str] = set()
    lost = 0
    for number, (line, cells) in enumerate(_rows(text, problems)):
        if number > _MOST_ROWS:
            _stop(line, text, problems)
            break
        if columns is None:
            if problems:  # without its heading, the rest cannot be interpreted
                problems[:] = [
                    PasteProblem(problems[0].line, problems[0].message, last=len(text.splitlines()))
                ]
                return []
            columns = _columns(line, cells, problems)
            if columns is not None:
                continue
            columns = _COLUMN_ORDER
            words = (
                f"The first line has no column 'name', so the columns are assumed to be {', '.join(columns)}."
            )
            problems.append(PasteProblem(line, words, "heading"))
        each = _from_cells(line, cells, columns, problems)
        lost += each is None
        if lost > _MOST_LOST:
            words = f"More than {_MOST_LOST} lines contain no queue, so no further lines were read. Correct these lines, and paste the text again."
            problems.append(PasteProblem(line, words, last=len(text.splitlines())))
            break
        if each is None:
            continue
        name = str(each.queue["name"])
        before = found.setdefault(name, each)
        if before is not each and (before.queue, before.structure) == (each.queue, each.structure):
            words = f"Queue {name} is already on line {before.line} with the same values."
            problems.append(PasteProblem(line, words, "twice", queue=name))
        elif before is not each:
            words = f"Queue {name} appears twice, with different values on line {{}}."
            problems.append(PasteProblem(line, words.format(before.line), queue=name))
            if name not in doubled:
                problems.append(PasteProblem(before.line, words.format(line), queue=name))
            # Nothing shows which of the two lines is right, so neither is used.
            doubled.add(name)
    return [each for name, each in found.items() if name not in doubled]


def _stop(line: int, text: str, problems: list[PasteProblem]) -> None:
    """Report that reading stops at a line."""
    words = f"Only the first {_MOST_ROWS} queues are read; paste the rest separately."
    problems.append(PasteProblem(line, words, last=len(text.splitlines())))


def _columns(line: int, cells: list[str], problems: list[PasteProblem]) -> tuple[str | None, ...] | None:
    """Return the meaning of each column of a heading; None if the line is not a heading."""
    plain = [squeezed(cell) for cell in cells]
    found = [_FIELD_OF.get(cell) for cell in plain]
    if {"put_rate_per_s", "outage_minutes"} <= set(found) or any(
        field == "backlog" and cell not in _BACKLOG_OR_OWN for cell, field in zip(plain, found, strict=True)
    ):
        found = [cell if cell in _BACKLOG_OR_OWN else field for cell, field in zip(plain, found, strict=True)]
    if "name" not in found:
        return None
    used: set[str] = set()
    columns: list[str | None] = []
    doubled: list[str] = []
    for cell, field in zip(cells, found, strict=True):
        columns.append(None if field in used else field)
        if field in used:
            doubled.append(cell)
        elif field is not None:
            used.add(field)
    if doubled:
        words = f"Some columns have the same meaning, so only the first of each is used. Ignored: {_some(doubled)}."
        problems.append(PasteProblem(line, words, "columns"))
    unknown = [cell for cell, field in zip(cells, found, strict=True) if field is None and cell]
    if unknown:
        words = f"Unknown columns are left out: {_some(unknown)}."
        problems.append(PasteProblem(line, words, "columns"))
    return tuple(columns)


def _some(words: list[str]) -> str:
    """Return the first words, and the number of remaining ones."""
    more = len(words) - _MOST_NAMED
    return ", ".join(words[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _rows(text: str, problems: list[PasteProblem]) -> Iterator[tuple[int, list[str]]]:
    """Yield non-blank lines, split into cells at tabs, semicolons or commas, whichever the first line uses."""
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    # Tabs and semicolons first: with them, a comma is part of a number.
    delimiter = next((mark for mark in "\t;," if mark in first), ",")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if len(line) > _LARGEST_LINE:
            problems.append(PasteProblem(number, "The line is too long to be a row of a table."))
            continue
        try:
            # Line by line, so that a quote that is not closed damages only its own line.
            cells = next(csv.reader(io.StringIO(line), delimiter=delimiter, strict=True))
        except (csv.Error, StopIteration):
            problems.append(
                PasteProblem(number, "The line cannot be split into cells: a quote is not closed.")
            )
            continue
        yield number, [cell.strip() for cell in cells]


def _from_cells(
    line: int, cells: list[str], columns: tuple[str | None, ...], problems: list[PasteProblem]
) -> _PastedQueue | None:
    if len(cells) > len(columns) and any(cells[len(columns) :]):
        words = f"The line has {len(cells)} cells, but there are {len(columns)} columns."
        problems.append(PasteProblem(line, words))
        return None
    given = {field: cell for field, cell in zip(columns, cells, strict=False) if field and cell}
    name, structure = given.pop("name", ""), given.pop("structure", "")
    wrong: list[str] = []
    for check, value in ((names.queue, name), (names.cfstruct, structure.upper())):
        try:
            if value or check is names.queue:
                check(value)
        except NameSyntax as error:
            wrong.append(str(error))
    queue: dict[str, object] = {"name": name}
    # The mean of a distribution may have decimals; a single size is a whole number.
    wholes = _WHOLE_NUMBERS - ({"message_bytes"} if {"p95", "max"} & given.keys() else set())
    for field, cell in given.items():
        read = _value(field, cell, is_whole=field in wholes)
        if read is None:
            wrong.append(f"{name}: {cell[:SHOWN]!r} {_unreadable(field, cell, is_whole=field in wholes)}.")
        else:
            queue[field] = read
    if not wrong and {"p95", "max"} & queue.keys() and not {"message_bytes", "p95", "max"} <= queue.keys():
        wrong.append(f"{name}: a distribution needs mean, p95 and max.")
    if wrong:
        problems.append(PasteProblem(line, " ".join(wrong), queue=name))
        return None
    if "p95" in queue:
        sizes = {"mean": queue["message_bytes"], "p95": queue.pop("p95"), "max": queue.pop("max")}
        queue["message_bytes"] = sizes
    problems += _incomplete(line, queue)
    return _PastedQueue(line, queue, structure.upper())


def _unreadable(field: str, cell: str, *, is_whole: bool) -> str:
    """Return the error of a cell that is not a value of this column."""
    if field in _YES_OR_NO:
        return "is neither yes nor no"
    problem = separator_problem(cell, is_whole=is_whole)
    return f"({field}) {problem}" if problem else f"is not a number ({field})"


def _incomplete(line: int, queue: Mapping[str, object]) -> Iterator[PasteProblem]:
    """Yield the values that a queue of a plan needs and that the text does not state."""
    name = str(queue.get("name", ""))
    if "message_bytes" not in queue:
        yield PasteProblem(line, f"{name}: no message size is specified.", "size", queue=name)
    if "backlog" not in queue and not {"put_rate_per_s", "outage_minutes"} <= queue.keys():
        words = f"{name}: neither a backlog nor a rate with an outage is specified."
        yield PasteProblem(line, words, "backlog", queue=name)


def _value(field: str, cell: str, *, is_whole: bool) -> object:
    """Return the value of a cell; None if it cannot be read."""
    if field in _YES_OR_NO:
        word = cell.lower()
        return word in _YES if word in _YES | _NO else None
    if field == "isolation":
        return cell[1:] if cell.startswith(_AS_TEXT) and cell[1:].startswith(_FORMULA) else cell
    if field in _WORDS:
        return cell.upper()
    if field == "backout_queue":
        return cell
    if field == "queue_manager_rates":
        return _rates(cell)
    number = _number(cell, is_whole=is_whole)
    if number is None and field in _IN_BYTES and not ambiguity(cell):
        try:
            # The limit of a message is not checked here: the document reports it at the queue.
            return bytes_of(size_text(cell))
        except SizeSyntax:
            return None
    return number


def _rates(cell: str) -> object:
    """Return puts and gets per second by queue manager, from `QM01:30/12 QM02:10/0`; None for other text."""
    found: dict[str, object] = {}
    for part in cell.upper().split():
        name, _, both = part.partition(":")
        puts, _, gets = both.partition("/")
        numbers = _number(puts), _number(gets)
        if not name or None in numbers:
            return None
        found[name] = {"put_rate_per_s": numbers[0], "get_rate_per_s": numbers[1]}
    return found


def _number(cell: str, *, is_whole: bool = False) -> int | Decimal | None:
    """Return a number as spreadsheets write it: `200000`, `200 000`, `0.25`, `0,25`; None for other text."""
    count = whole(cell) if is_whole or cell.isdigit() else None
    value = decimal(cell, in_table=True) if count is None else count
    if value is None or value < 0:
        return None
    return int(value) if value == int(value) else value


def _from_display(text: str, problems: list[PasteProblem]) -> list[_PastedQueue]:
    """Read shared queues and their attributes from DISPLAY QLOCAL(*) ALL.

    A definition shows persistence and limits, but no message sizes: MAXMSGL is the largest
    allowed size, CURDEPTH the current depth. Neither is proposed; the planner enters the size.
    """
    found: list[_PastedQueue] = []
    seen: dict[str, int] = {}
    blocks = 0
    for line, last, attributes in _displayed(text, problems):
        blocks += 1
        if blocks > _MOST_ROWS:
            _stop(line, text, problems)
            break
        name = attributes.get("QUEUE") or attributes.get("QLOCAL") or ""
        if "*" in name:  # the command itself
            continue
        if apart := _apart(attributes):
            problems.append(PasteProblem(line, f"{name} {apart}; it is left out.", "apart", last, name))
            continue
        structure = attributes.get("CFSTRUCT", "").upper()
        try:
            names.queue(name)
            if structure:
                names.cfstruct(structure)
        except NameSyntax as error:
            problems.append(PasteProblem(line, str(error), "lost", last, name))
            continue
        if name in seen:
            words = f"Queue {name} already appears on line {seen[name]}, which is used."
            problems.append(PasteProblem(line, words, "twice", last, name))
            continue
        seen[name] = line
        queue: dict[str, object] = {"name": name}
        if attributes.get("DEFPSIST", "").upper() in {"YES", "NO"}:
            queue["persistent"] = attributes["DEFPSIST"].upper() == "YES"
        depth = _whole(attributes.get("MAXDEPTH", ""))
        # MAXDEPTH(999999999) is the largest value, so it limits nothing.
        if depth is not None and depth < _MAXDEPTH_NOTHING_SAID:
            queue["backlog"] = depth
        else:
            words = f"{name}: MAXDEPTH does not limit the queue: enter its backlog."
            problems.append(PasteProblem(line, words, "backlog", last, name))
        queue.update(_depth_attributes(attributes))
        queue.update(attributes_of_use(attributes))
        words = f"{name}: a definition does not show message sizes: enter the size."
        problems.append(PasteProblem(line, words, "size", last, name))
        found.append(_PastedQueue(line, queue, structure))
    if not blocks and not problems:
        last = len(text.splitlines())
        problems.append(PasteProblem(1, "The text contains no display of a queue.", "lost", last))
    return found


def _depth_attributes(attributes: Mapping[str, str]) -> Iterator[tuple[str, object]]:
    """Yield the depth event attributes of a definition that can be read."""
    for key, highest in _DISPLAYED_NUMBERS.items():
        number = _whole(attributes.get(key.upper(), ""))
        if number is not None and number <= highest:
            yield key, number
    for key, words in _DISPLAYED_WORDS.items():
        if (word := attributes.get(key.upper(), "").strip().upper()) in words:
            yield key, word


def _whole(value: str) -> int | None:
    """Return a whole number as MQ displays it; None for other text."""
    text = value.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_WHOLE else None


def attributes_of_use(attributes: Mapping[str, str]) -> dict[str, object]:
    """Return the plan's keys for the use of a queue, as far as its definition differs from the defaults of a plan.

    Args:
        attributes: By MQSC keyword; SHARE is YES or NO.
    """
    found: dict[str, object] = {}
    shares = attributes.get("SHARE", "YES") != "NO"
    if not shares:
        found["share"] = False
    option = attributes.get("DEFSOPT", "").strip().upper()
    if option in ("SHARED", "EXCL") and option != ("SHARED" if shares else "EXCL"):
        found["default_share_option"] = option
    index = attributes.get("INDXTYPE", "").strip().upper()
    if index in ("MSGID", "CORRELID", "GROUPID"):
        found["index_type"] = index
    length = _whole(attributes.get("MAXMSGL", ""))
    is_known = length is not None and length <= limit("largest_message_bytes")
    if is_known and length != limit("default_maxmsgl_bytes"):
        found["max_message_length"] = length
    threshold = _whole(attributes.get("BOTHRESH", ""))
    if threshold and threshold <= _MAXDEPTH_NOTHING_SAID:
        found["backout_threshold"] = threshold
    backout = attributes.get("BOQNAME", "").strip()
    try:
        if backout:
            found["backout_queue"] = names.queue(backout)
    except NameSyntax:
        pass  # a name that no queue can have, so it is not used
    return found


def _apart(attributes: Mapping[str, str]) -> str:
    """Return the reason why a displayed queue does not belong in a plan; empty if it may."""
    kind, disposition = attributes.get("TYPE", "").upper(), attributes.get("QSGDISP", "").upper()
    if kind not in ("", "QLOCAL"):
        return f"is not a local queue (TYPE({kind[:12]}))"
    if disposition not in ("", "SHARED"):
        return f"is not a shared queue (QSGDISP({disposition[:12]}))"
    structure = attributes.get("CFSTRUCT", "").upper()
    if structure in (names.ADMIN_STRUCTURE, names.SYSTEM_STRUCTURE):
        return f"is on {structure}, which is planned without its queues"
    return ""


def _displayed(text: str, problems: list[PasteProblem]) -> Iterator[tuple[int, int, dict[str, str]]]:
    """Yield the attributes of each displayed queue, with its first and last line."""
    current: dict[str, str] = {}
    began, number = 1, 0
    for number, line in enumerate(text.splitlines(), start=1):
        rest: list[str] = []
        read_to = 0
        for start, end, key, value in _attributes(line):
            rest.append(line[read_to:start])
            read_to = end
            if key in {"QUEUE", "QLOCAL"} and "(" not in value:
                if current:
                    yield began, max(began, number - 1), current
                current, began = {}, number
            quoted = value.startswith("'") and value.endswith("'") and len(value) > 1
            current.setdefault(key, value[1:-1].replace("''", "'") if quoted else value)
        rest.append(line[read_to:])
        between = "".join(rest)
        if word := _SHARE.search(between):
            current.setdefault("SHARE", "NO" if word[0] == "NOSHARE" else "YES")
        if _BEGINS.search(between):
            problems.append(
                PasteProblem(number, "The name of a queue is truncated: its parenthesis is not closed.")
            )
    if current:
        yield began, number, current


def _attributes(line: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield each KEYWORD(value) of a line: its start and end, the keyword and the value.

    A value may contain quoted text, and parentheses one level deep. Each character is read a limited number of times,
    even if many parentheses and quotes are not closed.
    """
    dead: set[int] = set()
    at = 0
    while key := _KEY.search(line, at):
        end = _value_end(line, key.end(), dead)
        if end < 0:
            at = key.end()
            continue
        yield key.start(), end + 1, key.group(1).upper(), line[key.end() : end].strip()
        at = end + 1


def _value_end(line: str, at: int, dead: set[int]) -> int:
    """Return the position of the parenthesis that closes a value; -1 if there is none.

    `dead` collects the positions after which no closing parenthesis is found, so that none is tried twice.
    """
    passed: list[int] = []
    while (mark := _MARK_IN_VALUE.search(line, at)) and mark.start() not in dead:
        place = mark.start()
        if mark.group() == ")":
            return place
        passed.append(place)
        if mark.group() == "'":
            closing = line.find("'", place + 1)
        else:
            bracket = _BRACKET.search(line, place + 1)
            closing = bracket.start() if bracket and bracket.group() == ")" else -1
        if closing < 0:
            break
        at = closing + 1
    dead.update(passed)
    return -1


def _from_plan(text: str, parse: Callable[[str], object], problems: list[PasteProblem]) -> list[_PastedQueue]:
    """Return all queues of a plan document, a structure or a list; none if one of them cannot be read."""
    last = len(text.splitlines())
    found: list[_PastedQueue] = []
    try:
        parsed = parse(text)
        for structure, queues in _lists_in(parsed):
            found += [_PastedQueue(1, _checked(queue), structure) for queue in queues]
    except DocumentInvalid as error:
        problems.append(PasteProblem(1, str(error.problems[0].message), "lost", last))
        return []
    except _NoQueues as error:
        problems.append(PasteProblem(1, str(error), "lost", last))
        return []
    called = [str(each.queue.get("name", "")) for each in found]
    # A parsed plan has no lines to correct, so it gives all its queues or none.
    if len(set(called)) < len(called):
        doubled = next(name for name, count in Counter(called).items() if count > 1)
        problems.append(PasteProblem(1, f"Queue {doubled!r} appears twice.", "lost", last))
        return []
    if not found:
        problems.append(PasteProblem(1, "The text contains no queues of a plan document.", "lost", last))
    for each in found:
        problems += _incomplete(1, each.queue)
    return found


class _NoQueues(Exception):
    """A text with a queue that cannot be read."""


def _lists_in(parsed: object) -> Iterator[tuple[str, list[object]]]:
    """Yield the lists of queues, each with the name of its structure."""
    if isinstance(parsed, list):
        holders: list[object] = [{"queues": parsed}]
        if all(isinstance(item, dict) and "queues" in item for item in parsed):
            holders = parsed
    elif isinstance(parsed, dict) and "structures" in parsed:
        holders = parsed["structures"] if isinstance(parsed["structures"], list) else [None]
    else:
        holders = [parsed]
    for holder in holders:
        if not isinstance(holder, dict) or not isinstance(holder.get("queues", []), list):
            msg = "The text is not a plan document, which has structures, each with a name and a list of queues."
            raise _NoQueues(msg)
        name = holder.get("name", "")
        try:
            if name:
                names.cfstruct(name if isinstance(name, str) else "")
        except NameSyntax as error:
            raise _NoQueues(str(error)) from None
        yield str(name), holder.get("queues", [])


def _checked(queue: object) -> dict[str, object]:
    """Return a queue of a plan document if a form can show all of it; the form checks its values."""
    if not isinstance(queue, dict):
        msg = f"A queue must be an object with a name, not {str(queue)[:40]!r}."
        raise _NoQueues(msg)
    name = str(queue.get("name", ""))[:48]
    for key, value in queue.items():
        # A form cannot show other keys, and leaving one out would change the plan without notice.
        if key not in _QUEUE_KEYS:
            msg = f"{name}: a queue has no {str(key)[:40]!r}."
            raise _NoQueues(msg)
        if key in _YES_OR_NO and not isinstance(value, bool):
            msg = f"{name}: {key} is neither true nor false."
            raise _NoQueues(msg)
        is_sizes = key == "message_bytes" and isinstance(value, dict)
        if is_sizes and value.keys() != _SIZE_KEYS:
            msg = f"{name}: a distribution needs mean, p95 and max."
            raise _NoQueues(msg)
        if key == "queue_manager_rates" and not _are_rates(value):
            msg = f"{name}: {key} cannot be read."
            raise _NoQueues(msg)
        if key == "queue_manager_rates":
            continue
        for part in value.values() if is_sizes else (value,):
            if not _fits_a_field(part):
                msg = f"{name}: {key} cannot be read."
                raise _NoQueues(msg)
    return {key: value for key, value in queue.items() if value is not None}


def _are_rates(value: object) -> bool:
    """Return whether these are rates by queue manager that a form can show."""
    if value is None:
        return True
    return isinstance(value, dict) and all(
        isinstance(rates, dict)
        and rates.keys() <= _RATE_KEYS
        and all(not isinstance(rate, str | bool) and _fits_a_field(rate) for rate in rates.values())
        for rates in value.values()
    )


def _fits_a_field(value: object) -> bool:
    if isinstance(value, str):
        return not _CONTROL.search(value)
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        # 1E999999 is short, but has a million digits when it is written out.
        return len(str(value)) <= LONGEST_WHOLE and abs(Decimal(str(value)).adjusted()) <= LONGEST_WHOLE
    return value is None or isinstance(value, bool)
