"""Wave sums by the Triton kernel.

The layout of the data is tested everywhere, the kernel itself where there is a CUDA device.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

torch = pytest.importorskip("torch")

from pacfourier import alignment_losses  # noqa: E402
from pacfourier.core.alignment.sums import summed_losses, wave_sums  # noqa: E402
from pacfourier.core.alignment.targets import ClassTarget  # noqa: E402
from pacfourier.tensors.codes import ClassCodes  # noqa: E402
from pacfourier.tensors.triton import halves, sums  # noqa: E402

CPU = torch.device("cpu")
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def random_codes(rng, n_samples, n_codes):
    """Return codes with at least one entry per row."""
    dense = rng.standard_normal((n_samples, n_codes)) * (rng.random((n_samples, n_codes)) < 0.4)
    dense[np.arange(n_samples), rng.integers(0, n_codes, n_samples)] = 1
    return sparse.csr_array(dense)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 200), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_chunks_hold_every_entry_once(n_samples, n_codes, seed):
    weighted = random_codes(np.random.default_rng(seed), n_samples, n_codes)
    chunks = halves.code_chunks(weighted, 4, CPU, 64)
    rebuilt = np.zeros(weighted.shape)
    firsts = np.zeros(n_samples)
    for start, count, column in zip(chunks.starts, chunks.counts, chunks.columns, strict=True):
        assert 1 <= count <= 16
        rows = slice(start, start + 4 * count)
        np.add.at(rebuilt[:, column], chunks.rows[rows].numpy(), chunks.values[rows].numpy())
        np.add.at(firsts, chunks.rows[rows].numpy(), chunks.firsts[rows].numpy())
    np.testing.assert_allclose(rebuilt, weighted.toarray(), rtol=1e-6)
    np.testing.assert_array_equal(firsts, np.ones(n_samples))


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 500), st.integers(1, 4), st.integers(4, 300), st.integers(0, 2**32 - 1))
def test_slabs_are_the_chunks_in_order(n_samples, n_codes, largest, seed):
    chunks = halves.code_chunks(
        random_codes(np.random.default_rng(seed), n_samples, n_codes), 4, CPU, 64
    )
    parts = list(halves.slabs(chunks, 4, largest))
    for name in ("rows", "values", "firsts", "counts", "columns"):
        joined = torch.cat([getattr(part, name) for part in parts])
        assert torch.equal(joined, getattr(chunks, name))
    for part in parts:
        assert part.starts[0] == 0
        assert len(part.rows) == (part.starts + 4 * part.counts).max()
        assert len(part.rows) <= max(largest, 64)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(-30, 30))
def test_halves_are_good_to_22_bits(seed, exponent):
    rng = np.random.default_rng(seed)
    matrix = torch.as_tensor(rng.uniform(-1, 1, (5, 3)) * 2.0**exponent)
    units = halves.powers_of_two(matrix.abs().amax(dim=0))
    assert torch.equal(torch.frexp(units).mantissa, torch.full((3,), 0.5, dtype=torch.float64))
    found = halves.halves(matrix / units, 16)
    assert not found.high[:, 3:].any()
    error = (found.high.double() + found.low.double())[:, :3] * units - matrix
    # Each half rounds to 11 bits, and the low half to no less than the smallest 16-bit number.
    allowed = 2.0**-23 * matrix.abs() + 2.0**-25 * units
    assert bool((error.abs() <= allowed).all())


@pytest.mark.parametrize("n_codes", [1, 2, 5])
@pytest.mark.parametrize("n_features", [1, 7, 16, 40])
def test_sums_of_the_plain_kernel_are_those_of_arrays(plain_kernels, n_codes, n_features, rng):
    del plain_kernels
    assert_sums(CPU, rng, n_samples=101, n_features=n_features, n_frequencies=9, n_codes=n_codes)


@pytest.mark.parametrize("slab", [16 * 70, 2**27])
def test_sums_of_plain_codes_leave_out_the_padding(plain_kernels, slab, monkeypatch, rng):
    del plain_kernels
    monkeypatch.setattr(sums, "LARGEST_SLAB", slab)
    X, frequencies = rng.standard_normal((301, 5)), rng.standard_normal((9, 5))
    columns = rng.choice([0, 2, 3], 301)
    counts = np.bincount(columns, minlength=5)
    expected = wave_sums(X, sparse.csr_array(np.eye(5)[columns]), frequencies, "double")
    found = sums._fused_wave_sums(
        torch.as_tensor(X),
        ClassCodes(torch.as_tensor(columns), counts),
        torch.as_tensor(frequencies),
        torch.float32,
    )
    np.testing.assert_allclose(found[0], expected[0], atol=1e-6 * 301)
    np.testing.assert_allclose(found[1], expected[1], atol=2e-6 * 301)


def test_losses_on_a_device_are_those_of_arrays(plain_kernels, rng):
    del plain_kernels
    X, frequencies = rng.standard_normal((301, 5)), rng.standard_normal((9, 5))
    columns = rng.choice([0, 2, 3], 301)
    target = ClassTarget(np.arange(5))
    codes = ClassCodes(torch.as_tensor(columns), np.bincount(columns, minlength=5))
    arguments = torch.as_tensor(X), codes, target.agreement(codes.totals)
    found = sums.fused_losses(*arguments, torch.as_tensor(frequencies))
    np.testing.assert_allclose(
        found, summed_losses(X, columns, target, frequencies, None), rtol=0, atol=1e-6
    )
    frequencies[0] *= 1e6
    assert sums.fused_losses(*arguments, torch.as_tensor(frequencies)) is None


@needs_cuda
@pytest.mark.parametrize("largest", [1.0, 1e6])
def test_alignment_losses_on_cuda_are_those_of_arrays(largest, rng):
    """Also if some phases need double precision."""
    X = rng.standard_normal((5000, 108)).astype(np.float32)
    frequencies = rng.standard_normal((333, 108)).astype(np.float32) / 10
    frequencies[0] *= np.float32(largest)
    y = rng.choice([-1, 4, 7], 5000)
    found = alignment_losses(
        *(torch.as_tensor(each, device="cuda") for each in (X, y, frequencies))
    )
    assert (found.device.type, found.dtype) == ("cuda", torch.float32)
    np.testing.assert_allclose(found.cpu(), alignment_losses(X, y, frequencies), rtol=0, atol=2e-6)


def test_codes_of_zero_count_in_the_harmonics(plain_kernels, rng):
    """Residuals may be zero, and their rows still belong to the sample."""
    del plain_kernels
    X, frequencies = rng.standard_normal((50, 3)), rng.standard_normal((9, 3))
    values = rng.standard_normal(50) * (np.arange(50) % 3 > 0)
    weighted = sparse.csr_array((values, np.zeros(50, int), np.arange(51)), shape=(50, 1))
    expected = wave_sums(X, weighted, frequencies, "double")
    found = sums._fused_wave_sums(
        torch.as_tensor(X), weighted, torch.as_tensor(frequencies), torch.float32
    )
    np.testing.assert_allclose(found[0], expected[0], atol=1e-6 * 50)
    np.testing.assert_allclose(found[1], expected[1], atol=2e-6 * 50)


def test_sums_do_not_depend_on_slabs(plain_kernels, monkeypatch, rng):
    del plain_kernels
    monkeypatch.setattr(sums, "LARGEST_SLAB", 16 * 70)
    assert_sums(CPU, rng, n_samples=301, n_features=5, n_frequencies=9, n_codes=3)


def test_products_are_coarse_only_on_request(plain_kernels, rng):
    """A user may let torch round factors to 2^-11, which a phase of a few units shows."""
    del plain_kernels
    torch.set_float32_matmul_precision("high")
    try:
        with pytest.raises(AssertionError):
            assert_sums(CPU, rng, n_samples=101, n_features=7, n_frequencies=9, n_codes=2)
    finally:
        torch.set_float32_matmul_precision("highest")


def assert_sums(device, rng, *, n_samples, n_features, n_frequencies, n_codes, tolerance=1e-6):
    """Check that the error of the sums is below 1e-6 n."""
    X = rng.standard_normal((n_samples, n_features)) * 10.0 ** rng.uniform(-3, 3, n_features)
    scales = 10.0 ** rng.uniform(-3, 0.5, (n_frequencies, 1))
    frequencies = rng.standard_normal((n_frequencies, n_features)) * scales / np.abs(X).max(axis=0)
    X, frequencies = X.astype(np.float32), frequencies.astype(np.float32)
    weighted = random_codes(rng, n_samples, n_codes)
    waves, harmonics, _ = wave_sums(X.astype(np.float64), weighted, frequencies, "double")
    found = sums._fused_wave_sums(
        torch.as_tensor(X, device=device),
        weighted,
        torch.as_tensor(frequencies, device=device),
        torch.float32,
    )
    scale = np.abs(weighted.data).max()
    np.testing.assert_allclose(found[0], waves, atol=tolerance * n_samples * scale)
    np.testing.assert_allclose(found[1], harmonics, atol=2 * tolerance * n_samples)


@needs_cuda
@pytest.mark.parametrize("n_codes", [1, 2, 5])
@pytest.mark.parametrize("n_features", [1, 3, 16, 17, 64, 108, 128, 129, 300, 784])
def test_sums_of_the_kernel_are_those_of_arrays(n_codes, n_features, rng):
    device = torch.device("cuda")
    assert_sums(
        device, rng, n_samples=5000, n_features=n_features, n_frequencies=333, n_codes=n_codes
    )


@needs_cuda
def test_the_kernel_gives_the_same_bits_twice(rng):
    X = torch.as_tensor(rng.standard_normal((5000, 20)), dtype=torch.float32, device="cuda")
    weighted, frequencies = random_codes(rng, 5000, 3), X[:100]
    first, second = (
        sums._fused_wave_sums(X, weighted, frequencies, torch.float32) for _ in range(2)
    )
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


@needs_cuda
def test_the_tile_of_a_smaller_chip_gives_the_same_sums(monkeypatch, rng):
    monkeypatch.setattr(halves, "_shared_memory", lambda _: 100_000)
    assert halves.tile_of(torch.zeros((1, 784), device="cuda")).samples == 64
    for n_features in (5, 784):
        assert_sums(
            torch.device("cuda"),
            rng,
            n_samples=3000,
            n_features=n_features,
            n_frequencies=100,
            n_codes=2,
        )
