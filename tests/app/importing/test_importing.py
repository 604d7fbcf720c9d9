"""Tables on the page, over REST and on the command line; CSV and spreadsheets."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from datetime import time
from pathlib import Path
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI

from app import cli
from app.importing.service import template_csv
from app.importing.spreadsheets import table_text
from planner_core.document.reading import read_object
from planner_core.errors import InputInvalid
from planner_core.texts.structure_rows import read_structure_rows
from tests.app.web.pages.addresses import page
from tests.app.web.support import Answer, assert_problem, call, get, post_json

FORM = "application/x-www-form-urlencoded"
STRUCTURES = template_csv("structures")
QUEUES = template_csv("queues")


def post(app: FastAPI, **fields: str) -> Answer:
    body = urlencode({name.rstrip("_"): value for name, value in fields.items()}).encode()
    return call(app, "POST", "/import", chunks=[body], headers={"content-type": FORM, "accept": "text/html"})


def workbook(*rows: tuple[str | float | time | None, ...]) -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    for row in rows:
        book.active.append(row)  # type: ignore[union-attr]
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_templates_can_be_read_again(app: FastAPI) -> None:
    assert get(app, "/import/structures.csv").text == STRUCTURES
    assert get(app, "/import/queues.csv").text == QUEUES
    assert get(app, "/import/other.csv").status == 404
    found = post_json(app, "/api/v1/import/structures", {"text": STRUCTURES, "plans": True}).json()
    assert [row["structure"] for row in found["rows"]] == ["CSQ_ADMIN", "APP1"]
    made = post_json(
        app, "/api/v1/import/queues", {"text": QUEUES, "qsg": "SQ01", "queue_managers": 2}
    ).json()
    assert made["queues"] == 2
    # What is returned can be stored as it is.
    for document in (found["plans"][0]["document"], made["document"]):
        assert post_json(app, "/api/v1/size", document).status == 200
        assert read_object(document)


def test_rest_lists_all_errors_and_returns_no_sizes(app: FastAPI) -> None:
    bad = STRUCTURES.replace(",956,", ",x,").replace(",8,", ",99,")
    problem = assert_problem(post_json(app, "/api/v1/import/structures", {"text": bad}), "input-refused", 422)
    assert [each["field"] for each in problem["errors"]] == [
        "line 2, queue_managers",
        "line 3, average_size",
    ]
    missing = {"text": STRUCTURES, "cfcc_level": "25", "size": 1}
    assert_problem(post_json(app, "/api/v1/import/structures", missing), "input-refused", 422)


POLICY = "structure,small_per_minute,average_size,minutes,SIZE,INITSIZE,PREFLIST\n"


def test_page_and_command_use_stated_sizes_and_show_the_calculated_one(
    app: FastAPI, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = POLICY + "APP1,100,956,180,80M,40M,CF01 CF02\n"
    words = "SIZE and INITSIZE as in the table; INITSIZE 71680K would be calculated."
    assert words in post(app, text=text).text
    file = tmp_path / "t.csv"
    file.write_text(text)
    assert cli.main(["import", "structures", str(file)]) == 0
    [row] = csv.DictReader(io.StringIO(capsys.readouterr().out))
    sizes = (row["size_kib"], row["initsize_kib"], row["calculated_initsize_kib"], row["basis"])
    assert sizes == ("81920", "40960", "71680", "given")
    assert words in row["notes"]


def test_command_lists_all_errors_of_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "t.csv"
    file.write_text(POLICY + "".join(f"APP{n},x,956,180,1G,2G,CF01\n" for n in range(3)))
    assert cli.main(["import", "structures", str(file)]) == 2
    said = capsys.readouterr().err
    assert said.count("initsize: INITSIZE 2G is above SIZE 1G") == 3
    assert "line 4, small_per_minute: must be a number" in said


def test_page_shows_sizes_and_offers_files(app: FastAPI) -> None:
    answer = post(app, text=STRUCTURES, as_="plans")
    assert answer.status == 200
    assert 'value="SQ01"' in answer.text
    rows = list(csv.DictReader(io.StringIO(post(app, text=STRUCTURES, as_="csv").text)))
    assert [row["structure"] for row in rows] == ["CSQ_ADMIN", "APP1"]
    assert json.loads(post(app, text=STRUCTURES, as_="json").text)["rows"][1]["messages"] == 18_000
    document = json.loads(post(app, text=STRUCTURES, plan="SQ01").text)
    assert document["queue_managers"] == 8
    queues = post(app, text=QUEUES, kind="queues", qsg="SQ01", queue_managers="3", plan="SQ01")
    assert [each["name"] for each in json.loads(queues.text)["structures"]] == ["PAYMENTS"]


def test_heading_of_the_form_differs_from_its_first_label(app: FastAPI) -> None:
    shown = page(app, "/import")
    assert shown.one("label", for_="text").text == "Table"
    assert shown.one("h2", id="h-ask").text == "Structures or queues"


def test_page_shows_errors_with_their_lines_and_keeps_the_table(app: FastAPI) -> None:
    answer = post(app, text=STRUCTURES.replace(",956,", ",x,"), columns="Owner=-", size_factor="0")
    assert answer.status == 422
    assert "SIZE as a multiple of INITSIZE" in answer.text
    answer = post(app, text=STRUCTURES.replace(",956,", ",<b>,"))
    assert "Line 3, average_size: must be a whole number, not &#39;&lt;b&gt;&#39;." in answer.text
    assert ",&lt;b&gt;," in answer.text
    assert post(app).status == 422


def test_page_maps_headings(app: FastAPI) -> None:
    text = STRUCTURES.replace("small_per_minute", "Ankunft").replace(",queue,", ",Owner,")
    assert "unknown column &#39;Ankunft&#39;" in post(app, text=text).text
    assert post(app, text=text, columns="Ankunft=small_per_minute\r\nOwner=-").status == 200


def test_spreadsheet_gives_the_same_sizes_as_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    heading, *rows = csv.reader(io.StringIO(STRUCTURES))
    cells = [tuple(float(cell) if cell.isdigit() else cell or None for cell in row) for row in rows]
    (tmp_path / "t.xlsx").write_bytes(workbook(tuple(heading), *cells))
    (tmp_path / "t.csv").write_text(STRUCTURES)
    found = []
    for name in ("t.xlsx", "t.csv"):
        assert cli.main(["import", "structures", str(tmp_path / name)]) == 0
        found.append(capsys.readouterr().out)
    assert found[0] == found[1]


def test_lines_of_a_spreadsheet_are_its_rows() -> None:
    text = table_text(workbook(("name", "structure", "x"), (None,), ("A\nB", True, 0.5)))
    assert text.splitlines() == ["name,structure,x", "", "A B,yes,0.5"]


def test_ratio_that_a_spreadsheet_stored_as_a_time_is_read_as_a_ratio() -> None:
    text = table_text(workbook(("structure", "ratio"), ("APP1", time(1, 6)), ("APP2", time(1, 6, 30))))
    assert text.splitlines()[1:] == ["APP1,01:06", "APP2,01:06:30"]
    heading = "structure,small_per_minute,average_size,minutes,ratio\n"
    assert read_structure_rows(f"{heading}APP1,1,956,1,01:12\n")[0].ratio == (1, 12)


def test_calculated_rate_of_a_spreadsheet_is_read_exactly() -> None:
    heading = ("structure", "small_per_minute", "average_size", "minutes")
    (row,) = read_structure_rows(table_text(workbook(heading, ("APP1", 10_000 / 60, 956, 180))))
    assert str(row.small_per_minute) == "166.666666666667"


def test_cells_far_to_the_right_are_not_unpacked() -> None:
    row = '<row r="1"><c r="XFD1"/></row>'
    sheet = f'<worksheet xmlns="{_SHEET}"><sheetData>{row}</sheetData></worksheet>'
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook(("a",)))) as archive, zipfile.ZipFile(file, "w") as written:
        for each in archive.infolist():
            is_sheet = each.filename == "xl/worksheets/sheet1.xml"
            written.writestr(each.filename, sheet if is_sheet else archive.read(each))
    widths: list[int] = []

    def row_of(rows: Iterator[tuple[object, ...]], _of: str) -> Iterator[list[str]]:
        widths.extend(map(len, rows))
        return iter(())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.importing.spreadsheets._rows", row_of)
        table_text(file.getvalue())
    assert widths == [61]


_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def _damaged(offset: int, at: int, value: bytes) -> bytes:
    """Return a spreadsheet with other bytes in the directory of its archive (or its local headers)."""
    data = bytearray(workbook(("a",)))
    for mark, place in ((b"PK\x01\x02", offset), (b"PK\x03\x04", at)):
        begin = -1
        while (begin := data.find(mark, begin + 1)) >= 0:
            data[begin + place : begin + place + len(value)] = value
    return bytes(data)


def _compressed_wrongly() -> bytes:
    data = bytearray(workbook(("a",)))
    name = b"xl/worksheets/sheet1.xml"
    begin = data.index(name) + len(name)
    data[begin : begin + 20] = b"\xff" * 20
    return bytes(data)


def _archive(size: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"\0" * size)
    return file.getvalue()


def _with_strings(one: str, encoding: str = "utf-8", declared: str = "") -> bytes:
    """Return a spreadsheet with more shared texts than any table has."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as written:
        written.writestr("xl/sharedStrings.xml", f"{declared}<sst>{one * 500_001}</sst>".encode(encoding))
    return file.getvalue()


UNREADABLE: dict[str, tuple[Callable[[], bytes], str]] = {
    "too many texts": (lambda: _with_strings("<si/>"), "more than 500000 texts"),
    "too many texts with a prefix": (
        lambda: _with_strings("<x:si><x:t>a</x:t></x:si>"), "more than 500000 texts",
    ),
    "too many texts in UTF-16": (lambda: _with_strings("<si/>", "utf-16"), "more than 500000 texts"),
    "too many entities": (
        lambda: _with_strings("&a;", "utf-16-be", '<!DOCTYPE sst [<!ENTITY a "<si/>">]>'), "not a spreadsheet",
    ),
    "beginning of an archive": (lambda: b"PK\x03\x04", "damaged"),
    "another archive": (lambda: _archive(10), "not a spreadsheet that can be read"),
    "65 MiB unpacked": (lambda: _archive(65 * 2**20), "unpacks to more than"),
    "old spreadsheet": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1", "old format"),
    "half a character": (lambda: b"\xff\xfea", "UTF-16"),
    "too many columns": (lambda: workbook(tuple(range(61))), "more than 60 columns"),
    "encrypted": (lambda: _damaged(8, 6, b"\1"), "not a spreadsheet that can be read"),
    "unknown compression": (lambda: _damaged(10, 8, b"\x09"), "not a spreadsheet that can be read"),
    "compressed wrongly": (_compressed_wrongly, "not a spreadsheet that can be read"),
}  # fmt: skip
"""Functions that return files, some of them large, and a part of the message about each."""


@pytest.mark.parametrize("kind", UNREADABLE)
def test_unreadable_file_is_refused(kind: str) -> None:
    made, words = UNREADABLE[kind]
    data = made()
    with pytest.raises(InputInvalid, match=words):
        table_text(data, "t.xlsx")


def test_command_writes_all_plans_or_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, folder = tmp_path / "t.csv", tmp_path / "plans"
    file.write_text(STRUCTURES + "APP2,,SQ02,,1,1,,,1,,,,,,,\r\n")
    assert cli.main(["import", "structures", str(file), "--plans", str(folder)]) == 2
    assert "line 4, queue_managers" in capsys.readouterr().err
    assert not folder.exists()
    assert cli.main(["import", "structures", str(file), "--plans", str(folder), "--queue-managers", "3"]) == 0
    assert sorted(each.name for each in folder.iterdir()) == ["SQ01.json", "SQ02.json"]
    assert read_object(json.loads((folder / "SQ02.json").read_text())).queue_managers == 3
    assert cli.main(["import", "structures", str(file), "--plans", str(folder), "--queue-managers", "3"]) == 2
    assert "exists. Nothing was written" in capsys.readouterr().err


def test_command_creates_a_plan_of_queues(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.csv").write_text(QUEUES.replace("structure,", "Struct,", 1))
    asked = ["import", "queues", str(tmp_path / "q.csv"), "--qsg", "SQ01", "--queue-managers", "3"]
    assert cli.main(asked) == 2
    assert "unknown column 'Struct'" in capsys.readouterr().err
    assert cli.main([*asked, "--column", "Struct=structure"]) == 0
    assert json.loads(capsys.readouterr().out)["structures"][0]["name"] == "PAYMENTS"
    assert cli.main([*asked, "--column", "Struct"]) == 2
    assert "needs a heading and a column" in capsys.readouterr().err


def test_template_command_prints_the_template(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["import", "template", "queues"]) == 0
    assert capsys.readouterr().out == QUEUES
