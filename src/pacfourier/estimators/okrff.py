"""Fourier features from the divergence ball of Sinha and Duchi."""

from typing import Any

from pacfourier.core.alignment.targets import TargetType
from pacfourier.core.prior.frequencies import Sampling
from pacfourier.estimators.learned import LearnedFourierMap
from pacfourier.pacbayes.balls import DivergenceBall
from pacfourier.spectra import Spectrum


class OKRFF(LearnedFourierMap):
    r"""Fourier features learned from labels by optimal alignment in a divergence ball.

    The same candidates and losses as ``PBRFF``; the posterior is the one of least mean loss with
    :math:`D_\mu(Q \Vert P) \le \rho` (Sinha and Duchi, 2016, for mu = 2). For mu = 2, while the
    ball binds, the posterior is as wide as N / (1 + rho) equal weights.

    The defaults are chosen by measurement; the paper's comparison takes ``draw="replacement",
    class_weight=None``, a ``rho`` of N times 1e-4 to 1 and a ``gamma``, both from validation.

    Parameters
    ----------
    n_frequencies : int, default=100
        Number D of kept frequencies; the map has 2 D columns.
    rho : float or "ess", default="ess"
        Radius of the ball. "ess" takes that of 2 D equal weights, whatever the data. The
        authors' code counts in squared distance, which is rho / N.
    mu : float, default=2.0
        Order of the divergence, above one; two is the chi-square divergence.
    n_candidates : int, default=20000
        Number N of frequencies drawn from the prior. They are never stored.
    draw, class_weight, kernel, gamma, sampling, target_type, precision, random_state
        As in ``PBRFF``.

    Attributes
    ----------
    frequencies_, frequency_weights_, kept_, losses_, selection_losses_, posterior_, classes_
        As in ``PBRFF``.
    pool_, sums_, n_features_in_
        As in ``PBRFF``.

    See Also
    --------
    PBRFF : The same candidates with the Gibbs posterior, in closed form.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OKRFF(5, rho=50.0, random_state=0).fit(X, y)
    >>> round(float(1 / (model.posterior_**2).sum()))  # 20000 / 51
    392
    """

    _rule = DivergenceBall

    def __init__(
        self,
        n_frequencies: int = 100,
        *,
        gamma: float | str = "multiscale",
        kernel: str | Spectrum = "rbf",
        rho: float | str = "ess",
        mu: float = 2.0,
        target_type: str | TargetType = "auto",
        n_candidates: int = 20000,
        draw: str = "weighted",
        class_weight: str | None = "balanced",
        sampling: Sampling = "iid",
        precision: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.gamma = gamma
        self.kernel = kernel
        self.rho = rho
        self.mu = mu
        self.target_type = target_type
        self.n_candidates = n_candidates
        self.draw = draw
        self.class_weight = class_weight
        self.sampling = sampling
        self.precision = precision
        self.random_state = random_state
