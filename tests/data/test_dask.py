import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris

from pacfourier import (
    OKRFF,
    PBRFF,
    RFF,
    BoostedRFF,
    GibbsRFF,
    PBLandmarks,
    RBFLandmarks,
    alignment_losses,
)

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
cloudpickle = pytest.importorskip("cloudpickle")

from pacfourier.data.dask import aligned_blocks  # noqa: E402

X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(X))
X, Y = X[ORDER], Y[ORDER]
LABELS = {
    "classes": np.array(["a", "b", "c"])[Y],
    "label_sets": np.eye(3, dtype=int)[Y],
    "numbers": X[:, 0] + 0.25,
    "whole_numbers_and_one_fraction": np.append(np.arange(149.0), 0.5),
    "outputs": X[:, :2] + 0.25,
}
GIVEN = (X[:5], LABELS["classes"][:5])


def model(kind=PBRFF, **parameters):
    if kind is PBLandmarks:
        return PBLandmarks(GIVEN, n_frequencies=9, random_state=0, **parameters)
    return kind(5, n_candidates=200, random_state=0, precision="double", **parameters)


def in_chunks(array, sizes):
    return da.from_array(array, chunks=(sizes, *array.shape[1:]))


def as_table(sizes, y):
    """Return a Dask table with partitions of given sizes, which Dask does not know."""
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y)
    parts = np.split(np.arange(len(X)), np.cumsum(sizes)[:-1])
    table = dd.from_map(lambda part: frame.iloc[part], parts, meta=frame.iloc[:0])
    return table[list("abcd")], table["label"]


@st.composite
def sizes_of_blocks(draw, smallest):
    """Draw sizes that sum to the number of rows."""
    cuts = draw(st.lists(st.integers(smallest, 150 - smallest), max_size=12))
    sizes = np.diff([0, *sorted(cuts), 150]).tolist()
    return tuple(size for size in sizes if size >= smallest)


def assert_same(lazy, whole, rtol=1e-12):
    np.testing.assert_allclose(lazy.losses_, whole.losses_, rtol=rtol)
    np.testing.assert_allclose(lazy.posterior_, whole.posterior_, rtol=1e-6, atol=1e-12)
    assert lazy.sums_.n_samples == whole.sums_.n_samples
    for name in ("repeated_share", "n_repeated", "n_disputed"):
        assert getattr(lazy._summary, name) == getattr(whole._summary, name)
    assert lazy._summary.is_weighted == whole._summary.is_weighted
    value, refusal = verdict(lazy)
    expected = verdict(whole)
    assert (value, refusal) == (pytest.approx(expected[0], rel=1e-6), expected[1])


def verdict(estimator):
    """Return the value of a certificate, or zero, and why it is refused."""
    try:
        return estimator.certificate().value, ""
    except ValueError as refusal:
        return 0.0, str(refusal)


def state(estimator):
    return dict(vars(estimator))


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("kind", [PBRFF, OKRFF])
def test_any_labels_in_blocks_have_the_losses_of_the_whole(kind, labels):
    y = LABELS[labels]
    whole = model(kind).fit(X, y)
    lazy = model(kind).fit(in_chunks(X, (100, 1, 49)), in_chunks(y, (40, 110)))
    assert_same(lazy, whole)
    np.testing.assert_array_equal(lazy.kept_, whole.kept_)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sizes_of_blocks(1), sizes_of_blocks(1), st.sampled_from([PBRFF, OKRFF, PBLandmarks]))
def test_chunks_of_arrays_do_not_matter(rows, labels, kind):
    whole = model(kind).fit(X, LABELS["classes"])
    lazy = model(kind).fit(in_chunks(X, rows), in_chunks(LABELS["classes"], labels))
    assert_same(lazy, whole)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(sizes_of_blocks(0), st.sampled_from(["multiscale", "scale", "median"]))
def test_partitions_of_tables_do_not_matter_even_empty_ones(sizes, gamma):
    y = LABELS["classes"]
    frame = pd.DataFrame(X, columns=list("abcd"))
    whole = model(gamma=gamma).fit(frame, y)
    lazy = model(gamma=gamma).fit(*as_table(sizes, y))
    assert lazy.pool_ == whole.pool_
    assert_same(lazy, whole)
    np.testing.assert_array_equal(lazy.feature_names_in_, whole.feature_names_in_)
    mapped = lazy.transform(as_table(sizes, y)[0])
    np.testing.assert_allclose(mapped.compute(), whole.transform(frame), atol=1e-12)


def test_chunks_of_single_rows_and_of_some_columns():
    whole = model().fit(X, Y)
    assert_same(model().fit(da.from_array(X, chunks=(1, 3)), in_chunks(Y, (1,) * 150)), whole)


def test_the_default_precision_agrees_to_six_digits(rng):
    inputs = rng.standard_normal((3000, 20)).astype(np.float32)
    y = (inputs[:, 0] > 0).astype(int)
    # More than SMALL_WORK in the whole and in the larger block: single precision.
    whole = PBRFF(5, random_state=0).fit(inputs, y)
    lazy = PBRFF(5, random_state=0).fit(in_chunks(inputs, (2700, 300)), in_chunks(y, (1500, 1500)))
    assert whole.sums_.rounding.max() > 0
    np.testing.assert_allclose(lazy.losses_, whole.losses_, rtol=1e-6)


def test_weights_in_blocks(rng):
    weights = rng.integers(0, 3, 150).astype(float)
    weights[:20] = 0
    y = np.where(np.arange(150) < 20, "never counted", LABELS["classes"])
    whole = model(gamma="scale").fit(X, y, sample_weight=weights)
    lazy = model(gamma="scale").fit(in_chunks(X, (15, 135)), y, in_chunks(weights, (100, 50)))
    assert_same(lazy, whole)
    assert lazy.classes_.tolist() == ["a", "b", "c"]


def test_weights_that_differ_between_blocks_only_are_weights():
    weights = np.repeat([1.0, 2.0], 75)
    lazy = model().fit(in_chunks(X, (75, 75)), Y, weights)
    assert lazy._summary.is_weighted
    streamed = model().partial_fit(X[:75], Y[:75], sample_weight=weights[:75])
    assert not streamed._summary.is_weighted
    assert streamed.partial_fit(X[75:], Y[75:], sample_weight=weights[75:])._summary.is_weighted


def test_a_block_without_weight_makes_a_weighted_sample():
    y, weights = LABELS["classes"], np.repeat([0.0, 1.0], 75)
    whole = model().fit(X, y, weights)
    assert "the samples have different weights" in verdict(whole)[1]
    assert_same(model().fit(in_chunks(X, (75, 75)), y, weights), whole)
    assert_same(model().fit(in_chunks(X, (1,) * 150), y, weights), whole)
    continued = model().partial_fit(X[75:], y[75:])
    continued.partial_fit(in_chunks(X, (75, 75)), y, sample_weight=weights)
    assert "the samples have different weights" in verdict(continued)[1]


@pytest.mark.parametrize("kind", [PBRFF, PBLandmarks])
def test_partial_fit_takes_arrays_and_blocks_in_turn(kind):
    y = LABELS["classes"]
    whole = model(kind, gamma=0.1).fit(X, y)
    mixed = model(kind, gamma=0.1).partial_fit(in_chunks(X[:60], (50, 10)), y[:60], ["a", "b", "c"])
    mixed.partial_fit(X[60:90], y[60:90]).partial_fit(in_chunks(X[90:], (1, 59)), y[90:])
    assert_same(mixed, whole)


def test_given_landmarks_in_blocks():
    y = LABELS["classes"]
    whole = model(PBLandmarks).fit(X, y)
    lazy = model(PBLandmarks).fit(in_chunks(X, (140, 10)), y)
    assert_same(lazy, whole)
    np.testing.assert_array_equal(lazy.is_sample_, whole.is_sample_)
    mapped = lazy.transform(in_chunks(X, (20, 130)))
    np.testing.assert_allclose(mapped.compute(), whole.transform(X), atol=1e-10)
    with pytest.raises(ValueError, match="landmarks must be \\(points, labels\\) for data in blo"):
        PBLandmarks("random").fit(in_chunks(X, (140, 10)), y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_transform_is_lazy_and_keeps_the_type(dtype):
    fitted = RFF(3, gamma=0.1, random_state=0).fit(X)
    inputs = (X * 10).astype(dtype)
    mapped = fitted.transform(da.from_array(inputs, chunks=(40, 2)))
    assert mapped.chunks == ((40, 40, 40, 30), (6,))
    assert mapped.dtype == mapped.compute().dtype == fitted.transform(inputs).dtype
    np.testing.assert_array_equal(mapped.compute(), fitted.transform(inputs))


@pytest.mark.parametrize("kind", [PBRFF, PBLandmarks])
def test_lazy_arrays_are_no_frames(kind):
    fitted = model(kind).fit(X, LABELS["classes"])
    mapped = fitted.transform(in_chunks(X, (100, 50)))
    with config_context(transform_output="pandas"), dask.config.set(scheduler="synchronous"):
        assert type(mapped.blocks[0].compute()) is np.ndarray
        with pytest.raises(ValueError, match=r"set_output must be 'default' .* got 'pandas'"):
            fitted.transform(in_chunks(X, (100, 50)))
    with pytest.raises(ValueError, match=r"set_output must be 'default' .* got 'pandas'"):
        fitted.set_output(transform="pandas").transform(in_chunks(X, (100, 50)))


def test_sparse_blocks_stay_sparse():
    inputs = sparse.csr_array(np.where(X > 3, X, 0))
    halves = [
        da.from_delayed(dask.delayed(half), half.shape, meta=inputs[:0])
        for half in (inputs[:90], inputs[90:])
    ]
    for gamma in ("scale", "median"):
        lazy = model(gamma=gamma).fit(da.concatenate(halves), Y)
        assert_same(lazy, model(gamma=gamma).fit(inputs, Y))


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_array])
def test_sparse_label_sets_of_blocks(container):
    y = LABELS["label_sets"]
    assert_same(model().fit(in_chunks(X, (99, 51)), container(y)), model().fit(X, y))


def test_a_block_holds_its_own_labels_only():
    lazy = da.zeros((100_000, 2), chunks=(1000, 2))
    _, y, weights = aligned_blocks(lazy, np.zeros(100_000), np.ones(100_000))[7]
    for block in (y, weights):
        assert len(cloudpickle.dumps(block.__dask_graph__())) < 10_000
        assert block.compute().shape == (1000,)


IS_LAST = np.arange(150) == 149


@pytest.mark.parametrize(
    ("spoiled", "y", "error"),
    [
        (np.where(IS_LAST[:, np.newaxis], np.nan, X), LABELS["classes"], "X contains NaN"),
        (X[:, :3], LABELS["classes"], "X has 3 features, but .* expecting 4"),
        (X, np.where(IS_LAST, "d", LABELS["classes"]), "known classes .* got \\['d'\\]"),
    ],
)
@pytest.mark.parametrize("kind", [PBRFF, OKRFF, PBLandmarks])
def test_a_failing_block_leaves_the_estimator_as_it_was(kind, spoiled, y, error):
    fitted = model(kind).fit(X, LABELS["classes"])
    before = state(fitted)
    with pytest.raises(ValueError, match=error):
        fitted.partial_fit(in_chunks(spoiled, (100, 49, 1)), y)
    assert state(fitted).keys() == before.keys()
    assert all(value is before[name] for name, value in state(fitted).items())


@pytest.mark.parametrize("kind", [PBRFF, OKRFF, PBLandmarks])
def test_a_failing_block_leaves_an_unfitted_estimator_unfitted(kind):
    estimator = model(kind)
    before = state(estimator)
    broken = np.where(IS_LAST[:, np.newaxis], np.inf, X)
    with pytest.raises(ValueError, match="X contains infinity") as caught:
        estimator.fit(in_chunks(broken, (100, 49, 1)), LABELS["classes"])
    assert "block 2" in caught.value.__notes__[0]
    assert state(estimator) == before


def test_landmarks_of_many_classes_in_blocks_raise_no_question(rng):
    inputs, y = rng.standard_normal((90, 3)), np.arange(90) % 30
    given = (inputs[:30], y[:30])
    PBLandmarks(given, gamma=0.1).fit(in_chunks(inputs, (45, 45)), y)
    with pytest.raises(ValueError, match="y must hold classes, got numbers with fractions"):
        PBLandmarks(given, gamma=0.1).fit(in_chunks(inputs, (45, 45)), y + 0.5)
    with pytest.raises(ValueError, match="y must be one-dimensional"):
        PBLandmarks(given, gamma=0.1).fit(in_chunks(inputs, (45, 45)), np.eye(30)[y])


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("kind", [PBRFF, PBLandmarks])
def test_missing_labels_are_refused(kind, missing):
    y = LABELS["classes"].astype(object)
    y[149] = missing
    with pytest.raises(ValueError, match="y must have no missing labels, got"):
        model(kind).fit(X, y)
    with pytest.raises(ValueError, match="y must have no missing labels, got") as caught:
        model(kind).fit(in_chunks(X, (100, 49, 1)), y)
    assert "block 2" in caught.value.__notes__[0]


def test_samples_are_counted_without_their_inputs(rng):
    """Many classes raise a question, which is not worth a pass."""
    y, n_read = np.arange(30), []

    def counted(block):
        n_read.append(len(block))
        return block

    inputs = in_chunks(rng.standard_normal((30, 3)), (30,)).map_blocks(counted, meta=X[:0])
    with pytest.warns(UserWarning, match="30 distinct integers in 30 samples") as caught:
        model().fit(inputs, y)
    assert sum(n_read) == 30
    assert caught[0].filename == __file__


def test_an_error_of_labels_names_their_block():
    with pytest.raises(ValueError, match="y contains NaN") as caught:
        model().fit(in_chunks(X, (100, 49, 1)), np.where(IS_LAST, np.nan, Y))
    assert "block 2" in caught.value.__notes__[0]


def interrupted(block, block_info=None):
    """Return the block, unless it is the last, where the user loses patience."""
    if block_info and block_info[0]["chunk-location"][0] == 2:
        raise KeyboardInterrupt
    return block


@pytest.mark.parametrize("kind", [PBRFF, PBLandmarks])
def test_an_interrupted_fit_changes_nothing(kind):
    fitted = model(kind).fit(X, LABELS["classes"])
    before = state(fitted)
    lazy = in_chunks(X, (100, 49, 1)).map_blocks(interrupted, meta=X[:0])
    with dask.config.set(scheduler="synchronous"), pytest.raises(KeyboardInterrupt):
        fitted.fit(lazy, LABELS["classes"])
    assert all(value is before[name] for name, value in state(fitted).items())


def test_what_does_not_fit_together_is_refused():
    lazy = in_chunks(X, (100, 50))
    unknown, none = lazy[lazy[:, 0] > 0], lazy[lazy[:, 0] > 99]
    refusals = [
        (lambda: model().fit(lazy, Y[:99]), r"y must have 150 rows as X has, got shape \(99,\)"),
        (lambda: model().fit(unknown, Y), "y must be a Dask collection .* got ndarray"),
        (
            lambda: model().fit(unknown, in_chunks(Y, (150,))),
            "y must have 2 blocks as X has, got 1: repartition",
        ),
        (
            lambda: model().fit(as_table((99, 51), Y)[0], pd.Series(Y)),
            "y must be a Dask collection .* got Series",
        ),
        (lambda: model().fit(lazy, Y, np.ones((150, 1))), "one number per sample, got"),
        (
            lambda: model().fit(lazy, Y, in_chunks(np.ones((150, 1)), (150,))),
            "one number per sample, got",
        ),
        (lambda: model().fit(lazy, Y, 2.0), r"sample_weight must have 150 rows .* got shape \(\)"),
        (lambda: model().fit(lazy, Y, lazy.sum()), "sample_weight must be a Dask array of rows"),
        (lambda: model().fit(dask.delayed(X), Y), "X must be a Dask array .* got Delayed"),
        (lambda: model().fit(lazy, dask.delayed(Y)), "y must be a Dask array .* got Delayed"),
        (
            lambda: model().fit(dask.bag.from_sequence([1]), Y),
            "X must be a Dask array .* got dask.bag",
        ),
        (lambda: model().fit(unknown, in_chunks(Y, (99, 51))), "inconsistent numbers of samples"),
        (lambda: model().fit(lazy[:, 0], Y), "X must have two axes, got 1"),
        (lambda: model().fit(none, in_chunks(Y[:0], (0, 0))), "X must have samples"),
        (lambda: model().partial_fit(lazy[:1], Y[:1], [0, 1]), "2 samples of positive weight"),
        (lambda: model().fit(lazy, np.full(150, np.nan)), "y contains NaN"),
        (lambda: model().fit(lazy, np.zeros(150)), "two classes"),
        (lambda: model().fit(lazy, None), "PBRFF requires y to be passed, got None"),
        (lambda: model().fit(lazy[:, lazy[0] > 0], Y), "known number of columns"),
    ]
    for refused, error in refusals:
        with pytest.raises(ValueError, match=error):
            refused()


@pytest.mark.parametrize("labels", ["classes", "numbers"])
def test_frequencies_that_move_over_blocks(labels):
    y = LABELS[labels]
    sampler = GibbsRFF(5, n_particles=8, n_steps=3, precision="double", random_state=0)
    whole = clone(sampler).fit(X, y)
    lazy = clone(sampler).fit(in_chunks(X, (90, 60)), in_chunks(y, (1, 149)))
    np.testing.assert_allclose(lazy.pool_, whole.pool_, rtol=1e-8)
    np.testing.assert_allclose(lazy.losses_, whole.losses_, rtol=1e-8)
    # Longer runs part ways, but what is said of the frequencies is exact.
    losses = alignment_losses(X, y, lazy.pool_)
    np.testing.assert_allclose(lazy.losses_, losses, rtol=1e-12, atol=1e-12)
    assert lazy._summary.n_samples == 150
    before = state(lazy)
    with pytest.raises(ValueError, match="X contains NaN"):
        lazy.fit(in_chunks(np.where(IS_LAST[:, np.newaxis], np.nan, X), (100, 50)), y)
    assert all(value is before[name] for name, value in state(lazy).items())


@pytest.mark.parametrize("kind", [RFF, BoostedRFF, RBFLandmarks])
def test_estimators_that_need_all_samples_at_once_say_so(kind):
    with pytest.raises(ValueError, match=rf"must be in memory for this method of {kind.__name__}"):
        kind().fit(in_chunks(X, (100, 50)), Y)
