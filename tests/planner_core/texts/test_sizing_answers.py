"""Sizing points are read from CSV files and displays; what cannot be a point is refused with its line and the reason."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.errors import InputInvalid
from planner_core.sizing.sizing_points import SizingPoint
from planner_core.texts.sizing_answers import (
    COLUMNS,
    ORIGINS,
    STRUCTURE_TYPES,
    DisplayDetails,
    read_point,
    read_points,
    source_words,
    values_of,
)
from planner_core.units import KIB, MIB

HEADING = (
    "cfcc_level,structure_type,ratio,size,initsize,entries,elements,origin,release,measured_by,measured_on"
)
ROW = '26,application,1:6,1048576,512M,262144,1572864,zosmf,z/OS 3.1,"Doe, J.",2026-11-03'
EMPTY = """\
D XCF,STR,STRNAME=QSG1APP1
IXC360I  10.21.33  DISPLAY XCF 812
STRNAME: QSG1APP1
 STATUS: ALLOCATED
 TYPE: SERIALIZED LIST
 POLICY INFORMATION:
  POLICY SIZE    : 200 M
  POLICY INITSIZE: 100 M
 ACTIVE STRUCTURE
 ----------------
  ALLOCATION TIME: 03/14/2026 09:12:44
  CFNAME         : CF01
  ACTUAL SIZE            : 100 M
                IN-USE        TOTAL     %
  ENTRIES:           0        32143     0
  ELEMENTS:          0       192853     0
"""
STATUS = """\
CSQM201I !CSQ1 CSQMDRTC DISPLAY CFSTATUS DETAILS
CFSTATUS(APP2)
TYPE(SUMMARY)
CFTYPE(APPL)
STATUS(ACTIVE)
SIZEMAX(20480)
SIZEUSED(0)
ENTSMAX(4671)
ENTSUSED(0)
END CFSTATUS DETAILS
"""
ALLOCATION = """\
IXC582I STRUCTURE QSG1APP1 ALLOCATED BY SIZE/RATIOS.
   PHYSICAL STRUCTURE VERSION: CA2B3C4D 5E6F7081
   STRUCTURE TYPE:             SERIALIZED LIST
   CFNAME:                     CF01
   ALLOCATION SIZE:            102400 K
   POLICY SIZE:                204800 K
   POLICY INITSIZE:            102400 K
   POLICY MINSIZE:             0 K
   IXLCONN STRSIZE:            0 K
   ENTRY COUNT:  32143
   ELEMENT COUNT: 192853
   ENTRY:ELEMENT RATIO:        1 : 6
   ALLOCATION SIZE IS WITHIN CFRM POLICY DEFINITIONS
"""


def problems_of(text: str, details: DisplayDetails | None = None) -> list[tuple[str, str]]:
    with pytest.raises(InputInvalid) as refused:
        read_points(text, details or DisplayDetails())
    return [(each.field, each.message) for each in refused.value.problems]


def test_row_of_a_csv_file_is_a_point() -> None:
    (found,) = read_points(f"{HEADING}\n{ROW}\n").points
    assert found.line == 2
    assert found.point == SizingPoint(
        cfcc_level=26,
        structure_type="application",
        entry_ratio=1,
        element_ratio=6,
        size_bytes=1048576 * KIB,
        initsize_bytes=512 * MIB,
        entries=262144,
        elements=1572864,
        origin="zosmf",
        release="z/OS 3.1",
        measured_by="Doe, J.",
        measured_on=date(2026, 11, 3),
    )


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_spreadsheet_with_another_delimiter_and_byte_order_mark_is_read(delimiter: str) -> None:
    row = ROW.replace('"Doe, J."', "Doe").replace(",", delimiter)
    text = "\ufeff" + HEADING.upper().replace(",", delimiter) + f"\r\n\r\n{row}\r\n"
    assert read_points(text).points[0].point.measured_by == "Doe"


def test_template_of_the_columns_is_read() -> None:
    names, examples = zip(*((each.name, each.example) for each in COLUMNS), strict=True)
    (found,) = read_points(f"{','.join(names)}\n{','.join(examples)}\n").points
    assert found.point.size_bytes == 2 * found.point.initsize_bytes


@pytest.mark.parametrize(
    ("old", "new", "field", "message"),
    [
        ("26,app", ",app", "line 2, cfcc_level", "is missing"),
        ("26,app", "100,app", "line 2, cfcc_level", "must be between 1 and 99, not 100"),
        ("application", "lock", "line 2, structure_type", "must be one of application, system, admin, not 'lock'"),
        ("1:6", "6", "line 2, ratio", "must be entries and elements, such as 1:6, not '6'"),
        ("1:6", "0:6", "line 2, ratio", "must have numbers between 1 and 1000000"),
        ("512M", "half", "line 2, initsize", "'half' is not a valid size: write a number and a unit K, M, G or T, such as 512M"),
        ("512M", "2G", "line 2, initsize", "INITSIZE must not be above SIZE."),
        ("262144", "262.144", "line 2, entries", "may have a thousands separator: write 262144, not '262.144'"),
        ("262144,1572864", ",", "line 2, entries", "A point must state entries, elements or both."),
        ("zosmf", "published", "line 2, origin", "must be one of zosmf, sizer, ixlcsp, cfsizer, display, not 'published'"),
        ("2026-11-03", "3.11.2026", "line 2, measured_on", "must be a day such as 2026-11-03, not '3.11.2026'"),
        ("z/OS 3.1", "x" * 61, "line 2, release", "has 61 characters, but at most 60 are stored"),
        (",2026-11-03", "", "line 2", "has 10 values, but the heading has 11 columns"),
    ],
)  # fmt: skip
def test_invalid_value_is_refused_with_its_line_and_column(
    old: str, new: str, field: str, message: str
) -> None:
    ((at, why),) = problems_of(f"{HEADING}\n{ROW.replace(old, new, 1)}\n{ROW}\n")
    assert at == field
    assert message in why


@pytest.mark.parametrize(
    ("elements", "refused"), [(1_370_616, False), (1_370_000, False), (456_872, True), (1_600_000, True)]
)
def test_counts_that_contradict_the_ratio_are_refused(elements: int, refused: bool) -> None:
    values = values_of(read_points(f"{HEADING}\n{ROW}\n").points[0].point)
    values |= {"ratio": "1:6", "entries": "228436", "elements": str(elements)}
    if not refused:
        assert read_point(values).point.elements == elements
        return
    with pytest.raises(InputInvalid) as error:
        read_point(values)
    (problem,) = error.value.problems
    assert problem.field == "ratio"
    assert problem.message.startswith(f"The ratio is 1:6, but {elements} elements for 228436 entries are ")


def test_heading_is_refused_with_every_unknown_missing_and_repeated_column() -> None:
    found = problems_of("cfcc_level,origin,origin,colour\n")
    assert [field for field, _ in found] == ["line 1"] * 6
    assert found[0][1].startswith("names the unknown column 'colour'")
    assert found[1][1] == "names the column origin twice"
    assert [why.split(":")[0] for _, why in found[2:]] == [
        f"lacks the column {name}" for name in ("structure_type", "ratio", "size", "initsize")
    ]


def test_file_without_rows_and_text_without_points_are_refused() -> None:
    assert problems_of(HEADING) == [("", "has a heading but no rows")]
    ((_, why),) = problems_of("no display\n")
    assert why.startswith("contains no sizing points")


def test_display_of_an_empty_structure_is_a_point() -> None:
    details = DisplayDetails(levels={"CF01": 25}, release="z/OS 3.1", measured_by="J. Doe")
    (found,) = read_points(EMPTY, details).points
    assert found.structure == "QSG1APP1"
    assert found.point == SizingPoint(
        cfcc_level=25,
        structure_type="application",
        entry_ratio=1,
        element_ratio=6,
        size_bytes=200 * MIB,
        initsize_bytes=100 * MIB,
        entries=32143,
        elements=192853,
        origin="display",
        release="z/OS 3.1",
        measured_by="J. Doe",
        measured_on=date(2026, 3, 14),
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ENTRIES:           0", "ENTRIES:          12", "QSG1APP1 holds data: 12 entries and 0 elements are in use."),
        ("SERIALIZED LIST", "LOCK", "QSG1APP1 is a lock structure: only list structures"),
        ("  POLICY SIZE    : 200 M\n", "", "QSG1APP1 does not show POLICY SIZE. Paste the complete answer to D XCF,STR,STRNAME=QSG1APP1."),
        ("ELEMENTS:          0       192853     0\n", "", "does not show the total of ELEMENTS and ELEMENTS in use"),
        ("  POLICY SIZE    : 200 M\n", "  POLICY SIZE    : 50 M\n", "QSG1APP1 gives no point: INITSIZE must not be above SIZE."),
    ],
)  # fmt: skip
def test_display_that_does_not_carry_enough_is_refused(old: str, new: str, message: str) -> None:
    found = problems_of(EMPTY.replace(old, new), DisplayDetails(cfcc_level=25))
    assert any(message in why for _, why in found), found


def test_display_without_a_known_level_is_refused() -> None:
    ((field, why),) = problems_of(EMPTY)
    assert field == "line 3"
    assert "The CFCC level of CF01, in which QSG1APP1 is allocated, is not known" in why


def test_displays_without_a_point_are_left_out_of_a_text_with_points() -> None:
    other = EMPTY.replace("QSG1APP1", "QSG1APP3").replace("ENTRIES:           0", "ENTRIES:          12")
    found = read_points(EMPTY + other, DisplayDetails(cfcc_level=25))
    assert [each.structure for each in found.points] == ["QSG1APP1"]
    (left_out,) = found.left_out
    assert left_out.line == 19
    assert left_out.message.startswith("QSG1APP3 holds data")


def test_totals_that_are_not_close_to_a_whole_ratio_are_the_ratio() -> None:
    text = EMPTY.replace("192853", "144643").replace("32143", "32142")
    (found,) = read_points(text, DisplayDetails(cfcc_level=25)).points
    assert (found.point.entry_ratio, found.point.element_ratio) == (32142, 144643)


def test_admin_structure_is_recognized_by_its_name() -> None:
    (found,) = read_points(EMPTY.replace("QSG1APP1", "QSG1CSQ_ADMIN"), DisplayDetails(cfcc_level=25)).points
    assert found.point.structure_type == "admin"
    (found,) = read_points(EMPTY.replace("QSG1APP1", "QSG1CSQSYSAPPL"), DisplayDetails(cfcc_level=25)).points
    assert found.point.structure_type == "system"


def test_status_display_needs_level_size_and_ratio() -> None:
    ((_, why),) = problems_of(STATUS)
    assert (
        "DISPLAY CFSTATUS(APP2) does not show the CFCC level, SIZE and the ratio of entries to elements"
        in why
    )
    details = DisplayDetails(
        cfcc_level=25, ratio=(1, 6), size_bytes=20480 * KIB, measured_on=date(2026, 11, 3)
    )
    (found,) = read_points(STATUS, details).points
    assert (found.point.initsize_bytes, found.point.entries, found.point.elements) == (
        20480 * KIB,
        4671,
        None,
    )
    used = STATUS.replace("ENTSUSED(0)", "ENTSUSED(7)")
    ((_, why),) = problems_of(used, details)
    assert "APP2 is not shown to be empty: ENTSUSED(7)" in why


def test_status_of_a_structure_in_another_display_is_not_a_second_point() -> None:
    text = EMPTY + STATUS.replace("APP2", "APP1")
    assert len(read_points(text, DisplayDetails(cfcc_level=25)).points) == 1


def test_message_about_an_allocation_is_a_point() -> None:
    (found,) = read_points(ALLOCATION, DisplayDetails(levels={"CF01": 25})).points
    assert (found.point.size_bytes, found.point.initsize_bytes) == (200 * MIB, 100 * MIB)
    assert (found.point.entries, found.point.elements) == (32143, 192853)


_WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=60).map(
    str.strip
)


@given(
    st.builds(
        SizingPoint,
        cfcc_level=st.integers(1, 99),
        structure_type=st.sampled_from(STRUCTURE_TYPES),
        entry_ratio=st.integers(1, 1000),
        element_ratio=st.integers(1, 1000),
        size_bytes=st.integers(2**30, 2**39),
        initsize_bytes=st.integers(1, 2**30),
        entries=st.integers(1, 10**12),
        elements=st.none(),
        origin=st.sampled_from(tuple(ORIGINS)),
        release=_WORDS.filter(lambda text: text.isprintable() and not text.startswith("'")),
        measured_on=st.one_of(st.none(), st.dates()),
        unrounded_from_bytes=st.none(),
        unrounded_to_bytes=st.none(),
        count_step=st.none(),
        measured_by=st.just("J. Doe"),
    ),
    st.booleans(),
)
def test_point_is_read_back_from_its_own_texts(point: SizingPoint, has_elements: bool) -> None:
    elements = (point.entries or 0) * point.element_ratio // point.entry_ratio
    if has_elements and 10 < elements < 10**12:
        point = replace(point, elements=elements)
    assert read_point(values_of(point, "QSG1APP1")).point == point


def test_origins_are_counted_in_words() -> None:
    points = [read_points(f"{HEADING}\n{ROW}\n").points[0].point] * 2
    other = read_points(EMPTY, DisplayDetails(cfcc_level=25)).points[0].point
    assert source_words([*points, other]) == (
        "z/OSMF CF Sizing (z/OS 3.1), 2 points, measured by Doe, J., 2026-11-03",
        "display, 1 point, 2026-03-14",
    )
