"""The command `cfplan cluster explain`."""

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
    add_question,
    read_question,
    write_answer,
)

if TYPE_CHECKING:
    from planner_core.clusters.explain import WaitingExplanation


def add(verb: Command) -> None:
    """Add the command `explain` to the commands of clusters."""
    verb(
        "explain",
        "Explain why messages on the cluster transmission queue were not re-allocated.",
        _add_explain,
    )


def _add_explain(made: argparse.ArgumentParser) -> None:
    from planner_core.clusters.explain import WaitingQuestion

    made.set_defaults(run=_explain)
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
    add_json(made)
    add_fail_on(made)
    add_question(made, WaitingQuestion)


def _explain(arguments: argparse.Namespace) -> int:
    from app.clusters.explaining import answer, read_text, text_of

    def text(name: str) -> str:
        return text_of(sys.stdin.buffer.read()) if name == STANDARD_INPUT else read_text(Path(name))

    found = answer(
        read_question(arguments),
        displays=[(name, text(name)) for name in arguments.files],
        messages=text(arguments.messages),
        messages_name=arguments.messages,
    )
    return write_answer(arguments, found, found.findings, _lines(found))


def _lines(found: WaitingExplanation) -> Iterator[str]:
    from planner_core.clusters.explain import REASONS

    for channel in found.channels:
        counts = ", ".join(f"{count} {REASONS[reason]}" for reason, count in channel.counts.items() if count)
        state = f" {channel.status}" if channel.status else ""
        yield f"{channel.channel or 'no channel'}{state}: {channel.messages}: {counts}"
        if channel.next_retry:
            yield f"    {channel.next_retry.explanation}"
    for each in found.messages:
        queue = each.queue or "no queue name"
        yield f"{each.number:>6}  {queue} for {each.queue_manager or 'no queue manager'}: {REASONS[each.reason]}"
        yield f"        {each.explanation}"
    for problem in found.problems:
        yield f"{problem.text}, line {problem.line}: {problem.message}"
    for assumption in found.assumptions:
        yield f"{assumption.basis.words}: {assumption.what}"
