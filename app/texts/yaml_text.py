"""Write JSON values as YAML 1.2 in block style; thousands of queues take a fraction of a second.

It supports the values of a plan document: objects with plain keys, lists, texts, numbers and booleans. Objects in lists
that contain no objects, such as queues, take one line each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

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
        yield from _item(f"{indent}{_scalar(key)}:", item, indent)


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
    if _depth(item) > (1 if is_list else _DEEPEST):
        return ""
    flow = _flow(item)
    return flow if is_list or not isinstance(item, Mapping) or used + len(flow) <= _LONGEST_LINE else ""


def _depth(item: object) -> int:
    if isinstance(item, Mapping):
        return 1 + max(map(_depth, item.values()), default=0)
    if isinstance(item, (list, tuple)):
        return 1 + max(map(_depth, item), default=0)
    return 0


def _flow(item: object) -> str:
    if isinstance(item, Mapping):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(each)}" for key, each in item.items()) + "}"
    if isinstance(item, (list, tuple)):
        return "[" + ", ".join(map(_flow, item)) + "]"
    return _scalar(item)


def _scalar(item: object) -> str:
    if not isinstance(item, str):
        return json.dumps(item)
    if _PLAIN.fullmatch(item) and item.lower() not in _WORDS:
        return item
    # A double-quoted JSON string is also YAML, except that YAML forbids unprintable characters.
    quoted = json.dumps(item, ensure_ascii=False)
    return quoted if quoted.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in quoted)


def _escaped(character: str) -> str:
    return f"\\U{ord(character):08X}"
