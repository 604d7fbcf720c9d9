"""Displays and browses as MQ and its samples print them, built from a few values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

Framing = Literal["runmqsc", "console", "csqutil", "bare"]
FRAMINGS: Final[tuple[Framing, ...]] = ("runmqsc", "console", "csqutil", "bare")
_AMQ = {
    "CLUSQMGR": "AMQ8441I: Display Cluster Queue Manager details.",
    "QUEUE": "AMQ8409I: Display Queue details.",
    "CHSTATUS": "AMQ8417I: Display Channel Status details.",
    "QMGR": "AMQ8408I: Display Queue Manager details.",
}
_COMMANDS = {
    "CLUSQMGR": "DISPLAY CLUSQMGR(*) ALL",
    "QUEUE": "DISPLAY QCLUSTER(*) ALL",
    "CHSTATUS": "DISPLAY CHSTATUS(*) ALL",
    "QMGR": "DISPLAY QMGR ALL",
}
_FIRST = {"QMGR": "QMNAME", "CLUSQMGR": "CLUSQMGR", "QUEUE": "QUEUE", "CHSTATUS": "CHSTATUS"}
_CSQM = {"QUEUE": "CSQM406I", "QMGR": "CSQM409I"}
Row = Mapping[str, object]


def clusqmgr(name: str, **values: object) -> Row:
    given = {"CLUSQMGR": name, "CHANNEL": f"TO.{name}", "CLUSTER": "C", "QMID": f"{name}_2026-01-02_03.04.05"}
    plain = {"DEFTYPE": "CLUSSDRA", "CLWLRANK": 0, "CLWLPRTY": 0, "CLWLWGHT": 50, "NETPRTY": 0}
    retries = {"SHORTRTY": 10, "SHORTTMR": 60, "LONGRTY": 999999999, "LONGTMR": 1200}
    shown = {"CONNAME": f"{name.lower()}.example(1414)", "SUSPEND": "NO", "STATUS": "RUNNING"}
    return given | plain | retries | shown | values


def qcluster(queue: str, name: str, **values: object) -> Row:
    given = {"QUEUE": queue, "TYPE": "QCLUSTER", "CLUSQMGR": name, "QMID": f"{name}_2026-01-02_03.04.05"}
    shown = {"CLUSTER": "C", "CLUSQT": "QLOCAL", "CLWLRANK": 0, "CLWLPRTY": 0, "DEFBIND": "NOTFIXED"}
    return given | shown | {"PUT": "ENABLED"} | values


def chstatus(name: str, status: str, **values: object) -> Row:
    given = {
        "CHSTATUS": f"TO.{name}",
        "CHLTYPE": "CLUSSDR",
        "CONNAME": "9.146.163.190(1416)",
        "CURRENT": None,
    }
    return given | {"RQMNAME": name, "STATUS": status, "XMITQ": "SYSTEM.CLUSTER.TRANSMIT.QUEUE"} | values


def qmgr(name: str, **values: object) -> Row:
    return {"QMNAME": name, "CLWLUSEQ": "LOCAL", "CLWLMRUC": 999999999} | values


def display(*rows: Row, framing: Framing = "runmqsc", queue_manager: str = "S") -> str:
    """Return the rows as one display shows them, one kind after the other."""
    made = ""
    for kind, first in _FIRST.items():
        of_kind = [row for row in rows if next(iter(row)) == first]
        if of_kind:
            made += _answer(kind, of_kind, framing, queue_manager)
    return made


def _answer(kind: str, rows: Sequence[Row], framing: Framing, manager: str) -> str:
    if framing == "runmqsc":
        text = f"Starting MQSC for queue manager {manager}.\n\n\n     1 : {_COMMANDS[kind]}\n"
        for row in rows:
            keys = [_shown("CHANNEL" if key == "CHSTATUS" else key, value) for key, value in row.items()]
            pairs = [keys[at : at + 2] for at in range(0, len(keys), 2)]
            lines = "\n".join("   " + " ".join(f"{key:<39}" for key in pair).rstrip() for pair in pairs)
            text += f"{_AMQ[kind]}\n{lines}\n"
        return text + "One MQSC command read.\nNo commands have a syntax error.\n"
    if framing == "bare":
        return "".join("  ".join(_shown(key, value) for key, value in row.items()) + "\n" for row in rows)
    if framing == "csqutil" and kind in _CSQM:
        text = f"CSQN205I   COUNT=       {len(rows) + 2}, RETURN=00000000, REASON=00000000\n"
        for row in rows:
            text += f"{_CSQM[kind]} !{manager} {' '.join(_shown(key, value) for key, value in row.items())}\n"
        return text + f"CSQ9022I !{manager} CSQMDMSG ' DISPLAY {kind}' NORMAL COMPLETION\n"
    text = ""
    for row in rows:
        stamp = "10.21.33 STC01234  " if framing == "console" else ""
        text += f"{stamp}CSQM201I !{manager} CSQMDRTC  DISPLAY {kind} DETAILS\n"
        # DISPLAY QMGR and QUEUE name their rows as ever, whatever the heading calls them.
        text += "".join(f"{stamp} {_shown(key, value)}\n" for key, value in row.items())
        text += f"{stamp}  END {kind} DETAILS\n"
    return text + f"CSQ9022I !{manager} CSQMDRTC ' DISPLAY {kind}' NORMAL COMPLETION\n"


def _shown(key: str, value: object) -> str:
    return key if value is None else f"{key}({value})"


ELIGIBLE = "0334393600000000000000000000000000000000000000000000000000000006"
PINNED = "0" * 64


def dump(*messages: Mapping[str, str], ebcdic: bool = False) -> str:
    """Return the output of amqsbcg for messages with the keys channel, queue, queue_manager, token, put and original (YYYYMMDDHHMMSSTH)."""
    codec = "cp500" if ebcdic else "ascii"
    text = "\nAMQSBCG0 - starts here\n**********************\n\n MQOPEN - 'SYSTEM.CLUSTER.TRANSMIT.QUEUE'\n\n"
    for number, given in enumerate(messages, start=1):
        put = given.get("put", "2026112112032000")
        body = header(given, original=given.get("original", put), codec=codec) + "Hello".encode(codec)
        token, correl = (
            given.get("token", ELIGIBLE),
            given["channel"].encode(codec).ljust(24, b" " if not ebcdic else b"\x40"),
        )
        text += f"""
 MQGET of message number {number}, CompCode:0 Reason:0
****Message descriptor****

  StrucId  : 'MD  '  Version : 2
  Report   : 0  MsgType : 8
  Expiry   : -1  Feedback : 0
  Encoding : 273  CodedCharSetId : {500 if ebcdic else 819}
  Format : 'MQXMIT  '
  Priority : 0  Persistence : 1
  MsgId : X'{given.get("id", f"414D5120{number:040X}")}'
  CorrelId : X'{correl.hex().upper()}'
  BackoutCount : 0
  ReplyToQ       : '{"":48}'
  ReplyToQMgr    : '{"LONDON":48}'
  ** Identity Context
  UserIdentifier : 'mqm         '
  AccountingToken :
   X'{token}'
  ApplIdentityData : '{"":32}'
  ** Origin Context
  PutApplType    : '7'
  PutApplName    : '{"LONDON":28}'
  PutDate  : '{put[:8]}'    PutTime  : '{put[8:]}'
  ApplOriginData : '    '

  GroupId : X'{"0" * 48}'
  MsgSeqNumber   : '1'
  Offset         : '0'
  MsgFlags       : '0'
  OriginalLength : '-1'

****   Message      ****

 length - {len(body)} of {len(body)} bytes

{_lines(body)}


"""
    return text + " No more messages \n MQCLOSE\n MQDISC\n"


def header(given: Mapping[str, str], *, original: str, codec: str) -> bytes:
    """Return a transmission queue header with the application's descriptor in it."""
    blank = " ".encode(codec)

    def words(text: str, length: int) -> bytes:
        return text.encode(codec).ljust(length, blank)

    whole = words("XQH ", 4) + bytes([0, 0, 0, 1]) + words(given.get("queue", ""), 48)
    whole += words(given.get("queue_manager", ""), 48)
    descriptor = words("MD  ", 4) + bytes([0, 0, 0, 1]) + bytes(24) + words("MQSTR", 8) + bytes(8) + bytes(48)
    descriptor += (
        bytes(4) + words("", 96) + words("app", 12) + bytes(32) + words("", 32) + bytes(4) + words("app", 28)
    )
    descriptor += words(original, 16) + words("", 4)
    assert len(descriptor) == 324
    return whole + descriptor


def _lines(body: bytes) -> str:
    lines = []
    for at in range(0, len(body), 16):
        part = body[at : at + 16]
        digits = part.hex().upper()
        groups = " ".join(digits[place : place + 4] for place in range(0, len(digits), 4))
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{at:08X}:  {groups:<40} '{shown}'")
    return "\n".join(lines)
