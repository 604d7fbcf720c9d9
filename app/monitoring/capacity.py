"""Metrics about structures and coupling facilities, from the state that the overview shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Final

from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.orm import Session

from app.database.engine import Database
from app.fleet.answers import FleetFacility, FleetStructure
from app.fleet.service import not_simulated, state_of_fleet
from app.forecasts.limits import ExpectedLimit, ForecastLimits, limits_of
from app.nightly import repository as nightly
from app.nightly.models import FitVersion
from app.usage import repository as usage
from planner_core.simulated import has_simulated_name

READ_WITHIN_S: Final = 8.0
"""Seconds for reading a site's structures; Prometheus waits for 10 seconds unless it is configured otherwise."""
ESTIMATES: Final[Mapping[str, str]] = {"p10": "lower", "p50": "median", "p90": "upper"}
"""The label of each quantile: the bounds of the 80 % interval, and the median."""
_PERCENT: Final = 100
_OF_STRUCTURE: Final = ("qsg", "structure")
_OF_SERIES: Final = (*_OF_STRUCTURE, "measure", "queue_manager")
_OF_LIMIT: Final = (*_OF_SERIES, "level")
_OF_FIT: Final = ("coupling_facility", "cfcc_level")


@dataclass(frozen=True, slots=True)
class SeriesLimits:
    """The limits of one measure of a structure."""

    labels: tuple[str, ...]
    forecast: ForecastLimits


@dataclass(frozen=True, slots=True)
class Capacity:
    """The capacity of a site at one time."""

    structures: Sequence[FleetStructure]
    """The most urgent first, within the bound of the settings."""
    total: int
    """The number of all structures."""
    series: Sequence[SeriesLimits]
    facilities: Sequence[FleetFacility]
    fits: Mapping[tuple[str, str], FitVersion]
    measured_until: Mapping[str, datetime]
    """The last hour with records of each group."""


def read_capacity(database: Database, *, lead_time_days: int, most_structures: int) -> Capacity:
    """Read the capacity in one transaction.

    Args:
        database: The database.
        lead_time_days: Days that the site needs to make a structure larger; the order of structures depends on it.
        most_structures: Number of structures that get metrics of their own, the most urgent ones.
    """
    with database.session(writes=False) as session:
        state = state_of_fleet(session, lead_time_days=lead_time_days)
        own = not_simulated(state.structures)
        shown = own[:most_structures]
        keys = {(each.qsg, each.structure) for each in shown}
        ranked = [each for each in state.ranked if each.structure in keys]
        limits = limits_of(session, [each.number for each in ranked])
        groups = {each.qsg for each in own}
        return Capacity(
            structures=shown,
            total=len(own),
            series=[
                SeriesLimits((*each.structure, each.row.measure, each.row.queue_manager), limits[each.number])
                for each in ranked
                if each.number in limits
            ],
            facilities=state.placed.facilities,
            fits=_fits(session, is_simulated=all(map(has_simulated_name, groups)) if groups else False),
            measured_until={
                qsg: hour for qsg, hour in usage.last_measured_hours(session).items() if qsg in groups
            },
        )


def _fits(session: Session, *, is_simulated: bool) -> Mapping[tuple[str, str], FitVersion]:
    return {
        (
            each.coupling_facility or "sizing points",
            "unknown" if each.cfcc_level is None else str(each.cfcc_level),
        ): each
        for each in nightly.current_curves(session)
        if is_simulated or not each.is_simulated
    }


class CapacityCollector(Collector):
    """The capacity as metrics; without it, because it could not be read in time, only `cfplan_capacity_up` is 0."""

    def __init__(self, capacity: Capacity | None) -> None:
        self._capacity = capacity

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        yield GaugeMetricFamily(
            "cfplan_capacity_up",
            "Whether structures and forecasts were read for this scrape: 1 or 0.",
            value=float(self._capacity is not None),
        )
        if self._capacity is None:
            return
        yield from _counts(self._capacity)
        yield from _of_structures(self._capacity.structures)
        yield from _of_limits(self._capacity.series)
        yield from _of_facilities(self._capacity.facilities)
        yield from _of_fits(self._capacity.fits)
        yield _family(
            "cfplan_data_timestamp_seconds",
            "Start of the last hour with records, by queue-sharing group.",
            ("qsg",),
            (((qsg,), hour.timestamp()) for qsg, hour in self._capacity.measured_until.items()),
        )


def _counts(capacity: Capacity) -> Iterator[Metric]:
    yield GaugeMetricFamily("cfplan_structures", "Structures, measured or planned.", value=capacity.total)
    yield GaugeMetricFamily(
        "cfplan_structures_omitted",
        "Structures without metrics of their own, because there are more than CFPLAN_METRICS_STRUCTURES.",
        value=capacity.total - len(capacity.structures),
    )


def _of_structures(structures: Sequence[FleetStructure]) -> Iterator[Metric]:
    named = [((each.qsg, each.structure), each) for each in structures]
    yield _family(
        "cfplan_structure_used_ratio",
        "The fuller of entries and elements in the last hour with measured use: 1 is full.",
        _OF_STRUCTURE,
        ((key, float(each.used_percent) / _PERCENT) for key, each in named if each.used_percent is not None),
    )
    yield _family(
        "cfplan_structure_size_bytes",
        "Measured size of a structure, or else the INITSIZE of its plan.",
        _OF_STRUCTURE,
        ((key, each.size_bytes) for key, each in named if each.size_bytes is not None),
    )
    yield _family(
        "cfplan_structure_full",
        "Whether the structure was full in the last 7 days of records: 1 or 0.",
        _OF_STRUCTURE,
        ((key, float(each.full is not None)) for key, each in named if each.is_measured),
    )
    yield _family(
        "cfplan_structure_measured_timestamp_seconds",
        "Start of the last hour with measured use.",
        _OF_STRUCTURE,
        ((key, each.used_at.timestamp()) for key, each in named if each.used_at is not None),
    )


def _of_limits(series: Sequence[SeriesLimits]) -> Iterator[Metric]:
    yield _family(
        "cfplan_forecast_timestamp_seconds",
        "Day on which the latest forecast was made (0:00 UTC).",
        _OF_SERIES,
        ((each.labels, _seconds(each.forecast.made_on)) for each in series),
    )
    yield _family(
        "cfplan_forecast_data_timestamp_seconds",
        "Last day of usage behind the latest forecast (0:00 UTC).",
        _OF_SERIES,
        (
            (each.labels, _seconds(each.forecast.last_day))
            for each in series
            if each.forecast.last_day is not None
        ),
    )
    limits = [((*each.labels, limit.level), limit) for each in series for limit in each.forecast.limits]
    yield _family(
        "cfplan_limit_value",
        "Value of a limit, in list entries, list elements or blocks of a data set, by measure.",
        _OF_LIMIT,
        ((key, limit.value) for key, limit in limits if limit.value is not None),
    )
    yield _family(
        "cfplan_limit_passed",
        "Whether the usual daily peak is past the limit already: 1 or 0.",
        _OF_LIMIT,
        ((key, float(limit.is_passed)) for key, limit in limits),
    )
    yield _family(
        "cfplan_limit_timestamp_seconds",
        "Day on which the forecast expects the limit to be passed (0:00 UTC): median and bounds of the 80 % interval. "
        "Missing if it is beyond the horizon.",
        (*_OF_LIMIT, "estimate"),
        (
            ((*key, label), _seconds(day))
            for key, limit in limits
            for label, day in _dates(limit)
            if day is not None
        ),
    )


def _dates(limit: ExpectedLimit) -> Iterator[tuple[str, date | None]]:
    for quantile, label in ESTIMATES.items():
        yield label, getattr(limit.dates, quantile)


def _of_facilities(facilities: Sequence[FleetFacility]) -> Iterator[Metric]:
    """Yield the storage of coupling facilities; the first three have the names of IBM's metrics for RMF data."""
    known = [(each, each.storage_bytes, each.white_space_bytes) for each in facilities]
    sized = [
        (each.name, size, free)
        for each, size, free in known
        if size is not None and free is not None and size > 0
    ]
    yield _family(
        "mvs_cf_storage_size_bytes",
        "Storage of a coupling facility, as the plans state it.",
        ("name",),
        (((name,), size) for name, size, _ in sized),
    )
    yield _family(
        "mvs_cf_storage_available_bytes",
        "Storage that no structure of the plans, no measured structure, and nothing else that the plans state uses.",
        ("name",),
        (((name,), free) for name, _, free in sized),
    )
    yield _family(
        "mvs_cf_storage_utilized_percent",
        "Share of the storage that is not available, in percent.",
        ("name",),
        (((name,), _PERCENT * (size - free) / size) for name, size, free in sized),
    )
    yield _family(
        "cfplan_cf_structures",
        "Structures with a copy in a coupling facility, measured or planned.",
        ("name",),
        (((each.name,), each.structures) for each in facilities),
    )
    yield _family(
        "cfplan_cf_storage_needed_after_loss_bytes",
        "Most storage that the structures of another, lost coupling facility need in this one.",
        ("name",),
        (((each.name,), each.after_loss.needed_bytes) for each in facilities if each.after_loss is not None),
    )
    yield _family(
        "cfplan_cf_structures_unplaced_after_loss",
        "Structures that cannot be placed elsewhere if this coupling facility is lost.",
        ("name",),
        (((each.name,), len(each.unplaced)) for each in facilities),
    )


def _of_fits(fits: Mapping[tuple[str, str], FitVersion]) -> Iterator[Metric]:
    yield _family(
        "cfplan_fit_timestamp_seconds",
        "Time at which the current fitted curve was made.",
        _OF_FIT,
        ((key, each.made_at.timestamp()) for key, each in fits.items()),
    )
    yield _family(
        "cfplan_fit_data_timestamp_seconds",
        "Last day of data behind the current fitted curve (0:00 UTC).",
        _OF_FIT,
        ((key, _seconds(each.last_day)) for key, each in fits.items() if each.last_day is not None),
    )


def _family(
    name: str, text: str, labels: Sequence[str], samples: Iterable[tuple[Sequence[str], float]]
) -> Metric:
    family = GaugeMetricFamily(name, text, labels=labels)
    for values, value in samples:
        family.add_metric(values, value)
    return family


def _seconds(day: date) -> float:
    return datetime.combine(day, time(), UTC).timestamp()
