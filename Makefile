# Python 3.11 or newer with venv, and make: nothing else is needed. Everything is installed into .venv from the
# pins in requirements/, with hashes.

PORT ?= $(or $(CFPLAN_PORT),8000)
PYTHON ?=
VENV := .venv
BIN := $(VENV)/bin
DONE := $(VENV)/.done
# A file's tests stay together: they share a server, a database, a browser. More than four at once start too many of those.
# tests/conftest.py determines the number of workers and the order of the files, so xdist must not reorder them.
AT_ONCE := --numprocesses=auto --maxprocesses=4 --dist=loadfile --no-loadscope-reorder
PIP_INSTALL := $(BIN)/python -m pip install --quiet --require-hashes --no-build-isolation

# Looks at the interpreters of this machine, newest habit first, and takes the first that is new enough.
CANDIDATES := $(if $(PYTHON),$(PYTHON),python3 python3.14 python3.13 python3.12 python3.11)

# Without compiled modules, every worker would rewrite the asserts of all tests, and every command and process that a
# test starts would compile the application again. `make clean` removes them.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run setup test soak bench load check format findings openapi sbom licenses pins clean browser FORCE

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: $(DONE)/web $(DONE)/project ## set up what the web service needs and serve http://127.0.0.1:8000 (PORT=...)
	@exec $(BIN)/cfplan serve --port $(PORT)

setup: $(DONE)/web $(DONE)/project $(DONE)/dev $(DONE)/spark ## install everything: service, development, Spark

test: setup browser ## set up everything and run all tests
	$(BIN)/python -m pytest $(AT_ONCE) $(ARGS)

soak: setup browser ## run the tests that are too long for `make test`
	$(BIN)/python -m pytest -m soak $(ARGS)

bench: setup ## run the benchmarks
	$(BIN)/python -m bench $(ARGS)

load: setup ## load the service with many users, uploads and a nightly run for five minutes (ARGS="--seconds 60 --dumps 10")
	$(BIN)/python -m bench.load_run $(ARGS)

check: $(DONE)/web $(DONE)/project $(DONE)/dev $(DONE)/spark ## format, lint, types, import contracts, templates
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/djlint templates --lint --quiet

format: $(DONE)/dev ## format the code and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

findings: setup ## write docs/reference/findings.md and the page of each code from the catalogue
	$(BIN)/python -m tests.docs.findings_page

openapi: setup ## write app/documentation/openapi.json from the routes, models and examples
	$(BIN)/python -m tests.app.documentation.openapi_file

sbom: setup ## write the bill of materials (CycloneDX) and third-party notices to build/
	$(BIN)/python -m inventory sbom

licenses: setup ## write docs/reference/licenses.md from the metadata of the pinned packages
	$(BIN)/python -m inventory licenses

# uv resolves for every platform and Python at once; it lives in a virtual environment of its own for the time of the
# call. Existing pins are kept unless UPGRADE is set. Without annotations and header the files name no host.
UV_COMPILE = $$dir/bin/uv pip compile --quiet --no-config --universal --python-version 3.11 --no-header --no-annotate \
  --generate-hashes $(if $(UPGRADE),--upgrade)

pins: $(DONE)/venv ## resolve the dependencies again and write requirements/ (UPGRADE=1: to the newest)
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	$(BIN)/python -m venv "$$dir" && "$$dir/bin/pip" install --quiet uv && \
	$(UV_COMPILE) --group build -o requirements/build.txt && \
	$(UV_COMPILE) pyproject.toml -o requirements/web.txt && \
	$(UV_COMPILE) pyproject.toml --extra spark -c requirements/web.txt -o requirements/spark.txt && \
	$(UV_COMPILE) pyproject.toml --extra mcp -c requirements/web.txt -c requirements/spark.txt -o requirements/mcp.txt && \
	$(UV_COMPILE) --group dev -c requirements/build.txt -c requirements/web.txt -c requirements/spark.txt \
	  -c requirements/mcp.txt -o requirements/dev.txt

browser: $(DONE)/dev
	@$(BIN)/python -m tests.chromium

clean: ## remove what was installed and built; the data folder stays
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- what is installed -------------------------------------------------------------------------------------------
# A file in .venv/.done stands for one step that ended well. An install that was cut short leaves no such file, so the
# next run does the step again; mend.py first forgets the packages that were only half written.

$(DONE)/venv: FORCE
	@if [ "$$(cat $@ 2>/dev/null)" = "$(CURDIR)" ] && $(BIN)/python -c '' 2>/dev/null; then exit 0; fi; \
	for candidate in $(CANDIDATES); do \
	  if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "cfplan needs Python 3.11 or newer; looked for: $(CANDIDATES). Name one with: make PYTHON=/path/to/python3" >&2; exit 1; \
	fi; \
	if ! $$python -c 'import venv, ensurepip' 2>/dev/null; then \
	  echo "$$python has no venv module. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; \
	fi; \
	echo "Making $(VENV) with $$($$python --version)"; \
	$$python -m venv --clear $(VENV) && mkdir -p $(DONE) && printf '%s\n' "$(CURDIR)" > $@

FORCE:

$(DONE)/build: requirements/build.txt $(DONE)/venv
	@$(BIN)/python requirements/mend.py
	$(PIP_INSTALL) -r $<
	@touch $@

$(DONE)/web: requirements/web.txt $(DONE)/build
	@$(BIN)/python requirements/mend.py
	$(PIP_INSTALL) -r $<
	@touch $@

# setuptools warns at every editable installation that folders of the same names would take precedence.
$(DONE)/project: pyproject.toml $(DONE)/build
	@$(BIN)/python requirements/mend.py
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --no-deps --no-index --no-build-isolation --editable .
	@touch $@

$(DONE)/mcp: requirements/mcp.txt $(DONE)/web
	@$(BIN)/python requirements/mend.py
	$(PIP_INSTALL) -r $<
	@touch $@

$(DONE)/dev: requirements/dev.txt $(DONE)/mcp
	@$(BIN)/python requirements/mend.py
	$(PIP_INSTALL) -r $<
	@touch $@

$(DONE)/spark: requirements/spark.txt $(DONE)/dev
	@$(BIN)/python requirements/mend.py
	@echo "Installing Spark: the first time this fetches 460 MB and takes some minutes"
	$(PIP_INSTALL) -r $<
	@touch $@
