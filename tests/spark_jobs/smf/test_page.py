"""docs/reference/smf-records.md and its parts match the layouts."""

from __future__ import annotations

from spark_jobs.smf.decode import SECTIONS
from spark_jobs.smf.framing import FRAMINGS
from tests.spark_jobs.smf.page import PAGE, written


def test_smf_records_pages_match_the_layouts() -> None:
    for page, text in written().items():
        assert page.read_text("utf-8") == text, "write it again: python -m tests.spark_jobs.smf.page"


def test_smf_records_page_lists_every_section_and_framing() -> None:
    text = PAGE.read_text("utf-8")
    assert [name for name in (*SECTIONS, *FRAMINGS) if f"`{name}`" not in text] == []
