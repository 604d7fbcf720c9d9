"""No module imports itself through other modules, not even inside a function or only for type checking."""

from __future__ import annotations

import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from tests.packaging.pins import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES: list[str] = PYPROJECT["tool"]["importlinter"]["root_packages"]


def circle_in(*packages: str) -> list[str]:
    """Return the modules of one import circle, the first one repeated at the end; empty if there is none."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle
    return []


def test_no_module_imports_itself_indirectly() -> None:
    assert circle_in(*PACKAGES) == []


@pytest.mark.parametrize(
    "source",
    [
        "import {name}.first",
        "def late():\n    from {name}.first import FIRST\n    return FIRST",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {name} import first",
    ],
    ids=["module", "function", "type_checking"],
)
def test_import_cycle_is_detected_at_any_level_of_a_module(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    name = f"circle_{request.node.callspec.id}"
    (tmp_path / name).mkdir()
    for module, text in {"__init__": "", "first": f"import {name}.second", "second": source}.items():
        (tmp_path / name / f"{module}.py").write_text(text.format(name=name) + "\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert set(circle_in(name)) == {f"{name}.first", f"{name}.second"}
