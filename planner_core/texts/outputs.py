"""The text outputs of a plan; the same document always gives the same bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from planner_core.checks.job import job_incomplete
from planner_core.errors import OutputRefused, UnknownOutput
from planner_core.findings import Finding
from planner_core.plan.result import PlanResult
from planner_core.texts.cfrm import render
from planner_core.texts.mqsc.render import mqsc
from planner_core.texts.xcf.runbook import runbook
from planner_core.texts.xcf.setxcf import setxcf
from planner_core.texts.zosmf.workflow import workflow

_RENDERERS: Mapping[str, tuple[Callable[[PlanResult], str], str]] = {
    "policy": (render.fragment, "policy.txt"),
    "job": (render.job, "job.jcl"),
    "mqsc": (mqsc, "define.mqsc"),
    "setxcf": (setxcf, "setxcf.txt"),
    "runbook": (runbook, "runbook.txt"),
    "workflow": (workflow, "workflow.xml"),
}
OUTPUT_KINDS = tuple(_RENDERERS)


@dataclass(frozen=True, slots=True)
class Output:
    """A text and its file name."""

    text: str
    filename: str


def errors_of(result: PlanResult) -> tuple[Finding, ...]:
    """Return the errors that block all outputs of a plan, without those of the CFRM job alone."""
    return tuple(
        finding
        for finding in result.findings
        if finding.severity == "error" and finding.code != "JOB_INCOMPLETE"
    )


def render_output(kind: str, result: PlanResult) -> Output:
    """Return one text output of a plan.

    Raises:
        UnknownOutput: The kind of output is unknown.
        OutputRefused: The plan has error-level findings, or lacks values that the job needs.
    """
    if kind not in _RENDERERS:
        raise UnknownOutput(kind, OUTPUT_KINDS)
    if kind == "mqsc":
        # It suggests thresholds for queues, which only a complete result has.
        result.check_complete()
    errors = errors_of(result)
    missing = job_incomplete(result.document) if kind == "job" else ()
    if errors or missing:
        raise OutputRefused(kind, errors + missing, is_incomplete=not errors)
    make, _ = _RENDERERS[kind]
    return Output(text=make(result), filename=output_filename(kind, result.document.qsg))


def output_filename(kind: str, qsg: str) -> str:
    """Return the file name of a text output of the plan of a queue-sharing group.

    >>> output_filename("policy", "SQ$3")
    'SQ_3-policy.txt'
    """
    _, suffix = _RENDERERS[kind]
    # Names of groups may have $, # and @, which are not safe in file names everywhere.
    prefix = re.sub(r"[^A-Z0-9]", "_", qsg)
    return f"{prefix}-{suffix}"
