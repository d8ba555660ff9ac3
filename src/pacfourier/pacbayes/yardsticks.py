"""Yardsticks: losses that the value of a certificate can be compared with.

They are computed from the labels alone, so a certificate has them without another look at the data.
They describe the labels of the sample, and estimate those of new data.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pacfourier.bounds.safe_side import safely_rounded

# The loss of the kernel that is zero for any two different samples.
_ZERO = 0.5


@dataclass(frozen=True)
class KernelYardsticks:
    """What the alignment loss of a kernel can be compared with.

    Attributes
    ----------
    agreement : float
        Mean agreement of the labels of two different samples.
    class_shares : tuple of float or None
        Share of each class in the sample. None if the labels are not classes.
    n_samples : float
        Number of samples; Kish's number if they have weights.
    """

    agreement: float
    class_shares: tuple[float, ...] | None
    n_samples: float

    @property
    def constant(self) -> float:
        """The loss of the kernel that is one everywhere.

        For agreements of +1 and -1, it is how often two classes differ.
        """
        return (1 - self.agreement) / 2

    @property
    def unrelated(self) -> float:
        """The smallest loss of a kernel that has nothing to do with the labels."""
        return _least_unrelated_loss(self.agreement)

    @property
    def perfect(self) -> float | None:
        """The smallest loss of any kernel. None if the labels are not classes."""
        if self.class_shares is None:
            return None
        return _least_kernel_loss(self.class_shares, self.n_samples)


@dataclass(frozen=True)
class LandmarkYardsticks:
    """What the mean loss of the similarities to some landmarks can be compared with.

    Each landmark has its own similarity, which can have any value in [-1, 1] at any sample.

    Attributes
    ----------
    agreements : tuple of float
        For each landmark, the mean agreement of its label with those of the other samples.
    are_signs : bool
        Whether every agreement of two labels is +1 or -1.
    """

    agreements: tuple[float, ...]
    are_signs: bool

    @property
    def constant(self) -> float:
        """The loss of the similarity that is one everywhere."""
        return float(1 - np.mean(self.agreements)) / 2

    @property
    def unrelated(self) -> float:
        """The smallest loss of similarities that are constant: one for each landmark."""
        return float(1 - np.mean(np.abs(self.agreements))) / 2

    @property
    def perfect(self) -> float | None:
        """Zero, if the similarity can be equal to every agreement. Otherwise it is unknown."""
        return 0.0 if self.are_signs else None


def _least_unrelated_loss(agreement: float) -> float:
    r"""Return the smallest loss of a positive definite kernel unrelated to the labels.

    .. math:: \min\left(\frac12, \frac{1 - \bar\lambda}2\right), \qquad
              \bar\lambda = \mathbb{E}\,\lambda(y, y') .

    If samples and labels are independent, the loss is
    :math:`\frac12 (1 - \bar\lambda\, \mathbb{E}\, k(x, x'))`. Let
    :math:`k(x, x') = \langle \phi(x), \phi(x') \rangle` with :math:`|\phi(x)| = 1`. Then
    :math:`\mathbb{E}\, k(x, x') = |\mathbb{E}\, \phi(x)|^2` lies in [0, 1], and the loss is linear
    in it. At 0 it is that of the zero kernel, at 1 that of the constant kernel. For classes
    :math:`\frac12 (1 - \bar\lambda) = 1 - \sum_k p_k^2`.

    Parameters
    ----------
    agreement : float
        Mean agreement of the labels of two different samples.

    Returns
    -------
    loss : float

    Examples
    --------
    >>> _least_unrelated_loss(-0.8)  # ten classes of equal size
    0.5
    """
    return min(_ZERO, (1 - agreement) / 2)


def _least_kernel_loss(shares: ArrayLike, n_samples: float = np.inf) -> float:
    r"""Return the smallest alignment loss of a positive definite kernel with k(x, x) = 1.

    Classes have the shares :math:`p_k`. For two independent draws the smallest loss is

    .. math:: \frac12 - \sum_k p_k^2 + \frac12 \max(0, 2 p_{\max} - 1)^2 .

    This is 0 for two classes and :math:`\frac12 - \frac1K` for K classes of equal size. Proof: let
    :math:`k(x, x') = \langle \phi(x), \phi(x') \rangle` with :math:`|\phi(x)| = 1`, and
    :math:`s_k = \mathbb{E}[\phi(x) 1_{y = k}]`, a vector of length at most :math:`p_k`. The mean of
    agreement times kernel is :math:`2 \sum_k |s_k|^2 - |\sum_k s_k|^2`. It is convex in each
    :math:`s_k`, so it is largest if :math:`|s_k| = p_k`, when a class is one point. The first sum
    is then :math:`\sum_k p_k^2`. Vectors of these lengths close to a polygon unless one is longer
    than all others together, so the smallest length of their sum is
    :math:`\max(0, 2 p_{\max} - 1)`.

    The loss on a sample is a mean over pairs of different samples. A mean M over all pairs, where
    the n pairs i = j count one, is :math:`(n M - 1) / (n - 1)` over these.

    Parameters
    ----------
    shares : array of shape (n_classes,)
        The shares of the classes, which sum to one.
    n_samples : float, default=inf
        Number of samples. Infinity gives the loss of two independent draws.

    Returns
    -------
    loss : float

    Examples
    --------
    >>> round(_least_kernel_loss([0.1] * 10), 12)
    0.4
    """
    lengths = np.asarray(shares, dtype=np.float64)
    shortest = max(0.0, 2 * float(lengths.max()) - 1)
    mean = 2 * float(lengths @ lengths) - shortest**2
    return max(0.0, (1 - (mean - 1 / n_samples) / (1 - 1 / n_samples)) / 2)


def normalised_loss(loss: float, yardsticks: KernelYardsticks | LandmarkYardsticks) -> float | None:
    """Return a loss on the scale where 0 is perfect and 1 is unrelated to the labels.

    Parameters
    ----------
    loss : float
        An alignment loss, or a bound on one.
    yardsticks : KernelYardsticks or LandmarkYardsticks
        What it is compared with.

    Returns
    -------
    normalised : float or None
        It may exceed 1. It is None if the perfect loss is unknown, or if the sample has one class,
        so that the constant kernel is perfect.
    """
    perfect, unrelated = yardsticks.perfect, yardsticks.unrelated
    if perfect is None or unrelated <= perfect:
        return None
    return (loss - perfect) / (unrelated - perfect)


def yardstick_facts(
    yardsticks: KernelYardsticks | LandmarkYardsticks, value: float | None
) -> list[tuple[str, str]]:
    """Return what to tell a user about a value, as pairs of a name and a text.

    Parameters
    ----------
    yardsticks : KernelYardsticks or LandmarkYardsticks
        What the value is compared with.
    value : float or None
        The value of a certificate. None if it has none.

    Returns
    -------
    facts : list of tuple of str
    """
    perfect, unrelated = yardsticks.perfect, yardsticks.unrelated
    least = "perfect unknown" if perfect is None else f"perfect {perfect:.4f}"
    others = f"unrelated to the labels {unrelated:.4f}, constant {yardsticks.constant:.4f}"
    facts = [("yardsticks", f"{least}, {others} (from the labels of this sample)")]
    if value is None:
        return facts
    normalised = normalised_loss(value, yardsticks)
    if normalised is not None:
        scale = "(0 is perfect, 1 is unrelated to the labels)"
        shown = safely_rounded(normalised, "up", decimals=2)
        facts.append(("normalised", f"{shown} {scale}"))
    answer = (
        "yes: the kernel carries information about the labels; a kernel that was not learned may "
        "do so too"
        if value < unrelated
        else "no: this does not show that the kernel carries information about the labels"
    )
    return [*facts, ("below unrelated", answer)]
