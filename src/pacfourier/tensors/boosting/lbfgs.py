"""L-BFGS for a vector that stays on its device.

The steps are those of SciPy's L-BFGS-B without bounds: the direction of Liu and Nocedal (1989), the
line search of More and Thuente (1994), and the same constants. The host only sees two numbers per
evaluation: the value, and the slope along the direction.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import torch

from pacfourier.core.boosting.cosine_model import MEMORY
from pacfourier.core.boosting.line_search import LineSearch

# A function of a vector that returns its value, without axes, and its gradient.
Objective = Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]

# The defaults of SciPy: the largest slope at which to stop, the smallest relative decrease, and
# the number of evaluations in one line search.
SMALLEST_SLOPE, SMALLEST_DECREASE, MOST_EVALUATIONS = 1e-5, 2.220446049250313e-09, 20
# A pair of changes is left out if the curvature along it is lost in rounding.
EPSILON = 2.220446049250313e-16


class Point(NamedTuple):
    """A vector, the value of the objective there, and its gradient."""

    vector: torch.Tensor
    value: float
    gradient: torch.Tensor


class Change(NamedTuple):
    """A step, the change of the gradient along it, and the inverse of their product."""

    step: torch.Tensor
    bend: torch.Tensor
    inverse: float


class Step(NamedTuple):
    """The result of a line search: the new point, the length of the step, and both slopes."""

    point: Point
    length: float
    slope: float
    first_slope: float


def lbfgs(objective: Objective, start: torch.Tensor, n_steps: int) -> torch.Tensor:
    """Return the vector after at most ``n_steps`` steps from a start."""
    value, gradient = objective(start)
    point = Point(start, float(value), gradient)
    changes: deque[Change] = deque(maxlen=MEMORY)
    largest = float(gradient.abs().max())
    for number in range(n_steps):
        if largest <= SMALLEST_SLOPE:
            break
        step = line_search(objective, point, direction(point.gradient, changes), number == 0)
        if step is None:
            if not changes:
                break
            # The memory led astray, so start again along the gradient.
            changes.clear()
            continue
        old, point = point, step.point
        largest = float(point.gradient.abs().max())
        scale = max(abs(old.value), abs(point.value), 1.0)
        if old.value - point.value <= SMALLEST_DECREASE * scale:
            break
        curvature = (step.slope - step.first_slope) * step.length
        if curvature > -EPSILON * step.first_slope * step.length:
            bend = point.gradient - old.gradient
            changes.append(Change(point.vector - old.vector, bend, 1 / curvature))
    return point.vector


def direction(gradient: torch.Tensor, changes: deque[Change]) -> torch.Tensor:
    """Return minus the gradient, multiplied by the inverse Hessian that the changes suggest."""
    found = -gradient
    shares = []
    for change in reversed(changes):
        share = change.inverse * (change.step @ found)
        found = found - share * change.bend
        shares.append(share)
    if changes:
        last = changes[-1]
        found = found / (last.inverse * (last.bend @ last.bend))
    for change, share in zip(changes, reversed(shares), strict=True):
        found = found + (share - change.inverse * (change.bend @ found)) * change.step
    return found


def line_search(
    objective: Objective, start: Point, direction: torch.Tensor, is_first: bool
) -> Step | None:
    """Return a step that decreases the value and the slope enough, or None if none is found."""
    first_slope, length = torch.stack([start.gradient @ direction, direction.norm()]).tolist()
    if first_slope >= 0:
        return None
    search = LineSearch(start.value, first_slope, 1 / length if is_first else 1.0)
    for _ in range(MOST_EVALUATIONS):
        vector = start.vector + search.step * direction
        found, gradient = objective(vector)
        value, slope = torch.stack([found.double(), gradient @ direction]).tolist()
        if search.is_over(value, slope):
            return Step(Point(vector, value, gradient), search.step, slope, first_slope)
        search.advance(value, slope)
    return None
