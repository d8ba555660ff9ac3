"""L-BFGS on a device makes the steps of SciPy."""

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

torch = pytest.importorskip("torch")

from pacfourier.core.boosting.cosine_model import MEMORY  # noqa: E402
from pacfourier.tensors.boosting.lbfgs import lbfgs  # noqa: E402

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()


def walls(x):
    """Return a sum of functions that are steep on one side, and their derivatives."""
    return float(np.sum(np.exp(3 * x) - 2 * x)), 3 * np.exp(3 * x) - 2


def waves(x):
    """Return a function with many minima, and its gradient."""
    return float(np.sum(x**2 / 20 + np.cos(2 * x))), x / 10 - 2 * np.sin(2 * x)


def bowl(x):
    """Return a quadratic function of very different curvatures, and its gradient."""
    curvatures = np.geomspace(1e-3, 1e3, len(x))
    return float(curvatures @ x**2 / 2), curvatures * x


FUNCTIONS = {
    "rosen": lambda x: (rosen(x), rosen_der(x)),
    "walls": walls,
    "waves": waves,
    "bowl": bowl,
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("n_steps", [1, 2, 5, 12, 200])
def test_the_steps_are_those_of_scipy(device, name, n_steps, rng):
    """Up to rounding, which 200 steps amplify: then both stop near a minimum.

    They stop when a step gains 2e-9, which the flattest direction of the bowl may do early.
    """
    function, start = FUNCTIONS[name], rng.standard_normal(12)

    def objective(vector):
        value, gradient = function(vector.cpu().numpy())
        # As an array, because torch reads a number of Python in single precision.
        value, gradient = (
            torch.tensor(np.asarray(each), device=device) for each in (value, gradient)
        )
        return value, gradient

    options = {"maxiter": n_steps, "maxcor": MEMORY}
    expected = minimize(function, start, jac=True, method="L-BFGS-B", options=options)
    found = lbfgs(objective, torch.as_tensor(start, device=device), n_steps).cpu().numpy()
    assert function(found)[0] < function(start)[0]
    if n_steps <= 12:
        np.testing.assert_allclose(found, expected.x, rtol=1e-6, atol=1e-7)
    else:
        assert function(found)[0] == pytest.approx(expected.fun, abs=1e-3)


def test_a_minimum_is_left_as_it_is():
    start = torch.zeros(3, dtype=torch.float64)
    found = lbfgs(lambda x: (x.square().sum(), 2 * x), start, 10)
    assert torch.equal(found, start)
