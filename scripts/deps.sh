#!/usr/bin/env bash
# Installs what building and testing need, from the Debian archive. Quick when all is there.
#   scripts/deps.sh [build | test | bench]     test (the default) includes build, bench both
# Needs root to install anything. Written for Debian 12; the names of Debian 13 are tried too.
set -euo pipefail

# One line each: the first name that the archive has is taken.
readonly BUILD=(
  g++ cmake ninja-build ccache
  "libboost1.81-dev libboost1.83-dev libboost1.88-dev libboost-dev"
  "libboost-json1.81-dev libboost-json1.83-dev libboost-json1.88-dev libboost-json-dev"
  "libboost-url1.81-dev libboost-url1.83-dev libboost-url1.88-dev libboost-url-dev"
  libsoci-dev libsqlite3-dev libexpected-dev libcli11-dev libtomlplusplus-dev
  libspdlog-dev libfmt-dev libsodium-dev libcurl4-openssl-dev libssl-dev libnftables-dev
  jq curl openssh-client nodejs npm
)
readonly TEST=(libgtest-dev librapidcheck-dev clang-format python3 chromium
  "fonts-wqy-microhei fonts-noto-cjk")
readonly BENCH=(libbenchmark-dev wrk postgresql nginx-light)

say() { printf 'deps: %3ds  %s\n' "$SECONDS" "$*" >&2; }
die() { say "error: $*"; exit 1; }

# npm may have come with a nodejs from elsewhere.
installed() { [ "$1" = npm ] && command -v npm >/dev/null || dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }
available() { apt-cache show --no-all-versions "$1" >/dev/null 2>&1; }

# Of a line of names: one that is installed, else the first that can be.
choose() {
  local name
  for name in $1; do ! installed "$name" || { echo "$name"; return; }; done
  for name in $1; do ! available "$name" || { echo "$name"; return; }; done
  return 1
}

missing() {
  local line name
  for line in "$@"; do
    for name in $line; do ! installed "$name" || continue 2; done
    echo "$line"
  done
}

main() {
  local what=${1:-test} line name
  case $what in build | test | bench) ;; *) echo "usage: $0 [build | test | bench]" >&2; exit 2 ;; esac
  local -a wanted=("${BUILD[@]}") lines=() names=()
  [ "$what" = build ] || wanted+=("${TEST[@]}")
  [ "$what" != bench ] || wanted+=("${BENCH[@]}")
  mapfile -t lines < <(missing "${wanted[@]}")
  [ "${#lines[@]}" != 0 ] || return 0
  [ "$(id -u)" = 0 ] || die "missing, and only root can install it: ${lines[*]%% *}"
  command -v apt-get >/dev/null || die "no apt-get here: install by hand ${lines[*]%% *}"
  local -a apt=(apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
  dpkg --configure -a >&2  # finishes what an interrupted run left half configured
  "${apt[@]}" update >&2
  for line in "${lines[@]}"; do
    name=$(choose "$line") || die "the archive has none of: $line"
    names+=("$name")
  done
  say "installing ${names[*]}"
  DEBIAN_FRONTEND=noninteractive "${apt[@]}" install --no-install-recommends "${names[@]}" >&2
}

main "$@"
