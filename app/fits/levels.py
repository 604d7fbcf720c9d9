"""The CFCC level of each coupling facility, as entered by the site. The field in the RMF record is not reliable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy.orm import Session

from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.clock import utc_now
from app.errors import FieldsInvalid, NotFound
from app.nightly import repository
from app.nightly.models import CfLevel
from app.plans import repository as plans
from app.plans.stored import reading_version, stored_document
from app.web.field_values import digits_in
from planner_core import names
from planner_core.errors import FieldProblem, NameSyntax
from planner_core.findings import Finding
from planner_core.wire import Answer

LOWEST, HIGHEST = 1, 99
BY_SITE = "the site"
FACILITY = "coupling facility"


@dataclass(frozen=True, slots=True)
class Level(Answer):
    """The CFCC level of one coupling facility."""

    coupling_facility: str
    cfcc_level: int
    source: Annotated[str, Field(description="Who set the level.")]
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChanged(Level):
    """The level of a coupling facility after a change."""

    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Levels(Answer):
    """All coupling facilities with their CFCC levels."""

    levels: tuple[Level, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class FacilityLevel:
    """A coupling facility that an entry, a plan or a fit names, with the level that the next nightly run uses."""

    name: str
    kept: Level | None
    said: tuple[tuple[int, tuple[str, ...]], ...]
    """Levels in the latest versions of plans, each with the names of the plans."""

    @property
    def cfcc_level(self) -> int | None:
        """The level that the site has set, otherwise the one on which all plans agree, otherwise None."""
        if self.kept is not None:
            return self.kept.cfcc_level
        return self.said[0][0] if len(self.said) == 1 else None

    @property
    def is_contradicted(self) -> bool:
        """Whether plans disagree with each other or with the site."""
        return any(level != self.cfcc_level for level, _ in self.said)


def levels(session: Session) -> Sequence[Level]:
    """Return all entries, sorted by name."""
    return [_level(row) for row in repository.cf_levels(session)]


def put(
    session: Session, coupling_facility: str, cfcc_level: int | str, *, source: str = BY_SITE
) -> LevelChanged:
    """Set the level of a coupling facility. Later fits use it; existing fits keep theirs.

    Raises:
        FieldsInvalid: The name or the level is invalid.
    """
    name, number = checked(coupling_facility, cfcc_level)
    row = repository.find_cf_level(session, name)
    before = None if row is None else row.cfcc_level
    if row is None:
        row = CfLevel(coupling_facility=name)
        session.add(row)
    # PostgreSQL rejects a text longer than its column; SQLite stores it.
    row.cfcc_level, row.source, row.updated_at = number, source[:100], utc_now()
    session.flush()
    record(session, Action.LEVEL_SET, AuditObject(FACILITY, name), {"before": before, "after": number})
    return LevelChanged(name, number, row.source, row.updated_at)


def remove(session: Session, coupling_facility: str) -> None:
    """Remove the level of a coupling facility.

    Raises:
        NotFound: There is no entry.
    """
    row = repository.find_cf_level(session, coupling_facility)
    if row is None or not repository.remove_cf_level(session, coupling_facility):
        message = f"There is no CFCC level for the coupling facility {coupling_facility}."
        raise NotFound(message)
    record(
        session, Action.LEVEL_REMOVED, AuditObject(FACILITY, coupling_facility), {"before": row.cfcc_level}
    )


def checked(coupling_facility: str, cfcc_level: int | str) -> tuple[str, int]:
    """Return the normalized name and level, or raise the errors in both.

    Raises:
        FieldsInvalid: The name or the level is invalid.
    """
    problems = []
    # CFRM names are in upper case; a name typed otherwise would never match a record.
    name, text = coupling_facility.strip().upper(), str(cfcc_level).strip()
    try:
        if not name:
            problems.append(FieldProblem("coupling_facility", "Enter the name of the coupling facility."))
        else:
            names.coupling_facility(name)
    except NameSyntax as error:
        problems.append(FieldProblem("coupling_facility", str(error)))
    level = digits_in(text)
    if level is None or not LOWEST <= level <= HIGHEST:
        message = f"CFCC level must be a whole number between {LOWEST} and {HIGHEST}, as shown by D CF."
        problems.append(FieldProblem("cfcc_level", message))
    if problems or level is None:
        raise FieldsInvalid(*problems)
    return name, level


def facilities(session: Session) -> tuple[FacilityLevel, ...]:
    """Return every coupling facility that an entry, a plan or a fit names, sorted by name."""
    kept = {each.coupling_facility: each for each in levels(session)}
    said: dict[str, dict[int, list[str]]] = {name: {} for name in kept}
    for curve in repository.last_curves(session).values():
        said.setdefault(curve.coupling_facility, {})
    for plan in plans.latest_documents(session):
        with reading_version(plan.name, plan.number):
            for facility in stored_document(plan.document)["coupling_facilities"]:
                if facility["cfcc_level"] is not None:
                    by = said.setdefault(facility["name"], {}).setdefault(facility["cfcc_level"], [])
                    by.append(plan.name)
    return tuple(
        FacilityLevel(name, kept.get(name), tuple((level, tuple(by)) for level, by in sorted(of.items())))
        for name, of in sorted(said.items())
        if name
    )


def _level(row: CfLevel) -> Level:
    return Level(row.coupling_facility, row.cfcc_level, row.source, row.updated_at)
