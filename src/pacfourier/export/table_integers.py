"""A model of a table in integer arithmetic, with a certificate of its own."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pacfourier.arrays import FloatArray
from pacfourier.export.integers import IntegerModel
from pacfourier.export.predictor_files import check_no_texts
from pacfourier.export.rounding import quantised
from pacfourier.extras import explain_missing_extra

if TYPE_CHECKING:
    from pacfourier.tabular.model import TableCertificate, TableFit
    from pacfourier.tabular.training_rows import LabelledRows

__all__ = ["TableIntegers", "table_integers"]


class TableIntegers(NamedTuple):
    """A model of a table in integer arithmetic, and what is certified about it.

    Parameters
    ----------
    model : IntegerModel
        Its columns are the encoded columns of the table, with numbers as in the table.
    certificate : ClassificationCertificate, RegressionCertificate or None
        About these integers, not about the model that they were made from. None if no rows were
        held out.
    """

    model: IntegerModel
    certificate: "TableCertificate | None"

    @property
    def statement(self) -> str:
        """What is certified, or why nothing is, in one sentence."""
        from pacfourier.tabular.fitting import headline

        return headline(self.certificate)

    def to_c(self, *, prefix: str = "model") -> str:
        """Return the model as a C99 header that starts with what is certified.

        Parameters
        ----------
        prefix : str, default="model"
            How the names in the header start.

        Returns
        -------
        text : str
            The header of :meth:`IntegerModel.to_c`.
        """
        statement = self.statement.replace("*/", "* /")
        return f"/* {statement}. */\n{self.model.to_c(prefix=prefix)}"


def table_integers(fit: "TableFit", *, bits: int = 8) -> TableIntegers:
    """Return the model of a table in integer arithmetic, certified on the rows held out.

    Parameters
    ----------
    fit : TableFit
        What ``fit_table`` returned, with ``FitSettings(codes=False)``.
    bits : {8, 4}, default=8
        The size of a weight.

    Returns
    -------
    integers : TableIntegers
        The integers were trained on the rows that the model has learned from.
    """
    with explain_missing_extra():
        from pacfourier.tabular.fitting import table_certificate
        from pacfourier.tabular.predictor_data import moved_predictor

    encoding, rows = fit.model.encoding, fit.rows
    check_no_texts(encoding.kinds)
    learned, held_out = (
        as_in_the_table(part, encoding.offsets) for part in (rows.learned, rows.held_out)
    )
    trained = learned.joined(held_out) if fit.certificate is None else learned
    fitted: Any = fit.model.predictor
    predictor = moved_predictor(fitted, encoding.offsets)
    found = quantised(predictor, trained.X, trained.y, bits=bits)
    model = replace(found, columns=tuple(encoding.names))
    if fit.certificate is None:
        return TableIntegers(model, None)
    moved = replace(rows, learned=learned, held_out=held_out)
    return TableIntegers(model, table_certificate(moved, model, fit.settings))


def as_in_the_table(part: "LabelledRows", offsets: FloatArray) -> "LabelledRows":
    """Return encoded rows with the numbers of the table: medians are added again."""
    return replace(part, X=part.X + offsets.astype(np.float32))
