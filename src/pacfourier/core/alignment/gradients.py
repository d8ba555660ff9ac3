r"""Alignment losses and their gradients in the frequencies, for the moves of the Gibbs sampler.

With the waves :math:`S = \sum_j w_j u_j e^{i \omega \cdot x_j}` and :math:`T = A S`,

.. math:: \nabla \hat L(\omega) = -\frac{1}{(\sum w)^2 - \sum w^2} \sum_j x_j\,
          w_j u_j^\top \left(\Im T \cos(\omega \cdot x_j) - \Re T \sin(\omega \cdot x_j)\right) .

This takes two products with the data, O(n d) per frequency, for any kind of label. Data in blocks
need two passes. The first sums the waves, which give the losses and T. The second sums the
gradients.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.arrays import ComplexArray, FloatArray, Samples, by_kind, matching
from pacfourier.core.alignment.sums import (
    AlignmentSums,
    alignment_loss,
    rescaled_sums,
    target_losses,
)
from pacfourier.core.alignment.targets import Coder, Target
from pacfourier.core.precision import Precision, largest_magnitudes, phase_sizes, precision_groups
from pacfourier.core.products import ROW_BLOCK, transposed_product, turn_blocks
from pacfourier.core.threads import run_tasks, single_threaded_blas

# The phases of a band are kept for all rows, and there are few frequencies. Small bands give work
# to two threads and keep memory below 2 * 64 numbers per sample.
_GRADIENT_BAND = 64
_SMALLEST_BAND = 8
# Starting a thread takes longer than this number of multiplications.
_SMALLEST_WORK = 2**20


@dataclass(frozen=True, eq=False)
class AlignmentObjective:
    """A data set as a function of frequencies: their losses and gradients.

    Attributes
    ----------
    X, rounded : array or CSR matrix of shape (n_samples, n_features)
        The samples as given, and in the precision of the products.
    codes : CSR array of shape (n_samples, n_codes)
        The rows w_i u_i. A dense tensor if X is a tensor.
    agreement : array of shape (n_codes, n_codes)
    self_pairs, pairs : float
        Sum of w_i^2 u_i^T A u_i, and sum over i != j of w_i w_j.
    magnitudes : array of shape (n_features,)
    precision : {"single", "double"}
    """

    X: Samples
    rounded: Samples
    codes: sparse.csr_array
    agreement: FloatArray
    self_pairs: float
    pairs: float
    magnitudes: FloatArray
    precision: Precision

    def __call__(self, frequencies: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return losses of shape (n_frequencies,) and gradients shaped like the frequencies."""
        sizes = phase_sizes(frequencies, self.magnitudes)
        samples = {np.float32: self.rounded, np.float64: self.X}
        tasks = [
            (dtype, members[band])
            for dtype, members in precision_groups(sizes, self.precision)
            for band in kept_bands(samples[dtype], len(members))
        ]
        if len(tasks) == 1:
            dtype = tasks[0][0]
            with single_threaded_blas():
                found: tuple[FloatArray, FloatArray] = losses_and_gradients(
                    samples[dtype], self, frequencies, dtype
                )
            return found
        losses, gradients = np.empty(len(frequencies)), np.empty(frequencies.shape)

        def fill(task: tuple[type[np.floating[Any]], NDArray[np.intp]]) -> None:
            dtype, members = task
            losses[members], gradients[members] = losses_and_gradients(
                samples[dtype], self, frequencies[members], dtype
            )

        run_tasks(fill, tasks)
        return losses, gradients

    def losses_and_tilts(self, waves: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the losses, and T divided by ``pairs``, from S as (real, imaginary)."""
        tilts = matching(waves, self.agreement) @ waves
        aligned = (waves * tilts).sum(axis=(0, 1))
        return alignment_loss(aligned, self.self_pairs, self.pairs), tilts / self.pairs


@by_kind
def losses_and_gradients(
    X: Samples,
    objective: AlignmentObjective,
    frequencies: FloatArray,
    dtype: type[np.floating[Any]],
) -> tuple[FloatArray, FloatArray]:
    """Return the losses and gradients of a few frequencies, with phases in ``dtype``."""
    from pacfourier.core import loops

    codes = objective.codes
    values, indices = codes.data.astype(dtype), codes.indices
    waves = np.zeros((2, codes.shape[1], len(frequencies)))
    harmonics = np.zeros((2, len(frequencies)))
    turns = np.empty((X.shape[0], len(frequencies)), dtype=dtype)
    for rows, block in turn_blocks(X, frequencies, dtype):
        turns[rows] = block
        indptr = codes.indptr[rows.start : rows.stop + 1]
        loops.add_wave_sums(block, indptr, indices, values, waves, harmonics)
    losses, tilts = objective.losses_and_tilts(waves)
    scaled = tilts.astype(dtype)
    gradients = np.zeros(frequencies.shape)
    for start in range(0, X.shape[0], ROW_BLOCK):
        rows = slice(start, min(start + ROW_BLOCK, X.shape[0]))
        indptr = codes.indptr[rows.start : rows.stop + 1]
        loops.write_slopes(turns[rows], indptr, indices, values, scaled)
        gradients -= transposed_product(turns[rows], X[rows])
    return losses, gradients


@by_kind
def prepared(
    X: Samples, weighted: sparse.csr_array, precision: Precision
) -> tuple[Samples, sparse.csr_array]:
    """Return the samples in the precision of the products, and the codes in the form for X."""
    return X if precision == "double" else X.astype(np.float32, copy=False), weighted


@by_kind
def kept_bands(X: Samples, n_frequencies: int) -> Iterator[slice]:
    """Yield bands of frequencies whose phases are kept for all samples."""
    yield from _gradient_bands(n_frequencies, X.shape[0] * X.shape[1])


def _gradient_bands(n_frequencies: int, work: int) -> Iterator[slice]:
    """Yield bands of frequencies that cost ``work`` each; two or more if threads save time."""
    half = -(-n_frequencies // 2)
    size = max(min(_GRADIENT_BAND, max(_SMALLEST_BAND, half)), -(-_SMALLEST_WORK // work))
    for start in range(0, n_frequencies, size):
        yield slice(start, min(start + size, n_frequencies))


def alignment_objective(
    X: Samples,
    y: NDArray[Any],
    target: Target,
    *,
    sample_weight: FloatArray | None = None,
    balance: bool = False,
    precision: Precision = "single",
) -> AlignmentObjective:
    """Return the alignment loss of a data set as a function of frequencies.

    With ``balance`` the loss is that of ``balanced_losses``.
    """
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    codes = target.encode(y)
    totals = np.asarray(codes.T @ weights, dtype=np.float64)
    agreement = target.agreement(totals)
    balanced = target.balance(totals) if balance else None
    if balanced is not None:
        agreement = balanced.agreement
        weights = weights * (codes @ balanced.scale)
    weighted = sparse.csr_array(sparse.diags_array(weights) @ codes)
    gram = (weighted.T @ weighted).toarray()
    rounded, prepared_codes = prepared(X, weighted, precision)
    return AlignmentObjective(
        X,
        rounded,
        prepared_codes,
        agreement,
        float(np.vdot(agreement, gram)),
        float(weights.sum() ** 2 - np.square(weights).sum()),
        largest_magnitudes(X),
        precision,
    )


def alignment_tilts(
    sums: AlignmentSums, target: Target, *, balance: bool = False
) -> tuple[FloatArray, ComplexArray]:
    """Return the losses, and the tilts for ``alignment_gradients``: T divided by the pairs."""
    balanced = target.balance(sums.totals) if balance else None
    if balanced is None:
        agreement = target.agreement(sums.totals)
        return target_losses(sums, target), agreement @ sums.waves / sums.pairs
    scale, agreement = balanced
    rescaled = rescaled_sums(sums, scale)
    tilts = scale[:, np.newaxis] * (agreement @ rescaled.waves) / rescaled.pairs
    return rescaled.losses(agreement), tilts


def alignment_gradients(
    X: Samples,
    y: NDArray[Any],
    target: Coder,
    frequencies: FloatArray,
    tilts: ComplexArray,
    *,
    precision: Precision = "single",
) -> FloatArray:
    """Return what some of the data add to the gradients, given the tilts of all data."""
    from pacfourier.core import loops

    codes = target.encode(y)
    gradients = np.zeros(frequencies.shape)
    parts = np.stack([tilts.real, tilts.imag])

    def fill(task: tuple[type[np.floating[Any]], NDArray[np.intp]]) -> None:
        dtype, members = task
        values, scaled = codes.data.astype(dtype), parts[:, :, members].astype(dtype)
        for rows, turns in turn_blocks(X, frequencies[members], dtype):
            indptr = codes.indptr[rows.start : rows.stop + 1]
            loops.write_slopes(turns, indptr, codes.indices, values, scaled)
            gradients[members] -= transposed_product(turns, X[rows])

    sizes = phase_sizes(frequencies, largest_magnitudes(X))
    groups = precision_groups(sizes, precision)
    run_tasks(
        fill,
        [
            (dtype, members[band])
            for dtype, members in groups
            for band in kept_bands(X, len(members))
        ],
    )
    return gradients
