r"""Spectral measures: shift-invariant kernels and their Fourier transforms.

By Bochner's theorem a continuous kernel :math:`k(x - x')` with :math:`k(0) = 1` is the
characteristic function of a probability measure :math:`p`, the prior of the method:

.. math:: k(\delta) = \mathbb{E}_{\omega \sim p} \cos(\omega \cdot \delta) .

Every spectrum here is a scale mixture of Gaussians, :math:`\omega = s \odot z` with
:math:`z \sim \mathcal{N}(0, I_d)` and :math:`s` drawn apart. One object owns the kernel, the law
of :math:`s` and the log-density, so that they cannot disagree; and the same law of :math:`s`
serves independent, orthogonal and quasi-random :math:`z`.

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

# Beyond this a frequency no longer fits float32; only spectra without moments ever reach it.
LARGEST_SCALE = 1e30


class Spectrum(ABC):
    """A kernel and its Fourier transform, as one object.

    To add a kernel, write a frozen dataclass with ``profile``, ``scales`` and ``log_density``,
    and pass an instance as ``kernel=`` to any estimator. Nothing else needs to know about it.

    Attributes
    ----------
    name : str
        What users write for it, as in ``kernel="rbf"``.
    metric : {"sqeuclidean", "cityblock"}
        The distance that the kernel is a function of.
    has_one_scale : bool
        Whether each frequency has a single scale s, in place of one per feature.
    """

    name: ClassVar[str]
    metric: ClassVar[Metric] = "sqeuclidean"

    @abstractmethod
    def scales(self, rng: np.random.Generator, size: int, n_features: int) -> FloatArray:
        """Draw the scales s of omega = s * z, of shape (size, 1) or (size, n_features)."""

    @abstractmethod
    def log_density(self, frequencies: FloatArray) -> FloatArray:
        """Return ln p(omega) for frequencies of shape (..., n_features)."""

    def profile(self, distances: Any) -> Any:
        """Return the kernel at given distances of the ``metric``, for arrays and tensors alike.

        Use the functions of ``pacfourier.arrays.namespace(distances)`` in place of NumPy's.
        """
        raise NotImplementedError(f"{type(self).__name__} must define profile or kernel_between.")

    @property
    def has_one_scale(self) -> bool:
        """Whether ``scales`` has shape (size, 1)."""
        return True

    def kernel(self, delta: FloatArray) -> FloatArray:
        """Return k(delta) for differences of shape (..., n_features)."""
        return np.asarray(self.kernel_between(lambda metric: DIFFERENCE_NORMS[metric](delta)))

    def kernel_between(self, distances: Callable[[Metric], Any]) -> Any:
        """Return the kernel between points, given a function that returns their distances."""
        return self.profile(distances(self.metric))

    def sample(self, rng: np.random.Generator, size: int, n_features: int) -> FloatArray:
        """Draw independent frequencies, of shape (size, n_features)."""
        return self.scales(rng, size, n_features) * rng.standard_normal((size, n_features))

    @classmethod
    def of_bandwidth(cls, gamma: float, n_features: int) -> Self:
        """Return the member of the family that fits an RBF bandwidth found by a rule of thumb."""
        del n_features
        return cls(gamma=float(gamma))  # type: ignore[call-arg]

    def gaussian_components(self) -> tuple[FloatArray, FloatArray]:
        """Return the scales and the weights of a finite mixture of Gaussians, if it is one.

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
        """Return the one scale, of weight one."""
        return np.array([np.sqrt(2 * self.gamma)]), np.ones(1)


@dataclass(frozen=True)
class Laplacian(Spectrum):
    r"""Kernel :math:`e^{-\gamma \|\delta\|_1}`, whose spectrum is a product of Cauchy laws.

    This is scikit-learn's ``laplacian``; for the Euclidean :math:`e^{-\|\delta\| / \ell}` take
    ``Matern(nu=0.5)``.
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
        """Whether all features share a scale: they do not."""
        return False

    @classmethod
    def of_bandwidth(cls, gamma: float, n_features: int) -> Self:
        """Return the kernel whose 1-norm, about sqrt(n_features) times the 2-norm, fits gamma."""
        return cls(gamma=float(np.sqrt(2 * gamma / n_features)))

    def scales(self, rng: np.random.Generator, size: int, n_features: int) -> FloatArray:
        """Draw gamma / |g|: a ratio of two normals is Cauchy, coordinate by coordinate."""
        return self.gamma / np.abs(rng.standard_normal((size, n_features)))

    def log_density(self, frequencies: FloatArray) -> FloatArray:
        """Return the log-density of independent Cauchy coordinates of scale gamma."""
        cauchy = np.log(self.gamma / np.pi) - np.log(self.gamma**2 + frequencies**2)
        return np.asarray(cauchy.sum(axis=-1))


@dataclass(frozen=True)
class Matern(Spectrum):
    r"""Matern kernel of any smoothness, spectrum a multivariate Student law.

    .. math:: k(\delta) = \frac{2^{1-\nu}}{\Gamma(\nu)} r^\nu K_\nu(r),
              \qquad r = \sqrt{4 \nu \gamma}\, \|\delta\| ,

    that is a length scale :math:`1 / \sqrt{2 \gamma}`. The spectrum has :math:`2 \nu` degrees of
    freedom and one scale a *vector*: independent Student coordinates would give a product of
    one-dimensional Matern kernels, another kernel.
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
        # At distance zero the formula is a limit, one; a radius of one stands in for it.
        safe = xp.where(radius > 0, radius, xp.ones_like(radius))
        log_kernel = (
            (1 - self.nu) * float(np.log(2))
            - float(gammaln(self.nu))
            + self.nu * xp.log(safe)
            + log_bessel_k(safe, self.nu)
        )
        kernel = xp.exp(xp.minimum(log_kernel, xp.zeros_like(log_kernel)))
        return xp.where(radius > 0, kernel, xp.ones_like(kernel))

    def scales(self, rng: np.random.Generator, size: int, n_features: int) -> FloatArray:
        """Draw sqrt(2 gamma nu / g), g of law Gamma(nu): half a chi-square of 2 nu degrees."""
        del n_features
        # The smallest normal float stands for a draw that underflows (nu far below 1).
        gammas = np.maximum(rng.standard_gamma(self.nu, (size, 1)), np.finfo(float).tiny)
        return np.minimum(np.sqrt(2 * self.gamma * self.nu / gammas), LARGEST_SCALE)

    def log_density(self, frequencies: FloatArray) -> FloatArray:
        """Return the log-density of the multivariate Student law, shape 2 gamma I."""
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
    r"""Kernel :math:`(1 + \gamma \|\delta\|^2 / \alpha)^{-\alpha}`, a Gamma mixture of RBFs."""

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
        """Draw sqrt(2 gamma t), t of law Gamma(alpha) with mean one."""
        del n_features
        return np.sqrt(2 * self.gamma * rng.standard_gamma(self.alpha, (size, 1)) / self.alpha)

    def log_density(self, frequencies: FloatArray) -> FloatArray:
        r"""Return the log-density: with :math:`b = \|\omega\|^2 / 4 \gamma`.

        .. math:: p = (4 \pi \gamma)^{-d/2} \frac{2 \alpha^\alpha}{\Gamma(\alpha)}
                  (b / \alpha)^{(\alpha - d/2)/2} K_{\alpha - d/2}(2 \sqrt{\alpha b}) .
        """
        n_features = frequencies.shape[-1]
        order = self.alpha - n_features / 2
        # The smallest float stands for zero, where the formula is a limit.
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
    """A convex combination of spectra: the kernels and the densities both add up.

    Parameters
    ----------
    components : sequence of Spectrum
    weights : sequence of float, default=None
        Positive, normalised to one. None means equal weights.

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
                "weights must match a non-empty sequence of components, "
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
        """Draw a component a frequency, then the scale of that component."""
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
"""The kernels that have a name, as in ``kernel="rbf"``."""


def multiscale(family: type[Spectrum] = RBF, gammas: Sequence[float] = GAMMA_GRID) -> Mixture:
    """Put every bandwidth of a fixed grid into one prior, with equal weights.

    Nothing is chosen on the data, so a certificate stays valid; the price is
    ``ln(len(gammas))`` in the divergence of a posterior that lives on one bandwidth.
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
    r"""Return :math:`\ln K_\nu(x)` where the function itself would overflow.

    Above order 50 the uniform expansion of Debye (four terms, relative error under 1e-9);
    below it, the limit :math:`K_\nu(x) \to \Gamma(\nu) (2/x)^\nu / 2` where ``kve`` overflows.
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
