"""The calculation of answers about plan documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from starlette.concurrency import run_in_threadpool

from app.fits.kept import Curves
from app.fits.resolve import evaluate
from planner_core.document.reading import read_json
from planner_core.findings import SEVERITIES, Finding
from planner_core.plan.explain import plan_answer
from planner_core.texts.outputs import Output, render_output

T = TypeVar("T")


async def compute(function: Callable[[bytes], T], body: bytes) -> T:
    """Call a function with a document in a thread, and return its result.

    Even a short document can take seconds to calculate, which would block all other requests on the event loop.
    """
    return await run_in_threadpool(function, body)


def size_answer(body: bytes, *, curves: Curves, explain: bool, depths: bool = False) -> bytes:
    """Return the result of a plan document as encoded JSON."""
    return plan_answer(evaluate(read_json(body), curves), explain=explain, depths=depths).json_bytes()


def text_output(body: bytes, *, curves: Curves, kind: str) -> tuple[Output, str]:
    """Return a text output, and the number of findings of each severity as a header value."""
    result = evaluate(read_json(body), curves, compares=False)
    return render_output(kind, result), count_findings(result.findings)


def count_findings(findings: tuple[Finding, ...]) -> str:
    """Count findings by severity, as a structured header field (RFC 9651): `error=0, warning=2, info=1`."""
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(f"{severity}={counts[severity]}" for severity in SEVERITIES)
