"""Every section of docs/explanation/assumptions.md that findings, tables and explanations cite exists."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest

from planner_core.findings import catalogue
from planner_core.tables import all_tables
from tests.docs.pages import ROOT, headings, section

PAGE = ROOT / "docs/explanation/assumptions.md"
DOCUMENT = "cfplan, docs/explanation/assumptions.md"
PROMISED = (
    "The element model",
    "Two pools",
    "How full at the planned backlog",
    "CFCC levels without figures",
    "CFCC level of a structure",
    "Control storage for SIZE",
    "Minimum sizes",
    "Entries and elements of CSQ_ADMIN",
    "Separate costs of entries and elements",
    "Structure usage",
    "Observed duplexing",
    "Message size distributions",
    "SMDS space",
    "Db2 LOB space",
    "Fitted curves",
    "Cluster decisions",
    "Waiting cluster messages",
    "Cluster load",
    "Acknowledged findings",
    "Queue depth events",
    "Reading depth events",
    "Placement of structures",
    "Lost connections",
    "Queue depths",
    "Scenarios",
    "Ranges of CFRM keywords",
    "Columns of IXCMIAPU input",
    "Texts that are checked",
    "Merging a plan into a policy",
    "What runs today",
    "When a change takes effect",
    "An outage in time",
    "Threshold advice",
    "Backup and recovery",
    "The SMDS job",
)


def cited_by_findings() -> Iterator[str]:
    for kind in catalogue().values():
        if kind.source.document == DOCUMENT:
            yield kind.source.section


def cited_by_tables() -> Iterator[str]:
    for table in all_tables():
        if table.source.document == DOCUMENT:
            yield table.source.section
        # A cell "project" names the source, the cell after it the place; a remark may follow a colon.
        for row in table.rows:
            for key, place in pairwise(row):
                if key == "project":
                    yield str(place).partition(":")[0]


def cited_by_code() -> Iterator[str]:
    for file in sorted((ROOT / "planner_core").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "attr", getattr(node.func, "id", "")) == "source"
            ):
                words = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
                if words[:1] == ["project"] and len(words) > 1:
                    yield str(words[1])


@pytest.mark.parametrize("cited", [cited_by_findings, cited_by_tables, cited_by_code])
def test_every_cited_section_exists(cited: Callable[[], Iterator[str]]) -> None:
    sections = set(cited())
    assert sections
    assert sections <= set(headings(PAGE))


def test_page_has_its_announced_sections() -> None:
    assert tuple(headings(PAGE)) == PROMISED


@pytest.mark.parametrize("heading", PROMISED)
def test_every_assumption_states_its_basis_error_and_check(heading: str) -> None:
    text = section(PAGE, heading)
    for part in ("**Assumed.**", "**Why.**", "**Based on.**", "**Possible error.**", "**Check.**"):
        assert text.count(part) == 1, part
