# The Rust crates of common/text/rust/Cargo.lock, which contains their hashes. The build itself uses no network.

crates_folder="$root/common/text/rust"
crates_key() { sha256sum <"$crates_folder/Cargo.lock"; }

crates_missing() { [[ ! -d "$cache/cargo/registry" ]] || ! stamped crates "$(crates_key)"; }

crates_plan() { echo "96 Rust crates, into .cache/cargo: 10 MB to download, 80 MB on disk, 10 seconds"; }

crates_install() {
  # Cargo's home is a folder of our own, so copy a mirror that this user configured.
  local -a config=()
  local file
  for file in "${CARGO_HOME:-$HOME/.cargo}/config.toml" "${CARGO_HOME:-$HOME/.cargo}/config"; do
    if [[ -f "$file" && ${#config[@]} -eq 0 ]]; then config=(--config "$file"); fi
  done
  logged crates env CARGO_HOME="$cache/cargo" cargo "${config[@]}" fetch --locked --manifest-path "$crates_folder/Cargo.toml"
  stamp crates "$(crates_key)"
}
