"""Roll up the requested days: one structure and one queue, with an hour each."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--history", required=True)
    parser.add_argument("--days", default="")
    days = [day for day in parser.parse_args().days.split(",") if day]
    lines: list[dict[str, object]] = [{"event": "days", "days": days}]
    lines += [
        {
            "event": "structure_hour",
            "qsg": "SQ03",
            "structure": "APPLICATION1",
            "hour": f"{day}T09:00:00Z",
            "entries_in_use_max": 1254,
            "elements_in_use_max": 6358,
            "structure_full_count": 0,
            "observations": 2,
            "queue_managers": 1,
            "sources": ["115-2"],
        }
        for day in days
    ]
    lines += [
        {
            "event": "queue_hour",
            "qsg": "SQ03",
            "queue": "PAYMENTS.IN",
            "structure": "APPLICATION1",
            "hour": f"{day}T09:00:00Z",
            "puts": 1200,
            "put_bytes": 1_228_800,
            "source": "115-216",
        }
        for day in days
    ]
    lines.append({"event": "end", "structure_hours": len(days), "smds_hours": 0, "queue_hours": len(days)})
    if "2026-01-01" in days:  # a day that takes its time
        time.sleep(1)
    if "2026-01-02" in days:  # a day whose output is cut short
        lines.pop()
    for line in lines:
        sys.stdout.write(json.dumps(line) + "\n")
    if "2026-01-03" in days:  # a day after which the process falls over
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
