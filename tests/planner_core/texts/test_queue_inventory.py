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
