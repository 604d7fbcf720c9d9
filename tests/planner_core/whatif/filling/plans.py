"""Plans of the sources' examples, and a strategy for structures that fill."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object

Document = dict[str, Any]


def structure(queues: list[Document], **keys: Any) -> PlanDocument:  # noqa: ANN401 - any JSON value
    """Return a plan of one structure APP1 with these queues; `cfcc_level` and `growth` are members of the plan."""
    head: Document = {key: keys.pop(key) for key in ("cfcc_level", "growth", "queue_managers") if key in keys}
    made: Document = {"qsg": "SQ03", "queue_managers": 4, "cfcc_level": 25, **head}
    made["structures"] = [{"name": "APP1", "queues": queues, **keys}]
    return read_object(made)


def queue(name: str = "Q1", **keys: Any) -> Document:  # noqa: ANN401 - any JSON value
    """Return a queue, with messages of 2048 bytes by default."""
    made: Document = {"name": name, "message_bytes": 2048, **keys}
    if "put_rate_per_s" in made:
        made.setdefault("outage_minutes", 90)
    elif "outage_minutes" not in made:
        made.setdefault("backlog", 1_000_000)
    return made


sizes = st.sampled_from(
    [0, 140, 1024, 1164, 1165, 4096, 4097, 16_384, 32_768, 32_769, 64_512, 64_513, 200_000]
)
rules = st.lists(
    st.fixed_dictionaries(
        {
            "usage_over": st.integers(0, 100),
            "size_over": st.sampled_from(["0K", "1K", "4K", "16K", "32K", "63K", "64K"]),
        }
    ),
    max_size=3,
)


@st.composite
def documents(draw: st.DrawFn, *, same_outage: bool = False) -> Document:
    """Draw a plan of one structure with a few queues, each with a backlog."""
    outage = draw(st.sampled_from([1, 7.5, 90]))
    queues = []
    for number in range(draw(st.integers(1, 4))):
        made: Document = {"name": f"Q{number}", "message_bytes": draw(sizes)}
        if draw(st.booleans()):
            p95 = draw(st.integers(1, 40_000))
            largest = p95 + draw(st.integers(0, 60_000))
            made["message_bytes"] = {"mean": min(p95, (19 * p95 + largest) // 20), "p95": p95, "max": largest}
        made["put_rate_per_s"] = draw(st.sampled_from([0.25, 1, 40, 333.3]))
        made["outage_minutes"] = outage if same_outage else draw(st.sampled_from([1, 7.5, 90]))
        queues.append(made)
    found: Document = {
        "qsg": "SQ03",
        "queue_managers": 4,
        "cfcc_level": draw(st.sampled_from([14, 24, 25])),
        "growth": draw(st.sampled_from([{}, {"percent_per_year": 10, "years": 2}])),
        "structures": [
            {
                "name": "APP1",
                "initsize": draw(st.integers(20 * 1024, 600 * 1024)),
                "offload": {"rules": draw(rules)},
                "queues": queues,
            }
        ],
    }
    if draw(st.booleans()):
        found["structures"][0]["entry_to_element_ratio"] = [draw(st.integers(1, 3)), draw(st.integers(1, 20))]
    return found
