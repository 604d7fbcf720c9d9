"""The Sysplex Management services of z/OSMF for CFRM policies, as IBM published them (docs/how-to/zosmf-policies.md).

Each call is recorded in the audit trail in a transaction of its own; a change is recorded before it is sent as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.connections.declared import RequestLimits, ZosmfConnection
from app.connections.errors import ConnectionFailed
from app.connections.uses import record_use
from app.database.engine import Database
from app.zosmf.errors import PolicyNotFound
from planner_core.names import POLICY_RULE, is_policy
from planner_core.texts.cfrm.policy_json import PolicyJsonInvalid, find_policy
from planner_core.wire import JsonObject

if TYPE_CHECKING:
    from app.connections.client import Client, Reply

POLICIES: Final = "/zosmf/sysplex/rest/v1/policies/cfrm"
ACTIVATION: Final = f"{POLICIES}/activation"
HEADERS: Final = {"x-csrf-zosmf-header": "cfplan"}
"""z/OSMF refuses requests of its REST services without this header (IBM z/OSMF Programming Guide); any value will do."""
_NOT_FOUND: Final = 404
_LONGEST_FAULT: Final = 180


@dataclass(frozen=True, slots=True)
class PolicyNames:
    """The policies that a server has."""

    names: tuple[str, ...]
    active: str | None
    """The active policy; None if the server does not report it. The member was seen in a public client only."""


class PolicyServer:
    """The policies of one server."""

    def __init__(self, client: Client, connection: ZosmfConnection, database: Database) -> None:
        self.connection, self._client, self._database = connection, client, database
        self.name = client.name

    def list_policies(self) -> PolicyNames:
        """Return the names of all policies.

        Raises:
            ConnectionFailed: The server does not answer as documented.
        """
        answer = self._called("GET", POLICIES, lambda: self._client.get(POLICIES, headers=HEADERS), {}).json()
        names = names_in(answer)
        if names is None:
            raise self._unusable(POLICIES, "The list of policies has another shape than documented.")
        return PolicyNames(names, active_in(answer))

    def read(self, policy: str) -> JsonObject:
        """Return a policy as the server describes it.

        Raises:
            PolicyNotFound: The server has no such policy.
            ConnectionFailed: The server does not answer as documented.
        """
        _check_name(policy)
        path = path_of(policy)
        try:
            reply = self._called(
                "GET", path, lambda: self._client.get(path, headers=HEADERS), {"policy": policy}
            )
        except ConnectionFailed as error:
            if error.status != _NOT_FOUND:
                raise
            message = f"Connection {self.name}: the server has no policy {policy}."
            raise PolicyNotFound(message) from None
        try:
            return find_policy(reply.json(), policy)
        except PolicyJsonInvalid as error:
            raise self._unusable(path, str(error)) from None

    def create(self, body: JsonObject, details: JsonObject) -> None:
        """Create a policy. The caller has checked that its name is new.

        Raises:
            ConnectionFailed: The server did not confirm it; `is_uncertain` if it may exist nevertheless.
        """
        content = {"policy": [body]}
        self._change("POST", POLICIES, content, {"policy": body["name"], **details})

    def activate(self, policy: str, details: JsonObject) -> None:
        """Ask the server to activate a policy.

        Raises:
            ConnectionFailed: The server did not confirm it; `is_uncertain` if it may be active nevertheless.
        """
        _check_name(policy)
        about = {"policy": policy, **details}
        self._change("PUT", path_of(policy, ACTIVATION), None, about, self.connection.activation_limits)

    def _change(
        self, method: str, path: str, body: object, details: JsonObject, limits: RequestLimits | None = None
    ) -> None:
        with self._database.session(writes=True) as session:
            about = AuditObject("connection", self.name)
            record(session, Action.CONNECTION_CHANGE_SENT, about, {"method": method, "path": path, **details})
        self._called(
            method,
            path,
            lambda: self._client.send(method, path, body=body, headers=HEADERS, limits=limits),
            details,
        )

    def _called(self, method: str, path: str, call: Callable[[], Reply], details: JsonObject) -> Reply:
        """Make a call, and record it with its outcome."""
        entry: JsonObject = {"method": method, "path": path, **details}
        try:
            reply = call()
        except ConnectionFailed as error:
            self._record(
                {**entry, "status": error.status, "fault": error.fault[:_LONGEST_FAULT]},
                str(error),
                succeeded=False,
            )
            raise
        self._record({**entry, "status": reply.status}, f"{method} {path}", succeeded=True)
        return reply

    def _record(self, details: JsonObject, sentence: str, *, succeeded: bool) -> None:
        with self._database.session(writes=True) as session:
            record(session, Action.CONNECTION_CALLED, AuditObject("connection", self.name), details)
            record_use(session, self.name, sentence, succeeded=succeeded)

    def _unusable(self, path: str, fault: str) -> ConnectionFailed:
        advice = f"Send the output of `cfplan connections check {self.name}` to the project: it contains no values of your site."
        return ConnectionFailed(self.name, "GET", path, fault, advice)


def path_of(policy: str, folder: str = POLICIES) -> str:
    """Return the path of a policy: `#` in its name would begin a fragment, which is not sent."""
    return f"{folder}/{quote(policy, safe='')}"


def names_in(answer: object) -> tuple[str, ...] | None:
    """Return the names in a list of policies; None if it has an unknown shape.

    The member with the list is not published. A list in the answer or in any of its members is accepted if all its
    entries have a name.
    """
    lists = (
        [answer] if isinstance(answer, list) else list(answer.values()) if isinstance(answer, dict) else []
    )
    found = [each for each in lists if isinstance(each, list) and all(map(_has_name, each))]
    if len(found) != 1:
        return None
    # Names of the sysplex are often padded; a padded name must not look like one that is free.
    return tuple(each["name"].strip() for each in found[0])


def active_in(answer: object) -> str | None:
    """Return the name of the active policy, if a list of policies states it."""
    active: Any = answer.get("activePolicy") if isinstance(answer, dict) else None
    name = active.get("name") if isinstance(active, dict) else active
    return name.strip() if isinstance(name, str) and is_policy(name.strip()) else None


def _has_name(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("name"), str)


def _check_name(policy: str) -> None:
    if not is_policy(policy):
        message = f"{policy[:20]!r} is not the name of a policy: {POLICY_RULE}."
        raise PolicyNotFound(message)
