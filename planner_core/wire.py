"""Results that are their own wire format: the fields of a dataclass are the members of its JSON object.

REST, `--json` of the command line, OpenAPI and pages all use this declaration. A result keeps its exact values; the
annotations of this module define how a value is written, or that it is not written at all.

    @dataclass(frozen=True, slots=True)
    class QueueFilling(Answer):
        name: str
        messages_per_minute: Annotated[Exact[Fraction], Field(description="Arrival rate.")]
        definition: Hidden[Queue]

        @computed_field(description="Depth when the structure is full.")
        @property
        def depth_at_end(self) -> int: ...
"""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from functools import cache
from typing import Annotated, Any, ClassVar, Final, TypeVar

from pydantic import (
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    TypeAdapter,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue, SkipJsonSchema
from pydantic_core import CoreSchema, core_schema

T = TypeVar("T")
JsonObject = dict[str, Any]
"""A JSON object of any shape, as the json module reads and writes it."""


class Unchecked:
    """An annotation that accepts a value without validating it."""

    # Results come from our own code, which mypy checks. Without this annotation, pydantic would build a schema of every
    # type inside the value.

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        del source, handler
        return core_schema.any_schema()


Hidden = Annotated[T, Unchecked(), Field(exclude=True)]
"""A field that is not part of the JSON object."""
Omittable = Annotated[T | SkipJsonSchema[None], Field(exclude_if=lambda value: value is None)]
"""A member that is left out if its value is None; it is never null."""
Exact = Annotated[T, Unchecked(), PlainSerializer(float, return_type=float)]
"""An exact number, such as Exact[Fraction], written as the nearest float."""


def plain(value: Fraction) -> int | float:
    """Return the nearest JSON number: an integer if the value is whole."""
    return value.numerator if value.denominator == 1 else float(value)


Plain = Annotated[
    Fraction,
    Unchecked(),
    PlainSerializer(plain, return_type=int | float),
    WithJsonSchema({"type": "number"}),
]
"""An exact number, written as an integer if it is whole and as the nearest float otherwise."""


TextOrNull = Annotated[str, Unchecked(), PlainSerializer(lambda text: text or None, return_type=str | None)]
"""A text, written as null if it is empty."""


def _as_stored(value: Any):  # type: ignore[no-untyped-def]  # noqa: ANN202, ANN401 - a return type would become the described one
    return value


Stored = Annotated[T, PlainSerializer(_as_stored)]
"""The JSON of a T from the database, perhaps from an older version: described as T, and written unchanged."""


COMPONENT = "x-component"


def described_as(name: str) -> WithJsonSchema:
    """Return the annotation that describes a member by the OpenAPI schema of a name."""
    # pydantic resolves every $ref itself and fails on schemas of other sources, so OpenAPI replaces this key.
    return WithJsonSchema({COMPONENT: name})


class Answer:
    """Base of dataclasses whose fields are the members of a JSON object; later versions may add members."""

    __slots__ = ()
    # A default spares callers an argument; the member is always present, and OpenAPI must show that.
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(json_schema_serialization_defaults_required=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        found = handler(schema)
        for member in handler.resolve_ref_schema(found).get("properties", {}).values():
            # The default of an argument means nothing to readers of the answer.
            member.pop("default", None)
            # All members of an answer are read-only, so marking computed ones adds nothing.
            member.pop("readOnly", None)
        return found

    def as_json(self) -> JsonObject:
        """Return the members as values that the json module can write."""
        members: JsonObject = adapter(type(self)).dump_python(self, mode="json", by_alias=True)
        return members

    def json_bytes(self) -> bytes:
        """Return the JSON text of the answer."""
        return adapter(type(self)).dump_json(self, by_alias=True)


def adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - any type expression
    """Return the serializer of a type."""
    # Cached, because building one takes milliseconds. A function of its own, because mypy does not regard a dataclass
    # as hashable, which the arguments of a cached function must be.
    return _adapter(kind)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - any type expression
    return TypeAdapter(kind)


def copied(kind: type[T], source: object, /, **given: object) -> T:
    """Return a dataclass with field values from the attributes of another object with the same names.

    Arguments replace attributes. A field that the object lacks keeps its default.
    """
    contract: Any = kind
    names = [field.name for field in fields(contract) if field.name not in given]
    return kind(**{name: getattr(source, name) for name in names if hasattr(source, name)}, **given)


__all__: Final = [
    "COMPONENT",
    "Answer",
    "Exact",
    "Hidden",
    "JsonObject",
    "Omittable",
    "Plain",
    "Stored",
    "TextOrNull",
    "Unchecked",
    "adapter",
    "copied",
    "described_as",
    "plain",
]
