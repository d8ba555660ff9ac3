from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import sleep

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from pacfourier.core.threads import _BLAS, run_tasks


def blas_threads():
    libraries = ThreadpoolController().select(user_api="blas").info()
    return [library["num_threads"] for library in libraries]


def test_blas_is_held_to_one_thread_inside_and_released_after():
    seen = []
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        run_tasks(lambda block: seen.append((block, max(blas_threads()))), range(5))
        assert sorted(seen) == [(block, 1) for block in range(5)]
        assert blas_threads() == before


def test_the_last_to_leave_lifts_the_limit():
    """Contexts that overlap without being nested, as those of two threads do."""
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first, second = _BLAS.hold(), _BLAS.hold()
        assert first.__enter__() == second.__enter__() == max(before)
        first.__exit__(None, None, None)
        assert max(blas_threads()) == 1
        second.__exit__(None, None, None)
        assert blas_threads() == before


def in_another_thread(function):
    """Return the result of a function that is called in a thread which then ends."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(function).result()


def seen_by_tasks():
    seen = []
    run_tasks(lambda _: seen.append(max(blas_threads())), range(3))
    return seen


def test_a_limit_set_by_another_thread_is_held_and_restored():
    """The thread that set the limit would otherwise be the only one who may change it."""
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert in_another_thread(seen_by_tasks) == [1, 1, 1]
        assert blas_threads() == before


def test_after_a_call_in_another_thread_the_limit_can_still_be_changed():
    in_another_thread(seen_by_tasks)
    with threadpool_limits(2, user_api="blas"):
        assert max(blas_threads()) == 2
        assert seen_by_tasks() == [1, 1, 1]
    with threadpool_limits(1, user_api="blas"):
        assert max(blas_threads()) == 1


def test_a_limit_of_a_thread_that_waits_is_held_and_restored():
    """A thread that owns the limit is alive while the main thread computes."""
    is_set, may_end = Event(), Event()

    def owner():
        with threadpool_limits(2, user_api="blas"):
            is_set.set()
            may_end.wait(60)

    with ThreadPoolExecutor(1) as executor:
        running = executor.submit(owner)
        assert is_set.wait(60)
        before = blas_threads()
        assert seen_by_tasks() == [1, 1, 1]
        assert blas_threads() == before
        may_end.set()
        running.result()


def test_callers_in_many_threads_leave_the_limits_as_they_were():
    def caller(seed):
        values = np.random.default_rng(seed).standard_normal((60, 60))
        for _ in range(20):
            run_tasks(lambda block: values @ values[:, block : block + 1], range(4))

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with ThreadPoolExecutor(8) as executor:
            list(executor.map(caller, range(8)))
        assert blas_threads() == before


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("bad", [0, 1, 499])
def test_an_error_in_a_task_is_raised_and_later_calls_work(n_threads, bad):
    done = []

    def work(block):
        if block == bad:
            raise ValueError(f"task {block}")
        done.append(block)

    with threadpool_limits(n_threads, user_api="blas"):
        with pytest.raises(ValueError, match=f"task {bad}$"):
            run_tasks(work, range(500))
        assert bad not in done
        run_tasks(done.append, [-1, -2, -3])
    assert sorted(done[-3:]) == [-3, -2, -1]


def test_other_threads_stop_after_an_error():
    done = []

    def work(block):
        if block == 0:
            raise ValueError("task 0")
        done.append(block)
        sleep(0.002)

    with threadpool_limits(2, user_api="blas"), pytest.raises(ValueError, match="task 0"):
        run_tasks(work, range(500))
    assert len(done) < 499


def test_every_task_is_done_once():
    done = []
    with threadpool_limits(2, user_api="blas"):
        run_tasks(done.append, range(1000))
    assert sorted(done) == list(range(1000))
