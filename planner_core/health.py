"""Health of structures: the figures of records compared with guidelines.

Every guideline compares two figures of one record, such as redrives and calls, and judges each interval separately: an
average over days would hide the hour in which applications waited.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from functools import cache
from typing import Annotated, Final, Literal, get_args

from pydantic import Field, computed_field

from planner_core import tables
from planner_core.findings import Severity
from planner_core.tables import Constant
from planner_core.wire import Answer

Measure = Literal[
    "redrives",
    "structure_full",
    "sync_time",
    "async_time",
    "changed",
    "delayed",
    "read_lists",
    "pool_waits",
    "buffer_waits",
]
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)

Level = Literal["good", "above_good", "above_limit"]
"""The level of one interval. Only service times have figures that are neither good nor above the limit."""
State = Literal["good", "above_good", "above_limit", "too_few", "not_measured"]
"""The level of the last days. `too_few`: no interval had enough requests to be judged."""

HEALTH_DAYS: Final = 7
"""The number of days, up to the last day of the group's records, whose intervals are judged."""
_PERCENT = 100
_MOST_OF_FEWER = 4
"""The largest number for the rarer kind in a ratio, as long as the ratio can be stated with it."""


@dataclass(frozen=True, slots=True)
class Guideline:
    """One guideline, and the figures to which it applies."""

    measure: Measure
    title: str
    unit: str
    records: str
    """The records that contain the figures."""
    condition: str
    """The condition of an interval above the limit, in which {limit} is the limit."""
    limit: Constant
    good: Constant | None = None
    """The figure below which the guideline calls a service time good."""
    scale: int = 1
    """The compared value is the first figure x this / the second figure."""
    code: str | None = None
    """The code of the finding about intervals above the limit; None if another rule reports them."""
    severity: Severity = "warning"
    code_above_good: str | None = None

    @property
    def is_count(self) -> bool:
        """Whether the compared value is a count and not a ratio; any count above the limit is judged."""
        return self.unit == ""

    @property
    def words(self) -> str:
        """Return the guideline in words."""
        if self.good is not None:
            return f"below {self.good.value} {self.unit} good, above {self.limit.value} {self.unit} critical"
        return (
            "never"
            if self.is_count
            else f"at most {self.limit.value} {self.unit}"
            if self.unit == "%"
            else f"at most {self.limit.value} to 1"
        )

    @property
    def above_limit(self) -> str:
        """Return the condition of an interval above the limit in words."""
        return self.condition.format(limit=self.limit.value)

    def written(self, value: float) -> str:
        """Return a compared value with its unit."""
        if self.is_count:
            return f"{value:.0f}"
        return f"{value:.1f} to 1" if self.unit == "to 1" else f"{value:.1f} {self.unit}"


@cache
def guidelines() -> Mapping[Measure, Guideline]:
    """Return all guidelines by measure, in the order of the pages."""
    figures = tables.constants("health")
    qest, sreq, qesd, wq = (
        "SMF 115 subtype 2 (QEST)",
        "SMF 74 subtype 4 (R744SREQ)",
        "SMF 115 subtype 2 (QESD)",
        "SMF 116 subtypes 1 and 2 (WQ)",
    )
    found = (
        Guideline(
            "redrives", "Redrives", "%", qest, "more than {limit} % of the calls were redriven", figures["redrives_pct"],
            scale=_PERCENT, code="REDRIVES_HIGH",
        ),
        Guideline(
            "structure_full", "Structure full", "", qest, "the structure was found full", figures["structure_full"],
        ),
        Guideline(
            "sync_time", "Synchronous service time", "µs", sreq, "synchronous requests took more than {limit} µs on average",
            figures["sync_critical_us"], figures["sync_good_us"], code="SYNC_TIME_CRITICAL",
            code_above_good="SYNC_TIME_ABOVE_GOOD",
        ),
        Guideline(
            "async_time", "Asynchronous service time", "µs", sreq, "asynchronous requests took more than {limit} µs on average",
            figures["async_critical_us"], figures["async_good_us"], code="ASYNC_TIME_CRITICAL",
            code_above_good="ASYNC_TIME_ABOVE_GOOD",
        ),
        Guideline(
            "changed", "Changed requests (CHNGD)", "%", sreq, "more than {limit} % of the requests were changed from synchronous to asynchronous",
            figures["changed_pct"], scale=_PERCENT, code="CHANGED_REQUESTS_HIGH",
        ),
        Guideline(
            "delayed", "Delayed requests", "%", sreq, "more than {limit} % of the requests waited for a subchannel",
            figures["delayed_pct"], scale=_PERCENT, code="DELAYED_REQUESTS_HIGH",
        ),
        Guideline(
            "read_lists", "READLIST to GETMOVE", "to 1", wq, "MQGET calls of a task made more than {limit} READLIST requests for each GETMOVE",
            figures["read_lists_per_move"], code="READ_LISTS_HIGH",
        ),
        Guideline(
            "pool_waits", "SMDS pool waits", "", qesd, "tasks waited for a free SMDS buffer", figures["pool_waits"],
            code="SMDS_POOL_WAITS", severity="info",
        ),
        Guideline(
            "buffer_waits", "SMDS buffer waits", "", qesd, "tasks waited for a busy SMDS buffer", figures["buffer_waits"],
            code="SMDS_BUFFER_WAITS", severity="info",
        ),
    )  # fmt: skip
    return {each.measure: each for each in found}


@cache
def health_codes() -> frozenset[str]:
    """Return the codes of all findings about guidelines."""
    found = (code for each in guidelines().values() for code in (each.code, each.code_above_good))
    return frozenset(code for code in found if code is not None)


def least_requests() -> int:
    """Return the number of requests below which an interval is not judged: a few requests show nothing."""
    return tables.constants("health")["least_requests"].value


def least_intervals() -> int:
    """Return the number of intervals above a guideline from which there is a finding."""
    return tables.constants("health")["least_intervals"].value


def level_of(measure: Measure, part: int, whole: int) -> Level | None:
    """Judge one interval; return None if it has too few requests.

    Args:
        measure: the measure.
        part: the first figure: redrives, microseconds, changed or delayed requests, READLIST requests, waits.
        whole: the second figure: calls, requests, GETMOVE requests; 1 for a count.
    """
    guideline = guidelines()[measure]
    # MQGET calls that find nothing make READLIST requests without any GETMOVE.
    requests = part + whole if measure == "read_lists" else whole
    if requests < (1 if guideline.is_count else least_requests()):
        return None
    scaled = guideline.scale * part
    if scaled > guideline.limit.value * whole:
        return "above_limit"
    if guideline.good is not None and scaled >= guideline.good.value * whole:
        return "above_good"
    return "good"


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthFigures(Answer):
    """The intervals of the last days for one measure of a structure."""

    measure: Measure
    records: Annotated[
        int, Field(description="Records with the figures: one for each interval and reporter.")
    ] = 0
    intervals: Annotated[int, Field(description="Those with enough requests to be judged.")] = 0
    above_good: Annotated[
        int, Field(description="Those that are not good, including those above the limit.")
    ] = 0
    above_limit: Annotated[int, Field(description="Those above the limit.")] = 0
    worst: Annotated[float | None, Field(description="The highest value of an interval that was judged.")] = (
        None
    )
    worst_at: Annotated[datetime | None, Field(description="The end of that interval.")] = None
    reporter: Annotated[
        str | None, Field(description="The queue manager or system that reported that interval.")
    ] = None
    coupling_facility: str | None = None
    queue: Annotated[
        str | None, Field(description="The queue of that interval, for READLIST to GETMOVE.")
    ] = None

    @property
    def guideline(self) -> Guideline:
        """Return the guideline of this measure."""
        return guidelines()[self.measure]

    @computed_field(description="The level of the last days: a level counts from a number of intervals.")
    @property
    def state(self) -> State:
        """Return the state of the measure."""
        if not self.records:
            return "not_measured"
        if not self.intervals:
            return "too_few"
        # A full structure refused puts, so one interval is enough.
        least = 1 if self.measure == "structure_full" else least_intervals()
        if self.above_limit >= least:
            return "above_limit"
        return "above_good" if self.guideline.good is not None and self.above_good >= least else "good"

    @computed_field(description="The state in words.")
    @property
    def sentence(self) -> str:
        """Return the state in words."""
        guideline = self.guideline
        if self.state == "not_measured":
            return f"Not measured: no record of {guideline.records} has these figures."
        if self.state == "too_few":
            return (
                f"Not judged: fewer than {least_requests()} requests in each of {_intervals(self.records)}."
            )
        if self.state == "above_good":
            count = f"{self.above_good} of {_intervals(self.intervals)} were not below {guideline.written(guideline.good.value if guideline.good else 0)}"
        elif self.above_limit:
            count = f"{self.above_limit} of {_intervals(self.intervals)} were above the guideline"
            if self.state == "good":
                count += f" ({least_intervals()} are needed for a finding)"
        else:
            count = f"None of {_intervals(self.intervals)} was above the guideline"
        return f"{count}; {self.worst_words}." if self.worst_words else f"{count}."

    @property
    def worst_value(self) -> str:
        """Return the worst value with its unit; empty if no interval was judged."""
        return "" if self.worst is None else self.guideline.written(self.worst)

    @property
    def place(self) -> str:
        """Return the reporter of the worst interval, and the coupling facility or queue."""
        parts = (
            self.reporter,
            f"coupling facility {self.coupling_facility}" if self.coupling_facility else None,
            f"queue {self.queue}" if self.queue else None,
        )
        return ", ".join(part for part in parts if part)

    @property
    def worst_words(self) -> str:
        """Return the worst interval in words; empty if none was judged, or if there was nothing to count."""
        if self.worst is None or self.worst_at is None or (self.guideline.is_count and not self.worst):
            return ""
        place = f" ({self.place})" if self.place else ""
        return f"the worst had {self.worst_value} and ended at {self.worst_at:%Y-%m-%d %H:%M} UTC{place}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance(Answer):
    """Entries and elements of a structure compared with those in use at its peaks."""

    entries_total: int
    elements_total: int
    entries_peak: int
    elements_peak: int
    is_far: Annotated[
        bool, Field(description="Whether the ratios differ by more than CFPLAN_RATIO_PERCENT.")
    ] = False

    @computed_field(description="The entry-to-element ratio that would fill both pools at the same time.")
    @property
    def balancing_ratio(self) -> tuple[int, int]:
        """Return the ratio of entries to elements at the peaks in small whole numbers."""
        return balancing_ratio(self.entries_peak, self.elements_peak)

    @computed_field(description="The comparison in words.")
    @property
    def sentence(self) -> str:
        """Return the comparison in words."""
        there = self.elements_total / self.entries_total
        used = self.elements_peak / self.entries_peak
        entries, elements = self.balancing_ratio
        return (
            f"{there:.1f} elements for each entry are allocated, {used:.1f} are used at the peaks. "
            f"An entry-to-element ratio of {entries}:{elements} would balance them."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureHealth(Answer):
    """The health of one structure in the last days of its group's records."""

    qsg: Annotated[str, Field(min_length=1, max_length=4)]
    structure: Annotated[str, Field(min_length=1, max_length=16)]
    first_day: date
    last_day: date
    measures: tuple[HealthFigures, ...]
    balance: Annotated[
        Balance | None,
        Field(description="Null if fewer than 28 days were measured, or if it was hardly used."),
    ] = None
    is_simulated: bool = False

    @property
    def warnings(self) -> tuple[HealthFigures, ...]:
        """Return the measures that are reported as warnings."""
        return tuple(
            each
            for each in self.measures
            if each.state == "above_limit" and each.guideline.code and each.guideline.severity == "warning"
        )


def balancing_ratio(entries: int, elements: int) -> tuple[int, int]:
    """Return a ratio of entries to elements in small whole numbers.

    >>> balancing_ratio(1000, 6000), balancing_ratio(1000, 2500), balancing_ratio(1000, 340), balancing_ratio(1000, 50)
    ((1, 6), (2, 5), (3, 1), (20, 1))
    """
    if elements >= entries:
        found = Fraction(elements, entries).limit_denominator(_MOST_OF_FEWER)
        return found.denominator, found.numerator
    found = Fraction(entries, max(elements, 1)).limit_denominator(_MOST_OF_FEWER)
    return found.numerator, found.denominator


def _intervals(count: int) -> str:
    return f"{count} interval" if count == 1 else f"{count} intervals"
