"""Tables of structures typed from IBM's published tables: each row needs what the table prints.

Source: IBM MQ, Planning your coupling facility and offload storage environment: Table 1, minimum sizes of the administrative
structure [KB], and Table 2, sizes of an application structure [MB], both of the time of CFCC level 14. The figures are typed
here again, apart from the tables of the planner.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from planner_core.texts.structure_batch import BatchSettings, size_batch

ADMIN_KB: Final = (
    6144, 6912, 7976, 8704, 9728, 10496, 11520, 12288, 13056, 14080, 14848, 15616, 16640, 17408, 18176, 19200, 19968, 20736,
    21760, 22528, 23296, 24320, 25088, 25856, 27136, 27904, 28672, 29696, 30464, 31232, 32256,
)  # fmt: skip
"""Table 1: for 1 to 31 queue managers."""
MESSAGE_KB: Final = (1, 2, 4, 8, 16, 32, 63)
APPLICATION_MB: Final = {
    100: (6, 6, 7, 7, 8, 10, 14),
    1_000: (8, 9, 12, 17, 27, 48, 88),
    10_000: (25, 38, 64, 115, 218, 423, 821),
    100_000: (199, 327, 584, 1097, 2124, 4177, 8156),
}
"""Table 2: by number of messages, for each size in `MESSAGE_KB`."""
INCREMENT_KIB: Final = 256
"""Storage increment of that time."""
SETTINGS: Final = BatchSettings(cfcc_level=14)


def test_administrative_structures_are_those_of_table_1() -> None:
    rows = "".join(f"admin,{number}\n" for number in range(1, len(ADMIN_KB) + 1))
    found = size_batch(f"structure_type,queue_managers\n{rows}", SETTINGS).rows
    assert [row.need_kib for row in found] == list(ADMIN_KB)


def test_application_structures_are_those_of_table_2() -> None:
    cells = [
        (messages, kb, cell)
        for messages, line in APPLICATION_MB.items()
        for kb, cell in zip(MESSAGE_KB, line, strict=True)
    ]
    # The messages of ten minutes, as CFSizer asks for them.
    rows = "".join(
        f"APP{number},{messages // 10},{kb * 1024},10\n" for number, (messages, kb, _) in enumerate(cells)
    )
    found = size_batch(f"structure,small_per_minute,average_size,minutes\n{rows}", SETTINGS).rows
    assert [row.messages for row in found] == [messages for messages, _, _ in cells]
    for row, (messages, kb, cell) in zip(found, cells, strict=True):
        # The table is rounded to the nearest MB, the need up to a storage increment.
        need_mb = Fraction(row.need_kib, 1024)
        assert Fraction(cell) - Fraction(1, 2) <= need_mb, (messages, kb, cell)
        assert need_mb < cell + Fraction(1, 2) + Fraction(INCREMENT_KIB, 1024), (messages, kb, cell)
