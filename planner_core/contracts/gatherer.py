"""The SMF REST services of the z/OS Data Gatherer: where 74-4 records are requested, and the fields that are read.

Sources: IBM Education Assistant, z/OS 3.1, Data Gatherer SMF REST services (path and `datasetName`); IBM SMF Explorer, SMF 74
subtype 4 (names and types of the fields). Parameters for a system or a time are not used, because their form is not published.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SMF_PATH: Final = "/zosmf/zosdg/smf/v1/smf/type/74/subtype/4"
DATA_SET_PARAMETER: Final = "datasetName"
API_DOCS_PATH: Final = "/zosmf/zosdg/smf/v3/api-docs"
"""The path of the service's description of its answers, in OpenAPI."""

_NAMES: Final[Mapping[str, str]] = MappingProxyType({
    "date": "SMF74DTE",
    "time": "SMF74TME SMF74INT",
    "date-time": "SMF74GIE",
    "string": (
        "SMF74SID SMF74XNM SMF74SNM R744FNAM R744FSYS R744FFLG R744QSTR R744QVER R744QFLG R744SNAM R744SVER R744STYP R744SFLG"
    ),
    "number": "R744FTOR R744SSTA R744STRC R744STAC R744SARC R744SSRC R744SQRC R744SDRC",
    "integer": (
        "SMF74LGO R744GCSD R744GCSF R744GTSD R744GTSF R744GDSA R744GDSF R744GDSR R744GTSC R744GFSC R744GISC R744QSIZ R744SLEL "
        "R744SLEM R744SLTL R744SLTM R744SATM R744SASQ R744SSTM R744SSSQ R744SQTM R744SQSQ R744SDTM R744SSIZ R744SMAS R744SMIS "
        "R744SDEC R744SDEL R744SNLH R744SMAE R744SCUE R744MSMA R744MALG R744MFAU R744MIUA R744MIUS"
    ),
})  # fmt: skip
FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {name: type_ for type_, names in _NAMES.items() for name in names.split()}
)
"""The fields that a record must have, and IBM's types of them. Their places in binary records are in the layouts."""
