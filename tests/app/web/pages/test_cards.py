"""Lists on narrow screens: each row is a card, so every value needs the heading of its column."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.web import rendering

TEMPLATES = Path(rendering.__file__).parents[2] / "templates"
TABLE = re.compile(r'<table class="(?P<names>[^"]*)"[^>]*>(?P<body>.*?)</table>', re.DOTALL)
WITHOUT_HEADING = {"first", "tick", "acts"}
"""Classes of cells whose contents need no heading: the name of the row, its box, and its buttons."""


def lists_in(template: Path) -> list[str]:
    found = TABLE.finditer(template.read_text(encoding="utf-8"))
    return [table["body"] for table in found if "list" in table["names"].split()]


@pytest.mark.parametrize(
    "template", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: str(path.relative_to(TEMPLATES))
)
def test_every_value_of_a_list_has_the_heading_of_its_column(template: Path) -> None:
    for body in lists_in(template):
        for cell in re.findall(r"<td[^>]*>", body):
            names = set(re.findall(r'class="([^"]*)"', cell)[0].split()) if "class=" in cell else set()
            assert "data-label=" in cell or names & WITHOUT_HEADING, cell


@pytest.mark.parametrize("name", ["plans/queues", "fits/levels", "uploads/list", "uploads/map"])
def test_table_becomes_cards_on_narrow_screens(name: str) -> None:
    assert lists_in(TEMPLATES / f"{name}.html")
