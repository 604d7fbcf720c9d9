"""Forms with files are read as they arrive, in chunks of any size."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.main import create_app
from app.settings import Settings
from tests.app.uploads.support import BOUNDARY, files_on_their_way, form_body, post_form, whole_files
from tests.app.web.support import assert_problem, call

NASTY = st.lists(
    st.sampled_from([b"\r\n", b"\r", b"\n", b"--", BOUNDARY.encode(), f"\r\n--{BOUNDARY}".encode()[:-1], b"\x00\xff", b"data"]),
    min_size=1, max_size=30,
).map(b"".join)  # fmt: skip


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    return create_app(Settings(data_dir=tmp_path))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    content=NASTY.filter(lambda data: f"\r\n--{BOUNDARY}".encode() not in b"\r\n" + data),
    piece_bytes=st.integers(1, 200),
)
def test_file_in_a_form_arrives_byte_for_byte(app: FastAPI, content: bytes, piece_bytes: int) -> None:
    body = form_body(("file", "a.smf", content))
    answer = post_form(app, "/api/v1/uploads", body, piece_bytes=piece_bytes, accept="*/*")
    assert answer.status in {200, 201}, answer.text
    assert answer.json()["sha256"] == hashlib.sha256(content).hexdigest()


def test_form_fields_and_parameters_are_equivalent(app: FastAPI) -> None:
    body = form_body(
        ("kind", None, b"cfstatus"), ("file", "caf\u00e9.txt", b"text"),
        ("observed_at", None, b"2024-11-21T09:30"), ("zone", None, b"+01:00"),
    )  # fmt: skip
    found = post_form(app, "/api/v1/uploads", body, accept="*/*").json()
    assert (found["filename"], found["kind"]) == ("caf\u00e9.txt", "cfstatus")
    assert (found["observed_at"], found["zone"]) == ("2024-11-21T09:30:00", "+01:00")


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("C:\\dumps\\night.smf", "night.smf"), ("../../etc/passwd", "passwd"), ("a\x07b.smf", "a?b.smf"), ("", "unnamed"),
        ("x" * 500, "x" * 255), ("/", "unnamed"),
    ],
)  # fmt: skip
def test_only_the_last_component_of_a_file_path_is_kept(app: FastAPI, name: str, kept: str) -> None:
    answer = post_form(app, "/api/v1/uploads", form_body(("file", name, b"text")), accept="*/*")
    assert answer.json()["filename"] == kept


@pytest.mark.parametrize(
    "body",
    [
        form_body(("file", "a.smf", b"text"))[:-30],
        form_body(("file", "a.smf", b"text"))[:-4],
        form_body(("zone", None, b"x" * 5000), ("file", "a.smf", b"text")),
        form_body(*((f"field{n}", None, b"") for n in range(200))),
        b"no form at all",
    ],
    ids=["cut in the content", "cut at the end", "long field", "many fields", "no form"],
)
def test_malformed_form_is_refused_completely(app: FastAPI, body: bytes, tmp_path: Path) -> None:
    answer = post_form(app, "/api/v1/uploads", body, accept="*/*")
    assert_problem(answer, "upload-invalid", 422)
    assert (files_on_their_way(tmp_path), whole_files(tmp_path)) == ([], [])


@pytest.mark.parametrize(
    "parts",
    [
        (), (("file", "", b""),), (("zone", None, b"+01:00"),),
        (("file", "a", b"1"), ("file", "b", b"2")),
    ],
    ids=["nothing", "an empty field", "a field without a file", "two files"],
)  # fmt: skip
def test_rest_upload_without_exactly_one_file_is_refused(
    app: FastAPI, parts: tuple[tuple[str, str | None, bytes], ...]
) -> None:
    assert_problem(post_form(app, "/api/v1/uploads", form_body(*parts), accept="*/*"), "upload-invalid", 422)


def test_form_without_a_boundary_is_refused(app: FastAPI) -> None:
    answer = call(
        app, "POST", "/api/v1/uploads", headers={"content-type": "multipart/form-data"}, chunks=[b"x"]
    )
    assert_problem(answer, "upload-invalid", 422)
