"""Attack the library: random fits, kills, forged models, hostile tables, forks and threads.

``python benchmarks/torture.py`` prints each attack with the number of tries and of those that the
library survived. A try that it did not survive is printed with its seed. ``--share 0.1`` makes a
tenth of the tries, and ``--only fits`` runs one attack.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse

from pacfourier import PBRFF
from pacfourier.written_files import write_file

ATTACKS: dict[str, tuple[int, Callable[[int, Path], None]]] = {}
COMMAND = [sys.executable, "-m", "pacfourier"]


def attack(n_tries: int) -> Callable[[Callable[[int, Path], None]], Callable[[int, Path], None]]:
    """Register a function of a seed and a folder that raises an error if the library fails."""

    def register(function: Callable[[int, Path], None]) -> Callable[[int, Path], None]:
        ATTACKS[function.__name__] = (n_tries, function)
        return function

    return register


def naive_losses(X: np.ndarray, y: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Return the alignment losses, as the mean over all pairs of different rows."""
    kernels = np.cos((X[:, np.newaxis] - X) @ frequencies.T)
    agreements = np.where(y[:, np.newaxis] == y, 1.0, -1.0)
    pairs = ~np.eye(len(X), dtype=bool)
    return ((1 - agreements[..., np.newaxis] * kernels) / 2)[pairs].mean(axis=0)


def random_rows(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of any size, scale and type, and labels of any type."""
    n_rows, n_columns = int(rng.integers(4, 40)), int(rng.integers(1, 12))
    X = rng.standard_normal((n_rows, n_columns)) * 10.0 ** rng.integers(-9, 10)
    X *= rng.random(X.shape) < rng.choice([0.3, 1.0])
    y = np.resize(np.arange(rng.integers(2, 4)), n_rows)
    names = [y, y - 1, y.astype(float), y.astype(str), y.astype(object), y.astype(np.int8)]
    return X, names[rng.integers(len(names))][rng.permutation(n_rows)]


def written(X: np.ndarray, rng: np.random.Generator) -> object:
    """Return the same rows in another order in memory or as a sparse matrix."""
    forms = [np.ascontiguousarray, np.asfortranarray, sparse.csr_matrix, sparse.csc_array]
    forms += [sparse.coo_array, np.ndarray.tolist, lambda X: np.repeat(X, 2, axis=0)[::2]]
    return forms[rng.integers(len(forms))](X)


@attack(25_000)
def fits(seed: int, _folder: Path) -> None:
    """Compare the losses of a random fit with the naive twin, and check what follows from them."""
    rng = np.random.default_rng(seed)
    X, y = random_rows(rng)
    precision = str(rng.choice(["auto", "single", "double"]))
    model = PBRFF(
        int(rng.integers(1, 8)),
        n_candidates=16,
        beta=float(10.0 ** rng.integers(-3, 19)),
        gamma=[float(10.0 ** rng.integers(-20, 10)), "scale", "median"][rng.integers(3)],
        precision=precision,
        target_type="binary" if len(set(y)) == 2 else "auto",
        random_state=seed,
    ).fit(written(X, rng), y)
    frequencies = model.pool_[np.arange(16)]
    phases = np.abs(X) @ np.abs(frequencies.T)
    allowed = 1e-9 + 1e-14 * phases.max()
    if precision == "single":
        allowed += 1e-4 + 2e-6 * min(phases.max(), 2000.0)
    if phases.max() < 1e9:
        expected = naive_losses(X, y, frequencies)
        np.testing.assert_allclose(model.losses_, expected, atol=allowed)
    assert abs(model.posterior_.sum() - 1) < 1e-9
    assert np.isfinite(model.transform(X)).all()
    certificate = model.certificate(0.05, ties="genuine")
    if not certificate.violations and certificate.value < certificate.ceiling:
        assert certificate.value >= certificate.empirical_loss


def killed(command: list[str], seconds: float) -> None:
    """Start a command and kill it after some seconds, with SIGKILL."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


WRITER = """
import sys
from pathlib import Path
from pacfourier.written_files import write_file
while True:
    for digit in b"ab":
        write_file(Path(sys.argv[1]), bytes([digit]) * 3_000_000)
"""


@attack(20)
def kills_while_writing(seed: int, folder: Path) -> None:
    """Kill a process that writes files: the file is whole, and the next write clears up."""
    path = folder / "model.skops"
    write_file(path, b"a" * 3_000_000)
    delay = float(np.random.default_rng(seed).uniform(1.0, 2.5))
    killed([sys.executable, "-c", WRITER, str(path)], delay)
    content = path.read_bytes()
    assert len(content) == 3_000_000
    assert len(set(content)) == 1
    write_file(path, b"")
    assert [each.name for each in folder.iterdir()] == ["model.skops"]


@attack(20)
def kills_while_reproducing(seed: int, folder: Path) -> None:
    """Kill a reproduction; the next one finds every row whole."""
    from pacfourier.experiments import open_records

    arguments = ["reproduce", "--experiment", "toy", "--jobs", "1", "--out", str(folder)]
    killed([*COMMAND, *arguments], float(np.random.default_rng(seed).uniform(2.0, 8.0)))
    with open_records(folder) as records:
        assert len(records.finished()) == len(records.results())


def table(folder: Path, seed: int = 0) -> Path:
    """Write a table of two classes, and return its path."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((120, 2))
    lines = [f"{a:.6f},{b:.6f},{'yes' if a > b else 'no'}" for a, b in rows]
    path = folder / "table.csv"
    path.write_text("\n".join(["a,b,y", *lines]) + "\n")
    return path


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command; it must end by itself with code 0, or with code 2 and one line."""
    found = subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300
    )
    last = found.stderr.strip().splitlines()[-1:]
    assert found.returncode in (0, 2), (found.returncode, last)
    assert "Traceback" not in found.stderr, last
    return found


@cache
def fitted_model() -> bytes:
    """Return the content of the file of a fitted model."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model.skops")
        assert run("fit", table(Path(folder)), "--target", "y", "--out", model).returncode == 0
        return model.read_bytes()


@attack(40)
def model_files(seed: int, folder: Path) -> None:
    """Predict with a model that was damaged, forged or bombed: one line, or a prediction."""
    data, model = table(folder), folder / "model.skops"
    if seed % 4 == 0:
        with zipfile.ZipFile(model, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("schema.json", b" " * 10 ** (6 + seed % 3))
    else:
        content, rng = bytearray(fitted_model()), np.random.default_rng(seed)
        for place in rng.integers(0, len(content), 1 + seed % 9):
            content[place] = rng.integers(256)
        model.write_bytes(content[: len(content) // 2] if seed % 4 == 1 else content)
    run("predict", model, data, "--out", folder / "predictions.csv")


HOSTILE = [
    "", "a,b,y", "a,b,y\n1,2,x", "y\nx\nz", "a,a,y\n1,2,x\n", "a,y\n1e400,x\n2,z\n", "\x00\x01",
    "a,y\n" + "nan,x\n" * 9, "a,y\n" + ",\n" * 9, 'a,y\n"1,x\n', "a,y\n1,x,3\n", "a;y\n1;x\n",
    "\ufeffa,y\n1,x\n2,z\n", "a,y\n" + "=1+1,=cmd\n" * 5, "a,y\n" + "9" * 5000 + ",x\n",
]  # fmt: skip


@attack(40)
def tables(seed: int, folder: Path) -> None:
    """Fit on a table that nobody should write: a model, or one line."""
    path = table(folder, seed)
    if seed < len(HOSTILE):
        path.write_text(HOSTILE[seed], "utf-8")
    else:
        content, rng = bytearray(path.read_bytes()), np.random.default_rng(seed)
        for place in rng.integers(0, len(content), 20):
            content[place] = rng.integers(256)
        path.write_bytes(content)
    run("fit", path, "--target", "y", "--out", folder / "model.skops")


def small_fit(seed: int = 0) -> float:
    """Fit a small map, and return the sum of its losses."""
    X = np.random.default_rng(seed).standard_normal((60, 3))
    return float(PBRFF(5, n_candidates=40, random_state=0).fit(X, X[:, 0] > 0).losses_.sum())


@attack(150)
def forks(seed: int, _folder: Path) -> None:
    """Fork while two threads fit; the child must fit, too."""
    expected, stop = small_fit(), threading.Event()

    def fit_on() -> None:
        while not stop.is_set():
            small_fit()

    threads = [threading.Thread(target=fit_on) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(float(np.random.default_rng(seed).uniform(0, 0.02)))
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            os._exit(0 if small_fit() == expected else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@attack(50)
def interrupts(seed: int, _folder: Path) -> None:
    """Interrupt a fit; the estimator is as it was, and the next fit gives the same result."""
    expected = small_fit()
    delay = float(np.random.default_rng(seed).uniform(1e-4, 5e-3))
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, delay)
    try:
        while True:
            small_fit()
    except KeyboardInterrupt:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert small_fit() == expected


@attack(10)
def dask_blocks(seed: int, _folder: Path) -> None:
    """Fit on Dask blocks of which one is bad: the error is ours, and the next fit works."""
    import dask.array as da

    X = np.random.default_rng(seed).standard_normal((60, 3))
    y = (X[:, 0] > 0).astype(int)
    bad = X.copy()
    bad[30, 1] = [np.nan, np.inf, 1e300][seed % 3]
    model = PBRFF(5, n_candidates=40, random_state=0)
    try:
        model.fit(da.from_array(bad, chunks=(20, 3)), da.from_array(y, chunks=20))
    except ValueError:
        model.fit(da.from_array(X, chunks=(20, 3)), da.from_array(y, chunks=20))
    else:
        raise AssertionError("a bad block was accepted")


def survived(name: str, share: float) -> bool:
    """Run an attack, print how it went, and return whether the library survived every try."""
    n_tries, function = ATTACKS[name]
    n_tries = max(1, round(share * n_tries))
    failures, start = [], time.perf_counter()
    for seed in range(n_tries):
        with tempfile.TemporaryDirectory() as folder:
            try:
                function(seed, Path(folder))
            except Exception as error:
                failures.append(f"  seed {seed}: {type(error).__name__}: {str(error)[:300]}")
    seconds = time.perf_counter() - start
    n_survived = n_tries - len(failures)
    print(f"{name:<24} {n_tries:>7} tries {n_survived:>7} survived {seconds:>7.0f} s", flush=True)
    print("\n".join(failures[:20]), end="\n" if failures else "", flush=True)
    return not failures


def main() -> int:
    """Run the attacks; return 1 if the library did not survive one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--only", choices=list(ATTACKS), nargs="+", default=list(ATTACKS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    results = [survived(name, arguments.share) for name in arguments.only]
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
