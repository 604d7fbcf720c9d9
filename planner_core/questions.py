"""Questions of REST, the command line and forms: each parameter is declared once, as a field of a model.

A field's annotation defines how its text is read, its bounds, and its schema in OpenAPI; REST and the command line show
its description. Callers in the core can pass values instead of texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, ClassVar, Final, NoReturn, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue, SkipJsonSchema
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from planner_core.document.problems import did_you_mean
from planner_core.errors import FieldProblem, InputInvalid, PlannerError
from planner_core.sizing.offload import Rule, parse_rule
from planner_core.typed_numbers import ambiguity, decimal_text, separator_problem, size_text, whole_text
from planner_core.units import parse_size

Absent = SkipJsonSchema[None]
"""The type of a parameter that may be missing; it is never null."""
_MOST_DIGITS: Final = 15
_MOST_UNKNOWN: Final = 50
_LONGEST_NAME: Final = 40
_MOST_RULES: Final = 3
_WHOLE: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_SIZE: Final = re.compile(r"[0-9]{1,9}[KMGT]", re.ASCII)
_RULE_SIZE: Final = re.compile(r"([0-9]|[1-5][0-9]|6[0-3])K", re.ASCII)
_RULE: Final = re.compile(r"(100|[1-9]?[0-9]):([0-9]|[1-5][0-9]|6[0-4])K", re.ASCII)
_FLAGS: Final = {"true": True, "1": True, "false": False, "0": False}
_LARGEST_SIZE: Final = parse_size("16T")


class Question(BaseModel):
    """The parameters of one question."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, arbitrary_types_allowed=True
    )
    what: ClassVar[str] = "The question"
    """The beginning of the error messages about this question."""

    @classmethod
    def read(cls, texts: Mapping[str, Sequence[str]], *, is_typed: bool = False) -> Self:
        """Return the question with these texts as parameters.

        Args:
            texts: All texts of each parameter, by name.
            is_typed: Whether a person typed the texts, so that ambiguous numbers are refused.

        Raises:
            InputInvalid: A parameter is invalid; the error lists all invalid parameters.
        """
        found, errors = cls.check(texts, is_typed=is_typed)
        if found is None:
            raise InputInvalid(cls.what, tuple(FieldProblem(*each) for each in errors.items()))
        return found

    @classmethod
    def check(
        cls, texts: Mapping[str, Sequence[str]], *, is_typed: bool = False
    ) -> tuple[Self | None, dict[str, str]]:
        """Return the question, or the errors by parameter; the arguments are those of `read`."""
        # pydantic would take the last of several texts; a user who gives two has to decide.
        lists = {name for name, each in parameters(cls).items() if each.is_list}
        errors = {
            name: "is specified twice"
            for name, found in texts.items()
            if len(found) > 1 and name not in lists
        }
        given = {
            name: list(found) if name in lists else found[0]
            for name, found in texts.items()
            if found and name not in errors
        }
        # Programs that call the REST API write a point before decimals; people write what is usual in their country.
        if is_typed:
            errors |= _plain_numbers(cls, given)
        try:
            question = cls.model_validate(given)
        except ValidationError as error:
            return None, {**messages(cls, error.errors(include_url=False)), **errors}
        return (None, errors) if errors else (question, {})


def _plain_numbers(model: type[Question], given: dict[str, str | list[str]]) -> dict[str, str]:
    """Replace typed numbers by their digits; return the errors of those that cannot be read."""
    errors: dict[str, str] = {}
    readers = {
        info.alias or field: each
        for field, info in model.model_fields.items()
        for each in info.metadata
        if isinstance(each, ParameterReader)
    }
    for name in [each for each in given if each in readers]:
        texts = given[name]
        try:
            given[name] = (
                [readers[name]._plain(text) for text in texts]
                if isinstance(texts, list)
                else readers[name]._plain(texts)
            )
        except ValueError as error:
            errors[name] = str(error)
            # Its reader would report a second error.
            del given[name]
    return errors


def messages(model: type[Question], errors: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the errors of pydantic by parameter, as sentences without their subject, which is the parameter."""
    known = parameters(model)
    found: dict[str, str] = {}
    unknown = 0
    for error in errors:
        kind, name = error["type"], str(error["loc"][-1])
        if kind == "extra_forbidden":
            unknown += 1
            if unknown <= _MOST_UNKNOWN:
                found[name[:_LONGEST_NAME]] = (
                    f"is not a parameter of this question{did_you_mean(name, known)}"
                )
        elif kind == "missing":
            found[name] = "is required"
        elif kind == "literal_error":
            found[name] = f"must be {' or '.join(known[name].choices)}"
        else:
            found[name] = str(error["msg"])
    return found


# ---- how parameters are read --------------------------------------------------------------------------------


class ParameterReader:
    """The annotation of a parameter: it reads its text, and accepts any other value unchanged."""

    longest: ClassVar[int] = 30
    """The maximum number of characters."""

    def _read(self, text: str) -> object:
        """Return the value of a parameter given as text.

        Raises:
            ValueError: The text is invalid. The message is a sentence without its subject, which is the parameter.
        """
        raise NotImplementedError

    def _plain(self, text: str) -> str:
        """Return a typed text without the thousands separators of its number.

        Raises:
            ValueError: The text is no number, or may be two; the message is as for `_read`.
        """
        return text

    def _schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the parameter."""
        raise NotImplementedError

    def _value(self, given: object) -> object:
        if not isinstance(given, str):
            return given
        plain = given.strip()
        try:
            if len(plain) > self.longest:
                _refuse(f"must not have more than {self.longest} characters")
            return self._read(plain)
        except (ValueError, PlannerError) as error:
            _refuse(str(error))

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        del source, handler
        return core_schema.no_info_plain_validator_function(self._value)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        del schema, handler
        return self._schema()


def _refuse(message: str) -> NoReturn:
    kind = "parameter"
    raise PydanticCustomError(kind, "{message}", {"message": message})


@dataclass(frozen=True, slots=True)
class Number(ParameterReader):
    """A number within bounds, read exactly; a point begins decimals, as in JSON, unless the text was typed."""

    lowest: int = 0
    highest: int = 10**12

    def _value(self, given: object) -> object:
        # `slots=True` replaces the class, and `super()` without arguments would still refer to the old one.
        return Decimal(given) if isinstance(given, int) else super(Number, self)._value(given)

    def _plain(self, text: str) -> str:
        found = decimal_text(text)
        if found is None and len(text) <= self.longest:
            raise ValueError(separator_problem(text) or "must be a number")
        return text if found is None else found

    def _read(self, text: str) -> Decimal:
        try:
            # Decimal also reads 1_000 and the digits of other scripts, which no schema of a number allows.
            value = Decimal(text if text.isascii() and "_" not in text else "none")
        except InvalidOperation:
            _refuse("must be a number")
        if not value.is_finite() or not self.lowest <= value <= self.highest:
            _refuse(f"must be between {self.lowest} and {self.highest}")
        if len(value.normalize().as_tuple().digits) > _MOST_DIGITS or (
            value and value.adjusted() < -_MOST_DIGITS
        ):
            _refuse(f"must not have more than {_MOST_DIGITS} digits")
        return value

    def _schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": self.lowest, "maximum": self.highest}


@dataclass(frozen=True, slots=True)
class Whole(ParameterReader):
    """A whole number within bounds."""

    lowest: int = 0
    highest: int = 10**12

    def _plain(self, text: str) -> str:
        if problem := ambiguity(text, is_whole=True) if whole_text(text) is None else "":
            raise ValueError(problem)
        return whole_text(text) or text

    def _read(self, text: str) -> int:
        if not _WHOLE.fullmatch(text):
            _refuse("must be a whole number")
        if not self.lowest <= int(text) <= self.highest:
            _refuse(f"must be between {self.lowest} and {self.highest}")
        return int(text)

    def _schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.lowest, "maximum": self.highest}


@dataclass(frozen=True, slots=True)
class Size(ParameterReader):
    """A size such as 512M [bytes]."""

    def _plain(self, text: str) -> str:
        if problem := ambiguity(text):
            raise ValueError(problem)
        return size_text(text)

    def _read(self, text: str) -> int:
        plain = text.upper()
        if not _SIZE.fullmatch(plain) or not 0 < parse_size(plain) <= _LARGEST_SIZE:
            _refuse("must be a size of at most 16T with the unit K, M, G or T, such as 512M")
        return parse_size(plain)

    def _schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^({_SIZE.pattern})$"}


@dataclass(frozen=True, slots=True)
class RuleSize(ParameterReader):
    """A size for OFFLDnSZ, such as 32K [bytes]."""

    def _read(self, text: str) -> int:
        plain = text.upper()
        if not _RULE_SIZE.fullmatch(plain):
            _refuse("must be a whole number of K from 0K to 63K, such as 32K")
        return parse_size(plain)

    def _schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^({_RULE_SIZE.pattern})$"}


@dataclass(frozen=True, slots=True)
class Name(ParameterReader):
    """A name that is looked up later."""

    def _read(self, text: str) -> str:
        if not text:
            _refuse("is required")
        return text

    def _schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "maxLength": self.longest}


@dataclass(frozen=True, slots=True)
class Text(ParameterReader):
    """Any short text: a path, or a name that is checked by the caller."""

    longest: ClassVar[int] = 4_000

    def _read(self, text: str) -> str:
        return text

    def _schema(self) -> dict[str, Any]:
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class Rules(ParameterReader):
    """Up to three offload rules such as 70:32K."""

    def _value(self, given: object) -> object:
        if not isinstance(given, list):
            return given
        if len(given) > _MOST_RULES:
            _refuse(f"can be specified at most {_MOST_RULES} times")
        found: list[Rule] = []
        for text in given:
            plain = str(text).strip().upper()
            if not _RULE.fullmatch(plain):
                _refuse("must be a percentage and a size from 0K to 64K, such as 70:32K")
            found.append(parse_rule(plain))
        return tuple(found)

    def _schema(self) -> dict[str, Any]:
        rule = {"type": "string", "pattern": f"^({_RULE.pattern})$"}
        return {"type": "array", "items": rule, "maxItems": _MOST_RULES}


@dataclass(frozen=True, slots=True)
class ListOf(ParameterReader):
    """A parameter that may be repeated; each of its texts is read like a single one."""

    item: ParameterReader
    most: int = 40

    def _plain(self, text: str) -> str:
        return self.item._plain(text)

    def _value(self, given: object) -> object:
        if not isinstance(given, list):
            return given
        if len(given) > self.most:
            _refuse(f"can be specified at most {self.most} times")
        return tuple(self.item._value(each) for each in given)

    def _schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.item._schema(), "maxItems": self.most}


@dataclass(frozen=True, slots=True)
class NameList(ParameterReader):
    """Names in upper case, with commas or blanks between them; several texts are one list, in which each name is once."""

    check: Callable[[str], str]
    """A check of `planner_core.names`."""
    pattern: str
    most: int = 40

    def _value(self, given: object) -> object:
        if not isinstance(given, list):
            return given
        found = dict.fromkeys(
            name for text in given for name in str(text).upper().replace(",", " ").split(maxsplit=self.most)
        )
        if len(found) > self.most:
            _refuse(f"can have at most {self.most} names")
        try:
            return tuple(self.check(name) for name in found)
        except PlannerError as error:
            _refuse(str(error))

    def _schema(self) -> dict[str, Any]:
        name = {"type": "string", "pattern": f"^({self.pattern})$"}
        return {"type": "array", "items": name, "maxItems": self.most}


@dataclass(frozen=True, slots=True)
class Flag(ParameterReader):
    """True or false."""

    def _read(self, text: str) -> bool:
        if text.lower() not in _FLAGS:
            _refuse("must be true or false")
        return _FLAGS[text.lower()]

    def _schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Metavar:
    """The presentation of a parameter on the command line."""

    text: str
    """The placeholder of the value in its help."""
    option: str = ""
    """The name of the option, if it differs from the name of the parameter."""


@dataclass(frozen=True, slots=True)
class Label:
    """The presentation of a parameter in a form; a parameter without a label has no field."""

    text: str
    unit: str = ""
    hint: str = ""


# ---- the parameters of a model, for the command line and forms ---------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a question, for the command line and forms."""

    name: str
    field: str
    about: str
    metavar: str
    choices: tuple[str, ...]
    is_list: bool
    is_flag: bool
    is_required: bool
    label: Label | None
    option: str
    default: str
    """The default as text, with blanks between the values of a list; empty without a default."""


def parameters(model: type[Question]) -> dict[str, Parameter]:
    """Return the parameters of a question by name, in the order of its fields."""
    found: dict[str, Parameter] = {}
    for field, info in model.model_fields.items():
        name = info.alias or field
        shown = next((each for each in info.metadata if isinstance(each, Metavar)), Metavar("N"))
        is_list = any(isinstance(each, Rules | ListOf | NameList) for each in info.metadata)
        values = get_args(info.annotation)
        choices = values if all(isinstance(each, str) for each in values) else ()
        label = next((each for each in info.metadata if isinstance(each, Label)), None)
        about = info.description or ""
        given = None if info.is_required() else info.default
        default = "" if given is None else " ".join(map(str, given if isinstance(given, tuple) else (given,)))
        is_flag = any(isinstance(each, Flag) for each in info.metadata)
        found[name] = Parameter(
            name,
            field,
            about,
            shown.text,
            choices,
            is_list,
            is_flag,
            info.is_required(),
            label,
            shown.option or name.replace("_", "-"),
            default,
        )
    return found


StructureName = Annotated[str | Absent, Name(), Metavar("S")]


class Explained(Question):
    """A question whose answer can be explained."""

    explain: Annotated[bool, Flag()] = Field(
        False, description="add the formula and inputs of each figure to the JSON answer"
    )
