r"""Spectral measures: shift-invariant kernels and their Fourier transforms.

By Bochner's theorem, a continuous kernel :math:`k(x - x')` with :math:`k(0) = 1` is the
characteristic function of a probability measure :math:`p`. This measure is the prior of the method:

.. math:: k(\delta) = \mathbb{E}_{\omega \sim p} \cos(\omega \cdot \delta) .

Every spectrum here is a scale mixture of Gaussians, :math:`\omega = s \odot z` with
:math:`z \sim \mathcal{N}(0, I_d)` and a scale :math:`s` that is independent of :math:`z`. One
object defines the kernel, the law of :math:`s` and the log-density, so they cannot disagree. The
same law of :math:`s` works with independent, orthogonal and quasi-random :math:`z`.

All kernels share one bandwidth convention: as their shape parameter grows, ``Matern`` and
``RationalQuadratic`` tend to the RBF kernel of the same ``gamma``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import gammaln, kve, logsumexp

from pacfourier.arrays import FloatArray, by_kind, namespace

__all__ = [
    "FAMILIES",
    "GAMMA_GRID",
    "RBF",
    "Laplacian",
    "Matern",
    "Mixture",
    "RationalQuadratic",
    "Spectrum",
    "multiscale",
]

Metric = Literal["sqeuclidean", "cityblock"]

GAMMA_GRID = tuple(10.0**exponent for exponent in range(-7, 3))
"""The bandwidths of the paper's experiments, fixed before any data are seen."""

DIFFERENCE_NORMS: dict[Metric, Callable[[FloatArray], FloatArray]] = {
    "sqeuclidean": lambda delta: _squared_norm(delta),
    "cityblock": lambda delta: np.abs(delta).sum(axis=-1),
}

# Much larger frequencies would overflow in float32. Only spectra without moments reach this limit.
LARGEST_SCALE = 1e30


class Spectrum(ABC):
    """A kernel and its Fourier transform, as one object.

    To add a kernel, write a frozen dataclass with ``profile``, ``scales`` and ``log_density``,
    and pass an instance as ``kernel=`` to any estimator. No other code has to change.

    Attributes
    ----------
    name : str
        The name that users write, as in ``kernel="rbf"``.
    metric : {"sqeuclidean", "cityblock"}
        The kernel is a function of this distance.
    has_one_scale : bool
        Whether each frequency has a single scale s, instead of one scale per feature.
    """

    name: ClassVar[str]
    metric: ClassVar[Metric] = "sqeuclidean"

    @abstractmethod
    def scales(self, rng: np.random.Generator, size: int, n_features: int) -> FloatArray:
        """Draw the scales s of the frequencies omega = s * z.

        Parameters
        ----------
        rng : numpy.random.Generator
        size : int
            Number of frequencies.
        n_features : int

        Returns
        -------
        scales : array of shape (size, 1) or (size, n_features)
        """

    @abstractmethod
    def log_density(self, frequencies: FloatArray) -> FloatArray:
        """Return the logarithm of the density of the spectrum, ln p(omega).

        Parameters
        ----------
        frequencies : array of shape (..., n_features)

        Returns
        -------
        log_density : array of shape (...)
        """

    def profile(self, distances: Any) -> Any:
        """Return the kernel as a function of the distance.

        To support tensors as well as arrays, use the functions of
        ``pacfourier.arrays.namespace(distances)`` instead of those of NumPy.

        Parameters
        ----------
        distances : array or tensor
            Distances in the ``metric`` of the kernel.

        Returns
        -------
        kernel : array or tensor
            Of the same shape as the distances.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no profile of its own: define one, or use kernel_between."
        )

    @property
    def has_one_scale(self) -> bool:
        """Whether ``scales`` has shape (size, 1)."""
        return True

    def kernel(self, delta: FloatArray) -> FloatArray:
        """Return k(delta).

        Parameters
        ----------
        delta : array of shape (..., n_features)
            Differences between samples.

        Returns
        -------
        kernel : array of shape (...)
        """
        kernel: FloatArray = self.kernel_between(lambda metric: DIFFERENCE_NORMS[metric](delta))
        return kernel

    def kernel_between(self, distances: Callable[[Metric], Any]) -> Any:
        """Return the kernel between points, given a function that returns their distances.

        A mixture of kernels may need the distances in several metrics.

        Parameters
        ----------
        distances : callable
            ``distances(metric)`` returns the distances between the points in a metric.

        Returns
        -------
        kernel : array or tensor
            Of the same shape as the distances.
        """
        return self.profile(distances(self.metric))

    def sample(self, rng: np.random.Generator, size: int, n_features: int) -> FloatArray:
        """Draw independent frequencies.

        Parameters
        ----------
        rng : numpy.random.Generator
        size : int
            Number of frequencies.
        n_features : int

        Returns
        -------
        frequencies : array of shape (size, n_features)
        """
        return self.scales(rng, size, n_features) * rng.standard_normal((size, n_features))

    def scales_of(
        self, streams: Sequence[np.random.Generator], size: int, n_features: int
    ) -> FloatArray:
        """Draw the scales of several independent streams, as ``scales`` draws those of one.

        Parameters
        ----------
        streams : sequence of numpy.random.Generator
        size : int
            Number of frequencies of each stream.
        n_features : int

        Returns
        -------
        scales : array of shape (n_streams, size, 1) or (n_streams, size, n_features)
        """
        return np.stack([self.scales(rng, size, n_features) for rng in streams])

    @classmethod
    def of_bandwidth(cls, gamma: float, n_features: int) -> Self:
        """Return the kernel of this family that is about as wide as an RBF kernel.

        Rules of thumb, such as ``gamma="scale"``, find the bandwidth of an RBF kernel.

        Parameters
        ----------
        gamma : float
            Bandwidth of the RBF kernel.
        n_features : int
            Number of features of the data.

        Returns
        -------
        spectrum : Spectrum
        """
        del n_features
        return cls(gamma=float(gamma))  # type: ignore[call-arg]

    def gaussian_components(self) -> tuple[FloatArray, FloatArray]:
        """Return the scales and weights of a spectrum that is a finite mixture of Gaussians.

        Any other spectrum raises ValueError.

        Returns
        -------
        scales, weights : arrays of shape (n_components,)

        Examples
        --------
        >>> Mixture([RBF(0.5), RBF(2.0)]).gaussian_components()
        (array([1., 2.]), array([0.5, 0.5]))
        """
        raise ValueError(f"kernel must be RBF or a mixture of RBFs, got {self!r}.")


@dataclass(frozen=True)
class RBF(Spectrum):
    r"""Gaussian kernel :math:`e^{-\gamma \|\delta\|^2}`, spectrum :math:`N(0, 2 \gamma I)`.

    The paper's sigma is ``1 / sqrt(2 * gamma)`` (Equation 20).

    Parameters
    ----------
    gamma : float, default=1.0

    Examples
    --------
    >>> float(RBF(gamma=0.5).kernel(np.array([1.0, 1.0])).round(4))
    0.3679
    """

    name = "rbf"
    gamma: float = 1.0

    def __post_init__(self) -> None:
        _check_positive(gamma=self.gamma)

    def profile(self, distances: Any) -> Any:
        """Return exp(-gamma r^2)."""
        return namespace(distances).exp(-self.gamma * distances)

    def scales(self, rng: np.random.Generator, size: int, n_features: int) -> FloatArray:
        """Return the constant scale sqrt(2 gamma)."""
        del rng, n_features
        return np.full((size, 1), np.sqrt(2 * self.gamma))

    def log_density(self, frequencies: FloatArray) -> FloatArray:
        """Return the log-density of N(0, 2 gamma I)."""
        n_features = frequencies.shape[-1]
        variance = 2 * self.gamma
        return -0.5 * (
            _squared_norm(frequencies) / variance + n_features * np.log(2 * np.pi * variance)
        )

    def gaussian_components(self) -> tuple[FloatArray, FloatArray]:
        """Return the only scale, with weight one."""
        return np.array([np.sqrt(2 * self.gamma)]), np.ones(1)


@dataclass(frozen=True)
class Laplacian(Spectrum):
    r"""Kernel :math:`e^{-\gamma \|\delta\|_1}`, whose spectrum is a product of Cauchy laws.

    This is scikit-learn's ``laplacian``. For the kernel :math:`e^{-\|\delta\| / \ell}` of the
    Euclidean distance, use ``Matern(nu=0.5)``.

    Parameters
    ----------
    gamma : float, default=1.0
    """

    name = "laplacian"
    metric = "cityblock"
    gamma: float = 1.0

    def __post_init__(self) -> None:
        _check_positive(gamma=self.gamma)

    def profile(self, distances: Any) -> Any:
        """Return exp(-gamma ||delta||_1)."""
        return namespace(distances).exp(-self.gamma * distances)

    @property
    def has_one_scale(self) -> bool:
        """False: every feature has its own scale."""
        return False

    @classmethod
    def of_bandwidth(cls, gamma: float, n_features: int) -> Self:
        """Return the Laplacian kernel that is about as wide as an RBF kernel.

        The 1-norm of a difference is about sqrt(n_features) times its 2-norm.
        """
        return cls(gamma=float(np.sqrt(2 * gamma / n_features)))

    def scales(self, rng: np.random.Generator, size: int, n_features: int) -> FloatArray:
        """Draw ``gamma / |g|`` with normal g, because a ratio of two normals has a Cauchy law."""
        return self.gamma / np.abs(rng.standard_normal((size, n_features)))

    def log_density(self, frequencies: FloatArray) -> FloatArray:
        """Return the log-density of independent Cauchy coordinates of scale gamma."""
        cauchy = np.log(self.gamma / np.pi) - np.log(self.gamma**2 + frequencies**2)
        return np.asarray(cauchy.sum(axis=-1))


@dataclass(frozen=True)
class Matern(Spectrum):
    r"""Matern kernel of any smoothness, whose spectrum is a multivariate Student law.

    .. math:: k(\delta) = \frac{2^{1-\nu}}{\Gamma(\nu)} r^\nu K_\nu(r),
              \qquad r = \sqrt{4 \nu \gamma}\, \|\delta\| .

    The length scale is :math:`1 / \sqrt{2 \gamma}`. The spectrum has :math:`2 \nu` degrees of
    freedom and one scale per *vector*. Independent Student coordinates would give a different
    kernel, a product of one-dimensional Matern kernels.

    Parameters
    ----------
    gamma : float, default=1.0
    nu : float, default=1.5
        Smoothness of the kernel. As nu grows, the kernel tends to the RBF kernel.
    """

    name = "matern"
    gamma: float = 1.0
    nu: float = 1.5

    def __post_init__(self) -> None:
        _check_positive(gamma=self.gamma, nu=self.nu)

    def profile(self, distances: Any) -> Any:
        """Return the Matern kernel, in log space so that any nu is safe."""
        xp = namespace(distances)
        radius = xp.sqrt(4 * self.nu * self.gamma * distances)
        # At distance zero the formula is undefined, and the kernel is one. A radius of one avoids
        # invalid values there; the last line sets the result.
        safe = xp.where(radius > 0, radius, xp.ones_like(radius))
        # A NumPy number, which makes the sum double precision where the distances are single.
        constant = (1 - self.nu) * np.log(2) - gammaln(self.nu)
        log_kernel = log_bessel_k(safe, self.nu) + self.nu * xp.log(safe) + constant
        kernel = xp.exp(xp.minimum(log_kernel, xp.zeros_like(log_kernel)))
        return xp.where(radius > 0, kernel, xp.ones_like(kernel))

    def scales(self, rng: np.random.Generator, size: int, n_features: int) -> FloatArray:
        """Draw sqrt(2 gamma nu / g), where g has the law Gamma(nu).

        This g is half a chi-square variable of 2 nu degrees of freedom.
        """
        del n_features
        # If nu is far below 1, draws may underflow to zero, by which we could not divide.
        gammas = np.maximum(rng.standard_gamma(self.nu, (size, 1)), np.finfo(float).tiny)
        return np.minimum(np.sqrt(2 * self.gamma * self.nu / gammas), LARGEST_SCALE)

    def log_density(self, frequencies: FloatArray) -> FloatArray:
        """Return the log-density of the multivariate Student law with shape matrix 2 gamma I."""
        n_features = frequencies.shape[-1]
        order = self.nu + n_features / 2
        spread = 4 * self.nu * self.gamma
        return (
            gammaln(order)
            - gammaln(self.nu)
            - 0.5 * n_features * np.log(np.pi * spread)
            - order * np.log1p(_squared_norm(frequencies) / spread)
        )


@dataclass(frozen=True)
class RationalQuadratic(Spectrum):
    r"""Kernel :math:`(1 + \gamma \|\delta\|^2 / \alpha)^{-\alpha}`, a Gamma mixture of RBFs.

    Parameters
    ----------
    gamma : float, default=1.0
    alpha : float, default=1.0
        Shape of the Gamma law. As alpha grows, the kernel tends to the RBF kernel.
    """

    name = "rational_quadratic"
    gamma: float = 1.0
    alpha: float = 1.0

    def __post_init__(self) -> None:
        _check_positive(gamma=self.gamma, alpha=self.alpha)

    def profile(self, distances: Any) -> Any:
        """Return (1 + gamma r^2 / alpha)^-alpha."""
        xp = namespace(distances)
        return xp.exp(-self.alpha * xp.log1p(self.gamma * distances / self.alpha))

    def scales(self, rng: np.random.Generator, size: int, n_features: int) -> FloatArray:
        """Draw sqrt(2 gamma t), where t has a Gamma law of shape alpha and mean one."""
        del n_features
        return np.sqrt(2 * self.gamma * rng.standard_gamma(self.alpha, (size, 1)) / self.alpha)

    def log_density(self, frequencies: FloatArray) -> FloatArray:
        r"""Return the logarithm of the density p, where :math:`b = \|\omega\|^2 / 4 \gamma`.

        .. math:: p = (4 \pi \gamma)^{-d/2} \frac{2 \alpha^\alpha}{\Gamma(\alpha)}
                  (b / \alpha)^{(\alpha - d/2)/2} K_{\alpha - d/2}(2 \sqrt{\alpha b}) .
        """
        n_features = frequencies.shape[-1]
        order = self.alpha - n_features / 2
        # At zero only the limit of the formula exists, so the smallest float replaces zero.
        tiny = np.finfo(np.float64).tiny
        half_energy = np.maximum(_squared_norm(frequencies) / (4 * self.gamma), tiny)
        return (
            -0.5 * n_features * np.log(4 * np.pi * self.gamma)
            + np.log(2)
            + self.alpha * np.log(self.alpha)
            - gammaln(self.alpha)
            + 0.5 * order * np.log(half_energy / self.alpha)
            + log_bessel_k(2 * np.sqrt(self.alpha * half_energy), abs(order))
        )


@dataclass(frozen=True)
class Mixture(Spectrum):
    """A convex combination of spectra.

    Its kernel and its density are weighted sums of those of the components.

    Parameters
    ----------
    components : sequence of Spectrum
    weights : sequence of float, default=None
        Positive numbers, which are divided by their sum. None means equal weights.

    Examples
    --------
    >>> float(Mixture([RBF(1.0), RBF(2.0)]).kernel(np.zeros(3)))
    1.0
    """

    components: Sequence[Spectrum]
    weights: Sequence[float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "components", tuple(self.components))
        weights = (1.0,) * len(self.components) if self.weights is None else self.weights
        if not self.components or len(weights) != len(self.components):
            raise ValueError(
                "components must be a non-empty sequence with one weight per component, "
                f"got {len(self.components)} components and {len(weights)} weights."
            )
        for weight in weights:
            _check_positive(weights=weight)
        total = float(sum(weights))
        object.__setattr__(self, "weights", tuple(float(weight) / total for weight in weights))

    @property
    def has_one_scale(self) -> bool:
        """Whether every component has one scale per frequency."""
        return all(component.has_one_scale for component in self.components)

    def kernel_between(self, distances: Callable[[Metric], Any]) -> Any:
        """Return the weighted sum of the kernels."""
        parts = zip(self.weights or (), self.components, strict=True)
        return sum(weight * component.kernel_between(distances) for weight, component in parts)

    def scales(self, rng: np.random.Generator, size: int, n_features: int) -> FloatArray:
        """Draw one component per frequency, then the scale of that component."""
        chosen = rng.choice(len(self.components), size=size, p=self.weights)
        members = [np.flatnonzero(chosen == index) for index in range(len(self.components))]
        parts = [
            component.scales(rng, len(rows), n_features)
            for component, rows in zip(self.components, members, strict=True)
        ]
        scales = np.empty((size, max(part.shape[1] for part in parts)))
        for rows, part in zip(members, parts, strict=True):
            scales[rows] = part
        return scales

    def scales_of(
        self, streams: Sequence[np.random.Generator], size: int, n_features: int
    ) -> FloatArray:
        """Draw the scales of several streams. Those of RBF kernels are looked up together."""
        if not all(type(component) is RBF for component in self.components):
            return super().scales_of(streams, size, n_features)
        # This is how NumPy chooses with given probabilities, for all streams at once.
        uniforms = np.stack([rng.random(size) for rng in streams])
        ends = np.cumsum(np.asarray(self.weights))
        chosen = np.zeros(uniforms.shape, dtype=np.intp)
        # For a few ends, counting is faster than a search.
        for end in ends[:-1] / ends[-1]:
            chosen += uniforms >= end
        gammas = np.array([component.gamma for component in self.components])  # type: ignore[attr-defined]
        return np.sqrt(2 * gammas)[chosen][:, :, np.newaxis]

    def log_density(self, frequencies: FloatArray) -> FloatArray:
        """Return the log of the weighted sum of the densities."""
        densities = [component.log_density(frequencies) for component in self.components]
        log_weights = np.log(np.asarray(self.weights))
        return np.asarray(logsumexp(np.stack(densities, axis=-1) + log_weights, axis=-1))

    def gaussian_components(self) -> tuple[FloatArray, FloatArray]:
        """Return the scales and the weights of all components, if all are Gaussian."""
        parts = [component.gaussian_components() for component in self.components]
        weights = [w * inner for w, (_, inner) in zip(self.weights or (), parts, strict=True)]
        return np.concatenate([scale for scale, _ in parts]), np.concatenate(weights)


FAMILIES: dict[str, type[Spectrum]] = {
    family.name: family for family in (RBF, Laplacian, Matern, RationalQuadratic)
}
"""Kernels by name, as in ``kernel="rbf"``."""


def multiscale(family: type[Spectrum] = RBF, gammas: Sequence[float] = GAMMA_GRID) -> Mixture:
    """Return a mixture of kernels of several bandwidths, with equal weights.

    Use it as a prior if you do not know the bandwidth. The grid is fixed in advance, so
    certificates stay valid. A posterior that uses a single bandwidth pays for this with
    ``ln(len(gammas))`` in its divergence.

    Parameters
    ----------
    family : type of Spectrum, default=RBF
    gammas : sequence of float, default=GAMMA_GRID
        The bandwidths.

    Returns
    -------
    spectrum : Mixture
    """
    return Mixture([family(gamma=gamma) for gamma in gammas])  # type: ignore[call-arg]


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value <= LARGEST_SCALE:
            raise ValueError(f"{name} must be positive and at most 1e30, got {value!r}.")


def _squared_norm(vectors: FloatArray) -> FloatArray:
    return np.einsum("...k,...k->...", vectors, vectors)


@by_kind
def log_bessel_k(argument: FloatArray, order: float) -> FloatArray:
    r"""Return :math:`\ln K_\nu(x)`, even if :math:`K_\nu(x)` itself would overflow.

    Above order 50 we use four terms of the uniform expansion of Debye, with a relative error below
    1e-9. Below order 50 we use SciPy's ``kve``. If ``kve`` overflows, we use the limit
    :math:`K_\nu(x) \to \Gamma(\nu) (2/x)^\nu / 2`.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if order > 50:
            return _log_bessel_k_uniform(argument, order)
        exact = np.log(kve(order, argument)) - argument
        limit = gammaln(order) - np.log(2) + order * np.log(2 / argument)
        return np.where(np.isfinite(exact), exact, limit)


def _log_bessel_k_uniform(argument: FloatArray, order: float) -> FloatArray:
    z = argument / order
    root = np.sqrt(1 + z**2)
    t = 1 / root
    eta = root + np.log(z / (1 + root))
    series = (
        1
        - (3 * t - 5 * t**3) / (24 * order)
        + (81 * t**2 - 462 * t**4 + 385 * t**6) / (1152 * order**2)
        - (30375 * t**3 - 369603 * t**5 + 765765 * t**7 - 425425 * t**9) / (414720 * order**3)
    )
    return 0.5 * np.log(np.pi / (2 * order)) - order * eta - 0.5 * np.log(root) + np.log(series)
