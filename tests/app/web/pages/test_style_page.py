"""The style page shows every component."""

from __future__ import annotations

from functools import cache

from fastapi import FastAPI
from jinja2 import nodes

from app.web.rendering import TEMPLATES_DIR, environment
from tests.app.web.pages.addresses import page

STYLE = "style/style.html"


@cache
def trees() -> dict[str, nodes.Template]:
    """Return the parsed templates by name."""
    return {
        path.relative_to(TEMPLATES_DIR).as_posix(): environment().parse(path.read_text(encoding="utf-8"))
        for path in TEMPLATES_DIR.rglob("*.html")
    }


def macros(name: str) -> dict[str, nodes.Macro]:
    """Return the macros that a template defines."""
    return {macro.name: macro for macro in trees()[name].find_all(nodes.Macro)}


def imported(name: str) -> dict[str, tuple[str, str]]:
    """Return the names that a template imports, with the template and the name that they come from."""
    found = {macro: (name, macro) for macro in macros(name)}
    for node in trees()[name].find_all(nodes.FromImport):
        assert isinstance(node.template, nodes.Const)
        for each in node.names:
            there, here = (each, each) if isinstance(each, str) else each
            found[here] = (str(node.template.value), there)
    return found


def called(tree: nodes.Node, name: str) -> set[tuple[str, str]]:
    """Return the components that a part of a template calls."""
    known = imported(name)
    names = {call.node.name for call in tree.find_all(nodes.Call) if isinstance(call.node, nodes.Name)}
    return {known[each] for each in names if each in known}


def shown() -> set[tuple[str, str]]:
    """Return the components that the style page calls directly or indirectly."""
    waiting, found = called(trees()[STYLE], STYLE), set[tuple[str, str]]()
    while waiting:
        template, macro = each = waiting.pop()
        found.add(each)
        waiting |= called(macros(template)[macro], template) - found
    return found


def test_every_component_is_on_the_style_page() -> None:
    everything = {(name, macro) for name in trees() for macro in macros(name)}
    assert everything - shown() == set()


def test_components_are_defined_in_partials() -> None:
    whole = [name for name in trees() if not name.rpartition("/")[2].startswith("_")]
    assert [name for name in whole if macros(name)] == []


def test_example_texts_and_charts_are_on_the_style_page(app: FastAPI) -> None:
    main = page(app, "/style").one("main")
    for words in (
        "A text that is not given",
        "Acknowledged: Agreed with operations.",
        "of 512 lines",
        "To tick",
    ):
        assert words in main.text
    drawn = {each["aria-labelledby"] for each in main.all("svg", role="img")}
    assert len(drawn) >= 13  # two widths of six charts, and how a structure fills
