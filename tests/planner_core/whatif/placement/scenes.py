"""Plans for questions of placement, with given sizes, so that sums can be calculated by hand."""

from __future__ import annotations

from typing import Any

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.plan.result import PlanResult

Json = dict[str, Any]
MACHINE = {"type": "003931", "mfg": "IBM", "plant": "02", "sequence": "0000000A1B2C"}


def cf(name: str, size: str = "100G", **more: Any) -> Json:  # noqa: ANN401 - any JSON value
    return {"name": name, "size": size, **more}


def structure(name: str, size: str = "4G", **more: Any) -> Json:  # noqa: ANN401
    messages = {"name": f"{name}.Q", "message_bytes": 1024, "backlog": 1000, "persistent": True}
    return {"name": name, "initsize": size, "size": size, "queues": [messages], **more}


def document(facilities: list[Json], structures: list[Json], **more: Any) -> Json:  # noqa: ANN401
    """Return a plan in which CSQ_ADMIN takes 1 GiB of the first possible coupling facility, without CSQSYSAPPL."""
    return {
        "qsg": "SQ03",
        "queue_managers": 2,
        "admin": {"initsize": "1G", "size": "1G"},
        "system": {"include": False},
        "coupling_facilities": facilities,
        "structures": structures,
        **more,
    }


def result(facilities: list[Json], structures: list[Json], **more: Any) -> PlanResult:  # noqa: ANN401
    return evaluate(read_object(document(facilities, structures, **more)))
