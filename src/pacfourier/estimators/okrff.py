"""Fourier features from the divergence ball of Sinha and Duchi."""

import numpy as np

from pacfourier.estimators.learned import LearnedFourierMap
from pacfourier.estimators.parameters import check_positive
from pacfourier.pacbayes.posteriors import divergence_ball_posterior


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
    n_candidates : int, default=20000
        Number N of frequencies drawn from the prior. They are never stored.
    rho : float or "ess", default="ess"
        Radius of the ball. "ess" takes that of 2 D equal weights, whatever the data. The
        authors' code counts in squared distance, which is rho / N.
    mu : float, default=2.0
        Order of the divergence, above one; two is the chi-square divergence.
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

    _posterior_parameters = ("n_frequencies", "draw", "class_weight", "rho", "mu")

    def __init__(
        self,
        n_frequencies=100,
        *,
        n_candidates=20000,
        rho="ess",
        mu=2.0,
        draw="weighted",
        class_weight="balanced",
        kernel="rbf",
        gamma="multiscale",
        sampling="iid",
        target_type="auto",
        precision="auto",
        random_state=None,
    ):
        self.n_frequencies = n_frequencies
        self.n_candidates = n_candidates
        self.rho = rho
        self.mu = mu
        self.draw = draw
        self.class_weight = class_weight
        self.kernel = kernel
        self.gamma = gamma
        self.sampling = sampling
        self.target_type = target_type
        self.precision = precision
        self.random_state = random_state

    def _check_parameters(self):
        super()._check_parameters()
        if self.rho != "ess":
            check_positive("rho", self.rho, or_else="'ess'")
        if not 1 < self.mu < np.inf:
            raise ValueError(f"mu must be greater than 1 and finite, got {self.mu!r}.")

    def _posterior(self):
        self.fitted_mu_ = self.mu
        rho = self.rho
        if rho == "ess":
            # The divergence of equal weights on that many of the candidates, in the range of
            # floats: mu may be large, and a single candidate has no divergence.
            log_rho = (self.mu - 1) * np.log(len(self.pool_) / self._width())
            rho = np.expm1(np.clip(log_rho, 1e-300, 700.0))
        return divergence_ball_posterior(self.selection_losses_, rho, self.mu)

    def _bound_constants(self):
        return {"mu": self.fitted_mu_}
