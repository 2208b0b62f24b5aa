# make demo: label real clips in a browser. make test: every check. Both set up what they need.
PYTHON ?= python3
BIN := .venv/bin
PACKAGES := agreement annotation_app audit benchmarks construction corpus exports llm motionjury render store
# Run by Streamlit and by Alembic; importing them runs them.
SCRIPTS := annotation_app/main.py store/migrations/env.py
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# One thread per process: the work is spread over processes instead.
export OMP_NUM_THREADS ?= 1
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test lint types contract doctest unit setup setup-dev clean

demo: setup
	$(BIN)/motionjury demo

test: setup-dev lint types contract doctest unit

setup: .make/runtime

setup-dev: .make/dev

.make/runtime: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; set PYTHON=..." >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || \
	  { echo "The venv module is missing; on Debian: apt-get install python3-venv" >&2; exit 2; }
	@echo "Installing what requirements.txt names (a minute or two) ..."
	@$(BIN)/python -m pip --version >/dev/null
	$(PIP) -r requirements.txt
	$(PIP) --no-deps --no-build-isolation -e .
	@mkdir -p .make && touch $@

.make/dev: .make/runtime requirements-dev.txt requirements-oracles.txt scripts/system-packages.sh
	sh scripts/system-packages.sh
	$(PIP) -r requirements-dev.txt
	$(PIP) --no-deps -r requirements-oracles.txt
	@mkdir -p .make && touch $@

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup-dev
	$(BIN)/mypy $(PACKAGES)

contract: setup-dev
	$(BIN)/lint-imports

doctest: setup-dev
	$(BIN)/pytest --doctest-modules $(PACKAGES) $(SCRIPTS:%=--ignore=%)

unit: setup-dev
	$(BIN)/pytest tests

clean:
	rm -rf .venv .make
