"""Write the bill of materials and the notices, or the page of licenses: `python -m inventory {sbom,licenses}`."""

from __future__ import annotations

import sys

from inventory import notices, page, sbom
from inventory.packages import installed_packages
from inventory.pins import ROOT

SBOM = ROOT / "build" / "cfplan.cdx.json"
NOTICES = ROOT / "build" / "THIRD-PARTY-NOTICES.txt"


def main(arguments: list[str]) -> int:
    """Run one command, and return the exit code."""
    if arguments not in (["sbom"], ["licenses"]):
        sys.stderr.write("usage: python -m inventory {sbom,licenses}\n")
        return 2
    packages = list(installed_packages())
    if arguments == ["licenses"]:
        page.write(packages)
        return 0
    sbom.write(packages, SBOM)
    notices.write(packages, NOTICES)
    sys.stdout.write(f"{SBOM.relative_to(ROOT)}\n{NOTICES.relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
