"""The answer to one decision: who is chosen, step by step, in the mode asked for, and where the other mode parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from planner_core import tables
from planner_core.clusters.advice import other_mode, remarks, remarks_on_message
from planner_core.clusters.decide import Decision, DecisionStep, decide, spread
from planner_core.clusters.file import DecisionFile
from planner_core.clusters.model import Candidate, Mode
from planner_core.clusters.reallocate import Reallocation, reallocate
from planner_core.findings import Finding, in_order
from planner_core.provenance import Assumption, Basis

_PERCENT = 100
_DIGITS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionAnswer:
    """A decision with what belongs to it."""

    decision: Decision
    other: Decision
    reallocation: Reallocation | None
    shares: dict[Candidate, Fraction]
    puts: dict[Candidate, int]
    findings: tuple[Finding, ...]
    assumptions: tuple[Assumption, ...]

    @property
    def goes_to(self) -> tuple[str, ...]:
        """Queue managers that the message goes to, or stays with; nobody where the put fails."""
        found, message = self.reallocation, self.decision.situation.message
        if found is not None and found.reason in ("not_eligible", "not_redriven"):
            return (message.held_for,)
        return self.decision.queue_managers

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        decision, found = self.decision, self.reallocation
        return {
            "queue": decision.situation.queue or None,
            "mode": decision.mode,
            "chosen": list(self.goes_to),
            "put_fails": bool(decision.failure),
            "failure": decision.failure or None,
            "deciding_step": decision.deciding.id if decision.deciding else None,
            "destinations": [
                {
                    **destination(candidate),
                    "share_percent": round(float(self.shares[candidate] * _PERCENT), _DIGITS),
                    "puts": self.puts.get(candidate, 0),
                }
                for candidate in decision.chosen
            ],
            "candidates": [attributes(candidate) for candidate in decision.candidates],
            "dropped": [{"what": item.what, "reason": item.reason} for item in decision.dropped],
            "steps": step_rows(decision),
            "other_mode": {
                "mode": self.other.mode,
                "chosen": list(self.other.queue_managers),
                "put_fails": bool(self.other.failure),
                "deciding_step": self.other.deciding.id if self.other.deciding else None,
            },
            "message": None
            if found is None
            else {
                "held_for": decision.situation.message.held_for,
                "eligible": found.eligibility.is_eligible,
                "not_eligible_because": list(found.eligibility.causes),
                "redriven": found.is_redriven,
                "why": found.why_redriven,
                "moves_to": list(found.moves_to),
                "stays": found.stays,
                "reason": found.reason,
                "sentence": found.sentence,
            },
            "assumptions": [item.as_json() for item in self.assumptions],
            "findings": [item.as_json() for item in self.findings],
        }


def answer(document: DecisionFile, *, mode: Mode = "seed") -> DecisionAnswer:
    """Choose, and say what there is to say."""
    situation = document.situation()
    decision, other = decide(situation, mode=mode), decide(situation, mode=other_mode(mode))
    found = reallocate(decision)
    return DecisionAnswer(
        decision=decision,
        other=other,
        reallocation=found,
        shares=shares(decision.chosen),
        puts=spread(decision.chosen, puts=document.puts),
        findings=in_order([*remarks(decision, other=other, field="/instances"), *remarks_on_message(found)]),
        assumptions=assumptions(mode),
    )


def shares(chosen: Sequence[Candidate]) -> dict[Candidate, Fraction]:
    """The part of the messages that each of the equal destinations gets, by weight."""
    whole = sum(candidate.weight for candidate in chosen)
    return {candidate: Fraction(candidate.weight, whole) for candidate in chosen}


def destination(candidate: Candidate) -> dict[str, object]:
    """Where a message goes."""
    return {
        "queue_manager": candidate.queue_manager,
        "channel": candidate.channel.name if candidate.channel and not candidate.is_local else None,
        "cluster": candidate.instance.cluster or None,
        "physical_queue": candidate.instance.physical_queue,
    }


def attributes(candidate: Candidate) -> dict[str, object]:
    """A candidate with all that the steps look at."""
    return {
        **destination(candidate),
        "local": candidate.is_local,
        "channel_clwlrank": candidate.channel_rank,
        "queue_clwlrank": candidate.instance.rank,
        "put": "ENABLED" if candidate.instance.put_enabled else "DISABLED",
        "suspend": "YES" if candidate.suspended else "NO",
        "status": candidate.status.value,
        "netprty": candidate.netprty,
        "channel_clwlprty": candidate.channel_priority,
        "queue_clwlprty": candidate.instance.priority,
        "clwlwght": candidate.weight,
    }


def step_rows(decision: Decision) -> list[dict[str, object]]:
    """The steps, each with who came in, who stayed and who went out."""
    return [_step_row(step) for step in decision.steps]


def _step_row(step: DecisionStep) -> dict[str, object]:
    return {
        "step": step.number,
        "id": step.id,
        "title": step.title,
        "attribute": step.attribute,
        "reached": step.is_reached,
        "kept": [destination(candidate) for candidate in step.kept] if step.is_reached else [],
        "eliminated": [{**destination(item.candidate), "reason": item.reason} for item in step.eliminated],
        "note": step.note,
    }


def assumptions(mode: Mode) -> tuple[Assumption, ...]:
    """What the steps rest on."""
    article = tables.source("mq_reallocation", "Need to understand precedence of cluster workload attributes")
    reference = tables.source("mq_clwl_algorithm", "")
    ours = tables.source("project", "Cluster decisions")
    if mode == "seed":
        return (
            Assumption(what="The eight eliminations and their order.", basis=Basis.PUBLISHED, source=article),
            Assumption(
                what="States that the article does not name stand as in the reference; INACTIVE follows RUNNING.",
                basis=Basis.ASSUMED,
                source=ours,
            ),
            Assumption(
                what="Equal destinations share messages by CLWLWGHT.", basis=Basis.DERIVED, source=ours
            ),
        )
    return (
        Assumption(what="Steps 1 to 3, 4a and 4b and their order.", basis=Basis.PUBLISHED, source=reference),
        Assumption(
            what="Step 4 does not apply: it is for the cluster's own messages, of which nothing here says whom they "
            "were sent to already.",
            basis=Basis.ASSUMED,
            source=ours,
        ),
        Assumption(
            what="Steps 5 to 14 and their order, from notes of the same page.",
            basis=Basis.ASSUMED,
            source=ours,
        ),
        Assumption(
            what="A queue is chosen by its own CLWLPRTY first, then by the channel's.",
            basis=Basis.ASSUMED,
            source=ours,
        ),
        Assumption(
            what="Equal destinations share messages by CLWLWGHT: a factor grows by 1000 / CLWLWGHT with each message.",
            basis=Basis.DERIVED,
            source=ours,
        ),
    )
