# Warren. `make help` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

CACHE ?= $(or $(WARREN_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/warren)
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# What make bench measures: backoff subscriptions, one number or several.
SUBSCRIPTIONS ?= 1000

# Pinned tools, each built once into a directory of its version.
CONTROLLER_GEN_VERSION := v0.23.0
GOLANGCI_LINT_VERSION := v2.15.0
CONTROLLER_GEN := $(CACHE)/tools/controller-gen-$(CONTROLLER_GEN_VERSION)/controller-gen
GOLANGCI_LINT := $(CACHE)/tools/golangci-lint-$(GOLANGCI_LINT_VERSION)/golangci-lint

##@ Use

.PHONY: demo
demo: build ## See Warren at work: control plane, RabbitMQ 4.3, samples, real messages
	go run ./hack/demo up

.PHONY: demo-down
demo-down: ## End what demo started
	go run ./hack/demo down

.PHONY: setup
setup: ## Install what demo and test need (once; about 15 minutes on two cores)
	go run ./hack/cmd/localenv install

.PHONY: bench
bench: build ## Measure Warren beside the broker alone: make bench SUBSCRIPTIONS=5000 (or 100,1000: a list)
	go run ./hack/bench --subscriptions=$(SUBSCRIPTIONS) $(BENCH_FLAGS)

##@ Develop

.PHONY: build
build: ## Build the operator into bin/
	go build -ldflags "-X main.version=$(VERSION)" -o bin/warren .

.PHONY: test
test: build setup ## Run every test, on a real kube-apiserver and RabbitMQ 4.0 and 4.3
	hack/test.sh

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Generate deepcopy code, CRDs and RBAC from the code's markers
	$(CONTROLLER_GEN) object paths=./api/...
	$(CONTROLLER_GEN) crd paths=./api/... output:crd:artifacts:config=config/crd/bases
	$(CONTROLLER_GEN) rbac:roleName=operator paths=./controllers output:rbac:artifacts:config=config/rbac
	$(CONTROLLER_GEN) rbac:roleName=warren-gate paths=./controllers/gate output:rbac:artifacts:config=config/gate
	$(CONTROLLER_GEN) rbac:roleName=warren-credentials paths=./controllers/binding output:rbac:artifacts:config=config/credentials

.PHONY: verify
verify: generate ## Check that generated code is up to date, go.mod is tidy and the code is formatted
	hack/verify.sh

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Run the linters
	$(GOLANGCI_LINT) run --allow-parallel-runners ./...

.PHONY: image
image: ## Build the container image (needs docker)
	docker build --build-arg VERSION=$(VERSION) -t warren:latest .

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} \
	  /^##@ / {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Tools

$(CONTROLLER_GEN):
	GOBIN=$(@D) go install sigs.k8s.io/controller-tools/cmd/controller-gen@$(CONTROLLER_GEN_VERSION)

$(GOLANGCI_LINT):
	@echo "Building golangci-lint $(GOLANGCI_LINT_VERSION) (once, a few minutes) …"
	GOBIN=$(@D) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
