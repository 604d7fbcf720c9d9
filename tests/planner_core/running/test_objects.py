"""MQ's objects: after each single command a group is safe, and after the last one it is as planned."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.document.reading import read_json
from planner_core.findings import Finding
from planner_core.plan.evaluate import evaluate
from planner_core.plan.result import PlanResult
from planner_core.running.compare import Comparison, compare
from planner_core.running.state import read_running, same
from planner_core.texts.mqsc.commands import read_commands
from planner_core.texts.mqsc.qlocal import is_defined_alike, planned_queue
from planner_core.texts.mqsc.render import mqsc
from planner_core.texts.outputs import render_output
from tests.planner_core.running.sysplex import FROM_LEVEL_5, MqGroup, Refused, Unsafe
from tests.planner_core.running.test_merge import result

GROUP = "MQ.SMDS.*.APP1"
DEFINED = {
    "OFFLOAD": "SMDS", "OFFLD1TH": "70", "OFFLD1SZ": "32K", "OFFLD2TH": "80", "OFFLD2SZ": "4K", "OFFLD3TH": "90",
    "OFFLD3SZ": "0K", "DSGROUP": "", "DSBLOCK": "256K", "DSBUFS": "100", "DSEXPAND": "YES", "CFCONLOS": "ASQMGR",
    "RECAUTO": "YES",
}  # fmt: skip
"""Defaults of DEFINE CFSTRUCT ... CFLEVEL(5)."""


def carry_out(found: Comparison, group: MqGroup) -> None:
    """Issue the commands as their comments instruct."""
    for step in found.commands:
        if step.kind == "job":
            group.formatted.add(re.findall(r"define and format (\S+) for", step.command)[0])
        elif step.kind == "mqsc":
            group.is_stopped = step.takes_effect == "needs an outage"
            assert_states_all(step.command)
            group.issue(step.command)
            group.is_stopped = False


def assert_states_all(command: str) -> None:
    """Check that an ALTER that raises the level or changes offload leaves no attribute to the defaults of MQ."""
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
        found["structures__0__cflevel"] = 5
    if draw(st.booleans()):
        found["structures__0__recover"] = True
    if draw(st.booleans()):
        found["structures__0__cfconlos"] = draw(st.sampled_from(["ASQMGR", "TERMINATE", "TOLERATE"]))
        found["structures__0__recauto"] = draw(st.booleans())
        found["structures__0__offload"]["dsexpand"] = draw(st.booleans())
    return found


@settings(max_examples=300, deadline=None)
@given(structures_today(), plans(), st.booleans())
def test_structure_is_safe_after_each_command_and_as_planned_at_the_end(
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
    stays_low = today["CFLEVEL"] != "5" and "structures__0__cflevel" not in changes
    for key, value in command.settings().items():
        now = group.cfstructs["APP1"]
        if stays_low and FROM_LEVEL_5.fullmatch(key):
            assert key not in now, key
            continue
        has_today = key in today
        assert same(key, now[key], today[key] if has_today and not is_stated(key, changes) else value), key


def is_stated(key: str, changes: dict[str, Any]) -> bool:
    """Return whether the plan states an attribute of the CFSTRUCT; `offload` states method and rules together or not at all."""
    if key.lower() in {"cflevel", "recover", "cfconlos", "recauto"}:
        return f"structures__0__{key.lower()}" in changes
    offload = changes["structures__0__offload"]
    if key == "OFFLOAD":
        return "to" in offload
    return ("rules" if key.startswith("OFFLD") else key.lower()) in offload


KEEPS = (
    "DEFINE CFSTRUCT(APP1) CFLEVEL(5) RECOVER(NO) OFFLOAD(SMDS) OFFLD1TH(50) OFFLD1SZ(16K) OFFLD2TH(60) OFFLD2SZ(8K) "
    "OFFLD3TH(70) OFFLD3SZ(1K) DSGROUP('MQ.SMDS.*.APP1') DSBLOCK(64K) DSBUFS(800) DSEXPAND(NO) CFCONLOS(TERMINATE) RECAUTO(NO)\n"
)
KEEPS_QUEUE = (
    "DEFINE QLOCAL(Q1) QSGDISP(SHARED) CFSTRUCT(APP1) DEFPSIST(YES) NOSHARE DEFSOPT(EXCL) INDXTYPE(MSGID) "
    "MAXMSGL(100) BOTHRESH(5) MAXDEPTH(77)\n"
)


def plan_without_mq_attributes(**paths: Any) -> PlanResult:  # noqa: ANN401
    """Return a plan that states only a queue and the name of its data sets among MQ objects."""
    queue = {"name": "Q1", "message_bytes": 1024, "backlog": 100_000}
    return result(**{"structures__0__queues": [queue], "admin__headroom_percent": 10, **paths})


def of(found: Comparison, code: str) -> list[Finding]:
    return [each for each in found.findings if each.code == code]


@pytest.mark.parametrize("is_stored", [False, True])
def test_unstated_object_attributes_keep_the_current_value(is_stored: bool) -> None:
    made = plan_without_mq_attributes()
    if is_stored:  # every key is there, with its default
        made = evaluate(read_json(made.document.model_dump_json()))
    running = read_running([KEEPS, KEEPS_QUEUE])
    found = compare(made, running)
    assert found.commands == ()
    assert found.is_same
    kept = [
        each.message
        for each in of(found, "UNSTATED_KEPT")
        if "(APP1)" in each.message or "(Q1)" in each.message
    ]
    for attribute in ("RECOVER(NO)", "CFCONLOS(TERMINATE)", "RECAUTO(NO)", "OFFLD1TH(50)", "OFFLD1SZ(16K)", "OFFLD2SZ(8K)",
                      "OFFLD3SZ(1K)", "DSBLOCK(64K)", "DSBUFS(800)", "DSEXPAND(NO)"):  # fmt: skip
        assert attribute in kept[0]
    assert "keeps DEFPSIST(YES), NOSHARE, DEFSOPT(EXCL)" in kept[1]
    assert "calculated with DEFPSIST(NO), SHARE, DEFSOPT(SHARED)" in kept[1]
    assert "KEPT. CFSTRUCT(APP1) keeps RECOVER(NO)" in found.text


def test_unstated_plan_replaces_object_attributes_with_defaults() -> None:
    found = compare(plan_without_mq_attributes(), read_running([KEEPS, KEEPS_QUEUE]), unstated="plan")
    altered = " ".join(step.command for step in found.commands)
    for attribute in (
        "RECOVER(YES)",
        "OFFLD1TH(70)",
        "DSBUFS(100)",
        "DSBLOCK(256K)",
        "RECAUTO(YES)",
        "DEFPSIST(NO)",
    ):
        assert attribute in altered
    assert not [
        each for each in of(found, "UNSTATED_KEPT") if "CFSTRUCT" in each.message or "QLOCAL" in each.message
    ]


@pytest.mark.parametrize(
    ("key", "value", "command"),
    [
        ("recover", True, "ALTER CFSTRUCT(APP1) RECOVER(YES)"),
        ("offload__dsbufs", 100, "ALTER CFSTRUCT(APP1) DSBUFS(100)"),
        ("queues__0__persistent", False, "ALTER QLOCAL(Q1) QSGDISP(SHARED) DEFPSIST(NO)"),
        ("queues__0__max_message_length", 2000, "ALTER QLOCAL(Q1) QSGDISP(SHARED) MAXMSGL(2000)"),
    ],
)
def test_only_stated_object_attributes_are_altered(key: str, value: object, command: str) -> None:
    found = compare(
        plan_without_mq_attributes(**{f"structures__0__{key}": value}), read_running([KEEPS, KEEPS_QUEUE])
    )
    assert [step.command for step in found.commands] == [command]


def test_offload_rules_are_altered_only_together_with_their_method() -> None:
    db2 = "DEFINE CFSTRUCT(APP1) CFLEVEL(5) RECOVER(YES) OFFLOAD(DB2) OFFLD1TH(41) OFFLD1SZ(64K)\n"
    (alter,) = [
        step.command
        for step in compare(
            plan_without_mq_attributes(structures__0__offload={"to": "SMDS", "dsgroup": GROUP}),
            read_running([db2]),
        ).commands
        if step.command.startswith("ALTER")
    ]
    assert "OFFLOAD(SMDS) OFFLD1TH(70) OFFLD1SZ(32K)" in alter
    rules = {"rules": [{"usage_over": 70, "size_over": "0K"}]}
    assert (
        compare(plan_without_mq_attributes(structures__0__offload=rules), read_running([db2])).commands == ()
    )


def test_unstated_cflevel_stays_and_planned_offload_is_reported() -> None:
    for level in ("CFLEVEL(4)", ""):
        found = compare(
            plan_without_mq_attributes(), read_running([f"CFSTRUCT(APP1)\n{level}\nRECOVER(YES)\n"])
        )
        assert found.commands == ()
        (told,) = of(found, "CFLEVEL_STAYS_LOWER")
        assert (told.severity, told.field, told.structure) == ("warning", "/structures/0/cflevel", "APP1")
        assert "OFFLOAD, DSGROUP. State cflevel: 5" in told.message


@pytest.mark.parametrize("offload", [{}, {"to": "SMDS"}])
def test_alter_never_sets_smds_without_a_dsgroup(offload: dict[str, str]) -> None:
    made = plan_without_mq_attributes(structures__0__cflevel=5, structures__0__offload=offload)
    found = compare(made, read_running(["DEFINE CFSTRUCT(APP1) CFLEVEL(4) RECOVER(YES)\n"]))
    assert found.commands == ()
    assert not found.is_same
    (told,) = of(found, "ALTER_WITHOUT_DSGROUP")
    assert (told.severity, told.field) == ("warning", "/structures/0/offload/dsgroup")
    text = found.text
    assert "NOT YET. CFSTRUCT(APP1) would get OFFLOAD(SMDS) without DSGROUP" in text
    assert "No action is needed" not in text


def test_lost_protection_and_changed_levels_are_warnings_with_both_values() -> None:
    today = KEEPS.replace("RECOVER(NO)", "RECOVER(YES)").replace("CFLEVEL(5)", "CFLEVEL(4)")
    today = today[: today.index(" OFFLOAD")] + "\n"
    asked = plan_without_mq_attributes(
        structures__0__cflevel=5,
        structures__0__recover=False,
        structures__0__queues__0__persistent=False,
    )
    found = compare(asked, read_running([today, KEEPS_QUEUE]))
    told = {each.field: each for each in of(found, "MQ_PROTECTION_CHANGES")}
    assert {each.severity for each in told.values()} == {"warning"}
    assert "RECOVER(YES) becomes RECOVER(NO)" in told["/structures/0/recover"].message
    assert "CFLEVEL(4) becomes CFLEVEL(5)" in told["/structures/0/cflevel"].message
    assert "DEFPSIST(YES) becomes DEFPSIST(NO)" in told["/structures/0/queues/0/persistent"].message
    assert (
        of(compare(plan_without_mq_attributes(), read_running([today, KEEPS_QUEUE])), "MQ_PROTECTION_CHANGES")
        == []
    )


AT_LEVEL_4 = "CFSTRUCT(APP1)\nCFLEVEL(4)\nRECOVER(YES)\nCFCONLOS(TERMINATE)\nRECAUTO(NO)\n"


def test_raised_level_keeps_displayed_cfconlos_and_recauto() -> None:
    found = compare(plan_without_mq_attributes(structures__0__cflevel=5), read_running([AT_LEVEL_4]))
    (alter,) = [step for step in found.commands if step.command.startswith("ALTER")]
    assert "CFLEVEL(5) CFCONLOS(TERMINATE) RECAUTO(NO) OFFLOAD(SMDS)" in alter.command
    assert "CFCONLOS(TERMINATE) and RECAUTO(NO) stay as today" in alter.why


def test_raised_level_names_changes_of_cfconlos_and_recauto() -> None:
    made = plan_without_mq_attributes(
        structures__0__cflevel=5, structures__0__cfconlos="TOLERATE", structures__0__recauto=True
    )
    (alter,) = [
        step
        for step in compare(made, read_running([AT_LEVEL_4])).commands
        if step.command.startswith("ALTER")
    ]
    assert "CFLEVEL(5) CFCONLOS(TOLERATE) RECAUTO(YES) OFFLOAD(SMDS)" in alter.command
    assert alter.why.startswith(
        "CFLEVEL 4 becomes 5, CFCONLOS TERMINATE becomes TOLERATE, RECAUTO NO becomes YES."
    )


def test_redefined_queue_keeps_unstated_attributes() -> None:
    moved = KEEPS_QUEUE.replace("CFSTRUCT(APP1)", "CFSTRUCT(OLD)")
    _, define = compare(plan_without_mq_attributes(), read_running([moved])).commands
    assert define.command == (
        "DEFINE QLOCAL(Q1) QSGDISP(SHARED) CFSTRUCT(APP1) DEFPSIST(YES) NOSHARE DEFSOPT(EXCL) INDXTYPE(MSGID) MAXMSGL(100) "
        "BOTHRESH(5) MAXDEPTH(77)"
    )


RULES = "OFFLD1TH(70) OFFLD1SZ(32K) OFFLD2TH(80) OFFLD2SZ(4K) OFFLD3TH(90) OFFLD3SZ(0K)"


def test_simulated_group_refuses_unsafe_commands_of_earlier_versions() -> None:
    """Earlier versions gave rules before the method, and raised the level with two attributes only."""
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
def test_mq_accepts_every_command_for_a_queue(
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


QUEUES: list[dict[str, Any]] = [
    {"name": "PLAIN"},
    {"name": "CHANGED", "persistent": False},
    {"name": "INDEXED", "index_type": "MSGID"},
    {"name": "LONG", "message_bytes": {"mean": 5_000_000, "p95": 6_000_000, "max": 6_000_000}},
    {"name": "SHARED", "share": True},
    {"name": "DEEP", "maxdepth": 5_000, "qdepthhi": 70},
]


def of_queues(**changed: dict[str, Any]) -> PlanResult:
    """Return a plan with `QUEUES`, some of them changed."""
    queues = [
        {"message_bytes": 1000, "backlog": 10, **each, **changed.get(each["name"], {})} for each in QUEUES
    ]
    plan = {
        "qsg": "SQ03",
        "queue_managers": 2,
        "coupling_facilities": [{"name": "CF01", "size": "64G"}],
        "structures": [{"name": "APP1", "offload": {"dsgroup": GROUP}, "queues": queues}],
    }
    return evaluate(read_json(json.dumps(plan)))


@pytest.mark.parametrize(
    "changed",
    [
        {"CHANGED": {"persistent": True}},
        {
            "LONG": {"message_bytes": {"mean": 5_000_000, "p95": 6_000_000, "max": 7_000_000}},
            "DEEP": {"qdepthhi": 80},
        },
        {"INDEXED": {"index_type": "CORRELID"}, "SHARED": {"share": False}},
        {"PLAIN": {"backlog": 20}},
    ],
)
def test_comparing_only_redefined_queues_gives_the_same_commands(changed: dict[str, dict[str, Any]]) -> None:
    before, after = of_queues(), of_queues(**changed)
    names = frozenset(
        now.name
        for was, now in zip(
            before.document.structures[0].queues, after.document.structures[0].queues, strict=True
        )
        if not is_defined_alike(was, now)
    )
    assert names == {name for name in changed if name != "PLAIN"}, "a backlog is not part of a definition"
    policy = render_output("policy", before).text
    limited = compare(after, read_running([policy, mqsc(before, queues=names)]), queues=names)
    complete = compare(after, read_running([policy, mqsc(before)]))
    assert limited.commands == complete.commands
    altered = {step.command.split(" ")[1] for step in limited.commands if step.kind == "mqsc"}
    # Nor is MAXMSGL altered that the plan does not state.
    assert altered == {f"QLOCAL({name})" for name in names - {"LONG"}}


def test_queues_defined_alike_have_the_same_lines() -> None:
    queues = of_queues().document.structures[0].queues
    for one, other in product(queues, repeat=2):
        if is_defined_alike(one, other):
            assert [*planned_queue(one)] == [*planned_queue(other)]
    assert is_defined_alike(queues[0], queues[0].model_copy(update={"backlog": 99}))
    assert not is_defined_alike(queues[0], queues[2])
