"""Tensors give the results of arrays, on the device that holds them."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch")

from pacfourier import (  # noqa: E402
    OKRFF,
    PBRFF,
    RFF,
    BoostedRFF,
    GibbsRFF,
    PBLandmarks,
    RBFLandmarks,
    alignment_losses,
    fit_batches,
)
from pacfourier.core.alignment.gradients import alignment_objective  # noqa: E402
from pacfourier.core.alignment.summary import row_fingerprints, sample_summary  # noqa: E402
from pacfourier.core.alignment.sums import alignment_sums  # noqa: E402
from pacfourier.core.alignment.targets import target_of  # noqa: E402
from pacfourier.core.boosting.cosine_model import (  # noqa: E402
    CosineModel,
    hinge_losses,
    model_gradient,
    model_scores,
    square_losses,
)
from pacfourier.core.boosting.scaling import scaled_columns  # noqa: E402
from pacfourier.core.prior.bandwidth import median_gamma, scale_moments  # noqa: E402
from pacfourier.tensors import phases, triton  # noqa: E402
from pacfourier.tensors.alignment.sums import _blocked_wave_sums  # noqa: E402

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()
DTYPES = [np.float32, np.float64]

LABELS = {
    "binary": lambda rng, n: rng.choice([-1, 1], n),
    "multiclass": lambda rng, n: rng.integers(0, 4, n),
    "multilabel": lambda rng, n: rng.integers(0, 2, (n, 3)),
    "continuous": lambda rng, n: rng.standard_normal((n, 2)),
}


@pytest.fixture(params=DEVICES)
def device(request):
    return torch.device(request.param)


def sample(n_samples=300, n_features=7, dtype=np.float64, target_type="multiclass"):
    rng = np.random.default_rng(n_samples + n_features)
    X = rng.standard_normal((n_samples, n_features)).astype(dtype)
    return X, LABELS[target_type](rng, n_samples)


def tensor(X, device):
    return torch.as_tensor(X, device=device)


def assert_beside(features, X):
    assert isinstance(features, torch.Tensor)
    assert features.device == X.device
    assert features.dtype == X.dtype


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_losses_are_those_of_arrays(device, dtype, labels, is_weighted, rng):
    X, y = sample(dtype=dtype, target_type=labels)
    weights = rng.uniform(0.5, 2, len(X)) if is_weighted else None
    frequencies = rng.standard_normal((50, 7)).astype(dtype)
    expected = alignment_losses(X, y, frequencies, sample_weight=weights, target_type=labels)
    found = alignment_losses(
        tensor(X, device),
        tensor(y, device),
        tensor(frequencies, device),
        sample_weight=None if weights is None else tensor(weights, device),
        target_type=labels,
    )
    assert_beside(found, tensor(X, device))
    # Losses are means of terms, which single precision gives to 1e-6.
    tolerance = 1e-12 if dtype == np.float64 else 1e-6
    np.testing.assert_allclose(found.cpu(), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("labels", LABELS)
def test_blocks_add_up(device, labels, monkeypatch, rng):
    X, y = sample(target_type=labels)
    target, frequencies = target_of(y, labels), rng.standard_normal((50, 7))
    expected = alignment_sums(X, y, target, frequencies, precision="double")
    monkeypatch.setattr(phases, "_LARGEST_BLOCK", 200)
    found = alignment_sums(tensor(X, device), y, target, frequencies, precision="double")
    for name in ("waves", "harmonics", "gram", "totals"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-10)
    assert found.n_samples == expected.n_samples


def test_large_phases_take_double_precision(device):
    """Single precision has no digits left for a phase of 1e6."""
    X, y = sample(dtype=np.float32)
    frequencies = np.full((3, 7), 1e6) * np.array([[1e-6], [1.0], [2.0]])
    expected = alignment_losses(X.astype(np.float64), y, frequencies)
    found = alignment_losses(tensor(X, device), y, tensor(frequencies, device))
    np.testing.assert_allclose(found.cpu(), expected, atol=1e-6)


@pytest.mark.parametrize(
    "estimator",
    [
        RFF(5, random_state=0),
        RFF(5, gamma="scale", random_state=0),
        PBRFF(5, n_candidates=200, random_state=0),
        PBRFF(5, n_candidates=200, gamma="median", random_state=0),
        OKRFF(5, n_candidates=200, random_state=0),
        GibbsRFF(5, n_particles=8, n_steps=4, random_state=0),
        RBFLandmarks("random", n_landmarks=5, random_state=0),
        RBFLandmarks("stratified", kernel="laplacian", n_landmarks=5, random_state=0),
        RBFLandmarks("random", gamma="multiscale", n_landmarks=5, random_state=0),
        RBFLandmarks("random", kernel="matern", n_landmarks=5, random_state=0),
        PBLandmarks("random", n_landmarks=5, random_state=0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_estimators_map_tensors_as_arrays(device, estimator, dtype):
    X, y = sample(dtype=dtype)
    expected = estimator.fit(X, y).transform(X)
    features = estimator.fit(tensor(X, device), tensor(y, device)).transform(tensor(X, device))
    assert_beside(features, tensor(X, device))
    np.testing.assert_allclose(features.cpu(), expected, atol=3e-5 if dtype == np.float32 else 1e-9)
    np.testing.assert_allclose(estimator.transform(X), expected, atol=3e-5)


def test_certificate_is_that_of_arrays(device):
    X, y = sample(target_type="binary")
    model = PBRFF(5, n_candidates=200, target_type="binary", gamma=0.1, random_state=0)
    expected = model.fit(X, y).certificate().value
    assert model.fit(tensor(X, device), tensor(y, device)).certificate().value == pytest.approx(
        expected, abs=1e-9
    )


def test_tensors_and_arrays_add_to_one_fit(device):
    X, y = sample()
    whole = PBRFF(5, n_candidates=200, precision="double", random_state=0).fit(X, y)
    parts = PBRFF(5, n_candidates=200, precision="double", random_state=0)
    parts.partial_fit(X[:100], y[:100], classes=np.unique(y))
    parts.partial_fit(tensor(X[100:], device), tensor(y[100:], device))
    np.testing.assert_allclose(parts.losses_, whole.losses_, atol=1e-12)
    np.testing.assert_array_equal(parts.kept_, whole.kept_)


def test_kernel_and_similarity_of_tensors(device):
    X, y = sample()
    model = PBRFF(5, n_candidates=200, random_state=0).fit(X, y)
    gram = model.kernel_matrix(tensor(X, device), tensor(X[:9], device))
    assert_beside(gram, tensor(X, device))
    np.testing.assert_allclose(gram.cpu(), model.kernel_matrix(X, X[:9]), atol=1e-12)
    landmarks = PBLandmarks("random", n_landmarks=5, random_state=0).fit(X, y)
    similarity = landmarks.similarity(tensor(X, device), 2)
    np.testing.assert_allclose(similarity.cpu(), landmarks.similarity(X, 2), atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_summaries_are_those_of_arrays(device, dtype):
    X, y = sample(dtype=dtype)
    X[:, 2], X[5], X[0, 0], X[3:5, 1] = np.arange(len(X)), X[9], -0.0, (1, -1)
    codes = target_of(y).encode(y)
    expected, found = sample_summary(X, codes), sample_summary(tensor(X, device), codes)
    np.testing.assert_array_equal(row_fingerprints(tensor(X, device)), row_fingerprints(X))
    for name in ("fingerprints", "counts", "first_labels", "last_labels", "n_samples"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_allclose(found.powers, expected.powers, rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_scaled_on_the_sample_are_noticed(device, dtype, rng):
    X = tensor(rng.gamma(2.0, size=(300, 9)).astype(dtype), device)
    codes = target_of(np.arange(300) % 2).encode(np.arange(300) % 2)
    assert sample_summary((X - X.mean(dim=0)) / X.std(dim=0), codes).is_standardised
    assert not sample_summary(X, codes).is_standardised


def test_bandwidths_are_those_of_arrays(device, rng):
    X = 1e6 + sample()[0]
    weights = rng.uniform(0.5, 2, len(X))
    moments = scale_moments(tensor(X, device), weights)
    np.testing.assert_allclose(moments, scale_moments(X, weights), rtol=1e-12)
    assert median_gamma(tensor(X, device)) == pytest.approx(median_gamma(X))


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_are_those_of_arrays(device, labels, precision, dtype, rng):
    X, y = sample(target_type=labels, dtype=dtype)
    target, frequencies = target_of(y, labels), rng.standard_normal((20, 7))
    options = {"balance": labels in ("binary", "multiclass"), "precision": precision}
    expected = alignment_objective(X, y, target, **options)(frequencies)
    found = alignment_objective(tensor(X, device), y, target, **options)(frequencies)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12 if precision == "double" else 3e-6)


@pytest.mark.parametrize("losses", [hinge_losses, square_losses])
def test_gradients_of_a_model_are_those_of_arrays(device, losses, monkeypatch, rng):
    X, _ = sample()
    labels = rng.choice([-1.0, 1.0], (len(X), 2))
    weights = rng.dirichlet(np.ones(len(X)))
    shapes = [(4, 7), (4, 2), (4, 2), (7, 2), (2,)]
    monkeypatch.setattr(phases, "_LARGEST_BLOCK", 400)
    for model in (
        CosineModel(*(rng.standard_normal(shape) for shape in shapes)),
        CosineModel.constant(7, np.array([0.3, -0.1])),
    ):
        expected = model_gradient(model, X, labels, losses, weights)
        found = model_gradient(model, tensor(X, device), labels, losses, weights)
        assert found[0] == pytest.approx(expected[0], abs=1e-10)
        np.testing.assert_allclose(found[1].packed(), expected[1].packed(), rtol=0, atol=1e-10)
        np.testing.assert_allclose(found[2], expected[2], rtol=0, atol=1e-10)
        scores = model_scores(tensor(X, device), model)
        np.testing.assert_allclose(scores.cpu(), model_scores(X, model), rtol=0, atol=1e-10)


@pytest.mark.parametrize("dtype", DTYPES)
def test_scaled_columns_are_those_of_arrays(device, dtype, monkeypatch, rng):
    X, _ = sample(dtype=dtype)
    X[:, 3] = 0.1
    copies = rng.uniform(0.5, 2, len(X))
    monkeypatch.setattr(phases, "_LARGEST_BLOCK", 700)
    expected, scales = scaled_columns(X, copies, np.float64)
    found, found_scales = scaled_columns(tensor(X, device), copies, np.float64)
    np.testing.assert_allclose(found_scales, scales, rtol=1e-12)
    np.testing.assert_allclose(found.cpu(), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_boosted_frequencies_are_those_of_arrays(device, labels, is_weighted, rng):
    """Steps amplify rounding: 1e-12 in a gradient becomes at most 1e-6 of a frequency."""
    X, y = sample(target_type=labels)
    weights = rng.integers(0, 3, len(X)) if is_weighted else None
    model = BoostedRFF(6, n_rounds=2, n_steps=5, target_type=labels, random_state=0)
    expected = model.fit(X, y, sample_weight=weights).frequencies_
    frequencies = model.fit(tensor(X, device), tensor(y, device), weights).frequencies_
    np.testing.assert_allclose(frequencies, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
    features = model.transform(tensor(X, device))
    assert_beside(features, tensor(X, device))
    np.testing.assert_allclose(features.cpu(), model.transform(X), rtol=0, atol=1e-10)


def test_boosting_large_tensors_takes_single_precision(device, monkeypatch):
    X, y = sample(target_type="binary")
    model = BoostedRFF(6, n_rounds=2, n_steps=3, random_state=0)
    expected = model.fit(X, y).frequencies_
    monkeypatch.setattr("pacfourier.estimators.boosted_rff.SMALL_WORK", 0)
    frequencies = model.fit(tensor(X, device), y).frequencies_
    np.testing.assert_allclose(frequencies, expected, rtol=0, atol=1e-2 * np.abs(expected).max())


def test_the_certificate_of_the_prior_is_that_of_arrays(device):
    X, y = sample(target_type="binary")
    model = RFF(20, gamma=0.1, random_state=0).fit(tensor(X, device))
    expected = model.certificate(X=X, y=y, target_type="binary")
    found = model.certificate(X=tensor(X, device), y=tensor(y, device), target_type="binary")
    assert found.value == pytest.approx(expected.value, abs=1e-12)
    assert found.rounding == expected.rounding == 0


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (torch.zeros(4), "Expected 2D array, got 1D tensor"),
        (torch.zeros((0, 3)), "0 sample"),
        (torch.zeros((4, 0)), "0 feature"),
        (torch.full((4, 3), torch.nan), "contains NaN or infinity"),
        (torch.zeros((4, 3), dtype=torch.complex64), "Complex data"),
        (torch.zeros((4, 3)).to_sparse(), "dense tensor"),
        (torch.zeros((4, 3), device="meta"), "on the CPU or on CUDA, got device 'meta'"),
        (torch.full((4, 3), -torch.inf), "contains NaN or infinity"),
    ],
)
def test_bad_tensors_raise_an_error(X, message):
    with pytest.raises(ValueError, match=message):
        PBRFF(2, n_candidates=10).fit(X, np.array([0, 1, 0, 1])[: len(X)])


def test_bad_labels_raise_an_error():
    X = torch.zeros((4, 3))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        PBRFF(2, n_candidates=10).fit(X, [0, 1])
    with pytest.raises(ValueError, match="requires y to be passed"):
        PBRFF(2, n_candidates=10).fit(X, None)
    with pytest.raises(ValueError, match="y must have one column of classes"):
        PBLandmarks("random").fit(X, torch.zeros((4, 2)))
    with pytest.raises(ValueError, match="alignment_losses requires y to be passed"):
        alignment_losses(X, None, X[:1])
    with pytest.raises(ValueError, match="must have data, got device 'meta'"):
        PBRFF(2, n_candidates=10).fit(X, torch.zeros(4, device="meta"))
    model = RFF(2).fit(torch.zeros((4, 3)))
    with pytest.raises(ValueError, match="3 features"):
        model.transform(torch.zeros((4, 2)))


def test_small_floats_and_integers_become_floats():
    y = np.array([0, 1, 0, 1])
    for dtype, expected in (
        (torch.float16, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.int64, torch.float64),
        (torch.bool, torch.float64),
    ):
        X = torch.arange(12).reshape(4, 3).to(dtype)
        assert RFF(2).fit(X, y).transform(X).dtype == expected


def test_an_invalid_tensor_does_not_change_the_estimator():
    model = RFF(2, random_state=0).fit(torch.ones((4, 3)))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(torch.full((4, 2), torch.nan))
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.int8, torch.bool])
def test_labels_and_weights_of_any_type(device, kind):
    X, y = sample(target_type="binary")
    y, weights = y > 0, np.ones(len(X))
    expected = PBRFF(5, n_candidates=50, random_state=0).fit(X, y).losses_
    found = PBRFF(5, n_candidates=50, random_state=0)
    found.fit(tensor(X, device), torch.as_tensor(y).to(kind), torch.as_tensor(weights).to(kind))
    np.testing.assert_allclose(found.losses_, expected, atol=1e-12)


def test_labels_may_be_columns_or_sparse():
    X, y = sample(target_type="multilabel")
    model = PBRFF(5, n_candidates=50, random_state=0)
    expected = model.fit(X, y).losses_
    found = model.fit(torch.as_tensor(X), sparse.csr_array(y)).losses_
    np.testing.assert_allclose(found, expected, atol=1e-12)
    with pytest.warns(UserWarning, match="column-vector y"):
        PBLandmarks("random", n_landmarks=3).fit(torch.as_tensor(X), torch.as_tensor(y[:, :1]))


@pytest.mark.parametrize("as_given", [np.ndarray.tolist, np.asarray, torch.as_tensor])
def test_frequencies_keep_their_digits_wherever_they_come_from(device, as_given, rng):
    X, y = sample()
    frequencies = rng.standard_normal((5, 7))
    frequencies.flags.writeable = as_given is not np.asarray
    found = alignment_losses(tensor(X, device), y, as_given(frequencies))
    assert_beside(found, tensor(X, device))
    np.testing.assert_allclose(found.cpu(), alignment_losses(X, y, frequencies), atol=1e-12)


def test_kernels_of_tensors_stay_in_one_place(device):
    X, y = sample()
    model = PBRFF(5, n_candidates=50, random_state=0).fit(X, y)
    for pair in ((tensor(X, device), X), (X, tensor(X, device))):
        with pytest.raises(ValueError, match="X and Y must"):
            model.kernel_matrix(*pair)
    gram = model.kernel_matrix(tensor(X, device).float(), tensor(X[:9], device))
    np.testing.assert_allclose(gram.cpu(), model.kernel_matrix(X, X[:9]), atol=1e-5)


@pytest.mark.parametrize("spectrum", ["rbf", "rational_quadratic"])
def test_similarities_keep_their_digits_far_from_zero(device, spectrum):
    """The squares of values near 3000 leave no digits for distances of one."""
    X, y = sample(dtype=np.float32)
    X = np.round(X, 2) + np.float32(3000)
    model = RBFLandmarks("random", kernel=spectrum, gamma=0.5, n_landmarks=40, random_state=0)
    expected = model.fit(X, y).transform(X.astype(np.float64))
    np.testing.assert_allclose(model.transform(tensor(X, device)).cpu(), expected, atol=1e-5)


def test_landmarks_may_be_tensors_or_come_from_sparse_samples(device):
    X, y = sample()
    points = tensor(X[:6], device).requires_grad_()
    expected = PBLandmarks((X[:6], y[:6]), random_state=0).fit(X, y).transform(X)
    for landmarks in (
        (points, tensor(y[:6], device)),
        lambda X, y, *_: (X[:6], y[:6]),
        lambda X, *_: torch.arange(6, device=X.device),
    ):
        model = PBLandmarks(landmarks, n_landmarks=6, random_state=0)
        found = model.fit(tensor(X, device), y).transform(tensor(X, device))
        np.testing.assert_allclose(found.cpu(), expected, atol=1e-10)
    model = RBFLandmarks("random", n_landmarks=5, random_state=0).fit(sparse.csr_array(X), y)
    found = model.transform(tensor(X, device))
    np.testing.assert_allclose(found.cpu(), model.transform(X), atol=1e-12)


@pytest.mark.parametrize("gamma", ["scale", "median"])
def test_batches_of_tensors_are_those_of_arrays(device, gamma):
    X, y = sample()
    model = PBRFF(5, n_candidates=50, gamma=gamma, precision="double", random_state=0)
    expected = model.fit(X, y).losses_
    weights = torch.ones(150, device=device)
    batches = [
        (tensor(X[:150], device), tensor(y[:150], device), weights),
        (tensor(X[150:], device), tensor(y[150:], device), weights),
    ]
    np.testing.assert_allclose(fit_batches(model, batches).losses_, expected, atol=1e-9)


@pytest.mark.parametrize(("setting", "unit"), [("high", 2**-11), ("medium", 2**-8)])
def test_coarse_products_widen_the_rounding(setting, unit, rng):
    X, y = sample()
    arguments = y, target_of(y), rng.standard_normal((5, 7))
    before = torch.get_float32_matmul_precision()
    expected = alignment_sums(torch.as_tensor(X), *arguments).rounding
    torch.set_float32_matmul_precision(setting)
    try:
        rounding = alignment_sums(torch.as_tensor(X), *arguments).rounding
    finally:
        torch.set_float32_matmul_precision(before)
    assert (rounding > expected + unit).all()


def test_the_newer_setting_of_products_is_read(monkeypatch):
    def refused():
        raise RuntimeError("mix of the legacy and new APIs")

    monkeypatch.setattr(torch, "get_float32_matmul_precision", refused)
    for kind, backend in (("cpu", "mkldnn"), ("cuda", "cuda")):
        setting = SimpleNamespace(matmul=SimpleNamespace(fp32_precision=f"of {kind}"))
        monkeypatch.setattr(torch.backends, backend, setting)
        assert phases.product_precision(torch.device(kind)) == f"of {kind}"


def test_a_tensor_that_needs_gradients_is_read():
    X = torch.ones((4, 3), requires_grad=True)
    assert not RFF(2).fit(X).transform(X).requires_grad


def test_codes_of_a_block_are_its_rows():
    weighted = sparse.csr_array(np.array([[1.0, 0], [0, 2], [3, 0]]))
    X = torch.zeros((3, 1), dtype=torch.float64)
    waves, harmonics = _blocked_wave_sums(X, weighted, X[:1], torch.float64)
    np.testing.assert_array_equal(waves, [[4], [2]])
    np.testing.assert_array_equal(harmonics, [3])


def test_missing_triton_warns_once(monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    triton.has_triton.cache_clear()
    with pytest.warns(RuntimeWarning, match="triton is not installed"):
        assert not triton.has_triton()
    assert not triton.has_triton()
    triton.has_triton.cache_clear()


def test_torch_is_not_imported_without_tensors():
    code = "import sys, pacfourier; raise SystemExit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
