"""The model card: a text about a model for those who are handed its file, in Markdown.

Its head has the fields that model hubs read, and its parts are those of the cards of skops.
"""

import json
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pacfourier.reports.certified import statement
from pacfourier.reports.tabular_report import advice

if TYPE_CHECKING:
    from pacfourier.tabular.model import TableFit

_LIMITS = (
    "It only knows rows like those it was learned from. Its predictions for other populations, "
    "times or places may be worse, and nothing is certified for them. It finds what goes together "
    "in the table, not causes. If the table treats groups of people unfairly, so does the model."
)
_MOST_LISTED = 100


def model_card(fit: "TableFit") -> str:
    """Return the model card of a fit.

    Parameters
    ----------
    fit : TableFit

    Returns
    -------
    card : str
        Markdown with a head in YAML.
    """
    name = fit.model.target.name
    parts = {
        "Model description": _description(fit),
        "Intended use": _intended_use(fit),
        "Limits": _LIMITS,
        "Training data": _training_data(fit),
        "Evaluation": _evaluation(fit),
        "Certificate": _certificate(fit),
        "How to use it": _usage(),
    }
    sections = "\n\n".join(f"## {title}\n\n{text}" for title, text in parts.items())
    return f"---\n{_card_head(fit)}---\n\n# A model of {_plain(name)}\n\n{sections}\n"


def _card_head(fit: "TableFit") -> str:
    """Return the head of a card, in YAML."""
    task = f"tabular-{fit.model.target.task}"
    kind = "mae" if fit.model.target.task == "regression" else "accuracy"
    error = float(fit.results[0].error)
    value = error if kind == "mae" else 1.0 - error
    data = _quoted(fit.model.record["data"])
    return (
        "library_name: pacfourier\n"
        f"pipeline_tag: {task}\n"
        f"tags:\n- pacfourier\n- skops\n- {task}\n"
        f"metrics:\n- {kind}\n"
        "model-index:\n"
        f"- name: {_quoted(f'A model of {fit.model.target.name}')}\n"
        "  results:\n"
        f"  - task:\n      type: {task}\n"
        f"    dataset:\n      name: {data}\n      type: {data}\n"
        f"    metrics:\n    - type: {kind}\n      value: {value:.6g}\n"
    )


def _quoted(text: str) -> str:
    """Return a text for YAML, quoted as in JSON. Signs that cannot be printed become spaces."""
    printable = "".join(sign if sign.isprintable() else " " for sign in text)
    return json.dumps(printable, ensure_ascii=False)


def _plain(text: object) -> str:
    """Return a text as Markdown that shows it as it is, on one line, also inside a table."""
    line = " ".join(str(text).split())
    for sign in "\\`*_[]<>|#&~":
        line = line.replace(sign, f"\\{sign}")
    return line


def _markdown_table(headers: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table in Markdown."""
    names = list(headers)
    lines = [names, ["---"] * len(names), *([_plain(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _description(fit: "TableFit") -> str:
    target, settings = fit.model.target, fit.model.record["settings"]
    if target.task == "regression":
        what = f"It predicts the number {_plain(target.name)}."
    else:
        classes = ", ".join(_plain(name) for name in target.classes[:_MOST_LISTED])
        what = f"It predicts {_plain(target.name)}, which is one of: {classes}."
    return (
        f"{what} The model is a linear function plus {settings['n_frequencies']} waves of the "
        "columns, whose frequencies were learned from the table."
    )


def _intended_use(fit: "TableFit") -> str:
    columns = ", ".join(_plain(column.name) for column in fit.model.columns.used[:_MOST_LISTED])
    n_more = len(fit.model.columns.used) - _MOST_LISTED
    more = f" and {n_more:,} more" if n_more > 0 else ""
    text = advice(fit.results, is_amount=fit.model.target.task == "regression")
    return (
        f"Use it for rows that come from where the table came from, with the columns {columns}"
        f"{more}. Should you use it? {text}"
    )


def _training_data(fit: "TableFit") -> str:
    record = fit.model.record
    kinds = Counter(column.kind for column in fit.model.columns.used)
    facts = [
        ("data", record["data"]),
        ("date", record["date"]),
        *((f"rows, {name}", f"{count:,}") for name, count in record["rows"].items()),
        *((f"columns of kind {kind}", f"{count:,}") for kind, count in kinds.items()),
        ("columns left out", f"{len(fit.model.columns.left_out):,}"),
        *((f"setting {name}", value) for name, value in record["settings"].items()),
        *((f"version of {name}", number) for name, number in record["versions"].items()),
    ]
    notes = "".join(f"\n\n{_plain(note)}" for note in record["notes"])
    return _markdown_table(["what", "value"], facts) + notes


def _evaluation(fit: "TableFit") -> str:
    is_amount = fit.model.target.task == "regression"
    error = "mean absolute error" if is_amount else "error"
    rows: list[list[Any]] = []
    for result in fit.results:
        more = [f"{result.r2:.3f}"] if is_amount and result.r2 is not None else [""] * is_amount
        rows.append([result.name, f"{result.error:.4g}", f"{result.standard_error:.2g}", *more])
    headers = ["model", error, "standard error", *(["R²"] if is_amount else [])]
    return (
        f"Errors on the same {len(fit.held_out.truth):,} held-out rows; all models were fitted on "
        f"the same other rows.\n\n{_markdown_table(headers, rows)}"
    )


def _certificate(fit: "TableFit") -> str:
    text = f"{_plain(fit.model.record['headline'])}\n\n{_plain(statement(fit))}"
    if fit.certificate is None:
        return text
    rows = [(item.name, item.status, item.reason) for item in fit.certificate.assumptions]
    return f"{text}\n\n{_markdown_table(['assumption', 'status', 'meaning'], rows)}"


def _usage() -> str:
    return (
        "```console\n"
        'pip install "pacfourier[cli]"\n'
        "pacfourier predict model.skops new.csv --out predictions.csv\n"
        "pacfourier certify model.skops labelled.csv\n"
        "```\n\n"
        "The file holds plain data and no code, so it is safe to open."
    )
