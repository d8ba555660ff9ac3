"""Forks, threads and interrupts in the middle of a fit."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.torture.attacks import attack
from sklearn.base import clone

from pacfourier import OKRFF, PBRFF, BoostedRFF, FourierClassifier, GibbsRFF, PBLandmarks

MODELS = (
    PBRFF(5, n_candidates=40, random_state=0),
    OKRFF(5, n_candidates=40, random_state=0),
    GibbsRFF(3, n_particles=3, n_steps=2, random_state=0),
    BoostedRFF(3, n_rounds=1, n_steps=2, random_state=0),
    PBLandmarks(n_landmarks=4, n_frequencies=6, random_state=0),
    FourierClassifier(3, alpha=1.0, piecewise=False, random_state=0),
)
X = np.random.default_rng(0).standard_normal((60, 3))
Y = (X[:, 0] > 0).astype(int)


def outputs(number: int) -> Any:
    """Fit one of the models, and return what it makes of the rows."""
    model = clone(MODELS[number % len(MODELS)]).fit(X, Y)
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.transform(X)


@contextmanager
def busy_threads(numbers: range) -> Iterator[list[BaseException]]:
    """Let threads fit again and again. Yield the list of what goes wrong in them."""
    stop, wrong = threading.Event(), []

    def fit_on(number: int) -> None:
        try:
            expected = outputs(number)
            while not stop.is_set():
                np.testing.assert_array_equal(outputs(number), expected)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=fit_on, args=(number,)) for number in numbers]
    for thread in threads:
        thread.start()
    try:
        yield wrong
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def delay(seed: int, most: float) -> float:
    """Return a random number of seconds."""
    return float(np.random.default_rng([seed, 3]).uniform(1e-4, most))


@attack(150)
def forks(seed: int, _folder: Path) -> None:
    """Fork while two threads fit; the child must fit, too."""
    expected = outputs(seed)
    with busy_threads(range(seed, seed + 2)) as wrong:
        time.sleep(delay(seed, 0.03))
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(30)
            try:
                os._exit(0 if np.array_equal(outputs(seed), expected) else 1)
            finally:
                os._exit(2)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code == 0, f"The child ended with code {code}."
    assert not wrong, wrong


@attack(50)
def threads(seed: int, _folder: Path) -> None:
    """Fit in four threads at the same time; every fit has the result of a fit alone."""
    expected = outputs(seed)
    with busy_threads(range(seed, seed + 4)) as wrong:
        np.testing.assert_array_equal(outputs(seed), expected)
    assert not wrong, wrong


@attack(100)
def interrupts(seed: int, _folder: Path) -> None:
    """Interrupt a fit; the estimator is as it was, and the next fit gives the same result."""
    expected, unfitted = outputs(seed), MODELS[seed % len(MODELS)]
    whole = set(vars(clone(unfitted).fit(X, Y)))
    model = clone(unfitted)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, delay(seed, 0.02))
    try:
        while True:
            model = clone(unfitted)
            model.fit(X, Y)
    except KeyboardInterrupt:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    left = set(vars(model))
    assert left in (set(vars(unfitted)), whole), f"The fit left {left ^ whole} undone."
    np.testing.assert_array_equal(outputs(seed), expected)
