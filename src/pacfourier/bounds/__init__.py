"""Upper bounds on alignment losses and errors: numbers in, a frozen :class:`Bound` out.

Each bound holds with probability at least one minus its own epsilon, for all posteriors at once
where it says so. Several that are read together hold at the sum of their epsilons. The statements
of letarte2019 as printed are in :mod:`~pacfourier.bounds.printed`, and are not bounds.
"""

from pacfourier.bounds import printed
from pacfourier.bounds._bernstein import unexpected_bernstein
from pacfourier.bounds._binary_kl import binary_kl, kldn, klup, log_xi
from pacfourier.bounds._catoni import catoni, catoni_grid
from pacfourier.bounds._f_divergence import f_divergence, largest_variance
from pacfourier.bounds._first_order import first_order
from pacfourier.bounds._gaussian_linear import gaussian_linear, gaussian_linear_draw
from pacfourier.bounds._hoeffding import hoeffding, hoeffding_grid, hoeffding_peeling
from pacfourier.bounds._holdout import holdout, holdout_alignment
from pacfourier.bounds._kl import kl, split_kl
from pacfourier.bounds._landmarks import landmark_mixture
from pacfourier.bounds._localised import localised
from pacfourier.bounds._norm import norm
from pacfourier.bounds._result import Bound
from pacfourier.bounds._self_certified import self_certified_posterior

__all__ = [
    "Bound",
    "binary_kl",
    "catoni",
    "catoni_grid",
    "f_divergence",
    "first_order",
    "gaussian_linear",
    "gaussian_linear_draw",
    "hoeffding",
    "hoeffding_grid",
    "hoeffding_peeling",
    "holdout",
    "holdout_alignment",
    "kl",
    "kldn",
    "klup",
    "landmark_mixture",
    "largest_variance",
    "localised",
    "log_xi",
    "norm",
    "printed",
    "self_certified_posterior",
    "split_kl",
    "unexpected_bernstein",
]
