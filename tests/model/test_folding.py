import numpy as np
import pytest

from pacfourier.core.boosting.columns import Columns
from pacfourier.core.boosting.cosine_model import CosineModel
from pacfourier.model.folding import _interpolation_table, folded_model


def test_tables_hold_the_sums_of_codes_at_the_knots(rng):
    weights = rng.standard_normal((4, 3))
    found = _interpolation_table(weights)
    for k in range(5):
        np.testing.assert_allclose(found[k], 2 * sum(weights[:k], np.zeros(3)), atol=1e-14)


@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e30, 1e-45, 1e45])
def test_weights_are_folded_in_double_and_rounded_once(rng, unit):
    """Weights that single precision cannot hold stay in double precision."""
    knots = {1: np.array([0.0, 1.0, 3.0]) * unit}
    columns = Columns(np.array([unit, 3 * unit]), knots, np.array([7.0, -2.0, 0.5, 0.5]))
    shapes = [(5, 4), (5, 2), (5, 2), (4, 2), 2]
    single = CosineModel(*(rng.standard_normal(shape).astype(np.float32) for shape in shapes))
    found, exact = (folded_model(each, columns) for each in (single, single.astype(np.float64)))
    for name in ("turns", "slopes", "tables"):
        np.testing.assert_allclose(getattr(found, name), getattr(exact, name), rtol=2.0**-24)
    X = rng.standard_normal((50, 2)) * unit + [7 * unit, -6 * unit]
    np.testing.assert_allclose(found.scores(X), exact.scores(X), rtol=0, atol=50 * 2.0**-24)
    if 1e-30 < unit < 1e31:
        assert found.arrays()["turns"].dtype == np.float32
