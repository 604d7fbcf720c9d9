"""The health of a structure, for its page, its file and REST."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from pydantic import Field
from sqlalchemy.orm import Session

from app.errors import NotFound
from app.nightly import service as nightly
from app.paging import ListRequest, ResultPage, Sort, in_order
from app.usage.measured import Simulatable
from app.usage.periods import instant
from app.web.csv_files import Table
from planner_core.findings import Finding, Severity
from planner_core.health import Balance, HealthFigures, Measure, State, StructureHealth, least_intervals
from planner_core.provenance import SourceText
from planner_core.wire import Answer, copied

STATES: dict[State, str] = {
    "good": "good",
    "above_good": "above good",
    "above_limit": "above the guideline",
    "too_few": "not judged",
    "not_measured": "not measured",
}
_COLUMNS = (
    "measure", "title", "guideline", "unit", "state", "records", "intervals", "above_good", "above_limit", "worst", "worst_at",
    "reporter", "coupling_facility", "queue", "source",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthMeasure(Answer):
    """One measure of a structure compared with its guideline."""

    measure: Measure
    title: str
    guideline: Annotated[str, Field(description="The guideline in words.")]
    unit: Annotated[str, Field(description="Unit of `worst`; empty for a count.")]
    source: Annotated[SourceText, Field(description="The document with the guideline.")]
    basis: Annotated[str, Field(description="Whether the guideline is published or assumed.")]
    state: State
    sentence: Annotated[str, Field(description="The state in words.")]
    records: Annotated[
        int, Field(description="Records with the figures: one for each interval and reporter.")
    ]
    intervals: Annotated[int, Field(description="Those with enough requests to be judged.")]
    above_good: int
    above_limit: int
    worst: Annotated[
        float | None,
        Field(description="The highest value of an interval, in `unit`; null if none was judged."),
    ]
    worst_at: Annotated[datetime | None, Field(description="The end of that interval.")]
    reporter: Annotated[str | None, Field(description="The queue manager or system that reported it.")]
    coupling_facility: str | None
    queue: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureHealthAnswer(Simulatable):
    """The health of a structure in the last days of its group's records, as the last nightly run judged it."""

    structure: str
    first_day: date
    last_day: date
    measures: tuple[HealthMeasure, ...]
    balance: Annotated[
        Balance | None,
        Field(description="Null if fewer than 28 days were measured, or if the structure was hardly used."),
    ]
    findings: tuple[Finding, ...] = ()


def health_answer(session: Session, qsg: str, structure: str) -> StructureHealthAnswer:
    """Return the health of a structure.

    Raises:
        NotFound: No nightly run has judged it.
    """
    found = nightly.health_of(session, qsg, structure)
    if found is None:
        message = f"No nightly run has judged the health of {structure} of {qsg} yet. Start a nightly run."
        raise NotFound(message)
    return copied(StructureHealthAnswer, found, measures=tuple(map(_measure, found.measures)))


def _measure(figures: HealthFigures) -> HealthMeasure:
    guideline = figures.guideline
    return copied(
        HealthMeasure,
        figures,
        title=guideline.title,
        guideline=guideline.words,
        unit=guideline.unit,
        source=guideline.limit.source,
        basis=guideline.limit.basis.value,
    )


# ---- all structures --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthEntry(HealthMeasure):
    """One measure of a structure that is not good."""

    qsg: str
    structure: str
    is_simulated: bool
    severity: Severity
    page: Annotated[str, Field(description="The page of the structure's health.")]


@dataclass(frozen=True, slots=True)
class HealthEntriesAnswer(ResultPage[HealthEntry]):
    """One page of the measures that are not good."""

    items: Annotated[tuple[HealthEntry, ...], Field(serialization_alias="measures")]


_SEVERITY_RANKS: Final[Mapping[str, int]] = {"error": 0, "warning": 1, "info": 2}


def _urgency(each: HealthEntry) -> tuple[int, float]:
    count = each.above_limit if each.state == "above_limit" else each.above_good
    return _SEVERITY_RANKS[each.severity], -count / max(each.intervals, 1)


SORT_KEYS: Final[Mapping[str, Callable[[HealthEntry], Any]]] = {
    "urgency": _urgency,
    "structure": lambda each: each.structure,
    "qsg": lambda each: each.qsg,
    "measure": lambda each: each.title,
    "above_limit": lambda each: each.above_limit,
    "worst_at": lambda each: each.worst_at,
}


def list_health(session: Session, asked: ListRequest) -> ResultPage[HealthEntry]:
    """Return the measures of all structures that are not good, by default the most urgent first."""
    search = asked.search.strip().casefold()
    found = [
        each
        for health in nightly.all_healths(session)
        for each in _entries(health)
        if search in f"{each.qsg} {each.structure} {each.title}".casefold()
    ]
    sort = asked.sort or Sort("urgency")
    ranked = in_order(in_order(found, Sort("urgency"), _urgency), sort, SORT_KEYS[sort.key])
    part = ranked[asked.page.offset : asked.page.offset + asked.page.per_page]
    return ResultPage.of(part, len(ranked), asked.page)


def _entries(health: StructureHealth) -> Iterator[HealthEntry]:
    page = f"/usage/{quote(health.qsg, safe='')}/{quote(health.structure, safe='')}#h-health"
    for each in health.measures:
        if severity := _severity(each):
            yield copied(
                HealthEntry,
                _measure(each),
                qsg=health.qsg,
                structure=health.structure,
                is_simulated=health.is_simulated,
                severity=severity,
                page=page,
            )


# ---- the page and the file -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HealthLine:
    """One line of the table of the page."""

    figures: HealthFigures
    state: str
    severity: str
    """The severity of the state; empty for states that need no attention."""


@dataclass(frozen=True, slots=True)
class HealthView:
    """The health of a structure, as its page shows it."""

    health: StructureHealth
    lines: tuple[HealthLine, ...]
    least_intervals: int
    """The number of intervals above a guideline from which a measure is above it."""


def health_view(session: Session, qsg: str, structure: str) -> HealthView | None:
    """Return the health of a structure for its page; None if no nightly run has judged it."""
    found = nightly.health_of(session, qsg, structure)
    if found is None:
        return None
    lines = (HealthLine(each, STATES[each.state], _severity(each)) for each in found.measures)
    return HealthView(found, tuple(lines), least_intervals())


def _severity(figures: HealthFigures) -> Severity | Literal[""]:
    if figures.state == "above_limit":
        # A full structure refused puts; another finding reports it.
        return "error" if figures.guideline.code is None else figures.guideline.severity
    return "info" if figures.state == "above_good" else ""


def health_table(answer: StructureHealthAnswer) -> Table:
    """Return the measures as a table for files."""
    return _COLUMNS, list(_rows(answer))


def _rows(answer: StructureHealthAnswer) -> Iterator[tuple[str | int | float | None, ...]]:
    for each in answer.measures:
        values = {name: getattr(each, name) for name in _COLUMNS}
        at = each.worst_at
        yield tuple(
            (values | {"worst_at": None if at is None else instant(at), "source": str(each.source)}).values()
        )
