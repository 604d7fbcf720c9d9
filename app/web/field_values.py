"""Convert texts of form fields to values of documents and questions and back, with one reader per kind of field.

A text that cannot be read is left unchanged: the core reports the error, and the form shows the text again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

from app.texts.documents import parse_text
from app.texts.yaml_text import yaml_text
from planner_core.document.types import bytes_of
from planner_core.errors import DocumentInvalid, SizeSyntax
from planner_core.typed_numbers import ambiguity, decimal, size_text, unambiguous, whole

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
    "length",
    "ratio",
    "curve",
    "yaml",
    "other_structures",
    "perfmev",
    "rates",
    "switch",
    "yes_no",
    "rules",
]
CLUSTERS, OTHER_STRUCTURES = "clusters", "other_structures"
YAML_KEYS = (CLUSTERS, OTHER_STRUCTURES)
"""Keys of lists that are entered as one text."""
# ASCII, because \d also matches the digits of other scripts.
_RATIO = re.compile(r"(\d{1,9}) *[:/ ] *(\d{1,9})", re.ASCII)
_RULE = re.compile(r"(\d{1,3})\s*%?\s*(?:over|:)\s*(\S+)", re.ASCII | re.IGNORECASE)
_BLANKS = re.compile(r"[\s,;]+")


def digits_in(text: str, *, most: int = 9) -> int | None:
    """Return the number in a text from an address, or None if it is not a number with at most this many digits."""
    # `isdigit` alone accepts superscripts, which `int` refuses.
    return int(text) if text.isascii() and text.isdigit() and len(text) <= most else None


def value_of(kind: Kind, text: str) -> object:
    """Return the value of a text that is not empty, or the text itself if it cannot be read."""
    return _READERS[kind](text.strip())


def text_of(kind: Kind, value: object) -> str:
    """Return the text of a JSON value."""
    if value is None:
        return ""
    if kind == "switch":  # SHARE is the default of MQ, so an empty field means SHARE
        return "no" if value is False else ""
    if isinstance(value, bool):
        return "yes" if value else "no" if kind == "yes_no" else ""
    # Most values of the hundreds of thousands in a large plan.
    if isinstance(value, (int, str)):
        return str(value)
    if kind == "bytes" and isinstance(value, Mapping):
        return "/".join(unambiguous(value[part]) for part in ("mean", "p95", "max"))
    if kind == "curve" and isinstance(value, Mapping):
        return str(value["fitted"])
    if kind == "perfmev" and isinstance(value, Mapping):
        return " ".join(f"{name}:{switch}" for name, switch in value.items())
    if kind == "rates" and isinstance(value, Mapping):
        return " ".join(f"{name}:{_both(rates)}" for name, rates in value.items())
    if kind == "rules" and isinstance(value, list):
        return ", ".join(f"{rule['usage_over']} % over {rule['size_over']}" for rule in value) or "none"
    if kind == "yaml":
        return yaml_text({CLUSTERS: value}) if value else ""
    if kind == "other_structures":
        return yaml_text({OTHER_STRUCTURES: value}) if value else ""
    if kind == "decimal":
        return unambiguous(value)
    if isinstance(value, list):
        return (":" if kind == "ratio" else " ").join(str(item) for item in value)
    return unambiguous(value)


def _both(rates: Mapping[str, object]) -> str:
    """Return puts and gets of one queue manager in the format `30/12`."""
    return "/".join(unambiguous(rates.get(key, 0)) for key in ("put_rate_per_s", "get_rate_per_s"))


def _whole(text: str) -> object:
    number = whole(text)
    return text if number is None else number


def _decimal(text: str) -> object:
    number = decimal(text)
    return text if number is None else number


def _size(text: str) -> object:
    # The core reads units and reports errors; the form only removes separators.
    return size_text(text)


def _names(text: str) -> object:
    return [name.upper() for name in _BLANKS.split(text) if name]


def _managers(text: str) -> object:
    number = _whole(text)
    if isinstance(number, int):
        return number
    # The core reports that the number may have a separator; as a name, it would have the error of names.
    return text if ambiguity(text, is_whole=True) else _names(text)


def _bytes(text: str) -> object:
    # The form only removes separators: the core reads one size or three, with their units.
    parts = [part.strip() for part in text.split("/", maxsplit=3)]
    if len(parts) == 1:
        return size_text(text)
    # The core refuses other numbers of sizes; a text of a million slashes would take seconds here.
    if len(parts) != 3:  # noqa: PLR2004 - mean, p95 and max
        return text
    # The first of three is a mean, which may have decimals: `1,024` may be either number.
    mean = parts[0] if ambiguity(parts[0]) else size_text(parts[0])
    return "/".join((mean, *map(size_text, parts[1:])))


def _length(text: str) -> object:
    number = _whole(text)
    if isinstance(number, int):
        return number
    try:
        # This key of the document is a number without a unit.
        return bytes_of(size_text(text))
    except SizeSyntax:
        return text


def _ratio(text: str) -> object:
    # The patterns take quadratic time for a long run of blanks.
    found = _RATIO.fullmatch(" ".join(text.split()))
    return [int(found[1]), int(found[2])] if found else text


def _switch(text: str) -> object:
    return {"yes": True, "no": False}.get(text.lower(), text)


def _curve(text: str) -> object:
    number = _whole(text)
    return {"fitted": number} if isinstance(number, int) else text.lower()


def _yaml(text: str) -> object:
    try:
        found = parse_text(text.encode())
    except DocumentInvalid:
        return text
    # The list may be preceded by its key, as in a plan document.
    for key in YAML_KEYS:
        if isinstance(found, dict) and set(found) == {key}:
            return found[key]
    return found


def _perfmev(text: str) -> object:
    plain = text.upper()
    if ":" not in plain and "=" not in plain:
        return plain
    pairs = [re.split(r"[:=]", part, maxsplit=1) for part in _BLANKS.split(plain) if part]
    if any(len(pair) == 1 for pair in pairs) or len({pair[0] for pair in pairs}) < len(pairs):
        return text
    return dict(pairs)


def rates_of(text: str) -> object:
    """Return puts and gets by queue manager from `QM01:30/12 QM02:10/0`, or the text itself if it cannot be read."""
    found: dict[str, dict[str, object]] = {}
    for part in filter(None, _BLANKS.split(text.upper())):
        name, colon, both = part.partition(":")
        puts, slash, gets = both.partition("/")
        if not colon or not slash or name in found:
            return text
        found[name] = {"put_rate_per_s": _decimal(puts), "get_rate_per_s": _decimal(gets)}
    return found


def _rules(text: str) -> object:
    """Read offload rules, `70 % over 32K, 80 % over 4K`, or `none` for an empty list."""
    if text.lower() == "none":
        return []
    rules = [_RULE.fullmatch(" ".join(each.split())) for each in re.split(r"[,;]", text) if each.strip()]
    found = [{"usage_over": int(each[1]), "size_over": each[2]} for each in rules if each]
    return found if len(found) == len(rules) else text


_READERS: Mapping[Kind, Callable[[str], object]] = {
    "name": str.upper,
    "text": str,
    "whole": _whole,
    "decimal": _decimal,
    "size": _size,
    "yes": lambda text: text == "yes",
    "choice": str,
    "names": _names,
    "managers": _managers,
    "bytes": _bytes,
    "length": _length,
    "ratio": _ratio,
    "curve": _curve,
    "yaml": _yaml,
    "other_structures": _yaml,
    "perfmev": _perfmev,
    "rates": rates_of,
    "switch": _switch,
    "yes_no": _switch,
    "rules": _rules,
}
