"""OFFLOAD(DB2): omitted rules are off, as in the syntax of DEFINE CFSTRUCT (32K/64K)."""

from __future__ import annotations

import pytest

from planner_core.running.lint_mqsc import lint_mqsc
from planner_core.running.state import read_running

DB2 = "DEFINE CFSTRUCT(APP1) CFLEVEL(5) RECOVER(YES) OFFLOAD(DB2)"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (DB2, ["64K", "64K", "64K"]),
        (f"{DB2} OFFLD2SZ(8K)", ["64K", "8K", "64K"]),
        (DB2.replace("DB2", "SMDS"), ["32K", "4K", "0K"]),
        ("DEFINE CFSTRUCT(APP1) CFLEVEL(5)", ["32K", "4K", "0K"]),
    ],
)
def test_sizes_omitted_in_a_define_have_the_db2_defaults(command: str, expected: list[str]) -> None:
    attributes = read_running([f"{command}\n"]).cfstructs["APP1"].attributes
    assert [attributes[f"OFFLD{number}SZ"] for number in (1, 2, 3)] == expected


@pytest.mark.parametrize(("to", "is_covered"), [("SMDS", True), ("DB2", False)])
def test_rules_that_are_off_by_default_do_not_override_other_rules(to: str, is_covered: bool) -> None:
    # Rule 2 at 95 % comes after rule 3 at 90 %, which with Db2 is off where it is left out.
    text = f"DEFINE CFSTRUCT(APP1) CFLEVEL(5) OFFLOAD({to}) DSGROUP('A.*.B') OFFLD2TH(95) OFFLD2SZ(4K)\n"
    found, _ = lint_mqsc(text)
    assert ("OFFLOAD_RULE_WITHOUT_EFFECT" in {each.code for each in found}) == is_covered
