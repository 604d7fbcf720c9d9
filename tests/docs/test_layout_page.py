"""The layout page names every folder."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.docs.pages import ROOT

PACKAGES = ("planner_core", "app", "spark_jobs")
MADE = {"data", "build", "__pycache__"}
"""Folders that are not in the repository."""
PAGE = ROOT / "docs" / "contributing" / "layout.md"


def drawing() -> str:
    (found,) = re.findall(r"```\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return str(found)


def folders() -> Iterator[str]:
    """Return the folders at the top and those of the packages."""
    for folder in (ROOT, *(ROOT / package for package in PACKAGES)):
        for path in folder.iterdir():
            if path.is_dir() and path.name not in MADE and not re.search(r"^\.|\.egg-info$", path.name):
                yield path.name


def named_folders() -> set[str]:
    return set(re.findall(r"([\w-]+)/", drawing()))


def test_every_folder_is_named_on_the_layout_page() -> None:
    assert set(folders()) - named_folders() == set()


def test_every_folder_named_on_the_layout_page_exists() -> None:
    inside = {path.name for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_dir()}
    at_the_top = {path.name for folder in (".", "docs", "tests") for path in (ROOT / folder).iterdir()}
    assert named_folders() - inside - at_the_top == set()


def test_every_package_describes_its_contents_in_a_sentence() -> None:
    for package in PACKAGES:
        for init in (ROOT / package).rglob("__init__.py"):
            assert init.read_text(encoding="utf-8").startswith('"""'), init
