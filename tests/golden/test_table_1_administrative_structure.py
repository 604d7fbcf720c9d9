"""Minimum administrative structure sizes.

Source: IBM MQ for z/OS documentation, "Planning your coupling facility and offload storage
environment", Table 1 (established for a CFCC level 14 coupling facility), and
https://www.ibm.com/docs/en/ibm-mq/9.4?topic=qsg-planning-your-coupling-facility-offload-storage-environment
The value for three queue managers is 7976 as printed; every other one is a multiple of 256 KB.
"""

from __future__ import annotations

import pytest

from tests.golden.support import ask

# Queue managers defined in the queue sharing group, required storage in KB: as printed.
TABLE_1 = (
    (1, 6144),
    (2, 6912),
    (3, 7976),
    (4, 8704),
    (5, 9728),
    (6, 10496),
    (7, 11520),
    (8, 12288),
    (9, 13056),
    (10, 14080),
    (11, 14848),
    (12, 15616),
    (13, 16640),
    (14, 17408),
    (15, 18176),
    (16, 19200),
    (17, 19968),
    (18, 20736),
    (19, 21760),
    (20, 22528),
    (21, 23296),
    (22, 24320),
    (23, 25088),
    (24, 25856),
    (25, 27136),
    (26, 27904),
    (27, 28672),
    (28, 29696),
    (29, 30464),
    (30, 31232),
    (31, 32256),
)


def test_expected_table_has_all_31_rows() -> None:
    assert [count for count, _ in TABLE_1] == list(range(1, 32))


@pytest.mark.parametrize(
    ("queue_managers", "required_kb"), TABLE_1, ids=[f"{count}-qmgrs" for count, _ in TABLE_1]
)
def test_table_1_row_is_returned_as_printed(queue_managers: int, required_kb: int) -> None:
    answer = ask("admin", "--queue-managers", queue_managers, "--cfcc", 14)

    assert answer["size_kib"] == required_kb
    assert answer["entries_required"] == 1000 * queue_managers
