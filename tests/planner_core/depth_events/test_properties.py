"""Properties of every timeline; steps of many messages give the same events as single messages."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.depth_events.course import Simulation
from planner_core.depth_events.file import read_object
from planner_core.depth_events.simulate import simulate
from tests.planner_core.depth_events.support import Json, armed, do, file, member, nonshared, shared

NAMES = ("QM1", "QM2", "QM3")
SWITCH = st.sampled_from(["ENABLED", "DISABLED"])
CALLS = ("put", "get", "put", "get", "put", "get", "expire")


@st.composite
def queues(draw: st.DrawFn, make: str) -> Json:
    high, low = sorted(draw(st.tuples(st.integers(0, 100), st.integers(0, 100))), reverse=True)
    attributes: Json = {
        "maxdepth": draw(st.integers(0, 40)), "qdepthhi": high, "qdepthlo": low, "depth": draw(st.integers(0, 20)),
        "qdphiev": draw(SWITCH), "qdploev": draw(SWITCH), "qdpmaxev": draw(SWITCH),
    }  # fmt: skip
    return shared("SQ1", **attributes) if make == "shared" else nonshared("LQ1", **attributes)


@st.composite
def files(draw: st.DrawFn) -> Json:
    members = [member(name, draw(SWITCH)) for name in NAMES]
    active = dict.fromkeys(NAMES, True)
    timeline: list[Json] = []
    for at in range(draw(st.integers(0, 25))):
        name, kind = draw(st.sampled_from(NAMES)), draw(st.integers(0, 9))
        if kind == 0:
            action = "stop" if active[name] else "start"
            active[name] = not active[name]
            timeline.append({"at": at, "action": action, "queue_manager": name})
        elif kind == 1 and active[name]:
            timeline.append(
                {"at": at, "action": "alter_qmgr", "queue_manager": name, "perfmev": draw(SWITCH)}
            )
        elif kind == 2:
            timeline.append({"at": at, "action": "reset_qstats", "queue": "SQ1", "queue_manager": "*"})
        elif active[name]:
            queue = "LQ1" if name == "QM1" and draw(st.booleans()) else "SQ1"
            timeline.append(do(draw(st.sampled_from(CALLS)), name, queue, draw(st.integers(1, 30)), at=at))
    readings = {
        "disabled_detector": draw(st.sampled_from(["silent", "broadcast"])),
        "statistics_of_disabled": draw(st.sampled_from(["reset", "kept"])),
        "rounding": draw(st.sampled_from(["exact", "truncated"])),
    }
    return file(members, [draw(queues("shared")), draw(queues("nonshared"))], timeline, **readings)


def run(document: Json) -> Simulation:
    return simulate(read_object(document))


def able_at(document: Json, step: int) -> set[str]:
    """Return the members that are active with PERFMEV(ENABLED) at a step."""
    enabled = {each["name"] for each in document["queue_managers"] if each["perfmev"] == "ENABLED"}
    stopped = set[str]()
    for each in document["timeline"][: step - 1]:
        name = {each.get("queue_manager")}
        if each["action"] == "alter_qmgr":
            enabled = enabled | name if each["perfmev"] == "ENABLED" else enabled - name
        elif each["action"] in {"start", "stop"}:
            stopped = stopped | name if each["action"] == "stop" else stopped - name
    return enabled - stopped


@given(files())
def test_event_has_at_most_one_message_per_enabled_active_member(
    document: Json,
) -> None:
    simulation = run(document)
    for occurrence in simulation.occurrences:
        able = able_at(document, occurrence.step)
        writers = [each.queue_manager for each in occurrence.written]
        assert set(writers) <= able
        assert len(writers) == len(set(writers))
        if occurrence.queue == "LQ1":
            assert writers == ["QM1"]


@given(files())
def test_causes_account_for_every_unreconciled_message(
    document: Json,
) -> None:
    depth = {each["name"]: each["depth"] for each in document["queues"]}
    for occurrence in run(document).occurrences:
        found = occurrence.reconciliation
        if found is None:
            assert not occurrence.written
            continue
        assert found.depth_before == depth[occurrence.queue]
        assert found.depth == occurrence.depth
        assert found.computed_depth + sum(cause.messages for cause in found.causes) == found.depth
        depth[occurrence.queue] = occurrence.depth


@given(files())
def test_switches_change_only_through_events_of_the_step(
    document: Json,
) -> None:
    course = run(document)
    for occurrence in course.occurrences:
        assert not occurrence.is_armed(occurrence.event)
    by_number = {each.number: each for each in course.occurrences}
    for row in course.switches:
        assert bool(row.changed) <= bool(row.occurrences)
        if row.occurrences:
            assert armed(by_number[row.occurrences[-1]]) == armed(row)
        assert set(row.events) == {e.number for n in row.occurrences for e in by_number[n].written}
    assert sorted(each.number for each in course.events) == list(range(1, len(course.events) + 1))


@given(files())
def test_perfmev_does_not_affect_switches_of_a_shared_queue(document: Json) -> None:
    everywhere = {
        **document,
        "queue_managers": [{**each, "perfmev": "ENABLED"} for each in document["queue_managers"]],
        "timeline": [each for each in document["timeline"] if each["action"] != "alter_qmgr"],
    }
    mine, theirs = run(document), run(everywhere)
    assert [
        (row.at, row.depth, armed(row))
        for row in mine.switches
        if row.queue == "SQ1" and row.action != "alter_qmgr"
    ] == [(row.at, row.depth, armed(row)) for row in theirs.switches if row.queue == "SQ1"]


# ---- one message after the other ---------------------------------------------------------------------------------


@dataclass
class SingleMessageRules:
    """The rules as IBM states them, for one queue with one set of counters per member, a message at a time."""

    document: Json
    log: list[tuple[object, ...]] = field(default_factory=list)

    def play(self) -> list[tuple[object, ...]]:
        queue = self.document["queues"][0]
        is_exact = self.document["readings"]["rounding"] == "exact"
        on = {
            letter: queue[name] == "ENABLED"
            for letter, name in zip("HLF", ("qdphiev", "qdploev", "qdpmaxev"), strict=True)
        }
        depth, most = queue["depth"], queue["maxdepth"]
        for step in self.document["timeline"]:
            for _ in range(step["messages"]):
                event = ""
                if step["action"] == "put" and depth >= most:
                    event = "F"
                elif step["action"] == "put":
                    depth += 1
                    product = queue["qdepthhi"] * most
                    event = "H" if (depth * 100 >= product if is_exact else depth >= product // 100) else ""
                elif depth:
                    depth -= 1
                    event = "L" if depth * 100 <= queue["qdepthlo"] * most else ""
                if event and on[event]:
                    on |= {"H": {"H": False, "L": True, "F": True}, "L": {"H": True, "L": False, "F": True},
                           "F": {"L": True, "F": False}}[event]  # fmt: skip
                    self.log.append((step["at"], event, depth, step["queue_manager"]))
            self.log.append((step["at"], depth, on["H"], on["L"], on["F"]))
        return self.log


@settings(max_examples=300)
@given(files())
def test_steps_give_the_same_events_as_message_by_message_rules(document: Json) -> None:
    document = {
        **document,
        "queues": document["queues"][:1],
        "timeline": [
            step
            for step in document["timeline"]
            if step["action"] in {"put", "get", "expire"} and step["queue"] == "SQ1"
        ],
    }
    active = dict.fromkeys(NAMES, True)
    assert all(active[step["queue_manager"]] for step in document["timeline"])
    course = run(document)
    by_number = {each.number: each for each in course.occurrences}
    letters = {2224: "H", 2225: "L", 2053: "F"}
    found: list[tuple[object, ...]] = []
    for row in course.switches[1:]:
        found += [
            (each.at, letters[each.event.reason], each.depth, each.detector)
            for each in (by_number[number] for number in row.occurrences)
        ]
        found.append((row.at, row.depth, *armed(row)))
    assert found == SingleMessageRules(document).play()
