# promtool, which checks /metrics in tests. It is extracted from Debian's prometheus package, which is not installed, since that
# would start a server on this machine.

promtool_missing() { ! command -v promtool >/dev/null && [[ ! -x "$cache/bin/promtool" ]]; }

promtool_plan() { echo "promtool out of Debian's prometheus package, into .cache/bin: 19 MB to download, 45 MB on disk, 10 seconds"; }

promtool_install() {
  if [[ -n "${SLIPSTREAM_SKIP_APT:-}" ]]; then fail "promtool is needed by the tests: install Prometheus' tools and put them on PATH"; fi
  local folder="$cache/promtool.partial"
  rm -rf "$folder"
  mkdir -p "$folder" "$cache/bin"
  apt_update
  logged promtool env --chdir="$folder" apt-get download -o Acquire::Retries=5 prometheus
  logged promtool dpkg-deb --extract "$folder"/prometheus_*.deb "$folder"
  mv "$folder/usr/bin/promtool" "$cache/bin/promtool"
  rm -rf "$folder"
}
