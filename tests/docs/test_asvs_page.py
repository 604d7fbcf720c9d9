"""The table of ASVS requirements is complete, counts correctly, and names tests that exist."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from typing import NamedTuple, get_args

import pytest

from app.settings import AuthenticationMethod
from tests.docs.pages import ROOT, parts

PAGE = ROOT / "docs" / "operations" / "asvs.md"
LEVELS = """
    1.1 22 | 1.2 111112222 | 1.3 11222222222 | 1.4 222 | 1.5 12
    2.1 122 | 2.2 112 | 2.3 1222 | 2.4 2
    3.2 11 | 3.3 1222 | 3.4 112222 | 3.5 11122 | 3.7 22
    4.1 122 | 4.2 2 | 4.3 22 | 4.4 1222
    5.1 2 | 5.2 112 | 5.3 11 | 5.4 222
    6.1 122 | 6.2 111111112222 | 6.3 1122 | 6.4 1122 | 6.5 22222 | 6.6 222 | 6.8 2222
    7.1 222 | 7.2 1111 | 7.3 22 | 7.4 11222 | 7.5 22 | 7.6 22
    8.1 12 | 8.2 112 | 8.3 1 | 8.4 2
    9.1 111 | 9.2 1222
    10.1 22 | 10.2 22 | 10.3 2222 | 10.4 11111222222 | 10.5 22222 | 10.6 22 | 10.7 222
    11.1 22 | 11.2 222 | 11.3 112 | 11.4 1222 | 11.5 2 | 11.6 2
    12.1 122 | 12.2 11 | 12.3 2222
    13.1 2 | 13.2 22222 | 13.3 22 | 13.4 12222
    14.1 22 | 14.2 1222 | 14.3 122
    15.1 122 | 15.2 122 | 15.3 1222222
    16.1 2 | 16.2 22222 | 16.3 2222 | 16.4 222 | 16.5 222
    17.1 2 | 17.2 2222 | 17.3 22
"""
"""The levels of the items of each section, entered from the published list; items of level 3 are left out at the end of a
section, which is where all of them are."""
STATES = ("met", "not applicable", "not met")
_ROW = re.compile(
    r"^\| (\d+\.\d+\.\d+) \| (\d) \| (.+?) \| (met|not applicable|not met) \| (.*) \|$", re.MULTILINE
)


class Row(NamedTuple):
    """An item of the table."""

    item: str
    level: str
    requirement: str
    state: str
    evidence: str


def rows() -> list[Row]:
    return [Row(*found) for part in parts(PAGE) for found in _ROW.findall(part.read_text(encoding="utf-8"))]


def published() -> dict[str, str]:
    """Return the levels of all items of level 1 and 2."""
    found: dict[str, str] = {}
    for section in LEVELS.replace("\n", "|").split("|"):
        if section.strip():
            number, levels = section.split()
            found |= {f"{number}.{at}": level for at, level in enumerate(levels, 1)}
    return found


def test_table_has_every_item_of_level_1_and_2_once() -> None:
    assert len(published()) == 253
    assert Counter(row.item for row in rows()) == Counter(list(published()))
    assert {row.item: row.level for row in rows()} == published()


def test_no_line_of_the_table_is_of_another_form() -> None:
    lines = [line for part in parts(PAGE) for line in part.read_text(encoding="utf-8").splitlines()]
    items = [line for line in lines if re.match(r"\| \d", line)]
    assert len(items) == len(rows())


@cache
def names_in(file: str) -> set[str]:
    """Return the names of the tests in a file below tests/."""
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("row", [row for row in rows() if row.state == "met"], ids=lambda row: row.item)
def test_met_item_names_tests_that_exist(row: Row) -> None:
    named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", row.evidence)
    assert named
    assert row.evidence == ", ".join(f"`{file}::{name}`" for file, name in named)
    missing = [
        (file, name)
        for file, name in named
        if not (ROOT / "tests" / file).exists() or name not in names_in(file)
    ]
    assert missing == []


@pytest.mark.parametrize("row", [row for row in rows() if row.state != "met"], ids=lambda row: row.item)
def test_other_item_has_a_reason(row: Row) -> None:
    same = re.fullmatch(r"See (\d+\.\d+\.\d+)\.", row.evidence)
    if same:
        (other,) = [each for each in rows() if each.item == same[1]]
        assert other.state == row.state
        assert not other.evidence.startswith("See ")
    else:
        assert row.evidence.endswith(".")
        assert len(row.evidence.split()) >= 3


def test_counts_and_the_list_of_items_that_are_not_met_match_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    counts = {
        chapter: tuple(map(int, numbers))
        for chapter, *numbers in re.findall(
            r"^\| \[?(V\d+|all)\b.*? \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE
        )
    }
    found = Counter((f"V{row.item.partition('.')[0]}", row.state) for row in rows())
    chapters = {f"V{number}" for number in range(1, 18)}
    assert counts == {
        **{chapter: tuple(found[chapter, state] for state in STATES) for chapter in chapters},
        "all": tuple(sum(found[chapter, state] for chapter in chapters) for state in STATES),
    }
    listed = re.findall(r"^- \*\*([\d.]+)\*\*", text, re.MULTILINE)
    assert listed == [row.item for row in rows_in_order() if row.state == "not met"]


def rows_in_order() -> list[Row]:
    return sorted(rows(), key=lambda row: tuple(map(int, row.item.split("."))))


def test_every_way_to_sign_in_is_compared() -> None:
    page = (ROOT / "docs" / "how-to" / "set-up-accounts.md").read_text(encoding="utf-8")
    table = page.partition("## Compare the ways to sign in\n")[2].partition("\n## ")[0]
    compared = re.findall(r"^\| `(\w+)`", table, re.MULTILINE)
    assert compared[1:] == list(get_args(AuthenticationMethod))
    assert "API tokens" in table
