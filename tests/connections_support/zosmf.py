"""A stand-in for the CFRM policy services of z/OSMF, built from IBM's published description alone.

IBM Education Assistant, z/OS 3.1, CFRM policy editor REST API support, publishes paths, methods and the body. The members of
the list of policies are not published there; `items` and `activePolicy` were seen in a public client of these services.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from tests.connections_support.server import Answer, Fault, Received, StandIn

POLICIES = "/zosmf/sysplex/rest/v1/policies/cfrm"
CF = {"type": "009175", "mfg": "IBM", "plant": "02", "partition": "0E", "cpcid": "00", "dumpspace": 2048}


def base_policy(name: str = "CFRM01") -> dict[str, Any]:
    """Return a policy of a sysplex with a queue-sharing group SQ03 and a structure of another product; sizes are in K."""
    return {
        "name": name,
        "_user": "SYSPROG",
        "cf": [
            {"name": each, "sequence": f"00000000000{number}", **CF}
            for number, each in enumerate(("CF01", "CF02"), 1)
        ],
        "structure": [
            {"name": "SQ03CSQ_ADMIN", "size": 20480, "initsize": 10240, "fullthreshold": 85, "preflist": ["CF01", "CF02"]},
            {"name": "SQ03APPLICATION1", "size": 524288, "initsize": 262144, "preflist": ["CF01", "CF02"], "recprty": 3},
            {"name": "DSNDB0G_LOCK1", "size": 131072, "initsize": 65536, "preflist": ["CF02", "CF01"], "futuremember": {"a": [1]}},
        ],
    }  # fmt: skip


class ZosmfStandIn(StandIn):
    """The server: policies by name, and the active one."""

    def __init__(self, *policies: dict[str, Any], active: str | None = "CFRM01") -> None:
        super().__init__()
        self.policies = {each["name"]: each for each in policies or (base_policy(),)}
        self.active = active
        self.reports_active = True
        self.looks_until_active: int | None = 0
        """How often the list of policies still names the old policy after an activation; None: it is never carried out."""
        self._next_active: str | None = None
        self.on_create: Callable[[dict[str, Any]], None] = lambda _: None
        """Changes a policy before it is stored, as a defect on the way would."""
        self.on_read: Callable[[str], None] = lambda _: None
        """Called with the name of a policy before it is returned."""

    def handle(self, request: Received) -> tuple[Answer, Fault]:
        """Answer one request; `on_read` may wait for another one."""
        name = request.path.removeprefix(f"{POLICIES}/")
        if request.method == "GET" and name != request.path:
            self.on_read(unquote(name))
        return super().handle(request)

    def answer(self, request: Received) -> Answer:
        """Answer one request."""
        if "x-csrf-zosmf-header" not in request.headers:
            return Answer(403, b"CSRF header is missing", "text/plain")
        rest = request.path.removeprefix(POLICIES)
        if rest == request.path:
            return Answer(404)
        match request.method, [unquote(each) for each in rest.strip("/").split("/")]:
            case "GET", [""]:
                return self._list()
            case "GET", [name]:
                found = self.policies.get(name)
                return Answer(404, b"no such policy") if found is None else Answer.json({"policy": [found]})
            case "POST", [""]:
                return self._create(request)
            case "PUT", ["activation", name]:
                if name not in self.policies:
                    return Answer(404)
                if self.looks_until_active is not None:
                    self._next_active = name
                    self._transition(0)
                return Answer.json({})
            case _:
                return Answer(405)

    def _transition(self, looks: int) -> None:
        if self._next_active is None:
            return
        if self.looks_until_active:
            self.looks_until_active -= looks
            return
        self.active, self._next_active = self._next_active, None

    def _list(self) -> Answer:
        self._transition(1)
        found: dict[str, Any] = {
            "items": [{"name": each, "_defined": "2026-11-01"} for each in self.policies]
        }
        if self.reports_active and self.active is not None:
            found["activePolicy"] = {"name": self.active, "activatedDate": "2026-11-02"}
        return Answer.json(found)

    def _create(self, request: Received) -> Answer:
        for policy in json.loads(request.body)["policy"]:
            if policy["name"] in self.policies:
                return Answer(409, b"the policy exists", "text/plain")
            stored = copy.deepcopy(policy)
            self.on_create(stored)
            self.policies[policy["name"]] = stored
        return Answer.json({}, 201)

    @property
    def changes(self) -> list[str]:
        """The requests that are not reads."""
        return [each for each in self.lines if not each.startswith("GET ")]
