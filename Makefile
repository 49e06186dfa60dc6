# Everything here runs on a fresh machine with Python 3.11 and make.
PYTHON ?= python3
BIN := .venv/bin
MILLIONS ?= 1,10
# With LOCKED=1, .venv gets the versions of uv.lock, checked by their hashes. Otherwise it gets the newest allowed ones.
LOCKED ?=

# Settings of the machine, such as another package index, must not get into the files.
UV := env -u UV_INDEX -u UV_INDEX_URL -u UV_DEFAULT_INDEX -u UV_EXTRA_INDEX_URL -u UV_FIND_LINKS $(BIN)/uv --quiet --no-config
EXPORT := --frozen --no-emit-project --no-header --format requirements.txt

.PHONY: help docs demo demo-drain demo-report examples test check generate screenshots bench bench-reports clean fuzz fuzz-java guided soak attacks kills yarn lock audit

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

demo: .venv/.stamp ## the most useful commands on a lab, in under a minute
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh docs/demo/demo.sh

demo-drain: .venv/.stamp ## drain a simulated broker in real time (2 minutes)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh docs/demo/demo-drain.sh

demo-report: .venv/.spark ## a bad day in the lab, and the page of all reports about it: demo-report.html
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh docs/demo/demo-report.sh

test: .venv/.spark ## the tests; with Java and Maven also against the released Apache RocketMQ (what fails is run once more, alone)
	$(BIN)/python -m tests.support.second_look

check: .venv/.spark docs ## formatting, lint, types, names, import contracts, and the links of the documentation
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.support.name_rules
	$(BIN)/python -m nsadmin.manual --check

docs: .venv/.docs ## the documentation site, into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

generate: .venv/.stamp ## man pages, completions, docs/reference/commands and aio/nouns.pyi, from commands and nouns
	$(BIN)/python -m nsadmin.manual

examples: .venv/.stamp ## outputs in README, tutorial and how-to guides, as the program prints them today (6 minutes); PAGES=...
	$(BIN)/python -m tests.support.record_documentation $(PAGES)

screenshots: .venv/.stamp ## the pictures of docs/how-to/use-the-tui.md, from a recording of a lab
	$(BIN)/python -m tests.support.screenshots

bench: .venv/.stamp ## ours and Java's name server in one run (10 minutes), into docs/explanation/performance.md
	$(BIN)/python -m tests.bench --write

bench-reports: .venv/.spark ## availability and gaps of 1 and 10 million events, and DuckDB's (10 minutes), into docs/how-to/make-reports.md
	$(BIN)/python -m tests.bench.reports --millions $(MILLIONS) --write

fuzz: .venv/.stamp ## mutated frames against the name server: FRAMES=10000000 and SEED=... as wanted
	$(BIN)/python -m tests.fuzz --frames $(or $(FRAMES),10000000) $(if $(SEED),--seed $(SEED))

fuzz-java: .venv/.stamp ## mutated frames to ours and to a released name server, the same verdict? FRAMES=200000
	$(BIN)/python -m tests.fuzz.versus_java --frames $(or $(FRAMES),200000) $(if $(SEED),--seed $(SEED))

guided: .venv/.stamp ## frames that coverage leads to (atheris): RUNS=1000000, new ones into FOUND=.fuzz
	@$(BIN)/python -m pip install -q --group fuzz
	$(BIN)/python -m tests.fuzz.guided $(or $(FOUND),.fuzz) -runs=$(or $(RUNS),1000000) -max_len=8192

soak: .venv/.stamp ## brokers, clients and bad peers for MINUTES=30: is everything flat? Into docs/explanation/reliability.md
	$(BIN)/python -m tests.bench.soak --minutes $(or $(MINUTES),30) --write

attacks: .venv/.stamp ## what bad peers do to the answers of good ones (2 minutes), into docs/explanation/reliability.md
	$(BIN)/python -m tests.bench.attacks --write

kills: .venv/.stamp ## SIGKILL in the middle of KV writes, ROUNDS=1000 times: nothing that was answered is lost
	$(BIN)/python -m tests.bench.kills --rounds $(or $(ROUNDS),1000)

yarn: .venv/.spark ## the pipeline on YARN, with its tables in HDFS: Hadoop's own small cluster on loopback (2 minutes)
	YARN=1 $(BIN)/python -m pytest tests/nsreport/test_yarn.py

lock: .venv/.audit ## the newest allowed versions into uv.lock, and the files with hashes for containers
	$(UV) lock --upgrade
	$(UV) export $(EXPORT) --no-dev --extra tls --output-file docs/service/requirements.txt
	$(UV) export $(EXPORT) --only-group build --output-file docs/service/build-requirements.txt

audit: .venv/.audit ## known vulnerabilities in uv.lock; asks a public service, and says SKIPPED where it cannot be reached
	@$(BIN)/python -m tests.support.dependency_audit

clean: ## remove what these targets made
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist site

.venv/.stamp: pyproject.toml
	@echo "installing into .venv"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -q --upgrade 'pip>=25.1'
ifeq ($(LOCKED),)
	@$(BIN)/python -m pip install -q -e . --group dev
else
	@$(BIN)/python -m pip install -q --group audit
	@$(UV) export $(EXPORT) --group dev --output-file .venv/locked.txt
	@$(BIN)/python -m pip install -q --require-hashes -r .venv/locked.txt
	@$(BIN)/python -m pip install -q --no-deps -e .
endif
	@touch $@

# $(call install_group,NAME) installs a dependency group of pyproject.toml into .venv.
ifeq ($(LOCKED),)
install_group = @$(BIN)/python -m pip install -q --group $(1)
else
define install_group
@$(UV) export $(EXPORT) --only-group $(1) --output-file .venv/locked-$(1).txt
@$(BIN)/python -m pip install -q --require-hashes -r .venv/locked-$(1).txt
endef
endif

# Spark is large: only the tests and the pipeline need it.
.venv/.spark: .venv/.stamp
	@echo "installing Spark into .venv"
	$(call install_group,spark)
	@touch $@

.venv/.docs: .venv/.stamp
	$(call install_group,docs)
	@touch $@

.venv/.audit: .venv/.stamp
	@$(BIN)/python -m pip install -q --group audit
	@touch $@
