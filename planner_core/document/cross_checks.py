"""Checks of a plan document that concern several fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planner_core import names
from planner_core.document.cluster_entries import check_instances, check_sender
from planner_core.document.model import Cluster, MessageSizes, PlanDocument, Queue
from planner_core.errors import FieldProblem
from planner_core.units import format_size

_MOST_CLUSTER_CHANNELS = 200
"""The maximum number of channels in all clusters of a plan. The failure of each channel is simulated, so the time grows
with the square of their number."""


def cross_checks(plan: PlanDocument) -> Iterator[FieldProblem]:
    """Yield the errors that concern several fields of a document."""
    members = plan.queue_managers if isinstance(plan.queue_managers, int) else set(plan.queue_managers)
    if isinstance(plan.perfmev, dict):
        yield from _check_members("/perfmev", plan.perfmev, members)
    if isinstance(plan.queue_managers, list):
        yield from _twice("/queue_managers", plan.queue_managers, "queue manager")
        if plan.qsg in plan.queue_managers:
            at = f"/queue_managers/{plan.queue_managers.index(plan.qsg)}"
            yield FieldProblem(
                at, f"{plan.qsg} is the name of the group: no queue manager in it can have that name"
            )
    yield from _twice(
        "/coupling_facilities", [cf.name for cf in plan.coupling_facilities], "coupling facility", "/name"
    )
    yield from _twice("/structures", [structure.name for structure in plan.structures], "structure", "/name")
    for key, given in (("/admin", plan.admin), ("/system", plan.system)):
        yield from _check_sizes(key, given.initsize, given.size, given.minsize)
        yield from _check_lists(key, given.preflist, given.exclist)
    yield from _check_others(plan)
    yield from _check_clusters(plan.clusters)
    queue_places: dict[str, tuple[int, int]] = {}
    for index, structure in enumerate(plan.structures):
        at = f"/structures/{index}"
        yield from _check_sizes(at, structure.initsize, structure.size, structure.minsize)
        yield from _check_lists(at, structure.preflist, structure.exclist)
        if structure.offload.dsblock & (structure.offload.dsblock - 1):
            yield FieldProblem(f"{at}/offload/dsblock", "must be 8K, 16K, 32K, 64K, 128K, 256K, 512K or 1M")
        # A plan can have 32,000 queues, so pointers are written only for errors.
        for number, queue in enumerate(structure.queues):
            if queue.name in queue_places:
                other = "/structures/{}/queues/{}".format(*queue_places[queue.name])
                yield FieldProblem(
                    f"{at}/queues/{number}/name",
                    f"queue {queue.name} is already at {other}: a queue belongs to one structure",
                )
            queue_places[queue.name] = index, number
            for key, message in _queue_problems(queue):
                yield FieldProblem(f"{at}/queues/{number}/{key}", message)
            if queue.queue_manager_rates:
                where = f"{at}/queues/{number}/queue_manager_rates"
                yield from _check_members(where, queue.queue_manager_rates, members)


def _check_others(plan: PlanDocument) -> Iterator[FieldProblem]:
    """Check the structures that are not the group's."""
    own = {
        names.cfrm_structure_name(qsg_name=plan.qsg, cfstruct_name=name)
        for name in (*names.OWN_STRUCTURES, *(structure.name for structure in plan.structures))
    }
    yield from _twice(
        "/other_structures", [each.name for each in plan.other_structures], "structure", "/name"
    )
    for index, each in enumerate(plan.other_structures):
        at = f"/other_structures/{index}"
        if each.name in own:
            yield FieldProblem(f"{at}/name", f"{each.name} is a structure of this group: leave it out here")
        yield from _check_sizes(at, each.initsize, each.size, None)
        yield from _check_lists(at, each.preflist, each.exclist)


def _check_clusters(clusters: list[Cluster]) -> Iterator[FieldProblem]:
    seen: dict[tuple[str, str, str | None], int] = {}
    channels = sum(len(instance.as_channels()) for entry in clusters for instance in entry.instances)
    if channels > _MOST_CLUSTER_CHANNELS:
        yield FieldProblem(
            "/clusters", f"have {channels} channels in total; at most {_MOST_CLUSTER_CHANNELS} are allowed"
        )
    for index, entry in enumerate(clusters):
        at, key = f"/clusters/{index}", (entry.name, entry.queue, entry.sender)
        if key in seen:
            yield FieldProblem(
                f"{at}/queue",
                f"queue {entry.queue} is already at /clusters/{seen[key]}: enter the sender of each",
            )
        seen[key] = index
        yield from check_instances(entry.instances, f"{at}/instances")
        yield from check_sender(entry.instances, entry.sender, f"{at}/instances")


def _twice(at: str, values: list[str], what: str, key: str = "") -> Iterator[FieldProblem]:
    seen: set[str] = set()
    for index, value in enumerate(values):
        if value in seen:
            yield FieldProblem(f"{at}/{index}{key}", f"{what} {value} occurs twice")
        seen.add(value)


def _check_sizes(
    at: str, initsize: int | None, size: int | None, minsize: int | None
) -> Iterator[FieldProblem]:
    if initsize is not None and size is not None and initsize > size:
        yield FieldProblem(
            f"{at}/initsize", f"INITSIZE {format_size(initsize)} is above SIZE {format_size(size)}"
        )
    # A computed INITSIZE is never below MINSIZE, so without a given one only SIZE can be exceeded.
    ceiling = initsize or size
    if minsize is not None and ceiling is not None and minsize > ceiling:
        yield FieldProblem(f"{at}/minsize", f"MINSIZE {format_size(minsize)} is above {format_size(ceiling)}")


def _check_lists(at: str, preflist: list[str], exclist: list[str]) -> Iterator[FieldProblem]:
    yield from _twice(f"{at}/preflist", preflist, "coupling facility")
    yield from _twice(f"{at}/exclist", exclist, "structure")


def _check_members(at: str, by_name: Mapping[str, object], members: int | set[str]) -> Iterator[FieldProblem]:
    """Check that names are queue managers of the group."""
    if isinstance(members, set):
        for name in by_name:
            if name not in members:
                yield FieldProblem(f"{at}/{name}", f"{name} is not among the queue_managers of the plan")
    elif len(by_name) > members:
        yield FieldProblem(at, f"names {len(by_name)} queue managers, but queue_managers is {members}")


def _queue_problems(queue: Queue) -> list[tuple[str, str]]:
    """Return the errors of a queue, each with the key of its field."""
    found: list[tuple[str, str]] = []
    # With gets, puts are the normal rate and not the cause of the backlog, so the backlog may be stated as well.
    is_measured = queue.get_rate_per_s is not None and queue.backlog is not None
    rated = queue.outage_minutes is not None or (queue.put_rate_per_s is not None and not is_measured)
    if queue.get_rate_per_s is not None and queue.put_rate_per_s is None:
        found.append(("put_rate_per_s", "is required with get_rate_per_s"))
    if queue.backlog is not None and rated:
        extra = "outage_minutes" if queue.put_rate_per_s is None or is_measured else "put_rate_per_s"
        found.append((extra, "enter either backlog, or put_rate_per_s with outage_minutes, not both"))
    elif queue.backlog is None and not rated:
        found.append(("backlog", "is required, unless put_rate_per_s and outage_minutes are specified"))
    elif queue.backlog is None and queue.put_rate_per_s is None:
        found.append(("put_rate_per_s", "is required with outage_minutes"))
    elif queue.backlog is None and queue.outage_minutes is None:
        found.append(("outage_minutes", "is required with put_rate_per_s"))
    if isinstance(queue.message_bytes, MessageSizes) and (problem := queue.message_bytes.problem()):
        found.append(("message_bytes", problem))
    return found
