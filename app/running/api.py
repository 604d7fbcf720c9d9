"""Routes about the running system."""

from __future__ import annotations

from app.audit.recording import AuditObject
from app.fits.dependencies import CurvesDep
from app.fits.kept import Curves
from app.plans.release import DOCUMENT, ReleaseDep
from app.running import service
from app.running.requests import (
    DiffRequest,
    FromRunningRequest,
    LintRequest,
    MergeRequest,
    OtherStructuresRequest,
    plan_of,
    read_request,
    texts_of,
)
from app.web.body import DocumentBody
from app.web.openapi import json_request, problems
from app.web.router import Router
from planner_core.running.compare import Comparison
from planner_core.running.from_running import PlanFromRunning
from planner_core.running.lint import Lint
from planner_core.running.merge import MergedPolicy
from planner_core.running.others import OtherStructuresFound

router = Router(prefix="/api/v1", tags=["what runs"])


@router.post(
    "/lint",
    summary="Check a policy, MQSC or displays",
    response_description="Every finding with its line.",
    openapi_extra=json_request("LintRequest"),
    responses=problems(413, 415, 422),
)
def lint(body: DocumentBody) -> Lint:
    """Check a CFRM policy, MQSC definitions or displays without a plan. Damaged texts are checked as well."""
    request = read_request(LintRequest, body)
    return service.checked(
        request.text,
        cfcc_level=request.cfcc_level,
        queue_managers=request.queue_managers,
        qsg=request.qsg,
        size_unit=request.size_unit,
    )


@router.post(
    "/merge",
    summary="Merge a plan into a policy",
    response_description="The merged policy, its changes and the difference; with `workflow_name` also a z/OSMF workflow.",
    openapi_extra=json_request("MergeRequest"),
    responses=problems(413, 415, 422),
)
def merge(body: DocumentBody, curves: CurvesDep, release: ReleaseDep) -> MergedPolicy:
    """Take the complete current policy; return the merged policy, with all other statements unchanged byte for byte."""
    found, qsg = merged_policy(body, curves)
    release.record(AuditObject(DOCUMENT, qsg), service.released_texts(found))
    return found


def merged_policy(body: bytes, curves: Curves) -> tuple[MergedPolicy, str]:
    """Return the merged policy that a request asks for, and the group of its plan."""
    request = read_request(MergeRequest, body)
    result = plan_of(request.plan, curves)
    found = service.merged(
        result,
        request.policy,
        unstated=request.unstated,
        policy_name=request.policy_name,
        current=texts_of(request.current or ()),
        size_unit=request.size_unit,
        workflow_name=request.workflow_name,
    )
    return found, result.document.qsg


@router.post(
    "/diff",
    summary="Compare the running system with a plan",
    response_description="The current, needed and planned size of each structure, and the commands in order.",
    openapi_extra=json_request("DiffRequest"),
    responses=problems(413, 415, 422),
)
def diff(body: DocumentBody, curves: CurvesDep) -> Comparison:
    """Compare the running system with a plan; list the commands to change it, each with the time it takes effect."""
    request = read_request(DiffRequest, body)
    return service.compared(
        plan_of(request.plan, curves),
        texts_of(request.current),
        unstated=request.unstated,
        size_unit=request.size_unit,
    )


@router.post(
    "/plan-from-running",
    summary="Create a plan from the running system",
    response_description="The plan document, and the values that no display shows.",
    openapi_extra=json_request("FromRunningRequest"),
    responses=problems(413, 415, 422),
)
def plan_from_running(body: DocumentBody) -> PlanFromRunning:
    """Create a plan document from a policy, displays and definitions. It describes the running system until you edit it."""
    request = read_request(FromRunningRequest, body)
    return service.made(
        texts_of(request.current),
        qsg=request.qsg,
        queue_managers=request.queue_managers,
        message_bytes=request.message_bytes,
        size_unit=request.size_unit,
    )


@router.post(
    "/other-structures",
    summary="Add structures of Db2 and others to a plan",
    response_description="The plan document with `other_structures` replaced, and the structures that were left out.",
    openapi_extra=json_request("OtherStructuresRequest"),
    responses=problems(413, 415, 422),
)
def other_structures(body: DocumentBody) -> OtherStructuresFound:
    """Take structures that are not the group's from a policy or displays into a plan, to count them in its coupling facilities."""
    request = read_request(OtherStructuresRequest, body)
    return service.with_others(request.plan, texts_of(request.current), size_unit=request.size_unit)
