"""Who may import whom holds, and the contracts in pyproject.toml would notice if it did not."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.packaging.pins import ROOT

PYPROJECT = ROOT / "pyproject.toml"
PACKAGES = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["root_packages"]

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


@pytest.fixture
def small_tree(tmp_path: Path) -> Path:
    """The three packages, empty, under the contracts of this project."""
    (tmp_path / "pyproject.toml").write_bytes(PYPROJECT.read_bytes())
    for package in PACKAGES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    return tmp_path


def test_the_contracts_hold() -> None:
    finished = lint_imports(ROOT)
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_the_contracts_hold_for_empty_packages(small_tree: Path) -> None:
    finished = lint_imports(small_tree)
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.parametrize(("importer", "imported"), FORBIDDEN)
def test_a_forbidden_import_is_noticed_wherever_it_stands(
    small_tree: Path, importer: str, imported: str
) -> None:
    module = small_tree / importer / "deeper" / "module.py"
    module.parent.mkdir()
    module.with_name("__init__.py").touch()
    module.write_text(f"def late():\n    import {imported}\n    return {imported}\n", encoding="utf-8")
    finished = lint_imports(small_tree)
    assert finished.returncode == 1, finished.stdout + finished.stderr
    assert f"{importer}.deeper.module -> {imported}" in finished.stdout
