"""The input of the simulator, in YAML or JSON: a group, its queues and a timeline of calls and commands.

Unknown keys are refused. Attributes that IBM documents with different defaults have no default: DISPLAY QLOCAL shows the
attributes of a queue.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Final, Literal, NoReturn, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from planner_core.depth_events.model import (
    DepthLimits,
    Readings,
    Switches,
)
from planner_core.document.problems import field_problems
from planner_core.document.types import MODEL, MaxDepth, QueueManagerName, QueueName, Switch
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.limits import limit

MOST_QUEUES: Final = 32
MOST_STEPS: Final = 10_000
MOST_ROWS: Final = 50_000
MOST_MAXDEPTH: Final = limit("largest_maxdepth")
LONGEST_S: Final = 10**8
_DECIMALS: Final = 3
_LONGEST_TITLE: Final = 120
WHAT: Final = "The depth event file"

Percent = Annotated[int, Field(ge=0, le=100)]
Messages = Annotated[int, Field(ge=1, le=MOST_MAXDEPTH)]
Times = Annotated[int, Field(ge=1, le=MOST_STEPS)]


def _seconds(value: object) -> Decimal:
    message = f"must be a number of seconds from 0 to {LONGEST_S} with up to {_DECIMALS} decimals"
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        _refuse(message)
    # Converted through its text, because a float is not exactly the decimal number in the file.
    exact = Decimal(str(value))
    if not exact.is_finite() or not 0 <= exact <= LONGEST_S or exact != round(exact, _DECIMALS):
        _refuse(message)
    return exact


def _refuse(message: str) -> NoReturn:
    kind = "cfplan"
    raise PydanticCustomError(kind, "{message}", {"message": message})


Seconds = Annotated[
    Decimal,
    BeforeValidator(_seconds),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": LONGEST_S}),
]


def _one_line(value: str) -> str:
    if not value.isprintable():
        _refuse("must be one line of printable characters")
    return value


class QueueManager(BaseModel):
    """A member of the group."""

    model_config = MODEL

    name: QueueManagerName
    perfmev: Switch
    active: bool = True


class QueueDefinition(BaseModel):
    """A local queue as DISPLAY QLOCAL shows it, and its depth when the timeline begins."""

    model_config = MODEL

    name: QueueName
    qsgdisp: Literal["SHARED", "QMGR", "COPY", "PRIVATE"]
    queue_manager: QueueManagerName | None = None
    # Attributes have no defaults, because IBM documents different ones.
    maxdepth: MaxDepth
    qdepthhi: Percent
    qdepthlo: Percent
    qdphiev: Switch
    qdploev: Switch
    qdpmaxev: Switch
    depth: MaxDepth = 0

    @property
    def is_shared(self) -> bool:
        """Return whether the messages of the queue are in a structure, and all members share its definition."""
        return self.qsgdisp == "SHARED"

    @property
    def limits(self) -> DepthLimits:
        """Return MAXDEPTH and the thresholds."""
        return DepthLimits(maxdepth=self.maxdepth, qdepthhi=self.qdepthhi, qdepthlo=self.qdepthlo)

    @property
    def switches(self) -> Switches:
        """Return the three event attributes."""
        return Switches(qdphiev=self.qdphiev, qdploev=self.qdploev, qdpmaxev=self.qdpmaxev)


class _Step(BaseModel):
    model_config = MODEL

    at: Annotated[Seconds, Field(description="Seconds from the beginning of the timeline.")]


class _Calls(_Step):
    """Identical MQI calls of one queue manager."""

    queue_manager: QueueManagerName
    queue: QueueName
    messages: Messages
    times: Annotated[Times, Field(description="Number of repetitions, every_s seconds apart.")] = 1
    every_s: Seconds | None = None


class Put(_Calls):
    """MQPUT or MQPUT1; puts at MAXDEPTH are rejected with 2053."""

    action: Literal["put"]


class Rejected(_Calls):
    """An MQPUT or MQPUT1 call that fails: with 2053 at MAXDEPTH, or with another reason such as 2192."""

    action: Literal["rejected"]
    reason: Annotated[int, Field(ge=2000, le=9999)] = 2053


class Get(_Calls):
    """Destructive MQGET; gets from an empty queue change nothing."""

    action: Literal["get"]


class Expire(_Calls):
    """Expired messages that an MQGET removes instead of returning them."""

    action: Literal["expire"]


class BackoutPut(_Calls):
    """Puts of a unit of work that is backed out."""

    action: Literal["backout_put"]


class BackoutGet(_Calls):
    """Gets of a unit of work that is backed out."""

    action: Literal["backout_get"]


class AlterQueue(_Step):
    """The command ALTER QLOCAL; absent attributes do not change."""

    action: Literal["alter_queue"]
    queue: QueueName
    maxdepth: MaxDepth | None = None
    qdepthhi: Percent | None = None
    qdepthlo: Percent | None = None
    qdphiev: Switch | None = None
    qdploev: Switch | None = None
    qdpmaxev: Switch | None = None

    @property
    def changes(self) -> dict[str, int | str]:
        """Return the attributes that the command sets."""
        given = self.model_dump(exclude={"at", "action", "queue"}, exclude_none=True)
        return {name: value for name, value in given.items() if isinstance(value, (int, str))}


class AlterQmgr(_Step):
    """The command ALTER QMGR with PERFMEV."""

    action: Literal["alter_qmgr"]
    queue_manager: QueueManagerName
    perfmev: Switch


class Start(_Step):
    """The command START QMGR."""

    action: Literal["start"]
    queue_manager: QueueManagerName


class Stop(_Step):
    """The command STOP QMGR, or a failure of the queue manager."""

    action: Literal["stop"]
    queue_manager: QueueManagerName


class ResetQstats(_Step):
    """RESET QSTATS, or the equivalent PCF command; `*` means CMDSCOPE(*)."""

    action: Literal["reset_qstats"]
    queue: QueueName
    queue_manager: QueueManagerName | Literal["*"]


Call = Put | Rejected | Get | Expire | BackoutPut | BackoutGet
_AnyStep = Call | AlterQueue | AlterQmgr | Start | Stop | ResetQstats
Step = Annotated[_AnyStep, Field(discriminator="action")]
_ACTIONS: Final = [get_args(step.model_fields["action"].annotation)[0] for step in get_args(_AnyStep)]
_NO_ACTION: Final = f"must have an action, one of {', '.join(_ACTIONS)}"
_SENTENCES: Final = {
    "union_tag_invalid": _NO_ACTION,
    "union_tag_not_found": _NO_ACTION,
    "too_short": "must not be empty",
}


class GivenReadings(Readings):
    """The readings of IBM's text that a file chooses."""


class DepthEventFile(BaseModel):
    """A group, its queues and a timeline."""

    model_config = MODEL

    schema_version: Literal[1] = 1
    title: Annotated[str, Field(max_length=_LONGEST_TITLE), AfterValidator(_one_line)] = ""
    queue_managers: Annotated[
        list[QueueManager], Field(min_length=1, max_length=limit("queue_managers_per_group"))
    ]
    queues: Annotated[list[QueueDefinition], Field(min_length=1, max_length=MOST_QUEUES)]
    readings: GivenReadings = GivenReadings()
    timeline: Annotated[list[Step], Field(max_length=MOST_STEPS)]


class Moment:
    """One execution of a step; a repeated step has several. `index` is the step's index in the timeline."""

    __slots__ = ("at", "index", "step")

    def __init__(self, at: Fraction, index: int, step: Any) -> None:  # noqa: ANN401 - any of the steps
        self.at, self.index, self.step = at, index, step


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file (draft 2020-12)."""
    schema = DepthEventFile.model_json_schema(mode="validation")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return {**head, "title": "cfplan depth event file"}


def read_object(document: object) -> DepthEventFile:
    """Validate a parsed file.

    Raises:
        InputInvalid: Every problem with its JSON pointer.
    """
    if not isinstance(document, dict):
        raise _invalid(
            FieldProblem("", "must be an object with the keys queue_managers, queues and timeline")
        )
    try:
        read = DepthEventFile.model_validate(document)
    except ValidationError as error:
        raise _invalid(
            *field_problems(
                error, document, model=DepthEventFile, what="the depth event file", sentences=_SENTENCES
            )
        ) from None
    # Validation follows nested values by recursion.
    except RecursionError:
        raise _invalid(FieldProblem("", "is nested too deeply")) from None
    problems = tuple(_cross_checks(read))
    if problems:
        raise _invalid(*problems)
    return read


def _invalid(*problems: FieldProblem) -> InputInvalid:
    return InputInvalid(WHAT, problems)


def moments(file: DepthEventFile) -> list[Moment]:
    """Return the steps ordered by time; steps at the same time keep the order of the file."""
    found = []
    for index, step in enumerate(file.timeline):
        at = Fraction(step.at)
        if isinstance(step, _Calls):
            every = Fraction(step.every_s or 0)
            found += [Moment(at + nth * every, index, step) for nth in range(step.times)]
        else:
            found.append(Moment(at, index, step))
    # Sorting is stable, so steps at one time stay in the order of the file.
    return sorted(found, key=lambda moment: moment.at)


def _cross_checks(file: DepthEventFile) -> Iterator[FieldProblem]:
    members = {each.name for each in file.queue_managers}
    queues = {each.name: each for each in file.queues}
    yield from _twice("/queue_managers", [each.name for each in file.queue_managers], "queue manager")
    yield from _twice("/queues", [each.name for each in file.queues], "queue")
    for index, queue in enumerate(file.queues):
        yield from _check_queue(f"/queues/{index}", queue, members)
    steps = rows = 0
    for index, step in enumerate(file.timeline):
        at = f"/timeline/{index}"
        yield from _check_names(at, step, members, queues)
        if isinstance(step, _Calls):
            steps += step.times
            rows += step.times
            # Repetitions at one time would be one step with more messages.
            if step.times > 1 and step.every_s is None:
                yield FieldProblem(
                    f"{at}/every_s", "is required with times: the seconds between the repetitions"
                )
        else:
            steps += 1
            # Steps of a queue manager have a row for each queue.
            rows += 1 if isinstance(step, (AlterQueue, ResetQstats)) else len(queues)
        if isinstance(step, AlterQueue) and not step.changes:
            yield FieldProblem(at, "must have an attribute to alter")
    if steps > MOST_STEPS:
        yield FieldProblem(
            "/timeline", f"must not have more than {MOST_STEPS} steps with repetitions, but has {steps}"
        )
    elif rows > MOST_ROWS:
        yield FieldProblem(
            "/timeline",
            f"must not result in more than {MOST_ROWS} rows of switches, but results in {rows} with {len(queues)} queues",
        )


def _twice(at: str, values: list[str], what: str) -> Iterator[FieldProblem]:
    counts = Counter(values)
    for index, value in enumerate(values):
        if counts[value] > 1 and values.index(value) != index:
            yield FieldProblem(f"{at}/{index}/name", f"{what} {value} is defined twice")


def crossed(*, qdepthhi: int, qdepthlo: int) -> str:
    """Return the error of a pair of thresholds; empty if it is valid."""
    if qdepthhi >= qdepthlo:
        return ""
    return f"QDEPTHHI {qdepthhi} is less than QDEPTHLO {qdepthlo}, which MQ does not allow"


def _check_queue(at: str, queue: QueueDefinition, members: set[str]) -> Iterator[FieldProblem]:
    message = crossed(qdepthhi=queue.qdepthhi, qdepthlo=queue.qdepthlo)
    if message:
        yield FieldProblem(f"{at}/qdepthhi", message)
    if queue.is_shared:
        if queue.queue_manager is not None:
            yield FieldProblem(
                f"{at}/queue_manager", "is only for nonshared queues: a shared queue belongs to the group"
            )
    elif queue.queue_manager is None:
        yield FieldProblem(
            f"{at}/queue_manager", "is required for a nonshared queue: the queue manager that holds it"
        )
    elif queue.queue_manager not in members:
        yield FieldProblem(f"{at}/queue_manager", f"{queue.queue_manager} is not one of the queue_managers")


def _check_names(
    at: str,
    step: BaseModel,
    members: set[str],
    queues: dict[str, QueueDefinition],
) -> Iterator[FieldProblem]:
    member, queue = getattr(step, "queue_manager", "*"), getattr(step, "queue", None)
    if member != "*" and member not in members:
        yield FieldProblem(f"{at}/queue_manager", f"{member} is not one of the queue_managers")
        return
    if queue is None:
        return
    found = queues.get(queue)
    if found is None:
        yield FieldProblem(f"{at}/queue", f"{queue} is not one of the queues")
    elif not found.is_shared and member not in ("*", found.queue_manager):
        yield FieldProblem(
            f"{at}/queue_manager",
            f"{queue} is a nonshared queue of {found.queue_manager}; {member} cannot use it",
        )
