from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import SVC
from tests.reproduction.conftest import QUICK

from pacfourier import OKRFF, PBRFF, PBLandmarks, RBFLandmarks
from pacfourier.estimators.base import FourierMap
from reproduction import methods
from reproduction.datasets import Dataset, load
from reproduction.methods import METHODS, fitted_posterior, kernel_map
from reproduction.plan import CS, GAMMAS, N_CANDIDATES, RHOS, Profile
from reproduction.protocol import (
    Bench,
    Setting,
    n_errors,
    select,
    split_parts,
    svm_errors,
    svm_row,
)

# Training, validation and test rows: the supplement's table.
PAPER_SIZES = {
    "ads": (1967, 492, 820),
    "adult": (26048, 6513, 16281),
    "breast": (340, 86, 143),
    "farm": (2485, 622, 1036),
    "mnist17": (9101, 2276, 3793),
    "mnist49": (8268, 2068, 3446),
    "mnist56": (7912, 1979, 3298),
}


def numbered(sizes, has_own_test=False):
    """Return a data set whose only column is the number of the row."""
    n_rows = sum(sizes)
    X = np.arange(n_rows)[:, np.newaxis]
    n_train = n_rows - sizes[2] if has_own_test else None
    return Dataset(X, np.where(X[:, 0] % 3, 1, -1), n_train)


@pytest.fixture(scope="module")
def bench():
    """Split 0 of breast, with the bandwidth that the paper's SVM has there."""
    return Bench(QUICK, "breast", 0, split_parts(load("breast"), 0), 1e-5)


def with_test_part(bench, X_test, y_test):
    parts = bench.parts._replace(X_test=X_test, y_test=y_test)
    return Bench(QUICK, bench.dataset, bench.split, parts, bench.gamma)


@pytest.mark.parametrize("split", [0, 1])
@pytest.mark.parametrize("name", PAPER_SIZES)
def test_parts_have_the_sizes_of_the_paper_and_no_common_row(name, split):
    parts = split_parts(numbered(PAPER_SIZES[name], name == "adult"), split)
    rows = [X[:, 0] for X in parts[:3]]
    assert tuple(map(len, rows)) == PAPER_SIZES[name]
    assert set(np.concatenate(rows)) == set(range(sum(PAPER_SIZES[name])))
    for part, labels in zip(rows, parts[3:], strict=True):
        np.testing.assert_array_equal(labels, np.where(part % 3, 1, -1))
    if name == "adult":
        np.testing.assert_array_equal(rows[2], np.arange(32561, 48842))


def test_splits_differ_and_repeat():
    data = numbered(PAPER_SIZES["breast"])
    first, again, second = (split_parts(data, split) for split in (0, 0, 1))
    np.testing.assert_array_equal(first.X_train, again.X_train)
    assert len(set(first.X_test[:, 0]) - set(second.X_test[:, 0])) > 50


def plain_bandwidth(parts):
    """Try every C with every bandwidth, keep the first of the best: the paper's grid search."""
    best, chosen = np.inf, None
    for C in CS:
        for gamma in GAMMAS:
            machine = SVC(C=C, gamma=gamma).fit(parts.X_train, parts.y_train)
            errors = int((machine.predict(parts.X_valid) != parts.y_valid).sum())
            if errors < best:
                best, chosen = errors, (gamma, C)
    return chosen


def test_the_published_error_of_the_svm_on_breast():
    """7 of 143, through the grid, its ties and the refit."""
    parts = split_parts(load("breast"), 0)
    row = svm_row(parts, QUICK)
    assert (row["test_errors"], row["n_test"]) == (7, 143)
    assert (row["settings"]["gamma"], row["C"]) == plain_bandwidth(parts)


def test_few_rows_may_choose_the_bandwidth(bench):
    """The first rows of the training part, the whole validation part."""
    profile = Profile(("breast",), (1,), (1,), svm_rows=100)
    X, y = bench.parts.X_train[:100], bench.parts.y_train[:100]
    for errors, C in svm_errors(bench.parts, 1e-5, profile):
        predicted = SVC(C=C, gamma=1e-5).fit(X, y).predict(bench.parts.X_valid)
        assert errors == np.count_nonzero(predicted != bench.parts.y_valid)


def setting(parts, column, name, map_test=None):
    features = [part[:, [column]] for part in (parts.X_train, parts.X_valid)]
    return Setting({"name": name}, *features, map_test or (lambda: parts.X_test[:, [column]]))


def test_the_first_of_equals_is_selected(bench):
    """Columns 20 (a good one) and 9 (a poor one) of breast, some of them twice."""
    parts = bench.parts
    offered = [setting(parts, *pair) for pair in [(9, "poor"), (20, "one"), (20, "two")]]
    best = select(offered, parts)
    assert best["settings"] == {"name": "one"}
    assert best["valid_errors"] < select(offered[:1], parts)["valid_errors"]


def test_the_smallest_of_equal_penalties_is_selected(bench):
    """One class in validation, far on its side: every C makes no error."""
    parts = bench.parts
    only = parts.y_valid == 1
    parts = parts._replace(X_valid=np.full((only.sum(), 1), -1e9), y_valid=parts.y_valid[only])
    centred = parts.X_train[:, [20]] - parts.X_train[:, 20].mean()
    best = select([Setting({}, centred, parts.X_valid, lambda: parts.X_test[:, [20]])], parts)
    assert (best["valid_errors"], best["C"]) == (0, CS[0])


def test_only_what_is_selected_maps_the_test_part(bench):
    calls = Counter()

    def spy(column, name):
        calls[name] += 1
        return bench.parts.X_test[:, [column]]

    columns = {"poor": 9, "good": 20, "late": 20}
    select(
        [
            setting(bench.parts, column, name, partial(spy, column, name))
            for name, column in columns.items()
        ],
        bench.parts,
    )
    assert calls == {"good": 1}


def test_without_settings_there_is_nothing_to_select(bench):
    with pytest.raises(ValueError, match="must have at least one setting, got none"):
        select([], bench.parts)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_errors_are_counted_as_they_are_written(seed):
    """A score of zero is the negative class, as scikit-learn has it."""
    rng = np.random.default_rng(seed)
    features, weights = rng.integers(-2, 3, (20, 3)), rng.integers(-2, 3, 4)
    y = rng.choice([-1, 1], 20)
    count = 0
    for row, label in zip(features, y, strict=True):
        predicted = 1 if sum(row * weights[:3]) + weights[3] > 0 else -1
        count += predicted != label
    assert n_errors(features, weights, y) == count


def count_maps(monkeypatch, bench, name, width):
    """Return which part was mapped how often, by the rows that a method's map saw."""
    counts = Counter()
    parts = bench.parts
    sizes = {len(X): part for part, X in zip(("train", "valid", "test"), parts[:3], strict=True)}
    sizes[len(parts.y_train) + len(parts.y_valid)] = "train and valid"

    def spied(original, position=0):
        def spy(*arguments):
            counts[sizes[arguments[position].shape[0]]] += 1
            return original(*arguments)

        return spy

    for kind in (FourierMap, RBFLandmarks, PBLandmarks):
        monkeypatch.setattr(kind, "transform", spied(kind.transform, 1))
    monkeypatch.setattr(methods, "landmark_similarities", spied(methods.landmark_similarities))
    select(METHODS[name](bench, width), parts)
    return counts


@pytest.mark.parametrize(
    ("name", "width", "expected"),
    [
        ("RFF", 10, {"train": 1, "valid": 1, "test": 1}),
        ("PBRFF", 10, {"train": 7, "valid": 7, "test": 1}),
        ("OKRFF", 2, {"train": 5, "valid": 5, "test": 1}),
        ("RBF-R", 5, {"train": 1, "valid": 1, "test": 1}),
        # Five widths, whose seven temperatures share their cosines.
        ("PB-R", 5, {"train and valid": 5, "test": 1}),
        ("PB-C(D=64)", 10, {"train and valid": 1, "test": 1}),
    ],
)
def test_no_map_is_computed_twice(monkeypatch, bench, name, width, expected):
    """Ten values of C share one map, and losers never see the test part."""
    assert count_maps(monkeypatch, bench, name, width) == expected


@pytest.mark.parametrize(("name", "width"), [("RFF", 5), ("PBRFF", 5), ("PB-R", 10)])
def test_another_test_part_changes_nothing_but_the_test(bench, name, width):
    parts = bench.parts
    other = with_test_part(bench, parts.X_test[::-1] * 0.5, parts.y_test)
    ours, theirs = (select(METHODS[name](each, width), each.parts) for each in (bench, other))
    assert {key for key in ours if ours[key] != theirs[key]} == {"test_errors"}


def test_both_posteriors_have_the_same_candidate_frequencies(bench):
    pools = [fitted_posterior(bench, kind).pool_ for kind in (PBRFF, OKRFF)]
    assert pools[0] == pools[1]
    assert len(pools[0]) == N_CANDIDATES


def test_the_radius_is_counted_as_in_the_paper(bench):
    """rho = r N bounds the squared distance of Q from the uniform weights by r."""
    found = list(METHODS["OKRFF"](bench, 5))
    assert [each.parameters["rho"] for each in found] == [r * N_CANDIDATES for r in RHOS]
    fitted = fitted_posterior(bench, OKRFF)
    for share in RHOS:
        posterior = fitted.redraw(rho=share * N_CANDIDATES).posterior_
        distance = ((posterior - 1 / N_CANDIDATES) ** 2).sum()
        # Past the distance of a corner the ball holds the whole simplex.
        np.testing.assert_allclose(distance, min(share, 1 - 1 / N_CANDIDATES), rtol=1e-6)


@pytest.mark.parametrize("suffix", ["C", "R"])
@pytest.mark.parametrize(("width", "count"), [(1, 3), (5, 17), (10, 34), (25, 85)])
def test_landmarks_are_a_share_of_the_training_part_and_common_to_both_maps(
    bench, suffix, width, count
):
    kind = {"C": "kmeans", "R": "random"}[suffix]
    (prior,) = METHODS[f"RBF-{suffix}"](bench, width)
    assert prior.train.shape == (340, count)
    learned = next(METHODS[f"PB-{suffix}"](bench, width))
    assert learned.train.shape == (340, count)
    landmarks = kernel_map(bench, width, kind).landmarks_
    np.testing.assert_array_equal(learned.map_test.func.__self__.landmarks_, landmarks)


@pytest.mark.parametrize("name", ["PB-R", "PB-C"])
def test_similarities_of_all_temperatures_at_once_are_those_of_each_map(bench, name):
    """Samples are rounded to single precision: a phase moves by eps |omega| |x|, and the cosine."""
    parts = bench.parts
    found = list(METHODS[name](bench, 1))
    assert len(found) == 35
    largest = np.linalg.norm(parts.X_train, axis=1).max()
    for each in found[::6]:
        model = each.map_test.func.__self__
        longest = max(
            np.linalg.norm(model.frequencies_of(row), axis=1).max()
            for row in range(len(model.phases_))
        )
        single = np.finfo(np.float32).eps
        atol = 2 * single * (largest * longest + model.n_frequencies)
        assert atol < 1e-3
        np.testing.assert_allclose(each.train, model.transform(parts.X_train), atol=atol)
        np.testing.assert_allclose(each.valid, model.transform(parts.X_valid), atol=atol)


def test_columns_of_table_1_fix_one_parameter(bench):
    fixed = {
        name: [each.parameters for each in METHODS[name](bench, 10)]
        for name in ("PB-C", "PB-C(beta=1)", "PB-C(D=64)")
    }
    assert len(fixed["PB-C"]) == 35
    assert fixed["PB-C(beta=1)"] == [each for each in fixed["PB-C"] if each["beta"] == 1]
    assert fixed["PB-C(D=64)"] == [each for each in fixed["PB-C"] if each["n_frequencies"] == 64]


def test_sparse_rows_have_the_similarities_of_dense_ones(bench):
    parts = bench.parts._replace(
        **{name: sparse.csr_array(getattr(bench.parts, name)) for name in ("X_train", "X_valid")}
    )
    dense, thin = (
        next(METHODS["PB-R"](Bench(QUICK, "breast", 0, each, bench.gamma), 5))
        for each in (bench.parts, parts)
    )
    np.testing.assert_allclose(thin.train, dense.train, atol=1e-5)
    np.testing.assert_allclose(thin.valid, dense.valid, atol=1e-5)
