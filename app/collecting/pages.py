"""The page of the collection kit: missing data, the names of the site, and the texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import Response

from app.collecting import service
from app.collecting.answers import MissingData
from app.collecting.api import ARCHIVE_NAME, archive_response
from app.database.session import SessionDep
from app.web.question_forms import QuestionForm, question_fields, read_question
from app.web.rendering import Page, render
from app.web.router import Router
from planner_core.texts.collection_kit import (
    CollectionKit,
    CollectionKitQuestion,
    KitText,
    collection_kit,
)

router = Router(include_in_schema=False)

ALL = "all"
LONGEST_LIST = 400
"""Maximum length of a field: 32 names need less."""
FIELDS = question_fields(CollectionKitQuestion)


@dataclass(frozen=True, slots=True)
class KitOutput:
    """A text of the kit, to copy or download."""

    kind: str
    title: str
    about: str
    text: str
    filename: str
    href: str


@dataclass(frozen=True, kw_only=True)
class CollectionKitPage(Page):
    """The collection kit."""

    missing: Annotated[MissingData, "The figures that the usage history lacks"]
    form: Annotated[
        QuestionForm[CollectionKitQuestion], "The names of the site, as typed or as known from uploads"
    ]
    kit: Annotated[CollectionKit | None, "The kit; None while a field has an error"]
    outputs: Annotated[tuple[KitOutput, ...], "The texts of the kit"]
    archive: Annotated[str, "Address of the archive"]
    archive_name: Annotated[str, "Name of the archive"]


@router.get("/collection-kit")
def show(request: Request, session: SessionDep) -> Response:
    """Show the kit for the names in the address, or for those known from uploads. With `as`, return one text or all."""
    query = dict(request.query_params)
    systems, managers = service.known_names(session)
    fields = FIELDS | {
        "systems": replace(FIELDS["systems"], value=" ".join(systems)),
        "queue_managers": replace(FIELDS["queue_managers"], value=" ".join(managers)),
    }
    form = read_question(CollectionKitQuestion, query, fields, most_kept=LONGEST_LIST)
    kit = collection_kit(form.question) if form.question is not None else None
    if kit is not None and (wanted := query.get("as", "")):
        if wanted == ALL:
            return archive_response(kit)
        text = next((each for each in kit.texts if each.name == wanted), None)
        if text is not None:
            headers = {"Content-Disposition": f'attachment; filename="{_plain(text.name)}"'}
            return Response(text.text, media_type="text/plain", headers=headers)
    page = CollectionKitPage(
        title="Collection kit",
        section="uploads",
        missing=service.missing_data(session),
        form=form,
        kit=kit,
        outputs=tuple(_output(each, number, kit) for number, each in enumerate(kit.texts)) if kit else (),
        archive=_href(kit, ALL) if kit else "",
        archive_name=ARCHIVE_NAME,
    )
    return render(request, "collecting/kit.html", page, status_code=422 if form.wrong else 200)


def _output(each: KitText, number: int, kit: CollectionKit) -> KitOutput:
    recalled = {line.statement for line in kit.statements if line.file == each.name and line.source is None}
    about = f"{len(recalled)} statement{'' if len(recalled) == 1 else 's'} to verify." if recalled else ""
    return KitOutput(
        f"kit-{number}",
        each.title.removesuffix("."),
        about,
        each.text,
        _plain(each.name),
        _href(kit, each.name),
    )


def _href(kit: CollectionKit, wanted: str) -> str:
    named = {
        "systems": " ".join(kit.systems),
        "queue_managers": " ".join(kit.queue_managers),
        "interval": str(kit.interval_minutes),
        "as": wanted,
    }
    return f"/collection-kit?{urlencode(named)}"


def _plain(name: str) -> str:
    """Return a file name without the national characters $, # and @, which are not safe in every file system."""
    return name.translate(str.maketrans("$#@", "___"))
