# Every target works in a fresh clone and installs the environment first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
UV     := uv==0.13.8
COMPILE = $(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --no-strip-extras
# The extras of runs on several machines.
CLUSTER := --extra ray --extra kubernetes
# The packages of `wordllama` are for Linux on x86-64; hashed words stand in elsewhere, and are labeled.
EMBEDDER = $(shell $(BIN)/python -c "import importlib.util as u; print('wordllama' if u.find_spec('wordllama') else 'hashing')")
# Concurrent test processes: on two cores, three take 6 minutes and two take 7, since some tests wait for servers. The
# tests of a module stay in one process, because they share expensive fixtures.
WORKERS ?= 3
PYTEST := .ci/in_memory $(BIN)/pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder
# Processes store the modules that they compile: a test run starts hundreds of them.
unexport PYTHONDONTWRITEBYTECODE
# What `make test` leaves to `make test-rest`; the markers are described in pyproject.toml.
NEEDS_MORE := postgres or browser or daemon or cluster or kill or pipeline or vllm or real

.PHONY: run test test-rest test-all dev check types lint docs pictures bench format image-check release-check lock clean

run: $(READY)              ## the two demo domains with the scripted chat, and retrieval that needs none
	$(BIN)/memflow run --demo --embedder $(EMBEDDER)

test: $(READY)             ## tests without database server, browser, daemon or kill
	$(PYTEST) -m "not ($(NEEDS_MORE))" --ignore tests/browser --ignore tests/daemon

test-rest: $(READY)        ## the other tests, and property tests with all examples
	$(PYTEST) -m "$(NEEDS_MORE) or hypothesis" --hypothesis-profile thorough

test-all: $(READY)         ## every test that can run here, property tests with all examples
	$(PYTEST) --hypothesis-profile thorough

dev: $(READY)              ## the Dagster UI on http://127.0.0.1:3000, on the same instance as `memflow run`
	$(BIN)/memflow dev

check: $(READY)            ## lint, format, types, imports, dependencies, words, SQL lint, definitions, bounds
	$(MAKE) -j 2 --output-sync=target types lint

# mypy takes about as long as the others together; `check` runs both side by side.
types: $(READY)
	$(BIN)/mypy

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/deptry memflow resources assets
	$(BIN)/codespell memflow assets resources sql tests docs bench examples README.md
	$(BIN)/sqlfluff lint --disable-progress-bar sql
	MEMFLOW_HOME=$(VENV)/.check $(BIN)/dagster definitions validate
	MEMFLOW_HOME=$(VENV)/.check $(BIN)/python .ci/bounds.py

docs: $(READY)             ## build the documentation into site/, with a reference generated from the code; no network
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

PYTHONS ?= 3.11 3.12 3.13
release-check: $(READY)    ## install and use wheel and source distribution on three Pythons; compare the pictures
	$(BIN)/python .ci/packages.py --demo --tools $(PYTHONS)
	$(BIN)/python docs/pictures.py --check

pictures: $(READY)         ## the pictures of docs/img: terminal (SVG), and screenshots of the UI with a headless Chromium
	$(BIN)/python docs/pictures.py
	MEMFLOW_SCREENSHOTS=docs/img $(BIN)/pytest -q tests/browser

bench: $(READY)            ## the values of docs/explanation/performance.md, one JSON line each; peers are installed into their own environment
	$(BIN)/python -m bench

format: $(READY)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

image-check: $(READY)      ## run the Dockerfile's commands in a fresh environment, without Docker; downloads the image's packages
	$(BIN)/python tests/image_layers.py
	$(BIN)/python tests/image_layers.py REQUIREMENTS=requirements-cluster.lock

lock: $(READY)             ## resolve pyproject.toml into the locks: runtime, runtime for clusters, and development with docs
	$(COMPILE) --extra dev --extra docs pyproject.toml -o requirements-dev.lock
	$(COMPILE) pyproject.toml -c requirements-dev.lock -o requirements.lock
	$(COMPILE) $(CLUSTER) pyproject.toml -c requirements-dev.lock -o requirements-cluster.lock

$(READY): requirements-dev.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "memflow needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check $(UV)
	$(BIN)/uv pip install -q --python $(BIN)/python --require-hashes -r requirements-dev.lock
	$(BIN)/uv pip install -q --python $(BIN)/python --no-deps -e .
	touch $@

clean:
	rm -rf $(VENV) .memflow site
