# Everything a developer, an author or CI does here. `make` alone lists it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := help
.PHONY: help install serve test build check mutants bench lint format lock clean

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

serve: $(READY) ## the book, live, on http://127.0.0.1:8000
	$(BIN)/mkdocs serve --no-strict

test: $(READY) lint check ## everything that must pass
	$(BIN)/pytest

build: $(READY) ## the site, in site/; a build that fails leaves the last one in place
	rm -rf .site.next
	$(BIN)/mkdocs build --strict --site-dir .site.next
	$(BIN)/ledger check docs --site .site.next
	rm -rf site && mv .site.next site

check: $(READY) ## where pages and library disagree
	$(BIN)/ledger check docs README.md CONTRIBUTING.md CHANGELOG.md
	$(BIN)/ledger census docs README.md

mutants: $(READY) ## what could change in the rule, the decisions or a figure and go unnoticed
	$(BIN)/python -m tests.mutants

bench: $(READY) ## verdicts a second, and what the page language costs a build; BENCH=--large for 1,000 chapters
	$(BIN)/python tests/bench/sweep.py
	$(BIN)/python tests/bench/prose.py $(BENCH)

lint: $(READY) ## style, types, and which way imports run
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

install: $(READY) ## the environment, in .venv

lock: ## pin every dependency anew, in requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --generate-hashes \
	  --custom-compile-command "make lock" --upgrade --output-file requirements.txt pyproject.toml

clean: ## remove what can be made again
	rm -rf $(VENV) site .site.next .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist

$(READY): requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, found " + sys.version.split()[0] + "; make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --requirement requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@
