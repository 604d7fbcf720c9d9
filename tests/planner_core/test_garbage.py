"""The garbage collector is paused for large documents only, by one block at a time, and always runs again."""

from __future__ import annotations

import gc
import threading

import pytest

from planner_core.garbage import LARGE_CHARACTERS, collection_paused, one_pause


def test_collector_is_paused_for_a_large_document_and_runs_again() -> None:
    with collection_paused(LARGE_CHARACTERS):
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collector_runs_for_a_small_document() -> None:
    with collection_paused(LARGE_CHARACTERS - 1):
        assert gc.isenabled()


def test_collector_runs_again_after_an_exception() -> None:
    with pytest.raises(ValueError, match="invalid"), collection_paused():
        raise ValueError("invalid")
    assert gc.isenabled()
    with collection_paused():
        assert not gc.isenabled()


def test_inner_block_leaves_the_pause_to_the_outer_block() -> None:
    with collection_paused():
        with collection_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_first_pause_in_a_call_lasts_until_its_end() -> None:
    with one_pause():
        with collection_paused(LARGE_CHARACTERS - 1):
            pass
        assert gc.isenabled()
        with collection_paused():
            pass
        assert not gc.isenabled()
        with one_pause(), collection_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_call_that_fails_ends_its_pause() -> None:
    with pytest.raises(ValueError, match="invalid"), one_pause(), collection_paused():
        raise ValueError("invalid")
    assert gc.isenabled()
    with collection_paused():
        assert not gc.isenabled()


def test_block_of_another_thread_does_not_extend_the_pause() -> None:
    entered, first_has_ended = threading.Event(), threading.Event()
    states: list[bool] = []

    def overlap() -> None:
        with collection_paused():
            entered.set()
            first_has_ended.wait(60)
            states.append(gc.isenabled())

    other = threading.Thread(target=overlap)
    with collection_paused():
        other.start()
        assert entered.wait(60)
    first_has_ended.set()
    other.join()
    assert states == [True]
    assert gc.isenabled()


def test_collector_that_the_process_has_disabled_stays_disabled() -> None:
    gc.disable()
    try:
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
