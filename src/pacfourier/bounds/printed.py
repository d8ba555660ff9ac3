"""The statements of the paper as printed, for comparison only; none is a certificate."""

from pacfourier.pacbayes.bounds.printed import *  # noqa: F403
from pacfourier.pacbayes.bounds.printed import __all__ as __all__
