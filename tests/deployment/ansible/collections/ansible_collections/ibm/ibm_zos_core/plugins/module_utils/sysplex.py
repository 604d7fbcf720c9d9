"""A sysplex as a JSON file: policies in the couple data set, the active one, allocated structures, jobs, commands.

The texts of the displays are from memory: IXC364I, the layout of IXC360I, and IXC347I apart from its headings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_STATEMENT = re.compile(r"\b(?:CF|STRUCTURE)\s+NAME\(.*?(?=\b(?:CF|STRUCTURE)\s+NAME\(|\Z)", re.DOTALL)
_KEYWORD = re.compile(r"([A-Z]+)\(\s*([^()]*?)\s*\)")


@contextmanager
def sysplex(task_vars: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    """Yield the state in the file that a variable of the host names, and store it afterwards."""
    assert task_vars is not None
    path = Path(str(task_vars["cfplan_test_sysplex"]))
    state = json.loads(path.read_text(encoding="utf-8"))
    yield state
    path.write_text(json.dumps(state, indent=1), encoding="utf-8")


def statements(text: str) -> list[tuple[str, dict[str, str]]]:
    """Return the CF and STRUCTURE statements of a policy, with their keywords."""
    found = []
    for match in _STATEMENT.finditer(re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)):
        verb = match.group().split()[0]
        found.append((verb, {key: " ".join(value.split()) for key, value in _KEYWORD.findall(match.group())}))
    return found


def structures(text: str) -> dict[str, dict[str, str]]:
    """Return the keywords of each structure of a policy."""
    return {keys["NAME"]: keys for verb, keys in statements(text) if verb == "STRUCTURE"}


def report(policies: dict[str, str]) -> list[str]:
    """Return the report of IXCMIAPU: printed pages with control characters, and a comment that extends beyond column 71."""
    lines = [
        "1ADMINISTRATIVE DATA UTILITY: MESSAGES                    PAGE 1",
        "+_____________________________",
    ]
    lines += [" DATA TYPE(CFRM) REPORT(YES)"]
    lines += [
        "1ADMINISTRATIVE DATA UTILITY: POLICY REPORT             PAGE 2",
        "+_____________________________",
    ]
    for name, text in policies.items():
        lines.append(
            f"0DEFINE POLICY NAME({name:8})"
            + " " * 20
            + "/* Defined: 11/02/2026 09:15:02 User: SYSPROG1 and more */"
        )
        for verb, keys in statements(text):
            first, *rest = keys.items()
            lines.append(
                f"   {verb} {first[0]}({first[1]})" + "".join(f" {key}({value})" for key, value in rest[:1])
            )
            lines += [f"             {key}({value})" for key, value in rest[1:]]
    return [*lines, "0IXC292I THE UTILITY ENDED"]


def run_job(state: dict[str, Any], jcl: str) -> dict[str, Any]:
    """Run a job of IXCMIAPU, and return it as zos_job_output does."""
    lines = jcl.splitlines()
    job_id = f"JOB{len(state['jobs']) + 1:05}"
    wrong = [line for line in lines if len(line) > 80 or (not line.startswith("/") and len(line) > 71)]
    if not re.match(r"//[A-Z$#@]\w* +JOB\b", lines[0]) or wrong or "PGM=IXCMIAPU" not in jcl:
        return _job(state, job_id, None, "JCL ERROR", [f"NOT A JOB: {wrong or lines[0]}"])
    start = next(index for index, line in enumerate(lines) if re.match(r"//SYSIN +DD +\*", line))
    sysin = "\n".join(lines[start + 1 : lines.index("/*", start)])
    define = re.search(r"DEFINE POLICY NAME\((\S+)\) REPLACE\((YES|NO)\)\n(.*)", sysin, re.DOTALL)
    if state["fails"] and define:
        return _job(state, job_id, 12, "CC 0012", [" IXC291I THE COUPLE DATA SET IS NOT AVAILABLE"])
    if define:
        name, replace, text = define.groups()
        if name in state["policies"] and replace == "NO":
            return _job(state, job_id, 12, "CC 0012", [f" IXC290I POLICY {name} ALREADY EXISTS"])
        for old, new in state["altered"].items():
            assert old in text, f"the policy has no {old}"
            text = text.replace(old, new)
        state["policies"][name] = text
        state["defined"].append(name)
    return _job(state, job_id, 0, "CC 0000", report(state["policies"]))


def _job(
    state: dict[str, Any], job_id: str, code: int | None, message: str, lines: list[str]
) -> dict[str, Any]:
    made = {
        "job_id": job_id, "job_name": "CFRMPOL", "ret_code": {"code": code, "msg": message, "msg_code": None, "msg_txt": ""},
        "dds": [{"dd_name": "SYSPRINT", "content": lines, "record_count": len(lines), "id": "102"}],
    }  # fmt: skip
    state["jobs"].append(made)
    return made


def answer(state: dict[str, Any], command: str) -> list[str] | None:
    """Return the response to an operator command; None if the stand-in does not know it."""
    state["commands"].append(command)
    if command == "D XCF,POLICY,TYPE=CFRM":
        return [
            "IXC364I  10.18.07  DISPLAY XCF", "TYPE: CFRM", f"      POLNAME:     {state['active']}",
            f"      STARTED:     {state['started']}", f"      LAST UPDATED: {state['updated']}",
        ]  # fmt: skip
    if command.startswith("D XCF,STR,STRNAME="):
        return _display(state, command.partition("STRNAME=")[2])
    if command == "D XCF,REALLOCATE,TEST":
        exceptions = state["exceptions"]
        return [
            "IXC347I  10.18.09  DISPLAY XCF", "COUPLING FACILITY STRUCTURE ANALYSIS OF SYSPLEX SYSPLEX5", "",
            "REALLOCATE TEST RESULTED IN THE FOLLOWING:", f"   {len(state['structures'])} STRUCTURE(S) REALLOCATED",
            f"   {len(exceptions)} STRUCTURE(S) WITH AN ERROR/EXCEPTION CONDITION",
            *(line for name in exceptions for line in (f"     STRNAME: {name}", "       INSUFFICIENT SPACE IN COUPLING FACILITY")),
            "   0 STRUCTURE(S) WITH A WARNING CONDITION",
        ]  # fmt: skip
    if command == "SETXCF START,REALLOCATE":
        now = structures(state["policies"][state["active"]])
        state["structures"] = {name: now.get(name, keys) for name, keys in state["structures"].items()}
        return [
            "IXC543I THE REQUESTED START,REALLOCATE WAS ACCEPTED.",
            "IXC543I THE REQUESTED START,REALLOCATE WAS COMPLETED.",
        ]
    if command.startswith("SETXCF START,POLICY,TYPE=CFRM,POLNAME="):
        name = command.partition("POLNAME=")[2]
        if name not in state["policies"]:
            return [
                f"IXC512I POLICY CHANGE IN PROGRESS FOR CFRM TO MAKE {name} POLICY ACTIVE.",
                "REQUEST FAILED",
            ]
        state["active"] = name
        return [
            f"IXC511I START ADMINISTRATIVE POLICY {name} FOR CFRM ACCEPTED",
            "IXC513I COMPLETED POLICY CHANGE FOR CFRM.",
        ]
    return None


def _display(state: dict[str, Any], name: str) -> list[str]:
    now, policy = state["structures"].get(name), structures(state["policies"][state["active"]]).get(name)
    if policy is None:
        return ["IXC360I  10.18.08  DISPLAY XCF", f"STRNAME: {name}", " STATUS: NOT DEFINED"]
    if now is None:
        return ["IXC360I  10.18.08  DISPLAY XCF", f"STRNAME: {name}", " STATUS: NOT ALLOCATED"]
    pending = (
        [state["pending_text"]]
        if (now["SIZE"], now["INITSIZE"]) != (policy["SIZE"], policy["INITSIZE"])
        else []
    )
    return [
        "IXC360I  10.18.08  DISPLAY XCF", f"STRNAME: {name}", state["status_text"], *pending,
        " ACTIVE STRUCTURE", " ----------------", "  ALLOCATION TIME: 03/14/2026 09:12:44",
        f"  ACTUAL SIZE            : {now['INITSIZE']} K", " SPACE USAGE    IN-USE        TOTAL     %",
        "  ENTRIES:         120        91000     0", "  ELEMENTS:        540       546000     0",
    ]  # fmt: skip
