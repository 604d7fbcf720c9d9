"""The page docs/reference/licenses.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from inventory.carried import carried_by
from inventory.packages import Package
from inventory.pins import ROOT

PAGE = ROOT / "docs" / "reference" / "licenses.md"


def page(packages: Sequence[Package]) -> str:
    """Return the text of the page."""
    lines = [
        "# Licenses",
        "",
        "cfplan is under the Apache License 2.0. Find the licenses of the packages that an installation contains. `make sbom`",
        "writes all versions, hashes and license texts of your installation to `build/`",
        "([deployment](../operations/deployment.md#bill-of-materials)).",
        "",
        "This page is written by `make licenses`, from the metadata of the pinned packages on Linux.",
    ]
    for part, title, about in (
        ("web", "Service", "These packages serve pages and REST."),
        ("spark", "Jobs", "These packages read large dumps and make nightly runs."),
        (
            "mcp",
            "Assistants",
            "Only the command `cfplan mcp` needs these packages; the service and the jobs do not.",
        ),
    ):
        lines += ["", f"## {title}", "", about, "", "| package | license |", "|---|---|"]
        lines += [f"| {package.name} | {package.license} |" for package in packages if package.part == part]
    lines += ["", "## Software that packages carry", "", "| package | contains | license |", "|---|---|---|"]
    for package in packages:
        parts = list(carried_by(package))
        named = [
            part for part in parts if part.license and part.sha256 != "" and not part.name.endswith(".jar")
        ]
        if package.name == "pyspark":
            counted = Counter(part.license or "in the license texts of pyspark" for part in parts)
            lines += [
                f"| pyspark | {number} Java libraries | {license_} |"
                for license_, number in sorted(counted.items())
            ]
        else:
            lines += [f"| {package.name} | {part.name} | {part.license} |" for part in named]
    lines += [
        "",
        "Wheels with compiled modules also carry shared libraries, such as OpenSSL and libpq in psycopg-binary. The bill of",
        "materials lists them with their hashes.",
        "",
    ]
    return "\n".join(lines)


def write(packages: Sequence[Package]) -> None:
    """Write the page."""
    PAGE.write_text(page(packages), encoding="utf-8")
