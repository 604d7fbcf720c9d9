"""Filters that read the report of IXCMIAPU and the responses to XCF commands, for the role cfplan_structures.

They run on the control node, which need not have cfplan: they use the standard library alone.

Sources: the headings of the report (a line with 1ADMINISTRATIVE, a line with +____) and the lines DEFINE POLICY NAME(...),
POLICY CHANGE PENDING, REALLOCATE TEST RESULTED IN THE FOLLOWING, STRUCTURE(S) WITH AN ERROR/EXCEPTION CONDITION and
STRUCTURE(S) WITH A WARNING CONDITION: IBM's playbooks for CFRM policy changes (IBM/ibm_zos_zosmf). POLNAME, STARTED and
LAST UPDATED in the response to D XCF,POLICY, STRNAME and STATUS in the response to D XCF,STR, and the numbers in front of
the headings of the test: from memory. Text that is not understood is an error, so that the role stops.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

LAST_COLUMN = 71
"""IXCMIAPU reads columns 1 to 71."""
_DEFINE = re.compile(
    r"\bDEFINE\s+POLICY\s+NAME\(\s*([A-Z$#@][A-Z0-9$#@_]{0,7})\s*\)(?:\s*REPLACE\(\s*\w+\s*\))?"
)
_HEADING = re.compile(r"1|\+")
_MESSAGE = re.compile(r"[\s0-]*IXC[0-9]{3,4}[A-Z]\b")
_REMARK = re.compile(r"/\*.*?\*/", re.DOTALL)
_STATEMENT = re.compile(r"\b(?:CF|STRUCTURE)\s+NAME\(")
_NAME = re.compile(r"(CF|STRUCTURE)\s+NAME\(\s*([A-Z0-9$#@_]+)\s*\)")
_KEYWORD = re.compile(r"\b([A-Z]+)\s*\(([^()]*)\)")
_SIZE = re.compile(r"0*([0-9]+)([KMGT]?)")
_SIZES = frozenset({"SIZE", "INITSIZE", "MINSIZE", "SCMMAXSIZE", "DUMPSPACE"})
_KIB = {"": 1, "K": 1, "M": 1024, "G": 1024**2, "T": 1024**3}
_BETWEEN = re.compile(r"\s*,\s*|\s+")
_SMALL = re.compile(r"[0-9]{1,3}")
_HEXADECIMAL = frozenset({"PARTITION", "SIDE", "CPCID"})
_DEFAULTS = {
    "ALLOWAUTOALT": "NO", "FULLTHRESHOLD": "80", "DUPLEX": "DISABLED", "ENFORCEORDER": "NO", "ALLOWREALLOCATE": "YES", "ENCRYPT": "NO",
    "REBUILDPERCENT": "1",
}  # fmt: skip
"""z/OS MVS Setting Up a Sysplex, CFRM parameters for administrative data utility: a report may state them although the input did not."""
_FIELD = r"\b{}\s*:\s*(\S+(?:\s+[0-9]{{2}}[:.][0-9]{{2}}[:.][0-9]{{2}})?)"
_TESTED = "REALLOCATE TEST RESULTED IN THE FOLLOWING"
_EXCEPTIONS = re.compile(r"(?:\b([0-9]+)\s+)?STRUCTURE\(S\) WITH AN ERROR/EXCEPTION CONDITION")
_WARNINGS = re.compile(r"STRUCTURE\(S\) WITH A WARNING CONDITION")
_PENDING_CHANGE = re.compile(r"\bPOLICY\s+CHANGE\s+PENDING\b|\bPENDING\s+POLICY\s+INFORMATION\b")
_ALLOCATION = re.compile(r"\bSTATUS\s*:\s*(?:NOT\s+)?ALLOCATED\b")
_ALLOCATED = re.compile(r"\bSTATUS\s*:\s*ALLOCATED\b")
_STRNAME = re.compile(r"\bSTRNAME\s*:\s*([A-Z0-9$#@_]+)")


def policies(report: list[str]) -> dict[str, str]:
    """Return the statements of each policy in a report of IXCMIAPU, by policy name, without comments.

    Comments can extend beyond column 71 in the report, and would end within the next statement if they were cut there.
    """
    lines = []
    for line in report:
        if _HEADING.match(line) or _MESSAGE.match(line):
            continue
        # Lines of a printed report begin with a control character: blank, 0 or - for single, double and triple spacing.
        lines.append(f" {line[1:]}" if line[:1] in ("0", "-") else line)
    text = _REMARK.sub(" ", "\n".join(lines))
    starts = list(_DEFINE.finditer(text))
    # Without a policy there is no end either: the role then reports that the report has none.
    ends = [*(start.start() for start in starts[1:]), len(text)] if starts else []
    found: dict[str, str] = {}
    for start, end in zip(starts, ends, strict=True):
        if start.group(1) in found:
            msg = f"The report has policy {start.group(1)} twice."
            raise ValueError(msg)
        kept = [line.rstrip() for line in text[start.start() : end].splitlines() if line.strip()]
        found[start.group(1)] = (
            "\n".join(f" {line.lstrip()}" if line[:1] != " " else line for line in kept) + "\n"
        )
    return found


def renamed(policy: str, name: str, replace: bool) -> str:
    """Return the statements with another policy name, for IXCMIAPU.

    Raises:
        ValueError: There is no single DEFINE POLICY, or a line is too long for IXCMIAPU.
    """
    found = list(_DEFINE.finditer(policy))
    if len(found) != 1:
        msg = f"The text has {len(found)} statements DEFINE POLICY instead of one."
        raise ValueError(msg)
    if re.search(r"\bREPLACE\s*\(|\bPOLICY\b", policy[found[0].end() :]):
        msg = "The text has REPLACE, or a statement about another policy, after the statement DEFINE POLICY."
        raise ValueError(msg)
    head = f" DEFINE POLICY NAME({name}) REPLACE({'YES' if replace else 'NO'})"
    rest = policy[found[0].end() :].lstrip(" ").removeprefix("\n")
    lines = [head, *(line if line.startswith(" ") else f" {line}" for line in rest.splitlines())]
    for number, line in enumerate(lines, start=1):
        if len(line.rstrip()) > LAST_COLUMN:
            msg = f"Line {number} of the policy has {len(line)} characters, and IXCMIAPU reads {LAST_COLUMN}: {line}"
            raise ValueError(msg)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def policy_differences(defined: str, found: str) -> list[str]:
    """Return the statements and values of a policy that differ from those that were defined, as sentences.

    Sizes are compared as numbers, whatever their units. A keyword that was not defined is a difference unless it has its
    default. Text that is in no keyword is not compared.
    """
    before, after = _values(defined), _values(found)
    differences = [f"{name} is missing" for name in before if name not in after]
    differences += [f"{name} was not defined" for name in after if name not in before]
    for name, had in before.items():
        has = after.get(name, had)
        for keyword in dict.fromkeys([*had, *has]):
            if had.get(keyword) == has.get(keyword) or (
                keyword not in had and has[keyword] in (_DEFAULTS.get(keyword), _default_of(keyword, had))
            ):
                continue
            shown = [f"{keyword}({each[keyword]})" if keyword in each else "nothing" for each in (had, has)]
            differences.append(f"{name} has {shown[1]} instead of {shown[0]}")
    return differences


def _default_of(keyword: str, values: dict[str, str]) -> str | None:
    return values.get("SIZE") if keyword == "INITSIZE" else None


def _values(policy: str) -> dict[str, dict[str, str]]:
    """Return the keywords of each CF and STRUCTURE statement, with their values in one notation."""
    text = _REMARK.sub(" ", policy)
    starts = [match.start() for match in _STATEMENT.finditer(text)]
    ends = [*starts[1:], len(text)]
    found: dict[str, dict[str, str]] = {}
    for start, end in zip(starts, ends, strict=True):
        statement = text[start:end]
        name = _NAME.match(statement)
        if name is None:
            msg = f"The policy has a statement without a readable name: {statement[:71].strip()}"
            raise ValueError(msg)
        key = " ".join(name.groups())
        if key in found:
            msg = f"The policy has {key} twice."
            raise ValueError(msg)
        found[key] = {
            keyword: _one_notation(keyword, value)
            for keyword, value in _KEYWORD.findall(statement[name.end() :])
        }
    return found


def _one_notation(keyword: str, value: str) -> str:
    text = re.sub(r"\s+", "", value)
    size = _SIZE.fullmatch(text) if keyword in _SIZES else None
    if size is not None:
        return f"{int(size.group(1)) * _KIB[size.group(2)]}K"
    if keyword in _HEXADECIMAL:
        return text.lstrip("0") or "0"
    # IXCMIAPU takes commas or blanks between the names of a list.
    return str(int(text)) if _SMALL.fullmatch(text) else _BETWEEN.sub(",", value.strip())


def active_policy(response: list[str]) -> dict[str, Any]:
    """Return the active policy in the response to D XCF,POLICY,TYPE=CFRM: its name, and whether it changed after its start.

    `changed_after_start` is None if one of the two times is missing or unreadable.

    Raises:
        ValueError: The response names no policy.
    """
    text = "\n".join(response)
    fields = {}
    for key in ("POLNAME", "STARTED", "LAST UPDATED"):
        match = re.search(_FIELD.format(key.replace(" ", r"\s+")), text)
        fields[key] = match.group(1) if match else None
    if fields["POLNAME"] is None:
        raise ValueError(
            "The response to D XCF,POLICY,TYPE=CFRM names no active policy: " + " / ".join(response)
        )
    started, updated = _time(fields["STARTED"]), _time(fields["LAST UPDATED"])
    changed = None if started is None or updated is None else updated > started
    return {"name": fields["POLNAME"], "changed_after_start": changed}


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        # Both times are local to the system; only their order counts.
        return datetime.strptime(text.replace(".", ":"), "%m/%d/%Y %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def reallocate_test(response: list[str]) -> dict[str, Any]:
    """Return whether a response is a report of D XCF,REALLOCATE,TEST, and the structures with an error or exception."""
    text = "\n".join(response)
    heading = _EXCEPTIONS.search(text)
    if _TESTED not in text or heading is None:
        return {"is_report": False, "exceptions": []}
    warnings = _WARNINGS.search(text, heading.end())
    names = _STRNAME.findall(text, heading.end(), warnings.start() if warnings else len(text))
    if not names and heading.group(1) is None:
        # Neither a number nor a name: nothing shows that there are no exceptions.
        return {"is_report": False, "exceptions": []}
    if not names and int(heading.group(1)):
        names = [f"{heading.group(1)} structures that the report does not name"]
    return {"is_report": True, "exceptions": names}


def pending_change(response: str, name: str) -> str:
    """Return whether a structure has a pending policy change, in the response to D XCF,STR,STRNAME=: yes, no or unknown.

    The answer is no only if the display is of this structure, states whether it is allocated, and has no other mention of
    anything pending.
    """
    if name not in _STRNAME.findall(response):
        return "unknown"
    if _PENDING_CHANGE.search(response):
        return "yes"
    if _ALLOCATION.search(response) is None or "PENDING" in response:
        return "unknown"
    return "no"


def pending_changes(displays: list[dict[str, Any]], resized: list[str] | None = None) -> dict[str, list[str]]:
    """Return the names of structures by the answer of `pending_change`, for the results of a loop over their names.

    An allocated structure of `resized` keeps its sizes until it is rebuilt: without a pending change, the display has a
    wording that is not known.
    """
    found: dict[str, list[str]] = {"yes": [], "no": [], "unknown": []}
    for each in displays:
        name, text = each["item"], str(each.get("stdout", ""))
        answer = pending_change(text, name)
        if answer == "no" and name in (resized or []) and _ALLOCATED.search(text):
            answer = "unknown"
        found[answer].append(name)
    return found


def structure_names(policy: str) -> list[str]:
    """Return the names of the structures in a policy."""
    return [name for verb, name in _NAME.findall(_REMARK.sub(" ", policy)) if verb == "STRUCTURE"]


def operator_command(text: str) -> str:
    r"""Return a command with a backslash in front of $ and &, as zos_operator requires."""
    return re.sub(r"([$&])", r"\\\1", text)


def text_of(lines: list[str]) -> str:
    """Return lines as one text; in a template, a backslash and n between quotes need not be a line end."""
    return "".join(f"{line}\n" for line in lines)


class FilterModule:
    """The filters by their names."""

    def filters(self) -> dict[str, Any]:
        """Return the filters."""
        return {
            "cfplan_policies": policies,
            "cfplan_text": text_of,
            "cfplan_renamed": renamed,
            "cfplan_policy_differences": policy_differences,
            "cfplan_active_policy": active_policy,
            "cfplan_reallocate_test": reallocate_test,
            "cfplan_pending_change": pending_change,
            "cfplan_pending_changes": pending_changes,
            "cfplan_structure_names": structure_names,
            "cfplan_operator_command": operator_command,
        }
