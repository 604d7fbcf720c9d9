"""Shared code for the tests of readers: texts like those of a site, written for the tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any

from planner_core.inputs import Kind
from spark_jobs.readers import ReadResult, read

OBSERVED = datetime(2026, 3, 22, 12, 0, tzinfo=UTC)
EAST = timezone(timedelta(hours=1))
NEW_YORK_WINTER = timezone(timedelta(hours=-5))
GROUPS = {("SYSA", "QM01"): "QSG1", ("SYSA", "QM02"): "QSG1"}

IXC360I = """\
D XCF,STR,STRNAME=QSG1APPLICATION1
IXC360I  10.21.33  DISPLAY XCF 812
STRNAME: QSG1APPLICATION1
 STATUS: ALLOCATED
 EVENT MANAGEMENT: MESSAGE-BASED
 TYPE: SERIALIZED LIST
 POLICY INFORMATION:
  POLICY SIZE    : 512 M
  POLICY INITSIZE: 256 M
  POLICY MINSIZE : 0 K
  FULLTHRESHOLD  : 85
  ALLOWAUTOALT   : NO
  REBUILD PERCENT: N/A
  DUPLEX         : DISABLED
  ALLOWREALLOCATE: YES
  PREFERENCE LIST: CF01     CF02
  ENFORCEORDER   : NO
  EXCLUSION LIST IS EMPTY

 ACTIVE STRUCTURE
 ----------------
  ALLOCATION TIME: 03/14/2026 09:12:44
  CFNAME         : CF01
  COUPLING FACILITY: 003931.IBM.02.0000000A1B2C
                     PARTITION: 0F   CPCID: 00
  STORAGE INCREMENT SIZE: 1 M
  ACTUAL SIZE            : 256 M
                IN-USE        TOTAL     %
  ENTRIES:        1200       111234     1
  ELEMENTS:       8100       667404     1
  EMCS:             10           20    50
  LOCKS:                       1024
  PHYSICAL VERSION: B4704775 92D95302
  LOGICAL  VERSION: B4704775 92D95302
  DISPOSITION    : KEEP
  MAX CONNECTIONS: 32
  # CONNECTIONS  : 1
  CONNECTION NAME  ID VERSION  SYSNAME  JOBNAME  ASID STATE
  ---------------- -- -------- -------- -------- ---- ----------------
  CSQEQSG1QM0101   01 00010003 SYS1     QM01MSTR 0045 ACTIVE
"""

IXC585E = """\
*IXC585E STRUCTURE QSG1APPLICATION1 IN COUPLING FACILITY CF01, 725
 PHYSICAL STRUCTURE VERSION B4704775 92D95302,
 IS AT OR ABOVE STRUCTURE FULL MONITORING THRESHOLD OF 85%.
 ENTRIES:  IN USE:     4874 TOTAL:     4874, 100% FULL
 ELEMENTS: IN USE:       19 TOTAL:     4872,   0% FULL
"""

IXL015I = """\
IXL015I STRUCTURE ALLOCATION INFORMATION FOR 213
 STRUCTURE QSG1CSQSYSAPPL, CONNECTOR NAME CSQEQSG1QM0103,
 CONNECTIVITY=DEFAULT
 CFNAME ALLOCATION STATUS/FAILURE REASON
 -------- ----------------------------------------
 CF01     INVALID STRUCTURE SIZE:             20 M
          INITSIZE MUST BE AT LEAST:          41 M
 CF02     ALLOCATION NOT PERMITTED
          COUPLING FACILITY IS IN MAINTENANCE MODE
"""

IXC582I = """\
IXC582I STRUCTURE QSG1APPLICATION1 ALLOCATED BY COUNTS.
 PHYSICAL STRUCTURE VERSION: B4704775 92D95302
 STRUCTURE TYPE: SERIALIZED LIST
 CFNAME: CF01
 ALLOCATION SIZE: 1 G
 MAX STRUCTURE SIZE: 2 G
 POLICY SIZE: 2 G
 POLICY INITSIZE: N/A
 POLICY MINSIZE: 0 K
 ENTRY COUNT: 111234
 ELEMENT COUNT: 667404
 EMC COUNT: 20
 MAX SCM ENTRY COUNT: 5
 MAX SCM ELEMENT COUNT: 6
 ENTRY:ELEMENT RATIO: 1 : 6
 EMC STORAGE PERCENTAGE: 5.00
"""

IXC588I = """\
IXC588I AUTOMATIC ALTER PROCESSING INITIATED
 FOR STRUCTURE QSG1APPLICATION1.
 CURRENT SIZE: 1048576 K
 TARGET SIZE: 2 G
 TARGET ENTRY TO ELEMENT RATIO: 1 : 5
"""

CFSTATUS = """\
CSQM293I +QM01 CSQMDRTC 1 CFSTATUS FOUND MATCHING REQUEST CRITERIA
CSQM201I +QM01 CSQMDRTC  DISPLAY CFSTATUS DETAILS
CFSTATUS(APPLICATION1)
TYPE(SUMMARY)
CFTYPE(APPL)
STATUS(ACTIVE)
OFFLDUSE(NONE)
SIZEMAX(524288)
SIZEUSED(12)
ENTSMAX(229134)
ENTSUSED(1200)
FAILTIME( )
FAILDATE( )
END CFSTATUS DETAILS
CSQ9022I +QM01 CSQMDRTC ' DISPLAY CFSTATUS' NORMAL COMPLETION
"""

CFSTRUCT = """\
CSQM201I +QM01 CSQMDRTC  DIS CFSTRUCT DETAILS
CFSTRUCT(APPLICATION1)
DESCR(Payments (both sites))
CFLEVEL(5)
RECOVER(YES)
OFFLOAD(SMDS) OFFLD1TH(70) OFFLD1SZ(32K)
OFFLD2TH(80) OFFLD2SZ(4K)
OFFLD3TH(90) OFFLD3SZ(0K)
DSGROUP(MQ.SMDS.*.APP1) DSBLOCK(256K) DSBUFS(100) DSEXPAND(YES)
END CFSTRUCT DETAILS
CSQ9022I +QM01 CSQMDRTC ' DIS CFSTRUCT' NORMAL COMPLETION
"""

QEST_HEADING = (
    "Date,Time,LPAR,QMgr,QSG,MQ_Version,Interval_Start (DATE),Interval_Start (TIME),Interval_Duration,Structure_Name,"
    "Structure_Number,IXLLSTE_Calls,IXLLSTM_Calls,IXLLSTE_Redrives,IXLLSTM_Redrives,Structure_Full,Max_In_Use_Entries,"
    "Max_In_Use_Elements,IXLLSTE_Calls_Time(S),IXLLSTE_Calls_Time(US),IXLLSTM_Calls_Time(S),IXLLSTM_Calls_Time(US),"
)
QEST_ROW = (
    '"2026/01/14","21:10:04,930000","SYSA","QM01","....",="800","2026/01/14","20:40:12,045359",1792,"APPLICATION1",1,7059,'
    "2867,0,45,3,1254,6358,1, 28915 ,0, 116196 ,"
)
QESD_HEADING = (
    "Date,Time,LPAR,QMgr,QSG,MQ_Version,Interval_Start (DATE),Interval_Start (TIME),Interval_Duration,Structure,"
    "Structure_Number,Blocks_SMDS,Blocks_Space_Map,Blocks_Msg_Data,Blocks_In_Use,Blocks_Free,Failed_Allocates,"
    "Max_Used_Blocks,Min_Free_Blocks,Waited_For_Pool,Waited_For_Buffer,Pool_Wait_Time(S),Pool_Wait_Time(US),"
    "Buffer_Wait_Time,Encrypted,Buffer_Get_Count,"
)
QESD_ROW = (
    '"2026/01/14","21:10:04,930000","SYSA","QM01","....",="800","2026/01/14","20:40:12,045359",1792,"APPLICATION1",1,402,'
    '1,401,17,384,2,30,371,4,5,1, 500000 ,7,"No   ",900,'
)
WQ_HEADING = (
    "Date,Time,LPAR,QMgr,QSG,MQ_Version,Correlation,Open_Name,Base_Name,Open (DATE),Open (TIME),Close (DATE),Close (TIME),"
    "Queue,Index,Scope,Open_Count,CF_Structure,Total_Bytes_Put,Total_Bytes_Get,Total_Valid_Puts,Total_Valid_Gets,"
    "Get_Max_Msg_Size,Get_Min_Msg_Size,Put_Max_Msg_Size,Put_Min_Msg_Size,Max_Time_On_Queue(S),Max_Time_On_Queue(US),"
    "Total_Time_On_Queue(S),Total_Time_On_Queue(US),Put_Persistent_Count,Put1_Persistent_Count,Max_Depth,"
    "Put_Waiting_Getter_Count,Put1_Waiting_Getter_Count,CFCount {Open_Lock},CFCount {Get_ReadList},"
    "CFSync {Get_ReadList},CFCount {Get_Move},"
)


def wq_row(*, close: str = "02:10:04,700000", scope: str = "Shared", structure: str = "APPLICATION1") -> str:
    return (
        '"2026/01/14","21:10:04,930000","SYSA","QM01","....",="800",="D05D49181ECC2D3A5BBA10405BB869F8",'
        '"PAYMENTS.IN                                     ","PAYMENTS.IN                                     ",'
        f'"2026/01/15","02:03:05,559301","2026/01/15","{close}","Local","None","{scope}",1,="{structure.ljust(12)}",'
        "1100,0,100,0,0,-1,11,11,0, 0 ,0, 0 ,60,2,5,7,1,0,31,30,9,"
    )


QQST_HEADING = (
    "Date,Time,LPAR,QMgr,QSG,MQ_Version,Interval_Start (DATE),Interval_Start (TIME),Interval_Duration,Queue,Queue_Disp,"
    "Record,QSG_Name,Structure,Pageset,BufferPool,Current_Depth,Queue_Depth_High_Water,Queue_Depth_Low_Water,Put,Put1,"
    "Put_P,Put1_P,Put_Bytes,Put1_Bytes,Msg_Length_Min,Msg_Length_Max,Get,Get_Bytes,Open,Expired,Fast_Put_Messages,"
)


def qqst_row(
    *, disposition: str = "SHARED ", record: str = "FULL   ", structure: str = "APPLICATION1"
) -> str:
    return (
        '"2026/01/14","21:10:04,930000","SYSA","QM01","    ",="946","2026/01/14","20:40:12,045359",1792,"ORDERS.IN",'
        f'"{disposition}","{record}","QSG1","{structure}",-1,-1,7,90,2,100,20,30,5,120000,8000,10,4096,99,98000,3,1,6,'
    )


def written(folder: Path, text: str | bytes, name: str = "input.txt") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rows(result: ReadResult, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table without null columns."""
    if table not in result.tables:
        return []
    found = result.tables[table].to_pylist()
    return [{name: value for name, value in row.items() if value is not None} for row in found]


def read_text(
    folder: Path,
    text: str | bytes,
    kind: Kind,
    *,
    observed_at: datetime | None = None,
    zone: tzinfo | None = None,
    qsg_of: dict[tuple[str, str], str] | None = None,
) -> ReadResult:
    return read(written(folder, text), kind, observed_at=observed_at, zone=zone, qsg_of=qsg_of)
