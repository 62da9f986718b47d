# Everything a developer types. All of it installs into .venv; stamp files there keep re-runs quick.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

# A test suite starts Python some hundred times, and a server that finds nothing compiled starts half as fast.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
BIN := .venv/bin
# Extra arguments for the command behind a target, as in: make serve ARGS="--port 9090"
ARGS ?=

# Root needs no sudo, and a machine without sudo gets the plain command and its honest error.
SUDO := $(shell [ "$$(id -u)" = 0 ] || command -v sudo || true)
APT_INSTALL = $(SUDO) apt-get update -qq && \
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(WITHOUT_SERVICE)
# Only the programs of these packages are wanted, so nothing that would start their services is installed.
SERVICES := prometheus etcd haproxy patroni patroni@ pgbouncer
WITHOUT_SERVICE := $(addprefix -o DPkg::Options::=--path-exclude=,$(SERVICES:%=/lib/systemd/system/%.service) $(SERVICES:%=/etc/init.d/%))

# Suites in the order they run, and the seconds after which each is taken to hang: five times and more what it needs on
# two idle cores. How long a suite takes is printed, and nothing fails by it.
SUITES := tidy unit connectors property databases api browser crash
TIMEOUT_check := 600
TIMEOUT_tidy := 600
TIMEOUT_unit := 1200
TIMEOUT_connectors := 1200
TIMEOUT_property := 1200
TIMEOUT_databases := 1800
TIMEOUT_api := 1800
TIMEOUT_browser := 1800
TIMEOUT_crash := 1800

# How a suite is shared out to processes. Files of api, browser and crash stay whole, because their tests share what they
# prepared; tests of property are dealt out one by one, because the longest stand side by side. Tidy would gather its tests
# twice for nothing. Where tests wait for deadlines and for other processes, there are more processes than cores. Files
# begin in the order of `tests/conftest.py`, the longest first.
# All of them must find the same tests under the same names, and a set in a name is spelled in the order of its hashes.
SAME_NAMES := PYTHONHASHSEED=0
FLAGS_unit := -n 2
FLAGS_connectors := -n 2
FLAGS_property := -n 2 --dist loadgroup
FLAGS_databases := -n 2
FLAGS_api := -n 4 --dist loadfile --no-loadscope-reorder
FLAGS_browser := -n 3 --dist loadfile --no-loadscope-reorder
FLAGS_crash := -n 6 --dist loadfile --no-loadscope-reorder

.PHONY: help setup serve test check prove prove-ha ha-machine bench bench-scale docs answers crashes screenshots lock wheel clean machine node containers $(addprefix test-,$(SUITES))

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-11s %s\n", $$1, $$2}'

setup: .venv/.dev-ok  ## create .venv with everything needed to develop

serve: .venv/.ok  ## set up and start the sandbox; arguments through ARGS=
	@exec $(BIN)/tollgate serve $(ARGS)

test: .venv/.dev-ok machine check $(addprefix test-,$(SUITES))  ## every check and every suite
	@echo "all suites passed"

check: .venv/.dev-ok .venv/.javascript-ok  ## ruff, mypy strict, import order, TypeScript, eslint
	@exec $(RUN_SUITE) $@ $(TIMEOUT_check) $(SHELL) -c '$(BIN)/mypy & \
		$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/pytest -q tests/tidy/test_imports.py && \
		$(NODE_BIN)/tsc --project tsconfig.json && \
		$(NODE_BIN)/eslint --config .venv/javascript/eslint.config.js --max-warnings 0 src; \
		others=$$?; wait $$! && exit $$others'
NODE_BIN := .venv/javascript/node_modules/.bin

$(addprefix test-,$(SUITES)): test-%: .venv/.dev-ok machine
	@$(SAME_NAMES) exec $(RUN_SUITE) $* $(TIMEOUT_$*) $(BIN)/pytest -q -m "not prove" $(FLAGS_$*) tests/$* $(ARGS)

test-browser: .venv/.npm-ok

# Takes the place of the shell, so that it learns of the end of make.
RUN_SUITE = $(BIN)/python tools/run_suite.py

prove: .venv/.bench-ok .venv/.npm-ok machine containers  ## the long runs: many more examples and crashes, every case on both databases
	$(PROVE) $(FLAGS_property) tests/property $(ARGS)
	$(PROVE) $(FLAGS_api) tests/api $(ARGS)
	$(PROVE) -n 2 --dist loadfile -m prove --ignore tests/api tests $(ARGS) || [ $$? = 5 ]
PROVE = $(SAME_NAMES) HYPOTHESIS_PROFILE=prove $(BIN)/pytest -q --timeout 3600

bench: .venv/.bench-ok machine  ## payments per second beside the limit, into docs/benchmarks.md
	$(BIN)/python tools/bench/run.py $(ARGS)

bench-scale: .venv/.bench-ok machine  ## payments beside ten million on PostgreSQL, into docs/scale.md
	$(BIN)/python tools/bench/scale.py $(ARGS)

prove-ha: .venv/.dev-ok machine ha-machine  ## take the primary of a PostgreSQL cluster away 20 times under load; as root, into docs/failover.md
	$(SUDO) $(BIN)/python tools/ha/run.py $(ARGS)

docs: .venv/.dev-ok  ## write docs/reference again from the catalogue's rows
	$(BIN)/python tools/make_reference.py

answers: .venv/.dev-ok  ## record what a server answers to the examples that the OpenAPI document shows
	EXAMPLE_ANSWERS=write $(BIN)/pytest -q -n 0 tests/api/test_openapi_answers.py -k shows

crashes: .venv/.dev-ok machine  ## kill at every crash point and write docs/crash-points.md again
	CRASH_POINTS=write $(BIN)/pytest -q tests/crash/test_payment_crashes.py tests/crash/test_routing_crashes.py tests/crash/test_follow_up_crashes.py \
		tests/crash/test_method_crashes.py tests/crash/test_background_crashes.py tests/crash/test_checkout_crashes.py \
		tests/crash/test_delivery_crashes.py tests/crash/test_endpoint_crashes.py tests/crash/test_office_crashes.py

screenshots: .venv/.dev-ok machine  ## take the pictures of the form, the pages and the back office again
	$(BIN)/python tools/screenshots.py $(ARGS)

lock: .venv/.dev-ok  ## resolve the newest dependencies into the lock files, which name no host
	$(BIN)/uv lock --quiet
	$(BIN)/uv export --quiet $(EXPORT) --no-dev --output-file requirements.lock
	$(BIN)/uv export --quiet $(EXPORT) --extra traces --group dev --output-file requirements-dev.lock
	$(BIN)/uv export --quiet $(EXPORT) --only-group bench --output-file requirements-bench.lock
	$(BIN)/uv export --quiet $(EXPORT) --only-group build --output-file requirements-build.lock
	rm -f uv.lock
EXPORT := --frozen --no-emit-project --no-header

# The same files give the same wheel, byte for byte.
wheel: .venv/.build-ok  ## build the wheel into dist, for uvx and for the container
	rm -f dist/*.whl
	$(BIN)/hatchling build -t wheel -d dist

clean:  ## remove what can be made again; never the data folder
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.* build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- the virtual environment ---------------------------------------------------------------------------------------

# Debian ships python3 without ensurepip, and then `python3 -m venv` cannot finish; python3-venv brings it.
.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with PYTHON="; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { $(APT_INSTALL) python3-venv; }
	$(PYTHON) -m venv .venv

# pip brings the pinned uv and the build backend; from then on uv installs, and pip steps in where uv cannot.
.venv/.build-ok: requirements-build.lock | .venv/bin/pip
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-build.lock
	@touch $@

define install
$(BIN)/uv pip install --quiet --python $(BIN)/python $(1) || \
	$(BIN)/pip install --quiet --disable-pip-version-check $(1)
endef

.venv/.ok: requirements.lock pyproject.toml .venv/.build-ok
	$(call install,--require-hashes -r requirements.lock)
	$(call install,--no-deps --no-build-isolation --editable .)
	@touch $@

.venv/.dev-ok: requirements-dev.lock .venv/.ok
	$(call install,--require-hashes -r requirements-dev.lock)
	@touch $@

.venv/.bench-ok: requirements-bench.lock .venv/.dev-ok
	$(call install,--require-hashes -r requirements-bench.lock)
	@touch $@

# Frameworks and style sheets of other people's pages, for the browser tests alone; npm asks the registry it is set to.
NPM := tests/browser/npm
.venv/.npm-ok: $(wildcard $(NPM)/*) docs/frameworks.md | .venv/.dev-ok machine
	rm -rf .venv/npm && cp -r $(NPM) .venv/npm
	cd .venv/npm && npm ci --loglevel=error --no-audit --no-fund --ignore-scripts >npm.log && node build.js
	@touch $@

# TypeScript and eslint, which check the scripts that browsers load; the gateway itself needs no Node.
SCRIPT_CHECKS := tools/javascript
.venv/.javascript-ok: $(wildcard $(SCRIPT_CHECKS)/*) | .venv/.dev-ok node
	rm -rf .venv/javascript && cp -r $(SCRIPT_CHECKS) .venv/javascript
	cd .venv/javascript && npm ci --loglevel=error --no-audit --no-fund --ignore-scripts >npm.log
	@touch $@

# ---- the machine ---------------------------------------------------------------------------------------------------

# Checks need no other program.
node:
	@{ command -v node && command -v npm; } >/dev/null || { $(APT_INSTALL) nodejs npm; } || \
		{ echo "please install: nodejs npm"; exit 1; }

# They build the image, which only `make prove` does.
containers:
	@{ command -v buildah && command -v mmdebstrap; } >/dev/null || { $(APT_INSTALL) buildah mmdebstrap; } || \
		{ echo "please install: buildah mmdebstrap"; exit 1; }

# Looks for the programs first: when all are there, apt is not called and root is not needed. The last one is the same
# Chromium without the windows that nobody sees: tests do without it, but take twice as long.
machine:
	@missing=""; \
	have() { command -v "$$1" >/dev/null 2>&1; }; \
	have initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || missing="$$missing postgresql"; \
	have chromium || have google-chrome || missing="$$missing chromium fonts-liberation"; \
	have wrk || missing="$$missing wrk"; \
	have faketime || missing="$$missing faketime"; \
	have node || missing="$$missing nodejs"; \
	have npm || missing="$$missing npm"; \
	have php || missing="$$missing php-cli"; \
	have javac || missing="$$missing default-jdk-headless"; \
	have firefox-esr || have firefox || missing="$$missing firefox-esr"; \
	have openssl || missing="$$missing openssl"; \
	have curl || missing="$$missing curl"; \
	have promtool || missing="$$missing prometheus"; \
	have systemd-analyze || missing="$$missing systemd"; \
	have redis-server || missing="$$missing redis-server"; \
	if [ -n "$$missing" ]; then \
		have apt-get || { echo "please install:$$missing"; exit 1; }; \
		{ $(APT_INSTALL) $$missing; } || { echo "please install:$$missing"; exit 1; }; \
	fi; \
	if ! have chromium-headless-shell && have apt-get && [ "$$(id -u)" = 0 ]; then \
		{ $(APT_INSTALL) chromium-headless-shell; } || echo "the browser tests take twice as long without a shell"; \
	fi

# The programs of deploy/postgresql-ha.
ha-machine:
	@missing=""; \
	for pair in patroni:patroni etcd:etcd-server haproxy:haproxy pgbouncer:pgbouncer ip:iproute2 setpriv:util-linux; do \
		PATH="$$PATH:/usr/sbin:/sbin" command -v "$${pair%:*}" >/dev/null 2>&1 || missing="$$missing $${pair#*:}"; \
	done; \
	[ -z "$$missing" ] || { \
		command -v apt-get >/dev/null || { echo "please install:$$missing"; exit 1; }; \
		$(APT_INSTALL) $$missing; \
	}
