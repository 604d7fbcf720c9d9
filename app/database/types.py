"""The base of all tables, and types of their columns."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, MetaData, Row
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import LargeBinary, TypeDecorator

from app.database.damage import reading_compressed
from app.database.parts import PartedText

KEY: Final = BigInteger().with_variant(Integer, "sqlite")
"""The type of keys that the database numbers: SQLite does so only in a column of type INTEGER."""
LARGEST_KEY: Final = 2**62
"""The largest key that is looked up, because databases raise an error for numbers of more than 64 bits."""
COMPRESSION_LEVEL: Final = 1
"""The fastest compression level, because it already reduces texts for z/OS to a few percent of their size."""


AnyRow: TypeAlias = Row[*tuple[Any, ...]]


class PageOfRows(NamedTuple):
    """The rows of one page, and the number of rows on all pages."""

    rows: Sequence[AnyRow]
    total: int


class Base(DeclarativeBase):
    """Base of all tables. Constraints are named after their columns on every database."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class Timestamp(TypeDecorator[datetime]):
    """A time in UTC; SQLite by itself would lose the time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse a time without a zone before it is stored."""
        if value is None:
            return None
        if value.tzinfo is None:
            message = "a timestamp without a time zone"
            raise ValueError(message)
        return value.astimezone(UTC)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ANN401
        """Return the stored time with its zone, UTC."""
        if value is None:
            return None
        known: datetime = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        return known


class CompressedText(TypeDecorator[str]):
    """A long text, compressed because it is never searched in the database: such as texts for z/OS."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        """Compress a text before it is stored."""
        return None if value is None else zlib.compress(value.encode("utf-8"), COMPRESSION_LEVEL)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> str | None:  # noqa: ANN401
        """Return the stored text, decompressed."""
        if value is None:
            return None
        with reading_compressed():
            return zlib.decompress(value).decode("utf-8")


class CompressedParts(TypeDecorator[PartedText]):
    """A long text in parts that are read one by one, such as explanations; a `CompressedText` is a text without parts."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: PartedText | None, dialect: Dialect) -> bytes | None:
        """Return the compressed parts as they are stored."""
        return None if value is None else value.data

    def process_result_value(self, value: Any | None, dialect: Dialect) -> PartedText | None:  # noqa: ANN401
        """Return the stored parts, which are decompressed when they are read."""
        return None if value is None else PartedText(bytes(value))
