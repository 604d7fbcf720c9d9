"""How the what-if questions are described in OpenAPI: what the handlers read and write themselves."""

from __future__ import annotations

from typing import Any

from app.fits.kept import NoCurves
from app.sizing.examples import examples
from app.web.openapi import model_schemas, put_examples, put_schemas
from app.whatif.growing import upgrade_answer
from app.whatif.losing import loss_answer
from app.whatif.placement_answers import UpgradeAnswerShape
from planner_core.document.reading import read_object
from planner_core.whatif.growth import UpgradeQuestion

SHAPES = (UpgradeAnswerShape,)
CF_LOSS, UPGRADE = "/api/v1/whatif/cf-loss", "/api/v1/whatif/upgrade"
EXAMPLE = "sq03"


def add(whole: dict[str, Any]) -> None:
    """Put the components and examples into the whole description; it is called when first asked for."""
    put_schemas(whole, model_schemas(*SHAPES))
    example = examples()[EXAMPLE]
    plan = read_object(example.document)
    answers = {
        CF_LOSS: loss_answer(plan, (), NoCurves(), at="initsize").as_json(),
        UPGRADE: upgrade_answer(plan, UpgradeQuestion(), NoCurves()).as_json(),
    }
    for path, answer in answers.items():
        put_examples(whole["paths"][path]["post"], {EXAMPLE: example}, {EXAMPLE: answer})
