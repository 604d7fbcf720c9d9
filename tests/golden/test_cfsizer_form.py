"""The fields of CFSizer's form for IBM MQ, and the published sizes as rows of one file.

Source of the form: ibm-wsc/mq-zos, Slides_QueueSharing.pdf, slide 32 (a screenshot): admin structure with 8 members and
the ratio 1:2; application structure with 100 messages below 63 KB a minute, average size 956, no larger messages, 180
minutes of real storage, no overflow, and the ratio 1:6. The slide shows no sizes. Sources of the sizes: see the tests of
Table 1 and Table 2.
"""

from __future__ import annotations

from fractions import Fraction

from planner_core.texts.structure_batch import BatchSettings, size_batch
from tests.golden.support import ask
from tests.golden.test_table_1_administrative_structure import TABLE_1
from tests.golden.test_table_2_application_structures import CELLS, MESSAGE_KB, TABLE_2

SLIDE_32 = """\
structure,type,members,arrival rate below 63 KB,average size,arrival rate from 63 KB,CF real storage message capacity,overflow (SCM) message capacity,ratio
,admin,8,,,,,,1:2
APPL1,application,,100,956,0,180,0,1:6
"""


def test_slide_32_gives_18000_messages_at_one_entry_and_six_elements() -> None:
    admin, application = size_batch(SLIDE_32, BatchSettings(cfcc_level=14)).rows
    # 956 bytes and the header are 6 elements of 256 bytes, so that the ratio of the form fits exactly.
    assert (application.messages, application.entries, application.elements) == (18_000, 18_000, 108_000)
    assert admin.need_kib == dict(TABLE_1)[8]
    alone = ask("structure", "--messages", 18_000, "--message-bytes", 956, "--cfcc", 14)
    assert application.need_kib - 1 < alone["size_mib"] * 1024 <= application.need_kib + 1


def test_rows_of_table_1_have_the_printed_sizes() -> None:
    rows = "".join(f"admin,{members},Q{members}\n" for members, _ in TABLE_1)
    found = size_batch(f"type,members,qsg\n{rows}", BatchSettings(cfcc_level=14)).rows
    # The size for three queue managers is a misprint, which the table of the core corrects.
    printed = [size for members, size in TABLE_1 if members != 3]
    assert [row.need_kib for row in found if row.queue_managers != 3] == printed


def test_rows_of_table_2_have_the_printed_sizes() -> None:
    most = 64_512
    cells = [
        (messages, kb, printed)
        for messages, sizes in TABLE_2.items()
        for kb, printed in zip(MESSAGE_KB, sizes, strict=True)
    ]
    assert len(cells) == len(CELLS)
    rows = "".join(
        f"A{number},{messages},{min(kb * 1024, most)},1\n" for number, (messages, kb, _) in enumerate(cells)
    )
    found = size_batch(
        f"structure,small_per_minute,average_size,minutes\n{rows}", BatchSettings(cfcc_level=14)
    ).rows
    for row, (_, _, printed) in zip(found, cells, strict=True):
        assert printed - Fraction(1, 2) <= Fraction(row.need_kib, 1024) <= printed + Fraction(1, 2), row
