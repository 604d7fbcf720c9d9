"""The page that explains why messages on a cluster transmission queue were not re-allocated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import HTTPException, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from app.clusters.explain_view import ExplanationView, explanation_view
from app.clusters.explaining import EXAMPLES, ExplanationExample, answer, text_of
from app.web.field_values import Kind
from app.web.forms import FormField, read_posted
from app.web.rendering import Page, render
from app.web.router import Router
from planner_core.clusters.explain import WaitingQuestion
from planner_core.clusters.model import MODES
from planner_core.errors import InputInvalid

router = Router(include_in_schema=False)

PATH = "/cluster/explain"
LARGEST_TEXT_BYTES: Final = 8 * 2**20
"""Maximum size of the text in a field; a file may be as large as the whole request."""
SHOWN_TEXT: Final = 200_000
"""Maximum length of a text that is shown in its field again; a longer one would delay the page by seconds."""
_MOST_FILES = 50


@dataclass(frozen=True, kw_only=True)
class ExplainPage(Page):
    """The form, and the explanation of the messages."""

    action: Annotated[str, "Address of the form"]
    displays: Annotated[FormField, "The field for displays"]
    messages: Annotated[FormField, "The field for the browse"]
    boxes: Annotated[tuple[FormField, ...], "Queue, times, order of eliminations"]
    is_unfolded: Annotated[bool, "Whether one of these fields has a value or an error"]
    files: Annotated[tuple[str, ...], "Names of the uploaded files; a browser cannot fill them in again"]
    examples: Annotated[tuple[ExplanationExample, ...], "The examples"]
    example: Annotated[ExplanationExample | None, "The example of the page, if it shows one"]
    shown: Annotated[ExplanationView | None, "The answer; None for an empty form or one with errors"]
    wrong: Annotated[tuple[str, ...], "Errors in the form"]


@router.get(PATH)
def form(request: Request) -> Response:
    """Show the form, empty or with an example and its answer."""
    name = request.query_params.get("example")
    if name is None:
        return render(request, "clusters/explain.html", _page({}))
    example = next((each for each in EXAMPLES if each.name == name), None)
    if example is None:
        raise HTTPException(status_code=404, detail="There is no such example.")
    typed = {"displays": example.displays, "messages": example.messages}
    return _answered(request, typed, {}, example=example)


@router.post(PATH)
async def ask(request: Request) -> Response:
    """Explain the messages in the posted fields and files."""
    form = await read_posted(
        request, largest_bytes=LARGEST_TEXT_BYTES, most_files=_MOST_FILES, most_fields=_MOST_FILES
    )
    files = {
        field: [(each.name[:200], text_of(each.data)) for each in form.files if each.field == field]
        for field in ("displays_files", "messages_file")
    }
    # Texts of many megabytes take seconds to explain, which would stop all other requests.
    return await run_in_threadpool(_answered, request, form.last, files)


def _answered(
    request: Request,
    typed: Mapping[str, str],
    files: Mapping[str, list[tuple[str, str]]],
    *,
    example: ExplanationExample | None = None,
) -> Response:
    displays = [("displays", typed.get("displays", "")), *files.get("displays_files", [])]
    browses = files.get("messages_file", [])
    # A chosen file comes before the field, which may still contain an earlier text or an example.
    name, text = browses[0] if browses else ("messages", typed.get("messages", ""))
    question = WaitingQuestion(
        mode="ibm" if typed.get("mode") == "ibm" else "seed",
        queue=typed.get("queue", "")[:48],
        failed_at=typed.get("failed_at", "")[:40],
        browsed_at=typed.get("browsed_at", "")[:40],
    )
    names = tuple(name for sent in files.values() for name, _ in sent)
    try:
        found = answer(
            question,
            displays=[each for each in displays if each[1].strip()],
            messages=text,
            messages_name=name,
        )
    except InputInvalid as error:
        # The core names members of the REST request; the fields of the form have the same names.
        wrong = {each.field.lstrip("/"): each.message for each in error.problems}
        page = _page(typed, wrong=wrong, files=names)
        return render(request, "clusters/explain.html", page, status_code=422)
    return render(
        request,
        "clusters/explain.html",
        _page(typed, files=names, example=example, answer=explanation_view(found)),
    )


def _page(
    typed: Mapping[str, str],
    *,
    wrong: Mapping[str, str] | None = None,
    files: tuple[str, ...] = (),
    example: ExplanationExample | None = None,
    answer: ExplanationView | None = None,
) -> ExplainPage:
    faults = {name: f"{message[:1].upper()}{message[1:]}." for name, message in (wrong or {}).items()}

    def box(name: str, label: str, kind: Kind, hint: str) -> FormField:
        value = typed.get(name, "")
        return FormField(
            name,
            label,
            kind=kind,
            value=value if len(value) <= SHOWN_TEXT else "",
            error=faults.get(name, ""),
            hint=hint,
        )

    boxes = (
        box(
            "queue",
            "Queue of messages without a queue name",
            "name",
            "For browses without the transmission queue header.",
        ),
        box(
            "failed_at",
            "First failure of the channels",
            "text",
            "For example 2026-11-21T12:00:00Z. If no time zone is given, UTC is assumed.",
        ),
        box(
            "browsed_at",
            "Time of browse and displays",
            "text",
            "Use the same format as for the first failure.",
        ),
        FormField(
            "mode",
            "Order of eliminations",
            kind="choice",
            value=typed.get("mode", "seed") or "seed",
            options=tuple(MODES.items()),
        ),
    )
    labels = {"displays": "Displays", "messages": "Browse", **{each.name: each.label for each in boxes}}
    return ExplainPage(
        title="Why was my message not re-allocated?",
        section="cluster",
        action=PATH,
        displays=box(
            "displays",
            "Displays of the sending queue manager",
            "text",
            "DISPLAY CLUSQMGR(*) ALL, QCLUSTER(*) ALL, CHSTATUS(*) ALL and QMGR, from runmqsc, the console or CSQUTIL.",
        ),
        messages=box(
            "messages",
            "Browse of its cluster transmission queue",
            "text",
            "Output of amqsbcg, CSV with a header row, or JSON.",
        ),
        boxes=boxes,
        is_unfolded=any(each.error or (each.value and each.name != "mode") for each in boxes)
        or typed.get("mode", "seed") not in ("", "seed"),
        files=files,
        examples=EXAMPLES,
        example=example,
        shown=answer,
        wrong=tuple(f"{labels.get(name, name)}: {message}" for name, message in faults.items()),
    )
