"""Advice on the queue depths of a plan, and plans with measured rates."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, ValidationError, WithJsonSchema

from app.fits.kept import Curves
from app.fits.resolve import evaluate
from planner_core.depth_events.advice import PlanDepthAdvice, advice_of
from planner_core.depth_events.measured import MOST_SETS, PlanWithRates, RatesQuestion, with_rates
from planner_core.document.model import PlanDocument
from planner_core.document.problems import field_problems
from planner_core.document.reading import parse_json
from planner_core.errors import DocumentInvalid, FieldProblem, InputInvalid
from planner_core.wire import described_as

WHAT = "The request"


def advise(document: PlanDocument, curves: Curves, *, structure: str | None = None) -> PlanDepthAdvice:
    """Return the advice on the queue depths of a plan, or of one of its structures."""
    return advice_of(evaluate(document, curves, compares=False), structure=structure)


class RatesRequest(RatesQuestion):
    """A plan document and sets of event messages."""

    # The core reads both and reports each problem at its place.
    document: Annotated[Any, described_as("PlanDocument")]
    sets: Annotated[
        Any,
        WithJsonSchema({"type": "array", "maxItems": MOST_SETS, "items": {"type": "object"}}),
        Field(description="The member `sets` of an answer of /api/v1/events/read."),
    ]


def rates(body: bytes) -> PlanWithRates:
    """Write measured rates into the plan document of a request.

    Raises:
        InputInvalid: The request is not valid; every problem is listed with its location.
    """
    document = parse_json(body)
    try:
        request = RatesRequest.model_validate(document)
        return with_rates(request.document, {"sets": request.sets}, using=request.using)
    except ValidationError as error:
        raise InputInvalid(
            WHAT, field_problems(error, document, model=RatesRequest, what="the request")
        ) from None
    except DocumentInvalid as error:
        # The core names places in the plan; the request contains it as a member.
        inside = tuple(FieldProblem(f"/document{each.field}", each.message) for each in error.problems)
        raise InputInvalid(WHAT, inside) from None
