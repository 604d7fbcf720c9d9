"""Every step on the page about following a value refers to an existing file and an existing name in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.docs.pages import ROOT, rows

PAGE = ROOT / "docs" / "contributing" / "following-a-value.md"
STEPS = [
    (file.strip("`"), name.strip("`"), form) for _, file, name, form in rows(PAGE.read_text(encoding="utf-8"))
]


def defined_names(tree: ast.AST, prefix: str = "") -> Iterator[str]:
    """Functions and classes, and the functions of classes with the class before them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield prefix + node.name
        if isinstance(node, ast.ClassDef):
            yield from defined_names(node, f"{node.name}.")


@pytest.mark.parametrize(("file", "name"), [(file, name) for file, name, _ in STEPS])
def test_file_of_a_step_defines_the_name_in_the_step(file: str, name: str) -> None:
    assert name in set(defined_names(ast.parse((ROOT / file).read_text(encoding="utf-8"))))


def test_files_and_fields_named_elsewhere_on_the_page_exist() -> None:
    text = PAGE.read_text(encoding="utf-8")
    files = re.findall(r"`((?:app|planner_core|spark_jobs)/[\w/]+\.\w+)`", text)
    assert [file for file in files if not (ROOT / file).is_file()] == []
    layout = (ROOT / "spark_jobs/smf/layouts/r744_sreq.toml").read_text(encoding="utf-8")
    assert all(word in layout for word in ("r744slem", "entries_in_use"))


def test_steps_of_each_path_are_numbered_consecutively() -> None:
    numbers = [int(cells[0]) for cells in rows(PAGE.read_text(encoding="utf-8"))]
    starts = [at for at, number in enumerate(numbers) if number == 1]
    # Three paths begin with step 1: the calculator's form, the editor's form and the dump.
    assert len(starts) == 3
    assert numbers[:11] == list(range(1, 12))
    assert numbers[starts[2] : starts[2] + 16] == list(range(1, 17))
