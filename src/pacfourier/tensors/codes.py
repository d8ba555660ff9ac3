"""Codes of classes on the device, stored as one column number per row."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class ClassCodes:
    """Codes with a single one in every row.

    Attributes
    ----------
    columns : tensor of shape (n_samples,)
        The column that holds the one.
    counts : array of shape (n_columns,)
        The number of rows of each column.
    """

    columns: torch.Tensor
    counts: NDArray[np.intp]

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the codes, as if they were a matrix."""
        return len(self.columns), len(self.counts)

    @property
    def totals(self) -> FloatArray:
        """The sum of the codes."""
        return self.counts.astype(np.float64)

    def dense(self, rows: slice) -> torch.Tensor:
        """Return the codes of some rows as a matrix of zeros and ones."""
        numbers = torch.arange(len(self.counts), device=self.columns.device)
        return self.columns[rows, None] == numbers
