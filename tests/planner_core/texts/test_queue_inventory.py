"""Tables of queues become plan documents, completely or not at all."""

from __future__ import annotations

import pytest

from planner_core.document.reading import read_object
from planner_core.errors import DocumentInvalid, InputInvalid
from planner_core.texts.queue_inventory import InventorySettings, plan_of_queues

SETTINGS = InventorySettings(qsg="SQ01", queue_managers=3)
TABLE = (
    "Queue;CFSTRUCT;Avg size;MAXDEPTH;DEFPSIST;Owner\n"
    "PAY.IN;PAY;1K;1000;YES;a\n"
    "PAY.OUT;PAY;2K;2,000;NO;b\n"
    "TRADE;TRADES;500;10;NO;c\n"
)


def problems_of(text: str, **settings: str) -> list[str]:
    with pytest.raises(InputInvalid) as refused:
        plan_of_queues(text, InventorySettings(qsg="SQ01", queue_managers=3, **settings))  # type: ignore[arg-type]
    return [str(each) for each in refused.value.problems]


def test_queues_are_grouped_by_structure() -> None:
    found = plan_of_queues(TABLE, SETTINGS, mapping={"Owner": "-"})
    document = read_object(found.document)
    assert [(each.name, len(each.queues)) for each in document.structures] == [("PAY", 2), ("TRADES", 1)]
    assert (found.structures, found.queues, found.notes) == (2, 3, ())
    assert document.structures[0].queues[1].backlog == 2_000


def test_unknown_heading_names_the_columns_to_map_it_to() -> None:
    [problem] = problems_of(TABLE)
    assert problem.startswith(
        "line 1: names the unknown column 'Owner'; map it to one of name, message_bytes"
    )
    assert problem.endswith("or to - to ignore it")


def test_ignored_column_does_not_shift_the_others() -> None:
    found = plan_of_queues("x,name,structure,size,depth\n9,Q,A,1K,5\n", SETTINGS, mapping={"X": "-"})
    assert found.document["structures"][0]["queues"] == [{"name": "Q", "message_bytes": 1024, "backlog": 5}]


def test_missing_values_come_from_the_settings_or_are_errors() -> None:
    text = "name,structure,size,depth\nA,,,5\nB,X,1K,\n"
    assert [each.partition(":")[0] for each in problems_of(text)] == ["line 2", "line 3", "line 2, structure"]
    settings = InventorySettings(qsg="SQ01", queue_managers=3, structure="S", message_bytes=2048)
    found = plan_of_queues("name,structure,size,depth\nA,,,5\n", settings)
    assert found.document["structures"] == [
        {"name": "S", "queues": [{"name": "A", "message_bytes": 2048, "backlog": 5}]}
    ]
    assert found.notes == ("1 queues without a message size have the size of the settings, 2048 bytes.",)


def test_values_that_a_plan_refuses_have_the_line_of_their_queue() -> None:
    text = "name,structure,size,depth\nA,X,1K,5\nB,Y,999999999,5\n"
    assert problems_of(text) == ["line 3, message_bytes: must be between 0 and 104857600 bytes (100 MB)"]


def test_errors_of_the_settings_keep_their_pointer() -> None:
    with pytest.raises(DocumentInvalid, match="/qsg"):
        plan_of_queues(TABLE, InventorySettings(qsg="sq-1", queue_managers=3), mapping={"Owner": "-"})


@pytest.mark.parametrize(
    "text", ["", "\n", "name\n", "structure\nA\n", '"', "\0", "name,structure\nA,B,C,D\n"]
)
def test_text_that_is_no_table_is_refused(text: str) -> None:
    assert problems_of(text)


HEADING = "CFSTRUCT;QUEUE;MSGSIZE;BACKLOG;SIZE;INITSIZE;PREFLIST\n"


def test_sizes_and_preference_list_of_a_structure_are_read() -> None:
    text = HEADING + "APP1;A;2K;10;2G;1048576;cf01, CF02\nAPP1;B;2K;10;;;\nAPP2;C;1K;5;;256M;(CF02 CF01)\n"
    first, second = read_object(plan_of_queues(text, SETTINGS).document).structures
    assert (first.size, first.initsize, first.preflist) == (2 * 2**30, 2**30, ["CF01", "CF02"])
    assert (second.size, second.initsize, second.preflist) == (None, 256 * 2**20, ["CF02", "CF01"])
    assert [len(each.queues) for each in (first, second)] == [2, 1]


def test_equal_sizes_in_different_units_do_not_contradict_each_other() -> None:
    text = HEADING + "APP1;A;2K;10;2G;1048576;CF01\nAPP1;B;2K;10;2048M;1G;cf01\n"
    (found,) = plan_of_queues(text, SETTINGS).document["structures"]
    assert (found["size"], found["initsize"], found["preflist"]) == ("2G", "1G", ["CF01"])


def test_size_without_initsize_is_the_size_of_messages() -> None:
    found = plan_of_queues("QUEUE,SIZE,BACKLOG,STRUCTURE\nA,2K,5,APP1\n", SETTINGS)
    assert found.document["structures"] == [
        {"name": "APP1", "queues": [{"name": "A", "message_bytes": 2048, "backlog": 5}]}
    ]
    mapped = plan_of_queues(
        "QUEUE,MSGSIZE,SIZE,BACKLOG,STRUCTURE\nA,2K,1G,5,APP1\n", SETTINGS, mapping={"SIZE": "structure_size"}
    )
    assert mapped.document["structures"][0]["size"] == "1G"


def test_rows_of_a_structure_that_contradict_each_other_are_errors() -> None:
    text = HEADING + "APP1;A;2K;10;2G;1G;CF01\nAPP1;B;2K;10;3G;1G;CF01 CF02\n"
    assert problems_of(text) == [
        "line 3, structure_size: is 3G, but line 2 states 2G for the same structure",
        "line 3, preflist: is CF01 CF02, but line 2 states CF01 for the same structure",
    ]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ("1G;2X;", "line 2, initsize: '2X' is not a valid size"),
        ("1G;2G;", "line 2, initsize: INITSIZE 2G is above SIZE 1G"),
        (
            "1.000;500;",
            "line 2, structure_size: may have a thousands separator: write 1000 or 1, not '1.000'",
        ),
        ("1.000,5;500;", "no thousands separators, such as 1200.5, not"),
        ("1G;1G;TOOLONGNAME", "line 2, preflist: 'TOOLONGNAME' is not allowed here"),
    ],
)
def test_values_of_a_structure_that_a_plan_refuses_have_their_line_and_column(cells: str, words: str) -> None:
    assert words in problems_of(f"{HEADING}APP1;A;2K;10;{cells}\n")[0]


def test_number_with_separators_is_an_error_with_its_value_and_a_hint() -> None:
    [problem] = problems_of(HEADING + "APP1;A;2K;1.234,5;;;\n")
    assert problem == (
        "line 2: A: '1.234,5' (backlog) must be a whole number in digits, without separators, such as 1200"
    )


def test_error_of_a_structure_has_the_line_that_states_the_value() -> None:
    text = HEADING + "APP1;A;2K;10;;;CF01\nAPP1;B;2K;10;1G;2G;\nAPP2;C;2K;10;20000G;;\n"
    assert [each.partition(":")[0] for each in problems_of(text)] == ["line 4, structure_size"]
    assert problems_of(text.replace("20000G", "1G")) == ["line 3, initsize: INITSIZE 2G is above SIZE 1G"]
