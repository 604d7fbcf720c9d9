"""The commands `cfplan cluster ...`.

The core is imported when a command runs, so that other commands start without it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from app.clusters import explain_cli as explain_command
from app.command_line import (
    STANDARD_INPUT,
    add_fail_on,
    add_json,
    add_question,
    commands_of,
    read_plan,
    read_question,
    write_answer,
)

if TYPE_CHECKING:
    from planner_core.clusters.answer import DecisionAnswer
    from planner_core.clusters.load import ClusterLoadAnswer


def add_cluster(cluster: argparse.ArgumentParser) -> None:
    """Add the verbs of `cfplan cluster`."""
    verb = commands_of(cluster, "verb")
    verb("decide", "Choose among the instances of a clustered queue, step by step.", _add_decide)
    verb(
        "load",
        "Calculate the load of a plan's clusters on its structures, normally and during each failure.",
        _add_load,
    )
    explain_command.add(verb)


def _add_decide(decided: argparse.ArgumentParser) -> None:
    from planner_core.clusters.model import EliminationOrder

    decided.set_defaults(run=_decide)
    decided.add_argument(
        "file", metavar="FILE", help="the queue as the sender sees it (YAML or JSON); - for standard input"
    )
    add_json(decided)
    add_fail_on(decided)
    add_question(decided, EliminationOrder)


def _add_load(loaded: argparse.ArgumentParser) -> None:
    loaded.set_defaults(run=_load)
    loaded.add_argument("file", metavar="PLAN", help="the plan document; - for standard input")
    add_json(loaded)
    add_fail_on(loaded)


def _decide(arguments: argparse.Namespace) -> int:
    from app.clusters import service
    from planner_core.clusters.answer import answer

    mode = read_question(arguments).mode
    if arguments.file == STANDARD_INPUT:
        found = service.decide_text(sys.stdin.buffer.read(), mode=mode)
    else:
        found = answer(service.read_file(Path(arguments.file)), mode=mode)
    return write_answer(arguments, found, found.findings, _lines(found))


def _load(arguments: argparse.Namespace) -> int:
    from app.clusters.service import load_answer
    from app.fits.from_settings import curves_of_settings

    answer = load_answer(read_plan(arguments.file), curves_of_settings)
    return write_answer(arguments, answer, answer.findings, _load_lines(answer))


def _load_lines(answer: ClusterLoadAnswer) -> Iterator[str]:
    from planner_core.units import bytes_to_kib_ceil

    if not answer.flows:
        yield "The plan has no clusters: add them under the key clusters."
    for flow in answer.flows:
        yield f"{flow.cluster} {flow.queue}: {_rate(flow.rate_per_s)} messages a second"
        for queue in flow.physical_queues:
            kind = f"shared queue of {queue.name}" if queue.shared else queue.name
            yield f"  {kind}: {_rate(queue.rate_per_s)} ({_rate(queue.share_percent)} %)"
    for structure in answer.structures:
        yield f"{structure.structure}: {_rate(structure.rate_per_s)} messages a second"
        for each in structure.failures:
            change = each.change_percent
            yield (
                f"  {each.label} fails: {_rate(each.rate_per_s)} a second"
                + (f" ({change:+.1f} %)" if change is not None else "")
                + f"; must hold {each.messages}"
                + ("" if each.holds_in_initsize else ", more than INITSIZE holds")
            )
        worst = structure.survives
        if worst is not None:
            yield (
                f"  survives all failures with at least {bytes_to_kib_ceil(worst.need_bytes)}K "
                f"({worst.messages} messages, {worst.label}); "
                f"recommended: INITSIZE {worst.initsize_kib}K, SIZE {worst.size_kib}K"
            )


def _rate(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def _lines(found: DecisionAnswer) -> Iterator[str]:
    decision = found.decision
    yield f"candidates: {', '.join(candidate.label for candidate in decision.candidates) or 'none'}"
    for step in decision.steps:
        # Steps after the choice of a local instance are not evaluated.
        if not step.reached:
            continue
        yield f"{step.step:>4}  {step.title} ({step.attribute})"
        for item in step.eliminated:
            yield f"        eliminated: {item.candidate.label}: {item.reason}"
        if step.note:
            yield f"        {step.note}"
        if step.eliminated:
            yield f"        remaining: {', '.join(candidate.label for candidate in step.kept) or 'none'}"
    for left_out in decision.dropped:
        yield f"not a candidate: {left_out.what}: {left_out.reason}"
    if found.message is not None:
        yield f"message: {found.message.sentence}"
    yield f"chosen: {', '.join(found.chosen) or 'none: the put fails'}"
    for candidate, each in zip(decision.chosen, found.destinations, strict=True):
        puts = (
            f", {each.puts} of the puts"
            # Zero puts are worth showing only next to destinations that receive some.
            if each.puts or any(other.puts for other in found.destinations)
            else ""
        )
        yield f"  {candidate.label}: {each.share_percent:.2f} %{puts}"
