r"""The alignment loss of every frequency, in one pass over the data.

A frequency :math:`\omega` is the hypothesis :math:`h(\delta) = \cos(\omega \cdot \delta)`. Its
loss measures how badly it agrees with the labels, over all pairs of distinct samples:

.. math:: \hat L(\omega) = \sum_{i \neq j} w_i w_j\,
          \frac{1 - \lambda_{ij} \cos(\omega \cdot (x_i - x_j))}{2}
          \Big/ \sum_{i \neq j} w_i w_j .

Because :math:`\lambda_{ij} = u_i^\top A\, u_j`, the double sum is a function of the *waves*
:math:`S = \sum_i w_i u_i e^{i \omega \cdot x_i}`, which are sums over samples. So ``fit``,
``partial_fit``, threads and clusters all take the same three steps: sum over each block of rows,
merge the sums, and compute the losses.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce, singledispatch
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.arrays import ComplexArray, FloatArray, IntArray, Samples, beside, by_kind
from pacfourier.core.alignment.targets import Coder, Target, encoded
from pacfourier.core.precision import (
    Magnitudes,
    Precision,
    magnitudes_of,
    mean_phase_sizes,
    phase_sizes,
    precision_groups,
    precision_of,
    single_rounding,
)
from pacfourier.core.prior.frequencies import ChosenFrequencies, FrequencyPool
from pacfourier.core.products import COLUMN_BAND, cut, frequency_bands, row_parts, turn_blocks
from pacfourier.core.threads import run_tasks

# The largest weight of the pairs i = j, relative to that of all other pairs, by working precision.
# Up to this ratio, at least three digits of the losses are correct.
_LARGEST_SELF_PAIRS = {"single": 2.0**14, "double": 2.0**36}
# With fewer bands of frequencies than this, threads take parts of the rows.
_FEW_BANDS = 4


@dataclass(frozen=True, eq=False)
class AlignmentSums:
    """Sums over the samples of a data set, from which the losses are computed.

    Sums of several blocks of rows can be merged.

    Attributes
    ----------
    waves : array of shape (n_codes, n_frequencies)
        Sum of w_i u_i exp(i omega . x_i).
    gram : array of shape (n_codes, n_codes)
        Sum of w_i^2 u_i u_i^T, for the pairs i = j.
    totals : array of shape (n_codes,)
        Sum of w_i u_i.
    weight, squared_weight : float
        Sums of w_i and w_i^2.
    harmonics : array of shape (n_frequencies,)
        Sum of exp(2 i omega . x_i), without weights.
    n_samples : int
    rounding : array of shape (n_frequencies,)
        How far single precision may have moved a mean of waves (``single_rounding``). Zero in
        double precision.
    """

    waves: ComplexArray
    gram: FloatArray
    totals: FloatArray
    weight: float
    squared_weight: float
    harmonics: ComplexArray
    n_samples: int
    rounding: FloatArray

    def merge(self, other: Self) -> "AlignmentSums":
        """Return the sums of the union of two data sets."""
        return AlignmentSums(
            self.waves + other.waves,
            self.gram + other.gram,
            self.totals + other.totals,
            self.weight + other.weight,
            self.squared_weight + other.squared_weight,
            self.harmonics + other.harmonics,
            self.n_samples + other.n_samples,
            np.maximum(self.rounding, other.rounding),
        )

    def recoded(self, recoder: FloatArray) -> "AlignmentSums":
        """Return the sums of the rows ``recoder @ u_i``."""
        return replace(
            self,
            waves=recoder @ self.waves,
            gram=recoder @ self.gram @ recoder.T,
            totals=recoder @ self.totals,
        )

    @property
    def effective_samples(self) -> float:
        """Kish's number of samples, (sum w)^2 / sum w^2. It is n if all weights are equal."""
        return self.weight**2 / self.squared_weight

    @property
    def is_weighted(self) -> bool:
        """Whether some samples weigh more than others."""
        return self.effective_samples < (1 - 1e-9) * self.n_samples

    def losses(self, agreement: FloatArray) -> FloatArray:
        """Return the alignment loss of every frequency, given the agreement matrix A."""
        # Real and imaginary parts as neighbouring columns: one product of contiguous numbers.
        parts = np.ascontiguousarray(self.waves).view(np.float64)
        aligned = np.einsum("rm,rm->m", parts, agreement @ parts)
        return alignment_loss(
            aligned[::2] + aligned[1::2], float(np.vdot(agreement, self.gram)), self.pairs
        )

    @property
    def loss_rounding(self) -> FloatArray:
        r"""How far single precision may have moved the loss and the second moment.

        If each row contributes :math:`\hat z_i` in place of :math:`z_i`, with a mean error of e,
        then products of two rows are wrong by :math:`2 e + e^2` on average, over all pairs of rows.
        The loss is half of it, over the pairs of different rows: :math:`e (1 + e/2)\, n / (n - 1)`.
        The second moment has the error 4 e of the harmonics and the factor 1/8.
        """
        n = self.n_samples
        return self.rounding * (1 + 2 * self.rounding) * n / max(n - 1, 1)

    @property
    def pairs(self) -> float:
        """The sum over i != j of w_i w_j."""
        return self.weight**2 - self.squared_weight

    def second_moments(self) -> FloatArray:
        r"""Return the mean over pairs of (loss - 1/2)^2, if all agreements are +1 or -1.

        .. math:: M_2 = \frac18 \left(1 + \frac{|\sum_i e^{2 i \omega \cdot x_i}|^2 - n}{n (n - 1)}
                  \right) ,

        because (loss - 1/2)^2 = cos^2 / 4, whatever the labels.
        """
        n = self.n_samples
        return (1 + (np.abs(self.harmonics) ** 2 - n) / (n * (n - 1))) / 8


def loss_moments(sums: AlignmentSums, target: Target) -> FloatArray | None:
    """Return the mean over pairs of (loss - 1/2)^2, or None if it is unknown."""
    return sums.second_moments() if target.has_sign_agreements else None


def alignment_loss(aligned: Any, self_pairs: float, pairs: float) -> Any:
    r"""Return the alignment loss from sums over pairs.

    .. math:: \hat L = \frac12 - \frac{S^* A\, S - \sum_i w_i^2 u_i^\top A\, u_i}
              {2 \sum_{i \neq j} w_i w_j}

    Parameters
    ----------
    aligned : array of shape (n_frequencies,)
        S* A S, the sum over all pairs of w_i w_j lambda_ij cos(omega . (x_i - x_j)).
    self_pairs : float
        The part of ``aligned`` that comes from the pairs i = j.
    pairs : float
        The sum over i != j of w_i w_j.

    Returns
    -------
    losses : array of shape (n_frequencies,)
    """
    return 0.5 - 0.5 * (aligned - self_pairs) / pairs


def target_losses(sums: AlignmentSums, target: Target) -> FloatArray:
    """Return the alignment loss of every frequency, as the paper defines it."""
    return sums.losses(target.agreement(sums.totals))


def balanced_losses(sums: AlignmentSums, target: Target) -> FloatArray:
    """Return the losses when all classes have the same weight (see ``ClassTarget.balance``)."""
    balance = target.balance(sums.totals)
    if balance is None:
        return target_losses(sums, target)
    # The factors of the classes go into the agreement, because there are many more waves.
    factors = np.outer(balance.scale, balance.scale)
    rescaled = replace(sums, squared_weight=float(np.trace(sums.gram * factors)))
    return rescaled.losses(balance.agreement * factors)


def rescaled_sums(sums: AlignmentSums, scale: FloatArray) -> AlignmentSums:
    """Return the sums after the weights of each class are multiplied by a factor."""
    gram = sums.gram * np.outer(scale, scale)
    return replace(
        sums,
        waves=sums.waves * scale[:, np.newaxis],
        gram=gram,
        totals=sums.totals * scale,
        squared_weight=float(np.trace(gram)),
    )


def check_pairs(sums: AlignmentSums) -> None:
    """Raise ValueError if one sample outweighs all others.

    The sum over pairs of different samples would then be lost in rounding errors.
    """
    largest = _LARGEST_SELF_PAIRS["single" if sums.rounding.any() else "double"]
    if sums.squared_weight > largest * sums.pairs:
        share = np.sqrt(sums.squared_weight) / sums.weight
        raise ValueError(
            "sample_weight must let more than one sample count, "
            f"got one with a share of {share:.10g} of the total weight."
        )


@by_kind
def sample_losses(
    X: Samples, y: Any, target: Target, frequencies: FloatArray, sample_weight: FloatArray | None
) -> Any:
    """Return the alignment loss of every frequency, in the precision of X and beside it."""
    return summed_losses(X, y, target, frequencies, sample_weight)


def summed_losses(
    X: Samples, y: Any, target: Target, frequencies: FloatArray, sample_weight: FloatArray | None
) -> Any:
    """Return the alignment loss of every frequency, from sums in the memory of the host."""
    sums = alignment_sums(
        X, y, target, frequencies, sample_weight=sample_weight, precision=precision_of(X)
    )
    check_pairs(sums)
    return beside(X, target_losses(sums, target))


def alignment_sums(
    X: Samples,
    y: NDArray[Any],
    target: Coder,
    frequencies: FrequencyPool | ChosenFrequencies | FloatArray,
    *,
    sample_weight: FloatArray | None = None,
    precision: Precision = "single",
) -> AlignmentSums:
    """Return the sums of a data set, for every frequency of a pool."""
    sums: AlignmentSums = weighted_sums(
        encoded(y, target), X, sample_weight, frequencies, precision
    )
    return sums


@singledispatch
def weighted_sums(
    weighted: sparse.csr_array,
    X: Samples,
    sample_weight: FloatArray | None,
    frequencies: FrequencyPool | ChosenFrequencies | FloatArray,
    precision: Precision,
) -> AlignmentSums:
    """Return the sums of samples with coded labels. Codes of another type add their own."""
    weights = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    # The weights may be outside the range of single precision, so divide by a power of two.
    unit = 2.0 ** np.floor(np.log2(weights.max()))
    # A sparse product would drop zeros, but the loops need at least one entry in every row.
    weighted.data = weighted.data * np.repeat(weights / unit, np.diff(weighted.indptr))
    waves, harmonics, rounding = wave_sums(X, weighted, frequencies, precision)
    weighted.data *= unit
    return AlignmentSums(
        unit * waves,
        (weighted.T @ weighted).toarray(),
        np.asarray(weighted.sum(axis=0), dtype=np.float64),
        float(weights.sum()),
        float(np.square(weights).sum()),
        harmonics,
        X.shape[0],
        rounding,
    )


@by_kind
def wave_sums(
    X: Samples,
    weighted: sparse.csr_array,
    frequencies: FrequencyPool | ChosenFrequencies | FloatArray,
    precision: Precision,
) -> tuple[ComplexArray, ComplexArray, FloatArray]:
    """Return the waves, harmonics and rounding of ``AlignmentSums``.

    Each thread takes one band of frequencies, or one part of the rows, at a time, so it needs
    memory for a few blocks only.
    """
    X, frequencies = _on_used_columns(X, frequencies)
    waves = np.empty((weighted.shape[1], len(frequencies)), dtype=np.complex128)
    harmonics = np.empty(len(frequencies), dtype=np.complex128)
    rounding = np.zeros(len(frequencies))
    magnitudes = magnitudes_of(X)

    def write(group: _Group, sums: tuple[ComplexArray, ComplexArray]) -> None:
        waves[:, group.places], harmonics[group.places] = sums
        rounding[group.places] = group.rounding

    def fill(columns: IntArray) -> None:
        for group in _precise_groups(frequencies, columns, magnitudes, precision):
            write(group, _band_sums(X, weighted, group))

    bands = _bands_of(frequencies, np.arange(len(frequencies)), X.shape[1])
    if len(bands) >= _FEW_BANDS:
        run_tasks(fill, bands)
        return waves, harmonics, rounding
    few = [
        group
        for columns in bands
        for group in _precise_groups(frequencies, columns, magnitudes, precision)
    ]
    for group, sums in zip(few, _sums_by_parts(X, weighted, few), strict=True):
        write(group, sums)
    return waves, harmonics, rounding


def _on_used_columns(
    X: Samples, frequencies: FrequencyPool | ChosenFrequencies | FloatArray
) -> tuple[Samples, FrequencyPool | ChosenFrequencies | FloatArray]:
    """Leave out the columns in which sparse samples have no entry: they add to no phase.

    The frequencies stay the same on the other columns. Only independent normal numbers can be made
    for some columns alone, so other frequencies are returned as they are, and so are dense samples.
    """
    if isinstance(frequencies, FrequencyPool):
        chosen = ChosenFrequencies(frequencies, np.arange(len(frequencies)))
    elif isinstance(frequencies, ChosenFrequencies):
        chosen = frequencies
    else:
        return X, frequencies
    if not sparse.issparse(X):
        return X, frequencies
    is_used = np.zeros(X.shape[1], dtype=bool)
    is_used[X.indices] = True
    # If all samples are zero, one column makes all phases zero.
    is_used[0] |= not X.nnz
    places = np.cumsum(is_used, dtype=X.indices.dtype) - X.indices.dtype.type(1)
    used = np.flatnonzero(is_used)
    kept = type(X)((X.data, places[X.indices], X.indptr), shape=(X.shape[0], len(used)))
    return kept, replace(chosen, columns=used)


def _bands_of(
    frequencies: FrequencyPool | ChosenFrequencies | FloatArray, places: IntArray, n_features: int
) -> list[IntArray]:
    """Cut the places of frequencies into bands.

    If frequencies are stored column by column, taking some of them out of a band takes time. So
    they are sorted by their scales: those of similar scales need the same precision, and nearly
    all bands stay whole.
    """
    if not (isinstance(frequencies, ChosenFrequencies) and frequencies.columns is not None):
        return [places[band] for band in frequency_bands(len(places), n_features)]
    if frequencies.scales is not None:
        places = places[np.argsort(frequencies.scales[places, 0], kind="stable")]
    return [places[band] for band in cut(len(places), COLUMN_BAND)]


class _Group(NamedTuple):
    """Frequencies whose phases are computed in the same precision, and their places in a pool."""

    places: IntArray
    frequencies: FloatArray
    dtype: type[np.floating[Any]]
    rounding: FloatArray


def _precise_groups(
    frequencies: FrequencyPool | ChosenFrequencies | FloatArray,
    columns: IntArray,
    magnitudes: Magnitudes,
    precision: Precision,
) -> Iterator[_Group]:
    """Yield the frequencies of a band, in one group for each precision that they need."""
    candidates = frequencies[columns]
    sizes = phase_sizes(candidates, magnitudes.largest)
    for dtype, members in precision_groups(sizes, precision):
        # Most often these are all of them, which need no copy.
        chosen = candidates if len(members) == len(candidates) else _taken(candidates, members)
        rounding: FloatArray = np.zeros(len(members))
        if dtype == np.float32:
            means = mean_phase_sizes(chosen, magnitudes.means)
            rounding = single_rounding(means, magnitudes.most_products)
        yield _Group(columns[members], chosen, dtype, rounding)


def _taken(rows: FloatArray, members: IntArray) -> FloatArray:
    """Return some rows of a matrix, stored column by column if the matrix is."""
    is_by_column = rows.flags.f_contiguous
    return rows.T.take(members, axis=1).T if is_by_column else rows.take(members, axis=0)


def _sums_by_parts(
    X: Samples, weighted: sparse.csr_array, groups: list[_Group]
) -> Iterator[tuple[ComplexArray, ComplexArray]]:
    """Yield the sums of each group. Threads take parts of the rows, for a few groups.

    The sums of the parts are added in order.
    """
    parts = row_parts(X.shape[0])
    found: dict[tuple[int, int], tuple[ComplexArray, ComplexArray]] = {}

    def fill(task: tuple[int, int]) -> None:
        number, rows = task[0], parts[task[1]]
        found[task] = _band_sums(X[rows], weighted[rows], groups[number])

    run_tasks(fill, product(range(len(groups)), range(len(parts))))
    for number in range(len(groups)):
        sums = [found.pop((number, k)) for k in range(len(parts))]
        waves, harmonics = zip(*sums, strict=True)
        yield reduce(np.add, waves), reduce(np.add, harmonics)


def _band_sums(
    X: Samples, weighted: sparse.csr_array, group: _Group
) -> tuple[ComplexArray, ComplexArray]:
    """Sum u_i exp(i omega . x_i) and exp(2 i omega . x_i)."""
    from pacfourier.core import loops

    frequencies, dtype = group.frequencies, group.dtype
    n_codes, n_frequencies = weighted.shape[1], len(frequencies)
    waves = np.zeros((2, n_codes, n_frequencies))
    harmonics = np.zeros((2, n_frequencies))
    values = weighted.data.astype(dtype)
    for rows, turns in turn_blocks(X, frequencies, dtype):
        indptr = weighted.indptr[rows.start : rows.stop + 1]
        loops.add_wave_sums(turns, indptr, weighted.indices, values, waves, harmonics)
    return waves[0] + 1j * waves[1], double_angle_sums(harmonics[0], harmonics[1], X.shape[0])


def double_angle_sums(squared_cosines: Any, products: Any, n_samples: int) -> Any:
    r"""Return the sums of :math:`e^{2 i \theta}` from those of cos^2 and of cos times sin.

    .. math:: \cos 2 \theta = 2 \cos^2 \theta - 1, \qquad
              \sin 2 \theta = 2 \cos \theta \sin \theta
    """
    return 2 * squared_cosines - n_samples + 2j * products


def signed_waves(sums: AlignmentSums) -> tuple[FloatArray, FloatArray]:
    r"""Return the first and second harmonics of two classes, with rounding on the safe side.

    Let :math:`\hat m = \frac1n \sum_i y_i e^{i \omega \cdot x_i}`. The first harmonic is the length
    of :math:`\hat m`. The second is the mean of :math:`\cos 2 (\omega \cdot x_i - \arg \hat m)`,
    which is at least :math:`2 |\hat m|^2 - 1`. All samples must have the same weight, which need
    not be one: the waves contain the weight, the harmonics do not.
    """
    mean = (sums.waves[1] - sums.waves[0]) / sums.weight
    lengths = np.abs(mean)
    direction = np.divide(mean, lengths, where=lengths > 0, out=np.ones_like(mean))
    harmonics = (sums.harmonics / sums.n_samples * direction.conj() ** 2).real
    amplitudes = np.clip(lengths - sums.rounding, 0, 1)
    # A bound may be taken at any angle, so also at that of a rounded mean. There, the mean has at
    # least this amplitude, and the harmonic is wrong by four times the rounding at most.
    return amplitudes, np.clip(harmonics + 4 * sums.rounding, 2 * amplitudes**2 - 1, 1)
