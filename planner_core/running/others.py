"""Take the structures that are not a group's, such as those of Db2, from a policy or displays into a plan document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from planner_core import names
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.running.line_findings import LineFinding, finding_at
from planner_core.running.policy import Setting
from planner_core.running.state import Running, RunningStructure
from planner_core.units import format_size
from planner_core.wire import Answer, Hidden

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class OtherStructuresFound(Answer):
    """A plan document with the other structures of the texts."""

    document: Annotated[
        dict[str, Any], Field(description="The plan document, with `other_structures` replaced.")
    ]
    plan: Hidden[PlanDocument]
    structures: Annotated[int, Field(description="Number of structures that were taken from the texts.")]
    findings: tuple[LineFinding, ...]


def with_other_structures(document: Mapping[str, Any], running: Running) -> OtherStructuresFound:
    """Return a plan document with the structures of the texts that are not its group's.

    Args:
        document: The plan document, as an object; structures that it lists already are replaced.
        running: The texts as read.

    Raises:
        DocumentInvalid: The document, or a structure of the texts, is not valid in a plan.
    """
    plan = read_object(dict(document))
    entries, findings = other_entries(running, plan.qsg)
    planned = {
        names.cfrm_structure_name(qsg_name=plan.qsg, cfstruct_name=name)
        for name in (*names.OWN_STRUCTURES, *(each.name for each in plan.structures))
    }
    # They take storage, whether they are old ones of the group or belong to a product with such names.
    findings += _omitted(
        [
            name
            for name, each in running.structures.items()
            if names.is_structure_of(name, qsg_name=plan.qsg)
            and name not in planned
            and each.is_allocated is not False
        ],
        "named like structures of the group, but not in the plan, so their storage is not counted: add them to the plan, or to "
        "other_structures",
    )
    changed = {**document, "other_structures": entries}
    return OtherStructuresFound(changed, read_object(changed), len(entries), (*running.findings, *findings))


def other_entries(running: Running, qsg: str) -> tuple[list[dict[str, Any]], list[LineFinding]]:
    """Return the structures of the texts that are not the group's as entries of a document, and remarks on omitted ones."""
    others = [
        each for name, each in running.structures.items() if not names.is_structure_of(name, qsg_name=qsg)
    ]
    in_use = [each for each in others if each.is_allocated is not False]
    known = [entry for each in in_use if (entry := _entry(each)) is not None]
    listed = {entry["name"] for entry in known}
    findings = [
        *_omitted(
            [each.name for each in others if each.is_allocated is False],
            "not allocated, so they take no storage",
        ),
        *_omitted(
            [each.name for each in in_use if each.name not in listed],
            "without a size in the texts: add the policy, or D XCF,STR,STRNAME= of each",
        ),
    ]
    return known, findings


def _omitted(found: list[str], why: str) -> Iterator[LineFinding]:
    if found:
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        yield finding_at("OTHER_STRUCTURES_OMITTED", f"{', '.join(found[:_SHOWN])}{more}: omitted, {why}.")


def _entry(each: RunningStructure) -> dict[str, Any] | None:
    settings: Mapping[str, Setting] = each.settings or {}
    size, initsize = settings.get("SIZE"), settings.get("INITSIZE")
    if not isinstance(size, int):
        if each.size_bytes is None:
            return None
        size = each.size_bytes
    entry: dict[str, Any] = {"name": each.name, "size": format_size(size)}
    # An INITSIZE above SIZE is an error of the policy, which its own check reports; SIZE is the larger figure allowed.
    if isinstance(initsize, int) and 0 < initsize < size:
        entry["initsize"] = format_size(initsize)
    if each.size_bytes:
        entry["allocated"] = format_size(each.size_bytes)
    for keyword, key in (("PREFLIST", "preflist"), ("EXCLLIST", "exclist")):
        value = settings.get(keyword)
        if isinstance(value, tuple) and value:
            entry[key] = list(value)
    duplex = settings.get("DUPLEX")
    if each.is_duplexed or duplex in {"ALLOWED", "ENABLED"}:
        # A structure that an operator duplexes has two copies now, whatever the policy allows.
        entry["duplex"] = "ENABLED" if each.is_duplexed else duplex
        if each.duplex_site is not None:
            entry["duplex_site"] = each.duplex_site
    if each.is_order_enforced:
        entry["enforce_order"] = True
    return entry
