"""The commands about your own table: fit, predict, certify and export."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from pacfourier.cli.printing import input_errors, notes, progress_bar, show
from pacfourier.errors import InputError
from pacfourier.extras import check_installed

if TYPE_CHECKING:
    from pacfourier.data.holdout import Share
    from pacfourier.export import TableIntegers
    from pacfourier.pacbayes.prediction_certificate import PredictionCertificate
    from pacfourier.tabular.fitting import Progress
    from pacfourier.tabular.model import FitSettings, TableFit, TableModel
    from pacfourier.tabular.reading.table_blocks import Reading

TABLES = ".csv, .tsv, .parquet, .arrow, .feather or .jsonl file; text may be compressed (.gz)"
Data = Annotated[Path, typer.Argument(help=f"A {TABLES}.")]
Model = Annotated[Path, typer.Argument(help="A .skops file written by 'pacfourier fit'.")]
Separator = Annotated[
    str | None, typer.Option(help="Separator of a text file; by default, it is detected.")
]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding of a text file; by default, it is detected.")
]
Missing = Annotated[
    list[str] | None, typer.Option(help="A word that means 'no value'; may be repeated.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace output files that exist already.")
]
Duplicates = Annotated[
    str | None,
    typer.Option(
        help="Say 'genuine' if rows repeat because the columns have few values, not as copies."
    ),
]
Epsilon = Annotated[float, typer.Option(help="Probability with which each bound may fail.")]
# The words that mean no certificate, and all or no columns.
NO, ALL, NONE = "no", "all", "none"
# A class is rare, and thresholds for it are printed, if it has at most this share of the rows.
RARE = 0.2


def fit(
    data: Data,
    target: Annotated[str, typer.Option(help="Name of the column to predict.")],
    out: Annotated[Path, typer.Option(help="Where to save the model.")] = Path("model.skops"),
    report: Annotated[
        Path | None, typer.Option(help="Where to write an .html report, if wanted.")
    ] = None,
    card: Annotated[
        Path | None, typer.Option(help="Where to write a model card (.md), if wanted.")
    ] = None,
    integers: Annotated[
        Path | None,
        typer.Option(help="Where to write a C header in integers (.h), for microcontrollers."),
    ] = None,
    certify: Annotated[
        str | None,
        typer.Option(
            help="Share of the rows to hold out for the bound; 'no' learns from all.",
            show_default="a fifth, at most 10,000 rows",
        ),
    ] = None,
    epsilon: Epsilon = 0.05,
    duplicates: Duplicates = None,
    n_frequencies: Annotated[
        int, typer.Option(min=1, max=20000, help="Number of cosines: the size of the model.")
    ] = 100,
    group: Annotated[
        str | None,
        typer.Option(help="A column of groups, such as patients, which are never split."),
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(help="'balanced', or weights of classes such as 'yes=5,no=1'."),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            help="COLUMN=number, category, date, text or drop, where the choice is wrong.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")] = 0,
    separator: Separator = None,
    encoding: Encoding = None,
    missing: Missing = None,
    overwrite: Overwrite = False,
) -> None:
    """Learn to predict a column of a table, certify the model, and save it."""
    for library in ("skops", "skrub"):
        check_installed(library)
    from pacfourier.tabular.table_output import check_output

    with input_errors():
        outputs = [(out, ".skops"), (report, ".html"), (card, ".md"), (integers, ".h")]
        for path, suffix in outputs:
            if path is not None:
                check_output(path, (suffix,), overwrite)
        reading = reading_of(separator, encoding, missing)
        settings = settings_of(
            n_frequencies=n_frequencies,
            certify=certify,
            epsilon=epsilon,
            duplicates=duplicates,
            group=group,
            class_weight=class_weight,
            integers=integers is not None,
            types=types,
            seed=seed,
        )
        with progress_bar() as progress:
            found = fitted(data, target, settings, reading, progress)
            small = None if integers is None else rounded(found, progress)
            paths = {"model": out, "report": report, "card": card, "integers": integers}
            write_outputs(found, small, paths, progress)
    notes(found.model.record["notes"])
    show_fit(found)
    if small is not None:
        show_integers(small, found)
    typer.echo(f"\nSaved in {out} ({out.stat().st_size:,} bytes).")


def reading_of(separator: str | None, encoding: str | None, missing: list[str] | None) -> "Reading":
    """Return how to read a table."""
    from pacfourier.tabular.reading.table_blocks import Reading

    return Reading(separator, encoding, tuple(missing or ()))


def settings_of(
    *, certify: str | None, class_weight: str | None, types: Any, **others: Any
) -> "FitSettings":
    """Return the settings of a fit, from the texts of the options."""
    from pacfourier.tabular.model import FitSettings

    return FitSettings(
        certify=share_of(certify),
        class_weight=weights_of(class_weight),
        types=dict(pair_of("--type", each) for each in types or ()),
        **others,
    )


def share_of(text: str | None) -> "Share | None":
    """Return the share of rows to hold out in a text; no text leaves it to the library."""
    if text is None or text == NO:
        return True if text is None else None
    return number_of("--certify", text)


def weights_of(text: str | None) -> dict[str, float] | str | None:
    """Return the weights of classes in a text such as ``yes=5,no=1``."""
    if text is None or text == "balanced":
        return text
    pairs = (pair_of("--class-weight", each) for each in text.split(","))
    return {name: number_of("--class-weight", weight) for name, weight in pairs}


def pair_of(option: str, text: str) -> tuple[str, str]:
    """Return the name and the value in a text such as ``name=value``."""
    name, equals, value = text.rpartition("=")
    if not equals or not name or not value:
        raise InputError(f"{option} must have the form NAME=VALUE, got {text!r}.")
    return name, value


def number_of(option: str, text: str) -> float:
    """Return a positive number in a text."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        allowed = f"a number between 0 and 1, or {NO!r}" if option == "--certify" else "positive"
        raise InputError(f"{option} must be {allowed}, got {text!r}.")
    return number


def fitted(
    data: Path, target: str, settings: "FitSettings", reading: "Reading", progress: "Progress"
) -> "TableFit":
    """Fit a model."""
    from pacfourier.tabular.fitting import fit_table

    return fit_table(data, target, settings, reading=reading, progress=progress)


def rounded(found: "TableFit", progress: "Progress") -> "TableIntegers":
    """Return the model in integers."""
    from pacfourier.export import table_integers

    progress("rounding to integers", 1.0)
    try:
        return table_integers(found)
    except ValueError as error:
        raise InputError(str(error)) from None


def write_outputs(
    found: "TableFit",
    small: "TableIntegers | None",
    paths: dict[str, Path | None],
    progress: "Progress",
) -> None:
    """Write the model, and the report, the card and the integers if they are wanted."""
    from pacfourier.tabular.model_files import model_bytes
    from pacfourier.written_files import write_file

    contents: dict[Any, bytes] = {paths["model"]: model_bytes(found.model)}
    if paths["report"] is not None:
        from pacfourier.reports.tabular_report import fit_report

        progress("writing the report", 1.0)
        contents[paths["report"]] = fit_report(found).encode()
    if paths["card"] is not None:
        from pacfourier.reports.model_card import model_card

        contents[paths["card"]] = model_card(found).encode()
    if small is not None and paths["integers"] is not None:
        from pacfourier.export.c_text import prefix_of

        prefix = prefix_of(paths["integers"].name)
        contents[paths["integers"]] = small.to_c(prefix=prefix).encode()
    for path, content in contents.items():
        write_file(path, content)


def show_fit(found: "TableFit") -> None:
    """Print how good a model is."""
    record = found.model.record
    show_model(found.model)
    if found.certificate is not None and record["is_certified"]:
        show_certificate(found.certificate)
    else:
        typer.echo(f"\n{record['headline']}")


def show_integers(small: "TableIntegers", found: "TableFit") -> None:
    """Print the size and the error of the integers, and what is certified about them."""
    from pacfourier.bounds.safe_side import confidence
    from pacfourier.tabular.fitting import is_bounded

    typer.echo(f"\nIn integers: {small.model.n_bytes:,} bytes of constants.")
    if small.error is not None:
        task = found.model.target.task
        measure = "error" if task == "classification" else "mean absolute error"
        typer.echo(f"On the rows held out, their {measure} is {error_text(small.error, task)}.")
    typer.echo(f"{small.statement}.")
    if is_bounded(small.certificate) and is_bounded(found.certificate):
        both = confidence(min(1.0, 2 * found.settings.epsilon))
        typer.echo(f"This bound and that of the model hold together with probability {both}.")


def show_model(model: "TableModel") -> None:
    """Print what a model is, and how it compares with others."""
    record, columns = model.record, model.columns
    rows = record["rows"]
    kinds = [column.kind for column in columns.used]
    counted = ", ".join(f"{kinds.count(kind)} of type {kind}" for kind in dict.fromkeys(kinds))
    what = "classes" if model.target.task == "classification" else "an amount"
    is_chosen = 0 < rows["certifying"] < rows["held out"]
    chosen = f"; one of each group, {rows['certifying']:,} rows, give the bound" * is_chosen
    show(
        [
            ("data", f"{record['data']}: {rows['read']:,} rows"),
            ("target", f"{model.target.name}: {what}{class_text(model)}"),
            ("columns", f"{len(kinds)} used ({counted}), {len(columns.left_out)} left out"),
            ("rows", f"{rows['learned']:,} learned from, {rows['held out']:,} held out{chosen}"),
        ]
    )
    typer.echo("")
    show_results(record["results"], rows["held out"], model.target.task)
    counts = record["class counts"]
    if record["thresholds"] and min(counts) <= RARE * sum(counts):
        show_thresholds(model)


def class_text(model: "TableModel") -> str:
    """Return the names of the classes, as far as they fit on a line."""
    from pacfourier.errors import listed

    return f" {listed(model.target.classes)}" if model.target.classes else ""


def error_text(error: float, task: str) -> str:
    """Return a share of errors in percent, or an amount as it is."""
    return f"{100 * error:.2f} %" if task == "classification" else f"{error:.4g}"


def show_results(results: list[dict[str, Any]], n_rows: int, task: str) -> None:
    """Print the errors of the model and of those it is compared with."""
    is_classes = task == "classification"
    measure = "error" if is_classes else "mean absolute error"
    headers = [f"on {n_rows:,} rows held out", measure, "standard error", "seconds to fit"]
    lines = []
    for each in results:
        numbers = [each["error"], each["standard_error"]]
        texts = [error_text(x, task) for x in numbers]
        lines.append([each["name"], *texts, f"{each['seconds']:.1f}"])
        if not is_classes:
            lines[-1].append("" if each["r2"] is None else f"{each['r2']:.3f}")
    show(lines, headers if is_classes else [*headers, "R2"])


def show_thresholds(model: "TableModel") -> None:
    """Print thresholds with which ``predict`` finds more rows of the rarer class."""
    from pacfourier.bounds.safe_side import safely_rounded
    from pacfourier.pacbayes.assumptions import new_rows

    name = model.target.classes[model.rarer_place()]
    if not any(each["threshold"] for each in model.record["thresholds"]):
        typer.echo(
            f"\nToo few rows of {name!r} were held out for a threshold with a promised recall: "
            "pass a larger share to --certify, or add rows of this class."
        )
        return
    typer.echo(f"\nTo find more rows of {name!r}, pass a threshold to 'pacfourier predict':")
    group = model.record["settings"]["group"]
    if group is not None:
        typer.echo(f"(A recall is a share of {new_rows(group)} that are of this class.)")
    headers = ["recall at least", "--threshold", "precision", f"predicted as {name!r}"]
    show(
        [
            [
                f"{each['recall']:g}",
                safely_rounded(each["threshold"], "down") if each["threshold"] else "too few rows",
                f"{each['precision']:.3f}",
                f"{100 * each['alarms']:.1f} %",
            ]
            for each in model.record["thresholds"]
        ],
        headers,
    )


def show_certificate(certificate: "PredictionCertificate") -> None:
    """Print a certificate with its assumptions."""
    from pacfourier.tabular.fitting import in_words_of_the_command

    typer.echo(f"\n{in_words_of_the_command(str(certificate))}")


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path, typer.Option(help="Where to write the predictions: a .csv or .parquet file.")
    ] = Path("predictions.csv"),
    proba: Annotated[
        bool, typer.Option(help="Whether to add the probability of each class.")
    ] = True,
    columns: Annotated[
        str, typer.Option(help="Columns of the table to keep: 'all', 'none', or names, by commas.")
    ] = ALL,
    threshold: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Predict the rarer class from this probability on."),
    ] = None,
    separator: Separator = None,
    encoding: Encoding = None,
    missing: Missing = None,
    overwrite: Overwrite = False,
) -> None:
    """Add predictions to a table of new rows."""
    from pacfourier.tabular.columns import Strays, stray_notes
    from pacfourier.tabular.model_files import load_model
    from pacfourier.tabular.predicting import predicted_blocks, unused_notes
    from pacfourier.tabular.reading.table_files import open_table
    from pacfourier.tabular.table_output import check_output, written_table

    strays = Strays()
    n_rows = 0
    with input_errors():
        check_output(out, (".csv", ".parquet"), overwrite)
        fitted = load_model(model)
        table = open_table(data, reading_of(separator, encoding, missing))
        with progress_bar() as progress, written_table(out, overwrite) as writer:
            for block, unread in predicted_blocks(
                fitted,
                table,
                columns=kept_columns(columns),
                has_probabilities=proba,
                threshold=threshold,
                advance=partial(progress, "predicting"),
            ):
                writer.write(block)
                n_rows += len(block)
                strays.update(unread)
    notes([*table.notes, *unused_notes(fitted, table), *stray_notes(strays)])
    typer.echo(f"{n_rows:,} predictions in {out}")


def kept_columns(text: str) -> list[str] | None:
    """Return the names in a text; None means all columns."""
    if text == ALL:
        return None
    return [] if text == NONE else text.split(",")


def certify(
    model: Model,
    data: Annotated[
        Path | None, typer.Argument(help="A table of new rows with their labels, if you have one.")
    ] = None,
    epsilon: Epsilon = 0.05,
    duplicates: Duplicates = None,
    group: Annotated[
        str | None,
        typer.Option(
            help="The column of groups; by default that of the fit. 'none' if rows are independent."
        ),
    ] = None,
    separator: Separator = None,
    encoding: Encoding = None,
    missing: Missing = None,
) -> None:
    """Show what is certified about a model, or certify it on new labelled rows."""
    from pacfourier.tabular.model_files import load_model

    with input_errors():
        fitted = load_model(model)
        if data is None:
            show_model(fitted)
            typer.echo(f"\n{fitted.record['headline']}")
            return
        from pacfourier.tabular.certifying import certified_rows
        from pacfourier.tabular.fitting import headline
        from pacfourier.tabular.model import FitSettings
        from pacfourier.tabular.reading.table_files import open_table

        settings = FitSettings(epsilon=epsilon, duplicates=cast("Any", duplicates))
        table = open_table(data, reading_of(separator, encoding, missing))
        with progress_bar() as progress:
            advance = partial(progress, "certifying")
            found = certified_rows(
                fitted, table, settings.epsilon, settings.duplicates, group, advance
            )
        if found.certificate.violations:
            raise InputError(headline(found.certificate))
    notes([*table.notes, *found.notes])
    show_certificate(found.certificate)


def export(
    model: Model,
    c: Annotated[Path | None, typer.Option("--c", help="Where to write a C99 header.")] = None,
    json: Annotated[
        Path | None, typer.Option("--json", help="Where to write the formula as JSON.")
    ] = None,
    onnx: Annotated[
        Path | None, typer.Option("--onnx", help="Where to write an ONNX graph of float32.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a saved model as C, as JSON or as ONNX."""
    from pacfourier import export
    from pacfourier.export.c_text import prefix_of
    from pacfourier.export.predictor_files import TablePredictor, load_predictor, onnx_bytes
    from pacfourier.tabular.table_output import check_output
    from pacfourier.written_files import write_file

    def header(fitted: TablePredictor) -> bytes:
        prefix = prefix_of(str(c and c.name))
        return export.to_c(fitted.model, prefix=prefix, table_row=fitted.table_row).encode()

    formats: tuple[tuple[Path | None, str, Callable[[TablePredictor], bytes]], ...] = (
        (c, ".h", header),
        (
            json,
            ".json",
            lambda fitted: export.to_json(fitted.model, table_row=fitted.table_row).encode(),
        ),
        (onnx, ".onnx", lambda fitted: onnx_bytes(fitted.model)),
    )
    wanted = [(path, suffix, content) for path, suffix, content in formats if path is not None]
    with input_errors():
        if not wanted:
            raise InputError(
                "export must have at least one output, got none: pass --c, --json or --onnx."
            )
        for path, suffix, _ in wanted:
            check_output(path, (suffix,), overwrite)
        fitted = load_predictor(model)
        for path, _, content in wanted:
            try:
                data = content(fitted)
            except ValueError as error:
                raise InputError(str(error)) from None
            write_file(path, data)
            typer.echo(f"{len(data)} bytes in {path}")
