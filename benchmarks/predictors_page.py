"""Tables, bars and figure of the comparison of predictors, from its measured cells."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.pages import markdown, write_between_marks
from benchmarks.predictors_certified import N_RESAMPLINGS
from benchmarks.predictors_data import AMOUNTS, N_SPLITS, ONE_TEST_PART, SETS, TIMED_SETS
from benchmarks.predictors_models import (
    FEW_FREQUENCIES,
    FEW_FREQUENCY_SETS,
    MODELS,
    N_FREQUENCIES,
    RIVALS,
    is_run_on,
)

Record = dict[str, Any]
NOT_RUN = "not run"
COLUMNS = ("ours", "linear", "SVM", "HistGB", "LightGBM", "MLP", "RBFSampler", "Nystroem")
PROBABILISTIC = ("ours", "linear", "LightGBM")
PIXELS = "SVM, raw pixels"
HEADERS = {
    "linear": "logistic or ridge",
    "SVM": "RBF SVM, tuned",
    PIXELS: "RBF SVM on pixels as they are",
    "HistGB": "HistGradientBoosting",
}


# What the models are called in the table of few frequencies.
FEW_NAMES = {"ours": "FourierClassifier, D frequencies", "MLP": "MLP, D hidden units"}


class Cells:
    """Measured cells, by set and model."""

    def __init__(self, records: list[Record]) -> None:
        self.records = {(each["set"], each["model"], each["split"]): each for each in records}

    def of(self, name: str, model: str) -> dict[int, Record]:
        """Return the cells of a model on a set, by split."""
        found = {split: self.records.get((name, model, split)) for split in range(N_SPLITS)}
        return {split: record for split, record in found.items() if record is not None}

    def is_whole(self, name: str, model: str) -> bool:
        """Return whether all splits of a set were run."""
        return len(self.of(name, model)) == (1 if name in ONE_TEST_PART else N_SPLITS)

    def mean(self, name: str, model: str, key: str) -> float:
        """Return the mean of a number over splits, NaN if there is none."""
        values = [each[key] for each in self.of(name, model).values() if key in each]
        return float(np.mean(values)) if values else math.nan

    def standard_error(self, name: str, model: str) -> float:
        """Return the standard error of the mean error: over splits, or that of one test part."""
        cells = list(self.of(name, model).values())
        errors = np.array([each["error"] for each in cells])
        if len(errors) == 1:
            return float(np.sqrt(errors[0] * (1 - errors[0]) / cells[0]["n_test"]))
        return float(errors.std(ddof=1) / np.sqrt(len(errors)))

    def excess(self, name: str, model: str) -> tuple[float, float]:
        """Return by how much our error exceeds that of a model, and the standard error of that.

        The differences are taken split by split. On one test part, it is the standard error of
        our own error.
        """
        ours, others = self.of(name, "ours"), self.of(name, model)
        shared = sorted(set(ours) & set(others))
        gaps = np.array([ours[split]["error"] - others[split]["error"] for split in shared])
        if len(gaps) == 1:
            return float(gaps[0]), self.standard_error(name, "ours")
        return float(gaps.mean()), float(gaps.std(ddof=1) / np.sqrt(len(gaps)))

    def ratio(self, name: str, model: str) -> float:
        """Return our error divided by that of a model on the splits that both were run on.

        Half a wrong row is added to both, because some errors are zero. NaN if one was not run.
        """
        ours, others = self.of(name, "ours"), self.of(name, model)
        shared = sorted(set(ours) & set(others))
        if not shared:
            return math.nan
        n_rows = sum(ours[split]["n_test"] for split in shared)
        half = 0 if name in AMOUNTS else 0.5 * len(shared) / n_rows
        sums = [sum(cells[split]["error"] + half for split in shared) for cells in (ours, others)]
        return sums[0] / sums[1]

    def largest_ratio(self, name: str, models: tuple[str, ...]) -> float:
        """Return our error divided by that of the best of some models."""
        ratios = [self.ratio(name, model) for model in models]
        return max((ratio for ratio in ratios if not math.isnan(ratio)), default=math.nan)


def error_text(cells: Cells, name: str, model: str) -> str:
    """Return the mean error in % with its standard error."""
    found = cells.of(name, model)
    if not found:
        return NOT_RUN
    mean = 100 * cells.mean(name, model, "error")
    text = f"{mean:.2f} ± {100 * cells.standard_error(name, model):.2f}"
    return text if cells.is_whole(name, model) else f"{text} ({len(found)} of {N_SPLITS} splits)"


def seconds_text(cells: Cells, name: str, model: str) -> str:
    """Return the mean seconds to fit."""
    value = cells.mean(name, model, "seconds")
    return NOT_RUN if math.isnan(value) else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def model_table(cells: Cells, text: Callable[[Cells, str, str], str]) -> str:
    """Return a table with one row per set and one column per model."""
    header = ["set", *(HEADERS.get(model, model) for model in COLUMNS)]
    return markdown(
        header, [[name, *(text(cells, name, model) for model in COLUMNS)] for name in SETS]
    )


def loss_list(cells: Cells) -> str:
    """Return the rivals that were better than ours, set by set."""
    lines = []
    for name in SETS:
        models = (*COLUMNS[1:], PIXELS)
        better = [model for model in models if cells.ratio(name, model) > 1]
        texts = [f"{HEADERS.get(each, each)} ({error_text(cells, name, each)})" for each in better]
        if texts:
            lines.append(f"- {name}, ours {error_text(cells, name, 'ours')}: {', '.join(texts)}")
    return "\n".join(lines) or "On no set."


def more_splits_table(cells: Cells) -> str:
    """Return the wrong rows of models that were run on more splits of a set than others."""
    found: dict[tuple[str, str], list[Record]] = {}
    for (name, model, _), record in cells.records.items():
        if model in COLUMNS and name not in AMOUNTS:
            found.setdefault((name, model), []).append(record)
    rows = []
    for (name, model), records in found.items():
        if len(records) > N_SPLITS:
            n_wrong = sum(round(each["error"] * each["n_test"]) for each in records)
            n_rows = sum(each["n_test"] for each in records)
            texts = [str(len(records)), HEADERS.get(model, model), f"{n_wrong} of {n_rows:,}"]
            rows.append([name, *texts, f"{100 * n_wrong / n_rows:.2f}"])
    return markdown(["set", "splits", "model", "wrong rows", "error, %"], rows)


def pixel_table(cells: Cells) -> str:
    """Return the errors of the machine on pixels that are not scaled, beside ours."""
    names = [name for name in SETS if cells.of(name, PIXELS)]
    models = ("ours", "SVM", PIXELS)
    rows = [[name, *(error_text(cells, name, model) for model in models)] for name in names]
    return markdown(["set", "ours", "RBF SVM, scaled columns", "RBF SVM, pixels as they are"], rows)


def probability_table(cells: Cells) -> str:
    """Return log-losses and calibration errors."""
    rows = []
    for name in SETS:
        if name in AMOUNTS:
            continue
        losses = [cells.mean(name, model, "log_loss") for model in PROBABILISTIC]
        gaps = [100 * cells.mean(name, model, "ece") for model in PROBABILISTIC]
        texts = [f"{value:.3f}" for value in losses] + [f"{value:.1f}" for value in gaps]
        rows.append([name, *(NOT_RUN if text == "nan" else text for text in texts)])
    kinds = ("ours", "logistic", "LightGBM")
    return markdown(
        ["set", *(f"log-loss, {kind}" for kind in kinds), *(f"ECE in %, {kind}" for kind in kinds)],
        rows,
    )


def timing_table(cells: Cells) -> str:
    """Return the times of predictions."""
    rows = []
    for name in TIMED_SETS:
        for record in cells.of(name, "prediction time").values():
            ours, theirs = record["ours, us"], record["LightGBM, us"]
            errors = [f"{100 * record[f'{model}, error']:.1f}" for model in ("ours", "LightGBM")]
            rows.append([name, f"{ours:.2f}", f"{theirs:.1f}", f"{theirs / ours:.1f}", *errors])
    return markdown(
        ["set", "ours, µs per row", "LightGBM, µs", "ratio", "error of ours, %", "of LightGBM"],
        rows,
    )


class Bar(NamedTuple):
    """A goal, what was measured, and whether it is met; None if it was not measured."""

    what: str
    goal: str
    measured: str
    is_met: bool | None


def _bar(what: str, goal: str, value: float, limit: float, form: str = "{:.2f}") -> Bar:
    """Return the bar of a number that must be at most a limit."""
    if math.isnan(value):
        return Bar(what, goal, NOT_RUN, None)
    is_met = None if math.isnan(limit) else bool(value <= limit)
    return Bar(what, goal.replace("nan %", "its error"), form.format(value), is_met)


def _sets_bar(what: str, goal: str, found: dict[str, float], limit: float, form: str) -> Bar:
    """Return the bar of one number per set, which must be at most a limit on every set."""
    known = {name: value for name, value in found.items() if not math.isnan(value)}
    if not known:
        return Bar(what, goal, NOT_RUN, None)
    bad = [f"{name} ({form.format(value)})" for name, value in known.items() if value > limit]
    text = f"{len(known) - len(bad)} of {len(known)} sets"
    text += f"; {len(found) - len(known)} not run" if len(known) < len(found) else ""
    text += f"; not on {', '.join(bad)}" if bad else ""
    return Bar(what, goal, text, not bad)


def linear_bar(cells: Cells) -> Bar:
    """Return the bar against linear models, in standard errors of the difference."""
    found = dict.fromkeys(SETS, math.nan)
    for name in SETS:
        if cells.of(name, "ours") and cells.of(name, "linear"):
            gap, deviation = cells.excess(name, "linear")
            found[name] = 0.0 if gap <= 0 else gap / max(deviation, 1e-12)
    what, goal = "against logistic or ridge regression", "never worse beyond one standard error"
    return _sets_bar(what, goal, found, 1.0, "{:.1f} standard errors")


def machine_bar(cells: Cells, model: str, what: str) -> Bar:
    """Return the bar against a tuned RBF machine."""
    found = {name: cells.ratio(name, model) for name in SETS if is_run_on(model, name)}
    return _sets_bar(what, "at most 1.15 times its error", found, 1.15, "{:.2f}")


def mean_ratio_bar(cells: Cells, models: tuple[str, ...], what: str) -> Bar:
    """Return the bar of the geometric mean of ratios to the best rival."""
    ratios = [cells.largest_ratio(name, models) for name in SETS]
    ratios = [ratio for ratio in ratios if not math.isnan(ratio)]
    if not ratios:
        return Bar(what, "at most 1.05", NOT_RUN, None)
    value = float(np.exp(np.mean(np.log(ratios))))
    return Bar(what, "at most 1.05", f"{value:.3f} ({len(ratios)} sets)", value <= 1.05)


def _digit_bars(cells: Cells) -> Iterator[Bar]:
    goals = (("ours, D = 20", 20, 3.8), ("ours", 100, 1.9), ("ours, D = 500", 500, 1.6))
    for model, size, goal in goals:
        error = 100 * cells.mean("mnist10", model, "error")
        yield _bar(f"MNIST, ten classes, D = {size}", f"at most {goal} %", error, goal, "{:.2f} %")
    times = [cells.mean("mnist10", model, "seconds") for model in ("ours", "LightGBM")]
    what = "MNIST, D = 100: time to fit against LightGBM"
    yield _bar(what, "at most 0.4 times", times[0] / times[1], 0.4)
    errors = [100 * cells.mean("mnist10", model, "error") for model in ("ours", "LightGBM")]
    what, goal = "MNIST, D = 100: error against LightGBM", f"below {errors[1]:.2f} %"
    yield _bar(what, goal, errors[0], errors[1], "{:.2f} %")


def _timing_bars(cells: Cells) -> Iterator[Bar]:
    for name in TIMED_SETS:
        what = f"prediction on {name}, against LightGBM"
        ours, theirs = (
            cells.mean(name, "prediction time", f"{model}, us") for model in ("ours", "LightGBM")
        )
        ratio = theirs / ours
        measured = NOT_RUN if math.isnan(ratio) else f"{ratio:.1f} times faster"
        yield Bar(
            what, "at least 10 times faster", measured, None if math.isnan(ratio) else ratio >= 10
        )


def _certified_bars(cells: Cells) -> Iterator[Bar]:
    goals = (
        ("mnist10", "ours", "MNIST, ten classes, 10,000 rows held out", 2.2),
        ("adult", "ours, certified", "adult, 10,000 training rows held out", 14.0),
        ("mnist17", "ours, certified", "mnist17, half of 11,377 rows held out", 0.6),
    )
    for name, model, what, goal in goals:
        value = 100 * cells.mean(name, model, "certified")
        yield _bar(f"certified error: {what}", f"at most {goal} %", value, goal, "{:.2f} %")
    accepted = cells.mean("mnist10", "ours", "accepted")
    what = "abstention, wished error 1 % on MNIST: share accepted"
    measured = NOT_RUN if math.isnan(accepted) else f"{100 * accepted:.1f} %"
    yield Bar(what, "at least 90 %", measured, None if math.isnan(accepted) else accepted >= 0.9)
    kept = cells.mean("mnist10", "ours", "kept")
    what = f"abstention: promise kept, in {N_RESAMPLINGS:,} resamplings of a known law"
    if math.isnan(kept):
        yield Bar(what, "at least 95 %", NOT_RUN, None)
        return
    noise = math.sqrt(kept * (1 - kept) / N_RESAMPLINGS)
    measured = f"{100 * kept:.1f} ± {100 * noise:.1f} %"
    yield Bar(what, "at least 95 %", measured, kept >= 0.95)


def bars(cells: Cells) -> list[Bar]:
    """Return all goals with what was measured."""
    adult = [100 * cells.mean("adult", model, "error") for model in ("ours", "SVM")]
    scaled = "against a tuned RBF SVM on scaled columns"
    return [
        linear_bar(cells),
        machine_bar(cells, "SVM", scaled),
        _bar("adult, against the tuned RBF SVM", f"below {adult[1]:.2f} %", *adult, "{:.2f} %"),
        machine_bar(cells, PIXELS, "against a tuned RBF SVM on pixels as they are"),
        mean_ratio_bar(cells, RIVALS, "ratio to the best rival, geometric mean over sets"),
        mean_ratio_bar(cells, (*RIVALS, PIXELS), "the same, with the SVM on pixels as they are"),
        _bar("adult", "at most 13.2 %", adult[0], 13.2, "{:.2f} %"),
        *_digit_bars(cells),
        *_timing_bars(cells),
        *_certified_bars(cells),
    ]


def bar_table(cells: Cells) -> str:
    """Return the table of goals."""
    met = {True: "yes", False: "**no**", None: NOT_RUN}
    rows = [[bar.what, bar.goal, bar.measured, met[bar.is_met]] for bar in bars(cells)]
    return markdown(["what", "goal", "measured", "met"], rows)


def measured_part(cells: Cells) -> str:
    """Return the part of the page that is written from measured cells."""
    days = sorted({record["day"] for record in cells.records.values() if "day" in record})
    return "\n\n".join(
        [
            f"Measured on {' to '.join(dict.fromkeys((days[0], days[-1])))}." if days else "",
            "### Goals",
            bar_table(cells),
            "### Where ours loses",
            "Every rival whose mean error is smaller, in %:",
            loss_list(cells),
            "### Test errors",
            "Mean ± standard error, in %: wrong rows, or 1 - R² for diabetes and Friedman.",
            model_table(cells, error_text),
            "An SVM does better on pixels that are not scaled column by column:",
            pixel_table(cells),
            "Five splits of a small set say little. The same on more of them, the five included:",
            more_splits_table(cells),
            "### Seconds to fit",
            model_table(cells, seconds_text),
            "### Time of predictions",
            timing_table(cells),
            "### Probabilities",
            probability_table(cells),
        ]
    ).strip()


def draw_figure(cells: Cells, path: Path) -> None:
    """Draw the error of every model, divided by ours, one line per set."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5.5), layout="constrained")
    names = [name for name in SETS if cells.of(name, "ours")]
    for model in COLUMNS[1:]:
        ratios = [1 / cells.ratio(name, model) for name in names]
        axes.plot(ratios, range(len(names)), "o", alpha=0.7, label=HEADERS.get(model, model))
    pixels = [1 / cells.ratio(name, PIXELS) for name in names]
    axes.plot(pixels, range(len(names)), "oC1", mfc="none", label="RBF SVM, unscaled pixels")
    axes.axvline(1, color="black", label="ours")
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2, 4, 8], ["0.5", "1", "2", "4", "8"])
    axes.minorticks_off()
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("test error divided by ours (right of the line: ours is better)")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def few_frequencies_table(cells: Cells) -> str:
    """Return the errors of ours and of networks at several sizes, and of a linear model."""
    sizes = (*FEW_FREQUENCIES, N_FREQUENCIES)
    rows = []
    for name in FEW_FREQUENCY_SETS:
        for model in ("ours", "MLP"):
            models = [f"{model}, D = {size}" for size in FEW_FREQUENCIES] + [model]
            errors = [100 * cells.mean(name, each, "error") for each in models]
            texts = [NOT_RUN if math.isnan(error) else f"{error:.2f}" for error in errors]
            linear = f"{100 * cells.mean(name, 'linear', 'error'):.2f}" if model == "ours" else ""
            rows.append([name if linear else "", FEW_NAMES[model], linear, *texts])
    return markdown(["set", "model", "linear model", *(f"D = {size}" for size in sizes)], rows)


def write_page(records: list[Record], page: Path) -> None:
    """Write the measured parts of the page and of ``small-d.md`` beside it, and the figure."""
    known = [each for each in records if each["model"] in (*MODELS, "prediction time")]
    cells = Cells(known)
    write_between_marks(page, measured_part(cells))
    write_between_marks(page.with_name("small-d.md"), few_frequencies_table(cells))
    draw_figure(cells, page.parent / "images" / "predictors.png")
