"""A call is stopped at any moment of its life, or not at all: nothing of the stop remains in its thread."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from app import calls
from app.calls import Call, CallStopped, CpuLimitExceeded, Overseer, RequestWork, ServiceStopping
from app.database.transactions import COMMITTING
from planner_core.errors import PlannerError

LIMIT_S = 10.0


def _no_answer(_: PlannerError) -> None:
    return


async def _work(overseer: Overseer) -> RequestWork:
    return RequestWork(overseer, _no_answer)


@pytest.fixture(autouse=True)
def _commits_of_other_tests() -> Iterator[None]:
    """Undo what calls in this thread set; otherwise, commits of later tests would belong to a stopped call."""
    before = COMMITTING.set(COMMITTING.get())
    yield
    COMMITTING.reset(before)


@pytest.fixture
def work() -> RequestWork:
    return asyncio.run(_work(Overseer(LIMIT_S)))


def _opcodes_in(work: Callable[[], object], at: Callable[[int], None]) -> int:
    """Run work and call a function with the number of each opcode that it executes in the modules of calls and this test."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:  # noqa: ANN401 - a trace function
        nonlocal count
        if frame.f_code.co_filename not in (calls.__file__, __file__) or frame.f_code is stop_code:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            count += 1
            at(count)
        return trace

    stop_code = at.__code__
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def _stop_at(call: Call, number: int) -> Callable[[int], None]:
    def at(count: int) -> None:
        # Another thread would wait for the lock and stop the call after it.
        if count == number and not call._lock.locked():
            stopper = threading.Thread(target=call.stop)
            stopper.start()
            stopper.join()

    return at


def _use_thread() -> None:
    """Run enough code for a pending exception to be raised."""
    for number in range(100):
        str(number).strip()


def test_stop_at_each_opcode_ends_the_call_cleanly_or_comes_too_late(work: RequestWork) -> None:
    outcomes = set()
    last = _opcodes_in(lambda: Call(work, lambda: "done").run(), lambda _: None)
    for number in range(1, last + 1):
        call = Call(work, lambda: "done")
        with contextlib.suppress(CpuLimitExceeded):
            outcomes.add(_result(call, number))
        _use_thread()
        assert call not in work.calls
        assert not call.stop() or call.stopped_at is not None
        _use_thread()
    assert outcomes == {"done", CpuLimitExceeded}


def _result(call: Call, number: int) -> object:
    found: list[object] = []

    def run() -> None:
        try:
            found.append(call.run())
        except CpuLimitExceeded:
            found.append(CpuLimitExceeded)

    _opcodes_in(run, _stop_at(call, number))
    return found[0]


def test_commit_is_never_interrupted_and_always_known(work: RequestWork) -> None:
    def commit() -> Iterator[str]:
        with COMMITTING.get()():
            yield "begun"
            yield "committed"

    seen = set()

    def change(steps: list[str]) -> None:
        with COMMITTING.get()():
            steps.append("begun")
            steps.append("committed")

    last = _opcodes_in(lambda: Call(work, change).run([]), lambda _: None)
    for number in range(1, last + 1):
        work.has_committed = False
        steps: list[str] = []
        call = Call(work, change)

        def run(call: Call = call, steps: list[str] = steps) -> None:
            with contextlib.suppress(CpuLimitExceeded):
                call.run(steps)

        _opcodes_in(run, _stop_at(call, number))
        _use_thread()
        assert steps in ([], ["begun", "committed"])
        assert work.has_committed == bool(steps)
        seen.add((bool(steps), call.stopped_at is not None))
    assert seen == {(True, False), (False, True), (True, True)}
    del commit


def test_threads_that_race_leave_nothing_behind(work: RequestWork) -> None:
    stopped = 0
    for _ in range(300):
        call = Call(work, lambda: sum(range(50)))
        begin = threading.Barrier(2)

        def stop(call: Call = call, begin: threading.Barrier = begin) -> None:
            begin.wait()
            while not call._has_ended and not call.stop():
                pass

        stopper = threading.Thread(target=stop)
        stopper.start()
        begin.wait()
        try:
            assert call.run() == 1225
        except CpuLimitExceeded:
            stopped += 1
        _use_thread()
        stopper.join()
    assert not work.calls


def test_time_of_all_calls_counts() -> None:
    work = asyncio.run(_work(Overseer(0.2)))
    Call(work, _spend).run(0.15)
    call = Call(work, _spend)
    over: list[bool] = []

    def look() -> None:
        while not over:
            if call.is_over_limit:
                over.append(call.stop())

    watcher = threading.Thread(target=look)
    watcher.start()
    with pytest.raises(CpuLimitExceeded, match=r"0\.2 seconds of processor time"):
        call.run(60)
    watcher.join()


def _spend(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_waiting_is_not_counted() -> None:
    work = asyncio.run(_work(Overseer(LIMIT_S)))
    Call(work, time.sleep).run(0.3)
    assert work.used_ns < 0.3e9


def test_body_extends_the_limit(work: RequestWork) -> None:
    before = work.allowed_ns
    work.body_bytes = 64 * 2**20
    assert work.allowed_ns - before == 2e9


def test_stopped_request_begins_no_call_but_ends_its_transaction(work: RequestWork) -> None:
    work.is_stopped = True
    with pytest.raises(CpuLimitExceeded):
        Call(work, _use_thread).run()

    class Transaction:
        is_over = False

        def __exit__(self, *_: object) -> None:
            self.is_over = True

    transaction = Transaction()
    Call(work, transaction.__exit__).run(None, None, None)
    assert transaction.is_over


def test_finally_blocks_run_and_handlers_for_errors_do_not(work: RequestWork) -> None:
    done: list[str] = []

    def careless() -> None:
        try:
            call.stop()
            _spend(60)
        except Exception:  # noqa: BLE001 - as code that ignores every error
            done.append("ignored")
        finally:
            done.append("undone")

    call = Call(work, careless)
    with pytest.raises(CpuLimitExceeded) as raised:
        call.run()
    assert done == ["undone"]
    assert raised.value.__cause__ is None
    assert not isinstance(CallStopped(), Exception)


def test_reason_is_the_end_of_the_service_when_it_stops(work: RequestWork) -> None:
    work.overseer.is_ending = True
    assert isinstance(work.error(), ServiceStopping)


def test_stopped_call_that_does_not_end_is_answered_and_a_commit_is_not() -> None:
    overseer, answers = Overseer(LIMIT_S), list[tuple[str, PlannerError]]()
    has_begun, may_end = threading.Barrier(3), threading.Event()

    async def begin(name: str) -> RequestWork:
        found = RequestWork(overseer, lambda error: answers.append((name, error)))
        overseer.requests.add(found)
        return found

    def query() -> None:
        has_begun.wait()
        may_end.wait()  # in C, so the exception is raised only when it ends

    def commit() -> None:
        with call.uninterrupted_commit():
            query()

    querying, committing = asyncio.run(begin("query")), asyncio.run(begin("commit"))
    call = Call(committing, commit)
    threads = [
        threading.Thread(target=_run_and_ignore_the_stop, args=(each,))
        for each in (Call(querying, query), call)
    ]
    for thread in threads:
        thread.start()
    has_begun.wait()
    try:
        overseer.answer_stopped()
        assert answers == []
        for each in (querying, committing):
            for running in tuple(each.calls):
                running.stop()
        overseer.is_ending = True
        overseer.answer_stopped()
    finally:
        may_end.set()
        for thread in threads:
            thread.join()
    ((name, error),) = answers
    assert name == "query"
    assert isinstance(error, ServiceStopping)
    assert "Nothing was stored." in str(error)


def _run_and_ignore_the_stop(call: Call) -> None:
    with contextlib.suppress(PlannerError):
        call.run()


def test_system_without_clocks_of_threads_uses_time_and_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(time, "pthread_getcpuclockid")
    clock = calls.thread_clock(threading.get_ident())
    before = clock()
    _spend(0.05)
    used = clock() - before
    assert used >= 0.05e9
    time.sleep(0.3)
    assert clock() - before < used + 0.3e9
