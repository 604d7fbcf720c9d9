"""docs/reference/smf-records.md matches the layouts."""

from __future__ import annotations

from spark_jobs.smf.decode import SECTIONS
from spark_jobs.smf.framing import FRAMINGS
from tests.spark_jobs.smf.page import PAGE, with_blocks


def test_smf_records_page_matches_the_layouts() -> None:
    text = PAGE.read_text("utf-8")
    assert with_blocks(text) == text, "python -m tests.spark_jobs.smf.page writes the tables anew"


def test_smf_records_page_lists_every_section_and_framing() -> None:
    text = PAGE.read_text("utf-8")
    assert [name for name in (*SECTIONS, *FRAMINGS) if f"`{name}`" not in text] == []
