"""The calculation of answers about plan documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from starlette.concurrency import run_in_threadpool

from app.fits.kept import Curves
from app.fits.resolve import evaluate
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_json
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.findings import SEVERITIES, Finding
from planner_core.garbage import collection_paused
from planner_core.plan.explain import WHAT, plan_json
from planner_core.sizing.depth_advising import places_with_events
from planner_core.texts.outputs import Output, render_output

T = TypeVar("T")


async def compute(function: Callable[[bytes], T], body: bytes) -> T:
    """Call a function with a document in a thread, and return its result.

    A document can take seconds to calculate, which would block all other requests on the event loop.
    """

    def answer() -> T:
        with collection_paused(len(body)):
            return function(body)

    return await run_in_threadpool(answer)


QUICK_BYTES = 2048
"""The length of documents that are read without a thread, which takes at most 10 ms, even if they are invalid."""
QUICK_STRUCTURES, QUICK_QUEUES = 4, 8
"""The number of structures and queues that are calculated without a thread, in at most a few milliseconds."""

MOST_QUEUES_IN_DETAIL, MOST_QUEUES_EXPLAINED_WITH_DEPTHS = 15_000, 1_500
"""The number of queues up to which one answer has the explanations of a plan, or advice on its queue depths; and up to which
it has both. Either takes 1.3 s of a processor core."""


def refuse_long_answer(
    document: PlanDocument, *, explain: bool = False, depths: bool = False, structure: str | None = None
) -> None:
    """Refuse to explain or advise on more than one structure of a very large plan in one answer.

    Raises:
        InputInvalid: The plan has too many queues.
    """
    if structure is not None or not (explain or depths):
        return
    most = MOST_QUEUES_EXPLAINED_WITH_DEPTHS if explain and depths else MOST_QUEUES_IN_DETAIL
    queues = sum(len(each.queues) for each in document.structures)
    if queues > most:
        wanted = " and ".join(
            words
            for words, is_wanted in (("explanations", explain), ("advice on queue depths", depths))
            if is_wanted
        )
        message = (
            f"is required: the plan has {queues:,} queues, and {wanted} for more than {most:,} queues are given for one "
            "structure at a time: add structure=NAME"
        )
        raise InputInvalid(WHAT, (FieldProblem("structure", message),))


async def size_answer(
    body: bytes,
    *,
    curves: Curves,
    explain: bool = False,
    depths: bool = False,
    structure: str | None = None,
) -> bytes:
    """Return the result of a plan document as encoded JSON; the arguments after `curves` are those of `plan_json`."""

    def answer(document: PlanDocument) -> bytes:
        refuse_long_answer(document, explain=explain, depths=depths, structure=structure)
        return plan_json(evaluate(document, curves), explain=explain, depths=depths, structure=structure)

    if explain or depths or len(body) > QUICK_BYTES:
        return await compute(lambda text: answer(read_json(text)), body)
    document = read_json(body)
    # Another thread takes a quarter longer: on its processor core, nothing of the document is in the cache.
    if is_quick(document):
        return answer(document)
    return await run_in_threadpool(answer, document)


def is_quick(document: PlanDocument) -> bool:
    """Return whether a plan is calculated so fast that it does not delay other requests on the event loop."""
    queues = [queue for structure in document.structures for queue in structure.queues]
    return (
        len(document.structures) <= QUICK_STRUCTURES
        and len(queues) <= QUICK_QUEUES
        # Clusters and depth events are simulated, and a fitted curve is in the database.
        and not document.clusters
        and document.perfmev is None
        and document.curve == "published"
        and not places_with_events(queues)
    )


def text_output(body: bytes, *, curves: Curves, kind: str) -> tuple[Output, str]:
    """Return a text output, and the number of findings of each severity as a header value."""
    result = evaluate(read_json(body), curves, compares=False)
    return render_output(kind, result), count_findings(result.findings)


def count_findings(findings: tuple[Finding, ...]) -> str:
    """Count findings by severity, as a structured header field (RFC 9651): `error=0, warning=2, info=1`."""
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(f"{severity}={counts[severity]}" for severity in SEVERITIES)
