"""The tables of a plan for CSV and XLSX files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from app.plans.editor.fields import QUEUE_MORE
from app.plans.result_view import facility_lines, structure_lines
from app.plans.stored import StoredVersion
from app.web.csv_files import Cell, Table
from app.web.field_values import text_of
from app.web.forms import FormField
from planner_core.document.model import Queue
from planner_core.wire import JsonObject


def structures_table(version: StoredVersion) -> Table:
    """Return the table of structures, with a line for each."""
    heading = (
        "structure", "role", "need_bytes", "initsize_kib", "size_kib", "initsize_given", "size_given",
        "full_threshold_percent", "preflist", "duplex", "messages", "entries", "elements", "binding",
        "usage_percent_at_backlog", "messages_in_initsize", "messages_in_initsize_with_offload", "smds_bytes_when_full",
    )  # fmt: skip
    rows: list[Sequence[Cell]] = [
        (
            line.cfrm_name, line.role, line.need_bytes, line.initsize_kib, line.size_kib, _yes(line.initsize_given),
            _yes(line.size_given), line.full_threshold, line.preflist, line.duplex, line.messages, line.entries,
            line.elements, line.binding, line.usage_percent, line.holds, line.holds_with_offload, line.smds_bytes,
        )
        for line in structure_lines(version)
    ]  # fmt: skip
    return heading, rows


def facilities_table(version: StoredVersion) -> Table:
    """Return the table of coupling facilities, with a line for each."""
    heading = (
        "coupling_facility", "storage_kib", "structures", "initsize_kib", "size_kib", "occupied_kib", "dumpspace_kib",
        "second_copies_kib", "free_kib", "second_copies_size_kib", "free_at_size_kib",
        "other_structures_kib", "other_structures_size_kib",
    )  # fmt: skip
    return heading, [
        (
            line.name, line.storage_kib, line.structures, line.initsize_kib, line.size_kib, line.occupied_kib, line.dumpspace_kib,
            line.second_copies_kib, line.free_kib, line.second_copies_size_kib, line.free_at_size_kib,
            line.others_kib, line.others_size_kib,
        )
        for line in facility_lines(version)
    ]  # fmt: skip


def queues_table(version: StoredVersion) -> Table:
    """Return the table of queues, with a line for each, and with headings that the editor accepts in pasted text."""
    heading = (
        "structure", "name", "message_bytes", "p95", "max", "backlog", "put_rate_per_s", "outage_minutes",
        "persistent", "selector_reads", "isolation", *(spec.name for spec in QUEUE_MORE),
    )  # fmt: skip
    return heading, _queue_rows(version.document_object["structures"])


def _queue_rows(structures: Iterable[JsonObject]) -> Iterator[Sequence[Cell]]:
    # From the stored text without validating it: a plan can have 32 256 queues, and the text was valid when it was stored.
    for structure in structures:
        for queue in structure["queues"]:
            sizes = queue["message_bytes"]
            spread: tuple[Cell, Cell, Cell] = (
                (_number(sizes["mean"]), sizes["p95"], sizes["max"])
                if isinstance(sizes, dict)
                else (sizes, None, None)
            )
            yield (
                structure["name"], queue["name"], *spread, queue.get("backlog"), _number(queue.get("put_rate_per_s")),
                _number(queue.get("outage_minutes")), _yes(queue.get("persistent", False)),
                _yes(queue.get("selector_reads", False)), queue.get("isolation"),
                *[_more(spec, queue.get(spec.name, _DEFAULTS[spec.name])) for spec in QUEUE_MORE],
            )  # fmt: skip


_DEFAULTS = {spec.name: Queue.model_fields[spec.name].default for spec in QUEUE_MORE}
"""Values of keys that a document stored by an earlier release lacks."""


def _more(spec: FormField, value: object) -> Cell:
    """Return the cell of another field of a queue; rates by queue manager have the format that the editor reads."""
    if isinstance(value, dict):
        return text_of(spec.kind, value)
    if isinstance(value, bool):
        return _yes(value)
    # Decimals are floats in a stored document, and whole ones become integers.
    if spec.kind == "decimal" or not (value is None or isinstance(value, int | str)):
        return _number(value)
    return value


def findings_table(version: StoredVersion) -> Table:
    """Return the table of findings, with a line for each."""
    heading = ("severity", "code", "structure", "message", "acknowledged", "source")
    return heading, [
        (f["severity"], f["code"], f.get("structure"), f["message"], f.get("acknowledged"), f["source"])
        for f in version.result["findings"]
    ]


TABLES = {
    "structures": structures_table,
    "facilities": facilities_table,
    "queues": queues_table,
    "findings": findings_table,
}


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _number(value: object) -> Cell:
    if value is None:
        return None
    number = float(str(value))
    return int(number) if number.is_integer() else number
