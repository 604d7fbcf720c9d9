"""Messages between the application and `spark_jobs.starter`, on a Unix socket.

A request is the length of its text, with the job's standard output and standard error as ancillary data, then the text:
a JSON array of the module and its arguments. The answer is the exit code of the job, or minus the number of a signal.
"""

from __future__ import annotations

import struct

LENGTH = struct.Struct("!Q")
EXIT_CODE = struct.Struct("!i")
STREAMS = 2
"""The number of open files with a request."""
