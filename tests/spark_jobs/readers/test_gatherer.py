"""74-4 records in JSON have the same rows as the same records in binary form."""

from __future__ import annotations

import copy
import gzip
import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from planner_core.inputs import detect
from spark_jobs.readers import gatherer
from spark_jobs.readers.gatherer import CHUNK, PACKERS, SECTIONS, converted, fields_of
from spark_jobs.readers.result import NotReadable
from spark_jobs.smf import __main__ as command
from spark_jobs.smf.decode import decode_bytes
from spark_jobs.smf.encode import Framing, Header, dump, rmf_record
from spark_jobs.smf.layouts import layout
from spark_jobs.smf.results import RangeResult
from tests.spark_jobs.smf.as_json import json_bytes, json_record
from tests.spark_jobs.smf.made import RowMaker, header, rows_of

TABLES = ("r744_structure", "r744_storage", "r744_scm", "r744_cf")
PLAIN = Framing(block_bytes=None)

# ---- names and types, copied from IBM SMF Explorer, SMF 74 subtype 4 -------------------------------------------------

PUBLISHED = {
    "r744_product": "SMF74XNM string, SMF74SNM string",
    "r744_cf": "R744FNAM string, R744FSYS string, R744FFLG string, R744FTOR number",
    "r744_storage": (
        "R744GCSD integer, R744GCSF integer, R744GTSD integer, R744GTSF integer, R744GDSA integer, R744GDSF integer, "
        "R744GDSR integer, R744GTSC integer, R744GFSC integer, R744GISC integer"
    ),
    "r744_qsds": "R744QSTR string, R744QSIZ integer, R744QVER string, R744QFLG string",
    "r744_sreq": (
        "R744SNAM string, R744SVER string, R744STYP string, R744SFLG string, R744SLEL integer, R744SLEM integer, "
        "R744SLTL integer, R744SLTM integer, R744SSTA number, R744STRC number, R744STAC number, R744SARC number, "
        "R744SATM integer, R744SASQ integer, R744SSRC number, R744SSTM integer, R744SSSQ integer, R744SQRC number, "
        "R744SQTM integer, R744SQSQ integer, R744SDRC number, R744SDTM integer, R744SSIZ integer, R744SMAS integer, "
        "R744SMIS integer, R744SDEC integer, R744SDEL integer, R744SNLH integer, R744SMAE integer, R744SCUE integer"
    ),
    "r744_scm": "R744MSMA integer, R744MALG integer, R744MFAU integer, R744MIUA integer, R744MIUS integer",
}


@pytest.mark.parametrize("section", PUBLISHED)
def test_fields_have_the_published_names_and_types(section: str) -> None:
    found = [f"{name} {PACKERS[place.type][0]}" for name, place in fields_of(layout(section)).items()]
    assert found == PUBLISHED[section].split(", ")


def test_sections_and_the_fields_of_the_header_have_the_published_names() -> None:
    assert [layout(section).title.partition(":")[0] for section in SECTIONS] == [
        "R744FLCF", "R744GSRG", "R744QSDS", "R744SREQ", "R744MSCM",
    ]  # fmt: skip
    assert list(SECTIONS.values()) == ["SMF744FN", "SMF744GN", "SMF744QN", "SMF744SN", "SMF744MN"]
    assert gatherer.HEADER_FIELDS == ("SMF74SID", "SMF74DTE", "SMF74TME")
    assert gatherer.KIND_FIELDS == ("SMF74RTY", "SMF74STY")
    assert gatherer.PRODUCT_FIELDS == ("SMF74INT", "SMF74LGO", "SMF74GIE", "SMF74XNM", "SMF74SNM")


# ---- both forms ------------------------------------------------------------------------------------------------------


def from_json(folder: Path, content: bytes) -> tuple[RangeResult, list[str]]:
    """Decode a document."""
    path = folder / "answer.json"
    path.write_bytes(content)
    with converted(path) as found:
        return decode_bytes(found.path.read_bytes(), sections=["r744"]), found.notes


def comparable(found: RangeResult, table: str) -> list[dict[str, Any]]:
    """Return the rows; the offset of a record and the number of one in pieces differ, because a document has neither."""
    rows = rows_of([found], table)
    records = sorted({row["record"] for row in rows})
    return [{**row, "offset": 0, "record": records.index(row["record"])} for row in rows]


def assert_same(binary: RangeResult, other: RangeResult) -> None:
    """Compare all rows of all tables, field by field."""
    for table in TABLES:
        expected, found = comparable(binary, table), comparable(other, table)
        assert len(found) == len(expected), table
        for number, (one, two) in enumerate(zip(expected, found, strict=True)):
            for column in one:
                assert two[column] == one[column], (table, number, column)
        assert [batch.schema for batch in binary.batches[table]] == [
            batch.schema for batch in other.batches[table]
        ]
    assert other.checks == binary.checks
    assert [item.reason for item in other.accounting.quarantined] == [
        item.reason for item in binary.accounting.quarantined
    ]


Made = list[tuple[Header, dict[str, list[dict[str, Any]]]]]


def both(folder: Path, made: Made, *, piece_bytes: int | None = None) -> RangeResult:
    """Compare the two forms of the same records, and return the result of the JSON."""
    records = [each for head, rows in made for each in rmf_record(head, rows, piece_bytes=piece_bytes)]
    binary = decode_bytes(dump(records, PLAIN), sections=["r744"])
    found, notes = from_json(folder, json_bytes(json_record(head, rows) for head, rows in made))
    assert notes == []
    assert_same(binary, found)
    return found


@pytest.mark.parametrize("zone", [-300, 0, 330, 60])
def test_json_and_binary_records_have_the_same_rows(tmp_path: Path, zone: int) -> None:
    make = RowMaker(zone)
    made: Made = [(header(number, zone=zone), make.facility(number)) for number in range(5)]
    found = both(tmp_path, made)
    assert [len(rows_of([found], table)) for table in TABLES] == [10, 5, 10, 5]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32),
    structures=st.lists(st.integers(0, 4), min_size=1, max_size=3),
    zone=st.integers(-48, 56).map(lambda quarters: quarters * 15),
    interval_ms=st.integers(1, 5_999_999),
    end_us=st.integers(0, 10**12),
)
@example(seed=0, structures=[0], zone=0, interval_ms=5_999_999, end_us=0)
def test_any_built_records_have_the_same_rows(
    tmp_path: Path, seed: int, structures: list[int], zone: int, interval_ms: int, end_us: int
) -> None:
    make = RowMaker(seed)
    made: Made = []
    for number, count in enumerate(structures):
        head = header(number, zone=zone)
        rows = make.facility(count)
        for row in rows["r744_structure"]:
            match make.random.randint(0, 3):
                case 0:
                    row["structure_type"] = None  # only the master gatherer's section
                case 1:
                    row["policy_size_bytes"] = None
                case 2:
                    row["entries_in_use"] = row["entries_total"] + 1  # fails the self-check
        rows["r744_cf"][0]["lacks_statistics"] = make.random.random() < 0.3
        made.append((
            Header(
                head.written_at, utc_offset_minutes=zone, interval_us=interval_ms * 1000,
                interval_end=head.written_at + timedelta(microseconds=end_us), system_id=f"S{number}",
            ),
            rows,
        ))  # fmt: skip
    both(tmp_path, made)


def test_long_record_has_the_same_rows_as_its_pieces(tmp_path: Path) -> None:
    make = RowMaker(3)
    made: Made = [
        (header(), make.facility(300)),
        (header(), make.facility(2)),
        (header(), make.facility(200)),
    ]
    found = both(tmp_path, made)
    assert len(rows_of([found], "r744_structure")) == 502
    assert found.accounting.quarantined == []


def test_records_with_impossible_values_are_named_by_the_decoder(tmp_path: Path) -> None:
    make = RowMaker(4)
    rows = make.facility(2)
    rows["r744_structure"][1]["size_bytes"] = rows["r744_structure"][1]["size_max_bytes"] + 4096
    found = both(tmp_path, [(header(), make.facility(1)), (header(1), rows)])
    assert [item.reason for item in found.accounting.quarantined] == [
        "impossible values in R744SREQ: see the self-checks"
    ]


def one(seed: int = 5, structures: int = 2) -> dict[str, Any]:
    """Return one record."""
    return json_record(header(seed), RowMaker(seed).facility(structures))


def same_rows(folder: Path, content: bytes, record: dict[str, Any]) -> None:
    """Compare a document with one of one record in the usual form."""
    usual, _ = from_json(folder, json_bytes([record]))
    found, _ = from_json(folder, content)
    assert_same(usual, found)


FORMS: dict[str, Callable[[dict[str, Any]], object]] = {
    "sections in arrays": lambda record: {
        key: list(value.values()) if key.startswith("R744") else value for key, value in record.items()
    },
    "sections under other names": lambda record: {
        (f"section {number}" if isinstance(value, dict) else key): value
        for number, (key, value) in enumerate(record.items())
    },
    "sections deeper inside": lambda record: {
        **{key: value for key, value in record.items() if not isinstance(value, dict)},
        "SMF74_SUBTYPE4": {key: value for key, value in record.items() if isinstance(value, dict)},
    },
    "single section without an index": lambda record: {**record, "R744FLCF": record["R744FLCF"]["0"]},
    "no numbers of sections": lambda record: {
        key: value for key, value in record.items() if not key.startswith("SMF744")
    },
    "padded texts": lambda record: {**record, "SMF74SID": record["SMF74SID"].ljust(4)},
    "keys in another order": lambda record: dict(reversed(record.items())),
    "an empty map of a class": lambda record: {**record, "R744ADUP": {"empty": True}},
}


@pytest.mark.parametrize("form", FORMS)
def test_sections_are_recognized_by_their_fields(tmp_path: Path, form: str) -> None:
    record = one()
    same_rows(tmp_path, json.dumps({"0": FORMS[form](record)}).encode(), record)


def test_sections_are_in_the_order_of_their_indexes(tmp_path: Path) -> None:
    record = one(structures=12)
    shuffled = {**record, "R744SREQ": {key: record["R744SREQ"][key] for key in sorted(record["R744SREQ"])}}
    assert list(shuffled["R744SREQ"])[:3] == ["0", "1", "10"]
    same_rows(tmp_path, json.dumps({"0": shuffled}).encode(), record)


@pytest.mark.parametrize(
    ("name", "value"),
    [("R744STYP", lambda code: f"{code:08b}"), ("R744STYP", lambda code: code), ("R744STYP", str)],
)
def test_codes_may_be_written_in_several_ways(
    tmp_path: Path, name: str, value: Callable[[int], object]
) -> None:
    record = one()
    other = copy.deepcopy(record)
    for section in other["R744SREQ"].values():
        section[name] = value(int(section[name], 16))
    same_rows(tmp_path, json_bytes([other]), record)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_documents_may_be_compressed_and_in_any_encoding(
    tmp_path: Path, encoding: str, is_packed: bool
) -> None:
    record = one()
    content = json.dumps({"0": record}, indent=2).encode(encoding)
    assert detect(content).kind == "gatherer_json"
    same_rows(tmp_path, gzip.compress(content) if is_packed else content, record)


def test_documents_longer_than_the_window_are_read(tmp_path: Path) -> None:
    records = [{**one(number, 1), "padding": "x" * (CHUNK // 3)} for number in range(8)]
    content = json_bytes(records)
    assert len(content) > 2 * CHUNK
    found, _ = from_json(tmp_path, content)
    assert len(rows_of([found], "r744_cf")) == 8


@pytest.mark.parametrize("window", [1, 2, 7, 64])
def test_the_size_of_the_window_changes_nothing(
    tmp_path: Path, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, _ = from_json(tmp_path, json_bytes([one(), one(6)]))
    monkeypatch.setattr(gatherer, "CHUNK", window)
    found, _ = from_json(tmp_path, json.dumps({"0": one(), "1": one(6)}, indent=1).encode())
    assert_same(usual, found)


def test_missing_indexes_of_records_are_noted(tmp_path: Path) -> None:
    _, notes = from_json(
        tmp_path, json.dumps({"0": one(), "1": one(6), "5": one(7), "empty": False}).encode()
    )
    assert notes == ["The indexes of 3 records between 0 and 5 are missing: the answer may be incomplete."]


# ---- refusals --------------------------------------------------------------------------------------------------------


def refusal(folder: Path, content: bytes) -> str:
    """Return the message for a document that is refused; nothing remains of the dump."""
    with pytest.raises(NotReadable) as refused:
        from_json(folder, content)
    message = str(refused.value)
    assert "othing was stored" in message
    return message


WRONG = [
    ("SMF74SID", "SYSTEM", "Record 1, field SMF74SID must be a text of at most 4 characters"),
    ("SMF74SID", "S\u0001", "Record 1, field SMF74SID must be a text of at most 4 characters"),
    ("SMF74DTE", "2026-02-30", "Record 1, field SMF74DTE must be a date"),
    ("SMF74DTE", 2026332, "Record 1, field SMF74DTE must be a date"),
    ("SMF74DTE", "2100-01-01", "Record 1, field SMF74DTE must be a date"),
    ("SMF74TME", "24:00:00", "Record 1, field SMF74TME must be a time of day"),
    ("SMF74TME", "10:00:00.001", "Record 1, field SMF74TME must be a time of day"),
    ("SMF74STY", 1, "Record 1 has the type 74 and the subtype 1"),
    ("SMF744SN", 3, "Record 1 has 2 sections R744SREQ, but SMF744SN is 3: the answer is incomplete."),
    ("SMF74INT", "01:40:00", "Record 1, section SMF74PRO, field SMF74INT must be a time of less than 100 minutes"),
    ("SMF74INT", 900, "Record 1, section SMF74PRO, field SMF74INT must be a time"),
    ("SMF74LGO", -18_000, "Record 1, section SMF74PRO, field SMF74LGO must be a difference"),
    ("SMF74LGO", 2**63, "Record 1, section SMF74PRO, field SMF74LGO must be a difference"),
    ("SMF74LGO", 86_400_000_000 * 4096, "Record 1, section SMF74PRO, field SMF74LGO must be a difference"),
    ("SMF74GIE", "2026-11-28", "Record 1, section SMF74PRO, field SMF74GIE must be a date and time"),
    ("SMF74GIE", "2026-11-28T24:00:00", "Record 1, section SMF74PRO, field SMF74GIE must be a date and time"),
    ("SMF74GIE", "2099-11-28T10:00:00", "Record 1, section SMF74PRO, field SMF74GIE must be a date and time"),
    ("SMF74GIE", "2026-11-28T10:00:00+02:00", "Record 1, section SMF74PRO, field SMF74GIE must be a date and time"),
    ("R744FFLG", "84", "Record 1, section R744FLCF 0, field R744FFLG must be 8 binary digits, but is \"84\"."),
    ("R744FFLG", True, "Record 1, section R744FLCF 0, field R744FFLG must be 8 binary digits, but is true."),
    ("R744FTOR", "12", "Record 1, section R744FLCF 0, field R744FTOR must be a number"),
    ("R744SVER", "DC1F0", "field R744SVER must be 16 hexadecimal digits"),
    ("R744STYP", "LIST", "field R744STYP must be a code, such as 1"),
    ("R744STYP", 256, "field R744STYP must be a code, such as 1"),
    ("R744SSIZ", -1, "field R744SSIZ must be an integer from 0 to 4294967295, but is -1."),
    ("R744SSIZ", 2**32, "field R744SSIZ must be an integer from 0 to 4294967295"),
    ("R744SSIZ", 12.0, "field R744SSIZ must be an integer from 0 to 4294967295, but is 12.0."),
    ("R744SSIZ", False, "field R744SSIZ must be an integer from 0 to 4294967295, but is false."),
    ("R744SSIZ", [1], "field R744SSIZ must be an integer from 0 to 4294967295, but is an array."),
    ("R744SSIZ", {"0": 1}, "field R744SSIZ must be an integer from 0 to 4294967295, but is an object."),
    ("R744SSIZ", None, "field R744SSIZ is missing."),
    ("R744GISC", 65_536, "section R744GSRG 0, field R744GISC must be an integer from 0 to 65535"),
    ("R744SNAM", "QSG1" * 5, "field R744SNAM must be a text of at most 16 characters"),
    ("R744SNAM", "\ud800", "field R744SNAM must be a text of at most 16 characters"),
    ("R744SNAM", "漢", "field R744SNAM must be a text of at most 16 characters"),
]  # fmt: skip


def put(record: dict[str, Any], name: str, value: object) -> None:
    """Set a field in the record or in the last object that has it."""
    waiting, owner = [record], record
    while waiting:
        content = waiting.pop(0)
        if name in content:
            owner = content
        waiting += [each for each in content.values() if isinstance(each, dict)]
    assert name in owner
    owner[name] = value


@pytest.mark.parametrize(
    ("name", "value", "said"), WRONG, ids=[f"{name} {str(value)[:12]!a}" for name, value, _ in WRONG]
)
def test_wrong_values_are_reported_with_record_section_and_field(
    tmp_path: Path, name: str, value: object, said: str
) -> None:
    record = one()
    put(record, name, value)
    assert said in refusal(tmp_path, json_bytes([one(6), record]))


@pytest.mark.parametrize(
    ("text", "shown"),
    [("1" * 9_000, "1" * 40), ("1e999", "1e999"), ("NaN", "NaN"), ("-Infinity", "-Infinity")],
)
@pytest.mark.parametrize("name", ["R744SSIZ", "R744SARC", "R744SNAM", "SMF74SID"])
def test_numbers_that_are_no_values_are_refused(tmp_path: Path, name: str, text: str, shown: str) -> None:
    record = one(structures=1)
    put(record, name, "HERE")
    content = json_bytes([record]).replace(b'"HERE"', text.encode())
    assert f"field {name} must be " in (said := refusal(tmp_path, content))
    assert f"but is {shown}." in said


@pytest.mark.parametrize("name", [name for section in PUBLISHED for name in fields_of(layout(section))])
def test_each_missing_field_is_reported(tmp_path: Path, name: str) -> None:
    record = one()
    section = next(
        section for group in record.values() if isinstance(group, dict)
        for section in (group, *group.values()) if isinstance(section, dict) and name in section
    )  # fmt: skip
    del section[name]
    assert f"field {name} is missing." in refusal(tmp_path, json_bytes([record]))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("SMF74PRO", "Record 0, section SMF74PRO is missing."),
        ("R744FLCF", "Record 0 has 0 sections R744FLCF, but SMF744FN is 1"),
    ],
)
def test_missing_sections_are_reported(tmp_path: Path, name: str, said: str) -> None:
    record = one()
    del record[name]
    assert said in refusal(tmp_path, json_bytes([record]))


def test_section_with_fields_of_the_product_section_twice_is_refused(tmp_path: Path) -> None:
    record = {**one(), "again": {"SMF74XNM": "PLEX2"}}
    assert "Record 0, section SMF74PRO occurs 2 times." in refusal(tmp_path, json_bytes([record]))


def test_problems_of_several_records_are_listed_up_to_a_number(tmp_path: Path) -> None:
    records = [one(number) for number in range(9)]
    for record in records[2:]:
        put(record, "SMF74SID", 7)
    said = refusal(tmp_path, json_bytes(records))
    assert re.findall(r"Record (\d), field SMF74SID", said) == ["2", "3", "4", "5", "6"]


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.9, 0.999])
def test_truncated_documents_are_reported_with_the_place(tmp_path: Path, share: float) -> None:
    content = json_bytes([one(number) for number in range(4)])
    cut = content[: int(len(content) * share)]
    said = refusal(tmp_path, cut)
    found = re.search(r"The answer is truncated (?:in|after) record (\d): its end is missing", said)
    assert found, said
    assert int(found[1]) == int(share * 4), said


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_proper_beginning_of_a_document_is_accepted(tmp_path: Path, data: st.DataObject) -> None:
    content = json_bytes([one(structures=1), one(6, 1)])
    cut = content[: data.draw(st.integers(1, len(content) - 1))]
    assert "truncated" in refusal(tmp_path, cut)


def test_truncated_gzip_file_is_reported(tmp_path: Path) -> None:
    records = [
        {**one(number), "noise": RowMaker(number).random.randbytes(200_000).hex()} for number in range(3)
    ]
    packed = gzip.compress(json_bytes(records))
    assert "The compressed file is truncated" in refusal(tmp_path, packed[: len(packed) // 2])


DOCUMENTS = [
    (b"[{}]", "must be an object of records by index"),
    (b'"text"', "must be an object of records by index"),
    (b"{}", "The answer has no records 74-4."),
    (b'{"status": 404, "message": "no"}', "It has only members such as 'status', 'message'."),
    (b'{"error": {"SMF74SID": 1}}', "Member 'error' is not a record: records have an index."),
    (b'{"0": [1]}', "Record 0 must be an object, but is an array."),
    (b'{"0": null}', "Record 0 must be an object, but is null."),
    (b'{"0": {}}', "Record 0, header is missing."),
    (b'{"0": {"SMF74SID": "A", "SMF74SID": "B"}}', "has the key 'SMF74SID' twice in one object in record 0"),
    (b'{"0": {"SMF74RTY": 70, "SMF74STY": 1}}', "Record 0 has the type 70 and the subtype 1"),
    (b'{"0": 1} {"1": 2}', "continues after its last brace"),
    (b'{"0": {"a": 1,}}', "is not valid JSON in record 0"),
    (b'{"0": {"a": 1} "1": {}}', "is not valid JSON after record 0"),
    (b"{0: {}}", "is not valid JSON before the first record"),
    (b'{"0": ' + b'{"a":' * 100_000, "nested too deeply in record 0"),
    (b'{"0": ' + b"[" * 100_000, "nested too deeply in record 0"),
    (b'{"0": ' + b'{"a":' * 100 + b"1" + b"}" * 101, "Record 0 is nested too deeply."),
]


@pytest.mark.parametrize(("content", "said"), DOCUMENTS, ids=[str(content[:30]) for content, _ in DOCUMENTS])
def test_hostile_documents_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    assert said in refusal(tmp_path, content)


@pytest.mark.parametrize("value", ["1", "[]", "{}"])
def test_reading_stops_after_some_problems(tmp_path: Path, value: str) -> None:
    records = ",".join(f'"{number}":{value}' for number in range(1000))
    said = refusal(tmp_path, f"{{{records},".encode())
    assert re.findall(r"Record (\d+)", said) == ["0", "1", "2", "3", "4"], "the missing end is not reached"


def test_sections_after_many_problems_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack, packed = gatherer._packed, []

    def counted(*arguments: Any, **more: Any) -> bytes:  # noqa: ANN401 - those of the function
        packed.append(more["where"])
        return pack(*arguments, **more)

    monkeypatch.setattr(gatherer, "_packed", counted)
    record = one()
    record["R744SREQ"] = [{"R744SNAM": f"SQ03A{number}"} for number in range(1000)]
    assert "There are more problems." in refusal(tmp_path, json_bytes([record]))
    assert len(packed) < 10


def test_record_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    text = json_bytes([one()]).decode()
    doubled = f'{text[:-1]},"00":{text[5:]}'
    assert "Record 0 occurs twice." in refusal(tmp_path, doubled.encode())


def test_record_larger_than_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gatherer, "CHUNK", 1000)
    monkeypatch.setattr(gatherer, "LARGEST_RECORD", 20_000)
    record = {**one(), "padding": "x" * 40_000}
    assert "A record has more than 20000 characters" in refusal(tmp_path, json_bytes([record]))


@pytest.mark.parametrize("item", ["{}", "[]", '{"a":{}}', '"]}", {}', '{"b\\"}":1}'])
def test_record_with_more_objects_than_the_limit_is_refused_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, item: str
) -> None:
    monkeypatch.setattr(gatherer, "MOST_OBJECTS", 1000)
    seen: list[int] = []

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen.append(len(pairs))
        return dict(pairs)

    monkeypatch.setattr(gatherer, "_once", made)
    first = json_bytes([one()]).decode()[:-1]
    content = f'{first}, "1": {{"padding": [{",".join([item] * 2000)}]}}}}'
    assert "has more than 1000 objects and arrays in record 1" in refusal(tmp_path, content.encode())
    assert len(seen) < 100


def test_many_small_records_are_not_too_many_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [one(number) | {"text": 'a "quoted" {[ text'} for number in range(30)]
    content = json_bytes(records[:1])
    # Neither the object of all records counts, nor the brackets in the text.
    objects = content.count(b"{") + content.count(b"[") - 3
    monkeypatch.setattr(gatherer, "MOST_OBJECTS", objects)
    for chunk in (100, CHUNK):
        monkeypatch.setattr(gatherer, "CHUNK", chunk)
        found, _ = from_json(tmp_path, json_bytes(records))
        assert found.batches
    monkeypatch.setattr(gatherer, "MOST_OBJECTS", objects - 1)
    assert f"has more than {objects - 1} objects and arrays" in refusal(tmp_path, json_bytes(records))


def test_more_records_than_the_limit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gatherer, "MOST_RECORDS", 2)
    assert "There are more than 2 records" in refusal(tmp_path, json_bytes([one(), one(6), one(7)]))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["0", "1", "SMF74SID", "R744SNAM", "R744SSIZ", "SMF744SN", "x"]), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=JSON, place=st.sampled_from(["R744SREQ", "SMF74PRO", "SMF74SID", "R744SSIZ", "other", "whole"]))
def test_any_value_is_read_or_refused_with_a_message(tmp_path: Path, value: object, place: str) -> None:
    record = one()
    content: object = value
    if place != "whole":
        if place in ("other", "R744SREQ", "SMF74PRO"):
            record[place] = value
        else:
            put(record, place, value)
        content = {"0": record}
    rows, said = 1, "othing was stored"
    try:
        found, _ = from_json(tmp_path, json.dumps(content).encode())
        rows = len(rows_of([found], "r744_cf"))
    except NotReadable as refused:
        said = str(refused)
    assert (rows, "othing was stored" in said) == (1, True)


# ---- the command -----------------------------------------------------------------------------------------------------


def test_decode_command_prints_the_same_rows_for_both_forms(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    head, rows = header(), RowMaker(8).facility(3)
    path = tmp_path / "records"
    printed = []
    for content in (dump(rmf_record(head, rows), PLAIN), json_bytes([json_record(head, rows)])):
        path.write_bytes(content)
        assert command.main(["decode", str(path), "--section", "r744", "--output", "csv"]) == 0
        printed.append(capfd.readouterr().out)
    assert printed[0] == printed[1]
    assert len(printed[0].splitlines()) == 4


def test_decode_command_refuses_incomplete_documents(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "records.json"
    path.write_bytes(json_bytes([one()])[:-20])
    assert command.main(["decode", str(path), "--section", "r744"]) == 3
    said = capfd.readouterr()
    assert said.out == ""
    assert "truncated in record 0" in said.err
