"""The style page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import Request
from fastapi.responses import HTMLResponse

from app.sizing.calculator.answer import Figure, OutputTextView
from app.web.forms import FormField
from app.web.rendering import Page, render
from app.web.router import Router
from app.web.style_guide.specimens import figures, specimens
from planner_core.findings import Finding, finding
from planner_core.provenance import Basis, Explanation
from planner_core.sizing.structure_size import explain_size, published_curve
from planner_core.tables import PublishedTable, table

router = Router(include_in_schema=False)

SWATCHES = (
    "paper", "panel", "raised", "line", "line-strong", "ink", "muted-ink", "accent", "accent-wash", "error", "warning",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class StylePage(Page):
    """A specimen of every component."""

    swatches: Annotated[tuple[str, ...], "Names of the colors"]
    fields: Annotated[Mapping[str, FormField], "A field in each state, by name"]
    bases: Annotated[tuple[Basis, ...], "Every basis a number can have"]
    findings: Annotated[tuple[Finding, ...], "A finding of each severity"]
    table: Annotated[PublishedTable, "A table to show"]
    explanation: Annotated[Explanation, "A figure with its explanation"]
    output: Annotated[OutputTextView, "A text to copy or download"]
    numbers: Annotated[tuple[int, ...], "Numbers of several lengths"]
    figures: Annotated[tuple[Figure, ...], "A figure of each kind"]
    of: Annotated[Mapping[str, object], "Sample data for each component of the plan pages"]
    action: Annotated[str, "Address to which forms are sent: this page"]


@router.get("/style", response_class=HTMLResponse)
def style(request: Request) -> HTMLResponse:
    """Show every component in all its states, with invented values."""
    fields = (
        FormField("specimen-plain", "With a unit", value="200000"),
        FormField("specimen-empty", "Empty, with a hint", value=""),
        FormField("specimen-wrong", "Wrong", value="2OO", error="Enter a whole number of at most 24 digits."),
        FormField("specimen-name", "A name", value="SQ03"),
        FormField("specimen-choice", "A choice", value="one"),
    )
    explanation = explain_size(
        "need of a sample",
        entries=200_000,
        elements=1_200_000,
        curve=published_curve(cfcc_level=25).curve,
    )
    page = StylePage(
        title="Style",
        section="",
        swatches=SWATCHES,
        fields={field.name.removeprefix("specimen-"): field for field in fields},
        bases=tuple(Basis),
        findings=(
            finding("PERSISTENT_NEEDS_CFLEVEL_3", "A sample error.", structure="APPLICATION1"),
            finding("INITSIZE_BELOW_NEED", "A sample warning.", structure="APPLICATION1"),
            finding("USAGE_MEASURE_ASSUMED", "A sample note."),
        ),
        table=table("offload_defaults"),
        explanation=explanation,
        output=OutputTextView(
            kind="specimen",
            title="A text",
            about="With a remark on its purpose.",
            text="STRUCTURE NAME(SPECIMEN)\n  SIZE(1024)\n",
            filename="specimen.txt",
            href="#page-content",
        ),
        numbers=(9, 1024, 65_280, 200_000, 4_294_967_296),
        figures=figures(explanation),
        of=specimens(),
        action="/style",
    )
    return render(request, "style/style.html", page)
