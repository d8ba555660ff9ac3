"""A classifier of two classes whose certificate needs no rows of its own.

One half of the rows gives the frequencies and prior weights of everything else. All rows give the
weights. The weights that are used are drawn once around them, and the other half certifies them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from pacfourier.arrays import FloatArray, host
from pacfourier.core.boosting.cosine_model import CosineModel
from pacfourier.core.features import fourier_features
from pacfourier.estimators.training import Trained
from pacfourier.pacbayes.assumptions import Ties
from pacfourier.pacbayes.holdout import FreshRows
from pacfourier.pacbayes.linear_predictions import LinearCertificate, linear_certificate

__all__ = ["drawn_predictor"]

# The inverse penalty of the weights that all rows give.
INVERSE_PENALTY = 1.0


def drawn_predictor(
    prior: Trained,
    X: Any,
    is_second: NDArray[np.bool_],
    is_fresh: NDArray[np.bool_],
    rows: FreshRows,
    *,
    epsilon: float,
    ties: Ties,
    seed: int,
) -> tuple[Trained, LinearCertificate]:
    """Return a model with weights drawn from a posterior, and the certificate of this model.

    Parameters
    ----------
    prior : Trained
        The model of the rows that are not fresh.
    X : array of shape (n_samples, n_features)
        All rows.
    is_second : array of shape (n_samples,)
        Which rows are of the second class.
    is_fresh : array of shape (n_samples,)
        Which rows the prior was not learned from.
    rows : FreshRows
        What these rows and the others are.
    epsilon, ties, seed
        Of the certificate and its draw.
    """
    features = wave_features(prior, X)
    learned = LogisticRegression(C=INVERSE_PENALTY, fit_intercept=False, max_iter=200)
    learned.fit(features, is_second)
    certificate = linear_certificate(
        features[is_fresh],
        np.where(is_second[is_fresh], 1, -1),
        rows,
        w=learned.coef_[0],
        w_prior=weights_of(prior.model),
        epsilon=epsilon,
        ties=ties,
        rng=np.random.default_rng([seed, 3]),
    )
    # Divided by the factor of the mean, scores are logarithms of odds again.
    factor = np.linalg.norm(learned.coef_) / max(float(np.linalg.norm(certificate.mean)), 1e-12)
    model = with_weights(prior.model, np.asarray(certificate.drawn) * factor)
    return Trained.of(model, prior.columns), certificate


def wave_features(prior: Trained, X: Any) -> FloatArray:
    """Return cosines, sines, inputs and ones: the model is linear in them."""
    inputs = host(prior.columns.inputs(X.astype(np.float64)))
    size = len(prior.model.frequencies)
    waves = fourier_features(inputs, prior.model.frequencies.astype(np.float64), np.ones(size))
    return np.hstack([waves, inputs, np.ones((len(inputs), 1))])


def weights_of(model: CosineModel) -> FloatArray:
    """Return the weights of all features as one vector."""
    parts = (model.cosines, model.sines, model.linear, model.intercepts)
    return np.concatenate([part.ravel() for part in parts]).astype(np.float64)


def with_weights(model: CosineModel, weights: FloatArray) -> CosineModel:
    """Return the model with other weights of its features, in double precision."""
    size, n_inputs = model.frequencies.shape
    cosines, sines, linear, intercepts = np.split(weights, np.cumsum([size, size, n_inputs]))
    columns = [part[:, np.newaxis] for part in (cosines, sines, linear)]
    return CosineModel(model.frequencies, columns[0], columns[1], columns[2], intercepts)
