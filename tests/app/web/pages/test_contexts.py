"""The contexts of pages and their templates use the same names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import get_type_hints

import pytest
from fastapi import FastAPI
from jinja2 import UndefinedError, meta, nodes

from app.accounts.pages import AccountPage, PasswordPage, SignInPage, UserPage, UsersPage
from app.audit.pages import AuditPage
from app.clusters.decide_pages import DecidePage
from app.clusters.explain_pages import ExplainPage
from app.clusters.load_pages import LoadPage
from app.collecting.pages import CollectionKitPage
from app.documentation.api_docs import ApiDocsPage, ApiTryPage
from app.documentation.pages import ArticlePage, DocumentationContentsPage
from app.events.read_pages import ReadEventsPage
from app.events.simulate_pages import SimulateEventsPage
from app.fits.levels_pages import CfLevelsPage
from app.fits.pages import CurvePage, CurvesPage
from app.fits.points_pages import AddPointsPage, PointsFitPage, SizingPointsPage
from app.fleet.pages import OverviewPage
from app.forecasts.pages import ForecastsPage, StructureForecastPage
from app.importing.pages import ImportTablesPage
from app.nightly.pages import NightlyRunPage, NightlyRunsPage
from app.notices.pages import NoticesPage
from app.plans.changing_pages import DeletedPage, ImportPage
from app.plans.editor.pages import ConflictPage, EditorPage, PanelPage
from app.plans.pages import (
    AdvicePage,
    ComparePage,
    ListPage,
    PrintPage,
    StructureExplanationsPage,
    StructurePage,
)
from app.plans.result_pages import (
    HistoryPage,
    PlanFindingsPage,
    PlanQueuesPage,
    PlanSizesPage,
    PlanTextsPage,
)
from app.plans.sheet_pages import SheetPage
from app.reference.pages import ReferenceContentsPage, TablePage
from app.running.pages import FromRunningPage, LintPage, MergePage, RunningPage, WhatRunsPage
from app.scenarios.pages import (
    ScenarioComparePage,
    ScenarioFormPage,
    ScenarioReportPage,
    ScenariosPage,
)
from app.search.pages import SearchPage
from app.sizing.calculator.pages import ExplanationsPage, QuickPage
from app.texts.documents import example_text, read_text
from app.uploads.file_pages import UploadFilesPage
from app.uploads.pages import NewUploadPage, QsgMapPage, UploadPage, UploadsPage
from app.usage.pages import HealthListPage, QueuePage, UsageListPage, UsagePage
from app.usage.plan_pages import PlanFromUsagePage
from app.usage.take_over_pages import TakeOverPage
from app.web import rendering as templating
from app.web.problems import ErrorPage
from app.web.rendering import PROVIDED, TEMPLATES_DIR, Page, environment, render_text
from app.web.style_guide.pages import StylePage
from app.whatif.filling_pages import FillingPage
from app.whatif.growth_pages import UpgradePage
from app.whatif.loss_pages import CfLossPage
from app.whatif.pages import PlanWhatIfPage, WhatIfPage
from app.whatif.recovery_pages import RecoveryPage
from app.whatif.smds_pages import SmdsPage
from app.whatif.survival_pages import SurvivalPage
from app.whatif.threshold_pages import ThresholdsPage
from app.zosmf.pages import ConnectionsPage
from tests.app.fits.support import daily, fit_json, forecast_json, store_night, store_points
from tests.app.uploads.support import post_file
from tests.app.usage.support import store, ten_days
from tests.app.web.pages.addresses import PAGES, html
from tests.app.web.support import send_json

CONTEXTS: dict[str, type[Page]] = {
    "accounts/account.html": AccountPage,
    "accounts/password.html": PasswordPage,
    "accounts/sign_in.html": SignInPage,
    "accounts/user.html": UserPage,
    "accounts/users.html": UsersPage,
    "api_docs.html": ApiDocsPage,
    "api_try.html": ApiTryPage,
    "clusters/decide.html": DecidePage,
    "clusters/explain.html": ExplainPage,
    "clusters/load.html": LoadPage,
    "fits/curve.html": CurvePage,
    "fits/add_points.html": AddPointsPage,
    "fits/levels.html": CfLevelsPage,
    "fits/list.html": CurvesPage,
    "fits/points.html": SizingPointsPage,
    "fits/points_fit.html": PointsFitPage,
    "fleet/overview.html": OverviewPage,
    "audit/list.html": AuditPage,
    "documentation/article.html": ArticlePage,
    "documentation/contents.html": DocumentationContentsPage,
    "errors/error.html": ErrorPage,
    "events/read.html": ReadEventsPage,
    "events/simulate.html": SimulateEventsPage,
    "forecasts/list.html": ForecastsPage,
    "forecasts/structure.html": StructureForecastPage,
    "zosmf/connections.html": ConnectionsPage,
    "nightly/list.html": NightlyRunsPage,
    "nightly/run.html": NightlyRunPage,
    "notices/list.html": NoticesPage,
    "plans/advice.html": AdvicePage,
    "plans/compare.html": ComparePage,
    "plans/conflict.html": ConflictPage,
    "plans/deleted.html": DeletedPage,
    "plans/editor.html": EditorPage,
    "plans/history.html": HistoryPage,
    "importing/import.html": ImportTablesPage,
    "plans/import.html": ImportPage,
    "plans/list.html": ListPage,
    "plans/panel.html": PanelPage,
    "plans/print.html": PrintPage,
    "plans/findings.html": PlanFindingsPage,
    "plans/queues.html": PlanQueuesPage,
    "plans/sizes.html": PlanSizesPage,
    "plans/structure.html": StructurePage,
    "plans/texts.html": PlanTextsPage,
    "plans/explanations.html": StructureExplanationsPage,
    "sizing/calculator.html": QuickPage,
    "sizing/explanations.html": ExplanationsPage,
    "reference/contents.html": ReferenceContentsPage,
    "reference/table.html": TablePage,
    "running/compare.html": RunningPage,
    "running/contents.html": WhatRunsPage,
    "running/lint.html": LintPage,
    "running/made.html": FromRunningPage,
    "running/merge.html": MergePage,
    "search/search.html": SearchPage,
    "sheet/sheet.html": SheetPage,
    "scenarios/compare.html": ScenarioComparePage,
    "scenarios/form.html": ScenarioFormPage,
    "scenarios/list.html": ScenariosPage,
    "scenarios/report.html": ScenarioReportPage,
    "style/style.html": StylePage,
    "uploads/files.html": UploadFilesPage,
    "collecting/kit.html": CollectionKitPage,
    "uploads/list.html": UploadsPage,
    "uploads/map.html": QsgMapPage,
    "uploads/new.html": NewUploadPage,
    "uploads/upload.html": UploadPage,
    "usage/health.html": HealthListPage,
    "usage/list.html": UsageListPage,
    "usage/plan.html": PlanFromUsagePage,
    "usage/queue.html": QueuePage,
    "usage/structure.html": UsagePage,
    "usage/take_over.html": TakeOverPage,
    "whatif/contents.html": WhatIfPage,
    "whatif/filling.html": FillingPage,
    "whatif/loss.html": CfLossPage,
    "whatif/plan.html": PlanWhatIfPage,
    "whatif/recovery.html": RecoveryPage,
    "whatif/smds.html": SmdsPage,
    "whatif/survival.html": SurvivalPage,
    "whatif/thresholds.html": ThresholdsPage,
    "whatif/upgrade.html": UpgradePage,
}

PLAN_PAGES = (
    "/plans", "/new-plan", "/deleted-plans", "/import-plans", "/sheet", "/plans/CONTEXTS", "/plans/CONTEXTS/history",
    "/plans/CONTEXTS?tab=findings", "/plans/CONTEXTS?tab=policy", "/plans/CONTEXTS?tab=queues", "/plans/CONTEXTS/what-if",
    "/plans/CONTEXTS/compare", "/plans/CONTEXTS/versions/1/print", "/plans/CONTEXTS/advice",
    "/plans/CONTEXTS/versions/1/structures/MYDATA", "/plans/CONTEXTS/versions/1/structures/MYDATA/filling",
    "/plans/CONTEXTS/versions/1/structures/MYDATA/survival",
    "/plans/CONTEXTS/versions/1/structures/MYDATA/thresholds", "/plans/CONTEXTS/versions/1/structures/MYDATA/explanations",
)  # fmt: skip
SCENARIO_PAGES = (
    "/plans/CONTEXTS/scenarios", "/plans/CONTEXTS/scenarios/new", "/plans/CONTEXTS/scenarios/compare?of=more",
    "/plans/CONTEXTS/scenarios/more/report",
)  # fmt: skip
USAGE_PAGES = (
    "/usage/SQ03/APPLICATION1", "/usage/SQ03/APPLICATION1/queue?name=ORDERS.IN", "/usage/SQ03/plan", "/usage/SQ03/plan/into/CONTEXTS",
)  # fmt: skip
NIGHT_PAGES = ("/sizing-points/fit?cfcc_level=26", "/curves/1", "/forecasts/SQ03/APPLICATION1", "/nights/1")
ANSWERS_TO_FORMS = {"plans/conflict.html", "plans/panel.html"}
"""tests/app/plans/pages sends these forms."""
OF_ACCOUNTS = {name for name in CONTEXTS if name.startswith("accounts/")}
"""Pages that only a service with accounts shows; tests/app/accounts/test_pages.py opens them."""


@cache  # most pages have the same parts, so each template would be parsed hundreds of times
def read_template(name: str) -> tuple[frozenset[str | None], frozenset[str]]:
    """Return the templates that a template refers to, and the names that it expects from its context."""
    tree = environment().parse((TEMPLATES_DIR / name).read_text(encoding="utf-8"))
    expected = meta.find_undeclared_variables(tree) - names_made(tree)
    return frozenset(meta.find_referenced_templates(tree)), frozenset(expected)


def parts(name: str) -> set[str]:
    """Return a template and all templates that it extends, includes or imports."""
    found, waiting = set[str](), [name]
    while waiting:
        part = waiting.pop()
        if part in found:
            continue
        found.add(part)
        for other in read_template(part)[0]:
            assert other is not None, f"{part} chooses a template at run time"
            waiting.append(other)
    return found


def names_used(name: str) -> set[str]:
    """Return the names that a template with all its parts expects from its context."""
    return {used for part in parts(name) for used in read_template(part)[1]}


def names_made(tree: nodes.Template) -> set[str]:
    """Return the names defined at the top of a template, which Jinja does not treat as known inside blocks."""
    made = set[str]()
    for node in tree.body:
        if isinstance(node, nodes.Macro):
            made.add(node.name)
        elif isinstance(node, nodes.FromImport):
            made |= {each if isinstance(each, str) else each[1] for each in node.names}
        elif isinstance(node, nodes.Assign):
            made |= {name.name for name in node.target.find_all(nodes.Name)} | (
                {node.target.name} if isinstance(node.target, nodes.Name) else set()
            )
    return made


def subclasses(of: type[Page]) -> Iterator[type[Page]]:
    for each in of.__subclasses__():
        yield each
        yield from subclasses(each)


@pytest.mark.parametrize("name", CONTEXTS)
def test_templates_use_only_names_that_their_context_declares(name: str) -> None:
    declared = {field.name for field in fields(CONTEXTS[name])}
    assert names_used(name) - PROVIDED - declared == set()


@pytest.mark.parametrize("name", CONTEXTS)
def test_contexts_declare_only_names_that_their_template_uses(name: str) -> None:
    declared = {field.name for field in fields(CONTEXTS[name])}
    frame = set[str]() if "_base.html" in parts(name) else {field.name for field in fields(Page)}
    assert declared - names_used(name) - frame == set()


@pytest.mark.parametrize("context", CONTEXTS.values())
def test_every_field_of_a_context_is_described(context: type[Page]) -> None:
    for name, hint in get_type_hints(context, include_extras=True).items():
        words = getattr(hint, "__metadata__", ())
        assert words, name
        assert isinstance(words[0], str), name
        assert len(words[0]) > 10, name


def test_every_page_template_has_a_context() -> None:
    whole = {
        path.relative_to(TEMPLATES_DIR).as_posix()
        for path in TEMPLATES_DIR.rglob("*.html")
        if not path.name.startswith("_")
    }
    assert whole == set(CONTEXTS)
    here = {context for context in subclasses(Page) if context.__module__.startswith("app.")}
    assert here == set(CONTEXTS.values())


def test_every_partial_is_used_by_a_page() -> None:
    partials = {path.relative_to(TEMPLATES_DIR).as_posix() for path in TEMPLATES_DIR.rglob("_*.html")}
    assert partials == {part for name in CONTEXTS for part in parts(name) if Path(part).name.startswith("_")}


def test_pages_are_rendered_with_the_declared_template_and_context(
    own_app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, type[Page]] = {}

    def watched(name: str, context: Page, *, root_path: str = "") -> str:
        seen[name] = type(context)
        return render_text(name, context, root_path=root_path)

    monkeypatch.setattr(templating, "render_text", watched)
    saved = send_json(
        own_app, "PUT", "/api/v1/plans/CONTEXTS", read_text(example_text().encode()).model_dump(mode="json")
    )
    assert saved.status == 201
    scenario = {"changes": {"queue_managers": 6}}
    assert send_json(own_app, "PUT", "/api/v1/plans/CONTEXTS/scenarios/more", scenario).status == 201
    store(own_app, ten_days(days=2))
    upload = post_file(own_app, "text").json()["id"]
    store_points(own_app.state.database)
    store_night(own_app.state.database, curves=[fit_json()], forecasts=[forecast_json()], days=daily())
    for address in (*PAGES, *PLAN_PAGES, *SCENARIO_PAGES, *USAGE_PAGES, *NIGHT_PAGES, f"/uploads/{upload}"):
        html(own_app, address)
    assert seen == {
        name: context for name, context in CONTEXTS.items() if name not in ANSWERS_TO_FORMS | OF_ACCOUNTS
    }


def test_misspelled_name_in_a_template_raises_an_error() -> None:
    with pytest.raises(UndefinedError, match="sumary"):
        environment().from_string("{{ sumary }}").render(summary="a summary")
    with pytest.raises(UndefinedError):
        render_text("sizing/calculator.html", Page(title="A page", section=""))


def test_typed_text_is_escaped() -> None:
    shown = environment().from_string("{{ typed }}").render(typed="<script>alert(1)</script>\"'")
    assert shown == "&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;"
