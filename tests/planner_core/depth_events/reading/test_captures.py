"""The two messages that were made by hand from IBM's layouts, if the files are available."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from planner_core.depth_events.readers import read_events

FOLDER = Path(
    os.environ.get("CFPLAN_EVENT_SAMPLES", Path(__file__).parents[5] / "shared" / "data" / "events")
)
CASES = {
    "perfm_2224_zos_be_ebcdic500.hex": ("MQP1", "APP.SHARED.Q1"),
    "perfm_2224_le_ascii819.hex": ("QM1", "APP.Q1"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("as_bytes", [False, True], ids=["hexadecimal", "binary"])
def test_captured_messages_are_read(name: str, as_bytes: bool) -> None:
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"{name} is not at hand")
    data = bytes.fromhex(path.read_text()) if as_bytes else path.read_bytes()
    (message,) = read_events(data, name=name).messages
    assert (message.queue_manager, message.queue) == CASES[name]
    assert (message.reason, message.time_since_reset_s, message.high_q_depth) == (2224, 120, 800)
    assert (message.msg_enq_count, message.msg_deq_count) == (1000, 200)
