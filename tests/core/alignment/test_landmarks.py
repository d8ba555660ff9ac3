import numpy as np
import pytest
from scipy import sparse

from pacfourier import PBLandmarks, RBFLandmarks, spectra
from pacfourier.data.distances import kernel_matrix

CONTAINERS = [np.asarray, sparse.csr_array]


def frequencies_of(model, landmark):
    """Frequencies of a landmark, read off the pool by its documented layout."""
    n = model.n_frequencies
    return model.pool_[landmark * n :][:n]


def double_loop(model, X, y):
    """The losses of landmarks, sample by sample; a landmark that is a sample leaves itself out."""
    losses = np.zeros_like(model.losses_)
    points = model.landmarks_.toarray() if sparse.issparse(model.landmarks_) else model.landmarks_
    for row, (point, label) in enumerate(zip(points, model.landmark_labels_, strict=True)):
        omegas = frequencies_of(model, row).astype(float)
        own = np.flatnonzero((point == X).all(axis=1))[:1]
        others = [j for j in range(len(X)) if j not in own]
        for j in others:
            agreement = 1 if y[j] == label else -1
            losses[row] += (1 - agreement * np.cos(omegas @ (point - X[j]))) / 2 / len(others)
    return losses


@pytest.fixture
def sample(rng):
    y = np.resize(["a", "b", "c"], 40)
    return rng.standard_normal((40, 3)) + (y == "a")[:, np.newaxis], y


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("landmarks", ["random", "stratified", "kmeans", "medoids", "given"])
def test_losses_and_map_equal_the_double_loop(landmarks, container, n_classes, sample):
    X, y = sample
    if n_classes == 2:
        y = np.where(y == "a", "a", "b")
    given = (X[:4] + 0.1, y[:4])
    model = PBLandmarks(
        given if landmarks == "given" else landmarks,
        n_landmarks=5,
        n_frequencies=11,
        random_state=0,
    ).fit(container(X), y)
    np.testing.assert_allclose(model.losses_, double_loop(model, X, y), atol=1e-10)
    weights = np.exp(-np.sqrt(40) * model.losses_)
    np.testing.assert_allclose(
        model.posterior_, weights / weights.sum(axis=1, keepdims=True), atol=1e-10
    )
    features = model.transform(container(X))
    points = model.landmarks_.toarray() if sparse.issparse(model.landmarks_) else model.landmarks_
    for row, point in enumerate(points):
        waves = np.cos((point - X) @ frequencies_of(model, row).T.astype(float))
        np.testing.assert_allclose(features[:, row], waves @ model.posterior_[row], atol=1e-10)
        np.testing.assert_allclose(
            model.similarity(container(X), row), features[:, row], atol=1e-10
        )


def test_second_moments_equal_the_double_loop(sample):
    X, y = sample
    model = PBLandmarks("random", n_landmarks=3, n_frequencies=5, random_state=0).fit(X, y)
    for row, index in enumerate(model.landmark_indices_):
        waves = np.cos(np.delete(X[index] - X, index, axis=0) @ frequencies_of(model, row).T)
        expected = np.mean(waves**2, axis=0) / 4
        np.testing.assert_allclose(model._waves().second_moments[row], expected, atol=1e-6)


def test_given_points_that_are_samples_leave_themselves_out(sample):
    X, y = sample
    given = (np.vstack([X[:3], X[:1] + 0.1]), y[[0, 1, 2, 0]])
    model = PBLandmarks(given, random_state=0).fit(X, y)
    assert model.is_sample_.tolist() == [True, True, True, False]
    np.testing.assert_allclose(model.losses_, double_loop(model, X, y), atol=1e-10)


def test_large_phases_of_landmarks_cost_no_digits(rng):
    """A row of the map must not depend on the other rows of its batch."""
    X = np.column_stack([rng.standard_normal(300), rng.uniform(0, 1e6, 300)]).astype(np.float32)
    X[:20, 1] = np.linspace(0, 50, 20)
    y = np.resize([0, 1], 300)
    model = PBLandmarks("random", n_landmarks=6, gamma=1e-3, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.transform(X)[:20], model.transform(X[:20]), atol=1e-4)


def test_float32_maps_are_close(sample):
    X, y = sample
    model = PBLandmarks("random", n_landmarks=5, random_state=0).fit(X, y)
    features = model.transform(X.astype(np.float32))
    assert features.dtype == np.float32
    np.testing.assert_allclose(features, model.transform(X), atol=1e-5)


@pytest.mark.parametrize("spectrum", ["rbf", "laplacian", "matern", "rational_quadratic"])
def test_cold_posteriors_tend_to_the_kernel(spectrum, sample):
    """Hoeffding over 40 x 4 pairs at beta -> 0, failure probability 1e-6."""
    X, y = sample
    options = {"kernel": spectrum, "gamma": 0.3, "n_landmarks": 4, "random_state": 0}
    cold = PBLandmarks("random", n_frequencies=20_000, beta=1e-9, **options).fit(X, y)
    prior = RBFLandmarks("random", **options).fit(X, y)
    np.testing.assert_array_equal(cold.landmark_indices_, prior.landmark_indices_)
    radius = np.sqrt(2 * np.log(2 * 40 * 4 / 1e-6) / 20_000)
    assert np.abs(cold.transform(X) - prior.transform(X)).max() < radius


@pytest.mark.parametrize("container", CONTAINERS)
def test_kernel_matrix_is_the_kernel_of_every_spectrum(container, rng):
    X, Y = rng.standard_normal((6, 3)), rng.standard_normal((4, 3))
    parts = [spectra.RBF(0.3), spectra.Laplacian(0.2), spectra.Matern(0.5), spectra.multiscale()]
    for spectrum in [*parts, spectra.Mixture(parts, weights=[1, 2, 3, 4])]:
        expected = spectrum.kernel(X[:, np.newaxis] - Y)
        np.testing.assert_allclose(
            kernel_matrix(spectrum, container(X), container(Y)), expected, atol=1e-12
        )


def test_a_spectrum_without_a_profile_says_what_to_define(rng):
    class Own(spectra.Spectrum):
        scales = log_density = None

    with pytest.raises(NotImplementedError, match="Own has no profile of its own: define one"):
        kernel_matrix(Own(), rng.standard_normal((2, 2)), rng.standard_normal((2, 2)))


def test_losses_do_not_change_when_samples_are_shifted_or_classes_renamed(sample):
    X, y = sample
    options = {"n_landmarks": 6, "gamma": 0.5, "random_state": 0}
    losses = PBLandmarks("random", **options).fit(X, y).losses_
    shifted = PBLandmarks("random", **options).fit(X + 3.0, y).losses_
    renamed = PBLandmarks("random", **options).fit(X, np.char.upper(y)).losses_
    np.testing.assert_allclose(shifted, losses, atol=1e-9)
    np.testing.assert_allclose(renamed, losses, atol=1e-12)


def test_a_landmark_given_twice_has_two_columns_with_frequencies_of_their_own(sample):
    X, y = sample
    twice = (X[[0, 0]], y[[0, 0]])
    own = PBLandmarks(twice, gamma=0.5, random_state=0).fit(X, y)
    assert not np.allclose(own.losses_[0], own.losses_[1])
