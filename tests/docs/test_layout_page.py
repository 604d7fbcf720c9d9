"""The page on the layout knows every part of the house."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.docs.pages import ROOT

PACKAGES = ("planner_core", "app")
"""Every module and folder of these is named; of all else, the folder at the top."""
MADE = {"data", "build", "__pycache__"}
"""Folders that are not in the repository."""
PAGE = ROOT / "docs" / "contributing" / "layout.md"


def drawing() -> str:
    (found,) = re.findall(r"```\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return str(found)


def parts() -> Iterator[str]:
    """Folders at the top, and what lies directly in the packages."""
    for folder in (ROOT, *(ROOT / package for package in PACKAGES)):
        for path in folder.iterdir():
            if path.is_dir() and path.name not in MADE and not re.search(r"^\.|\.egg-info$", path.name):
                yield f"{path.name}/"
            elif folder is not ROOT and path.suffix == ".py" and path.name != "__init__.py":
                yield path.name


def test_every_folder_and_module_is_named_on_the_layout_page() -> None:
    named = set(re.findall(r"\w+\.py|\w+/", drawing()))
    assert set(parts()) - named == set()


def test_nothing_is_named_on_the_layout_page_that_is_not_there() -> None:
    for name in re.findall(r"(?<![\w/])[\w/]+\.py", drawing()):
        assert list(ROOT.glob(f"*/**/{name}")), name
