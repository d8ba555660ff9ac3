"""Read values of plain data by name, and check their types: a file may be damaged or forged."""

from collections.abc import Mapping
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacfourier.errors import InputError


class PlainFields:
    """The values of a dictionary of plain data. Whatever is wrong with one is an InputError.

    Parameters
    ----------
    data : dict
        The values by their names. Anything else is an error, too.
    owner : str
        What the values belong to, for errors.

    Examples
    --------
    >>> fields = PlainFields({"size": -1.0}, "model")
    >>> fields.positive("size")
    Traceback (most recent call last):
    pacfourier.errors.InputError: model: 'size' must be a positive number, got -1.0.
    """

    def __init__(self, data: Any, owner: str) -> None:
        self._data, self._owner = data, owner
        if not isinstance(data, Mapping):
            raise InputError(f"{owner} must be a dict of its parts, got {in_one_line(data)}.")

    def require(self, is_right: Any, name: str, rule: str, value: Any) -> None:
        """Raise InputError unless a rule holds.

        Parameters
        ----------
        is_right : bool
            Whether it holds.
        name : str
            The name of the value.
        rule : str
            What the value must do, such as "be positive".
        value : object
            What it is instead.
        """
        if not is_right:
            raise InputError(f"{self._owner}: {name!r} must {rule}, got {in_one_line(value)}.")

    def value(self, name: str) -> Any:
        """Return a value of any type."""
        if name not in self._data:
            raise InputError(f"{self._owner} must have the part {name!r}, got none.")
        return self._data[name]

    def text(self, name: str) -> str:
        """Return a text."""
        value = self.value(name)
        self.require(type(value) is str, name, "be a text", value)
        return str(value)

    def texts(self, name: str) -> list[str]:
        """Return a list of texts."""
        value = self.value(name)
        is_right = type(value) is list and all(type(each) is str for each in value)
        self.require(is_right, name, "be a list of texts", value)
        return list(value)

    def choice(self, name: str, options: tuple[str, ...]) -> str:
        """Return one of some texts."""
        value = self.text(name)
        self.require(value in options, name, f"be one of {', '.join(options)}", value)
        return value

    def truth(self, name: str) -> bool:
        """Return True or False."""
        value = self.value(name)
        self.require(type(value) is bool, name, "be True or False", value)
        return bool(value)

    def positive(self, name: str) -> float:
        """Return a positive and finite number."""
        value = self.value(name)
        is_right = type(value) is float and 0 < value < np.inf
        self.require(is_right, name, "be a positive number", value)
        return float(value)

    def array(self, name: str, shape: tuple[int | None, ...], *dtypes: Any) -> NDArray[Any]:
        """Return an array of given shape, where None is any length.

        Parameters
        ----------
        name : str
        shape : tuple of int or None
        *dtypes : dtypes
            The dtypes that it may have.

        Returns
        -------
        array : array
            Its rows are contiguous in memory, so that sums do not depend on how it was stored.
        """
        value = self.value(name)
        names = " or ".join(np.dtype(dtype).name for dtype in dtypes)
        rule = f"be an array of {names} of shape {shape}".replace("None", "any")
        is_array = type(value) is np.ndarray and value.dtype in dtypes
        self.require(is_array, name, rule, getattr(value, "dtype", value))
        is_fitting = value.ndim == len(shape) and all(
            wanted in (None, size) for wanted, size in zip(shape, value.shape, strict=True)
        )
        self.require(is_fitting, name, rule, value.shape)
        return np.ascontiguousarray(value)

    def finite(self, name: str, shape: tuple[int | None, ...], *dtypes: Any) -> NDArray[Any]:
        """Return an array of finite numbers. By default, they have single or double precision."""
        value = self.array(name, shape, *(dtypes or (np.float32, np.float64)))
        self.require(np.isfinite(value).all(), name, "be finite", "infinity or NaN")
        return value


def in_one_line(value: Any) -> str:
    """Return the start of the representation of a value."""
    return " ".join(short(value).split())
