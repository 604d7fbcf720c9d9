"""The command `cfplan cluster explain`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from app.command_line import STANDARD_INPUT, Command, add_fail_on, add_json, write_answer

if TYPE_CHECKING:
    from planner_core.clusters.explain import WaitingExplanation


def add(verb: Command) -> None:
    """Add the command."""
    made = verb("explain", "Why messages on the cluster transmission queue were not re-allocated.", _explain)
    made.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="DISPLAY CLUSQMGR(*) ALL, QCLUSTER(*) ALL, CHSTATUS(*) ALL, QMGR of the sender; - for standard input",
    )
    made.add_argument(
        "--messages",
        metavar="FILE",
        required=True,
        help="the browse of its cluster transmission queue: a dump (amqsbcg), CSV or JSON",
    )
    made.add_argument("--queue", default="", metavar="QUEUE", help="the queue of messages that name none")
    made.add_argument(
        "--failed-at", default="", metavar="TIME", help="when the channels failed first (ISO; UTC)"
    )
    made.add_argument(
        "--at", default="", metavar="TIME", help="when browse and displays were taken (ISO; UTC)"
    )
    made.add_argument(
        "--mode",
        choices=("seed", "ibm"),
        default="seed",
        help="the eight eliminations of IBM's article (default), or the algorithm of its reference",
    )
    add_json(made)
    add_fail_on(made)


def _explain(arguments: argparse.Namespace) -> int:
    from app.clusters.explaining import ExplanationRequest, answer, read_text, text_of

    def text(name: str) -> str:
        return text_of(sys.stdin.buffer.read()) if name == STANDARD_INPUT else read_text(Path(name))

    found = answer(
        ExplanationRequest(
            displays=[(name, text(name)) for name in arguments.files],
            messages=text(arguments.messages),
            messages_name=arguments.messages,
            mode=arguments.mode,
            queue=arguments.queue,
            failed_at=arguments.failed_at,
            browsed_at=arguments.at,
        )
    )
    return write_answer(arguments, found.as_json(), _lines(found))


def _lines(found: WaitingExplanation) -> Iterator[str]:
    from planner_core.clusters.explain import REASONS

    for channel in found.channels:
        counts = ", ".join(f"{count} {REASONS[reason]}" for reason, count in channel.counts.items() if count)
        state = f" {channel.status}" if channel.status else ""
        yield f"{channel.channel or 'no channel'}{state}: {channel.messages}: {counts}"
        if channel.next_retry:
            yield f"    {channel.next_retry.sentence}"
    for each in found.messages:
        queue = each.message.queue or "no queue named"
        yield f"{each.message.number:>6}  {queue} for {each.queue_manager or 'nobody named'}: {REASONS[each.reason]}"
        yield f"        {each.sentence}"
    for problem in found.problems:
        yield f"{problem.text}, line {problem.line}: {problem.message}"
    for assumption in found.assumptions:
        yield f"{assumption.basis.words}: {assumption.what}"
