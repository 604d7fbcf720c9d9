"""Documents and calls for tests of stored plans."""

from __future__ import annotations

import copy
from typing import Any

from fastapi import FastAPI
from sqlalchemy import URL

from app.main import create_app
from app.settings import Settings
from app.sizing.examples import examples
from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object

SQ03 = examples()["sq03"].document


def changed(**members: object) -> dict[str, Any]:
    """Return the example with other members at the top."""
    return {**copy.deepcopy(SQ03), **members}


def above_figures(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with coupling facilities at a level that no chart covers, which gives a warning."""
    facilities = [{**each, "cfcc_level": 26} for each in document["coupling_facilities"]]
    return {**document, "cfcc_level": 26, "coupling_facilities": facilities}


def plan(**members: object) -> PlanDocument:
    """Return the validated example with other members at the top."""
    return read_object(changed(**members))


def largest() -> dict[str, Any]:
    """Return the largest possible group: 63 application structures with 512 queues each, 32 256 queues."""
    structures = [
        {
            "name": f"APPL{number:02}",
            "offload": {"to": "SMDS", "dsgroup": f"MQ.SMDS.*.APPL{number:02}"},
            "queues": [
                {"name": f"APPL{number:02}.QUEUE.{at:04}", "message_bytes": 1000 + at, "backlog": 100 + at}
                for at in range(512)
            ],
        }
        for number in range(63)
    ]
    facilities = [{"name": f"CF{at:02}", "size": "512G"} for at in (1, 2)]
    return {
        "qsg": "BIG1", "queue_managers": 32, "system": {"include": False}, "coupling_facilities": facilities,
        "structures": structures,
    }  # fmt: skip


def app_on(url: URL, **settings: Any) -> FastAPI:  # noqa: ANN401 - any setting
    """Return the application with this database."""
    return create_app(Settings(database_url=url.render_as_string(hide_password=False), **settings))
