r"""The line search of More and Thuente (1994): a step along which a function falls enough.

With :math:`\phi(t) = f(x + t d)`, the search looks for a step t with

.. math:: \phi(t) \le \phi(0) + 10^{-3} t\, \phi'(0) , \qquad
          |\phi'(t)| \le 0.9\, |\phi'(0)| .

It keeps an interval that contains such a step once it has found one, and proposes the next step
from cubic and quadratic interpolations. The constants are those of L-BFGS-B.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["LineSearch"]

# Sufficient decrease and sufficient flatness, and the relative width at which an interval is a
# point.
DECREASE, FLATNESS, NARROW = 1e-3, 0.9, 0.1
LARGEST = 1e10
# An interval must shrink to this share in two steps, or it is halved.
SHRINK = 0.66
# Before there is an interval, a step grows by a factor between these two.
LEAST_GROWTH, MOST_GROWTH = 1.1, 4.0


class Place(NamedTuple):
    """A step, with the value and the slope of the function there."""

    step: float
    value: float
    slope: float

    def tilted(self, slope: float) -> "Place":
        """Return the place after subtracting a line of a given slope from the function."""
        return Place(self.step, self.value - slope * self.step, self.slope - slope)


@dataclass
class LineSearch:
    """The state of a search: the first value and slope, the interval, and the step to try."""

    value: float
    slope: float
    step: float
    best: Place = field(init=False)
    other: Place = field(init=False)
    is_bracketed: bool = False
    is_falling: bool = True
    widths: tuple[float, float] = (LARGEST, 2 * LARGEST)

    def __post_init__(self) -> None:
        self.best = self.other = Place(0.0, self.value, self.slope)
        self.limits = (0.0, self.step + MOST_GROWTH * self.step)

    def is_over(self, value: float, slope: float) -> bool:
        """Return whether the step is good enough, or the interval too narrow to go on."""
        enough = self.value + DECREASE * self.slope * self.step
        if self.is_falling and value <= enough and slope >= 0:
            self.is_falling = False
        lowest, highest = self.limits
        is_stuck = self.is_bracketed and (
            self.step <= lowest or self.step >= highest or highest - lowest <= NARROW * highest
        )
        is_at_end = self.step == LARGEST and value <= enough and slope <= DECREASE * self.slope
        is_good = value <= enough and abs(slope) <= -FLATNESS * self.slope
        return is_stuck or is_at_end or is_good

    def advance(self, value: float, slope: float) -> None:
        """Shrink the interval with the value and slope at the step, and choose the next step."""
        place, line = Place(self.step, value, slope), DECREASE * self.slope
        is_modified = self.is_falling and self.best.value >= value > self.value + line * self.step
        places = (self.best, self.other, place)
        if is_modified:
            places = (places[0].tilted(line), places[1].tilted(line), places[2].tilted(line))
        step, best, other, self.is_bracketed = next_step(*places, self.is_bracketed, self.limits)
        self.best, self.other = (
            each.tilted(-line) if is_modified else each for each in (best, other)
        )
        self._choose(step)

    def _choose(self, step: float) -> None:
        first, second = self.best.step, self.other.step
        if self.is_bracketed:
            if abs(second - first) >= SHRINK * self.widths[1]:
                step = first + 0.5 * (second - first)
            self.widths = (abs(second - first), self.widths[0])
            self.limits = (min(first, second), max(first, second))
        else:
            self.limits = (
                step + LEAST_GROWTH * (step - first),
                step + MOST_GROWTH * (step - first),
            )
        step = min(max(step, 0.0), LARGEST)
        lowest, highest = self.limits
        is_narrow = highest - lowest <= NARROW * highest
        if self.is_bracketed and (step <= lowest or step >= highest or is_narrow):
            step = first
        self.step = step


def next_step(
    best: Place, other: Place, place: Place, is_bracketed: bool, limits: tuple[float, float]
) -> tuple[float, Place, Place, bool]:
    """Return the next step, the ends of the interval, and whether they enclose a minimum.

    The four cases are those of section 4 of the paper.
    """
    has_turned = place.slope * math.copysign(1.0, best.slope) < 0
    if place.value > best.value:
        step, is_bracketed = _after_a_rise(best, place), True
    elif has_turned:
        step, is_bracketed = _after_a_turn(best, place), True
    elif abs(place.slope) < abs(best.slope):
        step = _after_a_flattening(best, other, place, is_bracketed, limits)
    elif is_bracketed:
        step = _cubic_step(place, other)
    else:
        step = limits[1] if place.step > best.step else limits[0]
    if place.value > best.value:
        return step, best, place, is_bracketed
    return step, place, best if has_turned else other, is_bracketed


def _cubic(best: Place, place: Place, *, is_safe: bool = False) -> tuple[float, float]:
    """Return the theta and gamma of the cubic through two places with their slopes."""
    theta = 3 * (best.value - place.value) / (place.step - best.step) + best.slope + place.slope
    size = max(abs(theta), abs(best.slope), abs(place.slope))
    inner = (theta / size) ** 2 - (best.slope / size) * (place.slope / size)
    return theta, size * math.sqrt(max(0.0, inner) if is_safe else inner)


def _after_a_rise(best: Place, place: Place) -> float:
    """Return the cubic step, or the mean of it and the quadratic one if that is farther."""
    theta, gamma = _cubic(best, place)
    gamma = -gamma if place.step < best.step else gamma
    share = ((gamma - best.slope) + theta) / (((gamma - best.slope) + gamma) + place.slope)
    length = place.step - best.step
    cubic = best.step + share * length
    secant = (best.value - place.value) / length + best.slope
    quadratic = best.step + best.slope / secant / 2 * length
    if abs(cubic - best.step) < abs(quadratic - best.step):
        return cubic
    return cubic + (quadratic - cubic) / 2


def _after_a_turn(best: Place, place: Place) -> float:
    """Return the farther one of the cubic and the secant step."""
    cubic, secant = _cubic_step(place, best), _secant_step(best, place)
    return cubic if abs(cubic - place.step) > abs(secant - place.step) else secant


def _after_a_flattening(
    best: Place, other: Place, place: Place, is_bracketed: bool, limits: tuple[float, float]
) -> float:
    """Return the cubic step if it goes beyond, or the secant step, within the limits."""
    theta, gamma = _cubic(best, place, is_safe=True)
    gamma = -gamma if place.step > best.step else gamma
    share = ((gamma - place.slope) + theta) / ((gamma + (best.slope - place.slope)) + gamma)
    if share < 0 and gamma != 0:
        cubic = place.step + share * (best.step - place.step)
    else:
        cubic = limits[1] if place.step > best.step else limits[0]
    secant = _secant_step(best, place)
    is_nearer = abs(cubic - place.step) < abs(secant - place.step)
    if not is_bracketed:
        return min(max(secant if is_nearer else cubic, limits[0]), limits[1])
    step = cubic if is_nearer else secant
    farthest = place.step + SHRINK * (other.step - place.step)
    return min(farthest, step) if place.step > best.step else max(farthest, step)


def _cubic_step(place: Place, end: Place) -> float:
    """Return the minimum of the cubic between a place and an end of the interval."""
    theta, gamma = _cubic(end, place)
    gamma = -gamma if place.step > end.step else gamma
    share = ((gamma - place.slope) + theta) / (((gamma - place.slope) + gamma) + end.slope)
    return place.step + share * (end.step - place.step)


def _secant_step(best: Place, place: Place) -> float:
    """Return where the slope is zero, if it is a line through two slopes."""
    share = place.slope / (place.slope - best.slope)
    return place.step + share * (best.step - place.step)
