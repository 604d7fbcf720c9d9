"""The probability that a structure survives an outage of its consumers, on a random day of the next quarter.

`filling_up.py` simulates one outage at the planned rates. Here an outage begins at every measured hour, with the puts,
the message sizes and the fill of that hour and the hours after it, grown to the days of the next quarter. The answer is
the share of these outages that end before a put fails, over the length of the outage, with offload rules and without.

Nothing is drawn: the same figures give the same answer. `survival_model.py` has the arithmetic.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from planner_core import tables
from planner_core.document.model import PlanDocument
from planner_core.errors import FieldProblem, InputInvalid
from planner_core.findings import Finding, finding, in_order
from planner_core.limits import limit
from planner_core.provenance import Assumption, Basis, Explanation, Input, Source, weakest
from planner_core.sizing.demand import Units, band_edges
from planner_core.sizing.offload import Rule, default_rules
from planner_core.sizing.shared_findings import offload_needs_cflevel_5, usage_measure_assumed
from planner_core.sizing.smds import message_header_bytes, page_bytes
from planner_core.sizing.structure_result import StructureResult
from planner_core.sizing.structure_size import Curve, elements_for, model_constant
from planner_core.units import KIB, floor_fraction
from planner_core.whatif.filling_up import only_structure, parts_of, structure_of
from planner_core.whatif.survival_answer import (
    GrowthBasis,
    MeasuredHour,
    Measurements,
    Survival,
    SurvivalBasis,
    SurvivalCurve,
    SurvivalPoint,
    SurvivalQuestion,
    SurvivedOutage,
    no_measurements,
    sentences,
)
from planner_core.whatif.survival_model import (
    LONGEST_MINUTES,
    MINUTES_PER_DAY,
    FillTimes,
    Growing,
    ObservedDay,
    Pools,
    Slot,
    SurvivalEstimate,
    fill_times,
    outages_per_interval,
    phases_of,
)

_FULL = 100
_HOURS = 24
_DIGITS = 4
_POINTS = 24
_SHARES = (99, 95, 90, 50)
_DAYS_PER_YEAR = 365
_MILLION = 10**6
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720)


def survival(
    document: PlanDocument,
    asked: SurvivalQuestion | None = None,
    *,
    measurements: Measurements = no_measurements,
    curve: Curve | None = None,
) -> Survival:
    """Return the probability that a structure of a plan survives an outage.

    Args:
        document: The plan.
        asked: The length of the outage, and figures that replace measured ones.
        measurements: The source of measured usage.
        curve: The fitted curve that the document names; None for published figures.

    Raises:
        InputInvalid: The plan has no such application structure, or the figures contradict each other.
        PlanRefused: No such plan can exist.
    """
    asked = asked or SurvivalQuestion()
    structure, said = structure_of(document, asked.structure or only_structure(document), curve=curve)
    _check(asked)
    return _Survival(document, structure, asked, measurements).answer(said)


def _check(asked: SurvivalQuestion) -> None:
    problems = []
    if asked.days is None and asked.message_bytes is not None:
        problems.append(FieldProblem("message_bytes", "applies only to puts that are given with `day`"))
    if asked.days is not None:
        if len({len(each) for each in asked.days}) > 1:
            problems.append(FieldProblem("day", "must have the same number of intervals for every day"))
        if asked.at == "allocated":
            problems.append(FieldProblem("at", "must be initsize or size if the puts are given"))
    if problems:
        raise InputInvalid(SurvivalQuestion.what, tuple(problems))


@dataclass(frozen=True, slots=True)
class _Days:
    """The days on which outages begin, and what is known about them."""

    days: tuple[ObservedDay, ...] = ()
    left_out: int = 0
    not_answered: str | None = None
    is_fill_known: bool = True


class _Survival:
    """The calculation of one answer."""

    def __init__(
        self,
        document: PlanDocument,
        structure: StructureResult,
        asked: SurvivalQuestion,
        measurements: Measurements,
    ) -> None:
        self.document, self.structure, self.asked = document, structure, asked
        self.load, self.definition = parts_of(structure)
        self.constants = {name: each.value for name, each in tables.constants("whatif_survival").items()}
        self.minutes = float(
            self.constants["assumed_outage_minutes"] if asked.minutes is None else asked.minutes
        )
        self.can_offload = self.definition.cflevel >= limit("cflevel_offload")
        self.rules, self.rules_of = self._rules()
        self.edges = band_edges([rule.size_bytes for rule in self.rules])
        self.measured = (
            None
            if asked.days is not None
            else measurements(
                document.qsg,
                structure.name,
                edges=self.edges,
                header_bytes=structure.curve.header_bytes,
                most_days=self.constants["most_days"],
            )
        )
        self.growth = self._growth()
        self.days = self._measured_days() if asked.days is None else self._given_days(asked.days)
        self.entries, self.elements = self._pools()
        self.not_answered = self.days.not_answered
        if self.not_answered is None and (self.entries is None or self.elements is None):
            self.not_answered = "No record gives the number of entries and elements of the structure: choose INITSIZE or SIZE."

    def _rules(self) -> tuple[tuple[Rule, ...], Literal["plan", "given", "defaults"] | None]:
        if not self.can_offload:
            return (), None
        if self.asked.rules is not None:
            return self.asked.rules, "given"
        if any(rule.is_on for rule in self.load.rules):
            return self.load.rules, "plan" if self.definition.offload.rules else "defaults"
        return default_rules(), "defaults"

    # ---- growth

    def _growth(self) -> GrowthBasis:
        given = self.asked.growth_percent_per_year
        if given is not None:
            return GrowthBasis(float(given), float(given), float(given), "given")
        found = None if self.measured is None else self.measured.growth
        if found is None:
            return GrowthBasis(0.0, 0.0, 0.0, "none")
        slow, median, fast = (_yearly(each) for each in sorted((found.p10, found.p50, found.p90)))
        return GrowthBasis(slow, median, fast, "forecast", found.made_on)

    def growths(self) -> tuple[Growing, ...]:
        """Return the growths with their shares: three percentiles of a forecast, else one."""
        growth, middle = self.growth, self.constants["middle_growth_percent"] / _FULL
        if growth.p10 == growth.p90:
            return (Growing(_per_day(growth.p50), 1.0),)
        outer = (1 - middle) / 2
        return tuple(
            Growing(_per_day(each), share)
            for each, share in zip((growth.p10, growth.p50, growth.p90), (outer, middle, outer), strict=True)
        )

    # ---- the storage

    def _pools(self) -> tuple[int | None, int | None]:
        if self.asked.at == "allocated":
            measured = self.measured
            return (None, None) if measured is None else (measured.entries_total, measured.elements_total)
        is_initsize = self.asked.at == "initsize"
        bundles = self.load.bundles_in_initsize if is_initsize else self.load.bundles_in_size
        per_entry = self.structure.curve.bundle_at(self.load.ratio)[1]
        return floor_fraction(bundles), floor_fraction(bundles * per_entry)

    # ---- days

    def _measured_days(self) -> _Days:
        if self.measured is None or not any(hour.puts is not None for hour in self.measured.hours):
            return _Days(
                not_answered=f"No puts to queues of {self.structure.name} of {self.document.qsg} were measured. Upload "
                "SMF 115-216 or 116 records, or enter the puts of typical days."
            )
        by_day: dict[date, dict[int, MeasuredHour]] = {}
        for hour in self.measured.hours:
            at = hour.hour.astimezone(UTC)
            by_day.setdefault(at.date(), {})[at.hour] = hour
        found: list[ObservedDay] = []
        fill = _Fill(self.asked.entries_in_use)
        for day in sorted(by_day):
            hours = by_day[day]
            known = [place for place, each in hours.items() if each.puts is not None]
            if len(known) < _HOURS - self.constants["most_missing_hours"]:
                continue
            found.append(ObservedDay(day, tuple(fill.slot(hours, place) for place in range(_HOURS))))
        days = tuple(found[-self.constants["most_days"] :])
        reason, least = None, self.constants["least_days"]
        if len(days) < least:
            reason = (
                f"Only {len(days)} whole days of puts to {self.structure.name} were measured; {least} are needed. Upload "
                "more SMF 115-216 or 116 records, or enter the puts of typical days."
            )
        elif len(weekdays := {each.day.weekday() for each in days if each.day is not None}) < 7:  # noqa: PLR2004 - a week
            missing = ", ".join(_WEEKDAYS[each] for each in range(7) if each not in weekdays)
            reason = f"No whole day of puts was measured on: {missing}. Upload records of these days."
        return _Days(days, len(by_day) - len(found), reason, fill.is_known)

    def _given_days(self, given: Sequence[Sequence[Decimal]]) -> _Days:
        puts, elements = self._message()
        fill = float(self.asked.entries_in_use or 0)
        each = sum(elements)
        days = tuple(
            ObservedDay(
                None,
                tuple(
                    Slot(
                        tuple(share * float(count) for share in puts),
                        tuple(share * float(count) for share in elements),
                        fill,
                        fill * each,
                    )
                    for count in day
                ),
            )
            for day in given
        )
        return _Days(days, is_fill_known=self.asked.entries_in_use is not None)

    def _message(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the shares of one message in the bands, and its list elements: of the given size, or of the plan's mix."""
        bands = len(self.edges) + 1
        header = self.structure.curve.header_bytes
        if (size := self.asked.message_bytes) is not None:
            puts, elements = [0.0] * bands, [0.0] * bands
            band = bisect_left(self.edges, size)
            puts[band] = 1.0
            is_large = band == bands - 1
            two = model_constant("offloaded_message_elements")
            elements[band] = float(two if is_large else elements_for(size, header_bytes=header))
            return tuple(puts), tuple(elements)
        queues = self.structure.queues
        units = Units.of(
            [queue.message_bytes for queue in queues],
            edges=self.edges,
            header_bytes=header,
            page_bytes=page_bytes(),
            page_header_bytes=message_header_bytes(),
        )
        counts = [queue.messages for queue in queues]
        if not any(counts):
            counts = [1] * len(queues)
        together = sum(counts) * units.scale
        if not together:
            message = "is required: the plan has no queue on this structure whose message size could be used"
            raise InputInvalid(SurvivalQuestion.what, (FieldProblem("message_bytes", message),))
        demand = units.demand(counts)
        # The elements that the bands lack belong to the smallest messages, which stay longest.
        beyond = [float(demand.beyond), *([0.0] * (bands - 1))]
        return (
            tuple(band.messages / together for band in demand.bands),
            tuple((band.elements + more) / together for band, more in zip(demand.bands, beyond, strict=True)),
        )

    # ---- the answer

    def answer(self, said: Sequence[Finding]) -> Survival:
        """Return the answer, with or without a probability."""
        times = None if self.not_answered is not None else self._times()
        with_offload, without = (None, None) if times is None else self._curves(*times)
        found = Survival(
            result=self.structure,
            question=self.asked,
            minutes=self.minutes,
            size_kib=self._size_kib(),
            entries=self.entries,
            elements=self.elements,
            not_answered=self.not_answered,
            confidence_percent=self.constants["confidence_percent"],
            with_offload=with_offload,
            without_offload=without,
            rules_of=self.rules_of,
            basis=self._basis(),
            sentences=(),
            assumptions=tuple(self._assumptions()),
            findings=(),
        )
        explanations = None
        if self.asked.explain and times is not None:
            explanations = {"/probability": self._explain(times[0] or times[1])}
        return replace(
            found,
            sentences=tuple(sentences(found, is_fill_known=self.days.is_fill_known)),
            findings=in_order([*said, *self._findings()]),
            explanations=explanations,
        )

    def _times(self) -> tuple[FillTimes | None, FillTimes]:
        pools = Pools(float(self.entries or 0), float(self.elements or 0))

        def times(rules: Iterable[Rule]) -> FillTimes:
            return fill_times(
                self.days.days,
                phases_of(rules, self.edges),
                pools,
                self.growths(),
                quarter_days=self.constants["quarter_days"],
            )

        return times(self.rules) if self.can_offload else None, times(())

    def _curves(
        self, offloading: FillTimes | None, plain: FillTimes
    ) -> tuple[SurvivalCurve | None, SurvivalCurve]:
        grid = _grid(self.minutes, (offloading or plain).longest(0.01) or float(LONGEST_MINUTES))
        longest = [_longest(each) for each in (offloading, plain) if each is not None]
        # A steep part of a curve lies between two points of the grid, and begins or ends at one of these.
        edges = {each.minutes for one in longest for each in one if each.minutes is not None}
        minutes = sorted({*grid, *(each for each in edges if each <= grid[-1])})
        without = self._curve(plain, (), minutes, longest[-1])
        if offloading is None:
            return None, without
        return self._curve(offloading, self.rules, minutes, longest[0]), without

    def _curve(
        self,
        times: FillTimes,
        rules: tuple[Rule, ...],
        minutes: Sequence[float],
        longest: tuple[SurvivedOutage, ...],
    ) -> SurvivalCurve:
        def point(at: float) -> SurvivalPoint:
            found = times.estimate(
                at,
                confidence=self.constants["confidence_percent"] / _FULL,
                least_days=self.constants["least_days_for_interval"],
            )
            return _point(at, found)

        return SurvivalCurve(rules, point(self.minutes), tuple(map(point, minutes)), longest)

    def _size_kib(self) -> int | None:
        sizes = self.structure.sizes
        if self.asked.at == "allocated":
            return None
        size = sizes.initsize_bytes if self.asked.at == "initsize" else sizes.size_bytes
        return size // KIB

    def _basis(self) -> SurvivalBasis:
        days = self.days.days
        slots = [slot for day in days for slot in day.slots]
        length = MINUTES_PER_DAY // len(days[0].slots) if days else None
        last = days[-1].day if days else None
        quarter = self.constants["quarter_days"]
        source: Literal["measured", "given", "none"] = "given" if self.asked.days is not None else "measured"
        return SurvivalBasis(
            source=source if days else "none",
            days=len(days),
            days_left_out=self.days.left_out,
            outages=len(slots) * outages_per_interval(days) if days else 0,
            interval_minutes=length,
            first_day=days[0].day if days else None,
            last_day=last,
            quarter_first_day=None if last is None else last + timedelta(days=1),
            quarter_last_day=None if last is None else last + timedelta(days=quarter),
            puts_per_minute=round(sum(sum(s.puts) for s in slots) / len(slots) / length, 2)
            if length
            else None,
            busiest_puts_per_minute=round(max(sum(s.puts) for s in slots) / length, 2) if length else None,
            entries_in_use=round(sum(s.entries_in_use for s in slots) / len(slots), 1) if slots else None,
            growth=self.growth,
        )

    def _explain(self, times: FillTimes | None) -> Explanation:
        """Return the formula of the probability from the shares of survived outages for each growth."""
        shares = () if times is None else times.by_growth_at(self.minutes)
        exact = [Fraction(round(each * _MILLION), _MILLION) for each in shares]
        basis = Basis.DERIVED if self.asked.days is None else Basis.GIVEN
        names = ("slow_growth", "median_growth", "fast_growth") if len(exact) > 1 else ("survived",)
        inputs = [Input(name, value, "share", basis) for name, value in zip(names, exact, strict=True)]
        value, formula = exact[0], names[0]
        if len(exact) > 1:
            middle = Fraction(self.constants["middle_growth_percent"], _FULL)
            outer = (1 - middle) / 2
            inputs += [
                Input("share_of_median", middle, "share", Basis.ASSUMED, _source()),
                Input("share_of_others", outer, "share", Basis.ASSUMED, _source()),
            ]
            formula = "share_of_others * slow_growth + share_of_median * median_growth + share_of_others * fast_growth"
            value = outer * (exact[0] + exact[2]) + middle * exact[1]
        return Explanation(
            figure="/probability",
            value=value,
            unit="share",
            formula=formula,
            inputs=tuple(inputs),
            basis=weakest((basis, Basis.ASSUMED)),
            source=_source(),
        )

    # ---- assumptions and findings

    def _assumptions(self) -> Iterator[Assumption]:
        place = _source()

        def assumed(text: str, basis: Basis = Basis.ASSUMED) -> Assumption:
            return Assumption(text, basis, place)

        yield assumed(
            "All consumers stop at once, at a time that is equally likely at every minute of the day and on every weekday, and "
            "applications continue to put as if nothing had happened."
        )
        yield assumed(
            "The next quarter is like the observed days, apart from growth. Rates, bursts and the order of the hours are theirs; "
            "yearly peaks and new applications are not included."
        )
        if self.asked.days is None:
            yield assumed("Within an hour, puts arrive evenly: bursts of minutes are averaged.")
            yield assumed(
                "In each hour, the messages of a queue have the average size of that hour, and at most the elements that messages "
                "with this average can take."
            )
            if self.asked.entries_in_use is None:
                yield assumed(
                    "At the start, the structure is as full as at the fullest time of that hour, which is more than on average."
                )
        else:
            yield assumed("The given days are equally likely, and within an interval puts arrive evenly.")
        yield assumed(
            "The usage is that of the fuller pool, and entries and elements do not change into each other (no alter)."
        )
        if self.can_offload:
            yield assumed("Shared message data sets and Db2 have space for all offloaded data.")
        if any(queue.maxdepth is not None for queue in self.definition.queues):
            yield assumed("Queues do not reach MAXDEPTH; a queue that does would stop filling the structure.")
        if self.growth.source == "forecast":
            yield assumed("Puts and the normal fill grow as the forecast of the entries in use.")
        yield assumed(
            "The interval treats days, or weeks if they differ more, as independent, and includes the uncertainty of the growth."
        )

    def _findings(self) -> Iterator[Finding]:
        name, at = self.structure.name, self.structure.pointer
        if self.not_answered is not None:
            yield finding(
                "SURVIVAL_NOT_ANSWERED",
                f"The probability that {name} survives an outage cannot be stated. {self.not_answered}",
                field=f"{at}/queues",
                structure=name,
            )
            return
        days = self.days.days
        if self.asked.days is None and len(days) < self.constants["few_days"]:
            yield finding(
                "SURVIVAL_FEW_DAYS",
                f"The probability for {name} is based on {len(days)} days; with fewer than {self.constants['few_days']}, rare "
                "busy days are missing.",
                field=f"{at}/queues",
                structure=name,
            )
        if self.growth.source == "none":
            yield finding(
                "SURVIVAL_GROWTH_NOT_KNOWN",
                f"No growth is given, and no forecast of {name} has one: puts are assumed not to grow.",
                field=f"{at}/queues",
                structure=name,
            )
        if not self.days.is_fill_known:
            yield finding(
                "SURVIVAL_FILL_NOT_MEASURED",
                f"The entries in use of {name} are not known for every hour: the structure is assumed to be empty at the start of "
                "an outage where no hour before it shows them.",
                field=f"{at}/queues",
                structure=name,
            )
        length = MINUTES_PER_DAY // len(days[0].slots)
        if 0 < self.minutes < length:
            yield finding(
                "SURVIVAL_SHORTER_THAN_INTERVAL",
                f"An outage of {self.minutes:g} minutes of {name} is shorter than an interval of the figures, {length} minutes: "
                "bursts within an interval are not visible, and the probability may be too high.",
                field=f"{at}/queues",
                structure=name,
            )
        if self.can_offload:
            yield usage_measure_assumed(structure=name)
        elif self.asked.rules is not None:
            yield from offload_needs_cflevel_5(
                name,
                self.definition.cflevel,
                "offload rules",
                structure=name,
                field=f"{at}/cflevel",
                effect=" and have no effect",
            )


class _Fill:
    """The slots of measured hours; values that an hour lacks come from its neighbors."""

    def __init__(self, given: int | None) -> None:
        self.given = given
        self.is_known = True
        self._entries: float | None = None

    def slot(self, hours: Mapping[int, MeasuredHour], place: int) -> Slot:
        """Return the slot of one hour of a day."""
        puts, elements = _filled(hours, place)
        hour = hours.get(place)
        per_message = sum(elements) / sum(puts) if sum(puts) else 0.0
        if self.given is not None:
            return Slot(puts, elements, float(self.given), self.given * per_message)
        if hour is not None and hour.entries_in_use is not None:
            self._entries = float(hour.entries_in_use)
        entries = self._entries
        if entries is None:
            self.is_known, entries = False, 0.0
        used = None if hour is None else hour.elements_in_use
        return Slot(puts, elements, entries, entries * per_message if used is None else float(used))


def _filled(hours: Mapping[int, MeasuredHour], place: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the puts and elements of an hour; for an hour without records, those of the busier neighbor."""
    hour = hours.get(place)
    if hour is not None and hour.puts is not None:
        return hour.puts, hour.elements
    known = sorted(at for at, each in hours.items() if each.puts is not None)
    before = [at for at in known if at < place][-1:]
    after = [at for at in known if at > place][:1]
    near = [hours[at] for at in (*before, *after)]
    busier = max(near, key=lambda each: sum(each.puts or ()))
    return busier.puts or (), busier.elements


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _source() -> Source:
    return tables.source("project", "Survival of an outage")


def _yearly(per_30_days: float) -> float:
    """Return a growth in 30 days as percent per year."""
    factor = math.exp(math.log1p(max(per_30_days, -0.99)) * _DAYS_PER_YEAR / 30)
    return round((factor - 1) * _FULL, 2)


def _per_day(percent_per_year: float) -> float:
    return math.log1p(percent_per_year / _FULL) / _DAYS_PER_YEAR


def _longest(times: FillTimes) -> tuple[SurvivedOutage, ...]:
    """Return the longest outages that are survived with some probabilities."""
    found = []
    for share in _SHARES:
        lasts = times.longest(share / _FULL)
        found.append(SurvivedOutage(share, None if lasts is None else math.floor(lasts * 10) / 10))
    return tuple(found)


def _point(minutes: float, found: SurvivalEstimate) -> SurvivalPoint:
    # Rounded so that neither a probability below 1 nor its bounds become certain.
    return SurvivalPoint(
        minutes,
        _rounded(found.probability),
        None if found.low is None else math.floor(found.low * 10**_DIGITS) / 10**_DIGITS,
        None if found.high is None else math.ceil(found.high * 10**_DIGITS) / 10**_DIGITS,
    )


def _rounded(share: float) -> float:
    smallest = 10**-_DIGITS
    if 0 < share < 1:
        return float(min(max(round(share, _DIGITS), smallest), round(1 - smallest, _DIGITS)))
    return share


def _grid(asked: float, last: float) -> tuple[float, ...]:
    """Return round minutes up to at least twice the requested ones, and to where hardly any outage is survived."""
    end = min(float(LONGEST_MINUTES), max(2 * asked, last * 1.05, 10.0))
    step = next((each for each in _STEPS if end / each <= _POINTS), _STEPS[-1])
    count = math.ceil(end / step)
    return tuple(sorted({*(float(step * number) for number in range(count + 1)), asked}))
