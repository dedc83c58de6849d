#!/usr/bin/env bash
# Fails when something generated, go.mod or the formatting is not what the
# sources say. Run by `make verify`, which generates first.
set -euo pipefail
cd "$(dirname "$0")/.."

fail=0
# What go says of its downloads, on a machine that has not built this before, is no finding.
quietly() { { "$@" 2>&1 || true; } | grep -v -e '^go: downloading ' -e '^go: finding ' -e '^#' || true; }
check() { # message, output
  if [ -n "$2" ]; then
    printf '%s:\n%s\n' "$1" "$2" >&2
    fail=1
  fi
}

check "generated files are not up to date (make generate, then commit)" \
  "$(git status --porcelain -- api config/crd/bases config/rbac/role.yaml config/gate/role.yaml config/credentials/role.yaml)"
check "go.mod or go.sum is not tidy (go mod tidy)" "$(quietly go mod tidy -diff)"
check "not formatted (gofmt -w)" "$(gofmt -l $(git ls-files '*.go'))"
check "go vet" "$(quietly go vet ./...)"
exit $fail
