"""The fields of the editor: every key of the plan document with its label, unit and hint.

The name of a field is the JSON pointer of its place in the document, so that each error of the core belongs to a field,
and `#/structures/0/name` links to that field. The form shows GROUP, STRUCTURE and QUEUE, the values that every plan
needs for an answer; the other fields are behind "More".
"""

from __future__ import annotations

from app.web.forms import FormField, Options

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
_COMPUTED = "Leave empty to calculate it. A size that you enter is checked."
_ALL_OF_THEM = "If empty, all coupling facilities of the plan in order."
_BLANKS = "Names separated by blanks."

# Clusters are nested too deeply for rows of fields, so they are one text.
CLUSTERS = (
    FormField(
        "clusters",
        "Clusters that send to shared queues",
        "yaml",
        hint="YAML or JSON, as under clusters in the plan document: name, queue, rate_per_s and instances of each cluster.",
    ),
)
OTHERS = (
    FormField(
        "db2_group",
        "Db2 data-sharing group",
        "name",
        hint="Such as DSNDB0A. A finding reports if its LOCK1 or SCA is missing from the list.",
    ),
    FormField(
        "other_structures",
        "List of structures",
        "other_structures",
        hint="YAML or JSON, as in the plan document. Each structure has name, size, initsize, allocated, preflist and duplex.",
    ),
)
OTHERS_PASTE = "/others_paste"
GROUP = (
    FormField("qsg", "Queue-sharing group", "name", required=True),
    FormField(
        "queue_managers",
        "Queue managers",
        "managers",
        hint="All defined to the group, active or not: a number, or their names.",
        required=True,
    ),
)
GROUP_MORE = (
    FormField("cfcc_level", "CFCC level", "whole", hint="As shown by D CF; not the CFLEVEL of MQ."),
    FormField(
        "target_usage_percent",
        "Maximum usage at the backlog",
        "decimal",
        unit="%",
        hint="Of INITSIZE. An offload rule with a lower threshold reduces it.",
    ),
    FormField(
        "headroom_percent",
        "Headroom in INITSIZE",
        "decimal",
        unit="%",
        hint="Optional. Added to the need, instead of the maximum usage.",
    ),
    FormField("size_factor", "SIZE as a multiple of INITSIZE", "decimal", hint="1 to 2."),
    FormField(
        "growth/percent_per_year",
        "Annual growth",
        "decimal",
        unit="%",
        hint="Growth of rates and backlogs, compounded.",
    ),
    FormField("growth/years", "Horizon", "decimal", unit="years"),
    FormField(
        "curve",
        "Curve",
        "curve",
        hint="published, or the version of a fitted curve, as listed under Fitted curves.",
    ),
    FormField(
        "separate_costs",
        "Costs at ratios other than 1:6",
        "choice",
        options=(("assumed", "assumed"), ("derived", "derived from CSQ_ADMIN")),
        hint="Published curves only. The finding on a ratio states the difference.",
    ),
    FormField(
        "perfmev",
        "PERFMEV",
        "perfmev",
        hint="ENABLED or DISABLED for all, or QM01:ENABLED QM02:DISABLED. For queue depth events.",
    ),
    FormField(
        "cfconlos",
        "CFCONLOS of queue managers",
        "choice",
        options=(("", "not planned"), ("TERMINATE", "TERMINATE"), ("TOLERATE", "TOLERATE")),
        hint="Applies to CSQ_ADMIN and structures with ASQMGR.",
    ),
)
_WHERE = (
    FormField("duplex_site", "Site of the second copy", "choice", options=_DUPLEX_SITES, hint="With DUPLEX."),
    FormField("enforce_order", "ENFORCEORDER(YES)", "yes"),
)
_GIVEN = (
    FormField("initsize", "INITSIZE", "size", hint=_COMPUTED),
    FormField("size", "SIZE", "size", hint=_COMPUTED),
    FormField("minsize", "MINSIZE", "size"),
    FormField("full_threshold", "FULLTHRESHOLD", "whole", unit="%"),
    FormField("allow_auto_alter", "ALLOWAUTOALT(YES)", "yes"),
    FormField("preflist", "PREFLIST", "names", hint=_ALL_OF_THEM),
    FormField("exclist", "EXCLLIST", "names", hint=_BLANKS),
    FormField("duplex", "DUPLEX", "choice", options=_DUPLEX),
    *_WHERE,
)
ADMIN = (
    FormField(
        "headroom_percent",
        "Headroom for large units of work",
        "decimal",
        unit="%",
    ),
    FormField("entsmax", "ENTSMAX", "whole", hint="Optional. As shown by DISPLAY CFSTATUS(CSQ_ADMIN)."),
    FormField("elements_total", "Elements in total", "whole", hint="Optional. As shown by D XCF,STR."),
)
ADMIN_MORE = _GIVEN
SYSTEM = (
    FormField("include", "Plan CSQSYSAPPL", "yes"),
    FormField("shared_channels", "Shared channels", "whole", hint="Active instances."),
    FormField("group_ur_messages", "Group units of recovery", "whole", unit="messages"),
)
SYSTEM_MORE = _GIVEN
POLICY = (
    FormField("name", "CFRM policy", "name", hint="For the complete job."),
    FormField("job", "Check what the complete job needs", "yes"),
    FormField("replace", "REPLACE(YES) in the job", "yes"),
)
FACILITY = (
    FormField("name", "Name", "name", required=True),
    FormField("size", "Storage", "size", hint="Such as 64G."),
    FormField("cfcc_level", "CFCC level", "whole"),
)
FACILITY_MORE = (
    FormField("site", "Site", "choice", options=_SITES),
    FormField("volatile", "Volatile", "yes"),
    FormField("failure_isolated", "Failure-isolated", "yes"),
    FormField("type", "TYPE", "name"),
    FormField("mfg", "MFG", "name"),
    FormField("plant", "PLANT", "name"),
    FormField("sequence", "SEQUENCE", "name"),
    FormField("partition", "PARTITION", "name"),
    FormField("cpcid", "CPCID", "name"),
    FormField("dumpspace", "DUMPSPACE", "size"),
    FormField(
        "occupied", "Used by others", "size", hint="By structures that this plan does not list at all."
    ),
    FormField("scm", "Storage-class memory", "size"),
)
STRUCTURE = (FormField("name", "CFSTRUCT", "name", hint="Without the name of the group.", required=True),)
STRUCTURE_MORE = (
    FormField("preflist", "PREFLIST", "names", hint=_ALL_OF_THEM),
    FormField("cflevel", "CFLEVEL", "whole", hint="The CFLEVEL of MQ: 1 to 5."),
    FormField("recover", "RECOVER(YES)", "yes"),
    FormField("recauto", "RECAUTO(YES)", "yes"),
    FormField("cfconlos", "CFCONLOS", "choice", options=_CFCONLOS),
    FormField("duplex", "DUPLEX", "choice", options=_DUPLEX),
    FormField("full_threshold", "FULLTHRESHOLD", "whole", unit="%"),
    FormField(
        "event_target_percent",
        "High events before",
        "whole",
        unit="%",
        hint="If empty: before offload and FULLTHRESHOLD.",
    ),
)
STRUCTURE_SIZES = (
    FormField("initsize", "INITSIZE", "size", hint=_COMPUTED),
    FormField("size", "SIZE", "size", hint=_COMPUTED),
    FormField("minsize", "MINSIZE", "size"),
    FormField("allow_auto_alter", "ALLOWAUTOALT(YES)", "yes"),
    FormField(
        "entry_to_element_ratio", "Entries to elements", "ratio", hint="If empty, 1:6, MQ's initial ratio."
    ),
    FormField("exclist", "EXCLLIST", "names", hint=_BLANKS),
    *_WHERE,
    FormField("scm/max_size", "SCMMAXSIZE", "size"),
    FormField("scm/algorithm", "SCMALGORITHM", "choice", options=(("KEYPRIORITY1", "KEYPRIORITY1"),)),
    FormField("scm/augmented", "Augmented space", "size", hint="CF storage that SCM uses when it is full."),
)
# MQ has three pairs: OFFLD1TH and OFFLD1SZ to OFFLD3TH and OFFLD3SZ.
RULES = 3
RULE = (
    FormField("usage_over", "Usage over", "whole", unit="%"),
    FormField("size_over", "Messages over", "size", hint="With a unit, such as 32K."),
)
STRUCTURE_OFFLOAD = (
    FormField("offload/to", "OFFLOAD", "choice", options=_OFFLOAD_TO),
    FormField("offload/dsgroup", "DSGROUP", "name", hint="Such as MQ.SMDS.*.APP1."),
    FormField("offload/dsblock", "DSBLOCK", "size"),
    FormField("offload/dsbufs", "DSBUFS", "whole"),
    FormField("offload/dsexpand", "DSEXPAND(YES)", "yes"),
    FormField("size_with_offload", "Size for the backlog with offload", "yes"),
)
QUEUE = (
    FormField("name", "Queue", "text", required=True),
    FormField("message_bytes", "Message bytes", "bytes", hint="A mean, or mean/p95/max.", required=True),
    FormField("backlog", "Backlog", "whole"),
    FormField("put_rate_per_s", "Puts per second", "decimal"),
    FormField("outage_minutes", "Outage minutes", "decimal"),
)
QUEUE_USE = (
    FormField("persistent", "Persistent", "yes"),
    FormField("selector_reads", "By selector", "yes"),
    FormField("isolation", "Keep apart", "text"),
)
QUEUE_MORE = (
    FormField("maxdepth", "MAXDEPTH", "whole"),
    FormField("qdepthhi", "QDEPTHHI", "whole", unit="%"),
    FormField("qdepthlo", "QDEPTHLO", "whole", unit="%"),
    FormField("qdphiev", "QDPHIEV", "choice", options=_SWITCH),
    FormField("qdploev", "QDPLOEV", "choice", options=_SWITCH),
    FormField("qdpmaxev", "QDPMAXEV", "choice", options=_SWITCH),
    FormField(
        "qsvciev",
        "QSVCIEV",
        "choice",
        options=(("", "not stated"), ("NONE", "NONE"), ("OK", "OK"), ("HIGH", "HIGH")),
    ),
    FormField("curdepth", "CURDEPTH", "whole"),
    FormField("get_rate_per_s", "Gets /s", "decimal"),
    FormField(
        "queue_manager_rates", "Puts/gets by queue manager", "rates", hint="Such as QM01:30/12 QM02:10/0."
    ),
    FormField("share", "SHARE", "switch", options=(("", "SHARE"), ("no", "NOSHARE"))),
    FormField(
        "default_share_option",
        "DEFSOPT",
        "choice",
        options=(("", "as SHARE"), ("SHARED", "SHARED"), ("EXCL", "EXCL")),
    ),
    FormField(
        "index_type",
        "INDXTYPE",
        "choice",
        options=(("", "not stated"), *((each, each) for each in ("NONE", "MSGID", "CORRELID", "GROUPID"))),
    ),
    FormField("max_message_length", "MAXMSGL", "length", unit="bytes"),
    FormField("backout_threshold", "BOTHRESH", "whole"),
    FormField("backout_queue", "BOQNAME", "text"),
)
QUEUE_ALL = (*QUEUE, *QUEUE_USE, *QUEUE_MORE)
ACKNOWLEDGED = (
    FormField("code", "Finding", "name"),
    FormField("structure", "Structure", "name"),
    FormField("message", "Message", "text"),
    FormField("reason", "Reason", "text"),
)
