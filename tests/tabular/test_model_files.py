"""Models of tables are saved and loaded by names and by paths, and nothing is overwritten."""

from pathlib import Path

import numpy as np
import pytest
from tests.tabular.command import patients

from pacfourier.errors import InputError
from pacfourier.tabular import FitSettings, fit_table, load_model, save_model


@pytest.fixture(scope="module")
def model():
    return fit_table(patients(), "state", FitSettings(n_frequencies=5)).model


@pytest.mark.parametrize("kind", [str, Path])
def test_a_loaded_model_predicts_the_same(model, kind, tmp_path):
    path = kind(tmp_path / "model.skops")
    save_model(model, path)
    table = patients(200, seed=9)
    loaded = load_model(path)
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    assert loaded.record == model.record


@pytest.mark.parametrize("kind", [str, Path])
def test_a_file_is_replaced_only_if_asked_for(model, kind, tmp_path):
    path = tmp_path / "model.skops"
    path.write_text("mine")
    with pytest.raises(InputError, match=r"model\.skops"):
        save_model(model, kind(path))
    assert path.read_text() == "mine"
    save_model(model, kind(path), overwrite=True)
    assert load_model(kind(path)).record == model.record


@pytest.mark.parametrize("kind", [str, Path])
def test_a_missing_file_is_named(kind, tmp_path):
    with pytest.raises(InputError, match=r"got '.*none\.skops': no such file"):
        load_model(kind(tmp_path / "none.skops"))
