"""Which tests are collected, and which are quick.

Tests that need an optional library are not collected without it. A test file that needs a library
only in some of its tests calls ``pytest.importorskip`` there. ``make quick`` runs the files and
folders in ``QUICK``, but for the slow tests in them.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest

NEEDS = {
    "cvxpy": ["tests/pacbayes/test_posteriors.py", "tests/pacbayes/test_yardsticks.py"],
    "dask": ["src/pacfourier/data/dask.py"],
    "matplotlib": [
        "reproduction/__main__.py",
        "reproduction/figures.py",
        "reproduction/report.py",
        "tests/benchmarks",
        "tests/contracts/test_examples.py",
        "tests/reproduction/test_figures.py",
        "tests/reproduction/test_report.py",
        "tests/plots",
    ],
    "pandas": [
        "tests/contracts/test_assumptions_seen.py",
        "tests/core/alignment/test_hidden_copies.py",
        "src/pacfourier/reports/effect_sections.py",
        "src/pacfourier/reports/model_card.py",
        "src/pacfourier/reports/tabular_report.py",
        "src/pacfourier/tabular",
        "tests/contracts/test_fitted_attributes.py",
        "tests/export/test_c_cells.py",
        "tests/export/test_fitted_tables.py",
        "tests/export/test_table_integers.py",
        "tests/model/test_stored_models.py",
        "tests/reports/test_model_card.py",
        "tests/reports/test_page_in_chromium.py",
        "tests/reports/test_tabular_report.py",
        "tests/tabular",
    ],
    "pyarrow": [
        "tests/contracts/test_assumptions_seen.py",
        "tests/core/alignment/test_hidden_copies.py",
        "src/pacfourier/tabular",
        "tests/export/test_fitted_tables.py",
        "tests/export/test_table_integers.py",
        "tests/model/test_stored_models.py",
        "tests/tabular",
    ],
    "skl2onnx": [
        "src/pacfourier/export/onnx_conversion.py",
        "tests/export/test_every_data_set.py",
        "tests/export/test_onnx.py",
    ],
    "skops": [
        "src/pacfourier/tabular",
        "tests/export/test_command.py",
        "tests/export/test_fitted_tables.py",
        "tests/export/test_table_integers.py",
        "tests/export/test_table_models.py",
        "tests/tabular",
        "tests/benchmarks/test_guards.py",
    ],
    "skrub": [
        "tests/estimators/test_fourier_frames.py",
        "tests/export/test_c_cells.py",
        "tests/export/test_fitted_tables.py",
        "tests/export/test_table_integers.py",
        "tests/export/test_table_models.py",
        "tests/tabular/test_encoding.py",
    ],
    "torch": [
        "src/pacfourier/estimators/device_batches.py",
        "src/pacfourier/export/torch_conversion.py",
        "src/pacfourier/export/torch_modules.py",
        "src/pacfourier/tensors",
        "tests/export/test_every_data_set.py",
        "tests/export/test_torch_module.py",
    ],
    "triton": [
        "src/pacfourier/tensors/triton/candidates.py",
        "src/pacfourier/tensors/triton/kernels.py",
        "src/pacfourier/tensors/triton/layouts.py",
        "src/pacfourier/tensors/triton/summaries.py",
    ],
    "typer": [
        "src/pacfourier/cli",
        "tests/export/test_fitted_tables.py",
        "tests/export/test_table_integers.py",
        "tests/tabular/command.py",
        "tests/tabular/test_certify_command.py",
        "tests/tabular/test_fit_command.py",
        "tests/tabular/test_model_files.py",
        "tests/tabular/test_predict_command.py",
        "tests/test_cli.py",
    ],
}
collect_ignore = sorted(
    {path for library, paths in NEEDS.items() if find_spec(library) is None for path in paths}
)

# The goldens, and from every room files that take a second or two. Together: a minute on two cores.
QUICK = [
    "tests/goldens",
    "tests/bounds/test_binary_kl.py",
    "tests/bounds/test_bound_arguments.py",
    "tests/bounds/test_bound_vectors.py",
    "tests/bounds/test_divergences.py",
    "tests/bounds/test_records.py",
    "tests/contracts/test_extensions.py",
    "tests/contracts/test_public_api.py",
    "tests/contracts/test_quick.py",
    "tests/contracts/test_tools.py",
    "tests/contracts/test_walks.py",
    "tests/core/alignment/test_gradients.py",
    "tests/core/alignment/test_landmarks.py",
    "tests/core/alignment/test_targets.py",
    "tests/core/boosting",
    "tests/core/sampling/test_complementary.py",
    "tests/core/test_features.py",
    "tests/data/test_batches.py",
    "tests/data/test_reservoir.py",
    "tests/model/test_folding.py",
    "tests/model/test_scoring.py",
    "tests/estimators/test_bad_input.py",
    "tests/estimators/test_checks_of_predictions.py",
    "tests/estimators/test_linear_trials.py",
    "tests/estimators/test_partial_fit.py",
    "tests/reproduction/test_results.py",
    "tests/export/test_formula.py",
    "tests/pacbayes/test_assumptions.py",
    "tests/pacbayes/test_draws.py",
    "tests/pacbayes/test_predictions.py",
    "tests/playground/test_page.py",
    "tests/plots/test_wave_weights.py",
    "tests/reports/test_charts.py",
    "tests/reports/test_page.py",
    "tests/tabular/test_columns.py",
    "tests/tabular/test_table_target.py",
    "tests/tensors/test_tensor_labels.py",
    "tests/tensors/test_tensor_spectra.py",
    "tests/test_arrays.py",
    "tests/test_written_files.py",
]
FOLDER = Path(__file__).parent
QUICK_PATHS = [FOLDER / path for path in QUICK]


def is_quick(path):
    """Return whether a file is in the list, or in a folder of the list."""
    return any(path.is_relative_to(each) for each in QUICK_PATHS)


def pytest_ignore_collect(collection_path, config):
    """Do not even import other files if only the quick tests are asked for."""
    is_other = collection_path.is_file() and not is_quick(collection_path)
    return True if config.option.markexpr == "quick" and is_other else None


def pytest_collection_modifyitems(items):
    """Mark the quick tests."""
    for item in items:
        if is_quick(item.path) and item.get_closest_marker("slow") is None:
            item.add_marker(pytest.mark.quick)
