"""The constants that a bound tries, written down before any data are seen."""

import math


def geometric_midpoints(
    lower: float, upper: float, *, n_points: int, cap: float = math.inf
) -> tuple[float, ...]:
    r"""Return the midpoints, on a logarithmic scale, of equal slices of an interval.

    .. math:: t_k = \min\bigl(c,\ \ell\,(u/\ell)^{(k + 1/2)/G}\bigr), \qquad k = 0, \dots, G - 1 .

    Parameters
    ----------
    lower, upper : float
        Ends :math:`\ell \le u` of the interval, positive.
    n_points : int
        Number of slices :math:`G`.
    cap : float, default=inf
        Largest value :math:`c` that the bound admits.

    Returns
    -------
    midpoints : tuple of float
        Increasing values, one for each slice.

    Examples
    --------
    >>> geometric_midpoints(1.0, 16.0, n_points=2)
    (2.0, 8.0)
    """
    ratio = upper / lower
    return tuple(min(cap, lower * ratio ** ((k + 0.5) / n_points)) for k in range(n_points))
