"""The result of a plan: its structures, where they are allocated, its clusters, and the findings.

The core calculates with `PlanResult`, in bytes and exact fractions. REST, the command line, stored versions and pages show
the figures of `PlanAnswer`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from planner_core import CORE_VERSION
from planner_core.clusters.load import ClusterLoad
from planner_core.document.model import PlanDocument
from planner_core.findings import Finding, FindingGroup, finding_groups
from planner_core.names import Role
from planner_core.provenance import Explanation
from planner_core.sizing.placement import (
    Allocation,
    FacilityStorage,
    PlannedResult,
)
from planner_core.sizing.structure_answer import StructureAnswer, structure_answer, structure_json
from planner_core.sizing.structure_result import StructureResult
from planner_core.sizing.structure_size import Curve, CurveSummary
from planner_core.units import bytes_to_kib_ceil
from planner_core.wire import Answer, Hidden, Omittable

_NO_STRUCTURES = b'"structures":[]'
Purpose = Literal["result", "sizes"]
"""The use of an evaluation: a complete result, or only its sizes, places and errors.

Advice on queue depths takes most of the time of an evaluation. Without it there are no warnings about depths; all errors
are found.
"""


class IncompleteResult(RuntimeError):
    """A result that was evaluated only for its sizes is shown as a complete one."""


@dataclass(frozen=True, slots=True)
class SizeUnderCurve(Answer):
    """The sizes that one curve gives."""

    need_bytes: int
    initsize_kib: int
    size_kib: int


@dataclass(frozen=True, slots=True)
class SizeDifference(Answer):
    """The sizes under the fitted curve minus those under the published one."""

    need_bytes: int
    initsize_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeUnderBothCurves(Answer):
    """Sizes under both curves. A size that the document gives is the same in both."""

    published: SizeUnderCurve
    fitted: SizeUnderCurve
    difference: SizeDifference


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveStructure(SizeUnderBothCurves):
    """One structure under both curves."""

    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class CurveComparison(Answer):
    """The plan under the published curve and under the fitted one that it names."""

    published: CurveSummary
    fitted: CurveSummary
    structures: tuple[CurveStructure, ...]
    totals: SizeUnderBothCurves
    plain: Hidden[PlanResult | None] = None
    """The plan under the published curve, so that its figures can be explained. Stored results do not have it."""


@dataclass(frozen=True, slots=True)
class PlanTotals(Answer):
    """Sums over all structures."""

    structures: int
    initsize_kib: int
    size_kib: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAnswer(Answer):
    """The result of a plan document."""

    core_version: str
    qsg: str
    queue_managers: int
    cfcc_level: int
    curve: CurveSummary
    structures: tuple[StructureAnswer, ...]
    coupling_facilities: Annotated[
        Omittable[tuple[FacilityStorage, ...]],
        Field(
            description="Those of the document, followed by those that only a PREFLIST names. Plan versions saved by an "
            "earlier cfplan have none."
        ),
    ] = None
    totals: PlanTotals
    findings: tuple[Finding, ...]
    finding_groups: Annotated[
        tuple[FindingGroup, ...],
        Field(
            description="The same findings grouped by code and severity: errors first, then the largest groups."
        ),
    ]
    clusters: Annotated[
        Omittable[ClusterLoad],
        Field(description="Only if the document has `clusters`: their load on the structures."),
    ] = None
    comparison: Annotated[
        Omittable[CurveComparison],
        Field(description="Only with a fitted curve: the same plan with the published one."),
    ] = None
    explanations: Annotated[
        Omittable[Mapping[str, Explanation]],
        Field(description="With explain=true: by the JSON pointer of the explained figure."),
    ] = None


@dataclass(frozen=True, slots=True)
class PlanResult:
    """A plan and all of its calculated figures, which do not depend on when or where they were calculated."""

    document: PlanDocument
    curve: Curve
    """The fitted curve, or the published one of the highest level of all structures. Each structure has its own
    curve."""
    structures: tuple[StructureResult, ...]
    allocation: Allocation[PlannedResult] = field(repr=False)
    """The allocation of the structures by XCF, based on INITSIZE and with every coupling facility available."""
    findings: tuple[Finding, ...]
    core_version: str = field(default=CORE_VERSION)
    comparison: CurveComparison | None = None
    """The same plan under the published curve and the fitted one, if it was requested."""
    clusters: ClusterLoad | None = None
    """The load of clusters on the structures; None if the document names none."""
    purpose: Purpose = "result"
    written: list[bytes] = field(init=False, default_factory=list, repr=False, compare=False)
    """The JSON text of its answer without depths and explanations, once it was needed (`json_bytes`)."""

    def answer(
        self, *, depths: bool = False, explanations: Mapping[str, Explanation] | None = None
    ) -> PlanAnswer:
        """Return the figures; with `depths`, the structures have advice on the depths of each queue.

        Raises:
            IncompleteResult: The plan was evaluated only for its sizes.
        """
        places = self.allocation.places
        structures = tuple(
            structure_answer(each, depths=depths, places=places[each.cfrm_name]) for each in self.structures
        )
        return self._answer(structures, explanations)

    def json_bytes(
        self,
        *,
        depths: bool = False,
        only: int | None = None,
        explanations: Mapping[str, Explanation] | None = None,
    ) -> bytes:
        """Return the JSON text of `answer`, which takes the same arguments, with the kept texts of structures.

        With `only`, advice on the depths of each queue is limited to the structure at this place. The text without depths
        and explanations is kept with the result.
        """
        is_plain = not depths and explanations is None
        if is_plain and self.written:
            return self.written[0]
        places = self.allocation.places
        structures = [
            structure_json(each, depths=depths and only in (None, index), places=places[each.cfrm_name])
            for index, each in enumerate(self.structures)
        ]
        # A quote inside a JSON string is escaped, so this can only be the member itself.
        before, empty, after = self._answer((), explanations).json_bytes().partition(_NO_STRUCTURES)
        text = b"".join((before, empty[:-1], b",".join(structures), empty[-1:], after))
        if is_plain:
            self.written[:] = [text]
        return text

    def _answer(
        self,
        structures: tuple[StructureAnswer, ...],
        explanations: Mapping[str, Explanation] | None,
    ) -> PlanAnswer:
        self.check_complete()
        return PlanAnswer(
            core_version=self.core_version,
            qsg=self.document.qsg,
            queue_managers=self.document.queue_manager_count,
            cfcc_level=self.document.cfcc_level,
            curve=self.curve.summary,
            structures=structures,
            coupling_facilities=tuple(use.storage() for use in self.allocation.facilities),
            totals=PlanTotals(
                len(self.structures),
                sum([bytes_to_kib_ceil(each.initsize_bytes) for each in self.structures]),
                sum([bytes_to_kib_ceil(each.size_bytes) for each in self.structures]),
            ),
            findings=self.findings,
            finding_groups=finding_groups(self.findings),
            clusters=self.clusters,
            comparison=self.comparison,
            explanations=explanations,
        )

    def check_complete(self) -> None:
        """Refuse to show a result that lacks advice and warnings.

        Raises:
            IncompleteResult: The plan was evaluated only for its sizes.
        """
        if self.purpose != "result":
            raise IncompleteResult

    def as_json(self, *, depths: bool = False) -> dict[str, Any]:
        """Return the figures as values that the json module can write."""
        return self.answer(depths=depths).as_json()
