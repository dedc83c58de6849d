#!/usr/bin/env bash
# Makes a root directory with the RabbitMQ of a Debian release, for tests and
# the demo to run by chroot: trixie carries 4.0, forky 4.3. One to five minutes,
# by mirror and machine. Does nothing when it is there.
set -euo pipefail

usage="usage: install.sh trixie|forky DIR"
suite=${1:?$usage}
root=$(realpath -m "${2:?$usage}")

fail() {
  echo "Cannot install RabbitMQ from Debian $suite: $1." >&2
  echo "Without this, Warren's tests need a docker engine, or WARREN_TEST_RABBITMQ_40 and" >&2
  echo "WARREN_TEST_RABBITMQ_43 set to amqp://USER:PASSWORD@HOST:PORT?management=http://HOST:PORT." >&2
  exit 1
}

# mirror prints the Debian mirror that the machine's own apt sources name,
# whatever their format. apt knows what a source holds once it has read it.
mirror() {
  apt-get indextargets --format '$(ORIGIN) $(LABEL) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 == "Debian" && $3 == "main" { print $4; exit }'
}

install_debootstrap() {
  echo "   installing debootstrap …" >&2
  apt-get install --yes --quiet --no-install-recommends debootstrap >&2 || fail "debootstrap does not install"
}

# discard removes an attempt that was aborted, but nothing that is mounted in it.
discard() {
  if awk '{ print $5 }' /proc/self/mountinfo | grep -qF "$1/"; then
    fail "something is mounted below $1: unmount it first"
  fi
  rm -rf --one-file-system "$1"
}

# bootstrap runs debootstrap in namespaces of its own: the mounts that it makes
# are seen nowhere else, what a package starts ends with it, and it ends with
# this script. Until then it holds the lock, too.
bootstrap() { # directory, mirror
  local scripts=/usr/share/debootstrap/scripts script=$suite
  [ -e "$scripts/$script" ] || script=sid # an older debootstrap than the release
  setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc \
    debootstrap --variant=minbase --include=rabbitmq-server "$suite" "$1" "$2" "$scripts/$script"
}

[ "$(id -u)" = 0 ] || fail "this needs root"
command -v apt-get >/dev/null || fail "this is no Debian, there is no apt-get"

mkdir -p "$(dirname "$root")"
exec 9>"$(dirname "$root")/rabbitmq-install.lock"
flock 9
[ -e "$root" ] && exit 0

# A fresh machine has sources, but has never read them.
[ -n "$(mirror)" ] || apt-get update --quiet >&2 || fail "apt-get update does not work"
from=$(mirror)
[ -n "$from" ] || fail "no apt source of this machine names a Debian mirror"
command -v debootstrap >/dev/null || install_debootstrap

echo "Installing RabbitMQ from Debian $suite (once, one to five minutes):" >&2
discard "$root.tmp"
log=$root.log
if ! bootstrap "$root.tmp" "$from" >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  fail "debootstrap failed, see $log"
fi
printf '127.0.0.1 localhost\n::1 localhost\n' >"$root.tmp/etc/hosts"
rm -f "$root.tmp"/var/cache/apt/archives/*.deb "$log"
mv "$root.tmp" "$root"
printf '   RabbitMQ from Debian %s installed in %ds\n' "$suite" "$SECONDS" >&2
