"""Answers about the running system; nothing is stored."""

from __future__ import annotations

from collections.abc import Sequence

from app.running.texts import invalid
from planner_core import names
from planner_core.errors import NameSyntax
from planner_core.plan.result import PlanResult
from planner_core.running.compare import Comparison, compare
from planner_core.running.from_running import PlanFromRunning, plan_from
from planner_core.running.lint import Lint, lint
from planner_core.running.merge import MergedPolicy, merge
from planner_core.running.others import OtherStructuresFound, with_other_structures
from planner_core.running.state import Running, read_running
from planner_core.running.unstated import DEFAULT_UNSTATED, Unstated
from planner_core.wire import JsonObject


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


def checked(
    text: str, *, cfcc_level: int | None = None, queue_managers: int | None = None, qsg: str | None = None
) -> Lint:
    """Check a text without a plan."""
    return lint(text, cfcc_level=cfcc_level, queue_managers=queue_managers, qsg=_group(qsg))


def merged(
    result: PlanResult,
    policy: str,
    *,
    unstated: Unstated = DEFAULT_UNSTATED,
    policy_name: str | None = None,
    current: Sequence[str] = (),
) -> MergedPolicy:
    """Merge a plan into a policy; sizes that become smaller are compared with the displays in `current`.

    Raises:
        InputInvalid: `current` describes no running system.
    """
    # Displays are optional; without them, a smaller size cannot be compared with the storage in use.
    running = read_current(current) if current else None
    return merge(policy, result, unstated=unstated, policy_name=policy_name, running=running)


def read_current(texts: Sequence[str], *, field: str = "/current") -> Running:
    """Read the running system.

    Raises:
        InputInvalid: The texts describe no running system.
    """
    running = read_running(texts)
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
    result: PlanResult, texts: Sequence[str], *, unstated: Unstated = DEFAULT_UNSTATED
) -> Comparison:
    """Compare a plan with the running system."""
    return compare(result, read_current(texts), unstated=unstated)


def with_others(document: JsonObject, texts: Sequence[str]) -> OtherStructuresFound:
    """Return a plan document with the structures of the texts that are not its group's.

    Raises:
        InputInvalid: The texts describe no running system.
        DocumentInvalid: The document is not valid.
    """
    return with_other_structures(document, read_current(texts))


def made(
    texts: Sequence[str],
    *,
    qsg: str | None = None,
    queue_managers: int | None = None,
    message_bytes: int | None = None,
) -> PlanFromRunning:
    """Create a plan from the running system.

    Raises:
        InputInvalid: The texts describe no running system, or `qsg` is not a valid name.
    """
    group = _group(qsg)
    running = read_current(texts)
    return plan_from(running, qsg=group, queue_managers=queue_managers, message_bytes=message_bytes)
