"""MQ's objects: after each single command a group is safe, and after the last one it is as planned."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.mqsc.commands import read_commands
from planner_core.mqsc.render import mqsc
from planner_core.running.compare import Comparison, compare
from planner_core.running.state import read_running, same
from tests.running.sysplex import FROM_LEVEL_5, MqGroup, Refused, Unsafe
from tests.running.test_merge import result

GROUP = "MQ.SMDS.*.APP1"
DEFINED = {
    "OFFLOAD": "SMDS", "OFFLD1TH": "70", "OFFLD1SZ": "32K", "OFFLD2TH": "80", "OFFLD2SZ": "4K", "OFFLD3TH": "90",
    "OFFLD3SZ": "0K", "DSGROUP": "", "DSBLOCK": "256K", "DSBUFS": "100", "DSEXPAND": "YES", "CFCONLOS": "ASQMGR",
    "RECAUTO": "YES",
}  # fmt: skip
"""What DEFINE CFSTRUCT ... CFLEVEL(5) gives a structure that states nothing."""


def carry_out(found: Comparison, group: MqGroup) -> None:
    """Issue the commands as their remarks say."""
    for step in found.steps:
        if step.kind == "job":
            group.formatted.add(re.findall(r"define and format (\S+) for", step.command)[0])
        elif step.kind == "mqsc":
            group.is_stopped = step.takes_effect == "needs an outage"
            assert_states_all(step.command)
            group.issue(step.command)
            group.is_stopped = False


def assert_states_all(command: str) -> None:
    """An ALTER that raises the level or changes offload leaves nothing to what MQ assumes."""
    if command.startswith("ALTER CFSTRUCT") and re.search(
        r"CFLEVEL\(5\)|OFFLOAD|OFFLD|DSGROUP|DSBLOCK", command
    ):
        for key in (
            "OFFLOAD",
            "CFCONLOS",
            "RECAUTO",
            *(f"OFFLD{n}{what}" for n in (1, 2, 3) for what in ("TH", "SZ")),
        ):
            assert f" {key}(" in command, (key, command)


def text_of(attributes: dict[str, str], *, as_display: bool) -> str:
    said = " ".join(f"{key}('{value}')" for key, value in attributes.items())
    return f"{'' if as_display else 'DEFINE '}CFSTRUCT(APP1) {said}\n"


@st.composite
def structures_today(draw: st.DrawFn) -> dict[str, str]:
    found = {"CFLEVEL": str(draw(st.integers(3, 5))), "RECOVER": draw(st.sampled_from(["YES", "NO"]))}
    if found["CFLEVEL"] != "5":
        return found
    found |= DEFINED
    found["OFFLOAD"] = draw(st.sampled_from(["SMDS", "DB2"]))
    if found["OFFLOAD"] == "SMDS" or draw(st.booleans()):
        found["DSGROUP"] = draw(st.sampled_from([GROUP, "OLD.*.APP1"]))
    for number in (1, 2, 3):
        found[f"OFFLD{number}SZ"] = draw(st.sampled_from(["64K", "8K", "0K"]))
    found["DSBLOCK"] = draw(st.sampled_from(["64K", "256K"]))
    found["DSEXPAND"] = draw(st.sampled_from(["YES", "NO"]))
    found["CFCONLOS"] = draw(st.sampled_from(["ASQMGR", "TERMINATE", "TOLERATE"]))
    found["RECAUTO"] = draw(st.sampled_from(["YES", "NO"]))
    return found


@st.composite
def plans(draw: st.DrawFn) -> dict[str, Any]:
    if draw(st.integers(0, 5)) == 0:
        return {"structures__0__cflevel": 4, "structures__0__offload": {}}
    rules = draw(st.sampled_from([[], [{"usage_over": 70, "size_over": "0K"}]]))
    to = draw(st.sampled_from(["SMDS", "DB2"]))
    found: dict[str, Any] = {"structures__0__offload": {"to": to, "rules": rules, "dsgroup": GROUP}}
    if draw(st.booleans()):
        found["structures__0__cfconlos"] = draw(st.sampled_from(["ASQMGR", "TERMINATE", "TOLERATE"]))
        found["structures__0__recauto"] = draw(st.booleans())
        found["structures__0__offload"]["dsexpand"] = draw(st.booleans())
    return found


@settings(max_examples=300, deadline=None)
@given(structures_today(), plans(), st.booleans())
def test_a_structure_is_safe_after_each_command_and_as_planned_after_the_last(
    today: dict[str, str], changes: dict[str, Any], as_display: bool
) -> None:
    made = result(**changes)
    planned = changes["structures__0__offload"]
    group = MqGroup({"APP1": dict(today)}, {}, formatted={today.get("DSGROUP", "")})
    if "DB2" in {planned.get("to"), today.get("OFFLOAD")}:
        has_rules = today.get("OFFLOAD") == "DB2" and any(today[f"OFFLD{n}SZ"] != "64K" for n in (1, 2, 3))
        group.to_db2 = {"APP1"} if planned.get("to") == "DB2" or has_rules else set()
    if "TERMINATE" in {changes.get("structures__0__cfconlos"), today.get("CFCONLOS")}:
        group.to_terminate = {"APP1"}
    found = compare(made, read_running([text_of(today, as_display=as_display)]))
    carry_out(found, group)
    (command,) = [each for each in read_commands(mqsc(made)).commands if each.kind == "CFSTRUCT"]
    stated = made.document.structures[0]
    kept = {
        key.upper()
        for key, said in (
            ("cfconlos", stated.model_fields_set),
            ("recauto", stated.model_fields_set),
            ("dsexpand", stated.offload.model_fields_set),
        )
        if key not in said and today["CFLEVEL"] == "5"
    }
    for key, value in command.settings().items():
        if key in kept:
            value = today[key]
        assert same(key, group.cfstructs["APP1"][key], value), key


RULES = "OFFLD1TH(70) OFFLD1SZ(32K) OFFLD2TH(80) OFFLD2SZ(4K) OFFLD3TH(90) OFFLD3SZ(0K)"


def test_the_simulation_refuses_what_diff_printed_before() -> None:
    """The former commands: rules before the method, and a raised level that named two attributes."""
    db2 = {**DEFINED, "CFLEVEL": "5", "OFFLOAD": "DB2", **{f"OFFLD{n}SZ": "64K" for n in (1, 2, 3)}}
    group = MqGroup({"APP1": db2}, {}, formatted={GROUP})
    with pytest.raises(Unsafe, match="rules of APP1 offload to Db2"):
        group.issue(f"ALTER CFSTRUCT(APP1) {RULES} DSGROUP('{GROUP}')")
    group = MqGroup({"APP1": {"CFLEVEL": "4"}}, {}, formatted={GROUP})
    with pytest.raises(Unsafe, match="queue managers end with APP1"):
        group.issue(f"ALTER CFSTRUCT(APP1) CFLEVEL(5) DSGROUP('{GROUP}')")
    assert group.cfstructs["APP1"]["OFFLOAD"] == "DB2"
    group = MqGroup({"APP1": db2}, {})
    with pytest.raises(Unsafe, match="not formatted"):
        group.issue(f"ALTER CFSTRUCT(APP1) OFFLOAD(SMDS) {RULES} DSGROUP('{GROUP}')")
    smds = {**DEFINED, "CFLEVEL": "5", "DSGROUP": GROUP}
    with pytest.raises(Refused, match="DATA SETS IN USE"):
        MqGroup({"APP1": smds}, {}, formatted={GROUP}).issue("ALTER CFSTRUCT(APP1) DSBLOCK(64K)")
    assert FROM_LEVEL_5.fullmatch("RECAUTO")


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["APP1", "OLD"]),
    st.sampled_from(["NONE", "MSGID"]),
    st.sampled_from(["YES", "NO"]),
    st.booleans(),
)
def test_mq_takes_every_command_for_a_queue(
    structure: str, index: str, share: str, states_share: bool
) -> None:
    today = {"CFSTRUCT": structure, "DEFPSIST": "YES", "SHARE": share, "DEFSOPT": "SHARED", "INDXTYPE": index}
    word = "SHARE" if share == "YES" else "NOSHARE"
    text = f"DEFINE QLOCAL(Q1) QSGDISP(SHARED) CFSTRUCT({structure}) DEFPSIST(YES) {word} DEFSOPT(SHARED) INDXTYPE({index})\n"
    changes: dict[str, Any] = {"structures__0__queues__0__index_type": "CORRELID"}
    if states_share:
        changes["structures__0__queues__0__share"] = True
    group = MqGroup({}, {"Q1": today})
    carry_out(compare(result(**changes), read_running([text])), group)
    now = group.queues["Q1"]
    assert (now["CFSTRUCT"], now["INDXTYPE"]) == ("APP1", "CORRELID")
    assert now["SHARE"] == ("YES" if states_share else share)
