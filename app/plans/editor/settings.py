"""Summaries of the fields behind "More": the values that differ from those of a new plan.

A field that is not visible must not change a plan unnoticed, so the summary of a collapsed part lists what is set in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from app.plans.editor import fields
from app.plans.editor.form import Typed, blank_group, blank_structure
from app.web.forms import FormField, rows_of

GROUP = "/more"
"""Id of the part with the fields of the group, CSQ_ADMIN, CSQSYSAPPL and the policy."""
LONGEST_VALUE = 40
"""Maximum number of characters of a value in a summary."""
_STATED = ("/cfcc_level",)
"""Fields that a summary always lists: the sizes depend on the CFCC level."""
_STRUCTURE = (*fields.STRUCTURE_MORE, *fields.STRUCTURE_SIZES, *fields.STRUCTURE_OFFLOAD)
QUEUE_COLUMNS = (*fields.QUEUE_USE, *fields.QUEUE_MORE)
"""The columns of queues behind "More"."""


def summaries(typed: Typed) -> dict[str, str]:
    """Return the summary of each collapsed part, by the pointer of the part."""
    rows = rows_of(typed)
    found = {GROUP: " · ".join(_group(typed))}
    for row in rows["/structures"]:
        at = f"/structures/{row}"
        found[at] = " · ".join(_structure(typed, at))
        found[f"{at}/queues"] = " · ".join(_queues(typed, f"{at}/queues", rows[f"{at}/queues"]))
    return found


def _group(typed: Typed) -> Iterator[str]:
    blank = blank_group()
    yield from _settings(typed, blank, "/", fields.GROUP_MORE)
    for at, prefix, specs in (
        ("/admin/", "CSQ_ADMIN ", (*fields.ADMIN, *fields.ADMIN_MORE)),
        ("/system/", "CSQSYSAPPL ", (*fields.SYSTEM, *fields.SYSTEM_MORE)),
        ("/policy/", "", fields.POLICY),
    ):
        for words in _settings(typed, blank, at, specs):
            yield words if prefix.strip() in words else prefix + words


def _structure(typed: Typed, at: str) -> Iterator[str]:
    blank = {at + name: text for name, text in blank_structure().items()}
    yield from _settings(typed, blank, f"{at}/", _STRUCTURE)
    for number in range(fields.RULES):
        rule = f"{at}/offload/rules/{number}/"
        for words in _settings(typed, blank, rule, fields.RULE):
            yield f"rule {number + 1}: {words}"


def _queues(typed: Typed, at: str, rows: Iterable[int]) -> Iterator[str]:
    """Yield each column with values and the number of queues that have one."""
    counts = Counter(
        spec.name
        for row in rows
        for spec in QUEUE_COLUMNS
        if typed.get(f"{at}/{row}/{spec.name}", "").strip()
    )
    yield from (f"{spec.label} {counts[spec.name]}" for spec in QUEUE_COLUMNS if counts[spec.name])


def _settings(typed: Typed, blank: Mapping[str, str], at: str, specs: Iterable[FormField]) -> Iterator[str]:
    for spec in specs:
        name = at + spec.name
        text = typed.get(name, "").strip()
        if text != blank.get(name, "").strip() or (name in _STATED and text):
            yield _setting(spec, text)


def _setting(spec: FormField, text: str) -> str:
    if spec.kind == "yes":
        label, is_keyword, _ = spec.label.partition("(YES)")
        return f"{label}({'YES' if text else 'NO'})" if is_keyword else f"{label}: {'yes' if text else 'no'}"
    if spec.kind in ("choice", "switch"):
        text = dict(spec.options).get(text, text)
    shown = text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
    return f"{spec.label} {shown or 'empty'}{f' {spec.unit}' if spec.unit and shown else ''}"
