"""The tables of the usage history as data: columns, types, units, natural keys, and the source of each value.

The SMF decoder and the readers of other inputs fill the columns of `row_schema(table)`; a column that a source does not
know stays null. The store adds the columns of `STORAGE_COLUMNS`. The page docs/reference/usage-history.md is generated
from this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pyarrow as pa

from planner_core.contracts.ingest import USAGE_TABLES
from planner_core.errors import PlannerError

INSTANT = pa.timestamp("us", tz="UTC")
HOUR_US = 3_600_000_000
DAY_US = 24 * HOUR_US

STRUCTURE_USAGE, SMDS_USAGE, QUEUE_USAGE, ALLOCATION = USAGE_TABLES
FILES = "files"

ORIGINS = ("template", "message", "display", "report", "formatter", "binary")
"""The origins of rows, the least trusted first: our own CSV template, console messages, displays, RMF's tables, the
output of mq-smf-csv, the SMF records themselves. Rows of one natural key are taken from the most trusted origin."""

IN_USE_KINDS = ("interval_maximum", "at_end")
"""The meaning of an in-use figure: the largest in the interval (MQ), or the one at its end (RMF, displays)."""

IN_USE_PAIRS = (("entries_in_use", "entries_total"), ("elements_in_use", "elements_total"))

IN_HOURS_AT_MOST = 7 * 24
"""The longest interval whose counts are spread over its hours; those of a longer one count in the hour of its end."""

DISPOSITIONS = ("QMGR", "COPY", "SHARED", "GROUP", "PRIVATE", "LIVE")


class HistoryError(PlannerError):
    """A history that cannot be read or written; the message states the reason."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column; its name includes the unit."""

    name: str
    type: pa.DataType
    meaning: str
    sources: str = ""
    """Source fields by kind of record; empty where the meaning is enough."""


@dataclass(frozen=True, slots=True)
class NaturalKey:
    """The key that makes two rows the same observation, for rows whose `source` starts with `family`."""

    family: str
    columns: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the history."""

    name: str
    meaning: str
    columns: tuple[Column, ...]


STRING, LONG, INT, DOUBLE, BOOL = pa.string(), pa.int64(), pa.int32(), pa.float64(), pa.bool_()

PROVENANCE = (
    Column(
        "source",
        STRING,
        "the record or text from which the row was read, such as `115-2 QEST` or `74-4 R744SREQ`",
    ),
    Column("origin", STRING, "how the row was read: " + ", ".join(ORIGINS)),
    Column("file_offset", LONG, "offset in the file of the record's first byte; null for text"),
    Column(
        "file_record",
        LONG,
        "number of the record in the file, from 0; for SMF records in JSON, their index; for text, number of the line, from 1",
    ),
    Column("piece", INT, "distinguishes rows of one natural key (see the keys); 0 if there is only one"),
    Column(
        "note",
        STRING,
        "remarks on how the row was read, such as maxima of 0 treated as not observed",
    ),
)

IDENTITY = (
    Column("system_id", STRING, "SMF system id", "SMFxSID; header of mq-smf-csv"),
    Column("queue_manager", STRING, "queue manager, for MQ's own figures", "SMFxSSI"),
    Column(
        "qsg",
        STRING,
        "queue-sharing group",
        "QWHX in MQ 10 and later; QQST; QCCT of the dump; otherwise the site's map",
    ),
    Column("structure", STRING, "MQ name of the structure, at most 12 characters"),
    Column(
        "xcf_structure",
        STRING,
        "XCF name of the structure: the group name, padded to four characters with @, followed by the MQ name",
    ),
    Column(
        "written_at",
        INSTANT,
        "when the record was written, to the hundredth of a second",
        "SMF header minus the GMT offset",
    ),
    Column("interval_start", INSTANT, "start of the interval; null for an observation at one instant"),
    Column("interval_end", INSTANT, "end of the interval, or the instant of the observation; never null"),
    Column("interval_us", LONG, "length of the interval, 0 for an instant"),
)

_STRUCTURE = (
    Column("sysplex", STRING, "sysplex", "SMF74XNM"),
    Column("coupling_facility", STRING, "coupling facility", "R744FNAM"),
    Column(
        "allocated_at", INSTANT, "when this instance of the structure was allocated", "R744SVER, R744QVER"
    ),
    Column("ixllste_calls", LONG, "IXLLSTE calls of the queue manager", "QESTCSEC"),
    Column("ixllste_us", LONG, "time in IXLLSTE calls", "QESTSSTC"),
    Column("ixllste_redrives", LONG, "redrives of IXLLSTE calls", "QESTRSEC"),
    Column("ixllstm_calls", LONG, "IXLLSTM calls of the queue manager", "QESTCMEC"),
    Column("ixllstm_us", LONG, "time in IXLLSTM calls", "QESTMSTC"),
    Column("ixllstm_redrives", LONG, "redrives of IXLLSTM calls", "QESTRMEC"),
    Column("structure_full_count", LONG, "number of times the structure was full", "QESTSFUL"),
    Column("in_use_kind", STRING, "kind of the in-use figures: " + " or ".join(IN_USE_KINDS)),
    Column(
        "entries_in_use",
        LONG,
        "list entries in use, except those in storage-class memory; null if not observed",
        "QESTMNUS; R744SLEM; ENTSUSED; IN-USE",
    ),
    Column("entries_total", LONG, "total list entries of the structure", "R744SLEL; ENTSMAX; TOTAL"),
    Column(
        "elements_in_use",
        LONG,
        "list elements in use, except those in storage-class memory; null if not observed",
        "QESTMLUS; R744SCUE; IN-USE",
    ),
    Column("elements_total", LONG, "total list elements of the structure", "R744SMAE; TOTAL"),
    Column(
        "entries_in_use_pct",
        DOUBLE,
        "list entries in use as a percentage, if only that is known",
        "LDECTR of RMF's overview",
    ),
    Column(
        "elements_in_use_pct",
        DOUBLE,
        "list elements in use as a percentage, if only that is known",
        "DECTR of RMF's overview",
    ),
    Column("size_bytes", LONG, "storage allocated to the structure", "R744SSIZ; CFACT; SIZEMAX; ACTUAL SIZE"),
    Column("size_max_bytes", LONG, "largest size to which the structure may grow", "R744SMAS; CFACT"),
    Column("size_min_bytes", LONG, "smallest size to which the structure may shrink", "R744SMIS; CFACT"),
    Column("size_used_bytes", LONG, "storage in use, as MQ reports it", "SIZEUSED"),
    Column(
        "scm_entries_in_use",
        LONG,
        "list entries in storage-class memory, in addition to entries_in_use",
        "CFACT",
    ),
    Column(
        "scm_elements_in_use",
        LONG,
        "list elements in storage-class memory, in addition to elements_in_use",
        "CFACT",
    ),
    Column("scm_max_bytes", LONG, "storage-class memory that the structure may use", "CFACT"),
    Column("scm_used_bytes", LONG, "storage-class memory in use", "the CSV template only"),
    Column("cf_total_bytes", LONG, "storage of the coupling facility", "R744GTSD"),
    Column("cf_free_bytes", LONG, "free storage of the coupling facility", "R744GTSF"),
    Column("sync_requests", LONG, "synchronous requests of the system", "R744SSRC"),
    Column("sync_us", LONG, "time in synchronous requests", "R744SSTM"),
    Column("async_requests", LONG, "asynchronous requests of the system", "R744SARC"),
    Column("async_us", LONG, "time in asynchronous requests", "R744SATM"),
    Column("changed_requests", LONG, "requests changed from synchronous to asynchronous", "R744SSTA"),
    Column("queued_requests", LONG, "requests that were queued (delayed)", "R744SQRC"),
    Column("queued_us", LONG, "time for which requests were queued", "R744SQTM"),
    Column("entries_written", LONG, "list entries that the system wrote with data", "R744SWEC"),
    Column("elements_written", LONG, "list elements (256 bytes) of these entries", "R744SWED"),
    Column(
        "status",
        STRING,
        "the structure's state, or the names of the duplexing flags of R744SFLG",
        "STATUS of DISPLAY CFSTATUS; R744SFLG bits 3 to 5",
    ),
)

_SMDS = (
    Column("blocks_total", LONG, "logical blocks (DSBLOCK) of the data set", "QESD offset 24"),
    Column("blocks_space_map", LONG, "blocks for the space map", "QESD offset 28"),
    Column("blocks_data", LONG, "blocks for messages", "QESD offset 32"),
    Column("blocks_in_use", LONG, "blocks in use at the end of the interval", "QESD offset 36"),
    Column("blocks_free", LONG, "free blocks at the end of the interval", "QESD offset 40"),
    Column("blocks_in_use_max", LONG, "most blocks in use in the interval", "QESD offset 88"),
    Column("blocks_free_min", LONG, "fewest free blocks in the interval", "QESD offset 92"),
    Column("messages", LONG, "messages in the data set at the end of the interval", "QESD offset 44"),
    Column("messages_max", LONG, "most messages in the interval", "QESD offset 84"),
    Column("allocate_requests", LONG, "requests for space", "QESD offset 48"),
    Column("free_requests", LONG, "requests that freed space", "QESD offset 52"),
    Column("pages_allocated", LONG, "4 KiB pages allocated", "QESD offset 64"),
    Column("pages_freed", LONG, "4 KiB pages freed", "QESD offset 68"),
    Column("failed_allocates", LONG, "requests that found the data set full", "QESD offset 80"),
    Column("buffer_requests", LONG, "requests for a buffer", "QESD offset 128"),
    Column("buffer_bytes", LONG, "size of a buffer", "QESD offset 96"),
    Column("buffers_total", LONG, "buffers (DSBUFS)", "QESD offset 100"),
    Column("buffers_in_use_max", LONG, "most buffers in use", "QESD offset 200"),
    Column("buffers_free_min", LONG, "fewest buffers free", "QESD offset 204"),
    Column("pool_waits", LONG, "waits for the buffer pool", "QESD offset 176"),
    Column("buffer_waits", LONG, "waits for a busy buffer", "QESD offset 180"),
    Column("pool_wait_us", LONG, "time in waits for the buffer pool", "QESD offset 184"),
    Column("buffer_wait_us", LONG, "time in waits for a busy buffer", "QESD offset 192"),
    Column("write_requests", LONG, "writes", "QESD offset 256"),
    Column("pages_written", LONG, "4 KiB pages written", "QESD offset 260"),
    Column("write_us", LONG, "time in writes", "QESD offset 264"),
    Column("read_requests", LONG, "reads from the queue manager's own data set", "QESD offset 280"),
    Column("pages_read", LONG, "4 KiB pages read from the queue manager's own data set", "QESD offset 284"),
    Column("read_us", LONG, "time in reads from the queue manager's own data set", "QESD offset 288"),
    Column("other_read_requests", LONG, "reads from other queue managers' data sets", "QESD offset 304"),
    Column(
        "other_pages_read", LONG, "4 KiB pages read from other queue managers' data sets", "QESD offset 308"
    ),
    Column("other_read_us", LONG, "time in reads from other queue managers' data sets", "QESD offset 312"),
    Column(
        "is_encrypted",
        BOOL,
        "the data set is encrypted; null if the record is too short to contain it",
        "QESD offset 328",
    ),
)

_QUEUE = (
    Column("queue", STRING, "the queue", "WQ base queue; QQST queue"),
    Column(
        "open_queue",
        STRING,
        "the name used to open the queue, possibly an alias; accounting data only",
        "WQ object name",
    ),
    Column("disposition", STRING, "one of " + ", ".join(DISPOSITIONS), "WQ offset 152; QQST flags"),
    Column(
        "correlation",
        STRING,
        "correlation identifier of the task, 32 hexadecimal digits; accounting data only",
        "WQ offset 16",
    ),
    Column("opened_at", INSTANT, "when the task opened the queue; accounting data only", "WQ offset 128"),
    Column("opens", LONG, "number of opens", "WQ offset 176"),
    Column(
        "puts", LONG, "messages put: MQPUT and MQPUT1", "WQ 512 valid puts (MQPUT1 included); QQST 128 + 136"
    ),
    Column("put_bytes", LONG, "bytes put", "WQ 496; QQST 176 + 184"),
    Column("put_size_min_bytes", LONG, "smallest message put", "WQ 536; QQST 264"),
    Column("put_size_max_bytes", LONG, "largest message put", "WQ 532; QQST 272"),
    Column("persistent_puts", LONG, "persistent messages put", "WQ 580 + 584; QQST 152 + 168"),
    Column(
        "puts_to_waiting_getter",
        LONG,
        "messages passed directly to a waiting MQGET, which used no structure storage",
        "WQ 612 + 628; QQST 240",
    ),
    Column("gets", LONG, "messages got", "WQ 516; QQST 288"),
    Column("get_bytes", LONG, "bytes got", "WQ 504; QQST 312"),
    Column(
        "get_readlists",
        LONG,
        "READLIST requests of MQGETs, which look for a message; accounting data only",
        "WQ 1716",
    ),
    Column(
        "get_moves",
        LONG,
        "MOVE requests of MQGETs (GETMOVE), which get a message; accounting data only",
        "WQ 1756",
    ),
    Column("get_size_min_bytes", LONG, "smallest message got", "WQ 528"),
    Column("get_size_max_bytes", LONG, "largest message got", "WQ 524"),
    Column("expired", LONG, "messages that were found to be expired", "WQ 292"),
    Column("depth_max", LONG, "highest depth seen", "WQ 588; QQST 120"),
    Column("depth_min", LONG, "lowest depth seen", "QQST 124"),
    Column("depth_end", LONG, "depth at the end of the interval", "QQST 80"),
    Column(
        "time_on_queue_max_us",
        LONG,
        "longest time that a message was on the queue before it was got",
        "WQ 540",
    ),
    Column("time_on_queue_us", LONG, "total time on the queue of all messages got", "WQ 556"),
)

_ALLOCATION = (
    Column("sysplex", STRING, "sysplex", "SMF74XNM"),
    Column("coupling_facility", STRING, "coupling facility", "R744FNAM; D XCF"),
    Column(
        "event",
        STRING,
        "the message that reported the values, such as IXC582I; null for displays and records",
    ),
    Column("allocated_at", INSTANT, "when this instance was allocated", "R744QVER; D XCF ALLOCATION TIME"),
    Column("is_active", BOOL, "this instance is the one in use", "R744QFLG bit 0"),
    Column("status", STRING, "the structure's state as displayed, or the flags of R744QFLG by name"),
    Column("policy_size_bytes", LONG, "SIZE, or the requested size", "R744QSIZ; POLICY SIZE"),
    Column("policy_initsize_bytes", LONG, "INITSIZE", "POLICY INITSIZE"),
    Column("policy_minsize_bytes", LONG, "MINSIZE", "POLICY MINSIZE"),
    Column("full_threshold_pct", LONG, "FULLTHRESHOLD", "D XCF; IXC585E"),
    Column("allow_auto_alter", BOOL, "ALLOWAUTOALT", "D XCF"),
    Column("duplex", STRING, "DUPLEX", "D XCF"),
    Column("preference_list", STRING, "PREFLIST, names separated by blanks", "D XCF"),
    Column("exclusion_list", STRING, "EXCLLIST, names separated by blanks", "D XCF"),
    Column("size_bytes", LONG, "storage allocated", "ACTUAL SIZE; IXC582I; IXC588I target"),
    Column("size_max_bytes", LONG, "MAX STRUCTURE SIZE", "IXC582I"),
    Column("entries_in_use", LONG, "list entries in use", "D XCF; IXC585E"),
    Column("entries_total", LONG, "total list entries", "D XCF; IXC582I; IXC585E"),
    Column("elements_in_use", LONG, "list elements in use", "D XCF; IXC585E"),
    Column("elements_total", LONG, "total list elements", "D XCF; IXC582I; IXC585E"),
    Column("emcs_in_use", LONG, "event monitor controls in use", "D XCF"),
    Column("emcs_total", LONG, "total event monitor controls", "D XCF; IXC582I"),
    Column("ratio_entries", LONG, "entry-to-element ratio: entries", "D XCF; IXC582I; IXC588I"),
    Column("ratio_elements", LONG, "entry-to-element ratio: elements", "D XCF; IXC582I; IXC588I"),
    Column("mq_cflevel", LONG, "CFLEVEL of the CFSTRUCT", "DISPLAY CFSTRUCT"),
    Column("mq_recover", BOOL, "RECOVER of the CFSTRUCT", "DISPLAY CFSTRUCT"),
    Column("mq_offload", STRING, "OFFLOAD of the CFSTRUCT", "DISPLAY CFSTRUCT"),
    Column(
        "mq_offload_rules",
        STRING,
        "offload rules of the CFSTRUCT as `percent:bytes`, separated by blanks",
        "OFFLDnTH, OFFLDnSZ",
    ),
    Column("mq_dsgroup", STRING, "DSGROUP of the CFSTRUCT", "DISPLAY CFSTRUCT"),
    Column("mq_dsblock_bytes", LONG, "DSBLOCK of the CFSTRUCT", "DISPLAY CFSTRUCT"),
    Column("mq_dsbufs", LONG, "DSBUFS of the CFSTRUCT", "DISPLAY CFSTRUCT"),
)

STORAGE_COLUMNS = (
    Column("day", pa.date32(), "UTC day of interval_end; the tables are partitioned by it"),
    Column("key_high", LONG, "natural key as a 128-bit digest, upper half"),
    Column("key_low", LONG, "natural key as a 128-bit digest, lower half"),
    Column(
        "content_hash",
        LONG,
        "digest of the values that are not provenance: two rows with the same key but different digests conflict",
    ),
    Column("commit_id", STRING, "the ingest that stored the row; see the table of files"),
    Column("file_name", STRING, "name of the file"),
    Column("file_sha256", STRING, "SHA-256 of the original file"),
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table(
            STRUCTURE_USAGE,
            "Contents and activity of a structure in an interval, as seen by one queue manager (MQ) or one system (RMF).",
            (*PROVENANCE, *IDENTITY, *_STRUCTURE),
        ),
        Table(
            SMDS_USAGE,
            "Contents and activity of the shared message data set of one queue manager for one structure in an interval.",
            (*PROVENANCE, *IDENTITY, *_SMDS),
        ),
        Table(
            QUEUE_USAGE,
            "Puts and gets of one shared queue in an interval, by one queue manager (115-216) or by one "
            "of its tasks (116). Both count the same messages: never add them up.",
            (*PROVENANCE, *IDENTITY, *_QUEUE),
        ),
        Table(
            ALLOCATION,
            "The policy and allocation of a structure as shown by XCF, and its CFSTRUCT as shown by MQ.",
            (*PROVENANCE, *IDENTITY, *_ALLOCATION),
        ),
    )
}

KEY_RULES = 2
"""The version of the rules for natural keys; a history with keys by older rules gets new keys when it is opened for
writing.

2: rows from RMF's tables, displays and messages are identified by XCF's name alone, without the group and MQ's name,
which one of two files may lack; rows of tasks are identified without the time at which the queue was opened, which
mq-smf-csv does not always print.
"""

REKEYED_FAMILIES = ("116", "CFACT", "overview", "display", "message")
"""Families of sources whose keys were formed differently by older rules."""

# Keys have only values that all sources of a family state with the same precision. Otherwise one observation from two
# sources would count twice.
NATURAL_KEYS: tuple[NaturalKey, ...] = (
    NaturalKey(
        "115-2",
        ("system_id", "queue_manager", "written_at", "structure"),
        "One record per interval and queue manager, one slot or section per structure.",
    ),
    NaturalKey(
        "115-216",
        ("system_id", "queue_manager", "written_at", "queue", "structure"),
        "One section per queue. A private and a shared queue may have the same name: the structure distinguishes them.",
    ),
    NaturalKey(
        "116",
        ("system_id", "queue_manager", "written_at", "correlation", "queue", "open_queue"),
        "One section for each queue that a task used. written_at distinguishes the accounting intervals of a long task "
        "and, unlike the interval's start, is also in the output of mq-smf-csv. piece is 10000 x subtype + the number of the "
        "section among its record's shared queues, so a 116-1 and its 116-2 never collide, plus 65536 x a digest "
        "of opened_at, which mq-smf-csv does not always print.",
    ),
    NaturalKey(
        "74-4",
        ("sysplex", "coupling_facility", "system_id", "interval_end", "xcf_structure", "allocated_at"),
        "One record per system and coupling facility, one section per structure; interval_end is the GMT interval "
        "end. allocated_at distinguishes the instances of a structure during a rebuild. Pieces of a split record are joined first.",
    ),
    NaturalKey(
        "CFACT",
        ("sysplex", "coupling_facility", "system_id", "interval_end", "xcf_structure"),
        "One row per structure, system and interval. The XCF name is always present, whether or not it could be split.",
    ),
    NaturalKey(
        "overview",
        ("sysplex", "coupling_facility", "system_id", "interval_end", "xcf_structure"),
        "One row per structure and interval.",
    ),
    NaturalKey(
        "display",
        ("source", "queue_manager", "xcf_structure", "coupling_facility", "interval_end"),
        "One display of a structure at the time stated with the upload; source is `display CFSTATUS`, `display "
        "CFSTRUCT` or `display XCF`. piece distinguishes different displays of one structure in one text.",
    ),
    NaturalKey(
        "message",
        ("source", "xcf_structure", "coupling_facility", "interval_end"),
        "One message about a structure at a given time; source names the message, such as `message IXC585E`. piece is used as for displays.",
    ),
    NaturalKey(
        "template",
        (
            "system_id",
            "queue_manager",
            "qsg",
            "structure",
            "xcf_structure",
            "queue",
            "interval_start",
            "interval_end",
        ),
        "One row of the CSV template.",
    ),
)

FILE_COLUMNS = (
    Column("day", pa.date32(), "UTC day of the commit"),
    Column("commit_id", STRING, "identifier of the ingest; sorts by the start time"),
    Column("entry", STRING, "ingest, retention or forget"),
    Column("committed_at", INSTANT, "time of the commit"),
    Column("file_name", STRING, "name of the file"),
    Column("file_sha256", STRING, "SHA-256 of the original file"),
    Column(
        "identity",
        STRING,
        "identifies a repeated file: its SHA-256 and, for a display, the time of observation",
    ),
    Column("file_bytes", LONG, "length of the file"),
    Column("kind", STRING, "kind of input"),
    Column(
        "answers",
        STRING,
        "answers that change the rows of the file, as JSON: groups, time of observation, zone",
    ),
    Column("first_interval_end", INSTANT, "end of the first interval or observation in the file"),
    Column("last_interval_end", INSTANT, "end of the last interval or observation in the file"),
    Column("days", STRING, "the UTC days that the entry affected, as a JSON list by table"),
    Column("qsgs", STRING, "the groups named in the rows of the file, as a JSON list"),
    Column(
        "unnamed_days",
        STRING,
        "the days on which rows contain only XCF's name of the structure, as a JSON list by table; null if not known",
    ),
    Column("report", STRING, "the complete report as JSON"),
)
"""The ledger: one row for each file that was committed, in the same commit as the file's rows."""


def row_schema(table: str) -> pa.Schema:
    """Return the schema of the rows that a decoder or reader delivers."""
    return pa.schema([pa.field(column.name, column.type) for column in _table(table).columns])


@cache
def stored_schema(table: str) -> pa.Schema:
    """Return the schema of the rows as stored, and as `read` returns them."""
    if table == FILES:
        return pa.schema([pa.field(column.name, column.type) for column in FILE_COLUMNS])
    columns = (*STORAGE_COLUMNS, *_table(table).columns)
    return pa.schema([pa.field(column.name, column.type) for column in columns])


def natural_key(source: str) -> NaturalKey:
    """Return the natural key of rows from this source."""
    for key in NATURAL_KEYS:
        if source == key.family or source.startswith(key.family + " "):
            return key
        # mq-smf-csv does not print the subtype, so the sources of one family have different names.
        if key.family == "116" and source.startswith(("116-1 ", "116-2 ")):
            return key
    message = f"No natural key is known for the source {source!r}."
    raise HistoryError(message)


def _table(name: str) -> Table:
    try:
        return TABLES[name]
    except KeyError:
        message = f"The history has no table {name!r}; it has {', '.join(TABLES)}."
        raise HistoryError(message) from None
