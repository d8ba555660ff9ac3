"""What every bound returns: its value, the terms of its formula, and its reference."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pacfourier.bounds.safe_side import safely_rounded

_Parameters = Mapping[str, float | tuple[float, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """An upper bound that holds with probability at least one minus epsilon.

    Parameters
    ----------
    value : float
        The bound. It is not clipped: a value above one means that it says nothing.
    empirical_term : float
        The empirical average that the bound starts from, on the scale of the loss.
    divergence_term : float
        The term of the formula that carries the divergence and the logarithm of 1 / epsilon.
    parameters : mapping from str to float or tuple of float
        The constants inside the bound. ``grid`` lists all values that were tried.
    theorem : str
        Name of the inequality.
    reference : str
        Keys of the literature, author and year.
    """

    value: float
    empirical_term: float
    divergence_term: float
    parameters: _Parameters = field(hash=False)
    theorem: str
    reference: str

    def __str__(self) -> str:
        return f"{self.theorem}: {safely_rounded(self.value, 'up', decimals=4)}"
