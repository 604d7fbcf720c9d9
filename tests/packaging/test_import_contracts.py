"""The import contracts hold, and detect violations."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.packaging.pins import ROOT

PYPROJECT = ROOT / "pyproject.toml"
LINTER = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]
PACKAGES = LINTER["root_packages"]
(LAYERS,) = (contract for contract in LINTER["contracts"] if contract["type"] == "layers")

FORBIDDEN = [
    ("planner_core", "app"),
    ("planner_core", "spark_jobs"),
    ("planner_core", "fastapi"),
    ("planner_core", "starlette"),
    ("planner_core", "jinja2"),
    ("planner_core", "sqlalchemy"),
    ("planner_core", "pydantic_settings"),
    ("planner_core", "pyspark"),
    ("planner_core", "pyarrow"),
    ("planner_core", "numpy"),
    ("planner_core", "pandas"),
    ("app", "spark_jobs"),
    ("app", "pyspark"),
    ("app", "pyarrow"),
    ("app", "pandas"),
    ("app", "numpy"),
    ("spark_jobs", "app"),
    ("spark_jobs", "sqlalchemy"),
    ("spark_jobs", "fastapi"),
    ("planner_core.tables", "planner_core.units"),
    ("planner_core.document", "planner_core.sizing"),
    ("planner_core.sizing", "planner_core.checks"),
    ("planner_core.checks", "planner_core.clusters"),
    ("planner_core.plan", "planner_core.texts"),
    ("planner_core.texts", "planner_core.whatif"),
    ("app.jobs", "app.uploads"),
    ("app.jobs", "app.nightly"),
]


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [program, "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )


def write_module(tree: Path, name: str, source: str = "") -> None:
    """Write a module and its packages."""
    path = tree.joinpath(*name.split(".")).with_suffix(".py")
    path.parent.mkdir(parents=True, exist_ok=True)
    for package in path.relative_to(tree).parents[:-1]:
        (tree / package / "__init__.py").touch()
    path.write_text(source, encoding="utf-8")


@pytest.fixture
def small_tree(tmp_path: Path) -> Path:
    """Return the three packages with the layers of the core, empty except for permitted exceptions, under the contracts of this project."""
    (tmp_path / "pyproject.toml").write_bytes(PYPROJECT.read_bytes())
    for package in PACKAGES:
        write_module(tmp_path, f"{package}.__init__")
    for layer in re.findall(r"\w+", " ".join(LAYERS["layers"])):
        write_module(tmp_path, f"planner_core.{layer}.__init__")
    for contract in LINTER["contracts"]:
        for name in (*contract.get("source_modules", ()), *contract.get("forbidden_modules", ())):
            if name.partition(".")[0] in PACKAGES:
                write_module(tmp_path, f"{name}.__init__")
        for exception in contract.get("ignore_imports", ()):
            # An exception for a pattern must match an import, too.
            importer, imported = re.sub(r"\*+", "anything", exception).split(" -> ")
            write_module(tmp_path, imported)
            write_module(tmp_path, importer, f"import {imported}\n")
    return tmp_path


def test_import_contracts_hold() -> None:
    finished = lint_imports(ROOT)
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_import_contracts_hold_for_empty_packages(small_tree: Path) -> None:
    finished = lint_imports(small_tree)
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.parametrize(("importer", "imported"), FORBIDDEN)
def test_forbidden_import_is_detected_anywhere_in_a_file(
    small_tree: Path, importer: str, imported: str
) -> None:
    write_module(
        small_tree,
        f"{importer}.deeper.module",
        f"def late():\n    import {imported}\n    return {imported}\n",
    )
    finished = lint_imports(small_tree)
    assert finished.returncode == 1, finished.stdout + finished.stderr
    assert f"{importer}.deeper.module -> {imported}" in finished.stdout
