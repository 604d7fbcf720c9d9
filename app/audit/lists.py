"""The list of the audit trail, for its own page and for the history of a plan."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any, Final, TypeGuard
from urllib.parse import quote

from app.audit.service import Entry
from app.paging import ListRequest, PageRequest, ResultPage, Sort
from app.web.tables import Column, ListTable, ListView, TableCell
from planner_core.document.problems import pointer_steps

PATH = "/audit"
_NOTHING = "\N{EN DASH}"
_LABELS: Final = {
    "sentence": "",
    "sha256": "SHA-256",
    "qsg": "group",
    "cfcc_level": "CFCC level",
    "trigger": "started by",
}
"""Names of details that are not their keys."""
_COUNTED: Final = {
    "size_bytes": "byte",
    "characters": "character",
    "structures": "structure",
    "points": "point",
    "changes": "change",
}
"""Details that are counts, and the nouns that follow the number."""
_SHOWN_OF_A_DIGEST: Final = 12
"""Digits that identify a file in a list; the export and the page of the upload have all of them."""
_METHODS: Final = {
    "accounts": "with a password",
    "oidc": "through OpenID Connect",
}
_FLAGS: Final = {
    "has_password": ("has a password", "has no password"),
    "must_change_password": ("must choose another password at the next sign-in", ""),
    "is_disabled": ("the user is disabled", ""),
    "is_known": ("the file was stored already", "the file is new"),
}
"""Details that are true or false, as a reader would say them; empty if the ordinary case needs no words."""
_LISTS: Final = ("fields", "first")
"""Details that are lists of objects."""
_WORDS: Final = frozenset(("", "yes", "no", "none", _NOTHING))
"""Texts that the line uses itself, for an empty text and for values that are no texts."""
_SEPARATORS: Final = re.compile('[;\N{RIGHTWARDS ARROW}"]')
_SEPARATORS_OF_LISTS: Final = re.compile('[;\N{RIGHTWARDS ARROW}",()]')
MOST_SHOWN = 8
"""Changed fields in a row; the export has all that were stored."""
PLACES: Final[dict[str, Callable[[str], str]]] = {}
"""For each action, the function that names a place in its document with the labels of the form.

An entry stores JSON pointers, which programs read. The trail knows no feature, so the pages of all features, which
are put together in one place, add these functions.
"""


def _who(entry: Entry) -> TableCell:
    is_clear = entry.actor_kind in ("user", entry.actor)
    return TableCell(value=entry.actor, note="" if is_clear else entry.actor_kind)


def _what(entry: Entry) -> TableCell:
    return TableCell(value=entry.action, text=entry.words)


def _object(entry: Entry) -> TableCell:
    note = "" if entry.version is None else f"version {entry.version}"
    href = ""
    if entry.object_kind == "plan":
        href = f"/plans/{quote(entry.object_name)}"
    elif entry.object_kind == "fitted curve":
        href = f"/curves/{entry.object_id}"
    return TableCell(value=entry.object_name, note=note, href=href)


def details_in_words(entry: Entry) -> str:
    """Return the details of an entry as one line.

    A text in which a separator of the line occurs is in quotation marks, as JSON writes it: users write comments, notes
    and reasons, which could otherwise be read as further details.
    """
    parts: list[str] = []
    for key, value in entry.details.items():
        if (
            value is None
            or key in ("before", "after", "omitted")
            or (key in _LISTS and _is_of_objects(value))
        ):
            continue
        parts.append(_detail(key, value))
    before, after = entry.details.get("before"), entry.details.get("after")
    # The number of the version is a column of its own.
    if (before, after) not in ((None, None), (None, entry.version)):
        parts.insert(0, " → ".join(_NOTHING if side is None else _short(side) for side in (before, after)))
    fields, first = (found if _is_of_objects(found := entry.details.get(key)) else () for key in _LISTS)
    place = PLACES.get(entry.action, _place)
    parts += [
        f"{place(at) if isinstance(at := each.get('at'), str) else _NOTHING} {_sides(each)}"
        for each in fields[:MOST_SHOWN]
    ]
    for each in first[:MOST_SHOWN]:
        parts.append(
            _in_words([part if isinstance(part, str) else _short(part) for part in each.values() if part])
        )
    return "; ".join(part for part in parts if part)


def _is_of_objects(value: object) -> TypeGuard[list[dict[str, Any]]]:
    """Return whether a value is a list of objects; only an entry that was changed in the database has another one."""
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _in_words(values: Sequence[str]) -> str:
    """Return the values as one text; a message that begins with the name before it needs no second one."""
    kept = [
        each
        for each, after in zip_longest(values, values[1:], fillvalue="")
        if not after.startswith(f"{each} ")
    ]
    if kept and not _is_quoted(kept[-1]):
        kept[-1] = kept[-1].removesuffix(".")
    return " ".join(map(_text, kept))


def _detail(key: str, value: object) -> str:
    if key in _FLAGS and isinstance(value, bool):
        return _FLAGS[key][0 if value else 1]
    if key in _COUNTED and isinstance(value, int):
        return f"{value} {_COUNTED[key]}{'' if value == 1 else 's'}"
    if key == "sha256" and isinstance(value, str):
        value = _shortened(value)
    if key == "method":
        return _METHODS.get(str(value), f"with the method {_short(value)}")
    text = f"{str(value)[:16].replace('T', ' ')} UTC" if key == "expires_at" else _short(value)
    return f"{_LABELS.get(key, key.replace('_', ' '))} {text}".strip()


def _place(pointer: str) -> str:
    """Return a place in a document that has no labels: `changes, queue managers`."""
    return ", ".join(_text(step.replace("_", " "), is_in_list=True) for step in pointer_steps(pointer))


def _sides(field: dict[str, Any]) -> str:
    if "before" not in field and "after" not in field:
        return str(field.get("kind", "changed"))
    return " → ".join(_short(field[side]) if side in field else _NOTHING for side in ("before", "after"))


def _is_quoted(text: str, *, is_in_list: bool = False) -> bool:
    separators = _SEPARATORS_OF_LISTS if is_in_list else _SEPARATORS
    return text in _WORDS or not text.isprintable() or separators.search(text) is not None


def _text(text: str, *, is_in_list: bool = False) -> str:
    """Return a text, in quotation marks if it could be read as something else."""
    return json.dumps(text, ensure_ascii=False) if _is_quoted(text, is_in_list=is_in_list) else text


def _short(value: object, *, is_in_list: bool = False) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == []:
        return "none"
    if isinstance(value, list):
        return ", ".join(_item(each) for each in value)
    if isinstance(value, dict):
        return ", ".join(
            f"{_text(str(key).replace('_', ' '), is_in_list=True)} {_short(each, is_in_list=True)}"
            for key, each in value.items()
        )
    return _text(value, is_in_list=is_in_list) if isinstance(value, str) else json.dumps(value)


def _item(value: object) -> str:
    """Return an item of a list: its members belong together, so they are in parentheses."""
    if not isinstance(value, dict):
        return _short(value, is_in_list=True)
    name = value.get("name")
    members = _short({key: each for key, each in value.items() if key != "name"})
    return " ".join(
        part
        for part in (
            _text(name, is_in_list=True) if isinstance(name, str) else "",
            f"({members})" if members else "",
        )
        if part
    )


def _shortened(digest: str) -> str:
    """Return the beginning of a digest, which identifies a file in a list."""
    return (
        digest
        if len(digest) <= _SHOWN_OF_A_DIGEST
        else f"{digest[:_SHOWN_OF_A_DIGEST]}\N{HORIZONTAL ELLIPSIS}"
    )


_AT: Final[Column[Entry]] = Column(
    key="at", title="Time", unit="UTC", kind="date", can_sort=False, read=lambda entry: entry.at
)
_ACTOR: Final[Column[Entry]] = Column(key="actor", title="Who", can_sort=False, read=_who)
_ACTION: Final[Column[Entry]] = Column(key="action", title="Action", can_sort=False, read=_what)
_DETAILS: Final[Column[Entry]] = Column(
    key="details", title="Details", kind="words", can_sort=False, read=details_in_words
)

ENTRIES: Final = ListTable[Entry](
    name="entries",
    path=PATH,
    columns=(
        _AT,
        _ACTOR,
        Column(key="address", title="Address", kind="name", can_sort=False, read=lambda entry: entry.address),
        _ACTION,
        Column(key="object", title="Object", can_sort=False, read=_object),
        _DETAILS,
    ),
    sort=Sort("at", is_descending=True),
    has_file=False,
)
OF_ONE_OBJECT: Final = ListTable[Entry](
    name="entries of the plan",
    path=PATH,
    columns=(
        _AT,
        _ACTOR,
        _ACTION,
        Column(
            key="version", title="Version", kind="number", can_sort=False, read=lambda entry: entry.version
        ),
        _DETAILS,
    ),
    sort=Sort("at", is_descending=True),
    has_file=False,
)
"""The entries about one plan, which every viewer may see: without network addresses."""


def view_of(entries: Sequence[Entry], table: ListTable[Entry] = ENTRIES) -> ListView:
    """Return entries as rows of a list, in their order."""
    request = PageRequest(per_page=max(len(entries), 1))
    return table.view(ResultPage.of(entries, len(entries), request), ListRequest(request))
