#!/usr/bin/env bash
# Installs everything that building, testing and the demo need; `make setup` calls it. It can be run any number of times: it keeps
# what is there, resumes interrupted downloads, and uses no network once all is there.
#
#   tools/setup/setup.sh            say what is missing, then install it
#   tools/setup/setup.sh --list     only say what is missing
#   tools/setup/setup.sh torch      the same for a part that is installed only when it is asked for
#
# Each part (parts/*.sh) has three functions: PART_missing (status 0: something is missing), PART_plan (one line: what, where, how
# much) and PART_install. With SLIPSTREAM_SKIP_APT=1, packages.txt is not checked: you have the packages under other names.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
here="$root/tools/setup"
cache="$root/.cache"
logs="$root/.run/logs"
cd "$root"
for part in "$here"/parts/*.sh; do source "$part"; done

parts=(packages rust promtool crates python model head corpus)
free_mb_needed=3000 # of the repository's disk: crates 0.1 GB, model 0.5 GB while it is made, one build 1.5 GB, logs

fail() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

# Runs a step with its output in a log; shows the end of the log if it fails.
logged() {
  local log="$logs/setup-$1.log"
  shift
  if ! "$@" >>"$log" 2>&1; then
    tail -n 25 "$log" >&2
    fail "this step failed: $*
The whole log is $log. Running the same command again goes on where it stopped."
  fi
}

stamped() { [[ -f "$cache/stamps/$1" && "$(<"$cache/stamps/$1")" == "$2" ]]; }
stamp() { mkdir -p "$cache/stamps" && printf '%s' "$2" >"$cache/stamps/$1"; }

missing_parts() {
  for part in "${parts[@]}"; do
    if "${part}_missing"; then printf '%s\n' "$part"; fi
  done
}

say_plan() {
  echo "Slipstream sets up what is missing:"
  for part in "$@"; do printf '  %-10s %s\n' "$part" "$("${part}_plan")"; done
  echo "Downloads come from Debian, the Python package index and the Rust crate registry; hashes are checked. Logs: .run/logs"
}

check_disk() {
  local free_mb
  free_mb="$(df --output=avail -m "$root" | tail -n 1 | tr -d ' ')"
  if ((free_mb < free_mb_needed)); then
    fail "$root has $free_mb MB free, setting up and building takes about $free_mb_needed MB: make room first"
  fi
}

install_parts() {
  local number=0 started
  for part in "$@"; do
    number=$((number + 1))
    started=$SECONDS
    printf '[%d/%d] %s ...\n' "$number" "$#" "$part"
    "${part}_install"
    printf '[%d/%d] %s: done in %d s\n' "$number" "$#" "$part" "$((SECONDS - started))"
  done
}

main() {
  local list_only=
  if [[ "${1:-}" == --list ]]; then
    list_only=yes
    shift
  fi
  if (($# > 0)); then parts=("$@"); fi
  mapfile -t missing < <(missing_parts)
  if ((${#missing[@]} == 0)); then
    echo "Set-up: everything is there."
    return
  fi
  if [[ -z "$list_only" ]]; then
    if apt_needed "${missing[@]}"; then require_apt; fi
    check_disk
  fi
  say_plan "${missing[@]}"
  if [[ -n "$list_only" ]]; then return; fi
  mkdir -p "$cache" "$logs"
  exec 9>"$cache/setup.lock"
  flock --nonblock 9 || fail "another set-up is running in $root: wait for it to end"
  install_parts "${missing[@]}"
  echo "Set-up: everything is there."
}

main "$@"
