import numpy as np
import pytest
from scipy import sparse

from pacfourier import PBLandmarks, RBFLandmarks
from pacfourier.plots import SimilarityDisplay


def test_similarity_display_draws_what_the_estimator_says(sample):
    X, y = sample
    learned = PBLandmarks("random", n_landmarks=3, gamma=0.3, random_state=0).fit(X, y)
    display = SimilarityDisplay.from_estimator(learned, X, y, landmark=1, n_grid=15)
    points = np.column_stack([display.grid_x.ravel(), display.grid_y.ravel()])
    np.testing.assert_allclose(display.similarity.ravel(), learned.similarity(points, 1))
    np.testing.assert_array_equal(display.landmark, learned.landmarks_[1])
    assert len(display.ax_.collections) > 2
    kernel = RBFLandmarks("random", n_landmarks=3, gamma=0.3, random_state=0).fit(X, y)
    display = SimilarityDisplay.from_estimator(kernel, X, y, landmark=1, n_grid=15)
    np.testing.assert_allclose(display.similarity.ravel(), kernel.transform(points)[:, 1])


def test_displays_take_what_estimators_take(sample):
    X, y = sample
    model = PBLandmarks("random", n_landmarks=3, gamma=0.3, random_state=0)
    model.fit(sparse.csr_array(X), y.astype(str))
    display = SimilarityDisplay.from_estimator(model, X.tolist(), y.astype(str).tolist(), n_grid=9)
    assert sum(len(item.get_offsets()) == 30 for item in display.ax_.collections) == 2


def test_only_planes_are_drawn(rng):
    X, y = rng.standard_normal((20, 3)), np.resize([0, 1], 20)
    model = PBLandmarks("random", n_landmarks=3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="two columns to be drawn, got 3"):
        SimilarityDisplay.from_estimator(model, X, y)
