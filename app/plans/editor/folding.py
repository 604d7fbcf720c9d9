"""Queues of a large plan that the form refers to instead of containing them.

The largest plan has 32 256 queues: eleven megabytes of text in the form, which every button would send back. Instead, a
structure whose queues are not being edited has one hidden field with a reference to a stored version. The reference is
replaced by the queues when the form is received, before anything else reads it, so no other part of the editor knows about
references, and saving always saves all queues. Versions never change, so a reference always means the same queues.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.plans.editor.form import ROWS_IN_STRUCTURE, Typed, queues_text, typed_of
from app.plans.short_document import short_queue
from app.plans.stored import StoredVersion
from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid
from planner_core.wire import JsonObject

FOLDED_OVER = 4_000
"""In plans with more queues than this, the form refers to queues, and the result is calculated when the plan is saved."""
UNFOLD = "queues:"
"""The action that shows the queues of a structure: `queues:/structures/3`."""
_FIELD = "queues_of"
_KEY = re.compile(r"(/structures/\d{1,6})/queues_of", re.ASCII)
_REFERENCE = re.compile(r"(\d{1,15})\.(\d{1,9})/(\d{1,6})", re.ASCII)
Documents = Callable[[int, int], JsonObject | None]
"""The lookup of a stored document by the id of its plan and its number; None if there is none."""


@dataclass(frozen=True, slots=True)
class FoldedQueues:
    """The queues of a structure in a stored version."""

    reference: str
    version: int
    queues: int
    text: str
    """The queues as the form would contain them; empty if they were never read."""
    stored: Sequence[JsonObject] = ()
    """The queues as the document contains them, without values that are defaults; empty if they were never read."""


class ReferenceUnknown(Exception):
    """The form refers to queues that are not stored, for example because their plan was removed permanently."""


def number_of_queues(document: JsonObject) -> int:
    """Return the number of all queues of a document."""
    return sum(len(structure["queues"]) for structure in document["structures"])


def folded_form(version: StoredVersion) -> tuple[Typed, dict[str, FoldedQueues]]:
    """Return the form of a stored version, and the structures whose queues it refers to, by their pointer.

    A plan that is not large has all of its queues in the form.
    """
    document = version.document_object
    if number_of_queues(document) <= FOLDED_OVER:
        return typed_of(version.document), {}
    folded: dict[str, FoldedQueues] = {}
    structures = []
    for index, structure in enumerate(document["structures"]):
        if (number := len(structure["queues"])) > ROWS_IN_STRUCTURE:
            reference = f"{version.plan_id}.{version.number}/{index}"
            folded[f"/structures/{index}"] = FoldedQueues(reference, version.number, number, "")
            structures.append({**structure, "queues": []})
        else:
            structures.append(structure)
    try:
        # Reading all queues takes more than half a second, and none of them is shown.
        return typed_of(read_object({**document, "structures": structures}, is_stored=True)), folded
    except DocumentInvalid:  # another part of the document refers to a queue
        return typed_of(version.document), {}


def unfold(typed: Typed, documents: Documents) -> tuple[Typed, dict[str, FoldedQueues]]:
    """Return the form with all of its queues, and the structures that had a reference, by their pointer.

    Raises:
        ReferenceUnknown: A reference is damaged, or what it refers to is not stored.
    """
    found: dict[str, FoldedQueues] = {}
    known: dict[tuple[int, int], JsonObject | None] = {}
    full = dict(typed)
    for key, reference in typed.items():
        if (place := _KEY.fullmatch(key)) is None:
            continue
        del full[key]
        if f"{place[1]}/queues" in typed:  # the queues themselves are in the form
            continue
        parts = _REFERENCE.fullmatch(reference)
        if parts is None:
            raise ReferenceUnknown(reference[:40])
        at = int(parts[1]), int(parts[2])
        document = known[at] if at in known else known.setdefault(at, documents(*at))
        structures = document["structures"] if document is not None else []
        if int(parts[3]) >= len(structures):
            raise ReferenceUnknown(reference)
        queues = structures[int(parts[3])]["queues"]
        text = queues_text(queues)
        full[f"{place[1]}/queues"] = text
        found[place[1]] = FoldedQueues(
            reference, at[1], len(queues), text, [short_queue(queue) for queue in queues]
        )
    return full, found


def still_folded(
    typed: Mapping[str, str], folded: Mapping[str, FoldedQueues], *, shown: Callable[[str], bool]
) -> dict[str, FoldedQueues]:
    """Return the structures whose queues can be referred to again when the form is shown.

    Args:
        typed: The form with all of its queues.
        folded: The structures that had a reference when the form was received.
        shown: Whether the queues of the structure with this pointer must be shown.
    """
    return {
        at: each
        for at, each in folded.items()
        # A form that was never received has no text for them.
        if typed.get(f"{at}/queues", "") == each.text and f"{at}/name" in typed and not shown(at)
    }
