"""Plan documents for the benchmarks."""

from __future__ import annotations

from typing import Any

from planner_core import tables

STRUCTURES = tables.constants("limits")["structures_per_group"].value - 1
"""Number of application structures, in addition to CSQ_ADMIN and without CSQSYSAPPL."""
QUEUES = tables.constants("limits")["queues_per_structure"].value

BANK = (
    "PAYIN", "PAYOUT", "SWIFT", "SEPA", "CARDS", "ATM", "FRAUD", "LEDGER", "LOANS", "MORTGAGE", "TREASURY", "FX", "CUSTOMER", "NOTIFY",
    "BATCH", "AUDIT", "BRANCH", "ARCHIVE",
)  # fmt: skip
"""Application structures of a bank."""


def bank() -> dict[str, Any]:
    """Return the plan of a bank: 20 structures in two coupling facilities, with 77 findings in a dozen groups."""
    facilities = [
        {"name": "CF01", "size": "64G", "site": "SITE1", "occupied": "9G"},
        {"name": "CF02", "size": "64G", "site": "SITE2", "occupied": "4G"},
    ]
    structures = [_bank_structure(number, name) for number, name in enumerate(BANK)]
    return {
        "qsg": "BANK", "queue_managers": 12, "cfcc_level": 25, "coupling_facilities": facilities, "structures": structures,
    }  # fmt: skip


def _bank_structure(number: int, name: str) -> dict[str, Any]:
    structure: dict[str, Any] = {
        "name": name,
        "preflist": ["CF01", "CF02"] if number % 2 else ["CF02", "CF01"],
        "offload": {} if number % 3 == 0 else {"dsgroup": f"MQ.SMDS.*.{name}"},
        "duplex": "ENABLED" if name in ("LEDGER", "LOANS") else "DISABLED",
        "queues": [_bank_queue(number, name, place) for place in range(4)],
    }
    if name in ("SWIFT", "ATM"):
        structure["initsize"] = "64M"
    return structure


def _bank_queue(number: int, name: str, place: int) -> dict[str, Any]:
    spread = {"mean": 3500, "p95": 12_000, "max": 60_000}
    return {
        "name": f"{name}.Q{place}",
        "message_bytes": spread
        if name == "SEPA" and not place
        else (1024, 4096, 12_000, 300)[(number + place) % 4],
        "backlog": 20_000 * (1 + (number * 7 + place * 3) % 9),
        "persistent": True,
        "maxdepth": 999_999_999 if number % 2 else 50_000,
        "qdepthhi": 80,
        "qdepthlo": 80 if number in (1, 3, 4, 5, 7, 10, 13) and not place else 40,
    }


def largest(
    *, structures: int = STRUCTURES, queues: int = QUEUES, with_definitions: bool = False
) -> dict[str, Any]:
    """Return the largest plan within the limits of MQ, with names of full length and every optional field.

    Args:
        structures: Number of application structures.
        queues: Number of queues on each of them.
        with_definitions: Give each queue the attributes of its definition, its measured rates and its depth as well, and
            the policy its name, so that every output is available.
    """
    facilities = [
        {
            "name": f"CFACIL{number:02}",
            "size": "64000G",
            "cfcc_level": 25,
            "site": "SITE1",
            "volatile": False,
            "failure_isolated": True,
            "type": "003931",
            "mfg": "IBM",
            "plant": "02",
            "sequence": f"0000000A1B{number:02}",
            "partition": "0F",
            "cpcid": "00",
            "dumpspace": "98M",
        }
        for number in range(8)
    ]
    names = [facility["name"] for facility in facilities]
    return {
        "schema_version": 1,
        "qsg": "SQ03",
        "queue_managers": [f"QM{number:02}" for number in range(32)],
        "cfcc_level": 25,
        "growth": {"percent_per_year": 12.5, "years": 2.5},
        "system": {"include": False},
        "coupling_facilities": facilities,
        "structures": [
            {
                "name": f"APPLICATIO{number:02}",
                "cflevel": 5,
                "recover": True,
                "full_threshold": 85,
                "allow_auto_alter": False,
                "preflist": names,
                "duplex": "DISABLED",
                "offload": {
                    "to": "SMDS",
                    "rules": [
                        {"usage_over": 70, "size_over": "32K"},
                        {"usage_over": 80, "size_over": "4K"},
                        {"usage_over": 90, "size_over": "0K"},
                    ],
                    "dsgroup": f"MQ.SMDS.*.APPLIC{number:02}",
                    "dsblock": "256K",
                    "dsbufs": 100,
                },
                "size_with_offload": number % 2 == 1,
                "queues": [
                    {**_queue(number, place), **(_definition(place) if with_definitions else {})}
                    for place in range(queues)
                ],
            }
            for number in range(structures)
        ],
        **({"policy": {"name": "POLICY01"}} if with_definitions else {}),
    }


def _queue(structure: int, place: int) -> dict[str, Any]:
    mean = 300 + (structure * 37 + place * 101) % 20_000
    queue: dict[str, Any] = {
        # 48 characters, the maximum length of a queue name.
        "name": f"PAYMENTS.EUROPE.CUSTOMER.REQUESTS.S{structure:02}.Q{place:04}".ljust(48, "X"),
        "message_bytes": {"mean": mean, "p95": mean * 3, "max": mean * 10},
        "persistent": place % 2 == 0,
        "isolation": f"structure-{structure:02}".ljust(32, "x"),
    }
    if place % 2:
        return {**queue, "put_rate_per_s": 0.25, "outage_minutes": 30.5}
    return {**queue, "backlog": 1000 + place}


def _definition(place: int) -> dict[str, Any]:
    rates = {
        "get_rate_per_s": 0.2,
        "queue_manager_rates": {"QM00": {"put_rate_per_s": 0.25, "get_rate_per_s": 0.2}},
    }
    return {
        "selector_reads": False,
        "maxdepth": 999_999 - place,
        "qdepthhi": 80,
        "qdepthlo": 40,
        "qdphiev": "ENABLED",
        "qdploev": "ENABLED",
        "qdpmaxev": "ENABLED",
        "qsvciev": "NONE",
        "share": True,
        "default_share_option": "SHARED",
        "index_type": "MSGID",
        "max_message_length": 4_194_304,
        "backout_threshold": 10,
        "backout_queue": f"PAYMENTS.EUROPE.CUSTOMER.BACKOUT.Q{place:04}".ljust(48, "X"),
        "curdepth": place,
        **(rates if place % 2 else {}),
    }
