"""The explanations of a result, as they are stored with a version.

The text for a structure depends on its result and on the parts of the document that apply to the whole group. It is kept
for the next save in which none of these has changed: of a large plan, most saves change a few structures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import Final, NamedTuple

from pydantic_core import to_json

from app.database.parts import CompressedPart, PartedText
from app.database.types import COMPRESSION_LEVEL
from planner_core.last_used import LastUsed
from planner_core.plan.explain import explain_curve, explain_structure, explain_totals
from planner_core.plan.known_structures import around_structures
from planner_core.plan.result import PlanResult
from planner_core.provenance import Basis, Explanation, Input, Step
from planner_core.units import MIB
from planner_core.wire import adapter

MOST_BYTES_KEPT: Final = 12 * MIB
"""The memory for kept texts: enough for two of the largest plans, each of which has 4 MB of them."""
_BYTES_OF_BASES: Final = 8_000
"""Roughly the memory for the bases of the figures of one structure."""
_NO_INPUTS, _NO_STEPS = b'"inputs":[]', b'"steps":[]'


class WrittenStructure(NamedTuple):
    """The text of the explanations of one structure, and the basis of each of its figures by pointer."""

    text: CompressedPart
    bases: Mapping[str, Basis]


class KnownExplanations(LastUsed[WrittenStructure]):
    """The texts that were used last, up to a number of bytes."""

    def __init__(self, most_bytes: int = MOST_BYTES_KEPT) -> None:
        super().__init__(most_bytes, lambda written: len(written.text.data) + _BYTES_OF_BASES)


_known = KnownExplanations()


def written_explanations(
    result: PlanResult, structures: Sequence[str], *, known: KnownExplanations = _known
) -> PartedText:
    """Return the explanations of a result as one JSON object, whose parts each begin with a brace or a comma.

    The parts are `/curve`, `/structures/0` and so on, `/totals`, `/coupling_facilities` and `/comparison`.

    Args:
        result: The plan.
        structures: The canonical texts of the structures in its document.
        known: The texts of earlier results.
    """
    return PartedText.of(_parts(result, structures, known))


def _parts(
    result: PlanResult, structures: Sequence[str], known: KnownExplanations
) -> Iterator[tuple[str, CompressedPart]]:
    yield "/curve", _compressed(explain_curve(result.curve), before=b"{")
    around = around_structures(result.document)
    # With this document, an explanation cannot depend on anything that is not in the key.
    alone = replace(result, document=around)
    group = hashlib.sha256(around.model_dump_json().encode()).digest()
    own = dict(zip([each.name for each in result.document.structures], structures, strict=True))
    bases: dict[str, Basis] = {}
    for index, structure in enumerate(result.structures):
        # The two structures of the group that are not in the list are described by the rest of the document.
        text = own[structure.name] if structure.role == "application" else ""
        key = (index, structure.role, structure.curve, group, hashlib.sha256(text.encode()).digest())
        written = known.get(key)
        if written is None:
            explained = explain_structure(alone, index)
            written = WrittenStructure(
                _compressed(explained), {each.figure: each.basis for each in explained}
            )
            known.keep(key, written)
        bases |= written.bases
        yield f"/structures/{index}", written.text
    by_area: dict[str, list[Explanation]] = {}
    for each in explain_totals(result, bases):
        by_area.setdefault(f"/{each.figure.split('/')[1]}", []).append(each)
    for area, explained in by_area.items():
        yield area, _compressed(explained)
    yield "", CompressedPart.of([b"}"], level=COMPRESSION_LEVEL)


def _compressed(explained: Iterable[Explanation], *, before: bytes = b",") -> CompressedPart:
    return CompressedPart.of(_pieces(explained, before), level=COMPRESSION_LEVEL)


def _pieces(explained: Iterable[Explanation], separator: bytes) -> Iterator[bytes]:
    # Each is compressed as soon as it is written, because all of them would fill the memory.
    inputs, steps = _SharedItems(Input), _SharedItems(Step)
    for each in explained:
        # No formula can contain these empty lists, because a quotation mark is escaped inside a JSON text.
        frame = replace(each, inputs=(), steps=()).json_bytes()
        before, _, rest = frame.partition(_NO_INPUTS)
        between, _, after = rest.partition(_NO_STEPS)
        yield b"".join((
            separator, to_json(each.figure), b":", before, b'"inputs":[', inputs.json(each.inputs), b"]", between,
            b'"steps":[', steps.json(each.steps), b"]", after,
        ))  # fmt: skip
        separator = b","


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
