"""The HTML report about a model that was fitted on a table."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from pacfourier.reports.amount_sections import amount_sections
from pacfourier.reports.certified import statement, valid_certificate
from pacfourier.reports.class_sections import class_sections
from pacfourier.reports.effect_sections import effect_section, wave_section
from pacfourier.reports.page import Markup, details, page, section, table, verdict

if TYPE_CHECKING:
    from pacfourier.tabular.evaluation import Result
    from pacfourier.tabular.model import TableFit

# Longer lists of columns are cut, and lists longer than the second number are folded.
MOST_LISTED, MOST_OPEN = 300, 15
_PLURALS = {"number": "numbers", "category": "categories", "date": "dates", "text": "texts"}


def fit_report(fit: "TableFit") -> Markup:
    """Return a self-contained HTML page about a fit.

    Parameters
    ----------
    fit : TableFit

    Returns
    -------
    document : Markup
        It loads nothing from elsewhere and runs no script.
    """
    record = fit.model.record
    is_amount = fit.model.target.task == "regression"
    parts = [
        _verdict(fit),
        _results_section(fit),
    ]
    if len(fit.held_out.truth):
        parts += amount_sections(fit) if is_amount else class_sections(fit)
        parts.append(effect_section(fit))
    parts.append(wave_section(fit.model))
    parts += [_data_section(fit), _columns_section(fit)]
    if record["notes"]:
        parts.append(section("Notes", *record["notes"]))
    parts.append(_certificate_section(fit))
    return page(_report_title(fit), *parts)


def _report_title(fit: "TableFit") -> str:
    """Return what is predicted and what is certified about it, in one line."""
    name = fit.model.target.name
    if valid_certificate(fit) is None:
        return f"{name}: nothing is certified"
    return f"{name}: {_pretty(fit.model.record['headline'])}"


def _verdict(fit: "TableFit") -> Markup:
    """Return what is certified, in plain words, or why nothing is."""
    is_certified = valid_certificate(fit) is not None
    reason = [] if is_certified else [_pretty(fit.model.record["headline"])]
    return verdict(is_certified, *reason, statement(fit))


def _pretty(text: str) -> str:
    return text.replace("<=", "≤").replace(">=", "≥")


def _results_section(fit: "TableFit") -> Markup:
    is_amount = fit.model.target.task == "regression"
    error = "mean absolute error" if is_amount else "error"
    headers = ["model", error, "standard error", *(["R²"] if is_amount else []), "seconds"]
    rows = [_result_row(result, is_amount=is_amount) for result in fit.results]
    n_rows = len(fit.held_out.truth)
    return section(
        "Should you use this model?",
        advice(fit.results, is_amount=is_amount),
        *_weight_warning(fit.model.record["settings"]),
        table(
            headers,
            rows,
            numeric=range(1, len(headers)),
            caption=f"Errors on the same {n_rows:,} held-out rows. All models were fitted on the "
            "same other rows.",
        ),
    )


def _result_row(result: "Result", *, is_amount: bool) -> list[str]:
    digits = ".4g" if is_amount else ".4f"
    numbers = [f"{result.error:{digits}}", f"{result.standard_error:{digits}}"]
    if is_amount:
        numbers.append("" if result.r2 is None else f"{result.r2:.3f}")
    return [result.name, *numbers, f"{result.seconds:.1f}"]


def advice(results: Sequence["Result"], *, is_amount: bool) -> str:
    """Return one sentence or two on whether to use the first of some models.

    Parameters
    ----------
    results : sequence of Result
        Ours, its rivals, and the constant prediction.
    is_amount : bool
        Whether numbers are predicted, not classes.

    Returns
    -------
    text : str
    """
    ours, *rivals, constant = results
    best = min(rivals, key=lambda result: result.error, default=constant)
    if _gap(ours, constant) >= 0 or _is_close(ours, constant):
        what = "the same value" if is_amount else "the most frequent class"
        return (
            f"Not by its error alone: it is not clearly below that of always predicting {what}. "
            + (
                "The columns say little about the target."
                if is_amount
                else "Look at the recall and the precision of each class below."
            )
        )
    if _is_close(ours, best):
        return (
            f"You can: this model and its best rival, {best.name}, are about as good. Their errors "
            "differ by less than one standard error."
        )
    if _gap(ours, best) > 0:
        return (
            f"Rather use {best.name}: its error is lower by {_gap(ours, best):.4g}, which is more "
            "than one standard error."
        )
    return (
        f"Yes: its error is lower than that of its best rival, {best.name}, by "
        f"{-_gap(ours, best):.4g}, which is more than one standard error."
    )


def _gap(first: "Result", second: "Result") -> float:
    return first.error - second.error


def _is_close(first: "Result", second: "Result") -> bool:
    """Return whether two errors differ by less than the standard error of independent ones.

    Errors on the same rows differ by less than that by chance, so this is cautious.
    """
    noise = math.hypot(first.standard_error, second.standard_error)
    return not abs(_gap(first, second)) > noise


def _weight_warning(settings: dict[str, Any]) -> list[str]:
    if not settings.get("class_weight"):
        return []
    return [
        f"The classes were weighted ({_said(settings['class_weight'])}), so this model does not "
        "aim at the lowest error, and its probabilities are not shares of rows."
    ]


def _data_section(fit: "TableFit") -> Markup:
    record = fit.model.record
    rows = ", ".join(f"{count:,} {name}" for name, count in record["rows"].items())
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    facts = [
        ("data", record["data"]),
        ("target", fit.model.target.name),
        ("date", record["date"]),
        ("rows", rows),
        ("run time", f"{record['seconds']:.1f} seconds"),
        ("versions", versions),
    ]
    settings = [(name.replace("_", " "), _said(each)) for name, each in record["settings"].items()]
    return section(
        "Data and settings",
        table(["what", "value"], facts, caption="The run"),
        table(["setting", "value"], settings, caption="Settings of the run"),
    )


def _said(value: object) -> str:
    """Return the value of a setting in words."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {each}" for name, each in value.items()) or "none"
    if value is None or value is False:
        return "no" if value is False else "none"
    return str(value)


def _columns_section(fit: "TableFit") -> Markup:
    columns = fit.model.columns
    counts = Counter(column.kind for column in columns.used)
    kinds = ", ".join(f"{_PLURALS[kind]}: {count:,}" for kind, count in counts.items())
    used = [(column.name, column.kind) for column in islice(columns.used, MOST_LISTED)]
    left = list(islice(columns.left_out.items(), MOST_LISTED))
    parts = [
        f"In use: {kinds or 'none'}. Left out: {len(columns.left_out):,}.",
        _folded("Columns in use", ["column", "kind"], used, len(columns.used)),
    ]
    if left:
        headers = ["column", "why it is left out"]
        parts.append(_folded("Columns left out", headers, left, len(columns.left_out)))
    return section("Columns", *parts)


def _folded(title: str, headers: list[str], rows: list[tuple[str, str]], n_rows: int) -> Markup:
    """Return a table; a long one is hidden until the reader opens it."""
    cut = f", the first {len(rows):,} of {n_rows:,}" if n_rows > len(rows) else ""
    shown = table(headers, rows, caption=f"{title}{cut}")
    return details(f"{title} ({n_rows:,})", shown) if n_rows > MOST_OPEN else shown


def _certificate_section(fit: "TableFit") -> Markup:
    certificate = fit.certificate
    if certificate is None:
        return section("Certificate", _pretty(fit.model.record["headline"]))
    order = {"violated": 0, "declared": 1, "holds": 2}
    listed = sorted(certificate.assumptions, key=lambda item: order[item.status])
    rows = [(item.name, item.status, item.reason) for item in listed]
    return section(
        "Certificate",
        "A certificate holds only under its assumptions. Those that are declared cannot be checked "
        "from the table: you vouch for them when you use the certificate.",
        details(
            f"Assumptions ({len(rows)})",
            table(["assumption", "status", "meaning"], rows, caption="Assumptions"),
        ),
    )
