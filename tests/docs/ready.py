"""Commands that start at once: forked from a process that has already imported their modules.

Starting Python and importing the application takes longer than most commands on the pages. A command therefore runs ASK
instead, which passes its arguments, folder, environment and standard files to the prepared process, and ends with the
exit status of the command. The prepared process has imported the modules and done nothing else.
"""

from __future__ import annotations

import array
import gc
import importlib
import marshal
import os
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

READY = ("app.cli", "app.main", "app.scenarios.service", "uvicorn", "tests.docs.curl")
HEAD_BYTES = 8
FILES = (0, 1, 2)
ROOT = Path(__file__).parents[2]
ASK = """
import _socket, marshal, os, sys
asked = marshal.dumps((sys.argv[2:], os.getcwd(), dict(os.environ)))
ready = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
ready.connect(sys.argv[1])
files = b"".join(each.to_bytes(4, sys.byteorder) for each in (0, 1, 2))
ready.sendmsg([len(asked).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
ready.sendall(asked)
told = ready.recv(1)
os._exit(told[0] if told else 70)
"""


@contextmanager
def ready(environment: Mapping[str, str]) -> Iterator[Path]:
    """Run such a process, and yield the path of its folder."""
    folder = Path(tempfile.mkdtemp())
    (folder / "ask.py").write_text(ASK, "utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "tests.docs.ready", str(folder / "s")],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield folder
        finally:
            process.kill()
            shutil.rmtree(folder)


def script(asked: Path, module: str) -> str:
    """Return a program for the shell that runs `main` of a module."""
    words = [sys.executable, "-I", "-S", str(asked / "ask.py"), str(asked / "s"), module]
    return f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'


def serve(path: str) -> int:
    """Serve requests until the parent ends; each request runs in a forked process."""
    for name in READY:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    running: dict[int, socket.socket] = {}
    ended, end = socket.socketpair()
    ended.setblocking(False)
    end.setblocking(False)
    signal.set_wakeup_fd(end.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen()
        os.write(1, b"ready\n")
        heard_of: list[socket.socket | int] = [listener, ended, 0]
        while True:
            heard, _, _ = select.select(heard_of, [], [])
            if 0 in heard:
                return 0
            if ended in heard:
                ended.recv(4096)
                _tell(running)
            if listener in heard:
                asking, _ = listener.accept()
                process = os.fork()
                if process == 0:
                    break
                running[process] = asking
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for each in (ended, end, *running.values()):
        each.close()
    return _run(asking)


def _tell(running: dict[int, socket.socket]) -> None:
    """Send the exit codes of finished processes to their clients."""
    while running:
        process, status = os.waitpid(-1, os.WNOHANG)
        if not process:
            return
        code = os.waitstatus_to_exitcode(status)
        with running.pop(process) as asking, suppress(OSError):
            asking.send(bytes([code if code >= 0 else 128 - code]))


def _run(asking: socket.socket) -> int:
    with asking:
        head, control, _, _ = asking.recvmsg(HEAD_BYTES, socket.CMSG_LEN(len(FILES) * 4))
        size, asked = int.from_bytes(head, "big"), b""
        while len(asked) < size:
            asked += asking.recv(size - len(asked))
    for to, each in zip(FILES, array.array("i", control[0][2]), strict=True):
        os.dup2(each, to)
        os.close(each)
    words, folder, environment = marshal.loads(asked)  # noqa: S302 - from the same Python
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = words
    code: int = importlib.import_module(words[0]).main()
    return code


if __name__ == "__main__":
    sys.exit(serve(sys.argv[1]))
