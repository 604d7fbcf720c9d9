"""Bring files into the usage history: `python -m spark_jobs.ingest --history URL FILE…`.

Prints JSON lines, the last of them the report; docs/contributing/ingest-protocol.md describes them. Each file is
committed whole or not at all: end the process at any instant, run it again, and the history is as if nothing had been.
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import logging
import sys
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from spark_jobs.history.dumps import RangeOutcome, Task, check_layouts, take_in_process
from spark_jobs.history.facts import RowFacts
from spark_jobs.history.ledger import identity_of
from spark_jobs.history.reporting import (
    EXIT_CODES,
    MOST_PROBLEMS,
    STATUSES,
    Teller,
    accounting_report,
    empty_report,
    facts_report,
    rows_report,
    say,
)
from spark_jobs.history.schema import HistoryError
from spark_jobs.history.staging import TOO_OLD, Part, Source, Stage
from spark_jobs.history.store import FileFacts, History, new_commit_id, shown
from spark_jobs.java import JavaNotFoundError
from spark_jobs.readers import COMPANION_KINDS, KINDS, KindUnknown, NotReadable, ReadResult, detect, read
from spark_jobs.readers.companions import read_qsg_map
from spark_jobs.smf.decode import SPLIT_BYTES, index_dump
from spark_jobs.smf.errors import BrokenChain, LayoutError, NotAnSmfDump

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from planner_core.inputs import Kind
    from spark_jobs.history.ledger import Entry, Ledger
    from spark_jobs.smf.results import DumpIndex

logger = logging.getLogger(__name__)

LOOKED_AT_BYTES = 65_536
CHUNK_BYTES = 4 * 2**20
IN_PROCESS_BELOW_BYTES = 2**30
"""Spark's start costs some seconds: below this the same decoder in this process is done sooner."""


class NeedsAnswers(Exception):
    """The file does not say what has to be known; carries the questions."""

    def __init__(self, asks: dict[str, Any]) -> None:
        super().__init__(" ".join(asks["messages"]))
        self.asks = asks


@dataclass
class Options:
    """What the command line says, for all files."""

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
    progress: bool = False


class Spark:
    """A session that is started when the first file needs it."""

    def __init__(self, options: Options, stack: ExitStack) -> None:
        self._options = options
        self._stack = stack

    @cached_property
    def session(self) -> SparkSession:
        """The session; stopped when the stack is left."""
        from spark_jobs.session import build_session

        folder = self._options.work_dir
        if folder is None:
            folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="cfplan-spark-")))
        # Its log would stand between the lines of this process.
        session = build_session("ingest", work_dir=folder, master=self._options.master)
        self._stack.callback(session.stop)
        return session


@dataclass
class Taken:
    """What reading a file gave, staged and not yet committed."""

    parts: list[Part]
    facts: RowFacts
    used: dict[tuple[str, str], str]
    passed_over: dict[str, int]
    report: dict[str, Any]
    answers: dict[str, Any] = field(default_factory=dict)


def ingest_file(
    path: Path, *, name: str, number: int, files: int, options: Options, history: History, spark: Spark
) -> dict[str, Any]:
    """Bring one file in and return its report; what is wrong with the file is in the report."""
    report = empty_report(name)
    teller = Teller(name, number, files, options.progress)
    try:
        _ingest(path, report=report, options=options, history=history, spark=spark, teller=teller)
    except NeedsAnswers as need:
        say("asks", file=name, **need.asks)
        report |= {"status": "needs_answers", "message": f"{need} Nothing was stored."}
    except (KindUnknown, NotReadable, NotAnSmfDump, LayoutError) as refusal:
        report |= {"status": "not_readable", "message": str(refusal)}
    except HistoryError as error:
        logger.exception("The history could not be used.")
        report |= {"status": "nothing", "message": f"{error} Nothing was stored."}
    except OSError as error:
        report |= {"status": "not_readable", "message": f"The file cannot be read: {error}."}
    teller.end()
    report["seconds"] = teller.seconds
    return report


def _ingest(
    path: Path,
    *,
    report: dict[str, Any],
    options: Options,
    history: History,
    spark: Spark,
    teller: Teller,
) -> None:
    with path.open("rb") as file:
        first = file.read(LOOKED_AT_BYTES)
    kind = options.kind or detect(first, report["file"]).kind
    report |= {"kind": kind, "size_bytes": path.stat().st_size}
    if kind in COMPANION_KINDS:
        _take_companion(path, kind, report)
        return
    teller.begin("indexing")
    index = index_dump(path, split_bytes=options.split_bytes, progress=teller) if kind == "smf" else None
    sha256 = index.sha256 if index else _sha256(path, teller)
    report["sha256"] = sha256
    observed_at = None if index else options.observed_at
    identity = identity_of(sha256, observed_at=observed_at)
    ledger = history.snapshot().ledger
    zone_name = None if index else options.zone_name  # a dump proves its zone itself
    given = {"qsg": _group_texts(options.groups), "kind": options.kind, "zone": zone_name}
    stored = ledger.stored(identity, given=given, keep_from=options.keep_from)
    if stored is not None:
        _already_stored(report, stored, history)
        return
    source = Source(new_commit_id(), report["file"], sha256)
    teller.begin("decoding")
    if index is not None:
        taken = _take_dump(path, index, source, options=options, history=history, spark=spark, teller=teller)
    else:
        taken = _take_other(
            path, kind, source, options=options, history=history, ledger=ledger, teller=teller
        )
    report |= taken.report
    report |= facts_report(taken.facts)
    report["passed_over"] = {reason: count for reason, count in sorted(taken.passed_over.items()) if count}
    unknown = taken.report.pop("unknown", ())
    report.pop("unknown", None)
    if unknown:
        raise NeedsAnswers(_group_asks(unknown, ledger))
    _commit(
        taken,
        report,
        kind=kind,
        identity=identity,
        source=source,
        options=options,
        history=history,
        teller=teller,
    )


def _commit(
    taken: Taken,
    report: dict[str, Any],
    *,
    kind: str,
    identity: str,
    source: Source,
    options: Options,
    history: History,
    teller: Teller,
) -> None:
    if not taken.parts:
        report |= {"status": "nothing", "message": _nothing_sentence(taken.passed_over, options.keep_from)}
        return
    teller.begin("committing")
    teller(0, 1)
    zone_name = None if kind == "smf" else options.zone_name
    answers = {"kind": kind, "qsg": _group_texts(taken.used), "zone": zone_name, **taken.answers}
    facts = FileFacts(
        file_bytes=report["size_bytes"],
        kind=kind,
        answers={name: value for name, value in answers.items() if value},
        identity=identity,
        first_interval_end=taken.facts.first_interval_end,
        last_interval_end=taken.facts.last_interval_end,
        qsgs=taken.facts.qsgs,
        kept_from=options.keep_from if taken.passed_over.get(TOO_OLD) else None,
    )
    report |= {"status": "stored", "commit_id": source.commit_id}

    def kept(comparisons: dict[str, Any], replaced: set[str]) -> dict[str, Any]:
        report.update(rows_report(comparisons))
        report["days"] = sorted({*report["days"], *replaced})
        report["message"] = _stored_sentence(report)
        return report

    history.commit(source, taken.parts, facts, report=kept)
    teller(1, 1)


def _take_dump(
    path: Path,
    index: DumpIndex,
    source: Source,
    *,
    options: Options,
    history: History,
    spark: Spark,
    teller: Teller,
) -> Taken:
    task = Task(
        dump=str(path.absolute()),
        framing=index.framing,
        history=history.url,
        source=source,
        groups=tuple((system, manager, group) for (system, manager), group in sorted(options.groups.items())),
        keep_from=options.keep_from,
    )
    driver, notes = "in-process", []
    outcome: RangeOutcome | None = None
    if index.size_bytes >= options.in_process_below_bytes:
        outcome, refusal = _by_spark(task, index, spark, teller)
        driver = "spark" if outcome else driver
        notes += [f"{refusal} The dump was read in one process instead."] if refusal else []
    if outcome is None:
        outcome = take_in_process(task, progress=teller)
    check_layouts(outcome)
    account = outcome.accounting
    if account.total_bytes != index.content_bytes:
        message = (
            f"{index.content_bytes} bytes of the dump were read and {account.total_bytes} accounted for."
        )
        raise HistoryError(message)
    return Taken(
        parts=outcome.parts,
        facts=outcome.facts,
        used=outcome.used,
        passed_over=dict(outcome.passed_over),
        report={
            "driver": driver,
            "framing": index.framing,
            "records": dict(sorted(outcome.records.items())),
            "notes": notes,
            "unknown": sorted(outcome.unknown),
            **accounting_report(account),
        },
    )


def _by_spark(
    task: Task, index: DumpIndex, spark: Spark, teller: Teller
) -> tuple[RangeOutcome | None, str | None]:
    """Return what Spark made of a dump, or why it could not: one process can still do it."""
    from pyspark.errors import PySparkException

    from spark_jobs.history.by_spark import take_by_spark

    try:
        return take_by_spark(task, index, spark.session, progress=teller), None
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
    teller: Teller,
) -> Taken:
    size = path.stat().st_size
    teller(0, size)
    result = read(
        path, kind, observed_at=options.observed_at, zone=options.zone, qsg_of=options.groups or None
    )
    teller(size, size)
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
    return Taken(
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


def _take_companion(path: Path, kind: Kind, report: dict[str, Any]) -> None:
    """Tell what is in a file that comes with usage; whoever has the site's map takes the entries from the report."""
    report["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    if kind != "qsg_map":
        message = "This is what is true of a simulation, and no usage: nothing of it was read."
        report |= {"status": "not_usage", "message": message}
        return
    found = read_qsg_map(path)
    report["qsg_map"] = [
        {"system_id": system, "queue_manager": manager, "qsg": group}
        for (system, manager), group in sorted(found.items())
    ]
    groups = ", ".join(sorted({group for group in found.values() if group})) or "no group"
    entries = f"{len(found)} queue manager{'' if len(found) == 1 else 's'}"
    report |= {"status": "map_read", "message": f"A map of {entries} to {groups} was read."}


def _groups_of_maps(files: Sequence[Path], options: Options) -> dict[tuple[str, str], str]:
    """The entries of all maps among the files, wherever they stand: the others may need them."""
    found: dict[tuple[str, str], str] = {}
    for path in files:
        with suppress(OSError, KindUnknown, NotReadable):  # the file's own turn tells
            with path.open("rb") as file:
                first = file.read(LOOKED_AT_BYTES)
            if (options.kind or detect(first, path.name).kind) == "qsg_map":
                found |= read_qsg_map(path)
    return found


def _already_stored(report: dict[str, Any], entry: Entry, history: History) -> None:
    kept = history.stored_report(entry.commit_id) or {}
    for name in ("file", "sha256", "size_bytes"):
        kept.pop(name, None)
    report |= kept
    report |= {
        "status": "already_stored",
        "commit_id": entry.commit_id,
        "message": "The usage history has this file already; nothing was changed.",
    }


# ---- questions -------------------------------------------------------------------------------------------------------


def _group_asks(unknown: Sequence[tuple[str, str]], ledger: Ledger) -> dict[str, Any]:
    names = ", ".join(f"{manager} on {system}" for system, manager in unknown)
    return {
        "unknown_qsg": [
            {"system_id": system, "queue_manager": manager, "suggested": ledger.group_of((system, manager))}
            for system, manager in unknown
        ],
        "observed_at": False,
        "zone": False,
        "messages": [
            f"The records do not say which queue-sharing group {names} belong{'s' if len(unknown) == 1 else ''} to; "
            "records carry the group from MQ 10 on."
        ],
    }


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
        return (
            f"All {count} rows are of days before {keep_from}, the first day that the usage history keeps; "
            "keep more days to have them."
        )
    return "Nothing in the file belongs to the usage history."


def _stored_sentence(report: dict[str, Any]) -> str:
    new = sum(counts["new"] for counts in report["rows"].values())
    duplicates = sum(counts["duplicates"] for counts in report["rows"].values())
    conflicts = sum(counts["conflicts"] for counts in report["rows"].values())
    told = f"Stored {new} new row{'s' if new != 1 else ''}"
    if duplicates:
        told += f"; {duplicates} were there already or came twice"
    if conflicts:
        told += (
            f"; {conflicts} contradict{'s' if conflicts == 1 else ''} what was there, and the newer is used"
        )
    return told + "."


# ---- command line ----------------------------------------------------------------------------------------------------


def _sha256(path: Path, teller: Teller) -> str:
    digest, done, total = hashlib.sha256(), 0, path.stat().st_size
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
            done += len(chunk)
            teller(done, total)
    return digest.hexdigest()


def group_entry(text: str) -> tuple[tuple[str, str], str]:
    """Read SID:QMGR=QSG; an empty group says that the queue manager is in none.

    >>> group_entry("SYSA:CSQ1=SQ03")
    (('SYSA', 'CSQ1'), 'SQ03')
    """
    who, equals, group = text.partition("=")
    system, colon, manager = who.partition(":")
    if not (equals and colon and system.strip() and manager.strip()):
        message = f"{text!r} is not of the form SID:QMGR=QSG"
        raise argparse.ArgumentTypeError(message)
    return (system.strip(), manager.strip()), group.strip()


def instant(text: str) -> dt.datetime:
    """Read a time in ISO form, with or without a zone."""
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        message = f"{text!r} is not a time like 2026-11-21T09:00:00+01:00"
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
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass
    message = f"{text!r} is no time zone; give a name such as Europe/Berlin or an offset such as +01:00"
    raise argparse.ArgumentTypeError(message)


def _zones_joined(argv: Sequence[str]) -> list[str]:
    """Write `--zone -06:00` as `--zone=-06:00`: argparse takes what begins with a minus for an option."""
    joined: list[str] = []
    for argument in argv:
        if joined and joined[-1] == "--zone":
            joined[-1] = f"--zone={argument}"
        else:
            joined.append(argument)
    return joined


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m spark_jobs.ingest", description=__doc__)
    add = parser.add_argument
    add("files", type=Path, nargs="+", metavar="FILE")
    add(
        "--history",
        required=True,
        metavar="URL",
        help="path or object-store URL of the usage history; made if need be",
    )
    add(
        "--qsg",
        type=group_entry,
        action="append",
        default=[],
        metavar="SID:QMGR=QSG",
        help="group of a queue manager; empty: in none",
    )
    add("--kind", choices=KINDS, help="what the files are, where detection is wrong")
    add(
        "--observed-at",
        type=instant,
        metavar="TIME",
        help="when displays were taken; a time without zone is in --zone, or UTC",
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
        help="what one Spark task reads (default 64 MiB)",
    )
    add("--work-dir", type=Path, metavar="DIR", help="where Spark may write")
    add(
        "--retention-days",
        type=int,
        metavar="N",
        help="keep this many days, today included, and drop what is older; 0 (default) keeps all",
    )
    add("--progress", action="store_true", help="print progress")
    return parser


def first_kept_day(retention_days: int) -> dt.date | None:
    """Return the first day that is kept, today being the last; nothing where 0 days say that all are."""
    if retention_days == 0:
        return None
    return dt.datetime.now(dt.UTC).date() - dt.timedelta(days=retention_days - 1)


def _options(arguments: argparse.Namespace) -> Options:
    in_zone = zone(arguments.zone) if arguments.zone else None
    observed_at = arguments.observed_at
    if observed_at is not None and observed_at.tzinfo is None:
        observed_at = observed_at.replace(tzinfo=in_zone or dt.UTC)
    keep_from = None
    if arguments.retention_days is not None:
        if arguments.retention_days < 0:
            message = "--retention-days: at least 0"
            raise argparse.ArgumentTypeError(message)
        keep_from = first_kept_day(arguments.retention_days)
    return Options(
        history=arguments.history,
        groups=dict(arguments.qsg),
        kind=arguments.kind,
        observed_at=observed_at,
        zone=in_zone,
        zone_name=arguments.zone,
        master=arguments.master,
        in_process_below_bytes=arguments.in_process_below,
        split_bytes=arguments.split_bytes,
        work_dir=arguments.work_dir,
        keep_from=keep_from,
        progress=arguments.progress,
    )


def main(argv: list[str] | None = None) -> int:
    """Bring the files in, one after the other, and print the report."""
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
            history = History.open(options.history, create=True)
            spark = Spark(options, stack)
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
            dropped = history.retain(keep_from=options.keep_from) if options.keep_from else []
        except HistoryError as error:
            sys.stderr.write(f"{error}\n")
            return EXIT_CODES["nothing"]
    worst = max((report["status"] for report in reports), key=STATUSES.index)
    kept_from = options.keep_from.isoformat() if options.keep_from else None
    say(
        "report",
        status=worst,
        history=shown(history.url),
        files=reports,
        dropped_days=dropped,
        kept_from=kept_from,
    )
    return max(EXIT_CODES[report["status"]] for report in reports)


if __name__ == "__main__":
    sys.exit(main())
