#!/bin/bash
# Builds the image archives here, without a container engine (docker-archive form, which containerd,
# docker and podman load):
#   build.sh PROGRAMS MODEL OUT [TAG]
# PROGRAMS is a build folder, MODEL a folder or a file, OUT gets slipstream.tar, slipstream-tools.tar
# and slipstream-model.tar. The Containerfile makes the same from sources where there is an engine.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
programs=$1 model=$2 out=$3 tag=${4:-0.1.0}
export SOURCE_DATE_EPOCH=0
mkdir -p "$out"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

archive() { # NAME TAG ROOT SETTINGS...
  local name=$1 its_tag=$2 root=$3; shift 3
  python3 "$here/archive.py" "$out/$name.tar" "localhost/$name:$its_tag" "$root" "$@"
}

"$here/rootfs.sh" services "$programs" "$work/services"
archive slipstream "$tag" "$work/services" user=65532:65532
"$here/rootfs.sh" tools "$programs" "$work/tools"
archive slipstream-tools "$tag" "$work/tools" user=65532:65532 cmd=sh

# The model rides on busybox, which copies it into the pod and checks its sums.
mkdir -p "$work/model/model" "$work/model/bin"
cp -r "$model" "$work/model/model/"
if [[ -d "$model-head" ]]; then cp -r "$model-head" "$work/model/model/"; fi # its draft head, where the verifier looks for it
(cd "$work/model/model" && find . -type f ! -name SHA256SUMS -print0 | sort -z | xargs -0 sha256sum > SHA256SUMS)
cp "$(command -v busybox)" "$work/model/bin/busybox"
for applet in sh cp sha256sum; do ln -s busybox "$work/model/bin/$applet"; done
archive slipstream-model 1 "$work/model" user=65532:65532 cmd=sh
ls -l "$out"
