"""Draws of a few frequencies from a posterior over many."""

from typing import Literal

import numpy as np

from pacfourier.arrays import FloatArray, IntArray

__all__ = ["DRAWS", "Draw", "check_draw", "draw_frequencies"]

Draw = Literal["replacement", "distinct", "weighted"]
DRAWS = ("replacement", "distinct", "weighted")


def draw_frequencies(
    posterior: FloatArray, size: int, draw: Draw, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Return the indices of the kept frequencies and their weights in the deployed kernel.

    Parameters
    ----------
    posterior : array of shape (n_candidates,)
    size : int
        The number of kept frequencies.
    draw : {"replacement", "distinct", "weighted"}
        "replacement" draws independently (the paper's way): a concentrated posterior gives the
        same frequency many times. "distinct" draws without replacement, one after the other
        with probabilities proportional to the weights left. "weighted" keeps the heaviest, with
        their own weights.
    rng : numpy.random.Generator
    """
    check_draw(draw, size, len(posterior))
    if draw == "weighted":
        chosen = _largest(posterior, size)
        return chosen, posterior[chosen] / posterior[chosen].sum()
    choose = _independent if draw == "replacement" else _distinct
    return choose(posterior, size, rng), np.full(size, 1 / size)


def check_draw(draw: str, n_frequencies: int, n_candidates: int) -> None:
    """Raise ValueError on an unknown draw, or one that has too few candidates."""
    if draw not in DRAWS:
        raise ValueError(f"draw must be one of {DRAWS}, got {draw!r}.")
    if draw != "replacement" and n_frequencies > n_candidates:
        raise ValueError(
            f"n_frequencies must be at most n_candidates={n_candidates} when draw={draw!r}, "
            f"got {n_frequencies}."
        )


def _independent(posterior: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    cumulative = np.cumsum(posterior)
    return np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")


def _distinct(posterior: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Keep the largest of ln Q + Gumbel noise: sequential draws without replacement."""
    # The smallest float stands for zero: frequencies without weight come last, in random order.
    log_weights = np.log(np.maximum(posterior, np.finfo(np.float64).tiny))
    return _largest(log_weights + rng.gumbel(size=len(posterior)), size)


def _largest(values: FloatArray, size: int) -> IntArray:
    """Return the indices of the largest values, largest first."""
    candidates = np.argpartition(values, -size)[-size:]
    return candidates[np.argsort(-values[candidates], kind="stable")]
