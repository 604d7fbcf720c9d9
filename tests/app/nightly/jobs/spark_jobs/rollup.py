"""Roll up the days of the history."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--history", type=Path, required=True)
    parser.add_argument("--days", default="")
    arguments = parser.parse_args()
    days = [day for day in arguments.days.split(",") if day]
    lines: list[dict[str, object]] = [{"event": "days", "days": days}]
    for day in days:
        path = arguments.history / f"{day}.json"
        if path.exists():
            measured = json.loads(path.read_text(encoding="utf-8"))
            lines.append(
                {
                    "event": "structure_hour", "qsg": measured["qsg"], "structure": measured["structure"],
                    "hour": f"{day}T09:00:00Z", "entries_in_use_max": measured["entries_peak"], "sources": ["115-2"],
                }
            )  # fmt: skip
    lines.append({"event": "end", "structure_hours": len(lines) - 1, "smds_hours": 0, "queue_hours": 0})
    for line in lines:
        sys.stdout.write(json.dumps(line) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
