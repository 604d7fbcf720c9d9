"""Reading of plan documents from JSON text or parsed objects; each error has its JSON pointer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import NoReturn

from pydantic import ValidationError

from planner_core.bounds import MOST_COMMAS, MOST_KEYS, MOST_STRUCTURES_READ, first_problems, is_too_deep
from planner_core.document.cross_checks import cross_checks
from planner_core.document.model import PlanDocument
from planner_core.document.problems import escape_pointer, field_problems
from planner_core.errors import DocumentInvalid, FieldProblem, NotJson
from planner_core.garbage import collection_paused
from planner_core.limits import limit
from planner_core.units import MIB, format_size

_LONGEST_NUMBER = 40
_LONG_NUMBER = b"0" * (_LONGEST_NUMBER + 1)
_NUMBERS_AS_ZEROS = bytes(ord("0" if chr(code) in "0123456789+-.eE" else " ") for code in range(256))
_TOO_DEEP = "The text is nested too deeply."
_SHOWN = 20
_SMALLEST_CF_BYTES = limit("smallest_cf_mib") * MIB
_MOST_GIB_MEANT = 1023
"""The largest number without a unit that may have been meant in G."""


def read_json(text: bytes | str, *, is_stored: bool = False) -> PlanDocument:
    """Read a plan document from JSON text; `is_stored` as for `read_object`.

    Raises:
        DocumentInvalid: The text is not UTF-8 or not JSON, or has a repeated key or invalid fields.
    """
    with collection_paused(len(text)):
        parsed = _parse(text)
        try:
            return read_object(parsed, is_stored=is_stored)
        except (DocumentInvalid, RecursionError):
            # No valid document is too deep, so only invalid ones are searched.
            _refuse_if_too_deep(parsed)
            raise


@dataclass(frozen=True, slots=True)
class _Unusable:
    """An unreadable part of a parsed document. It replaces the value, so that the error can name the field."""

    message: str


def parse_json(text: bytes | str) -> object:
    """Parse JSON text more strictly than the standard library: no repeated keys, no NaN, exact numbers.

    Raises:
        DocumentInvalid: The text is not UTF-8 or not JSON, or has unreadable numbers and objects.
    """
    with collection_paused(len(text)):
        parsed = _parse(text)
        _refuse_if_too_deep(parsed)
        return parsed


def _refuse_if_too_deep(parsed: object) -> None:
    if is_too_deep(parsed):
        _invalid(_TOO_DEEP)


def _parse(text: bytes | str) -> object:
    if (
        len(text) > MOST_COMMAS
        and (text.count(b",") if isinstance(text, bytes) else text.count(",")) > MOST_COMMAS
    ):
        _invalid(f"The text has more than {MOST_COMMAS:,} commas: send less at a time.")
    try:
        return _parse_without_long_numbers(text)
    # Parsed again with hooks that record each error and its place. They are slow, because they run for every number.
    except (ValueError, InvalidOperation, RecursionError):
        return _parse_and_find_errors(text)


def _parse_without_long_numbers(text: bytes | str) -> object:
    """Parse JSON text; raise any error if it is not a strict JSON text or may have a long number."""
    encoded = text.encode() if isinstance(text, str) else text
    if _LONG_NUMBER in encoded.translate(_NUMBERS_AS_ZEROS):
        raise ValueError
    return json.loads(
        encoded.decode(),
        object_pairs_hook=_without_repeated_keys,
        parse_float=Decimal,
        parse_constant=_refuse,
    )


def _without_repeated_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs) or len(pairs) > MOST_KEYS:
        raise ValueError
    return found


def _refuse(_: str) -> NoReturn:
    raise ValueError


def _parse_and_find_errors(text: bytes | str) -> object:
    reader = _JsonReader()
    try:
        parsed = reader.read(text if isinstance(text, str) else text.decode("utf-8"))
        if reader.met_unusable and is_too_deep(parsed):
            raise RecursionError
        problems = first_problems(_unusable(parsed, "")) if reader.met_unusable else ()
    except UnicodeDecodeError as error:
        _invalid(f"The text is not UTF-8: byte {error.start} cannot be read.")
    except json.JSONDecodeError as error:
        message = f"The text is not JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        raise NotJson((FieldProblem("", message),)) from None
    except RecursionError:
        _invalid(_TOO_DEEP)
    if problems:
        raise DocumentInvalid(problems)
    return parsed


class _JsonReader:
    """A JSON reader based on the standard library, which marks parts that a plan must not have."""

    def __init__(self) -> None:
        self.met_unusable = False

    def read(self, text: str) -> object:
        return json.loads(
            text,
            object_pairs_hook=self._once,
            parse_float=self._decimal,
            parse_int=self._integer,
            parse_constant=lambda name: self._mark(f"{name} is not a JSON number."),
        )

    def _mark(self, message: str) -> _Unusable:
        self.met_unusable = True
        return _Unusable(message)

    def _once(self, pairs: list[tuple[str, object]]) -> dict[str, object] | _Unusable:
        # The hooks of the json module do not know where they are, so they mark the value, and `_unusable` finds the place.
        if len(pairs) > MOST_KEYS:
            return self._mark(f"The object has {len(pairs)} keys: at most {MOST_KEYS} are allowed.")
        found = dict(pairs)
        if len(found) != len(pairs):
            twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            return self._mark(f"The key {twice!r} occurs twice in one object.")
        return found

    def _decimal(self, text: str) -> Decimal | _Unusable:
        # Converting a number takes time that grows with the square of its digits.
        if len(text) > _LONGEST_NUMBER:
            return self._too_long(text)
        try:
            return Decimal(text)
        # The exponent is too large for Decimal.
        except InvalidOperation:
            return self._mark(f"The number {text} is out of range.")

    def _integer(self, text: str) -> int | _Unusable:
        return self._too_long(text) if len(text) > _LONGEST_NUMBER else int(text)

    def _too_long(self, text: str) -> _Unusable:
        return self._mark(f"The number {text[:_SHOWN]}... is too long: at most {_LONGEST_NUMBER} characters.")


def _unusable(value: object, pointer: str) -> Iterator[FieldProblem]:
    if isinstance(value, _Unusable):
        yield FieldProblem(pointer, value.message)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _unusable(item, f"{pointer}/{escape_pointer(key)}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unusable(item, f"{pointer}/{index}")


def _invalid(message: str, field: str = "") -> NoReturn:
    raise DocumentInvalid((FieldProblem(field, message),)) from None


def read_object(document: object, *, is_stored: bool = False) -> PlanDocument:
    """Check a parsed document.

    Args:
        document: The parsed document.
        is_stored: Whether it was accepted and stored before, perhaps by an earlier version; implausible sizes are then
            accepted.

    Raises:
        DocumentInvalid: The document is invalid; the exception lists all errors, or the first ones if there are many.
    """
    if not isinstance(document, dict):
        _invalid("A plan document is an object with the keys qsg, queue_managers, structures and so on.")
    # Refused before validation: no group has so many, and the errors of all of them would take seconds.
    structures = document.get("structures")
    if (
        isinstance(structures, list)
        and sum(isinstance(each, dict) for each in structures) > MOST_STRUCTURES_READ
    ):
        message = (
            f"has {len(structures)} structures: a group has at most {limit('structures_per_group')}, and more than "
            f"{MOST_STRUCTURES_READ} are not read"
        )
        raise DocumentInvalid((FieldProblem("/structures", message),))
    try:
        plan = PlanDocument.model_validate(document)
    except ValidationError as error:
        raise DocumentInvalid(field_problems(error, document, model=PlanDocument)) from None
    except RecursionError:
        _invalid("The document is nested too deeply.")
    problems = first_problems(chain(cross_checks(plan), () if is_stored else _implausible_sizes(plan)))
    if problems:
        raise DocumentInvalid(problems)
    return plan


def _implausible_sizes(plan: PlanDocument) -> Iterator[FieldProblem]:
    """Yield an error for each coupling facility that is so small that its unit must be missing or wrong."""
    # A number without a unit is in K, as in a CFRM policy: `8`, meant as 8 GB, would be 8 KB.
    for index, facility in enumerate(plan.coupling_facilities):
        if facility.size is None or facility.size >= _SMALLEST_CF_BYTES:
            continue
        size = format_size(facility.size)
        number = int(size[:-1])
        meant = " or ".join(
            f"{number}{unit}"
            for unit, fits in (("M", number >= _SMALLEST_CF_BYTES // MIB), ("G", number <= _MOST_GIB_MEANT))
            if fits
        )
        yield FieldProblem(
            f"/coupling_facilities/{index}/size",
            f"is {size}, too small for a coupling facility, which has at least {format_size(_SMALLEST_CF_BYTES)} "
            f"(a number without a unit is in K): did you mean {meant}?",
        )
