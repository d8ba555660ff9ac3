r"""PAC-Bayes certificates of a linear classifier of two classes, with a prior from other rows.

One half of the rows gives a feature map :math:`\phi` and prior weights :math:`w_0`. All rows may
give the weights w. The other half certifies a classifier whose weights are drawn around a mean
between :math:`w_0` and w. No row is lost to the fit, but what is certified is a *random*
classifier, or the one that was drawn.
"""

from dataclasses import asdict, dataclass
from itertools import product, starmap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray
from pacfourier.bounds import Bound, gaussian_linear, gaussian_linear_draw
from pacfourier.bounds._arguments import unit_open
from pacfourier.bounds.safe_side import confidence, safely_rounded
from pacfourier.pacbayes.assumptions import Assumption, Statement, Ties, run_assumption
from pacfourier.pacbayes.holdout import (
    FreshRows,
    fresh_row_assumptions,
    preparation_assumption,
)

__all__ = ["GaussianPosterior", "LinearCertificate", "gaussian_posterior", "linear_certificate"]

# Multiples of the prior weights, fixed in advance. Small ones are more random, large ones further
# from other weights.
SCALES: FloatArray = 2.0 ** np.arange(-3, 7)
# How far the mean is moved from the prior weights to those of all rows. Any choice is free.
STEPS: FloatArray = np.linspace(0.0, 1.0, 6)


class GaussianPosterior(NamedTuple):
    """A normal law of weights with unit variances, and its prior.

    Parameters
    ----------
    mean, prior_mean : arrays of shape (n_features,)
    bound : Bound
        On the error of a classifier whose weights are drawn anew for each prediction.
    """

    mean: FloatArray
    prior_mean: FloatArray
    bound: Bound


def gaussian_posterior(
    features: FloatArray, labels: FloatArray, *, w: FloatArray, w_prior: FloatArray, epsilon: float
) -> GaussianPosterior:
    r"""Return the posterior with the smallest bound between prior weights and learned ones.

    .. math:: \min_{s, t}\ B\bigl(s (w_0 + t (w - w_0));\ s w_0,\ \varepsilon / G\bigr) ,

    where :math:`B(\text{mean}; \text{prior mean}, \varepsilon)` is ``bounds.gaussian_linear``.

    *Proof.* The G multiples s of :math:`w_0` are priors that do not depend on these rows. By the
    union bound, the bounds of all of them hold together, and each holds for all posteriors at
    once. So s and t may be chosen by the rows.
    """

    def posterior(scale: float, step: float) -> GaussianPosterior:
        mean, prior_mean = scale * (w_prior + step * (w - w_prior)), scale * w_prior
        bound = gaussian_linear(
            features=features,
            labels=labels,
            w=mean,
            prior_mean=prior_mean,
            epsilon=epsilon / len(SCALES),
        )
        return GaussianPosterior(mean, prior_mean, bound)

    return min(starmap(posterior, product(SCALES, STEPS)), key=lambda each: each.bound.value)


@dataclass(frozen=True, repr=False, eq=False)
class LinearCertificate(Statement):
    """An upper bound on the error of a random linear classifier of two classes.

    Attributes
    ----------
    epsilon : float
        Probability, over the rows and the draw, that the bound fails.
    n_samples : int
        Number of rows that the prior was not learned from.
    mean : array of shape (n_features,)
        Mean of the weights.
    drawn : array of shape (n_features,) or None
        The weights that were drawn once. None if the weights are drawn for each prediction.
    details : Bound
    assumptions : tuple of Assumption
        If one of them is violated, the bounds raise an error that says how to fix it.
    """

    epsilon: float
    n_samples: int
    mean: FloatArray
    drawn: FloatArray | None
    details: Bound
    assumptions: tuple[Assumption, ...]

    @property
    def observed_error(self) -> float:
        """The error of the random classifier, or of the drawn one, on these rows."""
        return self.details.empirical_term

    @property
    def error(self) -> float:
        """An upper bound on the error of the random classifier, or of the drawn one."""
        self._check_assumptions()
        return min(self.details.value, 1.0)

    @property
    def error_of_mean(self) -> float:
        """Twice the bound, which holds for the classifier with the mean of the weights.

        Where that classifier is wrong, weights drawn around it are wrong with probability 1/2 or
        more. The bound of drawn weights does not imply it.
        """
        if self.drawn is not None:
            raise ValueError(
                "error_of_mean needs weights that are drawn for each prediction, got weights that "
                "were drawn once."
            )
        return min(2.0 * self.error, 1.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as a dictionary that can be written as JSON.

        Returns
        -------
        contents : dict
            Its ``"error"`` is None if the certificate is refused.
        """
        return {
            "error": None if self.violations else self.error,
            "observed_error": self.observed_error,
            "of": self._name(),
            "n_samples": self.n_samples,
            "epsilon": self.epsilon,
            "theorem": self.details.theorem,
            "reference": self.details.reference,
            "assumptions": [asdict(item) for item in self.assumptions],
        }

    def _name(self) -> str:
        return "random classifier" if self.drawn is None else "drawn classifier"

    def _headline(self) -> str:
        if self.violations:
            return f"No certificate for the {self._name()}"
        return f"Error of the {self._name()} <= {safely_rounded(self.error, 'up', decimals=4)}"

    def _facts(self) -> list[tuple[str, str]]:
        drawn = "" if self.drawn is None else " and over the draw"
        probability = confidence(self.epsilon)
        return [
            ("holds with probability", f"{probability} over {self.n_samples:,} rows{drawn}"),
            ("observed error", f"{self.observed_error:.4f}"),
            ("bound", f"{self.details.theorem} ({self.details.reference})"),
        ]


def linear_certificate(
    features: FloatArray,
    labels: NDArray[Any],
    rows: FreshRows,
    *,
    w: FloatArray,
    w_prior: FloatArray,
    epsilon: float = 0.05,
    ties: Ties = None,
    rng: np.random.Generator | None = None,
) -> LinearCertificate:
    """Return the certificate of a random linear classifier, or of one that is drawn from it.

    Parameters
    ----------
    features : array of shape (n_samples, n_features)
        Features of rows that neither the map nor the prior weights were learned from. For an
        intercept, add a column of ones.
    labels : array of shape (n_samples,)
        Labels -1 and 1.
    rows : FreshRows
        What these rows and the others are.
    w, w_prior : arrays of shape (n_features,)
        Weights learned from all rows, and from the others only.
    epsilon : float, default=0.05
        Probability of failure.
    ties : {None, "genuine"}, default=None
        What repeated rows are.
    rng : numpy.random.Generator, default=None
        If it is given, weights are drawn with it once, and the classifier with these weights is
        certified. Otherwise it is the one that draws new weights for each prediction.
    """
    unit_open("epsilon", epsilon)
    mean, prior_mean, details = gaussian_posterior(
        features, labels, w=w, w_prior=w_prior, epsilon=epsilon
    )
    drawn = None
    if rng is not None:
        drawn = mean + rng.standard_normal(len(mean))
        details = gaussian_linear_draw(
            features=features,
            labels=labels,
            w=mean,
            draw=drawn,
            prior_mean=prior_mean,
            epsilon=epsilon / len(SCALES),
        )
    listed = linear_assumptions(rows, ties, is_drawn=drawn is not None)
    return LinearCertificate(epsilon, len(labels), mean, drawn, details, listed)


def linear_assumptions(rows: FreshRows, ties: Ties, *, is_drawn: bool) -> tuple[Assumption, ...]:
    """Return the assumptions of a certificate with a prior from other rows."""
    sample, unseen = fresh_row_assumptions(rows, ties)
    reason = "the feature map and the prior weights were learned from other rows only."
    prior, inputs = Assumption("prior", "declared", reason), preparation_assumption(rows)
    use = "you use the weights that were drawn" if is_drawn else "each prediction draws new weights"
    used = Assumption("object", "declared", f"{use}.")
    return sample, unseen, prior, inputs, used, run_assumption()
