"""Specimens of the pages that answer questions: clusters, event messages, queue depths, one structure, what runs."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import QueryParams

from app.clusters import explaining
from app.clusters.decide_pages import decision_view
from app.clusters.explain_view import explanation_view
from app.clusters.load_view import clusters_shown
from app.clusters.service import EXAMPLES as DECISIONS
from app.clusters.service import decide_text, load_answer
from app.events.read_pages import answer_of as reading_answer
from app.events.reading import EXAMPLE_DISPLAY, EXAMPLE_MEMBERS, EXAMPLE_NAME, known_from_texts
from app.events.reading import example_text as event_messages
from app.fits.kept import no_curves
from app.plans.depth_pages import advised, depths_of
from app.plans.stored import StoredVersion
from app.running.form import ChosenPlan
from app.scenarios.view import compared, reported
from app.texts.documents import CLUSTERED, example_text, read_text
from app.web.forms import FormField
from app.web.question_forms import read_question
from app.whatif.answers import ask, survive
from app.whatif.filling_charts import filling_chart
from app.whatif.survival_charts import survival_chart
from app.whatif.threshold_charts import threshold_chart
from planner_core.clusters.explain import WaitingExplanation, WaitingQuestion
from planner_core.depth_events.reading import EventReading, read_all
from planner_core.document.model import PlanDocument
from planner_core.plan.evaluate import evaluate
from planner_core.running.line_findings import finding_at
from planner_core.whatif.changes import read_changes
from planner_core.whatif.filling_up import Outage, fill_structure
from planner_core.whatif.scenario import scenario
from planner_core.whatif.scenario_report import SavedScenario, report, side_by_side
from planner_core.whatif.survival_answer import Survival, SurvivalQuestion, no_measurements
from planner_core.whatif.thresholds import ThresholdQuestion, advise

STRUCTURE = "MYDATA"
TYPICAL_DAY = (*[2_000] * 8, *[20_000] * 10, *[6_000] * 6)
"""Puts of each hour, a tenth of those of the quietest day."""
FIELDS = {
    field.name: field
    for field in (
        FormField("rate_percent", "Rate", value="-1", unit="% of planned", slider=("0", "400", "5", "100")),
        FormField("data_set_size", "Space of each SMDS", value="4G", hint="As planned."),
        FormField("at", "Storage", value="initsize"),
    )
}


def questions(version: StoredVersion, document: PlanDocument) -> Mapping[str, object]:
    """Return the answered examples of those pages, and a form with an invalid field."""
    result = evaluate(document)
    structure = next(each for each in result.structures if each.name == STRUCTURE)
    filled = fill_structure(document, structure, Outage())
    advice = ask(advise, document, ThresholdQuestion(structure=STRUCTURE), no_curves)
    changes = read_changes({"queue_managers": 6, "growth": {"percent_per_year": 10, "years": 2}})
    kept = SavedScenario("more-trade", 2, "", scenario(document, changes).as_json())
    depths = (depths_of(advised(version, item, no_curves)) for item in version.result["structures"])
    return {
        "version": version,
        "decision": decision_view(decide_text(DECISIONS[0].text.encode())),
        "load": clusters_shown(load_answer(read_text(example_text(CLUSTERED).encode()), no_curves)),
        "explanation": explanation_view(_explanation()),
        "reading": reading_answer(_reading()),
        "depths": tuple(each for each in depths if each),
        "form": read_question(Outage, QueryParams(), FIELDS, structure=STRUCTURE),
        "filling": filled,
        "filling_chart": filling_chart(filled),
        "survival_chart": survival_chart(_survival(document)),
        "threshold_chart": threshold_chart(advice),
        "plan": ChosenPlan(("one", "another"), "another", ""),
        "document": FormField(
            "specimen-document",
            "Plan document",
            value="qsg: SQ03",
            error="Line 1: no structures.",
            kind="text",
        ),
        "line_findings": (
            finding_at("POLICY_LOWER_CASE", "About a line.", line=3),
            finding_at("NOTHING_TO_CHECK", "About the whole text.", line=None),
        ),
        "compared": compared(side_by_side([kept]), shows_all=False),
        "reported": report(kept),
        "report_view": reported(report(kept)),
        "fields": (
            FormField(
                "specimen-growth",
                "Growth",
                value="x",
                current="none",
                unit="% a year",
                error="Must be a number.",
            ),
            FormField("specimen-lost", "Lost", value="CF01", current="none", options=(("CF01", "CF01"),)),
        ),
    }


def _survival(document: PlanDocument) -> Survival:
    """Return the answer for typical days of a week, which also has an interval."""
    days = [" ".join(str(puts * (10 + day)) for puts in TYPICAL_DAY) for day in range(7)]
    asked = SurvivalQuestion.read({"structure": [STRUCTURE], "minutes": ["120"], "day": days})
    return survive(document, asked, no_curves, no_measurements)


def _explanation() -> WaitingExplanation:
    example = explaining.EXAMPLES[0]
    return explaining.answer(
        WaitingQuestion(), displays=[("displays", example.displays)], messages=example.messages
    )


def _reading() -> EventReading:
    known = known_from_texts(members=EXAMPLE_MEMBERS, displays=[EXAMPLE_DISPLAY])
    return read_all([(EXAMPLE_NAME, event_messages().encode())], known)
