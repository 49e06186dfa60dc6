# All targets run on a new machine with Python 3.11 and make.
PYTHON ?= python3
BIN := .venv/bin
MILLIONS ?= 1,10
# With LOCKED=1, .venv gets the versions of uv.lock, checked by their hashes. Otherwise it gets the newest allowed ones.
LOCKED ?=

# Settings of the machine, such as another package index, must not get into the files.
UV := env -u UV_INDEX -u UV_INDEX_URL -u UV_DEFAULT_INDEX -u UV_EXTRA_INDEX_URL -u UV_FIND_LINKS $(BIN)/uv --quiet --no-config
export HELM := go run helm.sh/helm/v3/cmd/helm@v3.22.0
EXPORT := --frozen --no-emit-project --no-header --format requirements.txt

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(MAKEFILE_LIST))

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

demo: .venv/.stamp ## run the most useful commands on a lab (1 minute)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh docs/demo/demo.sh

demo-drain: .venv/.stamp ## drain a simulated broker in real time (2 minutes)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh docs/demo/demo-drain.sh

demo-report: .venv/.spark ## run a lab with faults and write the HTML page of all reports: demo-report.html
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh docs/demo/demo-report.sh

test: .venv/.spark ## run all tests, with Java and Maven also against Apache RocketMQ; repeat failed tests alone
	$(BIN)/python -m tests.support.second_look

test-quick: .venv/.stamp ## run the unit tests of what changed since main, the nearest ones first (1 minute)
	@$(BIN)/python -m tests.support.quick_tests

check: .venv/.spark .venv/.docs ## check formatting, lint, types, names, prose, import contracts and the links of the documentation
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@$(MAKE) --no-print-directory -j 2 check-types check-contracts check-names check-prose docs

check-types: .venv/.spark
	@$(BIN)/python -m nsadmin.manual stubs
	$(BIN)/mypy

check-contracts: .venv/.stamp
	$(BIN)/lint-imports

check-names: .venv/.stamp
	$(BIN)/python -m tests.support.name_rules

check-prose: .venv/.stamp
	$(BIN)/python -m tests.support.prose_rules

docs: .venv/.docs ## build the documentation site into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

generate: .venv/.spark ## write the JSON schemas, the data dictionary, and the exporter's alerts and dashboard
	$(BIN)/python -m nsadmin.manual

examples: .venv/.stamp ## record the outputs in README, tutorial and how-to guides again (6 minutes, PAGES=...)
	$(BIN)/python -m tests.support.record_documentation $(PAGES)

screenshots: demo-report ## write the pictures of docs/how-to/use-the-tui.md and make-reports.md; needs Chromium
	$(BIN)/python -m tests.support.screenshots
	$(BIN)/python -m tests.support.report_screenshots demo-report.html

moving-picture: .venv/.stamp ## record the moving picture of README.md on a lab, with tmux (2 minutes)
	$(BIN)/python -m tests.support.moving_picture

bench: .venv/.stamp ## compare nsadmin's and Java's name server (10 minutes); updates docs/explanation/performance.md
	$(BIN)/python -m tests.bench --write

tui-fleet: .venv/.stamp ## watch 1,000 simulated brokers on a busy machine with the TUI (10 minutes, SECONDS=300)
	$(BIN)/python -m tests.bench.tui_fleet --seconds $(or $(SECONDS),300)

bench-bundle: .venv/.stamp ## make a support bundle of 1,000 simulated brokers with 100,000 topics (3 minutes)
	$(BIN)/python -m tests.bench.bundle_time

bench-reports: .venv/.spark ## time reports with Spark and DuckDB (10 minutes, MILLIONS=1,10); updates docs/how-to/make-reports.md
	$(BIN)/python -m tests.bench.reports --millions $(MILLIONS) --write

bench-page: .venv/.spark ## time how Chromium opens a page of 10,000 rows (1 minute)
	$(BIN)/python -m tests.bench.report_page

bench-messages: .venv/.stamp ## compare nsadmin bench and the Java client (2 minutes); updates docs/explanation/performance.md
	$(BIN)/python -m tests.bench.messages --write

fuzz: .venv/.stamp ## send mutated frames to the name server (FRAMES=10000000, SEED=N)
	$(BIN)/python -m tests.fuzz --frames $(or $(FRAMES),10000000) $(if $(SEED),--seed $(SEED))

fuzz-java: .venv/.stamp ## send mutated frames to nsadmin's and Java's name server and compare (FRAMES=200000)
	$(BIN)/python -m tests.fuzz.java_comparison --frames $(or $(FRAMES),200000) $(if $(SEED),--seed $(SEED))

guided: .venv/.stamp ## fuzz the name server guided by coverage with atheris (RUNS=1000000); new frames go to FOUND=.fuzz
	@$(BIN)/python -m pip install -q --group fuzz
	$(BIN)/python -m tests.fuzz.coverage_fuzzer $(or $(FOUND),.fuzz) -runs=$(or $(RUNS),1000000) -max_len=8192

mutants: .venv/.spark ## change functions of PACKAGE=namesrv_core/state at random (MUTANTS=300, SEED=1), and print the changes that its tests (or TESTS) do not notice
	@$(BIN)/python -m pip install -q --group mutation
	$(BIN)/python -m tests.support.mutation $(PACKAGE) --mutants $(or $(MUTANTS),300) --seed $(or $(SEED),1) $(if $(TESTS),--tests $(TESTS))

soak: .venv/.stamp ## load the name server for MINUTES=30 and check for growth; updates docs/explanation/reliability.md
	$(BIN)/python -m tests.bench.soak --minutes $(or $(MINUTES),30) --write

proxies: .venv/.stamp ## wait until the clients of a killed and of a frozen proxy of 5.5.0 are gone (2 minutes)
	NSADMIN_PROXIES=full $(BIN)/python -m pytest tests/interop/test_proxies.py

kubectl: .venv/.stamp ## run --kube, kube doctor and the Helm chart with kubectl and the API server of Kubernetes (10 minutes to build it, then 1)
	NSADMIN_KUBECTL=full $(BIN)/python -m pytest tests/interop/test_real_kubernetes.py

tunnels: .venv/.stamp ## run the commands on 5.5.0 and 4.9.7 through --ssh and --kube, in a separate network (3 minutes)
	NSADMIN_TUNNELS=full $(BIN)/python -m pytest tests/interop/test_tunnels.py

bench-checks: .venv/.stamp ## run `check all` on 1,000 groups: at most 30 s
	$(BIN)/python -m tests.bench.check_all

bench-exporter: .venv/.stamp ## scrape the exporter of 5,000 topics and 500 groups: at most 5 s and 150 MiB (2 minutes)
	$(BIN)/python -m tests.bench.exporter

soak-exporter: .venv/.stamp ## run the exporter for MINUTES=30 while groups come and go, and check for growth
	$(BIN)/python -m tests.bench.exporter --minutes $(or $(MINUTES),30)

attacks: .venv/.stamp ## measure good clients, commands and the exporter during attacks (5 minutes); updates docs/explanation/reliability.md
	$(BIN)/python -m tests.bench.attacks --write
	$(BIN)/python -m tests.bench.command_attacks --write

kills: .venv/.stamp ## kill the name server during KV writes ROUNDS=1000 times, and check that no answered write is lost
	$(BIN)/python -m tests.bench.kills --rounds $(or $(ROUNDS),1000)

rebalance-proof: .venv/.stamp ## move queues of Java brokers under checked load, with kills, and on 4.9.7 (5 minutes)
	NSADMIN_REBALANCE=full $(BIN)/python -m pytest tests/interop/test_rebalance.py

messages: .venv/.stamp ## test produce, consume, messages import and dlq replay with MESSAGES=100000 and LETTERS=10000 on Java brokers (5 minutes)
	NSADMIN_STREAM_MESSAGES=$(or $(MESSAGES),100000) NSADMIN_IMPORTED_MESSAGES=$(or $(MESSAGES),100000) NSADMIN_DEAD_LETTERS=$(or $(LETTERS),10000) $(BIN)/python -m pytest tests/interop/test_message_streams.py tests/interop/test_dead_letters.py

simulation: .venv/.stamp ## run drains and eleven other procedures in a simulated cluster with random faults (SCHEDULES=100000, SEED=N for the story of one)
	$(BIN)/python -m tests.simulation $(if $(PROCEDURE),--procedure $(PROCEDURE)) $(if $(SEED),--seed $(SEED),--schedules $(or $(SCHEDULES),100000))

simulation-real: .venv/.stamp ## play SCHEDULES=60 schedules of commands in the simulation and on Java clusters of 5.5.0 and 4.9.7, and compare (10 minutes)
	NSADMIN_SCHEDULES=$(or $(SCHEDULES),60) $(BIN)/python -m pytest tests/interop/test_simulated_drains.py

truth: .venv/.spark ## compare reports with the truth about random overlapping faults: journals of SEEDS=200, and logs of LOG_SEEDS=20; print SHOWN=20 wrong rows of each; then cut journals of RUN_SEEDS=20 into random runs
	$(BIN)/python -m tests.truth --journals --seeds $(or $(SEEDS),200) --shown $(or $(SHOWN),20)
	$(BIN)/python -m tests.truth --seeds $(or $(LOG_SEEDS),20) --shown $(or $(SHOWN),20)
	$(BIN)/python -m tests.truth.random_runs --seeds $(or $(RUN_SEEDS),20)

mcp-proof: .venv/.stamp ## call the tools of nsadmin mcp CALLS=10000 times at random on a Java cluster, and check that nothing changes (30 minutes)
	NSADMIN_MCP_CALLS=$(or $(CALLS),10000) $(BIN)/python -m pytest tests/interop/test_mcp.py

transfer-proof: .venv/.stamp ## copy MESSAGES=200000 from 4.9.7 and 5.5.0 to 5.5.0 under writes, with kills of nsadmin and of a broker on each side (5 minutes)
	NSADMIN_TRANSFER=$(or $(MESSAGES),200000) $(BIN)/python -m pytest -s tests/interop/test_transfers.py

recipes: .venv/.spark ## run the nightly script with Spark, the DAG with Airflow, and the notebook with Jupyter (5 minutes)
	@$(PYTHON) -m venv .venv/airflow && .venv/airflow/bin/python -m pip install -q 'apache-airflow>=3.1'
	@$(BIN)/python -m pip install -q nbclient ipykernel
	NSADMIN_RECIPES=$(CURDIR)/.venv/airflow/bin/python $(BIN)/python -m pytest tests/nsreport/test_recipes.py

replica-proof: .venv/.stamp ## wait until slaves of 5.5.0 and 4.9.7 drift whose master refuses their copies (5 minutes)
	NSADMIN_REPLICAS=full $(BIN)/python -m pytest tests/interop/test_blocked_replicas.py

yarn: .venv/.spark ## test the pipeline on YARN with journals and tables in HDFS, on a local Hadoop cluster (2 minutes)
	YARN=1 $(BIN)/python -m pytest tests/nsreport/test_yarn.py

object-stores: .venv/.spark ## test input in abfs:// and gs://, and tables in s3a:// with kills, on emulators (15 minutes, needs npm and Go)
	@$(BIN)/python -m pip install -q 'moto[server]>=5.1'
	OBJECT_STORES=1 $(BIN)/python -m pytest tests/nsreport/test_object_stores.py tests/nsreport/test_s3_output.py

dist: .venv/.dist ## build all artefacts of a release into dist/ (5 minutes, needs Go)
	PATH="$(CURDIR)/$(BIN):$$PATH" packaging/build

dist-proof: ## install each artefact of dist/ in a clean place and use it there, also in a booted Debian (8 minutes)
	packaging/prove

lock: .venv/.audit ## update uv.lock to the newest allowed versions, and the file with hashes for containers
	$(UV) lock --upgrade
	$(UV) export $(EXPORT) --no-dev --extra tls --output-file packaging/requirements.txt

audit: .venv/.audit ## check uv.lock for known vulnerabilities; prints SKIPPED if the public service is unreachable
	@$(BIN)/python -m tests.support.dependency_audit

clean: ## remove the files that these targets create
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist site

.venv/.stamp: pyproject.toml
	@echo "installing into .venv"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -q --upgrade 'pip>=25.1'
ifeq ($(LOCKED),)
	@HATCH_BUILD_NO_HOOKS=true $(BIN)/python -m pip install -q -e . --group dev
else
	@$(BIN)/python -m pip install -q --group audit
	@$(UV) export $(EXPORT) --group dev --output-file .venv/locked.txt
	@$(BIN)/python -m pip install -q --require-hashes -r .venv/locked.txt
	@HATCH_BUILD_NO_HOOKS=true $(BIN)/python -m pip install -q --no-deps -e .
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

.venv/.dist: .venv/.stamp
	$(call install_group,dist)
	@touch $@

.venv/.audit: .venv/.stamp
	@$(BIN)/python -m pip install -q --group audit
	@touch $@
