"""Processes that make the tries, one at a time each. A process that dies is a failed try."""

import faulthandler
import multiprocessing
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NamedTuple

from benchmarks.torture import ATTACKS

# A new process inherits no thread, no lock and no state of BLAS.
CONTEXT = multiprocessing.get_context("spawn")
# A try that takes longer hangs. Compiling takes a minute on a slow machine.
MOST_SECONDS = 300


class Failure(NamedTuple):
    """A try that the library did not survive."""

    name: str
    seed: int
    reason: str

    def __str__(self) -> str:
        """Return what happened, and the command that repeats it."""
        repeat = f"python -m benchmarks.torture --only {self.name} --seed {self.seed}"
        return f"  {self.reason}\n  Repeat it: {repeat}"


class Worker:
    """A process that makes tries."""

    def __init__(self) -> None:
        self.pipe, other_end = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=serve, args=(other_end,))
        self.process.start()
        other_end.close()

    def answer(self) -> str:
        """Return why a try failed. Nothing if it did not."""
        try:
            return str(self.pipe.recv())
        except (EOFError, ConnectionResetError):
            self.process.join()
            return f"The process ended with code {self.process.exitcode}."

    def stop(self) -> None:
        """End the process."""
        self.pipe.send(None)
        self.process.join()


def serve(pipe: Connection) -> None:
    """Make the tries that arrive in a pipe, until None arrives. Answer why each one failed."""
    while (task := pipe.recv()) is not None:
        faulthandler.dump_traceback_later(MOST_SECONDS, exit=True, file=sys.__stderr__)
        try:
            make_try(*task)
            reason = ""
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            shown = " ".join(str(error).split())[:300]
            reason = f"{type(error).__name__} in {place.name}: {shown}"
        faulthandler.cancel_dump_traceback_later()
        pipe.send(reason)


def make_try(name: str, seed: int) -> None:
    """Make one try in this process. A warning about numbers is an error, others are ignored."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        ATTACKS[name].function(seed, Path(folder))


@contextmanager
def started(n_workers: int) -> Iterator[list[Worker]]:
    """Start workers, and end them afterwards."""
    workers = [Worker() for _ in range(n_workers)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.stop()


def failures_of(name: str, seeds: Iterable[int], workers: list[Worker]) -> list[Failure]:
    """Make the tries of one attack, and return those that failed. Dead workers are replaced."""
    failures: list[Failure] = []
    waiting, busy = iter(seeds), {}

    def give_work(number: int) -> None:
        seed = next(waiting, None)
        if seed is not None:
            workers[number].pipe.send((name, seed))
            busy[workers[number].pipe] = (number, seed)

    for number in range(len(workers)):
        give_work(number)
    while busy:
        for pipe in wait(list(busy)):
            number, seed = busy.pop(pipe)
            reason = workers[number].answer()
            if reason:
                failures.append(Failure(name, seed, reason))
            if not workers[number].process.is_alive():
                workers[number] = Worker()
            give_work(number)
    return sorted(failures, key=lambda failure: failure.seed)
