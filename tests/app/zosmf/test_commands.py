"""`cfplan zosmf` and `cfplan connections check` against a stand-in of z/OSMF over TLS."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL

from app.cli import main
from app.clock import utc_now
from app.database.engine import open_database
from app.zosmf import repository
from app.zosmf.models import AppliedPolicy, ApplyState
from tests.app.zosmf.conftest import VERIFY, Declare, audit_entries
from tests.connections_support.server import PASSWORD, Fault
from tests.connections_support.zosmf import POLICIES, ZosmfStandIn, base_policy
from tests.prepared import commands

APPLY = ("zosmf", "apply", "SQ03", "--connection", "PLEX1", "--as", "CFRM02", "--yes")
PLAN = ("zosmf", "plan", "SQ03", "--connection", "PLEX1")
DRIFT = ("zosmf", "drift", "--connection", "PLEX1")
Capture = pytest.CaptureFixture[str]


def run(capsys: Capture, *words: str) -> tuple[int, str, str]:
    """Run a command; return its exit code, its output and its messages."""
    capsys.readouterr()
    code = main(list(words))
    said = capsys.readouterr()
    return code, said.out, said.err


def structure(stand_in: ZosmfStandIn, policy: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        each for each in stand_in.policies[policy]["structure"] if each["name"] == name
    )
    return found


def test_drift_is_found_planned_applied_read_back_activated_and_verified(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    requests_before = len(stand_in.requests)
    entries_before = len(audit_entries(capsys))
    code, out, err = run(capsys, *PLAN)
    assert code == 0
    assert "STRUCTURE SQ03APPLICATION1: SIZE(524288) -> SIZE(838656)" in out
    assert "STRUCTURE SQ03MYDATA: added" in out
    assert "not yet verified against a real system" in err
    code, out, _ = run(capsys, *APPLY)
    assert (code, stand_in.active) == (0, "CFRM01")
    assert "every value is as sent. It is not active." in out
    code, out, _ = run(capsys, *APPLY, "--activate", "--confirm-activation", "CFRM02")
    assert (code, stand_in.active) == (0, "CFRM02")
    assert "The policy CFRM02 is active" in out
    assert stand_in.changes == [f"POST {POLICIES}", f"PUT {POLICIES}/activation/CFRM02"]
    assert run(capsys, *DRIFT)[:2] == (
        0,
        "The policy CFRM02 has no difference from the policy CFRM02, which cfplan applied.\n",
    )
    # A size is changed and a structure removed by hand.
    structure(stand_in, "CFRM02", "SQ03MYDATA")["size"] = 4_000_000
    del stand_in.policies["CFRM02"]["structure"][2]
    code, out, _ = run(capsys, *DRIFT)
    assert code == 1
    assert "  STRUCTURE SQ03MYDATA: SIZE(2702336) -> SIZE(4000000)\n" in out
    assert "  STRUCTURE DSNDB0G_LOCK1: removed\n" in out
    assert json.loads(run(capsys, *DRIFT, "--json")[1])["is_verified"] is False
    # The plan repairs what belongs to it.
    code, out, _ = run(capsys, *PLAN)
    assert (code, out) == (0, "STRUCTURE SQ03MYDATA: SIZE(4000000) -> SIZE(2702336)\n")
    code, _, _ = run(
        capsys, *APPLY[:6], "CFRM03", "--yes", "--activate", "--confirm-activation", "CFRM03"
    )  # fmt: skip
    assert (code, stand_in.active) == (0, "CFRM03")
    assert run(capsys, *DRIFT, "--plan", "SQ03")[0] == 0
    assert run(capsys, *PLAN)[1] == "The policy CFRM03 already has all values of the plan SQ03.\n"
    # The audit trail has each call, each change before it was sent, and each state of both policies.
    entries = audit_entries(capsys)[entries_before:]
    called = [each["details"] for each in entries if each["action"] == "connection.called"]
    assert [f"{each['method']} {each['path']}" for each in called] == stand_in.lines[requests_before:]
    sent = [each["details"]["path"] for each in entries if each["action"] == "connection.change-sent"]
    assert sent == [POLICIES, f"{POLICIES}/activation/CFRM02", POLICIES, f"{POLICIES}/activation/CFRM03"]
    states = [each["details"] for each in entries if each["action"] == "connection.policy-state"]
    assert [each["state"] for each in states] == [
        # The second command for CFRM02 reads it back once more, and finds it in the state in which it was.
        "sending", "created", "verified", "activating", "activated",
        "sending", "created", "verified", "activating", "activated",
    ]  # fmt: skip
    assert PASSWORD not in json.dumps(entries)


def test_members_that_the_documentation_does_not_name_are_kept(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    assert run(capsys, *APPLY)[0] == 0
    assert structure(stand_in, "CFRM02", "DSNDB0G_LOCK1") == structure(stand_in, "CFRM01", "DSNDB0G_LOCK1")
    assert structure(stand_in, "CFRM02", "SQ03APPLICATION1")["recprty"] == 3
    assert stand_in.policies["CFRM02"]["cf"] == stand_in.policies["CFRM01"]["cf"]
    assert stand_in.policies["CFRM01"] == base_policy()


@pytest.mark.parametrize("extra", [(), ("--confirm-activation", "CFRM01")])
def test_activation_needs_the_name_of_the_policy(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture, extra: tuple[str, ...]
) -> None:
    code, _, err = run(capsys, *APPLY, "--activate", *extra)
    assert code == 2
    assert "--confirm-activation CFRM02; --yes is not enough" in err or "its name was not confirmed" in err
    assert stand_in.changes == [f"POST {POLICIES}"]
    assert stand_in.active == "CFRM01"


@pytest.mark.parametrize(
    ("typed", "code", "active"), [("CFRM02", 0, "CFRM02"), ("yes", 2, "CFRM01"), ("", 2, "CFRM01")]
)
def test_name_of_the_policy_is_typed_to_activate_it(
    stand_in: ZosmfStandIn,
    verified: str,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    code: int,
    active: str,
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(f"yes\n{typed}\n"))
    ended, _, err = run(capsys, *APPLY[:-1], "--activate")
    assert (ended, stand_in.active) == (code, active)
    assert "Create the policy CFRM02 from CFRM01 with these changes? It stays inactive." in err
    assert "Activating CFRM02 changes the running sysplex. Type the name of the policy" in err
    assert ("The activation of CFRM02 was not sent" in err) == (code == 2)


@pytest.mark.parametrize("change", ["taken", "edited", "activated"])
def test_change_while_the_confirmation_is_awaited_stops_the_creation(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    def typed(*_: object, **__: object) -> str:
        if change == "taken":
            stand_in.policies["CFRM02"] = base_policy("CFRM02")
        elif change == "edited":
            structure(stand_in, "CFRM01", "DSNDB0G_LOCK1")["size"] = 262144
        else:
            stand_in.policies["CFRM09"] = base_policy("CFRM09")
            stand_in.active = "CFRM09"
        return "yes"

    monkeypatch.setattr("app.zosmf.cli._typed", typed)
    code, _, err = run(capsys, *APPLY[:-1])
    assert (code, "Nothing was sent" in err) == (2, True)
    assert stand_in.changes == []


def test_old_policy_is_not_activated_over_later_changes_of_other_structures(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    activate = (*APPLY, "--activate", "--confirm-activation", "CFRM02")
    assert run(capsys, *APPLY)[0] == 0
    stand_in.policies["CFRM09"] = base_policy("CFRM09")
    structure(stand_in, "CFRM09", "DSNDB0G_LOCK1")["size"] = 262144
    stand_in.active = "CFRM09"
    code, _, err = run(capsys, *activate)
    assert (code, stand_in.active) == (2, "CFRM09")
    assert "STRUCTURE DSNDB0G_LOCK1: SIZE(262144) -> SIZE(131072)" in err
    structure(stand_in, "CFRM09", "DSNDB0G_LOCK1")["size"] = 131072
    assert run(capsys, *activate)[0] == 0
    # It was activated, and another policy was started afterwards: the command does not claim that it is active.
    stand_in.active = "CFRM09"
    code, out, _ = run(capsys, *activate)
    assert (code, stand_in.active) == (0, "CFRM02")
    assert "The policy CFRM02 is active" in out


def test_version_of_the_plan_is_shown(stand_in: ZosmfStandIn, verified: str, capsys: Capture) -> None:
    assert "This is version 1 of the plan SQ03." in run(capsys, *PLAN)[2]
    code, out, err = run(capsys, *PLAN, "--json")
    assert (code, json.loads(out or "{}").get("version")) == (0, 1), err
    assert "These are the changes of version 1 of the plan SQ03." in run(capsys, *APPLY)[2]


def test_refused_activation_leaves_the_policy_verified(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    assert run(capsys, *APPLY)[0] == 0
    # List, policy, list, active and new policy; after the confirmation new policy, list, active and new policy; then the activation.
    before = len(stand_in.requests)
    activate = (*APPLY, "--activate", "--confirm-activation", "CFRM02")
    stand_in.faults += [*(Fault() for _ in range(9)), Fault(status=403)]
    assert run(capsys, *activate)[0] == 2
    assert stand_in.lines[before:][-1] == f"PUT {POLICIES}/activation/CFRM02"
    with open_database() as (database, _), database.session(writes=False) as session:
        row = repository.find_applied(session, "PLEX1", "CFRM02")
        assert row is not None
        assert row.state == ApplyState.VERIFIED


def test_corrupted_value_is_reported_and_prevents_activation(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    def corrupt(policy: dict[str, Any]) -> None:
        policy["structure"][1]["size"] += 256

    stand_in.on_create = corrupt
    activate = ("--activate", "--confirm-activation", "CFRM02")
    for _ in range(2):  # the second command finds the policy
        code, out, _ = run(capsys, *APPLY, *activate)
        assert code == 1
        assert "STRUCTURE SQ03APPLICATION1: SIZE(838656) -> SIZE(838912)" in out
    assert stand_in.changes == [f"POST {POLICIES}"]


def test_dropped_member_is_reported(stand_in: ZosmfStandIn, verified: str, capsys: Capture) -> None:
    stand_in.on_create = lambda policy: policy["structure"][0].pop("initsize")
    code, out, _ = run(capsys, *APPLY)
    assert code == 1
    assert "STRUCTURE SQ03CSQ_ADMIN: INITSIZE(25600) -> not stated" in out


def test_unverified_unit_is_refused_before_anything_is_sent(
    stand_in: ZosmfStandIn, plan: str, declare: Declare, capsys: Capture
) -> None:
    code, _, err = run(capsys, *APPLY)
    assert code == 2
    assert "the unit of sizes is not verified" in err
    assert stand_in.requests == []
    # A verified unit no longer counts when the declaration changes.
    assert main([*VERIFY]) == 0
    declare(size_unit="M")
    assert run(capsys, *APPLY)[0] == 2
    assert stand_in.changes == []


def test_unit_is_found_by_a_known_size(
    stand_in: ZosmfStandIn, plan: str, declare: Declare, capsys: Capture
) -> None:
    declare(size_unit=None)
    code, out, _ = run(capsys, *VERIFY)
    assert (code, "Enter size_unit: K in the connection" in out) == (1, True)
    code, out, err = run(capsys, "zosmf", "pull", "--connection", "PLEX1")
    assert (code, out, "the unit of sizes is unknown" in err) == (2, "", True)
    declare(size_unit="M")
    assert "Enter size_unit: K" in run(capsys, *VERIFY)[1]
    code, out, _ = run(capsys, *VERIFY[:-1], "500M")
    assert (code, "fits none of the units" in out) == (1, True)
    declare()
    code, out, _ = run(capsys, *VERIFY)
    assert (code, "Verified: 512M of SQ03APPLICATION1 is 524288" in out) == (0, True)


def test_values_that_the_interface_does_not_carry_are_refused(
    stand_in: ZosmfStandIn, verified: str, declare: Declare, capsys: Capture
) -> None:
    declare(properties=[])
    code, out, _ = run(capsys, *PLAN)
    assert code == 1
    assert (
        "apply would refuse: STRUCTURE SQ03MYDATA: INITSIZE(1801216): not carried by the documented interface"
        in out
    )
    # Values that are defaults need not be carried.
    assert "ALLOWAUTOALT(NO): not carried" not in out
    code, _, err = run(capsys, *APPLY)
    assert (code, "values would be lost" in err) == (2, True)
    assert stand_in.changes == []


@pytest.mark.parametrize("name", ["CFRM01", "OTHER"])
def test_existing_policy_is_never_overwritten(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture, name: str
) -> None:
    stand_in.policies["OTHER"] = base_policy("OTHER")
    code, _, err = run(capsys, *APPLY[:6], name, "--yes")
    assert (code, "which cfplan did not create" in err) == (2, True)
    assert stand_in.changes == []


def test_missing_answer_to_the_creation_is_settled_by_the_next_command(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    # List and policy twice, then the creation, whose answer is cut off although the policy was created.
    stand_in.faults += [*(Fault() for _ in range(4)), Fault(cut_after=1)]
    code, _, err = run(capsys, *APPLY)
    assert code == 2
    assert "It is not known whether the policy CFRM02 was created. Run the same command again" in err
    code, out, _ = run(capsys, *APPLY)
    assert code == 0
    assert "Every value is as sent; nothing was sent again." in out
    assert stand_in.changes == [f"POST {POLICIES}"]


def test_creation_that_did_not_arrive_is_repeated_by_the_next_command(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    stand_in.faults += [*(Fault() for _ in range(4)), Fault(status=503)]
    assert run(capsys, *APPLY)[0] == 2
    assert "CFRM02" not in stand_in.policies
    code, out, _ = run(capsys, *APPLY)
    assert (code, "was created and read back" in out) == (0, True)


def test_command_killed_before_reading_back_is_settled_by_the_next_one(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    before = len(stand_in.requests)
    # List and policy twice, creation, and the policy read back, for which the command is killed while it waits.
    stand_in.faults += [*(Fault() for _ in range(5)), Fault(is_silent=True)]
    with commands().start("app.cli", *APPLY, environment=os.environ) as command:
        while len(stand_in.requests) < before + 6 and command.poll() is None:
            time.sleep(0.02)
        command.kill()
    assert command.returncode == -signal.SIGKILL
    with open_database() as (database, _), database.session(writes=False) as session:
        row = repository.find_applied(session, "PLEX1", "CFRM02")
        assert row is not None
        assert row.state == ApplyState.CREATED
    code, out, _ = run(capsys, *APPLY)
    assert (code, "which cfplan sent on" in out) == (0, True)
    assert stand_in.changes == [f"POST {POLICIES}"]


def set_row(state: ApplyState, *, minutes_ago: int) -> None:
    """Store the row that a killed command leaves."""
    with open_database() as (database, _), database.session(writes=True) as session:
        row = repository.find_applied(session, "PLEX1", "CFRM02")
        if row is None:
            row = AppliedPolicy(connection="PLEX1", policy="CFRM02", base="CFRM01", plan="SQ03", version=1, body="{}", author="kim")  # fmt: skip
            session.add(row)
        row.state, row.sent_at = state, utc_now() - timedelta(minutes=minutes_ago)
        row.changed_at = row.sent_at


def stored_state() -> str:
    with open_database() as (database, _), database.session(writes=False) as session:
        row = repository.find_applied(session, "PLEX1", "CFRM02")
        assert row is not None
        return row.state


@pytest.fixture
def each_database(url: URL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFPLAN_DATABASE_URL", url.render_as_string(hide_password=False))


@pytest.mark.parametrize("left_by", [ApplyState.SENDING, pytest.param(None, marks=pytest.mark.soak)])
def test_one_of_two_commands_on_one_policy_sends_it(
    each_database: None,
    stand_in: ZosmfStandIn,
    verified: str,
    declare: Declare,
    left_by: ApplyState | None,
) -> None:
    declare(timeout_s=120)  # the answers to the first command wait for the second
    if left_by is not None:
        set_row(left_by, minutes_ago=60)
    both = threading.Barrier(2)

    def meet(name: str) -> None:
        # Each command reads the row before it reads the policy, and reads the policy again before it stores the row.
        if name == "CFRM01":
            both.wait(120)

    stand_in.on_read = meet
    with (
        commands().start("app.cli", *APPLY, environment=os.environ) as one,
        commands().start("app.cli", *APPLY, environment=os.environ) as two,
    ):
        ended = sorted((each.wait(), *each.texts()) for each in (one, two))
    (won, out, _), (lost, _, err) = ended
    assert (won, lost) == (0, 2), ended
    assert "was created and read back" in out
    assert "is at work on the policy CFRM02" in err
    assert stand_in.changes == [f"POST {POLICIES}"]
    assert stored_state() == ApplyState.VERIFIED


def test_command_that_another_one_is_sending_is_refused_until_it_must_have_ended(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    set_row(ApplyState.SENDING, minutes_ago=0)
    code, _, err = run(capsys, *APPLY)
    assert (code, stand_in.changes) == (2, [])
    assert "A command of kim has been creating the policy CFRM02 since" in err
    assert "run this one again after" in err
    set_row(ApplyState.SENDING, minutes_ago=60)
    assert run(capsys, *APPLY)[0] == 0
    # The same for the activation; a command that only reads back is not refused.
    set_row(ApplyState.ACTIVATING, minutes_ago=0)
    code, _, err = run(capsys, *APPLY, "--activate", "--confirm-activation", "CFRM02")
    assert (code, stand_in.active) == (2, "CFRM01")
    assert "has been activating the policy CFRM02 since" in err
    assert "Whether the policy is active is not known. To find out, enter D XCF,POLICY,TYPE=CFRM" in err
    code, out, _ = run(capsys, *APPLY)
    assert (code, "it is not known whether it is active" in out) == (1, True)
    # The request of the first command can have ended, but not yet its reads of the active policy.
    set_row(ApplyState.ACTIVATING, minutes_ago=3)
    assert run(capsys, *APPLY, "--activate", "--confirm-activation", "CFRM02")[0] == 2
    set_row(ApplyState.ACTIVATING, minutes_ago=60)
    assert run(capsys, *APPLY, "--activate", "--confirm-activation", "CFRM02")[0] == 0
    assert stand_in.active == "CFRM02"


def test_refusal_after_a_missing_answer_does_not_disown_the_policy(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    # The first request arrives late: the second one finds its policy.
    stand_in.faults += [*(Fault() for _ in range(4)), Fault(status=503)]
    assert run(capsys, *APPLY)[0] == 2
    stand_in.faults += [*(Fault() for _ in range(4)), Fault(status=409)]
    code, _, err = run(capsys, *APPLY)
    assert (code, "It is not known whether the policy CFRM02 was created" in err) == (2, True)
    assert stored_state() == ApplyState.UNANSWERED
    # Without an earlier request, a refusal is final.
    set_row(ApplyState.REFUSED, minutes_ago=60)
    stand_in.faults += [*(Fault() for _ in range(4)), Fault(status=409)]
    assert run(capsys, *APPLY)[0] == 2
    assert stored_state() == ApplyState.REFUSED


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--policy", "OTHER"), "which cfplan created with --policy CFRM01 instead of OTHER"),
        (("--unstated", "plan"), "which cfplan created with --unstated policy instead of plan"),
    ],
)
def test_existing_policy_is_not_continued_with_other_options(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture, options: tuple[str, ...], words: str
) -> None:
    stand_in.policies["OTHER"] = base_policy("OTHER")
    assert run(capsys, *APPLY)[0] == 0
    code, _, err = run(capsys, *APPLY, *options, "--activate", "--confirm-activation", "CFRM02")
    assert (code, stand_in.active) == (2, "CFRM01")
    assert words in err
    assert "choose another name" in err
    assert run(capsys, *APPLY, "--policy", "CFRM01")[0] == 0


def test_row_of_an_earlier_release_is_continued(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    assert run(capsys, *APPLY)[0] == 0
    with open_database() as (database, _), database.session(writes=True) as session:
        row = repository.find_applied(session, "PLEX1", "CFRM02")
        assert row is not None
        row.body = json.dumps(json.loads(row.body)["policy"])
    code, out, _ = run(capsys, *APPLY, "--unstated", "plan")
    assert (code, "nothing was sent again" in out) == (0, True)


@pytest.mark.parametrize("change", ["new", "active"])
def test_change_while_the_name_is_awaited_stops_the_activation(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    def typed(*_: object, **__: object) -> str:
        changed = "CFRM02" if change == "new" else "CFRM01"
        structure(stand_in, changed, "DSNDB0G_LOCK1")["size"] = 262144
        return "CFRM02"

    assert run(capsys, *APPLY)[0] == 0
    monkeypatch.setattr("app.zosmf.cli._typed", typed)
    code, _, err = run(capsys, *APPLY, "--activate")
    assert (code, stand_in.active) == (2, "CFRM01")
    assert "STRUCTURE DSNDB0G_LOCK1: SIZE(" in err
    assert stored_state() == (ApplyState.DIFFERENT if change == "new" else ApplyState.VERIFIED)


def test_version_without_a_required_approval_is_refused(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFPLAN_AUTHENTICATION", "accounts")
    monkeypatch.setenv("CFPLAN_APPROVAL", "true")
    before = len(stand_in.requests)
    code, _, err = run(capsys, *APPLY)
    assert (code, "approv" in err) == (2, True)
    assert len(stand_in.requests) == before


def test_server_that_does_not_report_the_active_policy_needs_its_name(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    stand_in.reports_active = False
    code, _, err = run(capsys, *PLAN)
    assert (code, "Name it with --policy" in err) == (2, True)
    code, out, _ = run(capsys, *APPLY, "--policy", "CFRM01", "--activate", "--confirm-activation", "CFRM02")
    assert (code, "does not report which policy is active" in out) == (0, True)


@pytest.mark.parametrize("named", [(), ("--policy", "CFRM01")])
def test_server_without_policies_is_reported_as_such(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture, named: tuple[str, ...]
) -> None:
    stand_in.policies.clear()
    stand_in.reports_active = False
    code, _, err = run(capsys, "zosmf", "pull", "--connection", "PLEX1", *named)
    assert (code, "the server has no policies." in err) == (2, True)
    assert ": ." not in err


def test_policy_of_the_connection_is_read_only_if_the_server_does_not_report_the_active_one(
    stand_in: ZosmfStandIn, plan: str, declare: Declare, capsys: Capture
) -> None:
    declare(policy="CFRM01")
    stand_in.policies["CFRM05"] = base_policy("CFRM05")
    stand_in.active = "CFRM05"
    for reports_active, name in ((True, "CFRM05"), (False, "CFRM01")):
        stand_in.reports_active = reports_active
        code, out, _ = run(capsys, "zosmf", "pull", "--connection", "PLEX1")
        assert (code, f"DEFINE POLICY NAME({name})" in out) == (0, True)


def test_policy_that_is_said_to_be_active_is_compared_if_the_server_does_not_report_it(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    stand_in.reports_active = False
    apply = (*APPLY, "--policy", "CFRM01")
    assert run(capsys, *apply)[0] == 0
    structure(stand_in, "CFRM01", "DSNDB0G_LOCK1")["size"] = 262144
    code, _, err = run(capsys, *apply, "--activate", "--confirm-activation", "CFRM02")
    assert (code, stand_in.active) == (2, "CFRM01")
    assert "STRUCTURE DSNDB0G_LOCK1: SIZE(262144) -> SIZE(131072)" in err


def test_refused_creation_is_repeated_under_the_same_name(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    stand_in.faults += [
        *(Fault() for _ in range(4)),
        Fault(status=400, body=b"the couple data set has no room"),
    ]
    code, _, err = run(capsys, *APPLY)
    assert (code, "the couple data set has no room" in err) == (2, True)
    assert stored_state() == ApplyState.REFUSED
    assert run(capsys, *APPLY)[0] == 0
    assert stored_state() == ApplyState.VERIFIED


@pytest.mark.parametrize("size", ["131072K", "128M", "0.125G"])
def test_other_statements_keep_their_notation(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture, size: str
) -> None:
    other = structure(stand_in, "CFRM01", "DSNDB0G_LOCK1")
    other.update(size=size, rebuildpercent=5, Duplex="ENABLED", newkeyword=[{"x": None}])
    assert run(capsys, *APPLY)[0] == 0
    assert structure(stand_in, "CFRM02", "DSNDB0G_LOCK1") == other


def test_pulled_policy_is_input_of_the_utility(
    stand_in: ZosmfStandIn, plan: str, capsys: Capture, tmp_path: Path
) -> None:
    code, out, err = run(capsys, "zosmf", "pull", "--connection", "PLEX1")
    assert code == 0
    assert " DEFINE POLICY NAME(CFRM01) REPLACE(NO)" in out
    assert "futuremember" not in out
    assert (
        'warning: POLICY_JSON_LEFT_OUT: STRUCTURE DSNDB0G_LOCK1: futuremember is {"a": [1]}: not a keyword'
        in err
    )
    assert "STRUCTURE SQ03CSQ_ADMIN: initsize is 10240: read as INITSIZE(10240), although IBM's" in err
    assert run(capsys, "zosmf", "pull", "--connection", "PLEX1", "--fail-on", "warning")[0] == 1
    file = tmp_path / "pulled.txt"
    file.write_text(out)
    assert run(capsys, "lint", str(file))[0] == 0
    found = json.loads(run(capsys, "zosmf", "pull", "--connection", "PLEX1", "--json")[1])
    assert found["as_read"] == base_policy()


@pytest.mark.parametrize(
    ("name", "member", "value", "message"),
    [
        ("DSNDB0G_LOCK1", "recprty", "high", 'STRUCTURE DSNDB0G_LOCK1: recprty is "high", which RECPRTY cannot have'),
        ("DSNDB0G_LOCK1", "fullthreshold", True, "fullthreshold is true, which FULLTHRESHOLD cannot have"),
        ("DSNDB0G_LOCK1", "duplex", {"mode": "ENABLED"}, 'duplex is {"mode": "ENABLED"}, which DUPLEX cannot have'),
        ("DSNDB0G_LOCK1", "encrypt", "on", 'encrypt is "on", which ENCRYPT cannot have'),
    ],
)  # fmt: skip
def test_policy_with_an_unreadable_value_is_not_printed_but_kept(
    stand_in: ZosmfStandIn,
    verified: str,
    capsys: Capture,
    name: str,
    member: str,
    value: object,
    message: str,
) -> None:
    structure(stand_in, "CFRM01", name)[member] = value
    code, out, err = run(capsys, "zosmf", "pull", "--connection", "PLEX1")
    assert (code, out) == (1, "")
    assert message in err
    code, out, _ = run(capsys, "zosmf", "pull", "--connection", "PLEX1", "--json")
    assert code == 1
    assert json.loads(out)["written"] is None
    assert json.loads(out)["unreadable"][0]["member"] == member
    code, out, err = run(capsys, *PLAN, "--text")
    assert (code, out) == (2, "")
    assert message in err
    # The new policy has the value exactly as the server stated it.
    assert run(capsys, *APPLY)[0] == 0
    assert structure(stand_in, "CFRM02", name) == structure(stand_in, "CFRM01", name)


def test_unreadable_value_of_a_planned_structure_prevents_the_merge(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    structure(stand_in, "CFRM01", "SQ03APPLICATION1")["recprty"] = True
    for command in (PLAN, APPLY):
        code, _, err = run(capsys, *command)
        assert (code, stand_in.changes) == (2, [])
        assert "STRUCTURE SQ03APPLICATION1: recprty is true, which RECPRTY cannot have" in err


def test_names_with_national_characters_are_sent_and_read_back(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    for at, name in enumerate(("A$#@_1", "Z#"), 1):
        apply = (*APPLY[:6], name, "--yes", "--activate", "--confirm-activation", name)
        structure(stand_in, stand_in.active or "", "SQ03MYDATA" if at > 1 else "SQ03APPLICATION1")["size"] = (
            2**22
        )
        code, _, err = run(capsys, *apply)
        assert (code, stand_in.active) == (0, name), err
    assert stand_in.changes[1] == f"PUT {POLICIES}/activation/A%24%23%40_1"
    assert " DEFINE POLICY NAME(Z#) REPLACE(NO)" in run(capsys, "zosmf", "pull", "--connection", "PLEX1")[1]
    assert run(capsys, *DRIFT)[:2] == (
        0,
        "The policy Z# has no difference from the policy Z#, which cfplan applied.\n",
    )
    code, out, _ = run(capsys, "connections", "check", "PLEX1")
    assert (code, "policy[].structure[].size number" in out) == (0, True)


@pytest.mark.parametrize("name", ["cfrm02", "$CFRM", "CFRM/2", "CFRM00002", ""])
def test_other_names_are_refused_before_anything_is_sent(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture, name: str
) -> None:
    before = len(stand_in.requests)
    code, _, err = run(capsys, *APPLY[:6], name, "--yes")
    assert (code, "1 to 8 characters A-Z 0-9 $ # @ _" in err) == (2, True)
    assert len(stand_in.requests) == before


def test_report_of_a_check_has_shapes_and_no_values(
    stand_in: ZosmfStandIn, plan: str, capsys: Capture
) -> None:
    code, out, _ = run(capsys, "connections", "check", "PLEX1")
    assert code == 0
    assert "policy[].structure[].size number" in out
    assert "not documented: " in out
    assert "policy[].structure[].subnotifydelay" in out
    for value in ("SQ03", "CFRM01", "524288", PASSWORD, "127.0.0.1"):
        assert value not in out
    stand_in.faults += [Fault(status=401)]
    code, out, _ = run(capsys, "connections", "check", "PLEX1")
    assert (code, "Check the user and the password" in out) == (1, True)


def test_each_call_is_in_the_audit_trail_without_credentials(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture
) -> None:
    before = len(stand_in.requests)
    earlier = len(audit_entries(capsys))
    assert run(capsys, *APPLY, "--activate", "--confirm-activation", "CFRM02")[0] == 0
    entries = audit_entries(capsys)[earlier:]
    called = [each["details"] for each in entries if each["action"] == "connection.called"]
    assert [f"{each['method']} {each['path']}" for each in called] == stand_in.lines[before:]
    sent = [each["details"]["path"] for each in entries if each["action"] == "connection.change-sent"]
    assert sent == [POLICIES, f"{POLICIES}/activation/CFRM02"]
    states = [each["details"]["state"] for each in entries if each["action"] == "connection.policy-state"]
    assert states == ["sending", "created", "verified", "activating", "activated"]
    assert PASSWORD not in json.dumps(entries)


def test_drift_without_anything_to_compare_is_refused(
    stand_in: ZosmfStandIn, plan: str, capsys: Capture
) -> None:
    code, _, err = run(capsys, *DRIFT)
    assert (code, "has not applied a policy yet" in err) == (2, True)
    assert stand_in.requests == []
