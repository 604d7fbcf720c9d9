"""Answers about the running system; nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from app.running.texts import invalid
from planner_core import names
from planner_core.errors import NameSyntax
from planner_core.plan.result import PlanResult
from planner_core.running.compare import Comparison, compare
from planner_core.running.exported import ExportedPolicy, SizeUnitMissing, exported_at, is_exported
from planner_core.running.from_running import PlanFromRunning, plan_from
from planner_core.running.lint import Lint, lint
from planner_core.running.merge import MergedPolicy, merge
from planner_core.running.merged_workflow import PolicyNameRefused, merged_workflow
from planner_core.running.others import OtherStructuresFound, with_other_structures
from planner_core.running.state import Running, read_running
from planner_core.running.unstated import DEFAULT_UNSTATED, Unstated
from planner_core.texts.cfrm.policy_json import SizeUnit
from planner_core.wire import JsonObject

MERGED_POLICY: Final = "merged policy"
MERGED_WORKFLOW: Final = "workflow of a merged policy"
"""The kinds of the texts of a merge in the audit trail."""


def _group(qsg: str | None) -> str | None:
    """Return the name of a group after checking it, or None if there is none.

    Raises:
        InputInvalid: The name is not a valid group name.
    """
    if qsg is not None:
        try:
            names.qsg(qsg)
        except NameSyntax as error:
            invalid("/qsg", str(error).removesuffix("."))
    return qsg


def _exported(text: str, field: str, size_unit: SizeUnit | None) -> ExportedPolicy | None:
    """Return a policy that z/OSMF exported as JSON, or None if the text is not JSON.

    Raises:
        InputInvalid: The text is not a policy in JSON, or the unit of its sizes is not stated.
    """
    if not is_exported(text):
        return None
    try:
        return exported_at(text, field, size_unit)
    except SizeUnitMissing as error:
        invalid("/size_unit", str(error))


def checked(
    text: str,
    *,
    cfcc_level: int | None = None,
    queue_managers: int | None = None,
    qsg: str | None = None,
    size_unit: SizeUnit | None = None,
) -> Lint:
    """Check a text without a plan.

    Raises:
        InputInvalid: `qsg` is not a valid name, or a policy in JSON cannot be read.
    """
    exported = _exported(text, "/text", size_unit)
    found = lint(
        exported.text if exported else text,
        cfcc_level=cfcc_level,
        queue_managers=queue_managers,
        qsg=_group(qsg),
    )
    if exported is None:
        return found
    return replace(found, findings=(*exported.findings, *exported.pointed(found.findings)))


def merged(
    result: PlanResult,
    policy: str,
    *,
    unstated: Unstated = DEFAULT_UNSTATED,
    policy_name: str | None = None,
    current: Sequence[str] = (),
    size_unit: SizeUnit | None = None,
    workflow_name: str | None = None,
) -> MergedPolicy:
    """Merge a plan into a policy; sizes that become smaller are compared with the displays in `current`.

    Args:
        result: The plan.
        policy: The complete policy.
        unstated: The source of keywords that the document does not state: the plan or the policy.
        policy_name: The policy to use if the text has several.
        current: Displays of the structures.
        size_unit: The unit of plain sizes in JSON.
        workflow_name: The name under which a workflow defines the merged policy; None for no workflow.

    Raises:
        InputInvalid: `current` describes no running system, a policy in JSON cannot be read, or the name is not usable.
        MergeRefused: The text is no policy or is damaged, or there is no workflow for the merged policy.
        OutputRefused: The plan or the merged policy has errors.
    """
    # Displays are optional; without them, a smaller size cannot be compared with the storage in use.
    running = read_current(current, size_unit=size_unit) if current else None
    exported = _exported(policy, "/policy", size_unit)
    text = exported.text if exported else policy
    found = merge(text, result, unstated=unstated, policy_name=policy_name, running=running)
    if exported:
        found = replace(found, findings=(*exported.findings, *found.findings))
    if workflow_name is None:
        return found
    try:
        return replace(found, workflow=merged_workflow(result, found, workflow_name))
    except PolicyNameRefused as error:
        invalid("/workflow_name", str(error).removesuffix("."))


def released_texts(found: MergedPolicy) -> dict[str, str]:
    """Return the texts for z/OS of an answer, by their kind in the audit trail."""
    workflow = {} if found.workflow is None else {MERGED_WORKFLOW: found.workflow}
    return {MERGED_POLICY: found.policy, **workflow}


def read_current(
    texts: Sequence[str], *, field: str = "/current", size_unit: SizeUnit | None = None
) -> Running:
    """Read the running system.

    Raises:
        InputInvalid: The texts describe no running system, or a policy in JSON cannot be read.
    """
    exported = [
        _exported(text, f"{field}/{number}" if len(texts) > 1 else field, size_unit)
        for number, text in enumerate(texts)
    ]
    running = read_running([of.text if of else text for text, of in zip(texts, exported, strict=True)])
    told = tuple(each for of in exported if of for each in of.findings)
    running = replace(running, findings=(*told, *running.findings)) if told else running
    if running.is_empty:
        # The first unreadable line usually shows the cause: output of another command, or the wrong file.
        unread = next((each for each in running.findings if each.line), None)
        why = f" (line {unread.line}: {unread.message.removesuffix('.')})" if unread else ""
        invalid(
            field,
            f"contains nothing about the running system{why}: enter a CFRM policy, D XCF,STR,STRNAME=, DISPLAY CFSTRUCT, or DEFINE commands",
        )
    return running


def compared(
    result: PlanResult,
    texts: Sequence[str],
    *,
    unstated: Unstated = DEFAULT_UNSTATED,
    size_unit: SizeUnit | None = None,
) -> Comparison:
    """Compare a plan with the running system."""
    return compare(result, read_current(texts, size_unit=size_unit), unstated=unstated)


def with_others(
    document: JsonObject, texts: Sequence[str], *, size_unit: SizeUnit | None = None
) -> OtherStructuresFound:
    """Return a plan document with the structures of the texts that are not its group's.

    Raises:
        InputInvalid: The texts describe no running system.
        DocumentInvalid: The document is not valid.
    """
    return with_other_structures(document, read_current(texts, size_unit=size_unit))


def made(
    texts: Sequence[str],
    *,
    qsg: str | None = None,
    queue_managers: int | None = None,
    message_bytes: int | None = None,
    size_unit: SizeUnit | None = None,
) -> PlanFromRunning:
    """Create a plan from the running system.

    Raises:
        InputInvalid: The texts describe no running system, or `qsg` is not a valid name.
    """
    group = _group(qsg)
    running = read_current(texts, size_unit=size_unit)
    return plan_from(running, qsg=group, queue_managers=queue_managers, message_bytes=message_bytes)
