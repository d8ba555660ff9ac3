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

__all__ = ["ClassifierModule", "FourierMapModule", "RegressorModule"]


def parameter(values: Any) -> nn.Parameter:
    """Return a copy of an array as a parameter in double precision."""
    return nn.Parameter(torch.tensor(np.asarray(values, dtype=np.float64)))


class FourierMapModule(nn.Module):
    """The cosines and sines of a Fourier map.

    The weights of the frequencies are fixed: they sum to one, so that rows have the length one.

    Parameters
    ----------
    model : estimator
        A fitted Fourier map.
    """

    amplitudes: torch.Tensor

    def __init__(self, model: Any) -> None:
        super().__init__()
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
