from __future__ import annotations

import pytest

from tests.nets.texts import file_name, normalized, readable_json

FOLDERS = {"/tmp/run-1": "/FOLDER", "/tmp/run-2": "/FOLDER"}  # noqa: S108 - names only


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("see /tmp/run-1/data", "see /tmp/run-2/data"),
        ('<link href="/static/app.css?v=1a2b">', '<link href="/static/app.css?v=3c4d">'),
        ("20260302T093000.000000Z-f95819d0", "20260302T093000.000000Z-dd29c7d3"),
        ("written in 0.7 s", "written in 1.2 s"),
        ('{"seconds": {"decoding": 0.1}}', '{"seconds": {"decoding": 0.2, "storing": 0.1}}'),
    ],
)
def test_normalized_removes_differences_between_runs(first: str, second: str) -> None:
    assert normalized(first, FOLDERS) == normalized(second, FOLDERS)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Size of a structure", "Size of the structure"),
        ("a b", "a  b"),
        ("size 0.7", "size 1.2"),
        ("2026-03-02T09:30:00Z", "2026-03-02T09:31:00Z"),
        ("a\n", "a"),
        ("lasts 90 s", "lasts 91 s"),
        ('<link href="/static/app.css?v=1a2b">', '<link href="/static/style.css?v=1a2b">'),
        ('{"seconds": {"decoding": 0.1}, "rows": 1}', '{"seconds": {"decoding": 0.1}, "rows": 2}'),
        ("plan 1.2", "plan 1.3"),
    ],
)
def test_normalized_keeps_other_differences(first: str, second: str) -> None:
    assert normalized(first, FOLDERS) != normalized(second, FOLDERS)


@pytest.mark.parametrize("text", ['{"a":1.00,"b":[],"c":[1,{"d":"x, \\"y\\": {z}"}],"e":{}}', "[]", '"a"'])
def test_readable_json_changes_white_space_only(text: str) -> None:
    lines = readable_json(text).split("\n")
    assert "".join(line.lstrip(" ") for line in lines) == text
    assert readable_json('{"a": 1}') == '{"a": 1}'


def test_file_names_of_different_labels_differ() -> None:
    assert len({file_name(label) for label in ("/", "//", "/a?b=1", "/a?b=-1", "A" * 200, "A" * 201)}) == 6
