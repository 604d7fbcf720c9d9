"""Decisions and loads of clusters, from files, forms and requests."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from app.fits.kept import Curves
from app.fits.resolve import evaluate
from app.texts.documents import parse_request, parse_text
from app.texts.example_files import ExampleFile
from planner_core.clusters.answer import DecisionAnswer, answer
from planner_core.clusters.file import WHAT, DecisionFile, read_object
from planner_core.clusters.load import ClusterLoad, ClusterLoadAnswer
from planner_core.clusters.model import Mode
from planner_core.document.model import PlanDocument
from planner_core.errors import DocumentInvalid, FieldProblem, InputInvalid

LARGEST_FILE_BYTES = 2**20


EXAMPLES = (
    ExampleFile(
        "cluster",
        "retrying",
        "A channel is retrying",
        "Two of three instances remain and share the messages.",
    ),
    ExampleFile(
        "cluster",
        "rank-holds",
        "Rank holds a message",
        "A common mistake: with CLWLRANK, a message waits for a channel that is not running.",
    ),
    ExampleFile(
        "cluster",
        "orders-differ",
        "Article and reference differ",
        "The instance with the highest rank is PUT(DISABLED): one order fails, the other continues.",
    ),
    ExampleFile(
        "cluster",
        "shared-queue",
        "A queue-sharing group among the destinations",
        "IBM's own case: three of four destinations are the same shared queue.",
    ),
)


def read_yaml_or_json(text: bytes) -> DecisionFile:
    """Read an input in YAML or JSON.

    Raises:
        InputInvalid: The text is not a valid input for a decision; every error is listed with its location.
    """
    if len(text) > LARGEST_FILE_BYTES:
        _invalid(f"it is larger than {LARGEST_FILE_BYTES} bytes")
    if not text.strip():
        _invalid("it is empty")
    try:
        return read_object(parse_text(text))
    except DocumentInvalid as error:
        raise InputInvalid(WHAT, error.problems) from None


def read_file(path: Path) -> DecisionFile:
    """Read an input of a decision from a file."""
    try:
        with path.open("rb") as file:
            # One byte more than allowed shows that a file is too large without reading all of it.
            return read_yaml_or_json(file.read(LARGEST_FILE_BYTES + 1))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        _invalid(f"the file {str(path)!r} cannot be read: {reason}")


def decide_text(text: bytes, *, mode: Mode = "seed") -> DecisionAnswer:
    """Return the decision for an input in YAML or JSON."""
    return answer(read_yaml_or_json(text), mode=mode)


def decide_body(body: bytes, *, mode: Mode) -> DecisionAnswer:
    """Return the decision for the body of a request.

    Raises:
        InputInvalid: The body is not JSON, or not an input for a decision.
    """
    parsed = parse_request(body, WHAT)
    return answer(read_object(parsed), mode=mode)


def load_answer(document: PlanDocument, curves: Curves) -> ClusterLoadAnswer:
    """Calculate the load of a plan's clusters on its structures."""
    result = evaluate(document, curves, compares=False, purpose="sizes")
    # A plan without clusters gets an empty load as its answer, not an error.
    load = result.clusters or ClusterLoad(flows=(), structures=(), assumptions=())
    return ClusterLoadAnswer(
        qsg=document.qsg,
        flows=load.flows,
        structures=load.structures,
        assumptions=load.assumptions,
        # Findings about sizes belong to `size`, which answers for the whole plan.
        findings=tuple(each for each in result.findings if each.code.startswith("CLUSTER_")),
    )


def _invalid(message: str) -> NoReturn:
    raise InputInvalid(WHAT, (FieldProblem("", message),)) from None
