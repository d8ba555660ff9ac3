"""Rows that belong to groups: one row of each certifies, and every text says what that means."""

import html
import re
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.tabular.command import FEW, TABLES, bounds, notes, refused, succeeded, written

from pacfourier.errors import InputError
from pacfourier.export import table_integers
from pacfourier.reports.model_card import model_card
from pacfourier.reports.tabular_report import fit_report
from pacfourier.tabular import FitSettings, fit_table, fresh_certificate, open_table
from pacfourier.tabular.certifying import _one_row_of_each_group, certified_rows

N_TRIALS, EPSILON = 60, 0.05


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder, to which nothing is written."""
    monkeypatch.chdir(tmp_path)


def visits(n_patients, n_visits, rng):
    """Visits of patients. Whether a patient is ill is a coin, so every model errs on half of them.

    All visits of a patient look alike, so a model is right or wrong about most of them together.
    """
    measured = np.repeat(rng.standard_normal((n_patients, 3)), n_visits, axis=0)
    table = pd.DataFrame(measured + 0.01 * rng.standard_normal(measured.shape), columns=[*"abc"])
    coins = rng.choice(["ill", "well"], n_patients)
    names = [f"p{number}" for number in rng.permutation(10 * n_patients)[:n_patients]]
    table = table.assign(patient=np.repeat(names, n_visits), state=np.repeat(coins, n_visits))
    return table.iloc[rng.permutation(len(table))].reset_index(drop=True)


@pytest.fixture(scope="module")
def model():
    table = visits(100, 5, np.random.default_rng([TABLES, 0]))
    return fit_table(table, "state", FitSettings(n_frequencies=5, group="patient")).model


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Return the file of a model that was fitted with groups."""
    folder = tmp_path_factory.mktemp("model")
    table = visits(100, 5, np.random.default_rng([TABLES, 0]))
    data, model = written(table, folder / "data.csv"), folder / "model.skops"
    succeeded("fit", data, "--target", "state", "--group", "patient", "--out", model, *FEW)
    return model


# Which rows certify


def test_forty_patients_with_fifty_visits_each_are_forty_rows(model):
    """The error is one half. As 2,000 independent rows, four in ten of such tables seem better."""
    n_false = {None: 0, "none": 0}
    for seed in range(N_TRIALS):
        table = open_table(visits(40, 50, np.random.default_rng([TABLES, 1, seed])))
        for group in n_false:
            n_false[group] += fresh_certificate(model, table, group=group).error < 0.5
    assert n_false[None] <= stats.binom.isf(1e-6, N_TRIALS, EPSILON)
    # What the option says is taken at its word, and this is what happens if it is false.
    assert n_false["none"] > stats.binom.isf(1e-6, N_TRIALS, EPSILON)


def test_one_row_of_each_group_is_chosen_and_each_is_equally_likely(model):
    """The chosen visit of 4,000 patients with 1 to 4 visits, some without a label or a patient."""
    rng = np.random.default_rng([TABLES, 2])
    table = visits(4000, 4, rng).sort_values("patient", ignore_index=True)
    table["visit"] = np.tile(range(4), 4000)
    table.loc[table["visit"] == 3, "state"] = None
    table.loc[:7, "patient"] = None
    is_chosen = _one_row_of_each_group(model, open_table(table), "patient")
    chosen = table[is_chosen]
    assert not chosen["state"].isna().any()
    # Six labelled visits without a patient stand for themselves.
    assert chosen["patient"].isna().sum() == 6
    known = chosen.dropna(subset="patient")
    assert known["patient"].nunique() == len(known) == 4000 - 2
    counts = known["visit"].value_counts().to_numpy()
    assert len(counts) == 3
    assert stats.chisquare(counts).pvalue > 1e-6


def test_chosen_rows_do_not_depend_on_the_size_of_blocks(model, monkeypatch):
    table = visits(300, 7, np.random.default_rng([TABLES, 3]))
    written(table, "data.csv")
    whole = certified_rows(model, open_table(table), EPSILON, None)
    monkeypatch.setattr("pacfourier.tabular.reading.table_blocks.BLOCK_BYTES", 2000)
    monkeypatch.setattr("pacfourier.tabular.reading.table_blocks.BLOCK_BYTES_PER_COLUMN", 1)
    small = certified_rows(model, open_table(table), EPSILON, None)
    assert small.certificate.n_samples == whole.certificate.n_samples == 300
    assert small.certificate.to_dict() == whole.certificate.to_dict()


def test_the_command_uses_the_groups_of_the_fit_and_says_so(file):
    data = written(visits(40, 50, np.random.default_rng([TABLES, 4])), "new.csv")
    result = succeeded("certify", file, data)
    assert "one random row of each of 40 groups of 'patient'" in notes(result)
    [bound] = bounds(result.stdout)
    assert bound > 0.3
    # A copy without the name of the patient, and one with another name.
    table = pd.read_csv(data)
    renamed = written(table.rename(columns={"patient": "person"}), "renamed.csv")
    assert bounds(succeeded("certify", file, renamed, "--group", "person").stdout) == [bound]
    [as_rows] = bounds(succeeded("certify", file, data, "--group", "none").stdout)
    assert as_rows != bound


def test_a_table_without_the_groups_of_the_fit_is_refused_unless_rows_are_declared(file):
    table = visits(200, 1, np.random.default_rng([TABLES, 5])).drop(columns="patient")
    data = written(table, "new.csv")
    line = refused("certify", file, data)
    assert "'patient'" in line
    assert "--group none" in line
    assert bounds(succeeded("certify", file, data, "--group", "none").stdout)


@pytest.mark.parametrize("name", ["nobody", "state"])
def test_a_wrong_group_is_refused(name, file):
    data = written(visits(200, 1, np.random.default_rng([TABLES, 6])), "new.csv")
    line = refused("certify", file, data, "--group", name)
    assert "--group" in line
    assert f"'{name}'" in line


def test_groups_may_be_named_if_the_fit_had_none():
    table = visits(100, 5, np.random.default_rng([TABLES, 7]))
    settings = FitSettings(n_frequencies=5, types={"patient": "drop"}, duplicates="genuine")
    model = fit_table(table, "state", settings).model
    new = open_table(visits(30, 4, np.random.default_rng([TABLES, 8])))
    assert fresh_certificate(model, new).n_samples == 120
    assert fresh_certificate(model, new, group="patient").n_samples == 30
    with pytest.raises(InputError, match="--group must be one of the columns"):
        fresh_certificate(model, new, group="nobody")


# What is said


class Said(NamedTuple):
    """What is said about a fit, by place, and the group of the fit."""

    texts: dict
    group: str | None


def separable(n_groups, rng):
    """Groups of three rows. A rare class, and an amount, show in two columns."""
    x = np.repeat(rng.standard_normal((n_groups, 2)), 3, axis=0)
    x += 0.3 * rng.standard_normal(x.shape)
    table = pd.DataFrame(x, columns=["a", "b"])
    amount = 10 * x[:, 0] + rng.standard_normal(len(x))
    return table.assign(
        clinic=np.repeat([f"c{number}" for number in range(n_groups)], 3),
        state=np.where(x[:, 0] + 0.3 * rng.standard_normal(len(x)) > 1.2, "fault", "fine"),
        price=amount.round(4),
    )


def markdown(text):
    """Return Markdown as it reads."""
    return re.sub(r"\\(.)", r"\1", text)


def plain(page):
    """Return the text of a page: what stands in different elements is in different sentences."""
    return html.unescape(re.sub(r"<[^>]*>", "\n", re.sub(r"(?s)<style.*?</style>", "", page)))


@pytest.fixture(scope="module", params=["clinic", None])
def said(request, tmp_path_factory):
    """Return all texts that are made about fits, and about certificates of new rows."""
    folder = tmp_path_factory.mktemp("texts")
    table = separable(500, np.random.default_rng([TABLES, 9]))
    group, texts = request.param, {}
    for target, other in (("state", "price"), ("price", "state")):
        data = written(table.drop(columns=other), folder / f"{target}.csv")
        paths = [folder / f"{target}{end}" for end in (".skops", ".html", ".md", ".h")]
        options = ["--group", group] if group else ["--type", "clinic=drop"]
        options += ["--report", paths[1], "--card", paths[2], "--integers", paths[3]]
        result = succeeded("fit", data, "--target", target, "--out", paths[0], *FEW, *options)
        texts[f"command, {target}"] = result.stdout
        texts[f"report, {target}"] = plain(paths[1].read_text())
        texts[f"card, {target}"] = markdown(paths[2].read_text())
        texts[f"header, {target}"] = paths[3].read_text().partition("#")[0]
        texts[f"model, {target}"] = succeeded("certify", paths[0]).stdout
        new = separable(200, np.random.default_rng([TABLES, 10])).drop(columns=other)
        new = written(new, folder / "new.csv")
        texts[f"certify, {target}"] = succeeded("certify", paths[0], new).stdout
    fit = fit_table(table.drop(columns="price"), "state", FitSettings(5, group=group))
    texts["repr"] = repr(fit.certificate)
    texts["repr, html"] = plain(fit.certificate._repr_html_())
    return Said(texts, group)


def sentences(text):
    return re.split(r"[.:;]\s|\n", text)


NEW_ROWS = re.compile(r"\bnew (rows?|values?|labels?|data)\b|\brows like these\b", re.IGNORECASE)
LAW = "random rows of random new groups ('clinic')"


def test_no_sentence_about_a_fit_with_groups_speaks_of_new_rows_alone(said):
    """Over rows, the error may be larger: groups that are hard may have more rows."""
    found = {
        (place, sentence.strip())
        for place, text in said.texts.items()
        for sentence in sentences(text)
        if NEW_ROWS.search(sentence) and "group" not in sentence
    }
    if said.group is None:
        assert {place.partition(",")[0] for place, _ in found} >= {"command", "report", "card"}
    else:
        assert found == set()


def test_every_text_names_the_law(said):
    named = {place for place, text in said.texts.items() if LAW in text}
    assert named == (set(said.texts) if said.group else set())


def test_every_list_of_assumptions_has_a_line_about_groups(said):
    lists = {place for place, text in said.texts.items() if "declared" in text}
    assert len(lists) >= 8
    for place in lists:
        assert ("each group counts once" in said.texts[place]) == (said.group is not None), place


def test_every_bound_in_a_text_names_what_it_is_over(said):
    """A line with a bound and a probability holds the law, or stands above a line that does."""
    for place, text in said.texts.items():
        for line in re.findall(r".*(?:<=|≤).*", text):
            is_named = "groups" in line
            assert is_named == (said.group is not None), (place, line)


def test_a_report_and_a_card_of_a_fit_in_python_say_the_same(rng):
    table = separable(300, rng).drop(columns="price")
    fit = fit_table(table, "state", FitSettings(5, group="clinic", integers=True))
    texts = [fit_report(fit), markdown(model_card(fit)), table_integers(fit).to_c()]
    for text in texts:
        assert LAW in html.unescape(text)
        assert "each group counts once" in html.unescape(text)
