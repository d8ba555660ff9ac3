import numpy as np
import pytest
from benchmarks.unseen import BEGIN, END, GROUPS, RIVALS, cell_record, is_worse, ratio, write_page
from benchmarks.unseen_data import MADE

ERRORS = {
    "ours": np.array([0.2, 0.3]),
    "linear": np.array([0.1, 0.21]),
    "SVM": np.array([0.3, 0.2]),
}


def test_ratios_add_half_a_row_to_both_errors():
    assert ratio(ERRORS, "SVM", 0.0) == pytest.approx(1)
    assert ratio(ERRORS, "linear", 0.05) == pytest.approx(0.3 / 0.205)


def test_worse_means_beyond_one_standard_error_of_paired_differences():
    assert is_worse(ERRORS, "linear")
    assert not is_worse(ERRORS, "SVM")


def test_a_cell_says_what_was_measured():
    record = cell_record("iris", MADE["iris"](), 0, "SVM")
    assert (record["n_train"], record["n_test"], record["n_columns"]) == (112, 38, 4)
    assert record["error"] < 0.2


def test_the_page_gets_a_row_per_problem_that_all_models_were_run_on(tmp_path):
    facts = {"error": 0.1, "is_amount": False, "n_test": 50, "n_train": 150, "n_columns": 4}
    records = {
        (name, split, model): facts
        for name in [next(iter(group)) for group in GROUPS.values()]
        for split in (0, 1)
        for model in ("ours", *RIVALS)
    }
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write_page(records, page)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert "| iris | 150 | 4 | 10.0 | 10.0 | 10.0 | 10.0 |" in text
    assert text.count("1 problems") == len(GROUPS)


def test_every_made_problem_has_rows_of_every_class_and_no_gaps():
    for name, load in MADE.items():
        X, y = load().rows
        assert np.isfinite(X.data if hasattr(X, "tocsr") else X).all(), name
        assert X.shape[0] == len(y), name
        assert load().is_amount or np.unique(y, return_counts=True)[1].min() >= 8, name
