"""One long text among the labels or cells takes the memory of one long text.

An array of a fixed width has room for the longest text in every row: 480 MB for these rows.
"""

import tracemalloc

import numpy as np
import pytest

from pacfourier import FourierClassifier, RBFLandmarks, certify
from pacfourier.estimators.prediction_certificates import checked_labels, row_summary, summable
from pacfourier.export.rounding import quantised

N_ROWS, LONG = 600, "x" * 200_000
NAMES = [*["short", "other"] * (N_ROWS // 2 - 1), "short", LONG]
OBJECTS = np.array(NAMES, dtype=object)
X = np.random.default_rng(0).standard_normal((N_ROWS, 3))


def megabytes(call):
    """Return the most memory that a call takes."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def frame():
    """A table with the long text in a column of categories."""
    pandas = pytest.importorskip("pandas")
    columns = {"number": X[:, 0], "name": NAMES, "y": np.where(X[:, 1] > 0, "up", "down")}
    return pandas.DataFrame(columns)


def test_this_is_what_an_array_of_fixed_width_takes():
    assert megabytes(lambda: OBJECTS.astype(str)) > 400


@pytest.mark.parametrize("names", [NAMES, OBJECTS], ids=["list", "objects"])
def test_labels_of_certificates(names):
    found = []
    assert megabytes(lambda: found.append(checked_labels(names))) < 50
    assert found[0].tolist() == NAMES


def test_rows_of_texts():
    assert megabytes(lambda: summable(NAMES)) < 50
    assert megabytes(lambda: row_summary(frame(), np.arange(N_ROWS))) < 50


def test_a_classifier_and_its_certificate():
    model = FourierClassifier(5, certify=0.3, random_state=0)
    assert megabytes(lambda: model.fit(X, OBJECTS)) < 50
    assert megabytes(lambda: model.predict(X)) < 50
    assert megabytes(lambda: certify(model, X + 1, OBJECTS).recall) < 50
    integers = quantised(model, X, OBJECTS)
    assert megabytes(lambda: integers.predict(X)) < 50


def test_landmarks_of_the_long_class():
    model = RBFLandmarks("kmeans", n_landmarks=N_ROWS // 2, random_state=0)
    names = np.array([*["short"] * (N_ROWS // 2), *[LONG] * (N_ROWS // 2)], dtype=object)
    assert megabytes(lambda: model.fit(X, names)) < 50


def test_a_fit_of_a_table_and_its_report():
    pytest.importorskip("pyarrow")
    fitting = pytest.importorskip("pacfourier.tabular.fitting")
    from pacfourier.reports.tabular_report import fit_report
    from pacfourier.tabular.model import FitSettings

    table, fits = frame(), []
    settings = FitSettings(n_frequencies=5)
    assert megabytes(lambda: fits.append(fitting.fit_table(table, "y", settings))) < 50
    assert megabytes(lambda: fit_report(fits[0])) < 50
    assert megabytes(lambda: fits[0].model.predict(table)) < 50


def test_a_drawn_column():
    pytest.importorskip("matplotlib")
    from pacfourier.plots.grid_axis import grid_axis

    table = frame()
    assert megabytes(lambda: grid_axis(table, 1, 20)) < 50
