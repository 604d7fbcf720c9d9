"""Checks for the fields that the complete IXCMIAPU job needs."""

from __future__ import annotations

from collections.abc import Iterator

from planner_core.document.model import (
    PlanDocument,
)
from planner_core.findings import Finding, finding
from planner_core.names import ADMIN_STRUCTURE, SYSTEM_STRUCTURE
from planner_core.sizing.levels import listed

_SHOWN = 6
_HARDWARE = ("type", "mfg", "plant", "sequence", "partition")


def missing_for_job(document: PlanDocument) -> tuple[tuple[str, str], ...]:
    """Return the missing values that the complete job needs: the JSON pointer of the first of a kind, and words for all."""
    missing = [] if document.policy.name else [("/policy/name", "the policy name")]
    if not document.coupling_facilities:
        missing.append(("/coupling_facilities", "the coupling facilities"))
    for index, cf in enumerate(document.coupling_facilities):
        lacks = [key for key in _HARDWARE if getattr(cf, key) is None]
        if lacks:
            fields = ", ".join(key.upper() for key in lacks)
            missing.append((f"/coupling_facilities/{index}/{lacks[0]}", f"{fields} of {cf.name}"))
    # A job defines a whole policy, in which each name of a PREFLIST needs its CF statement.
    known = {cf.name for cf in document.coupling_facilities}
    lists = [("/admin", ADMIN_STRUCTURE, document.admin.preflist)]
    lists += [
        (f"/structures/{index}", structure.name, structure.preflist)
        for index, structure in enumerate(document.structures)
    ]
    if document.system.include:
        lists.append(("/system", SYSTEM_STRUCTURE, document.system.preflist))
    for at, name, preflist in lists:
        unknown = [each for each in preflist if each not in known]
        if known and unknown:
            missing.append((f"{at}/preflist", f"{', '.join(unknown)} from the PREFLIST of {name}"))
    return tuple(missing)


def job_incomplete(document: PlanDocument) -> tuple[Finding, ...]:
    """Return the finding on values that the complete job lacks; empty if it lacks none."""
    missing = missing_for_job(document)
    if not missing:
        return ()
    rest = len(missing) - _SHOWN
    shown = "; ".join(words for _, words in missing[:_SHOWN]) + (f"; and {rest} more" if rest > 0 else "")
    return (
        finding(
            "JOB_INCOMPLETE",
            "The complete job needs the policy name, the hardware of every coupling facility, and every coupling facility of "
            f"a PREFLIST. Missing: {shown}.",
            field=missing[0][0],
        ),
    )


def check_job(document: PlanDocument) -> Iterator[Finding]:
    """Yield the findings on the complete job, if the plan asks for it."""
    if not document.policy.job:
        return
    yield from job_incomplete(document)
    advice = "merge the fragment unless this sysplex has no other structures"
    known = [each.name for each in document.other_structures]
    if known:
        advice = (
            f"other_structures lists {listed(known)}, which this job omits, so merge the fragment instead"
        )
    yield finding(
        "JOB_HOLDS_ONLY_THIS_PLAN",
        "The policy in the job contains only the structures of this plan. Activating a policy that omits an allocated "
        f"structure makes that structure pending deletion: {advice}.",
        field="/policy/job",
    )
