"""The z/OSMF workflow of a merged policy: its job defines the complete policy under a new name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from planner_core import names
from planner_core.errors import NameSyntax
from planner_core.plan.result import PlanResult
from planner_core.running.merge import MergedPolicy, MergeRefused
from planner_core.running.policy import PolicyDefinition, policies
from planner_core.texts.cfrm.render import LAST_COLUMN, listed
from planner_core.texts.cfrm.text import (
    Piece,
    PolicyText,
    TextStatement,
    has_quote,
    read_policy_text,
    unquoted,
)
from planner_core.texts.zosmf.workflow import MOST_TEMPLATE_LINES, CompletePolicy, workflow

_AROUND_THE_STATEMENTS = 5
"""Lines of the job that are not input of IXCMIAPU."""


class PolicyNameRefused(MergeRefused):
    """A name that the workflow cannot give to the new policy."""


def merged_workflow(result: PlanResult, merged: MergedPolicy, name: str) -> str:
    """Return the workflow that defines a merged policy under a new name, with all its statements.

    Comments are left out, and each keyword is on a line of its own, so that no line is too long and no comment ends the
    input of the job. The statements are read again and compared with those of the merged policy.

    Args:
        result: The plan.
        merged: The policy with the plan merged into it.
        name: The name of the new policy.

    Raises:
        PolicyNameRefused: The name is not valid, or is that of the current policy.
        MergeRefused: The text is not one complete policy without errors, or the job could not state it unchanged.
    """
    try:
        names.policy(name)
    except NameSyntax as error:
        raise PolicyNameRefused(str(error)) from None
    policy = _complete(merged, name)
    lines = (
        " DATA TYPE(CFRM) REPORT(YES)",
        f" DEFINE POLICY NAME({name}) REPLACE(NO)",
        *(line for each in (*policy.facilities, *policy.structures) for line in _lines(each)),
    )
    (written,) = policies(read_policy_text("\n".join(lines) + "\n"))
    if _values(written) != _values(policy) or max(map(len, lines)) > LAST_COLUMN:
        msg = "The statements of the merged policy cannot be written so that they are read back with the same values: define it from the text."
        raise MergeRefused(msg)
    if len(lines) + _AROUND_THE_STATEMENTS > MOST_TEMPLATE_LINES:
        msg = f"The job would have more than {MOST_TEMPLATE_LINES:,} lines, the most that z/OSMF submits: define the policy from the text."
        raise MergeRefused(msg)
    assert policy.name is not None  # noqa: S101 - a complete policy has one
    return workflow(result, CompletePolicy(name, policy.name, lines))


def _complete(merged: MergedPolicy, name: str) -> PolicyDefinition:
    errors = tuple(each for each in merged.findings if each.severity == "error")
    if errors:
        msg = "The merged policy has errors, so there is no workflow for it."
        raise MergeRefused(msg, errors)
    read = read_policy_text(merged.policy)
    found = policies(read)
    verbs = [each.verb for each in read.statements if each.verb not in {"DATA", "CF", "STRUCTURE"}]
    if len(found) != 1 or found[0].definition is None or verbs != ["DEFINE POLICY"]:
        msg = "A workflow needs the text of one complete policy, with DEFINE POLICY and no other policy."
        raise MergeRefused(msg)
    if found[0].name is None:
        msg = "The policy has no name that can be read in DEFINE POLICY, so it is not clear which policy is the current one."
        raise MergeRefused(msg)
    if not found[0].facilities:
        msg = "The policy has no CF statement, so it is not complete: enter the whole current policy."
        raise MergeRefused(msg)
    if found[0].name == name:
        msg = f"{name} is the name of the current policy. Choose another one, so that the current policy can be started again."
        raise PolicyNameRefused(msg)
    if read.problems:
        first = read.problems[0]
        msg = f"Line {first.line} of the merged policy is not a statement: {first.message} Remove it, so that nothing is left out."
        raise MergeRefused(msg)
    _check_words(read, (*found[0].facilities, *found[0].structures))
    return found[0]


def _check_words(read: PolicyText, statements: Iterable[TextStatement]) -> None:
    """Refuse words that the job would not state as the policy does."""
    for statement in statements:
        for piece in read.pieces[statement.first : statement.last + 1]:
            reason = _changes(piece)
            if reason:
                msg = f"Line {piece.line} of the merged policy has {reason}, which a workflow cannot state unchanged: define the policy from the text."
                raise MergeRefused(msg)


def _changes(piece: Piece) -> str:
    """Return why the job would not state a piece as it is: XML has no control characters, and values are single words."""
    if piece.kind == "word":
        if not (piece.text.isascii() and piece.text.isprintable()):
            return "characters outside of printable ASCII"
        if has_quote(unquoted(piece.text)):
            return "several words in quotes"
    # Blanks of Unicode separate words here, but would be characters of a word for IXCMIAPU.
    if piece.kind == "blank" and not piece.text.isascii():
        return "blanks outside of ASCII"
    return ""


def _lines(statement: TextStatement) -> Iterator[str]:
    yield f"   {statement.verb} NAME({statement.one('NAME')})"
    for parameter in statement.parameters:
        if parameter.keyword != "NAME":
            yield from listed(parameter.keyword, parameter.values)


def _values(policy: PolicyDefinition) -> list[tuple[str, list[tuple[str, tuple[str, ...]]]]]:
    return [
        (each.verb, sorted((parameter.keyword, parameter.values) for parameter in each.parameters))
        for each in (*policy.facilities, *policy.structures)
    ]
