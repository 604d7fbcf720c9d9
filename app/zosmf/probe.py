"""The check of a connection to z/OSMF: the shapes of the list of policies and of one policy."""

from __future__ import annotations

from app.connections.checks import ProbeStep, compared_step, failed_step
from app.connections.client import Client
from app.connections.declared import AnyConnection
from app.connections.errors import ConnectionFailed
from app.zosmf.server import HEADERS, POLICIES, active_in, names_in, path_of
from planner_core.names import is_policy
from planner_core.texts.cfrm.policy_json import DOCUMENTED, VERBS

LIST = f"GET {POLICIES}"
ONE = f"GET {POLICIES}/{{name}}"


def probe(client: Client, connection: AnyConnection) -> tuple[ProbeStep, ...]:
    """Ask for the list of policies, and for one of them; nothing is changed."""
    try:
        reply = client.get(POLICIES, headers=HEADERS)
        answer = reply.json()
    except ConnectionFailed as error:
        return (failed_step(LIST, error),)
    steps = [compared_step(LIST, reply.status, answer, ())]
    names = names_in(answer) or ()
    wanted = getattr(connection, "policy", None) or active_in(answer) or next(iter(names), None)
    if wanted is None or not is_policy(wanted):
        return tuple(steps)
    try:
        reply = client.get(path_of(wanted), headers=HEADERS)
        steps.append(compared_step(ONE, reply.status, reply.json(), _documented()))
    except ConnectionFailed as error:
        steps.append(failed_step(ONE, error))
    return tuple(steps)


def _documented() -> tuple[str, ...]:
    members = ["policy[].name"]
    for section in VERBS:
        members += [f"policy[].{section}[].{name}" for name in sorted({"name", *DOCUMENTED[section]})]
    return tuple(members)
