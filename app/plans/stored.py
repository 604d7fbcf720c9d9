"""Values read from the database that can be used after the session ends. Large texts are parsed on first use."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from app.database.damage import check_after_failure, reading_stored
from app.paging import ResultPage
from planner_core import CORE_VERSION
from planner_core.document.model import CouplingFacility, OtherStructure, PlanDocument, Structure
from planner_core.document.reading import read_json
from planner_core.document.schema import with_new_keys
from planner_core.findings import Finding, FindingGroup, finding_groups, read_findings
from planner_core.garbage import collection_paused
from planner_core.sizing.structure_answer import StoredStructure, stored_others, stored_structures
from planner_core.wire import Answer, JsonObject, adapter

EXAMPLE_CHOICE = ".example"
"""The plan name of the example in an address; no plan has a name that begins with a dot."""
NAME_PATTERN = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}"
"""Pattern of plan names, which makes them safe in addresses and as file names."""
ETag = Annotated[
    str, Field(description="The strong validator, quotes included: send it in If-Match.", examples=['"17.3"'])
]


_List = Literal["coupling_facilities", "other_structures", "acknowledged"]
"""Lists of a document whose keys occur nowhere else in it."""
_DECODER: Final = json.JSONDecoder()
_OF_DOCUMENTS: Final = ("qsg", "structures")
_OF_RESULTS: Final = ("qsg", "cfcc_level", "structures", "totals", "findings")
"""Members that every document and every result has, whichever version of cfplan stored it."""


class _Unread(BaseModel):
    """A JSON object whose members are parsed, but of which no Python objects are made."""


class _DocumentOutline(BaseModel):
    """The members that every stored document has; parsing it like this takes a quarter of the time of `json.loads`."""

    qsg: str
    structures: list[_Unread]


class PlanReference(NamedTuple):
    """The latest version of a plan."""

    name: str
    version: int


@dataclass(frozen=True)
class StoredVersion:
    """One version of a plan, as it was saved."""

    plan_id: int
    name: str
    number: int
    latest: int
    created_at: datetime
    comment: str | None
    core_version: str
    document_json: str
    curve_json: str
    result_json: str
    author: str | None = None
    """Who saved it; None if the service did not record authors yet."""

    @property
    def etag(self) -> str:
        """The strong ETag of this version, for If-Match."""
        return etag(self.plan_id, self.number)

    @property
    def is_latest(self) -> bool:
        """Whether no newer version existed when this one was read."""
        return self.number == self.latest

    @cached_property
    def document(self) -> PlanDocument:
        """The plan document."""
        with self._reading():
            return read_json(self.document_json, is_stored=True)

    @cached_property
    def document_object(self) -> JsonObject:
        """The plan document as a JSON object, complete with defaults."""
        with self._reading():
            return stored_document(self.document_json)

    @cached_property
    def comparable_object(self) -> JsonObject:
        """The document for comparisons, with defaults for keys added since it was stored."""
        document = self.document_object
        with self._reading():
            return with_new_keys(document)

    @cached_property
    def coupling_facilities(self) -> tuple[CouplingFacility, ...]:
        """The coupling facilities of the document."""
        with self._reading():
            return tuple(map(CouplingFacility.model_validate, self._list("coupling_facilities")))

    @property
    def others(self) -> tuple[StoredStructure, ...]:
        """The structures of the document that are not the group's, to place them with those of the result."""
        with self._reading():
            return others_of({key: self._list(key) for key in ("coupling_facilities", "other_structures")})

    @property
    def acknowledged(self) -> list[JsonObject]:
        """The acknowledged findings of the document."""
        with self._reading():
            return self._list("acknowledged")

    def _list(self, key: _List) -> list[JsonObject]:
        """Return a list of the document without parsing the rest, which can be tens of megabytes; empty if it has none."""
        if "document_object" not in self.__dict__:
            # Quotation marks inside of values are escaped, so this can only be the key. All documents are stored without
            # spaces.
            marker = f'"{key}":['
            at = self.document_json.rfind(marker)
            if at >= 0:
                start = at + len(marker) - 1
                found: list[JsonObject] = _DECODER.raw_decode(self.document_json, start)[0]
                return found
        return self.document_object.get(key) or []

    def structure(self, name: str) -> Structure | None:
        """Return an application structure of the document without reading the rest."""
        items = self.document_object["structures"]
        with self._reading():
            return next((Structure.model_validate(item) for item in items if item["name"] == name), None)

    @cached_property
    def curve(self) -> JsonObject:
        """The curve of the result."""
        with self._reading():
            return stored_object(self.curve_json)

    @cached_property
    def result(self) -> JsonObject:
        """The stored result, which is never recalculated."""
        with self._reading():
            found = stored_result(self.result_json)
        check_after_failure(self.check_members)
        return found

    @property
    def comparable_result(self) -> JsonObject:
        """The result for comparisons, without the groups of findings, which repeat its findings."""
        return {key: value for key, value in self.result.items() if key != "finding_groups"}

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of the result."""
        found = self.result["findings"]
        with self._reading():
            return read_findings(found)

    @cached_property
    def finding_groups(self) -> tuple[FindingGroup, ...]:
        """The findings grouped by code; results of earlier releases have no groups of their own."""
        return finding_groups(self.findings)

    @cached_property
    def structures(self) -> tuple[StoredStructure, ...]:
        """The structures of the result, for calculations."""
        found = self.result
        with self._reading():
            return stored_structures(found)

    def check_texts(self) -> None:
        """Check texts that are sent as they were stored: a damaged one would not be JSON."""
        _ = self.curve, self.result
        if "document_object" in self.__dict__:
            return
        try:
            _DocumentOutline.model_validate_json(self.document_json)
        except ValidationError:
            # The reader of all other uses decides: it reads what pydantic does not, such as a half of a surrogate pair.
            _ = self.document_object

    def check_members(self) -> None:
        """Check all members of the document, and those of the result if this version of cfplan has stored it."""
        from planner_core.plan.result import PlanAnswer  # only after failures

        _ = self.document
        # Results of other versions may have other members.
        if self.core_version != CORE_VERSION:
            return
        with self._reading():
            try:
                adapter(PlanAnswer).validate_json(self.result_json)
            except ValidationError as error:
                # Builds between two releases have one version: a member may have been added since.
                if not any(
                    each["type"] == "missing" and len(each["loc"]) == 1
                    for each in error.errors(include_url=False, include_input=False)
                ):
                    raise

    def _reading(self) -> AbstractContextManager[None]:
        return reading_version(self.name, self.number)


@dataclass(frozen=True, slots=True)
class Figures(Answer):
    """The figures of a version; acknowledged findings are not counted."""

    qsg: str
    structures: int
    initsize_kib: int
    size_kib: int
    errors: int
    warnings: int
    infos: int
    acknowledged: Annotated[int, Field(description="Findings that the document acknowledges with a reason.")]


@dataclass(frozen=True, slots=True)
class PlanSummary(Figures):
    """A plan in the list."""

    name: str
    version: int
    etag: ETag
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class PlanList(ResultPage[PlanSummary]):
    """One page of the list of plans."""

    items: Annotated[tuple[PlanSummary, ...], Field(serialization_alias="plans")]


@dataclass(frozen=True, slots=True)
class VersionSummary(Figures):
    """A version in the history."""

    number: Annotated[int, Field(serialization_alias="version")]
    etag: ETag
    created_at: datetime
    comment: str | None
    core_version: str
    is_latest: bool
    author: Annotated[
        str | None, Field(description="Who saved the version; null if the service did not record it yet.")
    ]
    approver: Annotated[
        str | None, Field(description="The user who approved the version; null without an approval.")
    ]
    approved_at: datetime | None


@dataclass(frozen=True, slots=True)
class DeletedPlan(Answer):
    """A plan that was deleted and can be restored."""

    id: Annotated[int, Field(description="Its number, which distinguishes plans that had the same name.")]
    name: str
    version: int
    qsg: str
    saved_at: Annotated[datetime, Field(description="When its last version was saved.")]
    comment: Annotated[str | None, Field(description="The comment of its last version.")]
    deleted_at: datetime


@dataclass(frozen=True, slots=True)
class StoredOutput:
    """A text for z/OS, as it was saved with its version."""

    plan_id: int
    number: int
    kind: str
    text: str
    filename: str
    etag: str
    findings: str


@dataclass(frozen=True, slots=True)
class StoredText:
    """A text for z/OS and its file name, as they were saved."""

    text: str
    filename: str


@dataclass(frozen=True, slots=True)
class SaveOutcome:
    """The version after saving, and whether it is new, changed or identical."""

    version: StoredVersion
    status: Literal["created", "changed", "identical"]


def reading_version(name: str, number: int) -> AbstractContextManager[None]:
    """Report stored texts of a version of a plan that cannot be read in the block as damaged data."""
    return reading_stored(f"Version {number} of the plan {name}")


def stored_document(text: str) -> JsonObject:
    """Return a stored document as a JSON object; used inside `reading_version`."""
    return stored_object(text, _OF_DOCUMENTS)


def stored_result(text: str) -> JsonObject:
    """Return a stored result; used inside `reading_version`."""
    return stored_object(text, _OF_RESULTS)


def stored_object(text: str, members: Sequence[str] = ()) -> JsonObject:
    """Return a stored JSON object.

    Raises:
        ValueError: The text is not JSON, or not an object with these members.
    """
    with collection_paused(len(text)):
        found: JsonObject = json.loads(text)
    if not isinstance(found, dict) or not found.keys() >= set(members):
        message = f"it is not a JSON object with the members {', '.join(members) or 'of its kind'}"
        raise ValueError(message)
    return found


def etag(plan_id: int, number: int, representation: str = "") -> str:
    """Return the strong ETag of a version and representation. Ids of plans are never reused."""
    return f'"{plan_id}.{number}{"-" if representation else ""}{representation}"'


def others_of(document: JsonObject) -> tuple[StoredStructure, ...]:
    """Return the structures of a stored document that are not the group's; documents of earlier versions have none."""
    others = [OtherStructure.model_validate(each) for each in document.get("other_structures", ())]
    return stored_others(others, [each["name"] for each in document["coupling_facilities"]])
