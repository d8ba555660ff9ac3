"""Upper bounds on alignment losses and errors (the public names)."""

from pacfourier.pacbayes.bounds import *  # noqa: F403
from pacfourier.pacbayes.bounds import __all__ as __all__
