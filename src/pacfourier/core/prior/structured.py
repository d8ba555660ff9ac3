r"""Structured frequencies: three sign flips and three Walsh-Hadamard transforms.

A band of p frequencies is the matrix

.. math:: \Omega = \operatorname{diag}(r)\, p^{-3/2}\, H D_3 H D_2 H D_1

(Yu et al., 2016; after Le, Sarlos and Smola, 2013). H is the Walsh-Hadamard matrix of size p,
the D are diagonal matrices of random signs, and the radii r are independent. The product with a
vector takes O(p log p) operations for p frequencies, and only the signs and radii are stored.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacfourier.arrays import ComplexArray, FloatArray, IntArray
from pacfourier.core.products import ROWS_SIDE_BY_SIDE as WIDTH
from pacfourier.core.threads import run_tasks

# Rows of smaller matrices are visibly not Gaussian: at size 2 they have only four directions.
_SMALLEST_SIZE = 128
# Groups of rows that a thread lays side by side in one task.
_GROUPS_PER_TASK = 16
# The rows that lie side by side are copies, of at most so many numbers (32 MB) or one group.
_SIDE_NUMBERS = 2**23


def padded_size(n_features: int) -> int:
    """Return the size of vectors after padding with zeros: a power of two, at least 128."""
    return max(_SMALLEST_SIZE, 1 << (n_features - 1).bit_length())


def random_signs(rng: np.random.Generator, size: int) -> NDArray[np.float32]:
    """Draw the diagonals of D1, D2 and D3, of shape (3, size)."""
    return 1 - 2 * rng.integers(0, 2, size=(3, size)).astype(np.float32)


def chi_radii(rng: np.random.Generator, n_rows: int, n_features: int) -> FloatArray:
    """Draw the lengths of standard normal vectors of the padded size, of shape (n_rows, 1)."""
    return np.sqrt(rng.chisquare(padded_size(n_features), size=(n_rows, 1)))


def structured_directions(
    signs: NDArray[np.float32], positions: IntArray, n_features: int
) -> FloatArray:
    r"""Return rows of :math:`p^{-3/2} H D_3 H D_2 H D_1`, cut off after ``n_features``.

    Row m is D1 H D2 H D3 H e_m, because all factors are symmetric. Before the division all numbers
    are integers below p^2, hence exact and the same on every machine.
    """
    from pacfourier.core.prior import hadamard

    size = signs.shape[1]
    diagonals = np.stack([np.ones(size), signs[2], signs[1]])
    directions = np.empty((len(positions), n_features))
    for start in range(0, len(positions), WIDTH):
        chosen = positions[start : start + WIDTH]
        vectors = np.zeros((size, WIDTH))
        vectors[chosen, np.arange(len(chosen))] = 1
        rows = hadamard.transformed(vectors, diagonals)[:n_features, : len(chosen)]
        directions[start : start + WIDTH] = rows.T
    return directions * signs[0, :n_features] / size**1.5


def structured_phase_sizes(radii: FloatArray, magnitudes: FloatArray) -> FloatArray:
    """Return ``radius * |x| / sqrt(p)``, where x holds the largest magnitude of each feature.

    The transforms spread a vector evenly over the p phases before the radii scale them. The
    rounding error of a phase is proportional to this size, whichever features its frequency uses.
    """
    return radii * np.linalg.norm(magnitudes) / np.sqrt(padded_size(len(magnitudes)))


def root_mean_square(X: NDArray[Any]) -> float:
    """Return the root of the mean of the squared lengths of the rows."""
    return float(np.sqrt(np.einsum("ik,ik->", X, X, dtype=np.float64) / len(X)))


def rounded_stages(n_features: int) -> int:
    """Return how often a phase is rounded: once per stage of its three transforms."""
    return 3 * (padded_size(n_features).bit_length() - 1)


def structured_sums(
    X: NDArray[Any],
    weighted: sparse.csr_array,
    signs: Callable[[int], NDArray[np.float32]],
    radii: FloatArray,
) -> tuple[ComplexArray, ComplexArray]:
    """Sum u_i exp(i omega . x_i) and exp(2 i omega . x_i), with phases in single precision.

    ``weighted`` is the matrix of codes U, and ``signs(b)`` returns the signs of band b of the
    frequencies. Rows are sorted by class, so that most groups of rows need one column of U only.
    """
    n_samples, n_features = X.shape
    waves = np.zeros((2, weighted.shape[1], len(radii)))
    harmonics = np.zeros((2, len(radii)))
    turns = (radii * (0.5 / np.pi / padded_size(n_features) ** 1.5)).astype(np.float32)
    order = np.argsort(weighted.indices[weighted.indptr[:-1]], kind="stable")
    step = max(_SIDE_NUMBERS // (n_features * WIDTH), 1) * WIDTH
    for start in range(0, n_samples, step):
        rows = order[start : start + step]
        sides = _rows_side_by_side(X, rows)
        _add_sums(sides, _codes_side_by_side(weighted[rows]), signs, turns, waves, harmonics)
        # The zero rows that pad the last group each add a squared cosine of one.
        harmonics[0] -= len(sides) * WIDTH - len(rows)
    # cos 2a = 2 cos^2 a - 1 and sin 2a = 2 cos a sin a.
    doubled = 2 * harmonics[0] - n_samples + 2j * harmonics[1]
    return waves[0] + 1j * waves[1], doubled


def _add_sums(
    sides: NDArray[np.float32],
    entries: tuple[IntArray, IntArray, NDArray[np.float32]],
    signs: Callable[[int], NDArray[np.float32]],
    turns: NDArray[np.float32],
    waves: FloatArray,
    harmonics: FloatArray,
) -> None:
    """Add the sums over some rows to ``waves`` and ``harmonics``, in place.

    Each thread works on one band of frequencies at a time. Phases stay in the buffer of the thread.
    """
    from pacfourier.core.prior import hadamard

    size = padded_size(sides.shape[1])

    def fill(band: int) -> None:
        columns = slice(band * size, (band + 1) * size)
        added_waves = np.zeros_like(waves[:, :, columns])
        added_harmonics = np.zeros_like(harmonics[:, columns])
        hadamard.add_structured_sums(
            sides, signs(band), turns[columns], entries, added_waves, added_harmonics
        )
        waves[:, :, columns] += added_waves
        harmonics[:, columns] += added_harmonics

    run_tasks(fill, range(-(-len(turns) // size)))


def _rows_side_by_side(X: NDArray[Any], rows: IntArray) -> NDArray[np.float32]:
    """Return groups of rows, transposed, of shape (n_groups, n_features, WIDTH).

    Zeros pad the last group, and pad the features to a multiple of eight.
    """
    from pacfourier.core.prior import hadamard

    n_groups = -(-len(rows) // WIDTH)
    sides = np.zeros((n_groups, -(-X.shape[1] // 8) * 8, WIDTH), dtype=np.float32)

    def fill(first: int) -> None:
        for group in range(first, min(first + _GROUPS_PER_TASK, n_groups)):
            hadamard.write_side(X, rows[group * WIDTH : (group + 1) * WIDTH], sides[group])

    run_tasks(fill, range(0, n_groups, _GROUPS_PER_TASK))
    return sides


def _codes_side_by_side(
    weighted: sparse.csr_array,
) -> tuple[IntArray, IntArray, NDArray[np.float32]]:
    """Return the entries of U, sorted by group of rows and then by column.

    The result is (starts, columns, values), as ``add_structured_sums`` in ``hadamard.py`` takes
    it.
    """
    n_rows, n_codes = weighted.shape
    row = np.repeat(np.arange(n_rows), np.diff(weighted.indptr))
    keys, entry = np.unique(row // WIDTH * n_codes + weighted.indices, return_inverse=True)
    values = np.zeros((len(keys), WIDTH), dtype=np.float32)
    values[entry, row % WIDTH] = weighted.data
    starts = np.searchsorted(keys // n_codes, np.arange(-(-n_rows // WIDTH) + 1))
    return starts, keys % n_codes, values
