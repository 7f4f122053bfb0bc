# cargo, for the text library. Debian 12's own is 1.63; its security suite has a newer one, named cargo-web.

rust_needed=1.87 # the highest version that a crate of Cargo.lock requires

cargo_new_enough() {
  local version
  version="$(cargo --version 2>/dev/null | awk '{ print $2 }')"
  [[ -n "$version" && "$(printf '%s\n' "$rust_needed" "$version" | sort --version-sort | head -n 1)" == "$rust_needed" ]]
}

rust_missing() { ! cargo_new_enough; }

rust_plan() { echo "cargo-web and rustc-web, Rust $rust_needed or newer, system-wide by apt: 100 MB to download, 460 MB on disk, 20 seconds"; }

rust_install() {
  if [[ -n "${SLIPSTREAM_SKIP_APT:-}" ]]; then fail "cargo $rust_needed or newer is needed: install it and put it on PATH"; fi
  apt_install rust cargo-web rustc-web
  hash -r
  if ! cargo_new_enough; then
    fail "$(command -v cargo) is $(cargo --version), older than $rust_needed: update it (rustup update), or put /usr/bin before it in PATH"
  fi
}
