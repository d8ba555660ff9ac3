"""The draw "complementary": frequencies chosen together, on a bounded part of the rows."""

import numpy as np

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.core.alignment.targets import Target
from pacfourier.core.features import features_in
from pacfourier.core.sampling.complementary import (
    chance_share,
    column_products,
    exchanged_choice,
    fewest_errors,
    forward_choice,
)
from pacfourier.core.threads import single_threaded_blas
from pacfourier.data.reservoir import Reservoir

# Up to so many frequencies, the choice is revised: each is taken out once and chosen anew. The time
# grows with the cube of their number. On validation data this helped at 10 and 20, and a similar
# step did harm at 50.
MOST_REVISED = 20


def shortlist_size(n_frequencies: int, n_rows: int) -> int:
    """Return how many of the best candidates compete for a number of places.

    With more rows, more candidates can be told apart. The choice still takes little time compared
    with the fit.
    """
    return max(600 + n_rows // 12, 4 * n_frequencies)


def is_revised_choice(n_frequencies: int) -> bool:
    """Return whether the choice of so many frequencies is revised."""
    return n_frequencies <= MOST_REVISED


def complementary_frequencies(
    rows: Reservoir,
    candidates: FloatArray,
    losses: FloatArray,
    size: int,
    *,
    target: Target,
    totals: FloatArray,
    n_samples: int,
    is_balanced: bool,
    power: float,
    is_revised: bool,
) -> IntArray:
    """Return the indices of candidates that explain the labels of some rows together.

    Parameters
    ----------
    rows : Reservoir
        The rows on which residuals are computed.
    candidates : array of shape (n_candidates, n_features)
        Frequencies, the best first.
    losses : array of shape (n_candidates,)
        Their balanced losses on all samples, which are 1/2 for a kernel that is zero. A frequency
        of smaller loss is preferred to one that explains the same on these rows: the rows may
        mislead, and the certificate is smaller.
    size : int
        How many to choose.
    target : Target
        How labels are coded.
    totals : array of shape (n_codes,)
        Sums of the codes of all samples, from which classes are balanced.
    n_samples : int
        The number of all samples. If these are more than the rows, their losses decide where the
        rows cannot tell: where chance could explain as much as the best candidate.
    is_balanced : bool
        Whether all classes get the same weight.
    power : float
        How much losses count: gains are multiplied by this power of 1 - 2 loss.
    is_revised : bool
        Whether each frequency is taken out once and chosen anew. For two classes, three choices
        are then compared: this one, the one before it, and the best candidates. The one with which
        a linear model makes the fewest errors is returned. If False, the first frequencies do not
        depend on ``size``.
    """
    weights, balance = rows.weights, target.balance(totals) if is_balanced else None
    if balance is not None:
        weights = weights * (target.encode(rows.y) @ balance.scale)
    outputs, loss = target.outputs(rows.y)
    # For two classes, 1 - 2 loss is the squared length of the mean of y exp(i omega . x).
    merits = np.maximum(1 - 2 * losses, 0) ** power
    chance = 0.0
    if n_samples > len(weights):
        chance = chance_share(len(candidates), weights, outputs.shape[1])
    # Sums in another order could turn the choice between near copies.
    with single_threaded_blas():
        features = features_in(rows.X, candidates, np.ones(len(candidates)), "single")
        waves = features.T.reshape(2, len(candidates), -1)
        products = column_products(waves, outputs, weights, merits)
        chosen = forward_choice(products, size, chance)
        if not is_revised:
            return chosen
        revised = exchanged_choice(products, chosen)
        if loss != "hinge" or outputs.shape[1] > 1:
            return revised
        choices = (revised, chosen, np.arange(size))
        return fewest_errors(choices, waves, outputs[:, 0], rows.weights)
