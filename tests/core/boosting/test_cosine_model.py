import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from pacfourier.core.boosting.cosine_model import (
    ROWS_PER_TASK,
    CosineModel,
    Penalties,
    _penalised_gradient,
    _product,
    hinge_losses,
    model_gradient,
    model_scores,
    moved_model,
    square_losses,
)
from pacfourier.core.boosting.residuals import residual_losses
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.spectra import RBF


def random_model(rng, n_frequencies=4, n_features=3, n_outputs=2):
    return CosineModel(
        rng.standard_normal((n_frequencies, n_features)),
        rng.standard_normal((n_frequencies, n_outputs)),
        rng.standard_normal((n_frequencies, n_outputs)),
        rng.standard_normal((n_features, n_outputs)),
        rng.standard_normal(n_outputs),
    )


def plain_loss(model, X, labels, losses, weights):
    phases = X @ model.frequencies.T
    waves = np.cos(phases) @ model.cosines + np.sin(phases) @ model.sines
    scores = waves + X @ model.linear + model.intercepts
    return float((losses(scores, labels)[0] * weights[:, np.newaxis]).sum())


def sample(rng, losses, n_samples=50):
    X = rng.standard_normal((n_samples, 3)).astype(np.float32)
    labels = rng.standard_normal((n_samples, 2))
    if losses is hinge_losses:
        labels = np.sign(labels)
    weights = rng.uniform(0.5, 1.5, n_samples)
    return X, labels, weights / weights.sum()


@pytest.mark.parametrize("losses", [hinge_losses, square_losses])
def test_the_gradient_is_that_of_finite_differences(losses, rng):
    """Central differences of a double loss against a single gradient: 1e-4 of its size."""
    X, labels, weights = sample(rng, losses)
    model = random_model(rng)
    loss, gradient, _ = model_gradient(model, X, labels, losses, weights)
    assert loss == pytest.approx(plain_loss(model, X, labels, losses, weights), rel=1e-5)
    vector, found = model.packed(), gradient.packed()
    step = 1e-5
    for place in range(len(vector)):
        shift = np.zeros_like(vector)
        shift[place] = step
        ends = [
            plain_loss(model.unpacked(vector + sign * shift), X, labels, losses, weights)
            for sign in (1, -1)
        ]
        assert found[place] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-4)


def plain_gradient(model, X, labels, kind, weights):
    """The loss, its gradient and the residuals, sample by sample and output by output."""
    loss, residuals = 0.0, np.zeros(labels.shape)
    gradient = CosineModel(*(np.zeros(part.shape) for part in model))
    for i, x in enumerate(X):
        phases = [float(np.dot(omega, x)) for omega in model.frequencies]
        for k, label in enumerate(labels[i]):
            score = model.intercepts[k] + np.dot(model.linear[:, k], x)
            for m, phase in enumerate(phases):
                score += model.cosines[m, k] * np.cos(phase) + model.sines[m, k] * np.sin(phase)
            if kind == "hinge":
                slack = max(0.0, 1 - label * score)
                residuals[i, k] = 2 * label * slack
            else:
                slack = label - score
                residuals[i, k] = 2 * slack
            loss += weights[i] * slack**2
            pull = -weights[i] * residuals[i, k]
            gradient.intercepts[k] += pull
            gradient.linear[:, k] += pull * x
            for m, phase in enumerate(phases):
                gradient.cosines[m, k] += pull * np.cos(phase)
                gradient.sines[m, k] += pull * np.sin(phase)
                slope = model.sines[m, k] * np.cos(phase) - model.cosines[m, k] * np.sin(phase)
                gradient.frequencies[m] += pull * slope * x
    return loss, gradient, residuals


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("dtype", "atol"), [(np.float64, 1e-12), (np.float32, 1e-5)])
@pytest.mark.parametrize("kind", ["hinge", "square"])
def test_the_gradient_is_that_of_the_plain_twin(kind, dtype, atol, container, rng):
    losses = {"hinge": hinge_losses, "square": square_losses}[kind]
    X, labels, weights = sample(rng, losses)
    model = random_model(rng)
    found = model_gradient(model, container(X.astype(dtype)), labels, losses, weights)
    expected = plain_gradient(model, X, labels, kind, weights)
    assert found[0] == pytest.approx(expected[0], abs=atol)
    np.testing.assert_allclose(found[1].packed(), expected[1].packed(), rtol=0, atol=atol)
    np.testing.assert_allclose(found[2], expected[2], rtol=0, atol=10 * atol)


@pytest.mark.parametrize("losses", [hinge_losses, square_losses])
def test_residuals_are_negative_derivatives(losses, rng):
    scores, labels = rng.standard_normal((2, 30, 1))
    labels = np.sign(labels) if losses is hinge_losses else labels
    ends = [losses(scores + shift, labels)[0] for shift in (1e-6, -1e-6)]
    np.testing.assert_allclose(losses(scores, labels)[1], (ends[1] - ends[0]) / 2e-6, atol=1e-5)


def test_sparse_samples_give_the_gradient_of_dense_ones(rng):
    X, labels, weights = sample(rng, hinge_losses)
    X[np.abs(X) < 0.5] = 0
    model = random_model(rng)
    dense = model_gradient(model, X, labels, hinge_losses, weights)
    found = model_gradient(model, sparse.csr_array(X), labels, hinge_losses, weights)
    assert found[0] == pytest.approx(dense[0], rel=1e-6)
    for first, second in zip(dense[1], found[1], strict=True):
        np.testing.assert_allclose(first, second, atol=1e-5)


def test_the_number_of_threads_changes_nothing(rng):
    X, labels, weights = sample(rng, hinge_losses, n_samples=ROWS_PER_TASK + 100)
    model = random_model(rng)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(model_gradient(model, X, labels, hinge_losses, weights)[1].packed())
    np.testing.assert_array_equal(*found)
    expected = [
        model_gradient(model, X[rows], labels[rows], hinge_losses, weights[rows])[1].packed()
        for rows in (slice(0, ROWS_PER_TASK), slice(ROWS_PER_TASK, None))
    ]
    np.testing.assert_allclose(found[0], expected[0] + expected[1], atol=1e-12)


def test_a_longer_model_is_the_same_function(rng):
    X, labels, weights = sample(rng, square_losses)
    model = random_model(rng)
    longer = model.extended(rng.standard_normal((2, 3)))
    assert len(longer.frequencies) == 6
    first, second = (
        model_gradient(each, X, labels, square_losses, weights)[2] for each in (model, longer)
    )
    np.testing.assert_allclose(first, second, atol=1e-5)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_scores_are_the_formula(container, rng):
    X = rng.standard_normal((60, 3))
    for model in (random_model(rng), CosineModel.constant(3, np.array([0.5, -1.0])).sloped()):
        expected = np.cos(X @ model.frequencies.T) @ model.cosines
        expected += np.sin(X @ model.frequencies.T) @ model.sines
        expected += X @ model.linear + model.intercepts
        found = model_scores(container(X), model)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_products_do_not_warn_of_invalid_operations():
    """OpenBLAS may report one that did not happen. Infinity times zero is one that does."""
    infinite, zero = np.full((3, 5), np.inf, np.float32), np.zeros((5, 1), np.float32)
    with np.errstate(all="raise"):
        with pytest.raises(FloatingPointError):
            infinite @ zero
        assert np.isnan(_product(infinite, zero)).all()


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_frequencies_may_see_the_first_columns_only(container, rng):
    """As if they were zero in the other columns."""
    X, labels, weights = sample(rng, square_losses)
    X = X.astype(np.float64)
    model = random_model(rng)
    padded = model._replace(frequencies=model.frequencies * [1, 1, 0])
    short = model._replace(frequencies=model.frequencies[:, :2])
    expected = model_gradient(padded, X, labels, square_losses, weights)
    found = model_gradient(short, container(X), labels, square_losses, weights)
    assert found[0] == pytest.approx(expected[0])
    np.testing.assert_allclose(found[1].frequencies, expected[1].frequencies[:, :2], atol=1e-12)
    np.testing.assert_allclose(found[1].linear, expected[1].linear, rtol=0, atol=1e-12)
    scores = [model_scores(each, model) for each, model in ((X, padded), (container(X), short))]
    np.testing.assert_allclose(*scores, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_samples", [1, 127, 128, 500])
def test_slices_of_a_mini_batch_add_up(n_samples, rng):
    X, labels, weights = sample(rng, square_losses, n_samples)
    model = random_model(rng)
    found = model_gradient(model, X.astype(np.float64), labels, square_losses, weights)
    expected = plain_gradient(model, X.astype(np.float64), labels, "square", weights)
    np.testing.assert_allclose(found[1].packed(), expected[1].packed(), rtol=0, atol=1e-12)


def test_moves_recover_a_cosine(rng):
    """Labels are one cosine: from a start nearby its frequency is found to 1 %."""
    X = rng.standard_normal((400, 3)).astype(np.float32)
    truth = np.array([1.0, -0.5, 0.3])
    labels = np.cos(X @ truth)[:, np.newaxis]
    weights = np.full(400, 1 / 400)
    start = CosineModel.constant(3, np.zeros(1)).extended((truth + 0.2)[np.newaxis])
    penalties = Penalties(1e-6, 1e-9)
    found = moved_model(start, X, labels, square_losses, weights, penalties, n_steps=100)
    np.testing.assert_allclose(found.frequencies[0], truth, atol=0.01)
    assert found.cosines[0, 0] == pytest.approx(1, abs=0.01)


def test_the_penalised_gradient_is_that_of_finite_differences(rng):
    """In double precision, to what central differences leave: step^2 = 1e-10."""
    X, labels, weights = sample(rng, square_losses)
    model = random_model(rng)

    def penalised(vector):
        current = model.unpacked(vector)
        return _penalised_gradient(
            current, X.astype(np.float64), labels, square_losses, weights, Penalties(0.3, 0.7)
        )

    vector = model.packed()
    amplitudes = sum(np.square(part).sum() for part in (model.cosines, model.sines, model.linear))
    expected = plain_loss(model, X, labels, square_losses, weights)
    expected += 0.15 * amplitudes + 0.35 * np.square(model.frequencies).sum()
    loss, gradient = penalised(vector)
    assert loss == pytest.approx(expected)
    for slope, shift in zip(gradient.packed(), 1e-5 * np.eye(len(vector)), strict=True):
        ends = [penalised(vector + shift)[0], penalised(vector - shift)[0]]
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-7)


def test_one_step_goes_down_the_gradient(rng):
    """The first direction of L-BFGS; a second step would turn."""
    X, labels, weights = sample(rng, square_losses)
    model = random_model(rng)
    parts = (X.astype(np.float64), labels, square_losses, weights, Penalties(0.1, 0.05))
    gradient = _penalised_gradient(model, *parts)[1].packed()
    cosines = []
    for n_steps in (1, 2):
        step = moved_model(model, *parts, n_steps=n_steps).packed() - model.packed()
        cosines.append(-step @ gradient / np.linalg.norm(step) / np.linalg.norm(gradient))
    assert cosines[0] == pytest.approx(1)
    assert cosines[1] < 0.999


def test_steps_end_where_the_penalised_loss_is_flat(rng):
    X, labels, weights = sample(rng, hinge_losses)
    parts = (X.astype(np.float64), labels, hinge_losses, weights, Penalties(0.1, 0.05))
    found = moved_model(random_model(rng), *parts, n_steps=1000)
    assert np.abs(_penalised_gradient(found, *parts)[1].packed()).max() < 1e-3


def test_penalties_hold_back(rng):
    X, labels, weights = sample(rng, square_losses)
    start = random_model(rng)
    free, held, near = (
        moved_model(start, X, labels, square_losses, weights, penalties, n_steps=50)
        for penalties in (Penalties(1e-6, 1e-6), Penalties(10.0, 1e-6), Penalties(1e-6, 10.0))
    )
    assert np.abs(held.cosines).max() < 0.2 * np.abs(free.cosines).max()
    assert np.abs(near.frequencies).max() < 0.2 * np.abs(free.frequencies).max()


def test_residual_losses_are_the_double_sum(rng):
    X = rng.standard_normal((30, 3)).astype(np.float32)
    residuals = rng.standard_normal((30, 2))
    # Samples that the model has right have no residual at all.
    residuals[[0, 7, 29]] = 0
    pool = FrequencyPool(RBF(0.5), 40, 3, seed=1)
    found = residual_losses(X, residuals, pool)
    for loss, frequency in zip(found, pool[:], strict=True):
        cosines = np.cos((X[:, np.newaxis] - X) @ frequency)
        aligned = sum(r @ cosines @ r for r in residuals.T)
        largest = sum(np.abs(r).sum() ** 2 for r in residuals.T)
        assert loss == pytest.approx(0.5 - 0.5 * aligned / largest, abs=1e-6)


@pytest.mark.parametrize(("dtype", "atol"), [(np.float64, 1e-12), (np.float32, 1e-6)])
def test_residual_losses_are_those_of_the_plain_twin(dtype, atol, rng):
    """The formula, sum by sum, in the precision that the samples have."""
    X = rng.standard_normal((25, 3)).astype(dtype)
    residuals = rng.standard_normal((25, 3)) * [1.0, 0.1, 0.0]
    pool = FrequencyPool(RBF(0.5), 30, 3, seed=2)
    largest = sum(sum(abs(r) for r in column) ** 2 for column in residuals.T)
    for loss, omega in zip(residual_losses(X, residuals, pool), pool[:], strict=True):
        aligned = 0.0
        for column in residuals.T:
            wave = sum(
                r * np.exp(1j * np.dot(omega.astype(float), x.astype(float)))
                for r, x in zip(column, X, strict=True)
            )
            aligned += abs(wave) ** 2
        assert loss == pytest.approx(0.5 - aligned / (2 * largest), abs=atol)
        assert 0 <= loss <= 0.5


def test_where_nothing_is_left_all_candidates_are_alike(rng):
    pool = FrequencyPool(RBF(0.5), 30, 3, seed=2)
    found = residual_losses(rng.standard_normal((25, 3)), np.zeros((25, 2)), pool)
    np.testing.assert_array_equal(found, 0.5)
