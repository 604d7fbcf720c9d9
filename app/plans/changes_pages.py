"""Differences between versions in the terms of the editor: location, label, and both values with their units.

Change boards read them, so additions and removals have a line for each member, and locations are labels instead of
pointers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, overload

from app.plans.editor import fields
from app.sizing.calculator.answer import LABELS
from app.web.field_values import Kind, text_of
from app.web.forms import FormField
from app.web.rendering import grouped, plain
from planner_core.document.compare import Difference, differences
from planner_core.document.problems import pointer_steps
from planner_core.document.reading import read_object
from planner_core.units import KIB
from planner_core.wire import JsonObject

MOST_LINES = 60
"""Maximum number of lines for one addition or removal; a structure has up to 512 queues."""
_NOTHING = "\N{EN DASH}"

_PLACES = {"admin": "CSQ_ADMIN", "system": "CSQSYSAPPL", "policy": "CFRM policy", "totals": "Total"}
_KINDS_OF_THINGS = {"coupling_facilities": "Coupling facility", "structures": "Structure", "queues": "Queue"}
_FACILITY = (*fields.FACILITY, *fields.FACILITY_MORE)
_STRUCTURE = (*fields.STRUCTURE, *fields.STRUCTURE_MORE, *fields.STRUCTURE_SIZES, *fields.STRUCTURE_OFFLOAD)
_SPECS: Mapping[str, Mapping[str, FormField]] = {
    at: {spec.name: spec for spec in specs}
    for at, specs in (
        ("", (*fields.GROUP, *fields.GROUP_MORE, *fields.CLUSTERS)),
        ("/admin", (*fields.ADMIN, *fields.ADMIN_MORE)),
        ("/system", (*fields.SYSTEM, *fields.SYSTEM_MORE)),
        ("/policy", fields.POLICY),
        ("/coupling_facilities/*", _FACILITY),
        ("/structures/*", _STRUCTURE),
        ("/structures/*/offload/rules/*", fields.RULE),
        ("/structures/*/queues/*", fields.QUEUE_ALL),
        ("/acknowledged/*", fields.ACKNOWLEDGED),
    )
}
_NAMED_LISTS = (
    "/coupling_facilities",
    "/structures",
    "/structures/*/queues",
    "/structures/*/offload/rules",
    "/acknowledged",
)
_CALLED = {
    "put_rate_per_s": "Put rate",
    "outage_minutes": "Outage",
    "get_rate_per_s": "Get rate",
    "structures": "Structures",
    "minsize_kib": "MINSIZE",
    "planned_initsize_kib": "structures at INITSIZE",
    "planned_size_kib": "structures at SIZE",
    "second_copies_kib": "second copies at INITSIZE",
    "second_copies_size_kib": "second copies at SIZE",
    "free_kib": "free at INITSIZE",
    "free_at_size_kib": "free at SIZE",
    "full_threshold": "FULLTHRESHOLD",
    "allow_auto_alter": "ALLOWAUTOALT(YES)",
    "preflist": "PREFLIST",
    "exclist": "EXCLLIST",
    "duplex": "DUPLEX",
    "initsize_given": "INITSIZE specified",
    "size_given": "SIZE specified",
    "target_usage_percent": "Maximum usage at the backlog",
    "target_lowered_by": "Reduced by the offload rule",
    "cfrm_name": "Name in the CFRM policy",
    "role": "Purpose",
    "core_version": "Computed by cfplan",
    "qsg": "Queue-sharing group",
    "queue_managers": "Queue managers",
    "cfcc_level": "CFCC level",
    "offload_steps": "Offload rule in effect",
    "threshold": "at a usage of",
    "size_bytes": "for messages over",
    "at_messages": "from a backlog of",
    "schema_version": "Version of the document format",
    "id": "which",
    "base_bytes": "base",
    "bundle_bytes": "bytes of an entry with its elements",
    "header_bytes": "bytes before each message",
    "entry_bytes": "bytes of an entry",
    "element_bytes": "bytes of an element",
}
_UNITS = {
    "backlog": "messages",
    "put_rate_per_s": "messages a second",
    "outage_minutes": "minutes",
    "get_rate_per_s": "messages a second",
    "maxdepth": "messages",
    "curdepth": "messages",
    "entsmax": "entries",
    "elements_total": "elements",
    "shared_channels": "channels",
    "messages": "messages",
    "at_messages": "messages",
    "messages_in_initsize": "messages",
    "messages_in_initsize_with_offload": "messages",
    "messages_in_size": "messages",
    "messages_in_size_with_offload": "messages",
    "offloaded_at_backlog": "messages",
    "full_threshold": "%",
    "target_usage_percent": "%",
    "threshold": "%",
}


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One difference in words. A value consists of several lines, or of none if it is absent."""

    kind: str
    place: str
    label: str
    before: tuple[str, ...]
    after: tuple[str, ...]


class ChangeRows(Sequence[ChangeRow]):
    """Differences as rows. Each row is made when it is read: a page shows a few hundred of up to a million."""

    def __init__(self, found: Sequence[Difference], value: Any) -> None:  # noqa: ANN401 - as `_change`
        self._found, self._value = found, value

    def __len__(self) -> int:
        """Return the number of all differences."""
        return len(self._found)

    @overload
    def __getitem__(self, at: int) -> ChangeRow: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[ChangeRow, ...]: ...

    def __getitem__(self, at: int | slice) -> ChangeRow | tuple[ChangeRow, ...]:
        """Return a row, or the rows of a part."""
        if isinstance(at, slice):
            return tuple(_change(each, self._value) for each in self._found[at])
        return _change(self._found[at], self._value)


def document_changes(before: object, after: object) -> ChangeRows:
    """Return the differences of two plan documents."""
    return ChangeRows(differences(before, after), _document_value)


def result_changes(before: object, after: object) -> ChangeRows:
    """Return the differences of two results, without the advice on queue depths."""
    # The advice follows from the sizes: it would repeat their differences for each of up to 512 queues.
    found = differences(_without_advice(before), _without_advice(after))
    return ChangeRows(found, _result_value)


def _without_advice(result: object) -> object:
    if not isinstance(result, Mapping) or not isinstance(result.get("structures"), list):
        return result
    structures = [
        {key: value for key, value in structure.items() if key != "depth_events"}
        for structure in result["structures"]
    ]
    return {**result, "structures": structures}


def _change(found: Difference, value: Any) -> ChangeRow:  # noqa: ANN401 - one of the two functions below
    steps = pointer_steps(found.pointer)
    place, general, rest = _place(steps)
    label, spec = _label(general, rest)
    before, after = (
        () if absent else tuple(value(general, rest, spec, each))
        for absent, each in ((found.kind == "added", found.before), (found.kind == "removed", found.after))
    )
    return ChangeRow(found.kind, place, label, before, after)


def place_words(pointer: str) -> str:
    """Return the place of a difference of two documents in words: `Structure APPL1, queue IN: Backlog`."""
    place, general, rest = _place(pointer_steps(pointer))
    label, _ = _label(general, rest)
    return f"{place}: {label}" if label else place


def _place(steps: Sequence[str]) -> tuple[str, str, list[str]]:
    """Return an item in words, its pointer with a star for each name, and the steps inside it."""
    words: list[str] = []
    general, at = "", 0
    while at < len(steps):
        here = f"{general}/{steps[at]}"
        if here in _NAMED_LISTS and at + 1 < len(steps):
            words.append(_thing(steps[at], steps[at + 1]))
            general, at = f"{here}/*", at + 2
        # Rules have no names: their position identifies them.
        elif here == "/structures/*/offload" and steps[at + 1 : at + 2] == ["rules"] and at + 2 < len(steps):
            general, at = here, at + 1
        elif not general and steps[at] in _PLACES:
            words.append(_PLACES[steps[at]])
            general, at = here, at + 1
        else:
            break
    return ", ".join(words) or "Group", general, list(steps[at:])


def _thing(where: str, name: str) -> str:
    if where == "rules":
        return f"offload rule {int(name) + 1 if name.isdecimal() else name}"
    if where == "acknowledged":
        return f"Acknowledged: {'entry ' + str(int(name) + 1) if name.isdigit() else name}"
    return f"queue {name}" if where == "queues" else f"{_KINDS_OF_THINGS[where]} {name}"


def _label(general: str, rest: Sequence[str]) -> tuple[str, FormField | None]:
    """Return the label of a place, and its field in the editor if it has one."""
    key = "/".join(rest)
    specs = _SPECS.get(general, {})
    for length in range(len(rest), 0, -1):
        if spec := specs.get("/".join(rest[:length])):
            return ", ".join((_CALLED.get(spec.name, spec.label), *map(_called, rest[length:]))), spec
    if key in LABELS:
        return LABELS[key][0], None
    return ", ".join(_called(step) for step in rest), None


def _called(step: str) -> str:
    if step.isdigit():
        return str(int(step) + 1)
    return LABELS[step][0] if step in LABELS else _CALLED.get(step, step.replace("_", " "))


# ---- values of a document --------------------------------------------------------------------------------------------


def _document_value(
    general: str, rest: Sequence[str], spec: FormField | None, value: object
) -> Iterator[str]:
    if spec is not None and len(rest) <= spec.name.count("/") + 1:
        yield _with_unit(spec.kind, spec.name, spec.unit, value)
    elif spec is not None:
        yield _with_unit("whole", spec.name, _unit_of(spec), value)
    elif isinstance(value, Mapping):
        yield from _cut(_members(general, value))
    elif isinstance(value, list):
        yield from (
            ", ".join(_members("", item)) if isinstance(item, Mapping) else str(item) for item in value
        )
        if not value:
            yield _NOTHING
    else:
        yield _plain(value)


def _members(general: str, value: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each member that differs from its default, and for each queue and rule."""
    standard = _standard().get(general, {})
    specs = _SPECS.get(general, {})
    for key, spec in specs.items():
        found = _at(value, key)
        # The name already appears in the place of the change.
        if found != _at(standard, key) and key != "name":
            yield f"{_CALLED.get(spec.name, spec.label)}: {_with_unit(spec.kind, spec.name, spec.unit, found)}"
    rules = _at(value, "offload/rules")
    if general == "/structures/*" and rules != _at(standard, "offload/rules"):
        for number, rule in enumerate(rules or (), start=1):
            yield f"Offload rule {number}: messages over {rule['size_over']} at more than {rule['usage_over']} % usage"
        if not rules:
            yield "No offload rule"
    for queue in value.get("queues") or () if general == "/structures/*" else ():
        yield f"Queue {queue['name']}: {queue_words(queue)}"
    if not specs:
        yield from (f"{_called(key)}: {_plain(item)}" for key, item in value.items())


def queue_words(queue: JsonObject) -> str:
    """Return a queue on one line: `1024 bytes, backlog 200 000 messages, persistent`."""
    words = [_with_unit("bytes", "message_bytes", "", queue.get("message_bytes"))]
    if queue.get("backlog") is not None:
        words.append(f"backlog {_with_unit('whole', 'backlog', '', queue['backlog'])}")
    elif queue.get("put_rate_per_s") is not None:
        rate, outage = (
            _with_unit("decimal", key, "", queue[key]) for key in ("put_rate_per_s", "outage_minutes")
        )
        words.append(f"{rate} over {outage}")
    words.append("persistent" if queue.get("persistent") else "not persistent")
    if queue.get("selector_reads"):
        words.append("read by selector")
    if queue.get("isolation"):
        words.append(f"kept apart as {queue['isolation']}")
    return ", ".join(words)


@cache
def _standard() -> Mapping[str, JsonObject]:
    """Return the defaults of a document."""
    plan = read_object(
        {
            "qsg": "Q",
            "queue_managers": 1,
            "structures": [{"name": "A"}],
            "coupling_facilities": [{"name": "A"}],
        }
    ).model_dump(mode="json")
    queue = dict.fromkeys(("message_bytes", "backlog", "put_rate_per_s", "outage_minutes", "isolation"))
    return {
        "/structures/*": plan["structures"][0],
        "/coupling_facilities/*": plan["coupling_facilities"][0],
        # None differs from both values of persistent: it has no harmless default, so it is always listed.
        "/structures/*/queues/*": {**queue, "persistent": None, "selector_reads": False, "share": True},
    }


def _at(value: Mapping[str, Any], key: str) -> Any:  # noqa: ANN401 - any JSON value
    found: Any = value
    for part in key.split("/"):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _cut(lines: Iterable[str]) -> Iterator[str]:
    every = list(lines) or ["with defaults only"]
    yield from every[:MOST_LINES]
    if len(every) > MOST_LINES:
        yield f"and {len(every) - MOST_LINES} more lines"


def _unit_of(spec: FormField) -> str:
    return "bytes" if spec.kind in ("bytes", "length") else spec.unit


def _with_unit(kind: Kind, key: str, unit: str, value: object) -> str:
    unit = _UNITS.get(key, "bytes" if kind in ("bytes", "length") else unit)
    if value is None or value in ([], ""):
        return "none given" if kind != "yes" else "no"
    if kind == "yes":
        return "yes" if value else "no"
    if kind == "bytes" and isinstance(value, Mapping):
        return ", ".join(f"{part} {_number(value[part])}" for part in ("mean", "p95", "max")) + f" {unit}"
    text = _number(value) if isinstance(value, (int, float, Decimal)) else text_of(kind, value)
    return f"{text} {unit}".strip()


def _number(value: object) -> str:
    """Return a number with its integer part in groups of three if it has more than four digits."""
    whole, point, rest = format(Decimal(str(value)), "f").partition(".")
    digits = whole.removeprefix("-")
    if len(digits) > 4:  # noqa: PLR2004
        whole = ("-" if whole != digits else "") + grouped(int(digits))
    return whole + point + rest


# ---- values of a result ----------------------------------------------------------------------------------------------


def _result_value(general: str, rest: Sequence[str], spec: FormField | None, value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if (
                key not in ("name", "cfrm_name")
                and item is not None
                and not isinstance(item, (Mapping, list))
            ):
                path = "/".join((*rest, key))
                label = LABELS[path][0] if path in LABELS else _called(key)
                yield f"{label}: {_figure(key, item)}"
            elif isinstance(item, Mapping):
                yield from _result_value(general, (*rest, key), spec, item)
        return
    yield _figure(rest[-1] if rest else "", value)


def _figure(key: str, value: object) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if key.endswith("_kib"):
            return plain(int(value) * KIB)
        if "bytes" in key and isinstance(value, int):
            return plain(value)
        unit = "%" if key.endswith("_percent") else _UNITS.get(key, "")
        return f"{_number(value)} {unit}".strip()
    return _plain(value)


def _plain(value: object) -> str:
    if value is None or value in ([], ""):
        return _NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, list):
        return " ".join(_plain(item) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{_called(key)} {_plain(item)}" for key, item in value.items())
    return str(value)
