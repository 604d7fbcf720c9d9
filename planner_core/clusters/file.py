"""The input of a single decision: one queue as the sending queue manager sees it, in a file or a request body."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, Literal, NoReturn

from pydantic import BaseModel, Field, ValidationError

from planner_core.clusters.model import Message, Situation
from planner_core.document.cluster_entries import (
    ChannelEntry,
    InstanceEntry,
    MqName,
    check_instances,
    check_sender,
    choice,
    with_senders_own,
)
from planner_core.document.cluster_instances import MOST_CHANNELS, Channel
from planner_core.document.problems import field_problems
from planner_core.document.types import MODEL
from planner_core.errors import FieldProblem, InputInvalid

WHAT = "The input of the decision"
MOST_INSTANCES = 1000
# Puts are spread one at a time, so their number determines the time of an answer.
MOST_PUTS = 100_000
_MOST_USES = 10**12


class DecisionChannel(ChannelEntry):
    """A channel and its use."""

    destseqnumber: Annotated[
        int, Field(ge=0, le=_MOST_USES, description="A higher number means more recent use.")
    ] = 0
    destseqfactor: Annotated[
        int, Field(ge=0, le=_MOST_USES, description="Grows by 1000 / CLWLWGHT with every message.")
    ] = 0

    def as_channel(self, *, queue_manager: str, cluster: str) -> Channel:
        """Return the channel for the decision, with its use."""
        plain = super().as_channel(queue_manager=queue_manager, cluster=cluster)
        return replace(plain, last_used=self.destseqnumber, factor=self.destseqfactor)


class DecisionInstance(InstanceEntry):
    """An instance, with the queue-sharing group if it is a shared queue."""

    qsg: Annotated[
        Annotated[str, Field(min_length=1, max_length=4, pattern=r"^[A-Z0-9@#$]+$")] | None,
        Field(description="Queue-sharing group of the queue if the instance is a shared queue."),
    ] = None
    channels: Annotated[
        list[DecisionChannel] | None,
        Field(max_length=16, description="Absent: one channel with MQ's default attributes."),
    ] = None  # type: ignore[assignment]


class Sender(BaseModel):
    """The queue manager that selects the destination."""

    model_config = MODEL
    queue_manager: MqName | None = None
    clusters: Annotated[list[MqName], Field(max_length=MOST_INSTANCES)] = Field(
        default_factory=list,
        description="Clusters to which it belongs; absent: the clusters of the instances.",
    )
    clwluseq: Annotated[Literal["LOCAL", "ANY"], choice("LOCAL", "ANY")] = "LOCAL"
    clwlmruc: Annotated[int, Field(ge=1, le=MOST_CHANNELS)] = MOST_CHANNELS


class MessageEntry(BaseModel):
    """The options of the put; with `held_for`, a message that waits on the cluster transmission queue."""

    model_config = MODEL
    bind: Annotated[Literal["OPEN", "NOTFIXED", "GROUP"], choice("OPEN", "NOTFIXED", "GROUP")] = "NOTFIXED"
    logical_order: Annotated[bool, Field(description="MQPMO_LOGICAL_ORDER.")] = False
    queue_manager_named: Annotated[bool, Field(description="The application names the queue manager.")] = (
        False
    )
    system: Annotated[bool, Field(description="A system message to a system queue.")] = False
    held_for: Annotated[MqName | None, Field(description="Queue manager for which the message waits.")] = None
    channel_fails: Annotated[
        bool | None,
        Field(
            description="Whether the channel is stopping or failing a retry at this moment; absent: derived from its state."
        ),
    ] = None


class DecisionFile(BaseModel):
    """One queue, as the sender sees it."""

    model_config = MODEL
    queue: MqName | None = None
    clwluseq: Annotated[
        Literal["LOCAL", "ANY", "QMGR"],
        choice("LOCAL", "ANY", "QMGR"),
        Field(description="CLWLUSEQ of the sender's own instance."),
    ] = "QMGR"
    choosing: Annotated[
        Literal["queue", "queue_manager"],
        Field(description="`queue_manager`: the message is for a queue manager or an alias of one."),
    ] = "queue"
    came_over_cluster: Annotated[
        bool, Field(description="The message reached the sender over a cluster channel.")
    ] = False
    puts: Annotated[
        int,
        Field(ge=0, le=MOST_PUTS, description="Number of messages to distribute among equal destinations."),
    ] = 0
    sender: Sender = Field(default_factory=Sender)
    message: MessageEntry = Field(default_factory=MessageEntry)
    instances: Annotated[list[DecisionInstance], Field(min_length=1, max_length=MOST_INSTANCES)]

    def situation(self) -> Situation:
        """Return the input of the decision."""
        message = self.message
        instances = with_senders_own(self.instances, self.sender.queue_manager)
        return Situation(
            queue=self.queue or "",
            instances=tuple(entry.as_instance(qsg=entry.qsg or "") for entry in instances),
            channels=tuple(channel for entry in instances for channel in entry.as_channels()),
            clusters=tuple(self.sender.clusters),
            choosing=self.choosing,
            queue_local_use=self.clwluseq,
            queue_manager_local_use=self.sender.clwluseq,
            came_over_cluster=self.came_over_cluster,
            most_channels=self.sender.clwlmruc,
            message=Message(
                bind=message.bind,
                logical_order=message.logical_order,
                names_queue_manager=message.queue_manager_named,
                is_system=message.system,
                held_for=message.held_for or "",
                channel_fails=message.channel_fails,
            ),
        )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the input."""
    return DecisionFile.model_json_schema(mode="validation")


def read_object(parsed: object) -> DecisionFile:
    """Check an input that was parsed from JSON or YAML.

    Raises:
        InputInvalid: Every problem with its JSON pointer.
    """
    if not isinstance(parsed, dict):
        _invalid(
            (FieldProblem("", "must be an object with instances, and optionally queue, sender and message"),)
        )
    try:
        found = DecisionFile.model_validate(parsed)
    except ValidationError as error:
        _invalid(field_problems(error, parsed, model=DecisionFile, what="the input of a decision"))
    # Validation follows nested values by recursion.
    except RecursionError:
        _invalid((FieldProblem("", "it is nested too deeply"),))
    # Validation of the model sees one value at a time; these checks compare several.
    problems = (
        *check_instances(found.instances, "/instances"),
        *check_sender(found.instances, found.sender.queue_manager, "/instances"),
        *_check_message(found),
    )
    if problems:
        _invalid(problems)
    return found


def _check_message(found: DecisionFile) -> Iterator[FieldProblem]:
    held = found.message.held_for
    if held is not None and held not in {entry.queue_manager for entry in found.instances}:
        yield FieldProblem("/message/held_for", f"none of the instances is on {held}")
    if held is None and found.message.channel_fails is not None:
        yield FieldProblem("/message/channel_fails", "is only allowed with held_for")


def _invalid(problems: tuple[FieldProblem, ...]) -> NoReturn:
    raise InputInvalid(WHAT, problems) from None
