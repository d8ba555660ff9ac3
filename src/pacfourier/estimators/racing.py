"""The search "racing": all candidates see some of the rows, and few of them see all rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pacfourier.arrays import FloatArray, is_tensor
from pacfourier.core.alignment.racing import first_rows, representatives, size_of_race
from pacfourier.core.alignment.sums import AlignmentSums
from pacfourier.core.alignment.targets import Target
from pacfourier.core.prior.frequencies import RACE_STREAM, ChosenFrequencies, FrequencyPool
from pacfourier.data.samples import Block, Sample
from pacfourier.estimators.base import AnySample


def race_obstacle(sample: AnySample, pool: FrequencyPool) -> str | None:
    """Return what a race needs and does not have, or None if candidates can race."""
    if sample.whole is None or is_tensor(sample.whole.X):
        return (
            "X as an array in memory, got batches, a Dask collection or a tensor: use "
            "search='full'."
        )
    if pool.sampling == "structured":
        return (
            "candidates that can be made one by one, got sampling='structured': use another "
            "sampling, or search='full'."
        )
    return None


def check_race(sample: AnySample, pool: FrequencyPool) -> None:
    """Raise ValueError if candidates cannot race."""
    obstacle = race_obstacle(sample, pool)
    if obstacle is not None:
        raise ValueError(f"search='racing' needs {obstacle}")


def raced(
    block: Block,
    pool: FrequencyPool,
    reduce: Callable[..., Any],
    losses_of: Callable[[AlignmentSums, Target], FloatArray],
    n_frequencies: int,
) -> Any:
    """Reduce all rows to the sums of some candidates, which represent the others.

    Parameters
    ----------
    block : Block
        All rows.
    pool : FrequencyPool
        All candidates.
    reduce : callable
        ``reduce(sample, pool=pool)`` reduces all rows of a sample.
    losses_of : callable
        The losses by which the first rows rank the candidates.
    n_frequencies : int
        How many candidates will be kept.

    Returns
    -------
    learned : Learned
        All candidates have sums, those of their representatives.
    """
    sample = Sample(block)
    rows = first_rows(sample.n_samples, pool.stream(*RACE_STREAM))
    if len(rows) == sample.n_samples:
        return reduce(sample, pool=pool)
    first = reduce(Sample(block.take(rows)), pool=pool)
    found = representatives(
        losses_of(first.sums, first.target), *size_of_race(len(pool), n_frequencies)
    )
    seen, places = np.unique(found, return_inverse=True)
    learned = reduce(sample, pool=ChosenFrequencies(pool, seen))
    return learned._replace(sums=learned.sums.taken(places), representatives=found)
