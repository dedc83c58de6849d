#!/usr/bin/env bash
# Puts Prometheus and promtool of this machine's Debian into a directory, for
# tests. Nothing is installed. Does nothing when they are there.
set -euo pipefail

dir=$(realpath -m "${1:?usage: install.sh DIR}")
[ -x "$dir/usr/bin/promtool" ] && exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
chmod 755 . # apt downloads as a user of its own
apt-get download --quiet prometheus >&2 || {
  echo "Cannot download Debian's package prometheus: the tests of alerts and dashboard need promtool and prometheus." >&2
  exit 1
}
dpkg-deb --extract prometheus_*.deb root
mkdir -p "$(dirname "$dir")"
rm -rf "$dir"
mv root "$dir"
