"""The parts of a report that are about predicted numbers."""

from typing import TYPE_CHECKING

import numpy as np

from pacfourier.bounds.safe_side import safely_rounded
from pacfourier.pacbayes.prediction_certificate import (
    USUAL_COVERAGE,
    RegressionCertificate,
)
from pacfourier.reports.certified import rows_promised, valid_certificate
from pacfourier.reports.charts import chart, diagonal, dots, number_axis, strip
from pacfourier.reports.page import Markup, figure, section, side_by_side, table

if TYPE_CHECKING:
    from pacfourier.tabular.model import TableFit

_MOST_DOTS = 600
_QUANTILES = (0.5, 0.75, 0.9, 0.95, 0.99, 1.0)


def amount_sections(fit: "TableFit") -> list[Markup]:
    """Return the sections of a report about predicted numbers."""
    truth = np.asarray(fit.held_out.truth, dtype=np.float64)
    predictions = np.asarray(fit.held_out.predictions, dtype=np.float64)
    width = _certified_half_width(fit)
    return [
        section(
            "Size of the errors",
            *_certified_text(fit, width),
            side_by_side(
                _scatter(fit, truth, predictions, width), _quantiles(np.abs(truth - predictions))
            ),
        )
    ]


def _certified_half_width(fit: "TableFit") -> float | None:
    """Return how far from the prediction 90 % of new values lie at most; None if unknown."""
    certificate = valid_certificate(fit)
    if not isinstance(certificate, RegressionCertificate):
        return None
    width = certificate.half_width()
    return width if np.isfinite(width) else None


def _scatter(
    fit: "TableFit", truth: np.ndarray, predictions: np.ndarray, width: float | None
) -> Markup:
    kept = np.unique(np.linspace(0, len(truth) - 1, _MOST_DOTS).round().astype(int))
    name = fit.model.target.name
    drawn = chart(
        f"Predicted against true values of {name}",
        number_axis("predicted", predictions[kept]),
        number_axis("true", np.concatenate([truth[kept], predictions[kept]])),
        dots(predictions[kept], truth[kept], many=True),
        diagonal,
        *([] if width is None else [strip(width)]),
    )
    some = (
        f"{len(kept):,} of {len(truth):,} held-out rows"
        if len(kept) < len(truth)
        else (f"The {len(truth):,} held-out rows")
    )
    caption = f"{some}. On the dotted line, predictions are right."
    if width is not None:
        share = f"{100 * USUAL_COVERAGE:g} %"
        law = rows_promised(fit)
        caption += f" At least {share} of {law} lie between the dashed lines, as certified."
    return figure(drawn, caption)


def _certified_text(fit: "TableFit", width: float | None) -> list[str]:
    if width is None:
        return []
    return [
        f"Certified: for at least {100 * USUAL_COVERAGE:g} % of {rows_promised(fit)}, "
        f"the absolute error is at most {safely_rounded(width, 'up')}."
    ]


def _quantiles(errors: np.ndarray) -> Markup:
    rows = [
        ("all" if share == 1 else f"{100 * share:g} %", f"{np.quantile(errors, share):.4g}")
        for share in _QUANTILES
    ]
    headers = ["share of held-out rows", "absolute error at most"]
    return table(headers, rows, numeric=(1,), caption="Observed absolute errors")
