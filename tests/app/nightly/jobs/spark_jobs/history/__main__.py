"""`files` and `forget SHA256`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("files", "forget"):
        made = verbs.add_parser(verb)
        made.add_argument("--history", type=Path, required=True)
        if verb == "forget":
            made.add_argument("sha256")
    arguments = parser.parse_args()
    folder = arguments.history / "files"
    if arguments.verb == "files":
        for path in sorted(folder.glob("*")):
            sys.stdout.write(path.read_text(encoding="utf-8") + "\n")
        return 0
    path = folder / arguments.sha256
    if not path.exists():
        sys.stdout.write(json.dumps({"sha256": arguments.sha256, "days": []}) + "\n")
        return 1
    day = json.loads(path.read_text(encoding="utf-8"))["day"]
    (arguments.history / f"{day}.json").unlink()
    path.unlink()
    sys.stdout.write(json.dumps({"sha256": arguments.sha256, "days": [day]}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
