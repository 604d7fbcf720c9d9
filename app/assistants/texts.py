"""Answers of the tools as text, for clients that do not read structured answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import singledispatch

from app.assistants.answers import (
    CheckedText,
    DocsFound,
    DocsText,
    ExplainedFigures,
    Figure,
    FindingDescription,
    Forecasts,
    SizedPlan,
    Tables,
)
from planner_core.findings import Finding
from planner_core.wire import Answer, adapter


def text_of(answer: Answer) -> str:
    """Return an answer as text. A quoted text cannot begin a line of its own."""
    notice = getattr(answer, "notice", None)
    return "\n".join(filter(None, (notice, *map(_one_line, _lines(answer)))))


def _one_line(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text)


@singledispatch
def _lines(answer: Answer) -> Iterator[str]:
    raise NotImplementedError(type(answer))


@_lines.register
def _sized(answer: SizedPlan) -> Iterator[str]:
    yield f"Group {answer.qsg}, {answer.plan}, calculated by cfplan {answer.core_version}."
    for each in answer.structures:
        limit = f", limited by {each.binding}" if each.binding else ""
        yield f"{each.name} ({each.cfrm_name}), CFCC level {each.cfcc_level}, curve {each.curve or 'none'}{limit}:"
        yield from map(_figure, each.figures)
    yield from _findings(answer.findings)
    if answer.left_out:
        yield f"{answer.left_out} findings are left out: name a structure."


def _figure(each: Figure) -> str:
    sources = "; ".join(each.sources)
    return f"  {each.name} = {each.value} {each.unit} ({each.basis.words}{f': {sources}' if sources else ''})"


def _findings(found: Iterable[Finding]) -> Iterator[str]:
    for each in found:
        line = getattr(each, "line", None)
        where = f" (line {line})" if line else ""
        yield f"{each.severity}: {each.code}{where}: {each.message} Source: {each.source}"


@_lines.register
def _explained(answer: ExplainedFigures) -> Iterator[str]:
    yield f"{answer.plan}:"
    for item in adapter(ExplainedFigures).dump_python(answer, mode="json")["explanations"]:
        source = f"; {item['source']}" if item["source"] else ""
        yield f"{item['figure']} = {item['formula']} = {item['value']} {item['unit']} ({item['basis']}{source})"
        for step in item["steps"]:
            yield f"  {step['name']} = {step['formula']} = {step['value']}"
        for given in item["inputs"]:
            source = f": {given['source']}" if given["source"] else ""
            yield f"  {given['name']} = {given['value']} {given['unit']} ({given['basis']}{source})"
    if answer.left_out:
        yield f"{answer.left_out} explanations are left out: name a structure or a figure."


@_lines.register
def _checked(answer: CheckedText) -> Iterator[str]:
    yield f"{answer.lines} lines, {answer.structures} structures, read as {', '.join(answer.kinds) or 'nothing'}."
    yield from _findings(answer.findings)
    if answer.left_out:
        yield f"{answer.left_out} findings are left out: check a part of the text."


@_lines.register
def _forecasts(answer: Forecasts) -> Iterator[str]:
    yield f"{len(answer.forecasts)} of {answer.total} forecasts."
    for each in answer.forecasts:
        of = f" of {each.queue_manager}" if each.queue_manager else ""
        simulated = " SIMULATED DATA, not measured at the site." if each.is_simulated else ""
        yield f"{each.qsg} {each.structure}, {each.measure}{of}: {each.sentence}{simulated} ({each.basis}; {each.source})"
        for level in each.crossings:
            yield f"  {level.level}: {level.sentence}"


@_lines.register
def _pages(answer: DocsFound) -> Iterator[str]:
    yield f"{len(answer.pages)} of {answer.total} pages."
    for each in answer.pages:
        heading = f", {each.heading}" if each.heading else ""
        yield f"{each.page}: {each.title}{heading}: {each.excerpt}"


@_lines.register
def _page(answer: DocsText) -> Iterator[str]:
    yield f"{answer.title} ({answer.page})"
    yield from answer.text.splitlines()
    if not answer.is_complete:
        yield f"The rest is left out. Sections: {', '.join(answer.sections)}"


@_lines.register
def _tables(answer: Tables) -> Iterator[str]:
    for each in answer.tables:
        yield f"{each.id}: {each.title} ({each.basis.words}: {each.source}). {each.about}"
        if each.columns:
            yield " | ".join(each.columns)
        for row in each.rows:
            yield " | ".join(map(str, row))


@_lines.register
def _finding(answer: FindingDescription) -> Iterator[str]:
    yield f"{answer.code} ({answer.severity}): {answer.title}"
    for label, text in (
        ("Meaning", answer.meaning),
        ("Why it matters", answer.why),
        ("What to do", answer.what_to_do),
    ):
        yield f"{label}: {text}"
    yield f"Source: {answer.source}"
