"""The torch modules that ``to_torch`` returns. Their parameters can be trained further.

This file needs torch. ``pacfourier.export`` imports it when a module is made, and never before.
"""

from typing import Any

import numpy as np
import torch
from torch import nn

from pacfourier.arrays import FloatArray
from pacfourier.core.boosting.columns import CODE_UNIT, Columns
from pacfourier.model.fourier_model import FourierModel, general_form


def _parameter(values: Any) -> nn.Parameter:
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
        self.frequencies = _parameter(model.frequencies_)
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
    """The scores of a fitted model: a linear part, cosines and sines of its columns and codes.

    Columns are measured in units in which frequencies have the mean square one, so that one rate
    of learning suits all of them. Columns and codes are fixed.

    Parameters
    ----------
    model : FourierModel
        Without limits, and with scores that are amounts.
    is_flat : bool
        Whether outputs have one dimension.
    """

    frequencies: nn.Parameter
    cosines: nn.Parameter
    sines: nn.Parameter
    linear: nn.Parameter
    intercepts: nn.Parameter
    origins: torch.Tensor
    scales: torch.Tensor
    coded: torch.Tensor
    starts: torch.Tensor
    widths: torch.Tensor

    def __init__(self, model: FourierModel, *, is_flat: bool) -> None:
        super().__init__()
        columns, parts = general_form(model)
        self.model, self.is_flat = model, is_flat
        scales = _column_sizes(parts.frequencies[:, : model.n_columns])
        factors = np.concatenate([scales, np.ones(len(parts.linear) - len(scales))])
        measured = parts._replace(
            frequencies=parts.frequencies / factors, linear=parts.linear / factors[:, np.newaxis]
        )
        for name, values in measured._asdict().items():
            self.register_parameter(name, _parameter(values))
        for name, values in _column_buffers(columns, scales).items():
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
            inputs = torch.cat([inputs, CODE_UNIT * shares.clamp(0, 1)], 1)
        phases = inputs @ self.frequencies.T
        waves = phases.cos() @ self.cosines + phases.sin() @ self.sines
        return waves + inputs @ self.linear + self.intercepts

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Return scores or amounts, of the same shape as those of the estimator.

        Parameters
        ----------
        X : tensor of shape (n_samples, n_features)
            The samples.
        """
        scores = self.scores(X)
        return scores[:, 0] if self.is_flat else scores


def _column_sizes(frequencies: FloatArray) -> FloatArray:
    """Return the root mean square of the frequencies of each column; one where all are zero."""
    sizes = np.sqrt(np.mean(np.square(frequencies), axis=0))
    return np.where(sizes > 0, sizes, 1.0)


def _column_buffers(columns: Columns, scales: FloatArray) -> dict[str, FloatArray]:
    """Return what columns and codes are computed from."""
    knots, empty = columns.knots, np.zeros(0)
    n_codes = [len(each) - 1 for each in knots.values()]
    return {
        "origins": columns.centres[: len(scales)],
        "scales": scales,
        "coded": np.repeat(np.array(list(knots), dtype=np.int64), n_codes),
        "starts": np.concatenate([empty, *(each[:-1] for each in knots.values())]),
        "widths": np.concatenate([empty, *(np.diff(each) for each in knots.values())]),
    }


class ClassifierModule(PredictorModule):
    """The scores and probabilities of a classifier."""

    def predict_proba(self, X: torch.Tensor) -> torch.Tensor:
        """Return the probability of each class, in the order of ``model.classes``.

        Parameters
        ----------
        X : tensor of shape (n_samples, n_features)
            The samples.
        """
        scores = self.scores(X)
        if self.model.link == "softmax":
            return scores.softmax(1)
        if self.model.has_label_sets:
            return scores.sigmoid()
        return torch.cat([-scores, scores], 1).sigmoid()
