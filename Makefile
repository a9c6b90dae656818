# On a fresh Debian 12 machine with git, make and Python 3.11, each of these does all of its own set-up first.
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: setup-lab setup-pdf setup-nfs setup-systemd setup-package help demo docs test test-fast test-all test-long test-nfs test-systemd test-pdf chaos fuzz mutations screenshots texts run setup check bench wheel package package-again package-test clean

BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
# Tests start Python hundreds of times, and each time it would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

# For a part of the tests: make test PYTEST="tests/core -k facts"
PYTEST ?=
# How many tests compute at once. Many wait, so there are more workers: on the hosts three times as many, each with a lab.
WORKERS ?= 2
# Of make chaos: how many rounds, drawn by which seed, on how many pairs of hosts at once; ROUND=3: that one alone;
# FAULT='pghaul killed': no other; DRESSED=60: each with a dress rehearsal, whose fault strikes in its first 60 seconds.
ROUNDS ?= 10
SEED ?= 1
PAIRS ?= 2
# Of make fuzz: for how long.
SECONDS ?= 60
# Of make mutations: how many, drawn by SEED; ONLY='3 17': these alone; TESTS_OF=COMMIT: with the tests of that commit.
COUNT ?= 60
RUN := $(BIN)/python -m tests.run

help:
	@echo 'make demo          the main job, end to end, on two real hosts that it starts and takes away again'
	@echo 'make test-fast     a minute: the quick tests, no hosts; PYTEST="tests/core -k facts" runs a part of them, here as below'
	@echo 'make test          eight minutes: all tests but the longest; STRICT=1 repeats none that failed on the hosts'
	@echo 'make test-all      hours: make test, test-long, test-nfs, test-systemd, test-pdf and chaos, then which of them were red'
	@echo 'make test-long     the longest: whole moves, every cap, every interruption'
	@echo 'make test-nfs      a move over NFS, between two virtual machines'
	@echo 'make test-systemd  moves between hosts with service managers, in every layout'
	@echo 'make test-pdf      reports held against PDF/A-2a and PDF/UA-1 by veraPDF, which comes from Maven Central'
	@echo 'make chaos         moves between such hosts, each with a fault at a random moment: ROUNDS=10 SEED=1, ROUND=3 alone'
	@echo 'make fuzz          what reads servers and files, fed with garbage and damaged outputs for SECONDS=60'
	@echo 'make mutations     whether tests notice single changes of the code: COUNT=60 SEED=1, ONLY=3 alone'
	@echo 'make screenshots   every page of the window in each size, scale and theme, in screenshots/'
	@echo 'make docs          the documentation as a site, in site/'
	@echo 'make texts         the texts of reports and window into the catalogue of each language'
	@echo 'make run           the window'
	@echo 'make setup         everything into .venv, system packages included'
	@echo 'make check         lint, format, types, which package may import which, and the shell of the remote half'
	@echo 'make bench         the benchmarks, each with its figures'
	@echo 'make wheel         the wheel and the source distribution, in dist/'
	@echo 'make package       .deb, .rpm, tar, wheel, bill of materials and SHA256SUMS, in dist/'
	@echo 'make package-test  each package on a clean Debian: install, open, report; sizes and start times'
	@echo 'make package-again freezes a second time and names each file that differs'
	@echo 'make clean         remove what these have made'

demo: setup-lab
	@WITHOUT_LAB='$(BIN)/pghaul estimate --spec tests/data/specs/seed-1220gb-observed.toml' sh installer/with-lab.sh $(BIN)/python tests/lab/demo.py

test: setup-lab
	@WITHOUT_LAB='$(if $(WITHOUT_LAB),$(WITHOUT_LAB); )$(RUN) -n $(WORKERS) unhosted $(PYTEST)' sh installer/with-lab.sh $(RUN) -n $(WORKERS) core $(PYTEST)

test-fast: setup-lab
	@$(RUN) -n $(WORKERS) fast $(PYTEST)

test-all: setup-lab
	@$(RUN) all

test-long: setup-lab
	@sh installer/with-lab.sh $(RUN) -n $(WORKERS) long $(PYTEST)

test-nfs: setup-nfs
	@sh installer/with-lab.sh $(RUN) nfs $(PYTEST)

test-systemd: setup-systemd
	@sh installer/with-lab.sh $(RUN) systemd $(PYTEST)

test-pdf: setup-pdf
	@$(RUN) pdf $(PYTEST)

chaos: setup-systemd
	@sh installer/with-lab.sh $(BIN)/python -m tests.chaos.run --rounds $(ROUNDS) --seed $(SEED) --pairs $(PAIRS) $(if $(ROUND),--round $(ROUND)) $(if $(FAULT),--fault '$(FAULT)') $(if $(DRESSED),--dressed $(DRESSED))

fuzz: setup-lab
	@$(BIN)/python -m tests.fuzz.run --seconds $(SECONDS) --seed $(SEED)

mutations: setup-lab
	@sh installer/with-lab.sh $(BIN)/python -m tests.mutations.run --count $(COUNT) --seed $(SEED) $(if $(ONLY),--only $(ONLY)) $(if $(TESTS_OF),--tests-of $(TESTS_OF))

screenshots: setup-lab
	@$(BIN)/python tests/gui/pictures.py screenshots

docs: setup
	@$(BIN)/python -m installer.site

texts: setup
	@$(BIN)/python -m installer.texts

run: setup
	@$(BIN)/pghaul

setup:
	@sh installer/setup.sh
setup-lab:
	@sh installer/setup.sh lab
setup-pdf:
	@sh installer/setup.sh pdf
	@sh tests/verapdf/fetch.sh
setup-nfs:
	@sh installer/setup.sh nfs
setup-systemd:
	@sh installer/setup.sh systemd
setup-package:
	@sh installer/setup.sh package

check: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/shellcheck resources/sh/*.sh resources/script/*.sh
	$(BIN)/shfmt -i 2 -ci -d resources/sh resources/script

bench: setup-lab
	@sh installer/with-lab.sh sh benchmarks/run-all.sh $(BIN)/python

wheel: setup
	@$(BIN)/python -m installer.wheel

package: setup-package
	$(BIN)/python -m installer.build

package-again: setup-package
	@$(BIN)/python -m installer.build again

package-test: package
	@sh installer/with-lab.sh $(RUN) clean_debian $(PYTEST)

clean:
	rm -rf .venv .venv-tools dist build demo site screenshots fuzz-findings installer/build
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
