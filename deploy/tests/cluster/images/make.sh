#!/bin/bash
# Builds the images the cluster needs as archives under $SK8S/images: no registry, no builder.
set -eu
. "$(dirname "$0")/../env.sh"
I=$SK8S/images; mkdir -p "$I"; W=$(mktemp -d); trap 'rm -rf "$W"' EXIT
img() { # NAME TAG ROOTFS KEYS...
  local n=$1 t=$2 r=$3; shift 3; python3 "$HERE/../../image/archive.py" "$I/$n.tar" "localhost/$n:$t" "$r" "$@"; }
mkdir -p "$W/pause"; gcc -Os -static -x c -o "$W/pause/pause" - <<'C'
/* The sandbox process of a pod: it holds the namespaces, reaps orphans, and ends at SIGTERM/SIGINT. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void down(int s) { (void)s; _exit(0); }
static void reap(int s) { (void)s; while (waitpid(-1, NULL, WNOHANG) > 0); }
int main(void) {
  struct sigaction a = {0}, r = {0};
  a.sa_handler = down; r.sa_handler = reap; r.sa_flags = SA_NOCLDSTOP;
  sigaction(SIGINT, &a, NULL); sigaction(SIGTERM, &a, NULL); sigaction(SIGCHLD, &r, NULL);
  for (;;) pause();
}
C
strip "$W/pause/pause"
img pause 1 "$W/pause" entrypoint=/pause
# Debian's busybox-static crashes when it looks a name up (static glibc): curl and getent, dynamic, do that.
closure() { # ROOT PROGRAM...: copies programs with the shared libraries they load (this is how to pack a C++ server, too)
  local r=$1 p l; shift
  for p; do p=$(command -v "$p"); mkdir -p "$r/usr/bin" "$r/lib64"; cp -L "$p" "$r/usr/bin/"
    for l in $(ldd "$p" | grep -o '/[^ ]*'); do mkdir -p "$r$(dirname "$l")"; [ -e "$r$l" ] || cp -L "$l" "$r$l"; done; done; }
# test image: busybox with its applets, curl, getent
B=$W/busybox; mkdir -p "$B"/{bin,etc,tmp,www,root}; chmod 1777 "$B/tmp"; cp "$(command -v busybox)" "$B/bin/busybox"
for a in $("$B/bin/busybox" --list); do [ "$a" = busybox ] || ln -s busybox "$B/bin/$a"; done
closure "$B" curl getent; printf 'hosts: files dns\n' > "$B/etc/nsswitch.conf"
printf 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n' > "$B/etc/passwd"; printf 'root:x:0:\nnogroup:x:65534:\n' > "$B/etc/group"
img busybox 1 "$B" cmd=sh
# CoreDNS and KEDA, when they were built
if [ -x "$SK8S_BIN/coredns" ]; then mkdir -p "$W/coredns"; cp "$SK8S_BIN/coredns" "$W/coredns/coredns"; img coredns 1 "$W/coredns" entrypoint=/coredns; fi
for k in keda keda-adapter keda-admission-webhooks; do
  [ -x "$SK8S_BIN/$k" ] || continue; mkdir -p "$W/$k/tmp"; chmod 1777 "$W/$k/tmp"; cp "$SK8S_BIN/$k" "$W/$k/$k"; img $k 1 "$W/$k" entrypoint=/$k user=65532:65532
done
ls -la "$I"
