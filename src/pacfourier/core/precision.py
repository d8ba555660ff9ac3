"""Precision: how far single precision may move a phase, and which frequencies need double."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from pacfourier.arrays import FloatArray, IntArray, Samples, by_kind
from pacfourier.core.products import ROW_BLOCK

Precision = Literal["single", "double"]
PRECISIONS = ("single", "double")
# Rounding a phase of this size to single precision moves it by 1e-4 at most.
LARGEST_SINGLE_PHASE = 1e-4 * 2.0**24


def precision_of(X: Samples) -> Precision:
    """Return the precision of the samples."""
    # The name is "float32" in NumPy and "torch.float32" in torch.
    return "single" if str(X.dtype).endswith("float32") else "double"


@by_kind
def largest_magnitudes(X: Samples) -> FloatArray:
    """Return the largest absolute value of each feature, of shape (n_features,)."""
    if sparse.issparse(X):
        largest = np.zeros(X.shape[1])
        np.maximum.at(largest, X.indices, np.abs(X.data))
        return largest
    from pacfourier.core import loops

    largest = np.zeros(X.shape[1], dtype=X.dtype)
    loops.raise_to_magnitudes(X, largest)
    return largest.astype(np.float64)


def phase_sizes(frequencies: FloatArray, magnitudes: FloatArray) -> FloatArray:
    """Return the size of the phases of each frequency, from which rounding is estimated.

    The size is the root of the sum over features of (frequency * largest magnitude)^2.
    """
    from pacfourier.core import loops

    if frequencies.flags.f_contiguous:
        squares = np.zeros(len(frequencies))
        loops.add_column_squares(frequencies.T, magnitudes, squares)
        return np.sqrt(squares)
    sizes = np.empty(len(frequencies))
    loops.weighted_lengths(frequencies, magnitudes, sizes)
    return sizes


def precision_groups(
    sizes: FloatArray, precision: Precision
) -> Iterator[tuple[type[np.floating[Any]], IntArray]]:
    """Split frequencies by the precision that phases of their size need.

    The error of a dot product in single precision is about 2^-24 times its size. If that exceeds
    1e-4 radian, the phases of the frequency are computed in double precision.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be one of {PRECISIONS}, got {precision!r}.")
    is_single = (precision == "single") & (sizes <= LARGEST_SINGLE_PHASE)
    for dtype, members in ((np.float32, is_single), (np.float64, ~is_single)):
        if members.any():
            yield dtype, np.flatnonzero(members)


class Magnitudes(NamedTuple):
    """How large the values of samples are.

    Attributes
    ----------
    largest, means : arrays of shape (n_features,)
        The largest and the mean absolute value of each feature.
    most_products : int
        The largest number of values other than zero in a row.
    """

    largest: FloatArray
    means: FloatArray
    most_products: int


def magnitudes_of(X: Samples) -> Magnitudes:
    """Return the magnitudes of samples, in one pass over them."""
    n_samples, n_features = X.shape
    if sparse.issparse(X):
        sums = np.bincount(X.indices, np.abs(X.data).astype(np.float64), n_features)
        most = int(np.diff(X.indptr).max())
        return Magnitudes(largest_magnitudes(X), sums / n_samples, most)
    from pacfourier.core import loops

    largest, totals = np.zeros(n_features), np.zeros(n_features)
    blocks = (X[start : start + ROW_BLOCK] for start in range(0, n_samples, ROW_BLOCK))
    most = max(loops.add_magnitudes(np.ascontiguousarray(rows), largest, totals) for rows in blocks)
    return Magnitudes(largest, totals / n_samples, most)


def mean_phase_sizes(frequencies: FloatArray, means: FloatArray) -> FloatArray:
    """Return the mean over samples of the sum over features of |x_f omega_f|."""
    from pacfourier.core import loops

    sizes = np.zeros(len(frequencies))
    if frequencies.flags.f_contiguous:
        loops.add_column_totals(frequencies.T, means, sizes)
    else:
        loops.weighted_totals(frequencies, means, sizes)
    return sizes


def single_rounding(sizes: FloatArray, n_steps: int) -> FloatArray:
    r"""Return a bound on what single precision does to a mean of waves, for arrays.

    .. math:: \Bigl| \frac1n \sum_i (\hat z_i - e^{i \omega \cdot x_i}) \Bigr| \le
              2 \cdot 10^{-5} + \gamma_{k + 4}\, s, \qquad \gamma_k = \frac{k u}{1 - k u}, \quad
              u = 2^{-24} ,

    where :math:`\hat z_i` is what a row contributes to the sums. The size s is the mean over rows
    of :math:`\sum_f |x_{if}\, \omega_f|`, and k is ``most_products``. The error of the mean of
    :math:`e^{2 i \omega \cdot x_i}` is at most four times as large.

    *Proof.* A number that passes through k roundings has a relative error of at most
    :math:`\gamma_k`, and this holds for every term of a sum, in whichever order the terms are
    added and whether or not products and sums are fused (higham2002, section 3.1).

    - *Phase.* A term :math:`x_{if}\, \omega_f / 2 \pi` is rounded when both factors and
      :math:`1 / 2 \pi` become single (3), in two products (2) and in at most k - 1 sums, because
      terms of zero are exact. So the phase is wrong by :math:`\gamma_{k+4} \sum_f |x_{if}\,
      \omega_f|` at most. Taking off whole turns is exact. A wave moves no further than its phase.
    - *Polynomials.* At half the angle, with :math:`|t| \le 1/2`, the absolute terms of the sine sum
      up to 2.31 and those of the cosine to 2.51. Each term is rounded at most 16 times, and the
      polynomials are wrong by 3.3e-8 and 8.3e-8. So the sine s is wrong by 2.3e-6 and the cosine c
      by 2.5e-6. Then :math:`1 - 2 s^2` is wrong by 4 times 2.3e-6 and three roundings, together
      9.8e-6, and :math:`2 s c` by 7.1e-6: the point on the circle by 1.3e-5.
    - *Sums.* At most 64 rows are added in single precision, with one product and one rounded
      weight: :math:`\gamma_{66} \le` 4e-6. The rest is added in double precision.

    These are 1.7e-5 together. For :math:`2 c^2 - 1` and :math:`2 s c` of the full angle, the same
    steps give 6e-5 in place of 4 times 2e-5, and twice the error of the phase.

    Parameters
    ----------
    sizes : array of shape (n_frequencies,)
        The size s of the phases of each frequency.
    n_steps : int
        The number k of roundings of a phase.

    Returns
    -------
    rounding : array of shape (n_frequencies,)
    """
    steps = (n_steps + 4) * 2.0**-24
    return 2e-5 + steps / (1 - steps) * sizes
