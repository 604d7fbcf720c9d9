"""Advice on queue depths of a plan, and measured rates taken over into it, as JSON text."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from app.fits.kept import Curves
from app.fits.resolve import evaluate
from planner_core.depth_events.measured import USINGS, Using, WithRates, with_rates
from planner_core.document.model import PlanDocument
from planner_core.document.problems import did_you_mean
from planner_core.document.reading import parse_json, read_json
from planner_core.errors import DocumentInvalid, FieldProblem, InputInvalid
from planner_core.findings import DEPTH_EVENT_CODES
from planner_core.plan.result import PlanResult

WHAT = "The request"
_MOST_UNKNOWN = 50
TOO_SMALL = frozenset({"INITSIZE_BELOW_NEED", "SIZE_BELOW_NEED"})
"""Why a structure gives less than its queues' backlogs: advised MAXDEPTHs are below them then."""


def advice_of(result: PlanResult) -> dict[str, Any]:
    """Of each structure with queues its advice; the findings on depth events, and on structures too small for their queues."""
    advised = {each.name for each in result.structures if each.depth_events is not None}
    return {
        "core_version": result.core_version,
        "qsg": result.document.qsg,
        "structures": [
            {
                "name": each.name,
                "cfrm_name": each.cfrm_name,
                "messages": each.load.demand.messages if each.load is not None else 0,
                "depth_events": each.depth_events.as_json(depths=True),
            }
            for each in result.structures
            if each.depth_events is not None
        ],
        "findings": [
            each.as_json()
            for each in result.findings
            if each.code in DEPTH_EVENT_CODES or (each.code in TOO_SMALL and each.structure in advised)
        ],
    }


def advise(document: PlanDocument, curves: Curves) -> PlanResult:
    """The plan worked out; the advice is part of it."""
    return evaluate(document, curves, compares=False)


def advice_json(body: bytes, *, curves: Curves) -> bytes:
    """The answer to a plan document."""
    return to_json(advice_of(advise(read_json(body), curves)))


def rates_json(body: bytes) -> bytes:
    """The answer to `{document, sets, using}`."""
    return to_json(rates_request(parse_json(body)).as_json())


def rates_request(request: object) -> WithRates:
    """What a request asks for.

    Raises:
        InputInvalid: It lacks a part, or has another.
    """
    if not isinstance(request, dict):
        raise InputInvalid(WHAT, (FieldProblem("", "must be an object with document and sets"),))
    keys = ("document", "sets", "using")
    unknown = sorted(set(request) - set(keys))[:_MOST_UNKNOWN]
    missing = [key for key in ("document", "sets") if key not in request]
    problems = [
        FieldProblem(f"/{key}", f"is not a key of the request{did_you_mean(key, keys)}") for key in unknown
    ]
    problems += [FieldProblem(f"/{key}", "is required") for key in missing]
    using = request.get("using", USINGS[0])
    if using not in USINGS:
        problems.append(FieldProblem("/using", f"must be {' or '.join(USINGS)}"))
    if problems:
        raise InputInvalid(WHAT, tuple(problems))
    try:
        return with_rates(request["document"], {"sets": request["sets"]}, using=_using(using))
    except DocumentInvalid as error:
        inside = tuple(FieldProblem(f"/document{each.field}", each.message) for each in error.problems)
        raise InputInvalid(WHAT, inside) from None


def _using(name: str) -> Using:
    return "all" if name == "all" else "filling"
