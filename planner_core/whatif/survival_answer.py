"""The question and the answer about the survival of an outage: their fields, and the answer in words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Protocol

from pydantic import Field, computed_field

from planner_core.findings import Finding
from planner_core.provenance import Assumption, Explanation
from planner_core.questions import (
    Absent,
    Explained,
    Label,
    ListOf,
    Metavar,
    Number,
    ParameterReader,
    Rules,
    StructureName,
    Whole,
)
from planner_core.sizing.offload import Rule
from planner_core.sizing.structure_result import StructureResult
from planner_core.texts.tables import table_lines
from planner_core.whatif.survival_model import (
    LONGEST_MINUTES,
)
from planner_core.wire import Answer, Hidden, Omittable

SurvivalStorage = Literal["initsize", "size", "allocated"]
_FULL = 100
_ROWS = 16
_SHARES = (99, 95, 90, 50)
_COUNTS_OF_DAY = (24, 48, 72, 96, 144, 288)
_MOST_DAYS_GIVEN = 31
_COMMA_WITHIN = re.compile(r",[0-9]")
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720)


@dataclass(frozen=True, slots=True)
class PutsOfDay(ParameterReader):
    """The puts of one day in intervals of equal length, such as 24 numbers for hours."""

    longest: ClassVar[int] = 4_000

    def _plain(self, text: str) -> str:
        # 24 numbers such as `1,200 1,500` would be 48 numbers for half hours.
        if _COMMA_WITHIN.search(text) and len(text.split(maxsplit=1)) > 1:
            message = (
                "must have only blanks, or only commas, between its numbers, and no thousands separators"
            )
            raise ValueError(message)
        return " ".join(map(Number()._plain, text.replace(",", " ").split()))

    def _read(self, text: str) -> tuple[Decimal, ...]:
        values = [Number(highest=10**9)._read(each) for each in text.replace(",", " ").split()]
        if len(values) not in _COUNTS_OF_DAY:
            counts = ", ".join(map(str, _COUNTS_OF_DAY[:-1]))
            message = f"must have {counts} or {_COUNTS_OF_DAY[-1]} numbers, the puts of equal parts of a day; it has {len(values)}"
            raise ValueError(message)
        return tuple(values)

    def _schema(self) -> dict[str, Any]:
        return {"type": "string", "maxLength": self.longest}


class SurvivalQuestion(Explained):
    """One length of an outage, and the figures that replace measured ones."""

    what: ClassVar[str] = "The question"

    structure: StructureName = Field(
        None, description="CFSTRUCT name of the application structure; absent: the only one in the plan"
    )
    minutes: Annotated[
        Decimal | Absent,
        Number(highest=LONGEST_MINUTES),
        Metavar("N"),
        Label("Outage", "minutes", "If empty, 60, an assumption."),
    ] = Field(None, description="minutes without gets; absent: 60")
    at: Annotated[SurvivalStorage, Label("Storage")] = Field(
        "initsize",
        description="the storage that fills: INITSIZE, SIZE after an alter, or the entries and elements last measured",
    )
    growth_percent_per_year: Annotated[
        Decimal | Absent,
        Number(lowest=-99, highest=1000),
        Metavar("P"),
        Label("Growth of puts", "% a year", "If empty, from the forecast of the structure."),
    ] = Field(
        None,
        description="growth of the puts, in percent per year; absent: that of the structure's forecast, else none",
    )
    entries_in_use: Annotated[
        int | Absent,
        Whole(),
        Label("In use at the start", "entries", "If empty, as measured at each hour."),
    ] = Field(None, description="list entries in use when the outage begins; absent: as measured, else none")
    message_bytes: Annotated[
        int | Absent,
        Whole(highest=100 * 2**20),
        Metavar("BYTES"),
        Label("Message size", "bytes", "Only for puts given below. If empty, the plan's sizes."),
    ] = Field(None, description="size of each message, for puts given with `day`; absent: the plan's sizes")
    rules: Annotated[tuple[Rule, ...] | Absent, Rules(), Metavar("TH:SZ")] = Field(
        None,
        alias="rule",
        description="an offload rule that replaces the plan's, such as 70:32K; up to three",
    )
    days: Annotated[
        tuple[tuple[Decimal, ...], ...] | Absent,
        ListOf(PutsOfDay(), most=_MOST_DAYS_GIVEN),
        Metavar("PUTS"),
    ] = Field(
        None,
        alias="day",
        description="the puts of one day in 24, 48, 72, 96, 144 or 288 equal intervals, separated by blanks; repeat "
        "it for more days; absent: the measured usage of the structure",
    )


# ---- measured usage --------------------------------------------------------------------------------------------------


class MeasuredHour(NamedTuple):
    """One measured hour: puts and their list elements by band of message sizes, and the fill.

    `puts` is None if no record of a queue covers the hour.
    """

    hour: datetime
    puts: tuple[float, ...] | None
    elements: tuple[float, ...]
    entries_in_use: int | None
    elements_in_use: int | None


class MeasuredGrowth(NamedTuple):
    """The growth of a forecast in 30 days, as shares."""

    p10: float
    p50: float
    p90: float
    made_on: date


@dataclass(frozen=True, slots=True)
class MeasuredUsage:
    """The measured usage of a structure."""

    hours: tuple[MeasuredHour, ...]
    entries_total: int | None = None
    elements_total: int | None = None
    growth: MeasuredGrowth | None = None


class Measurements(Protocol):
    """A function that returns the measured usage of a structure; None if it was never measured."""

    def __call__(
        self, qsg: str, structure: str, *, edges: Sequence[int], header_bytes: int, most_days: int
    ) -> MeasuredUsage | None:
        """Return the usage, with puts in the bands between `edges`, of at most the last days."""
        ...


def no_measurements(
    qsg: str, structure: str, *, edges: Sequence[int], header_bytes: int, most_days: int
) -> MeasuredUsage | None:
    """Return None; used where there is no database."""
    del qsg, structure, edges, header_bytes, most_days
    return None


# ---- the answer ------------------------------------------------------------------------------------------------------

Probability = Annotated[
    float, Field(description="A share from 0 to 1, rounded to four decimals.", ge=0, le=1)
]
Bound = Annotated[
    float | None,
    Field(description="The bound of the 90 % interval; null if there are too few days for an interval."),
]


@dataclass(frozen=True, slots=True)
class SurvivalPoint(Answer):
    """The probability of surviving an outage of one length."""

    minutes: float
    probability: Probability
    low: Bound
    high: Bound

    @property
    def bounds(self) -> str:
        """Return the interval as text; empty if there is none."""
        if self.low is None or self.high is None:
            return ""
        return f"{percent(self.low)} to {percent(self.high)}"


WHOLE_MINUTES_FROM = 10
"""Length from which a survived outage is shown in whole minutes."""


@dataclass(frozen=True, slots=True)
class SurvivedOutage(Answer):
    """The longest outage that is survived with a probability."""

    percent: int
    minutes: Annotated[
        float | None, Field(description="Rounded down to a tenth; null if longer than seven days.")
    ]

    @property
    def in_words(self) -> str:
        """The length for readers, in whole minutes: a tenth would be more precise than the measurements."""
        if self.minutes is None:
            return "more than seven days"
        # Rounded down, because a longer outage is not survived with this probability.
        return (
            f"{int(self.minutes)} minutes"
            if self.minutes >= WHOLE_MINUTES_FROM
            else f"{self.minutes:g} minutes"
        )


@dataclass(frozen=True, slots=True)
class SurvivalCurve(Answer):
    """The probability of survival over the length of the outage, with one set of offload rules."""

    rules: tuple[Rule, ...]
    requested: Annotated[SurvivalPoint, Field(description="The requested length of the outage.")]
    series: tuple[SurvivalPoint, ...]
    longest: tuple[SurvivedOutage, ...]

    def round_points(self) -> tuple[SurvivalPoint, ...]:
        """Return the points for a table: the requested length, and round ones up to where no outage is survived."""
        last = self.series[-1].minutes
        ends = next((each.minutes for each in self.series if not each.probability), last)
        step = next((each for each in _STEPS if ends / each <= _ROWS), _STEPS[-1])
        return tuple(
            each
            for each in self.series
            if each.minutes == self.requested.minutes
            or (0 < each.minutes <= ends + step and not each.minutes % step)
        )


@dataclass(frozen=True, slots=True)
class GrowthBasis(Answer):
    """The growth of puts until the outage [percent per year], and its source."""

    p10: Annotated[float, Field(description="Slow growth.")]
    p50: Annotated[float, Field(description="Median growth.")]
    p90: Annotated[float, Field(description="Fast growth.")]
    source: Literal["forecast", "given", "none"]
    made_on: Annotated[date | None, Field(description="Day of the forecast.")] = None


@dataclass(frozen=True, slots=True)
class SurvivalBasis(Answer):
    """The figures behind the probability."""

    source: Literal["measured", "given", "none"]
    days: Annotated[int, Field(description="Days from which outages begin.")]
    days_left_out: Annotated[
        int, Field(description="Measured days with more than two hours without records of queues.")
    ]
    outages: Annotated[int, Field(description="Outages that were calculated, one or more for each interval.")]
    interval_minutes: int | None
    first_day: date | None
    last_day: date | None
    quarter_first_day: Annotated[date | None, Field(description="First day of the outage's quarter.")]
    quarter_last_day: date | None
    puts_per_minute: Annotated[float | None, Field(description="Average over all intervals.")]
    busiest_puts_per_minute: Annotated[float | None, Field(description="Average of the busiest interval.")]
    entries_in_use: Annotated[float | None, Field(description="Average at the start of an outage.")]
    growth: GrowthBasis


@dataclass(frozen=True)
class Survival(Answer):
    """The probability that a structure survives an outage."""

    result: Hidden[StructureResult]
    question: Hidden[SurvivalQuestion]
    minutes: float
    size_kib: Annotated[int | None, Field(description="Null for the entries and elements last measured.")]
    entries: Annotated[int | None, Field(description="List entries that the storage has; null if not known.")]
    elements: Annotated[int | None, Field(description="List elements that it has; null if not known.")]
    not_answered: Annotated[
        str | None, Field(description="Reason why there is no probability; null if there is one.")
    ]
    confidence_percent: int
    with_offload: Annotated[
        SurvivalCurve | None,
        Field(
            description="With offload rules; null without a probability, or if the structure cannot offload."
        ),
    ]
    without_offload: Annotated[
        SurvivalCurve | None, Field(description="Without offload rules; null without a probability.")
    ]
    rules_of: Annotated[
        Literal["plan", "given", "defaults"] | None,
        Field(description="Source of the offload rules; null if the structure cannot offload."),
    ]
    basis: SurvivalBasis
    sentences: Annotated[tuple[str, ...], Field(description="The answer for a manager.")]
    assumptions: tuple[Assumption, ...]
    findings: tuple[Finding, ...]
    explanations: Omittable[dict[str, Explanation]] = None

    @computed_field
    @property
    def structure(self) -> str:
        """The CFSTRUCT name."""
        return self.result.name

    @computed_field
    @property
    def cfrm_name(self) -> str:
        """The name in the CFRM policy."""
        return self.result.cfrm_name

    @computed_field
    @property
    def at(self) -> SurvivalStorage:
        """The storage that is filled."""
        return self.question.at

    @property
    def curve(self) -> SurvivalCurve | None:
        """Return the curve that applies to the plan: with offload rules if the structure can offload."""
        return self.with_offload or self.without_offload

    @computed_field
    @property
    def probability(self) -> float | None:
        """Probability of surviving the requested outage, with offload rules if the structure can offload; null: not known."""
        return None if self.curve is None else self.curve.requested.probability

    @computed_field
    @property
    def interval(self) -> tuple[float, float] | None:
        """The bounds of the 90 % interval of `probability`; null if there is none."""
        if self.curve is None or self.curve.requested.low is None or self.curve.requested.high is None:
            return None
        return self.curve.requested.low, self.curve.requested.high

    def lines(self) -> Iterator[str]:
        """Yield the answer for a manager, and a table of probabilities."""
        yield from self.sentences
        curve = self.curve
        if curve is None or self.without_offload is None:
            return
        yield ""
        others = {each.minutes: each.probability for each in self.without_offload.series}
        has_interval, has_other = curve.requested.low is not None, self.with_offload is not None
        head = [f"{self.confidence_percent} % interval"] * has_interval + ["without offload"] * has_other
        rows = [["minutes", "survives", *head]]
        for one in curve.round_points():
            more = [one.bounds] * has_interval + [percent(others[one.minutes])] * has_other
            rows.append([f"{one.minutes:g}", percent(one.probability), *more])
        yield from table_lines(rows)


def percent(share: float) -> str:
    """Return a share in percent, never rounded to certainty.

    >>> percent(0.9341), percent(0.99996), percent(0.0001), percent(1.0)
    ('93 %', '99.9 %', '0.1 %', '100 %')
    """
    if share in (0, 1):
        return f"{share * _FULL:g} %"
    whole = share * _FULL
    if whole >= _FULL - 1:
        return f"{min(99.9, math.floor(whole * 10) / 10):g} %"
    if whole < 1:
        return f"{max(0.1, math.floor(whole * 10) / 10):g} %"
    return f"{math.floor(whole + 0.5)} %"


def sentences(found: Survival, *, is_fill_known: bool) -> Iterator[str]:
    """Yield the answer in words for a manager."""
    name, curve, basis = found.cfrm_name, found.curve, found.basis
    if curve is None:
        yield f"The probability that {name} survives an outage of {found.minutes:g} minutes cannot be stated. {found.not_answered}"
        return
    requested = curve.requested
    when = "on a random day like the given ones"
    if basis.quarter_first_day is not None:
        when = f"on a random day from {basis.quarter_first_day} to {basis.quarter_last_day}"
    bounds = f" ({found.confidence_percent} % interval {requested.bounds})" if requested.bounds else ""
    yield (
        f"If all applications that get messages from {name} stop for {found.minutes:g} minutes {when}, the probability "
        f"that the structure does not become full is {percent(requested.probability)}{bounds}."
    )
    if found.with_offload is not None and found.without_offload is not None:
        other = found.without_offload.requested
        yield f"Without offloading message data, it would be {percent(other.probability)}."
        if other.probability < requested.probability:
            yield "With it, the shared message data sets, or Db2, need space for this data, which is not checked here."
    if not is_fill_known:
        yield "The structure is assumed to be empty when the outage begins, so the true probability may be lower."
    sure = next((each for each in curve.longest if each.percent == 95), None)  # noqa: PLR2004 - one of _SHARES
    if sure is not None:
        yield f"With a probability of {sure.percent} %, it survives {sure.in_words}."
    if basis.source == "measured":
        yield (
            f"This is based on {basis.outages} calculated outages, spread over {basis.days} measured days from "
            f"{basis.first_day} to {basis.last_day}, with {_growth_words(basis.growth)}."
        )
    else:
        days = "the given day" if basis.days == 1 else f"the {basis.days} given days"
        yield f"This is based on {basis.outages} calculated outages, spread over {days}, with {_growth_words(basis.growth)}."


def _growth_words(growth: GrowthBasis) -> str:
    if growth.source == "none":
        return "no growth"
    if growth.source == "given":
        return f"a growth of {growth.p50:g} % a year"
    return f"a growth of {growth.p50:.0f} % a year from the forecast ({growth.p10:.0f} to {growth.p90:.0f} %)"
