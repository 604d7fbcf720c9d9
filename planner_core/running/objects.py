"""MQ's objects today and planned: what differs, and the commands that change it in an order that is safe after each one.

ALTER CFSTRUCT leaves attributes that it does not name as they are, but an ALTER that raises a structure to CFLEVEL(5)
gives it CFCONLOS(TERMINATE) (published), and OFFLOAD(DB2) with all rules off (assumed): not the defaults of DEFINE. So an
ALTER that raises the level or changes offload states all of these attributes at once. Split into two commands, rules
would offload to Db2 until the second one is issued.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from planner_core import tables
from planner_core.document import Queue, Structure
from planner_core.mqsc.commands import read_commands
from planner_core.mqsc.render import mqsc
from planner_core.names import mqsc_value
from planner_core.plan import PlanResult
from planner_core.provenance import Basis, Source
from planner_core.running.state import NEEDS_LEVEL_5, Attributes, MqObject, Running, has_level_5, plain, same
from planner_core.running.steps import NOW, OUTAGE, Difference, Draft, Layer, TakesEffect

_OF_DATA_SETS: Final = ("DSGROUP", "DSBLOCK")
_OFFLOAD: Final = (
    "OFFLOAD",
    *(f"OFFLD{number}{what}" for number in (1, 2, 3) for what in ("TH", "SZ")),
    *_OF_DATA_SETS,
)
_STATED_TOGETHER: Final = frozenset({*_OFFLOAD, "CFCONLOS", "RECAUTO"})
"""What an ALTER states that raises the level or changes offload."""
_IN_USE: Final = frozenset({"SMDS", "BOTH"})
"""OFFLDUSE where messages are in shared message data sets."""
_MAY_NEED_QUOTES: Final = frozenset({"DSGROUP", "BOQNAME"})
_ASSUMED: Final = tables.source("project", "When a change takes effect")


@dataclass(frozen=True, slots=True)
class WantedObject:
    """A CFSTRUCT or a shared queue of the plan, as its MQSC defines it."""

    kind: str
    name: str
    settings: Attributes
    unstated: frozenset[str]
    """Attributes that the plan does not state: what runs stays as it is."""

    @property
    def layer(self) -> Layer:
        """The layer of its differences."""
        return "cfstruct" if self.kind == "CFSTRUCT" else "queue"

    @property
    def structure(self) -> str | None:
        """The CFSTRUCT that it is, or that it is on."""
        return self.name if self.kind == "CFSTRUCT" else self.settings.get("CFSTRUCT")


def wanted_objects(result: PlanResult) -> Mapping[str, Sequence[WantedObject]]:
    """The MQ objects of the plan by kind, read from the very MQSC that it gives."""
    structures = {each.name: each for each in result.document.structures}
    queues = {queue.name: queue for each in result.document.structures for queue in each.queues}
    found: dict[str, list[WantedObject]] = {"CFSTRUCT": [], "QLOCAL": []}
    for command in read_commands(mqsc(result)).commands:
        unstated = (
            _unstated_of_structure(structures[command.name])
            if command.kind == "CFSTRUCT"
            else _unstated_of_queue(queues[command.name])
        )
        settings = command.settings()
        found[command.kind].append(WantedObject(command.kind, command.name, settings, frozenset(unstated)))
    return found


def _unstated_of_structure(structure: Structure) -> Iterator[str]:
    for key, said in (
        ("cfconlos", structure.model_fields_set),
        ("recauto", structure.model_fields_set),
        ("dsexpand", structure.offload.model_fields_set),
    ):
        if key not in said:
            yield key.upper()


def _unstated_of_queue(queue: Queue) -> Iterator[str]:
    said = queue.model_fields_set
    if "share" not in said:
        yield "SHARE"
    if not {"share", "default_share_option"} & said:
        yield "DEFSOPT"


def running_attributes(today: MqObject) -> Attributes:
    """What is known of an object today: below CFLEVEL(5) a CFSTRUCT has no offload, whatever a display shows."""
    if has_level_5(today.attributes) is False:
        return {key: value for key, value in today.attributes.items() if not NEEDS_LEVEL_5.fullmatch(key)}
    return today.attributes


# ---- differences -------------------------------------------------------------------------------------------


def object_differences(
    wanted: WantedObject, today: MqObject | None, running: Running
) -> Iterator[Difference]:
    """What differs between an object today and planned; all of it where the object is not there."""
    has = running_attributes(today) if today else {}
    reference = "mq_cfstruct" if wanted.layer == "cfstruct" else "mq_qlocal"
    for key, value in wanted.settings.items():
        known = has.get(key)
        if (wanted.layer == "queue" and key == "QSGDISP") or (known is not None and same(key, known, value)):
            continue
        if today is not None and key in wanted.unstated and (known is not None or not _raises(wanted, today)):
            continue
        when, basis, source = (
            (NOW, Basis.PUBLISHED, _source(reference, key))
            if today is None
            else _effect(wanted, key, today, running)
        )
        yield Difference(wanted.layer, key, known, value, when, basis, source)


def _source(key: str, section: str = "") -> Source:
    return tables.source(key, section)


def _effect(
    wanted: WantedObject, key: str, today: MqObject, running: Running
) -> tuple[TakesEffect, Basis, Source]:
    has, value = running_attributes(today).get(key), wanted.settings[key]
    if wanted.layer == "queue":
        if key == "CFSTRUCT":
            return OUTAGE, Basis.PUBLISHED, _source("mq_alter_queues", key)
        if key == "INDXTYPE":
            return OUTAGE, Basis.PUBLISHED, _source("mq_alter_queues", key)
        return NOW, Basis.PUBLISHED, _source("mq_qlocal", key)
    published = _source("mq_alter_cfstruct", key)
    if key == "CFLEVEL":
        now, then = plain(key, has), plain(key, value)
        is_lower = isinstance(now, int) and isinstance(then, int) and then < now
        return OUTAGE if is_lower else NOW, Basis.PUBLISHED, published
    if key == "OFFLOAD":
        return NOW, Basis.DERIVED, _source("mq_cfstatus", "OFFLDUSE")
    if key in _OF_DATA_SETS and has and _data_sets_in_use(today, running):
        return OUTAGE, Basis.ASSUMED, _ASSUMED
    return NOW, Basis.PUBLISHED, published


def _data_sets_in_use(today: MqObject, running: Running) -> bool:
    """Whether queue managers may have the shared message data sets of a structure open."""
    if has_level_5(today.attributes) is False:
        return False
    return today.attributes.get("OFFLOAD") != "DB2" or running.offload_use.get(today.name) in _IN_USE


def _raises(wanted: WantedObject, today: MqObject) -> bool:
    """Whether the plan brings a structure to CFLEVEL(5) that is below it, or may be."""
    is_structure = wanted.layer == "cfstruct"
    return is_structure and bool(has_level_5(wanted.settings)) and not has_level_5(today.attributes)


# ---- commands ----------------------------------------------------------------------------------------------


def object_drafts(wanted: Sequence[WantedObject], running: Running) -> Iterator[Draft]:
    """The commands for all objects of one kind, in order."""
    is_formatted = False
    for each in wanted:
        objects = running.cfstructs if each.kind == "CFSTRUCT" else running.queues
        drafts = list(_drafts(each, objects.get(each.name), running))
        is_formatted |= any(draft.kind == "job" for draft in drafts)
        yield from drafts
    if is_formatted:
        why = (
            "Each data set must show ACCESS(ENABLED) and a STATUS other than FAILED and NOTFOUND. DISPLAY CFSTATUS(*) shows "
            "OFFLDUSE(BOTH) as long as messages of the former method are there."
        )
        command = "DISPLAY CFSTATUS(*) TYPE(SMDS)"
        yield Draft("mqsc", command, None, NOW, why, Basis.PUBLISHED, _source("mq_cfstatus", "TYPE(SMDS)"))


def _drafts(wanted: WantedObject, today: MqObject | None, running: Running) -> Iterator[Draft]:
    """DEFINE what is not there, ALTER what differs; what needs an outage is a command of its own."""
    head = f"{wanted.kind}({mqsc_value(wanted.name)})"
    if today is None:
        yield from _data_sets(wanted)
        source = _source("mq_cfstruct" if wanted.layer == "cfstruct" else "mq_qlocal")
        command = f"DEFINE {head} {_attributes(wanted.settings)}"
        why = f"{wanted.name} is not defined yet."
        yield Draft("mqsc", command, wanted.structure, NOW, why, Basis.PUBLISHED, source)
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


def _moved(wanted: WantedObject, today: MqObject) -> Iterator[Draft]:
    """A queue on another structure: MQ does not let ALTER change CFSTRUCT of a shared queue."""
    source = _source("mq_alter_queues", "CFSTRUCT")
    why = (
        f"CFSTRUCT {today.attributes.get('CFSTRUCT')} becomes {wanted.structure}, which ALTER cannot change for a shared queue. Close the queue, "
        "and move its messages to another queue. Without PURGE this command fails while messages are there."
    )
    head = f"QLOCAL({mqsc_value(wanted.name)})"
    yield Draft(
        "mqsc", f"DELETE {head} QSGDISP(SHARED)", wanted.structure, OUTAGE, why, Basis.PUBLISHED, source
    )
    why = (
        f"{wanted.name} on {wanted.structure}, with what the plan knows of it: add its other attributes from DISPLAY "
        f"{head} ALL. Then move its messages back."
    )
    settings = {key: _kept(wanted, today, key, value) for key, value in wanted.settings.items()}
    command = f"DEFINE {head} {_attributes(settings)}"
    yield Draft("mqsc", command, wanted.structure, OUTAGE, why, Basis.PUBLISHED, source)


def _kept(wanted: WantedObject, today: MqObject, key: str, value: str) -> str:
    """The value of today, where the plan does not state one."""
    return running_attributes(today).get(key) or value if key in wanted.unstated else value


def _together(
    wanted: WantedObject, today: MqObject, keys: set[str], *, leave_out: set[str] | frozenset[str]
) -> Attributes:
    """The attributes of an ALTER: what differs, and with offload or a raised level all that belongs to it."""
    is_whole = wanted.layer == "cfstruct" and bool(has_level_5(wanted.settings))
    if is_whole and (keys & set(_OFFLOAD) or _raises(wanted, today)):
        keys = {*keys, *_STATED_TOGETHER} - leave_out
    values = {key: _kept(wanted, today, key, value) for key, value in wanted.settings.items() if key in keys}
    has = running_attributes(today)
    if "DSGROUP" in keys and "DSGROUP" not in values and has.get("DSGROUP") and "OFFLOAD" in values:
        values["DSGROUP"] = has["DSGROUP"]  # the plan names none: that of today is kept, and stated
    return values


def _alter(
    command: str, wanted: WantedObject, today: MqObject, differences: Sequence[Difference], keys: set[str]
) -> Draft:
    ours = [each for each in differences if each.keyword in keys]
    known = [each for each in ours if each.today is not None or not NEEDS_LEVEL_5.fullmatch(each.keyword)]
    # A list of all attributes that a raised level brings would say what the command says.
    listed = known if _raises(wanted, today) and known else ours
    why, when = f"{', '.join(_change(each) for each in listed)}.", ours[0].takes_effect
    if when == OUTAGE:
        why += f" {_why_outage(wanted, keys)}"
    if _raises(wanted, today):
        why += (
            " An ALTER to CFLEVEL(5) sets CFCONLOS(TERMINATE) (published), and OFFLOAD(DB2) with all rules off (from memory) "
            "where it does not say otherwise: this one states all of them. All queue managers must be at MQ 7.1 or higher."
        )
    if "OFFLOAD" in keys and not _raises(wanted, today):
        why += (
            " Messages that are there stay where they are and can still be read; OFFLDUSE(BOTH) of DISPLAY CFSTATUS exists for this time "
            "(derived from that value; IBM's text on it was not found). Rules and method change in one command, so that the rules never "
            "offload by the former method."
        )
    if (
        wanted.settings.get("OFFLOAD") == "SMDS"
        and "DSGROUP" not in command
        and when == NOW
        and keys & set(_OFFLOAD)
    ):
        why += " No DSGROUP is planned: MQ refuses OFFLOAD(SMDS) without one."
    basis = next((each for each in ours if each.basis is Basis.ASSUMED), None)
    basis = basis or next((each for each in ours if each.basis is Basis.DERIVED), ours[0])
    return Draft("mqsc", command, wanted.structure, when, why, basis.basis, basis.source)


def _change(each: Difference) -> str:
    return f"{each.keyword} {f'{each.today} ' if each.today else ''}becomes {each.planned}"


def _why_outage(wanted: WantedObject, keys: set[str]) -> str:
    if wanted.layer == "queue":
        return "The queue must be closed and empty."
    if keys & set(_OF_DATA_SETS):
        return (
            "The shared message data sets must not be in use: stop what uses the queues of the structure, empty the queues, and wait until "
            "DISPLAY CFSTATUS shows OFFLDUSE(NONE)."
        )
    return "The queues of the structure must be closed and empty."


def _needs_data_sets(wanted: WantedObject, today: MqObject, keys: set[str]) -> bool:
    if wanted.settings.get("OFFLOAD") != "SMDS" or not has_level_5(wanted.settings):
        return False
    return bool(keys & {"OFFLOAD", *_OF_DATA_SETS}) or _raises(wanted, today)


def _data_sets(wanted: WantedObject) -> Iterator[Draft]:
    """The job that must have run before a structure offloads to data sets."""
    group = wanted.settings.get("DSGROUP")
    if wanted.settings.get("OFFLOAD") != "SMDS" or not group:
        return
    why = (
        "IDCAMS defines a data set for each queue manager of the group and CSQJUFMT formats it, before anything is offloaded there: "
        "`cfplan whatif smds-job`, or SMDS on the page What if, gives the job."
    )
    command = f"SMDS job: define and format {group} for each queue manager"
    source = _source("mq_smds_setup")
    yield Draft("job", command, wanted.name, NOW, why, Basis.PUBLISHED, source)


def cfconlos_drafts(result: PlanResult, running: Running) -> Iterator[Draft]:
    """CFCONLOS of each queue manager that has another than planned."""
    planned = result.document.cfconlos
    for name, has in running.cfconlos.items():
        if planned is not None and has != planned:
            why = f"CFCONLOS of {name} is {has}: for CSQ_ADMIN and structures with CFCONLOS(ASQMGR)."
            command = f"ALTER QMGR CFCONLOS({planned}) CMDSCOPE({name})"
            yield Draft("mqsc", command, None, NOW, why, Basis.PUBLISHED, _source("mq_cfconlos"))


def _attributes(given: Attributes) -> str:
    return " ".join(_attribute(key, value) for key, value in given.items())


def _attribute(key: str, value: str) -> str:
    if key == "SHARE":
        return "SHARE" if value == "YES" else "NOSHARE"
    return f"{key}({mqsc_value(value) if key in _MAY_NEED_QUOTES else value})"
