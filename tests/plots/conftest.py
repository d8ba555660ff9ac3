import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from pacfourier import FourierClassifier

mpl.use("agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def sample(rng):
    y = np.resize([0, 1], 60)
    return rng.standard_normal((60, 2)) + 2 * y[:, np.newaxis], y


@pytest.fixture
def table(rng):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("skrub")
    n = 90
    frame = pd.DataFrame(
        {
            "size": rng.standard_normal(n),
            "kind": pd.Categorical(np.resize(["oak", "oak", "elm", "fir"], n)),
            "count": rng.integers(0, 4, n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D"),
            "old": rng.random(n) < 0.5,
        }
    )
    frame.loc[:4, "kind"] = None
    frame.loc[3:6, ["size", "day"]] = None
    return frame


@pytest.fixture
def model(table):
    y = np.where(table["kind"] == "oak", "high", "low")
    return FourierClassifier(4, alpha=3.0, piecewise=False, random_state=0).fit(table, y)
