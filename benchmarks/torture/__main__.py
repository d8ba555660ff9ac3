"""Attack the library: random fits, kills, forged models, hostile tables, forks and threads.

``python -m benchmarks.torture`` prints each attack with the number of tries and of those that the
library survived. Every other try is printed with the command that repeats it. ``--only forks``
runs one attack, ``--share 0.1`` makes a tenth of the tries, and ``--first 1000`` makes others.
"""

import argparse
import os
import sys
import time

from benchmarks.torture import ATTACKS
from benchmarks.torture.workers import Failure, Worker, failures_of, make_try, started

# The first tries of this attack compile nearly everything, which one process does for all.
FIRST, N_FIRST = "fits_of_pbrff", 40
# Threads of several processes would only wait for each other.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
# Of an attack that fails often, the first failures say enough.
MOST_SHOWN = 20


def survived(name: str, seeds: range, workers: list[Worker]) -> bool:
    """Run an attack, print how it went, and return whether the library survived every try."""
    start = time.perf_counter()
    failures: list[Failure] = failures_of(name, seeds, workers)
    seconds = time.perf_counter() - start
    n_survived = len(seeds) - len(failures)
    print(f"{name:<24} {len(seeds):>7} {n_survived:>9} {seconds:>7.0f} s", flush=True)
    for failure in failures[:MOST_SHOWN]:
        print(failure, flush=True)
    return not failures


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.torture",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", choices=list(ATTACKS), nargs="+", default=list(ATTACKS))
    parser.add_argument("--share", type=float, default=1.0, help="share of the tries to make")
    parser.add_argument("--first", type=int, default=0, help="first seed of every attack")
    parser.add_argument("--workers", type=int, default=2, help="number of processes")
    parser.add_argument("--seed", type=int, help="make only this try, and show its error")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    """Run the attacks; return 1 if the library did not survive one of them."""
    given = arguments(words)
    if given.seed is not None:
        for name in given.only:
            make_try(name, given.seed)
        return 0
    os.environ.update(dict.fromkeys(THREADS, "1"))
    print(f"{'attack':<24} {'tries':>7} {'survived':>9} {'time':>9}")
    with started(given.workers) as workers:
        failures_of(FIRST, range(N_FIRST), workers[:1])
        results = []
        for name in given.only:
            n_tries = max(1, round(given.share * ATTACKS[name].n_tries))
            seeds = range(given.first, given.first + n_tries)
            results.append(survived(name, seeds, workers))
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
