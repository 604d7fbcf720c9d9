"""What-if questions over REST: a plan document in, an answer out; nothing is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, Query
from fastapi.responses import Response

from app.audit.recording import AuditObject
from app.database.session import DatabaseDep
from app.fits.dependencies import CurvesDep
from app.fits.kept import no_curves
from app.plans.release import DOCUMENT, ReleaseDep
from app.sizing.examples import examples
from app.web.body import JSON, DocumentBody
from app.web.openapi import OperationExamples, json_request, problems
from app.web.questions import check_parameters, check_question
from app.web.router import Router
from app.whatif.answers import ask, data_set_job, losses, stored_plans, survive
from app.whatif.survival_usage import measurements_in
from planner_core.document.reading import read_json, read_object
from planner_core.texts.smds_job import SmdsJob, SmdsJobQuestion
from planner_core.whatif import thresholds
from planner_core.whatif.filling_up import FillingUp, Outage, fill_up
from planner_core.whatif.growth import UpgradeAnswer, UpgradeQuestion, upgrades
from planner_core.whatif.loss import LossAnswer, LossQuestion
from planner_core.whatif.recovery import Recovery, RecoveryQuestion, recovery
from planner_core.whatif.survival_answer import Survival, SurvivalQuestion, no_measurements
from planner_core.whatif.thresholds import ThresholdAdvice, ThresholdQuestion
from planner_core.wire import Answer

router = Router(prefix="/api/v1/whatif", tags=["what if"])
PROBLEMS = problems(413, 415, 422)


@router.post(
    "/filling",
    summary="Simulate an outage of one structure",
    response_description="Each event of the outage, the usage of both pools at that time, and how long the structure lasts.",
    dependencies=[Depends(check_question)],
    openapi_extra=json_request("PlanDocument"),
    responses=PROBLEMS,
)
def fill(question: Annotated[Outage, Query()], body: DocumentBody, curves: CurvesDep) -> FillingUp:
    """Take a plan and an outage; return how the structure fills, minute by minute."""
    return ask(fill_up, read_json(body), question, curves)


@router.post(
    "/survival",
    summary="Probability that a structure survives an outage",
    response_description="The probability with its interval, over the length of the outage, with offload and without, and "
    "the figures behind it; null with the reason if there are too few measured days.",
    dependencies=[Depends(check_question)],
    openapi_extra=json_request("PlanDocument"),
    responses=PROBLEMS,
)
def survive_outage(
    question: Annotated[SurvivalQuestion, Query()],
    body: DocumentBody,
    curves: CurvesDep,
    database: DatabaseDep,
) -> Survival:
    """Take a plan and the length of an outage; return the probability that a structure of the plan does not become full.

    Puts, sizes and fill are those measured for the structure of the plan's group, unless the question gives them.
    """
    return survive(read_json(body), question, curves, measurements_in(database))


@router.post(
    "/thresholds",
    summary="Advise on offload thresholds",
    response_description="Three rules with the reason for each, what the structure holds with them, and other settings for comparison.",
    dependencies=[Depends(check_question)],
    openapi_extra=json_request("PlanDocument"),
    responses=PROBLEMS,
)
def advise(
    question: Annotated[ThresholdQuestion, Query()], body: DocumentBody, curves: CurvesDep
) -> ThresholdAdvice:
    """Take a plan, the number of messages to hold and the normal number; return three pairs of OFFLDnTH and OFFLDnSZ."""
    return ask(thresholds.advise, read_json(body), question, curves)


@router.post(
    "/recovery",
    summary="Back up and recover structures",
    response_description="Size of a backup of each structure, the log data between two backups, and the duration of recovery.",
    dependencies=[Depends(check_question)],
    openapi_extra=json_request("PlanDocument"),
    responses=PROBLEMS,
)
def recover(
    question: Annotated[RecoveryQuestion, Query()], body: DocumentBody, curves: CurvesDep
) -> Recovery:
    """Take a plan, a recovery time and your log rate; return backup sizes, recovery times and the longest interval."""
    return ask(recovery, read_json(body), question, curves)


@router.post(
    "/smds-job",
    summary="Create the job for the shared message data sets",
    response_description="IDCAMS and CSQJUFMT for every data set; empty while the plan has errors or lacks values, which "
    "the findings name.",
    dependencies=[Depends(check_question)],
    openapi_extra=json_request("PlanDocument"),
    responses=PROBLEMS,
)
def smds_job(
    question: Annotated[SmdsJobQuestion, Query()], body: DocumentBody, curves: CurvesDep, release: ReleaseDep
) -> SmdsJob:
    """Take a plan; return the job that defines and formats its shared message data sets."""
    document = read_json(body)
    job = data_set_job(document, question, curves)
    if job.text:
        release.record(AuditObject(DOCUMENT, document.qsg), {"SMDS job": job.text})
    return job


@router.post(
    "/cf-loss",
    summary="Simulate the loss of each coupling facility and site",
    response_description="The coupling facilities of each structure, and the effects of each loss.",
    dependencies=[Depends(check_parameters)],
    openapi_extra=json_request("PlanDocument"),
    responses=problems(404, 413, 415, 422),
)
def cf_loss(
    question: Annotated[LossQuestion, Query()], body: DocumentBody, curves: CurvesDep, database: DatabaseDep
) -> LossAnswer:
    """Return where XCF places the structures and by which rule; for each loss, moves, unplaced structures and lost messages.

    The white space is the storage that must be free in the coupling facilities that remain.
    """
    others = stored_plans(database, question.others)
    return losses(read_json(body), others, curves, at=question.at)


@router.post(
    "/upgrade",
    summary="Before and after: CFCC levels, queue managers, growth",
    response_description="The plan before and after each change, with CFRM statements.",
    dependencies=[Depends(check_parameters)],
    openapi_extra=json_request("PlanDocument"),
    responses={200: {"model": UpgradeAnswer}, **problems(404, 413, 415, 422)},
    response_class=Response,
)
def upgrade(question: Annotated[UpgradeQuestion, Query()], body: DocumentBody, curves: CurvesDep) -> Response:
    """Return the plan before and after each change and all of them together: every structure, and its new statements."""
    # Written in this thread: the answer holds the plan after each change, and FastAPI would write it on the event loop.
    return Response(ask(upgrades, read_json(body), question, curves).json_bytes(), media_type=JSON)


def _typical_day() -> SurvivalQuestion:
    """Return a question with the puts of one working day by hour."""
    busy = (*[2_000] * 8, *[40_000] * 10, *[10_000] * 6)
    return SurvivalQuestion.read({"minutes": ["60"], "day": [" ".join(map(str, busy))]})


def described_examples() -> Iterator[OperationExamples]:
    """Yield one example of each question."""
    curves = no_curves
    small, large = (read_object(examples()[name].document) for name in ("smallest", "sq03"))
    shown: dict[str, tuple[str, Answer]] = {
        "filling": ("smallest", ask(fill_up, small, Outage(), curves)),
        "survival": ("smallest", survive(small, _typical_day(), curves, no_measurements)),
        "thresholds": ("smallest", ask(thresholds.advise, small, ThresholdQuestion(), curves)),
        "recovery": ("smallest", ask(recovery, small, RecoveryQuestion(), curves)),
        "smds-job": ("smallest", data_set_job(small, SmdsJobQuestion(), curves)),
        "cf-loss": ("sq03", losses(large, (), curves, at="initsize")),
        "upgrade": ("sq03", ask(upgrades, large, UpgradeQuestion(), curves)),
    }
    for question, (name, answer) in shown.items():
        yield OperationExamples(
            f"{router.prefix}/{question}", {name: examples()[name]}, {name: answer.as_json()}
        )
