"""All tables of the database.

A foreign key names its table by a string, which SQLAlchemy resolves only if the module of that table was imported.
"""

from __future__ import annotations

from typing import Final

from app.accounts.models import ApiToken, ExternalIdentity, OidcSignIn, SignInAttempts, User, UserSession
from app.audit.models import AuditEntry
from app.connections.models import ConnectionUse
from app.database.types import Base
from app.dds.models import DdsInterval, DdsPoller
from app.fits.points_models import StoredPoint
from app.jobs.models import JobRun
from app.nightly.models import (
    CfLevel,
    DailyStructureUsage,
    FitVersion,
    ForecastScore,
    NightlyRun,
    StoredFinding,
    StoredForecast,
    StoredHealth,
)
from app.notices.models import LimitBaseline, Notice, NoticeDelivery, NoticeMessage, NoticeProgress
from app.plans.models import Plan, PlanAcknowledgment, PlanApproval, PlanOutput, PlanVersion, StoredPlanName
from app.scenarios.models import Scenario
from app.uploads.models import BatchFile, QsgMapping, Upload
from app.usage.models import (
    HourlyQueueUsage,
    HourlySmdsUsage,
    HourlyStructureUsage,
    MeasuredQueue,
    StoredMeasuredStructure,
)
from app.zosmf.models import AppliedPolicy, PolicyDrift, VerifiedUnit

TABLES: Final[tuple[type[Base], ...]] = (
    Plan, PlanVersion, PlanOutput, StoredPlanName, Upload, BatchFile, QsgMapping, JobRun,
    StoredMeasuredStructure, MeasuredQueue, HourlyStructureUsage, HourlySmdsUsage, HourlyQueueUsage,
    NightlyRun, FitVersion, StoredForecast, ForecastScore, StoredFinding, DailyStructureUsage, StoredHealth, CfLevel, Scenario,
    User, UserSession, ApiToken, SignInAttempts, ExternalIdentity, OidcSignIn,
    AuditEntry, PlanAcknowledgment, PlanApproval, StoredPoint,
    ConnectionUse, VerifiedUnit, AppliedPolicy, PolicyDrift, DdsPoller, DdsInterval,
    NoticeMessage, Notice, NoticeDelivery, LimitBaseline, NoticeProgress,
)  # fmt: skip
