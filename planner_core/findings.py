"""What there is to say about a plan: codes, severities, sentences and sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from planner_core import tables
from planner_core.provenance import Source

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
_RANKS = {severity: rank for rank, severity in enumerate(SEVERITIES)}


@dataclass(frozen=True, slots=True)
class FindingKind:
    """One code: how serious it is, what it means in a few words, and where the rule stands."""

    code: str
    severity: Severity
    title: str
    source_key: str
    section: str

    @property
    def source(self) -> Source:
        """Where the rule stands."""
        return tables.source(self.source_key, self.section)


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark on one plan.

    `field` is a JSON pointer into the document, `structure` a CFSTRUCT name, `acknowledged`
    the reason for which the planners accept it.
    """

    code: str
    severity: Severity
    message: str
    source: Source
    field: str | None = None
    structure: str | None = None
    acknowledged: str | None = None

    def as_json(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "source": str(self.source),
            "field": self.field,
            "structure": self.structure,
            "acknowledged": self.acknowledged,
        }


_APP = "Application structures"
_USING = "Using multiple structures"
_ADMIN = "The administrative structure"
_CFSTRUCT = "The CF structure object"

_KINDS: tuple[FindingKind, ...] = (
    # Plans that cannot exist.
    FindingKind(
        "TOO_MANY_QUEUE_MANAGERS",
        "error",
        "More than 32 queue managers in the group",
        "mq_held",
        "The coupling facility",
    ),
    FindingKind(
        "TOO_MANY_STRUCTURES", "error", "More than 64 structures in the group", "mq_planning", _USING
    ),
    FindingKind(
        "TOO_MANY_QUEUES",
        "error",
        "More than 512 queues on a structure",
        "mq_planning",
        "Planning your structures",
    ),
    FindingKind(
        "CURVE_UNKNOWN",
        "error",
        "The plan names a fitted curve that is not at hand",
        "project",
        "Fitted curves",
    ),
    FindingKind(
        "CURVE_NOT_ACCEPTED",
        "error",
        "The plan names a fit that was not accepted",
        "project",
        "Fitted curves",
    ),
    # Levels, curves and assumptions.
    FindingKind("CFCC_LEVEL_TOO_LOW", "error", "CFCC level below 9", "mq_planning", _USING),
    FindingKind(
        "CFCC_LEVEL_WITHOUT_FIGURES",
        "info",
        "A CFCC level takes the figures of the next higher one",
        "project",
        "CFCC levels without figures",
    ),
    FindingKind(
        "CFCC_LEVEL_ABOVE_FIGURES",
        "warning",
        "A CFCC level above all published figures",
        "project",
        "CFCC levels without figures",
    ),
    FindingKind(
        "CF_LEVEL_ABOVE_PLAN",
        "warning",
        "A coupling facility has a higher CFCC level than the plan",
        "mq_z16",
        "pages 12 to 17",
    ),
    FindingKind(
        "CURVE_BASE_ASSUMED", "info", "The base of the curve is inferred", "project", "The element model"
    ),
    FindingKind(
        "FITTED_CURVE_IN_USE",
        "info",
        "The sizes rest on a curve fitted to a site's own allocations",
        "project",
        "Fitted curves",
    ),
    FindingKind(
        "FITTED_CURVE_OF_OTHER_LEVEL",
        "warning",
        "The fitted curve is of another CFCC level than the plan",
        "project",
        "Fitted curves",
    ),
    FindingKind(
        "ENTRY_ELEMENT_COST_ASSUMED",
        "warning",
        "The cost of entries and elements apart is assumed",
        "project",
        "Entry and element cost apart",
    ),
    FindingKind(
        "USAGE_MEASURE_ASSUMED",
        "info",
        "Structure usage is taken as the fuller of the two pools",
        "project",
        "Structure usage",
    ),
    FindingKind(
        "SIZE_DISTRIBUTION_ASSUMED",
        "info",
        "The shape of a distribution of message sizes is assumed",
        "project",
        "Message size distributions",
    ),
    FindingKind(
        "SMDS_OVERHEAD_ASSUMED",
        "info",
        "The overhead of messages in SMDS is assumed",
        "project",
        "SMDS space",
    ),
    # The administrative structure.
    FindingKind(
        "ADMIN_FIGURE_FROM_NEXT_LEVEL",
        "warning",
        "Beyond the table's end the next higher level's figure is used",
        "project",
        "CFCC levels without figures",
    ),
    FindingKind(
        "ADMIN_FIGURE_MISPRINT",
        "info",
        "The published figure is probably a misprint",
        "mq_planning",
        "Table 1",
    ),
    FindingKind(
        "ADMIN_ENTSMAX_TOO_LOW",
        "warning",
        "CSQ_ADMIN has fewer list entries than the group needs",
        "mq_planning",
        _ADMIN,
    ),
    FindingKind(
        "ADMIN_NO_ROOM_FOR_LARGE_UNITS_OF_WORK",
        "info",
        "No room is planned for large units of work",
        "mq_planning",
        _ADMIN,
    ),
    FindingKind(
        "ADMIN_BELOW_MINIMUM", "error", "CSQ_ADMIN is given less than its minimum", "mq_csqe022e", ""
    ),
    # The system structure.
    FindingKind(
        "SYSTEM_STRUCTURE_BELOW_MINIMUM",
        "error",
        "CSQSYSAPPL is given less than XCF allocates",
        "mq_z16",
        "pages 12 to 17, IXL015I",
    ),
    FindingKind(
        "SYSTEM_STRUCTURE_BELOW_ADVICE",
        "warning",
        "CSQSYSAPPL is given less than IBM advises",
        "mq_z16",
        "pages 12 to 17",
    ),
    FindingKind(
        "SYSTEM_STRUCTURE_LEFT_OUT",
        "warning",
        "The plan leaves CSQSYSAPPL out",
        "mq_planning",
        "Planning your structures",
    ),
    # The group.
    FindingKind(
        "QSG_NAME_ENDS_IN_AT",
        "warning",
        "The group's name ends in @",
        "mq_csq5pqsg",
        "Syntax, keywords, and parameters",
    ),
    FindingKind(
        "TOO_FEW_STRUCTURES",
        "error",
        "A group needs at least two structures",
        "mq_planning",
        "Planning your structures",
    ),
    FindingKind(
        "NO_APPLICATION_STRUCTURE",
        "warning",
        "No structure for user messages",
        "mq_planning",
        "Planning your structures",
    ),
    FindingKind(
        "SAME_FIRST_COUPLING_FACILITY",
        "info",
        "All application structures prefer the same coupling facility",
        "mq_planning",
        _USING,
    ),
    # Sizes.
    FindingKind(
        "INITSIZE_BELOW_NEED", "warning", "INITSIZE does not hold the planned backlog", "mq_planning", _APP
    ),
    FindingKind("SIZE_BELOW_NEED", "warning", "SIZE does not hold the planned backlog", "mq_rc2192", ""),
    FindingKind(
        "INITSIZE_BELOW_BASE",
        "warning",
        "INITSIZE is below what an empty structure takes",
        "project",
        "The element model",
    ),
    FindingKind(
        "INITSIZE_RAISED_TO_XCF_MINIMUM",
        "info",
        "INITSIZE is raised to what XCF was seen to demand",
        "mq_z16",
        "pages 12 to 17, IXL015I",
    ),
    FindingKind(
        "INITSIZE_BELOW_XCF_MINIMUM",
        "warning",
        "INITSIZE is below what XCF was seen to demand",
        "mq_z16",
        "pages 12 to 17, IXL015I",
    ),
    FindingKind(
        "SIZE_BELOW_BASE",
        "warning",
        "A size is below what an empty structure takes",
        "project",
        "The element model",
    ),
    FindingKind(
        "SIZE_OVER_TWICE_INITSIZE",
        "warning",
        "SIZE is more than twice INITSIZE (IXCH0255E)",
        "zos_policysize",
        "",
    ),
    FindingKind("SIZE_ABOVE_MAXIMUM", "error", "More than a CFRM policy can state", "zos_cfrm", "SIZE"),
    FindingKind(
        "SIZE_NOT_WHOLE_INCREMENTS",
        "info",
        "A given size is no whole number of storage increments",
        "zos_increment",
        "",
    ),
    FindingKind(
        "PEAK_ABOVE_FULLTHRESHOLD", "info", "The planned backlog is above FULLTHRESHOLD", "mq_planning", _APP
    ),
    FindingKind(
        "FULLTHRESHOLD_ZERO",
        "warning",
        "FULLTHRESHOLD(0) switches monitoring off",
        "zos_cfrm_update",
        "FULLTHRESHOLD",
    ),
    FindingKind(
        "AUTO_ALTER_MAY_SHRINK",
        "info",
        "ALLOWAUTOALT(YES) without MINSIZE",
        "zos_cfrm_update",
        "ALLOWAUTOALT and MINSIZE",
    ),
    FindingKind("EMPTY_STRUCTURE", "info", "A structure without a backlog", "project", "The element model"),
    # Coupling facilities.
    FindingKind(
        "STRUCTURE_LARGER_THAN_CF",
        "error",
        "INITSIZE fits in no coupling facility of PREFLIST",
        "mq_held",
        "The coupling facility",
    ),
    FindingKind(
        "SIZE_LARGER_THAN_CF",
        "warning",
        "SIZE fits in no coupling facility of PREFLIST",
        "mq_held",
        "The coupling facility",
    ),
    FindingKind(
        "CF_TOO_SMALL",
        "warning",
        "INITSIZE does not fit in every coupling facility of PREFLIST",
        "mq_held",
        "The coupling facility",
    ),
    FindingKind(
        "PREFLIST_MISSING", "warning", "No coupling facility is named for PREFLIST", "zos_cfrm", "PREFLIST"
    ),
    FindingKind(
        "PREFLIST_DEFAULTED",
        "info",
        "PREFLIST is taken from the plan's coupling facilities",
        "zos_cfrm",
        "PREFLIST",
    ),
    FindingKind(
        "PREFLIST_UNKNOWN_CF",
        "warning",
        "PREFLIST names a coupling facility that the plan does not describe",
        "zos_cfrm",
        "PREFLIST",
    ),
    FindingKind(
        "PREFLIST_SINGLE_CF", "warning", "Only one coupling facility in PREFLIST", "mq_planning", _USING
    ),
    FindingKind(
        "CF_VOLATILE",
        "warning",
        "Volatile coupling facility without RECOVER or DUPLEX",
        "mq_planning",
        _USING,
    ),
    FindingKind(
        "CF_NOT_FAILURE_ISOLATED",
        "warning",
        "Coupling facility not failure-isolated, without RECOVER or DUPLEX",
        "mq_planning",
        _USING,
    ),
    # Messages, CFLEVEL, recovery.
    FindingKind(
        "PERSISTENT_NEEDS_CFLEVEL_3", "error", "Persistent messages below CFLEVEL 3", "mq_held", _CFSTRUCT
    ),
    FindingKind(
        "LARGE_MESSAGES_NEED_CFLEVEL_4", "error", "Messages over 63 KB below CFLEVEL 4", "mq_rc2366", ""
    ),
    FindingKind(
        "RECOVER_NEEDS_CFLEVEL_3", "error", "RECOVER(YES) below CFLEVEL 3", "mq_backup", "Usage notes"
    ),
    FindingKind(
        "OFFLOAD_NEEDS_CFLEVEL_5",
        "warning",
        "Offload rules below CFLEVEL 5 have no effect",
        "mq_offload",
        "Selecting where the shared queue messages are stored",
    ),
    FindingKind(
        "OFFLOAD_DB2",
        "warning",
        "OFFLOAD(DB2) is meant for migration",
        "mq_offload",
        "Selecting where the shared queue messages are stored",
    ),
    FindingKind(
        "MESSAGES_ALWAYS_OFFLOADED",
        "info",
        "Messages over 63 KB are always offloaded",
        "mq_held",
        "Shared queue message storage",
    ),
    FindingKind(
        "OFFLOAD_GAINS_NOTHING",
        "info",
        "Offloading does not let the structure hold more",
        "project",
        "Two pools",
    ),
    FindingKind(
        "OFFLOADED_AT_BACKLOG",
        "info",
        "Rules offload a part of the planned backlog",
        "mq_offload",
        "Offload rules",
    ),
    FindingKind(
        "SAME_CF_TWICE",
        "warning",
        "Two names for one coupling facility",
        "zos_cfrm",
        "CF",
    ),
    FindingKind("DSGROUP_TWICE", "warning", "Two structures share a DSGROUP", "mq_cfstruct", "DSGROUP"),
    FindingKind(
        "DB2_LOB_SPACE_ASSUMED",
        "info",
        "The space of offloaded messages in Db2 is assumed",
        "project",
        "Db2 LOB space",
    ),
    FindingKind(
        "RESERVE_DOES_NOT_FIT",
        "warning",
        "The messages to hold do not fit at any threshold",
        "mq_offload",
        "Capacity",
    ),
    FindingKind("DSGROUP_MISSING", "warning", "OFFLOAD(SMDS) without DSGROUP", "mq_cfstruct", "DSGROUP"),
    FindingKind(
        "PERSISTENT_NEEDS_RECOVER",
        "error",
        "Persistent messages on a structure with RECOVER(NO)",
        "mq_rc2048",
        "",
    ),
    FindingKind(
        "MIXED_PERSISTENCE",
        "info",
        "Persistent and nonpersistent queues on one structure",
        "mq_planning",
        _USING,
    ),
    FindingKind("QUEUE_FILLS_MOST", "info", "One queue takes most of a structure", "mq_planning", _USING),
    FindingKind(
        "STRUCTURE_FILLS_CF", "info", "A structure takes most of a coupling facility", "mq_planning", _USING
    ),
    FindingKind(
        "DATA_NOT_ISOLATED",
        "warning",
        "Queues to be kept apart share a structure or a coupling facility",
        "mq_planning",
        _USING,
    ),
    # Acknowledgements.
    FindingKind(
        "ACKNOWLEDGEMENT_UNUSED",
        "info",
        "An acknowledged finding is no longer there, or says something else",
        "project",
        "Acknowledged findings",
    ),
    # Clusters.
    FindingKind(
        "CLUSTER_MODES_DIFFER",
        "warning",
        "Article and reference choose differently",
        "project",
        "Cluster decisions",
    ),
    FindingKind(
        "CLUSTER_PUT_FAILS",
        "warning",
        "Every remaining instance is PUT(DISABLED)",
        "mq_reallocation",
        "Need to understand precedence of cluster workload attributes",
    ),
    FindingKind(
        "CLUSTER_NO_DESTINATION",
        "warning",
        "No instance of the queue can be reached",
        "mq_clwl_algorithm",
        "",
    ),
    FindingKind(
        "CLUSTER_RANK_HOLDS_MESSAGES",
        "warning",
        "Rank keeps messages at a channel that does not run",
        "mq_reallocation",
        "Need to understand precedence of cluster workload attributes",
    ),
    FindingKind(
        "CLUSTER_RANK_DECIDES",
        "info",
        "Rank decides: messages will wait if the channel fails",
        "mq_reallocation",
        "Need to understand precedence of cluster workload attributes",
    ),
    FindingKind(
        "CLUSTER_STATE_ASSUMED",
        "info",
        "A state that the article does not name decides",
        "project",
        "Cluster decisions",
    ),
    FindingKind(
        "CLUSTER_PRIORITY_READING",
        "info",
        "How priorities of queue and channel are read together",
        "project",
        "Cluster decisions",
    ),
    FindingKind(
        "CLUSTER_LOCAL_DEFAULTS",
        "info",
        "The sender's own instance competes with default attributes",
        "project",
        "Cluster decisions",
    ),
    FindingKind(
        "CLUSTER_ONLY_CHOICE",
        "info",
        "There is only one instance",
        "mq_reallocation",
        "There is only one choice!",
    ),
    FindingKind(
        "CLUSTER_MESSAGE_NOT_ELIGIBLE",
        "info",
        "The message may not be re-allocated",
        "mq_reallocation",
        "Messages not eligible for re-allocation",
    ),
    FindingKind(
        "CLUSTER_MESSAGE_NOT_REDRIVEN",
        "info",
        "The message is not looked at now",
        "mq_reallocation",
        "When does re-allocation occur?",
    ),
    FindingKind(
        "CLUSTER_QUEUE_NOT_IN_PLAN",
        "warning",
        "A clustered queue is on none of the plan's structures",
        "mq_clusters_qsg",
        "",
    ),
    FindingKind(
        "CLUSTER_SHARES_ONE_QUEUE",
        "info",
        "Members of the group advertise one and the same queue",
        "mq_clusters_add_qsg",
        "",
    ),
    FindingKind(
        "CLUSTER_RATE_ABOVE_PLAN",
        "warning",
        "The cluster sends more than the plan counts for the queue",
        "project",
        "Cluster load",
    ),
    FindingKind(
        "CLUSTER_FAILURE_ABOVE_INITSIZE",
        "warning",
        "INITSIZE does not hold what a failure in the cluster brings",
        "project",
        "Cluster load",
    ),
    FindingKind(
        "CLUSTER_GETS_TOO_SLOW",
        "warning",
        "Messages come faster than they are got while something in the cluster fails",
        "project",
        "Cluster load",
    ),
    FindingKind(
        "CLUSTER_DETECTION_ASSUMED",
        "info",
        "How long a failed channel goes unnoticed is assumed",
        "project",
        "Cluster load",
    ),
    FindingKind(
        "CLUSTER_OUTAGE_MISSING",
        "info",
        "A cluster has messages that are bound, and no outage",
        "project",
        "Cluster load",
    ),
    FindingKind(
        "CLUSTER_MEMBER_UNKNOWN",
        "warning",
        "A shared instance is on no queue manager of the group",
        "mq_clusters_qsg",
        "",
    ),
    # Outputs.
    FindingKind("JOB_INCOMPLETE", "error", "Something is missing for the complete job", "zos_cfrm", "Syntax"),
    FindingKind(
        "JOB_HOLDS_ONLY_THIS_PLAN",
        "warning",
        "The policy of the job holds only this plan's structures",
        "zos_reconfigure",
        "",
    ),
)

CATALOGUE: Mapping[str, FindingKind] = {kind.code: kind for kind in _KINDS}


@cache
def _source_of(code: str) -> Source:
    return CATALOGUE[code].source


def finding(
    code: str,
    message: str,
    *,
    field: str | None = None,
    structure: str | None = None,
    source: Source | None = None,
) -> Finding:
    """Make a finding of a catalogued code; its source is the catalogue's unless a nearer one is given."""
    return Finding(code, CATALOGUE[code].severity, message, source or _source_of(code), field, structure)


def worst(findings: tuple[Finding, ...]) -> Severity | None:
    """The most serious severity present."""
    present = {f.severity for f in findings}
    return next((severity for severity in SEVERITIES if severity in present), None)


def in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """Errors first, then warnings, then notes; otherwise in the order of the document; each once."""
    unique = {(f.code, f.field, f.structure, f.message): f for f in findings}
    return tuple(sorted(unique.values(), key=lambda f: _RANKS[f.severity]))
