"""Any text, read as any kind, gives valid rows, problems and questions, or the documented error."""

from __future__ import annotations

import contextlib
import tempfile
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.inputs import KINDS, Kind
from spark_jobs.history.schema import row_schema
from spark_jobs.readers import NotReadable, ReadResult, read
from tests.spark_jobs.readers import support
from tests.spark_jobs.readers.test_cfact import NAMES, TABLE, as_csv, dds

TEXTS = [
    "\n".join((support.QEST_HEADING, support.QEST_ROW)),
    "\n".join((support.QESD_HEADING, support.QESD_ROW)),
    "\n".join((support.WQ_HEADING, support.wq_row())),
    "\n".join((support.QQST_HEADING, support.qqst_row())),
    '{"recordType": 115, "structure": "QEST", "date": "2026/01/14", "time": "21:10:04.93", "lpar": "SYSA", "qmgr": "QM01"}',
    as_csv(TABLE),
    dds(NAMES, TABLE),
    "Date,Time,LDECTR(QSG1APP1)\n2026/03/22,13.00.00,5\n",
    support.CFSTATUS,
    support.CFSTRUCT,
    support.IXC360I,
    support.IXC585E + support.IXC582I + support.IXC588I + support.IXL015I,
    "qsg,structure,interval_end,size_bytes\nQSG1,APP1,2026-03-22T12:00Z,1M\n",
]
ODD = st.sampled_from(
    [
        "",
        '"',
        ",",
        "\n",
        "\x00",
        "{",
        "}",
        "\\ud800",
        "9" * 40,
        "-1",
        "=",
        "(",
        "2026/02/30",
        "NaN",
        "1e400",
        "é",
    ]
)


@st.composite
def mangled(draw: st.DrawFn) -> bytes:
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 30))
        text = text[:at] + draw(ODD | st.text(max_size=5)) + text[at + cut :]
    return text.encode("utf-8", "surrogatepass")


def read_any(content: bytes, kind: Kind, *, is_told: bool) -> ReadResult | None:
    with tempfile.TemporaryDirectory() as folder:
        path = support.written(Path(folder), content)
        with contextlib.suppress(NotReadable):
            if is_told:
                return read(path, kind, observed_at=support.OBSERVED, zone=UTC, qsg_of=support.GROUPS)
            return read(path, kind)
    return None


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "smf"])
@settings(max_examples=60)
@given(content=mangled() | st.binary(max_size=300), is_told=st.booleans())
def test_reading_any_text_raises_only_the_documented_error(kind: Kind, content: bytes, is_told: bool) -> None:
    result = read_any(content, kind, is_told=is_told)
    if result is None:
        return
    assert result.problem_count >= len(result.problems)
    for table, found in result.tables.items():
        assert found.schema == row_schema(table)
        assert found["interval_end"].null_count == 0
        assert found["source"].null_count == 0


def test_reading_a_dump_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotReadable):
        read(support.written(tmp_path, b"\x00" * 40), "smf")
    with pytest.raises(NotReadable, match="not a text file"):
        read(support.written(tmp_path, b"\x00" * 40), "cfstatus")
