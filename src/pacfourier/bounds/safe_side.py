"""Certified numbers as text: rounded to the side on which the promise still holds."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Literal

_ROUNDINGS = {"up": ROUND_CEILING, "down": ROUND_FLOOR}


def safely_rounded(
    value: float, side: Literal["up", "down"], *, decimals: int | None = None
) -> str:
    """Return a certified number as text, rounded to the side on which it still holds.

    Upper bounds and thresholds for abstention are rounded up. Lower bounds, rates and thresholds
    for a recall are rounded down. The text, read as a number again, is on the safe side of the
    value and less than one unit of its last digit away. A number that was rounded before stays.

    Parameters
    ----------
    value : float
        Number to write.
    side : {"up", "down"}
    decimals : int, default=None
        Decimals to show. None means four significant digits.

    Examples
    --------
    >>> safely_rounded(0.26731, "up", decimals=3), safely_rounded(0.97119, "down", decimals=3)
    ('0.268', '0.971')
    >>> safely_rounded(54321.0, "up"), safely_rounded(0.070712, "down")
    ('5.433e+04', '0.07071')
    """
    # The shortest decimal that is read as this number, so that 0.05 is not above 0.05.
    number, rounding = Decimal(repr(float(value))), _ROUNDINGS[side]
    if decimals is None:
        return f"{float(Context(prec=4, rounding=rounding).create_decimal(number)):.4g}"
    return str(number.quantize(Decimal(1).scaleb(-decimals), rounding=rounding))


def confidence(epsilon: float) -> str:
    """Return one minus epsilon as text, rounded down.

    Examples
    --------
    >>> confidence(0.05), confidence(1e-9), confidence(1 / 3)
    ('0.95', '0.999999999', '0.6666')
    """
    failure = Decimal(safely_rounded(epsilon, "up"))
    return f"{Context(rounding=ROUND_FLOOR).subtract(Decimal(1), failure):f}"
