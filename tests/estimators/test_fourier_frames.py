"""Predictors on data frames with categories, text, dates and gaps."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.model_selection import cross_val_score

from pacfourier import FourierClassifier, FourierRegressor
from pacfourier.data.holdout import Kinship
from pacfourier.estimators.base import drawn_seed
from pacfourier.estimators.frames import check_no_text, fitted_encoder, needs_encoding, taken

N = 240
QUICK = {"alpha": 3.0, "piecewise": False, "random_state": 0}
CLASSIFIER, REGRESSOR = FourierClassifier(6, **QUICK), FourierRegressor(6, **QUICK)


def days(rng):
    return pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, N), unit="D")


@pytest.fixture
def frame(rng):
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, N),
            "income": np.where(rng.random(N) < 0.2, np.nan, rng.lognormal(10, 1, N)),
            "colour": rng.choice(["red", "green", "blue"], N),
            "city": pd.Categorical(rng.choice(["Bern", "Kyoto", "Quito"], N)),
            "remark": [f"ticket {k} of {'xyz'[k % 3] * 4}" for k in rng.integers(0, 90, N)],
            "since": days(rng),
            "until": days(rng).strftime("%d/%m/%Y"),
            "member": pd.array(rng.choice([True, False, None], N), dtype="boolean"),
            "count": pd.array(rng.choice([1, 2, None], N), dtype="Int64"),
            "price": rng.choice(["1.5", "2.5", "N/A"], N),
            "wait": pd.to_timedelta(rng.integers(0, 90, N), unit="h"),
            "none": [None] * N,
        }
    )
    table.loc[::7, ["colour", "city", "since", "remark"]] = None
    return table


@pytest.fixture
def small(frame):
    return frame[["age", "income", "colour", "city"]]


@pytest.fixture
def y(frame):
    return np.where((frame["colour"] == "red") | (frame["age"] > 60), "yes", "no")


def parts(model):
    return [model.frequencies_, model.cosines_, model.sines_, model.linear_, model.intercept_]


def test_a_frame_goes_in_as_it_is(frame, y):
    model = clone(CLASSIFIER).fit(frame[::2], y[::2])
    assert model.score(frame[1::2], y[1::2]) > 0.85
    assert model.n_features_in_ == frame.shape[1]
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
    assert model.linear_.shape[0] == len(model._encoder.sources)
    assert np.isfinite(model.predict_proba(frame)).all()


def test_amounts_are_learned_from_frames(frame):
    amounts = frame["age"] + 40 * (frame["colour"] == "red")
    model = clone(REGRESSOR).set_params(certify=0.3).fit(frame, amounts)
    assert model.score(frame, amounts) > 0.9
    assert model.certificate_.half_width(0.9) > 0


def test_encoded_columns_know_their_source(frame):
    encoder = fitted_encoder(frame)
    rows = encoder.encoded(frame)
    assert rows.shape == (N, len(encoder.sources))
    assert set(encoder.sources) == set(range(frame.shape[1])) - {frame.columns.get_loc("none")}
    for name, size in {
        "age": 1,
        "income": 2,
        "colour": 4,
        "city": 4,
        "count": 2,
        "price": 2,
    }.items():
        assert (encoder.sources == frame.columns.get_loc(name)).sum() == size, name
    np.testing.assert_array_equal(rows[:, 0], frame["age"])
    colours = rows[:, encoder.sources == frame.columns.get_loc("colour")]
    np.testing.assert_array_equal(colours.sum(axis=1), 1)


def test_gaps_are_filled_by_the_median_and_marked():
    frame = pd.DataFrame({"a": [1.0, np.nan, 5.0, 2.0], "b": [0.5, 0.25, 1.0, 4.0]})
    encoder = fitted_encoder(frame)
    expected = [[1, 0.5, 0], [2, 0.25, 1], [5, 1, 0], [2, 4, 0]]
    np.testing.assert_array_equal(encoder.encoded(frame), expected)
    assert encoder.vectorizer is None
    # A gap where the fit had none is filled too, without a mark.
    later = pd.DataFrame({"a": [np.nan], "b": [np.nan]})
    np.testing.assert_array_equal(encoder.encoded(later), [[2, 0.75, 1]])


def test_rows_held_out_have_no_part_in_what_is_learned(frame, y, rng):
    """The certificate is about a predictor that is independent of these rows.

    Whatever stands in them, the same model comes out, bit by bit.
    """
    model = clone(CLASSIFIER).set_params(certify=0.3)
    held_out = clone(model)._read(frame, y, None, Kinship(), drawn_seed(0)).held_out
    assert len(held_out) == np.ceil(0.3 * N)
    other = frame.copy()
    other["city"] = other["city"].cat.add_categories(["Oslo"])
    rows = frame.index[held_out]
    other.loc[rows, "age"] = 500
    other.loc[rows, "income"] = rng.permutation([np.nan, 1e6] * (len(rows) // 2))
    other.loc[rows, ["colour", "city", "price", "until"]] = ["pink", "Oslo", "dear", "never"]
    other.loc[rows, "remark"] = "quite another text"
    other.loc[rows, ["since", "wait", "member", "count"]] = None
    other.loc[rows, "none"] = "some"
    learned = [clone(model).fit(each, y) for each in (frame, other)]
    for first, second in zip(*map(parts, learned), strict=True):
        np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(*(each.predict_proba(frame) for each in learned))
    observed = [each.certificate_.observed_error for each in learned]
    assert observed[1] > observed[0]
    # Without a certificate the same rows are learned from.
    assert not np.array_equal(parts(clone(CLASSIFIER).fit(other, y))[3], parts(learned[0])[3])


def test_a_gap_in_a_row_held_out_changes_nothing(rng):
    """Numbers are the same with and without an encoder, so its presence tells nothing."""
    frame = pd.DataFrame(rng.standard_normal((100, 3)), columns=list("abc"))
    y = frame["a"] > 0
    model = clone(CLASSIFIER).set_params(certify=0.4)
    held_out = clone(model)._read(frame, y, None, Kinship(), drawn_seed(0)).held_out
    other = frame.copy()
    other.iloc[held_out[0], 0] = np.nan
    plain, encoded = clone(model).fit(frame, y), clone(model).fit(other, y)
    assert plain._encoder is None
    assert encoded._encoder is not None
    for first, second in zip(parts(plain), parts(encoded), strict=True):
        np.testing.assert_array_equal(first, second)


def test_the_certificate_is_that_of_the_rows_held_out(small, y):
    model = clone(CLASSIFIER).set_params(certify=0.3, duplicates="genuine").fit(small, y)
    held_out = clone(model)._read(small, y, None, Kinship(), drawn_seed(0)).held_out
    error = 1 - model.score(taken(small, held_out), y[held_out])
    assert model.certificate_.observed_error == pytest.approx(error)
    assert model.certificate_.error > error


def test_copies_of_rows_are_found_in_frames(small, y):
    doubled = pd.concat([small, small], ignore_index=True)
    model = clone(CLASSIFIER).set_params(certify=0.5).fit(doubled, np.tile(y, 2))
    with pytest.raises(ValueError, match="repeat"):
        _ = model.certificate_.error


def test_new_categories_and_values_are_no_error(frame, y):
    model = clone(CLASSIFIER).fit(frame, y)
    new = frame.assign(
        colour="violet",
        city=pd.Categorical(["Oslo"] * N),
        remark=None,
        until="never",
        price="dear",
        since=pd.NaT,
        age=np.nan,
    )
    assert np.isfinite(model.decision_function(new)).all()
    known = frame.assign(colour="red")
    assert not np.allclose(
        model.decision_function(known), model.decision_function(known.assign(colour="violet"))
    )


def test_a_fit_is_the_same_every_time(frame, y):
    first, second = (clone(CLASSIFIER).fit(frame, y).predict_proba(frame) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_plain_numbers_keep_the_plain_path(rng):
    X = rng.standard_normal((80, 3)).astype(np.float32)
    frame, y = pd.DataFrame(X, columns=list("abc")).assign(d=True, e=3), X[:, 0] > 0
    assert not needs_encoding(frame)
    assert not needs_encoding(frame.convert_dtypes())
    model = clone(CLASSIFIER).set_params(certify=0.4).fit(frame, y)
    assert model._encoder is None
    np.testing.assert_array_equal(model.feature_names_in_, list("abcde"))
    bare = clone(model).fit(frame.to_numpy(dtype=np.float64), y)
    np.testing.assert_allclose(
        model.predict_proba(frame), bare.predict_proba(frame.to_numpy(float))
    )


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (np.array([[np.nan]]), False),
        (np.array([["a"]], dtype=object), False),
        (pd.Series([1.0, np.nan]), False),
        (pd.DataFrame({"a": [1, 2]}), False),
        (pd.DataFrame({"a": [1.0, np.nan]}), True),
        (pd.DataFrame({"a": [True, False]}), False),
        (pd.DataFrame({"a": ["1", "2"]}), True),
        (pd.DataFrame({"a": pd.Categorical([1, 2])}), True),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), True),
        (pd.DataFrame({"a": pd.array([1, 2], dtype="Int64")}), False),
        (pd.DataFrame({"a": pd.to_datetime(["2024-01-01"])}), True),
    ],
)
def test_which_tables_are_encoded(X, expected):
    assert needs_encoding(X) is expected


def test_an_earlier_encoding_is_forgotten(small, y):
    model = clone(CLASSIFIER).fit(small, y)
    X = np.column_stack([small["age"], np.arange(N)])
    model.fit(X, y)
    assert model.predict(X).shape == (N,)


def test_other_columns_are_refused_as_scikit_learn_does(small, y):
    model = clone(CLASSIFIER).fit(small, y)
    with pytest.raises(ValueError, match="feature names should match those"):
        model.predict(small.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="feature names should match those"):
        model.predict(small.drop(columns="age"))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(small[small.columns[::-1]])
    with pytest.raises(ValueError, match="X must be a data frame, as in fit, got ndarray"):
        model.predict(small.to_numpy())
    with pytest.raises(ValueError, match="column 'age' must hold numbers, as in fit"):
        model.predict(small.assign(age="old"))


def test_columns_need_no_names_of_their_own(small, y):
    bare = small.set_axis(range(small.shape[1]), axis=1).set_index(np.zeros(N))
    model = clone(CLASSIFIER).fit(bare, y)
    assert not hasattr(model, "feature_names_in_")
    named = clone(CLASSIFIER).fit(small, y)
    np.testing.assert_array_equal(model.predict_proba(bare), named.predict_proba(small))
    with pytest.raises(ValueError, match="X has 3 features, but FourierClassifier is expecting 4"):
        model.predict(bare.iloc[:, 1:])


@pytest.mark.parametrize("kind", [list, pd.Series, pd.Categorical, pd.array])
def test_labels_of_any_kind(small, y, kind):
    labels = pd.Series(y, index=small.index[::-1]) if kind is pd.Series else kind(y)
    model = clone(CLASSIFIER).fit(small, labels)
    assert list(model.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(model.predict(small), clone(model).fit(small, y).predict(small))


def test_rows_of_weight_zero_are_left_out(small, y):
    weights = np.resize([1.0, 0.0, 2.0], N)
    kept = weights > 0
    first = clone(CLASSIFIER).fit(small, y, sample_weight=weights)
    second = clone(CLASSIFIER).fit(small[kept], y[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(first.predict_proba(small), second.predict_proba(small))
    unweighted = clone(CLASSIFIER).fit(small[kept], y[kept])
    assert not np.array_equal(first.predict_proba(small), unweighted.predict_proba(small))


def test_bad_labels_and_lengths_are_refused(small, y):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clone(CLASSIFIER).fit(small, y[1:])
    with pytest.raises(ValueError, match="requires y to be passed"):
        clone(CLASSIFIER).fit(small, None)
    with pytest.raises(ValueError, match="no missing labels"):
        clone(CLASSIFIER).fit(small, small["colour"])
    with pytest.raises(ValueError, match="X must have at least 2 rows, got 1"):
        clone(REGRESSOR).fit(small[:1], [1.0])
    with pytest.raises(ValueError, match="infinity"):
        clone(CLASSIFIER).fit(small.assign(age=np.inf), y)


@pytest.mark.parametrize("X", [np.array([["a", 1.0]] * 9, dtype=object), [["a", "b"]] * 9])
def test_arrays_of_text_are_refused(X):
    with pytest.raises(ValueError, match=r"array with text .*'a'.*: pass a data frame, such as"):
        clone(REGRESSOR).fit(X, np.arange(9))
    numbers = np.arange(18.0).reshape(9, 2)
    with pytest.raises(ValueError, match="pass a data frame"):
        clone(REGRESSOR).fit(numbers, np.arange(9)).predict(X)


def test_arrays_of_objects_that_are_numbers_are_read():
    numbers = np.arange(18.0).reshape(9, 2)
    first, second = (
        clone(REGRESSOR).fit(X, np.arange(9)).predict(numbers)
        for X in (numbers, numbers.astype(object))
    )
    np.testing.assert_array_equal(first, second)
    check_no_text(np.array([[{"a": 1}]]))


def test_tools_of_scikit_learn_work_on_frames(small, y):
    frame = small[["age", "colour", "city"]]
    assert cross_val_score(CLASSIFIER, frame, y, cv=2).mean() > 0.85
    model = clone(CLASSIFIER).fit(frame, y)
    found = permutation_importance(model, frame, y, n_repeats=2, random_state=0)
    assert found.importances_mean[:2].min() > found.importances_mean[2]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


def test_polars_frames_are_read(frame, y):
    polars = pytest.importorskip("polars")
    names = ["age", "income", "colour", "remark", "price"]
    table = polars.DataFrame({name: frame[name].tolist() for name in names}, strict=False)
    model = clone(CLASSIFIER).set_params(certify=0.3).fit(table, polars.Series(y))
    assert model.score(table, y) > 0.85
    assert list(model.feature_names_in_) == names
    assert not needs_encoding(table[["age"]])


def test_without_skrub_gaps_are_filled_and_text_says_what_to_install():
    code = """
import sys
sys.modules["skrub"] = None
import numpy as np, pandas as pd
from pacfourier import FourierRegressor
frame, y = pd.DataFrame({"a": [1.0, np.nan, 3.0] * 5}), np.arange(15.0)
assert FourierRegressor(2, alpha=1.0, piecewise=False).fit(frame, y).predict(frame).shape == (15,)
FourierRegressor(2).fit(frame.assign(b="x"), y)
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.stderr.splitlines()[-1].endswith(
        'MissingExtraError: skrub is not installed: pip install "pacfourier[tables]"'
    )


def test_the_encoder_agrees_with_a_naive_one(rng):
    """One column at a time: median and mark for numbers, zeros and ones for categories."""
    numbers = np.where(rng.random((50, 2)) < 0.3, np.nan, rng.standard_normal((50, 2)))
    kinds = rng.choice(["a", "b", "c"], 50)
    frame = pd.DataFrame({"u": numbers[:, 0], "kind": kinds, "v": numbers[:, 1]})
    found = fitted_encoder(frame)
    filled = SimpleImputer(strategy="median").fit_transform(numbers)
    marks = np.isnan(numbers)
    expected = np.column_stack([filled, *(kinds == each for each in "abc"), marks])
    np.testing.assert_array_equal(found.encoded(frame), expected)
    np.testing.assert_array_equal(found.sources, [0, 2, 1, 1, 1, 0, 2])
