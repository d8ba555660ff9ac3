"""The parts of a report that are about classes: recall, confusion, calibration and thresholds."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from pacfourier.arrays import FloatArray
from pacfourier.bounds.safe_side import safely_rounded
from pacfourier.pacbayes.prediction_certificate import (
    ClassificationCertificate,
    class_counts,
)
from pacfourier.reports.certified import rows_promised, valid_certificate
from pacfourier.reports.charts import bars_below, chart, diagonal, dots, intervals, line, share_axis
from pacfourier.reports.page import Markup, details, figure, section, side_by_side, table

if TYPE_CHECKING:
    from pacfourier.tabular.model import HeldOut, TableFit

# A confusion matrix with more classes than this is too wide for a page.
_MOST_ACROSS = 8
# Tables of classes with more rows are folded.
_MOST_OPEN = 30
_N_BINS = 10
# More points of a curve could not be seen.
_MOST_POINTS = 200


def class_sections(fit: "TableFit") -> list[Markup]:
    """Return the sections of a report about classes."""
    classes = fit.model.target.classes
    sections = [_per_class_section(fit)]
    if fit.model.record["confusion"] is not None:
        confusion = np.array(fit.model.record["confusion"])
        sections.append(_confusion_section(classes, confusion))
    if fit.held_out.probabilities is not None:
        sections.append(_calibration_section(fit))
        if len(classes) == 2:
            sections.append(_threshold_section(fit))
    return sections


def positive_class(fit: "TableFit") -> str:
    """Return the class that curves and thresholds are about: the one of two that is rarer."""
    return str(fit.model.target.classes[fit.model.rarer_place()])


def _per_class_section(fit: "TableFit") -> Markup:
    classes = fit.model.target.classes
    counts = class_counts(
        fit.held_out.truth, fit.held_out.predictions, np.array(classes, dtype=object)
    )
    bounds = _certified_rates(fit)
    rows = []
    for name, n_labelled, n_predicted, n_hits in zip(
        counts.classes, counts.n_labelled, counts.n_predicted, counts.n_hits, strict=True
    ):
        rates = [_rate(n_hits, n_labelled), _rate(n_hits, n_predicted)]
        lower = [_lower_bound(each, name) for each in bounds]
        rows.append([name, f"{n_labelled:,}", rates[0], *lower[:1], rates[1], *lower[1:]])
    headers = ["class", "rows", "recall", "precision"]
    if bounds:
        headers = ["class", "rows", "recall", "recall, certified", "precision"]
        headers.append("precision, certified")
    shown = table(
        headers, rows, numeric=range(1, len(headers)), caption="Held-out rows by their true class"
    )
    text = (
        "Recall: of the rows of a class, the share that is predicted as such. Precision: of the "
        "rows predicted as a class, the share that belongs to it."
    )
    if bounds:
        text += (
            f" Certified numbers are lower bounds for {rows_promised(fit)}. All of them hold "
            "together, with the probability named above."
        )
    many = len(rows) > _MOST_OPEN
    return section(
        "Each class", text, details(f"All classes ({len(rows):,})", shown) if many else shown
    )


def _lower_bound(bounds: dict[str, float], name: str) -> str:
    return safely_rounded(bounds[name], "down", decimals=4) if name in bounds else ""


def _certified_rates(fit: "TableFit") -> list[dict[str, float]]:
    """Return lower bounds of recall and precision by class; nothing without a certificate."""
    certificate = valid_certificate(fit)
    if not isinstance(certificate, ClassificationCertificate):
        return []
    rates = (certificate.recall, certificate.precision)
    return [{str(name): rate for name, rate in each.items()} for each in rates]


def _rate(n_hits: int, n_rows: int) -> str:
    return f"{n_hits / n_rows:.4f}" if n_rows else "none"


def _confusion_section(classes: list[str], confusion: NDArray[Any]) -> Markup:
    if len(classes) <= _MOST_ACROSS:
        return section("Confusion", *_matrix(classes, confusion))
    return section("Confusion", *_errors(classes, confusion))


def _matrix(classes: list[str], confusion: NDArray[Any]) -> tuple[Markup]:
    headers = ["true class", *(f"predicted {name}" for name in classes)]
    counts = ([f"{count:,}" for count in row] for row in confusion)
    rows = ([name, *row] for name, row in zip(classes, counts, strict=True))
    caption = "Number of held-out rows by true class and predicted class"
    return (table(headers, rows, numeric=range(1, len(headers)), caption=caption),)


def _errors(classes: list[str], confusion: NDArray[Any]) -> tuple[Markup]:
    wrong = confusion - np.diag(np.diag(confusion))
    rows = []
    for index in np.argsort(-wrong.sum(axis=1), kind="stable"):
        instead = classes[wrong[index].argmax()] if wrong[index].any() else ""
        counts = (f"{matrix[index].sum():,}" for matrix in (confusion, wrong))
        rows.append((classes[index], *counts, instead))
    headers = ["true class", "rows", "errors", "most frequent wrong class"]
    caption = "Held-out rows and errors by true class, most errors first"
    shown = table(headers, rows, numeric=(1, 2), caption=caption)
    many = len(rows) > _MOST_OPEN
    return (details(f"Errors by class ({len(rows):,})", shown) if many else shown,)


class _Reliability(NamedTuple):
    """Rows in bins by a predicted probability.

    Parameters
    ----------
    edges : array of shape (n_bins + 1,)
    counts : array of shape (n_bins,)
        Rows of each bin.
    means : array of shape (n_bins,)
        The mean predicted probability; NaN in an empty bin.
    shares : array of shape (n_bins,)
        The share of rows in which the event took place; NaN in an empty bin.
    """

    edges: FloatArray
    counts: NDArray[Any]
    means: FloatArray
    shares: FloatArray


def _reliability(probabilities: FloatArray, happened: NDArray[Any]) -> _Reliability:
    """Return how often events take place, in ten bins by their predicted probability.

    Parameters
    ----------
    probabilities : array of shape (n_samples,)
    happened : array of shape (n_samples,)
        Whether the event took place.

    Returns
    -------
    bins : Reliability
    """
    places = np.minimum((_N_BINS * probabilities).astype(int), _N_BINS - 1)
    counts = np.bincount(places, minlength=_N_BINS)
    sums = (
        np.bincount(places, weights=each, minlength=_N_BINS) for each in (probabilities, happened)
    )
    full = np.where(counts, counts, np.nan)
    means, shares = (each / full for each in sums)
    return _Reliability(np.linspace(0, 1, _N_BINS + 1), counts, means, shares)


def _likely_shares(shares: FloatArray, counts: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    r"""Return the ends of Wilson's 95 % interval of each share.

    With :math:`z = 1.96`, they are the solutions :math:`p` of
    :math:`(\hat p - p)^2 = z^2 p (1 - p) / n`.
    """
    squared = 1.96**2 / counts
    middle = (shares + squared / 2) / (1 + squared)
    half = np.sqrt(shares * (1 - shares) * squared + squared**2 / 4) / (1 + squared)
    return middle - half, middle + half


def _calibration_section(fit: "TableFit") -> Markup:
    classes, held_out = fit.model.target.classes, fit.held_out
    if len(classes) == 2:
        name = positive_class(fit)
        probabilities, happened = _scores(held_out, classes, name)
        event = f"the class is {name}"
    else:
        probabilities = np.asarray(held_out.probabilities).max(axis=1)
        happened = held_out.truth == held_out.predictions
        event = "the prediction is right"
    bins = _reliability(probabilities, happened)
    full = bins.counts > 0
    drawn = chart(
        f"Reliability: observed share against predicted probability that {event}",
        share_axis("predicted probability"),
        share_axis("observed share"),
        bars_below(bins.edges, bins.counts),
        diagonal,
        intervals(bins.means[full], *_likely_shares(bins.shares[full], bins.counts[full])),
        dots(bins.means[full], bins.shares[full]),
    )
    caption = (
        f"How often {event}, by predicted probability. On the dotted line, probabilities are what "
        "they say. Upright lines are 95 % intervals, wide where rows are few. Grey bars count "
        f"rows: the longest stands for {bins.counts.max():,}."
    )
    return section("Calibration", side_by_side(figure(drawn, caption), _bin_table(bins)))


def _bin_table(bins: _Reliability) -> Markup:
    rows = [
        (f"{low:.1f} to {high:.1f}", f"{count:,}", f"{mean:.3f}", f"{share:.3f}")
        for low, high, count, mean, share in zip(
            bins.edges[:-1], bins.edges[1:], bins.counts, bins.means, bins.shares, strict=True
        )
        if count
    ]
    headers = ["predicted", "rows", "mean predicted", "observed share"]
    return table(headers, rows, numeric=(1, 2, 3), caption="Rows by predicted probability")


def _scores(held_out: "HeldOut", classes: list[str], name: str) -> tuple[FloatArray, NDArray[Any]]:
    """Return the probability of a class for each held-out row, and whether it is the true one."""
    probabilities = np.asarray(held_out.probabilities)[:, classes.index(name)]
    return probabilities, held_out.truth == name


def _threshold_section(fit: "TableFit") -> Markup:
    name = positive_class(fit)
    scores, happened = _scores(fit.held_out, fit.model.target.classes, name)
    n_positive = int(happened.sum())
    if not 0 < n_positive < len(happened):
        text = "The held-out rows are all of one class, so there are no curves to draw."
        return section("Thresholds", text)
    parts: list[str] = [
        f"The model says {name} if its probability is at least a threshold. A lower threshold "
        f"finds more rows of this class, and raises more false alarms. Of the held-out rows, "
        f"{n_positive:,} of {len(happened):,} are {name}.",
        side_by_side(_roc(scores, happened, name), _precision_recall(scores, happened, name)),
    ]
    found = fit.model.record["thresholds"]
    return section("Thresholds", *parts, *([_threshold_table(fit)] if found else []))


def _threshold_table(fit: "TableFit") -> Markup:
    """Return the thresholds for several recalls, as they are stored with the model."""
    name = positive_class(fit)
    rows = [
        (
            f"{each['recall']:g}",
            safely_rounded(each["threshold"], "down"),
            *(f"{each[key]:.4f}" for key in ("precision", "alarms")),
        )
        for each in fit.model.record["thresholds"]
    ]
    caption = (
        f"Thresholds for the class {name}. Of {rows_promised(fit)} that are of this class, each "
        "finds at least the share in the first column. All of them hold together, with the "
        "probability named above. A threshold of zero means that there are too few rows to promise "
        "more. Precision and the share of flagged rows were observed."
    )
    headers = ["certified recall", "threshold", "precision", "share of rows flagged"]
    return table(headers, rows, numeric=range(4), caption=caption)


def _roc(scores: FloatArray, happened: NDArray[Any], name: str) -> Markup:
    false_rates, hit_rates, _ = roc_curve(happened, scores)
    area = roc_auc_score(happened, scores)
    drawn = chart(
        f"ROC curve of {name}, area {area:.3f}",
        share_axis("share of other rows flagged by mistake"),
        share_axis("recall"),
        diagonal,
        line(*_thinned(false_rates, hit_rates)),
    )
    return figure(drawn, f"ROC curve. The area under it is {area:.3f}; chance has 0.5.")


def _precision_recall(scores: FloatArray, happened: NDArray[Any], name: str) -> Markup:
    precisions, recalls, _ = precision_recall_curve(happened, scores)
    area, share = average_precision_score(happened, scores), happened.mean()
    drawn = chart(
        f"Precision and recall of {name}, average precision {area:.3f}",
        share_axis("recall"),
        share_axis("precision"),
        line(*_steps(*_thinned(recalls, precisions))),
    )
    caption = (
        f"Precision against recall. The average precision is {area:.3f}; chance has {share:.3f}."
    )
    return figure(drawn, caption)


def _steps(xs: FloatArray, ys: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners of steps: each value stays until the next place."""
    return np.repeat(xs, 2)[1:], np.repeat(ys, 2)[:-1]


def _thinned(xs: FloatArray, ys: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ends and at most 200 points of a curve."""
    kept = np.unique(np.linspace(0, len(xs) - 1, _MOST_POINTS).round().astype(int))
    return xs[kept], ys[kept]
