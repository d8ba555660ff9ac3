"""Run the computations of pacfourier on torch tensors, on the device that holds them.

The package mirrors the rest of the library: the tensor version of ``core/alignment/sums.py`` is in
``tensors/alignment/sums.py``, and so on. Functions of the core that read samples dispatch on the
type of their first argument, and the modules here register a tensor version of each.

The results of a fit (sums, losses, posteriors) are small, so they are NumPy arrays as for any
other input. The same seed gives the same frequencies on every device.

This package needs torch. The library imports it when it receives a tensor, and never before.
"""

# Each of these modules registers its functions with the rest of the library when it is imported.
from pacfourier.tensors import (  # noqa: F401
    arrays,
    distances,
    features,
    phases,
    samples,
    selection,
    spectra,
)
from pacfourier.tensors.alignment import (  # noqa: F401
    gradients,
    labels,
    landmarks,
    losses,
    summary,
    sums,
)
from pacfourier.tensors.boosting import cosine_model, descent, objectives, scaling  # noqa: F401
from pacfourier.tensors.prior import bandwidth, frequencies  # noqa: F401
