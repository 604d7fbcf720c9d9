"""Text that is expensive to read for its length: 200 shapes of any length.

A shape is a unit that is repeated between a beginning and an end. `{n}` in a unit is its number, so that no two are alike.
Most come from a grammar that cfplan reads: keywords without the parts that must follow, unbalanced brackets, and lists
with more items than any site has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape: a repeated text, and the texts before and after it."""

    name: str
    unit: str
    before: str = ""
    after: str = ""

    def text(self, length: int = MEGABYTE) -> str:
        """Return the shape as text of about this many bytes of UTF-8."""
        room = max(0, length - len((self.before + self.after).encode()))
        if "{n}" not in self.unit:
            return self.before + self.unit * (room // len(self.unit.encode())) + self.after
        width = len(str(room // len(self.unit)))
        count = room // len(self.unit.replace("{n}", "9" * width).encode())
        units = (self.unit.replace("{n}", f"{number:0{width}}") for number in range(count))
        return self.before + "".join(units) + self.after


_POLICY: Final = "DATA TYPE(CFRM)\nDEFINE POLICY NAME(P1)\nCF NAME(CF01) TYPE(003931) MFG(IBM) PLANT(02)\n"
_STRUCTURE: Final = f"{_POLICY}STRUCTURE NAME(SQ03APPL) SIZE(100M) "
_YAML: Final = "qsg: SQ03\nqueue_managers: 2\nstructures:\n  - name: A\n    queues:\n"
_JSON: Final = '{"qsg":"SQ03","queue_managers":2,"structures":[{"name":"A","queues":['
_IXC360I: Final = "IXC360I  10.00.00  DISPLAY XCF 001\n"
_CSQM201I: Final = "CSQM201I +QM01 CSQMDRTC  DISPLAY QLOCAL DETAILS\n"

_OF_CHARACTERS: Final = tuple(
    Shape(name, character)
    for name, character in {
        "blanks": " ", "newlines": "\n", "tabs": "\t", "carriage returns": "\r", "letters A": "A", "letters a": "a",
        "zeros": "0", "nines": "9", "opening parentheses": "(", "closing parentheses": ")", "opening brackets": "[",
        "opening braces": "{", "closing braces": "}", "quotes": "'", "double quotes": '"', "commas": ",", "semicolons": ";",
        "colons": ":", "minus signs": "-", "plus signs": "+", "asterisks": "*", "slashes": "/", "equals signs": "=",
        "at signs": "@", "ampersands": "&", "percent signs": "%", "exclamation marks": "!", "backslashes": "\\",
        "pipes": "|", "question marks": "?", "hashes": "#", "tildes": "~", "dots": ".", "underscores": "_", "less than": "<",
        "NUL": "\x00", "escape": "\x1b", "form feeds": "\x0c", "vertical tabs": "\x0b", "substitute": "\x1a", "delete": "\x7f",
        "next lines": "\x85", "no-break spaces": "\u00a0", "line separators": "\u2028", "ideographic spaces": "\u3000",
        "byte order marks": "\ufeff", "Cyrillic A": "\u0410", "fullwidth A": "\uff21", "fullwidth zeros": "\uff10",
        "superscript two": "\u00b2", "long s": "\u017f", "emoji": "\U0001f600", "combining accents": "\u0301",
        "right-to-left": "\u202e",
    }.items()
)  # fmt: skip

_OF_LINES: Final = (
    Shape("CRLF", "\r\n"),
    Shape("empty spreadsheet rows", "\t\t\t\t\n"),
    Shape("empty comma rows", ",,,,\n"),
    Shape("blank lines", "    \n"),
    Shape("single letters", "A\n"),
    Shape("single digits", "1\n"),
    Shape("rows of a table", "Q{n}\t500\t1000\tyes\n", "name\tmessage_bytes\tbacklog\tpersistent\n"),
    Shape("the same row", "Q1\t500\t1000\tyes\n", "name\tmessage_bytes\tbacklog\tpersistent\n"),
    Shape("one queue with other values", "Q1\t{n}\t1000\tyes\n", "name\tmessage_bytes\tbacklog\tpersistent\n"),
    Shape("rows without a heading", "Q{n},500,1000\n"),
    Shape("unclosed quotes in rows", 'Q{n},"500\n'),
    Shape("doubled quotes in a cell", '""', 'name,backlog\n"', '",1\n'),
    Shape("columns", "c{n},", "name,", "\nQ1\n"),
    Shape("columns of one meaning", "size,", "name,", "\nQ1\n"),
    Shape("formulas", "=HYPERLINK(\"x\")\t+1\t@SUM(A1)\t-1\n"),
    Shape("one long cell", "x", "name,backlog\n", ",1\n"),
    Shape("dashes and blanks", "- \n"),
    Shape("indented dashes", "    - "),
    Shape("trailing blanks", "A          \n"),
    Shape("remarks of MQSC", "* remark\n"),
    Shape("comma groups", "1,000"),
    Shape("key colon value", "key{n}: value\n"),
    Shape("labels", "Label text here : value\n"),
    Shape("label without colon", "Label text "),
    Shape("spaces before a colon", " ", "Reason", ":"),
)  # fmt: skip

_OF_NUMBERS: Final = (
    Shape("a number with a million digits", "1", '{"qsg":"SQ03","queue_managers":', "}"),
    Shape("a negative number", "9", '{"queue_managers":-', "}"),
    Shape("a fraction with a million digits", "3", '{"headroom_percent":0.', "}"),
    Shape("a decimal exponent", "9", '{"headroom_percent":1e', "}"),
    Shape("decimal exponents", '"k{n}":1e999,', "{", '"z":1}'),
    Shape("huge exponents in a list", "1E400000000,", "[", "1]"),
    Shape("a size with a million digits", "1", '{"structures":[{"name":"A","size":"', 'M"}]}'),
    Shape("a size with blanks", " ", '{"structures":[{"name":"A","size":"1', 'M"}]}'),
    Shape("a size with a long fraction", "5", "1.", "M"),
    Shape("sizes", "512M "),
    Shape("sizes in a list", "512M,"),
    Shape("YAML number", "7", "queue_managers: ", "\n"),
    Shape("YAML binary number", "1", "queue_managers: 0b", "\n"),
    Shape("YAML numbers with underscores", "1_", "queue_managers: ", "0\n"),
    Shape("YAML sexagesimal", "1:", "queue_managers: ", "0\n"),
    Shape("YAML exponents", "- 1e999999\n"),
    Shape("percent list", "80:32K "),
    Shape("times", "10.00.00 "),
    Shape("dates", "2026-11-22 10:00:00 "),
)  # fmt: skip

_OF_JSON: Final = (
    Shape("queues that are 1", "1,", _JSON, "1]}]}"),
    Shape("queues that are empty", "{},", _JSON, "{}]}]}"),
    Shape("queues with an unknown key", '{"x":1},', _JSON, "{}]}]}"),
    Shape("queues that are right", '{"name":"Q{n}","message_bytes":1,"backlog":1},', _JSON, '{"name":"Q","message_bytes":1,"backlog":1}]}]}'),
    Shape("one queue many times", '{"name":"Q","message_bytes":1,"backlog":1},', _JSON, '{"name":"Q","message_bytes":1,"backlog":1}]}]}'),
    Shape("queues with sizes of sizes", '{"name":"Q{n}","message_bytes":{"mean":1,"p95":2,"max":3},"backlog":1},', _JSON, "{}]}]}"),
    Shape("queue names with a bad character", '{"name":"!","message_bytes":1,"backlog":1},', _JSON, "{}]}]}"),
    Shape("structures that are 1", "1,", '{"qsg":"SQ03","queue_managers":2,"structures":[', "1]}"),
    Shape("structures that are empty", "{},", '{"qsg":"SQ03","queue_managers":2,"structures":[', "{}]}"),
    Shape("structures", '{"name":"A{n}"},', '{"qsg":"SQ03","queue_managers":2,"structures":[', '{"name":"A"}]}'),
    Shape("queue managers", '"Q{n}",', '{"qsg":"SQ03","queue_managers":[', '"QM01"]}'),
    Shape("short queue managers", '"QM01",', '{"qsg":"SQ03","queue_managers":[', '"QM01"]}'),
    Shape("coupling facilities", '{"name":"CF01"},', '{"qsg":"SQ03","queue_managers":2,"coupling_facilities":[', "{}]}"),
    Shape("preference list", '"CF01",', '{"qsg":"SQ03","queue_managers":2,"structures":[{"name":"A","preflist":[', '"CF01"]}]}'),
    Shape("PERFMEV by queue manager", '"Q{n}":"ENABLED",', '{"qsg":"SQ03","queue_managers":2,"perfmev":{', '"Q":"ENABLED"}}'),
    Shape("unknown keys", '"k{n}":1,', "{", '"z":1}'),
    Shape("one key again and again", '"k":1,', "{", '"k":1}'),
    Shape("a long key", "k", '{"', '":1}'),
    Shape("a key of slashes", "/", '{"', '":1}'),
    Shape("a key of tildes", "~", '{"qsg":"SQ03","queue_managers":2,"', '":1}'),
    Shape("a long string", "x", '{"qsg":"', '"}'),
    Shape("escapes in a string", "\\u0000", '{"qsg":"', '"}'),
    Shape("nested lists", "[", '{"qsg":'),
    Shape("nested objects", '{"a":'),
    Shape("nested and closed", "[[[[[[[[[[]]]]]]]]]],", "[", "[]]"),
    Shape("acknowledgments", "{},", '{"qsg":"SQ03","queue_managers":2,"acknowledged":[', "{}]}"),
    Shape("clusters", '{"name":"C{n}"},', '{"qsg":"SQ03","queue_managers":2,"clusters":[', "{}]}"),
    Shape("instances", "{},", '{"queue":"Q","instances":[', "{}]}"),
    Shape("steps of a timeline", "{},", '{"queue_managers":[{}],"queues":[{}],"timeline":[', "{}]}"),
    Shape("files of a request", '{"name":"a","text":"b"},', '{"files":[', '{"name":"a","text":"b"}]}'),
    Shape("texts of a request", '"x",', '{"current":[', '"x"]}'),
    Shape("true and null", "true,null,", "[", "1]"),
    Shape("event JSON", '{"eventSource":{"objectName":"Q"},"eventType":{"name":"Perfm Event"}}\n'),
    Shape("event JSON not closed", '{"eventSource":{'),
)  # fmt: skip

_OF_YAML: Final = (
    Shape("YAML anchors", "a{n}: &a{n} 1\n"),
    Shape("YAML aliases", "a{n}: *a\n", "a: &a 1\n"),
    Shape("YAML merge keys", "<<: *a\n", "a: &a {b: 1}\n"),
    Shape("YAML tags", "- !!str 1\n"),
    Shape("YAML own tags", "- !x{n} 1\n"),
    Shape("YAML list", "- 1\n"),
    Shape("YAML list of lists", "- - - 1\n"),
    Shape("YAML list nested", "- "),
    Shape("YAML map nested", "a:\n "),
    Shape("YAML flow list", "1,", "[", "1]"),
    Shape("YAML flow lists not closed", "[a,"),
    Shape("YAML flow maps not closed", "{a: "),
    Shape("YAML keys", "k{n}: 1\n"),
    Shape("YAML key twice", "k: 1\n"),
    Shape("YAML long key", "k", "", ": 1\n"),
    Shape("YAML explicit keys", "? k{n}\n"),
    Shape("YAML queues", "      - {name: Q{n}, message_bytes: 1, backlog: 1}\n", _YAML),
    Shape("YAML empty queues", "      - {}\n", _YAML),
    Shape("YAML plain scalar over lines", "word\n", "a: "),
    Shape("YAML quoted scalar over lines", "word\n ", 'a: "', '"\n'),
    Shape("YAML literal block", "  x\n", "a: |\n"),
    Shape("YAML comments", "# remark\n"),
    Shape("YAML comments behind values", "k{n}: 1 # remark\n"),
    Shape("YAML documents", "---\n"),
    Shape("YAML directives", "%TAG ! !\n"),
    Shape("YAML question marks", "? "),
)  # fmt: skip

_OF_POLICY: Final = (
    Shape("PREFLIST names", "A,", f"{_STRUCTURE}PREFLIST(", "A)\n"),
    Shape("PREFLIST other names", "C{n},", f"{_STRUCTURE}PREFLIST(", "A)\n"),
    Shape("EXCLLIST names", "S{n} ", f"{_STRUCTURE}EXCLLIST(", "A)\n"),
    Shape("PREFLIST not closed", "CF01,", f"{_STRUCTURE}PREFLIST("),
    Shape("PREFLIST after PREFLIST", "PREFLIST(CF01) ", _STRUCTURE),
    Shape("keyword prefixes of a structure", "STRUCTURE NAME("),
    Shape("structures of a policy", "STRUCTURE NAME(S{n}) SIZE(1M) INITSIZE(1M) PREFLIST(CF01)\n", _POLICY),
    Shape("one structure of a policy again", "STRUCTURE NAME(S) SIZE(1M)\n", _POLICY),
    Shape("facilities of a policy", "CF NAME(C{n}) TYPE(003931)\n", _POLICY),
    Shape("CF NAME not closed", "CF NAME(CF01 "),
    Shape("DEFINE POLICY", "DEFINE POLICY NAME(P{n})\n", "DATA TYPE(CFRM)\n"),
    Shape("DATA TYPE", "DATA TYPE(CFRM)\n"),
    Shape("DATA TYPE of another kind", "DATA TYPE(LOGR) STRUCTURE NAME(X)\n"),
    Shape("SIZE after SIZE", "SIZE(1M) ", _STRUCTURE),
    Shape("unknown keywords", "KEY{n}(1) ", _STRUCTURE),
    Shape("words without values", "SIZE ", _STRUCTURE),
    Shape("comment openers", "/*", _POLICY),
    Shape("comments", "/* a */", _POLICY),
    Shape("comment opener and stars", "*", f"{_POLICY}/"),
    Shape("JCL lines", "//STEP{n} EXEC PGM=IXCMIAPU\n"),
    Shape("ends of JCL", "/*\n"),
    Shape("sequence numbers", " " * 72 + "00000010\n"),
    Shape("quoted names", "'CF01' ", f"{_STRUCTURE}PREFLIST("),
    Shape("quotes and blanks", "' ", _STRUCTURE),
    Shape("nested parentheses", "SIZE(", _STRUCTURE),
    Shape("values of a million digits", "9", f"{_POLICY}STRUCTURE NAME(A) SIZE(", ")"),
    Shape("values with many words", "1 ", f"{_POLICY}STRUCTURE NAME(A) DUPLEX(", ")"),
    Shape("report lines", "STRUCTURE NAME: S{n}\n SIZE: 100 M\n", "DATA TYPE: CFRM\n"),
)  # fmt: skip

_OF_DISPLAYS: Final = (
    Shape("IXC360I", _IXC360I),
    Shape("IXC360I with STRNAME", "STRNAME: S{n}\n STATUS: ALLOCATED\n", _IXC360I),
    Shape("STRNAME again", f"{_IXC360I}STRNAME: SQ03APPL\n  STATUS: ALLOCATED\n"),
    Shape("SPACE USAGE", " SPACE USAGE    IN-USE    TOTAL    %\n  ENTRIES: 1 2 50\n", f"{_IXC360I}STRNAME: A\n"),
    Shape("IXC359I", " STRUCTURE S{n} ALLOCATED\n", "IXC359I  10.00.00  DISPLAY XCF\n"),
    Shape("IXC361I", "CFNAME: CF{n}\n COUPLING FACILITY SPACE UTILIZATION\n", "IXC361I DISPLAY XCF\n"),
    Shape("IXC362I", "IXC362I  10.00.00  DISPLAY XCF\nCFNAME: CF01\nTOTAL SPACE: 1 M\n"),
    Shape("IXL150I", "IXL150I  10.00.00  DISPLAY CF\nCOUPLING FACILITY 003931.IBM.02\nCFLEVEL: 25\n"),
    Shape("preference list of a display", "CF{n} ", f"{_IXC360I}STRNAME: A\n PREFERENCE LIST: "),
    Shape("connections of a display", " CSQESQ03QM{n} 01 00010001 SYSA ACTIVE\n", f"{_IXC360I}STRNAME: A\n CONNECTION NAME ID\n"),
    Shape("CSQM201I", _CSQM201I),
    Shape("CSQM201I in one line", "CSQM201I "),
    Shape("QUEUE(", "QUEUE("),
    Shape("QLOCAL(", "QLOCAL("),
    Shape("QUEUE( with a quote", "QUEUE('"),
    Shape("QUEUE names", "QUEUE(Q{n})\n", _CSQM201I),
    Shape("QUEUE displayed", "QUEUE(Q{n}) TYPE(QLOCAL) QSGDISP(SHARED) CFSTRUCT(A) MAXDEPTH(1)\n", _CSQM201I),
    Shape("one QUEUE displayed again", "QUEUE(Q1) QSGDISP(SHARED) CFSTRUCT(A)\n", _CSQM201I),
    Shape("attributes of a QUEUE", "KEY{n}(1) ", "QUEUE(Q1) "),
    Shape("CFSTRUCT records", "CFSTRUCT(S{n}) CFLEVEL(5) RECOVER(YES)\n", "CSQM201I +QM01 CSQMDRTC  DISPLAY CFSTRUCT DETAILS\n"),
    Shape("CFSTATUS records", "CFSTATUS(S{n}) TYPE(SUMMARY) SIZEMAX(1)\n", "CSQM201I +QM01 CSQMDRTC  DISPLAY CFSTATUS DETAILS\n"),
    Shape("CLUSQMGR records", "CLUSQMGR(Q{n}) CLUSTER(C) CHANNEL(T{n})\n", "CSQM201I +QM01 CSQMDRTC  DISPLAY CLUSQMGR DETAILS\n"),
    Shape("CHSTATUS records", "CHSTATUS(T{n}) STATUS(RUNNING)\n", "CSQM201I +QM01 CSQMDRTC  DISPLAY CHSTATUS DETAILS\n"),
    Shape("continued value", "\n  x", "QUEUE("),
    Shape("AMQ8409I", "AMQ8409I: Display Queue details.\n   QUEUE(Q{n})   TYPE(QLOCAL)\n"),
    Shape("AMQ8409I in one line", "AMQ8409I: Display "),
    Shape("members of DISPLAY GROUP", "QM{n} 1 +QM01 ACTIVE 000 SYSA\n", "CSQ1101I +QM01 DISPLAY GROUP\n"),
    Shape("console stamps", "SYSA 2026326 10:00:00.00 STC01234 00000090  IXC360I\n"),
    Shape("console numbers", "D        {n} 00000090  text\n"),
)  # fmt: skip

_OF_MQSC: Final = (
    Shape("DEFINE QLOCAL(", "DEFINE QLOCAL("),
    Shape("DEFINE QLOCAL", "DEFINE QLOCAL(Q{n}) QSGDISP(SHARED) CFSTRUCT(A)\n"),
    Shape("one DEFINE QLOCAL again", "DEFINE QLOCAL(Q1) QSGDISP(SHARED) CFSTRUCT(A)\n"),
    Shape("DEFINE CFSTRUCT", "DEFINE CFSTRUCT(S{n}) CFLEVEL(5)\n"),
    Shape("one command over lines", " +\n", "DEFINE QLOCAL(Q1)"),
    Shape("attributes over lines", "KEY{n}(1) +\n", "DEFINE QLOCAL(Q1) +\n"),
    Shape("words over lines", "WORD +\n", "DEFINE QLOCAL(Q1) +\n"),
    Shape("quotes in MQSC", "''", "DEFINE QLOCAL(Q1) DESCR('", "')"),
    Shape("a quote not closed in MQSC", "x ", "DEFINE QLOCAL(Q1) DESCR('"),
)  # fmt: skip

_OF_EVENTS: Final = (
    Shape("PCF in hexadecimal", "00000007000000240000000100000030"),
    Shape("PCF header and zeros", "00", "0000000700000024000000010000003000000001000000000000000000000000"),
    Shape("PCF with many parameters", "0000000300000010000007D100000001", "000000070000002400000001000000300000000100000000000003E800FFFFFF"),
    Shape("hex with offsets", "00000000: 4D44 2020 0000 0001  'MD  ....'\n"),
    Shape("hex lines of z/OS", "00000000  D4C44040 00000001 |MD  ....|\n"),
    Shape("message descriptors", "****Message descriptor****\n StrucId  : 'MD  '  Version : 2\n"),
    Shape("messages of a browse", "**** Message #{n} ****\nReason : 2224\n"),
    Shape("labelled events", "Event Type : Perfm Event\nReason : Queue Depth High [2224]\n"),
    Shape("dmpmqmsg", "A VER 2\nA RPT 0\nX 00\n"),
    Shape("CSQ messages", "CSQE162E +QM01 Structure A is full\n"),
)  # fmt: skip

_OF_FORMS: Final = (
    Shape("form fields", "a&"),
    Shape("numbered form fields", "k{n}=1&"),
    Shape("form fields of structures", "/structures/{n}/name=A&"),
    Shape("form fields of queues", "/structures/0/queues/{n}/name=Q&"),
    Shape("percent escapes", "%41"),
    Shape("broken percent escapes", "a=%zz&"),
    Shape("boundaries", "--x\r\n"),
    Shape("parts of a form", '--x\r\nContent-Disposition: form-data; name="k{n}"\r\n\r\n1\r\n'),
    Shape("headers of a part", "X-H{n}: 1\r\n", "--x\r\n"),
)  # fmt: skip

SHAPES: Final = (
    *_OF_CHARACTERS, *_OF_LINES, *_OF_NUMBERS, *_OF_JSON, *_OF_YAML, *_OF_POLICY, *_OF_DISPLAYS, *_OF_MQSC, *_OF_EVENTS,
    *_OF_FORMS,
)  # fmt: skip
