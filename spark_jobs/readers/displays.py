"""Convert displays and messages to rows of the history, at the time of their observation.

MQ's and XCF's displays contain no date, so the user is asked for the time of observation. Messages from SYSLOG or
OPERLOG contain a date and time, but no zone; messages from a console contain only a time of day, and are assumed to be
from its last occurrence before the observation.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from planner_core.names import cfrm_structure_name
from planner_core.texts.console import Stamp
from planner_core.texts.mqsc.displays import CfStatus, CfStruct, MqText, read_mq
from planner_core.texts.xcf.displays import DisplayedInstance, StructureDisplay, XcfText, read_xcf
from spark_jobs.history.rows import NOT_IN_GROUP, NOT_LISTS
from spark_jobs.history.schema import ALLOCATION, STRUCTURE_USAGE
from spark_jobs.readers.names import ANY_SYSTEM, NO_GROUP, Groups, QsgMap, ask_group, group_of_display
from spark_jobs.readers.result import Ask, Collector, Value
from spark_jobs.readers.values import NoZone, Zone

_PERCENT: Final = 100
_FROM_MEMORY: Final = {
    "CFSTATUS": (
        "DISPLAY CFSTATUS: the keywords' units are from memory of IBM's manual: SIZEMAX in KB, SIZEUSED in whole percent "
        "of it, ENTSMAX excluding what is in storage-class memory."
    ),
    "CFSTRUCT": "DISPLAY CFSTRUCT: the format of the response is from memory; sizes without a unit are read as KB.",
    "IXC360I": (
        "D XCF,STR: the lines below the allocation time are read from memory of z/OS, because no published sample was found; "
        "the columns and rows of SPACE USAGE are published (APAR PH39578)."
    ),
}


@dataclass(frozen=True, slots=True)
class Observed:
    """The time of observation, as given by the user."""

    at: datetime | None
    zone: tzinfo | None


class DisplayReader:
    """A reader that converts a text to rows."""

    def __init__(self, collector: Collector, *, observed: Observed, qsg_of: QsgMap) -> None:
        self._to = collector
        self._qsg_of = qsg_of
        self._observed_at = observed.at.astimezone(UTC) if observed.at and observed.at.tzinfo else None
        self._zone_info = observed.zone or (observed.at.tzinfo if observed.at else None)
        self._zone = Zone(observed.zone, on_doubt=collector.note)
        if observed.at and not observed.at.tzinfo and observed.zone:
            self._observed_at = self._zone.utc(observed.at)
        self._said: dict[tuple[Value, ...], dict[tuple[tuple[str, str], ...], int]] = {}

    def read(self, text: str) -> bool:
        """Read all known displays and messages in a text; return False if there are none."""
        # A pasted text may contain responses from both.
        xcf, mq = read_xcf(text), read_mq(text)
        for problem in sorted((*xcf.problems, *mq.problems), key=lambda found: found.line):
            self._to.problem(problem.line, problem.message)
        self._mq(mq)
        self._xcf(xcf)
        return not (xcf.is_empty and mq.is_empty)

    # ---- when -----------------------------------------------------------------------------------------------

    def _when(self, stamp: Stamp | None, line: int) -> datetime | None:
        """Return the time of an observation; ask for missing information."""
        if stamp and stamp.day:
            try:
                return self._zone.utc(datetime.combine(stamp.day, stamp.clock))
            except NoZone:
                message = (
                    "In which time zone was the log written? Its lines have dates and times, but no zone."
                )
                self._to.ask(Ask("zone", message))
                return None
            except OverflowError:
                self._to.problem(line, f"{stamp} is not a valid time.")
                return None
        if self._observed_at is None:
            message = "When was this taken? It has no date: enter the time of observation with its zone."
            self._to.ask(Ask("observed_at", message))
            return None
        if stamp and self._zone_info:
            return self._last_before(stamp, self._observed_at, self._zone_info)
        return self._observed_at

    def _last_before(self, stamp: Stamp, observed_at: datetime, zone: tzinfo) -> datetime:
        self._to.note(
            "Messages with a time but no date are assumed to be from the last such time before the observation."
        )
        local = observed_at.astimezone(zone)
        at = datetime.combine(local.date(), stamp.clock, tzinfo=zone)
        if at > local:
            at = datetime.combine(local.date() - timedelta(days=1), stamp.clock, tzinfo=zone)
        return at.astimezone(UTC)

    def _allocated(self, stamp: Stamp | None) -> datetime | None:
        if stamp is None or stamp.day is None:
            return None
        try:
            return self._zone.utc(datetime.combine(stamp.day, stamp.clock))
        except NoZone:
            self._to.note("Allocation times are local, and no zone was specified: left out.")
        except OverflowError:
            pass
        return None

    # ---- rows -----------------------------------------------------------------------------------------------

    def _base(self, source: str, origin: str, line: int, at: datetime | None) -> dict[str, Value]:
        return {
            "source": source,
            "origin": origin,
            "file_record": line,
            "piece": 0,
            "interval_end": at,
            "interval_us": 0,
        }

    def _add(self, table: str, row: dict[str, Value]) -> None:
        """Add a row. Keep conflicting observations of the same structure and time; drop exact duplicates."""
        key = tuple(
            row.get(name)
            for name in (
                "source",
                "queue_manager",
                "structure",
                "xcf_structure",
                "coupling_facility",
                "interval_end",
            )
        )
        said = self._said.setdefault(key, {})
        content = tuple(sorted((name, repr(value)) for name, value in row.items() if name != "file_record"))
        self._to.add(table, {**row, "piece": said.setdefault(content, len(said))})

    def _mq(self, found: MqText) -> None:
        for status in found.statuses:
            self._to.count("DISPLAY CFSTATUS")
            self._to.note(_FROM_MEMORY["CFSTATUS"])
            self._status(status)
        for struct in found.structures:
            self._to.count("DISPLAY CFSTRUCT")
            self._to.note(_FROM_MEMORY["CFSTRUCT"])
            self._struct(struct)

    def _named(self, found: CfStatus | CfStruct) -> dict[str, Value] | None:
        """Return the group and structure; None if the queue manager is in no group or is not named."""
        if found.queue_manager is None:
            message = (
                f"The text does not name the queue manager that reported {found.name}: left out. Paste the complete "
                "response, including its first line, which has CSQM201I and the queue manager's name."
            )
            self._to.problem(found.line, message)
            return None
        group = group_of_display(self._qsg_of, found.queue_manager)
        if group == NO_GROUP:
            self._to.pass_over(NOT_IN_GROUP)
            return None
        if group is None:
            ask_group(self._to, system_id=ANY_SYSTEM, queue_manager=found.queue_manager)
        return {
            "queue_manager": found.queue_manager,
            "qsg": group,
            "structure": found.name,
            "xcf_structure": cfrm_structure_name(qsg_name=group, cfstruct_name=found.name) if group else None,
        }

    def _status(self, found: CfStatus) -> None:
        named = self._named(found)
        if named is None:
            return
        used = None
        if found.size_max_bytes is not None and found.size_used_percent is not None:
            used = found.size_max_bytes * found.size_used_percent // _PERCENT
        entries = found.entries_used
        if entries is not None and found.entries_max is not None and entries > found.entries_max:
            self._to.problem(
                found.line, f"ENTSUSED({entries}) is more than ENTSMAX({found.entries_max}): left out."
            )
            entries = None
        at = self._when(found.stamp if found.stamp and found.stamp.day else None, found.line)
        self._add(
            STRUCTURE_USAGE,
            self._base("display CFSTATUS", "display", found.line, at)
            | named
            | {
                "in_use_kind": "at_end",
                "entries_in_use": entries,
                "entries_total": found.entries_max,
                "size_bytes": found.size_max_bytes,
                "size_used_bytes": used,
                "status": found.status,
                "note": "size_used_bytes from a whole percentage" if used is not None else None,
            },
        )

    def _struct(self, found: CfStruct) -> None:
        named = self._named(found)
        if named is None:
            return
        at = self._when(found.stamp if found.stamp and found.stamp.day else None, found.line)
        self._add(
            ALLOCATION,
            self._base("display CFSTRUCT", "display", found.line, at)
            | named
            | {
                "mq_cflevel": found.cflevel,
                "mq_recover": found.recover,
                "mq_offload": found.offload,
                "mq_offload_rules": " ".join(f"{percent}:{size}" for percent, size in found.rules) or None,
                "mq_dsgroup": found.dsgroup,
                "mq_dsblock_bytes": found.dsblock_bytes,
                "mq_dsbufs": found.dsbufs,
            },
        )

    def _xcf(self, found: XcfText) -> None:
        names = [
            *(each.name for each in found.structures),
            *(each.name for each in found.full_events),
            *(each.name for each in found.allocations),
            *(each.name for each in found.alters),
            *(each.name for each in found.refusals),
        ]
        connections = [
            *(name for each in found.structures for name in each.connectors),
            *(each.connector for each in found.refusals if each.connector),
        ]
        groups = Groups(self._qsg_of, names, connections)
        for structure in found.structures:
            self._to.count("D XCF,STR,STRNAME=")
            self._to.note(_FROM_MEMORY["IXC360I"])
            self._displayed(structure, groups)
        self._messages(found, groups)

    def _displayed(self, found: StructureDisplay, groups: Groups) -> None:
        # MQ has list structures only; caches and locks belong to other products.
        if found.structure_type and "LIST" not in found.structure_type:
            self._to.pass_over(NOT_LISTS)
            return
        at = self._when(found.displayed_at_local if _dated(found.displayed_at_local) else None, found.line)
        policy: dict[str, Value] = {
            "policy_size_bytes": found.policy_size_bytes,
            "policy_initsize_bytes": found.policy_initsize_bytes,
            "policy_minsize_bytes": found.policy_minsize_bytes,
            "full_threshold_pct": found.full_threshold_percent,
            "allow_auto_alter": found.allow_auto_alter,
            "duplex": found.duplex,
            "preference_list": " ".join(found.preflist) or None,
            "exclusion_list": " ".join(found.exclist) or None,
        }
        # A structure that is not allocated still has a policy.
        for instance in found.instances or (DisplayedInstance(found.line),):
            self._add(
                ALLOCATION,
                self._base("display XCF", "display", instance.line, at)
                | self._split(found.name, groups)
                | policy
                | {
                    "coupling_facility": instance.coupling_facility,
                    "allocated_at": self._allocated(instance.allocated_at_local),
                    "is_active": None if instance.role or not found.instances else True,
                    "status": _status_of(found, instance),
                    "size_bytes": instance.size_bytes,
                    "entries_in_use": instance.entries_in_use,
                    "entries_total": instance.entries_total,
                    "elements_in_use": instance.elements_in_use,
                    "elements_total": instance.elements_total,
                    "emcs_in_use": instance.emcs_in_use,
                    "emcs_total": instance.emcs_total,
                },
            )

    def _messages(self, found: XcfText, groups: Groups) -> None:
        for full in found.full_events:
            values: dict[str, Value] = {
                "coupling_facility": full.coupling_facility,
                "full_threshold_pct": full.threshold_percent,
                "entries_in_use": full.entries_in_use,
                "entries_total": full.entries_total,
                "elements_in_use": full.elements_in_use,
                "elements_total": full.elements_total,
                "emcs_in_use": full.emcs_in_use,
                "emcs_total": full.emcs_total,
            }
            self._message("IXC585E", full.name, full.stamp, full.line, groups, values)
        for made in found.allocations:
            if made.structure_type and "LIST" not in made.structure_type.upper():
                self._to.pass_over(NOT_LISTS)
                continue
            values = {
                "coupling_facility": made.coupling_facility,
                "size_bytes": made.size_bytes,
                "size_max_bytes": made.max_size_bytes,
                "policy_size_bytes": made.policy_size_bytes,
                "policy_initsize_bytes": made.policy_initsize_bytes,
                "policy_minsize_bytes": made.policy_minsize_bytes,
                "entries_total": made.entries_total,
                "elements_total": made.elements_total,
                "emcs_total": made.emcs_total,
                "is_active": True,
            } | _ratio(made.entry_to_element_ratio)
            self._message("IXC582I", made.name, made.stamp, made.line, groups, values)
        for alter in found.alters:
            values = {"size_bytes": alter.target_size_bytes, "note": "size_bytes is the target of the alter"}
            values |= _ratio(alter.target_entry_to_element_ratio)
            self._message("IXC588I", alter.name, alter.stamp, alter.line, groups, values)
        for refusal in found.refusals:
            values = {
                "coupling_facility": refusal.coupling_facility,
                "status": refusal.reason,
                "is_active": False,
            }
            self._message("IXL015I", refusal.name, refusal.stamp, refusal.line, groups, values)

    def _message(
        self,
        event: str,
        name: str,
        stamp: Stamp | None,
        line: int,
        groups: Groups,
        values: dict[str, Value],
    ) -> None:
        self._to.count(event)
        base = self._base(f"message {event}", "message", line, self._when(stamp, line))
        self._add(ALLOCATION, base | self._split(name, groups) | {"event": event} | values)

    def _split(self, name: str, groups: Groups) -> dict[str, Value]:
        parts = groups.split(name)
        if parts is None:
            self._to.note(
                f"It is unknown whether {name} is MQ's: stored under XCF's name only, until its group is "
                "in the site's map."
            )
            return {"xcf_structure": name}
        return {"qsg": parts[0], "structure": parts[1], "xcf_structure": name}


def _status_of(found: StructureDisplay, instance: DisplayedInstance) -> str | None:
    """Return the first status line and the instance's heading: both instances of a rebuild share one status."""
    duplexing = "DUPLEXING" if instance.is_duplexed else None
    return " ".join(part for part in (found.status, duplexing, instance.role) if part) or None


def _dated(stamp: Stamp | None) -> bool:
    return stamp is not None and stamp.day is not None


def _ratio(ratio: tuple[int, int] | None) -> dict[str, Value]:
    return {"ratio_entries": ratio[0], "ratio_elements": ratio[1]} if ratio else {}
