"""The only module that may import private names of scikit-learn.

Everything else in the package uses the public interface of scikit-learn. The names imported here
have no public equivalent. They are tested with the oldest and with the newest scikit-learn that
the package allows, so a change shows up in one place.
"""

from typing import Any

# scikit-learn has a public way to set the output of ``transform``, but none to read it.
from sklearn.utils._set_output import _get_output_config


def output_container(estimator: Any) -> str:
    """Return the container that ``transform`` returns, as chosen by the user.

    Parameters
    ----------
    estimator : estimator
        A transformer with the method ``set_output``.

    Returns
    -------
    container : {"default", "pandas", "polars"}
        The choice made with ``set_output``. If there is none, the global configuration decides.
    """
    return str(_get_output_config("transform", estimator)["dense"])
