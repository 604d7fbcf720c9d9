"""What the editor asks for: every key of the plan document with its label, unit and hint.

A field of the form is named by the JSON pointer of what it fills, so that whatever the core says about a place in
the document belongs to a field, and a link to `#/structures/0/name` leads there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "name",
    "text",
    "whole",
    "decimal",
    "size",
    "yes",
    "choice",
    "names",
    "managers",
    "bytes",
    "ratio",
    "curve",
    "yaml",
    "perfmev",
    "rates",
    "switch",
]
Options = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Spec:
    """One field: its place below the object it belongs to, and how it is shown."""

    key: str
    label: str
    kind: Kind
    unit: str = ""
    hint: str = ""
    options: Options = ()
    required: bool = False


_DUPLEX: Options = (("DISABLED", "DISABLED"), ("ALLOWED", "ALLOWED"), ("ENABLED", "ENABLED"))
_DUPLEX_SITES: Options = (
    ("", "not stated"),
    ("ANYSITE", "ANYSITE"),
    ("SAMESITE", "SAMESITE"),
    ("SAMESITEONLY", "SAMESITEONLY"),
    ("CROSSSITE", "CROSSSITE"),
)
_SITES: Options = (("", "not stated"), ("SITE1", "SITE1"), ("SITE2", "SITE2"))
_OFFLOAD_TO: Options = (("SMDS", "SMDS"), ("DB2", "DB2"))
_SWITCH: Options = (("", "not stated"), ("ENABLED", "ENABLED"), ("DISABLED", "DISABLED"))
_CFCONLOS: Options = (("ASQMGR", "ASQMGR"), ("TERMINATE", "TERMINATE"), ("TOLERATE", "TOLERATE"))
_COMPUTED = "Empty: computed. Given: checked and kept."
_ALL_OF_THEM = "Empty: all coupling facilities of the plan, in order."
_BLANKS = "Names with blanks between them."

CLUSTERS = (
    Spec(
        "clusters",
        "Clusters that send to shared queues",
        "yaml",
        hint="As the plan document has them under clusters, in YAML or JSON: name, queue, rate_per_s and instances of each.",
    ),
)
GROUP = (
    Spec("qsg", "Queue-sharing group", "name", required=True),
    Spec(
        "queue_managers",
        "Queue managers",
        "managers",
        hint="All defined to the group, active or not: a number, or their names.",
        required=True,
    ),
    Spec("cfcc_level", "CFCC level", "whole", hint="As D CF shows it; not the CFLEVEL of MQ."),
    Spec(
        "target_usage_percent",
        "Usage at the backlog, at most",
        "decimal",
        "%",
        "Of INITSIZE. An offload rule that starts lower lowers it.",
    ),
    Spec(
        "headroom_percent",
        "Headroom in INITSIZE",
        "decimal",
        "%",
        "On top of the need. Replaces the share; may be empty.",
    ),
    Spec("size_factor", "SIZE is INITSIZE times", "decimal", hint="1 to 2."),
)
GROUP_MORE = (
    Spec("growth/percent_per_year", "Growth a year", "decimal", "%", "Of rates and backlogs, compounded."),
    Spec("growth/years", "Horizon", "decimal", "years"),
    Spec(
        "curve", "Curve", "curve", hint="published, or the version of a fitted curve, as listed under Curves."
    ),
    Spec(
        "perfmev",
        "PERFMEV",
        "perfmev",
        hint="ENABLED or DISABLED for all, or QM01:ENABLED QM02:DISABLED. For queue depth events.",
    ),
    Spec(
        "cfconlos",
        "CFCONLOS of queue managers",
        "choice",
        options=(("", "not planned"), ("TERMINATE", "TERMINATE"), ("TOLERATE", "TOLERATE")),
        hint="For CSQ_ADMIN and structures with ASQMGR.",
    ),
)
_WHERE = (
    Spec("duplex_site", "Site of the second copy", "choice", options=_DUPLEX_SITES, hint="With DUPLEX."),
    Spec("enforce_order", "ENFORCEORDER(YES)", "yes"),
)
_GIVEN = (
    Spec("initsize", "INITSIZE", "size", hint=_COMPUTED),
    Spec("size", "SIZE", "size", hint=_COMPUTED),
    Spec("minsize", "MINSIZE", "size"),
    Spec("full_threshold", "FULLTHRESHOLD", "whole", "%"),
    Spec("allow_auto_alter", "ALLOWAUTOALT(YES)", "yes"),
    Spec("preflist", "PREFLIST", "names", hint=_ALL_OF_THEM),
    Spec("exclist", "EXCLLIST", "names", hint=_BLANKS),
    Spec("duplex", "DUPLEX", "choice", options=_DUPLEX),
    *_WHERE,
)
ADMIN = (
    Spec(
        "headroom_percent",
        "Headroom for large units of work",
        "decimal",
        "%",
    ),
    Spec("entsmax", "ENTSMAX", "whole", hint="As DISPLAY CFSTATUS(CSQ_ADMIN) shows it; may be empty."),
    Spec("elements_total", "Elements in total", "whole", hint="As D XCF,STR shows them; may be empty."),
)
ADMIN_MORE = _GIVEN
SYSTEM = (
    Spec("include", "Plan CSQSYSAPPL", "yes"),
    Spec("shared_channels", "Shared channels", "whole", hint="Active instances."),
    Spec("group_ur_messages", "Group units of recovery", "whole", "messages"),
)
SYSTEM_MORE = _GIVEN
POLICY = (
    Spec("name", "CFRM policy", "name", hint="For the complete job."),
    Spec("job", "Check what the complete job needs", "yes"),
    Spec("replace", "REPLACE(YES) in the job", "yes"),
)
FACILITY = (
    Spec("name", "Name", "name", required=True),
    Spec("size", "Storage", "size", hint="Such as 64G."),
    Spec("cfcc_level", "CFCC level", "whole"),
    Spec("site", "Site", "choice", options=_SITES),
    Spec("volatile", "Volatile", "yes"),
    Spec("failure_isolated", "Failure-isolated", "yes"),
)
FACILITY_MORE = (
    Spec("type", "TYPE", "name"),
    Spec("mfg", "MFG", "name"),
    Spec("plant", "PLANT", "name"),
    Spec("sequence", "SEQUENCE", "name"),
    Spec("partition", "PARTITION", "name"),
    Spec("cpcid", "CPCID", "name"),
    Spec("dumpspace", "DUMPSPACE", "size"),
    Spec("occupied", "Taken by others", "size", hint="Structures that are not in this plan."),
    Spec("scm", "Storage-class memory", "size"),
)
STRUCTURE = (
    Spec("name", "CFSTRUCT", "name", hint="Without the name of the group.", required=True),
    Spec("preflist", "PREFLIST", "names", hint=_ALL_OF_THEM),
    Spec("cflevel", "CFLEVEL", "whole", hint="Of MQ: 1 to 5."),
    Spec("recover", "RECOVER(YES)", "yes"),
    Spec("recauto", "RECAUTO(YES)", "yes"),
    Spec("cfconlos", "CFCONLOS", "choice", options=_CFCONLOS),
    Spec("duplex", "DUPLEX", "choice", options=_DUPLEX),
    Spec("full_threshold", "FULLTHRESHOLD", "whole", "%"),
    Spec(
        "event_target_percent",
        "High events before",
        "whole",
        "%",
        "Empty: before offload and FULLTHRESHOLD.",
    ),
)
STRUCTURE_SIZES = (
    Spec("initsize", "INITSIZE", "size", hint=_COMPUTED),
    Spec("size", "SIZE", "size", hint=_COMPUTED),
    Spec("minsize", "MINSIZE", "size"),
    Spec("allow_auto_alter", "ALLOWAUTOALT(YES)", "yes"),
    Spec("entry_to_element_ratio", "Entries to elements", "ratio", hint="Empty: 1:6, as MQ starts with."),
    Spec("exclist", "EXCLLIST", "names", hint=_BLANKS),
    *_WHERE,
    Spec("scm/max_size", "SCMMAXSIZE", "size"),
    Spec("scm/algorithm", "SCMALGORITHM", "choice", options=(("KEYPRIORITY1", "KEYPRIORITY1"),)),
    Spec(
        "scm/augmented", "Augmented space", "size", hint="CF storage that SCM takes when all of it is used."
    ),
)
RULES = 3
RULE = (
    Spec("usage_over", "Usage over", "whole", "%"),
    Spec("size_over", "Messages over", "size", hint="With a unit, such as 32K."),
)
STRUCTURE_OFFLOAD = (
    Spec("offload/to", "OFFLOAD", "choice", options=_OFFLOAD_TO),
    Spec("offload/dsgroup", "DSGROUP", "name", hint="Such as MQ.SMDS.*.APP1."),
    Spec("offload/dsblock", "DSBLOCK", "size"),
    Spec("offload/dsbufs", "DSBUFS", "whole"),
    Spec("offload/dsexpand", "DSEXPAND(YES)", "yes"),
    Spec("size_with_offload", "Meet the need with the rules at work", "yes"),
)
QUEUE = (
    Spec("name", "Queue", "text", required=True),
    Spec("message_bytes", "Message bytes", "bytes", hint="A mean, or mean/p95/max.", required=True),
    Spec("backlog", "Backlog", "whole"),
    Spec("put_rate_per_s", "or rate /s", "decimal"),
    Spec("outage_minutes", "for minutes", "decimal"),
    Spec("persistent", "Persistent", "yes"),
    Spec("selector_reads", "By selector", "yes"),
    Spec("isolation", "Keep apart", "text"),
)
QUEUE_MORE = (
    Spec("maxdepth", "MAXDEPTH", "whole"),
    Spec("qdepthhi", "QDEPTHHI", "whole", "%"),
    Spec("qdepthlo", "QDEPTHLO", "whole", "%"),
    Spec("qdphiev", "QDPHIEV", "choice", options=_SWITCH),
    Spec("qdploev", "QDPLOEV", "choice", options=_SWITCH),
    Spec("qdpmaxev", "QDPMAXEV", "choice", options=_SWITCH),
    Spec(
        "qsvciev",
        "QSVCIEV",
        "choice",
        options=(("", "not stated"), ("NONE", "NONE"), ("OK", "OK"), ("HIGH", "HIGH")),
    ),
    Spec("curdepth", "CURDEPTH", "whole"),
    Spec("get_rate_per_s", "Gets /s", "decimal"),
    Spec("queue_manager_rates", "Puts/gets by queue manager", "rates", hint="Such as QM01:30/12 QM02:10/0."),
    Spec("share", "SHARE", "switch", options=(("", "SHARE"), ("no", "NOSHARE"))),
    Spec(
        "default_share_option",
        "DEFSOPT",
        "choice",
        options=(("", "as SHARE"), ("SHARED", "SHARED"), ("EXCL", "EXCL")),
    ),
    Spec(
        "index_type",
        "INDXTYPE",
        "choice",
        options=(("", "not stated"), *((each, each) for each in ("NONE", "MSGID", "CORRELID", "GROUPID"))),
    ),
    Spec("max_message_length", "MAXMSGL", "bytes", "bytes"),
    Spec("backout_threshold", "BOTHRESH", "whole"),
    Spec("backout_queue", "BOQNAME", "text"),
)
QUEUE_ALL = (*QUEUE, *QUEUE_MORE)
ACKNOWLEDGED = (
    Spec("code", "Finding", "name"),
    Spec("structure", "Structure", "name"),
    Spec("message", "While it says", "text"),
    Spec("reason", "Reason", "text"),
)
