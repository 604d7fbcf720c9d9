"""Damaged, truncated and hostile archives are refused, and leave the data folder as it was."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import random
import re
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.backup import restoring
from app.backup.errors import ArchiveInvalid, RestoreRefused
from app.data_folder import JOURNAL
from tests.app.backup.support import Place, place_at, restore_into

Members = list[tuple[tarfile.TarInfo, bytes]]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return place_at(tmp_path / "data")


@contextmanager
def unchanged(place: Place) -> Iterator[None]:
    """Assert that the block leaves nothing in the data folder and its surroundings."""
    yield
    assert sorted(path.name for path in place.data.rglob("*")) == ["in-use.lock"]
    assert not (place.data / JOURNAL).exists()
    assert {path.name for path in place.data.parent.iterdir()} <= {"data", "changed.tar.gz", "outside"}


def members_of(archive: Path) -> Members:
    with tarfile.open(archive) as tar:
        return [(info, tar.extractfile(info).read()) for info in tar]  # type: ignore[union-attr]


def write(path: Path, members: Members, *, signs: bool = False) -> Path:
    """Write an archive; `signs` replaces its manifest by one that matches the members."""
    if signs:
        listed = [
            {"name": info.name, "size_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for info, data in members
            if info.name != "manifest.json"
        ]
        members = [each for each in members if each[0].name != "manifest.json"]
        members.append(file_of("manifest.json", json.dumps({"format": 1, "files": listed}).encode()))
    with tarfile.open(path, "w:gz", format=tarfile.GNU_FORMAT) as tar:
        for info, data in members:
            info.size = len(data) if info.isreg() else 0
            tar.addfile(info, io.BytesIO(data))
    return path


def file_of(name: str, data: bytes = b"x") -> tuple[tarfile.TarInfo, bytes]:
    return tarfile.TarInfo(name), data


def special(kind: bytes, name: str = "uploads/" + "0" * 64) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, "/etc/passwd"
    return info, b""


def test_archive_written_again_unchanged_is_accepted(
    place: Place, sqlite_archive: Path, tmp_path: Path
) -> None:
    restore_into(place, write(tmp_path / "changed.tar.gz", members_of(sqlite_archive), signs=True))
    assert place.rows()["plans"]


@pytest.mark.parametrize(
    ("added", "said"),
    [
        (file_of("../outside"), "not part of a backup"),
        (file_of("uploads/../../outside"), "not part of a backup"),
        (file_of("history/../../outside"), "not part of a backup"),
        (file_of("history/a/./b"), "not part of a backup"),
        (file_of("/outside"), "not part of a backup"),
        (file_of("history//outside"), "not part of a backup"),
        (file_of("history/a\\b"), "not part of a backup"),
        (file_of("cfplan.db"), "not part of a backup"),
        (file_of("restore.json"), "not part of a backup"),
        (file_of("uploads/short"), "not part of a backup"),
        (file_of("database/plans/1.jsonl"), "not part of a backup"),
        (special(tarfile.SYMTYPE), "not an ordinary file"),
        (special(tarfile.LNKTYPE), "not an ordinary file"),
        (special(tarfile.CHRTYPE), "not an ordinary file"),
        (special(tarfile.BLKTYPE), "not an ordinary file"),
        (special(tarfile.FIFOTYPE), "not an ordinary file"),
        (special(tarfile.DIRTYPE, "history/folder"), "not an ordinary file"),
        (special(tarfile.GNUTYPE_SPARSE), "not an ordinary file"),
        (special(tarfile.XHDTYPE, "history/header"), "not an ordinary file"),
        (special(tarfile.CONTTYPE), "not an ordinary file"),
        (file_of("backup.json", b"{}"), "twice"),
    ],
)
def test_member_that_no_backup_contains_is_refused(
    place: Place, sqlite_archive: Path, tmp_path: Path, added: tuple[tarfile.TarInfo, bytes], said: str
) -> None:
    members = members_of(sqlite_archive)
    write(tmp_path / "changed.tar.gz", [*members[:3], added, *members[3:]], signs=True)
    with unchanged(place), pytest.raises(ArchiveInvalid, match=said):
        restore_into(place, tmp_path / "changed.tar.gz")


def test_long_extended_header_is_refused_before_it_is_read(
    place: Place, sqlite_archive: Path, tmp_path: Path
) -> None:
    header = tarfile.TarInfo("long")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 2**33
    raw = io.BytesIO(gzip.decompress(sqlite_archive.read_bytes())[:512] + header.tobuf(tarfile.GNU_FORMAT))
    (tmp_path / "changed.tar.gz").write_bytes(gzip.compress(raw.getvalue()))
    with unchanged(place), pytest.raises(ArchiveInvalid):
        restore_into(place, tmp_path / "changed.tar.gz")


def change_row(members: Members) -> None:
    at = next(at for at, (info, _) in enumerate(members) if info.name.startswith("database/plans/"))
    info, data = members[at]
    members[at] = (info, data.replace(b"SIM1", b"SIM2"))


def drop_member(members: Members) -> None:
    del members[next(at for at, (info, _) in enumerate(members) if info.name.startswith("uploads/"))]


def add_member(members: Members) -> None:
    members.insert(5, file_of("uploads/" + "0" * 64))


def drop_manifest(members: Members) -> None:
    del members[-1]


def break_manifest(members: Members) -> None:
    members[-1] = file_of("manifest.json", b'{"files": 7}')


@pytest.mark.parametrize("change", [change_row, drop_member, add_member, drop_manifest, break_manifest])
def test_content_that_does_not_match_the_manifest_is_refused(
    place: Place, sqlite_archive: Path, tmp_path: Path, change: Callable[[Members], None]
) -> None:
    members = members_of(sqlite_archive)
    change(members)
    write(tmp_path / "changed.tar.gz", members)
    with unchanged(place), pytest.raises(ArchiveInvalid, match="manifest"):
        restore_into(place, tmp_path / "changed.tar.gz")


def changed_head(members: Members, **changes: object) -> Members:
    head = json.loads(members[0][1]) | changes
    return [file_of("backup.json", json.dumps(head).encode()), *members[1:]]


@pytest.mark.parametrize("changes", [{"revision": "f" * 12}, {"format": 2}, {"revision": None}])
def test_archive_of_a_later_version_is_refused(
    place: Place, sqlite_archive: Path, tmp_path: Path, changes: dict[str, object]
) -> None:
    write(tmp_path / "changed.tar.gz", changed_head(members_of(sqlite_archive), **changes), signs=True)
    with unchanged(place), pytest.raises(ArchiveInvalid, match=r"which this version .* does not know"):
        restore_into(place, tmp_path / "changed.tar.gz")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("database/tables.json", b'{"tables": []}'),
        (
            "database/tables.json",
            b'{"tables": [{"name": "plans", "columns": [["id", "int"]], "last_number": 0}]}',
        ),
        ("database/tables.json", b'{"tables": [{"name": "a b", "columns": [], "last_number": 0}]}'),
        ("database/tables.json", b"[]"),
        ("database/tables.json", b'{"tables": 5}'),
        ("database/plans/000001.jsonl", b"[1]\n"),
        ("database/plans/000001.jsonl", b"{\n"),
        ("database/plans/000001.jsonl", b"\xff\xfe\n"),
        ("backup.json", b"[]"),
        ("backup.json", b"{"),
    ],
)
def test_content_that_cannot_be_read_is_refused(
    place: Place, sqlite_archive: Path, tmp_path: Path, name: str, data: bytes
) -> None:
    members = [
        file_of(name, data) if info.name == name else (info, old) for info, old in members_of(sqlite_archive)
    ]
    write(tmp_path / "changed.tar.gz", members, signs=True)
    with unchanged(place), pytest.raises(ArchiveInvalid):
        restore_into(place, tmp_path / "changed.tar.gz")


def test_rows_with_references_to_nothing_are_refused(
    place: Place, sqlite_archive: Path, tmp_path: Path
) -> None:
    members = [
        (info, b"" if info.name == "database/plans/000001.jsonl" else data)
        for info, data in members_of(sqlite_archive)
    ]
    write(tmp_path / "changed.tar.gz", members, signs=True)
    with unchanged(place), pytest.raises(ArchiveInvalid, match="refer to rows which it does not contain"):
        restore_into(place, tmp_path / "changed.tar.gz")


@pytest.mark.parametrize(
    "content",
    [b"", b"text", b"\x1f\x8b", gzip.compress(b""), gzip.compress(b"x" * 2_000), b"PK\x03\x04" * 200],
    ids=["empty", "text", "start-of-gzip", "empty-gzip", "text-in-gzip", "zip"],
)
def test_file_that_is_no_archive_is_refused(place: Place, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "changed.tar.gz").write_bytes(content)
    with unchanged(place), pytest.raises(ArchiveInvalid):
        restore_into(place, tmp_path / "changed.tar.gz")


def test_archive_cut_or_damaged_anywhere_is_refused(
    place: Place, sqlite_archive: Path, tmp_path: Path
) -> None:
    whole = sqlite_archive.read_bytes()
    chance = random.Random(20261127)
    for _ in range(12):
        at = chance.randrange(len(whole))
        for changed in (
            whole[:at],
            whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :],
        ):
            (tmp_path / "changed.tar.gz").write_bytes(changed)
            if differs(changed, whole):
                with unchanged(place), pytest.raises((ArchiveInvalid, RestoreRefused)):
                    restore_into(place, tmp_path / "changed.tar.gz")


def differs(changed: bytes, whole: bytes) -> bool:
    """Return whether the content is changed or unreadable; a few bits, such as the time in the header, do not matter."""
    try:
        return gzip.decompress(changed) != gzip.decompress(whole)
    except (OSError, EOFError, ValueError, gzip.zlib.error):  # type: ignore[attr-defined]
        return True


def test_archive_that_unpacks_to_far_more_than_its_size_is_refused(
    place: Place, sqlite_archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.backup.archive.RATIO_COUNTS_FROM_BYTES", 2**20)
    members = [*members_of(sqlite_archive)[:3], file_of("uploads/" + "0" * 64, bytes(2**24))]
    write(tmp_path / "changed.tar.gz", members, signs=True)
    with unchanged(place), pytest.raises(ArchiveInvalid, match="CFPLAN_MAX_UNPACKED_RATIO"):
        restore_into(place_with_ratio(place, 50), tmp_path / "changed.tar.gz")


def place_with_ratio(place: Place, ratio: int) -> Place:
    return Place(place.settings.model_copy(update={"max_unpacked_ratio": ratio}))


def test_member_larger_than_the_free_space_is_refused(
    place: Place, sqlite_archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = shutil.disk_usage(tmp_path)._replace(free=restoring.LEFT_FREE_BYTES + 500)
    monkeypatch.setattr("app.disk.shutil.disk_usage", lambda _: free)
    with unchanged(place), pytest.raises(RestoreRefused, match="does not fit on the disk") as refused:
        restore_into(place, sqlite_archive)
    figures = r"has (\d+) bytes, a restore leaves (\d+) bytes free, and (\d+) are free: at least (\d+) more"
    found = re.search(figures, str(refused.value))
    assert found is not None
    member, left, free_bytes, missing = map(int, found.groups())
    assert (left, free_bytes) == (restoring.LEFT_FREE_BYTES, free.free)
    assert member + left - free_bytes == missing > 0


def test_description_that_would_fill_the_memory_is_refused(
    place: Place, sqlite_archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.backup.archive.LARGEST_DESCRIPTION_BYTES", 1_000)
    with unchanged(place), pytest.raises(ArchiveInvalid, match="too large for a backup"):
        restore_into(place, sqlite_archive)
