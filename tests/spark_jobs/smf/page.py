"""Generate the tables of docs/reference/smf-records.md and its parts from the layouts: `python -m tests.spark_jobs.smf.page`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from spark_jobs.smf.layouts import LAYOUT_IDS, FieldLayout, Layout, layout
from spark_jobs.smf.tables import COMMON, INTERVAL_START_LOCAL

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "smf-records.md"
PAGES = (PAGE, *sorted(PAGE.with_suffix("").glob("*.md")))
TYPES = {
    "timestamp[us, tz=UTC]": "time, UTC",
    "timestamp[us]": "time, local",
    "string": "text",
}


def common_rows() -> Iterator[str]:
    """Return the columns of every table."""
    yield "| column | type | meaning |"
    yield "|---|---|---|"
    for column in (*COMMON, INTERVAL_START_LOCAL):
        yield f"| `{column.name}` | {TYPES.get(str(column.type), str(column.type))} | {column.meaning} |"


def section_rows(section: Layout) -> Iterator[str]:
    """Return the facts known about a section, and one line for each field."""
    yield f"{section.about}"
    yield ""
    yield f"Records {' and '.join(section.records)}, {_place(section)}. Lengths: {', '.join(map(str, section.known_lengths))} bytes."
    yield f"Source: {section.source}."
    yield ""
    yield "| column | unit | field | offset | type | meaning | known |"
    yield "|---|---|---|---|---|---|---|"
    for field in section.fields:
        yield _field_row(section, field)
    if section.matrix is not None:
        matrix = section.matrix
        cells = len(matrix.fields())
        measures = ", ".join(f"`{measure.column}`" for measure in matrix.measures)
        yield (
            f"| `{matrix.column}` | | `{matrix.name}` | {matrix.offset} | u4 | {cells} columns: verb {_words(matrix.verbs)}; "
            f"kind {_words(matrix.kinds)}; measure {measures}; {matrix.verb_stride} bytes a verb, {matrix.kind_stride} a kind "
            f"| {matrix.confidence} |"
        )


def _place(section: Layout) -> str:
    if isinstance(section.triplet, dict):
        numbers = set(section.triplet.values())
        if len(numbers) == 1:
            return f"triplet {numbers.pop()}"
        return " and ".join(f"triplet {number} of {record}" for record, number in section.triplet.items())
    return "RMF's product section" if section.triplet < 0 else f"triplet {section.triplet}"


def _words(names: dict[str, str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _field_row(section: Layout, field: FieldLayout) -> str:
    offset = field.offset + (section.slots.first if section.slots else 0)
    meaning = field.meaning
    if field.values:
        meaning += ": " + ", ".join(field.values.values())
    kind = f"{field.type}{field.length or ''}" + (f" {field.mask:X}" if field.mask else "")
    if field.scale != 1:
        kind += f" x {field.scale}"
    known = field.confidence or section.confidence
    return f"| `{field.column}` | {field.unit} | {field.name.upper()} | {offset} | {kind} | {meaning} | {known} |"


def blocks() -> dict[str, str]:
    """Return the text of each block in the page by name."""
    made = {"common columns": "\n".join(common_rows())}
    for layout_id in LAYOUT_IDS:
        made[layout_id] = "\n".join(section_rows(layout(layout_id)))
    return made


def written() -> dict[Path, str]:
    """Return each page with its tables replaced."""
    made = blocks()

    def block(found: re.Match[str]) -> str:
        return f"{found[1]}\n{made.pop(found[2])}\n{found[4]}"

    pattern = re.compile(r"(<!-- from the layouts: ([a-z0-9_ ]+) -->)\n(.*?)(<!-- end -->)", re.DOTALL)
    texts = {page: pattern.sub(block, page.read_text("utf-8")) for page in PAGES}
    if made:
        message = f"no page has a place for {sorted(made)}"
        raise ValueError(message)
    return texts


if __name__ == "__main__":
    for page, text in written().items():
        page.write_text(text, "utf-8")
