#!/usr/bin/env bash
# Runs every test. The brokers that most of them share are started once.
set -euo pipefail
cd "$(dirname "$0")/.."

go build -o bin/localenv ./hack/cmd/localenv
dir=$(mktemp -d)
trap 'bin/localenv down --dir "$dir"; rm -rf "$dir"' EXIT
bin/localenv up --dir "$dir" --rabbitmq 4.0,4.3 >/dev/null
# shellcheck disable=SC2046 # one variable a line, without spaces
export $(grep '^WARREN_TEST_' "$dir/env")

# One package at a time: each has the brokers busy by itself, and what waits
# for a deadline should not wait for another package's tests.
go test -timeout 40m -p 1 "$@" ./...
