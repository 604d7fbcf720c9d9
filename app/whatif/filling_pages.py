"""The page of an outage of one structure: a form, a chart and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated

from fastapi import Request
from fastapi.responses import Response

from app.database.session import SessionDep
from app.fits.kept import curves_for
from app.fits.resolve import curve_of
from app.plans import service
from app.plans.stored import StoredVersion
from app.web.charts import Chart
from app.web.forms import FormField, to_fix
from app.web.question_forms import QuestionForm, question_fields, read_question
from app.web.rendering import Page, render
from app.web.router import Router
from app.whatif.filling_charts import Happening, filling_chart, filling_summary, happenings
from app.whatif.one_structure import path_of, plan_with
from planner_core.document.model import PlanDocument
from planner_core.errors import InputInvalid, PlanRefused
from planner_core.findings import Finding
from planner_core.sizing.structure_result import StructureResult
from planner_core.typed_numbers import unambiguous
from planner_core.whatif.filling_up import (
    FillingQueue,
    FillingUp,
    Outage,
    Point,
    fill_structure,
    planned_outage,
    shown_minutes,
    structure_of,
)

router = Router(include_in_schema=False)
MOST_QUEUES = 20
MOST_HAPPENINGS = 12
MOST_FIGURES = 40
LONGEST_SLIDER = 480


@dataclass(frozen=True, kw_only=True)
class FillingPage(Page):
    """One outage of one structure."""

    version: Annotated[StoredVersion, "The version as stored"]
    structure_at: Annotated[str, "Path of the page of the structure"]
    cfrm_name: Annotated[str, "Name of the structure in the CFRM policy"]
    form: Annotated[QuestionForm[Outage], "The fields as typed"]
    found: Annotated[FillingUp | None, "The answer; None if a field has an error"]
    chart: Annotated[Chart | None, "The chart; None if there is nothing to draw"]
    rows: Annotated[tuple[Happening, ...], "The events, as table rows"]
    rows_omitted: Annotated[int, "Number of events of queues that are not shown"]
    figures: Annotated[tuple[Point, ...], "Points of the chart, limited to a readable number"]
    queues: Annotated[tuple[FillingQueue, ...], "The queues with the most messages"]
    refused: Annotated[
        tuple[Finding, ...], "Reason why the plan is impossible; empty unless the core refused it"
    ]
    summary: Annotated[str, "Summary of the answer, read out when it changes"]


@router.get("/plans/{name}/versions/{number}/structures/{structure}/filling")
def filling(request: Request, session: SessionDep, name: str, number: str, structure: str) -> Response:
    """Show the form and its answer; the fields are the parameters of the address."""
    stored = service.get_version_at(session, name, number)
    document = plan_with(stored, structure)
    cfrm_name, at = structure, path_of(stored, structure)
    # Read without fields first: their planned values and sliders come from the sized structure, which may be refused.
    form = read_question(Outage, request.query_params, {}, structure=structure)
    found, summary, refused = None, "", tuple[Finding, ...]()
    try:
        worked_out, said_of_curve = structure_of(
            document, structure, curve=curve_of(document, curves_for(session))
        )
        cfrm_name = worked_out.cfrm_name
        form = read_question(Outage, request.query_params, _fields(document, worked_out), structure=structure)
        if form.question is not None:
            found = fill_structure(document, worked_out, form.question, said=said_of_curve)
            summary = filling_summary(found)
    except PlanRefused as error:
        refused = error.findings
    except InputInvalid as error:
        summary = str(error)
    rows, rows_omitted = happenings(found, most_of_queues=MOST_HAPPENINGS) if found else ((), 0)
    page = FillingPage(
        title=f"How {cfrm_name} fills",
        section="plans",
        version=stored,
        structure_at=at,
        cfrm_name=cfrm_name,
        form=form,
        found=found,
        chart=filling_chart(found) if found else None,
        rows=rows,
        rows_omitted=rows_omitted,
        figures=_picked(found.points) if found else (),
        queues=tuple(sorted(found.queues, key=lambda queue: -queue.depth_at_end)[:MOST_QUEUES])
        if found
        else (),
        refused=refused,
        summary=summary or to_fix(len(form.wrong)),
    )
    return render(request, "whatif/filling.html", page, status_code=200 if found else 422)


def _picked(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Return the first, the last, and some of the points between them."""
    # Rounded up, so that the table stays within its limit.
    step = -(-len(points) // MOST_FIGURES)
    return tuple(point for index, point in enumerate(points) if index % step == 0 or point is points[-1])


def _fields(document: PlanDocument, structure: StructureResult) -> Mapping[str, FormField]:
    """Return the fields with the planned values."""
    definition, planned = document.structures[0], planned_outage(document, structure)
    longest, same, mix = shown_minutes(planned.minutes), planned.is_common, planned.mix
    declared = question_fields(Outage)
    made = [
        replace(
            declared["outage_minutes"],
            value=unambiguous(Decimal(str(longest)).normalize()) if same else "",
            hint="As planned." if same else f"If empty, each queue's own outage, up to {longest:g} minutes.",
            # Three times the planned value, so that it is not at the end of the slider, nor too close to its start.
            slider=("0", str(max(10, min(LONGEST_SLIDER, round(longest * 3)))), "1", f"{longest:g}"),
        ),
        replace(declared["rate_percent"], slider=("0", "400", "5", "100")),
    ]
    if mix.can_change:
        share = round(float(mix.planned_percent), 1)
        made.append(
            replace(
                declared["larger_percent"],
                hint=f"From queues whose messages are larger than {float(mix.larger_than_bytes):.0f} bytes, the mean. "
                f"If empty, as planned: {share:g} %.",
                slider=("0", "100", "1", f"{share:g}"),
            )
        )
    made.append(declared["at"])
    texts = [f"{rule.usage_over}:{rule.size_over // 1024}K" for rule in definition.offload.rules]
    made += [
        FormField(f"rule-{number}", f"OFFLD{number}TH : OFFLD{number}SZ", value=text)
        # MQ has three offload rules, so there are always three fields.
        for number, text in enumerate((*texts, "", "", "")[:3], start=1)
    ]
    if structure.smds is not None:
        made.append(declared["data_set_size"])
    return {field.name: field for field in made}
