"""The shapes of the answers about one structure, for their description in OpenAPI; tests hold real answers against them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from app.sizing.examples import examples
from app.web.answers import Answer
from app.web.openapi import model_schemas, put_examples, put_schemas
from planner_core.findings import Finding


class SmdsDataSetAnswer(Answer):
    """One shared message data set."""

    structure: str
    queue_manager: str
    name: str
    primary_mib: int
    secondary_mib: int
    when_full_mib: Annotated[
        int,
        Field(
            description="What it needs when the structure is full at SIZE; DSEXPAND(YES) lets it grow there."
        ),
    ]
    extended_addressability: Annotated[
        bool, Field(description="Whether it is over 4 GB, or grows beyond that while its structure fills.")
    ]


class SmdsJobAnswer(Answer):
    """The job of the shared message data sets."""

    job: Annotated[str, Field(description="JCL; empty while the plan has errors or something is missing.")]
    load: Annotated[
        Literal["backlog", "size"],
        Field(
            alias="for",
            description="What each data set is allocated for: the planned backlog, with space for an overload, or a full structure of SIZE.",
        ),
    ]
    data_sets: list[SmdsDataSetAnswer]
    findings: list[Finding]


SHAPES = (SmdsJobAnswer,)
PATHS = tuple(f"/api/v1/whatif/{question}" for question in ("filling", "thresholds", "recovery", "smds-job"))
EXAMPLE = "smallest"


def add(whole: dict[str, Any]) -> None:
    """Put the components and examples into the whole description; it is called when first asked for."""
    from planner_core.document.reading import read_object
    from planner_core.plan.evaluate import evaluate
    from planner_core.texts.smds_job import smds_job
    from planner_core.whatif.filling_up import fill_up
    from planner_core.whatif.recovery import recovery
    from planner_core.whatif.thresholds import advise

    put_schemas(whole, model_schemas(*SHAPES))
    example = examples()[EXAMPLE]
    plan = read_object(example.document)
    name = plan.structures[0].name
    answers = (fill_up(plan, name), advise(plan, name), recovery(plan), smds_job(evaluate(plan)))
    for path, answer in zip(PATHS, (each.as_json() for each in answers), strict=True):
        put_examples(whole["paths"][path]["post"], {EXAMPLE: example}, {EXAMPLE: answer})
