"""Checks for the fields that the complete IXCMIAPU job needs."""

from __future__ import annotations

from collections.abc import Iterator

from planner_core.document.model import (
    PlanDocument,
)
from planner_core.findings import Finding, finding

_SHOWN = 6


def missing_for_job(document: PlanDocument) -> tuple[str, ...]:
    """Return the JSON pointers of missing fields that the complete job needs."""
    missing = [] if document.policy.name else ["/policy/name"]
    if not document.coupling_facilities:
        missing.append("/coupling_facilities")
    for index, cf in enumerate(document.coupling_facilities):
        missing.extend(
            f"/coupling_facilities/{index}/{key}"
            for key in ("type", "mfg", "plant", "sequence", "partition")
            if getattr(cf, key) is None
        )
    # A job defines a whole policy, in which each name of a PREFLIST needs its CF statement.
    known = {cf.name for cf in document.coupling_facilities}
    lists = {"/admin": document.admin.preflist}
    lists |= {
        f"/structures/{index}": structure.preflist for index, structure in enumerate(document.structures)
    }
    if document.system.include:
        lists["/system"] = document.system.preflist
    missing.extend(f"{at}/preflist" for at, names in lists.items() if known and not known.issuperset(names))
    return tuple(missing)


def job_incomplete(document: PlanDocument) -> tuple[Finding, ...]:
    """Return the finding on fields that the complete job lacks; empty if it lacks none."""
    missing = missing_for_job(document)
    if not missing:
        return ()
    rest = len(missing) - _SHOWN
    shown = ", ".join(missing[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
    return (
        finding(
            "JOB_INCOMPLETE",
            f"The complete job needs the policy name, the hardware of every coupling facility, and every coupling facility of a PREFLIST; missing: {shown}.",
            field=missing[0],
        ),
    )


def check_job(document: PlanDocument) -> Iterator[Finding]:
    """Yield the findings on the complete job, if the plan asks for it."""
    if not document.policy.job:
        return
    yield from job_incomplete(document)
    yield finding(
        "JOB_HOLDS_ONLY_THIS_PLAN",
        "The policy in the job contains only the structures of this plan. Activating a policy that omits an allocated "
        "structure makes that structure pending deletion: merge the fragment unless this sysplex has no other structures.",
        field="/policy/job",
    )
