"""Measure the alignment losses on one CUDA device: time, error and lower bound of each shape.

    python benchmarks/gpu.py

Times are in milliseconds, and medians of CUDA events unless noted:

- "sums": all work on the device, from samples, codes and frequencies to the sums of every class;
- "kernel": the one large kernel in it, and "one product" the same kernel with coarse products;
- "torch": the same sums by blocked products in float32;
- "floor": a lower bound, the larger of two times. One is the time of the three 16-bit products at
  the rate of a large product on this device. The other is the time to read samples and frequencies
  and to write sums, at the rate of a large copy;
- "losses" and "fit": the time that a user waits, the best of three.
"""

import math
import time

import numpy as np
import torch

from pacfourier import PBRFF, alignment_losses
from pacfourier.core.alignment.targets import ClassTarget
from pacfourier.tensors.phases import row_blocks
from pacfourier.tensors.triton.halves import code_chunks, halves, row_scaled_halves, tile_of
from pacfourier.tensors.triton.kernels import chunk_sums
from pacfourier.tensors.triton.sums import column_sums

SHAPES = ((26_048, 108, 20_000), (8_268, 784, 20_000), (1_000_000, 108, 20_000))
N_TIMES = 15


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


def rows(shape, flops, bandwidth):
    """Return the measurements of one shape."""
    X, y, W = sample(*shape)
    n_samples, n_features, n_frequencies = shape
    weighted = ClassTarget(np.array([-1, 1])).encode(y)
    tile = tile_of(X)
    chunks = code_chunks(weighted, tile.samples, X.device)
    width = -(-n_features // tile.features) * tile.features
    n_padded = -(-n_frequencies // tile.frequencies) * tile.frequencies
    left = row_scaled_halves(W, n_padded, width)
    right = halves(X[chunks.rows], width)
    found = column_sums(X, chunks, 2, W, tile)
    exact = double_sums(X, y, W[:512])
    error = float((found[:, :2, :512] - exact).abs().max()) / n_samples
    floor = max(
        3 * 2 * n_samples * n_frequencies * n_features / flops,
        4 * (X.numel() + W.numel() + 8 * n_frequencies) / bandwidth,
    )
    n_times = 5 if n_samples > 10**5 else N_TIMES
    return {
        "n x d x N": " x ".join(f"{size:,}" for size in shape),
        "sums": median_time(lambda: column_sums(X, chunks, 2, W, tile), n_times),
        "kernel": median_time(
            lambda: chunk_sums(left, right, chunks, tile, is_exact=True), n_times
        ),
        "one product": median_time(
            lambda: chunk_sums(left, right, chunks, tile, is_exact=False), n_times
        ),
        "torch": median_time(lambda: torch_sums(X, y, W), min(n_times, 5)),
        "floor": 1e3 * floor,
        "error / n": error,
        "losses": wall_time(lambda: alignment_losses(X, y, W)),
        "fit": wall_time(lambda: PBRFF(100, random_state=0).fit(X, y)),
    }


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


def wall_time(work):
    """Return the wall time of a call in milliseconds, the best of three."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    return min(times)


def main():
    """Print one table with a row per shape."""
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    flops, bandwidth = measured_rates()
    print(f"16-bit product {flops / 1e12:.0f} TFLOP/s, copy {bandwidth / 1e12:.2f} TB/s")
    table = [rows(shape, flops, bandwidth) for shape in SHAPES]
    print("| " + " | ".join(table[0]) + " |")
    print("| --- " * len(table[0]) + "|")
    for row in table:
        values = [
            f"{value:.1e}" if name == "error / n" else f"{value:.2f}"
            for name, value in list(row.items())[1:]
        ]
        print("| " + " | ".join([row["n x d x N"], *values]) + " |")


if __name__ == "__main__":
    main()
