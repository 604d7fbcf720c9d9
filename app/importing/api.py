"""Routes about tables."""

from __future__ import annotations

from app.importing import service
from app.importing.requests import QueuesRequest, StructuresRequest
from app.running.requests import read_request
from app.web.body import DocumentBody
from app.web.openapi import json_request, problems
from app.web.router import Router
from planner_core.texts.queue_inventory import QueueInventory
from planner_core.texts.structure_batch import StructureBatch

router = Router(prefix="/api/v1", tags=["plans"])


@router.post(
    "/import/structures",
    summary="Size a table of structures",
    response_description="The sizes of each row, and a plan document for each group if requested.",
    openapi_extra=json_request("StructuresRequest"),
    responses=problems(413, 415, 422),
)
def structures(body: DocumentBody) -> StructureBatch:
    """Size thousands of structures, entered as in CFSizer, at once. A table with an error gives no sizes, only its errors."""
    return service.structures(read_request(StructuresRequest, body))


@router.post(
    "/import/queues",
    summary="Create a plan from a table of queues",
    response_description="The plan document, and lines that were left out.",
    openapi_extra=json_request("QueuesRequest"),
    responses=problems(413, 415, 422),
)
def queues(body: DocumentBody) -> QueueInventory:
    """Create a plan document from an inventory of queues. A table with an error gives no plan, only its errors."""
    return service.queues(read_request(QueuesRequest, body))
