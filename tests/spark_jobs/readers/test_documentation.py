"""The documentation of other inputs matches the readers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from planner_core.inputs import KINDS, detect
from spark_jobs.readers.template import NOT_TAKEN, REQUIRED
from tests.spark_jobs.readers.support import read_text

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "other-inputs.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```csv\n(.*?)```", TEXT, re.DOTALL)


def test_every_kind_is_in_the_documented_table() -> None:
    for kind in KINDS:
        assert re.search(rf"^\| `{kind}` \|", TEXT, re.MULTILINE), kind


def test_columns_missing_in_the_template_are_documented() -> None:
    listed = TEXT[TEXT.index("except those that follow") : TEXT.index("Other columns are left out")]
    assert set(re.findall(r"`(\w+)`", listed)) == NOT_TAKEN
    assert " and ".join(f"`{name}`" for name in REQUIRED[1:]) in TEXT


@pytest.mark.parametrize("number", range(2))
def test_documented_examples_are_read_without_problems(tmp_path: Path, number: int) -> None:
    example = EXAMPLES[number]
    assert detect(example.encode()).kind == "template"
    result = read_text(tmp_path, example, "template")
    assert (result.problem_count, result.asks, result.notes) == (0, (), ())
    assert sum(table.num_rows for table in result.tables.values()) == 1


def test_every_format_states_how_well_it_is_known() -> None:
    sections = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
    for section in sections:
        title = section.split("\n", 1)[0]
        if title in {"Time, zone, group", "The CSV template", "The QSG map"}:
            continue
        assert re.search(r"\*(seen|published|from memory)\*", section, re.IGNORECASE), title
