"""The page of the SMDS job: shared message data sets of a plan, checked, and the statements for each queue manager."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from app.audit.recording import AuditObject
from app.database.session import SessionDep
from app.fits.kept import Curves, curves_in
from app.plans import service
from app.plans.release import DOCUMENT, release_of
from app.plans.trail import PLAN
from app.web.forms import FormField, filled, sentence
from app.web.rendering import Page, render
from app.web.router import Router
from app.whatif.answers import data_set_job
from app.whatif.asking import PlanSelection, SentDep, answered, asked_by_name, asked_by_text, status_of
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.errors import FieldProblem
from planner_core.findings import Finding
from planner_core.texts.smds_job import LOADS, Load, SmdsJob, SmdsJobQuestion, offloading
from planner_core.units import MIB

router = Router(include_in_schema=False)
MOST_TYPED = 400
MOST_BOXES = 20
MOST_SETS_SHOWN = 400
"""Maximum number of data sets in jobs that the page shows; larger jobs are available only as files."""
_POINTER = re.compile(r"/structures/([0-9]+)/offload/dsgroup")
_INCOMPLETE = "SMDS_JOB_INCOMPLETE"
"""Code of the finding that the fields of the page resolve; others are shown as findings."""
_NAMES = FormField("queue_managers", "Names of the queue managers", value="")


@dataclass(frozen=True, slots=True)
class OffloadStructureRow:
    """One structure that offloads to shared message data sets."""

    name: str
    dsgroup: str
    """The DSGROUP of the structure; empty if it has none."""
    first: str
    """The name of its first data set; empty if there is none."""
    primary_bytes: int
    secondary_bytes: int
    when_full_bytes: int
    sets: int
    is_extended: bool
    wrong: str


@dataclass(frozen=True, slots=True)
class SmdsJobRow:
    """The job of one queue manager."""

    name: str
    sets: int
    space_bytes: int
    text: str
    """The text of the job; empty if it is too long to show."""
    href: str
    """Address of the file; empty for a submitted plan."""


@dataclass(frozen=True, slots=True)
class SmdsJobView:
    """The answer, arranged for the page."""

    structures: tuple[OffloadStructureRow, ...]
    members: tuple[SmdsJobRow, ...]
    sets: int
    space_bytes: int
    href: str
    findings: tuple[Finding, ...]
    remark: str
    """A remark if the plan does not name all its queue managers; otherwise empty."""
    has_errors: bool
    """Whether errors of the plan prevent a job."""


@dataclass(frozen=True, kw_only=True)
class SmdsPage(Page):
    """The data sets of a plan, and the job that creates them."""

    asked: Annotated[PlanSelection, "The chosen plan, and the other plans to choose from"]
    fields: Annotated[tuple[FormField, ...], "Names that the plan does not contain, as typed"]
    problems: Annotated[tuple[FieldProblem, ...], "Errors in the plan or the fields"]
    needed: Annotated[str, "Missing values that are neither in the plan nor entered; otherwise empty"]
    load: Annotated[Load, "The load for which each data set is allocated"]
    answer: Annotated[SmdsJobView | None, "The data sets, and the job if nothing is missing"]


@router.get("/whatif/smds")
def show(request: Request, session: SessionDep) -> Response:
    """Show the answer for the plan that the address names. With `as`, return only the job."""
    query = request.query_params
    asked, document = asked_by_name(session, query.get("plan", "")[:64])
    # Names that were entered for one plan do not apply to another one that is chosen afterwards.
    is_other = "of" in query and query["of"] != asked.choice
    about = None
    if asked.name:
        # The version whose document was read, not a later one.
        stored = service.get_version(session, asked.name, asked.version)
        release_of(request).check(session, stored.name, stored)
        about = AuditObject(PLAN, stored.name, id=stored.plan_id, version=stored.number)
    return _page(request, asked, document, {} if is_other else query, about=about)


@router.post("/whatif/smds")
def ask(request: Request, session: SessionDep, sent: SentDep) -> Response:
    """Show the answer for a submitted plan document."""
    asked, document = asked_by_text(session, sent)
    return _page(request, asked, document, sent.last, writer=session)


def _page(
    request: Request,
    asked: PlanSelection,
    document: PlanDocument | None,
    query: Mapping[str, str],
    *,
    about: AuditObject | None = None,
    writer: Session | None = None,
) -> Response:
    typed = {
        name: value.strip()[:MOST_TYPED]
        for name, value in query.items()
        if name == _NAMES.name or name.startswith("dsgroup-")
    }
    if asked.is_example and document is not None:
        # Without names of queue managers, the example would have no job to show.
        made_up = " ".join(f"QM{number:02}" for number in range(1, document.queue_manager_count + 1))
        typed.setdefault(_NAMES.name, made_up)
    load = next((each for each in LOADS if each == query.get("for")), LOADS[0])
    curves = curves_in(request.app.state.database)
    found, problems = answered(asked, document, lambda plan: _found(plan, typed, load, curves))
    fields, elsewhere, needed = _fields(asked, document, typed, problems, found[1] if found else None)
    planned = document.queue_manager_count if document is not None else 0
    member = query.get("as", "")
    if found and found[1].text:
        release_of(request).record(
            about or AuditObject(DOCUMENT, found[0].qsg),
            {"SMDS job": found[1].text},
            is_shown=not member,
            session=writer,
        )
    # An empty file would hide the missing values, so the page lists them instead.
    if found and found[1].text and member:
        return _file(found[1], member)
    page = SmdsPage(
        title="SMDS job",
        section="whatif",
        asked=asked,
        fields=fields,
        problems=elsewhere,
        needed=needed,
        load=load,
        answer=arranged(*found, asked=asked, typed=typed, planned=planned) if found else None,
    )
    return render(request, "whatif/smds.html", page, status_code=status_of(asked, is_wrong=bool(problems)))


def _found(
    document: PlanDocument, typed: Mapping[str, str], load: Load, curves: Curves
) -> tuple[PlanDocument, SmdsJob]:
    """Return the plan with the typed names, and its job.

    Raises:
        DocumentInvalid: The typed names are not valid in a plan.
        PlanRefused: The plan is impossible.
    """
    given = {name: value for name, value in typed.items() if value}
    if given:
        changed = document.model_dump(mode="json", exclude_defaults=True)
        # Names of data sets contain those of queue managers, so the number of queue managers is not enough.
        if names := _split(given.get(_NAMES.name, "")):
            changed["queue_managers"] = names
        for structure in changed.get("structures", ()):
            if group := given.get(f"dsgroup-{structure['name']}"):
                structure.setdefault("offload", {})["dsgroup"] = group.upper()
        document = read_object(changed)
    return document, data_set_job(document, SmdsJobQuestion(load=load), curves)


def _split(text: str) -> list[str]:
    return text.replace(",", " ").upper().split()


def _file(job: SmdsJob, member: str) -> Response:
    """Return the job of one queue manager, or of all."""
    is_one = any(each.queue_manager == member for each in job.data_sets)
    name = f"{job.qsg}-{member}-smds.jcl" if is_one else f"{job.qsg}-smds.jcl"
    headers = {"Content-Disposition": f'attachment; filename="{_plain(name)}"'}
    return Response(job.of(member) if is_one else job.text, media_type="text/plain", headers=headers)


def _plain(name: str) -> str:
    """Return the name without characters that are unsafe in file names."""
    # Names of groups and queue managers may contain the national characters $, # and @.
    return re.sub(r"[^A-Za-z0-9.-]", "_", name)


def _fields(
    asked: PlanSelection,
    document: PlanDocument | None,
    typed: Mapping[str, str],
    problems: Sequence[FieldProblem],
    job: SmdsJob | None,
) -> tuple[tuple[FormField, ...], tuple[FieldProblem, ...], str]:
    """Return the fields with their errors, the other errors, and the request for missing names, which is not an error.

    There is a field for each DSGROUP that is missing, invalid or typed.
    """
    said = [*((each.field, each.message) for each in problems)]
    needed = ""
    if job is not None and not job.text and document is not None and next(iter(offloading(document)), None):
        said += [(each.field or "", each.message) for each in job.findings if each.code == _INCOMPLETE]
    wrong: dict[str, str] = {}
    elsewhere = []
    names = [each.name for each in document.structures] if document is not None else []
    for pointer, message in said:
        at = _POINTER.fullmatch(pointer)
        if at and int(at[1]) < len(names):
            wrong.setdefault(f"dsgroup-{names[int(at[1])]}", sentence(message))
        elif pointer.startswith("/queue_managers") and job is not None and not typed.get(_NAMES.name):
            needed = sentence(message)
        elif pointer.startswith("/queue_managers") and document is not None:
            wrong.setdefault(_NAMES.name, sentence(message))
        else:
            elsewhere.append(FieldProblem(pointer, message))
    known = document.queue_managers if document is not None else 0
    hint = (
        f"The plan has {known}, without names." if isinstance(known, int) else "If empty, those of the plan."
    )
    if asked.is_example:
        hint = f"{hint} Fictitious, for the example."
    boxes = [replace(_NAMES, hint=hint)] if document is not None else [_NAMES]
    boxes += [
        FormField(
            f"dsgroup-{name}",
            f"DSGROUP of {name}",
            value="",
            hint="Such as MQ.SMDS.*.APP1. If empty, that of the plan.",
        )
        for name in names
        if f"dsgroup-{name}" in wrong or typed.get(f"dsgroup-{name}")
    ][:MOST_BOXES]
    return filled(boxes, typed, wrong), tuple(elsewhere), needed


def arranged(
    document: PlanDocument, job: SmdsJob, *, asked: PlanSelection, typed: Mapping[str, str], planned: int
) -> SmdsJobView:
    """Return the answer of the core, arranged for the page.

    Args:
        document: The plan with the typed names.
        job: The job of this plan.
        asked: The plan of the page.
        typed: The typed names.
        planned: Number of queue managers in the plan itself.
    """
    query = {"plan": asked.choice, "of": asked.choice} if asked.choice else {}
    query |= {name: value for name, value in typed.items() if value}
    query |= {"for": job.load}
    # A submitted plan is not in the address, so no link could lead to its job.
    has_files = bool(job.text and (asked.name or asked.is_example))

    def href(member: str) -> str:
        return f"/whatif/smds?{urlencode({**query, 'as': member})}" if has_files else ""

    names = document.queue_managers if isinstance(document.queue_managers, list) else []
    is_other = bool(names) and len(names) != planned
    return SmdsJobView(
        structures=tuple(_structures(document, job)),
        members=tuple(_members(job, href)),
        sets=len(job.data_sets),
        space_bytes=sum(each.primary_mib for each in job.data_sets) * MIB,
        href=href("all"),
        findings=tuple(each for each in job.findings if each.code != _INCOMPLETE),
        has_errors=any(each.severity == "error" and each.code != _INCOMPLETE for each in job.findings),
        remark=f"The plan has {planned} queue manager{'' if planned == 1 else 's'}, and {len(names)} "
        f"{'is' if len(names) == 1 else 'are'} named."
        if is_other
        else "",
    )


def _structures(document: PlanDocument, job: SmdsJob) -> Iterator[OffloadStructureRow]:
    wrong = {
        each.structure: each.message for each in job.findings if each.code == _INCOMPLETE and each.structure
    }
    for structure in offloading(document):
        sets = [each for each in job.data_sets if each.structure == structure.name]
        first = sets[0] if sets else None
        yield OffloadStructureRow(
            name=structure.name,
            dsgroup=structure.offload.dsgroup or "",
            first=first.name if first else "",
            primary_bytes=first.primary_mib * MIB if first else 0,
            secondary_bytes=first.secondary_mib * MIB if first else 0,
            when_full_bytes=first.when_full_mib * MIB if first else 0,
            sets=len(sets),
            is_extended=first.extended_addressability if first else False,
            wrong=wrong.get(structure.name, ""),
        )


def _members(job: SmdsJob, href: Callable[[str], str]) -> Iterator[SmdsJobRow]:
    shown = 0
    for name in dict.fromkeys(each.queue_manager for each in job.data_sets):
        sets = [each for each in job.data_sets if each.queue_manager == name]
        shown += len(sets)
        yield SmdsJobRow(
            name=name,
            sets=len(sets),
            space_bytes=sum(each.primary_mib for each in sets) * MIB,
            text=job.of(name) if shown <= MOST_SETS_SHOWN else "",
            href=href(name),
        )
