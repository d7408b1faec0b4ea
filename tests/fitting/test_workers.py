import threading
import time

import pytest

from seplearn._workers import ThreadWorkers


def test_results_come_in_the_order_of_the_items():
    def later_for_the_first(x):
        time.sleep(0.01 * (3 - x))
        return x

    with ThreadWorkers(2) as workers:
        assert workers.map(later_for_the_first, range(4)) == [0, 1, 2, 3]
        assert not workers.stop[0]


def test_an_exception_stops_the_others():
    done = []

    def fail(x):
        if x == 1:
            raise RuntimeError("bag 1")
        time.sleep(0.01)
        done.append(x)

    workers = ThreadWorkers(1)
    with pytest.raises(RuntimeError, match="bag 1"), workers:
        workers.map(fail, range(1000))
    assert workers.stop[0]
    assert len(done) < 500


def test_no_thread_outlives_the_block():
    before = set(threading.enumerate())
    with ThreadWorkers(3) as workers:
        workers.map(lambda x: x, range(10))
    assert set(threading.enumerate()) <= before
