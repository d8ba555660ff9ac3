import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from tests.export.test_formula import MODELS

from pacfourier import FourierClassifier, FourierRegressor
from pacfourier.core.boosting.cosine_model import CosineModel, square_losses
from pacfourier.core.boosting.descent import Decays, Labelled
from pacfourier.export import quantised
from pacfourier.export.integers import COSINE_ONE
from pacfourier.export.rounding import (
    _Grid,
    _Levels,
    _RoundedDescent,
    _unit_of,
    check_ranges,
)


def labels_of(model, X):
    return model.predict(X)


@pytest.mark.parametrize("name", ["two classes", "many classes"])
@pytest.mark.parametrize("bits", [8, 4])
def test_integers_predict_the_same_classes(name, bits):
    model, X = MODELS[name]()
    y = labels_of(model, X)
    integers = quantised(model, X, y, bits=bits)
    assert np.abs(integers.weights).max() <= 2 ** (bits - 1) - 1
    # Seven waves also have to learn what the linear part did.
    assert (integers.predict(X) == y).mean() > 0.93


@pytest.mark.parametrize("name", ["amount", "amounts", "median"])
def test_integers_predict_nearly_the_same_amounts(name):
    model, X = MODELS[name]()
    y = labels_of(model, X)
    found = quantised(model, X, y).predict(X)
    assert found.shape == y.shape
    assert (np.mean((found - y) ** 2, axis=0) < 0.01 * y.var(axis=0)).all()


@pytest.mark.slow
def test_digits_of_four_bits_are_small_and_about_as_accurate():
    X, y = load_digits(return_X_y=True)
    model = FourierClassifier(30, piecewise=False, alpha=3.0, random_state=0)
    model.fit(X[:1200], y[:1200])
    integers = quantised(model, X[:1200], y[:1200], bits=4, bounds=(0, 255))
    assert integers.n_bytes < 3000
    error = np.mean(integers.predict(X[1200:]) != y[1200:])
    assert error < 1 - model.score(X[1200:], y[1200:]) + 0.03
    # Bytes are the pixels themselves.
    np.testing.assert_array_equal(integers.rows(X), X)


def test_the_result_is_reproducible():
    model, X = MODELS["two classes"]()
    first, second = (quantised(model, X, labels_of(model, X)).to_c() for _ in range(2))
    assert first == second


def test_the_scale_is_the_best_of_those_tried():
    """One outlying weight on a column that hardly varies must not coarsen all others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 20)).astype(np.float32)
    X[:, 0] *= 1e-3
    frequencies = rng.normal(size=(1, 20)).astype(np.float32)
    frequencies[0, 0] = 40.0
    reach = np.full(20, 0.01)

    def error(grid):
        return (X @ (frequencies - grid.rounded(frequencies)).T).std()

    chosen = _Grid.chosen(frequencies, X, reach, 7)
    largest = _Grid(reach, np.abs(frequencies * reach).max(axis=1) / 7, 7)
    assert error(chosen) < error(largest) / 3


def test_rounded_frequencies_are_whole_numbers_of_their_scale():
    rng = np.random.default_rng(0)
    frequencies = rng.normal(size=(3, 5)).astype(np.float32)
    reach = np.array([0.01, 0.02, 0.0, 0.03, 0.01])
    grid = _Grid.chosen(frequencies, rng.normal(size=(50, 5)).astype(np.float32), reach, 127)
    turns = grid.rounded(frequencies) * reach / grid.scales[:, np.newaxis]
    np.testing.assert_allclose(turns, np.rint(turns), atol=1e-4)
    np.testing.assert_allclose(turns, grid.weights(frequencies), atol=1e-4)
    assert not grid.weights(frequencies)[:, 2].any()


def test_a_frequency_of_zeros_has_a_scale():
    grid = _Grid.chosen(np.zeros((2, 3)), np.ones((4, 3)), np.ones(3), 7)
    assert (grid.scales > 0).all()
    assert not grid.rounded(np.zeros((2, 3))).any()


@pytest.mark.parametrize("n_waves", [1, 13, 1000, 20_000])
@pytest.mark.parametrize("intercept", [0.0, 1e6])
def test_no_score_can_overflow(n_waves, intercept):
    rng = np.random.default_rng(0)
    cosines, sines = rng.normal(size=(2, n_waves, 2))
    unit = _unit_of(cosines, sines, np.array([intercept, 0.0]))
    whole = np.rint(np.abs(np.concatenate([cosines, sines])) / unit / COSINE_ONE)
    assert whole.max() <= 2**15 - 1
    assert (COSINE_ONE * whole.sum(axis=0) + np.rint(intercept / unit) < 2**31).all()


def test_levels_are_evenly_spaced_and_clip():
    X = np.array([[0.0, 5.0], [1.0, 5.0], [0.5, 5.0]])
    levels = _Levels.of(X, None)
    assert levels.steps.tolist() == pytest.approx([1 / 255, 0.0])
    np.testing.assert_allclose(levels.values(X), X, atol=0.5 / 255)
    np.testing.assert_allclose(levels.values(np.array([[-3.0, 0.0], [7.0, 9.0]])), [[0, 5], [1, 5]])


@pytest.mark.parametrize(
    "bounds", [(1, 0), (0, np.inf), (np.nan, 1), ([0, 0], [1, 1]), (0, [1] * 6)]
)
def test_bad_bounds_are_refused(bounds):
    model, X = MODELS["two classes"]()
    with pytest.raises(ValueError, match="bounds must be a pair"):
        quantised(model, X, labels_of(model, X), bounds=bounds)


def test_coded_columns_are_refused():
    model, X = MODELS["codes"]()
    with pytest.raises(ValueError, match="no coded columns to become integers, got 6"):
        quantised(model, X, labels_of(model, X))


def test_other_bits_are_refused():
    model, X = MODELS["two classes"]()
    with pytest.raises(ValueError, match="bits must be"):
        quantised(model, X, labels_of(model, X), bits=16)


def test_sparse_rows_are_refused():
    model, X = MODELS["two classes"]()
    with pytest.raises(ValueError, match="X must be a dense array"):
        quantised(model, sparse.csr_array(X), labels_of(model, X))


def test_too_many_columns_are_refused():
    model, X = MODELS["two classes"]()
    y = labels_of(model, X)
    model.n_features_in_ = 2**16 + 1
    with pytest.raises(ValueError, match="at most 65536 columns and 32768 waves"):
        quantised(model, X, y)


def test_gradients_are_taken_at_rounded_frequencies_and_move_the_exact_ones():
    rng = np.random.default_rng(0)
    shapes = ((2, 3), (2, 1), (2, 1), (0, 1), (1,))
    model = CosineModel(*(rng.normal(size=shape) for shape in shapes))
    descent = _RoundedDescent.start(model, square_losses, Decays(0.0, 0.0, 0.0))
    before = descent.model.frequencies.copy()
    np.testing.assert_array_equal(descent.seen().frequencies, before)
    descent.grid = _Grid(np.ones(3), np.full(2, 0.5), 7)
    X = rng.normal(size=(20, 3)).astype(np.float32)
    rows = Labelled(X, np.ones((20, 1), np.float32), np.ones(20, np.float32))
    descent.move(rows, 0.01)
    # The first step of Adam is the rate times the sign of each slope.
    np.testing.assert_allclose(np.abs(descent.model.frequencies - before), 0.01, rtol=1e-3)
    seen = descent.seen().frequencies
    np.testing.assert_allclose(seen, np.rint(descent.model.frequencies / 0.5) * 0.5)


def test_waves_stand_in_for_the_linear_part_of_few_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = (X[:, 0] > 0.4).astype(int) + (X[:, 0] > -0.4)
    model = FourierClassifier(4, piecewise=False, random_state=0).fit(X[:400], y[:400])
    integers = quantised(model, X[:400], y[:400])
    assert np.mean(integers.predict(X[400:]) != y[400:]) < 0.1


@pytest.mark.parametrize("centre", [0.0, 1e6])
def test_amounts_may_be_far_from_zero(centre):
    model, X = MODELS["amount"]()
    y = labels_of(model, X)
    far = FourierRegressor(8, piecewise=False, alpha=1.0, random_state=0).fit(X, y + centre)
    integers = quantised(far, X, y + centre)
    assert np.abs(integers.predict(X) - centre - y).mean() < 0.2 * y.std()


def test_columns_must_vary_enough_for_bytes():
    check_ranges(np.array([1.0, 5.0]), np.array([1.0 + 2.0**-15, 5.0]))
    check_ranges(np.array([-1e-9, -1e9]), np.array([1e-9, 1e9]))
    with pytest.raises(ValueError, match=r"got less in column 1: subtract a constant"):
        check_ranges(np.array([0.0, 1e6]), np.array([1.0, 1e6 + 10]))
    with pytest.raises(ValueError, match=r"got less in column 'time'"):
        check_ranges(np.array([-1e9]), np.array([-1e9 + 99]), ["time"])
