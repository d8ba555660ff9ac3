"""Predictors that learn from data in blocks: batches and Dask collections."""

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_friedman1, make_multilabel_classification
from sklearn.exceptions import NotFittedError

from pacfourier import FourierClassifier, FourierRegressor, fit_batches
from pacfourier.core.boosting.descent import Descent, Labelled
from pacfourier.data.samples import Block
from pacfourier.estimators import streaming
from pacfourier.estimators.streaming import Survey, _regrouped, surveyed


def noisy_classes(n_samples, seed=0):
    """Return rows of three classes, of which 10 % have a label that is drawn again."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, 4))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
    return X, np.where(rng.random(n_samples) < 0.1, rng.integers(0, 3, n_samples), y)


X, Y = noisy_classes(9000)
FRESH, FRESH_CLASSES = noisy_classes(20_000, seed=1)


def batches_of(*arrays, size=700):
    starts = range(0, len(arrays[-1]), size)
    return [tuple(array[start : start + size] for array in arrays) for start in starts]


def quick(kind=FourierClassifier, n_frequencies=20, **parameters):
    given = {"alpha": 0.3, "piecewise": False, "random_state": 0, **parameters}
    return kind(n_frequencies, **given)


@pytest.fixture
def small_sample(monkeypatch):
    """Let the random sample be smaller than the data."""
    monkeypatch.setattr(streaming, "_SAMPLE_ROWS", 2000)


@pytest.fixture
def counted_steps(monkeypatch):
    """Count the rows of every step."""
    sizes, move = [], Descent.move
    monkeypatch.setattr(
        Descent,
        "move",
        lambda self, batch, rate: sizes.append(batch.n_samples) or move(self, batch, rate),
    )
    return sizes


@pytest.mark.usefixtures("small_sample")
def test_blocks_teach_what_the_whole_teaches(counted_steps):
    """The same steps, on rows in another order: half a point of error, with 20,000 fresh rows.

    The standard error of the difference of two such errors is about 0.2 points.
    """
    whole = quick().fit(X, Y)
    in_memory = counted_steps.copy()
    counted_steps.clear()
    streamed = fit_batches(quick(), batches_of(X, Y))
    assert len(counted_steps) == len(in_memory)
    assert sorted(counted_steps) == sorted(in_memory)
    errors = [1 - model.score(FRESH, FRESH_CLASSES) for model in (whole, streamed)]
    assert errors[0] < 0.12
    assert errors[1] == pytest.approx(errors[0], abs=0.005)


@pytest.mark.usefixtures("small_sample")
def test_recipes_are_chosen_on_the_sample():
    whole = FourierClassifier(5, piecewise=False, random_state=0).fit(X[:3000], Y[:3000])
    streamed = fit_batches(clone(whole), batches_of(X[:3000], Y[:3000]))
    assert streamed.alpha_ == whole.alpha_
    gap = streamed.score(FRESH, FRESH_CLASSES) - whole.score(FRESH, FRESH_CLASSES)
    assert abs(gap) < 0.015


@pytest.mark.usefixtures("small_sample")
def test_amounts_in_blocks():
    rows, amounts = make_friedman1(8000, noise=1.0, random_state=0)
    whole = quick(FourierRegressor).fit(rows[:4000], amounts[:4000])
    streamed = fit_batches(quick(FourierRegressor), batches_of(rows[:4000], amounts[:4000]))
    expected = whole.score(rows[4000:], amounts[4000:])
    assert expected > 0.9
    assert streamed.score(rows[4000:], amounts[4000:]) == pytest.approx(expected, abs=0.01)


def test_data_that_fit_into_the_sample_are_read_once():
    """And a generator is enough for them."""
    streamed = fit_batches(quick(n_frequencies=3), iter(batches_of(X[:600], Y[:600], size=100)))
    assert streamed.score(X, Y) > 0.7


@pytest.mark.usefixtures("small_sample")
def test_a_generator_is_not_enough_for_more():
    with pytest.raises(ValueError, match="iterable more than once"):
        fit_batches(quick(), iter(batches_of(X, Y)))


@pytest.mark.usefixtures("small_sample")
def test_sparse_blocks_label_sets_and_weights():
    rows, labels = make_multilabel_classification(3000, n_classes=3, random_state=0)
    weights = np.arange(3000) % 3.0
    batches = batches_of(sparse.csr_array(rows), weights, labels, size=500)
    batches = [(inputs, y, weight) for inputs, weight, y in batches]
    model = fit_batches(quick(n_frequencies=5), batches)
    share = labels.mean(axis=0)
    assert (model.predict(rows) == labels).mean() > np.maximum(share, 1 - share).mean() + 0.05


@pytest.mark.usefixtures("small_sample")
def test_classes_may_hide_in_the_last_batch():
    names = np.array(["a", "b", "c", "rare"])[Y]
    names[-1] = "rare"
    assert fit_batches(quick(n_frequencies=2), batches_of(X, names)).classes_.tolist()[-1] == "rare"
    with pytest.raises(ValueError, match=r"known classes \['a', 'b', 'c'\], got \['rare'\]"):
        fit_batches(quick(n_frequencies=2), batches_of(X, names), classes=["a", "b", "c"])


def test_what_needs_all_rows_at_once_is_refused():
    batches = batches_of(X[:200], Y[:200])
    with pytest.raises(ValueError, match="certify must be False if rows come in parts"):
        fit_batches(quick(certify=0.2), batches)
    with pytest.raises(ValueError, match="class_weight must be a dict or None"):
        fit_batches(quick(class_weight="balanced"), batches)
    with pytest.raises(ValueError, match="classes must be None for a regressor"):
        fit_batches(quick(FourierRegressor), batches, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="Unknown label type"):
        fit_batches(quick(), [(X[:200], X[:200, 0])])


def test_a_failing_batch_leaves_the_estimator_as_it_was():
    model = quick(n_frequencies=2).fit(X[:200], Y[:200])
    before = dict(vars(model))
    with pytest.raises(ValueError, match="NaN"):
        fit_batches(model, [*batches_of(X[:200], Y[:200]), (np.full((3, 4), np.nan), Y[:3])])
    assert vars(model).keys() == before.keys()
    assert all(value is before[name] for name, value in vars(model).items())


@pytest.mark.parametrize("sizes", [[100], [1] * 10, [37, 0, 64, 5], [64, 64]])
def test_rows_are_regrouped_into_whole_mini_batches(sizes, rng):
    numbers = np.arange(sum(sizes), dtype=float)
    starts = np.cumsum([0, *sizes[:-1]])
    blocks = [
        Labelled(part[:, np.newaxis], part[:, np.newaxis], part)
        for part in (
            numbers[start : start + size] for start, size in zip(starts, sizes, strict=True)
        )
    ]
    pieces = list(_regrouped(iter(blocks), 32, rng))
    assert all(piece.n_samples % 32 == 0 for piece in pieces[:-1])
    found = np.concatenate([piece.weights for piece in pieces])
    np.testing.assert_array_equal(np.sort(found), numbers)
    for piece in pieces:
        np.testing.assert_array_equal(piece.X[:, 0], piece.weights)
        np.testing.assert_array_equal(piece.labels[:, 0], piece.weights)


def test_every_row_is_as_likely_in_the_sample_whatever_the_merges(monkeypatch):
    """Of 40 rows 10 are kept: each in a quarter of 500 draws, within four standard errors."""
    monkeypatch.setattr(streaming, "_SAMPLE_ROWS", 10)
    rows = np.arange(40.0)[:, np.newaxis]
    counts = np.zeros(40)
    for seed in range(500):
        parts = [
            surveyed(Block(rows[start : start + 8], np.zeros(8), number=number), seed, True)
            for number, start in enumerate(range(0, 40, 8))
        ]
        merged = parts[0]
        for part in parts[1:]:
            merged = merged.merge(part)
        if seed < 20:
            other = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3].merge(parts[4])))
            np.testing.assert_array_equal(merged.X, other.X)
        assert merged.n_samples == 40
        counts[merged.X[:, 0].astype(int)] += 1
    assert np.abs(counts / 500 - 0.25).max() < 4 * np.sqrt(0.25 * 0.75 / 500)
    assert isinstance(merged, Survey)


class Generated:
    """Batches of 2 MB that exist only while they are read."""

    def __init__(self, n_batches):
        self.n_batches = n_batches

    def __iter__(self):
        for number in range(self.n_batches):
            rows = np.random.default_rng(number).random((2500, 100))
            yield rows, (rows[:, 0] > 0.5).astype(int)


def peak_memory(batches):
    """Return the most memory that a fit uses, in MB."""
    tracemalloc.start()
    try:
        fit_batches(quick(n_frequencies=2), batches)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("small_sample")
def test_memory_is_flat(monkeypatch):
    """Sixteen more batches of 2 MB each need at most 2 MB more."""
    monkeypatch.setattr("pacfourier.estimators.training.FEWEST_STEPS", 2)
    monkeypatch.setattr("pacfourier.estimators.training.FEWEST_EPOCHS", 2)
    peaks = [peak_memory(Generated(n_batches)) for n_batches in (2, 6, 22)]
    assert peaks[2] < peaks[1] + 2


@pytest.mark.usefixtures("small_sample")
def test_dask_collections_teach_what_batches_teach():
    da = pytest.importorskip("dask.array")
    rows, labels = (
        da.from_array(part, chunks=(700, *part.shape[1:])) for part in (X[:3000], Y[:3000])
    )
    expected = fit_batches(quick(n_frequencies=2), batches_of(X[:3000], Y[:3000]))
    for y in (labels, Y[:3000]):
        model = quick(n_frequencies=2).fit(rows, y)
        np.testing.assert_array_equal(model.frequencies_, expected.frequencies_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_predictions_on_dask_arrays_are_lazy_and_those_in_memory(method, dtype):
    da = pytest.importorskip("dask.array")
    rows = X[:300].astype(dtype)
    model = quick(n_frequencies=3).fit(rows, Y[:300])
    expected = getattr(model, method)(rows)
    # Chunks that also cut the columns, and a block without rows.
    chunks = ((100, 0, 150, 50), (1, 3))
    lazy = getattr(model, method)(da.from_array(rows, chunks=chunks))
    assert isinstance(lazy, da.Array)
    assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
    # Products of blocks of other sizes are rounded differently.
    rounding = 1e3 * np.finfo(dtype).eps
    np.testing.assert_allclose(lazy.compute(), expected, rtol=rounding, atol=rounding)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_amounts_are_predicted_on_dask_arrays(n_outputs):
    da = pytest.importorskip("dask.array")
    amounts = X[:300, 0] if n_outputs == 1 else X[:300, :2]
    model = FourierRegressor(3, alpha=1.0, piecewise=False, random_state=0).fit(X[:300], amounts)
    lazy = model.predict(da.from_array(X[:300], chunks=(70, 4)))
    assert lazy.shape == amounts.shape
    np.testing.assert_allclose(lazy.compute(), model.predict(X[:300]), rtol=1e-9, atol=1e-9)


def test_lazy_predictions_send_no_certificate_to_the_workers():
    da = pytest.importorskip("dask.array")
    model = quick(n_frequencies=3, certify=0.5).fit(X[:300], Y[:300])
    lazy = model.predict(da.from_array(X[:300], chunks=(100, 4)))
    sent = pickle.dumps(lazy.__dask_graph__())
    assert b"ClassificationCertificate" in pickle.dumps(model)
    assert b"ClassificationCertificate" not in sent


def test_predictions_on_dask_arrays_check_the_columns():
    da = pytest.importorskip("dask.array")
    model = quick(n_frequencies=3).fit(X[:300], Y[:300])
    with pytest.raises(ValueError, match="3 features"):
        model.predict(da.from_array(X[:300, :3], chunks=(100, 3)))
    with pytest.raises(NotFittedError):
        quick().predict(da.from_array(X[:300], chunks=(100, 4)))


@pytest.mark.usefixtures("small_sample")
def test_dask_tables_are_learned_from():
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    table = dd.from_pandas(
        pd.DataFrame(X[:3000], columns=list("abcd")).assign(label=Y[:3000]), npartitions=5
    )
    model = quick(n_frequencies=5).fit(table[list("abcd")], table["label"])
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.score(pd.DataFrame(X, columns=list("abcd")), Y) > 0.75
    lazy = model.predict(table[list("abcd")])
    frame = pd.DataFrame(X[:3000], columns=list("abcd"))
    np.testing.assert_array_equal(lazy.compute(), model.predict(frame))
