# One door: every verb makes its own .venv on a machine that has only python3 (3.11+) and make.
PYTHON ?= python3
# The public data files, where they stand beside the checkout; tests and rows that need them say so.
export PACFOURIER_DATA ?= $(abspath ../shared/data)
BIN := .venv/bin

.PHONY: demo reproduce test lint bench bench-gpu clean
.DEFAULT_GOAL := test

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[all,test,lint]"
	touch $@

demo: .venv/installed  ## the main job on data that ships with scikit-learn, under a minute
	$(BIN)/python examples/plot_demo.py

reproduce: .venv/installed  ## the paper's experiments, quick profile, under two minutes
	$(BIN)/pacfourier reproduce

test: .venv/installed  ## the whole suite
	$(BIN)/python -m pytest --cov --cov-report=term

lint: .venv/installed  ## ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/installed  ## speed and memory against their bars, as ratios in one run
	$(BIN)/python benchmarks/run.py

bench-gpu:  ## the sums on a CUDA device, with the torch and Triton of that machine
	PYTHONPATH=src $(PYTHON) benchmarks/gpu.py

clean:
	rm -rf .venv results
