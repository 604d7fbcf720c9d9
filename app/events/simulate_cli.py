"""The commands `cfplan events ...`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from app.command_line import (
    STANDARD_INPUT,
    add_fail_on,
    add_json,
    commands_of,
    exit_code,
    write_json,
    write_lines,
)
from app.events.advise_cli import add_advise
from app.events.read_cli import add_read

if TYPE_CHECKING:
    from planner_core.depth_events.course import Occurrence, QueueAfterStep, SimulatedMessage, Simulation


def add_events(events: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan events`."""
    verb = commands_of(events, "verb")
    verb(
        "simulate", "Simulate the event messages and switches of a timeline of puts and gets.", _add_simulate
    )
    add_read(verb)
    add_advise(verb)


def _add_simulate(simulated: argparse.ArgumentParser) -> None:
    simulated.set_defaults(run=_simulate)
    simulated.add_argument("file", metavar="FILE", help="the timeline (YAML or JSON); - for standard input")
    add_json(simulated)
    add_fail_on(simulated)


def _simulate(arguments: argparse.Namespace) -> int:
    from app.events.service import read_file, simulate_text
    from planner_core.depth_events.simulate import simulate

    if arguments.file == STANDARD_INPUT:
        simulation = simulate_text(sys.stdin.buffer.read())
    else:
        simulation = simulate(read_file(Path(arguments.file)))
    if arguments.json:
        write_json(simulation.as_json())
    else:
        write_lines(_lines(simulation))
    return exit_code(simulation.findings, arguments.fail_on)


def _lines(simulation: Simulation) -> list[str]:
    """Return the answer for the terminal: one line for each step, its messages below."""
    by_number = {each.number: each for each in simulation.occurrences}
    lines = []
    for row in simulation.switches:
        lines.append(_row_line(row))
        for number in row.occurrences:
            lines += _occurrence_lines(by_number[number])
    for finding in simulation.findings:
        lines += [f"{finding.severity}: {finding.code}: {finding.message}", f"  {finding.source}"]
    return lines


def _row_line(row: QueueAfterStep) -> str:
    from planner_core.depth_events.model import SWITCHES
    from planner_core.wire import plain

    switches = " ".join(name.upper() for name in SWITCHES if getattr(row, name) == "ENABLED")
    did = " ".join(str(part) for part in (row.queue_manager, row.action, row.messages) if part is not None)
    return f"{plain(row.at):>8} s  {row.queue}: {did}; depth {row.depth}; enabled: {switches or 'none'}"


def _occurrence_lines(occurrence: Occurrence) -> list[str]:
    head = (
        f"            {occurrence.event.title} ({occurrence.event.reason}), detected by {occurrence.detector}"
    )
    if not occurrence.written:
        return [f"{head}: no message"]
    return [
        f"{head}: {_messages(occurrence)}",
        *(f"              {_message(each)}" for each in occurrence.written),
    ]


def _messages(occurrence: Occurrence) -> str:
    return f"{occurrence.messages} message{'' if occurrence.messages == 1 else 's'}"


def _message(message: SimulatedMessage) -> str:
    null = ", null event" if message.is_null else ""
    return (
        f"{message.queue_manager}: TimeSinceReset {message.time_since_reset}, HighQDepth {message.high_q_depth}, "
        f"MsgEnqCount {message.msg_enq_count}, MsgDeqCount {message.msg_deq_count}{null}"
    )
