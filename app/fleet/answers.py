"""The overview as REST returns it and the page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, computed_field

from app.nightly.service import SeverityCounts
from app.usage.measured import Known, Percent, Simulatable
from app.web.tables import Severity
from planner_core.contracts.forecasts import QuantileDates, QuantileDays
from planner_core.findings import Finding
from planner_core.units import Mib
from planner_core.urgency import Fullness
from planner_core.wire import Answer, Hidden

UrgencyLevel = Literal["full_now", "was_full", "passed", "soon", "later", "none", "high", "unknown"]
"""The urgency of a structure.

- `full_now`, `was_full`: all of it is in use, or was within the last 7 days of records.
- `passed`, `soon`, `later`: a limit has been passed, or is expected within the lead time of the site, or after it.
- `none`: no limit is expected within the horizon of the forecast.
- `high`: there is no forecast, and 80 % or more is in use.
- `unknown`: there is no forecast.
"""


@dataclass(frozen=True, slots=True)
class AfterLoss(Answer):
    """The storage that structures of a lost coupling facility need in another one."""

    lost: Annotated[str, Field(description="The coupling facility whose loss needs the most storage here.")]
    needed_bytes: Annotated[Mib, Field(alias="needed_mib")]
    is_enough: Annotated[
        bool | None, Field(description="True if this storage is free; null if the size is not known.")
    ]


@dataclass(frozen=True, slots=True)
class FleetFacility(Answer):
    """A coupling facility: its contents, and the storage that it needs after the loss of another one."""

    name: Annotated[str, Field(alias="coupling_facility")]
    storage_bytes: Annotated[
        Mib | None, Field(alias="storage_mib", description="Null if no plan states its size.")
    ]
    others_bytes: Annotated[
        Mib, Field(alias="others_mib", description="Dump space and structures outside the plans, as stated.")
    ]
    structures_bytes: Annotated[Mib, Field(alias="structures_mib", description="First copies of structures.")]
    second_copies_bytes: Annotated[
        Mib, Field(alias="second_copies_mib", description="Second copies of duplexed structures.")
    ]
    structures: Annotated[int, Field(description="Structures with a copy there.")]
    measured: Annotated[
        int, Field(description="Structures whose place there was measured; the others are planned.")
    ]
    after_loss: Annotated[AfterLoss | None, Field(description="Null if there is no other coupling facility.")]
    unplaced: Annotated[
        tuple[str, ...],
        Field(alias="unplaced_after_its_loss", description="Structures that cannot be placed without it."),
    ]

    @computed_field(alias="white_space_mib", description="Free storage; null if its size is not known.")
    @property
    def white_space_bytes(self) -> Mib | None:
        """Storage that no structure uses [bytes]."""
        if self.storage_bytes is None:
            return None
        return self.storage_bytes - self.others_bytes - self.structures_bytes - self.second_copies_bytes

    @property
    def is_short(self) -> bool:
        """Whether it has too little free storage for the loss of another coupling facility."""
        return self.after_loss is not None and self.after_loss.is_enough is False


@dataclass(frozen=True, slots=True)
class FleetLimit(Answer):
    """The limit that a structure reaches first, by its latest forecast."""

    measure: Annotated[str, Field(description="The measure, such as `List entries`.")]
    level: Annotated[str, Field(description="The limit, such as `85 %` or `SIZE`.")]
    is_passed: Annotated[bool, Field(description="The limit has been passed already.")]
    days: Annotated[
        QuantileDays, Field(description="Days from `made_on`: median and 80 % interval; null is beyond.")
    ]
    dates: Annotated[QuantileDates, Field(description="The same days as dates.")]
    made_on: date
    horizon_days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetStructure(Simulatable):
    """A structure of the fleet, measured or planned."""

    structure: Annotated[str, Field(description="Name without the group's, as MQ has it.")]
    urgency: UrgencyLevel
    urgency_text: Annotated[str, Field(description="The urgency in words.")]
    severity: Hidden[Severity]
    """The severity of the urgency; empty for none."""
    full: Annotated[
        Fullness | None, Field(description="When it was full in the last 7 days of records; else null.")
    ]
    used_percent: Annotated[
        Percent, Field(description="The fuller of entries and elements in the last hour with measured use.")
    ]
    used_pool: Annotated[
        Literal["entries", "elements"] | None,
        Field(description="The fuller of the two; null if not measured."),
    ]
    used_at: Annotated[datetime | None, Field(description="The hour of `used_percent`.")]
    size_bytes: Known
    last_full_hour: Annotated[datetime | None, Field(description="The last hour in which it was found full.")]
    next_limit: Annotated[
        FleetLimit | None, Field(description="Null without a forecast, or if no limit is expected.")
    ]
    horizon_days: Annotated[
        int | None, Field(description="Days that its forecast covers; null without a forecast.")
    ]
    outlook: Annotated[str, Field(description="Its forecast in words; empty if there is none.")]
    coupling_facilities: Annotated[
        tuple[str, ...],
        Field(description="Where its copies are, measured or else planned; the primary first."),
    ]
    plans: Annotated[tuple[str, ...], Field(description="Plans whose latest version contains the structure.")]
    is_measured: Annotated[bool, Field(description="False if it is only in plans.")]
    has_forecast: Hidden[bool]


@dataclass(frozen=True, slots=True)
class FleetRun(Answer):
    """The latest nightly run."""

    id: int
    state: str
    sentence: Annotated[str, Field(description="Its progress or its outcome, in words.")]
    created_at: datetime
    ended_at: datetime | None
    finding_counts: SeverityCounts

    @property
    def is_failed(self) -> bool:
        """Whether it failed."""
        return self.state == "failed"


@dataclass(frozen=True, slots=True)
class FleetPlan(Answer):
    """A plan with findings that are not acknowledged."""

    name: str
    version: int
    qsg: str
    errors: int
    warnings: int


@dataclass(frozen=True, slots=True)
class FleetAction(Answer):
    """An action that the overview recommends."""

    severity: Annotated[Literal["error", "warning", "info"], Field(description="The urgency.")]
    subject: Annotated[str, Field(description="Structure, coupling facility, run, upload, plan or group.")]
    reason: Annotated[str, Field(description="The reason, in words.")]
    action: Annotated[str, Field(description="The text of the link.")]
    href: Annotated[str, Field(description="The page for the action.")]
    role: Hidden[str] = "viewer"
    """The role that the page needs."""


@dataclass(frozen=True, slots=True)
class Fleet(Answer):
    """Everything that the overview shows."""

    actions: Annotated[tuple[FleetAction, ...], Field(description="Actions, the most urgent first.")]
    coupling_facilities: tuple[FleetFacility, ...]
    structures: Annotated[tuple[FleetStructure, ...], Field(description="The most urgent first.")]
    nightly_run: Annotated[FleetRun | None, Field(description="The latest; null before the first.")]
    plans: Annotated[
        tuple[FleetPlan, ...], Field(description="Plans with open errors or warnings, errors first.")
    ]
    findings: tuple[Finding, ...] = ()


def fuller(
    entries: Fraction | float | None, elements: Fraction | float | None
) -> tuple[Fraction | float | None, Literal["entries", "elements"] | None]:
    """Return the larger of two percentages with its pool; None if neither was measured."""
    if entries is None and elements is None:
        return None, None
    if elements is None or (entries is not None and entries >= elements):
        return entries, "entries"
    return elements, "elements"
