"""XCF's displays of structures are read from a console or SYSLOG, wrapped, and in any unit."""

from __future__ import annotations

from datetime import date, time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_core.texts.console import Stamp, lines
from planner_core.texts.xcf.displays import DisplayedInstance, StructureDisplay, XcfText, read_xcf
from planner_core.units import format_size
from tests.spark_jobs.readers import support

K, M, G = 1024, 1024**2, 1024**3


def one(text: str) -> StructureDisplay:
    (found,) = read_xcf(text).structures
    return found


def test_display_is_read_line_by_line() -> None:
    found = read_xcf(support.IXC360I)
    assert found.problems == ()
    assert found.structures == (
        StructureDisplay(
            line=3,
            name="QSG1APPLICATION1",
            displayed_at_local=Stamp(time(10, 21, 33)),
            status="ALLOCATED",
            structure_type="SERIALIZED LIST",
            policy_size_bytes=512 * M,
            policy_initsize_bytes=256 * M,
            policy_minsize_bytes=0,
            full_threshold_percent=85,
            allow_auto_alter=False,
            duplex="DISABLED",
            preflist=("CF01", "CF02"),
            connectors=("CSQEQSG1QM0101",),
            instances=(
                DisplayedInstance(
                    line=20,
                    coupling_facility="CF01",
                    allocated_at_local=Stamp(time(9, 12, 44), date(2026, 3, 14)),
                    size_bytes=256 * M,
                    entries_in_use=1200,
                    entries_total=111_234,
                    elements_in_use=8100,
                    elements_total=667_404,
                    emcs_in_use=10,
                    emcs_total=20,
                    locks_total=1024,
                    storage_increment_bytes=M,
                    physical_version="B4704775 92D95302",
                    logical_version="B4704775 92D95302",
                    disposition="KEEP",
                ),
            ),
            enforce_order=False,
        ),
    )


def test_unallocated_structure_has_no_instances() -> None:
    """The display of IBM's manual for IMS CQS, in the older style."""
    found = one(
        "STRNAME: IMSRSRC01\n  STATUS: NOT ALLOCATED\n    POLICY SIZE      : 4096 K\n    POLICY INITSIZE  : N/A\n"
        "    FULLTHRESHOLD    : 80\n    REBUILD PERCENT  : N/A\n    DUPLEX           : DISABLED\n"
        "    PREFERENCE LIST  : LF03\n    ENFORCEORDER     : NO\n    EXCLUSION LIST IS EMPTY\n"
    )
    assert (found.name, found.status, found.instances) == ("IMSRSRC01", "NOT ALLOCATED", ())
    assert (found.policy_size_bytes, found.policy_initsize_bytes) == (4096 * K, None)
    assert (found.full_threshold_percent, found.preflist, found.exclist) == (80, ("LF03",), ())


def test_pending_policy_and_second_instance_are_read_separately() -> None:
    again = support.IXC360I[
        support.IXC360I.index("  ALLOCATION TIME") : support.IXC360I.index("  CONNECTION NAME")
    ]
    text = support.IXC360I.replace(
        " ACTIVE STRUCTURE\n ----------------\n",
        " PENDING POLICY INFORMATION:\n  POLICY SIZE    : 900 M\n\n DUPLEXING REBUILD NEW STRUCTURE\n ------------\n",
    )
    text = text.replace(
        "  CONNECTION NAME",
        f" DUPLEXING REBUILD OLD STRUCTURE\n -----\n{again.replace('CF01', 'CF02')}  CONNECTION NAME",
    )
    found = one(text)
    assert found.policy_size_bytes == 512 * M
    assert [(each.role, each.coupling_facility) for each in found.instances] == [
        ("NEW", "CF01"),
        ("OLD", "CF02"),
    ]
    assert found.connectors == ("CSQEQSG1QM0101",)


def test_lists_that_continue_on_the_next_lines_are_read() -> None:
    text = support.IXC360I.replace(
        "  PREFERENCE LIST: CF01     CF02\n", "  PREFERENCE LIST: CF01     CF02\n                   CF03\n"
    ).replace(
        "  EXCLUSION LIST IS EMPTY",
        "  EXCLUSION LIST: QSG1CSQ_ADMIN    QSG1CSQSYSAPPL\n                  OTHER01",
    )
    found = one(text)
    assert found.preflist == ("CF01", "CF02", "CF03")
    assert found.exclist == ("QSG1CSQ_ADMIN", "QSG1CSQSYSAPPL", "OTHER01")


def test_several_structures_in_one_response_are_read() -> None:
    second = support.IXC360I[support.IXC360I.index("STRNAME:") :].replace("QSG1APPLICATION1", "QSG1CSQ_ADMIN")
    found = read_xcf(support.IXC360I + second)
    assert [each.name for each in found.structures] == ["QSG1APPLICATION1", "QSG1CSQ_ADMIN"]
    assert [len(each.instances) for each in found.structures] == [1, 1]


def test_display_without_line_breaks_is_read() -> None:
    found = read_xcf(" ".join(support.IXC360I.split("\n")))
    assert found.problems == ()
    (structure,) = found.structures
    assert (structure.status, structure.duplex) == ("ALLOCATED EVENT", "DISABLED")
    assert (structure.policy_size_bytes, structure.allow_auto_alter) == (512 * M, False)


def test_500_structures_in_one_response_are_all_read() -> None:
    second = support.IXC360I[support.IXC360I.index("STRNAME:") :]
    found = read_xcf(support.IXC360I + second * 499)
    assert len(found.structures) == 500
    assert {each.instances[0].entries_total for each in found.structures} == {111_234}
    assert found.structures[-1].line > 500 * 35


def test_counts_that_contradict_their_percentage_are_left_out_and_reported() -> None:
    found = read_xcf(
        support.IXC360I.replace("ENTRIES:        1200       111234     1", "ENTRIES: 1200 1112 1")
    )
    (problem,) = found.problems
    assert problem.line == 29
    assert "ENTRIES" in problem.message
    (instance,) = found.structures[0].instances
    assert (instance.entries_in_use, instance.elements_in_use) == (None, 8100)


def test_invalid_size_is_reported_with_its_line() -> None:
    found = read_xcf(
        support.IXC360I.replace("ACTUAL SIZE            : 256 M", "ACTUAL SIZE            : big")
    )
    assert [(problem.line, "ACTUAL SIZE" in problem.message) for problem in found.problems] == [(27, True)]
    assert found.structures[0].instances[0].size_bytes is None


ENTRIES = "  ENTRIES:        1200       111234     1"


@pytest.mark.parametrize(
    "written", ["126K 111234 1", "1.200 111.234 1", "12 111K 0", "1,200 111,234 1", "??", ""]
)
def test_unreadable_counts_are_reported_with_line_and_text(written: str) -> None:
    found = read_xcf(support.IXC360I.replace(ENTRIES, f"  ENTRIES: {written}\n *"))
    (problem,) = found.problems
    assert problem.line in {29, 30}
    assert problem.message.startswith("ENTRIES")
    assert written in problem.message
    (instance,) = found.structures[0].instances
    assert (instance.entries_in_use, instance.entries_total, instance.elements_in_use) == (None, None, 8100)


@pytest.mark.parametrize("written", ["N/A", "  --        --", "NONE"])
def test_counts_marked_as_none_are_not_reported(written: str) -> None:
    assert read_xcf(support.IXC360I.replace(ENTRIES, f"  ENTRIES: {written}")).problems == ()


@pytest.mark.parametrize(
    "wrapped",
    [
        "  ENTRIES:        1200\n       111234     1",
        "  ENTRIES:        1200       111234\n     1",
        "  ENTRIES:\n        1200       111234     1",
        "\tENTRIES :\t1200\t111234\t1%",
        "  ENTRIES:\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}1200\N{NO-BREAK SPACE}111234\N{NO-BREAK SPACE}1",
    ],
)
def test_line_of_counts_wrapped_by_a_console_is_read(wrapped: str) -> None:
    found = read_xcf(support.IXC360I.replace(ENTRIES, wrapped))
    (instance,) = found.structures[0].instances
    assert (instance.entries_in_use, instance.entries_total, instance.elements_total) == (
        1200,
        111_234,
        667_404,
    )
    assert found.problems == ()


def test_unreadable_counts_of_a_full_event_are_reported_with_their_line() -> None:
    text = support.IXC585E.replace("IN USE:     4874 TOTAL:     4874", "IN USE:     4.8K TOTAL:     4874")
    found = read_xcf(text)
    (problem,) = found.problems
    assert (problem.line, "4.8K" in problem.message) == (4, True)
    (event,) = found.full_events
    assert (event.entries_in_use, event.elements_in_use) == (None, 19)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FULLTHRESHOLD  : 85", "FULLTHRESHOLD  : 185"),
        ("ALLOWAUTOALT   : NO", "ALLOWAUTOALT   : NEIN"),
        ("ALLOCATION TIME: 03/14/2026 09:12:44", "ALLOCATION TIME: 14.03.2026 09:12:44"),
        ("POLICY SIZE    : 512 M", "POLICY SIZE    : 512 Q"),
    ],
)
def test_unreadable_value_is_reported_with_line_and_text(old: str, new: str) -> None:
    (problem,) = read_xcf(support.IXC360I.replace(old, new)).problems
    number = next(n for n, line in enumerate(support.IXC360I.split("\n"), start=1) if old in line)
    assert problem.line == number
    assert new.partition(":")[2].strip()[:12] in problem.message


def test_unreadable_ratio_is_reported() -> None:
    (problem,) = read_xcf(support.IXC588I.replace("1 : 5", "one to five")).problems
    assert (problem.line, "one to five" in problem.message) == (5, True)


def test_truncated_display_gives_no_wrong_values_and_is_reported() -> None:
    (whole,) = one(support.IXC360I).instances
    last = support.IXC360I.index("  ELEMENTS:")
    for length in range(support.IXC360I.index("  ALLOCATION TIME") + len("  ALLOCATION TIME:"), last):
        found = read_xcf(support.IXC360I[:length])
        assert found.problems, support.IXC360I[:length][-60:]
        for instance in found.structures[0].instances:
            assert instance.entries_total in {None, whole.entries_total}
            assert instance.entries_in_use in {None, whole.entries_in_use}
            assert instance.size_bytes in {None, whole.size_bytes}


def test_truncated_message_gives_no_wrong_values_and_is_reported() -> None:
    (whole,) = read_xcf(support.IXC582I).allocations
    for length in range(support.IXC582I.index(" STRUCTURE TYPE"), support.IXC582I.index(" EMC COUNT")):
        found = read_xcf(support.IXC582I[:length])
        assert found.problems
        for made in found.allocations:
            for name in (
                "size_bytes",
                "max_size_bytes",
                "policy_size_bytes",
                "entries_total",
                "elements_total",
            ):
                assert getattr(made, name) in {None, getattr(whole, name)}


def test_truncated_message_is_reported_with_its_line() -> None:
    text = support.IXC582I[: support.IXC582I.index(" ENTRY COUNT")]
    (problem,) = read_xcf(text).problems
    assert (problem.line, "ENTRY COUNT" in problem.message) == (text.count("\n") + 1, True)


def test_summary_list_is_refused_with_advice() -> None:
    text = "IXC359I  15.57.52  DISPLAY XCF\nSTRNAME            ALLOCATION TIME   STATUS\nQSG1A  11/27/2005 15:57:47 ALLOCATED\n"
    (problem,) = read_xcf(text).problems
    assert "STRNAME=" in problem.message


def test_published_full_event_is_read() -> None:
    """IBM's manual for IMS CQS."""
    found = read_xcf(
        "*IXC585E STRUCTURE IMSRSRC01 IN COUPLING FACILITY LF03, 725\n"
        " PHYSICAL STRUCTURE VERSION B4704775 92D95302,\n"
        " IS AT OR ABOVE STRUCTURE FULL MONITORING THRESHOLD OF 80%.\n"
        " ENTRIES:  IN USE:     4874 TOTAL:     4874, 100% FULL\n"
        " ELEMENTS: IN USE:       19 TOTAL:     4872,   0% FULL\n"
    )
    (event,) = found.full_events
    assert (event.name, event.coupling_facility, event.threshold_percent) == ("IMSRSRC01", "LF03", 80)
    assert (event.entries_in_use, event.entries_total) == (4874, 4874)
    assert (event.elements_in_use, event.elements_total) == (19, 4872)
    assert event.physical_version == "B4704775 92D95302"
    assert found.problems == ()


def test_refusal_from_a_console_belongs_to_its_structure() -> None:
    found = read_xcf(
        "IXL015I STRUCTURE ALLOCATION INFORMATION FOR\nSTRUCTURE QSG1APPLICATION1, CONNECTOR NAME CSQEQSG1CSQ101,\n"
        "CONNECTIVITY=SYSPLEX\nCFNAME   ALLOCATION STATUS/FAILURE REASON\n-------- -----------------------\n"
        "CF01     STRUCTURE ALLOCATED CC001800\n"
    )
    assert {refusal.name for refusal in found.refusals} == {"QSG1APPLICATION1"}


def test_published_refusals_are_read() -> None:
    """The z16 performance report, and IBM's answer on ISTGENERIC, which has lost its indentation."""
    found = read_xcf(
        "IXL015I STRUCTURE ALLOCATION INFORMATION FOR 213\n STRUCTURE PERFCSQSYSAPPL, CONNECTOR NAME CSQEPERFVKW303,\n"
        " CONNECTIVITY=DEFAULT\n CFNAME ALLOCATION STATUS/FAILURE REASON\n -------- ---------------------\n"
        " AACF01   INVALID STRUCTURE SIZE:             20 M\n          INITSIZE MUST BE AT LEAST:          41 M\n"
    )
    (refusal,) = found.refusals
    assert (refusal.name, refusal.connector, refusal.coupling_facility) == (
        "PERFCSQSYSAPPL",
        "CSQEPERFVKW303",
        "AACF01",
    )
    assert (refusal.requested_bytes, refusal.initsize_at_least_bytes) == (20 * M, 41 * M)
    found = read_xcf(
        "IXL015I STRUCTURE ALLOCATION INFORMATION FOR 391\nSTRUCTURE ISTGENERIC, CONNECTOR NAME xxxxxxxxxxxxxx,\n"
        "CONNECTIVITY=DEFAULT\nCFNAME ALLOCATION STATUS/FAILURE REASON\n-------- ------\n"
        "CF01 ALLOCATION NOT PERMITTED\nCOUPLING FACILITY IS IN MAINTENANCE MODE\n"
        "CF02 INVALID STRUCTURE SIZE: 3 M\nINITSIZE MUST BE AT LEAST: 4 M\n"
    )
    assert [(each.coupling_facility, each.reason) for each in found.refusals] == [
        ("CF01", "ALLOCATION NOT PERMITTED COUPLING FACILITY IS IN MAINTENANCE MODE"),
        ("CF02", "INVALID STRUCTURE SIZE: 3 M INITSIZE MUST BE AT LEAST: 4 M"),
    ]
    assert found.refusals[1].initsize_at_least_bytes == 4 * M


def test_allocation_message_is_read() -> None:
    (made,) = read_xcf(support.IXC582I).allocations
    assert (made.name, made.allocated_by, made.coupling_facility) == ("QSG1APPLICATION1", "COUNTS", "CF01")
    assert (made.size_bytes, made.max_size_bytes, made.policy_size_bytes) == (G, 2 * G, 2 * G)
    assert (made.policy_initsize_bytes, made.policy_minsize_bytes) == (None, 0)
    assert (made.entries_total, made.elements_total, made.emcs_total) == (111_234, 667_404, 20)
    assert made.entry_to_element_ratio == (1, 6)
    assert made.structure_type == "SERIALIZED LIST"


def test_alter_message_is_read_on_one_line_or_several() -> None:
    for text in (support.IXC588I, " ".join(support.IXC588I.split())):
        (alter,) = read_xcf(text).alters
        assert (alter.current_size_bytes, alter.target_size_bytes) == (G, 2 * G)
        assert alter.target_entry_to_element_ratio == (1, 5)


def in_syslog(text: str, *, number: str = "313") -> str:
    """Return the text as JES2 writes it to SYSLOG, with another message in between."""
    first, *others = text.rstrip("\n").split("\n")
    rows = [f"M 4000000 SYSA     26080 10:21:33.45 STC01234 00000090  {first} {number}"]
    for place, other in enumerate(others):
        rows.append(f"{'E' if place + 1 == len(others) else 'D'}         {number} 00000090  {other}")
        if place == 0:
            rows.append("N 4000000 SYSA     26080 10:21:33.46 STC09999 00000090  IEA000I SOMETHING ELSE")
    return "\n".join(rows)


@pytest.mark.parametrize(
    "text",
    [support.IXC360I.split("\n", 1)[1], support.IXC585E, support.IXC582I, support.IXC588I, support.IXL015I],
)
def test_syslog_gives_the_same_result_as_the_console(text: str) -> None:
    def bare(found: XcfText) -> list[object]:
        """Return the result without line numbers and time stamps."""
        every: list[Any] = [
            *found.structures,
            *found.full_events,
            *found.allocations,
            *found.alters,
            *found.refusals,
        ]
        return [
            [
                (name, getattr(each, name))
                for name in each.__slots__
                if name not in {"line", "stamp", "instances", "displayed_at_local"}
            ]
            for each in every
        ]

    logged = read_xcf(in_syslog(text.replace(", 725", "").replace(" 812", "").replace(" FOR 213", "")))
    assert bare(logged) == bare(read_xcf(text))
    assert logged.problems == ()


def test_syslog_gives_day_and_time() -> None:
    (event,) = read_xcf(in_syslog(support.IXC585E.replace(", 725", ","))).full_events
    assert event.stamp == Stamp(time(10, 21, 33, 450_000), date(2026, 3, 21))


@pytest.mark.parametrize(
    ("line", "text", "stamp"),
    [
        ("10.21.33 STC01234  IXC585E STRUCTURE", "IXC585E STRUCTURE", "10:21:33"),
        (
            "SYSA      2026080 10:21:33.45 STC01234 00000090  IXC585E X",
            "IXC585E X",
            "2026-03-21T10:21:33.450000",
        ),
        ("2026-03-21 10:21:33 SYSA", "SYSA", "2026-03-21T10:21:33"),
        ("IXC360I  10.21.33  DISPLAY XCF 812", "IXC360I  10.21.33  DISPLAY XCF 812", None),
        (" ALLOCATION TIME: 03/14/2026 09:12:44", "ALLOCATION TIME: 03/14/2026 09:12:44", None),
        (
            "CF01             02/17/96 17:03:49 ALLOCATED",
            "CF01             02/17/96 17:03:49 ALLOCATED",
            None,
        ),
        ("SYSA 26400 10:21:33.45 TEXT", "SYSA 26400 10:21:33.45 TEXT", None),
        ("SYSA 25366 10:21:33.45 TEXT", "SYSA 25366 10:21:33.45 TEXT", None),
    ],
)
def test_console_prefixes_are_removed(line: str, text: str, stamp: str | None) -> None:
    (found,) = lines(line)
    assert found.text.strip() == text
    assert (str(found.stamp) if found.stamp else None) == stamp


@given(st.integers(0, 2**49).map(lambda count: count * K), st.sampled_from(["", " "]))
def test_any_size_is_read_back_from_xcf_notation(size: int, gap: str) -> None:
    shown = format_size(size)
    found = one(f"STRNAME: QSG1A\n POLICY SIZE    : {shown[:-1]}{gap}{shown[-1]}\n")
    assert found.policy_size_bytes == size


@given(st.integers(1, 10**12), st.data())
def test_any_counts_are_read_back(total: int, data: st.DataObject) -> None:
    in_use = data.draw(st.integers(0, total))
    text = f"STRNAME: QSG1A\n ALLOCATION TIME: 03/14/2026 09:12:44\n ENTRIES: {in_use} {total} {100 * in_use // total}\n"
    (instance,) = one(text).instances
    assert (instance.entries_in_use, instance.entries_total) == (in_use, total)


WORDS = st.sampled_from(
    [
        *support.IXC360I.split("\n"),
        *support.IXC585E.split("\n"),
        *support.IXC582I.split("\n"),
        *support.IXL015I.split("\n"),
        *support.IXC588I.split(),
        "\n",
        ":",
        "999999999999999 T",
        "D         313 00000090 ",
        "M 4000000 SYSA     26080 10:21:33.45 STC01234 00000090 ",
    ]
)


@given(st.lists(WORDS | st.text(max_size=30), max_size=40), st.sampled_from(["\n", " ", ""]))
def test_reading_accepts_any_text(parts: list[str], between: str) -> None:
    assert isinstance(read_xcf(between.join(parts)), XcfText)


# ---- the block SPACE USAGE -------------------------------------------------------------------------------------

COLUMNS = "                IN-USE        TOTAL     %\n"
USAGE = f"""\
{COLUMNS}\
  ENTRIES:        1200       111234     1
  ELEMENTS:       8100       667404     1
  EMCS:             10           20    50
"""
PUBLISHED = """\
 SPACE USAGE        IN-USE       TOTAL     %
 ENTRIES:             6708       52945    12
 ELEMENTS:          107043      107055    99
"""
"""The counts of APAR PH39578, in the columns and rows that it shows."""
STORAGE_CLASS = """\
 STORAGE CONFIGURATION  ALLOCATED      MAXIMUM     %
  ACTUAL SIZE:              256 M        512 M    50
  AUGMENTED SPACE:            2 M         30 M     6
  STORAGE-CLASS MEMORY:     100 M          4 G     2
   ENTRIES:                 1000        50000     2
   ELEMENTS:                6000       300000     2
"""
STORAGE_CLASS_COLUMNS = """\
 STORAGE-CLASS MEMORY   IN-USE        TOTAL     %
  ENTRIES:                1000        50000     2
  ELEMENTS:               6000       300000     2
"""
STORAGE_CLASS_HEADINGS = """\
 STORAGE-CLASS MEMORY SPACE USAGE
                        IN-USE        TOTAL     %
  ENTRIES:                1000        50000     2

  ELEMENTS:               6000       300000     2
  AUGMENTED SPACE:           2            30     7
"""
STORAGE_CLASS_BLOCKS = {
    "configuration": STORAGE_CLASS,
    "columns": STORAGE_CLASS_COLUMNS,
    "headings": STORAGE_CLASS_HEADINGS,
}
OF_PUBLISHED = (6708, 52_945, 107_043, 107_055)


def counted(text: str) -> tuple[int | None, ...]:
    (instance,) = one(text).instances
    return (
        instance.entries_in_use,
        instance.entries_total,
        instance.elements_in_use,
        instance.elements_total,
    )


@pytest.mark.parametrize("block", STORAGE_CLASS_BLOCKS.values(), ids=STORAGE_CLASS_BLOCKS)
@pytest.mark.parametrize("gap", ["", "\n", "\n\n"], ids=["close", "blank", "blanks"])
def test_counts_come_from_space_usage_wherever_storage_class_memory_appears(block: str, gap: str) -> None:
    for shown in (f"{block}{gap}{PUBLISHED}", f"{PUBLISHED}{gap}{block}"):
        text = support.IXC360I.replace(USAGE, shown)
        assert text != support.IXC360I
        assert counted(text) == OF_PUBLISHED
        assert read_xcf(text).problems == ()


def test_counts_without_the_heading_space_usage_are_read_outside_storage_class_memory() -> None:
    plain = (1200, 111_234, 8100, 667_404)
    for block in STORAGE_CLASS_BLOCKS.values():
        assert counted(support.IXC360I.replace(USAGE, f"{block}{USAGE}")) == plain
        assert counted(support.IXC360I.replace(USAGE, f"{USAGE}{block}")) == plain


def test_storage_class_memory_alone_gives_no_counts_and_a_truncation_problem() -> None:
    for block in STORAGE_CLASS_BLOCKS.values():
        text = support.IXC360I.replace(USAGE, block)
        assert counted(text) == (None, None, None, None)
        (problem,) = read_xcf(text).problems
        assert "ENTRIES and ELEMENTS" in problem.message


def test_storage_class_memory_without_a_value_does_not_start_a_block() -> None:
    for word in ("N/A", "NONE"):
        text = support.IXC360I.replace(COLUMNS, f"  STORAGE-CLASS MEMORY: {word}\n")
        assert counted(text) == (1200, 111_234, 8100, 667_404)


def test_each_instance_of_a_duplexed_structure_has_its_own_space_usage_counts() -> None:
    head, _, instance = support.IXC360I.partition(" ACTIVE STRUCTURE\n ----------------\n")
    old = instance.replace(USAGE, f"{STORAGE_CLASS}{PUBLISHED}")
    new = instance.replace(USAGE, f"{PUBLISHED.replace('6708', '6709')}{STORAGE_CLASS}")
    text = (
        f"{head} DUPLEXING REBUILD NEW STRUCTURE\n -------------------------------\n{new}"
        f" DUPLEXING REBUILD OLD STRUCTURE\n -------------------------------\n{old}"
    )
    first, second = one(text).instances
    assert (first.role, first.entries_in_use) == ("NEW", 6709)
    assert (second.role, second.entries_in_use) == ("OLD", 6708)


@pytest.mark.parametrize("block", STORAGE_CLASS_BLOCKS.values(), ids=STORAGE_CLASS_BLOCKS)
def test_full_event_counts_only_space_usage(block: str) -> None:
    begin = """\
*IXC585E STRUCTURE QSG1CSQ_ADMIN IN COUPLING FACILITY CF01, 725
 PHYSICAL STRUCTURE VERSION B4704775 92D95302,
 IS AT OR ABOVE STRUCTURE FULL MONITORING THRESHOLD OF 85%.
"""
    for shown in (f"{block}{PUBLISHED}", f"{PUBLISHED}\n{block}", PUBLISHED):
        found = read_xcf(begin + shown + "\n")
        (event,) = found.full_events
        assert event.threshold_percent == 85
        counts = (event.entries_in_use, event.entries_total, event.elements_in_use, event.elements_total)
        assert (counts, found.problems) == (OF_PUBLISHED, ())
    old_form = (
        " ENTRIES:  IN USE:     4874 TOTAL:     4874, 100% FULL\n"
        " ELEMENTS: IN USE:       19 TOTAL:     4872,   0% FULL\n"
    )
    (event,) = read_xcf(f"{begin}{old_form}{block}\n").full_events
    assert (event.entries_in_use, event.elements_in_use) == (4874, 19)
