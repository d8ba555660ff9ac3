"""What a bound returns: its value, the terms it is made of, and where it comes from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, Decimal

Parameters = Mapping[str, float | tuple[float, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """An upper bound that holds with probability at least one minus epsilon.

    Parameters
    ----------
    value : float
        The bound. It is not clipped: a value above one says that nothing was learned.
    empirical_term : float
        The empirical average that the bound starts from, on the scale of the loss.
    divergence_term : float
        The term of the formula that carries the divergence and the logarithm of 1 / epsilon.
    parameters : mapping from str to float or tuple of float
        The constants inside the bound; ``grid`` holds all the values that were paid for.
    theorem : str
        Name of the inequality.
    reference : str
        Keys of the literature, author and year.
    """

    value: float
    empirical_term: float
    divergence_term: float
    parameters: Parameters = field(hash=False)
    theorem: str
    reference: str

    def __str__(self) -> str:
        return f"{self.theorem}: {rounded_up(self.value)}"


def rounded_up(value: float, n_digits: int = 4) -> str:
    """Write a number with a given number of decimals, never below itself.

    Parameters
    ----------
    value : float
        Number to write.
    n_digits : int, default=4
        Decimals to show.

    Returns
    -------
    text : str
        The smallest decimal of that length that is not below the number.

    Examples
    --------
    >>> rounded_up(0.26731)
    '0.2674'
    """
    return str(Decimal(value).quantize(Decimal(1).scaleb(-n_digits), rounding=ROUND_CEILING))


def smallest(bounds: Iterable[Bound], *, grid: tuple[float, ...], theorem: str) -> Bound:
    r"""Return the smallest of the bounds of one grid.

    A grid of :math:`G` constants is :math:`G` bounds, each at level :math:`\varepsilon / G`:
    by the union bound they hold together, hence so does the smallest.

    Parameters
    ----------
    bounds : iterable of Bound
        One bound for each value of the grid, each at its share of epsilon.
    grid : tuple of float
        All the values tried, recorded in the parameters of the result.
    theorem : str
        Name of the result.

    Returns
    -------
    bound : Bound
        The bound of smallest value.
    """
    best = min(bounds, key=lambda bound: bound.value)
    return replace(best, parameters={**best.parameters, "grid": grid}, theorem=theorem)
