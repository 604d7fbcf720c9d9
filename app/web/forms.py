"""Forms: declared fields with their texts, values and errors.

Every form of the application consists of these parts. In a form for a document, the name of a field is the JSON
pointer of its place in the document; `field_values` reads the texts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlencode

from fastapi import HTTPException, Request
from starlette.concurrency import run_in_threadpool

from app.web.field_values import Kind, text_of, value_of
from app.web.security.body import accept_document
from planner_core.document.types import bytes_of
from planner_core.errors import FieldProblem, SizeSyntax
from planner_core.typed_numbers import ambiguity, separator_problem

Options = tuple[tuple[str, str], ...]
URLENCODED = "application/x-www-form-urlencoded"
MOST_PARAMETERS = 60_000
MOST_FILES = 50
MOST_FIELDS = 200
DEEPEST = 8
"""Maximum number of slashes in the name of a field in a row."""
_ROW = re.compile(r"[0-9]{1,9}")
_COMMON_ESCAPES = tuple((f"%{ord(character):02X}", character) for character in "\":,{}[]()'/\r\n")
"""Escapes of posted forms that can be replaced in any order: the characters have no meaning in a form, and cannot become
part of another escape."""


@dataclass(frozen=True, slots=True)
class FormField:
    """A field: its declaration, the text in it, and its error."""

    name: str
    label: str
    kind: Kind = "text"
    value: str = ""
    error: str = ""
    _: KW_ONLY
    unit: str = ""
    hint: str = ""
    options: Options = ()
    required: bool = False
    place: str = ""
    """The path in the document that the field supplies, if it differs from the name."""
    current: str = ""
    """The value that applies while the field is empty."""
    slider: tuple[str, str, str, str] | None = None
    """Lowest, highest, step, and the position while the field is empty; a script adds the slider."""


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form by name, and errors that belong to no field."""

    fields: Mapping[str, FormField]
    errors: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> FormField:
        return self.fields[name]

    @property
    def wrong(self) -> tuple[FormField, ...]:
        """The fields with errors."""
        return tuple(field for field in self.fields.values() if field.error)

    @property
    def has_errors(self) -> bool:
        """Whether the form or one of its fields has an error."""
        return bool(self.errors or self.wrong)

    @property
    def query(self) -> str:
        """The query string of an address that fills in the form again."""
        return urlencode({name: field.value for name, field in self.fields.items()})


def filled(
    declared: Iterable[FormField],
    texts: Mapping[str, str],
    errors: Mapping[str, str] | None = None,
    *,
    at: str = "",
) -> tuple[FormField, ...]:
    """Return fields with their texts and errors.

    Args:
        declared: The fields; a field that is missing from the texts keeps its own.
        texts: Texts by name.
        errors: Errors by name.
        at: Prefix of the names.
    """
    wrong = errors or {}
    return tuple(
        replace(field, name=name, value=texts.get(name, field.value), error=wrong.get(name, field.error))
        for field in declared
        for name in (at + field.name,)
    )


# ---- posted forms -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PostedFile:
    """A file chosen in a form: the name of its field, its own name, and its content."""

    field: str
    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class PostedForm:
    """The texts and files of a posted form."""

    texts: tuple[tuple[str, str], ...] = ()
    files: tuple[PostedFile, ...] = ()

    def values(self, name: str) -> list[str]:
        """Return all texts of a field."""
        return [text for each, text in self.texts if each == name]

    def value(self, name: str, default: str = "") -> str:
        """Return the last text of a field."""
        return self.last.get(name, default)

    @property
    def last(self) -> Mapping[str, str]:
        """The last text of each field."""
        return dict(self.texts)

    @property
    def text(self) -> str:
        """The text of the chosen file, or else of the field `text`, with LF line ends."""
        chosen = next((each for each in self.files if each.field == "file"), None)
        text = chosen.data.decode("utf-8", errors="replace") if chosen else self.value("text")
        # Browsers send the line ends of text areas as CR LF.
        return text.replace("\r\n", "\n")


async def read_posted(
    request: Request,
    *,
    largest_bytes: int,
    most_files: int = MOST_FILES,
    most_fields: int = MOST_FIELDS,
    largest_file_bytes: int | None = None,
) -> PostedForm:
    """Read a posted form with its files.

    Args:
        request: The request.
        largest_bytes: Maximum length of the text of a field; a longer one is refused.
        most_files: Maximum number of files; a form with more is refused.
        most_fields: Maximum number of fields; a form with more is refused.
        largest_file_bytes: Maximum size of a file; one more byte is read, so that its reader can refuse it.
    """
    accept_document(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() == URLENCODED:
        # In a thread: decoding takes seconds for a form of the largest size, in one piece.
        body = await request.body()
        return PostedForm(tuple(await run_in_threadpool(read_pairs, body, most=most_fields)), ())
    texts, files = [], []
    async with request.form(
        max_files=most_files, max_fields=most_fields, max_part_size=largest_bytes
    ) as form:
        for name, value in form.multi_items():
            if isinstance(value, str):
                texts.append((name, value))
            # Browsers send an empty part without a name for a file field in which no file was chosen.
            elif value.filename:
                data = await value.read(-1 if largest_file_bytes is None else largest_file_bytes + 1)
                files.append(PostedFile(name, value.filename, data))
    return PostedForm(tuple(texts), tuple(files))


# ---- texts and values -----------------------------------------------------------------------------------------------


def read_pairs(body: bytes, *, most: int = MOST_PARAMETERS) -> list[tuple[str, str]]:
    """Return the parameters of a posted form.

    Raises:
        HTTPException: There are too many parameters, or they are not valid text.
    """
    try:
        text = body.decode("utf-8")
        # In the text of a document almost every escape is one of these. Replacing each of them in the whole text is a
        # quarter of the work of reading one escape after the other.
        for escape, character in _COMMON_ESCAPES:
            text = text.replace(escape, character)
        return parse_qsl(text, keep_blank_values=True, max_num_fields=most, errors="strict")
    except (UnicodeDecodeError, ValueError):
        raise HTTPException(status_code=422, detail="The form cannot be read.") from None


def texts_of(declared: Iterable[FormField], values: Mapping[str, Any], *, at: str = "") -> dict[str, str]:
    """Return the texts of an object's values by field name."""
    texts = {}
    for field in declared:
        value: Any = values
        for part in (field.place or field.name).split("/"):
            value = value.get(part) if isinstance(value, Mapping) else None
        texts[at + field.name] = text_of(field.kind, value)
    return texts


def values_of(declared: Iterable[FormField], texts: Mapping[str, str], *, at: str = "") -> dict[str, Any]:
    """Return the object that texts describe, without empty fields; checkboxes are always included."""
    found: dict[str, Any] = {}
    for field in declared:
        text = texts.get(at + field.name, "").strip()
        if text or field.kind == "yes":
            # A slash in a place denotes a nested object, as in scm/max_size.
            *path, last = (field.place or field.name).split("/")
            target = found
            for part in path:
                target = target.setdefault(part, {})
            target[last] = value_of(field.kind, text)
    return found


_UNREADABLE: Mapping[Kind, str] = {
    "whole": "Enter a whole number of at most 24 digits.",
    "decimal": "Enter a number with a point before the decimals.",
    "bytes": "Enter a number of bytes, or a size such as 1K or 63K.",
    "managers": "Enter a number, or names with blanks between them.",
}

_EMPTY: Mapping[Kind, str] = {
    "name": "Enter a name.",
    "text": "Enter a name.",
    "managers": _UNREADABLE["managers"],
}


def read_fields(fields: Iterable[FormField]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of fields, None for empty ones, and the errors by name.

    Unreadable texts and negative numbers are errors here, unlike in documents, which the core checks. A message size is
    one size: the calculator has no distributions.
    """
    values: dict[str, Any] = {}
    errors = {}
    for field in fields:
        text = field.value.strip()
        value: Any = value_of(field.kind, text) if text else None
        if field.kind == "bytes" and value is not None:
            value = _one_size(value)
        values[field.name] = value
        if not text and field.required:
            errors[field.name] = _EMPTY.get(field.kind, "Enter a number.")
        elif value is not None and _is_unreadable(field.kind, value):
            problem = (
                separator_problem(text)
                if field.kind in ("decimal", "bytes")
                else ambiguity(text, is_whole=True)
            )
            errors[field.name] = sentence(problem) or _UNREADABLE[field.kind]
    return values, errors


def _one_size(text: str) -> int | str:
    """Return the bytes of one size, or the text itself if it is not one."""
    try:
        return bytes_of(text)
    except SizeSyntax:
        return text


def _is_unreadable(kind: Kind, value: object) -> bool:
    return kind in _UNREADABLE and (
        isinstance(value, str) or (isinstance(value, int | Decimal) and value < 0)
    )


def rows_of(texts: Mapping[str, str]) -> defaultdict[str, list[int]]:
    """Return the row numbers of each list in a form whose field names are JSON pointers."""
    # Rows keep their numbers when others are removed, so the numbers may have gaps.
    found: defaultdict[str, set[int]] = defaultdict(set)
    seen: set[str] = set()
    for name in texts:
        # Names are sent by the client, and the pointers within a long one would take its length squared.
        if name.count("/") > DEEPEST:
            continue
        at = name
        # The fields of a row share its pointer, which is taken apart only once.
        while at and at not in seen:
            seen.add(at)
            outer, _, part = at.rpartition("/")
            if _ROW.fullmatch(part):
                found[outer].add(int(part))
            at = outer
    return defaultdict(list, {at: sorted(numbers) for at, numbers in found.items()})


# ---- errors -----------------------------------------------------------------------------------------------------------


def pointers_up(pointer: str) -> Iterator[str]:
    """Yield a JSON pointer and the pointers of the values that contain it, the innermost first."""
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]


def places_of(declared: Iterable[FormField], at: str, *, of: str = "") -> dict[str, str]:
    """Return the names of fields by the pointers that they supply.

    Args:
        declared: The fields.
        at: Pointer of the object they belong to.
        of: Prefix of the names.
    """
    return {f"{at}/{field.place or field.name}": of + field.name for field in declared}


def field_at(pointer: str | None, places: Mapping[str, str]) -> str:
    """Return the field that supplied a place of a document, or an empty text.

    Args:
        pointer: The pointer of the place.
        places: Names of fields by the pointers they supply.
    """
    return next((places[at] for at in pointers_up(pointer or "") if at in places), "")


def sort_errors(
    problems: Iterable[FieldProblem], field_of: Callable[[str], str]
) -> tuple[dict[str, list[FieldProblem]], list[FieldProblem]]:
    """Return problems by field name, and those that belong to no field."""
    found: dict[str, list[FieldProblem]] = {}
    general = []
    for problem in problems:
        if name := field_of(problem.field):
            found.setdefault(name, []).append(problem)
        else:
            general.append(problem)
    return found, general


def sentence(message: str) -> str:
    """Return an error of the core as a sentence below a field."""
    if message.startswith(
        ("is ", "may ")
    ):  # the core's message continues the name of the field, which the label shows
        message = f"This {message}"
    message = message[:1].upper() + message[1:]
    return message if not message or message.endswith((".", "?", "!")) else f"{message}."


def to_fix(errors: int) -> str:
    """Return the sentence that replaces a result while a form has errors."""
    if not errors:
        return "Correct the plan to see a result."
    return "Fix one field to see a result." if errors == 1 else f"Fix {errors} fields to see a result."
