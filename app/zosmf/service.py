"""Pull, plan, apply and drift. Network calls hold no transaction: each step that must survive a kill is stored before it.

The steps of `apply`:

1. The unit of sizes is verified, the version is approved if that is required, and the name is new.
2. The plan is merged into the policy that was read; values that the interface does not carry end the command.
3. The row of the new policy is stored as `sending`, then the policy is created.
4. It is read back, and every value is compared with the one that was sent.
5. Only if the caller asks for it, it is activated, and the active policy is read again (`app.zosmf.activation`).

A killed command leaves the row in its last state; the next `apply` with the same name reads what is there. Each state
replaces the one that the command read: of two commands on one row, one stores its state before it sends, and the other
ends without sending.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from pydantic import Field
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.actor import current_actor
from app.audit.actions import Action
from app.audit.recording import AuditObject, record, sha256_of
from app.clock import utc_now
from app.connections.declared import RequestLimits, ZosmfConnection, zosmf_connection
from app.connections.errors import ConnectionFailed
from app.connections.models import LONGEST_SENTENCE
from app.database.engine import Database
from app.plans import approval
from app.plans import service as plans
from app.plans.stored import StoredVersion
from app.settings import Settings
from app.zosmf import repository
from app.zosmf.activation import HOW_TO_FIND_OUT, Say, activate
from app.zosmf.errors import ApplyRefused, NothingToCompare, PolicyNotFound, UnitNotVerified
from app.zosmf.models import ACTIVATION_UNKNOWN, AppliedPolicy, ApplyState, PolicyDrift, VerifiedUnit
from app.zosmf.server import PolicyNames, PolicyServer
from planner_core.contracts.files import parsed_text, plain
from planner_core.findings import Finding
from planner_core.names import POLICY_RULE, is_policy
from planner_core.running.line_findings import finding_at
from planner_core.running.merge import MergedPolicy
from planner_core.running.policy_json import ChangedPolicy, UncarriedKeyword, changed_policy
from planner_core.running.unstated import DEFAULT_UNSTATED, Unstated
from planner_core.texts.cfrm.policy_json import (
    PolicyJsonInvalid,
    PropertyRemark,
    StatementDifference,
    WrittenPolicy,
    differences_between,
    entries_of,
    written_policy,
)
from planner_core.units import format_size, parse_size
from planner_core.wire import Answer, Hidden, JsonObject

if TYPE_CHECKING:
    from planner_core.plan.result import PlanResult

UNITS: Final = ("B", "K", "M", "G")
_CONFLICT: Final = 409
SAME, DRIFT, FAILED = "same", "drift", "failed"


@dataclass(frozen=True, slots=True)
class PulledPolicy(Answer):
    """A policy that was read."""

    connection: str
    is_verified: bool
    policy_name: str
    written: Annotated[
        WrittenPolicy | None,
        Field(
            description="Null if the unit of sizes is unknown, or a value of a known keyword cannot be read."
        ),
    ]
    unreadable: Annotated[
        tuple[PropertyRemark, ...], Field(description="Values of known keywords that cannot be read.")
    ]
    as_read: Annotated[JsonObject, Field(description="The policy as the server describes it.")]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyPlan(Answer):
    """The difference between a policy on the server and the same policy with a plan merged into it."""

    connection: str
    is_verified: bool
    policy_name: str
    plan: str
    version: Annotated[int | None, Field(description="The version of the plan; null if it is not stored.")]
    differences: tuple[StatementDifference, ...]
    uncarried: tuple[UncarriedKeyword, ...]
    written: Hidden[WrittenPolicy]
    merged: Hidden[MergedPolicy]
    changed: Hidden[ChangedPolicy]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class ApplyResult(Answer):
    """The state of a policy after `apply`."""

    connection: str
    is_verified: bool
    policy_name: str
    base: str
    state: ApplyState
    sentence: str
    differences: Annotated[
        tuple[StatementDifference, ...],
        Field(description="Values that were read back and differ from those that were sent."),
    ]
    findings: tuple[Finding, ...] = ()

    @property
    def succeeded(self) -> bool:
        """Whether the policy on the server has every value that was sent."""
        return self.state in (ApplyState.VERIFIED, ApplyState.ACTIVATED)


IsVerifiedNow: TypeAlias = Annotated[
    bool | None,
    Field(
        description="Whether the declaration of the connection states now that it was used with a real system; null if the "
        "connection is no longer declared, or the file of connections cannot be read."
    ),
]


@dataclass(frozen=True, slots=True)
class Drift(Answer):
    """A comparison of the active policy with what cfplan expects."""

    connection: str
    is_verified: IsVerifiedNow
    compared_at: datetime
    outcome: Annotated[str, Field(json_schema_extra={"enum": [SAME, DRIFT, FAILED]})]
    policy: str | None
    sentence: str
    differences: tuple[StatementDifference, ...]
    findings: tuple[Finding, ...] = ()


# ---- reading ---------------------------------------------------------------------------------------------------------


@contextmanager
def server_of(database: Database, settings: Settings, name: str) -> Iterator[PolicyServer]:
    """Open a connection to z/OSMF for the block.

    Raises:
        ConnectionUnknown: There is no such connection.
        ConnectionsInvalid: Its credentials cannot be used.
    """
    # Imported only to contact a server: pages and REST show stored results without the HTTP client.
    from app.connections.client import open_client

    connection = zosmf_connection(settings, name)
    with open_client(name, connection) as client:
        yield PolicyServer(client, connection, database)


def chosen_policy(server: PolicyServer, names: PolicyNames, policy: str | None) -> str:
    """Return the policy that a command names, or else the active one; if the server does not report it, that of the connection.

    Raises:
        PolicyNotFound: The server has no such policy, or does not report the active one.
    """
    if not names.names:
        message = (
            f"Connection {server.name}: the server has no policies. Check that the connection leads to the sysplex you mean, and "
            "that its user may read policies."
        )
        raise PolicyNotFound(message)
    chosen = policy or names.active or server.connection.policy
    if chosen is None:
        message = (
            f"Connection {server.name}: the server does not report which policy is active. Name it with --policy, or as "
            f"policy of the connection. The server has: {', '.join(names.names)}."
        )
        raise PolicyNotFound(message)
    if chosen not in names.names:
        message = f"Connection {server.name}: the server has no policy {chosen[:20]}. It has: {', '.join(names.names)}."
        raise PolicyNotFound(message)
    return chosen


def pull(server: PolicyServer, policy: str | None) -> PulledPolicy:
    """Read a policy; its text is missing if the unit of sizes is unknown."""
    chosen = chosen_policy(server, server.list_policies(), policy)
    found = server.read(chosen)
    unit = server.connection.size_unit
    is_verified = server.connection.verified_against_a_real_system
    if unit is None:
        return PulledPolicy(server.name, is_verified, chosen, None, (), found)
    written = written_policy(found, unit)
    is_complete = not written.unreadable
    return PulledPolicy(
        server.name, is_verified, chosen, written if is_complete else None, written.unreadable, found,
        tuple(map(_finding_on, written.remarks)),
    )  # fmt: skip


def _finding_on(remark: PropertyRemark) -> Finding:
    code = "POLICY_JSON_LEFT_OUT" if remark.is_left_out else "POLICY_JSON_READ_BY_NAME"
    return finding_at(code, f"{remark.sentence}.").finding


# ---- the unit of sizes -----------------------------------------------------------------------------------------------


def verify_unit(
    database: Database, server: PolicyServer, *, policy: str, structure: str, size_bytes: int
) -> tuple[bool, str]:
    """Compare the size of a structure on the server with the size that a user knows; return the outcome in words.

    The unit counts as verified if the connection states it and the sizes are equal.
    """
    found = next(
        (each for each in entries_of(server.read(policy), "structure") if each["name"] == structure), None
    )
    if found is None or isinstance(found.get("size"), bool) or not isinstance(found.get("size"), int | str):
        return False, f"The policy {policy} has no structure {structure} with a size."
    reported, stated = str(found["size"]).strip(), server.connection.size_unit
    fitting = [unit for unit in UNITS if _bytes_of(reported, unit) == size_bytes]
    known = f"{format_size(size_bytes)} of {structure} is {reported} on the server"
    if stated in fitting:
        with database.session(writes=True) as session:
            session.merge(
                VerifiedUnit(
                    connection=server.name, address=server.connection.address, unit=stated, policy=policy,
                    structure=structure, size_bytes=size_bytes, verified_at=utc_now(), author=current_actor().name,
                )
            )  # fmt: skip
            record(
                session, Action.CONNECTION_UNIT_VERIFIED, AuditObject("connection", server.name),
                {"unit": stated, "policy": policy, "structure": structure, "size": reported, "stated_bytes": size_bytes},
            )  # fmt: skip
        return True, f"Verified: {known}, so sizes are in the unit {stated}, as the connection states."
    if fitting and not reported.isdigit():
        return (
            False,
            f"{known}: it states its unit itself. Enter size_unit: K in the connection and check again.",
        )
    if fitting:
        return False, f"{known}, so sizes are in the unit {fitting[0]}. Enter size_unit: {fitting[0]} in the connection and check again."  # fmt: skip
    return False, f"Not verified: {known}, which fits none of the units {', '.join(UNITS)}. Check the size that you stated."  # fmt: skip


def _bytes_of(reported: str, unit: str) -> int | None:
    from planner_core.errors import SizeSyntax

    try:
        return parse_size(reported, default_unit=unit)
    except SizeSyntax:
        return None


def require_unit(session: Session, name: str, connection: ZosmfConnection) -> str:
    """Return the unit of sizes, if it was verified for this server.

    Raises:
        UnitNotVerified: It is not stated, or was not verified.
    """
    row = repository.find_unit(session, name)
    unit = connection.size_unit
    if unit is None or row is None or (row.address, row.unit) != (connection.address, unit):
        message = (
            f"Connection {name}: the unit of sizes is not verified for this server, so nothing is sent. Name a structure whose "
            f"size you know: cfplan connections check {name} --policy POLICY --structure STRUCTURE --size-is 512M"
        )
        raise UnitNotVerified(message)
    return unit


def stated_unit(server: PolicyServer) -> str:
    """Return the unit of sizes that the connection states, whether or not it was verified.

    Raises:
        UnitNotVerified: It states none.
    """
    unit = server.connection.size_unit
    if unit is None:
        message = (
            f"Connection {server.name}: the unit of sizes is unknown, because the description of z/OSMF does not state it. "
            f"Find it: cfplan connections check {server.name} --policy POLICY --structure STRUCTURE --size-is 512M"
        )
        raise UnitNotVerified(message)
    return unit


# ---- evaluation ----------------------------------------------------------------------------------------------------------


def evaluation_of(database: Database) -> Callable[[StoredVersion], PlanResult]:
    """Return the evaluation of stored versions with the curves of a database."""
    from app.fits.kept import curves_in
    from app.fits.resolve import evaluate

    return lambda version: evaluate(version.document, curves_in(database), compares=False, purpose="sizes")


# ---- planning --------------------------------------------------------------------------------------------------------


def stored_version(session: Session, name: str, number: int | None) -> StoredVersion:
    """Return a version of a stored plan, by default the latest.

    Raises:
        PlanNotFound: There is no such plan or version.
    """
    return plans.get_plan(session, name) if number is None else plans.get_version(session, name, number)


def require_release(session: Session, settings: Settings, name: str, version: StoredVersion) -> None:
    """Check that the texts of a version may be given, if the settings require an approval.

    Raises:
        ApprovalMissing: The version needs an approval and has none.
    """
    if settings.approval:
        approval.require_approved(session, version.plan_id, name, version.number)


def plan(
    server: PolicyServer,
    result: PlanResult,
    *,
    plan_name: str,
    version: int | None = None,
    policy: str | None = None,
    new_name: str | None = None,
    unstated: Unstated = DEFAULT_UNSTATED,
) -> PolicyPlan:
    """Merge a plan into a policy on the server, and return the difference statement by statement.

    Raises:
        UnitNotVerified: The unit of sizes is unknown.
        MergeRefused: The plan cannot be merged into this policy.
        OutputRefused: The plan has errors.
    """
    chosen = chosen_policy(server, server.list_policies(), policy)
    return _planned(
        server,
        server.read(chosen),
        result,
        plan_name=plan_name,
        version=version,
        new_name=new_name,
        unstated=unstated,
    )


def _planned(
    server: PolicyServer,
    policy: JsonObject,
    result: PlanResult,
    *,
    plan_name: str,
    version: int | None,
    new_name: str | None,
    unstated: Unstated,
) -> PolicyPlan:
    from app.running.service import merged

    unit = stated_unit(server)
    name = policy["name"]
    written = written_policy(policy, unit)
    _require_readable(written, result)
    found = merged(result, written.policy, unstated=unstated, policy_name=name)
    changed = changed_policy(
        policy, found.policy, name=new_name or name, unit=unit, accepted=server.connection.properties
    )
    # With all values of the merge, so that those which cannot be carried are shown as well.
    complete = changed_policy(policy, found.policy, name=name, unit=unit, accepted=_ALL)
    return PolicyPlan(
        server.name, server.connection.verified_against_a_real_system, name, plan_name, version,
        differences_between(policy, complete.body, unit), changed.uncarried, written, found, changed,
        tuple(each.finding for each in found.findings),
    )  # fmt: skip


def _require_readable(written: WrittenPolicy, result: PlanResult) -> None:
    """Check that the merge sees every value of the planned structures; other statements are kept as they are.

    Raises:
        PolicyJsonInvalid: A value of a planned structure cannot be read.
    """
    own = {f"STRUCTURE {each.cfrm_name}" for each in result.structures}
    lost = [each for each in written.unreadable if each.statement in own]
    if lost:
        lines = "\n".join(f"  {each.sentence}" for each in lost)
        message = f"The plan cannot be merged into the policy {written.policy_name}, because values of its structures cannot be read:\n{lines}"
        raise PolicyJsonInvalid(message)


def _all_members() -> frozenset[str]:
    from planner_core.texts.cfrm.policy_json import KEYWORDS

    return frozenset(keyword.lower() for keyword in KEYWORDS["structure"])


_ALL: Final = _all_members()


# ---- applying --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyOrder:
    """What to apply."""

    plan: str
    version: int | None
    new_name: str
    policy: str | None
    unstated: Unstated = DEFAULT_UNSTATED


Confirm = Callable[[PolicyPlan], bool]
"""A function that shows the difference and returns whether to create the policy."""
ConfirmActivation = Callable[[str], bool]
"""Asks for the name of the policy, and returns whether it was entered."""


def apply(
    database: Database,
    settings: Settings,
    server: PolicyServer,
    order: ApplyOrder,
    evaluate: Callable[[StoredVersion], PlanResult],
    *,
    confirm: Confirm,
    confirm_activation: ConfirmActivation | None = None,
    say: Say = lambda _: None,
) -> ApplyResult:
    """Create a new policy from a plan, read it back, and compare every value; activate it only if asked to.

    Args:
        database: The database.
        settings: The settings, which may require an approval.
        server: The server.
        order: What to apply.
        evaluate: Evaluates a version of a plan.
        confirm: Shows the difference before the policy is created.
        confirm_activation: Confirms the activation; None stops before it.
        say: Shows what is being done.

    Raises:
        UnitNotVerified: The unit of sizes is not verified for this server.
        ApprovalMissing: The version needs an approval and has none.
        ApplyRefused: The name is in use, or values cannot be carried.
        ConnectionFailed: The server did not answer; run the command again to see what is there.
    """
    if not is_policy(order.new_name):
        message = f"{order.new_name[:20]!r} is not a name for a policy: {POLICY_RULE}. Use upper case."
        raise ApplyRefused(message)
    with database.session(writes=False) as session:
        unit = require_unit(session, server.name, server.connection)
        version = stored_version(session, order.plan, order.version)
        require_release(session, settings, order.plan, version)
        earlier = repository.find_applied(session, server.name, order.new_name)
        kept = None if earlier is None else _Kept.of(earlier)
    _require_idle(server.connection, kept, activates=confirm_activation is not None)
    names = server.list_policies()
    if order.new_name in names.names:
        kept, result = _found_there(database, server, order, version, kept, unit)
    else:
        kept, result = _created(database, server, names, order, version, evaluate, unit, confirm, kept, say)
    if result.state is ApplyState.DIFFERENT:
        return result
    is_unknown = result.state is ApplyState.UNCONFIRMED
    if confirm_activation is None and not is_unknown:
        return result
    active = server.list_policies().active
    if is_unknown and active == result.policy_name:
        # A command that only reads back leaves the row to the one that may still be activating.
        if confirm_activation is not None or kept.state is ApplyState.UNCONFIRMED:
            _store_state(database, server.name, kept, ApplyState.ACTIVATED)
        sentence = f"The policy {result.policy_name} is active: the activation that was sent before was carried out. Changes of structures may be pending; see D XCF,STR."  # fmt: skip
        return _with(result, state=ApplyState.ACTIVATED, sentence=sentence)
    if confirm_activation is None:
        return _with(result, sentence=_unconfirmed(result, kept, active))
    if result.state is ApplyState.ACTIVATED and active in (None, result.policy_name):
        return result
    if is_unknown:
        say(_unconfirmed(result, kept, active))
    planned = evaluate(version)
    _require_current(server, _reference(server, active, kept), result, planned, unit)
    if not confirm_activation(result.policy_name):
        message = f"The activation of {result.policy_name} was not sent, because its name was not confirmed. The policy is on the server and has every value that was sent."  # fmt: skip
        raise ApplyRefused(message)
    # Again, because the confirmation may take hours: neither policy may have been changed in the meantime.
    _require_as_sent(database, server, kept, unit)
    active = server.list_policies().active
    _require_current(server, _reference(server, active, kept), result, planned, unit)
    activating = _store_state(database, server.name, kept, ApplyState.ACTIVATING)

    def store(state: ApplyState) -> None:
        _store_state(database, server.name, activating, state)

    found = activate(
        server,
        result.policy_name,
        {"plan": version.name, "version": version.number},
        is_repeated=is_unknown,
        store=store,
        say=say,
    )
    return _with(result, state=found.state, sentence=found.sentence)


def _unconfirmed(result: ApplyResult, kept: _Kept, active: str | None) -> str:
    """Report on a policy whose activation was sent but not confirmed."""
    known = (
        f"the server reports {active} as active"
        if active
        else "the server does not report which policy is active"
    )
    return (
        f"The policy {result.policy_name} has every value that was sent, but it is not known whether it is active. Its activation "
        f"was sent by {kept.author} before {kept.changed_at:%Y-%m-%d %H:%M:%S} UTC; {known}. {HOW_TO_FIND_OUT}"
    )


@dataclass(frozen=True, slots=True)
class _Kept:
    """The stored row of a policy, outside of its transaction."""

    policy: str
    base: str
    plan: str
    version: int
    state: ApplyState
    body: JsonObject
    unstated: str | None
    """None in rows of earlier releases, which did not store it."""
    sent_at: datetime
    changed_at: datetime
    author: str

    @classmethod
    def of(cls, row: AppliedPolicy) -> _Kept:
        body, unstated = _sent_in(row.body)
        return cls(
            row.policy, row.base, row.plan, row.version, ApplyState(row.state), body, unstated, row.sent_at,
            row.changed_at, row.author,
        )  # fmt: skip


_POLICY, _UNSTATED = "policy", "unstated"


def _sent_in(text: str) -> tuple[JsonObject, str | None]:
    """Return the policy of a stored body, and the option with which it was merged."""
    found: JsonObject = json.loads(text)
    if isinstance(found.get(_POLICY), dict):
        return found[_POLICY], found.get(_UNSTATED)
    return found, None


def _found_there(
    database: Database,
    server: PolicyServer,
    order: ApplyOrder,
    version: StoredVersion,
    kept: _Kept | None,
    unit: str,
) -> tuple[_Kept, ApplyResult]:
    """Report a policy that exists: it is continued only if cfplan created it with the same command."""
    name = order.new_name
    if kept is None or kept.state is ApplyState.REFUSED:
        message = f"The server already has a policy {name}, which cfplan did not create. Nothing was changed; choose another name."  # fmt: skip
        raise ApplyRefused(message)
    if (kept.plan, kept.version) != (order.plan, version.number):
        message = (
            f"The server already has a policy {name}, which cfplan created from version {kept.version} of the plan "
            f"{kept.plan}. Nothing was changed; choose another name."
        )
        raise ApplyRefused(message)
    other = [
        f"{option} {stored} instead of {given}"
        for option, stored, given in (
            ("--policy", kept.base, order.policy),
            ("--unstated", kept.unstated, order.unstated),
        )
        if None not in (stored, given) and stored != given
    ]
    if other:
        message = (
            f"The server already has a policy {name}, which cfplan created with {' and '.join(other)}. Nothing was changed. "
            "To continue with that policy, state the same options; to create one with these options, choose another name."
        )
        raise ApplyRefused(message)
    kept, found = _read_back(database, server, kept, unit)
    began = f"{kept.sent_at:%Y-%m-%d %H:%M} UTC"
    if found.succeeded:
        sentence = f"The server already has the policy {name}, which cfplan sent on {began}. Every value is as sent; nothing was sent again."  # fmt: skip
    else:
        sentence = f"The server already has the policy {name}, which cfplan sent on {began}, but {len(found.differences)} of its values differ."  # fmt: skip
    return kept, _with(found, sentence=sentence)


def _require_idle(connection: ZosmfConnection, kept: _Kept | None, *, activates: bool) -> None:
    """Check that no command is sending a change: one that was killed is given the time that a request can take.

    Raises:
        ApplyRefused: A command may still be sending it.
    """
    busy = {ApplyState.SENDING: "creating", **({ApplyState.ACTIVATING: "activating"} if activates else {})}
    if kept is None or kept.state not in busy:
        return
    until = kept.changed_at + (
        _longest_activation(connection)
        if kept.state is ApplyState.ACTIVATING
        else _longest_request(connection, connection.limits)
    )
    if utc_now() < until:
        advice = "" if kept.state is ApplyState.SENDING else f" Whether the policy is active is not known. {HOW_TO_FIND_OUT}"  # fmt: skip
        message = (
            f"A command of {kept.author} has been {busy[kept.state]} the policy {kept.policy} since "
            f"{kept.changed_at:%Y-%m-%d %H:%M:%S} UTC, and may still be waiting for the server. Nothing was sent. If that command "
            f"has ended, run this one again after {until:%H:%M:%S} UTC, when its requests must have ended.{advice}"
        )
        raise ApplyRefused(message)


def _longest_request(connection: ZosmfConnection, limits: RequestLimits) -> timedelta:
    """Return how long a request can take: connecting, sending, and an answer whose last part arrives late."""
    return timedelta(seconds=limits.total_s + 3 * connection.timeout_s)


def _longest_activation(connection: ZosmfConnection) -> timedelta:
    """Return how long an activation can take: its request, watching the active policy, and the last read of it."""
    watched = timedelta(seconds=connection.activation_watch_s)
    return (
        _longest_request(connection, connection.activation_limits)
        + watched
        + _longest_request(connection, connection.limits)
    )


def _created(
    database: Database,
    server: PolicyServer,
    names: PolicyNames,
    order: ApplyOrder,
    version: StoredVersion,
    evaluate: Callable[[StoredVersion], PlanResult],
    unit: str,
    confirm: Confirm,
    kept: _Kept | None,
    say: Say,
) -> tuple[_Kept, ApplyResult]:
    base = chosen_policy(server, names, order.policy)
    policy = server.read(base)
    found = _planned(
        server,
        policy,
        evaluate(version),
        plan_name=order.plan,
        version=version.number,
        new_name=order.new_name,
        unstated=order.unstated,
    )
    if found.uncarried:
        lines = "\n".join(f"  {each.sentence}" for each in found.uncarried)
        message = f"Nothing was sent, because {len(found.uncarried)} values would be lost:\n{lines}"
        raise ApplyRefused(message)
    errors = [each for each in found.findings if each.severity == "error"]
    if errors:
        lines = "\n".join(f"  {each.code}: {each.message}" for each in errors)
        message = f"Nothing was sent, because the merged policy has errors:\n{lines}"
        raise ApplyRefused(message)
    if not found.differences:
        message = f"Nothing was sent: the policy {base} already has all values of the plan."
        raise ApplyRefused(message)
    if not confirm(found):
        message = "Nothing was sent, because the new policy was not confirmed."
        raise ApplyRefused(message)
    _require_unchanged(server, names, base, policy, order.new_name)
    sending = _store_sending(database, server.name, order, version, base, found.changed.body, kept)
    say(
        f"The policy {order.new_name} is sent to {server.name}; waiting up to {server.connection.total_s:g} seconds for the answer."
    )
    try:
        server.create(sending.body, {"plan": order.plan, "version": version.number, "base": base})
    except KeyboardInterrupt:
        _store_state(database, server.name, sending, ApplyState.UNANSWERED)
        say(f"Interrupted. {_creation_unknown(order.new_name)}")
        raise
    except ConnectionFailed as error:
        # Nothing is waiting any more: the next command need not wait either.
        if not error.is_uncertain and not _may_be_there(error, kept):
            _store_state(database, server.name, sending, ApplyState.REFUSED)
            raise
        _store_state(database, server.name, sending, ApplyState.UNANSWERED)
        raise ConnectionFailed(
            error.connection, error.method, error.path, error.fault,
            _creation_unknown(order.new_name),
            status=error.status, is_uncertain=True,
        ) from None  # fmt: skip
    created = _store_state(database, server.name, sending, ApplyState.CREATED)
    return _read_back(database, server, created, unit)


def _creation_unknown(policy: str) -> str:
    return f"It is not known whether the policy {policy} was created. Run the same command again: it reads what is there and sends nothing twice."


def _may_be_there(error: ConnectionFailed, kept: _Kept | None) -> bool:
    """Return whether an earlier request, whose outcome is unknown, may be the reason for a refusal."""
    unknown = (ApplyState.SENDING, ApplyState.UNANSWERED)
    return error.status == _CONFLICT and kept is not None and kept.state in unknown


def _require_unchanged(
    server: PolicyServer, names: PolicyNames, base: str, policy: JsonObject, new_name: str
) -> None:
    """Check that the server is as it was when the difference was shown: a confirmation may take hours.

    Raises:
        ApplyRefused: The new name is in use, another policy is active, or the policy with the changes is another one.
    """
    now = server.list_policies()
    if new_name in now.names:
        message = f"The server has a policy {new_name} by now, which another command or user created. Nothing was sent; choose another name."  # fmt: skip
        raise ApplyRefused(message)
    if now.active != names.active or server.read(base) != policy:
        message = f"The policy {base} was changed, or another policy was activated, after the difference was read. Nothing was sent; run the command again."  # fmt: skip
        raise ApplyRefused(message)


def _store_sending(
    database: Database,
    connection: str,
    order: ApplyOrder,
    version: StoredVersion,
    base: str,
    body: JsonObject,
    seen: _Kept | None,
) -> _Kept:
    """Store that the policy is about to be sent, if the row is still as it was read.

    Raises:
        ApplyRefused: Another command has changed the row in the meantime.
    """
    now = _later(seen)
    values = {
        "base": base, "plan": order.plan, "version": version.number, "state": ApplyState.SENDING,
        "body": json.dumps({_POLICY: body, _UNSTATED: order.unstated}), "sent_at": now, "changed_at": now,
        "author": current_actor().name,
    }  # fmt: skip
    try:
        return _stored(database, connection, order.new_name, seen, values)
    except IntegrityError:
        with database.session(writes=False) as session:
            row = repository.find_applied(session, connection, order.new_name)
        raise _overtaken(order.new_name, row) from None


def _store_state(database: Database, connection: str, seen: _Kept, state: ApplyState) -> _Kept:
    """Store a state, if the row is still as it was read.

    Raises:
        ApplyRefused: Another command has changed the row in the meantime.
    """
    values = {"state": state, "changed_at": _later(seen)}
    return _stored(database, connection, seen.policy, seen, values)


def _later(seen: _Kept | None) -> datetime:
    """Return a time after the one that was read, whatever the clocks: it distinguishes rows with the same state."""
    now = utc_now()
    return now if seen is None else max(now, seen.changed_at + timedelta(microseconds=1))


def _stored(
    database: Database, connection: str, policy: str, seen: _Kept | None, values: dict[str, Any]
) -> _Kept:
    with database.session(writes=True) as session:
        if seen is None:
            session.add(AppliedPolicy(connection=connection, policy=policy, **values))
            session.flush()
            is_stored = True
        else:
            is_stored = repository.replace_applied(
                session, connection, policy, seen.state, seen.changed_at, values
            )
        row = repository.find_applied(session, connection, policy)
        if row is None or not is_stored:
            raise _overtaken(policy, row)
        _record_state(session, row)
        return _Kept.of(row)


def _overtaken(policy: str, row: AppliedPolicy | None) -> ApplyRefused:
    """Return the refusal of a command that another one overtook."""
    who = state = ""
    if row is not None:
        who = f" of {row.author}"
        state = f" Its state is {row.state}, since {row.changed_at:%Y-%m-%d %H:%M:%S} UTC."
    return ApplyRefused(
        f"Another command{who} is at work on the policy {policy}.{state} This command sent nothing more. Run it again when the "
        "other one has ended."
    )


def _record_state(session: Session, row: AppliedPolicy) -> None:
    details = {
        "policy": row.policy, "base": row.base, "plan": row.plan, "version": row.version, "state": str(row.state),
        "sha256": sha256_of(json.dumps(_sent_in(row.body)[0])),
    }  # fmt: skip
    record(session, Action.CONNECTION_POLICY_STATE, AuditObject("connection", row.connection), details)


def _read_back(database: Database, server: PolicyServer, kept: _Kept, unit: str) -> tuple[_Kept, ApplyResult]:
    """Read a policy, and compare every value with the one that was sent."""
    name = kept.policy
    differences = differences_between(kept.body, server.read(name), unit)
    if differences:
        state = ApplyState.DIFFERENT
        sentence = f"The policy {name} was created, but {len(differences)} of its values differ from those that were sent. Do not activate it."  # fmt: skip
    elif kept.state in (ApplyState.ACTIVATED, *ACTIVATION_UNKNOWN):
        state, sentence = kept.state, f"The policy {name} has every value that was sent."
    else:
        state = ApplyState.VERIFIED
        sentence = f"The policy {name} was created and read back: every value is as sent. It is not active."
    if state is not kept.state:
        kept = _store_state(database, server.name, kept, state)
    is_verified = server.connection.verified_against_a_real_system
    # Read back by another command than the one that sent the activation, which has ended.
    told = ApplyState.UNCONFIRMED if state in ACTIVATION_UNKNOWN else state
    return kept, ApplyResult(server.name, is_verified, name, kept.base, told, sentence, differences)


def _require_as_sent(database: Database, server: PolicyServer, kept: _Kept, unit: str) -> None:
    """Check that the new policy still has every value that was sent.

    Raises:
        ApplyRefused: It was changed after it was read back.
    """
    differences = differences_between(kept.body, server.read(kept.policy), unit)
    if differences:
        _store_state(database, server.name, kept, ApplyState.DIFFERENT)
        lines = "\n".join(f"  {each.sentence}" for each in differences)
        message = f"The activation of {kept.policy} was not sent, because the policy was changed after it was read back:\n{lines}"
        raise ApplyRefused(message)


def _reference(server: PolicyServer, active: str | None, kept: _Kept) -> str:
    """Return the policy that an activation replaces.

    If the server reports no active policy, this is `policy` of the connection, else the policy from which the new one was made.
    """
    return active or server.connection.policy or kept.base


def _require_current(
    server: PolicyServer, active: str, result: ApplyResult, planned: PlanResult, unit: str
) -> None:
    """Check that activating a policy changes the structures of the plan only.

    The policy may be days old; the active one may have been changed for other products since it was created.

    Raises:
        ApplyRefused: The active policy differs in other statements, which the activation would undo.
    """
    if active == result.policy_name:
        return
    own = {f"STRUCTURE {each.cfrm_name}" for each in planned.structures}
    others = [
        each
        for each in differences_between(server.read(active), server.read(result.policy_name), unit)
        if each.statement not in own
    ]
    if others:
        lines = "\n".join(f"  {each.sentence}" for each in others)
        message = (
            f"The activation of {result.policy_name} was not sent, because the active policy {active} has other values than the "
            f"policy {result.base} had when it was created. The activation would also change:\n{lines}\n"
            "Apply the plan to the active policy under a new name."
        )
        raise ApplyRefused(message)


def _with(result: ApplyResult, **changes: Any) -> ApplyResult:  # noqa: ANN401 - fields of the result
    from dataclasses import replace

    return replace(result, **changes)


# ---- drift -----------------------------------------------------------------------------------------------------------


def drift(
    database: Database,
    server: PolicyServer,
    evaluate: Callable[[StoredVersion], PlanResult],
    *,
    plan_name: str | None = None,
    policy: str | None = None,
) -> Drift:
    """Compare the active policy with a stored plan, or with the policy that cfplan applied last, and store the outcome.

    Raises:
        NothingToCompare: There is no applied policy, and no plan was named.
        ConnectionFailed: The server did not answer; this is stored as well.
    """
    try:
        chosen, sentence, differences = _compared(database, server, evaluate, plan_name, policy)
    except Exception as error:
        _store_drift(database, server, FAILED, None, str(error), ())
        raise
    outcome = DRIFT if differences else SAME
    return _store_drift(database, server, outcome, chosen, sentence, differences)


def _compared(
    database: Database,
    server: PolicyServer,
    evaluate: Callable[[StoredVersion], PlanResult],
    plan_name: str | None,
    policy: str | None,
) -> tuple[str, str, tuple[StatementDifference, ...]]:
    named = plan_name or server.connection.drift_plan
    with database.session(writes=False) as session:
        version = None if named is None else plans.get_plan(session, named)
        row = repository.last_applied(session, server.name)
        kept = None if row is None else (row.policy, _Kept.of(row))
    if version is None and kept is None:
        message = (
            f"Connection {server.name}: cfplan has not applied a policy yet. Name a plan with --plan, or as drift_plan of the "
            "connection."
        )
        raise NothingToCompare(message)
    chosen = chosen_policy(server, server.list_policies(), policy)
    active = server.read(chosen)
    if version is not None:
        found = _planned(
            server, active, evaluate(version), plan_name=version.name, version=version.number, new_name=None, unstated=DEFAULT_UNSTATED
        )  # fmt: skip
        # From the plan to what is there, so that `after` is the value that was changed by hand.
        differences = tuple(
            StatementDifference(each.statement, each.keyword, each.after, each.before)
            for each in found.differences
        )
        expected = f"version {version.number} of the plan {version.name}"
    else:
        assert kept is not None  # noqa: S101 - one of both exists
        differences = differences_between(kept[1].body, active, server.connection.size_unit)
        doubt = " and whose activation is not confirmed" if kept[1].state in ACTIVATION_UNKNOWN else ""
        expected = f"the policy {kept[0]}, which cfplan applied{doubt}"
    count = len(differences)
    words = f"{count or 'no'} {'difference' if count < 2 else 'differences'} from"  # noqa: PLR2004 - plural
    return chosen, f"The policy {chosen} has {words} {expected}.", differences


def _store_drift(
    database: Database,
    server: PolicyServer,
    outcome: str,
    policy: str | None,
    sentence: str,
    differences: tuple[StatementDifference, ...],
) -> Drift:
    """Store the outcome of a comparison."""
    now = utc_now()
    with database.session(writes=True) as session:
        session.add(
            PolicyDrift(
                connection=server.name, compared_at=now, outcome=outcome, policy=policy,
                sentence=sentence[:LONGEST_SENTENCE], differences=json.dumps(plain(differences)),
            )
        )  # fmt: skip
        details = {"policy": policy, "outcome": outcome, "differences": len(differences)}
        record(session, Action.CONNECTION_DRIFT_COMPARED, AuditObject("connection", server.name), details)
    is_verified = server.connection.verified_against_a_real_system
    return Drift(server.name, is_verified, now, outcome, policy, sentence, differences)


def list_drifts(
    session: Session, verified: Mapping[str, bool], *, connection: str = "", limit: int
) -> tuple[Drift, ...]:
    """Return stored comparisons, newest first.

    Args:
        session: A session.
        verified: Whether each declared connection was used with a real system, by name.
        connection: Only comparisons of this connection; empty for all.
        limit: Maximum number of comparisons.
    """
    return tuple(
        Drift(
            row.connection, verified.get(row.connection), row.compared_at, row.outcome, row.policy, row.sentence,
            tuple(parsed_text(StatementDifference, json.dumps(each)) for each in json.loads(row.differences)),
        )
        for row in repository.drifts(session, connection=connection, limit=limit)
    )  # fmt: skip
