# Every verb makes the environment it needs on a machine that has only python3 (3.11+) and make.
PYTHON ?= python3
# The oldest dependencies have wheels for the oldest Python.
OLDEST_PYTHON ?= $(or $(shell python3.11 -c 'import sys; print(sys.executable)' 2>/dev/null),$(PYTHON))
# Tests that need the public data files look for them in this folder and are skipped without it.
export PACFOURIER_DATA ?= $(abspath ../shared/data)
BIN := .venv/bin
PIP := -m pip install --quiet --disable-pip-version-check
# What is tested. `make release-check` puts a wheel here.
PACKAGE ?= --editable .
# What runs with the oldest dependencies, and again without optional libraries.
NOT_SLOW := -m "not slow"
# Tests run in two processes; one that has finished its half takes tests of the other.
PARALLEL := --numprocesses=2 --dist=worksteal
# Where there are more threads than cores, those of OpenMP that spin while they wait stop the others:
# boosted trees in two processes at once took over a minute on a busy machine, and then 2 seconds.
quick test test-oldest test-bare: export OMP_WAIT_POLICY = passive
# A test that hangs ends its process, which shows where each of its threads stands.
WATCHED := -o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true
# test-oldest has no optional library either. Beside it, test-bare needs no mathematics, whose imports
# lint-imports checks, and of the estimators only what their docstrings and tests/contracts fit.
COVERED := $(addprefix --ignore=tests/,bounds core estimators pacbayes test_arrays.py test_spectra.py)

.PHONY: demo reproduce quick test test-oldest test-bare lint audit lock bench bench-gpu predictors \
	real-tables docs torture release-check clean
.DEFAULT_GOAL := test

.venv/installed: pyproject.toml requirements/test.lock
	$(PYTHON) -m venv .venv
	$(BIN)/python $(PIP) --upgrade pip
	$(BIN)/python $(PIP) $(PACKAGE)"[all,reproduction,test,lint]" --constraint requirements/test.lock
	touch $@

.venv-oldest/installed: pyproject.toml tools/oldest_versions.py
	$(OLDEST_PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python $(PIP) --editable . "pytest==8.*" pytest-xdist hypothesis cvxpy \
		$$(.venv-oldest/bin/python tools/oldest_versions.py)
	touch $@

.venv-bare/installed: pyproject.toml
	$(PYTHON) -m venv .venv-bare
	.venv-bare/bin/python $(PIP) $(PACKAGE) pytest pytest-xdist hypothesis
	touch $@

.venv-release/installed: Makefile
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/python $(PIP) build twine "readme-renderer[md]"
	touch $@

.venv-docs/installed: pyproject.toml requirements/test.lock
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python $(PIP) --editable ".[all,torch,docs]" --constraint requirements/test.lock
	touch $@

demo: .venv/installed  ## the main job on data that ships with scikit-learn, under a minute
	$(BIN)/python examples/plot_demo.py

reproduce: .venv/installed  ## the paper's experiments, quick profile, under two minutes
	$(BIN)/python -m reproduction

quick: .venv/installed  ## the goldens and some tests of every room, under a minute
	$(BIN)/python -m pytest $(PARALLEL) $(WATCHED) -m quick

test: .venv/installed  ## the whole suite
	$(BIN)/python -m pytest $(PARALLEL) $(WATCHED) --cov --cov-report=term

test-oldest: .venv-oldest/installed  ## the tests that are not slow, with the oldest versions of the core dependencies
	.venv-oldest/bin/python -m pytest $(PARALLEL) $(WATCHED) $(NOT_SLOW)

test-bare: .venv-bare/installed  ## the tests that are not slow, with no optional library at all
	.venv-bare/bin/python -m pytest $(PARALLEL) $(WATCHED) $(NOT_SLOW) $(COVERED)

lint: .venv/installed  ## format, spelling, docstrings, sizes, imports and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/python tools/function_sizes.py
	$(BIN)/python tools/import_graph.py
	$(BIN)/python -m tools.public_marks
	$(BIN)/lint-imports
	find src reproduction -name "*.py" | xargs $(BIN)/numpydoc lint
	$(BIN)/python tools/public_docstrings.py
	$(BIN)/mypy

audit: .venv/installed  ## known flaws and licences of what is installed, and no pickle, eval or exec
	$(BIN)/python tools/audit.py

lock:  ## the newest versions of everything that the tests use, into requirements/test.lock
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python $(PIP) --upgrade pip
	.venv-lock/bin/python $(PIP) --upgrade --editable ".[all,reproduction,test,lint,docs]"
	.venv-lock/bin/python -m pip freeze --exclude-editable | sed "s/+cpu//" \
		> requirements/test.lock

bench: .venv/installed  ## speed and memory against our goals, into docs/scale.md; half an hour
	$(BIN)/python benchmarks/run.py --write

bench-gpu:  ## the sums on a CUDA device, with the torch and Triton of that machine
	PYTHONPATH=src:. $(PYTHON) benchmarks/gpu.py

# Two threads, which do not spin while they wait: other work on the machine then does less harm.
predictors: .venv/installed  ## our predictors against eight others, into docs/predictors.md; hours
	$(BIN)/python $(PIP) --editable ".[bench]"
	OMP_NUM_THREADS=2 NUMBA_NUM_THREADS=2 OMP_WAIT_POLICY=passive \
		$(BIN)/python -m benchmarks.predictors $(PREDICTORS)

real-tables: .venv/installed  ## prototypes on real tables, into results/real_tables; hours
	$(BIN)/python -m benchmarks.real_tables $(REAL_TABLES)
	$(BIN)/python -m benchmarks.real_tables_choices

docs: .venv-docs/installed  ## the site, into docs/_build/html; warnings are errors
	.venv-docs/bin/python -m sphinx -W --keep-going -b html docs docs/_build/html
	.venv-docs/bin/python tools/site_links.py docs/_build/html

torture: .venv/installed  ## thousands of attacks; docs/reliability.md has their figures
	$(BIN)/python -m benchmarks.torture

release-check: .venv-release/installed  ## sdist and wheel, and the tests with the installed wheel
	.venv-release/bin/python tools/release_check.py

clean:
	rm -rf .venv .venv-oldest .venv-bare .venv-lock .venv-docs .venv-release dist results \
		docs/_build docs/gallery docs/generated docs/tutorials/lessons
