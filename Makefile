# Everything below sets itself up: Python 3.11+ and make are enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/.stamps
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: help setup demo test bench lint fuzz evidence docs clean

help:
	@echo "make demo    install and show the whole path in a minute"
	@echo "make test    install, with test extras, and run every test"
	@echo "make bench   measure the speed against peers, in one run"
	@echo "make lint    style, types, import direction, words"
	@echo "make fuzz    feed mutated files to every reader for SECONDS=60 (or CASES=100000)"
	@echo "make evidence  run the long checks, write their figures to docs/evidence (CHECK=name for one)"
	@echo "make docs    make the notebooks, the page of public names and the pictures of the concepts page"
	@echo "make setup   only install, into $(VENV)"
	@echo "make clean   remove $(VENV) and caches"

setup: $(STAMPS)/core

PAGE := $(shell find web -name node_modules -prune -o -type f -print 2>/dev/null)

$(STAMPS)/core: pyproject.toml hatch_build.py $(PAGE)
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || { echo "Strapdown needs Python 3.11 or newer; set PYTHON=..." >&2; exit 1; }
	@echo "installing Strapdown into $(VENV) (once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) -e .
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/test: $(STAMPS)/core
	@$(PIP) -e ".[test]"
	@touch $@

$(STAMPS)/bench: $(STAMPS)/core
	@$(PIP) -e ".[bench]"
	@touch $@

$(STAMPS)/lint: $(STAMPS)/core
	@$(PIP) -e ".[lint]"
	@touch $@

demo: setup
	@$(BIN)/strapdown demo

test: $(STAMPS)/test
	@$(BIN)/python -c "from strapdown.kernels.compiled import compile_all; list(compile_all())"
	$(BIN)/python -m pytest -n 2 $(ARGS)

bench: $(STAMPS)/bench
	@$(BIN)/python -m benchmarks

lint: $(STAMPS)/lint
	$(BIN)/ruff check src tests tools benchmarks
	$(BIN)/ruff format --check src tests tools benchmarks
	$(BIN)/mypy
	$(BIN)/python tools/import_direction.py
	$(BIN)/python tools/plain_words.py

SECONDS ?= 60
fuzz: $(STAMPS)/test
	$(BIN)/python tests/fuzz/harness.py $(if $(CASES),--cases $(CASES),--seconds $(SECONDS))

evidence: $(STAMPS)/test $(STAMPS)/bench
	$(BIN)/python tools/evidence.py $(CHECK)

docs: $(STAMPS)/test
	$(BIN)/python tools/notebooks.py
	$(BIN)/python tools/api_page.py
	$(BIN)/python tools/concept_pictures.py
	PYTHONPATH=tests $(BIN)/python tests/newcomer_mistakes.py

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
