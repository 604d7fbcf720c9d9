"""Checks of collected data: the records that a forecast, a fit or a plan still needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from planner_core import tables
from planner_core.contracts.ingest import FileReport, QueueManagerGroup
from planner_core.findings import Finding, finding

_SHOWN: Final = 5
_SECONDS: Final = 60
_SLACK_S: Final = 60
"""Intervals end when a timer is noticed, so they may be some seconds longer than their setting."""
_FIGURES: Final = tables.constants("collected_data")
_READ: Final = frozenset({"stored", "already_stored", "nothing"})
"""Statuses of files that were read."""
QEST, QESD, QQST, WQ, RMF = "115-2 QEST", "115-2 QESD", "115-216 QQST", "116-", "74-4"


@dataclass(frozen=True, slots=True)
class StructureHistory:
    """What the usage history has about one structure."""

    qsg: str
    structure: str
    first_at: datetime
    last_at: datetime
    has_use: bool
    has_limits: bool
    has_queues: bool


def missing_in_file(report: FileReport, members: Iterable[QueueManagerGroup] = ()) -> Iterator[Finding]:
    """Yield a finding for each kind of record that a dump of SMF records lacks.

    Args:
        report: The report on the file.
        members: The queue managers of the groups, from the map.
    """
    if report.kind != "smf" or report.status not in _READ or not report.records:
        return
    # Reports of earlier versions have no sources; the types of their records must do.
    sources = [each.source for each in report.sources] or list(report.records)
    has_sources = bool(report.sources)
    if not _has(sources, RMF):
        more = " It has 74-4 records, but none with a list structure." if RMF in report.records else ""
        yield lacks_rmf(f"The file has no figures of RMF (74-4).{more}")
    if not _has(sources, QEST if has_sources else "115-2"):
        if "115-2" in report.records:
            more = " It has 115-2 records, but of queue managers that use no structure."
        elif any(record.startswith("115-") for record in report.records):
            more = " It has other records of type 115: statistics of class 1 are not active."
        else:
            more = ""
        yield lacks_structure_statistics(f"The file has no statistics of structures (115-2).{more}")
    if not _has(sources, WQ if has_sources else "116-1") and not _has(
        sources, QQST if has_sources else "115-216"
    ):
        more = (
            " It has 116-0 records, which class 1 of the accounting trace writes; class 3 writes 116-1."
            if "116-0" in report.records and "116-1" not in report.records
            else ""
        )
        yield lacks_queues(f"The file has no records of shared queues (116-1 or 115-216).{more}")
    if has_sources and _has(sources, QEST) and not _has(sources, QESD):
        yield finding(
            "DATA_LACKS_SMDS",
            "The file has no statistics of shared message data sets (QESD in 115-2): none of its queue managers has opened one. That is "
            "complete if no structure has OFFLOAD(SMDS).",
        )
    yield from _long_intervals(report)
    yield from _missing_members(report, members)


def missing_in_history(structures: Sequence[StructureHistory]) -> Iterator[Finding]:
    """Yield a finding for each group and each kind of figure that the usage history lacks."""
    if not structures:
        yield lacks_structure_statistics("The usage history is empty.")
        return
    groups: dict[str, list[StructureHistory]] = {}
    for each in structures:
        groups.setdefault(each.qsg, []).append(each)
    least = _FIGURES["least_forecast_days"].value
    for qsg, found in groups.items():
        if without := [each.structure for each in found if not each.has_limits]:
            yield lacks_rmf(f"{qsg}: the total entries and elements of {_listed(without)} are not known.")
        if without := [each.structure for each in found if not each.has_use]:
            yield lacks_structure_statistics(f"{qsg}: the usage of {_listed(without)} is not known.")
        if without := [each.structure for each in found if not each.has_queues]:
            yield lacks_queues(f"{qsg}: the queues of {_listed(without)} are not measured.")
        if short := [
            each.structure for each in found if each.has_use and (each.last_at - each.first_at).days < least
        ]:
            yield finding(
                "DATA_TOO_SHORT",
                f"{qsg}: the records of {_listed(short)} cover less than {least} days. A forecast needs {least} days with measurements. "
                "Upload older dumps, or the dumps of the next days.",
            )


def lacks_rmf(fact: str) -> Finding:
    """Return the finding on missing records of RMF."""
    return finding(
        "DATA_LACKS_RMF",
        f"{fact} Forecasts need the totals as their limit, and curves are fitted to totals and sizes. Collect 74-4 records "
        "on every system, or upload D XCF,STR,STRNAME= of each structure.",
    )


def lacks_structure_statistics(fact: str) -> Finding:
    """Return the finding on missing statistics of structures."""
    return finding(
        "DATA_LACKS_STRUCTURE_STATISTICS",
        f"{fact} Only 115-2 records contain the highest use in an interval and how often a structure was full. Start the "
        "statistics trace in every queue manager of the group.",
    )


def lacks_queues(fact: str) -> Finding:
    """Return the finding on missing records of queues."""
    return finding(
        "DATA_LACKS_QUEUES",
        f"{fact} A plan from usage needs sizes and rates of messages. Start class 3 of the accounting trace, or, from MQ 9.3, class 5 of the "
        "statistics trace.",
    )


def interval_long(what: str, minutes: int) -> Finding:
    """Return the finding on intervals of RMF that are too long.

    Args:
        what: The beginning of the sentence, up to the number of minutes.
        minutes: The length of the interval.
    """
    return finding(
        "DATA_INTERVAL_LONG",
        f"{what} {minutes} minutes, more than {_FIGURES['longest_useful_interval_minutes'].value}: RMF records what is in a structure at the "
        "end of an interval, so peaks between two ends are missing. Set INTVAL to "
        f"{_FIGURES['recommended_interval_minutes'].value} minutes.",
    )


def is_interval_long(seconds: int) -> bool:
    """Return whether an interval of RMF hides peaks."""
    return seconds > _FIGURES["longest_useful_interval_minutes"].value * _SECONDS + _SLACK_S


def _long_intervals(report: FileReport) -> Iterator[Finding]:
    longest = max(
        (each.longest_interval_s for each in report.sources if each.source.startswith(RMF)), default=0
    )
    if is_interval_long(longest):
        yield interval_long("Intervals of 74-4 records in the file have up to", round(longest / _SECONDS))


def _missing_members(report: FileReport, members: Iterable[QueueManagerGroup]) -> Iterator[Finding]:
    there = {each.queue_manager for each in report.queue_managers}
    groups = {each.qsg for each in report.queue_managers if each.qsg}
    missing: dict[str, list[str]] = {}
    for each in members:
        if each.qsg in groups and each.queue_manager not in there:
            missing.setdefault(each.qsg or "", []).append(_on(each))
    for qsg, found in missing.items():
        yield finding(
            "DATA_LACKS_QUEUE_MANAGER",
            f"The file has no MQ records of {_listed(found)}, which {'is' if len(found) == 1 else 'are'} in {qsg} according to the map. Each "
            "queue manager records only what it saw of a structure: upload its dump too.",
        )
    with_rmf = {each.system_id for each in report.sources if each.source.startswith(RMF)}
    systems = {each.system_id for each in report.queue_managers if each.qsg and each.system_id}
    without = sorted(name for name in systems - with_rmf if name)
    if with_rmf and without:
        yield finding(
            "DATA_LACKS_SYSTEM",
            f"The file has MQ records of {_listed(without)}, but no 74-4 records of {'it' if len(without) == 1 else 'them'}. Each system "
            "records its own requests; sizes and limits come from the system that gathers them for the sysplex.",
        )


def _on(each: QueueManagerGroup) -> str:
    return f"{each.queue_manager} ({each.system_id})" if each.system_id else each.queue_manager


def _has(sources: Iterable[str], beginning: str) -> bool:
    return any(source.startswith(beginning) for source in sources)


def _listed(found: Sequence[str]) -> str:
    names = list(dict.fromkeys(found))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def members_of(entries: Mapping[tuple[str, str], str]) -> tuple[QueueManagerGroup, ...]:
    """Return the queue managers of a map from system and queue manager to group."""
    return tuple(
        QueueManagerGroup(system, manager, qsg or None) for (system, manager), qsg in entries.items()
    )
