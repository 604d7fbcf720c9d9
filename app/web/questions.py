"""Questions of the core as query parameters: FastAPI describes and reads them, and errors name each parameter."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, get_type_hints

from fastapi import Request
from fastapi.exceptions import RequestValidationError

from planner_core.errors import FieldProblem, InputInvalid
from planner_core.questions import Question

EXPLAIN = "explain"


def check_question(request: Request) -> None:
    """Raise an error for parameters that the question of this route does not have or cannot read.

    Routers use it as a dependency. FastAPI also reads the question, but uses the last of several values and reports
    errors in the wording of pydantic.

    Raises:
        InputInvalid: A parameter is not valid; every error is listed.
        RequestValidationError: `explain` cannot be read.
    """
    query = request.query_params
    try:
        _question_of(request.scope["route"].endpoint).read({name: query.getlist(name) for name in query})
    except InputInvalid as error:
        # `explain` was first published as a parameter that FastAPI checks, and clients may rely on its problem type.
        if explained := [each for each in error.problems if each.field == EXPLAIN]:
            raise _request_invalid(explained) from None
        raise


def check_parameters(request: Request) -> None:
    """Raise the same errors as check_question, but with the problem type of FastAPI's own errors.

    The first questions were published with that type, and clients may rely on it.

    Raises:
        RequestValidationError: A parameter is not valid; every error is listed.
    """
    try:
        check_question(request)
    except InputInvalid as error:
        raise _request_invalid(error.problems) from None


def _request_invalid(problems: Iterable[FieldProblem]) -> RequestValidationError:
    faults = [{"type": "parameter", "loc": ("query", each.field), "msg": each.message} for each in problems]
    return RequestValidationError(faults)


@cache
def _question_of(endpoint: Callable[..., Any]) -> type[Question]:
    """Return the question that an endpoint declares."""
    # Cached above: the annotations are strings, and evaluating them for each request would be slow.
    kinds = (get_type_hints(endpoint)[name] for name in inspect.signature(endpoint).parameters)
    return next(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Question))
