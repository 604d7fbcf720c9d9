"""Defaults of cluster channels and queue managers.

Sources: IBM MQ 9.2, "Cluster workload balancing - channel attributes" (CLWLWGHT),
https://www.ibm.com/docs/en/SSFKSJ_9.2.0/com.ibm.mq.ref.con.doc/chlclus.html , and "- queue manager
attributes" (CLWLMRUC), https://www.ibm.com/docs/en/SSFKSJ_9.2.0/com.ibm.mq.ref.con.doc/qmclus.html ; the
retries from a real DISPLAY CLUSQMGR. Counters: IBM MQ 9.2, "MQCMD_RESET_Q_STATS (Reset Queue Statistics)
Response", https://www.ibm.com/docs/en/SSFKSJ_9.2.0/com.ibm.mq.ref.adm.doc/q088310_.html .
"""

from __future__ import annotations

from planner_core.clusters.displays import Retries
from planner_core.clusters.model import Situation
from planner_core.depth_events.model import counted
from planner_core.document.cluster_instances import Channel


def test_channel_has_a_default_weight_of_50() -> None:
    assert Channel(name="TO.A", queue_manager="A").weight == 50


def test_channels_are_unlimited_by_default() -> None:
    assert Situation().most_channels == 999_999_999


def test_channel_retries_have_the_defaults_of_ibms_display() -> None:
    retries = Retries()
    assert (retries.short, retries.short_interval_s) == (10, 60)
    assert (retries.long, retries.long_interval_s) == (999_999_999, 1_200)


def test_counter_above_999_999_999_is_limited_to_that_value() -> None:
    assert [counted(each) for each in (999_999_998, 999_999_999, 1_000_000_000)] == [
        999_999_998,
        999_999_999,
        999_999_999,
    ]
