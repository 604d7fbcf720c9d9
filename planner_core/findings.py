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
        "SIZED_FOR_CF_LEVEL",
        "info",
        "Structures are sized for the CFCC level of their coupling facilities, not for the plan's",
        "project",
        "CFCC level of a structure",
    ),
    FindingKind(
        "CF_BELOW_LEAST_STORAGE",
        "warning",
        "A coupling facility has less storage than its CFCC level needs",
        "z17_cfcc26",
        "",
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
        "SIZED_FOR_ANY_SHAPE",
        "info",
        "INITSIZE suffices for any shape of message sizes, and is far above that for the assumed shape",
        "project",
        "How full at the planned backlog",
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
        "ADMIN_ELEMENTS_TOO_LOW",
        "warning",
        "CSQ_ADMIN has fewer elements than the group needs",
        "project",
        "Entries and elements of CSQ_ADMIN",
    ),
    FindingKind(
        "ADMIN_NEARLY_FULL",
        "warning",
        "CSQ_ADMIN is nearly full",
        "mq_ph39578",
        "",
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
        "INITSIZE_BELOW_XCF_MINIMUM",
        "info",
        "INITSIZE is below what XCF demanded for CSQSYSAPPL",
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
        "SIZE_CONTROLS_NOT_KNOWN",
        "info",
        "SIZE above INITSIZE costs control storage of an amount that is not published",
        "zos_size_correlation",
        "",
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
    FindingKind(
        "CFCONLOS_NEEDS_CFLEVEL_5",
        "warning",
        "CFCONLOS below CFLEVEL 5 has no effect",
        "mq_cfstruct_properties",
        "Loss of coupling facility connectivity",
    ),
    FindingKind(
        "MESSAGES_ABOVE_MAXMSGL",
        "error",
        "Messages are larger than MAXMSGL of their queue",
        "mq_qlocal",
        "MAXMSGL",
    ),
    FindingKind(
        "QUEUE_WITHOUT_SHARE",
        "info",
        "One application at a time can get from a shared queue",
        "mq_qlocal",
        "SHARE and DEFSOPT",
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
    # Structures filling up.
    FindingKind(
        "FULL_DURING_OUTAGE", "warning", "A structure is full before the outage ends", "mq_rc2192", ""
    ),
    FindingKind(
        "OUTAGE_ASSUMED",
        "info",
        "The outage behind a backlog is assumed",
        "project",
        "An outage in time",
    ),
    FindingKind(
        "MAXDEPTH_DURING_OUTAGE",
        "warning",
        "A queue is full before the outage ends",
        "project",
        "An outage in time",
    ),
    FindingKind(
        "DATA_SET_FULL_DURING_OUTAGE",
        "warning",
        "A shared message data set is full, or must expand, before the outage ends",
        "mq_rc2192",
        "",
    ),
    FindingKind(
        "BACKLOG_DOES_NOT_FIT",
        "warning",
        "No offload thresholds hold the backlog",
        "mq_offload",
        "Capacity",
    ),
    FindingKind(
        "BACKLOG_USES_LAST_TENTH",
        "info",
        "The backlog fits, but not within the space that IBM advises to use",
        "mq_offload",
        "Capacity",
    ),
    FindingKind(
        "TYPICAL_DEPTH_NOT_GIVEN",
        "info",
        "How many messages normal running has is not given",
        "project",
        "Threshold advice",
    ),
    FindingKind(
        "OFFLOADS_IN_NORMAL_RUNNING",
        "warning",
        "Offload rules are at work in normal running",
        "mq_offload",
        "Performance",
    ),
    FindingKind(
        "NORMAL_RUNNING_NEARLY_FULL",
        "warning",
        "Normal running leaves no room for a cushion below the thresholds",
        "mq_offload",
        "Cushioned transition",
    ),
    FindingKind(
        "RECOVERY_TOO_SLOW",
        "warning",
        "A structure takes longer to recover than is allowed",
        "mq_rto",
        "Formula (A)",
    ),
    FindingKind(
        "LOG_RATE_ASSUMED",
        "info",
        "The rate at which logs are read is that of IBM's example",
        "mq_rto",
        "Formula (A)",
    ),
    FindingKind(
        "LOG_WITHOUT_RATE",
        "info",
        "What persistent queues without a rate log is left out",
        "project",
        "Backup and recovery",
    ),
    FindingKind(
        "SMDS_JOB_INCOMPLETE",
        "error",
        "Something is missing for the shared message data sets' job",
        "mq_smds_planning",
        "",
    ),
    FindingKind(
        "SMDS_DOES_NOT_GROW",
        "warning",
        "Shared message data sets that cannot grow are allocated for a full structure",
        "mq_cfstruct",
        "DSEXPAND",
    ),
    FindingKind(
        "SMDS_JOB_CHOICES_ASSUMED",
        "info",
        "What a shared message data set is defined with rests in part on memory",
        "project",
        "The SMDS job",
    ),
    FindingKind(
        "IBM_MARGIN_NOT_KEPT",
        "info",
        "IBM's margin is given up for a threshold that is not too low",
        "project",
        "Threshold advice",
    ),
    # Queue depth events.
    FindingKind(
        "PERFMEV_DIFFERS", "warning", "PERFMEV differs between queue managers", "mq_shared_events", ""
    ),
    FindingKind(
        "PERFMEV_NOT_STATED",
        "info",
        "PERFMEV is not stated for every queue manager",
        "mq_depth_events",
        "",
    ),
    FindingKind(
        "PERFMEV_OFF",
        "warning",
        "Depth events are enabled, but no queue manager writes them",
        "mq_shared_events",
        "Differences between shared and nonshared queues",
    ),
    FindingKind("QDEPTHHI_BELOW_QDEPTHLO", "error", "QDEPTHHI is below QDEPTHLO", "mq_depth_events", ""),
    FindingKind(
        "QDEPTHHI_EQUALS_QDEPTHLO", "warning", "QDEPTHHI and QDEPTHLO are equal", "mq_depth_events", ""
    ),
    FindingKind(
        "QDEPTHHI_WARNS_OF_NOTHING", "warning", "QDEPTHHI is at 0 or at MAXDEPTH", "mq_depth_events", ""
    ),
    FindingKind(
        "MAXDEPTH_BELOW_BACKLOG",
        "warning",
        "MAXDEPTH is below the planned backlog",
        "mq_maxqdepth",
        "",
    ),
    FindingKind(
        "DEPTH_EVENTS_ALL_OFF", "warning", "No depth event of a queue is enabled", "mq_depth_events", ""
    ),
    FindingKind(
        "DEPTH_EVENTS_ONLY_FULL",
        "warning",
        "Only the Queue Full event of a queue is enabled",
        "mq_depth_events",
        "",
    ),
    FindingKind(
        "DEPTH_HIGH_EVENT_SPENT", "warning", "The Queue Depth High event is spent", "mq_depth_events", ""
    ),
    FindingKind(
        "SERVICE_INTERVAL_ON_SHARED_QUEUE",
        "warning",
        "Service interval events on a shared queue",
        "mq_performance_events",
        "",
    ),
    FindingKind(
        "MAXDEPTH_UNLIMITED_WITH_EVENTS",
        "warning",
        "MAXDEPTH(999999999) with Queue Depth High enabled",
        "mq_qdepthhi",
        "",
    ),
    FindingKind(
        "QDEPTHHI_ABOVE_CAPACITY",
        "warning",
        "The structure is full before the Queue Depth High event",
        "mq_rc2192",
        "",
    ),
    FindingKind(
        "QDEPTHHI_AFTER_ACTION_LEVEL",
        "warning",
        "Queue Depth High comes after offload or FULLTHRESHOLD",
        "project",
        "Queue depths",
    ),
    FindingKind(
        "MAXDEPTH_ABOVE_CAPACITY", "warning", "The structure is full before MAXDEPTH", "mq_rc2192", ""
    ),
    FindingKind(
        "NO_QDEPTHHI_SERVES",
        "warning",
        "MAXDEPTH is too large for any QDEPTHHI",
        "project",
        "Queue depths",
    ),
    FindingKind(
        "MAXDEPTHS_ABOVE_CAPACITY",
        "warning",
        "The MAXDEPTHs of a structure's queues do not fit together",
        "mq_rc2192",
        "",
    ),
    FindingKind(
        "HIGH_EVENTS_LEAVE_A_GAP",
        "info",
        "The structure can fill without any Queue Depth High event",
        "project",
        "Queue depths",
    ),
    FindingKind(
        "HIGH_EVENT_TOO_LATE_AT_NET_RATES",
        "warning",
        "At the measured rates the first event comes too late",
        "project",
        "Queue depths",
    ),
    FindingKind(
        "SILENT_SWITCHES",
        "warning",
        "Queue managers without PERFMEV switch events that nobody hears of",
        "mq_shared_events",
        "Coordinating queue manager",
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
        "CLUSTER_STOPPED_CHANNEL_HOLDS",
        "warning",
        "A stopped channel holds messages that could go elsewhere",
        "mq_reallocation",
        "When does re-allocation occur?",
    ),
    FindingKind(
        "CLUSTER_CHANNEL_IN_DOUBT",
        "warning",
        "A channel is in doubt about messages that wait",
        "project",
        "Waiting cluster messages",
    ),
    FindingKind(
        "CLUSTER_DISPLAY_MISSING",
        "warning",
        "A display that explanations need is not there",
        "project",
        "Waiting cluster messages",
    ),
    FindingKind(
        "CLUSTER_TEXT_NOT_READ",
        "warning",
        "Places of displays or browse could not be read",
        "project",
        "Waiting cluster messages",
    ),
    FindingKind(
        "CLUSTER_MESSAGES_UNKNOWN",
        "info",
        "Of some messages the texts do not say enough",
        "project",
        "Waiting cluster messages",
    ),
    FindingKind(
        "CLUSTER_CHANNEL_NOT_RECOGNISED",
        "info",
        "A queue manager at the end of a channel has not been heard of",
        "mq_display_clusqmgr",
        "",
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
    # Depth events, simulated.
    FindingKind(
        "EVENT_SWITCHED_SILENTLY",
        "warning",
        "The attributes of a shared queue switch and nobody is told",
        "mq_shared_events",
        "Coordinating queue manager",
    ),
    FindingKind(
        "EVENT_SET_INCOMPLETE",
        "warning",
        "The messages of an event do not account for the depth",
        "mq_shared_events",
        "",
    ),
    FindingKind(
        "EVENT_HIGH_SPENT",
        "info",
        "The next Queue Depth High comes only after a Queue Depth Low",
        "mq_depth_events",
        "",
    ),
    FindingKind(
        "EVENT_STATISTICS_NOT_RESET",
        "warning",
        "RESET QSTATS fails while PERFMEV is DISABLED",
        "mq_reset_qstats",
        "Usage notes for RESET QSTATS",
    ),
    FindingKind(
        "EVENT_READING_MATTERS",
        "info",
        "Another reading of IBM's text gives other messages",
        "project",
        "Queue depth events",
    ),
    FindingKind(
        "EVENT_PUTS_REJECTED_OTHERWISE",
        "info",
        "Rejected puts that are no Queue Full",
        "mq_rc2192",
        "",
    ),
    FindingKind("EVENT_GETS_FOUND_NONE", "info", "Gets find the queue empty", "mq_depth_events", ""),
    # Depth events, read.
    FindingKind(
        "READ_EVENTS_UNREAD",
        "warning",
        "Part of an event file could not be read",
        "project",
        "Reading depth events",
    ),
    FindingKind(
        "READ_SET_INCOMPLETE",
        "warning",
        "A member wrote no message for an event",
        "mq_shared_events",
        "Coordinating queue manager",
    ),
    FindingKind(
        "READ_SET_UNRECONCILED",
        "warning",
        "The messages of a set do not account for the depth",
        "mq_event_statistics",
        "",
    ),
    FindingKind(
        "READ_SET_COUNTERS",
        "warning",
        "Counters of a set do not begin at the set before it",
        "mq_event_statistics",
        "",
    ),
    FindingKind(
        "READ_SET_GETS_STOPPED", "warning", "A queue manager stopped getting", "mq_event_statistics", ""
    ),
    FindingKind(
        "READ_SET_MEMBERS_DIFFER",
        "warning",
        "A set contradicts what was said of the members",
        "mq_shared_events",
        "",
    ),
    FindingKind(
        "READ_SET_HIGH_DEPTH",
        "warning",
        "HighQDepth is below the depth that the event needs",
        "mq_depth_events",
        "",
    ),
    FindingKind(
        "READ_SET_EVENT_UNSEEN",
        "warning",
        "An event between two sets is in no message",
        "mq_depth_events",
        "",
    ),
    FindingKind(
        "READ_SET_CORREL_ID_TWICE",
        "warning",
        "More than one event has the same CorrelId",
        "mq_shared_events",
        "Coordinating queue manager",
    ),
    FindingKind(
        "MEASURED_RATES_INCOMPLETE",
        "warning",
        "Rates were taken from sets that do not hold all puts and gets",
        "mq_event_statistics",
        "",
    ),
    FindingKind(
        "READ_NAME_NOT_IN_EVENTS",
        "warning",
        "Something was said of a name that no event has",
        "project",
        "Reading depth events",
    ),
    FindingKind(
        "READ_FINDINGS_LEFT_OUT",
        "info",
        "Findings of one kind were left out",
        "project",
        "Reading depth events",
    ),
    FindingKind(
        "READ_SET_BY_TIME",
        "info",
        "Sets were told by time or order, not by CorrelId",
        "project",
        "Reading depth events",
    ),
    FindingKind(
        "READ_EVENTS_CODE_PAGE",
        "info",
        "Names were read without a table of their character set",
        "project",
        "Reading depth events",
    ),
    # What if: placement and losses.
    FindingKind(
        "STRUCTURE_NOT_PLACED", "error", "No coupling facility can take a structure", "mq_rc2345", ""
    ),
    FindingKind(
        "STRUCTURE_NOT_PLACED_AT_SIZE",
        "warning",
        "A structure finds no place when all structures grow to SIZE",
        "zos_maxspace",
        "",
    ),
    FindingKind(
        "LOSS_STRUCTURE_NOT_PLACED",
        "warning",
        "A structure finds no place when a coupling facility or site is lost",
        "mq_rc2345",
        "",
    ),
    FindingKind(
        "LOSS_MESSAGES_GONE",
        "warning",
        "The loss of a coupling facility takes messages with it",
        "mq_shared_queues",
        "Recovering shared queues",
    ),
    FindingKind(
        "EXCLUSION_NOT_KEPT",
        "warning",
        "A structure comes beside one of its exclusion list",
        "msys_cfrm",
        "Preference list",
    ),
    FindingKind(
        "SECOND_COPY_NOT_PLACED",
        "error",
        "A duplexed structure has no place for its second copy",
        "zos_duplex_pair",
        "Allocating the Secondary Structure",
    ),
    FindingKind(
        "COPIES_FAIL_TOGETHER",
        "warning",
        "Both copies of a structure can be lost at once",
        "zos_duplex_pair",
        "Allocating the Secondary Structure",
    ),
    FindingKind(
        "LOSS_ENDS_QUEUE_MANAGERS",
        "warning",
        "The loss of a coupling facility ends queue managers",
        "mq_cfconlos",
        "CFCONLOS",
    ),
    FindingKind(
        "QMGR_CFCONLOS_NOT_STATED",
        "info",
        "The plan does not state CFCONLOS of the queue managers",
        "mq_cfconlos",
        "CFCONLOS",
    ),
    FindingKind(
        "ONE_COUPLING_FACILITY",
        "warning",
        "There is one coupling facility only",
        "zos_lists",
        "",
    ),
    FindingKind(
        "CF_OVERCOMMITTED_AT_SIZE",
        "warning",
        "Structures of a coupling facility cannot all reach SIZE",
        "zos_maxspace",
        "",
    ),
    FindingKind(
        "CF_STORAGE_NOT_STATED",
        "info",
        "The storage of a coupling facility is not stated",
        "project",
        "Placement of structures",
    ),
    FindingKind(
        "CF_STATED_DIFFERENTLY",
        "warning",
        "Plans say different things of a coupling facility",
        "project",
        "Placement of structures",
    ),
    FindingKind(
        "PLACEMENT_ORDER_MATTERS",
        "warning",
        "Who finds no place depends on who comes first",
        "project",
        "Placement of structures",
    ),
    FindingKind(
        "SCM_LEVEL_TOO_LOW",
        "warning",
        "Storage-class memory needs a higher CFCC level",
        "zos_scm",
        "",
    ),
    FindingKind(
        "SCM_REMOVED",
        "warning",
        "Storage-class memory does not exist from CFCC level 26 on",
        "z17_cfcc26",
        "",
    ),
    FindingKind(
        "SCM_LESS_THAN_ASKED",
        "warning",
        "A structure can use less storage-class memory than it asks for",
        "zos_scm_most",
        "",
    ),
    FindingKind(
        "SCM_OVERCOMMITTED",
        "warning",
        "Structures may use more storage-class memory than there is",
        "zos_scm_together",
        "",
    ),
    FindingKind(
        "SCM_AUGMENTED_NOT_STATED",
        "warning",
        "Augmented space for storage-class memory is not counted",
        "mq_rc2192",
        "",
    ),
    FindingKind(
        "SCM_OF_CF_NOT_STATED",
        "warning",
        "A structure may come to where storage-class memory is not stated",
        "project",
        "Placement of structures",
    ),
    FindingKind(
        "DUPLEX_SITE_NOT_STATED",
        "warning",
        "DUPLEX asks for a site, and sites are not stated",
        "project",
        "Placement of structures",
    ),
    FindingKind(
        "SCM_USED_FROM_THRESHOLD",
        "info",
        "What storage-class memory does to a structure is not computed",
        "mq_scm",
        "",
    ),
    # What if: scenarios.
    FindingKind(
        "SCENARIO_WITHOUT_FITTED_CURVE",
        "warning",
        "A scenario at another CFCC level is worked out with published figures",
        "project",
        "Scenarios",
    ),
    FindingKind(
        "SCENARIO_PLAN_OF_ANOTHER_CORE",
        "warning",
        "The plan of a scenario has other figures by now",
        "project",
        "Scenarios",
    ),
    FindingKind(
        "SCENARIOS_NOT_OF_ONE_PLAN",
        "warning",
        "Scenarios that are compared start from different figures",
        "project",
        "Scenarios",
    ),
    FindingKind(
        "SCENARIOS_OF_OLD_VERSION",
        "warning",
        "Scenarios that are compared are of an older version of the plan",
        "project",
        "Scenarios",
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
    # Texts: policies, MQSC, displays.
    FindingKind(
        "POLICY_TEXT_NOT_UNDERSTOOD", "error", "Text that is no policy statement", "zos_cfrm", "Syntax"
    ),
    FindingKind(
        "POLICY_STATEMENT_UNKNOWN",
        "error",
        "A statement that CFRM policies do not have",
        "zos_cfrm",
        "Syntax",
    ),
    FindingKind("POLICY_PARENTHESIS_MISSING", "error", "A parenthesis is not closed", "zos_cfrm", "Syntax"),
    FindingKind("POLICY_REMARK_NOT_CLOSED", "error", "A remark is not closed", "zos_cfrm", "Syntax"),
    FindingKind("POLICY_VALUE_MISSING", "error", "A keyword without a value", "zos_cfrm", "Syntax"),
    FindingKind(
        "POLICY_KEYWORD_UNKNOWN", "error", "A keyword that its statement does not have", "zos_cfrm", "Syntax"
    ),
    FindingKind(
        "POLICY_KEYWORD_TWICE", "error", "A keyword stands twice in a statement", "zos_cfrm", "Syntax"
    ),
    FindingKind("POLICY_KEYWORD_MISSING", "error", "A required keyword is missing", "zos_cfrm", "Syntax"),
    FindingKind(
        "POLICY_VALUE_INVALID", "error", "A value that its keyword does not take", "zos_cfrm", "Syntax"
    ),
    FindingKind("POLICY_NAME_TWICE", "error", "Two statements of one name in a policy", "zos_cfrm", "NAME"),
    FindingKind("POLICY_TOO_MANY_NAMES", "error", "More than eight names in a list", "zos_cfrm", "Syntax"),
    FindingKind("INITSIZE_ABOVE_SIZE", "error", "INITSIZE is above SIZE", "zos_cfrm_specification", ""),
    FindingKind(
        "MINSIZE_ABOVE_INITSIZE", "error", "MINSIZE is above the initial size", "zos_cfrm_update", "MINSIZE"
    ),
    FindingKind(
        "POLICY_CF_UNDEFINED",
        "warning",
        "A list names a coupling facility that the policy does not define",
        "zos_cfrm",
        "PREFLIST",
    ),
    FindingKind(
        "POLICY_VALUE_UNUSUAL",
        "warning",
        "A value outside the range that is remembered",
        "project",
        "Ranges of CFRM keywords",
    ),
    FindingKind(
        "POLICY_VALUE_QUOTED", "warning", "A value of a policy stands in quotes", "zos_cfrm", "Syntax"
    ),
    FindingKind(
        "DUPLEX_ASYNC_NOT_LOCK",
        "warning",
        "Asynchronous duplexing of what is no lock structure",
        "db2_duplex_modes",
        "Table 1",
    ),
    FindingKind("POLICY_NAME_LISTED_TWICE", "warning", "A list names one thing twice", "zos_cfrm", "Syntax"),
    FindingKind(
        "POLICY_EXCLUDES_ITSELF", "warning", "EXCLLIST names its own structure", "zos_cfrm", "EXCLLIST"
    ),
    FindingKind(
        "POLICY_REMARK_SWALLOWS",
        "warning",
        "A remark goes on over the beginning of another",
        "zos_cfrm",
        "Syntax",
    ),
    FindingKind(
        "POLICY_COLUMN_ONE_REMARK",
        "warning",
        "A line begins with /* in column 1",
        "project",
        "Columns of IXCMIAPU input",
    ),
    FindingKind(
        "POLICY_BEYOND_COLUMN_71", "warning", "Text beyond column 71", "project", "Columns of IXCMIAPU input"
    ),
    FindingKind(
        "SHARED_QUEUE_NOSHARE",
        "warning",
        "One application in the group can read a shared queue",
        "project",
        "Texts that are checked",
    ),
    FindingKind(
        "SHARED_QUEUE_DEFSOPT_EXCL",
        "warning",
        "Applications open a shared queue for exclusive input by default",
        "mq_qlocal",
        "DEFSOPT",
    ),
    FindingKind(
        "CFSTRUCT_WITHOUT_SHARED",
        "warning",
        "A queue names a structure and is not shared",
        "mq_qlocal",
        "CFSTRUCT",
    ),
    FindingKind(
        "CFSTRUCT_HAS_GROUP_PREFIX",
        "warning",
        "A CFSTRUCT name begins with the group's name",
        "mq_cfstruct",
        "structure-name",
    ),
    FindingKind(
        "ADMIN_DUPLEXED",
        "info",
        "CSQ_ADMIN is duplexed",
        "mq_ph67936",
        "",
    ),
    FindingKind(
        "POLICY_SCM_INCOMPLETE",
        "warning",
        "SCMALGORITHM or SCMMAXSIZE alone",
        "project",
        "Ranges of CFRM keywords",
    ),
    FindingKind(
        "POLICY_DATA_MISSING", "warning", "DEFINE POLICY without DATA TYPE(CFRM)", "zos_codut", "DATA"
    ),
    FindingKind(
        "POLICY_LOWER_CASE", "info", "Statements in lower case", "project", "Columns of IXCMIAPU input"
    ),
    FindingKind(
        "ADMIN_STRUCTURE_MISSING",
        "warning",
        "A group without its CSQ_ADMIN",
        "mq_planning",
        "Planning your structures",
    ),
    FindingKind(
        "NOTHING_TO_CHECK",
        "warning",
        "Nothing that can be checked was found",
        "project",
        "Texts that are checked",
    ),
    FindingKind("MQSC_NOT_UNDERSTOOD", "error", "MQSC that cannot be read", "mq_cfstruct", "Syntax"),
    FindingKind(
        "MQSC_VALUE_INVALID", "error", "A value that an MQSC attribute does not take", "mq_cfstruct", "Syntax"
    ),
    FindingKind(
        "MQSC_ATTRIBUTE_UNKNOWN",
        "error",
        "An attribute that the object does not have",
        "mq_cfstruct",
        "Syntax",
    ),
    FindingKind(
        "MQSC_ATTRIBUTE_TWICE", "error", "An attribute stands twice in a command", "mq_cfstruct", "Syntax"
    ),
    FindingKind(
        "SHARED_QUEUE_WITHOUT_CFSTRUCT",
        "error",
        "A shared queue without CFSTRUCT",
        "mq_planning",
        "Mapping shared queues to structures",
    ),
    FindingKind(
        "CFSTRUCT_NOT_DEFINED_HERE",
        "info",
        "A queue names a structure that the text does not define",
        "mq_planning",
        "Mapping shared queues to structures",
    ),
    FindingKind(
        "OFFLOAD_RULE_WITHOUT_EFFECT",
        "warning",
        "An offload rule that another one covers",
        "mq_offload",
        "Selecting which shared queue messages are offloaded",
    ),
    FindingKind(
        "RAISED_LEVEL_LEAVES_DEFAULTS",
        "warning",
        "A raised CFLEVEL leaves offload and loss to what MQ assumes",
        "mq_alter_cfstruct",
        "CFCONLOS",
    ),
    # Merging and comparing with what runs.
    FindingKind("MERGE_FRAGMENT", "warning", "The text is no whole policy", "zos_reconfigure", ""),
    FindingKind(
        "MERGE_TEXT_PASSED_OVER", "warning", "Text that is no statement stays as it is", "zos_cfrm", "Syntax"
    ),
    FindingKind(
        "MERGE_REMARK_STALE",
        "warning",
        "A remark beside a changed value",
        "project",
        "Merging a plan into a policy",
    ),
    FindingKind(
        "MERGE_BY_DEFAULT",
        "warning",
        "A default of the plan replaces what the policy says",
        "project",
        "Merging a plan into a policy",
    ),
    FindingKind(
        "STRUCTURE_SHRINKS",
        "warning",
        "A structure would get less than it has, or less than is in use",
        "project",
        "Merging a plan into a policy",
    ),
    FindingKind(
        "UNSTATED_KEPT",
        "info",
        "What runs keeps what the plan does not state",
        "project",
        "Merging a plan into a policy",
    ),
    FindingKind(
        "MQ_PROTECTION_CHANGES",
        "warning",
        "DEFPSIST, RECOVER or CFLEVEL of a running object changes",
        "project",
        "What runs today",
    ),
    FindingKind(
        "ALTER_WITHOUT_DSGROUP",
        "warning",
        "An ALTER to OFFLOAD(SMDS) lacks DSGROUP and is not given",
        "mq_cfstruct",
        "DSGROUP",
    ),
    FindingKind(
        "CFLEVEL_STAYS_LOWER",
        "warning",
        "The plan states offload that the kept CFLEVEL does not have",
        "mq_offload",
        "Selecting where the shared queue messages are stored",
    ),
    FindingKind(
        "RUNNING_TEXT_UNREAD",
        "warning",
        "Something in what runs today was not read",
        "project",
        "What runs today",
    ),
    FindingKind(
        "RUNNING_STATE_UNKNOWN",
        "warning",
        "It is not said whether a structure is allocated, or there at all",
        "project",
        "What runs today",
    ),
    FindingKind(
        "RUNNING_SEVERAL_POLICIES",
        "warning",
        "Several policies were given for what runs",
        "project",
        "What runs today",
    ),
    FindingKind(
        "RUNNING_NOT_IN_PLAN",
        "info",
        "Something runs that the plan does not have",
        "project",
        "What runs today",
    ),
    FindingKind(
        "RUNNING_CHANGE_PENDING", "warning", "A policy change is pending already", "zos_rebuild_policy", ""
    ),
    FindingKind(
        "REBUILD_TOO_SMALL",
        "error",
        "A structure has more in use than its planned SIZE holds",
        "project",
        "When a change takes effect",
    ),
    FindingKind(
        "REBUILD_ABOVE_INITSIZE",
        "warning",
        "A rebuild needs more than INITSIZE for what is in use",
        "project",
        "When a change takes effect",
    ),
    FindingKind(
        "RUNNING_NOT_GIVEN",
        "info",
        "Something was not given, and is not compared",
        "project",
        "What runs today",
    ),
    FindingKind(
        "REBUILD_NEEDS_ALTER",
        "info",
        "New sizes come with a rebuild only if all connectors allow alter",
        "zos_rebuild_policy",
        "",
    ),
    FindingKind(
        "DUPLEXING_ENDS",
        "warning",
        "A structure is no longer duplexed when the policy is active",
        "zos_duplex_option",
        "",
    ),
    FindingKind(
        "RUNNING_NOT_DUPLEXED",
        "warning",
        "A structure that the system should duplex is allocated once",
        "zos_duplex_check",
        "",
    ),
    FindingKind(
        "CHANGE_NEEDS_OUTAGE",
        "warning",
        "A change cannot be made while applications run",
        "project",
        "When a change takes effect",
    ),
    FindingKind(
        "DISPLAY_AND_POLICY_DIFFER",
        "warning",
        "The policy text is not the active policy",
        "zos_update_cds",
        "",
    ),
    FindingKind(
        "RUNNING_FIGURES_TO_CHECK",
        "info",
        "A plan made from what runs needs figures that nothing displays",
        "project",
        "What runs today",
    ),
)

CATALOGUE: Mapping[str, FindingKind] = {kind.code: kind for kind in _KINDS}

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
"""What a plan's queue depths can earn."""


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
    severity: Severity | None = None,
) -> Finding:
    """Make a finding of a catalogued code; severity and source are the catalogue's unless others are given."""
    return Finding(
        code, severity or CATALOGUE[code].severity, message, source or _source_of(code), field, structure
    )


def worst(findings: tuple[Finding, ...]) -> Severity | None:
    """The most serious severity present."""
    present = {f.severity for f in findings}
    return next((severity for severity in SEVERITIES if severity in present), None)


def in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """Errors first, then warnings, then notes; otherwise in the order of the document; each once."""
    unique = {(f.code, f.field, f.structure, f.message): f for f in findings}
    return tuple(sorted(unique.values(), key=lambda f: _RANKS[f.severity]))
