"""The quick calculator and its downloads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from fastapi import HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from app.sizing.calculator.answer import (
    DOCUMENT_OUTPUT,
    EXPLANATIONS,
    SHOWN_OUTPUTS,
    VIEW,
    CalculatorResult,
    ResultFigures,
    answer_of,
    document_text,
    explained_figures,
)
from app.sizing.calculator.form import DEFAULTS, QuickForm, read_form
from app.web.forms import to_fix
from app.web.rendering import Page, render, root_path
from app.web.router import Router
from planner_core.errors import FieldProblem, PlanRefused
from planner_core.findings import Finding
from planner_core.plan.evaluate import evaluate
from planner_core.texts.outputs import render_output

router = Router(include_in_schema=False)


@dataclass(frozen=True, kw_only=True)
class QuickPage(Page):
    """The form, and its answer if it has no errors."""

    form: Annotated[QuickForm, "The fields as typed"]
    answer: Annotated[CalculatorResult | None, "The answer; None if there are errors to fix first"]
    refused: Annotated[
        tuple[Finding, ...], "Reason why the plan is impossible; empty unless the core refused it"
    ]
    summary: Annotated[str, "Summary of the answer or of the missing input, read out when it changes"]
    is_first_visit: Annotated[bool, "Whether to show the introduction, because nothing is stored yet"] = False


@dataclass(frozen=True, kw_only=True)
class ExplanationsPage(Page):
    """The explanations of all figures of an answer; the page of the calculator loads them from here."""

    name: Annotated[str, "Name of the application structure"]
    figures: Annotated[ResultFigures, "All figures with their explanations"]
    calculator: Annotated[str, "Address of the calculator with these fields"]


@router.get("/calculator", response_class=HTMLResponse)
def calculator(request: Request) -> HTMLResponse:
    """Show the calculator; its fields are parameters of the address, so that an answer can be bookmarked and shared."""
    page = quick_page(request)
    return render(request, "sizing/calculator.html", page, status_code=200 if page.answer else 422)


@router.get("/quick/{kind}")
def earlier_address(request: Request, kind: str) -> Response:
    """Redirect an address of an earlier release to the explanations or the text."""
    return moved(request, f"/calculator/{quote(kind, safe='')}")


@router.get(f"/calculator/{EXPLANATIONS}", response_class=HTMLResponse)
def explanations(request: Request) -> HTMLResponse:
    """Show the formula, inputs and sources of every figure of an answer."""
    form, document = read_form(request.query_params)
    if document is None:
        return render(request, "sizing/calculator.html", _unanswered(form), status_code=422)
    try:
        figures = explained_figures(document)
    except PlanRefused as error:
        return render(request, "sizing/calculator.html", _refused(form, error), status_code=422)
    page = ExplanationsPage(
        title="Sources of the figures",
        section="calculator",
        name=figures.application.cfrm_name,
        figures=figures,
        calculator=f"/calculator?{form.short_query}",
    )
    return render(request, "sizing/explanations.html", page)


@router.get("/calculator/{kind}")
def download(request: Request, kind: str) -> Response:
    """Return one of the text outputs, or the plan document, as a file or as a text that the browser shows."""
    if kind not in SHOWN_OUTPUTS and kind != DOCUMENT_OUTPUT:
        raise HTTPException(status_code=404, detail="There is no such output.")
    form, document = read_form(request.query_params)
    if document is None:
        # If there is no file, a browser that follows a download link must show a page with the reason, not save the
        # error.
        return render(request, "sizing/calculator.html", _unanswered(form), status_code=422)
    if kind == DOCUMENT_OUTPUT:
        text, filename = document_text(document)
    else:
        output = render_output(kind, evaluate(document))
        text, filename = output.text, output.filename
    disposition = "inline" if VIEW in request.query_params else "attachment"
    headers = {"Content-Disposition": f'{disposition}; filename="{filename}"'}
    return Response(text, media_type="text/plain", headers=headers)


def moved(request: Request, path: str) -> Response:
    """Return a permanent redirect to an address of the calculator with the same parameters."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{root_path(request)}{path}{query}", status_code=308)


def has_fields(request: Request) -> bool:
    """Return whether an address has at least one field of the calculator."""
    return any(name in request.query_params for name in DEFAULTS)


def quick_page(request: Request) -> QuickPage:
    """Return the page for the parameters of an address."""
    form, document = read_form(request.query_params)
    if document is None:
        return _unanswered(form)
    try:
        answer = answer_of(document, form)
    except PlanRefused as error:
        return _refused(form, error)
    return QuickPage(
        title="Quick calculator",
        section="calculator",
        form=form,
        answer=answer,
        refused=(),
        summary=answer.summary,
    )


def _refused(form: QuickForm, error: PlanRefused) -> QuickPage:
    problems = [FieldProblem(finding.field or "", finding.message) for finding in error.findings]
    return _unanswered(form.with_problems(problems), refused=error.findings)


def _unanswered(form: QuickForm, *, refused: tuple[Finding, ...] = ()) -> QuickPage:
    return QuickPage(
        title="Quick calculator",
        section="calculator",
        form=form,
        answer=None,
        refused=refused,
        summary=to_fix(len(form.wrong)),
    )
