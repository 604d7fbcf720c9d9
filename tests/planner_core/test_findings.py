"""Cases for every code of the catalog: raised with field, severity and message, and not raised in near misses."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from pydantic import TypeAdapter

from planner_core.document.reading import read_object
from planner_core.errors import PlanRefused
from planner_core.findings import (
    DEPTH_EVENT_CODES,
    SEVERITIES,
    Finding,
    FindingKind,
    catalogue,
    finding,
    in_order,
    read_catalogue,
    worst,
)
from planner_core.health import health_codes
from planner_core.plan.evaluate import evaluate
from planner_core.sizing.offload import default_rules
from planner_core.sizing.offload_question import offload_answer
from planner_core.sizing.structure_size import messages_that_fit, published_curve
from tests.planner_core.plans import documents, varied
from tests.planner_core.whatif.filling.test_findings import CODES as FILLING_CODES
from tests.planner_core.whatif.placement.test_findings import CODES as PLACEMENT_CODES

HARDWARE = {
    "type": "003931",
    "mfg": "IBM",
    "plant": "02",
    "sequence": "0000000A1B2C",
    "partition": "0F",
    "cpcid": "00",
}
FACILITIES = [{"name": "CF01", **HARDWARE}, {"name": "CF02", **HARDWARE, "partition": "1E"}]


def queue(name: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"name": name, "message_bytes": 1024, "backlog": 1000, "persistent": True, **more}


def structure(name: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "name": name,
        "preflist": ["CF02", "CF01"],
        "offload": {"dsgroup": "MQ.SMDS.*.X"},
        "queues": [queue(f"{name}.IN")],
        **more,
    }


def many_structures(count: int) -> list[dict[str, Any]]:
    return [structure(f"APP{number}") for number in range(count)]


def many_queues(count: int) -> list[dict[str, Any]]:
    return [queue(f"Q{number}") for number in range(count)]


S0 = "structures__0__"


@dataclass(frozen=True)
class Case:
    """Changes to the base plan that raise a finding, its text, and near-miss changes that do not raise it."""

    severity: str
    at: str | None
    says: str
    near: Mapping[str, Any]
    raised: Mapping[str, Any] = field(default_factory=dict)
    structure: str | None = None


LOCK1, SCA = (
    {"name": f"DSNDB0A_{kind}", "size": "1G", "initsize": "512M", "preflist": ["CF01", "CF02"]}
    for kind in ("LOCK1", "SCA")
)
CASES: dict[str, Case] = {
    "DB2_STRUCTURES_NOT_COUNTED": Case(
        "info",
        "/other_structures",
        "is DSNDB0A, but other_structures has no DSNDB0A_SCA",
        raised={"db2_group": "DSNDB0A", "other_structures": [LOCK1]},
        near={"db2_group": "DSNDB0A", "other_structures": [LOCK1, SCA]},
    ),
    "OTHER_STRUCTURES_AND_OCCUPIED": Case(
        "info",
        "/other_structures",
        r"CF01 has 1024\.0 MiB occupied, and 1 other structure with 512\.0 MiB",
        raised={"other_structures": [LOCK1], "coupling_facilities__0__occupied": "1G"},
        near={"other_structures": [LOCK1], "coupling_facilities__1__occupied": "1G"},
    ),
    "OTHER_STRUCTURE_NOT_PLACED": Case(
        "warning",
        "/other_structures/0/preflist",
        r"DSNDB0A_LOCK1, which is not a structure of the group, cannot be placed \(65\.0 GiB\)",
        raised={"other_structures": [{**LOCK1, "size": "65G", "initsize": "65G"}]},
        near={"other_structures": [{**LOCK1, "size": "64G", "initsize": "64G"}]},
        structure="DSNDB0A_LOCK1",
    ),
    "TOO_MANY_QUEUE_MANAGERS": Case(
        "error",
        "/queue_managers",
        "33 queue managers: a queue-sharing group has 1 to 32",
        raised={"queue_managers": 33},
        near={"queue_managers": 32},
    ),
    "TOO_MANY_STRUCTURES": Case(
        "error",
        "/structures",
        "65 structures with CSQ_ADMIN and CSQSYSAPPL: .* at most 64",
        raised={"structures": many_structures(63)},
        near={"structures": many_structures(62)},
    ),
    "TOO_MANY_QUEUES": Case(
        "error",
        "/structures/0/queues",
        "APP1 has 513 queues: a structure holds at most 512",
        raised={S0 + "queues": many_queues(513)},
        near={S0 + "queues": many_queues(512)},
        structure="APP1",
    ),
    "CURVE_UNKNOWN": Case(
        "error",
        "/curve/fitted",
        "fitted curve 17, which does not exist in this installation",
        raised={"curve": {"fitted": 17}},
        near={"curve": "published"},
    ),
    "CFCC_LEVEL_TOO_LOW": Case(
        "error",
        "/cfcc_level",
        "CFCC level 8: IBM MQ needs level 9 or higher",
        raised={"cfcc_level": 8},
        near={"cfcc_level": 9, "coupling_facilities__0__cfcc_level": 9},
    ),
    "CFCC_LEVEL_WITHOUT_FIGURES": Case(
        "info",
        "/cfcc_level",
        "CFCC level 16. The figures for the next higher level, 17, are used, which errs on the large side",
        raised={"cfcc_level": 16},
        near={"cfcc_level": 21},
    ),
    "CFCC_LEVEL_ABOVE_FIGURES": Case(
        "warning",
        "/cfcc_level",
        "CFCC level 26. The figures for level 25 are used.*may be too small",
        raised={"cfcc_level": 26},
        near={"cfcc_level": 25},
    ),
    "SIZED_FOR_CF_LEVEL": Case(
        "info",
        "/coupling_facilities/0/cfcc_level",
        "CSQ_ADMIN, APP1 and CSQSYSAPPL are sized for CFCC level 25 of CF01, .* not for level 24 of the plan",
        raised={"cfcc_level": 24, "coupling_facilities__0__cfcc_level": 25},
        near={"cfcc_level": 25, "coupling_facilities__1__cfcc_level": 24},
    ),
    "SIZE_CONTROLS_NOT_KNOWN": Case(
        "info",
        "/size_factor",
        "SIZE is above INITSIZE for CSQ_ADMIN, APP1 and CSQSYSAPPL: z/OS takes the control storage",
        raised={},
        near={"size_factor": 1},
    ),
    "CURVE_BASE_ASSUMED": Case(
        "info",
        None,
        "14 MiB for CFCC levels 17 to 24 is inferred from the 8 MB",
        raised={"cfcc_level": 24},
        near={"cfcc_level": 25},
    ),
    "ENTRY_ELEMENT_COST_ASSUMED": Case(
        "warning",
        "/structures/0/entry_to_element_ratio",
        "APP1 is sized for an entry-to-element ratio of 1:4.*assumed",
        raised={S0 + "entry_to_element_ratio": [1, 4]},
        near={S0 + "entry_to_element_ratio": [2, 12]},
        structure="APP1",
    ),
    "ENTRY_ELEMENT_COST_DERIVED": Case(
        "warning",
        "/structures/0/entry_to_element_ratio",
        "ratio of 1:4, with costs derived .* 313.02 bytes .309.03 to 316.9. .* need would be .* % more",
        raised={S0 + "entry_to_element_ratio": [1, 4], "separate_costs": "derived"},
        near={S0 + "entry_to_element_ratio": [2, 12], "separate_costs": "derived"},
        structure="APP1",
    ),
    "USAGE_MEASURE_ASSUMED": Case(
        "info", None, "cfplan uses the fuller of entries and elements", near={S0 + "offload": {"rules": []}}
    ),
    "SIZED_FOR_ANY_SHAPE": Case(
        "info",
        "/structures/0/queues",
        "suffices for any distribution of message sizes .* To reduce it, define each size class as a separate queue",
        raised={S0 + "queues__0__message_bytes": {"mean": 20_000, "p95": 90_000, "max": 4_194_304}},
        near={S0 + "queues__0__message_bytes": {"mean": 2000, "p95": 2100, "max": 2200}},
        structure="APP1",
    ),
    "SIZE_DISTRIBUTION_ASSUMED": Case(
        "info",
        "/structures/0/queues",
        "Queues of APP1 specify the mean, p95 and max",
        raised={S0 + "queues__0__message_bytes": {"mean": 1000, "p95": 2000, "max": 3000}},
        near={S0 + "queues__0__message_bytes": 1000},
        structure="APP1",
    ),
    "SMDS_OVERHEAD_ASSUMED": Case(
        "info",
        None,
        "header of 512 bytes per message and an assumed 2 %",
        near={S0 + "offload": {"to": "DB2"}},
    ),
    "ADMIN_FIGURE_FROM_NEXT_LEVEL": Case(
        "warning",
        None,
        "ends before 32 queue managers. The figure for the next higher level is used",
        raised={"queue_managers": 32, "cfcc_level": 14},
        near={"queue_managers": 31, "cfcc_level": 14},
        structure="CSQ_ADMIN",
    ),
    "ADMIN_FIGURE_MISPRINT": Case(
        "info",
        None,
        "7976 as printed, probably a misprint of 7936",
        raised={"queue_managers": 3, "cfcc_level": 14},
        near={"queue_managers": 4, "cfcc_level": 14},
        structure="CSQ_ADMIN",
    ),
    "ADMIN_ENTSMAX_TOO_LOW": Case(
        "warning",
        "/admin/entsmax",
        "4999 is 1 below the 5000 list entries that 5 queue managers need .*at least 25600K",
        raised={"admin__entsmax": 4999},
        near={"admin__entsmax": 5000},
        structure="CSQ_ADMIN",
    ),
    "SCM_REMOVED": Case(
        "warning",
        "/structures/0/scm/max_size",
        "APP1 requests 4096.0 MiB of storage-class memory, but there is none in CF02 after CFCC level 25",
        raised={S0 + "scm": {"max_size": "4G"}, "coupling_facilities__1__cfcc_level": 26},
        near={S0 + "scm": {"max_size": "4G"}, "coupling_facilities__1__cfcc_level": 25},
        structure="APP1",
    ),
    "CF_BELOW_LEAST_STORAGE": Case(
        "warning",
        "/coupling_facilities/1/size",
        "CF02 has 1023.0 MiB at CFCC level 26: an image of that level needs at least 1024.0 MiB",
        raised={"coupling_facilities__1__cfcc_level": 26, "coupling_facilities__1__size": "1023M"},
        near={"coupling_facilities__1__cfcc_level": 26, "coupling_facilities__1__size": "1024M"},
    ),
    "ADMIN_ELEMENTS_TOO_LOW": Case(
        "warning",
        "/admin/elements_total",
        "9999, is 1 below the 10000 elements that 5 queue managers need .*at least 25600K",
        raised={"admin__elements_total": 9999},
        near={"admin__elements_total": 10_000},
        structure="CSQ_ADMIN",
    ),
    "ADMIN_NO_ROOM_FOR_LARGE_UNITS_OF_WORK": Case(
        "info",
        "/admin/headroom_percent",
        "IBM asks you to add room for large units of work",
        raised={"admin__headroom_percent": 0},
        near={"admin__headroom_percent": 1},
        structure="CSQ_ADMIN",
    ),
    "ADMIN_BELOW_MINIMUM": Case(
        "error",
        "/admin/initsize",
        "CSQ_ADMIN has 25599K, below the 25600K .*CSQE022E",
        raised={"admin__initsize": 25599},
        near={"admin__initsize": 25600},
        structure="CSQ_ADMIN",
    ),
    "SYSTEM_STRUCTURE_BELOW_MINIMUM": Case(
        "error",
        "/system/initsize",
        "INITSIZE 41983K of CSQSYSAPPL is below the 41M",
        raised={"system__initsize": 41983},
        near={"system__initsize": 41984},
        structure="CSQSYSAPPL",
    ),
    "SYSTEM_STRUCTURE_BELOW_ADVICE": Case(
        "warning",
        "/system/initsize",
        "INITSIZE 49999K of CSQSYSAPPL is below the 50000K that IBM advises",
        raised={"system__initsize": 49999},
        near={"system__initsize": 50000},
        structure="CSQSYSAPPL",
    ),
    "ACKNOWLEDGEMENT_UNUSED": Case(
        "info",
        "/acknowledged/0",
        "DSGROUP_MISSING of APP1 is acknowledged, but the plan has no such finding",
        raised={"acknowledged": [{"code": "DSGROUP_MISSING", "structure": "APP1", "reason": "agreed"}]},
        near={
            "acknowledged": [{"code": "DSGROUP_MISSING", "structure": "APP1", "reason": "agreed"}],
            S0 + "offload": {},
        },
        structure="APP1",
    ),
    "CF_TOO_SMALL": Case(
        "warning",
        "/structures/0/preflist",
        "does not fit in CF02, which is in its PREFLIST",
        raised={S0 + "initsize": "300M", "coupling_facilities__1__size": "299M"},
        near={S0 + "initsize": "300M", "coupling_facilities__1__size": "300M"},
        structure="APP1",
    ),
    "OFFLOADED_AT_BACKLOG": Case(
        "info",
        "/structures/0/offload/rules",
        r"INITSIZE would hold the whole backlog of APP1, .* \d+ of \d+ messages are offloaded",
        raised={S0 + "queues__0__message_bytes": 40_000, "headroom_percent": 10},
        near={S0 + "queues__0__message_bytes": 40_000},
        structure="APP1",
    ),
    "SAME_CF_TWICE": Case(
        "warning",
        "/coupling_facilities/1/partition",
        "CF01 and CF02 have the same type, manufacturer, plant, sequence and partition",
        raised={
            "coupling_facilities__0": {"name": "CF01", **HARDWARE, "partition": "0A"},
            "coupling_facilities__1": {"name": "CF02", **HARDWARE, "partition": "A"},
        },
        near={
            "coupling_facilities__0": {"name": "CF01", **HARDWARE, "partition": "0A"},
            "coupling_facilities__1": {"name": "CF02", **HARDWARE, "partition": "A0"},
        },
    ),
    "DSGROUP_TWICE": Case(
        "warning",
        "/structures/1/offload/dsgroup",
        "APP2 and APP1 have the same DSGROUP MQ.SMDS.*.APP1",
        raised={"structures__1": structure("APP2", offload={"dsgroup": "MQ.SMDS.*.APP1"})},
        near={"structures__1": structure("APP2", offload={"dsgroup": "MQ.SMDS.*.APP2"})},
        structure="APP2",
    ),
    "DB2_LOB_SPACE_ASSUMED": Case(
        "info",
        None,
        "LOB space in Db2 is calculated like SMDS space",
        raised={S0 + "offload": {"to": "DB2", "rules": [{"usage_over": 70, "size_over": "0K"}]}},
        near={S0 + "offload": {"to": "DB2"}},  # IBM's defaults with DB2: the rules are off
    ),
    "INITSIZE_BELOW_XCF_MINIMUM": Case(
        "info",
        "/structures/0/initsize",
        "is below the 41M that XCF required for CSQSYSAPPL",
        raised={S0 + "initsize": 41983, S0 + "queues__0__backlog": 1000},
        near={S0 + "initsize": 41984, S0 + "queues__0__backlog": 1000},
        structure="APP1",
    ),
    "SYSTEM_STRUCTURE_LEFT_OUT": Case(
        "warning",
        "/system/include",
        "shared channels and group units of recovery need its queues",
        raised={"system__include": False, "system__shared_channels": 0, "system__group_ur_messages": 1},
        near={"system__include": False, "system__shared_channels": 0, "system__group_ur_messages": 0},
    ),
    "QSG_NAME_ENDS_IN_AT": Case(
        "warning", "/qsg", "SQ@ ends in @: MQ itself pads", raised={"qsg": "SQ@"}, near={"qsg": "S@Q"}
    ),
    "TOO_FEW_STRUCTURES": Case(
        "error",
        "/structures",
        "at least 2 structures: CSQ_ADMIN and one for messages",
        raised={"structures": [], "system__include": False},
        near={"structures": []},
    ),
    "NO_APPLICATION_STRUCTURE": Case(
        "warning",
        "/structures",
        "no structure for user messages",
        raised={"structures": []},
        near={"structures": [structure("APP1")]},
    ),
    "SAME_FIRST_COUPLING_FACILITY": Case(
        "info",
        "/structures",
        "All 2 application structures prefer CF01",
        raised={"structures__1": structure("APP2", preflist=["CF01", "CF02"])},
        near={"structures__1": structure("APP2")},
    ),
    # 100 000 messages of 1024 bytes at CFCC 25: 22 MiB + 100 000 x 1.43 x 1536 bytes = 237 028 K, 231.47 MiB.
    "INITSIZE_BELOW_NEED": Case(
        "warning",
        "/structures/0/initsize",
        "INITSIZE 236544K of APP1 holds 99774 of the planned 100000 messages; they need 237028K. The rest depends on",
        raised={S0 + "initsize": "231M", S0 + "size": "300M"},
        near={S0 + "initsize": "232M", S0 + "size": "300M"},
        structure="APP1",
    ),
    "ADMIN_DUPLEXED": Case(
        "info",
        "/admin/duplex",
        r"CSQ_ADMIN is planned with DUPLEX\(ALLOWED\)\..*PH67936",
        raised={"admin__duplex": "ALLOWED"},
        near={"admin__duplex": "DISABLED"},
        structure="CSQ_ADMIN",
    ),
    "CFSTRUCT_HAS_GROUP_PREFIX": Case(
        "warning",
        "/structures/0/name",
        r"CFSTRUCT\(SQ03B\) begins with the name of the group, SQ03, .*would be SQ03SQ03B\. Name it B\.",
        raised={S0 + "name": "SQ03B"},
        near={S0 + "name": "SQ0B"},
        structure="SQ03B",
    ),
    "SIZE_BELOW_NEED": Case(
        "warning",
        "/structures/0/size",
        "SIZE 236544K of APP1 holds 99774 of the planned 100000 messages.*reason 2192",
        raised={S0 + "initsize": "231M", S0 + "size": "231M"},
        near={S0 + "initsize": "231M", S0 + "size": "232M"},
        structure="APP1",
    ),
    "INITSIZE_BELOW_BASE": Case(
        "warning",
        "/structures/0/initsize",
        "INITSIZE 22527K of APP1 is below the 22.0 MiB",
        raised={S0 + "initsize": 22527},
        near={S0 + "initsize": 22528},
        structure="APP1",
    ),
    "SIZE_OVER_TWICE_INITSIZE": Case(
        "warning",
        "/structures/0/size",
        "SIZE 614401K of APP1 is more than twice INITSIZE 300M.*IXCH0255E",
        raised={S0 + "initsize": "300M", S0 + "size": 614401},
        near={S0 + "initsize": "300M", S0 + "size": 614400},
        structure="APP1",
    ),
    # 2196.48 bytes x 1.1 x 1.5 a message: SIZE passes 1 TiB between these two.
    "SIZE_ABOVE_MAXIMUM": Case(
        "error",
        "/structures/0/size",
        r"SIZE of APP1 is 10\d\d\.\d GiB, above the 1024\.0 GiB .* Lower size_factor, now 1\.5",
        raised={S0 + "queues__0__backlog": 304_000_000, "headroom_percent": 10},
        near={S0 + "queues__0__backlog": 303_000_000, "headroom_percent": 10},
        structure="APP1",
    ),
    "SIZE_NOT_WHOLE_INCREMENTS": Case(
        "info",
        "/structures/0/initsize",
        "INITSIZE 307201K of APP1 is not a multiple of 1M",
        raised={S0 + "initsize": 307201},
        near={S0 + "initsize": 307200},
        structure="APP1",
    ),
    "PEAK_ABOVE_FULLTHRESHOLD": Case(
        "info",
        "/structures/0/full_threshold",
        r"INITSIZE of APP1 is 89\.9 % full, above FULLTHRESHOLD\(89\): z/OS issues IXC585E",
        raised={S0 + "full_threshold": 89, "headroom_percent": 10},
        near={S0 + "full_threshold": 90, "headroom_percent": 10},
        structure="APP1",
    ),
    "FULLTHRESHOLD_ZERO": Case(
        "warning",
        "/structures/0/full_threshold",
        "turns structure full monitoring off for APP1",
        raised={S0 + "full_threshold": 0},
        near={S0 + "full_threshold": 1},
        structure="APP1",
    ),
    "AUTO_ALTER_MAY_SHRINK": Case(
        "info",
        "/structures/0/allow_auto_alter",
        "lets the system shrink APP1.*set MINSIZE",
        raised={S0 + "allow_auto_alter": True},
        near={S0 + "allow_auto_alter": True, S0 + "minsize": "100M"},
        structure="APP1",
    ),
    "EMPTY_STRUCTURE": Case(
        "info",
        "/structures/0/queues",
        "APP1 has no backlog, so it is sized as an empty structure",
        raised={S0 + "queues__0__backlog": 0},
        near={S0 + "queues__0__backlog": 1},
        structure="APP1",
    ),
    "STRUCTURE_LARGER_THAN_CF": Case(
        "error",
        "/structures/0/preflist",
        r"INITSIZE 300\.0 MiB of APP1 is larger than any .*the largest, CF01, has 299\.0 MiB",
        raised={
            S0 + "initsize": "300M",
            "coupling_facilities__0__size": "299M",
            "coupling_facilities__1__size": "298M",
        },
        near={
            S0 + "initsize": "300M",
            "coupling_facilities__0__size": "300M",
            "coupling_facilities__1__size": "298M",
        },
        structure="APP1",
    ),
    "SIZE_LARGER_THAN_CF": Case(
        "warning",
        "/structures/0/preflist",
        r"SIZE 500\.0 MiB of APP1 is larger than any .*it can never grow that far",
        raised={
            S0 + "initsize": "300M",
            S0 + "size": "500M",
            **{f"coupling_facilities__{cf}__size": "499M" for cf in (0, 1)},
        },
        near={
            S0 + "initsize": "300M",
            S0 + "size": "500M",
            **{f"coupling_facilities__{cf}__size": "500M" for cf in (0, 1)},
        },
        structure="APP1",
    ),
    "PREFLIST_MISSING": Case(
        "warning",
        "/structures/0/preflist",
        "APP1 has no PREFLIST, and the plan defines no coupling facility",
        raised={"coupling_facilities": [], S0 + "preflist": []},
        near={"coupling_facilities": [], "admin__preflist": ["CF01"], "system__preflist": ["CF01"]},
        structure="APP1",
    ),
    "PREFLIST_DEFAULTED": Case(
        "info",
        "/structures/0/preflist",
        r"APP1 has no PREFLIST of its own; .* \(CF01, CF02\)",
        raised={S0 + "preflist": []},
        near={S0 + "preflist": ["CF01", "CF02"]},
        structure="APP1",
    ),
    "PREFLIST_UNKNOWN_CF": Case(
        "warning",
        "/structures/0/preflist",
        "PREFLIST of APP1 names CF09, which the plan does not define",
        raised={S0 + "preflist": ["CF01", "CF09"]},
        near={S0 + "preflist": ["CF01", "CF09"], "coupling_facilities": []},
        structure="APP1",
    ),
    "PREFLIST_SINGLE_CF": Case(
        "warning",
        "/structures/0/preflist",
        "APP1 can be allocated in CF02 only",
        raised={S0 + "preflist": ["CF02"]},
        near={S0 + "preflist": ["CF02", "CF01"]},
        structure="APP1",
    ),
    "CF_VOLATILE": Case(
        "warning",
        "/structures/0/preflist",
        "APP1 may be allocated in CF02, which is volatile, and neither RECOVER nor DUPLEX compensates for it",
        raised={"coupling_facilities__1__volatile": True, S0 + "recover": False},
        near={"coupling_facilities__1__volatile": True, S0 + "recover": False, S0 + "duplex": "ENABLED"},
        structure="APP1",
    ),
    "CF_NOT_FAILURE_ISOLATED": Case(
        "warning",
        "/structures/0/preflist",
        "APP1 may be allocated in CF02, which can fail together with a system",
        raised={"coupling_facilities__1__failure_isolated": False, S0 + "recover": False},
        near={"coupling_facilities__1__failure_isolated": False, S0 + "recover": True},
        structure="APP1",
    ),
    "PERSISTENT_NEEDS_CFLEVEL_3": Case(
        "error",
        "/structures/0/cflevel",
        r"APP1 has CFLEVEL\(2\) and 1 persistent",
        raised={S0 + "cflevel": 2, S0 + "recover": False},
        near={S0 + "cflevel": 3},
        structure="APP1",
    ),
    "LARGE_MESSAGES_NEED_CFLEVEL_4": Case(
        "error",
        "/structures/0/queues/0/message_bytes",
        r"APP1 has CFLEVEL\(3\), but Q1 has messages over 63 KB: they need CFLEVEL\(4\).*2366",
        raised={S0 + "cflevel": 3, S0 + "queues__0__message_bytes": 64513},
        near={S0 + "cflevel": 3, S0 + "queues__0__message_bytes": 64512},
        structure="APP1",
    ),
    "RECOVER_NEEDS_CFLEVEL_3": Case(
        "error",
        "/structures/0/recover",
        r"APP1 has CFLEVEL\(2\): RECOVER\(YES\) needs CFLEVEL\(3\)",
        raised={S0 + "cflevel": 2},
        near={S0 + "cflevel": 2, S0 + "recover": False},
        structure="APP1",
    ),
    "OFFLOAD_NEEDS_CFLEVEL_5": Case(
        "warning",
        "/structures/0/offload",
        r"APP1 has CFLEVEL\(4\): OFFLOAD and its rules need CFLEVEL\(5\)",
        raised={S0 + "cflevel": 4},
        near={S0 + "cflevel": 4, S0 + "offload": {}},
        structure="APP1",
    ),
    "CFCONLOS_NEEDS_CFLEVEL_5": Case(
        "warning",
        "/structures/0/cfconlos",
        r"APP1 has CFLEVEL\(4\): CFCONLOS needs CFLEVEL\(5\) and is omitted from its definition\. Queue managers .* end\.",
        raised={S0 + "cflevel": 4, S0 + "cfconlos": "TOLERATE"},
        near={S0 + "cflevel": 4, S0 + "cfconlos": "ASQMGR"},
        structure="APP1",
    ),
    "OFFLOAD_DB2": Case(
        "warning",
        "/structures/0/offload/to",
        "APP1 offloads to Db2.*primarily for migration",
        raised={S0 + "offload__to": "DB2"},
        near={S0 + "offload__to": "SMDS"},
        structure="APP1",
    ),
    "MESSAGES_ALWAYS_OFFLOADED": Case(
        "info",
        "/structures/0/queues/0/message_bytes",
        "Q1 of APP1 has messages over 63 KB: .* always offloaded, and each keeps one entry and 2 elements",
        raised={S0 + "queues__0__message_bytes": 64513},
        near={S0 + "queues__0__message_bytes": 64512},
        structure="APP1",
    ),
    # At 1:6 messages of up to 1164 bytes run out of entries.
    "OFFLOAD_GAINS_NOTHING": Case(
        "info",
        "/structures/0/offload/rules",
        "does not let APP1 hold more messages of this mix: entries run out",
        raised={S0 + "queues__0__message_bytes": 1164},
        near={S0 + "queues__0__message_bytes": 1165},
        structure="APP1",
    ),
    "DSGROUP_MISSING": Case(
        "warning",
        "/structures/0/offload/dsgroup",
        "APP1 offloads to SMDS but has no DSGROUP",
        raised={S0 + "offload": {}},
        near={S0 + "offload": {"to": "DB2"}},
        structure="APP1",
    ),
    "PERSISTENT_NEEDS_RECOVER": Case(
        "error",
        "/structures/0/recover",
        r"APP1 has RECOVER\(NO\), but 1 of its queues .*Q1: .*reason 2048",
        raised={S0 + "recover": False},
        near={S0 + "recover": False, S0 + "queues__0__persistent": False},
        structure="APP1",
    ),
    "MESSAGES_ABOVE_MAXMSGL": Case(
        "error",
        "/structures/0/queues/0/max_message_length",
        r"Q1 has messages of up to 1025 bytes, but MAXMSGL\(1024\): puts of larger messages fail with reason 2030",
        raised={S0 + "queues__0__message_bytes": 1025, S0 + "queues__0__max_message_length": 1024},
        near={S0 + "queues__0__message_bytes": 1024, S0 + "queues__0__max_message_length": 1024},
        structure="APP1",
    ),
    "QUEUE_WITHOUT_SHARE": Case(
        "info",
        "/structures/0/queues/1/share",
        "Q2 of APP1: NOSHARE allows only one application in the whole group to get messages at a time",
        raised={S0 + "queues__1": queue("Q2", share=False)},
        near={S0 + "queues__1": queue("Q2", share=True)},
        structure="APP1",
    ),
    "MIXED_PERSISTENCE": Case(
        "info",
        "/structures/0/queues",
        "APP1 holds 1 persistent and 1 nonpersistent queues",
        raised={S0 + "queues__1": queue("Q2", persistent=False)},
        near={S0 + "queues__1": queue("Q2")},
        structure="APP1",
    ),
    "QUEUE_FILLS_MOST": Case(
        "info",
        "/structures/0/queues/1",
        "Q2 takes 51 % of the entries that APP1 holds",
        raised={S0 + "queues__1": queue("Q2", backlog=104_000)},
        near={S0 + "queues__1": queue("Q2", backlog=100_000)},
        structure="APP1",
    ),
    "STRUCTURE_FILLS_CF": Case(
        "info",
        "/structures/0/queues",
        r"APP1 takes 50 % of CF02 \(599\.0 MiB\)",
        raised={S0 + "initsize": "300M", "coupling_facilities__1__size": "599M"},
        near={S0 + "initsize": "300M", "coupling_facilities__1__size": "600M"},
        structure="APP1",
    ),
    "DATA_NOT_ISOLATED": Case(
        "warning",
        "/structures/0/queues",
        r"APP1 holds queues that must be isolated from each other \(BANK, PCI\)",
        raised={S0 + "queues": [queue("A", isolation="PCI"), queue("B", isolation="BANK")]},
        near={S0 + "queues": [queue("A", isolation="PCI"), queue("B", isolation="PCI"), queue("C")]},
        structure="APP1",
    ),
    "JOB_INCOMPLETE": Case(
        "error",
        "/coupling_facilities/1/partition",
        r"Missing: PARTITION of CF02\.$",
        raised={
            "policy": {"name": "POLICY1", "job": True},
            "coupling_facilities": [FACILITIES[0], FACILITIES[1] | {"partition": None}],
        },
        near={"policy": {"name": "POLICY1", "job": True}, "coupling_facilities": FACILITIES},
    ),
    "JOB_HOLDS_ONLY_THIS_PLAN": Case(
        "warning",
        "/policy/job",
        "only the structures of this plan.*pending deletion",
        raised={"policy": {"name": "POLICY1", "job": True}, "coupling_facilities": FACILITIES},
        near={"policy": {"name": "POLICY1", "job": False}, "coupling_facilities": FACILITIES},
    ),
}
ASKED_APART = {
    "SIZE_BELOW_BASE",
    "RESERVE_DOES_NOT_FIT",
    "CURVE_NOT_ACCEPTED",
    "CURVE_CANNOT_SUPPORT_PLAN",
    "FITTED_CURVE_IN_USE",
    "FITTED_CURVE_OF_OTHER_LEVEL",
    "FITTED_CURVE_SMALLER",
}
"""Codes that only questions about single structures raise, and codes on fitted curves (test_fitted.py)."""
TESTS = Path(__file__).parents[1]
FOLDERS_OF_OTHER_QUESTIONS = (
    "app/clusters",
    "app/events",
    "app/fits",
    "app/running",
    "app/scenarios",
    "planner_core/clusters",
    "planner_core/collected",
    "planner_core/depth_events",
    "planner_core/running",
)
"""Modules with findings on inputs other than a plan, whose tests contain the cases."""

NAMES_OF_OTHER_THINGS = {
    "AS_Q_DEF",
    "CFPLAN_CONNECTIONS_FILE",
    "CFPLAN_DATABASE_PASSWORD_FILE",
    "CFPLAN_OIDC_CLIENT_SECRET_FILE",
    "CFPLAN_SMTP_CA_FILE",
    "CFPLAN_WEBHOOK_CA_FILE",
    "CFPLAN_WEBHOOK_URL",
    "CSQ_ADMIN",
    "FILLS_WITHIN_LEAD_TIME",  # a finding of the nightly run
    "LARGEST_FILE_BYTES",
    "MQRC_Q_DEPTH_HIGH",
    "MQRC_Q_DEPTH_LOW",
    "MQRC_Q_FULL",
    "MQRC_Q_SERVICE_INTERVAL_HIGH",
    "MQRC_Q_SERVICE_INTERVAL_OK",
    "PROMETHEUS_MULTIPROC_DIR",
    "SPARK_MASTER",
}
"""Strings in `planner_core` and `app` that look like the code of a finding."""


def codes_expected_by(path: Path) -> set[str]:
    """Return the codes that a test file expects: string literals that do not follow `not in`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    absent = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and any(isinstance(each, ast.NotIn) for each in node.ops)
        for part in ast.walk(node)
    }
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in absent)
    return {node.value for node in strings if isinstance(node.value, str)} & set(catalogue())


def codes_expected_in(folder: str) -> set[str]:
    return set().union(*map(codes_expected_by, (TESTS / folder).rglob("test_*.py")))


def found(changes: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Return the findings on the base plan with these changes."""
    document = read_object(varied(**changes))
    try:
        return evaluate(document).findings
    except PlanRefused as refused:
        return refused.findings


def test_every_code_of_the_catalog_has_a_case() -> None:
    of_plans = set(CASES) | ASKED_APART | DEPTH_EVENT_CODES | PLACEMENT_CODES | set(FILLING_CODES)
    elsewhere = set().union(*map(codes_expected_in, FOLDERS_OF_OTHER_QUESTIONS))
    assert set(catalogue()) - of_plans == elsewhere - of_plans
    assert of_plans <= set(catalogue())


def test_depth_findings_have_cases_with_depth_keys() -> None:
    assert codes_expected_by(TESTS / "planner_core" / "sizing" / "test_depth_advice.py") >= DEPTH_EVENT_CODES


def test_code_that_a_test_expects_absent_does_not_count_as_a_case(tmp_path: Path) -> None:
    file = tmp_path / "test_some.py"
    file.write_text(
        'assert "OFFLOAD_DB2" not in codes\nassert "EMPTY_STRUCTURE" in codes\n', encoding="utf-8"
    )
    assert codes_expected_by(file) == {"EMPTY_STRUCTURE"}


@pytest.mark.parametrize("code", CASES)
def test_finding_is_raised_with_field_severity_message_and_source(code: str) -> None:
    case = CASES[code]
    matching = [
        item
        for item in found(case.raised)
        if (item.code, item.field, item.structure) == (code, case.at, case.structure)
    ]
    assert len(matching) == 1, [(item.code, item.field, item.structure) for item in found(case.raised)]
    (item,) = matching
    assert item.severity == case.severity == catalogue()[code].severity
    assert re.search(case.says, item.message), item.message
    assert item.message[0].isupper() or item.message[0].isdigit()
    assert item.message.endswith(".")
    assert item.source.document
    assert item.source.url or item.source.document == "cfplan, docs/explanation/assumptions.md"


@pytest.mark.parametrize("code", CASES)
def test_near_miss_of_a_finding_does_not_raise_it(code: str) -> None:
    assert code not in {item.code for item in found(CASES[code].near)}


MORE_NEAR_MISSES: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("CFCC_LEVEL_WITHOUT_FIGURES", {"cfcc_level": 14}),
    ("SIZED_FOR_CF_LEVEL", {"cfcc_level": 24}),
    ("SIZED_FOR_CF_LEVEL", {"cfcc_level": 24, "coupling_facilities": [{"name": "CF01"}, {"name": "CF02"}]}),
    ("INITSIZE_BELOW_XCF_MINIMUM", {S0 + "queues__0__backlog": 1000, "cfcc_level": 24}),
    ("SIZE_CONTROLS_NOT_KNOWN", {"size_factor": 1, S0 + "initsize": "300M", S0 + "size": "300M"}),
    ("USAGE_MEASURE_ASSUMED", {S0 + "cflevel": 4}),
    ("SMDS_OVERHEAD_ASSUMED", {S0 + "offload__rules": []}),
    ("SMDS_OVERHEAD_ASSUMED", {S0 + "cflevel": 4}),
    ("ADMIN_FIGURE_MISPRINT", {"queue_managers": 3, "cfcc_level": 25}),
    ("ADMIN_NO_ROOM_FOR_LARGE_UNITS_OF_WORK", {"admin__headroom_percent": 0, "admin__initsize": "30M"}),
    ("ADMIN_BELOW_MINIMUM", {"admin": {"initsize": 20480, "size": 25600, "allow_auto_alter": True}}),
    ("SYSTEM_STRUCTURE_BELOW_MINIMUM", {"system__initsize": 20480, "cfcc_level": 24}),
    ("SYSTEM_STRUCTURE_BELOW_ADVICE", {"system__initsize": 20479, "cfcc_level": 24}),
    ("INITSIZE_BELOW_NEED", {}),
    ("SIZE_OVER_TWICE_INITSIZE", {"size_factor": 2}),
    ("SIZE_NOT_WHOLE_INCREMENTS", {S0 + "initsize": 307456, "cfcc_level": 14}),
    ("SIZE_NOT_WHOLE_INCREMENTS", {}),
    ("PEAK_ABOVE_FULLTHRESHOLD", {S0 + "initsize": "231M"}),
    ("PEAK_ABOVE_FULLTHRESHOLD", {S0 + "full_threshold": 0}),
    ("STRUCTURE_LARGER_THAN_CF", {S0 + "initsize": "300M", "coupling_facilities__0__size": "299M"}),
    (
        "STRUCTURE_LARGER_THAN_CF",
        {S0 + "initsize": "300M", "coupling_facilities": [{"name": "CF01", "size": "64M"}, {"name": "CF02"}]},
    ),
    (
        "STRUCTURE_LARGER_THAN_CF",
        {
            S0 + "initsize": "300M",
            "coupling_facilities": [{"name": "CF01", "size": "64M"}],
            **{f"{at}__preflist": ["CF01", "CF02"] for at in ("admin", "system", "structures__0")},
        },
    ),
    (
        "CF_VOLATILE",
        {"coupling_facilities__1__volatile": True, S0 + "recover": True, S0 + "duplex": "DISABLED"},
    ),
    ("CF_VOLATILE", {"coupling_facilities__1__volatile": True, "admin__duplex": "DISABLED"}),
    ("CF_NOT_FAILURE_ISOLATED", {S0 + "recover": False}),
    ("LARGE_MESSAGES_NEED_CFLEVEL_4", {S0 + "cflevel": 4, S0 + "queues__0__message_bytes": 64513}),
    ("MESSAGES_ALWAYS_OFFLOADED", {S0 + "cflevel": 3, S0 + "queues__0__message_bytes": 64513}),
    ("PERSISTENT_NEEDS_RECOVER", {S0 + "cflevel": 2}),
    ("CFCONLOS_NEEDS_CFLEVEL_5", {S0 + "cflevel": 5, S0 + "cfconlos": "TOLERATE"}),
    ("OFFLOAD_DB2", {S0 + "cflevel": 4, S0 + "offload__to": "DB2"}),
    ("DSGROUP_MISSING", {S0 + "cflevel": 4, S0 + "offload": {}}),
    ("QUEUE_FILLS_MOST", {}),
    ("EMPTY_STRUCTURE", {}),
    ("SAME_FIRST_COUPLING_FACILITY", {}),
    (
        "SAME_FIRST_COUPLING_FACILITY",
        {"structures__1": structure("APP2", preflist=["CF01"]), "coupling_facilities": [{"name": "CF01"}]},
    ),
    ("JOB_INCOMPLETE", {"policy": {"name": None, "job": False}}),
)


@pytest.mark.parametrize(
    ("code", "changes"), MORE_NEAR_MISSES, ids=[f"{n}-{c[0]}" for n, c in enumerate(MORE_NEAR_MISSES)]
)
def test_further_near_misses_do_not_raise_the_finding(code: str, changes: Mapping[str, Any]) -> None:
    assert code not in {item.code for item in found(changes)}


def test_size_below_the_base_is_reported() -> None:
    base = published_curve(cfcc_level=25).curve.base

    def codes(size: Fraction) -> dict[str, Finding]:
        answer = offload_answer(size, message_bytes=1024, rules=default_rules(), cfcc_level=25)
        return {item.code: item for item in answer.findings}

    below = codes(base - 1)["SIZE_BELOW_BASE"]
    assert (below.severity, below.field, below.structure) == ("warning", None, None)
    assert re.fullmatch(
        r"22\.000 MiB is below the 22\.000 MiB that an empty structure takes at this CFCC level: .*",
        below.message,
    )
    assert "SIZE_BELOW_BASE" not in codes(base)


def test_known_fitted_curve_is_not_reported_as_unknown() -> None:
    document = read_object(varied(curve={"fitted": 17}))
    curve = published_curve(cfcc_level=25).curve
    assert "CURVE_UNKNOWN" not in {item.code for item in evaluate(document, curve=curve).findings}


def test_plan_beyond_several_limits_is_refused_with_all_of_them() -> None:
    with pytest.raises(PlanRefused) as refused:
        evaluate(
            read_object(
                varied(
                    queue_managers=33,
                    structures=[structure("X", queues=many_queues(513)), *many_structures(63)],
                )
            )
        )
    assert [item.code for item in refused.value.findings] == [
        "TOO_MANY_QUEUE_MANAGERS",
        "TOO_MANY_STRUCTURES",
        "TOO_MANY_QUEUES",
    ]
    for item in refused.value.findings:
        assert item.message in str(refused.value)


def test_coupling_facility_below_level_9_is_reported_at_its_field() -> None:
    items = [i for i in found({"coupling_facilities__1__cfcc_level": 8}) if i.code == "CFCC_LEVEL_TOO_LOW"]
    assert [(i.field, i.message) for i in items] == [
        ("/coupling_facilities/1/cfcc_level", "CF02 has CFCC level 8: IBM MQ needs level 9 or higher.")
    ]


@pytest.mark.parametrize(("level", "structures"), [(26, [None, "CSQ_ADMIN"]), (20, ["CSQ_ADMIN"])])
def test_level_without_admin_figures_is_reported_for_csq_admin(
    level: int, structures: list[str | None]
) -> None:
    codes = {"CFCC_LEVEL_WITHOUT_FIGURES", "CFCC_LEVEL_ABOVE_FIGURES"}
    assert [i.structure for i in found({"cfcc_level": level}) if i.code in codes] == structures


def test_reserve_for_more_messages_than_entries_is_reported() -> None:
    # Messages of up to six elements take one entry each: as many as fit are the entries.
    size_bytes = Fraction(256 * 2**20)
    curve = published_curve(cfcc_level=14).curve
    entries = messages_that_fit(256 * 2**20, message_bytes=1024, curve=curve)
    for messages, codes in ((entries, []), (entries + 1, ["RESERVE_DOES_NOT_FIT"])):
        answer = offload_answer(
            size_bytes, message_bytes=2048, cfcc_level=14, rules=(), hold_messages=messages
        )
        assert [i.code for i in answer.findings if i.code == "RESERVE_DOES_NOT_FIT"] == codes
        reserve: Any = answer.figures["reserve"]
        assert (reserve["highest_threshold_by_pools"] is None) == bool(codes)


def test_structures_with_different_labels_in_one_coupling_facility_are_reported() -> None:
    first = structure("A1", preflist=["CF01"], queues=[queue("A", isolation="PCI")])
    for preflist, expected in ((["CF01", "CF02"], 1), (["CF02"], 0)):
        second = structure("A2", preflist=preflist, queues=[queue("B", isolation="BANK")])
        items = [i for i in found({"structures": [first, second]}) if i.code == "DATA_NOT_ISOLATED"]
        assert len(items) == expected
        for item in items:
            assert (item.field, item.structure) == ("/structures/1/preflist", "A2")
            assert (
                "A1 and A2 must be isolated from each other, but both may be allocated in CF01"
                in item.message
            )


def test_low_entsmax_reports_the_missing_entries() -> None:
    (item,) = [i for i in found({"admin__entsmax": 3000}) if i.code == "ADMIN_ENTSMAX_TOO_LOW"]
    assert item.message.startswith("ENTSMAX 3000 is 2000 below the 5000 list entries")
    # The chart: 24 MB for three queue managers, 25 MB for five.
    assert "1024" in item.message


def test_findings_are_unique_and_errors_come_first() -> None:
    note, warning, error = (
        finding(code, "Said.") for code in ("EMPTY_STRUCTURE", "OFFLOAD_DB2", "JOB_INCOMPLETE")
    )
    assert in_order([note, warning, error, note]) == (error, warning, note)
    assert worst((note, warning)) == "warning"
    assert worst((note, error)) == "error"
    assert worst(()) is None


def test_codes_and_titles_are_unique_and_have_sources() -> None:
    assert len({kind.title for kind in catalogue().values()}) == len(catalogue())
    for code, kind in catalogue().items():
        assert kind.code == code
        assert re.fullmatch(r"[A-Z][A-Z0-9_]*", code)
        assert kind.severity in SEVERITIES
        assert kind.source.document


@pytest.mark.parametrize("code", catalogue())
def test_catalog_entry_has_valid_values_in_every_field(code: str) -> None:
    kind = catalogue()[code]
    assert TypeAdapter(FindingKind).validate_python(asdict(kind)) == kind
    assert kind.title[0].isupper() or kind.title[0].isdigit()
    assert not kind.title.endswith(".")
    for text in (kind.meaning, kind.why, kind.what_to_do):
        assert text.endswith(".")


ENTRY = """[SOME_CODE]
severity = "info"
title = "Some title"
source_key = "project"
section = "Two pools"
meaning = "Some meaning."
why = "Some reason."
what_to_do = "Some advice."
"""


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (ENTRY + ENTRY, "Cannot declare .*SOME_CODE.* twice"),
        (ENTRY + 'reason = "Some reason."\n', "unexpected keyword argument 'reason'"),
        (ENTRY.replace('why = "Some reason."\n', ""), "missing 1 required positional argument: 'why'"),
        (ENTRY + 'why = "Another reason."\n', "Cannot overwrite a value"),
    ],
)
def test_catalog_with_duplicate_unknown_or_missing_keys_is_refused(text: str, error: str) -> None:
    with pytest.raises((tomllib.TOMLDecodeError, TypeError), match=error):
        read_catalogue(text)


def test_finding_with_unknown_code_raises() -> None:
    with pytest.raises(KeyError, match="OFFLOAD_DB3"):
        finding("OFFLOAD_DB3", "Said.", severity="info", source=catalogue()["OFFLOAD_DB2"].source)


def test_codes_in_the_source_are_the_codes_of_the_catalog() -> None:
    """This detects typing errors in codes, even in branches that no test reaches."""
    files = [file for folder in ("planner_core", "app") for file in (TESTS.parent / folder).rglob("*.py")]
    strings = {
        node.value
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    named = {text for text in strings if re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+", text)}
    # The findings about health are those of the nightly run, which has its own catalog.
    assert named - NAMES_OF_OTHER_THINGS - health_codes() == set(catalogue())


OTHER_FACTS = {
    "CFSTRUCT_HAS_GROUP_PREFIX",
    "CLUSTER_MESSAGE_NOT_ELIGIBLE",
    "CLUSTER_MODES_DIFFER",
    "CLUSTER_RANK_HOLDS_MESSAGES",
    "CURVE_UNKNOWN",
    "EMPTY_STRUCTURE",
    "ENTRY_ELEMENT_COST_ASSUMED",
    "MQSC_NOT_UNDERSTOOD",
    "OFFLOAD_GAINS_NOTHING",
    "PLACEMENT_ORDER_MATTERS",
    "POLICY_VALUE_INVALID",
    "RUNNING_TEXT_UNREAD",
    "SCM_REMOVED",
    "STRUCTURE_SHRINKS",
    "UNSTATED_KEPT",
}
"""Codes that several modules report, each with its own facts, or with the message of a reader."""


def test_messages_of_each_finding_code_are_built_in_only_one_module() -> None:
    modules: dict[str, set[Path]] = {}
    for file in (
        each for folder in ("planner_core", "app") for each in (TESTS.parent / folder).rglob("*.py")
    ):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(args=[ast.Constant(value=str(text)), *_]) if text in catalogue():
                    modules.setdefault(text, set()).add(file)
    shared = {
        code
        for code, files in modules.items()
        if len([each for each in files if "style_guide" not in each.parts]) > 1
    }
    assert shared == OTHER_FACTS


def test_finding_in_json_has_the_documented_members() -> None:
    item = finding("OFFLOAD_DB2", "Said.", field="/structures/0/offload/to", structure="APP1")
    as_json = item.as_json()
    assert list(as_json) == ["code", "severity", "message", "source", "field", "structure", "acknowledged"]
    assert as_json["acknowledged"] is None
    assert isinstance(as_json["source"], str)
    assert "https://" in as_json["source"]


@pytest.mark.parametrize(("level", "removed"), [(25, False), (26, True)])
def test_storage_class_memory_above_level_25_is_reported(level: int, removed: bool) -> None:
    changed = {"coupling_facilities__0__scm": "16G", "coupling_facilities__0__cfcc_level": level}
    fields = [item.field for item in found(changed) if item.code == "SCM_REMOVED"]
    assert fields == (["/coupling_facilities/0/scm"] if removed else [])


def test_coupling_facility_without_a_level_has_the_level_of_the_plan() -> None:
    changed = {"cfcc_level": 26, "coupling_facilities": [{"name": "CF01", "size": "512M"}, {"name": "CF02"}]}
    fields = [item.field for item in found(changed) if item.code == "CF_BELOW_LEAST_STORAGE"]
    assert fields == ["/coupling_facilities/0/size"]


@settings(max_examples=100)
@given(documents())
def test_field_of_every_finding_exists_in_the_document(document: dict[str, Any]) -> None:
    plan = read_object(document)
    whole = json.loads(plan.model_dump_json())
    for item in evaluate(plan).findings:
        assert item.code in catalogue()
        here = whole
        for step in (item.field or "").split("/")[1:]:
            here = here[int(step)] if isinstance(here, list) else here[step]
