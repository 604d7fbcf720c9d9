"""A scenario: a plan before and after a set of changes, worked out once and kept.

Before and after are worked out in the same way at the same time, so that what differs is what the scenario changes. The
answer is data: comparisons and reports are made of it, and nothing is ever worked out again for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from planner_core.document.model import FittedCurve, PlanDocument
from planner_core.errors import OutputRefused
from planner_core.findings import Finding, finding, in_order
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import explain_result
from planner_core.plan.result import PlanResult
from planner_core.provenance import Explanation
from planner_core.running.compare import Comparison, compare
from planner_core.running.state import read_running
from planner_core.sizing.placement import PlacedStructure
from planner_core.sizing.structure_answer import structure_answer
from planner_core.sizing.structure_result import StructureResult
from planner_core.sizing.structure_size import Curve
from planner_core.texts.outputs import render_output
from planner_core.units import bytes_to_kib_ceil, bytes_to_mib
from planner_core.whatif.changes import Changes, ScenarioChange, applied, facilities_of, what_changes
from planner_core.whatif.growth import evaluated_with_sizes
from planner_core.whatif.loss import LossAnswer, losses_of

FIGURES: Mapping[str, tuple[str, str]] = {
    "need_bytes": ("Need", "bytes"),
    "initsize_kib": ("INITSIZE", "K"),
    "size_kib": ("SIZE", "K"),
    "messages": ("Messages of the backlog", "messages"),
    "messages_in_initsize": ("Messages that INITSIZE holds", "messages"),
    "messages_in_initsize_with_offload": ("Messages that INITSIZE holds with offload", "messages"),
    "peak_usage_percent": ("Usage of INITSIZE at the backlog", "percent"),
    "offloaded_at_backlog": ("Messages offloaded at the backlog", "messages"),
}
"""Figures of a structure that a scenario shows: what each is called, and its unit."""
TOTALS = ("initsize_kib", "size_kib")
ASSUMPTIONS: tuple[str, ...] = (
    "A factor on rates or outages applies to every queue of the plan and to the messages that clusters send; stated "
    "backlogs are multiplied by both. Get rates stay the same.",
    "A new CFCC level applies to every coupling facility that has a lower level.",
    "A given INITSIZE or SIZE is kept if it still meets the target or the headroom; otherwise it is computed and reported "
    "as replaced. Sizes given in the scenario are kept.",
    "The commands lead from the current plan to the scenario: the running configuration is assumed to match the plan.",
)
NO_FACILITIES = "The plan has no coupling facilities, so no loss was simulated."


@dataclass(frozen=True, slots=True)
class Pair:
    """One structure before and after."""

    before: StructureResult
    after: StructureResult
    is_replaced: bool

    def as_json(self) -> dict[str, Any]:
        """JSON-ready."""
        before, after = figures_of(self.before), figures_of(self.after)
        return {
            "structure": self.after.cfrm_name,
            "name": self.after.name,
            "role": self.after.role,
            "before": before,
            "after": after,
            "difference": {key: _difference(value, after[key]) for key, value in before.items()},
            "given_size_replaced": self.is_replaced,
        }


def figures_of(structure: StructureResult) -> dict[str, int | float | None]:
    """The figures of a structure; None for those that it does not have."""
    shown = structure_answer(structure)
    return {key: _plain(getattr(shown, key)) for key in FIGURES}


def _plain(value: object) -> int | float | None:
    return value if isinstance(value, (int, float)) else None


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else round(after - before, 2)


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """What a scenario led to."""

    changes: Changes
    changed: tuple[ScenarioChange, ...]
    before: PlanResult
    after: PlanResult
    pairs: tuple[Pair, ...]
    losses: tuple[LossAnswer, LossAnswer] | None
    """Before and after; None where the plan names no coupling facilities."""
    commands: Comparison | None
    commands_refused: str
    own: tuple[Finding, ...]
    """What there is to say about the scenario itself."""

    @property
    def findings_before(self) -> tuple[Finding, ...]:
        """What there is to say about the plan and its losses."""
        return in_order([*self.before.findings, *_beyond(self.before, self.losses and self.losses[0])])

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What there is to say about the scenario."""
        return in_order(
            [*self.own, *self.after.findings, *_beyond(self.after, self.losses and self.losses[1])]
        )

    def as_json(self) -> dict[str, Any]:
        """JSON-ready."""
        known = {_key(each) for each in self.findings_before}
        now = {_key(each) for each in self.findings}
        commands = self.commands
        return {
            "qsg": self.after.document.qsg,
            "core_version": self.after.core_version,
            "changes": self.changes.as_json(),
            "what_changes": [each.as_json() for each in self.changed],
            "lost": self.changes.lost,
            "before": _plan_json(self.before),
            "after": _plan_json(self.after),
            "structures": [each.as_json() for each in self.pairs],
            "placements": {
                "before": _places(self.losses[0]) if self.losses else [],
                "after": _places(self.losses[1]) if self.losses else [],
            },
            "losses": {
                "before": _losses_json(self.losses[0], self.changes.lost) if self.losses else [],
                "after": _losses_json(self.losses[1], self.changes.lost) if self.losses else [],
            },
            "white_space": {
                "before": _white_space(self.losses[0]) if self.losses else [],
                "after": _white_space(self.losses[1]) if self.losses else [],
            },
            "rules": _rules(self.losses),
            "origins": self.origins(),
            "commands": [step.as_json() for step in commands.commands] if commands is not None else [],
            "commands_refused": self.commands_refused or None,
            "assumptions": list(self._assumptions()),
            "findings": [each.as_json() for each in self.findings],
            "findings_new": [each.as_json() for each in self.findings if _key(each) not in known],
            "findings_gone": [each.as_json() for each in self.findings_before if _key(each) not in now],
        }

    def origins(self) -> dict[str, dict[str, dict[str, object]]]:
        """Formula, basis and documents of each figure that the scenario shows, by its pointer, before and after."""
        return {"before": _explained(self.before), "after": _explained(self.after)}

    def _assumptions(self) -> Iterator[str]:
        yield from ASSUMPTIONS
        if self.losses is None:
            yield NO_FACILITIES
        else:
            yield from _said(self.losses[1].as_json()["assumptions"])
        if self.commands is not None:
            yield from _said(self.commands.as_json()["assumptions"])


def scenario(
    document: PlanDocument,
    changes: Changes,
    *,
    curve: Curve | None = None,
    stored: Mapping[str, Any] | None = None,
) -> ScenarioResult:
    """Work out a plan before and after changes.

    Args:
        document: The plan.
        changes: What is changed.
        curve: The fitted curve that the plan names; None for published figures.
        stored: The result that the plan was saved with, to say where this version of the core gives other figures.

    Raises:
        InputInvalid: The changes do not fit the plan.
        PlanRefused: No such plan can exist, before or after.
    """
    changed = applied(document, changes)
    said = what_changes(document, changes)
    own = []
    if curve is not None and changed.cfcc_level != document.cfcc_level:
        own.append(_curve_changed(document, changed))
        document, changed = (each.model_copy(update={"curve": "published"}) for each in (document, changed))
        curve = None
        stored = None
    before = evaluate(document, curve=curve)
    if stored is not None and _stored_figures(stored) != [figures_of(each) for each in before.structures]:
        own.append(
            finding(
                "SCENARIO_PLAN_OF_ANOTHER_CORE",
                "The plan's version was saved with other figures than this version of cfplan calculates. Before and after "
                "are both recalculated, so that they can be compared.",
            )
        )
    after, replaced = evaluated_with_sizes(changed, curve=curve, kept=_given(changed, changes))
    losses = None
    if facilities_of(changed):
        losses = losses_of([(document.qsg, before)]), losses_of([(document.qsg, after)])
    commands, refused = _commands(before, after)
    return ScenarioResult(
        changes=changes,
        changed=said,
        before=before,
        after=after,
        pairs=tuple(
            Pair(was, now, now.pointer in replaced)
            for was, now in zip(before.structures, after.structures, strict=True)
        ),
        losses=losses,
        commands=commands,
        commands_refused=refused,
        own=tuple(own),
    )


def _beyond(result: PlanResult, losses: LossAnswer | None) -> list[Finding]:
    """Findings on losses that the plan itself does not have, acknowledged or not."""
    known = {_key(each) for each in result.findings}
    return [each for each in (losses.findings if losses is not None else ()) if _key(each) not in known]


def _curve_changed(document: PlanDocument, changed: PlanDocument) -> Finding:
    fitted = document.curve.fitted if isinstance(document.curve, FittedCurve) else ""
    return finding(
        "SCENARIO_WITHOUT_FITTED_CURVE",
        f"The plan names the fitted curve {fitted}, which covers one CFCC level. Before, at {document.cfcc_level}, and "
        f"after, at {changed.cfcc_level}, are calculated with published figures instead.",
        field="/curve",
    )


def _stored_figures(stored: Mapping[str, Any]) -> list[dict[str, int | float | None]]:
    return [{key: _plain(each.get(key)) for key in FIGURES} for each in stored["structures"]]


def _given(document: PlanDocument, changes: Changes) -> frozenset[str]:
    """Structures whose sizes the scenario gives itself."""
    named = {each.name for each in changes.structures if each.initsize is not None or each.size is not None}
    return frozenset(f"/structures/{at}" for at, each in enumerate(document.structures) if each.name in named)


def _commands(before: PlanResult, after: PlanResult) -> tuple[Comparison | None, str]:
    """The commands that lead from one plan to the other, or why there are none."""
    try:
        texts = [render_output(kind, before).text for kind in ("policy", "mqsc")]
    except OutputRefused as refused:
        return None, f"The current plan cannot run: {refused}"
    try:
        return compare(after, read_running(texts)), ""
    except OutputRefused as refused:
        return None, str(refused)


def _key(each: Finding) -> tuple[str, str | None, str]:
    return each.code, each.structure, each.message


def _plan_json(result: PlanResult) -> dict[str, object]:
    document = result.document
    return {
        "cfcc_level": document.cfcc_level,
        "queue_managers": document.queue_manager_count,
        "growth_percent_per_year": _number(document.growth.percent_per_year),
        "years": _number(document.growth.years),
        "target_usage_percent": _number(document.target_usage_percent),
        "headroom_percent": None if document.headroom_percent is None else _number(document.headroom_percent),
        "size_factor": _number(document.size_factor),
        "curve": result.curve.summary.as_json(),
        "totals": {
            "initsize_kib": sum(bytes_to_kib_ceil(each.sizes.initsize_bytes) for each in result.structures),
            "size_kib": sum(bytes_to_kib_ceil(each.sizes.size_bytes) for each in result.structures),
        },
    }


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def _said(value: object) -> Sequence[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


# ---- what is lost --------------------------------------------------------------------------------------------


def _places(answer: LossAnswer) -> list[dict[str, object]]:
    return [
        {
            "structure": each.wanted.structure,
            "coupling_facility": each.now[0] if each.now else None,
            "second_copy": each.now[1] if len(each.now) > 1 else None,
            "rule": each.first.rule if each.first is not None else "none",
        }
        for each in answer.normal
    ]


def _losses_json(answer: LossAnswer, lost: str | None) -> list[dict[str, object]]:
    """Every loss, what stays left out; the one that the scenario is about first."""
    found = []
    for loss in sorted(answer.losses, key=lambda each: (each.kind, each.name) != ("coupling_facility", lost)):
        whole = loss.as_json()
        found.append(
            {
                "kind": loss.kind,
                "lost": loss.name,
                "is_the_scenario": loss.kind == "coupling_facility" and loss.name == lost,
                "moves": [_move(each) for each in loss.placed if each.action != "stays" and each.before],
                "unplaced": [each.wanted.structure for each in loss.unplaced],
                "white_space_mib": whole["white_space_mib"],
                "missing_mib": whole["missing_mib"],
                "messages_gone": sum(each.gone for each in loss.lost),
            }
        )
    return found


def _move(each: PlacedStructure) -> dict[str, object]:
    return {
        "structure": each.wanted.structure,
        "size_mib": bytes_to_mib(each.wanted.bytes_wanted),
        "before": list(each.before),
        "coupling_facility": each.now[0] if each.now else None,
        "second_copy": each.now[1] if len(each.now) > 1 else None,
        "action": each.action,
        "rule": each.first.rule if each.first is not None else None,
        "reason": each.first.reason if each.first is not None else None,
    }


def _white_space(answer: LossAnswer) -> list[dict[str, object]]:
    kept = ("used_mib", "free_mib", "white_space_mib", "because_of", "is_enough")
    return [
        {"coupling_facility": each.name, **{key: each.as_json()[key] for key in kept}}
        for each in answer.white_space
    ]


def _rules(losses: tuple[LossAnswer, LossAnswer] | None) -> object:
    return losses[1].as_json()["rules"] if losses is not None else []


# ---- how the figures came about --------------------------------------------------------------------------------


def _explained(result: PlanResult) -> dict[str, dict[str, object]]:
    """Origins of the figures that a scenario shows, by pointer; those of queues and the like are left out."""
    wanted = {f"/structures/{at}/{key}" for at in range(len(result.structures)) for key in FIGURES}
    wanted |= {f"/totals/{key}" for key in TOTALS}
    return {each.figure: _origin(each) for each in explain_result(result) if each.figure in wanted}


def _origin(each: Explanation) -> dict[str, object]:
    """Formula, basis and documents of a figure: those of what goes into it as well."""
    named = [each.source, *(given.source for given in each.inputs)]
    return {
        "formula": each.formula,
        "basis": each.basis.value,
        "sources": list(dict.fromkeys(str(source) for source in named if source is not None)),
    }
