"""Bound for landmarks chosen among the samples: the choice is part of the hypothesis."""

import math
from collections.abc import Callable
from dataclasses import replace
from inspect import signature

import numpy.typing as npt
from scipy import special

from pacfourier.bounds.arguments import bounded_vector, count, distribution
from pacfourier.bounds.kl import kl
from pacfourier.bounds.result import Bound

# Bounds that take these arguments pay a Kullback-Leibler divergence for a mean over points. Any
# other divergence has another name, so the arguments tell which bounds are valid here.
_FORM = frozenset({"loss", "divergence", "n_samples", "epsilon", "pairs"})


def mixture_divergence(
    *, weights: npt.ArrayLike, divergences: npt.ArrayLike, n_train: int
) -> float:
    r"""Return the divergence of a weighting of landmarks and of their posteriors.

    .. math:: \mathrm{KL}(r \Vert \mathrm{Uniform}_n) + \sum_i r_i\, \mathrm{KL}(Q^i \Vert P_i)
              = \ln n + \sum_i r_i \ln r_i + \sum_i r_i\, \mathrm{KL}(Q^i \Vert P_i) .

    Parameters
    ----------
    weights : array of shape (n_landmarks,)
        :math:`r_i` of the landmarks in use; the other points of the sample have weight zero.
    divergences : array of shape (n_landmarks,)
        :math:`\mathrm{KL}(Q^i \Vert P_i)`.
    n_train : int
        Number :math:`n` of points the landmarks were chosen among.

    Returns
    -------
    divergence : float
        Between zero and :math:`\ln n` above the mean divergence.

    Examples
    --------
    The average over the whole sample costs nothing. One of n points costs ln n.

    >>> mixture_divergence(weights=[0.5, 0.5], divergences=[1.0, 3.0], n_train=2)
    2.0
    >>> mixture_divergence(weights=[1.0], divergences=[0.0], n_train=2) == math.log(2.0)
    True
    """
    r = distribution("weights", weights)
    n = count("n_train", n_train, max(r.size, 2))
    kls = bounded_vector("divergences", divergences, 0.0, math.inf, size=r.size)
    return max(math.log(n) - float(special.entr(r).sum()), 0.0) + float(r @ kls)


def landmark_mixture(
    *,
    weights: npt.ArrayLike,
    losses: npt.ArrayLike,
    divergences: npt.ArrayLike,
    n_train: int,
    epsilon: float,
    bound: Callable[..., Bound] = kl,
) -> Bound:
    r"""Return a bound on the weighted loss of landmarks chosen in the sample, by any rule.

    .. math:: \sum_i r_i L^i(k_{Q^i}) \le \mathrm{bound}\Bigl(\sum_i r_i \hat L^i(k_{Q^i}),\
              \mathrm{KL}(r \Vert \mathrm{Uniform}_n) + \sum_i r_i \mathrm{KL}(Q^i \Vert P_i),\
              n - 1\Bigr)

    for every weighting :math:`r` and all posteriors at once. One landmark costs :math:`\ln n`, the
    average over :math:`n_L` of them :math:`\ln(n / n_L)`, the average over all of them nothing.

    *Proof.* The pair (index, frequency) is the hypothesis, with prior
    :math:`\mathrm{Uniform}_n \times P_i`. Given :math:`z_i` the :math:`n - 1` other points are
    independent, so each :math:`\mathbb{E}_{P_i} e^{B^i}` has expectation at most one, and so has
    their average over :math:`i`.

    For landmarks drawn without looking at the data, or from another sample, call the bound itself
    with ``pairs=False``: each of :math:`n_L` costs :math:`\ln n_L`, their average nothing.

    Parameters
    ----------
    weights : array of shape (n_landmarks,)
        :math:`r_i`, non-negative and of sum one.
    losses : array of shape (n_landmarks,)
        :math:`\hat L^i(k_{Q^i})`, each a mean over the :math:`n - 1` other points.
    divergences : array of shape (n_landmarks,)
        :math:`\mathrm{KL}(Q^i \Vert P_i)`.
    n_train : int
        Number :math:`n` of points of the sample.
    epsilon : float
        Probability of failure, over the sample, for all choices at once.
    bound : callable, default=kl
        A bound that takes ``loss``, ``divergence`` and ``pairs``: :func:`kl`,
        :func:`hoeffding_peeling`, or one of ``hoeffding``, ``hoeffding_grid``, ``catoni``,
        ``catoni_grid``, ``unexpected_bernstein`` with its other arguments fixed by
        ``functools.partial`` (the second moment weighted by :math:`r`, as the loss is).

    Returns
    -------
    bound : Bound
        Bound on the weighted loss of the landmarks.

    References
    ----------
    Derived above; catoni2007 for the change of measure.
    """
    missing = _FORM - set(signature(bound).parameters)
    if missing:
        raise ValueError(
            "bound must pay a Kullback-Leibler divergence for a mean over points, that is, take "
            f"{sorted(_FORM)}, got {bound!r}, which does not take {sorted(missing)}."
        )
    divergence = mixture_divergence(weights=weights, divergences=divergences, n_train=n_train)
    r = distribution("weights", weights)
    loss = float(r @ bounded_vector("losses", losses, 0.0, 1.0, size=r.size))
    result = bound(
        loss=loss, divergence=divergence, n_samples=n_train - 1, epsilon=epsilon, pairs=False
    )
    return replace(result, theorem=f"{result.theorem}, landmark mixture")
