"""Differences of MQ objects, and the commands that remove them in an order that is safe after each command.

ALTER CFSTRUCT leaves attributes that it does not name as they are, but an ALTER that raises a structure to CFLEVEL(5)
gives it CFCONLOS(TERMINATE) (published), and OFFLOAD(DB2) with all rules off (assumed): not the defaults of DEFINE. So an
ALTER that raises the level or changes offload states all of these attributes at once. If they were split into two
commands, rules would offload to Db2 until the second one is issued.

Attributes that the plan does not state keep today's values, and one that no text shows is left alone: `over_today`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, replace
from typing import Final

from planner_core.findings import Finding, finding
from planner_core.names import mqsc_attribute, mqsc_value
from planner_core.plan.result import PlanResult
from planner_core.provenance import Basis, Source
from planner_core.running.state import (
    Attributes,
    MqObject,
    Running,
    has_level_5,
    plain,
    same,
)
from planner_core.running.steps import (
    NOW,
    OUTAGE,
    CommandStep,
    Layer,
    QueueDifference,
    RunningDifference,
    TakesEffect,
)
from planner_core.running.unstated import (
    DEFAULT_UNSTATED,
    Unstated,
    unstated_of_queue,
    unstated_of_structure,
)
from planner_core.tables import source as _source
from planner_core.texts.mqsc.cfstruct import CFSTRUCT, NEEDS_LEVEL_5, OFFLOAD_RULES
from planner_core.texts.mqsc.commands import read_commands
from planner_core.texts.mqsc.qlocal import QLOCAL, QLOCAL_DEFAULTS
from planner_core.texts.mqsc.render import mqsc

_OF_DATA_SETS: Final = ("DSGROUP", "DSBLOCK")
_OFFLOAD: Final = ("OFFLOAD", *OFFLOAD_RULES, *_OF_DATA_SETS)
_STATED_TOGETHER: Final = frozenset({*_OFFLOAD, "CFCONLOS", "RECAUTO"})
"""Attributes of an ALTER that raises the level or changes offload."""
_OF_LOSS: Final = frozenset({"CFCONLOS", "RECAUTO"})
"""Attributes that displays also show below CFLEVEL(5)."""
_IN_USE: Final = frozenset({"SMDS", "BOTH"})
"""Values of OFFLDUSE while messages are in shared message data sets."""
_ASSUMED: Final = _source("project", "When a change takes effect")


@dataclass(frozen=True, slots=True)
class WantedObject:
    """A CFSTRUCT or a shared queue of the plan, as its MQSC defines it."""

    kind: str
    name: str
    settings: Attributes
    unstated: frozenset[str]
    """Attributes that the plan does not state, so that the running values stay."""
    pointer: str = ""
    """The JSON pointer of the structure or queue in the document."""
    kept: Mapping[str, str] = field(default_factory=dict)
    """The values that the plan was calculated with, by attribute, where today's value differs and is kept."""
    out_of_place: tuple[str, ...] = ()
    """Attributes that the plan states but that the CFLEVEL, which stays the same, does not support."""

    @property
    def layer(self) -> Layer:
        """Return the layer of the object's differences."""
        return "cfstruct" if self.kind == "CFSTRUCT" else "queue"

    @property
    def structure(self) -> str | None:
        """Return the CFSTRUCT itself, or the CFSTRUCT of the queue."""
        return self.name if self.kind == "CFSTRUCT" else self.settings.get("CFSTRUCT")


def wanted_objects(
    result: PlanResult,
    running: Running,
    unstated: Unstated = DEFAULT_UNSTATED,
    *,
    queues: AbstractSet[str] | None = None,
) -> Mapping[str, Sequence[WantedObject]]:
    """Return the MQ objects of the plan by kind, read from its own MQSC.

    A kind of objects that no text about the running system shows is left out, because it cannot be compared.

    Args:
        result: The plan.
        running: The running system.
        unstated: The source of keywords that the document does not state: the plan or the policy.
        queues: The names of the queues to return; None for all of them.
    """
    found: dict[str, list[WantedObject]] = {"CFSTRUCT": [], "QLOCAL": []}
    if not running.knows_cfstructs and not running.knows_queues:
        return found
    wanted = queues if running.knows_queues else frozenset()
    fields: dict[tuple[str, str], tuple[str, frozenset[str]]] = {}
    for number, structure in enumerate(result.document.structures):
        pointer = f"/structures/{number}"
        fields["CFSTRUCT", structure.name] = (pointer, unstated_of_structure(structure))
        for place, queue in enumerate(structure.queues):
            if wanted is None or queue.name in wanted:
                fields["QLOCAL", queue.name] = (f"{pointer}/queues/{place}", unstated_of_queue(queue))
    for command in read_commands(mqsc(result, queues=wanted)).commands:
        if command.kind not in found:
            continue
        pointer, keys = fields[command.kind, command.name]
        keys = keys if unstated == "policy" else frozenset()
        found[command.kind].append(
            WantedObject(command.kind, command.name, command.settings(), keys, pointer)
        )
    return found


def over_today(wanted: WantedObject, running: Running) -> WantedObject:
    """Return the object as it will be: attributes that the plan does not state keep today's value.

    An attribute that no text shows is omitted, so no command changes it.
    """
    today = _today(wanted, running)
    if today is None:
        return wanted
    has, settings, unstated = _running_attributes(today), dict(wanted.settings), set(wanted.unstated)
    out_of_place: tuple[str, ...] = ()
    if wanted.layer == "cfstruct":
        if "CFLEVEL" in unstated and has_level_5(settings) and not has_level_5(has):
            of_level = [key for key in settings if key in NEEDS_LEVEL_5]
            out_of_place = tuple(key for key in of_level if key not in unstated)
            settings = {key: value for key, value in settings.items() if key not in of_level}
        elif "CFLEVEL" not in unstated and _raises(wanted, today):
            # The structure has no offload today whose values could stay.
            unstated -= {key for key in settings if key in NEEDS_LEVEL_5} - (_OF_LOSS & has.keys())
        elif has.get("OFFLOAD") and has["OFFLOAD"] != settings.get("OFFLOAD"):
            # Rules belong to their method: they change with it, and stay with it.
            unstated = (
                unstated | set(OFFLOAD_RULES) if "OFFLOAD" in unstated else unstated - set(OFFLOAD_RULES)
            )
        if (has if "OFFLOAD" in unstated else settings).get("OFFLOAD") == "SMDS":
            # MQ needs a value for each, and today has none that could stay.
            unstated -= _without_value(today)
    kept: dict[str, str] = {}
    for key in unstated & settings.keys():
        planned = settings[key]
        if key not in has:
            del settings[key]
        elif not same(key, has[key], planned):
            settings[key], kept[key] = has[key], planned
    if settings.get("OFFLOAD") == "SMDS" and "DSGROUP" not in settings and has.get("DSGROUP"):
        settings["DSGROUP"] = has["DSGROUP"]  # the plan names none, so today's is kept and stated
    kept = {key: kept[key] for key in wanted.settings if key in kept}
    return replace(wanted, settings=settings, kept=kept, out_of_place=out_of_place)


def _today(wanted: WantedObject, running: Running) -> MqObject | None:
    objects = running.cfstructs if wanted.kind == "CFSTRUCT" else running.queues
    return objects.get(wanted.name)


def _running_attributes(today: MqObject) -> Attributes:
    """Return the attributes that have a value today; a CFSTRUCT below CFLEVEL(5) has no offload, even if a display shows some."""
    absent = _without_value(today)
    if has_level_5(today.attributes) is False:
        absent |= NEEDS_LEVEL_5 - _OF_LOSS
    return {key: value for key, value in today.attributes.items() if key not in absent}


def _without_value(today: MqObject) -> frozenset[str]:
    """Return the attributes of data sets that a display shows without a value, such as DSBLOCK(NONE), which ALTER rejects.

    DSEXPAND, for which a display always shows a word, has none if DSBLOCK or DSBUFS has none: the structure has no data sets.
    """
    shown = today.attributes
    found = frozenset(
        each.keyword
        for each in CFSTRUCT
        if each.of_data_sets and each.keyword in shown and each.read(shown[each.keyword] or "") is None
    )
    return found | {"DSEXPAND"} if found & {"DSBLOCK", "DSBUFS"} else found


# ---- differences -------------------------------------------------------------------------------------------


def object_differences(
    wanted: WantedObject, today: MqObject | None, running: Running
) -> Iterator[RunningDifference]:
    """Yield the attributes that differ from the plan; all of them if the object does not exist."""
    has = _running_attributes(today) if today else {}
    reference = "mq_cfstruct" if wanted.layer == "cfstruct" else "mq_qlocal"
    for key, value in wanted.settings.items():
        known = has.get(key)
        if (wanted.layer == "queue" and key == "QSGDISP") or (known is not None and same(key, known, value)):
            continue
        when, basis, source = (
            (NOW, Basis.PUBLISHED, _source(reference, key))
            if today is None
            else _effect(wanted, key, today, running)
        )
        yield RunningDifference(wanted.layer, key, known, value, when, basis, source)


def queue_differences(
    wanted: WantedObject, today: MqObject | None, running: Running
) -> Iterator[QueueDifference]:
    """Yield the differences of a queue."""
    for each in object_differences(wanted, today, running):
        members = {member.name: getattr(each, member.name) for member in fields(each)}
        yield QueueDifference(**members, queue=wanted.name)


def _effect(
    wanted: WantedObject, key: str, today: MqObject, running: Running
) -> tuple[TakesEffect, Basis, Source]:
    has, value = _running_attributes(today).get(key), wanted.settings[key]
    if wanted.layer == "queue":
        if key in {"CFSTRUCT", "INDXTYPE"}:
            return OUTAGE, Basis.PUBLISHED, _source("mq_alter_queues", key)
        return NOW, Basis.PUBLISHED, _source("mq_qlocal", key)
    published = _source("mq_alter_cfstruct", key)
    if key == "CFLEVEL":
        now, then = plain(key, has), plain(key, value)
        is_lower = isinstance(now, int) and isinstance(then, int) and then < now
        return OUTAGE if is_lower else NOW, Basis.PUBLISHED, published
    if key == "OFFLOAD":
        return NOW, Basis.DERIVED, _source("mq_cfstatus", "OFFLDUSE")
    # DSGROUP and DSBLOCK are assumed to change only while the data sets are not in use.
    if key in _OF_DATA_SETS and has and _data_sets_in_use(today, running):
        return OUTAGE, Basis.ASSUMED, _ASSUMED
    return NOW, Basis.PUBLISHED, published


def _data_sets_in_use(today: MqObject, running: Running) -> bool:
    """Return whether queue managers may have the shared message data sets of a structure open."""
    if has_level_5(today.attributes) is False:
        return False
    return today.attributes.get("OFFLOAD") != "DB2" or running.offload_use.get(today.name) in _IN_USE


def _raises(wanted: WantedObject, today: MqObject) -> bool:
    """Return whether the plan raises a structure to CFLEVEL(5) that is, or may be, below it."""
    is_structure = wanted.layer == "cfstruct"
    return is_structure and bool(has_level_5(wanted.settings)) and not has_level_5(today.attributes)


# ---- commands ----------------------------------------------------------------------------------------------


def object_steps(wanted: Sequence[WantedObject], running: Running) -> Iterator[CommandStep]:
    """Yield the commands for all objects of one kind, in order."""
    is_formatted = False
    for each in wanted:
        today = _today(each, running)
        steps = [] if lacks_data_sets(each, today, running) else list(_steps(each, today, running))
        is_formatted |= any(step.kind == "job" for step in steps)
        yield from steps
    if is_formatted:
        why = (
            "A data set that queue managers have opened must show ACCESS(ENABLED) and a STATUS other than FAILED and NOTFOUND. One that was never "
            "opened may show NEW or NOTFOUND (from memory): display it again after the first message is offloaded. DISPLAY CFSTATUS(*) shows "
            "OFFLDUSE(BOTH) as long as messages of the former method remain."
        )
        command = "DISPLAY CFSTATUS(*) TYPE(SMDS)"
        yield CommandStep(
            "mqsc", command, None, NOW, why, Basis.PUBLISHED, _source("mq_cfstatus", "TYPE(SMDS)")
        )


def _steps(wanted: WantedObject, today: MqObject | None, running: Running) -> Iterator[CommandStep]:
    """Yield DEFINE for a missing object, otherwise ALTER; changes that need an outage are separate commands."""
    head = f"{wanted.kind}({mqsc_value(wanted.name)})"
    if today is None:
        yield from _data_sets(wanted)
        source = _source("mq_cfstruct" if wanted.layer == "cfstruct" else "mq_qlocal")
        command = f"DEFINE {head} {_attributes(wanted.settings)}"
        why = f"{wanted.name} is not defined yet."
        yield CommandStep("mqsc", command, wanted.structure, NOW, why, Basis.PUBLISHED, source)
        return
    differences = list(object_differences(wanted, today, running))
    if wanted.layer == "queue" and any(each.keyword == "CFSTRUCT" for each in differences):
        yield from _moved(wanted, today)
        return
    later = {each.keyword for each in differences if each.takes_effect == OUTAGE}
    now = {each.keyword for each in differences if each.takes_effect == NOW}
    if _needs_data_sets(wanted, today, now | later):
        yield from _data_sets(wanted)
    if wanted.layer == "queue":
        head += " QSGDISP(SHARED)"
    for keys, others in ((now, later), (later, frozenset())):
        if not keys:
            continue
        stated = _together(wanted, today, keys, leave_out=others)
        yield _alter(f"ALTER {head} {_attributes(stated)}", wanted, today, differences, keys)


def _moved(wanted: WantedObject, today: MqObject) -> Iterator[CommandStep]:
    """Yield the commands that move a queue to another structure: ALTER cannot change CFSTRUCT of a shared queue."""
    source = _source("mq_alter_queues", "CFSTRUCT")
    why = (
        f"CFSTRUCT {today.attributes.get('CFSTRUCT')} becomes {wanted.structure}, which ALTER cannot change for a shared queue. Close the queue, "
        "and move its messages to another queue. Without PURGE, this command fails while the queue has messages."
    )
    head = f"QLOCAL({mqsc_value(wanted.name)})"
    yield CommandStep(
        "mqsc", f"DELETE {head} QSGDISP(SHARED)", wanted.structure, OUTAGE, why, Basis.PUBLISHED, source
    )
    why = (
        f"{wanted.name} on {wanted.structure}, with the attributes in the plan: add the others from DISPLAY {head} ALL. "
        "Then move its messages back."
    )
    has = _running_attributes(today)
    others = {
        key: has[key]
        # DELETE loses all attributes, and the plan need not state these.
        for key in (each.keyword for each in QLOCAL if each.is_carried_over)
        if has.get(key) and key not in wanted.settings and not same(key, has[key], QLOCAL_DEFAULTS.get(key))
    }
    command = f"DEFINE {head} {_attributes({**wanted.settings, **others})}"
    yield CommandStep("mqsc", command, wanted.structure, OUTAGE, why, Basis.PUBLISHED, source)


def _together(
    wanted: WantedObject, today: MqObject, keys: set[str], *, leave_out: set[str] | frozenset[str]
) -> Attributes:
    """Return the attributes of an ALTER: those that differ, and with offload or a raised level all related ones."""
    is_whole = wanted.layer == "cfstruct" and bool(has_level_5(wanted.settings))
    if is_whole and (keys & set(_OFFLOAD) or _raises(wanted, today)):
        # If they were split into two commands, the rules would offload to Db2 until the second one is issued.
        keys = {*keys, *_STATED_TOGETHER} - leave_out
    return {key: value for key, value in wanted.settings.items() if key in keys}


def _alter(
    command: str,
    wanted: WantedObject,
    today: MqObject,
    differences: Sequence[RunningDifference],
    keys: set[str],
) -> CommandStep:
    ours = [each for each in differences if each.keyword in keys]
    known = [each for each in ours if each.today is not None or each.keyword not in NEEDS_LEVEL_5]
    # A list of all attributes that a raised level brings would only repeat the command.
    listed = (
        [each for each in ours if each in known or each.keyword in _OF_LOSS]
        if _raises(wanted, today) and known
        else ours
    )
    why, when = f"{', '.join(_change(each) for each in listed)}.", ours[0].takes_effect
    if when == OUTAGE:
        why += f" {_why_outage(wanted, keys)}"
    if _raises(wanted, today):
        why += (
            " An ALTER to CFLEVEL(5) sets CFCONLOS(TERMINATE) (published), and OFFLOAD(DB2) with all rules off (from memory) "
            "unless it specifies otherwise, so this command states all of them. All queue managers must be at MQ 7.1 or higher."
        )
    if "OFFLOAD" in keys and not _raises(wanted, today):
        why += (
            " Messages already on the structure stay where they are and can still be read; DISPLAY CFSTATUS shows OFFLDUSE(BOTH) during this time (derived from that value; IBM's text on it was not found). Rules and method change in one command, so that the rules "
            "never offload with the former method."
        )
    if _raises(wanted, today):
        stay = [key for key in sorted(_OF_LOSS) if key not in {each.keyword for each in ours}]
        if stay:
            kept = " and ".join(f"{key}({wanted.settings[key]})" for key in stay if key in wanted.settings)
            why += f" {kept} {'stay' if len(stay) > 1 else 'stays'} as today."
    basis = next((each for each in ours if each.basis is Basis.ASSUMED), None)
    basis = basis or next((each for each in ours if each.basis is Basis.DERIVED), ours[0])
    return CommandStep("mqsc", command, wanted.structure, when, why, basis.basis, basis.source)


def _change(each: RunningDifference) -> str:
    return f"{each.keyword} {f'{each.today} ' if each.today else ''}becomes {each.planned}"


def _why_outage(wanted: WantedObject, keys: set[str]) -> str:
    if wanted.layer == "queue":
        return "The queue must be closed and empty."
    if keys & set(_OF_DATA_SETS):
        return (
            "The shared message data sets must not be in use: stop the applications that use the queues of the structure, "
            "empty the queues, and wait until DISPLAY CFSTATUS shows OFFLDUSE(NONE)."
        )
    return "The queues of the structure must be closed and empty."


def _needs_data_sets(wanted: WantedObject, today: MqObject, keys: set[str]) -> bool:
    if wanted.settings.get("OFFLOAD") != "SMDS" or not has_level_5(wanted.settings):
        return False
    return bool(keys & {"OFFLOAD", *_OF_DATA_SETS}) or _raises(wanted, today)


def _data_sets(wanted: WantedObject) -> Iterator[CommandStep]:
    """Yield the job that must run before a structure offloads to data sets."""
    group = wanted.settings.get("DSGROUP")
    if wanted.settings.get("OFFLOAD") != "SMDS" or not group:
        return
    why = (
        "IDCAMS defines a data set for each queue manager of the group and CSQJUFMT formats it, before anything is offloaded there: "
        "`cfplan whatif smds-job`, or SMDS on the What if page, generates the job."
    )
    command = f"SMDS job: define and format {group} for each queue manager"
    source = _source("mq_smds_setup")
    yield CommandStep("job", command, wanted.name, NOW, why, Basis.PUBLISHED, source)


# ---- findings ----------------------------------------------------------------------------------------------


def lacks_data_sets(wanted: WantedObject, today: MqObject | None, running: Running) -> bool:
    """Return whether an ALTER would set OFFLOAD(SMDS) without DSGROUP, which MQ rejects."""
    if today is None or wanted.settings.get("OFFLOAD") != "SMDS" or wanted.settings.get("DSGROUP"):
        return False
    keys = {each.keyword for each in object_differences(wanted, today, running)}
    return bool(keys & set(_OFFLOAD)) or (bool(keys) and _raises(wanted, today))


def object_findings(structure: str, wanted: Sequence[WantedObject], running: Running) -> Iterator[Finding]:
    """Yield the findings on the CFSTRUCT and the queues of a structure.

    Args:
        structure: Its CFSTRUCT name.
        wanted: Its objects, from `over_today`.
        running: The running system.
    """
    kept_queues: list[WantedObject] = []
    for each in wanted:
        today = _today(each, running)
        if today is None:
            continue
        yield from _serious_changes(structure, each, today)
        if lacks_data_sets(each, today, running):
            yield without_dsgroup(each)
        if each.out_of_place:
            yield _level_too_low(each)
        if each.kept and each.layer == "cfstruct":
            yield _kept(structure, [each])
        elif each.kept:
            kept_queues.append(each)
    if kept_queues:
        yield _kept(structure, kept_queues)


_SERIOUS: Final = {
    ("QLOCAL", "DEFPSIST"): ("persistent", "messages whose application does not set persistence are lost with the structure or a restart of the group"),
    ("CFSTRUCT", "RECOVER"): ("recover", "MQ can no longer recover the messages of a structure that fails"),
    ("CFSTRUCT", "CFLEVEL"): ("cflevel", "the level determines which messages the structure accepts, and lowering it again needs an outage"),
}  # fmt: skip


def _serious_changes(structure: str, wanted: WantedObject, today: MqObject) -> Iterator[Finding]:
    has = _running_attributes(today)
    for (kind, key), (document_key, why) in _SERIOUS.items():
        known, value = has.get(key), wanted.settings.get(key)
        if kind != wanted.kind or known is None or value is None or same(key, known, value):
            continue
        # More protection loses no message; only less of it needs a warning.
        if key != "CFLEVEL" and (known, value) != ("YES", "NO"):
            continue
        message = f"{wanted.kind}({wanted.name}): {key}({known}) becomes {key}({value}): {why}."
        yield finding(
            "MQ_PROTECTION_CHANGES", message, field=f"{wanted.pointer}/{document_key}", structure=structure
        )


def without_dsgroup(wanted: WantedObject) -> Finding:
    """Return the finding on a structure that gets no ALTER, because it has no DSGROUP."""
    message = (
        f"CFSTRUCT({wanted.name}) would get OFFLOAD(SMDS) without DSGROUP, which MQ rejects: no ALTER is generated for it. "
        "State offload.dsgroup in the plan, or choose another offload method."
    )
    return finding(
        "ALTER_WITHOUT_DSGROUP", message, field=f"{wanted.pointer}/offload/dsgroup", structure=wanted.name
    )


def _level_too_low(wanted: WantedObject) -> Finding:
    level = wanted.settings.get("CFLEVEL")
    stays = f"keeps CFLEVEL({level})" if level else "keeps its CFLEVEL, which no text shows"
    message = (
        f"CFSTRUCT({wanted.name}) {stays}: the plan does not state cflevel. These attributes of the plan need CFLEVEL(5) "
        "and are omitted: "
        f"{', '.join(wanted.out_of_place)}. State cflevel: 5 to raise the level."
    )
    return finding("CFLEVEL_STAYS_LOWER", message, field=f"{wanted.pointer}/cflevel", structure=wanted.name)


_NAMED_QUEUES: Final = 3


def _kept(structure: str, objects: Sequence[WantedObject]) -> Finding:
    parts = []
    for each in objects[:_NAMED_QUEUES]:
        stays = ", ".join(_attribute(key, each.settings[key]) for key in each.kept)
        parts.append(f"{each.kind}({each.name}) keeps {stays}")
    more = len(objects) - _NAMED_QUEUES
    others = (
        f"; {more} more {'queue keeps its' if more == 1 else 'queues keep their'} values" if more > 0 else ""
    )
    planned = ", ".join(_attribute(key, value) for key, value in objects[0].kept.items())
    message = (
        f"{'; '.join(parts)}{others}. The plan does not state this; it was calculated with {planned}{' for the first' if len(objects) > 1 else ''}. "
        "State the value you want in the plan, so that the calculation uses it."
    )
    return finding("UNSTATED_KEPT", message, field=objects[0].pointer, structure=structure)


def cfconlos_steps(result: PlanResult, running: Running) -> Iterator[CommandStep]:
    """Yield an ALTER for each queue manager whose CFCONLOS differs from the plan."""
    planned = result.document.cfconlos
    for name, has in running.cfconlos.items():
        if planned is not None and has != planned:
            why = f"CFCONLOS of {name} is {has}. It applies to CSQ_ADMIN and to structures with CFCONLOS(ASQMGR)."
            command = f"ALTER QMGR CFCONLOS({planned}) CMDSCOPE({name})"
            yield CommandStep("mqsc", command, None, NOW, why, Basis.PUBLISHED, _source("mq_cfconlos"))


def _attributes(given: Attributes) -> str:
    return " ".join(_attribute(key, value) for key, value in given.items())


def _attribute(key: str, value: str) -> str:
    if key == "SHARE":
        return "SHARE" if value == "YES" else "NOSHARE"
    return mqsc_attribute(key, value)
