"""Bounds on the error of a linear classifier under a Gaussian posterior."""

import numpy as np
import numpy.typing as npt
from scipy import special

from pacfourier.arrays import FloatArray
from pacfourier.bounds.arguments import checked_terms, vector
from pacfourier.bounds.binary_kl import klup, log_xi
from pacfourier.bounds.result import Bound


def gaussian_linear(
    *,
    features: npt.ArrayLike,
    labels: npt.ArrayLike,
    w: npt.ArrayLike,
    prior_mean: npt.ArrayLike,
    epsilon: float,
) -> Bound:
    r"""Return the bound on the error of a random classifier around a linear one.

    .. math:: R(G_w) \le \mathrm{kl}^{+}\Bigl(\hat R(G_w),\
              \frac{\frac12 |w - w_0|^2 + \ln\xi(n) + \ln(1/\varepsilon)}{n}\Bigr), \qquad
              \hat R(G_w) = \frac1n \sum_i
              \tfrac12 \mathrm{erfc}\Bigl(\frac{y_i\, w \cdot \phi_i}{\sqrt2\, |\phi_i|}\Bigr) ,

    for the posterior :math:`N(w, I)`, the prior :math:`N(w_0, I)` and the features of a map that
    was fixed without these points. The scale of a row does not matter, because it does not change
    the sign of :math:`\tilde w \cdot \phi_i`. Twice the value bounds the error of
    :math:`\mathrm{sign}(w \cdot \phi)` itself.

    Parameters
    ----------
    features : array of shape (n_samples, n_features)
        :math:`\phi(x_i)`, of any norm. For an intercept, add a column of ones and its weight to
        ``w``. A row of zeros counts as an error.
    labels : array of shape (n_samples,)
        Labels :math:`y_i` in {-1, 1}.
    w : array of shape (n_features,)
        Mean of the posterior, chosen by any rule.
    prior_mean : array of shape (n_features,)
        Mean of the prior, chosen without these points (zeros, or another split).
    epsilon : float
        Probability of failure, over these points, for all posteriors at once.

    Returns
    -------
    bound : Bound
        The empirical term is the mean error of the random classifier.

    References
    ----------
    langford2002, langford2005, germain2009; ambroladze2007 for a learned prior.

    Examples
    --------
    Weights of zero toss a coin. Those that look along the axis on which the classes differ err
    less, and the certificate pays for their length:

    >>> rng = np.random.default_rng(0)
    >>> labels = rng.choice([-1, 1], size=1000)
    >>> features = np.column_stack([labels + 0.5 * rng.normal(size=1000), rng.normal(size=1000)])
    >>> rows = {"features": features, "labels": labels, "prior_mean": [0.0, 0.0]}
    >>> gaussian_linear(w=[0.0, 0.0], epsilon=0.05, **rows).empirical_term
    0.5
    >>> bound = gaussian_linear(w=[3.0, 0.0], epsilon=0.05, **rows)
    >>> round(bound.empirical_term, 3), round(bound.value, 3)
    (0.047, 0.086)
    """
    shift = _shift(w, prior_mean)
    values = _unit_margins(features, labels, vector("w", w))
    return _inverse(
        error=float(special.ndtr(-values).mean()),
        divergence=0.5 * float(shift @ shift),
        n_samples=values.size,
        epsilon=epsilon,
        theorem="Gaussian linear classifier",
        reference="langford2002; germain2009; maurer2004",
    )


def gaussian_linear_draw(
    *,
    features: npt.ArrayLike,
    labels: npt.ArrayLike,
    w: npt.ArrayLike,
    draw: npt.ArrayLike,
    prior_mean: npt.ArrayLike,
    epsilon: float,
) -> Bound:
    r"""Return the bound on the error of the one classifier that was drawn.

    .. math:: R(\tilde w) \le \mathrm{kl}^{+}\Bigl(\hat R(\tilde w),\
              \frac{\max\{0,\ \frac12 |w - w_0|^2 + (w - w_0) \cdot (\tilde w - w)\}
              + \ln\xi(n) + \ln(1/\varepsilon)}{n}\Bigr) ,

    with probability :math:`1 - \varepsilon` over the points and the single draw
    :math:`\tilde w \sim N(w, I)`: the braces hold :math:`\ln dQ/dP` at :math:`\tilde w`. The drawn
    classifier is the one to deploy; drawing again costs the logarithm of the number of draws.

    Parameters
    ----------
    features : array of shape (n_samples, n_features)
        :math:`\phi(x_i)`, of any norm. If :math:`\tilde w \cdot \phi(x_i)` is zero, it counts as
        an error.
    labels : array of shape (n_samples,)
        Labels in {-1, 1}.
    w : array of shape (n_features,)
        Mean of the posterior, frozen before the draw.
    draw : array of shape (n_features,)
        :math:`\tilde w`.
    prior_mean : array of shape (n_features,)
        Mean of the prior, chosen without these points.
    epsilon : float
        Probability of failure, over these points and the draw.

    Returns
    -------
    bound : Bound
        The empirical term is the error rate of the drawn classifier.

    References
    ----------
    catoni2007, blanchard2007, rivasplata2020.
    """
    shift = _shift(w, prior_mean)
    drawn = vector("draw", draw, size=shift.size)
    noise = drawn - vector("w", w)
    values = _unit_margins(features, labels, drawn)
    return _inverse(
        error=float(np.mean(values <= 0.0)),
        divergence=max(0.5 * float(shift @ shift) + float(shift @ noise), 0.0),
        n_samples=values.size,
        epsilon=epsilon,
        theorem="Gaussian linear classifier, single draw",
        reference="catoni2007; blanchard2007; rivasplata2020; maurer2004",
    )


def _unit_margins(features: npt.ArrayLike, labels: npt.ArrayLike, w: FloatArray) -> FloatArray:
    r"""Return :math:`y_i\, w \cdot \phi_i / |\phi_i|`, and minus infinity for a row of zeros."""
    rows = np.asarray(features, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != w.size or not np.isfinite(rows).all():
        raise ValueError(
            f"features must be a finite matrix of {w.size} columns, one per entry of w, got "
            f"{features!r}."
        )
    signs = vector("labels", labels, size=len(rows))
    if not np.isin(signs, (-1.0, 1.0)).all():
        raise ValueError(f"labels must be -1 or 1, got {np.unique(signs).tolist()}.")
    # The largest entry goes first: the squares of the others neither overflow nor vanish.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    is_zero = largest[:, 0] == 0.0
    rows = rows / np.where(largest == 0.0, 1.0, largest)
    norms = np.linalg.norm(rows, axis=1)
    return np.where(is_zero, -np.inf, signs * (rows @ w) / np.where(is_zero, 1.0, norms))


def _shift(w: npt.ArrayLike, prior_mean: npt.ArrayLike) -> FloatArray:
    mean = vector("w", w)
    return mean - vector("prior_mean", prior_mean, size=mean.size)


def _inverse(
    *,
    error: float,
    divergence: float,
    n_samples: int,
    epsilon: float,
    theorem: str,
    reference: str,
) -> Bound:
    terms = checked_terms(
        loss=error, divergence=divergence, n_samples=n_samples, epsilon=epsilon, pairs=False
    )
    budget = (terms.nats + log_xi(n_samples)) / n_samples
    return Bound(
        value=klup(error, budget),
        empirical_term=error,
        divergence_term=budget,
        parameters={"divergence": divergence, "log_xi": log_xi(n_samples)},
        theorem=theorem,
        reference=reference,
    )
