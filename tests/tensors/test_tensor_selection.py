"""Centroids of tensors against those of scikit-learn, and landmarks near them."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

torch = pytest.importorskip("torch")

from pacfourier import PBLandmarks, RBFLandmarks  # noqa: E402
from pacfourier.arrays import host  # noqa: E402
from pacfourier.tensors import selection  # noqa: E402

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def inertia(X, centroids):
    """Return the sum of squared distances to the nearest centroid."""
    squares = np.square(X[:, np.newaxis] - host(centroids)).sum(axis=2)
    return squares.min(axis=1).sum()


def test_clusters_far_apart_are_found(device):
    X, _, centers = make_blobs(
        400, 5, centers=8, cluster_std=0.1, random_state=0, return_centers=True
    )
    found = host(selection._tensor_centroids(torch.as_tensor(1e4 + X, device=device), 8, 0)) - 1e4
    owners = np.square(found[:, np.newaxis] - centers).sum(axis=2).argmin(axis=1)
    assert sorted(owners) == list(range(8))
    # Means of 50 samples: five standard errors of a coordinate.
    np.testing.assert_allclose(found, centers[owners], atol=5 * 0.1 / np.sqrt(50))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 2, 20])
def test_they_are_as_tight_as_those_of_scikit_learn(count, dtype, device, rng):
    X = rng.standard_normal((500, 6)).astype(dtype)
    tensor = torch.as_tensor(X, device=device)
    ours = [inertia(X, selection._tensor_centroids(tensor, count, seed)) for seed in range(10)]
    theirs = [KMeans(count, n_init=1, random_state=seed).fit(X).inertia_ for seed in range(10)]
    assert np.mean(ours) <= np.mean(theirs) + 5 * np.hypot(np.std(ours), np.std(theirs)) / 3 + 1e-3


def test_a_round_never_loosens_them(device, rng):
    """Lloyd's algorithm descends: both of its steps minimise the same sum of squares."""
    X = torch.as_tensor(rng.standard_normal((300, 4)), device=device)
    centroids, before = X[:15], np.inf
    for _ in range(10):
        after = inertia(host(X), centroids)
        assert after <= before * (1 + 1e-12)
        before = after
        centroids = selection._cluster_means(X, selection._nearest(X, centroids), centroids)


def test_blocks_change_nothing(monkeypatch, device, rng):
    X = torch.as_tensor(rng.standard_normal((300, 4)), device=device)
    whole = selection._tensor_centroids(X, 7, 0)
    blocks = [slice(start, start + 50) for start in range(0, 300, 50)]
    monkeypatch.setattr(selection, "row_blocks", lambda *_: blocks)
    parts = selection._tensor_centroids(X, 7, 0)
    np.testing.assert_allclose(host(parts), host(whole), rtol=1e-12)


def test_fewer_different_samples_than_clusters(device):
    X = torch.as_tensor(np.repeat(np.eye(3), 10, axis=0), device=device)
    found = host(selection._tensor_centroids(X, 5, 0))
    assert np.isfinite(found).all()
    assert inertia(host(X), found) < 1e-20


@pytest.mark.parametrize("kind", [PBLandmarks, RBFLandmarks])
@pytest.mark.parametrize("landmarks", ["medoids", "kmeans"])
def test_landmarks_of_tensors(kind, landmarks, device):
    """If blobs are far apart, each has one landmark, as for the array."""
    X, y = make_blobs(200, 3, centers=6, cluster_std=0.1, random_state=3)
    y = y % 2
    tensor = torch.as_tensor(X, device=device)
    model = kind(landmarks, n_landmarks=6, random_state=0).fit(tensor, y)
    expected = kind(landmarks, n_landmarks=6, random_state=0).fit(X, y)
    order, expected_order = (np.lexsort(each.landmarks_.T) for each in (model, expected))
    np.testing.assert_allclose(
        model.landmarks_[order], expected.landmarks_[expected_order], rtol=1e-9
    )
    if landmarks == "medoids":
        np.testing.assert_array_equal(model.landmarks_, X[model.landmark_indices_])
    features = model.transform(tensor)
    assert features.device.type == device
    assert features.shape == (200, 6)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e4])
def test_medoids_of_samples_far_from_zero(offset, device, rng):
    """In single precision, distances between uncentred samples would be rounding errors."""
    X = (rng.standard_normal((500, 5)) + offset).astype(np.float32)
    points = X[:20] + np.float32(0.01)
    found = selection._tensor_nearest(
        torch.as_tensor(points, device=device), torch.as_tensor(X, device=device)
    )
    squares = np.square(points[:, np.newaxis].astype(float) - X).sum(axis=2)
    np.testing.assert_array_equal(found, squares.argmin(axis=1))
