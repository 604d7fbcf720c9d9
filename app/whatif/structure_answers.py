"""The shapes of the answers about one structure, for their description in OpenAPI; tests hold real answers against them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from app.sizing.examples import examples
from app.web.answers import Absent, Answer
from app.web.openapi import model_schemas, put_examples, put_schemas
from planner_core.findings import Finding
from planner_core.provenance import Assumption, Explanation


class StructureRecoveryAnswer(Answer):
    """Backup and recovery of one structure."""

    structure: str
    cfrm_name: str
    is_recoverable: Annotated[bool, Field(description="RECOVER(YES) and CFLEVEL(3) or higher.")]
    not_backed_up: Annotated[
        str | None, Field(description="Why there are no backups, and so no recovery; null where there are.")
    ]
    persistent_messages: int
    backup_bytes: Annotated[int, Field(description="What one BACKUP CFSTRUCT writes to the log.")]
    log_bytes_per_hour: Annotated[int, Field(description="What its persistent messages write to logs.")]
    log_bytes_between: Annotated[int, Field(description="The same between two backups.")]
    recovery_s: Annotated[int | None, Field(description="Null for a structure that is not backed up.")]
    meets: Annotated[
        bool | None,
        Field(
            description="Whether that is within the time allowed; null for a structure that is not backed up, and where the log of queues "
            "without a rate decides."
        ),
    ]
    back_up_every_minutes: Annotated[
        float | None,
        Field(
            description="How often to back it up: every hour, as IBM advises, or more often where the recovery time needs that; null where it "
            "is not backed up, or no interval is short enough."
        ),
    ]
    longest_interval_minutes: Annotated[
        float | None,
        Field(description="How far apart backups may be as computed; null where nothing is logged."),
    ]
    documented_interval_hours: Annotated[
        float | None, Field(description="The same by IBM's formula, which leaves the backup itself out.")
    ]
    assumed: Annotated[
        str | None,
        Field(description="What is assumed of CSQSYSAPPL, whose CFSTRUCT is not in the plan; else null."),
    ]
    explanations: dict[str, Explanation] | Absent = None


class RecoveryTotals(Answer):
    """All structures, one after the other."""

    backup_bytes: int
    log_bytes_per_hour: int
    recovery_s: int


class RecoveryAnswer(Answer):
    """Backup and recovery of a plan's application structures."""

    recovery_minutes: float
    interval_minutes: float
    log_read_mb_per_s: float
    backup_overhead_bytes: int
    fill_percent: float
    structures: list[StructureRecoveryAnswer]
    totals: RecoveryTotals
    assumptions: list[Assumption]
    findings: list[Finding]


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


SHAPES = (RecoveryAnswer, SmdsJobAnswer)
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
