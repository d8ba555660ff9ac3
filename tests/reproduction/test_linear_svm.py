import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from reproduction import linear_svm
from reproduction.linear_svm import TOLERANCE, _best_length, squared_hinge_path
from reproduction.plan import CS

EPS = np.finfo(float).eps


def signed_rows(X, y):
    return y[:, np.newaxis] * np.column_stack([X, np.ones(len(X))])


def objective(X, y, weights, C):
    slack = np.maximum(0, 1 - signed_rows(X, y) @ weights)
    return weights @ weights / 2 + C * slack @ slack


def gradient_norm(X, y, weights, C):
    rows = signed_rows(X, y)
    return np.linalg.norm(weights - 2 * C * np.maximum(0, 1 - rows @ weights) @ rows)


def assert_stationary(X, y, weights, C):
    """The gradient is what the solver stops at, up to the rounding of its own sums."""
    rows = signed_rows(X, y)
    at_zero = 2 * C * np.linalg.norm(rows.sum(axis=0))
    # Margins carry p + 1 roundings of |w| |x_i|, their sum over the rows n more.
    lengths = np.linalg.norm(rows, axis=1)
    terms = 2 * C * lengths @ (1 + lengths * np.linalg.norm(weights))
    rounding = 4 * sum(rows.shape) * EPS * terms
    assert gradient_norm(X, y, weights, C) <= TOLERANCE * at_zero + rounding


def sample(seed, n_samples, n_features, scale=1.0, kind="noise"):
    """Return random features with random labels, separable ones, or columns that repeat."""
    rng = np.random.default_rng(seed)
    X = scale * rng.standard_normal((n_samples, n_features))
    y = rng.choice([-1, 1], n_samples)
    if kind == "separable":
        y = np.where(X @ rng.standard_normal(n_features) > 0, 1, -1)
    if kind == "degenerate":
        X[:, 0] = 0
        X[:, -1] = X[:, n_features // 2]
    if kind == "one class":
        y[:] = 1
    return X, y


KINDS = ("noise", "separable", "degenerate", "one class")


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_samples=st.integers(2, 40),
    n_features=st.integers(1, 50),
    exponent=st.integers(-30, 3),
    kind=st.sampled_from(KINDS),
    Cs=st.lists(st.sampled_from(CS), min_size=1, max_size=4, unique=True).map(sorted),
)
@example(seed=0, n_samples=2, n_features=1, exponent=0, kind="noise", Cs=list(CS))
@example(seed=1, n_samples=40, n_features=50, exponent=-30, kind="noise", Cs=[1e-5, 1e4])
@example(seed=2, n_samples=40, n_features=5, exponent=3, kind="separable", Cs=list(CS))
@example(seed=3, n_samples=40, n_features=6, exponent=0, kind="degenerate", Cs=[1e4])
def test_every_point_of_the_path_is_stationary(seed, n_samples, n_features, exponent, kind, Cs):
    """The problem is convex: a zero gradient is the whole optimality condition."""
    X, y = sample(seed, n_samples, n_features, 10.0**exponent, kind)
    path = squared_hinge_path(X, y, Cs)
    assert path.shape == (len(Cs), n_features + 1)
    for weights, C in zip(path, Cs, strict=True):
        assert_stationary(X, y, weights, C)


@pytest.mark.parametrize("kind", ["noise", "separable", "degenerate"])
@pytest.mark.parametrize(
    ("n_samples", "n_features", "Cs"), [(60, 8, CS), (20, 45, CS[:8]), (2, 3, CS)]
)
def test_linear_svc_solves_the_same_problem(kind, n_samples, n_features, Cs):
    """The objective is strongly convex with modulus 1: weights are as near as gradients are small.

    |w - w'| <= |g(w)| + |g(w')|, and f(w) - min f <= |g(w)|^2 / 2. Where columns outnumber rows
    LinearSVC itself stops short from C = 1000 on.
    """
    X, y = sample(5, n_samples, n_features, kind=kind)
    y[:2] = 1, -1
    for weights, C in zip(squared_hinge_path(X, y, Cs), Cs, strict=True):
        twin = LinearSVC(C=C, dual=False, tol=1e-8, max_iter=100_000).fit(X, y)
        theirs = np.append(twin.coef_[0], twin.intercept_)
        norms = [gradient_norm(X, y, each, C) for each in (weights, theirs)]
        size = 2 * C * np.linalg.norm(signed_rows(X, y), axis=1).sum()
        # The twin's own gradient shows that it is the same problem that it solves.
        assert max(norms) <= 1e-6 * size
        assert np.linalg.norm(weights - theirs) <= sum(norms)
        rounding = 100 * EPS * objective(X, y, theirs, C)
        gap = objective(X, y, weights, C) - objective(X, y, theirs, C)
        assert gap <= norms[0] ** 2 / 2 + rounding


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_samples", "n_features"), [(50, 7), (15, 40)])
def test_a_path_is_each_of_its_problems_solved_alone(kind, n_samples, n_features):
    X, y = sample(11, n_samples, n_features, kind=kind)
    for weights, C in zip(squared_hinge_path(X, y, CS), CS, strict=True):
        (alone,) = squared_hinge_path(X, y, [C])
        norms = [gradient_norm(X, y, each, C) for each in (weights, alone)]
        assert_stationary(X, y, alone, C)
        assert np.linalg.norm(weights - alone) <= sum(norms)


def test_more_weight_on_errors_has_less_slack_and_larger_weights():
    """Of two minimisers, exchanged: (C - C') (slack' - slack) >= 0, and the norms follow."""
    X, y = sample(3, 80, 10)
    path = squared_hinge_path(X, y, CS)
    slacks = [np.maximum(0, 1 - signed_rows(X, y) @ weights) for weights in path]
    assert (np.diff([slack @ slack for slack in slacks]) < 0).all()
    assert (np.diff(np.linalg.norm(path, axis=1)) > 0).all()


def test_one_sample_a_class_has_a_closed_form():
    """x = +-1, y = +-1: w = 4 C (1 - w), no intercept."""
    path = squared_hinge_path(np.array([[1.0], [-1.0]]), np.array([1, -1]), CS)
    expected = 4 * np.array(CS) / (1 + 4 * np.array(CS))
    np.testing.assert_allclose(path[:, 0], expected, rtol=1e-12)
    np.testing.assert_allclose(path[:, 1], 0, atol=1e-12)


def test_features_of_far_landmarks_cost_nothing_and_change_nothing():
    """Numbers under 1e-20 are taken for zero: their products would be subnormal."""
    X, y = sample(7, 40, 5)
    far = np.column_stack([X, np.full(40, 1e-170)])
    path = squared_hinge_path(far, y, CS)
    np.testing.assert_array_equal(path[:, -2], 0)
    np.testing.assert_allclose(path[:, :5], squared_hinge_path(X, y, CS)[:, :5], rtol=1e-9)


def test_single_precision_features_are_solved_in_double():
    X, y = sample(9, 60, 6)
    X = X.astype(np.float32)
    path = squared_hinge_path(X, y, CS)
    np.testing.assert_array_equal(path, squared_hinge_path(X.astype(np.float64), y, CS))
    assert path.dtype == np.float64


def search(seed, C):
    """Return the arguments of a line search, along the gradient or along a random direction."""
    X, y = sample(seed, 30, 6)
    rows, rng = signed_rows(X, y), np.random.default_rng(seed)
    weights = rng.standard_normal(7)
    gradient = weights - 2 * C * np.maximum(0, 1 - rows @ weights) @ rows
    step = -gradient if seed % 2 else rng.standard_normal(7)
    if step @ gradient > 0:
        step = -step
    return weights, step, rows


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), C=st.sampled_from(CS))
def test_the_line_search_ends_where_the_slope_is_zero(seed, C):
    """By bisection of the slope, which increases along the line."""
    weights, step, rows = search(seed, C)
    length = _best_length(weights, step, rows @ weights, rows @ step, C)

    def slope(t):
        slack = np.maximum(0, 1 - rows @ (weights + t * step))
        return (weights + t * step) @ step - 2 * C * slack @ (rows @ step)

    # The curvature is at least |step|^2: the root lies before -slope(0) / |step|^2.
    low, high = 0.0, -slope(0) / (step @ step) * (1 + 1e-9)
    assert slope(low) <= 0 <= slope(high)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    np.testing.assert_allclose(length, high, rtol=1e-9)


def test_a_step_that_no_sample_feels_is_searched_by_its_norm_alone():
    """All margins past one: f = |w + t s|^2 / 2."""
    weights, step = np.array([4.0, 0.0]), np.array([-1.0, 0.0])
    length = _best_length(weights, step, np.array([9.0]), np.array([0.0]), 1e4)
    assert length == 4.0


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0.0, 1.0))
def test_the_updated_gram_matrix_is_the_computed_one(seed, share):
    """A handful of changes of at most n rows each: n roundings a change."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((25, 4))
    gram = linear_svm._ActiveGram(rows)
    active = rng.random(25) < share
    for _ in range(6):
        block = rows[active]
        triangle = np.tril(block.T @ block)
        np.testing.assert_allclose(np.tril(gram.of(active)), triangle, atol=6 * 25 * 25 * EPS)
        active = active ^ (rng.random(25) < rng.choice([0.1, 0.9]))
