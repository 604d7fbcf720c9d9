"""Errors of a document: one sentence for each field, with its JSON pointer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from planner_core.bounds import first_problems
from planner_core.errors import FieldProblem
from planner_core.typed_numbers import ambiguity

_MOST_SUGGESTIONS = 50
_LONGEST_SUGGESTED = 40
"""The maximum length of unknown keys that are compared with the known ones, because comparing is slow."""
_NOTHING = object()
_MUST = "must be "

_SENTENCES = {
    "missing": "is required",
    "string_pattern_mismatch": "is not allowed here: a queue name has 1 to 48 characters A-Z a-z 0-9 . / _ %",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "string_type": "must be text in quotes",
    "list_type": "must be a list",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
}


def field_problems(
    error: ValidationError,
    document: object,
    *,
    model: type[BaseModel],
    what: str = "the plan document",
    sentences: Mapping[str, str] | None = None,
) -> tuple[FieldProblem, ...]:
    """Return one error for each field; if there are many, return only the first ones.

    Args:
        error: The errors of pydantic.
        document: The document.
        model: The model of the document, whose keys are suggested for unknown ones.
        what: The name of the document in sentences.
        sentences: Sentences for kinds of errors that only this document has.
    """
    known = {**_SENTENCES, "extra_forbidden": f"is not a key of {what}", **(sentences or {})}
    by_field: dict[str, list[str]] = {}
    ambiguous: dict[str, str] = {}
    suggestions = 0
    errors = [
        (_pointer(item["loc"], document, missing=item["type"] == "missing"), item)
        for item in error.errors(include_url=False)
    ]
    around = _around(pointer for pointer, _ in errors)
    for pointer, item in errors:
        # The error is inside the value, so the value was not meant to be of the other type.
        if _is_other_branch(item["type"]) and pointer in around:
            continue
        # This error is enough: a number was meant, so no other type is suggested.
        if separator := _of_separator(item):
            ambiguous[pointer] = separator
        message = (
            separator
            or known.get(item["type"])
            or _of_length(item)
            or item["msg"].removeprefix("Input ").removeprefix("Value error, ")
        )
        if item["type"] == "extra_forbidden" and suggestions < _MOST_SUGGESTIONS:
            suggestions += 1
            message += did_you_mean(str(item["loc"][-1]), _keys_at(model, item["loc"][:-1]))
        messages = by_field.setdefault(pointer, [])
        if message not in messages:
            messages.append(message)
    return first_problems(
        FieldProblem(pointer, ambiguous.get(pointer) or _alternatives(messages))
        for pointer, messages in by_field.items()
    )


def _alternatives(messages: Sequence[str]) -> str:
    """Return the errors of all types that a field can have in one sentence: `must be a whole number, or a list`.

    >>> _alternatives(["must be a whole number", "must be a list"])
    'must be a whole number, or a list'
    """
    first, *others = messages
    return ", or ".join(
        (first, *(each.removeprefix(_MUST) if first.startswith(_MUST) else each for each in others))
    )


def _of_separator(item: ErrorDetails) -> str:
    """Return the error of a whole number that was typed with a point; empty for other errors."""
    typed = item["input"]
    return ambiguity(typed, is_whole=True) if item["type"] == "int_type" and isinstance(typed, str) else ""


def _around(pointers: Iterable[str]) -> set[str]:
    """Return the pointers of all lists and objects that contain one of these fields."""
    found: set[str] = set()
    for pointer in pointers:
        here = pointer
        while here:
            here = here.rpartition("/")[0]
            if here in found:
                break
            found.add(here)
    return found


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question with the closest known word, to end a sentence; empty if no word is close."""
    if len(word) > _LONGEST_SUGGESTED:
        return ""
    plain = word.strip().lower().replace("-", "_").replace(" ", "_")
    found = get_close_matches(plain, list(known), n=1)
    return f": did you mean {found[0]}?" if found else ""


def _keys_at(model: type[BaseModel], location: Iterable[int | str]) -> list[str]:
    """Return the keys that an object at this place in a document can have."""
    here: tuple[type[BaseModel], ...] = (model,)
    for item in location:
        deeper = [
            found
            for each in here
            for name, field in each.model_fields.items()
            if item in (name, field.alias)
            for found in _models_in(field.annotation)
        ]
        # An index, the name of a queue manager or the label of a union's branch is not a field of the model.
        here = tuple(deeper) or here
    return sorted({field.alias or name for each in here for name, field in each.model_fields.items()})


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """Yield the models in an annotation, inside unions, lists, maps and constraints."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _of_length(item: ErrorDetails) -> str | None:
    """Return a sentence on the length of a list, an object or a text; None for other errors."""
    context = item.get("ctx", {})
    least, most, has = context.get("min_length"), context.get("max_length"), context.get("actual_length")
    kind = item["type"]
    if kind in ("too_short", "string_too_short") and (has == 0 or (kind != "too_short" and least == 1)):
        return f"is empty: it needs at least {_count(least, 'item' if kind == 'too_short' else 'character')}"
    if kind == "too_short":
        return f"has {_count(has, 'item')}: it needs at least {_count(least, 'item')}"
    if kind == "too_long":
        return f"has {_count(has, 'item')}: at most {_count(most, 'item')} are allowed"
    if kind == "string_too_short":
        return f"must have at least {_count(least, 'character')}"
    if kind == "string_too_long":
        return f"must have at most {_count(most, 'character')}"
    return None


def _count(number: object, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _is_other_branch(kind: str) -> bool:
    """Return whether the error is only that a value does not have the type of one branch of a union."""
    return kind.endswith("_type") or kind == "literal_error"


def _pointer(location: tuple[int | str, ...], document: object, *, missing: bool) -> str:
    parts: list[str] = []
    here = document
    for index, item in enumerate(location):
        step = _child(here, item)
        if step is not _NOTHING:
            here = step
        elif not (missing and index == len(location) - 1):
            # pydantic adds the label of a union's branch, which is not part of the document.
            continue
        parts.append(escape_pointer(str(item)))
    return "".join(f"/{part}" for part in parts)


def _child(here: object, item: int | str) -> object:
    """Return the value of a key or index, or _NOTHING."""
    if isinstance(here, dict):
        return here.get(item, _NOTHING)
    if isinstance(here, list) and isinstance(item, int) and item < len(here):
        return here[item]
    return _NOTHING


def escape_pointer(part: str) -> str:
    """Return one step of a JSON pointer (RFC 6901)."""
    return part.replace("~", "~0").replace("/", "~1")


def pointer_steps(pointer: str) -> list[str]:
    """Return the steps of a JSON pointer (RFC 6901), not escaped.

    >>> pointer_steps("/structures/A~1B/queues/~01")
    ['structures', 'A/B', 'queues', '~1']
    """
    # In this order: `~01` is the name `~1`, not a slash.
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
