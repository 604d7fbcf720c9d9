"""The dump benchmark runs and reports its figures."""

from __future__ import annotations

import re

import pytest

from bench.__main__ import main


def test_dump_benchmark_measures_both_drivers(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--only", "dumps", "--dump-mb", "2", "--no-spark"])
    printed = capsys.readouterr().out
    for name in ("Arrow, in one process", "history, in one process"):
        found = re.search(rf"^{name} +([\d.]+) +(\d+) +([\d.]+) +(\d+) +(\d+)  (.*)$", printed, re.MULTILINE)
        assert found, printed
        assert int(found[4]) > 100, "rows"
        assert int(found[5]) > 10, "MB of memory"
        assert "decoding" in found[6]
