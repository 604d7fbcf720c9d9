"""The tools: they read documents, texts, the database and the documentation, and change nothing.

Nothing here knows the protocol. `call` runs in a worker process of the server, so its arguments and its result are plain
values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from app.assistants import questions
from app.assistants.answers import (
    CheckedText,
    CrossedLevel,
    DocsFound,
    DocsPage,
    DocsText,
    ExplainedFigures,
    Figure,
    FindingDescription,
    Forecasts,
    SizedPlan,
    SizedStructure,
    StructureForecastAnswer,
    Table,
    Tables,
)
from app.assistants.texts import text_of
from app.database.engine import Database, open_database
from app.documentation import library
from app.errors import NotFound
from app.fits.kept import curves_in, no_curves
from app.fits.resolve import evaluate
from app.forecasts import service as forecasts
from app.paging import ListRequest, PageRequest
from app.plans import service as plans
from app.running import service as running
from app.running.requests import LintRequest, read_request
from app.running.texts import invalid
from app.search.docs_index import search_docs
from app.search.query import read_query
from app.sizing.service import refuse_long_answer
from app.texts.documents import parse_text
from planner_core.document.model import FittedCurve
from planner_core.document.problems import did_you_mean
from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid, InputInvalid, PlannerError
from planner_core.findings import catalogue, read_findings
from planner_core.plan.explain import plan_json
from planner_core.provenance import Basis
from planner_core.running.line_findings import LineFinding
from planner_core.tables import all_tables
from planner_core.wire import Answer, JsonObject, adapter

MOST_ARGUMENT_BYTES: Final = 5 * 2**20
MOST_ANSWER_BYTES: Final = 2**20
MOST_EXPLANATIONS, MOST_FINDINGS, MOST_SOURCES, MOST_PAGE_CHARACTERS = 60, 200, 6, 24_000
SHOWN_PROBLEMS: Final = 20
FIGURES: Final = (
    "initsize_kib", "size_kib", "need_bytes", "messages", "entries", "elements", "entries_required", "elements_required",
    "messages_in_initsize", "messages_in_initsize_with_offload", "messages_in_size", "peak_usage_percent",
)  # fmt: skip
"""The figures of a structure in an answer of `size_plan`, in their order; `explain_figures` has all."""
GIVEN = "the given plan"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the server."""

    name: str
    title: str
    about: str
    question: type[BaseModel]
    answer: type[Answer]
    run: Callable[[Any], Answer]

    @property
    def input_schema(self) -> JsonObject:
        """The JSON Schema of the arguments."""
        return self.question.model_json_schema()

    @property
    def output_schema(self) -> JsonObject:
        """The JSON Schema of the structured answer."""
        return adapter(self.answer).json_schema(mode="serialization", by_alias=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a call: a text, and the structured answer unless the call was refused."""

    text: str
    answer: JsonObject | None = None


def call(name: str, arguments: Mapping[str, Any]) -> Outcome:
    """Call a tool. Errors of the core become refusals; no other exception leaves this function."""
    try:
        text = json.dumps(arguments).encode()
        if len(text) > MOST_ARGUMENT_BYTES:
            invalid(
                "",
                f"has {len(text):,} bytes, but at most {MOST_ARGUMENT_BYTES:,} are read: send only the relevant part",
            )
        tool = TOOLS.get(name)
        if tool is None:
            return Outcome(f"There is no tool {name[:40]!r}. The tools are {', '.join(TOOLS)}.")
        answer = tool.run(read_request(tool.question, text))
        written = answer.json_bytes()
        if len(written) > MOST_ANSWER_BYTES:
            invalid(
                "",
                f"gives an answer of {len(written):,} bytes, but at most {MOST_ANSWER_BYTES:,} are sent: ask for one structure",
            )
        return Outcome(text_of(answer), json.loads(written))
    except PlannerError as error:
        return Outcome(_refusal(error))
    except RecursionError:
        return Outcome("The input is nested too deeply.")
    except Exception as error:  # noqa: BLE001 - the client gets a sentence, never a traceback
        return Outcome(f"Internal error of cfplan, please report it: {type(error).__name__}.")


def _refusal(error: PlannerError) -> str:
    problems = error.problems if isinstance(error, (InputInvalid, DocumentInvalid)) else ()
    lines = [str(error), *(f"- {each}" for each in problems[:SHOWN_PROBLEMS])]
    return "\n".join(lines) if len(problems) > 1 else lines[0]


# ---- the database ----------------------------------------------------------------------------------------------------


@contextmanager
def _database() -> Iterator[Database]:
    """Open the database of the site for reading only.

    Raises:
        NotFound: The site has no database.
    """
    with open_database(migrates=False, reads_only=True) as (database, settings):
        if database.is_missing:
            message = (
                f"There is no database in the data folder {str(settings.data_dir)!r}. Set CFPLAN_DATA_DIR or "
                "CFPLAN_DATABASE_URL for this command as for the service."
            )
            raise NotFound(message)
        yield database


# ---- plans -----------------------------------------------------------------------------------------------------------


def _plan(question: questions.PlanArguments) -> tuple[str, JsonObject, Mapping[str, JsonObject]]:
    """Return the origin of a plan, its result and the explanations by figure."""
    given = [name for name in ("plan", "text", "stored_plan") if getattr(question, name) is not None]
    if len(given) != 1:
        invalid("/plan", "is required, or text, or stored_plan: exactly one of the three")
    if question.stored_plan is not None:
        with _database() as database, database.session(writes=False) as session:
            version = plans.get_plan(session, question.stored_plan)
            explanations = json.loads(plans.get_explanations_json(session, version))
            return f"stored plan {version.name}, version {version.number}", version.result, explanations
    parsed = question.plan if question.text is None else parse_text(question.text.encode("utf-8", "replace"))
    document = read_object(parsed)
    refuse_long_answer(document, explain=True, structure=question.structure)
    if isinstance(document.curve, FittedCurve):
        with _database() as database:
            result = evaluate(document, curves_in(database))
    else:
        result = evaluate(document, no_curves)
    answer = json.loads(plan_json(result, explain=True, structure=question.structure))
    return GIVEN, answer, answer["explanations"]


def _places(result: JsonObject, structure: str | None) -> list[int]:
    names = [each["name"] for each in result["structures"]]
    if structure is None:
        return list(range(len(names)))
    if structure not in names:
        invalid("/structure", f"is not a structure of the plan{did_you_mean(structure, names)}")
    return [names.index(structure)]


def size_plan(question: questions.PlanArguments) -> SizedPlan:
    """Return the sizes of a plan."""
    origin, result, explanations = _plan(question)
    places = _places(result, question.structure)
    structures = tuple(_structure(result["structures"][at], at, explanations) for at in places)
    names = {each.name for each in structures}
    found = [
        each
        for each in read_findings(result["findings"])
        if question.structure is None or each.structure is None or each.structure in names
    ]
    return SizedPlan(
        plan=origin,
        qsg=result["qsg"],
        core_version=result["core_version"],
        structures=structures,
        findings=tuple(found[:MOST_FINDINGS]),
        left_out=max(0, len(found) - MOST_FINDINGS),
    )


def _structure(found: JsonObject, at: int, explanations: Mapping[str, JsonObject]) -> SizedStructure:
    pointers = [(name, f"/structures/{at}/{name}") for name in FIGURES]
    return SizedStructure(
        name=found["name"],
        cfrm_name=found["cfrm_name"],
        role=found["role"],
        cfcc_level=found["cfcc_level"],
        curve=found.get("curve"),
        binding=found.get("binding"),
        figures=tuple(
            _figure(name, pointer, explanations[pointer])
            for name, pointer in pointers
            if pointer in explanations
        ),
    )


def _figure(name: str, pointer: str, explanation: JsonObject) -> Figure:
    sources = [explanation["source"], *(each["source"] for each in explanation["inputs"])]
    return Figure(
        name=name,
        value=explanation["value"],
        unit=explanation["unit"],
        basis=Basis(explanation["basis"]),
        sources=tuple(dict.fromkeys(filter(None, sources)))[:MOST_SOURCES],
        pointer=pointer,
    )


def explain_figures(question: questions.ExplainArguments) -> ExplainedFigures:
    """Return the explanations of one figure, of one structure, or of a plan."""
    origin, result, explanations = _plan(question)
    if question.figure is not None:
        if question.figure not in explanations:
            invalid(
                "/figure", f"is not a figure of the plan{did_you_mean(question.figure, list(explanations))}"
            )
        return ExplainedFigures(origin, (explanations[question.figure],), 0)  # type: ignore[arg-type]
    begin = tuple(f"/structures/{at}/" for at in _places(result, question.structure))
    found = [
        each
        for pointer, each in explanations.items()
        if question.structure is None or pointer.startswith(begin)
    ]
    shown: Any = tuple(found[:MOST_EXPLANATIONS])
    return ExplainedFigures(origin, shown, len(found) - len(shown))


# ---- texts, forecasts ------------------------------------------------------------------------------------------------


def lint_text(question: LintRequest) -> CheckedText:
    """Check a text without a plan."""
    found = running.checked(
        question.text,
        cfcc_level=question.cfcc_level,
        queue_managers=question.queue_managers,
        qsg=question.qsg,
        size_unit=question.size_unit,
    )
    shown: tuple[LineFinding, ...] = found.findings[:MOST_FINDINGS]
    return CheckedText(
        tuple(found.kinds), found.lines, found.structures, shown, len(found.findings) - len(shown)
    )


def forecast(question: questions.ForecastArguments) -> Forecasts:
    """Return the forecasts of a structure, or the most urgent ones."""
    if (question.qsg is None) != (question.structure is None):
        missing = "/qsg" if question.qsg is None else "/structure"
        invalid(missing, "is required: give qsg and structure, or neither of them")
    with _database() as database, database.session(writes=False) as session:
        if question.qsg is not None and question.structure is not None:
            found: tuple[forecasts.StructureForecast, ...] = forecasts.outlooks(
                session, question.qsg, question.structure
            )
            total = len(found)
        else:
            page = forecasts.list_forecasts(session, ListRequest(PageRequest(per_page=question.limit)))
            found, total = page.items, page.total
    return Forecasts(tuple(map(_forecast, found)), total)


def _forecast(found: forecasts.StructureForecast) -> StructureForecastAnswer:
    measured = "simulated data" if found.is_simulated else "measured at the site"
    days = f"{found.first_day} to {found.last_day}" if found.first_day and found.last_day else "no days"
    return StructureForecastAnswer(
        qsg=found.qsg,
        structure=found.structure,
        measure=found.measure,
        queue_manager=found.queue_manager,
        state=found.state,
        sentence=found.sentence,
        made_on=found.made_on,
        days_measured=found.days_measured,
        is_simulated=found.is_simulated,
        crossings=tuple(
            CrossedLevel(
                each.level, each.state, each.sentence, each.dates.p10, each.dates.p50, each.dates.p90
            )
            for each in found.crossings
        ),
        basis=f"statistical forecast from daily peaks, {measured}",
        source=f"nightly run {found.run_id} of {found.made_on}, {found.days_measured} days ({days})",
    )


# ---- documentation ---------------------------------------------------------------------------------------------------


def find_docs(question: questions.DocsSearchArguments) -> DocsFound:
    """Search the documentation."""
    found = search_docs(read_query(question.query))
    shown = found[: question.limit]
    return DocsFound(
        tuple(DocsPage(each.title, each.heading, each.path, each.excerpt) for each in shown), len(found)
    )


def read_docs(question: questions.DocsPageArguments) -> DocsText:
    """Return the text of a page or of one section.

    Raises:
        NotFound: There is no such page or section.
    """
    slug, _, anchor = question.page.removeprefix("/docs/").partition("#")
    page = next((sections for name, sections in library.sections() if name == slug), ())
    wanted = [each for each in page if not anchor or each.anchor == anchor]
    if not wanted:
        message = f"There is no documentation page {question.page!r}. Search for one with search_docs."
        raise NotFound(message)
    text = "\n\n".join(f"{each.heading}\n{each.text}" for each in wanted)
    return DocsText(
        page=f"/docs/{slug}" + (f"#{anchor}" if anchor else ""),
        title=page[0].heading,
        text=text[:MOST_PAGE_CHARACTERS],
        is_complete=len(text) <= MOST_PAGE_CHARACTERS,
        sections=tuple(f"/docs/{slug}#{each.anchor}" for each in page if each.anchor),
    )


def published_tables(question: questions.TableArguments) -> Tables:
    """List the published tables, or return one of them.

    Raises:
        NotFound: There is no such table.
    """
    known = all_tables()
    if question.table is None:
        return Tables(
            tuple(Table(each.id, each.title, each.about, each.basis, str(each.source)) for each in known)
        )
    table = next((each for each in known if each.id == question.table), None)
    if table is None:
        names = [each.id for each in known]
        message = f"There is no published table {question.table!r}{did_you_mean(question.table, names)}."
        raise NotFound(message)
    plain: JsonObject = table.model_dump(mode="json")
    columns = tuple(f"{each.name} [{each.unit}]" if each.unit else each.name for each in table.columns)
    rows = tuple(map(tuple, plain["rows"]))
    return Tables((Table(table.id, table.title, table.about, table.basis, str(table.source), columns, rows),))


def describe_finding(question: questions.FindingArguments) -> FindingDescription:
    """Return the meaning of a code.

    Raises:
        NotFound: There is no such code.
    """
    kind = catalogue().get(question.code.strip().upper())
    if kind is None:
        message = (
            f"There is no finding {question.code!r}{did_you_mean(question.code.upper(), list(catalogue()))}."
        )
        raise NotFound(message)
    return FindingDescription(
        kind.code, kind.severity, kind.title, kind.meaning, kind.why, kind.what_to_do, str(kind.source)
    )


TOOLS: Final = {
    tool.name: tool
    for tool in (
        Tool(
            "size_plan",
            "Size a plan",
            "Calculate the sizes of CF structures of an IBM MQ queue-sharing group: INITSIZE, SIZE, need, entries and "
            "elements, each with basis and sources, and findings. For a stored plan, the stored figures are returned.",
            questions.PlanArguments,
            SizedPlan,
            size_plan,
        ),
        Tool(
            "explain_figures",
            "Explain figures",
            "Return formula, inputs, steps, basis and source of one figure, of one structure, or of a whole plan.",
            questions.ExplainArguments,
            ExplainedFigures,
            explain_figures,
        ),
        Tool(
            "lint_text",
            "Check a policy, MQSC or displays",
            "Check a CFRM policy, MQSC definitions or displays (D XCF,STR, DISPLAY CFSTATUS and others) without a plan. "
            "Each finding has its line and the source of its rule.",
            LintRequest,
            CheckedText,
            lint_text,
        ),
        Tool(
            "forecast",
            "Forecasts",
            "Return when structures of the site reach their limits, from the last nightly run: of one structure, or the most "
            "urgent ones.",
            questions.ForecastArguments,
            Forecasts,
            forecast,
        ),
        Tool(
            "search_docs",
            "Search the documentation",
            "Search the documentation of cfplan, which states assumptions, sources and procedures.",
            questions.DocsSearchArguments,
            DocsFound,
            find_docs,
        ),
        Tool(
            "read_docs",
            "Read a page of the documentation",
            "Return the text of a page or section that search_docs found.",
            questions.DocsPageArguments,
            DocsText,
            read_docs,
        ),
        Tool(
            "published_tables",
            "Published tables",
            "List the tables that IBM has published and that sizes are calculated from, or return the rows of one.",
            questions.TableArguments,
            Tables,
            published_tables,
        ),
        Tool(
            "describe_finding",
            "Describe a finding",
            "Return the meaning of a finding's code, why it matters, what to do, and the source of the rule.",
            questions.FindingArguments,
            FindingDescription,
            describe_finding,
        ),
    )
}
"""The tools by name."""
