"""The contents of a version, computed from its document before the database is used."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Final, NamedTuple

from app.database.parts import PartedText
from app.fits.kept import Curves
from app.fits.resolve import evaluate
from app.plans.explanations import written_explanations
from app.plans.names import PlanName, names_in
from app.plans.stored import stored_document
from planner_core.document.model import PlanDocument
from planner_core.errors import OutputRefused
from planner_core.garbage import collection_paused
from planner_core.plan.result import PlanResult
from planner_core.texts.outputs import OUTPUT_KINDS, render_output
from planner_core.wire import JsonObject


@dataclass(frozen=True, slots=True)
class ComputedOutput:
    """The text of an output, or the reason and the findings that prevent it, as JSON."""

    kind: str
    filename: str | None
    text: str | None
    refusal: str | None


@dataclass(frozen=True, slots=True)
class ComputedPlan:
    """A document, its result and its texts, as they are stored. The counts exclude acknowledged findings."""

    texts: DocumentText
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

    @property
    def document(self) -> str:
        """The document as JSON with all defaults."""
        return self.texts.text


class DocumentText(NamedTuple):
    """The canonical text of a document, the same text without its structures, and those of its structures."""

    text: str
    outline: str
    structures: tuple[str, ...]

    @classmethod
    def of(cls, document: PlanDocument) -> DocumentText:
        """Return the texts of a document; the first one equals that of `canonical`."""
        structures = tuple([each.model_dump_json() for each in document.structures])
        outline = canonical(document.model_copy(update={"structures": []}))
        # A quotation mark inside a JSON string is escaped, so this can only be the member itself.
        before, start, after = outline.partition(_STRUCTURES)
        return cls("".join((before, start, ",".join(structures), after)), outline, structures)

    def compared_with(self, stored: str) -> ComparedDocuments:
        """Return the text of a stored document and this one as JSON objects, without structures that are equal in both."""
        with collection_paused(len(stored)):
            found = self._without_equal_structures(stored)
            return found or ComparedDocuments(stored_document(stored), stored_document(self.text))

    def _without_equal_structures(self, stored: str) -> ComparedDocuments | None:
        """Return None unless both texts have structures of the same names in the same order."""
        # Most changes of a large plan concern a few structures, and parsing the others would take a tenth of the save.
        before, start, rest = stored.partition(_STRUCTURES)
        if not start or not self.structures:
            return None
        old: list[JsonObject] = []
        new: list[JsonObject] = []
        at = 0
        follows = [","] * (len(self.structures) - 1) + ["]"]
        for text, following in zip(self.structures, follows, strict=True):
            if rest.startswith(text, at):
                at += len(text)
            else:
                try:
                    structure, at = _DECODER.raw_decode(rest, at)
                except json.JSONDecodeError:  # the stored document has fewer structures
                    return None
                changed = json.loads(text)
                if structure["name"] != changed["name"]:
                    return None
                old.append(structure)
                new.append(changed)
            if not rest.startswith(following, at):
                return None
            at += len(following)
        outline = json.loads(f"{before}{start}]{rest[at:]}")
        return ComparedDocuments(
            {**outline, "structures": old}, {**json.loads(self.outline), "structures": new}
        )


class ComparedDocuments(NamedTuple):
    """A stored document and a new one as JSON objects."""

    stored: JsonObject
    new: JsonObject


_STRUCTURES = '"structures":['
_DECODER: Final = json.JSONDecoder()


def canonical(document: PlanDocument) -> str:
    """Return the document as JSON with all defaults, so that equal plans have equal texts."""
    return document.model_dump_json()


def compute(document: PlanDocument, curves: Curves) -> ComputedPlan:
    """Evaluate a plan with the curve it names, and render its texts.

    Raises:
        PlanRefused: The plan is impossible, or its curve cannot be used.
    """
    written = DocumentText.of(document)
    with collection_paused(len(written.text)):
        return _compute(document, written, curves)


def _compute(document: PlanDocument, written: DocumentText, curves: Curves) -> ComputedPlan:
    result = evaluate(document, curves)
    answer = result.answer()
    open_findings = Counter(f.severity for f in result.findings if f.acknowledged is None)
    return ComputedPlan(
        texts=written,
        schema_version=document.schema_version,
        core_version=result.core_version,
        curve=json.dumps(answer.curve.as_json()),
        result=answer.json_bytes().decode(),
        explanations=written_explanations(result, written.structures),
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


def _output(kind: str, result: PlanResult) -> ComputedOutput:
    try:
        output = render_output(kind, result)
    except OutputRefused as refused:
        refusal = {"message": str(refused), "findings": [finding.as_json() for finding in refused.findings]}
        return ComputedOutput(kind=kind, filename=None, text=None, refusal=json.dumps(refusal))
    return ComputedOutput(kind=kind, filename=output.filename, text=output.text, refusal=None)
