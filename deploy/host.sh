#!/usr/bin/env bash
# Prepares a host for Cardhour and takes it back. See deploy/README.md.
#   host.sh check | install | up | image | status | down [--all]
# Every step looks before it acts: interrupt it anywhere and run it again.
set -euo pipefail

INCUS_DIR=${INCUS_DIR:-/var/lib/incus}
STATE=${CARDHOUR_STATE:-/var/lib/cardhour}
CACHE=${CARDHOUR_CACHE:-/var/cache/cardhour}
POOL=${CARDHOUR_POOL:-cardhour}
POOL_GIB=${CARDHOUR_POOL_GIB:-20}
PROJECT=${CARDHOUR_PROJECT:-cardhour}
BRIDGE=${CARDHOUR_BRIDGE:-cardhour0}
SUBNET=${CARDHOUR_SUBNET:-10.177.0.1/16}
DEPLOYMENT=${CARDHOUR_DEPLOYMENT:-local}
export INCUS_DIR

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly RECIPE=$here/../images/base
readonly SOCKET=$INCUS_DIR/unix.socket
readonly INCUSD=/usr/libexec/incus/incusd
readonly HOST=$STATE/host           # our marks, logs and pid files
readonly LXCFS_DIR=/var/lib/lxcfs   # where Incus looks; one per host
readonly LXCFS_PID=/run/cardhour-lxcfs.pid
readonly LXCFS_USERS=/run/cardhour-lxcfs.d  # one file per INCUS_DIR that counts on our lxcfs
readonly TAG=user.cardhour.deployment
readonly WARM=cardhour-warm
readonly PACKAGES=(incus-base btrfs-progs dnsmasq-base nftables attr squashfs-tools lxcfs
  mmdebstrap jq curl zstd xz-utils uidmap iproute2 procps kmod)

say() { printf 'host: %3ds  %s\n' "$SECONDS" "$*" >&2; }
die() { say "error: $*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }
with_systemd() { [ -d /run/systemd/system ]; }
# The packaged unit serves the default directory only.
by_unit() { with_systemd && [ "$INCUS_DIR" = /var/lib/incus ]; }

# ---------------------------------------------------------------- Incus REST

# api METHOD PATH [JSON]: prints the metadata; waits for what runs in the background.
# Fails with 44 when the object is not there, 1 otherwise, with the reason in $api_error.
api_error=
api() {
  local reply
  # What changes something runs in a session of its own: Ctrl-C takes effect after it, not
  # inside it. A request cut off half way leaves half a network behind.
  local -a apart=(setsid --wait)
  [ "$1" != GET ] || apart=()
  reply=$("${apart[@]}" curl -sS --max-time 600 --unix-socket "$SOCKET" -X "$1" ${3:+-H 'Content-Type: application/json' -d "$3"} \
    "http://incus$2" 2>&1) || { api_error=$reply; echo "$reply" >&2; return 1; }
  settle "$reply"
}

# Turns a reply, of an operation too, into output and exit status.
settle() {
  local reply=$1 id
  if [ "$(jq -r .type <<<"$reply")" = async ]; then
    id=$(jq -r .metadata.id <<<"$reply")
    reply=$(curl -sS --unix-socket "$SOCKET" "http://incus/1.0/operations/$id/wait?timeout=600")
  fi
  if [ "$(jq -r '.error_code // 0' <<<"$reply")" = 404 ]; then return 44; fi
  api_error=$(jq -r 'if .type == "error" then .error else .metadata.err? // "" end' <<<"$reply")
  [ -z "$api_error" ] || { echo "incus: $api_error" >&2; return 1; }
  jq -c .metadata <<<"$reply"
}

exists() { api GET "$1" >/dev/null 2>&1; }
# Ours is what carries this deployment's tag.
ours() { [ "$(api GET "$1" 2>/dev/null | jq -r --arg k "$TAG" '.config[$k] // ""')" = "$DEPLOYMENT" ]; }
answers() { [ -S "$SOCKET" ] && curl -sf --max-time 5 --unix-socket "$SOCKET" http://incus/1.0 >/dev/null 2>&1; }

# Pools and networks say Pending or Errored when their creation did not end; projects have no status.
complete() { api GET "$1" 2>/dev/null | jq -e '(.status // "Created") == "Created"' >/dev/null; }

# ensure KIND PATH-OF-COLLECTION NAME JSON
ensure() {
  local kind=$1 path=$2 name=$3 body=$4
  if exists "$path/$name"; then
    ours "$path/$name" || die "$kind '$name' exists and is not ours (no $TAG=$DEPLOYMENT); choose another name"
    ! complete "$path/$name" || return 0
    say "removing half-made $kind $name"
    api DELETE "$path/$name" >/dev/null || die "$kind '$name' is half-made and could not be removed"
  fi
  say "creating $kind $name"
  api POST "$path" "$body" >/dev/null || exists "$path/$name" || die "$kind '$name' could not be created"
}

# --------------------------------------------------------------------- check

missing=0
need() {  # need TEXT COMMAND...: says TEXT when COMMAND fails
  local text=$1
  shift
  if ! "$@" >/dev/null 2>&1; then
    say "missing: $text"
    missing=1
  fi
}

has_cgroups() {
  if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    local c
    for c in cpu memory pids; do grep -qw "$c" /sys/fs/cgroup/cgroup.controllers || return 1; done
  else
    local d
    for d in cpu memory pids devices; do [ -d "/sys/fs/cgroup/$d" ] || return 1; done
  fi
}
cgroups_writable() {
  local root=/sys/fs/cgroup
  [ -d "$root/pids" ] && root=$root/pids
  mkdir "$root/cardhour-check.$$" && rmdir "$root/cardhour-check.$$"
}
# Incus gives instances ids from 1000000 on; inside a user namespace they may not exist.
has_ids() { awk '$1 <= 1000000 && $1 + $3 >= 1000000 + 65536 * 16 { ok = 1 } END { exit !ok }' /proc/self/uid_map; }
has_userns() { unshare --user --map-root-user true; }
has_btrfs() { grep -qw btrfs /proc/filesystems || modprobe btrfs; }
has_loop() { [ -e /dev/loop-control ] || modprobe loop; losetup -f; }
# In a network namespace of its own: nothing of the host is touched.
has_bridge() { unshare --net sh -c 'ip link add b0 type bridge && ip link add v0 type veth peer name v1 && ip link set v0 master b0'; }
has_nft() {
  unshare --net sh -c 'nft "add table ip t; add chain ip t c { type nat hook postrouting priority 100; }; add rule ip t c masquerade"'
}
has_tool_or_skip() { ! have "$1" || "$2"; }
free_gib() {  # of the file system that will hold $1
  local dir=$1
  while [ ! -d "$dir" ]; do dir=$(dirname "$dir"); done
  df --output=avail -BG "$dir" | tail -1 | tr -dc 0-9
}

cmd_check() {
  need "root rights (run with sudo); without them nothing more can be said" test "$(id -u)" = 0
  [ "$missing" = 0 ] || return 1
  need "Debian 12 or 13, or another system with apt" have apt-get
  need "a 64-bit x86 or ARM kernel, this is $(uname -m)" grep -qE '^(x86_64|aarch64)$' <(uname -m)
  need "cgroup controllers cpu, memory and pids (and devices, with cgroup v1) under /sys/fs/cgroup" has_cgroups
  need "a writable /sys/fs/cgroup" cgroups_writable
  need "user and group ids 1000000 to 2048575 (this is a user namespace with fewer)" has_ids
  need "user namespaces (see user.max_user_namespaces)" has_userns
  need "btrfs in the kernel (module btrfs)" has_btrfs
  need "loop devices (/dev/loop-control, module loop)" has_loop
  need "/dev/fuse (module fuse), for lxcfs" test -e /dev/fuse
  need "network namespaces, bridges and veth pairs (modules bridge, veth)" has_tool_or_skip ip has_bridge
  need "nftables with NAT in the kernel (modules nf_tables, nft_masq, nf_nat)" has_tool_or_skip nft has_nft
  need "6 GiB of free disk for $INCUS_DIR, there are $(free_gib "$INCUS_DIR")" test "$(free_gib "$INCUS_DIR")" -ge 6
  [ "$missing" = 0 ] || return 1
  say "this host can carry Incus"
}

# ------------------------------------------------------------------- install

installed() {
  local n
  n=$(dpkg-query -W -f '${db:Status-Status}\n' "${PACKAGES[@]}" 2>/dev/null | grep -cx installed || true)
  [ "$n" = "${#PACKAGES[@]}" ]
}

# The archive of a suite as this machine's own apt knows it: nothing is hardcoded.
mirror_of() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk -v suite="$1" '$1 == suite && $2 == "main" { sub("/$", "", $3); print $3; exit }'
}

# shellcheck source=/dev/null
codename() { . /etc/os-release && echo "${VERSION_CODENAME:-}"; }

# Debian 12 itself has no Incus; its backports suite has.
add_backports() {
  local file=/etc/apt/sources.list.d/cardhour-backports.sources mirror
  [ "$(codename)" = bookworm ] && [ -z "$(mirror_of bookworm-backports)" ] || return 0
  mirror=$(mirror_of bookworm)
  [ -n "$mirror" ] || die "no source for bookworm main in apt's sources; add the Debian archive first"
  say "adding bookworm-backports to apt's sources ($file)"
  printf 'Types: deb\nURIs: %s\nSuites: bookworm-backports\nComponents: main\nSigned-By: %s\n' \
    "$mirror" /usr/share/keyrings/debian-archive-keyring.gpg >"$file.part"
  mv "$file.part" "$file"
}

cmd_install() {
  if ! installed; then
    add_backports
    say "installing ${PACKAGES[*]}"
    local -a apt=(apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
    # Finishes what an interrupted run left half configured.
    dpkg --configure -a >&2
    "${apt[@]}" update >&2
    [ "$(codename)" != bookworm ] ||
      DEBIAN_FRONTEND=noninteractive "${apt[@]}" install --no-install-recommends -t bookworm-backports incus-base >&2
    DEBIAN_FRONTEND=noninteractive "${apt[@]}" install --no-install-recommends "${PACKAGES[@]}" >&2
  fi
  add_ids
  say "packages are installed"
}

# With these files present and no line for root, Incus refuses to start instances.
add_ids() {
  local file
  for file in /etc/subuid /etc/subgid; do
    [ -e "$file" ] || continue
    grep -q '^root:' "$file" || { say "giving root ids in $file"; echo 'root:1000000:1000000000' >>"$file"; }
  done
}

# ------------------------------------------------------------------------ up

lock() {
  mkdir -p "$HOST"
  exec 9>"$HOST/lock"
  flock -w 900 9 || die "another host.sh is at work on $STATE"
}

# A pid file counts only while its process is the program we started.
alive() {  # alive PIDFILE PROGRAM
  local pid
  pid=$(cat "$1" 2>/dev/null) && [ -n "$pid" ] && [ "$(readlink "/proc/$pid/exe")" = "$(readlink -f "$2")" ]
}

# spawn PIDFILE LOG COMMAND...: in a session of its own, so that Ctrl-C here does not reach it.
spawn() {
  local pidfile=$1 log=$2
  shift 2
  # shellcheck disable=SC2016
  setsid sh -c 'echo $$ >"$0"; exec "$@"' "$pidfile" "$@" </dev/null >>"$log" 2>&1 9>&- &
}

lxcfs_up() { [ -r "$LXCFS_DIR/proc/uptime" ]; }

# A killed lxcfs leaves its mount behind, on which every call fails ("Transport endpoint is not connected").
drop_dead_lxcfs() {
  ! lxcfs_up && grep -q " $LXCFS_DIR fuse.lxcfs " /proc/mounts || return 0
  say "taking away the mount of an lxcfs that has died"
  umount -l "$LXCFS_DIR"
}

lxcfs_user_file() { echo "$LXCFS_USERS/$(tr / _ <<<"$INCUS_DIR")"; }

start_lxcfs() {
  mkdir -p "$LXCFS_USERS"
  echo "$INCUS_DIR" >"$(lxcfs_user_file)"
  ! lxcfs_up || return 0
  drop_dead_lxcfs
  if with_systemd; then
    say "starting lxcfs (unit)"
    systemctl start lxcfs.service || say "lxcfs did not start: instances will see the host's memory and CPU figures"
    return 0
  fi
  say "starting lxcfs"
  mkdir -p "$LXCFS_DIR"
  spawn "$LXCFS_PID" "$HOST/lxcfs.log" "$(command -v lxcfs)" "$LXCFS_DIR"
  local i
  for ((i = 0; i < 50; i++)); do
    ! lxcfs_up || return 0
    sleep 0.1
  done
  die "lxcfs did not mount $LXCFS_DIR; see $HOST/lxcfs.log"
}

start_incusd() {
  ! answers || return 0
  # Remembered before the start: `down` may remove the directory only if it was empty before us.
  [ -e "$INCUS_DIR/database" ] || touch "$HOST/made-incus-dir"
  if by_unit; then
    say "starting incus (unit)"
    touch "$HOST/started-incus"
    systemctl start incus.socket incus.service
  elif ! alive "$HOST/incusd.pid" "$INCUSD"; then
    say "starting incusd for $INCUS_DIR"
    mkdir -p "$INCUS_DIR" /var/log/incus
    touch "$HOST/started-incus"
    spawn "$HOST/incusd.pid" "$HOST/incusd.log" "$INCUSD" --group root
    sleep 0.2
  fi
  local i
  for ((i = 0; i < 600; i++)); do
    ! answers || return 0
    by_unit || alive "$HOST/incusd.pid" "$INCUSD" || die "incusd ended; see $HOST/incusd.log"
    sleep 0.1
  done
  die "incusd does not answer on $SOCKET; see $HOST/incusd.log"
}

pool_gib() {
  local most=$(($(free_gib "$INCUS_DIR") * 60 / 100)) size=$POOL_GIB
  if ((size > most)); then
    say "pool: ${most} GiB instead of ${size}: 60% of the free disk"
    size=$most
  fi
  ((size >= 3)) || die "too little disk for a pool: ${size} GiB"
  echo "$size"
}

ensure_pool() {
  local size=
  exists "/1.0/storage-pools/$POOL" || size=$(pool_gib)
  # Without Incus's default mount option user_subvol_rm_allowed: tenants have no business with subvolumes.
  ensure "storage pool" /1.0/storage-pools "$POOL" "$(jq -nc --arg n "$POOL" --arg s "${size}GiB" --arg k "$TAG" --arg d "$DEPLOYMENT" \
    '{name: $n, driver: "btrfs", config: {size: $s, "btrfs.mount_options": "noatime", ($k): $d}}')"
}

network_managed() { api GET "/1.0/networks/$BRIDGE" 2>/dev/null | jq -e .managed >/dev/null; }

# A bridge and its dnsmasq that outlived their network (the daemon was killed half way).
clear_bridge() {
  [ "$(cat "$HOST/bridge" 2>/dev/null)" = "$BRIDGE" ] || return 0
  ! network_managed || return 0
  local pid
  for pid in $(pgrep -x dnsmasq || true); do
    tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF " --dhcp-hostsfile=$INCUS_DIR/networks/$BRIDGE/" || continue
    say "ending a dnsmasq left over on $BRIDGE"
    end "$pid"
  done
  ! ip link show "$BRIDGE" >/dev/null 2>&1 || ip link delete "$BRIDGE"
}

ensure_network() {
  clear_bridge
  # Noted before it is made: what is noted, `down` may remove.
  ip link show "$BRIDGE" >/dev/null 2>&1 || echo "$BRIDGE" >"$HOST/bridge"
  ensure network /1.0/networks "$BRIDGE" "$(jq -nc --arg n "$BRIDGE" --arg a "$SUBNET" --arg k "$TAG" --arg d "$DEPLOYMENT" \
    '{name: $n, type: "bridge", config: {"ipv4.address": $a, "ipv4.nat": "true", "ipv6.address": "none", ($k): $d}}')"
}

# All features are sent: an absent one means true, and none can be changed once the project holds something.
ensure_project() {
  ensure project /1.0/projects "$PROJECT" "$(jq -nc --arg n "$PROJECT" --arg k "$TAG" --arg d "$DEPLOYMENT" \
    '{name: $n, description: "Cardhour", config: {
      "features.images": "true", "features.profiles": "true",
      "features.storage.volumes": "true", "features.storage.buckets": "true",
      "features.networks": "false", "features.networks.zones": "false", ($k): $d}}')"
}

cmd_up() {
  [ "$(id -u)" = 0 ] || die "needs root"
  installed || die "packages are missing: run $0 install first"
  lock
  start_lxcfs
  start_incusd
  ensure_pool
  ensure_network
  ensure_project
  say "incus is up: $SOCKET, project $PROJECT, pool $POOL, network $BRIDGE"
}

# --------------------------------------------------------------------- image

recipe_hash() {
  # Names and contents; not times and modes, which a checkout changes.
  (cd "$RECIPE" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum) | sha256sum | cut -c1-16
}

build_image() {  # build_image TARBALL
  [ ! -s "$1" ] || return 0
  say "building the base image (a minute or two; kept in $CACHE)"
  mkdir -p "$(dirname "$1")"
  rm -rf --one-file-system "$(dirname "$1")"/build.??????
  local suite=bookworm
  "$RECIPE/build" "$1" "$(mirror_of $suite)" "$(mirror_of $suite-security)" >&2 || die "the base image could not be built"
}

# The fingerprint is the file's hash: computed once and kept beside it.
fingerprint_of() {
  [ -s "$1.sha256" ] || { sha256sum "$1" | cut -d' ' -f1 >"$1.sha256.part" && mv "$1.sha256.part" "$1.sha256"; }
  cat "$1.sha256"
}

alias_target() { api GET "/1.0/images/aliases/base?project=$PROJECT" 2>/dev/null | jq -r .target; }

# Without an alias in the request: a taken one is noticed only after the whole upload.
upload_image() {
  say "importing $1"
  local reply
  reply=$(setsid --wait curl -sS --unix-socket "$SOCKET" -X POST -H 'Content-Type: application/octet-stream' -H 'X-Incus-public: 0' \
    -H 'X-Incus-filename: base.tar.zst' -H "X-Incus-properties: $TAG=$DEPLOYMENT" \
    --data-binary @"$1" "http://incus/1.0/images?project=$PROJECT")
  settle "$reply" >/dev/null || exists "/1.0/images/$2?project=$PROJECT" || die "the import failed"
}

point_alias() {
  local old
  old=$(alias_target) || true
  [ "$old" != "$1" ] || return 0
  if [ -n "$old" ]; then
    api PUT "/1.0/images/aliases/base?project=$PROJECT" "{\"target\":\"$1\",\"description\":\"\"}" >/dev/null
    say "removing the previous base image"
    api DELETE "/1.0/images/$old?project=$PROJECT" >/dev/null || true
  else
    api POST "/1.0/images/aliases?project=$PROJECT" "{\"name\":\"base\",\"target\":\"$1\"}" >/dev/null
  fi
}

delete_instance() { api DELETE "/1.0/instances/$1?project=$PROJECT" >/dev/null 2>&1 || [ $? = 44 ]; }

# The first instance of an image waits for its unpacking: let that be ours.
warm_image() {
  ! exists "/1.0/storage-pools/$POOL/volumes/image/$1?project=$PROJECT" || return 0
  say "unpacking the image into the pool"
  delete_instance "$WARM"
  api POST "/1.0/instances?project=$PROJECT" "$(jq -nc --arg n "$WARM" --arg f "$1" --arg p "$POOL" --arg k "$TAG" --arg d "$DEPLOYMENT" \
    '{name: $n, type: "container", start: false, profiles: [], source: {type: "image", fingerprint: $f},
      config: {"boot.autostart": "false", ($k): $d}, devices: {root: {type: "disk", path: "/", pool: $p}}}')" >/dev/null ||
    say "not unpacked; the first instance will wait for it"
}

cmd_image() {
  [ "$(id -u)" = 0 ] || die "needs root"
  answers || die "incus is not up: run $0 up first"
  lock
  local tarball fingerprint
  tarball=$CACHE/images/base-$(recipe_hash).tar.zst
  build_image "$tarball"
  fingerprint=$(fingerprint_of "$tarball")
  exists "/1.0/images/$fingerprint?project=$PROJECT" || upload_image "$tarball" "$fingerprint"
  point_alias "$fingerprint"
  warm_image "$fingerprint"
  delete_instance "$WARM" || true
  say "image base is ready (${fingerprint:0:12})"
}

# ---------------------------------------------------------------------- down

names() { api GET "$1" 2>/dev/null | jq -r '.[]' | sed -e 's/?.*//' -e 's|.*/||'; }

remove_instances() {
  local name
  for name in $(names "/1.0/instances?project=$PROJECT"); do
    say "removing instance $name"
    # Twice: a stop that meets a start in progress is answered "already stopped".
    local try
    for try in 1 2 3; do
      api PUT "/1.0/instances/$name/state?project=$PROJECT" '{"action":"stop","force":true,"timeout":-1}' >/dev/null 2>&1 || true
      ! delete_instance "$name" || break
      sleep "$try"
    done
  done
}

remove_volumes() {
  local path
  for path in $(api GET "/1.0/storage-pools/$POOL/volumes/custom?project=$PROJECT" 2>/dev/null | jq -r '.[]' | sed 's/?.*//'); do
    say "removing volume ${path##*/}"
    api DELETE "$path?project=$PROJECT" >/dev/null || true
  done
}

remove_rest_of_project() {
  local it
  for it in $(names "/1.0/images?project=$PROJECT"); do
    api DELETE "/1.0/images/$it?project=$PROJECT" >/dev/null || true
  done
  for it in $(names "/1.0/profiles?project=$PROJECT"); do
    [ "$it" = default ] || api DELETE "/1.0/profiles/$it?project=$PROJECT" >/dev/null || true
  done
}

# remove KIND PATH: if it is there and carries our tag
remove() {
  if ! exists "$2"; then return 0; fi
  if ! ours "$2"; then
    say "leaving $1 ${2##*/}: not ours"
    return 0
  fi
  say "removing $1 ${2##*/}"
  api DELETE "$2" >/dev/null || { say "$1 ${2##*/} could not be removed"; failed=1; }
}

# Whatever else lives in this daemon.
foreign() {
  [ "$(api GET '/1.0/instances?all-projects=true' | jq length)" != 0 ] ||
    [ "$(api GET /1.0/storage-pools | jq length)" != 0 ] ||
    [ "$(api GET /1.0/projects | jq length)" != 1 ]
}

stop_incusd() {
  [ -e "$HOST/started-incus" ] || return 0
  if answers && foreign; then
    say "leaving incus running: others use it"
    return 0
  fi
  say "stopping incus"
  if by_unit; then
    systemctl stop incus.service incus.socket
  elif alive "$HOST/incusd.pid" "$INCUSD"; then
    end "$(cat "$HOST/incusd.pid")"
  fi
  rm -f "$HOST/started-incus" "$HOST/incusd.pid"
  remove_incus_dir
}

# end PID: asks, waits, then forces
end() {
  kill -TERM "$1" 2>/dev/null || return 0
  local i
  for ((i = 0; i < 300; i++)); do
    kill -0 "$1" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -KILL "$1" 2>/dev/null || true
}

# Only what was not there before `up`, and never across a mount.
remove_incus_dir() {
  [ -e "$HOST/made-incus-dir" ] || return 0
  local mount
  while read -r mount; do
    umount "$mount" || umount -l "$mount" || true
  done < <(awk -v d="$INCUS_DIR/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | sort -r)
  find "$INCUS_DIR" -xdev -mindepth 1 -delete 2>/dev/null || true
  # The package's own directory stays.
  [ "$INCUS_DIR" = /var/lib/incus ] || rmdir "$INCUS_DIR" 2>/dev/null || true
  rm -f "$HOST/made-incus-dir"
}

# One lxcfs serves all daemons of a host: it ends with the last that counts on it.
lxcfs_in_use() {
  local file dir
  for file in "$LXCFS_USERS"/*; do
    dir=$(cat "$file" 2>/dev/null) || continue
    [ ! -e "$dir/database" ] || return 0
  done
  # A running instance of a daemon that others started.
  local self
  self=$(readlink /proc/self/ns/mnt)
  for file in /proc/[0-9]*; do
    [ "$(readlink "$file/ns/mnt" 2>/dev/null || echo "$self")" != "$self" ] || continue
    ! grep -q ' /proc/.* - fuse.lxcfs ' "$file/mountinfo" 2>/dev/null || return 0
  done
  return 1
}

stop_lxcfs() {
  rm -f "$(lxcfs_user_file)"
  alive "$LXCFS_PID" "$(command -v lxcfs || echo /usr/bin/lxcfs)" || { rm -f "$LXCFS_PID"; return 0; }
  if lxcfs_in_use; then
    say "leaving lxcfs running: others use it"
    return 0
  fi
  say "stopping lxcfs"
  end "$(cat "$LXCFS_PID")"
  rm -rf "$LXCFS_PID" "$LXCFS_USERS"
}

failed=0
cmd_down() {
  [ "$(id -u)" = 0 ] || die "needs root"
  local all=${1:-}
  lock
  # After a reboot, or a kill: what is to be removed is known to the daemon only.
  if ! answers && [ -e "$INCUS_DIR/database" ] && [ -x "$INCUSD" ] && [ -e "$HOST/started-incus" ]; then
    start_incusd
  fi
  if answers; then
    if ours "/1.0/projects/$PROJECT"; then
      remove_instances
      remove_volumes
      remove_rest_of_project
      remove project "/1.0/projects/$PROJECT"
    fi
    if network_managed; then remove network "/1.0/networks/$BRIDGE"; fi
    clear_bridge
    remove "storage pool" "/1.0/storage-pools/$POOL"
  fi
  [ "$failed" = 0 ] || die "something is left; see above, and run again"
  stop_incusd
  stop_lxcfs
  if [ "$all" = --all ]; then
    rm -rf --one-file-system "$CACHE/images"
    rmdir "$CACHE" 2>/dev/null || true
  fi
  if [ ! -e "$HOST/started-incus" ]; then
    rm -rf "$HOST"
    rmdir "$STATE" 2>/dev/null || true
  fi
  say "the host is as it was"
}

# -------------------------------------------------------------------- status

line() { printf '%-10s %s\n' "$1" "$2"; }
presence() { if ours "$1"; then echo "$2"; elif exists "$1"; then echo "$2 (not ours)"; else echo "absent"; return 1; fi; }

cmd_status() {
  local ok=0 space
  line lxcfs "$(lxcfs_up && echo running || echo 'not running')"
  if ! answers; then
    line incus "not running ($SOCKET)"
    return 1
  fi
  line incus "$(api GET /1.0 | jq -r '.environment.server_version') ($SOCKET)"
  space=$(api GET "/1.0/storage-pools/$POOL/resources" 2>/dev/null |
    jq -r '.space | ", \(.used / 1073741824 * 10 | round / 10) of \(.total / 1073741824 * 10 | round / 10) GiB used"') || space=
  line pool "$(presence "/1.0/storage-pools/$POOL" "$POOL$space")" || ok=1
  line network "$(presence "/1.0/networks/$BRIDGE" "$BRIDGE $SUBNET")" || ok=1
  line project "$(presence "/1.0/projects/$PROJECT" "$PROJECT")" || ok=1
  line image "$(alias_target | cut -c1-12 | sed 's/^$/absent/')"
  line instances "$(names "/1.0/instances?project=$PROJECT" | wc -l)"
  return "$ok"
}

# ---------------------------------------------------------------------- main

trap 'say interrupted; exit 130' INT TERM
case ${1:-} in
  check | install | up | image | status) "cmd_$1" ;;
  down) cmd_down "${2:-}" ;;
  *)
    echo "usage: $0 check | install | up | image | status | down [--all]" >&2
    exit 2
    ;;
esac
