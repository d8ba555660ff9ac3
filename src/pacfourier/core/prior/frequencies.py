"""A pool of candidate frequencies that is never stored.

Row m of the pool depends on ``(seed, m)`` only. Any thread or worker can compute a band of rows
when it needs them, and forget them afterwards. Memory does not grow with the size of the pool.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import IntArray
from pacfourier.core.products import aligned_zeros
from pacfourier.spectra import Spectrum

# Number of rows whose scales are drawn together.
_UNIT = 512
# How many units draw their scales together, if a row has one scale: those of 32,768 rows.
_UNITS_TOGETHER = 64
# Streams of random numbers of a pool. Unit u of its rows uses stream FIRST_UNIT + u.
DRAW_STREAM, FIRST_UNIT = 0, 2


@dataclass(frozen=True)
class FrequencyPool:
    """Candidate frequencies drawn from a prior, indexed like a read-only matrix.

    ``pool[10:20]`` and ``pool[indices]`` are float32 arrays, so that a frequency has the same value
    in every precision and on every backend.

    Parameters
    ----------
    spectrum : Spectrum
        The prior.
    n_frequencies, n_features : int
        The shape of the pool.
    seed : int
        Between 0 and 2**64 - 1.

    Examples
    --------
    >>> from pacfourier.spectra import RBF
    >>> pool = FrequencyPool(RBF(0.5), n_frequencies=1000, n_features=3, seed=0)
    >>> bool((pool[7:9] == pool[np.array([7, 8])]).all())
    True
    """

    spectrum: Spectrum
    n_frequencies: int
    n_features: int
    seed: int

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the pool, as if it were an array."""
        return self.n_frequencies, self.n_features

    def __len__(self) -> int:
        return self.n_frequencies

    def __getitem__(self, rows: slice | IntArray) -> NDArray[np.float32]:
        indices = np.arange(self.n_frequencies)[rows]
        frequencies = _standard_normals(self.seed, indices, self.n_features)
        # In place, because fresh memory for wide rows takes longer than the product.
        frequencies *= self.scales(indices)
        return frequencies

    def columns(
        self,
        rows: slice | IntArray,
        columns: IntArray,
        scales: NDArray[np.float32] | None = None,
    ) -> NDArray[np.float32]:
        """Return ``self[rows][:, columns]`` to the bit, stored column by column.

        Numbers are made for these columns only, or for up to three more per column. If ``scales``
        are given, they are ``self.scales(rows)``.
        """
        indices = np.arange(self.n_frequencies)[rows]
        if scales is None:
            scales = self.scales(indices)
        if scales.shape[1] > 1:
            scales = scales[:, columns]
        return _scaled_normals(self.seed, indices, self.n_features, columns, scales)

    def scales(self, indices: IntArray) -> NDArray[np.float32]:
        """Return the scales of some rows, of shape (n_rows, 1) or (n_rows, n_features).

        A row is a standard normal vector times its scale.
        """
        is_small = self.n_frequencies <= _UNITS_TOGETHER * _UNIT
        if is_small and self.spectrum.has_one_scale and self._is_hashable():
            return _few_scales(self)[indices]
        return self._drawn_scales(indices)

    def _is_hashable(self) -> bool:
        # The kernel of a user may not be.
        try:
            hash(self)
        except TypeError:
            return False
        return True

    def _drawn_scales(self, indices: IntArray) -> NDArray[np.float32]:
        if not len(indices):
            return np.empty((0, 1), dtype=np.float32)
        units, places = _distinct_units(indices)
        wanted, scales = indices % _UNIT, []
        # If every feature has its own scale, those of one unit take as much memory as its rows.
        size = _UNITS_TOGETHER if self.spectrum.has_one_scale else 1
        for start in range(0, len(units), size):
            streams = [self.stream(FIRST_UNIT + int(unit)) for unit in units[start : start + size]]
            table = self.spectrum.scales_of(streams, _UNIT, self.n_features)
            members = np.flatnonzero((places >= start) & (places < start + len(streams)))
            flat = table.reshape(-1, table.shape[2])
            rows = (places[members] - start) * _UNIT + wanted[members]
            scales.append((members, flat.take(rows, axis=0).astype(np.float32)))
        if len(scales) == 1:
            return scales[0][1]
        found = np.empty((len(indices), scales[0][1].shape[1]), dtype=np.float32)
        for members, part in scales:
            found[members] = part
        return found

    def stream(self, *index: int) -> np.random.Generator:
        """Return one of the independent random streams that belong to the pool."""
        return np.random.default_rng([self.seed, *index])


@lru_cache(maxsize=8)
def _few_scales(pool: FrequencyPool) -> NDArray[np.float32]:
    """Return the scales of all rows of a small pool, at most 128 kB.

    They are kept, because every block of the data and every fit with the same seed needs them.
    """
    scales = pool._drawn_scales(np.arange(len(pool)))
    scales.flags.writeable = False
    return scales


@dataclass(frozen=True, eq=False)
class ChosenFrequencies:
    """Some rows of a pool, which are made when they are needed, like those of the pool itself.

    They have all columns of the pool, or some of them, which are then stored column by column.
    """

    pool: FrequencyPool
    rows: IntArray
    columns: IntArray | None = None

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return self.pool.n_features if self.columns is None else len(self.columns)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, rows: slice | IntArray) -> NDArray[np.float32]:
        if self.columns is None:
            return self.pool[self.rows[rows]]
        scales = None if self.scales is None else self.scales[rows]
        return self.pool.columns(self.rows[rows], self.columns, scales)

    @cached_property
    def scales(self) -> NDArray[np.float32] | None:
        """The scales of the rows, or None if each row has one for every feature.

        They are drawn once, because rows in another order than that of the pool would draw those of
        many units for each band.
        """
        return self.pool.scales(self.rows) if self.pool.spectrum.has_one_scale else None


def _distinct_units(indices: IntArray) -> tuple[IntArray, IntArray]:
    """Return the units of some rows, each once, and the place of each row among them."""
    units = indices // _UNIT
    first = units.min()
    # Counting is faster than sorting.
    is_present = np.bincount(units - first) > 0
    return first + np.flatnonzero(is_present), (np.cumsum(is_present) - 1)[units - first]


def _standard_normals(seed: int, indices: IntArray, n_features: int) -> NDArray[np.float32]:
    """Return rows of an infinite standard normal matrix, which depend on (seed, index) only."""
    from pacfourier.core import loops

    normals = np.empty((len(indices), -(-n_features // 4) * 4), dtype=np.float32)
    low, high = np.uint32(seed & 0xFFFFFFFF), np.uint32(seed >> 32)
    loops.write_normals(low, high, indices, normals)
    return normals[:, :n_features]


def _scaled_normals(
    seed: int,
    indices: IntArray,
    n_features: int,
    columns: IntArray,
    scales: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return columns of ``_standard_normals(seed, indices, n_features)`` times scales.

    Parameters
    ----------
    seed : int
    indices : array of shape (n_rows,)
    n_features : int
    columns : array of shape (n_columns,)
        No column comes twice.
    scales : array of shape (n_rows, 1) or (n_rows, n_columns)

    Returns
    -------
    normals : array of shape (n_rows, n_columns)
        Stored column by column.
    """
    from pacfourier.core import loops

    quarter = -(-n_features // 4)
    places = np.full(4 * quarter, -1)
    places[columns] = np.arange(len(columns))
    made = aligned_zeros((len(columns), len(indices)), np.float32)
    loops.write_normal_columns(
        (np.uint32(seed & 0xFFFFFFFF), np.uint32(seed >> 32)),
        indices.astype(np.uint32),
        places.reshape(4, quarter),
        np.ascontiguousarray(scales.T),
        made,
    )
    return made.T
