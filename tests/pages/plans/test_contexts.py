"""Templates of the plans use what their contexts declare: every field, and nothing else."""

from __future__ import annotations

from dataclasses import fields

import pytest
from jinja2 import meta, nodes

from app.pages.plans import editor, routes
from app.pages.sheet import routes as sheet
from app.templating import PROVIDED, Page, environment

TEMPLATES: dict[str, type[Page]] = {
    "plans/list.html": routes.ListPage,
    "plans/result.html": routes.ResultPage,
    "plans/structure.html": routes.StructurePage,
    "plans/history.html": routes.HistoryPage,
    "plans/compare.html": routes.ComparePage,
    "plans/print.html": routes.PrintPage,
    "plans/deleted.html": routes.DeletedPage,
    "plans/import.html": routes.ImportPage,
    "plans/advice.html": routes.AdvicePage,
    "plans/editor.html": editor.EditorPage,
    "plans/panel.html": editor.PanelPage,
    "plans/conflict.html": editor.ConflictPage,
    "sheet/sheet.html": sheet.SheetPage,
}
FRAME = frozenset({"title", "section"})


def used_names(template: str) -> set[str]:
    """Names a template takes from its context, with those of the templates it extends or includes."""
    env = environment()
    assert env.loader is not None
    parsed = env.parse(env.loader.get_source(env, template)[0])
    own = {name for node in parsed.find_all(nodes.FromImport) for name in node.names}
    own |= {node.target.name for node in parsed.find_all(nodes.Assign) if isinstance(node.target, nodes.Name)}
    names = set(meta.find_undeclared_variables(parsed)) - own
    for node in parsed.find_all((nodes.Extends, nodes.Include)):
        part = getattr(node, "template", None)
        if isinstance(part, nodes.Const):
            names |= used_names(part.value)
    return names


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_uses_exactly_the_fields_of_its_context(template: str) -> None:
    declared = {field.name for field in fields(TEMPLATES[template])}
    used = used_names(template) - PROVIDED
    assert used - declared == set()
    assert declared - used - FRAME == set()
