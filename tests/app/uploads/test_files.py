"""Writing uploads to disk: complete or absent, hashed, limited in size, never in memory."""

from __future__ import annotations

import errno
import hashlib
import os
import tracemalloc
from pathlib import Path
from typing import NoReturn

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from app.uploads import files
from app.uploads.errors import NoRoom, UploadTooLarge
from app.uploads.files import Incoming
from planner_core.inputs import PREVIEW_BYTES
from planner_core.units import MIB
from tests.app.uploads.support import files_on_their_way, placed, received, whole_files
from tests.app.web.support import assert_problem, call

CONTENT = os.urandom(3 * 2**17 + 5)


def test_complete_file_is_named_by_its_hash(tmp_path: Path) -> None:
    with Incoming(tmp_path, largest_bytes=2**30) as incoming:
        for at in range(0, len(CONTENT), 1000):
            incoming.write(CONTENT[at : at + 1000])
        found = incoming.finish()
    assert whole_files(tmp_path) == []
    found.place()
    assert found.sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert found.size_bytes == len(CONTENT)
    assert found.first == CONTENT[:PREVIEW_BYTES]
    assert files.path_of(tmp_path, found.sha256).read_bytes() == CONTENT
    assert files_on_their_way(tmp_path) == []


def test_discarded_file_is_removed(tmp_path: Path) -> None:
    with Incoming(tmp_path, largest_bytes=2**30) as incoming:
        incoming.write(CONTENT)
        assert len(files_on_their_way(tmp_path)) == 1
    assert (files_on_their_way(tmp_path), whole_files(tmp_path)) == ([], [])


def test_identical_files_are_stored_once(tmp_path: Path) -> None:
    assert placed(tmp_path, CONTENT).target == placed(tmp_path, CONTENT).target
    assert len(whole_files(tmp_path)) == 1


def test_discarding_a_stored_file_keeps_it(tmp_path: Path) -> None:
    placed(tmp_path, CONTENT).discard()
    assert len(whole_files(tmp_path)) == 1
    received(tmp_path, CONTENT + b"more").discard()
    assert (files_on_their_way(tmp_path), len(whole_files(tmp_path))) == ([], 1)


def test_file_is_accepted_up_to_exactly_the_size_limit(tmp_path: Path) -> None:
    with Incoming(tmp_path, largest_bytes=10) as incoming:
        incoming.write(b"1234567890")
        assert incoming.finish().size_bytes == 10
    with Incoming(tmp_path, largest_bytes=10) as incoming:
        incoming.write(b"123456789")
        with pytest.raises(UploadTooLarge, match=r"larger than 10 bytes.*CFPLAN_MAX_UPLOAD_BYTES"):
            incoming.write(b"01")


def test_full_disk_is_reported_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with Incoming(tmp_path, largest_bytes=2**30) as incoming:
        incoming.write(CONTENT)
        with pytest.raises(NoRoom, match="not have enough space"):
            incoming.finish()
    assert (files_on_their_way(tmp_path), whole_files(tmp_path)) == ([], [])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_write_to_a_full_disk_is_reported(tmp_path: Path) -> None:
    with Incoming(tmp_path, largest_bytes=2**30) as incoming:
        incoming._file.close()
        incoming._file = Path("/dev/full").open("wb", buffering=0)  # noqa: SIM115 - closed by the context
        with pytest.raises(NoRoom):
            incoming.write(b"1")


def test_only_abandoned_files_are_removed(tmp_path: Path) -> None:
    with Incoming(tmp_path, largest_bytes=2**30) as old, Incoming(tmp_path, largest_bytes=2**30) as young:
        os.utime(old._path, (1, 1))
        assert files.remove_abandoned(tmp_path) == 1
        assert files_on_their_way(tmp_path) == [young._path.name]


def test_removal_without_a_data_folder_removes_nothing(tmp_path: Path) -> None:
    assert files.remove_abandoned(tmp_path / "none") == 0
    assert list(files.whole_files(tmp_path / "none")) == []


@pytest.mark.parametrize("as_form", [False, True])
def test_large_upload_is_not_held_in_memory(tmp_path: Path, as_form: bool) -> None:
    app = create_app(Settings(data_dir=tmp_path))
    chunk = os.urandom(65_536)
    head = b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a.smf"\r\n\r\n'

    def chunks() -> list[bytes]:
        body = [chunk] * (64 * MIB // len(chunk))
        return [head, *body, b"\r\n--XX--\r\n"] if as_form else body

    headers = {"content-type": "multipart/form-data; boundary=XX" if as_form else "application/octet-stream"}
    sent = chunks()
    call(
        app, "POST", "/api/v1/uploads", headers=headers, chunks=[b"first: what is loaded once does not count"]
    )
    tracemalloc.start()
    answer = call(app, "POST", "/api/v1/uploads?name=a.smf", headers=headers, chunks=sent)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert answer.status == 201, answer.text
    assert answer.json()["size_bytes"] == 64 * MIB
    assert peak_bytes < 12 * MIB


def app_with(tmp_path: Path, **settings: float) -> FastAPI:
    return create_app(Settings(data_dir=tmp_path, **settings))  # type: ignore[arg-type]


def test_upload_may_be_larger_than_other_request_bodies(tmp_path: Path) -> None:
    app = app_with(tmp_path, max_body_bytes=1000)
    assert call(app, "POST", "/api/v1/uploads", chunks=[b"x" * 5000] * 3).status == 201
    answer = call(
        app, "POST", "/api/v1/size", headers={"content-type": "application/json"}, chunks=[b" " * 5000]
    )
    assert_problem(answer, "content-too-large", 413)


def test_upload_one_byte_over_the_limit_is_refused_and_not_stored(tmp_path: Path) -> None:
    app = app_with(tmp_path, max_upload_bytes=10_000)
    assert_problem(call(app, "POST", "/api/v1/uploads", chunks=[b"x" * 10_001]), "content-too-large", 413)
    assert (files_on_their_way(tmp_path), whole_files(tmp_path)) == ([], [])
    assert call(app, "POST", "/api/v1/uploads", chunks=[b"x" * 10_000]).status == 201


def test_upload_announced_as_too_large_is_refused_unread(tmp_path: Path) -> None:
    app = app_with(tmp_path, max_upload_bytes=10_000)
    answer = call(app, "POST", "/api/v1/uploads", headers={"content-length": "99999999"}, chunks=[b"x"])
    assert_problem(answer, "content-too-large", 413)
    assert answer.chunks_read == 0


def test_upload_may_take_longer_than_other_request_bodies_but_not_stall(tmp_path: Path) -> None:
    app = app_with(tmp_path, body_timeout_s=0.1, upload_stall_s=0.5)
    assert call(app, "POST", "/api/v1/uploads", chunks=[b"x"] * 8, pause_s=0.05).status == 201
    stalled = call(app, "POST", "/api/v1/uploads", chunks=[b"x"] * 3, pause_s=2)
    assert_problem(stalled, "request-timeout", 408)
    assert files_on_their_way(tmp_path) == []
