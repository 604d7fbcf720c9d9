"""A stand-in for RMF's data server, built from the published shape of its answers (github.com/IBM/RMF, mock-dds)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from tests.connections_support.server import Answer, Received, StandIn

FORMAT = "%Y%m%d%H%M%S"
COLUMNS = (
    *(
        "CFAPSTRU",
        "CFAPTYPE",
        "CFAPSTAT",
        "CFAPSTEX",
        "CFAPSYS",
        "CFAPUTIP",
        "CFAPSYNC",
        "CFAPASYC",
        "CFAPCNVC",
    ),
    *("CFAINAM", "CFAISTRU", "CFAITYPE", "CFAISTRS", "CFAISTRM", "CFAISTRX", "CFAILEL", "CFAILEM", "CFAIMAE"),
    *("CFAICUE", "CFAISSCM", "CFAISLTC", "CFAISLMC"),
)
MINUTE = timedelta(minutes=1)


class DataServer(StandIn):
    """Reports of one minute, of structures whose use depends on the minute."""

    def __init__(
        self,
        clock: Callable[[], datetime],
        *,
        structures: tuple[str, ...] = ("QSG1CSQ_ADMIN", "QSG1APP1"),
        systems: tuple[str, ...] = ("SYSA", "SYSB"),
        offset: timedelta = timedelta(hours=-4),
    ) -> None:
        super().__init__()
        self.clock, self.structures, self.systems, self.offset = clock, structures, systems, offset
        self.length = MINUTE
        self.facility = "CF01"
        self.scm = ("", "", "")
        """The maximum of storage-class memory in bytes, and the list entries and elements in it."""
        self.changed_at: datetime | None = None
        """When the offset of local time changed by an hour, as at the end of daylight saving time."""
        self.offset_before = offset + timedelta(hours=1)
        self.without_data: set[datetime] = set()
        """Starts of minutes of which the server has no data."""
        self.answer_without_data: Answer | None = None
        """Its answer for these minutes, if it is not the message that there is no data."""
        self.refuses_times_left_out = False
        """Whether the server has no data for local times that were left out when clocks were set forward."""

    def answer(self, request: Received) -> Answer:
        """Return the report of the requested minute, or of the last complete one."""
        assert request.line == "GET /gpm/rmfm3.xml"
        assert request.headers["accept"] == "application/json"
        assert request.query["report"] == ["CFACT"]
        assert request.query["resource"] == [",,SYSPLEX"]
        if "range" not in request.query:
            now = self.clock()
            end = now - (now - datetime.min.replace(tzinfo=now.tzinfo)) % self.length
            return Answer.json(self.report(end - self.length, end))
        local = [
            datetime.strptime(each, FORMAT).replace(tzinfo=self.clock().tzinfo)
            for each in request.query["range"][0].split(",")
        ]
        # An hour that local time has twice is the first one, as long as there is one.
        before = local[0] - self.offset_before
        is_before = self.changed_at is not None and before < self.changed_at
        start, end = (each - (self.offset_before if is_before else self.offset) for each in local)
        is_left_out = self.changed_at is not None and not is_before and start < self.changed_at
        if start in self.without_data or (is_left_out and self.refuses_times_left_out):
            if self.answer_without_data is not None:
                return self.answer_without_data
            said = {"id": "GPM0507I", "severity": 1, "description": "No valid data."}
            return Answer.json({"report": [{"message": said, "metric": {"id": "CFACT"}}]})
        return Answer.json(self.report(start, end))

    def report(self, start: datetime, end: datetime) -> dict[str, Any]:
        """Return the report of an interval."""
        used = str(100 + start.minute)
        is_before = self.changed_at is not None and start < self.changed_at
        offset = self.offset_before if is_before else self.offset
        rows = [row for name in self.structures for row in self._rows(name, used)]
        return {
            "message": [],
            "report": [
                {
                    "columnHeaders": {"col": [{"type": "T", "value": each} for each in COLUMNS]},
                    "metric": {"id": "CFACT", "format": "report", "numcols": len(COLUMNS)},
                    "resource": {"reslabel": ",PLEX1,SYSPLEX", "restype": "SYSPLEX"},
                    "row": [{"col": row, "refno": number} for number, row in enumerate(rows, start=1)],
                    "timeData": {
                        "gathererInterval": {"unit": "SECONDS", "value": 60},
                        "localEnd": (end + offset).strftime(FORMAT),
                        "localStart": (start + offset).strftime(FORMAT),
                        "utcEnd": end.strftime(FORMAT),
                        "utcStart": start.strftime(FORMAT),
                    },
                }
            ],
        }

    def _rows(self, name: str, used: str) -> list[list[str]]:
        of_structure = [
            self.facility,
            name,
            "LIST",
            "20971520",
            "19922944",
            "31457280",
            "2060",
            used,
            "2109",
            "287",
            *self.scm,
        ]
        everywhere = [name, "LIST", "A", "ActiveInUse", "*ALL", "0.0", str(10 * len(self.systems)), "0", "0"]
        same = [*of_structure[:4], "", "", *of_structure[6:]]
        of_systems = [["", "LIST", "", "", each, "", "10", "0", "0", *same] for each in self.systems]
        return [[*everywhere, *of_structure], *of_systems]
