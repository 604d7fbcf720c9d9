"""The tables of nightly runs and their results.

The results of a run are written in one transaction with its end, so either all of them are stored or none. Fits and
forecasts never change afterwards, except for the marks `is_current` and `is_latest`. A forecast replaces an earlier one
of the same series and day.
"""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Date,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.actor import LONGEST_ACTOR
from app.database.types import KEY, Base, CompressedText, Timestamp
from planner_core.contracts.nightly import LONGEST_CODE
from planner_core.wire import JsonObject

LONGEST_SCOPE = 20


class Trigger(StrEnum):
    """The reason why a run was started."""

    SCHEDULE = "schedule"
    REQUEST = "request"
    COMMAND = "command"
    SIMULATION = "simulation"


class FitState(StrEnum):
    """The state of a fit. Plans may use only an accepted fit."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    TOO_LITTLE = "too_little"


class NightlyRun(Base):
    """One run. State, progress and log are those of its job; the other columns are empty until it has succeeded."""

    __tablename__ = "nightly_runs"
    __table_args__ = (
        UniqueConstraint("job_id"),
        UniqueConstraint("due_on"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("job_runs.id", ondelete="CASCADE"))
    trigger: Mapped[str] = mapped_column(String(12))
    due_on: Mapped[date | None] = mapped_column(Date)
    """The night for which the schedule started the run, in the site's time zone. Unique, so that no night is run twice.
    """
    stored_at: Mapped[datetime | None] = mapped_column(Timestamp)
    first_day: Mapped[date | None] = mapped_column(Date)
    last_day: Mapped[date | None] = mapped_column(Date)
    days_total: Mapped[int | None] = mapped_column(Integer)
    days_reduced: Mapped[int | None] = mapped_column(Integer)
    rows_read: Mapped[int | None] = mapped_column(BigInteger)
    seconds: Mapped[JsonObject | None] = mapped_column(JSON(none_as_null=True))
    """Seconds by stage, as measured by the job."""
    counts: Mapped[JsonObject | None] = mapped_column(JSON(none_as_null=True))
    """Number of stored curves, forecasts, scores, findings and days."""
    mixes: Mapped[str | None] = mapped_column(CompressedText)
    """JSON: for each structure, message sizes and header bytes as measured on its queues."""
    published: Mapped[str | None] = mapped_column(CompressedText)
    """JSON, for the next run: digests of the data behind the stored daily peaks. Only the last run has them."""
    author: Mapped[str | None] = mapped_column(String(LONGEST_ACTOR))
    """The name of the actor who started it; None for runs started before authors were stored."""


class FitVersion(Base):
    """A fit for one coupling facility at one CFCC level. Its id is the version that plans name, and is never reused."""

    __tablename__ = "fitted_curves"
    __table_args__ = (
        Index(
            "uq_fitted_curves_current",
            "scope",
            unique=True,
            sqlite_where=text("is_current"),
            postgresql_where=text("is_current"),
        ),
        Index("ix_fitted_curves_scope", "scope"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    run_id: Mapped[int | None] = mapped_column(ForeignKey("nightly_runs.id"))
    """The run that produced it; None for a fit of sizing answers."""
    scope: Mapped[str] = mapped_column(String(LONGEST_SCOPE))
    """Coupling facility and CFCC level as one key, such as CF01@25, or CF01@? if the level is not known. Fits of sizing
    answers have the scope answers@26.
    """
    coupling_facility: Mapped[str] = mapped_column(String(8))
    cfcc_level: Mapped[int | None] = mapped_column(Integer)
    state: Mapped[str] = mapped_column(String(12))
    is_current: Mapped[bool] = mapped_column(Boolean)
    """Whether it is the latest accepted fit of its scope."""
    is_simulated: Mapped[bool] = mapped_column(Boolean)
    reason: Mapped[str] = mapped_column(Text)
    first_day: Mapped[date | None] = mapped_column(Date)
    last_day: Mapped[date | None] = mapped_column(Date)
    made_at: Mapped[datetime] = mapped_column(Timestamp)
    digest: Mapped[str] = mapped_column(String(64))
    """Digest of the fit. A fit that equals the previous one of its scope is not stored again."""
    base_bytes: Mapped[float | None] = mapped_column(Float)
    """Base, cost of an entry with its elements, and used points: figures of the fit by which lists are sorted."""
    bundle_bytes: Mapped[float | None] = mapped_column(Float)
    points: Mapped[int | None] = mapped_column(Integer)
    fit: Mapped[str] = mapped_column(CompressedText)
    """JSON, as returned by the job: figures with their intervals, points used and excluded, and breaks."""


class StoredForecast(Base):
    """A forecast of the daily peaks of one measure of a structure."""

    __tablename__ = "forecasts"
    __table_args__ = (
        Index("ix_forecasts_series", "qsg", "structure", "measure", "queue_manager"),
        Index(
            "uq_forecasts_latest",
            "qsg", "structure", "measure", "queue_manager",
            unique=True,
            sqlite_where=text("is_latest"),
            postgresql_where=text("is_latest"),
        ),
        Index("ix_forecasts_score_on", "score_on"),
        Index("ix_forecasts_made_on", "made_on"),
        {"sqlite_autoincrement": True},
    )  # fmt: skip

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("nightly_runs.id"))
    qsg: Mapped[str] = mapped_column(String(4))
    structure: Mapped[str] = mapped_column(String(16))
    measure: Mapped[str] = mapped_column(String(12))
    """The measure: entries, elements or smds_blocks."""
    queue_manager: Mapped[str] = mapped_column(String(4))
    """The owner of a shared message data set; empty for other measures."""
    state: Mapped[str] = mapped_column(String(20))
    is_latest: Mapped[bool] = mapped_column(Boolean)
    is_simulated: Mapped[bool] = mapped_column(Boolean)
    made_on: Mapped[date] = mapped_column(Date)
    first_day: Mapped[date | None] = mapped_column(Date)
    last_day: Mapped[date | None] = mapped_column(Date)
    """The last day on which the forecast is based."""
    horizon_days: Mapped[int] = mapped_column(Integer)
    earliest_crossing_day: Mapped[date | None] = mapped_column(Date)
    """The earliest day, by the median estimate, on which a level is passed within the horizon; the list of forecasts is
    sorted by this day.
    """
    probability: Mapped[float | None] = mapped_column(Float)
    """The probability that the next limit is passed within the horizon; the list of forecasts is sorted by it."""
    growth_per_30_days: Mapped[float | None] = mapped_column(Float)
    """The median growth in 30 days, as a share; the list of forecasts is sorted by it."""
    score_on: Mapped[date | None] = mapped_column(Date)
    """The next day on which the forecast is scored; empty after the last score."""
    digest: Mapped[str] = mapped_column(String(64))
    forecast: Mapped[str] = mapped_column(CompressedText)
    """JSON, as returned by the job: quantiles by day, crossings by level, the effect of resizing."""


class ForecastScore(Base):
    """A forecast compared with the days that followed it, at one of several ages."""

    __tablename__ = "forecast_scores"
    __table_args__ = (UniqueConstraint("forecast_id", "run_id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    forecast_id: Mapped[int] = mapped_column(ForeignKey("forecasts.id", ondelete="CASCADE"))
    run_id: Mapped[int] = mapped_column(ForeignKey("nightly_runs.id"))
    scored_at: Mapped[datetime] = mapped_column(Timestamp)
    days_scored: Mapped[int] = mapped_column(Integer)
    wape: Mapped[float | None] = mapped_column(Float)
    pinball: Mapped[float | None] = mapped_column(Float)
    coverage80: Mapped[float | None] = mapped_column(Float)
    score: Mapped[str] = mapped_column(CompressedText)


class StoredFinding(Base):
    """A finding of a run. Findings keep the order in which the job reported them."""

    __tablename__ = "night_findings"
    __table_args__ = (UniqueConstraint("run_id", "position"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(KEY, primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("nightly_runs.id"))
    position: Mapped[int] = mapped_column(Integer)
    code: Mapped[str] = mapped_column(String(LONGEST_CODE))
    severity: Mapped[str] = mapped_column(String(10))
    message: Mapped[str] = mapped_column(Text)
    source: Mapped[str] = mapped_column(Text)
    qsg: Mapped[str | None] = mapped_column(String(4))
    structure: Mapped[str | None] = mapped_column(String(16))
    coupling_facility: Mapped[str | None] = mapped_column(String(8))
    day: Mapped[date | None] = mapped_column(Date)
    figures: Mapped[JsonObject] = mapped_column(JSON)
    is_simulated: Mapped[bool] = mapped_column(Boolean)


class DailyStructureUsage(Base):
    """The peaks of one UTC day of a structure, as the job reduced them; a day is replaced as a whole."""

    __tablename__ = "daily_structure_usage"
    __table_args__ = (Index("ix_daily_structure_usage_day", "day"), {"sqlite_with_rowid": False})

    qsg: Mapped[str] = mapped_column(String(4), primary_key=True)
    structure: Mapped[str] = mapped_column(String(16), primary_key=True)
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    entries_peak: Mapped[int | None] = mapped_column(BigInteger)
    elements_peak: Mapped[int | None] = mapped_column(BigInteger)
    entries_total: Mapped[int | None] = mapped_column(BigInteger)
    elements_total: Mapped[int | None] = mapped_column(BigInteger)
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    full_count: Mapped[int | None] = mapped_column(BigInteger)
    smds: Mapped[list[Any] | None] = mapped_column(JSON(none_as_null=True))
    """JSON, with one object for each queue manager: queue_manager, blocks_peak, blocks_total."""
    is_simulated: Mapped[bool] = mapped_column(Boolean)


class StoredHealth(Base):
    """The health of a structure in the last days, as the last run judged it; every run replaces all of them."""

    __tablename__ = "structure_health"
    __table_args__ = (Index("ix_structure_health_has_warning", "has_warning"), {"sqlite_with_rowid": False})

    qsg: Mapped[str] = mapped_column(String(4), primary_key=True)
    structure: Mapped[str] = mapped_column(String(16), primary_key=True)
    run_id: Mapped[int] = mapped_column(ForeignKey("nightly_runs.id", ondelete="CASCADE"))
    has_warning: Mapped[bool] = mapped_column(Boolean)
    """Whether a measure is reported as a warning; the overview lists these structures."""
    is_simulated: Mapped[bool] = mapped_column(Boolean)
    health: Mapped[str] = mapped_column(CompressedText)
    """JSON, as returned by the job: a StructureHealth."""


class CfLevel(Base):
    """The CFCC level of a coupling facility. The field in the records is not reliable."""

    __tablename__ = "cf_levels"

    coupling_facility: Mapped[str] = mapped_column(String(8), primary_key=True)
    cfcc_level: Mapped[int] = mapped_column(Integer)
    source: Mapped[str] = mapped_column(String(100))
    """The source of the level: the site, or simulated data."""
    updated_at: Mapped[datetime] = mapped_column(Timestamp)
