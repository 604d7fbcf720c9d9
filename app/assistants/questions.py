"""Arguments of the tools. `LintRequest` of `app.running` is the sixth."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.forecasts.service import LONGEST_QSG, LONGEST_STRUCTURE
from app.running.texts import LARGEST_FILE_BYTES
from planner_core.wire import JsonObject

_MODEL = ConfigDict(extra="forbid", strict=True)
_LONGEST_NAME = 200
MOST_FORECASTS, MOST_PAGES = 50, 20


class PlanArguments(BaseModel):
    """A plan: exactly one of `plan`, `text` and `stored_plan`."""

    model_config = _MODEL
    plan: Annotated[
        JsonObject | None,
        Field(
            description='A plan document as an object, such as {"qsg": "SQ01", "queue_managers": 2, "cfcc_level": 25, '
            '"structures": [{"name": "APP1", "queues": [{"name": "Q1", "message_bytes": 956, "put_rate_per_s": 1.7, '
            '"outage_minutes": 180}]}]}. A queue has either backlog, or put_rate_per_s and outage_minutes.'
        ),
    ] = None
    text: Annotated[
        str | None, Field(max_length=LARGEST_FILE_BYTES, description="A plan document as JSON or YAML.")
    ] = None
    stored_plan: Annotated[
        str | None, Field(max_length=_LONGEST_NAME, description="Name of a plan that the site has stored.")
    ] = None
    structure: Annotated[
        str | None,
        Field(max_length=LONGEST_STRUCTURE, description="Only this structure, by its name in MQ."),
    ] = None


class ExplainArguments(PlanArguments):
    """A plan, and the figures to explain."""

    figure: Annotated[
        str | None,
        Field(
            max_length=_LONGEST_NAME,
            description="JSON pointer of one figure, as in an answer of size_plan, such as /structures/1/initsize_kib.",
        ),
    ] = None


class ForecastArguments(BaseModel):
    """A structure of a group; without both, the most urgent forecasts."""

    model_config = _MODEL
    qsg: Annotated[str | None, Field(max_length=LONGEST_QSG, description="Queue-sharing group.")] = None
    structure: Annotated[
        str | None, Field(max_length=LONGEST_STRUCTURE, description="Structure, by its name in MQ.")
    ] = None
    limit: Annotated[int, Field(ge=1, le=MOST_FORECASTS, description="Number of forecasts in a list.")] = 10


class DocsSearchArguments(BaseModel):
    """A search in the documentation."""

    model_config = _MODEL
    query: Annotated[
        str,
        Field(min_length=1, max_length=_LONGEST_NAME, description="Words; a page has all of them."),
    ]
    limit: Annotated[int, Field(ge=1, le=MOST_PAGES, description="Number of pages.")] = 8


class DocsPageArguments(BaseModel):
    """A page of the documentation."""

    model_config = _MODEL
    page: Annotated[
        str,
        Field(
            min_length=1,
            max_length=_LONGEST_NAME,
            description="Address of a page or section as in an answer of search_docs, such as /docs/how-to/overview.",
        ),
    ]


class TableArguments(BaseModel):
    """A published table; without it, the list of tables."""

    model_config = _MODEL
    table: Annotated[str | None, Field(max_length=80, description="Identifier of the table.")] = None


class FindingArguments(BaseModel):
    """A code of a finding."""

    model_config = _MODEL
    code: Annotated[
        str, Field(min_length=1, max_length=80, description="Code of a finding, such as INITSIZE_BELOW_NEED.")
    ]
