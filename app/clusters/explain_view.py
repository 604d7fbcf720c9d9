"""The explanation of waiting messages for its page: a bar chart, groups of messages, and a grid of steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.web.axes import grouped
from app.web.charts import Bar, BarChart, Origin, Part
from planner_core.clusters.answer import QueueDecision
from planner_core.clusters.decide import DecisionStep
from planner_core.clusters.displays import DisplayProblem
from planner_core.clusters.explain import (
    REASONS,
    ExplainedMessage,
    Reason,
    WaitingChannel,
    WaitingExplanation,
)
from planner_core.clusters.model import Candidate
from planner_core.findings import Finding
from planner_core.provenance import Assumption

MOST_GROUPS: Final = 200
MOST_BARS: Final = 30
MOST_PROBLEMS: Final = 100
MOST_GRIDS: Final = 50
_MOST_IDS: Final = 3
_UNNAMED: Final = "no channel"


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """Messages of one channel and queue with the same explanation."""

    count: int
    channel: str
    queue_manager: str
    queue: str
    reason: Reason
    title: str
    sentence: str
    first: datetime | None
    last: datetime | None
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A candidate in a step: the compared value, and whether this or an earlier step eliminated it."""

    value: str
    is_out: bool
    is_gone: bool


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row of the grid: a candidate with its cells in all steps."""

    label: str
    cells: tuple[Cell, ...]
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Grid:
    """The elimination for one queue: a row for each candidate, a column for each step."""

    queue: str
    steps: tuple[DecisionStep, ...]
    rows: tuple[GridRow, ...]
    result: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplanationView:
    """The answer, arranged for the page."""

    summary: str
    queue_manager: str
    chart: BarChart
    legend: tuple[tuple[Reason, str, int], ...]
    channels: tuple[WaitingChannel, ...]
    channels_left_out: int
    reasons: tuple[tuple[Reason, str], ...]
    """The reasons that occur, as columns of the table."""
    groups: tuple[MessageGroup, ...]
    groups_left_out: int
    grids: tuple[Grid, ...]
    grids_left_out: int
    findings: tuple[Finding, ...]
    assumptions: tuple[Assumption, ...]
    problems: tuple[DisplayProblem, ...]
    problems_left_out: int


def explanation_view(found: WaitingExplanation) -> ExplanationView:
    """Return an explanation, arranged for the page."""
    groups = _groups(found.messages)
    counts = found.counts
    reasons = tuple((reason, title) for reason, title in REASONS.items() if counts[reason])
    return ExplanationView(
        summary=_summary(found),
        queue_manager=found.queue_manager,
        chart=_chart(found.channels[:MOST_BARS]),
        legend=tuple((reason, title, counts[reason]) for reason, title in reasons),
        channels=found.channels[:MOST_BARS],
        channels_left_out=max(0, len(found.channels) - MOST_BARS),
        reasons=reasons,
        groups=groups[:MOST_GROUPS],
        groups_left_out=max(0, len(groups) - MOST_GROUPS),
        grids=tuple(_grid(each) for each in found.decisions[:MOST_GRIDS]),
        grids_left_out=max(0, len(found.decisions) - MOST_GRIDS),
        findings=found.findings,
        assumptions=found.assumptions,
        problems=found.problems[:MOST_PROBLEMS],
        problems_left_out=max(0, len(found.problems) - MOST_PROBLEMS),
    )


def _summary(found: WaitingExplanation) -> str:
    messages, channels = len(found.messages), len(found.channels)
    parts = [f"{grouped(count)} {REASONS[reason]}" for reason, count in found.counts.items() if count]
    waits = "1 message waits" if messages == 1 else f"{grouped(messages)} messages wait"
    return f"{waits} for {'1 channel' if channels == 1 else f'{grouped(channels)} channels'}: {', '.join(parts)}."


def _chart(channels: Sequence[WaitingChannel]) -> BarChart:
    return BarChart(
        id="reasons",
        title="Waiting messages by channel and reason",
        description=" ".join(_in_words(each) for each in channels),
        bars=tuple(
            Bar(
                each.channel or _UNNAMED,
                grouped(each.messages),
                tuple(
                    Part(f"reason {reason}", count, f"{grouped(count)} {REASONS[reason]}")
                    for reason, count in each.counts.items()
                ),
            )
            for each in channels
        ),
        is_beside=True,
        origin=Origin(source="the displays that were entered"),
    )


def _in_words(channel: WaitingChannel) -> str:
    parts = [f"{grouped(count)} {REASONS[reason]}" for reason, count in channel.counts.items() if count]
    return f"{channel.channel or _UNNAMED}: {', '.join(parts)}."


def _groups(messages: Iterable[ExplainedMessage]) -> tuple[MessageGroup, ...]:
    alike: dict[tuple[str, str, str, Reason, str], list[ExplainedMessage]] = {}
    for each in messages:
        # The explanation names times and retries, so equal reasons at other times stay separate groups.
        key = each.channel, each.queue_manager, each.queue, each.reason, each.explanation
        alike.setdefault(key, []).append(each)
    order = list(REASONS)
    return tuple(
        _group(members)
        for _, members in sorted(
            alike.items(), key=lambda item: (item[0][0], item[0][2], order.index(item[0][3]), -len(item[1]))
        )
    )


def _group(members: Sequence[ExplainedMessage]) -> MessageGroup:
    first = members[0]
    times = [each.put_at for each in members if each.put_at]
    ids = [each.message_id or f"number {each.number}" for each in members]
    count = len(members)
    return MessageGroup(
        count=count,
        channel=first.channel,
        queue_manager=first.queue_manager,
        queue=first.queue,
        reason=first.reason,
        title=REASONS[first.reason],
        sentence=first.explanation,
        first=min(times, default=None),
        last=max(times, default=None),
        ids=(*ids[:_MOST_IDS], *((f"and {grouped(count - _MOST_IDS)} more",) if count > _MOST_IDS else ())),
    )


def _grid(found: QueueDecision) -> Grid:
    decision = found.decision
    # Steps that were not reached compared nothing: their columns would be empty.
    steps = tuple(step for step in decision.steps if step.reached)
    rows = []
    for candidate in decision.candidates:
        cells = []
        is_gone = False
        for step in steps:
            is_out = any(each.candidate == candidate for each in step.eliminated)
            # An eliminated candidate takes no part in later steps, so it has no value there.
            cells.append(Cell("" if is_gone else value_in(step.id, candidate), is_out, is_gone))
            is_gone = is_gone or is_out
        rows.append(GridRow(candidate.label, tuple(cells), candidate in decision.chosen))
    chosen = ", ".join(each.label for each in decision.chosen)
    result = (
        f"Remaining: {chosen}."
        if chosen
        else "No destination remains: an attempt fails, and messages stay where they are."
    )
    reasons = tuple(
        f"Step {step.step} eliminates {each.candidate.label}: {each.reason}."
        for step in steps
        for each in step.eliminated
    )
    return Grid(found.queue, steps, tuple(rows), result, reasons)


def value_in(step: str, candidate: Candidate) -> str:
    """Return the value that a step compares."""
    return {
        "channel_rank": str(candidate.channel_rank),
        "queue_rank": str(candidate.instance.rank),
        "put": "ENABLED" if candidate.instance.put_enabled else "DISABLED",
        "suspended": "YES" if candidate.suspended else "NO",
        "status": candidate.status.value,
        "netprty": str(candidate.netprty),
        "channel_priority": str(candidate.channel_priority),
        "queue_priority": str(candidate.instance.priority),
        "priority": f"{candidate.instance.priority} queue, {candidate.channel_priority} channel",
        "local": "here" if candidate.is_local else "remote",
    }.get(step, "stays")
