from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import ThreadpoolController, threadpool_limits

from pacfourier.core.phases import _BLAS, run_tasks


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
