"""The activation of a policy: one request, then reading which policy is active. An unknown outcome is never called a failure.

z/OS carries out an activation as a transition from the active policy to the new one, which takes time and can stay pending (IBM,
z/OS MVS Setting Up a Sysplex, *Transitioning to a new CFRM policy*). So neither a missing answer nor the name of the old policy
shows that nothing happens.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.clock import utc_now
from app.connections.errors import ConnectionFailed
from app.zosmf.models import ApplyState
from app.zosmf.server import PolicyServer
from planner_core.texts.xcf.setxcf import DISPLAY_POLICY
from planner_core.wire import JsonObject

Say = Callable[[str], None]
"""Shows a line about what is being done."""
Store = Callable[[ApplyState], None]
"""Stores a state of the policy."""
BETWEEN_READS_S: Final = 5.0
"""Seconds between two reads of the active policy: ours, so that a minute of watching takes about twelve requests."""
HOW_TO_FIND_OUT: Final = f"To find out, enter {DISPLAY_POLICY} on the console, which names the active policy, and D XCF,STR, which shows pending changes of structures."


@dataclass(frozen=True, slots=True)
class Activation:
    """The outcome of an activation: the state `ACTIVATED` or `UNCONFIRMED`, and a report for the user."""

    state: ApplyState
    sentence: str


@dataclass(frozen=True, slots=True)
class _Seen:
    """The last look at the active policy."""

    active: str | None
    fault: str
    """Why the server could not be read; empty if it could."""
    at: datetime


def activate(
    server: PolicyServer,
    policy: str,
    details: JsonObject,
    *,
    is_repeated: bool,
    store: Store,
    say: Say,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Activation:
    """Activate a policy, and read which policy is active; the caller has stored the state `ACTIVATING`.

    Args:
        server: The server.
        policy: The name of the policy.
        details: Members of the entry of the audit trail.
        is_repeated: Whether the outcome of an earlier request is unknown.
        store: Stores the state that follows from the outcome.
        say: Shows what is being done.
        sleep: Waits between two reads.
        clock: Returns seconds that only grow.

    Raises:
        ConnectionFailed: The server refused the request, or was not reached: it had no effect.
    """
    sent_at = utc_now()
    seconds = server.connection.activation_timeout_s
    say(
        f"{sent_at:%H:%M:%S} UTC: the activation of {policy} is sent to {server.name}; waiting up to {seconds:g} seconds for the answer."
    )
    missing = ""
    try:
        try:
            server.activate(policy, details)
        except ConnectionFailed as error:
            if not error.is_uncertain:
                store(ApplyState.UNCONFIRMED if is_repeated else ApplyState.VERIFIED)
                raise _refused(error, policy, is_repeated=is_repeated) from None
            missing = error.fault
            say(f"{missing} Whether {policy} is active is not known yet; reading which policy is active.")
        seen = _watched(server, policy, say, sleep, clock)
    except KeyboardInterrupt:
        store(ApplyState.UNCONFIRMED)
        say(f"Interrupted. It is not known whether {policy} is active. {HOW_TO_FIND_OUT}")
        raise
    found = _outcome(policy, sent_at, missing, seen)
    store(found.state)
    return found


def _watched(
    server: PolicyServer,
    policy: str,
    say: Say,
    sleep: Callable[[float], None],
    clock: Callable[[], float],
) -> _Seen:
    """Read which policy is active until it is the new one, the server does not report it, or the time is over."""
    end = clock() + server.connection.activation_watch_s
    while True:
        seen = _look(server)
        left = end - clock()
        if seen.active == policy or (seen.active is None and not seen.fault) or left <= 0:
            return seen
        state = seen.fault or f"{server.name} reports {seen.active} as active."
        say(f"{seen.at:%H:%M:%S} UTC: {state} Reading again for {left:.0f} seconds.")
        sleep(min(BETWEEN_READS_S, left))


def _look(server: PolicyServer) -> _Seen:
    try:
        active, fault = server.list_policies().active, ""
    except ConnectionFailed as error:
        active, fault = None, error.fault
    return _Seen(active, fault, utc_now())


def _outcome(policy: str, sent_at: datetime, missing: str, seen: _Seen) -> Activation:
    if seen.active == policy:
        answer = f" The activation was not confirmed ({missing.rstrip('.')}), but the server reports the policy as active." if missing else ""  # fmt: skip
        return Activation(
            ApplyState.ACTIVATED,
            f"The policy {policy} is active.{answer} Changes of structures may be pending; see D XCF,STR.",
        )
    if not missing and seen.active is None and not seen.fault:
        return Activation(
            ApplyState.ACTIVATED,
            f"The server accepted the activation of {policy}, but does not report which policy is active. Check it with {DISPLAY_POLICY}.",
        )
    # An error of the server is an answer, but says as little about the outcome as none.
    answer = f"not confirmed: {missing}" if missing else "the server accepted it."
    if seen.fault:
        known = f"which policy is active could not be read: {seen.fault}"
    elif seen.active is None:
        known = "the server does not report which policy is active."
    else:
        known = f"the server reports {seen.active} as active; z/OS may still be changing to {policy}."
    lines = (
        f"It is not known whether the policy {policy} is active.",
        f"  Activation, sent {sent_at:%H:%M:%S} UTC: {answer}",
        f"  Last look, {seen.at:%H:%M:%S} UTC: {known}",
        f"  {HOW_TO_FIND_OUT}",
        f"  Activate no other policy before you know. The same command, run again, reads which policy is active; unless it is {policy}, "
        "it asks you before it sends the activation again.",
    )
    return Activation(ApplyState.UNCONFIRMED, "\n".join(lines))


def _refused(error: ConnectionFailed, policy: str, *, is_repeated: bool) -> ConnectionFailed:
    effect = (
        f"This request had no effect; whether an earlier one has activated {policy} is not known. {HOW_TO_FIND_OUT}"
        if is_repeated
        else f"The policy {policy} was not activated; it is on the server and has every value that was sent."
    )
    return ConnectionFailed(
        error.connection,
        error.method,
        error.path,
        error.fault,
        f"{effect} {error.advice}",
        status=error.status,
    )
