import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import kve
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.spectra import (
    RBF,
    Laplacian,
    Matern,
    Mixture,
    RationalQuadratic,
    Spectrum,
    log_bessel_k,
    multiscale,
)

SPECTRA = [
    RBF(0.7),
    Laplacian(0.4),
    Matern(0.7, nu=0.5),
    Matern(0.7, nu=1.5),
    Matern(0.3, nu=3.2),
    RationalQuadratic(0.5, alpha=0.8),
    RationalQuadratic(0.5, alpha=4.0),
    Mixture([RBF(2.0), Laplacian(0.3), Matern(0.1, nu=2.5)], weights=[1, 2, 3]),
    multiscale(gammas=(0.01, 0.1, 1.0, 10.0)),
]
DIRECTION = np.array([0.8, -0.5, 0.3, 0.9, -0.2])


@pytest.mark.parametrize("n_features", [1, 2, 5])
@pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
def test_bochner_mean_cosine_is_the_kernel(spectrum, n_features):
    """Hoeffding over independent groups of rows: two-sided, failure probability 1e-6."""
    n_frequencies = 2**17
    frequencies = FrequencyPool(spectrum, n_frequencies, n_features, 7)[:]
    deltas = np.outer([0.1, 0.5, 1.0, 2.0], DIRECTION[:n_features])
    radius = np.sqrt(2 * np.log(2 * len(deltas) / 1e-6) / n_frequencies)
    estimates = np.cos(frequencies.astype(np.float64) @ deltas.T).mean(axis=0)
    assert np.abs(estimates - spectrum.kernel(deltas)).max() < radius


@pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
def test_sample_has_the_law_of_the_pool(spectrum, rng):
    n_frequencies = 100_000
    draws = spectrum.sample(rng, n_frequencies, 3)
    delta = np.array([0.5, -0.3, 0.2])
    radius = np.sqrt(2 * np.log(2 / 1e-6) / n_frequencies)
    assert abs(np.cos(draws @ delta).mean() - spectrum.kernel(delta)) < radius


@pytest.mark.parametrize("spectrum", SPECTRA[:-1], ids=repr)
def test_log_density_is_the_fourier_transform_in_one_dimension(spectrum):
    def density(omega):
        return float(np.exp(spectrum.log_density(np.array([omega]))))

    mass = 2 * quad(density, 0, 1)[0] + 2 * quad(density, 1, np.inf)[0]
    assert mass == pytest.approx(1, abs=1e-6)
    for delta in (0.3, 1.7):
        oscillating = quad(density, 0, np.inf, weight="cos", wvar=delta, limlst=400)[0]
        assert 2 * oscillating == pytest.approx(spectrum.kernel(np.array([delta])), abs=1e-5)


ISOTROPIC = [s for s in SPECTRA if not isinstance(s, Laplacian | Mixture)]


@pytest.mark.parametrize("spectrum", ISOTROPIC, ids=repr)
def test_log_density_is_the_fourier_transform_in_three_dimensions(spectrum):
    """For an isotropic law in R^3, k(delta) = int p(r) 4 pi r sin(r delta) / delta dr."""

    def shell(radius):
        density = np.exp(spectrum.log_density(np.array([radius, 0.0, 0.0])))
        return float(4 * np.pi * radius * density)

    delta = 1.3
    transform = quad(shell, 1e-12, np.inf, weight="sin", wvar=delta, limlst=400)[0] / delta
    expected = spectrum.kernel(np.array([delta, 0.0, 0.0]))
    assert transform == pytest.approx(float(expected), abs=1e-5)


def test_log_density_agrees_with_scipy_laws(rng):
    points = rng.standard_normal((20, 4))
    normal = stats.multivariate_normal(np.zeros(4), 2 * 0.7 * np.eye(4))
    student = stats.multivariate_t(np.zeros(4), 2 * 0.3 * np.eye(4), df=2 * 1.7)
    cauchy = stats.cauchy(scale=0.4)
    np.testing.assert_allclose(RBF(0.7).log_density(points), normal.logpdf(points))
    np.testing.assert_allclose(Matern(0.3, nu=1.7).log_density(points), student.logpdf(points))
    np.testing.assert_allclose(Laplacian(0.4).log_density(points), cauchy.logpdf(points).sum(1))


@pytest.mark.parametrize("n_features", [1, 3])
def test_kernels_agree_with_scikit_learn(rng, n_features):
    X, Y = rng.standard_normal((2, 30, n_features))
    deltas = X[:, np.newaxis] - Y
    gamma = 0.3
    length = 1 / np.sqrt(2 * gamma)
    pairs = [
        (RBF(gamma), rbf_kernel(X, Y, gamma)),
        (Laplacian(gamma), laplacian_kernel(X, Y, gamma)),
        (RationalQuadratic(gamma, 0.9), gp.RationalQuadratic(length, 0.9)(X, Y)),
        *((Matern(gamma, nu), gp.Matern(length, nu=nu)(X, Y)) for nu in (0.5, 1.5, 2.5, 0.8)),
    ]
    for spectrum, expected in pairs:
        np.testing.assert_allclose(spectrum.kernel(deltas), expected, rtol=1e-9)


def test_large_shapes_tend_to_the_rbf_kernel():
    deltas = np.linspace(0, 3, 50)[:, np.newaxis]
    limit = RBF(0.5).kernel(deltas)
    for shape in (1e3, 1e5):
        # The first-order term of both families in 1 / shape is below 1 / shape itself.
        assert np.abs(Matern(0.5, nu=shape).kernel(deltas) - limit).max() < 1 / shape
        assert np.abs(RationalQuadratic(0.5, shape).kernel(deltas) - limit).max() < 1 / shape


def test_matern_is_one_at_zero_and_smooth_near_it():
    tiny = np.array([[0.0], [1e-200], [1e-12], [1e-6]])
    for nu in (0.5, 1.5, 10.0, 49.0, 51.0, 300.0):
        np.testing.assert_allclose(Matern(1.0, nu=nu).kernel(tiny), 1.0, atol=1e-5)


@pytest.mark.parametrize("order", [50.5, 75.0, 120.0])
def test_log_bessel_uniform_expansion_agrees_with_scipy(order):
    argument = np.linspace(order / 3, 3 * order, 40)
    exact = np.log(kve(order, argument)) - argument
    np.testing.assert_allclose(log_bessel_k(argument, order), exact, atol=1e-9)


def test_heavy_tails_stay_finite():
    frequencies = FrequencyPool(Matern(1.0, nu=0.01), 5000, 2, seed=0)[:]
    assert np.isfinite(frequencies).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(0.0), "gamma must be positive"),
        (lambda: Laplacian(-1.0), "gamma must be positive"),
        (lambda: Matern(1.0, nu=0.0), "nu must be positive"),
        (lambda: RationalQuadratic(1.0, alpha=np.nan), "alpha must be positive"),
        (lambda: Mixture([]), "non-empty"),
        (lambda: Mixture([RBF()], weights=[1, 2]), "1 components and 2 weights"),
        (lambda: Mixture([RBF(), RBF()], weights=[1, 0]), "weights must be positive"),
    ],
)
def test_bad_spectra_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_spectrum_cannot_be_half_defined():
    class NoDensity(RBF):
        log_density = Spectrum.log_density

    with pytest.raises(TypeError, match="abstract"):
        NoDensity()
