"""Fitted estimators as torch modules, whose parameters can be trained further.

This file needs torch. ``pacfourier.export`` imports it when a module is made, and never before.
"""

import copy
from typing import Any

import numpy as np
import torch
from torch import nn

from pacfourier.arrays import FloatArray
from pacfourier.core.boosting.columns import CODE_UNIT, Columns
from pacfourier.export.expressible import dense, matern_polynomial
from pacfourier.spectra import Matern, Metric, Mixture, Spectrum

__all__ = [
    "ClassifierModule",
    "FourierMapModule",
    "KernelModule",
    "PredictorModule",
    "RegressorModule",
    "SimilarityModule",
]


def parameter(values: Any) -> nn.Parameter:
    """Return a copy of an array as a parameter in double precision."""
    return nn.Parameter(torch.tensor(np.asarray(values, dtype=np.float64)))


class FourierMapModule(nn.Module):
    """The cosines and sines of a Fourier map.

    The weights of the frequencies are fixed, because certificates need weights that sum to one.

    Parameters
    ----------
    model : estimator
        A fitted Fourier map.
    """

    amplitudes: torch.Tensor

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.template = copy.copy(model)
        self.frequencies = parameter(model.frequencies_)
        self.register_buffer("amplitudes", torch.tensor(np.sqrt(model.frequency_weights_)))

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Return all cosines, then all sines.

        Parameters
        ----------
        X : tensor of shape (n_samples, n_features)
            The samples.
        """
        phases = X @ self.frequencies.T
        return torch.cat([self.amplitudes * phases.cos(), self.amplitudes * phases.sin()], 1)


class SimilarityModule(nn.Module):
    """The learned similarities to the landmarks of ``PBLandmarks``.

    Parameters
    ----------
    model : PBLandmarks
        A fitted map.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.frequencies = parameter(model.pool_[:])
        self.phases = parameter(model.phases_)
        self.weights = parameter(model.posterior_)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Return one similarity per landmark.

        Parameters
        ----------
        X : tensor of shape (n_samples, n_features)
            The samples.
        """
        own = (X @ self.frequencies.T).reshape(X.shape[0], -1, self.phases.shape[1])
        return (self.weights * (own - self.phases).cos()).sum(2)


class KernelModule(nn.Module):
    """The kernel with the landmarks of ``RBFLandmarks``.

    Parameters
    ----------
    model : RBFLandmarks
        A fitted map.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.landmarks = parameter(dense(model.landmarks_))
        self.template = copy.copy(model)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Return one kernel value per landmark.

        Parameters
        ----------
        X : tensor of shape (n_samples, n_features)
            The samples.
        """
        differences = X[:, None] - self.landmarks

        def distances(metric: Metric) -> torch.Tensor:
            sizes = differences.abs() if metric == "cityblock" else differences.square()
            return sizes.sum(2)

        return kernel_of(self.template.spectrum_, distances)


def kernel_of(spectrum: Spectrum, distances: Any) -> torch.Tensor:
    """Return a kernel of distances. Matern kernels have a closed form that can be exported."""
    if isinstance(spectrum, Mixture):
        parts = zip(spectrum.weights or (), spectrum.components, strict=True)
        return torch.stack([weight * kernel_of(part, distances) for weight, part in parts]).sum(0)
    if not isinstance(spectrum, Matern):
        found: torch.Tensor = spectrum.kernel_between(distances)
        return found
    squares = 4 * spectrum.nu * spectrum.gamma * distances(spectrum.metric)
    # The slope of a square root is infinite at zero, where the slope of the kernel is zero.
    is_apart = squares > 0
    radius = torch.where(is_apart, squares, 1.0).sqrt() * is_apart
    coefficients = enumerate(matern_polynomial(spectrum.nu).tolist())
    powers = [coefficient * radius**power for power, coefficient in coefficients]
    return torch.stack(powers).sum(0) * torch.exp(-radius)


class PredictorModule(nn.Module):
    """The outputs of a predictor: a linear part, cosines and sines of its columns and their codes.

    The parameters are those of the estimator. Columns and codes are fixed.

    Parameters
    ----------
    model : FourierClassifier or FourierRegressor
        A fitted predictor.
    """

    frequencies: nn.Parameter
    cosines: nn.Parameter
    sines: nn.Parameter
    linear: nn.Parameter
    intercept: nn.Parameter
    origins: torch.Tensor
    scales: torch.Tensor
    coded: torch.Tensor
    starts: torch.Tensor
    widths: torch.Tensor
    centres: torch.Tensor

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.template = copy.copy(model)
        for name in ("frequencies", "cosines", "sines", "linear", "intercept"):
            self.register_parameter(name, parameter(getattr(model, f"{name}_")))
        for name, values in column_buffers(model._trained.columns).items():
            self.register_buffer(name, torch.tensor(values))

    def scores(self, X: torch.Tensor) -> torch.Tensor:
        """Return one column per output.

        Parameters
        ----------
        X : tensor of shape (n_samples, n_features)
            The samples.
        """
        inputs = (X - self.origins) * self.scales
        if len(self.coded):
            shares = (X[:, self.coded] - self.starts) / self.widths
            inputs = torch.cat([inputs, CODE_UNIT * shares.clamp(0, 1) - self.centres], 1)
        phases = inputs @ self.frequencies.T
        waves = phases.cos() @ self.cosines + phases.sin() @ self.sines
        return waves + inputs @ self.linear + self.intercept


def column_buffers(columns: Columns) -> dict[str, FloatArray]:
    """Return what columns and codes are computed from. Constant columns have a scale of zero."""
    n_columns = len(columns.units)
    is_used = np.isfinite(columns.units)
    knots = columns.knots
    empty = np.zeros(0)
    return {
        "origins": columns.centres[:n_columns] * np.where(is_used, columns.units, 0.0),
        "scales": 1 / columns.units,
        "coded": np.repeat(
            np.array(list(knots), dtype=np.int64), [len(k) - 1 for k in knots.values()]
        ),
        "starts": np.concatenate([empty, *(each[:-1] for each in knots.values())]),
        "widths": np.concatenate([empty, *(np.diff(each) for each in knots.values())]),
        "centres": columns.centres[n_columns:],
    }


class ClassifierModule(PredictorModule):
    """The scores and probabilities of a classifier."""

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Return the scores, of the same shape as those of ``decision_function``.

        Parameters
        ----------
        X : tensor of shape (n_samples, n_features)
            The samples.
        """
        scores = self.scores(X)
        is_single = scores.shape[1] == 1 and not self.template._has_label_sets
        return scores[:, 0] if is_single else scores

    def predict_proba(self, X: torch.Tensor) -> torch.Tensor:
        """Return the probability of each class, in the order of ``template.classes_``.

        Parameters
        ----------
        X : tensor of shape (n_samples, n_features)
            The samples.
        """
        scores = self.scores(X)
        if self.template._is_softmax():
            return scores.softmax(1)
        if self.template._has_label_sets:
            return scores.sigmoid()
        return torch.cat([-scores, scores], 1).sigmoid()


class RegressorModule(PredictorModule):
    """The amounts that a regressor predicts."""

    unit: torch.Tensor
    centre: torch.Tensor

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.register_buffer("unit", torch.tensor(model._unit))
        self.register_buffer("centre", torch.tensor(model._centre))

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Return the amounts, of the same shape as those of ``predict``.

        Parameters
        ----------
        X : tensor of shape (n_samples, n_features)
            The samples.
        """
        amounts = self.scores(X) * self.unit + self.centre
        return amounts[:, 0] if self.template._is_flat else amounts
