"""Plan documents written as YAML are read back unchanged."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.texts.documents import parse_yaml
from app.texts.yaml_text import yaml_text
from planner_core.document.reading import read_object
from tests.app.web.support import COMPLETE
from tests.planner_core.plans import documents

KEYS = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=8)
SCALARS = (
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    | st.sampled_from(
        ["yes", "No", "null", "~", "1e3", "0x1F", "08", "12:30:00", "512M", ".5", "- a", "a: b", "a #b", "%x"]
    )
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | st.none()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_written_values_are_read_back_unchanged(value: dict[str, Any]) -> None:
    assert parse_yaml(yaml_text(value).encode()) == value


@given(documents())
def test_any_plan_is_read_back_from_yaml(document: dict[str, Any]) -> None:
    plan = read_object(document)
    text = yaml_text(plan.model_dump(mode="json", exclude_defaults=True))
    assert read_object(parse_yaml(text.encode())) == plan


def test_queue_is_written_on_one_line() -> None:
    text = yaml_text(read_object(COMPLETE).model_dump(mode="json", exclude_defaults=True))
    assert "      - {name: PAYMENTS.IN, message_bytes: " in text
    assert max(map(len, text.splitlines())) <= 120
