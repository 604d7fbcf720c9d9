"""The CFACT report of RMF's distributed data server (DDS): where it is asked for, and the ids of its columns.

Source: IBM's Grafana plugin for RMF, github.com/IBM/RMF, folder grafana/rmf-app: pkg/plugin/dds (path, parameters, time
data, messages), mock-dds/reptrans.xsl (names of columns) and mock-dds/data/report_cfact.json (an answer).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

DDS_PATH: Final = "/gpm/rmfm3.xml"
"""The path of complete reports. With `Accept: application/json`, the answer is JSON in spite of its suffix."""
DDS_PARAMETERS: Final[Mapping[str, str]] = MappingProxyType({"report": "CFACT", "resource": ",,SYSPLEX"})
DDS_TIME_FORMAT: Final = "%Y%m%d%H%M%S"

CFACT_COLUMNS: Final[Mapping[str, str]] = MappingProxyType({
    "CFAISTRU": "structure",
    "CFAITYPE": "type",
    "CFAPSTEX": "status",
    "CFAPSYS": "system",
    "CFAINAM": "coupling_facility",
    "CFAILEM": "entries_in_use",
    "CFAILEL": "entries_total",
    "CFAICUE": "elements_in_use",
    "CFAIMAE": "elements_total",
    "CFAISLTC": "scm_entries_in_use",
    "CFAISLMC": "scm_elements_in_use",
    "CFAPSYNC": "sync_requests",
    "CFAPASYC": "async_requests",
    "CFAPCNVC": "changed_requests",
    "CFAISTRS": "size_bytes",
    "CFAISTRX": "size_max_bytes",
    "CFAISTRM": "size_min_bytes",
    "CFAISSCM": "scm_max_bytes",
})  # fmt: skip
"""The columns that are read, with the meaning that the reader gives them. Sizes are in bytes.

CFAPSTRU also has the name of the structure, but only in the row of all systems.
"""

CFACT_IDENTITY: Final = ("CFAISTRU", "CFAITYPE", "CFAPSYS", "CFAINAM")
"""The columns that distinguish rows: of structures, of systems, and of two instances of a structure
during a rebuild or duplexing."""

DDS_MESSAGES_WITH_DATA: Final[Mapping[str, str]] = MappingProxyType({
    "GPM0501I": "the WLM service policy or IPS changed in the interval, so the data may be inconsistent",
    "GPM0502I": "the data is partial, because time gaps were detected",
    "GPM0504I": "the WLM service policy changed in the interval, so the data may be inconsistent",
    "GPM0505I": "the RMF cycle time changed in the interval, so the data may be inconsistent",
    "GPM0506I": "a system was started in the interval",
    "GPM0507I": "there is no valid data for the requested time",
    "GPM0709I": "the filter left no data",
})  # fmt: skip
"""Messages of the server after which IBM's plugin reads the report (pkg/plugin/dds/response.go); all others are errors."""
DDS_WITHOUT_DATA: Final = frozenset({"GPM0507I", "GPM0709I"})
DDS_NO_VALUES: Final = ("NAN", "DEACT")
"""Cells, apart from empty ones, that mean that there is no value (pkg/plugin/frame/frame.go)."""
DDS_NO_DATA_ROW: Final = "*NoData*"
"""The name that the server writes into a row if it has no data, as IBM's plugin reads it."""
