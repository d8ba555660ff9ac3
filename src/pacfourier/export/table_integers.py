"""A model of a table in integer arithmetic, with a certificate of its own."""

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pacfourier.arrays import FloatArray
from pacfourier.core.boosting.columns import Columns
from pacfourier.estimators.training import Trained
from pacfourier.export.integers import IntegerModel
from pacfourier.export.rounding import check_ranges, quantised
from pacfourier.extras import explain_missing_extra

if TYPE_CHECKING:
    from pacfourier.tabular.model import TableCertificate, TableFit


class TableIntegers(NamedTuple):
    """A model of a table in integer arithmetic, and what is certified about it.

    Parameters
    ----------
    model : IntegerModel
        Its columns are the encoded columns of the table, with numbers as in the table.
    certificate : ClassificationCertificate, RegressionCertificate or None
        About these integers, not about the model that they were made from. None if no rows were
        held out.
    error : float or None
        Share of wrong predictions, or the mean absolute error, on the rows held out.
    """

    model: IntegerModel
    certificate: "TableCertificate | None"
    error: float | None

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
        named = () if self.certificate is None else self.certificate.assumptions
        law = "".join(f" Assumption: {item.reason}" for item in named if item.name == "groups")
        text = f"{self.statement}.{law}".replace("*/", "* /")
        return f"/* {text} */\n{self.model.to_c(prefix=prefix)}"


def _moved_predictor(model: Any, offsets: FloatArray) -> Any:
    """Return the same predictor for rows to which offsets were added."""
    trained, columns = model._trained.model, model._trained.columns
    centres = columns.centres.copy()
    centres[: len(offsets)] += offsets / columns.units
    knots = {column: each + offsets[column] for column, each in columns.knots.items()}
    moved = copy.copy(model)
    moved._trained = Trained(trained, Columns(columns.units, knots, centres))
    moved.model_ = model.model_.moved(offsets)
    return moved


def table_integers(fit: "TableFit", *, bits: int = 8) -> TableIntegers:
    """Return the model of a table in integer arithmetic, certified on the rows held out.

    Parameters
    ----------
    fit : TableFit
        What ``fit_table`` returned, with ``FitSettings(integers=True)``.
    bits : {8, 4}, default=8
        The size of a weight.

    Returns
    -------
    integers : TableIntegers
        The integers were trained on the rows that the model has learned from.
    """
    with explain_missing_extra():
        from pacfourier.tabular.evaluation import losses_of
        from pacfourier.tabular.fitting import table_certificate

    if not fit.settings.integers:
        raise ValueError(
            "fit must be a fit with FitSettings(integers=True), got integers=False: fit again."
        )
    encoding, rows = fit.model.encoding, fit.rows
    learned, held_out = (part.moved(encoding.offsets) for part in (rows.learned, rows.held_out))
    trained = learned.joined(held_out) if fit.certificate is None else learned
    check_ranges(trained.X.min(axis=0), trained.X.max(axis=0), encoding.names)
    fitted: Any = fit.model.predictor
    predictor = _moved_predictor(fitted, encoding.offsets)
    found = quantised(predictor, trained.X, trained.y, bits=bits)
    model = replace(found, columns=tuple(encoding.names), table_row=encoding.table_row)
    if fit.certificate is None:
        return TableIntegers(model, None, None)
    certificate = table_certificate(
        replace(rows, learned=learned, held_out=held_out), model, fit.settings
    )
    losses = losses_of(held_out.y, model.predict(held_out.X), fit.model.target.task)
    return TableIntegers(model, certificate, float(losses.mean()))
