"""The limit of these tests ends a call that does not end itself."""

from __future__ import annotations

import math
import time
from contextlib import AbstractContextManager, nullcontext

import pytest

from tests import cpu

LIMIT_S = 0.1


def _spend(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_call_that_uses_too_much_cpu_is_stopped() -> None:
    with (
        pytest.raises(cpu.TooMuchCpu, match="endless used more than"),
        cpu.at_most_cpu_seconds(0.01, "endless"),
    ):
        _spend(math.inf)


@pytest.mark.parametrize(
    ("work_s", "outcome"),
    [(cpu.TYPICAL_S, pytest.raises(cpu.TooMuchCpu)), (3 * cpu.TYPICAL_S, nullcontext())],
)
def test_slow_machine_has_more_time(
    work_s: float, outcome: AbstractContextManager[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu, "_fixed_work", lambda: work_s)
    with outcome, cpu.at_most_cpu_seconds(LIMIT_S):
        _spend(LIMIT_S * cpu.MARGIN * 2)
