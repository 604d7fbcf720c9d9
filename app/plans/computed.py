"""The contents of a version, computed from its document before the database is used."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import is_

from pydantic_core import to_json

from app.database.parts import PartedText
from app.database.types import COMPRESSION_LEVEL
from app.fits.kept import Curves
from app.fits.resolve import evaluate
from app.plans.names import PlanName, names_in
from app.plans.stored import parsed
from planner_core.document.model import PlanDocument
from planner_core.errors import OutputRefused
from planner_core.garbage import collection_paused
from planner_core.plan.explain import explain_result
from planner_core.plan.result import PlanResult
from planner_core.provenance import Input, Step
from planner_core.texts.outputs import OUTPUT_KINDS, render_output
from planner_core.wire import JsonObject, adapter


@dataclass(frozen=True, slots=True)
class ComputedOutput:
    """The text of an output, or the reason and the findings that prevent it, as JSON."""

    kind: str
    filename: str | None
    text: str | None
    refusal: str | None


@dataclass(frozen=True)
class ComputedPlan:
    """A document, its result and its texts, as they are stored. The counts exclude acknowledged findings."""

    document: str
    schema_version: int
    core_version: str
    curve: str
    result: str
    explanations: PartedText
    qsg: str
    structures: int
    application_structures: int
    initsize_kib: int
    size_kib: int
    errors: int
    warnings: int
    infos: int
    acknowledged: int
    names: frozenset[PlanName]
    accepted: tuple[JsonObject, ...]
    """The acknowledged findings of the document, also of findings that it no longer has."""
    outputs: tuple[ComputedOutput, ...]

    @cached_property
    def document_object(self) -> JsonObject:
        """The document as a JSON object, complete with defaults."""
        return parsed(self.document)


def canonical(document: PlanDocument) -> str:
    """Return the document as JSON with all defaults, so that equal plans have equal texts."""
    return document.model_dump_json()


def compute(document: PlanDocument, curves: Curves) -> ComputedPlan:
    """Evaluate a plan with the curve it names, and render its texts.

    Raises:
        PlanRefused: The plan is impossible, or its curve cannot be used.
    """
    text = canonical(document)
    with collection_paused(len(text)):
        return _compute(document, text, curves)


def _compute(document: PlanDocument, text: str, curves: Curves) -> ComputedPlan:
    result = evaluate(document, curves)
    answer = result.answer()
    open_findings = Counter(f.severity for f in result.findings if f.acknowledged is None)
    return ComputedPlan(
        document=text,
        schema_version=document.schema_version,
        core_version=result.core_version,
        curve=json.dumps(answer.curve.as_json()),
        result=answer.json_bytes().decode(),
        explanations=_explanations(result),
        qsg=document.qsg,
        structures=answer.totals.structures,
        application_structures=len(document.structures),
        initsize_kib=answer.totals.initsize_kib,
        size_kib=answer.totals.size_kib,
        errors=open_findings["error"],
        warnings=open_findings["warning"],
        infos=open_findings["info"],
        acknowledged=sum(f.acknowledged is not None for f in result.findings),
        names=names_in(document, result.findings),
        accepted=tuple(each.model_dump(mode="json") for each in document.acknowledged),
        outputs=tuple(_output(kind, result) for kind in OUTPUT_KINDS),
    )


def area_of(figure: str) -> str:
    """Return the part of the explanations that contains a figure: `/totals` or `/structures/3`."""
    _, area, index, *_ = figure.split("/")
    return f"/structures/{index}" if area == "structures" else f"/{area}"


def _explanations(result: PlanResult) -> PartedText:
    """Return the explanations as one JSON object, whose parts each begin with a brace or a comma."""
    return PartedText.of(_written_explanations(result), level=COMPRESSION_LEVEL)


def _written_explanations(result: PlanResult) -> Iterator[tuple[str, bytes]]:
    # Each is serialized and compressed as soon as it is built, because all of them would fill the memory.
    inputs, steps = _SharedItems(Input), _SharedItems(Step)
    separator = b"{"
    for each in explain_result(result):
        # No formula can contain these empty lists, because a quotation mark is escaped inside a JSON text.
        frame = replace(each, inputs=(), steps=()).json_bytes()
        before, _, rest = frame.partition(_NO_INPUTS)
        between, _, after = rest.partition(_NO_STEPS)
        text = b"".join((
            separator, to_json(each.figure), b":", before, b'"inputs":[', inputs.json(each.inputs), b"]", between,
            b'"steps":[', steps.json(each.steps), b"]", after,
        ))  # fmt: skip
        yield area_of(each.figure), text
        separator = b","
    yield "", b"}"


_NO_INPUTS, _NO_STEPS = b'"inputs":[]', b'"steps":[]'


class _SharedItems:
    """A serializer of tuples that writes the items of the previous tuple again only if the next one does not begin with them.

    The messages, entries and elements of a structure have up to two thousand inputs and steps in common.
    """

    def __init__(self, kind: type[Input | Step]) -> None:
        self._adapter = adapter(tuple[kind, ...])  # type: ignore[valid-type]
        self._items: tuple[Input | Step, ...] = ()
        self._text = b""

    def json(self, items: Sequence[Input | Step]) -> bytes:
        """Return the items as JSON, separated by commas."""
        known = len(self._items)
        if known <= len(items) and all(map(is_, self._items, items)):
            added = self._written(items[known:])
            self._text += b"," + added if self._text and added else added
        else:
            self._text = self._written(items)
        self._items = tuple(items)
        return self._text

    def _written(self, items: Sequence[Input | Step]) -> bytes:
        return self._adapter.dump_json(tuple(items))[1:-1]


def _output(kind: str, result: PlanResult) -> ComputedOutput:
    try:
        output = render_output(kind, result)
    except OutputRefused as refused:
        refusal = {"message": str(refused), "findings": [finding.as_json() for finding in refused.findings]}
        return ComputedOutput(kind=kind, filename=None, text=None, refusal=json.dumps(refusal))
    return ComputedOutput(kind=kind, filename=output.filename, text=output.text, refusal=None)
