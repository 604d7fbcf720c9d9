"""The check of a connection to a data server: the shape of its current CFACT report; nothing is stored."""

from __future__ import annotations

from app.connections.checks import ProbeStep, compared_step, failed_step
from app.connections.client import Client
from app.connections.declared import AnyConnection
from app.connections.errors import ConnectionFailed
from app.dds.report import AnswerUnusable, answer_of, read_report
from planner_core.contracts.cfact import DDS_PARAMETERS, DDS_PATH

CURRENT = f"GET {DDS_PATH}?report=CFACT"
DOCUMENTED = (
    "report[].columnHeaders.col[].type",
    "report[].columnHeaders.col[].value",
    "report[].metric.id",
    "report[].resource.reslabel",
    "report[].row[].col[]",
    "report[].row[].refno",
    "report[].timeData.gathererInterval.value",
    "report[].timeData.localStart",
    "report[].timeData.utcEnd",
    "report[].timeData.utcStart",
)


def probe(client: Client, connection: AnyConnection) -> tuple[ProbeStep, ...]:
    """Ask for the current report."""
    del connection
    try:
        reply = client.get(DDS_PATH, params=DDS_PARAMETERS)
        answer = answer_of(reply)
    except ConnectionFailed as error:
        return (failed_step(CURRENT, error),)
    except AnswerUnusable as error:
        return (ProbeStep(CURRENT, reply.status, (), (), (), f"{error}."),)
    step = compared_step(CURRENT, reply.status, answer, DOCUMENTED)
    try:
        report = read_report(answer)
    except AnswerUnusable as error:
        return (ProbeStep(step.asked, step.status, step.found, step.missing, step.additional, f"{error}."),)
    lacks = () if report is None else tuple(f"column {each}" for each in report.unknown)
    return (ProbeStep(step.asked, step.status, step.found, (*step.missing, *lacks), step.additional),)
