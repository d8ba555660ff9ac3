"""The list of attacks. Each module of attacks adds its own."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Function = Callable[[int, Path], None]


@dataclass(frozen=True)
class Attack:
    """A function of a seed and an empty folder that raises an error if the library fails."""

    name: str
    n_tries: int
    function: Function


ATTACKS: dict[str, Attack] = {}


def attack(n_tries: int) -> Callable[[Function], Function]:
    """Return a decorator that adds a function to the attacks, with the tries of a full run."""

    def add(function: Function) -> Function:
        ATTACKS[function.__name__] = Attack(function.__name__, n_tries, function)
        return function

    return add
