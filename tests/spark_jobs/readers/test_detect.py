"""The kind of a file is detected from its first bytes, and an unknown kind is reported."""

from __future__ import annotations

import contextlib
import gzip
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.inputs import KIND_TITLES, KINDS, KindUnknown, detect
from tests.spark_jobs.readers import support

CFACT_CSV = "Structure Name 1,Structure Type 1,System Name,Structure Size,Total List Entries (LIST/LOCK)\n"
SMF_RECORD = struct.pack(">HBBBB", 18, 0, 0, 0x1E, 2) + bytes(12)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (support.IXC360I, "xcf_str"),
        ("STRNAME: A\n STATUS: NOT ALLOCATED\n", "xcf_str"),
        (support.IXC585E, "messages"),
        (support.IXC582I, "messages"),
        (support.IXC588I, "messages"),
        (support.IXL015I, "messages"),
        (support.CFSTATUS, "cfstatus"),
        ("CFSTATUS(APP1) TYPE(SUMMARY) SIZEMAX(1)", "cfstatus"),
        (support.CFSTRUCT, "cfstruct"),
        (support.QEST_HEADING, "mqsmf_csv"),
        (support.QEST_HEADING.replace(",", ";"), "mqsmf_csv"),
        ('{\n"recordType" : 115,\n"recordSubType" : 2,\n"structure" : "QEST",\n', "mqsmf_json"),
        ('[{"recordType" : 115, "structure" : "QEST"}]', "mqsmf_json"),
        ('{"0":{"SMF74LEN":0,"SMF74SEG":0,"SMF74FLG":"01011110"', "gatherer_json"),
        ('{\n "0": {\n  "R744FLCF": {\n   "0": {\n    "R744FNAM": "CF01"', "gatherer_json"),
        (CFACT_CSV, "cfact_csv"),
        ("sep=,\n" + CFACT_CSV, "cfact_csv"),
        ('{"report": [{"columnHeaders": {"col": []}}]}', "cfact_json"),
        ('[{"Structure Name": "A", "Structure Size": "1M"}]', "cfact_json"),
        ('Interval End,"LDECTR(QSG1APP1)"\n', "overview_csv"),
        ("# comment\nqsg,structure,interval_end,entries_in_use\n", "template"),
        (SMF_RECORD, "smf"),
        (struct.pack(">HH", 22, 0) + SMF_RECORD, "smf"),
        (SMF_RECORD[4:] + bytes(30), "smf"),
    ],
)
def test_each_kind_is_detected(content: str | bytes, kind: str) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    found = detect(data, "some.name")
    assert found.kind == kind
    assert found.reason
    assert found.title == KIND_TITLES[found.kind]
    packed = detect(gzip.compress(data), "some.name.gz")
    assert packed.kind == kind
    assert "gzip" in packed.reason


@pytest.mark.parametrize("content", [support.QEST_HEADING, support.CFSTATUS])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_detection_does_not_depend_on_the_encoding(content: str, encoding: str) -> None:
    assert detect(content.encode(encoding)).kind in {"mqsmf_csv", "cfstatus"}


def test_command_without_a_response_is_not_a_display() -> None:
    with pytest.raises(KindUnknown):
        detect(b"DISPLAY CFSTATUS(APP1) TYPE(SUMMARY)\nDIS CFSTRUCT(APP1) ALL\n")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"PK\x03\x04 and so on", "unpack"),
        (b"%PDF-1.7", "PDF"),
        (b"\x1f\x8b\x08 broken", "gzip"),
        (b"nothing of use", "Specify its kind"),
        (b'{"other": 1}', "JSON"),
    ],
)
def test_undetected_kind_is_reported(content: bytes, said: str) -> None:
    with pytest.raises(KindUnknown, match=said):
        detect(content)


def test_detection_tolerates_an_incomplete_character_at_the_end() -> None:
    text = support.QEST_HEADING + "\n" + "é" * 40_000
    assert detect(text.encode()[:65_536]).kind == "mqsmf_csv"


@given(
    st.binary(max_size=2_000) | st.text(max_size=500).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.text(max_size=20),
)
def test_detection_accepts_any_bytes(content: bytes, name: str) -> None:
    kind = None
    with contextlib.suppress(KindUnknown):
        kind = detect(content, name).kind
    assert kind is None or kind in KINDS
