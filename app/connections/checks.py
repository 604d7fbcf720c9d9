"""Check connections: the requests, the answers, and how the shape of each answer differs from the published one.

A report contains names of members and types of values, but no values, so that users can send it to the project.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Final

from pydantic import Field
from sqlalchemy.orm import Session

from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.connections.client import Client, open_client
from app.connections.declared import NOT_VERIFIED, AnyConnection
from app.connections.errors import ConnectionFailed
from app.connections.uses import record_use
from planner_core import CORE_VERSION
from planner_core.findings import Finding
from planner_core.wire import Answer

PROBES: Final[Mapping[str, str]] = {
    "zosmf": "app.zosmf.probe:probe",
    "dds": "app.dds.probe:probe",
    "gatherer": "app.gatherer.probe:probe",
}
"""The function that checks connections of each kind, as text, because this package knows no feature."""
UNIT_CHECK: Final = "app.zosmf.cli:verify_unit"
"""The function that verifies the unit of sizes."""
_MOST_MEMBERS: Final = 200
_LONGEST_FAULT: Final = 180
_QUOTED = re.compile(r"'[^']+'")


@dataclass(frozen=True, slots=True)
class ProbeStep(Answer):
    """One request of a check."""

    asked: Annotated[str, Field(description="Method and path; names of objects are replaced by {name}.")]
    status: int | None
    found: Annotated[tuple[str, ...], Field(description="Members of the answer with their types.")]
    missing: Annotated[tuple[str, ...], Field(description="Documented members that the answer lacks.")]
    additional: Annotated[tuple[str, ...], Field(description="Members that the documentation does not name.")]
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class CheckReport(Answer):
    """The report of a check."""

    connection: str
    kind: str
    cfplan: str
    is_verified: Annotated[
        bool, Field(description="Whether the file of connections states that it was used with a real system.")
    ]
    steps: tuple[ProbeStep, ...]
    notes: tuple[str, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def succeeded(self) -> bool:
        """Whether all requests were answered."""
        return not any(step.fault for step in self.steps)

    def lines(self) -> list[str]:
        """Return the report as lines of text."""
        found = [
            f"Connection {self.connection}, kind {self.kind}, cfplan {self.cfplan}: "
            f"{'verified against a real system, according to its declaration' if self.is_verified else NOT_VERIFIED}."
        ]
        for step in self.steps:
            found.append(f"{step.asked}: {'no answer' if step.status is None else f'status {step.status}'}")
            if step.fault:
                found.append(f"  fault: {step.fault}")
            for title, members in (
                ("found", step.found), ("documented, but missing", step.missing),
                ("not documented", step.additional),
            ):  # fmt: skip
                if members:
                    found.append(f"  {title}: {', '.join(members)}")
        return [*found, *self.notes, "This report contains no values of your site and no credentials."]


Probe = Callable[[Client, AnyConnection], tuple[ProbeStep, ...]]


def check(name: str, connection: AnyConnection, *, notes: tuple[str, ...] = ()) -> CheckReport:
    """Ask the requests of the kind of a connection, and return a report.

    Raises:
        ConnectionsInvalid: The credentials or the CA file cannot be used.
    """
    module, _, function = PROBES[connection.kind].partition(":")
    probe: Probe = getattr(import_module(module), function)
    with open_client(name, connection) as client:
        steps = probe(client, connection)
    return CheckReport(
        name, connection.kind, CORE_VERSION, connection.verified_against_a_real_system, steps, notes
    )


def record_check(session: Session, report: CheckReport) -> None:
    """Store each request of a check in the audit trail, and the use of the connection."""
    about = AuditObject("connection", report.connection)
    for step in report.steps:
        method, _, path = step.asked.partition(" ")
        fault = {} if step.fault is None else {"fault": step.fault[:_LONGEST_FAULT]}
        record(
            session,
            Action.CONNECTION_CALLED,
            about,
            {"method": method, "path": path, "status": step.status, "check": True, **fault},
        )
    faults = [f"{step.asked}: {step.fault}" for step in report.steps if step.fault]
    record_use(
        session,
        report.connection,
        faults[0] if faults else "The connection was checked.",
        succeeded=not faults,
    )


def compared_step(asked: str, status: int, answer: object, documented: tuple[str, ...]) -> ProbeStep:
    """Return a step with the shape of an answer, compared with the documented members."""
    shape = shape_of(answer)
    # A list of texts and one text are the same member.
    names = {each.partition(" ")[0].removesuffix("[]") for each in shape}
    known = {each.removesuffix("[]"): each for each in documented}
    return ProbeStep(
        asked, status, shape,
        tuple(each for name, each in known.items() if name not in names),
        tuple(sorted(names - known.keys())),
    )  # fmt: skip


def failed_step(asked: str, error: ConnectionFailed) -> ProbeStep:
    """Return the step of a request that failed. The message of the error may quote the server, so it is left out."""
    # The TLS library quotes the name of the server.
    fault = (
        _QUOTED.sub("'{name}'", error.fault)
        if error.status is None
        else f"The server answers with status {error.status}."
    )
    return ProbeStep(asked, error.status, (), (), (), f"{fault} {error.advice}")


def shape_of(value: object) -> tuple[str, ...]:
    """Return the members of a JSON value with their types, such as `policy[].structure[].size number`; no values."""
    found: dict[str, set[str]] = {}
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting and len(found) < _MOST_MEMBERS:
        where, each = waiting.pop()
        if isinstance(each, dict):
            waiting += [(f"{where}.{key}" if where else str(key), member) for key, member in each.items()]
        elif isinstance(each, list):
            waiting += [(f"{where}[]", member) for member in each]
        else:
            found.setdefault(where, set()).add(_type_of(each))
    return tuple(f"{where} {' or '.join(sorted(types))}" for where, types in sorted(found.items()))


def _type_of(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "text" if isinstance(value, str) else "number"
