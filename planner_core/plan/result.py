"""The result of a plan: its structures, where they are allocated, its clusters, and the findings."""

from __future__ import annotations

from dataclasses import dataclass, field

from planner_core import CORE_VERSION
from planner_core.clusters.load import ClusterLoad
from planner_core.document.model import PlanDocument
from planner_core.findings import Finding
from planner_core.sizing.placement import Allocation
from planner_core.sizing.structure_result import Role, StructureResult
from planner_core.sizing.structure_size import Curve
from planner_core.units import bytes_to_kib_ceil


@dataclass(frozen=True, slots=True)
class PlanResult:
    """The whole answer. Nothing in it depends on when or where it was computed."""

    document: PlanDocument
    curve: Curve
    """The fitted curve, or the published one of the highest level that a structure is sized for; structures have their own."""
    structures: tuple[StructureResult, ...]
    allocation: Allocation = field(repr=False)
    """Where XCF allocates the structures, counted with INITSIZE and with every coupling facility there."""
    findings: tuple[Finding, ...]
    core_version: str = field(default=CORE_VERSION)
    comparison: CurveComparison | None = None
    """The same plan under the published curve beside the fitted one; only where it was asked for."""
    clusters: ClusterLoad | None = None
    """What clusters put on the structures; None where the document names none."""

    def as_json(self, *, depths: bool = False) -> dict[str, object]:
        """JSON-ready; `explain.result_json` adds how every figure came about.

        `comparison` is there for a plan that was compared. With `depths`, the structures have advice on the depths of
        each queue.
        """
        places = self.allocation.places
        found: dict[str, object] = {
            "core_version": self.core_version,
            "qsg": self.document.qsg,
            "queue_managers": self.document.queue_manager_count,
            "cfcc_level": self.document.cfcc_level,
            "curve": self.curve.as_json(),
            "structures": [
                structure.as_json(depths=depths, places=places[structure.cfrm_name])
                for structure in self.structures
            ],
            "coupling_facilities": [use.as_json() for use in self.allocation.facilities],
            "totals": {
                "structures": len(self.structures),
                "initsize_kib": sum(bytes_to_kib_ceil(s.sizes.initsize_bytes) for s in self.structures),
                "size_kib": sum(bytes_to_kib_ceil(s.sizes.size_bytes) for s in self.structures),
            },
            "findings": [finding.as_json() for finding in self.findings],
        }
        if self.clusters is not None:
            found["clusters"] = self.clusters.as_json()
        if self.comparison is not None:
            found["comparison"] = self.comparison.as_json()
        return found


@dataclass(frozen=True, slots=True)
class CurveSize:
    """What one curve gives for one structure [bytes]."""

    need_bytes: int
    initsize_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class StructureComparison:
    """One structure under both curves. A size that the plan gives is the same under both."""

    name: str
    role: Role
    published: CurveSize
    fitted: CurveSize

    @property
    def difference(self) -> CurveSize:
        """Fitted less published."""
        return _less(self.fitted, self.published)


@dataclass(frozen=True, slots=True)
class CurveComparison:
    """A plan under the published curve and under a fitted one."""

    published: Curve
    fitted: Curve
    structures: tuple[StructureComparison, ...]
    plain: PlanResult
    """The plan under the published curve, so that its figures can be explained."""

    @property
    def total(self) -> StructureComparison:
        """The sums over all structures; its name is empty."""
        return StructureComparison(
            "",
            "application",
            _sum([item.published for item in self.structures]),
            _sum([item.fitted for item in self.structures]),
        )

    def as_json(self) -> dict[str, object]:
        """JSON-ready; sizes in KiB as a policy states them, needs and differences in bytes."""
        total = _comparison_json(self.total)
        return {
            "published": self.published.as_json(),
            "fitted": self.fitted.as_json(),
            "structures": [
                {"name": item.name, "role": item.role, **_comparison_json(item)} for item in self.structures
            ],
            "totals": total,
        }


def _less(one: CurveSize, other: CurveSize) -> CurveSize:
    return CurveSize(
        one.need_bytes - other.need_bytes,
        one.initsize_bytes - other.initsize_bytes,
        one.size_bytes - other.size_bytes,
    )


def _sum(items: list[CurveSize]) -> CurveSize:
    return CurveSize(
        sum(item.need_bytes for item in items),
        sum(item.initsize_bytes for item in items),
        sum(item.size_bytes for item in items),
    )


def _comparison_json(item: StructureComparison) -> dict[str, object]:
    def sized(sizes: CurveSize) -> dict[str, object]:
        return {
            "need_bytes": sizes.need_bytes,
            "initsize_kib": bytes_to_kib_ceil(sizes.initsize_bytes),
            "size_kib": bytes_to_kib_ceil(sizes.size_bytes),
        }

    difference = item.difference
    return {
        "published": sized(item.published),
        "fitted": sized(item.fitted),
        "difference": {
            "need_bytes": difference.need_bytes,
            "initsize_bytes": difference.initsize_bytes,
            "size_bytes": difference.size_bytes,
        },
    }
