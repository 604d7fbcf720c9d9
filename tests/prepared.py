"""Commands that start at once: forked from a process that has already imported their modules.

Starting Python and importing the application takes longer than most commands. A client therefore passes the arguments,
folder, environment and standard files of a command to the prepared process, which forks the command and reports its process
ID and its exit code. The prepared process has imported the modules and done nothing else, so the command is a process like
any other: it can be killed, and has its own signals, files and environment.

Tests use `Prepared.start` and `Prepared.run`, of the process that `commands` returns. A program that is started by another
one, such as a shell, runs ASK, as do commands that read their input: see `Prepared.words`.
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
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO

COMMANDS = (
    "app.cli", "app.main", "app.keeper", "app.serve_cli", "app.backup.making", "app.nightly.cli",
    "app.nightly.keeper", "app.nightly.looking_around", "app.uploads.ingest_keeper", "uvicorn", "psycopg",
)  # fmt: skip
"""Modules of commands that many tests run."""
OPENED = ExitStack()
"""Closed after the last test, by `tests/conftest.py`."""
HEAD_BYTES, PID_BYTES, CODE_BYTES = 8, 4, 2
FILES = (0, 1, 2)
ROOT = Path(__file__).parents[1]
ASK = """
import _socket, marshal, os, sys
asked = marshal.dumps((sys.argv[2:], os.getcwd(), dict(os.environ)))
ready = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
ready.connect(sys.argv[1])
files = b"".join(each.to_bytes(4, sys.byteorder) for each in (0, 1, 2))
ready.sendmsg([len(asked).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
ready.sendall(asked)
ready.recv(4)
told = ready.recv(2)
code = int.from_bytes(told, "big", signed=True) if told else 70
os._exit(code if code >= 0 else 128 - code)
"""


class Started:
    """A command that was started, with the methods of `subprocess.Popen` that tests need."""

    def __init__(self, link: socket.socket, *files: IO[bytes]) -> None:
        self._link, self._files = link, files
        self.pid = int.from_bytes(link.recv(PID_BYTES), "big")
        self.returncode: int | None = None

    def send_signal(self, number: int) -> None:
        """Send a signal; a process that has ended gets none."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask the process to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process."""
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """Return the exit code, or None if the process runs."""
        # Not by select, which takes no file descriptor above 1023: a worker may have more open files.
        with suppress(BlockingIOError):
            return self._ended(socket.MSG_DONTWAIT)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end, and return the exit code; a negative one is the signal that ended the process.

        Raises:
            subprocess.TimeoutExpired: It has not ended after `timeout` seconds.
        """
        if self.returncode is None and timeout is not None:
            told = select.poll()
            told.register(self._link, select.POLLIN)
            if not told.poll(timeout * 1000):
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
        return self._ended(0)

    def _ended(self, flags: int) -> int:
        if self.returncode is None:
            told = self._link.recv(CODE_BYTES, flags)
            assert told, "the prepared process has ended"
            self.returncode = int.from_bytes(told, "big", signed=True)
            self._link.close()
        return self.returncode

    def texts(self) -> tuple[str, str]:
        """Return what the process has written to its standard output and standard error."""
        out, err = map(_text, self._files)
        return out, err

    def __enter__(self) -> Started:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()
        for each in self._files:
            each.close()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


class Prepared:
    """A process that has imported modules and forks commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def start(
        self, module: str, *arguments: str, environment: Mapping[str, str], cwd: Path = ROOT
    ) -> Started:
        """Start `main` of a module without input."""
        out, err = (tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115 - Started closes them
        with Path(os.devnull).open("rb") as nothing:
            files = (nothing.fileno(), out.fileno(), err.fileno())
            return Started(self._ask([module, *arguments], environment, cwd, files), out, err)

    def start_with(
        self, files: tuple[int, int, int], module: str, *arguments: str, environment: Mapping[str, str]
    ) -> Started:
        """Start `main` of a module with these open files as its standard input, output and error."""
        return Started(self._ask([module, *arguments], environment, ROOT, files))

    def _ask(
        self, words: list[str], environment: Mapping[str, str], cwd: Path, files: tuple[int, int, int]
    ) -> socket.socket:
        asked = marshal.dumps((words, str(cwd), dict(environment)))
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.connect(str(self.folder / "s"))
        socket.send_fds(link, [len(asked).to_bytes(HEAD_BYTES, "big")], files)
        link.sendall(asked)
        return link

    def run(
        self, module: str, *arguments: str, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run `main` of a module to its end."""
        with self.start(module, *arguments, environment=environment) as started:
            code = started.wait()
            return subprocess.CompletedProcess([module, *arguments], code, *started.texts())

    def words(self, module: str) -> list[str]:
        """Return the command for `subprocess` that runs `main` of a module; signals to it do not reach that process."""
        return [sys.executable, "-I", "-S", str(self.folder / "ask.py"), str(self.folder / "s"), module]


@cache
def commands() -> Prepared:
    """Return a process with the modules of the application, which all tests of this worker share."""
    return OPENED.enter_context(prepared(os.environ, *COMMANDS))


@contextmanager
def prepared(environment: Mapping[str, str], *modules: str) -> Iterator[Prepared]:
    """Run a process that has imported modules."""
    folder = Path(tempfile.mkdtemp())
    (folder / "ask.py").write_text(ASK, "utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "tests.prepared", str(folder / "s"), *modules],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield Prepared(folder)
        finally:
            process.kill()
            shutil.rmtree(folder)


def script(asked: Path, module: str) -> str:
    """Return a program for the shell that runs `main` of a module."""
    return f'#!/bin/sh\nexec {shlex.join(Prepared(asked).words(module))} "$@"\n'


def serve(path: str, *modules: str) -> int:
    """Serve requests until the parent ends; each request runs in a forked process."""
    for name in modules:
        importlib.import_module(name)
    assert threading.active_count() == 1, "a fork would lose the other threads"
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
                with suppress(OSError):  # the client may have ended
                    asking.sendall(process.to_bytes(PID_BYTES, "big"))
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
            asking.sendall(code.to_bytes(CODE_BYTES, "big", signed=True))


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
    sys.exit(serve(*sys.argv[1:]))
