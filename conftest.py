"""The one rule for tests that need an optional library: they are not collected without it.

A test file that needs a library only in some of its tests calls ``pytest.importorskip`` there.
"""

from importlib.util import find_spec

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
        "src/pacfourier/reports/effect_sections.py",
        "src/pacfourier/reports/model_card.py",
        "src/pacfourier/reports/tabular_report.py",
        "src/pacfourier/tabular",
        "tests/contracts/test_fitted_attributes.py",
        "tests/export/test_c_cells.py",
        "tests/export/test_fitted_tables.py",
        "tests/export/test_table_integers.py",
        "tests/reports/test_model_card.py",
        "tests/reports/test_page_in_chromium.py",
        "tests/reports/test_tabular_report.py",
        "tests/tabular",
    ],
    "pyarrow": [
        "src/pacfourier/tabular",
        "tests/export/test_fitted_tables.py",
        "tests/export/test_table_integers.py",
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
