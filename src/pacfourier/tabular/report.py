"""What is said of a model: facts for a terminal, and a page."""

import io

from pacfourier.pacbayes.bounds._result import rounded_up
from pacfourier.page import figure, page, section, table

CAPTION = (
    "Every candidate frequency: its length, which is the inverse of the width it sees, and how "
    "badly it agrees with the classes. The marked ones were kept."
)


def fit_facts(model):
    """Return (name, value) pairs that say what was fitted, and what it is worth."""
    record, columns = model.record, model.columns
    n_preparation, n_learning, n_held_out = record["rows"]
    rows = f"{n_preparation:,} prepare, {n_learning:,} learn, {n_held_out:,} held out"
    return [
        ("rows", f"{sum(record['rows']):,}: {rows}"),
        ("columns", f"{len(columns.numbers)} numeric, {len(columns.categories)} categorical"),
        ("classes", f"{record['target']}: {', '.join(record['classes'])}"),
        *error_facts("held-out error", model.held_out_error, model.refusal),
        ("seconds", f"{record['seconds']:.1f}"),
    ]


def error_facts(name, error, refusal=""):
    """Return an observed error and its bound, in words; copied rows bound nothing."""
    share = error.n_errors / error.n_samples
    probability = f"with probability {1 - error.epsilon:g}"
    bound = f"<= {rounded_up(error.bound)}, {probability}, if rows are independent draws of one law"
    return [
        (name, f"{share:.4f} ({error.n_errors:,} of {error.n_samples:,} rows)"),
        ("error on new rows", f"no bound: {refusal}" if refusal else bound),
    ]


def certificate_facts(certificate):
    """Return the certificate of the map with its assumptions, in words."""
    headline, *_ = str(certificate).splitlines()
    probability = f"with probability {1 - certificate.epsilon:g}"
    sample = f"{probability} over samples of {certificate.n_samples:,}"
    return [
        ("certificate", headline if certificate.violations else f"{headline}, {sample}"),
        ("empirical loss", f"{certificate.empirical_loss:.4f}"),
        *(
            (f"{item.status}: {item.name}", item.reason)
            for item in sorted(certificate.assumptions, key=lambda item: item.status == "holds")
        ),
    ]


def fit_report(model):
    """Return a self-contained HTML page on a model."""
    record = model.record
    classes = [f"predicted {name}" for name in record["classes"]]
    confusion = zip(record["classes"], record["confusion"], strict=True)
    numeric = range(1, len(classes) + 1)
    parts = [
        section("In short", table(["what", "value"], fit_facts(model))),
        section(
            "Held-out rows",
            "How many rows of each class, never seen in training, were given each class.",
            table(["class", *classes], ([name, *row] for name, row in confusion), numeric=numeric),
        ),
        section(
            "Certificate of the learned map",
            "It bounds the alignment loss of the map (one half is chance for two balanced "
            "classes), not the error of the classifier, which the held-out rows bound.",
            table(["what", "value"], certificate_facts(model.certificate())),
            figure(_loss_spectrum(model.pipeline["features"]), CAPTION),
        ),
    ]
    if record["notes"]:
        parts.append(section("Notes", *record["notes"]))
    made = [("seed", record["seed"]), *record["versions"].items()]
    parts.append(section("Made with", table(["what", "value"], made)))
    return page(f"A certified classifier of {record['target']}", *parts)


def _loss_spectrum(features):
    """Return the losses of all candidates as a PNG image."""
    from matplotlib.figure import Figure

    from pacfourier.plots import LossSpectrumDisplay

    drawing, image = Figure(figsize=(7, 4), layout="constrained"), io.BytesIO()
    LossSpectrumDisplay.from_estimator(features, ax=drawing.subplots())
    drawing.savefig(image, format="png", dpi=120)
    return image.getvalue()
