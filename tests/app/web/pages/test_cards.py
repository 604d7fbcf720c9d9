"""Lists on narrow screens: each row is a card, so every value needs the heading of its column."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.web import rendering

TEMPLATES = Path(rendering.__file__).parents[2] / "templates"
TABLE = re.compile(r'<table class="(?P<names>[^"]*)"[^>]*>(?P<body>.*?)</table>', re.DOTALL)
TABLE_HEAD = re.compile(r'<table(?: class="(?P<names>[^"]*)")?[^>]*>.*?</thead>', re.DOTALL)
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
        # A row with a cell over several columns is a sentence about the rows before it, and empty cells are not shown.
        rows = [row for row in re.findall(r"<tr.*?</tr>", body, re.DOTALL) if "colspan=" not in row]
        for cell in re.findall(r"<td[^>]*>(?!</td>)", "".join(rows)):
            names = set(re.findall(r'class="([^"]*)"', cell)[0].split()) if "class=" in cell else set()
            assert "data-label=" in cell or names & WITHOUT_HEADING, cell


@pytest.mark.parametrize(
    ("template", "row"),
    [
        ("usage/structure.html", r"{% for item in queues %}.*?</tr>"),
        ("usage/_measured.html", r"{% macro queue_cells.*?{% endmacro %}"),
    ],
)
def test_hours_of_two_peaks_have_different_headings(template: str, row: str) -> None:
    (found,) = re.findall(row, (TEMPLATES / template).read_text(encoding="utf-8"), re.DOTALL)
    labels = re.findall(r'data-label="([^"]*)"', found)
    assert len([label for label in labels if label.endswith("UTC")]) == 2
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize("name", ["plans/queues", "fits/levels", "uploads/list", "uploads/map"])
def test_table_becomes_cards_on_narrow_screens(name: str) -> None:
    assert lists_in(TEMPLATES / f"{name}.html")


MANY_COLUMNS = 5
READ_DOWN_THE_COLUMNS = {
    "forecasts/structure.html": 1,
    "plans/_panel.html": 1,
    "plans/advice.html": 1,
    "sheet/sheet.html": 1,
    "usage/structure.html": 1,
    "whatif/filling.html": 1,
}
"""Tables of many columns that stay tables: sequences in time, rows that span others, and values compared in columns."""


def test_tables_with_many_columns_become_cards_on_narrow_screens() -> None:
    scrolling = dict[str, int]()
    for template in sorted(TEMPLATES.rglob("*.html")):
        for table in TABLE_HEAD.finditer(template.read_text(encoding="utf-8")):
            is_wide = table[0].count('<th scope="col"') >= MANY_COLUMNS
            if is_wide and "list" not in (table["names"] or "").split():
                name = template.relative_to(TEMPLATES).as_posix()
                scrolling[name] = scrolling.get(name, 0) + 1
    assert scrolling == READ_DOWN_THE_COLUMNS
