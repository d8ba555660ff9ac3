import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.export.test_formula import HOSTILE, MODELS

from pacfourier import FourierClassifier, bounds, certify
from pacfourier.export import IntegerModel, integer_scores, quantised
from pacfourier.export.integers import COSINE_ONE, _packed_weights, _wave_values

INTEGERS = ("unsigned char", "int32_t")
SIZES = {"int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4}


def random_model(rng, shape, bits, *, is_extreme, has_classes):
    """Return integers of any shape. If extreme, all of them are as large as they may be."""
    n_waves, n_columns, n_scores = shape
    most = 2 ** (bits - 1) - 1
    weights = rng.integers(-most, most + 1, (n_waves, n_columns))
    # Amplitudes and intercepts at which a score can just not overflow.
    largest = min((2**31 - 1 - COSINE_ONE) // COSINE_ONE // (2 * n_waves), 2**15 - 1)
    amplitudes = rng.integers(-largest, largest + 1, (2, n_waves, n_scores))
    if is_extreme:
        weights, amplitudes = (
            np.sign(each) * m for each, m in ((weights, most), (amplitudes, largest))
        )
    weights[:, rng.random(n_columns) < 0.3] = 0
    return IntegerModel(
        bits,
        weights.astype(np.int8),
        rng.integers(0, 2**32, n_waves).astype(np.uint32),
        *amplitudes.astype(np.int16),
        rng.integers(-COSINE_ONE, COSINE_ONE, n_scores).astype(np.int32),
        (1e3 * rng.normal(size=0 if has_classes else n_scores)).astype(np.float32),
        2.0**-20,
        np.float32([-1.0]),
        np.float32([100.0]),
        tuple(range(max(n_scores, 2))) if has_classes else None,
        None,
    )


def compiled(program, model, names=()):
    kinds = INTEGERS if model.classes is not None else ("unsigned char", "float")
    text = model.to_c()
    if model.classes is None:
        # The driver asks for scores and predictions of one type: amounts are scores in float.
        text = text.replace("#endif", "#define model_scores(r, s) model_amounts(r, s)\n#endif")
        n_scores = len(model.intercepts)
        call = "model_predict(r, s)" if n_scores > 1 else "s[0] = model_predict(r)"
        text = text.replace(
            "#define model_scores(r",
            "static inline void model_amounts(const uint8_t r[], float s[]) { "
            + call
            + "; }\n#define model_scores(r",
        )
    return program(text, kinds, len(model.intercepts), model.classes, names)


# Each example is one compilation, and 10,000 rows.
@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    shape=st.tuples(st.integers(1, 40), st.integers(1, 90), st.sampled_from([1, 1, 2, 3, 10])),
    bits=st.sampled_from([4, 8]),
    is_extreme=st.booleans(),
    has_classes=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_c_equals_its_twin_bit_for_bit(program, shape, bits, is_extreme, has_classes, seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, shape, bits, is_extreme=is_extreme, has_classes=has_classes)
    rows = rng.integers(0, 256, (10_000, shape[1])).astype(np.uint8)
    rows[:2] = [[0], [255]]
    rows[2:2000] = rng.choice(np.uint8([0, 255]), (1998, shape[1]))
    scores, found = compiled(program, model)(rows)
    expected = integer_scores(rows, model)
    if has_classes:
        np.testing.assert_array_equal(scores, expected)
        best = expected[:, 0] > 0 if shape[2] == 1 else expected.argmax(axis=1)
        np.testing.assert_array_equal(found[:, 0], best)
    else:
        amounts = model.origins + expected.astype(np.float32) * np.float32(model.unit)
        np.testing.assert_array_equal(scores, amounts)
        np.testing.assert_array_equal(found, amounts)


def naive_score(row, model, k):
    """One score by plain integers and loops, as the module's equations say."""
    table = [round(COSINE_ONE * float(np.cos(2 * np.pi * i / 256))) for i in range(256)]

    def cosine(phase):
        i, r = divmod(phase % 2**16, 256)
        return (table[i] * (256 - r) + table[(i + 1) % 256] * r) // 256

    score = int(model.intercepts[k])
    for m in range(len(model.weights)):
        total = sum(int(w) * int(q) for w, q in zip(model.weights[m], row, strict=True))
        phase = total * int(model.multipliers[m]) % 2**32 // 2**16
        score += cosine(phase) * int(model.cosines[m, k])
        score += cosine(phase - 2**14) * int(model.sines[m, k])
    return score


@pytest.mark.parametrize("bits", [4, 8])
def test_the_twin_equals_plain_loops(bits):
    rng = np.random.default_rng(bits)
    model = random_model(rng, (9, 13, 3), bits, is_extreme=True, has_classes=True)
    rows = rng.integers(0, 256, (50, 13)).astype(np.uint8)
    naive = [[naive_score(row, model, k) for k in range(3)] for row in rows]
    np.testing.assert_array_equal(integer_scores(rows, model), naive)


def test_cosines_are_right_to_a_ten_thousandth():
    """Chords of a cosine at 256 points are off by (2 pi / 256)^2 / 8, and integers by 2 / 2^14."""
    phases = np.arange(2**16)
    exact = np.cos(2 * np.pi * phases / 2**16)
    bound = (2 * np.pi / 256) ** 2 / 8 + 2 / COSINE_ONE
    assert np.abs(_wave_values(phases) / COSINE_ONE - exact).max() < bound < 2e-4


@pytest.mark.parametrize("n_columns", [1, 2, 5])
def test_two_weights_of_four_bits_are_in_a_byte(n_columns):
    weights = np.random.default_rng(0).integers(-7, 8, (3, n_columns)).astype(np.int8)
    packed = _packed_weights(weights, 4)
    assert packed.shape == (3, (n_columns + 1) // 2)
    unpacked = np.stack([packed & 15, packed >> 4], axis=2).reshape(3, -1).astype(int) - 8
    np.testing.assert_array_equal(unpacked[:, :n_columns], weights)
    assert not unpacked[:, n_columns:].any()


@pytest.mark.parametrize("bits", [4, 8])
def test_bytes_are_those_of_the_tables_in_the_header(bits):
    rng = np.random.default_rng(0)
    model = random_model(rng, (5, 31, 2), bits, is_extreme=False, has_classes=True)
    tables = re.findall(r"static const (u?int\d+_t) \w+\[(\d+)\]", model.to_c())
    assert len(tables) == 7
    assert model.n_bytes == sum(SIZES[kind] * int(size) for kind, size in tables)


def test_the_header_turns_floats_into_the_same_bytes(program):
    model, X = MODELS["many classes"]()
    integers = quantised(model, X, model.predict(X))
    text = integers.to_c().replace(
        "#endif",
        "static inline void spread(const float v[], float s[]) { uint8_t r[MODEL_N_COLUMNS]; "
        "model_row(v, r); for (int j = 0; j < MODEL_N_COLUMNS; ++j) s[j] = r[j]; }\n"
        "#define model_scores(v, s) spread(v, s)\n"
        "#define model_predict(v, s) spread(v, s)\n"
        "#undef MODEL_N_SCORES\n#define MODEL_N_SCORES MODEL_N_COLUMNS\n#endif",
    )
    rng = np.random.default_rng(0)
    rows = rng.normal(X.mean(axis=0), 2 * X.std(axis=0), (10_000, X.shape[1])).astype(np.float32)
    rows[0], rows[1] = 3e38, -3e38
    found, _ = program(text, ("float", "float"), X.shape[1])(rows)
    np.testing.assert_array_equal(found, integers.rows(rows))
    assert {0, 255} <= set(found.ravel())


def test_a_fitted_model_and_hostile_names_survive(program):
    pd = pytest.importorskip("pandas")
    model, X = MODELS["two classes"]()
    y = np.where(model.predict(X) == 1, "".join(HOSTILE), "0123\n")
    frame = pd.DataFrame(np.hstack([X, X[:, :1]]), columns=list(HOSTILE))
    named = FourierClassifier(4, piecewise=False, alpha=1.0, random_state=0).fit(frame, y)
    integers = quantised(named, frame, y)
    run = compiled(program, integers, ("model_class_names", "model_column_names"))
    assert run.names() == [*named.classes_.tolist(), *HOSTILE]
    scores, found = run(integers.rows(frame))
    np.testing.assert_array_equal(scores, integers.scores(frame))
    np.testing.assert_array_equal(named.classes_[found[:, 0]], integers.predict(frame))


def test_a_score_in_its_unit_is_the_sum_of_waves():
    """Exact rational arithmetic: cosines are off by 2e-4 and phases by one in 2^16."""
    rng = np.random.default_rng(1)
    model = random_model(rng, (4, 6, 1), 8, is_extreme=False, has_classes=True)
    rows = rng.integers(0, 256, (20, 6)).astype(np.uint8)
    for row, score in zip(rows, integer_scores(rows, model)[:, 0], strict=True):
        exact, size = float(model.intercepts[0]), 0.0
        for weights, multiplier, a, b in zip(
            model.weights, model.multipliers, model.cosines, model.sines, strict=True
        ):
            turns = Fraction(int(weights.astype(int) @ row) * int(multiplier), 2**32) % 1
            angle = 2 * np.pi * float(turns)
            exact += COSINE_ONE * float(a[0] * np.cos(angle) + b[0] * np.sin(angle))
            size += COSINE_ONE * float(abs(int(a[0])) + abs(int(b[0])))
        assert abs(score - exact) < (2e-4 + 2 * np.pi / 2**16) * size


def test_rows_must_have_the_columns_and_be_finite():
    model = random_model(np.random.default_rng(0), (2, 3, 1), 8, is_extreme=False, has_classes=True)
    assert model.rows([[0.0, -2.0, 9.0]]).tolist() == [[100, 0, 255]]
    with pytest.raises(ValueError, match=r"must have 3 columns, got shape \(1, 2\)"):
        model.predict([[1.0, 2.0]])
    with pytest.raises(ValueError, match="must be finite"):
        model.predict([[1.0, 2.0, np.inf]])


def test_a_prefix_that_c_does_not_allow_is_refused():
    model = random_model(np.random.default_rng(0), (2, 3, 1), 8, is_extreme=False, has_classes=True)
    assert "abc_predict" in model.to_c(prefix="abc")
    with pytest.raises(ValueError, match="prefix must start with a letter"):
        model.to_c(prefix="a-b")


@pytest.mark.parametrize("name", ["two classes", "many classes"])
def test_integers_are_certified_like_any_classifier(name):
    model, X = MODELS[name]()
    y = model.predict(X)
    half = len(X) // 2
    integers = quantised(model, X[:half], y[:half])
    rows, labels = X[half:], y[half:]
    certificate = certify(integers, rows, labels, duplicates="genuine")
    n_errors = int((integers.predict(rows) != labels).sum())
    expected = bounds.holdout(n_errors=n_errors, n_samples=len(rows), epsilon=0.05)
    assert certificate.error == expected.value
    scores = integers.scores(rows).astype(float)
    ordered = np.sort(scores, axis=1)
    margins = np.abs(scores[:, 0]) if name == "two classes" else ordered[:, -1] - ordered[:, -2]
    np.testing.assert_array_equal(certificate.confidences.values, margins)


def test_integers_are_certified_like_any_regressor():
    model, X = MODELS["amount"]()
    y = model.predict(X)
    integers = quantised(model, X[:-99], y[:-99])
    certificate = certify(integers, X[-99:], y[-99:], duplicates="genuine")
    errors = np.sort(np.abs(integers.predict(X[-99:]) - y[-99:]))
    assert errors[79] <= certificate.half_width(0.8) <= errors[-1]
