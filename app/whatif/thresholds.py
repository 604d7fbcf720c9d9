"""The threshold advice: its answer, and that answer for people."""

from __future__ import annotations

from collections.abc import Iterator

from app.fits.kept import Curves
from app.fits.resolve import curve_of
from planner_core.document.model import PlanDocument
from planner_core.sizing.structure_result import hundredths
from planner_core.units import format_mib, format_size
from planner_core.whatif.filling_up import only_structure
from planner_core.whatif.thresholds import ThresholdAdvice, ThresholdQuestion, advise

NAMES = {"advised": "advised", "plan": "the plan's", "defaults": "IBM's defaults", "none": "without rules"}


def answer(document: PlanDocument, question: ThresholdQuestion, curves: Curves) -> ThresholdAdvice:
    """Choose the rules.

    Raises:
        InputInvalid: There is no such structure, or it has no backlog.
        PlanRefused: No such plan can exist.
    """
    structure = question.structure or only_structure(document)
    return advise(document, structure, question, curve=curve_of(document, curves))


def lines(found: ThresholdAdvice) -> Iterator[str]:
    """The answer for people."""
    storage = "INITSIZE" if found.at == "initsize" else "SIZE"
    yield f"{found.cfrm_name}, {storage} {format_mib(found.size_bytes)}, to hold {found.hold} messages:"
    for number, each in enumerate(found.rules, start=1):
        yield f"OFFLD{number}TH({each.threshold}) OFFLD{number}SZ({each.size_over})  {each.purpose}"
        yield f"  {each.why}"
    yield ""
    yield f"{'':<16}{'holds':>12}{'usage':>10}{'offloaded':>12}  thresholds"
    for setting in found.compared:
        rules = (
            ", ".join(f"{rule.threshold} % {format_size(rule.size_bytes)}" for rule in setting.rules)
            or "none"
        )
        yield f"{NAMES[setting.name]:<16}{setting.capacity:>12}{hundredths(setting.usage_percent):>9g} %{setting.offloaded:>12}  {rules}"
