"""Parameters of estimators: checks that say name, rule and value, and seeds."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state


def check_count(name, value, or_else=None):
    """Raise ValueError unless a parameter is a positive integer."""
    if not isinstance(value, Integral) or value < 1:
        rule = "a positive integer" if or_else is None else f"a positive integer or {or_else}"
        raise ValueError(f"{name} must be {rule}, got {value!r}.")


def check_option(name, value, options):
    """Raise ValueError unless a parameter is one of its options."""
    if value not in options:
        raise ValueError(f"{name} must be one of {options}, got {value!r}.")


def check_positive(name, value, or_else=None):
    """Raise ValueError unless a parameter is a positive finite number."""
    if not isinstance(value, Real) or not 0 < value < np.inf:
        rule = "positive and finite" if or_else is None else f"positive and finite or {or_else}"
        raise ValueError(f"{name} must be {rule}, got {value!r}.")


def drawn_seed(random_state):
    """Return a seed of 32 bits from a ``random_state``."""
    return int(check_random_state(random_state).randint(0, 2**32, dtype=np.uint64))
