"""Findings on a plan, and the catalog of their codes, severities, titles and sources."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from planner_core import tables
from planner_core.provenance import Source, SourceText, read_source
from planner_core.wire import Answer

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
RANKS = {severity: rank for rank, severity in enumerate(SEVERITIES)}
_SEPARATED_SIZE: Final = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?=\.\d)", re.ASCII)
"""The integer part of a size such as 8,378.3 MiB, as earlier releases wrote it; `units.format_mib` writes 8378.3 MiB."""


def comparable_message(message: str) -> str:
    """Return a message of any release as this one writes it, to compare it with others.

    >>> comparable_message("A$#@APP0 (4,217.0 MiB) cannot be placed.")
    'A$#@APP0 (4217.0 MiB) cannot be placed.'
    """
    if "," not in message:
        return message
    return _SEPARATED_SIZE.sub(lambda found: found[0].replace(",", ""), message)


@dataclass(frozen=True, slots=True)
class FindingKind:
    """One entry of findings.toml.

    `source_key` and `section` name the document that states the rule. `meaning`, `why` and `what_to_do` are
    Markdown for the page of the code in docs/reference/findings/.
    """

    code: str
    severity: Severity
    title: str
    source_key: str
    section: str
    meaning: str
    why: str
    what_to_do: str

    @property
    def source(self) -> Source:
        """Return the document that states the rule, and the section."""
        return tables.source(self.source_key, self.section)


@dataclass(frozen=True, slots=True)
class Finding(Answer):
    """A remark about a plan."""

    code: Annotated[str, Field(description="Stable name of the rule.", examples=["INITSIZE_BELOW_NEED"])]
    severity: Severity
    message: Annotated[str, Field(description="A sentence for the planner.")]
    source: Annotated[SourceText, Field(description="The document on which the rule is based.")]
    field: Annotated[str | None, Field(description="JSON pointer to the field that it concerns, if any.")] = (
        None
    )
    structure: Annotated[
        str | None, Field(description="The structure (CFSTRUCT name) that it concerns, if any.")
    ] = None
    acknowledged: Annotated[
        str | None,
        Field(
            description="Why the planners accept it, if the document states a reason. Errors cannot be accepted."
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class FindingGroup(Answer):
    """The findings of a result that have the same code and severity."""

    code: str
    severity: Severity
    count: Annotated[int, Field(description="Number of findings, including acknowledged ones.")]
    structures: Annotated[
        tuple[str, ...], Field(description="Structures that they concern, in the order of the findings.")
    ]
    message: Annotated[
        str,
        Field(
            description="The message of a single finding; otherwise the rule, with the number of structures."
        ),
    ]


def read_catalogue(text: str) -> Mapping[str, FindingKind]:
    """Read findings.toml; a duplicate code, an unknown key or a missing key raises an error."""
    # The texts in the file are wrapped for its editors only.
    kinds: dict[str, FindingKind] = {}
    for code, entry in tomllib.loads(text).items():
        fields: dict[str, Any] = {key: " ".join(value.split()) for key, value in entry.items()}
        kinds[code] = FindingKind(code, **fields)
    return kinds


@cache
def catalogue() -> Mapping[str, FindingKind]:
    """Return the kind of each code, in the order of findings.toml."""
    # Read when first needed: `cfplan --help` and most pages have no findings.
    return read_catalogue(
        resources.files("planner_core").joinpath("findings.toml").read_text(encoding="utf-8")
    )


DEPTH_EVENT_CODES = frozenset(
    {
        "DEPTH_EVENTS_ALL_OFF",
        "DEPTH_EVENTS_ONLY_FULL",
        "DEPTH_HIGH_EVENT_SPENT",
        "HIGH_EVENTS_LEAVE_A_GAP",
        "HIGH_EVENT_TOO_LATE_AT_NET_RATES",
        "MAXDEPTHS_ABOVE_CAPACITY",
        "MAXDEPTH_ABOVE_CAPACITY",
        "MAXDEPTH_BELOW_BACKLOG",
        "MAXDEPTH_UNLIMITED_WITH_EVENTS",
        "NO_QDEPTHHI_SERVES",
        "PERFMEV_DIFFERS",
        "PERFMEV_NOT_STATED",
        "PERFMEV_OFF",
        "QDEPTHHI_ABOVE_CAPACITY",
        "QDEPTHHI_AFTER_ACTION_LEVEL",
        "QDEPTHHI_BELOW_QDEPTHLO",
        "QDEPTHHI_EQUALS_QDEPTHLO",
        "QDEPTHHI_WARNS_OF_NOTHING",
        "SERVICE_INTERVAL_ON_SHARED_QUEUE",
        "SILENT_SWITCHES",
    }
)
"""The codes of findings on queue depths in plans."""


@cache
def _source_of(code: str) -> Source:
    return catalogue()[code].source


def finding(
    code: str,
    message: str,
    *,
    field: str | None = None,
    structure: str | None = None,
    source: Source | None = None,
    severity: Severity | None = None,
) -> Finding:
    """Return a finding with a code of the catalog, and by default with its severity and source."""
    kind = catalogue()[code]
    return Finding(code, severity or kind.severity, message, source or _source_of(code), field, structure)


def read_findings(items: Iterable[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """Return findings from stored JSON, perhaps of an older version."""
    # Earlier versions wrote only the members that a finding had.
    return tuple(
        Finding(
            code=item["code"],
            severity=item["severity"],
            message=item["message"],
            source=read_source(item.get("source")),
            field=item.get("field"),
            structure=item.get("structure"),
            acknowledged=item.get("acknowledged"),
        )
        for item in items
    )


def finding_groups(findings: Iterable[Finding]) -> tuple[FindingGroup, ...]:
    """Return the findings grouped by code and severity: errors first, then the largest groups, then by code."""
    groups: dict[tuple[Severity, str], list[Finding]] = {}
    for each in findings:
        groups.setdefault((each.severity, each.code), []).append(each)
    ordered = sorted(groups.items(), key=lambda item: (RANKS[item[0][0]], -len(item[1]), item[0][1]))
    return tuple(_group(severity, code, found) for (severity, code), found in ordered)


def _group(severity: Severity, code: str, found: list[Finding]) -> FindingGroup:
    structures = tuple(dict.fromkeys([each.structure for each in found if each.structure]))
    message = found[0].message if len(found) == 1 else _group_message(code, len(found), len(structures))
    return FindingGroup(code, severity, len(found), structures, message)


def _group_message(code: str, count: int, structures: int) -> str:
    # Stored results may have codes of a release that the catalog does not know.
    kind = catalogue().get(code)
    title = code if kind is None else kind.title
    if count == structures:
        return f"{title}: {count} structures."
    if not structures:
        return f"{title}: {count} findings."
    return f"{title}: {count} findings on {structures} structure{'s' if structures > 1 else ''}."


def worst(findings: tuple[Finding, ...]) -> Severity | None:
    """Return the highest severity of the findings; None without findings."""
    present = {f.severity for f in findings}
    return next((severity for severity in SEVERITIES if severity in present), None)


def in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """Return each finding once: errors first, then warnings and notes, each in the order of the document."""
    # The sort is stable, and checks run in the order of the document.
    unique = {(f.code, f.field, f.structure, f.message): f for f in findings}
    return tuple(sorted(unique.values(), key=lambda f: RANKS[f.severity]))
