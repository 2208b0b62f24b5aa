# make demo: label real clips in a browser. make test: every check. Both set up what they need.
PYTHON ?= python3
BIN := .venv/bin
PACKAGES := agreement annotation_app audit benchmarks construction corpus evaluators exports llm \
  metrics motionjury render store
# Run by Streamlit and by Alembic; importing them runs them.
SCRIPTS := annotation_app/main.py store/migrations/env.py
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# One thread per process: the work is spread over processes instead.
export OMP_NUM_THREADS ?= 1
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test lint types contract doctest unit setup setup-dev player clean

demo: setup
	$(BIN)/motionjury demo

test: setup-dev lint types contract doctest unit

setup: .make/runtime .make/player

setup-dev: .make/dev .make/player

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

# The 3D view. Where it cannot be built this says why, succeeds, and is tried again next time.
player: .make/player

.make/player: .make/runtime requirements-player.txt scripts/build-player.sh \
  annotation_app/player/package.json annotation_app/player/package-lock.json \
  $(wildcard annotation_app/player/player3d/*.ts)
	@sh scripts/build-player.sh

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup-dev
	$(BIN)/mypy $(PACKAGES)
	@if test -e .make/player; then cd annotation_app/player && \
	  PATH="$(CURDIR)/$(BIN):$$PATH" node_modules/.bin/tsc --noEmit; \
	  else echo "TypeScript not checked: the 3D view could not be built, see .make/player.log"; fi

contract: setup-dev
	$(BIN)/lint-imports

doctest: setup-dev
	$(BIN)/pytest --doctest-modules $(PACKAGES) $(SCRIPTS:%=--ignore=%)

unit: setup-dev
	$(BIN)/pytest tests

clean:
	rm -rf .venv .make
