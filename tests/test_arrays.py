"""Functions that other kinds of arrays implement for themselves."""

import numpy as np
import pytest

from pacfourier import arrays


@arrays.by_kind
def doubled(X):
    """Return twice the array."""
    return 2 * X


class Columns(list):
    """A kind of array that the library does not know."""


def test_arrays_take_the_function_itself_and_others_register():
    @doubled.register(Columns)
    def doubled_columns(X):
        return Columns([*X, *X])

    assert doubled(np.array([1, 2])).tolist() == [2, 4]
    assert doubled(Columns([1])) == Columns([1, 1])
    assert doubled.__doc__ == "Return twice the array."


def test_the_first_tensor_loads_its_implementations(monkeypatch):
    torch = pytest.importorskip("torch")
    loaded = []

    @arrays.by_kind
    def halved(X):
        return X / 2

    def load():
        loaded.append(True)
        halved.register(torch.Tensor)(lambda X: X // 2)

    monkeypatch.setattr(arrays, "tensor_loaders", [load])
    assert halved(3) == 1.5
    assert not loaded
    assert int(halved(torch.tensor(3))) == 1
    assert int(halved(torch.tensor(5))) == 2
    assert loaded == [True]


def test_a_function_without_an_implementation_for_tensors_says_so(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(arrays, "tensor_loaders", [])
    fresh = arrays.by_kind(lambda X: X)
    with pytest.raises(TypeError, match="does not take tensors"):
        fresh(torch.ones(2))


def test_subclasses_of_tensors_are_tensors():
    torch = pytest.importorskip("torch")
    assert arrays.is_tensor(torch.nn.Parameter(torch.ones(1)))
    assert not arrays.is_tensor(np.ones(1))
    assert arrays.namespace(torch.ones(1)) is torch
    assert arrays.namespace(np.ones(1)) is np
