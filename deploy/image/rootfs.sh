#!/bin/bash
# Makes the files of an image from Debian 12 packages and the programs of a build, without an engine.
#   rootfs.sh services  PROGRAMS OUT   the three services: no shell, no package manager
#   rootfs.sh torch-cpu BUILD OUT      the same with libtorch's device for a CPU: BUILD is that of `make torch`
#   rootfs.sh cuda      BUILD OUT      the same with libtorch for a GPU: BUILD is that of `make cuda`, and `make setup-gpu` was run
#   rootfs.sh tools     PROGRAMS OUT   the `slipstream` command, a shell, coreutils and curl
# PROGRAMS has slipstream-router, slipstream-verifier, slipstream-drafter and slipstream in one
# folder or below it. OUT must not exist. Needs mmdebstrap, binutils, python3, cmake (for torch), the
# packages of tools/setup/packages.txt, of which sbom.py tells the versions, and root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kind=$1 programs=$2 out=$3
: "${SOURCE_DATE_EPOCH:=0}"; export SOURCE_DATE_EPOCH
readonly user_id=65532 # as distroless images have it

packages=$(awk '{print $1}' "$here/packages.txt" | paste -sd,)
case $kind in
  services|torch-cpu|cuda) wanted=(slipstream-router slipstream-verifier slipstream-drafter) ;;
  tools)
    wanted=(slipstream)
    packages=$packages,dash,coreutils,curl ;;
  *) echo "rootfs.sh: \"$kind\" is none of services, torch-cpu, cuda and tools" >&2; exit 2 ;;
esac
[ ! -e "$out" ] || { echo "rootfs.sh: $out is there already" >&2; exit 2; }

find_program() { # NAME
  local found
  found=$(find "$programs" -type f -name "$1" -perm -u+x | head -n 2)
  [ "$(wc -l <<< "$found")" = 1 ] && [ -n "$found" ] || { echo "rootfs.sh: not exactly one $1 below $programs" >&2; return 1; }
  echo "$found"
}

# `extract` unpacks the packages and what they depend on, and runs none of their scripts.
# The packages themselves stay in the cache of apt until sbom.py has read their versions.
mmdebstrap --quiet --variant=extract --skip=cleanup/apt --include="$packages" bookworm "$out"

mkdir -p "$out/usr/local/bin" "$out/tmp" "$out/model" "$out/keys"
found=()
for name in "${wanted[@]}"; do
  found+=("$(find_program "$name")")
  strip -o "$out/usr/local/bin/$name" "${found[-1]}"
  chmod 755 "$out/usr/local/bin/$name"
done
if [ "$kind" = torch-cpu ] || [ "$kind" = cuda ]; then
  cmake --install "$programs" --component torch --prefix "$out/usr/local" --strip > /dev/null
  strip --strip-unneeded "$out"/usr/local/lib/slipstream/torch/torch/lib/libtorch_cpu.so # 90 MB of names
fi
printf 'root:x:0:0::/:/sbin/nologin\nslipstream:x:%d:%d::/:/sbin/nologin\n' $user_id $user_id > "$out/etc/passwd"
printf 'root:x:0:\nslipstream:x:%d:\n' $user_id > "$out/etc/group"
printf 'hosts: files dns\n' > "$out/etc/nsswitch.conf"
[ -e "$out/bin/sh" ] || { [ $kind != tools ] || ln -s dash "$out/bin/sh"; }
chmod 1777 "$out/tmp"

# What is in it, for whoever looks for a version with a known fault.
python3 "$here/sbom.py" "$out" "$kind" "${found[0]}" > "$out/sbom.json"
# What mmdebstrap left of the machine that it ran on: a runtime brings all of these itself.
rm -rf "$out"/etc/hostname "$out"/etc/resolv.conf "$out"/dev/*
rm -rf "$out"/usr/share/{doc,man,locale,info,lintian,bug} "$out"/var/{log,cache,lib/apt} "$out/var/lib/dpkg"
