"""Names in z/OS and MQ: syntax, padding, and notation in MQSC.

Sources: structure names and their padding, IBM MQ "Set up the coupling facility" (task 10) and
DEFINE CFSTRUCT; queue names, IBM MQ "Rules for naming IBM MQ objects"; coupling facility,
structure and policy names, z/OS "CFRM parameters for administrative data utility".
"""

from __future__ import annotations

import re
from typing import Final, Literal

from planner_core.errors import NameSyntax

ADMIN_STRUCTURE: Final = "CSQ_ADMIN"
SYSTEM_STRUCTURE: Final = "CSQSYSAPPL"
OWN_STRUCTURES: Final = (ADMIN_STRUCTURE, SYSTEM_STRUCTURE)
"""Structures of every queue-sharing group, which MQ uses itself."""
Role = Literal["admin", "application", "system"]
"""The role of a structure in its group: CSQ_ADMIN, an application structure, CSQSYSAPPL."""
PlacedRole = Role | Literal["other"]
"""The role of a structure in a coupling facility: `other` is not of the group."""
_QSG_LENGTH: Final = 4
_PAD: Final = "@"
_SHOWN_CHARACTERS: Final = 60

_QSG = re.compile(r"[A-Z][A-Z0-9$#@]{0,3}")
QUEUE_MANAGER_PATTERN: Final = r"[A-Z$#@][A-Z0-9$#@]{0,3}"
_QUEUE_MANAGER = re.compile(QUEUE_MANAGER_PATTERN)
SYSTEM_PATTERN: Final = r"[A-Z0-9$#@]{1,4}"
"""A system's SMF identifier (SID): 1 to 4 characters."""
_SYSTEM = re.compile(SYSTEM_PATTERN)
_CFSTRUCT = re.compile(r"[A-Z][A-Z0-9]{0,11}")
CF_PATTERN: Final = r"[A-Z][A-Z0-9$#@_]{0,7}"
_CF = re.compile(CF_PATTERN)
STRUCTURE_PATTERN: Final = r"[A-Z][A-Z0-9$#@_]{0,15}"
_STRUCTURE = re.compile(STRUCTURE_PATTERN)
_DB2_GROUP = re.compile(r"[A-Z][A-Z0-9$#@]{0,7}")
POLICY_PATTERN: Final = r"[A-Z][A-Z0-9$#@_]{0,7}"
POLICY_RULE: Final = "a CFRM policy name has 1 to 8 characters A-Z 0-9 $ # @ _, starting with a letter"
_POLICY = re.compile(POLICY_PATTERN)
QUEUE_PATTERN: Final = r"[A-Za-z0-9./_%]{1,48}"
_QUEUE = re.compile(QUEUE_PATTERN)
_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_LONGEST_REASON: Final = 500
_LABEL = re.compile(r"[A-Za-z0-9_.-]{1,32}")
_DSGROUP = re.compile(r"[A-Z0-9$#@.*-]{1,44}")
_QUALIFIER = re.compile(r"[A-Z$#@][A-Z0-9$#@-]{0,7}")
_MQSC_PLAIN = re.compile(r"[A-Z0-9._]+")


def _shown(value: str) -> str:
    return ascii(value if len(value) <= _SHOWN_CHARACTERS else f"{value[:_SHOWN_CHARACTERS]}...")


def _check(pattern: re.Pattern[str], value: str, rule: str) -> str:
    if pattern.fullmatch(value):
        return value
    hint = f" Write it in upper case: {value.upper()}." if pattern.fullmatch(value.upper()) else ""
    msg = f"{_shown(value)} is not allowed here: {rule}.{hint}"
    raise NameSyntax(msg)


def qsg(value: str) -> str:
    """Check a queue-sharing group name: 1 to 4 characters."""
    return _check(
        _QSG, value, "a queue-sharing group name has 1 to 4 characters A-Z 0-9 $ # @, starting with a letter"
    )


def queue_manager(value: str) -> str:
    """Check a queue manager name on z/OS: 1 to 4 characters."""
    return _check(
        _QUEUE_MANAGER,
        value,
        "a z/OS queue manager name has 1 to 4 characters A-Z 0-9 $ # @, not starting with a digit",
    )


def system(value: str) -> str:
    """Check a system's SMF identifier: 1 to 4 characters."""
    return _check(_SYSTEM, value, "a system has an SMF identifier of 1 to 4 characters A-Z 0-9 $ # @")


def cfstruct(value: str) -> str:
    """Check a CFSTRUCT name: 1 to 12 alphanumeric characters, starting with a letter, without the group's name."""
    # Checked before the syntax: users need to know why these two names are refused, not which characters are allowed.
    if value == ADMIN_STRUCTURE:
        msg = "CSQ_ADMIN is always generated and holds no user data: leave it out of the structures."
        raise NameSyntax(msg)
    if value == SYSTEM_STRUCTURE:
        msg = "CSQSYSAPPL is generated from the key 'system': leave it out of the structures."
        raise NameSyntax(msg)
    rule = "a CFSTRUCT name has 1 to 12 characters A-Z 0-9, starting with a letter, without the name of the group"
    return _check(_CFSTRUCT, value, rule)


def coupling_facility(value: str) -> str:
    """Check the CFRM name of a coupling facility: 1 to 8 characters."""
    return _check(
        _CF, value, "a coupling facility name has 1 to 8 characters A-Z 0-9 $ # @ _, starting with a letter"
    )


def structure(value: str) -> str:
    """Check the CFRM name of a structure: 1 to 16 characters."""
    return _check(
        _STRUCTURE,
        value,
        "a CFRM structure name has 1 to 16 characters A-Z 0-9 $ # @ _, starting with a letter",
    )


def db2_group(value: str) -> str:
    """Check the name of a Db2 data-sharing group: 1 to 8 characters."""
    return _check(
        _DB2_GROUP,
        value,
        "a Db2 data-sharing group name has 1 to 8 characters A-Z 0-9 $ # @, starting with a letter",
    )


def policy(value: str) -> str:
    """Check a CFRM policy name: 1 to 8 characters."""
    return _check(_POLICY, value, POLICY_RULE)


def is_policy(value: str) -> bool:
    """Return whether a text is a CFRM policy name."""
    return bool(_POLICY.fullmatch(value))


def label(value: str) -> str:
    """Check a label for queues that need isolation: 1 to 32 characters."""
    return _check(_LABEL, value, "a label has 1 to 32 characters A-Z a-z 0-9 . _ -")


def queue(value: str) -> str:
    """Check a queue name: 1 to 48 characters, case-sensitive."""
    return _check(_QUEUE, value, "a queue name has 1 to 48 characters A-Z a-z 0-9 . / _ %")


def finding_code(value: str) -> str:
    """Check the code of a finding; codes from other versions are accepted too."""
    # A stored document must stay readable when a release drops a code.
    return _check(_CODE, value, "a finding's code has 1 to 64 characters A-Z 0-9 _")


def reason(value: str) -> str:
    """Check a sentence of free text: 1 to 500 printable characters on one line."""
    text = value.strip()
    if not 1 <= len(text) <= _LONGEST_REASON or not text.isprintable():
        msg = f"{_shown(value)} is not allowed here: a reason has 1 to {_LONGEST_REASON} printable characters on one line."
        raise NameSyntax(msg)
    return text


def finding_message(value: str) -> str:
    """Check the message of a finding: printable characters on one line."""
    text = value.strip()
    if not text or not text.isprintable():
        msg = f"{_shown(value)} is not allowed here: a finding's message is one line of printable characters."
        raise NameSyntax(msg)
    return text


def dsgroup(value: str) -> str:
    """Check a generic SMDS name: a data set name of up to 44 characters with exactly one asterisk."""
    rule = (
        "DSGROUP is a data set name of up to 44 characters with exactly one asterisk, "
        "which stands for the queue manager's name, such as MQ.SMDS.*.APP1"
    )
    _check(_DSGROUP, value, rule)
    # MQ replaces the asterisk with the name of the queue manager, which has up to 4 characters.
    longest = value.replace("*", "Q" * _QSG_LENGTH)
    qualifiers = longest.split(".")
    if value.count("*") != 1 or not all(_QUALIFIER.fullmatch(q) for q in qualifiers):
        msg = f"{_shown(value)} is not allowed here: {rule}; each qualifier has 1 to 8 characters."
        raise NameSyntax(msg)
    return value


def cfrm_structure_name(*, qsg_name: str, cfstruct_name: str) -> str:
    """Return the name in the CFRM policy: the group's name padded to four with @, then the CFSTRUCT name.

    >>> cfrm_structure_name(qsg_name="MQ", cfstruct_name="APP")
    'MQ@@APP'
    """
    return qsg_name.ljust(_QSG_LENGTH, _PAD) + cfstruct_name


def is_structure_of(cfrm_name: str, *, qsg_name: str) -> bool:
    """Return whether a name in the CFRM policy can be that of a structure of the group.

    A Db2 group or another product may have a name that begins with that of the group; MQ's have no `_`, except CSQ_ADMIN.

    >>> [is_structure_of(name, qsg_name="DSND") for name in ("DSNDAPP1", "DSNDCSQ_ADMIN", "DSNDB0A_LOCK1", "SQ03APP1")]
    [True, True, False, False]
    """
    prefix = cfrm_structure_name(qsg_name=qsg_name, cfstruct_name="")
    rest = cfrm_name.removeprefix(prefix)
    return cfrm_name.startswith(prefix) and (rest in OWN_STRUCTURES or _CFSTRUCT.fullmatch(rest) is not None)


def is_admin_structure(cfrm_name: str) -> bool:
    """Return whether a name in the CFRM policy is the name of an administrative structure.

    >>> is_admin_structure("MQ@@CSQ_ADMIN"), is_admin_structure("MQ@@APP")
    (True, False)
    """
    return cfrm_name[_QSG_LENGTH:] == ADMIN_STRUCTURE


def mqsc_value(value: str) -> str:
    """Return a name for MQSC, in quotes unless MQSC reads it unchanged without them."""
    # MQSC converts unquoted text to upper case. No name has quotes inside, but a text that is quoted must not end early.
    return value if _MQSC_PLAIN.fullmatch(value) else "'" + value.replace("'", "''") + "'"


def mqsc_attribute(keyword: str, value: object) -> str:
    """Return an attribute for MQSC, its value in quotes unless MQSC reads it unchanged without them.

    >>> mqsc_attribute("DSBUFS", 100), mqsc_attribute("DESCR", "Payments of EU")
    ('DSBUFS(100)', "DESCR('Payments of EU')")
    """
    # A plan can have 32,000 queues with a dozen attributes, most of which are numbers.
    if type(value) is int:
        return f"{keyword}({value})"
    # Numbers and MQSC keywords need no quotes and get none, so no list of the attributes with text can go stale.
    return f"{keyword}({mqsc_value(str(value))})"
