"""Bounds from held-out points, which nothing was chosen on."""

from scipy import special

from pacfourier.bounds.arguments import checked_terms, count, unit_open
from pacfourier.bounds.binary_kl import klup, supremum
from pacfourier.bounds.result import Bound

# The distribution function is rounded: slightly less than epsilon keeps the result an upper bound.
SAFETY = 1.0 - 1e-12


def binomial_cdf(k: int, n: int, p: float) -> float:
    """Return the probability of at most k successes in n trials, by the incomplete beta."""
    return 1.0 if k >= n else float(special.betaincc(k + 1.0, n - k, p))


def holdout(*, n_errors: int, n_samples: int, epsilon: float) -> Bound:
    r"""Return the exact binomial bound on a risk, from errors on unseen points.

    .. math:: R \le \sup\{p : \Pr[\mathrm{Binomial}(n, p) \le k] > \varepsilon\} .

    Parameters
    ----------
    n_errors : int
        Number of errors :math:`k`.
    n_samples : int
        Number of points :math:`n`, used by nothing else.
    epsilon : float
        Probability of failure.

    Returns
    -------
    bound : Bound
        Rounded up. No divergence is paid: its term is zero.

    References
    ----------
    clopper1934, langford2005.

    Examples
    --------
    No error in one toss: :math:`1 - p > \varepsilon`.

    >>> round(holdout(n_errors=0, n_samples=1, epsilon=0.05).value, 12)
    0.95
    """
    epsilon, n = unit_open("epsilon", epsilon), count("n_samples", n_samples, 1)
    k = count("n_errors", n_errors, 0)
    if k > n:
        raise ValueError(f"n_errors must be at most n_samples={n}, got {n_errors!r}.")
    return Bound(
        value=supremum(lambda p: binomial_cdf(k, n, p) > SAFETY * epsilon, 0.0, 1.0),
        empirical_term=k / n,
        divergence_term=0.0,
        parameters={"n_errors": float(k)},
        theorem="binomial hold-out",
        reference="clopper1934; langford2005",
    )


def holdout_alignment(*, loss: float, n_samples: int, epsilon: float, pairs: bool = True) -> Bound:
    r"""Return the Chernoff bound on an alignment loss, from unseen points.

    .. math:: L(k_Q) \le \mathrm{kl}^{+}\Bigl(\hat L(k_Q), \frac{\ln(1/\varepsilon)}{m}\Bigr) ,

    for a posterior frozen before the points are read. One side needs no :math:`\xi`.

    Parameters
    ----------
    loss : float
        Empirical loss on the unseen points, in [0, 1].
    n_samples : int
        Number of unseen points :math:`n`.
    epsilon : float
        Probability of failure.
    pairs : bool, default=True
        Whether the loss is a mean over pairs: :math:`m = \lfloor n/2 \rfloor`, else :math:`m = n`.

    Returns
    -------
    bound : Bound
        The divergence term is the second argument of the inverse.

    References
    ----------
    hoeffding1963.
    """
    terms = checked_terms(
        loss=loss, divergence=0.0, n_samples=n_samples, epsilon=epsilon, pairs=pairs
    )
    budget = terms.nats / terms.n_terms
    return Bound(
        value=klup(terms.loss, budget),
        empirical_term=terms.loss,
        divergence_term=budget,
        parameters={},
        theorem="Chernoff hold-out",
        reference="hoeffding1963",
    )
