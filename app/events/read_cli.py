"""The command `cfplan events read`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from app.command_line import (
    STANDARD_INPUT,
    Command,
    add_fail_on,
    add_json,
    exit_code,
    whole_number,
    write_json,
    write_lines,
)

if TYPE_CHECKING:
    from planner_core.depth_events.reading import EventReading
    from planner_core.depth_events.sets import EventSet, SetMember

_LONGEST_WINDOW_S = 3_600


def add_read(verb: Command) -> None:
    """Add the command below `cfplan events`."""
    verb("read", "Read event messages and group them into sets.", _add_options)


def _add_options(made: argparse.ArgumentParser) -> None:
    made.set_defaults(run=_read)
    made.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="amqsevt JSON or text, mq-event-display, PCF (binary or hexadecimal), amqsbcg, dmpmqmsg; - for standard input",
    )
    made.add_argument("--members", default="", metavar="QM1,QM2", help="active queue managers of the group")
    made.add_argument(
        "--perfmev", default="", metavar="QM1=ENABLED,QM2=DISABLED", help="PERFMEV by queue manager"
    )
    made.add_argument(
        "--display",
        action="append",
        default=[],
        metavar="FILE",
        help="output of DISPLAY QLOCAL or DISPLAY QMGR: MAXDEPTH, QDEPTHHI, QDEPTHLO, QSGDISP, PERFMEV",
    )
    made.add_argument(
        "--queue",
        action="append",
        default=[],
        metavar="TEXT",
        help="the same as text: 'QUEUE(SQ1) MAXDEPTH(1000) QDEPTHHI(80) QDEPTHLO(20)'",
    )
    made.add_argument(
        "--depth-before",
        action="append",
        default=[],
        metavar="QUEUE=N",
        help="number of messages on a queue when the counters of its first set were started",
    )
    made.add_argument(
        "--window",
        type=whole_number(0, _LONGEST_WINDOW_S),
        default=5,
        metavar="S",
        help="seconds within which messages without a CorrelId form one set (default: 5)",
    )
    add_json(made)
    add_fail_on(made)


def _read(arguments: argparse.Namespace) -> int:
    from app.events.reading import checked, file_of, known_from_texts
    from planner_core.depth_events.readers import LARGEST_FILE_BYTES
    from planner_core.depth_events.reading import read_all

    files = [
        ("standard input", checked(sys.stdin.buffer.read(LARGEST_FILE_BYTES + 1), "standard input"))
        if name == STANDARD_INPUT
        else file_of(Path(name))
        for name in arguments.files
    ]
    known = known_from_texts(
        members=arguments.members,
        perfmev=arguments.perfmev,
        # Names of queues are ASCII; other characters occur only in descriptions, which are not read.
        displays=[file_of(Path(name))[1].decode("utf-8", errors="replace") for name in arguments.display],
        typed=arguments.queue,
        depths_before=arguments.depth_before,
        window_s=arguments.window,
    )
    reading = read_all(files, known)
    if arguments.json:
        write_json(reading.as_json())
    else:
        write_lines(_lines(reading))
    return exit_code(reading.findings, arguments.fail_on)


def _lines(reading: EventReading) -> Iterator[str]:
    """Yield the answer for the terminal: one block per set."""
    from planner_core.depth_events.readers import FORMATS

    for file in reading.files:
        more = f", {file.other_events} other events skipped" if file.other_events else ""
        yield f"{file.name}: {FORMATS[file.format]}, {_count(len(file.messages), 'event')}{more}"
    for each in reading.sets:
        yield ""
        yield from _set_lines(each)
    for message in reading.service_interval_events:
        yield f"{message.event} on {message.queue} of {message.queue_manager}: not a depth event, so it is in no set"
    if reading.findings:
        yield ""
    for finding in reading.findings:
        yield f"{finding.severity}: {finding.code}: {finding.message}"
        yield f"  {finding.source}"


def _set_lines(each: EventSet) -> Iterator[str]:
    by = {"correl_id": f"CorrelId {each.correl_id}", "time": "grouped by time", "order": "grouped by order"}
    when = (
        # Formats without a time zone give local times, which must not be read as UTC.
        "" if each.at is None else f"  {each.at:%Y-%m-%d %H:%M:%S}{' local' if each.is_at_local else ' UTC'}"
    )
    yield f"{each.number}  {each.event.title} ({each.event.reason})  {each.queue}{when}  {by[each.grouped_by]}"
    width = max(len(member.queue_manager) for member in each.members)
    for member in each.members:
        yield f"     {member.queue_manager:<{width}}  {_member(member, is_null=member.queue_manager in each.null_events)}"
    for missing in each.missing:
        yield f"     {missing.queue_manager:<{width}}  missing: {missing.words}"
    found = each.reconciliation
    reported = "" if found.reported_depth is None else f", the event shows {found.reported_depth}"
    gap = "" if not found.unreconciled else f", unreconciled {found.unreconciled}"
    if found.computed_depth is None:
        yield f"     previous depth unknown; {found.msg_enq_count} puts, {found.msg_deq_count} gets{reported}"
    else:
        basis = " (assumed)" if found.depth_before_basis == "assumed" else ""
        yield f"     depth {found.depth_before}{basis} + {found.msg_enq_count} - {found.msg_deq_count} = {found.computed_depth}{reported}{gap}"


def _member(member: SetMember, *, is_null: bool) -> str:
    counts = (
        f"{_calls(member.msg_enq_count, 'put')}, {_calls(member.msg_deq_count, 'get')} in {_known(member.time_since_reset_s)} s, "
        f"HighQDepth {_known(member.high_q_depth)}"
    )
    if is_null:
        return f"{counts}: null event"
    puts, gets = member.put_rate_per_s, member.get_rate_per_s
    if puts is None or gets is None:
        return f"{counts}; no rate because the interval is 0 s"
    return f"{counts}; {float(puts):.3g} puts/s, {float(gets):.3g} gets/s"


def _calls(value: int | None, what: str) -> str:
    return "? " + what + "s" if value is None else _count(value, what)


def _known(value: int | None) -> str:
    return "?" if value is None else str(value)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
