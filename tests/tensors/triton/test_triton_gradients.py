"""Losses and gradients by the Triton kernels.

The layout of the data is tested everywhere, the kernels where there is a CUDA device.
"""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pacfourier.core.alignment.gradients import alignment_objective, losses_and_gradients  # noqa: E402
from pacfourier.core.alignment.targets import target_of  # noqa: E402
from pacfourier.tensors.triton import gradients  # noqa: E402

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def random_problem(rng, n_samples, n_features, n_frequencies, kind):
    """Return samples of widely different scales, labels, and frequencies with small phases."""
    X = rng.standard_normal((n_samples, n_features)) * 10.0 ** rng.uniform(-3, 3, n_features)
    scales = 10.0 ** rng.uniform(-2, 0.5, (n_frequencies, 1))
    frequencies = rng.standard_normal((n_frequencies, n_features)) * scales / np.abs(X).max(axis=0)
    y = {
        "classes": rng.integers(0, 3, n_samples),
        "numbers": rng.standard_normal(n_samples),
        "sets": rng.integers(0, 2, (n_samples, 4)),
    }[kind]
    return X.astype(np.float32), y, frequencies


def assert_as_for_arrays(device, X, y, frequencies, *, kind, balance=False):
    """Check losses and gradients, the latter in units of the largest samples, to 1e-6."""
    labels = {"classes": "multiclass", "numbers": "continuous", "sets": "multilabel"}[kind]
    target = target_of(y, labels)
    exact = alignment_objective(
        X.astype(np.float64), y, target, balance=balance, precision="double"
    )
    tensor = torch.as_tensor(X, device=device)
    objective = alignment_objective(tensor, y, target, balance=balance)
    samples = objective.rounded
    if device == "cpu":
        samples = gradients.sorted_samples(tensor, exact.codes)
    assert isinstance(samples, gradients.SortedSamples)
    losses, slopes = losses_and_gradients(samples, objective, frequencies, np.float32)
    expected, expected_slopes = exact(frequencies)
    np.testing.assert_allclose(losses, expected, atol=1e-6)
    scale = np.abs(X).max(axis=0)
    np.testing.assert_allclose(slopes / scale, expected_slopes / scale, atol=1e-6)


KINDS = ["classes", "numbers", "sets"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_features", [1, 7, 16, 40])
def test_plain_kernels_give_the_gradients_of_arrays(plain_kernels, kind, n_features, rng):
    del plain_kernels
    problem = random_problem(rng, 101, n_features, 9, kind)
    assert_as_for_arrays("cpu", *problem, kind=kind)


def test_balanced_classes(plain_kernels, rng):
    del plain_kernels
    X, y, frequencies = random_problem(rng, 101, 5, 9, "classes")
    assert_as_for_arrays(
        "cpu", X, np.where(y == 2, 1, y), frequencies, kind="classes", balance=True
    )


def test_gradients_do_not_depend_on_slabs(plain_kernels, monkeypatch, rng):
    del plain_kernels
    monkeypatch.setattr(gradients, "LARGEST_SLAB", 12 * 16 * 5)
    assert_as_for_arrays("cpu", *random_problem(rng, 101, 5, 9, "classes"), kind="classes")


def test_no_launch_exceeds_the_largest_grid(plain_kernels, monkeypatch, rng):
    del plain_kernels
    X, y, _ = random_problem(rng, 101, 5, 1, "classes")
    monkeypatch.setattr(gradients, "_LARGEST_GRID", 7)
    samples = gradients.sorted_samples(torch.as_tensor(X), target_of(y).encode(y))
    left = gradients.Halves(torch.zeros((4, 16)), torch.zeros((4, 16)), torch.zeros(4))
    slabs = list(gradients._tile_slabs(samples, left))
    assert max(slab.stop - slab.start for slab in slabs) == 7
    assert slabs[-1].stop == len(samples.chunks.starts)


@needs_cuda
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_features", [1, 16, 17, 64, 108, 300, 784])
def test_kernels_give_the_gradients_of_arrays(kind, n_features, rng):
    problem = random_problem(rng, 5000, n_features, 100, kind)
    assert_as_for_arrays("cuda", *problem, kind=kind)


@needs_cuda
def test_kernels_give_the_same_gradients_twice(rng):
    X, y, frequencies = random_problem(rng, 5000, 20, 100, "classes")
    objective = alignment_objective(torch.as_tensor(X, device="cuda"), y, target_of(y))
    first, second = objective(frequencies), objective(frequencies)
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


@needs_cuda
def test_evaluations_leave_no_memory_on_the_device(rng):
    X, y, frequencies = random_problem(rng, 2000, 40, 9, "classes")
    kept = []
    for _ in range(4):
        assert_as_for_arrays("cuda", X, y, frequencies, kind="classes")
        kept.append(torch.cuda.memory_allocated())
    assert kept[-1] == kept[1]
