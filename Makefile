# Two commands matter: `make demo` runs the main job by itself; `make test` passes everything. Both do all set-up.
SHELL := /bin/bash
CARGO ?= cargo
TARGET := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)
DATA ?= .yuba/data
LISTEN ?= 127.0.0.1:8420
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= $(notdir $(wildcard tests/fuzz/corpus/*))
# Those that are zips; `source` is an image, for the git in it.
FUNCTIONS := webhook scheduler orchestrator tasks api slack notifier
comma := ,
space := $() $()

.DEFAULT_GOAL := help
.PHONY: help setup build release package demo serve test test-aws lint unit simulate simulate-long crash-long fuzz schema bench deny infra-check infra-schema fmt clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: ## check that what the build needs is there, and say what is missing
	@tests/setup.sh

build: setup ## build what runs on one machine, and the toy cloud
	$(CARGO) build --locked --bins -p yuba -p yuba-toy-cloud

release: setup ## build the optimised program
	$(CARGO) build --locked --release --bins -p yuba

package: setup ## build the functions for AWS Lambda but source, and zip each into target/lambda/packages
	$(CARGO) build --locked --profile lambda --bins $(addprefix -p yuba-,$(FUNCTIONS)) --features $(subst $(space),$(comma),$(patsubst %,yuba-%/lambda,$(FUNCTIONS)))
	@tests/aws/package.sh $(TARGET)/lambda $(FUNCTIONS)

demo: build ## run the main job by itself, from push to drift, on embedded storage
	@YUBA_BIN_DIR=$(TARGET)/debug tests/demo/demo.sh

serve: build ## start the server and keep it; DATA=dir LISTEN=address MANIFESTS=path
	$(TARGET)/debug/yuba serve --data $(DATA) --listen $(LISTEN) $(addprefix --manifests ,$(MANIFESTS))

test: lint unit simulate ## pass everything: format, lints, every test, a million simulated steps, the demo
	@YUBA_BIN_DIR=$(TARGET)/debug tests/demo/demo.sh

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

# Builds the programs that tests run too: each belongs to a package with tests of its own.
unit: setup
	@tests/setup.sh tests
	@tests/aws/setup.sh
	$(CARGO) test --locked --workspace --no-fail-fast

test-aws: setup ## test the ports and the functions on AWS against an emulator, which is installed into .yuba and started on 127.0.0.1
	@tests/aws/setup.sh
	$(CARGO) build --locked --workspace --bins
	$(CARGO) test --locked --workspace --test aws --test functions

# PLANT="some of its words" plants one of the faults that `--mutations` lists.
simulate: ## simulate a million steps with faults; SEED=n tells the shortest history of one that fails, SVG=file draws it
	$(CARGO) run --locked --quiet -p yuba-simulation -- $(addprefix --seed ,$(SEED)) $(addprefix --svg ,$(SVG)) \
		$(if $(PLANT),--planted "$(PLANT)")

# Optimised, and of other seeds than those of `simulate`; FROM=n goes on from there, STEPS=n takes fewer.
simulate-long: ## simulate a hundred million steps
	$(CARGO) run --locked --quiet --profile simulation -p yuba-simulation -- --steps $(or $(STEPS),100000000) --from $(or $(FROM),1000000)

crash-long: build ## strike real servers, disks and tasks CYCLES=200 times and look at what is left; SEED=n as once before
	YUBA_CRASH_CYCLES=$(or $(CYCLES),200) YUBA_CRASH_SEED=$(SEED) \
		$(CARGO) test --locked --workspace --test all crash::whatever -- --nocapture

fuzz: setup ## look for inputs that break what reads from outside; FUZZ_SECONDS=60 for each of FUZZ_TARGETS
	tests/fuzz/fuzz.sh $(TARGET) $(FUZZ_SECONDS) $(FUZZ_TARGETS)

schema: ## write the JSON Schema of the manifests and the OpenAPI description anew
	$(CARGO) run --locked -p yuba-core --example schema
	YUBA_UPDATE_OPENAPI=1 $(CARGO) test --locked -p yuba-api --test openapi

bench: setup ## measure what docs/benchmarks.md promises, each against its yardstick in the same run
	$(CARGO) build --locked --release --workspace --bins --examples
	@YUBA_BIN_DIR=$(TARGET)/release tests/bench/bench.sh

deny: ## check licences, bans and sources of all crates (installs cargo-deny where it is missing)
	@command -v cargo-deny >/dev/null || $(CARGO) install --locked cargo-deny
	cargo-deny --all-features check bans licenses sources

infra-check: ## check infra/ with checkov, which is installed into target/ (some minutes the first time)
	@tests/infra/checkov.sh $(TARGET)/checkov

infra-schema: ## read the AWS provider's schema anew, for the types that infra/ uses
	tests/infra/schema.py

fmt: ## format everything
	$(CARGO) fmt --all

clean: ## remove what was built
	rm -rf $(TARGET)
