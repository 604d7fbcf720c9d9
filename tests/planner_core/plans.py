"""Plan documents for tests: a small one with variations, and strategies for arbitrary ones."""

from __future__ import annotations

import copy
from operator import add
from string import ascii_uppercase, digits
from typing import Any

from hypothesis import strategies as st

from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.findings import Finding
from planner_core.plan.evaluate import evaluate

BASE: dict[str, Any] = {
    "qsg": "SQ03",
    "queue_managers": 5,
    "cfcc_level": 25,
    "admin": {"headroom_percent": 10},
    "coupling_facilities": [
        {"name": "CF01", "size": "64G", "cfcc_level": 25},
        {"name": "CF02", "size": "64G", "cfcc_level": 25},
    ],
    "structures": [
        {
            "name": "APP1",
            "preflist": ["CF01", "CF02"],
            "offload": {"dsgroup": "MQ.SMDS.*.APP1"},
            "queues": [{"name": "Q1", "message_bytes": 1024, "backlog": 100_000, "persistent": True}],
        }
    ],
}


def varied(**paths: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Return BASE with values set at paths such as structures__0__recover=False.

    A given `cfcc_level` also applies to the coupling facilities, whose levels decide, unless their own paths set another.
    """
    document = copy.deepcopy(BASE)
    if "cfcc_level" in paths:
        for facility in document["coupling_facilities"]:
            facility["cfcc_level"] = paths["cfcc_level"]
    for path, value in paths.items():
        *steps, last = path.split("__")
        place: Any = document
        for step in steps:
            place = place[int(step)] if step.isdigit() else place.setdefault(step, {})
        if isinstance(place, list):
            place.insert(int(last), value) if int(last) >= len(place) else place.__setitem__(int(last), value)
        else:
            place[last] = value
    return document


def plan(**paths: Any) -> PlanDocument:  # noqa: ANN401
    """Return that document after reading it."""
    return read_object(varied(**paths))


def findings_of(**paths: Any) -> dict[str, Finding]:  # noqa: ANN401
    """Return the findings on that document by code."""
    return {finding.code: finding for finding in evaluate(plan(**paths)).findings}


_sizes = st.one_of(
    st.integers(0, 200_000),
    st.sampled_from([0, 140, 141, 1164, 1165, 4096, 4097, 32768, 32769, 64512, 64513]),
)


@st.composite
def _distributions(draw: st.DrawFn) -> dict[str, int]:
    p95 = draw(st.integers(1, 100_000))
    largest = p95 + draw(st.integers(0, 100_000))
    lowest, highest = -(-p95 // 20), (19 * p95 + largest) // 20
    return {"mean": draw(st.integers(min(lowest, highest), highest)), "p95": p95, "max": largest}


_rules = st.lists(
    st.fixed_dictionaries(
        {
            "usage_over": st.integers(0, 100),
            "size_over": st.sampled_from(["0K", "1K", "4K", "16K", "32K", "63K", "64K"]),
        }
    ),
    max_size=3,
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Return a strategy for valid plan documents."""
    structures = []
    for number in range(draw(st.integers(0, 3))):
        queues = []
        for queue in range(draw(st.integers(0, 4))):
            made: dict[str, Any] = {
                "name": f"Q.{number}.{queue}",
                "message_bytes": draw(st.one_of(_sizes, _distributions())),
                "persistent": draw(st.booleans()),
            }
            if draw(st.booleans()):
                made["backlog"] = draw(st.integers(0, 10**7))
            else:
                made["put_rate_per_s"] = draw(st.sampled_from([0, 0.25, 40, 1234.5]))
                made["outage_minutes"] = draw(st.sampled_from([0, 1, 7.5, 90]))
            queues.append(made)
        structure: dict[str, Any] = {
            "name": f"APP{number}",
            "cflevel": draw(st.integers(3, 5)),
            "offload": {"rules": draw(_rules), "to": draw(st.sampled_from(["SMDS", "DB2"]))},
            "size_with_offload": draw(st.booleans()),
            "queues": queues,
        }
        if draw(st.booleans()):
            structure["entry_to_element_ratio"] = [draw(st.integers(1, 5)), draw(st.integers(1, 40))]
        if draw(st.integers(0, 3)) == 0:
            initsize = draw(st.integers(1, 10**7))
            structure["initsize"] = initsize
            if draw(st.booleans()):
                structure["size"] = initsize + draw(st.integers(0, 10**7))
        elif draw(st.integers(0, 3)) == 0:
            structure["size"] = draw(st.integers(1, 10**7))
        structures.append(structure)
    return {
        "qsg": draw(st.sampled_from(["SQ03", "MQ", "A$#@"])),
        "queue_managers": draw(st.integers(1, 32)),
        "cfcc_level": draw(st.integers(9, 27)),
        "growth": {
            "percent_per_year": draw(st.sampled_from([0, 10, 33.3])),
            "years": draw(st.sampled_from([0, 1, 2.5])),
        },
        "headroom_percent": draw(st.sampled_from([0, 10, 12.5])),
        "size_factor": draw(st.sampled_from([1, 1.5, 2])),
        "system": {"include": draw(st.booleans()), "shared_channels": draw(st.integers(0, 5000))},
        "coupling_facilities": [{"name": "CF01"}, {"name": "CF02"}][: draw(st.integers(0, 2))],
        "structures": structures,
    }


def _names(others: str, longest: int) -> st.SearchStrategy[str]:
    """Return a strategy for names of up to this many characters: a letter, then letters and others.

    Not by a regular expression, which needs several times the CPU time for the same names.
    """
    return st.builds(
        add,
        st.text(ascii_uppercase, min_size=1, max_size=1),
        st.text(ascii_uppercase + others, max_size=longest - 1),
    )


cf_names = _names(f"{digits}$#@_", 8)
_structure_names = _names(digits, 12).filter(lambda name: name != "CSQSYSAPPL")
_cfrm_names = _names(f"{digits}$#@_", 16)
_group_names = _names(f"{digits}$#@", 4)


@st.composite
def _placed(draw: st.DrawFn) -> dict[str, Any]:
    """Return a strategy for the placement and sizes of a structure."""
    placed: dict[str, Any] = {
        "full_threshold": draw(st.integers(0, 100)),
        "allow_auto_alter": draw(st.booleans()),
        "preflist": draw(st.lists(cf_names, max_size=8, unique=True)),
        "exclist": draw(st.lists(_cfrm_names, max_size=8, unique=True)),
        "duplex": draw(st.sampled_from(["DISABLED", "ALLOWED", "ENABLED"])),
    }
    if draw(st.booleans()):
        placed["initsize"] = draw(st.integers(1, 2**30))
    if draw(st.booleans()):
        placed["size"] = draw(st.integers(placed.get("initsize", 1), 2**30))
    return placed


@st.composite
def policy_documents(draw: st.DrawFn) -> dict[str, Any]:
    """Return a strategy for documents with all keys that affect a policy: names, sizes, lists, thresholds."""
    names = draw(st.lists(_structure_names, max_size=3, unique=True))
    structures = []
    for name in names:
        structure = {"name": name, **draw(_placed())}
        ceiling = structure.get("initsize", structure.get("size", 2**30))
        if draw(st.booleans()):
            structure["minsize"] = draw(st.integers(0, ceiling))
        backlog = draw(st.integers(0, 10**7))
        structure["queues"] = [{"name": f"{name}.IN", "message_bytes": 2048, "backlog": backlog}]
        structures.append(structure)
    return {
        "qsg": draw(_group_names),
        "queue_managers": draw(st.integers(1, 32)),
        "cfcc_level": draw(st.sampled_from([14, 24, 25])),
        "admin": draw(_placed()),
        "system": draw(_placed()),
        "coupling_facilities": [
            {"name": name} for name in draw(st.lists(cf_names, max_size=10, unique=True))
        ],
        "structures": structures,
    }


HARDWARE: dict[str, Any] = {
    "type": "003931",
    "mfg": "IBM",
    "plant": "02",
    "sequence": "0000000A1B2C",
    "partition": "0F",
    "cpcid": "00",
}


def job_plan(**paths: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return BASE with all fields that the complete job needs."""
    facilities = [
        {"name": "CF01", "size": "64G", "site": "SITE1", **HARDWARE, "dumpspace": "98M"},
        {"name": "CF02", "size": "64G", **HARDWARE, "partition": "1E"},
    ]
    return varied(**{"policy": {"name": "POLICY1", "job": True}, "coupling_facilities": facilities, **paths})
