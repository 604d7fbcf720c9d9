"""Write JSON values as YAML 1.2 in block style; thousands of queues take a fraction of a second.

It supports the values of a plan document: objects with plain keys, lists, texts, numbers and booleans. Objects in lists
that contain no objects, such as queues, take one line each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./%-]*|\d{1,15}[KMGT]", re.ASCII)
"""Matches texts that need no quotes, unless they are among the words of YAML 1.1 or 1.2 below."""
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_LONGEST_LINE = 120
_DEEPEST = 2
"""Deepest object on one line: a queue with its distribution of message sizes."""


def yaml_text(value: Mapping[str, object]) -> str:
    """Return an object as YAML text."""
    return "".join(f"{line}\n" for line in _object(value, "")) if value else "{}\n"


def _object(value: Mapping[str, object], indent: str) -> Iterator[str]:
    for key, item in value.items():
        yield from _item(f"{indent}{_key(key)}:", item, indent)


def _item(head: str, item: object, indent: str) -> Iterator[str]:
    flow = _one_line(item, len(head) + 1)
    if flow:
        yield f"{head} {flow}"
    elif isinstance(item, Mapping):
        yield head
        yield from _object(item, f"{indent}  ")
    elif isinstance(item, (list, tuple)):
        yield head
        for each in item:
            yield from _list_item(each, f"{indent}  ")


def _list_item(item: object, indent: str) -> Iterator[str]:
    flow = _one_line(item, len(indent) + 2)
    if flow:
        yield f"{indent}- {flow}"
    elif isinstance(item, Mapping):
        first, *rest = _object(item, f"{indent}  ")
        yield f"{indent}- {first[len(indent) + 2 :]}"
        yield from rest
    else:
        yield f"{indent}- {_flow(item)}"


def _one_line(item: object, used: int) -> str:
    """Return a value as one line if it is short and contains no list of objects, otherwise an empty text."""
    is_list = isinstance(item, (list, tuple))
    if _is_deeper(item, 1 if is_list else _DEEPEST):
        return ""
    # Keys alone can show that an object is too long. Each is followed by a colon, a blank and at least one character.
    if isinstance(item, Mapping) and used + sum(map(len, item)) + 3 * len(item) > _LONGEST_LINE:
        return ""
    flow = _flow(item)
    return flow if is_list or not isinstance(item, Mapping) or used + len(flow) <= _LONGEST_LINE else ""


def _is_deeper(item: object, depth: int) -> bool:
    """Return whether objects and lists in a value are nested more deeply than this."""
    # Most values are plain, and asking for their class is much faster than isinstance with an abstract class.
    if type(item) in _SCALARS:
        return False
    if isinstance(item, Mapping):
        return not depth or any(_is_deeper(each, depth - 1) for each in item.values())
    if isinstance(item, (list, tuple)):
        return not depth or any(_is_deeper(each, depth - 1) for each in item)
    return False


_SCALARS = frozenset({str, int, float, bool, type(None)})


def _flow(item: object) -> str:
    if type(item) in _SCALARS:
        return _scalar(item)
    if isinstance(item, Mapping):
        return "{" + ", ".join([f"{_key(key)}: {_flow(each)}" for key, each in item.items()]) + "}"
    if isinstance(item, (list, tuple)):
        return "[" + ", ".join(map(_flow, item)) + "]"
    return _scalar(item)


@lru_cache(maxsize=1024)
def _key(key: str) -> str:
    return _scalar(key)


def _scalar(item: object) -> str:
    if type(item) is int:
        return str(item)
    if not isinstance(item, str):
        return json.dumps(item)
    if _PLAIN.fullmatch(item) and item.lower() not in _WORDS:
        return item
    # A double-quoted JSON string is also YAML, except that YAML forbids unprintable characters.
    quoted = json.dumps(item, ensure_ascii=False)
    return quoted if quoted.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in quoted)


def _escaped(character: str) -> str:
    return f"\\U{ord(character):08X}"
