"""Names of objects, decoded from the character sets that queue managers use.

Names of MQ objects have the characters A-Z a-z 0-9 . / _ % (z/OS queue managers also $ # @). Letters, digits and
. / _ % have the same codes in all EBCDIC code pages, in IBM's syntactic character set (CCSID 640), so they can be
read even if Python has no table for the code page.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

CODECS: Final = {
    37: "cp037", 273: "cp273", 367: "ascii", 424: "cp424", 437: "cp437", 500: "cp500", 737: "cp737", 775: "cp775", 813: "iso8859-7",
    819: "latin-1", 850: "cp850", 852: "cp852", 855: "cp855", 857: "cp857", 858: "cp858", 860: "cp860", 861: "cp861", 862: "cp862",
    863: "cp863", 865: "cp865", 866: "cp866", 869: "cp869", 875: "cp875", 912: "iso8859-2", 915: "iso8859-5",
    916: "iso8859-8", 920: "iso8859-9", 923: "iso8859-15", 943: "cp932", 954: "euc_jp", 1026: "cp1026", 1089: "iso8859-6",
    1140: "cp1140", 1208: "utf-8", 1250: "cp1250", 1251: "cp1251", 1252: "cp1252", 1253: "cp1253", 1254: "cp1254", 1255: "cp1255",
    1256: "cp1256", 1257: "cp1257", 1258: "cp1258", 1386: "gbk", 5348: "cp1252",
}  # fmt: skip
"""CCSIDs for which Python has a table."""
EBCDIC_WITHOUT_TABLE: Final = frozenset(
    {277, 278, 280, 284, 285, 297, 838, 870, 871, 880, 905, 924, 1025, 1047, 1112, 1122, 1123, 1141, 1142, 1143,
     1144, 1145, 1146, 1147, 1148, 1149, 1153, 1154, 1155, 1156, 1157, 1158, 1160, 1164, 4971}
)  # fmt: skip
"""EBCDIC code pages for which Python has no table, such as 1047 (z/OS UNIX, Open Systems)."""
_EBCDIC: Final = "cp500"
_ASCII: Final = "latin-1"
_NAME = re.compile(r"[A-Za-z0-9./_%$#@]*")
_PAD: Final = " \0"
_ASCII_TOP: Final = 0x80
_EBCDIC_BLANK: Final = b"\x40"


class DecodedName(NamedTuple):
    """A name, and the assumption made to read it, which is empty if there was none."""

    text: str
    note: str


def decode_name(data: bytes, *, ccsid: int) -> DecodedName:
    """Decode a padded name in the given character set; 0 or less if it is unknown.

    >>> decode_name(bytes.fromhex("d4d8d7f14040"), ccsid=500)
    DecodedName(text='MQP1', note='')
    """
    codec = CODECS.get(ccsid)
    if codec:
        text = data.decode(codec, errors="replace").rstrip(_PAD)
        # A wrong CCSID shows in characters that no MQ name has.
        if _NAME.fullmatch(text):
            return DecodedName(text, "")
    looks_ebcdic = _looks_ebcdic(data)
    text = data.decode(_EBCDIC if looks_ebcdic else _ASCII).rstrip(_PAD)
    as_what = "EBCDIC" if looks_ebcdic else "ASCII"
    if codec:
        note = f"Names that do not fit their CCSID {ccsid} are read as {as_what}."
    elif ccsid in EBCDIC_WITHOUT_TABLE and looks_ebcdic:
        note = f"CCSID {ccsid} is not supported: names are read with the characters that all EBCDIC code pages share."
    elif ccsid > 0:
        note = f"CCSID {ccsid} is not supported: names are read as {as_what}."
    else:
        note = f"The CCSID is missing: names are read as {as_what}, which fits their bytes."
    return DecodedName(text, note)


def _looks_ebcdic(data: bytes) -> bool:
    """Return whether bytes look like EBCDIC: its letters and digits are above ASCII, and its blank is @ in ASCII."""
    return any(byte >= _ASCII_TOP for byte in data) or data.endswith(_EBCDIC_BLANK)
