"""What is read from the address of a what-if question: its parameters, their description, and refusals by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NoReturn

from fastapi.exceptions import RequestValidationError
from starlette.requests import Request

from planner_core.whatif.growth import DEFAULT_YEARS, HIGHEST_LEVEL, MOST_MORE, MOST_YEARS

_WHOLE = re.compile(r"[0-9]{1,9}")
_DECIMAL = re.compile(r"-?[0-9]{1,4}(\.[0-9]{1,6})?")
LOWEST_PERCENT, HIGHEST_PERCENT = -99, 1000


def refuse(name: str, message: str) -> NoReturn:
    """Say what is wrong with a parameter."""
    raise RequestValidationError([{"type": "value_error", "loc": ("query", name), "msg": message}])


def one_of(request: Request, name: str, allowed: Sequence[str]) -> str:
    """One of a few words; the first when it is absent."""
    text = request.query_params.get(name, allowed[0])
    if text not in allowed:
        refuse(name, f"must be {' or '.join(allowed)}")
    return text


def whole_numbers(request: Request, name: str, *, lowest: int, highest: int) -> tuple[int, ...] | None:
    """A parameter that may stand several times; None when it is absent."""
    texts = request.query_params.getlist(name)
    if not texts:
        return None
    for text in texts:
        if not _WHOLE.fullmatch(text) or not lowest <= int(text) <= highest:
            refuse(name, f"must be a whole number between {lowest} and {highest}")
    return tuple(int(text) for text in texts)


def whole_number(request: Request, name: str, *, default: int, lowest: int, highest: int) -> int:
    """A parameter that stands once."""
    found = whole_numbers(request, name, lowest=lowest, highest=highest)
    return default if found is None else found[-1]


def percentage(request: Request, name: str) -> Decimal | None:
    """A rate of growth; None when it is absent."""
    text = request.query_params.get(name)
    if text is None:
        return None
    if not _DECIMAL.fullmatch(text) or not LOWEST_PERCENT <= Decimal(text) <= HIGHEST_PERCENT:
        refuse(name, f"must be a number between {LOWEST_PERCENT} and {HIGHEST_PERCENT}")
    return Decimal(text)


def described(name: str, about: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter for OpenAPI; lists are repeated."""
    found: dict[str, Any] = {"name": name, "in": "query", "required": False, "schema": schema}
    return {**found, "description": about}


AT_PARAMETER = described(
    "at",
    "Whether structures are counted with INITSIZE or with SIZE.",
    {"type": "string", "enum": ["initsize", "size"], "default": "initsize"},
)
WITH_PARAMETER = described(
    "with",
    "A stored plan of the same sysplex, whose structures are counted as well; may stand several times.",
    {"type": "array", "items": {"type": "string"}, "maxItems": 40},
)
UPGRADE_PARAMETERS = [
    described(
        "cfcc",
        "A CFCC level to go to; may stand several times. Absent: those with published figures above the plan's.",
        {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": HIGHEST_LEVEL}},
    ),
    described(
        "queue_managers",
        "How many more queue managers.",
        {"type": "integer", "minimum": 0, "maximum": MOST_MORE, "default": 1},
    ),
    described(
        "growth",
        "Growth on top of the plan's horizon, in percent a year. Absent: the plan's own rate, or 10.",
        {"type": "number", "minimum": LOWEST_PERCENT, "maximum": HIGHEST_PERCENT},
    ),
    described(
        "years",
        f"After how many years to look; may stand several times. Absent: {', '.join(map(str, DEFAULT_YEARS))}.",
        {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": MOST_YEARS}},
    ),
]
