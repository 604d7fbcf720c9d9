"""Make a plan document from the running system, with only the values that displays and definitions show.

No display shows message sizes or backlogs. Queues are included only if a message size is given for all of them, with
MAXDEPTH as their backlog if it limits them; the others are reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field

from planner_core import names
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.errors import NameSyntax, PlannerError
from planner_core.limits import limit
from planner_core.running.line_findings import LineFinding, at_line, finding_at
from planner_core.running.lint_policy import ADMIN_NAME
from planner_core.running.others import other_entries
from planner_core.running.policy import Setting
from planner_core.running.state import MqObject, Running, RunningStructure, admin_nearly_full, plain
from planner_core.texts.mqsc.cfstruct import CFSTRUCT
from planner_core.texts.queue_paste import attributes_of_use
from planner_core.units import KIB, format_size
from planner_core.wire import Answer, Hidden

_PAD: Final = "@"
_NO_LIMIT: Final = limit("largest_maxdepth")
"""The value of MAXDEPTH that does not limit a queue."""
_DEFAULT_LEVEL: Final = 25
"""The CFCC level assumed if no display shows one: the highest with published sizes, which are the largest."""
_RULES: Final = (1, 2, 3)
_OFF: Final = "64K"
"""The size of a rule that is off."""


class NoGroup(PlannerError):
    """Texts that do not show which group the plan is for; the message names the texts to add."""


@dataclass(frozen=True, slots=True)
class PlanFromRunning(Answer):
    """A plan document made from the running system."""

    document: Annotated[dict[str, Any], Field(description="A plan document.")]
    plan: Hidden[PlanDocument]
    findings: tuple[LineFinding, ...]


def plan_from(
    running: Running,
    *,
    qsg: str | None = None,
    queue_managers: int | None = None,
    message_bytes: int | None = None,
) -> PlanFromRunning:
    """Return a plan document made from the running system.

    Args:
        running: The texts as read.
        qsg: The group; None for that of the only CSQ_ADMIN structure.
        queue_managers: Number of queue managers defined to the group; None for those that DISPLAY GROUP lists.
        message_bytes: Message size for all queues [bytes]; None to leave out queues.

    Raises:
        NoGroup: The texts do not show the group.
        DocumentInvalid: The running system cannot be described by a plan document.
    """
    group = qsg or _group(running)
    prefix = names.cfrm_structure_name(qsg_name=group, cfstruct_name="")
    told: list[LineFinding] = list(running.findings)

    def tell(message: str, structure: str | None = None) -> None:
        told.append(finding_at("RUNNING_FIGURES_TO_CHECK", message, structure=structure))

    document: dict[str, Any] = {"schema_version": 1, "qsg": group}
    if running.queue_managers:
        document["queue_managers"] = list(running.queue_managers)
        if queue_managers not in (None, len(running.queue_managers)):
            tell(
                f"DISPLAY GROUP lists {len(running.queue_managers)} queue managers, not {queue_managers}: the listed ones "
                "are used."
            )
    else:
        document["queue_managers"] = queue_managers or 1
        if queue_managers is None:
            tell(
                "No text shows how many queue managers the group has: 1 is used. Add DISPLAY GROUP, or correct the number."
            )
    levels = [each.cfcc_level for each in running.facilities.values() if each.cfcc_level]
    # Structures may be in any coupling facility, and at a higher level the same messages need more storage.
    document["cfcc_level"] = max(levels, default=_DEFAULT_LEVEL)
    if not levels:
        tell(f"No text shows the CFCC level: {_DEFAULT_LEVEL} is used. Add D CF, or correct the level.")
    if running.policy_name and _is(names.policy, running.policy_name):
        document["policy"] = {"name": running.policy_name}
    document["coupling_facilities"] = [_facility(each) for each in running.facilities.values()]
    ours = {
        name.removeprefix(prefix): each
        for name, each in running.structures.items()
        if name.startswith(prefix)
    }
    for key, name in (("admin", names.ADMIN_STRUCTURE), ("system", names.SYSTEM_STRUCTURE)):
        if name in ours:
            document[key] = _settings(ours[name])
    admin = f"{prefix}{names.ADMIN_STRUCTURE}"
    pools = running.admin_pools(admin)
    if entsmax := running.admin_entsmax or pools.entries_total:
        document.setdefault("admin", {})["entsmax"] = entsmax
    if pools.elements_total:
        document.setdefault("admin", {})["elements_total"] = pools.elements_total
    told += [at_line(each) for each in admin_nearly_full(running, admin)]
    if names.SYSTEM_STRUCTURE not in ours and running.knows_structures:
        # Otherwise the plan would define a CSQSYSAPPL that the group does not have.
        document["system"] = {"include": False, "shared_channels": 0, "group_ur_messages": 0}
    applications = dict.fromkeys([*(name for name in ours if _is(names.cfstruct, name)), *running.cfstructs])
    for name, queues in _homeless(running, applications).items():
        told_of = (
            f"{queues[0]} and {len(queues) - 1} more queues are" if len(queues) > 1 else f"{queues[0]} is"
        )
        tell(f"{told_of} on {name}, which no text describes: omitted.")
    structures: list[dict[str, Any]] = []
    for name in applications:
        if not _is(names.cfstruct, name):
            continue
        made: dict[str, Any] = {"name": name}
        if name in ours:
            made |= _settings(ours[name])
            scm = ours[name].scm_max_size_bytes
            if scm:
                made["scm"] = {"max_size": format_size(scm)}
        else:
            tell(f"No policy and no display of {prefix}{name} was provided: its sizes are calculated.", name)
        if name not in running.cfstructs:
            tell(
                f"No CFSTRUCT({name}) was provided: CFLEVEL, RECOVER and the offload rules have the defaults of a plan. Add "
                f"DISPLAY CFSTRUCT({name}) ALL, or correct them.",
                name,
            )
        made |= _object(running.cfstructs.get(name))
        made["queues"] = list(_queues(name, running, message_bytes, tell))
        structures.append(made)
    document["structures"] = structures
    others, omitted = other_entries(running, group)
    if others:
        document["other_structures"] = others
    told += omitted
    return PlanFromRunning(document, read_object(document), tuple(dict.fromkeys(told)))


def _is(check: Any, name: str) -> bool:  # noqa: ANN401 - one of the checks of names
    try:
        check(name)
    except NameSyntax:
        return False
    return True


def _group(running: Running) -> str:
    groups = [
        match["qsg"].rstrip(_PAD) for name in running.structures if (match := ADMIN_NAME.fullmatch(name))
    ]
    if len(groups) == 1:
        return groups[0]
    if groups:
        msg = f"The texts contain structures of {len(groups)} groups ({', '.join(groups)}): specify which group the plan is for."
    else:
        msg = "No structure name ends in CSQ_ADMIN, so the name of the group is unknown: specify it."
    raise NoGroup(msg)


def _facility(each: Any) -> dict[str, Any]:  # noqa: ANN401 - FacilityDisplay, field by field
    said = {
        "name": each.name,
        "size": format_size(each.size_bytes) if each.size_bytes else None,
        "cfcc_level": each.cfcc_level,
        "site": each.site,
        "volatile": each.is_volatile,
        "type": each.type,
        "mfg": each.mfg,
        "plant": each.plant,
        "sequence": each.sequence,
        "partition": each.partition,
        "cpcid": each.cpcid,
        "dumpspace": format_size(each.dumpspace_bytes) if each.dumpspace_bytes else None,
    }
    return {key: value for key, value in said.items() if value is not None}


def _settings(each: RunningStructure) -> dict[str, Any]:
    """Return the current sizes and placement, so that an unedited plan changes nothing."""
    settings: Mapping[str, Setting] = each.settings or {}
    found: dict[str, Any] = {}
    for keyword, key in (("INITSIZE", "initsize"), ("SIZE", "size"), ("MINSIZE", "minsize")):
        value = settings.get(keyword)
        if isinstance(value, int) and value:
            found[key] = format_size(value)
    for keyword, key in (
        ("FULLTHRESHOLD", "full_threshold"),
        ("ALLOWAUTOALT", "allow_auto_alter"),
        ("DUPLEX", "duplex"),
    ):
        if settings.get(keyword) is not None:
            found[key] = settings[keyword]
    for keyword, key in (("PREFLIST", "preflist"), ("EXCLLIST", "exclist")):
        value = settings.get(keyword)
        if isinstance(value, tuple) and value:
            found[key] = list(value)
    if each.duplex_site is not None and found.get("duplex", "DISABLED") != "DISABLED":
        found["duplex_site"] = each.duplex_site
    if each.is_order_enforced:
        found["enforce_order"] = True
    return found


def _object(known: MqObject | None) -> dict[str, Any]:
    """Return the plan's keys for a CFSTRUCT definition."""
    if known is None:
        return {}
    given = known.attributes
    found: dict[str, Any] = {}
    rules = list(_rules(given))
    for each in CFSTRUCT:
        if each.is_of_rule:
            # A plan states all rules or none: with some of them unknown, the others would get a wrong number.
            value = _without_last_off(rules) if len(rules) == len(_RULES) else None
        else:
            value = each.read(given[each.keyword]) if each.keyword in given else None
        if value is not None:
            (found.setdefault(each.parent, {}) if each.parent else found)[each.name] = value
    return found


def _without_last_off(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rules without those at the end that are off."""
    # A rule that is off stays if others follow it, so that they keep their numbers.
    used = max((place for place, rule in enumerate(rules, start=1) if rule["size_over"] != _OFF), default=0)
    return rules[:used]


def _rules(given: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for number in _RULES:
        over, size = (
            plain("", given.get(f"OFFLD{number}TH")),
            plain(f"OFFLD{number}SZ", given.get(f"OFFLD{number}SZ")),
        )
        if isinstance(over, int) and isinstance(size, int):
            yield {"usage_over": over, "size_over": f"{size // KIB}K"}


def _homeless(running: Running, known: Iterable[str]) -> dict[str, list[str]]:
    """Return queues on structures that no text describes, by structure."""
    homes = {*known, names.SYSTEM_STRUCTURE}
    found: dict[str, list[str]] = {}
    for each in running.queues.values():
        home = each.attributes.get("CFSTRUCT", "").strip()
        if home and home not in homes:
            found.setdefault(home, []).append(each.name)
    return found


def _queues(name: str, running: Running, message_bytes: int | None, tell: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    ours = [each for each in running.queues.values() if each.attributes.get("CFSTRUCT", "").strip() == name]
    left: list[str] = []
    for each in ours:
        depth = plain("MAXDEPTH", each.attributes.get("MAXDEPTH"))
        limits = isinstance(depth, int) and 0 < depth < _NO_LIMIT
        if message_bytes is None or not limits or not _is(names.queue, each.name):
            left.append(each.name)
            continue
        persistent = each.attributes.get("DEFPSIST", "NO") == "YES"
        yield {
            "name": each.name,
            "message_bytes": message_bytes,
            "backlog": depth,
            "persistent": persistent,
            **attributes_of_use(each.attributes),
        }
    if left:
        why = (
            "no text shows the size of their messages"
            if message_bytes is None
            else "MAXDEPTH does not limit them"
        )
        more = f" and {len(left) - 1} more queues" if len(left) > 1 else ""
        tell(f"{left[0]}{more} of {name} omitted: {why}. Add them with a size and a backlog.", name)
    elif not ours:
        tell(f"No queue of {name} was provided: its need is unknown.", name)
