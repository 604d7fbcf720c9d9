"""The load of clusters as pages show it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from app.clusters.flow_chart import flow_chart
from app.web.chart_svg import ChartLayout
from app.web.charts import Origin, SavedPicture
from planner_core.clusters.flow import NamedFailure
from planner_core.clusters.load import (
    ClusterLoad,
    FlowDuringFailure,
    FlowLoad,
    StructureClusterLoad,
    StructureDuringFailure,
)
from planner_core.provenance import Assumption
from planner_core.wire import JsonObject, adapter

MOST_CHOSEN = 200
"""Maximum length of a failure's key in an address."""
F = TypeVar("F", bound=NamedFailure)


@dataclass(frozen=True, slots=True)
class FlowView:
    """Messages of one sender to a queue: the chart, and the failures, grouped by equal effect."""

    flow: FlowLoad
    chart: tuple[ChartLayout, ...]
    picture: SavedPicture
    failure: str
    failures: tuple[tuple[str, str, FlowDuringFailure], ...]
    """Key, names and effect of each group of failures."""


@dataclass(frozen=True, slots=True)
class ClusterLoadView:
    """The load of all clusters of a plan."""

    flows: tuple[FlowView, ...]
    structures: tuple[tuple[StructureClusterLoad, tuple[tuple[str, StructureDuringFailure], ...]], ...]
    """The load on each structure, with its failures; failures of equal effect are grouped."""
    assumptions: Sequence[Assumption]


def stored_load(result: JsonObject) -> ClusterLoad | None:
    """Read the member `clusters` of a stored result; None if its plan has no clusters."""
    clusters = result.get("clusters")
    if not clusters:
        return None
    # Results of earlier releases do not repeat the planned sizes here; the same result has them with its structures.
    planned = {
        each["name"]: {"planned_initsize_kib": each["initsize_kib"], "planned_size_kib": each["size_kib"]}
        for each in result["structures"]
    }
    structures = [
        {**each, "survives": each["survives"] and {**planned[each["structure"]], **each["survives"]}}
        for each in clusters["structures"]
    ]
    found: ClusterLoad = adapter(ClusterLoad).validate_python({**clusters, "structures": structures})
    return found


def clusters_shown(clusters: ClusterLoad, *, chosen: str = "") -> ClusterLoadView:
    """Return the load, arranged for a page.

    Args:
        clusters: The load.
        chosen: Key of the failure in the charts; by default the one that requires the largest structure.
    """
    worst = {each.structure: each.survives.key for each in clusters.structures if each.survives}
    return ClusterLoadView(
        flows=tuple(
            _flow(flow, chosen or worst.get(flow.structure or "", ""), nth)
            for nth, flow in enumerate(clusters.flows)
        ),
        structures=tuple(
            (each, tuple((_together(group), group[0]) for group in _groups(each.failures, _structure_effect)))
            for each in clusters.structures
        ),
        assumptions=clusters.assumptions,
    )


def _flow(flow: FlowLoad, chosen: str, nth: int) -> FlowView:
    failures = flow.failures
    # A flow without the chosen failure shows its first one, so that every chart has a comparison.
    failure = next((each for each in failures if each.key == chosen), failures[0] if failures else None)
    return FlowView(
        flow=flow,
        chart=flow_chart(flow, failure, nth=nth),
        picture=SavedPicture(
            f"Messages for {flow.queue}, normally"
            + (f" and while {failure.label} is unavailable" if failure else ""),
            Origin(f"{flow.queue} in cluster {flow.cluster}", "", "the plan, calculated by cfplan"),
        ),
        failure=failure.label if failure else "",
        failures=tuple(
            (group[0].key, _together(group), group[0]) for group in _groups(failures, _flow_effect)
        ),
    )


def _groups(failures: Sequence[F], effect: Callable[[F], Hashable]) -> list[list[F]]:
    """Group failures of equal effect, ordered by the first failure of each group."""
    found: dict[Hashable, list[F]] = {}
    for each in failures:
        # The failure of a queue manager and of its only channel have the same effect and share a row.
        found.setdefault(effect(each), []).append(each)
    return list(found.values())


def _flow_effect(each: FlowDuringFailure) -> Hashable:
    return (
        tuple(each.rates_per_s.items()),
        each.waiting_per_s,
        tuple(each.burst_messages.items()),
        tuple(item.reached for item in each.instances),
    )


def _structure_effect(each: StructureDuringFailure) -> Hashable:
    return replace(each, kind="channel", name="")  # equal in everything except the failure itself


def _together(group: Sequence[NamedFailure]) -> str:
    """Return the names of a group, such as `channel TO.P1; queue manager P1` or `channels TO.P1, TO.P2, TO.P3`."""
    by_kind: dict[str, list[str]] = {}
    for each in group:
        by_kind.setdefault(each.kind, []).append(each.name)
    return "; ".join(
        f"{kind.replace('_', ' ')}{'s' if len(names) > 1 else ''} {', '.join(names)}"
        for kind, names in by_kind.items()
    )
