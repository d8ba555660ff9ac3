"""The kernels of layouts and summaries against their versions in plain torch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pacfourier.core.alignment.summary import fingerprint_multipliers  # noqa: E402
from pacfourier.tensors.alignment.summary import _fingerprints_of  # noqa: E402
from pacfourier.tensors.triton.halves import class_chunks, powers_of_two  # noqa: E402

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
SHAPES = [(1, 16), (7, 16), (108, 128), (300, 320), (784, 832)]


def test_chunks_of_classes_hold_every_row_once(rng):
    columns = torch.as_tensor(rng.choice([0, 2, 3], 301))
    sizes = np.bincount(columns, minlength=5)
    chunks = class_chunks(columns, sizes, 4, most=12)
    found = []
    for start, count, column in zip(chunks.starts, chunks.counts, chunks.columns, strict=True):
        rows = slice(start, start + 4 * count)
        own = chunks.rows[rows][chunks.values[rows] == 1]
        assert (columns[own] == column).all()
        found += own.tolist()
    assert sorted(found) == list(range(301))
    assert torch.equal(chunks.columns, torch.arange(5).repeat_interleave(chunks.ends.diff()))


@needs_cuda
@pytest.mark.parametrize(("n_features", "width"), SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_layouts_are_those_of_plain_torch(plain_layouts, n_features, width, dtype, rng):
    from pacfourier.tensors.triton import layouts

    scales = 10.0 ** rng.uniform(-9, 3, (50, 1))
    frequencies = torch.as_tensor(rng.standard_normal((50, n_features)) * scales).to("cuda", dtype)
    frequencies[3] = 0
    X = torch.as_tensor(rng.standard_normal((70, n_features))).to("cuda", dtype)
    largest = X.abs().amax(dim=0)
    units = powers_of_two(largest)
    arguments = frequencies, units, largest, 64, width
    (found, sizes), (expected, expected_sizes) = (
        each.frequency_halves(*arguments) for each in (layouts, plain_layouts)
    )
    torch.testing.assert_close(sizes, expected_sizes, rtol=1e-12, atol=0)
    assert torch.equal(found.scales[:50], expected.scales[:50])
    exact = frequencies.double() * units.double() / (2 * torch.pi)
    both = (found.high.double() + found.low.double()) * found.scales.double()[:, None]
    error = (both[:50, :n_features] - exact).abs()
    assert bool((error <= 2.0**-21 * exact.abs() + 2.0**-24 * found.scales[:50, None]).all())
    assert not both[50:].any()
    assert not both[:, n_features:].any()
    columns = torch.as_tensor(rng.integers(0, 3, 70), device="cuda")
    chunks = class_chunks(columns, np.bincount(columns.cpu()), 16)
    arguments = X, chunks, units, width
    found, expected = (each.sample_halves(*arguments) for each in (layouts, plain_layouts))
    assert torch.equal(found.high, expected.high)
    assert torch.equal(found.low, expected.low)


@needs_cuda
def test_columns_are_added_in_order(plain_layouts, rng):
    from pacfourier.tensors.triton import layouts

    sums = torch.as_tensor(rng.standard_normal((90, 4, 300))).float().cuda()
    ends = torch.tensor([0, 30, 30, 90], device="cuda")
    found, expected = torch.zeros((2, 3, 4, 300), dtype=torch.float64, device="cuda")
    layouts.add_columns(sums, ends, found)
    plain_layouts.add_columns(sums, ends, expected)
    assert torch.equal(found, expected)


@needs_cuda
@pytest.mark.parametrize("n_features", [1, 7, 128, 300])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("n_samples", [3, 5000, 70_000])
def test_fingerprints_are_those_of_plain_torch(n_features, dtype, n_samples, rng):
    from pacfourier.tensors.triton import summaries

    X = torch.as_tensor(rng.standard_normal((n_samples, n_features))).to(dtype)
    X[0, 0] = -0.0
    multipliers = torch.as_tensor(fingerprint_multipliers(n_features).view(np.int64))
    found = summaries.fingerprints(X.cuda(), multipliers.cuda())
    assert torch.equal(found.cpu(), _fingerprints_of(X))
