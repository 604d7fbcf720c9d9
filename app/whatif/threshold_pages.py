"""The page of offload thresholds of one structure: a form, three rules with their reasons, and other settings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import Response

from app.database.session import SessionDep
from app.fits.kept import curves_for
from app.plans import service
from app.plans.short_document import without_defaults
from app.plans.stored import StoredVersion
from app.web.charts import Chart
from app.web.forms import to_fix
from app.web.question_forms import QuestionForm, question_fields, read_question
from app.web.rendering import Page, grouped, render
from app.web.router import Router
from app.whatif.answers import ask
from app.whatif.one_structure import path_of, plan_with
from app.whatif.threshold_charts import threshold_chart
from planner_core.errors import InputInvalid, PlanRefused
from planner_core.findings import Finding
from planner_core.names import cfrm_structure_name
from planner_core.whatif.thresholds import SETTING_NAMES, ThresholdAdvice, ThresholdQuestion, advise

router = Router(include_in_schema=False)
FIELDS = question_fields(ThresholdQuestion)


@dataclass(frozen=True, kw_only=True)
class ThresholdsPage(Page):
    """The advised rules for one structure."""

    version: Annotated[StoredVersion, "The version as stored"]
    structure_at: Annotated[str, "Path of the page of the structure"]
    cfrm_name: Annotated[str, "Name of the structure in the CFRM policy"]
    form: Annotated[QuestionForm[ThresholdQuestion], "The fields as typed"]
    advice: Annotated[ThresholdAdvice | None, "The answer; None if a field has an error"]
    chart: Annotated[Chart | None, "The chart; None if there is nothing to draw"]
    names: Annotated[dict[str, str], "Names of the compared settings"]
    filling: Annotated[str, "Address of the page that shows how the structure fills with these rules"]
    document: Annotated[str, "The plan with these rules, to be saved; empty if the plan already has them"]
    refused: Annotated[
        tuple[Finding, ...], "Reason why the plan is impossible; empty unless the core refused it"
    ]
    summary: Annotated[str, "Summary of the answer, read out when it changes"]


@router.get("/plans/{name}/versions/{number}/structures/{structure}/thresholds")
def thresholds(request: Request, session: SessionDep, name: str, number: str, structure: str) -> Response:
    """Show the form and its answer; the fields are the parameters of the address."""
    stored = service.get_version_at(session, name, number)
    plan = plan_with(stored, structure)
    at = path_of(stored, structure)
    form = read_question(ThresholdQuestion, request.query_params, FIELDS, structure=structure)
    advice, summary, refused = None, "", tuple[Finding, ...]()
    if form.question is not None:
        try:
            question = form.question.model_copy(update={"explain": True})
            advice = ask(advise, plan, question, curves_for(session))
            summary = threshold_summary(advice)
        except PlanRefused as error:
            refused = error.findings
        except InputInvalid as error:
            summary = "; ".join(
                f"{problem.message[:1].upper()}{problem.message[1:]}." for problem in error.problems
            )
    cfrm_name = cfrm_structure_name(qsg_name=plan.qsg, cfstruct_name=structure)
    page = ThresholdsPage(
        title=f"Thresholds of {cfrm_name}",
        section="plans",
        version=stored,
        structure_at=at,
        cfrm_name=cfrm_name,
        form=form,
        advice=advice,
        chart=threshold_chart(
            advice,
            next((each.full_threshold for each in plan.structures if each.name == structure), None),
        )
        if advice
        else None,
        names={name: words[:1].upper() + words[1:] for name, words in SETTING_NAMES.items()},
        filling=f"{at}/filling?{_rules_query(advice)}" if advice else "",
        document=_proposed(stored, structure, advice) if advice else "",
        refused=refused,
        summary=summary or to_fix(len(form.wrong)),
    )
    return render(request, "whatif/thresholds.html", page, status_code=200 if advice else 422)


def threshold_summary(advice: ThresholdAdvice) -> str:
    """Return the answer to the question in two sentences."""
    rules = ", ".join(f"{rule.threshold} % {rule.size_over}" for rule in advice.rules if rule.is_on)
    words = f"{rules}: {advice.cfrm_name} holds {grouped(advice.capacity)} messages"
    if advice.holds:
        return f"{words}, {grouped(advice.hold)} must be held."
    return f"{words} of the {grouped(advice.hold)} that must be held, whatever the thresholds."


def _rules_query(advice: ThresholdAdvice) -> str:
    return urlencode(
        {
            "at": advice.at,
            **{
                f"rule-{number}": f"{rule.threshold}:{rule.size_over}"
                for number, rule in enumerate(advice.rules, start=1)
            },
        }
    )


def _proposed(stored: StoredVersion, structure: str, advice: ThresholdAdvice) -> str:
    """Return the whole plan with these rules, or an empty text if it already has them."""
    rules = [{"usage_over": rule.usage_over, "size_over": rule.size_over} for rule in advice.rules]
    document = without_defaults(stored)
    place = next(each for each in document["structures"] if each["name"] == structure)
    # If the plan already has these rules, the page must not offer a change without effect.
    if advice.compared[1].rules == advice.compared[0].rules:
        return ""
    place["offload"] = {**place.get("offload", {}), "rules": rules}
    return str(json.dumps(document))
