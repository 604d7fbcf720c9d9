"""Merge a plan into a complete policy: only the planned values change; all other bytes stay the same.

An equal value in another notation (`512M` for `524288`, or an absent keyword with the same default) stays as it is.
Values change between their parentheses. A missing keyword is added on its own line below the last keyword of its
statement, a missing structure below the last one of the policy. A line that would grow beyond column 71 is broken, and
sequence numbers stay in their columns.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Annotated, Final

from pydantic import Field

from planner_core.bounds import check_lines, check_structures
from planner_core.errors import SHOWN_PROBLEMS, OutputRefused, PlannerError, TextTooLong
from planner_core.findings import Finding, finding
from planner_core.plan.result import PlanResult
from planner_core.running.line_findings import LineFinding, at_line, finding_at
from planner_core.running.lint_policy import DAMAGE, lint_policy, policy_name_twice, sentence
from planner_core.running.placing import as_merged, check_merged_places, errors_with_kept
from planner_core.running.policy import (
    PolicyDefinition,
    Setting,
    field_of,
    in_effect,
    is_unstated,
    planned_site,
    policies,
    stated,
    wanted,
    written,
)
from planner_core.running.shrinking import kept_settings, shrinks
from planner_core.running.state import DUPLEX_SITES, Running
from planner_core.running.unstated import DEFAULT_UNSTATED, Unstated
from planner_core.sizing.structure_result import StructureResult
from planner_core.texts.cfrm.render import LAST_COLUMN, structure_lines
from planner_core.texts.cfrm.text import (
    SEQUENCE_AT,
    VERBS,
    Piece,
    PolicyParameter,
    PolicyText,
    TextStatement,
    has_quote,
    has_sequence_number,
    read_policy_text,
    shown,
    unquoted,
)
from planner_core.texts.mqsc.commands import without_commands
from planner_core.texts.outputs import render_output
from planner_core.wire import Answer, Hidden, Omittable

LARGEST_POLICY_CHARACTERS: Final = 4_000_000
"""The maximum length of a policy: about 50,000 records. A policy of 2,048 structures with ten lines each has 20,000."""


class MergeRefused(PlannerError):
    """A plan that cannot be merged into this text; `line_findings` are the reasons."""

    def __init__(self, message: str, line_findings: tuple[LineFinding, ...] = ()) -> None:
        """Store the findings; the sentence shows the first few."""
        self.line_findings = line_findings
        self.findings: tuple[Finding, ...] = tuple(each.finding for each in line_findings)
        told = (f"Line {each.line}: {each.message}" for each in line_findings[:SHOWN_PROBLEMS])
        super().__init__(" ".join((message, *told)))


@dataclass(frozen=True, slots=True)
class PolicyChange(Answer):
    """A value or a statement that was changed in the policy."""

    structure: str
    keyword: Annotated[str | None, Field(description="Null: the entire statement was added.")]
    before: Annotated[str | None, Field(description="Null: the policy did not state it.")]
    after: str
    from_default: Annotated[bool, Field(description="Whether the plan document leaves it at its default.")]
    remark: Hidden[str | None] = None
    """The comment after the value that was changed."""
    line: Annotated[int, Field(description="Line number in the merged policy, starting at 1.")] = 1


@dataclass(frozen=True, slots=True)
class MergedPolicy(Answer):
    """The merged policy: everything that the plan does not change is unchanged, byte for byte."""

    policy_name: str | None
    policy: str
    changes: tuple[PolicyChange, ...]
    difference: Annotated[str, Field(description="In the format of `diff -u`; empty if nothing changed.")]
    findings: tuple[LineFinding, ...]
    workflow: Annotated[
        Omittable[str],
        Field(description="With `workflow_name`: the z/OSMF workflow that defines the policy, as XML."),
    ] = None


def merge(
    text: str,
    result: PlanResult,
    *,
    unstated: Unstated = DEFAULT_UNSTATED,
    policy_name: str | None = None,
    running: Running | None = None,
) -> MergedPolicy:
    """Merge the structures of a plan into a policy.

    Args:
        text: The complete policy, with or without its job.
        result: The plan.
        unstated: The source of keywords that the document does not state: the plan or the policy.
        policy_name: The policy to use if the text has several; None for the one that the plan names.
        running: The displays, if any, with the sizes and usage that smaller structures are compared with.

    Raises:
        OutputRefused: The plan has errors, or the settings that the policy keeps leave a structure without a place.
        MergeRefused: The text is not a policy, or is damaged.
    """
    # Rendered only to refuse a plan with errors: cfplan writes no text that z/OS is known to reject
    # (docs/decisions/0005).
    render_output("policy", result)
    check_length(text)
    read = read_policy_text(text)
    policy = _chosen(read, result, policy_name)
    _refuse_damage(read, policy, result)
    editing = _Editing(text, read)
    changes: list[PolicyChange] = []
    about_sizes: list[Finding] = []
    about_places = _check_places(policy, result, unstated)
    for structure in result.structures:
        found = policy.structure(structure.cfrm_name)
        if not found:
            editing.add_structure(policy, structure)
            changes.append(PolicyChange(structure.cfrm_name, None, None, "", from_default=False))
            continue
        had = in_effect(found[0])
        says = wanted(structure, had, unstated)
        changes += _change_structure(editing, found[0], structure, says)
        today = running.structures.get(structure.cfrm_name) if running else None
        about_sizes += shrinks(structure, says, had, today)
        about_sizes += kept_settings(structure, says)
    merged = editing.text()
    # Lines of the changes are those of the merged text, and only reading it again shows errors that the merge caused.
    again = read_policy_text(merged)
    there = next((each for each in policies(again) if each.name == policy.name), None)
    by_name = {each.one("NAME"): each for each in there.structures} if there else {}
    told = [_placed(each, again, by_name.get(each.structure)) for each in changes]
    names = {structure.name: structure.cfrm_name for structure in result.structures}
    lines = {name: each.line for name, each in by_name.items() if name}
    sized = [
        at_line(each, lines.get(names.get(each.structure or "", "")))
        for each in (*about_places, *about_sizes)
    ]
    findings = tuple(dict.fromkeys([*sized, *_findings(read, again, policy, result, told)]))
    return MergedPolicy(policy.name, merged, tuple(told), difference(text, merged), findings)


def _check_places(policy: PolicyDefinition, result: PlanResult, unstated: Unstated) -> tuple[Finding, ...]:
    """Check the placement by the merged policy: settings that it keeps may leave a structure without a place."""
    says: dict[str, dict[str, Setting]] = {}
    structures: list[StructureResult] = []
    for structure in result.structures:
        found = policy.structure(structure.cfrm_name)
        if not found:
            structures.append(structure)
            continue
        had = in_effect(found[0])
        says[structure.cfrm_name] = wanted(structure, had, unstated)
        structures.append(
            as_merged(structure, {**had, **says[structure.cfrm_name]}, _site(found[0].get("DUPLEX")))
        )
    about = check_merged_places(result, structures)
    if any(each.severity == "error" for each in about):
        errors = errors_with_kept(about, result, says)
        raise OutputRefused(kind="policy", findings=errors, of="merged policy")
    return about


def _site(parameter: PolicyParameter | None) -> str | None:
    """Return the site of the second copy that DUPLEX of a policy names."""
    values = parameter.values[1:] if parameter else ()
    return next((each for each in values if each in DUPLEX_SITES), None)


def merge_errors(
    text: str, result: PlanResult, *, unstated: Unstated, policy_name: str | None = None
) -> tuple[Finding, ...]:
    """Return the errors of the merged policy, or the damage of a text that cannot be merged.

    Args:
        text: Text with a policy; it may also contain displays and MQSC.
        result: The plan.
        unstated: The source of keywords that the document does not state: the plan or the policy.
        policy_name: The policy to use if the text has several.

    Raises:
        OutputRefused: The plan has errors, or the settings that the policy keeps leave a structure without a place.
    """
    rest = without_commands(text)
    read = read_policy_text(rest)
    # Displays may follow the last statement in the same text; they are not damage to the policy.
    last = max((read.pieces[each.last].line for each in read.statements), default=0)
    policy = "".join(islice(_physical_lines(rest), last))
    try:
        found = merge(policy, result, unstated=unstated, policy_name=policy_name).findings
    except MergeRefused as refused:
        found = refused.line_findings
    return tuple(each.finding for each in found if each.severity == "error")


def check_length(text: str) -> None:
    """Refuse a text that is longer than any policy, or has more lines.

    Raises:
        MergeRefused: The text is too long.
    """
    if len(text) > LARGEST_POLICY_CHARACTERS:
        msg = f"The text is longer than {LARGEST_POLICY_CHARACTERS} characters: enter only the policy."
        raise MergeRefused(msg)
    try:
        check_lines(text)
        check_structures(text)
    except TextTooLong as error:
        raise MergeRefused(str(error)) from None


def difference(before: str, after: str, *, old: str = "current policy", new: str = "merged policy") -> str:
    """Return the difference of two texts as `diff -u` writes it; empty if there is none."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), fromfile=old, tofile=new
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _chosen(read: PolicyText, result: PlanResult, policy_name: str | None) -> PolicyDefinition:
    found = [
        policy for policy in policies(read) if policy.facilities or policy.structures or policy.definition
    ]
    if not found:
        msg = "The text contains no statements of a CFRM policy: enter the input of IXCMIAPU, with its CF and STRUCTURE statements."
        raise MergeRefused(msg)
    if len(found) == 1:
        # A fragment has no name to compare with; any policy name is right for it.
        only = found[0]
        if policy_name and only.definition is not None and only.name != policy_name.upper():
            msg = f"The text has no policy {shown(policy_name)}: it has {shown(only.name or 'one without a name')}."
            raise MergeRefused(msg)
        return only
    name = policy_name or result.document.policy.name
    named = [policy for policy in found if policy.name == name]
    if len(named) == 1:
        return named[0]
    listed = ", ".join(policy.name or "one without a name" for policy in found)
    wanted = f"none of them has the unique name {name}" if name else "the plan names none (policy, name)"
    msg = f"The text has {len(found)} policies ({listed}), and {wanted}: specify which one to use."
    raise MergeRefused(msg)


_HARMLESS: Final = frozenset({"unexpected"})
"""Problems that do not prevent a merge, such as page headings of a report: the text is skipped and reported."""


def _refuse_damage(read: PolicyText, policy: PolicyDefinition, result: PlanResult) -> None:
    bad = [problem for problem in read.problems if problem.kind not in _HARMLESS]
    found = [finding_at(DAMAGE[each.kind], sentence(each.message), line=each.line) for each in bad]
    for statement in policy.structures:
        parameter = statement.get("NAME")
        name = statement.one("NAME") or ""
        if parameter is not None and (not name or has_quote(name)):
            message = (
                f"NAME({shown(' '.join(parameter.values))}) cannot be read as one name, so cfplan cannot tell whether the "
                "plan has this structure."
            )
            found.append(finding_at("POLICY_VALUE_INVALID", message, line=parameter.line))
    for structure in result.structures:
        same = policy.structure(structure.cfrm_name)
        if len(same) > 1:
            found.append(policy_name_twice(same[1], same[0].line))
    if found:
        msg = "The policy has errors, so cfplan merges nothing into it."
        raise MergeRefused(msg, tuple(found))


def _change_structure(
    editing: _Editing,
    statement: TextStatement,
    structure: StructureResult,
    says: dict[str, Setting],
) -> Iterator[PolicyChange]:
    now = {**in_effect(statement), "INITSIZE": says["SIZE"]}  # without INITSIZE, the merged SIZE
    for keyword, value in says.items():
        parameter = statement.get(keyword)
        has = stated(statement, keyword) if parameter else now[keyword]
        if keyword == "DUPLEX" and (site := planned_site(structure)):
            rest = parameter.values[1:] if parameter else ()
            value = (str(value), site, *(option for option in rest if option not in DUPLEX_SITES))
            has = parameter.values if parameter else ()
        if has == value:
            continue
        before = editing.values(parameter) if parameter else None
        after = written(keyword, value, like=before or "")
        if parameter is None:
            editing.add_keyword(statement, keyword, value)
        elif isinstance(value, tuple):
            editing.change_list(parameter, value)
        else:
            editing.change_value(parameter, after, keeps_rest=keyword == "DUPLEX")
        yield PolicyChange(
            structure.cfrm_name,
            keyword,
            before,
            after,
            from_default=is_unstated(structure, keyword),
            remark=editing.remark_behind(parameter) if parameter else None,
        )


def _placed(change: PolicyChange, again: PolicyText, statement: TextStatement | None) -> PolicyChange:
    """Return the change with its line in the merged text."""
    if statement is None:
        return change
    parameter = statement.get(change.keyword) if change.keyword else None
    line = parameter.line if parameter else statement.line
    return replace(change, line=line, after=change.after or again.source_of(statement))


_LOSES_STATEMENTS = frozenset({"POLICY_REMARK_SWALLOWS", "POLICY_COLUMN_ONE_REMARK"})
"""Findings that are repeated even if the text had them before: a job with the text defines a policy without some statements."""


def _findings(
    read: PolicyText,
    again: PolicyText,
    policy: PolicyDefinition,
    result: PlanResult,
    told: Sequence[PolicyChange],
) -> Iterator[LineFinding]:
    """Yield findings on skipped text, on values changed by default, and on errors of the merged text."""
    if policy.definition is None:
        message = (
            "The text has no DEFINE POLICY: it is a fragment. DEFINE POLICY with REPLACE(YES) replaces the whole policy, "
            "so add these statements to all the others before you submit them."
        )
        yield finding_at("MERGE_FRAGMENT", message)
    for problem in read.problems:
        message = f"{sentence(problem.message)} It is left in place; IXCMIAPU will not accept it."
        yield finding_at("MERGE_TEXT_PASSED_OVER", message, line=problem.line)
    fields = {structure.cfrm_name: structure for structure in result.structures}
    for change in told:
        if change.from_default and change.keyword:
            structure = fields[change.structure]
            said = (
                f"has {change.keyword}({change.before})"
                if change.before
                else f"does not state {change.keyword}"
            )
            message = (
                f"The policy {said} for {change.structure}, and the plan leaves it at its default: it is "
                f"now {change.after}. State the value in the plan, or keep the policy's value."
            )
            told_of = finding(
                "MERGE_BY_DEFAULT",
                message,
                field=field_of(structure, change.keyword),
                structure=change.structure,
            )
            yield at_line(told_of, change.line)
        if change.remark and any(character.isdigit() for character in change.remark):
            message = (
                f"{change.keyword} of {change.structure} is now {change.after}, but the comment next to it still says "
                f"{shown(' '.join(change.remark.split()))!r}."
            )
            # Comments are never changed: a wrong guess at their meaning is worse than a warning (docs/decisions/0015).
            yield finding_at("MERGE_REMARK_STALE", message, structure=change.structure, line=change.line)
    was = {(each.code, each.message) for each in lint_policy(read, cfcc_level=None, queue_managers=None)[0]}
    for each in lint_policy(again, cfcc_level=None, queue_managers=None)[0]:
        is_new = (each.code, each.message) not in was
        # Errors that the statements of other products had before are for their owners to correct.
        is_ours = each.severity == "error" and each.structure in fields
        if is_ours or (is_new and each.severity != "info") or each.code in _LOSES_STATEMENTS:
            yield each


# ---- editing -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Edit:
    """Characters of one line that are replaced; columns count from 0."""

    start: int
    end: int
    text: str
    is_statement: bool = False
    """True if the edit adds a statement, which follows the keywords added at the same place."""


@dataclass(slots=True)
class _Line:
    text: str
    end: str
    edits: list[_Edit] = field(default_factory=list)
    below: list[str] = field(default_factory=list)
    """Keywords to add below: they belong to the statement that ends in this line."""
    statements_below: list[str] = field(default_factory=list)
    """Statements to add below the keywords."""


class _Editing:
    """A text with pending edits, line by line."""

    def __init__(self, text: str, read: PolicyText) -> None:
        self.pieces = read.pieces
        self.lines = [_Line(*_end_apart(line)) for line in _physical_lines(text)]
        ends = [line.end for line in self.lines if line.end]
        # New lines end as most lines of the text do, so that the merged file has one kind of line end.
        self.newline = max(dict.fromkeys(ends), key=ends.count) if ends else "\n"

    def values(self, parameter: PolicyParameter) -> str:
        """Return the text between the parentheses, without comments, in one line."""
        inside = self.pieces[parameter.opening + 1 : parameter.closing]
        return " ".join("".join(" " if p.kind in _NO_VALUE else p.text for p in inside).split())

    def remark_behind(self, parameter: PolicyParameter) -> str | None:
        """Return the comment after a parameter on the same line, if it precedes the next keyword."""
        for piece in self.pieces[parameter.closing + 1 :]:
            if piece.kind == "remark":
                return piece.text
            if piece.kind != "blank" or _has_line_end(piece.text):
                return None
        return None

    def change_value(self, parameter: PolicyParameter, after: str, *, keeps_rest: bool) -> None:
        """Replace the first value; drop the others unless they are options of it."""
        if not parameter.words:
            self._insert_behind(parameter.opening, after)
            return
        first, *rest = parameter.words
        self._replace(first, after)
        if not keeps_rest or after == "DISABLED":
            self._drop(rest)

    def change_list(self, parameter: PolicyParameter, names: Sequence[str]) -> None:
        """Replace the names of a list; the text between them is kept."""
        words = parameter.words
        for place, name in zip(words, names, strict=False):
            # A name in quotes or lower case is the same name; the merge keeps its spelling.
            if unquoted(self.pieces[place].text).upper() != name:
                self._replace(place, name)
        if len(names) > len(words):
            behind = words[-1] if words else parameter.opening
            more = ",".join(names[len(words) :])
            self._insert_behind(behind, f",{more}" if words else more)
        self._drop(words[len(names) :])

    def add_keyword(self, statement: TextStatement, keyword: str, value: Setting) -> None:
        """Write a keyword below the last one of its statement."""
        text = f"{keyword}({written(keyword, value)})"
        below = self._line_below(statement.last)
        if below is None:
            self._insert_behind(statement.last, f" {text}")
            return
        below.below += _fitting(text, indent=self._indent(statement))

    def add_structure(self, policy: PolicyDefinition, structure: StructureResult) -> None:
        """Write a statement below the last structure of the policy, or its last statement."""
        last = policy.structures[-1] if policy.structures else policy.last
        made = list(structure_lines(structure))
        place = last.last if last else len(self.pieces) - 1
        below = self._line_below(place)
        if below is None:
            self._add_inside(place, made)
            return
        below.statements_below += made

    def text(self) -> str:
        """Return the text with all changes."""
        parts: list[str] = []
        for line in self.lines:
            made = [*_edited(line), *line.below, *line.statements_below]
            end = line.end or (self.newline if len(made) > 1 else "")
            parts += [f"{each}{end}" for each in made[:-1]]
            parts.append(f"{made[-1]}{line.end}")
        return "".join(parts)

    def _line_below(self, place: int) -> _Line | None:
        """Return the line below which text after this piece can be added; None if more text follows on the line."""
        line = self.pieces[place].line
        for piece in self.pieces[place + 1 :]:
            if piece.line > line:
                break
            if piece.kind == "remark":
                line += _line_ends(piece.text)
            elif piece.kind not in {"blank", "sequence", "jcl", "console"}:
                return None
            elif _has_line_end(piece.text):
                break
        return self.lines[line - 1]

    def _indent(self, statement: TextStatement) -> int:
        """Return the indentation of a statement's keywords."""
        own_lines = [
            parameter
            for parameter in statement.parameters
            if not self.lines[parameter.line - 1].text[: self.pieces[parameter.first].column - 1].strip()
        ]
        chosen = own_lines[-1] if own_lines else statement.parameters[0] if statement.parameters else None
        return max(1, self.pieces[chosen.first].column - 1) if chosen else _DEFAULT_INDENT

    def _replace(self, place: int, text: str) -> None:
        piece = self.pieces[place]
        start = piece.column - 1
        self.lines[piece.line - 1].edits.append(_Edit(start, start + len(piece.text), text))

    def _insert_behind(self, place: int, text: str) -> None:
        piece = self.pieces[place]
        at = piece.column - 1 + len(piece.text)
        self.lines[piece.line - 1].edits.append(_Edit(at, at, text))

    def _add_inside(self, place: int, made: Sequence[str]) -> None:
        """Write a statement before another one on the same line; write several below each other."""
        piece = self.pieces[place]
        at = piece.column - 1 + len(piece.text)
        edits = self.lines[piece.line - 1].edits
        text = "\n".join(made) + "\n"
        there = next((edit for edit in edits if edit.is_statement and edit.start == at), None)
        if there is None:
            edits.append(_Edit(at, at, f"\n{text}", is_statement=True))
        else:
            there.text += text

    def _drop(self, places: Iterable[int]) -> None:
        """Remove words, each with the comma and the blanks before it on its line."""
        for place in places:
            self._replace(place, "")
            before = place - 1
            while self.pieces[before].kind in {"blank", "comma"}:
                piece = self.pieces[before]
                if _has_line_end(piece.text):
                    if self.pieces[before - 1].kind == "comma":
                        self._replace(before - 1, "")
                    break
                self._replace(before, "")
                before -= 1
                if piece.kind == "comma":
                    break


_NO_VALUE: Final = frozenset({"remark", "sequence", "jcl", "console"})
_DEFAULT_INDENT: Final = 13
_STEP: Final = 3
_LINE_ENDS: Final = ("\r\n", "\n", "\r", "\x85", "\u2028", "\u2029")


def _physical_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text as the reader counts them, with their ends; a last one without an end may be empty."""
    start = at = 0
    while at < len(text):
        if text[at] in "\n\r\x85\u2028\u2029":
            at += 2 if text.startswith("\r\n", at) else 1
            yield text[start:at]
            start = at
        else:
            at += 1
    yield text[start:]


def _end_apart(line: str) -> tuple[str, str]:
    end = next((each for each in _LINE_ENDS if line.endswith(each)), "")
    return (line[: -len(end)], end) if end else (line, "")


def _line_ends(text: str) -> int:
    return sum(1 for _ in _physical_lines(text)) - 1


def _has_line_end(text: str) -> bool:
    return _line_ends(text) > 0


def _fitting(text: str, *, indent: int) -> list[str]:
    """Return a keyword as lines that end within column 71."""
    indent = max(1, min(indent, LAST_COLUMN - len(text)))
    return _broken(" " * indent + text)


def _edited(line: _Line) -> list[str]:
    """Return an edited line; two lines if it does not fit into one."""
    if not line.edits:
        return [line.text]
    tail = line.text[SEQUENCE_AT:]
    is_numbered = has_sequence_number(line.text)
    text = line.text[:SEQUENCE_AT] if is_numbered else line.text
    had = len(text.rstrip())
    in_order = sorted(line.edits, key=lambda edit: (edit.start, edit.end, edit.is_statement))
    # From the right, because an edit moves everything to the right of it.
    for edit in reversed(in_order):
        text = text[: edit.start] + edit.text + text[edit.end :]
    made: list[str] = []
    for part in text.split("\n"):
        fits = len(part.rstrip()) <= max(LAST_COLUMN, min(had, SEQUENCE_AT) if is_numbered else had)
        made += [part] if fits else _broken(part)
    if is_numbered:
        made[0] = made[0].rstrip().ljust(SEQUENCE_AT) + tail
    return made


def _broken(text: str) -> list[str]:
    """Return a line broken into parts that end within column 71, if it can be broken."""
    lead = len(text) - len(text.lstrip())
    if text.split(maxsplit=1)[0].upper() in VERBS:
        lead += _STEP
    made: list[str] = []
    while len(text.rstrip()) > LAST_COLUMN:
        at = _break(text)
        if at is None:
            break
        made.append(text[:at].rstrip())
        rest = text[at:].lstrip()
        text = " " * max(1, min(lead, LAST_COLUMN - len(rest.rstrip()))) + rest
    return [*made, text]


def _break(text: str) -> int | None:
    """Return the last place to break a line so that its first part fits: before a word or comment, or after a comma."""
    best: int | None = None
    first = True
    offset = 0
    before: Piece | None = None
    for piece in read_policy_text(text).pieces:
        start = offset
        offset += len(piece.text)
        if piece.kind == "blank":
            continue
        may = piece.kind == "remark" or (
            piece.kind == "word"
            and before is not None
            and before.kind in {"close", "comma", "word", "remark"}
        )
        if not first and may and len(text[:start].rstrip()) <= LAST_COLUMN:
            best = start
        first = False
        before = piece
    return best
