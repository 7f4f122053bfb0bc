#!/bin/bash
# Builds the image archives here, without a container engine (docker-archive form, which containerd,
# docker and podman load):
#   build.sh PROGRAMS MODEL OUT [TAG]
#   build.sh --torch cpu|cuda BUILD OUT [TAG]
# The first makes slipstream.tar, slipstream-tools.tar and slipstream-model.tar in OUT: PROGRAMS is a
# build folder, MODEL a folder or a file. The second makes slipstream-torch-cpu.tar (BUILD: of `make
# torch`) or slipstream-cuda.tar (of `make cuda`), the services with the devices of libtorch, whose
# tag ends with -torch-cpu or -cuda. The Containerfile makes the same from sources where there is an engine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export SOURCE_DATE_EPOCH=0
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

archive() { # FILE NAME:TAG ROOT SETTINGS...
  local file=$1 name=$2 root=$3; shift 3
  python3 "$here/archive.py" "$out/$file.tar" "localhost/$name" "$root" "$@"
}

if [ "$1" = --torch ]; then
  case $2 in
    cpu) flavour=torch-cpu settings=() ;;
    cuda) flavour=cuda settings=(env=NVIDIA_DRIVER_CAPABILITIES=compute,utility) ;; # what the container runtime brings of the driver
    *) echo "build.sh: --torch is cpu or cuda, not \"$2\"" >&2; exit 2 ;;
  esac
  build=$3 out=$4 tag=${5:-0.1.0}
  mkdir -p "$out"
  "$here/rootfs.sh" $flavour "$build" "$work/services"
  archive slipstream-$flavour "slipstream:$tag-$flavour" "$work/services" user=65532:65532 "${settings[@]}"
  ls -l "$out"
  exit
fi

programs=$1 model=$2 out=$3 tag=${4:-0.1.0}
mkdir -p "$out"
"$here/rootfs.sh" services "$programs" "$work/services"
archive slipstream "slipstream:$tag" "$work/services" user=65532:65532
"$here/rootfs.sh" tools "$programs" "$work/tools"
archive slipstream-tools "slipstream-tools:$tag" "$work/tools" user=65532:65532 cmd=sh

# The model rides on busybox, which copies it into the pod and checks its sums.
mkdir -p "$work/model/model" "$work/model/bin"
cp -r "$model" "$work/model/model/"
if [[ -d "$model-head" ]]; then cp -r "$model-head" "$work/model/model/"; fi # its draft head, where the verifier looks for it
(cd "$work/model/model" && find . -type f ! -name SHA256SUMS -print0 | sort -z | xargs -0 sha256sum > SHA256SUMS)
cp "$(command -v busybox)" "$work/model/bin/busybox"
for applet in sh cp sha256sum; do ln -s busybox "$work/model/bin/$applet"; done
archive slipstream-model slipstream-model:1 "$work/model" user=65532:65532 cmd=sh
ls -l "$out"
