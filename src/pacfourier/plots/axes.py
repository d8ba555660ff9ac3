"""Axes of matplotlib, colours of classes and names of ticks."""

from typing import Any

from pacfourier.extras import explain_missing_extra

# Distinguishable with the common kinds of colour blindness.
CLASS_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def drawing_axes(ax: Any) -> Any:
    """Return the axes of the user, or those of a new figure."""
    if ax is not None:
        return ax
    with explain_missing_extra():
        import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def shortened(text: str) -> str:
    """Return a text of at most 18 letters, for a tick of an axis."""
    return text if len(text) <= 18 else f"{text[:17]}…"
