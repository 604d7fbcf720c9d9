"""The form of a scenario: boxes that people type into, and the changes that they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from planner_core.document.model import PlanDocument, Structure
from planner_core.errors import FieldProblem
from planner_core.units import format_size
from planner_core.whatif.changes import facilities_of, rules_in_words

DUPLEX = ("DISABLED", "ALLOWED", "ENABLED")
MET_WITH = (("no", "all of the backlog in the CF"), ("yes", "the offload rules at work"))
_RULE = re.compile(r"(\d{1,3})\s*%?\s*(?:over|:)\s*(\S+)", re.IGNORECASE)
_LONGEST = 200
_PLAN_FIELDS = (
    ("cfcc_level", "CFCC level", "", "cfcc_level"),
    ("queue_managers", "Queue managers, in all", "", "queue_managers"),
    ("growth_percent", "Growth a year", "%", "growth/percent_per_year"),
    ("growth_years", "for", "years", "growth/years"),
    ("target_usage_percent", "Usage at the backlog, at most", "%", "target_usage_percent"),
    ("headroom_percent", "Headroom instead", "%", "headroom_percent"),
    ("size_factor", "SIZE as a multiple of INITSIZE", "", "size_factor"),
    ("rate_factor", "Arrival rates and backlogs, times", "", "rate_factor"),
    ("outage_factor", "Outages and backlogs, times", "", "outage_factor"),
)
_STRUCTURE_FIELDS = (
    ("initsize", "INITSIZE", "initsize"),
    ("size", "SIZE", "size"),
    ("full_threshold", "FULLTHRESHOLD", "full_threshold"),
    ("rules", "Offload rules", "offload_rules"),
    ("preflist", "PREFLIST", "preflist"),
)


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a list."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class ScenarioBox:
    """A box as it was typed, with what the plan says and what is wrong."""

    name: str
    label: str
    value: str
    now: str
    unit: str = ""
    error: str = ""
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class StructurePart:
    """The boxes of one structure; open where something is typed or wrong."""

    name: str
    fields: tuple[ScenarioBox, ...]

    @property
    def is_open(self) -> bool:
        """Whether there is something to see in it."""
        return any(each.value or each.error for each in self.fields)


@dataclass(frozen=True, slots=True)
class ScenarioForm:
    """All boxes."""

    name: str
    name_error: str
    note: str
    note_error: str
    version: int
    fields: tuple[ScenarioBox, ...]
    lost: ScenarioBox
    structures: tuple[StructurePart, ...]


def shown(
    document: PlanDocument,
    typed: Mapping[str, str],
    *,
    version: int,
    problems: Sequence[FieldProblem] = (),
) -> ScenarioForm:
    """The form as it was typed, beside what the plan says."""
    changes = _named(document, typed)
    wrong = {_field_of(each.field, changes): _sentence(each.message) for each in reversed(problems)}
    now = _now(document)
    return ScenarioForm(
        name=typed.get("name", ""),
        name_error=wrong.get("name", ""),
        note=typed.get("note", ""),
        note_error=wrong.get("note", ""),
        version=version,
        fields=tuple(
            ScenarioBox(key, label, typed.get(key, ""), now[key], unit, wrong.get(key, ""))
            for key, label, unit, _ in _PLAN_FIELDS
        ),
        lost=ScenarioBox(
            "lost",
            "Coupling facility that is lost",
            typed.get("lost", ""),
            "none",
            error=wrong.get("lost", ""),
            options=tuple(Option(name, name) for name in facilities_of(document)),
        ),
        structures=tuple(_part(each, typed, wrong) for each in document.structures),
    )


def left_over(document: PlanDocument, typed: Mapping[str, str]) -> tuple[FieldProblem, ...]:
    """What was typed, or saved, for structures that this version of the plan does not have."""
    known = {each.name for each in document.structures}
    boxes = {key: label for key, label, _ in _STRUCTURE_FIELDS} | {
        "duplex": "DUPLEX",
        "met": "what the need is met with",
    }
    found = []
    for name, value in typed.items():
        structure, dot, key = name.partition(".")
        if dot and value.strip() and key in boxes and structure not in known:
            found.append(
                FieldProblem(
                    "/changes/structures",
                    f"this version of the plan has no application structure {structure}: {boxes[key]} {value.strip()} is left out of "
                    "the form",
                )
            )
    return tuple(found)


def elsewhere(
    document: PlanDocument, typed: Mapping[str, str], problems: Sequence[FieldProblem]
) -> tuple[FieldProblem, ...]:
    """Problems that stand beside no box."""
    changes = _named(document, typed)
    boxes = {key for key, *_ in _PLAN_FIELDS} | {"name", "note", "lost"}
    boxes |= {
        f"{structure.name}.{key}"
        for structure in document.structures
        for key in (*(key for key, *_ in _STRUCTURE_FIELDS), "duplex", "met")
    }
    return tuple(each for each in problems if _field_of(each.field, changes) not in boxes)


def changes_of(document: PlanDocument, typed: Mapping[str, str]) -> dict[str, Any]:
    """The changes that boxes stand for: what is not typed is not changed. What cannot be read is left to the core."""
    found: dict[str, Any] = {}
    for key, *_ in _PLAN_FIELDS:
        if key.startswith("growth"):
            continue
        if text := typed.get(key, "").strip():
            found[key] = _number(text)
    percent, years = typed.get("growth_percent", "").strip(), typed.get("growth_years", "").strip()
    if percent or years:
        own = document.growth
        found["growth"] = {
            "percent_per_year": _number(percent) if percent else own.percent_per_year,
            "years": _number(years) if years else own.years,
        }
    if lost := typed.get("lost", "").strip():
        found["lost"] = lost
    parts = [part for each in document.structures if len(part := _structure(each, typed)) > 1]
    if parts:
        found["structures"] = parts
    return found


def typed_of(changes: Mapping[str, Any], *, name: str, note: str) -> dict[str, str]:
    """The boxes of changes that were saved."""
    found = {"name": name, "note": note}
    for key, *_ in _PLAN_FIELDS:
        if key in changes:
            found[key] = _plain(changes[key])
    growth = changes.get("growth")
    if growth is not None:
        found["growth_percent"] = _plain(growth["percent_per_year"])
        found["growth_years"] = _plain(growth["years"])
    if "lost" in changes:
        found["lost"] = changes["lost"]
    for part in changes.get("structures", ()):
        at = part["name"]
        for key in ("initsize", "size", "full_threshold", "duplex"):
            if key in part:
                found[f"{at}.{key}"] = _plain(part[key])
        if "preflist" in part:
            found[f"{at}.preflist"] = " ".join(part["preflist"])
        if "size_with_offload" in part:
            found[f"{at}.met"] = "yes" if part["size_with_offload"] else "no"
        if "offload_rules" in part:
            rules = [f"{rule['usage_over']} % over {rule['size_over']}" for rule in part["offload_rules"]]
            found[f"{at}.rules"] = ", ".join(rules) or "none"
    return found


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _number(text: str) -> object:
    """A number; text that is none is left as it is, for the core to say so."""
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        value = Decimal(text) if re.fullmatch(r"-?\d{1,15}([.,]\d{1,9})?", text, re.ASCII) else None
    except InvalidOperation:
        value = None
    if value is None and re.fullmatch(r"-?\d{1,15},\d{1,9}", text, re.ASCII):
        return Decimal(text.replace(",", "."))
    return text if value is None else value


def _structure(structure: Structure, typed: Mapping[str, str]) -> dict[str, Any]:
    at = structure.name
    found: dict[str, Any] = {"name": at}
    for key in ("initsize", "size"):
        if text := typed.get(f"{at}.{key}", "").strip():
            found[key] = int(text) if text.isascii() and text.isdigit() else text
    if text := typed.get(f"{at}.full_threshold", "").strip():
        found["full_threshold"] = _number(text)
    if text := typed.get(f"{at}.duplex", "").strip():
        found["duplex"] = text
    if text := typed.get(f"{at}.preflist", "").replace(",", " ").strip():
        found["preflist"] = text.split()
    if text := typed.get(f"{at}.met", "").strip():
        found["size_with_offload"] = {"yes": True, "no": False}.get(text, text)
    if text := typed.get(f"{at}.rules", "").strip():
        found["offload_rules"] = _rules(text)
    return found


def _rules(text: str) -> object:
    """`70 % over 32K, 80 % over 4K`; none for no rule at all."""
    if text.lower() == "none":
        return []
    parts = [each.strip() for each in re.split(r"[,;]", text) if each.strip()]
    read = [_RULE.fullmatch(each) for each in parts]
    if not all(read):
        return text
    return [{"usage_over": int(each[1]), "size_over": each[2]} for each in read if each is not None]


def _named(document: PlanDocument, typed: Mapping[str, str]) -> list[str]:
    """Names of the structures that are changed, in the order in which the changes name them."""
    return [part["name"] for part in changes_of(document, typed).get("structures", ())]


def _field_of(pointer: str, changed: Sequence[str]) -> str:
    """The box that a pointer into the scenario means; the pointer itself where there is none."""
    _, area, *rest = (*pointer.split("/"), "")
    if area in ("name", "note"):
        return area
    path = "/".join(rest).strip("/")
    for key, _, _, at in _PLAN_FIELDS:
        if path == at:
            return key
    if path == "growth":
        return "growth_percent"
    if path == "lost":
        return "lost"
    parts = path.split("/")
    if parts[0] == "structures" and len(parts) > 2 and parts[1].isdigit() and int(parts[1]) < len(changed):  # noqa: PLR2004 - structures, number, key
        key = {"offload_rules": "rules", "size_with_offload": "met", "offload": "rules"}.get(
            parts[2], parts[2]
        )
        return f"{changed[int(parts[1])]}.{key}"
    return pointer


def _sentence(message: str) -> str:
    if message in ("must be a list", "must be text in quotes, such as 'CF01'"):
        message = "must be written as the plan's are shown below"
    return f"{message[:1].upper()}{message[1:].removesuffix('.')}."


def _now(document: PlanDocument) -> dict[str, str]:
    """What the plan says, for each box."""

    def plain(value: Decimal) -> str:
        return f"{value.normalize():f}"

    return {
        "cfcc_level": str(document.cfcc_level),
        "queue_managers": str(document.queue_manager_count),
        "growth_percent": plain(document.growth.percent_per_year),
        "growth_years": plain(document.growth.years),
        "target_usage_percent": plain(document.target_usage_percent),
        "headroom_percent": "none" if document.headroom_percent is None else plain(document.headroom_percent),
        "size_factor": plain(document.size_factor),
        "rate_factor": "1",
        "outage_factor": "1",
    }


def _part(structure: Structure, typed: Mapping[str, str], wrong: Mapping[str, str]) -> StructurePart:
    return StructurePart(structure.name, tuple(_structure_fields(structure, typed, wrong)))


def _structure_fields(
    structure: Structure, typed: Mapping[str, str], wrong: Mapping[str, str]
) -> Iterator[ScenarioBox]:
    at = structure.name
    now = {
        "initsize": "computed" if structure.initsize is None else format_size(structure.initsize),
        "size": "computed" if structure.size is None else format_size(structure.size),
        "full_threshold": str(structure.full_threshold),
        "rules": rules_in_words(structure.offload.rules),
        "preflist": " ".join(structure.preflist) or "all, in order",
    }
    for key, label, _ in _STRUCTURE_FIELDS:
        name = f"{at}.{key}"
        unit = "%" if key == "full_threshold" else ""
        yield ScenarioBox(name, label, typed.get(name, ""), now[key], unit, wrong.get(name, ""))
    for key, label, value, options in (
        ("duplex", "DUPLEX", structure.duplex, tuple(Option(each, each) for each in DUPLEX)),
        (
            "met",
            "The need is met with",
            dict(MET_WITH)["yes" if structure.size_with_offload else "no"],
            tuple(Option(each, words) for each, words in MET_WITH),
        ),
    ):
        name = f"{at}.{key}"
        yield ScenarioBox(name, label, typed.get(name, ""), value, "", wrong.get(name, ""), options)


def bounded(fields: Mapping[str, str]) -> dict[str, str]:
    """Boxes cut to what anybody would type; the note is judged by the store."""
    return {key: value if key == "note" else value[:_LONGEST] for key, value in fields.items()}
