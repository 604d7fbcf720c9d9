"""CPU time of the core for the largest legal plan, compared with the validation of the same document."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from bench.plans import largest
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_json
from planner_core.plan.evaluate import evaluate


@dataclass(frozen=True)
class Computed:
    """Median CPU seconds of each step."""

    structures: int
    queues: int
    document_bytes: int
    validate_s: float
    read_s: float
    evaluate_s: float


def measure(*, structures: int, queues: int, rounds: int) -> Computed:
    """Measure the steps for one plan several times, in alternation."""
    body = json.dumps(largest(structures=structures, queues=queues)).encode()
    document = json.loads(body)
    plan = read_json(body)
    steps: dict[str, Callable[[], object]] = {
        "validate": lambda: PlanDocument.model_validate(document),
        "read": lambda: read_json(body),
        "evaluate": lambda: evaluate(plan),
    }
    times: dict[str, list[float]] = {name: [] for name in steps}
    # The steps alternate, so that other load on the machine affects all of them equally.
    for _ in range(rounds):
        for name, step in steps.items():
            start = time.process_time()
            step()
            times[name].append(time.process_time() - start)
    median = {name: statistics.median(found) for name, found in times.items()}
    return Computed(
        structures=structures,
        queues=queues,
        document_bytes=len(body),
        validate_s=median["validate"],
        read_s=median["read"],
        evaluate_s=median["evaluate"],
    )
