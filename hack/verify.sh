#!/usr/bin/env bash
# Fails when something generated, go.mod or the formatting is not what the
# sources say. Run by `make verify`, which generates first.
set -euo pipefail
cd "$(dirname "$0")/.."

fail=0
check() { # message, output
  if [ -n "$2" ]; then
    printf '%s:\n%s\n' "$1" "$2" >&2
    fail=1
  fi
}

check "generated files are not up to date (make generate, then commit)" \
  "$(git status --porcelain -- api config/crd/bases config/rbac/role.yaml config/gate/role.yaml)"
check "go.mod or go.sum is not tidy (go mod tidy)" "$(go mod tidy -diff 2>&1 || true)"
check "not formatted (gofmt -w)" "$(gofmt -l $(git ls-files '*.go'))"
check "go vet" "$(go vet ./... 2>&1 | grep -v '^#' || true)"
exit $fail
