#!/usr/bin/env bash
# Runs a build step with its output in .run/logs/NAME.log. Shows one line of progress on a terminal, and the end of the log on failure.
#
#   tools/setup/quietly.sh NAME COMMAND...
set -euo pipefail

name="$1"
shift
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p .run/logs
log=".run/logs/$name.log"

"$@" >"$log" 2>&1 &
job=$!
trap 'kill "$job" 2>/dev/null || true' INT TERM

if [[ -t 1 && -z "${CI:-}" ]]; then
  while kill -0 "$job" 2>/dev/null; do
    # ninja writes "[12/240] Building CXX object ..."
    printf '\r%s: %s %d s ' "$name" "$(grep -ao '^\[[0-9]*/[0-9]*\]' "$log" | tail -n 1)" "$SECONDS"
    sleep 0.5
  done
  printf '\r'
fi

if wait "$job"; then
  printf '%s: done in %d s                    \n' "$name" "$SECONDS"
else
  status=$?
  printf '%s: failed after %d s; the end of %s:\n' "$name" "$SECONDS" "$log" >&2
  grep -a -A 20 -m 3 'FAILED:\|error:\|Error' "$log" >&2 || tail -n 30 "$log" >&2
  exit "$status"
fi
