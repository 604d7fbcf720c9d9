"""Check a text without a plan: a CFRM policy, MQSC definitions, displays; every finding with its line.

It applies the checks of a plan that need no plan, and the syntax that IBM publishes. Findings state which ranges are
from memory. Rules that need a figure of a plan, such as a backlog, are left out; the caller may give a CFCC level and
a number of queue managers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planner_core.bounds import check_lines, check_structures
from planner_core.checks.name_prefixes import NamesInText
from planner_core.findings import RANKS
from planner_core.running.displays import lint_displays
from planner_core.running.line_findings import LineFinding, finding_at
from planner_core.running.lint_mqsc import lint_mqsc
from planner_core.running.lint_policy import has_policy, lint_policy
from planner_core.texts.cfrm.text import read_policy_text
from planner_core.texts.mqsc.commands import has_commands, without_commands
from planner_core.wire import Answer

TextKind = Literal["policy", "mqsc", "display"]


@dataclass(frozen=True, slots=True)
class Lint(Answer):
    """The kinds of a text, and its findings in the order of its lines."""

    kinds: tuple[TextKind, ...]
    lines: int
    structures: int
    findings: tuple[LineFinding, ...]


def lint(
    text: str, *, cfcc_level: int | None = None, queue_managers: int | None = None, qsg: str | None = None
) -> Lint:
    """Check a text with policies, MQSC or displays, without a plan.

    Args:
        text: A policy, MQSC, displays, or several of them in one text.
        cfcc_level: CFCC level of the coupling facilities; None if unknown.
        queue_managers: Number of queue managers defined to the group; None if unknown.
        qsg: Name of the group; None for the groups whose CSQ_ADMIN or CSQSYSAPPL the text names.

    Raises:
        TextTooLong: It has more lines, words or structures than any legal text.
    """
    # Checked first, because reading more lines or structures than any legal text has would take too long.
    check_lines(text)
    check_structures(text)
    known = NamesInText.of(text.upper(), qsg=qsg)
    kinds: list[TextKind] = []
    found: list[LineFinding] = []
    structures = 0
    shown, displayed = lint_displays(text, queue_managers=queue_managers, cfcc_level=cfcc_level)
    if has_policy(text):
        kinds.append("policy")
        lines, count = lint_policy(
            read_policy_text(without_commands(text)),
            cfcc_level=cfcc_level,
            queue_managers=queue_managers,
            is_mixed=bool(displayed),
        )
        found += lines
        structures += count
    if has_commands(text):
        kinds.append("mqsc")
        lines, count = lint_mqsc(text, known=known)
        found += lines
        structures += count
    # Words of a policy or of MQSC can look like damaged displays; they count only if the text contains nothing else.
    if displayed or (shown and not kinds):
        kinds.append("display")
        found += shown
        structures += displayed
    if not kinds:
        message = "No policy statement, no DEFINE or ALTER of CFSTRUCT or QLOCAL, and no display was found. Enter the input of IXCMIAPU, MQSC, or the output of D XCF,STR,STRNAME= or DISPLAY CFSTRUCT."
        found.append(finding_at("NOTHING_TO_CHECK", message))
    ordered = sorted(dict.fromkeys(found), key=lambda each: (each.line or 0, RANKS[each.severity]))
    return Lint(tuple(kinds), text.count("\n") + (not text.endswith("\n")), structures, tuple(ordered))
