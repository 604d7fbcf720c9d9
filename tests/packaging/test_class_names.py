"""Class names are unique in planner_core and in each feature of the application."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = [
    "planner_core",
    *sorted(f"app/{each.parent.name}" for each in (ROOT / "app").glob("*/__init__.py")),
]


@pytest.mark.parametrize("package", PACKAGES)
def test_public_classes_of_a_package_have_unique_names(package: str) -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
