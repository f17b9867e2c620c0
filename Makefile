# One command each, the same here and in continuous integration. `make` alone prints this list.

PYTHON ?= python
, := ,

.DEFAULT_GOAL := help
.PHONY: help check test test-nojit test-slow bench docs numbers wheel

help:  ## print the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check:  ## lint, format, types (strict), direction of imports
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTHON) -c 'from importlinter.cli import lint_imports_command as lint; lint()' --no-cache

test:  ## tests with compiled kernels, and the examples in docstrings and README
	$(PYTHON) -m pytest -n 2 --dist worksteal

# The folders that hold kernels, and their tests: the others are shown by the compiled run.
KERNELS := baselines boosting compiled inspection models rows simulation trees weak_learners
INTERPRETED := $(wildcard $(addprefix tests/,$(KERNELS))) tests/test_row_path.py

test-nojit:  ## tests of all kernels with the compiler off, on shorter streams, every line counted; prints the coverage
	$(PYTHON) -m coverage erase
	NUMBA_DISABLE_JIT=1 $(PYTHON) -m coverage run -m pytest -n 2 --dist worksteal --hypothesis-profile=interpreted $(INTERPRETED)
	$(PYTHON) -m coverage combine --quiet
	$(PYTHON) -m coverage report --include '$(subst $() ,$(,),$(KERNELS:%=src/banditboost/%/*))'

test-slow:  ## the long tests: statistics, 2,000 rounds against the slow twins
	$(PYTHON) -m pytest -n 2 --dist worksteal -m slow

bench:  ## rounds per second on the paper's streams
	$(PYTHON) -m benchmarks.rounds

docs:  ## docs/cli.md from --help, tables and pictures, and the site, in site/ (needs the extra docs)
	$(PYTHON) docs/generate.py
	$(PYTHON) docs/record.py
	$(PYTHON) docs/draw.py
	$(PYTHON) docs/look.py
	$(PYTHON) -m zensical build --strict --clean

numbers:  ## the numbers on the pages and their charts, from the records in docs/results
	$(PYTHON) -m benchmarks.numbers

wheel:  ## a wheel for this platform that carries compiled kernels, in dist/ (needs the extra wheel)
	$(PYTHON) scripts/build_wheel.py
