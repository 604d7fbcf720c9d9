"""74-4 records in the JSON of the z/OS Data Gatherer, from the rows that the encoder of binary records takes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from spark_jobs.smf import wire
from spark_jobs.smf.encode import Header, Row, pack_row
from spark_jobs.smf.layouts import FieldLayout, layout

SECTION_NAMES = {
    "r744_cf": "R744FLCF",
    "r744_storage": "R744GSRG",
    "r744_qsds": "R744QSDS",
    "r744_sreq": "R744SREQ",
    "r744_scm": "R744MSCM",
}
COUNTS = {
    "r744_cf": "SMF744FN",
    "r744_storage": "SMF744GN",
    "r744_qsds": "SMF744QN",
    "r744_sreq": "SMF744SN",
    "r744_scm": "SMF744MN",
}


def value_of(place: FieldLayout, content: bytes) -> Any:  # noqa: ANN401
    """Return the JSON value of the bytes of a field."""
    match place.type:
        case "char":
            return content.decode("cp037").rstrip()
        case "float":
            found = float(wire.hexadecimal_float(np.frombuffer(content, np.uint8).reshape(1, 8), 0)[0])
            return int(found) if found.is_integer() else found
        case "stck" | "code1":
            return content.hex().upper()
        case "bit1":
            return f"{content[0]:08b}"
        case _:
            return int.from_bytes(content, "big")


def section_of(section_id: str, row: Row) -> dict[str, Any]:
    """Return one section with the fields that cfplan reads."""
    section = layout(section_id)
    packed = bytes(pack_row(section, row, length=section.row_bytes))
    return {
        place.name.upper(): value_of(place, packed[place.offset : place.end]) for place in section.all_fields
    }


def json_record(header: Header, rows: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """Return one record from the arguments of `spark_jobs.smf.encode.rmf_record`."""
    structures = rows.get("r744_structure", [])
    by_section: dict[str, Sequence[Row]] = {
        "r744_cf": rows["r744_cf"],
        "r744_storage": rows.get("r744_storage", []),
        "r744_qsds": [row for row in structures if row.get("policy_size_bytes") is not None],
        "r744_sreq": [row for row in structures if row.get("structure_type") is not None],
        "r744_scm": rows.get("r744_scm", []),
    }
    local = header.written_at + timedelta(minutes=header.utc_offset_minutes)
    end = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=header.end_us)
    length = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=header.interval_us)
    record: dict[str, Any] = {
        "SMF74LEN": 0,
        "SMF74FLG": "01011110",
        "SMF74RTY": 74,
        "SMF74TME": f"{local:%H:%M:%S.%f}"[:-4],
        "SMF74DTE": f"{local:%Y-%m-%d}",
        "SMF74SID": header.system_id,
        "SMF74SSI": "RMF",
        "SMF74STY": 4,
        **{COUNTS[section]: len(found) for section, found in by_section.items()},
        "SMF74PRO": {
            "SMF74MFV": 0,
            "SMF74PRD": "RMF",
            "SMF74INT": f"{length:%H:%M:%S.%f}"[:-3],
            "SMF74LGO": header.utc_offset_minutes * 60_000_000 * 4096,
            "SMF74GIE": f"{end:%Y-%m-%dT%H:%M:%S.%f}",
            "SMF74XNM": rows["r744_cf"][0].get("sysplex") or "",
            "SMF74SNM": rows["r744_cf"][0].get("system_name") or "",
        },
        # A section that cfplan does not read.
        "R744PROC": {"0": {"R744PNUM": 0, "R744PBSY": 17, "R744PTYP": "10000000"}},
    }
    for section, found in by_section.items():
        record[SECTION_NAMES[section]] = {
            str(number): section_of(section, row) for number, row in enumerate(found)
        }
    for each in record["R744FLCF"].values():
        each["R744FTAP"] = {"0": "CIB", "1": "CS5"}
    return record


def document(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the records by index."""
    return {str(number): record for number, record in enumerate(records)}


def json_bytes(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Return a document as the service would send it."""
    return json.dumps(document(records), separators=(",", ":")).encode()
