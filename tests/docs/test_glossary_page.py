"""docs/reference/glossary.md names only classes that exist, each of them once."""

from __future__ import annotations

import ast
import re
from collections import Counter

from tests.docs.pages import ROOT

CLASS_NAME = re.compile(r"`([A-Z][A-Za-z]+)`")


def classes() -> Counter[str]:
    """Count the classes of the application and the core by name."""
    return Counter(
        node.name
        for folder in ("app", "planner_core")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )


def test_names_in_the_code_are_existing_unique_classes() -> None:
    page = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    named = CLASS_NAME.findall(page.partition("## Names in the code")[2])
    assert named
    known = classes()
    assert {name: known[name] for name in named if known[name] != 1} == {}
