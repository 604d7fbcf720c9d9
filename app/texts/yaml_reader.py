"""Read YAML 1.2 as objects: no aliases, no duplicate keys, only standard tags. A megabyte takes about half a second.

libyaml splits the text into events, at the same cost for each; this module builds the objects, with the types of the
core schema of YAML 1.2 (`yes` is text, `010` is ten). ruamel.yaml does all of this, but takes ten times as long, and
more than linear time for some texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from planner_core.bounds import DEEPEST, MOST_KEYS
from planner_core.document.problems import pointer_steps

MOST_ITEMS: Final = 100_000
"""Maximum number of items in a list. The largest plan has 512 queues in a structure; a timeline, up to 10,000 steps."""
MOST_COLLECTIONS: Final = 200_000
"""Maximum number of lists and objects in a text. The largest plan has 32,768 queues with two objects each."""
_MOST_TAG_DIRECTIVES: Final = 10
"""Maximum number of directives, because libyaml compares each directive with all before it."""
_TAG_DIRECTIVE: Final = "%TAG"
_LONGEST_NUMBER: Final = 400
_SHOWN: Final = 40
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The pure Python loader is slower; it is used only by the rare installations of PyYAML without libyaml."""
_STANDARD: Final = "tag:yaml.org,2002:"
_NO_KEY: Final = object()
_BEGINS_WORD: Final = frozenset("~nNtTfF")
_BEGINS_NUMBER: Final = frozenset("+-.0123456789")
_WORDS: Final[Mapping[str, bool | None]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_WHOLE: Final = re.compile(
    r"[-+]?(?:0b(?P<binary>[01_]+)|0o(?P<octal>[0-7_]+)|0x(?P<hex>[0-9a-fA-F_]+)|[0-9][0-9_]*)"
)
_DECIMAL: Final = re.compile(
    r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[0-9][0-9_]*[eE][-+]?[0-9]+|\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?)"
)
_ENDLESS: Final = re.compile(r"(?P<sign>[-+]?)\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class NotYaml(Exception):
    """A text that cannot be read at `line` and `column` (from 1, or 0 if unknown)."""

    def __init__(self, message: str, mark: Any = None) -> None:  # noqa: ANN401 - a mark of PyYAML, which has no types
        """Store the message and the position of the error."""
        super().__init__(message)
        self.line = mark.line + 1 if mark else 0
        self.column = mark.column + 1 if mark else 0


def read_yaml(text: str) -> object:
    """Read one YAML document.

    Raises:
        NotYaml: The text cannot be read, is nested too deeply, or has more items than any document needs.
    """
    if text.startswith(_TAG_DIRECTIVE) and text.count(f"\n{_TAG_DIRECTIVE}") > _MOST_TAG_DIRECTIVES:
        message = "there are too many %TAG directives"
        raise NotYaml(message)
    try:
        return _compose(text)
    except yaml.MarkedYAMLError as error:
        problem = str(error.problem or error.context or "it cannot be read").strip()
        raise NotYaml(problem, error.problem_mark or error.context_mark) from None
    except yaml.YAMLError as error:
        raise NotYaml(str(error).splitlines()[0]) from None


class _Place:
    """A value whose line is looked up, or one that contains such values."""

    __slots__ = ("line", "steps")

    def __init__(self) -> None:
        self.line = 0
        self.steps: dict[str, _Place] = {}


class _Around:
    """A list or an object that contains the next values, while lines are looked up."""

    __slots__ = ("is_list", "items", "key", "line", "place")

    def __init__(self, place: _Place | None, *, is_list: bool) -> None:
        self.place = place
        self.is_list = is_list
        self.items = 0
        self.key: str | None = None
        self.line = 0

    def inside(self, step: str) -> _Place | None:
        return None if self.place is None else self.place.steps.get(step)


def lines_of(text: str, pointers: Iterable[str]) -> dict[str, int]:
    """Return the lines (from 1) at which the values at these JSON pointers begin, with their keys.

    A value that does not exist, such as one that is missing, has the line of the value that would contain it, and none if
    that is the whole text. JSON is read too, because it is YAML, apart from rare cases. Behind an error in the text,
    nothing is found.
    """
    # A tree, because the pointers of all values of a hostile text could be many times as long as the text.
    root = _Place()
    paths: dict[str, list[_Place]] = {}
    for pointer in pointers:
        here = root
        paths[pointer] = [here := here.steps.setdefault(step, _Place()) for step in pointer_steps(pointer)]
    with suppress(yaml.YAMLError):
        _find_lines(text, root)
    lines = {pointer: max((each.line for each in path), default=0) for pointer, path in paths.items()}
    return {pointer: line for pointer, line in lines.items() if line}


def _find_lines(text: str, root: _Place) -> None:
    around: list[_Around] = []
    for event in yaml.parse(text, Loader=_LOADER):
        kind = type(event)
        if kind is MappingEndEvent or kind is SequenceEndEvent:
            around.pop()
            continue
        if kind not in (ScalarEvent, MappingStartEvent, SequenceStartEvent, AliasEvent):
            continue
        place: _Place | None = root
        line = event.start_mark.line + 1
        if around:
            outer = around[-1]
            if outer.is_list:
                place = outer.inside(str(outer.items))
                outer.items += 1
            elif outer.key is None:
                if kind is not ScalarEvent:  # no document has such a key
                    return
                outer.key, outer.line = event.value, line
                continue
            else:
                place, line, outer.key = outer.inside(outer.key), outer.line, None
            if place is not None and not place.line:
                place.line = line
        if kind is MappingStartEvent or kind is SequenceStartEvent:
            if len(around) >= DEEPEST:
                return
            around.append(_Around(place, is_list=kind is SequenceStartEvent))


def _compose(text: str) -> object:
    """Build the object that the events of a text describe."""
    result: object = None
    documents = 0
    collections = 0
    around: list[Any] = []
    keys: list[object] = []
    here: Any = None
    key: object = _NO_KEY
    for event in yaml.parse(text, Loader=_LOADER):
        kind = type(event)
        value: Any
        if kind is ScalarEvent:
            value = _scalar(event)
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            if len(around) >= DEEPEST:
                _refuse("lists and objects are nested too deeply", event)
            if isinstance(here, dict) and key is _NO_KEY:
                _refuse("a key must be a word", event)
            if event.tag not in (None, "!", f"{_STANDARD}map", f"{_STANDARD}seq"):
                _refuse_tag(event)
            collections += 1
            if collections > MOST_COLLECTIONS:
                _refuse(f"there are more than {MOST_COLLECTIONS} lists and objects", event)
            around.append(here)
            keys.append(key)
            here, key = ({} if kind is MappingStartEvent else []), _NO_KEY
            continue
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            value, here, key = here, around.pop(), keys.pop()
        elif kind is AliasEvent:
            # An alias can expand a small text into a huge document, and a plan needs none.
            _refuse("aliases are not allowed in a plan document", event)
        else:
            if kind is DocumentStartEvent:
                documents += 1
                if documents > 1:
                    _refuse("there is more than one document", event)
            continue
        if here is None:
            result = value
        elif isinstance(here, list):
            here.append(value)
            if len(here) > MOST_ITEMS:
                _refuse(f"the list has more than {MOST_ITEMS} items", event)
        elif key is _NO_KEY:
            if value in here:
                _refuse(f"the key {str(value)[:_SHOWN]!r} occurs twice", event)
            key = value
        else:
            here[key] = value
            key = _NO_KEY
            if len(here) > MOST_KEYS:
                _refuse(f"the object has more than {MOST_KEYS} keys", event)
    return result


def _scalar(event: Any) -> object:  # noqa: ANN401
    text: str = event.value
    if event.tag is not None:
        return _tagged(event)
    if event.style:  # a quoted or block scalar is always text
        return text
    first = text[:1]
    if first in _BEGINS_NUMBER and first:
        return _number(event)
    if not first or first in _BEGINS_WORD:
        return _WORDS.get(text, text)
    return text


def _number(event: Any) -> object:  # noqa: ANN401
    """Return the number that a plain scalar represents, or its text if it is not a number.

    In YAML, a point begins decimals and a comma is no part of a number, so `1.200` is 1.2 and `1,200` is text.
    """
    text: str = event.value
    if len(text) > _LONGEST_NUMBER:
        if set(text) <= set("+-._0123456789eE"):
            _refuse("a number is too long", event)
        return text
    if whole := _WHOLE.fullmatch(text):
        digits = text.replace("_", "")
        for name, base in (("binary", 2), ("octal", 8), ("hex", 16)):
            if whole[name] is not None:
                return _converted(partial(int, base=base), digits, event)
        return int(digits)
    if _DECIMAL.fullmatch(text):
        return float(text.replace("_", ""))
    if endless := _ENDLESS.fullmatch(text):
        return float(f"{endless['sign'] or ''}inf" if endless["sign"] is not None else "nan")
    return text


_TAGGED: Final[Mapping[str, Callable[[str], object]]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
    "null": lambda _: None,
}


def _tagged(event: Any) -> object:  # noqa: ANN401
    """Return the value of a scalar with a tag."""
    text: str = event.value
    if event.tag == "!":
        return text
    convert = _TAGGED.get(event.tag.removeprefix(_STANDARD)) if event.tag.startswith(_STANDARD) else None
    if convert is None:
        _refuse_tag(event)
    if convert is not str and len(text) > _LONGEST_NUMBER:
        _refuse("a number is too long", event)
    return _converted(convert, text, event)


def _converted(convert: Callable[[str], object], text: str, event: Any) -> object:  # noqa: ANN401
    try:
        return convert(text)
    except (ValueError, KeyError):
        _refuse(f"{text[:_SHOWN]!r} is not of the type given by its tag", event)


def _refuse_tag(event: Any) -> NoReturn:  # noqa: ANN401
    _refuse(f"the tag {event.tag[:_SHOWN]!r} is not allowed", event)


def _refuse(message: str, event: Any) -> NoReturn:  # noqa: ANN401
    raise NotYaml(message, event.start_mark)
