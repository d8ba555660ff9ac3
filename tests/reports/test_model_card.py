import re
from dataclasses import replace

import pytest
from tests.tabular.table_fits import FITS, Target

from pacfourier.reports.model_card import _markdown_table, _plain, _quoted, model_card

PARTS = [
    "Model description",
    "Intended use",
    "Limits",
    "Training data",
    "Evaluation",
    "Certificate",
    "How to use it",
]


@pytest.fixture(scope="module", params=FITS)
def fit(request):
    return FITS[request.param]()


def test_a_card_has_its_parts_and_what_is_certified(fit):
    card = model_card(fit)
    assert re.findall("^## (.*)$", card, flags=re.MULTILINE) == PARTS
    assert _plain(fit.model.record["headline"]) in card
    assert f"{len(fit.held_out.truth):,} held-out rows" in card
    for text in ("linear model", "boosted trees", "constant", "table.csv", "declared"):
        assert text in card


def test_the_head_is_yaml_with_the_fields_of_hubs(fit):
    yaml = pytest.importorskip("yaml")
    head = yaml.safe_load(model_card(fit).split("---\n")[1])
    kind = fit.model.target.task
    assert head["library_name"] == "pacfourier"
    assert f"tabular-{kind}" in head["tags"]
    (index,) = head["model-index"]
    (result,) = index["results"]
    (metric,) = result["metrics"]
    assert [metric["type"]] == head["metrics"]
    error = fit.results[0].error
    value = error if kind == "regression" else 1 - error
    assert metric["value"] == pytest.approx(value, rel=1e-5)
    assert result["dataset"]["name"] == "table.csv"


def test_a_card_without_a_certificate_says_why():
    card = model_card(FITS["two classes"](certify=False))
    assert "Nothing is certified: --certify is no." in card
    assert "guarantee nothing for new rows" in card


def test_names_cannot_break_the_card():
    fit = FITS["rare class"]()
    assert "yes \\<b\\>" in model_card(fit)
    target = Target("a\n# b | `c`: \x00\N{SNOWMAN}", "classification", fit.model.target.classes)
    card = model_card(replace(fit, model=replace(fit.model, target=target)))
    assert re.findall("^# (.*)$", card, flags=re.MULTILINE) == [f"A model of {_plain(target.name)}"]
    yaml = pytest.importorskip("yaml")
    head = yaml.safe_load(card.split("---\n")[1])
    assert head["model-index"][0]["name"] == "A model of a # b | `c`:  \N{SNOWMAN}"


def test_texts_are_quoted():
    assert _plain("a|b  c\n<d>") == "a\\|b c \\<d\\>"
    assert _quoted('a: "b"\n') == '"a: \\"b\\" "'
    assert _markdown_table(["x", "y"], [["a|b", 1]]) == "| x | y |\n| --- | --- |\n| a\\|b | 1 |"


def test_long_lists_of_columns_are_cut():
    fit = FITS["two classes"]()
    many = fit.model.columns.used * 10
    columns = replace(fit.model.columns, used=many)
    card = model_card(replace(fit, model=replace(fit.model, columns=columns)))
    assert "and 200 more" in card
