"""Write the job that creates a plan's shared message data sets: IDCAMS defines each one, CSQJUFMT formats it.

Every queue manager of the group needs one data set for each structure that offloads to SMDS. Its name is DSGROUP with
the asterisk replaced with the name of the queue manager. Message data is in the data set of the queue manager that puts
it, and all puts may go to one member. So each data set is allocated for the whole load: that of the planned backlog
with space for an overload, from which it grows with DSEXPAND(YES), or that of a structure that is full at SIZE. With
DSEXPAND(NO) it cannot grow, and is always allocated for a full structure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

from pydantic import Field, computed_field

from planner_core import tables
from planner_core.document.model import PlanDocument, Structure
from planner_core.findings import Finding, finding
from planner_core.limits import limit
from planner_core.plan.result import PlanResult
from planner_core.questions import Question
from planner_core.sizing.structure_result import SmdsNeed, StructureResult
from planner_core.sizing.structures import smds_bytes_in_overload
from planner_core.texts.outputs import errors_of
from planner_core.units import GIB, MIB, ceil_div
from planner_core.wire import Answer, Hidden

Load = Literal["backlog", "size"]
"""The load for which data sets are allocated: the planned backlog with space for an overload, or a structure that is
full at SIZE."""
LOADS: Final[tuple[Load, ...]] = get_args(Load)


class SmdsJobQuestion(Question):
    """The load that the data sets of a plan are allocated for."""

    load: Load = Field(
        "backlog",
        alias="for",
        description="load for which each data set is allocated: the planned backlog, with space for an overload, or a structure "
        "that is full at SIZE; absent: backlog",
    )


_PERCENT = 100
_SETS_PER_JOB = 127
"""The maximum number of data sets in a job: each takes two steps, and a job has at most 255 (z/OS MVS JCL Reference,
EXEC)."""
_LONGEST_NAME = 44
"""The maximum length of a data set name."""
_EXTENDED_MIB = 4 * GIB // MIB


@dataclass(frozen=True, slots=True)
class DataSet(Answer):
    """One shared message data set."""

    structure: str
    queue_manager: str
    name: str
    primary_mib: int
    secondary_mib: int
    when_full_mib: Annotated[
        int,
        Field(
            description="Space needed when the structure is full at SIZE; DSEXPAND(YES) lets it grow to this size."
        ),
    ]

    @computed_field
    @property
    def extended_addressability(self) -> bool:
        """True if the data set is larger than 4 GB, or can grow beyond 4 GB while its structure fills."""
        grown = self.when_full_mib if self.secondary_mib else 0
        # VSAM needs extended addressability above 4 GB (DFSMS, from memory).
        return max(self.primary_mib + self.secondary_mib, grown) > _EXTENDED_MIB


@dataclass(frozen=True, slots=True)
class SmdsJob(Answer):
    """The job of the shared message data sets."""

    text: Annotated[
        str,
        Field(alias="job", description="JCL; empty while the plan has errors or something is missing."),
    ]
    data_sets: tuple[DataSet, ...]
    findings: tuple[Finding, ...]
    qsg: Hidden[str]
    load: Annotated[
        Load,
        Field(
            alias="for",
            description="Load for which each data set is allocated: the planned backlog, with space for an overload, or a "
            "structure that is full at SIZE.",
        ),
    ] = "backlog"

    def of(self, queue_manager: str) -> str:
        """Return the job of one queue manager's data sets."""
        ours = [each for each in self.data_sets if each.queue_manager == queue_manager]
        return _text(self.qsg, ours, self.load)


def smds_job(result: PlanResult, *, load: Load = "backlog") -> SmdsJob:
    """Return the job for every data set that the plan needs.

    It is empty while the plan has errors or lacks names; the findings list both.

    Args:
        result: The plan.
        load: The load that each data set is allocated for.
    """
    document = result.document
    against = (*errors_of(result), *_missing(document))
    # The job that submits a text does not read comments or findings (docs/decisions/0005).
    if against:
        return SmdsJob("", (), against, document.qsg, load)
    names = document.queue_managers if isinstance(document.queue_managers, list) else []
    sized = {each.name: each for each in result.structures}
    sets: list[DataSet] = []
    for structure in offloading(document):
        found = sized[structure.name]
        if found.smds is None:
            continue
        primary, secondary, when_full = _space_mib(structure, found, found.smds, load)
        sets += [
            DataSet(structure.name, name, data_set_name(structure, name), primary, secondary, when_full)
            for name in names
        ]
    assumed = finding(
        "SMDS_JOB_CHOICES_ASSUMED",
        "LINEAR, and IDCAMS before CSQJUFMT, are published; SHAREOPTIONS(2 3), the DD name SYSUT1, the secondary space and the limits of "
        "VSAM extents are not confirmed in a published text: compare the job with the sample CSQ4SMDS in your SCSQPROC. Primary space must "
        "fit on one volume (also not confirmed): "
        f"the largest here is {max((each.primary_mib for each in sets), default=0)} MiB. If no volume has "
        "that much free space, choose a data "
        "class that allows several volumes, or specify less primary and more secondary space.",
    )
    findings = (*_not_growing(document, sets), assumed) if sets else ()
    return SmdsJob(_text(document.qsg, sets, load), tuple(sets), findings, document.qsg, load)


def _not_growing(document: PlanDocument, sets: Sequence[DataSet]) -> Iterator[Finding]:
    """Report structures whose data sets cannot grow: they are always allocated for a full structure."""
    first = {each.structure: each for each in reversed(sets)}
    for index, structure in enumerate(document.structures):
        each = first.get(structure.name)
        if each is not None and not structure.offload.dsexpand:
            yield finding(
                "SMDS_DOES_NOT_GROW",
                f"{structure.name} has DSEXPAND(NO): its data sets cannot grow, so the job allocates {each.primary_mib} MiB "
                "for each, the space that a structure full at SIZE needs. Set DSEXPAND(YES) to start with less.",
                field=f"/structures/{index}/offload/dsexpand",
                structure=structure.name,
            )


def _space_mib(
    structure: Structure, found: StructureResult, need: SmdsNeed, load: Load
) -> tuple[int, int, int]:
    """Return primary space, secondary space, and the space for a full structure [MiB]."""
    least = structure.offload.dsblock * max(1, len(structure.queues))
    when_full = ceil_div(max(need.data_set_bytes_when_full, least), MIB)
    if not structure.offload.dsexpand:
        return when_full, 0, when_full
    chosen = tables.constants("smds")
    # Space for an overload, because puts fail with reason 2192 while a data set that is full expands.
    wanted = max(ceil_div(max(smds_bytes_in_overload(found), least), MIB), chosen["least_primary_mib"].value)
    primary = when_full if load == "size" else min(wanted, when_full)
    tenth = ceil_div(primary * chosen["least_secondary_percent"].value, _PERCENT)
    # A volume has at most 123 extents of a data set (DFSMS, from memory); 100 of them are used.
    growth = ceil_div(when_full - primary, chosen["growth_extents"].value)
    return primary, max(1, tenth, growth), when_full


def data_set_name(structure: Structure, queue_manager: str) -> str:
    """Return DSGROUP with the queue manager's name in place of the asterisk."""
    return (structure.offload.dsgroup or "").replace("*", queue_manager)


def offloading(document: PlanDocument) -> Iterator[Structure]:
    """Yield the structures that offload to shared message data sets."""
    for structure in document.structures:
        if structure.offload.to == "SMDS" and structure.cflevel >= limit("cflevel_offload"):
            yield structure


def _missing(document: PlanDocument) -> Iterator[Finding]:
    """Report missing input of the job: unknown names of queue managers, DSGROUPs that are missing or shared.

    Reading a document checks the qualifiers of a DSGROUP; the length of the complete data set names is checked here.
    """
    if not isinstance(document.queue_managers, list):
        yield finding(
            "SMDS_JOB_INCOMPLETE",
            f"The plan states the number of queue managers, {document.queue_managers}, but not their names: each has its own "
            "data set. List the names.",
            field="/queue_managers",
        )
    seen: dict[str, str] = {}
    for index, structure in enumerate(document.structures):
        if structure not in tuple(offloading(document)):
            continue
        at = f"/structures/{index}/offload/dsgroup"
        if structure.offload.dsgroup is None:
            yield finding(
                "SMDS_JOB_INCOMPLETE",
                f"{structure.name} offloads to SMDS but has no DSGROUP.",
                field=at,
                structure=structure.name,
            )
            continue
        if structure.offload.dsgroup in seen:
            yield finding(
                "SMDS_JOB_INCOMPLETE",
                f"{structure.name} has the same DSGROUP as {seen[structure.offload.dsgroup]}: each structure needs its own "
                "data sets.",
                field=at,
                structure=structure.name,
            )
        seen[structure.offload.dsgroup] = structure.name
    if isinstance(document.queue_managers, list):
        yield from _unusable_names(document, document.queue_managers)


def _unusable_names(document: PlanDocument, queue_managers: Sequence[str]) -> Iterator[Finding]:
    """Report names of data sets that are too long, or shared by two structures."""
    owners: dict[str, tuple[str, str | None]] = {}
    for index, structure in enumerate(document.structures):
        dsgroup = structure.offload.dsgroup
        if dsgroup is None or structure not in tuple(offloading(document)):
            continue
        # Different DSGROUPs may give one name: MQ.*.QM1 and MQ.QM1.* both give MQ.QM1.QM1.
        names = [data_set_name(structure, each) for each in queue_managers]
        longest = max(names, key=len)
        said = ""
        if len(longest) > _LONGEST_NAME:
            said = (
                f"DSGROUP({dsgroup}) of {structure.name} results in data set names of up to {len(longest)} characters, such as {longest}: "
                f"at most {_LONGEST_NAME} are allowed. Shorten it."
            )
        for name in names:
            owner, theirs = owners.setdefault(name, (structure.name, dsgroup))
            if not said and owner != structure.name and theirs != dsgroup:
                said = (
                    f"DSGROUP({dsgroup}) of {structure.name} results in the data set {name}, which is also a data set of "
                    f"{owner}: each structure needs its own data sets."
                )
        if said:
            at = f"/structures/{index}/offload/dsgroup"
            yield finding("SMDS_JOB_INCOMPLETE", said, field=at, structure=structure.name)


def _text(qsg: str, sets: Sequence[DataSet], load: Load) -> str:
    return "\n".join(_lines(qsg, sets, load)) + "\n"


_REMARKS: Final[Mapping[Load, Sequence[str]]] = {
    "backlog": (
        "Primary: the planned messages over 63 KB, those that the offload",
        "rules offload when the backlog is 150 % of the planned one, and a",
        "DSBLOCK for each queue; at least 100 MiB, but no more than a",
        "structure that is full at SIZE needs. All puts may come to one",
        "queue manager, whose data set then holds all of them. Beyond that,",
        "a data set of a structure with DSEXPAND(YES) grows by its",
        "secondary space. With DSEXPAND(NO), it has none: its primary space",
        "is the space that a structure full at SIZE needs.",
    ),
    "size": (
        "Primary: all messages that are offloaded when the structure is",
        "full at SIZE, and a DSBLOCK for each queue. All puts may come to",
        "one queue manager, whose data set then holds all of them. Primary",
        "space is allocated on one volume (from memory): where no volume",
        "has that much free, choose a data class that allows several, or",
        "specify less primary and more secondary space.",
    ),
}


def _lines(qsg: str, sets: Sequence[DataSet], load: Load) -> Iterator[str]:
    yield f"//* Shared message data sets of queue-sharing group {qsg}."
    yield "//* Put your JOB statement before this. Compare with CSQ4SMDS."
    if sets:
        yield "//* Replace each placeholder:"
        yield "//*   ++THLQUAL++  the qualifiers of MQ's load libraries"
    if any(each.extended_addressability for each in sets):
        yield "//*   ++EXTENDED++ a data class with extended addressability"
    yield from (f"//* {line}" for line in _REMARKS[load])
    if not sets:
        yield "//* No structure of the plan offloads to SMDS."
    for number, each in enumerate(sets, start=1):
        yield "//*"
        if number > 1 and number % _SETS_PER_JOB == 1:
            yield "//* Put another JOB statement here: a job has at most 255 steps."
            yield "//*"
        yield f"//* {each.structure}, {each.queue_manager}"
        yield f"//DEF{number:04} EXEC PGM=IDCAMS"
        yield "//SYSPRINT DD SYSOUT=*"
        yield "//SYSIN    DD *"
        yield "  DEFINE CLUSTER -"
        yield f"    (NAME({each.name}) -"
        secondary = f" {each.secondary_mib}" if each.secondary_mib else ""
        yield f"     MEGABYTES({each.primary_mib}{secondary}) -"
        yield "     LINEAR -"
        if each.extended_addressability:
            yield "     DATACLASS(++EXTENDED++) /* to grow over 4 GB */ -"
        yield "     SHAREOPTIONS(2 3))"
        yield "/*"
        yield f"//FMT{number:04} EXEC PGM=CSQJUFMT,COND=(0,NE,DEF{number:04})"
        yield "//STEPLIB  DD DISP=SHR,DSN=++THLQUAL++.SCSQANLE"
        yield "//         DD DISP=SHR,DSN=++THLQUAL++.SCSQAUTH"
        yield "//SYSPRINT DD SYSOUT=*"
        yield f"//SYSUT1   DD DISP=OLD,DSN={each.name}"
