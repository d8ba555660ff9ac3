"""The parts of a report that show what a model has learned: effects of columns, and its waves."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pacfourier.arrays import FloatArray
from pacfourier.plots.wave_weights import phase_turns, wave_amplitudes
from pacfourier.reports.charts import (
    Axis,
    bars,
    chart,
    date_axis,
    dots,
    legend,
    line,
    number_axis,
    rows_of_dots,
    seconds_of,
    shortened,
    stems,
)
from pacfourier.reports.class_sections import positive_class
from pacfourier.reports.page import (
    Markup,
    figure,
    section,
    side_by_side,
    subsection,
    table,
)
from pacfourier.tabular.effects import Effect, effects, importances

if TYPE_CHECKING:
    from pacfourier.tabular.model import TableFit, TableModel

MOST_BARS, MOST_EFFECTS, MOST_LINES, MOST_WAVES, MOST_NAMES = 10, 6, 3, 6, 3
# A column whose importance is a smaller share of the largest one has no visible effect.
_SMALLEST_SHARE = 0.02
_TOO_WIDE = "The table has so many columns that it would take too long to rank them."
_EFFECTS_TEXT = (
    "Each chart shows the average prediction if a column had the same value in all rows, and "
    "everything else stayed as it is. It describes the model: it does not say that changing the "
    "column changes the world. If columns go together, such as height and weight, some of these "
    "rows could not exist."
)
_WAVES_TEXT = (
    "The model adds a linear function of the columns and {n_waves:,} waves, which are cosines. A "
    "wave on the left of the chart turns slowly across the data; one on the right turns fast and "
    "sees finer detail. The height says how much a wave moves the predictions, as a share of all "
    "waves."
)


def effect_section(fit: "TableFit") -> Markup:
    """Return the section about the columns that matter most."""
    found = importances(fit.model, fit.held_out, fit.model.record["settings"]["seed"])
    if not found:
        return section("Columns that matter", _TOO_WIDE)
    first = [item for item in found[:MOST_BARS] if item.rise > 0] or found[:1]
    is_amount = fit.model.target.task == "regression"
    measure = "mean absolute error" if is_amount else "mean probability of wrong classes"
    is_seen = fit.certificate is None
    rows = "rows that the model was learned from" if is_seen else "held-out rows"
    rises = np.array([item.rise for item in first])
    drawn = bars(
        f"Rise of the {measure} by column",
        [item.column for item in first],
        rises,
        [f"{rise:.3g}" for rise in rises],
    )
    caption = (
        f"How much the {measure} rises if the values of one column are shuffled between {rows}. "
        "Columns that say the same hide each other's importance."
    )
    visible = [item.column for item in first if item.rise >= _SMALLEST_SHARE * first[0].rise]
    shown = effects(fit.model, fit.held_out.frame, visible)
    charts = _effect_charts(shown[:MOST_EFFECTS], _outputs(fit))
    more = [subsection("Predictions along these columns", _EFFECTS_TEXT, side_by_side(*charts))]
    return section("Columns that matter", figure(drawn, caption), *(more if charts else []))


class _ShownOutputs(NamedTuple):
    """The outputs of a model that may be drawn.

    Parameters
    ----------
    names : list of str
    places : list of int
        Their columns in the averages of an effect.
    label : str
        What they are.
    is_amount : bool
        Whether they are amounts. Else they are probabilities.
    """

    names: list[str]
    places: list[int]
    label: str
    is_amount: bool = False


def _outputs(fit: "TableFit") -> _ShownOutputs:
    target = fit.model.target
    if target.task == "regression":
        return _ShownOutputs(
            [target.name], [0], f"mean prediction of {target.name}", is_amount=True
        )
    if len(target.classes) == 2:
        name = positive_class(fit)
        return _ShownOutputs([name], [target.classes.index(name)], f"mean probability of {name}")
    return _ShownOutputs(target.classes, list(range(len(target.classes))), "mean probability")


def _effect_charts(shown: list[Effect], outputs: _ShownOutputs) -> list[Markup]:
    """Return a chart for each effect, of the outputs that move most along the column.

    All charts have the same axis, so that they can be compared. Probabilities start at zero.

    Parameters
    ----------
    shown : list of Effect
    outputs : _ShownOutputs

    Returns
    -------
    charts : list of Markup
    """
    drawn = []
    for effect in shown:
        values = effect.averages[:, outputs.places]
        moved = np.argsort(-np.ptp(values, axis=0), kind="stable")[:MOST_LINES]
        drawn.append((effect, values[:, moved], [outputs.names[each] for each in moved]))
    if not drawn:
        return []
    everything = np.concatenate([values.ravel() for _, values, _ in drawn])
    axis = number_axis(outputs.label, everything, zero=not outputs.is_amount)
    charts = []
    for effect, values, names in drawn:
        lines = legend(names) if len(names) > 1 else ""
        picture = Markup(f"{lines}{_effect_chart(effect, values, axis)}")
        charts.append(figure(picture, _in_words(effect, values, names)))
    return charts


def _in_words(effect: Effect, values: FloatArray, outputs: list[str]) -> str:
    """Return where the average that moves most is lowest and highest."""
    texts = [_value_text(value, effect.kind) for value in effect.values]
    first = values[:, 0]
    low, high = first.argmin(), first.argmax()
    of = f", {outputs[0]}" if len(outputs) > 1 else ""
    return (
        f"{effect.column}{of}: lowest at {texts[low]} ({first[low]:.3g}), highest at {texts[high]} "
        f"({first[high]:.3g})."
    )


def _value_text(value: Any, kind: str) -> str:
    if kind == "number":
        # Thousands are easier to read than powers of ten.
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"
    return str(np.datetime_as_string(value, unit="D")) if kind == "date" else str(value)


def _effect_chart(effect: Effect, values: FloatArray, axis: Axis) -> Markup:
    title = f"{axis.label} along {effect.column}"
    if effect.kind == "category":
        return rows_of_dots(title, axis, [str(value) for value in effect.values], values)
    if effect.kind == "date":
        across, xs = date_axis(effect.column, effect.values), seconds_of(effect.values)
    else:
        xs = np.asarray(effect.values, dtype=np.float64)
        across = number_axis(effect.column, xs)
    marks = [line(xs, column, series) for series, column in enumerate(values.T)]
    marks += [
        dots(xs[:: len(xs) - 1], column[:: len(xs) - 1], series)
        for series, column in enumerate(values.T)
    ]
    return chart(title, across, axis, *marks)


def wave_section(model: "TableModel") -> Markup:
    """Return the section about the learned frequencies."""
    turns = _source_turns(model)
    speeds = np.linalg.norm(turns, axis=1)
    amplitudes = wave_amplitudes(model.predictor)
    total = amplitudes.sum()
    if not total > 0:
        return section("Waves", "The model has no waves: it is linear.")
    shares = amplitudes / total
    drawn = chart(
        "Waves: share of the predictions by turns across the data",
        number_axis("turns across the data", speeds, zero=True),
        number_axis("share of all waves, %", 100 * shares, zero=True),
        stems(speeds, 100 * shares),
    )
    caption = (
        f"{len(shares):,} waves. Turns are counted over the usual spread of the rows, which is two "
        "standard deviations."
    )
    return section(
        "Waves",
        _WAVES_TEXT.format(n_waves=len(shares)),
        side_by_side(figure(drawn, caption), _wave_table(model, turns, speeds, shares)),
    )


def _source_turns(model: "TableModel") -> FloatArray:
    """Return how far each column of the table turns each wave, over two standard deviations.

    Encoded columns of one column count by the root of the sum of their squares.
    """
    names = [column.name for column in model.columns.used]
    places = {name: place for place, name in enumerate(names)}
    predictor: Any = model.predictor
    turns = phase_turns(predictor.frequencies_, predictor._trained.columns)
    squares = np.zeros((len(turns), len(names)))
    sources = [places[source] for source in model.encoding.sources]
    np.add.at(squares.T, sources, np.square(turns).T)
    return np.asarray(np.sqrt(squares))


def _wave_table(
    model: "TableModel", turns: FloatArray, speeds: FloatArray, shares: FloatArray
) -> Markup:
    names = [column.name for column in model.columns.used]
    rows = []
    for wave in np.argsort(-shares, kind="stable")[:MOST_WAVES]:
        strongest = np.argsort(-turns[wave], kind="stable")[:MOST_NAMES]
        along = ", ".join(shortened(names[each]) for each in strongest if turns[wave, each] > 0)
        rows.append((f"{100 * shares[wave]:.1f} %", f"{speeds[wave]:.2f}", along))
    headers = ["share of all waves", "turns across the data", "columns that turn it most"]
    return table(headers, rows, numeric=(0, 1), caption="The waves that move predictions most")
