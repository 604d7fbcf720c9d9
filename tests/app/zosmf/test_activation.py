"""Activations whose answer is missing, late or cut off: an unknown outcome is never reported as a failure."""

from __future__ import annotations

import json
from typing import NoReturn

import pytest

from app.zosmf import activation
from app.zosmf.models import ApplyState
from app.zosmf.server import PolicyServer
from tests.app.zosmf.conftest import Declare
from tests.app.zosmf.test_commands import APPLY, DRIFT, Capture, run, set_row, stored_state
from tests.connections_support.server import Fault
from tests.connections_support.zosmf import POLICIES, ZosmfStandIn

ACTIVATE = (*APPLY, "--activate", "--confirm-activation", "CFRM02")
PUT = f"PUT {POLICIES}/activation/CFRM02"
DISPLAY = "enter D XCF,POLICY,TYPE=CFRM on the console"
UNKNOWN = "It is not known whether the policy CFRM02 is active."
BEFORE_ACTIVATION = 9
"""Requests of a command that finds its policy, before the activation."""


@pytest.fixture
def created(
    stand_in: ZosmfStandIn,
    verified: str,
    declare: Declare,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> ZosmfStandIn:
    """Create the policy; short times for activations, and no pause between reads."""
    assert run(capsys, *APPLY)[0] == 0
    declare(activation_timeout_s=0.5, activation_watch_s=0)
    monkeypatch.setattr(activation, "BETWEEN_READS_S", 0)
    return stand_in


def fail_activation(stand_in: ZosmfStandIn, *faults: Fault) -> None:
    stand_in.faults += [*(Fault() for _ in range(BEFORE_ACTIVATION)), *faults]


def require_no_claim(text: str) -> None:
    lowered = text.lower()
    assert "failed" not in lowered
    assert "not activated" not in lowered
    assert "not active" not in lowered


@pytest.mark.parametrize("fault", [Fault(is_silent=True), Fault(status=502), Fault(status=500)])
def test_activation_without_an_answer_is_unknown_and_can_be_repeated_at_once(
    created: ZosmfStandIn, capsys: Capture, fault: Fault
) -> None:
    created.looks_until_active = None
    fail_activation(created, fault)
    code, out, err = run(capsys, *ACTIVATE)
    assert (code, stored_state()) == (1, ApplyState.UNCONFIRMED)
    assert out.startswith(UNKNOWN)
    assert "the server reports CFRM01 as active; z/OS may still be changing to CFRM02" in out
    assert DISPLAY in out
    assert "UTC: not confirmed: " in out
    assert "answer is missing" not in out  # a status of the server is an answer
    assert "waiting up to 0.5 seconds for the answer" in err
    assert "Whether CFRM02 is active is not known yet" in err
    require_no_claim(out + err)
    created.looks_until_active = 0
    code, out, err = run(capsys, *ACTIVATE)
    assert (code, created.active, stored_state()) == (0, "CFRM02", ApplyState.ACTIVATED)
    assert "it is not known whether it is active" in err
    assert [each for each in created.changes if each == PUT] == [PUT] * 2


@pytest.mark.parametrize("fault", [Fault(is_silent=True), Fault(cut_after=1), Fault(cut_after=0)])
def test_activation_that_was_carried_out_without_its_answer_is_found_by_reading(
    created: ZosmfStandIn, capsys: Capture, fault: Fault
) -> None:
    fail_activation(created, fault)
    code, out, _ = run(capsys, *ACTIVATE)
    assert (code, stored_state()) == (0, ApplyState.ACTIVATED)
    assert "The policy CFRM02 is active. The activation was not confirmed (" in out
    assert created.changes[1:] == [PUT]


@pytest.mark.parametrize("fault", [Fault(), Fault(is_silent=True)])
def test_activation_that_becomes_visible_later_is_watched(
    created: ZosmfStandIn, declare: Declare, capsys: Capture, fault: Fault
) -> None:
    declare(activation_timeout_s=0.5, activation_watch_s=600)
    created.looks_until_active = 3
    fail_activation(created, fault)
    code, out, err = run(capsys, *ACTIVATE)
    assert (code, stored_state()) == (0, ApplyState.ACTIVATED)
    assert err.count("PLEX1 reports CFRM01 as active. Reading again for") == 3
    assert "The policy CFRM02 is active." in out


def test_accepted_activation_that_is_not_visible_is_unknown(created: ZosmfStandIn, capsys: Capture) -> None:
    created.looks_until_active = None
    code, out, err = run(capsys, *ACTIVATE, "--json")
    answer = json.loads(out)
    assert (code, answer["state"], stored_state()) == (1, "unconfirmed", ApplyState.UNCONFIRMED)
    assert "the server accepted it." in answer["sentence"]
    require_no_claim(answer["sentence"] + err)


def test_unknown_active_policy_after_a_missing_answer_is_stated(
    created: ZosmfStandIn, declare: Declare, capsys: Capture
) -> None:
    declare(activation_timeout_s=0.5, activation_watch_s=0, policy="CFRM01")
    created.reports_active = False
    fail_activation(created, Fault(is_silent=True))
    code, out, err = run(capsys, *ACTIVATE)
    assert (code, stored_state()) == (1, ApplyState.UNCONFIRMED)
    assert "the server does not report which policy is active." in out
    require_no_claim(out + err)


def test_fault_of_the_read_after_an_activation_is_stated(created: ZosmfStandIn, capsys: Capture) -> None:
    fail_activation(created, Fault(), Fault(status=401))
    code, out, err = run(capsys, *ACTIVATE)
    assert (code, stored_state()) == (1, ApplyState.UNCONFIRMED)
    assert "the server accepted it." in out
    assert "which policy is active could not be read: The server answers with status 401." in out
    require_no_claim(out + err)


def test_command_that_reads_back_reports_an_unknown_activation(
    created: ZosmfStandIn, capsys: Capture
) -> None:
    created.looks_until_active = None
    fail_activation(created, Fault(is_silent=True))
    assert run(capsys, *ACTIVATE)[0] == 1
    code, out, err = run(capsys, *APPLY)
    assert (code, stored_state()) == (1, ApplyState.UNCONFIRMED)
    assert "it is not known whether it is active" in out
    assert DISPLAY in out
    require_no_claim(out + err)
    created.active = "CFRM02"
    code, out, _ = run(capsys, *APPLY)
    assert (code, stored_state()) == (0, ApplyState.ACTIVATED)
    assert "is active: the activation that was sent before was carried out" in out
    assert created.changes[1:] == [PUT]


def test_refusal_of_a_repeated_activation_leaves_the_first_one_unknown(
    created: ZosmfStandIn, capsys: Capture
) -> None:
    created.looks_until_active = None
    fail_activation(created, Fault(is_silent=True))
    assert run(capsys, *ACTIVATE)[0] == 1
    fail_activation(created, Fault(status=409))
    code, _, err = run(capsys, *ACTIVATE)
    assert (code, stored_state()) == (2, ApplyState.UNCONFIRMED)
    assert "This request had no effect; whether an earlier one has activated CFRM02 is not known." in err


def test_refused_activation_had_no_effect(created: ZosmfStandIn, capsys: Capture) -> None:
    fail_activation(created, Fault(status=403))
    code, _, err = run(capsys, *ACTIVATE)
    assert (code, stored_state()) == (2, ApplyState.VERIFIED)
    assert (
        "The policy CFRM02 was not activated; it is on the server and has every value that was sent." in err
    )


@pytest.mark.parametrize(
    ("method", "state", "words"),
    [
        ("activate", ApplyState.UNCONFIRMED, f"It is not known whether CFRM02 is active. To find out, {DISPLAY}"),
        ("create", ApplyState.UNANSWERED, "It is not known whether the policy CFRM02 was created."),
    ],
)  # fmt: skip
def test_interrupted_change_is_unknown_and_the_next_command_need_not_wait(
    stand_in: ZosmfStandIn, verified: str, capsys: Capture, method: str, state: ApplyState, words: str
) -> None:
    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PolicyServer, method, interrupt)
        code, _, err = run(capsys, *ACTIVATE)
    assert (code, stored_state()) == (130, state)
    assert words in err
    code, _, _ = run(capsys, *ACTIVATE)
    assert (code, stand_in.active, stored_state()) == (0, "CFRM02", ApplyState.ACTIVATED)


def test_drift_from_a_policy_with_an_unknown_activation_says_so(
    created: ZosmfStandIn, capsys: Capture
) -> None:
    set_row(ApplyState.UNCONFIRMED, minutes_ago=0)
    code, out, _ = run(capsys, *DRIFT)
    assert code == 1
    assert "from the policy CFRM02, which cfplan applied and whose activation is not confirmed." in out
