#!/bin/bash
# Installs the package into a fresh Debian 12, uses it, and removes it: package_test.sh DEB MODEL.gguf
# Needs root, mmdebstrap, a Debian mirror, systemd-analyze, man, mandoc and lintian.
set -euo pipefail
[ $# = 2 ] || { sed -n 2,3p "$0"; exit 2; }
deb=$(realpath "$1") model=$(realpath "$2")
readonly port=8097 start_s=120
work=$(mktemp -d) serve=
root=$work/root run=run/slipstream-test # `run`: of serve, below the root
say() { printf '\n== %s\n' "$*"; }
in_root() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }
none() { # TEXT: grep's lines; fails if there are any
  [ -z "$1" ] || { echo "$1"; exit 1; }
}
finish() {
  if [ -n "$serve" ]; then kill "$serve" 2>/dev/null && wait "$serve" || true; fi
  if mountpoint -q "$root/proc"; then umount "$root/proc"; fi
  rm -rf "$work"
}
trap finish EXIT

say "lintian"
lintian --allow-root --fail-on error "$deb"

say "a fresh Debian, then the package by apt: its dependencies are all that it gets"
mmdebstrap --quiet --variant=apt bookworm "$root"
mount -t proc proc "$root/proc"
(cd "$root" && find . -xdev -not -path './proc/*' | sort) > "$work/before"
cp "$deb" "$root/slipstream.deb"
in_root apt-get -qq update
in_root dpkg --unpack slipstream.deb
in_root apt-get -qq -y --no-install-recommends -f install
in_root dpkg --status slipstream | grep -E '^(Status|Depends):'

say "programs: no library is missing, no path leads into the build"
for name in slipstream slipstream-router slipstream-verifier slipstream-drafter; do
  in_root "$name" --version
  none "$(in_root ldd "/usr/bin/$name" | grep -F 'not found' || true)"
  none "$(readelf -d "$root/usr/bin/$name" | grep -E 'RPATH|RUNPATH' || true)"
done

say "manual pages"
for page in "$root"/usr/share/man/man?/slipstream*.gz; do
  warnings=$(man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null) || true
  none "$warnings"
  gunzip -c "$page" | mandoc -T lint -W warning
done
ls "$root"/usr/share/man/man? | grep -c slipstream

say "units and settings"
# The fresh Debian has no systemd: this machine's reads copies that name the programs there.
mkdir "$work/units"
for unit in "$root"/lib/systemd/system/slipstream*.service; do
  copy=$work/units/$(basename "${unit/@./@1.}")
  sed "s|^ExecStart=/|ExecStart=$root/|" "$unit" > "$copy"
  systemd-analyze verify --man=no "$copy"
  systemd-analyze security --offline=true "$copy" | tail -1
done
mkdir -p "$root/var/lib/slipstream/models" && cp "$model" "$root/var/lib/slipstream/models/"
in_root slipstream serve --config /etc/slipstream/serve.toml --check-config > /dev/null
for name in router verifier drafter; do
  in_root sh -c "cd /var/lib/slipstream && slipstream-$name --config /etc/slipstream/$name.toml --check-config" > /dev/null
done

say "doctor, serve, ask"
in_root slipstream doctor --plain --port $port --run-folder $run
chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin slipstream serve --port $port --run-folder $run > "$work/serve.log" 2>&1 & serve=$!
timeout $start_s sh -c "until grep -q '^ready' '$work/serve.log'; do kill -0 $serve; sleep 0.2; done" || { cat "$work/serve.log"; exit 1; }
answer() { in_root slipstream ask --plain --url http://127.0.0.1:$port --max-tokens 24 "$@" 'Why is the sky blue?'; }
words=$(answer) plain=$(answer --no-drafts)
echo "$words"; [ -n "$words" ] && [ "$words" = "$plain" ]
kill "$serve"; wait "$serve"; serve=

say "purged: nothing is left but the model"
in_root apt-get -qq -y purge slipstream
in_root rm -rf $run slipstream.deb /var/lib/slipstream/models/"$(basename "$model")"
in_root sh -c 'rmdir /var/lib/slipstream/models /var/lib/slipstream 2>/dev/null || true'
(cd "$root" && find . -xdev -not -path './proc/*' | sort) > "$work/after"
none "$(comm -13 "$work/before" "$work/after" | grep -i slipstream || true)"
echo "all well"
