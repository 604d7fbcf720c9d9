"""Compare the running system with the plan, and list the commands that lead to the plan."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal

from pydantic import Field, computed_field

from planner_core import names
from planner_core.errors import OutputRefused
from planner_core.findings import Finding, finding, in_order
from planner_core.names import Role
from planner_core.plan.result import PlanResult
from planner_core.provenance import Basis
from planner_core.running.effect import HELD, State, StructureState, after_all, can_be_duplexed
from planner_core.running.line_findings import LineFinding, at_line
from planner_core.running.merge import merge_errors
from planner_core.running.objects import (
    WantedObject,
    cfconlos_steps,
    lacks_data_sets,
    object_differences,
    object_findings,
    object_steps,
    over_today,
    queue_differences,
    wanted_objects,
    without_dsgroup,
)
from planner_core.running.placing import as_merged, check_merged_places, errors_with_kept
from planner_core.running.policy import (
    SIZES,
    Setting,
    is_unstated,
    planned_site,
    with_defaults,
    written,
)
from planner_core.running.policy import wanted as wanted_of
from planner_core.running.shrinking import (
    in_use_bytes,
    kept_keywords,
    kept_settings,
    shrinks,
    usage_percent,
)
from planner_core.running.state import Running, RunningStructure, admin_nearly_full
from planner_core.running.steps import (
    NOW,
    OUTAGE,
    CommandStep,
    QueueDifference,
    RunningDifference,
    StepKind,
    TakesEffect,
)
from planner_core.running.unstated import DEFAULT_UNSTATED, Unstated
from planner_core.sizing.admin_structure import admin_need
from planner_core.sizing.levels import sizing_level
from planner_core.sizing.structure_result import StructureResult
from planner_core.tables import source as _source
from planner_core.texts.outputs import render_output
from planner_core.texts.xcf.setxcf import (
    REALLOCATE,
    REALLOCATE_TEST,
    REBUILD,
    activate_command,
    start_duplexing_command,
    stop_duplexing_command,
)
from planner_core.units import bytes_to_kib_ceil, format_size, round_up
from planner_core.wire import Answer, Hidden

_PENDING: Final[TakesEffect] = "pending until rebuild"


@dataclass(frozen=True, slots=True)
class RunningSettings(Answer):
    """Settings of a structure in CFRM; null if no text states them."""

    size_kib: int | None
    initsize_kib: int | None
    minsize_kib: int | None
    allow_auto_alter: bool | None
    full_threshold: int | None
    duplex: str | None
    exclist: tuple[str, ...] | None
    preflist: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class RunningToday(RunningSettings):
    """The current state of the structure; null if no text states it."""

    allocated: bool | None
    allocated_size_kib: int | None
    coupling_facility: str | None
    usage_percent: Annotated[int | None, Field(description="The fuller of entries and elements.")]
    change_pending: bool | None


@dataclass(frozen=True, slots=True)
class RunningNeed(Answer):
    """Storage for the plan's backlog."""

    need_bytes: int


@dataclass(frozen=True, slots=True)
class ComparedStructure(Answer):
    """A structure of the plan: its current, required and planned values, and every difference."""

    result: Hidden[StructureResult]
    running: Hidden[RunningStructure | None]
    wanted: Hidden[Mapping[str, Setting]]
    """Settings of the merged policy: those of the plan, and those that the policy keeps."""
    differences: tuple[RunningDifference, ...]
    queues: Annotated[tuple[QueueDifference, ...], Field(description="Differences in its queues.")]
    is_new: Annotated[
        bool | None,
        Field(
            description="Whether a complete policy was provided that does not contain it; null if no text mentions it."
        ),
    ]
    objects: Hidden[tuple[WantedObject, ...]] = ()
    """The CFSTRUCT and the queues that a text describes, as they will be after the commands."""
    withheld: Hidden[Finding | None] = None
    """The reason why there is no ALTER for the CFSTRUCT."""

    @computed_field
    @property
    def name(self) -> str:
        """CFSTRUCT name."""
        return self.result.name

    @computed_field
    @property
    def cfrm_name(self) -> str:
        """Name in CFRM."""
        return self.result.cfrm_name

    @computed_field
    @property
    def role(self) -> Role:
        """The role of the structure in the queue-sharing group."""
        return self.result.role

    @computed_field
    @property
    def today(self) -> RunningToday:
        """Current settings and state, as the texts show them."""
        running = self.running
        return RunningToday(
            **_settings((running.settings if running else None) or {}),
            allocated=running.is_allocated if running else None,
            allocated_size_kib=_kib(running.size_bytes if running else None),
            coupling_facility=running.coupling_facility if running else None,
            usage_percent=usage_percent(running),
            change_pending=running.is_pending if running else None,
        )

    @computed_field
    @property
    def needed(self) -> RunningNeed:
        """Storage for the plan's backlog."""
        return RunningNeed(self.result.sizes.need_bytes)

    @computed_field
    @property
    def planned(self) -> RunningSettings:
        """Settings of the merged policy."""
        return RunningSettings(**_settings(self.wanted))

    @computed_field(
        description="Keywords that keep the policy's value, because the plan does not state them."
    )
    @property
    def kept(self) -> tuple[str, ...]:
        """Keywords that keep the policy's value."""
        return kept_keywords(self.result, self.wanted)

    @property
    def in_use_bytes(self) -> int | None:
        """Return the storage that a copy of the structure must hold today [bytes]; None if no display shows it."""
        return in_use_bytes(self.result, self.running)

    @property
    def is_too_small(self) -> bool:
        """Return whether the data does not fit the planned SIZE, so that the structure is left unchanged."""
        waits = any(each.takes_effect == _PENDING for each in self.differences)
        if self.in_use_bytes is None or not (waits or (self.running and self.running.is_pending)):
            return False
        most = self.wanted["SIZE"]
        return isinstance(most, int) and self.in_use_bytes > most


@dataclass(frozen=True, slots=True)
class Comparison(Answer):
    """The running system compared with a plan, and the commands that lead from one to the other."""

    qsg: str
    structures: tuple[ComparedStructure, ...]
    commands: tuple[CommandStep, ...]
    before: Hidden[State]
    merged: Hidden[Mapping[str, Mapping[str, Setting]]]
    findings: tuple[LineFinding, ...]

    @property
    def after(self) -> State:
        """Return the state that the commands lead to, by the rules of `effect`."""
        return after_all(self.before, (step.command for step in self.commands), merged=self.merged)

    @computed_field(alias="same")
    @property
    def is_same(self) -> bool:
        """True if the texts match the plan."""
        return not (self.commands or any(each.is_too_small or each.withheld for each in self.structures))

    @computed_field(
        description="REALLOCATE for every structure of the sysplex, preceded by its test; empty if nothing is rebuilt."
    )
    @property
    def instead_of_rebuilds(self) -> tuple[str, ...]:
        """Commands that apply the pending changes of every structure of the sysplex: a test, then the change."""
        # IBM's playbook for changes of a CFRM policy lists the test before the command.
        return (REALLOCATE_TEST, REALLOCATE) if any(_is_rebuild(step) for step in self.commands) else ()

    @computed_field
    @property
    def assumptions(self) -> tuple[str, ...]:
        """Rules that IBM does not publish, or that no text confirms."""
        return _ASSUMPTIONS

    @computed_field(description="The commands as text, each below a comment.")
    @property
    def text(self) -> str:
        """The commands in order, each below a comment that states where to issue it, when it takes effect and why.

        Pasted whole, the text changes nothing: each command that changes something is in a comment, as are jobs and
        other work outside of a command line. Only DISPLAY commands are outside of comments.
        """
        return "\n".join(_text(self)) + "\n"


def _is_rebuild(step: CommandStep) -> bool:
    return step.command.startswith(REBUILD)


_ASSUMPTIONS: Final = (
    "A change of MINSIZE, PREFLIST, EXCLLIST, ENFORCEORDER or SCM of an allocated structure is assumed to be pending until "
    "it is rebuilt, like a change of SIZE and INITSIZE.",
    "If no display shows whether a structure is allocated, it is assumed to be allocated at its INITSIZE, and to be "
    "duplexed if its policy allows it.",
    "A rebuild allocates a structure at INITSIZE, or larger if its data needs it (published); whether it returns to the "
    "plan's coupling facility is not checked.",
    "A rebuild into a SIZE that cannot hold the data in the structure is assumed to fail: no command is generated for it. "
    "The data is calculated from the fuller of entries and elements when the structure was displayed.",
    "A structure that no text mentions is new only if a complete policy was provided; otherwise its state is unknown, and no "
    "command changes its policy.",
    "Lowering CFLEVEL, and changing INDXTYPE or the structure of a queue, need the queues closed and empty (published). DSGROUP and DSBLOCK "
    "of data sets that are in use are assumed to need an outage.",
    "OFFLOAD can be switched while messages are in the structure: new messages use the new method, the others stay "
    "(derived from OFFLDUSE(BOTH)). A "
    "structure that ALTER raises to CFLEVEL(5) is assumed to get OFFLOAD(DB2) and no rules unless the command states them.",
    "Attributes of a CFSTRUCT or queue that the plan does not state stay as they are (unless `--unstated plan` is specified). Offload rules belong to "
    "their method: with another method, the plan's rules apply.",
)


def compare(
    result: PlanResult,
    running: Running,
    *,
    unstated: Unstated = DEFAULT_UNSTATED,
    queues: AbstractSet[str] | None = None,
) -> Comparison:
    """Compare a plan with the running system.

    Args:
        result: The plan.
        running: The running system.
        unstated: The source of keywords that the document does not state: the plan or the policy.
        queues: The names of the queues to compare, if the others are known to be as planned; None for all of them.

    Raises:
        OutputRefused: The plan or the merged policy has errors.
    """
    # Rendered only to refuse a plan with errors: cfplan writes no text that z/OS is known to reject
    # (docs/decisions/0005).
    render_output("policy", result)
    wanted = {
        kind: [over_today(each, running) for each in objects]
        for kind, objects in wanted_objects(result, running, unstated, queues=queues).items()
    }
    of_structures: dict[str | None, list[WantedObject]] = {}
    for queue in wanted["QLOCAL"]:
        of_structures.setdefault(queue.structure, []).append(queue)
    compared = tuple(
        _compared(
            structure,
            running,
            {"CFSTRUCT": wanted["CFSTRUCT"], "QLOCAL": of_structures.get(structure.name, [])},
            unstated,
        )
        for structure in result.structures
    )
    about_policy = _check_merged(result, running, compared, unstated)
    merged = {
        each.result.cfrm_name: _merged(each)
        if not each.is_too_small or each.running is None
        else dict(each.running.settings or {})  # a policy that is not active may be too small as well
        for each in compared
        if _is_known(each, running)
    }
    before = _state(running, {each.result.cfrm_name: each.in_use_bytes for each in compared})
    steps = tuple(
        replace(step, number=number)
        for number, step in enumerate(_steps(result, running, compared, wanted), start=1)
    )
    findings = (
        *running.findings,
        *(at_line(each) for each in in_order([*about_policy, *_findings(result, running, compared, steps)])),
    )
    return Comparison(result.document.qsg, compared, steps, before, merged, findings)


def _check_merged(
    result: PlanResult, running: Running, compared: Sequence[ComparedStructure], unstated: Unstated
) -> tuple[Finding, ...]:
    """Check the merged policy as a merge does, before any command leads to it.

    Raises:
        OutputRefused: It has errors, or the settings that it keeps leave a structure without a place.
    """
    says = {each.result.cfrm_name: each.wanted for each in compared if each.running is not None}
    structures = [
        as_merged(each.result, {**(_base(each.running) or {}), **each.wanted}, each.running.duplex_site)
        if each.running is not None
        else each.result
        for each in compared
    ]
    about = check_merged_places(result, structures)
    errors = errors_with_kept(about, result, says)
    # The first command submits the merged policy, so a text that cannot be merged leads to no command.
    if not errors and running.policy_text is not None:
        errors = merge_errors(running.policy_text, result, unstated=unstated, policy_name=running.policy_name)
    if errors:
        raise OutputRefused(kind="commands", findings=errors, of="merged policy")
    return about


def _is_known(each: ComparedStructure, running: Running) -> bool:
    """Return whether a text mentions the structure, or a complete policy shows that it does not exist."""
    return running.knows_structures and each.is_new is not None


def _kib(size_bytes: int | None) -> int | None:
    return None if size_bytes is None else bytes_to_kib_ceil(size_bytes)


_JSON_KEYS: Final = {
    "SIZE": "size_kib", "INITSIZE": "initsize_kib", "MINSIZE": "minsize_kib", "ALLOWAUTOALT": "allow_auto_alter",
    "FULLTHRESHOLD": "full_threshold", "DUPLEX": "duplex", "EXCLLIST": "exclist", "PREFLIST": "preflist",
}  # fmt: skip


def _settings(settings: Mapping[str, Setting]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for keyword, key in _JSON_KEYS.items():
        value = settings.get(keyword)
        if keyword in SIZES and isinstance(value, int):
            found[key] = bytes_to_kib_ceil(value)
        else:
            found[key] = value
    return found


# ---- differences -------------------------------------------------------------------------------------------


# IBM publishes when a change takes effect for some keywords only: docs/explanation/assumptions.md, When a change takes
# effect.
_WHEN: Final[Mapping[str, tuple[TakesEffect, Basis, str, str]]] = {
    "ALLOWAUTOALT": (NOW, Basis.PUBLISHED, "zos_cfrm_update", "ALLOWAUTOALT"),
    "FULLTHRESHOLD": (NOW, Basis.PUBLISHED, "zos_cfrm_update", "FULLTHRESHOLD"),
    "DUPLEX": (NOW, Basis.PUBLISHED, "zos_duplex_option", ""),
    "SIZE": (_PENDING, Basis.PUBLISHED, "zos_rebuild_policy", ""),
    "INITSIZE": (_PENDING, Basis.PUBLISHED, "zos_rebuild_policy", ""),
    **dict.fromkeys(
        ("MINSIZE", "PREFLIST", "EXCLLIST", "SCMMAXSIZE", "SCMALGORITHM", "ENFORCEORDER"),
        (_PENDING, Basis.ASSUMED, "project", "When a change takes effect"),
    ),
}


def _compared(
    structure: StructureResult,
    running: Running,
    wanted: Mapping[str, Sequence[WantedObject]],
    unstated: Unstated,
) -> ComparedStructure:
    today = running.structures.get(structure.cfrm_name)
    # Displays may be of some structures only. Only a complete policy shows that a structure does not exist.
    is_new = False if today is not None else True if running.has_whole_policy else None
    says = wanted_of(structure, _base(today), unstated)
    differences = (
        [*_cfrm_differences(structure, today, says, is_new=is_new)] if running.knows_structures else []
    )
    objects: list[WantedObject] = []
    withheld: Finding | None = None
    if running.knows_cfstructs:
        for each in wanted["CFSTRUCT"]:
            if each.name == structure.name:
                has = running.cfstructs.get(each.name)
                objects.append(each)
                differences += object_differences(each, has, running)
                withheld = without_dsgroup(each) if lacks_data_sets(each, has, running) else None
    queues: list[QueueDifference] = []
    if running.knows_queues:
        for queue in wanted["QLOCAL"]:
            queues += queue_differences(queue, running.queues.get(queue.name), running)
            objects.append(queue)
    return ComparedStructure(
        structure, today, says, tuple(differences), tuple(queues), is_new, tuple(objects), withheld
    )


def _base(today: RunningStructure | None) -> Mapping[str, Setting] | None:
    """Return the settings that the plan is merged into: those of the policy text, or of the active policy."""
    return (today.policy or today.active) if today else None


def _cfrm_differences(
    structure: StructureResult,
    today: RunningStructure | None,
    says: Mapping[str, Setting],
    *,
    is_new: bool | None,
) -> Iterator[RunningDifference]:
    settings = today.settings if today else None
    # If the allocation is unknown, at worst one rebuild too many is proposed; assuming that it is not allocated could
    # leave a change pending without notice.
    waits = is_new is None or (today is not None and today.is_allocated is not False)
    for keyword, value in says.items():
        has = settings.get(keyword) if settings else None
        site = planned_site(structure) if keyword == "DUPLEX" else None
        has_site = today.duplex_site if today and site else None
        if settings is not None and has == value and has_site == site:
            continue
        when, basis, key, section = _WHEN[keyword]
        shown = None if has is None else ",".join(filter(None, (written(keyword, has), has_site)))
        wanted = ",".join(filter(None, (written(keyword, value), site)))
        if not waits:
            when, basis, key, section = NOW, Basis.PUBLISHED, "zos_cfrm", ""
        yield RunningDifference("cfrm", keyword, shown, wanted, when, basis, _source(key, section))


# ---- the state before, and the merged policy -----------------------------------------------------------------


def _merged(each: ComparedStructure) -> dict[str, Setting]:
    """Return the settings of a structure in the merged policy."""
    return with_defaults({**(_base(each.running) or {}), **each.wanted})


def _state(running: Running, in_use: Mapping[str, int | None]) -> State:
    structures: dict[str, StructureState] = {}
    for name, each in running.structures.items():
        settings = each.settings or {}
        initsize = settings.get("INITSIZE")
        size = each.size_bytes or (initsize if isinstance(initsize, int) else None)
        is_allocated = each.is_allocated is not False
        structures[name] = StructureState(
            policy=each.policy or settings,
            active=settings,
            allocated_with=settings if is_allocated else None,
            size_bytes=size if is_allocated else None,
            # A structure that may be duplexed counts as duplexed: XCF would not rebuild it.
            is_duplexed=_duplexed(each) != "no",
            in_use_bytes=in_use.get(name) or 0,
        )
    return State(
        structures,
        {name: dict(each.attributes) for name, each in running.cfstructs.items()},
        {name: dict(each.attributes) for name, each in running.queues.items()},
    )


# ---- commands ------------------------------------------------------------------------------------------------


def _steps(
    result: PlanResult,
    running: Running,
    compared: Sequence[ComparedStructure],
    wanted: Mapping[str, Sequence[WantedObject]],
) -> Iterator[CommandStep]:
    differing = [each for each in compared if any(found.layer == "cfrm" for found in each.differences)]
    changed = [each for each in differing if _is_known(each, running) and not each.is_too_small]
    left = [each for each in differing if each.is_too_small]
    held = [each for each in changed if _waits(each) and each.wanted["DUPLEX"] == "ENABLED"]
    for each in compared:
        # Altering takes effect at once and needs no second copy, so it comes before policy and rebuilds.
        yield from _in_place(result, each)
    if changed:
        yield from _policy(result, running, changed, held, left)
        for each in changed:
            yield from _rebuild(each, running)
    if held:
        yield from _policy_at_last(result, running, held, left)
    for kind, known in (("CFSTRUCT", running.knows_cfstructs), ("QLOCAL", running.knows_queues)):
        if known:
            yield from object_steps(wanted[kind], running)
    yield from cfconlos_steps(result, running)


def _in_place(result: PlanResult, each: ComparedStructure) -> Iterator[CommandStep]:
    """Yield the command that enlarges an allocated structure in place, up to its current SIZE."""
    today, name = each.running, each.result.cfrm_name
    if today is None or today.size_bytes is None or today.is_allocated is False or today.is_pending:
        return
    most = (today.settings or {}).get("SIZE")
    step = each.result.curve.increment_bytes
    wanted = each.wanted["INITSIZE"]
    if not isinstance(most, int) or not isinstance(wanted, int):
        return
    target = wanted if wanted < most else (most - 1) // step * step
    if target <= today.size_bytes:
        return
    why = (
        f"{name} has {format_size(today.size_bytes)} and may grow to {format_size(most)}: this command changes it to "
        f"{format_size(target)} in place. SIZE= is in K; IXC533I shows the size that was reached."
    )
    # No IBM text that was found states the unit of SIZE=; K is from memory (docs/explanation/assumptions.md, When a
    # change takes effect).
    command = f"SETXCF START,ALTER,STRNAME={name},SIZE={bytes_to_kib_ceil(target)}"
    yield CommandStep(
        "setxcf",
        command,
        name,
        NOW,
        why,
        Basis.PUBLISHED,
        _source("mq_planning", "Application structures"),
    )


def _waits(each: ComparedStructure) -> bool:
    """Return whether a change waits for a rebuild."""
    return any(found.takes_effect == _PENDING for found in each.differences)


def _policy_name(result: PlanResult, running: Running) -> str:
    return result.document.policy.name or running.policy_name or "policy-name"


def _with_which(running: Running, left: Sequence[ComparedStructure]) -> str:
    also = f", with {_named(left)} unchanged" if left else ""
    if running.policy_text is not None:
        return f"with the merged policy{also}"
    return f"with the complete policy, after merging these structures into it{also}"


def _named(structures: Sequence[ComparedStructure]) -> str:
    return ", ".join(each.result.cfrm_name for each in structures)


def _policy(
    result: PlanResult,
    running: Running,
    changed: Sequence[ComparedStructure],
    held: Sequence[ComparedStructure],
    left: Sequence[ComparedStructure],
) -> Iterator[CommandStep]:
    name = _policy_name(result, running)
    why = "IXCMIAPU changes the administrative copy of the policy; nothing running changes yet."
    if left:
        why += (
            f" Leave out the plan's STRUCTURE of {_named(left)} for now, because its data does not fit in its SIZE: once it is "
            "pending, any rebuild would try to apply it."
        )
    but = f"{HELD}{_named(held)}" if held else ""
    if held:
        why += (
            " While the active policy has DUPLEX(ENABLED), the system may duplex a structure before it is rebuilt, and a "
            "duplexed structure cannot be rebuilt: ALLOWED prevents that, and the last policy sets ENABLED."
        )
    yield CommandStep(
        "policy", f"IXCMIAPU: DEFINE POLICY NAME({name}) REPLACE(YES) {_with_which(running, left)}{but}", None, NOW, why, Basis.PUBLISHED,
        _source("db2_stop_duplex" if held else "zos_update_cds"),
    )  # fmt: skip

    def listed(each: ComparedStructure, when: TakesEffect) -> str:
        keywords = [
            found.keyword
            for found in each.differences
            if found.layer == "cfrm"
            and found.takes_effect == when
            and not (each in held and found.keyword == "DUPLEX")
        ]
        return f"{each.result.cfrm_name} ({', '.join(keywords)})" if keywords else ""

    waiting = [text for each in changed if (text := listed(each, _PENDING))]
    at_once = [text for each in changed if (text := listed(each, NOW))]
    parts = [f"At once: {'; '.join(at_once)}."] if at_once else []
    parts += [f"Pending until rebuild: {'; '.join(waiting)}."] if waiting else []
    parts += _of_duplexing([each for each in changed if each not in held])
    yield CommandStep(
        "setxcf", activate_command(name), None, _PENDING if waiting else NOW, " ".join(parts),
        Basis.PUBLISHED, _source("zos_update_cds"),
    )  # fmt: skip


def _of_duplexing(changed: Sequence[ComparedStructure]) -> Iterator[str]:
    """Yield sentences on how activating the policy changes the duplexing of allocated structures."""
    there = [each for each in changed if each.running is not None and each.running.is_allocated is not False]
    will = {each.result.cfrm_name: each.wanted["DUPLEX"] for each in there}
    ends = [each for each in there if _ends_duplexing(each)]
    if ends:
        yield f"Duplexing then ends, and one copy remains: {_named(ends)}."
    begins = [
        each
        for each in there
        if will[each.result.cfrm_name] == "ENABLED" and each.running and _duplexed(each.running) == "no"
    ]
    if begins:
        yield (
            f"The system then starts duplexing: {_named(begins)}. A second coupling facility in PREFLIST needs room for the "
            "copy; IXC538I states the reason if duplexing does not start."
        )
    stay = [
        each
        for each in there
        if will[each.result.cfrm_name] != "DISABLED"
        and each.running
        and _duplexed(each.running) == "yes"
        and not _waits(each)
    ]
    if stay:
        yield f"Stays duplexed: {_named(stay)}."


def _policy_at_last(
    result: PlanResult, running: Running, held: Sequence[ComparedStructure], left: Sequence[ComparedStructure]
) -> Iterator[CommandStep]:
    """Yield the commands that define and activate the policy with DUPLEX(ENABLED), after all rebuilds."""
    # DUPLEX(ENABLED) comes last: a duplexed structure cannot be rebuilt, so its pending changes would stay.
    name = _policy_name(result, running)
    why = f"No changes are pending anymore: this policy has DUPLEX(ENABLED) for {_named(held)}, as planned."
    yield CommandStep(
        "policy", f"IXCMIAPU: DEFINE POLICY NAME({name}) REPLACE(YES) {_with_which(running, left)}", None, NOW, why, Basis.PUBLISHED,
        _source("zos_update_cds"),
    )  # fmt: skip
    why = (
        f"At once: {'; '.join(f'{each.result.cfrm_name} (DUPLEX)' for each in held)}. The system starts duplexing "
        "automatically. A second coupling facility in PREFLIST needs room for the copy; IXC538I states the reason if "
        "duplexing does not start."
    )
    yield CommandStep(
        "setxcf", activate_command(name), None, NOW, why, Basis.PUBLISHED, _source("zos_duplex_automatic"),
    )  # fmt: skip


def _duplexed(today: RunningStructure) -> Literal["yes", "no", "unknown"]:
    """Return whether a structure is duplexed today; "unknown" if no display shows it and its policy allows duplexing."""
    if today.is_duplexed:
        return "yes"
    may = (today.settings or {}).get("DUPLEX") in {"ENABLED", "ALLOWED"}
    return "unknown" if today.is_allocated is None and may else "no"


def _ends_duplexing(each: ComparedStructure) -> bool:
    """Return whether the new policy ends duplexing of an allocated structure, or no longer enables it."""
    today = each.running
    if today is None or today.is_allocated is False or each.wanted["DUPLEX"] != "DISABLED":
        return False
    return today.is_duplexed or (today.settings or {}).get("DUPLEX") == "ENABLED"


def _shrinking(each: ComparedStructure) -> str:
    """Return a description of a rebuild that allocates less than today; empty for other rebuilds."""
    today, initsize = each.running, each.wanted["INITSIZE"]
    if today is None or today.size_bytes is None or not isinstance(initsize, int):
        return ""
    if initsize >= today.size_bytes:
        return ""
    used = (
        ""
        if each.today.usage_percent is None
        else f", {each.today.usage_percent} % of it in use when it was displayed"
    )
    shrinks = f" It shrinks: {format_size(today.size_bytes)} today{used}, "
    if each.in_use_bytes is not None and each.in_use_bytes > initsize:
        return (
            f"{shrinks}{_about(each)} or more then, because its data does not fit in INITSIZE {format_size(initsize)}: check D "
            "XCF,STR again before the rebuild, and preferably wait until the structure holds fewer messages."
        )
    return f"{shrinks}{format_size(initsize)} then, or more if its data needs it."


def _about(each: ComparedStructure) -> str:
    """Return the storage in use today, rounded up to a storage increment of the coupling facility."""
    return format_size(round_up(each.in_use_bytes or 0, multiple=each.result.curve.increment_bytes))


def _too_small(each: ComparedStructure) -> Finding:
    """Return the finding on a structure that gets no command because the data would not fit."""
    today, most = each.running, each.wanted["SIZE"]
    message = (
        f"{each.result.cfrm_name} has {format_size(today.size_bytes or 0) if today else ''} and {each.today.usage_percent} % of it in use: about "
        f"{_about(each)}, which SIZE {format_size(most) if isinstance(most, int) else most} cannot hold. The commands "
        "include neither its policy nor a rebuild: wait until the structure is drained and display it again, or raise SIZE "
        f"to at least {_about(each)}."
    )
    return finding(
        "REBUILD_TOO_SMALL", message, field=f"{each.result.pointer}/size", structure=each.result.name
    )


def _above_initsize(each: ComparedStructure) -> Finding | None:
    """Return the finding on a rebuild that must allocate more than INITSIZE to hold the data; None if it need not."""
    initsize = each.wanted["INITSIZE"]
    if each.is_too_small or not _waits(each) or each.in_use_bytes is None or not isinstance(initsize, int):
        return None
    if each.in_use_bytes <= initsize:
        return None
    message = (
        f"{each.result.cfrm_name} has about {_about(each)} in use, more than INITSIZE {format_size(initsize)}: a rebuild "
        "needs more than INITSIZE, and room for it in a coupling facility in its PREFLIST. Wait until the structure holds "
        f"fewer messages, or raise INITSIZE to at least {_about(each)}."
    )
    return finding(
        "REBUILD_ABOVE_INITSIZE", message, field=f"{each.result.pointer}/initsize", structure=each.result.name
    )


def _rebuild(each: ComparedStructure, running: Running) -> Iterator[CommandStep]:
    """Yield the commands that bring pending changes into effect; duplexing stops before a rebuild and starts after it."""
    if not _waits(each):
        return
    name, today = each.result.cfrm_name, each.running
    will = each.wanted["DUPLEX"]
    duplexed = _duplexed(today) if today else "no"
    if duplexed != "no" and will != "DISABLED":
        why = (
            f"{name} {'is' if duplexed == 'yes' else 'may be'} duplexed: it cannot be rebuilt while it is "
            "duplexed, and both instances must be allocated by the new policy. D XCF,STR must show DUPLEX: ALLOWED before this command, and "
            "one instance after it. The structure has one copy until it is duplexed again."
        )
        if duplexed == "unknown":
            why += " If it is not duplexed, the command is rejected (IXC367I): continue."
        command = stop_duplexing_command(name)
        yield CommandStep("setxcf", command, name, NOW, why, Basis.PUBLISHED, _source("zos_duplex_rebuild"))
    first = "Wait until D XCF,STR shows one instance. " if duplexed != "no" and will == "DISABLED" else ""
    why = (
        f"{first}The pending changes of {name} take effect. Puts and gets wait while it is copied; a coupling facility in "
        f"its PREFLIST needs room for the second copy.{_shrinking(each)}"
    )
    source = _source("zos_rebuild_policy")
    yield CommandStep("setxcf", f"{REBUILD}{name}", name, NOW, why, Basis.PUBLISHED, source)
    # With ALLOWED, only an operator starts duplexing; with ENABLED, the system does.
    if duplexed != "no" and will == "ALLOWED" and can_be_duplexed(_merged(each)["PREFLIST"]):
        why = (
            f"Wait until the rebuild is complete. {name} is duplexed again: with DUPLEX(ALLOWED), the system does not start "
            "duplexing automatically."
        )
        if duplexed == "unknown":
            why = (
                f"Only if {name} was duplexed before: if the stop was rejected, skip this command. Wait until the rebuild is "
                "complete."
            )
        command = start_duplexing_command(name)
        yield CommandStep("setxcf", command, name, NOW, why, Basis.PUBLISHED, _source("zos_duplex_pending"))


# ---- findings ------------------------------------------------------------------------------------------------


def _findings(
    result: PlanResult, running: Running, compared: Sequence[ComparedStructure], steps: Sequence[CommandStep]
) -> Iterator[Finding]:
    yield from _not_given(running, compared, steps)
    yield from _admin_pools(result, running)
    for each in compared:
        name, today = each.result.cfrm_name, each.running
        if each.is_too_small:
            yield _too_small(each)
        elif above := _above_initsize(each):
            yield above
        elif _waits(each) and today is not None:
            yield from shrinks(each.result, each.wanted, today.settings or {}, today)
        yield from kept_settings(each.result, each.wanted)
        yield from object_findings(each.result.name, each.objects, running)
        if running.knows_structures and today is not None and today.is_allocated is None:
            also = " and duplexed" if _duplexed(today) == "unknown" else ""
            message = (
                f"No text shows whether {name} is allocated{also}: it is assumed to be, so changes are pending until it is "
                f"rebuilt. Add D XCF,STR,STRNAME={name}."
            )
            yield finding("RUNNING_STATE_UNKNOWN", message, structure=each.result.name)
        if running.knows_structures and _ends_duplexing(each):
            chosen = " by default" if is_unstated(each.result, "DUPLEX") else ""
            message = (
                f"{name} is duplexed, or its policy enables duplexing, and the plan has DISABLED{chosen}: its second "
                "instance is removed when the policy becomes active."
            )
            yield finding(
                "DUPLEXING_ENDS",
                message,
                field=f"{each.result.pointer}/duplex",
                structure=each.result.name,
            )
        if running.knows_structures and today is not None and _is_left_simplex(each):
            message = (
                f"D XCF,STR shows one instance of {name}, although its policy has DUPLEX(ENABLED): something prevented "
                "duplexing and will prevent it again. Look for IXC538I."
            )
            yield finding("RUNNING_NOT_DUPLEXED", message, structure=each.result.name)
        if running.knows_structures and _loses_its_place(each, running):
            message = f"{name} is duplexed today, but its new PREFLIST has one coupling facility: after the rebuild, it has only one copy."
            yield finding(
                "DUPLEXING_ENDS",
                message,
                field=f"{each.result.pointer}/preflist",
                structure=each.result.name,
            )
        if today is not None and today.is_pending:
            message = (
                f"A policy change of {name} is already pending: it would take effect with the same rebuild."
            )
            yield finding("RUNNING_CHANGE_PENDING", message, structure=each.result.name)
    if any(_is_rebuild(step) for step in steps):
        message = (
            "A rebuild applies the new SIZE and INITSIZE only if all connectors allow alter. IBM documents altering MQ's "
            "structures; D XCF,STR,STRNAME=,CONNM=ALL shows whether each connection allows it."
        )
        yield finding("REBUILD_NEEDS_ALTER", message)
    for step in steps:
        if step.takes_effect == OUTAGE:
            yield finding("CHANGE_NEEDS_OUTAGE", f"{step.command}: {step.why}", structure=step.structure)
    yield from _not_in_plan(result, running)


def _not_given(
    running: Running, compared: Sequence[ComparedStructure], steps: Sequence[CommandStep]
) -> Iterator[Finding]:
    """Report structures that no text mentions, and objects that are not compared because no text shows them."""
    unknown = [each.result.cfrm_name for each in compared if not _is_known(each, running)]
    if unknown and running.knows_structures:
        one = len(unknown) == 1
        message = (
            f"No text mentions {', '.join(unknown)}, and no complete policy was provided: {'it' if one else 'they'} may or may "
            f"not exist, so no command changes {'it' if one else 'them'}. Add D XCF,STR,STRNAME= of "
            f"{'it' if one else 'each'}, or the complete policy."
        )
        yield finding("RUNNING_STATE_UNKNOWN", message)
    missing = [
        what
        for what, is_known in (
            ("structures (D XCF,STR or the policy)", running.knows_structures),
            ("CFSTRUCT objects (DISPLAY CFSTRUCT(*) ALL)", running.knows_cfstructs),
            ("shared queues (DISPLAY QLOCAL(*) ALL)", running.knows_queues),
        )
        if not is_known
    ]
    if missing:
        yield finding("RUNNING_NOT_GIVEN", f"Not provided, and therefore not compared: {', '.join(missing)}.")
    defined = [
        step.command.split(" ")[1]
        for step in steps
        if step.command.startswith("DEFINE ") and step.takes_effect == NOW
    ]
    if defined:
        more = f" and {len(defined) - 1} more" if len(defined) > 1 else ""
        message = (
            f"No text contains {defined[0]}{more}: assumed not to be defined. If the texts do not cover the whole group, DEFINE "
            "fails for objects that already exist; add their displays."
        )
        yield finding("RUNNING_NOT_GIVEN", message)


def _admin_pools(result: PlanResult, running: Running) -> Iterator[Finding]:
    """Check that displays show enough entries and elements of CSQ_ADMIN for the group, and enough free ones."""
    admin = next(each for each in result.structures if each.admin is not None)
    pools = running.admin_pools(admin.cfrm_name)
    need = admin_need(
        queue_managers=result.document.queue_manager_count,
        cfcc_level=sizing_level(result.document, result.document.admin).level,
        entsmax=pools.entries_total,
        elements_total=pools.elements_total,
    )
    short = ("ADMIN_ENTSMAX_TOO_LOW", "ADMIN_ELEMENTS_TOO_LOW")
    yield from (each for each in need.findings if each.code in short)
    yield from admin_nearly_full(running, admin.cfrm_name)


def _is_left_simplex(each: ComparedStructure) -> bool:
    """Return whether a structure has one instance today although its policy has DUPLEX(ENABLED)."""
    today = each.running
    if today is None or not today.is_allocated or today.is_duplexed or each.wanted["DUPLEX"] == "DISABLED":
        return False
    return (today.settings or {}).get("DUPLEX") == "ENABLED"


def _loses_its_place(each: ComparedStructure, running: Running) -> bool:
    """Return whether a structure is duplexed today and the planned PREFLIST leaves no room for a second instance."""
    if each.running is None or not each.running.is_duplexed or each.wanted["DUPLEX"] == "DISABLED":
        return False
    return not can_be_duplexed(_merged(each)["PREFLIST"])


def _not_in_plan(result: PlanResult, running: Running) -> Iterator[Finding]:
    qsg = names.cfrm_structure_name(qsg_name=result.document.qsg, cfstruct_name="")
    ours = {structure.cfrm_name for structure in result.structures}
    for name in running.structures:
        rest = name.removeprefix(qsg)
        # A CFSTRUCT name begins with a letter: with another fifth character, the structure is not of this group.
        if name.startswith(qsg) and name not in ours and rest[:1].isalpha():
            yield finding("RUNNING_NOT_IN_PLAN", f"{name} is running but not in the plan: it stays as it is.")
    applications = {structure.name for structure in result.structures}
    for name in running.cfstructs:
        if name not in applications:
            yield finding(
                "RUNNING_NOT_IN_PLAN", f"CFSTRUCT({name}) is defined but not in the plan: it stays as it is."
            )
    planned_queues = {queue.name for structure in result.document.structures for queue in structure.queues}
    left = [
        name
        for name, each in running.queues.items()
        if name not in planned_queues and each.attributes.get("CFSTRUCT") in applications
    ]
    if left:
        more = f" and {len(left) - 1} more queues" if len(left) > 1 else ""
        verb = "lie" if more else "lies"
        yield finding(
            "RUNNING_NOT_IN_PLAN",
            f"{left[0]}{more} {verb} on structures of the plan and {'are' if more else 'is'} not in the plan: its storage need does not include their messages.",
        )
    count = len(running.queue_managers)
    if count and count != result.document.queue_manager_count:
        message = f"DISPLAY GROUP lists {count} queue managers ({', '.join(running.queue_managers)}), the plan has {result.document.queue_manager_count}."
        yield finding("RUNNING_NOT_IN_PLAN", message, field="/queue_managers")


# ---- as text -------------------------------------------------------------------------------------------------


_WIDTH: Final = 79
_MQSC_WIDTH: Final = 71


def _text(comparison: Comparison) -> list[str]:
    lines = _remark(
        f"Commands that change the running system to the plan of queue-sharing group {comparison.qsg}. If you paste all of these lines, nothing changes: each changing "
        "command is in a comment, and only DISPLAY commands are outside of one. To issue a command, copy its lines without the leading asterisk and "
        "three blanks. Issue one step at a time, in this order, and check the response before the next."
    )
    if comparison.is_same:
        lines += _remark("No action is needed: the system matches everything that the plan specifies.")
    for each in comparison.structures:
        if each.is_too_small:
            lines += ["*", *_remark(f"NOT YET. {_too_small(each).message}")]
        if each.withheld:
            lines += ["*", *_remark(f"NOT YET. {each.withheld.message}")]
    for found in comparison.findings:
        if found.code in _IN_TEXT:
            lines += ["*", *_remark(f"{_IN_TEXT[found.code]}. {found.message}")]
    first_rebuild = next((step for step in comparison.commands if _is_rebuild(step)), None)
    for step in comparison.commands:
        if step is first_rebuild:
            test, change = comparison.instead_of_rebuilds
            lines += ["*", *_remark(_INSTEAD), test, _held(change)]
        lines += [
            "*",
            *_remark(f"{step.number}. {_WHERE[step.kind]}. {step.takes_effect.upper()}. {step.why}"),
        ]
        lines += _lines_of(step)
    return lines


_IN_TEXT: Final = {"UNSTATED_KEPT": "KEPT", "MQ_PROTECTION_CHANGES": "CHECK", "CFLEVEL_STAYS_LOWER": "CHECK"}
"""Findings that the text repeats, with the word that precedes each."""
_WHERE: Final[Mapping[StepKind, str]] = {
    "policy": "JOB IXCMIAPU",
    "setxcf": "MVS OPERATOR COMMAND",
    "job": "JOB IDCAMS AND CSQJUFMT",
    "mqsc": "MQSC",
}
"""The heading of a command: where to issue it."""


def _lines_of(step: CommandStep) -> Iterator[str]:
    """Yield the lines of a command in comments, after the display that shows the state before it."""
    if step.kind == "policy":
        yield from _instruction(f"DO: {step.command}")
    elif step.kind == "job":
        yield from _instruction(f"JOB: {step.command}")
    elif step.kind == "setxcf":
        yield f"D XCF,STR,STRNAME={step.structure}" if step.structure else "D XCF,POLICY,TYPE=CFRM"
        yield _held(step.command)
    else:
        # A display changes nothing, so it may be issued when the whole text is pasted.
        hold = str if step.command.startswith("DISPLAY ") else _held
        yield from (hold(line) for line in _continued(step.command))


def _held(command: str) -> str:
    """Return a line of a command as a comment; without its first four characters it can be issued."""
    return f"*   {command}"


def _instruction(text: str) -> list[str]:
    lines = textwrap.wrap(text, _WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return [_held(line) for line in lines]


_INSTEAD: Final = (
    "Instead of individual rebuilds, REALLOCATE activates pending changes for every structure in the sysplex, not only those "
    "of this plan, and may move structures. Read the report of its test before you decide:"
)


def _remark(text: str) -> list[str]:
    return [
        f"* {line}"
        for line in textwrap.wrap(text, _WIDTH - 2, break_long_words=False, break_on_hyphens=False)
    ]


def _continued(command: str) -> list[str]:
    """Return MQSC in lines of at most 72 columns, continued with +."""
    lines = textwrap.wrap(
        command, _MQSC_WIDTH - 2, subsequent_indent=" " * 7, break_long_words=False, break_on_hyphens=False
    )
    return [*(f"{line} +" for line in lines[:-1]), lines[-1]]
