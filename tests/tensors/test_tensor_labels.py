"""Classes are coded beside the samples, and mean what they mean on the host."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pacfourier.core.alignment.summary import sample_summary  # noqa: E402
from pacfourier.core.alignment.sums import alignment_sums  # noqa: E402
from pacfourier.core.alignment.targets import (  # noqa: E402
    coded_labels,
    distinct_labels,
    encoded,
    target_of,
)
from pacfourier.tensors.alignment import labels, summary  # noqa: E402

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()
LABELS = {
    "integers": lambda rng, n: rng.integers(-3, 4, n),
    "bytes": lambda rng, n: rng.integers(0, 200, n).astype(np.uint8),
    "booleans": lambda rng, n: rng.random(n) < 0.3,
    "floats": lambda rng, n: rng.choice([-1.0, 2.0], n),
}


@pytest.fixture(params=DEVICES)
def device(request):
    return torch.device(request.param)


@pytest.mark.parametrize("few", [0, 2**16], ids=["sorted", "counted"])
@pytest.mark.parametrize("kind", LABELS)
def test_codes_are_those_of_the_host(device, kind, few, monkeypatch, rng):
    """Integers are counted on the host if they are few. All others are sorted on the device."""
    monkeypatch.setattr(labels, "_FEW_LABELS", few)
    y = LABELS[kind](rng, 500)
    found = coded_labels(torch.zeros((500, 1), device=device), y)
    np.testing.assert_array_equal(distinct_labels(found), np.unique(y))
    target = target_of(y)
    codes = encoded(found, target)
    assert codes.columns.device.type == device.type
    expected = target.encode(y).toarray()
    np.testing.assert_array_equal(codes.dense(slice(0, 500)).cpu(), expected)
    np.testing.assert_array_equal(codes.counts, expected.sum(axis=0))


def test_integers_that_lie_far_apart_are_sorted(device):
    y = np.array([127, -128, 127, 3], dtype=np.int8)
    wide = np.array([-(2**62), 2**62, 5, 2**62])
    for each in (y, wide):
        found = coded_labels(torch.zeros((4, 1), device=device), each)
        np.testing.assert_array_equal(found.classes, np.unique(each))
        np.testing.assert_array_equal(found.classes[found.numbers.cpu()], each)
    assert labels._counted_labels(torch.zeros((4, 1)), wide) is None
    assert found.classes.dtype == np.int64


def test_classes_that_do_not_occur_keep_their_column(device, rng):
    y = rng.choice([2, 5], 100)
    target = target_of(y, "multiclass", [1, 2, 4, 5])
    codes = encoded(coded_labels(torch.zeros((100, 1), device=device), y), target)
    np.testing.assert_array_equal(
        codes.dense(slice(10, 90)).cpu(), target.encode(y[10:90]).todense()
    )
    np.testing.assert_array_equal(codes.counts, [0, (y == 2).sum(), 0, (y == 5).sum()])


@pytest.mark.parametrize(
    "y",
    [np.array(["a", "b"]), np.array([[0, 1], [1, 0]]), np.arange(2, dtype=np.uint32)],
    ids=["text", "matrix", "a type that torch cannot sort"],
)
def test_other_labels_stay_on_the_host(y):
    assert coded_labels(torch.zeros((2, 1)), y) is y


def test_numbers_with_many_values_stay_on_the_host(monkeypatch, rng):
    y = rng.standard_normal(50)
    assert isinstance(coded_labels(torch.zeros((50, 1)), y), labels.ClassLabels)
    monkeypatch.setattr(labels, "_MOST_CLASSES", 49)
    assert coded_labels(torch.zeros((50, 1)), y) is y


def test_targets_that_are_no_classes_are_coded_on_the_host(device, rng):
    X, y = torch.zeros((60, 1), device=device), rng.choice([0.5, 1.5, 7.0], 60)
    target = target_of(y, "continuous")
    found = encoded(coded_labels(X, y), target)
    np.testing.assert_array_equal(found.toarray(), target.encode(y).toarray())


@pytest.mark.parametrize("precision", ["single", "double"])
def test_sums_are_those_of_codes_on_the_host(device, precision, rng):
    X = rng.standard_normal((3000, 6)).astype(np.float32)
    y, frequencies = rng.integers(0, 3, 3000), rng.standard_normal((40, 6)).astype(np.float32)
    tensor, target = torch.as_tensor(X, device=device), target_of(y)
    expected = alignment_sums(X.astype(float), y, target, frequencies, precision="double")
    found = alignment_sums(
        tensor, coded_labels(tensor, y), target, frequencies, precision=precision
    )
    atol = 1e-9 if precision == "double" else 4e-7 * len(X)
    for name in ("waves", "harmonics", "gram", "totals", "weight", "squared_weight", "n_samples"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=atol)


@pytest.mark.parametrize("most", [10, 16384])
def test_the_summary_is_that_of_codes_on_the_host(device, most, monkeypatch, rng):
    """Repeated rows, of which some have two labels, and more rows than are kept."""
    X = rng.integers(0, 3, (400, 4)).astype(np.float32)
    y = rng.integers(0, 3, 400)
    for module in ("pacfourier.core.alignment.summary", summary.__name__):
        monkeypatch.setattr(f"{module}.MOST_FINGERPRINTS", most)
    tensor, target = torch.as_tensor(X, device=device), target_of(y)
    expected = sample_summary(X, target.encode(y))
    found = sample_summary(tensor, encoded(coded_labels(tensor, y), target))
    assert len(found.counts) == min(most, 81)
    for name in ("fingerprints", "counts", "first_labels", "last_labels"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
