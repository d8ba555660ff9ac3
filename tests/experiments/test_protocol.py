from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import SVC

from pacfourier import OKRFF, PBRFF, PBLandmarks, RBFLandmarks
from pacfourier.datasets import Dataset, load
from pacfourier.estimators.base import FourierMap
from pacfourier.experiments import methods, runner
from pacfourier.experiments.methods import METHODS, fitted_posterior
from pacfourier.experiments.plan import CS, GAMMAS, N_CANDIDATES, PROFILES, RHOS, Cell, Profile
from pacfourier.experiments.planned_cells import Plan
from pacfourier.experiments.protocol import (
    EPSILON,
    Bench,
    Setting,
    n_errors,
    select,
    selected_row,
    split_parts,
    svm_grid_row,
)
from pacfourier.experiments.records import Records
from pacfourier.experiments.runner import chosen_bandwidths, run_plan

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
    return Bench("breast", 0, split_parts(load("breast"), 0), 1e-5)


def with_test_part(bench, X_test, y_test):
    parts = bench.parts._replace(X_test=X_test, y_test=y_test)
    return Bench(bench.dataset, bench.split, parts, bench.gamma)


def cell_of(name, width):
    return Cell("quick", METHODS[name].experiments[0], "breast", 0, name, width)


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


def test_selection_looks_at_the_training_part_first():
    parts = split_parts(numbered(PAPER_SIZES["breast"]), 0)
    dense = Bench("breast", 0, parts, 1.0).training_and_validation
    np.testing.assert_array_equal(dense, np.vstack([parts.X_train, parts.X_valid]))
    parts = parts._replace(
        X_train=sparse.csr_array(parts.X_train), X_valid=sparse.csr_array(parts.X_valid)
    )
    stacked = Bench("breast", 0, parts, 1.0).training_and_validation
    np.testing.assert_array_equal(stacked.toarray(), dense)


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
    with Records(":memory:") as records:
        list(run_plan(Plan("quick", ("greedy",), ("breast",), 1, methods=()), records, n_jobs=1))
        (row,) = [row for row in records.results() if row["method"] == "SVM"]
        chosen = chosen_bandwidths(records)["quick", "breast", 0]
    assert (row["test_errors"], row["n_test"]) == (7, 143)
    assert chosen == plain_bandwidth(split_parts(load("breast"), 0))
    assert (row["settings"]["gamma"], row["C"]) == chosen


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        ({1e-3: (5, 1.0), 1e-2: (4, 100.0)}, (1e-2, 100.0)),
        ({1e-3: (4, 10.0), 1e-2: (4, 1.0)}, (1e-2, 1.0)),
        ({1e-2: (4, 1.0), 1e-3: (4, 1.0)}, (1e-3, 1.0)),
    ],
)
def test_of_equal_bandwidths_the_smallest_penalty_wins_then_the_smallest_bandwidth(grid, expected):
    with Records(":memory:") as records:
        for gamma, (errors, C) in grid.items():
            cell = Cell("quick", "svm", "breast", 0, "SVM grid", gamma)
            row = {"settings": {"gamma": gamma}, "valid_errors": errors, "C": C}
            records.write(cell, {"SVM grid": row}, 0.0)
            other = Cell("quick", "svm", "breast", 1, "SVM grid", gamma)
            records.write(other, {"SVM grid": {**row, "valid_errors": 9}}, 0.0)
        assert chosen_bandwidths(records)["quick", "breast", 0] == expected


def test_few_rows_may_choose_the_bandwidth(bench):
    """The first rows of the training part, the whole validation part."""
    profile = Profile(("breast",), (1,), (1,), svm_rows=100)
    row = svm_grid_row(bench.parts, 1e-5, profile)
    X, y = bench.parts.X_train[:100], bench.parts.y_train[:100]
    errors = [
        int(
            (
                SVC(C=C, gamma=1e-5).fit(X, y).predict(bench.parts.X_valid) != bench.parts.y_valid
            ).sum()
        )
        for C in CS
    ]
    assert row["valid_errors"] == min(errors)
    assert row["C"] == CS[errors.index(min(errors))]
    assert (row["n_train"], row["n_valid"]) == (100, 86)
    assert "test_errors" not in row


def setting(parts, column, name, map_test=None):
    features = [part[:, [column]] for part in (parts.X_train, parts.X_valid)]
    return Setting({"name": name}, *features, map_test or (lambda: parts.X_test[:, [column]]))


def everything(parameters):
    del parameters
    return True


def test_the_first_of_equals_is_selected(bench):
    """Columns 20 (a good one) and 9 (a poor one) of breast, some of them twice."""
    parts = bench.parts
    offered = [setting(parts, *pair) for pair in [(9, "poor"), (20, "one"), (20, "two")]]
    best = select(offered, parts, {"all": everything})["all"]
    assert best.setting.parameters == {"name": "one"}
    poor = select(offered[:1], parts, {"all": everything})["all"]
    assert best.valid_errors < poor.valid_errors


def test_the_smallest_of_equal_penalties_is_selected(bench):
    """One class in validation, far on its side: every C makes no error."""
    parts = bench.parts
    only = parts.y_valid == 1
    parts = parts._replace(X_valid=np.full((only.sum(), 1), -1e9), y_valid=parts.y_valid[only])
    centred = parts.X_train[:, [20]] - parts.X_train[:, 20].mean()
    offered = Setting({}, centred, parts.X_valid, lambda: None)
    best = select([offered], parts, {"all": everything})["all"]
    assert (best.valid_errors, best.C) == (0, CS[0])


def test_each_selection_has_its_own_best(bench):
    parts = bench.parts
    offered = [setting(parts, 20, "good"), setting(parts, 9, "poor")]
    best = select(
        offered,
        parts,
        {"all": everything, "poor": lambda parameters: parameters["name"] == "poor"},
    )
    assert best["all"].setting.parameters == {"name": "good"}
    assert best["poor"].setting.parameters == {"name": "poor"}
    assert best["poor"].valid_errors > best["all"].valid_errors


def test_only_what_is_selected_maps_the_test_part(bench):
    calls = Counter()

    def spy(column, name):
        calls[name] += 1
        return bench.parts.X_test[:, [column]]

    columns = {"poor": 9, "good": 20, "late": 20}
    offered = [
        setting(bench.parts, column, name, partial(spy, column, name))
        for name, column in columns.items()
    ]
    best = select(offered, bench.parts, {"all": everything})
    assert not calls
    row = selected_row(best["all"], bench.parts)
    assert calls == {"good": 1}
    assert row["test_errors"] == n_errors(
        bench.parts.X_test[:, [20]], best["all"].weights, bench.parts.y_test
    )


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
    sizes[len(bench.training_and_validation)] = "train and valid"

    def spied(original, position=0):
        def spy(*arguments):
            counts[sizes[arguments[position].shape[0]]] += 1
            return original(*arguments)

        return spy

    for kind in (FourierMap, RBFLandmarks, PBLandmarks):
        monkeypatch.setattr(kind, "transform", spied(kind.transform, 1))
    monkeypatch.setattr(methods, "landmark_similarities", spied(methods.landmark_similarities))
    return counts, runner._method_rows(cell_of(name, width), bench, METHODS[name])


@pytest.mark.parametrize(
    ("name", "width", "expected"),
    [
        ("RFF", 10, {"train": 1, "valid": 1, "test": 1}),
        ("PBRFF", 10, {"train": 7, "valid": 7, "test": 1}),
        ("OKRFF distinct", 2, {"train": 5, "valid": 5, "test": 1}),
        ("RBF-R", 5, {"train": 1, "valid": 1, "test": 1}),
        # Five widths, whose seven temperatures share their cosines.
        ("PB-R", 5, {"train and valid": 5, "test": 1}),
        # Three rows of Table 1.
        ("PB-C", 10, {"train and valid": 5, "test": 3}),
    ],
)
def test_no_map_is_computed_twice(monkeypatch, bench, name, width, expected):
    """Ten values of C share one map, and losers never see the test part."""
    counts, rows = count_maps(monkeypatch, bench, name, width)
    assert counts == expected
    assert len(rows) == expected["test"]


@pytest.mark.parametrize(("name", "width"), [("RFF", 5), ("PBRFF", 5), ("PB-R", 10)])
def test_another_test_part_changes_nothing_but_the_test(bench, name, width):
    parts = bench.parts
    other = with_test_part(bench, parts.X_test[::-1] * 0.5, parts.y_test)
    cell = cell_of(name, width)
    ours, theirs = (runner._method_rows(cell, each, METHODS[name]) for each in (bench, other))
    assert ours.keys() == theirs.keys()
    for row in ours:
        differing = {key for key in ours[row] if ours[row][key] != theirs[row][key]}
        assert "test_errors" in differing
        assert differing <= {"test_errors", "test_loss"}


def test_a_certificate_pays_for_the_bandwidths(bench):
    """One of ten bandwidths was chosen: each holds at a tenth of epsilon."""
    first = next(METHODS["PBRFF"].settings(bench, PROFILES["quick"], 5))
    model = fitted_posterior(bench, PBRFF).redraw(
        n_frequencies=5, draw="replacement", **first.parameters
    )
    certified = first.certify()
    assert certified["certificate"] == model.certificate(EPSILON / 10).value
    assert certified["certificate"] > model.certificate(EPSILON).value
    assert certified["train_loss"] == model.certificate().empirical_loss


def test_a_landmark_certificate_pays_for_the_frequencies_too(bench):
    """Ten bandwidths times five D are fifty priors, one of them chosen."""
    first = next(METHODS["PB-R"].settings(bench, PROFILES["quick"], 5))
    model = first.map_test.func.__self__
    assert first.certify()["certificate"] == model.certificate(EPSILON / 50).value


def test_centroids_have_no_certificate(bench):
    rows = runner._method_rows(cell_of("PB-C", 5), bench, METHODS["PB-C"])
    assert "certificate" not in rows["PB-C"]
    rows = runner._method_rows(cell_of("PB-R", 5), bench, METHODS["PB-R"])
    assert rows["PB-R"]["train_loss"] < rows["PB-R"]["certificate"] < 1


def test_default_rows_share_one_fit_and_need_no_bandwidth(bench):
    names = ("PBRFF default", "PBRFF complementary", "RFF median", "GibbsRFF")
    other = Bench(bench.dataset, bench.split, bench.parts, 100 * bench.gamma)
    for name in names:
        ours, theirs = (
            next(METHODS[name].settings(each, PROFILES["quick"], 5)) for each in (bench, other)
        )
        np.testing.assert_array_equal(ours.train, theirs.train)
        assert ours.train.shape == (len(bench.parts.y_train), 10)
    learned, together = (
        next(METHODS[name].settings(bench, PROFILES["quick"], 5)) for name in names[:2]
    )
    assert not np.array_equal(learned.train, together.train)
    assert len([key for key in bench._fitted if "draw='complementary'" in key]) == 1


def test_both_posteriors_have_the_same_candidate_frequencies(bench):
    for name in ("PBRFF", "OKRFF distinct"):
        next(METHODS[name].settings(bench, PROFILES["quick"], 5))
    pools = [fitted_posterior(bench, kind).pool_ for kind in (PBRFF, OKRFF)]
    assert pools[0] == pools[1]
    assert len(pools[0]) == N_CANDIDATES


def test_the_radius_is_counted_as_in_the_paper(bench):
    """rho = r N bounds the squared distance of Q from the uniform weights by r."""
    found = list(METHODS["OKRFF"].settings(bench, PROFILES["quick"], 5))
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
    (prior,) = METHODS[f"RBF-{suffix}"].settings(bench, PROFILES["quick"], width)
    assert prior.train.shape == (340, count)
    learned = next(METHODS[f"PB-{suffix}"].settings(bench, PROFILES["quick"], width))
    assert learned.train.shape == (340, count)
    landmarks = methods._rbf_landmarks(bench, width, kind).landmarks_
    np.testing.assert_array_equal(learned.map_test.func.__self__.landmarks_, landmarks)


@pytest.mark.parametrize("name", ["PB-R", "PB-C"])
def test_similarities_of_all_temperatures_at_once_are_those_of_each_map(bench, name):
    """Samples are rounded to single precision: a phase moves by eps |omega| |x|, and the cosine."""
    parts = bench.parts
    found = list(METHODS[name].settings(bench, PROFILES["quick"], 1))
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


def test_a_small_memory_changes_no_similarity(bench, monkeypatch):
    """One temperature at a time, where the stack of all would not fit."""
    settings_of = partial(METHODS["PB-R"].settings, bench, PROFILES["quick"], 1)
    at_once = [each.valid for each in settings_of()]
    monkeypatch.setattr(methods, "LARGEST_STACK", 1)
    np.testing.assert_array_equal([each.valid for each in settings_of()], at_once)


def test_nystroem_has_as_many_columns_as_fourier_features(bench):
    for name in ("Nystroem uniform", "Nystroem k-means"):
        (few,) = METHODS[name].settings(bench, PROFILES["quick"], 10)
        assert few.train.shape[1] == 20
    # No more columns than samples.
    (many,) = METHODS["Nystroem uniform"].settings(bench, PROFILES["quick"], 500)
    assert many.train.shape[1] == 340


def test_repeated_rows_have_no_certificate(bench):
    """As on ads and farm; a certificate is not declared for data whose origin is unclear."""
    parts = bench.parts
    X, y = (
        np.vstack([parts.X_train, parts.X_train[:20]]),
        np.append(parts.y_train, parts.y_train[:20]),
    )
    repeated = Bench("breast", 0, parts._replace(X_train=X, y_train=y), bench.gamma)
    for each, is_certified in ((bench, True), (repeated, False)):
        model = PBRFF(5, n_candidates=50, gamma=bench.gamma, target_type="binary", random_state=0)
        model.fit(each.parts.X_train, each.parts.y_train)
        landmarks = PBLandmarks("random", n_landmarks=5, gamma=bench.gamma, random_state=0)
        landmarks.fit(each.parts.X_train, each.parts.y_train)
        assert ("certificate" in methods.fourier_certificate(each, model)) == is_certified
        assert ("certificate" in methods._landmark_certificate(landmarks, 0.05)) == is_certified
