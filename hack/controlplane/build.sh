#!/usr/bin/env bash
# Builds etcd, kube-apiserver, kube-controller-manager, kube-scheduler and
# kubectl from the Go modules pinned in go.mod, into the directory $1.
# Cold on two cores: about eight minutes. Does nothing when they are there.
set -euo pipefail
out=${1:?usage: build.sh DIR}
cd "$(dirname "$0")"

version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
[ -e "$out/.complete" ] && exit 0

# Several test binaries may ask at once: one builds, the others wait. (Where
# there is no flock, as on macOS, run make setup first.)
mkdir -p "$out"
exec 9>"$out/.lock"
if command -v flock >/dev/null; then flock 9; fi
[ -e "$out/.complete" ] && exit 0

# Without a version the binaries call themselves v0.0.0-master, and the API
# server then refuses to tell its clients which Kubernetes it is.
v=k8s.io/component-base/version
ldflags="-s -w -X $v.gitVersion=$version -X $v.gitMajor=1 -X $v.gitMinor=$(cut -d. -f2 <<<"$version") -X $v.gitTreeState=clean"

build() { # name, package
  local started=$SECONDS
  printf '   building %s … ' "$1" >&2
  CGO_ENABLED=0 go build -trimpath -ldflags "$ldflags" -o "$out/$1" "$2"
  printf '%ds\n' $((SECONDS - started)) >&2
}

echo "Building a Kubernetes $version control plane from source (once, about 8 minutes on two cores):" >&2
build etcd go.etcd.io/etcd/server/v3
for c in kube-apiserver kube-controller-manager kube-scheduler kubectl; do
  build "$c" "k8s.io/kubernetes/cmd/$c"
done
touch "$out/.complete"
