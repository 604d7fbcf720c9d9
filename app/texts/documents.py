"""Read plan documents from files: JSON, or YAML 1.2 without aliases and duplicate keys.

This module does not import the web modules, so that the command line starts without them.
"""

from __future__ import annotations

import json
import re
from datetime import date
from importlib import resources
from pathlib import Path
from typing import NoReturn

from planner_core.document.model import PlanDocument
from planner_core.document.reading import parse_json, read_json, read_object
from planner_core.errors import DocumentInvalid, FieldProblem, InputInvalid, NotJson

LARGEST_FILE_BYTES = 64 * 2**20
EXAMPLE = "sq03.yaml"
CLUSTERED = "inventory.yaml"
"""An example of a group whose queues are destinations of a cluster."""
_LARGEST_FLOW_BYTES = 2**20
_SHOWN = 40
_DEEPEST = 60
_BRACKET = re.compile(rb"[\[\]{}]")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def example_text(name: str = EXAMPLE) -> str:
    """Return the text of an example plan, with comments."""
    return (resources.files("app") / "examples" / name).read_text(encoding="utf-8")


def read_file(path: Path) -> PlanDocument:
    """Read a plan document: JSON if the text begins with a brace, otherwise YAML.

    Raises:
        DocumentInvalid: The file cannot be read, or is not a plan document.
    """
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_FILE_BYTES + 1)
    except FileNotFoundError:
        _invalid(f"There is no file {str(path)!r}.")
    except IsADirectoryError:
        _invalid(f"{str(path)!r} is a folder, not a file.")
    except (OSError, ValueError) as error:
        _invalid(f"The file {str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}.")
    if len(text) > LARGEST_FILE_BYTES:
        _invalid(f"The file {str(path)!r} is larger than {LARGEST_FILE_BYTES} bytes.")
    return read_text(text)


def read_text(text: bytes) -> PlanDocument:
    """Read a plan document from the bytes of a file."""
    if not text.strip():
        _invalid("The document is empty.")
    if _may_be_json(plain := text.removeprefix(_BYTE_ORDER_MARK)):
        try:
            return read_json(plain)
        except NotJson as not_json:
            return read_object(_parse_flow_style(plain, not_json))
    return read_object(parse_yaml(plain))


def parse_text(text: bytes) -> object:
    """Read JSON or YAML: JSON if the text begins with a brace or a bracket, otherwise YAML.

    Raises:
        DocumentInvalid: The text is neither.
    """
    plain = text.removeprefix(_BYTE_ORDER_MARK)
    if not _may_be_json(plain):
        return parse_yaml(plain)
    try:
        return parse_json(plain)
    except NotJson as not_json:
        return _parse_flow_style(plain, not_json)


def _may_be_json(text: bytes) -> bool:
    """Return whether a text begins like JSON."""
    return text.lstrip()[:1] in (b"{", b"[")


def _parse_flow_style(text: bytes, not_json: NotJson) -> object:
    """Read YAML that begins like JSON.

    Raises:
        NotJson: It is not YAML either.
    """
    # A brace begins JSON and also YAML's flow style; a text that is neither gets the error of the JSON reader. A broken
    # JSON text of many megabytes is read only once.
    if len(text) > _LARGEST_FLOW_BYTES:
        raise not_json
    try:
        return parse_yaml(text)
    except DocumentInvalid:
        raise not_json from None


def parse_request(body: bytes, what: str) -> object:
    """Parse the JSON body of a request that is not a plan document; the error message begins with `what`.

    Raises:
        InputInvalid: The body is not JSON.
    """
    try:
        return parse_json(body)
    except DocumentInvalid as error:
        raise InputInvalid(what, error.problems) from None


def yaml_as_json(text: bytes) -> bytes:
    """Convert a YAML document to JSON text.

    Raises:
        DocumentInvalid: The text is not YAML, or contains values that JSON cannot represent, such as a date.
    """
    if not text.strip():
        _invalid("The document is empty.")
    try:
        return json.dumps(parse_yaml(text.removeprefix(_BYTE_ORDER_MARK)), default=_no_json).encode()
    except ValueError:  # Python limits the digits of integers that it converts
        _invalid("A number in the text is too long.")
    except TypeError:
        _invalid("A key in the text is neither a string nor a number.")
    except RecursionError:
        _invalid("The text is nested too deeply.")


def _no_json(value: object) -> NoReturn:
    kind = "date" if isinstance(value, date) else type(value).__name__
    _invalid(f"The text contains a {kind} ({str(value)[:_SHOWN]}): put it in quotes.")


def parse_yaml(text: bytes) -> object:
    """Read YAML 1.2 text.

    Raises:
        DocumentInvalid: The text cannot be read; the message contains the line and the column.
    """
    from app.texts.yaml_reader import NotYaml, read_yaml

    try:
        return read_yaml(text.decode("utf-8"))
    except UnicodeDecodeError as error:
        _invalid(f"The text is not UTF-8: byte {error.start} cannot be read.")
    except NotYaml as error:
        where = f" (line {error.line}, column {error.column})" if error.line else ""
        _invalid(f"The text is not YAML: {error}{where}.")


def _invalid(message: str) -> NoReturn:
    raise DocumentInvalid((FieldProblem("", message),)) from None
