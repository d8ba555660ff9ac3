"""Arrays on the host are fitted on a device batch by batch, as tensors are in one piece."""

import warnings

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch")

from pacfourier import OKRFF, PBRFF, FourierClassifier, device_batches, fit_batches  # noqa: E402
from pacfourier.tensors import batches  # noqa: E402

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()
N, D = 1000, 5


@pytest.fixture(params=DEVICES)
def device(request):
    return torch.device(request.param)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Batches of 2, 8, 32 and then 70 rows, and one of 48. Buffers of 16 rows."""
    monkeypatch.setattr(batches, "LARGEST_BATCH", 70 * D)
    monkeypatch.setattr(batches, "LARGEST_BUFFER", 16 * D)


def sample(dtype=np.float32):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, D)).astype(dtype)
    return X, rng.integers(0, 3, N)


def model(kind=PBRFF, **parameters):
    return kind(5, n_candidates=300, random_state=0, **parameters)


def assert_same_sums(found, expected, precision="single"):
    atol = 4e-7 * N if precision == "single" else 1e-10 * N
    for name in ("waves", "harmonics", "totals", "weight"):
        given = getattr(expected.sums_, name)
        np.testing.assert_allclose(getattr(found.sums_, name), given, rtol=0, atol=atol)
    for name in ("fingerprints", "counts", "first_labels", "last_labels"):
        given = getattr(expected._summary, name)
        np.testing.assert_array_equal(getattr(found._summary, name), given)


@pytest.mark.parametrize("kind", [PBRFF, OKRFF])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_fit_is_that_of_a_tensor(device, kind, precision):
    X, y = sample()
    estimator = model(kind, precision=precision)
    expected = model(kind, precision=precision).fit(torch.as_tensor(X, device=device), y)
    assert_same_sums(
        fit_batches(estimator, device_batches(X, y, device=device)), expected, precision
    )


def test_weights_and_several_passes(device):
    X, y = sample(np.float64)
    weights = np.random.default_rng(2).integers(0, 3, N).astype(float)
    expected = model(gamma="median").fit(torch.as_tensor(X, device=device), y, weights)
    streamed = device_batches(X, y, weights, device=device)
    found = fit_batches(model(gamma="median"), streamed)
    assert found.pool_.spectrum.gamma == pytest.approx(expected.pool_.spectrum.gamma, rel=1e-9)
    np.testing.assert_allclose(found.losses_, expected.losses_, atol=1e-9)


def test_batches_hold_the_rows_in_order(device):
    X, y = sample()
    streamed = device_batches(X, y, device=device)
    for _ in range(2):
        blocks = [(block.cpu(), labels) for block, labels, weights in streamed if weights is None]
        assert [len(block) for block, _ in blocks] == [2, 8, 32] + [70] * 13 + [48]
        np.testing.assert_array_equal(np.concatenate([block for block, _ in blocks]), X)
        np.testing.assert_array_equal(np.concatenate([labels for _, labels in blocks]), y)
    np.testing.assert_array_equal(np.concatenate(list(streamed.labels())), y)


def test_a_batch_stays_as_it_is_while_later_ones_are_copied(device):
    X, y = sample()
    kept = [block for block, *_ in device_batches(X, y, device=device)]
    assert all(block.device.type == device.type for block in kept)
    np.testing.assert_array_equal(torch.cat(kept).cpu(), X)


@pytest.mark.parametrize(
    ("given", "expected"),
    [(np.float16, torch.float32), (np.float32, torch.float32), (np.float64, torch.float64),
     (np.int16, torch.float64), (np.longdouble, torch.float64), (bool, torch.float64)],
)  # fmt: skip
def test_numbers_are_converted_as_tensors_are(device, given, expected):
    X = (100 * sample()[0]).astype(given)
    block, _, _ = next(iter(device_batches(X[::2, ::-1], np.arange(500), device=device)))
    assert block.dtype == expected
    np.testing.assert_array_equal(block.cpu(), X[:4:2, ::-1].astype(np.float64))


def test_files_that_cannot_be_written_are_read_without_a_warning(device, tmp_path):
    X, y = sample()
    X.tofile(tmp_path / "rows")
    rows = np.memmap(tmp_path / "rows", dtype=np.float32, mode="r", shape=X.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fit_batches(model(), device_batches(rows, y, device=device))
    assert_same_sums(found, model().fit(torch.as_tensor(X, device=device), y))


def test_predictors_learn_from_them(device):
    X, _ = sample()
    y = (X[:, 0] > 0).astype(int)
    estimator = FourierClassifier(5, alpha=0.3, random_state=0)
    assert fit_batches(estimator, device_batches(X, y, device=device)).score(X, y) > 0.9


def test_a_bad_row_is_refused_and_changes_nothing(device):
    X, y = sample()
    estimator = fit_batches(model(), device_batches(X, y, device=device))
    losses = estimator.losses_
    X[500, 2] = np.nan
    with pytest.raises(ValueError, match="contains NaN or infinity") as caught:
        fit_batches(estimator, device_batches(X, y, device=device))
    assert caught.value.__notes__ == ["The error is in block 9 of the data."]
    assert estimator.losses_ is losses


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (sparse.csr_array(np.eye(3)), "X must be dense to be copied to a device, got csr_array"),
        (np.zeros(3), r"at least one row and one column, got shape \(3,\) and dtype float64"),
        (np.zeros((3, 0)), r"got shape \(3, 0\)"),
        (np.array([["a"]] * 3), r"X must be a matrix of real numbers .* dtype <U1"),
        (
            np.zeros((3, 2), dtype=complex),
            r"matrix of real numbers .* dtype complex128",
        ),
        (np.zeros((4, 2)), "inconsistent numbers of samples"),
    ],
)
def test_rows_that_cannot_be_copied_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        device_batches(X, np.arange(3), device="cpu")


def test_devices_that_are_not_there_are_refused(monkeypatch):
    with pytest.raises(ValueError, match=r"device must be 'cpu', or a CUDA device .* got 'meta'"):
        device_batches(np.eye(3), np.arange(3), device="meta")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=r"device must be 'cpu', or a CUDA device .* got 'cuda'"):
        device_batches(np.eye(3), np.arange(3))
