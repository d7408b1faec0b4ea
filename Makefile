# Two commands: `make demo` and `make test`. Each makes .venv by itself and installs what it needs.

PYTHON ?= python3
BIN := .venv/bin
DEV_STAMP := .venv/.installed-dev
DEMO_STAMP := .venv/.installed-demo
BENCH_STAMP := .venv/.installed-bench

.PHONY: demo gallery test lint types layers tests benchmarks studies clean

demo: $(DEMO_STAMP)
	$(BIN)/python examples/masked_interaction.py --output demo

gallery: $(DEMO_STAMP)
	$(BIN)/python examples/gallery.py --output gallery

test: lint types layers tests

lint: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV_STAMP)
	$(BIN)/mypy

layers: $(DEV_STAMP)
	$(BIN)/lint-imports

# Coverage is measured twice and added up: kernels run compiled in the first run, where their lines
# cannot be seen, and a selection runs interpreted in the second.
tests: $(DEV_STAMP)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -m interpreted tests
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

# DATA holds data/ (tables) and reference/ (published parameters); the result files are kept in git.
DATA ?= ../shared

benchmarks: $(BENCH_STAMP)
	$(BIN)/python -m benchmarks.speed --data-dir $(DATA)
	$(BIN)/python -m benchmarks.fidelity --data-dir $(DATA)
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks accuracy --data-dir $(DATA)
	$(BIN)/python -m benchmarks.coverage
	$(BIN)/python -m benchmarks.shapley_speed
	$(BIN)/python -m benchmarks.sepals --data-dir $(DATA)
	$(BIN)/python -m benchmarks.tables

# The paper's studies: pages, figures and CSV in studies/results. Without DATA tables are OpenML's.
studies: $(BENCH_STAMP)
	$(BIN)/python -m studies $(if $(wildcard $(DATA)/data/datasets.json),--data-dir $(DATA))

$(DEMO_STAMP): pyproject.toml | .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[plots]' 'pandas>=2.1'
	touch $@

$(DEV_STAMP): pyproject.toml | .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[plots]' --group dev
	touch $@

$(BENCH_STAMP): pyproject.toml | .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $@

.venv:
	$(PYTHON) -m venv .venv

clean:
	rm -rf .venv build dist demo gallery .coverage* .mypy_cache .pytest_cache .ruff_cache
