"""Write the collection kit: the settings, jobs and commands with which a site collects the records that cfplan reads.

The texts contain the names of the site's systems and queue managers, which are checked before. Each statement states the
document in which it was read; a statement from memory says that it must be verified.
"""

from __future__ import annotations

import io
import textwrap
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from pydantic import Field

from planner_core import names, tables
from planner_core.checks.collected_data import interval_long, is_interval_long
from planner_core.contracts.smf import RECORDS
from planner_core.findings import Finding, finding
from planner_core.inputs import KIND_TITLES, Kind
from planner_core.provenance import SourceText
from planner_core.questions import Label, Metavar, NameList, Question, Whole
from planner_core.wire import Answer

MOST_NAMES: Final = 32
"""The maximum number of systems, and of queue managers, in one kit: a sysplex has at most 32 systems."""
LAST_COLUMN: Final = 71
_INTERVALS: Final = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60)
"""Intervals that divide the hour evenly: SMF synchronizes only these (z/OS, Parameters for SMFPRMxx, INTVAL)."""
_FIGURES: Final = tables.constants("collected_data")
_README: Final = "README.txt"
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The time of each file in an archive, so that the same kit always has the same bytes."""


class IntervalMinutes(Whole):
    """Minutes of an SMF interval, which must divide the hour evenly."""

    def _read(self, text: str) -> int:
        minutes = super()._read(text)
        if minutes not in _INTERVALS:
            msg = f"must divide the hour evenly: {', '.join(map(str, _INTERVALS))}"
            raise ValueError(msg)
        return minutes

    def _schema(self) -> dict[str, object]:
        return {"type": "integer", "enum": list(_INTERVALS)}


class CollectionKitQuestion(Question):
    """The systems and queue managers of a site, and the interval of their records."""

    what: ClassVar[str] = "The collection kit"

    systems: Annotated[
        tuple[str, ...],
        NameList(names.system, names.SYSTEM_PATTERN, MOST_NAMES),
        Metavar("A,B"),
        Label("Systems", hint="SMF identifiers (SID), such as SYSA SYSB."),
    ] = Field((), description="SMF identifiers of the systems, such as SYSA,SYSB; repeatable")
    queue_managers: Annotated[
        tuple[str, ...],
        NameList(names.queue_manager, names.QUEUE_MANAGER_PATTERN, MOST_NAMES),
        Metavar("M1,M2"),
        Label("Queue managers", hint="Such as CSQ1 CSQ2."),
    ] = Field((), description="names of the queue managers, such as CSQ1,CSQ2; repeatable")
    interval: Annotated[
        int,
        IntervalMinutes(1, 60),
        Label("Interval in minutes", hint="Must divide the hour evenly, such as 10, 15 or 30."),
    ] = Field(
        _FIGURES["recommended_interval_minutes"].value,
        description="minutes of an SMF interval, which must divide the hour evenly; absent: "
        f"{_FIGURES['recommended_interval_minutes'].value}",
    )


@dataclass(frozen=True, slots=True)
class KitText(Answer):
    """One text of the kit."""

    name: Annotated[str, Field(description="Name of the file.", examples=["SMFPRMxx.txt"])]
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class KitStatement(Answer):
    """A statement of the kit, and where it was read."""

    file: str
    statement: str
    source: Annotated[
        SourceText | None,
        Field(description="The document in which the statement was read; null: from memory, verify it."),
    ]


@dataclass(frozen=True, slots=True)
class CollectionKit(Answer):
    """The settings, jobs and commands with which a site collects the records that cfplan reads."""

    systems: tuple[str, ...]
    queue_managers: tuple[str, ...]
    interval_minutes: int
    records: Annotated[
        tuple[str, ...],
        Field(description="The SMF records that the jobs select, which are those that cfplan reads."),
    ]
    texts: tuple[KitText, ...]
    statements: tuple[KitStatement, ...]
    findings: tuple[Finding, ...]

    def archive(self) -> bytes:
        """Return a zip archive with all texts."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for each in self.texts:
                entry = zipfile.ZipInfo(f"collection-kit/{each.name}", _EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, each.text)
        return packed.getvalue()


@dataclass(frozen=True, slots=True)
class _Part:
    """Statements of a text with one source; None if they are from memory."""

    about: str
    lines: tuple[str, ...]
    source_key: str | None
    section: str = ""

    @property
    def source(self) -> str:
        """Return the remark on its source."""
        if self.source_key is None:
            return "To verify: from memory."
        found = tables.source(self.source_key, self.section)
        place = f"{found.document}, {found.section}" if found.section else found.document
        return f"Source: {place}."


@dataclass(frozen=True, slots=True)
class _Text:
    name: str
    title: str
    head: tuple[str, ...]
    parts: tuple[_Part, ...]
    comment: tuple[str, str]
    """The beginning and the end of a comment."""
    placeholders: Mapping[str, str]
    is_job: bool = False

    def render(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield from self._said(self.title)
        for words in self.head:
            yield from self._said(words)
        if self.placeholders:
            yield from self._said("Replace each placeholder:")
            for name, words in self.placeholders.items():
                yield from self._said(f"{name}: {words}", indent="  ")
        if self.is_job:
            # A comment within the data of a job would be read by its program.
            for part in self.parts:
                yield from self._said(f"{part.about} {part.source}", indent="  ")
        for part in self.parts:
            if not self.is_job:
                yield ""
                yield from self._said(f"{part.about} {part.source}")
            yield from part.lines

    def _said(self, words: str, *, indent: str = "") -> Iterator[str]:
        begin, end = self.comment
        width = LAST_COLUMN - len(begin) - len(end)
        for line in textwrap.wrap(
            words,
            width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        ):
            yield f"{begin}{line}{end}".rstrip()


_DELIMITERS: Final = ("", "/*")
"""Lines that are no statements: the end of the data in a job."""
_PARMLIB: Final = ("/* ", " */")
_JCL: Final = ("//* ", "")
_MQSC: Final = ("* ", "")
_CONSOLE: Final = ("# ", "")


_LOG_STREAM: Final = {"++LOGSTREAM++": "the whole name of the log stream, such as IFASMF.DEFAULT"}
"""The same placeholder in PARMLIB and in the jobs, so that one change command replaces all."""


def record_types() -> tuple[str, ...]:
    """Return the SMF records that cfplan reads, in order of type and subtype."""
    found = {record for records in RECORDS.values() for record in records}
    return tuple(sorted(found, key=lambda record: tuple(map(int, record.split("-")))))


def type_list() -> str:
    """Return the records that cfplan reads in the syntax of IFASMFDP: `74(4),115(2,216)`."""
    subtypes: dict[str, list[str]] = {}
    for record in record_types():
        kind, _, subtype = record.partition("-")
        subtypes.setdefault(kind, []).append(subtype)
    return ",".join(f"{kind}({','.join(each)})" for kind, each in subtypes.items())


def collection_kit(question: CollectionKitQuestion) -> CollectionKit:
    """Return the kit for these systems and queue managers."""
    texts = tuple(_texts(question))
    statements = tuple(
        KitStatement(
            each.name,
            line.strip(),
            None if part.source_key is None else tables.source(part.source_key, part.section),
        )
        for each in texts
        for part in each.parts
        for line in part.lines
        if line not in _DELIMITERS
    )
    readme = KitText(_README, "How to use the kit", _readme(question, texts, statements))
    made = (readme, *(KitText(each.name, each.title, each.render()) for each in texts))
    return CollectionKit(
        systems=question.systems,
        queue_managers=question.queue_managers,
        interval_minutes=question.interval,
        records=record_types(),
        texts=made,
        statements=statements,
        findings=tuple(_findings(question, statements)),
    )


def _findings(question: CollectionKitQuestion, statements: Sequence[KitStatement]) -> Iterator[Finding]:
    recalled = list(dict.fromkeys(each.statement for each in statements if each.source is None))
    yield finding(
        "COLLECTION_KIT_TO_VERIFY",
        f"{len(recalled)} statements of the kit were not checked against a published text. They are marked 'To verify': compare them with "
        "the manuals of your release before you use them.",
    )
    if is_interval_long(question.interval * 60):
        yield interval_long("The kit sets an interval of", question.interval)


def _texts(question: CollectionKitQuestion) -> Iterator[_Text]:
    yield _smfprm(question)
    yield _rmf()
    yield _csq6sysp()
    yield _trace(question)
    for system in question.systems:
        yield _data_set_job(system)
        yield _log_stream_job(system)
    for manager in question.queue_managers:
        yield _display_job(manager)
    yield _console(question)
    yield _transfer(question)


def _smfprm(question: CollectionKitQuestion) -> _Text:
    types = ",".join(dict.fromkeys(record.partition("-")[0] for record in record_types()))
    return _Text(
        "SMFPRMxx.txt",
        "SMF settings: statements of SMFPRMxx in PARMLIB.",
        (
            "Change your own member: these statements do not replace it. Activate it on each system. Statements in comments "
            "change a list that you have: pasted as they are, they would end the recording of other types.",
        ),
        (
            _Part(
                "The interval of all records: RMF and MQ write at its end.",
                (f"INTVAL({question.interval:02})", "SYNCVAL(00)"),
                "zos_smfprm",
                "INTVAL and SYNCVAL",
            ),
            _Part(
                "The record types. Add these to the list of your SYS statement, and to each SUBSYS statement with a list of its own.",
                # As a comment: pasted as it is, it would stop the recording of all other types.
                (f"/* SYS(TYPE(your types,{types})) */",),
                None,
            ),
            _Part(
                "Only with RECORDING(LOGSTREAM): the log stream that takes these types.",
                (f"/* LSNAME(++LOGSTREAM++,TYPE({types})) */",),
                None,
            ),
        ),
        _PARMLIB,
        _LOG_STREAM,
    )


def _rmf() -> _Text:
    return _Text(
        "ERBRMFxx.txt",
        "RMF settings: options of ERBRMFxx in PARMLIB.",
        (
            "Record 74 subtype 4 has the sizes, entries and elements of each structure. Collect it on every system: the figures "
            "of the coupling facility are in the records of the sysplex master only, and with CFOPT also those of the limits.",
            "Monitor I and Monitor III have members of their own: put each option into that of its monitor. IBM's are ERBRMF00 for "
            "Monitor I and ERBRMF04 for Monitor III (from memory, verify it).",
        ),
        (
            _Part(
                "Monitor III: details of each structure. It is the default; NOCFDETAIL switches it off.",
                ("CFDETAIL",),
                "rmf_gatherer_options",
                "CFDETAIL",
            ),
            _Part(
                "Monitor I: records at the end of the SMF interval. Monitor III follows Monitor I.",
                ("SYNC(SMF)",),
                "rmf_synchronization",
                "Recommendation",
            ),
            _Part(
                "Monitor I: records are written to SMF.",
                ("RECORD",),
                None,
            ),
        ),
        _PARMLIB,
        {},
    )


def _csq6sysp() -> _Text:
    return _Text(
        "CSQ6SYSP.txt",
        "MQ settings: parameters of CSQ6SYSP in the system parameter module.",
        (
            "Set them in the module of each queue manager. They take effect when it starts; START-TRACE.txt starts the same "
            "traces at once.",
            "SMFACCT=* includes a record for each task and its queues, which may be many.",
        ),
        (
            _Part(
                "Statistics and accounting of classes 1 to 3; an asterisk does not start classes 4 and 5.",
                ("SMFSTAT=*", "SMFACCT=*"),
                "mq_smf_commands",
                "Note on SMFSTAT and SMFACCT",
            ),
            _Part(
                "Statistics at the end of the SMF interval.",
                ("STATIME=0",),
                "mq_channel_smf",
                "STATIME",
            ),
        ),
        _MQSC,
        {},
    )


def _trace(question: CollectionKitQuestion) -> _Text:
    parts: list[_Part] = []
    for manager in question.queue_managers or ("++QMGR++",):
        scope = names.mqsc_attribute("CMDSCOPE", manager) if manager != "++QMGR++" else "CMDSCOPE(++QMGR++)"
        parts += [
            _Part(
                f"{manager}: statistics of structures, SMDS and messages (115-2).",
                (f"START TRACE(STAT) DEST(SMF) CLASS(*) {scope}",),
                "mq_smf_commands",
            ),
            *_channel_trace(manager, scope),
            _Part(
                f"{manager}: statistics of queues (115-216), from MQ 9.3. STATQ selects the queues; OFF in a queue excludes it.",
                (
                    f"ALTER QMGR STATQ(ON) {scope}",
                    f"START TRACE(STAT) DEST(SMF) CLASS(5) {scope}",
                ),
                "mq_smf_commands",
                "CLASS(5)",
            ),
            _Part(
                f"{manager}: accounting of tasks and their queues (116-1, 116-2).",
                (f"START TRACE(ACCTG) DEST(SMF) CLASS(3) {scope}",),
                "cics_pa_mq",
                "CLASS(3)",
            ),
            _Part(
                f"{manager}: the queues that accounting includes.",
                (f"ALTER QMGR ACCTQ(ON) {scope}",),
                "mq_queue_accounting",
                "ACCTQ",
            ),
            _Part(
                f"{manager}: check the traces.",
                (f"DISPLAY TRACE(STAT) {scope}", f"DISPLAY TRACE(ACCTG) {scope}"),
                "mq_smf_commands",
                "DISPLAY TRACE",
            ),
        ]
    return _Text(
        "START-TRACE.txt",
        "MQ commands that start the traces.",
        (
            "Enter them in CSQINP2, with CSQUTIL, or on the console with the command prefix of a queue manager of the group. "
            "CMDSCOPE names the queue manager; leave it out where there is no queue-sharing group.",
            "CSQINP2 starts them again with the queue manager; leave CMDSCOPE out there.",
        ),
        tuple(parts),
        _MQSC,
        {} if question.queue_managers else {"++QMGR++": "the name of each queue manager"},
    )


def _channel_trace(manager: str, scope: str) -> Iterator[_Part]:
    if "115-231" in record_types():
        yield _Part(
            f"{manager}: statistics of the channel initiator (115-231), which name the queue-sharing group.",
            (f"START TRACE(STAT) DEST(SMF) CLASS(4) {scope}",),
            "mq_smf_commands",
            "CLASS(4)",
        )


_OUTPUT: Final = {
    "++HLQ++": "the first qualifiers of the output data set",
    "++DATE++": "a qualifier that is new for each run, such as D260101",
}


def _output_part(system: str) -> _Part:
    return _Part(
        "Output data set; RECFM=VBS comes from the program. Adapt SPACE and UNIT.",
        (
            f"//DUMPOUT  DD DSN=++HLQ++.SMF{system}.++DATE++,",
            "//            DISP=(NEW,CATLG),UNIT=SYSDA,SPACE=(CYL,(50,50))",
        ),
        "cics_smf_job",
        "OUTDD1",
    )


def _data_set_job(system: str) -> _Text:
    return _Text(
        f"SMFDP-{system}.jcl",
        f"Job: copy the records from the SMF data sets of system {system}.",
        (
            "Put your JOB statement before this. Run it on this system: SMF data sets are not shared.",
            "OPTIONS(DUMP) copies the records and leaves them in the SMF data sets.",
        ),
        (
            _Part(
                "Program.",
                ("//SMFDUMP  EXEC PGM=IFASMFDP", "//SYSPRINT DD SYSOUT=*"),
                "cics_smf_job",
                "SMFDUMP",
            ),
            _Part(
                "Input: one statement, and one INDD, for each SMF data set.",
                ("//DUMPIN1  DD DISP=SHR,DSN=++SMFDSN++",),
                "cics_smf_job",
                "INDD1",
            ),
            _output_part(system),
            _Part(
                "Selection: the records that cfplan reads.",
                (
                    "//SYSIN    DD *",
                    "  INDD(DUMPIN1,OPTIONS(DUMP))",
                    f"  OUTDD(DUMPOUT,TYPE({type_list()}))",
                    "/*",
                ),
                "zos_ifasmfdp",
                "INDD and OUTDD",
            ),
        ),
        _JCL,
        {"++SMFDSN++": "the name of an SMF data set, or of a dump of it", **_OUTPUT},
        is_job=True,
    )


def _log_stream_job(system: str) -> _Text:
    return _Text(
        f"SMFDL-{system}.jcl",
        f"Job: copy the records from the SMF log stream of system {system}.",
        (
            "Put your JOB statement before this. A log stream may have the records of several systems: run the job once for "
            "each log stream.",
            "OPTIONS(DUMP) copies the records and leaves them in the log stream.",
        ),
        (
            _Part(
                "Program, with REGION=0M against abend 878.",
                ("//SMFDUMP  EXEC PGM=IFASMFDL,REGION=0M", "//SYSPRINT DD SYSOUT=*"),
                "zos_ifasmfdl_run",
            ),
            _output_part(system),
            _Part(
                "Selection: the records that cfplan reads. For a part of the log stream, add DATE(yyyyddd,yyyyddd) to OUTDD.",
                (
                    "//SYSIN    DD *",
                    "  LSNAME(++LOGSTREAM++,OPTIONS(DUMP))",
                    f"  OUTDD(DUMPOUT,TYPE({type_list()}))",
                    "/*",
                ),
                "zos_ifasmfdl",
                "LSNAME and OUTDD",
            ),
        ),
        _JCL,
        {**_LOG_STREAM, **_OUTPUT},
        is_job=True,
    )


def _display_job(manager: str) -> _Text:
    return _Text(
        f"DISPLAY-{manager}.jcl",
        f"Job: displays of queue manager {manager}.",
        (
            "Put your JOB statement before this. One queue manager of each group is enough, except for DISPLAY USAGE, which "
            "shows the data sets of the queue manager itself.",
        ),
        (
            _Part(
                "Program, with the queue manager to which it connects.",
                (f"//DISPLAY  EXEC PGM=CSQUTIL,PARM='{manager}'",),
                "mq_csqutil",
                "PARM parameters",
            ),
            _Part(
                "Libraries of MQ, and the output.",
                (
                    "//STEPLIB  DD DISP=SHR,DSN=++THLQUAL++.SCSQANLE",
                    "//         DD DISP=SHR,DSN=++THLQUAL++.SCSQAUTH",
                    "//SYSPRINT DD SYSOUT=*",
                ),
                None,
            ),
            _Part(
                "The function COMMAND, which reads the commands.",
                ("//SYSIN    DD *", "COMMAND DDNAME(MQSC)", "/*", "//MQSC     DD *"),
                "mq_csqutil_command",
                "DDNAME",
            ),
            _Part(
                "Definitions of structures.",
                ("DISPLAY CFSTRUCT(*) ALL",),
                "mq_display_cfstruct",
            ),
            _Part(
                "Use of structures, and of their shared message data sets.",
                ("DISPLAY CFSTATUS(*) TYPE(SUMMARY)", "DISPLAY CFSTATUS(*) TYPE(SMDS)"),
                "mq_display_cfstatus",
            ),
            _Part(
                "Space and buffers of the shared message data sets.",
                ("DISPLAY USAGE TYPE(SMDS)",),
                "mq_display_usage",
            ),
            _Part(
                "The group, and the shared queues.",
                (
                    "DISPLAY GROUP",
                    "DISPLAY QMGR QSGNAME CFCONLOS PERFMEV",
                    "DISPLAY QLOCAL(*) QSGDISP(SHARED) ALL",
                    "/*",
                ),
                None,
            ),
        ),
        _JCL,
        {"++THLQUAL++": "the qualifiers of MQ's load libraries"},
        is_job=True,
    )


def _console(question: CollectionKitQuestion) -> _Text:
    routed = tuple(f"RO {system},D SMF,O" for system in question.systems)
    return _Text(
        "CONSOLE.txt",
        "Operator commands. Lines that begin with # are remarks.",
        ("Save the answers as text. D XCF,STR,STRNAME= shows no date: note the time at which you enter it.",),
        (
            _Part("All structures, with their state.", ("D XCF,STR",), "db2_display_structures"),
            _Part(
                "One structure: policy, sizes, entries and elements. Enter it for each structure.",
                ("D XCF,STR,STRNAME=++STRUCTURE++",),
                "ims_display_structures",
            ),
            _Part("The same for all structures.", ("D XCF,STR,STRNAME=ALL",), None),
            _Part("Storage, level and volatility of the coupling facilities.", ("D CF",), "zos_display_cf"),
            _Part("Coupling facilities with their sites.", ("D XCF,CF,CFNAME=ALL",), None),
            _Part("The SMF options in effect.", ("D SMF,O",), "zos_smfprm_commands", "BUFSIZMAX"),
            *(
                (
                    _Part(
                        "The same on each system. RO takes the name of a system, which may differ from its SMF identifier.",
                        routed,
                        None,
                    ),
                )
                if routed
                else ()
            ),
            _Part("Start Monitor III of RMF, if it is not active.", ("F RMF,S III",), "rmf_gatherer_start"),
            _Part("Activate a changed member SMFPRMxx.", ("SET SMF=++xx++",), None),
            _Part(
                "Activate changed members ERBRMFxx in running sessions: ZZ is Monitor I, III is Monitor III.",
                ("F RMF,F ZZ,MEMBER(++m1++)", "F RMF,F III,MEMBER(++m3++)"),
                None,
            ),
        ),
        _CONSOLE,
        {
            "++STRUCTURE++": "the name of a structure in XCF, such as SQ03APPL1",
            "++xx++": "the suffix of your member SMFPRMxx",
            "++m1++": "the suffix of your member ERBRMFxx of Monitor I",
            "++m3++": "the suffix of your member ERBRMFxx of Monitor III",
        },
    )


def _transfer(question: CollectionKitQuestion) -> _Text:
    gets = tuple(f"get '++HLQ++.SMF{system}.++DATE++' {system}.smf" for system in question.systems) or (
        "get '++HLQ++.SMF++SID++.++DATE++' ++SID++.smf",
    )
    return _Text(
        "TRANSFER.txt",
        "FTP subcommands that transfer the output of the jobs with its record descriptor words.",
        ("Without these words, a dump cannot be read. Enter them at the machine that uploads the files.",),
        (
            _Part(
                "Binary, with record descriptor words.",
                ("binary", "quote site rdw"),
                "project",
                "Collected data",
            ),
            _Part("The output of each job.", gets, "project", "Collected data"),
        ),
        _CONSOLE,
        dict(_OUTPUT) if question.systems else {**_OUTPUT, "++SID++": "the SMF identifier of the system"},
    )


_ACCEPTED: Final[Sequence[tuple[str, Kind]]] = (
    ("SMF records of SMFDP-*.jcl or SMFDL-*.jcl", "smf"),
    ("D XCF,STR,STRNAME=", "xcf_str"),
    ("DISPLAY CFSTATUS", "cfstatus"),
    ("DISPLAY CFSTRUCT", "cfstruct"),
)
"""What the kit collects for the usage history, and the kind of upload."""
_RUNNING: Final = (
    "D XCF,STR,STRNAME=",
    "D CF",
    "D XCF,CF",
    "DISPLAY GROUP",
    "DISPLAY QMGR",
    "DISPLAY CFSTRUCT",
    "DISPLAY QLOCAL",
)
"""The displays that the comparison with the running system reads."""


def _readme(
    question: CollectionKitQuestion, texts: Sequence[_Text], statements: Sequence[KitStatement]
) -> str:
    return "\n".join(_readme_lines(question, texts, statements)) + "\n"


def _readme_lines(
    question: CollectionKitQuestion, texts: Sequence[_Text], statements: Sequence[KitStatement]
) -> Iterator[str]:
    def wrapped(words: str, indent: str = "") -> Iterator[str]:
        yield from textwrap.wrap(
            words,
            LAST_COLUMN,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )

    yield "cfplan collection kit"
    yield ""
    yield from wrapped(
        f"For the systems {_list(question.systems)} and the queue managers {_list(question.queue_managers)}. It collects SMF records "
        f"{', '.join(record_types())}."
    )
    yield from wrapped(
        "Texts between ++ are placeholders. No text changes anything until you submit or enter it."
    )
    yield ""
    yield "Steps"
    for number, words in enumerate(_STEPS, start=1):
        yield from wrapped(f"{number}. {words}")
    yield ""
    yield "Files"
    for each in texts:
        yield from wrapped(f"{each.name}: {each.title}", "  ")
    yield ""
    yield "Uploads accept"
    for what, kind in _ACCEPTED:
        yield from wrapped(f"{what}: {KIND_TITLES[kind]}", "  ")
    yield from wrapped(f"The comparison with what runs today reads {', '.join(_RUNNING)}.")
    yield ""
    yield "Sources"
    by_source: dict[str, list[str]] = {}
    for statement in statements:
        if statement.source is not None:
            by_source.setdefault(str(statement.source), []).append(statement.statement)
    for source, found in by_source.items():
        yield f"  {source}"
        for line in dict.fromkeys(found):
            yield f"    {line}"
    yield ""
    yield "To verify: from memory"
    for line in dict.fromkeys(each.statement for each in statements if each.source is None):
        yield f"    {line}"


def _list(found: Sequence[str]) -> str:
    return ", ".join(found) or "(none named)"


_STEPS: Final = (
    "Change SMFPRMxx and ERBRMFxx on each system (SMFPRMxx.txt, ERBRMFxx.txt), and activate them (CONSOLE.txt).",
    "Set the parameters of CSQ6SYSP in each queue manager (CSQ6SYSP.txt), and start the traces (START-TRACE.txt).",
    "Check the traces with DISPLAY TRACE, and the SMF options with D SMF,O.",
    "After a day, copy the records of each system: with SMFDP-*.jcl from SMF data sets, or with SMFDL-*.jcl from log streams.",
    "Enter the displays (CONSOLE.txt, DISPLAY-*.jcl) and save their output as text.",
    "Transfer the files (TRANSFER.txt), and upload them, or run: cfplan ingest FILE ...",
    f"Repeat steps 4 and 6 every day: a forecast needs {_FIGURES['least_forecast_days'].value} days with measurements.",
)
