"""The load of clusters as pages show it, out of the JSON of a result: a stored plan shows what it showed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.clusters.flow_chart import FlowChart, flow_chart, words_of
from app.plans.finding_groups import source_of
from planner_core.provenance import Assumption, Basis

Failed = Mapping[str, Any]
MOST_CHOSEN = 200
"""Characters of a failure's key that are looked at."""


@dataclass(frozen=True, slots=True)
class FlowView:
    """One sender's messages to a queue: the picture, and its failures, those that come to the same together."""

    flow: Mapping[str, Any]
    chart: FlowChart | None
    failure: str
    failures: tuple[tuple[str, str, Failed], ...]
    """How it is chosen, what it is called, what it does."""


@dataclass(frozen=True, slots=True)
class StructureLoadView:
    """What clusters put on one structure."""

    load: Mapping[str, Any]
    survives: str
    failures: tuple[tuple[str, Failed], ...]


@dataclass(frozen=True, slots=True)
class ClusterLoadView:
    """All of it."""

    flows: tuple[FlowView, ...]
    structures: tuple[StructureLoadView, ...]
    assumptions: Sequence[Assumption]


def clusters_shown(clusters: Mapping[str, Any], *, chosen: str = "") -> ClusterLoadView:
    """Arrange the load for a page.

    Args:
        clusters: The member `clusters` of a result, or the answer about the load.
        chosen: Key of the failure that pictures show; else that for which the structure must be largest.
    """
    worst = {
        each["structure"]: key_of(each["survives"]) for each in clusters["structures"] if each["survives"]
    }
    return ClusterLoadView(
        flows=tuple(
            _flow(flow, chosen or worst.get(flow["structure"], ""), nth)
            for nth, flow in enumerate(clusters["flows"])
        ),
        structures=tuple(_structure(each) for each in clusters["structures"]),
        assumptions=tuple(
            Assumption(what=each["what"], basis=Basis(each["basis"]), source=source_of(each["source"]))
            for each in clusters["assumptions"]
        ),
    )


def key_of(failure: Failed) -> str:
    """What names a failure in an address or a form."""
    return f"{failure['kind']}:{failure['name']}"


def _flow(flow: Mapping[str, Any], chosen: str, nth: int) -> FlowView:
    failures = flow["failures"]
    failure = next((each for each in failures if key_of(each) == chosen), failures[0] if failures else None)
    return FlowView(
        flow=flow,
        chart=flow_chart(flow, failure, nth=nth),
        failure=words_of(failure) if failure else "",
        failures=tuple(
            (key_of(group[0]), _together(group), group[0]) for group in _groups(failures, _flow_figures)
        ),
    )


def _structure(load: Mapping[str, Any]) -> StructureLoadView:
    return StructureLoadView(
        load=load,
        survives=words_of(load["survives"]) if load["survives"] else "",
        failures=tuple(
            (_together(group), group[0]) for group in _groups(load["failures"], _structure_figures)
        ),
    )


def _groups(failures: Sequence[Failed], figures: Any) -> Iterator[list[Failed]]:  # noqa: ANN401 - a function of this module
    """Failures that come to the same figures, in the order of the first of each."""
    found: dict[object, list[Failed]] = {}
    for each in failures:
        found.setdefault(figures(each), []).append(each)
    yield from found.values()


def _flow_figures(each: Failed) -> object:
    return (
        repr(each["rates_per_s"]),
        each["waiting_per_s"],
        repr(each["burst_messages"]),
        repr([item["reached"] for item in each["instances"]]),
    )


def _structure_figures(each: Failed) -> object:
    return repr({name: value for name, value in each.items() if name not in ("kind", "name")})


def _together(group: Sequence[Failed]) -> str:
    """`channel TO.P1, queue manager P1`, or `channel TO.P1, TO.P2, TO.P3`."""
    by_kind: dict[str, list[str]] = {}
    for each in group:
        by_kind.setdefault(each["kind"], []).append(each["name"])
    return "; ".join(
        f"{kind.replace('_', ' ')}{'s' if len(names) > 1 else ''} {', '.join(names)}"
        for kind, names in by_kind.items()
    )
