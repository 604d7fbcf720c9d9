"""One outage of a structure: its answer, and that answer for people."""

from __future__ import annotations

import math
from collections.abc import Iterator

from app.fits.kept import Curves
from app.fits.resolve import curve_of
from planner_core.document.model import PlanDocument
from planner_core.units import format_mib
from planner_core.whatif.filling_up import FillingUp, Outage, fill_up, only_structure, shown_minutes


def answer(document: PlanDocument, question: Outage, curves: Curves) -> FillingUp:
    """Let the outage happen.

    Raises:
        InputInvalid: There is no such structure, or its mix cannot be changed.
        PlanRefused: No such plan can exist.
    """
    structure = question.structure or only_structure(document)
    return fill_up(document, structure, question, curve=curve_of(document, curves))


def lines(found: FillingUp) -> Iterator[str]:
    """The answer for people."""
    last = found.points[-1]
    storage = "INITSIZE" if found.question.at == "initsize" else "SIZE"
    yield f"{found.result.cfrm_name}, {storage} {format_mib(found.size_bytes)}: {found.messages_arriving} messages arrive in {shown_minutes(found.outage_minutes):g} minutes"
    for moment in found.events:
        yield f"{shown_minutes(moment.minutes):>10.1f} min  {moment.messages:>12} messages  {math.ceil(moment.usage_percent * 10) / 10:5.1f} %  {moment.text}"
    if found.lasts_minutes is None:
        yield (
            "It would never be full: every queue stops at its MAXDEPTH."
            if found.messages_arriving
            else "It never fills."
        )
    else:
        lasts = f"full after {math.floor(found.lasts_minutes * 10) / 10:.1f} minutes, with {found.capacity} messages."
        yield (
            f"It is {lasts}"
            if found.full_at_minutes is not None
            else f"If no queue's outage ended, it would be {lasts}"
        )
    if last.pages:
        where = (
            "in each data set, if one queue manager puts everything"
            if found.offload_to == "SMDS"
            else "in Db2"
        )
        yield f"Offloaded data takes {format_mib(found.offload_bytes(last))} {where}."
