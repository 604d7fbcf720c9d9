"""REST interface of the collection kit and of missing data."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query
from fastapi.responses import Response

from app.collecting import service
from app.collecting.answers import MissingData
from app.database.session import SessionDep
from app.web.openapi import problems
from app.web.questions import check_question
from app.web.router import Router
from planner_core.texts.collection_kit import CollectionKit, CollectionKitQuestion, collection_kit

ARCHIVE_NAME = "collection-kit.zip"
ZIP = "application/zip"

router = Router(prefix="/api/v1", tags=["uploads"])


@router.get(
    "/collection-kit",
    summary="Write a collection kit",
    response_description="The texts of the kit, with the source of each statement.",
    dependencies=[Depends(check_question)],
    responses=problems(422),
)
def write_kit(question: Annotated[CollectionKitQuestion, Query()], session: SessionDep) -> CollectionKit:
    """Return the settings, jobs and commands that collect the records cfplan reads.

    If no systems or queue managers are named, those known from uploads are used.
    """
    return collection_kit(service.with_known_names(session, question))


@router.get(
    "/collection-kit/archive",
    summary="Download a collection kit",
    response_class=Response,
    dependencies=[Depends(check_question)],
    responses={200: {"content": {ZIP: {"schema": {"type": "string", "format": "binary"}}}}, **problems(422)},
)
def download_kit(question: Annotated[CollectionKitQuestion, Query()], session: SessionDep) -> Response:
    """Return the texts of the same kit in a zip archive."""
    return archive_response(collection_kit(service.with_known_names(session, question)))


@router.get("/missing-data", summary="List missing data", responses=problems())
def list_missing_data(session: SessionDep) -> MissingData:
    """Return the figures that the usage history lacks, and which forecasts, fits or plans need."""
    return service.missing_data(session)


def archive_response(kit: CollectionKit) -> Response:
    """Return the archive of a kit as a file."""
    headers = {"Content-Disposition": f'attachment; filename="{ARCHIVE_NAME}"'}
    return Response(kit.archive(), media_type=ZIP, headers=headers)
