"""The statements of the paper as printed, for comparison only; none is a certificate."""

from pacfourier.pacbayes.bounds.printed import (
    PrintedBound,
    corollary2,
    corollary5,
    landmarks,
    theorem1,
    theorem3,
    theorem4,
)

__all__ = [
    "PrintedBound",
    "corollary2",
    "corollary5",
    "landmarks",
    "theorem1",
    "theorem3",
    "theorem4",
]
