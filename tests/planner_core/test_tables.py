"""Published tables are loaded strictly and have sources, and none of their numbers is in the code."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import planner_core
from planner_core import tables
from planner_core.limits import limit
from planner_core.provenance import Basis
from planner_core.tables import TABLE_IDS, PublishedTable, TableError

CORE = Path(planner_core.__file__).parent

GOOD: dict[str, Any] = {
    "id": "good",
    "title": "A table",
    "about": "For a test.",
    "source": "mq_planning",
    "section": "Table 9",
    "basis": "published",
    "columns": [
        {"name": "a", "title": "A", "unit": ""},
        {"name": "b", "title": "B", "unit": "KB"},
    ],
    "rows": [[1, 2], [3, Decimal("4.5")]],
}
CONSTANT: dict[str, Any] = {
    **GOOD,
    "kind": "constants",
    "columns": [
        {"name": name, "title": name, "unit": ""}
        for name in ("name", "value", "unit", "basis", "source", "section")
    ],
    "rows": [["messages", 5, "messages", "published", "mq_planning", "Table 9"]],
}


def load(monkeypatch: pytest.MonkeyPatch, file: dict[str, Any]) -> PublishedTable:
    """Load a file as the core does, without its caches."""
    read = tables._read
    monkeypatch.setattr(tables, "_read", lambda name: file if name == "good" else read(name))
    found: PublishedTable = tables.table.__wrapped__("good")
    return found


def changed(file: dict[str, Any], **values: Any) -> dict[str, Any]:  # noqa: ANN401
    return {**copy.deepcopy(file), **values}


def test_valid_table_file_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    found = load(monkeypatch, GOOD)
    assert found.rows == ((1, 2), (3, Decimal("4.5")))
    assert found.records()[1] == {"a": 3, "b": Decimal("4.5")}
    assert found.basis is Basis.PUBLISHED
    assert str(found.source).startswith("IBM MQ 9.4, Planning your coupling facility")
    assert found.note(1) is None


@pytest.mark.parametrize(
    "change",
    [
        {"colour": "red"},
        {"columns": [{"name": "a", "title": "A", "unit": "", "kind": "x"}]},
        {"columns": [{"name": "a", "title": "A"}]},
        {"rows": [[1, 2.5]]},
        {"rows": [[1, True], [None, 2]]},
        {"rows": "none"},
        {"title": 5},
        {"kind": "chart"},
        {"notes": [{"row": 1}]},
        {"notes": [{"row": "1", "text": "x"}]},
    ],
    ids=str,
)
def test_table_file_with_unknown_keys_or_types_is_refused(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        load(monkeypatch, changed(GOOD, **change))


@pytest.mark.parametrize("key", sorted(GOOD))
def test_table_file_without_a_required_key_is_refused(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    with pytest.raises(ValidationError):
        load(monkeypatch, {name: value for name, value in GOOD.items() if name != key})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"rows": [[1, 2], [3]]}, "does not have 2 cells"),
        ({"rows": [[1, 2, 3]]}, "does not have 2 cells"),
        ({"rows": []}, "does not have 2 cells"),
        ({"source": "hearsay"}, "no source 'hearsay'"),
        ({"id": "bad"}, "has the id 'bad'"),
        ({"basis": "guessed"}, "input_value='guessed'"),
    ],
)
def test_table_file_with_inconsistent_contents_is_refused(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        load(monkeypatch, changed(GOOD, **change))


@pytest.mark.parametrize(
    "rows",
    [
        [["messages", Decimal("5.5"), "messages", "published", "mq_planning", ""]],
        [["messages", "5", "messages", "published", "mq_planning", ""]],
        [CONSTANT["rows"][0], CONSTANT["rows"][0]],
        [["messages", 5, "messages", "published", "hearsay", ""]],
        [["messages", 5, "messages", "guessed", "mq_planning", ""]],
    ],
)
def test_constant_is_a_unique_whole_number_with_a_source(
    monkeypatch: pytest.MonkeyPatch, rows: list[list[Any]]
) -> None:
    for file, is_good in ((CONSTANT, True), (changed(CONSTANT, rows=rows), False)):
        loaded = load(monkeypatch, file)
        monkeypatch.setattr(tables, "table", lambda _, loaded=loaded: loaded)
        if is_good:
            assert tables.constants.__wrapped__("good")["messages"].value == 5
        else:
            with pytest.raises(ValueError, match=r"whole number|hearsay|guessed"):
                tables.constants.__wrapped__("good")
        monkeypatch.undo()


def test_constants_of_a_table_of_figures_are_refused() -> None:
    with pytest.raises(TableError, match="is not a table of constants"):
        tables.constants("admin_structure_cfcc14")


def test_duplicate_source_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"key": "x", "document": "X", "url": "https://example.com"}
    monkeypatch.setattr(tables, "_read", lambda _: {"sources": [entry, entry]})
    with pytest.raises(TableError, match="twice"):
        tables._sources.__wrapped__()


def test_text_that_is_not_an_exact_number_is_refused() -> None:
    assert tables.exact(Decimal("6.089")) == Fraction(6089, 1000)
    with pytest.raises(TableError, match="'6' is not a number"):
        tables.exact("6")


def test_every_data_file_is_listed_once() -> None:
    files = {path.stem for path in (CORE / "tables").glob("*.toml")} - {"sources"}
    assert files == set(TABLE_IDS)
    assert len(TABLE_IDS) == len(set(TABLE_IDS))
    assert [table.id for table in tables.all_tables()] == list(TABLE_IDS)


@pytest.mark.parametrize("table_id", TABLE_IDS)
def test_tables_have_known_sources_and_named_columns(table_id: str) -> None:
    table = tables.table(table_id)
    assert table.source.document
    assert table.source.url.startswith(("https://", "http://")) or table.source.document.startswith(
        "cfplan, "
    )
    assert table.title
    assert table.about.endswith(".")
    assert len({column.name for column in table.columns}) == len(table.columns)
    assert len({str(row[:2]) for row in table.rows}) == len(table.rows)
    firsts = {row[0] for row in table.rows}
    for note in table.notes:
        assert note.text.endswith(".")
        assert note.row == 0 or note.row in firsts


def test_numbers_chosen_by_the_project_are_not_marked_as_published() -> None:
    for table in tables.all_tables():
        own = table.source.document.startswith("cfplan, ")
        assert not (own and table.basis is Basis.PUBLISHED), table.id
        if table.kind == "constants":
            for constant in tables.constants(table.id).values():
                assert not (
                    constant.source.document.startswith("cfplan, ") and constant.basis is Basis.PUBLISHED
                )


@pytest.mark.parametrize("table_id", [table.id for table in tables.all_tables()])
def test_rows_name_existing_bases_and_sources(table_id: str) -> None:
    for row in tables.table(table_id).records():
        for name, cell in row.items():
            if name.endswith("basis"):
                assert Basis(str(cell)) is not Basis.GIVEN
            elif name == "source" or name.endswith("_source"):
                if cell:
                    assert tables.source(str(cell)).document
            elif isinstance(cell, int | Decimal):
                assert cell >= 0


def test_public_sources_have_addresses() -> None:
    for entry in tables._sources().values():
        assert entry.url.startswith(("https://", "http://")) or entry.document.startswith("cfplan, ")


def test_limit_of_a_table_is_returned_by_name() -> None:
    assert limit("queue_managers_per_group") == 32
    with pytest.raises(KeyError):
        limit("queue_managers")


# ---- no published number in the code ------------------------------------------------------------------------

UNITS = {1024, 1024**2, 1024**3, 1024**4, 4096}
ORDINARY = {99, 100, 256, 500, 1000}
"""Published numbers that the code uses for other purposes: percentages, cache sizes, limits of the document."""
SMALLEST_DISTINCTIVE = 85
"""Smaller numbers are counts, percentages and levels with many meanings."""


OF_THEIR_OWN = {
    ("bounds.py", 10_000): "the most keys of one object: ours",
    ("texts/cfrm/text.py", 50_000): "the most problems of a text: ours",
    ("clusters/file.py", 100_000): "the most puts of a question: ours",
    ("clusters/messages.py", 100_000): "the most messages of a browse: ours",
    ("clusters/messages.py", 10_000): "microseconds of a hundredth of a second",
    ("depth_events/file.py", 10_000): "the most steps of a timeline: ours",
    ("depth_events/file.py", 50_000): "the most rows of an answer: ours",
    ("depth_events/file.py", 9_999): "reason codes have four digits",
    ("depth_events/measured.py", 10_000): "the most sets that are taken: ours",
    ("depth_events/readers/code_pages.py", 1_164): "the name of a code page",
    ("depth_events/readers/pcf.py", 10_000): "microseconds of a hundredth of a second",
    ("depth_events/reading.py", 50_000): "the most events that are read at once: ours",
    ("texts/structure_rows.py", 10_000): "the most rows of a table: ours",
    ("texts/zosmf/workflow.py", 10_000): "the most lines of a job: of the schema of workflows",
    ("texts/sizing_answers.py", 10_000): "the most rows of a file: ours",
    ("whatif/changes.py", 512): "the most structures of a scenario: ours, more than a group has",
    ("whatif/growth.py", 50_000): "the most queues of a question with depths: ours",
    ("whatif/survival.py", 90): "an interval, in percent",
    ("whatif/survival_answer.py", 90): "a probability of survival, in percent",
}
"""Numbers that are also in a table but have another meaning here."""


def numbers_in(source: str) -> Iterator[tuple[int, int | float]]:
    """Return every number in Python code, with its line."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, int | float)
            and not isinstance(node.value, bool)
        ):
            yield node.lineno, node.value


def published_numbers() -> set[Fraction]:
    cells = (cell for table in tables.all_tables() for row in table.rows for cell in row)
    numbers = {Fraction(cell) for cell in cells if isinstance(cell, int | Decimal)}
    corrected = {note.corrected for table in tables.all_tables() for note in table.notes}
    return numbers | {Fraction(number) for number in corrected if number is not None}


def is_distinctive(number: Fraction) -> bool:
    """Return whether a number is so unusual that it must be the published one."""
    return number.denominator != 1 or (number >= SMALLEST_DISTINCTIVE and number not in ORDINARY)


MODULES = sorted(CORE.rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_code_contains_no_number_of_a_published_table(module: Path) -> None:
    forbidden = {number for number in published_numbers() if is_distinctive(number)}
    path = module.relative_to(CORE).as_posix()
    found = [
        (line, number)
        for line, number in numbers_in(module.read_text(encoding="utf-8"))
        if Fraction(number) in forbidden and not (module.name == "units.py" and number in UNITS)
    ]
    assert [item for item in found if (path, item[1]) not in OF_THEIR_OWN] == []
    assert {number for of, number in OF_THEIR_OWN if of == path} <= {number for _, number in found}
    assert len([item for item in found if (path, item[1]) in OF_THEIR_OWN]) == sum(
        of == path for of, _ in OF_THEIR_OWN
    ), "an exception applies to one place"


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_only_the_units_module_contains_unit_factors(module: Path) -> None:
    found = [item for item in numbers_in(module.read_text(encoding="utf-8")) if item[1] in UNITS]
    assert bool(found) == (module.name == "units.py"), found


@pytest.mark.parametrize("number", [372, 7976, 7936, 20480, 50000, 41984, 64512, 768, Decimal("1.43")])
def test_check_finds_a_published_number_in_code(number: int | Decimal) -> None:
    ((_, seen),) = numbers_in(f"limit = {number}")
    assert Fraction(str(seen)) in {found for found in published_numbers() if is_distinctive(found)}
