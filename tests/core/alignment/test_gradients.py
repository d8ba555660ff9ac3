import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from pacfourier.core.alignment.gradients import (
    _GRADIENT_BAND,
    _gradient_bands,
    alignment_gradients,
    alignment_objective,
    alignment_tilts,
)
from pacfourier.core.alignment.sums import alignment_sums, balanced_losses
from pacfourier.core.alignment.targets import target_of
from pacfourier.core.products import ROW_BLOCK

KINDS = ["binary", "multiclass", "multilabel", "continuous", "multioutput"]


def labels_of(kind, n_samples, rng):
    if kind == "binary":
        return rng.choice([-1, 1], n_samples)
    if kind == "multiclass":
        return rng.choice(["a", "b", "c"], n_samples)
    if kind == "multilabel":
        return rng.integers(0, 2, (n_samples, 4))
    shape = (n_samples,) if kind == "continuous" else (n_samples, 3)
    return rng.standard_normal(shape) * 3 + 7


def differences(loss, frequencies, step=1e-5):
    """Central differences, one coordinate after the other: an error of order step^2 = 1e-10."""
    gradients = np.empty_like(frequencies)
    for k in range(frequencies.shape[1]):
        shift = step * np.eye(frequencies.shape[1])[k]
        gradients[:, k] = (loss(frequencies + shift) - loss(frequencies - shift)) / (2 * step)
    return gradients


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_the_differences_of_the_losses(kind, container, weighted, rng):
    X, y = rng.standard_normal((40, 5)), labels_of(kind, 40, rng)
    weights = rng.uniform(0.2, 3, 40) if weighted else None
    target, frequencies = target_of(y), rng.standard_normal((30, 5))

    def naive(frequencies):
        sums = alignment_sums(X, y, target, frequencies, sample_weight=weights, precision="double")
        return sums.losses(target.agreement(sums.totals))

    objective = alignment_objective(
        container(X), y, target, sample_weight=weights, precision="double"
    )
    losses, gradients = objective(frequencies)
    np.testing.assert_allclose(losses, naive(frequencies), rtol=0, atol=1e-12)
    np.testing.assert_allclose(gradients, differences(naive, frequencies), rtol=0, atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_balanced_gradients_are_the_differences_of_the_balanced_losses(n_classes, rng):
    y = np.minimum(rng.geometric(0.6, 60), n_classes)
    X, frequencies, target = (
        rng.standard_normal((60, 4)),
        rng.standard_normal((12, 4)),
        target_of(y),
    )

    def naive(frequencies):
        return balanced_losses(
            alignment_sums(X, y, target, frequencies, precision="double"), target
        )

    losses, gradients = alignment_objective(X, y, target, balance=True, precision="double")(
        frequencies
    )
    np.testing.assert_allclose(losses, naive(frequencies), rtol=0, atol=1e-12)
    np.testing.assert_allclose(gradients, differences(naive, frequencies), rtol=0, atol=1e-8)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_single_precision_is_close_to_double_across_block_borders(container, rng):
    """A gradient is a mean of n products rounded to 2^-24: 1e-5 leaves a factor of ten."""
    n_samples, n_features = 2 * ROW_BLOCK + 3, 20
    assert len(list(_gradient_bands(2 * _GRADIENT_BAND + 5, n_samples * n_features))) == 3
    X = rng.standard_normal((n_samples, n_features)) / 2
    y = np.where(rng.random(n_samples) < 0.4, -1, 1)
    frequencies = rng.standard_normal((2 * _GRADIENT_BAND + 5, n_features)) / 2
    exact = alignment_objective(X, y, target_of(y), precision="double")(frequencies)
    single = alignment_objective(container(X.astype(np.float32)), y, target_of(y))(frequencies)
    for close, truth in zip(single, exact, strict=True):
        np.testing.assert_allclose(close, truth, rtol=0, atol=1e-5)


def test_large_phases_are_taken_in_double_precision(rng):
    """float32 alone would lose the phase: 1e5 * 100 is not known to a radian there."""
    X, y = 1e5 + np.round(rng.standard_normal((50, 3)), 2), np.resize([0, 1], 50)
    frequencies = np.concatenate([rng.standard_normal((4, 3)), 100 * rng.standard_normal((4, 3))])
    exact = alignment_objective(X, y, target_of(y), precision="double")(frequencies)
    mixed = alignment_objective(X, y, target_of(y), precision="single")(frequencies)
    np.testing.assert_array_equal(mixed[0], exact[0])
    np.testing.assert_array_equal(mixed[1], exact[1])


def test_threads_do_not_change_a_bit(rng):
    X, y = rng.standard_normal((700, 60)), np.resize([0, 1, 2], 700)
    assert len(list(_gradient_bands(99, X.size))) > 1
    objective, frequencies = alignment_objective(X, y, target_of(y)), rng.standard_normal((99, 60))
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            results.append(objective(frequencies))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


@pytest.mark.parametrize("work", [1, 10**4, 10**7])
@pytest.mark.parametrize("n_frequencies", [1, 8, 9, 100, 1000])
def test_blocks_cover_every_frequency_once(n_frequencies, work):
    blocks = list(_gradient_bands(n_frequencies, work))
    covered = np.concatenate([np.arange(n_frequencies)[block] for block in blocks])
    np.testing.assert_array_equal(covered, np.arange(n_frequencies))


@pytest.mark.parametrize("balance", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_gradients_of_parts_add_up(container, balance, rng):
    X, y = rng.standard_normal((60, 4)), np.minimum(rng.geometric(0.6, 60), 3)
    target, frequencies = target_of(y), rng.standard_normal((20, 4))
    whole = alignment_objective(X, y, target, balance=balance, precision="double")(frequencies)
    options = {"target": target, "frequencies": frequencies, "precision": "double"}
    parts = [(container(X[part]), y[part]) for part in (slice(7), slice(7, 60))]
    first, second = (alignment_sums(*part, **options) for part in parts)
    losses, tilts = alignment_tilts(first.merge(second), target, balance=balance)
    gradients = sum(alignment_gradients(*part, tilts=tilts, **options) for part in parts)
    np.testing.assert_allclose(losses, whole[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(gradients, whole[1], rtol=0, atol=1e-12)
