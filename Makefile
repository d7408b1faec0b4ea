# `make demo`, `make test`, `make docs`: each makes .venv by itself and installs what it needs.

PYTHON ?= python3
BIN := .venv/bin
DEV_STAMP := .venv/.installed-dev
DEMO_STAMP := .venv/.installed-demo
BENCH_STAMP := .venv/.installed-bench
DOCS_STAMP := .venv/.installed-docs

.PHONY: demo docs test lint types layers kernels browser database tests spread mutants lower-bounds compare nightly \
	benchmarks studies clean

# Libraries are byte-compiled when they are first imported, not at installation, which would take every file of
# them in turn; so Python must be allowed to keep what it compiled.
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile
unexport PYTHONDONTWRITEBYTECODE

demo: $(DEMO_STAMP)
	$(BIN)/python examples/masked_interaction.py --output demo
	$(BIN)/seplearn demo --output demo/rents

# Warnings are errors; -n makes every cross-reference that leads nowhere a warning, and so does a link
# between pages. Case studies and gallery are run on the way.
docs: $(DOCS_STAMP)
	$(BIN)/sphinx-build -W --keep-going -n -b html docs docs/_build/html

# What waits for a network or has one core to itself runs two at a time; tests come last and take all cores.
test:
	$(MAKE) -j2 $(DEV_STAMP) database
	$(MAKE) -j2 types kernels lint layers
	$(MAKE) spread

lint: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

types: $(DEV_STAMP)
	$(BIN)/mypy

layers: $(DEV_STAMP)
	$(BIN)/lint-imports

# What tests use of the distribution, installed where that is possible: (1) says whether it is there, (2) is the
# package, (3) what is skipped without it.
define from_the_distribution
	@{ $(1); } > /dev/null 2>&1 || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null \
	  && apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y -qq --no-install-recommends $(2) > /dev/null; } \
	|| echo "No $(2), and it could not be installed: tests of $(3) are skipped."
endef

# The report page is tested in a real browser, queries in a real database.
browser:
	$(call from_the_distribution,command -v chromium || command -v chromium-browser || command -v google-chrome,chromium,the report page)

database: browser  # one after the other: two installations at a time refuse each other
	$(call from_the_distribution,command -v initdb || ls /usr/lib/postgresql/*/bin/initdb,postgresql,SQL for PostgreSQL)

# Kernels are compiled first, by the test of it, so that no two processes do it at the same time.
COMPILATION := tests/test_compilation.py
kernels: $(DEV_STAMP)
	$(BIN)/python -m pytest $(COMPILATION)

tests: database kernels
	$(MAKE) spread

# Files of tests are spread over the cores. Coverage is measured twice and added up: kernels run compiled in
# one run, where their lines cannot be seen, and a selection runs interpreted in the other.
SPREAD := -n auto --dist loadfile --cov --cov-report= --cov-fail-under=0
spread: $(DEV_STAMP)
	$(BIN)/coverage erase
	$(BIN)/python -m pytest $(SPREAD) --ignore=$(COMPILATION)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(SPREAD) --cov-append -m interpreted tests
	$(BIN)/coverage report

# Whether the tests can fail: a changed line at a time, about half an hour; not part of `make test`.
mutants: $(DEV_STAMP)
	$(BIN)/python -m tests.mutants

# The suite with the oldest versions allowed, in an environment of its own; not part of `make test`.
lower-bounds:
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	.venv-lowest/bin/python -m pip install --quiet -c tests/lower-bounds.txt -e '.[plots,cli]' --group dev
	.venv-lowest/bin/python -m pytest -o filterwarnings=default tests

# Is anything slower than it was? The last release, or the commit before without one; BASE=revision is another.
BASE ?= $(shell git describe --tags --abbrev=0 2> /dev/null || echo HEAD~1)
compare: $(DEV_STAMP)
	$(BIN)/python -m benchmarks compare --base $(BASE)

# What takes too long for every change. `make -k nightly` goes on when a part fails.
nightly: docs lower-bounds compare mutants

# DATA holds data/ and data_classification/ (tables) and reference/ (published parameters and errors): make benchmarks
# DATA=folder. Without it tables are OpenML's, and parts that need more say that they are skipped. Results are in git.
DATA ?=
DATA_DIR = $(if $(DATA),--data-dir $(DATA))
OWN := seplearn "seplearn, another seed" "seplearn, 2 stages" "seplearn, 4 starts" \
	"seplearn, 10 stages" "seplearn, 10 stages, free"
QUICK := seplearn "seplearn, 2 stages" "seplearn, 4 starts" "seplearn, main effects only" \
	"seplearn, paper" sepals tensorsl lightgbm xgboost "random forest" pygam mean
OTHERS := seplearn lightgbm xgboost "random forest" pygam "linear with splines" ebm mean

benchmarks: $(BENCH_STAMP)
	$(BIN)/python -m benchmarks.speed $(DATA_DIR)
	$(BIN)/python -m benchmarks.fidelity $(DATA_DIR)
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks run $(DATA_DIR) --splits 0 1 2 3 4 --rivals $(QUICK)
	$(BIN)/python -m benchmarks run $(DATA_DIR) --splits 0 1 2 3 4 --rivals ebm
	for task in classes counts quantiles; do \
	  $(BIN)/python -m benchmarks run $(DATA_DIR) --task $$task --splits 0 1 2 3 4 \
	    --rivals $(OTHERS) || exit 1; \
	done
	$(BIN)/python -m benchmarks run $(DATA_DIR) --splits 42 --rivals $(OWN)
	$(BIN)/python -m benchmarks run $(DATA_DIR) --splits 42 --tag published
	$(BIN)/python -m benchmarks tune $(DATA_DIR) --rivals seplearn --trials 30 --folds 3 --rows 5000
	$(BIN)/python -m benchmarks run $(DATA_DIR) --splits 42 --tag tuned
	$(BIN)/python -m benchmarks growth --rivals seplearn lightgbm xgboost --splits 0 1 2 3 4
	$(BIN)/python -m benchmarks growth --rivals tensorsl --splits 0 1 2
	$(BIN)/python -m benchmarks growth --rivals ebm --timeout 2400
	$(BIN)/python -m benchmarks.scale
	$(BIN)/python -m benchmarks.coverage
	$(BIN)/python -m benchmarks.outcomes $(DATA_DIR)
	$(BIN)/python -m benchmarks.steadiness $(DATA_DIR)
	$(BIN)/python -m benchmarks.shapley_speed
	$(BIN)/python -m benchmarks.onnx_speed
	$(BIN)/python -m benchmarks.sepals $(DATA_DIR)
	$(BIN)/python -m benchmarks report $(DATA_DIR)
	$(BIN)/python -m benchmarks.figures

# The paper's studies: pages, figures and CSV in studies/results. Without DATA tables are OpenML's.
studies: $(BENCH_STAMP)
	$(BIN)/python -m studies $(DATA_DIR)

$(DEMO_STAMP): pyproject.toml | .venv
	$(BIN)/python $(INSTALL) -e '.[plots,cli]' 'pandas>=2.2'
	touch $@

$(DEV_STAMP): pyproject.toml | .venv
	$(BIN)/python $(INSTALL) --upgrade 'pip>=25.1'
	$(BIN)/python $(INSTALL) -e '.[plots,cli]' --group dev
	touch $@

$(DOCS_STAMP): pyproject.toml | .venv
	$(BIN)/python $(INSTALL) -e '.[plots,cli,docs]' 'pandas>=2.2'
	touch $@

$(BENCH_STAMP): pyproject.toml | .venv
	$(BIN)/python $(INSTALL) -e '.[bench]'
	touch $@

.venv:
	$(PYTHON) -m venv .venv

clean:
	rm -rf .venv .venv-lowest build dist demo .coverage* .mypy_cache .pytest_cache .ruff_cache
	rm -rf docs/_build docs/_generated docs/cases docs/gallery docs/api/generated docs/sg_execution_times.rst
