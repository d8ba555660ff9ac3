"""Upper bounds on alignment losses and errors.

Each bound is a function that takes numbers and returns a frozen :class:`Bound`. It holds with
probability at least one minus epsilon, for all posteriors at once where it says so. If you read
several bounds together, their epsilons add up. :mod:`~pacfourier.bounds.printed` has the statements
of letarte2019 as they are printed; they are not certificates.

To use a bound in ``certificate(bound=...)``, describe it by a :class:`BoundRecord`. A module of
this package that defines ``RECORDS`` is found without any other change.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from pacfourier.bounds import printed
from pacfourier.bounds.anytime import anytime_bernstein, anytime_first_order
from pacfourier.bounds.bernstein import unexpected_bernstein
from pacfourier.bounds.binary_kl import binary_kl, kldn, klup, log_xi
from pacfourier.bounds.catoni import catoni, catoni_grid
from pacfourier.bounds.f_divergence import f_divergence, largest_variance
from pacfourier.bounds.first_order import first_order
from pacfourier.bounds.frozen import holdout_betting, holdout_first_order
from pacfourier.bounds.gaussian_linear import gaussian_linear, gaussian_linear_draw
from pacfourier.bounds.hoeffding import hoeffding, hoeffding_grid, hoeffding_peeling
from pacfourier.bounds.holdout import holdout, holdout_alignment
from pacfourier.bounds.kl import kl, split_kl
from pacfourier.bounds.landmarks import landmark_mixture
from pacfourier.bounds.localised import localised
from pacfourier.bounds.norm import norm
from pacfourier.bounds.record import Auto, BoundRecord
from pacfourier.bounds.result import Bound

__all__ = [
    "RECORDS",
    "Auto",
    "Bound",
    "BoundRecord",
    "anytime_bernstein",
    "anytime_first_order",
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
    "holdout_betting",
    "holdout_first_order",
    "kl",
    "kldn",
    "klup",
    "landmark_mixture",
    "largest_variance",
    "localised",
    "log_xi",
    "norm",
    "printed",
    "split_kl",
    "unexpected_bernstein",
]


def _records() -> dict[str, BoundRecord]:
    names = (module.name for module in pkgutil.iter_modules(__path__, f"{__name__}."))
    found = (getattr(importlib.import_module(name), "RECORDS", ()) for name in names)
    return {record.name: record for records in found for record in records}


RECORDS: Mapping[str, BoundRecord] = MappingProxyType(_records())
"""The bounds that ``certificate(bound=...)`` accepts by name. It cannot be changed."""
