# Sourced by every script here. All state lies under $SK8S (default: .sk8s in
# the current folder); nothing outside it is written but empty mount points.
export SK8S=${SK8S:-$PWD/.sk8s}
export SK8S_BIN=${SK8S_BIN:-$SK8S/bin}
export KUBE_VERSION=v1.36.3 KEDA_VERSION=v2.21.0 OPERATOR_VERSION=v0.85.0
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# 198.18.0.0/15 is set aside for benchmarks of networks (RFC 2544): never routed.
NODE_IP=198.18.0.1 POD_NET=198.18.1.0/24 SVC_NET=198.19.0.0/16 SVC_API=198.19.0.1 DNS_IP=198.19.0.10
export NODES=${NODES:-node1 node2}
alive() { [ -e "$SK8S/init.pid" ] && tr '\0' ' ' < "/proc/$(cat "$SK8S/init.pid")/cmdline" 2>/dev/null | grep -q node.sh; }
enter() { # CMD...: run a command inside the cluster's namespaces
  alive || { echo "the cluster is not up" >&2; return 1; }; local p; p=$(cat "$SK8S/init.pid")
  nsenter -t "$p" -n -m -p -- env PATH="$SK8S_BIN:$PATH" KUBECONFIG="$SK8S/pki/admin.conf" \
    sh -c 'cd "$0" && exec "$@"' "$PWD" "$@"
}
