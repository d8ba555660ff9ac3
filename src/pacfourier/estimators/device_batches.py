"""Data that live on the host, fitted on a device."""

from typing import Any

from pacfourier.extras import explain_missing_extra


def device_batches(X: Any, y: Any, sample_weight: Any = None, *, device: Any = "cuda") -> Any:
    """Return batches of an array as tensors on a device, for ``fit_batches``.

    Use it to fit on a GPU an array that is in the memory of the host, or in a memory-mapped file.
    While the device computes with one batch, the next one is copied to it. The device holds only a
    few batches of 2 GB at most, so the array may be larger than its memory. The result is that
    of ``fit`` on a tensor with all rows. This needs torch: ``pip install "pacfourier[torch]"``.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The samples. Rows in single precision stay in single precision.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        The labels.
    sample_weight : array of shape (n_samples,), default=None
        Non-negative weight of each sample.
    device : str or torch.device, default="cuda"
        The device to fit on: a CUDA device, or "cpu".

    Returns
    -------
    batches : iterable of (X, y, sample_weight)
        It can be read again, in as many passes as a fit needs.

    See Also
    --------
    fit_batches : Fit an estimator on these batches.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pacfourier import PBRFF, device_batches, fit_batches
    >>> X, y = load_iris(return_X_y=True)
    >>> model = fit_batches(PBRFF(5, random_state=0), device_batches(X, y, device="cpu"))
    >>> model.transform(X).shape
    (150, 10)
    """
    with explain_missing_extra():
        from pacfourier.tensors.batches import DeviceBatches

        return DeviceBatches(X, y, sample_weight, device)
