"""Generate the tables of docs/reference/usage-history.md and its part from the schema: `python -m tests.spark_jobs.history.page`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from spark_jobs.history.schema import (
    FILE_COLUMNS,
    IDENTITY,
    NATURAL_KEYS,
    PROVENANCE,
    STORAGE_COLUMNS,
    TABLES,
    Column,
)

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "usage-history.md"
PAGES = (PAGE, *sorted(PAGE.with_suffix("").glob("*.md")))
UNITS = {
    "_bytes": "bytes",
    "_us": "microseconds",
    "_pct": "percent",
    "entries": "entries",
    "elements": "elements",
    "blocks": "blocks",
    "puts": "messages",
    "gets": "messages",
    "messages": "messages",
    "depth": "messages",
    "pages": "4 KiB pages",
    "buffers": "buffers",
}


def unit(column: Column) -> str:
    """Return the unit in the name of a column; empty for names, times and plain counts."""
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return ""
    for part, named in UNITS.items():
        if column.name.endswith(part) if part.startswith("_") else part in column.name.split("_"):
            return named
    return ""


def kind(column: Column) -> str:
    """Return the type in words."""
    names = {"timestamp[us, tz=UTC]": "time", "string": "text", "date32[day]": "day", "bool": "yes or no"}
    return names.get(str(column.type), str(column.type).replace("double", "float64"))


def column_rows(columns: Iterable[Column]) -> Iterator[str]:
    """Return one line for each column."""
    yield "| column | type | unit | meaning | taken from |"
    yield "|---|---|---|---|---|"
    for column in columns:
        meaning = column.meaning.replace("|", "\\|")
        yield f"| `{column.name}` | {kind(column)} | {unit(column)} | {meaning} | {column.sources} |"


def key_rows() -> Iterator[str]:
    """Return one line for each natural key."""
    yield "| rows from | same observation if these are the same | why |"
    yield "|---|---|---|"
    for key in NATURAL_KEYS:
        columns = ", ".join(f"`{name}`" for name in key.columns)
        yield f"| {key.family} | {columns} | {key.why} |"


def blocks() -> dict[str, str]:
    """Return the generated parts of the page by name."""
    shared = {column.name for column in (*PROVENANCE, *IDENTITY)}
    found = {
        "every table": [*column_rows((*STORAGE_COLUMNS, *PROVENANCE, *IDENTITY))],
        "files": [*column_rows(FILE_COLUMNS)],
        "natural keys": [*key_rows()],
    }
    for table in TABLES.values():
        own = [column for column in table.columns if column.name not in shared]
        found[table.name] = [table.meaning, "", *column_rows(own)]
    return {name: "\n".join(lines) for name, lines in found.items()}


def written() -> dict[Path, str]:
    """Return each page with its generated parts replaced."""
    made = blocks()

    def block(match: re.Match[str]) -> str:
        return f"{match[1]}\n{made.pop(match[2])}\n{match[4]}"

    pattern = re.compile(r"(<!-- from the schema: ([a-z_ ]+) -->)\n(.*?)(<!-- end -->)", re.DOTALL)
    texts = {page: pattern.sub(block, page.read_text("utf-8")) for page in PAGES}
    if made:
        message = f"no page has a place for {sorted(made)}"
        raise ValueError(message)
    return texts


if __name__ == "__main__":
    for page, text in written().items():
        page.write_text(text, "utf-8")
