import threading
from contextlib import closing

import pytest

from pacfourier.core.prefetch import ahead


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("size", [0, 1, 2, 10])
def test_items_come_in_order(size, depth):
    assert list(ahead(iter(range(size)), depth)) == list(range(size))


def test_an_item_is_made_while_the_one_before_is_in_use():
    is_made = threading.Event()

    def items():
        yield 1
        is_made.set()
        yield 2

    with closing(ahead(items())) as found:
        assert next(found) == 1
        assert is_made.wait(timeout=60)


def test_no_more_items_are_made_than_asked_for():
    made = []
    with closing(ahead((made.append(number) for number in range(100)), depth=2)) as found:
        for _ in range(5):
            next(found)
    assert 5 <= len(made) <= 7


def test_an_error_is_raised_in_the_place_of_its_item():
    def items():
        yield 1
        raise ValueError("a bad item")

    found = ahead(items())
    assert next(found) == 1
    with pytest.raises(ValueError, match="a bad item"):
        next(found)


def test_no_thread_is_left_behind():
    with closing(ahead(iter(range(10)))) as found:
        next(found)
        assert any(thread.name.startswith("ahead") for thread in threading.enumerate())
    assert not any(thread.name.startswith("ahead") for thread in threading.enumerate())


def test_its_own_thread_may_close_it():
    """The garbage collector runs in any thread, and closes generators that were left."""
    left, is_paused, is_closed = [], threading.Event(), threading.Event()

    def items():
        yield 1
        is_paused.wait(timeout=10)
        left[0].close()
        is_closed.set()
        yield 2

    left.append(ahead(items()))
    assert next(left[0]) == 1
    is_paused.set()
    assert is_closed.wait(timeout=10)
