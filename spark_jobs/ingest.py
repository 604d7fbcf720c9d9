"""Ingest files into the usage history: `python -m spark_jobs.ingest --history URL FILE…`.

Prints JSON lines, the last of them the report; docs/contributing/ingest-protocol.md describes them. Each file is
committed completely or not at all: the process can be killed at any time and run again.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import io
import logging
import sys
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from planner_core.contracts.ingest import EXIT_CODES, set_aside_message
from planner_core.inputs import PREVIEW_BYTES
from planner_core.local_time import AHEAD_AT_MOST, TimeNotMeant, check_observed, instant_of, is_ahead
from planner_core.names import ADMIN_STRUCTURE
from spark_jobs.history.dumps import Places, RangeOutcome, Task, check_layouts, take_in_process
from spark_jobs.history.facts import RowFacts
from spark_jobs.history.ledger import identity_of
from spark_jobs.history.option import add_history_option
from spark_jobs.history.reporting import (
    MOST_PROBLEMS,
    ProgressReporter,
    accounting_report,
    decoded_records,
    empty_report,
    facts_report,
    rows_report,
    say,
    verdict_of,
)
from spark_jobs.history.schema import HistoryError
from spark_jobs.history.staging import TOO_OLD, Part, Source, Stage
from spark_jobs.history.store import FileFacts, History, first_kept_day, new_commit_id, shown
from spark_jobs.java import JavaNotFoundError
from spark_jobs.leaving import leave
from spark_jobs.readers import COMPANION_KINDS, KINDS, KindUnknown, NotReadable, ReadResult, detect, read
from spark_jobs.readers.companions import read_qsg_map
from spark_jobs.readers.gatherer import Converted, converted
from spark_jobs.smf.decode import SPLIT_BYTES, index_dump
from spark_jobs.smf.errors import BrokenChain, LayoutError, NotAnSmfDump
from spark_jobs.smf.framing import check_regular
from spark_jobs.smf.unzip import GZIP_MAGIC, UnpackLimits, Unzipped
from spark_jobs.without_pandas import hide_pandas_from_arrow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import SparkSession

    from planner_core.inputs import Kind
    from spark_jobs.history.ledger import Entry, Ledger
    from spark_jobs.smf.results import DumpIndex

logger = logging.getLogger(__name__)

CHUNK_BYTES = 4 * 2**20
CONTRADICTION = "GROUP_CONTRADICTS_MAP"
IN_PROCESS_BELOW_BYTES = 2**30
"""The size below which this process decodes a dump itself: starting Spark takes some seconds, so this finishes
sooner."""


KINDS_WITH_RECORDS = frozenset({"smf", "gatherer_json"})
"""Kinds of files whose records contain their times, so that no time or zone is part of the answers for them."""


class NeedsAnswers(Exception):
    """A file that lacks information that only the user has, with the questions for it."""

    def __init__(self, asks: dict[str, Any]) -> None:
        super().__init__(" ".join(asks["messages"]))
        self.asks = asks


@dataclass
class Options:
    """The options of the command line, the same for all files."""

    history: str
    groups: dict[tuple[str, str], str] = field(default_factory=dict)
    kind: Kind | None = None
    observed_at: dt.datetime | None = None
    zone: dt.tzinfo | None = None
    zone_name: str | None = None
    master: str = "local[*]"
    in_process_below_bytes: int = IN_PROCESS_BELOW_BYTES
    split_bytes: int = SPLIT_BYTES
    work_dir: Path | None = None
    keep_from: dt.date | None = None
    limits: UnpackLimits = field(default_factory=UnpackLimits)
    progress: bool = False


class Spark:
    """A session that is started when the first file needs it."""

    def __init__(self, options: Options, stack: ExitStack) -> None:
        self._options = options
        self._stack = stack

    @cached_property
    def session(self) -> SparkSession:
        """Return the session, started on first use and stopped when the stack is left."""
        from spark_jobs.session import build_session

        folder = self._options.work_dir
        if folder is None:
            folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="cfplan-spark-")))

        session = build_session("ingest", work_dir=folder, master=self._options.master)
        self._stack.callback(session.stop)
        return session


@dataclass
class StagedFile:
    """The staged, not yet committed rows of a file, and the facts for its report."""

    parts: list[Part]
    facts: RowFacts
    used: dict[tuple[str, str], str]
    passed_over: dict[str, int]
    report: dict[str, Any]
    answers: dict[str, Any] = field(default_factory=dict)


def ingest_file(
    path: Path, *, name: str, number: int, files: int, options: Options, history: History, spark: Spark
) -> dict[str, Any]:
    """Ingest one file and return its report, which also contains the errors in the file."""
    report = empty_report(name)
    reporter = ProgressReporter(name, number, files, options.progress)
    try:
        _ingest(path, report=report, options=options, history=history, spark=spark, reporter=reporter)
    except NeedsAnswers as need:
        say("asks", file=name, **need.asks)
        report |= {"status": "needs_answers", "message": f"{need} Nothing was stored."}
    except (KindUnknown, NotReadable, NotAnSmfDump, LayoutError) as refusal:
        report |= {"status": "not_readable", "message": str(refusal)}
    except HistoryError as error:
        # The system's own reason, such as a full disk, needs no traceback.
        of_system = isinstance(error.__cause__, OSError)
        logger.error("The history could not be used: %s", error, exc_info=not of_system)
        # The file is not at fault, so the status must not ask the user for another file. Nor may it look like a file
        # without data, which no one would read again.
        report |= {
            "status": "not_stored",
            "message": f"{error} Nothing was stored. Read the file again later.",
        }
    except OSError as error:
        report |= {
            "status": "not_readable",
            "message": f"The file cannot be read: {error.strerror or error}.",
        }
    reporter.end()
    report["seconds"] = reporter.seconds
    return report


def _ingest(
    path: Path,
    *,
    report: dict[str, Any],
    options: Options,
    history: History,
    spark: Spark,
    reporter: ProgressReporter,
) -> None:
    first = _first_bytes(path)
    kind = options.kind or detect(first, report["file"]).kind
    report |= {"kind": kind, "size_bytes": path.stat().st_size}
    if kind in COMPANION_KINDS:
        _take_companion(path, kind, report, options)
        return
    reporter.begin("indexing")
    index = None
    if kind == "smf":
        index = index_dump(path, split_bytes=options.split_bytes, progress=reporter, limits=options.limits)
    has_records = kind in KINDS_WITH_RECORDS
    sha256 = index.sha256 if index else _sha256(path, reporter, options.limits)
    report["sha256"] = sha256
    # Records have their own times. The time of observation is part of a display's identity; if it were part of a
    # dump's, the same dump could be stored twice.
    observed_at = None if has_records else options.observed_at
    identity = identity_of(sha256, observed_at=observed_at)
    ledger = history.snapshot().ledger
    zone_name = None if has_records else options.zone_name  # records prove their zone themselves
    named = _groups_in(index)
    own = {who: groups[0] for who, groups in named.items() if len(groups) == 1}
    # Groups that the dump names take precedence over the map, and are not answers.
    given = {"qsg": _group_texts(options.groups | own), "kind": options.kind, "zone": zone_name}
    stored = ledger.stored(identity, given=given, keep_from=options.keep_from)
    if stored is not None:
        _already_stored(report, stored, history, options.groups)
        return
    source = Source(new_commit_id(), report["file"], sha256)
    reporter.begin("decoding")
    if index is not None:
        taken = _take_dump(
            path, index, source, own=own, options=options, history=history, spark=spark, reporter=reporter
        )
    elif kind == "gatherer_json":
        taken = _take_json_records(
            path, source, options=options, history=history, spark=spark, reporter=reporter
        )
    else:
        taken = _take_other(
            path, kind, source, options=options, history=history, ledger=ledger, reporter=reporter
        )
    unknown = taken.report.pop("unknown", ())
    report |= taken.report
    report |= facts_report(taken.facts)
    report["findings"] = _findings(taken.facts, named=named, mapped=options.groups)
    report["passed_over"] = {reason: count for reason, count in sorted(taken.passed_over.items()) if count}
    # Ask only now, because one question covers all queue managers without a group, and the last record may name another
    # one.
    if unknown:
        raise NeedsAnswers(_group_asks(unknown, ledger, taken.facts))
    _commit(
        taken,
        report,
        kind=kind,
        identity=identity,
        source=source,
        options=options,
        history=history,
        reporter=reporter,
    )


def _commit(
    taken: StagedFile,
    report: dict[str, Any],
    *,
    kind: str,
    identity: str,
    source: Source,
    options: Options,
    history: History,
    reporter: ProgressReporter,
) -> None:
    if not taken.parts:
        told = _nothing_sentence(taken.passed_over, options.keep_from)
        report |= {"status": "nothing", "message": told + _problem_sentence(report)}
        return
    reporter.begin("committing")
    reporter(0, 1)
    zone_name = None if kind in KINDS_WITH_RECORDS else options.zone_name
    answers = {"kind": kind, "qsg": _group_texts(taken.used), "zone": zone_name, **taken.answers}
    facts = FileFacts(
        file_bytes=report["size_bytes"],
        kind=kind,
        answers={name: value for name, value in answers.items() if value},
        identity=identity,
        first_interval_end=taken.facts.first_interval_end,
        last_interval_end=taken.facts.last_interval_end,
        qsgs=taken.facts.qsgs,
        # Needed only if days were skipped, because a longer retention must then read the file again.
        kept_from=options.keep_from if taken.passed_over.get(TOO_OLD) else None,
    )
    report |= {"status": "stored", "commit_id": source.commit_id}

    # The report is stored with the commit, because another upload of the same file shows it again.
    def kept(comparisons: dict[str, Any], replaced: set[str]) -> dict[str, Any]:
        report.update(rows_report(comparisons))
        report["days"] = sorted({*report["days"], *replaced})
        report["message"] = _stored_sentence(report) + _problem_sentence(report)
        return report

    history.commit(source, taken.parts, facts, report=kept)
    reporter(1, 1)


def _take_dump(
    path: Path,
    index: DumpIndex,
    source: Source,
    *,
    own: Mapping[tuple[str, str], str],
    options: Options,
    history: History,
    spark: Spark,
    reporter: ProgressReporter,
    places: Places | None = None,
) -> StagedFile:
    groups = options.groups | dict(own)
    task = Task(
        dump=str(path.absolute()),
        framing=index.framing,
        history=history.url,
        source=source,
        groups=tuple((system, manager, group) for (system, manager), group in sorted(groups.items())),
        keep_from=options.keep_from,
    )
    driver, notes = "in-process", []
    outcome: RangeOutcome | None = None
    if index.size_bytes >= options.in_process_below_bytes:
        outcome, refusal = _by_spark(task, index, spark, reporter)
        driver = "spark" if outcome else driver
        notes += [f"{refusal} The dump was read in one process instead."] if refusal else []
    if outcome is None:
        outcome = take_in_process(task, progress=reporter, places=places)
    check_layouts(outcome)
    account = outcome.accounting
    # Every byte is decoded, skipped or quarantined. A difference means that records were lost without a trace, and
    # forecasts from such a history would be too low.
    if account.total_bytes != index.content_bytes:
        message = (
            f"{index.content_bytes} bytes of the dump were read and {account.total_bytes} accounted for."
        )
        raise HistoryError(message)
    return StagedFile(
        parts=outcome.parts,
        facts=outcome.facts,
        used={who: group for who, group in outcome.used.items() if who not in own},
        passed_over=dict(outcome.passed_over),
        report={
            "driver": driver,
            "framing": index.framing,
            "records": decoded_records(outcome.records, account),
            "notes": notes,
            "unknown": sorted(outcome.unknown),
            **accounting_report(account),
        },
    )


def _take_json_records(
    path: Path,
    source: Source,
    *,
    options: Options,
    history: History,
    spark: Spark,
    reporter: ProgressReporter,
) -> StagedFile:
    """Stage the records of a JSON document as the dump that has the same values, in this process."""
    size = path.stat().st_size
    reporter(0, size)
    with converted(path, folder=options.work_dir) as found:
        index = index_dump(found.path)
        # Spark's tasks may run on machines without the temporary dump, which is much shorter than the document.
        here = replace(options, in_process_below_bytes=index.size_bytes + 1)
        taken = _take_dump(
            found.path,
            index,
            source,
            own={},
            options=here,
            history=history,
            spark=spark,
            reporter=reporter,
            places=found.with_indexes,
        )
    taken.report["framing"] = "json"
    taken.report["notes"] += found.notes
    _name_records(taken.report["quarantined"], found)
    return taken


def _name_records(quarantined: dict[str, Any], found: Converted) -> None:
    """Name the records that were left out by their index, because no offset leads to them in the document."""
    quarantined["first"] = [
        {**item, "reason": f"record {found.index_at(item['offset'])}: {item['reason']}"}
        for item in quarantined["first"]
    ]


def _by_spark(
    task: Task, index: DumpIndex, spark: Spark, reporter: ProgressReporter
) -> tuple[RangeOutcome | None, str | None]:
    """Return the outcome of a dump read by Spark, or the reason why Spark could not read it."""
    # Import pyspark here: most files are read without Spark, and loading it would delay each of them.
    from pyspark.errors import PySparkException

    from spark_jobs.history.by_spark import take_by_spark

    try:
        return take_by_spark(task, index, spark.session, progress=reporter), None
    except BrokenChain as broken:
        return None, str(broken)
    except (JavaNotFoundError, PySparkException) as error:
        logger.exception("Spark could not be used.")
        return None, f"Spark could not be used: {str(error).splitlines()[0]}"


def _take_other(
    path: Path,
    kind: Kind,
    source: Source,
    *,
    options: Options,
    history: History,
    ledger: Ledger,
    reporter: ProgressReporter,
) -> StagedFile:
    size = path.stat().st_size
    reporter(0, size)
    result = read(
        path, kind, observed_at=options.observed_at, zone=options.zone, qsg_of=options.groups or None
    )
    reporter(size, size)
    if result.asks:
        raise NeedsAnswers(_reader_asks(result, ledger))
    stage: Stage = history.stage(source, keep_from=options.keep_from)
    facts = RowFacts()
    for table, rows in result.tables.items():
        stage.add(table, rows)
        facts.see(rows)
    parts = stage.finish()
    spoken = {(system, manager) for system, manager, _ in facts.queue_managers}
    passed_over = {**result.passed_over}
    passed_over |= {reason: passed_over.get(reason, 0) + count for reason, count in stage.passed_over.items()}
    return StagedFile(
        parts=parts,
        facts=facts,
        used={who: group for who, group in options.groups.items() if who in spoken},
        passed_over=passed_over,
        report={
            "driver": "in-process",
            "records": result.records,
            "notes": list(result.notes),
            "problems": {
                "count": result.problem_count,
                "first": [
                    {"line": problem.line, "message": problem.message}
                    for problem in result.problems[:MOST_PROBLEMS]
                ],
            },
        },
    )


def _first_bytes(path: Path) -> bytes:
    """Read as many bytes of a file as detection needs."""
    check_regular(path)
    with path.open("rb") as file:
        return file.read(PREVIEW_BYTES)


Who = tuple[str, str]
"""A system and a queue manager."""


def _groups_in(index: DumpIndex | None) -> dict[Who, list[str]]:
    """Return the groups that the channel initiators' records in a dump name for each queue manager."""
    named: dict[Who, list[str]] = {}
    for system, manager, group in index.groups if index else ():
        named.setdefault((system, manager), []).append(group)
    return named


def _findings(
    facts: RowFacts, *, named: Mapping[Who, Sequence[str]], mapped: Mapping[Who, str]
) -> list[dict[str, Any]]:
    """Return the findings on a file that was stored, with the groups that its records name and those of the map."""
    found = []
    for (system, manager), groups in named.items():
        if len(groups) > 1:
            message = (
                f"The records of the channel initiator name several queue-sharing groups for {manager} on {system}: "
                f"{', '.join(groups)}. None of them was used; the group comes from the map. To use them, split the dump."
            )
            found.append({"code": "SEVERAL_GROUPS", "severity": "warning", "message": message})
    return [*found, *_contradictions(facts.queue_managers, mapped), *_times_ahead(facts)]


def _contradictions(
    queue_managers: Iterable[tuple[str, str, str]], mapped: Mapping[Who, str]
) -> list[dict[str, Any]]:
    """Return a finding for each queue manager whose rows are stored under another group than that of the map."""
    found = []
    for system, manager, group in sorted(queue_managers):
        other = mapped.get((system, manager), group)
        if group and other != group:
            message = (
                f"{manager} on {system} is in {group} according to the records, but in {other or 'no group'} according to "
                f"the map of groups. Its rows were stored under {group}. Correct the map: it applies to records that do not "
                "contain the group."
            )
            found.append({"code": CONTRADICTION, "severity": "warning", "message": message})
    return found


def _times_ahead(facts: RowFacts) -> list[dict[str, Any]]:
    """Return a finding if intervals end in the future."""
    last, now = facts.last_interval_end, dt.datetime.now(dt.UTC)
    if last is None or not is_ahead(last, now=now):
        return []
    days = [day for day in sorted(facts.days) if day > (now + AHEAD_AT_MOST).date().isoformat()]
    first = f", the first of them {days[0]}" if days else ""
    message = (
        f"Some of its intervals end in the future, the last one at {last:%Y-%m-%d %H:%M} UTC; now it is {now:%Y-%m-%d %H:%M} UTC. "
        f"They are on {len(days)} day{'' if len(days) == 1 else 's'} in the future{first}. The clock of the system that wrote them was wrong, or the specified time zone is. They were stored as they are; to remove them, forget the file in the usage history."
    )
    return [{"code": "TIMES_IN_THE_FUTURE", "severity": "warning", "message": message}]


def _take_companion(path: Path, kind: Kind, report: dict[str, Any], options: Options) -> None:
    """Report the content of a file that accompanies usage. The application stores the entries of a QSG map itself."""
    report["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    if kind != "qsg_map":
        message = "This file describes a simulation and contains no usage: nothing was read from it."
        report |= {"status": "not_usage", "message": message}
        return
    found = read_qsg_map(path)
    for (system, manager), group in found.items():
        held = options.groups.get((system, manager), group)
        if held != group:
            message = (
                f"{manager} on {system} is in {group or 'no group'} by this map, but in {held or 'no group'} by another "
                "of the files: use one map. Nothing was read from this file."
            )
            raise NotReadable(message)
    report["qsg_map"] = [
        {"system_id": system, "queue_manager": manager, "qsg": group}
        for (system, manager), group in sorted(found.items())
    ]
    groups = ", ".join(sorted({group for group in found.values() if group})) or "no group"
    entries = f"{len(found)} queue manager{'' if len(found) == 1 else 's'}"
    report |= {"status": "map_read", "message": f"A map of {entries} to {groups} was read."}


def _groups_of_maps(files: Sequence[Path], options: Options) -> dict[tuple[str, str], str]:
    """Return the entries of all QSG maps among the files, wherever they are in the list.

    If two maps contradict each other, the first one is used here; the error is reported for the second file.
    """
    found: dict[tuple[str, str], str] = {}
    for path in files:
        with suppress(
            OSError, KindUnknown, NotReadable, NotAnSmfDump
        ):  # reported when this file is ingested itself
            first = _first_bytes(path)
            if (options.kind or detect(first, path.name).kind) == "qsg_map":
                found = {**read_qsg_map(path), **found}
    return found


def _already_stored(
    report: dict[str, Any], entry: Entry, history: History, mapped: Mapping[Who, str]
) -> None:
    kept = history.stored_report(entry.commit_id) or {}
    # The stored report was made under the name of the earlier upload.
    for name in ("file", "sha256", "size_bytes"):
        kept.pop(name, None)
    if "findings" not in kept:  # of a version that counted skipped records among the others
        skipped = {item["type"]: item["records"] for item in kept.get("skipped", ())}
        records = {kind: count - skipped.get(kind, 0) for kind, count in kept.get("records", {}).items()}
        kept["records"] = {kind: count for kind, count in records.items() if count > 0}
    report |= kept
    # The map may have changed since the file was stored.
    stored = [
        (one["system_id"] or "", one["queue_manager"], one["qsg"] or "") for one in report["queue_managers"]
    ]
    others = [finding for finding in report["findings"] if finding["code"] != CONTRADICTION]
    report |= {
        "findings": [*_contradictions(stored, mapped), *others],
        "status": "already_stored",
        "commit_id": entry.commit_id,
        "message": "The usage history has this file already; nothing was changed.",
    }


# ---- questions -------------------------------------------------------------------------------------------------------


def _group_asks(unknown: Sequence[tuple[str, str]], ledger: Ledger, facts: RowFacts) -> dict[str, Any]:
    """Return questions for groups, with suggestions from other records of the file or from answers to other files."""
    # The group is only suggested: a queue manager of the same name may belong to another group by now.
    of_file = {(system, manager): group for system, manager, group in sorted(facts.queue_managers) if group}
    names = ", ".join(f"{manager} on {system}" for system, manager in unknown)
    in_rmf = only_group_in_rmf(facts)
    return {
        "unknown_qsg": [
            {
                "system_id": system,
                "queue_manager": manager,
                "suggested": of_file.get((system, manager)) or ledger.group_of((system, manager)),
                "in_rmf": in_rmf,
            }
            for system, manager in unknown
        ],
        "observed_at": False,
        "zone": False,
        "messages": [
            f"The records do not show which queue-sharing group {names} belong{'s' if len(unknown) == 1 else ''} to. Records of MQ 10 and later contain the group, and so do those of the channel initiator (115, subtype 231)."
        ],
    }


def only_group_in_rmf(facts: RowFacts) -> str | None:
    """Return the group whose administrative structure is in the records of RMF; None if there is none, or several.

    Every group has this structure. RMF names it as in the policy: the group, filled up to four characters with @, and then
    CSQ_ADMIN.
    """
    groups = {
        name.removesuffix(ADMIN_STRUCTURE).rstrip("@")
        for qsg, _, name in facts.structures
        if not qsg and name.endswith(ADMIN_STRUCTURE)
    }
    return groups.pop() if len(groups) == 1 else None


def _reader_asks(result: ReadResult, ledger: Ledger) -> dict[str, Any]:
    groups = [ask for ask in result.asks if ask.what == "qsg"]
    return {
        "unknown_qsg": [
            {
                "system_id": ask.system_id,
                "queue_manager": ask.queue_manager,
                "suggested": ledger.group_of((ask.system_id or "", ask.queue_manager or "")),
            }
            for ask in groups
        ],
        "observed_at": any(ask.what == "observed_at" for ask in result.asks),
        "zone": any(ask.what == "zone" for ask in result.asks),
        "messages": [ask.message for ask in result.asks],
    }


def _group_texts(groups: dict[tuple[str, str], str]) -> dict[str, str]:
    return {f"{system}:{manager}": group for (system, manager), group in sorted(groups.items())}


def _nothing_sentence(passed_over: dict[str, int], keep_from: dt.date | None) -> str:
    count = passed_over.get(TOO_OLD)
    if count and keep_from:
        return f"All {count} rows are from days before {keep_from}, the first day that the usage history keeps; increase the retention to store them."
    return "Nothing in the file belongs to the usage history."


def _stored_sentence(report: dict[str, Any]) -> str:
    """Return the sentence on stored, replaced and existing rows; rows known from another source are not new."""
    names = ("new", "replacing", "duplicates", "outranked", "conflicts")
    new, replacing, duplicates, outranked, conflicts = (
        sum(counts[name] for counts in report["rows"].values()) for name in names
    )
    told = (
        f"Stored {new} new row{'' if new == 1 else 's'}"
        if new or not duplicates + replacing
        else "Nothing new"
    )
    if replacing:
        told += f"; {replacing} replace{'s' if replacing == 1 else ''} rows from a less trusted source"
    if duplicates - outranked:
        told += f"; {_were(duplicates - outranked)} already stored or duplicated in the file"
    if outranked:
        told += f"; {_were(outranked)} already stored from a more trusted source, which stays in use"
    if conflicts:
        told += f"; {conflicts} contradict{'s' if conflicts == 1 else ''} stored rows, and the newest is used"
    return told + "."


def _problem_sentence(report: dict[str, Any]) -> str:
    """Return the sentence on the first problem with its line, and on the number of further problems."""
    count, first = report["problems"]["count"], report["problems"]["first"]
    if not first:
        return ""
    place = f"Line {first[0]['line']}" if first[0]["line"] else "In the file"
    others = "is 1 more problem" if count - 1 == 1 else f"are {count - 1} more problems"
    more = f" There {others}." if count > 1 else ""
    return f" Not everything was read. {place}: {first[0]['message'].rstrip('.')}.{more}"


def _were(count: int) -> str:
    return f"{count} {'was' if count == 1 else 'were'}"


# ---- command line ----------------------------------------------------------------------------------------------------


def _sha256(path: Path, reporter: ProgressReporter, limits: UnpackLimits) -> str:
    """Return the hash of a file as stored. A compressed file is also decompressed, to check that it can be read."""
    digest, done, total = hashlib.sha256(), 0, path.stat().st_size
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
            done += len(chunk)
            reporter(done, total)
        file.seek(0)
        if file.read(len(GZIP_MAGIC)) == GZIP_MAGIC:
            file.seek(0)
            unpacked = io.BufferedReader(Unzipped(file, limits=limits), CHUNK_BYTES)
            while unpacked.read(CHUNK_BYTES):
                pass
    return digest.hexdigest()


def group_entry(text: str) -> tuple[tuple[str, str], str]:
    """Read SID:QMGR=QSG; an empty group means that the queue manager belongs to no group.

    >>> group_entry("SYSA:CSQ1=SQ03")
    (('SYSA', 'CSQ1'), 'SQ03')
    """
    who, equals, group = text.partition("=")
    system, colon, manager = who.partition(":")
    if not (equals and colon and system.strip() and manager.strip()):
        message = f"{text!r} does not have the form SID:QMGR=QSG"
        raise argparse.ArgumentTypeError(message)
    return (system.strip(), manager.strip()), group.strip()


def groups_of(pairs: Sequence[tuple[tuple[str, str], str]]) -> dict[tuple[str, str], str]:
    """Return the entries as a map; one queue manager cannot be in two groups.

    Raises:
        argparse.ArgumentTypeError: Two entries contradict each other.
    """
    found: dict[tuple[str, str], str] = {}
    for who, group in pairs:
        before = found.setdefault(who, group)
        if before != group:
            message = (
                f"--qsg: {who[1]} on {who[0]} is assigned to {before or 'no group'} and to {group or 'no group'}. "
                "Choose one of them."
            )
            raise argparse.ArgumentTypeError(message)
    return found


def instant(text: str) -> dt.datetime:
    """Read a time in ISO form, with or without a zone."""
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is not a time such as 2026-11-21T09:00:00+01:00"
        raise argparse.ArgumentTypeError(message) from None


def zone(text: str) -> dt.tzinfo:
    """Read a zone: a name such as Europe/Berlin, or an offset such as +01:00."""
    if text[:1] in ("+", "-") or text == "Z":
        try:
            found = dt.datetime.fromisoformat(f"2000-01-01T00:00:00{text}").tzinfo
        except ValueError:
            found = None
        if found is not None:
            return found
    else:
        try:
            return ZoneInfo(text)
        except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: a folder of zones, such as Europe
            pass
    message = f"{text!r} is not a time zone; use a name such as Europe/Berlin or an offset such as +01:00"
    raise argparse.ArgumentTypeError(message)


def _zones_joined(argv: Sequence[str]) -> list[str]:
    """Return the arguments with `--zone -06:00` written as `--zone=-06:00`."""
    joined: list[str] = []
    for argument in argv:
        # argparse treats an argument that begins with a minus as an option.
        if joined and joined[-1] == "--zone":
            joined[-1] = f"--zone={argument}"
        else:
            joined.append(argument)
    return joined


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m spark_jobs.ingest", description=__doc__)
    add = parser.add_argument
    add("files", type=Path, nargs="+", metavar="FILE")
    add_history_option(parser)
    add(
        "--qsg",
        type=group_entry,
        action="append",
        default=[],
        metavar="SID:QMGR=QSG",
        help="group of a queue manager; empty if it is in no group",
    )
    add("--kind", choices=KINDS, help="kind of the files, if detection is wrong")
    add(
        "--observed-at",
        type=instant,
        metavar="TIME",
        help="when displays were taken; a time without a zone is in the zone of --zone, or in UTC",
    )
    add("--zone", metavar="ZONE", help="zone of local times, such as Europe/Berlin or +01:00")
    add(
        "--name",
        action="append",
        default=[],
        metavar="NAME",
        help="name to show for a file, in the order of the files",
    )
    add("--master", default="local[*]", help="Spark master (default local[*])")
    add(
        "--in-process-below",
        type=int,
        default=IN_PROCESS_BELOW_BYTES,
        metavar="BYTES",
        help="smaller dumps are read without Spark (default 1 GiB)",
    )
    add(
        "--split-bytes",
        type=int,
        default=SPLIT_BYTES,
        metavar="BYTES",
        help="amount of data that one Spark task reads (default 64 MiB)",
    )
    add("--work-dir", type=Path, metavar="DIR", help="folder that Spark may write to")
    add(
        "--retention-days",
        type=int,
        metavar="N",
        help="keep this many days, including today, and drop older ones; 0 (default) keeps all",
    )
    limits = UnpackLimits()
    add(
        "--max-unpacked",
        type=int,
        default=limits.most_bytes,
        metavar="BYTES",
        help="refuse a compressed file that is larger than this after decompression (default 512 GiB)",
    )
    add(
        "--max-ratio",
        type=int,
        default=limits.most_ratio,
        metavar="N",
        help="refuse a compressed file that is more than N times as long after decompression (default 250)",
    )
    add("--progress", action="store_true", help="print progress")
    return parser


def _options(arguments: argparse.Namespace) -> Options:
    in_zone = zone(arguments.zone) if arguments.zone else None
    observed_at = arguments.observed_at
    if observed_at is not None:
        try:
            observed = instant_of(observed_at, in_zone, zone_name=arguments.zone or "UTC")
            check_observed(observed, now=dt.datetime.now(dt.UTC))
        except TimeNotMeant as error:
            message = f"--observed-at: {error}"
            raise argparse.ArgumentTypeError(message) from None
        if observed_at.tzinfo is None:
            observed_at = observed_at.replace(tzinfo=in_zone or dt.UTC)
    keep_from = None
    if arguments.retention_days is not None:
        if arguments.retention_days < 0:
            message = "--retention-days: at least 0"
            raise argparse.ArgumentTypeError(message)
        keep_from = first_kept_day(arguments.retention_days)
    return Options(
        history=arguments.history,
        groups=groups_of(arguments.qsg),
        kind=arguments.kind,
        observed_at=observed_at,
        zone=in_zone,
        zone_name=arguments.zone,
        master=arguments.master,
        in_process_below_bytes=arguments.in_process_below,
        split_bytes=arguments.split_bytes,
        work_dir=arguments.work_dir,
        keep_from=keep_from,
        limits=UnpackLimits(arguments.max_unpacked, arguments.max_ratio),
        progress=arguments.progress,
    )


def main(argv: list[str] | None = None) -> int:
    """Ingest the files one after another, and print the report."""
    # Standard output is reserved for the JSON lines.
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(message)s")
    parser = _parser()
    arguments = parser.parse_args(_zones_joined(sys.argv[1:] if argv is None else argv))
    try:
        options = _options(arguments)
    except argparse.ArgumentTypeError as error:
        parser.error(str(error))
    reports = []
    with ExitStack() as stack:
        try:
            history = History.open_kept(options.history, create=True)
            if history.set_aside:
                logger.warning("%s", set_aside_message(history.set_aside))
            spark = Spark(options, stack)
            # Read the maps before the first file, because a map may be listed after the dumps that need it.
            options.groups |= _groups_of_maps(arguments.files, options)
            for number, path in enumerate(arguments.files, start=1):
                name = arguments.name[number - 1] if number <= len(arguments.name) else path.name
                reports.append(
                    ingest_file(
                        path,
                        name=name,
                        number=number,
                        files=len(arguments.files),
                        options=options,
                        history=history,
                        spark=spark,
                    )
                )
        except HistoryError as error:
            sys.stderr.write(f"{error}\n")
            return EXIT_CODES["nothing"]
        dropped = _dropped_days(history, options.keep_from)
    kept_from = options.keep_from.isoformat() if options.keep_from else None
    verdict = verdict_of(reports)
    say(
        "report",
        **verdict,
        history=shown(history.url),
        files=reports,
        dropped_days=dropped,
        kept_from=kept_from,
        set_aside=history.set_aside,
    )
    return int(verdict["exit_code"])


def _dropped_days(history: History, keep_from: dt.date | None) -> list[str]:
    """Apply retention and return the dropped days."""
    try:
        # The files are stored by now; the next ingest applies retention again, so a failure must not fail this one.
        return history.retain(keep_from=keep_from) if keep_from else []
    except HistoryError as error:
        logger.error("Older days were not dropped: %s", error)
        return []


if __name__ == "__main__":
    hide_pandas_from_arrow()
    leave(main())
