import os
import subprocess
import sys
from collections import UserList
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.linear_model import SGDClassifier

from pacfourier import OKRFF, PBRFF, RFF, GibbsRFF, PBLandmarks, fit_batches, parquet_batches

X, Y = load_iris(return_X_y=True)
LABELS = {"classes": np.array(["a", "b", "c"])[Y], "numbers": X[:, 0] + 0.25}
WEIGHTS = np.arange(150) % 4.0


def model(kind=PBRFF, **parameters):
    if kind is PBLandmarks:
        return PBLandmarks((X[::40], Y[::40]), n_frequencies=9, random_state=0, **parameters)
    return kind(5, n_candidates=200, random_state=0, precision="double", **parameters)


def batches_of(*arrays, size=40):
    return [
        tuple(array[start : start + size] for array in arrays)
        for start in range(0, len(arrays[0]), size)
    ]


def assert_same(streamed, whole):
    np.testing.assert_allclose(streamed.losses_, whole.losses_, rtol=1e-12)
    np.testing.assert_allclose(streamed.posterior_, whole.posterior_, rtol=1e-6, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 150),
    st.sampled_from(["multiscale", "scale", "median"]),
    st.sampled_from(["classes", "numbers"]),
    st.sampled_from([PBRFF, OKRFF]),
)
def test_batches_teach_what_the_whole_teaches(size, gamma, labels, kind):
    y = LABELS[labels]
    whole = model(kind, gamma=gamma).fit(X, y, sample_weight=WEIGHTS)
    streamed = fit_batches(model(kind, gamma=gamma), batches_of(X, y, WEIGHTS, size=size))
    assert_same(streamed, whole)


def test_a_batch_without_weight_makes_a_weighted_sample():
    weights = np.where(np.arange(150) < 40, 0.0, 1.0)
    streamed = fit_batches(model(), batches_of(X, Y, weights))
    assert_same(streamed, model().fit(X, Y, weights))
    assert streamed._summary.is_weighted


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_that_come_in_two_types_are_repeated_rows(kind):
    inputs = X.astype(np.float32)
    streamed = fit_batches(model(), [(kind(inputs), Y), (kind(X), Y)])
    assert (streamed._summary.counts % 2 == 0).all()
    assert_same(streamed, model().fit(np.vstack([inputs, inputs]), np.append(Y, Y)))


def test_batches_for_landmarks():
    assert_same(fit_batches(model(PBLandmarks), batches_of(X, Y)), model(PBLandmarks).fit(X, Y))
    with pytest.raises(ValueError, match="sample_weight must be None for landmarks"):
        fit_batches(model(PBLandmarks), batches_of(X, Y, WEIGHTS))


def test_batches_may_be_lists_and_empty():
    lists = [([], []), *((inputs.tolist(), y.tolist()) for inputs, y in batches_of(X, Y))]
    for batches in (lists, lists[1:] + lists[:1]):
        assert_same(fit_batches(model(), batches), model().fit(X, Y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fit_batches(model(), [(X, Y, WEIGHTS[1:])])


def test_a_generator_is_enough_for_one_pass():
    whole = model().fit(X, Y)
    assert_same(fit_batches(model(), iter(batches_of(X, Y)), classes=[0, 1, 2]), whole)
    for parameters, classes in (({}, None), ({"gamma": "scale"}, [0, 1, 2])):
        with pytest.raises(ValueError, match="iterable more than once"):
            fit_batches(model(**parameters), iter(batches_of(X, Y)), classes=classes)


class Bar:
    """Shows each batch on its way, as progress bars do: its iterator is another object."""

    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        yield from self.batches


def test_a_generator_behind_another_object_loses_no_batch():
    streamed = fit_batches(model(), Bar(iter(batches_of(X, Y))), classes=[0, 1, 2])
    assert_same(streamed, model().fit(X, Y))
    assert_same(fit_batches(model(), Bar(batches_of(X, Y))), model().fit(X, Y))
    with pytest.raises(ValueError, match=r"more than once .* got 150 rows in one pass and 0 in"):
        fit_batches(model(), Bar(iter(batches_of(X, Y))))


def test_a_failing_batch_leaves_the_estimator_as_it_was():
    broken = [*batches_of(X, Y), (np.full((3, 4), np.nan), Y[:3])]
    fitted = model().fit(X, Y)
    for estimator in (fitted, model()):
        before = dict(vars(estimator))
        with pytest.raises(ValueError, match="X contains NaN"):
            fit_batches(estimator, broken)
        assert vars(estimator).keys() == before.keys()
        assert all(value is before[name] for name, value in vars(estimator).items())


@pytest.mark.parametrize("kind", [sparse.coo_array, sparse.csc_matrix])
def test_batches_may_be_sparse_dense_or_both(kind):
    whole = model(gamma="median").fit(X, Y)
    first, *others = batches_of(X, Y)
    in_turn = [first, *((kind(inputs), y) for inputs, y in others)]
    for batches in (in_turn, in_turn[::-1]):
        streamed = fit_batches(model(gamma=whole.pool_.spectrum.gamma), batches)
        np.testing.assert_allclose(streamed.losses_, whole.losses_, rtol=1e-12)
    assert fit_batches(model(gamma="median"), in_turn).pool_.spectrum.gamma == pytest.approx(
        whole.pool_.spectrum.gamma
    )


def test_batches_with_a_list_of_labels_are_batches():
    batches = UserList(batches_of(X, Y))
    batches.labels = ["not", "to", "be", "called"]
    assert_same(fit_batches(model(), batches), model().fit(X, Y))


@pytest.mark.parametrize(
    ("batches", "error"),
    [
        ([], "batches must hold at least one sample, got none"),
        ([([], [])], "batches must hold at least one sample, got none"),
        ([(X,)], r"batches must hold \(X, y\) or \(X, y, sample_weight\), got 1 items"),
        ([(X, Y, WEIGHTS, WEIGHTS)], r"batches must hold \(X, y\) .* got 4"),
        ([X, Y], r"batches must hold \(X, y\) .* got ndarray"),
        ([(X, Y), (X, None)], "batches must hold the labels y, got None"),
        ([(X, Y), (X, 1)], "batches must hold the labels y, got 1"),
    ],
)
def test_what_cannot_be_batches_is_refused(batches, error):
    with pytest.raises(ValueError, match=error):
        fit_batches(model(), batches)


@pytest.mark.parametrize("estimator", [RFF(), GibbsRFF(), SGDClassifier(), PBRFF])
def test_what_cannot_learn_from_batches_is_refused(estimator):
    with pytest.raises(
        ValueError,
        match="estimator must learn from batches",
    ):
        fit_batches(estimator, batches_of(X, Y))


@pytest.fixture
def parquet_file(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = pd.DataFrame(X, columns=list("abcd")).assign(label=LABELS["classes"])
    table.to_parquet(tmp_path / "iris.parquet", row_group_size=64)
    return tmp_path / "iris.parquet"


def test_parquet_files_are_batches(parquet_file):
    from pyarrow import dataset

    streamed = fit_batches(model(), parquet_batches(parquet_file, "label", batch_size=50))
    assert_same(streamed, model().fit(X, LABELS["classes"]))
    assert streamed.feature_names_in_.tolist() == list("abcd")
    some = parquet_batches(dataset.dataset(parquet_file), "label", columns=["b", "a"])
    assert_same(fit_batches(model(), some), model().fit(X[:, [1, 0]], LABELS["classes"]))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"target_column": "z"}, r"must be among .* got \['z'\]"),
        ({"target_column": "label", "columns": "ab"}, "columns must be a list of names, got 'ab'"),
        (
            {"target_column": "label", "columns": ["a", "label"]},
            "columns must not contain target_column",
        ),
        ({"target_column": "label", "batch_size": 0}, "batch_size must be"),
    ],
)
def test_columns_that_cannot_be_meant_are_refused(parquet_file, arguments, error):
    with pytest.raises(ValueError, match=error):
        parquet_batches(parquet_file, **arguments)


@pytest.fixture
def arrow_table():
    pa = pytest.importorskip("pyarrow")
    columns = dict(zip("abcd", X.T, strict=True))
    return pa.table(columns | {"label": LABELS["classes"]})


def datasets_of(table, folder):
    """Yield the same rows in all kinds of datasets."""
    from pyarrow import dataset, feather, parquet

    yield dataset.dataset(table)
    feather.write_feather(table, folder / "iris.feather")
    yield dataset.dataset(folder / "iris.feather", format="ipc")
    paths = [folder / "first.parquet", folder / "second.parquet"]
    parquet.write_table(table[:70], paths[0])
    parquet.write_table(table[70:].select(["label", *"dcba"]), paths[1])
    yield paths
    hive = dataset.partitioning(flavor="hive")
    parquet.write_to_dataset(table, folder / "by_label", partition_cols=["label"])
    yield dataset.dataset(folder / "by_label", partitioning=hive)


def test_any_dataset_is_batches(arrow_table, tmp_path):
    # The partitions of the last one are in the order of the classes, as the rows are.
    whole = model().fit(X, LABELS["classes"])
    for source in datasets_of(arrow_table, tmp_path):
        assert_same(fit_batches(model(), parquet_batches(source, "label", batch_size=50)), whole)


def test_labels_have_the_type_of_the_whole_dataset(tmp_path):
    """The first file writes classes as strings, the second as integers."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for name, rows, y in (("0", slice(0, 75), Y.astype(str)), ("1", slice(75, 150), Y)):
        columns = dict(zip("abcd", X[rows].T, strict=True))
        parquet.write_table(pa.table(columns | {"label": y[rows]}), tmp_path / f"{name}.parquet")
    streamed = fit_batches(model(), parquet_batches(tmp_path, "label"))
    assert streamed.classes_.tolist() == ["0", "1", "2"]


ROOM = 64 * 2**20
LIMITED = """
import re, resource, sys
import numpy as np
import pyarrow.parquet
# Stacks of threads that start late would count.
pyarrow.set_cpu_count(1), pyarrow.set_io_thread_count(1)
from pacfourier import PBRFF, fit_batches, parquet_batches

small, large, out, room = *sys.argv[1:4], int(sys.argv[4])
model = PBRFF(5, n_candidates=50, random_state=0, precision="double")
# What is imported, compiled and started stays: the limit is on what comes on top of it.
fit_batches(model, parquet_batches(small, "label", batch_size=8192))
used = int(re.search(r"VmData:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (used + room, used + room))
fit_batches(model, parquet_batches(large, "label", batch_size=8192))
np.save(out, model.losses_)
try:
    pyarrow.parquet.read_table(large, use_threads=False)
except MemoryError:
    sys.exit(0)
sys.exit("the limit does not limit")
"""


def write_parquet(path, n_rows, width=64):
    """Write a file without compression, in small groups of rows; return what is in it."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    inputs = np.random.default_rng(0).standard_normal((n_rows, width))
    labels = (inputs[:, 0] > 0).astype(int)
    columns = {f"x{column}": inputs[:, column] for column in range(width)} | {"label": labels}
    options = {"compression": "none", "use_dictionary": False, "row_group_size": 8192}
    parquet.write_table(pa.table(columns), path, **options)
    return inputs, labels


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux to limit memory")
def test_a_file_four_times_larger_than_the_memory(tmp_path):
    small, large, out = (tmp_path / name for name in ("small.parquet", "large.parquet", "out.npy"))
    write_parquet(small, 20_000)
    inputs, labels = write_parquet(large, 4 * ROOM // (64 * 8))
    assert large.stat().st_size > 4 * ROOM
    subprocess.run(
        [sys.executable, "-c", LIMITED, small, large, out, str(ROOM)],
        check=True,
        timeout=120,
        env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"},
    )
    whole = PBRFF(5, n_candidates=50, random_state=0, precision="double").fit(inputs, labels)
    np.testing.assert_allclose(np.load(out), whole.losses_, rtol=1e-12)


def test_given_classes_leave_a_generator_its_one_pass(rng):
    """Many numeric classes raise a question only where they were looked for."""
    X, y = rng.standard_normal((30, 3)), np.arange(30)
    estimator = PBRFF(5, n_candidates=50, gamma=0.1, random_state=0)
    batches = ((X[rows], y[rows]) for rows in (slice(15), slice(15, 30)))
    assert fit_batches(estimator, batches, classes=y).sums_.n_samples == 30
