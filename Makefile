# Every target does the set-up it needs; a second call skips what is done. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PRESET ?= release
JOBS ?= $(shell nproc)
FILTER ?=
BUILD := build/$(PRESET)
PYTHON := build/venv/bin/python
CTEST := ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

.PHONY: help
help: ## This list
	@echo "Sardonyx: run ONNX models; compile once, start hot afterwards."
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "Variables: PRESET=release|native|debug|asan|tsan|aarch64  JOBS=N  FILTER=regex (tests and benchmarks)"

.PHONY: packages venv models configure
packages:
	@tools/install_packages.sh build

venv: packages
	@tools/setup_venv.sh

models: venv
	@tools/install_packages.sh maven
	@$(PYTHON) tools/fetch_models.py --quiet --all

configure: packages
	@[ -f $(BUILD)/build.ninja ] || cmake --preset $(PRESET)

.PHONY: build
build: configure ## Compile libraries, the command and tests
	@cmake --build $(BUILD) -j $(JOBS)

.PHONY: check
check: packages ## Formatting, module layers, file sizes, names of types
	@tools/format.sh --check
	@python3 tools/check_layers.py
	@python3 tools/check_sizes.py
	@python3 tools/check_types.py
	@python3 -m unittest discover -q -s tools/tests

.PHONY: test
test: check models build ## Checks, release build, unit tests, operator cases, conformance, real models
	@ninja -C $(BUILD) slowest
	@$(CTEST) -LE full $(if $(FILTER),-R '$(FILTER)')

.PHONY: test-full
test-full: test ## The same, then every ISA level, slow tests, sanitizers, an old processor and 64-bit ARM
	@tools/install_packages.sh emulate
	@for isa in scalar sse4 avx2 avx512; do \
	  echo "== tests with SARDONYX_MAX_ISA=$$isa"; \
	  SARDONYX_MAX_ISA=$$isa $(CTEST) -LE full $(if $(FILTER),-R '$(FILTER)'); \
	done
	@echo "== slow tests"
	@$(CTEST) -L full $(if $(FILTER),-R '$(FILTER)')
	@for preset in asan tsan; do \
	  echo "== tests of preset $$preset"; \
	  $(MAKE) build PRESET=$$preset; \
	  ctest --test-dir build/$$preset --output-on-failure -j $(JOBS) -LE no-sanitizer $(if $(FILTER),-R '$(FILTER)'); \
	done
	@echo "== C++ tests on a processor without AVX"
	@tools/run_emulated.py --jobs $(JOBS) $(BUILD) qemu-x86_64 -cpu Nehalem
	@echo "== C++ tests of the cross build for 64-bit ARM"
	@$(MAKE) build PRESET=aarch64
	@tools/run_emulated.py --jobs $(JOBS) build/aarch64 qemu-aarch64 -L /usr/aarch64-linux-gnu

.PHONY: bench
bench: build $(if $(FILTER),,models) ## Microbenchmarks, and real models against onnxruntime (FILTER: microbenchmarks only)
	@found=; for bench in $(BUILD)/src/*_bench $(BUILD)/benchmarks/*_bench; do \
	  [ -x "$$bench" ] || continue; found=1; \
	  echo "== $$(basename $$bench)"; $$bench $(if $(FILTER),--benchmark_filter='$(FILTER)'); \
	done; [ -n "$$found" ] || echo "No benchmarks are built yet."
ifeq ($(FILTER),)
	@echo "== real models against onnxruntime"
	@$(PYTHON) benchmarks/compare_ort.py $(BUILD)/apps/cli/sardonyx --write docs/performance.md
	@echo "== starts of compiled models"
	@$(PYTHON) benchmarks/compare_start.py $(BUILD)/apps/cli/sardonyx --write docs/performance.md
endif

.PHONY: demo
demo: venv build ## Read a line of text from a picture, and time it
	@tools/demo.sh $(BUILD)

.PHONY: format
format: packages ## Format all C++ files in place
	@tools/format.sh

.PHONY: clean
clean: ## Remove build folders (fetched models and the compiler cache stay)
	@rm -rf build
