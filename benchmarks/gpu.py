"""Measure pacfourier on one CUDA device, beside lower bounds and beside our own goals.

    PACFOURIER_DATA=folder python benchmarks/gpu.py

The first table has the parts of the alignment losses, in milliseconds, as medians of CUDA events:

- "sums": all work on the device, from samples, codes and frequencies to the sums of every class;
- "kernel": the one large kernel in it, and "one product" the same kernel with coarse products;
- "torch": the same sums by blocked products in float32;
- "floor": a lower bound, the larger of two times. One is the time of the three 16-bit products at
  the rate of a large product on this device. The other is the time to read samples and frequencies
  and to write sums, at the rate of a large copy.

The second table has what a user waits for, as the best of several calls after the first, beside
the goal, and the most memory of the device that was in use, data included. One row fits an array on
the host of 4.3 GB, which streams to the device in batches. Its time is divided by the larger of
two: the time of the copies alone, and that of the fit on a tensor on the device. The last rows need
MNIST in the folder PACFOURIER_DATA, and are left out without it.

The third table has complete fits on digits 1 and 7, on the device and on the cores of the same
machine, in seconds. Each is the second call; the first compiles. It needs MNIST, too.
"""

import math
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import torch

from pacfourier import (
    PBRFF,
    BoostedRFF,
    FourierClassifier,
    GibbsRFF,
    PBLandmarks,
    alignment_losses,
    device_batches,
    fit_batches,
)
from pacfourier.tensors.phases import magnitudes, row_blocks
from pacfourier.tensors.triton.halves import class_chunks, powers_of_two, tile_of
from pacfourier.tensors.triton.kernels import chunk_sums
from pacfourier.tensors.triton.layouts import frequency_halves, sample_halves
from pacfourier.tensors.triton.sums import _column_sums
from ten_digits import ten_digits

# Samples, features and candidates; the goals of the kernel, the losses and the fit in milliseconds.
SHAPES = {
    (26_048, 108, 20_000): (None, 3.5, 8),
    (8_268, 784, 20_000): (None, 4, 12),
    (1_000_000, 108, 20_000): (30, 55, 80),
}
N_TIMES = 15
# Rows and columns of the array on the host, and the goal of its ratio.
HOST_SHAPE, HOST_GOAL = (10_000_000, 108), 1.3
# Rows of MNIST for ten classes, a sixth of which is for validation, and for two classes.
DIGITS, ONES_AND_SEVENS = 60_000, 9_101


def median_time(work, n_times=N_TIMES):
    """Return the median of CUDA events around a call, in milliseconds, after one warm-up."""
    work()
    times = []
    for _ in range(n_times):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return float(np.median(times))


def sample(n_samples, n_features, n_frequencies):
    """Return samples of two classes, and frequencies with phases of a few turns."""
    generator = torch.Generator("cuda").manual_seed(0)
    X = torch.rand((n_samples, n_features), generator=generator, device="cuda")
    y = np.random.default_rng(0).choice([-1, 1], n_samples)
    shape = (n_frequencies, n_features)
    W = 4 * torch.randn(shape, generator=generator, device="cuda") / math.sqrt(n_features)
    return X, y, W


def measured_rates():
    """Return the operations per second of a 16-bit product, and the bytes per second of a copy."""
    a = torch.randn((8192, 8192), device="cuda").half()
    product = median_time(lambda: a @ a)
    big = torch.empty(2**30, dtype=torch.uint8, device="cuda")
    copy = median_time(big.clone)
    return 2 * 8192**3 / product * 1e3, 2 * 2**30 / copy * 1e3


def parts(shape, flops, bandwidth):
    """Return the measurements of the parts of one shape."""
    X, y, W = sample(*shape)
    n_samples, n_features, n_frequencies = shape
    tile, largest = tile_of(X), magnitudes(X)
    columns = torch.as_tensor(y > 0, device="cuda").long()
    chunks = class_chunks(columns, np.bincount(y > 0), tile.samples)
    width = -(-n_features // tile.features) * tile.features
    n_padded = -(-n_frequencies // tile.frequencies) * tile.frequencies
    units = powers_of_two(largest)
    left, _ = frequency_halves(W, units, largest, n_padded, width)
    right = sample_halves(X, chunks, units, width)
    found, _ = _column_sums(X, chunks, 2, W, largest, tile)
    exact = double_sums(X, y, W[:512])
    error = float((found[:, :2, :512] - exact).abs().max()) / n_samples
    floor = max(
        3 * 2 * n_samples * n_frequencies * n_features / flops,
        4 * (X.numel() + W.numel() + 8 * n_frequencies) / bandwidth,
    )
    n_times = 5 if n_samples > 10**5 else N_TIMES
    return {
        "n x d x N": _name(shape),
        "sums": median_time(lambda: _column_sums(X, chunks, 2, W, largest, tile), n_times),
        "kernel": median_time(
            lambda: chunk_sums(left, right, chunks, tile, is_exact=True), n_times
        ),
        "one product": median_time(
            lambda: chunk_sums(left, right, chunks, tile, is_exact=False), n_times
        ),
        "torch": median_time(lambda: torch_sums(X, y, W), min(n_times, 5)),
        "floor": 1e3 * floor,
        "error / n": error,
    }


def _name(shape):
    return " x ".join(f"{size:,}" for size in shape)


def double_sums(X, y, W):
    """Return cosine and sine sums of both classes, in double precision."""
    members = [torch.as_tensor(np.flatnonzero(y == label), device="cuda") for label in (-1, 1)]
    found = torch.zeros((2, 2, len(W)), dtype=torch.float64, device="cuda")
    for label, rows_of in enumerate(members):
        for part in rows_of.split(8192):
            phases = X[part].double() @ W.double().T
            found[label] += torch.stack([phases.cos().sum(dim=0), phases.sin().sum(dim=0)])
    return found


def torch_sums(X, y, W):
    """Return the sums by blocked products in float32, all on the device."""
    codes = torch.as_tensor(np.stack([y < 0, y > 0]), device="cuda").float()
    totals = torch.zeros((2, 2, len(W)), dtype=torch.float64, device="cuda")
    for block in row_blocks(len(X), len(W)):
        phases = X[block] @ W.T
        totals[0] += codes[:, block] @ phases.cos()
        totals[1] += codes[:, block] @ phases.sin()
    return totals


def wall_time(work, n_times=N_TIMES):
    """Return the wall time of a call in milliseconds, the best of several after a warm-up."""
    work()
    times = []
    for _ in range(n_times):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    return min(times)


def waits(shape, kernel):
    """Yield what a user waits for on one shape: its name, the time, the goal and a remark."""
    X, y, W = sample(*shape)
    kernel_goal, losses_goal, fit_goal = SHAPES[shape]
    name = _name(shape)
    if kernel_goal is not None:
        yield f"{name}: kernel alone, ms", kernel, kernel_goal, ""
    yield (
        f"{name}: alignment_losses, ms",
        wall_time(lambda: alignment_losses(X, y, W)),
        losses_goal,
        "",
    )
    fit = wall_time(lambda: PBRFF(100, random_state=0).fit(X, y))
    yield f"{name}: PBRFF.fit, ms", fit, fit_goal, ""


def host_sample(shape):
    """Return samples of two classes in the memory of the host, made by several threads."""
    X = np.empty(shape, dtype=np.float32)
    blocks = np.array_split(X, 16)

    def make(number):
        np.random.default_rng([0, number]).random(dtype=np.float32, out=blocks[number])

    with ThreadPoolExecutor() as threads:
        list(threads.map(make, range(len(blocks))))
    return X, np.random.default_rng(0).choice([-1, 1], len(X))


def stream_waits():
    """Yield the same for a fit of an array on the host, and compare its sums with a tensor's."""
    X, y = host_sample(HOST_SHAPE)
    whole, model = PBRFF(100, random_state=0), PBRFF(100, random_state=0)
    there = torch.as_tensor(X, device="cuda")
    computing = wall_time(partial(whole.fit, there, y), 3)
    # The memory of this row is that of the fit of an array on the host.
    del there
    torch.cuda.reset_peak_memory_stats()
    copies = wall_time(lambda: [None for _ in device_batches(X, y)], 3)
    streamed = wall_time(lambda: fit_batches(model, device_batches(X, y)), 3)
    error = float(np.abs(model.sums_.waves - whole.sums_.waves).max()) / len(X)
    remark = f"{streamed:.0f} ms; copies {copies:.0f}, tensor {computing:.0f}; sums {error:.0e} n"
    name = f"{len(X):,} x {X.shape[1]} on the host: fit / max(copies, tensor)"
    yield name, streamed / max(copies, computing), HOST_GOAL, remark


def digit_waits():
    """Yield the same for complete fits on MNIST, in seconds."""
    images, digits = ten_digits(DIGITS)
    X, y, X_test = (torch.tensor(each, device="cuda") for each in (images[0], digits[0], images[2]))
    for model in (BoostedRFF(500, random_state=0), FourierClassifier(500, random_state=0)):
        seconds = wall_time(lambda model=model: model.fit(X, y), 2) / 1e3
        name = f"{type(model).__name__}(500), {len(X):,} digits, s"
        predictor = Ridge(model, X, y) if isinstance(model, BoostedRFF) else model
        error = float((predictor.predict(X_test) != digits[2]).mean())
        yield name, seconds, 2.5, f"test error {error:.4f}"
    chosen = torch.isin(y, torch.tensor([1, 7], device="cuda"))
    X, y = X[chosen][:ONES_AND_SEVENS], y[chosen][:ONES_AND_SEVENS]
    model = GibbsRFF(100, target_type="binary", random_state=0)
    seconds = wall_time(lambda: model.fit(X, y), 2) / 1e3
    value = model.certificate(duplicates="genuine").value
    yield f"GibbsRFF(100), {len(X):,} digits 1 and 7, s", seconds, 1.5, f"certificate {value:.4f}"


def complete_fits():
    """Yield the seconds of whole fits on digits 1 and 7, on the device and on the cores."""
    images, digits = ten_digits(DIGITS)
    chosen = np.flatnonzero(np.isin(digits[0], (1, 7)))[:ONES_AND_SEVENS]
    X, y = images[0][chosen].astype(np.float32), digits[0][chosen]
    there = torch.as_tensor(X, device="cuda")
    maps = (PBRFF(100), BoostedRFF(100), PBLandmarks(), GibbsRFF(100))
    calls = [(model, "fit") for model in maps] + [(maps[2], "transform")]
    for model, name in calls:
        work = getattr(model.set_params(random_state=0), name)
        on_device, on_host = ((there, y), (X, y)) if name == "fit" else ((there,), (X,))
        yield {
            "what": f"{type(model).__name__}, {name}",
            "device, s": wall_time(partial(work, *on_device), 1) / 1e3,
            f"{os.cpu_count()} cores, s": wall_time(partial(work, *on_host), 1) / 1e3,
        }


class Ridge:
    """A linear model on a feature map: one regression per digit, on the device."""

    def __init__(self, model, X, y):
        self.model = model
        features = self.features(X)
        signs = 2.0 * torch.nn.functional.one_hot(y.long()) - 1
        ridge = 1e-2 * torch.eye(features.shape[1], device="cuda", dtype=torch.float64)
        self.weights = torch.linalg.solve(
            features.T @ features + ridge, features.T @ signs.double()
        )

    def features(self, X):
        """Return the features and a constant, in double precision."""
        mapped = self.model.transform(X).double()
        return torch.cat([mapped, torch.ones_like(mapped[:, :1])], dim=1)

    def predict(self, X):
        """Return digits."""
        return (self.features(X) @ self.weights).argmax(dim=1).cpu().numpy()


def with_memory(parts):
    """Add to each row how much memory of the device was in use at most, data included, in MB.

    A generator keeps its data until it ends, so each part starts with a reset of its own.
    """
    for rows in parts:
        torch.cuda.reset_peak_memory_stats()
        for row in rows:
            yield *row, torch.cuda.max_memory_allocated() / 1e6
            torch.cuda.reset_peak_memory_stats()


def print_table(rows):
    """Print rows of equal keys as a table."""
    print("| " + " | ".join(rows[0]) + " |")
    print("| --- " * len(rows[0]) + "|")
    for row in rows:
        print("| " + " | ".join(_cell(value) for value in row.values()) + " |")


def _cell(value):
    if isinstance(value, str):
        return value
    return f"{value:.1e}" if value < 1e-3 else f"{value:.3g}"


def main():
    """Print the tables."""
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    flops, bandwidth = measured_rates()
    print(f"16-bit product {flops / 1e12:.0f} TFLOP/s, copy {bandwidth / 1e12:.2f} TB/s\n")
    table = [parts(shape, flops, bandwidth) for shape in SHAPES]
    print_table(table)
    folder = os.environ.get("PACFOURIER_DATA")
    waited = [
        *(waits(shape, row["kernel"]) for shape, row in zip(SHAPES, table, strict=True)),
        stream_waits(),
        digit_waits() if folder else [],
    ]
    print()
    print_table(
        [
            {
                "what": name,
                "measured": value,
                "goal": goal,
                "met": "yes" if value <= goal else "no",
                "MB": memory,
                "remark": remark,
            }
            for name, value, goal, remark, memory in with_memory(waited)
        ]
    )
    if folder:
        print()
        print_table(list(complete_fits()))


if __name__ == "__main__":
    main()
