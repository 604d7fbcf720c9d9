"""Policies as JSON whose members are spelled in another way than IBM's description shows."""

from __future__ import annotations

import pytest

from app.zosmf.server import active_in, names_in
from planner_core.running.policy_json import changed_policy
from planner_core.texts.cfrm.policy_json import PolicyJsonInvalid, find_policy, written_policy


def test_member_in_another_spelling_is_changed_instead_of_doubled() -> None:
    policy = {
        "name": "CFRM01",
        "structure": [{"name": "A1", "Size": 1024, "initsize": 512}, {"name": "A2", "Size": 1024}],
    }
    text = written_policy(policy, "K").policy.replace("SIZE(1024)", "SIZE(2048)")
    found = changed_policy(policy, f"{text}   STRUCTURE NAME(A3) SIZE(4096)\n", name="CFRM02", unit="K")
    assert found.body["structure"] == [
        {"name": "A1", "Size": 2048, "initsize": 512},
        {"name": "A2", "Size": 2048},
        {"name": "A3", "Size": 4096},
    ]


def test_member_in_two_spellings_is_refused() -> None:
    policy = {"name": "CFRM01", "structure": [{"name": "A1", "Size": 1024, "size": 2048}]}
    with pytest.raises(PolicyJsonInvalid, match="member size in two spellings"):
        find_policy({"policy": [policy]}, "CFRM01")


def test_padded_names_of_policies_are_the_names() -> None:
    answer = {"items": [{"name": "CFRM01  "}, {"name": "CFRM02  "}], "activePolicy": {"name": "CFRM01  "}}
    assert names_in(answer) == ("CFRM01", "CFRM02")
    assert active_in(answer) == "CFRM01"
