# Everything here runs on a fresh machine with Python 3.11 and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo test check generate bench clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

demo: .venv/.stamp ## a name server, a fleet of 12 simulated brokers, and a tour of the commands
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh docs/demo.sh

test: .venv/.stamp ## the tests; with Java and Maven also against the released Apache RocketMQ
	$(BIN)/python -m pytest

check: .venv/.stamp ## formatting, lint, types, and who may import whom
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m nsadmin.manual --check

generate: .venv/.stamp ## man pages, completions and docs/commands.md, from the registry of commands
	$(BIN)/python -m nsadmin.manual

bench: .venv/.stamp ## server CPU time per request and starts of commands, ours and Java's in one run
	$(BIN)/python -m tests.bench

clean: ## remove what these targets made
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist

.venv/.stamp: pyproject.toml
	@echo "installing into .venv"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -q --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install -q -e . --group dev
	@touch $@
