"""Tables of structures: sizes equal to those of plans, errors with line and column, and plan documents."""

from __future__ import annotations

from decimal import Decimal

import pytest

from planner_core.document.reading import read_object
from planner_core.errors import InputInvalid
from planner_core.plan.evaluate import evaluate
from planner_core.texts.structure_batch import BatchSettings, SizedRow, size_batch
from planner_core.texts.structure_rows import read_structure_rows
from planner_core.units import bytes_to_kib_ceil

SETTINGS = BatchSettings(cfcc_level=25)
HEADING = "structure,structure_type,qsg,queue_managers,small_per_minute,average_size,large_per_minute,large_size,minutes,overflow_minutes,ratio\n"
ROWS = HEADING + (
    ",admin,SQ01,8,,,,,,,1:2\n"
    "APP1,,SQ01,,100,956,0,,180,0,1:6\n"
    "APP2,,SQ01,,600.5,3000,2,100000,60,30,\n"
    "APP3,,SQ01,,10,20000,0,,60,0,1:30\n"
    "APP1,application,SQ02,4,0,,7,,10,0,\n"
)
POLICY = "structure,structure_type,qsg,queue_managers,small_per_minute,average_size,minutes,Size,INITSIZE,PREFLIST\n"
STATED = POLICY + (
    ",admin,SQ01,8,,,,60M,40960,CF01 CF02\n"
    'APP1,,SQ01,,100,956,180,131072,64M,"cf02,CF01"\n'
    "APP2,,SQ01,,100,956,180,150M,,\n"
    "APP3,,SQ01,,100,956,180,,,(CF01)\n"
    ",admin,SQ02,8,,,,,,\n"
)


def problems_of(text: str, *, makes_plans: bool = False, settings: BatchSettings = SETTINGS) -> list[str]:
    with pytest.raises(InputInvalid) as refused:
        size_batch(text, settings, makes_plans=makes_plans)
    return [str(each) for each in refused.value.problems]


@pytest.mark.parametrize("rows", [ROWS, STATED])
def test_sizes_equal_those_of_the_plans_made_of_the_rows(rows: str) -> None:
    found = size_batch(rows, SETTINGS, makes_plans=True)
    assert [plan.qsg for plan in found.plans] == ["SQ01", "SQ02"]
    by_name: dict[tuple[str | None, str], SizedRow] = {(row.qsg, row.structure): row for row in found.rows}
    compared = 0
    for plan in found.plans:
        for each in evaluate(read_object(plan.document)).structures:
            row = by_name.get((plan.qsg, each.name))
            if row is None:
                continue
            compared += 1
            assert row.initsize_kib == bytes_to_kib_ceil(each.sizes.initsize_bytes)
            assert row.size_kib == bytes_to_kib_ceil(each.sizes.size_bytes)
    assert compared == len(found.rows)
    assert found.total_size_kib == sum(row.size_kib for row in found.rows)


def test_stated_sizes_and_preference_lists_are_those_of_the_rows_and_the_plans() -> None:
    found = size_batch(STATED, SETTINGS, makes_plans=True)
    sizes = [(row.size_kib, row.initsize_kib) for row in found.rows]
    assert sizes[:2] == [(60 * 1024, 40 * 1024), (128 * 1024, 64 * 1024)]
    plain = size_batch(ROWS, SETTINGS).rows[1]
    assert [row.initsize_kib for row in found.rows[2:4]] == [plain.initsize_kib] * 2
    assert {row.calculated_initsize_kib for row in found.rows[1:4]} == {plain.initsize_kib}
    assert [row.basis.value for row in found.rows[:4]] == [
        "given",
        "given",
        plain.basis.value,
        plain.basis.value,
    ]
    document = read_object(found.plans[0].document)
    assert (document.admin.size, document.admin.initsize) == (60 * 2**20, 40 * 2**20)
    assert document.admin.preflist == ["CF01", "CF02"]
    assert [each.preflist for each in document.structures] == [["CF02", "CF01"], [], ["CF01"]]
    # The administrative structure of another group with the same number of queue managers has no stated sizes.
    assert "admin" not in found.plans[1].document
    assert found.rows[4].initsize_kib == found.rows[0].calculated_initsize_kib


def test_stated_sizes_are_compared_with_the_need() -> None:
    small = POLICY + ",admin,SQ01,8,,,,,20M,\nAPP1,,SQ01,,100,956,180,300M,40M,\n"
    admin, app1 = size_batch(small, SETTINGS).rows
    assert admin.notes[0] == "INITSIZE as in the table; INITSIZE 28672K would be calculated."
    assert admin.notes[1].startswith("ADMIN_BELOW_MINIMUM: CSQ_ADMIN has 20M, below the 28672K")
    codes = [note.partition(":")[0] for note in app1.notes[1:]]
    assert codes == ["SIZE_OVER_TWICE_INITSIZE", "INITSIZE_BELOW_XCF_MINIMUM", "INITSIZE_BELOW_NEED"]


def test_size_alone_is_the_size_of_messages_and_can_be_mapped() -> None:
    text = "structure,small_per_minute,size,minutes\nA,1,956,1\n"
    assert read_structure_rows(text)[0].average_size == 956
    text = "structure,small_per_minute,average_size,minutes,size\nA,1,956,1,1G\n"
    assert "names the column average_size twice" in problems_of(text)[0]
    [row] = size_batch(text, SETTINGS, mapping={"SIZE": "structure_size"}).rows
    assert row.size_kib == 1024 * 1024


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ("1G,2X,", "line 2, initsize: '2X' is not a valid size: write a number and a unit"),
        ("1G,2G,", "line 2, initsize: INITSIZE 2G is above SIZE 1G"),
        (
            "1.000,500,",
            "line 2, structure_size: may have a thousands separator: write 1000 or 1, not '1.000'",
        ),
        ("1G,1G,TOOLONGNAME", "line 2, preflist: 'TOOLONGNAME' is not allowed here"),
        ("1G,1G,CF01 cf01", "line 2, preflist: coupling facility CF01 occurs twice"),
        ("1G,1G,A B C D E F G H I", "line 2, preflist: has 9 items: at most 8"),
        ("99999G,1G,", "line 2, structure_size: must be between"),
    ],
)
@pytest.mark.parametrize("row", ["APP1,,SQ01,,100,956,180,", ",admin,SQ01,8,,,,"])
def test_values_of_a_policy_that_a_plan_refuses_have_their_line_and_column(
    row: str, cells: str, words: str
) -> None:
    [problem] = problems_of(f"{POLICY}{row}{cells}\n")
    assert problem.startswith(words)


def test_large_messages_are_a_second_queue_and_overflow_is_counted_apart() -> None:
    found = size_batch(ROWS, SETTINGS, makes_plans=True)
    row = found.rows[2]
    assert (row.messages, row.large_messages, row.overflow_messages) == (36_030 + 120, 120, 18_015 + 60)
    assert row.overflow_element_bytes > 18_015 * 3000
    assert "does not include the overflow" in row.notes[0]
    [_, app2, _] = found.plans[0].document["structures"]
    assert [queue["name"] for queue in app2["queues"]] == ["APP2", "APP2.LARGE"]
    assert app2["queues"][1]["message_bytes"] == 100_000
    assert "size of the large messages is not stated" in found.rows[4].notes[0]


def test_overflow_at_a_level_without_storage_class_memory_is_noted() -> None:
    [row] = size_batch(
        "structure,small_per_minute,average_size,minutes,overflow_minutes\nA,1,1,1,1\n",
        BatchSettings(cfcc_level=26),
    ).rows
    assert "has no storage-class memory" in row.notes[0]


def test_large_messages_of_any_size_take_the_same_space_in_the_structure() -> None:
    heading = "structure,small_per_minute,large_per_minute,large_size,minutes\n"
    rows = size_batch(f"{heading}A,0,50,,60\nB,0,50,1000000,60\n", SETTINGS).rows
    assert rows[0].initsize_kib == rows[1].initsize_kib


def test_every_error_has_its_line_and_column() -> None:
    text = HEADING + (
        "APP1,,SQ01,,x,956,0,,180,0,1:6\n"
        "1APP,other,sq-1,99,1,70000,0,5,,,6\n"
        ",,SQ01,,100,956,0,,180,0,\n"
        "APP4,,SQ01,,0,,0,,180,0,\n"
        "APP5,admin,SQ01,,1,,,,,,1:6\n"
        "APP6,SQ01\n"
        "APP7,,SQ01,,1000000000,1,0,,100000,0,\n"
        "APP8,,SQ01,,1,1,0,,1,0,0:1\n"
    )
    found = problems_of(text)
    places = [each.partition(":")[0] for each in found]
    assert places == [
        "line 2, small_per_minute",
        "line 3, structure_type", "line 3, structure", "line 3, minutes", "line 3, average_size", "line 3, large_size",
        "line 3, ratio", "line 3, qsg", "line 3, queue_managers",
        "line 4, structure",
        "line 5, small_per_minute",
        "line 6, structure", "line 6, small_per_minute", "line 6, ratio", "line 6, queue_managers",
        "line 7",
        "line 8, minutes",
        "line 9, ratio",
    ]  # fmt: skip


def test_repeated_structure_is_refused_within_a_group_only() -> None:
    again = ROWS + "APP1,,SQ01,,100,956,0,,180,0,1:6\n"
    assert problems_of(again) == ["line 7, structure: APP1 is already on line 3"]


def test_unknown_heading_is_refused_until_it_is_mapped_or_ignored() -> None:
    text = "Struktur;Ankunft;Groesse;Dauer;Besitzer\nAPP1;100;956;180;me\n"
    assert len(problems_of(text)) == 5
    mapping = {
        "struktur": "structure", "Ankunft": "small_per_minute", "Groesse": "average_size", "DAUER": "minutes", "Besitzer": "-",
    }  # fmt: skip
    [row] = size_batch(text, SETTINGS, mapping=mapping).rows
    assert row.messages == 18_000
    with pytest.raises(InputInvalid, match=r"unknown column 'minute'.*did you mean minutes"):
        size_batch(text, SETTINGS, mapping=mapping | {"Dauer": "minute"})


def test_plans_are_made_for_all_groups_or_none() -> None:
    many = "".join(f"B{n},,SQ03,,1,1,0,,1,0,\n" for n in range(70))
    text = f"{ROWS}{many}C,,,,1,1,0,,1,0,\n"
    assert problems_of(text, makes_plans=True) == [
        "line 77, qsg: is missing: a plan needs it; state it here or for the whole file"
    ]
    found = problems_of(text, makes_plans=True, settings=BatchSettings(qsg="SQ02"))
    assert [each.partition(":")[0] for each in found] == ["line 7, queue_managers", "line 70, structure"]


def test_plan_with_two_levels_or_two_numbers_of_queue_managers_is_refused() -> None:
    text = (
        "structure,qsg,small_per_minute,average_size,minutes,cfcc_level,queue_managers,queue\n"
        "A,SQ01,1,1,1,24,2,Q\nB,SQ01,1,1,1,25,3,Q\n"
    )
    found = problems_of(text, makes_plans=True)
    assert [each.partition(":")[0] for each in found] == [
        "line 2, queue_managers", "line 2, cfcc_level", "line 3, queue",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "\n", "structure\n", "\0", '"', "structure,\n" * 3, "\ufeff;;;"])
def test_text_that_is_no_table_is_refused(text: str) -> None:
    assert problems_of(text)


def test_five_thousand_rows_are_sized_at_once() -> None:
    rows = "".join(
        f"A{n % 60},,Q{n // 60:03d},,{n % 9 + 1},{900 + n % 500},{n % 3},,60,0,\n" for n in range(5_000)
    )
    found = size_batch(HEADING + rows, BatchSettings(queue_managers=4), makes_plans=True)
    assert (len(found.rows), len(found.plans)) == (5_000, 84)


@pytest.mark.parametrize(
    ("values", "field", "words"),
    [
        ("1,500;956;1", "small_per_minute", "may have a thousands separator: write 1500 or 1.5, not '1,500'"),
        ("1;1.024;1", "average_size", "may have a thousands separator: write 1024, not '1.024'"),
        ("1;956;1.000,5", "minutes", "no thousands separators, such as 1200.5, not '1.000,5'"),
        ("1;956;many", "minutes", "must be a number such as 100 or 0.5, not 'many'"),
        ("1;956;-1", "minutes", "must be a number such as 100 or 0.5, not '-1'"),
    ],
)
def test_cell_that_is_no_number_or_may_be_two_is_refused(values: str, field: str, words: str) -> None:
    with pytest.raises(InputInvalid) as refused:
        read_structure_rows(f"structure;small_per_minute;average_size;minutes\nAPP1;{values}\n")
    [problem] = refused.value.problems
    assert problem.field == f"line 2, {field}"
    assert problem.message.endswith(words)


def test_cells_with_unambiguous_separators_are_read() -> None:
    values = "0,5;1 024;12,345.5;4,096K"
    text = f"structure;small_per_minute;average_size;minutes;initsize\nAPP1;{values}\n"
    with pytest.raises(InputInvalid, match=r"write 4096K or 4\.0960K"):
        read_structure_rows(text)
    (row,) = read_structure_rows(text.replace("4,096K", "4,096"))
    assert (row.small_per_minute, row.average_size, row.minutes) == (Decimal("0.5"), 1024, Decimal("12345.5"))
    assert row.policy["initsize"].in_plan == "4096"
