"""Pages of uploads. They work without scripts; a script adds progress bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from app.clock import utc_now
from app.database.session import SessionDep
from app.database.types import LARGEST_KEY
from app.errors import FieldsInvalid, NotFound
from app.jobs import processes
from app.jobs import service as jobs
from app.jobs.models import JobState
from app.jobs.service import Job, JobProgress, stage_title
from app.paging import ResultPage
from app.problem_types import UPLOAD_NOT_FOUND
from app.uploads import arrivals, batches, qsg_map, service, unregistered
from app.uploads.amounts import amount
from app.uploads.batches import BatchProgress
from app.uploads.errors import upload_invalid
from app.uploads.fields import TIMES, about_fields
from app.uploads.lists import STATES, UPLOADS, upload_row
from app.uploads.missing import members, missing_in_report
from app.uploads.qsg_map import GroupMapping
from app.uploads.report import UploadReport, report_view
from app.uploads.service import StoredUpload, UploadDetails
from app.web.body import BodyDep
from app.web.forms import FormField, filled, read_pairs
from app.web.rendering import Page, render, root_path
from app.web.router import Router
from app.web.tables import ListView
from planner_core.contracts.ingest import AskedQueueManager, Asks
from planner_core.errors import FieldProblem
from planner_core.findings import Finding
from planner_core.inputs import KIND_TITLES
from planner_core.wire import JsonObject

router = Router(include_in_schema=False)

SECTION = "uploads"
# Each answer about a group is compared with all others, so their number must be limited.
MOST_PARAMETERS = 3_000
FILTERS: Mapping[str, tuple[str, tuple[JobState, ...]]] = {
    "": ("All", ()),
    "input": ("Needs your input", (JobState.ASKS,)),
    "failed": ("Failed", (JobState.FAILED,)),
    "waiting": ("Waiting", batches.UNDER_WAY),
    "stored": ("Stored", (JobState.DONE,)),
}
"""Title and states of each choice of the list, by its value in the address."""
SAID = {
    "created": "Upload complete.",
    "identical": "This file was uploaded before, so it was not stored again. This is its page.",
    "again": "The file will be read again.",
    "answered": "The file will be read again, and with it all other files whose questions are now answered.",
    "registered": "This upload was created for the file. The file will be read.",
    "retried": "The failed files will be read again.",
    "deleted": "Upload deleted. The data read from it stays in the usage history.",
    "put": "Entry saved. It applies to files that are read from now on.",
    "put-answered": "Entry saved. Files whose questions are now answered will be read.",
    "removed": "Entry removed.",
}
WAITS_FOR_ANSWERS = "Answer the questions below. Nothing has been stored yet."
SUGGESTED = "Probably {qsg}: other records of this file, or answers for other files, name it."
NOTHING_CHOSEN = FieldProblem("", "Choose a file or paste text.")
BOTH_GIVEN = FieldProblem("qsg", "Enter the group or select that the queue manager is in none, but not both.")
NO_GROUP_GIVEN = FieldProblem("qsg", "Enter the group, or select that the queue manager is in none.")


@dataclass(frozen=True, slots=True)
class StateFilter:
    """A choice of the states that the list shows."""

    title: str
    count: int
    href: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class GroupQuestion:
    """A question about the group of a queue manager."""

    system_id: str
    queue_manager: str
    who: str
    suggested: str
    box: FormField
    none_name: str
    is_none: bool


@dataclass(frozen=True, kw_only=True)
class UploadsPage(Page):
    """All uploads, or an introduction if there are none."""

    found: Annotated[ListView, "One page of uploads"]
    filters: Annotated[tuple[StateFilter, ...], "The choices of states, each with the number of uploads"]
    batches: Annotated[tuple[BatchProgress, ...], "The selected batch, or the current batches"]
    is_one_batch: Annotated[bool, "Whether the list shows one batch only"]
    said: Annotated[str, "The last action"]
    missing: Annotated[str, "Steps needed before anything can be read; empty if none are needed"]
    mismatches: Annotated[int, "Number of files without an upload, and of uploads without their file"]
    is_under_way: Annotated[
        bool, "Whether a file of the list waits or is being read, so that a refresh is useful"
    ]


@dataclass(frozen=True, kw_only=True)
class NewUploadPage(Page):
    """The form for a new upload."""

    boxes: Annotated[tuple[FormField, ...], "Kind, time of observation, zone"]
    pasted: Annotated[FormField, "The field for text"]
    wrong: Annotated[tuple[str, ...], "Errors in the request"]
    missing: Annotated[str, "Steps needed before anything can be read; empty if none are needed"]
    largest: Annotated[str, "The largest file that is accepted"]


@dataclass(frozen=True, kw_only=True)
class UploadPage(Page):
    """One upload: progress, questions, report."""

    upload: Annotated[StoredUpload, "The upload with its last job"]
    kind: Annotated[str, "Its detected kind; empty if unknown"]
    is_overruled: Annotated[bool, "Whether a user specified the kind"]
    is_file_missing: Annotated[bool, "Whether the file should be in the data folder and is not"]
    size: Annotated[str, "Its length as text"]
    said: Annotated[str, "Confirmation of the last action"]
    state: Annotated[str, "The state of the job in a word"]
    progress: Annotated[JobProgress, "Progress of the job"]
    messages: Annotated[tuple[str, ...], "The questions as sentences"]
    questions: Annotated[tuple[GroupQuestion, ...], "Queue managers whose group is requested"]
    when: Annotated[tuple[FormField, ...], "Fields for the time of observation, if it is requested"]
    wrong: Annotated[tuple[str, ...], "Errors in the answers"]
    boxes: Annotated[tuple[FormField, ...], "Values that can be changed"]
    report: Annotated[UploadReport | None, "Contents of the file; None before it was read"]
    missing_records: Annotated[tuple[Finding, ...], "Records that the file lacks"]
    log: Annotated[str, "Output of the job"]


@dataclass(frozen=True, kw_only=True)
class QsgMapPage(Page):
    """The site's map of queue managers to queue-sharing groups."""

    entries: Annotated[tuple[GroupMapping, ...], "The entries of the map, in order"]
    boxes: Annotated[tuple[FormField, ...], "The fields for a new entry"]
    is_none: Annotated[bool, "Whether the entry states that the queue manager is in no group"]
    wrong: Annotated[tuple[str, ...], "Errors in the request"]
    said: Annotated[str, "The last action"]


# ---- reading ---------------------------------------------------------------------------------------------------------


@router.get("/uploads")
def uploads(request: Request, session: SessionDep) -> Response:
    """Show uploads, newest first: all, those of a batch, or those in a state."""
    batch, state = request.query_params.get("batch", ""), request.query_params.get("state", "")
    # As for the page, a value that cannot be used means the whole list.
    batch, state = batch if batches.is_batch(batch) else "", state if state in FILTERS else ""
    asked = UPLOADS.request(request)
    found = service.list_uploads(session, asked.page, batch=batch, states=FILTERS[state][1], sort=asked.sort)
    shown = (
        [batches.progress(session, batch, now=utc_now())]
        if batch
        else batches.current(session, now=utc_now())
    )
    progress = tuple(each for each in shown if each is not None)
    filters = _filters(session, batch, state)
    context = UploadsPage(
        title="Uploads",
        section=SECTION,
        found=UPLOADS.view(
            ResultPage.of([upload_row(item) for item in found.items], found.total, asked.page),
            asked,
            _list_query(batch, state),
        ),
        filters=filters,
        batches=progress,
        is_one_batch=bool(batch),
        said=_said(request),
        missing=_missing(),
        mismatches=_mismatches(request, session),
        is_under_way=any(each.waiting for each in progress)
        or any(item.job is not None and item.job.is_under_way for item in found.items),
    )
    return render(request, "uploads/list.html", context)


@router.get("/new-upload")
def new_upload(request: Request) -> Response:
    """Show the empty form."""
    return _form(request, {}, {})


@router.get("/uploads/{upload_id}")
def upload(request: Request, session: SessionDep, upload_id: int) -> Response:
    """Show one upload."""
    return _upload(request, session, upload_id, {}, {})


@router.get("/qsg-map")
def show_map(request: Request, session: SessionDep) -> Response:
    """Show the map, with a form to add entries."""
    return _map(request, session, {}, {})


# ---- changing --------------------------------------------------------------------------------------------------------


@router.post("/uploads")
async def receive(request: Request) -> Response:
    """Receive files and pasted text from a form sent without a script."""
    async with arrivals.received(request, filename=service.UNNAMED) as arrived:
        try:
            if not arrived.files:
                raise upload_invalid(NOTHING_CHOSEN)
            batch = batches.new_batch() if len(arrived.files) > 1 else ""
            outcomes = await arrivals.kept(request, arrived, UploadDetails(), batch=batch)
        except FieldsInvalid as error:
            return _form(request, arrived.fields, {each.field: each.message for each in error.problems})
    if batch:
        return _see(request, f"/uploads?batch={batch}&said=created")
    (outcome,) = outcomes
    return _see(request, f"/uploads/{outcome.upload.id}?said={'created' if outcome.is_new else 'identical'}")


@router.post("/uploads/{upload_id}/ingest")
def read_again(request: Request, session: SessionDep, upload_id: int, body: BodyDep) -> Response:
    """Accept the answers to questions, or corrections to the description of the file."""
    pairs = read_pairs(body, most=MOST_PARAMETERS)
    typed = dict(pairs)
    try:
        said = UploadDetails(
            kind=typed.get("kind"), observed_at=typed.get("observed_at"), zone=typed.get("zone")
        )
        data_dir = request.app.state.settings.data_dir
        service.read_again(session, _id(upload_id), said, data_dir=data_dir, qsg=_groups(pairs))
        others = service.read_answered_again(session)
    except FieldsInvalid as error:
        wrong = {each.field: each.message for each in error.problems}
        # The page is an ordinary answer, so without this, the session would be committed after it.
        session.rollback()
        return _upload(request, session, upload_id, typed, wrong)
    arrivals.start_after_commit(request, session)
    return _see(request, f"/uploads/{upload_id}?said={'answered' if others else 'again'}")


@router.post("/uploads/retry")
def retry_batch(request: Request, session: SessionDep, body: BodyDep) -> Response:
    """Read the failed files of a batch again."""
    batch = _typed(body).get("batch", "")
    if batches.is_batch(batch) and service.read_failed_again(session, batch):
        arrivals.start_after_commit(request, session)
        return _see(request, f"/uploads?batch={batch}&said=retried")
    return _see(request, "/uploads")


@router.post("/uploads/{upload_id}/delete")
def delete(request: Request, session: SessionDep, upload_id: int) -> Response:
    """Delete an upload."""
    service.delete(session, _id(upload_id), data_dir=request.app.state.settings.data_dir)
    return _see(request, "/uploads?said=deleted")


@router.post("/qsg-map")
def put_entry(request: Request, session: SessionDep, body: BodyDep) -> Response:
    """Add or change an entry of the map."""
    typed = _typed(body)
    names = [typed.get(key, "") for key in ("system_id", "queue_manager", "qsg")]
    try:
        if not names[2].strip() and "none" not in typed:
            raise upload_invalid(NO_GROUP_GIVEN)
        if names[2].strip() and "none" in typed:
            raise upload_invalid(BOTH_GIVEN)
        qsg_map.put(session, names[0], names[1], "" if "none" in typed else names[2])
    except FieldsInvalid as error:
        return _map(request, session, typed, {each.field: each.message for each in error.problems})
    if service.read_answered_again(session):
        arrivals.start_after_commit(request, session)
        return _see(request, "/qsg-map?said=put-answered")
    return _see(request, "/qsg-map?said=put")


@router.post("/qsg-map/remove")
def remove_entry(request: Request, session: SessionDep, body: BodyDep) -> Response:
    """Remove an entry of the map."""
    typed = _typed(body)
    qsg_map.remove(session, typed.get("system_id", ""), typed.get("queue_manager", ""))
    return _see(request, "/qsg-map?said=removed")


# ---- inside ----------------------------------------------------------------------------------------------------------


def _form(request: Request, typed: Mapping[str, str], wrong: Mapping[str, str]) -> Response:
    boxes = about_fields(typed, wrong)
    page = NewUploadPage(
        title="Upload usage data",
        section=SECTION,
        boxes=boxes,
        pasted=FormField(
            "text", "Pasted text", kind="text", error=wrong.get("text", ""),
            hint="A display or messages from the console or SYSLOG, a table, or the output of mq-smf-csv.",
        ),
        wrong=_general(wrong, {"text", *(box.name for box in boxes)}),
        missing=_missing(),
        largest=amount(request.app.state.settings.max_upload_bytes),
    )  # fmt: skip
    return render(request, "uploads/new.html", page, status_code=422 if wrong else 200)


def _upload(
    request: Request, session: SessionDep, upload_id: int, typed: Mapping[str, str], wrong: Mapping[str, str]
) -> Response:
    found = service.get(session, _id(upload_id))
    job = found.job
    asks = job.asks if job is not None else None
    said = {"kind": found.kind, "observed_at": found.observed_at, "zone": found.zone, **typed}
    when = _when(asks, said, wrong)
    boxes = about_fields(said, wrong, detected=found.detected_kind)
    questions = _questions(asks, typed, wrong)
    own = {box.name for box in (*boxes, *(each.box for each in questions))}
    kind = service.kind_of(found)
    report = None if job is None or job.is_under_way else jobs.report_of(session, job.id)
    missing = missing_in_report(report, members(session))
    page = UploadPage(
        title=found.filename,
        section=SECTION,
        upload=found,
        kind=KIND_TITLES[kind] if kind else "",
        is_overruled=bool(found.kind),
        is_file_missing=service.is_file_missing(found, data_dir=request.app.state.settings.data_dir),
        size=amount(found.size_bytes),
        said=_said(request),
        state=STATES[job.state] if job else STATES[JobState.FAILED],
        progress=_progress(job),
        messages=tuple(asks.messages) if asks else (),
        questions=questions,
        when=when,
        wrong=_general(wrong, own),
        # The questions include fields for time and zone; a second field of the same name could contradict the first.
        boxes=boxes if not when else boxes[:1],
        report=_report(report, job),
        missing_records=missing[0] if missing else (),
        log=jobs.log_of(session, job.id) if job else "",
    )
    return render(request, "uploads/upload.html", page, status_code=422 if wrong else 200)


def _report(report: JsonObject | None, job: Job | None) -> UploadReport | None:
    return report_view(report, is_stored=job is not None and job.state == JobState.DONE)


def _questions(
    asks: Asks | None, typed: Mapping[str, str], wrong: Mapping[str, str]
) -> tuple[GroupQuestion, ...]:
    return tuple(
        GroupQuestion(
            each.system_id or "", each.queue_manager, _who(each), each.suggested or "",
            FormField(
                name, f"Group of {_who(each)}", kind="name", value=typed.get(name, _only_group(each)),
                error=wrong.get(name, ""), hint=_where_seen(each),
            ),
            none_name=f"none/{at}",
            is_none=f"none/{at}" in typed,
        )
        for each in (asks.unknown_qsg if asks else ())
        for at in (f"{each.system_id or ''}/{each.queue_manager}",)
        for name in (f"qsg/{at}",)
    )  # fmt: skip


def _only_group(asked: AskedQueueManager) -> str:
    """Return the group to fill in: the one that RMF shows, unless something else speaks for another one."""
    return asked.in_rmf if asked.in_rmf and asked.suggested in (None, "", asked.in_rmf) else ""


def _where_seen(asked: AskedQueueManager) -> str:
    seen = []
    if asked.in_rmf:
        seen.append(
            f"The RMF records of this file show one group, {asked.in_rmf}: check that the queue manager is in it."
        )
    if asked.suggested:
        seen.append(SUGGESTED.format(qsg=asked.suggested))
    return " ".join(seen)


def _who(asked: AskedQueueManager) -> str:
    at = "" if asked.system_id in (None, "", qsg_map.ANY_SYSTEM) else f" on {asked.system_id}"
    return f"{asked.queue_manager}{at}"


def _when(asks: Asks | None, said: Mapping[str, str], wrong: Mapping[str, str]) -> tuple[FormField, ...]:
    if asks is None:
        return ()
    wanted = {"observed_at": asks.observed_at, "zone": asks.zone or asks.observed_at}
    return tuple(box for box in filled(TIMES, said, wrong) if wanted[box.name])


def _groups(pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the answers about groups; an empty field is not an answer.

    Raises:
        FieldsInvalid: A name is invalid, or a queue manager has two answers.
    """
    found: dict[tuple[str, str], str] = {}
    # The names of the fields contain system and queue manager, because a form may ask about any number of them.
    for name, text in pairs:
        kind, _, rest = name.partition("/")
        system_id, _, queue_manager = rest.partition("/")
        if kind == "none" or (kind == "qsg" and text.strip()):
            at = f"qsg/{rest}"
            answer = qsg_map.checked(system_id, queue_manager, "" if kind == "none" else text, at=at)
            before = {(*who, group) for who, group in found.items() if who == answer[:2]}
            found |= qsg_map.gathered([*before, answer], field=at)
    return found


_MAP_FIELDS = (
    FormField(
        "system_id",
        "System",
        "name",
        hint="SMF identifier of the system, as in SID of SMFPRMxx.",
        required=True,
    ),
    FormField("queue_manager", "Queue manager", "name", required=True),
    FormField("qsg", "Queue-sharing group", "name"),
)


def _map(
    request: Request, session: SessionDep, typed: Mapping[str, str], wrong: Mapping[str, str]
) -> Response:
    boxes = filled(_MAP_FIELDS, typed, wrong)
    page = QsgMapPage(
        title="Queue managers and their groups",
        section=SECTION,
        entries=tuple(qsg_map.entries(session)),
        boxes=boxes,
        is_none="none" in typed,
        wrong=_general(wrong, {box.name for box in boxes}),
        said=_said(request),
    )
    return render(request, "uploads/map.html", page, status_code=422 if wrong else 200)


def _progress(job: Job | None) -> JobProgress:
    if job is None:
        return JobProgress(-1, "")
    # An unknown share is shown as stripes, which promise that the share is still growing.
    value, words = -1 if job.is_under_way else 0, STATES[job.state]
    if job.state == JobState.DONE:
        value, words = 1000, "complete"
    elif job.state == JobState.RUNNING and job.total:
        value = 1000 * min(job.done, job.total) // job.total
        of = f"{amount(job.done)} of {amount(job.total)}" if job.total > 1 else ""
        words = ": ".join(filter(None, (stage_title(job) or job.stage, of)))
    return JobProgress(
        value,
        words,
        sentence=WAITS_FOR_ANSWERS if job.state == JobState.ASKS else job.sentence,
        is_under_way=job.is_under_way,
        is_failed=job.state == JobState.FAILED,
        events=f"/api/v1/jobs/{job.id}/events" if job.is_under_way else "",
    )


def _filters(session: SessionDep, batch: str, state: str) -> tuple[StateFilter, ...]:
    counts = service.count_states(session, batch=batch)
    return tuple(
        StateFilter(
            title,
            sum(count for each, count in counts.items() if not states or each in states),
            "/uploads" + (f"?{urlencode(query)}" if (query := _list_query(batch, key)) else ""),
            is_current=key == state,
        )
        for key, (title, states) in FILTERS.items()
    )


def _list_query(batch: str, state: str) -> dict[str, str]:
    return {name: value for name, value in (("batch", batch), ("state", state)) if value}


def _general(wrong: Mapping[str, str], own: set[str]) -> tuple[str, ...]:
    """Return the errors that belong to no field of the form."""
    return tuple(message for name, message in wrong.items() if name not in own)


def _missing() -> str:
    return processes.WHAT_TO_DO if processes.missing_packages() else ""


def _mismatches(request: Request, session: SessionDep) -> int:
    data_dir = request.app.state.settings.data_dir
    if not unregistered.may_differ(session, data_dir=data_dir):
        return 0
    found = unregistered.check_files(session, data_dir=data_dir)
    return found.unregistered_total + found.missing_total


def _said(request: Request) -> str:
    return SAID.get(request.query_params.get("said", ""), "")


def _typed(body: bytes) -> dict[str, str]:
    return dict(read_pairs(body, most=MOST_PARAMETERS))


def _id(upload_id: int) -> int:
    if not 0 < upload_id < LARGEST_KEY:
        message = f"There is no upload {upload_id}."
        raise NotFound(message, problem=UPLOAD_NOT_FOUND)
    return upload_id


def _see(request: Request, path: str) -> Response:
    return RedirectResponse(root_path(request) + path, status_code=303)
