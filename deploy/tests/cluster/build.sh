#!/bin/bash
# Builds everything from Go modules, once, into $SK8S_BIN (about 10 minutes of CPU for the cluster alone; see README.md).
# Arguments: kube coredns keda helm policies kubeconform crds; none: all.
set -eu
. "$(dirname "$0")/env.sh"
command -v go > /dev/null || { echo "needs Go 1.26" >&2; exit 1; }
mkdir -p "$SK8S_BIN" "$SK8S/src"
export CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS="-buildvcs=false -trimpath -p=${SK8S_JOBS:-2}"
have() { [ -x "$SK8S_BIN/$1" ] && [ "$SK8S_BIN/$1" -nt "$HERE/build/$2" ]; }
say() { echo "$1: $(( $(date +%s) - t0 )) s, $(( $(stat -c %s "$SK8S_BIN/$1") / 1000000 )) MB"; }
gob() { local o=$1; shift; t0=$(date +%s); nice -n 15 go build -o "$SK8S_BIN/$o.new" "$@" && mv "$SK8S_BIN/$o.new" "$SK8S_BIN/$o"; say "$o"; }
for w in ${*:-kube coredns keda helm policies kubeconform crds}; do case $w in
  kube) have kube kube/go.mod && continue; cd "$HERE/build/kube"; X=""
    # without these the server calls itself v0.0.0-master, and a chart's kubeVersion check fails
    for p in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
      X="$X -X $p.gitVersion=$KUBE_VERSION -X $p.gitMajor=1 -X $p.gitMinor=$(echo $KUBE_VERSION | cut -d. -f2) -X $p.gitTreeState=clean -X $p.gitCommit=unknown -X $p.buildDate=1970-01-01T00:00:00Z"; done
    gob kube -ldflags "-s -w $X" . ;;
  coredns) have coredns tools/go.mod && continue; cd "$HERE/build/tools"; gob coredns -ldflags "-s -w" ./coredns ;;
  helm) have helm tools/go.mod && continue; cd "$HERE/build/tools"
    gob helm -ldflags "-s -w -X helm.sh/helm/v3/internal/version.version=$(go list -m -f '{{.Version}}' helm.sh/helm/v3) -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=$(echo $KUBE_VERSION | cut -d. -f2)" helm.sh/helm/v3/cmd/helm ;;
  keda) have keda keda/trim.py && have keda-admission-webhooks keda/trim.py && continue; cd "$SK8S/src"
    go mod download "github.com/kedacore/keda/v2@$KEDA_VERSION"
    python3 "$HERE/build/keda/trim.py" "$(go env GOMODCACHE)/github.com/kedacore/keda/v2@$KEDA_VERSION" "$SK8S/src/keda"
    cd "$SK8S/src/keda"; X="-s -w -X github.com/kedacore/keda/v2/version.Version=${KEDA_VERSION#v}"
    gob keda -ldflags "$X" ./cmd/operator; gob keda-adapter -ldflags "$X" ./cmd/adapter; gob keda-admission-webhooks -ldflags "$X" ./cmd/webhooks ;;
  policies) have policies policies/go.mod && continue; cd "$HERE/build/policies"; gob policies -ldflags "-s -w" . ;;
  kubeconform) have kubeconform kubeconform/go.mod && continue; cd "$HERE/build/kubeconform"
    gob kubeconform -ldflags "-s -w" github.com/yannh/kubeconform/cmd/kubeconform ;;
  crds) # what KEDA and the Prometheus operator define, to check the chart's objects of these kinds
    M=github.com/prometheus-operator/prometheus-operator@$OPERATOR_VERSION; cd "$SK8S/src"; mkdir -p "$SK8S/crds"
    go mod download "$M" "github.com/kedacore/keda/v2@$KEDA_VERSION"
    install -m 644 "$(go env GOMODCACHE)/$M"/example/prometheus-operator-crd/*_{podmonitors,prometheusrules}.yaml \
      "$(go env GOMODCACHE)/github.com/kedacore/keda/v2@$KEDA_VERSION"/config/crd/bases/keda.sh_scaledobjects.yaml "$SK8S/crds" ;;
  *) echo "unknown: $w" >&2; exit 1 ;; esac; done
"$HERE/images/make.sh" > /dev/null
