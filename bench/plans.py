"""Plan documents for the benchmarks."""

from __future__ import annotations

from typing import Any

from planner_core import tables

STRUCTURES = tables.constants("limits")["structures_per_group"].value - 1
"""Number of application structures, in addition to CSQ_ADMIN and without CSQSYSAPPL."""
QUEUES = tables.constants("limits")["queues_per_structure"].value


def largest(*, structures: int = STRUCTURES, queues: int = QUEUES) -> dict[str, Any]:
    """Return the largest plan within the limits of MQ, with names of full length and every optional field."""
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
                "queues": [_queue(number, place) for place in range(queues)],
            }
            for number in range(structures)
        ],
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
