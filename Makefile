# Every verb makes the environment it needs on a machine that has only python3 (3.11+) and make.
PYTHON ?= python3
# The oldest dependencies have wheels for the oldest Python.
OLDEST_PYTHON ?= $(or $(shell python3.11 -c 'import sys; print(sys.executable)' 2>/dev/null),$(PYTHON))
# Tests that need the public data files look for them in this folder and are skipped without it.
export PACFOURIER_DATA ?= $(abspath ../shared/data)
BIN := .venv/bin
PIP := -m pip install --quiet --disable-pip-version-check
# What runs with the oldest dependencies, and again without optional libraries.
QUICK := -m "not slow"
# A test that hangs ends the run and shows where each thread stands.
WATCHED := -o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true
# lint-imports checks that the mathematics imports no optional library, and the checks of
# scikit-learn use none.
MATHEMATICS := --ignore=tests/bounds --ignore=tests/core --ignore=tests/pacbayes \
	--ignore=tests/estimators/test_common.py

.PHONY: demo reproduce test test-oldest test-bare lint audit lock bench bench-gpu predictors \
	docs torture clean
.DEFAULT_GOAL := test

.venv/installed: pyproject.toml requirements/test.lock
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP) --upgrade pip
	$(BIN)/python $(PIP) --editable ".[all,test,lint]" --constraint requirements/test.lock
	touch $@

.venv-oldest/installed: pyproject.toml tools/oldest_versions.py
	$(OLDEST_PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python $(PIP) --editable . "pytest==8.*" hypothesis cvxpy \
		$$(.venv-oldest/bin/python tools/oldest_versions.py)
	touch $@

.venv-bare/installed: pyproject.toml
	$(PYTHON) -m venv .venv-bare
	.venv-bare/bin/python $(PIP) --editable . pytest hypothesis
	touch $@

.venv-docs/installed: pyproject.toml requirements/test.lock
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python $(PIP) --editable ".[all,torch,docs]" --constraint requirements/test.lock
	touch $@

demo: .venv/installed  ## the main job on data that ships with scikit-learn, under a minute
	$(BIN)/python examples/plot_demo.py

reproduce: .venv/installed  ## the paper's experiments, quick profile, under two minutes
	$(BIN)/pacfourier reproduce

test: .venv/installed  ## the whole suite
	$(BIN)/python -m pytest --cov --cov-report=term $(WATCHED)

test-oldest: .venv-oldest/installed  ## the quick tests, with the oldest versions of the core dependencies
	.venv-oldest/bin/python -m pytest $(QUICK)

test-bare: .venv-bare/installed  ## the quick tests, with no optional library at all
	.venv-bare/bin/python -m pytest $(QUICK) $(MATHEMATICS)

lint: .venv/installed  ## format, spelling, docstrings, sizes, imports and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/python tools/function_sizes.py
	$(BIN)/python tools/import_graph.py
	$(BIN)/lint-imports
	find src -name "*.py" | xargs $(BIN)/numpydoc lint
	$(BIN)/python tools/public_docstrings.py
	$(BIN)/mypy

audit: .venv/installed  ## known flaws and licences of what is installed, and no pickle, eval or exec
	$(BIN)/python tools/audit.py

lock:  ## the newest versions of everything that the tests use, into requirements/test.lock
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python $(PIP) --upgrade pip
	.venv-lock/bin/python $(PIP) --upgrade --editable ".[all,test,lint,docs]"
	.venv-lock/bin/python -m pip freeze --exclude-editable > requirements/test.lock

bench: .venv/installed  ## speed and memory against their bars, as ratios in one run
	$(BIN)/python benchmarks/run.py

bench-gpu:  ## the sums on a CUDA device, with the torch and Triton of that machine
	PYTHONPATH=src $(PYTHON) benchmarks/gpu.py

# Two threads, which do not spin while they wait: other work on the machine then does less harm.
predictors: .venv/installed  ## our predictors against eight others, into docs/predictors.md; hours
	$(BIN)/python $(PIP) --editable ".[bench]"
	OMP_NUM_THREADS=2 NUMBA_NUM_THREADS=2 OMP_WAIT_POLICY=passive \
		$(BIN)/python -m benchmarks.predictors $(PREDICTORS)

docs: .venv-docs/installed  ## the site, into docs/_build/html; warnings are errors
	.venv-docs/bin/python -m sphinx -W --keep-going -b html docs docs/_build/html
	.venv-docs/bin/python tools/site_links.py docs/_build/html

torture: .venv/installed  ## thousands of attacks; docs/reliability.md has their figures
	$(BIN)/python benchmarks/torture.py

clean:
	rm -rf .venv .venv-oldest .venv-bare .venv-lock .venv-docs results \
		docs/_build docs/gallery docs/generated docs/tutorials/lessons
