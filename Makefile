# Every habit has a target. All of them work in .venv, which they make themselves; PYTHON names the interpreter it is made from.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT := build/demo

.PHONY: help demo test check fix fresh goldens bench docs growth soak clean

help:
	@echo "demo    install, run ipv4_forward over the sample trace, write the output captures to $(OUT)"
	@echo "test    install with the test tools and run the tests"
	@echo "check   ruff, mypy, codespell, whether generated files are fresh and microcode is laid out"
	@echo "fix     what ruff can mend by itself"
	@echo "goldens rewrite the expected results in tests/corpus (read the difference before you commit it)"
	@echo "docs    rewrite the generated files: dispatch module, docs/reference, sample trace"
	@echo "bench   the speed of this machine"
	@echo "growth  measure how time grows with size, into docs/growth.md (on a quiet machine)"
	@echo "soak    the long tests"
	@echo "clean   remove what the targets made"

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("ixpemu needs Python 3.11 or later: make PYTHON=/path/to/it ...") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)

$(VENV)/runtime: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/tools: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/runtime

demo: $(VENV)/runtime
	@mkdir -p $(OUT)
	$(BIN)/ixpemu run microcode/ipv4_forward --out 0=$(OUT)/port0.pcap --out 1=$(OUT)/port1.pcap --out 2=$(OUT)/port2.pcap

# One compile of the engine before the workers start, or each of them would compile it.
test: $(VENV)/tools
	$(BIN)/ixpemu bench --compile-only
	$(BIN)/python -m pytest -q -n auto --dist loadfile

check: $(VENV)/tools fresh
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/codespell
	$(BIN)/ixpemu isa check
	$(BIN)/ixpemu fmt --check microcode

fresh: $(VENV)/tools
	$(BIN)/python -m tests.fresh --check

docs: $(VENV)/tools
	$(BIN)/python -m tests.fresh --write

fix: $(VENV)/tools
	$(BIN)/ruff check --fix .

goldens: $(VENV)/tools
	$(BIN)/python -m pytest -q --update-goldens tests

bench: $(VENV)/runtime
	$(BIN)/ixpemu bench

growth: $(VENV)/tools
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[report]'
	$(BIN)/python -m tests.growth

soak: $(VENV)/tools
	$(BIN)/ixpemu bench --compile-only
	$(BIN)/python -m pytest -q -m soak

clean:
	rm -rf $(VENV) build dist
