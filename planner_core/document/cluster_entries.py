"""Instances and channels of a cluster in plan documents and decision files, with the names of MQ's attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, PlainSerializer, WithJsonSchema

from planner_core.document.cluster_instances import DEFAULT_WEIGHT, Channel, Instance, Status
from planner_core.document.types import MODEL, refuse
from planner_core.errors import FieldProblem

MOST_CHANNELS_OF_ONE = 16
_NAME = r"[A-Za-z0-9./_%]"
_LONGEST_CHANNEL = 20
_LONGEST_NAME = 48


def _matching(what: str, longest: int) -> BeforeValidator:
    pattern = re.compile(rf"{_NAME}{{1,{longest}}}")

    def check(value: object) -> object:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            refuse(f"{what} has 1 to {longest} characters A-Z a-z 0-9 . / _ %, in quotes if it is a number")
        return value

    return BeforeValidator(check)


def _status(value: object) -> Status:
    found = value if isinstance(value, Status) else Status.read(value) if isinstance(value, str) else None
    if found is None:
        refuse(f"must be a channel state: {', '.join(Status)}")
    return found


def _upper(choices: tuple[str, ...]) -> Callable[[object], object]:
    def check(value: object) -> object:
        # YAML reads an unquoted YES or NO as true or false.
        word = {True: "YES", False: "NO"}.get(value) if isinstance(value, bool) else value
        if not isinstance(word, str) or word.upper() not in choices:
            refuse(f"must be {' or '.join(choices)}")
        return word.upper()

    return check


def choice(*words: str) -> Any:  # noqa: ANN401 - an annotation for pydantic
    """Return the annotation of a choice of MQSC keywords, in upper or lower case."""
    return BeforeValidator(_upper(words))


def _name_field(longest: int) -> Any:  # noqa: ANN401
    return Field(min_length=1, max_length=longest)


MqName = Annotated[str, _matching("the name", _LONGEST_NAME), _name_field(_LONGEST_NAME)]
"""Name of a queue, a queue manager or a cluster."""
ChannelName = Annotated[str, _matching("the channel's name", _LONGEST_CHANNEL), _name_field(_LONGEST_CHANNEL)]
Level = Annotated[int, Field(ge=0, le=9)]
"""A value of CLWLRANK, CLWLPRTY or NETPRTY."""
ChannelState = Annotated[
    Status,
    BeforeValidator(_status),
    PlainSerializer(str, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "enum": [str(status) for status in Status]}),
]
PutEnabled = Annotated[Literal["ENABLED", "DISABLED"], choice("ENABLED", "DISABLED")]
YesNo = Annotated[Literal["YES", "NO"], choice("YES", "NO")]


class ChannelEntry(BaseModel):
    """A channel to an instance, as in DISPLAY CLUSQMGR of the sender."""

    model_config = MODEL
    channel: Annotated[
        ChannelName | None, Field(description="Absent: TO. and the name of the queue manager.")
    ] = None
    clwlrank: Level = 0
    clwlprty: Level = 0
    clwlwght: Annotated[int, Field(ge=1, le=99)] = DEFAULT_WEIGHT
    netprty: Level = 0
    status: Annotated[ChannelState, Field(description="State of the channel.")] = Status.RUNNING
    suspend: Annotated[
        YesNo, Field(description="Whether the queue manager is suspended from the cluster.")
    ] = "NO"

    def as_channel(self, *, queue_manager: str, cluster: str) -> Channel:
        """Return the channel for the decision."""
        return Channel(
            # IBM's examples name cluster-receiver channels like this.
            name=self.channel or f"TO.{queue_manager}"[:_LONGEST_CHANNEL],
            queue_manager=queue_manager,
            cluster=cluster,
            rank=self.clwlrank,
            priority=self.clwlprty,
            weight=self.clwlwght,
            netprty=self.netprty,
            status=self.status,
            suspended=self.suspend == "YES",
        )


class InstanceEntry(BaseModel):
    """One instance of the clustered queue, as in DISPLAY QCLUSTER of the sender."""

    model_config = MODEL
    queue_manager: MqName
    cluster: Annotated[
        MqName | None, Field(description="Required if a queue manager has the queue in several clusters.")
    ] = None
    clwlrank: Level = 0
    clwlprty: Level = 0
    put: PutEnabled = "ENABLED"
    local: Annotated[bool, Field(description="The sender's own instance.")] = False
    channels: Annotated[
        list[ChannelEntry] | None,
        Field(
            max_length=MOST_CHANNELS_OF_ONE,
            description="Absent: one channel with MQ's default attributes; none to the local instance.",
        ),
    ] = None

    def as_instance(self, *, qsg: str) -> Instance:
        """Return the instance for the decision."""
        return Instance(
            queue_manager=self.queue_manager,
            cluster=self.cluster or "",
            rank=self.clwlrank,
            priority=self.clwlprty,
            put_enabled=self.put == "ENABLED",
            is_local=self.local,
            qsg=qsg,
        )

    def as_channels(self) -> tuple[Channel, ...]:
        """Return the channels to the instance; the sender's own instance has no default channel."""
        given = self.channels if self.channels is not None else () if self.local else (ChannelEntry(),)
        return tuple(
            entry.as_channel(queue_manager=self.queue_manager, cluster=self.cluster or "") for entry in given
        )


Entry = TypeVar("Entry", bound=InstanceEntry)


def with_senders_own(instances: Sequence[Entry], sender: str | None) -> tuple[Entry, ...]:
    """Return the instances, with the one on the sender marked as local."""
    return tuple(
        each.model_copy(update={"local": True}) if each.queue_manager == sender else each
        for each in instances
    )


def check_sender(instances: Sequence[InstanceEntry], sender: str | None, at: str) -> Iterator[FieldProblem]:
    """Check that the local instance is on the sender."""
    for index, entry in enumerate(instances):
        if entry.local and sender is not None and entry.queue_manager != sender:
            yield FieldProblem(
                f"{at}/{index}/local",
                f"the instance on {entry.queue_manager} is not local: the sender is {sender}",
            )


def check_instances(instances: Sequence[InstanceEntry], at: str) -> Iterator[FieldProblem]:
    """Check for repeated instances, several local ones, and channels with the same name."""
    places: dict[str, list[int]] = {}
    for index, entry in enumerate(instances):
        places.setdefault(entry.queue_manager, []).append(index)
    for queue_manager, indexes in places.items():
        # A queue manager may advertise the queue in several clusters, each with its own attributes.
        clusters = [instances[index].cluster for index in indexes]
        if len(indexes) > 1 and (None in clusters or len(set(clusters)) < len(clusters)):
            yield FieldProblem(
                f"{at}/{indexes[-1]}/queue_manager",
                f"{queue_manager} has the queue twice: enter a different cluster for each instance",
            )
    local = [index for index, entry in enumerate(instances) if entry.local]
    if len({instances[index].queue_manager for index in local}) > 1:
        yield FieldProblem(
            f"{at}/{local[-1]}/local", "there is one sender: only one queue manager can be local"
        )
    for index, entry in enumerate(instances):
        names = [channel.name for channel in entry.as_channels()]
        for place, name in enumerate(names):
            if name in names[:place]:
                yield FieldProblem(
                    f"{at}/{index}/channels/{place}/channel",
                    f"channel {name} occurs twice: enter a different name for each",
                )
